"""Long tables: one row per player and round, for one tournament or several.

``tests/data/test_read_scores.py`` compares with a pivot by pandas.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.columns import (
    coded_names,
    find_score_column,
    first_repeat,
    named_in,
    several,
)
from bayes_sota.data.files.tables import Table
from bayes_sota.data.formats.score_columns import (
    NotedScores,
    ScoreOptions,
    player_position,
    read_numbers,
    round_positions,
    sole_round_position,
    tournament_name,
)
from bayes_sota.data.metric_names import is_summary, refuse_loss
from bayes_sota.data.read_boards import located
from bayes_sota.data.score_table import Scheme, ScoreTable

_LARGEST = 100_000_000  # scores in one tournament, present or not


def is_long(table: Table, options: ScoreOptions) -> bool:
    """Whether a table has, or is said to have, a column of players and one of rounds."""
    if options.score_column is not None or options.tournament_column is not None:
        return True
    players, rounds = options.column(table, "player"), options.column(table, "round")
    if players is None:
        players = player_position(table)
    has_rounds = rounds is not None or bool(round_positions(table, [players]))
    return players is not None and has_rounds and options.players == "auto"


def read_long(table: Table, options: ScoreOptions) -> NotedScores:
    """Score tables of a long table: one, or one for each tournament.

    Raises
    ------
    InputError
        A player with two scores in a round, with both places; columns that cannot be told.
    """
    columns = _columns(table, options)
    used = list(columns.values())
    if len(set(used)) < len(used):
        raise InputError(f"{table.where}: one column cannot be two of player, round, tournament "
                         "and group")  # fmt: skip
    scores = _score_position(table, used, options)
    for what in ("player", "round"):
        _refuse_summaries(table, columns[what])
    if options.lower_is_better is False:
        refuse_loss(table.where, table.header[scores])
    coded = {what: _Coded(*coded_names(table, j, what)) for what, j in columns.items()}
    lower = options.lower_is_better
    unknown = [] if isinstance(lower, bool) else [n for n in lower if n not in coded["round"].names]
    if unknown:
        raise InputError(
            f"{table.where}: lower_is_better names a round {shown(unknown[0])} that is not there"
        )
    scheme = options.scheme_of(table, columns["round"])
    cells = _LongCells(table, coded, read_numbers(table, scores), lower, scheme)
    unused = [name for j, name in enumerate(table.header) if j not in (*used, scores)]
    notes = (f"{table.where}: columns that are not used: {several(unused)}",) if unused else ()
    return NotedScores(cells.score_tables(), "long", notes)


def _columns(table: Table, options: ScoreOptions) -> dict[str, int]:
    """Columns of players, rounds, and, where there are any, tournaments and groups."""
    found = {
        what: options.column(table, what) for what in ("player", "round", "tournament", "group")
    }
    if found["tournament"] is None:
        found["tournament"] = next(iter(named_in(table, ("tournament",))), None)
    if found["player"] is None:
        found["player"] = player_position(table)
    if found["round"] is None:
        found["round"] = sole_round_position(table, round_positions(table, found.values()))
    for what in ("player", "round"):
        if found[what] is None:
            raise InputError(
                f"{table.where}: no column names the {what}s; there are {table.listed_columns()}: "
                f"say which with {what}_column (--{what}-column)"
            )
    return {what: column for what, column in found.items() if column is not None}


def _refuse_summaries(table: Table, column: int) -> None:
    """Rows of averages and spreads are no rounds, and no players."""
    summaries = {cell for cell in set(table.columns[column]) if is_summary(str(cell))}
    for row, cell in enumerate(table.columns[column] if summaries else ()):
        if cell in summaries:
            raise InputError(
                f"{table.place(row, column)}: {shown(cell)} is a summary of others by its name; "
                "take its rows out"
            )


def _score_position(table: Table, used: list[int], options: ScoreOptions) -> int:
    found = options.column(table, "score")
    if found in used:
        raise InputError(
            f"{table.where}: column {shown(options.score_column)} cannot be the scores "
            "(score_column) and something else"
        )
    rest = [j for j in range(len(table.header)) if j not in used]
    if found is not None or len(rest) == 1:
        return rest[0] if found is None else found
    offered = replace(
        table,
        header=tuple(table.header[j] for j in rest),
        columns=tuple(table.columns[j] for j in rest),
    )
    try:
        return rest[find_score_column(offered)]
    except InputError as error:
        names = several(table.header[j] for j in used)
        raise InputError(
            f'{error}, or players="rows" or "columns" if the table is wide in spite of {names}'
        ) from None


@dataclass(frozen=True, eq=False)
class _Coded:
    """Different names in a column, and which one each row has."""

    names: list[str]
    codes: IntArray

    def among(self, rows: IntArray) -> "_Coded":
        """The same of some rows, numbered anew in order of appearance."""
        codes, first = _renumbered(self.codes[rows])
        return _Coded([self.names[code] for code in self.codes[rows[first]]], codes)

    def name_of(self, row: int) -> str:
        """Name in a row, for messages."""
        return shown(self.names[self.codes[row]])


@dataclass(frozen=True, eq=False)
class _LongCells:
    """A long table with its names as numbers, and how its scores are read."""

    table: Table
    coded: Mapping[str, _Coded]
    scores: FloatArray
    lower_is_better: bool | tuple[str, ...]
    scheme: Scheme

    def score_tables(self) -> ScoreTable | dict[str, ScoreTable]:
        """One score table, or one for each tournament."""
        tournaments = self.coded.get("tournament")
        if tournaments is None:
            return self.score_table(np.arange(self.scores.size))
        order = np.argsort(tournaments.codes, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(tournaments.codes))[:-1])
        return {
            name: self.score_table(rows, name)
            for name, rows in zip(tournaments.names, parts, strict=True)
        }

    def score_table(self, rows: IntArray, tournament: str | None = None) -> ScoreTable:
        """Scores of one tournament, whose rows these are."""
        where = self.table.where
        if tournament is not None:
            where += f": tournament {shown(tournament)}"
        players, plain = (self.coded[what].among(rows) for what in ("player", "round"))
        rounds, groups = self.grouped(rows, plain)
        shape = len(rounds.names), len(players.names)
        if shape[0] * shape[1] > _LARGEST:
            raise InputError(
                f"{where}: {shape[1]:,} players and {shape[0]:,} rounds with {rows.size:,} scores; "
                "are these the columns that were meant?"
            )
        self.refuse_repeats(rows, rounds.codes * shape[1] + players.codes)
        scores = np.full(shape, np.nan)
        scores[rounds.codes, players.codes] = self.scores[rows]
        lower: bool | list[bool] = self.lower_is_better  # type: ignore[assignment]
        if not isinstance(self.lower_is_better, bool):
            flags = np.zeros(shape[0], bool)
            flags[rounds.codes] = np.isin(plain.names, self.lower_is_better)[plain.codes]
            lower = flags.tolist()
        with located(where):
            return ScoreTable(
                scores,
                players=players.names,
                rounds=rounds.names,
                lower_is_better=lower,
                groups=groups,
                scheme=self.scheme,
                tournament=tournament or tournament_name(self.table),
            )

    def grouped(self, rows: IntArray, rounds: _Coded) -> tuple[_Coded, list[str] | None]:
        """Rounds with their groups; folds 1 to 4 of every data set are rounds of their own."""
        if "group" not in self.coded:
            return rounds, None
        groups = self.coded["group"].among(rows)
        pairs, first = _renumbered(groups.codes * len(rounds.names) + rounds.codes)
        labels = [groups.names[code] for code in groups.codes[first]]
        if first.size == len(rounds.names):
            return rounds, labels
        played = [rounds.names[code] for code in rounds.codes[first]]
        names = [f"{group}/{name}" for group, name in zip(labels, played, strict=True)]
        return _Coded(names, pairs), labels

    def refuse_repeats(self, rows: IntArray, place: IntArray) -> None:
        """Raise ``InputError`` where a player has two scores in one round."""
        repeat = first_repeat(place)
        if repeat is None:
            return
        first, again = rows[list(repeat)]
        hint = "" if {"tournament", "group"} & set(self.coded) else (
            "; if another column numbers runs or folds, that is the round_column, and what is "
            "taken for the round now is the group_column; if it names data sets, it is the "
            "tournament_column"
        )  # fmt: skip
        raise InputError(
            f"{self.table.where}: {self.table.places[again]}: player "
            f"{self.coded['player'].name_of(again)} already has a score in round "
            f"{self.coded['round'].name_of(again)} on {self.table.places[first]}{hint}"
        )


def _renumbered(codes: IntArray) -> tuple[IntArray, IntArray]:
    """Codes from 0 in order of appearance, and the row in which each appears first."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(order.size, np.intp)
    rank[order] = np.arange(order.size)
    return rank[inverse], first[order]
