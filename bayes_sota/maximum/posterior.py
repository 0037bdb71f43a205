r"""Posterior of theta_sota from observed maxima, by importance sampling and direct draws.

The parameters of the field, location and logarithm of the spread, are sampled at several equally
likely values of rho at once (``bayes_sota.core.numerics.sample_importance``), and a value of rho
counts as its evidence says. The likelihood is a narrow ridge in location and spread, along which
the best skill is the same: proposals sit on points that the sampler has found there. Given the
parameters everything else is drawn from its exact law (``likelihood``). Solves Sec. 5.3.2 of
Møllersen & Holsbø without simulation; ``tests/maximum/test_posterior.py`` holds it against
rejection sampling, against quadrature and against denser tables.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bayes_sota.core.arguments import DEFAULT_SEED, OPEN_SHARE, SKILL, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Fit, Nodes, Parameters, infer
from bayes_sota.core.priors import MaximumPriors, Priors, UniformSkill, maximum_priors
from bayes_sota.core.skills import logit
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.likelihood import (
    BoardLikelihood,
    FieldDraws,
    board_values,
    draw_boards,
    score_bounds,
    score_errors,
)

LARGEST_EPSILON = 1 / 4  # of ABC, in posterior standard deviations of theta_sota
EPSILON_AIM = 1 / 6
FEWEST_MOVES = 4.0  # of the average particle in the last stage
_PILOT, _BATCH, _MOST_BOARDS = 400, 50_000, 5_000_000  # draws and boards of plain rejection
_RHO_NODES = 10
_POINTS = 1000
_LEAST_EFFECTIVE = 75.0
_IMPOSSIBLE = -1e4  # log likelihood of what a table says is impossible
_LARGEST_SPREAD, _FURTHEST = 4.95, 30.0  # of skills in log odds
_TOLERATED = 1e-3  # probability that may rest on what tables leave out


def draw_prior(
    boards: Sequence[BestScore],
    priors: MaximumPriors,
    rng: np.random.Generator,
    draws: int,
    reference_skill: float | None = None,
) -> dict[str, FloatArray]:
    """Draws from the prior of all that the posterior holds, and of the maxima that it predicts.

    Parameters
    ----------
    boards, reference_skill
        As in ``draw_boards``.
    priors : MaximumPriors
    rng : Generator
    draws : int

    Returns
    -------
    dict of str to ndarray
        ``location``, ``spread``, ``rho`` of shape (D,), ``submission_luck`` where a board has
        submissions, and what ``draw_boards`` gives, (D, B).
    """
    location, spread = priors.skill.draw(rng, draws)
    known = {"rho": priors.correlation.quantile(rng.random(draws))}
    if any(board.has_submissions for board in boards):
        known["submission_luck"] = priors.submission_luck.quantile(rng.random(draws))
    distribution = priors.skill.distribution(location, spread)
    of_boards = draw_boards(
        boards,
        distribution,
        known["rho"],
        rng,
        luck=known.get("submission_luck"),
        reference_skill=reference_skill,
    )
    return {"location": location, "spread": spread, **known, **of_boards}


def draw_accepted(
    boards: Sequence[BestScore],
    priors: MaximumPriors,
    rng: np.random.Generator,
    draws: int,
    epsilon: float | None = None,
    reference_skill: float | None = None,
) -> tuple[dict[str, FloatArray], FloatArray, float]:
    """Posterior by plain rejection: the prior's draws whose boards come close to the observed.

    A draw is kept where every simulated best score is at most epsilon from the scores that print
    as the observed one. Without ``epsilon`` it is a sixth of the posterior standard deviation that
    boards within a standard error show.

    Returns
    -------
    values, epsilon, rate : dict of ndarray, ndarray of shape (boards,), float
        Draws as of ``draw_prior``, and the share of simulated boards that was kept.

    Raises
    ------
    InputError
        So small an epsilon that more than five million boards would be needed.
    """
    if epsilon is None:
        near = score_errors(boards, reference_skill)
        pilot, _ = _accept(boards, priors, rng, _PILOT, near, reference_skill)
        width = EPSILON_AIM * pilot["theta_sota"].std(axis=0)
    else:
        width = np.full(len(boards), OPEN_SHARE.check(epsilon, "epsilon"))
    values, rate = _accept(boards, priors, rng, draws, width, reference_skill)
    return values, width, rate


def _accept(
    boards: Sequence[BestScore],
    priors: MaximumPriors,
    rng: np.random.Generator,
    draws: int,
    epsilon: FloatArray,
    reference_skill: float | None,
) -> tuple[dict[str, FloatArray], float]:
    low, high = np.transpose([score_bounds(board) for board in boards])
    kept: list[dict[str, FloatArray]] = []
    accepted = simulated = 0
    while accepted < draws:
        drawn = draw_prior(boards, priors, rng, _BATCH, reference_skill)
        best = drawn["observed_maximum"]
        distance = np.maximum(np.maximum(low - best, best - high), 0.0)
        close = np.flatnonzero(np.all(distance <= epsilon, axis=1))
        kept.append({name: value[close] for name, value in drawn.items()})
        accepted, simulated = accepted + close.size, simulated + _BATCH
        if draws * simulated > _MOST_BOARDS * max(accepted, 1):
            _refuse_epsilon(distance, epsilon, accepted, simulated, draws)
    values = {name: np.concatenate([one[name] for one in kept])[:draws] for name in kept[0]}
    return values, accepted / simulated


def _refuse_epsilon(
    distance: FloatArray, epsilon: FloatArray, accepted: int, simulated: int, draws: int
) -> None:
    """``InputError`` with an epsilon that would do, twice as wide as the smallest."""
    least = np.quantile(distance.max(axis=1), min(2 * draws / _MOST_BOARDS, 1.0))
    raise InputError(
        f"epsilon {epsilon.min():g} accepts {accepted:,} of {simulated:,} simulated boards, too "
        f"few for {draws:,} draws: take {float(least):.2g} or more, fewer draws, or leave "
        "rejection out"
    )


def log_priors(priors: MaximumPriors, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Log prior densities of location, log spread, rho and luck, where they are not known.

    ``values`` are draws of ``location``, ``spread``, ``rho`` and, where a board has submissions,
    ``submission_luck``.
    """
    densities = _skill_densities(priors, values["location"], np.log(values["spread"]))
    for name, prior in (("rho", priors.correlation), ("submission_luck", priors.submission_luck)):
        if name in values and not prior.is_fixed:
            densities[name] = prior.log_density(values[name])
    return densities


def _skill_densities(
    priors: MaximumPriors, location: FloatArray, log_spread: FloatArray
) -> dict[str, FloatArray]:
    skill = priors.skill
    normal = {
        "location": (location, skill.location_mean, skill.location_sd),
        "log_spread": (log_spread, skill.log_spread_mean, skill.log_spread_sd),
    }
    return {
        name: -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
        for name, (x, mean, sd) in normal.items()
        if sd > 0
    }


@dataclass(frozen=True, eq=False)
class SotaPosterior:
    """Draws from the posterior, and how they came about.

    Attributes
    ----------
    draws : dict of str to ndarray
        Names as in ``bayes_sota.core.schema``. ``location``, ``spread``, ``rho`` and, where a
        board has submissions, ``submission_luck`` have shape (D,), what belongs to a board has
        shape (D, B).
    log_likelihood : ndarray, shape (D, B)
    log_prior : dict of str to ndarray, shape (D,)
        Log prior density of each uncertain hyperparameter.
    fit : MaximumFit
        Weighted parameters behind the draws.
    parameters : Parameters
        Node of rho and coordinates behind each draw.
    reference_skill : tuple of float
        theta0 of each board.
    reasons : tuple of str
        Why the result cannot be trusted; empty where it can.
    laws : tuple of callable
        Each computes of its board skills, and the probabilities that the best and the winner's
        are at most these, (3, N).
    """

    draws: dict[str, FloatArray]
    log_likelihood: FloatArray
    log_prior: dict[str, FloatArray]
    fit: "MaximumFit"
    parameters: Parameters
    reference_skill: tuple[float, ...]
    reasons: tuple[str, ...]
    laws: tuple[Callable[[], FloatArray], ...]


def sota_posterior(
    boards: BestScore | Sequence[BestScore],
    priors: Priors | MaximumPriors | None = None,
    *,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = DEFAULT_SEED,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    refinement: float = 1.0,
) -> SotaPosterior:
    """Exact posterior of the best skill given observed maxima.

    Parameters
    ----------
    boards : BestScore or sequence of them
        Several boards of one task share location, spread and rho.
    priors : Priors, optional
    draws : int
        Number of draws; behind them are as many weighted points, at least 1,000.
    random_seed : int, Generator or None
    reference_skill : float, optional
        theta0 of every board; default each board's observed maximum, a fixed number.
    new_n_test : int, optional
        Size of the fresh test set for the predictive scores; default each board's own.
    refinement : float
        Every table is this many times denser. The default moves by less than 1 % of the posterior
        standard deviation under ``refinement=2``.

    Returns
    -------
    SotaPosterior

    Examples
    --------
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> posterior = sota_posterior(board, draws=1000, random_seed=1)
    >>> bool(posterior.draws["theta_sota"].mean() < 0.98)
    True
    """
    boards = (boards,) if isinstance(boards, BestScore) else tuple(boards)
    if not boards:
        raise InputError("at least one leaderboard is needed")
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    if reference_skill is not None:
        SKILL.check(reference_skill, "reference_skill")
    fit = fit_maximum(
        boards,
        maximum_priors(priors),
        rng := generator_of(random_seed),
        points=max(_POINTS, draws),
        reference_skill=reference_skill,
        refinement=refinement,
    )
    return _draw(fit, draws, rng, new_n_test)


@dataclass(frozen=True, eq=False)
class MaximumFit(Fit):
    """Observed maxima, with weighted points of location and spread at every value of rho.

    Attributes
    ----------
    priors : MaximumPriors
    likelihoods : tuple of BoardLikelihood
    coordinates : _Coordinates
        What location and spread the points stand for.
    """

    priors: MaximumPriors
    likelihoods: tuple[BoardLikelihood, ...]
    coordinates: "_Coordinates"

    @property
    def searches(self) -> int:
        """One: the posterior has one mode."""
        return 1

    @property
    def has_luck(self) -> bool:
        """Whether some maximum was chosen among submissions."""
        return any(x.board.has_submissions for x in self.likelihoods)

    def dimension(self, family: str) -> int:
        """Two: location and spread."""
        return 2

    def log_likelihood(self, family: str, points: FloatArray) -> FloatArray:
        """Log probability of all maxima at points (N, 2), (N, R)."""
        location, spread, log_prior = self.coordinates.field(points)
        possible = (spread < _LARGEST_SPREAD) & (np.abs(location) < _FURTHEST)
        location, spread = np.where(possible, location, 0.0), np.where(possible, spread, 1.0)
        field = self.priors.skill.distribution(location, spread)
        total = np.repeat(log_prior[:, None], self.rho.size, axis=1)
        for likelihood in self.likelihoods:
            weights = likelihood.hat_weights(field)
            for r in range(self.rho.size):
                total[:, r] += likelihood.log_likelihood(weights, r)
        total[~possible] = -np.inf
        return np.maximum(total, _IMPOSSIBLE)


def fit_maximum(
    boards: Sequence[BestScore],
    priors: MaximumPriors,
    rng: np.random.Generator,
    *,
    points: int = _POINTS,
    reference_skill: float | None = None,
    refinement: float = 1.0,
) -> MaximumFit:
    """Weighted points of location and spread; parameters as of ``sota_posterior``."""
    chosen = any(board.has_submissions for board in boards)
    nodes = Nodes.of(
        priors.correlation, priors.submission_luck, round(_RHO_NODES * refinement), has_luck=chosen
    )
    likelihoods = tuple(
        BoardLikelihood(
            b, nodes.rho, reference_skill, refinement, nodes.luck if b.has_submissions else None
        )
        for b in boards
    )
    empty = MaximumFit(
        nodes,
        (priors.skill.family,),
        (),
        "nodes",
        priors,
        likelihoods,
        _Coordinates.of(priors, likelihoods),
    )
    fit = infer(empty, rng, -(-points // 2))
    if fit.log_evidence.max() < _IMPOSSIBLE / 2:
        raise InputError(
            "the observed maximum is impossible under the priors: widen the typical skill or the "
            "spread"
        )
    return fit


@dataclass(frozen=True, eq=False)
class _Coordinates:
    """Two coordinates in which the posterior is near a standard normal, and its ridge straight.

    The second is the standardised log spread; the first a level near the best skill, ``location +
    offset * spread``, in standard deviations from its rough mean given the spread. What is known
    does not move.

    Attributes
    ----------
    priors : MaximumPriors
    centre, error : float
        Mean of the best scores in log odds, and their largest standard error.
    offset : float
        Standardised best of so many skills.
    largest_chance : float
        Rough bound on the standard deviation of the best skill given the level.
    """

    priors: MaximumPriors
    centre: float
    error: float
    offset: float
    largest_chance: float

    @classmethod
    def of(cls, priors: MaximumPriors, likelihoods: Sequence[BoardLikelihood]) -> "_Coordinates":
        """For these boards."""
        tries = float(np.exp(np.mean([np.log(x.board.typical_tries) for x in likelihoods])))
        scores = np.array([x.reference_skill for x in likelihoods])
        error = max(x.scoring.log_odds_error for x in likelihoods)
        bounded = isinstance(priors.skill, UniformSkill)
        chance = 4 / (tries * float(np.min(1 - scores))) if bounded else np.inf
        offset = _top_quantile(tries, bounded)
        return cls(priors, float(logit(scores).mean()), error, offset, chance)

    def field(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Location, spread and log of prior density times unit of the first coordinate, (N,)."""
        skill = self.priors.skill
        spread = np.exp(skill.log_spread_mean + skill.log_spread_sd * t[:, 1])
        if skill.location_is_fixed:
            return np.full(len(t), skill.location_mean), spread, np.zeros(len(t))
        of_data = 1 / (np.minimum(0.5 * spread, self.largest_chance) ** 2 + (2 * self.error) ** 2)
        of_prior = 1 / skill.location_sd**2
        top = skill.location_mean + self.offset * spread
        centre = (self.centre * of_data + top * of_prior) / (of_data + of_prior)
        scale = 1 / np.sqrt(of_data + of_prior)
        location = centre + scale * t[:, 0] - self.offset * spread
        z = (location - skill.location_mean) / skill.location_sd
        log_prior = 0.5 * (t[:, 0] ** 2 - z**2) + np.log(scale / skill.location_sd)
        return location, spread, log_prior


def _draw(
    fit: MaximumFit, draws: int, rng: np.random.Generator, new_n_test: int | None
) -> SotaPosterior:
    parameters = Parameters.of(fit, fit.choose(draws, rng))[rng.permutation(draws)]
    location, spread, _ = fit.coordinates.field(parameters.coordinates)
    distribution = fit.priors.skill.distribution(location, spread)
    rho = fit.nodes.draw_rho(parameters.node, rng)
    fields = [x.draw(rng, distribution, parameters.node, rho, new_n_test) for x in fit.likelihoods]
    values = {"location": location, "spread": spread, "rho": rho}
    if fit.has_luck:
        values["submission_luck"] = fit.nodes.draw_luck(parameters.node, rng)
    values |= board_values(fields, [x.board for x in fit.likelihoods], distribution)
    return SotaPosterior(
        draws=values,
        log_likelihood=np.stack([f.log_likelihood for f in fields], axis=1),
        log_prior=log_priors(fit.priors, values),
        fit=fit,
        parameters=parameters,
        reference_skill=tuple(x.reference_skill for x in fit.likelihoods),
        reasons=_reasons(fit, fields),
        laws=tuple(field.law for field in fields),
    )


def _reasons(fit: MaximumFit, fields: list[FieldDraws]) -> tuple[str, ...]:
    reasons = []
    if fit.effective_size < _LEAST_EFFECTIVE:
        reasons.append(
            f"importance sample of location and spread has an effective size of "
            f"{fit.effective_size:.0f}, below {_LEAST_EFFECTIVE:.0f}"
        )
    beyond = float(np.mean(np.any([f.beyond_tables for f in fields], axis=0)))
    if beyond > _TOLERATED:
        reasons.append(
            f"the observed maximum contradicts the priors: {beyond:.2g} of the posterior rests on "
            "shifts or chances of more than six standard deviations, where the tables end"
        )
    return tuple(reasons)


def _top_quantile(tries: float, bounded: bool) -> float:
    """Standardised best of ``tries`` skills: any value serves, a good one needs fewer points."""
    if bounded:
        return float(np.sqrt(3) * (tries - 1) / (tries + 1))
    return float(ndtri((tries - 0.375) / (tries + 0.25)))
