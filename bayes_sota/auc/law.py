r"""AUC of classifiers on a test set: law of one estimate, law of the best of many.

Scores are binormal: negatives N(0, 1), positives N(mu, s^2), so that (Eq. 10 of Møllersen & Holsbø)

.. math:: A = \Phi\!\Big(\frac{\mu}{\sqrt{1 + s^2}}\Big)

and any monotone transformation of the scores has the same AUC. It is the rare class that makes the
estimate skewed near 1, where no transformed normal law is good enough (``auc_placements``).
``tests/auc/test_law.py`` compares with brute-force simulation of scores, far into the tail.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.auc.correlated import bridge_to_limit, correlated_maximum
from bayes_sota.auc.field import AucField, distribution_nodes
from bayes_sota.auc.moments import (
    Correlation,
    auc_std,
    checked_auc,
    checked_ratio,
    checked_size,
)
from bayes_sota.auc.nodes import condensed
from bayes_sota.auc.placements import NEARLY_ONE, distribution_at
from bayes_sota.auc.scores import AucScores
from bayes_sota.core.arguments import OPEN_SHARE, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray

__all__ = ["AucLaw", "AucMaximumLaw", "auc_law", "auc_maximum_law"]

_LEVELS = 1500  # at which the laws are tabulated


@dataclass(frozen=True, eq=False, kw_only=True)
class _Tabulated:
    """A law on a grid of AUC values.

    Attributes
    ----------
    levels, below : ndarray, shape (L,)
        AUC values, increasing and equally spaced, and the distribution function there.
    """

    levels: FloatArray = field(repr=False)
    below: FloatArray = field(repr=False)

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

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles."""
        q = np.asarray(q, dtype=np.float64)
        if not np.all((q >= 0) & (q <= 1)):
            raise InputError(f"a probability must lie in [0, 1], got {q}")
        rising = np.concatenate([[True], np.diff(self.below) > 0])
        return np.asarray(np.interp(q, self.below[rising], self.levels[rising]))

    def interval(self, prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval."""
        OPEN_SHARE.check(prob, "prob")
        low, high = self.quantile([(1 - prob) / 2, (1 + prob) / 2])
        return float(low), float(high)


@dataclass(frozen=True, eq=False, kw_only=True)
class AucLaw(_Tabulated):
    """Law of the AUC estimate of one classifier, tabulated.

    Attributes
    ----------
    auc : float
        True AUC.
    n_positive, n_negative : int
    spread_ratio : float
    levels, below : ndarray, shape (L,)
        AUC values, increasing, and the distribution function there.
    above : ndarray, shape (L,)
        ``1 - below`` without cancellation.
    """

    auc: float
    n_positive: int
    n_negative: int
    spread_ratio: float
    above: FloatArray = field(repr=False)

    def sf(self, x: ArrayLike) -> FloatArray:
        """Probability of an estimate above ``x``."""
        return np.interp(np.asarray(x, np.float64), self.levels, self.above, left=1.0, right=0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class AucMaximumLaw(_Tabulated):
    """Law of the best AUC estimate of several classifiers, tabulated.

    Attributes
    ----------
    auc_sota : float
        AUC of the best classifier; its expectation where AUCs are drawn from a distribution.
    n_classifiers : int
    levels, below : ndarray, shape (L,)
        AUC values and the distribution function there.
    """

    auc_sota: float
    n_classifiers: int

    def bias(self) -> float:
        """Expected best estimate minus the AUC of the best classifier."""
        return self.mean() - self.auc_sota


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
        Impossible numbers.

    Examples
    --------
    >>> law = auc_law(0.9, 51, 2949)
    >>> round(law.mean(), 4), round(law.std(), 5)
    (0.9, 0.02115)
    """
    value = float(checked_auc(auc))
    a, b = checked_size(n_positive, "positive"), checked_size(n_negative, "negative")
    ratio = checked_ratio(spread_ratio)
    sd = float(auc_std(value, a, b, ratio))
    low, high = max(0.0, value - 12 * sd), min(1.0, value + 12 * sd)
    levels = np.linspace(low, high, _LEVELS)
    below, above = distribution_at(levels, value, a, b, ratio)
    return AucLaw(
        auc=value, n_positive=a, n_negative=b, spread_ratio=ratio, levels=levels, below=below,
        above=above,
    )  # fmt: skip


def auc_maximum_law(
    auc: ArrayLike | SkillDistribution,
    *,
    n_positive: int,
    n_negative: int,
    n_classifiers: int | None = None,
    correlation: Correlation = 0.0,
    spread_ratio: float = 1.0,
    rough: bool = False,
) -> AucMaximumLaw:
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
    correlation : float or (float, float)
        rho, in [0, 1): correlation of each classifier's scores with a reference score that every
        item has, within each class (the paper's Sec. 5.3.1); the scores of two classifiers
        correlate by ``rho ** 2``. A pair is that of positives and of negatives, which goes by
        normal scores (see ``rough``).
    spread_ratio : float
        Standard deviation of the positives' scores over that of the negatives'.
    rough : bool
        Correlated classifiers by normal scores (``auc_field``), in a tenth of a second instead of
        up to a minute for many different AUCs; the expected maximum is then within .03 standard
        errors of one estimate, .08 for classes of ten or twenty items.

    Returns
    -------
    AucMaximumLaw

    Raises
    ------
    InputError
        Impossible numbers.

    Notes
    -----
    Independent classifiers: :math:`\prod_j F_j(x)`. Correlated ones are independent given the
    reference scores; these act through what they make of the mean estimate, whose law is exact
    up to the noise of the larger class. At each of its values the reference scores of the rarer
    class stand at the quantiles of their exponential tilt, and every classifier's law is convolved
    anew. AUCs drawn from a distribution, and correlated: by normal scores (``auc_field``).

    Examples
    --------
    The paper's Sec. 5.2.2 simulates .9562 and .004459:

    >>> law = auc_maximum_law(0.9, n_positive=51, n_negative=2949, n_classifiers=1000)
    >>> round(law.mean(), 3)
    0.957
    """
    if isinstance(auc, SkillDistribution) or isinstance(correlation, tuple) or correlation == 0:
        refuse_unused("AUCs that are independent or by normal scores anyway", {"rough": rough})
    if isinstance(auc, SkillDistribution):
        return _random_field(auc, n_positive, n_negative, n_classifiers, correlation, spread_ratio)
    values = checked_auc(auc)
    if values.ndim > 1:
        raise InputError(f"auc must be a number or 1-dimensional, got shape {values.shape}")
    _check_correlation(correlation)
    skills, copies = np.unique(np.atleast_1d(values), return_counts=True)
    m = _number(n_classifiers, values)
    counts = copies * (m / copies.sum())
    sizes = checked_size(n_positive, "positive"), checked_size(n_negative, "negative")
    ratio = checked_ratio(spread_ratio)
    best = float(skills[-1])
    if m > 1 and (isinstance(correlation, tuple) or (rough and correlation > 0)):
        levels, below = AucField.of(best, *sizes, correlation, ratio).fixed(skills, counts)
        return AucMaximumLaw(auc_sota=best, n_classifiers=m, levels=levels, below=below)
    skills, counts = condensed(skills, counts, float(auc_std(best, *sizes, ratio)))
    if not isinstance(correlation, tuple) and correlation > 0 and m > 1:
        levels, below = _correlated(skills, counts, *sizes, ratio, correlation)
    else:
        levels, below = _independent(skills, counts, *sizes, ratio)
    return AucMaximumLaw(auc_sota=best, n_classifiers=m, levels=levels, below=below)


def _independent(
    skills: FloatArray, counts: FloatArray, a: int, b: int, ratio: float
) -> tuple[FloatArray, FloatArray]:
    """Levels and distribution function of the best of independent estimates."""
    laws = [auc_law(float(s), a, b, ratio) for s in skills]
    levels = _common_levels(laws)
    log_cdf = np.zeros(levels.size)
    for law, count in zip(laws, counts, strict=True):
        log_cdf += count * np.log1p(-np.minimum(law.sf(levels), NEARLY_ONE))
    return levels, np.exp(np.minimum(log_cdf, 0.0))


def _correlated(
    skills: FloatArray, counts: FloatArray, a: int, b: int, ratio: float, rho: float
) -> tuple[FloatArray, FloatArray]:
    """The same of estimates that share reference scores, whatever rho."""
    edge, share = bridge_to_limit(float(skills[-1]), a, b, ratio, rho)
    levels, below = correlated_maximum(skills, counts, a, b, ratio, edge)
    if rho == edge:
        return levels, below
    if rho > edge:  # the best one's estimate is the best
        skills, counts = skills[-1:], np.ones(1)
    limit = np.interp(levels, *_independent(skills, counts, a, b, ratio), left=0.0, right=1.0)
    return levels, share * below + (1 - share) * limit


def _random_field(
    distribution: SkillDistribution,
    n_positive: int,
    n_negative: int,
    n_classifiers: int | None,
    correlation: Correlation,
    spread_ratio: float,
) -> AucMaximumLaw:
    """Law where every classifier's AUC is drawn anew."""
    _check_correlation(correlation)
    if n_classifiers is None:
        raise InputError("n_classifiers is needed where AUCs are drawn from a distribution")
    m = _number(n_classifiers, np.array(0.5))
    sizes = checked_size(n_positive, "positive"), checked_size(n_negative, "negative")
    ratio = checked_ratio(spread_ratio)
    ends = distribution.axis_skill(np.array(distribution.axis_support()))
    low, high = (float(x) for x in np.clip(ends, 1e-4, 1 - 1e-9))
    nodes, weights = distribution_nodes(distribution, AucScores.of(*sizes, low, high, ratio))
    field = AucField.of(high, *sizes, correlation, ratio)
    levels, below = field.random(nodes, weights, m)
    expected = float(distribution.expected_maximum(m))
    return AucMaximumLaw(auc_sota=expected, n_classifiers=m, levels=levels, below=below)


def _check_correlation(correlation: Correlation) -> None:
    for rho in correlation if isinstance(correlation, tuple) else (correlation,):
        if not 0 <= rho < 1:
            raise InputError(f"correlation must lie in [0, 1), got {rho:g}")


def _common_levels(laws: list[AucLaw]) -> FloatArray:
    low = min(law.levels[0] for law in laws)
    high = max(law.levels[-1] for law in laws)
    return np.linspace(low, high, 2 * _LEVELS)


def _number(n_classifiers: int | None, values: FloatArray) -> int:
    given = values.size if values.ndim else None
    m = given if n_classifiers is None else n_classifiers
    if m is None:
        raise InputError("n_classifiers is needed unless one AUC per classifier is given")
    if given not in (None, 1) and m != given:
        raise InputError(f"{given} AUCs are given, but n_classifiers is {m}")
    if not (float(m).is_integer() and m >= 1):
        raise InputError(f"n_classifiers must be a positive whole number, got {m}")
    return int(m)
