"""Excel workbooks: what they say, which sheet is taken, and what is refused."""

import gzip
import sys
import zipfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from data.files import run
from data.test_files import TABLE_READERS, refused

from bayes_sota.data.answers import read_responses
from bayes_sota.data.files.opening import open_table
from bayes_sota.data.readers.boards import read_leaderboard

BOARD = [["team", "score"], ["A", 0.911], ["B", 0.886]]


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
    assert str(table.columns[3]) == "[2024, 2000]"  # and not 2000.0
    assert list(table.places) == ["row 4", "row 6"]
    assert table.where.endswith("f.xlsx, sheet 'Sheet'")
    assert table.stem == "f"


TEXTS = {
    "leaderboard": "team,score,tries\nA,0.91,3\nB,0.885,\n",
    "scores": "round,x,y\n1,0.5,0.25\n2,,1\n3,0.5,0.75\n",
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
    answers = saved(tmp_path / "a.xlsx", [["id", "a", "b"], [1, 1, 0], [2, 0, 1]])
    assert read_responses(answers).correct.tolist() == [[1, 0], [0, 1]]


def test_a_frame_saved_by_pandas_with_its_index(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 0, 1], "b": [0, 0, 1]})
    frame.to_excel(tmp_path / "f.xlsx")
    assert open_table(tmp_path / "f.xlsx").header == ("", "a", "b")


@pytest.mark.parametrize(
    ("sheets", "hidden", "message"),
    [
        ((BOARD, BOARD, []), (), "there are 2 ('S1', 'S2'); save one as CSV"),
        (([], [["", " "]]), (), "no rows"),
        (([], BOARD), (2,), "there are 0 (none)"),
        (([*BOARD, ["C", "#DIV/0!"]],), (),
         "sheet 'S1': row 4, column 'score': 1 entry has no score, 'C' (row 4)"),
        (([["team", "score"]],), (), "sheet 'S1': no rows, only the columns 'team', 'score'"),
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
