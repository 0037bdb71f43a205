"""A printed score is an interval of success counts; brute force over all counts says which."""

from decimal import ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import numpy as np
import pytest

from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.errors import InputError
from bayes_sota.priors import LogNormalTries, UniformTries


def board(maximum="0.91", n_test=100, n_classifiers=10, **options):
    return Leaderboard.from_maximum(maximum, n_test=n_test, n_classifiers=n_classifiers, **options)


def counts_that_print_as(score, n_test, decimals, modes):
    unit = Decimal(1).scaleb(-decimals)
    return [
        count
        for count in range(n_test + 1)
        if any((Decimal(count) / n_test).quantize(unit, mode) == Decimal(score) for mode in modes)
    ]


@pytest.mark.parametrize("n_test", [7, 96, 1000, 3000, 13_840])
@pytest.mark.parametrize("score", ["0.9", "0.91", "0.912", "0.9116", "0.5", "1.0", "0.0"])
@pytest.mark.parametrize("rounding", ["nearest", "floor"])
def test_counts_are_all_that_print_as_the_score(score, n_test, rounding):
    modes = [ROUND_FLOOR] if rounding == "floor" else [ROUND_HALF_UP, ROUND_HALF_DOWN]
    decimals = len(score) - 2
    expected = counts_that_print_as(score, n_test, decimals, modes)
    if not expected:
        with pytest.raises(InputError, match="no number of right answers"):
            board(score, n_test, rounding=rounding)
        return
    low, high = board(score, n_test, rounding=rounding).counts
    assert list(range(low, high + 1)) == expected


def test_ends_are_exact_for_a_huge_test_set():
    low, high = board("0.12345678", 10**9, rounding="floor").counts
    assert (low, high) == (123456780, 123456789)


def test_an_absurd_test_set_is_refused():
    with pytest.raises(InputError, match="at most"):
        board("0.9", 10**9 + 1)


def test_both_directions_of_a_tie_count():
    assert board("0.5", 100).counts == (45, 55)


def test_trailing_zeros_are_digits():
    assert board("0.9110", 13_840).counts == (12608, 12608)
    low, high = board("0.911", 13_840).counts
    assert low < 12608 < high
    assert board(0.911, 13_840, decimals=4).counts == (12608, 12608)


def test_full_precision_and_exact_scores_are_one_count():
    assert board(12616 / 13_840, 13_840).counts == (12616, 12616)
    assert board("0.5", 100, rounding="exact").counts == (50, 50)
    assert board(np.float64(0.25), 100, rounding="exact").counts == (25, 25)
    assert board(Decimal("0.25"), 100, rounding="exact").counts == (25, 25)


@pytest.mark.parametrize(
    ("maximum", "options", "message"),
    [
        (91.16, {}, r"in \[0, 1\], got 91\.16; in percent\? then write 0\.9116"),
        (-0.2, {}, r"in \[0, 1\], got -0\.2$"),
        ("nan", {}, r"in \[0, 1\], got nan$"),
        ("91.16%", {}, "must be a number, got '91.16%'"),
        ("0.915", {"n_test": 100}, "nearest attainable scores are 0.91 and 0.92"),
        ("0.913", {"n_test": 96, "rounding": "nearest"}, "nearest to 3 decimals"),
        ("0.5", {"rounding": "exact", "n_test": 7}, "exactly"),
        ("0.91", {"rounding": "up"}, 'rounding must be "nearest", "floor" or "exact"'),
        ("0.91", {"decimals": 0}, "decimals must lie between 1 and 17, got 0"),
        ("0.91", {"n_test": 0}, "n_test is the number of test items"),
        ("0.91", {"n_test": 10.5}, "whole number of at least 1, got 10.5"),
        ("0.91", {"n_test": None}, "whole number of at least 1, got None"),
        ("0.91", {"n_classifiers": 0}, "n_classifiers is the number of classifiers"),
        ("0.91", {"n_classifiers": (5, 2)}, "1 <= low < high, got 5:2"),
    ],
)
def test_bad_input_is_named(maximum, options, message):
    with pytest.raises(InputError, match=message):
        board(maximum, **options)


def test_the_other_rounding_is_suggested():
    with pytest.raises(InputError, match=r'with rounding "nearest" it is 2 right answers'):
        board("0.67", 3, rounding="floor")
    with pytest.raises(InputError, match=r'with rounding "floor" it is 2 right answers'):
        board("0.66", 3)


def test_number_of_classifiers_may_be_known_a_range_or_a_prior():
    assert board(n_classifiers=10).n_classifiers == 10
    assert board(n_classifiers=10).typical_tries == 10
    ranged = board(n_classifiers=(10, 1000))
    assert ranged.tries == UniformTries(10, 1000)
    assert ranged.n_classifiers is None
    assert ranged.typical_tries == pytest.approx(100)
    assert board(n_classifiers=(10, 10)).tries == 10
    assert board(n_classifiers=LogNormalTries(50)).typical_tries == pytest.approx(50)


def test_with_tries_changes_nothing_else():
    first = board("0.9116", 13_840, 3558, rounding="floor", name="obesity")
    second = first.with_tries(7116)
    assert (second.tries, second.counts, second.name, second.rounding, second.decimals) == (
        7116, first.counts, "obesity", "floor", 4,
    )  # fmt: skip
    with pytest.raises(InputError, match="n_classifiers"):
        first.with_tries(0)


def test_hash_depends_on_everything_observed():
    boards = [
        board(), board(n_test=200), board("0.92"), board(n_classifiers=11),
        board(n_classifiers=(10, 11)), board(name="other"), board("0.910", decimals=3),
    ]  # fmt: skip
    hashes = {b.data_hash() for b in boards}
    assert len(hashes) == len(boards) - 1  # "0.910" of 100 items is the count 91, as "0.91" is
    assert board().data_hash() == board().data_hash()
    assert len(board().data_hash()) == 16
