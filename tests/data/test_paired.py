"""Two boards of the same teams: what they hold and what they refuse."""

from typing import Any

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.paired import PairedBoards

FIVE = [0.1, 0.2, 0.3, 0.4, 0.5]


def test_what_it_holds() -> None:
    boards = PairedBoards(FIVE, FIVE[::-1], list("abcde"), n_test=(10, 20), name="two")
    assert (boards.n_entries, boards.public_winner, boards.private_winner) == (5, 4, 0)
    assert boards.noise_is_known
    assert not boards.public.flags.writeable
    assert "two" in repr(boards)


def test_equal_by_what_was_observed() -> None:
    boards = PairedBoards(FIVE, FIVE)
    assert boards == PairedBoards(np.array(FIVE), FIVE)
    assert boards != PairedBoards(FIVE, FIVE[::-1])
    assert hash(boards) == hash(PairedBoards(FIVE, FIVE))
    assert boards.subset(np.ones(5, bool)) == boards


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2, 3], [1, 2, 3]), {}, "at least 5 teams, got 3"),
        ((FIVE, FIVE[:4]), {}, "5 scores and the private one 4"),
        (([0.1, "x", 0.3, 0.4, 0.5], FIVE), {}, "the public score of entry 2 must be a number"),
        ((FIVE, [0.1, 0.2, np.nan, 0.4, 0.5]), {}, "private board: .*entry 3"),
        (([10, 20, 30, 40, 50], FIVE), {"n_test": (10, 20)}, r"in \[0, 1\].*in percent"),
        ((FIVE, FIVE), {"n_test": (10,)}, "n_test is a pair"),
        ((FIVE, FIVE), {"n_test": 10}, "n_test is a pair"),
        ((FIVE, FIVE), {"n_test": (10, 0)}, "n_test of the private board"),
        ((FIVE, FIVE), {"names": list("aabcd")}, "entries 1 and 2 are both 'a'"),
        ((FIVE, FIVE), {"standard_errors": (0, 1)}, "public board must be a positive number"),
        ((FIVE, FIVE), {"standard_errors": (1, 1), "n_test": (9, 9)}, "not both"),
        ((FIVE, [0.3] * 5), {}, "all 5 private scores are 0.3"),
    ],
)
def test_what_it_refuses(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PairedBoards(*arguments, **options)
