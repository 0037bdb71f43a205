"""Opening a source: a path, a folder, several files or a data frame, below one limit of bytes."""

import gzip
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import AmbiguousMetricError, InputError, listed, quoted
from bayes_sota.core.files import check_file
from bayes_sota.data import exports, formats, logs
from bayes_sota.data.tables import Table, is_frame, make_table, opened_frame
from bayes_sota.data.words import place_in

MOST_BYTES = 200_000_000
_ARCHIVE = (b"PK\3\4", b"PK\5\6")
_TABLE = r"(?i:(?!__MACOSX).*\.(csv|tsv|txt|json|jsonl|ndjson|xlsx|parquet))"
_WHOLE = logs.MARKS | {"[Content_Types].xml"}  # a log, a workbook
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
        return exports.table_of_search(source, "cv_results_", "cv_results_")
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
    if not logs.MARKS.isdisjoint(members):
        found = read_archive(data, logs.MEMBER, where).items()
        texts = {member: decoded(content, where, member) for member, content in found}
        return logs.table_of_archive(texts, path, metric)
    if members or file_name.lower().endswith(_WORKBOOKS):
        check_size(sum(members.values()), where)
        return _table_of_workbook(data, where, name)
    text = decoded(data, where)
    if text.lstrip()[:1] not in ("[", "{"):
        return formats.parse_delimited(text, where, name)
    value, places = formats.parse_json(text, where)
    if isinstance(value, dict) and exports.is_search(value):
        return exports.table_of_search(value, where, name)
    log = logs.table_of_log(value, places, path, name, metric)
    return log or formats.table_of_json(value, places, where, name)


def read_all(sources: Sequence[Any], metric: str | None) -> list[Table]:
    """Tables of several sources; logs without the metric keep theirs, unless none has it."""
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
    table = formats.table_of_rows(found[first], where, name)
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


def read_bytes(path: Path) -> tuple[bytes, str]:
    """Content of a file and its name; of an archive, those of its only table.

    A workbook and a log of inspect_ai, which are archives too, stay as they are.

    Raises
    ------
    InputError
        A file that cannot be read, an archive of several tables, or more than the limit.
    """
    check_file(path)
    with reading(str(path)):
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        name = path.name
        if data[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(data)) as file:
                data = file.read(MOST_BYTES + 1)
            name = name.removesuffix(".gz")
    check_size(len(data), str(path))
    if not data.startswith(_ARCHIVE) or _WHOLE.intersection(member_sizes(data, str(path))):
        return data, name
    tables = read_archive(data, _TABLE, str(path))
    if len(tables) != 1:
        problem = f"the archive holds {len(tables)} tables ({listed(tables)}); one is needed"
        raise InputError(problem, where=str(path))
    [(member, data)] = tables.items()
    return data, Path(member).name


def read_text(path: Path) -> str:
    """Text of a file; errors as of ``read_bytes``."""
    return decoded(read_bytes(path)[0], str(path))


def decoded(data: bytes, where: str, line: str = "") -> str:
    """Text in UTF-8, or in UTF-16 with its mark."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        start = error.start
    else:
        if "\0" not in text:
            return text
        start = data.find(b"\0")
    line = line or f"line {data.count(b'\n', 0, start) + 1}"
    raise InputError("is not UTF-8 text", where=where, line=line, fix="save it as UTF-8")


def member_sizes(data: bytes, where: str) -> dict[str, int]:
    """Unpacked bytes of each member of a zip archive; empty where bytes are something else."""
    if not data.startswith(_ARCHIVE):
        return {}
    with reading(where), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {one.filename: one.file_size for one in archive.infolist()}


def read_archive(data: bytes, pattern: str, where: str) -> dict[str, bytes]:
    """Members of a zip archive whose names match a pattern, together below the limit."""
    with reading(where), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [one for one in archive.infolist() if re.fullmatch(pattern, one.filename)]
        check_size(sum(one.file_size for one in members), where)
        return {one.filename: archive.read(one) for one in members}


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
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", where=where) from None
