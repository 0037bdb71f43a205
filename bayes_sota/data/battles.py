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
from bayes_sota.data.tables import Table, describe_parts
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import BATTLES, ROLES, key

_BESIDE = ("cluster", "tournament")
_ROLES = ("winner", "loser", "tie", "count", *_BESIDE)
_RESULTS = ("first", "second", "tie", "unfinished")  # of a battle, by their places


def read_battles(table: Table, asked: Mapping[str, str]) -> Tidy | None:
    """Entry, opponent, result (1 won, 0.5 tied, 0 lost) and count of battles; None of scores."""
    if asked.keys() & {"entry", "unit", "score", "task", "public", "private"}:
        return None
    roles = {role: _named(table, ROLES[role]) for role in _ROLES}
    roles |= {role: table.find(asked[role], role) for role in _ROLES if role in asked}
    found = _count_results(table, roles)
    if found is None:
        return _of_matrix(table)
    counts, used = found
    if roles["count"]:
        counts, used = counts * table.numbers(roles["count"])[:, None], [*used, roles["count"]]
    labels = dict(zip(("entry", "opponent"), map(table.names, used), strict=False))
    same = np.flatnonzero(labels["entry"] == labels["opponent"]).tolist()
    if same:
        raise table.bad_cells(used[1], same, "nobody plays against itself")
    beside = {role: roles[role] for role in _BESIDE if roles[role] not in ("", *used)}
    labels |= {role: table.names(column) for role, column in beside.items()}
    parts = [f"battles from {listed(used)}"]
    parts += [f"{role}s from {quoted(column)}" for role, column in beside.items()]
    rows, results = np.nonzero(counts)
    value = np.array([1.0, 0.0, 0.5])[results]
    return Tidy(
        layout="battles",
        value=value,
        texts=list(map(str, value)),
        labels={role: names[rows] for role, names in labels.items()},
        numbers={"count": counts[rows, results]},
        lines=[table.lines[row] for row in rows],
        sentence=describe_parts(table, parts, [*used, *beside.values()]),
        **table.about,
    )


def _named(table: Table, words: Iterable[str]) -> str:
    """First column that is called so, or nothing."""
    return next((name for name in table.columns if key(name) in words), "")


def _numbers(table: Table, columns: Iterable[str]) -> FloatArray:
    """Numbers of columns, (n_rows, n_columns), 0 in empty cells and of no column."""
    every = [table.numbers(name) if name else np.zeros(len(table)) for name in columns]
    return np.nan_to_num(np.column_stack(every))


def _count_results(table: Table, roles: dict[str, str]) -> tuple[FloatArray, list[str]] | None:
    """Numbers of battles that the first won, the second won, and that were tied, (n_rows, 3).

    With them the columns that were read, the two entries first.
    """
    pair = [roles["winner"], roles["loser"]]
    if all(pair):
        ties = _numbers(table, [roles["tie"]])
        used = [name for name in (*pair, roles["tie"]) if name]
        return np.hstack([1 - ties, 0 * ties, ties]), used
    texts = {key(name): name for name in table.columns if not table.parsed(name).is_numeric}
    stems = [stem.strip("'") for stem in (*BATTLES["stems"], *ROLES["entry"])]
    both = ((stem, sides.split(":")) for stem in stems for sides in BATTLES["sides"])
    found = [(stem, sides) for stem, sides in both if texts.keys() >= {stem + of for of in sides}]
    if not found:
        return None
    stem, sides = found[0]
    pair = [texts[stem + side] for side in sides]
    wins = [name for name in table.columns if key(name).startswith("win")]
    first, second, tie = (
        next((name for name in wins if key(name).endswith(of)), "") for of in (*sides, "tie")
    )
    if first and second:
        roles["count"] = ""  # of battles in all
        wins = [first, second, tie or roles["tie"]]
        return _numbers(table, wins), [*pair, *filter(None, wins)]
    verdict = roles["winner"] or _named(table, BATTLES["verdict"])
    if verdict:
        return np.eye(4)[_results(table, pair, sides, verdict), :3], [*pair, verdict]
    if stem or sides[0] != "a":  # models may be called a and b
        raise table.error(f"{listed(pair)} look like pairs, and no column says who won", "winner")
    return None


def _results(table: Table, pair: list[str], sides: list[str], verdict: str) -> Any:
    """Place of each battle's result, by the verdict on it."""
    names = table.names(verdict)
    plain = [
        key(name) if any(map(str.isalpha, name)) else name.removesuffix(".0") for name in names
    ]
    words = {word: place for place, of in enumerate(_RESULTS) for word in BATTLES[of]}
    words |= {word: place for place in (0, 1) for word in (key(pair[place]), sides[place])}
    if key(verdict) in BATTLES["numbered"]:  # 0 may be a tie, or one of the two
        words |= {"2": 1, "0": 2 if "2" in plain else -1}
    first, second = (table.names(column) == names for column in pair)
    results = np.select([first, second], [0, 1], [words.get(word, -1) for word in plain])
    bad = np.flatnonzero(results < 0).tolist()
    if bad:
        problem = f"{', '.join(pair)}, tie or the name of one of them is needed"
        raise table.bad_cells(verdict, bad, problem)
    return results


def _of_matrix(table: Table) -> Tidy | None:
    """Battles of a square matrix, whose rows won against its columns."""
    first = table.first_text()
    entries = [str(cell).strip() for cell in table.columns[first]]
    if len(entries) < 2 or sorted(entries) != sorted(table.columns.keys() - {first}):
        return None
    wins = _numbers(table, entries)
    if not np.isin(np.diagonal(wins), (0, 0.5)).all():
        return None  # a confusion matrix, or correlations
    rows, columns = np.nonzero(wins * (1 - np.eye(len(entries))))
    names = np.array(entries, object)
    cells = (names[rows], names[columns], wins[rows, columns])
    long = {role: of.tolist() for role, of in zip(("winner", "loser", "count"), cells, strict=True)}
    tidy = read_battles(replace(table, columns=long, lines=[table.lines[i] for i in rows]), {})
    sentence = "Read: numbers of battles, not percent, that the row won against the column."
    return None if tidy is None else replace(tidy, sentence=sentence)
