"""How a table holds its scores.

A *board* has an entry and a score in every row; a *long* table repeats the entries over units;
*tasks* are columns beside an entry; a *wide* table has a unit in every row and a column for each
entry; a *pair* has a public and a private score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.data.roles import Header
from bayes_sota.data.tables import Table
from bayes_sota.data.words import UNITS, key, place_in

_OF_ROWS = frozenset((*UNITS, "label"))


@dataclass(frozen=True)
class Layout:
    """Columns that hold scores; their names are labels of the role ``across``, if there is one."""

    kind: str
    roles: dict[str, str]
    columns: list[str]
    across: str = ""
    beside: dict[str, list[str]] = field(default_factory=dict)  # errors and sizes of each column
    score: str = ""


def find_layout(table: Table, asked: Mapping[str, str], use: Sequence[str]) -> Layout:
    """Layout of a table, from the names of its columns and what a user asked for."""
    header = Header(table, asked, use)
    roles = header.roles
    if header.is_pair:
        return Layout("pair", roles, [roles["public"], roles["private"]], "board")
    return _rows_of_entries(header) if "entry" in roles else _rows_of_units(header)


def _rows_of_entries(header: Header) -> Layout:
    roles = header.roles
    named = [roles["score"]] if "score" in roles else header.scores()
    columns = header.use or named or header.lone_average()
    if not columns:
        raise header.nothing_to_score()
    if len(columns) > 1:
        return _columns_of_tasks(header, columns)
    roles["score"] = columns[0]
    if not header.repeats("entry"):
        _check_one_task(header)
        _check_shares(header)
        kept = {role: name for role, name in roles.items() if role not in _OF_ROWS}
        return Layout("board", kept, columns)
    if not roles.keys() & set(UNITS):
        raise header.table.error(
            f"names in column {quoted(roles['entry'])} repeat, so every row needs a unit "
            "(an item, data set, round or seed)",
            "unit",
            "name its column with {option}",
        )
    if place_in("probability", roles["score"]) is not None:
        header.find_label()
    return Layout("long", roles, columns)


def _columns_of_tasks(header: Header, columns: list[str]) -> Layout:
    """Columns of tasks beside the entries, which may stand in several rows as runs."""
    roles = header.roles
    roles.pop("score", None)
    units = roles.keys() & {"unit", "task", "metric"}
    if units and header.repeats("entry"):
        problem = f"every row has several numbers: {listed(columns)}"
        raise header.table.error(problem, "score", "choose one with {option}")
    if not header.use:
        _check_one_scale(header, columns)
    kept = {role: name for role, name in roles.items() if role not in units}
    beside = {role: header.beside(columns, role) for role in ("se", "n") if role not in roles}
    return Layout("tasks", kept, columns, "task", {role: of for role, of in beside.items() if of})


def _check_one_scale(header: Header, columns: Sequence[str]) -> None:
    """Scores that compete are all shares, all percent, or all something else."""
    scales: dict[int, list[str]] = {}
    for column in columns:
        largest = float(np.nanmax(np.abs(header.table.numbers(column)), initial=0))
        scales.setdefault(int(largest > 1) + int(largest > 100), []).append(column)
    if len(scales) > 1:
        parts = " and ".join(listed(names) for names in scales.values())
        problem = f"columns of numbers are on different scales: {parts}"
        raise header.table.error(problem, "use", "choose those that hold scores with {option}")


def _check_one_task(header: Header) -> None:
    """Entries of a leaderboard were scored on the same task."""
    for role in ("task", "metric"):
        column = header.roles.get(role)
        if column is not None and len(set(header.table.columns[column])) > 1:
            problem = f"entries differ in {quoted(column)}, so their scores cannot be compared"
            fix = "if it does not matter, leave the column out with {option}"
            raise header.table.error(problem, "leave_out", fix)


def _check_shares(header: Header) -> None:
    """Beside the numbers of items stand scores, not numbers of right answers."""
    if "n" not in header.roles:
        return
    scores, n = (header.table.numbers(header.roles[role]) for role in ("score", "n"))
    if np.nanmax(scores) > 1 and np.all(scores % 1 == 0) and np.all(scores <= n):
        problem = "numbers of right answers, or percent, beside numbers of items"
        fix = "write accuracies between 0 and 1 or with a percent sign"
        raise InputError(problem, where=header.table.where, column=header.roles["score"], fix=fix)


def _rows_of_units(header: Header) -> Layout:
    table, roles = header.table, header.roles
    score = roles.pop("score", None)
    header.find_label()
    texts, others = header.texts(), header.scores()
    others = [name for name in others if name != score]
    if score is not None and not (texts or others or roles.keys() & _OF_ROWS):
        return Layout("board", roles | {"score": score}, [score])
    columns = header.use or others
    if "label" in roles and roles["label"] not in header.numeric and not header.use:
        columns = texts  # predicted classes
    if score is not None:
        _check_alone(table, score, others)
        columns = [score]
    if not columns:
        raise header.nothing_to_score()
    if not header.use:
        _check_no_counter(table, columns)
    if not roles.keys() & set(UNITS):
        _check_rows(table, texts)
    if len(columns) == 1 and roles.keys() & set(UNITS) == {"run"}:
        problem = f"rows are runs (column {quoted(roles['run'])}), and nothing names the entries"
        raise table.error(problem, "entry", "name their column with {option}")
    return Layout("wide", roles, columns, "entry")


def _check_alone(table: Table, score: str, others: Sequence[str]) -> None:
    """A column that is called like a metric is no competitor of the columns beside it."""
    if others:
        problem = f"{quoted(score)} looks like a metric, and beside it stand {listed(others)}"
        raise table.error(problem, "use", "choose the columns that hold scores with {option}")


def _check_no_counter(table: Table, columns: Sequence[str]) -> None:
    """A column that numbers the rows is no competitor of columns that do not."""
    if len(table) < 6:
        return
    numbers = {name: np.sort(table.parsed(name).value) for name in columns}
    counters = [name for name, of in numbers.items() if (np.diff(of) == 1).all()]
    if counters and len(counters) < len(columns):
        problem = f"column {quoted(counters[0])} numbers the rows, so it holds no scores"
        raise table.error(problem, "leave_out", "if so, leave it out with {option}")


def _check_rows(table: Table, texts: Sequence[str]) -> None:
    """Rows that no column names are units if nothing else names them."""
    if texts:
        column = quoted(texts[0])
        problem = f"rows may be entries or units: nothing says what column {column} names"
        raise table.error(problem, "rows", "say which with {option}")
    steps = [name for name in table.columns if key(name) in ("step", "globalstep")]
    if steps:
        problem = f"rows are steps of training (column {quoted(steps[0])}), not independent units"
        raise table.error(problem, fix="keep the scores of the final models")
