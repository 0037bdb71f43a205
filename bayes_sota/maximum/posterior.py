r"""Posterior of theta_sota from observed maxima, by quadrature and direct draws.

The hyperparameters (location, spread, rho) live on a grid: rho at the midpoints of equally
likely cells of its prior, the logarithm of the spread equally spaced, and instead of the location
a standardised level near the best skill, :math:`location + q_m\, spread`, because that is what a
maximum informs and the likelihood is a narrow ridge in the location (``grid``). The density
between the nodes is the multilinear interpolant, from which a draw is a node plus a triangular
offset per coordinate. Given the hyperparameters everything else is drawn from its exact law
(``likelihood``). Solves Sec. 5.3.2 of Møllersen & Holsbø without simulation;
``tests/maximum/test_posterior.py`` holds it against rejection sampling.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import SKILL, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import MaximumPriors, Priors, TriesPrior, UniformSkill, maximum_priors
from bayes_sota.core.skills import logit
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.grid import Grid, find_grid
from bayes_sota.maximum.likelihood import (
    BoardLikelihood,
    FieldDraws,
    board_values,
    maximum_scoring,
)
from bayes_sota.maximum.walk import best_count

_RHO_NODES = 10
_TOLERATED = 1e-3  # probability that may rest on what grids and tables leave out


def draw_prior(
    boards: Sequence[Leaderboard],
    priors: MaximumPriors,
    rng: np.random.Generator,
    draws: int,
    reference_skill: float | None = None,
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Draws from the prior and of the maxima that it predicts.

    Parameters
    ----------
    boards : sequence of Leaderboard
        Only their sizes matter, and theta0 where ``reference_skill`` is not given.
    priors : MaximumPriors
    rng : Generator
    draws : int
    reference_skill : float, optional

    Returns
    -------
    prior : dict
        ``location``, ``spread``, ``rho`` of shape (D,); ``theta_sota``, ``expected_sota``,
        ``n_classifiers`` of shape (D, B).
    predictive : dict
        ``observed_maximum`` of shape (D, B): best scores of fresh fields on fresh test sets.
    """
    location, spread = priors.skill.draw(rng, draws)
    rho = priors.correlation.quantile(rng.random(draws))
    distribution = priors.skill.distribution(location, spread)
    columns: dict[str, list[FloatArray]] = {
        name: [] for name in ("theta_sota", "expected_sota", "n_classifiers", "observed_maximum")
    }
    for board in boards:
        tries = draw_tries(board, rng, draws)
        test_set = maximum_scoring(board, reference_skill).fresh(rng, rho)
        best, count = best_count(rng, test_set, distribution, tries.astype(np.int64))
        columns["theta_sota"].append(best)
        columns["expected_sota"].append(distribution.expected_maximum(tries))
        columns["n_classifiers"].append(tries)
        columns["observed_maximum"].append(count / test_set.unit)
    stacked = {name: np.stack(values, axis=1) for name, values in columns.items()}
    predictive = {"observed_maximum": stacked.pop("observed_maximum")}
    return {"location": location, "spread": spread, "rho": rho} | stacked, predictive


def draw_tries(board: Leaderboard, rng: np.random.Generator, draws: int) -> FloatArray:
    """Numbers of classifiers, as the exact posterior's nodes represent their prior."""
    if isinstance(board.tries, TriesPrior):
        values, weights = board.tries.nodes()
        return np.asarray(rng.choice(values, p=weights, size=draws))
    return np.full(draws, float(board.tries))


@dataclass(frozen=True, eq=False)
class SotaPosterior:
    """Independent draws from the posterior, and how they came about.

    Attributes
    ----------
    draws : dict of str to ndarray
        Names as in ``bayes_sota.core.schema``. ``location``, ``spread`` and ``rho`` have shape
        (D,), what belongs to a board has shape (D, B).
    log_likelihood : ndarray, shape (D, B)
    log_prior : dict of str to ndarray, shape (D,)
        Log prior density of each uncertain hyperparameter.
    log_evidence : float
        Log probability of the observed maxima under the priors.
    grid : dict
        Sizes of the grid and the probability at its edges.
    reference_skill : tuple of float
        theta0 of each board.
    reasons : tuple of str
        Why the result cannot be trusted; empty where it can.
    """

    draws: dict[str, FloatArray]
    log_likelihood: FloatArray
    log_prior: dict[str, FloatArray]
    log_evidence: float
    grid: dict[str, float]
    reference_skill: tuple[float, ...]
    reasons: tuple[str, ...]


def sota_posterior(
    boards: Leaderboard | Sequence[Leaderboard],
    priors: Priors | MaximumPriors | None = None,
    *,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = None,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    refinement: float = 1.0,
) -> SotaPosterior:
    """Exact posterior of the best skill given observed maxima.

    Parameters
    ----------
    boards : Leaderboard or sequence of them
        Several boards of one task share location, spread and rho.
    priors : Priors, optional
    draws : int
        Number of independent draws.
    random_seed : int, Generator or None
    reference_skill : float, optional
        theta0 of every board; default each board's observed maximum, a fixed number.
    new_n_test : int, optional
        Size of the fresh test set for the predictive scores; default each board's own.
    refinement : float
        Every grid is this many times denser. The default moves by less than 1 % of the posterior
        standard deviation under ``refinement=2``.

    Returns
    -------
    SotaPosterior

    Examples
    --------
    >>> board = Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    >>> posterior = sota_posterior(board, draws=1000, random_seed=1)
    >>> bool(posterior.draws["theta_sota"].mean() < 0.98)
    True
    """
    boards = (boards,) if isinstance(boards, Leaderboard) else tuple(boards)
    if not boards:
        raise InputError("at least one leaderboard is needed")
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    if reference_skill is not None:
        SKILL.check(reference_skill, "reference_skill")
    priors = maximum_priors(priors)
    rng = generator_of(random_seed)
    count = 1 if priors.correlation.is_fixed else round(_RHO_NODES * refinement)
    quantiles = (np.arange(count) + 0.5) / count
    correlations = priors.correlation.quantile(quantiles)
    likelihoods = [BoardLikelihood(b, correlations, reference_skill, refinement) for b in boards]
    target = _Target(priors, likelihoods, correlations)
    grid = find_grid(target, refinement)
    return _draw(rng, target, grid, quantiles, draws, new_n_test)


class _Target:
    """Unnormalised posterior in the coordinates of the grid: standardised level, log spread."""

    def __init__(
        self, priors: MaximumPriors, likelihoods: list[BoardLikelihood], correlations: FloatArray
    ) -> None:
        self.priors, self.skill = priors, priors.skill
        self.likelihoods, self.correlations = likelihoods, correlations
        tries = np.exp(np.mean([np.log(x.board.typical_tries) for x in likelihoods]))
        scores = np.array([x.reference_skill for x in likelihoods])
        self.centres = logit(scores)
        self.standard_error = max(x.scoring.log_odds_error for x in likelihoods)
        bounded = isinstance(self.skill, UniformSkill)
        self.offset = _top_quantile(float(tries), bounded)
        self.largest_chance = 4 / (tries * np.min(1 - scores)) if bounded else np.inf

    def location(self, level: FloatArray, log_spread: FloatArray) -> FloatArray:
        """Location at a standardised level."""
        if self.skill.location_is_fixed:
            return np.full(level.shape, self.skill.location_mean)
        centre, scale = self.rough_top(log_spread)
        return centre + scale * level - self.offset * np.exp(log_spread)

    def log_priors(self, location: FloatArray, log_spread: FloatArray) -> dict[str, FloatArray]:
        """Log prior densities of what is not known."""
        skill = self.skill
        priors = {
            "location": (location, skill.location_mean, skill.location_sd),
            "log_spread": (log_spread, skill.log_spread_mean, skill.log_spread_sd),
        }
        return {
            name: -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
            for name, (x, mean, sd) in priors.items()
            if sd > 0
        }

    def log_density(
        self, level: FloatArray, log_spread: FloatArray, indices: Sequence[int]
    ) -> FloatArray:
        """Log prior of level and log spread plus log likelihood, shape (R, G)."""
        location = self.location(level, log_spread)
        prior = sum(self.log_priors(location, log_spread).values(), np.zeros(location.size))
        if not self.skill.location_is_fixed:
            prior += np.log(self.rough_top(log_spread)[1])
        distribution = self.skill.distribution(location, np.exp(log_spread))
        total = np.tile(prior, (len(indices), 1))
        for likelihood in self.likelihoods:
            weights = likelihood.hat_weights(distribution)
            for row, r in enumerate(indices):
                total[row] += likelihood.log_likelihood(weights, r)
        return total

    def rough_top(self, log_spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rough mean and standard deviation of location + offset * spread given the spread."""
        spread, skill = np.exp(log_spread), self.skill
        chance = np.minimum(0.5 * spread, self.largest_chance)
        data_precision = 1 / (chance**2 + (2 * self.standard_error) ** 2)
        prior_precision = 1 / max(skill.location_sd, 1e-6) ** 2
        precision = data_precision + prior_precision
        prior_centre = skill.location_mean + self.offset * spread
        centre = self.centres.mean() * data_precision + prior_centre * prior_precision
        return centre / precision, 1 / np.sqrt(precision)

    def first_box(self, log_spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Generous range of the level for each log spread."""
        slack = np.ptp(self.centres) + 4 * self.standard_error
        reach = 7 + slack / self.rough_top(log_spread)[1]
        return -reach, reach


def _draw(
    rng: np.random.Generator,
    target: _Target,
    grid: Grid,
    quantiles: FloatArray,
    draws: int,
    new_n_test: int | None,
) -> SotaPosterior:
    mass = np.exp(grid.log_mass - grid.log_mass.max())
    chosen = rng.choice(mass.size, size=draws, p=(mass / mass.sum()).ravel())
    r, i, t = np.unravel_index(chosen, mass.shape)
    level, log_spread = grid.at(_jittered(rng, i, mass.shape[1]), _jittered(rng, t, mass.shape[2]))
    location, spread = target.location(level, log_spread), np.exp(log_spread)
    rho = target.priors.correlation.quantile(_jittered_quantile(rng, quantiles, r))
    distribution = target.skill.distribution(location, spread)
    fields = [
        likelihood.draw(rng, distribution, r, rho, new_n_test) for likelihood in target.likelihoods
    ]
    values = {"location": location, "spread": spread, "rho": rho}
    values |= board_values(fields, [x.board for x in target.likelihoods], distribution)
    rhos, spreads, levels = mass.shape
    sizes = {"rho": rhos, "spread": spreads, "level": levels, "edge": grid.edge_probability()}
    return SotaPosterior(
        draws=values,
        log_likelihood=np.stack([f.log_likelihood for f in fields], axis=1),
        log_prior=target.log_priors(location, log_spread),
        log_evidence=grid.log_evidence(),
        grid=sizes,
        reference_skill=tuple(x.reference_skill for x in target.likelihoods),
        reasons=_reasons(grid, fields),
    )


def _reasons(grid: Grid, fields: list[FieldDraws]) -> tuple[str, ...]:
    reasons = []
    edge = grid.edge_probability()
    if edge > _TOLERATED:
        reasons.append(f"the grid cuts off {edge:.2g} of the posterior")
    beyond = float(np.mean(np.any([f.beyond_tables for f in fields], axis=0)))
    if beyond > _TOLERATED:
        reasons.append(
            f"the observed maximum contradicts the priors: {beyond:.2g} of the posterior rests on "
            "shifts or chances of more than six standard deviations, where the tables end"
        )
    return tuple(reasons)


def _jittered(rng: np.random.Generator, index: NDArray[np.int64], size: int) -> FloatArray:
    """Draws around nodes from the hat functions of linear interpolation."""
    if size == 1:
        return np.zeros(index.size)
    offset = rng.random(index.size) - rng.random(index.size)
    return np.clip(index + offset, 0, size - 1)


def _jittered_quantile(
    rng: np.random.Generator, quantiles: FloatArray, r: NDArray[np.int64]
) -> FloatArray:
    if quantiles.size == 1:
        return quantiles[r]
    moved = quantiles[r] + (rng.random(r.size) - rng.random(r.size)) / quantiles.size
    moved = np.where(moved < 0, -moved, moved)
    return np.asarray(np.where(moved > 1, 2 - moved, moved))


def _top_quantile(tries: float, bounded: bool) -> float:
    """Standardised best of ``tries`` skills: any value serves, a good one is faster."""
    if bounded:
        return float(np.sqrt(3) * (tries - 1) / (tries + 1))
    from scipy.special import ndtri

    return float(ndtri((tries - 0.375) / (tries + 0.25)))
