"""Long tables: one row per player and round, for one tournament or several.

``tests/data/test_read_scores.py`` compares with a pivot by pandas.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bayes_sota.core.errors import InputError, located
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray, IntArray
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
from bayes_sota.data.grids import Axis, place_rows, renumbered
from bayes_sota.data.readers.columns import WORDS, find_score_column_beside, named_in, several
from bayes_sota.data.readers.metric_names import is_summary, refuse_loss
from bayes_sota.data.score_table import ScoreTable

_OTHER_COLUMNS = (
    "; if another column numbers runs or folds, that is the round_column, and what is taken for "
    "the round now is the group_column; if it names data sets, it is the tournament_column"
)
_RUNS = {**WORDS["iterations"], **WORDS["folds"]}


def is_long(table: Table, options: ScoreOptions) -> bool:
    """Whether a table has, or is said to have, a column of players and one of rounds."""
    if options.score_column is not None or options.tournament_column is not None:
        return True
    players, rounds = options.column(table, "player"), options.column(table, "round")
    if players is None:
        players = player_position(table)
    has_rounds = rounds is not None or bool(round_positions(table, [players]))
    return players is not None and has_rounds and options.players == "auto"


def runs_of_rounds(table: Table) -> dict[str, str]:
    """Options for a table whose players have several runs in every round; none for others.

    Examples
    --------
    >>> cells = (["a", "a"], ["x", "x"], [1, 2], [0.5, 0.6])
    >>> table = Table(("model", "task", "run", "acc"), cells, ("line 2", "line 3"), "x.csv")
    >>> runs_of_rounds(table)
    {'round_column': 'run', 'group_column': 'task'}
    """
    runs, rounds = named_in(table, _RUNS), named_in(table, WORDS["rounds"])
    if len(runs) != 1 or len(rounds) != 1:
        return {}
    return {"round_column": table.header[runs[0]], "group_column": table.header[rounds[0]]}


def _repeats(table: Table) -> str:
    """What to do about players with several scores in a round, as the end of a message."""
    options = [f"{option}={name!r}" for option, name in runs_of_rounds(table).items()]
    return f"; {' and '.join(options)} take each run for a round" if options else _OTHER_COLUMNS


def read_long(table: Table, options: ScoreOptions) -> NotedScores:
    """Score tables of a long table: one, or one for each tournament.

    Raises
    ------
    InputError
        A player with two scores in a round, with both places; columns that cannot be told.
    """
    options.column(table, "score")  # one that is not there is said before others are looked for
    columns = _columns(table, options)
    used = list(columns.values())
    if len(set(used)) < len(used):
        raise InputError(
            f"{table.where}: one column cannot be two of player, round, tournament and group"
        )
    scores = _score_position(table, used, options)
    for what in ("player", "round"):
        _refuse_summaries(table, columns[what])
    lower = options.lower_is_better
    if lower is False:
        refuse_loss(table.where, table.header[scores])
    axes = {what: Axis.of_column(table, column, what) for what, column in columns.items()}
    unknown = [] if isinstance(lower, bool) else [n for n in lower if n not in axes["round"].names]
    if unknown:
        raise InputError(
            f"{table.where}: lower_is_better names a round {shown(unknown[0])} that is not there"
        )
    values = read_numbers(table, scores)
    options = replace(options, scheme=options.scheme_of(table, columns["round"]))
    unused = [name for j, name in enumerate(table.header) if j not in (*used, scores)]
    notes = (f"{table.where}: columns that are not used: {several(unused)}",) if unused else ()
    tournaments = axes.pop("tournament", None)
    if tournaments is None:
        rows = np.arange(values.size)
        return NotedScores(_score_table(table, axes, values, rows, options), "long", notes)
    order = np.argsort(tournaments.codes, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(tournaments.codes))[:-1])
    scored = {
        name: _score_table(table, axes, values, rows, options, name)
        for name, rows in zip(tournaments.names, parts, strict=True)
    }
    return NotedScores(scored, "long", notes)


def _columns(table: Table, options: ScoreOptions) -> dict[str, int]:
    """Columns of players, rounds, and, where there are any, tournaments and groups."""
    columns = {
        what: options.column(table, what) for what in ("player", "round", "tournament", "group")
    }
    if columns["tournament"] is None:
        columns["tournament"] = next(iter(named_in(table, ("tournament",))), None)
    if columns["player"] is None:
        columns["player"] = player_position(table)
    if columns["round"] is None:
        columns["round"] = sole_round_position(table, round_positions(table, columns.values()))
    for what in ("player", "round"):
        if columns[what] is None:
            raise InputError(
                f"{table.where}: no column names the {what}s; there are {table.listed_columns()}: "
                f"say which with {what}_column (--{what}-column)"
            )
    return {what: column for what, column in columns.items() if column is not None}


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
    wanted = options.score_column
    try:
        return find_score_column_beside(table, used, wanted)
    except InputError as error:
        if wanted is not None:
            raise
        names = several(table.header[j] for j in used)
        raise InputError(
            f'{error}, or players="rows" or "columns" if the table is wide in spite of {names}'
        ) from None


def _score_table(
    table: Table,
    axes: Mapping[str, Axis],
    values: FloatArray,
    rows: IntArray,
    options: ScoreOptions,
    tournament: str | None = None,
) -> ScoreTable:
    """Scores of one tournament, whose rows these are."""
    players, plain = (axes[what].among(rows) for what in ("player", "round"))
    rounds, groups = (
        _grouped(axes["group"].among(rows), plain) if "group" in axes else (plain, None)
    )
    alone = groups is None and tournament is None
    hint = _repeats(table) if alone else ""
    grid = place_rows(table, (rounds, players), rows, hint=hint)
    lower = options.lower_is_better
    if not isinstance(lower, bool):
        flags = np.zeros(len(rounds.names), bool)
        flags[rounds.codes] = np.isin(plain.names, lower)[plain.codes]
        lower = flags.tolist()  # type: ignore[assignment]
    where = table.where + ("" if tournament is None else f": tournament {shown(tournament)}")
    with located(where):
        return ScoreTable(
            np.append(values[rows], np.nan)[grid],
            players=players.names,
            rounds=rounds.names,
            lower_is_better=lower,
            groups=groups,
            scheme=options.scheme or "model/task",
            tournament=tournament or tournament_name(table),
        )


def _grouped(groups: Axis, rounds: Axis) -> tuple[Axis, list[str]]:
    """Rounds with their groups; folds 1 to 4 of every data set are rounds of their own."""
    pairs, first = renumbered(groups.codes * len(rounds.names) + rounds.codes)
    labels = [groups.names[code] for code in groups.codes[first]]
    if first.size == len(rounds.names):
        return rounds, labels
    played = [rounds.names[code] for code in rounds.codes[first]]
    names = [f"{group}/{name}" for group, name in zip(labels, played, strict=True)]
    return replace(rounds, names=names, codes=pairs), labels
