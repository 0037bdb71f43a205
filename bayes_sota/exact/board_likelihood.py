r"""Exact likelihood of one observed maximum, and what it implies for the field behind it.

.. math:: L(\phi, \rho) = \sum_k P(S_0 = k) \big[ H_k(1, x_{hi})^m - H_k(1, x_{lo} - 1)^m \big]

with :math:`H_k(t, x) = \int_{\theta \le t} P(X \le x \mid k, \theta)\, dP(\theta \mid \phi)` and
the counts :math:`x_{lo}, \dots, x_{hi}` that print as the observed score. Given the node k, the
number T of classifiers at the maximum is zero-truncated binomial; their skills follow
:math:`P(X = x \mid k, \theta)\, dP(\theta)` and those of the others
:math:`P(X < x \mid k, \theta)\, dP(\theta)`, all independent. Hence exact joint draws of the
winner's skill and of the best skill, without simulation of scores and without an epsilon.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.exact.field_draws import CellLaw, TestSet, draw_counts, walk_down
from bayes_sota.exact.survival_table import (
    NOISE,
    SurvivalTable,
    skill_nodes,
    survival_table,
)
from bayes_sota.priors import TriesPrior
from bayes_sota.skill_distributions import (
    FloatArray,
    SkillDistribution,
    hat_weights_of_excess,
)

__all__ = ["BoardLikelihood", "FieldDraws", "default_reference_skill"]

_MOST_PARTS = 12  # a coarse score is split into at most this many runs of counts


@dataclass(frozen=True)
class FieldDraws:
    """Draws of what stands behind one observed maximum; each array has shape (D,)."""

    theta_sota: FloatArray
    winner_skill: FloatArray
    winner_new_score: FloatArray
    best_new_score: FloatArray
    shift: FloatArray
    n_classifiers: FloatArray
    log_likelihood: FloatArray
    beyond_tables: NDArray[np.bool_]  # the draw rests on what lies outside the tables


def default_reference_skill(board: Leaderboard) -> float:
    """The observed maximum, kept half an item away from 0 and 1: a fixed number."""
    half = 0.5 / board.n_test
    return float(np.clip(board.maximum, half, 1 - half))


class BoardLikelihood:
    """Tables for one board at several correlations.

    Parameters
    ----------
    board : Leaderboard
    correlations : ndarray, shape (R,)
        Nodes of rho.
    reference_skill : float, optional
        theta0; default ``default_reference_skill(board)``.
    refinement : float
        Every node is this many times denser (tables in k and theta).
    """

    def __init__(
        self,
        board: Leaderboard,
        correlations: FloatArray,
        reference_skill: float | None = None,
        refinement: float = 1.0,
    ) -> None:
        """Tabulate the survival functions."""
        self.board = board
        self.reference_skill = (
            default_reference_skill(board) if reference_skill is None else reference_skill
        )
        self.edges = _count_edges(*board.counts)
        self.tries, self.tries_weights = _tries_nodes(board)
        self.skills = skill_nodes(board.counts, board.n_test, correlations, refinement)
        self.tables: list[SurvivalTable] = [
            survival_table(
                self.edges,
                board.n_test,
                self.skills,
                float(rho),
                self.reference_skill,
                board.typical_tries,
                refinement,
            )
            for rho in correlations
        ]
        self.end_tables = [table.ends() for table in self.tables]

    def hat_weights(self, distribution: SkillDistribution) -> FloatArray:
        """Hat weights of D distributions on the skills of the tables, shape (D, N)."""
        return distribution.expanded().hat_weights(distribution.from_skill(self.skills))

    def log_likelihood(self, weights: FloatArray, r: int) -> FloatArray:
        """Log likelihood at the r-th correlation for hat weights (D, N), shape (D,)."""
        table = self.end_tables[r]
        log_h = np.log1p(-np.minimum(table.field_survival(weights), 1 - 1e-16))
        total = np.full(weights.shape[0], -np.inf)
        for m, weight in zip(self.tries, self.tries_weights, strict=True):
            peak = m * log_h[1].max(axis=0)  # H^m underflows where a level is far too high
            power = _power_difference(log_h[1], log_h[0], m, peak)
            with np.errstate(divide="ignore"):
                log_sum = peak + np.log(weight * (table.weights @ power))
            total = np.logaddexp(total, log_sum)
        return total

    def draw(
        self,
        rng: np.random.Generator,
        distribution: SkillDistribution,
        r: NDArray[np.int64],
        correlation: FloatArray,
        new_n_test: int,
    ) -> FieldDraws:
        """One field per draw, given hyperparameters (D,) and indices ``r`` of correlations."""
        coordinates = distribution.from_skill(self.skills)
        tail, excess = distribution.expanded().tail(coordinates)
        weights = hat_weights_of_excess(excess, coordinates)
        part, k, m, tied, log_likelihood = self._draw_latent(rng, weights, r)
        low, high = self._factors(r, k, part)
        winners = CellLaw.build(distribution, tail, low - high)
        others = CellLaw.build(distribution, tail, 1 - low)
        rows = np.arange(r.size)
        winner = winners.inverse(rows, rng.random(r.size))
        tops = [_top_level(rng, tied - 1), _top_level(rng, m - tied)]
        best = [
            _top_skill(law, rows, top) for law, top in zip((winners, others), tops, strict=True)
        ]
        fresh = TestSet.draw(rng, new_n_test, correlation, self.reference_skill)
        new = draw_counts(rng, fresh, rows, winner)
        new_best = new.copy()
        sizes = (tied - 1, m - tied)
        for law, top, size, skill in zip((winners, others), tops, sizes, best, strict=True):
            some = np.flatnonzero(size > 0)
            new_best[some] = np.maximum(new_best[some], draw_counts(rng, fresh, some, skill[some]))
            new_best = walk_down(rng, fresh, law.inverse, top, np.maximum(size - 1, 0), new_best)
        return FieldDraws(
            np.maximum.reduce([winner, *best]),
            winner,
            new / new_n_test,
            new_best / new_n_test,
            self._shift(rng, r, k),
            m.astype(np.float64),
            log_likelihood,
            self._beyond_tables(r, k, m, winner, log_likelihood),
        )

    def _draw_latent(
        self, rng: np.random.Generator, weights: FloatArray, r: NDArray[np.int64]
    ) -> tuple[
        NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], FloatArray
    ]:
        """Run of counts, node of S0, number of classifiers, number of them at the maximum."""
        size = r.size
        part, node, m = (np.zeros(size, np.int64) for _ in range(3))
        tied, log_likelihood = np.ones(size, np.int64), np.zeros(size)
        for index in np.unique(r):
            rows = np.flatnonzero(r == index)
            table = self.tables[index]
            log_h = np.log1p(-np.minimum(table.field_survival(weights[rows]), 1 - 1e-16))
            cells = np.stack(
                [
                    w * table.weights[:, None] * _power_difference(log_h[1:], log_h[:-1], tries)
                    for tries, w in zip(self.tries, self.tries_weights, strict=True)
                ]
            )
            shape, flat = cells.shape[:3], cells.reshape(-1, rows.size)
            cumulative = np.cumsum(flat, axis=0)
            target = rng.random(rows.size) * cumulative[-1]
            chosen = np.minimum((cumulative < target).sum(axis=0), flat.shape[0] - 1)
            i, part[rows], node[rows] = np.unravel_index(chosen, shape)
            m[rows] = self.tries[i].astype(np.int64)
            h = log_h[:, node[rows], np.arange(rows.size)]
            step = h[part[rows], np.arange(rows.size)] - h[part[rows] + 1, np.arange(rows.size)]
            tied[rows] = _draw_tied(rng, m[rows], -np.expm1(np.minimum(step, 0)))
            with np.errstate(divide="ignore"):
                log_likelihood[rows] = np.log(cumulative[-1])
        return part, node, m, tied, log_likelihood

    def _factors(
        self, r: NDArray[np.int64], k: NDArray[np.int64], part: NDArray[np.int64]
    ) -> tuple[FloatArray, FloatArray]:
        """Survival functions at the lower and upper edge of each draw's run of counts, (D, N)."""
        low, high = (np.empty((r.size, self.skills.size)) for _ in range(2))
        for index in np.unique(r):
            rows = np.flatnonzero(r == index)
            survival = self.tables[index].survival
            low[rows] = survival[part[rows], k[rows]]
            high[rows] = survival[part[rows] + 1, k[rows]]
        return low, high

    def _beyond_tables(
        self,
        r: NDArray[np.int64],
        k: NDArray[np.int64],
        m: NDArray[np.int64],
        winner: FloatArray,
        log_likelihood: FloatArray,
    ) -> NDArray[np.bool_]:
        """Draws at an end of the nodes of S0 or of skill, or made of round-off."""
        counts = [table.counts for table in self.tables]
        first = np.array([c[0] > 0 for c in counts])[r] & (k == 0)
        sizes = np.array([c.size for c in counts])[r]
        last = np.array([0 < c[-1] < self.board.n_test for c in counts])[r] & (k == sizes - 1)
        low = (winner < self.skills[0]) & (self.edges[0] >= 0)
        noisy = log_likelihood < np.log(10 * NOISE * m)
        return np.asarray(first | last | low | noisy)

    def _shift(
        self, rng: np.random.Generator, r: NDArray[np.int64], k: NDArray[np.int64]
    ) -> FloatArray:
        """Standardised S0, spread evenly around its nodes."""
        n, theta0 = self.board.n_test, self.reference_skill
        sd = np.sqrt(n * theta0 * (1 - theta0))
        shift = np.empty(r.size)
        for index in np.unique(r):
            rows = np.flatnonzero(r == index)
            counts = self.tables[index].counts
            if counts.size == 1:  # independent classifiers: nothing is learnt
                shift[rows] = rng.standard_normal(rows.size)
                continue
            stride = int(counts[1] - counts[0])
            nearby = rng.integers(stride, size=rows.size) - (stride - 1) / 2
            shift[rows] = (counts[k[rows]] + nearby - n * theta0) / sd
        return shift


def _power_difference(
    upper: FloatArray, lower: FloatArray, m: float, peak: FloatArray | float = 0.0
) -> FloatArray:
    """``exp(m upper - peak) - exp(m lower - peak)`` for log probabilities ``upper >= lower``."""
    return np.exp(m * upper - peak) * -np.expm1(np.minimum(m * (lower - upper), 0.0))


def _count_edges(low: int, high: int) -> NDArray[np.int64]:
    """Edges of the runs of counts, the first one below the lowest count."""
    parts = min(high - low + 1, _MOST_PARTS)
    return np.round(np.linspace(low - 1, high, parts + 1)).astype(np.int64)


def _tries_nodes(board: Leaderboard) -> tuple[FloatArray, FloatArray]:
    if isinstance(board.tries, TriesPrior):
        return board.tries.nodes()
    return np.array([float(board.tries)]), np.ones(1)


def _draw_tied(
    rng: np.random.Generator, m: NDArray[np.int64], probability: FloatArray
) -> NDArray[np.int64]:
    """Binomial(m, probability) given that it is at least one.

    The first success comes at a truncated geometric trial, the trials after it are free.
    """
    p = np.clip(probability, 1e-300, 1 - 1e-16)
    some = -np.expm1(m * np.log1p(-p))
    first = 1 + np.floor(np.log1p(-rng.random(m.size) * some) / np.log1p(-p))
    first = np.clip(first, 1, m).astype(np.int64)
    return 1 + np.asarray(rng.binomial(m - first, p), dtype=np.int64)


def _top_level(rng: np.random.Generator, size: NDArray[np.int64]) -> FloatArray:
    """Upper-tail probability of the best of ``size`` draws; one where there is none."""
    uniform = rng.random(size.size)
    level = -np.expm1(np.log(uniform) / np.maximum(size, 1))
    return np.where(size > 0, level, 1.0)


def _top_skill(law: CellLaw, rows: NDArray[np.int64], level: FloatArray) -> FloatArray:
    skill = np.zeros(rows.size)
    some = level < 1
    skill[some] = law.inverse(rows[some], level[some])
    return skill
