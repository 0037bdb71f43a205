r"""Sums over pairs of a logistic function of their difference, without going through the pairs.

The logistic function and its derivative are analytic up to :math:`\pm i\pi`, so that between two
players they are a polynomial in each skill to 1e-13: with the cardinal functions :math:`\Phi` of K
Chebyshev nodes x between the lowest and the highest skill,

.. math:: \sigma'(\beta_i - \beta_j) = (\Phi M \Phi^T)_{ij}, \quad M_{kl} = \sigma'(x_k - x_l),

the information of the Bradley–Terry model with N matches of every pair is N times a diagonal minus
a matrix of rank K, and its inverse follows from Woodbury's identity: O(m^2 K) where Cholesky's
factor takes O(m^3). ``tests/epp/test_solver.py`` compares with it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_sota.core.interpolation import cardinal_functions
from bayes_sota.core.types import FloatArray

__all__ = ["LogisticKernel"]

_PRECISION = 1e-14
_SPARE_NODES = 8


@dataclass(frozen=True, eq=False)
class LogisticKernel:
    """All pairs of players with these skills, one match each.

    Attributes
    ----------
    skills : ndarray, shape (m,)
    """

    skills: FloatArray

    @cached_property
    def _nodes(self) -> tuple[FloatArray, FloatArray]:
        """Chebyshev nodes on the scale of the skills, and the cardinal functions, (m, K)."""
        low, high = float(self.skills.min()), float(self.skills.max())
        half = max((high - low) / 2, 1e-3)
        pole = np.pi / half
        rate = np.log(pole + np.hypot(pole, 1.0))  # of convergence, by Bernstein's ellipse
        size = int(np.ceil(-np.log(_PRECISION) / rate)) + _SPARE_NODES
        angle = (np.arange(size) + 0.5) * np.pi / size
        weights = (-1.0) ** np.arange(size) * np.sin(angle)
        local = np.cos(angle)
        middle = (low + high) / 2
        cardinal = cardinal_functions((self.skills - middle) / half, local, weights)
        return middle + half * local, cardinal

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        """Sums over all players j, i among them, of sigma and of its derivative, (m,) each."""
        from scipy.special import expit

        nodes, cardinal = self._nodes
        wins = expit(nodes[:, None] - self.skills)
        return cardinal @ wins.sum(axis=1), cardinal @ (wins * (1 - wins)).sum(axis=1)

    @property
    def expected_wins(self) -> FloatArray:
        """Sum over the other players of P(i beats j), (m,)."""
        return np.asarray(self._sums[0] - 0.5)

    @cached_property
    def _woodbury(self) -> FloatArray:
        """X of the inverse of the information plus a constant: D^-1 + (D^-1 Phi) X (D^-1 Phi)^T."""
        nodes, cardinal = self._nodes
        slope = 1 / np.cosh((nodes[:, None] - nodes) / 2) ** 2 / 4
        core = slope - self._constant
        inner = (cardinal / self._sums[1][:, None]).T @ cardinal
        found = np.linalg.solve(np.eye(nodes.size) - core @ inner, core)
        return np.asarray((found + found.T) / 2)

    @property
    def _constant(self) -> float:
        """What is added to every element of the information: no pair's, about its size."""
        return float(self._sums[1].mean()) / self.skills.size

    def solve(self, gradient: FloatArray) -> FloatArray:
        """Solve information times x = gradient in the space of mean zero, (m,)."""
        _, cardinal = self._nodes
        x = gradient / self._sums[1]
        x = x + cardinal @ (self._woodbury @ (cardinal.T @ x)) / self._sums[1]
        return np.asarray(x - x.mean())

    def covariance(self) -> FloatArray:
        """Pseudo-inverse of the information, mean-zero gauge, (m, m)."""
        m = self.skills.size
        scaled = self._nodes[1] / self._sums[1][:, None]
        found = (scaled @ self._woodbury) @ scaled.T
        found.flat[:: m + 1] += 1 / self._sums[1]
        found -= 1 / (m * m * self._constant)
        return np.asarray(found)
