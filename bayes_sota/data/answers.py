"""Answers and numbers of models for items, from tables and logs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from bayes_sota.core.errors import listed, located, quoted
from bayes_sota.core.text import codes_of, counted
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.item_values import (
    MOST_LOST,
    RUNS_DIFFER,
    Averaging,
    group_means,
    parse_passes,
)
from bayes_sota.data.outcomes import MISSING, New, Outcomes
from bayes_sota.data.reading import Direction, read_table, read_tidy
from bayes_sota.data.tables import leaving_out, parse_numbers
from bayes_sota.data.tidy import Tidy

_METRICS = ("auc", "mean", "rmse")
_RUNS = ("run", "iteration", "fold")
_MOST_SLIPS = 0.1  # of the cells of answers
_UNLIKELY = 0.001  # that independent runs differ so much


def read_outcomes(
    *sources: Any,
    metric: str | None = None,
    average: Averaging | None = None,
    new: New | None = None,
    use: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **roles: str,
) -> Outcomes:
    """Answers or numbers of models for items, from tables and logs.

    Parameters
    ----------
    *sources : paths or data frames
        A table with a row per item and a column per model, or with a row per model, item and run:
        answers (1 and 0), numbers, probabilities beside labels 0 and 1; or logs of
        lm-evaluation-harness (samples), inspect_ai and Every Eval Ever, and folders of them.
        Several files are joined on the item; where nothing names their models, each is one.
    metric : str, optional
        Metric or scorer of a log, or column of a table ("f1", of several tasks "acc_norm+f1"); what
        numbers are made into: "auc", "mean" or "rmse"; or pass@K and pass^K of several runs.
        Default: the usual one; "auc" beside labels, else "mean".
    average, new
        As in ``Outcomes``.
    use, leave_out, direction, **roles
        As in ``read_tidy``; roles are ``unit`` (names the items), ``task``, ``cluster``, ``run``,
        ``label`` and others.

    Returns
    -------
    Outcomes
        Shape (n_items, n_models); ``notes`` begins with what was read.

    Raises
    ------
    InputError
        A file that is none of these, a wrong cell, items that repeat, or an entry without scores on
        more than 5 % of the items, or 10 % of those of a task.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": ["x", "y"], "tree": [1, 0], "forest": [1, 1]})
    >>> answers = read_outcomes(frame)
    >>> answers, answers.scores.tolist()
    (<Outcomes 'table': 2 items x 2 classifiers>, [0.5, 1.0])
    """
    how: Any = {"use": use, "leave_out": leave_out, "direction": direction} | roles
    tidy = scores_of_items(sources, metric, **how)
    return outcomes_of(tidy, metric=metric, average=average, new=new)


def scores_of_items(sources: Any, metric: str | None = None, **reading: Any) -> Tidy:
    """Scores as ``read_outcomes`` reads them, before they are answers or numbers of items."""
    if metric and metric not in _METRICS and parse_passes(metric) is None:
        reading["score"] = metric
    return read_tidy(sources, **reading)


def read_weights(source: Any) -> dict[str, float]:
    """Weights of tasks, from a table with a column of tasks and one of weights."""
    table = read_table(source)
    names = table.names(next(iter(table.columns))).tolist()
    if len(table.columns) != 2 or len(set(names)) < len(names):
        raise table.error("weights are two columns: every task once, and its weight")
    return dict(zip(names, table.numbers(list(table.columns)[1]).tolist(), strict=True))


def outcomes_of(
    tidy: Tidy, metric: str | None = None, average: Averaging | None = None, new: New | None = None
) -> Outcomes:
    """Container of scores that were read before, as ``read_outcomes`` makes it."""
    if _is_of_folds(tidy) and "unit" not in tidy.asked:
        if tidy.count(*tidy.labels) < len(tidy):
            problem = "several scores of an entry are in one fold, and no column names the items"
            raise tidy.error(problem, fix="add a column item with a name for each")
        problem = "holds scores of folds, whose training sets overlap: bayes-sota cv judge reads it"
        raise tidy.error(problem, "unit", "to count folds as items, name their column: {option}")
    tidy, are_answers = _checked(tidy, metric)
    if metric == "accuracy" and not are_answers:
        raise tidy.error("scores of items are numbers, not answers", "metric", "give metric mean")
    values, counts, items, names = _averaged(tidy)
    of = {role: _of_items(tidy, role) for role in ("task", "cluster", "label")}
    if len(set(of["task"])) == 1 or (not are_answers and of["label"]):
        of["task"] = []
    if len(set(of["cluster"])) == len(items) and "cluster" not in tidy.asked:
        of["cluster"] = []
    notes = [tidy.sentence, *tidy.notes, *_notes_on_runs(tidy, counts)]
    if tidy.origin or tidy.n_files > 1 or not are_answers or of["task"] or counts.max() > 1:
        there = counts > 0
        kept = there.all(axis=1)
        tasks = set(of["task"])
        in_task = codes_of(of["task"] or [""] * len(items))[1]
        if tidy.origin:  # files are runs
            most = np.zeros((len(tasks) or 1, len(names)), np.int64)
            np.maximum.at(most, in_task, counts)
            even = ~there | (counts == most[in_task])
            alike = group_means(even.astype(float), in_task).mean(axis=0)
            if alike.min() < 1 - MOST_LOST:
                problem = f"runs of {quoted(names[int(np.argmin(alike))])} are on different items"
                raise tidy.error(problem, fix="name only logs of complete, current runs")
        values, counts, items = values[kept], counts[kept], list(compress(items, kept))
        of = {role: list(compress(labels, kept)) for role, labels in of.items()}
        if not kept.all():
            of_tasks = group_means(there.astype(float), in_task)
            # one task may lack twice as many
            shares = np.minimum(of_tasks.mean(axis=0), of_tasks.min(axis=0) + MOST_LOST)
            fewest = names[int(np.argmin(shares))]
            lost = f"{np.sum(~kept)} of {counted(kept.size, 'item')} without a score of each entry"
            lost += f"; {quoted(fewest)} has scores on the fewest"
            if gone := sorted(tasks.difference(of["task"])):
                lost += f"; no item is left of task {listed(gone)}"
            notes.append(f"left out {lost}")
            if len(items) < 2 or gone or shares.min() < 1 - MOST_LOST:
                rows = np.flatnonzero(np.isnan(tidy.value))[:1]
                lost += "".join(f"; {tidy.lines[row]} has none" for row in rows)
                drop = f", or use {leaving_out([fewest])}" * (len(names) > 1)
                raise tidy.error(lost, fix=f"score all on the same items{drop}")
    task, cluster, label = of.values()
    known: dict[str, Any] = {"names": names, "items": items, "tasks": task or None}
    known |= {"clusters": cluster or None, "average": average, "passes": parse_passes(metric)}
    known |= {"lower_is_better": tidy.lower_is_better or None, "name": tidy.name, "notes": notes}
    with located(tidy.where):
        if are_answers:
            return Outcomes(values, n_runs=np.maximum(counts, 1), new=new or "items", **known)
        known["metric"] = metric if metric in _METRICS else "auc" if label else "mean"
        if tidy.unit == "task" or (task and len(set(task)) == len(task)):  # they are the sample
            known |= {"items": task or items, "tasks": None, "new": "tasks", "unit": "data set"}
        elif tidy.unit == "run":
            known["unit"] = "run"
        if label and known["metric"] == "auc":
            known["labels"] = parse_numbers(label).value
        found = Outcomes(values, **known)
        return found if new is None else found.about(new)


def _is_of_folds(tidy: Tidy) -> bool:
    """Whether every fold has one score of each entry, instead of scores of items."""
    if "fold" not in tidy.labels:
        return tidy.unit == "iteration"
    folds = tidy.labels.keys() & {"task", "fold"}
    return tidy.count(*folds, tidy.unit) == tidy.count(*folds)


def _checked(tidy: Tidy, metric: str | None) -> tuple[Tidy, bool]:
    """Scores with missing answers as NaN, and whether they are right or wrong."""
    value, runs = tidy.value, tidy.numbers.get("runs")
    if metric in _METRICS:
        return tidy, False
    if runs is not None:
        return _shares(tidy, runs), True
    known = value[~np.isnan(value)]
    answers = np.isin(known, (MISSING, 0, 1))
    if answers.all() and np.isin(known, (0, 1)).any():
        return replace(tidy, value=np.where(value == MISSING, np.nan, value)), True
    odd = np.flatnonzero((value != MISSING) & ((value < 0) | (value > 1)))
    if answers.mean() >= 1 - _MOST_SLIPS and odd.size:
        row = odd[0]
        problem = f"{quoted(tidy.texts[row])} is not an answer, and nearly all other cells are"
        fix = 'write 1 (right), 0 (wrong) or nothing (missing); metric "mean" takes numbers'
        raise tidy.error(problem, "metric", fix, tidy.lines[row])
    return tidy, False


def _shares(tidy: Tidy, runs: FloatArray) -> Tidy:
    """Shares of correct answers, given shares or counts beside numbers of runs."""
    shares = tidy.value / runs if np.nanmax(tidy.value) > 1 else tidy.value
    is_count = np.abs(shares * runs % 1 - 0.5) >= 0.49  # but for rounding
    is_right = (shares >= 0) & (shares <= 1) & (runs % 1 == 0) & is_count
    wrong = np.flatnonzero(~(is_right | np.isnan(shares)))
    if wrong.size:
        row = wrong[0]
        problem = f"{tidy.texts[row]} correct answers (or a share) are impossible"
        problem += f" in {runs[row]:g} runs"
        raise tidy.error(problem, line=tidy.lines[row])
    return replace(tidy, value=shares)


def _averaged(tidy: Tidy) -> tuple[FloatArray, IntArray, list[str], list[str]]:
    """Mean over runs of each item and entry, NaN where there is none, and how many runs it has."""
    runs = [role for role in _RUNS if role in tidy.labels and role != tidy.unit]
    place, (items, names, *rest) = tidy.places(tidy.unit, "entry", *runs)
    cell = place // int(np.prod([len(of) for of in rest], dtype=np.int64))
    shape = len(items), len(names)
    weight = tidy.numbers.get("runs", np.ones(len(tidy))) * ~np.isnan(tidy.value)
    counts = np.bincount(cell, weight, shape[0] * shape[1]).reshape(shape)
    sums = np.bincount(cell, weight * np.nan_to_num(tidy.value), counts.size).reshape(shape)
    means = np.divide(sums, counts, out=np.full(shape, np.nan), where=counts > 0)
    return means, counts.astype(np.int64), items, names


def _notes_on_runs(tidy: Tidy, counts: IntArray) -> Iterator[str]:
    """Note where the runs of an entry differ by more than their items explain, by a chi-squared."""
    from scipy.special import chdtrc

    runs = [role for role in _RUNS if role in tidy.labels and role != tidy.unit]
    if not runs or counts.max() < 2:
        return
    known = ~np.isnan(tidy.value)
    value, n_entries = tidy.value[known], counts.shape[1]
    item, entry, *rest = (tidy.names(role)[1][known] for role in (tidy.unit, "entry", *runs))
    run = np.unique(np.stack([entry, *rest]), axis=1, return_inverse=True)[1]
    cell = item * n_entries + entry
    size = np.bincount(cell)
    left = value - (np.bincount(cell, value) / np.maximum(size, 1))[cell]
    variance = (np.bincount(cell, left**2) / np.maximum(size - 1, 1))[cell]
    total, expected = np.bincount(run, left), np.bincount(run, variance)
    freedom = np.sum(expected > 0) - np.unique(entry[variance > 0]).size
    statistic = np.sum(total**2 / np.where(expected > 0, expected, 1))
    if freedom > 0 and chdtrc(freedom, statistic) < _UNLIKELY:
        yield RUNS_DIFFER


def _of_items(tidy: Tidy, role: str) -> list[str]:
    """Name that each item has in a role; empty without the role."""
    found: dict[str, str] = {}
    if role not in tidy.labels or role == tidy.unit:
        return []
    rows = zip(tidy.labels[tidy.unit], tidy.labels[role], tidy.lines, strict=True)
    for item, name, line in rows:
        if found.setdefault(item, name) != name:
            problem = f"item {quoted(item)} has {role} {quoted(name)}, but {quoted(found[item])}"
            raise tidy.error(f"{problem} above", line=line)
    return list(found.values())
