"""A result as one HTML page that works offline: answer, figure, tables, assumptions.

Its security policy allows only its own style and script. Names reach it as escaped text, or as JSON
that the script writes into text nodes (``tests/core/test_report.py``).
"""

import base64
import hashlib
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayes_sota import __version__
from bayes_sota.core.arguments import check_choice, check_kind
from bayes_sota.core.files import write_text
from bayes_sota.core.plots import svg_address
from bayes_sota.core.tables import Report
from bayes_sota.core.text import plain_text

if TYPE_CHECKING:
    from arviz_plots import PlotCollection
    from jinja2 import Template

type Draw = "Callable[[], PlotCollection] | None"

_SHOWN = 25  # rows without a script; more come with "Show more"
_LONGEST, _LONGEST_TITLE = 200, 90  # characters of a cell, and of the page's title
_SOFTWARE = ("numpy", "scipy", "pymc", "arviz")


def save_report(
    report: Report,
    path: str | Path,
    figure: Draw = None,
    *,
    about: str = "bayes_sota",
    arguments: Sequence[str] = (),
) -> None:
    """Write a result as one HTML page, like ``--save FILE.html``.

    Parameters
    ----------
    report : Report
        From ``board_table``, ``report_sota``, ...
    path : path
    figure : callable, optional
        Draws the figure.
    about : str
        Subject of the page.
    arguments : sequence of str
        Arguments of ``bayes-sota`` that give the same result.

    Raises
    ------
    InputError
        No ``Report``, an ending other than .html, or a path that cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard([0.93, 0.90, 0.91, 0.88], n_test=500, names=list("abcd"))
    >>> table = bs.board_table(board, random_seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_report(table, f"{folder}/page.html", lambda: bs.leaderboard.plot_entries(table))
    """
    path = Path(path)
    check_choice("the ending of a page's name", path.suffix.lower(), (".html",))
    check_kind(report, Report, "bs.board_table(board) or bs.leaderboard.report_sota(board)")
    write_text(report_page(report, figure, about, arguments), path)


def _unbroken(sentence: str) -> str:
    return plain_text(sentence).replace(" %", "\N{NO-BREAK SPACE}%")


def report_page(
    report: Report, figure: Draw = None, about: str = "bayes_sota", arguments: Sequence[str] = ()
) -> str:
    """HTML of the page, with the output of ``--json`` for download."""
    content, script = report.to_json(), _part("report.js")
    parsed = json.loads(content)
    answer, *more = report.sentences or [report.text]
    tables = _tables(report)
    digest = hashlib.sha256(script.encode()).digest()
    return _template().render(
        report=report,
        about=about,
        title=f"{about}: {plain_text(answer, _LONGEST_TITLE)}",
        date=date.today().isoformat(),
        answer=answer,
        more=more,
        figure=None if figure is None else svg_address(figure()),
        tables=tables,
        checks=parsed.get("diagnostics", {}),
        measured=_words()["measured"].get(report.measured, ""),
        next=_words()["next"].get(report.measured, ""),
        words=_used(report, tables),
        command=_again(arguments, parsed.get("seed")),
        versions=[("bayes_sota", __version__), *((name, version(name)) for name in _SOFTWARE)],
        python=sys.version.split()[0],
        content=_tagless(content),
        script=script,
        style=_part("report.css"),
        allowed=f"sha256-{base64.b64encode(digest).decode()}",  # this script and no other
    )


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: _unbroken(value) if type(value) is str else value,
    )
    return environment.from_string(_part("report.html"))


def _part(name: str) -> str:
    return Path(__file__).with_name("page").joinpath(name).read_text(encoding="utf-8")


def _tables(report: Report) -> list[dict[str, Any]]:
    tables = []
    for table in (table for table in report.tables if table.rows):
        cells = [[plain_text(cell, _LONGEST) for cell in row] for row in table.rows]
        data = _tagless(json.dumps(cells, ensure_ascii=False, separators=(",", ":")))
        shown = {"title": table.title, "header": table.header, "numeric": table.numeric}
        tables.append({**shown, "rows": cells[:_SHOWN], "data": data, "total": len(cells)})
    return tables


def _again(arguments: Sequence[str], seed: object) -> str:
    drawn = str(seed).isdigit() and not any(part.startswith("--seed") for part in arguments)
    whole = ["bayes-sota", *arguments, *(["--seed", str(seed)] if drawn else [])]
    return plain_text(shlex.join(whole)) if arguments else ""


@cache
def _words() -> dict[str, dict[str, str]]:
    return tomllib.loads(_part("words.toml"))


def _used(report: Report, tables: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    lines = [*report.sentences, *report.legend, *report.footer, *report.notes]
    for table in tables:
        lines += [*table["header"], *(cell for row in table["rows"] for cell in row[:2])]
    text, known = "\n".join(lines), _words()["words"].items()
    return [pair for pair in known if re.search(rf"(?<!\w){re.escape(pair[0])}(?!\w)", text)]


def _tagless(text: str) -> str:
    """JSON in which no HTML tag can begin or end."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
