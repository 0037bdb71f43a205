r"""Anchors: entries whose skill is known show the shift that all scores of a board share.

An anchor's standardised residual is its score less its known skill, in standard errors,

.. math:: e_a = \lambda_a z + \sqrt{1 - \lambda_a^2}\, \epsilon_a, \quad
          \lambda_a = \rho\, e^{-0.3\, |\mathrm{logit}\,\theta_a - \mathrm{logit}\,y_{max}|}

with the shift z, which it shares with the leaders the less, the further it is from them. With W the
covariance of the residuals, z given them is normal with mean :math:`\lambda' W^{-1} e` and variance
:math:`1 - \lambda' W^{-1} \lambda` at each rho, which keeps its prior. From answers every
entry has correlations :math:`R_{ja}` of its own with the anchors: its score moves by
:math:`R_{ja} W^{-1} e` standard errors, and :math:`V_j = 1 - R_{ja} W^{-1} R_{aj}` of its variance
is left.

Each anchor is from another population with probability .1; then its residual has a variance of 9
more. Sums over who that may be are kept as their mean and variance.
``tests/leaderboard/test_anchors.py`` compares with linear algebra and simulated boards,
``tests/calibration/anchors.py`` judges boards of real classifiers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import chdtrc, logsumexp

from bayes_sota.core.errors import quoted
from bayes_sota.core.priors import CorrelationPrior
from bayes_sota.core.skills import logit
from bayes_sota.core.text import listed
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.known import Anchors
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.correlation import LARGEST_LOADING, LearntCorrelation, carrying
from bayes_sota.items.score import Skill
from bayes_sota.maximum.score_laws import AccuracyLaw, AucScoreLaw, NormalLaw, ScoreLaw, score_law

_FALL, _FALL_OF_ANSWERS = 0.3, 0.43  # of loadings and correlations, per log odds of distance
_STRAY, _STRAYS_BY = 0.1, 9.0
_MOST_SETS = 600  # of anchors that may be stray
_FARTHEST = 12.0  # standard errors of a residual
_SHRINKING = 25.0  # mistakes that a correlation by distance is worth
_LEAST_OWN = 1e-6  # of the variance of a residual: two anchors may have the same answers
_LEAST_LEFT = 0.02  # of a variance
_UNLIKELY, _IMPOSSIBLE = 0.02, 1e-5  # p-values: a note, and no trust
_USUAL_RHO = 0.69


@dataclass(frozen=True, eq=False)
class Shift:
    """Mean and standard deviation of the shift at values of rho, (R,) each."""

    rho: FloatArray
    mean: FloatArray
    sd: FloatArray

    def at(self, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation at other values of rho."""
        return np.interp(rho, self.rho, self.mean), np.interp(rho, self.rho, self.sd)


def residuals(law: ScoreLaw, anchors: Anchors) -> tuple[FloatArray, FloatArray]:
    """Standardised residuals of anchors, and standard errors of their scores, (q,) each."""
    skill = law.inside(anchors.skill)
    error = law.errors_at(skill) * anchors.ratio
    if isinstance(law, AucScoreLaw):
        found = law.normal_scores.normal_score(anchors.scores, skill) / anchors.ratio
    else:
        found = (anchors.scores - skill) / error
    return np.clip(found, -_FARTHEST, _FARTHEST), error


def distances(law: ScoreLaw, skills: FloatArray, others: Any) -> FloatArray:
    """Distances of skills in log odds; 0 of scores that have none."""
    if law.prior_scale is not None:
        return np.zeros(np.broadcast_shapes(skills.shape, np.shape(others)))
    return np.abs(logit(law.inside(skills)) - logit(law.inside(np.asarray(others))))


def explain(
    anchors: Anchors, residual: FloatArray, error: FloatArray, cross: FloatArray, corr: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Errors that anchors predict, the variance that they explain, and weights of the anchors.

    Parameters
    ----------
    anchors : Anchors
    residual, error : ndarray, shape (q,)
        From ``residuals``.
    cross : ndarray, shape (..., k, q)
        Correlations of errors on the items of the board with those of the anchors.
    corr : ndarray, shape (..., q, q)
        Correlations of the anchors.

    Returns
    -------
    mean, explained : ndarray, shape (..., k)
    weight : ndarray, shape (..., k, q)
        The mean is their product with the residuals.
    """
    kept, (times, more) = parts_of(anchors, error)
    within, cross = corr * times + more, cross * kept
    variances, log_prior = stray_variances(residual.size)
    each = np.stack([within + more for more in variances])
    inverse = np.linalg.inv(each)
    fit = inverse @ residual @ residual + np.linalg.slogdet(each)[1]
    log_weight = log_prior.reshape(-1, *[1] * (corr.ndim - 2)) - fit / 2
    share = np.exp(log_weight - log_weight.max(axis=0))
    share = (share / share.sum(axis=0))[..., None]
    gain = cross @ inverse
    means = gain @ residual
    mean = np.sum(share * means, axis=0)
    explained = np.sum(share * (np.sum(gain * cross, axis=-1) - (means - mean) ** 2), axis=0)
    return mean, explained, np.sum(share[..., None] * gain, axis=0)


def parts_of(
    anchors: Anchors, error: FloatArray
) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """How the error of known skills changes covariances of residuals.

    Returns
    -------
    kept : ndarray, shape (q,)
        Factor of covariances with scores on the board.
    times, more : ndarray, shape (q, q)
        Factor of covariances of residuals, and what is added to them.
    """
    part = np.where(anchors.contains, anchors.share, 0.0)  # of the luck that both have
    both = anchors.contains[:, None] == anchors.contains
    known = np.where(both, np.minimum(anchors.share[:, None], anchors.share), 0.0)
    offset = anchors.offset / error
    more = np.diag((anchors.error / error) ** 2 + _LEAST_OWN) + np.outer(offset, offset)
    return 1 - part, (1 - part[:, None] - part + known, more)


def loadings_at(rho: Any, law: ScoreLaw, anchors: Anchors, best: float) -> FloatArray:
    """Loadings of anchors at rho, less the further they are from the best score, (..., q)."""
    return rho * np.exp(-_FALL * distances(law, anchors.skill, best))


def stray_variances(count: int) -> tuple[FloatArray, FloatArray]:
    """Variances that strays add to residuals, (S, q, q), and log priors of who they are, (S,).

    Only few strays at a time where there are many anchors.
    """
    sets: list[tuple[int, ...]] = []
    for size in range(count + 1):
        more = list(combinations(range(count), size))
        if size > 1 and len(sets) + len(more) > _MOST_SETS:
            break
        sets += more
    stray = np.array([np.isin(np.arange(count), one) for one in sets])
    log_prior = np.where(stray, np.log(_STRAY), np.log(1 - _STRAY)).sum(axis=1)
    return _STRAYS_BY * stray[:, None] * np.eye(count), log_prior - logsumexp(log_prior)


def shift_of_scores(board: Leaderboard, law: ScoreLaw) -> Shift | None:
    """The shift given the anchors of a board of scores; None without any."""
    anchors = board.anchors
    if anchors is None:
        return None
    residual, error = residuals(law, anchors)
    rho = np.linspace(0.0, LARGEST_LOADING, 34)
    loading = loadings_at(rho[:, None], law, anchors, board.maximum)
    corr = loading[:, :, None] * loading[:, None]
    corr[:, np.arange(residual.size), np.arange(residual.size)] = 1.0
    mean, explained, _ = explain(anchors, residual, error, loading[:, None], corr)
    return Shift(rho, mean[:, 0], np.sqrt(np.maximum(1 - explained[:, 0], _LEAST_LEFT)))


def left_correlation(prior: CorrelationPrior, explained: float) -> CorrelationPrior:
    r"""Prior of rho where anchors explain a share x of the variance of the leaders.

    .. math:: \rho'^2 = (\rho^2 - x) / (1 - x)

    or 0 where they explain more than is shared.
    """
    levels = np.linspace(0.0, 1.0, 801)
    left = (prior.quantile(levels) ** 2 - explained) / (1 - explained)
    return LearntCorrelation(np.sqrt(np.maximum(left, 0.0)), levels)


def pull_of_items(
    anchors: Anchors, law: ScoreLaw, scores: FloatArray, influence: FloatArray, leaders: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Errors of scores (m,) given anchors, from the influence of items, (C, m).

    Returns
    -------
    moved : ndarray, shape (m,)
        By how many standard errors each score is too high.
    left : ndarray, shape (m,)
        Standard deviation that is left of each error, over that before.
    influence : ndarray, shape (C, m)
        Influence of the items that anchors leave unexplained.
    """
    corr, m = correlations(anchors, law, scores, influence, leaders), scores.size
    mean, explained, weight = explain(anchors, *residuals(law, anchors), corr[:m], corr[m:])
    left = influence - (anchors.influence / _size(anchors.influence)) @ weight.T * _size(influence)
    return mean, np.sqrt(np.maximum(1 - explained, _LEAST_LEFT)), left


def correlations(
    anchors: Anchors, law: ScoreLaw, scores: FloatArray, influence: FloatArray, leaders: IntArray
) -> FloatArray:
    """Correlations of entries and of anchors with the anchors, (m + q, q).

    They are shrunk towards what the distance of two skills says, the more, the fewer mistakes tell
    them, with weights that are products, so that the matrix of an entry and all anchors stays one
    of correlations.
    """
    m, every = scores.size, np.concatenate([influence, anchors.influence], axis=1)
    unit = every / _size(every)
    answers = _trust(unit)
    distance = np.sqrt(1 - answers**2)
    skills, here = np.concatenate([scores, anchors.skill]), np.flatnonzero(anchors.entry >= 0)
    skills[anchors.entry[here]] = anchors.skill[here]  # one classifier has one row
    lead = np.concatenate([leaders[:10], np.arange(m, every.shape[1])])
    by_distance = np.exp(-_FALL_OF_ANSWERS * distances(law, skills[:, None], skills[m:]))
    apart = np.arange(every.shape[1])[:, None] != np.arange(m, every.shape[1])
    apart[anchors.entry[here], here] = False
    corr = unit.T @ unit[:, m:]
    usual = min(corr[lead][apart[lead]].mean() / by_distance[lead][apart[lead]].mean(), 1.0)
    found = np.outer(answers, answers[m:]) * corr
    found += np.outer(distance, distance[m:]) * usual * by_distance
    return np.where(apart, found, 1.0)


def _trust(influence: FloatArray) -> FloatArray:
    """Weight of a classifier's answers in its correlations, (m,)."""
    own_items = carrying(influence)
    return np.sqrt(own_items / (_SHRINKING + own_items))


def _size(influence: FloatArray) -> FloatArray:
    """Standard errors that influence values show, (m,)."""
    return np.maximum(np.linalg.norm(influence, axis=0), 1e-150)


def explain_difference(
    data: Outcomes, pair: tuple[int, int], covariance: FloatArray
) -> tuple[float, float]:
    """Error of the difference of two scores given the anchors, and the variance they explain.

    ``covariance`` is that of the scores of the pair, (2, 2). The correlation of the difference with
    an anchor comes from the influence of items, shrunk towards 0.
    """
    signs = np.array([1.0, -1.0])
    anchors, law, scores, influence, _ = of = _of_items(data)
    every = np.column_stack([influence[:, list(pair)] @ signs, anchors.influence])
    unit = every / _size(every)
    answers = _trust(unit)
    cross = answers[0] * answers[1:] * (unit[:, 0] @ unit[:, 1:])
    corr = correlations(*of)[scores.size :]
    mean, explained, _ = explain(anchors, *residuals(law, anchors), cross[None], corr)
    variance = signs @ covariance @ signs
    return float(np.sqrt(variance) * mean[0]), float(variance * explained[0])


def _of_items(data: Outcomes) -> tuple[Anchors, ScoreLaw, FloatArray, FloatArray, IntArray]:
    """Arguments of ``correlations``, with the law of the typical score."""
    score = float(np.median(data.scores))
    law: ScoreLaw = AccuracyLaw(score, data.n_items)
    if not data.is_answers:
        law = NormalLaw(score, data.n_items, float(np.median(data.standard_errors)))
    leaders, influence = np.argsort(-data.scores, kind="stable"), data.average.influence
    return with_shown_errors(data.anchors, law), law, data.scores, influence, leaders


def known_skills(
    anchors: Anchors,
    law: ScoreLaw,
    which: IntArray,
    skill: FloatArray,
    variance: FloatArray | None,
    rng: Any,
) -> FloatArray:
    """Draws of the skills of some entries, (D, k), with what is known of them.

    Parameters
    ----------
    anchors : Anchors
    law : ScoreLaw
    which : ndarray of int, shape (k,)
        Numbers of the entries among the anchors.
    skill : ndarray, shape (D, k)
        Draws given the shift, but not what is known of them.
    variance : ndarray, shape (k,), or None
        Variance of these draws given the shift: they move towards noisy copies of what is known (a
        perturbed observation of the ensemble Kalman filter). None where what is known has moved the
        scores; then only what is known nearly without error remains to be used.
    rng : Generator
    """
    sd = law.errors_at(law.inside(anchors.skill[which]))
    error = np.hypot(anchors.error[which], anchors.share[which] ** 0.5 * sd)
    noise = error * rng.standard_normal(skill.shape)
    noise += anchors.offset * rng.standard_normal((len(skill), 1))
    square = error**2 + anchors.offset**2
    if variance is None:
        gain = (square <= _LEAST_LEFT * sd**2).astype(float)
    else:
        gain = np.where(square == 0, 1.0, variance / np.maximum(variance + square, 1e-300))
    known = (1 - gain) * skill + gain * (anchors.skill[which] + noise)
    return known if law.prior_scale is not None else np.clip(known, 0.0, 1.0)


def without_luck(skills: Sequence[Skill], data: Outcomes) -> list[Skill]:
    """Skills of classifiers by themselves, without the shared error that anchors show.

    Correct answers count as those of more items, by the variance that is left.
    """
    if data.anchors is None:
        return list(skills)
    found, (errors, shares, _) = [], pull_of_items(*_of_items(data))
    for skill, moved, left in zip(skills, errors, shares, strict=True):
        if data.is_answers:
            own = AccuracyLaw(skill.score, max(1, round(skill.n_effective)))
            luck = skill.score - float(own.remove_shift(np.array(skill.score), moved))
            change: dict[str, Any] = {"n_effective": skill.n_effective / left**2}
        else:
            luck = float(data.sign * moved * skill.error)
            change = {"error": skill.error * left}
        found.append(replace(skill, luck=luck, **change))
    return found


def with_shown_errors(anchors: Anchors, law: ScoreLaw) -> Anchors:
    """Anchors with the standard errors that items show, over those of the law."""
    ratio = np.linalg.norm(anchors.influence, axis=0) / law.errors_at(law.inside(anchors.scores))
    return anchors.copy_with(ratio=np.where(ratio > 0, ratio, 1.0))


def notes_of_anchors(data: Leaderboard | Outcomes) -> tuple[list[str], list[str]]:
    """Notes on the known skills of a board, and reasons not to trust them."""
    if data.anchors is None:
        return [], []
    notes = [
        f"known skills show how easy these items are: {listed(data.anchors.names)}",
        "a small error that all known skills share cannot be detected",
    ]
    p, words = disagreement(data)
    return notes + [words] * (_IMPOSSIBLE <= p < _UNLIKELY), [words] * (p < _IMPOSSIBLE)


def disagreement(data: Leaderboard | Outcomes) -> tuple[float, str]:
    """p-value of scores as far from the known skills as those of the anchors, and a sentence.

    A chi-square of the residuals of the anchors, given their correlations.
    """
    anchors: Any = data.anchors
    if isinstance(data, Outcomes):
        anchors, law, scores, *_ = of = _of_items(data)
        corr = correlations(*of)[scores.size :]
    else:
        law = score_law(data)
        loading = loadings_at(_USUAL_RHO, law, anchors, data.maximum)
        corr = np.outer(loading, loading)
        np.fill_diagonal(corr, 1.0)
    residual, error = residuals(law, anchors)
    times, more = parts_of(anchors, error)[1]
    p = float(chdtrc(residual.size, residual @ np.linalg.solve(corr * times + more, residual)))
    names = listed([quoted(name) for name in anchors.names])
    what = f"known skills are far from the scores of {names}"
    return p, f"{what} (p = {p:.2g}): a slip, or another population"
