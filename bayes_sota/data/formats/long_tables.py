"""Long tables: one row per player and round, for one tournament or several.

``tests/data/test_read_scores.py`` compares with a pivot by pandas.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import IntArray
from bayes_sota.data.columns import find_score_column, is_loss, is_summary
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.formats.score_columns import (
    FOLD_WORDS,
    NotedScores,
    ScoreOptions,
    coded_names,
    column_asked_for,
    first_repeat,
    named_in,
    player_position,
    read_numbers,
    round_positions,
    sole_round_position,
    tournament_name,
)
from bayes_sota.data.parts import several
from bayes_sota.data.read_boards import located
from bayes_sota.data.score_table import Scheme, ScoreTable

_LARGEST = 100_000_000  # scores in one tournament, present or not


def is_long(table: Table, options: ScoreOptions) -> bool:
    """Whether a table has, or is said to have, a column of players and one of rounds."""
    if options.score_column is not None or options.tournament_column is not None:
        return True
    players = column_asked_for(table, options.player_column, "player_column")
    rounds = column_asked_for(table, options.round_column, "round_column")
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
    tournaments = column_asked_for(table, options.tournament_column, "tournament_column")
    if tournaments is None:
        tournaments = next(iter(named_in(table, ("tournament",))), None)
    groups = column_asked_for(table, options.group_column, "group_column")
    players = column_asked_for(table, options.player_column, "player_column")
    rounds = column_asked_for(table, options.round_column, "round_column")
    if players is None:
        players = player_position(table)
    if rounds is None:
        rounds = sole_round_position(table, round_positions(table, [tournaments, groups, players]))
    if players is None or rounds is None:
        what = "players" if players is None else "rounds"
        raise InputError(
            f"{table.where}: no column names the {what}; there are {table.listed_columns()}: say "
            f"which with {what[:-1]}_column (--{what[:-1]}-column)"
        )
    used = [j for j in (players, rounds, tournaments, groups) if j is not None]
    if len(set(used)) < len(used):
        raise InputError(f"{table.where}: one column cannot be two of player, round, tournament "
                         "and group")  # fmt: skip
    scores = _score_position(table, used, options.score_column)
    _refuse_summaries(table, (players, rounds))
    if is_loss(table.header[scores]) and options.lower_is_better is False:
        raise InputError(
            f"{table.where}: column {shown(table.header[scores])} holds errors by its name, and of "
            "those the lowest is the best: give lower_is_better=True"
        )
    cells = _LongCells.read(table, players, rounds, scores, tournaments, groups)
    scheme = options.scheme or (
        "model/cv" if normalize_name(table.header[rounds]) in FOLD_WORDS else "model/task"
    )
    unused = [name for j, name in enumerate(table.header) if j not in (*used, scores)]
    notes = (f"{table.where}: columns that are not used: {several(unused)}",) if unused else ()
    return NotedScores(cells.score_tables(options.lower_is_better, scheme), "long", notes)


def _refuse_summaries(table: Table, columns: tuple[int, ...]) -> None:
    """Rows of averages and spreads are no rounds, and no players."""
    for column in columns:
        for name, where in zip(table.columns[column], table.places, strict=True):
            if is_summary(str(name)):
                raise InputError(
                    f"{table.where}: {where}, column {shown(table.header[column])}: {shown(name)} "
                    "is a summary of others by its name; take its rows out"
                )


def _score_position(table: Table, used: list[int], wanted: str | None) -> int:
    found = column_asked_for(table, wanted, "score_column")
    if found is not None:
        if found in used:
            raise InputError(
                f"{table.where}: column {shown(table.header[found])} cannot be the scores "
                "(score_column) and something else"
            )
        return found
    rest = [j for j in range(len(table.header)) if j not in used]
    if len(rest) == 1:
        return rest[0]
    offered = replace(
        table,
        header=tuple(table.header[j] for j in rest),
        columns=tuple(table.columns[j] for j in rest),
    )
    try:
        return rest[find_score_column(offered)]
    except InputError as error:
        names = several([table.header[j] for j in used])
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


@dataclass(frozen=True, eq=False)
class _LongCells:
    """A long table with its names as numbers."""

    table: Table
    players: _Coded
    rounds: _Coded
    scores: NDArray[np.float64]
    tournaments: _Coded | None
    groups: _Coded | None

    @classmethod
    def read(
        cls,
        table: Table,
        players: int,
        rounds: int,
        scores: int,
        tournaments: int | None,
        groups: int | None,
    ) -> "_LongCells":
        """Cells of these columns."""

        def coded(column: int | None, what: str) -> _Coded | None:
            return None if column is None else _Coded(*coded_names(table, column, what))

        return cls(
            table,
            _Coded(*coded_names(table, players, "player")),
            _Coded(*coded_names(table, rounds, "round")),
            read_numbers(table, scores),
            coded(tournaments, "tournament"),
            coded(groups, "group"),
        )

    def score_tables(
        self, lower_is_better: bool | tuple[str, ...], scheme: Scheme
    ) -> ScoreTable | dict[str, ScoreTable]:
        """One score table, or one for each tournament."""
        if not isinstance(lower_is_better, bool):
            unknown = [name for name in lower_is_better if name not in self.rounds.names]
            if unknown:
                raise InputError(
                    f"{self.table.where}: lower_is_better names a round {shown(unknown[0])} that "
                    "is not there"
                )
        if self.tournaments is None:
            everything = np.arange(self.scores.size)
            return self._score_table(everything, None, lower_is_better, scheme)
        order = np.argsort(self.tournaments.codes, kind="stable")
        ends = np.cumsum(np.bincount(self.tournaments.codes))[:-1]
        found = {}
        for name, rows in zip(self.tournaments.names, np.split(order, ends), strict=True):
            found[name] = self._score_table(rows, name, lower_is_better, scheme)
        return found

    def _score_table(
        self,
        rows: IntArray,
        tournament: str | None,
        lower_is_better: bool | tuple[str, ...],
        scheme: Scheme,
    ) -> ScoreTable:
        """Scores of one tournament, whose rows these are."""
        where = self.table.where
        if tournament is not None:
            where += f": tournament {shown(tournament)}"
        players = self.players.among(rows)
        plain = self.rounds.among(rows)
        rounds, groups = self._grouped(rows, plain)
        n_rounds, n_players = len(rounds.names), len(players.names)
        if n_rounds * n_players > _LARGEST:
            raise InputError(
                f"{where}: {n_players:,} players and {n_rounds:,} rounds with "
                f"{rows.size:,} scores; are these the columns that were meant?"
            )
        place = rounds.codes * n_players + players.codes
        self._refuse_repeats(rows, place)
        scores = np.full(n_rounds * n_players, np.nan)
        scores[place] = self.scores[rows]
        lower = lower_is_better
        if not isinstance(lower, bool):
            flags = np.zeros(n_rounds, bool)
            flags[rounds.codes] = np.isin(plain.names, lower)[plain.codes]
            lower = tuple(np.array(rounds.names)[flags].tolist())
        with located(where):
            return ScoreTable(
                scores.reshape(n_rounds, n_players),
                players=players.names,
                rounds=rounds.names,
                lower_is_better=lower,
                groups=groups,
                scheme=scheme,
                tournament=tournament or tournament_name(self.table),
            )

    def _grouped(self, rows: IntArray, rounds: _Coded) -> tuple[_Coded, list[str] | None]:
        """Rounds with their groups; folds 1 to 4 of every data set are rounds of their own."""
        if self.groups is None:
            return rounds, None
        groups = self.groups.among(rows)
        pairs, first = _renumbered(groups.codes * len(rounds.names) + rounds.codes)
        labels = [groups.names[code] for code in groups.codes[first]]
        if first.size == len(rounds.names):
            return rounds, labels
        played = [rounds.names[code] for code in rounds.codes[first]]
        names = [f"{group}/{name}" for group, name in zip(labels, played, strict=True)]
        return _Coded(names, pairs), labels

    def _refuse_repeats(self, rows: IntArray, place: IntArray) -> None:
        repeat = first_repeat(place)
        if repeat is None:
            return
        first, again = rows[repeat[0]], rows[repeat[1]]
        player = self.players.names[self.players.codes[again]]
        played = self.rounds.names[self.rounds.codes[again]]
        hint = "" if self.tournaments or self.groups else (
            "; if another column numbers runs or folds, that is the round_column, and what is "
            "taken for the round now is the group_column; if it names data sets, it is the "
            "tournament_column"
        )  # fmt: skip
        raise InputError(
            f"{self.table.where}: {self.table.places[again]}: player {shown(player)} already has "
            f"a score in round {shown(played)} on {self.table.places[first]}{hint}"
        )


def _renumbered(codes: IntArray) -> tuple[IntArray, IntArray]:
    """Codes from 0 in order of appearance, and the row in which each appears first."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(order.size, np.intp)
    rank[order] = np.arange(order.size)
    return rank[inverse], first[order]
