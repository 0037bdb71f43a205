"""Evidence of all scores of a board: which entries are modelled, rows of equal scores, the grid.

Scores with errors of their own come the same way, and so do answers (``leaderboard.from_items``).
``tests/leaderboard/test_evidence.py`` compares the laws with simulation.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.priors import BetaCorrelation, BoardPriors, board_priors
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import New
from bayes_sota.data.sizes import leaders
from bayes_sota.items.correlation import (
    ResponseCorrelation,
    influence_correlation,
    learn_correlation,
    no_correlation,
)
from bayes_sota.leaderboard.anchors import LeftCorrelation, shift_of_scores
from bayes_sota.leaderboard.evidence import Evidence
from bayes_sota.maximum.score_laws import ScoreLaw, entry_values, score_law
from bayes_sota.maximum.submissions import expected_maximum

_LEAST, _PER_ROOT, _STANDARD_ERRORS = 10, 3.0, 4.0
_MOST_VALUES, _MOST_NODES, _MOST_OWN = 400, 2000, 200
_EXACT, _MOST_CHOSEN = 20.0, 500  # numbers of submissions up to the first are exact
# how close the others of a kind are, and bins of scores: the first with few enough values is taken
_COARSENESS = ((1.05, 0), (1.25, 0), (1.5, 0), (1.5, 200), (1.5, 100), (1.5, 50), (1.5, 25))
MOST_CLASSIFIERS = 5_000  # whose correlations fit into 3 GiB
OF_TASKS = BetaCorrelation(8, 1.2)
"""Default prior of the correlation of scores on new tasks.

Leaders of three tables of data sets have .84 (UCR), .93 and .95 (VTAB): tasks that are hard for one
are hard for all, more so than items.
"""


def board_evidence(board: Leaderboard, priors: BoardPriors) -> Evidence:
    """Evidence of a full or partial leaderboard.

    Examples
    --------
    >>> from bayes_sota.core.priors import board_priors
    >>> board = Leaderboard([0.90, 0.91, 0.93], n_test=1000, submissions=[1, 5, 20])
    >>> board_evidence(board, board_priors(None)).has_luck
    True
    """
    law, values = score_law(board), entry_values(board)
    if board.has_own_errors:
        new_ratio = None if board.metric == "score" else np.ones(values.size)
        own: dict[str, Any] = {"freedom": board.freedom, "new_ratio": new_ratio}
        own |= {"shift": shift_of_scores(board, law)}
        loadings = _loadings_of(board, values, priors)
        return own_evidence(board, law, values, loadings, board.error_ratios, **own)
    entries = np.flatnonzero(modelled_entries(law, board))
    numbers, lowest, kinds = None, 0.0, np.zeros(values.size, np.int64)
    if board.has_submissions:
        numbers, kinds, distinct, kind, row = _chosen(board, values, entries)
        lowest = float(expected_maximum(numbers).max())
    else:
        many = np.unique(values[entries]).size > _MOST_VALUES
        distinct, kind, row = _rows(values[entries], kinds[entries], 0, _MOST_VALUES * many)
    law = law.fitted_to(distinct)
    complete = entries.size == values.size and not board.is_partial
    return Evidence(
        board=board,
        law=law,
        loadings=no_correlation(values, priors.correlation),
        ratio=np.ones(values.size),
        entries=entries,
        row=row,
        values=distinct,
        copies=np.bincount(row).astype(float),
        kind=kind,
        kinds=kinds,
        y=skill_grid(law, np.sort(distinct), 1.0, complete=complete, luck=lowest),
        numbers=numbers,
        shift=shift_of_scores(board, law),
    )


def own_evidence(
    board: Leaderboard,
    law: ScoreLaw,
    values: FloatArray,
    loadings: ResponseCorrelation,
    ratio: Any,
    **others: Any,
) -> Evidence:
    """Evidence of entries each of which has a law of its own; ``values`` (m,) are in its unit.

    The best 200 of the entries that could be modelled are.
    """
    entries = np.flatnonzero(modelled_entries(law, board))
    law = law.fitted_to(values[entries])
    complete = entries.size == values.size and not board.is_partial
    y = skill_grid(law, values[entries], ratio[entries], complete=complete)
    chosen = loadings.order[np.isin(loadings.order, entries)][-_MOST_OWN:]  # worst first
    row, number, kinds = np.argsort(chosen), np.arange(chosen.size), np.zeros(values.size, np.int64)
    kinds[chosen] = number
    rows = row, values[chosen], loadings.weights[chosen], number, kinds, y
    return Evidence(board, law, loadings, ratio, chosen[row], *rows, **others)


def modelled_entries(law: ScoreLaw, board: Leaderboard) -> NDArray[np.bool_]:
    """Entries that the skill distribution is fitted to: the top part of the board.

    An entry more than four standard errors below the best cannot be the best, and its distance
    says little about the upper edge: failed and abandoned entries follow other laws. So the model
    conditions on the entries within four standard errors of the best score, but always on the
    best ``max(10, 3 sqrt(m))``, the intermediate order statistics that inform an upper tail.
    Where entries have errors of their own, the four are of an entry's and the best's error, and
    all with a higher score belong to the model too.

    Returns
    -------
    ndarray of bool, shape (m,)
    """
    scores, ratio = board.scores, board.error_ratios
    least = int(max(_LEAST, np.ceil(_PER_ROOT * np.sqrt(scores.size))))
    if least >= scores.size:
        return np.ones(scores.size, bool)
    own = 1.0 if ratio is None else np.sqrt((ratio**2 + ratio[np.argmax(scores)] ** 2) / 2)
    near = law.depth(scores) <= _STANDARD_ERRORS * own
    return scores >= min(scores[near].min(), np.sort(scores)[-least])


def skill_grid(
    law: ScoreLaw,
    values: FloatArray,
    ratio: FloatArray | float,
    *,
    complete: bool,
    luck: float = 0.0,
) -> FloatArray:
    """Equally spaced, a sixth of the leaders' least standard error apart, with wide margins.

    ``luck`` is how many standard errors more the lowest of the skills may lie below its score.
    """
    places, errors = law.places(values)
    errors = errors * ratio
    low = np.min(places - ((4 if complete else 6) + luck) * np.minimum(errors, 1.0))
    high = np.max(places + 5 * np.minimum(errors, 1.2))
    # where errors differ the best few say what is typical of a leader
    few = np.argsort(values)[-2:] if np.ndim(ratio) == 0 else leaders(values)
    step = errors[few].min() / 6
    return np.linspace(low, high, int(np.clip((high - low) / step, 60, _MOST_NODES)))


def _chosen(
    board: Leaderboard, values: FloatArray, entries: IntArray
) -> tuple[FloatArray, IntArray, FloatArray, IntArray, IntArray]:
    """Numbers and kinds of entries; values and kinds of distinct scores, and rows of entries.

    Entries with as many submissions are of one kind; above 20, numbers close to each other are.
    """
    for closeness, bins in _COARSENESS:
        numbers, kinds = submission_kinds(board.submissions, closeness)
        leading = int(kinds[board.order[0]])
        distinct, kind, row = _rows(values[entries], kinds[entries], leading, bins)
        if distinct.size <= _MOST_CHOSEN:
            break
    return numbers, kinds, distinct, kind, row


def submission_kinds(numbers: FloatArray, closeness: float) -> tuple[FloatArray, IntArray]:
    """Distinct rows of numbers (L, k), large ones to within a factor, and the kind of each row."""
    steps = np.round(np.log(np.maximum(numbers, _EXACT) / _EXACT) / np.log(closeness))
    close = np.where(numbers > _EXACT, np.round(_EXACT * closeness**steps), numbers)
    kinds, index = np.unique(close, axis=0, return_inverse=True)
    return kinds, index.ravel()


def _rows(
    values: FloatArray, kinds: IntArray, leading: int, bins: int
) -> tuple[FloatArray, IntArray, IntArray]:
    """Value and kind of each row, worst first, the leader's last; and row of each entry.

    With bins, scores in one of equally wide bins are one value, their mean; the best stay alone.
    """
    place = np.unique(values, return_inverse=True)[1].ravel()
    if bins:
        low, high = values.min(), values.max()
        place = np.where(values == high, bins, np.floor((values - low) / (high - low) * bins))
    last = np.where(kinds == leading, kinds.max() + 1, kinds)
    rows, index = np.unique(np.stack([place, last], axis=1), axis=0, return_inverse=True)
    index = index.ravel()
    means = np.bincount(index, weights=values) / np.bincount(index)
    kind = np.where(rows[:, 1] == kinds.max() + 1, leading, rows[:, 1]).astype(np.int64)
    return means, kind, index


def _loadings_of(
    board: Leaderboard, values: FloatArray, priors: BoardPriors
) -> ResponseCorrelation:
    """Correlation of errors: assumed, but learnt from tasks that are the sample."""
    influence = board.task_influence
    if influence is None:
        return no_correlation(values, priors.correlation)
    if not influence.any() or board.n_entries > MOST_CLASSIFIERS:
        return no_correlation(values, OF_TASKS)
    return influence_correlation(influence * len(influence), board.scores, of_tasks=True)


def learnt_priors(
    loadings: ResponseCorrelation, priors: BoardPriors, new: New, explained: float = 0.0
) -> BoardPriors:
    """Priors with the posterior of rho from answers, items or tasks; tasks have their own prior.

    ``explained`` is the share of the leaders' variance that anchors explain.
    """
    if not loadings.is_learnt:
        return priors
    prior = priors.correlation
    if new == "tasks" and prior == board_priors(None).correlation:
        prior = OF_TASKS
    if explained:
        prior = LeftCorrelation(prior, explained)
    return replace(priors, correlation=learn_correlation(loadings, prior))
