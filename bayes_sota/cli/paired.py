"""``bayes-sota paired``: public and private leaderboards of the same teams."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from bayes_sota.core.arguments import CORRELATION, COUNT, POSITIVE, SHARE
from bayes_sota.core.command import (
    InputFile,
    OutputFile,
    Reported,
    chosen_seed,
    command,
    domain_option,
    estimate_options,
    field_option,
    interval_option,
    model_option,
    number_option,
    reading_options,
    seed_option,
)
from bayes_sota.core.errors import InputError
from bayes_sota.leaderboard.command import above_option, draw_best_skill
from bayes_sota.leaderboard.command_reading import OF_RHO, parse_submissions, submissions_option


@command(epilog="Example: bayes-sota paired boards.csv --n-test-public 2000 --n-test-private 8000")
@click.argument("file", type=InputFile())
@click.option(
    "--private-file",
    type=InputFile(),
    help="Private leaderboard, joined to FILE, the public one, on the teams' names.",
)
@number_option(COUNT, "--n-test-public", help="Public test items (accuracies).")
@number_option(COUNT, "--n-test-private", help="Private test items.")
@number_option(POSITIVE, "--standard-error-public", help="Of one public score.")
@number_option(POSITIVE, "--standard-error-private", help="Of one private score.")
@number_option(
    SHARE,
    "--top",
    help="Share of either board that the model is about. Default: one half, at most 1,500 places.",
)
@submissions_option
@reading_options
@model_option
@domain_option
@field_option
@number_option(CORRELATION, "--correlation", help="Known rho instead of its prior.")
@above_option
@click.option("--output", type=OutputFile("result"), help="netCDF file.")
@interval_option
@seed_option
@estimate_options
def paired(
    file: Path,
    output: Path | None,
    shown: Reported,
    ci_prob: float,
    reading: dict[str, Any],
    **options: Any,
) -> int:
    """Skill of the best team and of the public winner from the public and the private board.

    Without sizes of the test sets or standard errors the noise is learnt from the differences;
    rho then keeps its prior.
    """
    from bayes_sota.core.sample import save_result
    from bayes_sota.data.boards import read_paired_boards
    from bayes_sota.leaderboard.sample_pairs import estimate_paired
    from bayes_sota.leaderboard.specification import chosen_model
    from bayes_sota.leaderboard.summary_pairs import describe_paired

    top, seed, rho = options.pop("top"), options.pop("seed"), options.pop("correlation")
    of_rho = {name: options.pop(name) for name in OF_RHO}
    options |= {name: _both(options, name.rstrip("s")) for name in ("n_test", "standard_errors")}
    options["submissions"] = parse_submissions(options["submissions"])
    private_file = options.pop("private_file")
    above = options.pop("above")
    boards = read_paired_boards(file, private_file, **reading, **options)
    spec = chosen_model(builder="paired", correlation=rho, data=boards, **of_rho)
    tree = estimate_paired(
        boards,
        model=spec,
        random_seed=chosen_seed(seed),
        top=top,
        groups="estimands" if output is None else "all",
    )
    if output is not None:
        save_result(tree, output)
    report = describe_paired(tree, boards, ci_prob, above)
    return shown.deliver(report, draw=partial(draw_best_skill, report))


def _both(reading: dict[str, Any], name: str) -> tuple[Any, Any] | None:
    """Both of a pair of options, or neither."""
    public, private = (reading.pop(f"{name}_{which}") for which in ("public", "private"))
    if (public is None) != (private is None):
        missing = "private" if private is None else "public"
        option = "--" + name.replace("_", "-")
        raise InputError(f"{option}-{missing} is missing: the two boards need one each")
    return None if public is None else (public, private)
