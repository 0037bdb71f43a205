"""A printed score is an interval of success counts; brute force over all counts says which."""

from decimal import ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import ListedTries, LogNormalTries, UniformTries
from bayes_sota.data.leaderboard import BestScore, Leaderboard


def board(maximum="0.91", n_test=100, n_classifiers=10, **options):
    return BestScore(maximum, n_test=n_test, n_classifiers=n_classifiers, **options)


def counts_that_print_as(score, n_test, decimals, modes):
    unit = Decimal(1).scaleb(-decimals)
    return [
        count
        for count in range(n_test + 1)
        if any((Decimal(count) / n_test).quantize(unit, mode) == Decimal(score) for mode in modes)
    ]


def test_trailing_zeros_are_digits():
    assert board("0.9110", 13_840).counts == (12608, 12608)
    low, high = board("0.911", 13_840).counts
    assert low < 12608 < high
    assert board("0.9110", 13_840).counts == (12608, 12608)
    assert board(12616 / 13_840, 13_840).counts == (12616, 12616)
    assert board("0.5", 100, rounding="exact").counts == (50, 50)


@pytest.mark.parametrize(
    ("maximum", "options", "message"),
    [
        (191.16, {}, r"in \[0, 1\], got 191\.16; scores that are not accuracies need"),
        ("191.16%", {}, r"in \[0, 1\], got 191\.16"),
        ("0.915", {"n_test": 100}, "nearest attainable scores are 0.91 and 0.92"),
        ("0.91", {"n_test": None}, "n_test is missing"),
        ("0.91", {"n_classifiers": (5, 2)}, "1 <= low < high, got 5:2"),
    ],
)
def test_bad_input_is_named(maximum, options, message):
    with pytest.raises(InputError, match=message):
        board(maximum, **options)


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


SCORES = ["0.91", "0.94", "0.90", "0.94"]
NAMES = ["a", "b", "c", "d"]


def full(scores=SCORES, n_test=100, **options):
    return Leaderboard(scores, n_test=n_test, **options)


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


def test_full_board_has_the_attributes_that_others_rely_on():
    b = full(names=NAMES, submissions=[3, 1, 2, 5], name="x", notes=["read so"])
    assert b.scores.tolist() == [0.91, 0.94, 0.90, 0.94]
    assert not b.scores.flags.writeable
    assert b.names == ("a", "b", "c", "d")
    assert b.count_bounds.tolist() == [[91, 91], [94, 94], [90, 90], [94, 94]]
    assert (b.maximum, b.counts, b.n_test, b.n_test_source) == (0.94, (94, 94), 100, "given")
    assert (b.tries, b.n_classifiers, b.n_entries, b.is_partial) == (4, 4, 4, False)
    assert b.submissions.tolist() == [3, 1, 2, 5]
    assert (b.metric, b.standard_error, b.rounding, b.decimals) == ("accuracy", None, "nearest", 2)
    assert (b.name, b.notes) == ("x", ("read so",))
    assert b.order.tolist() == [1, 3, 0, 2]
    assert "n_entries=4" in repr(b)
    assert full().names == ("entry 1", "entry 2", "entry 3", "entry 4")


def test_maximum_of_a_full_board_reads_as_a_best_score():
    b = full(["0.9116", "0.9032", "0.88"], 13_840, rounding="floor", name="x")
    only = board("0.9116", 13_840, 3, rounding="floor", name="x")
    assert b.counts == only.counts
    assert b.maximum_only() == only
    assert only.submissions is only.n_entries is None
    assert not only.is_partial
    assert not hasattr(only, "scores")
    assert only.maximum_only() is only


def series_of(library, values):
    return pytest.importorskip(library).Series("score", values) if library == "polars" else (
        pytest.importorskip(library).Series(values)
    )  # fmt: skip


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("values", [SCORES, [0.91, 0.94, 0.9, 0.94]])
def test_a_series_is_a_sequence(library, values):
    assert full(series_of(library, values)) == full(SCORES)


def test_kinds_of_numbers_agree():
    assert full([Decimal(s) for s in SCORES]) == full(np.array(SCORES, float)) == full()
    assert full(np.array(SCORES, np.float32)).count_bounds.tolist() == full().count_bounds.tolist()
    assert full([1, 0, 1], 7).count_bounds.tolist() == [[7, 7], [0, 0], [7, 7]]


def test_decimals_of_a_board_are_the_most_that_any_score_has():
    b = full([0.91, 0.9114, 0.5], 13_840)
    assert b.decimals == 4
    assert b.count_bounds[0].tolist() == [12594, 12595]  # 0.9100, not any 0.91
    assert full([0.91, 0.92], 13_840).count_bounds[0, 0] < 12594
    exact = full([1 / 3, 0.5], 6)
    assert exact.count_bounds.tolist() == [[2, 2], [3, 3]]


def test_percent_is_recognised_and_noted():
    b = full([91.16, 90.2, 88.0], 13_840)
    same = full(["0.9116", "0.902", "0.88"], 13_840)
    assert np.array_equal(b.count_bounds, same.count_bounds)
    assert b.scores.tolist() == same.scores.tolist()
    assert (b.decimals, b.notes) == (4, ("scores in percent were divided by 100",))
    assert full([0.5, 1.0], 1000, percent=True).scores.tolist() == [0.005, 0.01]


def test_scores_that_are_no_accuracies():
    b = Leaderboard([0.31, -0.2, 12.5], metric="score", standard_error=0.01)
    assert (b.maximum, b.n_test, b.count_bounds, b.decimals) == (12.5, None, None, None)
    assert (b.metric, b.standard_error, b.order.tolist()) == ("score", 0.01, [2, 0, 1])
    assert b.scores.tolist() == [0.31, -0.2, 12.5]
    with pytest.raises(InputError, match="no number of right answers"):
        _ = b.counts
    assert b.data_hash() != Leaderboard([0.31, -0.2, 12.5], metric="score").data_hash()


def test_more_classifiers_than_entries_make_a_partial_board():
    assert full(n_classifiers=10).is_partial
    assert full(n_classifiers=10).tries == 10
    assert full(n_classifiers=(4, 40)).is_partial
    assert full(["0.9"], n_classifiers=5).n_entries == 1
    assert full().with_tries(8).is_partial
    assert full().with_tries(8).count_bounds is not None


def test_without_entries():
    b = full(names=NAMES, submissions=[3, 1, 2, 5], n_classifiers=10)
    assert b.without("b").names == ("a", "c", "d")
    rest = b.without(["b", 3])
    assert (rest.names, rest.tries, rest.maximum, rest.counts) == (("a", "c"), 8, 0.91, (91, 91))
    assert rest.count_bounds.tolist() == [[91, 91], [90, 90]]
    assert rest.submissions.tolist() == [3, 2]
    assert full(n_classifiers=UniformTries(5, 9)).without(0).tries == UniformTries(5, 9)
    assert full(names=NAMES).without(1) == full(
        ["0.91", "0.90", "0.94"], names=["a", "c", "d"]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("e", "no entry named 'e'"),
        (4, "from 0 to 3, got 4"),
        (-1, "from 0 to 3, got -1"),
        ([0, 1, 2, 3], "no entry would be left"),
        ([0, 1, 2], "at least two classifiers"),
    ],
)
def test_without_what_is_not_there(entries, message):
    with pytest.raises(InputError, match=message):
        full(names=NAMES).without(entries)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([], {}, "there are no scores"),
        (["0.9", "n/a"], {}, "the score of entry 2 must be a number, got 'n/a'"),
        (["0.9", "90 %"], {}, "entry 1 .*is '0.9', without the percent sign that others have"),
        (["0.9", True], {}, "entry 2 must be a number, got True"),
        (["0.9", "0.8", "87"], {"names": list("abc")}, r"entry 3 \('c'\) is 87"),
        (np.ones((2, 2)), {}, r"one-dimensional, got the shape \(2, 2\)"),
        (SCORES, {"names": ["a", "b", "a", "c"]}, "entries 1 and 3 are both 'a'"),
        (SCORES, {"names": ["a", None, "b", "c"]}, "entry 2 has no name"),
        (SCORES, {"submissions": [1, 2, 3]}, "3 submissions for 4 scores"),
        (SCORES, {"n_test": None}, "n_test is missing"),
        (SCORES, {"n_test": "infer"}, "cannot be inferred: sizes that give .* any from 100 on"),
        (SCORES, {"metric": "f1"}, 'metric must be "accuracy", "auc" or "score"'),
        (SCORES, {"metric": "auc", "n_positive": 1}, "at least 2 items of each class.* got 1"),
        ([0.2, 0.5], {"metric": "auc", "n_positive": 20}, "no better than chance"),
        (SCORES, {"lower_is_better": True}, "lower_is_better is for metric"),
        (SCORES, {"metric": "score", "standard_error": 0}, "must be a positive number, got 0"),
        (["0.9", "1e999"], {"metric": "score"}, "the score of entry 2 is too large"),
    ],
)
def test_what_is_wrong_with_a_full_board_is_named(scores, options, message):
    with pytest.raises(InputError, match=message) as caught:
        Leaderboard(scores, **{"n_test": 100, **options})
    assert "\n" not in str(caught.value)


def test_unattainable_scores_are_counted_and_the_first_is_named():
    with pytest.raises(
        InputError, match=r"gives 2 of 3 scores \(nearest to 3 decimals\)"
    ) as caught:
        full(["0.5", "0.123", "0.456"], 10)
    assert "the score of entry 2 is 0.123" in str(caught.value)
    assert "nearest attainable scores are 0.1 and 0.2" in str(caught.value)


@pytest.mark.parametrize(
    ("rounding", "chosen", "notes"),
    [
        ("auto", "floor", ("cut to 2 decimals: rounded, not all could come from 3 items",)),
        (("floor", "nearest"), "floor", ()),
        ("floor", "floor", ()),
    ],
)
def test_a_board_says_how_its_scores_were_cut(rounding, chosen, notes):
    """0.66 of 3 items is cut; 0.25 and 0.50 of 4 may be either, and are taken as preferred."""
    board = full(["0.66", "0.33"], 3, rounding=rounding)
    assert (board.rounding, board.count_bounds.tolist()) == (chosen, [[2, 2], [1, 1]])
    assert board.notes == tuple(f"scores are {note}" for note in notes)
    either = full(["0.25", "0.50"], 4, rounding=rounding)
    assert (either.rounding, either.notes) == ("nearest" if rounding == "auto" else "floor", ())


def test_hash_of_a_full_board_depends_on_everything_observed():
    boards = [
        full(), full(names=NAMES), full(submissions=[1, 1, 1, 2]), full(n_classifiers=9),
        full(["0.90", "0.94", "0.91", "0.94"]), full(name="other"), full().maximum_only(),
        full(n_test=200), board(n_classifiers=(10, 11)), board(), board("0.92"),
    ]  # fmt: skip
    assert len({b.data_hash() for b in boards}) == len(boards)
    assert len(set(boards)) == len(boards)
    assert full() == full()
    assert hash(full()) == hash(full())
    assert full() != "board"


def test_a_hundred_thousand_entries_take_well_below_a_second():
    import time

    counts = np.random.default_rng(1).integers(5_000, 11_072, 100_000)
    scores = np.round(counts / 11_072, 5)
    start = time.process_time()
    b = full(scores, 11_072)
    assert time.process_time() - start < 2  # measured 0.2 s; machines are busy
    assert np.all((b.count_bounds[:, 0] <= counts) & (counts <= b.count_bounds[:, 1]))


def test_a_float_has_no_trailing_zeros() -> None:
    """1.0 as a number is exact; as text it has one digit, and stands for .95 and more."""
    typed = BestScore("1.0", n_test=200, n_classifiers=30)
    number = BestScore(1.0, n_test=200, n_classifiers=30)
    assert typed.counts == (190, 200)
    assert number.counts == (200, 200)


def test_submissions_are_a_number_a_range_a_prior_or_one_for_each():
    assert full(submissions=7).submissions.tolist() == [7] * 4
    assert not full(submissions=1).has_submissions
    assert not full().has_submissions
    ranged = full(submissions=(1, 100))
    assert ranged.submissions.tolist() == [0] * 4
    assert ranged.submissions_prior == UniformTries(1, 100)
    assert full(submissions=(5, 5)) == full(submissions=5)
    assert full(submissions=UniformTries(2, 9)).submission_numbers.shape == (4, 8)
    assert full(submissions=[1, 2, 3, 4]).submissions.tolist() == [1, 2, 3, 4]


def test_missing_numbers_of_submissions_are_taken_as_those_of_the_others():
    b = full(submissions=[3, None, "", 9])
    assert b.submissions.tolist() == [3, 0, 0, 9]
    assert b.submissions_prior == ListedTries((3, 9))
    assert "missing for 2 of 4 entries" in b.notes[-1]
    assert b.submission_numbers[1].tolist() == [3] * 4 + [9] * 4
    assert b.submission_numbers[3].tolist() == [9] * 8
    assert b.without(0).submissions.tolist() == [0, 0, 9]
    assert b.data_hash() != full(submissions=[3, None, None, 8]).data_hash()


@pytest.mark.parametrize(
    ("submissions", "message"),
    [
        (0, "whole numbers of at least 1, got 0"),
        (2.5, "whole numbers of at least 1, got 2.5"),
        ((9, 2), "a range of submissions rises, got 9:2"),
        ((0, 2), "whole numbers of at least 1, got 0"),
        ([1, 2, 3, 1.5], "at least 1, got 1.5 beside the score of entry 4"),
        (["2021-05-04"] * 4, "got '2021-05-04' beside the score of entry 1"),
        ([None] * 4, "missing for every entry"),
    ],
)
def test_what_is_no_number_of_submissions_is_refused(submissions, message):
    with pytest.raises(InputError, match=message):
        full(submissions=submissions)


def test_percent_of_all_is_taken_at_its_word() -> None:
    scores = [90.1, 91.2, 0.985]
    board = Leaderboard(scores, n_test=100_000, percent=True, rounding="exact")
    assert board.scores is not None
    assert board.scores.tolist() == pytest.approx([0.901, 0.912, 0.00985])
    assert Leaderboard([90.0, 91.0, 0.0], n_test=100).scores is not None  # nothing right at all
