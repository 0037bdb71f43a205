"""What the columns of a table of outcomes are: items, clusters, the truth, methods.

``tests/data/test_read_evaluations.py`` holds the tables that are refused.

Tables of outcomes: right or wrong, numbers, or predicted classes beside the truth.

``tests/data/test_read_evaluations.py`` compares with outcomes written by hand.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted, shown
from bayes_sota.data.columns import classes_seen, find_column, is_summary
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.parts import Choices, Joined, Part, file_names, item_name, several
from bayes_sota.data.printed_scores import parse_number
from bayes_sota.data.read_outcomes import answer_of, check_orientation, slip_among
from bayes_sota.data.responses import MISSING

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


_NAMELESS = frozenset(
    ("prediction", "predictions", "predicted", "pred", "preds", "ypred", "predictedlabel",
     "predictedclass", "correct", "iscorrect", "right", "outcome", "answer", "response", "result",
     "score", "value", "metric", "accuracy", "acc", "dice", "dsc", "iou", "f1")
)  # fmt: skip


@dataclass(frozen=True)
class OutcomeTables:
    """What some tables hold.

    Attributes
    ----------
    parts : list of Part
    clusters : dict of str, or None
        Cluster of each item.
    truth : str or None
        Column of the true classes.
    joined : Joined, optional
        In the place of parts, where there is one table of all.
    """

    parts: list[Part]
    clusters: Mapping[str, str] | None
    truth: str | None
    joined: Joined | None = None


def parts_of_tables(tables: Mapping[Path, Table], choices: Choices) -> OutcomeTables:
    """Outcomes of the method columns of some tables.

    Raises
    ------
    InputError
        Columns whose meaning is not clear, several tables that do not name their items, items
        that repeat, and cells that are no outcome, by file, line, column and value.
    """
    _check_clusters(list(tables.values()), choices.cluster_column)
    found = {path: find_roles(table, choices) for path, table in tables.items()}
    for roles in found.values():
        if len(found) > 1 and not roles.named:
            raise InputError(
                f"{roles.table.where}: several tables are joined on their items, but no column of "
                "this one names them (item_column)"
            )
    for roles in found.values():
        _check_orientation(roles)
    truth = _truth(list(found.values()))
    if len(found) == 1 and truth is None:
        (only,) = found.values()
        if joined := _joined(only, choices):
            return OutcomeTables([], _clusters([only]), None, joined)
    names = _method_names(found)
    parts: list[Part] = []
    for path, roles in found.items():
        for column in roles.methods:
            name = names[path, column]
            method, label = _split(name, choices.run_separator)
            outcomes = _numbers(roles, column) if truth is None else truth.compare(roles, column)
            parts.append(
                Part(
                    where=roles.table.where,
                    method=method,
                    outcomes=outcomes,
                    run=(len(parts),) if label else (),  # in the order of the columns
                    label=label,
                    left_out=tuple(item for item in roles.items if item not in outcomes),
                    reason="without a truth",
                )
            )
    if choices.run_separator and not any(part.run for part in parts):
        shown_names = ", ".join(shown(part.method) for part in parts[:3])
        raise InputError(
            f"no column has {shown(choices.run_separator)} between method and run (run_separator); "
            f"columns: {shown_names}"
        )
    if not parts:
        files = ", ".join(roles.table.where for roles in found.values())
        raise InputError(f"{files}: there is no column of a method")
    if truth is None:
        for roles in found.values():
            _check_answers(roles, _matrix(roles))
    else:
        parts[0] = replace(parts[0], notes=truth.notes(parts, list(found.values())))
    if choices.cluster_column is None:
        parts[-1] = replace(parts[-1], notes=(*parts[-1].notes, *_cluster_notes(found.values())))
    clusters = _clusters(list(found.values()))
    return OutcomeTables(parts, clusters, None if truth is None else truth.column)


def _check_orientation(roles: ColumnRoles) -> None:
    header = roles.table.header
    named = header[0] if roles.named or 0 not in roles.methods else ""
    check_orientation(roles.table.where, len(roles.items), len(roles.methods), named)


def _check_answers(roles: ColumnRoles, values: NDArray[np.float64]) -> None:
    """Refuse slips among right and wrong answers, and predicted classes without the truth."""
    numbers = "or say that these are numbers (item_metric, read_item_scores)"
    slip = slip_among(values)
    if slip is not None:
        row, column = slip[0], roles.methods[slip[1]]
        raise InputError(
            f"{roles.place(row, column)}: {shown(roles.cells(column)[row])} is no answer, as "
            f"nearly all others are; write 1 (right), 0 (wrong) or nothing (missing), {numbers}"
        )
    seen = classes_seen(set().union(*(roles.distinct(j) for j in roles.methods)))
    if len(roles.methods) > 1 and len(roles.items) > len(roles.methods) and seen:
        raise InputError(
            f"{roles.table.where}: {seen}; add the true classes as a column ground_truth, {numbers}"
        )


def _joined(roles: ColumnRoles, choices: Choices) -> Joined | None:
    """Outcomes of a table that every item is in; None where there is something to join.

    Parts of a large table, cell by cell, take four times as long.
    """
    if choices.run_separator is not None or len(roles.methods) < 2 or len(roles.items) < 2:
        return None
    names = tuple(roles.table.header[column] for column in roles.methods)
    values = _matrix(roles)
    _check_answers(roles, values)
    notes = [] if choices.cluster_column is not None else _cluster_notes([roles])
    return Joined(names, names, roles.items, values, tuple(notes))


def _matrix(roles: ColumnRoles) -> NDArray[np.float64]:
    """Outcomes, items x methods."""
    values = np.empty((len(roles.items), len(roles.methods)))
    for place, column in enumerate(roles.methods):
        values[:, place] = _values(roles, column)
    return values


def _values(roles: ColumnRoles, column: int) -> NDArray[np.float64]:
    """Outcomes of a column in the order of the items; those of texts, each text once."""
    cells = roles.table.columns[column]
    distinct = set(cells)
    if all(isinstance(cell, str) for cell in distinct):
        known = {cell: number for cell in distinct if (number := _number(cell)) is not None}
        if len(known) == len(distinct):
            return np.fromiter(map(known.__getitem__, cells), float, len(cells))
    return np.array(list(_numbers(roles, column).values()))


def _split(name: str, separator: str | None) -> tuple[str, str]:
    """Method and run.

    Examples
    --------
    >>> _split("resnet@1", "@"), _split("resnet@1", None), _split("vit", "@")
    (('resnet', '1'), ('resnet@1', ''), ('vit', ''))
    """
    if not separator or separator not in name:
        return name, ""
    method, _, label = name.rpartition(separator)
    if not method or not label:
        raise InputError(f"{shown(name)} is not a method and a run with {shown(separator)} between")
    return method, label


def _method_names(found: Mapping[Path, ColumnRoles]) -> dict[tuple[Path, int], str]:
    """Name of each column; that of its file for the only one of several files, if it has none."""
    names = {
        (path, column): roles.table.header[column]
        for path, roles in found.items()
        for column in roles.methods
    }
    counts = Counter(names.values())
    files = file_names([path for path, roles in found.items() if roles.methods])
    if len(files) > 1:
        for path, roles in found.items():
            if len(roles.methods) != 1:
                continue
            key = path, roles.methods[0]
            if counts[names[key]] > 1 or normalize_name(names[key]) in _NAMELESS:
                names[key] = files[path]
    return names


def _numbers(roles: ColumnRoles, column: int) -> dict[str, float]:
    """Outcome of each item; NaN where there is none."""
    known: dict[Any, float] = {}
    outcomes = {}
    for row, (item, cell) in enumerate(zip(roles.items, roles.cells(column), strict=True)):
        key = cell if isinstance(cell, str) else None
        if key is None or key not in known:
            number = _number(cell)
            if number is None:
                raise InputError(
                    f"{roles.place(row, column)}: {shown(cell)} is no outcome; write 1 (right) or "
                    "0 (wrong), a number, or nothing (missing); the truth is in a column "
                    "ground_truth where there are classes"
                )
            known[key] = number
        outcomes[item] = known[key]
    return outcomes


def _number(cell: Any) -> float | None:
    found = parse_number(cell)
    if found is not None:
        number = float(found)
        return number if math.isfinite(number) else None
    answer = answer_of(cell)
    return math.nan if answer == MISSING else answer


@dataclass(frozen=True)
class _Truth:
    """True class of each item."""

    column: str
    classes: Mapping[str, Decimal | str]

    def compare(self, roles: ColumnRoles, column: int) -> dict[str, float]:
        """1 where the predicted class is the true one, NaN where there is none."""
        classes = set(self.classes.values())
        whole = all(isinstance(c, Decimal) and c == int(c) for c in classes)
        outcomes: dict[str, float] = {}
        for row, (item, cell) in enumerate(zip(roles.items, roles.cells(column), strict=True)):
            if item not in self.classes:
                continue
            predicted = _class_of(cell)
            if whole and isinstance(predicted, Decimal) and predicted != int(predicted):
                raise InputError(
                    f"{roles.place(row, column)}: {shown(cell)} is no class of "
                    f"{shown(self.column)}; predictions are classes here, not scores"
                )
            missing = predicted not in classes and answer_of(cell) == MISSING
            outcomes[item] = math.nan if missing else float(predicted == self.classes[item])
        predictions = {_class_of(cell) for cell in roles.cells(column)}
        if outcomes and not predictions & classes:
            raise InputError(
                f"{roles.table.where}: column {shown(roles.table.header[column])} never names a "
                f"class of {shown(self.column)}; if that is not the truth, take it out"
            )
        return outcomes

    def notes(self, parts: Sequence[Part], tables: Sequence[ColumnRoles]) -> tuple[str, ...]:
        """What the truth leaves open."""
        found = []
        binary = {Decimal(0), Decimal(1)}
        predicted = {
            _class_of(cell) for roles in tables for j in roles.methods for cell in roles.cells(j)
        }
        if predicted | set(self.classes.values()) <= binary:
            found.append(
                f"column {shown(self.column)} is taken as the truth and the others as predicted "
                "classes; if they say right (1) and wrong (0) already, take it out"
            )
        unused = [item for item in self.classes if all(item not in p.outcomes for p in parts)]
        if unused:
            found.append(
                f"column {shown(self.column)}: no prediction for {len(unused)} of "
                f"{counted(len(self.classes), 'item')}, the first is {shown(unused[0])}"
            )
        return tuple(found)


def _class_of(cell: Any) -> Decimal | str:
    """Class that a cell names: numbers are equal as numbers, texts as written.

    Examples
    --------
    >>> _class_of("1") == _class_of(" 1.0"), _class_of("cat ") == _class_of("cat")
    (True, True)
    """
    number = parse_number(cell)
    return str(cell).strip() if number is None else number


def _truth(tables: Sequence[ColumnRoles]) -> _Truth | None:
    """True classes, of all tables that have any."""
    column = ""
    classes: dict[str, Decimal | str] = {}
    for roles in tables:
        if roles.truth is None:
            continue
        column = column or roles.table.header[roles.truth]
        for row, (item, cell) in enumerate(zip(roles.items, roles.cells(roles.truth), strict=True)):
            found = _class_of(cell)
            if cell is None or found in ("", "nan"):
                raise InputError(f"{roles.place(row, roles.truth)}: the truth is missing")
            if classes.setdefault(item, found) != found:
                raise InputError(
                    f"{roles.place(row, roles.truth)}: {shown(cell)} is not what another file says "
                    f"of item {shown(item)}: {shown(str(classes[item]))}"
                )
    return _Truth(column, classes) if column else None


def _check_clusters(tables: Sequence[Table], wanted: str | None) -> None:
    if wanted is not None and not any(table.find_all(wanted) for table in tables):
        find_column(tables[0], wanted, "cluster_column")


def _cluster_notes(tables: Iterable[ColumnRoles]) -> list[str]:
    return [
        f"{roles.table.where}: clusters are taken from column "
        f"{shown(roles.table.header[roles.clusters])}"
        for roles in tables
        if roles.clusters is not None
    ]


def _clusters(tables: Sequence[ColumnRoles]) -> dict[str, str] | None:
    """Cluster of each item; None where no table has any."""
    clusters: dict[str, str] = {}
    for roles in tables:
        if roles.clusters is None:
            continue
        column = roles.cells(roles.clusters)
        for row, (item, cell) in enumerate(zip(roles.items, column, strict=True)):
            place = roles.place(row, roles.clusters)
            name = str(cell).strip()
            if answer_of(cell) == MISSING and name != "-1":
                raise InputError(f"{place}: the cluster is missing")
            if clusters.setdefault(item, name) != name:
                raise InputError(
                    f"{place}: item {shown(item)} is in cluster {shown(clusters[item])} elsewhere"
                )
    return clusters or None
