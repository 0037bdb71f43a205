"""Two boards of the same teams: what is refused, and ties."""

from typing import Any

import pytest
from data.files import refused

from bayes_sota.data.observed import PairedBoards

FIVE = [0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize(
    ("public", "options", "message"),
    [
        ([1, 2, 3], {}, "at least 5 teams, .* got 3"),
        ([0.1, "x", 0.3, 0.4, 0.5], {}, "the public score of .entry 2. must be a number"),
        ([10, 20, 30, 40, 50], {"n_test": (10, 20)}, "from 0 to 1, got 10; in percent"),
        (FIVE, {"n_test": [10] * 3}, "3 values of n_test for 2"),
        (FIVE, {"standard_errors": (1, 1), "n_test": (9, 9)}, "standard_errors has no effect on"),
        ([0.5] * 5, {}, "every public score is the same"),
    ],
)
def test_what_is_refused(public: Any, options: Any, message: str) -> None:
    refused(message, PairedBoards, public, FIVE, **options)


def test_ties_are_broken_by_name() -> None:
    public, private = [0.9, 0.9, 0.8, 0.7, 0.6], [0.9, 0.8, 0.7, 0.6, 0.5]
    for order in ([0, 1, 2, 3, 4], [4, 3, 1, 2, 0]):
        boards = PairedBoards(*([of[i] for i in order] for of in (public, private, "zacde")))
        assert boards.names[boards.public_winner] == "a"
