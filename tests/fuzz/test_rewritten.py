"""Tables written in another way are read alike: orders, ends of lines, quotes, spaces, delimiters.

Every example file and every delimited table of ``tests/data/tables.json``, also those that have to
be refused.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from data.files import EXAMPLES
from data.test_tables import TABLES

from bayes_sota.core.errors import InputError
from bayes_sota.data.reading import read_tidy

Rows = list[list[str]]


def text_of(rows, **options):
    buffer = io.StringIO()
    csv.writer(buffer, **{"lineterminator": "\n"} | options).writerows(rows)
    return buffer.getvalue()


WAYS: dict[str, Callable[[Rows], str]] = {
    "rows": lambda rows: text_of([rows[0], *rows[:0:-1]]),
    "columns": lambda rows: text_of([row[::-1] for row in rows]),
    "first column last": lambda rows: text_of([[*row[1:], row[0]] for row in rows]),
    "CRLF": lambda rows: text_of(rows, lineterminator="\r\n"),
    "BOM": lambda rows: "\ufeff" + text_of(rows),
    "quotes": lambda rows: text_of(rows, quoting=csv.QUOTE_ALL),
    "tabs": lambda rows: text_of(rows, delimiter="\t"),
    "semicolons": lambda rows: text_of(rows, delimiter=";"),
    "spaces": lambda rows: text_of([[f"  {cell} " for cell in row] for row in rows]),
    "blank lines": lambda rows: "\n" + text_of(rows).replace("\n", "\n\n"),
}


def rows_of(text):
    """Rows of a table, if all are as long as the header, and nothing stands around it."""
    if text.lstrip()[:1] in ("{", "[", "|") or "---" in text:
        return None
    head = text.partition("\n")[0]
    delimiter = next((sign for sign in "\t;" if sign in head), ",")
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(row)]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1 or lengths <= {1} or sum(map(bool, rows[0])) < len(rows[0]) - 1:
        return None
    if delimiter == "," and any(re.fullmatch(r"\d+,\d+", cell) for row in rows for cell in row):
        return None
    if delimiter != ",":  # where decimal commas are points
        rows = [[re.sub(r"^([-+]?\d+),(\d+)", r"\1.\2", cell) for cell in row] for row in rows]
    return rows


def found(path, options):
    """Scores with their names, whatever their order; None where a choice is asked for."""
    try:
        tidy = read_tidy(path, **options)
    except InputError:
        return None
    return Counter(zip(*columns_of(tidy), strict=True))


def columns_of(tidy):
    names = {role: list(map(str, labels)) for role, labels in tidy.labels.items()}
    for role, labels in names.items():  # by their lines
        if any(label.startswith("(alone, line") for label in labels):
            names[role] = [re.sub(r"\d+", "", label) for label in labels]
    numbers = [tidy.value, *(of for _, of in sorted(tidy.numbers.items()))]
    as_text = [list(map(str, of.round(9) + 0.0)) for of in numbers]
    return [*(names[role] for role in sorted(names)), *as_text]


SOURCES: list[tuple[str, str, dict[str, Any]]] = [
    (path.name, path.read_text("utf-8"), {}) for path in sorted(EXAMPLES.glob("*.csv"))
]
SOURCES += [(f"{one['about']}, {one['file']}", one["text"], one["options"])
            for one in TABLES if "text" in one]  # fmt: skip
CASES = [(name, rows, options) for name, text, options in SOURCES if (rows := rows_of(text))]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_the_same_table_has_the_same_scores(tmp_path, way):
    wrong = []
    for name, rows, options in CASES:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for part in ("one", "other"):
            (folder / part).mkdir(parents=True)
        one, other = (folder / part / "table.csv" for part in ("one", "other"))
        one.write_text(text_of(rows), "utf-8")
        other.write_text(WAYS[way](rows), "utf-8", newline="")
        if "column" in way and "" in rows[0]:
            continue  # the index of a frame stands first
        if found(one, options) != found(other, options):
            wrong.append(name)
    assert not wrong, json.dumps(wrong)


def test_most_tables_are_tried():
    assert len(CASES) > 100
