"""Layouts become one row per score."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayes_sota.core.errors import listed, quoted
from bayes_sota.data.cells import NOTHING, Printed, is_numeric
from bayes_sota.data.layouts import Layout
from bayes_sota.data.roles import LABELS, NUMBERS, UNITS
from bayes_sota.data.tables import Table
from bayes_sota.data.tidy import Tidy

PLURALS = {
    "entry": "entries",
    "se": "standard errors",
    "better": "directions",
    "n": "numbers of items",
    "submissions": "submissions",
}


def melt(table: Table, layout: Layout) -> Tidy:
    """Row for each cell of the columns that hold scores, NaN where it is empty.

    On a leaderboard, empty rows are dropped with a note.

    Raises
    ------
    InputError
        Cells that hold no number or no name; up to ten are named at once.
    """
    columns, roles = layout.columns, layout.roles
    cells = [cell for column in columns for cell in _scores(table, column, layout)]
    if all(cell is NOTHING for cell in cells):
        raise table.error(f"no scores in {listed(columns)}")
    labels, notes = _row_labels(table, layout)
    labels = {role: np.tile(names, len(columns)) for role, names in labels.items()}
    if layout.across:
        labels[layout.across] = np.repeat(_names_across(table, layout), len(table))
    numbers = {role: table.numbers(roles[role]) for role in NUMBERS if role in roles}
    numbers = {role: np.tile(values, len(columns)) for role, values in numbers.items()}
    errors = np.array([cell.error for cell in cells])
    if not np.isnan(errors).all():
        numbers["se"] = errors
        notes.append("numbers after ± or in parentheses are taken as standard errors")
    tidy = Tidy(
        where=table.where,
        name=table.name,
        layout=layout.kind,
        value=np.array([cell.value for cell in cells]),
        texts=[cell.text for cell in cells],
        labels=labels,
        numbers=numbers,
        lines=table.lines * len(columns),
        score=layout.score or roles.get("score", ""),
        sentence=describe(table, layout),
        notes=(*table.notes, *notes),
    )
    empty = np.isnan(tidy.value)
    if layout.kind != "board" or not empty.any():
        return tidy
    note = f"dropped {empty.sum()} row{'s' if empty.sum() > 1 else ''} without a score"
    return tidy.take(np.flatnonzero(~empty), note)


def _names_across(table: Table, layout: Layout) -> Any:
    """Labels of the columns that hold scores; a single metric belongs to the file's model."""
    names = layout.columns
    if layout.kind == "pair":
        names = ["public", "private"]
    elif layout.kind == "wide" and len(names) == 1:
        names = [table.name]
    return np.array(names, object)


def _row_labels(table: Table, layout: Layout) -> tuple[dict[str, Any], list[str]]:
    """Names that each row has in its roles, and a note where clusters were empty."""
    labels: dict[str, Any] = {}
    notes = []
    for role, column in layout.roles.items():
        if role not in (*LABELS, "label") or role == layout.across:
            continue
        labels[role] = table.names(column, may_miss=role in ("cluster", "better"))
        empty = np.flatnonzero(labels[role] == "")
        if empty.size and role == "cluster":
            labels[role][empty] = [f"(alone, {table.lines[row]})" for row in empty]
            notes.append(f"{empty.size} rows without a cluster are clusters of their own")
    _tell_units_apart(labels)
    rows = range(1, len(table) + 1)
    if layout.kind == "wide" and not labels.keys() & set(UNITS):
        labels["unit"] = np.array([str(row) for row in rows], object)
    if "entry" not in labels and layout.across != "entry":
        labels["entry"] = np.array([f"entry {row}" for row in rows], object)
    return labels, notes


def _tell_units_apart(labels: dict[str, Any]) -> None:
    """Units that are numbered anew in each task or cluster are called task/unit."""
    if "unit" not in labels and len(set(labels.get("fold", ()))) > 1 and "task" in labels:
        labels["unit"] = labels["task"] + "/" + labels["fold"]
    for role in ("task", "cluster"):
        if not {"unit", role} <= labels.keys():
            continue
        beside = [names for other, names in labels.items() if other not in ("task", "cluster")]
        rows = list(zip(*beside, strict=True))
        if len(set(rows)) < len(rows):
            labels["unit"] = labels[role] + "/" + labels["unit"]


def _scores(table: Table, column: str, layout: Layout) -> list[Printed]:
    """Number of each cell of a column; of predicted classes, whether they are right."""
    if layout.kind != "wide" or "label" not in layout.roles:
        return table.printed(column)
    truth = table.columns[layout.roles["label"]]
    if is_numeric(truth):
        labels = table.numbers(layout.roles["label"])
        if set(labels) <= {0.0, 1.0}:  # beside them stand answers or probabilities
            return table.printed(column)
        right = list(table.numbers(column) == labels)
    else:
        right = [cell == label for cell, label in zip(table.columns[column], truth, strict=True)]
    return [Printed(float(answer), text=str(int(answer))) for answer in right]


def describe(table: Table, layout: Layout) -> str:
    """Sentence that says which columns were read, and which were not."""
    parts = [
        f"{PLURALS.get(role, role + 's')} from {quoted(column)}"
        for role, column in layout.roles.items()
        if role not in ("score", "public", "private", layout.across)
    ]
    number = len(layout.columns)
    across = PLURALS.get(layout.across, layout.across + "s")
    of = f" of {number} {across}" if number > 1 and layout.across != "board" else ""
    parts.append(f"scores{of} from {listed(layout.columns)}")
    return describe_parts(table, parts, [*layout.roles.values(), *layout.columns])


def describe_parts(table: Table, parts: Sequence[str], used: Sequence[str]) -> str:
    """The same of any parts, with the columns that were not used."""
    unused = [name for name in table.columns if name not in used]
    rest = f"; not used: {listed(unused)}" if unused else ""
    return f"Read: {', '.join(parts)}{rest}."
