"""Numbers and tables of leaderboards, of fits and of posterior draws.

Intervals are equal-tailed. Names in tables come from untrusted files and are shown as plain text.
``tests/epp/test_summary.py`` compares with counting.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.ranks import joint_rank_sets
from bayes_sota.core.sample import share_of_draws
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import frame_of, summarize
from bayes_sota.core.tables import SOFTWARE, Report, rows_of, table_of
from bayes_sota.core.text import chance, decimals_for, in_prose, listed
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.fit import AVERAGE_ELO, ELO_PER_EPP, BradleyTerryFit

if TYPE_CHECKING:
    import xarray as xr

Rows = Sequence[dict[str, Any]]
CITED = (
    "EPP after Gosiewska, Woźnica and Biecek 2022, Interpretable meta-score for model performance"
)
_MEANING = (
    "A gap of 1 in EPP wins 73 % of the matches, a tie counted half, a gap of 2 88 %; 0 is the "
    "average player, 1500 in Elo, where a gap of 400 is odds of 10 to 1."
)
_AT_ONCE = (
    "Intervals are for one player at a time; rank intervals hold for all players at once. May be "
    "best: no other player is shown to be better. A --test of two players alone has more power."
)


def draws_of_players(tree: "xr.DataTree") -> tuple[list[str], FloatArray]:
    """Names of the players, and posterior draws of their skills, shape (draws, m).

    Raises
    ------
    InputError
        If the result holds none.
    """
    posterior = dataset_of(tree, "posterior")
    if "epp" not in posterior:
        raise InputError("no epp in the group posterior: infer_skills and sample_epp draw it")
    values = posterior["epp"].transpose("chain", "draw", "player")
    players = [str(player) for player in values["player"].values]
    return players, np.asarray(values.values.reshape(-1, len(players)))


def epp_table(result: "BradleyTerryFit | xr.DataTree", ci_prob: float = 0.95) -> Report:
    """Leaderboard of one tournament.

    Parameters
    ----------
    result : BradleyTerryFit or DataTree
        From ``fit_epp``, ``infer_skills`` or ``sample_epp``.
    ci_prob : float
        Probability of the intervals.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.data.tournaments import ScoreTable
    >>> scores = [2.0, 0.0, -2.0] + np.random.default_rng(0).gumbel(size=(30, 3))
    >>> table = epp_table(fit_epp(ScoreTable(scores)))
    >>> table.frame[["rank", "player", "tied_with_best"]].values.tolist()
    [[1, '1', True], [2, '2', False], [3, '3', False]]
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    if isinstance(result, BradleyTerryFit):
        return describe_skills(rows_of_fit(result, ci_prob), ci_prob)
    return describe_skills(_rows_of_draws(result, ci_prob), ci_prob)


def _rows_of_draws(tree: "xr.DataTree", ci_prob: float) -> Rows:
    """Numbers of every player, the best first, with the ranks that all may have at once."""
    players, skills = draws_of_players(tree)
    rank = np.argsort(np.argsort(-skills, axis=1), axis=1) + 1
    best, worst = joint_rank_sets(rank, ci_prob).T
    skill = dataset_of(tree, "posterior")["epp"]
    first = share_of_draws(skill == skill.max("player"), "p_best")
    found = summarize(tree, ci_prob, ["epp"]).drop(columns="median")
    found.insert(0, "player", players)
    found = (
        found.rename(columns={"mean": "epp", "sd": "se"})
        .assign(p_best=first["p_best"].values, p_best_mcse=first["p_best_mcse"].values)
        .assign(rank_lower=best, rank_upper=worst, p_beats_average=expit(skills).mean(axis=0))
        .sort_values("epp", ascending=False, kind="stable")
    )
    elo, elo_se = AVERAGE_ELO + ELO_PER_EPP * found["epp"], ELO_PER_EPP * found["se"]
    return rows_of(found.assign(rank=range(1, len(found) + 1), elo=elo, elo_se=elo_se))


def rows_of_fit(fit: BradleyTerryFit, ci_prob: float, *, ranks: bool = True) -> Rows:
    """Numbers of every player, the best first, with the ranks that all may have at once."""
    lower, upper = fit.interval(ci_prob).T
    columns = {
        "rank": fit.rank,
        "player": list(fit.players),
        "epp": fit.epp,
        "se": fit.se,
        "elo": AVERAGE_ELO + ELO_PER_EPP * fit.epp,
        "elo_se": ELO_PER_EPP * fit.se,
        "se_model": fit.se_model,
        "lower": lower,
        "upper": upper,
        "p_beats_average": expit(fit.epp),  # Property 3.4
    }
    if ranks:
        best, worst = fit.rank_interval(ci_prob).T
        columns |= {"rank_lower": best, "rank_upper": worst, "tied_with_best": best == 1}
    order = np.argsort(-fit.epp, kind="stable")
    cells = [np.asarray(values, object)[order].tolist() for values in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def describe_skills(rows: Rows, ci_prob: float) -> Report:
    """Report of the skills of players, best first, from rows of their numbers."""
    percent = f"{ci_prob:.0%}"
    d = decimals_for(0.1, max(row.get("mcse", 0.0) for row in rows))

    def interval(row: dict[str, Any]) -> str:
        return f"{row['lower']:z.{d}f} to {row['upper']:z.{d}f}"

    is_draws, is_tested = "p_best" in rows[0], "tied_with_best" in rows[0]
    columns: dict[str, Any] = {
        "tournament": "tournament",
        "rank": "rank",
        "player": "player",
        "EPP": lambda row: f"{row['epp']:z.{d}f}",
        "se": lambda row: f"{row['se']:z.{d}f}",
        "Elo (se)": lambda row: f"{row['elo']:z.0f} ({row['elo_se']:.0f})",
        f"{percent} interval": interval,
        "P(beats average)": lambda row: chance(row["p_beats_average"]),
        "rank interval": lambda row: (
            f"{row['rank_lower']} to {row['rank_upper']}" if is_draws or is_tested else None
        ),
        "P(best)": lambda row: chance(row["p_best"], row["p_best_mcse"]) if is_draws else None,
        "may be best": lambda row: "yes" * row["tied_with_best"] if is_tested else None,
    }
    sentences = [_who_may_be_best(rows, percent)] if is_tested else []
    p_best = in_prose(rows[0]["p_best"]) if is_draws else ""
    best = f", and it is the best of all with probability {p_best}" * is_draws
    for tournament in dict.fromkeys(row.get("tournament") for row in rows):
        first = [x for x in rows if x["rank"] == 1 and x.get("tournament") == tournament]
        where, row = "" if tournament is None else f"In {tournament} ", first[0]
        have = listed([x["player"] for x in first]) + (" has" if len(first) == 1 else " share")
        sentence = f"{where}{have} the highest estimated skill (EPP), {row['epp']:z.{d}f}"
        if len(first) == 1:
            sentence += f" ({percent} interval {interval(row)}): it beats an average player with "
            sentence += f"probability {in_prose(row['p_beats_average'])}{best}"
        sentences.append(f"{sentence}.")
    return Report(
        content={"players": [_in_json(row) for row in rows]},
        make_frame=partial(frame_of, rows),
        tables=[table_of(rows, columns)],
        sentences=sentences,
        paragraph=[*sentences, _MEANING],
        legend=[_MEANING, *[_AT_ONCE] * is_tested],
        basis=[SOFTWARE, CITED],
    )


def _who_may_be_best(rows: Rows, percent: str) -> str:
    names = [row["player"] for row in rows if row["tied_with_best"]]
    if len(names) == 1:
        return f"{names[0]} is the best of {len(rows):,} players, with {percent} confidence."
    who = f"one of {listed(names)}" if len(names) < len(rows) else f"any of the {len(rows):,}"
    return f"The results do not tell which player is the best: {who}, with {percent} confidence."


def _in_json(row: dict[str, Any]) -> dict[str, Any]:
    player = dict(row)
    for name, ends in (("interval", "{}"), ("rank_interval", "rank_{}")):
        if ends.format("lower") in player:
            player[name] = [player.pop(ends.format(end)) for end in ("lower", "upper")]
    return player
