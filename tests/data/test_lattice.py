"""The size of a test set from the lattice of its scores, against brute force and simulation."""

import re
from decimal import ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from data.files import refused

from bayes_sota import Leaderboard, infer_n_test

MODES = {"floor": (ROUND_FLOOR,), "nearest": (ROUND_HALF_UP, ROUND_HALF_DOWN)}


def printed(n_test, count, decimals, rounding, seed=0, low=0.0, high=1.0):
    """Scores of classifiers, of which every number of correct answers is equally probable."""
    ends = int(low * n_test), int(high * n_test) + 1
    counts = np.random.default_rng(seed).integers(*ends, count)
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
@pytest.mark.parametrize(("n_test", "count"), [(37, 3), (130, 40)])
def test_sizes_are_those_of_brute_force(rounding, n_test, count):
    scores = printed(n_test, count, 3, rounding)
    fit = infer_n_test(scores, rounding)
    found = [fit.n_test, *fit.candidates]
    expected = brute_force(scores, 3, rounding, range(1, 400))
    assert [n for n in found if n < 400] == expected[: len([n for n in found if n < 400])]
    assert found[0] == expected[0]
    assert fit.rounding == rounding
    assert f" all {len({*map(Decimal, scores)} - {0, 1})} scores" in fit.statement


@pytest.mark.parametrize("rounding", ["floor", "nearest"])
@pytest.mark.parametrize("score", ["0.5", "0.2", "0.3"])
def test_probability_of_one_score_by_hand(rounding, score):
    """One count of n prints so, and half of one where it is 1/4 or 2/8; the prior is 1 / n."""
    fit = infer_n_test([score], rounding)
    sizes = sorted((fit.n_test, *fit.candidates))
    assert sizes == brute_force([score], 1, rounding, range(1, 10))
    tied = (4, 8) if rounding == "nearest" and score != "0.5" else ()
    weights = {n: (0.5 if n in tied else 1) / n**2 for n in sizes}
    beyond = np.log(1e9 / 10) / 10  # sizes from 10 on
    best = max(weights.values())
    assert weights[fit.n_test] == best
    assert fit.p_other == pytest.approx(1 - best / (sum(weights.values()) + beyond))


@pytest.mark.parametrize(
    ("n_test", "count", "decimals", "rounding", "expected"),
    [
        (868, 200, 4, "nearest", "found"),
        (500, 200, 3, "floor", "listed"),  # 499 rounded gives the same scores above .75
        (40_000, 60, 5, "nearest", "found"),  # every second count is a tie
        (75_226, 300, 5, "floor", "found"),
        (99_990, 300, 5, "nearest", "many"),
        (20_000, 9_000, 3, "floor", "many"),
    ],
)
def test_a_size_is_found_or_its_candidates_are_named(n_test, count, decimals, rounding, expected):
    scores = printed(n_test, count, decimals, rounding, low=0.7, high=0.95)
    fit = infer_n_test(scores)
    assert fit.is_identified == (expected == "found")
    if fit.is_identified:
        board, given = (Leaderboard(scores, n_test=n) for n in ("infer", n_test))
        assert board.n_test == n_test
        assert (board.rounding, board.counts) == (given.rounding, given.counts)
    else:
        refused(re.escape(fit.statement), Leaderboard, scores, n_test="infer")
        named = (fit.n_test, *fit.candidates)
        assert (n_test in named) == (expected == "listed")
        n_fitting = int(fit.statement.split()[0].replace(",", ""))
        assert n_test in named or n_test >= 10**decimals or len(named) < n_fitting


def test_ties_do_not_make_a_size():
    """8,000 rounded items give any number of four decimals: every fifth is a tie."""
    fit = infer_n_test(printed(9_999, 9_000, 4, "nearest"), "nearest")
    assert not fit.is_identified
    assert 8_000 in fit.candidates


def test_full_precision_scores_have_a_lattice_too():
    scores = np.random.default_rng(2).integers(500, 997, 60) / 997
    fit = infer_n_test(scores)
    assert (fit.n_test, fit.rounding, fit.is_identified) == (997, "exact", True)
    assert fit.candidates[:2] == (1994, 2991)


def test_no_size_at_all_says_why():
    every = [f"{k / 100:.2f}" for k in range(101)]
    refused("with 2 decimals .* size cannot be inferred", infer_n_test, every, "floor")
    assert not infer_n_test(every).is_identified
    large = printed(20_000, 9_000, 4, "floor")
    refused("up to 9,999 items .* cannot be inferred", infer_n_test, large, "floor")
