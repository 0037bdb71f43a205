"""Laws of one skill: P(theta) times a factor that varies over the skills of a table.

``tests/maximum/test_fields.py`` compares with numerical inversion.
"""

from dataclasses import dataclass

import numpy as np

from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CellLaw:
    """Laws proportional to ``factor(theta) dP(theta)``, one per draw.

    Between two nodes the factor is replaced by its mean, and P(theta) is kept exactly.

    Attributes
    ----------
    distribution : SkillDistribution
        D of them (parameters of shape (D,)).
    tail : ndarray, shape (D, N)
        P(theta) above each node, decreasing.
    mass : ndarray, shape (D, N + 1)
        Mass of the law in the cells below, between and above the nodes.
    above : ndarray, shape (D, N + 2)
        Mass of the law above the lower end of each cell, total first, zero last.
    """

    distribution: SkillDistribution
    tail: FloatArray
    mass: FloatArray
    above: FloatArray

    @classmethod
    def build(
        cls, distribution: SkillDistribution, tail: FloatArray, factor: FloatArray
    ) -> "CellLaw":
        """From ``tail = P(theta > node)`` and the ``factor`` at the nodes, both (D, N)."""
        mass = np.empty((tail.shape[0], tail.shape[1] + 1))
        mass[:, 0] = (1 - tail[:, 0]) * factor[:, 0]
        np.subtract(tail[:, :-1], tail[:, 1:], out=mass[:, 1:-1])
        mass[:, 1:-1] *= 0.5 * (factor[:, 1:] + factor[:, :-1])
        mass[:, -1] = tail[:, -1] * factor[:, -1]
        above = np.zeros((mass.shape[0], mass.shape[1] + 1))
        np.cumsum(mass[:, ::-1], axis=1, out=above[:, -2::-1])
        return cls(distribution, tail, mass, above)

    def log_below(self, rows: slice) -> FloatArray:
        """Log probability of skills of at most those of the nodes, (k, N); 0 for a law of nobody.

        At least that of a probability of 1e-16.
        """
        whole, above = self.above[rows, :1], self.above[rows, 1:-1]
        share = np.divide(above, whole, out=np.zeros_like(above), where=whole > 0)
        return np.log1p(-np.minimum(share, 1 - 1e-16))

    def inverse(self, rows: IntArray, upper: FloatArray) -> FloatArray:
        """Skills that draws ``rows`` exceed with probability ``upper``."""
        target = upper * self.above[rows, 0]
        low = np.zeros(rows.size, np.int64)
        high = np.full(rows.size, self.mass.shape[1] - 1, np.int64)
        while np.any(low < high):  # the last cell whose lower end has at least the target above it
            middle = (low + high + 1) // 2
            reached = self.above[rows, middle] >= target
            low, high = np.where(reached, middle, low), np.where(reached, high, middle - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (target - self.above[rows, low + 1]) / self.mass[rows, low]
        share = np.where(np.isfinite(share), np.clip(share, 0, 1), 0.5)
        last = self.tail.shape[1]
        top = np.where(low < last, self.tail[rows, np.minimum(low, last - 1)], 0.0)
        bottom = np.where(low > 0, self.tail[rows, np.maximum(low - 1, 0)], 1.0)
        selected = self.distribution.take(rows)
        return selected.skill(selected.isf(np.clip(top + share * (bottom - top), 1e-300, 1.0)))
