"""What classifiers got for the same test items: the matrix that every comparison is made of.

Items may belong to clusters and tasks, and outcomes may come from several runs. ``Responses`` holds
right and wrong answers, ``ItemScores`` numbers; whoever compares asks this class, and not which of
the two it is (``tests/data/test_outcomes.py``).
"""

import operator
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_clusters, checked_labels, codes_of, nearest
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.averages import Averaging, name_of_passes, task_weights
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.observed import Observed

New = Literal["items", "runs", "tasks"]
"""What a skill is about: new items of these tasks, new runs on these items, or new tasks."""
ABOUT: dict[New, str] = {
    "items": "new items",
    "runs": "new runs of these items",
    "tasks": "new tasks like these",
}
"""The same in words."""
type Runs = int | IntArray | None
"""Runs behind the outcomes, or behind each, (n_items, n_classifiers); None for single answers."""

FEWEST_TASKS = 3


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Outcomes(Observed):
    """What several classifiers got for the same test items; equal where all of it is equal.

    Attributes
    ----------
    labels : ndarray of bool, shape (n_items,), or None
        Which items are positive, for AUC.
    metric : str
        What a score is: "accuracy", "auc", "mean" or "rmse".
    lower_is_better : bool
    run_numbers : ndarray of int, shape () or (n_items, n_classifiers)
        Runs behind each outcome.
    names, items, clusters, tasks, task_weights, new, passes, unit, name, notes
        As of ``Responses`` and ``ItemScores``.
    """

    labels: NDArray[np.bool_] | None
    metric: str
    lower_is_better: bool
    names: tuple[str, ...]
    items: tuple[str, ...]
    clusters: tuple[str, ...] | None
    tasks: tuple[str, ...] | None
    task_weights: dict[str, float]
    run_numbers: IntArray
    new: New
    passes: tuple[int, bool] | None
    unit: str
    name: str
    notes: tuple[str, ...]
    is_answers: ClassVar[bool] = False
    """Whether outcomes are right or wrong, or shares of right ones."""

    def __init__(
        self,
        shape: tuple[int, int],
        names: Iterable[Any] | None,
        items: Iterable[Any] | None,
        clusters: Iterable[Any] | None,
        name: str,
        tasks: Iterable[Any] | None = None,
        average: Averaging | None = None,
        new: New = "items",
        notes: Sequence[str] = (),
    ) -> None:
        """Check the names of the rows and columns of a matrix of this shape."""
        of_items = checked_clusters(tasks, shape[0], "task")
        weights = _task_weights(of_items, average)
        check_choice("new", new, New)
        if new == "tasks":
            check_enough_tasks(weights)
        self._set(
            names=checked_labels(names, shape[1], "classifier"),
            items=checked_labels(items, shape[0], "item"),
            clusters=checked_clusters(clusters, shape[0]),
            tasks=of_items,
            task_weights=weights,
            labels=None,
            metric="accuracy",
            lower_is_better=False,
            run_numbers=np.array(1),
            new=new,
            passes=None,
            unit="item",
            name=str(name),
            notes=tuple(str(note) for note in notes),
        )

    @property
    @abstractmethod
    def values(self) -> FloatArray:
        """Answers (0 or 1), shares of right ones, or numbers; NaN where one is missing, (n, m)."""

    @property
    @abstractmethod
    def scores(self) -> FloatArray:
        """Observed score of each classifier, larger is better (negative if lower is), (m,)."""

    @abstractmethod
    def row_influence(self, classifiers: Sequence[int] | slice = slice(None)) -> FloatArray:
        """What each item, cluster, task or run adds to the errors of the scores, (C, m).

        Their covariance is its square, ``row_influence().T @ row_influence()``.
        """

    @property
    def n_rows(self) -> int:
        """Number of independent rows behind the errors: of clusters, or of items without any."""
        return self.n_clusters or self.n_items

    @abstractmethod
    def leaderboard(self) -> Leaderboard:
        """What a leaderboard shows of these outcomes."""

    @abstractmethod
    def _at(self, rows: IntArray, columns: IntArray) -> Self:
        """The same for some items and classifiers, by their places."""

    def subset(
        self,
        classifiers: Iterable[int | str] | None = None,
        items: Iterable[int | str] | None = None,
    ) -> Self:
        """The same outcomes for some classifiers and items, in the order asked for.

        Parameters
        ----------
        classifiers, items : iterable of int or str, optional
            Numbers (from 0; negative ones count from the end), names, or a mask of booleans.
            Default: all.

        Raises
        ------
        InputError
            Unknown or repeated ones, or too few to be a matrix.

        Examples
        --------
        >>> from bayes_sota import Responses
        >>> answers = Responses([[1, 0, 1], [1, 1, 0]], names=["a", "b", "c"])
        >>> answers.subset(["c", "a"]).correct.tolist()
        [[1, 1], [0, 1]]
        """
        rows = _positions(items, self.items, "item")
        return self._at(rows, _positions(classifiers, self.names, "classifier"))

    def complete(self) -> Self:
        """The items that every classifier has; itself where nothing is missing."""
        return self

    @property
    def has_missing(self) -> bool:
        """Whether any outcome is missing."""
        return False

    @property
    def is_plain(self) -> bool:
        """Whether scores are accuracies of single answers, without tasks."""
        return False

    @property
    def sign(self) -> int:
        """What scores are multiplied by to be as they were given: -1 if lower is better."""
        return -1 if self.lower_is_better else 1

    @property
    def n_runs(self) -> int:
        """Least number of runs behind an outcome."""
        return int(self.run_numbers.min())

    @property
    def runs_in_words(self) -> str:
        """How many runs are behind the outcomes; nothing for single ones."""
        least, most = self.n_runs, int(self.run_numbers.max())
        if most == 1:
            return ""
        return f"{least:,} runs" if least == most else f"{least:,} to {most:,} runs"

    @property
    def measured(self) -> str:
        """What scores of several runs are, in words."""
        return "shares of right answers" if self.passes is None else name_of_passes(self.passes)

    @property
    def items_count_equally(self) -> bool:
        """Whether a score is the plain mean over items."""
        sizes = Counter(self.tasks or ())
        return all(
            np.isclose(weight, sizes[task] / self.n_items)
            for task, weight in self.task_weights.items()
        )

    @property
    def averaging(self) -> Literal["items", "tasks", "weights"]:
        """What counts equally in a score: items, tasks, or tasks by other weights."""
        weights = np.array(list(self.task_weights.values()))
        if weights.size and np.allclose(weights, 1 / weights.size):
            return "tasks"
        return "items" if self.items_count_equally else "weights"

    @cached_property
    def task_codes(self) -> tuple[IntArray, FloatArray]:
        """Number of the task of each item, (n,), and weights of the tasks, (T,); one if none."""
        if self.tasks is None:
            return np.zeros(self.n_items, np.intp), np.ones(1)
        names, codes = codes_of(self.tasks)
        return codes, np.array([self.task_weights[name] for name in names])

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters, if items come in any."""
        return None if self.clusters is None else len(set(self.clusters))

    @property
    def cluster_codes(self) -> IntArray | None:
        """Number of the cluster of each item, (n,)."""
        return None if self.clusters is None else codes_of(self.clusters)[1]

    @property
    def n_items(self) -> int:
        """Number of test items."""
        return len(self.items)

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return len(self.names)

    def _labels(self, rows: Iterable[int], columns: Iterable[int]) -> dict[str, Any]:
        """What some items and classifiers are, as the constructor takes it."""
        at = list(rows)

        def of(labels: tuple[str, ...] | None) -> list[str] | None:
            return None if labels is None else [labels[i] for i in at]

        tasks = of(self.tasks)
        weights = {task: self.task_weights[task] for task in dict.fromkeys(tasks or ())}
        return {
            "names": [self.names[j] for j in columns],
            "items": of(self.items),
            "clusters": of(self.clusters),
            "tasks": tasks,
            "average": weights or None,
            "name": self.name,
        }

    def check_several(self) -> None:
        """Raise ``InputError`` where there is nobody to compare with."""
        if self.n_classifiers < 2:
            raise InputError(
                f"of one classifier, {self.names[0]!r}, there is no best: bayes-sota score says "
                "how good it is"
            )


def runs_at(n_runs: Runs, rows: Any, columns: Any) -> Runs:
    """Runs behind the outcomes of some items and classifiers."""
    if isinstance(n_runs, np.ndarray) and n_runs.ndim:
        return n_runs[np.ix_(rows, columns)]
    return n_runs


def runs_behind(counts: NDArray[Any]) -> tuple[Runs, list[str]]:
    """Runs behind outcomes of which these are counted, 0 for a missing one; a note if they differ.

    Examples
    --------
    >>> runs_behind(np.array([[3, 3], [0, 3]])), runs_behind(np.array([[1, 1]]))
    ((3, []), (None, []))
    >>> runs_behind(np.array([[3, 2]]))[0].tolist()
    [[3, 2]]
    """
    most = int(counts.max())
    least = int(counts.min(where=counts > 0, initial=most))
    if most <= 1:
        return None, []
    if least == most:
        return most, []
    told = f"items have {least:,} to {most:,} runs; a score is the mean of their means"
    return np.maximum(counts, 1).astype(np.int64), [told]


def check_enough_tasks(tasks: Sized) -> None:
    """Raise ``InputError`` where nothing can be said of new tasks, given those that there are."""
    if len(tasks) < FEWEST_TASKS:
        raise InputError(
            f"new tasks need {FEWEST_TASKS} tasks at least to tell how tasks differ, got "
            f"{max(len(tasks), 1)}; new items of these tasks need none"
        )


def _task_weights(tasks: tuple[str, ...] | None, average: Averaging | None) -> dict[str, float]:
    """Weights that sum to 1."""
    if tasks is None:
        if average is not None:
            raise InputError("average is for items with tasks: give tasks, one per item")
        return {}
    counts = Counter(tasks)
    weights = task_weights(average, list(counts), np.array(list(counts.values()), np.float64))
    if not weights.all():
        raise InputError("the weights of tasks are positive numbers")
    return dict(zip(counts, weights.tolist(), strict=True))


def _positions(
    wanted: Iterable[int | str] | None, labels: tuple[str, ...], kind: str
) -> NDArray[np.intp]:
    """Row or column numbers of what was asked for, by number, name or mask."""
    if wanted is None:
        return np.arange(len(labels))
    if isinstance(wanted, str):
        raise InputError(f"name {kind}s in a list: [{wanted!r}]")
    chosen = list(wanted)
    if chosen and all(isinstance(which, (bool, np.bool_)) for which in chosen):
        if len(chosen) != len(labels):
            raise InputError(f"a mask of {kind}s needs {len(labels)} entries, got {len(chosen)}")
        return np.flatnonzero(chosen)
    numbers = {label: number for number, label in enumerate(labels)}
    return np.array([_position(which, numbers, kind) for which in chosen], np.intp)


def _position(which: int | str, numbers: dict[str, int], kind: str) -> int:
    if isinstance(which, str):
        if which not in numbers:
            raise InputError(f"there is no {kind} named {which!r}{nearest(which, numbers)}")
        return numbers[which]
    try:
        number = operator.index(which)
    except TypeError:
        raise InputError(f"a {kind} is chosen by number or name, got {which!r}") from None
    if not -len(numbers) <= number < len(numbers):
        raise InputError(f"{kind}s are numbered 0 to {len(numbers) - 1}, got {number}")
    return number % len(numbers)
