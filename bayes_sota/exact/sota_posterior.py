r"""Posterior of theta_sota from observed maxima, by quadrature and direct draws.

The hyperparameters (location, spread, rho) live on a grid: rho at the midpoints of equally
likely cells of its prior, the logarithm of the spread equally spaced, and instead of the location
the level :math:`\eta = location + q_m\, spread` near the best skill, because that is what a
maximum informs and the likelihood is a narrow ridge in the location. The density between the
nodes is the multilinear interpolant, from which a draw is a node plus a triangular offset per
coordinate. Given the hyperparameters everything else is drawn from its exact law
(``board_likelihood``). Solves Sec. 5.3.2 of Møllersen & Holsbø without simulation;
``tests/exact/test_sota_posterior.py`` holds it against importance sampling.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.errors import InputError
from bayes_sota.exact.board_likelihood import BoardLikelihood, FieldDraws
from bayes_sota.exact.survival_table import lagrange_matrix
from bayes_sota.priors import Priors, UniformSkill
from bayes_sota.skill_distributions import FloatArray, logit

__all__ = ["SotaPosterior", "sota_posterior"]

_RHO_NODES, _SPREAD_NODES, _LEVEL_NODES = 10, 22, 36
_DENSER = 4  # times as many nodes after interpolation of the log density
_NEGLIGIBLE = 13.0  # log density below the maximum at which the grid ends
_COARSE_SPREADS = 9
_LARGEST_LOG_SPREAD = 1.6
_PRIOR_REACH = 4.5  # prior standard deviations of the log spread to look at first


@dataclass(frozen=True)
class SotaPosterior:
    """Independent draws from the posterior, and how they came about.

    Attributes
    ----------
    draws : dict of str to ndarray
        Names as in ``bayes_sota.schema``. ``location``, ``spread`` and ``rho`` have shape (D,),
        what belongs to a board has shape (D, B).
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
    priors: Priors | None = None,
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
    if reference_skill is not None and not 0 < reference_skill < 1:
        raise InputError(f"reference skill must lie in (0, 1), got {reference_skill:g}")
    priors = Priors() if priors is None else priors
    rng = np.random.default_rng(random_seed)
    quantiles, correlations = _correlation_nodes(priors, refinement)
    likelihoods = [BoardLikelihood(b, correlations, reference_skill, refinement) for b in boards]
    target = _Target(priors, likelihoods, correlations)
    grid = _find_grid(target, refinement)
    return _draw(rng, target, grid, quantiles, draws, new_n_test)


def _correlation_nodes(priors: Priors, refinement: float) -> tuple[FloatArray, FloatArray]:
    count = 1 if priors.correlation.is_fixed else round(_RHO_NODES * refinement)
    quantiles = (np.arange(count) + 0.5) / count
    return quantiles, priors.correlation.quantile(quantiles)


class _Target:
    """Unnormalised posterior of the hyperparameters in the coordinates of the grid."""

    def __init__(
        self, priors: Priors, likelihoods: list[BoardLikelihood], correlations: FloatArray
    ) -> None:
        self.priors, self.skill = priors, priors.skill
        self.likelihoods, self.correlations = likelihoods, correlations
        tries = np.exp(np.mean([np.log(x.board.typical_tries) for x in likelihoods]))
        self.offset = _top_quantile(float(tries), isinstance(self.skill, UniformSkill))

    def location(self, level: FloatArray, log_spread: FloatArray) -> FloatArray:
        if self.skill.location_is_fixed:
            return np.full(np.broadcast_shapes(level.shape, log_spread.shape), self.skill.location_mean)
        return level - self.offset * np.exp(log_spread)

    def log_priors(self, location: FloatArray, log_spread: FloatArray) -> dict[str, FloatArray]:
        skill, result = self.skill, {}
        if not skill.location_is_fixed:
            result["location"] = _log_normal_density(location, skill.location_mean, skill.location_sd)
        if not skill.spread_is_fixed:
            density = _log_normal_density(log_spread, skill.log_spread_mean, skill.log_spread_sd)
            result["log_spread"] = density
        return result

    def log_density(
        self, level: FloatArray, log_spread: FloatArray, indices: Sequence[int]
    ) -> FloatArray:
        """Log prior of level and log spread plus log likelihood, shape (R, G)."""
        location = self.location(level, log_spread)
        prior = sum(self.log_priors(location, log_spread).values(), np.zeros(location.size))
        distribution = self.skill.distribution(location, np.exp(log_spread))
        total = np.tile(prior, (len(indices), 1))
        for likelihood in self.likelihoods:
            weights = likelihood.hat_weights(distribution)
            for row, r in enumerate(indices):
                total[row] += likelihood.log_likelihood(weights, r)
        return total

    def first_box(self, log_spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Generous range of the level for each log spread."""
        spread, skill = np.exp(log_spread), self.skill
        scores = np.array([x.reference_skill for x in self.likelihoods])
        errors = 1 / np.sqrt([x.board.n_test for x in self.likelihoods] * scores * (1 - scores))
        centres, width = logit(scores), np.sqrt((0.5 * spread) ** 2 + (2 * errors.max()) ** 2)
        prior_centre = skill.location_mean + self.offset * spread
        precision = 1 / width**2 + 1 / max(skill.location_sd, 1e-6) ** 2
        pull = (centres.mean() / width**2 + prior_centre / max(skill.location_sd, 1e-6) ** 2) / precision
        reach = 7 / np.sqrt(precision) + np.ptp(centres) + 4 * errors.max()
        return pull - reach, pull + reach


@dataclass(frozen=True)
class _Grid:
    """Levels between ``low`` and ``high``, which depend on the log spread, and their masses."""

    log_spread: FloatArray  # (L,)
    low: FloatArray  # (L,)
    high: FloatArray  # (L,)
    levels: int
    log_mass: FloatArray  # (R, L, T)

    def at(self, spread_index: FloatArray, level_index: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Level and log spread at fractional indices."""
        position = np.arange(self.log_spread.size)
        log_spread = np.interp(spread_index, position, self.log_spread)
        low = np.interp(spread_index, position, self.low)
        high = np.interp(spread_index, position, self.high)
        share = level_index / max(self.levels - 1, 1)
        return low + share * (high - low), log_spread


def _find_grid(target: _Target, refinement: float) -> _Grid:
    """Coarse passes until the density is negligible at every edge, then the fine grid."""
    centre, sd = target.skill.log_spread_mean, target.skill.log_spread_sd
    low, high = centre - _PRIOR_REACH * sd, centre + _PRIOR_REACH * sd
    for _ in range(4):
        coarse = _located(target, np.linspace(low, high, 1 if sd == 0 else _COARSE_SPREADS))
        best = coarse.log_mass.max(axis=(0, 2))
        if not np.isfinite(best.max()):
            raise InputError(
                "the observed maximum is impossible under the priors: widen the typical skill or "
                "the spread"
            )
        alive = np.flatnonzero(best > best.max() - _NEGLIGIBLE)
        step = (high - low) / (_COARSE_SPREADS - 1)
        inner = (low + max(alive[0] - 1, 0) * step, low + (alive[-1] + 1) * step)
        if sd == 0 or (alive[0] > 0 and alive[-1] < best.size - 1):
            return _fine_grid(target, coarse, inner[0], min(inner[1], high), refinement)
        low, high = (low if alive[0] else low - 3 * sd), min(high + 3 * sd, _LARGEST_LOG_SPREAD)
    return _fine_grid(target, coarse, low, high, refinement)


def _located(target: _Target, log_spread: FloatArray) -> _Grid:
    """Coarse grid whose range of levels fits the density at every log spread."""
    some = sorted({0, target.correlations.size // 2, target.correlations.size - 1})
    low, high = target.first_box(log_spread)
    levels = 1 if target.skill.location_is_fixed else 24
    grid = _evaluate(target, _Grid(log_spread, low, high, levels, np.empty(0)), some)
    for _ in range(8 if levels > 1 else 0):
        low, high = _narrowed(grid)
        ratio = (high - low) / (grid.high - grid.low)
        if np.all((ratio > 0.4) & (ratio <= 1)):
            break
        grid = _evaluate(target, replace(grid, low=low, high=high), some)
    return grid


def _fine_grid(
    target: _Target, coarse: _Grid, low: float, high: float, refinement: float
) -> _Grid:
    skill = target.skill
    spreads = 1 if skill.spread_is_fixed else round(_SPREAD_NODES * refinement)
    levels = 1 if skill.location_is_fixed else round(_LEVEL_NODES * refinement)
    log_spread = np.linspace(low, high, spreads)
    box_low, box_high = _narrowed(coarse)
    bounds = [np.interp(log_spread, coarse.log_spread, edge) for edge in (box_low, box_high)]
    grid = _Grid(log_spread, bounds[0], bounds[1], levels, np.empty(0))
    return _interpolated(_evaluate(target, grid, range(target.correlations.size)))


def _interpolated(grid: _Grid) -> _Grid:
    """The same density on denser nodes, so that draws between nodes add no variance."""
    log_mass = np.maximum(grid.log_mass, grid.log_mass.max() - 60.0)
    spreads, levels = _denser(grid.log_spread.size), _denser(grid.levels)
    smooth, linear = (
        np.einsum(
            "rlt,lp,tq->rpq",
            log_mass,
            lagrange_matrix(spreads, grid.log_spread.size, points),
            lagrange_matrix(levels, grid.levels, points),
            optimize=True,
        )
        for points in (8, 2)
    )
    # far out, where the density is steep or underflows, high order would overshoot
    log_mass = np.where(np.abs(smooth - linear) < 0.5, smooth, linear)
    position = np.arange(grid.log_spread.size)
    edges = (np.interp(spreads, position, x) for x in (grid.log_spread, grid.low, grid.high))
    return _Grid(*edges, levels.size, log_mass)


def _denser(count: int) -> FloatArray:
    return np.arange((count - 1) * _DENSER + 1) / _DENSER


def _narrowed(coarse: _Grid) -> tuple[FloatArray, FloatArray]:
    """Level ranges outside of which the density is negligible, for each coarse log spread.

    Where it is not negligible at an end, the range grows there.
    """
    if coarse.levels == 1:
        return coarse.low, coarse.high
    profile = coarse.log_mass.max(axis=0)
    alive = profile > profile.max(axis=1, keepdims=True) - _NEGLIGIBLE
    first = alive.argmax(axis=1)
    last = coarse.levels - 1 - alive[:, ::-1].argmax(axis=1)
    first = np.where(first == 0, -coarse.levels // 3, first - 1)
    last = np.where(last == coarse.levels - 1, coarse.levels * 4 // 3, last + 1)
    step = (coarse.high - coarse.low) / (coarse.levels - 1)
    return coarse.low + first * step, coarse.low + last * step


def _evaluate(target: _Target, grid: _Grid, indices: Sequence[int]) -> _Grid:
    i, t = np.meshgrid(np.arange(grid.log_spread.size), np.arange(grid.levels), indexing="ij")
    level, log_spread = grid.at(i.ravel().astype(np.float64), t.ravel().astype(np.float64))
    density = target.log_density(level, log_spread, indices).reshape(len(indices), *i.shape)
    width = np.log(np.maximum(grid.high - grid.low, 1e-300))[None, :, None]
    return replace(grid, log_mass=density + (width if grid.levels > 1 else 0.0))


def _draw(
    rng: np.random.Generator,
    target: _Target,
    grid: _Grid,
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
        likelihood.draw(rng, distribution, r, rho, new_n_test or likelihood.board.n_test)
        for likelihood in target.likelihoods
    ]
    values = {"location": location, "spread": spread, "rho": rho}
    values |= _board_values(fields, target)
    values["expected_sota"] = np.stack(
        [distribution.expected_maximum(f.n_classifiers) for f in fields], axis=1
    )
    edge = _edge_probability(mass / mass.sum(), grid)
    log_prior = target.log_priors(location, log_spread)
    return SotaPosterior(
        values,
        np.stack([f.log_likelihood for f in fields], axis=1),
        log_prior,
        _log_evidence(grid),
        {"rho": mass.shape[0], "spread": mass.shape[1], "level": mass.shape[2], "edge": edge},
        tuple(x.reference_skill for x in target.likelihoods),
        (f"the grid cuts off {edge:.2g} of the posterior",) if edge > 1e-3 else (),
    )


def _board_values(fields: list[FieldDraws], target: _Target) -> dict[str, FloatArray]:
    names = (
        "theta_sota", "winner_skill", "winner_new_score", "best_new_score", "shift", "n_classifiers",
    )
    values = {name: np.stack([getattr(f, name) for f in fields], axis=1) for name in names}
    observed = np.array([x.board.maximum for x in target.likelihoods])
    return values | {"multiplicity_bias": observed - values["theta_sota"]}


def _log_evidence(grid: _Grid) -> float:
    """Log of the mean over rho of the integral over level and log spread."""
    peak = grid.log_mass.max()
    total = np.exp(grid.log_mass - peak).sum() / grid.log_mass.shape[0]
    if grid.levels > 1:
        total /= grid.levels - 1
    if grid.log_spread.size > 1:
        total *= grid.log_spread[1] - grid.log_spread[0]
    return float(peak + np.log(total))


def _edge_probability(mass: FloatArray, grid: _Grid) -> float:
    edge = 0.0
    if grid.log_spread.size > 1:
        edge = max(edge, float(mass[:, [0, -1]].sum()))
    if grid.levels > 1:
        edge = max(edge, float(mass[:, :, [0, -1]].sum()))
    return edge


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
    return np.where(moved > 1, 2 - moved, moved)


def _log_normal_density(x: FloatArray, mean: float, sd: float) -> FloatArray:
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


def _top_quantile(tries: float, bounded: bool) -> float:
    """Standardised level of the best of ``tries`` skills: any value serves, a good one is faster."""
    if bounded:
        return float(np.sqrt(3) * (tries - 1) / (tries + 1))
    from scipy.special import ndtri

    return float(ndtri((tries - 0.375) / (tries + 0.25)))
