"""``bayes-sota epp``: skills of players over rounds, by maximum likelihood or with ``--bayes``."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota import epp as room
from bayes_sota.core.arguments import COUNT, NOT_NEGATIVE, OPEN_SHARE, Range, refuse_unused
from bayes_sota.core.command import (
    ESTIMATE_OPTIONS,
    InputFile,
    OutputFile,
    Reported,
    choice_option,
    chosen_figure,
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


_FIT = ("matches", "penalty", "test_fraction")
_ONLY_FITTED = ("plan", "family_separator", "more", "penalty", "best_of", "matches", "repetitions")
_ONLY_SAMPLED = ("ties", "rope", "model", "draws", "player_covariates", "round_covariates")
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


@command(
    epilog="Example: bayes-sota epp scores.csv --players rows --test resnet vit --figure epp.png"
)
@click.argument("files", nargs=-1, required=True, type=InputFile())
@partial(packed_options, kind=Reported, options=_OPTIONS[::-1])
def epp(files: tuple[Path, ...], shown: Reported, **asked: Any) -> int:
    """EPP meta-scores: skills of players (models) over the rounds (splits, tasks) of a tournament.

    FILES is a table of scores, wide (rounds x players, or with --players rows) or long (player,
    round, score), of several tournaments with --tournament-column; battles (winner, loser, tie);
    cv_results_ of scikit-learn; or results of lm-evaluation-harness, one file per model. Standard
    errors are clustered by round: matches of one round share its scores.
    """
    kind = asked["figure_kind"]
    chosen_figure(shown, None if kind == "forest" else kind, kind)
    if asked["bayes"]:
        _refuse(asked, _ONLY_FITTED, "is for maximum likelihood: leave out --bayes")
        if kind in ("reliability", "scores", "families"):
            raise InputError(f"--figure-kind {kind} is of a fit: leave out --bayes")
        if asked["rope"] is not None and not asked["test"]:
            raise InputError("--rope is for a pair of players: --test names it")
    else:
        _refuse(asked, _ONLY_SAMPLED, "is for the Bayesian model: add --bayes")
        if asked["family_separator"] is None:
            _refuse(asked, ["more"], "is for families: add --family-separator")
            if kind == "families":
                raise InputError("--figure-kind families needs --family-separator")
    tables, reading = _read(files, asked)
    about = {"ci_prob": asked["ci_prob"], "reading": reading}
    if asked["bayes"]:
        progressbar = show_progress(shown.quiet, shown.as_json)
        report, result, tree = _sample(tables, asked, about, progressbar=progressbar)
    elif len(tables) == 1:
        report, result, tree = _fit(tables[0], asked, about)
    else:
        report, result, tree = _fit_several(tables, shown.figure, asked, about)
    write_result(asked["output"], tree)
    drawn = asked["bayes"] or len(tables) == 1 or kind == "families"
    draw = partial(_figure, kind, result, asked) if drawn else None
    return shown.deliver(report, asked["top"], draw)


type Asked = dict[str, Any]
type _Found = tuple[Report, Any, Callable[[], xr.DataTree]]


def _values_of(asked: Asked, names: Iterable[str]) -> Asked:
    """What was asked, by the options that users know."""
    return {f"--{name.replace('_', '-')}": asked[name] for name in names}


def _refuse(asked: Asked, names: Iterable[str], why: str) -> None:
    """Refuse what is not at its default, though only the other of the two estimates has it."""
    defaults = {param.opts[0]: param.default for param in epp.params}
    for option, value in _values_of(asked, names).items():
        if value is not None and value not in ((), defaults[option]):
            raise InputError(f"{option} {why}")


def _read(files: Sequence[Path], asked: Asked) -> "tuple[list[Tournament], list[str]]":
    if asked["lower_is_better"] and asked["lower_is_better_in"]:
        raise InputError("--lower-is-better is for all rounds: leave out --lower-is-better-in")
    names = ("format", "players", "local_rope", "sds", "unpaired_folds")
    options = {name: asked[name] for name in asked if name in names or name.endswith("_column")}
    lower = asked["lower_is_better"] or asked["lower_is_better_in"]
    source = files[0] if len(files) == 1 else list(files)
    return room.read_tournaments(source, lower_is_better=lower, **options)


def _fit(table: "Tournament", asked: Asked, about: Asked) -> _Found:
    best_of = [(one, parse_tries(number, "N of --best-of")) for one, number in asked["best_of"]]
    try:
        fit = room.fit_epp(table, **{name: asked[name] for name in _FIT})
    except InfiniteEstimateError as error:
        raise InputError("; ".join([str(error), *about["reading"]])) from None
    if asked["plan"] is not None:
        report = _plan(fit, asked, about)
        return report, report.content["learning_curve"], fit.to_datatree
    report = room.report_fit(
        fit,
        pairs=asked["test"],
        best_of=best_of,
        repetitions=asked["repetitions"],
        random_seed=asked["seed"],
        **about,
    )
    return _with_families(report, [fit], asked), fit, fit.to_datatree


def _with_families(report: "Report", boards: Sequence[Any], asked: Asked) -> "Report":
    """The report with what further tuning of each family promises, where families are named."""
    if asked["family_separator"] is None:
        return report
    from bayes_sota.epp.summary_promises import add_families

    more = 20 if asked["more"] is None else asked["more"]
    return add_families(report, boards, asked["family_separator"], more)


def _plan(fit: "BradleyTerryFit", asked: Asked, about: Asked) -> "Report":
    unused = _values_of(asked, ("test", "best_of", "family_separator", "output"))
    kind = None if asked["figure_kind"] == "forest" else asked["figure_kind"]
    refuse_unused("--plan", unused | {"--figure-kind": kind})
    repetitions = 20 if asked["repetitions"] is None else asked["repetitions"]
    return room.report_plan(
        fit, asked["plan"], repetitions=repetitions, random_seed=asked["seed"], **about
    )


def _fit_several(
    tables: "list[Tournament]", figure: Path | None, asked: Asked, about: Asked
) -> _Found:
    from bayes_sota.epp.further_fits import tournaments_tree

    unused = _values_of(asked, ("test", "best_of", "repetitions", "seed", "plan"))
    figure = None if asked["figure_kind"] == "families" else figure
    refuse_unused("several tournaments", unused | {"--figure": figure})
    leaderboards = room.fit_tournaments(tables, **{name: asked[name] for name in _FIT})
    report = _with_families(room.report_tournaments(leaderboards, **about), leaderboards, asked)
    return report, leaderboards, lambda: tournaments_tree(leaderboards)


def _sample(tables: "list[Tournament]", asked: Asked, about: Asked, *, progressbar: bool) -> _Found:
    from bayes_sota.data.score_table import nearest_player
    from bayes_sota.leaderboard.specification import chosen_model

    players = list(dict.fromkeys(name for table in tables for name in table.players))
    for name in (name for pair in asked["test"] for name in pair):
        nearest_player(players, name)
    spec = chosen_model(asked["model"], "epp")
    model = room.build_model(
        tables,  # type: ignore[arg-type]
        spec.priors,
        ties=asked["ties"],
        test_fraction=asked["test_fraction"],
        player_covariates=_covariates(asked["player_covariates"]),
        round_covariates=_covariates(asked["round_covariates"]),
    )
    tree = room.sample_epp(
        model,
        specification=spec,
        draws=asked["draws"],
        random_seed=chosen_seed(asked["seed"]),
        progressbar=progressbar,
    )
    report = room.report_draws(
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


def _figure(kind: str, result: Any, asked: Asked) -> "PlotCollection":
    """A figure of a fit, a posterior or several leaderboards; of a plan its learning curve."""
    if asked["plan"] is not None:
        return room.plot_learning_curve(result)
    with_intervals: dict[str, Callable[..., PlotCollection]] = {
        "forest": room.plot_epp,
        "ranks": room.plot_rank_distribution,
        "scores": room.plot_mean_scores,
    }
    without: dict[str, Callable[..., PlotCollection]] = {
        "matrix": room.plot_win_matrix,
        "reliability": room.plot_reliability,
        "families": partial(room.plot_families, separator=asked["family_separator"]),
    }
    if kind in with_intervals:
        return with_intervals[kind](result, ci_prob=asked["ci_prob"])
    return without[kind](result)
