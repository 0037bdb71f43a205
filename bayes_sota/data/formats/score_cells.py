"""Cells of a column as numbers or as names, each error with its place.

``tests/data/test_read_scores.py`` compares with the plain reading of every cell.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.files.tables import Nested, Table
from bayes_sota.data.printed_scores import LARGEST_NUMBER, parse_number

__all__ = [
    "MISSING_WORDS",
    "coded_names",
    "first_repeat",
    "holds_no_number",
    "place",
    "read_numbers",
]

MISSING_WORDS = ("", "-", "na", "n/a", "nan", "null", "none", "<na>")  # whatever their case


def place(table: Table, row: int, column: int) -> str:
    """Where a cell stands, for messages."""
    return f"{table.where}: {table.places[row]}, column {shown(table.header[column])}"


def read_numbers(table: Table, column: int) -> FloatArray:
    """Scores in a column, NaN where one is missing, shape (n_rows,).

    Raises
    ------
    InputError
        A cell that is neither a finite number nor one of ``MISSING_WORDS``.

    Examples
    --------
    >>> read_numbers(Table(("a",), (("0.5", "NA", "1e-3"),), ("1", "2", "3"), "x.csv"), 0)
    array([0.5  ,   nan, 0.001])
    """
    cells: Any = table.columns[column]
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiu":
        values = _widened(cells)
        doubtful: Sequence[int] = np.flatnonzero(np.abs(values) > LARGEST_NUMBER).tolist()
    elif all(kind is str for kind in set(map(type, cells))):
        values = _floats(cells)
        # Python's float takes "1_000" and digits of other scripts, which are no printed scores.
        text = "".join(cells)
        plain = text.isascii() and "_" not in text
        too_large = ~(np.abs(values) <= LARGEST_NUMBER)
        doubtful = np.flatnonzero(too_large).tolist() if plain else range(len(cells))
    else:
        values = np.empty(len(cells))
        doubtful = range(len(cells))
    for row in doubtful:
        values[row] = _number(table, row, column)
    return values


def holds_no_number(table: Table, column: int) -> bool:
    """Whether a column has words, and not a single number."""
    cells: Any = table.columns[column]
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiu":
        return False
    distinct = set(map(str, cells))
    kinds = {type(cell) for cell in cells}
    if kinds & {bool, np.bool_}:
        return all(isinstance(cell, bool | np.bool_) or _is_missing(cell) for cell in cells)
    words = [text for text in distinct if parse_number(text) is None]
    return len(words) == len(distinct) and not all(_is_missing(word) for word in words)


def coded_names(table: Table, column: int, what: str) -> tuple[list[str], NDArray[np.intp]]:
    """Different names in a column, in order of appearance, and which one each row has.

    Raises
    ------
    InputError
        A cell that names nothing.

    Examples
    --------
    >>> coded_names(Table(("m",), (("b", "a ", "b"),), ("1", "2", "3"), "x.csv"), 0, "player")
    (['b', 'a'], array([0, 1, 0]))
    """
    cells: Any = table.columns[column]
    listed = cells.tolist() if isinstance(cells, np.ndarray) else cells
    first_rows = dict(zip(reversed(listed), range(len(listed) - 1, -1, -1), strict=True))
    codes: dict[str, int] = {}
    code_of: dict[Any, int] = {}
    for cell, row in sorted(first_rows.items(), key=lambda found: found[1]):
        name = _name(cell)
        if isinstance(cell, Nested):
            raise InputError(f"{place(table, row, column)}: a {what} is a name, got {shown(cell)}")
        if not name:
            raise InputError(f"{place(table, row, column)}: the {what} has no name")
        code_of[cell] = codes.setdefault(name, len(codes))
    found = np.fromiter(map(code_of.__getitem__, listed), np.intp, len(listed))
    return list(codes), found


def first_repeat(keys: NDArray[np.intp]) -> tuple[int, int] | None:
    """First row whose key stands in an earlier one, after that earlier one; None without any.

    Examples
    --------
    >>> first_repeat(np.array([4, 2, 7, 2, 4]))
    (1, 3)
    """
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if not same.size:
        return None
    at = same[np.argmin(order[same + 1])]
    return int(order[at]), int(order[at + 1])


def _widened(cells: NDArray[Any]) -> FloatArray:
    """Numbers in double precision; a float32 keeps the digits that it prints."""
    if cells.dtype.kind == "f" and cells.dtype.itemsize < 8:
        return np.array([float(str(cell)) for cell in cells])
    return np.array(cells, np.float64)


def _floats(cells: Sequence[str]) -> FloatArray:
    """Numbers as Python reads them, NaN where it does not."""
    try:
        return np.array([*map(float, cells)])
    except ValueError:
        return np.array([_float_or_nan(cell) for cell in cells])


def _float_or_nan(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan


def _is_missing(cell: object) -> bool:
    return str(cell).strip().lower() in MISSING_WORDS


def _number(table: Table, row: int, column: int) -> float:
    cell = table.columns[column][row]
    if _is_missing(cell):
        return np.nan
    number = parse_number(cell)
    value = np.nan if number is None else float(number)
    if abs(value) <= LARGEST_NUMBER:
        return value
    if np.isfinite(value):
        raise InputError(
            f"{place(table, row, column)}: {shown(cell)} is too large, the limit is "
            f"{LARGEST_NUMBER:g}"
        )
    raise InputError(
        f"{place(table, row, column)}: a score is a finite number, or empty where there is none; "
        f"got {shown(cell)}"
    )


def _name(cell: object) -> str:
    """Name in a cell: 1, 1.0 of a column of numbers and "1" are the same; "" without any."""
    if not isinstance(cell, str) and str(cell) in ("None", "nan", "<NA>", "NaT"):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()
