r"""AUC estimates on a scale where they are nearly normal, exactly.

Every estimate gets its normal score

.. math:: g(x; A) = \Phi^{-1} F_A(x)

with the exact law :math:`F_A` of one estimate (``auc_placements``), so that g is standard normal
whatever A is. On the scale :math:`T(A) = \int dA / \mathrm{sd}(A)`, on which an estimate has a
standard deviation of one, g is :math:`T(x) - T(A)` plus a correction of a few tenths, which is
smooth: it is tabulated at few A and interpolated.

Classifiers of one board share the items. Their normal scores are taken to be jointly normal with
correlation :math:`\rho^2` (one factor): the law of each is exact, the covariance is right, and only
the dependence far from the middle is an approximation. ``tests/auc/test_scores.py`` holds
the best of many against the tilted laws of ``auc_correlated`` and against simulated scores: the
expected maximum within .03 standard errors, .08 for classes of ten or twenty items.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.auc.moments import (
    Correlation,
    auc_covariance,
    auc_std,
    checked_auc,
    checked_ratio,
    checked_size,
)
from bayes_sota.auc.placements import distribution_at
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.types import FloatArray

__all__ = ["AucScores", "auc_estimate_correlation"]

_REACH, _OFFSETS = 6.5, 53  # standard deviations on each side, and points there
_SPACING = 2.0  # standard errors between tabulated AUCs
_FEWEST = 6
_LOG_ODDS = np.linspace(-9.0, 28.0, 4626)
_ROUNDS = 8  # of the fixed point that inverts g


def auc_estimate_correlation(
    auc: ArrayLike,
    n_positive: int,
    n_negative: int,
    correlation: Correlation,
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
    correlation : float or (float, float)
        In [0, 1]; of both classes, or of positives and negatives.
    spread_ratio : float

    Examples
    --------
    >>> round(float(auc_estimate_correlation(0.9, 51, 2949, 0.6)), 3)
    0.534
    """
    sizes = (n_positive, n_negative)
    pair = correlation if isinstance(correlation, tuple) else (correlation, correlation)
    squares = (pair[0] ** 2, pair[1] ** 2)
    shared = auc_covariance(auc, auc, *sizes, squares, spread_ratio=spread_ratio)
    return np.sqrt(np.maximum(shared, 0.0) / auc_std(auc, *sizes, spread_ratio) ** 2)


@dataclass(frozen=True, eq=False)
class AucScores:
    """Normal scores of AUC estimates on one test set.

    Attributes
    ----------
    n_positive, n_negative : int
    spread_ratio : float
    stable : ndarray, shape (4626,)
        T at equally spaced log odds of the AUC.
    errors : ndarray, shape (4626,)
        Standard deviation of an estimate there.
    correction : scipy spline
        ``g - (T(x) - T(A))`` over T(A) and ``T(x) - T(A)``.
    """

    n_positive: int
    n_negative: int
    spread_ratio: float
    stable: FloatArray = field(repr=False)
    errors: FloatArray = field(repr=False)
    correction: Any = field(repr=False)

    @classmethod
    def of(
        cls,
        n_positive: int,
        n_negative: int,
        lowest: float,
        highest: float,
        spread_ratio: float = 1.0,
    ) -> "AucScores":
        """Normal scores for classifiers with an AUC between ``lowest`` and ``highest``.

        Outside that range the correction is that at its end.

        Examples
        --------
        >>> scores = AucScores.of(51, 2949, 0.85, 0.95)
        >>> bool(scores.normal_score(0.9, 0.9) < 0)  # skewed: the median is above the mean
        True
        """
        low, high = sorted(float(checked_auc(x)) for x in (lowest, highest))
        return _tabulated(
            checked_size(n_positive, "positive"),
            checked_size(n_negative, "negative"),
            round(low, 4),
            round(high, 4),
            checked_ratio(spread_ratio),
        )

    @property
    def largest(self) -> float:
        """AUC that stands for 1 where an error is needed: one standard error below it."""
        return float(self.from_stabilized(self.stable[-1] - 1.0))

    @property
    def lattice(self) -> float:
        """Half the distance of two attainable estimates."""
        return 0.5 / (self.n_positive * self.n_negative)

    def standard_error(self, auc: ArrayLike) -> FloatArray:
        """Standard deviation of one estimate."""
        return np.interp(_log_odds(auc), _LOG_ODDS, self.errors)

    def effective_size(self, auc: ArrayLike) -> FloatArray:
        """Number of items on which an accuracy of that size would be as precise."""
        p = np.clip(np.asarray(auc, np.float64), 1e-12, 1 - 1e-12)
        return np.asarray(p * (1 - p) / self.standard_error(p) ** 2)

    def stabilized(self, auc: ArrayLike) -> FloatArray:
        """T, the scale on which an estimate has a standard deviation of one."""
        return np.interp(_log_odds(auc), _LOG_ODDS, self.stable)

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        """AUC at T."""
        return np.asarray(expit(np.interp(np.asarray(t, np.float64), self.stable, _LOG_ODDS)))

    def normal_score(self, estimate: ArrayLike, auc: ArrayLike) -> FloatArray:
        """g, broadcast; infinite at estimates of 1 and more, or 0 and less."""
        x, base = np.asarray(estimate, np.float64), self.stabilized(auc)
        offset = self.stabilized(x) - base
        g = offset + self._corrected(base, offset)
        g = np.where(x >= 1 - self.lattice / 2, np.inf, g)
        return np.asarray(np.where(x <= self.lattice / 2, -np.inf, g))

    def estimate(self, normal: ArrayLike, auc: ArrayLike) -> FloatArray:
        """Estimate with the given normal score, broadcast; the inverse of ``normal_score``."""
        normal, base = np.asarray(normal, np.float64), self.stabilized(auc)
        offset = normal
        for _ in range(_ROUNDS):
            offset = normal - self._corrected(base, offset)
        return np.minimum(self.from_stabilized(base + offset), 1.0)

    def without_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """AUC whose median estimate, moved by ``shift`` normal scores, is the median of psi.

        The solution of ``g(estimate(0, psi); theta) = shift``, broadcast: what all estimates of
        one test set share is removed on the scale on which it is added.
        """
        base = self.stabilized(psi)
        median = base - self._corrected(base, np.zeros_like(base))
        place = median - shift
        for _ in range(_ROUNDS):
            place = median - shift + self._corrected(place, median - place)
        return np.minimum(self.from_stabilized(place), 1.0)

    def _corrected(self, base: FloatArray, offset: FloatArray) -> FloatArray:
        base, offset = np.broadcast_arrays(base, np.clip(offset, -_REACH, _REACH))
        return np.asarray(self.correction.ev(base, offset))


def _log_odds(auc: ArrayLike) -> FloatArray:
    return np.asarray(logit(np.clip(np.asarray(auc, np.float64), 1e-4, 1 - 1e-12)))


@lru_cache(maxsize=8)
def _tabulated(a: int, b: int, lowest: float, highest: float, ratio: float) -> AucScores:
    from scipy.interpolate import RectBivariateSpline

    aucs = np.clip(expit(_LOG_ODDS), 1e-9, 1 - 1e-13)
    errors = np.asarray(auc_std(aucs, a, b, ratio))
    rate = aucs * (1 - aucs) / errors
    steps = (rate[1:] + rate[:-1]) / 2 * np.diff(_LOG_ODDS)
    stable = np.concatenate([[0.0], np.cumsum(steps)])
    last = 1 - 1 / (a * b)
    low, high = np.interp(_log_odds([min(lowest, last), min(highest, last)]), _LOG_ODDS, stable)
    count = max(_FEWEST, int(np.ceil((high - low) / _SPACING)) + 1)
    places = np.linspace(min(low, high - 1.0), high, count)
    offsets = np.linspace(-_REACH, _REACH, _OFFSETS)
    rows = []
    for place in places:
        centre = float(expit(np.interp(place, stable, _LOG_ODDS)))
        rows.append(_correction(place, centre, offsets, stable, a, b, ratio))
    spline = RectBivariateSpline(places, offsets, np.array(rows), kx=3, ky=1)
    return AucScores(a, b, ratio, stable, errors, spline)


def _correction(
    place: float, auc: float, offsets: FloatArray, stable: FloatArray, a: int, b: int, ratio: float
) -> FloatArray:
    """``g - offset`` at one AUC; held constant where no estimate can be."""
    from scipy.special import ndtri

    x = expit(np.interp(place + offsets, stable, _LOG_ODDS))
    inside = (x < 1 - 0.5 / (a * b)) & (x > 0.5 / (a * b))
    below, above = distribution_at(x[inside], auc, a, b, ratio)
    lower, upper = ndtri(np.clip(below, 1e-14, 0.5)), -ndtri(np.clip(above, 1e-14, 0.5))
    known = (below > 1e-13) & (above > 1e-13)
    found = np.where(below < 0.5, lower, upper) - offsets[inside]
    return np.asarray(np.interp(offsets, offsets[inside][known], found[known]))
