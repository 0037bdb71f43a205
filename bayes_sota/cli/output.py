"""Output of a command: text, files and exit code."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import write_text
from bayes_sota.core.text import plain_text, shown_path

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report

FIGURES = (".svg", ".png", ".pdf")
_LONGEST = 200  # characters of a cell
_LONGEST_LINE, _HEAD = 700, 450


class Answer(NamedTuple):
    """Report of a command, with its figure and its result as a tree, if any."""

    report: "Report"
    draw: "Callable[[], PlotCollection] | None" = None
    tree: "Callable[[], xr.DataTree] | None" = None
    not_met: str = ""
    """The requirement that the result does not meet: exit code 3."""
    failed: Sequence[str] = ()
    """Files without a result: exit code 1."""


def deliver(answer: Answer, ctx: click.Context) -> int:
    """Write the files, print the answer, and return the exit code."""
    report, asked = answer.report, ctx.params
    for path in asked["save"]:
        if answer.draw is None and path.suffix.lower() in FIGURES:
            raise InputError(f"this result has no figure: leave out --save {shown_path(path)}")
    answer = answer._replace(draw=answer.draw and cache(answer.draw))
    for path in asked["save"]:
        _save(path, answer, ctx)
    if asked["as_json"]:
        click.echo(report.to_json(), nl=False)
    else:
        _print(report, asked["top"], quiet=asked["quiet"])
    for note in [] if asked["quiet"] else dict.fromkeys(ctx.meta.get("notes", ())):
        echo_problem("note", note)
    for problem in answer.failed:
        echo_problem("error", problem)
    if report.reasons:
        echo_problem("warning", "not to be trusted: " + "; ".join(report.reasons))
    elif answer.not_met:
        click.echo(f"not met: {answer.not_met}", err=True)
    return 1 if report.reasons or answer.failed else 3 if answer.not_met else 0


def _save(path: Path, answer: Answer, ctx: click.Context) -> None:
    match path.suffix.lower():
        case ".html":
            from bayes_sota.core.command_report import save_report

            typed = ctx.find_root().obj or ()
            about = ctx.command_path
            save_report(answer.report, path, answer.draw, about=about, arguments=typed)
        case ".txt":
            write_text(answer.report.text + "\n", path)
        case ".nc" if answer.tree:
            from bayes_sota.core.sample import save_result

            save_result(answer.tree(), path)
        case _ if path.suffix.lower() in FIGURES and answer.draw:
            from bayes_sota.core.plots import save_figure

            save_figure(answer.draw(), path)
        case _:
            answer.report.save(path)


def _print(report: "Report", top: int, *, quiet: bool) -> None:
    doubts = [f"Do not trust this result: {'; '.join(report.reasons)}."] * bool(report.reasons)
    for line in (*doubts, *report.sentences):
        click.echo(plain_text(line))
    for table in report.tables:
        if table.rows and not report.in_words:
            shown = table.head(top)
            echo_table(shown.header, shown.rows, shown.title)
    below = list(report.legend)
    # What was read needs no announcement; what was left out, and a question, are never hidden.
    notes = [n for n in report.notes if not quiet or n.startswith("left out") or n.endswith("?")]
    below += [n if n.startswith("Read: ") else f"Note: {n}" for n in notes]
    if not quiet:
        below += report.footer
        if isinstance(report.content.get("seed"), int):
            below.append(f"Seed {report.content['seed']}; --seed N draws others.")
    for line in below:
        click.echo(plain_text(line))


def echo_problem(kind: str, message: str) -> None:
    """Print one line on standard error; a long one loses its middle."""
    line = plain_text(" ".join(str(message).split()))
    if len(line) > _LONGEST_LINE:
        line = f"{line[:_HEAD]} ... {line[_HEAD - _LONGEST_LINE :]}"
    click.echo(f"{kind}: {line}", err=True)


def echo_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table of plain text."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    heading = Text(plain_text(title)) if title else None
    table = Table(title=heading, title_justify="left", box=box.SIMPLE, pad_edge=False)
    for name in header:
        table.add_column(Text(plain_text(name)))
    for row in rows:
        table.add_row(*(Text(plain_text(cell, _LONGEST)) for cell in row))
    console = Console(highlight=False)
    console.width = max(console.width, 80) if console.is_terminal else 120
    console.print(table)
