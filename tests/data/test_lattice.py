"""The size of a test set from the lattice of its scores, against brute force and real boards."""

import csv
from decimal import ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import numpy as np
import pytest

from bayes_sota.data.lattice import infer_n_test
from bayes_sota.errors import InputError

BOARDS = [
    ("playground-series-s4e2", "private", 11_072),
    ("playground-series-s4e2", "public", 2_768),
    ("spaceship-titanic", "private", 4_277),
    ("tabular-playground-series-apr-2021", "private", 75_226),
    ("tabular-playground-series-apr-2021", "public", 24_774),
    ("cassava-leaf-disease-classification", "private", 6_618),
    ("cassava-leaf-disease-classification", "public", 4_423),
]
MODES = {"floor": (ROUND_FLOOR,), "nearest": (ROUND_HALF_UP, ROUND_HALF_DOWN)}


def printed(n_test, count, decimals, rounding, seed=0, lowest=0.0):
    rng = np.random.default_rng(seed)
    counts = rng.integers(int(lowest * n_test), n_test + 1, count)
    unit = Decimal(1).scaleb(-decimals)
    mode = MODES[rounding][0]
    return [str((Decimal(int(k)) / n_test).quantize(unit, mode)) for k in counts]


def brute_force(scores, decimals, rounding, sizes):
    """Sizes of which every score is a printed fraction, by printing every fraction."""
    unit = Decimal(1).scaleb(-decimals)
    wanted = {Decimal(score) for score in scores}

    def all_printed(n):
        fractions = [Decimal(k) / n for k in range(n + 1)]
        return wanted <= {f.quantize(unit, mode) for f in fractions for mode in MODES[rounding]}

    return [n for n in sizes if all_printed(n)]


@pytest.mark.parametrize("rounding", ["floor", "nearest"])
@pytest.mark.parametrize(("n_test", "count"), [(37, 3), (64, 10), (97, 25), (130, 40)])
def test_sizes_are_those_of_brute_force(rounding, n_test, count):
    scores = printed(n_test, count, 3, rounding)
    fit = infer_n_test(scores, rounding)
    found = [fit.n_test, *fit.candidates]
    expected = brute_force(scores, 3, rounding, range(1, 400))
    assert [n for n in found if n < 400] == expected[: len([n for n in found if n < 400])]
    assert found[0] == expected[0]
    assert fit.rounding == rounding
    assert fit.decimals == 3
    assert fit.n_scores == len({Decimal(s) for s in scores} - {0, 1})


@pytest.mark.parametrize("rounding", ["floor", "nearest"])
@pytest.mark.parametrize(("n_test", "decimals"), [(271, 4), (5_003, 5), (123_457, 6)])
def test_the_size_is_found_again(rounding, n_test, decimals):
    scores = printed(n_test, 300, decimals, rounding, lowest=0.5)
    fit = infer_n_test(scores, rounding)
    assert fit.n_test == n_test
    assert 2 * n_test in fit.candidates
    assert fit.is_identified
    auto = infer_n_test(scores, "auto")
    assert (auto.n_test, auto.rounding) == (n_test, rounding)
    assert auto.other is not None
    assert auto.other[0] != rounding


def test_full_precision_scores_have_a_lattice_too():
    scores = np.random.default_rng(2).integers(500, 997, 60) / 997
    fit = infer_n_test(scores)
    assert (fit.n_test, fit.rounding, fit.is_identified) == (997, "exact", True)
    assert fit.candidates[:2] == (1994, 2991)


def test_percent_and_fractions_agree():
    scores = printed(271, 60, 4, "floor", lowest=0.3)
    percent = [str(Decimal(score).scaleb(2)) for score in scores]
    assert infer_n_test(percent).n_test == infer_n_test(scores).n_test == 271


def test_zero_and_one_say_nothing():
    scores = printed(271, 60, 4, "floor")
    assert infer_n_test([*scores, "0.0000", "1.0000"]) == infer_n_test(
        sorted({s for s in scores if Decimal(s) not in (0, 1)})
    )


@pytest.mark.parametrize("scores", [["0.5"], ["0.5", "0.75"], ["0.0", "1.0"], ["0.9116", "0.9"]])
def test_few_scores_identify_nothing(scores):
    fit = infer_n_test(scores)
    assert not fit.is_identified
    assert "too few scores to identify" in fit.statement


def test_luck_of_one_score_by_hand():
    """0.5 of one decimal: one item of ten printed numbers, two items give 0.5 alone of nine."""
    fit = infer_n_test(["0.5"])
    assert fit.n_test == 2
    assert fit.p_luck == pytest.approx(1 / 10 + 1 / 9 + (1 / 2 + 1 / 18))


def fits_below(scores, limit):
    try:
        return infer_n_test(scores, max_n=limit).n_test <= limit
    except InputError:
        return False


def test_luck_is_as_frequent_as_stated():
    """Scores from nowhere fit some size up to n at most as often as the sum, and not far below."""
    rng = np.random.default_rng(5)
    limit, count, trials = 60, 2, 4_000
    hits = 0
    for _ in range(trials):
        scores = [f"{k / 1000:.3f}" for k in rng.choice(np.arange(1, 1000), count, replace=False)]
        hits += fits_below(scores, limit)
    stated = sum((n / 1000) ** count for n in range(1, limit + 1))
    error = np.sqrt(stated / trials)
    assert 0.5 * stated - 4 * error < hits / trials < stated + 4 * error


@pytest.mark.parametrize(
    ("n_test", "rounding", "limit"), [(20_000, "floor", "10,000"), (9_999, "nearest", "8,000")]
)
def test_a_size_beyond_the_decimals_is_refused(n_test, rounding, limit):
    """8,000 rounded items give any number of four decimals: every fifth is a tie."""
    scores = printed(n_test, 9_000, 4, rounding)
    with pytest.raises(InputError, match=f"fewer than {limit} items .* cannot be inferred"):
        infer_n_test(scores, rounding)


def test_a_size_close_to_the_limit_is_doubted():
    fit = infer_n_test(printed(9_990, 400, 4, "floor"))
    assert fit.n_test <= 9_990
    assert not fit.is_identified


def test_no_size_at_all_says_why():
    every = [f"{k / 100:.2f}" for k in range(101)]
    with pytest.raises(InputError, match="with 2 decimals its size cannot be inferred"):
        infer_n_test(every)
    with pytest.raises(InputError, match="with 2 decimals its size cannot be inferred"):
        infer_n_test(every, "auto")
    with pytest.raises(InputError, match="no test set of up to 50 items"):
        infer_n_test(printed(271, 60, 4, "floor"), max_n=50)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([], {}, "there are no scores"),
        (["0.5", "x"], {}, "entry 2 must be a number, got 'x'"),
        (["0.5"], {"rounding": "ceil"}, 'must be "auto", "nearest", "floor" or "exact"'),
        (["0.5"], {"max_n": 0}, "max_n is the largest size tried"),
        (["0.5"], {"max_n": 1e6}, "max_n is the largest size tried"),
        (["0.55"], {"decimals": 1}, "a score has 2 decimals"),
    ],
)
def test_bad_input_is_named(scores, options, message):
    with pytest.raises(InputError, match=message):
        infer_n_test(scores, **options)


@pytest.mark.parametrize(("slug", "split", "n_test"), BOARDS)
def test_real_boards(slug, split, n_test, data_directory):
    path = data_directory / "kaggle" / f"{slug}__{split}.csv"
    with path.open(encoding="utf-8") as file:
        scores = [row["score"] for row in csv.DictReader(file)]
    fit = infer_n_test(scores)
    assert (fit.n_test, fit.is_identified) == (n_test, True)
    auto = infer_n_test(scores, "auto")
    assert (auto.n_test, auto.rounding) == (n_test, "floor")
    assert auto.other is not None
    assert auto.other[1] is None or auto.other[1] > n_test  # rounded, only sizes near 10^d fit
