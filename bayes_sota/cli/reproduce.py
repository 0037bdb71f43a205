"""``bayes-sota reproduce``: published numbers against recomputed ones."""

from pathlib import Path
from typing import Any

import click

from bayes_sota.cli.options import echo_json, output_options
from bayes_sota.cli.tables import clean, echo_table

__all__ = ["reproduce"]


@click.command(epilog="Example: bayes-sota reproduce table-1 mania")
@click.argument("items", nargs=-1)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    default=None,
    help="Save the figures among the items, and their data, in this directory.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=None,
    help="Directory of the Kaggle leaderboards that table-2, table-4 and cassava need.",
)
@output_options
def reproduce(
    items: tuple[str, ...],
    output_dir: Path | None,
    data: Path | None,
    as_json: bool,
    seed: int | None,
    quiet: bool,
) -> int:
    """Recompute published tables and figures; all of them without ITEMS.

    A number is reproduced, differs (explained, both numbers pinned), is not verifiable, or is
    off; only off makes the exit code 1.
    """
    from bayes_sota.reproduce import figure_names, reproduce_figure
    from bayes_sota.reproduce import reproduce as recompute

    comparisons = recompute(list(items) or None, data)
    files: list[Path] = []
    if output_dir is not None:
        wanted = [name for name in figure_names() if not items or name in items]
        for name in wanted:
            files += reproduce_figure(name, output_dir)
    off = [c for c in comparisons if c.state == "off"]
    if as_json:
        echo_json({"items": [_content(c) for c in comparisons], "files": [str(f) for f in files]})
    else:
        _echo(comparisons)
        for path in files:
            click.echo(f"wrote {path}")
    return 1 if off else 0


def _content(comparison: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(comparison)


def _echo(comparisons: list[Any]) -> None:
    rows = [
        [c.item, clean(c.quantity), c.published, _number(c.computed), c.state, clean(c.note)]
        for c in comparisons
    ]
    echo_table(["item", "quantity", "published", "computed", "state", "note"], rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
