"""Numbers have ranges that say what is wrong."""

import re

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.arguments import Range, generator_of
from bayes_sota.core.errors import InputError

WHOLE = bs.Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)


@pytest.mark.parametrize(
    ("limits", "words", "inside", "outside"),
    [
        (Range(0, 1), "a number from 0 to 1", (0, 1, 0.5), (-1e-9, 1.1, float("nan"), "x", None)),
        (Range(0, 1, True, True), "a number above 0 and below 1", (0.5,), (0, 1, True)),
        (Range(0, 1, open_high=True), "a number of at least 0 and below 1", (0,), (1,)),
        (Range(1, 9, whole=True), "a whole number from 1 to 9", (1, np.int64(9)), (0, 10, 2.5)),
        (Range(0, float("inf"), whole=True), "a whole number of at least 0", (10**30,), (-1,)),
    ],
)
def test_ranges(limits: Range, words: str, inside: tuple, outside: tuple) -> None:
    assert str(limits) == words
    assert [limits.check(value, "x") for value in inside] == list(inside)
    for value in outside:
        with pytest.raises(InputError, match=f"^x must be {words}, got "):
            limits.check(value, "x")


@pytest.mark.parametrize(
    ("limits", "value", "words"),
    [
        (Range(1e-100, 1e100), 0, "a number above 0"),
        (Range(1e-100, 1e100), 1e-200, "a number from 1e-100 to 1e+100"),
        (Range(-1e100, 1e100), "x", "a number"),
        (Range(-1e100, 1e100), float("inf"), "a number from -1e+100 to 1e+100"),
        (Range(0, 1e100), -1, "a number of at least 0"),
    ],
)
def test_ends_that_nobody_meets_are_not_told(limits: Range, value: object, words: str) -> None:
    with pytest.raises(InputError, match=f"^x must be {re.escape(words)}, got "):
        limits.check(value, "x")


def test_bad_seeds_are_refused() -> None:
    with pytest.raises(InputError, match="random_seed must be a whole number of at least 0"):
        generator_of(-1)
    with pytest.raises(InputError, match="random_seed must be a whole number of at least 0"):
        bs.board_table(WHOLE, random_seed=-1)
