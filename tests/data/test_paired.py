"""Two boards of the same teams: what they hold, from one file or two, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import refused, written

from bayes_sota.data.boards import read_paired_boards
from bayes_sota.data.observed import PairedBoards

FIVE = [0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2, 3], [1, 2, 3]), {}, "at least 5 teams, .* got 3"),
        (([0.1, "x", 0.3, 0.4, 0.5], FIVE), {}, "the public score of .entry 2. must be a number"),
        (([10, 20, 30, 40, 50], FIVE), {"n_test": (10, 20)}, "from 0 to 1, got 10; in percent"),
        ((FIVE, FIVE), {"n_test": [10] * 3}, "3 values of n_test for 2"),
        ((FIVE, FIVE), {"names": list("aabcd")}, "'a' occurs more than once"),
        (
            (FIVE, FIVE),
            {"standard_errors": (1, 1), "n_test": (9, 9)},
            "standard_errors has no effect on accuracies",
        ),
    ],
)
def test_what_it_refuses(arguments: Any, options: Any, message: str) -> None:
    refused(message, PairedBoards, *arguments, **options)


def test_two_boards_in_one_file_or_two(tmp_path: Path) -> None:
    rows = [(f"t{i}", 0.9 - 0.01 * i, 0.91 - 0.01 * i, i + 1) for i in range(6)]
    both = pd.DataFrame(rows, columns=["team", "score_public", "score_private", "entries_public"])
    one = read_paired_boards(written(tmp_path, both.sample(frac=1, random_state=1), "both.csv"))
    assert (one.names[0], one.public_winner, one.name) == ("t0", 0, "both")
    assert (one.public[0], one.private[0]) == (0.90, 0.91)
    assert one.submissions is not None
    assert one.submissions.ravel().tolist() == [1, 2, 3, 4, 5, 6]
    public = both[["team", "score_public"]].rename(columns={"score_public": "score"})
    private = both[["team", "score_private"]].rename(columns={"score_private": "score"})
    two = read_paired_boards(
        written(tmp_path, public, "public.csv"), written(tmp_path, private[1:], "private.csv")
    )
    np.testing.assert_array_equal(two.private, one.private[1:])
    assert "left out 1 team without a score on both boards" in two.notes
    other = private.assign(team=[f"u{i}" for i in range(6)])
    refused("at least 5 teams, .* got 0", read_paired_boards, public, other)
    refused("no columns are called public and private", read_paired_boards, public)
    asked = both.rename(columns={"score_public": "early", "score_private": "late"})
    found = read_paired_boards(asked, public="early", private="late", entry="team")
    np.testing.assert_array_equal(found.public, one.public)
    bad = both.astype(object).replace({"score_public": {0.85: "x"}})
    refused('row 6, column "score_public".* got "x"', read_paired_boards, bad)


def test_ties_of_paired_boards_are_broken_by_name() -> None:
    public, private = [0.9, 0.9, 0.8, 0.7, 0.6], [0.9, 0.8, 0.7, 0.6, 0.5]
    names = ["z", "a", "c", "d", "e"]
    for order in ([0, 1, 2, 3, 4], [4, 3, 1, 2, 0]):
        boards = PairedBoards(*([of[i] for i in order] for of in (public, private, names)))
        assert boards.names[boards.public_winner] == "a"
        assert boards.notes == (
            '2 teams share the best public score; "a" stands for them, the first by name',
        )
    losses = {"team": names, "public": [1 - score for score in public], "private": private}
    found = read_paired_boards(pd.DataFrame(losses), direction="lower")
    assert found.names[found.public_winner] == "a"
    assert "lower is better: scores and all results are multiplied by -1" in found.notes
