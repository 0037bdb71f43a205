r"""Law of the best AUC estimate of many classifiers on one test set.

Scores are binormal: negatives N(0, 1), positives N(mu, s^2), so that (Eq. 10 of Møllersen & Holsbø)

.. math:: A = \Phi\!\Big(\frac{\mu}{\sqrt{1 + s^2}}\Big)

and any monotone transformation of the scores has the same AUC. Classifiers that share a reference
score per item (the paper's Sec. 5.3.1) are independent given the reference scores. These act
through what they make of the mean estimate: at each of its values the reference scores of the rarer
class stand at the quantiles of their exponential tilt, and every classifier's law is convolved
anew. ``auc.scores`` does any field in milliseconds. ``tests/auc/test_law.py`` compares with
simulated scores.
"""

from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from bayes_sota.auc.estimate import (
    CELLS,
    NEARLY_ONE,
    Correlation,
    add_noise,
    auc_covariance,
    auc_std,
    bivariate_normal,
    both_classes,
    checked_auc,
    checked_size,
    conditional_variance,
    distribution_at,
    mean_placement,
    placement_scale,
    placements,
    placements_of_kinds,
    tilts_to_span,
)
from bayes_sota.auc.scores import AucField, AucScores, condensed, distribution_nodes
from bayes_sota.core.arguments import OPEN_SHARE, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import SkillDistribution, expit, logit
from bayes_sota.core.types import FloatArray
from bayes_sota.data.checks import CLASSIFIERS, SpreadRatio, checked_ratio, whole_number

_DRAWN = 500  # levels of a density, most of which lie far out
_LEVELS = 1500  # at which laws are tabulated
_CORRELATED_LEVELS, _OFFSETS, _ROWS = 3000, 600, 21
_MEANS = 400  # of the mean estimate that reference scores make
_REPRESENTATIVES = 200  # reference scores that stand for more
_LOW, _HIGH = 0.05, 0.999
_Z = np.linspace(-8.0, 8.0, 1601)


def _shared(auc: float, a: int, b: int, ratio: float, rho: float) -> float:
    """Share of an estimate's variance that is the reference scores'."""
    of_both = auc_covariance(auc, auc, a, b, rho**2, spread_ratio=ratio)
    return float(of_both / auc_std(auc, a, b, ratio) ** 2)


def correlated_maximum(
    skills: FloatArray, counts: FloatArray, a: int, b: int, ratio: float, rho: float
) -> tuple[FloatArray, FloatArray]:
    """Levels and distribution function of the best of classifiers that share reference scores."""
    few, many = min(a, b), max(a, b)
    sd = float(auc_std(skills[-1], a, b, ratio))
    fields = [_Given(*placement_scale(float(s), a, b, ratio), few, many, rho) for s in skills]
    best = fields[-1]
    means, probability = best.mean_law(
        float(auc_covariance(skills[-1], skills[-1], a, b, rho**2, spread_ratio=ratio))
    )
    tilts, centres = best.tilts(means, probability)
    own = sd * np.sqrt(max(1 - _shared(float(skills[-1]), a, b, ratio, rho), 0.0))
    # log odds of an estimate less those of its mean: laws end at 1 wherever their mean is
    reach, lattice = (10 * own + 2 / CELLS) * np.array([[-1.0], [1.0]]), 0.5 / (a * b)
    lowest, highest = logit(np.clip(centres + reach, lattice, 1 - lattice)) - logit(centres)
    offsets = np.linspace(lowest.min(), highest.max(), _OFFSETS)
    rows = np.zeros((tilts.size, offsets.size))
    for row, tilt, centre in zip(rows, tilts, centres, strict=True):
        z = best.reference_scores(tilt)
        for scores_of_field, count in zip(fields, counts, strict=True):
            row += count * scores_of_field.log_cdf(z, expit(logit(centre) + offsets))
    levels = np.linspace(max(0.0, means[0] - 12 * sd), 1.0, _CORRELATED_LEVELS)
    places, middles = logit(np.clip(levels, 1e-300, NEARLY_ONE)), logit(means)
    below = np.zeros(levels.size)
    for mean, middle, weight in zip(means, middles, probability, strict=True):
        k = int(np.clip(np.searchsorted(centres, mean) - 1, 0, centres.size - 2))
        share = np.clip((mean - centres[k]) / (centres[k + 1] - centres[k]), 0, 1)
        log_cdf = (1 - share) * rows[k] + share * rows[k + 1]
        below += weight * np.exp(np.interp(places - middle, offsets, log_cdf, left=-800, right=0))
    below[-1] = 1.0
    return levels, below


@dataclass(frozen=True, eq=False)
class _Given:
    """One classifier given the reference scores of the rarer class."""

    centre: float
    spread: float
    few: int
    many: int
    rho: float

    @property
    def own(self) -> float:
        """What of a score's spread the reference does not explain."""
        return float(np.sqrt(1 - self.rho**2))

    @property
    def expected(self) -> tuple[float, float]:
        """Mean and spread of the normal score of an item's expected placement."""
        total = float(np.sqrt(1 + self.spread**2 * self.own**2))
        return self.centre / total, self.rho * self.spread / total

    def placement(self, z: FloatArray) -> FloatArray:
        """Expected placement of an item of the rarer class with this reference score."""
        centre, spread = self.expected
        return ndtr(centre + spread * z)

    def mean_law(self, variance: float) -> tuple[FloatArray, FloatArray]:
        """Law of the mean estimate given all reference scores, which has this variance."""
        low, high = self.placement(_Z[[0, -1]])
        edges, lattice = placements(*self.expected, low, high)
        unit, probability = mean_placement(np.linspace(0.0, 1.0, edges.size), lattice, self.few)
        values = low + (high - low) * unit
        mean = float(values @ probability)
        rest = variance - float((values - mean) ** 2 @ probability)
        reach = 9 * np.sqrt(variance)
        levels = np.linspace(max(0.0, mean - reach), min(1.0, mean + reach), _MEANS + 1)
        noise = np.full(values.size, np.sqrt(max(rest, 1e-6 * variance)))
        below, _ = add_noise(levels, values, probability, noise)
        return (levels[1:] + levels[:-1]) / 2, np.diff(below)

    def tilts(self, means: FloatArray, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Tilts of the reference scores, and the mean estimates that they make."""
        known = means[probability > 1e-9]
        log_mass = -0.5 * _Z**2
        tilts = tilts_to_span(
            self.placement(_Z), log_mass, float(known[0]), float(known[-1]), _ROWS
        )
        centres = np.array([self.placement(self.reference_scores(t)).mean() for t in tilts])
        return tilts, centres

    def reference_scores(self, tilt: float) -> FloatArray:
        """Reference scores of the rarer class at the quantiles of their tilted law."""
        logs = -0.5 * _Z**2 + tilt * self.placement(_Z)
        cdf = np.cumsum(np.exp(logs - logs.max()))
        size = min(self.few, _REPRESENTATIVES)
        return np.interp((np.arange(size) + 0.5) / size, cdf / cdf[-1], _Z)

    def log_cdf(self, z: FloatArray, levels: FloatArray) -> FloatArray:
        """Log distribution function of the estimate given reference scores."""
        centres = self.centre + self.rho * self.spread * z
        edges, lattice = placements_of_kinds(centres, self.spread * self.own)
        means, probability = mean_placement(edges, lattice, self.few)
        variance = conditional_variance(edges, lattice.mean(axis=0), self.few, means, probability)
        scale = self._unexplained(z) / float(probability @ variance)
        noise = np.sqrt(variance * scale / self.many)
        _, above = add_noise(levels, means, probability, noise, points=150)
        return np.log1p(-np.minimum(above, NEARLY_ONE))

    def _unexplained(self, z: FloatArray) -> float:
        r"""Variance of G(w) given what the reference score of w says of it, on average.

        Two w of one reference score correlate by rho squared: :math:`E\,G(w)^2 - E\,G(w) G(w')`,
        pair by pair of items of the rarer class.
        """
        variance = (self.spread * self.own) ** 2
        h = (self.centre + self.rho * self.spread * z) / np.sqrt(1 + variance)
        same, other = (
            bivariate_normal(h[:, None], h, r / (1 + variance)) for r in (1.0, self.rho**2)
        )
        itself = ndtr(h) - bivariate_normal(h, h, (variance + self.rho**2) / (1 + variance))
        excess = same - other
        twice = self.few / z.size  # items that a representative stands for
        pairs = twice**2 * excess.sum() + twice * float(np.sum(itself - np.diag(excess)))
        return max(float(pairs) / self.few**2, 1e-12)


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

    def at_least(self, score: ArrayLike, lattice: float = 0.0) -> FloatArray:
        """Probability of at least ``score``; ``lattice`` is the distance of possible estimates."""
        return 1 - self.cdf(np.asarray(score, np.float64) - lattice / 2)

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


@dataclass(frozen=True, eq=False, kw_only=True)
class AucLaw(_Tabulated):
    """Law of the AUC estimate of one classifier, tabulated.

    Attributes
    ----------
    auc : float
        True AUC.
    n_positive, n_negative : int
    spread_ratio : float or (float, float)
    levels, below : ndarray, shape (L,)
        AUC values, increasing, and the distribution function there.
    above : ndarray, shape (L,)
        ``1 - below`` without cancellation.
    """

    auc: float
    n_positive: int
    n_negative: int
    spread_ratio: SpreadRatio
    above: FloatArray = field(repr=False)

    def sf(self, x: ArrayLike) -> FloatArray:
        """Probability of an estimate above ``x``."""
        return np.interp(np.asarray(x, np.float64), self.levels, self.above, left=1.0, right=0.0)

    def true_alarms(self, false_alarms: ArrayLike) -> FloatArray:
        r"""Share of positives above the threshold that a share t of negatives passes (ROC curve).

        .. math:: \Phi\Big(\frac{\mu + \Phi^{-1}(t)}{s}\Big)

        Examples
        --------
        >>> auc_law(0.9, 51, 2949).true_alarms([0.0, 0.1, 1.0]).round(3)
        array([0.   , 0.702, 1.   ])
        """
        thresholds = ndtri(np.asarray(false_alarms, np.float64))
        return ndtr((self.positive_mean + thresholds) / self.middle_ratio)

    @property
    def positive_mean(self) -> float:
        r"""Mean score of positives, :math:`\mu = \Phi^{-1}(A) \sqrt{1 + s^2}` (Eq. 10)."""
        return float(ndtri(self.auc) * np.sqrt(1 + self.middle_ratio**2))

    @property
    def middle_ratio(self) -> float:
        """The spread ratio, of a range its middle on the scale of logarithms."""
        ratio = self.spread_ratio
        return float(np.sqrt(ratio[0] * ratio[1])) if isinstance(ratio, tuple) else ratio


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

    @property
    def theta_sota(self) -> float:
        """``auc_sota``, by the name that laws of accuracies have for it."""
        return self.auc_sota

    def bias(self) -> float:
        """Expected best estimate minus the AUC of the best classifier."""
        return self.mean() - self.auc_sota


def auc_law(
    auc: float, n_positive: int, n_negative: int, spread_ratio: SpreadRatio = 1.0
) -> AucLaw:
    """Law of the AUC estimate of one classifier with binormal scores.

    Parameters
    ----------
    auc : float
        True AUC, in (0, 1).
    n_positive, n_negative : int
        Test items of each class, at least 2.
    spread_ratio : float or (float, float)
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
    ratio = checked_ratio(spread_ratio)
    sd = float(auc_std(value, a, b, ratio))
    low, high = max(0.0, value - 12 * sd), min(1.0, value + 12 * sd)
    levels = np.linspace(low, high, _LEVELS)
    below, above = distribution_at(levels, value, a, b, ratio)
    return AucLaw(
        auc=value,
        n_positive=a,
        n_negative=b,
        spread_ratio=ratio,
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
    correlation: Correlation = 0.0,
    spread_ratio: SpreadRatio = 1.0,
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
        normal scores (see ``rough``); so does a range of spread ratios.
    spread_ratio : float or (float, float)
        Standard deviation of the positives' scores over that of the negatives'; or the ends
        between which it lies for 95 % of classifiers, each with its own, log-normal.
    rough : bool
        Correlated classifiers by normal scores (``auc.scores``), in a tenth of a second instead of
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
    anew. AUCs drawn from a distribution, and correlated: by normal scores (``auc.scores``).

    Examples
    --------
    The paper's Sec. 5.2.2 simulates .9562 and .004459:

    >>> law = auc_maximum_law(0.9, n_positive=51, n_negative=2949, n_classifiers=1000)
    >>> round(law.mean(), 3)
    0.957
    """
    several = isinstance(correlation, tuple) or isinstance(spread_ratio, tuple)
    if isinstance(auc, SkillDistribution) or several or correlation == 0:
        refuse_unused("AUCs that are independent or by normal scores anyway", {"rough": rough})
    for rho in both_classes(correlation):
        if not 0 <= rho < 1:
            raise InputError(f"correlation must lie in [0, 1), got {rho:g}")
    sizes = checked_size(n_positive, "positive"), checked_size(n_negative, "negative")
    ratio = checked_ratio(spread_ratio)
    if isinstance(auc, SkillDistribution):  # every classifier's AUC is drawn anew
        m, ends = _number(n_classifiers, None), auc.axis_skill(np.array(auc.axis_support()))
        low, high = (float(x) for x in np.clip(ends, 1e-4, 1 - 1e-9))
        nodes = distribution_nodes(auc, AucScores.of(*sizes, low, high, ratio))
        levels, below = AucField.of(high, *sizes, correlation, ratio).random(*nodes, m)
        best = float(auc.expected_maximum(m))
        return AucMaximumLaw(auc_sota=best, n_classifiers=m, levels=levels, below=below)
    values = checked_auc(auc)
    if values.ndim > 1:
        raise InputError(f"auc must be a number or 1-dimensional, got shape {values.shape}")
    skills, copies = np.unique(np.atleast_1d(values), return_counts=True)
    m, best = _number(n_classifiers, values.size if values.ndim else None), float(skills[-1])
    counts = copies * (m / copies.sum())
    near = condensed(skills, counts, float(auc_std(best, *sizes, ratio)))
    if m == 1 or correlation in (0, (0, 0)):
        levels, below = _independent(*near, *sizes, ratio)
    elif several or rough:
        levels, below = AucField.of(best, *sizes, correlation, ratio).fixed(skills, counts)
    else:
        levels, below = _correlated(*near, *sizes, cast(float, ratio), cast(float, correlation))
    return AucMaximumLaw(auc_sota=best, n_classifiers=m, levels=levels, below=below)


def _independent(
    skills: FloatArray, counts: FloatArray, a: int, b: int, ratio: SpreadRatio
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


def _correlated(
    skills: FloatArray, counts: FloatArray, a: int, b: int, ratio: float, rho: float
) -> tuple[FloatArray, FloatArray]:
    """Law of the best of estimates that share reference scores, whatever rho.

    Near 0, or near 1, the lattice is too coarse for what is shared, or for what is not. There the
    law is a mixture with that of independent estimates, or of a single one, in which the expected
    maximum falls as it does at the limit: with the shared variance, or with the standard deviation
    of what is not shared.
    """
    edge = min(max(rho, _LOW), _HIGH)
    levels, below = correlated_maximum(skills, counts, a, b, ratio, edge)
    if rho == edge:
        return levels, below
    shared, most = (_shared(float(skills[-1]), a, b, ratio, r) for r in (rho, edge))
    share = shared / most
    if rho > edge:  # the best one's estimate is the best
        skills, counts = skills[-1:], np.ones(1)
        share = float(np.sqrt(max(1 - shared, 0.0) / (1 - most)))
    limit = np.interp(levels, *_independent(skills, counts, a, b, ratio), left=0.0, right=1.0)
    return levels, share * below + (1 - share) * limit


def _number(n_classifiers: int | None, typed: int | None) -> int:
    """From what is asked and the number of AUCs given (None: not an array)."""
    m = typed if n_classifiers is None else n_classifiers
    if m is None:
        raise InputError("n_classifiers is needed unless one AUC per classifier is given")
    if typed not in (None, 1) and m != typed:
        raise InputError(f"{typed} AUCs are given, but n_classifiers is {m}")
    return whole_number(m, "n_classifiers", CLASSIFIERS)
