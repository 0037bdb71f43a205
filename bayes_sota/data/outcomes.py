"""Answers or numbers of classifiers for the same test items: the matrix behind all comparisons."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.text import checked_clusters, checked_labels, codes_of
from bayes_sota.core.types import FloatArray
from bayes_sota.data import item_values
from bayes_sota.data.item_values import Average, Averaging, Passes, Which
from bayes_sota.data.leaderboard import Averaged, Leaderboard
from bayes_sota.data.observed import Observed
from bayes_sota.data.printed_scores import LARGEST_NUMBER
from bayes_sota.data.tables import check_columns

ItemMetric = Literal["accuracy", "auc", "mean", "rmse"]
New = Literal["items", "runs", "tasks"]
# What a skill is about: new items of these tasks, new runs on these items, or new tasks.
ABOUT: dict[New, str] = {
    "items": "new items",
    "runs": "new runs of these items",
    "tasks": "new tasks like these",
}

MISSING = -1
_ROUND_OFF = 1e-9
_OF_ITEMS = ("labels", "items", "clusters", "tasks")
_KEPT = (*_OF_ITEMS, "names", "metric", "lower_is_better", "new", "passes", "unit", "name", "notes")


class Outcomes(Observed):
    """Answers or numbers of several classifiers for the same test items.

    Parameters
    ----------
    values : array-like, shape (n_items, n_classifiers)
        Answers: 1 or True if right, 0 or False if wrong; NaN, None or -1 where there is none. Of
        several runs, shares of right ones, with ``n_runs``. For other metrics numbers, none
        missing.
    metric : {"accuracy", "auc", "mean", "rmse"}, optional
        A score is the share of correct answers, or made of numbers, such as the Dice of every case
        (mean) or the error of every prediction (rmse). Default: "auc" with labels, else "accuracy".
    labels : array-like, shape (n_items,), optional
        1 for positive and 0 for negative items, for AUC.
    lower_is_better : bool, optional
        For numbers. Default: True for "rmse".
    names, items : sequence of str, optional
        Each once. Default: the columns of a frame, or "1", ...
    clusters, tasks : sequence of str, optional
        What each item belongs to: a document or patient, whose items depend on each other; a
        subject or benchmark, for accuracies and means.
    average : {"items", "tasks"} or mapping of str to float, optional
        Which units have equal weight: items or tasks (default); or tasks with these weights.
    n_runs : int or array-like of int, shape (n_items, n_classifiers), optional
        Runs behind each value, which then is the share of correct answers among them, in [0, 1].
    new : {"items", "runs", "tasks"}
        What skill refers to: new items of these tasks, new runs on these items, or new tasks; for
        numbers each item then is a task.
    passes : (int, bool), optional
        K, and whether all of K runs must be right (pass^K) or one of them (pass@K).
    unit, name, notes
        What an item is called in sentences; label of the matrix; what was read.

    Attributes
    ----------
    values : ndarray, shape (n_items, n_classifiers)
        NaN where an answer is missing.
    n_items, n_classifiers, n_clusters : int
    task_weights : dict of str to float
        Weight of each task in a score; empty without tasks.
    task_codes : (ndarray of int, shape (n_items,), ndarray, shape (T,))
        Number of the task of each item, and weights of the tasks.
    averaging : {"items", "tasks", "weights"}
    run_numbers, n_runs : ndarray of int, shape (n_items, n_classifiers); int
        Runs behind each value; the least of them.
    totals : ndarray of int, shape (n_classifiers,)
        Items behind the score of each classifier.
    is_answers, is_plain, is_average, has_missing : bool
        Whether outcomes are right or wrong, or shares of right ones; scores are accuracies of
        single answers, without tasks; errors are those over tasks, runs, or clusters of all items;
        any answer is missing.
    sign : int
        -1 if lower is better: ``scores`` then have the opposite sign.

    Raises
    ------
    InputError
        Values that are not answers or numbers, missing ones with tasks, runs or another metric,
        names that repeat, do not match or are those of roles, too few items, runs or tasks.

    Examples
    --------
    >>> answers = Outcomes([[1, 0], [1, 1], [0, None]], names=["tree", "forest"])
    >>> answers, answers.scores.round(3).tolist()
    (<Outcomes 'outcomes': 3 items x 2 classifiers, 1 missing>, [0.667, 0.5])
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
        self.metric: ItemMetric = metric or ("accuracy" if labels is None else "auc")
        check_choice("metric", self.metric, ItemMetric)
        check_choice("new", new, New)
        given, runs, columns = item_values.values_of_runs(values, n_runs)
        if names is None:
            check_columns(columns or (), "classifier", "read_outcomes")
        self.run_numbers, self.n_runs, most = runs, int(runs.min()), int(runs.max())
        ends = " to ".join(f"{count:,}" for count in dict.fromkeys((self.n_runs, most)))
        self.runs_in_words = f"{ends} runs" if most > 1 else ""
        self.n_items, self.n_classifiers = n, m = given.shape
        self.names = checked_labels(columns if names is None else names, m, "classifier")
        self.items = checked_labels(items, n, "item")
        self.clusters = checked_clusters(clusters, n)
        self.n_clusters = None if self.clusters is None else len(set(self.clusters))
        self.tasks = checked_clusters(tasks, n, "task")
        if tasks is None and average is not None:
            fix = "name its column with --column task=NAME (in Python tasks=)"
            raise InputError("{name} needs the task of every item", parameter="average", fix=fix)
        kinds, codes = codes_of(self.tasks or [""] * n)
        weights = item_values.task_weights(average, kinds, np.bincount(codes).astype(float))
        self.task_codes = codes, weights
        self.task_weights = dict(zip(kinds, weights.tolist(), strict=True)) if self.tasks else {}
        how: Any = "weights" if isinstance(average, Mapping) else average
        self.averaging: Averaged = how or ("tasks" if self.tasks else "items")
        self.labels = item_values.checked_classes(labels, n) if self.metric == "auc" else None
        self.lower_is_better = self.metric == "rmse" if lower_is_better is None else lower_is_better
        self.sign = -1 if self.lower_is_better else 1
        self.new: New = new
        self.passes, self.unit, self.name = passes, str(unit), str(name)
        k, every = passes or (0, False)
        self.measured = f"pass{'@^'[every]}{k}" if k else "shares of correct answers"
        self.notes = tuple(map(str, notes))
        self.is_answers = self.metric == "accuracy"
        self.is_plain = self.is_answers and tasks is None and not self.runs_in_words
        if self.lower_is_better and self.metric in ("accuracy", "auc"):
            raise InputError(f'larger is better for the metric "{self.metric}": give no direction')
        self._check_metric()
        self._given = given = self._checked_cells(given)
        self.values = given if passes is None else item_values.pass_rates(given, runs, passes)
        self.totals = np.sum(~np.isnan(self.values), axis=0)
        self.has_missing = bool(np.any(self.totals < n))
        alone = clusters is None or self.has_missing
        self.is_average = self.is_answers and not (self.is_plain and alone)

    def _checked_cells(self, given: FloatArray) -> FloatArray:
        single = self.is_answers and not self.runs_in_words
        if single:
            given = np.where(given == MISSING, np.nan, given)
        low, high = (0, 1) if self.is_answers else (-LARGEST_NUMBER, LARGEST_NUMBER)
        right = (given >= low) & (given <= high) & ((given == np.rint(given)) | (not single))
        missing = np.isnan(given)
        wrong = np.argwhere(~(right | (missing & self.is_plain)) | missing.all(axis=0))
        if wrong.size:
            row, column = wrong[0]
            cell = f"{given[row, column]:g} for item {quoted(self.items[row])}"
            fix = (
                "an answer is 1 or 0 (missing only without tasks and runs), a share of runs is in "
            )
            fix += '0 to 1, and other numbers need the metric "mean" with none missing'
            raise InputError(f"classifier {quoted(self.names[column])} has {cell}", fix=fix)
        return given

    def _check_metric(self) -> None:
        if self.is_answers:
            least = (1 if self.passes is None else max(self.passes[0], 2)) + (self.new == "runs")
            if self.n_runs < least:
                what = self.measured + " on new runs" * (self.new == "runs")
                raise InputError(f"{what}: every item needs {least} runs, some have {self.n_runs}")
            if self.new == "tasks":
                item_values.check_enough_tasks(len(self.task_weights))
            return
        if self.passes is not None or self.runs_in_words or self.new == "runs":
            raise InputError("numbers such as Dice have no runs and no pass@K; answers have them")
        if self.tasks is not None and (self.metric != "mean" or self.new == "tasks"):
            raise InputError('numbers in tasks need the metric "mean", and about() for new tasks')
        alone = [task for task, size in Counter(self.tasks).items() if size == 1]
        if alone or self.n_clusters == 1:
            one = (
                f"task {quoted(alone[0])} has one item" if alone else "all items are in one cluster"
            )
            raise InputError(f"{one}, which does not show how numbers vary; leave it out")

    def __repr__(self) -> str:
        size = f"{self.n_items:,} items x {self.n_classifiers:,} classifiers"
        missing = f"{np.isnan(self.values).sum():,} missing" if self.has_missing else ""
        tasks = f"{len(self.task_weights):,} tasks" if self.tasks else ""
        metric = "" if self.is_answers else f"metric {self.metric}"
        parts = filter(None, (size, missing, tasks, self.runs_in_words, metric))
        return f"<Outcomes {self.name!r}: {', '.join(parts)}>"

    @cached_property
    def correct(self) -> NDArray[np.int8]:
        """Single answers, 1, 0, or -1 where one is missing, (n, m)."""
        if not self.is_answers or self.runs_in_words:
            raise InputError("single answers, right or wrong, are needed")
        return np.where(np.isnan(self.values), MISSING, self.values).astype(np.int8)

    @cached_property
    def average(self) -> Average:
        """Scores, larger is better, with their influence values."""
        tasks, weights = self.task_codes
        if self.is_average and self.new == "runs":
            runs = self.run_numbers
            noise = item_values.variance_of_runs(self._given, runs, self.passes)
            return item_values.averaged_over_runs(self.values, noise, tasks, weights, runs)
        if self.is_average:
            of = item_values.averaged_over_tasks if self.new == "tasks" else item_values.averaged
            clusters = None if self.clusters is None else codes_of(self.clusters)[1]
            return of(self.values, tasks, clusters, weights)
        if self.is_answers:
            scores = np.nanmean(self.values, axis=0)
            influence = np.nan_to_num(self.values - scores) / self.totals
            return Average.plain(scores, item_values.summed_by_cluster(influence, self.clusters), 1)
        rows = item_values.summed_by_cluster(self.influence / self.n_items, self.clusters)
        kinds = tasks if self.labels is None else self.labels.astype(np.intp)
        if self.clusters is not None:
            kinds = np.zeros(len(rows), np.intp)
        sizes = np.bincount(kinds)  # widened for the mean of each kind
        rows = rows * np.sqrt(sizes / (sizes - 1))[kinds, None]
        return Average.plain(self._estimates[0], rows, weights.size)

    @cached_property
    def _estimates(self) -> tuple[FloatArray, FloatArray]:
        """Scores of numbers, (m,), and influence of items on them, (n, m)."""
        found = item_values.number_scores(self.values, self.metric, self.labels, *self.task_codes)
        return self.sign * found[0], self.sign * found[1]

    @property
    def influence(self) -> FloatArray:
        """Influence values of the items on the ``scores`` of numbers, (n, m)."""
        return self._estimates[1]

    @property
    def scores(self) -> FloatArray:
        """Observed score of each classifier, larger is better (negative if lower is), (m,)."""
        return self.average.scores

    @cached_property
    def covariance(self) -> FloatArray:
        return self.average.influence.T @ self.average.influence

    @property
    def standard_errors(self) -> FloatArray:
        return self.average.standard_errors

    def subset(self, classifiers: Which = None, items: Which = None) -> "Outcomes":
        """The same outcomes for some classifiers and items, in the order asked for; default all.

        Each is a number from 0 or a name; or a mask of booleans says which. Known skills are kept
        unless items are chosen.

        Examples
        --------
        >>> answers = Outcomes([[1, 0, 1], [1, 1, 0]], names=["a", "b", "c"])
        >>> answers.subset(["c", "a"]).correct.tolist()
        [[1, 1], [0, 1]]
        """
        rows = item_values.positions_of(items, self.items, "item")
        columns = item_values.positions_of(classifiers, self.names, "classifier")
        at = np.ix_(rows, columns)
        every = {kind: getattr(self, kind) for kind in _OF_ITEMS}
        known = {kind: None if of is None else [of[i] for i in rows] for kind, of in every.items()}
        known["names"] = [self.names[j] for j in columns]
        some = self._with(self._given[at], n_runs=self.run_numbers[at], **known)
        is_kept = self.anchors is not None and items is None
        return some.copy_with(anchors=self.anchors.among(columns)) if is_kept else some

    def _with(self, values: FloatArray, **changes: Any) -> "Outcomes":
        known = {name: getattr(self, name) for name in _KEPT} | changes
        average: Any = self.averaging if known["tasks"] else None
        if average == "weights":
            average = {task: self.task_weights[task] for task in known["tasks"]}
        return Outcomes(values, average=average, **known)

    def complete(self) -> "Outcomes":
        """The items that every classifier has; itself where nothing is missing."""
        return self.subset(items=~np.isnan(self.values).any(axis=1)) if self.has_missing else self

    def about(self, new: New, passes: Passes | None = None) -> "Outcomes":
        """The same outcomes, with skills that refer to new items, runs or tasks.

        For numbers and new tasks the result has one item for each task.
        """
        values, known = self._given, dict[str, Any]()
        if self.is_answers or new == "runs" or passes:
            runs = np.where(np.isnan(values), 1, self.run_numbers)
            known = {"new": new, "passes": passes, "n_runs": runs}
        elif new == "tasks" != self.new:
            item_values.check_enough_tasks(len(self.task_weights))
            if self.averaging != "tasks":
                raise InputError("new tasks of numbers have equal weights: give no others")
            values = item_values.group_means(values, self.task_codes[0])
            known = {"items": sorted(self.task_weights), "tasks": None, "clusters": None}
            known |= {"new": new, "unit": "task"}
        return self._with(values, **known)

    def leaderboard(self) -> Leaderboard:
        """Leaderboard of the scores, with sizes or the standard error of the best."""
        self.check_complete()
        known: dict[str, Any] = {"n_test": self.n_items, "names": self.names, "name": self.name}
        if self.is_plain or self.metric == "auc":
            positive = None if self.labels is None else int(self.labels.sum())
            known |= {"metric": self.metric, "rounding": "exact", "n_positive": positive}
            return Leaderboard(self.scores, **known)
        error = float(self.standard_errors[int(np.argmax(self.scores))])
        if error <= _ROUND_OFF * float(np.max(np.abs(self.values))):
            raise InputError("the best has the same number for every item, so no standard error")
        known |= {"metric": "score", "lower_is_better": self.lower_is_better}
        return Leaderboard(self.sign * self.scores, standard_error=error, **known)

    def check_complete(self) -> None:
        self.check_several()
        if self.has_missing:
            lacking = self.n_items - self.complete().n_items
            problem = f"every answer is needed, and {lacking:,} of {self.n_items:,} items lack some"
            fix = "remove these items from the file (in Python by complete()), or leave entries out"
            raise InputError(problem, fix=fix)

    def check_several(self) -> None:
        if self.n_classifiers < 2:
            raise InputError("there is only one classifier; bayes-sota score estimates its skill")
