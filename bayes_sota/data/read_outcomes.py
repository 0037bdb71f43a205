"""What classifiers got for each item, from the files that people have: a row per item.

Response matrices, item scores, and outcomes of several files joined on the item: tables of right
and wrong answers, of numbers or of predicted classes, and what the tools that evaluate language
models write. The format is recognised by the content. The files are not trusted: nothing in them is
executed, sizes are bounded while unpacking, and what is no outcome is an error with its place
(``tests/data/test_read_responses.py``, ``test_read_evaluations.py``).
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted, shown, shown_path
from bayes_sota.data import columns
from bayes_sota.data.columns import WORDS, answer_of, as_numbers, named_in, number_of, numbers_in
from bayes_sota.data.files.content import Content, check_text, read_content
from bayes_sota.data.files.delimited import delimited_rows
from bayes_sota.data.files.json import json_lines, parse_json, try_json
from bayes_sota.data.files.opening import FileFormat, open_source, open_table
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.formats import item_logs
from bayes_sota.data.formats.lm_evaluation import is_sample, part_of_samples
from bayes_sota.data.item_scores import ItemMetric, ItemScores
from bayes_sota.data.long_answers import (
    MOST_SLIPS,
    Grouping,
    counts_right,
    long_columns,
    outcome_of,
    widen,
)
from bayes_sota.data.metric_names import is_loss
from bayes_sota.data.outcome_tables import (
    ItemGroups,
    check_group_columns,
    check_orientation,
    find_roles,
    notes_on_groups,
    parts_of_tables,
)
from bayes_sota.data.parts import Choices, Joined, Part, file_names, join_parts
from bayes_sota.data.read_boards import located
from bayes_sota.data.responses import MISSING, Averaging, New, Responses

ResponseFormat = Literal["auto", "csv", "tsv", "json", "parquet"]
_HEAD, _HEAD_ROWS = 1_000_000, 200  # what decides whether a file looks like responses
_POSITIVE = {"1": 1.0, "1.0": 1.0, "true": 1.0, "0": 0.0, "0.0": 0.0, "false": 0.0}
_KEYS = ("names", "items", "clusters")
_NO_ANSWER = "{} is no answer; write 1 (right), 0 (wrong) or nothing (missing)"
_NO_NUMBER = "a number is needed, got {}"


def read_responses(
    path: str | os.PathLike[str] | Any,
    *,
    format: ResponseFormat = "auto",
    item_column: str | None = None,
    task_column: str | None = None,
    cluster_column: str | None = None,
    run_column: str | None = None,
    average: Averaging | None = None,
) -> Responses:
    """Read which classifier answered which item right.

    Parameters
    ----------
    path : path, pandas or polars DataFrame
        A table with one row per item and one column per classifier, headed by its name, or with a
        row for each model, item and run (columns model, item, correct, and maybe task, cluster,
        seed), as CSV, TSV, Excel or Parquet; or JSON
        ``{"names": [...], "correct": [[...], ...]}``, optionally with ``"items"`` and
        ``"clusters"``. Text may be gzipped, or the only file in a zip archive.
    format : {"auto", "csv", "tsv", "json", "parquet"}
        Default: recognised by the content.
    item_column : str, optional
        Column with the names of the items. Default: the first one if it is named like one
        ("item", "id", "doc_id", ...) or holds other things than answers.
    task_column, cluster_column, run_column : str, optional
        Columns with the task of each item (subject, subset), with what items belong to (passage,
        patient), and with the run (seed, epoch) of each row. Default: recognised by their names.
    average : {"items", "tasks"} or mapping of str to float, optional
        As in ``Responses``: what counts equally in a score. Default: every task.

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
    check_choice("format", format, ResponseFormat)
    found = open_source(path, format)
    asked = {
        "task_column": task_column, "cluster_column": cluster_column, "run_column": run_column
    }  # fmt: skip
    if isinstance(found, Content):
        if item_column is not None or any(asked.values()):
            raise InputError(
                f'{found.where}: JSON has no columns: the items are named by its key "items", '
                'their clusters by "clusters"'
            )
        if average is not None:
            raise InputError(f"{found.where}: average is for tables with tasks; JSON has none")
        return responses_of_json(parse_json(found.text(), found.where), found.where, found.stem)
    check_group_columns([found], **asked)
    wide = widen(found, answer_of, _NO_ANSWER, Grouping(**asked))
    roles = find_roles(
        wide.table, item_column, wide.cluster_column, wide.task_column, truth=(), only_answers=True
    )
    check_orientation(roles)
    correct = roles.numbers(answer_of if wide.n_runs is None else outcome_of, _NO_ANSWER)
    with located(found.where):
        return Responses(
            correct.T,
            names=roles.method_names,
            items=roles.items,
            clusters=roles.groups("cluster"),
            tasks=roles.groups("task"),
            average=average,
            n_runs=wide.n_runs,
            name=found.stem,
            notes=(*wide.notes, *notes_on_groups(roles, wide)),
        )


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
    repeat = columns.first_repeat(np.unique(names, return_inverse=True)[1])
    if repeat is not None:
        raise InputError(f"{table.place(repeat[1], 0)}: {shown(names[repeat[1]])} is there twice")
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
        if head.kind == "json":
            return b'"correct"' in head.data
        if head.kind in ("parquet", "workbook"):
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


def responses_of_json(value: Any, where: str, name: str) -> Responses:
    """Response matrix of a JSON value."""
    form = 'write {"names": [...], "correct": [[...], ...]}'
    if not isinstance(value, dict) or not {"names", "correct"} <= set(value):
        raise InputError(f"{where}: is not a response matrix; {form}")
    unknown = sorted(set(value) - {"correct", *_KEYS})
    if unknown:
        raise InputError(f"{where}: the key {shown(unknown[0])} is unknown; {form}")
    labels = {key: value.get(key) for key in _KEYS}
    for key, texts in labels.items():
        is_list = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        if texts is not None and not is_list:
            raise InputError(f"{where}: {key!r} must be a list of strings")
    rows = value["correct"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError(f"{where}: 'correct' must be a list of lists, one for each item")
    with located(where):
        return Responses(rows, **cast("dict[str, Any]", labels), name=name)


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
    format: FileFormat = "auto",
    name: str | None = None,
) -> ItemScores:
    """Item scores of a file or a data frame.

    Parameters
    ----------
    path_or_frame : path, pandas or polars DataFrame
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
    format : {"auto", "csv", "tsv", "json", "parquet"}
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
    ...     found = read_item_scores(path)
    >>> found, found.scores.tolist()
    (<ItemScores 'two': 4 items x 2 classifiers, metric auc>, [0.75, 0.5])
    """
    opened = open_table(path_or_frame, format)
    asked = {"task_column": task_column, "cluster_column": cluster_column}
    check_group_columns([opened], **asked)
    wide = widen(opened, number_of, _NO_NUMBER, Grouping(**asked))
    table = wide.table
    is_auc = metric in (None, "auc") or label_column is not None
    roles = find_roles(
        table, item_column, wide.cluster_column, wide.task_column,
        truth=WORDS["labels"] if is_auc else (), label_column=label_column,
    )  # fmt: skip
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
    values = roles.numbers(number_of, _NO_NUMBER)
    with located(table.where):
        return ItemScores(
            values.T,
            labels=labels,
            metric=metric,
            lower_is_better=lower_is_better,
            names=roles.method_names,
            items=roles.items,
            clusters=roles.groups("cluster"),
            tasks=roles.groups("task"),
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


_ACCEPTED = (
    "a CSV, TSV, Excel or Parquet table with one row per item, samples of lm-evaluation-harness "
    "(samples_*.jsonl), logs of inspect_ai (.json, .eval), or HELM's per_instance_stats.json"
)
# Options that a format has a use for; elsewhere they would be ignored in silence.
_TABLE = "table"
_OPTIONS = {
    "lm-evaluation-harness sample file": {"metric"},
    "inspect_ai log": {"metric", "scorer"},
    "HELM per-instance file": {"metric"},
    _TABLE: {"task_column", "cluster_column", "run_column", "item_column", "run_separator"},
}
_LM, _INSPECT, _HELM, _ = _OPTIONS


@dataclass(frozen=True)
class Evaluations:
    """Outcomes of some methods for the same items.

    Attributes
    ----------
    outcomes : Responses or ItemScores
        ``Responses`` where every outcome is right or wrong, else ``ItemScores`` of their mean. A
        column is named "method", or "method@run" where a method has several runs.
    methods : tuple of str
        Method of each column.
    source : str
        What was recognised.
    notes : tuple of str
        What was left out or chosen, for people.
    """

    outcomes: Responses | ItemScores
    methods: tuple[str, ...]
    source: str
    notes: tuple[str, ...]

    def about(self, new: New, passes: tuple[int, bool] | None = None) -> "Evaluations":
        """The same with one column per method, whose skills are about something else.

        Parameters are those of ``Responses.about``; numbers know new tasks only.
        """
        if isinstance(self.outcomes, Responses):
            outcomes = self.outcomes.about(new, self.methods, passes)
            return replace(self, outcomes=outcomes, methods=outcomes.names)
        if passes is not None:
            raise InputError("pass@K is for right and wrong answers; these are numbers")
        return replace(self, outcomes=self.outcomes.about(new))


def read_evaluations(
    *paths: str | os.PathLike[str] | Any,
    metric: str | None = None,
    task_column: str | None = None,
    cluster_column: str | None = None,
    run_column: str | None = None,
    item_column: str | None = None,
    run_separator: str | None = None,
    scorer: str | None = None,
    average: Averaging | None = None,
    lower_is_better: bool | None = None,
) -> Evaluations:
    """Read which method got which item right, or how well.

    Parameters
    ----------
    *paths : paths, pandas or polars DataFrames
        Of one format, recognised by the content: tables (CSV, TSV, Excel, Parquet) with a column
        per method of 0 and 1, of numbers, or of predicted classes beside one called ground_truth;
        samples of lm-evaluation-harness; logs of inspect_ai; per-instance statistics of HELM. Text
        may be gzipped or zipped. Several files are joined on the item.
    metric : str, optional
        Which of several metrics is the outcome, for lm-evaluation-harness (also "metric,filter"),
        HELM and scorers of inspect_ai that give several. Default: the usual one, see ``notes``.
    task_column, cluster_column, run_column, item_column : str, optional
        Columns of a table with the task of each item, with what it belongs to (a patient), with the
        run of each row, and with the name of the item.
    run_separator : str, optional
        What stands between method and run in the names of columns: with "@", "resnet@1" and
        "resnet@2" are two runs of resnet.
    scorer : str, optional
        Which of several scorers of inspect_ai.
    average : {"items", "tasks"} or mapping of str to float, optional
        What counts equally in a score over several tasks. Default: every task.
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
    ...     found = read_evaluations(path)
    >>> found.outcomes
    <Responses 'two': 2 items x 2 classifiers>
    >>> found.methods, found.outcomes.correct.tolist()
    (('tree', 'forest'), [[1, 0], [0, 1]])
    """
    files = [
        Path(path if isinstance(path, str | os.PathLike) else f"data frame {number}")
        for number, path in enumerate(paths, 1)
    ]
    choices = Choices(
        metric, task_column, cluster_column, run_column, item_column, run_separator, scorer
    )
    if not files:
        raise InputError(f"name at least one file: {_ACCEPTED}")
    names = file_names(files)
    opened: dict[Path, tuple[str, Any]] = {}
    for source, path in zip(paths, files, strict=True):
        if path.resolve() in opened:
            raise InputError(f"{shown_path(path)} is named twice")
        opened[path.resolve()] = _opened(source, path, names[path], choices)
    kind = _only_kind([found for found, _ in opened.values()], files)
    for option, value in vars(choices).items():
        if value is not None and option not in _OPTIONS[kind]:
            raise InputError(f"{option} is not for this format ({kind})")
    contents = [content for _, content in opened.values()]
    source = counted(len(files), kind)
    name = names[files[0]] if len(files) == 1 else source
    groups = ItemGroups(None, None, None)
    if kind == _TABLE:
        parts, groups, truth = parts_of_tables(dict(zip(files, contents, strict=True)), choices)
        source += f", truth in column {shown(truth)}" if truth else ""
    else:
        parts = [part for content in contents for part in content]
    joined = join_parts(parts)
    losses = sorted({part.metric for part in parts if is_loss(part.metric)})
    lower = bool(losses) if lower_is_better is None else lower_is_better
    outcomes = _outcomes(joined, groups, kind == _TABLE, name, lower, average)
    notes = joined.notes
    if losses and lower_is_better is None:
        notes += (f"of {shown(losses[0])} the lowest is the best (lower_is_better)",)
    return Evaluations(outcomes, joined.methods, source, notes)


def _opened(source: Any, path: Path, name: str, choices: Choices) -> tuple[str, list[Part] | Table]:
    """Format of a source and what it holds; frames have a path that only names them."""
    is_file = isinstance(source, str | os.PathLike)
    if is_file and item_logs.is_log_archive(path):
        return _INSPECT, item_logs.parts_of_archive(path, choices)
    found = open_source(source)
    if isinstance(found, Content):
        return _opened_json(found, path, name, choices)
    table = replace(found, stem=name, where=found.where if is_file else name)
    if len(table.header) < 2:
        raise InputError(f"{table.where}: is none of the formats that are read: {_ACCEPTED}")
    return _TABLE, table


def _opened_json(
    content: Content, path: Path, name: str, choices: Choices
) -> tuple[str, list[Part] | Table]:
    where, text = content.where, content.text()
    if not text.strip():
        raise InputError(f"{where}: the file is empty")
    first, _, rest = text.lstrip().partition("\n")
    value = try_json(first)
    if is_sample(value):
        return _LM, [part_of_samples(json_lines(text, where), path, name, choices)]
    if value is None:
        value = parse_json(text, where)
    elif rest.strip():
        raise _unrecognised(value, where)
    if item_logs.is_log(value):
        return _INSPECT, item_logs.parts_of_log(value, path, choices)
    if isinstance(value, dict) and {"names", "correct"} <= set(value):
        return _TABLE, _matrix(value, where, name)
    if isinstance(value, list) and value and item_logs.is_instance(value[0]):
        return _HELM, item_logs.parts_of_instances(value, path, name, choices)
    if isinstance(value, list) and value and is_sample(value[0]):
        samples = ((f"{where}, entry {number}", entry) for number, entry in enumerate(value, 1))
        return _LM, [part_of_samples(samples, path, name, choices)]
    raise _unrecognised(value, where)


def _unrecognised(value: object, where: str) -> InputError:
    first = value[0] if isinstance(value, list) and value else value
    keys = set(first) if isinstance(first, dict) else set()
    if {"results", "versions"} <= keys or {"results", "configs"} <= keys:
        return InputError(
            f"{where}: has the results of lm-evaluation-harness, not the outcome of each item; "
            "that is in samples_*.jsonl (--log_samples)"
        )
    if isinstance(value, list) and {"name", "mean"} <= keys:
        return InputError(
            f"{where}: has the statistics of HELM over all instances; those of each are in "
            "per_instance_stats.json"
        )
    return InputError(f"{where}: is none of the formats that are read: {_ACCEPTED}")


def _matrix(value: dict[str, Any], where: str, name: str) -> Table:
    """Table of a response matrix in JSON."""
    responses = responses_of_json(value, where, name)
    answers = responses.correct.T.tolist()
    columns = [[None if a == MISSING else a for a in column] for column in answers]
    header, cells = ["item", *responses.names], [responses.items, *columns]
    if responses.clusters is not None:
        header.append("clusters")
        cells.append(responses.clusters)
    places = [f"row {number}" for number in range(1, responses.n_items + 1)]
    return Table(tuple(header), tuple(cells), places, where, name)


def _only_kind(kinds: Sequence[str], files: Sequence[Path]) -> str:
    for path, other in zip(files, kinds, strict=True):
        if other != kinds[0]:
            raise InputError(
                f"files of one format can be joined; these are of two: {shown_path(files[0])} "
                f"({kinds[0]}) and {shown_path(path)} ({other})"
            )
    return kinds[0]


def _outcomes(
    joined: Joined,
    groups: ItemGroups,
    is_table: bool,
    name: str,
    lower_is_better: bool,
    average: Averaging | None,
) -> Responses | ItemScores:
    """Right and wrong answers where there is nothing else, else numbers."""
    values = joined.values
    if is_table and np.isin(values[~np.isnan(values)], (MISSING, 0, 1)).all():
        values = np.where(values == MISSING, np.nan, values)
    labels: dict[str, Any] = {
        "names": joined.names, "items": joined.items, "name": name,
        "clusters": _groups_of(groups.clusters, joined.items, "cluster"),
    }  # fmt: skip
    tasks: Sequence[str] | None = joined.tasks or _groups_of(groups.tasks, joined.items, "task")
    missing = np.isnan(values)
    if groups.n_runs is not None or np.isin(values[~missing], (0, 1)).all():
        if lower_is_better:
            raise InputError(
                "lower_is_better is for numbers, but every outcome is 0 or 1: write 1 for right "
                "and 0 for wrong"
            )
        return Responses(values, tasks=tasks, average=average, n_runs=groups.n_runs, **labels)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise InputError(
            f"{shown(joined.names[column])} has no number for item {shown(joined.items[row])}; "
            "write what a failure counts, or take the item out"
        )
    labels |= {"metric": "mean", "lower_is_better": lower_is_better}
    return ItemScores(values, tasks=tasks, average=average, **labels)


def _groups_of(
    groups: Mapping[str, str] | None, items: Sequence[str], what: str
) -> list[str] | None:
    """Cluster or task of each item."""
    if groups is None:
        return None
    lacking = [item for item in items if item not in groups]
    if lacking:
        raise InputError(
            f"no {what} ({what}_column) for {counted(len(lacking), 'item')}, the first is "
            f"{shown(lacking[0])}"
        )
    return [groups[item] for item in items]
