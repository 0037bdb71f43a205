"""Long tables of answers, a row per classifier and item, and cells that are slips.

``tests/data/test_long_answers.py`` compares with a pivot by pandas, and holds what is refused.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted, shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.columns import (
    WORDS,
    answer_of,
    bad_cells,
    listed_cells,
    number_of,
    numbers_in,
    several,
)
from bayes_sota.data.files.tables import Table, check_shape, normalize_name
from bayes_sota.data.grids import Axis, place_rows, renumbered
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
_FEW = 0.1  # of the items of another classifier; more are no slip of the pen

# Columns that change what an answer counts for, and what to do about them.
_CHANGING = {
    "runs": "numbers runs: write the share of runs that were right as one outcome of each item",
    "tasks": "names tasks: keep the rows of one task or, if every item of every task counts the "
    "same, join its names with those of the items and take it out",
    **dict.fromkeys(
        ("clusters", "people"),
        "says which items belong together: take it out if all items count the same and none "
        "depends on another; claim responses reads clusters (cluster_column) beside one column per "
        "classifier",
    ),
}


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
        items = [j for j in items if names[j] not in WORDS["row_names"]]
    if len(names) < 3 or len(methods) != 1 or len(items) != 1:
        return None
    rest = [j for j in range(len(names)) if j not in (*methods, *items)]
    called = [j for j in rest if names[j] in _JUDGED] or [
        j for j in rest if names[j] in WORDS["nameless"]
    ]
    if len(rest) > 1 and len(called) != 1:
        return None
    return methods[0], items[0], rest[0] if len(rest) == 1 else called[0]


def widen(table: Table, value_of: Callable[[Any], float | None], complaint: str) -> Table:
    """One row per item of a table with one row per classifier and item; another one as it is.

    An item that a classifier has no row for is a missing outcome. The place of an item is that of
    its first row. Columns that say nothing about the outcome are passed over.

    Parameters
    ----------
    table : Table
    value_of : callable
        Outcome that a cell says; None where it says none.
    complaint : str
        What a message says of such a cell, which stands for ``{}``.

    Raises
    ------
    InputError
        A classifier with two rows for an item, with both places; cells that are no outcome, by
        their own lines; runs, tasks and clusters, which need more than one outcome of each item;
        a misspelt classifier; more classifiers and items than a table may have, before memory is
        spent on them.
    """
    columns = long_columns(table.header)
    if columns is None:
        return table
    _refuse_changing(table, columns)
    methods, items, outcome = columns
    values = numbers_in(table, outcome, value_of, complaint)
    check_slips(table, [outcome], values[None])
    classifiers = Axis.of_column(table, methods, "classifier")
    named = Axis.of_column(table, items, "item")
    check_shape(len(named.names), 1 + len(classifiers.names), table.where)
    grid = place_rows(table, (classifiers, named), np.arange(values.size), holds="an answer")
    refuse_misspelt(table, methods, (classifiers.names, classifiers.codes), named.codes)
    cells = [*listed_cells(table, outcome), ""]  # where there is no row, -1
    columns_of = ([cells[row] for row in rows] for rows in grid.tolist())
    return replace(
        table,
        header=(table.header[items], *classifiers.names),
        columns=(named.names, *columns_of),
        places=[table.places[row] for row in renumbered(named.codes)[1].tolist()],
    )


def _refuse_changing(table: Table, used: Sequence[int]) -> None:
    """Raise ``InputError`` where a further column says that an item has several outcomes."""
    for column, name in enumerate(table.header):
        known = normalize_name(name)
        role = next((role for role in _CHANGING if known and known in WORDS[role]), None)
        if column not in used and role is not None:
            raise InputError(
                f"{table.where}: column {shown(name)} {_CHANGING[role]}; columns that are read: "
                f"{several(table.header[j] for j in used)}"
            )


def refuse_misspelt(
    table: Table, column: int, coded: tuple[Sequence[str], IntArray], item: IntArray
) -> None:
    """Raise ``InputError`` where a name has few items, all of which one that is like it lacks.

    Names that differ by case and punctuation only are the same even where they have many.

    Parameters
    ----------
    table, column
        Where the names stand.
    coded : (sequence of str, ndarray)
        Different names, and which one each row has.
    item : ndarray, shape (n_rows,)
        Which item each row is about.
    """
    names, codes = coded
    counts = np.bincount(codes, minlength=len(names))
    spelt: dict[str, list[str]] = {}
    for name in names:
        spelt.setdefault(normalize_name(name) or name, []).append(name)
    few = counts <= _FEW * counts.max()
    for code in np.argsort(-counts, kind="stable")[::-1].tolist():
        same = spelt[normalize_name(names[code]) or names[code]]
        likes = same[: same.index(names[code])]
        if few[code]:
            others = [name for other, name in enumerate(names) if counts[other] > counts[code]]
            close = get_close_matches(names[code], others, n=3, cutoff=0.7)
            likes = likes + [like for like in close if _is_slip(names[code], like)]
        for like in likes:
            rows = np.flatnonzero(codes == code)
            has = item[codes == names.index(like)]
            if not np.isin(item[rows], has).any():
                raise InputError(
                    f"{table.place(int(rows[0]), column)}: {shown(names[code])} has "
                    f"{counted(rows.size, 'row')} only, and {shown(like)} has none for the same; "
                    f"did you mean {shown(like)}?"
                )


def _is_slip(name: str, like: str) -> bool:
    """Whether names may differ by a slip of the pen: other digits or further words are none."""
    same_digits = re.sub(r"\D", "", name) == re.sub(r"\D", "", like)
    return same_digits and abs(len(name) - len(like)) <= 1


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
    given = values[~np.isnan(values)]
    answers = np.isin(given, (MISSING, 0, 1))
    if answers.all() or answers.mean() < 1 - MOST_SLIPS or np.all((given >= 0) & (given <= 1)):
        return
    beyond = (values != MISSING) & ((values < 0) | (values > 1))
    raise bad_cells(
        table,
        [(int(row), columns[column]) for column, row in np.argwhere(beyond)],
        "{} is no answer, as nearly all others are; write 1 (right), 0 (wrong) or nothing "
        f"(missing), {ARE_NUMBERS}",
    )
