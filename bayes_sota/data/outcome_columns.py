"""What the columns of a table of outcomes are: items, clusters, the truth, methods.

``tests/data/test_read_evaluations.py`` holds the tables that are refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.columns import find_column, is_summary
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.parts import Choices, item_name, several
from bayes_sota.data.printed_scores import parse_number
from bayes_sota.data.read_responses import answer_of
from bayes_sota.data.responses import MISSING

__all__ = ["ColumnRoles", "find_roles"]

_ITEMS = frozenset(
    ("item", "items", "itemid", "id", "ids", "case", "caseid", "doc", "docid", "document",
     "documentid", "image", "imageid", "sample", "sampleid", "instance", "instanceid", "question",
     "questionid", "example", "exampleid", "index", "row", "filename", "unnamed0", "")
)  # fmt: skip
_CLUSTERS = frozenset(("cluster", "clusters", "clusterid", "group", "groupid"))
_PEOPLE = frozenset(("patient", "patientid", "subject", "subjectid"))  # clusters, or items
_TRUTH = frozenset(
    ("groundtruth", "gt", "label", "labels", "truelabel", "trueclass", "ytrue", "target",
     "targets", "truth", "gold", "goldlabel", "reference")
)  # fmt: skip


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
    truth, clusters : int or None
        Positions of the true classes and of the clusters.
    methods : tuple of int
        Positions of the methods.
    """

    table: Table
    items: tuple[str, ...]
    named: bool
    truth: int | None
    clusters: int | None
    methods: tuple[int, ...]

    def cells(self, column: int) -> list[Any]:
        """Cells of a column as Python values."""
        return [_plain(cell) for cell in self.table.columns[column]]

    def distinct(self, column: int) -> set[Any]:
        """Different cells of a column as Python values."""
        return {_plain(cell) for cell in set(self.table.columns[column])}

    def place(self, row: int, column: int) -> str:
        """Where a cell stands, for messages."""
        table = self.table
        return f"{table.where}: {table.places[row]}, column {shown(table.header[column])}"


def find_roles(table: Table, choices: Choices) -> ColumnRoles:
    """Roles of the columns, by the user's choices and by their names.

    Raises
    ------
    InputError
        Columns that repeat, that could be several things, or that are neither methods nor
        anything that was asked for; items that repeat.
    """
    _check_header(table)
    free = list(range(len(table.header)))
    clusters = _cluster_position(table, free, choices.cluster_column)
    if clusters is not None:
        free.remove(clusters)
    items = _item_position(table, free, choices.item_column)
    if items is not None:
        free.remove(items)
    truth = _only(table, (j for j in free if _is_named(table, j, _TRUTH)), "the truth")
    methods = tuple(j for j in free if j != truth)
    for column in methods:
        if _is_named(table, column, _PEOPLE):
            raise InputError(
                f"{table.where}: column {shown(table.header[column])} is no method; if it says "
                "which items belong together, name it as cluster_column, else take it out"
            )
        if is_summary(table.header[column]):
            raise InputError(
                f"{table.where}: column {shown(table.header[column])} is no method, but a summary "
                "of others by its name; take it out"
            )
    return ColumnRoles(
        table, _item_names(table, items), items is not None, truth, clusters, methods
    )


def _plain(cell: Any) -> Any:
    """Python value of a cell; what is neither text nor number as it prints."""
    if isinstance(cell, str):
        return cell
    value = cell.item() if isinstance(cell, np.generic) else cell
    return value if value is None or isinstance(value, str | int | float | Decimal) else str(value)


def _check_header(table: Table) -> None:
    seen: set[str] = set()
    for number, name in enumerate(table.header, start=1):
        if not name and number > 1:
            raise InputError(f"{table.where}: column {number} has no name")
        if name in seen:
            raise InputError(f"{table.where}: two columns are called {shown(name)}")
        seen.add(name)
    if all(answer_of(name) not in (None, MISSING) for name in table.header):
        raise InputError(f"{table.where}: line 1 must name the columns, but it holds answers")


def _is_named(table: Table, column: int, words: frozenset[str]) -> bool:
    return normalize_name(table.header[column]) in words


def _only(table: Table, columns: Iterable[int], what: str) -> int | None:
    found = list(columns)
    if len(found) > 1:
        listed = several([table.header[j] for j in found])
        raise InputError(f"{table.where}: several columns could be {what}: {listed}; keep one")
    return found[0] if found else None


def _cluster_position(table: Table, free: list[int], wanted: str | None) -> int | None:
    """Column of the clusters: as asked for, which another table may have, or by its name."""
    if wanted is None:
        return _only(table, (j for j in free if _is_named(table, j, _CLUSTERS)), "the clusters")
    return find_column(table, wanted, "cluster_column") if table.find_all(wanted) else None


def _item_position(table: Table, free: list[int], wanted: str | None) -> int | None:
    """Column of the items: as asked for, by its name, or the first one if it is a list of names."""
    if wanted is not None:
        found = find_column(table, wanted, "item_column")
        if found in free:
            return found
        raise InputError(f"{table.where}: column {shown(wanted)} cannot be items and clusters both")
    if free and _is_named(table, free[0], _ITEMS):
        return free[0]
    named = _only(
        table, (j for j in free if _is_named(table, j, _ITEMS)), "the items (item_column)"
    )
    if named is not None or not free or _is_named(table, free[0], _TRUTH):
        return named
    cells = [_plain(cell) for cell in table.columns[free[0]]]
    if len(set(map(str, cells))) < len(cells):
        return None
    words = all(parse_number(cell) is None and answer_of(cell) is None for cell in cells)
    return free[0] if words or _is_named(table, free[0], _PEOPLE) else None


def _item_names(table: Table, column: int | None) -> tuple[str, ...]:
    if column is None:
        return tuple(str(number) for number in range(1, len(table.places) + 1))
    where = f"column {shown(table.header[column])}"
    rows: dict[str, str] = {}
    for cell, row in zip(table.columns[column], table.places, strict=True):
        item = item_name(_plain(cell), f"{table.where}: {row}, {where}")
        if item in rows:
            raise InputError(
                f"{table.where}: {row}, {where}: item {shown(item)} is already on {rows[item]}; "
                "every item has one row (item_column, cluster_column)"
            )
        rows[item] = row
    return tuple(rows)
