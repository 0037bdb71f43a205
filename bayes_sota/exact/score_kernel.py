r"""What each observed score says about board-conditional skill, on a grid.

Given its skill ``psi`` on these items, a success count ``x`` has the variance
``(1 - rho^2) n psi (1 - psi)``: what the classifiers share is part of ``psi``. The law with that
variance is Efron's double binomial (1986, doi 10.1080/01621459.1986.10478327, Eq. 2.1), an
exponential family whose log likelihood is the binomial's divided by the dispersion
``1 - rho^2``:

.. math:: \log p(x \mid \psi) = \frac{x \log\psi + (n-x)\log(1-\psi) - s(x)}{1-\rho^2} + const,
          \quad s(x) = x \log\tfrac{x}{n} + (n-x)\log\left(1-\tfrac{x}{n}\right)

It is exact for ``rho = 0``, skewed near 0 and 1 as counts are, needs no cap on rho for weak
entries, and follows the two-binomial law of the paper closely
(``tests/exact/test_score_kernel.py``). Scores with a standard error are normal.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.errors import InputError
from bayes_sota.skill_distributions import FloatArray, expit, logit

__all__ = ["ScoreKernel", "modelled_entries", "remove_shift"]

IntArray = NDArray[np.int64]
_LEAST, _PER_ROOT, _STANDARD_ERRORS = 10, 3.0, 4.0
_MOST_VALUES, _MOST_NODES = 400, 2000


def modelled_entries(board: Leaderboard) -> NDArray[np.bool_]:
    """Entries that the skill distribution is fitted to: the top part of the board.

    An entry more than four standard errors below the best cannot be the best, and its distance
    says little about the upper edge: failed and abandoned entries follow other laws. So the model
    conditions on the entries within four standard errors of the best score, but always on the
    best ``max(10, 3 sqrt(m))``, the intermediate order statistics that inform an upper tail.

    Returns
    -------
    ndarray of bool, shape (m,)
    """
    scores = _scores(board)
    least = int(max(_LEAST, np.ceil(_PER_ROOT * np.sqrt(scores.size))))
    if least >= scores.size:
        return np.ones(scores.size, bool)
    near = scores >= board.maximum - _STANDARD_ERRORS * standard_error(board)
    return np.asarray(near | (scores >= np.sort(scores)[-least]))


def standard_error(board: Leaderboard) -> float:
    """Standard error of the best score."""
    if board.metric == "score":
        if board.standard_error is None:
            raise InputError(
                "scores that are not accuracies need standard_error, the standard error of one"
            )
        return board.standard_error
    p = np.clip(board.maximum, 0.5 / board.n_test, 1 - 0.5 / board.n_test)
    return float(np.sqrt(p * (1 - p) / board.n_test))


def remove_shift(board: Leaderboard, psi: FloatArray, shift: FloatArray) -> FloatArray:
    r"""Skill from board-conditional skill: solve ``psi = theta + shift sd(theta)``.

    For an accuracy ``sd(theta) = sqrt(theta (1 - theta) / n)``, so that the solution is Wilson's:
    it stays in [0, 1], and is skewed near 1. ``shift`` is ``rho z``.
    """
    if board.metric == "score":
        return np.asarray(psi - shift * standard_error(board))
    q = shift**2 / board.n_test
    root = np.sqrt(np.maximum(psi * (1 - psi) * q + q**2 / 4, 0))
    return np.asarray((psi + q / 2 - np.sign(shift) * root) / (1 + q))


@dataclass(frozen=True, eq=False)
class ScoreKernel:
    """Distinct scores of the modelled entries against a grid of board-conditional skill.

    Attributes
    ----------
    board : Leaderboard
    modelled : ndarray of bool, shape (m,)
        Entries of the modelled part.
    values : ndarray, shape (U,)
        Distinct scores, increasing: success counts (middle of what prints alike), or scores.
    copies : ndarray, shape (U,)
        Number of entries with each.
    value_of_entry : ndarray of int, shape (modelled entries,)
        Index into ``values``.
    y : ndarray, shape (G,)
        Grid, equally spaced log odds (or standardised scores).
    """

    board: Leaderboard
    modelled: NDArray[np.bool_]
    values: FloatArray
    copies: FloatArray
    value_of_entry: IntArray
    y: FloatArray
    centre: float
    scale: float

    @classmethod
    def of(cls, board: Leaderboard) -> "ScoreKernel":
        """Kernel of a full or partial leaderboard."""
        modelled = modelled_entries(board)
        raw = _raw_values(board)[modelled]
        values, index, copies = np.unique(raw, return_inverse=True, return_counts=True)
        if values.size > _MOST_VALUES:
            values, index, copies = _binned(values, index, copies)
        centre, scale = _standardisation(board, values)
        complete = bool(modelled.all()) and not board.is_partial
        y = _grid(board, values, centre, scale, complete)
        return cls(board, modelled, values, copies.astype(float), index, y, centre, scale)

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
        if self.board.metric == "score":
            return np.asarray(self.centre + self.scale * y)
        return np.asarray(expit(y))

    @property
    def is_cut(self) -> bool:
        """Whether entries below the modelled part exist, seen or hidden."""
        return not self.modelled.all() or self.board.is_partial

    def log_kernel(self, rho: float) -> FloatArray:
        """Log probability of each distinct score, shape (U, G); constants left out."""
        return self._log_kernel(self.values, rho)

    def all_log_kernel(self, entries: NDArray[np.bool_], rho: float) -> FloatArray:
        """The same for other entries of the board, one row each."""
        return self._log_kernel(_raw_values(self.board)[entries], rho)

    def _log_kernel(self, values: FloatArray, rho: float) -> FloatArray:
        dispersion = 1 - rho**2
        if self.board.metric == "score":
            z = (values[:, None] - self.psi) / standard_error(self.board)
            return np.asarray(-0.5 * z**2 / dispersion)
        n = self.board.n_test
        log_right, log_wrong = -np.logaddexp(0, -self.y), -np.logaddexp(0, self.y)
        fit = values[:, None] * log_right + (n - values[:, None]) * log_wrong
        return np.asarray((fit - _saturated(values, n)[:, None]) / dispersion)

    def log_mass(self, rho: float) -> FloatArray:
        """Logarithm of what ``log_kernel`` leaves out of a score's probability (density), (U,)."""
        dispersion = 1 - rho**2
        if self.board.metric == "score":
            variance = dispersion * standard_error(self.board) ** 2
            return np.full(self.values.size, -0.5 * np.log(2 * np.pi * variance))
        n = self.board.n_test
        p = np.clip(self.values / n, 0.5 / n, 1 - 0.5 / n)
        bounds = self.board.count_bounds
        assert bounds is not None
        printed = float(np.median(bounds[:, 1] - bounds[:, 0])) + 1
        return np.asarray(np.log(printed) - 0.5 * np.log(2 * np.pi * dispersion * n * p * (1 - p)))

    def reach(self, rho: float, level: float | None = None) -> FloatArray:
        """Probability of a score in the modelled part (or of at least ``level``), shape (G,)."""
        cut = self.values[0] if level is None else level
        dispersion = 1 - rho**2
        if self.board.metric == "score":
            from scipy.special import ndtr

            sd = np.sqrt(dispersion) * standard_error(self.board)
            return np.asarray(ndtr((self.psi - cut) / sd))
        from scipy.special import betainc

        n = self.board.n_test
        above, below = (cut - 0.5) / dispersion + 0.5, (n - cut + 0.5) / dispersion + 0.5
        return np.asarray(betainc(max(above, 0.5), below, self.psi))

    def reaches(self, rho: float) -> FloatArray:
        """Probability of a score in the modelled part, (K, G): one for all, or each value's own."""
        return self.reach(rho)[None]

    def remove_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """``remove_shift`` of this board."""
        return remove_shift(self.board, psi, shift)


def _scores(board: Leaderboard) -> FloatArray:
    if board.scores is None:
        raise InputError("only the maximum of this leaderboard is known; all scores are needed")
    return board.scores


def _raw_values(board: Leaderboard) -> FloatArray:
    """Counts (the middle of those that print alike) or scores."""
    if board.metric == "score":
        return _scores(board)
    assert board.count_bounds is not None
    return np.asarray(board.count_bounds.mean(axis=1))


def _binned(values: FloatArray, index: IntArray, copies: Any) -> tuple[FloatArray, IntArray, Any]:
    """At most so many distinct values: the mean of those in one of equally wide bins."""
    edges = np.linspace(values[0], values[-1], _MOST_VALUES + 1)
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _MOST_VALUES - 1)
    bins[-1] = bins[-2] + 1 if bins[-2] == bins[-1] else bins[-1]  # the best score stays itself
    used, compact = np.unique(bins, return_inverse=True)
    totals = np.bincount(compact, weights=copies, minlength=used.size)
    means = np.bincount(compact, weights=copies * values, minlength=used.size) / totals
    return means, compact[index], totals


def _standardisation(board: Leaderboard, values: FloatArray) -> tuple[float, float]:
    """Units of the grid: log odds for accuracies, the spread of the scores otherwise."""
    if board.metric == "accuracy":
        return 0.0, 1.0
    spread = float(np.subtract(*np.quantile(values, [0.75, 0.25])))
    return float(np.median(values)), 2 * max(spread, 2 * standard_error(board))


def _grid(
    board: Leaderboard, values: FloatArray, centre: float, scale: float, complete: bool
) -> FloatArray:
    """Equally spaced, a sixth of the best score's standard error apart, with wide margins."""
    if board.metric == "score":
        places = (values - centre) / scale
        errors = np.full(values.size, standard_error(board) / scale)
    else:
        n = board.n_test
        p = np.clip(values / n, 0.5 / n, 1 - 0.5 / n)
        places, errors = logit(p), 1 / np.sqrt(n * p * (1 - p))
    low = places[0] - (4 if complete else 6) * min(errors[0], 1.0)
    high = places[-1] + 5 * min(errors[-1], 1.2)
    step = errors[-2:].min() / 6
    nodes = int(np.clip((high - low) / step, 60, _MOST_NODES))
    return np.linspace(low, high, nodes)


def _saturated(values: FloatArray, n: int) -> FloatArray:
    """Log likelihood at the observed proportion."""
    p = values / n
    with np.errstate(divide="ignore", invalid="ignore"):
        right = np.where(p > 0, values * np.log(p), 0.0)
        wrong = np.where(p < 1, (n - values) * np.log1p(-p), 0.0)
    return np.asarray(right + wrong)
