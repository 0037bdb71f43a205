r"""The leaderboard of a tournament as a table: skills, intervals, ranks, who may be the best.

Names come from strangers: they are shown as plain text in every format
(``tests/epp/test_summary_table.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.files import write_text
from bayes_sota.core.text import markdown_text, spreadsheet_text
from bayes_sota.core.written_table import WrittenTable
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.match_counts import MatchKind
from bayes_sota.epp.round_inference import bonferroni_criticals
from bayes_sota.epp.summary import summarize_epp
from bayes_sota.epp.tournaments import TournamentLeaderboard

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["EppTable", "epp_table", "tournaments_table"]

_TEXT = ("player", "tournament")
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
class EppTable(WrittenTable):
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

    def to_dict(self) -> dict[str, Any]:
        """Rows as plain Python objects, with the keys of ``bayes-sota epp --json``."""
        return {"players": [_player(row) for row in self.frame.to_dict("records")]}

    def to_csv(self, path: str | Path | None = None) -> str:
        """Table as CSV; names that a spreadsheet would take for a formula get an apostrophe."""
        shown = self.frame.copy()
        for column in _TEXT:
            if column in shown:
                shown[column] = [spreadsheet_text(name) for name in shown[column]]
        return write_text(shown.to_csv(index=False, lineterminator="\n"), path)

    def to_markdown(self, path: str | Path | None = None, top: int | None = None) -> str:
        """Table as Markdown with its legend."""
        header, rows = self.header(), self.cells(top)
        names = [header.index(name) for name in _TEXT if name in header]
        align = [":---" if column in names else "---:" for column in range(len(header))]
        for row in rows:
            for column in names:
                row[column] = markdown_text(row[column])
        lines = ["| " + " | ".join(row) + " |" for row in (header, align, *rows)]
        legend = [f"{markdown_text(line)}  " for line in self.legend()]
        return write_text("\n".join([*lines, "", *legend]) + "\n", path)

    def header(self) -> list[str]:
        """Names of the columns that ``cells`` shows."""
        found = ["tournament"] * ("tournament" in self.frame)
        found += ["rank", "player", "EPP", "se", f"{self.prob:.0%} interval", "P(beats average)"]
        found += ["rank interval"] * ("rank_lower" in self.frame)
        found += ["P(best)"] * ("p_best" in self.frame)
        return found + ["may be best"] * ("tied_with_best" in self.frame)

    def cells(self, top: int | None = None) -> list[list[str]]:
        """Text of the first rows; names are as they came."""
        rows = []
        frame = self.frame if top is None else self.frame.head(top)
        for row in frame.to_dict("records"):
            cells = [str(row["tournament"])] if "tournament" in row else []
            cells += [str(row["rank"]), str(row["player"]), f"{row['epp']:.2f}"]
            cells += [f"{row['se']:.2f}", f"{row['lower']:.2f} to {row['upper']:.2f}"]
            cells += [f"{row['p_beats_average']:.3f}"]
            if "rank_lower" in row:
                cells += [f"{row['rank_lower']} to {row['rank_upper']}"]
            cells += [f"{row['p_best']:.3f}"] if "p_best" in row else []
            if "tied_with_best" in row:
                cells += ["yes" if row["tied_with_best"] else ""]
            rows.append(cells)
        return rows

    def legend(self) -> list[str]:
        """Sentences below the table."""
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
