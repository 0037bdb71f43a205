"""A table as read, before anybody knows what its columns mean, and how large a file may be.

``tests/data/test_files.py`` holds the limit.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import several, shown

MAX_BYTES = 200_000_000  # unpacked; a leaderboard of a million teams has a quarter of that


def check_bytes(size: int, where: str) -> None:
    """Raise ``InputError`` where a file has more bytes than are read."""
    if size > MAX_BYTES:
        raise InputError(f"{where}: more than {MAX_BYTES:,} bytes unpacked, which is the limit")


@dataclass(frozen=True, repr=False)
class Nested:
    """A cell that holds a list or an object: neither a number nor a name."""

    text: str

    def __repr__(self) -> str:
        """What it holds, or of which type it is."""
        return self.text


def plain_cell(cell: Any) -> Any:
    """Cell whose lists and objects say only what they hold."""
    odd = isinstance(cell, list | dict | tuple | set | np.ndarray)
    return Nested(" ".join(str(cell).split())) if odd else cell


@dataclass(frozen=True)
class Table:
    """Columns of cells with their places.

    Attributes
    ----------
    header : tuple of str
        Names of the columns as written.
    columns : tuple of sequences
        Cells, one sequence per column.
    places : sequence of str
        Where each row stands, for messages: "line 7", "record 3".
    where : str
        What is being read, for messages: the path, or "the data frame".
    stem : str
        Short name of it.
    """

    header: tuple[str, ...]
    columns: tuple[Sequence[Any], ...]
    places: Sequence[str]
    where: str
    stem: str = "board"

    def __post_init__(self) -> None:
        """Refuse a table without rows."""
        if not len(self.places):
            only = f", only {self.listed_columns()}" if self.header else ""
            raise InputError(f"{self.where}: no rows{only}")

    def only(self, columns: Sequence[int]) -> "Table":
        """Some of the columns."""
        names = tuple(self.header[j] for j in columns)
        return replace(self, header=names, columns=tuple(self.columns[j] for j in columns))

    def at(self, rows: Sequence[int]) -> "Table":
        """Some of the rows."""
        if list(rows) == list(range(len(self.places))):
            return self
        every: tuple[Any, ...] = self.columns
        columns: Any = tuple(
            cells[list(rows)] if isinstance(cells, np.ndarray) else [cells[row] for row in rows]
            for cells in every
        )
        return replace(self, columns=columns, places=[self.places[row] for row in rows])

    def place(self, row: int, column: int) -> str:
        """Where a cell stands, for messages."""
        return f"{self.where}: {self.places[row]}, column {shown(self.header[column])}"

    def listed_columns(self) -> str:
        """The columns, for messages."""
        return f"the columns {several(self.header, 12)}"

    def find_all(self, wanted: str) -> list[int]:
        """Positions of the columns of a name: as written, else whatever case and punctuation."""
        same = [i for i, name in enumerate(self.header) if name == wanted]
        key = normalize_name(wanted)
        return same or [i for i, name in enumerate(self.header) if normalize_name(name) == key]


def is_numeric(cells: Any) -> TypeGuard[NDArray[Any]]:
    """Whether a column is an array of numbers."""
    return isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf"


def normalize_name(name: str) -> str:
    """Lower-case letters and digits of a column's name.

    Examples
    --------
    >>> normalize_name(" Public Score "), normalize_name("top-1_acc")
    ('publicscore', 'top1acc')
    """
    return re.sub(r"[\W_]", "", name.lower())
