r"""Scores that have a normal score: the interface, and the Gaussian case.

Draws of skills and of best scores from fields of classifiers, all draws at once.

``CellLaw`` inverts P(theta) times a factor that varies over the skills of a table: the law of one
classifier's skill given what is known of its score. ``walk_down`` simulates the best score of a
field exactly without touching most of its members: it jumps from one classifier that could
exceed the best score so far to the next, with a Chernoff bound as the dominating probability
(thinning). ``tests/maximum/test_field_draws.py`` holds both against brute force.

Best scores of fields of classifiers whose normal scores share one factor.

.. math:: g(X_j; \theta_j) = \rho z + \sqrt{1 - \rho^2}\, e_j, \quad z, e_j \sim N(0, 1)

``z`` is what all scores share because they share the items (``auc_scores``). The walk down the
order statistics of skill is that of ``field_draws``, with the exact probability of exceeding the
best score so far in the place of a bound.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.dependence import conditional_probabilities


class NormalScores(Protocol):
    """A score and a skill make a number that is standard normal whatever the skill is."""

    @property
    def largest(self) -> float:
        """Skill that stands for 1 where an error is needed."""

    def normal_score(self, estimate: ArrayLike, skill: ArrayLike) -> FloatArray:
        """Normal score of an observed score given the skill, increasing in it, broadcast."""

    def estimate(self, normal: ArrayLike, skill: ArrayLike) -> FloatArray:
        """Observed score with the given normal score; the inverse."""

    def stabilized(self, skill: ArrayLike) -> FloatArray:
        """Scale on which a score has a standard deviation of about one."""

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        """The inverse."""

    def standard_error(self, skill: ArrayLike) -> FloatArray:
        """Standard deviation of a score."""


@dataclass(frozen=True)
class GaussianScores:
    """Normal scores with one standard error, whatever the skill.

    Examples
    --------
    >>> float(GaussianScores(0.01).normal_score(0.92, 0.9).round(9))
    2.0
    """

    error: float

    @property
    def largest(self) -> float:
        """The error is the same everywhere."""
        return 1.0

    def normal_score(self, estimate: ArrayLike, skill: ArrayLike) -> FloatArray:
        """Distance in standard errors."""
        return np.asarray((np.asarray(estimate, np.float64) - np.asarray(skill)) / self.error)

    def estimate(self, normal: ArrayLike, skill: ArrayLike) -> FloatArray:
        """Skill plus an error."""
        return np.asarray(np.asarray(skill) + self.error * np.asarray(normal, np.float64))

    def stabilized(self, skill: ArrayLike) -> FloatArray:
        """Skill in standard errors."""
        return np.asarray(np.asarray(skill, np.float64) / self.error)

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        """Skill."""
        return np.asarray(np.asarray(t, np.float64) * self.error)

    def standard_error(self, skill: ArrayLike) -> FloatArray:
        """The same everywhere."""
        return np.full(np.shape(skill), self.error)


Inverse = Callable[[NDArray[np.int64], FloatArray], FloatArray]


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

    def inverse(self, rows: NDArray[np.int64], upper: FloatArray) -> FloatArray:
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


class FreshTestSet(Protocol):
    """A fresh test set per draw."""

    @property
    def unit(self) -> float:
        """What the values of a draw are divided by to be scores."""

    def play(self, rng: np.random.Generator, rows: NDArray[np.int64], skill: FloatArray) -> Any:
        """Values of one classifier per draw."""

    def walk_down(
        self,
        rng: np.random.Generator,
        inverse: Inverse,
        upper: FloatArray,
        remaining: NDArray[np.int64],
        best: Any,
    ) -> Any:
        """Best values of fields whose best classifiers have been played already."""


@dataclass(frozen=True, eq=False)
class TestSet:
    """A fresh test set per draw: its size and what the reference classifier got right on it.

    Attributes
    ----------
    n_test : int
    counts : ndarray of int64, shape (D,)
        Draws of S0.
    correlation : ndarray, shape (D,)
    reference_skill : float
    """

    __test__ = False  # not a test case, whatever pytest thinks of the name

    n_test: int
    counts: NDArray[np.int64]
    correlation: FloatArray
    reference_skill: float

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        n_test: int,
        correlation: FloatArray,
        reference_skill: float,
    ) -> "TestSet":
        """With S0 from its binomial law."""
        counts = rng.binomial(n_test, reference_skill, size=correlation.size)
        return cls(n_test, counts, correlation, reference_skill)

    @property
    def unit(self) -> float:
        """Counts per unit of score."""
        return float(self.n_test)

    def play(
        self, rng: np.random.Generator, rows: NDArray[np.int64], skill: FloatArray
    ) -> NDArray[np.int64]:
        """``draw_counts`` on this test set."""
        return draw_counts(rng, self, rows, skill)

    def walk_down(
        self,
        rng: np.random.Generator,
        inverse: Inverse,
        upper: FloatArray,
        remaining: NDArray[np.int64],
        best: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """``walk_down`` on this test set."""
        return walk_down(rng, self, inverse, upper, remaining, best)

    def probabilities(
        self, rows: NDArray[np.int64], skill: FloatArray
    ) -> tuple[FloatArray, FloatArray, NDArray[np.int64], NDArray[np.int64]]:
        """``a``, ``b`` and the numbers of items that they apply to."""
        a, b = conditional_probabilities(skill, self.correlation[rows], self.reference_skill)
        return a, b, self.counts[rows], self.n_test - self.counts[rows]


def draw_counts(
    rng: np.random.Generator, test_set: TestSet, rows: NDArray[np.int64], skill: FloatArray
) -> NDArray[np.int64]:
    """Success counts of one classifier per draw, ``Binomial(k, a) + Binomial(n - k, b)``."""
    a, b, k, rest = test_set.probabilities(rows, skill)
    return np.asarray(rng.binomial(k, a) + rng.binomial(rest, b), dtype=np.int64)


def walk_down(
    rng: np.random.Generator,
    test_set: TestSet,
    inverse: Inverse,
    upper: FloatArray,
    remaining: NDArray[np.int64],
    best: NDArray[np.int64],
) -> NDArray[np.int64]:
    r"""Best success count of a field whose best classifiers have been played already.

    Success counts increase stochastically in skill, so with any s >= 0 the bound
    :math:`B(\theta) = (1 + a(e^s - 1))^k (1 + b(e^s - 1))^{n-k} e^{-s(x+1)}` on
    :math:`P(X > x)` decreases down the order statistics of skill. The walk jumps a geometric
    number of classifiers, keeps the one it lands on with the ratio of the bounds, and draws its
    count from the exponentially tilted law, accepted with :math:`e^{-s(X - x - 1)}`: exact.

    Parameters
    ----------
    rng : Generator
    test_set : TestSet
    inverse : callable
        ``inverse(rows, upper)``: skills that are exceeded with probability ``upper``.
    upper : ndarray, shape (D,)
        Upper-tail probability of the classifier where the walk starts.
    remaining : ndarray of int64, shape (D,)
        Number of classifiers below it.
    best : ndarray of int64, shape (D,)
        Best count so far.

    Returns
    -------
    ndarray of int64, shape (D,)
    """
    upper, remaining, best = upper.copy(), remaining.copy(), best.copy()
    rows = np.flatnonzero(remaining > 0)
    skill = inverse(rows, upper[rows])
    while rows.size:
        bound, tilt = _exceedance_bound(test_set, rows, skill, best[rows])
        jump = rng.geometric(np.clip(bound, 1e-300, 1.0)).astype(np.float64)
        alive = (jump <= remaining[rows]) & (bound > 1e-14) & (best[rows] < test_set.n_test)
        rows, jump, bound, tilt = rows[alive], jump[alive], bound[alive], tilt[alive]
        left = remaining[rows].astype(np.float64)
        upper[rows] += (1 - upper[rows]) * rng.beta(jump, left - jump + 1)
        remaining[rows] -= jump.astype(np.int64)
        skill = inverse(rows, upper[rows])
        _play(rng, test_set, rows, skill, bound, tilt, best)
    return best


def _exceedance_bound(
    test_set: TestSet,
    rows: NDArray[np.int64],
    skill: FloatArray,
    best: NDArray[np.int64],
    tilt: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    a, b, k, rest = test_set.probabilities(rows, skill)
    if tilt is None:
        variance = k * a * (1 - a) + rest * b * (1 - b)
        tilt = np.clip((best + 1 - k * a - rest * b) / np.maximum(variance, 0.25), 0.0, 8.0)
    growth = np.expm1(tilt)
    log_bound = k * np.log1p(a * growth) + rest * np.log1p(b * growth) - tilt * (best + 1)
    return np.exp(np.minimum(log_bound, 0.0)), tilt


def _play(
    rng: np.random.Generator,
    test_set: TestSet,
    rows: NDArray[np.int64],
    skill: FloatArray,
    bound: FloatArray,
    tilt: FloatArray,
    best: NDArray[np.int64],
) -> None:
    """Let the classifiers that the walk landed on play; raises ``best`` in place."""
    tilt = np.where(bound < 1.0, tilt, 0.0)  # a bound of one is plain simulation
    new_bound, _ = _exceedance_bound(test_set, rows, skill, best[rows], tilt)
    kept = rng.random(rows.size) < new_bound / bound
    rows, skill, tilt = rows[kept], skill[kept], tilt[kept]
    a, b, k, rest = test_set.probabilities(rows, skill)
    growth = np.exp(tilt)
    x = rng.binomial(k, np.clip(a * growth / (1 - a + a * growth), 0, 1))
    x = x + rng.binomial(rest, np.clip(b * growth / (1 - b + b * growth), 0, 1))
    gain = x - best[rows]
    accepted = (gain > 0) & (rng.random(rows.size) < np.exp(-tilt * np.maximum(gain - 1, 0)))
    best[rows[accepted]] = x[accepted]


def best_count(
    rng: np.random.Generator,
    test_set: FreshTestSet,
    distribution: SkillDistribution,
    n_classifiers: NDArray[np.int64],
) -> tuple[FloatArray, NDArray[Any]]:
    """Best skill and best count (or score) of a fresh field of classifiers per draw."""
    upper = -np.expm1(np.log(rng.random(n_classifiers.size)) / n_classifiers)
    rows = np.arange(n_classifiers.size)

    def inverse(selected: NDArray[np.int64], tail: FloatArray) -> FloatArray:
        part = distribution.take(selected)
        return part.skill(part.isf(tail))

    theta_max = inverse(rows, upper)
    best = test_set.play(rng, rows, theta_max)
    return theta_max, test_set.walk_down(rng, inverse, upper, n_classifiers - 1, best)


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
