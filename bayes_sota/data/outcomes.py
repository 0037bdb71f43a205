"""What classifiers got for the same test items: the matrix that every comparison is made of.

Right and wrong answers, shares of right ones in several runs, or numbers: what classifiers gave to
positive and negative items (AUC), the Dice of every case (mean), the error of every prediction
(root mean square). Items may belong to clusters and tasks. Everything is checked here, at
construction, and never again; the statistics are functions of ``data.averages``
(``tests/data/test_outcomes.py``).
"""

from collections import Counter
from collections.abc import Iterable, Sequence, Sized
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import (
    checked_clusters,
    checked_labels,
    codes_of,
    counted,
    digest_of,
    nearest,
    shown,
    summed_by_cluster,
)
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.data import averages
from bayes_sota.data.averages import Average, Averaging, Passes, name_of_passes
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.observed import Observed
from bayes_sota.data.printed_scores import LARGEST_NUMBER
from bayes_sota.data.tables import labelled_matrix

ItemMetric = Literal["accuracy", "auc", "mean", "rmse"]
New = Literal["items", "runs", "tasks"]
# What a skill is about: new items of these tasks, new runs on these items, or new tasks.
ABOUT: dict[New, str] = {
    "items": "new items",
    "runs": "new runs of these items",
    "tasks": "new tasks like these",
}

type Which = Iterable[int | str] | None  # numbers, names or a mask

MISSING = -1
FEWEST_TASKS = 3
_ROUND_OFF = 1e-9


class Outcomes(Observed):
    """Answers or numbers of several classifiers for the same test items.

    Parameters
    ----------
    values : array-like, shape (n_items, n_classifiers) or (n_items, n_classifiers, n_runs)
        Answers: 1 or True for a right one, 0 or False for a wrong one; NaN, None or -1 where there
        is none. Answers of several runs become shares of right ones. For other metrics numbers,
        none missing. A data frame brings the names of its columns.
    metric : {"accuracy", "auc", "mean", "rmse"}, optional
        What a score is: the share of right answers, or made of numbers. Default: "auc" with labels,
        else "accuracy".
    labels : array-like, shape (n_items,), optional
        1 for positive and 0 for negative items, for AUC.
    lower_is_better : bool, optional
        Of numbers. Default: for "rmse".
    names : sequence of str, optional
        Name of each classifier, each once. Default: the columns of a frame, or "1", "2", ...
    items : sequence of str, optional
        Name of each item, each once. Default: "1", "2", ...
    clusters : sequence of str, optional
        What each item belongs to (a document, a patient, a family of near-duplicates). Items of
        one cluster are not independent.
    tasks : sequence of str, optional
        Task of each item (subject, subset, benchmark), for accuracies and means. Errors are those
        of new items of these tasks.
    average : {"items", "tasks"} or mapping of str to float, optional
        What counts equally in a score: every item, every task, or tasks by these weights. Default:
        every task where there are tasks.
    n_runs : int or array-like of int, shape (n_items, n_classifiers), optional
        Runs behind each value, which then is the share of right answers among them, in [0, 1].
    new : {"items", "runs", "tasks"}
        What skill is about: new items of these tasks, new runs on these very items, or new tasks
        like these; for numbers each item then is a task (``about`` makes it so).
    passes : (int, bool), optional
        K, and whether all of K runs must be right (pass^K) or one of them (pass@K), instead of the
        share of right runs.
    unit : str
        What an item is called in sentences.
    name : str
        Label of the matrix in tables.
    notes : sequence of str
        What a reader should know of where the outcomes come from.

    Attributes
    ----------
    values : ndarray, shape (n_items, n_classifiers)
        Answers (0 or 1), shares, passes or numbers, read-only; NaN where an answer is missing.
    n_items, n_classifiers : int
    labels : ndarray of bool, shape (n_items,), or None
    names, items : tuple of str
    clusters, tasks : tuple of str or None
    n_clusters : int or None
    task_weights : dict of str to float
        Weight of each task in a score; empty without tasks.
    run_numbers : ndarray of int, shape () or (n_items, n_classifiers)
        Runs behind each value; without axes where all have as many.
    n_runs : int
        The least of them.
    totals : ndarray of int, shape (n_classifiers,)
        Items behind the score of each classifier.
    has_missing : bool
        Whether any answer is missing.
    is_answers, is_plain : bool
        Whether outcomes are right or wrong, or shares of right ones; and whether scores are
        accuracies of single answers, without tasks.
    is_average : bool
        Whether errors are those of ``average``: over tasks, runs, or clusters of all items.
    measured : str
        What scores of several runs are, in words.
    sign : int
        What scores are multiplied by to be as they were given: -1 if lower is better.
    metric, lower_is_better, new, passes, unit, name, notes

    Raises
    ------
    InputError
        A value that is no answer or number, missing ones with tasks, runs or another metric, fewer
        than two items (of a class, or of a task of numbers), names that repeat or do not match, a
        classifier without any answer, fewer runs than new ones or passes need, new tasks without
        three.

    Examples
    --------
    >>> answers = Outcomes([[1, 0], [1, 1], [0, None]], names=["tree", "forest"])
    >>> answers
    <Outcomes 'outcomes': 3 items x 2 classifiers, 1 answer missing>
    >>> answers.scores.round(3).tolist()
    [0.667, 0.5]

    A macro average, each task with the same weight:

    >>> exam = Outcomes([[1, 0], [1, 1], [0, 1]], tasks=["law", "law", "art"])
    >>> exam.scores.tolist()
    [0.5, 0.75]

    Areas under the ROC curve:

    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(200) < 50
    >>> outputs = Outcomes(labels[:, None] + rng.standard_normal((200, 3)), labels=labels)
    >>> outputs
    <Outcomes 'outcomes': 200 items x 3 classifiers, metric auc>
    >>> outputs.scores.round(2).tolist()
    [0.71, 0.79, 0.87]
    """

    def __init__(
        self,
        values: ArrayLike | Any,
        *,
        metric: ItemMetric | None = None,
        labels: ArrayLike | Any = None,
        lower_is_better: bool | None = None,
        names: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
        clusters: Iterable[Any] | None = None,
        tasks: Iterable[Any] | None = None,
        average: Averaging | None = None,
        n_runs: ArrayLike | None = None,
        new: New = "items",
        passes: Passes | None = None,
        unit: str = "item",
        name: str = "outcomes",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything once."""
        self.metric: ItemMetric = metric or ("accuracy" if labels is None else "auc")
        check_choice("metric", self.metric, ItemMetric)
        check_choice("new", new, New)
        given, runs, columns = _with_runs(values, n_runs)
        self.run_numbers, self.n_runs = runs, int(runs.min())
        self.n_items, self.n_classifiers = n, m = given.shape
        self.names = checked_labels(columns if names is None else names, m, "classifier")
        self.items = checked_labels(items, n, "item")
        self.clusters = checked_clusters(clusters, n)
        self.n_clusters = None if self.clusters is None else len(set(self.clusters))
        self.tasks = checked_clusters(tasks, n, "task")
        self.task_weights = _task_weights(self.tasks, average)
        self.labels = None if labels is None else _classes(labels, n)
        self.lower_is_better = self.metric == "rmse" if lower_is_better is None else lower_is_better
        self.new: New = new
        self.passes, self.unit, self.name = passes, str(unit), str(name)
        self.measured = name_of_passes(passes) if passes else "shares of right answers"
        self.notes = tuple(str(note) for note in notes)
        self.is_answers = self.metric == "accuracy"
        self.is_plain = self.is_answers and tasks is None and not self.runs_in_words
        self.sign = -1 if self.lower_is_better else 1
        self._check_metric()
        self._given = given = self._checked_cells(given)
        self.values = given if passes is None else averages.pass_rates(given, runs, passes)
        self.totals = np.sum(~np.isnan(self.values), axis=0)
        self.has_missing = bool(np.any(self.totals < n))
        alone = clusters is None or self.has_missing
        self.is_average = self.is_answers and not (self.is_plain and alone)

    def _checked_cells(self, given: FloatArray) -> FloatArray:
        """Values with NaN where an answer is missing, as it may without tasks and runs."""
        if not self.is_answers:
            right, what = np.abs(given) <= LARGEST_NUMBER, f"numbers are at most {LARGEST_NUMBER:g}"
        elif self.runs_in_words:
            right, what = (given >= 0) & (given <= 1), "shares of right answers are 0 to 1"
        else:
            given = np.where(given == MISSING, np.nan, given)
            right = np.isin(given, (0, 1))
            what = 'answers are 1 (right) or 0 (wrong), numbers have metric="mean"'
        missing = np.isnan(given)
        wrong = (~right & ~(missing & self.is_plain)) | missing.all(axis=0)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            gaps = "not all may be missing (None, NaN, -1)"
            if not self.is_plain:
                gaps = "none may be missing" + " with tasks or runs" * self.is_answers
            raise InputError(
                f"{what}, {gaps}; classifier {shown(self.names[column])} has "
                f"{given[row, column]:g} for item {shown(self.items[row])}"
            )
        return given

    def _check_metric(self) -> None:
        """Check that the metric goes with all that is given, and that it is enough for errors."""
        if (self.metric == "auc") != (self.labels is not None):
            raise InputError('metric="auc" needs labels, 1 or 0 for each item; no other has any')
        if self.lower_is_better and self.metric in ("accuracy", "auc"):
            raise InputError(f'larger is better for metric="{self.metric}"')
        if self.is_answers:
            least = 1 if self.passes is None else max(self.passes[0], 2)
            least = max(least + 1, 2) if self.new == "runs" else least
            if self.n_runs < least:
                what = self.measured if self.passes else f"new {self.new}"
                raise InputError(f"{what}: {least} runs of each item are needed, not {self.n_runs}")
            if self.new == "tasks":
                check_enough_tasks(self.task_weights)
            return
        if self.passes is not None or self.runs_in_words or self.new == "runs":
            raise InputError("runs and pass@K are for right and wrong answers; these are numbers")
        task, size = min(Counter(self.tasks or ()).items(), key=itemgetter(1), default=("", 2))
        if self.tasks is not None and (self.metric != "mean" or self.new == "tasks"):
            raise InputError('only numbers of metric="mean" have tasks; about() makes new ones')
        if size < 2:
            raise InputError(f"leave out task {task!r}: one item does not tell how numbers vary")
        if self.n_clusters == 1:
            raise InputError("all items are in one cluster: leave clusters out")

    def __repr__(self) -> str:
        """Size, and what is not plain."""
        missing, tasks = int(np.sum(self.n_items - self.totals)), len(self.task_weights)
        parts = [f"{self.n_items:,} items x {self.n_classifiers:,} classifiers"]
        parts += [f"{counted(missing, 'answer')} missing"] * (missing > 0)
        parts += [f"{tasks:,} tasks"] * (tasks > 0)
        parts += [self.runs_in_words] * bool(self.runs_in_words)
        parts += [f"metric {self.metric}"] * (not self.is_answers)
        return f"<Outcomes {self.name!r}: {', '.join(parts)}>"

    @property
    def runs_in_words(self) -> str:
        """How many runs are behind the outcomes; nothing for single ones."""
        least, most = self.n_runs, int(self.run_numbers.max())
        if most == 1:
            return ""
        return f"{least:,} runs" if least == most else f"{least:,} to {most:,} runs"

    @property
    def averaging(self) -> Literal["items", "tasks", "weights"]:
        """What counts equally in a score: items, tasks, or tasks by other weights."""
        codes, weights = self.task_codes
        if self.tasks is not None and np.allclose(weights, 1 / weights.size):
            return "tasks"
        return "items" if np.allclose(weights, np.bincount(codes) / self.n_items) else "weights"

    @cached_property
    def task_codes(self) -> tuple[IntArray, FloatArray]:
        """Number of the task of each item, (n,), and weights of the tasks, (T,); one if none."""
        if self.tasks is None:
            return np.zeros(self.n_items, np.intp), np.ones(1)
        names, codes = codes_of(self.tasks)
        return codes, np.array([self.task_weights[name] for name in names])

    @cached_property
    def correct(self) -> NDArray[np.int8]:
        """Single answers, 1, 0, or -1 where one is missing, (n, m)."""
        if not self.is_answers or self.runs_in_words:
            raise InputError("single answers, right or wrong, are needed; these are none")
        return np.where(np.isnan(self.values), MISSING, self.values).astype(np.int8)

    @cached_property
    def scores(self) -> FloatArray:
        """Observed score of each classifier, larger is better (negative if lower is), (m,)."""
        if self.is_plain:
            return np.nanmean(self.values, axis=0)
        return self.average.scores if self.is_answers else self._estimates[0]

    @cached_property
    def average(self) -> Average:
        """Scores of answers, none missing, with errors and the numbers of items they are worth."""
        if not self.is_answers or self.has_missing:
            raise InputError("these have no effective numbers of items: answers have, none missing")
        tasks, weights = self.task_codes
        if self.new == "runs":
            noise = averages.variance_of_runs(self._given, self.run_numbers, self.passes)
            return averages.averaged_over_runs(self.values, noise, tasks, weights, self.run_numbers)
        of = averages.averaged_over_tasks if self.new == "tasks" else averages.averaged
        clusters = None if self.clusters is None else codes_of(self.clusters)[1]
        return of(self.values, tasks, clusters, weights)

    @cached_property
    def _estimates(self) -> tuple[FloatArray, FloatArray]:
        """Scores of numbers, larger is better, (m,), and influence of items on them, (n, m)."""
        found = averages.number_scores(self.values, self.metric, self.labels, *self.task_codes)
        return self.sign * found[0], self.sign * found[1]

    @property
    def influence(self) -> FloatArray:
        """Influence values of the items on the ``scores`` of numbers, mean 0, (n, m)."""
        return self._estimates[1]

    @cached_property
    def row_influence(self) -> FloatArray:
        """What each item, cluster, task or run adds to the errors of the scores, (C, m)."""
        if self.is_average:
            return self.average.influence
        if self.is_answers:
            influence = np.nan_to_num(self.values - self.scores) / self.totals
            return summed_by_cluster(influence, self.clusters)
        rows = summed_by_cluster(self.influence / self.n_items, self.clusters)
        kinds = self.task_codes[0] if self.labels is None else self.labels.astype(np.intp)
        if self.clusters is not None:
            kinds = np.zeros(len(rows), np.intp)
        sizes = np.bincount(kinds)  # widened for the mean of each kind
        return rows * np.sqrt(sizes / (sizes - 1))[kinds, None]

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the scores, (m, m)."""
        return self.row_influence.T @ self.row_influence

    @property
    def standard_errors(self) -> FloatArray:
        """Standard error of each score, (m,)."""
        if self.is_average:
            return self.average.standard_errors
        return np.sqrt(np.sum(self.row_influence**2, axis=0))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the errors: items, or clusters, but one for each task."""
        if self.is_average:
            return self.average.freedom
        return float(max(len(self.row_influence) - max(len(self.task_weights), 1), 1))

    def subset(self, classifiers: Which = None, items: Which = None) -> "Outcomes":
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
        >>> answers = Outcomes([[1, 0, 1], [1, 1, 0]], names=["a", "b", "c"])
        >>> answers.subset(["c", "a"]).correct.tolist()
        [[1, 1], [0, 1]]
        """
        rows = _positions(items, self.items, "item")
        columns = _positions(classifiers, self.names, "classifier")
        names = [self.names[j] for j in columns]
        runs = np.broadcast_to(self.run_numbers, self._given.shape)
        at = np.ix_(rows, columns)
        return Outcomes(self._given[at], names=names, n_runs=runs[at], **self._rest(rows))

    def _rest(self, rows: IntArray) -> dict[str, Any]:
        """What some items are, as the constructor takes it, without classifiers and runs."""

        def of(labels: Sequence[Any] | None) -> list[Any] | None:
            return None if labels is None else [labels[i] for i in rows]

        same = ("metric", "lower_is_better", "new", "passes", "unit", "name", "notes")
        tasks = of(self.tasks)
        return {name: getattr(self, name) for name in same} | {
            "items": of(self.items),
            "clusters": of(self.clusters),
            "tasks": tasks,
            "average": {task: self.task_weights[task] for task in tasks or ()} or None,
            "labels": None if self.labels is None else self.labels[rows].tolist(),
        }

    def complete(self) -> "Outcomes":
        """The items that every classifier has; itself where nothing is missing.

        Raises
        ------
        InputError
            Fewer than two such items.

        Examples
        --------
        >>> Outcomes([[1, 0], [1, None], [0, 1]]).complete().n_items
        2
        """
        if not self.has_missing:
            return self
        whole = ~np.isnan(self.values).any(axis=1)
        if whole.sum() < 2:
            what = f"2 items that every method answered, there are {whole.sum()} of {self.n_items}"
            raise InputError(f"a comparison needs {what}; leave out methods that miss many")
        return self.subset(items=whole)

    def about(
        self, new: New, methods: Sequence[str] | None = None, passes: Passes | None = None
    ) -> "Outcomes":
        """The same outcomes, whose skills are about something else.

        Of numbers and new tasks the result has one item for each task, with the mean of its
        numbers.

        Parameters
        ----------
        new, passes
            As of the class.
        methods : sequence of str, optional
            Classifier of each column, where several columns are its runs. Default: each its own.

        Raises
        ------
        InputError
            As of the class; new tasks of numbers that do not count the same.

        Examples
        --------
        >>> answers = Outcomes([[1, 0], [1, 1], [0, 1]], names=["a run 1", "a run 2"])
        >>> answers.about("runs", ["a", "a"])
        <Outcomes 'outcomes': 3 items x 1 classifiers, 2 runs>
        >>> dice = Outcomes([[0.9], [0.8], [0.7], [0.9], [0.6], [0.5]], metric="mean",
        ...                 tasks=list("aabbcc"))
        >>> dice.about("tasks").values.ravel().round(2).tolist()
        [0.85, 0.8, 0.55]
        """
        known = self._rest(np.arange(self.n_items))
        runs = np.where(np.isnan(self._given), 0.0, self.run_numbers)
        values, names = self._given, self.names
        if methods is not None:
            names = tuple(dict.fromkeys(methods))
            of = np.array([names.index(name) for name in methods])
            right = averages.group_sums((np.nan_to_num(values) * runs).T, of).T
            runs = averages.group_sums(runs.T, of).T
            values = np.where(runs > 0, right / np.maximum(runs, 1), np.nan)
        if self.is_answers or new == "runs" or passes:
            known |= {"new": new, "passes": passes, "n_runs": np.maximum(runs, 1).astype(np.int64)}
        elif new == "tasks" != self.new:
            check_enough_tasks(self.task_weights)
            if self.averaging != "tasks":
                raise InputError("new tasks of numbers count the same: leave out other weights")
            codes = self.task_codes[0]
            values = averages.group_sums(values, codes) / np.bincount(codes)[:, None]
            known |= {"items": sorted(self.task_weights), "new": new, "unit": "task"}
            known |= dict.fromkeys(("tasks", "average", "clusters"))
        return Outcomes(values, names=names, **known)

    def leaderboard(self) -> Leaderboard:
        """What a leaderboard shows: scores, with sizes or the standard error of the best.

        Raises
        ------
        InputError
            One classifier, missing answers, or no error.

        Examples
        --------
        >>> board = Outcomes([[1, 0], [1, 1], [0, 0]]).leaderboard()
        >>> board.n_test, board.counts
        (3, (2, 2))
        >>> dice = Outcomes([[0.9, 0.8], [0.7, 0.75], [0.8, 0.7]], metric="mean")
        >>> board = dice.leaderboard()
        >>> board.maximum.__round__(3), board.standard_error.__round__(4)
        (0.8, 0.0577)
        """
        self.check_several()
        known: dict[str, Any] = {"n_test": self.n_items, "names": self.names, "name": self.name}
        if self.has_missing:
            gaps = int(np.isnan(self.values).any(axis=1).sum())
            lost = f"{gaps:,} of {self.n_items:,} items lack some"
            raise InputError(
                f"a leaderboard needs every answer, and {lost}: complete() drops these"
            )
        if self.is_plain or self.metric == "auc":
            known["n_positive"] = None if self.labels is None else int(self.labels.sum())
            known |= {"metric": self.metric, "rounding": "exact", "percent": False}
            return Leaderboard(self.scores, **known)
        error = float(self.standard_errors[int(np.argmax(self.scores))])
        if error <= _ROUND_OFF * float(np.max(np.abs(self.values))):
            raise InputError("the best has the same number for every item: no standard error")
        known |= {"metric": "score", "lower_is_better": self.lower_is_better}
        return Leaderboard(self.sign * self.scores, standard_error=error, **known)

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed, its first 16 digits."""
        rest = self._rest(np.arange(self.n_items)) | {"notes": ()}
        known = (self.names, self.run_numbers.tolist(), rest)
        return digest_of(self._given.shape, self._given, known)

    def check_several(self) -> None:
        """Raise ``InputError`` where there is nobody to compare with."""
        if self.n_classifiers < 2:
            one = f"of one classifier, {self.names[0]!r}, there is no best"
            raise InputError(f"{one}: bayes-sota score says how good it is")


def check_enough_tasks(tasks: Sized) -> None:
    """Raise ``InputError`` where nothing can be said of new tasks, given those that there are."""
    if len(tasks) < FEWEST_TASKS:
        need = f"{FEWEST_TASKS} tasks at least to tell how tasks differ, got {max(len(tasks), 1)}"
        raise InputError(f"new tasks need {need}; new items of these tasks need none")


def _with_runs(
    cells: Any, n_runs: ArrayLike | None
) -> tuple[FloatArray, IntArray, list[str] | None]:
    """Matrix of the values, runs behind each (one number where all have as many), and names."""
    if isinstance(cells, np.ma.MaskedArray):
        cells = np.ma.filled(cells.astype(np.float64), np.nan)
    if isinstance(cells, np.ndarray) and cells.ndim == 3:
        answers = cells.astype(np.float64)
        there = ~np.isnan(answers)
        right = np.isin(answers, (0, 1)) | ~there
        if n_runs is not None or not right.all() or not there.any(axis=2).all():
            raise InputError("answers of several runs are 0 or 1, one at least, without n_runs")
        n_runs = there.sum(axis=2)
        cells = np.nansum(answers, axis=2) / n_runs
    values, names, _ = labelled_matrix(cells, "outcomes are a matrix, items x classifiers")
    n, m = values.shape
    if n < 2 or m < 1:
        raise InputError(f"outcomes need at least 2 items and a classifier, got {n} and {m}")
    runs = np.asarray(1 if n_runs is None else n_runs)
    if runs.dtype.kind not in "iu" or runs.shape not in ((), (n, m)) or runs.min() < 1:
        each = f"one for each of {n} items and {m} classifiers"
        raise InputError(f"n_runs is a whole number of at least 1, or {each}, got {runs!r:.60}")
    alike = runs.min() == runs.max()
    return values, np.array(runs.min() if alike else runs, np.int64), names


def _classes(labels: Any, n_items: int) -> BoolArray:
    """Which items are positive, (n,)."""
    raw = np.asarray(labels)
    sizes = [int(np.sum(raw == kind)) for kind in (1, 0)]
    if raw.shape != (n_items,) or sum(sizes) < n_items or min(sizes) < 2:
        raise InputError(
            f"labels are 1 (positive) or 0 (negative), one for each of {n_items} items, at least 2 "
            f"of each class; got {raw.size}, {sizes[0]} positive and {sizes[1]} negative"
        )
    return raw == 1


def _task_weights(tasks: tuple[str, ...] | None, average: Averaging | None) -> dict[str, float]:
    """Weights that sum to 1."""
    if tasks is None:
        if average is not None:
            raise InputError("average is for items with tasks: give tasks, one per item")
        return {}
    counts = Counter(tasks)
    sizes = np.array(list(counts.values()), np.float64)
    weights = averages.task_weights(average, list(counts), sizes)
    if not weights.all():
        raise InputError("the weights of tasks are positive numbers")
    return dict(zip(counts, weights.tolist(), strict=True))


def _positions(wanted: Which, labels: Sequence[str], kind: str) -> IntArray:
    """Row or column numbers of what was asked for, by number, name or mask."""
    every = np.arange(len(labels))
    if wanted is None:
        return every
    places: dict[Any, Any] = dict(zip(labels, every, strict=True))
    try:
        return every[[places[of] if isinstance(of, str) else of for of in wanted]]
    except (KeyError, IndexError) as error:
        hint = nearest(error.args[0], labels)
        raise InputError(f"there is no such {kind}: {error}{hint}") from None
