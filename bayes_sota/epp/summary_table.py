"""The leaderboard as a table: skills, intervals, ranks, who may be the best.

Names come from strangers and are shown as plain text (``tests/epp/test_summary.py``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.tables import ResultTable
from bayes_sota.core.text import chance
from bayes_sota.epp.counts import MatchKind
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.rounds import bonferroni_criticals
from bayes_sota.epp.summary import summarize_epp
from bayes_sota.epp.tournaments import TournamentLeaderboard

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
    ci_prob : float
        Probability of the intervals.
    matches : {"same-round", "all-rounds", "listed"}
        Which matches were counted.
    ties : {"half", "davidson", "rao-kupper"}
        Model of ties.
    """

    frame: "pd.DataFrame"
    ci_prob: float
    matches: MatchKind
    ties: str = "half"
    reasons: tuple[str, ...] = ()
    text_columns = ("tournament", "player")

    def to_dict(self) -> dict[str, Any]:
        return {"players": [_player(row) for row in self.frame.to_dict("records")]}

    def header(self) -> list[str]:
        return [title for title, _ in self._columns()]

    def cells(self, top: int | None = None) -> list[list[str]]:
        frame = self.frame if top is None else self.frame.head(top)
        columns = self._columns()
        return [[text(row) for _, text in columns] for row in frame.to_dict("records")]

    def _columns(self) -> list[tuple[str, Callable[[dict[Any, Any]], str]]]:
        """Titles and texts of what the frame has."""
        found: dict[str, tuple[str, Callable[[dict[Any, Any]], str]]] = {
            "tournament": ("tournament", lambda row: str(row["tournament"])),
            "rank": ("rank", lambda row: str(row["rank"])),
            "player": ("player", lambda row: str(row["player"])),
            "epp": ("EPP", lambda row: f"{row['epp']:.2f}"),
            "se": ("se", lambda row: f"{row['se']:.2f}"),
            "lower": (
                f"{self.ci_prob:.0%} interval",
                lambda row: f"{row['lower']:.2f} to {row['upper']:.2f}",
            ),
            "p_beats_average": ("P(beats average)", lambda row: chance(row["p_beats_average"])),
            "rank_lower": (
                "rank interval", lambda row: f"{row['rank_lower']} to {row['rank_upper']}"
            ),
            "p_best": ("P(best)", lambda row: chance(row["p_best"])),
            "tied_with_best": ("may be best", lambda row: "yes" if row["tied_with_best"] else ""),
        }  # fmt: skip
        return [column for name, column in found.items() if name in self.frame]

    def legend(self, top: int | None = None) -> list[str]:
        unit = "rounds" if self.matches == "same-round" else "matches"
        wins = _WINS[self.ties].format(unit)
        found = [f"{_PLAYED[self.matches]}A gap of 1 in EPP {wins}; 0 is the average player."]
        if "tied_with_best" in self.frame:
            found.append(
                f"With {self.ci_prob:.0%} confidence all rank intervals are right together. May be "
                "best: no other player is certainly better; one that is lower may be among them "
                "where its scores vary more."
            )
        return found


def epp_table(result: "BradleyTerryFit | xr.DataTree", ci_prob: float = 0.95) -> EppTable:
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
        return EppTable(_frame(_estimates(result, ci_prob) | own), ci_prob, result.kind)
    summary = summarize_epp(result, ci_prob).reset_index()
    columns = {
        "rank": 1 + np.arange(len(summary)),
        **{new: summary[old] for new, old in (("player", "player"), ("epp", "mean"), ("se", "sd"))},
        **summary[["lower", "upper", "p_beats_average", "rank_lower", "rank_upper", "p_best"]],
    }
    kind: MatchKind = "same-round" if "round_tournament" in result["constant_data"] else "listed"
    return EppTable(_frame(columns), ci_prob, kind, str(result.attrs["ties"]))


def tournaments_table(
    leaderboards: Sequence[TournamentLeaderboard], ci_prob: float = 0.95
) -> EppTable:
    """Leaderboards of several tournaments, one below the other."""
    import pandas as pd

    OPEN_SHARE.check(ci_prob, "ci_prob")
    frames = [
        _frame({"tournament": [board.tournament] * len(board.players)} | _estimates(board, ci_prob))
        for board in leaderboards
    ]
    kinds = {board.matches for board in leaderboards}
    kind = kinds.pop() if len(kinds) == 1 else "listed"
    return EppTable(pd.concat(frames, ignore_index=True), ci_prob, kind)


def _estimates(board: BradleyTerryFit | TournamentLeaderboard, ci_prob: float) -> dict[str, Any]:
    half = bonferroni_criticals(ci_prob, 1, board.df) * board.se
    return {
        "rank": board.rank,
        "player": list(board.players),
        "epp": board.epp,
        "se": board.se,
        "se_model": board.se_model,
        "lower": board.epp - half,
        "upper": board.epp + half,
        "p_beats_average": board.p_beats_average,
    }


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
