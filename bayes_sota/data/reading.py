"""From a source to one row per score."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.text import nearest
from bayes_sota.data import logs
from bayes_sota.data.battles import read_battles
from bayes_sota.data.layouts import Layout, find_layout, scale_of
from bayes_sota.data.opening import read_table
from bayes_sota.data.tables import Table
from bayes_sota.data.tidy import Tidy, melt
from bayes_sota.data.words import COLUMNS, is_loss, is_summary_row

type Direction = Literal["lower", "higher"] | None

_NAMING = frozenset(("entry", "unit", "task", "fold", "metric"))  # roles of what may be summed up
_MOST_METRICS = 100  # rows of a table, if they are metrics
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
    >>> print(read_tidy(pd.DataFrame({"model": ["a", "b"], "acc": [0.9, 0.8], "size": [1, 2]})))
    Read: entries from "model", scores from "acc"; not used: "size".
    """
    for role in roles.keys() - set(COLUMNS):
        problem = f"{role} is no role; the roles are {', '.join(COLUMNS)}{nearest(role, COLUMNS)}"
        raise InputError(problem)
    table = read_table(source)
    if "group" in roles:
        roles["cluster"] = roles.pop("group")
    names = [name for name in leave_out if name not in table.columns]
    kept = {name: cells for name, cells in table.columns.items() if name not in leave_out}
    table = replace(table, columns=kept)
    found = None if use else read_battles(table, roles)
    if found is not None:
        return leave_out_names(found, names)
    is_competition = logs.is_kaggle(table)
    if is_competition:
        table = logs.clean(table, roles.get("score", "score"), direction == "lower")
    if logs.is_search(table) and not use:
        table, layout = logs.find_splits(table, roles)
    else:
        layout = find_layout(table, roles, use or [])
    table = _without_summaries(table, layout)
    tidy = leave_out_names(melt(table, layout), names)
    _check_one_metric(tidy)
    marked = replace(tidy, asked=frozenset(roles), is_competition=is_competition)
    return _directed(marked, layout, direction)


def leave_out_names(tidy: Tidy, names: Sequence[str]) -> Tidy:
    """Scores without the entries, tasks, metrics and units of some names."""
    there = {role: labels for role, labels in tidy.labels.items() if role in _FILTERED}
    for name in names:
        known = {label for labels in there.values() for label in labels}
        if name not in known:
            problem = f"nothing is called {quoted(name)}, so it cannot be left out"
            raise InputError(problem + nearest(name, known), where=tidy.where)
    kept = ~np.any([np.isin(labels, list(names)) for labels in there.values()], axis=0)
    return tidy if kept.all() else tidy.take(np.flatnonzero(kept))


def _check_one_metric(tidy: Tidy) -> None:
    """Scores of an entry for the same unit are of one metric."""
    metrics = set(tidy.labels.get("metric", ()))
    if tidy.layout != "long" or len(metrics) < 2:
        return
    codes = tidy.names("metric")[1]
    scales = {scale_of(tidy.value[codes == code]) for code in range(len(metrics))}
    others = [names for role, names in tidy.labels.items() if role != "metric"]
    repeat = len(set(zip(*others, strict=True))) < len(set(zip(*tidy.labels.values(), strict=True)))
    if (tidy.unit == "metric" and len(scales) > 1) or (tidy.unit != "metric" and repeat):
        problem = f"scores are of several metrics: {listed(sorted(metrics))}"
        fix = "leave out all but one with {option}"
        raise InputError(problem, where=tidy.where, parameter="leave_out", fix=fix)


def _without_summaries(table: Table, layout: Layout) -> Table:
    """Table without rows whose whole name is a word like "average"."""
    dropped: dict[int, str] = {}
    for role in _NAMING.intersection(layout.roles):
        names = list(map(str, table.columns[layout.roles[role]]))
        summaries = {name for name in set(names) if is_summary_row(name, role == "entry")}
        dropped |= {row: name for row, name in enumerate(names) if name in summaries}
    if not dropped or len(dropped) == len(table):
        return table
    named = list(dict.fromkeys(dropped[row] for row in sorted(dropped)))
    note = f"dropped summary row{'s' * (len(named) > 1)} {listed(named)}"
    return table.take([row for row in range(len(table)) if row not in dropped], note)


def _directed(tidy: Tidy, layout: Layout, direction: Direction) -> Tidy:
    """Scores with the direction that was asked for, or that no name speaks against.

    Raises
    ------
    InputError
        No direction was given, and a name says that lower is better.
    """
    if direction not in (None, "lower", "higher"):
        raise InputError(f"got {direction!r}", parameter="direction", fix="give {option}")
    told = {word.lower() for word in tidy.labels.get("direction", ())} - {""}
    if direction or told:  # by the table, of several tasks each for itself
        is_lower = direction == "lower" if direction else told <= {"false", "0"}
        return replace(tidy, lower_is_better=is_lower)
    names = [layout.roles[role] for role in ("score", "public") if role in layout.roles]
    if layout.across == "task" or not np.isin(np.nan_to_num(tidy.value), (-1, 0, 1)).all():
        names += layout.columns
    for role in ("metric", "task", *["unit"] * (layout.kind == "wide")):
        known = list(dict.fromkeys(tidy.labels.get(role, ())))
        names += known if role != "unit" or len(known) <= _MOST_METRICS else []
    names += [note for note in tidy.notes if note.startswith("dropped line")]  # a title, in words
    losses = list(dict.fromkeys(name for name in names if is_loss(name)))
    if losses:
        mixed = layout.roles.get("score") not in losses and len(losses) < len(set(names))
        problem = f"{listed(losses)} sound{'s' * (len(losses) == 1)} like losses, lowest is best"
        fix = "give {option}" + ", which is then true of all, or leave them out" * mixed
        raise InputError(problem, where=tidy.where, parameter="direction", fix=fix)
    return tidy
