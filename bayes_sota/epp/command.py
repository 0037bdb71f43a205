"""``bayes-sota epp``: Bradley-Terry skills of players over rounds.

``bayes-sota epp --bayes``: the Bayesian model by NUTS.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import OPEN_SHARE, Range, refuse_unused
from bayes_sota.core.command import (
    InputFile,
    command,
    echo_verdict,
    interval_option,
    number_option,
    show_progress,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted
from bayes_sota.epp.command_output import (
    OVERLAP,
    EppOutput,
    epp_output_options,
    read_tournaments,
    reading_score_options,
    size_of,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayes_sota.data.matches import Matches
    from bayes_sota.data.score_table import ScoreTable
    from bayes_sota.epp.fit import BradleyTerryFit
    from bayes_sota.epp.quality import LeaderboardQuality
    from bayes_sota.epp.summary import EppTable


_FEW_ROUNDS = 6
_DRAWS = Range(100, 500_000, whole=True)
_PENALTY = Range(0, 1e6)
_REPETITIONS = Range(0, 1_000_000, whole=True)
_ROPE = Range(0, 0.5, open_high=True)


@command(
    epilog="Example: bayes-sota epp scores.csv --players rows --test resnet vit --figure epp.png"
)
@click.argument("files", nargs=-1, required=True, type=InputFile())
@click.option(
    "--matches", type=click.Choice(["same-round", "all-rounds"]), default="same-round",
    show_default=True,
    help="Compare scores of the same round, or any two: only for rounds that are replicates.",
)  # fmt: skip
@click.option("--test", "pairs", nargs=2, multiple=True, metavar="A B", help="Compare two players.")
@number_option(
    _PENALTY,
    "--penalty",
    default=0.0,
    help="Add so many rounds of ties, which makes all estimates finite. Usual: 0.5.",
)
@number_option(
    OPEN_SHARE,
    "--test-fraction",
    help="Rounds are splits of one data set that each test this share of it: they overlap.",
)
@number_option(
    _REPETITIONS,
    "--repetitions",
    help="Simulated tournaments for the p-value of the deviance; 0 for none. Default: 999, fewer "
    "for thousands of players.",
)
@click.option(
    "--best-of", nargs=2, multiple=True, metavar="PLAYER N",
    help="PLAYER is the best of N private variants (a number, or a range A:B).",
)  # fmt: skip
@click.option("--bayes", is_flag=True, help="Sample the Bayesian model with NUTS (PyMC).")
@click.option(
    "--ties", type=click.Choice(["half", "davidson", "rao-kupper"]), default="half",
    show_default=True, help="What a tie is: half a win, or an outcome of its own (with --bayes).",
)  # fmt: skip
@number_option(
    _ROPE,
    "--rope",
    help="Half-width of equivalence, of the probability of winning about 1/2 (with --bayes).",
)
@number_option(_DRAWS, "--draws", help="Draws of each of four chains (with --bayes): 1000.")
@click.option(
    "--player-covariates", type=InputFile(), default=None,
    help="Table of the players, named in its first column: families, sizes (with --bayes).",
)  # fmt: skip
@click.option(
    "--round-covariates", type=InputFile(), default=None,
    help="Table of the rounds: every player has a slope for each number (with --bayes).",
)  # fmt: skip
@reading_score_options
@interval_option
@epp_output_options
def epp(
    files: tuple[Path, ...],
    matches: Any,
    pairs: tuple[tuple[str, str], ...],
    penalty: float,
    test_fraction: float | None,
    repetitions: int | None,
    best_of: tuple[tuple[str, str], ...],
    bayes: bool,
    ties: Any,
    rope: float | None,
    draws: int | None,
    player_covariates: Path | None,
    round_covariates: Path | None,
    prob: float,
    shown: EppOutput,
    **reading: Any,
) -> int:
    """EPP meta-scores: skills of players (models) over the rounds (splits, tasks) of a tournament.

    FILES is a table of scores, wide (rounds x players, or with --players rows) or long (player,
    round, score), of several tournaments with --tournament-column; battles (winner, loser, tie);
    cv_results_ of scikit-learn; or results of lm-evaluation-harness, one file per model. Standard
    errors are clustered by round: matches of one round share its scores.
    """

    _check_together(
        bayes,
        {
            "--ties": ties != "half",
            "--rope": rope is not None,
            "--draws": draws is not None,
            "--player-covariates": player_covariates,
            "--round-covariates": round_covariates,
        },
        {
            "--penalty": penalty,
            "--best-of": best_of,
            "--matches": matches != "same-round",
            "--repetitions": repetitions is not None,
        },
    )
    tables, notes = read_tournaments(files, **reading)
    if bayes:
        asked = BayesOptions(
            ties,
            rope,
            1000 if draws is None else draws,
            test_fraction,
            player_covariates,
            round_covariates,
        )
        return sample_tournaments(tables, notes, asked, pairs, prob, shown)
    if len(tables) > 1:
        unused = {
            "--test": pairs, "--best-of": best_of, "--repetitions": repetitions,
            "--seed": shown.seed,
        }  # fmt: skip
        refuse_unused("several tournaments", unused)
        _several(tables, notes, matches, penalty, test_fraction, prob, shown)
    else:
        _one(tables[0], notes, matches, penalty, test_fraction, repetitions, pairs, best_of, prob,
             shown)  # fmt: skip
    return 0


def _check_together(bayes: bool, sampled: dict[str, Any], fitted: dict[str, Any]) -> None:
    """Refuse options that the other of the two estimates has."""
    for name, given in sampled.items():
        if given and not bayes:
            raise InputError(f"{name} is for the Bayesian model: add --bayes")
    for name, given in fitted.items():
        if given and bayes:
            raise InputError(f"{name} is for maximum likelihood: leave out --bayes")


def _one(
    data: "ScoreTable | Matches",
    notes: list[str],
    matches: Any,
    penalty: float,
    test_fraction: float | None,
    repetitions: int | None,
    pairs: tuple[tuple[str, str], ...],
    best_of: tuple[tuple[str, str], ...],
    prob: float,
    shown: EppOutput,
) -> None:
    from bayes_sota.core.sample import resolve_seed
    from bayes_sota.epp.fit import fit_epp
    from bayes_sota.epp.quality import leaderboard_quality, not_comparable
    from bayes_sota.epp.summary import epp_table

    fit = fit_epp(data, matches, penalty=penalty, test_fraction=test_fraction)
    tests = [asdict(fit.test(a, b, prob)) for a, b in pairs]
    reason = not_comparable(fit.data)
    if reason:
        refuse_unused(
            f"a deviance that is not tested, as {reason}", {"--repetitions": repetitions or None}
        )
    if (repetitions == 0 or reason) and not best_of:
        refuse_unused("what is computed without draws", {"--seed": shown.seed})
    rng, seed = resolve_seed(shown.seed)
    quality = None if repetitions == 0 or reason else leaderboard_quality(
        fit, repetitions=repetitions, random_seed=rng
    )  # fmt: skip
    table = epp_table(fit, prob)
    result = _result(fit, table, quality) | {
        "tests": tests,
        "test": tests[0] if tests else None,
        "private_variants": [_variant(fit, name, n, prob, rng) for name, n in best_of],
        "reading": notes,
        "notes": _remarks(fit) + ([f"the deviance is not compared: {reason}"] if reason else []),
        "prob": prob,
        "seed": int(seed) if quality or best_of else None,
    }

    def drawn(kind: str) -> Any:
        from bayes_sota.epp.command_output import figure_of_fit

        return figure_of_fit(fit, kind, prob)

    shown.deliver(result, table, fit.to_datatree, drawn)


def _several(
    tables: "list[ScoreTable | Matches]",
    notes: list[str],
    matches: Any,
    penalty: float,
    test_fraction: float | None,
    prob: float,
    shown: EppOutput,
) -> None:
    from bayes_sota.epp.summary import tournaments_table
    from bayes_sota.epp.tournaments import fit_tournaments
    from bayes_sota.epp.trees import tournaments_tree

    found = fit_tournaments(
        tables, matches, penalty=penalty, test_fraction=test_fraction, jobs=_jobs(tables)
    )
    table = tournaments_table(found, prob)
    infinite = [board.tournament for board in found if not board.connected]
    if infinite:
        how_many = counted(len(infinite), "tournament")
        notes = [*notes, f"estimates of {how_many} are finite by the penalty only, the first is "
                 f"{infinite[0]}"]  # fmt: skip
    result = {
        "title": f"{len(found):,} tournaments, {len(table.frame):,} players",
        "tournaments": [
            {
                "tournament": board.tournament,
                "deviance": board.deviance,
                "df": board.deviance_df,
                "paper_standardized_deviance": board.paper_standardized_deviance,
                "connected": board.connected,
            }
            for board in found
        ],
        **table.to_dict(),
        "notes": notes,
        "prob": prob,
    }

    def drawn(kind: str) -> Any:
        from bayes_sota.epp.command_output import figure_of_tournaments

        return figure_of_tournaments(found, kind)

    shown.deliver(result, table, lambda: tournaments_tree(found), drawn)


def _jobs(tables: "list[ScoreTable | Matches]") -> int:
    """Processes: starting them costs a second."""
    import os

    work = sum(table.n_players**2 for table in tables)
    return min(len(tables), os.cpu_count() or 1) if work > 4_000_000 else 1


def _result(
    fit: "BradleyTerryFit", table: "EppTable", quality: "LeaderboardQuality | None"
) -> dict[str, Any]:
    return {
        "title": f"{fit.data.tournament}: {len(fit.players):,} players, {size_of(fit.data)}"
        + (", all-rounds matches" if fit.kind == "all-rounds" else ""),
        "n_rounds": getattr(fit.data, "n_rounds", None),
        **table.to_dict(),
        "matches": fit.kind,
        "deviance": fit.deviance,
        "df": fit.deviance_df,
        "deviance_p_value": quality.p_value if quality else None,
        "deviance_expected": quality.expected if quality else None,
        "standardized_deviance": quality.standardized_deviance if quality else None,
        "paper": fit.paper,
        "connected": fit.connected,
        "penalty": fit.penalty,
    }


def _remarks(fit: "BradleyTerryFit") -> list[str]:
    """What the numbers rest on, where a reader would not expect it."""
    import numpy as np

    from bayes_sota.data.matches import Matches

    found = []
    if fit.penalty and not fit.connected:
        found.append(
            "without the penalty some estimates would be infinite: those skills depend on it"
        )
    if isinstance(fit.data, Matches) and not fit.data.clustered:
        found.append(
            "matches are taken as independent of each other; if some share a prompt, judge or "
            "round, give --cluster-column"
        )
    elif (least := int(fit.clusters_of_players.min())) < _FEW_ROUNDS:
        few = [fit.players[k] for k in np.flatnonzero(fit.clusters_of_players == least)]
        who = "all players are" if len(few) == len(fit.players) else f"{few[0]} is"
        found.append(f"{who} in {least} independent rounds only: intervals are very wide")
    if fit.kind == "all-rounds" and not fit.data_is_splits:
        found.append(
            "all-rounds matches compare scores of different rounds: only for rounds that are "
            "replicates, such as splits of one data set"
        )
    if fit.data_is_splits and fit.test_fraction is None:
        found.append(OVERLAP)
    return found


def _variant(
    fit: "BradleyTerryFit", player: str, variants: str, prob: float, rng: Any
) -> dict[str, Any]:
    from bayes_sota.core.command import parse_tries
    from bayes_sota.epp.variants import private_variants_of

    try:
        with_n = parse_tries(variants)
    except InputError:
        raise InputError(
            f"--best-of takes a player and a whole number or a range A:B, got {variants!r}"
        ) from None
    found = private_variants_of(fit, player, with_n, random_seed=rng)
    shared = [
        [rho, private_variants_of(fit, player, with_n, error_correlation=rho, draws=1).mean]
        for rho in (0.0, 0.5, 0.8)
    ]
    place = fit.data.player_index(player)
    others = [k for k in range(len(fit.players)) if k != place]
    return {
        "player": player,
        "variants": variants,
        "epp": float(fit.epp[place]),
        "winner_skill": {
            "mean": found.mean, "sd": found.sd, "interval": list(found.interval(prob))
        },
        "theta_sota": {
            "mean": float(found.theta_sota.mean()),
            "interval": list(found.interval(prob, "theta_sota")),
        },
        "p_best": found.p_best,
        "sensitivity": shared,
        "rank_shown": int(fit.rank[place]),
        "rank": 1 + int(sum(fit.epp[k] > found.mean for k in others)),
    }  # fmt: skip


_REPLICATES = 200  # tournaments of the posterior predictive check


@dataclass(frozen=True)
class BayesOptions:
    """What is asked of the Bayesian model."""

    ties: Any
    rope: float | None
    draws: int
    test_fraction: float | None
    player_covariates: Path | None
    round_covariates: Path | None


def sample_tournaments(
    tables: "list[ScoreTable | Matches]",
    notes: Sequence[str],
    asked: BayesOptions,
    pairs: Sequence[tuple[str, str]],
    prob: float,
    shown: EppOutput,
) -> int:
    """Sample, show and write one tournament, or several with shared and own skills."""
    from bayes_sota.core.summary import diagnose
    from bayes_sota.data.score_table import nearest_player
    from bayes_sota.epp.models import build_epp
    from bayes_sota.epp.sample import sample_epp
    from bayes_sota.epp.summary import check_epp, epp_table

    if asked.rope is not None and not pairs:
        raise InputError("--rope is for a pair of players: --test names it")
    players = list(dict.fromkeys(name for table in tables for name in table.players))
    for pair in pairs:
        for name in pair:
            nearest_player(players, name)
    model = build_epp(
        tables if len(tables) > 1 else tables[0],  # type: ignore[arg-type]
        ties=asked.ties,
        test_fraction=asked.test_fraction,
        player_covariates=_covariates(asked.player_covariates),
        round_covariates=_covariates(asked.round_covariates),
    )
    tree = sample_epp(
        model,
        draws=asked.draws,
        random_seed=shown.seed,
        predictive=_REPLICATES,
        progressbar=show_progress(shown.quiet, shown.as_json),
    )
    table = epp_table(tree, prob)
    found = diagnose(tree)
    tests = [_pair(tree, a, b, asked.rope, prob) for a, b in pairs]
    result = {
        "title": f"{_title(tables)}, Bayesian" + _ties(asked.ties),
        "n_rounds": sum(getattr(table, "n_rounds", 0) for table in tables) or None,
        **table.to_dict(),
        **_tournaments(tree, tables, prob),
        "tests": tests,
        "test": tests[0] if tests else None,
        "checks": check_epp(tree),
        "diagnostics": found,
        "notes": [*notes, *_remarks_of_draws(tables, asked)],
        "prob": prob,
        "seed": tree.attrs["random_seed"],
    }
    _deliver(shown, result, table, tree, prob)
    return echo_verdict(found["reasons"])


def _remarks_of_draws(tables: "list[ScoreTable | Matches]", asked: BayesOptions) -> list[str]:
    splits = any(getattr(table, "scheme", "") == "model/cv" for table in tables)
    rankings = "rounds are taken as rankings with the same noise (Plackett-Luce): intervals and " \
        "P(best) are sharper than without --bayes, and each for itself"  # fmt: skip
    return [rankings] * (asked.ties == "half") + [OVERLAP] * (
        splits and asked.test_fraction is None
    )


def _deliver(
    shown: EppOutput, result: dict[str, Any], table: "EppTable", tree: "xr.DataTree", prob: float
) -> None:
    def drawn(kind: str) -> Any:
        from bayes_sota.epp.command_output import figure_of_draws

        return figure_of_draws(tree, kind, prob)

    shown.deliver(result, table, lambda: tree, drawn)


def _title(tables: "list[ScoreTable | Matches]") -> str:
    if len(tables) > 1:
        return f"{len(tables):,} tournaments"
    return f"{tables[0].tournament}: {tables[0].n_players:,} players, {size_of(tables[0])}"


def _ties(ties: str) -> str:
    return "" if ties == "half" else f", ties by {ties}"


def _covariates(file: Path | None) -> "pd.DataFrame | None":
    """Covariates by the first column of a table; columns of numbers are numbers."""
    if file is None:
        return None
    import pandas as pd

    from bayes_sota.data.files.opening import open_table

    table = open_table(file)
    frame = pd.DataFrame(
        {name: list(cells) for name, cells in zip(table.header, table.columns, strict=True)}
    )
    if frame.shape[1] < 2:
        raise InputError(f"{file}: covariates are a column of names and one or more others")
    frame = frame.set_index(frame.columns[0])
    for column in frame.columns:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        if numbers.notna().all():
            frame[column] = numbers
    return frame


def _pair(tree: "xr.DataTree", a: str, b: str, rope: float | None, prob: float) -> dict[str, Any]:
    import numpy as np

    from bayes_sota.epp.summary import epp_rope, epp_win_probability

    skills = tree["posterior"]["epp"]
    difference = skills.sel(player=a).values - skills.sel(player=b).values
    win = epp_win_probability(tree, a, b, prob=prob)
    found: dict[str, Any] = {
        "players": [a, b],
        "difference": float(difference.mean()),
        "se": float(difference.std(ddof=1)),
        "interval": np.quantile(difference, [(1 - prob) / 2, (1 + prob) / 2]).tolist(),
        "p_better": float(np.mean(difference > 0)),
        "win_probability": win.mean,
        "win_probability_interval": [win.lower, win.upper],
        "p_tie": win.p_tie,
    }
    if "tournament_sd" in tree["posterior"]:
        new = epp_win_probability(tree, a, b, prob=prob, new_tournament=True)
        found["new_tournament"] = {
            "win_probability": new.mean, "interval": [new.lower, new.upper]
        }  # fmt: skip
    if rope is not None:
        equivalence = epp_rope(tree, a, b, rope)
        found["rope"] = {
            "half_width": rope,
            "a_better": equivalence.a_better,
            "equivalent": equivalence.equivalent,
            "b_better": equivalence.b_better,
        }
    return found


def _tournaments(
    tree: "xr.DataTree", tables: "list[ScoreTable | Matches]", prob: float
) -> dict[str, Any]:
    """Skills in each of several tournaments."""
    if len(tables) == 1:
        return {}
    own = tree["posterior"]["epp_tournament"]
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    ends = own.quantile(tails, ("chain", "draw")).values
    mean = own.mean(("chain", "draw")).values
    names = [str(name) for name in own["player"].values]
    return {
        "tournaments": [
            {
                "tournament": table.tournament,
                "players": [
                    {
                        "player": player,
                        "epp": float(mean[t, names.index(player)]),
                        "interval": ends[:, t, names.index(player)].tolist(),
                    }
                    for player in table.players
                ],
            }
            for t, table in enumerate(tables)
        ]
    }
