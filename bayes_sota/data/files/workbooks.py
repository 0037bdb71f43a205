"""Excel workbooks to a table: the only visible sheet that has one, as pandas reads it.

``tests/data/test_workbooks.py`` holds what is read and what is refused.
"""

import io
import warnings
import zipfile
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.files import tables
from bayes_sota.data.files.content import readable
from bayes_sota.data.files.tables import Table


def parse_workbook(data: bytes, where: str, stem: str = "") -> Table:
    """Table of the content of a workbook (.xlsx, .xlsm).

    Its first row with several cells has the names of the columns. Formulas count with the values
    that were stored, and text keeps its digits.

    Raises
    ------
    InputError
        No workbook, no sheet or several sheets with data, or no openpyxl.
    """
    import pandas as pd

    with readable(where, "not a readable Excel workbook"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts that are not read
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            tables.check_bytes(sum(part.file_size for part in archive.infolist()), where)
        try:
            book = pd.ExcelFile(io.BytesIO(data), engine="openpyxl")
        except ImportError:
            raise InputError(
                f"{where}: reading Excel needs openpyxl: pip install 'bayes-sota[excel]'"
            ) from None
        visible = [s.title for s in book.book.worksheets if s.sheet_state == "visible"]
        sheets = book.parse(visible, header=None, dtype=object, keep_default_na=False)
    filled = {name: sheet for name, sheet in sheets.items() if sheet.size}
    with_tables = {name: sheet for name, sheet in filled.items() if sheet.shape[1] > 1} or filled
    if len(with_tables) != 1:
        names = ", ".join(map(shown, list(with_tables)[:8])) or "none"
        raise InputError(
            f"{where}: one visible sheet with data is read, there are {len(with_tables)} "
            f"({names}); save one as CSV, or read it with pandas"
        )
    name, sheet = next(iter(with_tables.items()))
    return _table(sheet.to_numpy().tolist(), f"{where}, sheet {shown(name)}", stem)


def _table(cells: list[list[Any]], where: str, stem: str) -> Table:
    """Table of the rows of a sheet that are not empty, without titles above it."""
    rows = {number: [_value(cell) for cell in row] for number, row in enumerate(cells, 1)}
    filled = {number: row for number, row in rows.items() if row.count(None) < len(row)}
    several = (number for number, row in filled.items() if row.count(None) < len(row) - 1)
    first = next(several, next(iter(filled), 0))
    names = filled.get(first, [])
    columns = [
        (name, [row[j] for number, row in filled.items() if number > first])
        for j, name in enumerate(names)
    ]
    kept = [
        (name, column)
        for name, column in columns
        if name is not None or column.count(None) < len(column)
    ]
    header = tuple("" if name is None else str(name).strip() for name, _ in kept)
    places = [f"row {number}" for number in filled if number > first]
    return Table(header, tuple(column for _, column in kept), places, where, stem)


def _value(cell: Any) -> Any:
    """Cell, None where there is nothing in it."""
    return None if cell != cell or (isinstance(cell, str) and not cell.strip()) else cell
