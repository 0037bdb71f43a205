"""Leaderboards downloaded from Kaggle: several rows per team, deleted teams, failed submissions.

New files have one row per team (``Rank,TeamId,TeamName,LastSubmissionDate,Score,SubmissionCount,
TeamMemberUserNames``); older ones (``TeamId,TeamName,SubmissionDate,Score``) one for every
improvement.
"""

from collections import Counter
from typing import Any

from bayes_sota.core.text import counted
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.printed_scores import is_blank, parse_number


def is_kaggle(table: Table) -> bool:
    """Whether the header is that of a Kaggle download."""
    return {"teamid", "teamname", "score"} <= {normalize_name(name) for name in table.header}


def best_rows(
    table: Table, scores: int, names: int | None, lower_is_better: bool = False
) -> tuple[list[int], list[str]]:
    """Row of the best score of every team, and what was left out.

    Rows of deleted teams and rows without a score are left out, and scores of exactly 0, which
    failed submissions have, where 0 is the worst that a score can be.
    """
    numbers = [parse_number(cell) for cell in table.columns[scores]]
    worst_is_zero = not lower_is_better and all(n is None or n >= 0 for n in numbers)
    dropped: Counter[str] = Counter()
    best: dict[object, tuple[Any, int]] = {}
    rows: Counter[object] = Counter()
    teams = _team_keys(table, names)
    labels = None if names is None else table.columns[names]
    for row, (cell, number) in enumerate(zip(table.columns[scores], numbers, strict=True)):
        reason = _junk(cell, "" if labels is None else labels[row])
        if not reason and worst_is_zero and number == 0:
            reason = "with a score of exactly 0"
        if reason:
            dropped[reason] += 1
            continue
        rows[teams[row]] += 1
        # Text among the scores is kept for the parser, which names its place.
        rank = float("inf") if number is None else -number if lower_is_better else number
        if teams[row] not in best or rank > best[teams[row]][0]:
            best[teams[row]] = (rank, row)
    notes = [f"dropped {counted(n, 'row')} {reason}" for reason, n in sorted(dropped.items())]
    repeated = [count for count in rows.values() if count > 1]
    if repeated:
        notes.append(
            f"kept the best score of {counted(len(repeated), 'team')} with several, leaving out "
            f"{counted(sum(repeated) - len(repeated), 'row')}"
        )
    return [row for _, row in best.values()], notes


def team_names(table: Table, names: int) -> list[str]:
    """Names of the teams; those of the same name are told apart by their id."""
    labels = list(map(str, table.columns[names]))
    ids = table.find_all("TeamId")
    count = Counter(labels)
    return [
        f"{label} ({table.columns[ids[0]][row]})" if ids and count[label] > 1 else label
        for row, label in enumerate(labels)
    ]


def _team_keys(table: Table, names: int | None) -> list[object]:
    """What tells teams apart: the id, the name where there is none, else the row."""
    keys: list[object] = list(range(len(table.places)))
    ids = table.find_all("TeamId")[:1]
    for column in [*([] if names is None else [names]), *ids]:
        for row, cell in enumerate(table.columns[column]):
            if not is_blank(cell):
                keys[row] = column, cell
    return keys


def _junk(cell: Any, name: Any) -> str:
    if str(name).strip().lower().startswith("[deleted]"):
        return "of deleted teams"
    return "without a score" if is_blank(cell) else ""
