r"""AUC of classifiers on a test set: moments, law of one estimate, law of the best of many.

Scores are binormal: negatives N(0, 1), positives N(mu, s^2), so that (Eq. 10 of Møllersen & Holsbø)

.. math:: A = \Phi\!\Big(\frac{\mu}{\sqrt{1 + s^2}}\Big)

and any monotone transformation of the scores has the same AUC. Write the estimate as a mean over
the rarer class: given its scores ``u_1, ..., u_a`` (on the scale on which the other class is
standard normal), the other class's b scores are independent, and

.. math:: \hat A = \frac1b \sum_j G(w_j), \quad G(w) = \frac1a \sum_i 1\{u_i > w\}, \quad
          E(\hat A \mid u) = \frac1a \sum_i \Phi(u_i)

The mean of the placements :math:`\Phi(u_i)` is convolved exactly (FFT); what the b scores add is
normal, with the variance that belongs to that mean by exponential tilting. It is the rare class
that makes the estimate skewed near 1, where no transformed normal law of the whole is good enough.
``tests/exact/test_auc.py`` compares with brute-force simulation of scores, far into the tail.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.errors import InputError
from bayes_sota.skill_distributions import FloatArray

__all__ = [
    "AucLaw",
    "AucMaximumLaw",
    "AucTable",
    "auc_covariance",
    "auc_law",
    "auc_maximum_law",
    "auc_std",
]

_CELLS = 4096  # of one placement
_LARGEST_FFT, _FEWEST_CELLS = 2**15, 300
_REACH = 13.0  # half width of the window in standard deviations of the mean placement
_NOISE = 12.0  # standard deviations beyond which the noise of the larger class does not reach
_TABLE_LEVELS = 600
_LEVELS = 1500  # at which the laws are tabulated
_NEARLY_ONE = 1 - 2.0**-53
_RARE = 1e-17  # what an FFT cannot tell from nothing
_COARSE = 600  # cells of a placement that are enough for a variance
_TILTS, _ROWS, _OFFSETS = 61, 21, 600
_MEANS = 400  # of the mean estimate that reference scores make
_REPRESENTATIVES = 200  # reference scores that stand for more
_FAR = 10.0  # standard errors below the best from where nobody becomes the maximum
_Z = np.linspace(-8.0, 8.0, 1601)
_MOST = 10_000_000


def auc_std(auc: ArrayLike, n_positive: int, n_negative: int, spread_ratio: float = 1.0) -> Any:
    r"""Standard deviation of the AUC estimate of one classifier.

    .. math:: \mathrm{Var} = \frac{A(1-A) + (n_- - 1)(Q_+ - A^2) + (n_+ - 1)(Q_- - A^2)}{n_+ n_-}

    with :math:`Q_+ = E\,\Phi(u)^2` over positives and :math:`Q_-` over negatives, each a bivariate
    normal probability; for equal spreads both are :math:`\Phi_2(\delta, \delta; 1/2)`,
    :math:`\delta = \Phi^{-1}(A)`.

    Parameters
    ----------
    auc : array_like
        In (0, 1).
    n_positive, n_negative : int
    spread_ratio : float
        Standard deviation of the positives' scores over that of the negatives'.

    Returns
    -------
    ndarray or float

    Examples
    --------
    >>> round(float(auc_std(0.9, 51, 2949)), 5)
    0.02115
    """
    variance = auc_covariance(auc, auc, n_positive, n_negative, 1.0, spread_ratio=spread_ratio)
    return np.sqrt(variance)


def auc_covariance(
    auc: ArrayLike,
    other: ArrayLike,
    n_positive: int,
    n_negative: int,
    correlation: float | tuple[float, float],
    *,
    spread_ratio: float = 1.0,
) -> Any:
    r"""Covariance of the AUC estimates of two classifiers on the same items.

    The scores of an item correlate by r between the two classifiers, within each class. For
    equal spreads (the paper's Sec. 5.3.1)

    .. math:: \mathrm{Cov} = \frac{\Phi_2(\delta, \delta'; r) - AA'
              + (n_- - 1)\{\Phi_2(\delta, \delta'; r_+/2) - AA'\}
              + (n_+ - 1)\{\Phi_2(\delta, \delta'; r_-/2) - AA'\}}{n_+ n_-}

    with ``r = (r_+ + r_-) / 2``; where the spreads differ, positives weigh ``s^2 / (1 + s^2)`` and
    negatives ``1 / (1 + s^2)`` instead of a half.

    Parameters
    ----------
    auc, other : array_like
        True AUCs, broadcast.
    n_positive, n_negative : int
    correlation : float or (float, float)
        ``r``, or ``(r_+, r_-)``; with a shared reference score it is rho squared.
    spread_ratio : float

    Examples
    --------
    >>> one = auc_covariance(0.9, 0.9, 51, 2949, 1.0)
    >>> half = auc_covariance(0.9, 0.9, 51, 2949, 0.5)
    >>> round(float(half / one), 3)
    0.416
    """
    from scipy.special import ndtri

    first, second = _checked_auc(auc), _checked_auc(other)
    a, b = _checked_size(n_positive, "positive"), _checked_size(n_negative, "negative")
    r_positive, r_negative = _checked_correlation(correlation)
    share = _checked_ratio(spread_ratio) ** 2 / (1 + spread_ratio**2)
    delta, gamma = ndtri(first), ndtri(second)
    product = first * second

    def excess(r: float) -> FloatArray:
        return _bivariate(delta, gamma, r) - product

    same = excess(share * r_positive + (1 - share) * r_negative)
    positives, negatives = excess(share * r_positive), excess((1 - share) * r_negative)
    return (same + (b - 1) * positives + (a - 1) * negatives) / (a * b)


@dataclass(frozen=True, eq=False)
class AucLaw:
    """Law of the AUC estimate of one classifier, tabulated.

    Attributes
    ----------
    auc : float
        True AUC.
    n_positive, n_negative : int
    spread_ratio : float
    levels, below : ndarray, shape (L,)
        AUC values, increasing, and the distribution function there.
    above : ndarray, shape (L,)
        ``1 - below`` without cancellation.
    """

    auc: float
    n_positive: int
    n_negative: int
    spread_ratio: float
    levels: FloatArray = field(repr=False)
    below: FloatArray = field(repr=False)
    above: FloatArray = field(repr=False)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability of an estimate of at most ``x``."""
        return np.interp(np.asarray(x, np.float64), self.levels, self.below, left=0.0, right=1.0)

    def sf(self, x: ArrayLike) -> FloatArray:
        """Probability of an estimate above ``x``."""
        return np.interp(np.asarray(x, np.float64), self.levels, self.above, left=1.0, right=0.0)

    def mean(self) -> float:
        """Expected estimate: the true AUC, up to the error of the table."""
        return _mean(self.levels, self.below)

    def std(self) -> float:
        """Standard deviation of the estimate, of the tabulated law."""
        return _std(self.levels, self.below)

    def interval(self, prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval of the estimate."""
        return _interval(self.levels, self.below, prob)


@dataclass(frozen=True, eq=False)
class AucMaximumLaw:
    """Law of the best AUC estimate of several classifiers, tabulated.

    Attributes
    ----------
    auc_sota : float
        AUC of the best classifier.
    n_classifiers : int
    levels, below : ndarray, shape (L,)
        AUC values and the distribution function there.
    """

    auc_sota: float
    n_classifiers: int
    levels: FloatArray = field(repr=False)
    below: FloatArray = field(repr=False)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability that the best estimate is at most ``x``."""
        return np.interp(np.asarray(x, np.float64), self.levels, self.below, left=0.0, right=1.0)

    @cached_property
    def _mean(self) -> float:
        return _mean(self.levels, self.below)

    def mean(self) -> float:
        """Expected best estimate."""
        return self._mean

    def std(self) -> float:
        """Standard deviation of the best estimate."""
        return _std(self.levels, self.below)

    def bias(self) -> float:
        """Expected best estimate minus the AUC of the best classifier."""
        return self.mean() - self.auc_sota

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles of the best estimate."""
        return _quantile(self.levels, self.below, q)

    def interval(self, prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval of the best estimate."""
        return _interval(self.levels, self.below, prob)


def auc_law(auc: float, n_positive: int, n_negative: int, spread_ratio: float = 1.0) -> AucLaw:
    """Law of the AUC estimate of one classifier with binormal scores.

    Parameters
    ----------
    auc : float
        True AUC, in (0, 1).
    n_positive, n_negative : int
        Test items of each class, at least 2.
    spread_ratio : float
        Standard deviation of the positives' scores over that of the negatives'.

    Returns
    -------
    AucLaw

    Raises
    ------
    InputError
        Impossible numbers.

    Examples
    --------
    >>> law = auc_law(0.9, 51, 2949)
    >>> round(law.mean(), 4), round(law.std(), 5)
    (0.9, 0.02115)
    """
    value = float(_checked_auc(auc))
    a, b = _checked_size(n_positive, "positive"), _checked_size(n_negative, "negative")
    ratio = _checked_ratio(spread_ratio)
    sd = float(auc_std(value, a, b, ratio))
    low, high = max(0.0, value - 12 * sd), min(1.0, value + 12 * sd)
    levels = np.linspace(low, high, _LEVELS)
    below, above = _at_levels(levels, value, a, b, ratio)
    return AucLaw(value, a, b, ratio, levels, below, above)


def _at_levels(
    levels: FloatArray, auc: float, a: int, b: int, ratio: float
) -> tuple[FloatArray, FloatArray]:
    """Distribution function of one estimate, and its complement, at the levels."""
    centre, spread = _placement_scale(auc, a, b, ratio)
    few, many = min(a, b), max(a, b)
    placement, mass = _placements(centre, spread)
    means, probability = _mean_placement(placement, mass, few)
    noise = np.sqrt(_conditional_variance(placement, mass, few, means, probability) / many)
    return _smoothed(levels, means, probability, noise)


@dataclass(frozen=True, eq=False)
class AucTable:
    """Laws of one estimate for a range of AUCs, from which the best of any field follows at once.

    Attributes
    ----------
    lowest, highest : float
        Range of the true AUCs.
    nodes : ndarray, shape (K,)
        Chebyshev nodes of the range.
    levels : ndarray, shape (L,)
    log_cdf : ndarray, shape (K, L)
        Log distribution function of one estimate.
    """

    lowest: float
    highest: float
    nodes: FloatArray
    levels: FloatArray
    log_cdf: FloatArray

    @classmethod
    def of(
        cls, lowest: float, highest: float, n_positive: int, n_negative: int, ratio: float = 1.0
    ) -> "AucTable":
        """Table for a test set."""
        sd = float(auc_std(highest, n_positive, n_negative, ratio))
        size = _nodes_for((highest - lowest) / sd)
        nodes, _ = _chebyshev(lowest, highest, size)
        levels = np.linspace(max(0.0, highest - 9 * sd), min(1.0, highest + 9 * sd), _TABLE_LEVELS)
        rows = [_at_levels(levels, float(v), n_positive, n_negative, ratio)[1] for v in nodes]
        log_cdf = np.log1p(-np.minimum(rows, _NEARLY_ONE))
        return cls(lowest, highest, nodes, levels, log_cdf)

    def maximum_law(self, aucs: FloatArray) -> AucMaximumLaw:
        """Law of the best estimate of independent classifiers; AUCs below the range left out."""
        inside = aucs[aucs >= self.lowest]
        weights = _cardinal(inside, self.lowest, self.highest, self.nodes.size).sum(axis=0)
        below = np.exp(np.minimum(weights @ self.log_cdf, 0.0))
        return AucMaximumLaw(float(aucs.max()), int(aucs.size), self.levels, below)


def auc_maximum_law(
    auc: ArrayLike,
    *,
    n_positive: int,
    n_negative: int,
    n_classifiers: int | None = None,
    correlation: float = 0.0,
    spread_ratio: float = 1.0,
) -> AucMaximumLaw:
    r"""Law of the best AUC estimate of several classifiers on one test set.

    Parameters
    ----------
    auc : float or array_like, shape (m,)
        True AUC of identical classifiers, or one for each.
    n_positive, n_negative : int
        Test items of each class, at least 2.
    n_classifiers : int, optional
        m; needed unless ``auc`` is an array.
    correlation : float
        rho, in [0, 1): correlation of each classifier's scores with a reference score that every
        item has, within each class (the paper's Sec. 5.3.1); the scores of two classifiers
        correlate by ``rho ** 2``.
    spread_ratio : float
        Standard deviation of the positives' scores over that of the negatives'.

    Returns
    -------
    AucMaximumLaw

    Raises
    ------
    InputError
        Impossible numbers.

    Notes
    -----
    Independent classifiers: :math:`\prod_j F_j(x)`. Correlated ones are independent given the
    reference scores; these act through what they make of the mean estimate, whose law is exact
    up to the noise of the larger class. At each of its values the reference scores of the rarer
    class stand at the quantiles of their exponential tilt, and every classifier's law is convolved
    anew.

    Examples
    --------
    The paper's Sec. 5.2.2 simulates .9562 and .004459:

    >>> law = auc_maximum_law(0.9, n_positive=51, n_negative=2949, n_classifiers=1000)
    >>> round(law.mean(), 3)
    0.957
    """
    values = _checked_auc(auc)
    if values.ndim > 1:
        raise InputError(f"auc must be a number or 1-dimensional, got shape {values.shape}")
    if not 0 <= correlation < 1:
        raise InputError(f"correlation must lie in [0, 1), got {correlation:g}")
    skills, copies = np.unique(np.atleast_1d(values), return_counts=True)
    m = _number(n_classifiers, values)
    counts = copies * (m / copies.sum())
    sizes = _checked_size(n_positive, "positive"), _checked_size(n_negative, "negative")
    ratio = _checked_ratio(spread_ratio)
    if correlation > 0 and m > 1:
        levels, below = _correlated_maximum(skills, counts, *sizes, ratio, correlation)
        return AucMaximumLaw(float(skills[-1]), m, levels, below)
    best = float(skills[-1])
    skills, counts = _condensed(skills, counts, float(auc_std(best, *sizes, ratio)))
    laws = [auc_law(float(s), *sizes, ratio) for s in skills]
    levels = _common_levels(laws)
    log_cdf = np.zeros(levels.size)
    for law, count in zip(laws, counts, strict=True):
        log_cdf += count * np.log1p(-np.minimum(law.sf(levels), _NEARLY_ONE))
    return AucMaximumLaw(best, m, levels, np.exp(np.minimum(log_cdf, 0.0)))


def _condensed(skills: FloatArray, counts: FloatArray, sd: float) -> tuple[FloatArray, FloatArray]:
    """Chebyshev nodes for many distinct AUCs: ``sum_j f(A_j)`` is kept for every smooth f.

    AUCs too low to become the maximum are left out; the best one is a node.
    """
    near = skills >= skills[-1] - _FAR * sd
    skills, counts = skills[near], counts[near]
    size = _nodes_for((skills[-1] - skills[0]) / sd)
    if size >= skills.size:
        return skills, counts
    nodes, _ = _chebyshev(skills[0], skills[-1], size)
    return nodes, counts @ _cardinal(skills, skills[0], skills[-1], size)


def _nodes_for(width: float) -> int:
    """Number of nodes for a range of AUCs, in standard errors."""
    return 9 + int(np.ceil(3 * width))


def _chebyshev(low: float, high: float, size: int) -> tuple[FloatArray, FloatArray]:
    """Nodes of a range, both ends among them, and the same on [-1, 1]."""
    x = -np.cos(np.arange(size) * np.pi / (size - 1))
    nodes = low + (x + 1) / 2 * (high - low)
    nodes[-1] = high
    return nodes, x


def _cardinal(points: FloatArray, low: float, high: float, size: int) -> FloatArray:
    """Interpolation from the nodes to points of the range, barycentric, (points, size)."""
    _, x = _chebyshev(low, high, size)
    barycentric = (-1.0) ** np.arange(size)
    barycentric[[0, -1]] /= 2
    difference = (2 * (points - low) / (high - low) - 1)[:, None] - x
    exact = np.abs(difference) < 1e-13
    ratio = barycentric / np.where(exact, 1.0, difference)
    cardinal = ratio / ratio.sum(axis=1, keepdims=True)
    hit = exact.any(axis=1)
    cardinal[hit] = exact[hit]
    return np.asarray(cardinal)


def _correlated_maximum(
    skills: FloatArray, counts: FloatArray, a: int, b: int, ratio: float, rho: float
) -> tuple[FloatArray, FloatArray]:
    """Levels and distribution function of the best of classifiers that share reference scores."""
    few, many = min(a, b), max(a, b)
    skills, counts = _condensed(skills, counts, float(auc_std(skills[-1], a, b, ratio)))
    fields = [_Given(*_placement_scale(float(s), a, b, ratio), few, many, rho) for s in skills]
    best = fields[-1]
    means, probability = best.mean_law(
        float(auc_covariance(skills[-1], skills[-1], a, b, rho**2, spread_ratio=ratio))
    )
    tilts, centres = best.tilts(means, probability)
    sd = float(auc_std(skills[-1], a, b, ratio))
    offsets = np.linspace(-10 * sd, 10 * sd, _OFFSETS)
    rows = np.zeros((tilts.size, offsets.size))
    for row, tilt, centre in zip(rows, tilts, centres, strict=True):
        z = best.reference_scores(tilt)
        for given, count in zip(fields, counts, strict=True):
            row += count * given.log_cdf(z, centre + offsets)
    levels = np.linspace(max(0.0, means[0] - 12 * sd), 1.0, 2 * _LEVELS)
    below = np.zeros(levels.size)
    for mean, weight in zip(means, probability, strict=True):
        k = int(np.clip(np.searchsorted(centres, mean) - 1, 0, centres.size - 2))
        share = np.clip((mean - centres[k]) / (centres[k + 1] - centres[k]), 0, 1)
        log_cdf = (1 - share) * rows[k] + share * rows[k + 1]
        below += weight * np.exp(np.interp(levels - mean, offsets, log_cdf, left=-800.0, right=0.0))
    return levels, below


@dataclass(frozen=True, eq=False)
class _Given:
    """One classifier given the reference scores of the rarer class."""

    centre: float
    spread: float
    few: int
    many: int
    rho: float

    @property
    def own(self) -> float:
        """What of a score's spread the reference does not explain."""
        return float(np.sqrt(1 - self.rho**2))

    def placement(self, z: FloatArray) -> FloatArray:
        """Expected placement of an item of the rarer class with this reference score."""
        from scipy.special import ndtr

        total = np.sqrt(1 + self.spread**2 * self.own**2)
        return np.asarray(ndtr((self.centre + self.rho * self.spread * z) / total))

    def mean_law(self, variance: float) -> tuple[FloatArray, FloatArray]:
        """Law of the mean estimate given all reference scores, which has this variance."""
        from scipy.special import ndtr

        edges = np.linspace(0.0, 1.0, _CELLS + 1)
        mass = np.diff(ndtr(np.interp(edges, self.placement(_Z), _Z, left=-38.0, right=38.0)))
        lattice = np.append(mass, 0.0) / 2 + np.append(0.0, mass) / 2
        values, probability = _mean_placement(edges, lattice, self.few)
        mean = float(values @ probability)
        rest = max(variance - float((values - mean) ** 2 @ probability), 1e-12)
        reach = 9 * np.sqrt(variance)
        levels = np.linspace(max(0.0, mean - reach), min(1.0, mean + reach), _MEANS + 1)
        noise = np.full(values.size, np.sqrt(rest))
        below, _ = _smoothed(levels, values, probability, noise)
        return (levels[1:] + levels[:-1]) / 2, np.diff(below)

    def tilts(self, means: FloatArray, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Tilts of the reference scores, and the mean estimates that they make."""
        known = means[probability > 1e-9]
        log_mass = -0.5 * _Z**2
        tilts = _tilts(self.placement(_Z), log_mass, float(known[0]), float(known[-1]), _ROWS)
        centres = np.array([self.placement(self.reference_scores(t)).mean() for t in tilts])
        return tilts, centres

    def reference_scores(self, tilt: float) -> FloatArray:
        """Reference scores of the rarer class at the quantiles of their tilted law."""
        logs = -0.5 * _Z**2 + tilt * self.placement(_Z)
        cdf = np.cumsum(np.exp(logs - logs.max()))
        size = min(self.few, _REPRESENTATIVES)
        return np.interp((np.arange(size) + 0.5) / size, cdf / cdf[-1], _Z)

    def log_cdf(self, z: FloatArray, levels: FloatArray) -> FloatArray:
        """Log distribution function of the estimate given reference scores."""
        from scipy.special import ndtr, ndtri

        edges = np.linspace(0.0, 1.0, _CELLS // 2 + 1)
        score = (ndtri(edges) - self.centre - self.rho * self.spread * z[:, None]) / (
            self.spread * self.own
        )
        mass = np.diff(ndtr(score), axis=1)
        lattice = np.pad(mass, ((0, 0), (0, 1))) / 2 + np.pad(mass, ((0, 0), (1, 0))) / 2
        means, probability = _mean_placement(edges, lattice, self.few)
        variance = _conditional_variance(edges, lattice.mean(axis=0), self.few, means, probability)
        typical = float(np.interp(means @ probability, means, variance))
        explained = self._explained(z)
        noise = np.sqrt(variance * max(1 - explained / typical, 0.01) / self.many)
        _, above = _smoothed(levels, means, probability, noise, points=150)
        return np.asarray(np.log1p(-np.minimum(above, _NEARLY_ONE)))

    def _explained(self, z: FloatArray) -> float:
        """Variance over the larger class of what its reference scores say of its placement."""
        from scipy.special import ndtr

        node, weight = np.polynomial.hermite_e.hermegauss(61)
        total = self.own * np.sqrt(1 + self.spread**2)
        shift = self.centre + self.rho * self.spread * z - self.rho * node[:, None]
        share = ndtr(shift / total).mean(axis=1)
        weight = weight / weight.sum()
        return float(weight @ share**2 - (weight @ share) ** 2)


def _placement_scale(auc: float, a: int, b: int, ratio: float) -> tuple[float, float]:
    """Mean and spread of the rarer class's scores where the other class is standard normal."""
    from scipy.special import ndtri

    mu = float(ndtri(auc)) * np.sqrt(1 + ratio**2)
    return (mu, ratio) if a <= b else (mu / ratio, 1 / ratio)


def _placements(centre: float, spread: float) -> tuple[FloatArray, FloatArray]:
    """Lattice of placements in [0, 1] and their probabilities; keeps the mean of each cell."""
    from scipy.special import ndtr, ndtri

    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    score = ndtri(edges)  # placement of a score u is Phi(u)
    cumulative = ndtr((score - centre) / spread)
    mass = np.diff(cumulative)
    # E(Phi(u); u < c) = Phi_2: the mean within each cell, to split it between its two ends
    partial = _partial_mean(score, centre, spread)
    inside = np.diff(partial)
    share = np.clip(inside / np.maximum(mass, 1e-300) * _CELLS - np.arange(_CELLS), 0.0, 1.0)
    lattice = np.zeros(_CELLS + 1)
    lattice[1:] += mass * share
    lattice[:-1] += mass * (1 - share)
    return edges, lattice


def _partial_mean(score: FloatArray, centre: float, spread: float) -> FloatArray:
    r""":math:`E(\Phi(u); u \le c)`: the probability that a standard normal w < u and u < c."""
    total = np.sqrt(1 + spread**2)
    ends = np.clip((score - centre) / spread, -38.0, 38.0)
    return _bivariate(np.asarray(centre / total), ends, -spread / total)


def _mean_placement(
    placement: FloatArray, mass: FloatArray, few: int
) -> tuple[FloatArray, FloatArray]:
    """Law of the mean of ``few`` placements: values and probabilities, by FFT on a window.

    ``mass`` has shape (K,), or (k, K) for k kinds of items in equal shares.
    """
    kinds = np.atleast_2d(mass)
    average = kinds.mean(axis=0)
    mean = float(placement @ average)
    sd = np.sqrt(max(float(placement**2 @ average) - mean**2, 1e-18))
    step = 1 / (placement.size - 1)
    width = min(float(few), 2 * _REACH * sd * np.sqrt(few) + 20 * step)
    while width / step > _LARGEST_FFT and kinds.shape[1] > _FEWEST_CELLS:
        kinds = _coarser(kinds)
        step = 1 / (kinds.shape[1] - 1)
    size = 1 << int(np.ceil(np.log2(width / step + 2)))
    cells = -(-kinds.shape[1] // size) * size
    wrapped = np.pad(kinds, ((0, 0), (0, cells - kinds.shape[1])))
    wrapped = wrapped.reshape(len(kinds), -1, size).sum(axis=1)
    total = np.fft.irfft(_product(wrapped, few / len(kinds)), n=size)
    first = max(0, round(few * mean / step) - size // 2)
    order = (first + np.arange(size)) % size
    values = (first + np.arange(size)) * step / few
    inside = values <= 1 + 1e-12
    probability = np.maximum(total[order][inside], 0.0)
    return values[inside], probability / probability.sum()


def _product(wrapped: FloatArray, power: float) -> Any:
    """Product of the characteristic functions of k kinds, each to a power."""
    transformed = np.fft.rfft(wrapped, axis=1)
    if len(transformed) == 1:
        return transformed[0] ** round(power)
    if power == 1:
        return np.prod(transformed, axis=0)
    size = np.maximum(np.abs(transformed), 1e-300)
    phase = np.unwrap(np.angle(transformed), axis=1)
    return np.asarray(np.exp(power * (np.log(size).sum(axis=0) + 1j * phase.sum(axis=0))))


def _coarser(mass: FloatArray) -> FloatArray:
    """Half as many cells; odd points are split between their neighbours, the mean is kept."""
    merged = mass[:, ::2].copy()
    merged[:, :-1] += mass[:, 1::2] / 2
    merged[:, 1:] += mass[:, 1::2] / 2
    return merged


def _conditional_variance(
    placement: FloatArray, mass: FloatArray, few: int, means: FloatArray, weight: FloatArray
) -> FloatArray:
    r"""Variance of :math:`G(w)` given the mean placement, at each of its values.

    .. math:: \mathrm{Var}(G \mid \bar V = v) \approx \frac{v}{a} + \Big(1 - \frac1a\Big)
              E_\tau \min(V, V') - v^2

    with V and V' independent under the exponential tilt of the placements that has mean v.
    """
    while mass.size > _COARSE:
        mass = _coarser(mass[None])[0]
    placement = np.linspace(0.0, 1.0, mass.size)
    known = mass > 0
    v, log_mass = placement[known], np.log(mass[known])
    low, high = (float(means[weight > 1e-14][i]) for i in (0, -1))
    tilts = _tilts(v, log_mass, low, high)
    logs = log_mass + tilts[:, None] * v
    tilted = np.exp(logs - logs.max(axis=1, keepdims=True))
    tilted /= tilted.sum(axis=1, keepdims=True)
    centre = tilted @ v
    above = np.cumsum(tilted[:, ::-1], axis=1)[:, ::-1]
    smaller = above[:, 0] ** 2 * v[0] + above[:, 1:] ** 2 @ np.diff(v)
    variance = centre / few + (1 - 1 / few) * smaller - centre**2
    return np.asarray(np.maximum(np.interp(means, centre, variance), 1e-12))


def _tilts(
    v: FloatArray, log_mass: FloatArray, low: float, high: float, count: int = _TILTS
) -> FloatArray:
    """Tilts whose means span [low, high]."""

    def mean(tilt: float) -> float:
        logs = log_mass + tilt * v
        tilted = np.exp(logs - logs.max())
        return float(tilted @ v / tilted.sum())

    ends = []
    for target, sign in ((low, -1.0), (high, 1.0)):
        tilt = sign
        while sign * (mean(tilt) - target) < 0 and abs(tilt) < 1e5:
            tilt *= 2
        ends.append(tilt)
    grid = np.linspace(-1, 1, count)
    return np.where(grid < 0, -ends[0], ends[1]) * grid * np.abs(grid)


def _smoothed(
    levels: FloatArray,
    means: FloatArray,
    probability: FloatArray,
    noise: FloatArray,
    points: int = 600,
) -> tuple[FloatArray, FloatArray]:
    """Distribution function and its complement of mean plus noise, at the levels.

    The noise is a Beta variable with the mean and the variance given: like the estimate it stays
    in [0, 1], and leans away from the nearer end.
    """
    means, probability, noise = _merged(means, probability, noise, points)
    below, above = np.zeros(levels.size), np.zeros(levels.size)
    for v, weight, sd in zip(means, probability, noise, strict=True):
        first, last = np.searchsorted(levels, [v - _NOISE * sd, v + _NOISE * sd])
        cdf, sf = _beta(levels[first:last], v, sd)
        below[first:last] += weight * cdf
        above[first:last] += weight * sf
        below[last:] += weight
        above[:first] += weight
    return below, above


def _merged(
    means: FloatArray, probability: FloatArray, noise: FloatArray, points: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Points that lie closer than the noise, put together; their spread joins the noise."""
    kept = probability > _RARE
    means, probability, noise = means[kept], probability[kept], noise[kept]
    typical = float(np.sqrt(probability @ noise**2 / probability.sum()))
    spacing = max(typical / 3, float(np.ptp(means)) / points)
    _, group = np.unique(((means - means[0]) / spacing).astype(np.int64), return_inverse=True)
    total = np.bincount(group, probability)
    centre = np.bincount(group, probability * means) / total
    variance = np.bincount(group, probability * (noise**2 + (means - centre[group]) ** 2)) / total
    return centre, total, np.sqrt(variance)


def _beta(x: FloatArray, mean: float, sd: float) -> tuple[FloatArray, FloatArray]:
    """Distribution function and complement of a Beta variable; normal where it is narrow."""
    from scipy.special import betainc, betaincc, ndtr

    size = mean * (1 - mean) / sd**2 - 1
    if min(mean, 1 - mean) > 40 * sd or size <= 0:
        z = (x - mean) / sd
        return ndtr(z), ndtr(-z)
    a, b, x = mean * size, (1 - mean) * size, np.clip(x, 0.0, 1.0)
    return betainc(a, b, x), betaincc(a, b, x)


def _bivariate(h: FloatArray, k: FloatArray, r: float) -> FloatArray:
    r""":math:`\Phi_2(h, k; r)`, by Owen's function."""
    from scipy.special import ndtr, owens_t

    h, k = np.broadcast_arrays(np.asarray(h, np.float64), np.asarray(k, np.float64))
    if r >= 1:
        return np.asarray(ndtr(np.minimum(h, k)))
    if r == 0:
        return np.asarray(ndtr(h) * ndtr(k))
    h = np.where(h == 0, 1e-300, h)
    k = np.where(k == 0, 1e-300, k)
    root = np.sqrt(1 - r**2)
    opposite = np.where(h * k < 0, 0.5, 0.0)
    return np.asarray(
        (ndtr(h) + ndtr(k)) / 2
        - owens_t(h, (k - r * h) / (h * root))
        - owens_t(k, (h - r * k) / (k * root))
        - opposite
    )


def _common_levels(laws: list[AucLaw]) -> FloatArray:
    low = min(law.levels[0] for law in laws)
    high = max(law.levels[-1] for law in laws)
    return np.linspace(low, high, 2 * _LEVELS)


def _mean(levels: FloatArray, below: FloatArray) -> float:
    return float(levels[-1] - np.trapezoid(below, levels))


def _std(levels: FloatArray, below: FloatArray) -> float:
    middle = (levels[1:] + levels[:-1]) / 2
    mass = np.diff(below)
    mean = float(middle @ mass / mass.sum())
    step = levels[1] - levels[0]
    within = step**2 / 12
    return float(np.sqrt(max((middle - mean) ** 2 @ mass / mass.sum() + within, 0.0)))


def _quantile(levels: FloatArray, below: FloatArray, q: ArrayLike) -> FloatArray:
    q = np.asarray(q, dtype=np.float64)
    if not np.all((q >= 0) & (q <= 1)):
        raise InputError(f"a probability must lie in [0, 1], got {q}")
    rising = np.concatenate([[True], np.diff(below) > 0])
    return np.asarray(np.interp(q, below[rising], levels[rising]))


def _interval(levels: FloatArray, below: FloatArray, prob: float) -> tuple[float, float]:
    if not 0 < prob < 1:
        raise InputError(f"an interval's probability must lie in (0, 1), got {prob:g}")
    low, high = _quantile(levels, below, [(1 - prob) / 2, (1 + prob) / 2])
    return float(low), float(high)


def _checked_auc(auc: ArrayLike) -> FloatArray:
    values = np.asarray(auc, dtype=np.float64)
    if values.size == 0 or not np.all((values > 0) & (values < 1)):
        raise InputError(f"an AUC must lie in (0, 1), got {values}")
    return values


def _checked_size(size: int, what: str) -> int:
    if not (float(size).is_integer() and 2 <= size <= _MOST):
        raise InputError(
            f"n_{what} must be a whole number from 2 to {_MOST:,}, got {size}: an AUC needs items "
            "of both classes"
        )
    return int(size)


def _checked_ratio(ratio: float) -> float:
    if not 0.02 <= ratio <= 50:
        raise InputError(f"spread_ratio must lie between 0.02 and 50, got {ratio:g}")
    return float(ratio)


def _checked_correlation(correlation: float | tuple[float, float]) -> tuple[float, float]:
    pair = correlation if isinstance(correlation, tuple) else (correlation, correlation)
    for r in pair:
        if not 0 <= r <= 1:
            raise InputError(f"correlation must lie in [0, 1], got {r:g}")
    return float(pair[0]), float(pair[1])


def _number(n_classifiers: int | None, values: FloatArray) -> int:
    given = values.size if values.ndim else None
    m = given if n_classifiers is None else n_classifiers
    if m is None:
        raise InputError("n_classifiers is needed unless one AUC per classifier is given")
    if given not in (None, 1) and m != given:
        raise InputError(f"{given} AUCs are given, but n_classifiers is {m}")
    if not (float(m).is_integer() and m >= 1):
        raise InputError(f"n_classifiers must be a positive whole number, got {m}")
    return int(m)
