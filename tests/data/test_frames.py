"""Frames of pandas, polars and PyArrow, in every public reader, say what the same file says."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayes_sota
from bayes_sota.claims import read_claims
from bayes_sota.core.errors import InputError
from bayes_sota.crossval import read_task
from bayes_sota.data import (
    FoldScores,
    read_fold_scores,
    read_item_scores,
    read_leaderboard,
    read_outcomes,
    read_paired_boards,
    read_responses,
    read_scores,
    read_task_scores,
    read_test_scores,
)
from bayes_sota.data.files.opening import table_of_frame
from bayes_sota.epp import read_tournaments

ROOMS = [getattr(bayes_sota, room) for room in bayes_sota.__all__ if room.islower()]
_RUNS = FoldScores([[[0.8, 0.9]], [[0.7, 0.8]]], learners=["a", "b"])
_ANSWERS = {"item": ["q1", "q2", "q3"], "x": [1, 0, 1], "y": [0, 0, 1]}

# What each reader gets as a table, and how it reads it.
READERS: dict[str, tuple[dict[str, list[Any]], Callable[[Any], Any]]] = {
    "read_leaderboard": (
        {"team": ["A", "B"], "score": [0.91, 0.88]}, lambda x: read_leaderboard(x, n_test=100),
    ),
    "read_paired_boards": (
        {"team": list("ABCDEF"), "public": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
         "private": [0.8, 0.9, 0.6, 0.7, 0.4, 0.5]},
        read_paired_boards,
    ),
    "read_responses": (_ANSWERS, read_responses),
    "read_outcomes": (_ANSWERS, read_outcomes),
    "read_item_scores": (
        {"item": [1, 2, 3], "a": [0.5, 0.25, 1.0], "b": [0.5, 0.5, 0.75]}, read_item_scores,
    ),
    "read_scores": (
        {"round": [1, 2, 3], "x": [0.5, 0.25, 1.0], "y": [0.5, 0.5, 0.75]}, read_scores,
    ),
    "read_fold_scores": (
        {"learner": ["a", "a", "b", "b"], "iteration": [1, 1, 1, 1], "fold": [1, 2, 1, 2],
         "auc": [0.5, 0.25, 1.0, 0.75]},
        read_fold_scores,
    ),
    "read_test_scores": (
        {"learner": ["b", "a"], "score": [0.75, 0.5]}, lambda x: read_test_scores(x, _RUNS),
    ),
    "read_tournaments": (
        {"round": [1, 2, 3], "x": [0.5, 0.25, 1.0], "y": [0.5, 0.5, 0.75]},
        lambda x: read_tournaments(x)[0][0].scores,
    ),
    "read_claims": (
        {"accuracy_a": [0.91], "accuracy_b": [0.88], "n_test": [100]},
        lambda x: read_claims(x).astype(float),
    ),
    "read_task_scores": (
        {"model": ["a", "b"], "law": [0.9, 0.8], "art": [0.5, 0.75]},
        lambda x: read_task_scores(x, task_columns=["law", "art"], n_test=[50, 40]).scores,
    ),
    "read_task": ({"size": [1.5, 2.0], "y": [0, 1]}, lambda x: read_task(x, "y")[0]),
}  # fmt: skip


def content(found: Any) -> dict[str, Any]:
    """What was read, without the name that a file gives it."""
    if isinstance(found, np.ndarray | pd.DataFrame):
        return {"values": np.asarray(found)}
    return {
        name: value
        for name, value in vars(found).items()
        if name not in ("name", "tasks", "tournament")
    }


def test_no_public_reader_is_forgotten() -> None:
    public = {name for place in (bayes_sota, *ROOMS) for name in getattr(place, "__all__", ())}
    found = {name for name in public if name.startswith("read_")}
    assert found - {"read_result"} == set(READERS)  # which reads no table


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("reader", READERS)
def test_frames_say_what_files_say(tmp_path: Path, reader: str, kind: Any) -> None:
    columns, read = READERS[reader]
    pd.DataFrame(columns).to_csv(tmp_path / "f.csv", index=False)
    one, other = content(read(kind(columns))), content(read(tmp_path / "f.csv"))
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], name)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("source", [None, 5, object(), [[0.9, 0.8]], pl.LazyFrame({"x": [1]})])
def test_what_is_neither_file_nor_frame_is_one_clear_error(reader: str, source: Any) -> None:
    with pytest.raises(InputError, match=r"read (from a path|as paths)") as caught:
        READERS[reader][1](source)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("reader", READERS)
def test_a_frame_that_is_wrong_is_refused_with_its_place(reader: str) -> None:
    columns, read = READERS[reader]
    last = list(columns)[-1]
    if reader == "read_claims":  # reads cells as they are, claims_table judges them
        last = "n_test"
        read = bayes_sota.claims_table
    wrong = pd.DataFrame(columns).astype(object)
    wrong.loc[len(wrong) - 1, last] = "word"
    if reader == "read_task":
        wrong.loc[0, "size"], wrong.loc[0, "y"] = "word", 0
    with pytest.raises(InputError, match=r"word") as caught:
        read(wrong)
    assert "row" in str(caught.value)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_numbers_of_a_frame_stay_what_they_are(kind: Any) -> None:
    days = [datetime(2026, 1, day) for day in (1, 2, 3)]
    frame = kind(
        {"whole": [1, 2, 3], "real": [0.5, 0.25, 1.0], "day": days, "word": ["a", "b", "c"]}
    )
    table = table_of_frame(frame)
    assert table.header == ("whole", "real", "day", "word")
    assert [getattr(cells, "dtype", None) for cells in table.columns] == [int, float, None, None]
    assert (list(table.columns[2]), table.columns[3]) == (days, ["a", "b", "c"])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"n": pd.array([2**60 + 1, None], dtype="Int64")}),
        pl.DataFrame({"n": [2**60 + 1, None]}),
        pa.table({"n": [2**60 + 1, None]}),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_whole_numbers_with_gaps_do_not_become_floats(frame: Any) -> None:
    assert table_of_frame(frame).columns == ([2**60 + 1, None],)


def test_columns_of_one_name_are_refused() -> None:
    frame = pd.DataFrame([[1, 0, 1], [0, 1, 1]], columns=["a", "b", "a"])
    for read in (table_of_frame, bayes_sota.Responses):
        with pytest.raises(InputError, match="columns of the data frame have the same name: 'a'"):
            read(frame)
