"""A result as one HTML page that opens without a network: answer, figure, tables, assumptions.

The page holds its style and its script, and a policy that lets the browser run or load nothing
else. Names come from strangers: they reach the page as text, by Jinja's escaping or as JSON that
the script writes into text nodes. Without a script it shows the first rows of each table.
``tests/core/test_report.py`` reads pages as text, ``tests/cli/test_browser.py`` in a browser.
"""

import base64
import gzip
import hashlib
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayes_sota.core.files import write_text
from bayes_sota.core.plots import by_matplotlib, svg_address
from bayes_sota.core.tables import ResultTable, numeric_columns
from bayes_sota.core.text import plain_text

if TYPE_CHECKING:
    from arviz_plots import PlotCollection
    from jinja2 import Template

_SHOWN = 25  # rows without a script; more come with "Show more"
_PACKED = 100_000  # characters from which data are compressed
_LONGEST = 200  # characters of a cell
_SOFTWARE = ("bayes_sota", "numpy", "scipy", "pymc", "arviz")


@dataclass(frozen=True)
class _Table:
    """A table of the page: the first rows as they are, and all of them for the script."""

    title: str
    header: list[str]
    rows: list[list[str]]
    data: str
    numeric: list[bool]
    total: int


def write_report(
    path: Path,
    report: ResultTable,
    draw: "Callable[[], PlotCollection] | None" = None,
    *,
    content: str,
    about: str,
    arguments: Sequence[str] = (),
) -> None:
    """Write a result as one HTML page, whole or not at all.

    Parameters
    ----------
    path : Path
    report : ResultTable
    draw : callable, optional
        Gives the figure.
    content : str
        What ``--json`` prints, which the page offers for download.
    about : str
        The command's name.
    arguments : sequence of str
        What was typed behind ``bayes-sota``.
    """
    page = report_page(report, draw, content=content, about=about, arguments=arguments)
    write_text(page, path)


def report_page(
    report: ResultTable,
    draw: "Callable[[], PlotCollection] | None" = None,
    *,
    content: str,
    about: str,
    arguments: Sequence[str] = (),
) -> str:
    """The page as text; parameters as of ``write_report``.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard([0.93, 0.90, 0.91, 0.88], n_test=500, names=["<b>", "b", "c", "d"])
    >>> table = bs.board_table(board, random_seed=0)
    >>> page = report_page(table, content=table.to_json(), about="bayes-sota board")
    >>> "<b>" in page, "&lt;b&gt;" in page
    (False, True)
    """
    answer, *more = [plain_text(line) for line in report.sentences()] or [report.text]
    found = json.loads(content)
    script, style = _part("report.js"), _part("report.css")
    return _template().render(
        about=about,
        answer=answer,
        more=more,
        reasons=[plain_text(reason) for reason in report.reasons],
        figure=None if draw is None else svg_address(by_matplotlib(draw)),
        tables=_tables(report),
        legend=[plain_text(line) for line in report.legend()],
        notes=[plain_text(note) for note in report.notes],
        footer=[plain_text(line) for line in report.footer()],
        sliders=report.sliders(),
        checks=_checks(found.get("diagnostics", {})),
        text=report.text,
        basis=[plain_text(line) for line in report.basis()],
        command=plain_text(shlex.join(["bayes-sota", *arguments])),
        versions=[(name, version(name)) for name in _SOFTWARE],
        python=sys.version.split()[0],
        content=_packed(content),
        script=script,
        style=style,
        allowed=_digest(script),
    )


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_part("report.html"))


def _part(name: str) -> str:
    return Path(__file__).with_name("page").joinpath(name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    """What the page's policy allows: this script and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _tables(report: ResultTable) -> list[_Table]:
    found = []
    for title, (header, rows) in zip(report.titles(), report.tables(), strict=True):
        cells = [[plain_text(cell, _LONGEST) for cell in row] for row in rows]
        data = _packed(json.dumps(cells, ensure_ascii=False, separators=(",", ":")))
        numeric = numeric_columns(header, cells)
        found.append(_Table(plain_text(title), header, cells[:_SHOWN], data, numeric, len(cells)))
    return [table for table in found if table.total]


def _packed(text: str) -> str:
    """Text for the script: as it is, or compressed behind the mark ``gzip:``.

    No tag can begin or end in it.
    """
    if len(text) > _PACKED:
        squeezed = gzip.compress(text.encode(), mtime=0)
        return "gzip:" + base64.b64encode(squeezed).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _checks(diagnostics: dict[str, Any]) -> list[tuple[str, str]]:
    """Numbers of the diagnostics, by name."""
    return [
        (name.replace("_", " "), f"{value:.4g}" if isinstance(value, float) else str(value))
        for name, value in diagnostics.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
