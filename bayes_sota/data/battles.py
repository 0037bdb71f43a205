"""Battles of two entries each: winner and loser, a verdict beside a pair, or a matrix of wins.

Whatever the table looks like, each row becomes numbers of battles that its first entry won, that
its second entry won, and that were tied.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayes_sota.core.errors import listed, quoted
from bayes_sota.core.types import FloatArray
from bayes_sota.data.tables import Table, describe_parts, parse_cell
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import BATTLES, LABELS, ROLES, key

_ROLES = ("winner", "loser", "tie", "count", "cluster", "tournament")
_FIRST, _SECOND, _TIE, _UNFINISHED = range(4)
_NUMBERED = ("preference", "preferred", "winner", "choice", "vote", "verdict")
_CHOICES = {"1": _FIRST, "2": _SECOND, "0": _TIE, "1.5": _TIE}
_RESULTS = {"1": _FIRST, "0": _SECOND, "0.5": _TIE, "*": _UNFINISHED}
_RESULTS |= {"1-0": _FIRST, "0-1": _SECOND, "1/2-1/2": _TIE}


def read_battles(table: Table, asked: Mapping[str, str]) -> Tidy | None:
    """Entry, opponent, result (1 won, 0.5 tied, 0 lost) and count of battles; None of scores."""
    if asked.keys() & {"entry", "unit", "score", "task", "public", "private"}:
        return None
    named = {role: _named(table, ROLES[role]) for role in _ROLES}
    named |= {role: table.find(asked[role], role) for role in _ROLES if role in asked}
    roles = {role: column for role, column in named.items() if column}
    found = _of_winners(table, roles) or _of_pairs(table, roles)
    if not found:
        return _of_matrix(table)
    counts, used = found
    if "count" in roles:
        counts, used = counts * table.numbers(roles["count"])[:, None], [*used, roles["count"]]
    entries, opponents = map(table.names, used[:2])
    same = np.flatnonzero(entries == opponents).tolist()
    if same:
        raise table.bad_cells(used[1], same, "nobody plays against itself")
    beside = {role: name for role, name in roles.items() if role in LABELS and name not in used}
    labels = {"entry": entries, "opponent": opponents}
    labels |= {role: table.names(column) for role, column in beside.items()}
    parts = [f"battles from {listed(used)}"]
    parts += [f"{role}s from {quoted(column)}" for role, column in beside.items()]
    rows, which = np.nonzero(counts)
    value = np.array([1.0, 0.0, 0.5])[which]
    return Tidy(
        where=table.where,
        name=table.name,
        layout="battles",
        value=value,
        texts=[f"{points:g}" for points in value],
        labels={role: names[rows] for role, names in labels.items()},
        numbers={"count": counts[rows, which]},
        lines=[table.lines[row] for row in rows],
        sentence=describe_parts(table, parts, [*used, *beside.values()]),
        notes=table.notes,
    )


def _named(table: Table, words: Iterable[str]) -> str:
    """First column that is called so."""
    return next((name for name in table.columns if key(name) in words), "")


def _numbers(table: Table, columns: Iterable[str]) -> FloatArray:
    """Numbers of columns, (n_rows, n_columns), 0 in empty cells and of no column."""
    every = [table.numbers(name) if name else np.zeros(len(table)) for name in columns]
    return np.nan_to_num(np.column_stack(every))


def _of_winners(table: Table, roles: Mapping[str, str]) -> tuple[FloatArray, list[str]] | None:
    """Numbers of battles of a winner and a loser, (n_rows, 3), and the columns that were read."""
    if not {"winner", "loser"} <= roles.keys():
        return None
    used = [roles[role] for role in ("winner", "loser", "tie") if role in roles]
    tie = _numbers(table, [roles.get("tie", "")])
    return np.hstack([1 - tie, 0 * tie, tie]), used


def _of_pairs(table: Table, roles: dict[str, str]) -> tuple[FloatArray, list[str]] | None:
    """Numbers of battles of a pair, of which columns or a verdict say who won."""
    texts = {key(name): name for name in table.columns if not table.parsed(name).is_numeric}
    stems = [stem.strip("'") for stem in (*BATTLES["stems"], *ROLES["entry"])]
    ends = [sides.split(":") for sides in BATTLES["sides"]]
    both = ((stem, end) for stem in stems for end in ends)
    found = [(s, end) for s, end in both if texts.keys() >= {s + end[0], s + end[1]}]
    if not found:
        return None
    stem, sides = found[0]
    pair = [texts[stem + side] for side in sides]
    counts = [name for name in table.columns if key(name).startswith("win")]
    wins = [[name for name in counts if key(name).endswith(side)][:1] for side in (*sides, "tie")]
    first, second, tie = (name[0] if name else "" for name in wins)
    if first and second:
        roles.pop("count", None)
        used = [first, second, tie or roles.get("tie", "")]
        return _numbers(table, used), [*pair, *filter(None, used)]
    verdict = roles.get("winner") or _named(table, BATTLES["verdict"])
    if verdict:
        return np.eye(4)[_verdicts(table, pair, sides, verdict), :3], [*pair, verdict]
    if stem or sides[0] != "a":  # models may be called a and b
        raise table.error(f"{listed(pair)} look like pairs, and no column says who won", "winner")
    return None


def _verdicts(table: Table, pair: list[str], sides: list[str], verdict: str) -> list[int]:
    """Result of each battle, by the verdict on it."""
    names = table.names(verdict, may_miss=True)
    plain = list(map(_plain, names))
    is_numbered = key(verdict) in _NUMBERED
    if is_numbered and "0" in plain and "2" not in plain:
        rows = [row for row, word in enumerate(plain) if word == "0"]
        problem = "0 may be a tie, or either of the two"
        raise table.bad_cells(verdict, rows, problem, "write names, or 1, 2 and tie")
    words = dict.fromkeys(BATTLES["tie"], _TIE)
    words |= {word: of for of in (_FIRST, _SECOND) for word in (key(pair[of]), sides[of])}
    words |= _CHOICES if is_numbered else _RESULTS
    rows_of = zip(*map(table.names, pair), names, plain, strict=True)
    results = [
        {opponent: _SECOND, entry: _FIRST}.get(name, words.get(word, -1))
        for entry, opponent, name, word in rows_of
    ]
    bad = [row for row, result in enumerate(results) if result < 0]
    if bad:
        problem = f"{', '.join(pair)}, tie or the name of one of them is needed"
        raise table.bad_cells(verdict, bad, problem)
    return results


def _plain(name: str) -> str:
    """Verdict as it is looked up: 1.0 is 1, and [[Tie]] is tie."""
    number = parse_cell(name) if name[-1:].isdigit() else None
    if number is not None:
        return f"{number.value:g}"
    return key(name) if any(map(str.isalpha, name)) else name


def _of_matrix(table: Table) -> Tidy | None:
    """Battles of a square matrix, whose rows won against its columns."""
    header = set(table.columns)
    squares = table.columns.items() if len(header) == len(table) + 1 > 2 else ()
    named = {first: [str(cell).strip() for cell in cells] for first, cells in squares}
    found = [entries for first, entries in named.items() if {first, *entries} == header]
    if not found:
        return None
    entries = found[0]
    own = [table.parsed(name).value[row] for row, name in enumerate(entries)]
    if not np.isin(np.nan_to_num(own), (0, 0.5)).all():
        return None  # a confusion matrix, or correlations
    wins = _numbers(table, entries) * (1 - np.eye(len(entries)))
    rows, columns = np.nonzero(wins)
    long: dict[str, list[Any]] = {
        "winner": [entries[row] for row in rows],
        "loser": [entries[column] for column in columns],
        "count": wins[rows, columns].tolist(),
    }
    lines = [table.lines[row] for row in rows]
    tidy = read_battles(replace(table, columns=long, lines=lines), {})
    sentence = "Read: numbers of battles that the row won against the column."
    if np.isin(wins + wins.T, (0, 100)).all():
        sentence += " Every pair adds up to 100: these are taken as battles, not as percent."
    return None if tidy is None else replace(tidy, sentence=sentence)
