"""From any source to a table, below one limit of bytes, and from there to one row per score."""

import gzip
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.files import check_file
from bayes_sota.core.text import nearest
from bayes_sota.data import logs, tables, words
from bayes_sota.data.layouts import Layout, find_layout
from bayes_sota.data.tables import Table
from bayes_sota.data.tidy import Tidy, battles_of, joined, melt
from bayes_sota.data.words import COLUMNS, key, place_in

type Direction = Literal["lower", "higher"] | None

_NAMING = ("entry", "unit", "task", "fold", "metric")  # roles of what may be summed up
_MOST_METRICS = 100  # rows of a table, if they are metrics
_MOST_IN_A_ROW = 9  # whole numbers one after the other that may be scores
_FILTERED = ("entry", "task", "metric", "unit", "opponent")
MOST_BYTES = 200_000_000
_WHOLE = logs.MARKS | {"[Content_Types].xml"}  # a log, a workbook


def read_tidy(
    source: Any,
    use: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    direction: Direction = None,
    **roles: str,
) -> Tidy:
    """Scores of any table, one row each.

    Parameters
    ----------
    source : path, data frame or Table
    use : list of str, optional
        Columns that hold scores; the others do not compete.
    leave_out : list of str
        Columns, entries, tasks, metrics or items to ignore.
    direction : {"lower", "higher"}, optional
        Which scores are better; needed where a name says that scores are losses.
    **roles : str
        Column of a role: ``entry="team"``, ``score="acc"``. For logs ``score`` is the metric.

    Raises
    ------
    InputError
        A table that can be read in several ways, or a cell that is wrong.
    """
    for role in roles:
        check_choice("the role of a column", role, COLUMNS)
    if "group" in roles:
        roles["cluster"] = roles.pop("group")
    tables = read_all(source, roles.get("score"))
    if tables[0].origin:
        roles.pop("score", None)  # the metric of a log
    columns = {name for name in leave_out if all(name in table.columns for table in tables)}
    parts = list[Tidy]()
    for table in tables:
        kept = {title: of for title, of in table.columns.items() if title not in columns}
        parts.append(_scores_of(replace(table, columns=kept), use or [], direction, roles))
    tidy = _without(joined(parts), [name for name in leave_out if name not in columns])
    _check_one_metric(tidy)
    are_losses = tidy.layout != "battles" and _are_losses(tidy, direction)
    return replace(tidy, asked=frozenset(roles), are_losses=are_losses)


def _scores_of(
    table: Table, use: Sequence[str], direction: Direction, roles: Mapping[str, str]
) -> Tidy:
    if not use and (battles := battles_of(table, roles)) is not None:
        return battles
    is_competition = {"teamid", "teamname", "score"} <= set(map(key, table.columns))  # Kaggle
    if is_competition:
        table = logs.clean(table, roles.get("score", "score"), direction == "lower")
    layout = find_layout(table, roles, use)
    tidy = melt(_without_summaries(table, layout), layout)
    if not use:
        _check_one_scale(tidy)
    return replace(tidy, is_competition=is_competition)


def _without(tidy: Tidy, names: Sequence[str]) -> Tidy:
    there = [tidy.labels[role] for role in _FILTERED if role in tidy.labels]
    known = {label for labels in there for label in labels} if names else set()
    gone = "".join(note for note in tidy.notes if note.startswith("left out"))  # tasks of logs
    for name in names:
        if name not in known and quoted(name) not in gone:
            problem = f"nothing is called {quoted(name)}, so it cannot be left out"
            raise tidy.error(problem + nearest(name, known))
    left_out = [np.isin(labels, names) for labels in there]
    return tidy.take(np.flatnonzero(~np.any(left_out, axis=0))) if names else tidy


def _without_summaries(table: Table, layout: Layout) -> Table:
    dropped: dict[int, str] = {}
    for role in [role for role in _NAMING if role in layout.roles]:
        names = list(map(str, table.columns[layout.roles[role]]))
        summaries = {name for name in set(names) if words.is_summary_row(name, role == "entry")}
        if role == "unit":  # the score of all items
            scores = {name for name in set(names) if words.is_role_word(name, "score")}
            summaries |= scores if scores < set(names) else set()
        if summaries:  # alone, "n" may be an item, and "SD" an entry
            beside = words.SETS["beside_summaries"]
            summaries |= {of for of in names if key(of) in beside or words.is_statistic(of)}
        dropped |= {row: name for row, name in enumerate(names) if name in summaries}
    if not dropped:
        return table
    named = list(dict.fromkeys(dropped.values()))
    note = f"dropped summary row{'s' * (len(named) > 1)} {listed(named)}"
    return table.take([row for row in range(len(table)) if row not in dropped], note)


def _check_one_metric(tidy: Tidy) -> None:
    metrics = sorted(set(tidy.labels.get("metric", ())))
    if len(metrics) > 1 and tidy.count(*(tidy.labels.keys() - {"metric"})) < len(tidy):
        problem = f"scores are of several metrics: {listed(metrics)}"
        raise tidy.error(problem, "leave_out", "leave out all but one with {option}")


def _check_one_scale(tidy: Tidy) -> None:
    """Refuse shares or percent beside larger numbers."""
    columns = tidy.value.reshape(len(tidy.titles), -1)
    known = [cells for of in columns if (cells := np.sort(of[~np.isnan(of)])).size]
    counts = {cells.size > _MOST_IN_A_ROW and bool((np.diff(cells) == 1).all()) for cells in known}
    least, middle, largest = np.array([(of[0], np.median(of), of[-1]) for of in known]).T
    shares = [(least >= 0) & (largest <= end) & (middle.max() > 2 * end) for end in (1, 100)]
    if np.any(shares) or len(counts) > 1:
        problem = f"columns of numbers are on different scales: {listed(tidy.titles)}"
        raise tidy.error(problem, "use", "choose those that hold scores with {option}")


def _are_losses(tidy: Tidy, direction: Direction) -> bool | None:
    """Whether lower is better, None if by task; names of losses need a direction."""
    if direction not in (None, "lower", "higher"):
        raise tidy.error(f"got {direction!r}", "direction", "give {option}")
    opposite = [[name for name in tidy.titles if of(name)] for of in (words.is_loss, words.is_gain)]
    if tidy.layout == "tasks" and all(opposite):  # elsewhere columns are entries
        problem = f"lower is better in {listed(opposite[0])}, higher in {listed(opposite[1])}"
        raise tidy.error(problem, "use", "choose columns of one direction with {option}")
    told = {word.lower() in ("false", "0") for word in tidy.labels.get("direction", ()) if word}
    if len(told) > 1:
        return None
    if direction or told:
        return direction == "lower" if direction else told.pop()
    is_wide = tidy.layout == "wide"
    are_answers = is_wide and np.isin(np.nan_to_num(tidy.value), (-1, 0, 1)).all()
    names = [] if are_answers else list(tidy.titles)
    for role in ("metric", "task", *["unit"] * is_wide):
        known = tidy.names(role)[0] if role in tidy.labels else []
        names += known if len(known) <= _MOST_METRICS else []
    names += [note for note in tidy.notes if note.startswith("dropped line")]  # a title, in words
    losses = list(dict.fromkeys(name for name in names if words.is_loss(name)))
    if losses:
        problem = f"{listed(losses)} look{'s' * (len(losses) == 1)} like losses (lower is better)"
        others = "; the direction applies to all metrics" * (len(losses) < len(names))
        raise tidy.error(problem, "direction", "give {option}" + others)
    return False


def read_table(source: Any, metric: str | None = None) -> Table:
    """Table of a path, a folder of logs, a list of paths or a data frame."""
    parts = read_all(source, metric)
    if len(parts) > 1:
        raise InputError("several files need a column that names the entries", where=parts[1].where)
    return parts[0]


def read_all(source: Any, metric: str | None = None) -> list[Table]:
    """Tables of a source or a list of them; that of logs with one metric of each task."""
    parts = open_all(source)
    return [logs.choose_metric(parts[0], metric)] if parts[0].origin else parts


def open_all(source: Any) -> list[Table]:
    """Tables as in ``read_all``, but that of logs has a row for each metric."""
    parts = list(map(_opened, source if isinstance(source, list | tuple) else [source]))
    if not parts:
        raise InputError("there are no files to read")
    are_named = all(any(place_in("entry", x) is not None for x in of.columns) for of in parts)
    if are_named or any(table.origin for table in parts):
        parts = [_below_each_other(parts)]
    elif len({table.name for table in parts}) < len(parts):  # files of a model in its folder
        parts = [replace(of, name=Path(of.where).resolve().parent.name) for of in parts]
    return [logs.name_models(parts[0])] if parts[0].origin else parts


def _below_each_other(parts: Sequence[Table]) -> Table:
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


def _opened(source: Any) -> Table:
    """Table of one source; whatever a decoder raises becomes an ``InputError``."""
    if isinstance(source, Table):
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


def _table_of_path(path: Path, where: str) -> Table:
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
    """Rows of the first sheet that holds a table, with a note on the others."""
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


def _table_of_frame(frame: Any, **source: str) -> Table:
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
    """Content of a file, its name, and the members of a workbook or a log of inspect_ai."""
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
