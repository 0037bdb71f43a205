"""Parquet files and pandas or polars frames to a table."""

from pathlib import Path
from typing import Any

from bayes_sota.data.readers.tables import Table
from bayes_sota.errors import InputError
from bayes_sota.shown_text import shown

__all__ = ["is_frame", "read_parquet", "table_of_frame"]


def is_frame(source: object) -> bool:
    """Whether something looks like a pandas or polars frame, without importing either."""
    return hasattr(source, "columns") and (hasattr(source, "iloc") or hasattr(source, "get_column"))


def table_of_frame(frame: Any) -> Table:
    """Table of a pandas or polars frame; a named index of pandas is a column."""
    if any(name is not None for name in getattr(getattr(frame, "index", None), "names", ())):
        frame = frame.reset_index()
    header = tuple(str(name) for name in frame.columns)
    by_position = hasattr(frame, "iloc")  # names of pandas columns need not differ
    columns = tuple(
        (frame.iloc[:, i] if by_position else frame.get_column(name)).to_numpy()
        for i, name in enumerate(header)
    )
    places = [f"row {index + 1}" for index in range(frame.shape[0])]
    return Table(header, columns, places, "the data frame")


def read_parquet(path: Path, limit: int) -> Table:
    """Table of a Parquet file of at most ``limit`` bytes when unpacked."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{path}: reading Parquet needs pyarrow: pip install 'bayes-sota[parquet]'"
        ) from None
    try:
        with pq.ParquetFile(path) as file:
            meta = file.metadata
            size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
            if size > limit:
                raise InputError(f"{path}: unpacks to {size:,} bytes, more than {limit:,}")
            data = file.read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file: {shown(str(error))}") from None
    columns = tuple(column.to_numpy() for column in data.columns)
    places = [f"row {index + 1}" for index in range(data.num_rows)]
    return Table(tuple(data.column_names), columns, places, str(path), path.stem)
