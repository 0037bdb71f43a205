"""Opening a source: a path, a folder, several files or a data frame."""

import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import AmbiguousMetricError, InputError, listed, quoted
from bayes_sota.data import delimited, logs, records, searches
from bayes_sota.data.frames import is_frame, opened_frame
from bayes_sota.data.tables import Table, make_table
from bayes_sota.data.unpacking import check_size, decoded, member_sizes, read_bytes, reading
from bayes_sota.data.words import place_in

_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")


def read_table(source: Any, metric: str | None = None) -> Table:
    """Table of a path, a folder of logs, a list of paths, a data frame or ``cv_results_``.

    Text with commas, semicolons or tabs, Markdown, JSON and JSON lines, Excel and Parquet; text may
    be gzipped or zipped. Frames of pandas, polars and whatever else narwhals opens. Of several
    metrics in the logs of evaluation tools, ``metric`` is the score, in the tasks that have it.
    """
    if isinstance(source, Table):
        return source
    if is_frame(source):
        return _table_of_frame(source, "the data frame", "table")
    if isinstance(source, Mapping):
        return searches.table_of_search(source, "cv_results_", "cv_results_")
    if isinstance(source, list | tuple):
        return stack(read_all(source, metric))
    if not isinstance(source, str | PathLike):
        what = type(source).__name__
        raise InputError(f"paths, a data frame or cv_results_ are read, got {what}")
    path = Path(source)
    if path.is_dir():
        table = read_table(logs.files_in(path), metric)
        return replace(table, where=str(source), name=path.resolve().name)
    data, file_name = read_bytes(path)
    where, name = str(source), Path(file_name).stem
    if data[:4] == b"PAR1":
        return _table_of_parquet(data, where, name)
    members = member_sizes(data, where)
    if not logs.MEMBERS.isdisjoint(members):
        return logs.table_of_archive(data, path, metric)
    if members or file_name.lower().endswith(_WORKBOOKS):
        check_size(sum(members.values()), where)
        return _table_of_workbook(data, where, name)
    text = decoded(data, where)
    if text.lstrip()[:1] not in ("[", "{"):
        return delimited.parse_delimited(text, where, name)
    value, places = records.parse_json(text, where)
    if isinstance(value, dict) and searches.is_search(value):
        return searches.table_of_search(value, where, name)
    log = logs.table_of_log(value, places, path, name, metric)
    return log or records.table_of_json(value, places, where, name)


def read_all(sources: Sequence[Any], metric: str | None) -> list[Table]:
    """Tables of several sources; logs without the metric keep theirs, unless none has it."""
    if len(sources) == 1:
        return [read_table(sources[0], metric)]
    tables, lacking = [], []
    for source in sources:
        try:
            tables.append(read_table(source, metric))
        except logs.UnknownMetricError as error:
            lacking.append(error)
            with suppress(AmbiguousMetricError):
                tables.append(read_table(source))
    if lacking and (len(lacking) == len(sources) or len(tables) < len(sources)):
        raise lacking[0]
    return tables


def stack(tables: Sequence[Table]) -> Table:
    """Tables below each other; where none names its entries, the files do."""
    if not tables:
        raise InputError("there are no files to read")
    other = next((table for table in tables if table.origin != tables[0].origin), None)
    if other is not None:
        kinds = [f"{one.where} ({one.origin or 'a table'})" for one in (tables[0], other)]
        raise InputError(f"files of one format can be joined, these are {' and '.join(kinds)}")
    header = dict.fromkeys(name for table in tables for name in table.columns)
    columns = {
        name: [cell for table in tables for cell in table.columns.get(name, [None] * len(table))]
        for name in header
    }
    if not any(place_in("entry", name) is not None for name in header):
        pairs = zip(file_names(tables), tables, strict=True)
        columns["model"] = [name for name, table in pairs for _ in table.lines]
    stacked = replace(
        tables[0],
        columns=columns,
        lines=[f"{table.where}, {line}" for table in tables for line in table.lines],
        where=f"{len(tables)} files" if len(tables) > 1 else tables[0].where,
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        n_files=len(tables),
    )
    return logs.join_logs(stacked) if stacked.origin else stacked


def file_names(tables: Sequence[Table]) -> list[str]:
    """Names of files, or of their folders where files have the same name."""
    names = [table.name for table in tables]
    if len(set(names)) == len(names):
        return names
    return [Path(table.where).resolve().parent.name for table in tables]


def _by_pandas(reader: str, data: bytes, where: str, **options: Any) -> Any:
    import pandas as pd

    with reading(where):
        try:
            return getattr(pd, reader)(io.BytesIO(data), **options)
        except ImportError:
            extra = reader.removeprefix("read_")
            fix = f"pip install 'bayes-sota[{extra}]'"
            raise InputError(f"needs the extra {extra}", where=where, fix=fix) from None


def _table_of_parquet(data: bytes, where: str, name: str) -> Table:
    with reading(where):
        from pyarrow.parquet import read_metadata

        about = read_metadata(io.BytesIO(data))
        check_size(8 * about.num_rows * about.num_columns, where)
    frame = _by_pandas("read_parquet", data, where, dtype_backend="numpy_nullable")
    return _table_of_frame(frame, where, name)


def _table_of_workbook(data: bytes, where: str, name: str) -> Table:
    """Table of the first sheet that has rows of several cells, with a note on the others."""
    sheets = _by_pandas("read_excel", data, where, sheet_name=None, header=None, dtype=object)
    found = {}
    for title, sheet in sheets.items():
        cells = sheet.astype(object).where(sheet.notna(), None).to_numpy().tolist()
        rows = [(f"row {i}", row) for i, row in enumerate(cells, 1) if set(row) != {None}]
        if sheet.notna().sum(axis=1).max() > 1:
            found[title] = rows
    if not found:
        raise InputError("no sheet holds a table", where=where)
    first, *others = found
    table = delimited.table_of_rows(found[first], where, name)
    note = f"read sheet {quoted(first)}, not {listed(others)}"
    return replace(table, notes=(*table.notes, note)) if others else table


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
    if hasattr(index, "levels"):
        frame = frame.reset_index()
    elif index.name is not None or index.dtype.kind not in "iu":
        title = index.name if index.name not in (None, *frame.columns) else "index"
        frame = frame.reset_index(names=title)
    of_levels = [title if isinstance(title, tuple) else (title,) for title in frame.columns]
    return frame.set_axis([" ".join(map(str, levels)) for levels in of_levels], axis=1)
