"""Short tables for people, numbers rounded to what they support."""

import sys
from collections.abc import Sequence

import click

from bayes_sota.core.text import plain_text

_LONGEST = 200  # characters of a cell
_LONGEST_LINE, _HEAD = 700, 450


def echo_problem(kind: str, message: str) -> None:
    """One line on standard error that cannot steer a terminal; of a long one beginning and end."""
    line = plain_text(" ".join(str(message).split()))
    if len(line) > _LONGEST_LINE:
        line = f"{line[:_HEAD]} ... {line[_HEAD - _LONGEST_LINE :]}"
    click.echo(f"{kind}: {line}", err=True)


def echo_table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """Print a table to standard output; text in it is no markup and cannot steer a terminal."""
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
    width = console.width if console.is_terminal else 120
    console = Console(highlight=False, width=max(width, 80), file=sys.stdout)
    console.print(table)
