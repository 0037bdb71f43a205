"""``bayes-sota epp``: skills of players over rounds, by maximum likelihood or with ``--bayes``."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota import data
from bayes_sota import epp as room
from bayes_sota.cli.options import (
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
    reading_options,
    seed_option,
    show_progress,
    top_option,
    write_result,
)
from bayes_sota.core.arguments import OPEN_SHARE, Range
from bayes_sota.core.errors import InfiniteEstimateError, InputError

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report
    from bayes_sota.data.tournaments import Matches, ScoreTable

    type Tournament = ScoreTable | Matches


type Asked = dict[str, Any]
_FIT = ("matches", "penalty", "test_fraction")
_OPTIONS: tuple[Callable[..., Any], ...] = (
    click.option(
        "--players",
        type=click.Choice(["rows", "columns"]),
        help="Where the players of a wide table are; default by the names of columns.",
    ),
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
        Range(0, 100, open_low=True),
        "--plan",
        metavar="SE",
        help="How many rounds are enough for standard errors of SE (.2 is 5 points of the "
        "probability of winning), for telling neighbours, and for the best.",
    ),
    click.option("--bayes", is_flag=True, help="Sample the Bayesian model with NUTS (PyMC)."),
    model_option,
    interval_option,
    top_option(20, "Players shown."),
    click.option("--output", type=OutputFile("result"), help="Result as a DataTree: FILE.nc."),
    seed_option,
    *reversed(ESTIMATE_OPTIONS),
)


@command(
    epilog="Example: bayes-sota epp scores.csv --players rows --test resnet vit --figure epp.png"
)
@click.argument("files", nargs=-1, required=True, type=InputFile())
@reading_options
@partial(packed_options, kind=Reported, options=_OPTIONS[::-1])
def epp(files: tuple[Path, ...], shown: Reported, reading: Asked, **asked: Any) -> int:
    """EPP meta-scores: skills of players (models) over the rounds (splits, tasks) of a tournament.

    FILES is a table of scores, wide (rounds x players, or with --players rows) or long (player,
    round, score), of several tournaments with --column tournament=NAME; battles (winner, loser,
    tie); cv_results_ of scikit-learn; or results of lm-evaluation-harness, one file per model.
    Standard errors are clustered by round: matches of one round share its scores.
    """
    if asked["bayes"]:
        _check_bayes(asked)
    tables, notes = _read(files, asked["players"], reading)
    several = len(tables) > 1 and not asked["bayes"]
    drawn = not several and asked["plan"] is None
    if several and asked["plan"] is not None:
        raise InputError(f"--plan is for one tournament; there are {len(tables):,}")
    if shown.figure and not drawn:
        what = "several tournaments" if several else "a plan"
        raise InputError(f"there is no figure of {what}: leave out --figure")
    about = {"ci_prob": asked["ci_prob"], "reading": notes + _unused(asked, tables)}
    if asked["bayes"]:
        progressbar = show_progress(shown.quiet, shown.as_json)
        report, result, tree = _sample(tables, asked, about, progressbar=progressbar)
    elif several:
        report, result, tree = _fit_several(tables, asked, about)
    else:
        report, result, tree = _fit(tables[0], asked, about)
    write_result(asked["output"], tree)

    def draw() -> "PlotCollection":  # imports ArviZ
        return room.plot_epp(result, ci_prob=asked["ci_prob"])

    return shown.deliver(report, asked["top"], draw if drawn else None)


type _Found = tuple[Report, Any, Callable[[], xr.DataTree]]


def _check_bayes(asked: Asked) -> None:
    """Refuse what asks for another answer than the Bayesian model gives."""
    for option, wrong in (
        ("--plan", asked["plan"] is not None),
        ("--matches all-rounds", asked["matches"] == "all-rounds"),
    ):
        if wrong:
            raise InputError(f"{option} is for maximum likelihood: leave out --bayes")


def _unused(asked: Asked, tables: "list[Tournament]") -> list[str]:
    """A note on options that change nothing here."""
    from bayes_sota.data.tournaments import Matches

    unused = ["penalty"] if asked["bayes"] else ["model"]
    if not asked["bayes"] and (asked["plan"] is not None or len(tables) > 1):
        unused += ["test", "seed"]
    unused += ["matches"] * isinstance(tables[0], Matches)
    given = [n for n in dict.fromkeys(unused) if asked[n] not in (None, (), 0, "same-round")]
    options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
    return [f"not used here: {options}"] * bool(given)


def _read(
    files: Sequence[Path], players: Any, reading: Asked
) -> "tuple[list[Tournament], list[str]]":
    """Tournaments of files, and how they were read."""
    found = data.read_scores(files[0] if len(files) == 1 else files, players=players, **reading)
    tables = [*found.values()] if isinstance(found, dict) else [found]
    return tables, list(dict.fromkeys(note for table in tables for note in table.notes))


def _fit(table: "Tournament", asked: Asked, about: Asked) -> _Found:
    try:
        fit = room.fit_epp(table, **{name: asked[name] for name in _FIT})
    except InfiniteEstimateError as error:
        raise InputError("; ".join([str(error), *about["reading"]])) from None
    if asked["plan"] is not None:
        report = room.report_plan(fit, asked["plan"], **about)
    else:
        report = room.report_fit(fit, pairs=asked["test"], random_seed=asked["seed"], **about)
    return report, fit, fit.to_datatree


def _fit_several(tables: "list[Tournament]", asked: Asked, about: Asked) -> _Found:
    from bayes_sota.epp.further_fits import tournaments_tree

    leaderboards = room.fit_tournaments(tables, **{name: asked[name] for name in _FIT})
    report = room.report_tournaments(leaderboards, **about)
    return report, leaderboards, lambda: tournaments_tree(leaderboards)


def _sample(tables: "list[Tournament]", asked: Asked, about: Asked, *, progressbar: bool) -> _Found:
    from bayes_sota.epp.counts import nearest_player
    from bayes_sota.leaderboard.specification import chosen_model

    players = list(dict.fromkeys(name for table in tables for name in table.players))
    for name in (name for pair in asked["test"] for name in pair):
        nearest_player(players, name)
    spec = chosen_model(asked["model"], "epp")
    model = room.build_model(
        tables,  # type: ignore[arg-type]
        spec.priors,
        test_fraction=asked["test_fraction"],
    )
    tree = room.sample_epp(
        model,
        specification=spec,
        random_seed=chosen_seed(asked["seed"]),
        progressbar=progressbar,
    )
    report = room.report_draws(
        tree, tables, pairs=asked["test"], test_fraction=asked["test_fraction"], **about
    )
    return report, tree, lambda: tree
