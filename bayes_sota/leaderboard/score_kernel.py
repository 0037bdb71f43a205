"""Distinct scores of a board against a grid of board-conditional skill (``score_laws``)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.score_laws import ScoreLaw, score_law

__all__ = ["ScoreKernel", "modelled_entries"]

_LEAST, _PER_ROOT, _STANDARD_ERRORS = 10, 3.0, 4.0
_MOST_VALUES, _MOST_NODES = 400, 2000


def modelled_entries(law: ScoreLaw) -> NDArray[np.bool_]:
    """Entries that the skill distribution is fitted to: the top part of the board.

    An entry more than four standard errors below the best cannot be the best, and its distance
    says little about the upper edge: failed and abandoned entries follow other laws. So the model
    conditions on the entries within four standard errors of the best score, but always on the
    best ``max(10, 3 sqrt(m))``, the intermediate order statistics that inform an upper tail.

    Returns
    -------
    ndarray of bool, shape (m,)
    """
    scores = law.scores
    least = int(max(_LEAST, np.ceil(_PER_ROOT * np.sqrt(scores.size))))
    if least >= scores.size:
        return np.ones(scores.size, bool)
    near = law.depth(scores) <= _STANDARD_ERRORS
    return np.asarray(near | (scores >= np.sort(scores)[-least]))


@dataclass(frozen=True, eq=False)
class ScoreKernel:
    """Distinct scores of the modelled entries against a grid of board-conditional skill.

    Attributes
    ----------
    board : Leaderboard
    modelled : ndarray of bool, shape (m,)
        Entries of the modelled part.
    values : ndarray, shape (U,)
        Distinct scores times the law's unit, increasing: success counts (middle of what prints
        alike), or scores.
    copies : ndarray, shape (U,)
        Number of entries with each.
    value_of_entry : ndarray of int, shape (modelled entries,)
        Index into ``values``.
    y : ndarray, shape (G,)
        Grid, equally spaced log odds (or standardised scores).
    law : ScoreLaw
        What a score says about psi.
    """

    board: Leaderboard
    modelled: NDArray[np.bool_]
    values: FloatArray
    copies: FloatArray
    value_of_entry: IntArray
    y: FloatArray
    law: ScoreLaw

    @classmethod
    def of(cls, board: Leaderboard) -> "ScoreKernel":
        """Kernel of a full or partial leaderboard."""
        law = score_law(board)
        modelled = modelled_entries(law)
        values, index, copies = np.unique(
            law.values()[modelled], return_inverse=True, return_counts=True
        )
        if values.size > _MOST_VALUES:
            values, index, copies = _binned(values, index, copies)
        law = law.fitted_to(values)
        complete = bool(modelled.all()) and not board.is_partial
        y = _grid(law, values, complete)
        return cls(board, modelled, values, copies.astype(float), index, y, law)

    @property
    def step(self) -> float:
        """Grid step."""
        return float(self.y[1] - self.y[0])

    @cached_property
    def psi(self) -> FloatArray:
        """Board-conditional skill at the grid, in the units of the scores."""
        return self.skill_at(self.y)

    def skill_at(self, y: FloatArray) -> FloatArray:
        """Skill at grid coordinates."""
        return self.law.skill_at(y)

    @property
    def is_cut(self) -> bool:
        """Whether entries below the modelled part exist, seen or hidden."""
        return not self.modelled.all() or self.board.is_partial

    @cached_property
    def prepared(self) -> Any:
        """What the law makes of the scores at the grid."""
        return self.law.prepared(self.values, self.y)

    def log_kernel(self, rho: float) -> FloatArray:
        """Log probability of each distinct score, shape (U, G); constants left out."""
        return self.law.log_kernel(self.prepared, 1 - rho**2)

    def all_log_kernel(self, entries: NDArray[np.bool_], rho: float) -> FloatArray:
        """The same for other entries of the board, one row each."""
        prepared = self.law.prepared(self.law.values()[entries], self.y)
        return self.law.log_kernel(prepared, 1 - rho**2)

    def log_mass(self, rho: float) -> FloatArray:
        """Logarithm of what ``log_kernel`` leaves out of a score's probability (density), (U,)."""
        return self.law.log_mass(self.values, 1 - rho**2)

    def reach(self, rho: float, level: float | None = None) -> FloatArray:
        """Probability of a score in the modelled part (or of at least ``level``), shape (G,)."""
        cut = float(self.values[0] if level is None else level)
        return self.law.reach(self.psi, cut, 1 - rho**2)

    def reaches(self, rho: float) -> FloatArray:
        """Probability of a score in the modelled part, (K, G): one for all, or each value's own."""
        return self.reach(rho)[None]

    def remove_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """Skill from board-conditional skill; ``shift`` is ``rho z``."""
        return self.law.remove_shift(psi, shift)


def _binned(values: FloatArray, index: IntArray, copies: Any) -> tuple[FloatArray, IntArray, Any]:
    """At most so many distinct values: the mean of those in one of equally wide bins."""
    edges = np.linspace(values[0], values[-1], _MOST_VALUES + 1)
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _MOST_VALUES - 1)
    bins[-1] = bins[-2] + 1 if bins[-2] == bins[-1] else bins[-1]  # the best score stays itself
    used, compact = np.unique(bins, return_inverse=True)
    totals = np.bincount(compact, weights=copies, minlength=used.size)
    means = np.bincount(compact, weights=copies * values, minlength=used.size) / totals
    return means, compact[index], totals


def _grid(law: ScoreLaw, values: FloatArray, complete: bool) -> FloatArray:
    """Equally spaced, a sixth of the best score's standard error apart, with wide margins."""
    places, errors = law.places(values)
    low = places[0] - (4 if complete else 6) * min(errors[0], 1.0)
    high = places[-1] + 5 * min(errors[-1], 1.2)
    step = errors[-2:].min() / 6
    nodes = int(np.clip((high - low) / step, 60, _MOST_NODES))
    return np.linspace(low, high, nodes)
