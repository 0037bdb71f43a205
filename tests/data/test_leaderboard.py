"""A printed score is an interval of success counts; brute force over all counts says which."""

from decimal import ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from data.files import refused

from bayes_sota.core.priors import UniformTries
from bayes_sota.data.boards import average_tasks
from bayes_sota.data.leaderboard import BestScore, Leaderboard

SCORES = ["0.91", "0.94", "0.90", "0.94"]


def board(maximum="0.91", n_test=100, n_classifiers=10, **options):
    return BestScore(maximum, n_test=n_test, n_classifiers=n_classifiers, **options)


def full(scores=SCORES, n_test=100, **options):
    return Leaderboard(scores, n_test=n_test, **options)


def counts_that_print_as(score, n_test, decimals, modes):
    unit = Decimal(1).scaleb(-decimals)
    return [
        count
        for count in range(n_test + 1)
        if any((Decimal(count) / n_test).quantize(unit, mode) == Decimal(score) for mode in modes)
    ]


@pytest.mark.parametrize(
    ("n_test", "decimals"), [(7, 1), (7, 2), (96, 1), (96, 2), (96, 4), (1000, 2), (13_840, 4)]
)
@pytest.mark.parametrize("rounding", ["nearest", "floor"])
def test_bounds_of_a_full_board_are_all_counts_that_print_so(n_test, rounding, decimals):
    modes = [ROUND_FLOOR] if rounding == "floor" else [ROUND_HALF_UP, ROUND_HALF_DOWN]
    unit = Decimal(1).scaleb(-decimals)
    counts = [0, n_test, *np.random.default_rng(n_test).integers(0, n_test + 1, 6)]
    printed = [(Decimal(int(k)) / n_test).quantize(unit, modes[0]) for k in counts]
    bounds = full([str(score) for score in printed], n_test, rounding=rounding).count_bounds
    for score, (low, high) in zip(printed, bounds, strict=True):
        assert list(range(low, high + 1)) == counts_that_print_as(score, n_test, decimals, modes)
        only = board(str(score), n_test, rounding=rounding) if 0 < score < 1 else None
        assert only is None or only.counts == (low, high)


def test_bounds_know_no_overflow():
    scores = ["0.12345678900", "0.98765432100"]
    b = full(scores, 10**9, rounding="nearest")
    unit = Decimal("1e-11")
    for score, (low, high) in zip(scores, b.count_bounds, strict=True):
        assert low == high == round(Decimal(score) * 10**9)
        assert abs(Decimal(int(low)) / 10**9 - Decimal(score)) <= unit / 2


def test_trailing_zeros_are_digits_and_a_float_has_none():
    """1.0 as a number is exact; as text it has one digit, and stands for .95 and more."""
    assert board("0.9110", 13_840).counts == (12608, 12608)
    low, high = board("0.911", 13_840).counts
    assert low < 12608 < high
    assert board(12616 / 13_840, 13_840).counts == (12616, 12616)
    assert board("0.5", 100, rounding="exact").counts == (50, 50)
    assert board("1.0", 200).counts == (190, 200)
    assert board(1.0, 200).counts == (200, 200)


@pytest.mark.parametrize(
    ("score", "noted"),
    [(1350 / 1500, True), ("0.900", False), ("0.90", False), (1351 / 1500, False), (1.0, False)],
)
def test_lost_zeros_are_noted(score, noted):
    """0.9 of 1,500 may be 1,275 to 1,425, eleven standard errors apart, and 0.90 two."""
    said = "0.9, stands for 1,275 to 1,425 of 1,500 correct answers: write all its digits"
    for made in (board(score, 1500), full([score, 0.8], 1500)):
        assert (said in "".join(made.notes)) is noted
    assert board(score, 1500, rounding="exact").notes == ()


def test_labels_of_a_series_are_names():
    labelled = pd.Series(SCORES, list("wxyz"))
    names = tuple(labelled.index)
    assert full(labelled).names == full(labelled.to_xarray()).names == names
    assert full(labelled, names=names[::-1]).names == names[::-1]
    for numbered in (labelled.reset_index(drop=True), labelled.set_axis([5, 3, 2, 9])):
        assert full(numbered).names == full().names
    assert full(labelled.set_axis(["a"] * 4)).names == full().names
    assert average_tasks(pd.DataFrame([[0.5], [0.6]]), n_test=9).names == full().names[:2]
    refused("read_leaderboard reads files and frames", full, labelled.to_frame())


@pytest.mark.parametrize("rounding", ["auto", "kaggle", "floor"])
def test_a_board_says_how_its_scores_were_cut(rounding):
    """0.66 of 3 items is cut; 0.25 and 0.50 of 4 may be either, and are taken as preferred."""
    board = full(["0.66", "0.33"], 3, rounding=rounding)
    assert (board.rounding, board.count_bounds.tolist()) == ("floor", [[2, 2], [1, 1]])
    either = full(["0.25", "0.50"], 4, rounding=rounding)
    assert either.rounding == ("nearest" if rounding == "auto" else "floor")
    own = full(["0.6666", "0.5000"], [3, 2], rounding=rounding)
    assert (own.rounding, own.count_bounds.tolist()) == ("floor", [[2, 2], [1, 1]])


def test_kinds_of_numbers_agree():
    for kind in (pd.Series, pl.Series, np.array):
        assert full(kind(SCORES)) == full(kind([float(s) for s in SCORES])) == full()
    assert full([Decimal(s) for s in SCORES]) == full()
    assert full(np.array(SCORES, np.float32)).count_bounds.tolist() == full().count_bounds.tolist()
    assert full([1, 0, 1], 7).count_bounds.tolist() == [[7, 7], [0, 0], [7, 7]]


def test_percent_is_recognised_and_noted():
    b = full([91.16, 90.2, 88.0], 13_840)
    same = full(["0.9116", "0.902", "0.88"], 13_840)
    assert np.array_equal(b.count_bounds, same.count_bounds)
    assert b.scores.tolist() == same.scores.tolist()
    assert (b.decimals, b.notes) == (4, ("scores in percent were divided by 100",))
    assert full([0.5, 1.0], 1000, percent=True).scores.tolist() == [0.005, 0.01]


def test_a_board_and_its_best_score():
    assert full().order.tolist() == [1, 3, 0, 2]
    b = full(["0.9116", "0.9032", "0.88"], 13_840, rounding="floor", name="x")
    only = board("0.9116", 13_840, 3, rounding="floor", name="x")
    assert b.maximum_only() == only
    losses = full([0.3, -0.2], None, metric="score", standard_error=0.1, lower_is_better=True)
    assert (losses.scores.tolist(), losses.sign, losses.has_own_errors) == ([-0.3, 0.2], -1, False)
    refused("no number of correct answers", getattr, losses, "counts")


def test_numbers_of_classifiers_and_submissions_are_known_a_range_or_a_prior():
    ranged = board(n_classifiers=(10, 1000))
    assert ranged.n_classifiers == UniformTries(10, 1000)
    assert ranged.typical_tries == pytest.approx(100)
    assert board().with_tries(7116) == board(n_classifiers=7116)
    for partial in (full(n_classifiers=10), full(n_classifiers=(4, 40)), full().with_tries(8)):
        assert partial.is_partial
    refused("1 <= A < B, got 9:2", full, submissions=(9, 2))
    ranged = full(submissions=(1, 100)).submissions
    np.testing.assert_array_equal(ranged, [UniformTries(1, 100).nodes()[0]] * 4)
    assert full(submissions=[1, 2, 3, 4]).submissions.tolist() == [[1], [2], [3], [4]]


SIZES = [1000, 400, 40, 300]


def test_numbers_of_items_are_kept():
    scores = [f"{round(0.9 * n) / n:.3f}" for n in SIZES]
    board = Leaderboard(scores, n_test=SIZES)
    np.testing.assert_allclose(board.sizes, SIZES)
    assert board.has_own_errors
    assert board.n_test == 350  # typical of the best
    for n, (low, high), score in zip(SIZES, board.count_bounds, scores, strict=True):
        assert [k for k in range(n + 1) if f"{k / n:.3f}" == score] == [*range(low, high + 1)]
    refused("errors of hidden entries", board.maximum_only)
    refused("hidden entries, .* leave out the numbers", board.with_tries, 9)


def test_standard_errors_of_accuracies_say_the_number_of_items():
    """The usual estimate, from answers one by one."""
    answers = [np.arange(n) < round(0.9 * n) for n in SIZES]
    scores = [float(x.mean()) for x in answers]
    errors = [float(x.std(ddof=1) / np.sqrt(x.size)) for x in answers]
    board = Leaderboard(scores, standard_error=errors)
    np.testing.assert_allclose(board.sizes, SIZES)
    assert board.metric == "accuracy"
    perfect = Leaderboard([1.0, 0.9, 0.0], standard_error=[0, 0.03, 0], n_test=60)
    np.testing.assert_allclose(perfect.sizes, [60, 101, 60])
