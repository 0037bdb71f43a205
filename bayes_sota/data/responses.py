"""Which classifier answered which test item right: the response matrix behind a leaderboard.

A matrix says more than its scores: how much the classifiers' mistakes coincide, and which items
are hard. Everything is checked here, at construction, and never again
(``tests/data/test_responses.py``).
"""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_clusters, checked_labels, digest_of, nearest, shown
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.observed import Observed

MISSING = -1
_BLOCK = 8192  # items at a time: counts in a block are exact in float32, and fit the cache


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ItemMatrix(Observed):
    """What several classifiers got for the same test items; equal where all of it is equal."""

    names: tuple[str, ...]
    items: tuple[str, ...]
    clusters: tuple[str, ...] | None
    name: str

    def __init__(
        self,
        shape: tuple[int, int],
        names: Iterable[Any] | None,
        items: Iterable[Any] | None,
        clusters: Iterable[Any] | None,
        name: str,
    ) -> None:
        """Check the names of the rows and columns of a matrix of this shape."""
        self._set(
            names=checked_labels(names, shape[1], "classifier"),
            items=checked_labels(items, shape[0], "item"),
            clusters=checked_clusters(clusters, shape[0]),
            name=str(name),
        )

    @property
    def n_items(self) -> int:
        """Number of test items."""
        return len(self.items)

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return len(self.names)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Responses(ItemMatrix):
    """Right and wrong answers of several classifiers to the same test items.

    Parameters
    ----------
    correct : array-like, shape (n_items, n_classifiers)
        1 or True for a right answer, 0 or False for a wrong one; NaN, None or -1 where there is
        none. A pandas or polars frame brings the names of its columns.
    names : sequence of str, optional
        Name of each classifier, each once. Default: the columns of a frame, or "1", "2", ...
    items : sequence of str, optional
        Name of each item, each once. Default: "1", "2", ...
    clusters : sequence of str, optional
        What each item belongs to (a document, a patient, a family of near-duplicates). Items of
        one cluster are not independent.
    name : str
        Label of the matrix in tables.

    Attributes
    ----------
    correct : numpy.ndarray of int8, shape (n_items, n_classifiers)
        The answers, read-only; -1 is a missing one.
    names, items : tuple of str
        Names of columns and rows.
    clusters : tuple of str or None
        Cluster of each item.
    name : str
        Label of the matrix.

    Raises
    ------
    InputError
        A value that is no answer, fewer than two classifiers or items, names that repeat or do
        not match, or a classifier without any answer.

    Examples
    --------
    >>> answers = Responses([[1, 0], [1, 1], [0, None]], names=["tree", "forest"])
    >>> answers
    <Responses 'responses': 3 items x 2 classifiers, 1 answer missing>
    >>> answers.scores.round(3).tolist()
    [0.667, 0.5]
    """

    correct: NDArray[np.int8]

    def __init__(
        self,
        correct: ArrayLike | Any,
        *,
        names: Sequence[str] | None = None,
        items: Sequence[str] | None = None,
        clusters: Sequence[str] | None = None,
        name: str = "responses",
    ) -> None:
        """Check everything once."""
        values = _as_matrix(correct)
        n_items, n_classifiers = values.shape
        given = getattr(correct, "columns", None) if names is None else names
        super().__init__(values.shape, given, items, clusters, name)
        if n_classifiers < 2:
            raise InputError(
                f"responses need at least 2 classifiers, got {n_classifiers}; for one alone its "
                "score is all there is"
            )
        if n_items < 2:
            raise InputError(f"responses need at least 2 items, got {n_items}")
        answers = _as_answers(values, self.names, self.items)
        silent = np.flatnonzero((answers == MISSING).all(axis=0))
        if silent.size:
            raise InputError(f"classifier {self.names[silent[0]]!r} has no answer to any item")
        self._set(correct=answers)

    def __repr__(self) -> str:
        """Size and number of missing answers."""
        missing = int((self.correct == MISSING).sum())
        end = f", {missing:,} answer{'s' * (missing > 1)} missing" if missing else ""
        size = f"{self.n_items:,} items x {self.n_classifiers:,} classifiers"
        return f"<Responses {self.name!r}: {size}{end}>"

    @property
    def has_missing(self) -> bool:
        """Whether any answer is missing."""
        return bool((self.correct == MISSING).any())

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of right answers of each classifier, shape (n_classifiers,)."""
        return np.asarray((self.correct == 1).sum(axis=0, dtype=np.int64))

    @property
    def totals(self) -> NDArray[np.int64]:
        """Number of items that each classifier answered, shape (n_classifiers,)."""
        return np.asarray((self.correct != MISSING).sum(axis=0, dtype=np.int64))

    @property
    def scores(self) -> NDArray[np.float64]:
        """Observed score of each classifier, right answers / answers, shape (n_classifiers,)."""
        return self.counts / self.totals

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

    def subset(
        self,
        classifiers: Iterable[int | str] | None = None,
        items: Iterable[int | str] | None = None,
    ) -> "Responses":
        """The same answers for some classifiers and items, in the order asked for.

        Parameters
        ----------
        classifiers, items : iterable of int or str, optional
            Numbers (from 0; negative ones count from the end), names, or a mask of booleans.
            Default: all.

        Raises
        ------
        InputError
            Unknown or repeated ones, or too few to be a response matrix.

        Examples
        --------
        >>> answers = Responses([[1, 0, 1], [1, 1, 0]], names=["a", "b", "c"])
        >>> answers.subset(["c", "a"]).correct.tolist()
        [[1, 1], [0, 1]]
        """
        columns = _positions(classifiers, self.names, "classifier")
        rows = _positions(items, self.items, "item")
        clusters = self.clusters
        return Responses(
            self.correct[np.ix_(rows, columns)],
            names=[self.names[j] for j in columns],
            items=[self.items[i] for i in rows],
            clusters=None if clusters is None else [clusters[i] for i in rows],
            name=self.name,
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
        whole = (self.correct != MISSING).all(axis=1)
        if whole.all():
            return self
        if whole.sum() < 2:
            raise InputError(
                f"a comparison needs 2 items that every method answered, there are {whole.sum()} "
                f"of {self.n_items}; leave out methods with many missing answers"
            )
        return self.subset(items=list(whole))

    def leaderboard(self, n_classifiers: int | None = None) -> Leaderboard:
        """What a leaderboard shows of these answers: the scores, exact, with their names.

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
        if self.has_missing:
            missing = self.correct == MISSING
            row, column = np.argwhere(missing)[0]
            raise InputError(
                "a leaderboard needs every classifier's answer to every item, but "
                f"{missing.any(axis=1).sum():,} of {self.n_items:,} items lack some: "
                f"{self.names[column]!r} has none to item {self.items[row]!r}; take these items "
                "out of the file; in Python complete() does"
            )
        return Leaderboard(
            self.scores,
            n_test=self.n_items,
            n_classifiers=n_classifiers,
            rounding="exact",
            percent=False,
            names=self.names,
            name=self.name,
        )

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed, its first 16 digits."""
        rest = (self.names, self.items, self.clusters, self.name)
        return digest_of(self.correct.shape, self.correct, rest)


def _as_matrix(correct: Any) -> NDArray[Any]:
    """Two-dimensional array of the values as they came."""
    values: NDArray[Any]
    if isinstance(correct, np.ma.MaskedArray):
        values = np.where(np.ma.getmaskarray(correct), np.nan, correct.data.astype(float))
    elif isinstance(correct, np.ndarray):
        values = correct
    elif hasattr(correct, "to_numpy"):
        values = correct.to_numpy()
    else:
        try:
            listed = list(correct)
        except TypeError:
            raise InputError(
                f"responses are a matrix, items x classifiers; got {correct!r}"
            ) from None
        rows = [list(row) if isinstance(row, list) or np.ndim(row) else row for row in listed]
        lengths = {len(row) if isinstance(row, list) else -1 for row in rows}
        if len(lengths) > 1:
            raise InputError(_ragged(rows))
        # Objects, because NumPy would turn [True, "yes"] into strings and hide where it was.
        width = lengths.pop() if lengths else -1
        values = np.empty((len(rows), width) if width >= 0 else len(rows), dtype=object)
        for number, row in enumerate(rows):
            values[number, ...] = row
    if values.ndim != 2:
        raise InputError(
            "responses are a matrix, items x classifiers; got an array of "
            f"{values.ndim} dimension{'s' * (values.ndim != 1)}"
        )
    return values


def _ragged(rows: list[Any]) -> str:
    lengths = [len(row) if isinstance(row, list) else 1 for row in rows]
    other = next((k for k, length in enumerate(lengths) if length != lengths[0]), 0)
    return (
        f"every item needs an entry for every classifier: row 1 has {lengths[0]}, row {other + 1} "
        f"has {lengths[other]} (use None for a missing answer)"
    )


def _as_answers(
    values: NDArray[Any], names: tuple[str, ...], items: tuple[str, ...]
) -> NDArray[np.int8]:
    """Values as -1, 0 and 1."""
    raw = values
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), MISSING, values)
    elif values.dtype.kind not in "biu":
        values = np.array([[_code(value) for value in row] for row in values])
    wrong = ~np.isin(values, (MISSING, 0, 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            "an answer is right (1) or wrong (0), or missing (None, NaN or -1); classifier "
            f"{names[column]!r} has {shown(raw[row, column])} for item {items[row]!r}"
        )
    return values.astype(np.int8)


def _code(value: Any) -> int:
    """Answer of one object; -2 where it is none."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return MISSING
    if not isinstance(value, (bool, np.bool_, int, float, np.integer, np.floating)):
        return -2
    if value != value:
        return MISSING
    return int(value) if value in (MISSING, 0, 1) else -2


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


def _self_product(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of rows in which both columns are true, for each pair of columns."""
    total = np.zeros((flags.shape[1], flags.shape[1]), np.int64)
    for start in range(0, len(flags), _BLOCK):
        block = flags[start : start + _BLOCK].astype(np.float32)
        total += (block.T @ block).round().astype(np.int64)
    return total
