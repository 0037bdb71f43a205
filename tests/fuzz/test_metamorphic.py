"""What must not matter does not, and what must matter moves the right way.

Each command is run on a file and on files that mean the same: other orders, formats, names, units.
"""

import csv
import gzip
import io
import json
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz.corpus import Case, corpus, table_text
from fuzz.running import numbers, numbers_of, run, run_case, same_numbers

TABLES = [case for case in corpus() if case.name.endswith(".csv")]
NAMELESS = ("battles", "claims", "paired")  # or names that stand in several columns
Rows = list[list[str]]
BOM = b"\xef\xbb\xbf"


def label(case: Case) -> str:
    return case.label.replace(" ", "-")


def rows_of(case: Case) -> Rows:
    return list(csv.reader(io.StringIO(case.content.decode())))


def renamed(case: Case) -> Rows:
    """Rows under other names that sort as the old ones."""
    rows, column = rows_of(case), 2 if case.kind == "kaggle" else 0
    for row in rows[1:] if case.kind not in NAMELESS and case.name != "long.csv" else ():
        row[column] = f"ñ {row[column]}"
    return rows


def everything(rows: Rows) -> bytes:
    """All rewritings at once: orders, delimiter, quotes, spaces, ends of lines, BOM, gzip."""
    turned = [[row[0], *row[:0:-1]] for row in [rows[0], *rows[:0:-1]]]
    quoted = table_text([[f'"{cell} "' for cell in row] for row in turned], ";")
    return gzip.compress(BOM + quoted.replace(b"\n", b"\r\n"))


def is_same(case: Case, ending: str, content: bytes) -> bool:
    """Whether a file gives the numbers of a case under its names, or under those of ``renamed``."""
    found = run_case(case, case.name.removesuffix(".csv") + ending, content)
    plain = json.loads(json.dumps(found, ensure_ascii=False).replace("ñ ", ""))
    return same_numbers(numbers_of(plain), numbers(case))


@pytest.mark.slow
@pytest.mark.parametrize("case", [
    pytest.param(case, id=label(case), marks=[pytest.mark.slow] * (n % 2))
    for n, case in enumerate(c for c in TABLES if c.kind not in ("paired", "folds"))
])  # fmt: skip
def test_names_order_and_format_together_do_not_matter(case: Case) -> None:
    assert is_same(case, ".csv.gz", everything(renamed(case)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [c for c in TABLES if c.kind in ("board", "kaggle") and c.command[0] != "sota"],
    ids=label,
)  # fmt: skip
def test_percent_is_a_unit(case: Case) -> None:
    """Percents have two decimals less, and a sentence that says so."""
    rows, column = rows_of(case), case.score_columns[0]
    for row in rows[1:]:
        row[column] = f"{float(row[column]) * 100:.1f}"
    found = run_case(case, case.name, table_text(rows))
    other = {key: found[key] for key in ("decimals", "statement", "text") if key in found}
    assert found == numbers(case) | other


@pytest.mark.parametrize("name", ["board.csv", "answers.csv", "wide.csv"])
def test_columnar_files_are_the_same_table(name: str) -> None:
    case = next(case for case in TABLES if case.name == name)
    header, *rows = rows_of(case)
    columns = [[row[j] for row in rows] for j in range(len(header))]
    typed = [column if j == 0 else [float(x) for x in column] for j, column in enumerate(columns)]
    buffer = io.BytesIO()
    pq.write_table(pa.table(dict(zip(header, typed, strict=True))), buffer)
    assert is_same(case, ".parquet", buffer.getvalue())


def test_a_seed_gives_the_same_result_and_another_seed_another() -> None:
    case = TABLES[0]
    assert run_case(case, case.name, case.content) == numbers(case)
    assert run_case(case, case.name, case.content, "--seed", "2") != numbers(case)


run_once = cache(lambda words: run(words))
_MAXIMUM = "sota --json --seed 1 --quiet "
_LAW = "maximum --json "
_CLAIM = "claim classification --json --accuracy 0.9 0.88 "


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "option", "values", "key", "sign"),
    [
        (_MAXIMUM + "--n-test 500 --classifiers 100", "--maximum", "0.85 0.91",
         "theta_sota", 1),
        (_MAXIMUM + "--n-test 500 --maximum 0.91", "--classifiers", "2 100",
         "winner_skill", -1),
        (_MAXIMUM + "--classifiers 100 --maximum 0.91", "--n-test", "500 30000",
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
        result = run_once((*command.split(), option, value))[key]
        found.append(result["mean"] if isinstance(result, dict) else result)
    assert np.all(sign * np.diff(found) > 0), found
