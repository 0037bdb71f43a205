"""Scores of the same entries in several tasks: averages with the right error, and new tasks.

A table of scores with a column for each task (subjects of an exam, benchmarks of a leaderboard,
data sets) says more than its average: how many items a task has, or the error of each score, give
the error of the average on new items of these tasks, whatever the tasks have in common; and how
scores differ from task to task says what would happen on new tasks.
``tests/data/test_tasks.py`` compares with answers, closed forms and simulation.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import POSITIVE, check_choice, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels, counted, shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.averages import (
    Averaging,
    averaged_shares,
    check_tasks,
    of_new_tasks,
    task_weights,
)
from bayes_sota.data.frames import labelled_values
from bayes_sota.data.leaderboard import Averaged, Leaderboard
from bayes_sota.data.outcomes import check_enough_tasks
from bayes_sota.data.printed_scores import (
    PERCENT,
    checked_number,
    checked_numbers,
    parse_scores,
    plain_matrix,
)
from bayes_sota.data.sizes import of_sizes, sizes_by_errors

_MEANING = "are a matrix of numbers, entries x tasks"

New = Literal["items", "tasks"]
"""What a skill is about: new items of these tasks, or new tasks like these."""
_COUNTS: dict[Averaged, str] = {
    "items": "whose items count the same",
    "tasks": "that count the same",
    "weights": "with weights of their own",
}


def tasks_in_words(count: int, averaging: Averaged) -> str:
    """Tasks of an average, and what counts equally in it.

    Examples
    --------
    >>> tasks_in_words(2, "tasks")
    '2 tasks that count the same'
    """
    return f"{counted(count, 'task')} {_COUNTS[averaging]}"


def average_tasks(
    scores: ArrayLike | Any,
    *,
    n_test: Any = None,
    standard_errors: ArrayLike | Any = None,
    tasks: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    average: Averaging | None = None,
    new: New | None = None,
    metric: Literal["accuracy", "score"] = "accuracy",
    lower_is_better: bool = False,
    percent: bool | None = None,
    name: str = "board",
    notes: Sequence[str] = (),
) -> Leaderboard:
    r"""Averages of m entries over T tasks, each with its own error on new items, or on new tasks.

    Parameters
    ----------
    scores : array-like, shape (m, T)
        Accuracies in [0, 1], or anything else with ``metric="score"``. None may be missing.
    n_test : int, mapping of str to int, or array-like of int, shape (T,) or (m, T), optional
        Items of every task: one number for all, one for each task, or one for each score. Not
        needed for new tasks, nor where accuracies have standard errors.
    standard_errors : array-like, shape (m, T), optional
        Of the scores; of accuracies those that are 0 or NaN need ``n_test``.
    tasks, names : sequence of str, optional
        Default: the columns and the index of a frame, or "1", "2", ...
    average : {"tasks", "items"} or mapping of str to float, optional
        What counts equally in an average: every task (default), every item, or tasks by these
        weights.
    new : {"items", "tasks"}, optional
        Default: items. Of new tasks like these the variance of an average is
        :math:`\sum_t w_t (x_t - s)^2 \sum_t w_t^2 / (1 - \sum_t w_t^2)`, half its own and half the
        mean over entries, and at least that of new items, where it is known. It has as many degrees
        of freedom as there are tasks but one, which the posterior allows for.
    metric : {"accuracy", "score"}
    lower_is_better : bool
        Errors and losses, for the metric "score" only.
    percent : bool, optional
        As of ``Leaderboard``; accuracies in percent have their errors in percent.
    name, notes
        Label and what a reader should know.

    Raises
    ------
    InputError
        Numbers of items or weights of other tasks, accuracies outside [0, 1]; neither numbers of
        items nor errors for new items, or fewer than three tasks where they are new.

    Examples
    --------
    >>> board = average_tasks([[0.9, 0.5], [0.8, 0.7]], n_test={"law": 50, "art": 50},
    ...                       tasks=["law", "art"], names=["a", "b"])
    >>> board.scores.tolist(), board.sizes.round(1).tolist()
    ([0.7, 0.75], [119.5, 100.3])
    """
    cells, columns, rows = labelled_values(scores)
    x = plain_matrix(cells, f"scores {_MEANING}")
    labels = checked_labels(columns if tasks is None else tasks, x.shape[1], "task")
    entries = checked_labels(rows if names is None else names, x.shape[0], "entry")
    new = new or "items"
    check_choice("new", new, New)
    check_choice("metric", metric, Literal["accuracy", "score"])
    if metric == "accuracy":
        refuse_unused("accuracies", {"lower_is_better": lower_is_better})
    places = [f"{entry} in task {task}" for entry in entries for task in labels]
    subjects = [f"the score of {shown(place)}" for place in places]
    is_share = metric == "accuracy"
    printed = parse_scores(x.ravel(), percent=percent, bounded=is_share, subjects=subjects)
    x = printed.values.reshape(x.shape)
    sizes = None if n_test is None else _sizes_of_tasks(n_test, labels, x.shape)
    errors = None
    if standard_errors is not None:
        errors = plain_matrix(standard_errors, f"standard_errors {_MEANING}")
        if errors.shape != x.shape:
            raise InputError(f"standard_errors are {errors.shape}, scores are {x.shape}")
        if is_share:
            known = None if sizes is None else sizes.ravel()
            unit = 0.01 if printed.in_percent else 1.0
            of = x.ravel(), errors.ravel(), known, places, unit
            sizes = sizes_by_errors(*of).reshape(x.shape)
        else:
            errors = checked_numbers(errors.ravel(), places, "standard_error", POSITIVE)
            errors = errors.reshape(x.shape)
    weights = np.broadcast_to(task_weights(average, labels, sizes), x.shape)
    averaging = "weights" if isinstance(average, Mapping) else average or "tasks"
    influence = variance = None
    if new == "tasks":
        check_enough_tasks(labels)
        if not weights.all():
            raise InputError("a task of weight 0 tells nothing of new tasks: leave it out")
        influence, variance = of_new_tasks(x.T, weights.T)
    known_error: Any = 1.0 if is_share else _errors(errors, weights, variance)
    board = Leaderboard(
        np.sum(weights * x, axis=1),
        names=entries,
        metric="score",
        standard_error=known_error,
        lower_is_better=lower_is_better,
        name=name,
        notes=[*notes, *[PERCENT] * printed.in_percent],
    )
    if is_share:
        effective = _effective(x, sizes, weights, variance)
        source = tasks_in_words(len(labels), averaging)
        board = board.copy_with(
            metric="accuracy",
            standard_error=None,
            rounding="exact",
            **of_sizes(effective, board.scores, source),
        )
    return board.copy_with(
        tasks=labels,
        averaging=averaging,
        n_items=None if sizes is None else round(float(np.median(sizes.sum(axis=1)))),
        task_influence=influence,
        new=new,
    )


def _errors(
    errors: FloatArray | None, weights: FloatArray, variance: FloatArray | None
) -> FloatArray:
    """Standard error of each average of scores that are no accuracies, (m,)."""
    if errors is None and variance is None:
        raise InputError(
            "averages of scores that are no accuracies need the standard error of every score; new "
            "tasks do without"
        )
    own = 0.0 if errors is None else np.sum((weights * errors) ** 2, axis=1)
    return np.sqrt(np.maximum(own, 0.0 if variance is None else variance))


def _effective(
    shares: FloatArray, sizes: FloatArray | None, weights: FloatArray, variance: FloatArray | None
) -> FloatArray:
    """Number of items that each average of accuracies is worth, (m,)."""
    if sizes is None and variance is None:
        raise InputError(
            "n_test is missing: the number of items of every task, or of each, such as law:100,"
            "art:200; new tasks do without"
        )
    worth: Any = np.inf
    if sizes is not None:
        worth = averaged_shares(shares.T, sizes.T, weights.T)[1]
    if variance is not None:
        half = 0.5 / shares.shape[1]
        middle = np.clip(np.sum(weights * shares, axis=1), half, 1 - half)
        worth = np.minimum(worth, middle * (1 - middle) / variance + 1)
    return np.asarray(worth)


def _sizes_of_tasks(n_test: Any, tasks: Sequence[str], shape: tuple[int, ...]) -> FloatArray:
    """Number of items behind each score, (m, T)."""
    if isinstance(n_test, Mapping):
        check_tasks([str(task) for task in n_test], tasks, "n_test", "number of items")
        n_test = [n_test[task] for task in tasks]
    given = np.asarray(n_test, object)
    if given.shape not in ((), shape[1:], shape):
        raise InputError(
            f"n_test is {given.shape}: give one number for all, or one for each of {len(tasks)} "
            f"tasks, or of {shape[0]:,} entries x {len(tasks)} tasks"
        )
    checked = [float(checked_number(size, "n_test of a task")) for size in given.flat]
    return np.array(np.broadcast_to(np.reshape(checked, given.shape), shape))
