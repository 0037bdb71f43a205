r"""How much the mistakes of classifiers coincide, from their answers to the same items.

Scores of one board share the items, so their errors are correlated as the answers are:

.. math:: \mathrm{corr}(\hat\theta_j, \hat\theta_k) = \phi_{jk}\, n_{jk} / \sqrt{n_j n_k}

with the phi correlation of right and wrong over the :math:`n_{jk}` items that both answered.
Three parts are told apart: what all leaders share, :math:`\lambda_j\lambda_k`, which no leaderboard
can average out; what a family of near-clones shares beyond that; and what is left. The common part
is about the leaders because the state of the art is. Weak classifiers need no rule for what is
feasible: phi respects the margins by itself, and a weak classifier gets its own, smaller loading.

``tests/exact/test_response_correlation.py`` holds rho at 1,000 items against all items of real
matrices, and the phi correlations against NumPy's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_sota.data.labels import summed_by_cluster
from bayes_sota.data.responses import MISSING, Responses
from bayes_sota.errors import InputError
from bayes_sota.exact.correlation_structure import FAMILY, ResponseCorrelation, mean_rho, structure
from bayes_sota.skill_distributions import FloatArray

__all__ = ["influence_correlation", "response_correlation"]

IntArray = NDArray[np.int64]
_GROUPS = 20  # of the jackknife
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
    is none, by the share of its jackknife variance in the variance over pairs of leaders.

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
    counts = _grouped_counts(responses)
    total = counts.sum(axis=0)
    answered = np.maximum(np.diagonal(total[1]), 1.0)
    overlap = total[1] / np.sqrt(np.outer(answered, answered))
    np.fill_diagonal(overlap, 1.0)
    whole = _AnswerSums(total, overlap)
    rests = [_AnswerSums(total - group, overlap) for group in counts]
    wrong = responses.totals - responses.counts
    return structure(
        responses.scores, whole, rests, total[1], np.minimum(wrong, responses.counts)
    )  # fmt: skip


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
    groups = np.arange(n) % min(_GROUPS, n)
    parts = [influence[groups == g].T @ influence[groups == g] for g in range(groups.max() + 1)]
    total = np.sum(parts, axis=0)
    rests = [_InfluenceSums(total - part) for part in parts]
    # items that carry the variance: as many as there are mistakes where answers are right or wrong
    carrying = np.sum(influence**2, axis=0) ** 2 / np.maximum(np.sum(influence**4, axis=0), _TINY)
    if not carrying.any():
        raise InputError("every classifier has the same number for every item: nothing to compare")
    both = np.full((m, m), float(n))
    whole = _InfluenceSums(total)
    cut = _family_cut(whole.phi(), float(np.median(carrying)))
    return structure(scores, whole, rests, both, carrying, cut)


def _family_cut(correlation: FloatArray, carrying: float) -> float:
    """Residual correlation from which two classifiers are relatives: what chance does not reach."""
    off = ~np.eye(len(correlation), dtype=bool)
    own = 1 - float(np.clip(np.median(correlation[off]), 0.0, 0.98))
    return float(np.clip(_CLEAR / (np.sqrt(max(carrying, 1.0)) * own), FAMILY, _SURE))


@dataclass(frozen=True, eq=False)
class _AnswerSums:
    """Counts of right answers."""

    counts: FloatArray
    shared: FloatArray

    def phi(self) -> FloatArray:
        return _phi(self.counts)

    def overlap(self) -> FloatArray:
        return self.shared

    def correlation(self) -> FloatArray:
        return np.asarray(_phi(self.counts) * self.shared)

    def rho(self, leaders: IntArray, family: IntArray) -> float:
        both_right, both, first = self.counts[:, leaders[:, None], leaders]
        covariance = (both * both_right - first * first.T) / np.maximum(both, 1.0) ** 2
        variance = np.sqrt(first * (both - first) * first.T * (both - first.T))
        variance = variance / np.maximum(both, 1.0) ** 2
        covariance = covariance * self.shared[leaders[:, None], leaders]
        return mean_rho(covariance, variance, leaders, family)


@dataclass(frozen=True, eq=False)
class _InfluenceSums:
    """Sums of products of influence values."""

    products: FloatArray

    def phi(self) -> FloatArray:
        sd = np.sqrt(np.maximum(np.diagonal(self.products), _TINY))
        phi = np.asarray(self.products / np.outer(sd, sd))
        np.fill_diagonal(phi, 1.0)
        return phi

    def overlap(self) -> FloatArray:
        return np.ones_like(self.products)

    def correlation(self) -> FloatArray:
        return self.phi()

    def rho(self, leaders: IntArray, family: IntArray) -> float:
        covariance = self.products[np.ix_(leaders, leaders)]
        variance = np.sqrt(np.outer(np.diagonal(covariance), np.diagonal(covariance)))
        return mean_rho(covariance, variance, leaders, family)


def _grouped_counts(responses: Responses) -> FloatArray:
    """Per jackknife group: both right, both answered, and j right where k answered, (B, 3, m, m).

    Items of one cluster stay together.
    """
    n = responses.n_items
    group = np.arange(n)
    if responses.clusters is not None:
        group = np.unique(np.array(responses.clusters), return_inverse=True)[1]
    group = group % min(_GROUPS, int(group.max()) + 1)
    counts = []
    for g in range(int(group.max()) + 1):
        answers = responses.correct[group == g]
        right = (answers == 1).astype(np.float32)
        given = (answers != MISSING).astype(np.float32)
        counts.append([right.T @ right, given.T @ given, right.T @ given])
    return np.array(counts, np.float64)


def _phi(counts: FloatArray) -> FloatArray:
    """Phi correlations with half an item more of each disagreement; NaN where few items overlap."""
    both_right, both, first = counts
    n, j, k = both + 1.0, first + 0.5, first.T + 0.5
    phi = (n * both_right - j * k) / np.sqrt(j * (n - j) * k * (n - k))
    phi = np.where(both >= min(_LEAST_OVERLAP, 0.5 * both.max()), phi, np.nan)
    np.fill_diagonal(phi, 1.0)
    return np.asarray(phi)
