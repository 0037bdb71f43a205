r"""AUC estimates on a scale where they are nearly normal, exactly, and the best of any field there.

Every estimate gets its normal score

.. math:: g(x; A) = \Phi^{-1} F_A(x)

with the exact law :math:`F_A` of one estimate, so that g is standard normal whatever A is. On the
scale :math:`T(A) = \int dA / \mathrm{sd}(A)`, on which an estimate has a standard deviation of one,
g is :math:`T(x) - T(A)` plus a correction of a few tenths, which is smooth: it is tabulated at few
A and interpolated.

Classifiers of one board share the items. Their normal scores are taken to be jointly normal (one
factor, with the correlation of estimates that follows from that of the scores):

.. math:: P(\max_j \hat A_j \le x) = \int \prod_j \Phi\Big(
          \frac{g(x; A_j) - \rho_j z}{\sqrt{1 - \rho_j^2}}\Big) \varphi(z)\, dz,
          \quad \text{or } \int \Big(\int \Phi(\cdot)\, dP(A)\Big)^m \varphi(z)\, dz

The law of each is exact, the covariance is right, and only the dependence far from the middle is an
approximation. ``tests/auc/test_scores.py`` holds the best of many against simulated scores: the
expected maximum within .03 standard errors, .08 for classes of ten or twenty items.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import RectBivariateSpline
from scipy.special import ndtr, ndtri

from bayes_sota.auc.estimate import (
    auc_estimate_correlation,
    auc_std,
    checked_auc,
    checked_size,
    distribution_at,
)
from bayes_sota.core.numerics import condensed, surely_drawn
from bayes_sota.core.skills import SkillDistribution, expit, logit
from bayes_sota.core.types import FloatArray

_SCORE_REACH, _OFFSETS = 6.5, 53  # standard deviations on each side, and points there
_SPACING = 2.0  # standard errors between tabulated AUCs
_FEWEST = 6
_LOG_ODDS = np.linspace(-9.0, 28.0, 4626)
_ROUNDS = 8  # of the fixed point that inverts g
_FIELD_LEVELS = 800  # at which laws are tabulated
_FAR = 10.0  # standard errors below the best from where nobody becomes the maximum
_REACH = 9.0  # standard errors around the best AUC where laws are tabulated
_BELOW = 18.0  # standard errors below the best from where nobody becomes the maximum
_SHIFTS = np.linspace(-6.0, 6.0, 49)
_PANEL, _PER_PANEL = 1.5, 8  # standard errors, and Gauss-Legendre nodes


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
        a, b = checked_size(n_positive, "positive"), checked_size(n_negative, "negative")
        return _tabulated(a, b, round(low, 4), round(high, 4), spread_ratio)

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
        return p * (1 - p) / self.standard_error(p) ** 2

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

    def with_shift(self, auc: FloatArray, shift: FloatArray) -> FloatArray:
        """AUC whose median estimate is that of ``auc`` moved by ``shift``, broadcast.

        The inverse of ``without_shift``.
        """
        place = self.stabilized(self.estimate(shift, auc))
        base = place
        for _ in range(_ROUNDS):
            base = place + self._corrected(base, np.zeros_like(base))
        return np.minimum(self.from_stabilized(base), 1.0)

    def _corrected(self, base: FloatArray, offset: FloatArray) -> FloatArray:
        base, offset = np.broadcast_arrays(base, np.clip(offset, -_SCORE_REACH, _SCORE_REACH))
        return self.correction.ev(base, offset)


def _log_odds(auc: ArrayLike) -> FloatArray:
    return logit(np.clip(np.asarray(auc, np.float64), 1e-4, 1 - 1e-12))


@lru_cache(maxsize=8)
def _tabulated(a: int, b: int, lowest: float, highest: float, ratio: float) -> AucScores:
    aucs = np.clip(expit(_LOG_ODDS), 1e-9, 1 - 1e-13)
    errors = np.asarray(auc_std(aucs, a, b, ratio))
    rate = aucs * (1 - aucs) / errors
    steps = (rate[1:] + rate[:-1]) / 2 * np.diff(_LOG_ODDS)
    stable = np.concatenate([[0.0], np.cumsum(steps)])
    last = 1 - 1 / (a * b)
    low, high = np.interp(_log_odds([min(lowest, last), min(highest, last)]), _LOG_ODDS, stable)
    count = max(_FEWEST, int(np.ceil((high - low) / _SPACING)) + 1)
    places = np.linspace(min(low, high - 1.0), high, count)
    offsets = np.linspace(-_SCORE_REACH, _SCORE_REACH, _OFFSETS)
    rows = [_correction(place, offsets, stable, a, b, ratio) for place in places]
    spline = RectBivariateSpline(places, offsets, np.array(rows), kx=3, ky=1)
    return AucScores(a, b, ratio, stable, errors, spline)


def _correction(
    place: float, offsets: FloatArray, stable: FloatArray, a: int, b: int, ratio: float
) -> FloatArray:
    """``g - offset`` at one AUC; held constant where no estimate can be."""
    auc = float(expit(np.interp(place, stable, _LOG_ODDS)))
    x = expit(np.interp(place + offsets, stable, _LOG_ODDS))
    inside = (x < 1 - 0.5 / (a * b)) & (x > 0.5 / (a * b))
    below, above = distribution_at(x[inside], auc, a, b, ratio)
    lower, upper = ndtri(np.clip(below, 1e-14, 0.5)), -ndtri(np.clip(above, 1e-14, 0.5))
    known = (below > 1e-13) & (above > 1e-13)
    correction = np.where(below < 0.5, lower, upper) - offsets[inside]
    return np.interp(offsets, offsets[inside][known], correction[known])


@dataclass(frozen=True, eq=False)
class AucField:
    """Test set and correlation, from which the best of any field follows.

    Attributes
    ----------
    scores : AucScores
    correlation : float
        rho of each classifier's scores with a reference score.
    """

    scores: AucScores
    correlation: float

    @classmethod
    def of(
        cls,
        highest: float,
        n_positive: int,
        n_negative: int,
        correlation: float,
        ratio: float,
    ) -> "AucField":
        """For fields whose best AUC is at most ``highest``."""
        lowest = max(highest - _BELOW * float(auc_std(highest, n_positive, n_negative, ratio)), 0.1)
        scores = AucScores.of(n_positive, n_negative, lowest, highest, ratio)
        return cls(scores, correlation)

    def fixed(self, aucs: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Levels and distribution function for classifiers with these AUCs, (L,) each."""
        nodes, weights = near_best(aucs, counts, float(self.scores.standard_error(aucs[-1])))
        levels = self._levels(float(aucs[-1]))
        conditional, shift_weights = self._given(levels, nodes)
        log_below = np.log(np.maximum(conditional, 1e-300)) @ weights
        return levels, np.exp(np.minimum(log_below, 0.0)).T @ shift_weights

    def resampled(self, aucs: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same for as many classifiers, drawn with replacement from these."""
        m = int(counts.sum())
        sure = surely_drawn(aucs, counts, m)
        error = float(self.scores.standard_error(aucs[-1]))
        nodes, weights = near_best(aucs, counts, error, sure)
        return self.random(nodes, weights / m, m, sure)

    def random(
        self,
        nodes: FloatArray,
        weights: FloatArray,
        n_classifiers: int,
        sure: float | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """The same for classifiers whose AUC is ``nodes[i]`` with probability ``weights[i]``.

        ``sure`` is an AUC that one of them all but surely has; default the best.
        """
        levels = self._levels(float(nodes[-1]), sure)
        conditional, shift_weights = self._given(levels, nodes)
        missed = np.clip((1 - conditional) @ weights, 0.0, 1 - 2.0**-53)
        return levels, np.exp(n_classifiers * np.log1p(-missed)).T @ shift_weights

    def _correlation(self, aucs: FloatArray) -> FloatArray:
        """Of estimates with what they share."""
        sizes = (self.scores.n_positive, self.scores.n_negative)
        rho = auc_estimate_correlation(aucs, *sizes, self.correlation, self.scores.spread_ratio)
        return np.asarray(rho, np.float64)

    def _levels(self, best: float, sure: float | None = None) -> FloatArray:
        """Levels that the best score may take, where the best that takes part is ``sure`` to."""
        ends = self.scores.stabilized([best if sure is None else sure, best])
        low, high = self.scores.from_stabilized(ends + np.array([-_REACH, _REACH]))
        return np.linspace(low, high, _FIELD_LEVELS)

    def _given(self, levels: FloatArray, nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probability of at most each level given the shift, (S, L, N), and weights (S,)."""
        g = self.scores.normal_score(levels[:, None], nodes)
        if self.correlation == 0:
            return np.asarray(ndtr(g)[None]), np.ones(1)
        rho = self._correlation(nodes)
        own = np.sqrt(np.maximum(1 - rho**2, 1e-12))
        weights = np.exp(-0.5 * _SHIFTS**2)
        conditional = ndtr((g - rho * _SHIFTS[:, None, None]) / own)
        return np.asarray(conditional), weights / weights.sum()


def near_best(
    aucs: FloatArray, counts: FloatArray, sd: float, sure: float | None = None
) -> tuple[FloatArray, FloatArray]:
    """AUCs that may become the maximum, many distinct ones condensed.

    Those far below the one that is ``sure`` to take part, by default the best, are left out.
    """
    near = aucs >= (aucs[-1] if sure is None else sure) - _FAR * sd
    size = 9 + int(np.ceil(3 * np.ptp(aucs[near]) / sd))
    return condensed(aucs[near], counts[near], size)


def distribution_nodes(
    distribution: SkillDistribution, scores: AucScores
) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and probabilities of a distribution of AUCs, increasing."""
    low, high = distribution.axis_support()
    ends = scores.stabilized(distribution.axis_skill(np.array([low, high])))
    wide = (high - low) / distribution.axis_resolution()
    panels = int(np.ceil(max(wide, float(ends[1] - ends[0]) / _PANEL, 1.0)))
    x, w = np.polynomial.legendre.leggauss(_PER_PANEL)
    edges = np.linspace(low, high, panels + 1)
    half = np.diff(edges)[:, None] / 2
    u = (edges[:-1, None] + half * (x + 1)).ravel()
    weights = (half * w).ravel() * distribution.axis_density(u)
    return np.asarray(distribution.axis_skill(u)), np.asarray(weights / weights.sum())
