"""From rows with names to a grid: the one way in which long tables are read.

Names become numbers (``Axis``), every row gets the one place that its names say (``place_rows``),
and values are taken from the rows: ``np.append(values, np.nan)[grid]``, because -1 stands where no
row is. ``tests/data/test_read_scores.py`` and ``test_long_answers.py`` compare with pivots by
pandas.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import IntArray
from bayes_sota.data.files.tables import Table
from bayes_sota.data.readers.columns import coded_names, number_of

_LARGEST = 100_000_000  # places


@dataclass(frozen=True, eq=False)
class Axis:
    """Different names of one kind, and which one each row has.

    Attributes
    ----------
    what : str
        The kind, for messages: "player".
    names : list of str
        In order of appearance.
    codes : ndarray of int, shape (n_rows,)
    """

    what: str
    names: list[str]
    codes: IntArray

    @classmethod
    def of_column(cls, table: Table, column: int, what: str) -> "Axis":
        """Names in a column."""
        return cls(what, *coded_names(table, column, what))

    @classmethod
    def of_one(cls, what: str, name: str, n_rows: int) -> "Axis":
        """The same name in every row."""
        return cls(what, [name], np.zeros(n_rows, np.intp))

    def at(self, rows: IntArray) -> "Axis":
        """The same names in other rows."""
        return replace(self, codes=self.codes[rows])

    def among(self, rows: IntArray) -> "Axis":
        """Names of some rows only, numbered anew in order of appearance."""
        codes, first = renumbered(self.codes[rows])
        return Axis(self.what, [self.names[code] for code in self.codes[rows[first]]], codes)

    def sorted(self) -> "Axis":
        """The same with numbers in their order; names stay as they are."""
        numbers = [number_of(name) for name in self.names]
        if None in numbers:
            return self
        order = np.argsort(np.array(numbers, float), kind="stable")
        return replace(
            self, names=[self.names[i] for i in order], codes=np.argsort(order)[self.codes]
        )


def renumbered(codes: IntArray) -> tuple[IntArray, IntArray]:
    """Codes from 0 in order of appearance, and the row in which each appears first.

    Examples
    --------
    >>> codes, first = renumbered(np.array([7, 2, 7, 4]))
    >>> codes.tolist(), first.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.argsort(order)[inverse], first[order]


def occurrences(keys: Iterable[Hashable]) -> list[int]:
    """How often each key was there before.

    Examples
    --------
    >>> occurrences("abaa")
    [0, 0, 1, 2]
    """
    seen: Counter[Hashable] = Counter()
    counts = []
    for key in keys:
        counts.append(seen[key])
        seen[key] += 1
    return counts


def place_rows(
    table: Table, axes: Sequence[Axis], rows: IntArray, *, holds: str = "a score", hint: str = ""
) -> NDArray[np.int32]:
    """Number of the row in each place of a grid of names, -1 where there is none.

    Parameters
    ----------
    table : Table
    axes : sequence of Axis
        Names of the n values, one axis for each dimension of the grid.
    rows : ndarray of int, shape (n,)
        Row of the table that each value stands in, for messages.
    holds : str
        What a row holds, for messages.
    hint : str
        What to do about two values for one place, as the end of a message.

    Raises
    ------
    InputError
        More places than are read; two values for one place, with the places of both rows.
    """
    shape = tuple(len(axis.names) for axis in axes)
    if np.prod(shape, dtype=float) > _LARGEST:
        sizes = ", ".join(f"{len(axis.names):,} {axis.what}s" for axis in axes)
        raise InputError(
            f"{table.where}: {sizes} with {rows.size:,} rows; are these the columns that were "
            "meant?"
        )
    place = np.ravel_multi_index([axis.codes for axis in axes], shape)
    repeat = _first_repeat(place)
    if repeat is not None:
        first, again = (table.places[rows[i]] for i in repeat)
        raise InputError(
            f"{table.where}: {again}: {named_place(axes, [a.codes[repeat[1]] for a in axes])} "
            f"already has {holds} on {first}{hint}"
        )
    grid = np.full(shape, -1, np.int32)
    grid.ravel()[place] = np.arange(rows.size)
    return grid


def named_place(axes: Sequence[Axis], place: Sequence[int]) -> str:
    """Names of a place, for messages."""
    return ", ".join(f"{a.what} {shown(a.names[i])}" for a, i in zip(axes, place, strict=True))


def _first_repeat(keys: IntArray) -> tuple[int, int] | None:
    """First row whose key stands in an earlier one, after that earlier one; None without any.

    Examples
    --------
    >>> _first_repeat(np.array([4, 2, 7, 2, 4]))
    (1, 3)
    """
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if not same.size:
        return None
    at = same[np.argmin(order[same + 1])]
    return int(order[at]), int(order[at + 1])
