"""Reads response matrices from files: CSV, TSV, JSON, Parquet, plain, gzipped or zipped.

The files are not trusted: nothing in them is executed, sizes are bounded while unpacking, and
what is not an answer is an error with its place (``tests/data/test_response_files.py``).
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayes_sota.data.responses import MISSING, Responses
from bayes_sota.data.unpacking import LARGEST_FILE, decoded, read_unpacked
from bayes_sota.errors import InputError
from bayes_sota.shown_text import plain_text, shown

__all__ = ["ResponseFormat", "answer_of", "looks_like_responses", "read_responses"]

ResponseFormat = Literal["auto", "csv", "tsv", "json", "parquet"]
_HEAD, _HEAD_ROWS = 1_000_000, 200  # what decides whether a file looks like responses

_ITEM_WORDS = (
    "item",
    "doc",
    "document",
    "question",
    "example",
    "instance",
    "sample",
    "case",
    "image",
)
_ITEM_NAMES = {"", "unnamed: 0", "index", "row", "id", "ids", "items"}.union(
    _ITEM_WORDS, (f"{word}_id" for word in _ITEM_WORDS)
)
_ANSWERS = {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0} | dict.fromkeys(
    ("", "na", "n/a", "nan", "<na>", "null", "none", "-1"), MISSING
)


def read_responses(
    path: str | Path, *, format: ResponseFormat = "auto", item_column: str | None = None
) -> Responses:
    """Read which classifier answered which item right.

    Parameters
    ----------
    path : str or Path
        A table with one row per item and one column per classifier, headed by its name, as CSV,
        TSV or Parquet; or JSON ``{"names": [...], "correct": [[...], ...]}``, optionally with
        ``"items"`` and ``"clusters"``. Text may be gzipped, or the only file in a zip archive.
    format : {"auto", "csv", "tsv", "json", "parquet"}
        Default: recognised by the content.
    item_column : str, optional
        Column with the names of the items. Default: the first one if it is named like one
        ("item", "id", "doc_id", ...) or holds other things than answers.

    Returns
    -------
    Responses
        Named after the file. An answer is 0 or 1, true or false; empty, NA, NaN, null or -1 is a
        missing one.

    Raises
    ------
    InputError
        The file cannot be read, unpacks to more than 200 MB, or holds something that is no answer;
        the message says where.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory) / "two.csv"
    ...     _ = path.write_text("item,tree,forest\\na,1,1\\nb,0,1\\nc,,1\\n")
    ...     read_responses(path)
    <Responses 'two': 3 items x 2 classifiers, 1 answer missing>
    """
    if format not in get_args(ResponseFormat):
        known = ", ".join(get_args(ResponseFormat))
        raise InputError(f"format must be one of {known}, got {format!r}")
    path = Path(path)
    content = read_unpacked(path, LARGEST_FILE)
    if len(content) > LARGEST_FILE:
        raise InputError(f"{path.name}: more than {LARGEST_FILE // 10**6} MB unpacked")
    kind = _recognised(content) if format == "auto" else format
    try:
        if kind == "json":
            return _from_json(content, _label(path), item_column)
        if kind == "parquet":
            return _from_parquet(content, _label(path), item_column)
        return _from_text(decoded(content), kind, _label(path), item_column)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None


def looks_like_responses(path: str | Path) -> bool:
    """Whether a file is a response matrix rather than a leaderboard, by its first 200 rows.

    It is one where every column but the first holds nothing but answers, and at least two do.
    A file that cannot be read as a table is not one.

    Examples
    --------
    >>> looks_like_responses("no-such-file.csv")
    False
    """
    try:
        path = Path(path)
        head = read_unpacked(path, _HEAD)
        kind = _recognised(head)
        if kind == "json":
            return b'"correct"' in head
        rows: Sequence[Sequence[object]]
        if kind == "parquet":
            rows = _parquet_head(read_unpacked(path, LARGEST_FILE))
        else:
            rows = _text_head(head)
    except InputError:
        return False
    columns = list(zip(*rows, strict=True))[1:]
    answers = [{answer_of(cell) for cell in column} for column in columns]
    filled = sum(bool(found & {0, 1}) for found in answers)
    return filled >= 2 and all(found <= {0, 1, MISSING} for found in answers)


def _label(path: Path) -> str:
    """Name of the file without its endings."""
    name = path.name
    for ending in (".gz", ".zip", ".csv", ".tsv", ".txt", ".json", ".parquet"):
        name = name.removesuffix(ending)
    return name or path.name


def _recognised(content: bytes) -> str:
    if content[:4] == b"PAR1":
        return "parquet"
    return "json" if content[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv"


def _delimiter(header: str, kind: str) -> str:
    if kind == "tsv":
        return "\t"
    return max(",", "\t", ";", key=header.count)  # the first of equals


def _rows(text: str, kind: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each row that is not blank."""
    delimiter = _delimiter(text[:_HEAD].lstrip("\r\n").partition("\n")[0], kind)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"line {reader.line_num} is not CSV ({plain_text(error, 200)})") from None


def answer_of(cell: object) -> int | None:
    """Answer that a cell says; None where it says something else."""
    if isinstance(cell, str):
        return _ANSWERS.get(cell) if cell in _ANSWERS else _ANSWERS.get(cell.strip().lower())
    if cell is None or cell != cell:
        return MISSING
    return int(cell) if isinstance(cell, (bool, int, float)) and cell in (-1, 0, 1) else None


def _from_text(text: str, kind: str, name: str, item_column: str | None) -> Responses:
    rows = _rows(text, kind)
    _, header = next(rows, (0, []))
    _check_header(header)
    lines, table = [], []
    for line, row in rows:
        if len(row) != len(header):
            raise InputError(f"line {line} has {len(row)} columns, the header has {len(header)}")
        lines.append(line)
        table.append(row)
    where = _item_position(header, [row[0] for row in table], item_column)
    items = None if where is None else [row[where].strip() for row in table]
    if items is not None:
        _check_items(items, lines, header[where or 0])
    columns = [j for j in range(len(header)) if j != where]
    correct = np.empty((len(table), len(columns)), np.int8)
    for i, row in enumerate(table):
        correct[i] = _answers_of_row([row[j] for j in columns], lines[i], header, columns)
    return Responses(correct, names=[header[j].strip() for j in columns], items=items, name=name)


def _check_header(header: list[str]) -> None:
    if not header:
        raise InputError("the file is empty")
    if len(header) > 1 and all(answer_of(cell) is not None for cell in header):
        raise InputError("line 1 must name the classifiers, but it holds answers")
    for number, cell in enumerate(header[1:], start=2):
        if not cell.strip():
            raise InputError(f"line 1, column {number} has no name")


def _check_items(items: list[str], lines: list[int], column: str) -> None:
    seen: dict[str, int] = {}
    for item, line in zip(items, lines, strict=True):
        if not item:
            raise InputError(f"line {line}, column {column!r}: the item has no name")
        if item in seen:
            first = seen[item]
            raise InputError(
                f"line {line}, column {column!r}: item {item!r} is already on line {first}; if "
                "this is a column of answers, name another one as item_column"
            )
        seen[item] = line


def _item_position(
    header: Sequence[str], first_column: Sequence[object], item_column: str | None
) -> int | None:
    """Number of the column that names the items, if there is one."""
    if item_column is not None:
        if list(header).count(item_column) != 1:
            listed = ", ".join(map(shown, header[:5])) + (", ..." * (len(header) > 5))
            raise InputError(f"there is no column {item_column!r} for the items; columns: {listed}")
        return list(header).index(item_column)
    if header[0].strip().lower() in _ITEM_NAMES:
        return 0
    if all(answer_of(cell) is not None for cell in first_column):
        return None
    # A slip in a column of answers must not turn it into names: those never repeat, or are words.
    distinct = len(set(first_column)) == len(first_column)
    return 0 if distinct or not _is_number(first_column[0]) else None


def _is_number(cell: object) -> bool:
    try:
        float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return answer_of(cell) is not None
    return True


def _answers_of_row(
    cells: list[str], line: int, header: list[str], columns: list[int]
) -> list[int]:
    answers = [answer_of(cell) for cell in cells]
    if None in answers:
        wrong = answers.index(None)
        cell, column = shown(cells[wrong]), header[columns[wrong]]
        raise InputError(
            f"line {line}, column {column!r}: {cell} is no answer; write 1 (right), 0 (wrong) or "
            "nothing (missing)"
        )
    return [answer for answer in answers if answer is not None]


def _text_head(head: bytes) -> Sequence[Sequence[object]]:
    """First rows below the header; none where they are not a table."""
    if len(head) > _HEAD:
        head = head[: head.rfind(b"\n") + 1]  # the last line may be cut
    rows = [row for _, row in islice(_rows(decoded(head), "csv"), _HEAD_ROWS + 1)]
    return rows[1:] if len({len(row) for row in rows}) == 1 else []


def _from_json(content: bytes, name: str, item_column: str | None) -> Responses:
    if item_column is not None:
        raise InputError('JSON has no columns: the items are named by its key "items"')
    try:
        data = json.loads(decoded(content))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({plain_text(error, 200)})") from None
    form = 'write {"names": [...], "correct": [[...], ...]}'
    if not isinstance(data, dict) or not {"names", "correct"} <= set(data):
        raise InputError(f"is not a response matrix; {form}")
    unknown = sorted(set(data) - {"names", "correct", "items", "clusters"})
    if unknown:
        raise InputError(f"the key {unknown[0]!r} is unknown; {form}")
    for key in ("names", "items", "clusters"):
        if data.get(key) is not None and not _all_text(data[key]):
            raise InputError(f"{key!r} must be a list of strings")
    rows = data["correct"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError("'correct' must be a list of lists, one for each item")
    labels = {key: data.get(key) for key in ("names", "items", "clusters")}
    return Responses(rows, **labels, name=name)


def _all_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


@contextmanager
def _broken_parquet() -> Iterator[None]:
    """Errors of pyarrow as one line."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"is not Parquet ({plain_text(error, 200)})") from None


def _parquet_file(content: bytes) -> Any:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise InputError("reading Parquet needs pyarrow: python -m pip install pyarrow") from None
    with _broken_parquet():
        file = parquet.ParquetFile(io.BytesIO(content))
    shape = file.metadata
    sizes = [shape.row_group(group).total_byte_size for group in range(shape.num_row_groups)]
    if shape.num_rows * shape.num_columns > LARGEST_FILE or sum(sizes) > LARGEST_FILE:
        raise InputError(f"more than {LARGEST_FILE // 10**6} MB unpacked")
    for field in file.schema_arrow:
        if field.type.num_fields:
            raise InputError(f"column {field.name!r} holds {field.type}, not answers")
    return file


def _parquet_head(content: bytes) -> Sequence[Sequence[object]]:
    with _broken_parquet():
        batch = next(_parquet_file(content).iter_batches(_HEAD_ROWS), None)
    columns = [] if batch is None else [column.to_pylist() for column in batch.columns]
    return list(zip(*columns, strict=True))


def _from_parquet(content: bytes, name: str, item_column: str | None) -> Responses:
    with _broken_parquet():
        table = _parquet_file(content).read()
    header = [str(column) for column in table.column_names]
    if not header or not table.num_rows:
        raise InputError("the file is empty")
    where = _item_position(header, table.column(0).to_pylist(), item_column)
    items = None if where is None else table.column(where).to_pylist()
    columns = [j for j in range(len(header)) if j != where]
    correct = np.column_stack([_parquet_answers(table.column(j), header[j]) for j in columns])
    return Responses(correct, names=[header[j] for j in columns], items=items, name=name)


def _parquet_answers(column: Any, name: str) -> NDArray[np.int8]:
    """Answers in one column; flat types only."""
    answers = [answer_of(cell) for cell in column.to_pylist()]
    if None in answers:
        row = answers.index(None)
        cell = shown(column[row].as_py())
        raise InputError(
            f"row {row + 1}, column {name!r}: {cell} is no answer; write 1 (right), 0 (wrong) or "
            "null (missing)"
        )
    return np.array(answers, np.int8)
