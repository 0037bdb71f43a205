"""Opening a source: a path, a folder, several files or a data frame, below one limit of bytes."""

import gzip
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.files import check_file
from bayes_sota.data import exports, formats, logs
from bayes_sota.data.tables import Table, is_frame, make_table, opened_frame
from bayes_sota.data.words import place_in

MOST_BYTES = 200_000_000
_ARCHIVE = (b"PK\3\4", b"PK\5\6")
_TABLE = re.compile(r"(?i:(?!__MACOSX).*\.(csv|tsv|txt|json|jsonl|ndjson|xlsx|parquet))")
_WHOLE = logs.MARKS | {"[Content_Types].xml"}  # a log, a workbook


def read_table(source: Any, metric: str | None = None) -> Table:
    """Table of a path, a folder of logs, a list of paths, a data frame or ``cv_results_``.

    Text with commas, semicolons or tabs, Markdown, JSON and JSON lines, Excel and Parquet; text may
    be gzipped or zipped. Frames of pandas, polars and whatever else narwhals opens. Of several
    metrics in the logs of evaluation tools, ``metric`` is the score, in the tasks that have it.
    """
    if isinstance(source, Table):
        return source
    return stack(read_all(source if isinstance(source, list | tuple) else [source], metric))


def read_all(sources: Sequence[Any], metric: str | None) -> list[Table]:
    """Tables of several sources; logs are one table."""
    tables = list(map(_opened, sources))
    if any(table.origin for table in tables):
        return [logs.choose_metric(stack(tables), metric)]
    return tables


def stack(tables: Sequence[Table]) -> Table:
    """Tables below each other; where none names its entries, the files do."""
    if not tables:
        raise InputError("there are no files to read")
    if len(tables) == 1:
        return tables[0]
    formats_of = {table.origin or "table": table.where for table in tables}
    if len(formats_of) > 1:
        found = ", ".join(f"{where} ({origin})" for origin, where in formats_of.items())
        raise InputError(f"files of one format can be joined, not {found}")
    header = dict.fromkeys(name for table in tables for name in table.columns)
    columns = {
        name: [cell for table in tables for cell in table.columns.get(name, [None] * len(table))]
        for name in header
    }
    if not any(place_in("entry", name) is not None for name in header):
        pairs = zip(file_names(tables), tables, strict=True)
        columns["model"] = [name for name, table in pairs for _ in table.lines]
    return replace(
        tables[0],
        columns=columns,
        lines=[f"{table.where}, {line}" for table in tables for line in table.lines],
        where=f"{len(tables)} files",
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        n_files=len(tables),
    )


def file_names(tables: Sequence[Table]) -> list[str]:
    """Names of files, or of their folders where files have the same name."""
    names = [table.name for table in tables]
    if len(set(names)) == len(names):
        return names
    return [Path(table.where).resolve().parent.name for table in tables]


def _opened(source: Any) -> Table:
    """Table of one source; the scores of a log are by metric."""
    if is_frame(source):
        return _table_of_frame(source, "the data frame", "table")
    if isinstance(source, Mapping):
        return exports.table_of_search(source, "cv_results_", "cv_results_")
    if not isinstance(source, str | PathLike):
        raise InputError(f"paths, frames and cv_results_ are read, got {type(source).__name__}")
    path, where = Path(source), str(source)
    if path.is_dir():
        table = stack(list(map(_opened, logs.files_in(path))))
        return replace(table, where=where, name=path.resolve().name)
    data, file_name, members = _read_file(path)
    name = Path(file_name).stem
    if data[:4] == b"PAR1":
        return _table_of_parquet(data, where, name)
    if not logs.MARKS.isdisjoint(members):
        value, places = logs.parse_archive(members, where)
    elif members:
        return _table_of_workbook(data, where, name)
    else:
        text = formats.decoded(data, where)
        if text.lstrip()[:1] not in ("[", "{"):
            return formats.parse_delimited(text, where, name)
        value, places = formats.parse_json(text, where)
    if isinstance(value, dict) and exports.is_search(value):
        return exports.table_of_search(value, where, name)
    log = logs.table_of_log(value, places, path, name)
    return log or formats.table_of_json(value, places, where, name)


def _table_of_parquet(data: bytes, where: str, name: str) -> Table:
    with reading(where):
        import pandas as pd
        from pyarrow.parquet import read_metadata

        about = read_metadata(io.BytesIO(data))
        check_size(8 * about.num_rows * about.num_columns, where)
        frame = pd.read_parquet(io.BytesIO(data), dtype_backend="numpy_nullable")
    return _table_of_frame(frame, where, name)


def _table_of_workbook(data: bytes, where: str, name: str) -> Table:
    """Table of the first sheet that has rows of several cells, with a note on the others."""
    with reading(where):
        import pandas as pd

        sheets = pd.read_excel(io.BytesIO(data), sheet_name=None, header=None, dtype=object)
    titles = [title for title, sheet in sheets.items() if sheet.notna().sum(axis=1).max() > 1]
    if not titles:
        raise InputError("no sheet holds a table", where=where)
    sheet = sheets[titles[0]]
    cells = sheet.astype(object).where(sheet.notna(), None).to_numpy().tolist()
    rows = [(f"row {i}", row) for i, row in enumerate(cells, 1) if set(row) != {None}]
    table = formats.table_of_rows(rows, where, name)
    note = f"read sheet {quoted(titles[0])}, not {listed(titles[1:])}"
    return replace(table, notes=(*table.notes, *[note] * (len(titles) > 1)))


def _table_of_frame(frame: Any, where: str, name: str) -> Table:
    """Table of a frame, with the index of pandas as a column where it is more than a count."""
    import narwhals as nw

    opened = opened_frame(_with_index(frame))
    columns = []
    for series in opened.iter_columns():
        empty = series.is_null().to_list()
        cells = [None if e else cell for cell, e in zip(series.to_list(), empty, strict=True)]
        if series.dtype in (nw.Object, nw.List, nw.Array):
            cells = [str(cell) if hasattr(cell, "__len__") else cell for cell in cells]
        if series.dtype == nw.Float32:  # 0.9, not 0.8999999762
            cells = [cell if cell is None else float(f"{cell:.7g}") for cell in cells]
        columns.append(cells)
    lines = [f"row {number}" for number in range(1, len(opened) + 1)]
    return make_table(opened.columns, columns, lines, where, name)


def _with_index(frame: Any) -> Any:
    """The frame; of pandas, with text as names of columns, and its index where that has names."""
    if not hasattr(frame, "reset_index"):
        return frame
    index = frame.index
    if index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu":
        frame = frame.reset_index(allow_duplicates=True)
    names = [name if isinstance(name, tuple) else (name,) for name in frame.columns]
    return frame.set_axis([" ".join(map(str, levels)) for levels in names], axis=1)


def read_text(path: Path) -> str:
    """Text of a file, or ``InputError``."""
    return formats.decoded(_read_file(path)[0], str(path))


def _read_file(path: Path) -> tuple[bytes, str, dict[str, bytes]]:
    """Content of a file, its name, and its members if it is a workbook or a log of inspect_ai.

    Of another archive, content and name are those of its only table.

    Raises
    ------
    InputError
        A file that cannot be read, an archive of several tables, or more than the limit.
    """
    check_file(path)
    where, name = str(path), path.name
    with reading(where):
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if data[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(data)) as file:
                data = file.read(MOST_BYTES + 1)
            name = name.removesuffix(".gz")
    check_size(len(data), where)
    members = _unpacked(data, where)
    if not data.startswith(_ARCHIVE) or not _WHOLE.isdisjoint(members):
        return data, name, members
    tables = [member for member in members if _TABLE.fullmatch(member)]
    if len(tables) != 1:
        problem = f"the archive holds {len(tables)} tables ({listed(tables)}); one is needed"
        raise InputError(problem, where=where)
    data = members[tables[0]]
    return data, Path(tables[0]).name, _unpacked(data, where)


def _unpacked(data: bytes, where: str) -> dict[str, bytes]:
    """Members of a zip archive, together below the limit; none where bytes are something else."""
    if not data.startswith(_ARCHIVE):
        return {}
    with reading(where), zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_size(sum(member.file_size for member in archive.infolist()), where)
        return {name: archive.read(name) for name in archive.namelist()}


def check_size(size: int, where: str) -> None:
    """Raise ``InputError`` above the limit."""
    if size > MOST_BYTES:
        raise InputError(f"holds more than {MOST_BYTES:,} bytes", where=where)


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Whatever a decoder raises becomes an ``InputError``."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        problem = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        extras = "pip install 'bayes-sota[excel]' 'bayes-sota[parquet]'"
        fix = extras if isinstance(error, ImportError) else ""
        raise InputError(problem, where=where, fix=fix) from None
