"""Content of files from strangers: unpacked once, bounded, decoded strictly.

Text may be gzipped, or the only file in a zip archive (``tests/data/test_response_files.py``).
"""

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from bayes_sota.errors import InputError
from bayes_sota.shown_text import plain_text

__all__ = ["LARGEST_FILE", "UNPACKING_ERRORS", "decoded", "read_unpacked"]

LARGEST_FILE = 200_000_000  # bytes, unpacked
UNPACKING_ERRORS = (
    OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError,
)  # fmt: skip


@contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Stream of the content, unpacked once."""
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=file) as stream:
                yield cast(IO[bytes], stream)
        elif magic == b"PK\x03\x04":
            with zipfile.ZipFile(file) as archive, archive.open(_only_member(archive)) as member:
                yield member
        else:
            yield file


def _only_member(archive: zipfile.ZipFile) -> str:
    names = [
        name
        for name in archive.namelist()
        if not name.endswith("/") and not name.startswith("__MACOSX/")
    ]
    if len(names) != 1:
        raise InputError(f"a zip archive must hold one file, this one holds {len(names)}")
    return names[0]


def read_unpacked(path: Path, limit: int, where: str | None = None) -> bytes:
    """At most ``limit + 1`` bytes of the content; errors begin with ``where``, or the name."""
    if not path.is_file():
        raise InputError(f"{where or path}: there is no such file")
    try:
        with _unpacked(path) as stream:
            return stream.read(limit + 1)
    except InputError as error:
        raise InputError(f"{where or path.name}: {error}") from None
    except UNPACKING_ERRORS as error:
        problem = f"cannot be read or unpacked ({plain_text(error, 200)})"
        raise InputError(f"{where or path.name}: {problem}") from None


def decoded(content: bytes) -> str:
    """UTF-8 text, with or without a byte-order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        byte = content[error.start]
        raise InputError(f"line {line} is not UTF-8 text (byte 0x{byte:02x})") from None
