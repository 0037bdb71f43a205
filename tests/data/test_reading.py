"""``read_table`` and ``read_tidy`` by themselves: formats, names and wrong files.

``test_tables.py`` has tables as people have them; here each rule stands alone. ``wrong.json`` has
wrong tables of every reader, with a pattern of the one line that is said: place, value, fix.
"""

import gzip
import io
import json
import os
import zipfile
from datetime import datetime
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from data.files import refused, written

from bayes_sota.claims.summary_review import claims_table
from bayes_sota.cli.options import SHARED
from bayes_sota.crossval.fold_scores import read_fold_scores
from bayes_sota.crossval.run import read_task
from bayes_sota.data import reading
from bayes_sota.data.answers import read_outcomes, read_weights
from bayes_sota.data.boards import read_leaderboard, read_paired_boards
from bayes_sota.data.reading import read_table, read_tidy
from bayes_sota.data.tables import parse_cell
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.tournaments import read_scores
from bayes_sota.data.words import COLUMNS

BOARD = "team,score\nA,0.91\nB,0.94\nC,0.90\n"
FRAME = {"team": ["A", "B", "C"], "score": [0.91, 0.94, 0.90]}


def names(tidy: Tidy, role: str = "entry") -> list[str]:
    return tidy.names(role)[0]


def zipped(members: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def workbook(*sheets) -> bytes:
    """Sheets called S1, S2, ..."""
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for number, rows in enumerate(sheets, 1):
        sheet = book.create_sheet(f"S{number}")
        for row in rows:
            sheet.append(row)
    book.save(buffer)
    return buffer.getvalue()


# --- formats

ROWS = [["team", "score"], ["A", 0.91], ["B", 0.94], ["C", 0.90]]


def is_board(tidy: Tidy) -> bool:
    return names(tidy) == ["A", "B", "C"] and tidy.value.tolist() == [0.91, 0.94, 0.90]


@pytest.mark.parametrize("orient", ["records", "index", "columns", "split", "table", "values"])
def test_json_of_pandas(tmp_path: Path, orient) -> None:
    path = written(tmp_path, pd.DataFrame(FRAME).to_json(orient=orient), "x.json")
    if orient in ("records", "index"):
        assert is_board(read_tidy(path))
    else:
        refused('orient="records" of pandas', read_tidy, path)


def test_frames_agree(tmp_path: Path) -> None:
    frame = pd.DataFrame(FRAME)
    pl.DataFrame(FRAME).write_parquet(tmp_path / "f.parquet")
    narrow = frame.astype({"score": np.float32, "team": "category"})
    levels = frame.assign(year=2024).set_index(["team", "year"])
    several = frame.set_axis(pd.MultiIndex.from_tuples([("team", ""), ("score", "")]), axis=1)
    for source in (
        frame, pl.DataFrame(FRAME), pa.table(FRAME), tmp_path / "f.parquet", narrow, levels,
        frame.set_index("team"), frame.set_index("team").rename_axis(None), several,
        frame.iloc[::-1].iloc[::-1], frame.convert_dtypes(), str(tmp_path / "f.parquet"),
        written(tmp_path, gzip.compress(workbook(ROWS)), "b.xlsx.gz"),
        written(tmp_path, workbook([["notes"]], [["Table 3"], [], *ROWS], ROWS), "b.xlsx"),
    ):  # fmt: skip
        assert is_board(read_tidy(source))
    assert (read_tidy(source).layout, read_tidy(source).name) == ("board", "b")
    assert read_table(frame[["score"]].set_axis([5, 6, 7])).columns.keys() == {"score"}
    assert list(read_table(pd.DataFrame({0: [1, 0], 1: [0, 1]})).columns) == ["0", "1"]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_cells_of_a_frame_stay_what_they_are(kind) -> None:
    days = [datetime(2026, 1, day) for day in (1, 2)]
    table = read_table(kind({"real": [0.5, 0.25], "day": days, "word": ["a", None]}))
    assert list(table.columns.values()) == [[0.5, 0.25], days, ["a", None]]
    assert table.lines == ["row 1", "row 2"]
    gaps = {"n": [2**60 + 1, None]}  # which do not become floats
    frame = pd.DataFrame(gaps, dtype="Int64") if kind is pd.DataFrame else kind(gaps)
    assert read_table(frame).columns["n"] == [2**60 + 1, None]


def test_cells_of_a_sheet_are_what_excel_shows(tmp_path: Path) -> None:
    sheet = [["team", "n", "when", "right"], ["A", 2e3, datetime(2024, 1, 2), True],
             [None, 5, "#N/A", "  "]]  # fmt: skip
    table = read_table(written(tmp_path, workbook([["x"]], sheet), "f.xlsx"))
    assert str(table.columns["n"]) == "[2000, 5]"
    assert table.columns["when"][1] is None
    assert table.lines == ["row 2", "row 3"]


# --- wrong files

READERS = {
    "tidy": read_tidy, "answers": read_outcomes, "board": read_leaderboard, "rounds": read_scores,
    "folds": read_fold_scores, "weights": read_weights, "paired": read_paired_boards,
    "table": read_table, "claims": claims_table, "attributes": read_task,
}  # fmt: skip
CASES = {
    kind: json.loads(Path(__file__).with_name(f"{kind}.json").read_text("utf-8"))
    for kind in ("right", "wrong")
}
NAMES = {kind: [f"{c['reader']}, {c['about']}" for c in cases] for kind, cases in CASES.items()}


def sources(folder: Path, case):
    """Files of a case, as its reader takes several."""
    paths = [written(folder, text, name) for name, text in case["files"].items()]
    return paths if case["reader"] in ("answers", "paired") or not paths[1:] else [paths]


def plain(value):
    """Value as JSON has it: lists, numbers with nine digits, and null where there is none."""
    if isinstance(value, dict):
        return {name: plain(cells) for name, cells in value.items()}
    if isinstance(value, np.ndarray | tuple | list):
        return [plain(cell) for cell in value]
    if isinstance(value, float):
        return None if np.isnan(value) else round(float(value), 9)
    return value


@pytest.mark.parametrize("case", CASES["right"], ids=NAMES["right"])
def test_what_a_container_has_from_a_table(tmp_path: Path, case) -> None:
    found = READERS[case["reader"]](*sources(tmp_path, case), **case["options"])
    found = found[case["part"]] if "part" in case else found
    has = found if isinstance(found, dict) else {name: getattr(found, name) for name in case["has"]}
    assert {name: plain(value) for name, value in has.items()} == case["has"]
    assert set(case.get("notes", ())) <= set(getattr(found, "notes", ()))


@pytest.mark.parametrize("case", CASES["wrong"], ids=NAMES["wrong"])
def test_a_wrong_table_is_one_line_with_its_place(tmp_path: Path, case) -> None:
    files = sources(tmp_path, case)
    error = refused(case["says"], READERS[case["reader"]], *files, **case["options"])
    assert error.where == "" or any(
        str(path) in error.where for path in [*files, "2 files", tmp_path]
    )


WRONG_FILES: dict[str, tuple[str | bytes, str, str]] = {
    "Latin-1": (BOARD.replace("B", "é").encode("latin-1"), "x.csv", "line 3: .*save it as UTF-8"),
    "whole number": (f'{{"A": {"9" * 5000}}}', "x.json", "is not JSON: "),
    "deep JSON": ("[" * 100_000, "x.json", "is not JSON: "),
    "cut gzip": (gzip.compress(BOARD.encode())[:-9], "x.gz", "cannot be read"),
    "archive": (zipped({"a.csv": BOARD}), "x.zip", 'is an archive of "a.csv"; unpack it'),
    "no Parquet": (b"PAR1 and nothing", "x.parquet", "cannot be read"),
    "a result": (b"\x89HDF\r\n", "runs.nc", "a saved result .netCDF.; .* bs.read_result"),
    "no sheet": (workbook([], [["", " "]]), "x.xlsx", "no sheet holds a table"),
}


@pytest.mark.parametrize("kind", WRONG_FILES)
def test_a_wrong_file_is_one_line_with_its_place(tmp_path: Path, kind: str) -> None:
    content, name, message = WRONG_FILES[kind]
    path = written(tmp_path, content, name)
    assert refused(message, read_tidy, path).where == str(path)


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 20_000)
    content = BOARD.encode() + b"\n" * 30_000
    book = workbook([["team", "score"], ["x" * 30_000, 0.5]])
    lie, locked, whole = (bytearray(zipped({"a.csv": content})) for _ in range(3))
    at = lie.index(b"PK\x01\x02")
    lie[at + 24 : at + 28] = (400).to_bytes(4, "little")
    locked[6], locked[at + 8] = locked[6] | 1, locked[at + 8] | 1  # the flag of encryption
    pl.DataFrame({"score": [0.5] * 100_000}).write_parquet(tmp_path / "p")
    parquet = (tmp_path / "p").read_bytes()
    for bomb in (content, gzip.compress(content), bytes(whole), book, gzip.compress(book), parquet):
        refused("holds more than 20,000 bytes", read_tidy, written(tmp_path, bomb, "x.zip"))
    monkeypatch.undo()
    for spoilt in (lie, locked, zipped({"a.csv": BOARD * 40}, zipfile.ZIP_LZMA)[:-90]):
        refused("cannot be", read_tidy, written(tmp_path, bytes(spoilt), "x.zip"))


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    for name, message in (
        ("missing", "there is no such file"), ("folder", "is a "), ("nul\0", "cannot be read"),
        ("pipe", "is a pipe or a device"), ("device", "is a pipe or a device"),
    ):  # fmt: skip
        refused(message, read_tidy, tmp_path / name)


@pytest.mark.parametrize("source", [
    None, 5, [[0.9, 0.8]], pl.LazyFrame({"x": [1]}), [], pd.Series([1]), np.zeros((3, 2)), {},
    pd.DataFrame(), pd.DataFrame([[1, 0, 1]], columns=["a", "b", "a"]),
    pd.DataFrame({"team": ["a", None], "score": [0.5, 0.4]}),
], ids=str)  # fmt: skip
def test_what_is_no_source(source) -> None:
    refused(".", read_tidy, source)


def test_help_names_every_role() -> None:
    about = SHARED["column"].help or ""
    roles = about[about.index("(") + 1 : about.index(")")].split(", ")
    assert set(roles) == {*COLUMNS, "target"} - {"metric"}  # which --metric chooses


def test_names_that_a_terminal_must_not_see(tmp_path: Path) -> None:
    evil = "\x1b[31mA\u202e"
    tidy = read_tidy(written(tmp_path, f"team,sc\x07ore\n{evil},0.9\nB,0.8\n"))
    assert names(tidy)[0] == evil
    assert tidy.sentence.isprintable()
    surrogates = written(tmp_path, r'{"\ud800": 0.9, "\ud83d\ude00": 0.8}', "x.json")
    assert names(read_tidy(surrogates)) == ["?", "😀"]


def test_names_and_zeros_of_numbers(tmp_path: Path) -> None:
    tidy = read_tidy(written(tmp_path, "team,score\n1,-0.0\n2.0,0.5\n03,1e-400\n"))
    assert np.copysign(1, tidy.value).tolist() == [1, 1, 1]
    assert names(read_tidy(pd.DataFrame({"team": [1.0, 2.0], "acc": [0.5, 0.4]}))) == ["1", "2"]


@pytest.mark.parametrize(("cell", "value"), [
    *((text, None) for text in ("1_000", "٠.٩", "-inf", "1e999999", "7,127")),
    ("7,127.7", 7127.7), ("−0.5", -0.5), ("5.", 5.0),
])  # fmt: skip
def test_what_is_a_number(cell: str, value: float | None) -> None:
    found = parse_cell(cell)
    assert (found and found.value) == value
