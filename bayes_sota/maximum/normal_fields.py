r"""Best scores of fields of classifiers whose normal scores share one factor.

.. math:: g(X_j; \theta_j) = \rho z + \sqrt{1 - \rho^2}\, e_j, \quad z, e_j \sim N(0, 1)

``z`` is what all scores share because they share the items (``auc_scores``). The walk down the
order statistics of skill is that of ``field_draws``, with the exact probability of exceeding the
best score so far in the place of a bound.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.field_draws import Inverse
from bayes_sota.maximum.normal_scores import NormalScores

__all__ = ["NormalTestSet"]

_LEAST_OWN = 1e-6
_LEAST_CHANCE = 1e-14


@dataclass(frozen=True, eq=False)
class NormalTestSet:
    """A test set per draw: what its items do to all scores.

    Attributes
    ----------
    scores : NormalScores
    shared, correlation : ndarray, shape (D,)
        z and rho.
    """

    scores: NormalScores
    shared: FloatArray
    correlation: FloatArray

    @classmethod
    def draw(
        cls, rng: np.random.Generator, scores: NormalScores, correlation: FloatArray
    ) -> "NormalTestSet":
        """With z from its normal law."""
        return cls(scores, rng.standard_normal(correlation.size), correlation)

    @property
    def unit(self) -> float:
        """Values are scores."""
        return 1.0

    def play(
        self, rng: np.random.Generator, rows: NDArray[np.int64], skill: FloatArray
    ) -> FloatArray:
        """Scores of one classifier per draw."""
        error = self._own(rows) * rng.standard_normal(rows.size)
        return self.scores.estimate(self._common(rows) + error, skill)

    def walk_down(
        self,
        rng: np.random.Generator,
        inverse: Inverse,
        upper: FloatArray,
        remaining: NDArray[np.int64],
        best: FloatArray,
        holder: FloatArray | None = None,
    ) -> FloatArray:
        """Best scores of fields whose best classifiers have been played already.

        Parameters
        ----------
        rng : Generator
        inverse : callable
            ``inverse(rows, upper)``: skills that are exceeded with probability ``upper``.
        upper : ndarray, shape (D,)
            Upper-tail probability of the classifier where the walk starts.
        remaining : ndarray of int64, shape (D,)
            Number of classifiers below it.
        best : ndarray, shape (D,)
            Best score so far.
        holder : ndarray, shape (D,), optional
            Skill of the classifier with the best score so far; changed in place.

        Returns
        -------
        ndarray, shape (D,)
        """
        from scipy.special import ndtri

        upper, remaining, best = upper.copy(), remaining.copy(), best.copy()
        rows = np.flatnonzero(remaining > 0)
        chance = self._exceeds(rows, inverse(rows, upper[rows]), best[rows])
        while rows.size:
            jump = rng.geometric(np.clip(chance, 1e-300, 1.0)).astype(np.float64)
            alive = (jump <= remaining[rows]) & (chance > _LEAST_CHANCE)
            rows, jump, chance = rows[alive], jump[alive], chance[alive]
            left = remaining[rows].astype(np.float64)
            upper[rows] += (1 - upper[rows]) * rng.beta(jump, left - jump + 1)
            remaining[rows] -= jump.astype(np.int64)
            skill = inverse(rows, upper[rows])
            now = self._exceeds(rows, skill, best[rows])
            leads = rng.random(rows.size) * chance < now
            some, theta = rows[leads], skill[leads]
            tail = np.maximum(rng.random(some.size) * now[leads], 1e-300)
            normal = self._common(some) - self._own(some) * ndtri(tail)
            best[some] = np.maximum(self.scores.estimate(normal, theta), best[some])
            if holder is not None:
                holder[some] = theta
            chance = self._exceeds(rows, skill, best[rows])
        return best

    def _exceeds(self, rows: NDArray[np.int64], skill: FloatArray, best: FloatArray) -> FloatArray:
        """Probability of a score above the best one."""
        from scipy.special import ndtr

        gap = self._common(rows) - self.scores.normal_score(best, skill)
        return np.asarray(ndtr(gap / self._own(rows)))

    def _common(self, rows: NDArray[np.int64]) -> FloatArray:
        return np.asarray(self.correlation[rows] * self.shared[rows])

    def _own(self, rows: NDArray[np.int64]) -> FloatArray:
        return np.maximum(np.sqrt(1 - self.correlation[rows] ** 2), _LEAST_OWN)
