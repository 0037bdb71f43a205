"""``bayes-sota reproduce``: published numbers against recomputed ones."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bayes_sota.core.command import InputDirectory, command, echo_json, echo_table, output_options

if TYPE_CHECKING:
    from bayes_sota.published.summary import Comparison


@command(epilog="Example: bayes-sota reproduce table-1 mania")
@click.argument("items", nargs=-1)
@click.option(
    "--data",
    type=InputDirectory(),
    default=None,
    help="Directory of the Kaggle leaderboards that table-2, table-4, cassava, figure-8 and "
    "figure-9 need, or of the VTAB scores (vtab_scores_16x19.csv) that vtab and epp-figure-6 need.",
)
@output_options
def reproduce(items: tuple[str, ...], data: Path | None, as_json: bool, quiet: bool) -> int:
    """Recompute published numbers; all of them without ITEMS.

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
    from bayes_sota.published.summary import reproduce as recompute

    comparisons = recompute(list(items) or None, data)
    if as_json:
        echo_json({"items": [asdict(one) for one in comparisons]})
    else:
        _echo(comparisons)
    return int(any(one.state == "off" for one in comparisons))


def _echo(comparisons: "list[Comparison]") -> None:
    rows = [
        [c.item, c.quantity, c.published, "" if c.computed is None else f"{c.computed:.6g}",
         c.state, c.note]
        for c in comparisons
    ]  # fmt: skip
    echo_table(["item", "quantity", "published", "computed", "state", "note"], rows)
    lacking: dict[str, list[str]] = {}
    for c in comparisons:
        if "--data" in c.note:  # an address, which a column would cut
            lacking.setdefault(c.note, []).append(c.item)
    for note, items in lacking.items():
        click.echo(f"{', '.join(items)}: {note}")
