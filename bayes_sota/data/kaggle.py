"""Leaderboards downloaded from Kaggle: several rows per team, deleted teams, failed submissions."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bayes_sota.data.cells import NOTHING, parse_cell
from bayes_sota.data.tables import Table
from bayes_sota.data.words import key


def is_kaggle(table: Table) -> bool:
    """Whether the header is that of a download."""
    return {"teamid", "teamname", "score"} <= set(map(key, table.columns))


def clean(table: Table, roles: Mapping[str, str], direction: str | None) -> Table:
    """Row of the best score of every team; teams of one name are told apart by their id.

    Deleted teams and rows without a score are dropped, and scores of 0 unless lower is better.
    """
    by_key = {key(name): name for name in table.columns}
    names, ids = (list(map(str, table.columns[by_key[word]])) for word in ("teamname", "teamid"))
    best: dict[str, tuple[float, int]] = {}
    dropped: Counter[str] = Counter()
    numbers = list(map(parse_cell, table.columns[roles["score"]]))
    worst_is_zero = direction != "lower" and not any(n and n.value < 0 for n in numbers)
    for row, number in enumerate(numbers):
        reason = _reason(names[row], number, worst_is_zero)
        if reason:
            dropped[reason] += 1
            continue
        value = number.value if number else 0.0  # text is named by its line, later
        rank = -value if direction == "lower" else value
        team = ids[row] or names[row]
        if team in best and best[team][0] >= rank:
            dropped["repeating a team"] += 1
            continue
        dropped["repeating a team"] += team in best
        best[team] = (rank, row)
    rows = [row for _, row in best.values()]
    count = Counter(names[row] for row in rows)
    unique = [
        f"{names[row]} ({ids[row]})" if count[names[row]] > 1 else names[row]
        for row in range(len(table))
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
