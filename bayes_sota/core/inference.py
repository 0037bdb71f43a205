"""One engine for every posterior: weighted points of the parameters of a field.

A ``Fit`` has the likelihood of the data given parameters of a shape of P(theta), standard normal a
priori, at all nodes of rho (and of the luck of submissions). Evidence, weights, draws and Monte
Carlo errors follow from the points of ``infer`` (``tests/core/test_inference.py``).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import log
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from bayes_sota.core.importance import WeightedPoints, sample_importance
from bayes_sota.core.numerics import cluster_mcse, one_thread, share_mcse, stratified
from bayes_sota.core.parallel import shown_progress
from bayes_sota.core.priors import CorrelationPrior, FixedCorrelation
from bayes_sota.core.types import FloatArray, IntArray

_BLOCK = 48  # sets of parameters at a time
_LEAST_EFFECTIVE = 75.0  # points
_LUCKS = 3  # values of the luck of submissions at each value of rho
_CONTRADICTED, _CHECK_POINTS = 1e4, 200
_LOG_SQRT_2PI = 0.9189385332046727
NO_LUCK = FixedCorrelation(0.0)  # where no score was chosen among submissions


@dataclass(frozen=True, eq=False)
class Nodes:
    """Equally likely values of rho, each with equally likely values of the luck of submissions.

    ``rho``, which increases, and ``luck`` are (R,); without submissions the luck is 0.
    """

    correlation: CorrelationPrior
    submission_luck: CorrelationPrior
    rho: FloatArray
    luck: FloatArray

    @classmethod
    def of(
        cls, correlation: CorrelationPrior, submission_luck: CorrelationPrior, count: int
    ) -> "Nodes":
        """Nodes at ``count`` values of rho and a few of the luck, one if known."""
        rho, luck = _middles(correlation, count), _middles(submission_luck, _LUCKS)
        every = np.repeat(rho, luck.size), np.tile(luck, rho.size)
        return cls(correlation, submission_luck, *every)

    @property
    def lucks(self) -> int:
        """Number of values of the luck per value of rho."""
        return int(np.sum(self.rho == self.rho[0]))

    @property
    def cells(self) -> int:
        return self.rho.size // self.lucks

    def draw_rho(self, node: IntArray, rng: np.random.Generator) -> FloatArray:
        """Draws of rho within the cells of nodes (D,)."""
        level = (node // self.lucks + rng.random(node.size)) / self.cells
        return self.correlation.quantile(level)

    def draw_luck(self, node: IntArray, rng: np.random.Generator) -> FloatArray:
        level = (node % self.lucks + rng.random(node.size)) / self.lucks
        return self.submission_luck.quantile(level)

    def find(self, rho: FloatArray, luck: FloatArray | None = None) -> IntArray:
        """Nodes (D,) whose cells contain rho, and the luck if given."""
        index = _cell_of(rho, self.correlation, self.cells) * self.lucks
        return index if luck is None else index + _cell_of(luck, self.submission_luck, self.lucks)


def _middles(prior: CorrelationPrior, count: int) -> FloatArray:
    cells = 1 if prior.is_fixed else count
    return prior.quantile((np.arange(cells) + 0.5) / cells)


def _cell_of(values: FloatArray, prior: CorrelationPrior, cells: int) -> IntArray:
    return np.searchsorted(prior.quantile(np.arange(1, cells) / cells), values)


@dataclass(frozen=True, eq=False)
class Fit(ABC):
    """Observations, with weighted parameters of every family at every node.

    ``families``, shapes of P(theta), are equally likely a priori; ``points`` has an element for
    each. ``learns`` is what the data update: nothing, rho, or rho and the luck (nodes).
    """

    nodes: Nodes
    families: tuple[str, ...]
    points: tuple[WeightedPoints, ...]
    learns: Literal["nothing", "rho", "nodes"]

    @abstractmethod
    def dimension(self, family: str) -> int:
        """Number of parameters of a family, and of whatever else is unknown."""

    @abstractmethod
    def log_likelihood(self, family: str, points: FloatArray) -> FloatArray:
        """Log likelihood (N, R) at points (N, d) of a family."""

    def log_likelihood_sought(self, family: str, points: FloatArray) -> FloatArray:
        """The same at some of the nodes, among which the others lie."""
        return self.log_likelihood(family, points)

    @property
    def rho(self) -> FloatArray:
        return self.nodes.rho

    @cached_property
    def log_evidence(self) -> FloatArray:
        """Log evidence of each family at each node, (F, R)."""
        return np.array([points.log_evidence for points in self.points])

    @cached_property
    def log_evidence_of_all(self) -> float:
        return float(logsumexp(self.log_evidence) - log(self.log_evidence.size))

    @cached_property
    def family_weights(self) -> FloatArray:
        """Posterior probability of each family at each node, (F, R)."""
        return softmax(self.log_evidence, axis=0)

    @cached_property
    def node_weights(self) -> FloatArray:
        """Posterior probability of each node, (R,), as far as ``learns`` allows."""
        if self.learns == "nothing":
            return np.full(self.rho.size, 1 / self.rho.size)
        evidence = np.exp(self.log_evidence - self.log_evidence.max()).sum(axis=0)
        if self.learns == "rho":
            of_rho = evidence.reshape(self.nodes.cells, -1).mean(axis=1)
            evidence = np.repeat(of_rho, self.nodes.lucks)
        return evidence / evidence.sum()

    def of_family(self, name: str) -> Self:
        index = self.families.index(name)
        return replace(self, families=(name,), points=(self.points[index],))

    @cached_property
    def effective_size(self) -> float:
        r"""Effective number of points behind a posterior mean; all nodes share the points.

        .. math:: 1 / \sum_f \sum_i \Big[\sum_r P(r) P(f \mid r) w_{fir}\Big]^2
        """
        weights = (
            (points.weights * of_family) @ self.node_weights
            for points, of_family in zip(self.points, self.family_weights, strict=True)
        )
        return 1 / float(sum(np.sum(weight**2) for weight in weights))

    @property
    def doubts(self) -> list[str]:
        size = f"{self.effective_size:.0f}, below {_LEAST_EFFECTIVE:.0f}"
        reason = f"importance sample of the hyperparameters has an effective size of {size}"
        return [reason] * (self.effective_size < _LEAST_EFFECTIVE)

    def choose(self, draws: int, rng: np.random.Generator) -> "Parameters":
        """Posterior draws; copies of a point are adjacent."""
        chosen, most = [], most_coordinates(self)
        for r, count in enumerate(stratified(self.node_weights, draws, rng)):
            for f, k in enumerate(stratified(self.family_weights[:, r], count, rng)):
                if k:
                    points = self.points[f].points
                    times = stratified(self.points[f].weights[:, r], k, rng)
                    whole = np.pad(points, [(0, 0), (0, most - points.shape[1])])
                    chosen.append((np.full(k, f), np.full(k, r), np.repeat(whole, times, axis=0)))
        return Parameters(*map(np.concatenate, zip(*chosen, strict=True)))


@one_thread()
def infer[F: Fit](fit: F, rng: np.random.Generator, points: int, start: Fit | None = None) -> F:
    """Add weighted points of every family, ``points`` per coordinate, from a similar fit."""
    samples = []
    with shown_progress(len(fit.families), "shapes of skills") as advance:
        for f, family in enumerate(fit.families):
            target, dimension = partial(fit.log_likelihood, family), fit.dimension(family)
            similar = None if start is None else start.points[f]
            known = similar, partial(fit.log_likelihood_sought, family)
            samples.append(sample_importance(target, dimension, rng, points * dimension, *known))
            advance()
    return replace(fit, points=tuple(samples))


def doubts_of_prior(fit: Any) -> list[str]:
    r"""Reason to say that the data contradict the given prior of the field, if any.

    .. math:: P\big(p(x \mid \text{default}) \ge k\, p(x \mid \text{given})\big) \le 1 / k

    for data x from the given prior (Markov's inequality).
    """
    given = fit.priors
    usual = replace(given, typical=type(given).typical, spread=type(given).spread)
    if usual == given:
        return []
    rng = np.random.default_rng(0)
    usual_fit = infer(replace(fit, priors=usual), rng, _CHECK_POINTS)
    ratio = usual_fit.log_evidence_of_all - fit.log_evidence_of_all
    reason = (
        "the data contradict the prior of skills, as they are more than "
        f"{_CONTRADICTED:,.0f} times as probable under the default one: widen its ranges"
    )
    return [reason] * (ratio > log(_CONTRADICTED))


@dataclass(frozen=True, eq=False)
class Parameters:
    """Family and node (D,), and standardised coordinates (D, P), behind each draw.

    The families are one model in the product space of Carlin & Chib (1995, doi
    10.1111/j.2517-6161.1995.tb02042.x): coordinates that a family does not use, 0 here, come from
    their prior.
    """

    family: IntArray
    node: IntArray
    coordinates: FloatArray

    @classmethod
    def from_prior(cls, fit: Fit, node: IntArray, rng: np.random.Generator) -> "Parameters":
        family = rng.integers(len(fit.families), size=node.size)
        return cls(family, node, rng.standard_normal((node.size, most_coordinates(fit))))

    def __getitem__(self, index: Any) -> "Parameters":
        return Parameters(self.family[index], self.node[index], self.coordinates[index])

    def cells(self, fit: Fit, block: int = _BLOCK) -> Iterator[tuple[int, int, IntArray]]:
        """Yield node, family and indices of their draws, equal ones adjacent."""
        order = np.lexsort((self.coordinates[:, 0], self.family, self.node))
        cell = self.node[order] * len(fit.families) + self.family[order]
        for draws in np.split(order, np.flatnonzero(np.diff(cell)) + 1):
            for start in range(0, draws.size, block):
                part = draws[start : start + block]
                yield int(self.node[part[0]]), int(self.family[part[0]]), part

    def points(self, fit: Fit, draws: IntArray) -> FloatArray:
        """Coordinates that the family of these draws uses, (k, d)."""
        dimension = fit.dimension(fit.families[self.family[draws[0]]])
        return self.coordinates[draws, :dimension]

    def used(self, fit: Fit) -> NDArray[np.bool_]:
        """Whether the family of each draw has a coordinate, (D, P)."""
        dimensions = np.array([fit.dimension(family) for family in fit.families])
        return np.arange(self.coordinates.shape[1]) < dimensions[self.family][:, None]

    def completed(self, fit: Fit, rng: np.random.Generator) -> "Parameters":
        others = rng.standard_normal(self.coordinates.shape)
        return replace(self, coordinates=np.where(self.used(fit), self.coordinates, others))

    def log_prior(self, fit: Fit) -> FloatArray:
        """Log prior of the family and the coordinates that it uses, (D,)."""
        normal = -0.5 * self.coordinates**2 - _LOG_SQRT_2PI
        total = np.where(self.used(fit), normal, 0.0).sum(axis=1)
        return total - np.log(len(fit.families))

    @cached_property
    def point(self) -> IntArray:
        points = np.column_stack([self.family, self.coordinates])
        return np.unique(points, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def behind(self) -> tuple[IntArray, IntArray]:
        """Point and node behind each draw, (D,) each, for ``cluster_mcse``."""
        return self.point, self.node

    def share_mcse(self, holds: NDArray[np.bool_]) -> FloatArray:
        """Monte Carlo errors of shares of draws (D, k), not 0 where all agree."""
        shared = cluster_mcse(holds, *self.behind)
        return np.where(shared > 0, shared, share_mcse(holds.mean(axis=0), len(holds)))


def most_coordinates(fit: Fit) -> int:
    """Largest dimension of the families."""
    return max(fit.dimension(family) for family in fit.families)
