"""From a source to one row per score; or to battles of two entries each.

Battles have a winner and a loser, or a verdict or numbers of wins beside a pair; each row becomes
numbers of battles that its first entry won, that its second entry won, and that were tied.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import listed, quoted
from bayes_sota.core.text import nearest
from bayes_sota.core.types import FloatArray
from bayes_sota.data import logs, words
from bayes_sota.data.layouts import Layout, find_layout
from bayes_sota.data.opening import read_all
from bayes_sota.data.tables import Table, describe_parts
from bayes_sota.data.tidy import Tidy, joined, melt
from bayes_sota.data.words import BATTLES, COLUMNS, ROLES, key

type Direction = Literal["lower", "higher"] | None

_NAMING = ("entry", "unit", "task", "fold", "metric")  # roles of what may be summed up
_MOST_METRICS = 100  # rows of a table, if they are metrics
_MOST_IN_A_ROW = 9  # whole numbers one after the other that may be scores
_FILTERED = ("entry", "task", "metric", "unit", "opponent")
_BESIDE = ("cluster", "tournament")
_OF_BATTLES = ("winner", "loser", "tie", "count", *_BESIDE)
_RESULTS = ("first", "second", "tie", "unfinished")  # of a battle, by their places


def read_tidy(
    source: Any,
    use: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **roles: str,
) -> Tidy:
    """Scores of any table, one row each.

    Parameters
    ----------
    source : path, data frame or Table
    use : list of str, optional
        Columns that hold scores; the others do not compete.
    leave_out : list of str
        Columns, entries, tasks, metrics or items to ignore.
    direction : {"lower", "higher"}, optional
        Which scores are better; needed where a name says that scores are losses.
    **roles : str
        Column of a role: ``entry="team"``, ``score="acc"``. It wins over every name. For logs
        ``score`` is the metric.

    Raises
    ------
    InputError
        A table that can be read in several ways, or a cell that is wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"model": ["a", "b"], "acc": [0.9, 0.8], "size": [1, 2]})
    >>> read_tidy(frame).sentence
    'Read: entries from "model", scores from "acc"; not used: "size".'
    """
    for role in roles:
        check_choice("the role of a column", role, COLUMNS)
    if "group" in roles:
        roles["cluster"] = roles.pop("group")
    tables = read_all(source, roles.get("score"))
    if tables[0].origin:
        roles.pop("score", None)  # the metric of a log
    columns = {name for name in leave_out if all(name in table.columns for table in tables)}
    parts = list[Tidy]()
    for table in tables:
        kept = {title: of for title, of in table.columns.items() if title not in columns}
        parts.append(_scores_of(replace(table, columns=kept), use or [], direction, roles))
    tidy = _without(joined(parts), [name for name in leave_out if name not in columns])
    _check_one_metric(tidy)
    are_losses = tidy.layout != "battles" and _are_losses(tidy, direction)
    return replace(tidy, asked=frozenset(roles), are_losses=are_losses)


def _scores_of(
    table: Table, use: Sequence[str], direction: Direction, roles: Mapping[str, str]
) -> Tidy:
    if not use and (battles := _battles_of(table, roles)) is not None:
        return battles
    is_competition = {"teamid", "teamname", "score"} <= set(map(key, table.columns))  # Kaggle
    if is_competition:
        table = logs.clean(table, roles.get("score", "score"), direction == "lower")
    layout = find_layout(table, roles, use)
    tidy = melt(_without_summaries(table, layout), layout)
    if not use:
        _check_one_scale(tidy)
    return replace(tidy, is_competition=is_competition)


def _without(tidy: Tidy, names: Sequence[str]) -> Tidy:
    there = [tidy.labels[role] for role in _FILTERED if role in tidy.labels]
    known = {label for labels in there for label in labels} if names else set()
    gone = "".join(note for note in tidy.notes if note.startswith("left out"))  # tasks of logs
    for name in names:
        if name not in known and quoted(name) not in gone:
            problem = f"nothing is called {quoted(name)}, so it cannot be left out"
            raise tidy.error(problem + nearest(name, known))
    left_out = [np.isin(labels, names) for labels in there]
    return tidy.take(np.flatnonzero(~np.any(left_out, axis=0))) if names else tidy


def _without_summaries(table: Table, layout: Layout) -> Table:
    """Table without summary rows, which are called "average" or the like."""
    dropped: dict[int, str] = {}
    for role in [role for role in _NAMING if role in layout.roles]:
        names = list(map(str, table.columns[layout.roles[role]]))
        summaries = {name for name in set(names) if words.is_summary_row(name, role == "entry")}
        if role == "unit":  # the score of all items
            scores = {name for name in set(names) if words.is_role_word(name, "score")}
            summaries |= scores if scores < set(names) else set()
        if summaries:  # alone, "n" may be an item, and "SD" an entry
            beside = words.SETS["beside_summaries"]
            summaries |= {of for of in names if key(of) in beside or words.is_statistic(of)}
        dropped |= {row: name for row, name in enumerate(names) if name in summaries}
    if not dropped:
        return table
    named = list(dict.fromkeys(dropped.values()))
    note = f"dropped summary row{'s' * (len(named) > 1)} {listed(named)}"
    return table.take([row for row in range(len(table)) if row not in dropped], note)


def _check_one_metric(tidy: Tidy) -> None:
    metrics = sorted(set(tidy.labels.get("metric", ())))
    if len(metrics) > 1 and tidy.count(*(tidy.labels.keys() - {"metric"})) < len(tidy):
        problem = f"scores are of several metrics: {listed(metrics)}"
        raise tidy.error(problem, "leave_out", "leave out all but one with {option}")


def _check_one_scale(tidy: Tidy) -> None:
    """Raise ``InputError`` if columns differ in scale: shares or percent beside larger numbers."""
    columns = tidy.value.reshape(len(tidy.titles), -1)
    known = [cells for of in columns if (cells := np.sort(of[~np.isnan(of)])).size]
    counts = {cells.size > _MOST_IN_A_ROW and bool((np.diff(cells) == 1).all()) for cells in known}
    least, middle, largest = np.array([(of[0], np.median(of), of[-1]) for of in known]).T
    shares = [(least >= 0) & (largest <= end) & (middle.max() > 2 * end) for end in (1, 100)]
    if np.any(shares) or len(counts) > 1:
        problem = f"columns of numbers are on different scales: {listed(tidy.titles)}"
        raise tidy.error(problem, "use", "choose those that hold scores with {option}")


def _are_losses(tidy: Tidy, direction: Direction) -> bool | None:
    """Direction that the user or the table gives, None if by task; else no name may be a loss."""
    if direction not in (None, "lower", "higher"):
        raise tidy.error(f"got {direction!r}", "direction", "give {option}")
    told = {word.lower() in ("false", "0") for word in tidy.labels.get("direction", ()) if word}
    if len(told) > 1:
        return None
    if direction or told:
        return direction == "lower" if direction else told.pop()
    is_wide = tidy.layout == "wide"
    are_answers = is_wide and np.isin(np.nan_to_num(tidy.value), (-1, 0, 1)).all()
    names = [] if are_answers else list(tidy.titles)
    for role in ("metric", "task", *["unit"] * is_wide):
        known = tidy.names(role)[0] if role in tidy.labels else []
        names += known if len(known) <= _MOST_METRICS else []
    names += [note for note in tidy.notes if note.startswith("dropped line")]  # a title, in words
    losses = list(dict.fromkeys(name for name in names if words.is_loss(name)))
    if losses:
        problem = f"{listed(losses)} look{'s' * (len(losses) == 1)} like losses (lower is better)"
        others = "; the direction applies to all metrics" * (len(losses) < len(names))
        raise tidy.error(problem, "direction", "give {option}" + others)
    return False


def _battles_of(table: Table, asked: Mapping[str, str]) -> Tidy | None:
    """Battles, with the share that the entry won against its opponent; None of scores."""
    if asked.keys() & {"entry", "unit", "score", "task", "public", "private"}:
        return None
    roles = {role: _named(table, ROLES[role]) for role in _OF_BATTLES}
    roles |= {role: table.find(asked[role], role) for role in _OF_BATTLES if role in asked}
    found = _count_results(table, roles)
    if found is None:
        _refuse_matrix(table)
        return None
    counts, used = found
    if roles["count"]:
        counts, used = counts * table.numbers(roles["count"])[:, None], [*used, roles["count"]]
    labels = dict(zip(("entry", "opponent"), map(table.names, used), strict=False))
    same = np.flatnonzero(labels["entry"] == labels["opponent"]).tolist()
    if same:
        raise table.bad_cells(used[1], same, "a player cannot play against itself")
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


def _refuse_matrix(table: Table) -> None:
    first = table.first_text()
    entries = sorted(str(cell).strip() for cell in table.columns[first])
    if entries == sorted(table.columns.keys() - {first}) and len(entries) > 1:
        fix = "write a row for each pair, with the columns winner, loser and count"
        raise table.error("is a square matrix whose rows and columns have the same names", fix=fix)
