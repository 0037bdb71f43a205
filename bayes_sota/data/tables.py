"""A table as it was read: columns of cells, and where each row stands."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import MOST_LISTED, InputError, listed, quoted
from bayes_sota.data.cells import Numbers, parse_numbers
from bayes_sota.data.words import key

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
        near = get_close_matches(wanted, self.columns, 1)
        problem = f"there is no column {quoted(wanted)}; the columns are {listed(self.columns)}"
        raise self.error(problem, parameter, f"did you mean {quoted(near[0])}?" if near else "")

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
