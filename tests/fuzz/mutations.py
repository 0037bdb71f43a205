"""Seeded mutations of valid inputs, each with what must become of it.

``refuse``: exit code 2. ``any``: whatever is said must be honest (see ``running.py``).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from fuzz.corpus import Case, table_text


@dataclass(frozen=True)
class Mutant:
    """A spoilt file: its name, its bytes, what was done, and what must become of it."""

    name: str
    content: bytes
    what: str
    expected: str = "any"


def mutate(case, rng):
    """One mutation that suits the kind of file, drawn at random."""
    choices: list[Callable[[Case, np.random.Generator], Mutant]] = [_bytes]
    if case.name.endswith(".csv"):
        choices += [_cell, _cell, _structure]
    elif case.name.endswith(".json"):
        choices += [_json_value, _json_value]
    return choices[rng.integers(len(choices))](case, rng)


# --- bytes

_JUNK = (
    b"\0", b"\xff", b"\xff\xfe", b'"', b"'", b"{", b"}", b"[", b",", b";", b"\t", b"\r", b"\n",
    b"\n\n", b"-", b"e", b"9", b"NaN", b"1e999", b"\x1b[2J", b"\xed\xa0\x80", b"=1+1", b"#", b"\\",
)  # fmt: skip


def _bytes(case, rng):
    content = bytearray(case.content)
    done = []
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(content) + 1))
        span = int(min(rng.geometric(0.05), len(content) - at))
        kind = ("flip", "cut", "double", "junk", "end")[rng.integers(5)]
        if kind == "flip" and at < len(content):
            content[at] ^= 1 << int(rng.integers(8))
        elif kind == "cut":
            del content[at : at + span]
        elif kind == "double":
            content[at:at] = content[at : at + span]
        elif kind == "junk":
            content[at:at] = _JUNK[rng.integers(len(_JUNK))]
        elif kind == "end" and rng.random() < 0.3:
            del content[at:]
        done.append(f"{kind} at {at}")
    return Mutant(case.name, bytes(content), "; ".join(done))


# --- delimited tables

_NO_NUMBERS = (
    "0x10", "1_000", "٠.٩", "0.9.1", "9" * 400, "1e400", "-1e400", "inf", "-inf", "Infinity",
    "abc", "0.9 0.8", "1/2", "0.5j", "=0.9", "0.9;", "True!", "½", "0,9,1", "1e", "+", "∞",
)  # fmt: skip
# In a column of accuracies that are fractions these are numbers, but no scores.
_NO_FRACTIONS = ("-1", "-0.2", "1e308", "11", "1.0001", "200", "-1e308", "98.5")
_NO_ANSWERS = ("11", "2", "-2", "x", "yes!", "1e308", "10", "01x", "9", "1;")
_NO_OUTCOMES = ("-1", "2", ".1", "x", "11", "0.7", "-0.5", "1e308", "inf")
_ODD = (
    "", " ", "NA", "nan", "None", "null", "-", "--", "0", "1", "1.0", "+0.9", "9e-1", " 0.9 ",
    "1E-3", "0.5", "0.90000000000000000001", "5e-324", "1e-400", "TRUE", "90%", "0,9", "'0.9",
    "0.9\u00a0",
)  # fmt: skip


def _rows(case):
    return [line.split(",") for line in case.content.decode().splitlines()]


def _cell(case, rng):
    rows = _rows(case)
    row = int(rng.integers(1, len(rows)))
    column = int(case.score_columns[rng.integers(len(case.score_columns))])
    wrong = {
        "board": _NO_NUMBERS + _NO_FRACTIONS, "answers": _NO_NUMBERS + _NO_ANSWERS,
        "paired": _NO_NUMBERS + _NO_FRACTIONS, "claims": _NO_NUMBERS + _NO_FRACTIONS[:3],
        "battles": _NO_NUMBERS + _NO_OUTCOMES,
    }.get(case.kind, _NO_NUMBERS)  # fmt: skip
    refused = rng.random() < 0.7
    pool = wrong if refused else _ODD
    text = pool[rng.integers(len(pool))]
    rows[row][column] = f'"{text}"' if "," in text or ";" in text else text
    return Mutant(case.name, table_text(rows), f"{text[:20]!r} at row {row}, column {column}",
                  "refuse" if refused else "any")  # fmt: skip


Rows = list[list[str]]
Change = Callable[[Rows, int, int], Rows]


def _with_row(rows, at, row):
    return [*rows[:at], row, *rows[at + 1 :]]


# What becomes of the rows of a table, of which a row and a column are drawn.
_STRUCTURES: dict[str, Change] = {
    "missing cell": lambda rows, r, c: _with_row(rows, r, rows[r][:c] + rows[r][c + 1 :]),
    "extra cell": lambda rows, r, c: _with_row(rows, r, [*rows[r][:c], "0.5", *rows[r][c:]]),
    "no header": lambda rows, r, c: rows[1:],
    "empty": lambda rows, r, c: [],
    "header only": lambda rows, r, c: rows[:1],
    "one row": lambda rows, r, c: rows[:2],
    "row twice": lambda rows, r, c: [*rows[:r], rows[r], *rows[r:]],
    "column twice": lambda rows, r, c: [[*row, row[c]] for row in rows],
    "column dropped": lambda rows, r, c: [row[:c] + row[c + 1 :] for row in rows],
    "turned": lambda rows, r, c: [list(row) for row in zip(*rows, strict=True)],
    "blank row": lambda rows, r, c: [*rows[:r], [""] * len(rows[0]), *rows[r:]],
    "header twice": lambda rows, r, c: [*rows[:r], rows[0], *rows[r:]],
    "ragged end": lambda rows, r, c: [*rows[:-1], rows[-1][: max(1, c)]],
}
_BROKEN = {"missing cell", "extra cell", "empty", "header only"}


def _structure(case, rng):
    rows = _rows(case)
    row, column = int(rng.integers(1, len(rows))), int(rng.integers(len(rows[0])))
    kind = list(_STRUCTURES)[rng.integers(13)]
    content = table_text(_STRUCTURES[kind](rows, row, column))
    remark = len(rows[0]) == 2 and row == len(rows) - 1  # a last row of one cell
    return Mutant(case.name, content, kind, "refuse" if kind in _BROKEN and not remark else "any")


# --- JSON

_VALUES: tuple[Any, ...] = (
    None, True, False, "", "x", "0.9", -1, 0, 1, 2, 1e308, 10**400, [], {}, [[]], [1, [2]],
    {"a": 1}, "\ud800", "=1+1", "\x1b[31m", -0.0, 0.5, "NaN", 1e-320,
)  # fmt: skip


def _json_value(case, rng):
    content = json.loads(case.content)
    places = _places(content)
    parent, key = places[rng.integers(len(places))]
    kind = ("replace", "delete", "rename")[rng.integers(3)]
    value = _VALUES[rng.integers(len(_VALUES))]
    if kind == "delete":
        del parent[key]
    elif kind == "rename" and isinstance(parent, dict):
        parent[f"{key}x"] = parent.pop(key)
    else:
        parent[key] = value
    what = f"JSON {kind} {key!r}: {str(value)[:20]!r}"
    return Mutant(case.name, json.dumps(content).encode("utf-8", "replace"), what)


def _places(content):
    """Every (container, key) of a JSON value."""
    found: list[tuple[Any, Any]] = []
    keys = list(content) if isinstance(content, dict) else range(len(content))
    for key in keys:
        found.append((content, key))
        if isinstance(content[key], dict | list):
            found += _places(content[key])
    return found
