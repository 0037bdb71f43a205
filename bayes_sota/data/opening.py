"""Opening a source: a path, a folder, several files or a data frame, below one limit of bytes."""

import gzip
import io
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.files import check_file
from bayes_sota.data import logs, tables
from bayes_sota.data.words import place_in

MOST_BYTES = 200_000_000
_WHOLE = logs.MARKS | {"[Content_Types].xml"}  # a log, a workbook


def read_table(source: Any, metric: str | None = None) -> tables.Table:
    """Table of a path, a folder of logs, a list of paths or a data frame.

    Text with commas, semicolons or tabs, Markdown, JSON and JSON lines, Excel and Parquet; text may
    be gzipped. ``metric`` is the one of a log that counts; those of several tasks are joined by
    "+".
    """
    parts = read_all(source, metric)
    if len(parts) > 1:
        raise InputError("several files need a column that names the entries", where=parts[1].where)
    return parts[0]


def read_all(source: Any, metric: str | None = None) -> list[tables.Table]:
    """Tables of a source, or of a list of them; that of logs with one metric of each task."""
    parts = open_all(source)
    return [logs.choose_metric(parts[0], metric)] if parts[0].origin else parts


def open_all(source: Any) -> list[tables.Table]:
    """Tables as in ``read_all``, but that of logs has a row for each metric.

    Those that name their entries are one table.
    """
    parts = list(map(_opened, source if isinstance(source, list | tuple) else [source]))
    if not parts:
        raise InputError("there are no files to read")
    are_named = all(any(place_in("entry", x) is not None for x in of.columns) for of in parts)
    if are_named or any(table.origin for table in parts):
        parts = [_below_each_other(parts)]
    elif len({table.name for table in parts}) < len(parts):  # files of a model in its folder
        parts = [replace(of, name=Path(of.where).resolve().parent.name) for of in parts]
    return [logs.name_models(parts[0])] if parts[0].origin else parts


def _below_each_other(parts: Sequence[tables.Table]) -> tables.Table:
    if len(parts) == 1:
        return parts[0]
    origins = sorted({table.origin or "table" for table in parts})
    if len(origins) > 1:
        raise InputError(f"only files of one format can be joined; choose {' or '.join(origins)}")
    titles = dict.fromkeys(name for table in parts for name in table.columns)
    cells = [{name: of.columns.get(name, [None] * len(of)) for name in titles} for of in parts]
    return replace(
        parts[0],
        columns={name: list(chain.from_iterable(of[name] for of in cells)) for name in titles},
        **tables.of_several(parts),
    )


def _opened(source: Any) -> tables.Table:
    """Table of one source; whatever a decoder raises becomes an error with its place."""
    if isinstance(source, tables.Table):
        return source
    is_path = isinstance(source, str | PathLike)
    if not (is_path or tables.is_frame(source)):
        kind = type(source).__name__
        raise InputError(f"a path or data frame is needed, got {kind}; bs.Leaderboard takes scores")
    where = str(source) if is_path else "the data frame"
    try:
        if is_path:
            return _table_of_path(Path(source), where)
        return _table_of_frame(source, where=where, name="table")
    except Exception as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        extra = "parquet" if "pyarrow" in reason else "excel"
        fix = f"pip install 'bayes-sota[{extra}]'" if isinstance(error, ImportError) else ""
        problem = InputError(f"cannot be read ({reason})", fix=fix)
        raised = error if isinstance(error, InputError) else problem
        raised.where, raised.is_unreadable = raised.where or where, True
        raise raised from None


def _table_of_path(path: Path, where: str) -> tables.Table:
    if path.is_dir():
        table = _below_each_other(list(map(_opened, logs.files_in(path))))
        return replace(table, where=where, name=path.resolve().name)
    data, file_name, members = _content(path)
    name, notes, origin = Path(file_name).stem, list[str](), ""
    if data[:3] == b"CDF" or data[1:4] == b"HDF":
        raise InputError("is a saved result (netCDF)", fix="in Python bs.read_result reads it")
    if data[:4] == b"PAR1":
        return _table_of_frame(_frame_of_parquet(data), where=where, name=name)
    if members and logs.MARKS.isdisjoint(members):
        rows, notes = _rows_of_workbook(data)
    elif not members and (text := tables.decoded(data)).lstrip()[:1] not in ("[", "{"):
        rows = tables.rows_of_text(text)
    else:
        value, places = logs.parse_archive(members) if members else tables.parse_json(text)
        rows, origin = logs.rows_of_log(value, places, path, name)
        if not origin:
            rows = tables.rows_of_json(value, places)
    return tables.table_of_rows(rows, notes, where=where, name=name, origin=origin)


def _frame_of_parquet(data: bytes) -> Any:
    import pandas as pd
    from pyarrow.parquet import read_metadata

    about = read_metadata(io.BytesIO(data))
    _check_size(8 * about.num_rows * about.num_columns)
    return pd.read_parquet(io.BytesIO(data), dtype_backend="numpy_nullable")


def _rows_of_workbook(data: bytes) -> tuple[list[tables.Row], list[str]]:
    """Rows of the first sheet that has rows of several cells, with a note on the others."""
    import pandas as pd

    sheets = pd.read_excel(io.BytesIO(data), sheet_name=None, header=None, dtype=object)
    titles = [title for title, sheet in sheets.items() if sheet.notna().sum(axis=1).max() > 1]
    if not titles:
        raise InputError("no sheet holds a table")
    sheet = sheets[titles[0]]
    cells = sheet.astype(object).where(sheet.notna(), None).to_numpy().tolist()
    rows = [(f"row {i}", row) for i, row in enumerate(cells, 1) if set(row) != {None}]
    note = f"read sheet {quoted(titles[0])}, not {listed(titles[1:])}"
    return rows, [note] * (len(titles) > 1)


def _table_of_frame(frame: Any, **source: str) -> tables.Table:
    """Table of a frame, with the index of pandas as a column where it is more than a count."""
    import narwhals as nw

    opened = nw.from_native(_with_index(frame), eager_only=True)
    columns = []
    for series in opened.iter_columns():
        empty = series.is_null().to_list()
        cells = [None if e else cell for cell, e in zip(series.to_list(), empty, strict=True)]
        if series.dtype == nw.Float32:  # 0.9, not 0.8999999762
            cells = [cell if cell is None else float(f"{cell:.7g}") for cell in cells]
        columns.append(cells)
    lines = [f"row {number}" for number in range(1, len(opened) + 1)]
    return tables.make_table(zip(opened.columns, columns, strict=True), lines, **source)


def _with_index(frame: Any) -> Any:
    if not hasattr(frame, "reset_index"):
        return frame
    index = frame.index
    is_count = index.nlevels == 1 and index.name is None and index.dtype.kind in "iu"
    frame = frame.reset_index(drop=is_count, allow_duplicates=True)
    names = [name if isinstance(name, tuple) else (name,) for name in frame.columns]
    return frame.set_axis([" ".join(map(str, levels)) for levels in names], axis=1)


def _content(path: Path) -> tuple[bytes, str, dict[str, bytes]]:
    """Content of a file, its name, and its members if it is a workbook or a log of inspect_ai."""
    check_file(path)
    with path.open("rb") as file:
        data, name = file.read(MOST_BYTES + 1), path.name
    if data[:2] == b"\x1f\x8b":
        with gzip.open(io.BytesIO(data)) as packed:
            data, name = packed.read(MOST_BYTES + 1), name.removesuffix(".gz")
    _check_size(len(data))
    if not data.startswith(b"PK\3\4"):
        return data, name, {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        _check_size(sum(member.file_size for member in archive.infolist()))
        members = {name: archive.read(name) for name in archive.namelist()}
    if _WHOLE.isdisjoint(members):
        raise InputError(f"is an archive of {listed(members)}", fix="unpack it")
    return data, name, members


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise InputError(f"holds more than {MOST_BYTES:,} bytes")
