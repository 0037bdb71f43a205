"""Tables of leaderboards, of fits and of posterior draws.

Intervals are equal-tailed. Names in tables come from strangers and are shown as plain text.
``tests/epp/test_summary.py`` compares with counting.
"""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.ranks import joint_rank_sets
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import best_players, frame_of, summarize
from bayes_sota.core.tables import SOFTWARE, Report, Table
from bayes_sota.core.text import chance, decimals_for, listed
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.counts import MatchKind
from bayes_sota.epp.fit import AVERAGE_ELO, ELO_PER_EPP, BradleyTerryFit, two_players
from bayes_sota.epp.further_fits import TournamentLeaderboard
from bayes_sota.epp.rounds import bonferroni_critical

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_PLAYED = {
    "same-round": "In every round each two players that have a score play once, the better score "
    "wins. ",
    "all-rounds": "Every score of a player meets every score of another, of all rounds, the better "
    "one wins. ",
    "listed": "",
}
CITED = (
    "EPP after Gosiewska, Woźnica and Biecek 2022, Interpretable meta-score for model performance"
)
_COLUMNS = {  # of the frame: title
    "tournament": "tournament",
    "rank": "rank",
    "player": "player",
    "epp": "EPP",
    "se": "se",
    "elo": "Elo (se)",
    "lower": "{:.0%} interval",
    "p_beats_average": "P(beats average)",
    "rank_lower": "rank interval",
    "p_best": "P(best)",
    "tied_with_best": "may be best",
}


def summarize_epp(tree: "xr.DataTree", ci_prob: float = 0.95) -> "pd.DataFrame":
    """Table of the players, the best first.

    Parameters
    ----------
    tree : DataTree
        From ``sample_epp``.
    ci_prob : float
        Probability of the intervals, and of all ranks at once.

    Returns
    -------
    pandas.DataFrame
        Indexed by player: mean, sd, lower, upper and mcse of ``epp``; p_best and its Monte Carlo
        standard error p_best_mcse; rank (posterior mean); rank_lower and rank_upper, which hold
        for all players at once (``bayes_sota.core.ranks.joint_rank_sets``);
        p_beats_average, the posterior mean of the probability to beat a player of skill zero in a
        new round.

    Examples
    --------
    >>> import xarray as xr
    >>> draws = np.random.default_rng(0).normal([0.5, -0.5], 0.1, (2, 500, 2))
    >>> skills = {"epp": (("chain", "draw", "player"), draws)}
    >>> posterior = xr.Dataset(skills, {"player": ["a", "b"]})
    >>> table = summarize_epp(xr.DataTree.from_dict({"posterior": posterior}))
    >>> table.loc["a", ["mean", "p_best", "rank_upper"]].round(2).tolist()
    [0.5, 1.0, 1.0]
    """
    import pandas as pd

    OPEN_SHARE.check(ci_prob, "ci_prob")
    players, skills = draws_of_players(tree)
    rank = np.argsort(np.argsort(-skills, axis=1), axis=1) + 1
    rank_lower, rank_upper = joint_rank_sets(rank, ci_prob).T
    best = list(best_players(tree))
    table = (
        summarize(tree, ci_prob, ["epp"])
        .drop(columns="median")
        .assign(
            p_best=[p for _, p, _ in best],
            p_best_mcse=[mcse for _, _, mcse in best],
            rank=rank.mean(axis=0),
            rank_lower=rank_lower,
            rank_upper=rank_upper,
            p_beats_average=expit(skills).mean(axis=0),
        )
    )
    table.index = pd.Index(players, name="player")
    return table.sort_values("mean", ascending=False, kind="stable")


def draws_of_players(tree: "xr.DataTree") -> tuple[list[str], FloatArray]:
    """Names of the players, and posterior draws of their skills, shape (draws, m).

    Raises
    ------
    InputError
        If the result holds none.
    """
    if "posterior" not in tree.children or "epp" not in tree["posterior"]:
        raise InputError(
            "this result has no draws of skills, there is no epp in the group posterior: "
            "sample_epp makes them"
        )
    values = dataset_of(tree, "posterior")["epp"]
    values = values.transpose("chain", "draw", "player")
    players = [str(player) for player in values["player"].values]
    return players, np.asarray(values.values.reshape(-1, len(players)))


def difference_of_skills(tree: "xr.DataTree", a: str, b: str) -> FloatArray:
    """Skill of A minus that of B in every draw, (draws,)."""
    players, skills = draws_of_players(tree)
    first, second = two_players(players, a, b)
    return skills[:, first] - skills[:, second]


def check_epp(tree: "xr.DataTree") -> dict[str, Any]:
    """Bayesian p-values and the leave-one-out predictive density of a result of ``sample_epp``.

    Parameters
    ----------
    tree : DataTree
        With ``predictive_check`` or ``log_likelihood``.

    Returns
    -------
    dict
        ``deviance_p_value``: share of replicates at or above the data, None without replicates and
        where matches that depend on each other have a weight, whose replicates would be
        independent; ``loo``: elpd, se and p of ``az.loo``, ``n_bad_k`` (Pareto k above its
        threshold) and ``of`` (what is left out: round, cluster, match), or None.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> values = np.random.default_rng(0).normal(-3, 0.1, (2, 500, 20))
    >>> group = xr.Dataset({"round_rank": (("chain", "draw", "round"), values)})
    >>> tree = xr.DataTree.from_dict({"log_likelihood": group, "posterior": group})
    >>> checks = check_epp(tree)
    >>> checks["loo"]["of"], checks["loo"]["n_bad_k"], checks["deviance_p_value"]
    ('round', 0, None)
    """
    constant, deviance = dataset_of(tree, "constant_data"), None
    weighted = "likelihood_weight" in constant and "match_counts" in tree["observed_data"]
    if "predictive_check" in tree.children and not (
        weighted and (constant["likelihood_weight"] < 1).any()
    ):
        deviance = float(dataset_of(tree, "predictive_check")["p_value"].item())
    loo = _loo(tree) if "log_likelihood" in tree.children else None
    return {"deviance_p_value": deviance, "loo": loo}


def _loo(tree: "xr.DataTree") -> dict[str, Any]:
    import arviz as az

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of bad values says it
        loo = az.loo(tree, pointwise=True)
    return {
        "elpd": float(loo.elpd),
        "se": float(loo.se),
        "p": float(loo.p),
        "n_bad_k": int((loo.pareto_k > loo.good_k).sum()),
        "of": str(loo.pareto_k.dims[0]),
    }


def describe_skills(rows: Sequence[dict[str, Any]], ci_prob: float, matches: MatchKind) -> Report:
    """Report of the skills of players, best first.

    Parameters
    ----------
    rows : sequence of dict
        One per player: rank, player, epp, se (clustered by round), elo and elo_se (the same on
        Elo's scale), se_model (if matches were independent), lower, upper, p_beats_average, and for
        one tournament rank_lower, rank_upper and tied_with_best (all pairs at once); for several a
        first key tournament. From posterior draws se is their standard deviation, and mcse,
        p_best and p_best_mcse are there.
    ci_prob : float
        Probability of the intervals.
    matches : {"same-round", "all-rounds", "listed"}
        Which matches were counted.
    """
    texts = [_texts(row) for row in rows]
    columns = {name: title.format(ci_prob) for name, title in _COLUMNS.items() if name in rows[0]}
    leading = (_said(text, ci_prob) for text in texts if text["rank"] == "1")
    said = [*_may_be_best(rows, ci_prob), *leading]
    contests = "rounds" if matches == "same-round" else "matches"
    skill = (
        f"{_PLAYED[matches]}A gap of 1 in EPP wins 73 % of the {contests}, a tie counted half, a "
        "gap of 2 88 %; 0 is the average player, 1500 in Elo, where a gap of 400 is odds of 10 to "
        "1."
    )
    pairs = (
        f"The {ci_prob:.0%} interval is of each player alone, as are thick bars of a figure; thin "
        "bars hold for all players at once. With the same confidence all rank intervals are right "
        "together. May be best: no other player is certainly better; one that is lower may be "
        "among them where its scores vary more. A comparison of two players alone (--test) does "
        "not allow for all the others, and can tell such two apart."
    )
    return Report(
        content={"players": [_player(row) for row in rows]},
        make_frame=partial(frame_of, rows),
        tables=[Table([*columns.values()], [[text[k] for k in columns] for text in texts])],
        sentences=said,
        paragraph=[*said, skill],
        legend=[skill, *[pairs] * ("tied_with_best" in rows[0])],
        basis=[SOFTWARE, CITED],
    )


def _may_be_best(rows: Sequence[dict[str, Any]], ci_prob: float) -> list[str]:
    """Who may be the best, where one tournament has the test of all pairs."""
    if "tied_with_best" not in rows[0]:
        return []
    names = [row["player"] for row in rows if row["tied_with_best"]]
    sure, m = f"with {ci_prob:.0%} confidence", len(rows)
    if len(names) == 1:
        return [f"{names[0]} is the best of {m:,} players, {sure}."]
    who = f"it is one of {listed(names)}"
    if len(names) == m:
        who = "both may be the best" if m == 2 else f"all {m:,} may be the best"
    return [
        "the results do not tell which player is the best.",
        f"{sure[0].upper()}{sure[1:]} {who}.",
    ]


def _texts(row: dict[str, Any]) -> dict[str, str]:
    """Text of every column; a skill has two digits, and those that draws support."""
    d = decimals_for(0.1, row.get("mcse", 0.0))
    texts = {name: str(value) for name, value in row.items()} | {
        "epp": f"{row['epp']:z.{d}f}",
        "se": f"{row['se']:z.{d}f}",
        "elo": f"{row['elo']:z.0f} ({row['elo_se']:.0f})",
        "lower": f"{row['lower']:z.{d}f} to {row['upper']:z.{d}f}",
        "p_beats_average": chance(row["p_beats_average"]),
        "tied_with_best": "yes" if row.get("tied_with_best") else "",
    }
    if "rank_lower" in row:
        texts["rank_lower"] = f"{row['rank_lower']} to {row['rank_upper']}"
    if "p_best" in row:
        texts["p_best"] = chance(row["p_best"], row["p_best_mcse"])
    return texts


def _said(text: dict[str, str], ci_prob: float) -> str:
    """The skill of a best player."""
    where = f"In {text['tournament']} " if "tournament" in text else ""
    best = f" and the best of all with probability {text['p_best']}" if "p_best" in text else ""
    return (
        f"{where}{text['player']} has the highest estimated skill (EPP), {text['epp']} "
        f"({ci_prob:.0%} interval {text['lower']}): it beats an average player with probability "
        f"{text['p_beats_average']}{best}."
    )


def epp_table(result: "BradleyTerryFit | xr.DataTree", ci_prob: float = 0.95) -> Report:
    """Leaderboard of one tournament.

    Parameters
    ----------
    result : BradleyTerryFit or DataTree
        From ``fit_epp`` or ``sample_epp``.
    ci_prob : float
        Probability of the intervals.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> table = epp_table(fit_epp(simulate_tournament([2.0, 0.0, -2.0], 30, random_seed=0)))
    >>> table.frame[["rank", "player", "tied_with_best"]].values.tolist()
    [[1, '1', True], [2, '2', False], [3, '3', False]]
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    if isinstance(result, BradleyTerryFit):
        lower, upper = result.rank_interval(ci_prob).T
        own = {"rank_lower": lower, "rank_upper": upper, "tied_with_best": lower == 1}
        return describe_skills(_rows(_estimates(result, ci_prob) | own), ci_prob, result.kind)
    summary = summarize_epp(result, ci_prob).reset_index()
    summary = summary.rename(columns={"mean": "epp", "sd": "se"})
    columns = {
        "rank": 1 + np.arange(len(summary)),
        **summary[["player", "epp", "se"]],
        **_elo(summary["epp"], summary["se"]),
        **summary[["mcse", "lower", "upper", "p_beats_average", "rank_lower", "rank_upper"]],
        **summary[["p_best", "p_best_mcse"]],
    }
    kind: MatchKind = "same-round" if "round_tournament" in result["constant_data"] else "listed"
    return describe_skills(_rows(columns), ci_prob, kind)


def tournaments_table(
    leaderboards: Sequence[TournamentLeaderboard], ci_prob: float = 0.95
) -> Report:
    """Leaderboards of several tournaments, one below the other."""
    OPEN_SHARE.check(ci_prob, "ci_prob")
    rows = [
        {"tournament": board.tournament} | row
        for board in leaderboards
        for row in _rows(_estimates(board, ci_prob))
    ]
    kinds = {board.matches for board in leaderboards}
    kind = kinds.pop() if len(kinds) == 1 else "listed"
    return describe_skills(rows, ci_prob, kind)


def _estimates(board: BradleyTerryFit | TournamentLeaderboard, ci_prob: float) -> dict[str, Any]:
    half = bonferroni_critical(ci_prob, 1, board.df) * board.se
    return {
        "rank": board.rank,
        "player": list(board.players),
        "epp": board.epp,
        "se": board.se,
        **_elo(board.epp, board.se),
        "se_model": board.se_model,
        "lower": board.epp - half,
        "upper": board.epp + half,
        "p_beats_average": board.p_beats_average,
    }


def _elo(epp: Any, se: Any) -> dict[str, Any]:
    """Skills and standard errors on Elo's scale."""
    return {"elo": AVERAGE_ELO + ELO_PER_EPP * epp, "elo_se": ELO_PER_EPP * se}


def _rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """A row per player, the best first."""
    order = np.argsort(-np.asarray(columns["epp"]), kind="stable")
    cells = [np.asarray(values, object)[order].tolist() for values in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def _player(row: dict[str, Any]) -> dict[str, Any]:
    player = dict(row)
    player["interval"] = [player.pop("lower"), player.pop("upper")]
    if "rank_lower" in player:
        player["rank_interval"] = [player.pop("rank_lower"), player.pop("rank_upper")]
    return player
