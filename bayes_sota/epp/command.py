"""``bayes-sota epp``: skills of players over rounds, by maximum likelihood or with ``--bayes``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import COUNT, NOT_NEGATIVE, OPEN_SHARE, Range, refuse_unused
from bayes_sota.core.command import (
    ESTIMATE_OPTIONS,
    InputFile,
    OutputFile,
    Reported,
    choice_option,
    chosen_seed,
    command,
    interval_option,
    model_option,
    number_option,
    packed_options,
    parse_tries,
    seed_option,
    show_progress,
    top_option,
    write_result,
)
from bayes_sota.core.errors import InfiniteEstimateError, InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report
    from bayes_sota.epp.fit import BradleyTerryFit
    from bayes_sota.epp.reading import Tournament


_ONLY_SAMPLED = {
    "--ties": "half",
    "--rope": None,
    "--model": None,
    "--draws": None,
    "--player-covariates": None,
    "--round-covariates": None,
}
_FIT = ("matches", "penalty", "test_fraction")
_ONLY_FITTED = {
    "--plan": None,
    "--family-separator": None,
    "--more": None,
    "--penalty": 0.0,
    "--best-of": (),
    "--matches": "same-round",
    "--repetitions": None,
}


_OPTIONS: tuple[Callable[..., Any], ...] = (
    choice_option(
        "--matches",
        choices=("same-round", "all-rounds"),
        help="Compare scores of the same round, or any two: only for rounds that are replicates.",
    ),
    click.option("--test", nargs=2, multiple=True, metavar="A B", help="Compare two players."),
    number_option(
        Range(0, 1e6),
        "--penalty",
        default=0.0,
        help="Add so many rounds of ties, which makes all estimates finite. Usual: 0.5.",
    ),
    number_option(
        OPEN_SHARE,
        "--test-fraction",
        help="Rounds are splits of one data set that each test this share of it: they overlap.",
    ),
    number_option(
        Range(0, 1_000_000, whole=True),
        "--repetitions",
        help="Simulated tournaments for the p-value of the deviance; 0 for none. Default: 999, "
        "fewer for thousands of players. With --plan: parts of the rounds, default 20.",
    ),
    click.option(
        "--best-of",
        nargs=2,
        multiple=True,
        metavar="PLAYER N",
        help="PLAYER is the best of N private variants (a number, or a range A:B).",
    ),
    number_option(
        Range(0, 100, open_low=True),
        "--plan",
        metavar="SE",
        help="How many rounds are enough for standard errors of SE (.2 is 5 points of the "
        "probability of winning), for telling neighbours, and for the best; with a learning curve.",
    ),
    click.option(
        "--family-separator",
        metavar="TEXT",
        help="What stands after the family in the names of players: with _ gbm_17 is a "
        "configuration of gbm. Says what further tuning of each family promises.",
    ),
    number_option(
        COUNT,
        "--more",
        help="New configurations of a family, drawn like those that there are. Default: 20.",
    ),
    click.option("--bayes", is_flag=True, help="Sample the Bayesian model with NUTS (PyMC)."),
    model_option,
    choice_option(
        "--ties",
        choices=("half", "davidson", "rao-kupper"),
        help="What a tie is: half a win, or an outcome of its own (with --bayes).",
    ),
    number_option(
        Range(0, 0.5, open_high=True),
        "--rope",
        help="Half-width of equivalence, of the probability of winning about 1/2 (with --bayes).",
    ),
    number_option(
        Range(100, 500_000, whole=True),
        "--draws",
        help="Draws of each chain (with --bayes); default those of the model, 1000.",
    ),
    click.option(
        "--player-covariates",
        type=InputFile(),
        help="Table of the players, named in its first column: families, sizes (with --bayes).",
    ),
    click.option(
        "--round-covariates",
        type=InputFile(),
        help="Table of the rounds: every player has a slope for each number (with --bayes).",
    ),
    choice_option(
        "--format",
        choices=("auto", "wide", "long", "battles", "cv_results", "lm_eval"),
        help="Format of FILES.",
    ),
    choice_option(
        "--players",
        choices=("auto", "rows", "columns"),
        help="Where the players of a wide table are.",
    ),
    click.option("--player-column", help="Column of the players."),
    click.option("--round-column", help="Column of the rounds: folds, splits, tasks, data sets."),
    click.option(
        "--score-column", help="Column of the scores, or metric of cv_results_ or an evaluation."
    ),
    click.option("--tournament-column", help="Column of the tournaments: one leaderboard each."),
    click.option(
        "--group-column", help="Column of what rounds that depend on each other have in common."
    ),
    click.option(
        "--cluster-column", help="Column of what battles have in common: prompt, judge, session."
    ),
    click.option("--lower-is-better", is_flag=True, help="Scores are errors or losses."),
    click.option(
        "--lower-is-better-in",
        multiple=True,
        metavar="ROUND",
        help="A round whose lower scores are better; may be repeated.",
    ),
    number_option(
        NOT_NEGATIVE,
        "--local-rope",
        help="Players tie in a group of folds, or with --sds in a round, if they differ by less "
        "than so many standard deviations of the folds. Usual: 0.4.",
    ),
    click.option(
        "--sds",
        type=InputFile(),
        help="Standard deviations over folds; FILE then holds the means.",
    ),
    click.option(
        "--unpaired-folds",
        is_flag=True,
        help="With --local-rope: folds were not the same for all players.",
    ),
    interval_option,
    top_option(20, "Players shown."),
    choice_option(
        "--figure-kind",
        choices=("forest", "matrix", "ranks", "reliability", "scores", "families"),
        help="What the figure shows: skills, who beats whom, ranks, or (without --bayes) predicted "
        "beside observed wins, mean scores against skills, or boxes by family.",
    ),
    click.option("--output", type=OutputFile("result"), help="Result as a DataTree: FILE.nc."),
    seed_option,
    *reversed(ESTIMATE_OPTIONS),
)


@dataclass(frozen=True)
class EppOutput(Reported):
    """Where results go; checked before anything is computed."""

    top: int
    figure_kind: str
    output: Path | None
    seed: int | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.figure or self.report) and self.figure_kind != "forest":
            raise InputError("--figure-kind needs --figure FILE or --report FILE")


@command(
    epilog="Example: bayes-sota epp scores.csv --players rows --test resnet vit --figure epp.png"
)
@click.argument("files", nargs=-1, required=True, type=InputFile())
@partial(packed_options, kind=EppOutput, options=_OPTIONS[::-1])
def epp(files: tuple[Path, ...], shown: EppOutput, **asked: Any) -> int:
    """EPP meta-scores: skills of players (models) over the rounds (splits, tasks) of a tournament.

    FILES is a table of scores, wide (rounds x players, or with --players rows) or long (player,
    round, score), of several tournaments with --tournament-column; battles (winner, loser, tie);
    cv_results_ of scikit-learn; or results of lm-evaluation-harness, one file per model. Standard
    errors are clustered by round: matches of one round share its scores.
    """
    if asked["bayes"]:
        _refuse(asked, _ONLY_FITTED, "is for maximum likelihood: leave out --bayes")
        if shown.figure_kind in ("reliability", "scores", "families"):
            raise InputError(f"--figure-kind {shown.figure_kind} is of a fit: leave out --bayes")
        if asked["rope"] is not None and not asked["test"]:
            raise InputError("--rope is for a pair of players: --test names it")
    else:
        _refuse(asked, _ONLY_SAMPLED, "is for the Bayesian model: add --bayes")
        if asked["family_separator"] is None:
            _refuse(asked, {"--more": None}, "is for families: add --family-separator")
            if shown.figure_kind == "families":
                raise InputError("--figure-kind families needs --family-separator")
    tables, reading = _read(files, asked)
    estimate = _sample if asked["bayes"] else _fit if len(tables) == 1 else _fit_several
    about = {"ci_prob": asked["ci_prob"], "reading": reading}
    report, result, tree = estimate(tables, shown, asked, about)
    write_result(shown.output, tree)
    draw: Callable[[], PlotCollection] | None
    draw = partial(_figure, result, shown.figure_kind, asked["ci_prob"])
    if asked["plan"] is not None:
        draw = partial(_curve_figure, report.content["learning_curve"])
    elif shown.figure_kind == "families":
        draw = partial(_boxes, result, asked["family_separator"])
    elif len(tables) > 1 and not asked["bayes"]:
        draw = None
    return shown.deliver(report, shown.top, draw)


type Asked = dict[str, Any]
type _Found = tuple[Report, Any, Callable[[], xr.DataTree]]


def _refuse(asked: dict[str, Any], others: dict[str, Any], why: str) -> None:
    """Refuse options that only the other of the two estimates has."""
    for option, default in others.items():
        if asked[option.lstrip("-").replace("-", "_")] != default:
            raise InputError(f"{option} {why}")


def _read(files: Sequence[Path], asked: dict[str, Any]) -> "tuple[list[Tournament], list[str]]":
    from bayes_sota.epp.reading import read_tournaments

    if asked["lower_is_better"] and asked["lower_is_better_in"]:
        raise InputError("--lower-is-better is for all rounds: leave out --lower-is-better-in")
    names = ("format", "players", "local_rope", "sds", "unpaired_folds")
    options = {name: asked[name] for name in asked if name in names or name.endswith("_column")}
    lower = asked["lower_is_better"] or asked["lower_is_better_in"]
    source = files[0] if len(files) == 1 else list(files)
    return read_tournaments(source, lower_is_better=lower, **options)


def _fit(
    tables: "list[Tournament]", shown: EppOutput, asked: dict[str, Any], about: dict[str, Any]
) -> _Found:
    from bayes_sota.epp.fit import fit_epp
    from bayes_sota.epp.summary_report import report_fit

    best_of = [(one, parse_tries(number, "N of --best-of")) for one, number in asked["best_of"]]
    try:
        fit = fit_epp(tables[0], **{name: asked[name] for name in _FIT})
    except InfiniteEstimateError as error:
        raise InputError("; ".join([str(error), *about["reading"]])) from None
    if asked["plan"] is not None:
        return _plan(fit, shown, asked, about), fit, fit.to_datatree
    report = report_fit(
        fit,
        pairs=asked["test"],
        best_of=best_of,
        repetitions=asked["repetitions"],
        random_seed=shown.seed,
        **about,
    )
    return _with_families(report, [fit], asked), fit, fit.to_datatree


def _with_families(report: "Report", boards: Sequence[Any], asked: Asked) -> "Report":
    """The report with what further tuning of each family promises, where families are named."""
    if asked["family_separator"] is None:
        return report
    from bayes_sota.epp.summary_families import add_families

    more = 20 if asked["more"] is None else asked["more"]
    return add_families(report, boards, asked["family_separator"], more)


def _plan(
    fit: "BradleyTerryFit", shown: EppOutput, asked: dict[str, Any], about: dict[str, Any]
) -> "Report":
    from bayes_sota.epp.summary_plan import report_plan

    names = ("test", "best_of", "family_separator")
    unused = {f"--{name.replace('_', '-')}": asked[name] for name in names}
    kind = None if shown.figure_kind == "forest" else shown.figure_kind
    refuse_unused("--plan", unused | {"--output": shown.output, "--figure-kind": kind})
    repetitions = asked["repetitions"]
    return report_plan(
        fit,
        asked["plan"],
        repetitions=20 if repetitions is None else repetitions,
        random_seed=shown.seed,
        **about,
    )


def _fit_several(
    tables: "list[Tournament]", shown: EppOutput, asked: dict[str, Any], about: dict[str, Any]
) -> _Found:
    from bayes_sota.epp.further_fits import fit_tournaments, tournaments_tree
    from bayes_sota.epp.summary_report import report_tournaments

    unused = {"--test": asked["test"], "--best-of": asked["best_of"]}
    unused |= {"--repetitions": asked["repetitions"], "--seed": shown.seed, "--plan": asked["plan"]}
    if shown.figure_kind != "families":
        refuse_unused("several tournaments", unused | {"--figure": shown.figure})
    refuse_unused("several tournaments", unused)
    leaderboards = fit_tournaments(tables, **{name: asked[name] for name in _FIT})
    report = _with_families(report_tournaments(leaderboards, **about), leaderboards, asked)
    return report, leaderboards, lambda: tournaments_tree(leaderboards)


def _sample(
    tables: "list[Tournament]", shown: EppOutput, asked: dict[str, Any], about: dict[str, Any]
) -> _Found:
    from bayes_sota.data.score_table import nearest_player
    from bayes_sota.epp.models import build_model
    from bayes_sota.epp.sample import sample_epp
    from bayes_sota.epp.summary_report import report_draws
    from bayes_sota.leaderboard.specification import chosen_model

    players = list(dict.fromkeys(name for table in tables for name in table.players))
    for name in (name for pair in asked["test"] for name in pair):
        nearest_player(players, name)
    spec = chosen_model(asked["model"], "epp")
    model = build_model(
        tables,  # type: ignore[arg-type]
        spec.priors,
        ties=asked["ties"],
        test_fraction=asked["test_fraction"],
        player_covariates=_covariates(asked["player_covariates"]),
        round_covariates=_covariates(asked["round_covariates"]),
    )
    tree = sample_epp(
        model,
        specification=spec,
        draws=asked["draws"],
        random_seed=chosen_seed(shown.seed),
        progressbar=show_progress(shown.quiet, shown.as_json),
    )
    report = report_draws(
        tree,
        tables,
        pairs=asked["test"],
        rope=asked["rope"],
        test_fraction=asked["test_fraction"],
        **about,
    )
    return report, tree, lambda: tree


def _covariates(file: Path | None) -> "pd.DataFrame | None":
    """Covariates by the first column of a table; columns of numbers are numbers."""
    if file is None:
        return None
    import pandas as pd

    from bayes_sota.data.files.opening import open_table

    table = open_table(file)
    frame = pd.DataFrame(dict(zip(table.header, map(list, table.columns), strict=True)))
    if frame.shape[1] < 2:
        raise InputError(f"{file}: covariates are a column of names and one or more others")
    frame = frame.set_index(frame.columns[0])
    for column in frame.columns:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        if numbers.notna().all():
            frame[column] = numbers
    return frame


def _curve_figure(points: list[dict[str, Any]]) -> "PlotCollection":
    from bayes_sota.epp.plots import plot_learning_curve

    return plot_learning_curve(points)


def _boxes(result: Any, separator: str) -> "PlotCollection":
    from bayes_sota.epp.plots_families import plot_families

    return plot_families(result, separator)


def _figure(result: Any, kind: str, ci_prob: float) -> "PlotCollection":
    from bayes_sota.epp.plots import plot_epp
    from bayes_sota.epp.plots_ranks import plot_rank_distribution, plot_win_matrix

    if kind in ("reliability", "scores"):
        from bayes_sota.epp.plots_fit import plot_mean_scores, plot_reliability

        if kind == "reliability":
            return plot_reliability(result)
        return plot_mean_scores(result, ci_prob=ci_prob)
    if kind == "matrix":
        return plot_win_matrix(result)
    return (plot_epp if kind == "forest" else plot_rank_distribution)(result, ci_prob=ci_prob)
