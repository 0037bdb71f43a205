"""Layouts become one row per score."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.data.cells import NOTHING, Numbers, parse_cell
from bayes_sota.data.layouts import Layout
from bayes_sota.data.tables import Table
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import LABELS, NUMBERS, UNITS, is_score

PLURALS = {
    "entry": "entries",
    "se": "standard errors",
    "direction": "directions",
    "n": "numbers of items",
    "submissions": "submissions",
    "runs": "numbers of runs",
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
    scores, are_classes = _scores(table, layout)
    value = np.concatenate([numbers.value for numbers in scores]) + 0.0  # which is never -0.0
    errors = np.concatenate([numbers.error for numbers in scores])
    if np.isnan(value).all():
        raise table.error(f"no scores in {listed(columns)}")
    labels, notes = _row_labels(table, layout)
    if are_classes:
        del labels["label"]
        notes.append(f"predictions are right where they equal {quoted(roles['label'])}")
    labels = {role: np.tile(names, len(columns)) for role, names in labels.items()}
    if layout.across:
        labels[layout.across] = np.repeat(_names_across(table, layout), len(table))
    numbers = {role: table.numbers(roles[role]) for role in NUMBERS if role in roles}
    numbers = {role: np.tile(values, len(columns)) for role, values in numbers.items()}
    for role, beside in layout.beside.items():
        numbers[role] = np.concatenate([table.numbers(column) for column in beside])
    if not np.isnan(errors).all():
        numbers["se"] = errors
        notes.append("numbers after ± or in parentheses are taken as standard errors")
    tidy = Tidy(
        where=table.where,
        name=table.name,
        layout=layout.kind,
        value=value,
        texts=[text for of in scores for text in of.texts],
        labels=labels,
        numbers=numbers,
        lines=table.lines * len(columns),
        titles=columns,
        score=layout.score or roles.get("score", ""),
        sentence=describe(table, layout),
        notes=(*table.notes, *notes),
        origin=table.origin,
        n_files=table.n_files,
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
    elif layout.kind == "wide" and len(names) == 1 and is_score(names[0]):
        names = [table.name]
    return np.array(names, object)


def _row_labels(table: Table, layout: Layout) -> tuple[dict[str, Any], list[str]]:
    """Names that each row has in its roles, and a note where clusters were empty."""
    labels: dict[str, Any] = {}
    notes = []
    for role, column in layout.roles.items():
        if role not in (*LABELS, "label") or role == layout.across:
            continue
        labels[role] = table.names(column, may_miss=role in ("cluster", "direction"))
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
        beside = [names for other, names in labels.items() if other in ("entry", "unit", "run")]
        rows = list(zip(*beside, strict=True))
        pairs = set(zip(labels[role], labels["unit"], strict=True))
        elsewhere = role == "task" and len(pairs) > len(set(labels["unit"]))
        if elsewhere or len(set(rows)) < len(rows):
            labels["unit"] = labels[role] + "/" + labels["unit"]


def _scores(table: Table, layout: Layout) -> tuple[list[Numbers], bool]:
    """Numbers of each column that holds scores, and whether they are predicted classes.

    Of classes, whether they are the true ones; beside labels 0 and 1 may stand probabilities.
    """
    label = layout.roles.get("label") if layout.kind == "wide" else None
    if label is not None:
        table.names(label)  # none is empty
    are_text = label is not None and not table.parsed(label).is_numeric
    found = [] if are_text else [table.printed(column) for column in layout.columns]
    if label is None or (not are_text and _are_probabilities(table.numbers(label), found)):
        return found, False
    return [_compared(table, column, label, are_text) for column in layout.columns], True


def _are_probabilities(labels: Any, found: Sequence[Numbers]) -> bool:
    """Whether other numbers than 0 and 1 stand beside labels that are 0 or 1."""
    values = np.concatenate([numbers.value for numbers in found])
    return bool(
        np.isin(labels, (0, 1)).all() and not np.isin(values[~np.isnan(values)], (0, 1)).all()
    )


def _compared(table: Table, column: str, label: str, are_text: bool) -> Numbers:
    """1 where the predicted class is the true one, NaN where there is none."""
    if are_text:
        truth, guess = (np.array([str(cell).strip() for cell in table.columns[name]], object)
                        for name in (label, column))  # fmt: skip
        known = np.isin(guess, list(set(truth)))
        missing = ~known & np.array([parse_cell(cell) is NOTHING for cell in table.columns[column]])
    else:
        truth, guess = table.numbers(label), table.numbers(column)
        missing = np.isnan(guess)
        known = np.isin(guess, truth)
        odd = np.flatnonzero((guess % 1 != 0) & ~missing & ~known)
        if odd.size:
            raise table.bad_cells(column, odd.tolist(), f"a class of {quoted(label)} is needed")
    if not known.any():
        raise InputError(
            f"never names a class of {quoted(label)}",
            where=table.where,
            column=column,
            parameter="leave_out",
            fix="if it holds no predictions, leave it out with {option}",
        )
    right = np.where(missing, np.nan, guess == truth)
    texts = ["" if gone else str(int(one)) for gone, one in zip(missing, right, strict=True)]
    return Numbers(right.astype(np.float64), np.full(len(right), np.nan), texts, [])


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
    beside = [name for names in layout.beside.values() for name in names]
    parts += [f"{PLURALS[role]} from {listed(names)}" for role, names in layout.beside.items()]
    return describe_parts(table, parts, [*layout.roles.values(), *layout.columns, *beside])


def describe_parts(table: Table, parts: Sequence[str], used: Sequence[str]) -> str:
    """The same of any parts, with the columns that were not used."""
    unused = [name for name in table.columns if name not in used]
    rest = f"; not used: {listed(unused)}" if unused else ""
    return f"Read: {', '.join(parts)}{rest}."
