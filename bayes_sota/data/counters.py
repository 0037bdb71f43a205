"""Columns of whole numbers that only count: rounds, items, runs or days, but nobody's scores.

A column counts where its numbers follow each other without a gap, or where its name says so and
they are whole beside numbers that are not. ``tests/data/test_counters.py`` has every reader.
"""

from collections.abc import Sequence

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.columns import WORDS, as_numbers
from bayes_sota.data.files.tables import Table, normalize_name

_HEAD = 50  # rows that rule out nearly all columns
_FEWEST = 3  # rows; 0 and 1 are answers


def find_counters(table: Table, columns: Sequence[int]) -> list[int]:
    """Positions of the columns that count, among those that could be scores.

    Parameters
    ----------
    table : Table
    columns : sequence of int
        Positions of columns of which some hold scores.

    Raises
    ------
    InputError
        A column of whole numbers above 1 beside scores from 0 to 1, which is neither called like a
        counter nor counts without a gap: nobody can tell what it is.

    Examples
    --------
    >>> cells = (("3", "1", "2"), (".5", ".6", ".4"), (".7", ".6", ".8"))
    >>> find_counters(Table(("week", "a", "b"), cells, ("1", "2", "3"), "x.csv"), [0, 1, 2])
    [0]
    """
    heads = {j: as_numbers(table.columns[j][:_HEAD]) for j in columns}
    whole = [j for j, head in heads.items() if _is_whole(head) and not _are_answers(head)]
    scores = [j for j in columns if j not in whole and not np.isnan(heads[j]).all()]
    if not scores:
        return _first_alone(table, columns)
    found = [j for j in whole if _counts(table, j) or _is_named(table, j)]
    strange = [j for j in whole if j not in found and np.mean(heads[j] > 1) > 0.5]
    if strange and _are_shares(np.concatenate([heads[j] for j in scores])):
        name, head = shown(table.header[strange[0]]), heads[strange[0]]
        raise InputError(
            f"{table.where}: column {name} holds whole numbers ({head.min():g} to {head.max():g}) "
            "beside scores from 0 to 1, and nothing says what they count: take the column out, or "
            "write its scores as the others are"
        )
    return found


def refuse_counters(table: Table, found: Sequence[int], what: str, options: str) -> None:
    """Raise ``InputError`` where columns that only count were found among columns of scores.

    ``what`` their scores would be of, and ``options`` that say what they count, are for the
    message.
    """
    if found:
        cells = as_numbers(table.columns[found[0]])
        raise InputError(
            f"{table.where}: column {shown(table.header[found[0]])} counts ({cells.min():g} to "
            f"{cells.max():g}) and is no {what}: name it as {options}, or take it out"
        )


def _first_alone(table: Table, columns: Sequence[int]) -> list[int]:
    """The first column where it is the only one, among whole numbers, that counts without a gap."""
    counting = [j for j in columns if _counts(table, j)]
    return counting if counting == [0] and len(columns) > 1 else []


def _is_called(table: Table, column: int) -> bool:
    return normalize_name(table.header[column]) in WORDS["counters"]


def _is_named(table: Table, column: int) -> bool:
    """Whether a column is called like one that counts, and all of it is whole."""
    return _is_called(table, column) and _is_whole(as_numbers(table.columns[column]))


def _counts(table: Table, column: int) -> bool:
    """Whether the numbers of a column, in whatever order, follow each other without a gap."""
    head = as_numbers(table.columns[column][:_HEAD])
    n_rows, fewest = len(table.places), 2 if _is_called(table, column) else _FEWEST
    differ = _is_whole(head) and np.unique(head).size == head.size
    if n_rows < fewest or not differ:
        return False
    numbers = as_numbers(table.columns[column])
    return _is_whole(numbers) and bool(np.unique(numbers).size == n_rows == np.ptp(numbers) + 1)


def _is_whole(numbers: FloatArray) -> bool:
    return bool(numbers.size) and bool(np.all(numbers == np.rint(numbers)))


def _are_shares(numbers: FloatArray) -> bool:
    """Whether numbers lie between 0 and 1, and are not all the same end of that range."""
    given = numbers[~np.isnan(numbers)]
    inside = np.all((given >= 0) & (given <= 1))
    return bool(inside) and np.unique(given).size > 1


def _are_answers(numbers: FloatArray) -> bool:
    """Whether numbers are right, wrong and missing answers."""
    return bool(np.isin(numbers, (-1, 0, 1)).all())
