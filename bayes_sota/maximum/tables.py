r"""Survival functions of one best score, by metric, given what all scores share.

``P(X > x | shift, theta)`` at the edges of the scores that print as the best one, at nodes of the
shift and of skill. Accuracies share the reference classifier's number of right answers
(``dependence``), normal scores of AUCs and of scores with a standard error one normal factor. The
tables do not depend on P(theta): with its hat weights the probability that one classifier of the
field exceeds x is one matrix product.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.dependence import reference_nodes, survival
from bayes_sota.maximum.fresh_test_sets import FreshTestSet, NormalTestSet, TestSet
from bayes_sota.maximum.score_laws import NormalScores, score_law

NOISE = 1e-13  # survival functions below it are round-off, and set to zero
_SHIFT_REACH, _SKILL_REACH = 6.0, 7.0  # standard deviations of the shift, of an own error
_NEARLY_ONE = 1 - 1e-16
_BLOCK = 256  # skills that share a window of counts
_MOST_PARTS = 12  # a coarse score is split into at most this many runs
_PART = 0.1  # standard errors of a run of scores
_EXACT = 1e-3  # a score in full precision stands for this share of its standard error


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
    points : int
        Number of values that the shift can take in a cell around a node; 0 where it is continuous.
    open_ends : (bool, bool)
        Whether the shift could lie beyond the first and the last node.
    """

    shifts: FloatArray
    weights: FloatArray
    survival: FloatArray
    points: int = 0
    open_ends: tuple[bool, bool] = (False, False)

    @cached_property
    def smoothed(self) -> FloatArray:
        """Nodal values minus a twelfth of their second differences.

        A linear interpolant of a convex function is too high by h^2/12 times its second
        derivative on average; the correction makes expectations fourth order in h.
        """
        s = self.survival.copy()
        s[..., 1:-1] -= np.diff(self.survival, 2, axis=-1) / 12
        return np.clip(s, 0.0, 1.0)

    def draw_shift(self, rng: np.random.Generator, k: IntArray) -> FloatArray:
        """Shifts spread evenly around the nodes ``k``; from the prior where none matters."""
        if self.shifts.size == 1:
            return rng.standard_normal(k.size)
        place = rng.random(k.size) - 0.5
        if self.points:
            place = (np.floor((place + 0.5) * self.points) - (self.points - 1) / 2) / self.points
        return self.shifts[k] + (self.shifts[1] - self.shifts[0]) * place

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


class Scoring(ABC):
    """How the best score of a board comes about.

    Attributes
    ----------
    board : BestScore
    edges : ndarray
        Edges of the runs of scores that print as the best one, the first one below the lowest.
    log_odds_error : float
        Standard error of the best score, in log odds.
    """

    board: BestScore
    edges: Any
    log_odds_error: float

    @abstractmethod
    def skills(self, correlations: FloatArray, refinement: float, luck: float = 0.0) -> FloatArray:
        """Nodes between which survival functions go from 0 to 1, equally many per standard error.

        The lowest lies ``luck`` standard errors further down than it would without.
        """

    @abstractmethod
    def table(self, skills: FloatArray, correlation: float, refinement: float) -> Table:
        """Survival functions at these skills; ``refinement`` times as many nodes of the shift."""

    @abstractmethod
    def fresh(
        self, rng: np.random.Generator, correlation: FloatArray, new_n_test: int | None = None
    ) -> FreshTestSet:
        """Test sets of the same kind, one per correlation."""

    def shift_step(self, correlation: float) -> float:
        """Distance of the nodes of the shift: a share of what the best of many varies by."""
        gumbel = np.sqrt(1 - correlation**2) / np.sqrt(2 * np.log(self.board.typical_tries + 2))
        return float(min(1.2 * gumbel / max(correlation, 1e-9), 0.5))


def _skill_nodes(
    ends: Sequence[float],
    correlations: FloatArray,
    refinement: float,
    luck: float,
) -> FloatArray:
    """Nodes around scores in standard errors: lowest and highest score, least and largest node."""
    highest, lowest = float(correlations.max()), float(correlations.min())
    reach = _SKILL_REACH * np.sqrt(1 - lowest**2) + (_SHIFT_REACH + 0.5) * highest
    spacing = 0.4 * max(float(np.sqrt(1 - highest**2)), 0.05) / refinement
    low, high = max(ends[0] - reach - luck, ends[2]), min(ends[1] + reach, ends[3])
    return np.linspace(low, high, int(np.ceil((high - low) / spacing)) + 2)


class CountScoring(Scoring):
    """Right answers out of n, classifiers tied together by a reference classifier."""

    def __init__(self, board: BestScore, reference_skill: float) -> None:
        """Split the counts that print as the best score."""
        self.board, self.reference_skill = board, reference_skill
        low, high = board.counts
        parts = min(high - low + 1, _MOST_PARTS)
        self.edges: IntArray = np.round(np.linspace(low - 1, high, parts + 1)).astype(np.int64)
        self.sd = float(np.sqrt(board.n_test * reference_skill * (1 - reference_skill)))
        self.log_odds_error = 1 / self.sd

    def skills(self, correlations: FloatArray, refinement: float, luck: float = 0.0) -> FloatArray:
        """On the variance-stabilised scale."""
        n = self.board.n_test
        unit = 2 * np.sqrt(n)
        low, high = (float(unit * np.arcsin(np.sqrt(c / n))) for c in self.board.counts)
        top = np.pi / 2 * unit
        ends = (low, high, 0.02 * top / n, top - 0.01)
        root = _skill_nodes(ends, correlations, refinement, luck)
        return np.sin(root / unit) ** 2

    def table(self, skills: FloatArray, correlation: float, refinement: float) -> Table:
        """By characteristic functions."""
        n, theta0 = self.board.n_test, self.reference_skill
        counts, weights = np.zeros(1, np.int64), np.ones(1)
        if correlation > 0:
            step = self.shift_step(correlation) / refinement
            counts, weights = reference_nodes(n, theta0, step, _SHIFT_REACH)
        blocks = np.array_split(skills, int(np.ceil(skills.size / _BLOCK)))
        parts = [survival(x, counts, n, correlation, theta0, edges=self.edges)[1] for x in blocks]
        table = np.concatenate(parts, axis=-1)
        table[table < NOISE] = 0.0
        ends = (bool(counts[0] > 0), bool(0 < counts[-1] < n))
        stride = int(counts[1] - counts[0]) if counts.size > 1 else 1
        return Table((counts - n * theta0) / self.sd, weights, table, stride, ends)

    def fresh(
        self, rng: np.random.Generator, correlation: FloatArray, new_n_test: int | None = None
    ) -> FreshTestSet:
        """With what the reference classifier gets right."""
        size = new_n_test or self.board.n_test
        return TestSet.draw(rng, size, correlation, self.reference_skill)


class NormalScoring(Scoring):
    """Scores whose normal scores share one factor: AUCs, and scores with a standard error."""

    def __init__(self, board: BestScore) -> None:
        """Split the scores that print as the best one."""
        self.board = board
        self.scores: NormalScores = score_law(board).normal_scores
        low, high = score_bounds(board)
        error = float(self.scores.standard_error(board.maximum))
        parts = int(np.clip(np.ceil((high - low) / (_PART * error)), 1, _MOST_PARTS))
        self.edges: FloatArray = np.linspace(low, high, parts + 1)
        p = min(default_reference_skill(board), self.scores.largest)
        self.log_odds_error = float(self.scores.standard_error(p) / (p * (1 - p)))

    def skills(self, correlations: FloatArray, refinement: float, luck: float = 0.0) -> FloatArray:
        """On the scale of standard errors, in (0, 1)."""
        scale = self.scores.stabilized
        ends = [float(scale(x)) for x in (*self.edges[[0, -1]], 1e-4, 1 - 1e-7)]
        root = _skill_nodes(ends, correlations, refinement, luck)
        return self.scores.from_stabilized(root)

    def table(self, skills: FloatArray, correlation: float, refinement: float) -> Table:
        """By normal scores that share one factor."""
        shifts: FloatArray = np.zeros(1)
        if correlation > 0:
            cell = self.shift_step(correlation) / refinement
            count = int(np.ceil(_SHIFT_REACH / cell))
            shifts = np.asarray(np.arange(-count, count + 1) * cell, np.float64)
        weights: FloatArray = np.asarray(np.exp(-0.5 * shifts**2), np.float64)
        g = self.scores.normal_score(self.edges[:, None], skills)[:, None]
        table = np.asarray(ndtr((correlation * shifts[:, None] - g) / np.sqrt(1 - correlation**2)))
        table[table < NOISE] = 0.0
        several = shifts.size > 1
        return Table(shifts, weights / weights.sum(), table, 0, (several, several))

    def fresh(
        self, rng: np.random.Generator, correlation: FloatArray, new_n_test: int | None = None
    ) -> FreshTestSet:
        """With the share of positives, or the standard error per item, of this board."""
        scores = score_law(self.board).on(new_n_test).normal_scores
        return NormalTestSet(scores, rng.standard_normal(correlation.size), correlation)


def maximum_scoring(board: BestScore, reference_skill: float | None = None) -> Scoring:
    """How the best score of a board comes about, by its metric."""
    if board.metric == "accuracy":
        return CountScoring(board, default_reference_skill(board, reference_skill))
    return NormalScoring(board)


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
    if board.n_negative is not None:
        assert board.n_positive is not None
        least = 1 / (board.n_positive * board.n_negative)
    width = max(board.printed_width, least)
    low = board.maximum if board.rounding == "floor" else board.maximum - width / 2
    return low, low + width
