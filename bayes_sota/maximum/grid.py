"""Grid of level and log spread that holds the whole posterior of the hyperparameters.

The level is a standardised location of the best skill. Its range depends on the log spread,
smoothly: it is found on a few coarse spreads, interpolated, and widened until the density is
negligible at every edge. ``tests/maximum/test_posterior.py`` compares with denser grids.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import SkillPrior
from bayes_sota.core.types import FloatArray

_SPREAD_NODES, _LEVEL_NODES, _LONE_SPREAD_NODES = 32, 32, 96
_COARSE_SPREADS, _COARSE_LEVELS, _COARSE_LONE = 13, 20, 161
_DENSER = 4  # times as many nodes after interpolation of the log density
_NEGLIGIBLE = 13.0  # log density below the maximum at which the grid ends
_CUT = 9.0  # log density below the maximum at which an edge cuts something off
_LARGEST_LOG_SPREAD = 1.6
_PRIOR_REACH = 6.0  # prior standard deviations of the log spread to look at first
_PASSES, _MOVES, _REPAIRS = 12, 16, 8
Box = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


class GridTarget(Protocol):
    """Unnormalised log posterior of level and log spread at several correlations."""

    skill: SkillPrior
    correlations: FloatArray

    def log_density(
        self, level: FloatArray, log_spread: FloatArray, indices: Sequence[int]
    ) -> FloatArray:
        """Shape (R, G)."""

    def first_box(self, log_spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Generous range of the level for each log spread."""


@dataclass(frozen=True, eq=False)
class Grid:
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
        position = np.arange(self.log_spread.size)
        log_spread = np.interp(spread_index, position, self.log_spread)
        low = np.interp(spread_index, position, self.low)
        high = np.interp(spread_index, position, self.high)
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
        edges = [0.0]
        if self.log_spread.size > 1:
            edges.append(float(mass[:, [0, -1]].sum()))
        if self.levels > 1:
            edges.append(float(mass[:, :, [0, -1]].sum()))
        return max(edges) / float(mass.sum())


def find_grid(target: GridTarget, refinement: float) -> Grid:
    """Coarse passes, then the fine grid, widened where an edge cuts something off."""
    coarse, low, high = _search(target)
    skill = target.skill
    nodes = _LONE_SPREAD_NODES if skill.location_is_fixed else _SPREAD_NODES
    spreads = 1 if skill.spread_is_fixed else round(nodes * refinement)
    levels = 1 if skill.location_is_fixed else round(_LEVEL_NODES * refinement)
    log_spread = np.linspace(low, high, spreads)
    every = range(target.correlations.size)
    box = _interpolate_box(coarse, log_spread)
    grid = _evaluate(target, Grid(log_spread, *box, levels, np.empty(0)), every)
    for _ in range(_REPAIRS if levels > 1 else 0):
        cut = grid.log_mass.max(axis=(0, 1)) > grid.log_mass.max() - _CUT
        if not (cut[0] or cut[-1]):
            break
        widening = 0.25 * (grid.high - grid.low)  # of every row: the edges must stay smooth
        low_edge, high_edge = grid.low - cut[0] * widening, grid.high + cut[-1] * widening
        grid = _evaluate(target, replace(grid, low=low_edge, high=high_edge), every)
    return _interpolated(grid)


def _search(target: GridTarget) -> tuple[Grid, float, float]:
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


def _locate(target: GridTarget, log_spread: FloatArray, box: Box) -> Grid:
    """Coarse grid whose range of levels fits the density at every log spread."""
    some = sorted({0, target.correlations.size - 1})
    low, high = box(log_spread)
    levels = 1 if target.skill.location_is_fixed else _COARSE_LEVELS
    grid = _evaluate(target, Grid(log_spread, low, high, levels, np.empty(0)), some)
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


def _interpolate_box(coarse: Grid, log_spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Smooth edges at other log spreads."""
    count = coarse.log_spread.size
    if count == 1 or coarse.levels == 1:
        low, high = (np.full(log_spread.size, edge[0]) for edge in (coarse.low, coarse.high))
        return low, high
    step = coarse.log_spread[1] - coarse.log_spread[0]
    matrix = _lagrange_matrix((log_spread - coarse.log_spread[0]) / step, count, 4)
    low, high = coarse.low @ matrix, coarse.high @ matrix
    return low, np.maximum(high, low + 0.5 * (coarse.high - coarse.low).min())


def _narrowed(grid: Grid) -> tuple[FloatArray, FloatArray]:
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


def _evaluate(target: GridTarget, grid: Grid, indices: Sequence[int]) -> Grid:
    i, t = np.meshgrid(np.arange(grid.log_spread.size), np.arange(grid.levels), indexing="ij")
    level, log_spread = grid.at(i.ravel().astype(np.float64), t.ravel().astype(np.float64))
    density = target.log_density(level, log_spread, indices).reshape(len(indices), *i.shape)
    width = np.log(np.maximum(grid.high - grid.low, 1e-300))[None, :, None]
    return replace(grid, log_mass=density + (width if grid.levels > 1 else 0.0))


def _interpolated(grid: Grid) -> Grid:
    """The same density on denser nodes, so that draws between nodes add no variance."""
    log_mass = np.maximum(grid.log_mass, grid.log_mass.max() - 60.0)
    spreads, levels = _denser(grid.log_spread.size), _denser(grid.levels)
    smooth, linear = (
        np.einsum(
            "rlt,lp,tq->rpq",
            log_mass,
            _lagrange_matrix(spreads, grid.log_spread.size, points),
            _lagrange_matrix(levels, grid.levels, points),
            optimize=True,
        )
        for points in (8, 2)
    )
    # far out, where the density is steep or underflows, high order would overshoot
    log_mass = np.where(np.abs(smooth - linear) < 0.5, smooth, linear)
    position = np.arange(grid.log_spread.size)
    log_spread = np.interp(spreads, position, grid.log_spread)
    low, high = (np.interp(spreads, position, x) for x in (grid.low, grid.high))
    return Grid(log_spread, low, high, levels.size, log_mass)


def _denser(count: int) -> FloatArray:
    return np.arange((count - 1) * _DENSER + 1) / _DENSER


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
