r"""Tables and probabilities from a Bayesian EPP result; no model and no plot here.

Everything is a share or a quantile of the draws: P(best), ranks, and of a pair the probability

.. math:: p = \frac{1}{1 + e^{-(\beta_a - \beta_b)}}

that A beats B in a new round (given that they do not tie). Two players are equivalent where
:math:`|p - 1/2|` is at most a half width (region of practical equivalence, ROPE). Intervals are
equal-tailed. ``tests/epp/test_summary.py`` compares with counting.

How well a Bayesian EPP predicts: replicated tournaments, and rounds that were left out.

``tests/epp/test_sample.py`` checks the numbers that these sum up.

The leaderboard of a tournament as a table: skills, intervals, ranks, who may be the best.

Names come from strangers: they are shown as plain text in every format
(``tests/epp/test_summary_table.py``).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.tables import ResultTable
from bayes_sota.core.text import chance
from bayes_sota.core.types import FloatArray
from bayes_sota.data.score_table import nearest_player
from bayes_sota.epp.counts import MatchKind
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.models_extensions import Ties, log_outcomes
from bayes_sota.epp.rounds import bonferroni_criticals
from bayes_sota.epp.tournaments import TournamentLeaderboard

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_SEED = 0  # of deviations in a new tournament
_TIES: dict[str, Ties] = {"davidson_nu": "davidson", "rao_kupper_theta": "rao-kupper"}


@dataclass(frozen=True)
class WinProbability:
    """Probability that A beats B, where they do not tie.

    Attributes
    ----------
    mean, lower, upper : float
        Posterior mean and interval.
    p_tie : float
        Posterior mean of the probability of a tie; 0 with ties as half.
    """

    mean: float
    lower: float
    upper: float
    p_tie: float


@dataclass(frozen=True)
class EquivalenceProbabilities:
    """Posterior probabilities that A is better, that both are equivalent, that B is better."""

    a_better: float
    equivalent: float
    b_better: float


def summarize_epp(tree: "xr.DataTree", prob: float = 0.95) -> "pd.DataFrame":
    """Table of the players, the best first.

    Parameters
    ----------
    tree : DataTree
        From ``sample_epp``.
    prob : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        Indexed by player: mean, sd, lower and upper of ``epp``; p_best; rank (posterior mean),
        rank_lower and rank_upper; p_beats_average, the posterior mean of the probability to beat a
        player of skill zero in a new round.

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

    OPEN_SHARE.check(prob, "prob")
    skills = _skills(tree)
    rank = np.argsort(np.argsort(-skills, axis=1), axis=1) + 1
    tails = [(1 - prob) / 2, (1 + prob) / 2]
    lower, upper = np.quantile(skills, tails, axis=0)
    rank_lower, rank_upper = np.quantile(rank, tails, axis=0, method="inverted_cdf")
    columns = {
        "mean": skills.mean(axis=0),
        "sd": skills.std(axis=0, ddof=1),
        "lower": lower,
        "upper": upper,
        "p_best": np.mean(rank == 1, axis=0),
        "rank": rank.mean(axis=0),
        "rank_lower": rank_lower.astype(int),
        "rank_upper": rank_upper.astype(int),
        "p_beats_average": _expit(skills).mean(axis=0),
    }
    players = pd.Index(_players(tree), name="player")
    table = pd.DataFrame(columns, index=players)
    return table.sort_values("mean", ascending=False, kind="stable")


def epp_win_probability(
    tree: "xr.DataTree", a: str, b: str, *, prob: float = 0.95, new_tournament: bool = False
) -> WinProbability:
    r"""Probability that A beats B in a new round.

    Parameters
    ----------
    tree : DataTree
        From ``sample_epp``.
    a, b : str
        Players.
    prob : float
        Probability of the interval.
    new_tournament : bool
        Whether the round is one of a tournament not seen yet, where both players deviate from their
        skills as they do between the tournaments seen: the interval is that of the probability in
        such a tournament.

    Raises
    ------
    InputError
        Unknown players, the same one twice, ``new_tournament`` with one tournament.

    Examples
    --------
    >>> import xarray as xr
    >>> draws = np.random.default_rng(0).normal([0.5, -0.5], 0.01, (2, 500, 2))
    >>> skills = {"epp": (("chain", "draw", "player"), draws)}
    >>> posterior = xr.Dataset(skills, {"player": ["a", "b"]})
    >>> found = epp_win_probability(xr.DataTree.from_dict({"posterior": posterior}), "a", "b")
    >>> round(found.mean, 2), found.p_tie
    (0.73, 0.0)
    """
    OPEN_SHARE.check(prob, "prob")
    difference = _difference(tree, a, b)
    if new_tournament:
        difference = difference + _deviations(tree, difference.size)
    win, p_tie = _outcomes(tree, difference)
    lower, upper = np.quantile(win, [(1 - prob) / 2, (1 + prob) / 2])
    return WinProbability(float(win.mean()), float(lower), float(upper), p_tie)


def epp_rope(tree: "xr.DataTree", a: str, b: str, half_width: float) -> EquivalenceProbabilities:
    """Whether A is better than B, or so close that it makes no difference.

    Parameters
    ----------
    tree : DataTree
        From ``sample_epp``.
    a, b : str
        Players.
    half_width : float
        Two players are equivalent if one wins between 1/2 - half_width and 1/2 + half_width of the
        rounds in which they do not tie.

    Raises
    ------
    InputError
        A half width outside [0, 1/2), unknown players, the same one twice.

    Examples
    --------
    >>> import xarray as xr
    >>> draws = np.random.default_rng(0).normal([0.5, -0.5], 0.01, (2, 500, 2))
    >>> skills = {"epp": (("chain", "draw", "player"), draws)}
    >>> posterior = xr.Dataset(skills, {"player": ["a", "b"]})
    >>> epp_rope(xr.DataTree.from_dict({"posterior": posterior}), "a", "b", 0.05)
    EquivalenceProbabilities(a_better=1.0, equivalent=0.0, b_better=0.0)
    """
    if not 0 <= half_width < 0.5:
        raise InputError(f"half_width is a distance from 1/2, in [0, 0.5), got {half_width!r}")
    win, _ = _outcomes(tree, _difference(tree, a, b))
    better, worse = float(np.mean(win > 0.5 + half_width)), float(np.mean(win < 0.5 - half_width))
    equivalent = float(np.mean(np.abs(win - 0.5) <= half_width))
    return EquivalenceProbabilities(better, equivalent, worse)


def _players(tree: "xr.DataTree") -> list[str]:
    if "posterior" not in tree.children or "epp" not in tree["posterior"]:
        raise InputError("this result has no draws of skills: sample_epp makes them")
    return [str(name) for name in tree["posterior"]["player"].values]


def _skills(tree: "xr.DataTree") -> FloatArray:
    """Draws of the skills, (draws, players)."""
    players = _players(tree)
    return np.asarray(tree["posterior"]["epp"].values.reshape(-1, len(players)))


def _difference(tree: "xr.DataTree", a: str, b: str) -> FloatArray:
    players = _players(tree)
    first, second = nearest_player(players, a), nearest_player(players, b)
    if first == second:
        raise InputError(f"two players are compared, got {a!r} twice")
    skills = _skills(tree)
    return skills[:, first] - skills[:, second]


def _deviations(tree: "xr.DataTree", size: int) -> FloatArray:
    """What a new tournament adds to a difference of skills, (draws,)."""
    if "tournament_sd" not in tree["posterior"]:
        raise InputError("how tournaments differ is not known: the result is of one tournament")
    spread = tree["posterior"]["tournament_sd"].values.ravel()
    normal = np.random.default_rng(_SEED).standard_normal(size)
    return np.asarray(np.sqrt(2) * spread * normal)


def _outcomes(tree: "xr.DataTree", difference: FloatArray) -> tuple[FloatArray, float]:
    """Probability of a win where there is no tie, (draws,), and the mean probability of a tie."""
    ties = next((kind for name, kind in _TIES.items() if name in tree["posterior"]), None)
    if ties is None:
        return _expit(difference), 0.0
    p_tie = tree["posterior"]["p_tie"].values.ravel()
    won, tied, lost = np.exp(log_outcomes(difference, p_tie, ties))
    return won / (won + lost), float(tied.mean())


def _expit(x: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-x)))


def check_epp(tree: "xr.DataTree") -> dict[str, Any]:
    """Bayesian p-values and the leave-one-out predictive density of a result of ``sample_epp``.

    Parameters
    ----------
    tree : DataTree
        With ``posterior_predictive`` (``predictive`` of ``sample_epp``) or ``log_likelihood``.

    Returns
    -------
    dict
        ``deviance_p_value`` and ``n_ties_p_value``: shares of replicates at or above the data, None
        without replicates and where matches that depend on each other have a weight, whose
        replicates would be independent; ``loo``: elpd, se and p of ``az.loo``, ``n_bad_k`` (Pareto
        k above its threshold) and ``of`` (what is left out: round, cluster, match), or None.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> values = np.random.default_rng(0).normal(-3, 0.1, (2, 500, 20))
    >>> group = xr.Dataset({"round_rank": (("chain", "draw", "round"), values)})
    >>> tree = xr.DataTree.from_dict({"log_likelihood": group, "posterior": group})
    >>> found = check_epp(tree)
    >>> found["loo"]["of"], found["loo"]["n_bad_k"], found["deviance_p_value"]
    ('round', 0, None)
    """
    names = ("deviance_p_value", "n_ties_p_value")
    replicates = tree.children.get("posterior_predictive")
    attributes = {} if replicates is None or _weighted(tree) else replicates.attrs
    found: dict[str, Any] = {
        name: float(attributes[name]) if name in attributes else None for name in names
    }
    return {**found, "loo": _loo(tree) if "log_likelihood" in tree.children else None}


def _weighted(tree: "xr.DataTree") -> bool:
    """Whether the likelihood is of matches with a weight below 1."""
    constant = tree.children.get("constant_data")
    if constant is None or "match_counts" not in tree["observed_data"]:
        return False
    return bool((constant["likelihood_weight"] < 1).any())


def _loo(tree: "xr.DataTree") -> dict[str, Any]:
    import arviz as az

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of bad values says it
        found = az.loo(tree, pointwise=True)
    return {
        "elpd": float(found.elpd),
        "se": float(found.se),
        "p": float(found.p),
        "n_bad_k": int((found.pareto_k > found.good_k).sum()),
        "of": str(found.pareto_k.dims[0]),
    }


_PLAYED = {
    "same-round": "In every round each two players that have a score play once, the better score "
    "wins. ",
    "all-rounds": "Every score of a player meets every score of another, of all rounds, the better "
    "one wins. ",
    "listed": "",
}

_WINS = {
    "half": "wins 73 % of the {}, a tie counted half, a gap of 2 88 %",
    "davidson": "wins 73 % of the {} without a tie, a gap of 2 88 %",
    "rao-kupper": "wins at least 73 % of the {} without a tie, a gap of 2 88 %",
}


@dataclass(frozen=True, eq=False)
class EppTable(ResultTable):
    """Skills of players, best first.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per player: rank, player, epp, se (clustered by round), se_model (if matches were
        independent), lower, upper, p_beats_average, and for one tournament rank_lower, rank_upper
        and tied_with_best (all pairs at once); for several a first column tournament. From
        posterior draws se is their standard deviation and p_best is there.
    prob : float
        Probability of the intervals.
    matches : {"same-round", "all-rounds", "listed"}
        Which matches were counted.
    ties : {"half", "davidson", "rao-kupper"}
        Model of ties.
    """

    frame: "pd.DataFrame"
    prob: float
    matches: MatchKind
    ties: str = "half"
    reasons: tuple[str, ...] = ()
    text_columns = ("tournament", "player")

    def to_dict(self) -> dict[str, Any]:
        """Rows as plain Python objects, with the keys of ``bayes-sota epp --json``."""
        return {"players": [_player(row) for row in self.frame.to_dict("records")]}

    def header(self) -> list[str]:
        found = ["tournament"] * ("tournament" in self.frame)
        found += ["rank", "player", "EPP", "se", f"{self.prob:.0%} interval", "P(beats average)"]
        found += ["rank interval"] * ("rank_lower" in self.frame)
        found += ["P(best)"] * ("p_best" in self.frame)
        return found + ["may be best"] * ("tied_with_best" in self.frame)

    def cells(self, top: int | None = None) -> list[list[str]]:
        rows = []
        frame = self.frame if top is None else self.frame.head(top)
        for row in frame.to_dict("records"):
            cells = [str(row["tournament"])] if "tournament" in row else []
            cells += [str(row["rank"]), str(row["player"]), f"{row['epp']:.2f}"]
            cells += [f"{row['se']:.2f}", f"{row['lower']:.2f} to {row['upper']:.2f}"]
            cells += [chance(row["p_beats_average"])]
            if "rank_lower" in row:
                cells += [f"{row['rank_lower']} to {row['rank_upper']}"]
            cells += [chance(row["p_best"])] if "p_best" in row else []
            if "tied_with_best" in row:
                cells += ["yes" if row["tied_with_best"] else ""]
            rows.append(cells)
        return rows

    def legend(self, top: int | None = None) -> list[str]:
        unit = "rounds" if self.matches == "same-round" else "matches"
        wins = _WINS[self.ties].format(unit)
        found = [f"{_PLAYED[self.matches]}A gap of 1 in EPP {wins}; 0 is the average player."]
        if "tied_with_best" in self.frame:
            found.append(
                f"With {self.prob:.0%} confidence all rank intervals are right together. May be "
                "best: no other player is certainly better; one that is lower may be among them "
                "where its scores vary more."
            )
        return found


def epp_table(result: "BradleyTerryFit | xr.DataTree", prob: float = 0.95) -> EppTable:
    """Leaderboard of one tournament.

    Parameters
    ----------
    result : BradleyTerryFit or DataTree
        From ``fit_epp`` or ``sample_epp``.
    prob : float
        Probability of the intervals.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> table = epp_table(fit_epp(simulate_tournament([2.0, 0.0, -2.0], 30, random_seed=0)))
    >>> table.frame[["rank", "player", "tied_with_best"]].values.tolist()
    [[1, '1', True], [2, '2', False], [3, '3', False]]
    """
    OPEN_SHARE.check(prob, "prob")
    if not isinstance(result, BradleyTerryFit):
        return _table_of_draws(result, prob)
    fit, ranks = result, result.rank_interval(prob)
    lower, upper = fit.interval(prob).T
    columns = {
        "rank": fit.rank,
        "player": list(fit.players),
        "epp": fit.epp,
        "se": fit.se,
        "se_model": fit.se_model,
        "lower": lower,
        "upper": upper,
        "p_beats_average": fit.p_beats_average,
        "rank_lower": ranks[:, 0],
        "rank_upper": ranks[:, 1],
        "tied_with_best": ranks[:, 0] == 1,
    }
    return EppTable(_frame(columns), prob, fit.kind)


def _table_of_draws(tree: "xr.DataTree", prob: float) -> EppTable:
    summary = summarize_epp(tree, prob).reset_index()
    columns = {
        "rank": 1 + np.arange(len(summary)),
        "player": summary["player"],
        "epp": summary["mean"],
        "se": summary["sd"],
        "lower": summary["lower"],
        "upper": summary["upper"],
        "p_beats_average": summary["p_beats_average"],
        "rank_lower": summary["rank_lower"],
        "rank_upper": summary["rank_upper"],
        "p_best": summary["p_best"],
    }
    kind: MatchKind = "same-round" if "round_tournament" in tree["constant_data"] else "listed"
    return EppTable(_frame(columns), prob, kind, str(tree.attrs["ties"]))


def tournaments_table(
    leaderboards: Sequence[TournamentLeaderboard], prob: float = 0.95
) -> EppTable:
    """Leaderboards of several tournaments, one below the other."""
    import pandas as pd

    OPEN_SHARE.check(prob, "prob")
    frames = []
    for found in leaderboards:
        half = bonferroni_criticals(prob, 1, found.df) * found.se
        columns = {
            "tournament": [found.tournament] * len(found.players),
            "rank": found.rank,
            "player": list(found.players),
            "epp": found.epp,
            "se": found.se,
            "se_model": found.se_model,
            "lower": found.epp - half,
            "upper": found.epp + half,
            "p_beats_average": found.p_beats_average,
        }
        frames.append(_frame(columns))
    kinds = {found.matches for found in leaderboards}
    kind = kinds.pop() if len(kinds) == 1 else "listed"
    return EppTable(pd.concat(frames, ignore_index=True), prob, kind)


def _frame(columns: dict[str, Any]) -> "pd.DataFrame":
    import pandas as pd

    frame = pd.DataFrame(columns)
    return frame.sort_values("epp", ascending=False, kind="stable", ignore_index=True)


def _player(row: dict[str, Any]) -> dict[str, Any]:
    found = dict(row)
    found["interval"] = [found.pop("lower"), found.pop("upper")]
    if "rank_lower" in found:
        found["rank_interval"] = [found.pop("rank_lower"), found.pop("rank_upper")]
    return found
