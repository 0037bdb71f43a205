"""pandas and polars frames to a table."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayes_sota.data.files import limits
from bayes_sota.data.files.tables import Nested, Table

__all__ = ["is_frame", "table_of_frame"]

_HALF = re.compile("[\ud800-\udfff]")


def is_frame(source: object) -> bool:
    """Whether something looks like a pandas or polars frame, without importing either."""
    return hasattr(source, "columns") and (hasattr(source, "iloc") or hasattr(source, "get_column"))


def table_of_frame(frame: Any) -> Table:
    """Table of a pandas or polars frame; a named index of pandas is a column."""
    if any(name is not None for name in getattr(getattr(frame, "index", None), "names", ())):
        frame = frame.reset_index()
    header = tuple(_whole_text(str(name)) for name in frame.columns)
    limits.check_shape(frame.shape[0], len(header), "the data frame")
    by_position = hasattr(frame, "iloc")  # names of pandas columns need not differ
    columns = tuple(
        _cells(frame.iloc[:, i] if by_position else frame.get_column(name))
        for i, name in enumerate(frame.columns)
    )
    places = [f"row {index + 1}" for index in range(frame.shape[0])]
    return Table(header, columns, places, "the data frame")


def _cells(series: Any) -> Sequence[Any]:
    """Cells of a column; dates and durations stay what they are, which NumPy counts as numbers."""
    found = series.to_numpy()
    if found.dtype.kind in "mM":
        return list(series)
    if found.dtype.kind != "O" or not (
        any(map(_is_odd, set(map(type, found))))
        or _HALF.search("".join([cell for cell in found if type(cell) is str]))
    ):
        return found  # type: ignore[no-any-return]
    return [_plain(cell) for cell in found]


def _is_odd(kind: type) -> bool:
    return issubclass(kind, list | dict | tuple | set | np.ndarray) or kind.__name__ == "NAType"


def _whole_text(text: str) -> str:
    """Text whose halves of characters, which no file can hold, are U+FFFD, as those of JSON."""
    return _HALF.sub("\ufffd", text)


def _plain(cell: Any) -> Any:
    if isinstance(cell, str):
        return _whole_text(cell)
    if not _is_odd(type(cell)):
        return cell
    return None if type(cell).__name__ == "NAType" else Nested(" ".join(str(cell).split()))
