r"""Parameters of P(psi) behind draws: which family, at which rho, with which coordinates.

The families are one model in the product space of Carlin & Chib (1995, doi
10.1111/j.2517-6161.1995.tb02042.x): a draw has a family and all coordinates, those that its family
does not use from their prior, N(0, 1). The first two coordinates set the place and the width of
every family. ``tests/leaderboard/test_predictive.py`` holds the log likelihood against the target
of the exact fit, and the prior against its law.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.numerics import cluster_mcse, one_thread, share_mcse
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.leaderboard.fit import FieldFit, numpy_operations

_BLOCK = 48  # sets of parameters at a time
_LOG_SQRT_2PI = 0.9189385332046727


@dataclass(frozen=True, eq=False)
class FieldParameters:
    """Parameters behind draws.

    Attributes
    ----------
    family : ndarray of int, shape (D,)
        Index into ``FieldFit.families``.
    node : ndarray of int, shape (D,)
        Index into ``FieldFit.rho``.
    coordinates : ndarray, shape (D, P)
        Standardised coordinates; 0 where the family has fewer than P of them.
    """

    family: IntArray
    node: IntArray
    coordinates: FloatArray

    @classmethod
    def of(
        cls, fit: FieldFit, chosen: Sequence[tuple[int, int, FloatArray]], repeats: int
    ) -> "FieldParameters":
        """Those that ``FieldFit.choose`` gave, each repeated, in their order."""
        nodes, families, counts = ([], [], [])  # type: tuple[list[int], list[int], list[int]]
        coordinates = np.zeros((sum(len(points) for _, _, points in chosen), dimension_of(fit)))
        for r, f, points in chosen:
            start = sum(counts)
            coordinates[start : start + len(points), : points.shape[1]] = points
            nodes, families, counts = [*nodes, r], [*families, f], [*counts, len(points)]
        index = np.repeat(np.arange(len(counts)), np.array(counts) * repeats)
        return cls(
            np.array(families)[index], np.array(nodes)[index], np.repeat(coordinates, repeats, 0)
        )

    @classmethod
    def from_prior(
        cls, fit: FieldFit, node: IntArray, rng: np.random.Generator
    ) -> "FieldParameters":
        """Families that are equally likely, with coordinates N(0, 1)."""
        family = rng.integers(len(fit.families), size=node.size)
        return cls(family, node, rng.standard_normal((node.size, dimension_of(fit))))

    def __getitem__(self, index: Any) -> "FieldParameters":
        """Those of some draws."""
        return FieldParameters(self.family[index], self.node[index], self.coordinates[index])

    def cells(self, fit: FieldFit, block: int = _BLOCK) -> Iterator[tuple[int, int, IntArray]]:
        """Node, family and numbers of the draws that have both, at most ``block`` at a time.

        Draws with the same coordinates follow each other.
        """
        order = np.lexsort((self.coordinates[:, 0], self.family, self.node))
        cell = self.node[order] * len(fit.families) + self.family[order]
        for draws in np.split(order, np.flatnonzero(np.diff(cell)) + 1):
            for start in range(0, draws.size, block):
                part = draws[start : start + block]
                yield int(self.node[part[0]]), int(self.family[part[0]]), part

    def points(self, fit: FieldFit, draws: IntArray) -> FloatArray:
        """Coordinates that the family of these draws uses, (k, d)."""
        dimension = fit.points[self.family[draws[0]]].points.shape[1]
        return self.coordinates[draws, :dimension]

    def used(self, fit: FieldFit) -> NDArray[np.bool_]:
        """Which coordinates the family of each draw has, (D, P)."""
        dimensions = np.array([sample.points.shape[1] for sample in fit.points])
        return np.arange(self.coordinates.shape[1]) < dimensions[self.family][:, None]

    def completed(self, fit: FieldFit, rng: np.random.Generator) -> "FieldParameters":
        """The same in product space: coordinates that are not used from their prior."""
        others = rng.standard_normal(self.coordinates.shape)
        return replace(self, coordinates=np.where(self.used(fit), self.coordinates, others))

    def log_prior(self, fit: FieldFit) -> FloatArray:
        """Log prior of the family and of the coordinates that it uses, (D,)."""
        normal = -0.5 * self.coordinates**2 - _LOG_SQRT_2PI
        total = np.where(self.used(fit), normal, 0.0).sum(axis=1)
        return np.asarray(total - np.log(len(fit.families)))

    def location(self, fit: FieldFit) -> FloatArray:
        """Place of the field: log odds, or in units of the score, (D,)."""
        return fit.kernel.law.location_at(fit.scale.place(self.coordinates[:, 0]))

    def spread(self, fit: FieldFit) -> FloatArray:
        """Width of the field: log odds, or in units of the score, (D,)."""
        width = fit.scale.width(numpy_operations(), self.coordinates[:, 1])
        law = fit.kernel.law
        return np.asarray(law.location_at(width) - law.location_at(np.zeros(1)))

    @cached_property
    def point(self) -> IntArray:
        """Number of the weighted point behind each draw, (D,)."""
        points = np.column_stack([self.family, self.coordinates])
        return np.unique(points, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def behind(self) -> tuple[IntArray, IntArray]:
        """Point and node behind each draw, which ``cluster_mcse`` takes, (D,) each."""
        return self.point, self.node

    def share_mcse(self, holds: NDArray[np.bool_]) -> FloatArray:
        """Monte Carlo standard errors of shares of draws, (D, k): as of ``cluster_mcse``.

        At least those of independent draws.
        """
        shared = cluster_mcse(holds, *self.behind)
        return np.asarray(np.maximum(shared, share_mcse(holds.mean(axis=0), len(holds))))

    @one_thread()
    def entry_log_likelihood(self, fit: FieldFit, dtype: Any = np.float64) -> NDArray[Any]:
        r"""Log probability of the score of each modelled entry, skills summed out, (D, entries).

        .. math:: w_j \log \frac{\int p(x_j \mid \psi, \rho)\, dP(\psi \mid \phi)}
                  {\int P(\text{modelled} \mid \psi, \rho)\, dP(\psi \mid \phi)}

        at the node of rho. The weight of an entry is 1; less where several entries stand for one
        classifier (spikes of equal scores, near-clones). The sum over entries is the log
        likelihood that the fit was computed from.
        """
        index = fit.kernel.value_of_entry
        weight = fit.copies / np.bincount(index)
        found = np.empty((self.node.size, index.size), dtype)
        for r, f, draws in self.cells(fit, 1000):
            points, inverse = np.unique(self.points(fit, draws), axis=0, return_inverse=True)
            value = (weight * fit.entry_log_likelihood(f, r, points)).astype(dtype)
            found[draws] = value[inverse.reshape(-1, 1), index]
        return found


def dimension_of(fit: FieldFit) -> int:
    """Largest number of coordinates of the families of a fit."""
    return max(int(sample.points.shape[1]) for sample in fit.points)
