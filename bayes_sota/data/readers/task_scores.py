"""Tables of scores with a column for each task, and results of lm-evaluation-harness.

``tests/data/test_read_task_scores.py`` holds what is refused.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.errors import InputError, located
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray
from bayes_sota.data.averages import Averaging
from bayes_sota.data.checks import Metric
from bayes_sota.data.files.opening import open_table
from bayes_sota.data.files.tables import Table
from bayes_sota.data.printed_scores import parse_scores
from bayes_sota.data.readers.boards import (
    Missing,
    entry_names,
    error_cells,
    error_column,
    size_cells,
    with_scores,
    without_averages,
)
from bayes_sota.data.readers.columns import find_column, find_name_column
from bayes_sota.data.readers.metric_names import refuse_loss, refuse_other_metric
from bayes_sota.data.task_scores import TaskScores


def read_task_scores(
    path_or_frame: str | os.PathLike[str] | Any,
    *,
    task_columns: Sequence[str],
    n_test: int | Sequence[int] | Mapping[str, int] | None = None,
    n_test_columns: Sequence[str] | None = None,
    stderr_columns: Sequence[str] | None = None,
    average: Averaging | None = None,
    name_column: str | None = None,
    metric: Metric | None = None,
    lower_is_better: bool = False,
    percent: bool | None = None,
    missing: Missing = "refuse",
    name: str | None = None,
) -> TaskScores:
    """Scores of entries in several tasks, from a table with a column for each task.

    Parameters
    ----------
    path_or_frame : path or data frame
        As of ``read_leaderboard``.
    task_columns : sequence of str
        Columns of the tasks.
    n_test : int, sequence of int or mapping of str to int, optional
        Items of every task, of each in the order of the columns, or by the name of its column.
    n_test_columns : sequence of str, optional
        Columns with the number of items behind each score, one for each task.
    stderr_columns : sequence of str, optional
        Columns of the standard errors, one for each task. Default: those that are called so
        (``law`` and ``law_stderr``), where every task has one and ``n_test`` is not given.
    average
        As in ``TaskScores``.
    name_column, metric, lower_is_better, percent, missing, name
        As in ``read_leaderboard``.

    Returns
    -------
    TaskScores
        ``leaderboard()`` makes averages with their errors of it.

    Raises
    ------
    InputError
        A file that is not what it should be, by file, line, column, value and fix.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"model": ["a", "b"], "law": [0.9, 0.8], "art": [0.5, 0.7]})
    >>> read_task_scores(frame, task_columns=["law", "art"], n_test=[50, 200])
    <TaskScores 'board': 2 entries x 2 tasks>
    """
    refuse_unused("n_test_columns", {"n_test": None if n_test_columns is None else n_test})
    table = open_table(path_or_frame)
    at = [find_column(table, column, "task_columns") for column in task_columns]
    if len(set(at)) < 2:
        raise InputError(
            f"{table.where}: task_columns are the columns of at least 2 tasks, got "
            f"{counted(len(set(at)), 'column')}"
        )
    measured: Metric = metric or "accuracy"
    for column in at:
        if not lower_is_better:
            refuse_loss(table.where, table.header[column])
        if metric is None:
            refuse_other_metric(table.where, table.header[column])
    named = find_name_column(table, name_column, at[0])
    table, notes = without_averages(table, named)
    table, dropped = with_scores(table, at, named, missing)
    scores, in_percent = _shares(table, at, percent, bounded=measured != "score")
    errors, told = None, list[str]()
    if stderr_columns is not None or (n_test is None and n_test_columns is None):
        errors, told = _errors(table, at, stderr_columns)
    if in_percent:
        told.append("scores in percent were divided by 100")
        errors = None if errors is None else errors / 100
    sizes = n_test if n_test_columns is None else _sizes(table, at, n_test_columns)
    with located(table.where):
        return TaskScores(
            scores,
            n_test=sizes,
            standard_errors=errors,
            tasks=[table.header[j] for j in at],
            names=entry_names(table, named),
            average=average,
            metric=measured,
            lower_is_better=lower_is_better,
            name=table.stem if name is None else name,
            notes=(*notes, *dropped, *told),
        )


def _shares(
    table: Table, at: Sequence[int], percent: bool | None, *, bounded: bool
) -> tuple[FloatArray, bool]:
    """Scores (m, T), all read alike, and whether they are in percent."""
    rows = range(len(table.places))
    cells = [table.columns[j][row] for j in at for row in rows]
    places = [table.place(row, j) for j in at for row in rows]
    printed = parse_scores(cells, percent=percent, bounded=bounded, subject=places.__getitem__)
    return printed.values.reshape(len(at), len(rows)).T, printed.in_percent


def _errors(
    table: Table, at: Sequence[int], wanted: Sequence[str] | None
) -> tuple[FloatArray | None, list[str]]:
    """Standard errors (m, T), NaN where one is missing; None where not all tasks have some."""
    if wanted is not None and len(wanted) != len(at):
        raise InputError(
            f"{table.where}: columns of errors are one for each of the {len(at)} tasks, got "
            f"{counted(len(wanted), 'column')}"
        )
    positions: list[int | None] = [
        error_column(table, j, name)
        for j, name in zip(at, wanted or (None,) * len(at), strict=True)
    ]
    if None in positions:
        return None, []
    columns = [
        [np.nan if cell is None else float(str(cell)) for cell in error_cells(table, e, j)]
        for e, j in zip(positions, at, strict=True)
        if e is not None
    ]
    told = [] if wanted else ["standard errors are those of the columns beside the tasks"]
    return np.array(columns).T, told


def _sizes(table: Table, at: Sequence[int], names: Sequence[str]) -> list[tuple[int, ...]]:
    """Number of items behind each score, (m, T)."""
    if len(names) != len(at):
        raise InputError(
            f"{table.where}: columns of n_test are one for each of the {len(at)} tasks, got "
            f"{counted(len(names), 'column')}"
        )
    return list(zip(*(size_cells(table, name) for name in names), strict=True))
