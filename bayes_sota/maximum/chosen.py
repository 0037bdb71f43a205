r"""Fresh test sets on which every classifier shows the best of its submissions.

The own noise of a score, standard normal for one submission, has the law of
``bayes_sota.maximum.submissions``. A count is the sum of two binomials; the noise that chose is
what their normal scores have in common, weighted by their standard deviations, so that with one
submission the law is that of ``walk``. Densities are at most T times those of one submission, and
so are chances: the walk's bounds hold times T, and what it lands on is kept with the ratio of the
densities over T. ``tests/maximum/test_chosen.py`` compares with whole fields.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtrc, ndtr, ndtri
from scipy.stats import binom

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.submissions import SubmissionNoise, noise_at
from bayes_sota.maximum.walk import FreshTestSet, NormalTestSet, Parts, TestSet

_PLACES = 16  # of the luck, equally spaced in its arc sine, where its laws are tabulated


@dataclass(frozen=True, eq=False)
class ChosenScores(NormalTestSet):
    """Scores with normal errors, the best of several submissions.

    Attributes
    ----------
    noise : SubmissionNoise
    kind : ndarray of int, shape (D,)
        Kind of the noise of each draw.
    """

    by_draw = (*NormalTestSet.by_draw, "kind")

    noise: SubmissionNoise
    kind: IntArray

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        """As of one submission, and the kind."""
        return *super().parts(rows, skill), self.kind[rows]

    def play(self, rng: np.random.Generator, rows: IntArray, skill: FloatArray) -> FloatArray:
        """Scores of one classifier per draw."""
        _, common, own, kind = self.parts(rows, skill)
        noise = self.noise.draw_above(np.full(rows.size, -np.inf), kind, rng)
        return self.scores.estimate(common + own * noise, skill)

    def bound(self, parts: Parts, target: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Exact probability of a score above the target; there is no tilt."""
        chance = self.noise.survival(self._noise_at(parts, target), parts[-1])
        return chance, chance

    def _noise_at(self, parts: Parts, target: FloatArray) -> FloatArray:
        skill, common, own, _ = parts
        return (self.scores.normal_score(target, skill) - common) / own

    def challenge(
        self, rng: np.random.Generator, parts: Parts, bound: FloatArray, tilt: Any, target: Any
    ) -> tuple[IntArray, FloatArray]:
        """By the ratio of the chances, then from the tail above the target."""
        now, _ = self.bound(parts, target)
        leads = np.flatnonzero(rng.random(now.size) * bound < now)
        few = tuple(part[leads] for part in parts)
        skill, common, own, kind = few
        noise = self.noise.draw_above(self._noise_at(few, target[leads]), kind, rng)
        values = self.scores.estimate(common + own * noise, skill)
        return leads, np.maximum(values, target[leads])


@dataclass(frozen=True, eq=False)
class ChosenCounts(TestSet):
    """Counts of right answers, the best of several submissions.

    Attributes
    ----------
    noise : SubmissionNoise
    kind : ndarray of int, shape (D,)
        Kind of the noise of each draw.
    """

    by_draw = (*TestSet.by_draw, "kind")

    noise: SubmissionNoise
    kind: IntArray

    def parts(self, rows: IntArray, skill: FloatArray) -> Parts:
        """As of one submission, and the kind."""
        return *super().parts(rows, skill), self.kind[rows]

    def play(self, rng: np.random.Generator, rows: IntArray, skill: FloatArray) -> IntArray:
        """Success counts of one classifier per draw."""
        return self._simulated(rng, self.parts(rows, skill))

    def _simulated(self, rng: np.random.Generator, parts: Parts) -> IntArray:
        a, b, k, rest, kind = parts
        noise = self.noise.draw_above(np.full(a.shape, -np.inf), kind, rng)
        other = rng.standard_normal(a.shape)
        first, second = _shares(a, b, k, rest)
        counts = _binomial_quantile(first * noise + second * other, k, a)
        return counts + _binomial_quantile(second * noise - first * other, rest, b)

    def chance_of_highest(self, parts: Parts) -> FloatArray:
        """Of all items right."""
        *plain, kind = parts
        alone = np.clip(super().chance_of_highest(tuple(plain)), 1e-300, 1 - 1e-16)
        return self.noise.survival(-ndtri(alone), kind)

    def bound(
        self, parts: Parts, target: IntArray, tilt: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """T times Chernoff's of one submission, at most 1."""
        *plain, kind = parts
        bound, tilt = super().bound(tuple(plain), target, tilt)
        return np.minimum(bound * self.noise.most[kind], 1.0), tilt

    def challenge(
        self, rng: np.random.Generator, parts: Parts, bound: FloatArray, tilt: Any, target: Any
    ) -> tuple[IntArray, IntArray]:
        """By the ratio of the bounds; where the bound is 1 by plain simulation."""
        tilt = np.where(bound < 1.0, tilt, 0.0)
        now, _ = self.bound(parts, target, tilt)
        kept = np.flatnonzero(rng.random(now.size) < now / bound)
        few, tilt, full = tuple(part[kept] for part in parts), tilt[kept], bound[kept] >= 1.0
        values, reached = np.empty(kept.size, np.int64), np.empty(kept.size, bool)
        values[full] = self._simulated(rng, tuple(part[full] for part in few))
        reached[full] = values[full] >= target[kept][full]
        part = tuple(part[~full] for part in few)
        values[~full], reached[~full] = self._tilted(rng, part, tilt[~full], target[kept][~full])
        return kept[reached], values[reached]

    def _tilted(
        self, rng: np.random.Generator, parts: Parts, tilt: FloatArray, target: IntArray
    ) -> tuple[IntArray, Any]:
        """Counts from the tilted law of one submission, and which of them are kept."""
        a, b, k, rest, kind = parts
        counts = self.tilted(rng, (a, b, k, rest), tilt)
        values = counts[0] + counts[1]
        first, second = _shares(a, b, k, rest)
        noise = first * _normal_behind(rng, counts[0], k, a)
        noise += second * _normal_behind(rng, counts[1], rest, b)
        over = values - target
        log_kept = self.noise.log_ratio(noise, kind) - np.log(self.noise.most[kind])
        log_kept -= tilt * np.maximum(over, 0)
        return values, (over >= 0) & (np.log1p(-rng.random(over.size)) < log_kept)


def _shares(
    a: FloatArray, b: FloatArray, k: IntArray, rest: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Standard deviations of both binomials in units of that of their sum."""
    first, second = k * a * (1 - a), rest * b * (1 - b)
    total = np.maximum(first + second, 1e-300)
    return np.sqrt(first / total), np.sqrt(1 - first / total)


def _binomial_quantile(normal: FloatArray, size: IntArray, chance: FloatArray) -> IntArray:
    """Binomial counts at the levels of standard normals."""
    level, high = ndtr(-np.abs(normal)), normal > 0
    quantile = np.empty(normal.shape)
    quantile[~high] = binom.ppf(level[~high], size[~high], chance[~high])
    quantile[high] = binom.isf(level[high], size[high], chance[high])
    return np.clip(np.nan_to_num(quantile), 0, size).astype(np.int64)


def _normal_behind(
    rng: np.random.Generator, count: IntArray, size: IntArray, chance: FloatArray
) -> FloatArray:
    """Standard normals whose binomial counts are given."""
    reached, above = bdtrc(count - 1, size, chance), bdtrc(count, size, chance)
    return -np.asarray(ndtri(above + rng.random(count.shape) * (reached - above)))


def chosen_among(
    test_set: FreshTestSet, board: BestScore, luck: FloatArray, rng: np.random.Generator
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
    numbers = tuple(board.submission_numbers[0].tolist())
    if np.all(luck == luck.flat[0]):
        noise = noise_at(numbers, (float(luck.flat[0]),))
        kind = np.zeros(luck.size, np.int64)
    else:
        noise = noise_at(numbers, tuple(np.sin(np.linspace(0, np.pi / 2, _PLACES + 1)).tolist()))
        kind = np.asarray(np.arcsin(luck) * (_PLACES / (np.pi / 2)) + rng.random(luck.size), int)
    settings = {**vars(test_set), "noise": noise, "kind": kind}
    return ChosenCounts(**settings) if isinstance(test_set, TestSet) else ChosenScores(**settings)


def check_luck_given(boards: Any, luck: Any) -> None:
    """``InputError`` where scores were chosen among submissions and no luck of it is given."""
    if luck is None and any(board.has_submissions for board in boards):
        raise InputError("best scores were chosen among submissions: give the luck of it, luck=")
