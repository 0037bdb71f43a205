"""Delimited text to a table: comma, semicolon or tab, quoted or not, with a header line."""

import csv
import io
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown, unmarked_cell
from bayes_sota.data.files import tables
from bayes_sota.data.files.content import check_text
from bayes_sota.data.files.tables import Table

_DELIMITERS = ",;\t"
_HEAD = 1_000_000  # bytes that decide about the delimiter
_WIDEST = 1_000_000  # delimiters of one row, in quotes or not, that are looked at
_AT_A_TIME = 400_000  # cells; in lists of rows they take several times what columns take
_SHARED = 200_000  # different cells that are kept once only


class _Lines(Sequence[str]):
    """Numbers of lines as places for messages."""

    def __init__(self, numbers: "array[int]") -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [f"line {line}" for line in self._numbers[index]]
        return f"line {self._numbers[index]}"


def parse_delimited(data: bytes, where: str, delimiter: str | None = None, stem: str = "") -> Table:
    """Table of a delimited text; the delimiter is the one that its header line has most of.

    Examples
    --------
    >>> parse_delimited(b"team;score\\nA;0.9\\n", "board.csv").header
    ('team', 'score')
    """
    check_text(data, where)
    tables.check_shape(data.count(b"\n") - 2, 1, where)  # lines, of which rows have one or more
    rows = delimited_rows(data, where, delimiter)
    _, first = next(rows, (0, []))
    if not first:
        raise InputError(f"{where}: the file is empty")
    header = tuple(cell.strip() for cell in first)
    tables.check_shape(0, len(header), where)
    columns, lines = _Columns(len(header), where), array("L")
    kept: list[list[str]] = []
    for line, row in rows:
        if len(row) != len(header):
            cells = shown((delimiter or ",").join(row[:20]))
            raise InputError(
                f"{where}: line {line} has {len(row)} cells, the header has {len(header)}: {cells}"
            )
        kept.append(row)
        lines.append(line)
        if len(kept) * len(header) >= _AT_A_TIME:
            columns.extend(kept)
            kept = []
    columns.extend(kept)
    return Table(header, columns.cells, _Lines(lines), where, stem)


def delimited_rows(
    data: bytes, where: str, delimiter: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Number of the first line and cells of each row that is not blank."""
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")
    sign, has_marks = delimiter or _sniffed(data), b"'" in data
    pending = before = 0  # delimiters since the last row, and its last line

    def limited() -> Iterator[str]:
        """Lines; a row with far too many cells is refused before it is built."""
        nonlocal pending
        for line in text:
            pending += line.count(sign)
            if pending > _WIDEST:
                tables.check_shape(0, pending, where)
            yield line

    reader = csv.reader(limited(), delimiter=sign, strict=True)
    try:
        for row in reader:
            line, before = before + 1, reader.line_num
            pending = 0
            if len(row) > 1 or (row and row[0].strip()):
                yield line, [unmarked_cell(cell) for cell in row] if has_marks else row
    except csv.Error as error:
        raise InputError(f"{where}: line {reader.line_num}: {error}") from None


class _Columns:
    """Columns that grow by some rows at a time; equal cells are kept once."""

    def __init__(self, width: int, where: str) -> None:
        self.cells: tuple[list[str], ...] = tuple([] for _ in range(width))
        self._known: dict[str, str] = {}
        self._further = 0
        self._where = where

    def extend(self, rows: Sequence[Sequence[str]]) -> None:
        """Append rows."""
        known = self._known
        for column, cells in zip(self.cells, zip(*rows, strict=True), strict=False):
            if len(known) < _SHARED:
                column.extend(map(known.setdefault, cells, cells))
            else:
                self._further += len(set(cells).difference(known))
                column.extend(map(known.get, cells, cells))
        tables.check_shape(len(self.cells[0]), len(self.cells), self._where)
        if len(known) + self._further > tables.MAX_DIFFERENT:
            raise InputError(
                f"{self._where}: more than {tables.MAX_DIFFERENT:,} different cells, which is the "
                "limit"
            )


def _sniffed(data: bytes) -> str:
    head = data[:_HEAD].decode("utf-8", "ignore")
    first = next((line for line in head.splitlines() if line.strip("\ufeff \t")), "")
    bare = "".join(first.split('"')[::2])  # what stands outside quotes
    return max(_DELIMITERS, key=bare.count)
