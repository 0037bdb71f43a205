"""Delimited text to a table: comma, semicolon or tab, quoted or not, with a header line."""

import csv
import io

from bayes_sota.data.readers.tables import Table
from bayes_sota.errors import InputError
from bayes_sota.shown_text import shown

__all__ = ["decode_text", "parse_delimited"]

_DELIMITERS = ",;\t"


def decode_text(content: bytes, where: str) -> str:
    """UTF-8 text, with or without a byte-order mark."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{where}: UTF-16 text; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{where}: not UTF-8 text (line {line}, byte {content[error.start]:#04x}); save it as "
            "UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{where}: a NUL byte in line {line}: not text")
    return text


def parse_delimited(text: str, where: str, delimiter: str | None = None, stem: str = "") -> Table:
    """Table of a delimited text; the delimiter is the one that its header line has most of.

    Examples
    --------
    >>> parse_delimited("team;score\\nA;0.9\\n", "board.csv").header
    ('team', 'score')
    """
    if not text.strip():
        raise InputError(f"{where}: the file is empty")
    delimiter = delimiter or _sniffed(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    rows: list[list[str]] = []
    places: list[str] = []
    try:
        before = 0
        for row in reader:
            place, before = f"line {before + 1}", reader.line_num
            if not any(cell.strip() for cell in row) and len(row) <= 1:
                continue  # blank line
            if not header:
                header = [cell.strip() for cell in row]
                continue
            if len(row) != len(header):
                raise InputError(
                    f"{where}: {place} has {len(row)} cells, the header has {len(header)}: "
                    f"{shown(delimiter.join(row))}"
                )
            rows.append(row)
            places.append(place)
    except csv.Error as error:
        raise InputError(f"{where}: line {reader.line_num}: {error}") from None
    columns = tuple(zip(*rows, strict=True)) if rows else ((),) * len(header)
    return Table(tuple(header), columns, places, where, stem)


def _sniffed(text: str) -> str:
    first = next(line for line in text.splitlines() if line.strip())
    bare = "".join(first.split('"')[::2])  # what stands outside quotes
    return max(_DELIMITERS, key=bare.count)
