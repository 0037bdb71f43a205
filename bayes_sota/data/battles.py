"""Battles of two entries each: winner and loser, a verdict beside a pair, or a matrix of wins."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_sota.core.errors import listed, quoted
from bayes_sota.data.tables import Table, describe_parts, parse_cell
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import BATTLES, LABELS, ROLES, key

_NUMBERED = ("preference", "preferred", "winner", "choice", "vote", "verdict")
_CHOICES = {"1": 1.0, "2": 0.0, "0": 0.5, "1.5": 0.5}
_RESULTS = {"1": 1.0, "0": 0.0, "0.5": 0.5, "1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}


@dataclass(frozen=True)
class Battles:
    """Columns of battles: a pair, and what says who won; of a matrix, its entries."""

    pair: tuple[str, ...]
    sides: tuple[str, str] = ("", "")
    verdict: str = ""
    tie: str = ""
    wins: tuple[str, ...] = ()  # of the first, of the second, and ties
    entries: tuple[str, ...] = ()


def find_battles(table: Table, asked: Mapping[str, str]) -> Battles | None:
    """Columns of battles by their names; None where the table holds something else."""
    if asked.keys() & {"entry", "unit", "score", "task", "public", "private"}:
        return None
    winner, loser, tie = (_role(table, role, asked) for role in ("winner", "loser", "tie"))
    if winner and loser:
        return Battles((winner, loser), tie=tie)
    pair, sides = _find_pair(table)
    if not pair:
        return _find_matrix(table)
    wins = [name for side in sides for name in _wins_of(table, side)]
    if len(wins) == 2:
        ties = _wins_of(table, "tie") or [tie]
        return Battles(pair, sides, wins=tuple(filter(None, wins + ties)))
    verdict = winner or _named(table, BATTLES["verdict"])
    if verdict:
        return Battles(pair, sides, verdict)
    if key(pair[0]) == sides[0] == "a":
        return None  # models that are called a and b
    problem = f"{listed(pair)} look like pairs, and no column says who won"
    raise table.error(problem, "winner", "name it with {option}")


def _named(table: Table, words: Iterable[str]) -> str:
    """First column that is called so."""
    return next((name for name in table.columns if key(name) in words), "")


def _role(table: Table, role: str, asked: Mapping[str, str]) -> str:
    return table.find(asked[role], role) if role in asked else _named(table, ROLES[role])


def _find_pair(table: Table) -> tuple[tuple[str, ...], tuple[str, str]]:
    """Columns of the two entries and what tells them apart, such as a and b."""
    texts = {key(name): name for name in table.columns if not table.parsed(name).is_numeric}
    for stem in (*BATTLES["stems"], *ROLES["entry"]):
        for sides in BATTLES["sides"]:
            one, other = sides.split(":")
            titles = [stem.strip("'") + side for side in (one, other)]
            if texts.keys() >= set(titles):
                return tuple(texts[title] for title in titles), (one, other)
    return (), ("", "")


def _wins_of(table: Table, side: str) -> list[str]:
    """Column that counts the wins of one side: win1, winner_model_a, wins_left."""
    keys = {key(name): name for name in table.columns}
    return [name for of, name in keys.items() if of.startswith("win") and of.endswith(side)][:1]


def _find_matrix(table: Table) -> Battles | None:
    """Table whose rows have the names of its columns: wins of the row against the column."""
    is_square = 2 < len(table.columns) == len(table) + 1
    for first in table.columns if is_square else ():
        if str(table.columns[first][0]).strip() not in table.columns:
            continue
        entries = [str(cell).strip() for cell in table.columns[first]]
        if {first, *entries} == set(table.columns):
            own = [table.parsed(name).value[row] for row, name in enumerate(entries)]
            if np.isin(np.nan_to_num(own), (0, 0.5)).all():
                return Battles((first,), entries=tuple(entries))
    return None  # of other numbers with themselves: a confusion matrix, or correlations


def read_battles(table: Table, found: Battles, asked: Mapping[str, str]) -> Tidy:
    """Entry, opponent and result (1 won, 0.5 tied, 0 lost) of each battle, with its count."""
    if found.entries:
        return _read_matrix(table, found.entries)
    if found.verdict:
        table = _finished(table, found.verdict)
    entries, opponents = map(table.names, found.pair)
    same = np.flatnonzero(entries == opponents).tolist()
    if same:
        raise table.bad_cells(found.pair[1], same, "nobody plays against itself")
    used = list(filter(None, (*found.pair, found.verdict, found.tie, *found.wins)))
    roles = {role: _role(table, role, asked) for role in ("cluster", "tournament", "count")}
    roles = {role: column for role, column in roles.items() if column and column not in used}
    labels = {"entry": entries, "opponent": opponents}
    labels |= {role: table.names(roles[role]) for role in roles if role in LABELS}
    rows = np.arange(len(table))
    count = table.numbers(roles["count"]) if "count" in roles else np.ones(len(table))
    if found.wins:
        counts = _counts(table, found.wins)
        rows, which = np.nonzero(counts)
        value, count = np.array([1.0, 0.0, 0.5])[which], counts[rows, which]
    elif found.verdict:
        value = _verdicts(table, found)
    else:
        value = _wins(table, found.tie)
    parts = [f"battles from {listed(used)}"]
    parts += [f"{role}s from {quoted(column)}" for role, column in roles.items()]
    sentence = describe_parts(table, parts, [*used, *roles.values()])
    labels = {role: names[rows] for role, names in labels.items()}
    return _tidy(table, value, labels, count, rows, sentence)


def _read_matrix(table: Table, entries: Sequence[str]) -> Tidy:
    """Battles of a square matrix of counts."""
    wins = _counts(table, entries)
    rows, columns = np.nonzero(wins * (1 - np.eye(len(entries))))
    every = np.array(entries, object)
    labels = {"entry": every[rows], "opponent": every[columns]}
    sentence = "Read: numbers of battles that the row won against the column."
    if ((wins + wins.T)[rows, columns] == 100).all():
        sentence += " Every pair adds up to 100: these are taken as battles, not as percent."
    return _tidy(table, np.ones(len(rows)), labels, wins[rows, columns], rows, sentence)


def _tidy(
    table: Table, value: Any, labels: dict[str, Any], count: Any, rows: Any, sentence: str
) -> Tidy:
    texts = [f"{number:g}" for number in value]
    lines = [table.lines[row] for row in rows]
    args = (table.where, table.name, "battles", value, texts, labels, {"count": count}, lines)
    return Tidy(*args, sentence=sentence, notes=table.notes)


def _finished(table: Table, verdict: str) -> Table:
    """Table without the games that chess players mark as not finished."""
    rows = [row for row, cell in enumerate(table.columns[verdict]) if str(cell).strip() != "*"]
    note = f"dropped games that are not finished: {len(table) - len(rows)}"
    return table if len(rows) == len(table) else table.take(rows, note)


def _counts(table: Table, columns: Sequence[str]) -> Any:
    """Numbers of battles, (n_rows, n_columns), 0 in empty cells."""
    return np.column_stack([np.nan_to_num(table.numbers(name)) for name in columns])


def _wins(table: Table, tie: str) -> Any:
    """Result of each battle for its winner: 1, or 0.5 where a column says that it is a tie."""
    ties = np.nan_to_num(table.numbers(tie)) if tie else np.zeros(len(table))
    bad = np.flatnonzero(~np.isin(ties, (0, 1))).tolist()
    if bad:
        raise table.bad_cells(tie, bad, "1 (a tie), 0 or nothing is needed")
    return 1 - 0.5 * ties


def _verdicts(table: Table, found: Battles) -> Any:
    """Result of each battle for the first entry, by the verdict on it."""
    names = table.names(found.verdict, may_miss=True)
    verdicts = list(map(_plain, names))
    is_numbered = key(found.verdict) in _NUMBERED
    if is_numbered and "0" in verdicts and "2" not in verdicts:
        problem = "0 may be a tie, or either of the two"
        rows = [row for row, verdict in enumerate(verdicts) if verdict == "0"]
        raise table.bad_cells(found.verdict, rows, problem, "write names, or 1, 2 and tie")
    words = dict.fromkeys(BATTLES["tie"], 0.5)
    for column, side, won in zip(found.pair, found.sides, (1.0, 0.0), strict=True):
        words |= {key(column): won, side: won}
    words |= _CHOICES if is_numbered else _RESULTS
    rows_of = zip(*map(table.names, found.pair), names, verdicts, strict=True)
    values = [
        {opponent: 0.0, entry: 1.0}.get(name, words.get(verdict, np.nan))
        for entry, opponent, name, verdict in rows_of
    ]
    bad = np.flatnonzero(np.isnan(values)).tolist()
    if bad:
        problem = f"{', '.join(found.pair)}, tie or the name of one of them is needed"
        raise table.bad_cells(found.verdict, bad, problem)
    return np.array(values)


def _plain(name: str) -> str:
    """Verdict as it is looked up: 1.0 is 1, and [[Tie]] is tie."""
    number = parse_cell(name) if name[-1:].isdigit() else None
    if number is not None:
        return f"{number.value:g}"
    return key(name) if any(map(str.isalpha, name)) else name
