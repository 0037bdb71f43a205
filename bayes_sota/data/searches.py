"""Results of a search of scikit-learn (``cv_results_``): a candidate per row."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.data.layouts import Layout
from bayes_sota.data.tables import Table, make_table

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
