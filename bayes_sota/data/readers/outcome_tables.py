"""Tables with a row per item: what their columns are, and outcomes of the methods in them.

Outcomes are right or wrong, numbers, or predicted classes beside the truth.
``tests/data/test_read_evaluations.py`` compares with outcomes written by hand.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import several, shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.outcomes import Runs
from bayes_sota.data.printed_scores import parse_number
from bayes_sota.data.readers.columns import (
    WORDS,
    answer_of,
    check_names,
    classes_seen,
    find_column,
    find_counters,
    is_missing,
    listed_cells,
    named_in,
    names_in,
    numbers_of,
    only_column,
    refuse_counters,
    refuse_repeats,
)
from bayes_sota.data.readers.long_answers import (
    ARE_NUMBERS,
    NO_OUTCOME,
    check_slips,
    outcome_of,
    widen,
)
from bayes_sota.data.readers.metric_names import asides, is_summary, refuse_metrics
from bayes_sota.data.readers.parts import Choices, Joined
from bayes_sota.data.responses import MISSING

_GROUPS = {
    "cluster": WORDS["clusters"],
    "task": dict.fromkeys(WORDS["item_tasks"].keys() - WORDS["people"].keys()),
}


@dataclass(frozen=True)
class ColumnRoles:
    """What the columns of a table are.

    Attributes
    ----------
    table : Table
    items : tuple of str
        Item of each row, each once; the number of the row where no column names them.
    named : bool
        Whether a column names the items.
    truth : int or None
        Position of the true classes.
    groups : dict of str to int
        Positions of the clusters ("cluster") and tasks ("task"), where there are any.
    methods : tuple of int
        Positions of the methods.
    n_runs : int, ndarray of int, shape (n_items, n_methods), or None
        Runs behind each outcome, which is the share of right ones.
    notes : tuple of str
        Which columns were taken for what.
    """

    table: Table
    items: tuple[str, ...]
    named: bool
    truth: int | None
    groups: Mapping[str, int]
    methods: tuple[int, ...]
    n_runs: Runs
    notes: tuple[str, ...]

    @property
    def method_names(self) -> tuple[str, ...]:
        """Names of the methods' columns."""
        return tuple(self.table.header[j] for j in self.methods)

    def numbers(self, value_of: Callable[[Any], float | None], complaint: str) -> FloatArray:
        """Numbers of the methods as ``numbers_in`` reads them, methods x items."""
        return numbers_of(self.table, self.methods, value_of, complaint)

    def names_of(self, what: str) -> dict[str, str]:
        """Cluster or task of each item; empty without any."""
        column = self.groups.get(what)
        if column is None:
            return {}
        for row, cell in enumerate(self.table.columns[column]):
            if is_missing(cell):
                raise InputError(f"{self.table.place(row, column)}: the {what} is missing")
        return dict(zip(self.items, names_in(self.table, column, what), strict=True))

    def joined(self, values: FloatArray) -> Joined:
        """Outcomes of these methods, (n_methods, n_items), with all that their table says."""
        return Joined(
            names=self.method_names,
            items=self.items,
            values=values.T,
            n_runs=self.n_runs,
            are_answers=False,
            notes=self.notes,
            tasks=tuple(self.names_of("task").values()) or None,
            clusters=tuple(self.names_of("cluster").values()) or None,
        )


def find_roles(
    table: Table,
    value_of: Callable[[Any], float | None],
    complaint: str,
    choices: Choices,
    *,
    truth: Collection[str] = WORDS["truth"],
    label_column: str | None = None,
    only_answers: bool = False,
) -> ColumnRoles:
    """Roles of the columns, by the user's choices and by their names; of a long table widened.

    Parameters
    ----------
    table, value_of, complaint
        As of ``widen``.
    choices : Choices
        With the columns asked for.
    truth : collection of str
        Names of a column of true classes.
    label_column : str, optional
        Column of the true classes, as asked for.
    only_answers : bool
        Whether methods have nothing but right and wrong answers: then other numbers are items.

    Raises
    ------
    InputError
        Columns that repeat, that could be several things, or that are neither methods nor
        anything that was asked for; items that repeat.
    """
    wide = widen(table, value_of, complaint, choices)
    table = wide.table
    if all(answer_of(name) not in (None, MISSING) for name in table.header):
        raise InputError(f"{table.where}: line 1 must name the columns, but it holds answers")
    check_names(table.where, {j: name for j, name in enumerate(table.header) if name or j})
    asked = table.find_all(choices.item_column) if choices.item_column else []
    free = [j for j in range(len(table.header)) if j not in asked]
    groups = _group_positions(table, wide.choices, free)
    items = _item_position(table, choices.item_column, groups, truth, only_answers)
    table, notes = _without_last_summaries(table, groups.get("task") if items is None else items)
    taken = (*groups.values(), items)
    positions = [j for j in named_in(table, truth) if j not in taken]
    labels = only_column(table, label_column, positions, "the truth", "keep one, or label_column")
    methods = [j for j in range(len(table.header)) if j not in (*taken, labels)]
    aside = asides(table.header)
    for j in methods:
        problem = f"{table.where}: column {shown(table.header[j])} is no method"
        if normalize_name(table.header[j]) in WORDS["people"]:
            raise InputError(
                f"{problem}; if it says which items belong together, name it as cluster_column, "
                "if it is a part of the test as task_column, else take it out"
            )
        if j in aside:
            raise InputError(
                f"{problem}, but says something about items or other columns by its name; take it "
                "out, or rename it"
            )
    refuse_metrics(table.where, (table.header[j] for j in methods), "methods")
    are_classes = labels is not None and truth is not WORDS["labels"]  # whole numbers as well
    if not are_classes:
        items, methods = _without_counter(table, items, methods)
    told = [
        f"{what}s are taken from column {shown(table.header[column])}"
        for what, column in groups.items()
        if getattr(wide.choices, f"{what}_column") is None
    ]
    return ColumnRoles(
        table,
        _item_names(table, items),
        items is not None,
        labels,
        groups,
        tuple(methods),
        wide.n_runs,
        (*wide.notes, *notes, *told),
    )


def _without_last_summaries(table: Table, label: int | None) -> tuple[Table, list[str]]:
    """Table without averages below it, which are no items; an item may be called so elsewhere."""
    last = len(table.places)
    while label is not None and last and is_summary(str(table.columns[label][last - 1])):
        last -= 1
    if label is None or last == len(table.places):
        return table, []
    names = several(str(cell) for cell in table.columns[label][last:])
    return table.at(range(last)), [f"left out the last rows, which are no items: {names}"]


def _group_positions(table: Table, choices: Choices, free: Collection[int]) -> dict[str, int]:
    """Columns of clusters and tasks, as asked for, else recognised if free."""
    groups = {}
    for what, words in _GROUPS.items():
        option = f"{what}_column"
        wanted = getattr(choices, option)
        positions = [j for j in named_in(table, words) if j in free and not _are_outcomes(table, j)]
        column = only_column(table, wanted, positions, f"the {what}s", option)
        if column is not None:
            groups[what] = column
    return groups


def _are_outcomes(table: Table, column: int) -> bool:
    """Whether a column holds answers only, as that of a method does."""
    return {answer_of(cell) for cell in set(listed_cells(table, column))} == {0, 1}


def _without_counter(
    table: Table, items: int | None, methods: list[int]
) -> tuple[int | None, list[int]]:
    """Column of the items, and the methods without a column that counts: it names the items."""
    counters = find_counters(table, methods)
    if items is None and counters:
        items = counters.pop(0)
        methods = [j for j in methods if j != items]
    refuse_counters(table, counters, "method", "item_column or cluster_column")
    return items, methods


def _item_position(
    table: Table,
    wanted: str | None,
    groups: Mapping[str, int],
    truth: Collection[str],
    only_answers: bool,
) -> int | None:
    """Column of the items: as asked for, by its name, or the first one if it is a list of names."""
    if wanted is not None:
        chosen = find_column(table, wanted, "item_column")
        for what, column in groups.items():
            if chosen == column:
                raise InputError(
                    f"{table.where}: column {shown(wanted)} cannot be items and {what}s both"
                )
        return chosen
    first = next(j for j in range(3) if j not in groups.values())
    named = named_in(table, WORDS["items"])
    if first in named:
        return first
    position = only_column(table, None, named, "the items", "item_column")
    if position is not None or first >= len(table.header) or first in named_in(table, truth):
        return position
    cells = listed_cells(table, first)
    if len(set(map(str, cells))) < len(cells):
        return None
    answers = [answer_of(cell) is not None for cell in cells]
    words = not any(answers) and all(parse_number(cell) is None for cell in cells)
    is_list = (
        words or first in named_in(table, WORDS["people"]) or (only_answers and not all(answers))
    )
    return first if is_list else None


def _item_names(table: Table, column: int | None) -> tuple[str, ...]:
    if column is None:
        return tuple(str(number) for number in range(1, len(table.places) + 1))
    names = names_in(table, column, "item")
    hint = "every item has one row (item_column, cluster_column)"
    refuse_repeats(table, column, names, "item", hint)
    return tuple(names)


def check_orientation(roles: ColumnRoles) -> None:
    """Raise ``InputError`` where classifiers stand in rows, before anything is computed."""
    named = roles.table.header[0] if roles.named or 0 not in roles.methods else ""
    by_name = normalize_name(named) in WORDS["classifiers"]
    entries = WORDS["names"].keys() - WORDS["items"].keys()
    if len(roles.methods) == 1 and normalize_name(named) in entries and not by_name:
        raise InputError(
            f"{roles.table.where}: rows are entries by column {shown(named)}, not items, so this "
            "is a leaderboard: bayes-sota board reads it"
        )
    if by_name:
        raise InputError(
            f"{roles.table.where}: column {shown(named)} names the rows; rows must be the items "
            "and columns the classifiers: transpose the table"
        )


def outcomes_of_table(table: Table, choices: Choices) -> tuple[Joined, str | None]:
    """Outcomes of the method columns of a table; column of the truth.

    Raises
    ------
    InputError
        Columns whose meaning is not clear, items that repeat, and cells that are no outcome, by
        file, line, column and value.
    """
    roles = find_roles(table, outcome_of, NO_OUTCOME, choices)
    check_orientation(roles)
    if not roles.methods:
        raise InputError(f"{table.where}: there is no column of a method")
    notes = roles.notes
    if roles.truth is None:
        values = roles.numbers(outcome_of, NO_OUTCOME)
        check_slips(roles.table, roles.methods, values)
        _check_classes(roles)
    else:
        values, remarks = _compared(roles, roles.truth)
        notes = (*remarks, *notes)
    joined = replace(roles.joined(values), notes=notes).without(choices.leave_out)
    values = joined.values
    if np.isin(values[~np.isnan(values)], (MISSING, 0, 1)).all():
        values = np.where(values == MISSING, np.nan, values)
    right_or_wrong = bool(np.isin(values[~np.isnan(values)], (0, 1)).all())
    joined = replace(joined, values=values, are_answers=joined.n_runs is not None or right_or_wrong)
    return joined, None if roles.truth is None else roles.table.header[roles.truth]


def _check_classes(roles: ColumnRoles) -> None:
    """Refuse predicted classes without the truth."""
    table = roles.table
    cells = set().union(*(set(listed_cells(table, j)) for j in roles.methods))
    seen = classes_seen(cells)
    if len(roles.methods) > 1 and len(roles.items) > len(roles.methods) and seen:
        raise InputError(
            f"{table.where}: {seen}; add the true classes as a column ground_truth, {ARE_NUMBERS}"
        )


def _compared(roles: ColumnRoles, truth: int) -> tuple[FloatArray, list[str]]:
    """1 where the predicted class is the true one, NaN where there is none; and a note."""
    table, name = roles.table, roles.table.header[truth]
    true = [_class_of(cell) for cell in listed_cells(table, truth)]
    for row, (cell, of) in enumerate(zip(listed_cells(table, truth), true, strict=True)):
        if cell is None or of in ("", "nan"):
            raise InputError(f"{table.place(row, truth)}: the truth is missing")
    classes, seen = set(true), set(true)
    whole = all(isinstance(c, Decimal) and c == int(c) for c in classes)
    values = np.empty((len(roles.methods), len(true)))
    for own, column in zip(values, roles.methods, strict=True):
        cells = listed_cells(table, column)
        predicted = [_class_of(cell) for cell in cells]
        for row, guess in enumerate(predicted):
            if whole and isinstance(guess, Decimal) and guess != int(guess):
                raise InputError(
                    f"{table.place(row, column)}: {shown(cells[row])} is no class of "
                    f"{shown(name)}; predictions are classes here, not scores"
                )
            missing = guess not in classes and answer_of(cells[row]) == MISSING
            own[row] = math.nan if missing else float(guess == true[row])
        if not classes.intersection(predicted):
            raise InputError(
                f"{table.where}: column {shown(table.header[column])} never names a class of "
                f"{shown(name)}; if that is not the truth, take it out"
            )
        seen.update(predicted)
    if not seen <= {Decimal(0), Decimal(1)}:
        return values, []
    return values, [
        f"column {shown(name)} is taken as the truth and the others as predicted classes; if they "
        "say right (1) and wrong (0) already, take it out"
    ]


def _class_of(cell: Any) -> Decimal | str:
    """Class that a cell names: numbers are equal as numbers, texts as written.

    Examples
    --------
    >>> _class_of("1") == _class_of(" 1.0"), _class_of("cat ") == _class_of("cat")
    (True, True)
    """
    number = parse_number(cell)
    return str(cell).strip() if number is None else number
