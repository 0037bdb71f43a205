"""A path to a table: which format it is, and what an archive may hold."""

import os
import zipfile
import zlib
from pathlib import Path
from typing import Any, Literal

from bayes_sota.data.readers.columnar_tables import is_frame, read_parquet, table_of_frame
from bayes_sota.data.readers.json_tables import parse_json
from bayes_sota.data.readers.tables import Table
from bayes_sota.data.readers.text_tables import decode_text, parse_delimited
from bayes_sota.errors import InputError
from bayes_sota.shown_text import shown

__all__ = ["MAX_BYTES", "FileFormat", "open_table"]

FileFormat = Literal["auto", "csv", "tsv", "json", "parquet", "kaggle"]

MAX_BYTES = 200_000_000  # of text; a leaderboard of a million teams has a quarter of that
_FORMATS = ("auto", "csv", "tsv", "json", "parquet", "kaggle")


def open_table(source: Any, file_format: str = "auto") -> Table:
    """Table of a file or a frame.

    Raises
    ------
    InputError
        A file that cannot be read as what it seems to be; the message names it and says why.
    """
    if file_format not in _FORMATS:
        raise InputError(f"format must be one of {', '.join(_FORMATS)}, got {file_format!r}")
    if is_frame(source):
        return table_of_frame(source)
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            "a leaderboard is read from a path or from a pandas or polars frame, got "
            f"{type(source).__name__}; scores themselves go to Leaderboard(scores, ...)"
        )
    path = Path(source)
    _check_readable(path)
    try:
        return _open_file(path, file_format)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None


def _check_readable(path: Path) -> None:
    try:
        problem = _problem_of(path)
    except (OSError, ValueError) as error:  # a name that no file can have
        problem = f"cannot be read ({getattr(error, 'strerror', None) or error})"
    if problem:
        raise InputError(f"{shown(str(path)) if chr(0) in str(path) else path}: {problem}")


def _problem_of(path: Path) -> str:
    if path.is_dir():
        return "is a directory; name the file of a leaderboard"
    if not path.exists():
        return "there is no such file"
    if not path.is_file():
        return "not a regular file"
    return ""


def _open_file(path: Path, file_format: str) -> Table:
    with path.open("rb") as file:
        start = file.read(4)
    if not start:
        raise InputError(f"{path}: the file is empty")
    suffix = path.suffix.lower()
    if file_format == "parquet" or (file_format == "auto" and start == b"PAR1"):
        return read_parquet(path, MAX_BYTES)
    where, stem = str(path), path.stem
    if start == b"PK\x03\x04" or start == b"PK\x05\x06" or suffix == ".zip":
        content, member = _unzipped(path)
        where, stem, suffix = f"{path}/{member}", Path(member).stem, Path(member).suffix.lower()
    else:
        content = _read_limited(path)
    return _parse_text(decode_text(content, where), where, stem, suffix, file_format)


def _parse_text(text: str, where: str, stem: str, suffix: str, file_format: str) -> Table:
    seems_json = suffix == ".json" or text.lstrip()[:1] in ("[", "{")
    if file_format == "json" or (file_format == "auto" and seems_json):
        return parse_json(text, where, stem)
    return parse_delimited(text, where, "\t" if file_format == "tsv" else None, stem)


def _read_limited(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InputError(f"{path}: more than {MAX_BYTES:,} bytes: not a leaderboard")
    return content


def _unzipped(path: Path) -> tuple[bytes, str]:
    """Content and name of the only table in an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            member = _only_table(path, archive.infolist())
            if member.flag_bits & 1:
                raise InputError(f"{path}: the archive is encrypted; unpack it first")
            if member.file_size > MAX_BYTES:
                raise InputError(_too_large(path))
            with archive.open(member) as file:
                content = file.read(MAX_BYTES + 1)  # whatever the archive declares
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path}: not a readable zip archive ({error})") from None
    if len(content) > MAX_BYTES:
        raise InputError(_too_large(path))
    return content, member.filename


def _too_large(path: Path) -> str:
    return f"{path}: the archive unpacks to more than {MAX_BYTES:,} bytes: not a leaderboard"


def _only_table(path: Path, members: list[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    names = [Path(m.filename).name for m in members]
    tables = [
        member
        for member, name in zip(members, names, strict=True)
        if name.lower().endswith((".csv", ".tsv"))
        and not name.startswith(".")
        and not member.filename.startswith("__MACOSX/")
    ]
    if len(tables) == 1:
        return tables[0]
    if not tables:
        inside = ", ".join(shown(name) for name in names[:5]) or "nothing"
        raise InputError(f"{path}: no CSV in the archive, only {inside}")
    found = ", ".join(shown(member.filename) for member in tables[:5])
    raise InputError(f"{path}: {len(tables)} CSVs in the archive ({found}); unpack the one meant")
