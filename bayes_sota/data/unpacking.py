"""Bytes of a file, unpacked, below one limit."""

import gzip
import io
import zipfile
from pathlib import Path

from bayes_sota.core.errors import InputError, listed
from bayes_sota.core.files import check_file

MOST_BYTES = 200_000_000
TABLES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".xlsx", ".parquet")


def read_bytes(path: Path) -> tuple[bytes, str]:
    """Content of a file and its name; of an archive, those of its only table.

    Raises
    ------
    InputError
        A file that cannot be read, an archive of several tables, or more than the limit.
    """
    check_file(path)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        name = path.name
        if data[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(data)) as file:
                data = file.read(MOST_BYTES + 1)
            name = name.removesuffix(".gz")
        if zipfile.is_zipfile(io.BytesIO(data)):
            data, name = _from_archive(data, path)
    except InputError:
        raise
    except Exception as error:  # archives pass on whatever their decoders raise
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", where=str(path)) from None
    if len(data) > MOST_BYTES:
        raise _too_large(str(path))
    return data, name


def check_unpacked(data: bytes, where: str) -> None:
    """Raise ``InputError`` if a workbook or a Parquet file becomes larger than the limit."""
    if data[:4] == b"PAR1":
        from pyarrow.parquet import read_metadata

        about = read_metadata(io.BytesIO(data))
        size = 8 * about.num_rows * about.num_columns
    elif zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    else:
        size = len(data)
    if size > MOST_BYTES:
        raise _too_large(where)


def _too_large(where: str) -> InputError:
    return InputError(f"holds more than {MOST_BYTES:,} bytes", where=where)


def read_text(path: Path) -> str:
    """Text of a file; errors as of ``read_bytes``."""
    return decoded(read_bytes(path)[0], str(path))


def decoded(data: bytes, where: str) -> str:
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
    line = f"line {data.count(b'\n', 0, start) + 1}"
    raise InputError("is not UTF-8 text", where=where, line=line, fix="save it as UTF-8")


def _from_archive(data: bytes, path: Path) -> tuple[bytes, str]:
    """The only table of a zip archive; a workbook, which is an archive too, stays as it is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if any(member.filename == "[Content_Types].xml" for member in members):
            return data, path.name.removesuffix(".gz")
        names = [member.filename for member in members]
        found = [name for name in names if name.lower().endswith(TABLES) and "__MACOSX" not in name]
        if len(found) != 1:
            what = f"{len(found)} tables ({listed(found)})" if found else "no table"
            raise InputError(f"the archive holds {what}; one is needed", where=str(path))
        with archive.open(found[0]) as member:
            return member.read(MOST_BYTES + 1), Path(found[0]).name
