r"""Posterior of theta_sota from observed maxima, by quadrature and direct draws.

The hyperparameters (location, spread, rho) live on a grid: rho at the midpoints of equally
likely cells of its prior, the logarithm of the spread equally spaced, and instead of the location
a standardised level near the best skill, :math:`location + q_m\, spread`, because that is what a
maximum informs and the likelihood is a narrow ridge in the location. Its range depends on the log
spread, smoothly: it is found on a few coarse spreads, interpolated, and widened until the density
is negligible at every edge. The density between the nodes is the multilinear interpolant, from
which a draw is a node plus a triangular offset per coordinate. Given the hyperparameters everything
else is drawn from its exact law (``likelihood``). Solves Sec. 5.3.2 of Møllersen & Holsbø without
simulation; ``tests/maximum/test_posterior.py`` holds it against rejection sampling and against
denser grids.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, SKILL, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import MaximumPriors, Priors, UniformSkill, luck_nodes, maximum_priors
from bayes_sota.core.skills import logit
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.likelihood import BoardLikelihood, FieldDraws, board_values, draw_boards

_RHO_NODES = 10
_SPREAD_NODES, _LEVEL_NODES, _LONE_SPREAD_NODES = 32, 32, 96
_COARSE_SPREADS, _COARSE_LEVELS, _COARSE_LONE = 13, 20, 161
_DENSER = 4  # times as many nodes after interpolation of the log density
_NEGLIGIBLE = 13.0  # log density below the maximum at which the grid ends
_CUT = 9.0  # log density below the maximum at which an edge cuts something off
_LARGEST_LOG_SPREAD = 1.6
_PRIOR_REACH = 6.0  # prior standard deviations of the log spread to look at first
_PASSES, _MOVES, _REPAIRS = 12, 16, 8
Box = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
_TOLERATED = 1e-3  # probability that may rest on what grids and tables leave out


def draw_prior(
    boards: Sequence[Leaderboard],
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
        boards, distribution, known["rho"], rng, luck=known.get("submission_luck"),
        reference_skill=reference_skill,
    )  # fmt: skip
    return {"location": location, "spread": spread, **known, **of_boards}


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
    """Independent draws from the posterior, and how they came about.

    Attributes
    ----------
    draws : dict of str to ndarray
        Names as in ``bayes_sota.core.schema``. ``location``, ``spread``, ``rho`` and, where a
        board has submissions, ``submission_luck`` have shape (D,), what belongs to a board has
        shape (D, B).
    log_likelihood : ndarray, shape (D, B)
    log_prior : dict of str to ndarray, shape (D,)
        Log prior density of each uncertain hyperparameter.
    log_evidence : float
        Log probability of the observed maxima under the priors.
    edge_probability : float
        Share of the mass at the worst edge of the grid.
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
    log_evidence: float
    edge_probability: float
    reference_skill: tuple[float, ...]
    reasons: tuple[str, ...]
    laws: tuple[Callable[[], FloatArray], ...]


def sota_posterior(
    boards: Leaderboard | Sequence[Leaderboard],
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
    luck, lucks = None, np.empty(0)
    if any(board.has_submissions for board in boards):
        lucks = luck_nodes(priors.submission_luck)
        correlations, quantiles = (np.repeat(x, lucks.size) for x in (correlations, quantiles))
        luck = np.tile(lucks, count)
    likelihoods = [
        BoardLikelihood(
            b, correlations, reference_skill, refinement, luck if b.has_submissions else None
        )
        for b in boards
    ]
    target = _Target(priors, likelihoods, correlations)
    grid = _find_grid(target, refinement)
    return _draw(rng, target, grid, quantiles, draws, new_n_test, lucks.size)


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

    def log_density(
        self, level: FloatArray, log_spread: FloatArray, indices: Sequence[int]
    ) -> FloatArray:
        """Log prior of level and log spread plus log likelihood, shape (R, G)."""
        location = self.location(level, log_spread)
        densities = _skill_densities(self.priors, location, log_spread)
        prior = sum(densities.values(), np.zeros(location.size))
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


@dataclass(frozen=True, eq=False)
class _Grid:
    """Levels between ``low`` and ``high``, which depend on the log spread, and their masses."""

    log_spread: FloatArray  # (L,)
    low: FloatArray  # (L,)
    high: FloatArray  # (L,)
    levels: int
    log_mass: FloatArray  # (R, L, T)

    def at(
        self, spread_index: FloatArray, level_index: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Level and log spread at fractional indices."""
        position, nodes = np.arange(self.log_spread.size), (self.log_spread, self.low, self.high)
        log_spread, low, high = (np.interp(spread_index, position, x) for x in nodes)
        share = level_index / max(self.levels - 1, 1)
        return low + share * (high - low), log_spread

    def log_evidence(self) -> float:
        """Log of the mean over rho of the integral over level and log spread."""
        peak = self.log_mass.max()
        total = np.exp(self.log_mass - peak).sum() / self.log_mass.shape[0]
        if self.levels > 1:
            total /= self.levels - 1
        if self.log_spread.size > 1:
            total *= self.log_spread[1] - self.log_spread[0]
        return float(peak + np.log(total))

    def edge_probability(self) -> float:
        """Share of the mass at the worst edge of the grid."""
        mass = np.exp(self.log_mass - self.log_mass.max())
        of_spread = mass[:, [0, -1]].sum() if self.log_spread.size > 1 else 0.0
        of_level = mass[:, :, [0, -1]].sum() if self.levels > 1 else 0.0
        return max(float(of_spread), float(of_level)) / float(mass.sum())


def _find_grid(target: _Target, refinement: float) -> _Grid:
    """Coarse passes, then the fine grid, widened where an edge cuts something off."""
    coarse, low, high = _search(target)
    skill = target.skill
    nodes = _LONE_SPREAD_NODES if skill.location_is_fixed else _SPREAD_NODES
    spreads = 1 if skill.spread_is_fixed else round(nodes * refinement)
    levels = 1 if skill.location_is_fixed else round(_LEVEL_NODES * refinement)
    log_spread = np.linspace(low, high, spreads)
    every = range(target.correlations.size)
    box = _interpolate_box(coarse, log_spread)
    grid = _evaluate(target, _Grid(log_spread, *box, levels, np.empty(0)), every)
    for _ in range(_REPAIRS if levels > 1 else 0):
        cut = grid.log_mass.max(axis=(0, 1)) > grid.log_mass.max() - _CUT
        if not (cut[0] or cut[-1]):
            break
        widening = 0.25 * (grid.high - grid.low)  # of every row: the edges must stay smooth
        low_edge, high_edge = grid.low - cut[0] * widening, grid.high + cut[-1] * widening
        grid = _evaluate(target, replace(grid, low=low_edge, high=high_edge), every)
    return _interpolated(grid)


def _search(target: _Target) -> tuple[_Grid, float, float]:
    """Coarse grid with levels that fit, and the log spreads that are not negligible."""
    skill = target.skill
    centre, sd = skill.log_spread_mean, skill.log_spread_sd
    low, high = centre - _PRIOR_REACH * sd, min(centre + _PRIOR_REACH * sd, _LARGEST_LOG_SPREAD)
    count = _COARSE_LONE if skill.location_is_fixed else _COARSE_SPREADS
    box: Box = target.first_box
    for _ in range(_PASSES):
        coarse = _locate(target, np.linspace(low, high, 1 if sd == 0 else count), box)
        best = coarse.log_mass.max(axis=(0, 2))
        alive = np.flatnonzero(best > best.max() - _NEGLIGIBLE)
        if sd == 0:
            break
        step = (high - low) / (count - 1)
        at_end = alive[-1] == count - 1 and high < _LARGEST_LOG_SPREAD
        if alive[0] == 0 or at_end:  # not negligible at an end: look beyond
            low -= 0.5 * (count - 1) * step * (alive[0] == 0)
            high = min(high + 0.5 * (count - 1) * step * at_end, _LARGEST_LOG_SPREAD)
            box = target.first_box
            continue
        span = alive[-1] - alive[0] + 2
        low, high = low + (alive[0] - 1) * step, min(low + (alive[-1] + 1) * step, high)
        if span > 0.55 * (count - 1):
            break
        box = partial(_interpolate_box, coarse)
    return coarse, low, high


def _locate(target: _Target, log_spread: FloatArray, box: Box) -> _Grid:
    """Coarse grid whose range of levels fits the density at every log spread."""
    some = sorted({0, target.correlations.size - 1})
    low, high = box(log_spread)
    levels = 1 if target.skill.location_is_fixed else _COARSE_LEVELS
    grid = _evaluate(target, _Grid(log_spread, low, high, levels, np.empty(0)), some)
    for _ in range(_MOVES if levels > 1 else 0):
        low, high = _narrowed(grid)
        ratio = (high - low) / (grid.high - grid.low)
        best = grid.log_mass.max(axis=(0, 2))
        matters = best > best.max() - 3 * _NEGLIGIBLE
        if np.isfinite(best.max()) and np.all((ratio > 0.4) & (ratio <= 1) | ~matters):
            break
        grid = _evaluate(target, replace(grid, low=low, high=high), some)
    finite = np.isfinite(grid.log_mass.max(axis=(0, 2)))
    if not finite.any():
        raise InputError(
            "the observed maximum is impossible under the priors: widen the typical skill or the "
            "spread"
        )
    low, high = (np.interp(log_spread, log_spread[finite], edge[finite]) for edge in (low, high))
    return replace(grid, low=low, high=high)


def _interpolate_box(coarse: _Grid, log_spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Smooth edges at other log spreads."""
    count = coarse.log_spread.size
    if count == 1 or coarse.levels == 1:
        low, high = (np.full(log_spread.size, edge[0]) for edge in (coarse.low, coarse.high))
        return low, high
    step = coarse.log_spread[1] - coarse.log_spread[0]
    matrix = _lagrange_matrix((log_spread - coarse.log_spread[0]) / step, count, 4)
    low, high = coarse.low @ matrix, coarse.high @ matrix
    return low, np.maximum(high, low + 0.5 * (coarse.high - coarse.low).min())


def _narrowed(grid: _Grid) -> tuple[FloatArray, FloatArray]:
    """Level ranges outside of which the density is negligible, for each log spread.

    Where it is not negligible at an end, the range grows there.
    """
    profile = np.maximum(grid.log_mass.max(axis=0), -1e6)
    limit = profile.max(axis=1) - _NEGLIGIBLE
    edges = [_crossing(side, limit) for side in (profile, profile[:, ::-1])]
    step = (grid.high - grid.low) / (grid.levels - 1)
    return grid.low + edges[0] * step, grid.high - edges[1] * step


def _crossing(profile: FloatArray, limit: FloatArray) -> FloatArray:
    """Fractional index where each row first exceeds its limit; negative if it does at once."""
    rows = np.arange(limit.size)
    first = (profile > limit[:, None]).argmax(axis=1)
    here, before = profile[rows, first], profile[rows, np.maximum(first - 1, 0)]
    share = (here - limit) / np.maximum(here - before, 1e-9)
    inside = np.maximum(first - np.clip(share, 0.0, 1.0) - 0.3, 0.0)
    return np.where(first == 0, -0.7 * profile.shape[1], inside)


def _evaluate(target: _Target, grid: _Grid, indices: Sequence[int]) -> _Grid:
    i, t = np.meshgrid(np.arange(grid.log_spread.size), np.arange(grid.levels), indexing="ij")
    level, log_spread = grid.at(i.ravel().astype(np.float64), t.ravel().astype(np.float64))
    density = target.log_density(level, log_spread, indices).reshape(len(indices), *i.shape)
    width = np.log(np.maximum(grid.high - grid.low, 1e-300))[None, :, None]
    return replace(grid, log_mass=density + (width if grid.levels > 1 else 0.0))


def _interpolated(grid: _Grid) -> _Grid:
    """The same density on denser nodes, so that draws between nodes add no variance."""
    log_mass = np.maximum(grid.log_mass, grid.log_mass.max() - 60.0)
    sizes = (grid.log_spread.size, grid.levels)
    spreads, levels = (np.arange((n - 1) * _DENSER + 1) / _DENSER for n in sizes)

    def on_denser(points: int) -> FloatArray:
        rows = _lagrange_matrix(spreads, sizes[0], points)
        columns = _lagrange_matrix(levels, sizes[1], points)
        return np.asarray(np.einsum("rlt,lp,tq->rpq", log_mass, rows, columns, optimize=True))

    smooth, linear = on_denser(8), on_denser(2)
    # far out, where the density is steep or underflows, high order would overshoot
    log_mass = np.where(np.abs(smooth - linear) < 0.5, smooth, linear)
    position, nodes = np.arange(grid.log_spread.size), (grid.log_spread, grid.low, grid.high)
    log_spread, low, high = (np.interp(spreads, position, x) for x in nodes)
    return _Grid(log_spread, low, high, levels.size, log_mass)


def _lagrange_matrix(position: FloatArray, count: int, points: int) -> FloatArray:
    """Interpolation from ``count`` equidistant nodes to fractional indices, shape (count, P).

    Local polynomials through the nearest ``points`` nodes.
    """
    size = min(points, count)
    first = np.clip(np.floor(position).astype(np.int64) - size // 2 + 1, 0, count - size)
    matrix = np.zeros((count, position.size))
    stencil = np.arange(size)
    for j in range(size):
        others = stencil[stencil != j]
        factors = (position[:, None] - first[:, None] - others) / (j - others)
        matrix[first + j, np.arange(position.size)] = factors.prod(axis=1)
    return matrix


def _draw(
    rng: np.random.Generator,
    target: _Target,
    grid: _Grid,
    quantiles: FloatArray,
    draws: int,
    new_n_test: int | None,
    lucks: int,
) -> SotaPosterior:
    mass = np.exp(grid.log_mass - grid.log_mass.max())
    chosen = rng.choice(mass.size, size=draws, p=(mass / mass.sum()).ravel())
    r, i, t = np.unravel_index(chosen, mass.shape)
    level, log_spread = grid.at(_jittered(rng, i, mass.shape[1]), _jittered(rng, t, mass.shape[2]))
    location, spread = target.location(level, log_spread), np.exp(log_spread)
    rho = target.priors.correlation.quantile(_jittered_quantile(rng, quantiles, r))
    distribution = target.skill.distribution(location, spread)
    fields = [x.draw(rng, distribution, r, rho, new_n_test) for x in target.likelihoods]
    values = {"location": location, "spread": spread, "rho": rho}
    if lucks:
        level = (r % lucks + rng.random(draws)) / lucks
        values["submission_luck"] = target.priors.submission_luck.quantile(level)
    values |= board_values(fields, [x.board for x in target.likelihoods], distribution)
    return SotaPosterior(
        draws=values,
        log_likelihood=np.stack([f.log_likelihood for f in fields], axis=1),
        log_prior=log_priors(target.priors, values),
        log_evidence=grid.log_evidence(),
        edge_probability=grid.edge_probability(),
        reference_skill=tuple(x.reference_skill for x in target.likelihoods),
        reasons=_reasons(grid, fields),
        laws=tuple(field.law for field in fields),
    )


def _reasons(grid: _Grid, fields: list[FieldDraws]) -> tuple[str, ...]:
    reasons, edge = [], grid.edge_probability()
    if edge > _TOLERATED:
        reasons.append(f"the grid cuts off {edge:.2g} of the posterior")
    beyond = float(np.mean(np.any([f.beyond_tables for f in fields], axis=0)))
    if beyond > _TOLERATED:
        reasons.append(
            f"the observed maximum contradicts the priors: {beyond:.2g} of the posterior rests on "
            "shifts or chances of more than six standard deviations, where the tables end"
        )
    return tuple(reasons)


def _jittered(rng: np.random.Generator, index: IntArray, size: int) -> FloatArray:
    """Draws around nodes from the hat functions of linear interpolation."""
    if size == 1:
        return np.zeros(index.size)
    offset = rng.random(index.size) - rng.random(index.size)
    return np.clip(index + offset, 0, size - 1)


def _jittered_quantile(rng: np.random.Generator, quantiles: FloatArray, r: IntArray) -> FloatArray:
    if quantiles.size == 1:
        return quantiles[r]
    cells = np.unique(quantiles).size
    moved = quantiles[r] + (rng.random(r.size) - rng.random(r.size)) / cells
    moved = np.where(moved < 0, -moved, moved)
    return np.asarray(np.where(moved > 1, 2 - moved, moved))


def _top_quantile(tries: float, bounded: bool) -> float:
    """Standardised best of ``tries`` skills: any value serves, a good one is faster."""
    if bounded:
        return float(np.sqrt(3) * (tries - 1) / (tries + 1))
    from scipy.special import ndtri

    return float(ndtri((tries - 0.375) / (tries + 0.25)))
