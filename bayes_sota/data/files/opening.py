"""A path or a frame to a table, by what the content is.

Numbers, text and truth values stay what they are; other types of frames and Parquet never become
numbers.
"""

import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import InputError, UnreadableFileError
from bayes_sota.data.files.content import Content, read_content, readable
from bayes_sota.data.files.delimited import parse_delimited
from bayes_sota.data.files.json import parse_json_table
from bayes_sota.data.files.tables import Table, plain_cell
from bayes_sota.data.files.workbooks import parse_workbook
from bayes_sota.data.frames import is_frame, opened_frame


def table_of_frame(frame: Any) -> Table:
    """Table of a data frame; a named index of pandas is a column."""
    if any(name is not None for name in getattr(getattr(frame, "index", None), "names", ())):
        frame = frame.reset_index()
    opened = opened_frame(frame)
    header = tuple(map(str, opened.columns))
    columns = tuple(map(_frame_cells, opened.iter_columns()))
    places = [f"row {index + 1}" for index in range(opened.shape[0])]
    return Table(header, columns, places, "the data frame")


def _frame_cells(series: Any) -> Sequence[Any]:
    """Cells of a column: an array of numbers, of which NumPy makes no others, or a list."""
    if series.dtype.is_float() or (series.dtype.is_integer() and not series.null_count()):
        numbers: Sequence[Any] = series.to_numpy()
        return numbers
    return [_plain(cell) for cell in series.to_list()]


def _plain(cell: Any) -> Any:
    """Cell that is None where pandas has a missing value of its own."""
    return None if type(cell).__name__ == "NAType" else plain_cell(cell)


def parse_parquet(data: bytes, where: str, stem: str = "") -> Table:
    """Table of the content of a Parquet file."""
    import pandas as pd

    with readable(where, "not a readable Parquet file"):
        try:
            frame = pd.read_parquet(io.BytesIO(data), dtype_backend="numpy_nullable")
        except ImportError:
            raise InputError(
                f"{where}: reading Parquet needs pyarrow: pip install 'bayes-sota[parquet]'"
            ) from None
        return replace(table_of_frame(frame), where=where, stem=stem)


def open_table(source: Any) -> Table:
    """Table of a file or a frame.

    Raises
    ------
    InputError
        A file that cannot be read as what it seems to be; the message names it and says why.
    """
    opened = open_source(source)
    return opened if isinstance(opened, Table) else json_table(opened)


def open_source(source: Any) -> Table | Content:
    """Table of a file or a frame, but the content of JSON, which may be no table.

    Raises
    ------
    InputError
        As of ``open_table``; neither a path nor a frame.

    Examples
    --------
    >>> import pandas as pd
    >>> open_source(pd.DataFrame({"team": ["A"], "score": [0.9]})).header
    ('team', 'score')
    """
    if is_frame(source):
        return table_of_frame(source)
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            "data are read from a path, or from a data frame of pandas, polars or PyArrow, got "
            f"{type(source).__name__}; numbers go to the class itself, such as "
            "Leaderboard(scores, ...)"
        )
    content = read_content(Path(source))
    if not content.data:
        raise UnreadableFileError(f"{content.where}: the file is empty")
    if content.kind == "workbook":
        return parse_workbook(content.data, content.where, content.stem)
    if content.kind == "json":
        return content
    if content.kind == "parquet":
        return parse_parquet(content.data, content.where, content.stem)
    return parse_delimited(content.data, content.where, content.stem)


def json_table(content: Content) -> Table:
    """Table of the content of a JSON file."""
    return parse_json_table(content.text(), content.where, content.stem)
