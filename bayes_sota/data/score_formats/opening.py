"""A path or a frame to a table; long text is read column by column.

A million rows take seconds and not the memory of a million lists; whatever is not plain goes to
the reader of leaderboards, which is slower and has the places of errors
(``tests/data/test_score_files.py`` reads the same files by both).
"""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from bayes_sota.data.readers.columnar_tables import is_frame, table_of_frame
from bayes_sota.data.readers.files import MAX_BYTES, open_table
from bayes_sota.data.readers.tables import Table
from bayes_sota.data.readers.text_tables import decode_text, parse_delimited
from bayes_sota.errors import InputError

__all__ = ["open_scores"]

_LONG = 2_000_000  # bytes from which it is worth while
_ROWS = 50_000  # at a time
_REPEATED = 10_000  # a column with fewer different cells keeps each of them once


class _Lines(Sequence[str]):
    """Lines from one number on, as places for messages."""

    def __init__(self, first: int, count: int) -> None:
        self._lines = range(first, first + count)

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [f"line {line}" for line in self._lines[index]]
        return f"line {self._lines[index]}"


def open_scores(source: Any) -> Table:
    """Table of a file or a frame.

    Raises
    ------
    InputError
        A file that cannot be read as what it seems to be; the message names it and says why.
    """
    if is_frame(source):
        return _table_of_frame(source)
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            "scores are read from a path, a pandas or polars frame, cv_results_ of scikit-learn "
            f"or a list of paths, got {type(source).__name__}"
        )
    path = Path(source)
    try:
        long = path.is_file() and _LONG <= path.stat().st_size <= MAX_BYTES
    except (OSError, ValueError):  # the reader of leaderboards says what it is
        long = False
    return (long and _long_text(path)) or open_table(path)


def _table_of_frame(frame: Any) -> Table:
    """Table of a frame; an index of words names the rows."""
    index: Any = getattr(frame, "index", None)
    unnamed = index is not None and index.nlevels == 1 and index.name is None
    if unnamed and index.dtype.kind not in "iu":
        frame = frame.rename_axis("")
    return table_of_frame(frame)


def _long_text(path: Path) -> Table | None:
    """Table of a long delimited text without anything unusual; None where there is."""
    content = path.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    content = content.rstrip(b"\n") + b"\n"
    if b"\r" in content or content[:1] in (b"{", b"[", b"\n") or content[:4] == b"PAR1":
        return None
    line = content[: content.index(b"\n") + 1]
    try:
        decode_text(content, str(path))
        header = parse_delimited(decode_text(line, str(path)) + line.decode(), str(path)).header
    except InputError:
        return None
    delimiter = next(
        (
            sign
            for sign in ",;\t"
            if [cell.strip() for cell in next(csv.reader([line.decode()], delimiter=sign))]
            == [*header]
        ),
        None,
    )
    if delimiter is None or len(header) < 2:
        return None
    columns = _plain_columns(content, delimiter, len(header))
    if columns is None:
        return None
    return Table(header, columns, _Lines(2, len(columns[0])), str(path), path.stem)


def _plain_columns(content: bytes, delimiter: str, width: int) -> tuple[list[str], ...] | None:
    """Cells of each column below the header; None unless every line is plain.

    Every line has the same number of cells, and quotes stand around whole cells without quotes,
    delimiters or line breaks inside.
    """
    signs = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero((signs == ord(delimiter)) | (signs == ord("\n")))
    if ends.size % width:
        return None
    breaks = (signs[ends] == ord("\n")).reshape(-1, width)
    if not breaks[:, -1].all() or breaks[:, :-1].any() or not _quotes_whole_cells(signs, ends):
        return None
    lines = ends[width - 1 :: width] + 1  # where each line after the first begins
    columns: tuple[list[str], ...] = tuple([] for _ in range(width))
    seen: list[dict[str, str]] = [{} for _ in range(width)]
    for start in range(0, lines.size - 1, _ROWS):
        chunk = content[lines[start] : lines[min(start + _ROWS, lines.size - 1)]]
        text = chunk.decode().replace('"', "")
        cells = text.replace("\n", delimiter).split(delimiter)[:-1]
        for number, column in enumerate(columns):
            known, found = seen[number], cells[number::width]
            if len(known) < _REPEATED:
                found = [known.setdefault(cell, cell) for cell in found]
            column.extend(found)
    return columns


def _quotes_whole_cells(signs: NDArray[np.uint8], ends: NDArray[np.intp]) -> bool:
    """Whether quotes come in pairs inside each cell, at its beginning and its end."""
    quotes = np.flatnonzero(signs == ord('"'))
    if not quotes.size:
        return True
    stops = np.unique(signs[ends])
    beside = np.isin(signs[quotes - 1], stops) | np.isin(signs[quotes + 1], stops)
    pairs = np.searchsorted(quotes, ends) % 2 == 0
    return bool(beside.all() and pairs.all())
