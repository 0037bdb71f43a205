"""Delimited text to a table: comma, semicolon or tab, quoted or not, with a header line."""

import csv
import io
from collections.abc import Iterator

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown, unmarked_cell
from bayes_sota.data.files.content import check_text
from bayes_sota.data.files.tables import Table

_DELIMITERS = ",;\t"
_HEAD = 1_000_000  # bytes that decide about the delimiter


def parse_delimited(data: bytes, where: str, stem: str = "") -> Table:
    """Table of a delimited text; the delimiter is the one that its header line has most of.

    Examples
    --------
    >>> parse_delimited(b"team;score\\nA;0.9\\n", "board.csv").header
    ('team', 'score')
    """
    check_text(data, where)
    rows = delimited_rows(data, where)
    _, first = next(rows, (0, []))
    if not first:
        raise InputError(f"{where}: the file is empty")
    header = tuple(cell.strip() for cell in first)
    columns: tuple[list[str], ...] = tuple([] for _ in header)
    places = []
    for line, row in rows:
        if len(row) != len(header):
            cells = shown(",".join(row[:20]))
            raise InputError(
                f"{where}: line {line} has {len(row)} cells, the header has {len(header)}: {cells}"
            )
        for column, cell in zip(columns, row, strict=True):
            column.append(cell)
        places.append(f"line {line}")
    return Table(header, columns, places, where, stem)


def delimited_rows(data: bytes, where: str) -> Iterator[tuple[int, list[str]]]:
    """Number of the first line and cells of each row that is not blank."""
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")
    has_marks = b"'" in data
    before = 0  # last line of the row before
    reader = csv.reader(text, delimiter=_sniffed(data), strict=True)
    try:
        for row in reader:
            line, before = before + 1, reader.line_num
            if len(row) > 1 or (row and row[0].strip()):
                yield line, [unmarked_cell(cell) for cell in row] if has_marks else row
    except csv.Error as error:
        raise InputError(f"{where}: line {reader.line_num}: {error}") from None


def _sniffed(data: bytes) -> str:
    head = data[:_HEAD].decode("utf-8", "ignore")
    first = next((line for line in head.splitlines() if line.strip("\ufeff \t")), "")
    bare = "".join(first.split('"')[::2])  # what stands outside quotes
    return max(_DELIMITERS, key=bare.count)
