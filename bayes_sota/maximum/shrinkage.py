r"""Point estimates of the state of the art: shrinking (the paper's Eq. 9) and cropping (App. A).

Shrinking draws all scores towards the random classifier until the best score that they would give
is the one observed:

.. math:: \theta'_j = w \hat\theta_j + (1 - w) c, \quad
          E \max_j \hat\theta_j(X \mid \theta') = \max_j \hat\theta_j

with ``c`` the accuracy of chance, or the upper limit of the best score's interval in the place of
its expectation. Cropping leaves out the best entries instead. ``max theta'`` is the estimate.

As in the paper the skills of a field are drawn from P(theta') with replacement, as many as entries
pass Eq. 8, and theta0 is ``max theta'``. The paper simulates; here the law of the best score is
exact (``resampled_maximum_law``) and a root finder does the rest. The best entry is missing from
37 % of the fields: where it stands alone, the expected maximum at ``w = 1`` is below the observed
one, no weight solves the equation, and there is no multiplicity to correct (the paper's cassava
leaf disease).

An excess within 2 % of the winner's standard error counts as none.
``tests/maximum/test_shrinkage.py`` has the paper's Tables 2 and 4, and simulations.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from bayes_sota.auc.laws import AucLaw, auc_law
from bayes_sota.auc.scores import AucField
from bayes_sota.core.arguments import (
    CORRELATION,
    COUNT,
    OPEN_SHARE,
    check_choice,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.dependence import feasible_skills
from bayes_sota.maximum.field_estimate import (
    AnyLaw,
    Criterion,
    FieldEstimate,
    binomial_interval,
)
from bayes_sota.maximum.law import MaximumLaw, resampled_maximum_law

Alone = tuple[float, Callable[[float], tuple[float, float]]]  # error and interval of the best score
_NEGLIGIBLE = 0.02  # excess in standard errors of the winner below which nothing is corrected
_LEAST_WEIGHT = 1e-3
_WEIGHT_ERROR, _SHORT = 1e-8, 1e-5


def field_law(skills: FloatArray, *, n_test: int, correlation: float) -> MaximumLaw:
    """Law of the best score of a field drawn from these skills, from those that pass Eq. 8.

    As many are drawn with replacement; theta0 is the best.

    Examples
    --------
    >>> skills = np.array([0.88, 0.89, 0.9])
    >>> round(field_law(skills, n_test=3000, correlation=0.6).mean(), 4)
    0.898
    """
    feasible = skills[_feasible(skills, correlation)]
    return resampled_maximum_law(
        feasible, n_test=n_test, n_classifiers=feasible.size, correlation=correlation
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
        of weights; the lower end is taken, ``P(best score >= observed) = (1 - ci_prob) / 2``.
    ci_prob : float
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
    Eq. 9 of Møllersen & Holsbø, arXiv 2303.07272. The weight is solved to 1e-7; it is 1 where no
    weight solves the equation.

    Examples
    --------
    >>> scores = 0.8 + 0.1 * np.linspace(0, 1, 200) ** 0.3
    >>> fitted = shrink_scores(scores, n_test=2000, chance=0.5)
    >>> round(fitted.estimate, 4), round(fitted.expected_maximum, 4), fitted.n_above()
    (0.8903, 0.9, 58)
    """
    shared = _checked(scores, n_test, chance, correlation, criterion, ci_prob)
    kept, best = shared["scores"], float(shared["scores"].max())

    def law_at(weight: float) -> MaximumLaw:
        skills = weight * kept + (1 - weight) * chance
        return field_law(skills, n_test=n_test, correlation=correlation)

    # the limit is to be the observed score, not the one below
    excess_of = _excess_of(criterion, best, _count(best, n_test) - 1, (1 + ci_prob) / 2 - _SHORT)
    return _shrunk(law_at, excess_of, chance, _binomial_error(best, n_test), shared)


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
    spread_ratio : float
        As of ``bayes_sota.auc.auc_maximum_law``.
    criterion, ci_prob
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
    >>> fitted = shrink_aucs(aucs, n_positive=60, n_negative=900)
    >>> round(fitted.expected_maximum, 4), bool(fitted.estimate < 0.88)
    (0.9, True)
    """
    n_test = n_positive + n_negative
    shared = _checked(aucs, n_test, 0.5, correlation, criterion, ci_prob)
    kept, best = shared["scores"], float(shared["scores"].max())
    values, copies = np.unique(kept, return_counts=True)
    alone = auc_law(best, n_positive, n_negative, spread_ratio)
    field = AucField.of(best, n_positive, n_negative, correlation, spread_ratio)

    def law_at(weight: float) -> AucLaw:
        levels, below = field.resampled(weight * values + (1 - weight) / 2, copies.astype(float))
        top = weight * best + (1 - weight) / 2
        return replace(
            alone, theta_sota=top, n_classifiers=kept.size, levels=levels, below=below, above=None
        )

    excess_of = _excess_of(criterion, best, best, (1 + ci_prob) / 2)
    return _shrunk(law_at, excess_of, 0.5, (alone.std(), alone.interval), shared)


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

    As many skills as all entries that can have the correlation are drawn with replacement from
    those of them up to a threshold, which is theta0. The threshold is the highest score at which
    the expected best score, or the upper limit of its interval, does not exceed the observed one;
    it moves in steps, from one score to the next.

    Parameters, errors and notes are those of ``shrink_scores``; Appendix A of the paper.

    Returns
    -------
    FieldEstimate

    Examples
    --------
    >>> scores = 0.8 + 0.1 * np.linspace(0, 1, 200) ** 0.3
    >>> fitted = crop_scores(scores, n_test=2000, chance=0.5)
    >>> round(fitted.threshold, 4), fitted.n_above()
    (0.89, 59)
    """
    shared = _checked(scores, n_test, chance, correlation, criterion, ci_prob)
    kept, best = shared["scores"], float(shared["scores"].max())
    levels = np.unique(kept)

    def law_at(index: int) -> MaximumLaw:
        skills = kept[_feasible(kept, correlation, float(levels[index]))]
        return resampled_maximum_law(
            skills[skills <= levels[index]],
            n_test=n_test,
            n_classifiers=skills.size,
            correlation=correlation,
        )

    excess_of = _excess_of(criterion, best, _count(best, n_test), (1 + ci_prob) / 2)
    low, high = 0, levels.size  # the criterion is met at low, and is not at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess_of(law_at(middle)) <= 0 else (low, middle)
    found: dict[str, Any] = {"estimate": float(levels[low]), "threshold": float(levels[low])}
    found |= {"law": law_at(low), "excess": law_at(levels.size - 1).mean() - best}
    return _estimate(found | shared, _binomial_error(best, n_test))


def _checked(
    scores: ArrayLike,
    n_test: int,
    chance: float,
    correlation: float,
    criterion: str,
    ci_prob: float,
) -> dict[str, Any]:
    """Scores above chance, and what else a ``FieldEstimate`` takes from its arguments."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise InputError(f"scores must be a 1-dimensional array, got shape {values.shape}")
    if not np.all((values >= 0) & (values <= 1)):
        raise InputError("scores must be accuracies in [0, 1]")
    COUNT.check(n_test, "n_test")
    CORRELATION.check(chance, "chance")
    CORRELATION.check(correlation, "correlation")
    check_choice("criterion", criterion, Criterion)
    OPEN_SHARE.check(ci_prob, "ci_prob")
    kept = values[values > chance]
    if kept.size == 0:
        raise InputError(f"no score is above chance, {chance:.4g}")
    if kept.max() >= 1:
        raise InputError(
            "the best score is 1: a perfect score has no error to correct; leave such entries out"
        )
    return {"scores": kept, "criterion": criterion, "ci_prob": ci_prob}


def _shrunk(
    law_at: Callable[[float], AnyLaw],
    excess_of: Callable[[AnyLaw], float],
    chance: float,
    alone: Alone,
    shared: dict[str, Any],
) -> FieldEstimate:
    """Estimate at the weight where the excess vanishes."""
    law_at, best = cache(law_at), float(shared["scores"].max())
    weight = _root(lambda w: excess_of(law_at(w)))
    found = {"weight": weight, "estimate": weight * best + (1 - weight) * chance}
    laws = {"law": law_at(weight), "excess": law_at(1.0).mean() - best}
    return _estimate(found | laws | shared, alone)


def _estimate(found: dict[str, Any], alone: Alone) -> FieldEstimate:
    """With whether there is a multiplicity to correct, and why not."""
    excess, (error, interval), reason = found["excess"], alone, ""
    if excess <= _NEGLIGIBLE * error:
        place, size = "above" if excess > 0 else "below", abs(excess)
        reason = (
            "no multiplicity to correct: were the scores the skills, the best score would be "
            f"expected {size:.2g} {place} the observed one, {size / error:.1%} of its standard "
            "error"
        )
    return FieldEstimate(**found, reason=reason, single=interval(found["ci_prob"]))


def _binomial_error(best: float, n_test: int) -> Alone:
    interval = partial(binomial_interval, round(best * n_test), n_test)
    return float(np.sqrt(best * (1 - best) / n_test)), interval


def _feasible(skills: FloatArray, correlation: float, reference: float | None = None) -> Any:
    """Which skills can have the correlation with the reference, by default the best (Eq. 8)."""
    if correlation == 0:
        return np.ones(skills.size, bool)
    theta0 = float(skills.max()) if reference is None else reference
    return skills >= feasible_skills(correlation, theta0)[0]


def _excess_of(
    criterion: str, best: float, limit: float, level: float
) -> Callable[[AnyLaw], float]:
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


def _root(excess: Callable[[float], float]) -> float:
    """Weight at which the excess vanishes."""

    low, step = 1.0, 0.01
    if excess(low) <= 0:
        return low
    while low > _LEAST_WEIGHT:
        high, low = low, max(_LEAST_WEIGHT, low - step)
        if excess(low) <= 0:
            return float(brentq(excess, low, high, xtol=_WEIGHT_ERROR))
        step *= 4
    raise InputError("shrinking finds no field whose best score would be the observed one")
