"""Bytes and text of files, unpacked, below one limit."""

import gzip
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bayes_sota.core.errors import InputError, listed
from bayes_sota.core.files import check_file

MOST_BYTES = 200_000_000
_ARCHIVE = (b"PK\3\4", b"PK\5\6")
_TABLE = r"(?i:(?!__MACOSX).*\.(csv|tsv|txt|json|jsonl|ndjson|xlsx|parquet))"
_WHOLE = {"[Content_Types].xml", "header.json", "_journal/start.json"}  # a workbook, a log


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
