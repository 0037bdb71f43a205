"""Columns of whole numbers that only count: rounds, items, runs or days, but nobody's scores.

A column counts where its numbers follow each other without a gap, or where its name says so and
they are whole beside numbers that are not. ``tests/data/test_counters.py`` has every reader.
"""

import re
from collections.abc import Sequence

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.readers.columns import WORDS, as_numbers

_HEAD = 50  # rows that rule out nearly all columns
_IDS = re.compile(r"([\W_][iI][dD]|[a-z]I[dD])$")  # patient_id, patientId
_FEWEST = 3  # rows; 0 and 1 are answers


def find_counters(table: Table, columns: Sequence[int], option: str | None) -> list[int]:
    """Positions of the columns that count, among those that could be scores.

    Parameters
    ----------
    table : Table
    columns : sequence of int
        Positions of columns of which some hold scores.
    option : str or None
        What says that a column names the rows, for messages; None where columns have scores of
        different kinds, of which each may have a scale of its own.

    Raises
    ------
    InputError
        A column of whole numbers that could be scores or count the rows: nobody can tell.

    Examples
    --------
    >>> cells = (("3", "1", "2"), (".5", ".6", ".4"), (".7", ".6", ".8"))
    >>> find_counters(Table(("week", "a", "b"), cells, ("1", "2", "3"), "x.csv"), [0, 1, 2], None)
    [0]
    """
    heads = {j: as_numbers(table.columns[j][:_HEAD]) for j in columns}
    whole = [j for j in columns if _is_whole(heads[j]) and not _are_answers(heads[j])]
    others = [heads[j] for j in columns if j not in whole and not np.isnan(heads[j]).all()]
    counting = [j for j in whole if _counts(table, j)]
    unnamed = bool(option) and 0 in columns  # else the first column names the rows
    if others:
        scores = np.concatenate(others)
        positions = [
            j
            for j in whole
            if (is_called(table.header[j]) and _is_whole(as_numbers(table.columns[j])))
            or (j in counting and (_is_in_order(heads[j]) or not _are_among(heads[j], scores)))
            or (_are_answers(scores) and _differ(heads[j]))
        ]
        unclear = {j for j in whole if _are_no_scores(heads[j], scores, alike=unnamed)}
    else:  # all are whole, of which one counts at most
        positions = [j for j in counting if is_called(table.header[j])][:1]
        unclear = set()
        counting = counting if len(counting) == 1 < len(columns) and not positions else []
    if unnamed:
        unclear.update(counting)
    strange = sorted(unclear.difference(positions))
    if strange:
        name, head = shown(table.header[strange[0]]), heads[strange[0]]
        like = " beside scores from 0 to 1" if others and _are_shares(scores) else ""
        say = (
            f"if it names the rows, say so with {option}; if it holds scores, put a column first "
            "that names the rows; else take it out"
            if option
            else "take it out, or write its scores as the others are"
        )
        raise InputError(
            f"{table.where}: column {name} holds whole numbers ({head.min():g} to {head.max():g})"
            f"{like}, and nothing says whether they are scores or count the rows: {say}"
        )
    return positions


def refuse_counters(table: Table, positions: Sequence[int], what: str, options: str) -> None:
    """Raise ``InputError`` where columns that only count were found among columns of scores.

    ``what`` their scores would be of, and ``options`` that say what they count, are for the
    message.
    """
    if positions:
        cells = as_numbers(table.columns[positions[0]])
        raise InputError(
            f"{table.where}: column {shown(table.header[positions[0]])} counts ({cells.min():g} to "
            f"{cells.max():g}) and is no {what}: name it as {options}, or take it out"
        )


def is_called(name: str) -> bool:
    """Whether a column is called like one that counts, or numbers something.

    Examples
    --------
    >>> is_called("week"), is_called("patient_id"), is_called("pid"), is_called("fluid")
    (True, True, True, False)
    """
    return normalize_name(name) in WORDS["counters"] or bool(_IDS.search(name))


def _counts(table: Table, column: int) -> bool:
    """Whether the numbers of a column, in whatever order, follow each other without a gap."""
    head = as_numbers(table.columns[column][:_HEAD])
    n_rows, fewest = len(table.places), 2 if is_called(table.header[column]) else _FEWEST
    if n_rows < fewest or not _is_whole(head) or np.unique(head).size < head.size:
        return False
    numbers = as_numbers(table.columns[column])
    return _is_whole(numbers) and bool(np.unique(numbers).size == n_rows == np.ptp(numbers) + 1)


def _is_whole(numbers: FloatArray) -> bool:
    return bool(numbers.size) and bool(np.all(numbers == np.rint(numbers)))


def _are_shares(numbers: FloatArray) -> bool:
    """Whether numbers lie between 0 and 1, and are not all the same end of that range."""
    known = numbers[~np.isnan(numbers)]
    inside = np.all((known >= 0) & (known <= 1))
    return bool(inside) and np.unique(known).size > 1


def _is_in_order(numbers: FloatArray) -> bool:
    """Whether numbers are 0, 1, 2, ... or 1, 2, 3, ... as they stand."""
    return numbers[0] in (0, 1) and bool(np.all(np.diff(numbers) == 1))


def _are_among(numbers: FloatArray, scores: FloatArray) -> bool:
    """Whether a number lies where the scores lie."""
    low, high = np.nanmin(scores), np.nanmax(scores)
    return bool(np.any((numbers >= low) & (numbers <= high)))


def _are_no_scores(numbers: FloatArray, scores: FloatArray, alike: bool) -> bool:
    """Whether numbers are above scores from 0 to 1 or, if alike, all differ where no score lies."""
    if _are_shares(scores):
        return bool(np.mean(numbers > 1) > 0.5)
    outside = (numbers < np.nanmin(scores)) | (numbers > np.nanmax(scores))
    return alike and _differ(numbers) and bool(np.mean(outside) > 0.5)


def _differ(numbers: FloatArray) -> bool:
    return np.unique(numbers).size == numbers.size >= _FEWEST


def _are_answers(numbers: FloatArray) -> bool:
    """Whether numbers are right, wrong and missing answers."""
    return bool(np.isin(numbers, (-1, 0, 1)).all())
