"""Which classifier answered which test item right: the response matrix behind a leaderboard.

A matrix says more than its scores: how much the classifiers' mistakes coincide, and which items
are hard. Everything is checked here, at construction, and never again
(``tests/data/test_responses.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import COUNT
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import digest_of, shown, summed_by_cluster
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.averages import (
    Average,
    Averaging,
    averaged,
    averaged_over_runs,
    averaged_over_tasks,
    name_of_passes,
    pass_rates,
    variance_of_runs,
)
from bayes_sota.data.frames import labelled_values
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import New, Outcomes, runs_at

MISSING = -1
_BLOCK = 8192  # items at a time: counts in a block are exact in float32, and fit the cache


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Responses(Outcomes):
    """Right and wrong answers of several classifiers to the same test items.

    Parameters
    ----------
    correct : array-like, shape (n_items, n_classifiers) or (n_items, n_classifiers, n_runs)
        1 or True for a right answer, 0 or False for a wrong one; NaN, None or -1 where there is
        none. A data frame brings the names of its columns. Several runs of the same
        classifiers become shares of right answers.
    names : sequence of str, optional
        Name of each classifier, each once. Default: the columns of a frame, or "1", "2", ...
    items : sequence of str, optional
        Name of each item, each once. Default: "1", "2", ...
    clusters : sequence of str, optional
        What each item belongs to (a document, a patient, a family of near-duplicates). Items of
        one cluster are not independent.
    tasks : sequence of str, optional
        Task of each item (subject, subset, benchmark). Errors are those of new items of these
        tasks.
    average : {"items", "tasks"} or mapping of str to float, optional
        What counts equally in a score: every item, every task, or tasks by these weights. Default:
        every task where there are tasks.
    n_runs : int or array-like of int, shape (n_items, n_classifiers), optional
        Runs behind each number, which then is the share of right answers among them, in [0, 1].
    new : {"items", "runs", "tasks"}
        What skill is about: new items of these tasks, new runs on these very items, or new tasks
        like these.
    passes : (int, bool), optional
        K, and whether all of K runs must be right (pass^K) or one of them (pass@K), instead of the
        share of right runs.
    name : str
        Label of the matrix in tables.
    notes : sequence of str
        What a reader should know of where the answers come from.

    Attributes
    ----------
    correct : numpy.ndarray of int8, shape (n_items, n_classifiers)
        The answers, read-only; -1 is a missing one.
    names, items : tuple of str
        Names of columns and rows.
    clusters, tasks : tuple of str or None
        Cluster and task of each item.
    task_weights : dict of str to float
        Weight of each task in a score; empty without tasks.
    run_numbers : ndarray of int, shape () or (n_items, n_classifiers)
        Runs behind each share.
    new, passes, name, notes
        As given.

    Raises
    ------
    InputError
        A value that is no answer, tasks or shares with missing answers, weights of other tasks,
        no classifier or fewer than two items, names that repeat or do not match, a classifier
        without any answer, new runs without several, more passes than runs, or new tasks without
        three.

    Examples
    --------
    >>> answers = Responses([[1, 0], [1, 1], [0, None]], names=["tree", "forest"])
    >>> answers
    <Responses 'responses': 3 items x 2 classifiers, 1 answer missing>
    >>> answers.scores.round(3).tolist()
    [0.667, 0.5]

    A macro average, each task with the same weight:

    >>> exam = Responses([[1, 0], [1, 1], [0, 1]], tasks=["law", "law", "art"])
    >>> exam.scores.tolist()
    [0.5, 0.75]
    """

    is_answers = True
    _given: NDArray[Any]  # answers as int8, or shares
    _measured: FloatArray | None  # shares, or passes
    _noise: FloatArray | None

    def __init__(
        self,
        correct: ArrayLike | Any,
        *,
        names: Sequence[str] | None = None,
        items: Sequence[str] | None = None,
        clusters: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
        average: Averaging | None = None,
        n_runs: ArrayLike | None = None,
        new: New = "items",
        passes: tuple[int, bool] | None = None,
        name: str = "responses",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything once."""
        cells, columns, _ = labelled_values(correct)
        values, runs = _mean_of_runs(cells, n_runs)
        n_items, n_classifiers = values.shape
        named = columns if names is None else names
        super().__init__(values.shape, named, items, clusters, name, tasks, average, new, notes)
        if n_classifiers < 1:
            raise InputError("responses need a classifier")
        if n_items < 2:
            raise InputError(f"responses need at least 2 items, got {n_items}")
        self._set(run_numbers=np.array(1) if runs is None else runs, passes=passes)
        if (new == "runs" or passes is not None) and self.n_runs < 2:
            what = "new runs need" if passes is None else f"{name_of_passes(passes)} needs"
            raise InputError(f"{what} several runs of each item")
        numbers, noise = _as_numbers(values), None
        if runs is not None:
            wrong = ~((numbers >= 0) & (numbers <= 1))
            self._refuse(wrong, values, "shares of right answers lie between 0 and 1, none missing")
            shares = numbers.astype(np.float64)
            passed = shares if passes is None else pass_rates(shares, self.run_numbers, passes)
            if new == "runs":
                noise = variance_of_runs(shares, self.run_numbers, passes)
            self._set(_given=shares, _measured=passed, _noise=noise)
            return
        if numbers.dtype.kind == "f":
            numbers = np.where(np.isnan(numbers), MISSING, numbers)
        wrong = ~np.isin(numbers, (MISSING, 0, 1))
        meaning = "an answer is right (1) or wrong (0), or missing (None, NaN or -1)"
        self._refuse(wrong, values, meaning)
        answers = numbers.astype(np.int8)
        silent = np.flatnonzero((answers == MISSING).all(axis=0))
        if silent.size:
            raise InputError(f"classifier {self.names[silent[0]]!r} has no answer to any item")
        self._set(_given=answers, _measured=None, _noise=None)
        if self.tasks is not None and self.has_missing:
            row, column = np.argwhere(answers == MISSING)[0]
            raise InputError(
                "averages over tasks need every answer, but "
                f"{self.names[column]!r} has none to item {self.items[row]!r}; complete() of the "
                "answers without tasks says which items all have"
            )

    def _refuse(self, wrong: NDArray[np.bool_], values: NDArray[Any], meaning: str) -> None:
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise InputError(
                f"{meaning}; classifier {self.names[column]!r} has {shown(values[row, column])} "
                f"for item {self.items[row]!r}"
            )

    @property
    def correct(self) -> NDArray[np.int8]:
        """The answers, -1 where one is missing, (n, m).

        Refused where they are shares, or do not count equally: who asks for single answers would
        not give the scores of these.
        """
        if self._measured is not None:
            raise InputError(
                "these are shares of right answers in several runs; this needs single answers, "
                "right or wrong"
            )
        if not self.items_count_equally:
            raise InputError(
                "these scores are averages over tasks, whose items do not count equally; this "
                'needs the average over items: average="items"'
            )
        return self._given

    @property
    def values(self) -> FloatArray:
        """Answers, shares or passes as numbers, NaN where one is missing, (n, m)."""
        if self._measured is not None:
            return self._measured
        return np.where(self._given == MISSING, np.nan, self._given)

    @property
    def is_plain(self) -> bool:
        """Whether scores are accuracies of single answers, without tasks."""
        return self.tasks is None and self._measured is None

    @property
    def is_average(self) -> bool:
        """Whether errors are those of an ``average``: over tasks, runs, or clusters of items."""
        return not self.is_plain or (self.clusters is not None and not self.has_missing)

    @cached_property
    def average(self) -> Average:
        """Scores with their errors and effective sizes; refused where answers are missing."""
        if self.is_plain and self.has_missing:
            return self.complete().average
        tasks, weights = self.task_codes
        if self.new == "runs":
            assert self._noise is not None
            return averaged_over_runs(self.values, self._noise, tasks, weights, self.run_numbers)
        of = averaged_over_tasks if self.new == "tasks" else averaged
        return of(self.values, tasks, self.cluster_codes, weights)

    def __repr__(self) -> str:
        """Size and number of missing answers."""
        missing = int(np.sum(self._given == MISSING))
        end = f", {missing:,} answer{'s' * (missing > 1)} missing" if missing else ""
        end += f", {len(self.task_weights):,} tasks" if self.tasks is not None else ""
        end += f", {self.runs_in_words}" * bool(self.runs_in_words)
        size = f"{self.n_items:,} items x {self.n_classifiers:,} classifiers"
        return f"<Responses {self.name!r}: {size}{end}>"

    @property
    def has_missing(self) -> bool:
        """Whether any answer is missing."""
        return bool(np.any(self._given == MISSING))

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of right answers of each classifier, shape (n_classifiers,)."""
        return (self.correct == 1).sum(axis=0, dtype=np.int64)

    @property
    def totals(self) -> NDArray[np.int64]:
        """Number of items that each classifier answered, shape (n_classifiers,)."""
        if not self.is_plain:
            return np.full(self.n_classifiers, self.n_items)
        return (self.correct != MISSING).sum(axis=0, dtype=np.int64)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Observed score of each classifier: right answers / answers, or the average of tasks."""
        return self.counts / self.totals if self.is_plain else self.average.scores

    @property
    def n_rows(self) -> int:
        """Number of independent rows behind the errors: items, clusters, tasks or runs."""
        return len(self.average.influence) if self.is_average else super().n_rows

    def row_influence(self, classifiers: Sequence[int] | slice = slice(None)) -> FloatArray:
        """What each item, cluster, task or run adds to the errors of the scores, (C, m)."""
        if self.is_average:
            return self.average.influence[:, classifiers]
        answers, scores = self.correct[:, classifiers], self.scores[classifiers]
        influence = (answers - scores) / self.totals[classifiers]
        influence[answers == MISSING] = 0.0
        return summed_by_cluster(influence, self.clusters)

    def joint_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each pair of classifiers: items that both got right, and items that both answered.

        Returns
        -------
        right_right, both_answered : numpy.ndarray of int64, shape (n_classifiers, n_classifiers)
            Symmetric; ``counts`` and ``totals`` on their diagonals. The congruence of two
            classifiers is the one divided by the other.

        Examples
        --------
        >>> right_right, both = Responses([[1, 0], [1, 1], [0, None]]).joint_counts()
        >>> right_right.tolist(), both.tolist()
        ([[2, 1], [1, 1]], [[3, 2], [2, 2]])
        """
        both_right = _self_product(self.correct == 1)
        if not self.has_missing:
            return both_right, np.full_like(both_right, self.n_items)
        return both_right, _self_product(self.correct != MISSING)

    def _at(self, rows: IntArray, columns: IntArray) -> "Responses":
        n_runs = runs_at(self.run_numbers, rows, columns)
        return Responses(
            self._given[np.ix_(rows, columns)],
            n_runs=None if self._measured is None else n_runs,
            new=self.new,
            passes=self.passes,
            notes=self.notes,
            **self._labels(rows, columns),
        )

    def about(
        self,
        new: New,
        methods: Sequence[str] | None = None,
        passes: tuple[int, bool] | None = None,
    ) -> "Responses":
        """The same answers, whose skills are about something else.

        Parameters
        ----------
        new, passes
            As of the class.
        methods : sequence of str, optional
            Classifier of each column, where several columns are its runs. Default: each its own.

        Raises
        ------
        InputError
            As of the class.

        Examples
        --------
        >>> answers = Responses([[1, 0], [1, 1], [0, 1]], names=["a run 1", "a run 2"])
        >>> answers.about("runs", ["a", "a"])
        <Responses 'responses': 3 items x 1 classifiers, 2 runs>
        """
        labels = self.names if methods is None else tuple(methods)
        of = {name: [j for j, label in enumerate(labels) if label == name] for name in labels}
        every = self.values if self._measured is None else self._given
        numbers = np.broadcast_to(self.run_numbers, every.shape) * ~np.isnan(every)
        right = np.nan_to_num(every) * numbers
        runs = np.column_stack([numbers[:, columns].sum(axis=1) for columns in of.values()])
        sums = np.column_stack([right[:, columns].sum(axis=1) for columns in of.values()])
        with np.errstate(invalid="ignore"):
            values = np.where(runs > 0, sums / np.maximum(runs, 1), np.nan)
        same = runs.min() == runs.max()
        return Responses(
            values,
            n_runs=None if runs.max() == 1 else runs.flat[0] if same else runs,
            new=new,
            passes=passes,
            notes=self.notes,
            **self._labels(range(self.n_items), ()) | {"names": list(of)},
        )

    def complete(self) -> "Responses":
        """The items that every classifier answered; itself where no answer is missing.

        Raises
        ------
        InputError
            Fewer than two such items.

        Examples
        --------
        >>> Responses([[1, 0], [1, None], [0, 1]]).complete().n_items
        2
        """
        if not self.has_missing:
            return self
        whole = (self.correct != MISSING).all(axis=1)
        if whole.sum() < 2:
            raise InputError(
                f"a comparison needs 2 items that every method answered, there are {whole.sum()} "
                f"of {self.n_items}; leave out methods with many missing answers"
            )
        return self.subset(items=list(whole))

    def leaderboard(self, n_classifiers: int | None = None) -> Leaderboard:
        """What a leaderboard shows of these answers: the scores, exact, with their names.

        Averages over tasks and shares are scores with the standard error of the best.

        Parameters
        ----------
        n_classifiers : int, optional
            Number of classifiers in the whole field where the matrix holds only some of them.
            Default: those in the matrix.

        Raises
        ------
        InputError
            Answers are missing: then the scores are not out of the same number of items.

        Examples
        --------
        >>> board = Responses([[1, 0], [1, 1], [0, 0]]).leaderboard()
        >>> board.n_test, board.counts
        (3, (2, 2))
        """
        if n_classifiers is None:
            self.check_several()
        if self.has_missing:
            missing = self.correct == MISSING
            row, column = np.argwhere(missing)[0]
            raise InputError(
                "a leaderboard needs every classifier's answer to every item, but "
                f"{missing.any(axis=1).sum():,} of {self.n_items:,} items lack some: "
                f"{self.names[column]!r} has none to item {self.items[row]!r}; take these items "
                "out of the file; in Python complete() does"
            )
        known: dict[str, Any] = {"n_test": self.n_items, "names": self.names, "name": self.name}
        known["n_classifiers"] = n_classifiers
        if self.is_plain:
            return Leaderboard(self.scores, rounding="exact", percent=False, **known)
        error = float(self.average.standard_errors[int(np.argmax(self.scores))])
        return Leaderboard(self.scores, metric="score", standard_error=error, **known)

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed, its first 16 digits."""
        rest: tuple[Any, ...] = (self.names, self.items, self.clusters, self.name)
        if not self.is_plain:
            of_runs = (self.run_numbers.tolist(), self.passes)
            rest = (*rest, self.tasks, self.task_weights, *of_runs, self.new)
        return digest_of(self._given.shape, self._given, rest)


def _mean_of_runs(correct: Any, n_runs: ArrayLike | None) -> tuple[NDArray[Any], IntArray | None]:
    """Matrix of the answers, or of shares and how many runs are behind each."""
    if not (isinstance(correct, np.ndarray) and correct.ndim == 3):
        values = _as_matrix(correct)
        return values, None if n_runs is None else _run_numbers(n_runs, values.shape)
    if n_runs is not None:
        raise InputError("n_runs is for shares of right answers; here each run has its answers")
    answers = correct.astype(np.float64)
    there = ~np.isnan(answers)
    if not there.any(axis=2).all() or not np.isin(answers[there], (0, 1)).all():
        raise InputError("answers of several runs are 0 or 1, and every item has one at least")
    numbers = there.sum(axis=2)
    return np.nansum(answers, axis=2) / numbers, np.array(numbers[0, 0]) if there.all() else numbers


def _run_numbers(n_runs: ArrayLike, shape: tuple[int, ...]) -> IntArray:
    """Runs behind each share: one number for all, or one for each."""
    numbers = np.asarray(n_runs)
    if numbers.ndim == 0:
        COUNT.check(numbers.item(), "n_runs")
    elif numbers.shape != shape or numbers.dtype.kind not in "iu" or numbers.min() < 1:
        raise InputError(
            "n_runs is a whole number of at least 1, or one for each item and classifier, "
            f"{shape[0]} x {shape[1]}"
        )
    return numbers.astype(np.int64)


def _as_matrix(correct: Any) -> NDArray[Any]:
    """Two-dimensional array of the values as they came."""
    values: NDArray[Any]
    if isinstance(correct, np.ma.MaskedArray):
        values = np.where(np.ma.getmaskarray(correct), np.nan, correct.data.astype(float))
    elif isinstance(correct, np.ndarray):
        values = correct
    else:
        try:
            rows = list(correct)
        except TypeError:
            raise InputError(
                f"responses are a matrix, items x classifiers; got {correct!r}"
            ) from None
        lengths = [len(row) if isinstance(row, list) or np.ndim(row) else 1 for row in rows]
        other = next((k for k, length in enumerate(lengths) if length != lengths[0]), None)
        if other is not None:
            raise InputError(
                f"every item needs an entry for every classifier: row 1 has {lengths[0]}, row "
                f"{other + 1} has {lengths[other]} (use None for a missing answer)"
            )
        # Objects, because NumPy would turn [True, "yes"] into strings and hide where it was.
        values = np.array(rows, dtype=object)
    if values.ndim != 2:
        raise InputError(
            "responses are a matrix, items x classifiers; got an array of "
            f"{values.ndim} dimension{'s' * (values.ndim != 1)}"
        )
    return values


def _as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Values as numbers: NaN where one is missing, infinite where one is none."""
    if values.dtype.kind in "biuf":
        return values
    return np.array([[_number(value) for value in row] for row in values])


def _number(value: Any) -> float:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return np.nan
    known = isinstance(value, (bool, np.bool_, int, float, np.integer, np.floating))
    return float(value) if known and (abs(value) <= 1 or value != value) else np.inf


def _self_product(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of rows in which both columns are true, for each pair of columns."""
    total = np.zeros((flags.shape[1], flags.shape[1]), np.int64)
    for start in range(0, len(flags), _BLOCK):
        block = flags[start : start + _BLOCK].astype(np.float32)
        total += (block.T @ block).round().astype(np.int64)
    return total
