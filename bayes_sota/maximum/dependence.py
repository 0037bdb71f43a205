"""Dependent classifiers given a reference classifier, and the law of their success counts.

A reference classifier gets ``S0 ~ Binomial(n, theta0)`` items right. Given ``S0 = k`` the
classifiers are independent, and one of skill ``theta`` has the success count
``Binomial(k, a) + Binomial(n - k, b)`` (Eq. 6 and 7 of Møllersen & Holsbø, arXiv 2303.07272).
``survival`` sums its characteristic function; the error is below 1e-15, 1e-13 for a million items.
``tests/maximum/test_dependence.py`` compares with 40-digit arithmetic and with convolutions.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import OPEN_SHARE, Range
from bayes_sota.core.errors import InfeasibleCorrelationError
from bayes_sota.core.types import FloatArray, IntArray

_TAIL_EXPONENT = 42.0  # mass outside a window is below 2 exp(-42) = 1e-18
_EXPONENT = (38.0, 24.0)  # frequencies with |phi| below exp(-38) are dropped, of tables exp(-24)
_GROWTH = 600.0  # largest exponent that repeated multiplication may reach
_ROUND_OFF = 1e-12


def feasible_correlation(skill: ArrayLike, reference_skill: float) -> FloatArray:
    r"""Largest correlation of a classifier with the reference classifier, in (0, 1].

    .. math:: \sqrt{\min(o, 1/o)}, \quad
              o = \frac{\theta}{1-\theta} \Big/ \frac{\theta_0}{1-\theta_0}

    by Eq. 8 of Møllersen & Holsbø (b >= 0) and a <= 1.
    """
    skill = np.asarray(skill, dtype=np.float64)
    with np.errstate(divide="ignore", over="ignore"):
        odds_ratio = (skill + 0.0) / (1 - skill) * ((1 - reference_skill) / reference_skill)
        return np.asarray(np.sqrt(np.minimum(odds_ratio, 1 / odds_ratio)), np.float64)


def feasible_skills(correlation: float, reference_skill: float) -> tuple[float, float]:
    r"""Smallest and largest skill for which a correlation with the reference is feasible.

    .. math:: \frac{\rho^2 o}{1 + \rho^2 o} \le \theta \le \frac{o}{o + \rho^2}, \qquad
              o = \frac{\theta_0}{1-\theta_0}

    by Eq. 8 of Møllersen & Holsbø and a <= 1 (Eq. 6).
    """
    odds = reference_skill / (1 - reference_skill)
    return correlation**2 * odds / (1 + correlation**2 * odds), odds / (odds + correlation**2)


def correlation_of_similarity(similarity: float, skill: float) -> float:
    r"""Correlation with the reference classifier, from the share of items on which two agree.

    Two classifiers of skill t are both right, or both wrong, with probability (Mania et al. 2019)

    .. math:: s = (1-t)^2 + t^2 + 2 \rho_{jk} t (1-t), \qquad \rho = \sqrt{\rho_{jk}}

    Parameters
    ----------
    similarity : float
        s.
    skill : float
        t, in (0, 1).

    Returns
    -------
    float
        rho, in [0, 1].

    Raises
    ------
    InputError
        A similarity below that of independent classifiers, or above 1.

    Examples
    --------
    ImageNet models of accuracy 0.756 with a similarity of 0.85:

    >>> round(correlation_of_similarity(0.85, 0.756), 2)
    0.77
    """
    OPEN_SHARE.check(skill, "skill")
    least = (1 - skill) ** 2 + skill**2
    Range(least, 1).check(similarity, "similarity")
    return float(np.sqrt((similarity - least) / (1 - least)))


def conditional_probabilities(
    skill: ArrayLike, correlation: ArrayLike, reference_skill: float
) -> tuple[FloatArray, FloatArray]:
    r"""Probability of being right given that the reference classifier is right, and wrong.

    .. math::
        a &= \theta + \rho \sqrt{\theta(1-\theta)(1-\theta_0)/\theta_0} \quad (6) \\
        b &= \theta - \rho \sqrt{\theta(1-\theta)\theta_0/(1-\theta_0)} \quad (7)

    Møllersen & Holsbø, broadcast. An infeasible correlation becomes the largest feasible one.
    """
    skill = np.asarray(skill, dtype=np.float64)
    if not np.any(correlation):
        same = np.broadcast_to(skill, np.broadcast_shapes(skill.shape, np.shape(correlation)))
        return same, same
    limit = feasible_correlation(skill, reference_skill)
    rho = np.minimum(np.asarray(correlation, np.float64), limit)
    sd = np.sqrt(skill * (1 - skill))
    odds = reference_skill / (1 - reference_skill)
    a = skill + rho * sd / np.sqrt(odds)
    b = skill - rho * sd * np.sqrt(odds)
    # 1 or 0 but for a rounding, which would give other random numbers on another processor
    return np.where(a > 1 - _ROUND_OFF, 1.0, a), np.where(b < _ROUND_OFF, 0.0, b)


def require_feasible(skill: ArrayLike, correlation: float, reference_skill: float) -> None:
    """``InfeasibleCorrelationError`` if some classifier cannot have this correlation."""
    limits = np.atleast_1d(feasible_correlation(skill, reference_skill))
    worst = int(np.argmin(limits))
    if correlation > limits[worst] + 1e-12:
        low, high = feasible_skills(correlation, reference_skill)
        raise InfeasibleCorrelationError(
            f"a classifier of skill {np.atleast_1d(skill)[worst]:.3g} cannot have correlation "
            f"{correlation:g} with a reference classifier of skill {reference_skill:.3g}: at most "
            f"{math.floor(limits[worst] * 1e4) / 1e4:g} is possible, or skills from "
            f"{math.ceil(low * 1e4) / 1e4:g} to {math.floor(high * 1e4) / 1e4:g} "
            "(in Python cap_correlation=True takes the largest possible one)"
        )


def tail_half_width(variance: ArrayLike) -> FloatArray:
    r"""Distance from the mean beyond which a sum of indicators has mass below 1e-18.

    Bernstein's inequality :math:`P(X - \mu \ge t) \le \exp(-t^2 / (2v + 2t/3))`, solved for t.
    """
    third = _TAIL_EXPONENT / 3
    variance = np.asarray(variance, dtype=np.float64)
    return third + np.sqrt(third**2 + 2 * variance * _TAIL_EXPONENT)


def log_characteristic_function(
    probability: FloatArray, frequency: FloatArray
) -> NDArray[np.complex128]:
    r"""Centred log characteristic functions :math:`\log(1 - p + p e^{it}) - ipt`, (N, F).

    Computed for the rarer outcome, as the count multiplies the rounding error.
    """
    p, t = probability[:, None], frequency
    q, wave = np.minimum(p, 1 - p), 2 * np.sin(t / 2) ** 2
    angle = np.arctan2(q * np.sin(t), 1 - q * wave) - q * t
    # p = 1/2 at t = pi: the characteristic function is zero, its logarithm as good as
    real = 0.5 * np.log1p(-np.minimum(2 * q * (1 - q) * wave, 1 - 1e-16))
    return np.asarray(real + 1j * np.where(p > 0.5, -angle, angle))


def reference_nodes(
    n_test: int, reference_skill: float, step: float, half_width: float = 7.3
) -> tuple[IntArray, FloatArray]:
    """Counts and probabilities for the sum over S0 ~ Binomial(n_test, reference_skill), (K,) each.

    They are ``step`` standard deviations apart and reach ``half_width`` of them: the trapezoidal
    rule converges exponentially.
    """
    mean = n_test * reference_skill
    sd = float(np.sqrt(mean * (1 - reference_skill)))
    reach = half_width * sd + half_width**2 / 6
    low, high = max(0, math.floor(mean - reach)), min(n_test, math.ceil(mean + reach))
    counts = np.arange(low, high + 1, dtype=np.int64)
    # ratios of neighbours, where log gamma functions lose nine digits at n = 1,000,000
    mode = int(np.clip(np.floor((n_test + 1) * reference_skill), low, high))
    odds = reference_skill / (1 - reference_skill)
    up, down = np.arange(mode, high, dtype=np.float64), np.arange(mode, low, -1, dtype=np.float64)
    above = np.cumprod((n_test - up) / (up + 1) * odds)
    below = np.cumprod(down / (n_test - down + 1) / odds)
    pmf = np.concatenate([below[::-1], [1.0], above])
    stride = int(np.clip(step * sd, 1, counts.size))
    chosen = np.arange((mode - low) % stride, counts.size, stride)
    return counts[chosen], pmf[chosen] / pmf[chosen].sum()


def success_law(
    skills: FloatArray, counts: IntArray, n_test: int, correlation: float, reference_skill: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """``a`` and ``b``, (N,), and mean and variance of the count given each S0, (K, N)."""
    a, b = conditional_probabilities(skills, correlation, reference_skill)
    k = counts[:, None].astype(np.float64)
    variance = k * (a * (1 - a)) + (n_test - k) * (b * (1 - b))
    return a, b, k * a + (n_test - k) * b, variance


def count_window(mean: FloatArray, variance: FloatArray, n_test: int) -> tuple[int, int]:
    """Lowest and highest count that carry mass, for sums with these means and variances."""
    reach = tail_half_width(variance)
    low = max(0, int(np.floor((mean - reach).min())))
    return low, min(n_test, int(np.ceil((mean + reach).max())))


def survival(
    skills: FloatArray,
    counts: IntArray,
    n_test: int,
    correlation: float,
    reference_skill: float,
    *,
    edges: IntArray | None = None,
    weights: FloatArray | None = None,
) -> tuple[int, FloatArray]:
    """First count of the window, and ``P(X > x | S0 = counts[k], skills[i])``, (E, K, N).

    The x are ``edges`` (E,), by default all counts. With ``weights`` (N,) the sum over skills.
    """
    a, b, mean, variance = success_law(skills, counts, n_test, correlation, reference_skill)
    low, high = count_window(mean, variance, n_test)
    size = (high - low + 1) | 1  # odd: no frequency is pi
    t = 2 * np.pi * np.arange(size // 2 + 1) / size
    # log |phi| = 1/2 sum log(1 - 2 p (1 - p) wave) <= -variance * wave
    alive = 2 * variance.min() * np.sin(t / 2) ** 2 <= _EXPONENT[edges is not None]
    t = t[: int(np.flatnonzero(alive)[-1]) + 1]
    log_a, log_b = (log_characteristic_function(p, t) for p in (a, b))
    # inverse transform over the counts above each edge, a geometric sum
    x = np.arange(low, high + 1) if edges is None else edges
    places = np.clip(x - low, -1, size - 1)
    sums = (np.exp(-1j * t[1:, None] * (places + 1)) - 1) / (1 - np.exp(-1j * t[1:, None]))
    kernel = np.vstack([size - 1 - places, 2 * sums]) / size
    parts = np.stack([kernel.real, -kernel.imag], axis=1).reshape(-1, places.size)
    above = np.empty((places.size, counts.size, a.size if weights is None else 1))
    # log characteristic function of the count minus ``low``, linear in S0
    stride = float(counts[1] - counts[0]) if counts.size > 1 else 0.0
    start = counts[0] * log_a + (n_test - counts[0]) * log_b + 1j * t * (mean[0] - low)[:, None]
    slope = stride * (log_a - log_b + 1j * t * (a - b)[:, None])
    phi, ratio = np.exp(start), np.exp(slope)
    steps = int(_GROWTH / max(float(slope.real.max()), 1e-9)) + 1
    for row in range(counts.size):  # by multiplication, begun anew before it grows too much
        if row:
            phi = phi * ratio if row % steps else np.exp(start + row * slope)
        summed = phi if weights is None else (weights @ phi)[None]
        above[:, row] = (summed.view(np.float64) @ parts).T
    if weights is not None:  # interpolated ones may be negative
        return low, above[..., 0]
    return low, np.clip(above, 0.0, 1.0, out=above)
