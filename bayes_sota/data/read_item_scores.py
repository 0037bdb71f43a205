"""Reads what classifiers got for every item: a label column and one column of numbers each."""

import os
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.columns import find_column, is_summary
from bayes_sota.data.files.opening import FileFormat, open_table
from bayes_sota.data.files.tables import Table, is_numeric, normalize_name
from bayes_sota.data.item_scores import ItemMetric, ItemScores
from bayes_sota.data.printed_scores import parse_number

__all__ = ["looks_like_item_scores", "read_item_scores"]

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
