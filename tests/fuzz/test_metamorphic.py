"""Formats and units do not matter, and numbers move the right way.

Orders, formats, names and units are those of ``mutations.py`` (same) and ``test_rewritten.py``.
"""

import csv
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz.corpus import corpus, table_text
from fuzz.running import numbers, run, run_case, same_numbers

TABLES = [case for case in corpus() if case.name.endswith(".csv")]


@pytest.mark.parametrize("name", ["board.csv", "answers.csv", "wide.csv"])
def test_columnar_files_are_the_same_table(name):
    case = next(case for case in TABLES if case.name == name)
    header, *rows = csv.reader(io.StringIO(case.content.decode()))
    first, *others = zip(*rows, strict=True)
    columns = [first, *(map(float, column) for column in others)]
    buffer = io.BytesIO()
    pq.write_table(pa.table({n: list(c) for n, c in zip(header, columns, strict=True)}), buffer)
    found = run_case(case, case.name.replace(".csv", ".parquet"), buffer.getvalue())
    assert same_numbers(found, numbers(case))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["board", "kaggle"])
def test_percent_is_a_unit(kind):
    """Percents have two decimals less, and a sentence that says so."""
    case = next(c for c in TABLES if c.kind == kind and c.command[0] != "sota")
    rows, column = list(csv.reader(io.StringIO(case.content.decode()))), case.score_columns[0]
    for row in rows[1:]:
        row[column] = f"{float(row[column]) * 100:.1f}"
    found = run_case(case, case.name, table_text(rows))
    other = {key: found[key] for key in ("decimals", "statement", "text") if key in found}
    assert found == numbers(case) | other


_MAXIMUM = "sota --json --seed 1 --quiet"
_LAW = "maximum --json"
_CLAIM = "claim classification --json --accuracy 0.9 0.88"
# command, option with its values | number and the way it moves
MOVED = f"""
{_MAXIMUM} --n-test 500 --classifiers 100 --maximum: 0.85 0.91 | theta_sota up
{_MAXIMUM} --n-test 500 --maximum 0.91 --classifiers: 2 100 | winner_skill down
{_MAXIMUM} --classifiers 100 --maximum 0.91 --n-test: 500 30000 | winner_skill up
{_LAW} --n-test 500 --theta 0.9 --classifiers: 1 2 10 100 10000 | expected_maximum up
{_LAW} --n-test 500 --theta 0.9 --classifiers 100 --correlation: 0 0.3 0.6 0.9 0.99 | bias down
{_LAW} --theta 0.9 --classifiers 100 --n-test: 50 200 1000 5000 100000 | bias down
{_CLAIM} --n-test: 100 500 1000 5000 20000 | p_false down
{_CLAIM} --n-test 500 --congruence: 0.78 0.8 0.82 0.85 0.88 | p_false down
"""


@pytest.mark.slow
@pytest.mark.parametrize("line", MOVED.strip().splitlines())
def test_numbers_move_the_right_way(line):
    asked, _, wanted = line.partition(" | ")
    command, _, values = asked.partition(": ")
    key, _, way = wanted.partition(" ")
    results = [run([*command.split(), value])[key] for value in values.split()]
    found = [r["mean"] if isinstance(r, dict) else r for r in results]
    assert np.all(np.diff(found if way == "up" else found[::-1]) > 0), found
