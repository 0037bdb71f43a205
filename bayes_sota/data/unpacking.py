"""Bytes of a file, unpacked, below one limit."""

import gzip
import io
import lzma
import zipfile
import zlib
from pathlib import Path

from bayes_sota.core.errors import InputError, listed
from bayes_sota.core.files import check_file

MOST_BYTES = 200_000_000
DAMAGED = (OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
DAMAGED += (NotImplementedError, RuntimeError, UnicodeDecodeError)
"""What unpacking a file raises that is broken, encrypted, or packed in an unknown way."""
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
        elif zipfile.is_zipfile(io.BytesIO(data)):
            data, name = _from_archive(data, path)
    except DAMAGED as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", where=str(path)) from None
    if len(data) > MOST_BYTES:
        raise InputError(f"holds more than {MOST_BYTES:,} bytes", where=str(path))
    return data, name


def _from_archive(data: bytes, path: Path) -> tuple[bytes, str]:
    """The only table of a zip archive; a workbook, which is an archive too, stays as it is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if any(member.filename == "[Content_Types].xml" for member in members):
            if sum(member.file_size for member in members) > MOST_BYTES:
                raise InputError(f"holds more than {MOST_BYTES:,} bytes", where=str(path))
            return data, path.name
        names = [member.filename for member in members]
        found = [name for name in names if name.lower().endswith(TABLES) and "__MACOSX" not in name]
        if len(found) != 1:
            what = f"{len(found)} tables ({listed(found)})" if found else "no table"
            raise InputError(f"the archive holds {what}; one is needed", where=str(path))
        with archive.open(found[0]) as member:
            return member.read(MOST_BYTES + 1), Path(found[0]).name
