r"""Law of the best AUC estimate of many classifiers on one test set.

Scores are binormal: negatives N(0, 1), positives N(mu, s^2), so that (Eq. 10 of Møllersen & Holsbø)

.. math:: A = \Phi\!\Big(\frac{\mu}{\sqrt{1 + s^2}}\Big)

Independent classifiers of known AUC have the exact law :math:`\prod_j F_{A_j}(x)`. Otherwise their
normal scores (``AucScores``) share one normal factor:

.. math:: P(\max_j \hat A_j \le x) = \int \prod_j \Phi\Big(
          \frac{g(x; A_j) - \rho_j z}{\sqrt{1 - \rho_j^2}}\Big) \varphi(z)\, dz

or, for m drawn with replacement, the power m of the mean over j. The expected maximum is within
0.03 standard errors, 0.08 for classes of ten or twenty items (``tests/auc/test_law.py``).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from bayes_sota.auc.best import BestLaw, number_of_classifiers
from bayes_sota.auc.estimate import (
    AucScores,
    auc_estimate_correlation,
    auc_scores,
    auc_std,
    checked_auc,
    checked_sizes,
    estimate_cdf,
)
from bayes_sota.core.arguments import CORRELATION
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import condensed, surely_drawn
from bayes_sota.core.types import FloatArray

_LEVELS, _LEVELS_GIVEN = 3000, 800  # of independent and dependent AUCs
_REACH, _BELOW, _FAR = 9.0, 18.0, 10.0  # standard errors: levels, tables, who can become the best
_SHIFTS = np.linspace(-6.0, 6.0, 49)


@dataclass(frozen=True, eq=False)
class AucLaw(BestLaw):
    """Law of the AUC estimate of one classifier, or of the best of several, tabulated.

    Attributes
    ----------
    theta_sota : float
        AUC of the best classifier.
    n_positive, n_negative, n_classifiers : int
    spread_ratio : float
    levels, below : ndarray, shape (L,)
        AUCs and their cdf.
    """

    theta_sota: float
    n_positive: int
    n_negative: int
    spread_ratio: float
    n_classifiers: int
    levels: FloatArray = field(repr=False)
    below: FloatArray = field(repr=False)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability of at most ``x``."""
        return np.interp(np.asarray(x, np.float64), self.levels, self.below, left=0.0, right=1.0)

    def mean(self) -> float:
        """Expected best estimate."""
        return float(self.levels[-1] - np.trapezoid(self.below, self.levels))

    def std(self) -> float:
        """Standard deviation of the best estimate."""
        away = self.levels - self.mean()
        cells = (away[1] - away[0]) ** 2 / 6  # Euler and Maclaurin: the integrand ends with slope 1
        variance = away[-1] ** 2 - 2 * np.trapezoid(away * self.below, away) + cells
        return float(np.sqrt(max(variance, 0.0)))  # a jump, as at 1, is within a cell

    def _quantile(self, q: FloatArray) -> FloatArray:
        rising = np.diff(self.below, prepend=-1.0) > 0
        return np.interp(q, self.below[rising], self.levels[rising])


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
        A number outside its range.

    Examples
    --------
    >>> law = auc_law(0.9, 51, 2949)
    >>> round(law.mean(), 4), round(law.std(), 5)
    (0.9, 0.02115)
    """
    sizes: dict[str, Any] = {"n_positive": n_positive, "n_negative": n_negative}
    return auc_maximum_law(auc, **sizes, n_classifiers=1, spread_ratio=spread_ratio)


def auc_maximum_law(
    auc: ArrayLike,
    *,
    n_positive: int,
    n_negative: int,
    n_classifiers: int | None = None,
    correlation: float = 0.0,
    spread_ratio: float = 1.0,
) -> AucLaw:
    """Law of the best AUC estimate of several classifiers on one test set.

    Parameters
    ----------
    auc : float, or array_like of shape (m,)
        True AUC of identical classifiers, or one for each.
    n_positive, n_negative, spread_ratio
        As in ``auc_law``.
    n_classifiers : int, optional
        m; required unless ``auc`` is an array.
    correlation : float
        rho, in [0, 1): correlation of each classifier's scores with a reference score of the item,
        within each class (the paper's Sec. 5.3.1); scores of two classifiers correlate by
        ``rho ** 2``.

    Returns
    -------
    AucLaw

    Raises
    ------
    InputError
        A number outside its range.

    Examples
    --------
    The paper's Sec. 5.2.2 simulates .9562 and .004459:

    >>> law = auc_maximum_law(0.9, n_positive=51, n_negative=2949, n_classifiers=1000)
    >>> round(law.mean(), 3)
    0.957
    """
    CORRELATION.check(correlation, "correlation")
    sizes = checked_sizes(n_positive, n_negative)
    values = checked_auc(auc)
    if values.ndim > 1:
        raise InputError(f"auc must be a number or 1-dimensional, got shape {values.shape}")
    m = number_of_classifiers(n_classifiers, values.size if values.ndim else None)
    aucs, copies = np.unique(values, return_counts=True)
    scores = scores_below(float(aucs[-1]), *sizes, spread_ratio)
    return best_estimate(scores, correlation, aucs, copies * (m / copies.sum()))


def scores_below(best: float, n_positive: int, n_negative: int, spread_ratio: float) -> AucScores:
    """Normal scores for fields whose best AUC is ``best``."""
    lowest = best - _BELOW * float(auc_std(best, n_positive, n_negative, spread_ratio))
    return auc_scores(n_positive, n_negative, max(lowest, 0.1), best, spread_ratio)


def best_estimate(
    scores: AucScores,
    correlation: float,
    aucs: FloatArray,
    counts: FloatArray,
    n_drawn: int | None = None,
) -> AucLaw:
    """Law of the best estimate of these classifiers, or of ``n_drawn`` drawn with replacement.

    ``aucs`` (N,) increase; ``counts`` (N,) are multiplicities or proportions.
    """
    best, m = float(aucs[-1]), round(counts.sum()) if n_drawn is None else n_drawn
    sizes = (scores.n_positive, scores.n_negative)
    sure = best if n_drawn is None else surely_drawn(aucs, counts, m)
    error = float(scores.standard_error(best))
    near = scores.stabilized(aucs) >= scores.stabilized(sure) - _FAR
    most = 9 + int(np.ceil(3 * np.ptp(aucs[near]) / error))
    nodes, weights = condensed(aucs[near], counts[near], most)
    reach = np.array([-_REACH, _REACH])
    low, high = scores.from_stabilized(scores.stabilized([sure, best]) + reach)
    exact = n_drawn is None and (m == 1 or correlation == 0)
    shifts = _SHIFTS if correlation and not exact else np.zeros(1)
    levels = np.linspace(low, high, _LEVELS if shifts.size == 1 else _LEVELS_GIVEN)
    if exact:
        each = [estimate_cdf(levels, x, *sizes, scores.spread_ratio) for x in nodes.tolist()]
        given = np.stack(each, axis=1)[None]
    else:  # (shifts, levels, nodes)
        rho = auc_estimate_correlation(nodes, *sizes, correlation, scores.spread_ratio)
        own = np.sqrt(np.maximum(1 - rho**2, 1e-12))
        g = scores.normal_score(levels[:, None], nodes)
        given = ndtr((g - rho * shifts[:, None, None]) / own)
    if n_drawn is None:
        logs = np.log(np.maximum(given, 1e-300)) @ weights
    else:
        missed = (1 - given) @ (weights / counts.sum())
        logs = m * np.log1p(-np.clip(missed, 0.0, 1 - 2.0**-53))
    of_shifts = np.exp(-0.5 * shifts**2)
    below = np.exp(np.minimum(logs, 0.0)).T @ (of_shifts / of_shifts.sum())
    return AucLaw(best, *sizes, scores.spread_ratio, m, levels, below)
