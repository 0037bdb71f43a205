"""Answers and numbers of items: what each model got for each item, from tables and logs.

They are answers where every score is right or wrong, or a share of right runs, else numbers
(``tests/data/test_answers.py`` has the shapes, and compares with pivots by pandas).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any, cast

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.files import write_csv
from bayes_sota.core.text import counted
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.data.averages import Averaging, parse_passes
from bayes_sota.data.opening import file_names, read_all, read_table, stack
from bayes_sota.data.outcomes import MISSING, New, Outcomes
from bayes_sota.data.reading import Direction, leave_out_names, read_tidy
from bayes_sota.data.tables import Table, parse_numbers
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import place_in

_METRICS = ("auc", "mean", "rmse")
_RUNS = ("run", "iteration", "fold")
_MOST_LOST = 0.5  # of the items of a model; more is another test set
_MOST_SLIPS = 0.1  # of the cells of answers
_NOT_ITEMS = {
    "board": "rows are entries, one each: this is a leaderboard",
    "pair": "these are public and private scores of a competition",
    "battles": "these are battles of pairs",
}


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
    """Which model got which item right, or how well.

    Parameters
    ----------
    *sources : paths or data frames
        A table with a row per item and a column per model, or with a row per model, item and run:
        answers (1 and 0), numbers, predicted classes beside a column ground_truth, probabilities
        beside labels 0 and 1; or logs of lm-evaluation-harness (samples), inspect_ai and Every Eval
        Ever, and folders of them. Several files are joined on the item; where nothing in them names
        their models, each is one.
    metric : str, optional
        Which of several metrics or scorers counts ("f1", "exact_match,strict-match"); or what
        numbers are made into, "auc", "mean" or "rmse"; or pass@K and pass^K of several runs.
        Default: the usual one; "auc" beside labels, else "mean".
    average : {"items", "tasks"} or mapping of str to float, optional
        What counts equally in a score over several tasks. Default: every task.
    new : {"items", "runs", "tasks"}, optional
        What skill is about, as in ``Outcomes``.
    use, leave_out, direction, **roles
        As of ``read_tidy``: columns, names that do not count, which scores are better, and columns
        by their role (``unit`` names the items; ``task``, ``cluster``, ``run``, ``label``).

    Returns
    -------
    Outcomes
        Shape (n_items, n_models); ``notes`` begins with what was read.

    Raises
    ------
    InputError
        A file that is none of these, a cell that is wrong, items that repeat or do not match.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": ["x", "y"], "tree": [1, 0], "forest": [1, 1]})
    >>> answers = read_outcomes(frame)
    >>> answers, answers.scores.tolist()
    (<Outcomes 'table': 2 items x 2 classifiers>, [0.5, 1.0])
    >>> answers.notes
    ('Read: units from "item", scores of 2 entries from "tree", "forest".',)
    """
    named = None if metric in _METRICS or parse_passes(metric) else metric
    if not sources:
        raise InputError("there are no files to read")
    tables = [_of_metric(table, named, roles) for table in read_all(sources, named)]
    reading: dict[str, Any] = {"use": use, "direction": direction, **roles}
    if len(tables) == 1:
        tidy = read_tidy(tables[0], leave_out=leave_out, **reading)
    elif all(any(place_in("entry", name) is not None for name in of.columns) for of in tables):
        tidy = read_tidy(stack(tables), leave_out=leave_out, **reading)
    else:
        tidy = leave_out_names(_joined(tables, reading), leave_out)
    return outcomes_of(tidy, metric=metric, average=average, new=new)


def read_weights(source: Any) -> dict[str, float]:
    """Weights of tasks, from a table with a column of tasks and one of weights.

    Examples
    --------
    >>> import pandas as pd
    >>> read_weights(pd.DataFrame({"task": ["law", "art"], "weight": [2, 1]}))
    {'law': 2.0, 'art': 1.0}
    """
    table = read_table(source)
    if len(table.columns) != 2:
        raise table.error(f"weights are a table of task and weight, not of {listed(table.columns)}")
    tasks, weight = table.columns
    names = table.names(tasks).tolist()
    repeated = [row for row, name in enumerate(names) if name in names[:row]]
    if repeated:
        raise table.bad_cells(tasks, repeated, "every task has one weight")
    return dict(zip(names, table.numbers(weight).tolist(), strict=True))


def outcomes_of(
    tidy: Tidy,
    *,
    metric: str | None = None,
    average: Averaging | None = None,
    new: New | None = None,
) -> Outcomes:
    """Container of scores that are read already; parameters are those of ``read_outcomes``."""
    if tidy.layout in _NOT_ITEMS:
        problem = f"{_NOT_ITEMS[tidy.layout]}, and not answers to items"
        raise InputError(problem, where=tidy.where)
    tidy, are_answers = _checked(tidy.with_items(), metric)
    passes = parse_passes(metric)
    if passes is not None and not are_answers:
        raise InputError(f"{metric} is for right and wrong answers", where=tidy.where)
    values, counts, items, names = _averaged(tidy)
    task, cluster, label = (_of_items(tidy, role) for role in ("task", "cluster", "label"))
    if len(set(task or ())) == 1 or (not are_answers and label):
        task = None
    notes = [tidy.sentence, *tidy.notes]
    least, most = counts.min(where=counts > 0, initial=counts.max()), counts.max()
    if are_answers and least < most:
        notes.append(f"items have {least:,} to {most:,} runs; a score is the mean of their means")
    kept = np.ones(len(items), bool)
    if tidy.origin or tidy.n_files > 1 or not are_answers or task or most > 1:
        kept = _common(tidy, counts > 0, names, task or [])
    if not kept.all():
        lost = f"{np.sum(~kept)} of {counted(len(items), 'item')} that some entries lack"
        notes.append(f"left out {lost}, the first is {quoted(items[int(np.argmin(kept))])}")
    task, cluster, label = (of and list(compress(of, kept)) for of in (task, cluster, label))
    items = list(compress(items, kept))
    known: dict[str, Any] = {"names": names, "items": items, "tasks": task, "clusters": cluster}
    known |= {"average": average, "name": tidy.name, "notes": notes}
    if are_answers:
        known |= {"n_runs": np.maximum(counts[kept], 1), "passes": passes}
        return Outcomes(values[kept], new=new or "items", **known)
    known |= {"metric": metric if metric in _METRICS else "auc" if label else "mean"}
    if tidy.unit == "task" or (task and len(set(task)) == len(task)):  # they are the sample
        known |= {"items": task or items, "tasks": None, "new": "tasks", "unit": "data set"}
    if label and known["metric"] == "auc":
        known["labels"] = _classes(label, tidy)
    found = Outcomes(values[kept], lower_is_better=tidy.lower_is_better or None, **known)
    return found if new is None else found.about(new)


def _classes(labels: list[str], tidy: Tidy) -> FloatArray:
    """Classes of items, 0 and 1."""
    classes = parse_numbers(labels).value
    odd = np.flatnonzero(~np.isin(classes, (0, 1)))
    if odd.size:
        raise InputError(f"labels are 1 or 0, got {quoted(labels[odd[0]])}", where=tidy.where)
    return classes


def _of_metric(table: Table, metric: str | None, roles: dict[str, str]) -> Table:
    """Table of one metric: rows that have it, or its column as the score; logs know theirs."""
    if metric is None or table.origin:
        return table
    columns = [name for name in table.columns if place_in("metric", name) is not None][:1]
    rows = [row for name in columns for row, of in enumerate(table.columns[name]) if of == metric]
    if rows:
        return table.take(rows)
    roles["score"] = table.find(metric, "metric")
    return table


def _joined(tables: Sequence[Table], reading: dict[str, Any]) -> Tidy:
    """Scores of several files, of which each has its own models."""
    names = file_names(tables)
    named = [replace(table, name=name) for table, name in zip(tables, names, strict=True)]
    every = [read_tidy(table, **reading) for table in named]
    roles = [role for role in every[0].labels if all(role in tidy.labels for tidy in every)]
    return replace(
        every[0],
        where=f"{len(tables)} files",
        value=np.concatenate([tidy.value for tidy in every]),
        texts=[text for tidy in every for text in tidy.texts],
        labels={role: np.concatenate([tidy.labels[role] for tidy in every]) for role in roles},
        numbers={},
        lines=[f"{tidy.where}, {line}" for tidy in every for line in tidy.lines],
        sentence=" ".join(dict.fromkeys(tidy.sentence for tidy in every)),
        notes=tuple(dict.fromkeys(note for tidy in every for note in tidy.notes)),
        n_files=len(tables),
    )


def _checked(tidy: Tidy, metric: str | None) -> tuple[Tidy, bool]:
    """Scores with missing answers as NaN, and whether they are right or wrong."""
    value = tidy.value
    runs = tidy.numbers.get("runs")
    if runs is not None and metric not in _METRICS:
        return _shares(tidy, runs), True
    known = value[~np.isnan(value)]
    answers = np.isin(known, (MISSING, 0, 1))
    if metric in _METRICS or not np.isin(known, (0, 1)).any():
        return tidy, False
    if answers.all():
        if tidy.lower_is_better:
            problem = "every score is 0 or 1, and lower is better"
            raise InputError(problem, where=tidy.where, fix="write 1 for right and 0 for wrong")
        return replace(tidy, value=np.where(value == MISSING, np.nan, value)), True
    odd = np.flatnonzero((value != MISSING) & ((value < 0) | (value > 1)))
    if answers.mean() >= 1 - _MOST_SLIPS and odd.size:
        row = odd[0]
        problem = f"{quoted(tidy.texts[row])} of {quoted(tidy.labels['entry'][row])} is no answer"
        raise InputError(
            f"{problem}, as nearly all others are",
            where=tidy.where,
            line=tidy.lines[row],
            parameter="metric",
            fix='write 1 (right), 0 (wrong) or nothing (missing); metric "mean" takes numbers',
        )
    return tidy, False


def _shares(tidy: Tidy, runs: FloatArray) -> Tidy:
    """Shares of right answers, of which the numbers are printed beside the numbers of runs."""
    shares = tidy.value / runs if np.nanmax(tidy.value) > 1 else tidy.value
    wrong = ~((shares >= 0) & (shares <= 1) & (runs % 1 == 0)) | (
        np.abs(shares * runs % 1 - 0.5) < 0.49
    )
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        problem = f"{tidy.texts[row]} is no number or share of right answers in {runs[row]:g} runs"
        raise InputError(problem, where=tidy.where, line=tidy.lines[row])
    return replace(tidy, value=shares)


def _averaged(tidy: Tidy) -> tuple[FloatArray, IntArray, list[str], list[str]]:
    """Mean over runs of each item and entry, NaN where there is none, and how many runs it has."""
    runs = [role for role in _RUNS if role in tidy.labels and role != tidy.unit]
    place, (items, names, *rest) = tidy.places(tidy.unit, "entry", *runs)
    cell = place // int(np.prod([len(of) for of in rest], dtype=np.int64))
    size = len(items) * len(names)
    weight = tidy.numbers.get("runs", np.ones(len(tidy))) * ~np.isnan(tidy.value)
    counts = np.bincount(cell, weight, size)
    sums = np.bincount(cell, weight * np.nan_to_num(tidy.value), size)
    with np.errstate(invalid="ignore"):
        means = sums / counts
    shape = len(items), len(names)
    return means.reshape(shape), counts.astype(np.int64).reshape(shape), items, names


def _of_items(tidy: Tidy, role: str) -> list[str] | None:
    """Name that each item has in a role; two are an error."""
    if role not in tidy.labels or role == tidy.unit:
        return None
    items, codes = tidy.names(tidy.unit)
    first = np.unique(codes, return_index=True)[1]
    names = tidy.labels[role][first]
    other = np.flatnonzero(tidy.labels[role] != names[codes])
    if other.size:
        row = other[0]
        raise InputError(
            f"item {quoted(items[codes[row]])} has {role} {quoted(tidy.labels[role][row])}, but "
            f"{quoted(names[codes[row]])} on {tidy.lines[first[codes[row]]]}",
            where=tidy.where,
            line=tidy.lines[row],
        )
    return cast("list[str]", names.tolist())


def _common(tidy: Tidy, there: BoolArray, names: Sequence[str], tasks: Sequence[str]) -> BoolArray:
    """Items that every entry has, (n,), given which it has, (n, m).

    Raises
    ------
    InputError
        They are fewer than half of the items of an entry, or none of a task.
    """
    common = there.all(axis=1)
    lost = (there & ~common[:, None]).sum(axis=0) > _MOST_LOST * there.sum(axis=0)
    gone = set(tasks).difference(compress(tasks, common))
    if common.sum() >= 2 and not lost.any() and not gone:
        return common
    fewest = names[int(np.argmin(there.sum(axis=0)))]
    problem = f"only {common.sum()} of {counted(len(there), 'item')} are those of every entry"
    if gone:
        problem = f"no item of task {listed(sorted(gone))} has a score of every entry"
    raise InputError(
        f"{problem}; {quoted(fewest)} has the fewest",
        where=tidy.where,
        parameter="leave_out",
        fix="leave entries or tasks out with {option}",
    )


def write_items(data: Outcomes, path: str | Path) -> None:
    """Write answers or numbers as CSV: item, label where there are classes, and each classifier.

    ``read_outcomes`` reads it. Clusters are not written.

    Raises
    ------
    InputError
        The file cannot be written; averages over tasks or runs, which a wide table cannot hold.
    """
    if data.is_answers and not data.is_plain:
        raise InputError("a table of answers has no place for tasks or runs of its items")
    labels = [] if data.labels is None else [data.labels.astype(int).tolist()]
    number = int if data.is_answers else float
    columns = [["" if np.isnan(x) else number(x) for x in column] for column in data.values.T]
    rows = zip(data.items, *labels, *columns, strict=True)
    write_csv(path, ["item", *["label"] * len(labels), *data.names], rows)
