"""Tables in text: separated by commas, semicolons or tabs, in Markdown, or in JSON.

JSON may be records, columns, an object per row, or lines of records; numbers keep their digits.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.text import unmarked_cell
from bayes_sota.data.tables import MOST_CELLS, NOTHING, Table, make_table, parse_cell
from bayes_sota.data.words import is_role_word, place_in

type Row = tuple[str, list[Any]]

_EMPTY = (None, "")
_DECIMAL_COMMA = re.compile(r"^([-+]?\d+),(\d+(?: ?%)?)$")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
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
            plain = [_EMPHASIS.sub(r"\2", _LINK.sub(r"\1", cell.strip())) for cell in cells]
            rows.append((f"line {number}", plain))
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


_ESCAPE = re.compile(  # a pair is one character, half of it is none
    r"\\\\|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|(?P<half>\\u[dD][89a-fA-F]\w\w)"
)
_SHAPES = (
    "a list of records, an object of columns, an object per row, or one record per line are read"
)


def table_of_json(value: Any, places: Sequence[str], where: str, name: str) -> Table:
    """Table of parsed JSON, or of the values of JSON lines, which have places."""
    are_lists = _are_lists_of_solved(value)
    notes = ["items that no entry solved are not in this file"] * are_lists
    rows = _of_solved(value, value.values()) if are_lists else _rows(value)
    if not rows:
        raise InputError(f"this JSON is not a table; {_SHAPES}", where=where)
    lines = list(places) or [f"record {number}" for number in range(1, len(rows) + 1)]
    flat = [_flattened(row) for row in rows]
    header = list(dict.fromkeys(title for row in flat for title in row))
    columns = [[row.get(title) for row in flat] for title in header]
    return make_table(header, columns, lines, where, name, notes)


def parse_json(text: str, where: str) -> tuple[Any, list[str]]:
    """Value of JSON; of JSON lines, the list of values and the line of each."""
    try:
        return _loads(text), []
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            line = f"line {error.lineno}" if error.doc else ""
            raise InputError(f"is not JSON: {error.msg}", where=where, line=line) from None
    filled = {f"line {i}": line for i, line in enumerate(text.split("\n"), 1) if line.strip()}
    return [load_json(line, where, place) for place, line in filled.items()], list(filled)


def load_json(text: str, where: str, line: str) -> Any:
    """One value, with numbers as typed."""
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", where=where, line=line) from None


def _loads(text: str) -> Any:
    """Parsed JSON, with numbers as typed; half of a character becomes U+FFFD."""
    text = _ESCAPE.sub(lambda found: r"\ufffd" if found["half"] else found[0], text)
    try:
        return json.loads(
            text, parse_float=str, parse_constant=str, object_pairs_hook=_with_unique_keys
        )
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", "", 0) from None
    except ValueError:
        raise json.JSONDecodeError("a number with too many digits", "", 0) from None


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise json.JSONDecodeError(f"{quoted(repeated)} occurs twice in one object", "", 0)
    return found


def _rows(value: Any) -> list[dict[str, Any]]:
    """Records of whatever shape people and pandas write; none where there are none."""
    if isinstance(value, list):
        if len(value) > 1 and _all_are(list, value):
            return [dict(zip(map(str, value[0]), row, strict=False)) for row in value[1:]]
        return value if _all_are(dict, value) else []
    if not isinstance(value, dict) or not value:
        return []
    for header, rows in (("columns", "data"), ("columns", "rows"), ("header", "rows")):
        if isinstance(value.get(header), list) and isinstance(value.get(rows), list):
            return _of_split(value[header], value[rows], value.get("index"))
    inner = list(value.values())
    if _all_are(dict, inner):
        return _of_reports(value) or _of_objects(value)
    tables = [part for part in inner if isinstance(part, list) and part and _all_are(dict, part)]
    tables = [part for part in tables if any(map(_is_number, part[0].values()))] or tables
    if len(tables) == 1:
        return tables[0]
    if any(map(is_role_word, value)) and _all_are(list, inner) and len(set(map(len, inner))) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)]
    if any(isinstance(part, dict | list) for part in inner):
        return []
    return [{"name": name, "score": score} for name, score in value.items()]


def _is_number(cell: Any) -> bool:
    return parse_cell(cell) not in (None, NOTHING)


def _all_are(kind: type, values: Iterable[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)


def _of_split(header: list[Any], data: list[Any], index: Any) -> list[dict[str, Any]]:
    """Rows of pandas' orient "split", and of whatever else lists cells below a header."""
    titles = [str(_bare(title)) for title in header]
    if not _all_are(list, data) or any(len(row) != len(titles) for row in data):
        return []
    rows = [dict(zip(titles, map(_bare, row), strict=True)) for row in data]
    if not isinstance(index, list) or _all_are(int, index):
        return rows
    return [{"": label, **row} for label, row in zip(index, rows, strict=True)]


def _bare(cell: Any) -> Any:
    """What stands in a cell, which may be an object with its value."""
    return cell.get("value") if isinstance(cell, dict) else cell


def _of_objects(value: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of ``{column: {row: cell}}`` where the outer keys name roles, else ``{row: {...}}``."""
    labels = list(dict.fromkeys(label for part in value.values() for label in part))
    numbered = all(label.isdigit() for label in labels)
    if numbered or any(map(is_role_word, value)):
        value = {label: {title: of.get(label) for title, of in value.items()} for label in labels}
    return [row if numbered else {"": label, **row} for label, row in value.items()]


def _are_lists_of_solved(value: Any) -> bool:
    """Whether several entries, none called like a role, have a list of names each."""
    if not isinstance(value, dict) or len(value) < 2 or not _all_are(list, value.values()):
        return False
    cells = [cell for part in value.values() for cell in part]
    are_names = not any(isinstance(cell, dict | list) for cell in cells)
    return bool(cells) and are_names and not any(map(is_role_word, value))


def _of_reports(reports: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers of reports of each entry, of which one list holds the solved items."""
    keys = [key for key in next(iter(reports.values()), {}) if place_in("score", key) is not None]
    lists: list[dict[str, Any]] = [
        {name: report.get(key) for name, report in reports.items()} for key in keys
    ]
    lists = [solved for solved in lists if _all_are(list, solved.values())]
    cells = [cell for report in reports.values() for cell in report.values()]
    every = [cell for cell in cells if isinstance(cell, list)]
    return _of_solved(lists[0], every) if len(lists) == 1 else []


def _of_solved(lists: dict[str, list[Any]], every: Iterable[list[Any]]) -> list[dict[str, Any]]:
    """Answers of each entry to all items, 1 where the item is in its list."""
    solved = {name: set(map(str, ids)) for name, ids in lists.items()}
    items = dict.fromkeys(str(item) for ids in every for item in ids)
    return [
        {"item": item} | {name: int(item in ids) for name, ids in solved.items()} for item in items
    ]


def _flattened(row: dict[str, Any]) -> dict[str, Any]:
    """Record without objects inside: their keys become columns, with a prefix where they clash."""
    flat: dict[str, Any] = {}
    for title, cell in row.items():
        if not isinstance(cell, dict):
            flat[title] = cell
            continue
        for inner, value in cell.items():
            flat[f"{title}.{inner}" if inner in row or inner in flat else inner] = value
    return flat
