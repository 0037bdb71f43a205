r"""Point estimates of the state of the art: shrinking (the paper's Eq. 9) and cropping (App. A).

Shrinking draws all scores towards the accuracy of chance, c, until their expected best score is the
observed one:

.. math:: \theta'_j = w \hat\theta_j + (1 - w) c, \quad
          E \max_j \hat\theta_j(X \mid \theta') = \max_j \hat\theta_j

or with the upper limit of the best score's interval in place of its expectation. Cropping leaves
out the best entries instead. The estimate is ``max theta'``, which is theta0.

As in the paper, a field is drawn from P(theta') with replacement, as many as entries pass Eq. 8;
here its law is exact. The best entry is missing from 37 % of the fields: where it stands alone, no
weight solves the equation, and there is no multiplicity to correct.
``tests/maximum/test_shrinkage.py`` has the paper's Tables 2 and 4, and simulations.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from bayes_sota.auc.best import BestLaw
from bayes_sota.auc.laws import AucLaw, auc_law, best_estimate, scores_below
from bayes_sota.core.arguments import CORRELATION, OPEN_SHARE, check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import checked_number
from bayes_sota.maximum.dependence import feasible_skills
from bayes_sota.maximum.law import MaximumLaw, maximum_law

Criterion = Literal["expected", "upper"]
_NEGLIGIBLE = 0.02  # excess in standard errors below which nothing is corrected
_LEAST_WEIGHT, _WEIGHT_ERROR = 1e-3, 1e-8
_SHORT = 1e-5  # of the level, so that the limit is the observed score and not the one below


@dataclass(frozen=True, eq=False)
class FieldEstimate:
    """Point estimate of the state of the art, and the field of skills behind it.

    Attributes
    ----------
    estimate : float
        Best skill of the shrunk field, or the highest score that remains of a cropped one.
    law : MaximumLaw or AucLaw
        Law of the best score of that field.
    scores : ndarray, shape (m,)
        The scores above chance.
    single : (float, float)
        Interval of the observed maximum were it the only classifier.
    excess, error : float
        Expected best score were the scores the skills, minus the observed one; standard error of
        the observed one.
    weight : float or None
        ``w`` of Eq. 9, of shrinking.
    """

    scores: FloatArray = field(repr=False)
    ci_prob: float
    single: tuple[float, float]
    estimate: float
    law: MaximumLaw | AucLaw
    excess: float
    error: float
    weight: float | None = None

    @property
    def observed_maximum(self) -> float:
        return float(self.scores.max())

    @property
    def expected_maximum(self) -> float:
        return self.law.mean()

    @property
    def interval(self) -> tuple[float, float]:
        """Equal-tailed interval of its best score."""
        return self.law.interval(self.ci_prob)

    @property
    def reason(self) -> str:
        """Why the estimate is the observed maximum; else empty."""
        corrected = self.excess > _NEGLIGIBLE * self.error
        return "" if corrected else "no multiplicity to correct"

    def n_above(self) -> int:
        """Number of scores above the estimate."""
        return int(np.sum(self.scores > self.estimate))


def binomial_interval(right: int, n_test: int, ci_prob: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson interval of one accuracy, as in the paper."""
    from scipy.stats import binomtest

    low, high = binomtest(right, n_test).proportion_ci(ci_prob)
    return float(low), float(high)


def field_law(
    skills: FloatArray, *, n_test: int, correlation: float, best: float | None = None
) -> MaximumLaw:
    """Law of the best score of a field drawn with replacement from the skills that pass Eq. 8."""
    theta0 = float(skills.max()) if best is None else best
    if correlation > 0:
        skills = skills[skills >= feasible_skills(correlation, theta0)[0]]
    return maximum_law(
        skill=skills[skills <= theta0],
        n_test=n_test,
        n_classifiers=skills.size,
        correlation=correlation,
        cap_correlation=True,
        resampled=True,
    )


def shrink_scores(
    scores: ArrayLike,
    *,
    n_test: int,
    chance: float,
    correlation: float = 0.6,
    criterion: Criterion = "expected",
    ci_prob: float = 0.95,
) -> FieldEstimate:
    """Best skill after shrinking all scores until their best would be the observed one.

    Eq. 9 of Møllersen & Holsbø, arXiv 2303.07272.

    Parameters
    ----------
    scores : array_like, shape (m,)
        Observed accuracies.
    n_test : int
        Number of test items.
    chance : float
        Accuracy of the random classifier, one over the number of classes.
    correlation : float
        rho of every classifier with the reference classifier, whose skill is ``max theta'``.
        Entries whose skill cannot have it (Eq. 8) are left out.
    criterion : {"expected", "upper"}
        Whether the expected best score equals the observed one, or the upper limit of its interval
        does: ``P(best score >= observed) = (1 - ci_prob) / 2``.
    ci_prob : float
        Probability of the interval.

    Returns
    -------
    FieldEstimate
        Its weight is 1 if no weight solves the equation.

    Raises
    ------
    InputError
        A number outside its range, or no score above chance.

    Examples
    --------
    >>> scores = 0.8 + 0.1 * np.linspace(0, 1, 200) ** 0.3
    >>> fitted = shrink_scores(scores, n_test=2000, chance=0.5)
    >>> round(fitted.estimate, 4), round(fitted.expected_maximum, 4), fitted.n_above()
    (0.8903, 0.9, 58)
    """
    kept = _checked(scores, chance, correlation, criterion, ci_prob)
    right, alone = _best_alone(kept, n_test, ci_prob)

    def law_at(skills: FloatArray) -> MaximumLaw:
        return field_law(skills, n_test=n_test, correlation=correlation)

    limit = right - 1, (1 + ci_prob) / 2 - _SHORT
    return _shrunk(kept, law_at, criterion, limit, chance, **alone)


def shrink_aucs(
    aucs: ArrayLike,
    *,
    n_positive: int,
    n_negative: int,
    correlation: float = 0.0,
    spread_ratio: float = 1.0,
    criterion: Criterion = "expected",
    ci_prob: float = 0.95,
) -> FieldEstimate:
    """Best AUC after shrinking all AUCs towards 1/2 until their best would be the observed one.

    Scores are binormal; classifiers are independent in the paper's Sec. 5.2.

    Parameters
    ----------
    aucs : array_like, shape (m,)
        Observed AUCs; those of 1/2 or less are left out.
    n_positive, n_negative, correlation, spread_ratio
        As in ``bayes_sota.auc.auc_maximum_law``.
    criterion, ci_prob
        As in ``shrink_scores``, with its errors.

    Returns
    -------
    FieldEstimate

    Examples
    --------
    >>> aucs = 0.7 + 0.2 * np.linspace(0, 1, 100) ** 0.5
    >>> fitted = shrink_aucs(aucs, n_positive=60, n_negative=900)
    >>> round(fitted.expected_maximum, 4), bool(fitted.estimate < 0.88)
    (0.9, True)
    """
    kept = _checked(aucs, 0.5, correlation, criterion, ci_prob)
    best, sizes = float(kept.max()), (n_positive, n_negative, spread_ratio)
    one, table = auc_law(best, *sizes), scores_below(best, *sizes)

    def law_at(skills: FloatArray) -> AucLaw:
        values, copies = np.unique(skills, return_counts=True)
        return best_estimate(table, correlation, values, copies / 1, n_drawn=skills.size)

    alone = {"ci_prob": ci_prob, "error": one.std(), "single": one.interval(ci_prob)}
    return _shrunk(kept, law_at, criterion, (best, (1 + ci_prob) / 2), 0.5, **alone)


def crop_scores(
    scores: ArrayLike,
    *,
    n_test: int,
    chance: float,
    correlation: float = 0.6,
    criterion: Criterion = "expected",
    ci_prob: float = 0.95,
) -> FieldEstimate:
    """Best score that remains when the best entries are left out until the rest can explain them.

    The threshold, theta0, is the highest score at which the expected best score, or the upper limit
    of its interval, does not exceed the observed one (Appendix A of the paper). Parameters and
    errors are those of ``shrink_scores``.

    Returns
    -------
    FieldEstimate

    Examples
    --------
    >>> scores = 0.8 + 0.1 * np.linspace(0, 1, 200) ** 0.3
    >>> fitted = crop_scores(scores, n_test=2000, chance=0.5)
    >>> round(fitted.estimate, 4), fitted.n_above()
    (0.89, 59)
    """
    kept = _checked(scores, chance, correlation, criterion, ci_prob)
    levels, (right, alone) = np.unique(kept).tolist(), _best_alone(kept, n_test, ci_prob)

    def law_at(threshold: float) -> MaximumLaw:
        return field_law(kept, n_test=n_test, correlation=correlation, best=threshold)

    limit = right, (1 + ci_prob) / 2
    place = bisect_left(
        levels, True, key=lambda level: _excess(law_at(level), criterion, levels[-1], limit) > 0
    )
    threshold = levels[max(place - 1, 0)]
    alone["excess"] = law_at(levels[-1]).mean() - levels[-1]
    return FieldEstimate(kept, estimate=threshold, law=law_at(threshold), **alone)


def _checked(
    scores: ArrayLike, chance: float, correlation: float, criterion: str, ci_prob: float
) -> FloatArray:
    CORRELATION.check(chance, "chance")
    CORRELATION.check(correlation, "correlation")
    check_choice("criterion", criterion, Criterion)
    OPEN_SHARE.check(ci_prob, "ci_prob")
    values = np.asarray(scores, dtype=np.float64)
    if not np.all((values >= 0) & (values < 1)):
        raise InputError("scores must be at least 0 and below 1: leave out a perfect score")
    if not np.any(values > chance):
        raise InputError(f"no score is above chance, {chance:.4g}")
    return values[values > chance]


def _best_alone(kept: FloatArray, n_test: int, ci_prob: float) -> tuple[int, dict[str, Any]]:
    best, n = float(kept.max()), checked_number(n_test, "n_test")
    single = binomial_interval(round(best * n), n, ci_prob)
    error = float(np.sqrt(best * (1 - best) / n))
    return int(np.floor(best * n + 1e-6)), {"ci_prob": ci_prob, "error": error, "single": single}


def _excess(law: BestLaw, criterion: str, best: float, limit: tuple[float, float]) -> float:
    """Zero for the field that solves the equation; ``limit`` is a score and its cdf."""
    return law.mean() - best if criterion == "expected" else limit[1] - float(law.cdf(limit[0]))


def _shrunk(
    kept: FloatArray,
    law_at: Callable[[FloatArray], Any],
    criterion: str,
    limit: tuple[float, float],
    chance: float,
    **alone: Any,
) -> FieldEstimate:
    weight, best = 1.0, float(kept.max())

    def excess(weight: float) -> float:
        skills = weight * kept + (1 - weight) * chance
        return _excess(law_at(skills), criterion, best, limit)

    if excess(1.0) > 0:
        if excess(_LEAST_WEIGHT) > 0:
            raise InputError("shrinking finds no field whose best score would be the observed one")
        weight = float(brentq(excess, _LEAST_WEIGHT, 1.0, xtol=_WEIGHT_ERROR))
    skills = weight * kept + (1 - weight) * chance
    alone["excess"] = law_at(kept).mean() - best
    law = law_at(skills)
    return FieldEstimate(kept, estimate=float(skills.max()), law=law, weight=weight, **alone)
