r"""The paper's point estimates of the state of the art: shrinking (Eq. 9) and cropping (App. A).

Shrinking draws all scores towards the random classifier until the best score that they would give
is the one observed:

.. math:: \theta'_j = w \hat\theta_j + (1 - w) c, \quad
          E \max_j \hat\theta_j(X \mid \theta') = \max_j \hat\theta_j

with ``c`` the accuracy of chance, or the upper limit of the best score's interval in the place of
its expectation. Cropping leaves out the best entries instead, and draws as many classifiers with
replacement from those that remain. ``max theta'`` is the estimate. The paper simulates; here the
law of the best score is exact (``maximum_law``) and a root finder does the rest.

The field is kept fixed here: every entry takes part once. Then, by Jensen's inequality, the
expected maximum at ``w = 1`` is never below the observed one, so there is always a root. The paper
redraws the field from P(theta') with replacement, which leaves the best entry out of some fields:
its expected maximum is lower, and for a lone leader (cassava) there is no solution, as printed.
Where the excess there is within 2 % of the winner's standard error there is no
multiplicity to correct, and that is said. ``tests/maximum/test_shrinkage.py`` has the paper's
Tables 2 and 4, and simulations.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.auc.field import AucField
from bayes_sota.auc.law import AucMaximumLaw, auc_law
from bayes_sota.auc.moments import auc_std
from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.dependence import feasible_skills
from bayes_sota.maximum.field_estimate import Criterion, FieldEstimate, binomial_interval
from bayes_sota.maximum.law import MaximumLaw, maximum_law, resampled_maximum_law

__all__ = ["CRITERIA", "crop_scores", "shrink_aucs", "shrink_scores"]

CRITERIA = ("expected", "upper")
_NEGLIGIBLE = 0.02  # excess in standard errors of the winner below which nothing is corrected
_LEAST_WEIGHT = 1e-3
_WEIGHT_ERROR, _SHORT = 1e-8, 1e-5


def shrink_scores(
    scores: ArrayLike,
    *,
    n_test: int,
    chance: float,
    correlation: float = 0.6,
    criterion: Criterion = "expected",
    prob: float = 0.95,
) -> FieldEstimate:
    r"""Best skill after shrinking all scores until their best would be the observed one (Eq. 9).

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
        Entries whose skill cannot have it (Eq. 8) are left out, as in the paper.
    criterion : {"expected", "upper"}
        Whether the expected best score equals the observed one, or the upper limit of its
        interval does. Scores come in steps, so that the limit is the observed score for a range
        of weights; the lower end is taken, ``P(best score >= observed) = (1 - prob) / 2``.
    prob : float
        Probability of the interval.

    Returns
    -------
    FieldEstimate

    Raises
    ------
    InputError
        Impossible numbers, or no score above chance.

    Notes
    -----
    Eq. 9 of Møllersen & Holsbø, arXiv 2303.07272, for the field as it is; the paper redraws it with
    replacement (module docstring). The weight is solved to 1e-7.

    Examples
    --------
    >>> scores = 0.8 + 0.1 * np.linspace(0, 1, 200) ** 0.3
    >>> found = shrink_scores(scores, n_test=2000, chance=0.5)
    >>> round(found.estimate, 4), round(found.expected_maximum, 4), found.n_above()
    (0.8903, 0.9, 58)
    """
    kept, dropped, best = _checked(scores, n_test, chance, correlation, criterion, prob)

    def law_at(weight: float) -> tuple[MaximumLaw, int]:
        skills = weight * kept + (1 - weight) * chance
        feasible = _feasible(skills, correlation)
        law = maximum_law(
            n_test=n_test, skill=skills[feasible], correlation=correlation, rough=True
        )
        return law, int(skills.size - feasible.sum())

    # the limit is to be the observed score, not the one below
    limit, level = _count(best, n_test) - 1, (1 + prob) / 2 - _SHORT
    excess_of = _excess_of(criterion, best, limit, level)
    as_is, _ = law_at(1.0)
    weight = _root(lambda w: excess_of(law_at(w)[0]), excess_of(as_is))
    law, infeasible = law_at(weight)
    return FieldEstimate(
        "shrink", criterion, law.theta_sota, weight, None, law, prob, best,
        *_verdict(as_is.mean() - best, _error(best, n_test), law.theta_sota),
        kept, dropped, infeasible, chance, correlation, n_test, _single(best, n_test, prob),
    )  # fmt: skip


def shrink_aucs(
    aucs: ArrayLike,
    *,
    n_positive: int,
    n_negative: int,
    correlation: float = 0.0,
    criterion: Criterion = "expected",
    prob: float = 0.95,
) -> FieldEstimate:
    """Best AUC after shrinking all AUCs towards 1/2 until their best would be the observed one.

    Scores are binormal. The paper's Sec. 5.2 has independent classifiers; correlated ones are its
    open end (Sec. 5.3.1).

    Parameters
    ----------
    aucs : array_like, shape (m,)
        Observed AUCs; those of 1/2 or less are left out.
    n_positive, n_negative : int
        Test items of each class.
    correlation : float
        rho of each classifier's scores with a reference score that every item has.
    criterion, prob
        As in ``shrink_scores``.

    Returns
    -------
    FieldEstimate

    Raises
    ------
    InputError
        Impossible numbers, or no AUC above 1/2.

    Examples
    --------
    >>> aucs = 0.7 + 0.2 * np.linspace(0, 1, 100) ** 0.5
    >>> found = shrink_aucs(aucs, n_positive=60, n_negative=900)
    >>> round(found.expected_maximum, 4), bool(found.estimate < 0.88)
    (0.9, True)
    """
    n = n_positive + n_negative
    kept, dropped, best = _checked(aucs, n, 0.5, correlation, criterion, prob)
    error = float(auc_std(best, n_positive, n_negative))
    values, copies = np.unique(kept, return_counts=True)
    field = AucField.of(best, n_positive, n_negative, correlation, 1.0)

    def law_at(weight: float) -> AucMaximumLaw:
        levels, below = field.fixed(weight * values + (1 - weight) / 2, copies.astype(float))
        top = weight * best + (1 - weight) / 2
        return AucMaximumLaw(auc_sota=top, n_classifiers=kept.size, levels=levels, below=below)

    as_is = law_at(1.0)
    excess_of = _excess_of(criterion, best, best, (1 + prob) / 2)
    weight = _root(lambda w: excess_of(law_at(w)), excess_of(as_is))
    law = law_at(weight)
    single = auc_law(best, n_positive, n_negative).interval(prob)
    return FieldEstimate(
        "shrink", criterion, law.auc_sota, weight, None, law, prob, best,
        *_verdict(as_is.mean() - best, error, law.auc_sota),
        kept, dropped, 0, 0.5, correlation, n, single,
    )  # fmt: skip


def crop_scores(
    scores: ArrayLike,
    *,
    n_test: int,
    chance: float,
    correlation: float = 0.6,
    criterion: Criterion = "expected",
    prob: float = 0.95,
) -> FieldEstimate:
    """Best score that remains when the best entries are left out until the rest can explain them.

    As many classifiers as before are drawn with replacement from the entries up to a threshold.
    The threshold is the highest score at which the expected best score, or the upper limit of its
    interval, does not exceed the observed one; it moves in steps, from one score to the next.

    Parameters, errors and notes are those of ``shrink_scores``; Appendix A of the paper. Skills
    that cannot have the correlation get the largest that they can.

    Returns
    -------
    FieldEstimate

    Examples
    --------
    >>> scores = 0.8 + 0.1 * np.linspace(0, 1, 200) ** 0.3
    >>> found = crop_scores(scores, n_test=2000, chance=0.5)
    >>> round(found.threshold, 4), found.n_above()
    (0.89, 59)
    """
    kept, dropped, best = _checked(scores, n_test, chance, correlation, criterion, prob)
    levels = np.unique(kept)

    def law_at(index: int) -> MaximumLaw:
        remaining = kept[kept <= levels[index]]
        return resampled_maximum_law(
            remaining, n_test=n_test, n_classifiers=kept.size, correlation=correlation
        )

    excess_of = _excess_of(criterion, best, _count(best, n_test), (1 + prob) / 2)
    low, high = 0, levels.size  # the criterion is met at low, and is not at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess_of(law_at(middle)) <= 0 else (low, middle)
    law, threshold = law_at(low), float(levels[low])
    as_is = law_at(levels.size - 1)
    infeasible = int(np.sum(~_feasible(kept[kept <= threshold], correlation)))
    return FieldEstimate(
        "crop", criterion, threshold, None, threshold, law, prob, best,
        *_verdict(as_is.mean() - best, _error(best, n_test), threshold),
        kept, dropped, infeasible, chance, correlation, n_test, _single(best, n_test, prob),
    )  # fmt: skip


def _checked(
    scores: ArrayLike, n_test: int, chance: float, correlation: float, criterion: str, prob: float
) -> tuple[FloatArray, int, float]:
    """Scores above chance, how many are not, and the best."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise InputError(f"scores must be a 1-dimensional array, got shape {values.shape}")
    if not np.all((values >= 0) & (values <= 1)):
        raise InputError("scores must be accuracies in [0, 1]")
    if n_test < 1:
        raise InputError(f"n_test must be at least 1, got {n_test}")
    if not 0 <= chance < 1:
        raise InputError(f"chance must lie in [0, 1), got {chance:g}")
    if not 0 <= correlation < 1:
        raise InputError(f"correlation must lie in [0, 1), got {correlation:g}")
    if criterion not in CRITERIA:
        raise InputError(f"criterion must be one of {', '.join(CRITERIA)}, got {criterion!r}")
    OPEN_SHARE.check(prob, "prob")
    kept = values[values > chance]
    if kept.size == 0:
        raise InputError(f"no score is above chance, {chance:.4g}")
    best = float(kept.max())
    if best >= 1:
        raise InputError(
            "the best score is 1: a perfect score has no error to correct; leave such entries out"
        )
    return kept, int(values.size - kept.size), best


def _feasible(skills: FloatArray, correlation: float) -> Any:
    """Which skills can have the correlation with a reference as good as the best (Eq. 8)."""
    if correlation == 0:
        return np.ones(skills.size, bool)
    low, _ = feasible_skills(correlation, float(skills.max()))
    return skills >= low


def _excess_of(
    criterion: str, best: float, limit: float, level: float
) -> Callable[[MaximumLaw | AucMaximumLaw], float]:
    """What must vanish, increasing with the skills: of the mean, or of the cdf at the limit."""
    if criterion == "expected":
        return lambda law: law.mean() - best
    return lambda law: _gumbel(level) - _gumbel(float(law.cdf(limit)))


def _count(best: float, n_test: int) -> int:
    """Right answers behind the best score, rounded down where it is not on the lattice."""
    return int(np.floor(best * n_test + 1e-6))


def _gumbel(probability: float) -> float:
    """Gumbel quantile: the law of a maximum is nearly straight on this scale."""
    inside = min(max(probability, 1e-300), 1 - 1e-16)
    return float(-np.log(-np.log(inside)))


def _root(excess_of: Callable[[float], float], at_one: float) -> float:
    """Weight at which the excess vanishes."""
    from scipy.optimize import brentq

    if at_one <= 0:
        return 1.0
    known = {1.0: at_one}

    def excess(weight: float) -> float:
        if weight not in known:
            known[weight] = excess_of(weight)
        return known[weight]

    low, step = 1.0, 0.01
    while low > _LEAST_WEIGHT:
        high, low = low, max(_LEAST_WEIGHT, low - step)
        if excess(low) <= 0:
            return float(brentq(excess, low, high, xtol=_WEIGHT_ERROR))
        step *= 4
    raise InputError("shrinking finds no field whose best score would be the observed one")


def _error(score: float, n_test: int) -> float:
    """Standard error of an accuracy."""
    return float(np.sqrt(score * (1 - score) / n_test))


def _single(score: float, n_test: int, prob: float) -> tuple[float, float]:
    return binomial_interval(round(score * n_test), n_test, prob)


def _verdict(excess: float, error: float, root: float) -> tuple[float, bool, str]:
    """Excess, whether there is a multiplicity to correct, and why not."""
    if excess > _NEGLIGIBLE * error:
        return excess, True, ""
    return (
        excess,
        False,
        f"no multiplicity to correct: were the scores the skills, the best score would be expected "
        f"{excess:.1e} above the observed one, {excess / error:.1%} of its standard error "
        f"(root {root:.7f})",
    )
