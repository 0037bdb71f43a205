"""What must not matter does not, and what must matter moves the right way.

Each command is run on a file and on files that mean the same: other orders, formats, names, units.
"""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz.corpus import Case, corpus, table_text
from fuzz.judge import numbers_of, same_numbers

from bayes_sota.cli import main

TABLES = [case for case in corpus() if case.name.endswith(".csv")]
BOARDS = [case for case in TABLES if case.kind in ("board", "kaggle")]

Rows = list[list[str]]


def label(case: Case) -> str:
    return case.label.replace(" ", "-")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    assert stop.value.code in (None, 0, 1), output.err  # 1: too few scores to tell
    return json.loads(output.out)


def run_case(capsys, folder: Path, case: Case, name: str, content: bytes, *more: str) -> Any:
    path = folder / name
    path.write_bytes(content)
    return run(capsys, *(path if word == "{file}" else word for word in case.command), *more)


def named_in_one_column(case: Case) -> bool:
    return case.kind not in ("battles", "claims", "paired") and case.name != "long.csv"


def rows_of(case: Case) -> Rows:
    return list(csv.reader(io.StringIO(case.content.decode())))


def reversed_rows(rows: Rows) -> bytes:
    return table_text([rows[0], *rows[:0:-1]])


def reversed_columns(rows: Rows) -> bytes:
    return table_text([[row[0], *row[:0:-1]] for row in rows])


def zipped(rows: Rows) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", table_text(rows))
    return buffer.getvalue()


def spaced(rows: Rows) -> bytes:
    return table_text([[f" {cell} " for cell in row] for row in rows])


def everything(rows: Rows) -> bytes:
    """All rewritings at once: orders, delimiter, quotes, spaces, ends of lines, BOM, gzip."""
    turned = [[row[0], *row[:0:-1]] for row in [rows[0], *rows[:0:-1]]]
    quoted = table_text([[f'"{cell} "' for cell in row] for row in turned], ";")
    return gzip.compress(b"\xef\xbb\xbf" + quoted.replace(b"\n", b"\r\n"))


SAME: dict[str, tuple[str, Callable[[Rows], bytes]]] = {
    "rows reversed": (".csv", reversed_rows),
    "columns reversed": (".csv", reversed_columns),
    "semicolons": (".csv", lambda rows: table_text(rows, ";")),
    "tabs": (".tsv", lambda rows: table_text(rows, "\t")),
    "CRLF and BOM": (
        ".csv",
        lambda rows: b"\xef\xbb\xbf" + table_text(rows).replace(b"\n", b"\r\n"),
    ),
    "spaces": (".csv", spaced),
    "zip": (".csv.zip", zipped),
    "gzip": (".csv.gz", lambda rows: gzip.compress(table_text(rows))),
}


def check_same(capsys, folder: Path, case: Case, ways: dict[str, Any]) -> None:
    stem = case.name.removesuffix(".csv")
    expected = numbers_of(run_case(capsys, folder, case, case.name, case.content))
    wrong = []
    for what, (ending, rewrite) in ways.items():
        found = run_case(capsys, folder, case, stem + ending, rewrite(rows_of(case)))
        if not same_numbers(numbers_of(found), expected):
            wrong.append(what)
    assert not wrong


@pytest.mark.parametrize("case", TABLES, ids=label)
def test_order_and_format_together_do_not_matter(capsys, tmp_path: Path, case: Case) -> None:
    check_same(capsys, tmp_path, case, {"everything": (".csv.gz", everything)})


@pytest.mark.slow
@pytest.mark.parametrize("case", TABLES, ids=label)
def test_order_and_format_do_not_matter_one_by_one(capsys, tmp_path: Path, case: Case) -> None:
    check_same(capsys, tmp_path, case, SAME)


@pytest.mark.parametrize("case", BOARDS, ids=label)
def test_percent_is_a_unit(capsys, tmp_path: Path, case: Case) -> None:
    expected = numbers_of(run_case(capsys, tmp_path, case, case.name, case.content))
    rows, column = rows_of(case), case.score_columns[0]
    for row in rows[1:]:
        row[column] = f"{float(row[column]) * 100:.1f}"
    for more in ((), ("--percent",)):
        found = numbers_of(run_case(capsys, tmp_path, case, case.name, table_text(rows), *more))
        assert _without_decimals(found) == _without_decimals(expected)


def _without_decimals(found: dict[str, Any]) -> dict[str, Any]:
    """Percents have two decimals less, and a sentence that says so."""
    return {key: value for key, value in found.items() if key not in ("decimals", "statement")}


@pytest.mark.parametrize("case", [c for c in TABLES if named_in_one_column(c)], ids=label)
def test_names_are_only_names(capsys, tmp_path: Path, case: Case) -> None:
    """Names that sort as the old ones give the same numbers under the new names."""
    expected = numbers_of(run_case(capsys, tmp_path, case, case.name, case.content))
    rows = rows_of(case)
    for row in rows[1:]:
        row[0 if case.kind != "kaggle" else 2] = f"ñ {row[0 if case.kind != 'kaggle' else 2]}"
    found = run_case(capsys, tmp_path, case, case.name, table_text(rows))
    text = json.dumps(found, ensure_ascii=False).replace("ñ ", "")
    assert same_numbers(numbers_of(json.loads(text)), expected)


def test_columnar_files_are_the_same_table(capsys, tmp_path: Path) -> None:
    for case in TABLES:
        if case.name not in ("board.csv", "answers.csv", "wide.csv"):
            continue
        expected = numbers_of(run_case(capsys, tmp_path, case, case.name, case.content))
        header, *rows = rows_of(case)
        columns = [[row[j] for row in rows] for j in range(len(header))]
        typed = [
            column if j == 0 else [float(x) for x in column] for j, column in enumerate(columns)
        ]
        path = tmp_path / case.name.replace(".csv", ".parquet")
        pq.write_table(pa.table(dict(zip(header, typed, strict=True))), path)
        found = run_case(capsys, tmp_path, case, path.name, path.read_bytes())
        assert same_numbers(numbers_of(found), expected), case.label


@pytest.mark.parametrize("case", TABLES[:2], ids=label)
def test_a_seed_gives_the_same_result_and_another_seed_another(capsys, tmp_path, case) -> None:
    first, again = (run_case(capsys, tmp_path, case, case.name, case.content) for _ in range(2))
    other = run_case(capsys, tmp_path, case, case.name, case.content, "--seed", "2")
    assert first == again
    assert numbers_of(first) != numbers_of(other)


@pytest.mark.slow
def test_processes_do_not_matter(capsys) -> None:
    arguments = ("sota", "--maximum", "0.91", "--n-test", "500", "--classifiers", "30", "--method",
                 "abc", "--draws", "100", "--seed", "1", "--json", "--no-sensitivity")  # fmt: skip
    one, two = (run(capsys, *arguments, "--cores", cores) for cores in (1, 2))
    assert numbers_of(one) == numbers_of(two)


_MAXIMUM = ("sota", "--json", "--seed", "1", "--no-sensitivity", "--draws", "500")
_LAW = ("maximum", "--json")
_CLAIM = ("claim", "classification", "--json")


@pytest.mark.parametrize(
    ("command", "fixed", "option", "values", "key", "sign"),
    [
        (_MAXIMUM, "--n-test 500 --classifiers 100", "--maximum", "0.85 0.91 0.97",
         "theta_sota", 1),
        (_MAXIMUM, "--n-test 500 --maximum 0.91", "--classifiers", "2 100 10000",
         "winner_skill", -1),
        (_MAXIMUM, "--classifiers 100 --maximum 0.91", "--n-test", "100 1000 30000",
         "winner_skill", 1),
        (_LAW, "--n-test 500 --theta 0.9", "--classifiers", "1 2 10 100 10000",
         "expected_maximum", 1),
        (_LAW, "--n-test 500 --theta 0.9 --classifiers 100", "--correlation", "0 0.3 0.6 0.9 0.99",
         "expected_maximum", -1),
        (_LAW, "--theta 0.9 --classifiers 100", "--n-test", "50 200 1000 5000 100000", "bias", -1),
        (_CLAIM, "--accuracy 0.9 0.88", "--n-test", "100 500 1000 5000 20000", "p_false", -1),
        (_CLAIM, "--accuracy 0.9 0.88 --n-test 500", "--congruence", "0.78 0.8 0.82 0.85 0.88",
         "p_false", -1),
    ],
)  # fmt: skip
def test_numbers_move_the_right_way(capsys, command, fixed, option, values, key, sign) -> None:
    found = []
    for value in values.split():
        result = run(capsys, *command, *fixed.split(), option, value)[key]
        found.append(result["mean"] if isinstance(result, dict) else result)
    assert np.all(sign * np.diff(found) > 0), found
