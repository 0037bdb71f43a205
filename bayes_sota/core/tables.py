"""Reports: tables of results with the words around them, and the paragraph for a paper.

Markdown and LaTeX have the digits that numbers support; CSV and JSON have all digits and Monte
Carlo errors. ``tests/cli/test_reports.py`` writes every report in every format.
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
SOFTWARE = f"bayes_sota {__version__}"  # for a paper


@dataclass(frozen=True)
class Table:
    """Rows of text for people, unescaped, below a header and a title."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""

    @property
    def numeric(self) -> list[bool]:
        columns = list(zip(*self.rows, strict=True)) or [() for _ in self.header]
        cells = [[cell.strip("<> %").replace(",", "") for cell in column] for column in columns]
        return [all(map(_NUMBER.fullmatch, column)) for column in cells]

    def head(self, top: int | None) -> "Table":
        """The first rows; the title has the number of others."""
        hidden = len(self.rows) - (len(self.rows) if top is None else top)
        if hidden <= 0:
            return self
        more = "; ".join(filter(None, [self.title, f"{hidden:,} more with --top"]))
        return replace(self, rows=self.rows[:top], title=more)


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """A result in words, tables and numbers, for the screen, files and pages.

    Attributes
    ----------
    content : dict
        Everything as plain Python objects, with the keys of ``--json``.
    frame : DataFrame
        Numbers of the CSV file, which ``make_frame`` makes on first use.
    tables : sequence of Table
    sentences, legend, footer : sequence of str
        The answer before the tables, explanations below them, and the basis of the numbers.
    reasons : sequence of str
        Why the result cannot be trusted; empty if it can.
    paragraph, basis : sequence of str
        Sentences for a paper, by default ``sentences``; method, software and sources.
    measured : str
        Key of ``page/words.toml``: accuracy of such results on real data.
    in_words : bool
        Whether a screen shows the sentences instead of the tables.
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
        return self.to_markdown()

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """All rows, with unrounded numbers."""
        return self.make_frame()

    @property
    def notes(self) -> list[str]:
        """How the data were read, and what to keep in mind."""
        return [*self.content.get("reading", ()), *self.content.get("notes", ())]

    @property
    def text(self) -> str:
        """Paragraph for a paper, on one line."""
        sentences = self.paragraph or self.sentences
        return plain_text(" ".join([*self._doubts, *sentences, f"({'; '.join(self.basis)})"]))

    @property
    def _doubts(self) -> list[str]:
        return [f"Not to be trusted: {'; '.join(self.reasons)}."] if self.reasons else []

    def to_dict(self) -> dict[str, Any]:
        """Content as plain Python objects, and the paragraph."""
        return self.content | {"text": self.text}

    def to_csv(self) -> str:
        """Numbers as CSV; an apostrophe marks names that look like a formula."""
        cells = self.frame.astype(object).where(self.frame.notna(), "").map(_harmless)
        names = [_harmless(str(name)) for name in cells.columns]
        return cells.to_csv(index=False, header=names, lineterminator="\n")

    def to_markdown(self) -> str:
        """Sentences, tables and legend."""
        below = [*self.legend, *(f"Note: {note}" for note in self.notes)]
        parts = [
            *map(markdown_text, [*self.sentences, *self._doubts]),
            *map(_markdown_table, self.tables),
            "\n".join(f"{markdown_text(line)}  " for line in below),
        ]
        return "\n\n".join(parts) + "\n"

    def to_latex(self, label: str = "bayes-sota") -> str:
        r"""Tables as LaTeX with booktabs, with the labels ``tab:label``, ``tab:label-2``, ..."""
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
        """JSON of ``to_dict``."""
        document = {"schema_version": SCHEMA_VERSION} | self.to_dict()
        return json.dumps(_jsonable(document), indent=2) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the report in the format of the suffix: .csv, .md, .tex or .json.

        Raises
        ------
        InputError
            Another suffix, or a path that cannot be written.
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
    """Printed table of rows of numbers; columns with only None are left out.

    ``columns`` maps headings to keys of the rows, or to functions of a row.
    """
    cells = {
        head: [row.get(cell) if isinstance(cell, str) else cell(row) for row in rows]
        for head, cell in columns.items()
    }
    kept = {head: column for head, column in cells.items() if any(c is not None for c in column)}
    texts = [map(_cell_of, column) for column in kept.values()]
    return Table([*kept], [list(row) for row in zip(*texts, strict=True)], title)


def _cell_of(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def rows_of(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Rows as dictionaries."""
    return cast(list[dict[str, Any]], frame.to_dict("records"))


def _harmless(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else value + 0.0  # no -0.0
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    return marked_cell(plain_text(value))


def _jsonable(value: Any) -> Any:
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
    align = ["---:" if numeric else ":---" for numeric in table.numeric]
    head, *body = [[markdown_text(cell) for cell in row] for row in (table.header, *table.rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, align, *body))


def _latex_table(table: Table, caption: str, label: str) -> str:
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
