"""``bayes-sota reproduce``: published numbers against recomputed ones."""

from pathlib import Path
from typing import Any

import click

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.command import (
    InputDirectory,
    OutputDirectory,
    command,
    echo_json,
    output_options,
)
from bayes_sota.core.command_tables import echo_table
from bayes_sota.core.text import plain_text


@command(epilog="Example: bayes-sota reproduce table-1 mania")
@click.argument("items", nargs=-1)
@click.option(
    "--output-dir",
    type=OutputDirectory(),
    default=None,
    help="Save the figures among the items, and their data, in this directory.",
)
@click.option(
    "--data",
    type=InputDirectory(),
    default=None,
    help="Directory of the Kaggle leaderboards that table-2, table-4, cassava, figure-8 and "
    "figure-9 need, or of the VTAB scores (vtab_scores_16x19.csv) that vtab and epp-figure-6 need.",
)
@click.option(
    "--full-size",
    is_flag=True,
    help="Simulate epp-figure-4 and -5 with all 1,200,000 scores instead of a twentieth of them.",
)
@output_options
def reproduce(
    items: tuple[str, ...],
    output_dir: Path | None,
    data: Path | None,
    full_size: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Recompute published tables and figures; all of them without ITEMS.

    A number is reproduced, differs (explained, both numbers pinned), is not verifiable, or is
    off; only off makes the exit code 1.

    \b
    ITEMS, of Møllersen & Holsbø (second version):
      coin-flip mania fixed-reference auc cassava melanoma
      table-1 table-2 table-3 table-4
      figure-2 to figure-6, figure-8 to figure-11
    \b
    ITEMS, of the EPP paper (Gosiewska, Woźnica & Biecek):
      vtab epp-tables-6-8 epp-figure-4 epp-figure-5 epp-figure-6
    """
    from bayes_sota.published import reproduce as recompute

    _check_figures(items, output_dir, full_size)
    comparisons = recompute(list(items) or None, data)
    files, undrawn = ([], []) if output_dir is None else _draw(items, output_dir, data, full_size)
    off = [c for c in comparisons if c.state == "off"]
    if as_json:
        written = {"files": [str(path) for path in files], "not_drawn": undrawn}
        echo_json({"items": [_content(c) for c in comparisons], **written})
    else:
        _echo(comparisons)
        for path in files:
            click.echo(f"wrote {plain_text(path)}")
        if undrawn:
            click.echo(f"not drawn without their data (--data): {', '.join(undrawn)}")
    return 1 if off else 0


def _check_figures(items: tuple[str, ...], output_dir: Path | None, full_size: bool) -> None:
    """Refuse options of figures where no such figure is drawn."""
    from bayes_sota.published.plots import figure_names

    drawn = [name for name in figure_names() if not items or name in items]
    if not drawn:
        refuse_unused("items without a figure", {"--output-dir": output_dir})
    if output_dir is None or not {"epp-figure-4", "epp-figure-5"} & {*drawn}:
        refuse_unused("any figure but epp-figure-4 and -5", {"--full-size": full_size})


def _draw(
    items: tuple[str, ...], output_dir: Path, data: Path | None, full_size: bool
) -> tuple[list[Path], list[str]]:
    """Files of the figures among the items, and names of those whose data are not there."""
    from bayes_sota.published.plots import figure_names, reproduce_figure, undrawable_names

    wanted = [name for name in figure_names() if not items or name in items]
    undrawn = undrawable_names(data)
    files = [
        path
        for name in wanted
        if name not in undrawn
        for path in reproduce_figure(name, output_dir, data, full_size=full_size)
    ]
    return files, [name for name in wanted if name in undrawn]


def _content(comparison: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(comparison)


def _echo(comparisons: list[Any]) -> None:
    rows = [
        [c.item, c.quantity, c.published, _number(c.computed), c.state, c.note] for c in comparisons
    ]
    echo_table(["item", "quantity", "published", "computed", "state", "note"], rows)
    lacking: dict[str, list[str]] = {}
    for c in comparisons:
        if "--data" in c.note:  # an address, which a column would cut
            lacking.setdefault(c.note, []).append(c.item)
    for note, items in lacking.items():
        click.echo(f"{', '.join(items)}: {note}")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
