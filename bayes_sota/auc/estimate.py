r"""One AUC estimate: its moments, alone and with another classifier's, and its exact law.

Scores are binormal: negatives N(0, 1), positives N(mu, s^2) with ``s`` the spread ratio. Given the
scores ``u_1, ..., u_a`` of the rarer class, on the scale on which the other class is standard
normal, the estimate is a mean over the b items of that class,

.. math:: \hat A = \frac1b \sum_j G(w_j), \quad G(w) = \frac1a \sum_i 1\{u_i > w\}, \quad
          E(\hat A \mid u) = \frac1a \sum_i \Phi(u_i)

The mean of the placements :math:`\Phi(u_i)` is convolved exactly (FFT); the b scores add noise with
the variance that belongs to that mean by exponential tilting. ``tests/auc/test_law.py`` compares
with simulated scores, far into the tail.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, ndtr, ndtri, owens_t

from bayes_sota.core.arguments import RATIO
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

_MOST = 10_000_000
_CELLS = 4096  # of one placement
NEARLY_ONE = 1 - 2.0**-53
_LARGEST_FFT, _FEWEST_CELLS = 2**15, 300
_REACH = 13.0  # half width of the window in standard deviations of the mean placement
_NOISE = 12.0  # standard deviations beyond which the noise of the larger class does not reach
_RARE = 1e-17  # what an FFT cannot tell from nothing
_COARSE = 600  # cells of a placement that are enough for a variance
_TILTS = 61
_NOISE_POINTS = 600  # of a mean to which noise is added


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
    correlation: float,
    *,
    spread_ratio: float = 1.0,
) -> Any:
    r"""Covariance of the AUC estimates of two classifiers on the same items.

    The scores of an item correlate by r between the two classifiers, within each class. For
    equal spreads (the paper's Sec. 5.3.1)

    .. math:: \mathrm{Cov} = \frac{\Phi_2(\delta, \delta'; r) - AA'
              + (n_+ + n_- - 2)\{\Phi_2(\delta, \delta'; r/2) - AA'\}}{n_+ n_-}

    Where the spreads differ, positives weigh ``s^2 / (1 + s^2)`` and
    negatives ``1 / (1 + s^2)`` instead of a half.

    Parameters
    ----------
    auc, other : array_like
        True AUCs, broadcast.
    n_positive, n_negative : int
    correlation : float
        ``r``; with a shared reference score it is rho squared.
    spread_ratio : float
        As of ``auc_std``.

    Examples
    --------
    >>> one = auc_covariance(0.9, 0.9, 51, 2949, 1.0)
    >>> half = auc_covariance(0.9, 0.9, 51, 2949, 0.5)
    >>> round(float(half / one), 3)
    0.416
    """
    first, second = checked_auc(auc), checked_auc(other)
    a, b = checked_size(n_positive, "positive"), checked_size(n_negative, "negative")
    if not 0 <= correlation <= 1:
        raise InputError(f"correlation must lie in [0, 1], got {correlation:g}")
    delta, gamma = ndtri(first), ndtri(second)
    product = first * second

    def excess(r: float) -> FloatArray:
        return bivariate_normal(delta, gamma, r) - product

    ratio = float(RATIO.check(spread_ratio, "spread_ratio"))
    share = ratio**2 / (1 + ratio**2)
    positive, negative = correlation * share, correlation * (1 - share)
    shared = (b - 1) * excess(positive) + (a - 1) * excess(negative)
    return (excess(positive + negative) + shared) / (a * b)


def checked_auc(auc: ArrayLike) -> FloatArray:
    """AUCs as an array, or ``InputError``."""
    values = np.asarray(auc, dtype=np.float64)
    if values.size == 0 or not np.all((values > 0) & (values < 1)):
        raise InputError(f"an AUC must lie in (0, 1), got {values}")
    return values


def checked_size(size: int, what: str) -> int:
    """Number of items of a class, or ``InputError``."""
    if not (float(size).is_integer() and 2 <= size <= _MOST):
        raise InputError(
            f"n_{what} must be a whole number from 2 to {_MOST:,}, got {size}: an AUC needs items "
            "of both classes"
        )
    return int(size)


def auc_estimate_correlation(
    auc: ArrayLike,
    n_positive: int,
    n_negative: int,
    correlation: float,
    spread_ratio: float = 1.0,
) -> Any:
    r"""Correlation of AUC estimates with what they share, from that of the scores.

    Where the scores of every item correlate by ``correlation`` with a reference score (the
    paper's Sec. 5.3.1), the estimates of two classifiers correlate by less than
    ``correlation ** 2``:

    .. math:: \rho = \sqrt{\mathrm{Cov}(r^2) / \mathrm{Var}}

    Parameters
    ----------
    auc : array_like
    n_positive, n_negative : int
    correlation : float
        In [0, 1].
    spread_ratio : float
        As of ``auc_std``.

    Examples
    --------
    >>> round(float(auc_estimate_correlation(0.9, 51, 2949, 0.6)), 3)
    0.534
    """
    sizes = (n_positive, n_negative)
    shared = auc_covariance(auc, auc, *sizes, correlation**2, spread_ratio=spread_ratio)
    return np.sqrt(np.maximum(shared, 0.0) / auc_std(auc, *sizes, spread_ratio) ** 2)


def bivariate_normal(h: FloatArray, k: FloatArray, r: float) -> FloatArray:
    r""":math:`\Phi_2(h, k; r)`, by Owen's function."""
    h, k = np.broadcast_arrays(np.asarray(h, np.float64), np.asarray(k, np.float64))
    if r >= 1:
        return ndtr(np.minimum(h, k))
    if r == 0:
        return ndtr(h) * ndtr(k)
    h = np.where(h == 0, 1e-300, h)
    k = np.where(k == 0, 1e-300, k)
    root = np.sqrt(1 - r**2)
    opposite = np.where(h * k < 0, 0.5, 0.0)
    return (
        (ndtr(h) + ndtr(k)) / 2
        - owens_t(h, (k - r * h) / (h * root))
        - owens_t(k, (h - r * k) / (k * root))
        - opposite
    )


def distribution_at(
    levels: FloatArray, auc: float, a: int, b: int, ratio: float
) -> tuple[FloatArray, FloatArray]:
    """Distribution function of one estimate, and its complement, at the levels."""
    centre, spread = _placement_scale(auc, a, b, ratio)
    few, many = min(a, b), max(a, b)
    placement, mass = _placements(centre, spread)
    means, probability = _mean_placement(placement, mass, few)
    noise = np.sqrt(_conditional_variance(placement, mass, few, means, probability) / many)
    return _add_noise(levels, means, probability, noise)


def _placement_scale(auc: float, a: int, b: int, ratio: float) -> tuple[float, float]:
    """Mean and spread of the rarer class's scores where the other class is standard normal."""
    mu = float(ndtri(auc)) * np.sqrt(1 + ratio**2)
    return (mu, ratio) if a <= b else (mu / ratio, 1 / ratio)


def _placements(centre: float, spread: float) -> tuple[FloatArray, FloatArray]:
    """Lattice of placements and their probabilities; keeps the mean of each cell."""
    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    score = ndtri(edges)  # placement of a score u is Phi(u)
    mass = np.diff(ndtr((score - centre) / spread))
    # E(Phi(u); u < c) = Phi_2: the mean within each cell, to split it between its two ends
    inside = np.diff(_partial_mean(score, centre, spread)) / np.maximum(mass, 1e-300)
    share = np.clip(inside * _CELLS - np.arange(_CELLS), 0.0, 1.0)
    lattice = np.zeros(_CELLS + 1)
    lattice[1:] += mass * share
    lattice[:-1] += mass * (1 - share)
    return edges, lattice


def _partial_mean(score: FloatArray, centre: float, spread: float) -> FloatArray:
    r""":math:`E(\Phi(u); u \le c)`: the probability that a standard normal w < u and u < c."""
    total = np.sqrt(1 + spread**2)
    ends = np.clip((score - centre) / spread, -38.0, 38.0)
    return bivariate_normal(np.asarray(centre) / total, ends, -spread / total)


def _mean_placement(
    placement: FloatArray, mass: FloatArray, few: int
) -> tuple[FloatArray, FloatArray]:
    """Law of the mean of ``few`` placements: values and probabilities, by FFT on a window.

    The lattice is made coarser where it would be long.
    """
    mean = float(placement @ mass)
    sd = np.sqrt(max(float(placement**2 @ mass) - mean**2, 1e-18))
    step = 1 / (placement.size - 1)
    width = min(float(few), 2 * _REACH * sd * np.sqrt(few) + 20 * step)
    while width / step > _LARGEST_FFT and mass.size > _FEWEST_CELLS:
        mass = _coarser(mass)
        step = 1 / (mass.size - 1)
    size = 1 << int(np.ceil(np.log2(width / step + 2)))
    cells = -(-mass.size // size) * size
    wrapped = np.pad(mass, (0, cells - mass.size)).reshape(-1, size).sum(axis=0)
    total = np.fft.irfft(np.fft.rfft(wrapped) ** few, n=size)
    first = max(0, round(few * mean / step) - size // 2)
    order = (first + np.arange(size)) % size
    values = (first + np.arange(size)) * step / few
    inside = values <= 1 + 1e-12
    probability = np.maximum(total[order][inside], 0.0)
    return values[inside], probability / probability.sum()


def _coarser(mass: FloatArray) -> FloatArray:
    """Half as many cells; odd points are split between their neighbours, the mean is kept."""
    merged = mass[::2].copy()
    merged[:-1] += mass[1::2] / 2
    merged[1:] += mass[1::2] / 2
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
        mass = _coarser(mass)
    placement = np.linspace(0.0, 1.0, mass.size)
    known = mass > 0
    v, log_mass = placement[known], np.log(mass[known])
    low, high = (float(means[weight > 1e-14][i]) for i in (0, -1))
    tilts = _tilts_to_span(v, log_mass, low, high)
    logs = log_mass + tilts[:, None] * v
    tilted = np.exp(logs - logs.max(axis=1, keepdims=True))
    tilted /= tilted.sum(axis=1, keepdims=True)
    centre = tilted @ v
    above = np.cumsum(tilted[:, ::-1], axis=1)[:, ::-1]
    smaller = above[:, 0] ** 2 * v[0] + above[:, 1:] ** 2 @ np.diff(v)
    variance = centre / few + (1 - 1 / few) * smaller - centre**2
    return np.maximum(np.interp(means, centre, variance), 1e-12)


def _tilts_to_span(v: FloatArray, log_mass: FloatArray, low: float, high: float) -> FloatArray:
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
    grid = np.linspace(-1, 1, _TILTS)
    return np.where(grid < 0, -ends[0], ends[1]) * grid * np.abs(grid)


def _add_noise(
    levels: FloatArray,
    means: FloatArray,
    probability: FloatArray,
    noise: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Distribution function and its complement of mean plus noise, at the levels.

    The noise is a Beta variable with the mean and the variance given: like the estimate it stays
    in [0, 1], and leans away from the nearer end.
    """
    means, probability, noise = _merged(means, probability, noise)
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
    means: FloatArray, probability: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Points that lie closer than the noise, put together; their spread joins the noise."""
    kept = probability > _RARE
    means, probability, noise = means[kept], probability[kept], noise[kept]
    typical = float(np.sqrt(probability @ noise**2 / probability.sum()))
    spacing = max(typical / 3, float(np.ptp(means)) / _NOISE_POINTS)
    _, group = np.unique(((means - means[0]) / spacing).astype(np.int64), return_inverse=True)
    total = np.bincount(group, probability)
    centre = np.bincount(group, probability * means) / total
    variance = np.bincount(group, probability * (noise**2 + (means - centre[group]) ** 2)) / total
    return centre, total, np.sqrt(variance)


def _beta(x: FloatArray, mean: float, sd: float) -> tuple[FloatArray, FloatArray]:
    """Distribution function and complement of a Beta variable; normal where it is narrow."""
    size = mean * (1 - mean) / sd**2 - 1
    if min(mean, 1 - mean) > 40 * sd or size <= 0:
        z = (x - mean) / sd
        return ndtr(z), ndtr(-z)
    a, b, x = mean * size, (1 - mean) * size, np.clip(x, 0.0, 1.0)
    return betainc(a, b, x), betaincc(a, b, x)
