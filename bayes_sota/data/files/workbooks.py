"""Excel workbooks to a table: the values in the only visible sheet that has any.

The reader is openpyxl, which is Python throughout: what is wrong in a file can only be an error
here, where readers in other languages end the process or take all memory for one cell at the end of
the grid. It sees no more than the parts that hold cells, texts and formats, unpacked within limits,
and none with declarations that could grow (``tests/data/test_workbooks.py``).
"""

import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text, shown
from bayes_sota.data.files import tables
from bayes_sota.data.files.content import check_text, readable
from bayes_sota.data.files.tables import Table

_PARTS = re.compile(
    r"\[Content_Types\]\.xml|xl/(?!calcChain)[^/]+\.xml|xl/_rels/[^/]+|xl/worksheets/[^/]+\.xml"
)
_UNKNOWN = re.compile(  # a cell with a formula and no value
    rb"<c ([^<>]*)>\s*<f(?:[^<>]*/>|[^<>]*>[^<>]*</f>)\s*(?:(?:<v\s*/>|<v></v>)\s*)?</c>"
)
_SHEETS = "xl/worksheets/"
_LONG_PARTS = ("xl/sharedStrings", _SHEETS)  # texts and cells; all else is about them
_MOST_ABOUT = 2_000_000  # bytes of a part with formats or names of sheets: they take half a minute
_NOT_AVAILABLE = "#N/A"  # Excel's word for what is missing; other errors stay, as no numbers


def parse_workbook(data: bytes, where: str, stem: str = "") -> Table:
    """Table of the content of a workbook (.xlsx, .xlsm).

    Its first row with several cells has the names of the columns; titles above it are left out, as
    are sheets without any such row. Formulas count with the values that were stored, text keeps its
    digits, and numbers have as many as tell them apart.

    Raises
    ------
    InputError
        No workbook, no sheet or several sheets with data, cells without a name above them, more
        than what is read, or no openpyxl.
    """
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            f"{where}: reading Excel needs openpyxl: pip install 'bayes-sota[excel]'"
        ) from None
    with readable(where, "not a readable Excel workbook"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts that are not read
        parts = _needed_parts(data, where)
        book = openpyxl.load_workbook(parts, read_only=True, data_only=True, keep_links=False)
        sheet = _only_sheet(book.worksheets, where)
        inside = f"{where}, sheet {shown(sheet.title)}"
        return _table(_without_titles(list(_rows(sheet, inside))), inside, stem)


def _needed_parts(data: bytes, where: str) -> io.BytesIO:
    """Archive of the parts that are read, without compression."""
    kept = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(kept, "w") as needed:
        infos = [info for info in archive.infolist() if _PARTS.fullmatch(info.filename)]
        about = [i.file_size for i in infos if not i.filename.startswith(_LONG_PARTS)]
        total = sum(info.file_size for info in infos)
        if total > tables.MAX_WORKBOOK or max(about, default=0) > _MOST_ABOUT:
            raise InputError(
                f"{where}: more than {tables.MAX_WORKBOOK:,} bytes unpacked, or {_MOST_ABOUT:,} of "
                "formats, which are the limits of a workbook; save the sheet as CSV"
            )
        for info in infos:
            part = archive.read(info)
            check_text(part, f"{where}/{plain_text(info.filename)}")
            if b"<!DOCTYPE" in part:
                raise InputError(f"{where}: declares entities, which no workbook needs")
            if info.filename.startswith(_SHEETS):
                _refuse_formulas(part, where)
            needed.writestr(info.filename, part)
    return kept


def _refuse_formulas(part: bytes, where: str) -> None:
    """Refuse formulas without a value, which would be read as empty cells."""
    cells = _UNKNOWN.finditer(part)
    unknown = next((cell for cell in cells if b't="str"' not in cell[1]), None)
    if unknown is not None:
        place = re.search(rb'r="([A-Z]+[0-9]+)"', unknown[1])
        cell = f"cell {place[1].decode()}" if place else "a cell"
        raise InputError(
            f"{where}: {cell} has a formula that was never computed: save the workbook once with a "
            "program that computes it, or write its value"
        )


def _only_sheet(sheets: Sequence[Any], where: str) -> Any:
    """The only visible sheet with data; of several with data, the only one with a table."""
    filled = [sheet for sheet in sheets if next(_rows(sheet, where), None)]
    visible = [sheet for sheet in filled if sheet.sheet_state == "visible"]
    if len(visible) > 1:  # notes stand in sheets of their own
        tabular = [one for one in visible if any(len(row) > 1 for _, row in _rows(one, where))]
        visible = tabular or visible
    if len(visible) == 1:
        return visible[0]
    if visible:
        raise InputError(
            f"{where}: {len(visible)} sheets have data ({_names(visible)}); hide or delete all "
            "but one, or save one as CSV; in Python pandas.read_excel takes sheet_name and gives "
            "a frame"
        )
    hidden = f", only hidden ones have ({_names(filled)})" if filled else ""
    raise InputError(f"{where}: no sheet has data{hidden}")


def _names(sheets: Sequence[Any]) -> str:
    return ", ".join(shown(sheet.title) for sheet in sheets[:8])


def _rows(sheet: Any, where: str) -> Iterator[tuple[int, list[Any]]]:
    """Number and cells of each row that is not empty, up to its last cell that is not."""
    sheet.reset_dimensions()  # the file says them itself, and may be wrong
    passed = 0
    for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        passed += len(cells)
        tables.check_shape(number, 1, where)
        tables.check_shape(passed // tables.MAX_COLUMNS, tables.MAX_COLUMNS, where)
        if len(cells) > cells.count(None):
            row = [_value(cell) for cell in cells]
            while row and row[-1] is None:
                row.pop()
            tables.check_shape(1, len(row), where)
            if row:
                yield number, row


def _without_titles(rows: list[tuple[int, list[Any]]]) -> list[tuple[int, list[Any]]]:
    """Rows from that with the names on: titles stand alone in the first column above it."""
    first = next((at for at, (_, row) in enumerate(rows) if len(row) > 1), 0)
    named = all(cell is None or isinstance(cell, str) for cell in rows[first][1])
    return rows[first:] if named else rows


def _value(cell: Any) -> Any:
    """Cell as Excel shows it: nothing for blanks, and no point after a whole number."""
    if isinstance(cell, str):
        return None if cell == _NOT_AVAILABLE or not cell.strip() else cell
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    return cell


def _table(rows: list[tuple[int, list[Any]]], where: str, stem: str) -> Table:
    """Table of the rows of a sheet, the first of which has the names; empty columns are left out.

    Only the column on the left may have no name: frames are saved with one.
    """
    from openpyxl.utils import get_column_letter

    width = max(len(cells) for _, cells in rows)
    tables.check_shape(len(rows), width, where)
    padded = (cells + [None] * (width - len(cells)) for _, cells in rows)
    columns = {
        j: cells
        for j, cells in enumerate(zip(*padded, strict=True))
        if cells.count(None) < len(cells)
    }
    for j in list(columns)[1:]:
        if columns[j][0] is None:
            row = next(row for row, cell in enumerate(columns[j]) if cell is not None)
            raise InputError(
                f"{where}: row {rows[row][0]}, column {get_column_letter(j + 1)} has "
                f"{shown(columns[j][row])} where row {rows[0][0]} has no name: a sheet is one "
                "table, and its first row names the columns"
            )
    header = tuple("" if c[0] is None else str(c[0]).strip() for c in columns.values())
    places = [f"row {number}" for number, _ in rows[1:]]
    return Table(header, tuple(cells[1:] for cells in columns.values()), places, where, stem)
