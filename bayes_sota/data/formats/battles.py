"""Battles of two players each, as arenas of language models list them.

Either winner and loser, with a column that marks ties; or two players and who won.
``tests/data/test_read_scores.py`` holds both, and the verdicts that are refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.formats.score_columns import (
    NotedScores,
    ScoreOptions,
    coded_names,
    column_asked_for,
    named_in,
    place,
    tournament_name,
)
from bayes_sota.data.matches import Matches
from bayes_sota.data.read_boards import located

_PAIRS = (
    ("modela", "modelb"), ("playera", "playerb"), ("systema", "systemb"), ("model1", "model2"),
    ("player1", "player2"), ("first", "second"),
)  # fmt: skip
_TIED = frozenset(
    ("tie", "tied", "draw", "tie (bothbad)", "tie (both bad)", "tie bothbad", "bothbad")
)
_MARKED = dict.fromkeys(("1", "1.0", "true", "yes", "tie", "tied", "draw"), 0.5) | dict.fromkeys(
    ("", "0", "0.0", "false", "no", "none", "nan"), 1.0
)
_OUTCOMES = {"1": 1.0, "1.0": 1.0, "0": 0.0, "0.0": 0.0, "0.5": 0.5}


@dataclass(frozen=True)
class BattleColumns:
    """Positions of the two players, and of the verdict, if any; whether the first is the winner."""

    first: int
    second: int
    verdict: int | None
    winner_first: bool


def find_battles(table: Table) -> BattleColumns | None:
    """Columns of battles, None where they are not there."""

    def sole(*words: str) -> int | None:
        return next(iter(named_in(table, words)), None)

    winner, loser = sole("winner"), sole("loser")
    if winner is not None and loser is not None:
        return BattleColumns(winner, loser, sole("tie", "ties", "tied", "istie", "draw"), True)
    verdict = sole("winner", "outcome", "result")
    for pair in _PAIRS:
        first, second = sole(pair[0]), sole(pair[1])
        if first is not None and second is not None and verdict is not None:
            return BattleColumns(first, second, verdict, False)
    return None


def read_battles(table: Table, options: ScoreOptions) -> NotedScores:
    """Matches of a table of battles.

    Raises
    ------
    InputError
        A verdict that is none, a player against itself, a player or cluster without a name.
    """
    columns = find_battles(table)
    if columns is None:
        raise InputError(
            f"{table.where}: battles have the columns winner and loser (and tie), or model_a, "
            f"model_b and winner; there are {table.listed_columns()}"
        )
    cluster = column_asked_for(table, options.cluster_column, "cluster_column")
    sides = []
    for column in (columns.first, columns.second):
        names, codes = coded_names(table, column, "player")
        sides.append([names[code] for code in codes])
    for row, (first, second) in enumerate(zip(*sides, strict=True)):
        if first == second:
            raise InputError(
                f"{table.where}: {table.places[row]}: {shown(first)} plays against itself"
            )
    clusters = None
    if cluster is not None:
        names, codes = coded_names(table, cluster, "cluster")
        clusters = [names[code] for code in codes]
    outcomes = _outcomes(table, columns, sides[0], sides[1])
    with located(table.where):
        found = Matches.from_names(
            sides[0], sides[1], outcomes, clusters=clusters, tournament=tournament_name(table)
        )
    return NotedScores(found, "battles")


def _outcomes(
    table: Table, columns: BattleColumns, first: Sequence[str], second: Sequence[str]
) -> list[float]:
    """1 where the first player won, 0 where the second did, 0.5 for a tie."""
    if columns.verdict is None:
        return [1.0] * len(first)
    cells = table.columns[columns.verdict]
    if columns.winner_first:
        return [
            _looked_up(_MARKED, cell, table, row, columns.verdict, "1 (a tie), 0 or nothing")
            for row, cell in enumerate(cells)
        ]
    found = _verdicts(table, columns)
    outcomes = []
    for row, cell in enumerate(cells):
        text = str(cell).strip()
        if text in (first[row], second[row]):
            outcomes.append(float(text == first[row]))
        else:
            known = f"{table.header[columns.first]}, {table.header[columns.second]}, tie or a name"
            if "1" in found:
                known = f"1 (the first wins), 0 (the second wins), 0.5 (a tie), {known}"
            outcomes.append(_looked_up(found, cell, table, row, columns.verdict, known))
    return outcomes


def _verdicts(table: Table, columns: BattleColumns) -> dict[str, float]:
    """Outcome of each word that says who won."""
    first, second = (_word(table.header[j]) for j in (columns.first, columns.second))
    found = dict.fromkeys(_TIED, 0.5) | {first: 1.0, "a": 1.0, second: 0.0, "b": 0.0}
    assert columns.verdict is not None
    named = normalize_name(table.header[columns.verdict])
    return found if named == "winner" else found | _OUTCOMES


def _word(cell: object) -> str:
    """Text of a cell whatever its case: -1 is not 1, and .1 is no tie."""
    return " ".join(str(cell).lower().replace("_", " ").split())


def _looked_up(
    known: dict[str, float], cell: Any, table: Table, row: int, column: int, listed: str
) -> float:
    found = known.get(_word(cell))
    if found is None:
        raise InputError(f"{place(table, row, column)}: must be {listed}, got {shown(cell)}")
    return found
