"""Opening a source: a path, a folder, several files or a data frame."""

import io
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import AmbiguousMetricError, InputError
from bayes_sota.data import delimited, logs, records
from bayes_sota.data.frames import is_frame
from bayes_sota.data.tables import Table, make_table
from bayes_sota.data.unpacking import read_bytes
from bayes_sota.data.words import place_in

WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
LOGS = (".json", ".jsonl", ".eval")


def read_table(source: Any, metric: str | None = None) -> Table:
    """Table of a path, a folder of logs, a list of paths or a data frame.

    Text with commas, semicolons or tabs, Markdown, JSON and JSON lines, Excel and Parquet; text may
    be gzipped or zipped. Frames of pandas, polars and whatever else narwhals opens. Of several
    metrics in the logs of evaluation tools, ``metric`` is the score, in the tasks that have it.
    """
    if isinstance(source, Table):
        return source
    if is_frame(source):
        return _table_of_frame(source, "the data frame", "table")
    if isinstance(source, list | tuple):
        return stack(read_all(source, metric))
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            f"a table is read from a path or a data frame, got {type(source).__name__}"
        )
    path = Path(source)
    if path.is_dir():
        table = read_table(logs.files_in(path), metric)
        return replace(table, where=str(source), name=path.resolve().name)
    archived = logs.read_archive(path, metric)
    if archived is not None:
        return archived
    data, file_name = read_bytes(path)
    where, name = str(source), Path(file_name).stem
    ending = Path(file_name).suffix.lower()
    if ending in WORKBOOKS or data[:4] == b"PAR1":
        return _table_of_frame(_read_by_pandas(data, where), where, name)
    text = _decoded(data, where)
    if text.lstrip()[:1] not in ("[", "{"):
        return delimited.parse_delimited(text, where, name)
    value, places = records.parse_json(text, where)
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
    for table in tables:
        if table.origin != tables[0].origin:
            kinds = [f"{one.where} ({one.origin or 'a table'})" for one in (tables[0], table)]
            raise InputError(f"files of one format can be joined, these are {' and '.join(kinds)}")
    header = list(dict.fromkeys(name for table in tables for name in table.columns))
    columns: dict[str, list[Any]] = {name: [] for name in header}
    for table in tables:
        for name, cells in columns.items():
            cells.extend(table.columns.get(name, [None] * len(table)))
    if not any(place_in("entry", name) is not None for name in header):
        names = file_names(tables)
        columns["model"] = [
            name for name, table in zip(names, tables, strict=True) for _ in table.lines
        ]
    lines = [f"{table.where}, {line}" for table in tables for line in table.lines]
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    stacked = replace(
        tables[0],
        columns=columns,
        lines=lines,
        where=f"{len(tables)} files" if len(tables) > 1 else tables[0].where,
        notes=tuple(notes),
        n_files=len(tables),
    )
    return logs.join_logs(stacked) if stacked.origin else stacked


def file_names(tables: Sequence[Table]) -> list[str]:
    """Names of files, or of their folders where files have the same name."""
    names = [table.name for table in tables]
    if len(set(names)) == len(names):
        return names
    return [Path(table.where).resolve().parent.name for table in tables]


def _decoded(data: bytes, where: str) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = f"line {data.count(b'\n', 0, error.start) + 1}"
        raise InputError("is not UTF-8 text", where=where, line=line) from None


def _read_by_pandas(data: bytes, where: str) -> Any:
    import pandas as pd

    try:
        if data[:4] == b"PAR1":
            return pd.read_parquet(io.BytesIO(data))
        return pd.read_excel(io.BytesIO(data), dtype=object)
    except Exception as error:  # pandas passes on whatever its engines raise
        raise InputError(f"cannot be read ({error})", where=where) from None


def _table_of_frame(frame: Any, where: str, name: str) -> Table:
    """Table of a frame, with the index of pandas as a column where it is more than a count."""
    import narwhals as nw

    index: Any = getattr(frame, "index", None)
    if hasattr(frame, "reset_index") and (index.name is not None or index.dtype.kind not in "iu"):
        title = index.name if index.name not in (None, *frame.columns) else "index"
        frame = frame.reset_index(names=title)
    opened = nw.from_native(frame, eager_only=True)
    columns = []
    for title in opened.columns:
        series = opened[title]
        cells = series.to_list()
        if series.dtype == nw.Float32:  # 0.9, not 0.8999999762
            cells = [float(f"{cell:.7g}") for cell in cells]
        columns.append(cells)
    lines = [f"row {number}" for number in range(1, len(opened) + 1)]
    return make_table(opened.columns, columns, lines, where, name)
