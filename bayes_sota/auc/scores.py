r"""AUC estimates on a scale where they are normal, exactly.

Every estimate gets its normal score

.. math:: g(x; A) = \Phi^{-1} F_A(x)

with the exact law :math:`F_A` of one estimate, so that g is standard normal whatever A is. On the
scale :math:`T(A) = \int dA / \mathrm{sd}(A)`, on which estimates have a standard deviation of one,
g is :math:`T(x) - T(A)` plus a correction of a few tenths, which is smooth: it is tabulated at few
A and interpolated. ``tests/auc/test_scores.py`` compares with the exact law and simulated scores.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import RectBivariateSpline
from scipy.special import ndtri

from bayes_sota.auc.estimate import auc_std, checked_auc, checked_sizes, estimate_cdf
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.types import FloatArray

_OFFSETS = np.linspace(-6.5, 6.5, 53)  # standard errors from A at which g is tabulated
_SPACING, _FEWEST = 2.0, 6  # standard errors between tabulated AUCs, and their number
_LOG_ODDS = np.linspace(-9.0, 28.0, 4626)
_ROUNDS = 8  # of the fixed point that inverts g
_TINY = 1e-13


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
        ends = (round(float(checked_auc(x)), 4) for x in (lowest, highest))
        return _tabulated(*checked_sizes(n_positive, n_negative), *ends, spread_ratio)

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

    def stabilized(self, auc: ArrayLike) -> FloatArray:
        """T, the scale on which an estimate has a standard deviation of one."""
        return np.interp(_log_odds(auc), _LOG_ODDS, self.stable)

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        """AUC at T."""
        return expit(np.interp(np.asarray(t, np.float64), self.stable, _LOG_ODDS))

    def normal_score(self, estimate: ArrayLike, auc: ArrayLike) -> FloatArray:
        """g, broadcast; infinite at estimates of 1 and more, or 0 and less."""
        x, base = np.asarray(estimate, np.float64), self.stabilized(auc)
        offset = self.stabilized(x) - base
        g = offset + self._corrected(base, offset)
        g = np.where(x >= 1 - self.lattice / 2, np.inf, g)
        return np.where(x <= self.lattice / 2, -np.inf, g)

    def estimate(self, normal: ArrayLike, auc: ArrayLike) -> FloatArray:
        """Estimate with the given normal score, broadcast; the inverse of ``normal_score``."""
        base = self.stabilized(auc)
        return np.minimum(self.from_stabilized(self._place(np.asarray(normal), base)), 1.0)

    def without_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """AUC whose median estimate, moved by ``shift`` normal scores, is the median of psi.

        The solution of ``g(estimate(0, psi); theta) = shift``, broadcast: what all estimates of
        one test set share is removed on the scale on which it is added.
        """
        median = self._place(np.zeros(()), self.stabilized(psi))
        place = median - shift
        for _ in range(_ROUNDS):
            place = median - shift + self._corrected(place, median - place)
        return np.minimum(self.from_stabilized(place), 1.0)

    def with_shift(self, auc: FloatArray, shift: FloatArray) -> FloatArray:
        """AUC whose median estimate is that of ``auc`` moved by ``shift``, broadcast.

        The inverse of ``without_shift``.
        """
        place = base = self.stabilized(self.estimate(shift, auc))
        for _ in range(_ROUNDS):
            base = place + self._corrected(base, np.zeros(()))
        return np.minimum(self.from_stabilized(base), 1.0)

    def _place(self, normal: FloatArray, base: FloatArray) -> FloatArray:
        """T of the estimate with this normal score, where T(A) is ``base``."""
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
def _tabulated(a: int, b: int, lowest: float, highest: float, ratio: float) -> AucScores:
    aucs = np.clip(expit(_LOG_ODDS), 1e-9, 1 - 1e-13)
    errors = auc_std(aucs, a, b, ratio)
    rate = aucs * (1 - aucs) / errors
    stable = np.append(0.0, np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(_LOG_ODDS)))
    edge = 1 / (a * b)  # between two attainable estimates
    low, high = np.interp(_log_odds(np.minimum([lowest, highest], 1 - edge)), _LOG_ODDS, stable)
    count = max(_FEWEST, int(np.ceil((high - low) / _SPACING)) + 1)
    places = np.linspace(min(low, high - 1.0), high, count)

    def correction(place: float) -> FloatArray:
        """``g - offset`` at one AUC; held constant where no estimate can be."""
        auc, x = (expit(np.interp(t, stable, _LOG_ODDS)) for t in (place, place + _OFFSETS))
        below = estimate_cdf(x, float(auc), a, b, ratio)
        known = (x > edge / 2) & (x < 1 - edge / 2) & (below > _TINY) & (below < 1 - _TINY)
        return np.interp(_OFFSETS, _OFFSETS[known], (ndtri(below) - _OFFSETS)[known])

    rows = np.array([correction(place) for place in places])
    spline = RectBivariateSpline(places, _OFFSETS, rows, kx=3, ky=1)
    return AucScores(a, b, ratio, stable, errors, spline)
