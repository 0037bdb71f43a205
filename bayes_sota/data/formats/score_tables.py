"""Tables of scores, long and wide: what the user chose, and which columns are players and rounds.

A long table has one row per player and round, of one tournament or several; a wide one a column per
player and a row per round, or the other way round. ``tests/data/test_read_scores.py`` compares with
what pandas reads, and holds the choices and the tables that are refused.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError, located
from bayes_sota.core.text import several, shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.grids import Axis, occurrences, place_rows, renumbered
from bayes_sota.data.matches import Matches
from bayes_sota.data.readers.columns import (
    WORDS,
    check_names,
    find_column,
    find_counters,
    find_score_column_beside,
    holds_no_number,
    is_missing,
    named_in,
    names_in,
    number_of,
    numbers_in,
    refuse_repeats,
)
from bayes_sota.data.readers.metric_names import asides, is_summary, refuse_loss, refuse_metrics
from bayes_sota.data.score_table import Scheme, ScoreTable

Orientation = Literal["auto", "rows", "columns"]

_ROUNDS = {**WORDS["folds"], **WORDS["rounds"]}
_RUNS = {**WORDS["iterations"], **WORDS["folds"]}


@dataclass(frozen=True)
class ScoreOptions:
    """What the user chose; None where nothing was said. The fields are those of ``read_scores``."""

    player_column: str | None = None
    round_column: str | None = None
    score_column: str | None = None
    tournament_column: str | None = None
    group_column: str | None = None
    cluster_column: str | None = None
    players: Orientation = "auto"
    lower_is_better: bool = False
    scheme: Scheme | None = None

    def __post_init__(self) -> None:
        """Refuse what is not among the choices."""
        check_choice("players", self.players, Orientation)

    def column(self, table: Table, what: str) -> int | None:
        """Position of the column that is asked for as the players, the rounds, ..., if any."""
        wanted = getattr(self, f"{what}_column")
        return None if wanted is None else find_column(table, wanted, f"{what}_column")

    def scheme_of(self, table: Table, rounds: int | None) -> Scheme:
        """What players and rounds are: as chosen, else by the name of the column of rounds."""
        folds = rounds is not None and normalize_name(table.header[rounds]) in WORDS["folds"]
        return self.scheme or ("model/cv" if folds else "model/task")


@dataclass(frozen=True)
class NotedScores:
    """What was read, and what a user should know about it.

    Attributes
    ----------
    scores : ScoreTable, Matches or dict of ScoreTable
    notes : tuple of str
        What was left out or chosen, for people.
    """

    scores: ScoreTable | Matches | dict[str, ScoreTable]
    notes: tuple[str, ...] = ()


def read_numbers(table: Table, column: int) -> FloatArray:
    """Scores in a column, NaN where one is missing, shape (n_rows,).

    Examples
    --------
    >>> read_numbers(Table(("a",), (("0.5", "NA", "1e-3"),), ("1", "2", "3"), "x.csv"), 0)
    array([0.5  ,   nan, 0.001])
    """
    complaint = "a score is a finite number, or empty where there is none; got {}"
    return numbers_in(table, column, _score, complaint)


def _score(cell: Any) -> float | None:
    number = number_of(cell)
    return math.nan if number is None and is_missing(cell) else number


def _is_row_name(table: Table, column: int) -> bool:
    """Whether a column names the rows, whatever they are."""
    known = normalize_name(table.header[column])
    words = {**WORDS["row_names"], **_ROUNDS, **WORDS["players"]}
    return known in words or holds_no_number(table, column)


def _player_position(table: Table) -> int | None:
    """Column that names players: the first one, or one of words, whose name says so."""
    columns = (column for word in WORDS["players"] for column in named_in(table, (word,)))
    return next((j for j in columns if j == 0 or holds_no_number(table, j)), None)


def _round_positions(table: Table, taken: Iterable[int | None] = ()) -> list[int]:
    """Columns that may name rounds."""
    used = set(taken)
    return [column for column in named_in(table, _ROUNDS) if column not in used]


def _sole_round_position(table: Table, columns: Sequence[int]) -> int | None:
    """The only column that names rounds; several are refused."""
    if len(columns) < 2:
        return columns[0] if columns else None
    raise InputError(
        f"{table.where}: the columns {several(table.header[j] for j in columns)} could all name "
        "the rounds: name one as round_column, and the other as tournament_column (a leaderboard "
        "for each) or group_column (rounds that depend on each other)"
    )


def tournament_name(table: Table) -> str:
    """Name of the tournament that a table holds: that of its file, which a frame does not have."""
    return "tournament" if table.where == "the data frame" else table.stem


def is_long(table: Table, options: ScoreOptions) -> bool:
    """Whether a table has, or is said to have, a column of players and one of rounds."""
    if options.score_column is not None or options.tournament_column is not None:
        return True
    players, rounds = options.column(table, "player"), options.column(table, "round")
    if players is None:
        players = _player_position(table)
    has_rounds = rounds is not None or bool(_round_positions(table, [players]))
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
    scores = find_score_column_beside(table, used, options.score_column)
    for what in ("player", "round"):
        _refuse_summaries(table, columns[what])
    if not options.lower_is_better:
        refuse_loss(table.where, table.header[scores])
    axes = {what: Axis.of_column(table, column, what) for what, column in columns.items()}
    values = read_numbers(table, scores)
    options = replace(options, scheme=options.scheme_of(table, columns["round"]))
    unused = [name for j, name in enumerate(table.header) if j not in (*used, scores)]
    notes = (f"{table.where}: columns that are not used: {several(unused)}",) if unused else ()
    tournaments = axes.pop("tournament", None)
    if tournaments is None:
        rows = np.arange(values.size)
        return NotedScores(_score_table(table, axes, values, rows, options), notes)
    order = np.argsort(tournaments.codes, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(tournaments.codes))[:-1])
    scored = {
        name: _score_table(table, axes, values, rows, options, name)
        for name, rows in zip(tournaments.names, parts, strict=True)
    }
    return NotedScores(scored, notes)


def _columns(table: Table, options: ScoreOptions) -> dict[str, int]:
    """Columns of players, rounds, and, where there are any, tournaments and groups."""
    columns = {
        what: options.column(table, what) for what in ("player", "round", "tournament", "group")
    }
    if columns["tournament"] is None:
        columns["tournament"] = next(iter(named_in(table, ("tournament",))), None)
    if columns["player"] is None:
        columns["player"] = _player_position(table)
    if columns["round"] is None:
        columns["round"] = _sole_round_position(table, _round_positions(table, columns.values()))
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
    grid = place_rows(table, (rounds, players), rows)
    where = table.where + ("" if tournament is None else f": tournament {shown(tournament)}")
    with located(where):
        return ScoreTable(
            np.append(values[rows], np.nan)[grid],
            players=players.names,
            rounds=rounds.names,
            lower_is_better=options.lower_is_better,
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


def read_wide(table: Table, options: ScoreOptions) -> NotedScores:
    """Score table of a wide table.

    Raises
    ------
    InputError
        Cells that are no numbers, names that repeat, with their places; a table that could have
        players in its rows and in its columns.
    """
    group = options.column(table, "group")
    label, players_in_rows, told = _layout(table, options, group)
    if players_in_rows and group is not None:
        raise InputError(
            f"{table.where}: group_column groups rounds, which are the columns of this table"
        )
    rest = [j for j in range(len(table.header)) if j not in (label, group)]
    aside = asides(table.header)
    columns = [j for j in rest if j not in aside]
    if players_in_rows:
        columns = _columns_of_rounds(table, columns)
    counters = find_counters(table, columns)
    if label is None and not players_in_rows and counters:
        label = counters.pop(0)
        told = [f"{table.where}: column {shown(table.header[label])} counts: it names the rounds"]
    columns = [j for j in columns if j not in (label, *counters)]
    in_columns, in_rows = ("round", "player") if players_in_rows else ("player", "round")
    left_out = [table.header[j] for j in rest if j not in (label, *columns)]
    titles = {j: table.header[j].strip() for j in columns}
    if not players_in_rows and options.players == "auto":
        refuse_metrics(table.where, titles.values(), "players")
    check_names(table.where, titles, f", and is no {in_columns}")
    names = list(titles.values())
    table, summaries = _without_summaries(table, label)
    left_out += summaries
    rows, groups = _row_names(table, label, group, in_rows)
    values = np.column_stack(
        [read_numbers(table, j) for j in columns] or [np.empty((len(table.places), 0))]
    )
    notes = [*told, *([f"{table.where}: left out {several(left_out)}"] if left_out else [])]
    with located(table.where):
        scores = ScoreTable(
            values.T if players_in_rows else values,
            players=rows if players_in_rows else names,
            rounds=names if players_in_rows else rows,
            lower_is_better=options.lower_is_better,
            groups=groups,
            scheme=options.scheme_of(table, label),
            tournament=tournament_name(table),
        )
    return NotedScores(scores, tuple(notes))


def _layout(
    table: Table, options: ScoreOptions, group: int | None
) -> tuple[int | None, bool, list[str]]:
    """Column that names the rows, whether they are players, and what was taken for granted."""
    players, rounds = _asked_for(table, options)
    if players is not None or options.players == "rows":
        return _first(table, players, _player_position(table)), True, []
    columns = _round_positions(table, [group])
    if rounds is not None or options.players == "columns":
        return _first(table, rounds, _sole_round_position(table, columns), group), False, []
    players = None if group is not None else _player_position(table)
    if players is not None and columns:
        raise InputError(
            f"{table.where}: column {shown(table.header[players])} could name the rows, or "
            f'{shown(table.header[columns[0]])}: say what they are with players="rows" or '
            'players="columns"'
        )
    if players is not None:
        return players, True, []
    label = _first(table, None, _sole_round_position(table, columns), group)
    if columns or group is not None:
        return label, False, []
    _refuse_few_named_rows(table, label)
    told = (
        f'{table.where}: rows are taken as rounds and columns as players; say players="rows" '
        "(--players rows) if it is the other way round"
    )
    return label, False, [told]


def _refuse_few_named_rows(table: Table, label: int | None) -> None:
    """Refuse to guess where the rows have names and are fewer than the columns."""
    named = label is not None and holds_no_number(table, label)
    columns = [name for j, name in enumerate(table.header) if j != label]
    if named and len(table.places) < len(columns):
        rows = table.columns[label or 0]
        raise InputError(
            f"{table.where}: the players could be the rows ({several(rows)}) or the columns "
            f'({several(columns)}); say players="rows" or players="columns"'
        )


def _asked_for(table: Table, options: ScoreOptions) -> tuple[int | None, int | None]:
    """Columns that are asked for as the names of the rows: of players, or of rounds."""
    players, rounds = options.column(table, "player"), options.column(table, "round")
    if players is not None and rounds is not None:
        raise InputError(
            f"{table.where}: the rows of a wide table are players (player_column) or rounds "
            "(round_column), not both"
        )
    return players, rounds


def _first(
    table: Table, wanted: int | None, recognised: int | None, group: int | None = None
) -> int | None:
    """Column of names: asked for, recognised, or the first one if it holds no scores."""
    if wanted is not None or recognised is not None:
        return recognised if wanted is None else wanted
    return 0 if group != 0 and _is_row_name(table, 0) else None


def _columns_of_rounds(table: Table, columns: list[int]) -> list[int]:
    """Columns of a leaderboard that are scores in a round."""
    every = set(map(normalize_name, table.header))

    def is_round(name: str) -> bool:
        raw = name.endswith("raw") and name.removesuffix("raw") in every  # the same, rescaled
        return not (raw or name in WORDS["no_rounds"] or name.endswith("stderr"))

    return [
        j
        for j in columns
        if not holds_no_number(table, j) and is_round(normalize_name(table.header[j]))
    ]


def _without_summaries(table: Table, label: int | None) -> tuple[Table, list[str]]:
    """Rows that are no average or spread of others, and the names of those that are."""
    names = [] if label is None else [str(cell) for cell in table.columns[label]]
    summaries = [name for name in names if is_summary(name)]
    if not summaries:
        return table, []
    kept = [row for row, name in enumerate(names) if not is_summary(name)]
    return table.at(kept), summaries


def _row_names(
    table: Table, label: int | None, group: int | None, what: str
) -> tuple[list[str] | None, list[str] | None]:
    """Names of the rows, and their groups; within a group rounds may have the same names."""
    groups = None if group is None else names_in(table, group, "group")
    if label is None:
        numbers = occurrences(groups or ())
        numbered = [f"{name}/{i + 1}" for name, i in zip(groups or (), numbers, strict=True)]
        return numbered or None, groups
    names = names_in(table, label, what)
    if groups is not None and len(set(names)) < len(names):
        names = [f"{group_name}/{name}" for group_name, name in zip(groups, names, strict=True)]
    hint = (
        "if its rows are its folds, name this column as group_column"
        if what == "round"
        else "a table with one row per player and round needs a column of rounds (round_column)"
    )
    refuse_repeats(table, label, names, what, hint)
    return names, groups
