"""Tables as people have them, each with the reading that is right; ``tables.json`` holds both.

A reading is a leaderboard (B), a grid of entries and units (G), wins of pairs (M), two boards (P),
or a refusal (R) where something has to be chosen.
"""

import base64
import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.reading import read_tidy

TABLES = json.loads(Path(__file__).with_name("tables.json").read_text("utf-8"))


@pytest.mark.parametrize("table", TABLES, ids=[f"{t['about']}, {t['file']}" for t in TABLES])
def test_a_table_is_read_rightly_or_a_choice_is_asked_for(table, tmp_path: Path) -> None:
    path = write(table, tmp_path)
    if table["kind"] == "R" or table.get("refused"):
        with pytest.raises(InputError) as refused:
            read_as("", read_tidy(path, **table["options"]))
        assert "\n" not in str(refused.value)
        assert refused.value.where
        return
    found = read_tidy(path, **table["options"])
    assert same(table["right"], read_as(table["kind"], found)), str(found)


def write(table, folder: Path) -> Path:
    """The table as a file of its kind."""
    path = folder / table["file"]
    if "frame" in table:
        frame = pd.DataFrame(table["frame"]["data"], columns=table["frame"]["columns"])
        frame.to_excel(path, index=False) if path.suffix == ".xlsx" else frame.to_parquet(path)
    elif "base64" in table:
        path.write_bytes(base64.b64decode(table["base64"]))
    else:
        path.write_bytes(table["text"].encode())
    return path


def read_as(kind: str, tidy):
    """What was read, in the form of ``tables.json``."""
    layout = {"board": "B", "battles": "M", "pair": "P"}.get(tidy.layout, "G")
    assert layout == kind or not kind
    if layout == "B":
        return dict(zip(tidy.labels["entry"], tidy.value, strict=True))
    if layout == "M":
        return _wins(tidy)
    if layout == "P":
        grid, (names, _) = tidy.pivot("entry", "board")
        return dict(zip(names, grid.tolist(), strict=True))
    return _of_units(tidy)


def _wins(tidy):
    wins: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0])
    columns = (tidy.labels["entry"], tidy.labels["opponent"], tidy.value, tidy.numbers["count"])
    for one, other, value, count in zip(*columns, strict=True):
        pair, points = ((one, other), value) if one < other else ((other, one), 1 - value)
        wins[pair][0] += points * count
        wins[pair][1] += count
    return [[*pair, *numbers] for pair, numbers in wins.items()]


def _of_units(tidy) -> dict[str, dict[str, float]]:
    runs = ["run"] if "run" in tidy.labels and tidy.unit != "run" else []
    unit = tidy.unit
    for part in ("fold", "iteration"):
        if {"task", part} <= tidy.labels.keys() and tidy.count(part) > 1:
            names = tidy.labels["task"] + "/" + tidy.labels[part]
            tidy = replace(tidy, labels=tidy.labels | {unit: names})
    grid, (units, names, *_) = tidy.pivot(unit, "entry", *runs)
    with np.errstate(invalid="ignore"):  # an entry may have no run of a unit
        means = np.nansum(grid, axis=2) / (~np.isnan(grid)).sum(axis=2) if runs else grid
    return {
        name: {
            unit: score for unit, score in zip(units, column, strict=True) if not np.isnan(score)
        }
        for name, column in zip(names, means.T.tolist(), strict=True)
    }


def same(right, found) -> bool:
    """Whether two readings agree; percent may be read as such or as shares."""
    if isinstance(right, list):
        key = lambda row: tuple(map(str, row[:2]))  # noqa: E731
        pairs = zip(sorted(right, key=key), sorted(found, key=key), strict=False)
        return len(right) == len(found) and all(
            one[:2] == other[:2] and np.allclose(one[2:], other[2:]) for one, other in pairs
        )
    return any(_near(right, found, scale) for scale in (1, 0.01, 100))


def _near(right, found, scale: float) -> bool:
    if not isinstance(right, dict):
        return bool(np.allclose(np.multiply(right, scale), found, atol=1e-9))
    return right.keys() == found.keys() and all(
        _near(value, found[name], scale) for name, value in right.items()
    )
