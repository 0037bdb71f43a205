"""What must not matter does not, and what must matter moves the right way.

Each command is run on a file and on files that mean the same: other orders, formats, names, units.
"""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
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
NAMED = [
    case
    for case in TABLES
    if case.kind not in ("battles", "claims", "paired") and case.name != "long.csv"
]

Rows = list[list[str]]
BOM = b"\xef\xbb\xbf"


def label(case: Case) -> str:
    return case.label.replace(" ", "-")


def run(*arguments: str) -> dict[str, Any]:
    with (
        redirect_stdout(io.StringIO()) as out,
        redirect_stderr(io.StringIO()) as err,
        pytest.raises(SystemExit) as stop,
    ):
        main(arguments)
    assert stop.value.code in (None, 0, 1), err.getvalue()  # 1: too few scores to tell
    return json.loads(out.getvalue())


def run_case(case: Case, name: str, content: bytes, *more: str) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        return run(*(str(path) if word == "{file}" else word for word in case.command), *more)


@cache
def numbers(case: Case) -> Any:
    """What the case itself gives, once."""
    return numbers_of(run_case(case, case.name, case.content))


def rows_of(case: Case) -> Rows:
    return list(csv.reader(io.StringIO(case.content.decode())))


def zipped(rows: Rows) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", table_text(rows))
    return buffer.getvalue()


def everything(rows: Rows) -> bytes:
    """All rewritings at once: orders, delimiter, quotes, spaces, ends of lines, BOM, gzip."""
    turned = [[row[0], *row[:0:-1]] for row in [rows[0], *rows[:0:-1]]]
    quoted = table_text([[f'"{cell} "' for cell in row] for row in turned], ";")
    return gzip.compress(BOM + quoted.replace(b"\n", b"\r\n"))


SAME: dict[str, tuple[str, Callable[[Rows], bytes]]] = {
    "rows reversed": (".csv", lambda rows: table_text([rows[0], *rows[:0:-1]])),
    "columns reversed": (".csv", lambda rows: table_text([[r[0], *r[:0:-1]] for r in rows])),
    "semicolons": (".csv", lambda rows: table_text(rows, ";")),
    "tabs": (".tsv", lambda rows: table_text(rows, "\t")),
    "CRLF and BOM": (".csv", lambda rows: BOM + table_text(rows).replace(b"\n", b"\r\n")),
    "spaces": (".csv", lambda rows: table_text([[f" {cell} " for cell in row] for row in rows])),
    "zip": (".csv.zip", zipped),
    "gzip": (".csv.gz", lambda rows: gzip.compress(table_text(rows))),
}  # fmt: skip


def check_same(case: Case, ways: dict[str, Any]) -> None:
    stem = case.name.removesuffix(".csv")
    wrong = []
    for what, (ending, rewrite) in ways.items():
        found = run_case(case, stem + ending, rewrite(rows_of(case)))
        if not same_numbers(numbers_of(found), numbers(case)):
            wrong.append(what)
    assert not wrong


@pytest.mark.parametrize("case", [c for c in TABLES if c.kind != "paired"], ids=label)
def test_order_and_format_together_do_not_matter(case: Case) -> None:
    check_same(case, {"everything": (".csv.gz", everything)})


@pytest.mark.slow
@pytest.mark.parametrize("case", TABLES, ids=label)
def test_order_and_format_do_not_matter_one_by_one(case: Case) -> None:
    check_same(case, SAME)


@pytest.mark.parametrize("case", BOARDS, ids=label)
def test_percent_is_a_unit(case: Case) -> None:
    rows, column = rows_of(case), case.score_columns[0]
    for row in rows[1:]:
        row[column] = f"{float(row[column]) * 100:.1f}"
    more = ("--percent",) if case.command[0] in ("board", "infer-n") else ()
    found = numbers_of(run_case(case, case.name, table_text(rows), *more))
    assert _without_decimals(found) == _without_decimals(numbers(case))


def _without_decimals(found: dict[str, Any]) -> dict[str, Any]:
    """Percents have two decimals less, and a sentence that says so."""
    return {key: value for key, value in found.items() if key not in ("decimals", "statement")}


@pytest.mark.parametrize("case", NAMED, ids=label)
def test_names_are_only_names(case: Case) -> None:
    """Names that sort as the old ones give the same numbers under the new names."""
    rows = rows_of(case)
    for row in rows[1:]:
        row[0 if case.kind != "kaggle" else 2] = f"ñ {row[0 if case.kind != 'kaggle' else 2]}"
    found = run_case(case, case.name, table_text(rows))
    text = json.dumps(found, ensure_ascii=False).replace("ñ ", "")
    assert same_numbers(numbers_of(json.loads(text)), numbers(case))


@pytest.mark.parametrize("name", ["board.csv", "answers.csv", "wide.csv"])
def test_columnar_files_are_the_same_table(name: str) -> None:
    case = next(case for case in TABLES if case.name == name)
    header, *rows = rows_of(case)
    columns = [[row[j] for row in rows] for j in range(len(header))]
    typed = [column if j == 0 else [float(x) for x in column] for j, column in enumerate(columns)]
    buffer = io.BytesIO()
    pq.write_table(pa.table(dict(zip(header, typed, strict=True))), buffer)
    found = run_case(case, name.replace(".csv", ".parquet"), buffer.getvalue())
    assert same_numbers(numbers_of(found), numbers(case))


@pytest.mark.parametrize("case", TABLES[:2], ids=label)
def test_a_seed_gives_the_same_result_and_another_seed_another(case: Case) -> None:
    assert numbers_of(run_case(case, case.name, case.content)) == numbers(case)
    assert numbers_of(run_case(case, case.name, case.content, "--seed", "2")) != numbers(case)


@pytest.mark.slow
def test_processes_do_not_matter() -> None:
    arguments = ("sota", "--maximum", "0.91", "--n-test", "500", "--classifiers", "30", "--method",
                 "abc", "--draws", "100", "--seed", "1", "--json", "--no-sensitivity")  # fmt: skip
    one, two = (run(*arguments, "--cores", cores) for cores in "12")
    assert numbers_of(one) == numbers_of(two)


_MAXIMUM = "sota --json --seed 1 --no-sensitivity --draws 500 "
_LAW = "maximum --json "
_CLAIM = "claim classification --json --accuracy 0.9 0.88 "


@pytest.mark.parametrize(
    ("command", "option", "values", "key", "sign"),
    [
        (_MAXIMUM + "--n-test 500 --classifiers 100", "--maximum", "0.85 0.91 0.97",
         "theta_sota", 1),
        (_MAXIMUM + "--n-test 500 --maximum 0.91", "--classifiers", "2 100 10000",
         "winner_skill", -1),
        (_MAXIMUM + "--classifiers 100 --maximum 0.91", "--n-test", "100 1000 30000",
         "winner_skill", 1),
        (_LAW + "--n-test 500 --theta 0.9", "--classifiers", "1 2 10 100 10000",
         "expected_maximum", 1),
        (_LAW + "--n-test 500 --theta 0.9 --classifiers 100", "--correlation",
         "0 0.3 0.6 0.9 0.99", "expected_maximum", -1),
        (_LAW + "--theta 0.9 --classifiers 100", "--n-test", "50 200 1000 5000 100000", "bias", -1),
        (_CLAIM, "--n-test", "100 500 1000 5000 20000", "p_false", -1),
        (_CLAIM + "--n-test 500", "--congruence", "0.78 0.8 0.82 0.85 0.88", "p_false", -1),
    ],
)  # fmt: skip
def test_numbers_move_the_right_way(command, option, values, key, sign) -> None:
    found = []
    for value in values.split():
        result = run(*command.split(), option, value)[key]
        found.append(result["mean"] if isinstance(result, dict) else result)
    assert np.all(sign * np.diff(found) > 0), found
