r"""Law of one AUC estimate: placements of the rarer class, convolved, and the other class's noise.

Given the scores ``u_1, ..., u_a`` of the rarer class, on the scale on which the other class is
standard normal, the estimate is a mean over the b items of that class,

.. math:: \hat A = \frac1b \sum_j G(w_j), \quad G(w) = \frac1a \sum_i 1\{u_i > w\}, \quad
          E(\hat A \mid u) = \frac1a \sum_i \Phi(u_i)

The mean of the placements :math:`\Phi(u_i)` is convolved exactly (FFT); the b scores add noise with
the variance that belongs to that mean by exponential tilting.
"""

from typing import Any

import numpy as np

from bayes_sota.auc.moments import bivariate_normal
from bayes_sota.core.types import FloatArray

__all__ = [
    "CELLS",
    "NEARLY_ONE",
    "add_noise",
    "conditional_variance",
    "distribution_at",
    "mean_placement",
    "placement_scale",
    "placements",
    "placements_of_kinds",
    "tilts_to_span",
]

CELLS = 4096  # of one placement
NEARLY_ONE = 1 - 2.0**-53
_LARGEST_FFT, _FEWEST_CELLS = 2**15, 300
_MANY, _POINTS = 2**17, 512  # points of a window that are too many, and enough for a smooth law
_REACH = 13.0  # half width of the window in standard deviations of the mean placement
_NOISE = 12.0  # standard deviations beyond which the noise of the larger class does not reach
_RARE = 1e-17  # what an FFT cannot tell from nothing
_STEEP = 0.2  # relative change of mass from cell to cell
_COARSE = 600  # cells of a placement that are enough for a variance
_TILTS = 61


def distribution_at(
    levels: FloatArray, auc: float, a: int, b: int, ratio: float
) -> tuple[FloatArray, FloatArray]:
    """Distribution function of one estimate, and its complement, at the levels."""
    centre, spread = placement_scale(auc, a, b, ratio)
    few, many = min(a, b), max(a, b)
    placement, mass = placements(centre, spread)
    means, probability = mean_placement(placement, mass, few)
    noise = np.sqrt(conditional_variance(placement, mass, few, means, probability) / many)
    return add_noise(levels, means, probability, noise)


def placement_scale(auc: float, a: int, b: int, ratio: float) -> tuple[float, float]:
    """Mean and spread of the rarer class's scores where the other class is standard normal."""
    from scipy.special import ndtri

    mu = float(ndtri(auc)) * np.sqrt(1 + ratio**2)
    return (mu, ratio) if a <= b else (mu / ratio, 1 / ratio)


def placements(
    centre: float, spread: float, low: float = 0.0, high: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Lattice of placements in [low, high] and their probabilities; keeps the mean of each cell."""
    from scipy.special import ndtr, ndtri

    edges = np.linspace(low, high, CELLS + 1)
    score = ndtri(edges)  # placement of a score u is Phi(u)
    mass = np.diff(ndtr((score - centre) / spread))
    # E(Phi(u); u < c) = Phi_2: the mean within each cell, to split it between its two ends
    inside = np.diff(_partial_mean(score, centre, spread)) / np.maximum(mass, 1e-300)
    return edges, _split(mass, (inside - low) / (high - low) * CELLS - np.arange(CELLS))


def placements_of_kinds(centres: FloatArray, spread: float) -> tuple[FloatArray, FloatArray]:
    """The same for several centres, (K,) and (k, K), on half as many cells.

    Where the mass hardly changes from cell to cell it is linear within; elsewhere exact.
    """
    from scipy.special import ndtr, ndtri

    edges = np.linspace(0.0, 1.0, CELLS // 2 + 1)
    score = ndtri(edges)
    mass = np.diff(ndtr((score - centres[:, None]) / spread), axis=1)
    outside = np.pad(mass, ((0, 0), (1, 1)))
    slope = (outside[:, 2:] - outside[:, :-2]) / (2 * np.maximum(mass, 1e-300))
    share = 0.5 + slope / 12
    steep = np.abs(slope) > _STEEP
    steep[:, [0, -1]] = True
    row, cell = np.nonzero(steep & (mass > _RARE))
    upper, lower = (_partial_mean(score[cell + i], centres[row], spread) for i in (1, 0))
    share[row, cell] = (upper - lower) / mass[row, cell] * (CELLS // 2) - cell
    return edges, _split(mass, share)


def _split(mass: FloatArray, share: FloatArray) -> FloatArray:
    """Mass of each cell, (..., K), put on its ends, (..., K + 1), that share on the upper one."""
    share = np.clip(share, 0.0, 1.0)
    lattice = np.zeros((*mass.shape[:-1], mass.shape[-1] + 1))
    lattice[..., 1:] += mass * share
    lattice[..., :-1] += mass * (1 - share)
    return lattice


def _partial_mean(score: FloatArray, centre: float | FloatArray, spread: float) -> FloatArray:
    r""":math:`E(\Phi(u); u \le c)`: the probability that a standard normal w < u and u < c."""
    total = np.sqrt(1 + spread**2)
    ends = np.clip((score - centre) / spread, -38.0, 38.0)
    return bivariate_normal(np.asarray(centre) / total, ends, -spread / total)


def mean_placement(
    placement: FloatArray, mass: FloatArray, few: int
) -> tuple[FloatArray, FloatArray]:
    """Law of the mean of ``few`` placements: values and probabilities, by FFT on a window.

    ``mass`` has shape (K,), or (k, K) for k kinds of items in equal shares. So many items that
    even a coarse lattice is long are summed by ``_mean_of_many``.
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
    if width / step > _MANY:
        return _mean_of_many(kinds, few, width)
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


def _mean_of_many(kinds: FloatArray, few: int, width: float) -> tuple[FloatArray, FloatArray]:
    """The same from the few low frequencies at which the characteristic function is not zero."""
    v = np.linspace(0.0, 1.0, kinds.shape[1])
    centres = kinds @ v / kinds.sum(axis=1)
    frequency = 2 * np.pi / width * np.arange(_POINTS // 2 + 1)
    turned = np.exp(1j * frequency[:, None] * v)
    own = kinds @ turned.T * np.exp(-1j * frequency * centres[:, None])
    logs = np.log(np.maximum(np.abs(own), 1e-300)) + 1j * np.angle(own)
    total = np.fft.irfft(np.exp(few / len(kinds) * logs.sum(axis=0)).conj(), n=_POINTS)
    sums = few * centres.mean() + width / _POINTS * (np.arange(_POINTS) - _POINTS // 2)
    inside = (sums >= 0) & (sums <= few)
    probability = np.maximum(np.fft.fftshift(total)[inside], 0.0)
    return sums[inside] / few, probability / probability.sum()


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


def conditional_variance(
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
    tilts = tilts_to_span(v, log_mass, low, high)
    logs = log_mass + tilts[:, None] * v
    tilted = np.exp(logs - logs.max(axis=1, keepdims=True))
    tilted /= tilted.sum(axis=1, keepdims=True)
    centre = tilted @ v
    above = np.cumsum(tilted[:, ::-1], axis=1)[:, ::-1]
    smaller = above[:, 0] ** 2 * v[0] + above[:, 1:] ** 2 @ np.diff(v)
    variance = centre / few + (1 - 1 / few) * smaller - centre**2
    return np.asarray(np.maximum(np.interp(means, centre, variance), 1e-12))


def tilts_to_span(
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


def add_noise(
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
