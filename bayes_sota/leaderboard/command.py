"""``bayes-sota board``: what the scores of a leaderboard say about each of its entries."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import DRAWS
from bayes_sota.core.command_options import (
    echo_json,
    echo_verdict,
    interval_option,
    number_option,
    output_options,
    seed_option,
    top_option,
)
from bayes_sota.core.command_tables import echo_table
from bayes_sota.core.command_types import InputFile, OutputFile, command
from bayes_sota.core.text import plain_text
from bayes_sota.leaderboard.command_files import board_priors, field_options, read_file
from bayes_sota.maximum.command import chosen_correlation

if TYPE_CHECKING:
    from bayes_sota.leaderboard.summary_entries import EntryTable

__all__ = ["board"]


@command(epilog="Example: bayes-sota board leaderboard.csv --n-test 500 --output table.md")
@click.argument("file", type=InputFile())
@field_options
@number_option(DRAWS, "--draws", default=1000, help="Posterior draws.")
@top_option(15, "Entries shown.")
@click.option(
    "--output",
    type=OutputFile("table"),
    default=None,
    help="Table of all entries: .csv, .md or .json.",
)
@interval_option
@seed_option
@output_options
def board(
    file: Path,
    file_format: str,
    correlation: float | None,
    pairwise_correlation: float | None,
    draws: int,
    top: int,
    output: Path | None,
    prob: float,
    as_json: bool,
    seed: int | None,
    quiet: bool,
    **reading: Any,
) -> int:
    """Skill, rank and chance to be the best of every entry of a leaderboard.

    FILE is a leaderboard (one row per entry), or a response matrix (one row per item, one column
    per classifier), which is recognised by its answers. Tied with the best are all entries that
    the data do not tell from the one with the best score.
    """
    from bayes_sota.leaderboard.summary_entries import board_table

    priors = board_priors(chosen_correlation(correlation, pairwise_correlation))
    data = read_file(file, file_format, **reading)
    table = board_table(
        data,
        priors=priors,
        prob=prob,
        draws=draws,
        random_seed=_seed(seed),
    )
    if output is not None:
        table.save(output)
    if as_json:
        echo_json(table.to_dict())
    else:
        _echo(table, top, quiet)
    return echo_verdict(table.reasons)


def _seed(seed: int | None) -> int:
    import numpy as np

    return int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed


def _echo(table: "EntryTable", top: int, quiet: bool) -> None:
    header = ["rank", "entry", "score", "skill", f"{table.prob:.0%} interval", "rank interval"]
    rows = table.cells(top)
    title = f"{table.name}: best {len(rows):,} of {len(table.frame):,} entries"
    echo_table([*header, "P(best)", "tied"], rows, title)
    for line in table.legend(top):
        click.echo(line)
    if quiet:
        return
    for note in table.notes:
        click.echo(f"Note: {plain_text(note)}")
    click.echo(f"method exact, seed {table.seed}")
