r"""How much the mistakes of classifiers coincide, from what each got for the same items.

Scores of one board share the items, so their errors are correlated as the answers are:

.. math:: \mathrm{corr}(\hat\theta_j, \hat\theta_k) = \phi_{jk}\, n_{jk} / \sqrt{n_j n_k}

with the phi correlation of right and wrong over the :math:`n_{jk}` items that both answered. Three
parts are told apart: what all leaders share, :math:`\lambda_j\lambda_k`, which no leaderboard can
average out; what a family of near-clones shares beyond that; and what is left. The common part is
about the leaders because the state of the art is. Weak classifiers need no rule for what is
feasible: phi respects the margins by itself, and a weak classifier gets its own, smaller loading.

``tests/items/test_response_correlation.py`` holds rho at 1,000 items against all items of real
matrices, and the phi correlations against NumPy's.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import CorrelationPrior
from bayes_sota.core.text import codes_of
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.averages import summed_by_cluster
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.pair_sums import (
    LARGEST_LOADING,
    TINY,
    Answers,
    AnswerSums,
    Influence,
    InfluenceSums,
    counts_of,
    jackknife,
    leader_weights,
)

_LEADERS, _PER_ROOT = 5, 2.0
FAMILY = 0.5  # relatives share more of what the leaders do not share than each has alone
_COPY = 0.9  # this correlation leaves a fifth of the variance to tell two classifiers apart
_ROUNDS = 3  # families, then loadings without relatives, then families again
_LEAST_OWN = 1e-3
_LEAST_RHO = 0.1  # in a divisor
_LEAST_KNOWN = 1e-6  # of an assumed rho
_ITEMS = 2000  # at a time
_OUTSIDE = 0.05  # prior probability that a matrix is unlike those that the prior describes
_KNOWN = 0.02  # a posterior of rho this narrow needs one node
_GROUPS = 20  # of clusters, in the jackknife
_LEAST_TASKS = 10  # that tell near-clones from others
_CLEAR, _SURE = 2.5, 0.95  # standard errors; above it two are near-clones whatever the noise


@dataclass(frozen=True, eq=False)
class ResponseCorrelation:
    r"""Correlation of the errors of scores, in three parts.

    Attributes
    ----------
    leaders : ndarray of int
        The best classifiers, best first: ``max(5, 2 sqrt(m))`` of them, no two of which
        correlate by 0.9 or more.
    rho : float
        Square root of the mean correlation between leaders of different families, each family
        counted once.
    rho_se : float
        Standard error of rho from the items: jackknife, and what one more mistake would change.
    loadings : ndarray, shape (m,)
        lambda_j, correlation of each score's error with what the leaders share.
    residual : ndarray, shape (m, m)
        Correlation of what is left after the common part, shrunk by its own uncertainty towards
        the mean of a family or none, positive definite, diagonal 1.
    family : ndarray of int, shape (m,)
        Family of each classifier; alone in it where it has no near-clone.
    order : ndarray of int, shape (m,)
        Classifiers, worst score first. Answers of equal scores come in an order that follows from
        them, not from that of the columns.
    """

    leaders: IntArray
    rho: float
    rho_se: float
    loadings: FloatArray
    residual: FloatArray
    family: IntArray
    order: IntArray

    def reordered(self, order: IntArray) -> "ResponseCorrelation":
        """The same where classifier j is what was ``order[j]`` elsewhere."""
        rank = np.argsort(order)
        return ResponseCorrelation(
            order[self.leaders],
            self.rho,
            self.rho_se,
            self.loadings[rank],
            self.residual[np.ix_(rank, rank)],
            self.family[rank],
            order[self.order],
        )

    def factor(self, entries: IntArray) -> FloatArray:
        """Cholesky factor of the residual correlation of some classifiers, (U, U)."""
        return np.linalg.cholesky(self.residual[np.ix_(entries, entries)])

    @cached_property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Members of each family of two or more."""
        groups = (np.flatnonzero(self.family == g) for g in np.unique(self.family))
        return tuple(tuple(group.tolist()) for group in groups if group.size > 1)

    @property
    def relative(self) -> FloatArray:
        """Loading of each classifier relative to rho, (m,)."""
        return self.loadings / max(self.rho, TINY)

    @cached_property
    def weights(self) -> FloatArray:
        """What each classifier adds to the field: 1, or ``1 / sum_k residual_jk`` in a family.

        Identical classifiers count as one, relatives as something between one and all.
        """
        same = self.family[:, None] == self.family
        return 1 / np.sum(np.where(same, np.maximum(self.residual, 0), 0), axis=1)


@dataclass(frozen=True, eq=False)
class LearntCorrelation(CorrelationPrior):
    """Posterior of rho on a grid, in the place of a prior.

    Attributes
    ----------
    rho : ndarray, shape (K,)
        Grid.
    cdf : ndarray, shape (K,)
        Posterior distribution function.
    """

    rho: FloatArray
    cdf: FloatArray

    def quantile(self, q: object) -> FloatArray:
        """Posterior quantiles."""
        return np.interp(np.asarray(q, np.float64), self.cdf, self.rho)

    def log_density(self, rho: ArrayLike) -> FloatArray:
        """Slope of the distribution function, even between two points of the grid."""
        cell = np.clip(np.searchsorted(self.rho, rho, side="right") - 1, 0, self.rho.size - 2)
        slope = np.diff(self.cdf) / np.diff(self.rho)
        return np.log(np.maximum(slope[cell], TINY))

    @property
    def sd(self) -> float:
        """Posterior standard deviation."""
        return float(np.std(self.quantile((np.arange(200) + 0.5) / 200)))

    @property
    def is_fixed(self) -> bool:
        """Whether one value stands for the whole posterior: its square adds nothing to a width."""
        return self.sd < _KNOWN


def learn_correlation(
    correlation: ResponseCorrelation, prior: CorrelationPrior
) -> CorrelationPrior:
    """Posterior of rho from the answers; a prior that fixes rho is kept.

    The estimate is normal about rho with its jackknife error. One part in twenty of the prior is
    spread evenly over (0, 1), so that answers of many items overrule a prior that is far off.

    Examples
    --------
    >>> from bayes_sota.core.priors import BetaCorrelation
    >>> from bayes_sota.data.outcomes import Outcomes
    >>> from bayes_sota.items.correlation import response_correlation
    >>> answers = Outcomes(np.random.default_rng(0).random((5000, 6)) < 0.9)
    >>> posterior = learn_correlation(response_correlation(answers), BetaCorrelation(16, 4))
    >>> bool(posterior.quantile(0.5) < 0.2)
    True
    """
    if prior.is_fixed:
        return prior
    edges = np.linspace(0.0, LARGEST_LOADING, 2001)
    levels = np.linspace(0.0, 1.0, 801)[1:-1]
    known = np.interp(edges, prior.quantile(levels), levels, left=0.0, right=1.0)
    mass = (1 - _OUTSIDE) * np.diff(known) + _OUTSIDE / (edges.size - 1)
    middle = (edges[1:] + edges[:-1]) / 2
    z = (middle - correlation.rho) / max(correlation.rho_se, 1e-3)
    posterior = mass * np.exp(-0.5 * (z**2 - np.min(z**2)))
    cdf = np.concatenate([[0.0], np.cumsum(posterior)])
    return LearntCorrelation(edges, cdf / cdf[-1])


def structure(
    scores: FloatArray,
    items: "Answers | Influence",
    both: FloatArray,
    rarer: FloatArray,
    family_cut: float = FAMILY,
) -> ResponseCorrelation:
    """Correlation of scores in its three parts, with errors from what single items change."""
    whole = items.sums
    score = _symmetric(whole.correlation())
    leaders = _leaders(scores, score)
    family = _families(score, leaders, family_cut)
    loadings = _loadings(score, leaders, family)
    residual = _shrunk_residual(score, loadings, items.variance(), both, leaders, family)
    rho = float(whole.rho(leaders, family))
    variance, spread = _leader_variances(items, score[np.ix_(leaders, leaders)], leaders, family)
    se = float(np.sqrt(variance + _one_more_mistake(rarer[leaders], rho)))
    noise = _loading_noise(spread, rarer, leaders, rho)
    loadings = _shrunk_loadings(loadings, noise, leaders, family, rho)
    return ResponseCorrelation(
        leaders,
        rho,
        se,
        loadings,
        residual,
        family,
        np.argsort(scores, kind="stable"),
    )


def _leader_variances(
    items: "Answers | Influence", score: FloatArray, leaders: IntArray, family: IntArray
) -> tuple[float, FloatArray]:
    """Jackknife variances of rho, and of the loadings of the leaders, (k,)."""
    every, own = np.arange(leaders.size), family[leaders]
    times, rhos, loadings = [], [], []
    for count, rest in items.left_out(leaders):
        left = rest.correlation()
        times.append(count)
        rhos.append(rest.rho(every, own))
        loadings.append(_loadings(np.where(np.isfinite(left), left, score), every, own))
    counts = np.concatenate(times)
    variance = jackknife(np.concatenate(rhos), counts)
    return float(variance), jackknife(np.concatenate(loadings), counts)


def _leaders(scores: FloatArray, score: FloatArray) -> IntArray:
    """The best classifiers, of copies only the best: a field of copies has one leader."""
    count = max(_LEADERS, int(np.ceil(_PER_ROOT * np.sqrt(scores.size))))
    order = np.argsort(-scores, kind="stable")
    leaders = [int(order[0])]
    for j in order[1:]:
        if len(leaders) < count and score[j, leaders].max() < _COPY:
            leaders.append(int(j))
    return np.array(leaders) if len(leaders) > 1 else order[:2]


def _symmetric(phi: FloatArray) -> FloatArray:
    """Pairs that share too few items get what is typical."""
    off = ~np.eye(len(phi), dtype=bool)
    typical = np.nanmedian(phi[off]) if np.isfinite(phi[off]).any() else 0.0
    return np.where(np.isfinite(phi), phi, typical)


def _families(score: FloatArray, leaders: IntArray, cut: float) -> IntArray:
    """Average linkage of the residual correlation, cut at one half; no families if infinite.

    The first loadings come from the lower quartile of correlations, which relatives do not reach;
    the next ones leave relatives out.
    """
    family = np.arange(len(score))
    if len(score) < 3 or np.isinf(cut):
        return family
    off = np.where(np.eye(len(score), dtype=bool), np.nan, score)
    common = max(float(np.nanquantile(off[np.ix_(leaders, leaders)], 0.25)), 1e-4)
    loadings = np.nanquantile(off[:, leaders], 0.25, axis=1) / np.sqrt(common)
    for _ in range(_ROUNDS):
        linked = _linked(score, np.clip(loadings, 0, LARGEST_LOADING), cut)
        if np.unique(linked[leaders]).size == 1 or np.array_equal(linked, family):
            break
        family = linked
        loadings = _loadings(score, leaders, family)
    return family


def _linked(score: FloatArray, loadings: FloatArray, cut: float) -> IntArray:
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    distance = 1 - _residual(score, loadings)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(np.maximum(distance, 0), checks=False), "average")
    return np.asarray(fcluster(tree, 1 - cut, "distance"), np.int64) - 1


def _residual(score: FloatArray, loadings: FloatArray) -> FloatArray:
    own = np.sqrt(1 - loadings**2)
    residual = (score - np.outer(loadings, loadings)) / np.outer(own, own)
    np.fill_diagonal(residual, 1.0)
    return np.clip(residual, -1, 1)


def _loadings(score: FloatArray, leaders: IntArray, family: IntArray) -> FloatArray:
    """Mean correlation with the leaders outside the own family, over the root of their mean.

    ``score`` is (..., m, m) for loadings (..., m).
    """
    weights = np.where(family[:, None] == family[leaders], 0.0, leader_weights(leaders, family))
    mean = np.sum(weights * score[..., leaders], axis=-1) / weights.sum(axis=1)
    of_leaders = leader_weights(leaders, family)
    common = np.sum(mean[..., leaders] * of_leaders, axis=-1, keepdims=True) / of_leaders.sum()
    return np.clip(mean / np.sqrt(np.maximum(common, 1e-4)), 0.0, LARGEST_LOADING)


def _shrunk_loadings(
    loadings: FloatArray,
    noise: FloatArray,
    leaders: IntArray,
    family: IntArray,
    rho: float,
) -> FloatArray:
    """Loadings whose mean over leaders is rho, drawn towards it by their noise, a variance each.

    Leaders differ as much as their noise leaves over; another classifier can share less, as weak
    ones do, if its own distance says so, and no more than a leader. A perfect leader, whose
    mistakes coincide with nobody's because it has none, is as the others.
    """
    weights = leader_weights(leaders, family) / noise[leaders]
    level = max(float(np.average(loadings[leaders], weights=weights)), 1e-2)
    apart = loadings * rho / level - rho
    noise = noise * (rho / level) ** 2
    true = max(0.0, float(np.average((apart**2 - noise)[leaders], weights=weights)))
    between = np.maximum(apart**2 - noise, true)
    between[leaders] = true
    drawn = np.clip(rho + between / (between + noise) * apart, 0.0, LARGEST_LOADING)
    return np.minimum(drawn, drawn[leaders].max())


def _loading_noise(
    variance: FloatArray, mistakes: FloatArray | IntArray, leaders: IntArray, rho: float
) -> FloatArray:
    """Variance of each loading from the items, (m,): jackknife, and one more mistake of its own.

    Others than leaders have the typical leader's, in proportion to their mistakes.
    """
    number = np.asarray(mistakes, np.float64) + 1
    jump = np.hypot(1 - rho**2, rho**2) / (number * max(rho, _LEAST_RHO))
    noise = float(np.median(variance * number[leaders])) / number + jump**2
    noise[leaders] = variance + jump[leaders] ** 2
    return np.asarray(noise)


def _one_more_mistake(mistakes: FloatArray | IntArray, rho: float) -> float:
    """Variance of rho from what one more mistake would change.

    With k mistakes each, one more that all leaders share moves the mean correlation c by
    ``(1 - c) / (k + 1)``, one more of each alone by ``c / (k + 1)``; no resampling of the items
    at hand shows the hard item that they happen not to hold.
    """
    jump = np.hypot(1 - rho**2, rho**2) / (float(np.median(mistakes)) + 1)
    return float((jump / (2 * max(rho, _LEAST_RHO))) ** 2)


def _shrunk_residual(
    score: FloatArray,
    loadings: FloatArray,
    variance: FloatArray,
    both: FloatArray,
    leaders: IntArray,
    family: IntArray,
) -> FloatArray:
    """Residual correlation, shrunk by its own uncertainty, made positive definite.

    Relatives shrink towards the mean of their family, others towards none, each by the share of
    its jackknife variance in the variance over pairs of leaders.
    """
    own = 1 - loadings**2
    residual = _residual(score, loadings)
    usual = _family_means(residual, family)
    variance = np.maximum(variance / np.outer(own, own), 1 / np.maximum(both, 1.0) ** 2)
    pairs = np.ix_(leaders, leaders)
    off = ~np.eye(leaders.size, dtype=bool)
    true = max(0.0, float(np.mean(((residual - usual)[pairs] ** 2 - variance[pairs])[off])))
    shrunk = usual + (residual - usual) * true / (true + variance)
    np.fill_diagonal(shrunk, 1.0)
    return _positive(shrunk)


def _family_means(residual: FloatArray, family: IntArray) -> FloatArray:
    """Mean residual correlation of each family for its pairs, 0 for other pairs, (m, m)."""
    means = np.zeros_like(residual)
    for g in np.unique(family):
        members = np.flatnonzero(family == g)
        if members.size > 1:
            block = residual[np.ix_(members, members)]
            count = members.size * (members.size - 1)
            means[np.ix_(members, members)] = (block.sum() - members.size) / count
    return means


def _positive(correlation: FloatArray) -> FloatArray:
    """Nearest by its eigenvalues, with the diagonal back at 1."""
    with suppress(np.linalg.LinAlgError):  # costs a tenth of the eigenvalues
        np.linalg.cholesky(correlation - _LEAST_OWN * np.eye(len(correlation)))
        return correlation
    values, vectors = np.linalg.eigh((correlation + correlation.T) / 2)
    raised = (vectors * np.maximum(values, _LEAST_OWN)) @ vectors.T
    scale = np.sqrt(np.diagonal(raised))
    return raised / np.outer(scale, scale)


def response_correlation(responses: Outcomes) -> ResponseCorrelation:
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
    responses : Outcomes
        Missing answers are taken to be missing at random: whether an answer is there says nothing
        about whether it would be right.

    Returns
    -------
    ResponseCorrelation

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hard = rng.standard_normal((2000, 1))
    >>> answers = Outcomes(hard + rng.standard_normal((2000, 8)) > -1)
    >>> correlation = response_correlation(answers)
    >>> bool(abs(correlation.rho - 0.55) < 0.05), correlation.families
    (True, ())
    """
    if not responses.is_plain:
        raise InputError("this needs single answers without tasks: leave tasks and runs out")
    order = _order_of_answers(responses)
    correct, parts = np.ascontiguousarray(responses.correct[:, order]), None
    if responses.clusters is not None:
        names, group = codes_of(responses.clusters)
        count = min(_GROUPS, len(names))
        groups = [counts_of(correct[group % count == g]) for g in range(count)]
        parts = np.stack(groups, axis=1)
    whole = Answers(AnswerSums.of(correct), correct, parts)
    right = np.sum(responses.correct == 1, axis=0)
    rarer = np.minimum(responses.totals - right, right)
    both = whole.sums.counts[1]
    return structure(responses.scores[order], whole, both, rarer[order]).reordered(order)


def _order_of_answers(responses: Outcomes) -> IntArray:
    """Classifiers by score, equal ones by how many others got right what they got right, or name.

    These sums, and those of squares and cubes, are whole numbers below 2^53: exact in any order.
    """
    sums = np.zeros((3, responses.n_classifiers))
    for start in range(0, responses.n_items, _ITEMS):
        right = (responses.correct[start : start + _ITEMS] == 1).astype(np.float64)
        sums += right.sum(axis=1) ** np.arange(1, 4)[:, None] @ right
    return np.lexsort((codes_of(responses.names)[1], *sums, responses.totals, responses.scores))


def influence_correlation(
    influence: FloatArray,
    scores: FloatArray,
    clusters: Sequence[str] | None = None,
    *,
    of_tasks: bool = False,
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
    of_tasks : bool
        Whether the items are means of tasks: of few tasks correlations come near 1 by chance, and
        no classifiers are taken for near-clones.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.standard_normal((2000, 1))
    >>> correlation = influence_correlation(shared + rng.standard_normal((2000, 8)), np.arange(8.0))
    >>> bool(abs(correlation.rho - 0.7) < 0.05), correlation.families
    (True, ())
    """
    influence = summed_by_cluster(influence, clusters)
    n, m = influence.shape
    whole = Influence(InfluenceSums(influence.T @ influence), influence)
    # items that carry the variance: as many as there are mistakes where answers are right or wrong
    carrying = np.sum(influence**2, axis=0) ** 2 / np.maximum(np.sum(influence**4, axis=0), TINY)
    if not carrying.any():
        raise InputError("every classifier has the same number for every item: nothing to compare")
    both = np.full((m, m), float(n))
    cut = np.inf
    if n >= _LEAST_TASKS or not of_tasks:
        cut = _family_cut(whole.sums.phi(), float(np.median(carrying)))
    return structure(scores, whole, both, carrying, cut)


def no_correlation(scores: FloatArray) -> ResponseCorrelation:
    """Scores whose errors are each classifier's own, as those of new runs on the same items.

    Examples
    --------
    >>> no_correlation(np.array([0.8, 0.9])).order.tolist()
    [0, 1]
    """
    m = scores.size
    alone = np.eye(m)
    return ResponseCorrelation(
        _leaders(scores, alone),
        0.0,
        0.0,
        np.zeros(m),
        alone,
        np.arange(m),
        np.argsort(scores, kind="stable"),
    )


@dataclass(frozen=True, eq=False)
class AssumedCorrelation:
    """Correlation of errors where only a prior of rho is known.

    Attributes
    ----------
    rho : float
        Typical value.
    loadings, weights : ndarray, shape (m,)
        Rho, and 1, for each classifier.
    order : ndarray of int
        Classifiers, worst first.
    """

    rho: float
    loadings: FloatArray
    weights: FloatArray
    order: IntArray

    @classmethod
    def of(cls, values: FloatArray, prior: CorrelationPrior) -> "AssumedCorrelation":
        """Of classifiers with these scores, (m,)."""
        rho = max(float(prior.quantile(0.5)), _LEAST_KNOWN)
        order = np.argsort(values, kind="stable")
        every = np.ones(values.size)
        return cls(rho, rho * every, every, order)

    @property
    def relative(self) -> FloatArray:
        """Loadings in units of rho: the same for all, (m,)."""
        return self.weights

    def factor(self, entries: IntArray) -> FloatArray:
        """What makes normals of what is left of the errors: they are independent, (U, U)."""
        return np.eye(entries.size)


type Loadings = ResponseCorrelation | AssumedCorrelation
"""How far the errors of scores are shared, as answers tell it or as it is assumed."""


def _family_cut(correlation: FloatArray, carrying: float) -> float:
    """Residual correlation from which two classifiers are relatives: what chance does not reach."""
    typical = np.median(correlation[~np.eye(len(correlation), dtype=bool)])
    own = 1 - float(np.clip(typical, 0.0, 0.98))
    return float(np.clip(_CLEAR / (np.sqrt(max(carrying, 1.0)) * own), FAMILY, _SURE))
