"""How large a file may be: every reader's bounds, stated once.

With them every file is read or refused in about 2 GiB of memory (``tests/data/test_files.py``).
"""

from bayes_sota.core.errors import InputError

MAX_BYTES = 200_000_000  # unpacked; a leaderboard of a million teams has a quarter of that
MAX_ROWS = 2_000_000  # a leaderboard of a million teams has half of that
MAX_COLUMNS = 10_000
MAX_CELLS = 32_000_000  # answers of 300 classifiers to 100,000 items
MAX_DIFFERENT = 12_000_000  # cells of text that no other cell equals take most of the memory
MAX_VALUES = 10_000_000  # of JSON


def check_bytes(size: int, where: str) -> None:
    """Raise ``InputError`` where a file has more bytes than are read."""
    if size > MAX_BYTES:
        raise InputError(f"{where}: more than {MAX_BYTES:,} bytes unpacked, which is the limit")


def check_shape(rows: int, columns: int, where: str) -> None:
    """Raise ``InputError`` where a table is larger than what is read.

    Examples
    --------
    >>> check_shape(2, 10_001, "wide.csv")
    Traceback (most recent call last):
    bayes_sota.core.errors.InputError: wide.csv: more than 10,000 columns, which is the limit
    """
    for found, limit, what in (
        (columns, MAX_COLUMNS, "columns"),
        (rows, MAX_ROWS, "rows"),
        (rows * columns, MAX_CELLS, "cells"),
    ):
        if found > limit:
            raise InputError(f"{where}: more than {limit:,} {what}, which is the limit")
