"""``bayes-sota claim selection``: the winner of a leaderboard, corrected for having been picked."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.command_options import echo_json, echo_verdict, output_options, seed_option
from bayes_sota.core.command_tables import chance, echo_table
from bayes_sota.core.command_types import InputFile, command
from bayes_sota.core.text import plain_text
from bayes_sota.leaderboard.command_files import board_priors, field_options, read_file
from bayes_sota.maximum.command import chosen_correlation

if TYPE_CHECKING:
    from bayes_sota.claims.selected_claim import SelectedClaim

__all__ = ["selection"]


@command(epilog="Example: bayes-sota claim selection leaderboard.csv --n-test 500")
@click.argument("file", type=InputFile())
@field_options
@seed_option
@output_options
def selection(
    file: Path,
    file_format: str,
    correlation: float | None,
    pairwise_correlation: float | None,
    as_json: bool,
    seed: int | None,
    quiet: bool,
    **reading: Any,
) -> int:
    """The claim "best of all entries", with and without the luck of having been picked.

    FILE is a leaderboard, or a response matrix, as for bayes-sota board.
    """
    from bayes_sota.claims.selected_claim import claim_of_best_entry
    from bayes_sota.core.sample_provenance import resolve_seed

    priors = board_priors(chosen_correlation(correlation, pairwise_correlation))
    rng, used_seed = resolve_seed(seed)
    data = read_file(file, file_format, **reading)
    found = claim_of_best_entry(data, priors, random_seed=rng)
    if as_json:
        echo_json(
            {
                "p_false": found.p_false, "p_false_selected": found.p_false_selected,
                "difference": found.difference, "p_not_best": found.p_not_best,
                "winner": found.winner, "runner_up": found.runner_up,
                "n_entries": len(found.p_best), "rho": found.rho, "notes": list(found.notes),
                "diagnostics": {"ok": not found.reasons, "reasons": list(found.reasons)},
                "seed": int(used_seed),
            }
        )  # fmt: skip
    else:
        _show(found, quiet)
    return echo_verdict(found.reasons)


def _show(found: "SelectedClaim", quiet: bool) -> None:
    winner, second = plain_text(found.winner), plain_text(found.runner_up)
    rows = [
        [f"{second} is at least as good as {winner}", chance(found.p_false),
         chance(found.p_false_selected)],
        [f"another of the {len(found.p_best):,} entries is the best", "",
         chance(found.p_not_best)],
    ]  # fmt: skip
    echo_table(["P(...)", "as if given beforehand", "corrected for the selection"], rows)
    click.echo(f"Mean correlation of an entry with what all share: {found.rho:.2f}")
    for note in () if quiet else found.notes:
        click.echo(f"Note: {plain_text(note)}")
