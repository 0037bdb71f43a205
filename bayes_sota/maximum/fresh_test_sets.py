r"""Fields of classifiers on fresh test sets: the best score, and who has it.

Values (counts of right answers, or scores) increase stochastically in skill, so that a bound on the
chance to take the lead decreases down the order statistics of skill. ``walk_down`` jumps to the
next classifier that could take the lead, and stops where the bound says that nobody else will: by a
Chernoff bound where scores are counts (Sec. 4.3 of Møllersen & Holsbø, arXiv 2303.07272), by the
exact probability where normal scores share one factor,

.. math:: g(X_j; \theta_j) = \rho z + \sqrt{1 - \rho^2}\, e_j, \quad z, e_j \sim N(0, 1)

with ``z`` what all scores share because they share the items. Where every classifier shows the best
of its submissions, e has the law of ``bayes_sota.maximum.submissions``.
``tests/maximum/test_fields.py`` compares with whole fields, and the best count with its exact law.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.score_laws import NormalScores
from bayes_sota.maximum.submissions import SubmissionNoise, noise_at

Inverse = Callable[[IntArray, FloatArray], FloatArray]
Parts = tuple[Any, ...]  # arrays, one entry per classifier
_LEAST_CHANCE = 1e-14  # of taking the lead, below which a walk ends
_MOST_STEPS = 1_000  # of a walk
_LEAST_OWN = 1e-6  # share of a score's error that it does not share
_PLACES = 16  # of the luck, equally spaced in its arc sine, where its laws are tabulated
_LARGEST_SKILL = float(np.nextafter(1.0, 0.0))


class FreshTestSet:
    """A fresh test set per draw, and the values of classifiers on it, with a noise of their own.

    Attributes
    ----------
    step : int
        Smallest difference of two values; counts end at ``unit``.
    unit : float
        What values are divided by to be scores.
    shift : ndarray, shape (D,)
        What all scores share, standardised.
    noise : SubmissionNoise
        Of the best of several submissions, or of one.
    kind : int or ndarray, shape (D,)
        Kind of the noise of each draw, the last of the parts.
    parts, noise_at, value : callable
        What the values of one classifier per draw are made of, given draws and skills; the noise
        with which a value is a target, given parts and target; values, given parts and noise.
    """

    step, unit = 0, 1.0
    shift: Any
    noise: SubmissionNoise
    kind: IntArray | int
    parts: Callable[..., Parts]
    noise_at: Callable[..., FloatArray]
    value: Callable[..., Any]

    def kinds(self, rows: IntArray) -> IntArray:
        """Kinds of the noise of some draws."""
        return np.broadcast_to(self.kind, self.shift.shape)[rows]

    def play(self, rng: Generator, rows: IntArray, skill: FloatArray) -> Any:
        """Values of one classifier per draw."""
        parts, lowest = self.parts(rows, skill), np.full(rows.size, -np.inf)
        return self.value(parts, self.noise.draw_above(lowest, parts[-1], rng))

    def bound(self, parts: Parts, target: Any) -> tuple[FloatArray, FloatArray]:
        """Bound on the probability of a value of at least ``target``, rising in skill; a tilt."""
        chance = self.noise.survival(self.noise_at(parts, target), parts[-1])
        return chance, chance

    def challenge(
        self, rng: Generator, parts: Parts, bound: FloatArray, tilt: Any, target: Any
    ) -> tuple[IntArray, Any]:
        """Which of the classifiers where the walk landed reach the target, and their values.

        By the ratio of the chances, then from the tail above the target.
        """
        leads = np.flatnonzero(rng.random(bound.size) * bound < self.bound(parts, target)[0])
        few, target = tuple(part[leads] for part in parts), target[leads]
        noise = self.noise.draw_above(self.noise_at(few, target), few[-1], rng)
        return leads, np.maximum(self.value(few, noise), target)

    def walk_down[V: NDArray[Any]](
        self,
        rng: Generator,
        inverse: Inverse,
        upper: FloatArray,
        remaining: IntArray,
        best: V,
        holder: FloatArray | None = None,
    ) -> V:
        r"""Best values of fields whose best classifiers have been played already.

        The walk jumps a geometric number of classifiers and keeps the one it lands on with the
        ratio of the chances to take the lead: exact.

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
            classifiers one is drawn: the t-th takes over with probability 1/t.
        """
        upper, remaining, tied = upper.copy(), remaining.copy(), np.ones(best.size)
        leading: Any = best.copy()
        rows = np.flatnonzero(remaining > 0)
        parts = self.parts(rows, inverse(rows, upper[rows]))
        for _ in range(_MOST_STEPS):  # a lead that so many trials left stands
            target = leading[rows] + (self.step if holder is None else 0)
            bound, tilt = self.bound(parts, target)
            jump = rng.geometric(np.clip(bound, 1e-300, 1.0)).astype(np.float64)
            possible: Any = self.step == 0 or target <= self.unit
            alive = (jump <= remaining[rows]) & (bound > _LEAST_CHANCE) & possible
            rows, jump, *state = (x[alive] for x in (rows, jump, bound, tilt, target))
            if not rows.size:
                break
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
        return cast(V, leading)

    def best_of(
        self,
        rng: Generator,
        distribution: SkillDistribution,
        n_classifiers: IntArray,
        theta_sota: FloatArray,
        *,
        winner: bool = True,
    ) -> tuple[FloatArray, FloatArray]:
        """Best scores of fields and, if ``winner``, the winners' skills; all arrays (D,).

        Given P(theta) and the best skill of each; without ``winner`` only scores are valid.
        """
        theta = np.clip(theta_sota, 1e-300, _LARGEST_SKILL)

        def inverse(rows: IntArray, tail: FloatArray) -> FloatArray:
            part = distribution.take(rows)
            return np.minimum(part.skill(part.isf(tail)), theta[rows])

        holder = theta.copy()
        best = self.play(rng, np.arange(theta.size), theta)
        upper = distribution.sf(distribution.from_skill(theta))
        others = (inverse, upper, n_classifiers - 1, best, holder if winner else None)
        return self.walk_down(rng, *others) / self.unit, holder


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

    n_test: int
    counts: IntArray
    correlation: FloatArray
    reference_skill: float

    @classmethod
    def draw(
        cls, rng: Generator, n_test: int, correlation: FloatArray, reference_skill: float
    ) -> "TestSet":
        """With S0 from its binomial law."""
        counts = rng.binomial(n_test, reference_skill, size=correlation.size)
        return cls(n_test, counts, correlation, reference_skill)

    @property
    def unit(self) -> float:  # type: ignore[override]
        """Counts per unit of score."""
        return float(self.n_test)

    @property
    def shift(self) -> FloatArray:
        """Count of the reference classifier in standard deviations from its mean."""
        sd = np.sqrt(self.n_test * self.reference_skill * (1 - self.reference_skill))
        return (self.counts - self.n_test * self.reference_skill) / sd

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        """``a``, ``b`` and the numbers of items that they apply to."""
        a, b = conditional_probabilities(skill, self.correlation[rows], self.reference_skill)
        return a, b, self.counts[rows], self.n_test - self.counts[rows]

    def play(self, rng: Generator, rows: IntArray, skill: FloatArray) -> IntArray:
        """Success counts of one classifier per draw, ``Binomial(k, a) + Binomial(n - k, b)``."""
        a, b, k, rest = self.parts(rows, skill)
        return np.asarray(rng.binomial(k, a) + rng.binomial(rest, b), dtype=np.int64)

    def bound(self, parts: Parts, target: Any) -> tuple[FloatArray, FloatArray]:
        r"""Chernoff's, for any tilt s >= 0; the one that is chosen comes near its minimum.

        .. math:: B(\theta) = (1 + a(e^s - 1))^k (1 + b(e^s - 1))^{n-k} e^{-s x}
        """
        a, b, k, rest = parts
        mean, variance = k * a + rest * b, k * a * (1 - a) + rest * b * (1 - b)
        tilt = np.clip((target - mean) / np.maximum(variance, 0.25), 0.0, 8.0)
        return _chernoff(parts, target, tilt), tilt

    def challenge(
        self, rng: Generator, parts: Parts, bound: FloatArray, tilt: Any, target: Any
    ) -> tuple[IntArray, IntArray]:
        """By the ratio of the bounds, then from the tilted law with ``exp(-s (x - target))``."""
        tilt = np.where(bound < 1.0, tilt, 0.0)  # a bound of one is plain simulation
        kept = np.flatnonzero(rng.random(tilt.size) < _chernoff(parts, target, tilt) / bound)
        tilt = tilt[kept]
        a, b, k, rest = (part[kept] for part in parts)
        a, b = (np.clip(p * np.exp(tilt) / (1 + p * np.expm1(tilt)), 0, 1) for p in (a, b))
        x = rng.binomial(k, a) + rng.binomial(rest, b)
        over = x - target[kept]
        reached = (over >= 0) & (rng.random(kept.size) < np.exp(-tilt * np.maximum(over, 0)))
        return kept[reached], x[reached]


def _chernoff(parts: Parts, target: IntArray, tilt: FloatArray) -> FloatArray:
    a, b, k, rest = parts
    growth = np.expm1(tilt)
    log_bound = k * np.log1p(a * growth) + rest * np.log1p(b * growth) - tilt * target
    return np.exp(np.minimum(log_bound, 0.0))


@dataclass(frozen=True, eq=False)
class NormalTestSet(FreshTestSet):
    """A test set per draw: what its items do to all scores.

    Attributes
    ----------
    scores : NormalScores
    shift, correlation : ndarray, shape (D,)
        z and rho.
    """

    scores: NormalScores
    shift: FloatArray
    correlation: FloatArray
    noise: SubmissionNoise = field(default_factory=lambda: noise_at((1.0,), (0.0,)))
    kind: IntArray | int = 0

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        """Skill, what all scores share, and the standard deviation of what is a score's own."""
        rho = self.correlation[rows]
        own = np.maximum(np.sqrt(1 - rho**2), _LEAST_OWN)
        return skill, rho * self.shift[rows], own, self.kinds(rows)

    def noise_at(self, parts: Parts, target: FloatArray) -> FloatArray:
        """From the normal score."""
        skill, common, own, _ = parts
        return (self.scores.normal_score(target, skill) - common) / own

    def value(self, parts: Parts, noise: FloatArray) -> FloatArray:
        """Scores."""
        skill, common, own, _ = parts
        return self.scores.estimate(common + own * noise, skill)


@dataclass(frozen=True, eq=False)
class ChosenCounts(TestSet):
    """Counts of right answers, the best of several submissions; the shift is that of one.

    A count has the quantile, at the level of its noise, of the sum of two binomials that one
    submission has, by the first terms of Cornish and Fisher's expansion.
    """

    noise: SubmissionNoise
    kind: IntArray | int

    play, bound, challenge = FreshTestSet.play, FreshTestSet.bound, FreshTestSet.challenge

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        """Mean, standard deviation and a sixth of the skewness of one submission's count."""
        a, b, k, rest = super().parts(rows, skill)
        first, second = k * a * (1 - a), rest * b * (1 - b)
        variance = np.maximum(first + second, 1e-12)
        skewness = (first * (1 - 2 * a) + second * (1 - 2 * b)) / variance**1.5
        return k * a + rest * b, np.sqrt(variance), skewness / 6, self.kinds(rows)

    def noise_at(self, parts: Parts, target: IntArray) -> FloatArray:
        """Half a count below the target."""
        mean, sd, sixth, _ = parts
        z = (target - 0.5 - mean) / sd
        return z - sixth * (z**2 - 1)

    def value(self, parts: Parts, noise: FloatArray) -> IntArray:
        """Counts."""
        mean, sd, sixth, _ = parts
        counts = np.rint(mean + sd * (noise + sixth * (noise**2 - 1)))
        return np.clip(counts, 0, self.n_test).astype(np.int64)


def chosen_among(
    test_set: TestSet | NormalTestSet, board: BestScore, luck: FloatArray, rng: Generator
) -> FreshTestSet:
    """The same test sets where every classifier of a board shows the best of its submissions.

    Parameters
    ----------
    test_set : TestSet or NormalTestSet
    board : BestScore
        Of which the best score is known.
    luck : ndarray, shape (D,)
        Lambda of each draw: the law of one of the two tabulated values around it, with the
        probabilities of linear interpolation.
    rng : Generator
    """
    lucks = np.sin(np.linspace(0, np.pi / 2, _PLACES + 1)).tolist()
    noise = noise_at(tuple(board.submissions[0].tolist()), tuple(lucks))
    place = np.minimum(np.arcsin(luck) * (_PLACES / (np.pi / 2)) + rng.random(luck.size), _PLACES)
    kind = place.astype(np.int64)
    if isinstance(test_set, TestSet):
        return ChosenCounts(**vars(test_set), noise=noise, kind=kind)
    return replace(test_set, noise=noise, kind=kind)


def check_luck_given(boards: Any, luck: Any) -> None:
    """``InputError`` where scores were chosen among submissions and no luck of it is given."""
    if luck is None and any(board.has_submissions for board in boards):
        raise InputError("best scores were chosen among submissions: give the luck of it, luck=")
