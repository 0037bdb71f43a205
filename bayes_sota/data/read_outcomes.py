"""Reads response matrices from files: CSV, TSV, JSON, Parquet, plain, gzipped or zipped.

The files are not trusted: nothing in them is executed, sizes are bounded while unpacking, and
what is not an answer is an error with its place (``tests/data/test_read_responses.py``).

Reads what classifiers got for every item: a label column and one column of numbers each.
"""

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.columns import find_column, is_summary
from bayes_sota.data.files.content import check_text, read_content
from bayes_sota.data.files.delimited import delimited_rows
from bayes_sota.data.files.json import parse_json
from bayes_sota.data.files.opening import FileFormat, open_table, table_of_content
from bayes_sota.data.files.tables import Nested, Table, is_numeric, normalize_name
from bayes_sota.data.item_scores import ItemMetric, ItemScores
from bayes_sota.data.printed_scores import parse_number
from bayes_sota.data.read_boards import located
from bayes_sota.data.responses import MISSING, Responses

ResponseFormat = Literal["auto", "csv", "tsv", "json", "parquet"]
_HEAD, _HEAD_ROWS = 1_000_000, 200  # what decides whether a file looks like responses

_ITEM_WORDS = (
    "item",
    "doc",
    "document",
    "question",
    "example",
    "instance",
    "sample",
    "case",
    "image",
)

_ITEM_NAMES = {"", "unnamed: 0", "index", "row", "id", "ids", "items"}.union(
    _ITEM_WORDS, (f"{word}_id" for word in _ITEM_WORDS)
)

_CLASSIFIERS = frozenset(
    ("model", "models", "modelname", "classifier", "classifiers", "method", "methods", "algorithm",
     "system", "learner", "estimator")
)  # fmt: skip

_MANY, _MOST_PER_ITEM = 100, 5  # classifiers; more are items
_MOST_SLIPS = 0.1  # of the cells of answers
_NONE = -2  # stands for a cell that is no answer

_ANSWERS = {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0} | dict.fromkeys(
    ("", "na", "n/a", "nan", "<na>", "null", "none", "-1"), MISSING
)


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
    if format not in get_args(ResponseFormat):
        known = ", ".join(get_args(ResponseFormat))
        raise InputError(f"format must be one of {known}, got {format!r}")
    content = read_content(Path(path))
    kind = content.kind if format == "auto" else format
    if kind == "json":
        if item_column is not None:
            raise InputError(
                f'{content.where}: JSON has no columns: the items are named by its key "items"'
            )
        value = parse_json(content.text(), content.where)
        return responses_of_json(value, content.where, content.stem)
    return _of_table(table_of_content(content, kind), item_column)


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
    return filled >= 2 and max(slips) <= 2 * _MOST_SLIPS and float(np.mean(slips)) <= _MOST_SLIPS


def slip_among(values: NDArray[np.float64]) -> tuple[int, int] | None:
    """Row and column of a number outside [0, 1] where nearly all others are 0 or 1."""
    given = values[~np.isnan(values)]
    answers = np.isin(given, (MISSING, 0, 1))
    if answers.all() or answers.mean() < 1 - _MOST_SLIPS or np.all((given >= 0) & (given <= 1)):
        return None
    beyond = (values != MISSING) & ((values < 0) | (values > 1))
    row, column = np.argwhere(beyond)[0]
    return int(row), int(column)


def check_orientation(where: str, n_items: int, n_classifiers: int, named: str = "") -> None:
    """Raise ``InputError`` where classifiers stand in rows, before anything is computed.

    ``named`` is the header of the column that names the rows.
    """
    by_name = normalize_name(named) in _CLASSIFIERS
    many = n_classifiers > _MANY and n_classifiers > _MOST_PER_ITEM * n_items
    if by_name or many:
        seen = f"column {shown(named)} names the rows" if by_name else "that looks transposed"
        raise InputError(
            f"{where}: there are {n_items:,} rows and {n_classifiers:,} columns of answers, and "
            f"{seen}; rows must be the items and columns the classifiers: transpose the table"
        )


def answer_of(cell: object) -> int | None:
    """Answer that a cell says; None where it says something else."""
    if isinstance(cell, str):
        return _ANSWERS.get(cell) if cell in _ANSWERS else _ANSWERS.get(cell.strip().lower())
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or cell != cell:
        return MISSING
    return int(cell) if isinstance(cell, (bool, int, float)) and cell in (-1, 0, 1) else None


def _of_table(table: Table, item_column: str | None) -> Responses:
    header, where = table.header, table.where
    _check_header(table)
    position = _item_position(table, item_column)
    items = None if position is None else _item_names(table, position)
    columns = [j for j in range(len(header)) if j != position]
    named = "" if position is None else header[position]
    check_orientation(where, len(table.places), len(columns), named)
    correct = np.column_stack([_answers(table.columns[j]) for j in columns])
    if (correct == _NONE).any():
        row, number = np.argwhere(correct == _NONE)[0]
        column = columns[number]
        cell = table.columns[column][row]
        raise InputError(
            f"{where}: {table.places[row]}, column {shown(header[column])}: {shown(cell)} is no "
            "answer; write 1 (right), 0 (wrong) or nothing (missing)"
        )
    with located(where):
        return Responses(correct, names=[header[j] for j in columns], items=items, name=table.stem)


def _answers(cells: Sequence[Any]) -> NDArray[np.int8]:
    """Answers of a column, ``_NONE`` where a cell says something else."""
    if is_numeric(cells):
        filled = np.where(np.isnan(cells), MISSING, cells)
        return np.where(np.isin(filled, (MISSING, 0, 1)), filled, _NONE).astype(np.int8)
    found = {cell: answer_of(cell) for cell in set(cells)}
    codes = {cell: _NONE if answer is None else answer for cell, answer in found.items()}
    return np.fromiter(map(codes.__getitem__, cells), np.int8, len(cells))


def _check_header(table: Table) -> None:
    header = table.header
    if len(header) > 1 and all(answer_of(cell) is not None for cell in header):
        raise InputError(f"{table.where}: line 1 must name the classifiers, but it holds answers")
    for number, cell in enumerate(header[1:], start=2):
        if not cell:
            raise InputError(f"{table.where}: line 1, column {number} has no name")


def _item_names(table: Table, position: int) -> list[str]:
    seen: dict[str, str] = {}
    for cell, place in zip(table.columns[position], table.places, strict=True):
        item = str(cell).strip()
        column = f"{table.where}: {place}, column {shown(table.header[position])}"
        if not item or isinstance(cell, Nested):
            raise InputError(f"{column}: the item has no name")
        if item in seen:
            raise InputError(
                f"{column}: item {shown(item)} is already on {seen[item]}; if this is a column of "
                "answers, name another one as item_column"
            )
        seen[item] = place
    return list(seen)


def _item_position(table: Table, item_column: str | None) -> int | None:
    """Number of the column that names the items, if there is one."""
    header = list(table.header)
    if item_column is not None:
        if header.count(item_column) != 1:
            listed = ", ".join(map(shown, header[:5])) + (", ..." * (len(header) > 5))
            raise InputError(
                f"{table.where}: there is no column {shown(item_column)} for the items; columns: "
                f"{listed}"
            )
        return header.index(item_column)
    if header[0].lower() in _ITEM_NAMES:
        return 0
    first_column = table.columns[0]
    if all(answer_of(cell) is not None for cell in first_column):
        return None
    # A slip in a column of answers must not turn it into names: those never repeat, or are words.
    distinct = len(set(first_column)) == len(first_column)
    return 0 if distinct or not _is_number(first_column[0]) else None


def _is_number(cell: object) -> bool:
    try:
        float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return answer_of(cell) is not None
    return True


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
    unknown = sorted(set(value) - {"names", "correct", "items", "clusters"})
    if unknown:
        raise InputError(f"{where}: the key {shown(unknown[0])} is unknown; {form}")
    for key in ("names", "items", "clusters"):
        if value.get(key) is not None and not _all_text(value[key]):
            raise InputError(f"{where}: {key!r} must be a list of strings")
    rows = value["correct"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError(f"{where}: 'correct' must be a list of lists, one for each item")
    labels = {key: value.get(key) for key in ("names", "items", "clusters")}
    with located(where):
        return Responses(rows, **labels, name=name)


def _all_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


_LABELS = frozenset(("label", "labels", "y", "ytrue", "target", "truth", "groundtruth", "class"))

_ITEMS = frozenset(
    ("item", "itemid", "id", "case", "caseid", "docid", "doc", "image", "imageid", "sample",
     "sampleid", "patient", "patientid", "instance", "instanceid", "question", "example", "index")
)  # fmt: skip

_CLUSTERS = frozenset(("cluster", "group", "clusterid", "groupid"))
_POSITIVE = {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0}


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
    labels = _position(table, label_column, _LABELS, "label_column")
    if metric not in (None, "auc") and label_column is None:
        labels = None
    items = _position(table, item_column, _ITEMS, "item_column")
    clusters = _position(table, cluster_column, _CLUSTERS, "cluster_column")
    special = {labels, items, clusters}
    columns = [j for j in range(len(table.header)) if j not in special]
    if len(columns) < 2:
        raise InputError(
            f"{table.where}: item scores need one column of numbers for each of at least 2 "
            f"classifiers; there are {table.listed_columns()}"
        )
    for j in columns:
        if is_summary(table.header[j]):
            raise InputError(
                f"{table.where}: column {shown(table.header[j])} is no classifier, but a summary "
                "of others by its name; take it out"
            )
    values = np.column_stack([_numbers(table, j) for j in columns])
    given = None
    if labels is not None:
        given = [_label(table, row, labels) for row in range(len(table.places))]
    try:
        return ItemScores(
            values,
            labels=given,
            metric=metric,
            lower_is_better=lower_is_better,
            names=[table.header[j] for j in columns],
            items=None if items is None else [str(cell) for cell in table.columns[items]],
            clusters=None if clusters is None else [str(cell) for cell in table.columns[clusters]],
            name=table.stem if name is None else name,
        )
    except InputError as error:
        raise InputError(f"{table.where}: {error}") from None


def looks_like_item_scores(path: str | os.PathLike[str]) -> bool:
    """Whether a file has a column of labels 0 and 1 beside at least two columns of numbers.

    Examples
    --------
    >>> looks_like_item_scores("no-such-file.csv")
    False
    """
    try:
        table = open_table(path)
        labels = _position(table, None, _LABELS, "label_column")
        if labels is None:
            return False
        rows = range(min(50, len(table.places)))
        known = all(str(table.columns[labels][row]).strip().lower() in _POSITIVE for row in rows)
        others = [j for j in range(len(table.header)) if j != labels]
        numbers = [j for j in others if parse_number(table.columns[j][0]) is not None]
        return known and len(numbers) >= 2
    except InputError:
        return False


def _position(table: Table, wanted: str | None, words: frozenset[str], option: str) -> int | None:
    if wanted is not None:
        return find_column(table, wanted, option)
    found = [j for j, name in enumerate(table.header) if normalize_name(name) in words]
    if len(found) > 1:
        several = ", ".join(shown(table.header[j]) for j in found)
        raise InputError(f"{table.where}: several columns could be the {option}: {several}")
    return found[0] if found else None


def _numbers(table: Table, column: int) -> FloatArray:
    """Numbers of a column, each different one parsed once."""
    cells: Any = table.columns[column]
    listed = cells.tolist() if is_numeric(cells) and cells.dtype.itemsize == 8 else cells
    known = {cell: parse_number(cell) for cell in set(listed)}
    for row, cell in enumerate(listed if None in known.values() else ()):
        if known[cell] is None:
            raise InputError(
                f"{table.where}: {table.places[row]}, column {shown(table.header[column])}: "
                f"a number is needed, got {shown(cell)}"
            )
    values = {cell: np.nan if number is None else float(number) for cell, number in known.items()}
    return np.fromiter(map(values.__getitem__, listed), np.float64, len(listed))


def _label(table: Table, row: int, column: int) -> int:
    cell = table.columns[column][row]
    found = _POSITIVE.get(str(cell).strip().lower())
    if found is None:
        raise InputError(
            f"{table.where}: {table.places[row]}, column {shown(table.header[column])}: labels are "
            f"1 (positive) or 0 (negative), got {shown(cell)}"
        )
    return found
