r"""How much the mistakes of classifiers coincide, from their answers to the same items.

Scores of one board share the items, so their errors are correlated as the answers are:

.. math:: \mathrm{corr}(\hat\theta_j, \hat\theta_k) = \phi_{jk}\, n_{jk} / \sqrt{n_j n_k}

with the phi correlation of right and wrong over the :math:`n_{jk}` items that both answered.
Three parts are told apart: what all leaders share, :math:`\lambda_j\lambda_k`, which no leaderboard
can average out; what a family of near-clones shares beyond that; and what is left. The common part
is about the leaders because the state of the art is. Weak classifiers need no rule for what is
feasible: phi respects the margins by itself, and a weak classifier gets its own, smaller loading.

``tests/items/test_response_correlation.py`` holds rho at 1,000 items against all items of real
matrices, and the phi correlations against NumPy's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.labels import summed_by_cluster
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.responses import MISSING, Responses
from bayes_sota.items.correlation_structure import (
    FAMILY,
    ResponseCorrelation,
    jackknife,
    mean_rho,
    structure,
)

__all__ = ["counts_of", "influence_correlation", "phi_variance", "response_correlation"]

_GROUPS = 20  # of clusters, in the jackknife
_BLOCK = 2_000_000  # correlations at a time
_LEAST_OVERLAP = 10
_CLEAR, _SURE = 2.5, 0.95  # standard errors; above it two are near-clones whatever the noise
_TINY = 1e-300


def response_correlation(responses: Responses) -> ResponseCorrelation:
    r"""Estimate the correlation structure of the scores of one response matrix.

    ``rho^2`` is the mean of :math:`\phi_{jk}` over pairs of leaders, and the loadings follow from
    it by the centroid method, :math:`\lambda_j = \overline{\phi_{jk}} / \rho` over the leaders
    ``k`` outside j's family. Families come from average linkage of the residual correlation,

    .. math:: r_{jk} = \frac{\phi_{jk} - \lambda_j\lambda_k}
              {\sqrt{(1-\lambda_j^2)(1-\lambda_k^2)}} \ge \frac12

    One half, because from there on relatives share more of what is not common than each has for
    itself. Each :math:`r_{jk}` is shrunk towards the mean of its family, or towards 0 where there
    is none, by the share of its jackknife variance in the variance over pairs of leaders. The
    jackknife leaves out every item once, so that their order makes no difference; where items have
    clusters one of at most twenty groups of them.

    Parameters
    ----------
    responses : Responses
        Missing answers are taken to be missing at random: whether an answer is there says nothing
        about whether it would be right.

    Returns
    -------
    ResponseCorrelation

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hard = rng.standard_normal((2000, 1))
    >>> answers = Responses(hard + rng.standard_normal((2000, 8)) > -1)
    >>> found = response_correlation(answers)
    >>> bool(abs(found.rho - 0.55) < 0.05), found.families
    (True, ())
    """
    groups = _cluster_groups(responses)
    parts = None if groups is None else np.stack([counts_of(g) for g in groups], axis=1)
    total = counts_of(responses.correct)
    answered = np.maximum(np.diagonal(total[1]), 1.0)
    overlap = total[1] / np.sqrt(np.outer(answered, answered))
    np.fill_diagonal(overlap, 1.0)
    whole = _Answers(_AnswerSums(total, overlap), responses.correct, parts)
    wrong = responses.totals - responses.counts
    return structure(responses.scores, whole, total[1], np.minimum(wrong, responses.counts))


def influence_correlation(
    influence: FloatArray, scores: FloatArray, clusters: Sequence[str] | None = None
) -> ResponseCorrelation:
    r"""The same for any score that is nearly a mean over items, from its influence values.

    .. math:: \hat\theta_j - \theta_j \approx \frac1n \sum_i u_{ij}, \quad
              \mathrm{Cov}(\hat\theta_j, \hat\theta_k) = \frac1{n^2} \sum_i u_{ij} u_{ik}

    Parameters
    ----------
    influence : ndarray, shape (n, m)
        Influence of each item on each score.
    scores : ndarray, shape (m,)
        The scores, larger is better: they say who the leaders are.
    clusters : sequence of str, optional
        What each item belongs to; items of one cluster stay together.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.standard_normal((2000, 1))
    >>> found = influence_correlation(shared + rng.standard_normal((2000, 8)), np.arange(8.0))
    >>> bool(abs(found.rho - 0.7) < 0.05), found.families
    (True, ())
    """
    influence = summed_by_cluster(influence, clusters)
    n, m = influence.shape
    whole = _Influence(_InfluenceSums(influence.T @ influence), influence)
    # items that carry the variance: as many as there are mistakes where answers are right or wrong
    carrying = np.sum(influence**2, axis=0) ** 2 / np.maximum(np.sum(influence**4, axis=0), _TINY)
    if not carrying.any():
        raise InputError("every classifier has the same number for every item: nothing to compare")
    both = np.full((m, m), float(n))
    cut = _family_cut(whole.sums.phi(), float(np.median(carrying)))
    return structure(scores, whole, both, carrying, cut)


def _family_cut(correlation: FloatArray, carrying: float) -> float:
    """Residual correlation from which two classifiers are relatives: what chance does not reach."""
    off = ~np.eye(len(correlation), dtype=bool)
    own = 1 - float(np.clip(np.median(correlation[off]), 0.0, 0.98))
    return float(np.clip(_CLEAR / (np.sqrt(max(carrying, 1.0)) * own), FAMILY, _SURE))


@dataclass(frozen=True, eq=False)
class _AnswerSums:
    """Counts of right answers, (3, ..., m, m)."""

    counts: FloatArray
    shared: FloatArray

    def phi(self) -> FloatArray:
        return _phi(self.counts)

    def overlap(self) -> FloatArray:
        return self.shared

    def correlation(self) -> FloatArray:
        return np.asarray(_phi(self.counts) * self.shared)

    def rho(self, leaders: IntArray, family: IntArray) -> FloatArray:
        both_right, both, first = self.counts[..., leaders[:, None], leaders]
        second = np.swapaxes(first, -1, -2)
        covariance = (both * both_right - first * second) / np.maximum(both, 1.0) ** 2
        variance = np.sqrt(first * (both - first) * second * (both - second))
        variance = variance / np.maximum(both, 1.0) ** 2
        covariance = covariance * self.shared[leaders[:, None], leaders]
        return mean_rho(covariance, variance, leaders, family)


@dataclass(frozen=True, eq=False)
class _InfluenceSums:
    """Sums of products of influence values, (..., m, m)."""

    products: FloatArray

    def phi(self) -> FloatArray:
        sd = np.sqrt(np.maximum(np.diagonal(self.products, axis1=-2, axis2=-1), _TINY))
        return _with_ones(self.products / (sd[..., :, None] * sd[..., None, :]))

    def overlap(self) -> FloatArray:
        return np.ones_like(self.products)

    def correlation(self) -> FloatArray:
        return self.phi()

    def rho(self, leaders: IntArray, family: IntArray) -> FloatArray:
        covariance = self.products[..., leaders[:, None], leaders]
        sd = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))
        variance = sd[..., :, None] * sd[..., None, :]
        return mean_rho(covariance, variance, leaders, family)


@dataclass(frozen=True, eq=False)
class _Answers:
    """Answers of all items, and what is left of their counts without some."""

    sums: _AnswerSums
    correct: NDArray[np.int8]
    parts: FloatArray | None  # counts of groups of clusters, (3, B, m, m)

    def variance(self) -> FloatArray:
        if self.parts is not None:
            rests = self.sums.counts[:, None] - self.parts
            return jackknife(_AnswerSums(rests, self.sums.shared).correlation())
        return phi_variance(self.sums.counts, len(self.correct)) * self.sums.shared**2

    def left_out(self, leaders: IntArray) -> Iterator[tuple[FloatArray, _AnswerSums]]:
        pairs = np.ix_(leaders, leaders)
        counts, shared = self.sums.counts[:, None, *pairs], self.sums.shared[pairs]
        if self.parts is not None:
            rests = counts - self.parts[:, :, *pairs]
            yield np.ones(rests.shape[1]), _AnswerSums(rests, shared)
            return
        patterns, times = np.unique(self.correct[:, leaders], axis=0, return_counts=True)
        for block in _blocks(len(patterns), leaders.size):
            right, given = _right_and_given(patterns[block])
            products = [_outer(right, right), _outer(given, given), _outer(right, given)]
            yield times[block].astype(float), _AnswerSums(counts - np.stack(products), shared)


@dataclass(frozen=True, eq=False)
class _Influence:
    """Influence values of all items."""

    sums: _InfluenceSums
    values: FloatArray

    def variance(self) -> FloatArray:
        r"""Sum of squares of :math:`z_j z_k - \phi_{jk} (z_j^2 + z_k^2) / 2` over items."""
        z = self.values / np.sqrt(np.maximum(np.diagonal(self.sums.products), _TINY))
        phi, squares, fourth = self.sums.phi(), (z**2).T @ z**2, np.sum(z**4, axis=0)
        mixed = (z**3).T @ z
        own = fourth[:, None] + 2 * squares + fourth
        return np.maximum(squares - phi * (mixed + mixed.T) + phi**2 / 4 * own, 0.0)

    def left_out(self, leaders: IntArray) -> Iterator[tuple[FloatArray, _InfluenceSums]]:
        products = self.sums.products[np.ix_(leaders, leaders)]
        for block in _blocks(len(self.values), leaders.size):
            values = self.values[block][:, leaders]
            yield np.ones(len(values)), _InfluenceSums(products - _outer(values, values))


def _blocks(count: int, k: int) -> Iterator[slice]:
    step = max(1, _BLOCK // k**2)
    return (slice(start, start + step) for start in range(0, count, step))


def _outer(first: FloatArray, second: FloatArray) -> FloatArray:
    """Products of all pairs, (b, k, k)."""
    return np.asarray(first[:, :, None] * second[:, None, :])


def _with_ones(correlation: FloatArray) -> FloatArray:
    diagonal = np.arange(correlation.shape[-1])
    correlation[..., diagonal, diagonal] = 1.0
    return correlation


def _right_and_given(correct: NDArray[np.int8]) -> tuple[FloatArray, FloatArray]:
    return (correct == 1).astype(np.float64), (correct != MISSING).astype(np.float64)


def counts_of(correct: NDArray[np.int8]) -> FloatArray:
    """Both right, both answered, and j right where k answered, (3, m, m)."""
    right = (correct == 1).astype(np.float32)
    both_right = right.T @ right
    given = correct != MISSING
    if given.all():  # the two other products are known
        n, own = np.full_like(both_right, len(correct)), np.diagonal(both_right)[:, None]
        return np.array([both_right, n, np.broadcast_to(own, n.shape)], np.float64)
    answered = given.astype(np.float32)
    return np.array([both_right, answered.T @ answered, right.T @ answered], np.float64)


def _cluster_groups(responses: Responses) -> list[NDArray[np.int8]] | None:
    """Answers in at most twenty groups of whole clusters, None without clusters."""
    if responses.clusters is None:
        return None
    names, group = np.unique(np.array(responses.clusters), return_inverse=True)
    count = min(_GROUPS, names.size)
    return [responses.correct[group % count == g] for g in range(count)]


def _phi(counts: FloatArray) -> FloatArray:
    """Phi correlations with half an item more of each disagreement; NaN where few items overlap."""
    both_right, both, first = counts
    phi = _smoothed_phi(both_right, both, first, np.swapaxes(first, -1, -2))
    enough = both >= min(_LEAST_OVERLAP, 0.5 * both.max())
    return _with_ones(np.where(enough, phi, np.nan))


def _smoothed_phi(
    both_right: FloatArray, both: FloatArray, first: FloatArray, second: FloatArray
) -> FloatArray:
    n, j, k = both + 1.0, first + 0.5, second + 0.5
    return np.asarray((n * both_right - j * k) / np.sqrt(j * (n - j) * k * (n - k)))


def phi_variance(counts: FloatArray, n: int) -> FloatArray:
    """Jackknife variance of phi over n items: one of a kind changes phi as any other does."""
    both_right, both, first = counts
    second = first.T
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
    return np.asarray((n - 1) / n * np.maximum(square - n * mean**2, 0.0))
