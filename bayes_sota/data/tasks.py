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

from bayes_sota.core.arguments import check_choice, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels, counted, nearest, shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.averages import of_new_tasks, worth_of_means
from bayes_sota.data.leaderboard import Averaged, Leaderboard
from bayes_sota.data.sizes import of_errors, of_sizes
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
        Items of every task, of accuracies: one number for all, one for each task, or one for each
        score. Not needed for new tasks, nor where accuracies have standard errors.
    standard_errors : float, mapping of str to float, or array-like, shape (T,) or (m, T), optional
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
    entries = checked_labels(rows if names is None else names, len(x), "entry")
    new = new or "items"
    check_choice("new", new, New)
    check_choice("metric", metric, Literal["accuracy", "score"])
    is_share = metric == "accuracy"
    places = [f"{entry} in task {task}" for entry in entries for task in labels]
    if not is_share:
        refuse_unused("scores that are no accuracies", {"n_test": n_test})
    given = {"n_test": n_test, "standard_error": standard_errors}
    known = {
        what: _of_scores(of, what, labels, x.shape) for what, of in given.items() if of is not None
    }
    lacks_errors = not known
    if is_share:  # without errors, by their numbers of items
        known = {"standard_error": np.zeros(x.size)} | (known or {"n_test": np.ones(x.size)})
    each = Leaderboard(
        x.ravel(),
        names=places,
        metric=metric,
        lower_is_better=lower_is_better,
        percent=percent,
        name=name,
        notes=notes,
        **known,
    )
    x = each.scores.reshape(x.shape)
    sizes = each.sizes.reshape(x.shape) if is_share and not lacks_errors else None
    weights = np.broadcast_to(task_weights(average, labels, sizes), x.shape)
    if lacks_errors and new == "items":
        what = "n_test, the number of items" if is_share else "standard_errors, that of the score"
        raise InputError(f"{what} of every task, is missing; new tasks do without")
    averages = np.sum(weights * x, axis=1)
    how: Any = "weights" if isinstance(average, Mapping) else average or "tasks"
    found: dict[str, Any] = {"tasks": labels, "averaging": how, "new": new, "decimals": None}
    variance = np.zeros(len(x))
    if new == "tasks":
        check_enough_tasks(labels)
        found["task_influence"], variance = of_new_tasks(x.T, weights.T)
    if is_share:
        worth = np.full(len(x), np.inf)
        if sizes is not None:
            worth = worth_of_means(x.T, (x * (1 - x)).T, sizes.T, weights.T)[1]
            found["n_items"] = round(float(np.median(sizes.sum(axis=1))))
        if new == "tasks":
            half = 0.5 / len(labels)
            middle = np.clip(averages, half, 1 - half)
            worth = np.minimum(worth, middle * (1 - middle) / variance + 1)
        found |= of_sizes(worth, averages, tasks_in_words(len(labels), how)) | {"rounding": "exact"}
    else:
        if not lacks_errors:
            errors = each.standard_error * each.error_ratios.reshape(x.shape)
            variance = np.maximum(variance, np.sum((weights * errors) ** 2, axis=1))
        found |= of_errors(np.sqrt(variance), averages)
    return each.copy_with(scores=averages, names=entries, **found).with_tries(len(x))


def _of_scores(given: Any, what: str, tasks: Sequence[str], shape: tuple[int, ...]) -> Any:
    """Numbers of each score, (m T,), of one for all, one for each task, or one for each score."""
    if isinstance(given, Mapping):
        given = _of_tasks(given, tasks, what)
    each = np.asarray(given, object)
    if each.shape not in ((), shape[1:], shape):
        allowed = f"one for each of {shape[1]} tasks, or of {shape[0]:,} entries x {shape[1]} tasks"
        raise InputError(f"{what} has the shape {each.shape}: give one for all, or {allowed}")
    return np.broadcast_to(each, shape).ravel()
