"""The cdf of the best score a second time, by a route that shares nothing with the package.

Binomials by recurrence in extended precision, the two-binomial sum by direct summation, every
single value of S0 and no Fourier transform: slow (about a second per value of x at n = 3,000) and
simple enough to check by eye. ``bench_maximum.py law`` holds row 4 of Table 1 of Møllersen & Holsbø
(arXiv 2303.07272) against it.
"""

import numpy as np
from numpy.typing import NDArray

LongArray = NDArray[np.longdouble]
_ONE = np.longdouble(1)


def binomial_pmf(n: int, p: np.longdouble) -> LongArray:
    """Probabilities of 0, ..., n successes, multiplied up and down from the mode."""
    pmf = np.zeros(n + 1, np.longdouble)
    mode = min(n, int((n + 1) * p))
    pmf[mode] = 1
    if 0 < p < 1:
        up = np.arange(mode, n, dtype=np.longdouble)
        pmf[mode + 1 :] = np.cumprod((n - up) / (up + 1) * (p / (_ONE - p)))
        down = np.arange(mode, 0, -1, dtype=np.longdouble)
        pmf[:mode] = np.cumprod(down / (n - down + 1) * ((_ONE - p) / p))[::-1]
    return pmf / pmf.sum()


def reaction(
    skill: np.longdouble, correlation: float, reference_skill: float
) -> tuple[np.longdouble, np.longdouble]:
    """Eq. 6 and 7, with the correlation cut at its feasible maximum."""
    if correlation == 0 or skill in (0, 1):
        return skill, skill
    odds0 = np.longdouble(reference_skill) / (_ONE - np.longdouble(reference_skill))
    odds = skill / (_ONE - skill) / odds0
    rho = min(np.longdouble(correlation), np.sqrt(min(odds, 1 / odds)))
    sd = np.sqrt(skill * (_ONE - skill))
    right, wrong = skill + rho * sd / np.sqrt(odds0), skill - rho * sd * np.sqrt(odds0)
    return min(max(right, 0 * _ONE), _ONE), min(max(wrong, 0 * _ONE), _ONE)


def survival(
    x: NDArray[np.int64], k: int, n: int, right: np.longdouble, wrong: np.longdouble
) -> LongArray:
    """``P(Binomial(k, right) + Binomial(n - k, wrong) > x)`` for every x, by direct summation."""
    first = binomial_pmf(k, right)
    second = np.cumsum(binomial_pmf(n - k, wrong)[::-1])[::-1]  # P(>= j), j = 0, ..., n - k
    used = np.flatnonzero(first > 1e-28)
    used = np.arange(used[0], used[-1] + 1)
    needed = np.asarray(x)[:, None] + 1 - used
    at_least = np.where(needed > n - k, 0, second[np.clip(needed, 0, n - k)])
    return np.asarray(at_least @ first[used])


def maximum_cdf(
    x: NDArray[np.int64],
    n: int,
    skills: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    m: int,
    correlation: float,
    reference_skill: float,
) -> NDArray[np.float64]:
    """``P(max X_j <= x)``; quadrature weights for random skills, None for m = len(skills) fixed."""
    x = np.asarray(x)
    mixing = binomial_pmf(n, np.longdouble(reference_skill)) if correlation else np.ones(1)
    pairs = [reaction(np.longdouble(t), correlation, reference_skill) for t in skills]
    total = np.zeros(x.size, np.longdouble)
    for k in np.flatnonzero(mixing > 1e-16):
        tails = np.array([survival(x, int(k), n, a, b) for a, b in pairs])
        with np.errstate(divide="ignore", invalid="ignore"):
            if weights is None:
                log_cdf = np.log1p(-np.minimum(tails, 1)).sum(axis=0)
            else:
                log_cdf = m * np.log1p(-np.minimum(weights.astype(np.longdouble) @ tails, 1))
        total += mixing[k] * np.exp(log_cdf)
    return np.asarray(total, np.float64)


def gauss_legendre(low: float, high: float, nodes: int) -> tuple[NDArray[np.float64], ...]:
    """Nodes and weights (summing to one) for uniform skills."""
    u, w = np.polynomial.legendre.leggauss(nodes)
    return (low + high) / 2 + (high - low) / 2 * u, w / 2


def table1_row4(x: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cdf of row 4 of Table 1 at success counts x."""
    high = 0.9 + 0.025 / 1001
    skills, weights = gauss_legendre(high - 0.025, high, 24)
    return maximum_cdf(x, 3000, skills, weights, 1000, 0.6, 0.9)
