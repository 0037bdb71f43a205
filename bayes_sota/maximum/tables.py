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
from scipy.special import ndtr

from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.dependence import reference_nodes, survival
from bayes_sota.maximum.score_laws import score_law

NOISE = 1e-13  # survival functions below it are round-off, and set to zero
_SHIFT_REACH, _SKILL_REACH = 6.0, 7.0  # standard deviations of the shift, of an own error
_NEARLY_ONE = 1 - 1e-16
_BLOCK = 256  # skills that share a window of counts
_MOST_PARTS = 12  # a coarse score is split into at most this many runs
_PART = 0.1  # standard errors of a run of scores
_EXACT = 1e-3  # a score in full precision stands for this share of its standard error
_ENDS = (1e-6, 1 - 1e-9)  # of skills
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


def edges_of(board: BestScore) -> Any:
    """Edges of the runs of scores (counts of accuracies) that print as the best one."""
    low, high = score_bounds(board)
    if board.metric == "accuracy":
        fewest, most = board.counts
        parts = min(most - fewest + 1, _MOST_PARTS)
        return np.round(np.linspace(fewest - 1, most, parts + 1)).astype(np.int64)
    runs = np.ceil((high - low) / (_PART * score_law(board).standard_error))
    return np.linspace(low, high, int(np.clip(runs, 1, _MOST_PARTS)) + 1)


def nodes_of_skill(board: BestScore, correlations: FloatArray, luck: float = 0.0) -> FloatArray:
    """Skills between which survival functions go from 0 to 1, equally many per standard error.

    The lowest lies ``luck`` standard errors further down than it would without.
    """
    scale = score_law(board).normal_scores
    strongest, weakest = float(correlations.max()), float(correlations.min())
    reach = _SKILL_REACH * np.sqrt(1 - weakest**2) + (_SHIFT_REACH + 0.5) * strongest
    first, last = scale.stabilized(score_bounds(board))
    low, high = np.clip([first - reach - luck, last + reach], *scale.stabilized(_ENDS))
    spacing = 0.4 * max(float(np.sqrt(1 - strongest**2)), 0.05) / DENSITY
    nodes: FloatArray = scale.from_stabilized(
        np.linspace(low, high, int(np.ceil((high - low) / spacing)) + 2)
    )
    return nodes


def tabulate(
    board: BestScore, edges: Any, skills: FloatArray, rho: float, reference_skill: float
) -> Table:
    """Survival functions at these edges and skills."""
    # a share of what the best of many varies by
    gumbel = np.sqrt(1 - rho**2) / np.sqrt(2 * np.log(board.typical_tries + 2))
    step = float(min(1.2 * gumbel / max(rho, 1e-9), 0.5)) / DENSITY
    if board.metric != "accuracy":
        count = int(np.ceil(_SHIFT_REACH / step)) if rho > 0 else 0
        shifts = step * np.arange(-count, count + 1.0)
        weights = np.exp(-0.5 * shifts**2)
        g = score_law(board).normal_scores.normal_score(edges[:, None], skills)[:, None]
        table = np.asarray(ndtr((rho * shifts[:, None] - g) / np.sqrt(1 - rho**2)))
        return Table(shifts, weights / weights.sum(), np.where(table < NOISE, 0.0, table), step)
    n, counts, weights = board.n_test, np.zeros(1, np.int64), np.ones(1)
    if rho > 0:
        counts, weights = reference_nodes(n, reference_skill, step, _SHIFT_REACH)
    given = (counts, n, rho, reference_skill)
    blocks = np.array_split(skills, int(np.ceil(skills.size / _BLOCK)))
    table = np.concatenate([survival(x, *given, edges=edges)[1] for x in blocks], axis=-1)
    sd = np.sqrt(n * reference_skill * (1 - reference_skill))
    shifts = (counts - n * reference_skill) / sd
    # counts next to each other leave nothing between them
    cell = float(np.ptp(shifts[:2])) if counts[-1] - counts[0] >= counts.size else 0.0
    return Table(shifts, weights, np.where(table < NOISE, 0.0, table), cell)


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
    least = 2 * _EXACT * score_law(board).standard_error
    if board.n_positive is not None and board.n_negative is not None:
        least = 1 / (board.n_positive * board.n_negative)
    width = max(board.printed_width, least)
    low = board.maximum if board.rounding == "floor" else board.maximum - width / 2
    return low, low + width
