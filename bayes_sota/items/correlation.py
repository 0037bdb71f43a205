r"""Correlation of the errors of scores, from answers to the same items.

With :math:`u_{ij}` the influence of item i on score j, of squares that sum to 1 over the items,

.. math:: \mathrm{corr}(\hat\theta_j, \hat\theta_k) = \phi_{jk} = \sum_i u_{ij} u_{ik}

For right and wrong answers this is their phi correlation, times :math:`n_{jk} / \sqrt{n_j n_k}` if
only :math:`n_{jk}` items were answered by both. It has three parts: that of all leaders,
:math:`\lambda_j\lambda_k`; that of a family of near-clones beyond it; and the rest. Standard errors
are those of the infinitesimal jackknife (Efron and Stein 1981; Jaeckel 1972): item i moves
:math:`\phi_{jk}` by
:math:`u_{ij} u_{ik} - \phi_{jk} (u_{ij}^2 + u_{ik}^2) / 2`.

``tests/items/test_response_correlation.py`` compares rho at 1,000 items with rho of all items, and
errors with the spread over new items.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import CorrelationPrior
from bayes_sota.core.text import codes_of
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.data.printed_scores import leaders as best_few

LARGEST_LOADING = 0.99
FAMILY = 0.5  # relatives share more of the rest than each has alone
_TINY = 1e-300
_COPY = 0.9  # of two copies
_ROUNDS = 3
_HALF = 0.5  # an answer more of each alone: two that always agree may differ
_LEAST_OWN = 1e-3
_LEAST_RHO = 0.1
_LEAST_KNOWN = 1e-6
_OUTSIDE = 0.05  # prior probability that a matrix is unlike those that the prior describes
_KNOWN = 0.02  # a posterior of rho this narrow needs one node
_LEAST_TASKS = 10  # that tell near-clones from others
_CLEAR, _SURE = 2.5, 0.95  # standard errors; near-clones whatever the noise


@dataclass(frozen=True, eq=False)
class ResponseCorrelation:
    """Correlation of the errors of scores, in three parts.

    ``leaders`` are the best ``max(5, 2 sqrt(m))`` classifiers, best first, without copies;
    ``rho`` is the root of their mean correlation between families. ``loadings``, ``family`` and
    ``order`` (worst first) are (m,); ``residual``, if any, is (m, m).
    """

    leaders: IntArray
    rho: float
    rho_se: float
    loadings: FloatArray
    residual: FloatArray | None
    family: IntArray
    order: IntArray

    def factor(self, entries: IntArray) -> FloatArray | None:
        """Cholesky factor of the residual correlation of some classifiers, (U, U)."""
        if self.residual is None:
            return None
        values, vectors = np.linalg.eigh(self.residual[np.ix_(entries, entries)])
        raised = (vectors * np.maximum(values, _LEAST_OWN)) @ vectors.T
        scale = np.sqrt(np.diagonal(raised))
        return np.linalg.cholesky(raised / np.outer(scale, scale))

    @cached_property
    def families(self) -> tuple[tuple[int, ...], ...]:
        groups = (np.flatnonzero(self.family == g) for g in np.unique(self.family))
        return tuple(tuple(group.tolist()) for group in groups if group.size > 1)

    @property
    def is_learnt(self) -> bool:
        return self.rho_se > 0

    @property
    def relative(self) -> FloatArray:
        return self.loadings / max(self.rho, _TINY)

    @cached_property
    def weights(self) -> FloatArray:
        """Weight in the field, (m,): ``1 / sum_k residual_jk`` over the family."""
        if self.residual is None:
            return np.ones(self.loadings.size)
        same = self.family[:, None] == self.family
        return 1 / np.sum(np.where(same, np.maximum(self.residual, 0), 0), axis=1)


@dataclass(frozen=True, eq=False)
class LearntCorrelation(CorrelationPrior):
    """Posterior of rho: a distribution function on a grid."""

    rho: FloatArray
    cdf: FloatArray

    def quantile(self, q: object) -> FloatArray:
        return np.interp(np.asarray(q, np.float64), self.cdf, self.rho)

    def log_density(self, rho: ArrayLike) -> FloatArray:
        """Logarithm of the slope of the distribution function."""
        cell = np.clip(np.searchsorted(self.rho, rho, side="right") - 1, 0, self.rho.size - 2)
        slope = np.diff(self.cdf) / np.diff(self.rho)
        return np.log(np.maximum(slope[cell], _TINY))

    @property
    def is_fixed(self) -> bool:
        return float(np.std(self.quantile((np.arange(200) + 0.5) / 200))) < _KNOWN


def learn_correlation(
    correlation: ResponseCorrelation, prior: CorrelationPrior
) -> CorrelationPrior:
    """Posterior of rho, around which the estimate is normal, unless the prior fixes rho."""
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


def carrying(influence: FloatArray) -> FloatArray:
    """Number of items that carry the variance of each score, (m,): about its mistakes."""
    squares, fourths = np.sum(influence**2, axis=0), np.sum(influence**4, axis=0)
    return squares**2 / np.maximum(fourths, _TINY)


def _structure(
    values: FloatArray, order: IntArray, alone: float, cut: float | None, known: ArrayLike
) -> ResponseCorrelation:
    """From influence (n, m); ``alone`` is added to sums of squares, ``cut`` makes families."""
    unit = values / np.sqrt(np.maximum(np.sum(values**2, axis=0) + alone, _TINY))
    phi, items = unit.T @ unit, carrying(values)
    np.fill_diagonal(phi, 1.0)
    unknown = order[~np.isin(order, known)]
    leaders = _leaders(unknown if unknown.size > 1 else order, phi)
    family = _families(phi, leaders, _cut(phi, items) if cut is None else cut)
    rho, error = _rho(values[:, leaders], family[leaders])
    # with k mistakes each, one more that all leaders share moves the mean correlation c by
    # (1 - c) / (k + 1), one more of each alone by c / (k + 1): no item at hand shows it
    jump = np.hypot(1 - rho**2, rho**2) / max(rho, _LEAST_RHO) / (items + 1)
    error = np.hypot(error, np.median(jump[leaders]) / 2)
    variance = _variance_of_loadings(unit[:, leaders], family[leaders])
    noise = np.median(variance * (items[leaders] + 1)) / (items + 1) + jump**2
    noise[leaders] = variance + jump[leaders] ** 2
    raw = _loadings(phi, leaders, family)
    residual = _shrunk_residual(unit, phi, raw, leaders, family)
    loadings = _shrunk_loadings(raw, noise, leaders, family, rho)
    return ResponseCorrelation(leaders, rho, float(error), loadings, residual, family, order)


def _leaders(order: IntArray, phi: FloatArray) -> IntArray:
    count, best = best_few(order.astype(np.float64)).size, order[::-1]
    leaders = [int(best[0])]
    for j in best[1:]:
        if len(leaders) < count and phi[j, leaders].max() < _COPY:
            leaders.append(int(j))
    return np.array(leaders) if len(leaders) > 1 else best[:2]


def _cut(phi: FloatArray, counts: FloatArray) -> float:
    typical = np.median(phi[~np.eye(len(phi), dtype=bool)])
    own = 1 - float(np.clip(typical, 0.0, 0.98))
    items = max(float(np.median(counts)), 1.0)
    return float(np.clip(_CLEAR / (np.sqrt(items) * own), FAMILY, _SURE))


def _families(phi: FloatArray, leaders: IntArray, cut: float) -> IntArray:
    """Average linkage of the residual correlation; no families if ``cut`` is infinite."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    family = np.arange(len(phi))
    if len(phi) < 3 or np.isinf(cut):
        return family
    # the lower quartile of correlations excludes relatives
    off = np.where(np.eye(len(phi), dtype=bool), np.nan, phi)
    common = max(float(np.nanquantile(off[np.ix_(leaders, leaders)], 0.25)), 1e-4)
    loadings = np.nanquantile(off[:, leaders], 0.25, axis=1) / np.sqrt(common)
    for _ in range(_ROUNDS):
        distance = 1 - _residual(phi, np.clip(loadings, 0, LARGEST_LOADING))
        tree = linkage(squareform(np.maximum(distance, 0), checks=False), "average")
        linked = np.asarray(fcluster(tree, 1 - cut, "distance"), np.int64) - 1
        if np.unique(linked[leaders]).size == 1 or np.array_equal(linked, family):
            break
        family, loadings = linked, _loadings(phi, leaders, linked)
    return family


def _leader_weights(own: IntArray) -> FloatArray:
    """Weights by which every family counts once, (k,)."""
    return 1 / np.sum(own[:, None] == own, axis=1)


def _rho(lead: FloatArray, own: IntArray) -> tuple[float, float]:
    """Root of mean covariance over mean variance between families of leaders, and its error."""
    weight, sd = _leader_weights(own), np.linalg.norm(lead, axis=0)
    pairs = np.outer(weight, weight) * (own[:, None] != own)
    whole = max(float(sd @ pairs @ sd), _TINY)
    ratio = float(np.clip(np.sum(pairs * (lead.T @ lead)) / whole, 1e-4, LARGEST_LOADING**2))
    own_part = lead**2 @ (pairs @ sd / np.maximum(sd, _TINY))
    error = np.linalg.norm(np.sum(lead @ pairs * lead, axis=1) - ratio * own_part) / whole
    high, low = np.sqrt(ratio + error), np.sqrt(max(ratio - error, 0.0))
    return float(np.sqrt(ratio)), float(high - low) / 2


def _shared(
    phi: FloatArray, leaders: IntArray, family: IntArray
) -> tuple[FloatArray, FloatArray, float]:
    """Weights of leaders outside each family, mean correlations with them, and their mean."""
    weight = _leader_weights(family[leaders])
    outside = np.where(family[:, None] == family[leaders], 0.0, weight)
    outside /= outside.sum(axis=1, keepdims=True)
    mean = np.sum(outside * phi[:, leaders], axis=1)
    return outside, mean, max(float(np.average(mean[leaders], weights=weight)), 1e-4)


def _loadings(phi: FloatArray, leaders: IntArray, family: IntArray) -> FloatArray:
    _, mean, common = _shared(phi, leaders, family)
    return np.clip(mean / np.sqrt(common), 0.0, LARGEST_LOADING)


def _variance_of_loadings(lead: FloatArray, own: IntArray) -> FloatArray:
    """Variances of the loadings of leaders, (k,)."""
    phi = lead.T @ lead
    outside, mean, common = _shared(phi, np.arange(own.size), own)
    square = lead**2
    effect = lead * (lead @ outside.T) - (square * mean + square @ (outside * phi).T) / 2
    of_common = np.average(effect, axis=1, weights=_leader_weights(own))
    effect -= of_common[:, None] * mean / (2 * common)
    return np.asarray(np.sum(effect**2, axis=0)) / common


def _variance_of_phi(values: FloatArray, phi: FloatArray) -> FloatArray:
    squares, cubes = (values**2).T @ values**2, (values**3).T @ values
    fourth = np.diagonal(squares)
    both = fourth[:, None] + 2 * squares + fourth
    variance = squares - phi * (cubes + cubes.T) + phi**2 / 4 * both
    return np.maximum(variance, 1 / len(values) ** 2)


def _residual(phi: FloatArray, loadings: FloatArray) -> FloatArray:
    own = np.sqrt(1 - loadings**2)
    residual = (phi - np.outer(loadings, loadings)) / np.outer(own, own)
    np.fill_diagonal(residual, 1.0)
    return np.clip(residual, -1, 1)


def _shrunk_loadings(
    loadings: FloatArray, noise: FloatArray, leaders: IntArray, family: IntArray, rho: float
) -> FloatArray:
    """Loadings, shrunk towards rho, their mean over leaders."""
    weights = _leader_weights(family[leaders]) / noise[leaders]
    level = max(float(np.average(loadings[leaders], weights=weights)), 1e-2)
    apart = loadings * rho / level - rho
    noise = noise * (rho / level) ** 2
    true = max(0.0, float(np.average((apart**2 - noise)[leaders], weights=weights)))
    between = np.maximum(apart**2 - noise, true)
    between[leaders] = true
    drawn = np.clip(rho + between / (between + noise) * apart, 0.0, LARGEST_LOADING)
    return np.minimum(drawn, drawn[leaders].max())


def _shrunk_residual(
    unit: FloatArray, phi: FloatArray, loadings: FloatArray, leaders: IntArray, family: IntArray
) -> FloatArray:
    """Residual correlation, shrunk towards the mean of the family, or 0 without relatives."""
    own, residual = 1 - loadings**2, _residual(phi, loadings)
    others = ~np.eye(len(phi), dtype=bool)
    relatives = (family[:, None] == family) & others
    summed = np.bincount(family, np.sum(residual, axis=1, where=relatives))
    count = np.maximum(np.bincount(family, relatives.sum(axis=1)), 1)
    usual = np.where(relatives, (summed / count)[family], 0.0)
    variance = _variance_of_phi(unit, phi) / np.outer(own, own)
    pairs = np.ix_(leaders, leaders)
    excess = ((residual - usual) ** 2 - variance)[pairs][others[pairs]]
    true = max(0.0, float(excess.mean()))
    shrunk = usual + (residual - usual) * true / (true + variance)
    np.fill_diagonal(shrunk, 1.0)
    return shrunk


def response_correlation(
    responses: Outcomes, influence: FloatArray | None = None, known: ArrayLike = ()
) -> ResponseCorrelation:
    r"""Estimate the correlation structure of single answers without tasks, missing at random.

    ``rho^2`` is the mean of :math:`\phi_{jk}` over pairs of leaders; the loadings follow by the
    centroid method, :math:`\lambda_j = \overline{\phi_{jk}} / \rho` over the leaders ``k`` outside
    j's family. Families come from average linkage of the residual correlation,

    .. math:: r_{jk} = \frac{\phi_{jk} - \lambda_j\lambda_k}
              {\sqrt{(1-\lambda_j^2)(1-\lambda_k^2)}} \ge \frac12

    ``influence`` (n, m) replaces that of the answers. ``known`` classifiers are no leaders.
    """
    if not responses.is_plain:
        raise InputError("this needs single answers without tasks: leave tasks and runs out")
    values = responses.average.influence if influence is None else influence
    if responses.clusters is not None:
        return influence_correlation(values * len(values), responses.scores, known)
    order = np.lexsort((codes_of(responses.names)[1], responses.scores))
    return _structure(values * responses.totals, order, _HALF, FAMILY, known)


def influence_correlation(
    influence: FloatArray, scores: FloatArray, known: ArrayLike = (), *, of_tasks: bool = False
) -> ResponseCorrelation:
    r"""Correlations of errors of scores that are nearly means over items, by influence values.

    .. math:: \hat\theta_j - \theta_j \approx \frac1n \sum_i u_{ij}, \quad
              \mathrm{Cov}(\hat\theta_j, \hat\theta_k) = \frac1{n^2} \sum_i u_{ij} u_{ik}

    ``influence`` (n, m) is that of items or clusters, or of tasks (``of_tasks``), of which fewer
    than ten form no families.
    """
    if not influence.any():
        raise InputError("every classifier has the same number for every item: nothing to compare")
    cut = np.inf if of_tasks and len(influence) < _LEAST_TASKS else None
    return _structure(influence, np.argsort(scores, kind="stable"), 0.0, cut, known)


def no_correlation(
    scores: FloatArray, prior: CorrelationPrior | None = None
) -> ResponseCorrelation:
    """Scores whose errors are independent, or share the median of a prior of rho."""
    rho = 0.0 if prior is None else max(float(prior.quantile(0.5)), _LEAST_KNOWN)
    order, loadings = np.argsort(scores, kind="stable"), np.full(scores.size, rho)
    leaders, family = best_few(scores), np.arange(scores.size)
    return ResponseCorrelation(leaders, rho, 0.0, loadings, None, family, order)
