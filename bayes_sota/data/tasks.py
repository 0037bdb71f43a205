"""Tasks of a score: their weights, and averages over tasks of which only the scores are known.

A table of scores with a column for each task (subjects of an exam, benchmarks of a leaderboard,
data sets) says more than its average: how many items a task has, or the error of each score, give
the error of the average on new items of these tasks, whatever the tasks have in common; and how
scores differ from task to task says what would happen on new tasks.
``tests/data/test_tasks.py`` compares with answers, closed forms and simulation.
"""

from collections.abc import Mapping, Sequence, Sized
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import POSITIVE, check_choice, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels, counted, nearest, shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.averages import of_new_tasks, worth_of_means
from bayes_sota.data.leaderboard import Averaged, Leaderboard
from bayes_sota.data.printed_scores import PERCENT, checked_number, checked_numbers, parse_scores
from bayes_sota.data.sizes import of_sizes, sizes_by_errors
from bayes_sota.data.tables import labelled_matrix

type Averaging = Literal["items", "tasks"] | Mapping[str, float]  # tasks by weights
New = Literal["items", "tasks"]
"""What a skill is about: new items of these tasks, or new tasks like these."""
FEWEST_TASKS = 3
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


def check_enough_tasks(tasks: Sized) -> None:
    """Raise ``InputError`` where nothing can be said of new tasks, given those that there are."""
    if len(tasks) < FEWEST_TASKS:
        need = f"{FEWEST_TASKS} tasks at least to tell how tasks differ, got {max(len(tasks), 1)}"
        raise InputError(f"new tasks need {need}; new items of these need none")


def task_weights(
    average: Averaging | None, tasks: Sequence[str], sizes: FloatArray | None
) -> FloatArray:
    """Weights of tasks in an average, which sum to 1, as ``sizes`` (T,) or (m, T), or (T,).

    Raises
    ------
    InputError
        Weights of other tasks or not above 0, items that count the same without their numbers.

    Examples
    --------
    >>> task_weights("items", ["law", "art"], np.array([30.0, 10.0])).tolist()
    [0.75, 0.25]
    """
    if isinstance(average, Mapping):
        weights = np.array(_of_tasks(average, tasks, "average"), np.float64)
        if not np.all((weights > 0) & (weights < np.inf)):
            raise InputError("weights of tasks are positive numbers: leave out a task of weight 0")
    elif average == "items" and sizes is not None:
        weights = sizes
    elif average in (None, "tasks"):
        weights = np.ones(len(tasks))
    else:
        options = "tasks, items (where their numbers are known) or weights by task"
        raise InputError(f"average is one of {options}, got {average!r:.80}")
    return weights / weights.sum(axis=-1, keepdims=True)


def _of_tasks(given: Mapping[Any, Any], tasks: Sequence[str], what: str) -> list[Any]:
    """What is given for each task, and for no other."""
    named = {str(task): value for task, value in given.items()}
    for task in sorted(named.keys() ^ set(tasks)):
        known = f"unknown{nearest(task, tasks)}" if task in named else "missing"
        raise InputError(f"{what} has a number for every task; {shown(task)} is {known}")
    return [named[task] for task in tasks]


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
    x, columns, rows = labelled_matrix(scores, "scores are a matrix, entries x tasks")
    labels = checked_labels(columns if tasks is None else tasks, x.shape[1], "task")
    entries = checked_labels(rows if names is None else names, x.shape[0], "entry")
    new = new or "items"
    check_choice("new", new, New)
    check_choice("metric", metric, Literal["accuracy", "score"])
    is_share = metric == "accuracy"
    if is_share:
        refuse_unused("accuracies", {"lower_is_better": lower_is_better})
    places = [f"{entry} in task {task}" for entry in entries for task in labels]
    subjects = [f"the score of {shown(place)}" for place in places]
    printed = parse_scores(x.ravel(), percent=percent, bounded=is_share, subjects=subjects)
    x = printed.values.reshape(x.shape)
    sizes = None if n_test is None else _sizes_of_tasks(n_test, labels, x.shape)
    errors = None
    if standard_errors is not None:
        meaning = "standard_errors are a matrix, entries x tasks"
        errors = labelled_matrix(standard_errors, meaning)[0]
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
    if new == "items" and (sizes if is_share else errors) is None:
        what = "n_test, the number of items" if is_share else "standard_errors, that of the score"
        raise InputError(f"{what} of every task, is missing; new tasks do without")
    averages = np.sum(weights * x, axis=1)
    how: Any = "weights" if isinstance(average, Mapping) else average or "tasks"
    found: dict[str, Any] = {"tasks": labels, "averaging": how, "new": new}
    found["n_items"] = None if sizes is None else round(float(np.median(sizes.sum(axis=1))))
    variance = np.zeros(len(x))
    if new == "tasks":
        check_enough_tasks(labels)
        found["task_influence"], variance = of_new_tasks(x.T, weights.T)
    error: Any = 1.0
    if is_share:
        worth = np.full(len(x), np.inf)
        if sizes is not None:
            worth = worth_of_means(x.T, (x * (1 - x)).T, sizes.T, weights.T)[1]
        if new == "tasks":
            half = 0.5 / len(labels)
            middle = np.clip(averages, half, 1 - half)
            worth = np.minimum(worth, middle * (1 - middle) / variance + 1)
        found |= of_sizes(worth, averages, tasks_in_words(len(labels), how))
        found |= {"metric": "accuracy", "standard_error": None, "rounding": "exact"}
    else:
        own = 0.0 if errors is None else np.sum((weights * errors) ** 2, axis=1)
        error = np.sqrt(np.maximum(own, variance))
    return Leaderboard(
        averages,
        names=entries,
        metric="score",
        standard_error=error,
        lower_is_better=lower_is_better,
        name=name,
        notes=[*notes, *[PERCENT] * printed.in_percent],
    ).copy_with(**found)


def _sizes_of_tasks(n_test: Any, tasks: Sequence[str], shape: tuple[int, ...]) -> FloatArray:
    """Number of items behind each score, (m, T)."""
    if isinstance(n_test, Mapping):
        n_test = _of_tasks(n_test, tasks, "n_test")
    given = np.asarray(n_test, object)
    if given.shape not in ((), shape[1:], shape):
        each = f"{shape[1]} tasks, or of {shape[0]:,} entries x {shape[1]} tasks"
        raise InputError(
            f"{{name}} is {given.shape}: give one number for all, or one for each of {each}",
            parameter="n_test",
        )
    checked = [float(checked_number(size, "n_test of a task")) for size in given.flat]
    return np.array(np.broadcast_to(np.reshape(checked, given.shape), shape))
