"""Wide tables: one column per player and one row per round, or the other way round.

``tests/data/test_read_scores.py`` compares with what pandas reads.
"""

from dataclasses import replace

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.columns import is_summary
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.formats.score_columns import (
    FOLD_WORDS,
    NotedScores,
    ScoreOptions,
    coded_names,
    column_asked_for,
    first_repeat,
    holds_no_number,
    is_row_name,
    place,
    player_position,
    read_numbers,
    round_positions,
    sole_round_position,
    tournament_name,
)
from bayes_sota.data.parts import several
from bayes_sota.data.read_boards import located
from bayes_sota.data.score_table import ScoreTable

# Numbers of a leaderboard that are no round and no summary of rounds.
_NO_ROUNDS = frozenset(
    ("rank", "ranking", "position", "place", "params", "paramsb", "nparams", "numparams",
     "parameters", "hub", "hublikes", "likes", "downloads", "co2costkg", "co₂costkg", "generation",
     "year", "id", "index", "unnamed0")
)  # fmt: skip


def read_wide(table: Table, options: ScoreOptions) -> NotedScores:
    """Score table of a wide table.

    Raises
    ------
    InputError
        Cells that are no numbers, names that repeat, with their places; a table that could have
        players in its rows and in its columns.
    """
    group = column_asked_for(table, options.group_column, "group_column")
    label, players_in_rows, told = _layout(table, options, group)
    if players_in_rows and group is not None:
        raise InputError(
            f"{table.where}: group_column groups rounds, which are the columns of this table"
        )
    rest = [j for j in range(len(table.header)) if j not in (label, group)]
    columns = [j for j in rest if not is_summary(table.header[j])]
    if players_in_rows:
        columns = _columns_of_rounds(table, rest)
    left_out = [table.header[j] for j in rest if j not in columns]
    names = [_header_name(table, j, "round" if players_in_rows else "player") for j in columns]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(f"{table.where}: two columns are called {shown(twice)}")
    table, summaries = _without_summaries(table, label)
    left_out += summaries
    rows, groups = _row_names(table, label, group, "player" if players_in_rows else "round")
    values = np.empty((len(table.places), len(columns)))
    for number, column in enumerate(columns):
        values[:, number] = read_numbers(table, column)
    notes = [*told, *([f"{table.where}: left out {several(left_out)}"] if left_out else [])]
    folds = label is not None and normalize_name(table.header[label]) in FOLD_WORDS
    with located(table.where):
        found = ScoreTable(
            values.T if players_in_rows else values,
            players=rows if players_in_rows else names,
            rounds=names if players_in_rows else rows,
            lower_is_better=options.lower_is_better,
            groups=groups,
            scheme=options.scheme or ("model/cv" if folds else "model/task"),
            tournament=tournament_name(table),
        )
    return NotedScores(found, "wide", tuple(notes))


def _layout(
    table: Table, options: ScoreOptions, group: int | None
) -> tuple[int | None, bool, list[str]]:
    """Column that names the rows, whether they are players, and what was taken for granted."""
    players = column_asked_for(table, options.player_column, "player_column")
    rounds = column_asked_for(table, options.round_column, "round_column")
    if players is not None and rounds is not None:
        raise InputError(
            f"{table.where}: the rows of a wide table are players (player_column) or rounds "
            "(round_column), not both; a long table has format='long'"
        )
    for column, option, other in (
        (players, "player_column", "columns"), (rounds, "round_column", "rows")
    ):  # fmt: skip
        if column is not None and options.players == other:
            raise InputError(
                f"{table.where}: {option} names the rows, but players={other!r} says that they "
                "are something else"
            )
    if players is not None or options.players == "rows":
        return _first(table, players, player_position(table)), True, []
    found = round_positions(table, [group])
    if rounds is not None or options.players == "columns":
        return _first(table, rounds, sole_round_position(table, found), group), False, []
    players = player_position(table)
    if players is not None and found and group is None:
        raise InputError(
            f"{table.where}: column {shown(table.header[players])} could name the rows, or "
            f'{shown(table.header[found[0]])}: say what they are with players="rows" or '
            '"columns"'
        )
    if players is not None and group is None:
        return players, True, []
    if found or group is not None:
        return _first(table, None, sole_round_position(table, found), group), False, []
    told = (
        f'{table.where}: rows are taken as rounds and columns as players; say players="rows" '
        "(--players rows) if it is the other way round"
    )
    return _first(table, None, None), False, [told]


def _first(
    table: Table, wanted: int | None, recognised: int | None, group: int | None = None
) -> int | None:
    """Column of names: asked for, recognised, or the first one if it holds no scores."""
    if wanted is not None or recognised is not None:
        return recognised if wanted is None else wanted
    return 0 if group != 0 and is_row_name(table, 0) else None


def _columns_of_rounds(table: Table, columns: list[int]) -> list[int]:
    """Columns of a leaderboard that are scores in a round."""
    names = {normalize_name(table.header[j]) for j in columns}
    return [
        j
        for j in columns
        if not holds_no_number(table, j)
        and not is_summary(table.header[j])
        and not _is_no_round(normalize_name(table.header[j]), names)
    ]


def _is_no_round(name: str, names: set[str]) -> bool:
    raw = name.endswith("raw") and name.removesuffix("raw") in names  # the same score, rescaled
    return name in _NO_ROUNDS or raw or name.endswith("stderr")


def _without_summaries(table: Table, label: int | None) -> tuple[Table, list[str]]:
    """Rows that are no average or spread of others, and the names of those that are."""
    if label is None:
        return table, []
    names = [str(cell) for cell in table.columns[label]]
    kept = [row for row, name in enumerate(names) if not is_summary(name)]
    if len(kept) == len(names):
        return table, []
    columns = tuple([cells[row] for row in kept] for cells in table.columns)
    places = [table.places[row] for row in kept]
    left_out = [name for name in names if is_summary(name)]
    return replace(table, columns=columns, places=places), left_out


def _header_name(table: Table, column: int, what: str) -> str:
    name = table.header[column].strip()
    if not name:
        raise InputError(f"{table.where}: column {column + 1} has no name, and is no {what}")
    return name


def _row_names(
    table: Table, label: int | None, group: int | None, what: str
) -> tuple[list[str] | None, list[str] | None]:
    """Names of the rows, and their groups; within a group rounds may have the same names."""
    groups = None
    if group is not None:
        names, codes = coded_names(table, group, "group")
        groups = [names[code] for code in codes]
    if label is None:
        return (None if groups is None else _numbered(groups)), groups
    names, codes = coded_names(table, label, what)
    rows = [names[code] for code in codes]
    if first_repeat(codes) is not None and groups is not None:
        rows = [f"{group_name}/{name}" for group_name, name in zip(groups, rows, strict=True)]
        codes = np.unique(rows, return_inverse=True)[1]
    repeat = first_repeat(codes)
    if repeat is None:
        return rows, groups
    first, again = repeat
    hint = (
        "if its rows are its folds, name this column as group_column"
        if what == "round"
        else 'a table with one row per player and round has format="long"'
    )
    raise InputError(
        f"{place(table, again, label)}: {what} {shown(rows[again])} is already on "
        f"{table.places[first]}; {hint}"
    )


def _numbered(groups: list[str]) -> list[str]:
    """Rounds numbered from 1 within their groups.

    Examples
    --------
    >>> _numbered(["iris", "iris", "wine"])
    ['iris/1', 'iris/2', 'wine/1']
    """
    seen: dict[str, int] = {}
    names = []
    for group in groups:
        seen[group] = seen.get(group, 0) + 1
        names.append(f"{group}/{seen[group]}")
    return names
