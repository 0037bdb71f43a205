"""Content of untrusted files: regular files, unpacked once, bounded, decoded strictly.

Anything may be gzipped, or be the only table in a zip archive.
"""

import codecs
import gzip
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, cast

from bayes_sota.core.errors import InputError, UnreadableFileError
from bayes_sota.core.files import check_file
from bayes_sota.core.text import plain_text, shown, shown_path
from bayes_sota.data.files import tables

_ENDINGS = ((".csv", ".tsv"), (".json", ".jsonl", ".parquet"), "")  # of the table in an archive
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"  # also of new workbooks that have a password
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Content:
    """Bytes of a file, unpacked.

    Attributes
    ----------
    data : bytes
    where : str
        The file, and its member where it is an archive, for messages.
    name : str
        Name of the file or of the member.
    """

    data: bytes
    where: str
    name: str

    @property
    def stem(self) -> str:
        """Name without its ending."""
        return Path(self.name).stem

    @property
    def kind(self) -> Literal["parquet", "workbook", "json", "text"]:
        """What the bytes look like."""
        if self.data[:4] == b"PAR1":
            return "parquet"
        if self.data[:4] == b"PK\x03\x04":
            return "workbook"
        start = self.data[:_CHUNK].removeprefix(codecs.BOM_UTF8).lstrip()[:1]
        is_json = start in (b"{", b"[") or Path(self.name).suffix.lower() == ".json"
        return "json" if is_json else "text"

    def text(self) -> str:
        """UTF-8 text, with or without a byte-order mark."""
        check_text(self.data, self.where)
        return self.data.decode("utf-8-sig")


def read_content(path: Path, head: int | None = None) -> Content:
    """Content of a file, or only its first bytes.

    Raises
    ------
    InputError
        No regular file, an archive that cannot be unpacked or holds several tables, more bytes
        than ``tables.MAX_BYTES``.
    """
    check_file(path)
    where = shown_path(path)
    try:
        with readable(where, "cannot be read or unpacked"), _unpacked(path) as (stream, member):
            inside = f"{where}/{plain_text(member)}" if member else where
            data = read_bounded(stream, inside, head)
    except InputError as error:
        raise UnreadableFileError(str(error)) from None
    name = path.name
    return Content(data, inside, Path(member).name or name.removesuffix(".gz"))


@contextmanager
def readable(where: str, problem: str) -> Iterator[None]:
    """Whatever a decoder raises for damaged input, most without types of their own, as one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise UnreadableFileError(f"{where}: {problem}: {plain_text(error, 200)}") from None


def read_bounded(stream: IO[bytes], where: str, head: int | None = None) -> bytes:
    """Everything in a stream, or only its first bytes; never more than ``tables.MAX_BYTES``."""
    most = tables.MAX_BYTES + 1 if head is None else head
    kept = io.BytesIO()
    while chunk := stream.read(min(_CHUNK, most - kept.tell())):
        kept.write(chunk)
    tables.check_bytes(kept.tell(), where)
    return kept.getvalue()


def check_text(data: bytes, where: str) -> None:
    """Raise ``UnreadableFileError`` unless bytes are UTF-8 text, by line and byte."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableFileError(f"{where}: UTF-16 text; save it as UTF-8")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableFileError(
            f"{where}: not UTF-8 text (line {line}, byte {data[error.start]:#04x}); save it as "
            "UTF-8"
        ) from None
    nul = data.find(b"\0")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise UnreadableFileError(
            f"{where}: a NUL byte in line {line}: not text, or UTF-16; save it as UTF-8"
        )


@contextmanager
def _unpacked(path: Path) -> Iterator[tuple[IO[bytes], str]]:
    """Stream of the content, unpacked once, and the name of the member of an archive."""
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=file) as stream:
                yield cast(IO[bytes], stream), ""
        elif magic == _OLD_OFFICE:
            raise InputError(
                f"{shown_path(path)}: is an old workbook, or one with a password; save it as .xlsx "
                "without one"
            )
        elif magic in (b"PK\x03\x04", b"PK\x05\x06") or path.suffix.lower() == ".zip":
            with zipfile.ZipFile(file) as archive:
                if "[Content_Types].xml" in archive.namelist():  # an archive by its format only
                    file.seek(0)
                    yield file, ""
                    return
                member = _only_table(archive, shown_path(path))
                with archive.open(member) as inside:
                    yield inside, member.filename
        else:
            yield file, ""


def _only_table(archive: zipfile.ZipFile, where: str) -> zipfile.ZipInfo:
    """The only file of an archive that has the ending of a table, or the only one at all."""
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir()
        and not member.filename.startswith("__MACOSX/")
        and not Path(member.filename).name.startswith(".")
    ]
    by_ending = ([m for m in members if m.filename.lower().endswith(e)] for e in _ENDINGS)
    of_ending = next(filter(None, by_ending), [])
    if len(of_ending) != 1:
        listed = ", ".join(shown(member.filename) for member in of_ending[:5]) or "nothing"
        raise InputError(
            f"{where}: a zip archive must hold one table, this one holds {len(of_ending)} "
            f"({listed}); unpack the one meant"
        )
    if of_ending[0].flag_bits & 1:
        raise InputError(f"{where}: the archive is encrypted; unpack it first")
    tables.check_bytes(of_ending[0].file_size, where)
    return of_ending[0]
