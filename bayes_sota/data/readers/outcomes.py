"""What classifiers got for each item, from the files that people have: a row per item.

Response matrices, item scores, and outcomes of several files joined on the item: tables of right
and wrong answers, of numbers or of predicted classes, and what the tools that evaluate language
models write. The format is recognised by the content. The files are not trusted: nothing in them is
executed, sizes are bounded while unpacking, and what is no outcome is an error with its place
(``tests/data/test_read_responses.py``, ``test_read_evaluations.py``).
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from bayes_sota.core.errors import InputError, located
from bayes_sota.core.text import counted, shown, shown_path
from bayes_sota.data.averages import Averaging
from bayes_sota.data.files.content import check_text, read_content
from bayes_sota.data.files.delimited import delimited_rows
from bayes_sota.data.files.opening import open_table
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.formats.lm_evaluation import notes_on_metrics
from bayes_sota.data.item_scores import ItemMetric, ItemScores
from bayes_sota.data.outcomes import New, Outcomes
from bayes_sota.data.readers import columns
from bayes_sota.data.readers.columns import (
    WORDS,
    answer_of,
    as_numbers,
    named_in,
    number_of,
    numbers_in,
)
from bayes_sota.data.readers.logs import (
    ACCEPTED,
    LM,
    TABLE,
    TASKS_AND_RUNS,
    files_in,
    looks_like_logs,
    only_kind,
    open_outcomes,
)
from bayes_sota.data.readers.long_answers import (
    MOST_SLIPS,
    counts_right,
    long_columns,
    outcome_of,
)
from bayes_sota.data.readers.metric_names import is_loss
from bayes_sota.data.readers.outcome_tables import (
    check_orientation,
    find_roles,
    outcomes_of_table,
)
from bayes_sota.data.readers.parts import (
    Choices,
    Joined,
    Part,
    check_left_out,
    file_names,
    join_parts,
)
from bayes_sota.data.responses import Responses

_HEAD, _HEAD_ROWS = 1_000_000, 200  # what decides whether a file looks like responses
_POSITIVE = {"1": 1.0, "1.0": 1.0, "true": 1.0, "0": 0.0, "0.0": 0.0, "false": 0.0}
_NO_ANSWER = "{} is no answer; write 1 (right), 0 (wrong) or nothing (missing)"
_NO_NUMBER = "a number is needed, got {}"


def read_responses(
    path: str | os.PathLike[str] | Any,
    *,
    item_column: str | None = None,
    task_column: str | None = None,
    cluster_column: str | None = None,
    run_column: str | None = None,
    average: Averaging | None = None,
    leave_out: Sequence[str] = (),
) -> Responses:
    """Read which classifier answered which item right.

    Parameters
    ----------
    path : path or data frame
        A table with one row per item and one column per classifier, headed by its name, or with a
        row for each model, item and run (columns model, item, correct, and maybe task, cluster,
        seed), as CSV, TSV, Excel, Parquet or JSON records. Text may be gzipped, or the only file in
        a zip archive. Logs of evaluation tools, and folders of them, are read as
        ``read_evaluations`` reads them.
    item_column : str, optional
        Column with the names of the items. Default: the first one if it is named like one
        ("item", "id", "doc_id", ...) or holds other things than answers.
    task_column, cluster_column, run_column : str, optional
        Columns with the task of each item (subject, subset), with what items belong to (passage,
        patient), and with the run (seed, epoch) of each row. Default: recognised by their names.
    average : {"items", "tasks"} or mapping of str to float, optional
        As in ``Responses``: what counts equally in a score. Default: every task.
    leave_out : sequence of str
        Names of classifiers and tasks to leave out.

    Returns
    -------
    Responses
        Named after the file. An answer is 0 or 1, true or false; empty, NA, NaN, null or -1 is a
        missing one.

    Raises
    ------
    InputError
        The file cannot be read, is too large, or holds something that is no answer; the message
        says where.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory) / "two.csv"
    ...     _ = path.write_text("item,tree,forest\\na,1,1\\nb,0,1\\nc,,1\\n")
    ...     read_responses(path)
    <Responses 'two': 3 items x 2 classifiers, 1 answer missing>
    """
    asked: dict[str, Any] = {
        "task_column": task_column,
        "cluster_column": cluster_column,
        "run_column": run_column,
    }
    if isinstance(path, str | os.PathLike) and looks_like_logs(Path(path)):
        return _responses_of_logs(
            path, item_column=item_column, average=average, leave_out=leave_out, **asked
        )
    opened = open_table(path)
    choices = Choices(item_column=item_column, **asked)
    roles = find_roles(opened, answer_of, _NO_ANSWER, choices, truth=(), only_answers=True)
    check_orientation(roles)
    of = answer_of if roles.n_runs is None else outcome_of
    joined = roles.joined(roles.numbers(of, _NO_ANSWER))
    with located(opened.where):
        joined = joined.without(_names_to_leave_out(leave_out))
        return joined.responses(average=average, name=opened.stem)


def _responses_of_logs(path: str | os.PathLike[str], **options: Any) -> Responses:
    outcomes = read_evaluations(path, **options).outcomes
    if not isinstance(outcomes, Responses):
        raise InputError(
            f"{shown_path(Path(path))}: holds numbers, not only right and wrong answers; "
            "read_evaluations reads them"
        )
    return outcomes


def read_weights(path: str | os.PathLike[str]) -> dict[str, float]:
    """Weights of tasks, from a table with a column of tasks and one of weights.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory) / "weights.csv"
    ...     _ = path.write_text("task,weight\\nlaw,2\\nart,1\\n")
    ...     read_weights(path)
    {'law': 2.0, 'art': 1.0}
    """
    table = open_table(path)
    if len(table.header) != 2:
        raise InputError(
            f"{table.where}: weights are a table of two columns, task and weight; there are "
            f"{table.listed_columns()}"
        )
    names = columns.names_in(table, 0, "task")
    columns.refuse_repeats(table, 0, names, "task", "every task has one weight")
    weights = numbers_in(table, 1, number_of, "a weight is a number, got {}")
    return dict(zip(names, weights.tolist(), strict=True))


def looks_like_responses(path: str | Path) -> bool:
    """Whether a file is a response matrix rather than a leaderboard, by its first 200 rows.

    It is one where every column but the first holds nothing but answers, and at least two do.
    A file that cannot be read as a table is not one.

    Examples
    --------
    >>> looks_like_responses("no-such-file.csv")
    False
    """
    try:
        head = read_content(Path(path), _HEAD)
        if head.kind in ("json", "parquet", "workbook"):
            table = open_table(path)
            header: Sequence[str] = table.header
            cells = [cells[:_HEAD_ROWS] for cells in table.columns]
        else:
            header, cells = _text_head(head.data)
    except InputError:
        return False
    long = long_columns(header)
    if long is not None:
        runs = [j for j, name in enumerate(header) if normalize_name(name) in WORDS["runs"]]
        head_of_counts = [as_numbers(cells[j]) for j in (*runs, long[2])]
        if len(runs) == 1 and counts_right(header[runs[0]], *head_of_counts):
            return True
        return _are_answers([cells[long[2]]])
    groups = {**WORDS["item_tasks"], **WORDS["clusters"]}
    kept = [j for j, name in enumerate(header) if normalize_name(name) not in groups]
    if len(kept) > 2:
        cells = [cells[j] for j in kept]
    filled = [any(answer_of(cell) in (0, 1) for cell in column) for column in cells[1:]]
    return sum(filled) >= 2 and _are_answers(cells[1:])


def _are_answers(cells: Sequence[Sequence[Any]]) -> bool:
    """Whether columns hold answers, but for some slips of the pen; a share is none."""
    odd = [[cell for cell in column if answer_of(cell) is None] for column in cells]
    if any(0 < (number_of(cell) or 0) < 1 for column in odd for cell in column):
        return False
    slips, n_rows = list(map(len, odd)), len(cells[0])
    most = max(slips) <= max(2 * MOST_SLIPS * n_rows, 1) < n_rows
    return most and sum(slips) <= max(MOST_SLIPS * n_rows, 1) * len(cells)


def _text_head(head: bytes) -> tuple[Sequence[str], list[Sequence[Any]]]:
    """Header and first cells of the columns; none where they are not a table."""
    if len(head) == _HEAD:
        head = head[: head.rfind(b"\n") + 1]  # the last line may be cut
    check_text(head, "")
    rows = [row for _, row in islice(delimited_rows(head, ""), _HEAD_ROWS + 1)]
    if len({len(row) for row in rows}) != 1:
        return (), []
    return rows[0], list(zip(*rows[1:], strict=True))


def read_item_scores(
    path_or_frame: str | os.PathLike[str] | Any,
    *,
    metric: ItemMetric | None = None,
    label_column: str | None = None,
    item_column: str | None = None,
    task_column: str | None = None,
    cluster_column: str | None = None,
    average: Averaging | None = None,
    lower_is_better: bool | None = None,
    name: str | None = None,
) -> ItemScores:
    """Item scores of a file or a data frame.

    Parameters
    ----------
    path_or_frame : path or data frame
        One row per item, one column of numbers per classifier, headed by its name; CSV, TSV, Excel,
        JSON records or Parquet, also zipped.
    metric : {"auc", "mean", "rmse"}, optional
        Default: "auc" where there is a column of labels, else "mean".
    label_column : str, optional
        Column of 1 (positive) and 0. Default: the one called label, y_true, target, ...
    item_column, task_column, cluster_column : str, optional
        Columns of the items' names, tasks and clusters. Default: recognised by their names.
    average : {"items", "tasks"} or mapping of str to float, optional
        As in ``ItemScores``.
    lower_is_better : bool, optional
    name : str, optional
        Default: the name of the file.

    Returns
    -------
    ItemScores

    Raises
    ------
    InputError
        A file that is not what it should be, by file, line, column and value.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.csv"
    ...     _ = path.write_text("id,label,a,b\\n1,1,.9,.8\\n2,1,.7,.1\\n3,0,.2,.5\\n4,0,.8,.3\\n")
    ...     scores = read_item_scores(path)
    >>> scores, scores.scores.tolist()
    (<ItemScores 'two': 4 items x 2 classifiers, metric auc>, [0.75, 0.5])
    """
    opened = open_table(path_or_frame)
    choices = Choices(
        task_column=task_column, cluster_column=cluster_column, item_column=item_column
    )
    is_auc = metric in (None, "auc") or label_column is not None
    words = WORDS["labels"] if is_auc else ()
    roles = find_roles(
        opened, number_of, _NO_NUMBER, choices, truth=words, label_column=label_column
    )
    table = roles.table
    if len(roles.methods) < 2:
        raise InputError(
            f"{table.where}: item scores need one column of numbers for each of at least 2 "
            f"classifiers; there are {table.listed_columns()}"
        )
    labels = None
    if roles.truth is not None:
        labels = numbers_in(
            table, roles.truth, _label, "labels are 1 (positive) or 0 (negative), got {}"
        )
    joined = roles.joined(roles.numbers(number_of, _NO_NUMBER))
    with located(table.where):
        return joined.item_scores(
            labels=labels,
            metric=metric,
            lower_is_better=lower_is_better,
            average=average,
            name=table.stem if name is None else name,
        )


def _label(cell: object) -> float | None:
    return _POSITIVE.get(str(cell).strip().lower())


def looks_like_item_scores(path: str | os.PathLike[str]) -> bool:
    """Whether a file has a column of labels 0 and 1 beside at least two columns of numbers.

    Examples
    --------
    >>> looks_like_item_scores("no-such-file.csv")
    False
    """
    try:
        head = read_content(Path(path), _HEAD)
        if head.kind not in ("json", "parquet", "workbook"):
            header = _text_head(head.data)[0]
            if header and not any(normalize_name(name) in WORDS["labels"] for name in header):
                return False  # without reading all of it
        table = open_table(path)
        labels = columns.only_column(
            table, None, named_in(table, WORDS["labels"]), "the truth", "label_column"
        )
    except InputError:
        return False
    if labels is None or any(_label(cell) is None for cell in table.columns[labels][:50]):
        return False
    numbers = [number_of(cells[0]) is not None for cells in table.columns]
    return sum(numbers) - numbers[labels] >= 2


@dataclass(frozen=True)
class Evaluations:
    """Outcomes of some methods for the same items.

    Attributes
    ----------
    outcomes : Responses or ItemScores
        ``Responses`` where every outcome is right or wrong, else ``ItemScores`` of their mean. Runs
        of logs and of long tables are shares of right answers, whose ``n_runs`` are known.
    source : str
        What was recognised.
    notes : tuple of str
        What was left out or chosen, for people.
    """

    outcomes: Outcomes
    source: str
    notes: tuple[str, ...]

    def about(self, new: New, passes: tuple[int, bool] | None = None) -> "Evaluations":
        """The same, whose skills are about something else.

        Parameters are those of ``Responses.about``; numbers know new tasks only.
        """
        if isinstance(self.outcomes, Responses):
            return replace(self, outcomes=self.outcomes.about(new, passes=passes))
        if passes is not None:
            raise InputError("pass@K is for right and wrong answers; these are numbers")
        assert isinstance(self.outcomes, ItemScores)
        return replace(self, outcomes=self.outcomes.about(new))


def read_evaluations(
    *paths: str | os.PathLike[str] | Any,
    metric: str | None = None,
    task_column: str | None = None,
    cluster_column: str | None = None,
    run_column: str | None = None,
    item_column: str | None = None,
    average: Averaging | None = None,
    leave_out: Sequence[str] = (),
    lower_is_better: bool | None = None,
) -> Evaluations:
    """Read which method got which item right, or how well.

    Parameters
    ----------
    *paths : paths or data frames
        A table (CSV, TSV, Excel, Parquet) with a column per method of 0 and 1, of numbers, or of
        predicted classes beside one called ground_truth; or logs of one format, which are joined on
        the item: samples of Every Eval Ever and of lm-evaluation-harness, logs of inspect_ai. The
        format is recognised by the content; text may be gzipped or zipped; a folder is all logs in
        it.
    metric : str, optional
        Which of several metrics is the outcome: of lm-evaluation-harness (also "metric,filter"), of
        Every Eval Ever (an ``evaluation_result_id``, "score" or "is_correct"), of
        inspect_ai a scorer, one of its numbers, or "scorer.number". Default: the usual one, see
        ``notes``.
    task_column, cluster_column : str, optional
        What says the task of each item (its subject), and what it belongs to (a passage, a
        patient): a column of a table, or a key of what a log says of the item (``metadata`` of
        inspect_ai and Every Eval Ever, ``doc`` of lm-evaluation-harness).
    run_column, item_column : str, optional
        Columns of a table with the run of each row, and with the name of the item.
    average : {"items", "tasks"} or mapping of str to float, optional
        What counts equally in a score over several tasks. Default: every task.
    leave_out : sequence of str
        Names of methods and tasks to leave out, such as a method without answers to some task.
    lower_is_better : bool, optional
        Whether outcomes are errors or losses. Default: if their metric is called so (perplexity).

    Returns
    -------
    Evaluations

    Raises
    ------
    InputError
        A file that is none of these or is broken, by file, line and value; items that repeat or
        do not match; a choice that is missing or has no use here.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.csv"
    ...     _ = path.write_text("id,ground_truth,tree,forest\\nx,cat,cat,dog\\ny,dog,cat,dog\\n")
    ...     of_file = read_evaluations(path)
    >>> of_file.outcomes
    <Responses 'two': 2 items x 2 classifiers>
    >>> of_file.outcomes.names, of_file.outcomes.correct.tolist()
    (('tree', 'forest'), [[1, 0], [0, 1]])
    """
    choices = Choices(
        metric,
        task_column,
        cluster_column,
        run_column,
        item_column,
        _names_to_leave_out(leave_out),
    )
    sources = _sources(paths)
    files = list(sources)
    names = file_names(files)
    opened = [open_outcomes(sources[path], path, names[path], choices) for path in files]
    kind = only_kind([of_file for of_file, _ in opened], files)
    if kind == TABLE and len(files) > 1:
        raise InputError(f"give one table, got {len(files)}; logs are joined on their items")
    if kind == TABLE and metric is not None:
        raise InputError(f"metric is not for this format ({kind}): its columns are the methods")
    source = counted(len(files), kind)
    name = names[files[0]] if len(files) == 1 else source
    where = shown_path(files[0]) if len(files) == 1 else source
    losses: list[str] = []
    if kind == TABLE:
        joined, truth = outcomes_of_table(cast(Table, opened[0][1]), choices)
        notes = list(joined.notes)
        source += f", truth in column {shown(truth)}" if truth else ""
    else:
        of_files = [part for _, content in opened for part in cast(list[Part], content)]
        parts = _without(of_files, choices.leave_out)
        losses = sorted({part.metric for part in parts if is_loss(part.metric)})
        joined = join_parts(parts)
        notes = [*_notes_on_logs(kind, joined, choices), *joined.notes]
        if kind == LM:
            with located(where):
                notes += notes_on_metrics(parts, metric)
    lower = bool(losses) if lower_is_better is None else lower_is_better
    if losses and lower_is_better is None:
        notes.append(f"of {shown(losses[0])} the lowest is the best (lower_is_better)")
    joined = replace(joined, notes=tuple(notes))
    with located(where):
        outcomes = _outcomes(joined, name, lower, average)
    return Evaluations(outcomes, source, joined.notes)


def _names_to_leave_out(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise InputError(f"leave_out is a list of names: [{names!r}]")
    return tuple(names)


def _sources(paths: Sequence[Any]) -> dict[Path, Any]:
    """What is read, by a path that names it; folders are the logs in them."""
    sources: dict[Path, Any] = {}
    seen: set[Path] = set()
    for number, source in enumerate(paths, 1):
        is_path = isinstance(source, str | os.PathLike)
        path = Path(source if is_path else f"data frame {number}")
        files = files_in(path) if is_path and path.is_dir() else [path]
        for file in files:
            if file.resolve() in seen:
                raise InputError(f"{shown_path(file)} is named twice")
            seen.add(file.resolve())
            sources[file] = file if is_path else source
    if not sources:
        raise InputError(f"name at least one file: {ACCEPTED}")
    return sources


def _without(parts: list[Part], leave_out: Sequence[str]) -> list[Part]:
    """Parts of logs without some methods and tasks."""
    check_left_out(leave_out, (part.method for part in parts), (part.task for part in parts))
    kept = [part for part in parts if part.method not in leave_out and part.task not in leave_out]
    if not kept:
        raise InputError("everything is left out (leave_out)")
    return kept


def _notes_on_logs(kind: str, joined: Joined, choices: Choices) -> Iterator[str]:
    """Where tasks, clusters and runs of logs come from."""
    tasks, runs = TASKS_AND_RUNS[kind]
    if joined.tasks is not None:
        key = choices.task_column
        yield f"tasks are taken from {tasks if key is None else f'the key {shown(key)}'}"
    if joined.clusters is not None:
        yield f"clusters are taken from the key {shown(choices.cluster_column or '')}"
    if joined.n_runs is not None:
        yield f"runs are taken from {runs}"


def _outcomes(
    joined: Joined, name: str, lower_is_better: bool, average: Averaging | None
) -> Outcomes:
    """Right and wrong answers where there is nothing else, else numbers."""
    if joined.are_answers:
        if lower_is_better:
            raise InputError(
                "lower_is_better is for numbers, but every outcome is 0 or 1: write 1 for right "
                "and 0 for wrong"
            )
        return joined.responses(average=average, name=name)
    missing = np.isnan(joined.values)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise InputError(
            f"{shown(joined.names[column])} has no number for item {shown(joined.items[row])}; "
            "write what a failure counts, or take the item out"
        )
    return joined.item_scores(
        metric="mean", lower_is_better=lower_is_better, average=average, name=name
    )
