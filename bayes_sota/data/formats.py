"""Tables in text: separated by commas, semicolons or tabs, in Markdown, or in JSON.

JSON may be a list of records, lines of them, or a record per name; numbers keep their digits.
"""

import csv
import io
import json
import re
from collections.abc import Sequence, Sized
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.text import unmarked_cell
from bayes_sota.data.tables import LINK, NOTHING, Table, make_table, parse_cell

type Row = tuple[str, list[Any]]  # where it stands, and its cells
type Record = dict[str, Any]

_WIDE = (b"\xff\xfe", b"\xfe\xff")
_EMPTY = (None, "")
_MOST_CELLS = 10_000_000  # which take some seconds and a gigabyte
_WITH_POINT = partial(re.compile(r"^([-+]?\d+),(\d+(?: ?%)?)$").sub, r"\1.\2")  # for a comma
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_TAG = re.compile(r"<[/a-z][^<>]*>")
_EMPHASIS = re.compile(r"^([*_]{1,3}|`)(.+)\1$")
_MARKDOWN_RULE = re.compile(r"^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*$", re.M)


def decoded(data: bytes) -> str:
    """Text in UTF-8, or in UTF-16 with its mark."""
    try:
        return data.decode("utf-16" if data[:2] in _WIDE else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = f"line {data.count(b'\n', 0, error.start) + 1}"
        raise InputError("is not UTF-8 text", line=line, fix="save it as UTF-8 text") from None


def table_of_rows(rows: Sequence[Row], notes: Sequence[str] = (), **source: str) -> Table:
    """Table of rows of cells, of which the first has the names of columns.

    Titles above it and remarks below the rows, of one cell of text each, are dropped with a note.
    """
    alone = [parse_cell(of[0]) is None and all(c in _EMPTY for c in of[1:]) for _, of in rows]
    if not all(alone) and max(len(cells) for _, cells in rows) > 1:
        start, end = alone.index(False), len(rows) - alone[::-1].index(False)
        remarks = [*rows[:start], *rows[end:]]
        notes = [*notes, *(f"dropped {line}: {quoted(cells[0])}" for line, cells in remarks)]
        rows = rows[start:end]
    if not rows:
        raise InputError("the file is empty")
    (_, header), *body = rows
    if body and all(len(cells) == len(header) + 1 and cells[-1] for _, cells in body):
        header = ["", *header]  # R writes no name above the names of rows
    for line, cells in body:
        if len(cells) != len(header):
            raise InputError(f"{line} has {len(cells)} cells, the header has {len(header)}")
    columns = list(map(list, zip(*(cells for _, cells in body), strict=True))) or [[]] * len(header)
    lines, titled = [line for line, _ in body], zip(header, columns, strict=True)
    return make_table(titled, lines, notes=tuple(notes), **source)


def rows_of_text(text: str) -> list[Row]:
    """Rows of delimited text or Markdown, with the line on which each begins.

    The separator is the first of the tab, the semicolon, the comma and "|" that the header has.
    """
    if _MARKDOWN_RULE.search(text[:10_000]):
        return _markdown_rows(text)
    head = _QUOTED.sub("x", text[:10_000]).splitlines()
    header = next((line for line in head if re.search("[\t;,|]", line)), "")
    separator = next((sign for sign in "\t;,|" if sign in header), ",")
    if (header.count(separator) + 1) * text.count("\n") > _MOST_CELLS:
        raise InputError(f"has more than {_MOST_CELLS:,} cells")
    lines = io.StringIO(text.rstrip("\r\n"), newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    rows: list[Row] = []
    start = 1
    try:
        for cells in reader:
            cells = [unmarked_cell(cell.strip()) for cell in cells]
            if separator != ",":
                cells = list(map(_WITH_POINT, cells))
            if any(cells):
                rows.append((f"line {start}", cells))
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(str(error), line=f"line {reader.line_num}") from None
    return rows


def _markdown_rows(text: str) -> list[Row]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not _MARKDOWN_RULE.fullmatch(line):
            cells = line.strip().removeprefix("|").removesuffix("|").split("|")
            cells = [_TAG.sub(" ", LINK.sub(r"\1", cell)).strip() for cell in cells]
            plain = [_EMPHASIS.sub(r"\2", cell) for cell in cells]
            rows.append((f"line {number}", plain))
    return rows


_FILLED = re.compile(r"\S")


def parse_json(text: str) -> tuple[Any, list[str]]:
    """Value of JSON, with numbers as typed; of JSON lines, the values and the line of each."""
    text, values, starts, end = text.rstrip(), [], [0], 0
    try:
        while begin := _FILLED.search(text, end):
            starts.append(begin.start())
            value, end = _DECODER.raw_decode(text, starts[-1])
            values.append(value)
    except (RecursionError, ValueError) as error:
        number = getattr(error, "lineno", text.count("\n", 0, starts[-1]) + 1)
        problem = f"is not JSON: {getattr(error, 'msg', error)}"
        raise InputError(problem, line=f"line {number}") from None
    if len(values) == 1:
        return values[0], []
    above = accumulate(text.count("\n", *ends) for ends in pairwise(starts))
    return values, [f"line {number + 1}" for number in above]


def _unique_keys(pairs: list[tuple[str, Any]]) -> Record:
    if len(found := dict(pairs)) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{quoted(max(keys, key=keys.count))} occurs twice in one object")
    return found


_DECODER = json.JSONDecoder(parse_float=str, parse_constant=str, object_pairs_hook=_unique_keys)


def rows_of_json(value: Any, places: Sequence[str]) -> list[Row]:
    """Rows of parsed JSON, or of the values of JSON lines, which have places."""
    records = _records(value)
    if not (records and all(isinstance(row, dict) for row in records)):
        fix = 'write a list of records (orient="records" of pandas), or a record per line or name'
        raise InputError("this JSON is not a table", fix=fix)
    return rows_of_records(records, places or places_of(records))


def places_of(records: Sized) -> list[str]:
    """Where records stand that are not lines."""
    return [f"record {number}" for number in range(1, len(records) + 1)]


def rows_of_records(records: Sequence[Record], places: Sequence[str]) -> list[Row]:
    """Header and rows, with a column for each key of any record."""
    header = list(dict.fromkeys(title for row in records for title in row))
    cells = (list(map(row.get, header)) for row in records)
    return [("header", header), *zip(places, cells, strict=True)]


def _records(value: Any) -> list[Any]:
    """Records of a list, or of an object that has a record or a score for each name."""
    if isinstance(value, list):
        return value
    if all(isinstance(row, dict) for row in value.values()):
        is_numbered = all(title.isdigit() for row in value.values() for title in row)
        return [] if is_numbered else [{"": name, **row} for name, row in value.items()]
    if any(isinstance(part, dict | list) for part in value.values()):
        return []
    return [{"name": name, "score": score} for name, score in value.items()]


def is_number(cell: Any) -> bool:
    """Whether a cell holds a number."""
    return parse_cell(cell) not in (None, NOTHING)
