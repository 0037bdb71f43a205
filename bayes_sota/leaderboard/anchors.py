r"""Anchors: entries whose skill is known show the shift that all scores of a board share.

The residual of an anchor is its score minus its known skill, in standard errors,

.. math:: e_a = \lambda_a z + \sqrt{1 - \lambda_a^2}\, \epsilon_a, \quad
          \lambda_a = \rho\, e^{-0.3\, |\mathrm{logit}\,\theta_a - \mathrm{logit}\,y_{max}|}

with the shift z; the loading falls with the distance from the leaders. With W the covariance of the
residuals, z given them is normal with mean :math:`\lambda' W^{-1} e` and variance
:math:`1 - \lambda' W^{-1} \lambda` at each rho, which keeps its prior. From answers every entry has
its own correlations :math:`R_{ja}` with the anchors: its score moves by :math:`R_{ja} W^{-1} e`
standard errors, and :math:`V_j = 1 - R_{ja} W^{-1} R_{aj}` of its variance is left.

Each anchor is *stray*, from another population, with probability 0.1; its residual then has a
variance larger by 9. ``tests/leaderboard/test_anchors.py`` compares with linear algebra and
simulated boards, ``tests/calibration/anchors.py`` judges boards of real classifiers.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import chdtrc, logsumexp, softmax

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


def residuals(law: ScoreLaw, anchors: Anchors) -> tuple[FloatArray, FloatArray]:
    """Residuals of anchors in standard errors, and the standard errors, (q,) each."""
    skill, ratio = law.inside(anchors.skill), anchors.ratio
    if anchors.influence is not None:  # the errors that items show
        shown = np.linalg.norm(anchors.influence, axis=0)
        ratio = np.where(shown > 0, shown / law.errors_at(law.inside(anchors.scores)), 1.0)
    error = law.errors_at(skill) * ratio
    if isinstance(law, AucScoreLaw):
        found = law.normal_scores.normal_score(anchors.scores, skill) / ratio
    else:
        found = (anchors.scores - skill) / error
    return np.clip(found, -_FARTHEST, _FARTHEST), error


def distances(law: ScoreLaw, skills: FloatArray, others: Any) -> FloatArray:
    """Distances of skills in log odds; 0 for scores without log odds."""
    if law.prior_scale is not None:
        return np.zeros(np.broadcast_shapes(skills.shape, np.shape(others)))
    return np.abs(logit(law.inside(skills)) - logit(law.inside(np.asarray(others))))


def explain(
    anchors: Anchors, law: ScoreLaw, cross: FloatArray, corr: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean and explained variance of errors given the anchors, (..., k), and weights (..., k, q).

    From the correlations of the errors with the anchors, (..., k, q), and of the anchors, (..., q,
    q).
    """
    residual, error = residuals(law, anchors)
    strays, log_prior = stray_sets(residual.size)
    cross, within = as_known(anchors, law, error, cross, corr)
    each = np.stack([within + np.diag(more) for more in strays])
    inverse = np.linalg.inv(each)
    fit = inverse @ residual @ residual + np.linalg.slogdet(each)[1]
    log_weight = log_prior.reshape(-1, *[1] * (corr.ndim - 2)) - fit / 2
    share, gain = softmax(log_weight, axis=0)[..., None], cross @ inverse
    means = gain @ residual
    mean = np.sum(share * means, axis=0)
    explained = np.sum(share * (np.sum(gain * cross, axis=-1) - (means - mean) ** 2), axis=0)
    return mean, explained, np.sum(share[..., None] * gain, axis=0)


def as_known(
    anchors: Anchors, law: ScoreLaw, error: FloatArray, cross: Any, corr: Any
) -> tuple[Any, Any]:
    """Correlations as in ``explain``, with the errors of the known skills."""
    alone = np.eye(error.size)
    part = np.where(anchors.contains, anchors.share, 0.0)  # of the luck that skill and score share
    both = anchors.contains[:, None] == anchors.contains
    known = np.where(both, np.minimum(anchors.share[:, None], anchors.share), 0.0)
    offset = anchors.offset / error
    apart = (anchors.error**2 + law.rounding) / error**2 + _LEAST_OWN
    more = np.diag(apart) + np.outer(offset, offset)
    corr = corr * (1 - alone) + alone
    return cross * (1 - part), corr * (1 - part[:, None] - part + known) + more


def loadings_at(rho: Any, law: ScoreLaw, board: Leaderboard) -> Any:
    """Loadings of anchors at rho, (..., q)."""
    return rho * np.exp(-_FALL * distances(law, board.anchors.skill, board.maximum))


def stray_sets(count: int) -> tuple[FloatArray, FloatArray]:
    """Variances that sets of strays add to residuals, (S, q), and log priors of the sets, (S,)."""
    sets: list[tuple[int, ...]] = []
    for size in range(count + 1):
        more = list(combinations(range(count), size))
        if size > 1 and len(sets) + len(more) > _MOST_SETS:
            break
        sets += more
    stray = np.array([np.isin(np.arange(count), one) for one in sets])
    log_prior = np.where(stray, np.log(_STRAY), np.log(1 - _STRAY)).sum(axis=1)
    return _STRAYS_BY * stray, log_prior - logsumexp(log_prior)


def shift_given(
    board: Leaderboard, law: ScoreLaw, rho: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the shift at values of rho, given anchors, (D,) each."""
    nodes = np.linspace(0.0, LARGEST_LOADING, 34)
    loading = loadings_at(nodes[:, None], law, board)
    corr = loading[:, :, None] * loading[:, None]
    mean, explained, _ = explain(board.anchors, law, loading[:, None], corr)
    sd = np.sqrt(np.maximum(1 - explained[:, 0], _LEAST_LEFT))
    return np.interp(rho, nodes, mean[:, 0]), np.interp(rho, nodes, sd)


def left_correlation(prior: CorrelationPrior, explained: float) -> CorrelationPrior:
    r"""Prior of rho where anchors explain a share x of the variance of the leaders.

    .. math:: \rho'^2 = \max(0, (\rho^2 - x) / (1 - x))
    """
    levels = np.linspace(0.0, 1.0, 801)
    left = (prior.quantile(levels) ** 2 - explained) / (1 - explained)
    return LearntCorrelation(np.sqrt(np.maximum(left, 0.0)), levels)


def pull_of_items(
    data: Outcomes, law: ScoreLaw, leaders: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How many standard errors each score is too high, and what anchors leave of its error.

    The latter as a ratio of standard deviations, (m,), and as influence of items, (C, m).
    """
    corr, m, influence = correlations(data, law, leaders), data.scores.size, data.average.influence
    mean, explained, weight = explain(data.anchors, law, corr[:m], corr[m:])
    left = influence - _units(data.anchors.influence) @ weight.T * _size(influence)
    return mean, np.sqrt(np.maximum(1 - explained, _LEAST_LEFT)), left


def correlations(data: Outcomes, law: ScoreLaw, leaders: IntArray) -> FloatArray:
    """Correlations of entries and of anchors with the anchors, (m + q, q).

    With few mistakes they are shrunk towards those expected from the distance of two skills.
    """
    anchors, m = data.anchors, data.scores.size
    unit = _units(np.concatenate([data.average.influence, anchors.influence], axis=1))
    answers = _trust(unit)
    distance = np.sqrt(1 - answers**2)
    skills, here = np.concatenate([data.scores, anchors.skill]), np.flatnonzero(anchors.entry >= 0)
    skills[anchors.entry[here]] = anchors.skill[here]  # one classifier has one row
    rows = np.arange(skills.size)
    lead = np.concatenate([leaders[:10], rows[m:]])
    by_distance = np.exp(-_FALL_OF_ANSWERS * distances(law, skills[:, None], skills[m:]))
    apart = rows[:, None] != rows[m:]
    apart[anchors.entry[here], here] = False
    corr = unit.T @ unit[:, m:]
    usual = min(corr[lead][apart[lead]].mean() / by_distance[lead][apart[lead]].mean(), 1.0)
    found = np.outer(answers, answers[m:]) * corr
    found += np.outer(distance, distance[m:]) * usual * by_distance
    return np.where(apart, found, 1.0)


def _trust(influence: FloatArray) -> FloatArray:
    own_items = carrying(influence)
    return np.sqrt(own_items / (_SHRINKING + own_items))


def _size(influence: FloatArray) -> FloatArray:
    return np.maximum(np.linalg.norm(influence, axis=0), 1e-150)


def _units(influence: FloatArray) -> FloatArray:
    return influence / _size(influence)


def explain_difference(
    data: Outcomes, pair: tuple[int, int], covariance: FloatArray
) -> tuple[float, float]:
    """Error of the difference of two scores given the anchors, and the variance they explain."""
    signs, anchors, of = np.array([1.0, -1.0]), data.anchors, _of_items(data)
    gap = data.average.influence[:, list(pair)] @ signs
    unit = _units(np.column_stack([gap, anchors.influence]))
    answers = _trust(unit)
    cross = answers[0] * answers[1:] * (unit[:, 0] @ unit[:, 1:])
    corr = correlations(data, *of)[data.scores.size :]
    mean, explained, _ = explain(anchors, of[0], cross[None], corr)
    variance = signs @ covariance @ signs
    return float(np.sqrt(variance) * mean[0]), float(variance * explained[0])


def _of_items(data: Outcomes) -> tuple[ScoreLaw, IntArray]:
    score = float(np.median(data.scores))
    law: ScoreLaw = AccuracyLaw(score, data.n_items)
    if not data.is_answers:
        law = NormalLaw(score, data.n_items, float(np.median(data.standard_errors)))
    return law, np.argsort(-data.scores, kind="stable")


def known_skills(
    anchors: Anchors,
    law: ScoreLaw,
    which: IntArray,
    skill: FloatArray,
    variance: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Draws of the skills of anchors ``which`` that compete, (D, k), given their known skills.

    They move towards noisy copies of the known skills (perturbed observations of the ensemble
    Kalman filter). From items, where these have moved the scores already, a share of the draws
    becomes the known skill.
    """
    sd = law.errors_at(law.inside(anchors.skill[which]))
    error = np.hypot(anchors.error[which], anchors.share[which] ** 0.5 * sd)
    noise = error * rng.standard_normal(skill.shape)
    noise += anchors.offset * rng.standard_normal((len(skill), 1))
    square = error**2 + anchors.offset**2
    gain = np.where(square == 0, 1.0, variance / np.maximum(variance + square, 1e-300))
    if anchors.influence is not None:
        gain = rng.random(skill.shape) < _LEAST_LEFT * sd**2 / np.maximum(square, 1e-300)
    known = (1 - gain) * skill + gain * (anchors.skill[which] + noise)
    return known if law.prior_scale is not None else np.clip(known, 0.0, 1.0)


def without_luck(skills: Sequence[Skill], data: Outcomes) -> list[Skill]:
    """Skills of classifiers by themselves, without the error that anchors explain."""
    if data.anchors is None:
        return list(skills)
    found, (errors, shares, _) = [], pull_of_items(data, *_of_items(data))
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


def notes_of_anchors(data: Leaderboard | Outcomes) -> tuple[list[str], list[str]]:
    """Notes on the known skills of a board, and reasons not to trust them."""
    if data.anchors is None:
        return [], []
    notes = [
        f"item difficulty is estimated from known skills: {listed(data.anchors.names)}",
        "a small error that all known skills share cannot be detected",
    ]
    p, words = disagreement(data)
    return notes + [words] * (_IMPOSSIBLE <= p < _UNLIKELY), [words] * (p < _IMPOSSIBLE)


def disagreement(data: Leaderboard | Outcomes) -> tuple[float, str]:
    """p-value of the chi-square of the anchors' residuals, and a sentence."""
    anchors = data.anchors
    if isinstance(data, Outcomes):
        law, leaders = _of_items(data)
        corr = correlations(data, law, leaders)[data.scores.size :]
    else:
        law = score_law(data)
        loading = loadings_at(_USUAL_RHO, law, data)
        corr = np.outer(loading, loading)
    residual, error = residuals(law, anchors)
    within = as_known(anchors, law, error, 0.0, corr)[1]
    p = float(chdtrc(residual.size, residual @ np.linalg.solve(within, residual)))
    names = listed([quoted(name) for name in anchors.names])
    what = f"known skills are far from the scores of {names}"
    return p, f"{what} (p = {p:.2g}): a slip, or another population"
