"""Scores of the same entries in several tasks: averages with the right error, and new tasks.

A table of scores with a column for each task (subjects of an exam, benchmarks of a leaderboard,
data sets) says more than its average: how many items a task has, or the error of each score, give
the error of the average on new items of these tasks, whatever the tasks have in common; and how
scores differ from task to task says what would happen on new tasks.
``tests/data/test_task_scores.py`` compares with answers, closed forms and simulation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import POSITIVE, check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels, counted, digest_of, shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data import checks
from bayes_sota.data.averages import (
    Averaging,
    averaged_shares,
    check_tasks,
    of_new_tasks,
    task_weights,
)
from bayes_sota.data.frames import labelled_values
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.observed import Observed
from bayes_sota.data.outcomes import check_enough_tasks
from bayes_sota.data.printed_scores import check_finite, plain_matrix

COUNTS = {
    "items": "whose items count the same",
    "tasks": "that count the same",
    "weights": "with weights of their own",
}
"""What counts equally in an average, in words."""
_MEANING = "scores are a matrix of numbers, entries x tasks"

New = Literal["items", "tasks"]
"""What a skill is about: new items of these tasks, or new tasks like these."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class TaskScores(Observed):
    """Scores of m entries in T tasks.

    Parameters
    ----------
    scores : array-like, shape (m, T)
        Accuracies in [0, 1], or anything else with ``metric="score"``. None may be missing.
    n_test : int, mapping of str to int, or array-like of int, shape (T,) or (m, T), optional
        Items of every task: one number for all, one for each task, or one for each score. Not
        needed where only new tasks are asked for, nor where accuracies have standard errors.
    standard_errors : array-like, shape (m, T), optional
        Of the scores; of accuracies those that are 0 or NaN need ``n_test``.
    tasks, names : sequence of str, optional
        Default: the columns and the index of a frame, or "1", "2", ...
    average : {"tasks", "items"} or mapping of str to float, optional
        What counts equally in an average: every task (default), every item, or tasks by these
        weights.
    metric : {"accuracy", "score"}
    lower_is_better : bool
        Errors and losses, for the metric "score" only.
    name, notes
        Label and what a reader should know.

    Attributes
    ----------
    scores, sizes, errors : ndarray, shape (m, T)
        Scores as given; number of items and standard error behind each, None where not known.
    weights : ndarray, shape (m, T)
        Of the tasks in the average of each entry; each row sums to 1.
    tasks, names, averaging, metric, lower_is_better, name, notes

    Raises
    ------
    InputError
        Numbers of items or weights of other tasks, accuracies outside [0, 1].

    Examples
    --------
    >>> exam = TaskScores([[0.9, 0.5], [0.8, 0.7]], n_test={"law": 50, "art": 50},
    ...                   tasks=["law", "art"], names=["a", "b"])
    >>> board = exam.leaderboard()
    >>> board.scores.tolist(), board.sizes.round(1).tolist()
    ([0.7, 0.75], [119.5, 100.3])
    """

    scores: FloatArray
    sizes: FloatArray | None
    errors: FloatArray | None
    weights: FloatArray
    tasks: tuple[str, ...]
    names: tuple[str, ...]
    averaging: Literal["items", "tasks", "weights"]
    metric: checks.Metric
    lower_is_better: bool
    name: str
    notes: tuple[str, ...]

    def __init__(
        self,
        scores: ArrayLike | Any,
        *,
        n_test: Any = None,
        standard_errors: ArrayLike | Any = None,
        tasks: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        average: Averaging | None = None,
        metric: checks.Metric = "accuracy",
        lower_is_better: bool = False,
        name: str = "board",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything once."""
        cells, columns, rows = labelled_values(scores)
        numbers = plain_matrix(cells, _MEANING)
        m, count = numbers.shape
        labels = checked_labels(columns if tasks is None else tasks, count, "task")
        entries = checked_labels(rows if names is None else names, m, "entry")
        if metric not in ("accuracy", "score"):
            raise InputError(f"averages over tasks are of accuracies or scores, got {metric!r}")
        check_finite(numbers, (("entry", entries), ("task", labels)), may_miss=False)
        if metric == "accuracy":
            _check_shares(numbers, entries, labels)
        sizes = None if n_test is None else _sizes_of_tasks(n_test, labels, m)
        errors = None
        if standard_errors is not None:
            errors = plain_matrix(standard_errors, "standard_errors" + _MEANING[6:])
            sizes, errors = _by_errors(numbers, errors, sizes, metric, entries, labels)
        weights = np.broadcast_to(task_weights(average, labels, sizes), (m, count))
        averaging = "weights" if isinstance(average, Mapping) else average or "tasks"
        self._set(
            scores=numbers,
            sizes=sizes,
            errors=errors,
            weights=weights,
            tasks=labels,
            names=entries,
            averaging=averaging,
            metric=metric,
            lower_is_better=bool(lower_is_better),
            name=str(name),
            notes=tuple(notes),
        )

    def __repr__(self) -> str:
        """Size."""
        return f"<TaskScores {self.name!r}: {len(self.names):,} entries x {len(self.tasks)} tasks>"

    @property
    def n_items(self) -> int | None:
        """Items of all tasks together, of the typical entry; None where they are not known."""
        return None if self.sizes is None else round(float(np.median(self.sizes.sum(axis=1))))

    @property
    def described(self) -> str:
        """What the tasks are, in words."""
        return f"{counted(len(self.tasks), 'task')} {COUNTS[self.averaging]}"

    def leaderboard(self, new: New = "items") -> Leaderboard:
        r"""Averages, each with its own error on new items of these tasks, or on new tasks.

        Parameters
        ----------
        new : {"items", "tasks"}
            Of new tasks like these the variance of an average is
            :math:`\sum_t w_t (x_t - s)^2 \sum_t w_t^2 / (1 - \sum_t w_t^2)`, half its own and half
            the mean over entries, and at least that of new items, where it is known. It has as many
            degrees of freedom as there are tasks but one, which the posterior allows for.

        Raises
        ------
        InputError
            Neither the number of items of the tasks nor errors are known, or fewer than three
            tasks where they are new.
        """
        check_choice("new", new, New)
        errors = self._errors_on_new_tasks() if new == "tasks" else None
        average = np.sum(self.weights * self.scores, axis=1)
        about: dict[str, Any] = {"names": self.names, "name": self.name, "notes": self.notes}
        about |= {"metric": "score", "lower_is_better": self.lower_is_better}
        if self.metric == "score":
            if errors is None or self.errors is not None:
                errors = np.maximum(self._errors_on_new_items(), 0 if errors is None else errors)
            board = Leaderboard(average, standard_error=errors.tolist(), **about)
            return board.of_tasks(self, new)
        board = Leaderboard(average, standard_error=1.0, **about)
        worth = np.full(average.size, np.inf)
        if errors is None or self.sizes is not None:
            _, worth = averaged_shares(self.scores.T, self._known_sizes().T, self.weights.T)
        if errors is not None:
            middle = np.clip(average, 0.5 / len(self.tasks), 1 - 0.5 / len(self.tasks))
            worth = np.minimum(worth, middle * (1 - middle) / errors**2 + 1)
        return board.worth(worth, self.described).of_tasks(self, new)

    def _known_sizes(self) -> FloatArray:
        if self.sizes is None:
            raise InputError(
                "n_test is missing: the number of items of every task, or of each, such as "
                f"{self.tasks[0]}:100,{self.tasks[1]}:200; new tasks do without"
            )
        return self.sizes

    def _errors_on_new_items(self) -> FloatArray:
        if self.errors is None:
            raise InputError(
                "averages of scores that are no accuracies need the standard error of every score; "
                "new tasks do without"
            )
        return np.sqrt(np.sum((self.weights * self.errors) ** 2, axis=1))

    def _errors_on_new_tasks(self) -> FloatArray:
        """Standard error of each average where tasks are new, (m,)."""
        check_enough_tasks(self.tasks)
        if not self.weights.all():
            raise InputError("a task of weight 0 tells nothing of new tasks: leave it out")
        return np.sqrt(of_new_tasks(self.scores.T, self.weights.T)[1])

    def only(self, entries: IntArray) -> "TaskScores":
        """The same tasks for some entries, by their places."""
        known = {name: getattr(self, name) for name in ("scores", "sizes", "errors", "weights")}
        parts = {name: None if of is None else of[entries] for name, of in known.items()}
        return self._copy(**parts, names=tuple(self.names[i] for i in entries))

    @property
    def row_influence(self) -> FloatArray:
        """What each task adds to the errors of averages on new tasks, (T, m)."""
        return of_new_tasks(self.scores.T, self.weights.T)[0]

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed, its first 16 digits."""
        numbers = [x for x in (self.scores, self.sizes, self.errors, self.weights) if x is not None]
        rest = (self.tasks, self.names, self.averaging, self.metric, self.lower_is_better)
        return digest_of(self.scores.shape, *numbers, rest, self.name)


def _check_shares(scores: FloatArray, names: Sequence[str], tasks: Sequence[str]) -> None:
    outside = np.argwhere((scores < 0) | (scores > 1))
    if outside.size:
        j, t = outside[0]
        raise InputError(
            f"entry {names[j]!r}, task {tasks[t]!r}: an accuracy lies in [0, 1], got "
            f"{scores[j, t]:g}"
        )


def _sizes_of_tasks(n_test: Any, tasks: Sequence[str], m: int) -> FloatArray:
    """Number of items behind each score, (m, T)."""
    if isinstance(n_test, Mapping):
        check_tasks([str(task) for task in n_test], tasks, "n_test", "number of items")
        n_test = [n_test[task] for task in tasks]
    rows = np.asarray(n_test, object)
    if rows.ndim == 1 and rows.size != len(tasks):
        raise InputError(
            f"n_test has {counted(rows.size, 'number')} of items for {len(tasks)} tasks: one for "
            f"all, or one for each of {', '.join(map(shown, tasks[:8]))}"
        )
    if rows.ndim == 2 and rows.shape != (m, len(tasks)):
        raise InputError(f"n_test is {rows.shape}, scores are {(m, len(tasks))}")
    checked = np.vectorize(_size, otypes=[np.float64])(rows)
    return np.array(np.broadcast_to(checked, (m, len(tasks))))


def _size(value: Any) -> float:
    if value is None or value != value:
        return np.nan
    return checks.checked_number(value, "n_test of a task")


def _by_errors(
    scores: FloatArray,
    errors: FloatArray,
    sizes: FloatArray | None,
    metric: str,
    names: Sequence[str],
    tasks: Sequence[str],
) -> tuple[FloatArray | None, FloatArray | None]:
    """Items that accuracies are worth by their errors; or errors of other scores, checked."""
    if errors.shape != scores.shape:
        raise InputError(f"standard_errors are {errors.shape}, scores are {scores.shape}")

    filled = np.empty(scores.shape)
    for t, task in enumerate(tasks):
        of = [f"{name} in task {task}" for name in names]
        if metric == "score":
            filled[:, t] = checks.checked_errors(errors[:, t], of, POSITIVE)
            continue
        known = None if sizes is None or np.isnan(sizes[:, t]).any() else sizes[:, t]
        filled[:, t] = checks.sizes_of_accuracies(scores[:, t], errors[:, t], known, of)
    return (sizes, filled) if metric == "score" else (filled, None)
