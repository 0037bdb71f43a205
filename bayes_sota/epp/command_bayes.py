"""``bayes-sota epp --bayes``: the Bayesian model by NUTS."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayes_sota.core.command_options import echo_verdict, show_progress
from bayes_sota.core.errors import InputError
from bayes_sota.epp.command_output import OVERLAP, EppOutput, size_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayes_sota.data.matches import Matches
    from bayes_sota.data.score_table import ScoreTable
    from bayes_sota.epp.summary_table import EppTable

__all__ = ["BayesOptions", "sample_tournaments"]

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
    from bayes_sota.epp.summary_checks import check_epp
    from bayes_sota.epp.summary_table import epp_table

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
        "notes": [*notes, *_remarks(tables, asked)],
        "prob": prob,
        "seed": tree.attrs["random_seed"],
    }
    _deliver(shown, result, table, tree, prob)
    return echo_verdict(found["reasons"])


def _remarks(tables: "list[ScoreTable | Matches]", asked: BayesOptions) -> list[str]:
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
        from bayes_sota.epp.command_figures import figure_of_draws

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
