"""A table as it was read: columns of cells, and where each row stands.

Numbers are as people print them: 91.2 %, 0.95 ± 0.02, 0.95 (0.02), **0.95**. JSON is a list of
records, lines of them, or a record per name.
"""

import csv
import io
import json
import re
import shlex
from collections.abc import Hashable, Iterable, Sequence, Sized
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from bayes_sota.core.errors import MOST_LISTED, InputError, listed, quoted
from bayes_sota.core.text import nearest, unmarked_cell
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.printed_scores import LARGEST_NUMBER, MISSING
from bayes_sota.data.words import NAMELESS, UNITS, is_role_word, key

_ANSWERS = dict.fromkeys(("true", "right", "correct", "yes", "pass", "✓", "✔"), "1")
_ANSWERS |= dict.fromkeys(("false", "wrong", "incorrect", "no", "fail", "✗", "✘"), "0")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")  # of Markdown, also in cells of other files
_MARKS = " *†‡§$_"  # bold, footnotes
_DIGITS = r"[-+]?(?:\d{1,3}(?:,\d{3})+\.\d+|\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?"
_SPREAD = rf"(?:±|\+/-|\\pm)\s*({_DIGITS})(\s?%)?|\(\s*±?\s*(\d*\.\d+)\s*\)"
_PRINTED = re.compile(rf"({_DIGITS})(\s?%)?[{_MARKS}]*(?:{_SPREAD}|\(\d+\))?", re.ASCII)
_PLAIN = re.compile(r"\d{1,9}(?:\.\d{1,30})?", re.ASCII)  # as most are, which is faster
_BEGINS = re.compile(rf"[{_MARKS}]*{_DIGITS}\s?%?\s?[(\[;±]\s?(?:CI|[-+.\d])")
_SPLIT = "write the number alone, its interval in other columns, or choose others with --use A,B"
_THOUSANDS = re.compile(r"(?<=\d)[,'\s](?=\d{3}\b)")
_POINT = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_LONGEST = 100  # characters of a number


class Printed(NamedTuple):
    """A number as printed."""

    value: float
    error: float = np.nan
    text: str = ""


NOTHING = Printed(np.nan)


def parse_cell(cell: Any) -> Printed | None:
    """Number in a cell, ``NOTHING`` where the cell is empty, None where it is text."""
    if cell is None or cell != cell:
        return NOTHING
    if isinstance(cell, str) and _PLAIN.fullmatch(cell):
        return Printed(float(cell), np.nan, cell)
    text = str(cell).strip(_MARKS + "\t\r\n").replace("−", "-")
    if text.lower() in MISSING:
        return NOTHING
    found = _PRINTED.fullmatch(_ANSWERS.get(text.lower(), text)) if len(text) < _LONGEST else None
    if not found:
        return None
    parts = [part.replace(",", "") for part in found.groups("")]
    number, error = parts[0], parts[2] or parts[4] or "nan"
    if parts[3] and not parts[1] and float(number) <= 1:
        return None  # 0.86 ± 2% is 86 % or 0.86 %
    if parts[1] or parts[3]:
        number, error = (str(Decimal(of).scaleb(-2)) for of in (number, error))
    printed = Printed(float(number), float(error), number)
    return printed if max(abs(printed.value), abs(printed.error)) <= LARGEST_NUMBER else None


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of a column, (n_rows,): NaN where a cell is empty, and at ``bad`` rows, of text."""

    value: FloatArray
    error: FloatArray
    texts: list[str]
    bad: list[int]

    @property
    def is_numeric(self) -> bool:
        """Whether most cells hold numbers."""
        return int(np.isfinite(self.value).sum()) > len(self.bad)


def parse_numbers(cells: Sequence[Any]) -> Numbers:
    """Numbers of cells; equal cells are parsed once."""
    different, codes = first_seen(cells)
    parsed = list(map(parse_cell, different))
    value, error, texts = zip(*(number or NOTHING for number in parsed), strict=True)
    bad = np.flatnonzero(np.array([number is None for number in parsed])[codes]).tolist()
    every = np.array(texts, object)[codes].tolist()
    return Numbers(np.array(value)[codes], np.array(error)[codes], every, bad)


def first_seen(values: Sequence[Any]) -> tuple[list[Any], IntArray]:
    """Different values in order of appearance, and which one each is."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return list(places), np.fromiter(map(places.__getitem__, values), np.intp, len(values))


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """Place, name and notes of data that were read; ``origin`` is the tool that wrote a log."""

    where: str
    name: str
    notes: tuple[str, ...] = ()
    origin: str = ""
    n_files: int = 1

    @property
    def about(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(Source)}

    def error(self, problem: str, parameter: str = "", fix: str = "", line: str = "") -> InputError:
        """Error with its place; the default fix asks for a column."""
        fix = fix or "say which with {option}" * bool(parameter)
        return InputError(problem, where=self.where, line=line, parameter=parameter, fix=fix)


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(Source):
    """Columns of cells as typed; ``lines`` says where each row stands."""

    columns: dict[str, list[Any]]
    lines: list[str]
    _parsed: dict[str, Numbers] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.lines)

    def take(self, rows: Sequence[int], *notes: str) -> "Table":
        kept = {name: [cells[i] for i in rows] for name, cells in self.columns.items()}
        lines = [self.lines[i] for i in rows]
        return replace(self, columns=kept, lines=lines, notes=(*self.notes, *notes))

    def find(self, wanted: str, parameter: str) -> str:
        """Name of the column that a user asked for, in any case."""
        alike = [name for name in self.columns if key(name) == key(wanted)]
        if wanted in self.columns or len(alike) == 1:
            return wanted if wanted in self.columns else alike[0]
        there = f"{listed(self.columns)}{nearest(wanted, self.columns)}"
        problem = f"there is no column {quoted(wanted)}; the columns are {there}"
        raise InputError(problem, where=self.where, parameter=parameter)

    def names(self, column: str, may_miss: bool = False) -> Any:
        """Names in a column, (n_rows,) objects; an empty one is an error."""
        names = list(map(_name_of, self.columns[column]))
        if "" in names and not may_miss:
            empty = [row for row, name in enumerate(names) if not name]
            raise self.bad_cells(column, empty, "a name is needed")
        return np.array(names, object)

    def parsed(self, column: str) -> Numbers:
        if column not in self._parsed:
            cells = self.columns[column]
            if is_role_word(column, "n", "runs", "submissions", "count"):  # whole numbers
                cells = [_whole_number(of) if isinstance(of, str) else of for of in cells]
            self._parsed[column] = parse_numbers(cells)
        return self._parsed[column]

    def printed(self, column: str) -> Numbers:
        """Numbers of a column without text."""
        numbers = self.parsed(column)
        if numbers.bad:
            fix = _SPLIT if self.holds_more(column) else ""
            raise self.bad_cells(column, numbers.bad, "a number is needed", fix)
        return numbers

    def holds_more(self, column: str) -> bool:
        """Whether cells of text begin with numbers, such as 0.91 (0.88-0.94)."""
        cells = self.columns[column]
        return any(_BEGINS.match(str(cells[row])) for row in self.parsed(column).bad)

    def numbers(self, column: str) -> FloatArray:
        """Numbers of a column, NaN where a cell is empty."""
        return self.printed(column).value

    def first_text(self) -> str:
        """First column of text, or the first of all."""
        texts = [name for name in self.columns if not self.parsed(name).is_numeric]
        return [*texts, *self.columns][0]

    def bad_cells(self, column: str, rows: list[int], problem: str, fix: str = "") -> InputError:
        """Error at the first of some cells; up to ten are named."""
        cells = ["" if cell is None else cell for cell in self.columns[column]]
        problem += f", got {quoted(cells[rows[0]])}"
        problem += "".join(f", {self.lines[i]} has {quoted(cells[i])}" for i in rows[1:MOST_LISTED])
        problem += f" ({len(rows)} in all)" * (len(rows) > MOST_LISTED)
        line = self.lines[rows[0]]
        return InputError(problem, where=self.where, line=line, column=column, fix=fix)


def of_several(parts: Sequence[Any]) -> dict[str, Any]:
    """Fields of several tables below each other."""
    return {
        "where": f"{len(parts)} files",
        "lines": [f"{of.where}, {line}" for of in parts for line in of.lines],
        "notes": tuple(dict.fromkeys(note for of in parts for note in of.notes)),
        "n_files": len(parts),
    }


def _name_of(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    name = _plain(cell)
    return LINK.sub(r"\1", name) if "](" in name else name


def _plain(text: object) -> str:
    return str(text).strip().encode("utf-8", "replace").decode("utf-8")


def make_table(titled: Iterable[tuple[Any, list[Any]]], lines: list[str], **source: Any) -> Table:
    """Table without empty, nameless columns; the names of the others must differ."""
    kept: dict[str, list[Any]] = {}
    for place, (title, cells) in enumerate(titled, 1):
        plain = "" if title is None else _plain(title)
        if not plain and all(cell in (None, "") for cell in cells):
            continue
        plain = plain or f"column {place}" * ("" in kept)
        if plain in kept:
            raise InputError(f"several columns are called {quoted(plain)}")
        kept[plain] = [cell if isinstance(cell, Hashable) else str(cell) for cell in cells]
    if not lines or not kept:
        dropped = "".join(f"; {note}" for note in source.get("notes", ()))
        raise InputError(f"the table has no {'rows' if kept else 'columns'}{dropped}")
    return Table(columns=kept, lines=lines, **source)


def leaving_out(names: list[str]) -> str:
    """Option that leaves out some names, in the shell and in Python."""
    return f"--leave-out {shlex.quote(','.join(names))} (in Python leave_out={names})"


def describe_parts(table: Table, parts: Sequence[str], used: Sequence[str]) -> str:
    """Sentence on the columns that were read, and those that were not."""
    unused = table.columns.keys() - set(used)
    rest = [name for name in table.columns if name in unused]
    return f"Read: {', '.join(parts)}{f'; not used: {listed(rest)}' if rest else ''}."


def is_frame(source: object) -> bool:
    """Whether something is a data frame, not an array or a lazy query."""
    if not hasattr(type(source), "columns"):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(source))


def labelled_matrix(values: Any, meaning: str) -> tuple[FloatArray, Any, Any]:
    """Numbers of a frame, an array or nested sequences, (n, m), and names of columns and rows.

    NaN where one is missing or masked. Errors begin with ``meaning``.
    """
    columns = rows = None
    if hasattr(values, "coords") and values.ndim == 2:
        values = values.to_pandas()
    try:
        if is_frame(values):
            import narwhals as nw

            rows = list(map(str, values.index)) if hasattr(values, "index") else None
            frame = nw.from_native(values, eager_only=True)
            columns, values = list(map(str, frame.columns)), frame.to_numpy()
        numbers = np.ma.filled(np.ma.array(values, np.float64, copy=True), np.nan)
    except (TypeError, ValueError):
        raise InputError(f"{meaning}; got text, or rows of different lengths") from None
    if numbers.ndim != 2:
        raise InputError(f"{meaning}; got {numbers.ndim} dimensions")
    return numbers, columns, rows


def _whole_number(cell: str) -> str:
    """A count without separators of thousands; no number where a point may be one."""
    return f"{cell}?" if _POINT.fullmatch(cell) else _THOUSANDS.sub("", cell)


def check_columns(columns: Iterable[str], kind: str, reader: str) -> None:
    """Refuse columns of a frame that are not named like classifiers or players."""
    for name in columns:
        unit = len(name) > 1 and is_role_word(name, *UNITS)
        if unit or is_role_word(name, "label") or key(name) in NAMELESS[1:]:
            fix = f"drop or rename it; {reader} reads frames with such columns"
            raise InputError(f"column {quoted(name)} is not named like a {kind}", fix=fix)


type Row = tuple[str, list[Any]]  # where it stands, and its cells
type Record = dict[str, Any]

_MOST_CELLS = 10_000_000  # which take some seconds and a gigabyte
_WITH_POINT = partial(re.compile(r"^([-+]?\d+),(\d+(?: ?%)?)$").sub, r"\1.\2")  # for a comma
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_TAG = re.compile(r"<[/a-z][^<>]*>")
_EMPHASIS = re.compile(r"^([*_]{1,3}|`)(.+)\1$")
_MARKDOWN_RULE = re.compile(r"^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*$", re.M)


def decoded(data: bytes) -> str:
    """Text in UTF-8, or in UTF-16 with its mark."""
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = f"line {data.count(b'\n', 0, error.start) + 1}"
        raise InputError("is not UTF-8 text", line=line, fix="save it as UTF-8 text") from None


def table_of_rows(rows: Sequence[Row], notes: Sequence[str] = (), **source: str) -> Table:
    """Table of rows of cells, without titles above and remarks below, of one cell of text each."""
    alone = [parse_cell(of[0]) is None and all(c in (None, "") for c in of[1:]) for _, of in rows]
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
    """Rows of delimited text or Markdown, with the line on which each begins."""
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
    """Value of JSON, with numbers as typed; of JSON lines, values and the line of each."""
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
    """Header and rows, with a column for each key."""
    header = list(dict.fromkeys(title for row in records for title in row))
    cells = (list(map(row.get, header)) for row in records)
    return [("header", header), *zip(places, cells, strict=True)]


def _records(value: Any) -> list[Any]:
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
