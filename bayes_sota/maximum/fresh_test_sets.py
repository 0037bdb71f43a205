r"""Fields of classifiers on fresh test sets: the best score, and who has it.

A bound on the chance to take the lead decreases down the order statistics of skill. ``walk_down``
jumps to the next classifier that could take the lead: by a Chernoff bound for counts (Sec. 4.3 of
Møllersen & Holsbø, arXiv 2303.07272), by the exact probability for normal scores with one factor,

.. math:: g(X_j; \theta_j) = \rho z + \sqrt{1 - \rho^2}\, e_j, \quad z, e_j \sim N(0, 1)

``tests/maximum/test_fields.py`` compares with whole fields, and the best count with its exact law.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bayes_sota.core.arguments import SKILL
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.score_laws import SubmissionNoise, noise_of, score_law

Inverse = Callable[[IntArray, FloatArray], FloatArray]
Parts = tuple[Any, ...]  # arrays, one entry per classifier
_LEAST_CHANCE = 1e-14  # of taking the lead, below which a walk ends
_MOST_STEPS = 1_000  # of a walk
_LEAST_OWN = 1e-6  # share of a score's error that it does not share
_PLACES = 16  # of the luck, equally spaced in its arc sine
_LARGEST_SKILL = float(np.nextafter(1.0, 0.0))


def walk_down(
    test_set: Any,
    rng: Generator,
    inverse: Inverse,
    upper: FloatArray,
    remaining: IntArray,
    best: FloatArray,
    holder: FloatArray | None = None,
) -> FloatArray:
    """Best values of D fields whose best classifiers have been played already.

    The walk jumps a geometric number of classifiers and keeps the one it lands on with the ratio of
    the chances to take the lead: exact. It starts at the upper-tail probability ``upper`` (D,),
    with ``remaining`` (D,) classifiers below, whose skills ``inverse(rows, upper)`` gives. ``best``
    (D,) is the best value so far, ``holder`` (D,) the skill behind it, changed in place.
    """
    upper, remaining, leading = upper.copy(), remaining.copy(), best.copy()
    tied = np.ones(best.size)
    rows = np.flatnonzero(remaining > 0)
    parts = test_set.parts(rows, inverse(rows, upper[rows]))
    for _ in range(_MOST_STEPS):  # a lead that so many trials left stands
        target: Any = leading[rows] + (test_set.step if holder is None else 0.0)
        bound, tilt = test_set.bound(parts, target)
        jump: Any = rng.geometric(np.clip(bound, 1e-300, 1.0)).astype(np.float64)
        possible: Any = test_set.step == 0 or target < 1 + test_set.step / 2
        alive = (jump <= remaining[rows]) & (bound > _LEAST_CHANCE) & possible
        rows, jump, *state = (x[alive] for x in (rows, jump, bound, tilt, target))
        if not rows.size:
            break
        upper[rows] += (1 - upper[rows]) * rng.beta(jump, remaining[rows] - jump + 1)
        remaining[rows] -= jump.astype(np.int64)
        skill = inverse(rows, upper[rows])
        parts = test_set.parts(rows, skill)
        rivals, values = test_set.challenge(rng, parts, *state)
        leads = rows[rivals]
        if holder is not None:
            tied[leads] = np.where(values == leading[leads], tied[leads] + 1, 1)
            takes = rng.random(leads.size) * tied[leads] < 1
            holder[leads[takes]] = skill[rivals[takes]]
        leading[leads] = values
    return leading


def best_of_fields(
    test_set: Any,
    rng: Generator,
    distribution: SkillDistribution,
    n_classifiers: IntArray,
    theta_sota: FloatArray,
    *,
    winner: bool = True,
) -> tuple[FloatArray, FloatArray]:
    """Best scores of fields and, if ``winner``, the winners' skills, (D,) each."""
    theta = np.clip(theta_sota, 1e-300, _LARGEST_SKILL)

    def inverse(rows: IntArray, tail: FloatArray) -> FloatArray:
        part = distribution.take(rows)
        return np.minimum(part.skill(part.isf(tail)), theta[rows])

    holder = theta.copy()
    best = test_set.play(rng, np.arange(theta.size), theta)
    upper = distribution.sf(distribution.from_skill(theta))
    others = (inverse, upper, n_classifiers - 1, best, holder if winner else None)
    return walk_down(test_set, rng, *others), holder


@dataclass(frozen=True, eq=False)
class NormalTestSet:
    """Test sets on which normal scores share one factor.

    ``shift`` (D,) is z, ``correlation`` (D,) rho and ``kind`` (D,) the kind of ``noise``; ``step``
    is the smallest difference of two scores.
    """

    scores: Any
    shift: FloatArray
    correlation: FloatArray
    noise: SubmissionNoise
    kind: IntArray
    step: float = 0.0

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        rho = self.correlation[rows]
        own = np.maximum(np.sqrt(1 - rho**2), _LEAST_OWN)
        return skill, rho * self.shift[rows], own, self.kind[rows]

    def noise_at(self, parts: Parts, target: FloatArray) -> FloatArray:
        skill, common, own, _ = parts
        return np.asarray((self.scores.normal_score(target, skill) - common) / own)

    def value(self, parts: Parts, noise: FloatArray) -> FloatArray:
        skill, common, own, _ = parts
        return np.asarray(self.scores.estimate(common + own * noise, skill))

    def play(self, rng: Generator, rows: IntArray, skill: FloatArray) -> FloatArray:
        parts, lowest = self.parts(rows, skill), np.full(rows.size, -np.inf)
        return self.value(parts, self.noise.draw_above(lowest, parts[-1], rng))

    def bound(self, parts: Parts, target: FloatArray) -> tuple[FloatArray, FloatArray]:
        chance = self.noise.survival(self.noise_at(parts, target), parts[-1])
        return chance, chance

    def challenge(
        self, rng: Generator, parts: Parts, bound: FloatArray, _: Any, target: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        leads = np.flatnonzero(rng.random(bound.size) * bound < self.bound(parts, target)[0])
        few, target = tuple(part[leads] for part in parts), target[leads]
        noise = self.noise.draw_above(self.noise_at(few, target), few[-1], rng)
        return leads, np.maximum(self.value(few, noise), target)


@dataclass(frozen=True, eq=False)
class CountedTestSet:
    """Test sets on which the reference classifier got ``counts`` (D,), draws of S0, right."""

    n_test: int
    counts: IntArray
    correlation: FloatArray
    reference_skill: float

    @property
    def step(self) -> float:
        return 1 / self.n_test

    @property
    def shift(self) -> FloatArray:
        sd = np.sqrt(self.n_test * self.reference_skill * (1 - self.reference_skill))
        return (self.counts - self.n_test * self.reference_skill) / sd

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        a, b = conditional_probabilities(skill, self.correlation[rows], self.reference_skill)
        return a, b, self.counts[rows], self.n_test - self.counts[rows]

    def play(self, rng: Generator, rows: IntArray, skill: FloatArray) -> FloatArray:
        a, b, k, rest = self.parts(rows, skill)
        return np.asarray((rng.binomial(k, a) + rng.binomial(rest, b)) / self.n_test)

    def bound(self, parts: Parts, target: FloatArray) -> tuple[FloatArray, FloatArray]:
        r"""Chernoff's, for any tilt s >= 0; the one chosen comes near its minimum.

        .. math:: B(\theta) = (1 + a(e^s - 1))^k (1 + b(e^s - 1))^{n-k} e^{-s x}
        """
        a, b, k, rest = parts
        mean, variance = k * a + rest * b, k * a * (1 - a) + rest * b * (1 - b)
        tilt = np.clip((target * self.n_test - mean) / np.maximum(variance, 0.25), 0.0, 8.0)
        return self._chernoff(parts, target, tilt), tilt

    def challenge(
        self, rng: Generator, parts: Parts, bound: FloatArray, tilt: FloatArray, target: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Accept by the ratio of the bounds, then by ``exp(-s (x - target))``."""
        tilt = np.where(bound < 1.0, tilt, 0.0)  # a bound of one is plain simulation
        kept = np.flatnonzero(rng.random(tilt.size) < self._chernoff(parts, target, tilt) / bound)
        tilt = tilt[kept]
        a, b, k, rest = (part[kept] for part in parts)
        a, b = (np.clip(p * np.exp(tilt) / (1 + p * np.expm1(tilt)), 0, 1) for p in (a, b))
        x = rng.binomial(k, a) + rng.binomial(rest, b)
        over = x - np.rint(target[kept] * self.n_test)
        reached = (over >= 0) & (rng.random(kept.size) < np.exp(-tilt * np.maximum(over, 0)))
        return kept[reached], x[reached] / self.n_test

    def _chernoff(self, parts: Parts, target: FloatArray, tilt: FloatArray) -> FloatArray:
        a, b, k, rest = parts
        growth, x = np.expm1(tilt), target * self.n_test
        log_bound = k * np.log1p(a * growth) + rest * np.log1p(b * growth) - tilt * x
        return np.exp(np.minimum(log_bound, 0.0))


@dataclass(frozen=True, eq=False)
class ChosenTestSet(NormalTestSet):
    """Accuracies of the best of several submissions; ``scores`` and shift are those of one.

    A count is the quantile, at the level of its noise, of one submission's count (Cornish-Fisher).
    """

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        """Mean, standard deviation and a sixth of the skewness of one submission's count."""
        a, b, k, rest = self.scores.parts(rows, skill)
        first, second = k * a * (1 - a), rest * b * (1 - b)
        variance = np.maximum(first + second, 1e-12)
        skewness = (first * (1 - 2 * a) + second * (1 - 2 * b)) / variance**1.5
        return k * a + rest * b, np.sqrt(variance), skewness / 6, self.kind[rows]

    def noise_at(self, parts: Parts, target: FloatArray) -> FloatArray:
        mean, sd, sixth, _ = parts
        z = (target * self.scores.n_test - 0.5 - mean) / sd
        return np.asarray(z - sixth * (z**2 - 1))

    def value(self, parts: Parts, noise: FloatArray) -> FloatArray:
        mean, sd, sixth, _ = parts
        n, counts = self.scores.n_test, np.rint(mean + sd * (noise + sixth * (noise**2 - 1)))
        return np.asarray(np.clip(counts, 0, n) / n)


def fresh_test_set(
    board: BestScore,
    rng: Generator,
    correlation: FloatArray,
    reference_skill: float | None = None,
    luck: FloatArray | None = None,
) -> NormalTestSet | CountedTestSet:
    """Test sets like the board's, one per correlation.

    With ``luck``, lambda of each draw, every classifier shows the best of its submissions. Its law
    is that of one of the two tabulated values around lambda.
    """
    numbers, lucks, kind = (1.0,), [0.0], np.zeros(correlation.size, np.int64)
    luck = luck if board.has_submissions else None
    if luck is not None:
        numbers = tuple(board.submissions[0].tolist())
        lucks = np.sin(np.linspace(0, np.pi / 2, _PLACES + 1)).tolist()
        place = np.arcsin(luck) * (_PLACES / (np.pi / 2)) + rng.random(luck.size)
        kind = np.minimum(place, _PLACES).astype(np.int64)
    noise = noise_of((numbers,), *lucks)
    if board.metric != "accuracy":
        scores = score_law(board).normal_scores
        return NormalTestSet(scores, rng.standard_normal(kind.size), correlation, noise, kind)
    n, theta0 = board.n_test, default_reference_skill(board, reference_skill)
    one = CountedTestSet(n, rng.binomial(n, theta0, kind.size), correlation, theta0)
    if luck is None:
        return one
    return ChosenTestSet(one, one.shift, correlation, noise, kind, one.step)


def default_reference_skill(board: BestScore, skill: float | None = None) -> float:
    """theta0 as given, or the observed maximum, half an item away from 0 and 1."""
    if skill is not None:
        return float(SKILL.check(skill, "reference_skill"))
    half = 0.5 / (board.n_test or 10**6)
    return float(np.clip(board.maximum, half, 1 - half))
