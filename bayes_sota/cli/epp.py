"""``bayes-sota epp``: skills of players over rounds."""

from pathlib import Path
from typing import Any

import click

from bayes_sota import data
from bayes_sota import epp as room
from bayes_sota.cli.options import Input, command, note_unused, option, saves
from bayes_sota.cli.output import FIGURES, Answer
from bayes_sota.core.arguments import OPEN_SHARE, Range
from bayes_sota.core.errors import InfiniteEstimateError, InputError

_MATCHES = ["same-round", "all-rounds"]
_OF_ROUNDS = "Compare scores within a round, or between any two rounds that are replicates."
_PAIRS = "The figure shows which pairs differ, adjusted for their number (critical differences)."
_PENALTY = "Add this many rounds of ties, so that all estimates are finite (usually 0.5)."
_FRACTION = "Rounds are overlapping random splits of one data set, with test sets of this share."
_PLAN = (
    "Rounds needed for standard errors of SE (0.2 is 5 points of the probability of "
    "winning), to distinguish neighbours, and to find the best."
)


@command(
    uses="reading prob seed top",
    tree=True,
    example="epp scores.csv --players rows --test resnet vit --save epp.png",
)
@click.argument("files", nargs=-1, required=True, type=Input())
@option("--players", choices=["rows", "columns"], help="Where the players are in a wide table.")
@option("--matches", choices=_MATCHES, default=_MATCHES[0], rare=True, help=_OF_ROUNDS)
@option("--test", nargs=2, multiple=True, help="Compare two players.")
@option("--pairs", is_flag=True, help=_PAIRS)
@option("--penalty", limits=Range(0, 1e6), default=0.0, help=_PENALTY)
@option("--test-fraction", limits=OPEN_SHARE, rare=True, help=_FRACTION)
@option("--plan", limits=Range(0, 100, open_low=True), metavar="SE", rare=True, help=_PLAN)
@option("--bayes", is_flag=True, help="Add P(best) and ranks from a Bayesian model.")
def epp(
    files: tuple[Path, ...],
    players: Any,
    test: tuple[tuple[str, str], ...],
    pairs: bool,
    plan: float | None,
    bayes: bool,
    prob: float,
    seed: int,
    reading: dict[str, Any],
    **asked: Any,
) -> Answer:
    """EPP meta-scores: skills of players (models) over the rounds (splits, tasks) of a tournament.

    FILES is a table of scores, wide (rounds x players, or with --players rows) or long (player,
    round, score; several tournaments with --column tournament=NAME); a table of battles (winner,
    loser, tie); or results of lm-evaluation-harness, one file per model. Standard errors are
    clustered by round, because matches of one round share its scores.
    """
    if bayes and plan is not None:
        raise InputError("--plan uses maximum likelihood: leave out --bayes")
    found = data.read_scores(files[0] if len(files) == 1 else files, players=players, **reading)
    tables: list[Any] = [*found.values()] if isinstance(found, dict) else [found]
    notes = list(dict.fromkeys(note for table in tables for note in table.notes))
    about: dict[str, Any] = {"ci_prob": prob, "reading": notes}
    if isinstance(tables[0], data.Matches):
        note_unused("on battles", "matches")
    if bayes:
        note_unused("with --bayes", "penalty", "pairs")
        tree = _drawn(tables, test, asked, seed)
        about["test_fraction"] = asked["test_fraction"]
        report = room.report_draws(tree, tables, pairs=test, **about)
        return Answer(report, lambda: room.plot_epp(tree, ci_prob=prob), lambda: tree)
    if len(tables) > 1:
        if plan is not None:
            raise InputError(f"--plan takes one tournament, and there are {len(tables):,}")
        note_unused("on several tournaments", "test", "seed", "pairs")
        fits = [*room.fit_tournaments(tables, **asked)]
        report = room.report_tournaments(fits, **about)
        return Answer(report, tree=lambda: room.tournaments_tree(fits))
    fit = room.fit_epp(tables[0], **asked)
    if plan is not None:
        note_unused("with --plan", "test", "seed", "pairs")
        return Answer(room.report_plan(fit, plan, **about), tree=fit.to_datatree)
    report = room.report_fit(fit, pairs=test, random_seed=seed, **about)
    if not saves(*FIGURES, ".html"):
        note_unused("without a figure", "pairs")

    def draw() -> Any:
        return (room.plot_critical_differences if pairs else room.plot_epp)(fit, ci_prob=prob)

    return Answer(report, draw, fit.to_datatree)


def _drawn(tables: list[Any], test: Any, asked: dict[str, Any], seed: int) -> Any:
    """Draws of the skills: from finite estimates of one tournament, else by NUTS."""
    from bayes_sota.epp.counts import two_players
    from bayes_sota.leaderboard.specification import chosen_model

    players = list(dict.fromkeys(name for table in tables for name in table.players))
    for a, b in test:
        two_players(players, a, b)
    spec = chosen_model(None, "epp")
    try:
        if len(tables) == 1:
            fit = room.fit_epp(tables[0], **asked | {"penalty": 0.0})
            return room.infer_skills(fit, spec.priors, random_seed=seed)
    except InfiniteEstimateError:
        pass
    if asked["matches"] == "all-rounds":
        problem = "--bayes with --matches all-rounds needs one tournament with finite estimates"
        raise InputError(problem, fix="leave out one of the two options")
    built = room.build_model(tables, spec.priors, test_fraction=asked["test_fraction"])
    return room.sample_epp(built, specification=spec, random_seed=seed)
