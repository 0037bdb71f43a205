"""Battles of two entries each: winner and loser, a verdict beside a pair, or a matrix of wins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.data.tables import NOTHING, Table, describe_parts, parse_cell
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import BATTLES, ROLES, key, split_words

_NUMBERED = ("preference", "preferred", "winner", "choice", "vote", "verdict")
_OUTCOMES = {"1": 1.0, "0": 0.0, "0.5": 0.5, "1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
_CHOICES = {"1": 1.0, "2": 0.0, "0": 0.5, "1.5": 0.5}


@dataclass(frozen=True)
class Battles:
    """Columns of battles: a pair, and what says who won."""

    first: str
    second: str
    sides: tuple[str, str] = ("", "")
    verdict: str = ""
    wins: tuple[str, ...] = ()  # of the first, of the second, and ties
    others: tuple[str, ...] = ()  # of a matrix of wins

    @property
    def used(self) -> list[str]:
        return list(filter(None, (self.first, self.second, self.verdict, *self.wins)))


def find_battles(table: Table, asked: Mapping[str, str]) -> Battles | None:
    """Columns of battles by their names; None where the table holds something else."""
    if asked.keys() & {"entry", "unit", "score", "task", "public", "private"}:
        return None
    winner, loser = (_role(table, role, asked) for role in ("winner", "loser"))
    if winner and loser:
        return Battles(winner, loser)
    pair = _find_pair(table)
    if pair is None:
        return _find_matrix(table)
    first, second, *sides = pair
    wins = tuple(filter(None, (_wins_of(table, side) for side in sides)))
    if len(wins) == 2:
        tie = _wins_of(table, "tie") or _role(table, "tie", asked)
        wins = (*wins, tie) if tie else wins
        return Battles(first, second, (sides[0], sides[1]), wins=wins)
    verdict = winner or next(
        (name for name in table.columns if key(name) in BATTLES["verdict"]), ""
    )
    if not verdict and key(first) == sides[0] == "a":
        return None  # models that are called a and b
    if not verdict:
        problem = (
            f"{quoted(first)} and {quoted(second)} look like pairs, and no column says who won"
        )
        raise table.error(problem, "winner", "name it with {option}")
    return Battles(first, second, (sides[0], sides[1]), verdict)


def _role(table: Table, role: str, asked: Mapping[str, str]) -> str:
    if role in asked:
        return table.find(asked[role], role)
    return next((name for name in table.columns if key(name) in ROLES[role]), "")


def _find_pair(table: Table) -> tuple[str, str, str, str] | None:
    """Columns of the two entries and what tells them apart, such as a and b."""
    texts = {key(name): name for name in table.columns if not table.parsed(name).is_numeric}
    for stem in (*BATTLES["stems"], *ROLES["entry"]):
        for sides in BATTLES["sides"]:
            one, other = sides.split(":")
            stemless = stem.strip("'")
            if {stemless + one, stemless + other} <= texts.keys():
                return texts[stemless + one], texts[stemless + other], one, other
    return None


def _wins_of(table: Table, side: str) -> str:
    """Column that counts the wins of one side: win1, winner_model_a, wins_left."""
    for name in table.columns:
        words = split_words(name)
        if key(name) in (f"win{side}", f"wins{side}"):
            return name
        if len(words) > 1 and words[0] in ("winner", "win", "wins") and words[-1] == side:
            return name
    return ""


def _find_matrix(table: Table) -> Battles | None:
    """Table whose rows have the names of its columns: wins of the row against the column."""
    if len(table) != len(table.columns) - 1:
        return None
    for first in table.columns:
        others = [name for name in table.columns if name != first]
        rows = [str(cell).strip() for cell in table.columns[first]]
        if len(others) > 1 and sorted(rows) == sorted(others):
            break
    else:
        return None
    diagonal = [parse_cell(table.columns[name][rows.index(name)]) for name in others]
    if any(
        cell is None or (cell.value not in (0, 0.5) and cell is not NOTHING) for cell in diagonal
    ):
        return None  # a confusion matrix, or correlations
    return Battles(first, "", others=tuple(others))


def read_battles(table: Table, found: Battles, asked: Mapping[str, str]) -> Tidy:
    """Entry, opponent and result (1 won, 0.5 tied, 0 lost) of each battle, with its count."""
    if found.others:
        return _read_matrix(table, found)
    if found.verdict:
        table = _finished(table, found.verdict)
    entries, opponents = table.names(found.first), table.names(found.second)
    same = np.flatnonzero(entries == opponents).tolist()
    if same:
        raise table.bad_cells(found.second, same, "nobody plays against itself")
    roles = {role: _role(table, role, asked) for role in ("cluster", "tournament", "count", "tie")}
    roles = {role: column for role, column in roles.items() if column and column not in found.used}
    if found.verdict or found.wins:
        roles.pop("tie", None)
    labels = {"entry": entries, "opponent": opponents}
    for role in ("cluster", "tournament"):
        if role in roles:
            labels[role] = table.names(roles[role])
    count = _counts(table, roles["count"]) if "count" in roles else np.ones(len(table))
    if found.wins:
        value, count, rows = _counted(table, found.wins)
    else:
        rows = np.arange(len(table))
        value = _values(table, found, roles.get("tie", ""), entries, opponents)
    parts = [f"battles from {listed(found.used)}"]
    parts += [f"{role}s from {quoted(column)}" for role, column in roles.items()]
    labels = {role: names[rows] for role, names in labels.items()}
    lines = [table.lines[row] for row in rows]
    sentence = describe_parts(table, parts, [*found.used, *roles.values()])
    return _tidy(table, value, labels, count, lines, sentence)


def _finished(table: Table, verdict: str) -> Table:
    """Table without the games that chess players mark as not finished."""
    rows = [row for row, cell in enumerate(table.columns[verdict]) if str(cell).strip() != "*"]
    number = len(table) - len(rows)
    note = f"dropped {number} game{'s' * (number > 1)} not finished"
    return table.take(rows, note) if number else table


def _tidy(table: Table, value: Any, labels: Any, count: Any, lines: Any, sentence: str) -> Tidy:
    texts = [f"{number:g}" for number in value]
    numbers = {"count": count}
    args = (table.where, table.name, "battles", value, texts, labels, numbers, lines)
    return Tidy(*args, sentence=sentence, notes=table.notes)


def _values(table: Table, found: Battles, tie: str, entries: Any, opponents: Any) -> Any:
    """Result of each battle for the first entry."""
    if not found.verdict:
        ties = np.nan_to_num(table.numbers(tie)) if tie else np.zeros(len(table))
        bad = np.flatnonzero(~np.isin(ties, (0, 1))).tolist()
        if bad:
            raise table.bad_cells(tie, bad, "1 (a tie), 0 or nothing is needed")
        return 1 - 0.5 * ties
    words = dict.fromkeys(BATTLES["tie"], 0.5)
    for column, side, won in zip((found.first, found.second), found.sides, (1.0, 0.0), strict=True):
        words |= {key(column): won, side: won}
    words |= _CHOICES if key(found.verdict) in _NUMBERED else _OUTCOMES
    cells = list(map(_plain, table.columns[found.verdict]))
    if key(found.verdict) in _NUMBERED and "0" in cells and "2" not in cells:
        problem = "0 may be a tie, or either of the two"
        rows = [row for row, cell in enumerate(cells) if cell == "0"]
        raise table.bad_cells(found.verdict, rows, problem, "write names, or 1, 2 and tie")
    values = [
        {opponent: 0.0, entry: 1.0}.get(cell, words.get(cell, words.get(_name(cell), np.nan)))
        for cell, entry, opponent in zip(cells, entries, opponents, strict=True)
    ]
    bad = np.flatnonzero(np.isnan(values)).tolist()
    if bad:
        problem = f"{found.first}, {found.second}, tie or the name of one of them is needed"
        raise table.bad_cells(found.verdict, bad, problem)
    return np.array(values)


def _name(cell: str) -> str:
    """Key of a word; numbers have none, for -1 is not 1."""
    return "" if any(sign.isdigit() for sign in cell) and parse_cell(cell) else key(cell)


def _plain(cell: Any) -> str:
    """Text of a cell; 1.0 is 1 and .5 is 0.5."""
    text = str(cell).strip()
    number = parse_cell(text) if text[-1:].isdigit() else None
    return text if number is None else f"{number.value:g}"


def _counted(table: Table, wins: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """Results, counts and rows of battles that are given by numbers of wins and ties."""
    counts = np.array([_counts(table, column, may_miss=True) for column in wins])
    results = np.array([1.0, 0.0, 0.5])[: len(wins)]
    which, rows = np.nonzero(counts)
    order = np.argsort(rows, kind="stable")
    which, rows = which[order], rows[order]
    return results[which], counts[which, rows], rows


def _counts(table: Table, column: str, may_miss: bool = False) -> Any:
    """Whole numbers of battles in a column; 0 where an empty cell may stand."""
    counts = table.numbers(column)
    if may_miss:
        counts = np.nan_to_num(counts)
    bad = np.flatnonzero(~((counts >= 0) & (counts % 1 == 0))).tolist()
    if bad:
        raise table.bad_cells(column, bad, "a number of battles is needed")
    return counts


def _read_matrix(table: Table, found: Battles) -> Tidy:
    """Battles of a square matrix of counts, or of shares that add up to one."""
    names = [str(cell).strip() for cell in table.columns[found.first]]
    wins = np.array([table.numbers(name) for name in names]).T
    are_shares = np.nanmax(wins) <= 1 and bool(np.any(np.nan_to_num(wins) % 1))
    rows, columns = np.nonzero(~np.isnan(wins) & ~np.eye(len(names), dtype=bool))
    if are_shares:
        total = wins + wins.T
        wrong = np.argwhere(~np.isnan(total) & (np.abs(total - 1) > 0.011))
        if wrong.size:
            row, column = (names[i] for i in wrong[0])
            problem = f"shares of {quoted(row)} and {quoted(column)} do not add up to 1"
            raise InputError(problem, where=table.where)
        upper = (rows < columns) | np.isnan(wins[columns, rows])
        rows, columns = rows[upper], columns[upper]
    else:
        for name in names:
            _counts(table, name, may_miss=True)
        played = wins[rows, columns] > 0
        rows, columns = rows[played], columns[played]
    value = wins[rows, columns] if are_shares else np.ones(len(rows))
    count = np.ones(len(rows)) if are_shares else wins[rows, columns]
    every = np.array(names, object)
    labels = {"entry": every[rows], "opponent": every[columns]}
    what = "shares" if are_shares else "numbers"
    sentence = f"Read: {what} of battles that the row won against the column."
    if not are_shares and (wins + wins.T)[rows, columns].tolist() == [100.0] * len(rows):
        sentence += " Every pair adds up to 100: these are taken as battles, not as percent."
    return _tidy(table, value, labels, count, [table.lines[row] for row in rows], sentence)
