"""How ``bayes-sota epp`` reads its files, and the options that say so.

What ``bayes-sota epp`` shows and writes.

Which figure ``bayes-sota epp --figure-kind`` draws of which result.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import NOT_NEGATIVE
from bayes_sota.core.command import (
    InputFile,
    OutputFile,
    echo_json,
    number_option,
    output_options,
    packed_options,
    seed_option,
    top_option,
    write_result_files,
)
from bayes_sota.core.command_tables import echo_table
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import chance, plain_text

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

    from bayes_sota.data.matches import Matches
    from bayes_sota.data.score_table import ScoreTable
    from bayes_sota.epp.fit import BradleyTerryFit
    from bayes_sota.epp.summary import EppTable
    from bayes_sota.epp.tournaments import TournamentLeaderboard


_COLUMNS = (
    ("--player-column", "Column of the players."),
    ("--round-column", "Column of the rounds: folds, splits, tasks, data sets."),
    ("--score-column", "Column of the scores, or metric of cv_results_ or an evaluation."),
    ("--tournament-column", "Column of the tournaments: one leaderboard each."),
    ("--group-column", "Column of what rounds that depend on each other have in common."),
    ("--cluster-column", "Column of what battles have in common: prompt, judge, session."),
)


def reading_score_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of a table of scores: format, orientation, columns, direction, local ROPE."""
    for option in (
        click.option(
            "--unpaired-folds", is_flag=True,
            help="With --local-rope: folds were not the same for all players.",
        ),
        click.option(
            "--sds", type=InputFile(), default=None,
            help="Standard deviations over folds; FILE then holds the means.",
        ),
        number_option(
            NOT_NEGATIVE, "--local-rope",
            help="Players tie in a group of folds, or with --sds in a round, if they differ by "
            "less than so many standard deviations of the folds. Usual: 0.4.",
        ),
        click.option(
            "--lower-is-better-in", "lower_rounds", multiple=True, metavar="ROUND",
            help="A round whose lower scores are better; may be repeated.",
        ),
        click.option("--lower-is-better", is_flag=True, help="Scores are errors or losses."),
        *(click.option(name, default=None, help=text) for name, text in reversed(_COLUMNS)),
        click.option(
            "--players", type=click.Choice(["auto", "rows", "columns"]), default="auto",
            show_default=True, help="Where the players of a wide table are.",
        ),
        click.option(
            "--format", "file_format",
            type=click.Choice(["auto", "wide", "long", "battles", "cv_results", "lm_eval"]),
            default="auto", show_default=True, help="Format of FILES.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def read_tournaments(
    files: tuple[Path, ...],
    *,
    file_format: str,
    lower_is_better: bool,
    lower_rounds: tuple[str, ...],
    local_rope: float | None,
    sds: Path | None,
    unpaired_folds: bool,
    **columns: Any,
) -> tuple[list["ScoreTable | Matches"], list[str]]:
    """Tournaments of the files, and what a user should know about how they were read."""
    from bayes_sota.data.read_scores import read_noted_scores
    from bayes_sota.epp.local_rope import THRESHOLD

    if lower_is_better and lower_rounds:
        raise InputError("--lower-is-better is for all rounds: leave out --lower-is-better-in")
    options = {
        "format": file_format, "lower_is_better": lower_is_better or lower_rounds, **columns
    }  # fmt: skip
    source: Any = files[0] if len(files) == 1 else list(files)
    if sds is not None:
        chosen = THRESHOLD if local_rope is None else local_rope
        note = (
            f"players tie in a round if they differ by less than {chosen:g} standard "
            "deviations of the folds (--local-rope)"
        )
        return [_from_means(source, sds, chosen, unpaired_folds, options)], [note]
    found = read_noted_scores(source, **options)
    scores = found.scores
    tables: list[ScoreTable | Matches] = (
        list(scores.values()) if isinstance(scores, dict) else [scores]
    )
    if local_rope is not None:
        matches = [_from_folds(table, local_rope, not unpaired_folds) for table in tables]
        return list(matches), list(found.notes)
    if unpaired_folds:
        raise InputError("--unpaired-folds is for --local-rope")
    pointed_out = [] if lower_is_better else _look_like_errors(tables)
    return tables, [*found.notes, *pointed_out]


def _from_means(
    source: Any, sds: Path, threshold: float, unpaired: bool, options: dict[str, Any]
) -> "Matches":
    from bayes_sota.epp.local_rope import local_rope_matches_of_means, read_means

    if unpaired:
        raise InputError("--unpaired-folds is for scores of folds: --sds has no folds")
    means, deviations = read_means(source, sds, **options)
    return local_rope_matches_of_means(means, deviations, threshold=threshold)


def _look_like_errors(tables: "list[ScoreTable | Matches]") -> list[str]:
    """Rounds whose names say that lower is better, taken as higher is better."""
    from bayes_sota.data.columns import is_loss
    from bayes_sota.data.score_table import ScoreTable

    found = [
        label
        for table in tables
        if isinstance(table, ScoreTable)
        for label, lower in zip(table.rounds, table.lower_is_better, strict=True)
        if not lower and is_loss(label)
    ]
    if not found:
        return []
    return [
        f"{found[0]} looks like an error; higher is taken as better: --lower-is-better-in names "
        "rounds where it is not"
    ]


def _from_folds(table: "ScoreTable | Matches", threshold: float, paired: bool) -> "Matches":
    from bayes_sota.data.matches import Matches
    from bayes_sota.epp.local_rope import local_rope_matches

    if isinstance(table, Matches):
        raise InputError("--local-rope is for scores of folds: these are battles")
    if table.groups is None:
        raise InputError(
            "--local-rope takes scores in several folds of every data set: --group-column names "
            "the data sets; means and standard deviations are given by FILE and --sds"
        )
    return local_rope_matches(table, threshold=threshold, paired=paired)


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


_MOST_FAMILIES = 8


def figure_of_fit(fit: "BradleyTerryFit", kind: str, prob: float) -> "PlotCollection":
    """Figure of one leaderboard."""
    if kind == "mean":
        from bayes_sota.epp.plots_paper import plot_epp_against_mean

        return plot_epp_against_mean(fit, prob=prob)
    if kind == "reliability":
        from bayes_sota.epp.plots_paper import plot_reliability
        from bayes_sota.epp.quality import reliability

        return plot_reliability(reliability(fit))
    if kind == "boxplots":
        families = len({_family(player) for player in fit.players})
        if not 1 < families <= min(_MOST_FAMILIES, len(fit.players) - 1):
            raise InputError(
                "--figure-kind boxplots compares tournaments, or two to "
                f"{_MOST_FAMILIES} families of players that are alike but for a number; for one "
                "tournament of other players take --figure-kind forest"
            )
        return figure_of_tournaments([fit], kind)
    return _figure_of_players(fit, kind, prob)


def figure_of_draws(tree: Any, kind: str, prob: float) -> "PlotCollection":
    """Figure of a posterior."""
    if kind not in ("forest", "matrix", "ranks"):
        raise InputError(f"--figure-kind {kind} is for maximum likelihood: leave out --bayes")
    return _figure_of_players(tree, kind, prob)


def figure_of_tournaments(
    leaderboards: "Sequence[TournamentLeaderboard | BradleyTerryFit]", kind: str
) -> "PlotCollection":
    """Boxplots of families of players: what a name has before its number, if that makes few."""
    if kind != "boxplots":
        raise InputError("a figure of several tournaments is --figure-kind boxplots")
    from bayes_sota.epp.plots_paper import plot_epp_boxplots

    names = [
        getattr(board, "tournament", None) or board.data.tournament  # type: ignore[union-attr]
        for board in leaderboards
    ]
    families = {_family(player) for board in leaderboards for player in board.players}
    family = _family if len(families) <= _MOST_FAMILIES else lambda player: "all players"
    return plot_epp_boxplots(dict(zip(names, leaderboards, strict=True)), family)


def _figure_of_players(result: Any, kind: str, prob: float) -> "PlotCollection":
    if kind == "matrix":
        from bayes_sota.epp.plots import plot_win_matrix

        return plot_win_matrix(result)
    if kind == "ranks":
        from bayes_sota.epp.plots import plot_rank_distribution

        return plot_rank_distribution(result, prob=prob)
    from bayes_sota.epp.plots import plot_epp

    return plot_epp(result, prob=prob)


def _family(player: str) -> str:
    """Name without its trailing number.

    Examples
    --------
    >>> _family("gbm1305"), _family("ranger_9"), _family("VAE")
    ('gbm', 'ranger', 'VAE')
    """
    return re.sub(r"[-_ .#]*\d+%?$", "", player) or player
