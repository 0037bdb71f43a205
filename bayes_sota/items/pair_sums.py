"""What the answers, or the influence values, of each pair of classifiers add up to.

Every kind gives the correlation of each pair, its jackknife variance, and rho without each item.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.parallel import followed
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.outcomes import MISSING

TINY = 1e-300
LARGEST_LOADING = 0.99
_BLOCK = 2_000_000  # correlations at a time
_LEAST_OVERLAP = 10


@dataclass(frozen=True, eq=False)
class AnswerSums:
    """Sums of answers.

    Attributes
    ----------
    counts : ndarray, shape (3, ..., m, m)
        Of right answers, as of ``counts_of``.
    shared : ndarray, shape (m, m)
        ``n_jk / sqrt(n_j n_k)``; 1 where nothing is missing.
    """

    counts: FloatArray
    shared: FloatArray

    @classmethod
    def of(cls, correct: NDArray[np.int8]) -> "AnswerSums":
        """Of answers (n, m)."""
        counts = counts_of(correct)
        answered = np.maximum(np.diagonal(counts[1]), 1.0)
        shared = counts[1] / np.sqrt(np.outer(answered, answered))
        np.fill_diagonal(shared, 1.0)
        return cls(counts, shared)

    def phi(self) -> FloatArray:
        """Phi correlations of the answers, pairwise complete; NaN where few items overlap.

        Half an item is added to either kind of disagreement, so that two that never disagreed are
        not taken for identical.
        """
        both_right, both, first = self.counts
        phi = _smoothed_phi(both_right, both, first, np.swapaxes(first, -1, -2))
        enough = both >= min(_LEAST_OVERLAP, 0.5 * both.max())
        return _with_ones(np.where(enough, phi, np.nan))

    def correlation(self) -> FloatArray:
        return self.phi() * self.shared

    def rho(self, leaders: IntArray, family: IntArray) -> FloatArray:
        both_right, both, first = self.counts[..., leaders[:, None], leaders]
        second = np.swapaxes(first, -1, -2)
        covariance = (both * both_right - first * second) / np.maximum(both, 1.0) ** 2
        variance = np.sqrt(first * (both - first) * second * (both - second))
        variance = variance / np.maximum(both, 1.0) ** 2
        covariance = covariance * self.shared[leaders[:, None], leaders]
        return mean_rho(covariance, variance, leaders, family)


@dataclass(frozen=True, eq=False)
class InfluenceSums:
    """Sums of products of influence values, (..., m, m)."""

    products: FloatArray

    def phi(self) -> FloatArray:
        sd = np.sqrt(np.maximum(np.diagonal(self.products, axis1=-2, axis2=-1), TINY))
        return _with_ones(self.products / (sd[..., :, None] * sd[..., None, :]))

    def correlation(self) -> FloatArray:
        return self.phi()

    def rho(self, leaders: IntArray, family: IntArray) -> FloatArray:
        covariance = self.products[..., leaders[:, None], leaders]
        sd = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))
        variance = sd[..., :, None] * sd[..., None, :]
        return mean_rho(covariance, variance, leaders, family)


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of all items, and what is left of their counts without some."""

    sums: AnswerSums
    correct: NDArray[np.int8]
    parts: FloatArray | None  # counts of groups of clusters, (3, B, m, m)

    def variance(self) -> FloatArray:
        if self.parts is not None:
            rests = self.sums.counts[:, None] - self.parts
            return jackknife(AnswerSums(rests, self.sums.shared).correlation())
        return phi_variance(self.sums.counts, len(self.correct)) * self.sums.shared**2

    def left_out(self, leaders: IntArray) -> Iterator[tuple[FloatArray, AnswerSums]]:
        pairs = np.ix_(leaders, leaders)
        counts, shared = self.sums.counts[:, None, *pairs], self.sums.shared[pairs]
        if self.parts is not None:
            rests = counts - self.parts[:, :, *pairs]
            yield np.ones(rests.shape[1]), AnswerSums(rests, shared)
            return
        patterns, times = np.unique(self.correct[:, leaders], axis=0, return_counts=True)
        for block in _blocks(len(patterns), leaders.size):
            right, answered = (
                flags.astype(np.float64)
                for flags in (patterns[block] == 1, patterns[block] != MISSING)
            )
            products = [_outer(right, right), _outer(answered, answered), _outer(right, answered)]
            yield times[block].astype(float), AnswerSums(counts - np.stack(products), shared)


@dataclass(frozen=True, eq=False)
class Influence:
    """Influence values of all items."""

    sums: InfluenceSums
    values: FloatArray

    def variance(self) -> FloatArray:
        r"""Sum of squares of :math:`z_j z_k - \phi_{jk} (z_j^2 + z_k^2) / 2` over items."""
        z = self.values / np.sqrt(np.maximum(np.diagonal(self.sums.products), TINY))
        phi, squares, fourth = self.sums.phi(), (z**2).T @ z**2, np.sum(z**4, axis=0)
        mixed = (z**3).T @ z
        own = fourth[:, None] + 2 * squares + fourth
        return np.maximum(squares - phi * (mixed + mixed.T) + phi**2 / 4 * own, 0.0)

    def left_out(self, leaders: IntArray) -> Iterator[tuple[FloatArray, InfluenceSums]]:
        products = self.sums.products[np.ix_(leaders, leaders)]
        for block in _blocks(len(self.values), leaders.size):
            values = self.values[block][:, leaders]
            yield np.ones(len(values)), InfluenceSums(products - _outer(values, values))


def _blocks(count: int, k: int) -> Iterator[slice]:
    step = max(1, _BLOCK // k**2)
    with followed(-(-count // step), "blocks of items") as advance:
        for start in range(0, count, step):
            yield slice(start, start + step)
            advance()


def _outer(first: FloatArray, second: FloatArray) -> FloatArray:
    """Products of all pairs, (b, k, k)."""
    return first[:, :, None] * second[:, None, :]


def _with_ones(correlation: FloatArray) -> FloatArray:
    diagonal = np.arange(correlation.shape[-1])
    correlation[..., diagonal, diagonal] = 1.0
    return correlation


def counts_of(correct: NDArray[np.int8]) -> FloatArray:
    """Both right, both answered, and j right where k answered, (3, m, m)."""
    right = (correct == 1).astype(np.float32)
    both_right = right.T @ right
    has_answer = correct != MISSING
    if has_answer.all():  # the two other products are known
        n, own = np.full_like(both_right, len(correct)), np.diagonal(both_right)[:, None]
        return np.array([both_right, n, np.broadcast_to(own, n.shape)], np.float64)
    answered = has_answer.astype(np.float32)
    return np.array([both_right, answered.T @ answered, right.T @ answered], np.float64)


def _smoothed_phi(
    both_right: FloatArray, both: FloatArray, first: FloatArray, second: FloatArray
) -> FloatArray:
    n, j, k = both + 1.0, first + 0.5, second + 0.5
    return (n * both_right - j * k) / np.sqrt(j * (n - j) * k * (n - k))


def phi_variance(counts: FloatArray, n: int) -> FloatArray:
    """Jackknife variance of phi over n items: one of a kind changes phi as any other does."""
    m = counts.shape[-1]
    variance, step = np.empty((m, m)), max(1, _BLOCK // m)
    for start in range(0, m, step):
        rows = slice(start, start + step)
        both_right, both, first = counts[:, rows]
        second = counts[2, :, rows].T
        phi = _smoothed_phi(both_right, both, first, second)
        mean, square = np.zeros_like(phi), np.zeros_like(phi)
        for j, k in ((1, 1), (1, 0), (0, 1), (0, 0)):
            one, other = (first if j else both - first), (both_right if j else second - both_right)
            times = other if k else one - other
            there = np.where(times > 0, 1.0, 0.0)
            left = _smoothed_phi(
                both_right - there * j * k, both - there, first - there * j, second - there * k
            )
            change = left - phi
            mean += times * change / n
            square += times * change**2
        variance[rows] = (n - 1) / n * np.maximum(square - n * mean**2, 0.0)
    return variance


def jackknife(left_out: FloatArray, times: FloatArray | None = None) -> FloatArray:
    """Variance from values without each part; NaN says nothing, ``times`` parts are alike."""
    weight = np.ones(len(left_out)) if times is None else times
    n, weight = weight.sum(), weight.reshape(-1, *[1] * (left_out.ndim - 1))
    known = np.where(np.isfinite(left_out), weight, 0.0)
    values = np.where(np.isfinite(left_out), left_out, 0.0)
    mean = np.sum(known * values, axis=0) / np.maximum(known.sum(axis=0), 1)
    return (n - 1) / n * np.sum(known * (values - mean) ** 2, axis=0)


def mean_rho(
    covariance: FloatArray, variance: FloatArray, leaders: IntArray, family: IntArray
) -> FloatArray:
    """Root of mean covariance over mean variance of leaders in different families, (..., k, k).

    A ratio of means, because single correlations are biased where mistakes are few.
    """
    weight = leader_weights(leaders, family)
    weights = np.outer(weight, weight)
    weights = np.where(family[leaders][:, None] == family[leaders], 0.0, weights)
    shared, whole = (np.sum(weights * part, axis=(-2, -1)) for part in (covariance, variance))
    squared = np.clip(shared / np.maximum(whole, 1e-300), 1e-4, LARGEST_LOADING**2)
    return np.sqrt(squared)


def leader_weights(leaders: IntArray, family: IntArray) -> FloatArray:
    """Weight of each leader: every family counts once, (k,)."""
    own = family[leaders]
    return 1 / np.sum(own[:, None] == own, axis=1)
