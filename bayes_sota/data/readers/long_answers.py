"""Long tables of answers, a row per classifier, item and run, and cells that are slips.

``tests/data/test_long_answers.py`` compares with a pivot by pandas, and holds what is refused.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.grids import Axis, place_rows, renumbered
from bayes_sota.data.outcomes import Runs, runs_behind
from bayes_sota.data.readers.columns import (
    WORDS,
    answer_of,
    as_numbers,
    bad_cells,
    listed_cells,
    number_of,
    numbers_in,
    role_columns,
)
from bayes_sota.data.readers.parts import Choices
from bayes_sota.data.responses import MISSING

MOST_SLIPS = 0.1  # of the cells of answers
ARE_NUMBERS = "or say with item_metric that these are numbers (in Python read_item_scores)"
NO_OUTCOME = (
    "{} is no outcome; write 1 (right) or 0 (wrong), a number, or nothing (missing); the truth is "
    "in a column ground_truth where there are classes"
)
# Outcomes rather than the text of an answer beside them.
_JUDGED = ("correct", "iscorrect", "right", "passed", "solved", "resolved")
_WITHOUT_ITEMS = ("taskid", "prompt", "query", "problem")  # name items where nothing else does
_WHOLES = ("question", "questionid", "passage", "passageid", "document", "documentid")  # of items
_ROLES = {
    "task": WORDS["item_tasks"],
    "cluster": {**WORDS["clusters"], **dict.fromkeys(_WHOLES), "patient": None},
    "run": WORDS["runs"],
}
_SEVERAL_RUNS = "; a further run of it needs a column that numbers the runs (run_column)"
_COUNTS = ("runs", "nruns", "trials", "seeds", "repeats")  # how many there are


@dataclass(frozen=True)
class Widened:
    """A table with a row per item.

    Attributes
    ----------
    table : Table
    choices : Choices
        With the columns of the tasks and clusters of the items.
    n_runs : int, ndarray of int, shape (n_items, n_classifiers), or None
        Runs behind each outcome, which is the share of right ones; of each where they differ.
        None for single answers, and for numbers, which then are means of any runs.
    notes : tuple of str
        Which columns were taken for what.
    """

    table: Table
    choices: Choices
    n_runs: Runs = None
    notes: tuple[str, ...] = ()


def long_columns(header: Sequence[str]) -> tuple[int, int, int] | None:
    """Columns of the classifiers, the items and the outcomes; None unless each is there once.

    The outcome is the third of three columns, and among more the one that is called like one.

    Examples
    --------
    >>> long_columns(("example_id", "model", "correct")), long_columns(("item", "tree", "forest"))
    ((1, 0, 2), None)
    >>> long_columns(("", "model", "task", "question", "correct"))
    (1, 3, 4)
    """
    names = [normalize_name(name) for name in header]
    methods = [j for j, name in enumerate(names) if name and name in WORDS["classifiers"]]
    items = [j for j, name in enumerate(names) if name and name in WORDS["items"]]
    items = items or [j for j, name in enumerate(names) if name in _WITHOUT_ITEMS]
    if len(items) > 1:
        items = [j for j in items if names[j] not in WORDS["row_names"]] or items[:1]
    if len(items) > 1:
        items = [j for j in items if names[j] not in _WHOLES] or items
    if len(names) < 3 or len(methods) != 1 or len(items) != 1:
        return None
    rest = [j for j in range(len(names)) if j not in (*methods, *items)]
    called = [j for j in rest if names[j] in _JUDGED] or [
        j for j in rest if names[j] in WORDS["nameless"]
    ]
    if len(rest) > 1 and len(called) != 1:
        return None
    return methods[0], items[0], rest[0] if len(rest) == 1 else called[0]


def widen(
    table: Table,
    value_of: Callable[[Any], float | None],
    complaint: str,
    choices: Choices,
) -> Widened:
    """One row per item of a table with one row per classifier, item and run.

    A table with a column per classifier stays as it is. An item that a classifier has no row for
    is a missing outcome, several runs are their mean. The place of an item is that of its first
    row. Items of several tasks may have the same names. Columns that say nothing about the outcome
    are passed over.

    Parameters
    ----------
    table : Table
    value_of : callable
        Outcome that a cell says; None where it says none.
    complaint : str
        What a message says of such a cell, which stands for ``{}``.
    choices : Choices
        With the columns of tasks, clusters and runs. Default: those that are called so.

    Raises
    ------
    InputError
        A classifier with two rows for an item and run, with both places; cells that are no outcome,
        by their own lines; an item in two tasks or clusters.
    """
    columns = long_columns(table.header)
    if columns is None:
        if choices.run_column is not None:
            raise InputError(
                f"{table.where}: run_column is for tables with a row per classifier, item and run; "
                f"there are {table.listed_columns()}"
            )
        return Widened(table, choices)
    methods, items, outcome = columns
    roles = role_columns(table, choices, _ROLES, columns)
    notes = [
        f"{role}s are taken from column {shown(table.header[column])}"
        for role, column in roles.items()
        if getattr(choices, f"{role}_column") is None
    ]
    tasks, clusters, runs = map(roles.get, _ROLES)
    counts = None if runs is None else _numbers_of_runs(table, runs, outcome)
    if counts is not None:
        value_of = number_of
        told = "{} is taken as the number of right answers in {}"
        notes.append(told.format(*(shown(table.header[j]) for j in (outcome, runs or 0))))
    values = numbers_in(table, outcome, value_of, complaint)
    if counts is None:
        check_slips(table, [outcome], values[None])
    axes, groups = _axes(table, methods, items, tasks, clusters)
    numbered = runs is not None and counts is None
    further = [Axis.of_column(table, runs or 0, "run")] * numbered
    hint = "" if numbered else _SEVERAL_RUNS
    grid = place_rows(
        table, [*axes, *further], np.arange(values.size), holds="an answer", hint=hint
    )
    outcomes, n_runs, remarks = _outcomes(grid, values, counts)
    first = renumbered(axes[1].codes)[1].tolist()
    kept = ([group.names[code] for code in group.codes[first]] for group in groups.values())
    wide = replace(
        table,
        header=(*(table.header[j] for j in (items, *groups)), *axes[0].names),
        columns=(axes[1].names, *kept, *outcomes),
        places=[table.places[row] for row in first],
    )
    task, cluster = (None if j is None else table.header[j] for j in (tasks, clusters))
    found = replace(choices, task_column=task, cluster_column=cluster)
    return Widened(wide, found, n_runs, (*notes, *remarks))


def _axes(
    table: Table, methods: int, items: int, tasks: int | None, clusters: int | None
) -> tuple[list[Axis], dict[int, Axis]]:
    """Classifiers and items, each with its place in every row; tasks and clusters, by column."""
    axes = [Axis.of_column(table, methods, "classifier"), Axis.of_column(table, items, "item")]
    groups = {
        column: Axis.of_column(table, column, what)
        for column, what in ((tasks, "task"), (clusters, "cluster"))
        if column is not None
    }
    if tasks is not None:
        axes[1] = _items_of_tasks(table, axes[0], axes[1], groups[tasks])
    for group in groups.values():
        _refuse_two(table, axes[1], group)
    return axes, groups


def _numbers_of_runs(table: Table, runs: int, outcome: int) -> FloatArray | None:
    """How many runs each row counts, where the outcome is how many of them are right."""
    cells = [as_numbers(listed_cells(table, column)) for column in (runs, outcome)]
    return cells[0] if counts_right(table.header[runs], *cells) else None


def _outcomes(
    grid: NDArray[np.int32], values: FloatArray, counts: FloatArray | None
) -> tuple[FloatArray, Runs, list[str]]:
    """Outcome of each classifier and item, the runs behind shares of right answers, and a note."""
    answers = np.where(values == MISSING, np.nan, values)
    every = np.append(answers, np.nan)[grid]
    each = np.append(np.ones(values.size) if counts is None else counts, 0)[grid]
    over_runs = tuple(range(2, grid.ndim))
    totals = (each * ~np.isnan(every)).sum(axis=over_runs)
    with np.errstate(invalid="ignore"):
        means = np.nansum(every, axis=over_runs) / totals
    n_runs, told = runs_behind(totals.T)
    are_answers = counts is not None or np.isin(answers[~np.isnan(answers)], (0, 1)).all()
    return means, n_runs if are_answers else None, told


def counts_right(name: str, runs: FloatArray, right: FloatArray) -> bool:
    """Whether one column says how many runs there are, and another how many of them are right.

    Examples
    --------
    >>> ten = np.full(3, 10.0)
    >>> counts_right("runs", ten, np.array([7.0, 10, 0])), counts_right("runs", ten, ten / 10)
    (True, False)
    """
    if normalize_name(name) not in _COUNTS:
        return False
    if np.isnan(runs).any() or np.isnan(right).any() or not (right > 1).any():
        return False
    whole = all((x == np.rint(x)).all() for x in (runs, right))
    return bool(whole and (right >= 0).all() and (right <= runs).all())


def _items_of_tasks(table: Table, classifiers: Axis, items: Axis, tasks: Axis) -> Axis:
    """Items by task and name where tasks number theirs anew."""
    pairs = Axis("item", [], renumbered(tasks.codes * len(items.names) + items.codes)[0])
    first = renumbered(pairs.codes)[1]
    counts = np.bincount(items.codes[first])
    if (counts == 1).all():
        return items
    several = np.isin(items.codes, np.flatnonzero(counts > 1))
    whose = classifiers.codes * (pairs.codes.max() + 1) + pairs.codes
    once = renumbered(whose)[1]  # one row of each classifier, task and item
    seen = np.unique(classifiers.codes[once] * len(items.names) + items.codes[once]).size
    if seen == once.size:
        row = int(np.flatnonzero(several)[0])
        elsewhere = (items.codes == items.codes[row]) & (pairs.codes != pairs.codes[row])
        raise _two_groups(table, items, tasks, row, int(np.flatnonzero(elsewhere)[0]))
    names = [f"{tasks.names[tasks.codes[row]]}/{items.names[items.codes[row]]}" for row in first]
    return replace(pairs, names=names)


def _refuse_two(table: Table, items: Axis, groups: Axis) -> None:
    """Raise ``InputError`` where an item is in two tasks or clusters."""
    first = renumbered(items.codes)[1]
    other = np.flatnonzero(groups.codes != groups.codes[first][items.codes])
    if other.size:
        row = int(other[0])
        raise _two_groups(table, items, groups, int(first[items.codes[row]]), row)


def _two_groups(table: Table, items: Axis, groups: Axis, row: int, other: int) -> InputError:
    one, two = (shown(groups.names[groups.codes[r]]) for r in (row, other))
    return InputError(
        f"{table.where}: {table.places[other]}: item {shown(items.names[items.codes[other]])} has "
        f"{groups.what} {two}, but {one} on {table.places[row]}"
    )


def outcome_of(cell: Any) -> float | None:
    """Number or answer that a cell says; NaN where there is none, None where it is another."""
    number = number_of(cell)
    answer = answer_of(cell) if number is None else number
    return math.nan if number is None and answer == MISSING else answer


def check_slips(table: Table, columns: Sequence[int], values: FloatArray) -> None:
    """Raise ``InputError`` where a number is no answer, as nearly all others are.

    Parameters
    ----------
    table, columns
        Where the numbers stand.
    values : ndarray, shape (n_columns, n_rows)
        The numbers; NaN where there is none.
    """
    known = values[~np.isnan(values)]
    answers = np.isin(known, (MISSING, 0, 1))
    if answers.all() or answers.mean() < 1 - MOST_SLIPS or np.all((known >= 0) & (known <= 1)):
        return
    beyond = (values != MISSING) & ((values < 0) | (values > 1))
    raise bad_cells(
        table,
        [(int(row), columns[column]) for column, row in np.argwhere(beyond)],
        "{} is no answer, as nearly all others are; write 1 (right), 0 (wrong) or nothing "
        f"(missing), {ARE_NUMBERS}",
    )
