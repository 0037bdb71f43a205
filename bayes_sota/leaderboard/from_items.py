r"""Evidence of answers, or of numbers, that classifiers got for every item.

The model of ``leaderboard.evidence`` with the loading :math:`\ell_j` learnt from the items
(``items.correlation``). The shift is not learnt: classifiers cannot show whether the items were
easy. ``tests/leaderboard/test_from_items.py`` compares with linear algebra, the exact paired
comparison and real responses; see docs/measured/responses.md.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.item_values import korn_graubard
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.comparison import notes_on_average
from bayes_sota.items.correlation import (
    ResponseCorrelation,
    carrying,
    influence_correlation,
    no_correlation,
    response_correlation,
)
from bayes_sota.leaderboard.anchors import pull_of_items
from bayes_sota.leaderboard.evidence import MOST_CLASSIFIERS, Evidence, own_evidence
from bayes_sota.maximum.score_laws import AucScoreLaw, ScoreLaw, score_law

_TYPICAL = 0.25  # of the logarithm of a ratio: medians of nine real tasks lay in .67 to 1.17
_LEAST_CLUSTERS = 10
_LEAST_CARRYING = 5.0  # items that carry the variance of the typical leader
_LEAST_MISTAKES = 5
_LITTLE = 0.5  # of a standard error that anchors leave
_MANY_TASKS = 9  # of all that were there when skills on new tasks were measured


def items_evidence(data: Outcomes) -> Evidence:
    """Evidence of answers or numbers, missing at random where missing."""
    data.check_several()
    if data.is_answers and data.n_classifiers > MOST_CLASSIFIERS:
        many = f"answers of {data.n_classifiers:,} classifiers to {data.n_items:,} items"
        fix = "leave out the weakest, or give their scores alone; rows are items, not classifiers"
        raise InputError(f"{many}: at most {MOST_CLASSIFIERS:,} are compared", fix=fix)
    correlation = correlation_of(data)
    if data.is_answers:
        return _of_answers(data, correlation)
    board, freedom = data.leaderboard(), np.inf if data.metric == "auc" else data.average.freedom
    ratio = _ratios(data, score_law(board))
    return _given_anchors(data, board, correlation, ratio, freedom=freedom)


def _given_anchors(
    data: Outcomes,
    board: Leaderboard,
    correlation: ResponseCorrelation,
    ratio: FloatArray,
    **others: Any,
) -> Evidence:
    law, scores = score_law(board), data.scores
    if data.anchors is not None:
        moved, left, influence = pull_of_items(data, law, correlation.leaders)
        correlation = correlation_of(data, influence, np.flatnonzero(left < _LITTLE))
        others.setdefault("new_ratio", ratio)
        scores, ratio = law.remove_shift(scores, moved * ratio), ratio * left
        board, others["adjusted"] = board.copy_with(anchors=data.anchors), scores
        explained = 1 - float(np.mean(left[correlation.leaders] ** 2))
        others["explained"] = max(0.0, explained)  # anchors that disagree may leave more than was
    return own_evidence(board, law, scores * law.unit, correlation, ratio, **others)


def correlation_of(
    data: Outcomes, influence: FloatArray | None = None, known: ArrayLike = ()
) -> ResponseCorrelation:
    """Correlation of the errors of the classifiers, given what anchors leave of their influence."""
    if data.new == "runs":
        return no_correlation(data.scores)
    if data.is_plain and data.clusters is None:
        return response_correlation(data, influence, known)
    rows = data.average.influence if influence is None else influence
    of_tasks = data.new == "tasks"
    return influence_correlation(rows * len(rows), data.scores, known, of_tasks=of_tasks)


def _of_answers(data: Outcomes, correlation: ResponseCorrelation) -> Evidence:
    freedom = np.inf
    if data.new == "tasks":
        freedom = data.average.freedom
        between = data.average.effective / korn_graubard(freedom)
        within = data.about("items", passes=data.passes).average.effective
        effective = np.minimum(between, within)
    elif data.is_average:
        effective = data.average.effective
    else:
        effective = data.totals / _design_effect(data, correlation.leaders)
    typical = effective[correlation.leaders] if data.is_average else effective
    n = max(2, round(float(np.median(typical))))
    rounded = np.round(data.scores * n) / n
    board = Leaderboard(rounded, n_test=n, rounding="exact", percent=False, names=data.names)
    board = board.copy_with(scores=data.scores)
    new = {"new_ratio": np.sqrt(data.totals / effective), "answers": data.totals.astype(float)}
    ratio = np.sqrt(n / effective)
    return _given_anchors(data, board, correlation, ratio, freedom=freedom, **new)


def _ratios(data: Outcomes, law: ScoreLaw) -> FloatArray:
    """Standard errors that the items show over those of the law, shrunk, (m,).

    A lucky classifier near an AUC of 1 shows a small error. So the logarithm of each ratio is
    shrunk towards their mean by the share of its own noise, ``1 / 4k`` with k items that carry its
    variance. For AUCs the mean is shrunk towards 0: DeLong's error is too small near 1.
    """
    scores, of_score = data.scores, carrying(data.average.influence)
    if isinstance(law, AucScoreLaw):
        scores = np.clip(scores, 1 - law.normal_scores.largest, law.normal_scores.largest)
    shown = data.standard_errors / law.errors_at(scores)
    known = (shown > 0) & (of_score > 1)
    if not known.any():
        return np.ones(scores.size)
    logs, weight = np.log(shown[known]), of_score[known]
    middle = centre = float(np.average(logs, weights=weight))
    noise = 1 / (4 * weight)
    if isinstance(law, AucScoreLaw):
        middle *= _TYPICAL**2 / (_TYPICAL**2 + 1 / float(np.median(weight)))
    true = max(0.0, float(np.average((logs - centre) ** 2 - noise, weights=weight)))
    ratio = np.full(scores.size, np.exp(middle))
    ratio[known] = np.exp(middle + true / (true + noise) * (logs - centre))
    return ratio


def _design_effect(data: Outcomes, leaders: IntArray) -> float:
    """Variance of the leaders' scores over clusters, relative to independent items; at least 1."""
    if data.clusters is None:
        return 1.0
    n, scores = data.totals[leaders], data.scores[leaders]
    squares = (n * data.standard_errors[leaders]) ** 2
    return max(1.0, float(np.mean(squares / np.maximum(n * scores * (1 - scores), 0.5))))


def reasons_of_items(data: Outcomes, evidence: Evidence) -> Iterator[str]:
    """Reasons not to trust a posterior from items."""
    leaders = evidence.loadings.leaders
    if not data.is_answers:
        if data.n_clusters is not None and data.n_clusters < _LEAST_CLUSTERS:
            yield f"items come in only {data.n_clusters} clusters: too few for standard errors"
        few = float(np.median(carrying(data.average.influence)[leaders]))
        if few < _LEAST_CARRYING:
            yield (
                f"the error of the typical leader comes from {few:.0f} of "
                f"{counted(data.n_items, data.unit)}: too few to learn how far errors coincide"
            )
        return
    if data.new == "items" and data.is_average and data.average.freedom < _LEAST_CLUSTERS - 1:
        yield (
            f"clusters within tasks leave {data.average.freedom:.0f} degrees of freedom: too few "
            "for errors"
        )
    right = np.rint(data.scores * data.totals)
    rare = int(np.median(np.minimum(data.totals - right, right)[leaders]))
    if rare < _LEAST_MISTAKES:
        yield (
            f"the typical leader has {counted(rare, 'mistake')} (or correct answers): too few to "
            "learn how far the classifiers' mistakes coincide"
        )


def notes_of_items(data: Outcomes, evidence: Evidence) -> Iterator[str]:
    """Notes on the fit, on clusters, and on near-clones."""
    if data.has_missing:
        yield "answers are missing; taken to be missing at random"
    yield from data.notes
    if not data.is_plain:
        yield from notes_on_average(data)
    if data.clusters is not None and (data.is_plain or not data.is_answers):
        yield f"the items form {data.n_clusters:,} clusters, and standard errors are clustered"
    yield from evidence.notes
    count = 0 if data.new != "tasks" or data.tasks is None else len(data.task_weights)
    if 0 < count < _MANY_TASKS:
        yield (
            f"with {count} tasks the estimate for the best tends to be too low, and is hardly more "
            "accurate than its score (docs/measured/responses.md)"
        )
    each = [[j for j in one if evidence.modelled[j]] for one in evidence.loadings.families]
    families = [", ".join(data.names[j] for j in members) for members in each if len(members) > 1]
    if families:
        what = "some classifiers are near-clones, which share their mistakes and count as fewer"
        yield f"{what}: {'; '.join(families)}"
