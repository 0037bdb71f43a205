"""Tables of fixed columns: leaderboards downloaded from Kaggle, searches of scikit-learn.

A download has several rows per team, deleted teams and failed submissions; ``cv_results_`` has a
candidate per row and a column per split.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.data.layouts import Layout
from bayes_sota.data.tables import NOTHING, Table, make_table, parse_cell
from bayes_sota.data.words import key

_SPLIT = re.compile(r"split(\d{1,6})_test_(.+)")


def is_search(names: Collection[Any]) -> bool:
    """Whether names of columns, or keys, are those of ``cv_results_``."""
    return any(isinstance(name, str) and _SPLIT.fullmatch(name) for name in names)


def table_of_search(results: Mapping[Any, Any], where: str, name: str) -> Table:
    """Table of ``cv_results_`` itself, or of its columns as JSON has them."""
    if not is_search(results):
        problem = "a mapping is read as cv_results_ of scikit-learn, with keys split0_test_score"
        raise InputError(problem, where=where)
    columns = {
        str(title): cells.tolist()  # nothing where a cell is masked
        if isinstance(cells, np.ndarray)
        else list(cells.values() if isinstance(cells, Mapping) else cells)
        for title, cells in results.items()
        if isinstance(cells, Mapping | list | tuple | np.ndarray)
    }
    sizes = {len(cells) for cells in columns.values()}
    if len(sizes) != 1:
        problem = f"columns of cv_results_ have one length, got {sorted(sizes)}"
        raise InputError(problem, where=where)
    lines = [f"candidate {number}" for number in range(1, sizes.pop() + 1)]
    return make_table(columns, columns.values(), lines, where, name)


def find_splits(table: Table, asked: Mapping[str, str]) -> tuple[Table, Layout]:
    """Table with the splits of one metric under their names, and its layout.

    Raises
    ------
    InputError
        Several metrics and none chosen, candidates with the same parameters.
    """
    splits: dict[str, dict[int, str]] = {}
    for name in table.columns:
        if match := _SPLIT.fullmatch(name):
            splits.setdefault(match[2], {})[int(match[1])] = name
    metric = asked.get("score") or (next(iter(splits)) if len(splits) == 1 else "score")
    if metric not in splits:
        got = f", and no {quoted(metric)}" if "score" in asked else ""
        problem = f"there are scores by {listed(splits)}{got}"
        raise table.error(problem, "score", "choose one with {option}")
    names = {name: f"split{number}" for number, name in sorted(splits[metric].items())}
    columns = {names[name]: table.columns[name] for name in names}
    rest = {name: cells for name, cells in table.columns.items() if name not in names}
    candidates = [_parameters(cell) or line for cell, line in zip(
        rest.pop("params", [""] * len(table)), table.lines, strict=True
    )]  # fmt: skip
    twice = [name for name, count in Counter(candidates).items() if count > 1]
    if twice:
        rows = [row for row, name in enumerate(candidates) if name == twice[0]]
        raise table.bad_cells("params", rows, "several candidates have the same parameters")
    columns = {"params": candidates, **columns, **rest}
    layout = Layout("tasks", {"entry": "params"}, list(names.values()), "fold", score=metric)
    return replace(table, columns=columns), layout


def _parameters(cell: Any) -> str:
    """Parameters of a candidate in one line, of a mapping or of its text; "" without any."""
    if isinstance(cell, Mapping):
        plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in cell.items()}
        return " ".join(", ".join(f"{name}={value!r}" for name, value in plain.items()).split())
    return re.sub(r"'(\w+)': ", r"\1=", str(cell).strip().strip("{}"))


def is_kaggle(table: Table) -> bool:
    """Whether the header is that of a download."""
    return {"teamid", "teamname", "score"} <= set(map(key, table.columns))


def clean(table: Table, score: str, direction: str | None) -> Table:
    """Row of the best score of every team; teams of one name are told apart by their id.

    Deleted teams and rows without a score are dropped, and scores of 0 unless lower is better.
    """
    by_key = {key(name): name for name in table.columns}
    names, ids = (list(map(str, table.columns[by_key[word]])) for word in ("teamname", "teamid"))
    numbers = list(map(parse_cell, table.columns[table.find(score, "score")]))
    worst_is_zero = direction != "lower" and not any(n and n.value < 0 for n in numbers)
    best: dict[str, tuple[float, int]] = {}
    dropped: Counter[str] = Counter()
    for row, number in enumerate(numbers):
        reason = _reason(names[row], number, worst_is_zero)
        dropped[reason] += 1
        if not reason:
            value = number.value if number else 0.0  # text is named by its line, later
            rank = -value if direction == "lower" else value
            team = ids[row] or names[row]
            if team not in best or rank > best[team][0]:
                best[team] = (rank, row)
    dropped["repeating a team"] = dropped.pop("", 0) - len(best)
    rows = [row for _, row in best.values()]
    count = Counter(names[row] for row in rows)
    unique = [
        f"{name} ({team})" if count[name] > 1 else name
        for name, team in zip(names, ids, strict=True)
    ]
    renamed = replace(table, columns={**table.columns, by_key["teamname"]: unique})
    notes = [f"dropped {n} row{'s' * (n > 1)} {reason}" for reason, n in dropped.items() if n]
    return renamed.take(rows, *notes)


def _reason(name: str, number: Any, worst_is_zero: bool) -> str:
    """Why a row does not count, if so."""
    if name.strip().lower().startswith("[deleted]"):
        return "of deleted teams"
    if number is NOTHING:
        return "without a score"
    if number and number.value == 0 and worst_is_zero:
        return "with a score of exactly 0"
    return ""
