"""Numbers have ranges that say what is wrong."""

import numpy as np
import pytest
from data.files import refused

import bayes_sota as bs
from bayes_sota.core.arguments import Range

NO_END = float("inf")


@pytest.mark.parametrize(
    ("limits", "words", "inside", "outside"),
    [
        (Range(0, 1), "a number from 0 to 1", (0, 1, 0.5), (-1e-9, 1.1, float("nan"), "x", None)),
        (Range(0, 1, True, True), "a number above 0 and below 1", (0.5,), (0, 1, True)),
        (Range(0, 1, open_high=True), "a number of at least 0 and below 1", (0,), (1,)),
        (Range(1, 9, whole=True), "a whole number from 1 to 9", (1, np.int64(9)), (0, 10, 2.5)),
        (Range(1, 9, whole=True), "a whole number from 1 to 9, got 100:200$", (), ({"100": 200},)),
        (Range(0, NO_END, whole=True), "a whole number of at least 0", (10**30,), (-1,)),
        # Ends that nobody meets are not named.
        (Range(1e-100, 1e100), "a number above 0", (1e-50,), (0, 1e-200)),
        (Range(-1e100, 1e100), "a number", (), ("x", NO_END)),
        (Range(0, 1e100), "a number of at least 0", (), (-1,)),
    ],
)
def test_ranges(limits, words, inside, outside):
    assert [limits.check(value, "x") for value in inside] == list(inside)
    for value in outside:
        refused(f"^x must be {words}", limits.check, value, "x")


def test_a_bad_seed_is_refused():
    board = bs.Leaderboard([0.9, 0.91, 0.88], n_test=1000)
    said = "random_seed must be a whole number of at least 0"
    refused(said, bs.board_table, board, random_seed=-1)
