"""A path or a frame to a table, by what the content is.

Numbers, text and truth values stay what they are; other types of frames and Parquet never become
numbers.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from bayes_sota.core.arguments import check_choice, refuse_unused
from bayes_sota.core.errors import InputError, UnreadableFileError
from bayes_sota.data.files import tables
from bayes_sota.data.files.content import Content, read_content, readable
from bayes_sota.data.files.delimited import parse_delimited
from bayes_sota.data.files.json import parse_json_table
from bayes_sota.data.files.tables import Nested, Table, plain_cell
from bayes_sota.data.files.workbooks import parse_workbook
from bayes_sota.data.frames import is_frame, opened_frame

_HALF = re.compile("[\ud800-\udfff]")


def table_of_frame(frame: Any) -> Table:
    """Table of a data frame; a named index of pandas is a column."""
    if any(name is not None for name in getattr(getattr(frame, "index", None), "names", ())):
        frame = frame.reset_index()
    opened = opened_frame(frame)
    header = tuple(_plain(str(name)) for name in opened.columns)
    tables.check_shape(opened.shape[0], len(header), "the data frame")
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
    """Cell without halves of characters, which no file can hold: U+FFFD, as those of JSON."""
    if isinstance(cell, str):
        return _HALF.sub("\ufffd", cell)
    return None if type(cell).__name__ == "NAType" else plain_cell(cell)


def parse_parquet(data: bytes, where: str, stem: str = "") -> Table:
    """Table of the content of a Parquet file; columns of lists and structures are not read."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{where}: reading Parquet needs pyarrow: pip install 'bayes-sota[parquet]'"
        ) from None
    with readable(where, "not a readable Parquet file"):
        schema = pq.read_schema(pa.BufferReader(data))
        flat = [field.name for field in schema if not field.type.num_fields]
        texts = [field.name for field in schema if _is_text(field.type, pa)]
        # Text is read as codes of its different values, which a few bytes may repeat for ever.
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
        tables.check_shape(file.metadata.num_rows, len(schema), where)
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        tables.check_bytes(sum(group.total_byte_size for group in groups), where)
        read = file.read(columns=flat)
        read.validate(full=True)  # codes of texts that are not there, text that is none
        if read.num_columns != len(flat):
            raise InputError(f"{where}: a column of lists has the name of another column")
        cells = iter(read.columns)
        columns = tuple(
            [Nested(f"a {field.type}")] * read.num_rows
            if field.type.num_fields
            else _parquet_cells(next(cells), field.type, pa)
            for field in schema
        )
    places = [f"row {index + 1}" for index in range(read.num_rows)]
    return Table(tuple(schema.names), columns, places, where, stem)


def _is_text(kind: Any, pa: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _parquet_cells(column: Any, kind: Any, pa: Any) -> Sequence[Any]:
    """Cells of a column as those of a frame."""
    if _is_text(kind, pa):
        return [cell for chunk in column.chunks for cell in _texts(chunk)]
    if pa.types.is_floating(kind) or (pa.types.is_integer(kind) and not column.null_count):
        return column.to_numpy()
    return column.to_pylist()


def _texts(chunk: Any) -> list[str | None]:
    """Text of a chunk of codes, each different one once in memory."""
    values = [*chunk.dictionary.to_pylist(), None]
    return [values[code] for code in chunk.indices.fill_null(len(values) - 1).to_pylist()]


FileFormat = Literal["auto", "csv", "tsv", "json", "parquet", "kaggle"]


def open_table(source: Any, file_format: str = "auto") -> Table:
    """Table of a file or a frame.

    Raises
    ------
    InputError
        A file that cannot be read as what it seems to be; the message names it and says why.
    """
    opened = open_source(source, file_format)
    return opened if isinstance(opened, Table) else json_table(opened)


def open_source(source: Any, file_format: str = "auto") -> Table | Content:
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
    check_choice("format", file_format, FileFormat)
    is_chosen = file_format not in ("auto", "kaggle")
    if is_frame(source):
        refuse_unused("a data frame", {"format": is_chosen})
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
        refuse_unused("an Excel workbook", {"format": is_chosen})
        return parse_workbook(content.data, content.where, content.stem)
    kind = file_format if is_chosen else content.kind
    if kind == "json":
        return content
    if kind == "parquet":
        return parse_parquet(content.data, content.where, content.stem)
    delimiter = "\t" if kind == "tsv" else None
    return parse_delimited(content.data, content.where, delimiter, content.stem)


def json_table(content: Content) -> Table:
    """Table of the content of a JSON file."""
    return parse_json_table(content.text(), content.where, content.stem)
