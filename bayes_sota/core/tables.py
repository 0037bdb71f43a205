"""Reports: tables of results with the words around them, and the paragraph for a paper.

A table is written as CSV, Markdown, LaTeX or JSON, as the ending of a file says. Markdown and LaTeX
are for readers: numbers are rounded to the digits that they support. CSV and JSON are for programs:
they have all digits, and the Monte Carlo error where there is one.
``tests/cli/test_reports.py`` writes every report in every format.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bayes_sota import __version__
from bayes_sota.core.arguments import check_choice
from bayes_sota.core.files import write_text
from bayes_sota.core.schema import SCHEMA_VERSION
from bayes_sota.core.text import latex_text, markdown_text, marked_cell, plain_text

if TYPE_CHECKING:
    import pandas as pd


_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?", re.IGNORECASE)
_BOOKTABS = r"needs \usepackage{booktabs}"
SOFTWARE = f"bayes_sota {__version__}"
"""Name and version of the software, for a paper."""


@dataclass(frozen=True)
class Table:
    """Rows of text for people; names are as in the data, and escaped on output.

    Attributes
    ----------
    header : sequence of str
    rows : sequence of sequence of str
    title : str
        What the table is about.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers alone."""
        columns = list(zip(*self.rows, strict=True)) or [() for _ in self.header]
        cells = [[cell.strip("<> %").replace(",", "") for cell in column] for column in columns]
        return [all(map(_NUMBER.fullmatch, column)) for column in cells]

    def head(self, top: int | None) -> "Table":
        """The first rows; the title says how many more there are."""
        hidden = len(self.rows) - (len(self.rows) if top is None else top)
        if hidden <= 0:
            return self
        more = "; ".join(filter(None, [self.title, f"{hidden:,} more with --top"]))
        return replace(self, rows=self.rows[:top], title=more)


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """A result in words, tables and numbers: what the shell shows, and what files and pages hold.

    Every fact is worded once, by the function that makes the report.

    Attributes
    ----------
    content : dict
        Everything as plain Python objects, with the keys that ``--json`` prints.
    make_frame : callable
        Makes ``frame``, all numbers as a CSV file has them, on first use.
    tables : sequence of Table
        What people read.
    sentences : sequence of str
        The answer in words, which comes before the tables.
    legend : sequence of str
        Sentences below the tables.
    footer : sequence of str
        What the numbers rest on.
    reasons : sequence of str
        Why the result cannot be trusted; empty where it can.
    paragraph : sequence of str
        Sentences of the paragraph for a paper; default ``sentences``.
    basis : sequence of str
        How it was computed, by which version, and after whom.
    measured : str
        What was measured of such results on real data: a key of ``page/words.toml``.
    in_words : bool
        Whether a screen shows the sentences instead of the tables, which have the same numbers.
    about : object
        The result itself.
    """

    content: dict[str, Any]
    make_frame: "Callable[[], pd.DataFrame]" = field(repr=False)
    tables: Sequence[Table]
    basis: Sequence[str]
    sentences: Sequence[str] = ()
    legend: Sequence[str] = ()
    footer: Sequence[str] = ()
    reasons: Sequence[str] = ()
    paragraph: Sequence[str] = ()
    measured: str = ""
    in_words: bool = False
    about: Any = None

    def __str__(self) -> str:
        """Sentences, tables and what to know, as Markdown."""
        return self.to_markdown()

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """All numbers."""
        return self.make_frame()

    @property
    def notes(self) -> list[str]:
        """How the data were read, and what else a reader should know."""
        return [*self.content.get("reading", ()), *self.content.get("notes", ())]

    @property
    def text(self) -> str:
        """Paragraph that a paper can use, on one line that cannot steer a terminal."""
        sentences = self.paragraph or self.sentences
        return plain_text(" ".join([*self._doubts, *sentences, f"({'; '.join(self.basis)})"]))

    @property
    def _doubts(self) -> list[str]:
        return [f"Not to be trusted: {'; '.join(self.reasons)}."] if self.reasons else []

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python objects, with the paragraph."""
        return self.content | {"text": self.text}

    def to_csv(self) -> str:
        """Numbers as CSV.

        Names that a spreadsheet would take for a formula get a leading apostrophe.
        """
        cells = self.frame.astype(object).where(self.frame.notna(), "").map(_harmless)
        names = [_harmless(str(name)) for name in cells.columns]
        return cells.to_csv(index=False, header=names, lineterminator="\n")

    def to_markdown(self) -> str:
        """Tables as Markdown with their legend."""
        below = [*self.legend, *(f"Note: {note}" for note in self.notes)]
        parts = [
            *map(markdown_text, [*self.sentences, *self._doubts]),
            *map(_markdown_table, self.tables),
            "\n".join(f"{markdown_text(line)}  " for line in below),
        ]
        return "\n\n".join(parts) + "\n"

    def to_latex(self, label: str = "bayes-sota") -> str:
        """Tables as LaTeX, to be read by ``\\input``, with captions, labels and rules of booktabs.

        The first caption has the legend, and what cannot be trusted. Sentences and notes stand
        above as comments, which are not set. ``label`` follows ``tab:``, with a number from the
        second table on.
        """
        notes = [_BOOKTABS, *self.sentences, *(f"Note: {note}" for note in self.notes)]
        lines = [f"% {plain_text(line)}" for line in notes]
        captions = [f"{table.title}." * bool(table.title) for table in self.tables]
        first = " ".join(filter(None, [*self._doubts, *captions[:1], *self.legend]))
        captions[:1] = [first or " ".join([*self.paragraph, *self.sentences][:1])]
        for number, (table, caption) in enumerate(zip(self.tables, captions, strict=False), 1):
            place = f"{label}-{number}" if number > 1 else label
            lines.append(_latex_table(table, caption, place))
        return "\n".join(lines)

    def to_json(self) -> str:
        """One JSON object: ``to_dict`` with the schema version first."""
        document = {"schema_version": SCHEMA_VERSION} | self.to_dict()
        return json.dumps(_jsonable(document), indent=2) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the table, as the ending of the name says: .csv, .md, .tex or .json.

        Raises
        ------
        InputError
            Another ending, or a place that cannot be written to.
        """
        path = Path(path)
        label = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")
        writers: dict[str, Callable[[], str]] = {
            ".csv": self.to_csv,
            ".md": self.to_markdown,
            ".tex": partial(self.to_latex, label),
            ".json": self.to_json,
        }
        check_choice("the ending of a table's name", path.suffix.lower(), writers)
        write_text(writers[path.suffix.lower()](), path)


def table_of(
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str | Callable[[Any], str | None]],
    title: str = "",
) -> Table:
    """Printed table of rows of numbers.

    Parameters
    ----------
    rows : sequence of mapping
        What JSON and CSV have of each row.
    columns : mapping
        Header of each column, and the key of its text or what makes its cell of a row. Columns in
        which every cell is None are left out.
    title : str

    Examples
    --------
    >>> rows = [{"name": "a", "p": 0.25, "n": None}, {"name": "b", "p": 0.75, "n": None}]
    >>> table_of(rows, {"model": "name", "P": lambda row: f"{row['p']:.0%}", "n": "n"}).rows
    [['a', '25%'], ['b', '75%']]
    """
    cells = {
        head: [row.get(cell) if isinstance(cell, str) else cell(row) for row in rows]
        for head, cell in columns.items()
    }
    kept = {head: column for head, column in cells.items() if any(c is not None for c in column)}
    texts = [map(_cell_of, column) for column in kept.values()]
    return Table([*kept], [list(row) for row in zip(*texts, strict=True)], title)


def _cell_of(value: Any) -> str:
    """Empty for None."""
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def rows_of(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Rows of a data frame with named columns, each by the names of the columns."""
    return cast(list[dict[str, Any]], frame.to_dict("records"))


def _harmless(value: Any) -> Any:
    """The same, or text that no spreadsheet takes for a formula; numbers in text stay."""
    if isinstance(value, float):
        return "" if math.isnan(value) else value + 0.0  # no -0.0
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    return marked_cell(plain_text(value))


def _jsonable(value: Any) -> Any:
    """The same for JSON, which knows neither infinity nor NaN: they are null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _jsonable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(one) for one in value]
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None  # no -0.0
    return value


def _markdown_table(table: Table) -> str:
    """Table of texts in Markdown; columns of numbers are aligned to the right."""
    align = ["---:" if numeric else ":---" for numeric in table.numeric]
    head, *body = [[markdown_text(cell) for cell in row] for row in (table.header, *table.rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, align, *body))


def _latex_table(table: Table, caption: str, label: str) -> str:
    """Table in LaTeX with rules of booktabs; numbers are aligned to the right."""
    import pandas as pd

    head, *body = [list(map(latex_text, row)) for row in (table.header, *table.rows)]
    styled = pd.DataFrame(body, columns=head).style.hide(axis="index")
    return styled.to_latex(
        hrules=True,
        caption=latex_text(caption) or " ",  # without one the table would have no number
        label=f"tab:{label}",
        column_format="".join("r" if numeric else "l" for numeric in table.numeric),
        position_float="centering",
    )
