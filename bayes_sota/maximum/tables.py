r"""Survival functions of one best score, by metric, given what all scores share.

``P(X > x | shift, theta)`` at the edges of the scores that print as the best one, at nodes of the
shift and of skill. Accuracies share the reference classifier's number of right answers
(``dependence``), normal scores of AUCs and of scores with a standard error one normal factor. The
tables do not depend on P(theta): with its hat weights the probability that one classifier of the
field exceeds x is one matrix product.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.dependence import reference_nodes, survival
from bayes_sota.maximum.fresh_test_sets import NormalTestSet, TestSet
from bayes_sota.maximum.score_laws import score_law

NOISE = 1e-13  # survival functions below it are round-off, and set to zero
_SHIFT_REACH, _SKILL_REACH = 6.0, 7.0  # standard deviations of the shift, of an own error
_NEARLY_ONE = 1 - 1e-16
_BLOCK = 256  # skills that share a window of counts
_MOST_PARTS = 12  # a coarse score is split into at most this many runs
_PART = 0.1  # standard errors of a run of scores
_EXACT = 1e-3  # a score in full precision stands for this share of its standard error
_RARE = 1e-8  # probability of a node of the shift that no observed score should need
DENSITY = 1.0
"""How dense the nodes of skill and shift are; tests double it."""


@dataclass(frozen=True, eq=False)
class Table:
    """Survival functions at one correlation.

    Attributes
    ----------
    shifts, weights : ndarray, shape (K,)
        Nodes of the shift that all scores share, standardised, and their probabilities; one node
        where classifiers are independent.
    survival : ndarray, shape (E, K, N)
        ``P(X > edges[e] | shifts[k], skills[i])``, decreasing in e and increasing in i.
    cell : float
        Width of the cell around a node in which shifts lie; 0 where they lie at the nodes.
    """

    shifts: FloatArray
    weights: FloatArray
    survival: FloatArray
    cell: float = 0.0

    @cached_property
    def smoothed(self) -> FloatArray:
        """Nodal values minus a twelfth of their second differences.

        A linear interpolant of a convex function is too high by h^2/12 times its second
        derivative on average; the correction makes expectations fourth order in h.
        """
        s = self.survival.copy()
        s[..., 1:-1] -= np.diff(self.survival, 2, axis=-1) / 12
        return np.clip(s, 0.0, 1.0)

    def draw_shift(self, rng: Generator, k: IntArray) -> FloatArray:
        """Shifts in the cells around the nodes ``k``; from the prior where none matters."""
        if self.shifts.size == 1:
            return rng.standard_normal(k.size)
        return self.shifts[k] + self.cell * (rng.random(k.size) - 0.5)

    def is_rare(self, k: IntArray) -> Any:
        """Whether nodes lie where the table, or belief in the priors, ends."""
        return (self.shifts.size > 1) & (self.weights[k] < _RARE)

    def log_field_cdf(self, weights: FloatArray, ends: bool = False) -> FloatArray:
        r"""``log H_k(1, x)``: one less the mass of P(theta) times the probability of more than x.

        Parameters
        ----------
        weights : ndarray, shape (D, N)
            Hat weights of D skill distributions on the skills of the table.
        ends : bool
            Whether at the first and the last edge only.

        Returns
        -------
        ndarray, shape (E, K, D)
        """
        table = self.smoothed[:: len(self.smoothed) - 1] if ends else self.smoothed
        above = table.reshape(-1, table.shape[-1]) @ weights.T
        np.negative(np.minimum(above, _NEARLY_ONE, out=above), out=above)
        return np.log1p(above, out=above).reshape(*table.shape[:2], -1)


class Scoring:
    """How the best score of a board comes about.

    Attributes
    ----------
    board : BestScore
    theta0 : float
        Skill of the reference classifier, of accuracies.
    scores : NormalScores or None
        Of scores that are no accuracies.
    edges : ndarray
        Edges of the runs of scores (counts of accuracies) that print as the best one.
    log_odds_error : float
        Standard error of the best score, in log odds.
    """

    def __init__(self, board: BestScore, reference_skill: float | None = None) -> None:
        """Split the scores that print as the best one."""
        self.board, self.theta0 = board, default_reference_skill(board, reference_skill)
        bounds, n = score_bounds(board), board.n_test or 0
        if board.metric == "accuracy":
            self.scores, unit = None, 2 * np.sqrt(n)
            low, high = board.counts
            parts = min(high - low + 1, _MOST_PARTS)
            self.edges: Any = np.round(np.linspace(low - 1, high, parts + 1)).astype(np.int64)
            self.log_odds_error = 1 / float(np.sqrt(n * self.theta0 * (1 - self.theta0)))
            places = [float(unit * np.arcsin(np.sqrt(x))) for x in bounds]
            self.ends = (*places, 0.01 * np.pi * unit / n, np.pi / 2 * unit - 0.01)
            return
        self.scores = scores = score_law(board).normal_scores
        error = float(scores.standard_error(board.maximum))
        parts = int(np.clip(np.ceil((bounds[1] - bounds[0]) / (_PART * error)), 1, _MOST_PARTS))
        self.edges = np.linspace(*bounds, parts + 1)
        p = min(self.theta0, scores.largest)
        self.log_odds_error = float(scores.standard_error(p) / (p * (1 - p)))
        self.ends = tuple(float(scores.stabilized(x)) for x in (*bounds, 1e-4, 1 - 1e-7))

    def skills(self, correlations: FloatArray, luck: float = 0.0) -> FloatArray:
        """Nodes between which survival functions go from 0 to 1, equally many per standard error.

        The lowest lies ``luck`` standard errors further down than it would without.
        """
        highest, lowest = float(correlations.max()), float(correlations.min())
        reach = _SKILL_REACH * np.sqrt(1 - lowest**2) + (_SHIFT_REACH + 0.5) * highest
        spacing = 0.4 * max(float(np.sqrt(1 - highest**2)), 0.05) / DENSITY
        low, high = max(self.ends[0] - reach - luck, self.ends[2]), self.ends[1] + reach
        high = min(high, self.ends[3])
        places = np.linspace(low, high, int(np.ceil((high - low) / spacing)) + 2)
        if self.scores is not None:
            return self.scores.from_stabilized(places)
        return np.sin(places / (2 * np.sqrt(self.board.n_test))) ** 2

    def table(self, skills: FloatArray, rho: float) -> Table:
        """Survival functions at these skills."""
        # a share of what the best of many varies by
        gumbel = np.sqrt(1 - rho**2) / np.sqrt(2 * np.log(self.board.typical_tries + 2))
        step = float(min(1.2 * gumbel / max(rho, 1e-9), 0.5)) / DENSITY
        if self.scores is None:
            return self._table_of_counts(skills, rho, step)
        count = int(np.ceil(_SHIFT_REACH / step)) if rho > 0 else 0
        shifts = step * np.arange(-count, count + 1.0)
        weights = np.exp(-0.5 * shifts**2)
        g = self.scores.normal_score(self.edges[:, None], skills)[:, None]
        table = np.asarray(ndtr((rho * shifts[:, None] - g) / np.sqrt(1 - rho**2)))
        return Table(shifts, weights / weights.sum(), np.where(table < NOISE, 0.0, table), step)

    def _table_of_counts(self, skills: FloatArray, rho: float, step: float) -> Table:
        n, theta0 = self.board.n_test, self.theta0
        counts, weights = np.zeros(1, np.int64), np.ones(1)
        if rho > 0:
            counts, weights = reference_nodes(n, theta0, step, _SHIFT_REACH)
        blocks = np.array_split(skills, int(np.ceil(skills.size / _BLOCK)))
        parts = [survival(x, counts, n, rho, theta0, edges=self.edges)[1] for x in blocks]
        table = np.concatenate(parts, axis=-1)
        sd = np.sqrt(n * theta0 * (1 - theta0))
        stride = counts[1] - counts[0] if counts.size > 1 else 1
        cell = float(stride / sd) if stride > 1 else 0.0
        return Table((counts - n * theta0) / sd, weights, np.where(table < NOISE, 0.0, table), cell)


def fresh_test_set(
    board: BestScore,
    rng: Generator,
    correlation: FloatArray,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
) -> TestSet | NormalTestSet:
    """Test sets like the board's, one per correlation, of as many items or of others."""
    if board.metric == "accuracy":
        theta0 = default_reference_skill(board, reference_skill)
        return TestSet.draw(rng, new_n_test or board.n_test, correlation, theta0)
    scores = score_law(board).on(new_n_test).normal_scores
    return NormalTestSet(scores, rng.standard_normal(correlation.size), correlation)


def default_reference_skill(board: BestScore, skill: float | None = None) -> float:
    """theta0 as given, or the observed maximum, kept half an item away from 0 and 1."""
    if skill is not None:
        return skill
    half = 0.5 / (board.n_test or 10**6)
    return float(np.clip(board.maximum, half, 1 - half))


def score_bounds(board: BestScore) -> tuple[float, float]:
    """Lowest and highest score that prints as the best one."""
    if board.metric == "accuracy":
        fewest, most = board.counts
        return fewest / board.n_test, most / board.n_test
    least = 2 * _EXACT * float(score_law(board).normal_scores.standard_error(board.maximum))
    if board.n_positive is not None and board.n_negative is not None:
        least = 1 / (board.n_positive * board.n_negative)
    width = max(board.printed_width, least)
    low = board.maximum if board.rounding == "floor" else board.maximum - width / 2
    return low, low + width
