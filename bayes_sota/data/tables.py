"""A table as it was read: columns of cells, and where each row stands.

Numbers are as people print them: 91.2 %, 0.95 ± 0.02, 0.95 (0.02), **0.95**. Data frames are those
of pandas, polars, PyArrow and others that narwhals knows.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import MOST_LISTED, InputError, listed, quoted
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import LARGEST_NUMBER, parse_number
from bayes_sota.data.words import key

if TYPE_CHECKING:
    import narwhals as nw

MISSING = frozenset(("", "-", "--", "–", "—", "na", "n/a", "#n/a", "nan", "null", "none", "<na>"))
_ANSWERS = {"true": "1", "right": "1", "correct": "1", "yes": "1"}
_ANSWERS |= {"false": "0", "wrong": "0", "incorrect": "0", "no": "0"}
_ERROR = re.compile(r"(.+?)\s*(?:(?:±|\+/-|\\pm)\s*(.+)|\(\s*±?\s*(\d*\.\d+)\s*\))")
_REMARK = re.compile(r"(\d*\.\d+)\s*\(\d+\)")  # 0.912 (1): a rank or a footnote
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+\.\d+ ?%?")  # 7,127.7 but not 7,127
_LONGEST = 100  # characters of a number
_MARKS = " *†‡§$_"  # bold, footnotes
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_PLAIN_LINES = re.compile(rf"(?:{_PLAIN.pattern}\n)++")


class Printed(NamedTuple):
    """A number as printed: its value, its error, its digits; in percent or not."""

    value: float
    error: float = np.nan
    text: str = ""
    is_percent: bool = False


NOTHING = Printed(np.nan)


def parse_cell(cell: Any) -> Printed | None:
    """Number in a cell, ``NOTHING`` where the cell is empty, None where it is text.

    Examples
    --------
    >>> parse_cell("0.95 (0.02)").error, parse_cell("91.2 %").value, parse_cell("svm")
    (0.02, 0.912, None)
    """
    if type(cell) is str and len(cell) < 50 and _PLAIN.fullmatch(cell):
        return Printed(float(cell), text=cell)
    if cell is None or cell != cell:
        return NOTHING
    text = str(cell).strip().strip(_MARKS).replace("−", "-")
    if len(text) > _LONGEST:
        return None
    if text.lower() in MISSING:
        return NOTHING
    text = _ANSWERS.get(text.lower(), text)
    if text[0].isalpha():
        return None
    if remark := _REMARK.fullmatch(text):
        text = remark[1]
    match = _ERROR.fullmatch(text)
    error = ""
    if match:
        text, error = match[1].strip(_MARKS), match[2] or match[3]
    is_percent = (error or text).endswith("%") or text.endswith("%")
    value = _decimal(text)
    spread = _decimal(error) if error else Decimal("NaN")
    if value is None or spread is None:
        return None
    scale = 100 if is_percent else 1
    return Printed(float(value / scale), float(spread / scale), str(value / scale), is_percent)


def _decimal(text: str) -> Decimal | None:
    text = text.replace(",", "") if _THOUSANDS.fullmatch(text) else text
    number = parse_number(text.removesuffix("%"))
    return None if number is None or abs(float(number)) > LARGEST_NUMBER else number


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of a column, (n_rows,): NaN where a cell is empty, and at ``bad`` rows, of text."""

    value: NDArray[np.float64]
    error: NDArray[np.float64]
    texts: list[str]
    bad: list[int]

    @property
    def is_numeric(self) -> bool:
        """Whether most cells hold numbers, so that text among them is a mistake."""
        return int(np.isfinite(self.value).sum()) > len(self.bad)


def parse_numbers(cells: Sequence[Any]) -> Numbers:
    """Numbers of cells; equal cells are parsed once, and plain ones not at all."""
    try:
        known = dict.fromkeys(cells)
    except TypeError:  # lists and objects
        return parse_numbers([str(cell) for cell in cells])
    values = _plain_numbers(cells) if len(known) > len(cells) // 2 else None
    if values is not None:
        return Numbers(values, np.full(len(cells), np.nan), list(cells), [])
    places = {cell: place for place, cell in enumerate(known)}
    place = np.fromiter(map(places.__getitem__, cells), np.intp, len(cells))
    parsed = [parse_cell(cell) for cell in known]
    numbers = [number or NOTHING for number in parsed]
    texts = np.array([number.text for number in numbers], object)
    return Numbers(
        np.array([number.value for number in numbers])[place],
        np.array([number.error for number in numbers])[place],
        texts[place].tolist(),
        np.flatnonzero(np.array([number is None for number in parsed])[place]).tolist(),
    )


def _plain_numbers(cells: Sequence[Any]) -> NDArray[np.float64] | None:
    """Numbers of cells that hold nothing but digits; None where others do."""
    try:
        if _PLAIN_LINES.fullmatch("\n".join(cells) + "\n"):
            values = np.array(list(map(float, cells)))
            return values if np.abs(values).max() <= LARGEST_NUMBER else None
    except (TypeError, ValueError):
        return None
    return None


MOST_CELLS = 10_000_000
"""Cells of a table, which take some seconds and a gigabyte."""


@dataclass(frozen=True)
class Table:
    """Columns of cells as typed; ``lines`` says where each row stands in ``where``.

    ``origin`` is the tool that wrote a log, else empty; ``n_files`` how many are below each other.
    """

    columns: dict[str, list[Any]]
    lines: list[str]
    where: str
    name: str
    notes: tuple[str, ...] = ()
    origin: str = ""
    n_files: int = 1
    _parsed: dict[str, Numbers] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.lines)

    def take(self, rows: Sequence[int], *notes: str) -> "Table":
        """The same table with some of its rows."""
        kept = {name: [cells[i] for i in rows] for name, cells in self.columns.items()}
        lines = [self.lines[i] for i in rows]
        return replace(self, columns=kept, lines=lines, notes=(*self.notes, *notes))

    def find(self, wanted: str, parameter: str) -> str:
        """Name of the column that a user asked for, whatever its case and punctuation."""
        if wanted in self.columns:
            return wanted
        alike = [name for name in self.columns if key(name) == key(wanted)]
        if len(alike) == 1:
            return alike[0]
        problem = f"there is no column {quoted(wanted)}; the columns are {listed(self.columns)}"
        raise self.error(problem, parameter, did_you_mean(wanted, self.columns))

    def names(self, column: str, may_miss: bool = False) -> Any:
        """Names in a column, (n_rows,) objects; an empty one is an error."""
        cells = self.columns[column]
        names = [cell.strip() if type(cell) is str else _name_of(cell) for cell in cells]
        if "" in names and not may_miss:
            empty = [row for row, name in enumerate(names) if not name]
            raise self.bad_cells(column, empty, "a name is needed")
        return np.array(names, object)

    def parsed(self, column: str) -> Numbers:
        """Numbers of a column, parsed once."""
        if column not in self._parsed:
            self._parsed[column] = parse_numbers(self.columns[column])
        return self._parsed[column]

    def printed(self, column: str) -> Numbers:
        """Numbers of a column; text is an error."""
        found = self.parsed(column)
        if found.bad:
            raise self.bad_cells(column, found.bad, "a number is needed")
        return found

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Numbers in a column, NaN where a cell is empty."""
        return self.printed(column).value

    def error(self, problem: str, parameter: str = "", fix: str = "") -> InputError:
        """Error of the whole table."""
        return InputError(problem, where=self.where, parameter=parameter, fix=fix)

    def bad_cells(
        self, column: str, rows: Sequence[int], problem: str, fix: str = ""
    ) -> InputError:
        """Error that names up to ten cells of a column."""
        cells = self.columns[column]
        if len(rows) == 1:
            line, problem = self.lines[rows[0]], f"{problem}, got {quoted(cells[rows[0]])}"
        else:
            shown = [f"{self.lines[i]} has {quoted(cells[i])}" for i in rows[:MOST_LISTED]]
            more = f" ({len(rows)} in all)" if len(rows) > MOST_LISTED else ""
            line, problem = "", f"{problem}: {', '.join(shown)}{more}"
        return InputError(problem, where=self.where, line=line, column=column, fix=fix)


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """The nearest of what is known as a question, if any is near."""
    near = get_close_matches(wanted, list(known), 1)
    return f"did you mean {quoted(near[0])}?" if near else ""


def _name_of(cell: Any) -> str:
    """Name in a cell; 1.0 is called 1, and nothing has an empty name."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def make_table(
    header: Iterable[Any],
    columns: Iterable[list[Any]],
    lines: list[str],
    where: str,
    name: str,
    notes: Iterable[str] = (),
) -> Table:
    """Table without empty, nameless columns; the names of the others must differ."""
    titles = ["" if title is None else str(title).strip() for title in header]
    kept = [
        (title, cells)
        for title, cells in zip(titles, columns, strict=True)
        if title or any(cell not in (None, "") for cell in cells)
    ]
    repeated = [title for title, count in Counter(title for title, _ in kept).items() if count > 1]
    if repeated:
        raise InputError(f"several columns are called {quoted(repeated[0])}", where=where)
    if len(lines) * len(kept) > MOST_CELLS:
        raise InputError(f"has more than {MOST_CELLS:,} cells", where=where)
    if not lines or not kept:
        raise InputError(f"the table has no {'rows' if kept else 'columns'}", where=where)
    return Table(dict(kept), lines, where, name, tuple(notes))


def describe_parts(table: Table, parts: Sequence[str], used: Sequence[str]) -> str:
    """Sentence that says which columns of a table were read, and which were not."""
    known = set(used)
    unused = [name for name in table.columns if name not in known]
    rest = f"; not used: {listed(unused)}" if unused else ""
    return f"Read: {', '.join(parts)}{rest}."


def is_frame(source: object) -> bool:
    """Whether something is a data frame, and no path, list, array or lazy query."""
    if not hasattr(type(source), "columns"):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(source))


def opened_frame(frame: Any) -> "nw.DataFrame[Any]":
    """The frame, whose columns are asked for in one way; two of one name are an error."""
    import narwhals as nw

    try:
        return nw.from_native(frame, eager_only=True)
    except ValueError as error:
        problem = f"the data frame cannot be read ({' '.join(str(error).split())})"
        raise InputError(problem) from None


def labelled_matrix(
    values: Any, meaning: str
) -> tuple[FloatArray, list[str] | None, list[str] | None]:
    """Numbers of a frame, an array or nested sequences, with a frame's names.

    Returns
    -------
    numbers : (n, m) array
        NaN where a number is missing.
    columns, rows : list of str, or None
        Names of a frame's columns and, of pandas, its rows.

    Raises
    ------
    InputError
        Text, rows of several lengths, or not two dimensions; it begins with ``meaning``.
    """
    columns = rows = None
    if is_frame(values):
        frame = opened_frame(values)
        columns = list(map(str, frame.columns))
        rows = list(map(str, values.index)) if hasattr(values, "index") else None
        values = frame.to_numpy()
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{meaning}; got what is no number, or rows of several lengths") from None
    if numbers.ndim != 2:
        raise InputError(f"{meaning}; got {numbers.ndim} dimensions")
    return numbers, columns, rows
