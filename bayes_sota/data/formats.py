"""Tables in text: separated by commas, semicolons or tabs, in Markdown, or in JSON.

JSON may be records, columns, an object per row, or lines of records; numbers keep their digits.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Sized
from dataclasses import replace
from itertools import product
from typing import Any

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.text import unmarked_cell
from bayes_sota.data.tables import LINK, MOST_CELLS, NOTHING, Table, make_table, parse_cell
from bayes_sota.data.words import is_role_word, place_in

type Row = tuple[str, list[Any]]  # where it stands, and its cells
type Record = dict[str, Any]

_EMPTY = (None, "")
_DECIMAL_COMMA = re.compile(r"^([-+]?\d+),(\d+(?: ?%)?)$")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_EMPHASIS = re.compile(r"^([*_]{1,3}|`)(.+)\1$")
_MARKDOWN_RULE = re.compile(r"^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*$", re.M)


def decoded(data: bytes, where: str) -> str:
    """Text in UTF-8, or in UTF-16 with its mark."""
    is_wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    start = -1 if is_wide else data.find(b"\0")
    try:
        if start < 0:
            return data.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        start = error.start
    line = f"line {data.count(b'\n', 0, start) + 1}"
    raise InputError("is not UTF-8 text", where=where, line=line, fix="save it as UTF-8 text")


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
    if body and all(len(cells) == len(header) + 1 and cells[-1] for _, cells in body):
        header = ["", *header]  # R writes no name above the names of rows
    for line, cells in body:
        if len(cells) != len(header):
            problem = f"has {len(cells)} cells, the header has {len(header)}"
            raise InputError(f"{line} {problem}", where=where)
    columns = list(map(list, zip(*(cells for _, cells in body), strict=True))) or [[]] * len(header)
    return make_table(header, columns, [line for line, _ in body], where, name, notes)


def _delimited_rows(text: str, where: str) -> list[Row]:
    head = _QUOTED.sub("x", text[:10_000]).splitlines() or [""]
    header = next((line for line in head if any(sign in line for sign in "\t;,")), head[0])
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
    if separator == ",":
        return rows
    return [(line, [_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in cells]) for line, cells in rows]


def _markdown_rows(text: str) -> list[Row]:
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not _MARKDOWN_RULE.fullmatch(line):
            cells = line.strip().removeprefix("|").removesuffix("|").split("|")
            plain = [_EMPHASIS.sub(r"\2", LINK.sub(r"\1", cell.strip())) for cell in cells]
            rows.append((f"line {number}", plain))
    return rows


def _without_remarks(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """Rows without those at either end that hold a single piece of text."""

    alone = [
        cells[0] not in _EMPTY and all(cell in _EMPTY for cell in cells[1:]) for _, cells in rows
    ]
    if all(alone):
        return rows, []
    start, end = alone.index(False), len(rows) - alone[::-1].index(False)
    remarks = rows[:start] + rows[end:]
    return rows[start:end], [f"dropped {line}: {quoted(cells[0])}" for line, cells in remarks]


_ESCAPE = re.compile(  # a pair is one character, half of it is none
    r"\\\\|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|(?P<half>\\u[dD][89a-fA-F]\w\w)"
)


def parse_json(text: str, where: str) -> tuple[Any, list[str]]:
    """Value of JSON; of JSON lines, the list of values and the line of each."""
    try:
        return load_json(text, where), []
    except InputError as error:
        if not error.problem.endswith("Extra data"):
            raise
    filled = {f"line {i}": line for i, line in enumerate(text.split("\n"), 1) if line.strip()}
    return [load_json(line, where, place) for place, line in filled.items()], list(filled)


def load_json(text: str, where: str, line: str = "") -> Any:
    """One value, with numbers as typed; half of a character becomes U+FFFD."""
    text = _ESCAPE.sub(lambda found: r"\ufffd" if found["half"] else found[0], text)
    try:
        return json.loads(
            text, parse_float=str, parse_constant=str, object_pairs_hook=_with_unique_keys
        )
    except json.JSONDecodeError as error:
        problem, line = error.msg, line or f"line {error.lineno}"
    except (RecursionError, ValueError) as error:
        problem = str(error)
    raise InputError(f"is not JSON: {problem}", where=where, line=line)


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(repeated, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"{quoted(repeated)} occurs twice in one object")
    return found


def table_of_json(value: Any, places: Sequence[str], where: str, name: str) -> Table:
    """Table of parsed JSON, or of the values of JSON lines, which have places."""
    solved = [] if isinstance(value, list) else _of_solved(value)
    rows = [_flattened(row) for row in solved or _records(value)]
    if not rows:
        shapes = "a list of records, an object of columns, an object per row, a record per line"
        raise InputError(f"this JSON is not a table; {shapes} are read", where=where)
    table = table_of_records(rows, list(places) or record_places(rows), where, name)
    note = "items that no entry solved are not in this file"
    return replace(table, notes=(note,)) if solved else table


def record_places(records: Sized) -> list[str]:
    """Where records stand that are not lines."""
    return [f"record {number}" for number in range(1, len(records) + 1)]


def table_of_records(rows: Sequence[Record], places: list[str], where: str, name: str) -> Table:
    """Table with a column for each key of some record."""
    header = dict.fromkeys(title for row in rows for title in row)
    columns = [[row.get(title) for row in rows] for title in header]
    return make_table(header, columns, places, where, name)


def _records(value: Any) -> list[Record]:
    """Records of whatever shape people and pandas write; none where there are none."""
    if isinstance(value, list):
        if len(value) > 1 and _all_are(list, value):
            return _of_rows(value[0], value[1:])
        return value if _all_are(dict, value) else []
    for header, rows in product(("columns", "header"), ("data", "rows")):
        if isinstance(value.get(header), list) and isinstance(value.get(rows), list):
            return _of_rows(value[header], value[rows], value.get("index", ()))
    inner = list(value.values())
    if _all_are(dict, inner):
        return _of_objects(value)
    tables = [part for part in inner if isinstance(part, list) and part and _all_are(dict, part)]
    tables = [part for part in tables if any(map(is_number, part[0].values()))] or tables
    if len(tables) == 1:
        return tables[0]
    are_columns = _all_are(list, inner) and len(set(map(len, inner))) == 1
    if are_columns and any(map(is_role_word, value)):
        return _of_rows(list(value), list(map(list, zip(*inner, strict=True))))
    if any(isinstance(part, dict | list) for part in inner):
        return []
    return [{"name": name, "score": score} for name, score in value.items()]


def is_number(cell: Any) -> bool:
    """Whether a cell holds a number."""
    return parse_cell(cell) not in (None, NOTHING)


def _all_are(kind: Any, values: Iterable[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)


def _of_rows(header: list[Any], rows: list[Any], index: Any = ()) -> list[Record]:
    """Records of rows below a header, each with its label where these are no numbers."""
    titles = [str(_bare(title)) for title in header]
    are_alike = _all_are(list, rows) and {len(row) for row in rows} == {len(titles)}
    if not are_alike or len(set(titles)) < len(titles):
        return []
    records = [dict(zip(titles, map(_bare, row), strict=True)) for row in rows]
    if not isinstance(index, list) or len(index) != len(rows) or _all_are(int, index):
        return records
    return [{"": label, **record} for label, record in zip(index, records, strict=True)]


def _bare(cell: Any) -> Any:
    """What stands in a cell, which may be an object with its value."""
    return cell.get("value") if isinstance(cell, dict) else cell


def _of_objects(value: dict[str, Record]) -> list[Record]:
    """Records of ``{column: {row: cell}}`` where the outer keys name roles, else ``{row: {}}``."""
    labels = list(dict.fromkeys(label for part in value.values() for label in part))
    numbered = all(label.isdigit() for label in labels)
    if numbered or any(map(is_role_word, value)):
        value = {label: {title: of.get(label) for title, of in value.items()} for label in labels}
    return [row if numbered else {"": label, **row} for label, row in value.items()]


def _of_solved(value: dict[str, Any]) -> list[Record]:
    """Answers to items, 1 where an item is in the list that an entry solved; of other JSON none."""
    reports = [part if isinstance(part, dict) else {"solved": part} for part in value.values()]
    keys = [key for key in dict(*reports[:1]) if place_in("score", key) is not None]
    keys = [key for key in keys if all(isinstance(of.get(key), list) for of in reports)]
    lists = [part for of in reports for part in of.values() if isinstance(part, list)]
    ids = [item for part in lists for item in part]
    are_names = _all_are(str | int, ids) and not any("." in str(x) and is_number(x) for x in ids)
    if len(keys) != 1 or len(value) < 2 or not are_names or any(map(is_role_word, value)):
        return []
    solved = {name: set(map(str, of[keys[0]])) for name, of in zip(value, reports, strict=True)}
    return [
        {"item": item} | {name: int(item in of) for name, of in solved.items()}
        for item in dict.fromkeys(map(str, ids))
    ]


def _flattened(row: Record) -> Record:
    """Record without objects inside: their keys become columns, with a prefix where they clash."""
    flat: Record = {}
    for title, cell in row.items():
        if not isinstance(cell, dict):
            flat[title] = cell
            continue
        for inner, value in cell.items():
            flat[f"{title}.{inner}" if inner in row or inner in flat else inner] = value
    return {
        name: str(cell) if isinstance(cell, list | dict) else cell for name, cell in flat.items()
    }
