"""Parquet to a table: numbers, text and truth values as they are, other types never as numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text
from bayes_sota.data.files import limits
from bayes_sota.data.files.tables import Nested, Table

__all__ = ["parse_parquet"]


def parse_parquet(data: bytes, where: str, stem: str = "") -> Table:
    """Table of the content of a Parquet file; columns of lists and structures are not read."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{where}: reading Parquet needs pyarrow: pip install 'bayes-sota[parquet]'"
        ) from None
    with _readable(where, pa):
        schema = pq.read_schema(pa.BufferReader(data))
        flat = [field.name for field in schema if not field.type.num_fields]
        texts = [field.name for field in schema if _is_text(field.type, pa)]
        # Text is read as codes of its different values, which a few bytes may repeat for ever.
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
        _check_size(file.metadata, len(schema), where)
        read = file.read(columns=flat)
        read.validate(full=True)  # codes of texts that are not there, text that is none
        if read.num_columns != len(flat):
            raise InputError(f"{where}: a column of lists has the name of another column")
        cells = iter(read.columns)
        columns = tuple(
            [Nested(f"a {field.type}")] * read.num_rows
            if field.type.num_fields
            else _cells(next(cells), field.type, pa)
            for field in schema
        )
    places = [f"row {index + 1}" for index in range(read.num_rows)]
    return Table(tuple(schema.names), columns, places, where, stem)


@contextmanager
def _readable(where: str, pa: Any) -> Iterator[None]:
    """Errors of pyarrow as one line."""
    try:
        yield
    except InputError:
        raise
    except (
        pa.ArrowException, OSError, ValueError, KeyError, OverflowError, MemoryError
    ) as error:  # fmt: skip
        raise InputError(
            f"{where}: not a readable Parquet file: {plain_text(error, 150)}"
        ) from None


def _check_size(metadata: Any, width: int, where: str) -> None:
    limits.check_shape(metadata.num_rows, width, where)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    limits.check_bytes(sum(group.total_byte_size for group in groups), where)


def _is_text(kind: Any, pa: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _cells(column: Any, kind: Any, pa: Any) -> Sequence[Any]:
    """Cells of a column; dates and durations stay what they are, which NumPy counts as numbers."""
    if _is_text(kind, pa):
        return [cell for chunk in column.chunks for cell in _texts(chunk)]
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.to_numpy()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]


def _texts(chunk: Any) -> list[str | None]:
    """Text of a chunk of codes, each different one once in memory."""
    values = [*chunk.dictionary.to_pylist(), None]
    return [values[code] for code in chunk.indices.fill_null(len(values) - 1).to_pylist()]
