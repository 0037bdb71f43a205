r"""Law of the best AUC estimate of many classifiers on one test set.

Scores are binormal: negatives N(0, 1), positives N(mu, s^2), so that (Eq. 10 of Møllersen & Holsbø)

.. math:: A = \Phi\!\Big(\frac{\mu}{\sqrt{1 + s^2}}\Big)

and any monotone transformation of the scores has the same AUC. Independent classifiers have the
exact law; those that share a reference score per item (the paper's Sec. 5.3.1) go by normal scores
(``auc.scores``). ``tests/auc/test_law.py`` compares with simulated scores.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.auc.estimate import (
    NEARLY_ONE,
    auc_std,
    checked_auc,
    checked_size,
    distribution_at,
)
from bayes_sota.auc.scores import AucField, AucScores, distribution_nodes, near_best
from bayes_sota.core.arguments import CORRELATION, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import checked_number

_DRAWN = 500  # levels of a density, most of which lie far out
_LEVELS = 1500  # at which laws are tabulated


@dataclass(frozen=True, eq=False, kw_only=True)
class AucLaw:
    """Law of the AUC estimate of one classifier, or of the best of several, tabulated.

    Attributes
    ----------
    theta_sota : float
        AUC of the best classifier; its expectation where AUCs are drawn from a distribution.
    n_positive, n_negative : int
    spread_ratio : float
    n_classifiers : int
    levels, below : ndarray, shape (L,)
        AUC values, increasing and equally spaced, and the distribution function there.
    above : ndarray, shape (L,), optional
        ``1 - below`` without cancellation.
    """

    theta_sota: float
    n_positive: int
    n_negative: int
    spread_ratio: float
    n_classifiers: int = 1
    levels: FloatArray = field(repr=False)
    below: FloatArray = field(repr=False)
    above: FloatArray | None = field(default=None, repr=False)

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability of at most ``x``."""
        return np.interp(np.asarray(x, np.float64), self.levels, self.below, left=0.0, right=1.0)

    def mean(self) -> float:
        """Expectation."""
        return float(self.levels[-1] - np.trapezoid(self.below, self.levels))

    def std(self) -> float:
        """Standard deviation."""
        middle = (self.levels[1:] + self.levels[:-1]) / 2
        mass = np.diff(self.below)
        mean = float(middle @ mass / mass.sum())
        within = (self.levels[1] - self.levels[0]) ** 2 / 12
        return float(np.sqrt(max((middle - mean) ** 2 @ mass / mass.sum() + within, 0.0)))

    def density(self) -> tuple[FloatArray, FloatArray]:
        """Places, and mean densities between neighbours of them, on as many as a figure shows."""
        step = -(-self.levels.size // _DRAWN)
        levels, below = self.levels[::step], self.below[::step]
        return (levels[1:] + levels[:-1]) / 2, np.diff(below) / np.diff(levels)

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles."""
        q = np.asarray(q, dtype=np.float64)
        if not np.all((q >= 0) & (q <= 1)):
            raise InputError(f"a probability must lie in [0, 1], got {q}")
        rising = np.concatenate([[True], np.diff(self.below) > 0])
        return np.interp(q, self.below[rising], self.levels[rising])

    def interval(self, ci_prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval."""
        OPEN_SHARE.check(ci_prob, "ci_prob")
        low, high = self.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2])
        return float(low), float(high)

    def sf(self, x: ArrayLike) -> FloatArray:
        """Probability of an estimate above ``x``."""
        above = 1 - self.below if self.above is None else self.above
        return np.interp(np.asarray(x, np.float64), self.levels, above, left=1.0, right=0.0)

    def bias(self) -> float:
        """Expected best estimate minus the AUC of the best classifier."""
        return self.mean() - self.theta_sota


def auc_law(auc: float, n_positive: int, n_negative: int, spread_ratio: float = 1.0) -> AucLaw:
    """Law of the AUC estimate of one classifier with binormal scores.

    Parameters
    ----------
    auc : float
        True AUC, in (0, 1).
    n_positive, n_negative : int
        Test items of each class, at least 2.
    spread_ratio : float
        Standard deviation of the positives' scores over that of the negatives'; or the ends
        between which it lies for 95 % of classifiers, each with its own, log-normal.

    Returns
    -------
    AucLaw

    Raises
    ------
    InputError
        Impossible numbers.

    Examples
    --------
    >>> law = auc_law(0.9, 51, 2949)
    >>> round(law.mean(), 4), round(law.std(), 5)
    (0.9, 0.02115)
    """
    value = float(checked_auc(auc))
    a, b = checked_size(n_positive, "positive"), checked_size(n_negative, "negative")
    sd = float(auc_std(value, a, b, spread_ratio))
    low, high = max(0.0, value - 12 * sd), min(1.0, value + 12 * sd)
    levels = np.linspace(low, high, _LEVELS)
    below, above = distribution_at(levels, value, a, b, spread_ratio)
    return AucLaw(
        theta_sota=value,
        n_positive=a,
        n_negative=b,
        spread_ratio=spread_ratio,
        levels=levels,
        below=below,
        above=above,
    )


def auc_maximum_law(
    auc: ArrayLike | SkillDistribution,
    *,
    n_positive: int,
    n_negative: int,
    n_classifiers: int | None = None,
    correlation: float = 0.0,
    spread_ratio: float = 1.0,
) -> AucLaw:
    r"""Law of the best AUC estimate of several classifiers on one test set.

    Parameters
    ----------
    auc : float, array_like of shape (m,), or SkillDistribution
        True AUC of identical classifiers, one for each, or the distribution that they are drawn
        from.
    n_positive, n_negative : int
        Test items of each class, at least 2.
    n_classifiers : int, optional
        m; needed unless ``auc`` is an array.
    correlation : float
        rho, in [0, 1): correlation of each classifier's scores with a reference score that every
        item has, within each class (the paper's Sec. 5.3.1); the scores of two classifiers
        correlate by ``rho ** 2``.
    spread_ratio : float
        Standard deviation of the positives' scores over that of the negatives'; or the ends
        between which it lies for 95 % of classifiers, each with its own, log-normal.

    Returns
    -------
    AucLaw

    Raises
    ------
    InputError
        Impossible numbers.

    Notes
    -----
    Independent classifiers: :math:`\prod_j F_j(x)` with the exact laws. Correlated classifiers, and
    AUCs drawn from a distribution, go by normal scores (``auc.scores``): the expected maximum is
    then within .03 standard errors of one estimate, .08 for classes of ten or twenty items.

    Examples
    --------
    The paper's Sec. 5.2.2 simulates .9562 and .004459:

    >>> law = auc_maximum_law(0.9, n_positive=51, n_negative=2949, n_classifiers=1000)
    >>> round(law.mean(), 3)
    0.957
    """
    CORRELATION.check(correlation, "correlation")
    sizes = checked_size(n_positive, "positive"), checked_size(n_negative, "negative")
    if isinstance(auc, SkillDistribution):  # every classifier's AUC is drawn anew
        m, ends = _number(n_classifiers, None), auc.axis_skill(np.array(auc.axis_support()))
        low, high = (float(x) for x in np.clip(ends, 1e-4, 1 - 1e-9))
        nodes = distribution_nodes(auc, AucScores.of(*sizes, low, high, spread_ratio))
        levels, below = AucField.of(high, *sizes, correlation, spread_ratio).random(*nodes, m)
        best = float(auc.expected_maximum(m))
    else:
        values = checked_auc(auc)
        if values.ndim > 1:
            raise InputError(f"auc must be a number or 1-dimensional, got shape {values.shape}")
        skills, copies = np.unique(np.atleast_1d(values), return_counts=True)
        m, best = _number(n_classifiers, values.size if values.ndim else None), float(skills[-1])
        counts = copies * (m / copies.sum())
        if m == 1 or correlation == 0:
            near = near_best(skills, counts, float(auc_std(best, *sizes, spread_ratio)))
            levels, below = _independent(*near, *sizes, spread_ratio)
        else:
            field = AucField.of(best, *sizes, correlation, spread_ratio)
            levels, below = field.fixed(skills, counts)
    return AucLaw(
        theta_sota=best,
        n_positive=sizes[0],
        n_negative=sizes[1],
        spread_ratio=spread_ratio,
        n_classifiers=m,
        levels=levels,
        below=below,
    )


def _independent(
    skills: FloatArray, counts: FloatArray, a: int, b: int, ratio: float
) -> tuple[FloatArray, FloatArray]:
    """Levels and distribution function of the best of independent estimates."""
    laws = [auc_law(float(s), a, b, ratio) for s in skills]
    low = min(law.levels[0] for law in laws)
    high = max(law.levels[-1] for law in laws)
    levels = np.linspace(low, high, 2 * _LEVELS)
    log_cdf = np.zeros(levels.size)
    for law, count in zip(laws, counts, strict=True):
        log_cdf += count * np.log1p(-np.minimum(law.sf(levels), NEARLY_ONE))
    return levels, np.exp(np.minimum(log_cdf, 0.0))


def _number(n_classifiers: int | None, typed: int | None) -> int:
    """From what is asked and the number of AUCs given (None: not an array)."""
    m = typed if n_classifiers is None else n_classifiers
    if m is None:
        raise InputError(
            "{name} is needed unless one AUC per classifier is given", parameter="n_classifiers"
        )
    if typed not in (None, 1) and m != typed:
        raise InputError(f"{typed} AUCs are given, but {{name}} is {m}", parameter="n_classifiers")
    return int(checked_number(m, "n_classifiers"))
