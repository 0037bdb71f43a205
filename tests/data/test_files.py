"""Untrusted files: what every reader refuses in one line, and the limit."""

import gzip
import io
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import run

from bayes_sota.claims.summary_review import claims_table
from bayes_sota.core.errors import InputError
from bayes_sota.data.files import tables
from bayes_sota.data.files.json import parse_json
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.readers.boards import read_leaderboard, read_paired_boards
from bayes_sota.data.readers.scores import read_scores
from bayes_sota.data.responses import Responses
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.leaderboard.specification import load_model

TABLE_READERS: dict[str, Callable[[Path], Any]] = {
    "leaderboard": lambda path: read_leaderboard(path, metric="score", standard_error=0.1),
    "scores": read_scores,
    "paired": read_paired_boards,
    "claims": claims_table,
}
READERS = TABLE_READERS | {"model": load_model}
# A table that every reader of tables takes: its columns are read as each of them needs.
PLAIN = "id,score,m_public,m_private\na,1,0,1\nb,0,1,1\n"


def put(path: Path, content: str | bytes) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def zipped(
    path: Path, content: bytes, name: str = "a.csv", method: int = zipfile.ZIP_LZMA
) -> bytes:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(name, content)
    return path.read_bytes()


def damaged_lzma(path: Path) -> None:
    whole = zipped(path, PLAIN.encode() * 40)
    start = whole.index(b"a.csv") + 20
    put(path, whole[:start] + b"\xff" * 12 + whole[start + 12 :])


def damaged_name(path: Path) -> None:
    whole = zipped(path, PLAIN.encode(), "é.csv", zipfile.ZIP_STORED)
    put(path, whole.replace("é.csv".encode(), b"\xff\xfe.csv"))


STRANGE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing": (lambda path: None, "there is no such file"),
    "directory": (lambda path: path.mkdir(), "is a directory"),
    "pipe": (os.mkfifo, "is a pipe or a device; save what it gives to a file"),
    "endless device": (lambda path: path.symlink_to("/dev/zero"), "is a pipe or a device"),
    "UTF-16": (lambda path: put(path, PLAIN.encode("utf-16")), "UTF-16 text; save it as UTF-8"),
    "Latin-1": (
        lambda path: put(path, PLAIN.replace("b,0", "é,0").encode("latin-1")),
        "not UTF-8 text (line 3, byte 0xe9); save it as UTF-8",
    ),
    "zip, damaged LZMA": (damaged_lzma, "cannot be read or unpacked"),
    "zip, member not UTF-8": (damaged_name, "cannot be read or unpacked"),
    "gzip, cut": (lambda path: put(path, gzip.compress(PLAIN.encode())[:-9]), "cannot be read or"),
    "old Excel": (lambda path: put(path, b"\xd0\xcf\x11\xe0"), "is an old workbook, or one with a"),
}  # fmt: skip


def refused(read: Callable[[Path], Any], path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert message.isprintable()
    assert str(path) in message
    assert len(message) < 400 + len(str(path))
    return message


def test_one_long_name_takes_no_memory_for_all_others() -> None:
    """An array of these texts would have 10 GB."""
    groups = [str(i // 2) for i in range(20_000)]
    groups[0] = groups[1] = "x" * 130_000
    tasks = [groups[0]] * 10_000 + ["law"] * 10_000
    answers = np.random.default_rng(0).integers(0, 2, (20_000, 2))
    tracemalloc.start()
    board = Responses(answers, clusters=groups, tasks=tasks)
    assert board.average.scores.tolist() == pytest.approx(answers.mean(axis=0).tolist())
    numbers = ItemScores(answers, clusters=groups, tasks=tasks)
    assert np.isfinite(numbers.standard_errors).all()
    assert ScoreTable(answers, groups=groups).clusters.max() == 9_999
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000_000


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_refuses_strange_files(tmp_path: Path, reader: str, kind: str) -> None:
    path = tmp_path / "f.toml"
    make, message = STRANGE[kind]
    make(path)
    assert message in refused(READERS[reader], path)


@pytest.mark.parametrize("reader", TABLE_READERS)
def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    monkeypatch.setattr(tables, "MAX_BYTES", 20_000)
    content, path = PLAIN.encode() + b"\n" * 30_000, tmp_path / "f"
    book = io.BytesIO()
    pd.DataFrame({"id": ["x" * 30_000], "score": [1]}).to_excel(book)
    assert len(book.getvalue()) < tables.MAX_BYTES
    for bomb in (content, gzip.compress(content), zipped(path, content), book.getvalue()):
        put(path, bomb)
        message = "more than 20,000 bytes unpacked, which is the limit"
        assert message in refused(TABLE_READERS[reader], path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "b": 1, "a": 2}', "'a' occurs twice"),
        ('[{"team": ["a"], "score": 1}, {"team": ["b"], "score": 2}]', "a name is text, got ['a']"),
    ],
)
def test_json_that_no_table_can_be(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "f.json"
    put(path, text)
    assert message in refused(TABLE_READERS["leaderboard"], path)


def test_half_a_character_of_json_becomes_one_that_can_be_written() -> None:
    text = r'{"\ud800": "\ud83d\ude00", "a": ["\\ud800", "\uDFFFx", "\u00e9"]}'
    assert parse_json(text, "f") == {"\ufffd": "😀", "a": ["\\ud800", "\ufffdx", "é"]}
    with pytest.raises(InputError, match="'\ufffd' occurs twice"):
        parse_json(r'{"\ud800": 1, "\udfff": 2}', "f")


@pytest.mark.parametrize("reader", ["leaderboard", "scores", "paired", "claims"])
def test_numbers_that_overflow_later_are_refused(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "f.csv"
    header = {
        "paired": "team,public,private", "claims": "n_test,mean_a,mean_b",
    }.get(reader, "id,score,x")  # fmt: skip
    put(path, header + "\n100,0.5,1e308\n200,1e308,0.5\n")
    with pytest.raises(InputError, match=r"1e\+50"):
        TABLE_READERS[reader](path)


ODD_COLUMNS = {
    "timestamp": [datetime(2024, 1, 1), datetime(2024, 1, 2)],
    "duration": [timedelta(seconds=1), timedelta(seconds=2)],
    "truth values": [True, False],
    "lists": [[1], [2, 3]],
}


@pytest.mark.parametrize("kind", ODD_COLUMNS)
@pytest.mark.parametrize("reader", ["leaderboard", "scores"])
def test_other_types_never_become_numbers(tmp_path: Path, reader: str, kind: str) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"id": ["a", "b"], "score": ODD_COLUMNS[kind], "other": [1.5, 2.5]}
    table = arrow.table(columns)
    path = tmp_path / "f.parquet"
    parquet.write_table(table, path)
    for source in (path, table.to_pandas()):
        with pytest.raises(InputError, match="row 1, column 'score'"):
            TABLE_READERS[reader](source)  # type: ignore[arg-type]
    columns["score"], columns["extra"] = [0.5, 0.6], columns["score"]
    parquet.write_table(arrow.table(columns), path)
    assert read_leaderboard(path, metric="score", standard_error=0.1).scores.tolist() == [0.5, 0.6]


@pytest.mark.parametrize(
    "command",
    [
        "sota", "board", "paired", "epp", "claim batch", "claim responses",
        "sota --standard-error 0.1", "paired --private-file",
    ],
)  # fmt: skip
def test_every_command_names_a_missing_file_first(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "none.csv"
    code, _, error = run(capsys, *command.split(), str(path))
    assert (code, error) == (2, f"error: {path}: there is no such file\n")
