"""Answers and numbers of items: what each model got for each item, from tables and logs.

``Responses`` where every score is right or wrong, or a share of right runs, else ``ItemScores``
(``tests/data/test_answers.py`` has the shapes, and compares with pivots by pandas).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.text import counted
from bayes_sota.data.averages import Averaging, parse_passes
from bayes_sota.data.item_scores import ItemMetric, ItemScores
from bayes_sota.data.opening import file_names, read_all, read_table, stack
from bayes_sota.data.outcomes import New, Outcomes, runs_behind
from bayes_sota.data.reading import Direction, leave_out_names, read_tidy
from bayes_sota.data.responses import MISSING, Responses
from bayes_sota.data.tables import Table, parse_numbers
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import place_in

_METRICS = get_args(ItemMetric)
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
        What skill is about, as in ``Responses``.
    use, leave_out, direction, **roles
        As of ``read_tidy``: columns, names that do not count, which scores are better, and columns
        by their role (``unit`` names the items; ``task``, ``cluster``, ``run``, ``label``).

    Returns
    -------
    Responses or ItemScores
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
    (<Responses 'table': 2 items x 2 classifiers>, [0.5, 1.0])
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


def read_responses(*sources: Any, **options: Any) -> Responses:
    """Answers that are right or wrong, or shares of right runs; as ``read_outcomes`` reads them.

    Raises
    ------
    InputError
        As of ``read_outcomes``; or numbers that are no answers.

    Examples
    --------
    >>> import pandas as pd
    >>> read_responses(pd.DataFrame({"item": ["x", "y"], "tree": [1, 0], "forest": [1, 1]}))
    <Responses 'table': 2 items x 2 classifiers>
    """
    found = read_outcomes(*sources, **options)
    if not isinstance(found, Responses):
        fix = "write 1 (right), 0 (wrong) or nothing (missing); read_outcomes reads numbers"
        raise InputError("holds numbers, not right and wrong answers", where=found.name, fix=fix)
    return found


def read_item_scores(*sources: Any, metric: ItemMetric | None = None, **options: Any) -> ItemScores:
    """Numbers of items, made into an AUC, a mean or an RMSE; as ``read_outcomes`` reads them.

    Raises
    ------
    InputError
        As of ``read_outcomes``; or answers, where no ``metric`` says that they are numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> read_item_scores(pd.DataFrame({"item": ["x", "y"], "unet": [0.9, 0.7], "vnet": [0.8, 0.9]}))
    <ItemScores 'table': 2 items x 2 classifiers, metric mean>
    """
    found = read_outcomes(*sources, metric=metric, **options)
    if not isinstance(found, ItemScores):
        fix = 'metric="mean" takes them as numbers'
        raise InputError("holds right and wrong answers", where=found.name, fix=fix)
    return found


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
    passes = parse_passes(metric)
    tidy = tidy.with_items()
    tidy, are_answers = _checked(tidy, metric)
    values, counts, items, names = _averaged(tidy)
    labels = {role: _of_items(tidy, role) for role in ("task", "cluster", "label")}
    if len(set(labels["task"] or ())) == 1 or (not are_answers and labels["label"]):
        labels["task"] = None
    n_runs, told = runs_behind(counts) if are_answers else (None, [])
    plain = are_answers and n_runs is None and labels["task"] is None
    notes = [tidy.sentence, *tidy.notes, *told]
    kept = np.ones(len(items), bool)
    if tidy.origin or tidy.n_files > 1 or not plain:
        kept = _common(tidy, values, items, names, labels["task"])
        lost = [item for item, stays in zip(items, kept, strict=True) if not stays]
        text = f"left out {len(lost)} of {counted(len(items), 'item')} that some entries lack"
        notes += [f"{text}, the first is {quoted(lost[0])}"] if lost else []
    rows = np.flatnonzero(kept)
    of = {role: [names[i] for i in rows] if names else None for role, names in labels.items()}
    known: dict[str, Any] = {"names": names, "items": [items[i] for i in rows], "name": tidy.name}
    known |= {"tasks": of["task"], "clusters": of["cluster"], "average": average, "notes": notes}
    if are_answers:
        runs = n_runs[rows] if isinstance(n_runs, np.ndarray) else n_runs
        return Responses(values[rows], n_runs=runs, new=new or "items", passes=passes, **known)
    if passes is not None:
        raise InputError(f"{metric} is for right and wrong answers", where=tidy.where)
    return _numbers(values[rows], of["label"], metric, tidy, known).about(new or "items")


def _numbers(
    values: NDArray[np.float64],
    labels: list[str] | None,
    metric: str | None,
    tidy: Tidy,
    known: dict[str, Any],
) -> ItemScores:
    """Numbers of items; data sets are the sample where each item has its own."""
    chosen = cast("ItemMetric | None", metric if metric in _METRICS else None)
    classes = parse_numbers(labels).value if labels and chosen in (None, "auc") else None
    if classes is not None and not np.isin(classes, (0, 1)).all():
        odd = labels[int(np.argmin(np.isin(classes, (0, 1))))] if labels else ""
        raise InputError(f"labels are 1 or 0, got {quoted(odd)}", where=tidy.where)
    tasks = known["tasks"]
    of_tasks = tidy.unit == "task" or (tasks and len(set(tasks)) == len(tasks))
    if of_tasks:
        known |= {"items": tasks or known["items"], "tasks": None}
    lower = True if tidy.lower_is_better else None
    scores = ItemScores(values, labels=classes, metric=chosen, lower_is_better=lower, **known)
    return scores.of_tasks("data set") if of_tasks else scores


def _of_metric(table: Table, metric: str | None, roles: dict[str, str]) -> Table:
    """Table of one metric: rows that have it, or its column as the score; logs know theirs."""
    if metric is None or table.origin:
        return table
    columns = [name for name in table.columns if place_in("metric", name) is not None]
    rows = (
        [row for row, name in enumerate(table.columns[columns[0]]) if name == metric]
        if columns
        else []
    )
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
        raise InputError(
            f"{quoted(tidy.texts[row])} of {quoted(tidy.labels['entry'][row])} is no answer, as "
            "nearly all others are",
            where=tidy.where,
            line=tidy.lines[row],
            parameter="metric",
            fix='write 1 (right), 0 (wrong) or nothing (missing); metric "mean" takes numbers',
        )
    return tidy, False


def _shares(tidy: Tidy, runs: NDArray[np.float64]) -> Tidy:
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


def _averaged(tidy: Tidy) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str], list[str]]:
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


def _common(
    tidy: Tidy,
    values: NDArray[np.float64],
    items: Sequence[str],
    names: Sequence[str],
    tasks: Sequence[str] | None,
) -> NDArray[np.bool_]:
    """Items that every entry has, (n,).

    Raises
    ------
    InputError
        They are fewer than half of the items of an entry, or none of a task.
    """
    there = ~np.isnan(values)
    common = there.all(axis=1)
    lost = (there & ~common[:, None]).sum(axis=0) > _MOST_LOST * there.sum(axis=0)
    gone = set(tasks or ()).difference(compress(tasks or (), common))
    if common.sum() >= 2 and not lost.any() and not gone:
        return common
    fewest = names[int(np.argmin(there.sum(axis=0)))]
    problem = f"only {common.sum()} of {counted(len(items), 'item')} are those of every entry"
    if gone:
        problem = f"no item of task {listed(sorted(gone))} has a score of every entry"
    raise InputError(
        f"{problem}; {quoted(fewest)} has the fewest",
        where=tidy.where,
        parameter="leave_out",
        fix="leave entries or tasks out with {option}",
    )
