"""Tables in text: separated by commas, semicolons or tabs, or written in Markdown."""

import csv
import io
import re
from typing import Any

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.text import unmarked_cell
from bayes_sota.data.tables import MOST_CELLS, Table, make_table

type Row = tuple[str, list[Any]]

_EMPTY = (None, "")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+( ?%)?")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_EMPHASIS = re.compile(r"^([*_]{1,3}|`)(.+)\1$")
_MARKDOWN_RULE = re.compile(r"^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*$", re.M)


def parse_delimited(text: str, where: str, name: str) -> Table:
    """Table of delimited text, with the line on which each row begins.

    The separator is the tab, the semicolon or the comma, whichever the header has, in this order.
    Titles above the header and remarks below the rows are dropped with a note.
    """
    is_markdown = _MARKDOWN_RULE.search(text[:10_000]) is not None
    rows = _markdown_rows(text) if is_markdown else _delimited_rows(text, where)
    return table_of_rows(rows, where, name)


def table_of_rows(rows: list[Row], where: str, name: str) -> Table:
    """Table of rows of cells, of which the first has the names of columns."""
    if not rows:
        raise InputError("the file is empty", where=where)
    rows, notes = _without_remarks(rows)
    (_, header), *body = rows
    for line, cells in body:
        if len(cells) != len(header):
            problem = f"has {len(cells)} cells, the header has {len(header)}"
            raise InputError(f"{line} {problem}", where=where)
    columns = list(map(list, zip(*(cells for _, cells in body), strict=True))) or [[]] * len(header)
    return make_table(header, columns, [line for line, _ in body], where, name, notes)


def _delimited_rows(text: str, where: str) -> list[Row]:
    head = _QUOTED.sub("x", text[:10_000])
    header = _header_line(head)
    separator = next((sign for sign in "\t;" if sign in header), ",")
    if (header.count(separator) + 1) * text.count("\n") > MOST_CELLS:
        raise InputError(f"has more than {MOST_CELLS:,} cells", where=where)
    may_be_marked = "'" in text
    lines = io.StringIO(text.rstrip("\r\n"), newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    rows: list[Row] = []
    start = 1
    try:
        for row in reader:
            cells = list(map(str.strip, row))
            if may_be_marked:
                cells = list(map(unmarked_cell, cells))
            if any(cells):
                rows.append((f"line {start}", cells))
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(str(error), where=where, line=f"line {reader.line_num}") from None
    if separator != ",":
        return [(line, list(map(_with_point, cells))) for line, cells in rows]
    return rows


def _header_line(head: str) -> str:
    """The first line that has a separator, else the first line."""
    lines = head.splitlines() or [""]
    return next((line for line in lines if any(sign in line for sign in "\t;,")), lines[0])


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


def _markdown_rows(text: str) -> list[Row]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not _MARKDOWN_RULE.fullmatch(line):
            cells = line.strip().removeprefix("|").removesuffix("|").split("|")
            rows.append((f"line {number}", [_EMPHASIS.sub(r"\2", cell.strip()) for cell in cells]))
    return rows


def _without_remarks(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """Rows without those at either end that hold a single piece of text."""

    def is_remark(row: Row) -> bool:
        first, *others = row[1]
        return first not in _EMPTY and all(cell in _EMPTY for cell in others)

    start = next((i for i, row in enumerate(rows) if not is_remark(row)), None)
    if start is None:
        return rows, []
    end = len(rows) - next(i for i, row in enumerate(reversed(rows)) if not is_remark(row))
    remarks = rows[:start] + rows[end:]
    return rows[start:end], [f"dropped {line}: {quoted(cells[0])}" for line, cells in remarks]
