"""Response matrices and item scores from files: a row per item and a column per classifier.

The files are not trusted: nothing in them is executed, sizes are bounded while unpacking, and what
is no answer or number is an error with its place (``tests/data/test_read_responses.py``).
"""

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.columns import WORDS, answer_of, named_in, number_of, numbers_in, only_column
from bayes_sota.data.files.content import check_text, read_content
from bayes_sota.data.files.delimited import delimited_rows
from bayes_sota.data.files.json import parse_json
from bayes_sota.data.files.opening import FileFormat, open_table, table_of_content
from bayes_sota.data.item_scores import ItemMetric, ItemScores
from bayes_sota.data.outcome_tables import MOST_SLIPS, check_clusters, check_orientation, find_roles
from bayes_sota.data.read_boards import located
from bayes_sota.data.responses import Responses

ResponseFormat = Literal["auto", "csv", "tsv", "json", "parquet"]
_HEAD, _HEAD_ROWS = 1_000_000, 200  # what decides whether a file looks like responses
_POSITIVE = {"1": 1.0, "1.0": 1.0, "true": 1.0, "0": 0.0, "0.0": 0.0, "false": 0.0}
_KEYS = ("names", "items", "clusters")


def read_responses(
    path: str | Path, *, format: ResponseFormat = "auto", item_column: str | None = None
) -> Responses:
    """Read which classifier answered which item right.

    Parameters
    ----------
    path : str or Path
        A table with one row per item and one column per classifier, headed by its name, as CSV,
        TSV or Parquet; or JSON ``{"names": [...], "correct": [[...], ...]}``, optionally with
        ``"items"`` and ``"clusters"``. Text may be gzipped, or the only file in a zip archive.
    format : {"auto", "csv", "tsv", "json", "parquet"}
        Default: recognised by the content.
    item_column : str, optional
        Column with the names of the items. Default: the first one if it is named like one
        ("item", "id", "doc_id", ...) or holds other things than answers.

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
    content = read_content(Path(path))
    kind = content.kind if format == "auto" else format
    if kind == "json":
        if item_column is not None:
            raise InputError(
                f'{content.where}: JSON has no columns: the items are named by its key "items"'
            )
        value = parse_json(content.text(), content.where)
        return responses_of_json(value, content.where, content.stem)
    roles = find_roles(table_of_content(content, kind), item_column, truth=(), only_answers=True)
    check_orientation(roles)
    correct = roles.numbers(
        answer_of, "{} is no answer; write 1 (right), 0 (wrong) or nothing (missing)"
    )
    with located(content.where):
        return Responses(correct.T, names=roles.method_names, items=roles.items, name=content.stem)


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
        if head.kind == "parquet":
            columns = [cells[:_HEAD_ROWS] for cells in open_table(path).columns]
        else:
            columns = _text_head(head.data)
    except InputError:
        return False
    answers = [[answer_of(cell) for cell in column] for column in columns[1:]]
    filled = sum(0 in found or 1 in found for found in answers)
    slips = [found.count(None) / max(len(found), 1) for found in answers]
    return filled >= 2 and max(slips) <= 2 * MOST_SLIPS and float(np.mean(slips)) <= MOST_SLIPS


def _text_head(head: bytes) -> list[Sequence[Any]]:
    """First columns below the header; none where they are not a table."""
    if len(head) == _HEAD:
        head = head[: head.rfind(b"\n") + 1]  # the last line may be cut
    check_text(head, "")
    rows = [row for _, row in islice(delimited_rows(head, ""), _HEAD_ROWS + 1)]
    return list(zip(*rows[1:], strict=True)) if len({len(row) for row in rows}) == 1 else []


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
        return Responses(rows, **labels, name=name)


def read_item_scores(
    path_or_frame: str | os.PathLike[str] | Any,
    *,
    metric: ItemMetric | None = None,
    label_column: str | None = None,
    item_column: str | None = None,
    cluster_column: str | None = None,
    lower_is_better: bool | None = None,
    format: FileFormat = "auto",
    name: str | None = None,
) -> ItemScores:
    """Item scores of a file or a data frame.

    Parameters
    ----------
    path_or_frame : path, pandas or polars DataFrame
        One row per item, one column of numbers per classifier, headed by its name; CSV, TSV, JSON
        records or Parquet, also zipped.
    metric : {"auc", "mean", "rmse"}, optional
        Default: "auc" where there is a column of labels, else "mean".
    label_column : str, optional
        Column of 1 (positive) and 0. Default: the one called label, y_true, target, ...
    item_column, cluster_column : str, optional
        Columns of the items' names and clusters. Default: recognised by their names.
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
    table = open_table(path_or_frame, format)
    check_clusters([table], cluster_column)
    is_auc = metric in (None, "auc") or label_column is not None
    roles = find_roles(
        table, item_column, cluster_column,
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
    values = roles.numbers(number_of, "a number is needed, got {}")
    with located(table.where):
        return ItemScores(
            values.T,
            labels=labels,
            metric=metric,
            lower_is_better=lower_is_better,
            names=roles.method_names,
            items=roles.items,
            clusters=roles.cluster_names(),
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
        table = open_table(path)
        labels = only_column(
            table, None, named_in(table, WORDS["labels"]), "the truth", "label_column"
        )
    except InputError:
        return False
    if labels is None or any(_label(cell) is None for cell in table.columns[labels][:50]):
        return False
    others = [cells for j, cells in enumerate(table.columns) if j != labels]
    return sum(number_of(cells[0]) is not None for cells in others) >= 2
