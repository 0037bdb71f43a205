"""Battles of two players each, as arenas of language models list them.

Either winner and loser, with a column that marks ties; or two players and who won.
``tests/data/test_read_scores.py`` holds both, and the verdicts that are refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bayes_sota.core.errors import InputError, located
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.formats.score_tables import NotedScores, ScoreOptions, tournament_name
from bayes_sota.data.matches import Matches
from bayes_sota.data.readers.columns import named_in, names_in, numbers_in

_PAIRS = (
    ("modela", "modelb"),
    ("playera", "playerb"),
    ("systema", "systemb"),
    ("model1", "model2"),
    ("player1", "player2"),
    ("first", "second"),
)
_TIED = dict.fromkeys(
    ("tie", "tied", "draw", "tie (bothbad)", "tie (both bad)", "tie bothbad", "bothbad"), 0.5
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
    assert columns is not None
    cluster = options.column(table, "cluster")
    first, second = (names_in(table, j, "player") for j in (columns.first, columns.second))
    for row, (one, other) in enumerate(zip(first, second, strict=True)):
        if one == other:
            raise InputError(
                f"{table.where}: {table.places[row]}: {shown(one)} plays against itself"
            )
    clusters = None if cluster is None else names_in(table, cluster, "cluster")
    outcomes = _outcomes(table, columns, first, second)
    with located(table.where):
        matches = Matches.from_names(
            first, second, outcomes, clusters=clusters, tournament=tournament_name(table)
        )
    return NotedScores(matches)


def _outcomes(
    table: Table, columns: BattleColumns, first: Sequence[str], second: Sequence[str]
) -> Sequence[float] | FloatArray:
    """1 where the first player won, 0 where the second did, 0.5 for a tie."""
    verdict = columns.verdict
    if verdict is None:
        return [1.0] * len(first)
    if columns.winner_first:
        complaint = "must be 1 (a tie), 0 or nothing, got {}"
        return numbers_in(table, verdict, lambda cell: _MARKED.get(_word(cell)), complaint)
    names = [table.header[j] for j in (columns.first, columns.second)]
    known = _TIED | {_word(names[0]): 1.0, "a": 1.0, _word(names[1]): 0.0, "b": 0.0}
    listed = f"{names[0]}, {names[1]}, tie or a name"
    if normalize_name(table.header[verdict]) != "winner":
        known |= _OUTCOMES
        listed = f"1 (the first wins), 0 (the second wins), 0.5 (a tie), {listed}"
    outcomes = []
    for row, cell in enumerate(table.columns[verdict]):
        named = {second[row]: 0.0, first[row]: 1.0}
        outcome = named.get(str(cell).strip(), known.get(_word(cell)))
        if outcome is None:
            raise InputError(f"{table.place(row, verdict)}: must be {listed}, got {shown(cell)}")
        outcomes.append(outcome)
    return outcomes


def _word(cell: object) -> str:
    """Text of a cell whatever its case: -1 is not 1, and .1 is no tie."""
    return " ".join(str(cell).lower().replace("_", " ").split())
