"""Wide tables: one column per player and one row per round, or the other way round.

``tests/data/test_read_scores.py`` compares with what pandas reads.
"""

import numpy as np

from bayes_sota.core.errors import InputError, located
from bayes_sota.core.text import shown
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.formats.score_columns import (
    NotedScores,
    ScoreOptions,
    is_row_name,
    player_position,
    read_numbers,
    round_positions,
    sole_round_position,
    tournament_name,
)
from bayes_sota.data.grids import occurrences
from bayes_sota.data.readers.columns import (
    WORDS,
    check_names,
    holds_no_number,
    names_in,
    refuse_repeats,
    several,
)
from bayes_sota.data.readers.counters import find_counters
from bayes_sota.data.readers.metric_names import asides, is_summary, refuse_metrics
from bayes_sota.data.score_table import ScoreTable


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
    counters = find_counters(table, columns, None if players_in_rows else "round_column")
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
    return NotedScores(scores, "wide", tuple(notes))


def _layout(
    table: Table, options: ScoreOptions, group: int | None
) -> tuple[int | None, bool, list[str]]:
    """Column that names the rows, whether they are players, and what was taken for granted."""
    players, rounds = _asked_for(table, options)
    if players is not None or options.players == "rows":
        return _first(table, players, player_position(table)), True, []
    columns = round_positions(table, [group])
    if rounds is not None or options.players == "columns":
        return _first(table, rounds, sole_round_position(table, columns), group), False, []
    players = None if group is not None else player_position(table)
    if players is not None and columns:
        raise InputError(
            f"{table.where}: column {shown(table.header[players])} could name the rows, or "
            f'{shown(table.header[columns[0]])}: say what they are with players="rows" or '
            'players="columns"'
        )
    if players is not None:
        return players, True, []
    label = _first(table, None, sole_round_position(table, columns), group)
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
            "(round_column), not both; a long table has format='long'"
        )
    for column, option, other in (
        (players, "player_column", "columns"),
        (rounds, "round_column", "rows"),
    ):
        if column is not None and options.players == other:
            raise InputError(
                f"{table.where}: {option} names the rows, but players={other!r} says that they "
                "are something else"
            )
    return players, rounds


def _first(
    table: Table, wanted: int | None, recognised: int | None, group: int | None = None
) -> int | None:
    """Column of names: asked for, recognised, or the first one if it holds no scores."""
    if wanted is not None or recognised is not None:
        return recognised if wanted is None else wanted
    return 0 if group != 0 and is_row_name(table, 0) else None


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
        else 'a table with one row per player and round has format="long"'
    )
    refuse_repeats(table, label, names, what, hint)
    return names, groups
