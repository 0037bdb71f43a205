"""From a source to one row per score."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.text import nearest
from bayes_sota.data import logs
from bayes_sota.data.battles import read_battles
from bayes_sota.data.layouts import Layout, find_layout
from bayes_sota.data.opening import file_names, read_all
from bayes_sota.data.tables import Table
from bayes_sota.data.tidy import Tidy, compare_classes, joined, melt
from bayes_sota.data.words import COLUMNS, is_loss, is_summary_row

type Direction = Literal["lower", "higher"] | None

_NAMING = ("entry", "unit", "task", "fold", "metric")  # roles of what may be summed up
_MOST_METRICS = 100  # rows of a table, if they are metrics
_MOST_IN_A_ROW = 9  # whole numbers one after the other that may be scores
_FILTERED = ("entry", "task", "metric", "unit", "opponent")


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
        Columns, entries, tasks or metrics that do not count.
    direction : {"lower", "higher"}, optional
        Which scores are better; needed where a name says that scores are losses.
    **roles : str
        Column of a role: ``entry="team"``, ``score="acc"``. It wins over every name.

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
    for role in roles.keys() - set(COLUMNS):
        problem = f"{role} is no role; the roles are {', '.join(COLUMNS)}{nearest(role, COLUMNS)}"
        raise InputError(problem)
    if "group" in roles:
        roles["cluster"] = roles.pop("group")
    tables = read_all(source)
    columns = {name for name in leave_out if all(name in table.columns for table in tables)}
    parts = list[Tidy]()
    for table, name in zip(tables, file_names(tables), strict=True):
        kept = {title: of for title, of in table.columns.items() if title not in columns}
        table = replace(table, name=name, columns=kept)
        parts.append(_scores_of(table, use or [], direction, roles))
    tidy = _without(joined(parts), [name for name in leave_out if name not in columns])
    _check_one_metric(tidy)
    lower = tidy.layout != "battles" and _is_lower_better(tidy, direction)
    return replace(tidy, asked=frozenset(roles), lower_is_better=lower)


def _scores_of(
    table: Table, use: Sequence[str], direction: Direction, roles: Mapping[str, str]
) -> Tidy:
    """Scores of one table."""
    battles = None if use else read_battles(table, roles)
    if battles is not None:
        return battles
    is_competition = logs.is_kaggle(table)
    if is_competition:
        table = logs.clean(table, roles.get("score", "score"), direction == "lower")
    layout = find_layout(table, roles, use)
    table, layout = compare_classes(_without_summaries(table, layout), layout)
    tidy = melt(table, layout)
    if not use:
        _check_one_scale(tidy)
    return replace(tidy, is_competition=is_competition)


def _without(tidy: Tidy, names: Sequence[str]) -> Tidy:
    """Scores without the entries, tasks, metrics and units of some names."""
    there = [tidy.labels[role] for role in _FILTERED if role in tidy.labels]
    known = {label for labels in there for label in labels} if names else set()
    for name in names:
        if name not in known:
            problem = f"nothing is called {quoted(name)}, so it cannot be left out"
            raise tidy.error(problem + nearest(name, known))
    left_out = [np.isin(labels, names) for labels in there]
    return tidy.take(np.flatnonzero(~np.any(left_out, axis=0))) if names else tidy


def _without_summaries(table: Table, layout: Layout) -> Table:
    """Table without rows whose whole name is a word like "average"."""
    dropped: dict[int, str] = {}
    for role in [role for role in _NAMING if role in layout.roles]:
        names = list(map(str, table.columns[layout.roles[role]]))
        summaries = {name for name in set(names) if is_summary_row(name, role == "entry")}
        dropped |= {row: name for row, name in enumerate(names) if name in summaries}
    if not dropped:
        return table
    named = list(dict.fromkeys(dropped.values()))
    note = f"dropped summary row{'s' * (len(named) > 1)} {listed(named)}"
    return table.take([row for row in range(len(table)) if row not in dropped], note)


def _check_one_metric(tidy: Tidy) -> None:
    """No entry has scores of several metrics for the same unit."""
    metrics = sorted(set(tidy.labels.get("metric", ())))
    others = zip(*(of for role, of in tidy.labels.items() if role != "metric"), strict=True)
    if len(metrics) > 1 and len(set(others)) < len(tidy):
        problem = f"scores are of several metrics: {listed(metrics)}"
        raise tidy.error(problem, "leave_out", "leave out all but one with {option}")


def _check_one_scale(tidy: Tidy) -> None:
    """No columns are from 0 to 1, or 100, while others are twice that in the median, or count."""
    columns = tidy.value.reshape(len(tidy.titles), -1)
    known = [cells for of in columns if (cells := np.sort(of[~np.isnan(of)])).size]
    counts = {cells.size > _MOST_IN_A_ROW and bool((np.diff(cells) == 1).all()) for cells in known}
    least, middle, largest = np.array([(of[0], np.median(of), of[-1]) for of in known]).T
    shares = [(least >= 0) & (largest <= end) & (middle.max() > 2 * end) for end in (1, 100)]
    if np.any(shares) or len(counts) > 1:
        problem = f"columns of numbers are on different scales: {listed(tidy.titles)}"
        raise tidy.error(problem, "use", "choose those that hold scores with {option}")


def _is_lower_better(tidy: Tidy, direction: Direction) -> bool:
    """Direction that was asked for or that the table says; no name may speak against it.

    Raises
    ------
    InputError
        No direction was given, and a name says that lower is better.
    """
    if direction not in (None, "lower", "higher"):
        raise tidy.error(f"got {direction!r}", "direction", "give {option}")
    told = {word.lower() for word in tidy.labels.get("direction", ())} - {""}
    if direction or told:  # by the table, of several tasks each for itself
        return direction == "lower" if direction else told <= {"false", "0"}
    is_wide = tidy.layout == "wide"
    are_answers = is_wide and np.isin(np.nan_to_num(tidy.value), (-1, 0, 1)).all()
    names = [] if are_answers else list(tidy.titles)
    for role in ("metric", "task", *["unit"] * is_wide):
        known = tidy.names(role)[0] if role in tidy.labels else []
        names += known if len(known) <= _MOST_METRICS else []
    names += [note for note in tidy.notes if note.startswith("dropped line")]  # a title, in words
    losses = list(dict.fromkeys(name for name in names if is_loss(name)))
    if losses:
        problem = f"{listed(losses)} sound{'s' * (len(losses) == 1)} like losses, lowest is best"
        others = ", which is then true of all, or leave them out" * (len(losses) < len(names))
        raise tidy.error(problem, "direction", "give {option}" + others)
    return False
