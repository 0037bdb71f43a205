"""What ``bayes-sota epp`` shows and writes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.command_groups import (
    packed_options,
    write_result_files,
)
from bayes_sota.core.command_options import echo_json, output_options, seed_option, top_option
from bayes_sota.core.command_tables import chance, echo_table
from bayes_sota.core.command_types import OutputFile
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

    from bayes_sota.data.matches import Matches
    from bayes_sota.data.score_table import ScoreTable
    from bayes_sota.epp.summary_table import EppTable

__all__ = ["FIGURES", "OVERLAP", "EppOutput", "epp_output_options", "show_result", "size_of"]

OVERLAP = (
    "rounds look like splits of one data set, whose training sets overlap: intervals are about "
    "these splits; --test-fraction (.1 for 10-fold cross-validation) allows for the overlap"
)
FIGURES = ("forest", "matrix", "mean", "ranks", "reliability", "boxplots")


@dataclass(frozen=True)
class EppOutput:
    """Where results go; checked before anything is computed."""

    top: int
    table: Path | None
    figure: Path | None
    figure_kind: str
    output: Path | None
    as_json: bool
    seed: int | None
    quiet: bool

    def __post_init__(self) -> None:
        """Check what goes together."""
        if self.figure is None and self.figure_kind != "forest":
            raise InputError("--figure-kind needs --figure FILE")

    def deliver(
        self,
        result: dict[str, Any],
        table: "EppTable",
        tree: Callable[[], "xr.DataTree"],
        figure: Callable[[str], "PlotCollection"],
    ) -> None:
        """Write the files that were asked for, then print JSON or a table."""
        if self.table is not None:
            table.save(self.table)
        write_result_files(self.output, tree, self.figure, lambda: figure(self.figure_kind))
        if self.as_json:
            echo_json(result)
        else:
            show_result(result, table, self.top, self.quiet)


def epp_output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--top``, ``--table``, ``--figure``, ``--output`` and what every command has, as one."""
    options = (
        output_options,
        seed_option,
        click.option(
            "--output", type=OutputFile("result"), default=None,
            help="Result as a DataTree: FILE.nc.",
        ),
        click.option(
            "--figure-kind", type=click.Choice(FIGURES), default="forest", show_default=True,
            help="What the figure shows.",
        ),
        click.option(
            "--figure", type=OutputFile("figure"), default=None,
            help="Figure: .png, .svg or .pdf.",
        ),
        click.option(
            "--table", type=OutputFile("table"), default=None,
            help="Table of all players: .csv, .md or .json.",
        ),
        top_option(20, "Players shown."),
    )  # fmt: skip
    return packed_options(command, EppOutput, options)


def show_result(result: dict[str, Any], table: "EppTable", top: int, quiet: bool) -> None:
    """Print a leaderboard, its quality, tests, and notes."""
    for note in () if quiet else result.get("reading", ()):
        click.echo(f"Note: {plain_text(note)}")
    rows = table.cells(top)
    header = table.header()
    more = len(table.frame) - len(rows)
    title = result["title"] + (f"; {more:,} more with --top" if more > 0 else "")
    echo_table(header, rows, title)
    for line in [*table.legend(), *_quality_lines(result)]:
        click.echo(line)
    for test in result.get("tests", ()):
        click.echo(_test_line(test))
    for variant in result.get("private_variants", ()):
        click.echo(_variant_line(variant))
    for note in () if quiet else result["notes"]:
        click.echo(f"Note: {plain_text(note)}")
    if result.get("seed") is not None and not quiet:
        click.echo(f"seed {result['seed']}")


def _quality_lines(result: dict[str, Any]) -> list[str]:
    if "checks" in result:
        return [_check_line(result["checks"])]
    if result.get("deviance") is None:
        return []
    p, misfit = result["deviance_p_value"], f"misfit {result['deviance']:.1f}"
    if p is None:
        return [f"Does one order describe the rounds? Not tested ({misfit})."]
    verdict = "no clear sign against it" if p >= 0.05 else "no, players differ between rounds"
    return [
        f"Does one order describe the rounds? p = {chance(p)}: {verdict} ({misfit}, "
        f"{result['deviance_expected']:.1f} expected if these skills were the whole story)."
    ]


def _check_line(checks: dict[str, Any]) -> str:
    p, loo = checks["deviance_p_value"], checks["loo"]
    parts = [] if p is None else [f"Fit check: Bayesian p = {p:.2f} (fine if not near 0 or 1)."]
    if loo is not None:
        bad = f", {loo['n_bad_k']} of them too influential" if loo["n_bad_k"] else ""
        parts.append(
            f"To compare models: elpd {loo['elpd']:.1f} (se {loo['se']:.1f}), leaving out one "
            f"{loo['of']} at a time{bad}."
        )
    return " ".join(parts)


def size_of(data: "ScoreTable | Matches") -> str:
    """Rounds of a table, or matches."""
    from bayes_sota.data.score_table import ScoreTable

    if isinstance(data, ScoreTable):
        return f"{data.n_rounds:,} rounds"
    clusters = f" in {data.n_clusters:,} clusters" if data.clustered else ""
    return f"{data.n_matches:,} matches{clusters}"


def _test_line(test: dict[str, Any]) -> str:
    first, second = (plain_text(name) for name in test["players"])
    low, high = test["win_probability_interval"]
    line = f"{first} against {second}: difference {test['difference']:.3f}, se {test['se']:.3f}, "
    if test.get("p_value") is not None:
        line += (
            f"p = {chance(test['p_value'])} (as if matches were independent, too small as a rule: "
            f"{chance(test['p_value_model'])}); "
        )
    line += f"wins with probability {test['win_probability']:.2f} ({low:.2f} to {high:.2f})"
    if test.get("rope") is not None:
        rope = test["rope"]
        line += (
            f"; better {rope['a_better']:.3f}, equivalent {rope['equivalent']:.3f}, worse "
            f"{rope['b_better']:.3f}"
        )
    return line


def _variant_line(variant: dict[str, Any]) -> str:
    skill = variant["winner_skill"]
    low, high = skill["interval"]
    return (
        f"{plain_text(variant['player'])} as the best of {variant['variants']} private variants: "
        f"EPP {skill['mean']:.2f} ({low:.2f} to {high:.2f}) instead of {variant['epp']:.2f}, rank "
        f"{variant['rank']} instead of {variant['rank_shown']}; if the errors of variants are "
        "correlated: "
        + ", ".join(f"{mean:.2f} at {rho:g}" for rho, mean in variant["sensitivity"][1:])
    )
