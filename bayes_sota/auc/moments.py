r"""Moments of AUC estimates on a test set, of one classifier or of two on the same items.

Scores are binormal: negatives N(0, 1), positives N(mu, s^2) with ``s`` the spread ratio.
``tests/auc/test_law.py`` compares with simulated scores.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

__all__ = [
    "Correlation",
    "auc_covariance",
    "auc_std",
    "bivariate_normal",
    "checked_auc",
    "checked_ratio",
    "checked_size",
]

Correlation = float | tuple[float, float]  # of both classes, or (of positives, of negatives)
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
    correlation: Correlation,
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

    first, second = checked_auc(auc), checked_auc(other)
    a, b = checked_size(n_positive, "positive"), checked_size(n_negative, "negative")
    r_positive, r_negative = _checked_correlation(correlation)
    share = checked_ratio(spread_ratio) ** 2 / (1 + spread_ratio**2)
    delta, gamma = ndtri(first), ndtri(second)
    product = first * second

    def excess(r: float) -> FloatArray:
        return bivariate_normal(delta, gamma, r) - product

    same = excess(share * r_positive + (1 - share) * r_negative)
    positives, negatives = excess(share * r_positive), excess((1 - share) * r_negative)
    return (same + (b - 1) * positives + (a - 1) * negatives) / (a * b)


def bivariate_normal(h: FloatArray, k: FloatArray, r: float) -> FloatArray:
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


def checked_ratio(ratio: float) -> float:
    """Ratio of the classes' spreads, or ``InputError``."""
    if not 0.02 <= ratio <= 50:
        raise InputError(f"spread_ratio must lie between 0.02 and 50, got {ratio:g}")
    return float(ratio)


def _checked_correlation(correlation: Correlation) -> tuple[float, float]:
    pair = correlation if isinstance(correlation, tuple) else (correlation, correlation)
    for r in pair:
        if not 0 <= r <= 1:
            raise InputError(f"correlation must lie in [0, 1], got {r:g}")
    return float(pair[0]), float(pair[1])
