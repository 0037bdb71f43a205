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
from bayes_sota.core.text import counted
from bayes_sota.data.layouts import Layout
from bayes_sota.data.tables import Table, make_table
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
        str(title): list(cells.values() if isinstance(cells, Mapping) else cells)
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
    found = [match for name in table.columns if (match := _SPLIT.fullmatch(name))]
    metrics = list(dict.fromkeys(match[2] for match in found))
    metric = asked.get("score", metrics[0] if len(metrics) == 1 else "score")
    if metric not in metrics:
        got = f", and no {quoted(metric)}" if "score" in asked else ""
        raise table.error(f"there are scores by {listed(metrics)}{got}", "score")
    splits = sorted((int(match[1]), match[0]) for match in found if match[2] == metric)
    columns = {f"split{number}": table.columns[name] for number, name in splits}
    cells = table.columns.get("params", [""] * len(table))
    candidates = [_parameters(cell) or line for cell, line in zip(cells, table.lines, strict=True)]
    twice = [row for row, name in enumerate(candidates) if candidates.count(name) > 1]
    if twice:
        raise table.bad_cells("params", twice, "several candidates have the same parameters")
    read = {"params", *(name for _, name in splits)}
    rest = {name: cells for name, cells in table.columns.items() if name not in read}
    layout = Layout("tasks", {"entry": "params"}, list(columns), "fold", score=metric)
    return replace(table, columns={"params": candidates, **columns, **rest}), layout


def _parameters(cell: Any) -> str:
    """Parameters of a candidate in one line, of a mapping or of its text; "" without any."""
    if isinstance(cell, Mapping):
        plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in cell.items()}
        return " ".join(", ".join(f"{name}={value!r}" for name, value in plain.items()).split())
    return re.sub(r"'(\w+)': ", r"\1=", str(cell).strip().strip("{}"))


def is_kaggle(table: Table) -> bool:
    """Whether the header is that of a download."""
    return {"teamid", "teamname", "score"} <= set(map(key, table.columns))


def clean(table: Table, score: str, lower_is_better: bool) -> Table:
    """Row of the best score of every team; teams of one name are told apart by their id.

    Deleted teams and rows without a score are dropped, and scores of 0 unless lower is better.
    """
    by_key = {key(name): name for name in table.columns}
    names, ids = (list(map(str, table.columns[by_key[word]])) for word in ("teamname", "teamid"))
    value = table.numbers(table.find(score, "score"))
    rank = -value if lower_is_better else value
    reasons = {
        "of deleted teams": [name.strip().lower().startswith("[deleted]") for name in names],
        "without a score": np.isnan(value),
        "with a score of exactly 0": (rank == 0) & (not lower_is_better) & ~(value < 0).any(),
    }
    kept = ~np.any(list(reasons.values()), axis=0)
    best: dict[str, int] = {}
    for row in np.flatnonzero(kept).tolist():
        team = ids[row] or names[row]
        if rank[row] > rank[best.setdefault(team, row)]:
            best[team] = row
    rows = list(best.values())
    count = Counter(names[row] for row in rows)
    unique = [
        f"{name} ({team})" if count[name] > 1 else name
        for name, team in zip(names, ids, strict=True)
    ]
    dropped = {reason: int(np.sum(of)) for reason, of in reasons.items()}
    dropped["repeating a team"] = int(kept.sum()) - len(best)
    notes = [f"dropped {counted(n, 'row')} {reason}" for reason, n in dropped.items() if n]
    renamed = replace(table, columns={**table.columns, by_key["teamname"]: unique})
    return renamed.take(rows, *notes)
