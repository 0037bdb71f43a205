"""``cv_results_`` of scikit-learn's searches: one candidate per row, one column per split.

Scores are the columns ``split<i>_test_<metric>``; scikit-learn's scorers are all larger is better
(losses are negated). ``tests/data/test_read_scores.py`` compares with a search.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError, located
from bayes_sota.core.text import shown
from bayes_sota.data.files.tables import Table, plain_cell
from bayes_sota.data.formats.score_tables import (
    NotedScores,
    ScoreOptions,
    read_numbers,
    tournament_name,
)
from bayes_sota.data.readers.parts import choose
from bayes_sota.data.score_table import ScoreTable

_SPLIT = re.compile(r"split(\d{1,6})_test_(.+)")


def is_cv_results(names: Any) -> bool:
    """Whether names of columns, or keys, are those of ``cv_results_``."""
    return any(isinstance(name, str) and _SPLIT.fullmatch(name) for name in names)


def table_of_cv_results(results: Mapping[str, Any], where: str, stem: str) -> Table:
    """Table of ``cv_results_`` itself, or of its columns as JSON has them.

    Raises
    ------
    InputError
        Columns of different lengths.
    """
    columns = {}
    for name, cells in results.items():
        if isinstance(cells, Mapping | list | tuple | np.ndarray):
            listed = list(cells.values() if isinstance(cells, Mapping) else cells)
            columns[str(name)] = listed if name == "params" else list(map(plain_cell, listed))
    sizes = {len(cells) for cells in columns.values()}
    if len(sizes) != 1:
        raise InputError(f"{where}: columns of cv_results_ have one length, got {sorted(sizes)}")
    places = [f"candidate {number}" for number in range(1, sizes.pop() + 1)]
    return Table(tuple(columns), tuple(columns.values()), places, where, stem)


def read_cv_results(table: Table, options: ScoreOptions) -> NotedScores:
    """Candidates as players, splits as rounds.

    Raises
    ------
    InputError
        Several metrics and none chosen, candidates with the same parameters, cells that are no
        numbers.
    """
    splits: dict[str, dict[int, int]] = {}
    for column, match in enumerate(map(_SPLIT.fullmatch, table.header)):
        if match:
            splits.setdefault(match[2], {})[int(match[1])] = column
    if not splits:
        raise InputError(f"{table.where}: cv_results_ has columns split0_test_score, ...")
    metric = choose(list(splits), options.score_column, ("score",), table.where, "score_column")
    chosen = dict(sorted(splits[metric].items()))
    others = [name for name in splits if name != metric]
    notes = (f"{table.where}: metrics that are not used: {', '.join(others)}",) if others else ()
    with located(table.where):
        scores = ScoreTable(
            np.array([read_numbers(table, column) for column in chosen.values()]),
            players=_candidates(table),
            rounds=[f"split{number}" for number in chosen],
            lower_is_better=options.lower_is_better,
            scheme=options.scheme or "model/cv",
            tournament=tournament_name(table),
        )
    return NotedScores(scores, notes)


def _candidates(table: Table) -> list[str]:
    """Parameters of each candidate, which no other has."""
    names: dict[str, str] = {}
    for row, where in enumerate(table.places):
        name = _parameters(table, row) or where
        if name in names:
            raise InputError(
                f"{where} has the parameters of {names[name]}, {shown(name)}; keep one of them"
            )
        names[name] = where
    return list(names)


def _parameters(table: Table, row: int) -> str:
    """Parameters of a candidate in one line, of a mapping or of its text; "" without any."""
    columns = table.find_all("params")
    cell = table.columns[columns[0]][row] if columns else ""
    if isinstance(cell, Mapping):
        values = {k: v.item() if isinstance(v, np.generic) else v for k, v in cell.items()}
        return " ".join(", ".join(f"{name}={value!r}" for name, value in values.items()).split())
    return re.sub(r"'(\w+)': ", r"\1=", str(cell).strip().strip("{}"))
