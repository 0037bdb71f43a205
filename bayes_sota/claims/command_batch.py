"""``bayes-sota claim batch``: a literature review of claims, from one CSV to another."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bayes_sota.core.arguments import LEVEL, NUMBER
from bayes_sota.core.command_options import (
    echo_json,
    number_option,
    output_options,
    top_option,
)
from bayes_sota.core.command_tables import echo_problem, echo_table
from bayes_sota.core.command_types import InputFile, OutputFile, command
from bayes_sota.core.text import plain_text

if TYPE_CHECKING:
    from bayes_sota.claims.summary_review import ClaimsTable

__all__ = ["batch"]


@command(epilog="Example: bayes-sota claim batch review.csv --output review-checked.csv")
@click.argument("file", type=InputFile())
@click.option(
    "--output",
    type=OutputFile("table"),
    default=None,
    help="FILE with the results: .csv, .md or .json.",
)
@number_option(LEVEL, "--level", default=0.05, help="Of a doubtful claim.")
@click.option("--group-by", default=None, help="Column of the groups; default group.")
@number_option(
    NUMBER,
    "--sd",
    nargs=3,
    help="Coefficients c0 c1 c2 of c0 + c1 mean + c2 mean^2, for means without sd_a and sd_b.",
)
@click.option(
    "--any-accuracy",
    is_flag=True,
    help="Accept accuracies that no whole number of items gives: averages of runs or classes.",
)
@click.option("--skip-problems", is_flag=True, help="Leave out rows that cannot be used.")
@top_option(20, "Claims shown.")
@click.option(
    "--figure",
    type=OutputFile("figure"),
    default=None,
    help="Figure of all claims: .png, .svg or .pdf.",
)
@output_options
def batch(
    file: Path,
    output: Path | None,
    level: float,
    group_by: str | None,
    sd: tuple[float, float, float] | None,
    any_accuracy: bool,
    skip_problems: bool,
    top: int,
    figure: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Probability that each claim of a review is false, and the share of doubtful claims.

    FILE has one claim per row: n_test, and accuracy_a and accuracy_b (the winner's first) or
    mean_a, mean_b, sd_a and sd_b; optionally congruence, pairwise_correlation, sd_difference,
    metric, name and group. All columns come back with p_false, its lowest and highest value over
    all that is possible, and a verdict. Rows that cannot be used are an error; --skip-problems
    leaves them out, with the reason beside them.
    """
    from bayes_sota.claims.summary_review import claims_table

    table = claims_table(
        file, level=level, group_by=group_by, sd=sd, check_counts=not any_accuracy,
        skip_problems=skip_problems,
    )  # fmt: skip
    if figure is not None:
        _draw(table, figure)
    if output is not None:
        table.save(output)
    if as_json:
        echo_json(table.to_dict())
    else:
        _echo(table, None if output is None else plain_text(str(output)), top, quiet)
    for reason in table.reasons:
        echo_problem("warning", f"left out: {reason}")
    return 1 if table.reasons else 0


def _draw(table: "ClaimsTable", path: Path) -> None:
    from bayes_sota.claims.plots import plot_claims
    from bayes_sota.core.plots_files import save_figure

    frame = table.frame.assign(name=table.names(), group=table.groups())
    shown = plot_claims(frame, level=table.level, backend="matplotlib")
    save_figure(shown, path)


def _echo(table: "ClaimsTable", written: str | None, top: int, quiet: bool) -> None:
    echo_table(["claim", "group", "P(false)", "range", "verdict"], table.cells(top))
    title = f"Claims whose probability of being false is above {table.level:.3g}, by assumption"
    header = [table.group_by or "", "claims", "expected false", "averaged", "at the lowest"]
    echo_table([*header, "at the highest", "problems"], table.share_cells(), title)
    click.echo(plain_text(table.finding))
    if quiet:
        return
    for line in table.legend(top):
        click.echo(line)
    if written is not None:
        click.echo(f"Written to {written}")
