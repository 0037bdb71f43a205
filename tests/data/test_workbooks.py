"""Excel workbooks: what they say, which sheet is taken, and what nobody should trust."""

import gzip
import io
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from data.files import run
from data.test_files import TABLE_READERS, refused

from bayes_sota.core.errors import InputError
from bayes_sota.data.files import tables
from bayes_sota.data.files.opening import open_table
from bayes_sota.data.readers.boards import read_leaderboard
from bayes_sota.data.readers.outcomes import looks_like_responses

BOARD = [["team", "score"], ["A", 0.911], ["B", 0.886]]
SHEET = "xl/worksheets/sheet1.xml"
STRINGS = "xl/sharedStrings.xml"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_STRINGS_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"


def saved(path: Path, *sheets: Sequence[Sequence[Any]], hidden: Sequence[int] = ()) -> Path:
    """Workbook of some sheets, called S1, S2, ..."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, 1):
        sheet = book.create_sheet(f"S{number}")
        sheet.sheet_state = "hidden" if number in hidden else "visible"
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def repacked(path: Path, change: dict[str, Callable[[bytes], bytes]]) -> Path:
    """The same workbook with parts that are changed or added."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts |= {name: edit(parts.get(name, b"")) for name, edit in change.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def edit(part: bytes) -> bytes:
        assert old in part
        return part.replace(old, new)

    return edit


def test_cells_are_what_excel_shows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row, cells in {
        3: ["team", "score", "share", "year", "when", "right"],
        4: ["A", "0.9110", 0.886, 2024, datetime(2024, 1, 2), True],
        6: [None, 0.91100000000000003, 0.5, 2e3, "#N/A", "  "],
    }.items():
        for column, cell in enumerate(cells, 2):
            sheet.cell(row, column, cell)
    sheet["D4"].number_format = "0.0%"
    sheet.cell(9, 20).font = openpyxl.styles.Font(bold=True)  # a cell without a value
    book.save(tmp_path / "f.xlsx")
    table = open_table(tmp_path / "f.xlsx")
    assert table.header == ("team", "score", "share", "year", "when", "right")
    assert [list(cells) for cells in table.columns] == [
        ["A", None], ["0.9110", 0.911], [0.886, 0.5], [2024, 2000],
        [datetime(2024, 1, 2), None], [True, None],
    ]  # fmt: skip
    assert str(table.columns[3]) == "(2024, 2000)"  # and not 2000.0
    assert list(table.places) == ["row 4", "row 6"]
    assert table.where.endswith("f.xlsx, sheet 'Sheet'")
    assert table.stem == "f"


def test_formulas_count_with_the_value_that_was_stored(tmp_path: Path) -> None:
    path = saved(tmp_path / "f.xlsx", [["team", "score"], ["A", "=443/500"]])
    edit = replaced(b"<f>443/500</f>", b"<f>443/500</f><v>0.886</v>")
    with pytest.raises(InputError, match=r"cell B2 has a formula that was never computed"):
        open_table(path)
    assert list(open_table(repacked(path, {SHEET: edit})).columns[1]) == [0.886]


def test_spaces_behind_a_formula_take_no_time(tmp_path: Path) -> None:
    """Not the square of their number, which would be hours here."""
    path = saved(tmp_path / "f.xlsx", [["team", "score"], ["A", "=443/500"]])
    spaces = b" " * 2_000_000
    edit = replaced(b"<f>443/500</f>", b"<f>443/500</f>" + spaces + b"<v>0.886</v>")
    assert list(open_table(repacked(path, {SHEET: edit})).columns[1]) == [0.886]


def test_texts_that_cells_share(tmp_path: Path) -> None:
    path = saved(tmp_path / "f.xlsx", [["team", "score"], [0, 0.5], [1, 0.25]])
    shared = f'<sst xmlns="{_MAIN}"><si><t>A</t></si><si><r><t>B</t></r><r><t>C</t></r></si></sst>'
    kind = f'<Override PartName="/{STRINGS}" ContentType="{_STRINGS_TYPE}"/></Types>'.encode()
    repacked(path, {
        STRINGS: lambda part: shared.encode(),
        "[Content_Types].xml": replaced(b"</Types>", kind),
        SHEET: lambda part: re.sub(rb'(r="A[23]") t="n"', rb'\1 t="s"', part),
    })  # fmt: skip
    assert list(open_table(path).columns[0]) == ["A", "BC"]


TEXTS = {
    "leaderboard": "team,score,tries\nA,0.91,3\nB,0.885,\n",
    "scores": "round,x,y\n1,0.5,0.25\n2,,1\n3,0.5,0.75\n",
    "responses": "item,x,y\n1,1,0\n2,0,\n3,1,1\n",
    "evaluations": "item,truth,x,y\n1,cat,cat,dog\n2,dog,dog,dog\n",
    "item scores": "item,cluster,x,y\n1,a,0.5,0.25\n2,a,0.125,1\n3,b,0.5,0.75\n",
    "paired": "team,public,private\n" + "".join(f"t{i},0.{90 - i},0.8{i}\n" for i in range(6)),
    "claims": "paper,accuracy_a,accuracy_b,n_test\nLi,0.91,0.885,1000\n",
}


def typed(cell: str) -> Any:
    """Cell as somebody types it into a sheet."""
    number = cell.replace(".", "").isdigit()
    return (float(cell) if "." in cell else int(cell)) if number else cell or None


@pytest.mark.parametrize("reader", TABLE_READERS)
def test_every_reader_takes_a_workbook_as_it_takes_text(tmp_path: Path, reader: str) -> None:
    text = TEXTS[reader]
    (tmp_path / "f.csv").write_text(text)
    rows = [[typed(cell) for cell in line.split(",")] for line in text.splitlines()]
    book = saved(tmp_path / "f.xlsx", rows)
    one, other = (TABLE_READERS[reader](path) for path in (tmp_path / "f.csv", book))
    assert repr(one) == repr(other)
    for name, value in vars(one).items():
        if isinstance(value, np.ndarray | tuple) and name != "notes":
            np.testing.assert_array_equal(value, getattr(other, name), name)


def test_archives_and_answers(tmp_path: Path) -> None:
    plain = saved(tmp_path / "f.xlsx", BOARD).read_bytes()
    (tmp_path / "f.xlsx.gz").write_bytes(gzip.compress(plain))
    with zipfile.ZipFile(tmp_path / "f.zip", "w") as archive:
        archive.writestr("inside.xlsx", plain)
    (tmp_path / "named-otherwise.csv").write_bytes(plain)
    for name in ("f.xlsx", "f.xlsx.gz", "f.zip", "named-otherwise.csv"):
        board = read_leaderboard(tmp_path / name, n_test=1000)
        assert (board.names, board.scores.tolist()) == (("A", "B"), [0.911, 0.886]), name
    answers = saved(tmp_path / "a.xlsx", [["id", "x", "y"], [1, 1, 0], [2, 0, 1]])
    assert looks_like_responses(answers)
    assert not looks_like_responses(tmp_path / "f.xlsx")


def test_a_frame_saved_by_pandas_with_its_index(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 0, 1], "b": [0, 0, 1]})
    frame.to_excel(tmp_path / "f.xlsx")
    assert open_table(tmp_path / "f.xlsx").header == ("", "a", "b")


@pytest.mark.parametrize(
    ("sheets", "hidden", "message"),
    [
        ((BOARD, BOARD, []), (), "2 sheets have data ('S1', 'S2'); hide or delete all but one"),
        (([], [["", " "]]), (), "no sheet has data"),
        (([], BOARD), (2,), "no sheet has data, only hidden ones have ('S2')"),
        (([*BOARD, ["C", "#DIV/0!"]],), (),
         "sheet 'S1': row 4, column 'score' must be a number, got '#DIV/0!'"),
        (([*BOARD, ["C", datetime(2024, 2, 1)]],), (), "must be a number, got datetime"),
        (([*BOARD, ["C", True]],), (), "sheet 'S1': row 4, column 'score' must be a number"),
        (([["team", "score"]],), (), "sheet 'S1': no rows, only the columns 'team', 'score'"),
        (([["Results"], [], *BOARD[1:]],), (),
         "sheet 'S1': row 3, column B has 0.911 where row 1 has no name"),
    ],
)  # fmt: skip
def test_what_is_refused_has_its_place(
    tmp_path: Path, sheets: Sequence[Any], hidden: Sequence[int], message: str
) -> None:
    path = saved(tmp_path / "f.xlsx", *sheets, hidden=hidden)
    assert message in refused(lambda path: read_leaderboard(path, n_test=1000), path)


def test_the_only_visible_sheet_with_data_is_taken(tmp_path: Path) -> None:
    path = saved(tmp_path / "f.xlsx", [], BOARD[:2], BOARD, hidden=[2])
    assert open_table(path).where.endswith("sheet 'S3'")


def test_titles_above_a_table_and_sheets_of_notes_are_passed_over(tmp_path: Path) -> None:
    notes = [["Results of the challenge"], [], ["Accuracy on the private test set"]]
    path = saved(tmp_path / "f.xlsx", notes, [["Table 3: accuracy"], [], *BOARD])
    assert read_leaderboard(path, n_test=1000).scores.tolist() == [0.911, 0.886]
    assert open_table(path).places[0] == "row 4"


def test_the_command_reads_a_workbook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path / "f.xlsx", BOARD)
    code, out, error = run(
        capsys, "board", str(path), "--n-test", "1000", "--draws", "100", "--json"
    )
    assert code == 0, error
    assert '"name": "A"' in out


def test_without_the_extra_one_line_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path / "f.xlsx", BOARD)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "reading Excel needs openpyxl: pip install 'bayes-sota[excel]'" in refused(
        open_table, path
    )


def test_a_format_has_no_effect_on_a_workbook(tmp_path: Path) -> None:
    path = saved(tmp_path / "f.xlsx", BOARD)
    with pytest.raises(InputError, match="format has no effect on an Excel workbook"):
        open_table(path, "csv")


_ROW_END, _END = b"</row></sheetData>", b"</sheetData>"
HOSTILE: dict[str, tuple[dict[str, Callable[[bytes], bytes]], str]] = {
    "last cell of the grid": (
        {SHEET: replaced(_END, b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>' + _END)},
        "more than 10,000 columns",
    ),
    "row beyond the grid": (
        {SHEET: replaced(_END, b'<row r="99999999999"><c><v>1</v></c></row>' + _END)},
        "more than 2,000,000 rows",
    ),
    "wide rows without values": (
        {SHEET: replaced(_END, b'<row><c r="XFD9"/></row>' * 3_000 + _END)},
        "more than 32,000,000 cells",
    ),
    "cells in one row": (
        {SHEET: replaced(_ROW_END, b"<c><v>1</v></c>" * 20_000 + _ROW_END)},
        "more than 10,000 columns",
    ),
    "zip bomb": (
        {SHEET: replaced(_END, b" " * 30_000_000 + _END)}, "more than 25,000,000 bytes unpacked",
    ),
    "formats": (
        {"xl/styles.xml": replaced(b"</cellXfs>", b"<xf/>" * 500_000 + b"</cellXfs>")},
        "2,000,000 of formats, which are the limits",
    ),
    "entities": (
        {SHEET: lambda part: b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + part}, "declares entities",
    ),
    "cut": ({SHEET: lambda part: part[:-30]}, "not a readable Excel workbook: unclosed token"),
    "no sheets": ({"xl/workbook.xml": lambda part: b"<a/>"}, "no sheet has data"),
    "text that is not there": (
        {SHEET: lambda part: part.replace(b't="inlineStr"', b't="s"').replace(b"<is>", b"<v>7</v>")
         .replace(b"</is>", b"")},
        "not a readable Excel workbook",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_workbooks_are_refused(tmp_path: Path, kind: str) -> None:
    change, message = HOSTILE[kind]
    assert message in refused(open_table, repacked(saved(tmp_path / "f.xlsx", BOARD), change))


def test_sizes_that_lie_unpack_no_more_than_they_say(tmp_path: Path) -> None:
    path = repacked(
        saved(tmp_path / "f.xlsx", BOARD), {SHEET: replaced(_END, b" " * 30_000_000 + _END)}
    )
    content = bytearray(path.read_bytes())
    true = (30_000_000).to_bytes(4, "little")[2:]  # the upper half of every size of about that
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo(SHEET).file_size
    assert size.to_bytes(4, "little")[2:] == true
    told = bytes(content).replace(size.to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
    assert told != bytes(content)
    path.write_bytes(told)
    assert "not a readable Excel workbook" in refused(open_table, path)


def test_limits_are_those_of_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "f.xlsx", BOARD)
    for limit, most, what in (("ROWS", 1, "rows"), ("COLUMNS", 1, "columns"), ("CELLS", 3, "cells"),
                              ("BYTES", 99, "bytes"), ("WORKBOOK", 99, "bytes")):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(tables, f"MAX_{limit}", most)
            assert f"more than {most} {what}" in refused(open_table, path)


def mutants(content: bytes, number: int) -> Iterator[bytes]:
    """Workbooks with a few bytes of their parts changed, removed, repeated or made large."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    spoilt = [name for name in parts if not name.startswith(("docProps", "xl/theme"))]
    for seed in range(number):
        rng = np.random.default_rng(seed)
        changed = dict(parts)
        for name in rng.choice(spoilt, 2):
            part = changed[name]
            at, size = int(rng.integers(len(part))), int(rng.integers(1, 60))
            digits = [place for place, sign in enumerate(part) if chr(sign).isdigit()]
            number_at = int(rng.choice(digits))
            changed[name] = (
                part[:at] + part[at + size :],
                part[:at] + part[max(0, at - size) :],
                part[:at] + bytes([int(rng.integers(256))]) + part[at + 1 :],
                part[:number_at] + b"4294967295" + part[number_at + 1 :],
                part[:number_at] + b"-1" + part[number_at + 1 :],
            )[int(rng.integers(5))]
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for name, part in changed.items():
                archive.writestr(name, part)
        yield made.getvalue()


@pytest.mark.slow
def test_mutated_workbooks_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    content = saved(tmp_path / "f.xlsx", [*BOARD, ["C", "0.5"]], [["x"]], hidden=[2]).read_bytes()
    path, ends = tmp_path / "m.xlsx", Counter[str]()
    for mutant in mutants(content, 300):
        path.write_bytes(mutant)
        try:
            open_table(path)
            ends["read"] += 1
        except InputError as error:
            ends["refused" if str(error).isprintable() else str(error)] += 1
    assert set(ends) == {"read", "refused"}
    assert min(ends.values()) > 30, ends
