r"""Public scores that are the best of several submissions, beside private ones that are not.

The public noise of a team is, in standard errors, :math:`\lambda M_T + \sqrt{1 - \lambda^2} Z` with
:math:`M_T` the largest of T standard normals (``bayes_sota.maximum.submissions``); the private
score is of the submission that was chosen, and has ordinary noise. A Gauss rule of the law of
:math:`M_T` makes the public noise a mixture of normals of one width, so that everything else of
two boards stays as it is. T and skill go together: the typical skill may rise with
:math:`e_T = E M_T`, else teams that submit often because they are good would be taken for lucky.
``tests/paired/test_submissions.py`` compares with quadrature and simulation.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.observed import PairedBoards
from bayes_sota.maximum.submissions import expected_maximum

NODES = 5  # of the Gauss rule
MOST_LUCK = 0.98  # above, the normals of the mixture would be too narrow for the grid
_LEVELS = 8  # values of e_T at which the selection is computed; in between a polynomial
_REACH, _STEP = 10.0, 0.005


@dataclass(frozen=True, eq=False)
class Choice:
    """Submissions that the public score of each team was chosen from.

    Attributes
    ----------
    numbers : ndarray, shape (k, n)
        n equally likely numbers of each team.

    Examples
    --------
    >>> choice = Choice(np.array([[1.0], [10.0]]))
    >>> choice.luck.round(2).tolist(), choice.nodes.shape
    ([0.0, 1.54], (5, 2))
    """

    numbers: FloatArray

    @classmethod
    def of_luck(cls, luck: FloatArray) -> "Choice":
        """Teams with these expected lucks ``e_T``; T need not be whole."""
        known = np.concatenate([np.linspace(1, 50, 491), np.geomspace(51, 1e9, 500)])
        return cls(np.interp(luck, expected_maximum(known), known)[:, None])

    @cached_property
    def luck(self) -> FloatArray:
        """``e_T`` of each team, (k,)."""
        return expected_maximum(self.numbers).mean(axis=1)

    @property
    def nodes(self) -> FloatArray:
        """Values of ``M_T`` of each team, (NODES, k)."""
        return self._rule[0]

    @property
    def weights(self) -> FloatArray:
        """Their probabilities, (NODES, k)."""
        return self._rule[1]

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of ``M_T`` of each team, (k,)."""
        return np.sum(self.weights * (self.nodes - self.luck) ** 2, axis=0)

    @cached_property
    def _rule(self) -> tuple[FloatArray, FloatArray]:
        rows, index = np.unique(self.numbers, axis=0, return_inverse=True)
        nodes, weights = gauss_rule(rows)
        return nodes.T[:, index.ravel()], weights.T[:, index.ravel()]

    @cached_property
    def levels(self) -> "Choice":
        """A few teams whose ``e_T`` cover those of all."""
        low, high = self.luck.min(), self.luck.max()
        if low == high:
            return Choice.of_luck(np.array([low]))
        at = np.cos(np.pi * np.arange(_LEVELS) / (_LEVELS - 1))[::-1]  # Chebyshev's points
        return Choice.of_luck((low + high) / 2 + (high - low) / 2 * at)

    @cached_property
    def shares(self) -> FloatArray:
        """Weight of each level in each team, (levels, k), by Lagrange's polynomial."""
        at, parts = self.levels.luck, []
        for i, own in enumerate(at):
            others = np.delete(at, i)[:, None]
            parts.append(np.prod((self.luck - others) / (own - others), axis=0))
        return np.array(parts)

    @cached_property
    def nearest_level(self) -> IntArray:
        """The level whose ``e_T`` is nearest to that of each team, (k,)."""
        away = np.abs(self.levels.luck[:, None] - self.luck)
        return np.argmin(away, axis=0)


def gauss_rule(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights, (L, NODES) each, of the Gauss rules of the largest of T standard normals.

    Golub & Welsch 1969, doi 10.2307/2004418, from the law on a fine grid; each of the L rows of
    ``numbers`` has equally likely T.

    Examples
    --------
    >>> nodes, weights = gauss_rule(np.array([[2.0]]))
    >>> round(float(np.sum(nodes * weights)), 4), round(float(np.sum(nodes**2 * weights)), 4)
    (0.5642, 1.0)
    """
    edges = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
    below = np.exp(numbers[:, :, None] * log_ndtr(edges)).mean(axis=1)
    mass, z = np.diff(below, axis=1), (edges[1:] + edges[:-1]) / 2
    mass /= mass.sum(axis=1, keepdims=True)
    jacobi = np.zeros((len(numbers), NODES, NODES))
    last, now = np.zeros_like(mass), np.ones_like(mass)
    beside = np.zeros(len(numbers))
    for i in range(NODES):
        centre = np.sum(mass * now**2 * z, axis=1)
        jacobi[:, i, i] = centre
        following = (z - centre[:, None]) * now - beside[:, None] * last
        beside = np.sqrt(np.sum(mass * following**2, axis=1))
        if i + 1 < NODES:
            jacobi[:, i, i + 1] = jacobi[:, i + 1, i] = beside
        last, now = now, following / beside[:, None]
    nodes, vectors = np.linalg.eigh(jacobi)
    return nodes, vectors[:, 0] ** 2


def choice_of(boards: PairedBoards, kept: IntArray, group: IntArray) -> Choice | None:
    """Choice of the distinct pairs of some teams; None where every score is of one submission.

    Copies have the median of their numbers: whose submissions the one that they share was chosen
    from is not known.
    """
    if not boards.has_submissions:
        return None
    numbers = boards.submissions[kept]
    medians = [np.median(numbers[group == i], axis=0) for i in range(int(group.max()) + 1)]
    return Choice(np.array(medians))
