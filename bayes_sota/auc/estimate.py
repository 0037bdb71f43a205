r"""One AUC estimate: its moments, its exact law, and the scale on which estimates are normal.

Scores are binormal (``auc.laws``), with the spread ratio ``s``. Given the scores ``u_1, ..., u_a``
of the rarer class, on the scale on which the other class is standard normal, the estimate is a mean
over the b items of that class,

.. math:: \hat A = \frac1b \sum_j G(w_j), \quad G(w) = \frac1a \sum_i 1\{u_i > w\}, \quad
          E(\hat A \mid u) = \frac1a \sum_i \Phi(u_i)

The mean of the placements :math:`\Phi(u_i)` has an exact law (FFT); the b scores add noise, whose
variance given that mean comes from exponential tilting.

The normal score of an estimate, :math:`g(x; A) = \Phi^{-1} F_A(x)`, is interpolated between few A
on the scale :math:`T(A) = \int dA / \mathrm{sd}(A)`, where estimates have a standard deviation of
one. ``tests/auc`` compares both with simulated scores.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, ndtr, ndtri, owens_t

from bayes_sota.core.arguments import RATIO, SHARE, Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.types import FloatArray

_ITEMS = Range(2, 10_000_000, whole=True)  # of a class
_CELLS, _LARGEST_FFT, _FEWEST_CELLS = 4096, 2**15, 300  # of the lattice of placements
_REACH = 13.0  # standard deviations of the mean placement
_NOISE = 12.0  # standard deviations of the noise
_RARE = 1e-17  # an FFT cannot tell less from nothing
_POINTS = 600  # of a mean to which noise is added
_TILTS = np.sinh(np.linspace(-12.0, 12.0, 101))
_OFFSETS = np.linspace(-6.5, 6.5, 53)  # standard errors from A at which g is tabulated
_SPACING, _FEWEST = 2.0, 6  # standard errors between tabulated AUCs, and their number
_LOG_ODDS = np.linspace(-9.0, 28.0, 4626)
_ROUNDS = 8  # of the fixed point that inverts g
_TINY = 1e-13


def auc_std(auc: ArrayLike, n_positive: int, n_negative: int, spread_ratio: float = 1.0) -> Any:
    """Standard deviation of the AUC estimate of one classifier."""
    return np.sqrt(auc_covariance(auc, n_positive, n_negative, 1.0, spread_ratio))


def auc_covariance(
    auc: ArrayLike, n_positive: int, n_negative: int, correlation: float, spread_ratio: float = 1.0
) -> Any:
    r"""Covariance of the AUC estimates of two classifiers of the same AUC on the same items.

    Within each class the scores of an item correlate by r = ``correlation`` between the
    classifiers. For equal spreads (the paper's Sec. 5.3.1), with :math:`\delta = \Phi^{-1}(A)`,

    .. math:: \mathrm{Cov} = \frac{\Phi_2(\delta, \delta; r) - A^2
              + (n_+ + n_- - 2)\{\Phi_2(\delta, \delta; r/2) - A^2\}}{n_+ n_-}

    For unequal spreads positives weigh ``s^2 / (1 + s^2)``, negatives ``1 / (1 + s^2)``, not a
    half.
    """
    value, a, b = checked_auc(auc), *checked_sizes(n_positive, n_negative)
    SHARE.check(correlation, "correlation")
    of_positives = 1 / (1 + RATIO.check(spread_ratio, "spread_ratio") ** -2)

    def excess(share: float) -> FloatArray:
        return _both_below(value, correlation * share) - value**2

    shared = (b - 1) * excess(of_positives) + (a - 1) * excess(1 - of_positives)
    return (excess(1.0) + shared) / (a * b)


def auc_estimate_correlation(
    auc: ArrayLike, n_positive: int, n_negative: int, correlation: float, spread_ratio: float = 1.0
) -> Any:
    r"""Correlation of AUC estimates with the part that they share, from that of the scores.

    Where the scores of every item correlate by ``r`` with a reference score (Sec. 5.3.1 of
    Møllersen & Holsbø), the estimates of two classifiers correlate by less than ``r ** 2``:

    .. math:: \rho = \sqrt{\mathrm{Cov}(r^2) / \mathrm{Var}}

    Parameters
    ----------
    auc : array_like
        In (0, 1).
    n_positive, n_negative : int
        Items of each class, at least 2.
    correlation : float
        ``r``, in [0, 1].
    spread_ratio : float
        Standard deviation of the positives' scores over that of the negatives'.

    Returns
    -------
    ndarray
        rho, of the shape of ``auc``.

    Raises
    ------
    InputError
        A number outside its range.

    Examples
    --------
    >>> round(float(auc_estimate_correlation(0.9, 51, 2949, 0.6)), 3)
    0.534
    """
    shared = auc_covariance(auc, n_positive, n_negative, correlation**2, spread_ratio)
    return np.sqrt(np.maximum(shared, 0.0)) / auc_std(auc, n_positive, n_negative, spread_ratio)


def checked_auc(auc: ArrayLike) -> FloatArray:
    """Check AUCs."""
    values = np.asarray(auc, dtype=np.float64)
    if values.size == 0 or not np.all((values > 0) & (values < 1)):
        raise InputError(f"an AUC must lie in (0, 1), got {values}")
    return values


def checked_sizes(n_positive: int, n_negative: int) -> tuple[int, int]:
    """Check the numbers of items."""
    return _ITEMS.check(n_positive, "n_positive"), _ITEMS.check(n_negative, "n_negative")


def _both_below(probability: Any, r: float) -> Any:
    r""":math:`\Phi_2(h, h; r)` of two standard normals, each below h with this probability."""
    return probability - 2 * owens_t(ndtri(probability), np.sqrt((1 - r) / (1 + r)))


def estimate_cdf(levels: FloatArray, auc: float, a: int, b: int, ratio: float) -> FloatArray:
    """Cdf of one estimate at increasing levels, (L,); ``a`` positives, ``b`` negatives."""
    few, many = min(a, b), max(a, b)
    # of the rarer class, where the other is standard normal
    centre, spread = float(ndtri(auc)) * np.sqrt(1 + ratio**2), ratio
    if a > b:
        centre, spread = centre / ratio, 1 / ratio
    variance = float(_both_below(auc, spread**2 / (1 + spread**2))) - auc**2
    reach = 2 * _REACH * np.sqrt(max(variance, 1e-18) * few) + 20 / _CELLS
    width, cells = min(float(few), max(1.0, reach)), _CELLS
    while width * cells > _LARGEST_FFT and cells > _FEWEST_CELLS:
        cells //= 2
    placements = _placements(cells, centre, spread)
    means, mass = _mean_placement(placements, few, auc, width)
    return _with_noise(levels, means, mass, _conditional_variance(placements, few, means) / many)


def _placements(cells: int, centre: float, spread: float) -> FloatArray:
    """Probabilities of placements on a lattice of [0, 1]: means of hat functions."""
    edges = np.linspace(0.0, 1.0, cells + 1)
    x, w = np.polynomial.legendre.leggauss(6)
    inside = edges[:-1, None] + (x + 1) / (2 * cells)
    below, average = (ndtr((ndtri(v) - centre) / spread) for v in (edges, inside))
    average = average @ w / 2
    mass = np.zeros(cells + 1)
    mass[1:] += below[1:] - average
    mass[:-1] += average - below[:-1]
    return np.maximum(mass, 0.0)


def _mean_placement(
    placements: FloatArray, few: int, mean: float, width: float
) -> tuple[FloatArray, FloatArray]:
    """Values and probabilities of the mean of ``few`` placements, by FFT."""
    cells = placements.size - 1
    size = 1 << int(np.ceil(np.log2(width * cells + 2)))
    total = np.fft.irfft(np.fft.rfft(placements, size) ** few, size)
    count = max(0, round(few * mean * cells) - size // 2) + np.arange(size)
    count = count[count <= few * cells]
    probability = np.maximum(total[count % size], 0.0)
    return count / (few * cells), probability / probability.sum()


def _conditional_variance(mass: FloatArray, few: int, means: FloatArray) -> FloatArray:
    r"""Variance of :math:`G(w)` given the mean placement, at each of its values.

    .. math:: \mathrm{Var}(G \mid \bar V = v) \approx \frac{v}{a} + \Big(1 - \frac1a\Big)
              E_\tau \min(V, V') - v^2

    with independent V and V' under the exponential tilt of the placements that has mean v.
    """
    known = mass > 0
    v = np.linspace(0.0, 1.0, mass.size)[known]
    logs = np.log(mass[known]) + _TILTS[:, None] * v
    tilted = np.exp(logs - logs.max(axis=1, keepdims=True))
    tilted /= tilted.sum(axis=1, keepdims=True)
    centre = tilted @ v
    above = np.cumsum(tilted[:, ::-1], axis=1)[:, ::-1]
    smaller = v[0] + above[:, 1:] ** 2 @ np.diff(v)
    variance = centre / few + (1 - 1 / few) * smaller - centre**2
    return np.maximum(np.interp(means, centre, variance), 1e-12)


def _with_noise(
    levels: FloatArray, means: FloatArray, mass: FloatArray, variance: FloatArray
) -> FloatArray:
    """Cdf of mean plus noise at the levels, (L,).

    Means that are closer than the noise are merged, and their spread joins the noise, which is
    Beta, and normal where it is narrow.
    """
    kept = mass > _RARE
    means, mass, variance = means[kept], mass[kept], variance[kept]
    spacing = max(np.sqrt(mass @ variance / mass.sum()) / 3, np.ptp(means) / _POINTS)
    group = np.unique(((means - means[0]) / spacing).astype(np.int64), return_inverse=True)[1]
    total = np.bincount(group, mass)
    centre = np.bincount(group, mass * means) / total
    variance = np.bincount(group, mass * (variance + (means - centre[group]) ** 2)) / total
    below = np.zeros(levels.size)
    for v, weight, sd in zip(centre, total, np.sqrt(variance), strict=True):
        first, last = np.searchsorted(levels, [v - _NOISE * sd, v + _NOISE * sd])
        x, size = levels[first:last], v * (1 - v) / sd**2 - 1
        narrow = min(v, 1 - v) > 40 * sd or size <= 0
        cdf = ndtr((x - v) / sd) if narrow else betainc(v * size, (1 - v) * size, x.clip(0, 1))
        below[first:last] += weight * cdf
        below[last:] += weight
    return below


@dataclass(frozen=True, eq=False)
class AucScores:
    """Normal scores of AUC estimates on one test set.

    ``stable`` and ``errors`` (4626,) are T and the standard error at the log odds of AUCs;
    ``correction`` is a spline of ``g - (T(x) - T(A))`` over T(A) and ``T(x) - T(A)``.
    """

    n_positive: int
    n_negative: int
    spread_ratio: float
    stable: FloatArray = field(repr=False)
    errors: FloatArray = field(repr=False)
    correction: Any = field(repr=False)

    @property
    def largest(self) -> float:
        """AUC one standard error below 1."""
        return float(self.from_stabilized(self.stable[-1] - 1.0))

    @property
    def lattice(self) -> float:
        """Half the distance between attainable estimates."""
        return 0.5 / (self.n_positive * self.n_negative)

    def standard_error(self, auc: ArrayLike) -> FloatArray:
        return np.interp(_log_odds(auc), _LOG_ODDS, self.errors)

    def stabilized(self, auc: ArrayLike) -> FloatArray:
        return np.interp(_log_odds(auc), _LOG_ODDS, self.stable)

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        return expit(np.interp(np.asarray(t, np.float64), self.stable, _LOG_ODDS))

    def normal_score(self, estimate: ArrayLike, auc: ArrayLike) -> FloatArray:
        """g, broadcast; infinite at estimates of 0 and 1."""
        x, base = np.asarray(estimate, np.float64), self.stabilized(auc)
        offset = self.stabilized(x) - base
        g = offset + self._corrected(base, offset)
        g = np.where(x >= 1 - self.lattice / 2, np.inf, g)
        return np.where(x <= self.lattice / 2, -np.inf, g)

    def estimate(self, normal: ArrayLike, auc: ArrayLike) -> FloatArray:
        base = self.stabilized(auc)
        return self.from_stabilized(self._place(np.asarray(normal), base))

    def without_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """Solution theta of ``g(estimate(0, psi); theta) = shift``, broadcast."""
        return self._auc_behind(self._place(np.zeros(()), self.stabilized(psi)), shift)

    def with_shift(self, auc: FloatArray, shift: FloatArray) -> FloatArray:
        return self._auc_behind(self._place(shift, self.stabilized(auc)), np.zeros(()))

    def _auc_behind(self, place: FloatArray, normal: FloatArray) -> FloatArray:
        base = place - normal
        for _ in range(_ROUNDS):
            base = place - normal + self._corrected(base, place - base)
        return self.from_stabilized(base)

    def _place(self, normal: FloatArray, base: FloatArray) -> FloatArray:
        """T of the estimate with this normal score; ``base`` is T(A)."""
        offset = normal
        for _ in range(_ROUNDS):
            offset = normal - self._corrected(base, offset)
        return base + offset

    def _corrected(self, base: FloatArray, offset: FloatArray) -> Any:
        offset = np.clip(offset, _OFFSETS[0], _OFFSETS[-1])
        return self.correction.ev(*np.broadcast_arrays(base, offset))


def _log_odds(auc: ArrayLike) -> FloatArray:
    return logit(np.clip(np.asarray(auc, np.float64), 1e-4, 1 - 1e-12))


@lru_cache(maxsize=8)
def auc_scores(a: int, b: int, lowest: float, highest: float, ratio: float = 1.0) -> AucScores:
    """Normal scores for AUCs from ``lowest`` to ``highest`` of a positives and b negatives."""
    ends = np.round(checked_auc([lowest, highest]), 4)
    aucs = np.clip(expit(_LOG_ODDS), 1e-9, 1 - 1e-13)
    errors = auc_std(aucs, a, b, ratio)
    rate = aucs * (1 - aucs) / errors
    stable = np.append(0.0, np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(_LOG_ODDS)))
    edge = 1 / (a * b)  # between two attainable estimates
    low, high = np.interp(_log_odds(np.minimum(ends, 1 - edge)), _LOG_ODDS, stable)
    count = max(_FEWEST, int(np.ceil((high - low) / _SPACING)) + 1)
    places = np.linspace(min(low, high - 1.0), high, count)

    def correction(place: float) -> FloatArray:
        auc, x = (expit(np.interp(t, stable, _LOG_ODDS)) for t in (place, place + _OFFSETS))
        below = estimate_cdf(x, float(auc), a, b, ratio)
        known = (x > edge / 2) & (x < 1 - edge / 2) & (below > _TINY) & (below < 1 - _TINY)
        return np.interp(_OFFSETS, _OFFSETS[known], (ndtri(below) - _OFFSETS)[known])

    rows = np.array([correction(place) for place in places])
    from scipy.interpolate import RectBivariateSpline

    spline = RectBivariateSpline(places, _OFFSETS, rows, kx=3, ky=1)
    return AucScores(a, b, ratio, stable, errors, spline)
