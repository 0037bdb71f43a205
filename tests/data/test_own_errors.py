"""Entries with their own number of items or standard error: what they are worth, refusals."""

import numpy as np
import pandas as pd
import pytest
from data.files import run, written

from bayes_sota.core.errors import InputError
from bayes_sota.data.boards import read_leaderboard
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.own_errors import find_rounding, sizes_of_accuracies
from bayes_sota.data.printed_scores import parse_scores

SUBJECT = "entry {}".format
SIZES = [1000, 400, 40, 300]


def scored(sizes=SIZES, digits=3):
    """Scores of which every number of items can be right."""
    return [f"{round(0.9 * n) / n:.{digits}f}" for n in sizes]


def test_numbers_of_items_are_kept():
    board = Leaderboard(scored(), n_test=SIZES)
    np.testing.assert_allclose(board.sizes, SIZES)
    assert board.has_own_errors
    assert board.n_test == 350  # typical of the best
    for n, (low, high), score in zip(SIZES, board.count_bounds, scored(), strict=True):
        assert [k for k in range(n + 1) if f"{k / n:.3f}" == score] == [*range(low, high + 1)]


def test_standard_errors_of_accuracies_say_the_number_of_items():
    """The usual estimate, from answers one by one."""
    answers = [np.arange(n) < round(0.9 * n) for n in SIZES]
    scores = [float(x.mean()) for x in answers]
    errors = [float(x.std(ddof=1) / np.sqrt(x.size)) for x in answers]
    board = Leaderboard(scores, standard_error=errors)
    np.testing.assert_allclose(board.sizes, SIZES)
    assert board.metric == "accuracy"


def test_standard_errors_in_percent_are_those_of_scores_in_percent():
    plain = Leaderboard([0.9, 0.8, 0.85], standard_error=[0.01, 0.02, 0.015])
    percent = Leaderboard([90.0, 80.0, 85.0], standard_error=[1, 2, 1.5], percent=True)
    np.testing.assert_allclose(percent.sizes, plain.sizes)
    np.testing.assert_allclose(percent.scores, plain.scores)


def test_number_of_items_counts_where_an_error_is_0():
    board = Leaderboard([1.0, 0.9, 0.0], standard_error=[0, 0.03, 0], n_test=60)
    np.testing.assert_allclose(board.sizes, [60, 101, 60])
    rounded = Leaderboard(["1.00", "0.90"], standard_error=[0.004, 0.03], n_test=60)
    np.testing.assert_allclose(rounded.sizes, [60, 101])


def test_errors_of_other_scores_are_kept_in_their_units():
    errors = [0.1, 0.4, 0.2]
    board = Leaderboard(
        [1.2, 1.5, 1.9], metric="score", standard_error=errors, lower_is_better=True
    )
    np.testing.assert_allclose(board.standard_error * board.error_ratios, errors)


def test_one_number_for_all_is_a_plain_board():
    assert not Leaderboard([0.9, 0.8], n_test=100).has_own_errors
    assert not Leaderboard([1.0, 2.0], metric="score", standard_error=0.1).has_own_errors


def test_rounding_is_one_with_which_every_score_can_be():
    """0.6666 is no rounded share of 3 items, but the floor of one."""
    parsed = {how: parse_scores(["0.6666", "0.5000"]) for how in ("nearest", "floor")}
    how, bounds, remarks = find_rounding(parsed, np.array([3, 2]), SUBJECT)
    assert (how, bounds.tolist()) == ("floor", [[2, 2], [1, 1]])
    assert remarks == (
        "scores are cut to 4 decimals: rounded, not all could come from as many items",
    )


def test_entries_that_are_left_out_take_their_errors_along():
    board = Leaderboard(scored(), n_test=SIZES, names=list("abcd")).without("b")
    np.testing.assert_allclose(board.sizes, [1000, 40, 300])


def test_every_error_counts_in_the_hash():
    hashes = {
        Leaderboard([0.9, 0.8, 0.7], n_test=n).data_hash()
        for n in (100, [100, 100, 100], [100, 200, 100], [100, 100, 200])
    }
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("scores", "known", "message"),
    [
        ([0.9, 0.8], {"n_test": [10]}, "there are 1 values of n_test for 2 scores"),
        ([0.9, 0.8], {"n_test": [10, 2.5]}, "whole number of at least 1, got 2.5"),
        ([0.9, 0.8], {"standard_error": [0.1, 0]}, "0.8, has the standard error 0,.* n_test"),
        ([0.9, 1.0], {"standard_error": [0.1, 0]}, "1, has the standard error 0,.* n_test"),
        ([0.9, 0.8], {"standard_error": [0.1, 1.2]}, "0.8, has the standard error 1.2.*same units"),
        ([0.9, 0.8], {"standard_error": [0.1, "x"]}, "at least 0.*'x'"),
        ([2.0, 1.0], {"metric": "score", "standard_error": [None, 0.1]}, "is missing"),
        ([0.9, 0.8], {"metric": "auc", "n_test": [9, 9], "n_positive": 4}, "give one for all"),
        ([0.9, 0.8], {"n_test": [10, 20], "n_classifiers": 5}, "leave n_classifiers out"),
    ],
)
def test_what_cannot_be_is_refused(scores, known, message):
    with pytest.raises(InputError, match=message):
        Leaderboard(scores, **known)


def test_best_score_alone_of_own_errors_is_refused():
    board = Leaderboard([0.9, 0.8], n_test=[10, 20])
    with pytest.raises(InputError, match="give the whole board"):
        board.maximum_only()
    with pytest.raises(InputError, match="leave n_classifiers out"):
        board.with_tries(9)


def test_size_of_an_error_is_the_closed_form():
    scores, errors = np.array([0.3, 0.99]), [0.02, 0.001]
    found = sizes_of_accuracies(scores, errors, None, SUBJECT)
    np.testing.assert_allclose(scores * (1 - scores) / (found - 1), np.square(errors))


FRAME = pd.DataFrame({
    "team": list("xyz"), "score": ["0.90", "0.88", "0.86"], "size": [500, 50, 50],
    "error": [0.0134, 0.0464, 0.0496],
})  # fmt: skip


def test_columns_are_asked_for_by_their_roles():
    by_size = read_leaderboard(FRAME, n="size", score="score", leave_out=["error"])
    np.testing.assert_allclose(by_size.sizes, [500, 50, 50])
    by_error = read_leaderboard(FRAME, se="error")
    np.testing.assert_allclose(by_error.sizes, [500, 50, 50], rtol=0.02)
    beside = FRAME.rename(columns={"error": "score_stderr"})
    np.testing.assert_allclose(read_leaderboard(beside).sizes, [500, 50, 50], rtol=0.02)
    assert not read_leaderboard(beside, n_test=1000).has_own_errors


def test_percent_signs_of_scores_and_errors():
    frame = pd.DataFrame({"team": ["a", "b"], "score": ["90%", "80%"], "se": ["1%", "2%"]})
    np.testing.assert_allclose(read_leaderboard(frame).sizes, [901, 401])


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("team,score,se\na,0.9,0.1\nb,0.8,0\n", [], "error 0, which"),
        ("team,score,se\na,0.9,0.1\nb,0.8,\n", [], "no standard error"),
        ("team,score,se\na,0.9,0.1\nb,0.8,-1\n", [], "'b'"),
        ("team,score,n\na,0.9,10\nb,0.8,\n", [], "'b'"),
        ("team,score,n\na,0.9,10\nb,0.8,10\n", ["--column", "n=m"], 'no column "m"'),
        ("team,score,n\na,0.9,10\nb,0.8,10\n", ["--classifiers", "9"], "classifiers"),
    ],
)  # fmt: skip
def test_refusals_are_one_line(capsys, tmp_path, content, options, message):
    code, out, error = run(capsys, "board", str(written(tmp_path, content)), *options)
    assert (code, out) == (2, "")
    assert error.count("\n") == 1
    assert message in error
