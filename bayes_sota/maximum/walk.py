r"""Exact draws of the best score of a field, without touching most of its classifiers.

``walk_down`` jumps from one classifier that could take the lead to the next: by a Chernoff bound
where scores are counts (Sec. 4.3 of Møllersen & Holsbø, arXiv 2303.07272), by the exact probability
where normal scores share one factor,

.. math:: g(X_j; \theta_j) = \rho z + \sqrt{1 - \rho^2}\, e_j, \quad z, e_j \sim N(0, 1)

with ``z`` what all scores share because they share the items. ``CellLaw`` inverts P(theta) times a
factor that varies over the skills of a table. ``tests/maximum/test_walk.py`` compares with whole
fields, and the best count with its exact law.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from bayes_sota.auc.scores import AucScores
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.maximum.dependence import conditional_probabilities

Inverse = Callable[[IntArray, FloatArray], FloatArray]
Parts = tuple[Any, ...]  # arrays, one entry per classifier
_LEAST_CHANCE = 1e-14  # of taking the lead, below which a walk ends
_MOST_STEPS = 1_000  # of a walk
_STEPS_TO_HIGHEST = 60  # of a walk, before those who share the highest value are drawn by their law
_NODES = 2_000  # where that law is computed
_LEAST_OWN = 1e-6  # share of a score's error that it does not share
_AT_ONCE = 20_000  # fields that are simulated together
_LARGEST_SKILL = float(np.nextafter(1.0, 0.0))


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
        return (np.asarray(estimate, np.float64) - np.asarray(skill)) / self.error

    def estimate(self, normal: ArrayLike, skill: ArrayLike) -> FloatArray:
        """Skill plus an error."""
        return np.asarray(skill) + self.error * np.asarray(normal, np.float64)

    def stabilized(self, skill: ArrayLike) -> FloatArray:
        """Skill in standard errors."""
        return np.asarray(skill, np.float64) / self.error

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        """Skill."""
        return np.asarray(t, np.float64) * self.error

    def standard_error(self, skill: ArrayLike) -> FloatArray:
        """The same everywhere."""
        return np.full(np.shape(skill), self.error)


NormalScores = GaussianScores | AucScores
"""A score and a skill make a number that is standard normal whatever the skill is."""


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


class FreshTestSet(Protocol):
    """A fresh test set per draw, and the values (counts or scores) of classifiers on it."""

    highest: float  # value that nobody exceeds
    step: int  # smallest difference of two values
    by_draw: ClassVar[tuple[str, ...]]  # names of the arrays with one entry per draw

    @property
    def unit(self) -> float:
        """What values are divided by to be scores."""

    @property
    def shift(self) -> FloatArray:
        """What all scores share, standardised, shape (D,)."""

    def take(self, rows: IntArray) -> Self:
        """Some of the draws."""
        parts = {name: getattr(self, name)[rows] for name in self.by_draw}
        return replace(self, **parts)  # type: ignore[type-var]

    def play(self, rng: np.random.Generator, rows: IntArray, skill: FloatArray) -> Any:
        """Values of one classifier per draw."""

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        """What the values of one classifier per draw are made of."""

    def bound(self, parts: Parts, target: Any) -> tuple[FloatArray, Any]:
        """Bound on the probability of a value of at least ``target``, rising in skill; a tilt."""

    def challenge(
        self, rng: np.random.Generator, parts: Parts, bound: FloatArray, tilt: Any, target: Any
    ) -> tuple[IntArray, Any]:
        """Which of the classifiers where the walk landed reach the target, and their values."""

    def chance_of_highest(self, parts: Parts) -> FloatArray:
        """Probability of the value that nobody exceeds."""

    def walk_down[V: NDArray[Any]](
        self,
        rng: np.random.Generator,
        inverse: Inverse,
        upper: FloatArray,
        remaining: IntArray,
        best: V,
        holder: FloatArray | None = None,
    ) -> V:
        r"""Best values of fields whose best classifiers have been played already.

        Values increase stochastically in skill, so the chance of one classifier to take the lead,
        or a bound on it, decreases down the order statistics of skill. The walk jumps a geometric
        number of classifiers and keeps the one it lands on with the ratio of the chances: exact.

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
            Best value so far.
        holder : ndarray, shape (D,), optional
            Skill of the classifier with the best value so far, changed in place. Of tied
            classifiers one is drawn: the t-th takes over with probability 1/t. Where the walk is
            long because many share the highest value, the rest of them is drawn by its law.
        """
        upper, remaining, tied = upper.copy(), remaining.copy(), np.ones(best.size)
        steps = 0
        leading: Any = best.copy()
        rows = np.flatnonzero(remaining > 0)
        parts = self.parts(rows, inverse(rows, upper[rows]))
        while rows.size:
            target = leading[rows] + (self.step if holder is None else 0)
            bound, tilt = self.bound(parts, target)
            jump = rng.geometric(np.clip(bound, 1e-300, 1.0)).astype(np.float64)
            alive = (jump <= remaining[rows]) & (bound > _LEAST_CHANCE) & (target <= self.highest)
            rows, jump, *state = (x[alive] for x in (rows, jump, bound, tilt, target))
            upper[rows] += (1 - upper[rows]) * rng.beta(jump, remaining[rows] - jump + 1)
            remaining[rows] -= jump.astype(np.int64)
            skill = inverse(rows, upper[rows])
            parts = self.parts(rows, skill)
            rivals, values = self.challenge(rng, parts, *state)
            leads = rows[rivals]
            if holder is not None:
                tied[leads] = np.where(values == leading[leads], tied[leads] + 1, 1)
                takes = rng.random(leads.size) * tied[leads] < 1
                holder[leads[takes]] = skill[rivals[takes]]
            leading[leads] = values
            steps += 1
            if holder is None and steps >= _MOST_STEPS:
                break  # a lead that so many trials left stands; later ones could gain a count
            if holder is not None and steps >= _STEPS_TO_HIGHEST:
                full = leading[rows] >= self.highest
                for row in rows[full]:
                    rest = (upper[row], remaining[row], tied[row])
                    holder[row] = self._one_of_the_highest(rng, inverse, row, rest, holder[row])
                rows, parts = rows[~full], tuple(part[~full] for part in parts)
        return cast(V, leading)

    def _one_of_the_highest(
        self,
        rng: np.random.Generator,
        inverse: Inverse,
        row: int,
        rest: tuple[float, int, float],
        holder: float,
    ) -> float:
        r"""Skill of one of all who share the highest value, of whom the walk has seen some.

        The others are independent given the skill where the walk stands: ``remaining`` of them with
        an upper-tail probability u that is uniform above ``upper``. The number that share the value
        is binomial, and the law of u for each of them is proportional to the chance of the value.
        """
        upper, remaining, tied = rest
        u = np.geomspace(max(upper, 1e-300), np.nextafter(1.0, 0.0), _NODES)
        rows = np.full(_NODES, row)
        chance = self.chance_of_highest(self.parts(rows, inverse(rows, u)))
        below = np.concatenate([[0.0], np.cumsum(np.diff(u) * (chance[1:] + chance[:-1]) / 2)])
        others = rng.binomial(remaining, np.clip(below[-1] / (1 - upper), 0.0, 1.0))
        if rng.random() * (tied + others) >= others:
            return holder
        drawn = np.interp(rng.random() * below[-1], below, u)
        return float(inverse(rows[:1], np.atleast_1d(drawn))[0])


@dataclass(frozen=True, eq=False)
class TestSet(FreshTestSet):
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
    step = 1
    by_draw: ClassVar[tuple[str, ...]] = ("counts", "correlation")

    n_test: int
    counts: IntArray
    correlation: FloatArray
    reference_skill: float

    @classmethod
    def draw(
        cls, rng: np.random.Generator, n_test: int, correlation: FloatArray, reference_skill: float
    ) -> "TestSet":
        """With S0 from its binomial law."""
        counts = rng.binomial(n_test, reference_skill, size=correlation.size)
        return cls(n_test, counts, correlation, reference_skill)

    @property
    def unit(self) -> float:
        """Counts per unit of score."""
        return float(self.n_test)

    @property
    def shift(self) -> FloatArray:
        """Count of the reference classifier in standard deviations from its mean."""
        sd = np.sqrt(self.n_test * self.reference_skill * (1 - self.reference_skill))
        return (self.counts - self.n_test * self.reference_skill) / sd

    @property
    def highest(self) -> float:  # type: ignore[override]
        """All items."""
        return self.n_test

    def play(self, rng: np.random.Generator, rows: IntArray, skill: FloatArray) -> IntArray:
        """Success counts of one classifier per draw, ``Binomial(k, a) + Binomial(n - k, b)``."""
        a, b, k, rest = self.parts(rows, skill)
        return np.asarray(rng.binomial(k, a) + rng.binomial(rest, b), dtype=np.int64)

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        """``a``, ``b`` and the numbers of items that they apply to."""
        a, b = conditional_probabilities(skill, self.correlation[rows], self.reference_skill)
        return a, b, self.counts[rows], self.n_test - self.counts[rows]

    def chance_of_highest(self, parts: Parts) -> FloatArray:
        """Of all items right, ``a^k b^(n - k)``."""
        a, b, k, rest = parts
        return a**k * b**rest

    def bound(
        self, parts: Parts, target: IntArray, tilt: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        r"""Chernoff's, for any tilt s >= 0; the one that is chosen comes near its minimum.

        .. math:: B(\theta) = (1 + a(e^s - 1))^k (1 + b(e^s - 1))^{n-k} e^{-s x}
        """
        if tilt is not None:
            return _chernoff(parts, target, tilt), tilt
        a, b, k, rest = parts
        mean, variance = k * a + rest * b, k * a * (1 - a) + rest * b * (1 - b)
        tilt = np.clip((target - mean) / np.maximum(variance, 0.25), 0.0, 8.0)
        bound = _chernoff(parts, target, tilt)
        missed = np.flatnonzero((bound >= 1) & (mean < target))  # the tilt went far beyond the best
        if missed.size:
            few, goal = tuple(part[missed] for part in parts), target[missed]
            tilt[missed] = _least_tilt(few, goal)
            bound[missed] = _chernoff(few, goal, tilt[missed])
        return bound, tilt

    def challenge(
        self, rng: np.random.Generator, parts: Parts, bound: FloatArray, tilt: Any, target: Any
    ) -> tuple[IntArray, IntArray]:
        """By the ratio of the bounds, then from the tilted law with ``exp(-s (x - target))``."""
        tilt = np.where(bound < 1.0, tilt, 0.0)  # a bound of one is plain simulation
        now, _ = self.bound(parts, target, tilt)
        kept = np.flatnonzero(rng.random(now.size) < now / bound)
        tilt = tilt[kept]
        x = np.sum(self.tilted(rng, tuple(part[kept] for part in parts), tilt), axis=0)
        over = x - target[kept]
        reached = (over >= 0) & (rng.random(kept.size) < np.exp(-tilt * np.maximum(over, 0)))
        return kept[reached], x[reached]

    @staticmethod
    def tilted(
        rng: np.random.Generator, parts: Parts, tilt: FloatArray
    ) -> tuple[IntArray, IntArray]:
        """Counts of both binomials from their laws times ``exp(s x)``."""
        a, b, k, rest = parts
        growth = np.exp(tilt)
        first = rng.binomial(k, np.clip(a * growth / (1 - a + a * growth), 0, 1))
        return first, rng.binomial(rest, np.clip(b * growth / (1 - b + b * growth), 0, 1))


def _chernoff(parts: Parts, target: IntArray, tilt: FloatArray) -> FloatArray:
    a, b, k, rest = parts
    growth = np.expm1(tilt)
    log_bound = k * np.log1p(a * growth) + rest * np.log1p(b * growth) - tilt * target
    return np.exp(np.minimum(log_bound, 0.0))


def _least_tilt(parts: Parts, target: IntArray) -> FloatArray:
    """Tilt between 0 and 8 that brings the mean to the target, where the bound is least."""
    a, b, k, rest = parts
    low, high = np.zeros(target.size), np.full(target.size, 8.0)
    for _ in range(20):
        tilt = (low + high) / 2
        growth = np.expm1(tilt)
        mean = k * a * (1 + growth) / (1 + a * growth) + rest * b * (1 + growth) / (1 + b * growth)
        low, high = np.where(mean < target, tilt, low), np.where(mean < target, high, tilt)
    return low


@dataclass(frozen=True, eq=False)
class NormalTestSet(FreshTestSet):
    """A test set per draw: what its items do to all scores.

    Attributes
    ----------
    scores : NormalScores
    shared, correlation : ndarray, shape (D,)
        z and rho.
    """

    highest = np.inf
    step = 0
    by_draw: ClassVar[tuple[str, ...]] = ("shared", "correlation")

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

    @property
    def shift(self) -> FloatArray:
        """z."""
        return self.shared

    def play(self, rng: np.random.Generator, rows: IntArray, skill: FloatArray) -> FloatArray:
        """Scores of one classifier per draw."""
        _, common, own = self.parts(rows, skill)
        return self.scores.estimate(common + own * rng.standard_normal(rows.size), skill)

    def bound(self, parts: Parts, target: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Exact probability of a score above the target; there is no tilt."""
        skill, common, own = parts
        chance = np.asarray(ndtr((common - self.scores.normal_score(target, skill)) / own))
        return chance, chance

    def challenge(
        self, rng: np.random.Generator, parts: Parts, bound: FloatArray, tilt: Any, target: Any
    ) -> tuple[IntArray, FloatArray]:
        """By the ratio of the chances, then from the tail above the target."""
        now, _ = self.bound(parts, target)
        leads = np.flatnonzero(rng.random(now.size) * bound < now)
        skill, common, own = (x[leads] for x in parts)
        tail = np.maximum(rng.random(leads.size) * now[leads], 1e-300)
        values = self.scores.estimate(common - own * ndtri(tail), skill)
        return leads, np.maximum(values, target[leads])

    def chance_of_highest(self, parts: Parts) -> FloatArray:
        """None: scores have no highest value."""
        return np.zeros_like(parts[0])

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        """Skill, what all scores share, and the standard deviation of what is a score's own."""
        rho = self.correlation[rows]
        return skill, rho * self.shared[rows], np.maximum(np.sqrt(1 - rho**2), _LEAST_OWN)


@dataclass(frozen=True, eq=False)
class Fields:
    """Fields of classifiers with everything given but who is how good below the best.

    Attributes
    ----------
    test_set : FreshTestSet
    distribution : SkillDistribution
        P(theta), parameters of shape (D,).
    n_classifiers : ndarray of int64, shape (D,)
    theta_sota : ndarray, shape (D,)
        Skill of the best classifier.
    """

    test_set: FreshTestSet
    distribution: SkillDistribution
    n_classifiers: IntArray
    theta_sota: FloatArray

    @classmethod
    def fresh(
        cls,
        rng: np.random.Generator,
        test_set: FreshTestSet,
        distribution: SkillDistribution,
        n_classifiers: IntArray,
    ) -> "Fields":
        """With the best skill from its law."""
        upper = -np.expm1(np.log(rng.random(n_classifiers.size)) / n_classifiers)
        theta = distribution.skill(distribution.isf(upper))
        return cls(test_set, distribution, n_classifiers, theta)

    def take(self, rows: IntArray) -> "Fields":
        """Some of the fields."""
        parts = (self.test_set.take(rows), self.distribution.take(rows))
        return Fields(*parts, self.n_classifiers[rows], self.theta_sota[rows])

    def draw(self, rng: np.random.Generator, *, winner: bool = True) -> tuple[Any, FloatArray]:
        """Best scores and, if ``winner``, the winners' skills; without, only scores are valid."""
        theta = np.clip(self.theta_sota, 1e-300, _LARGEST_SKILL)

        def inverse(rows: IntArray, tail: FloatArray) -> FloatArray:
            part = self.distribution.take(rows)
            return np.minimum(part.skill(part.isf(tail)), theta[rows])

        holder = theta.copy()
        best = self.test_set.play(rng, np.arange(theta.size), theta)
        upper = self.distribution.sf(self.distribution.from_skill(theta))
        others = (inverse, upper, self.n_classifiers - 1, best, holder if winner else None)
        return self.test_set.walk_down(rng, *others) / self.test_set.unit, holder

    def draw_winner(
        self, rng: np.random.Generator, bounds: tuple[float, float], epsilon: float, attempts: int
    ) -> tuple[FloatArray, IntArray]:
        r"""Skill of the winner given that the best score is about the observed one.

        Each field is redrawn until a draw is accepted, with probability
        :math:`\exp(-d^2 / 2\epsilon^2)` where d is the distance of the best score from ``bounds``.

        Returns
        -------
        winner_skill, attempts : ndarray, shape (D,)
            Attempts are -1 where the limit was reached; the closest attempt stands then.
        """
        size, (low, high) = self.theta_sota.size, bounds
        winner, needed = np.zeros(size), np.full(size, -1, np.int64)
        closest = np.full(size, np.inf)
        waiting, done = np.arange(size), 0
        while waiting.size and done < attempts:
            copies = min(max(1, _AT_ONCE // waiting.size), attempts - done)
            rows = np.tile(waiting, copies)
            best, holder = self.take(rows).draw(rng)
            distance = np.maximum(np.maximum(low - best, best - high), 0) / epsilon
            passed = rng.random(rows.size) < np.exp(-0.5 * distance**2)
            distance[passed] = -1.0
            order = np.argsort(distance, kind="stable")[::-1]  # of one row the nearest comes last
            nearer = order[distance[order] < closest[rows[order]]]
            winner[rows[nearer]], closest[rows[nearer]] = holder[nearer], distance[nearer]
            done += copies
            needed[np.unique(rows[passed])] = done
            waiting = np.flatnonzero(needed < 0)
        return winner, needed
