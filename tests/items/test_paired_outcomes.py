"""The paired comparison against sums of whole numbers and against simulation."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from bayes_sota.data.answers import read_outcomes
from bayes_sota.items.comparison import compare_methods, probability_not_better


def mid_p(only_first: int, only_second: int) -> float:
    """P(X > x10) + P(X = x10) / 2 for X ~ Bin(x10 + x01, 1/2), in fractions."""
    n = only_first + only_second
    above = sum(comb(n, k) for k in range(only_first + 1, n + 1))
    return float((Fraction(above) + Fraction(comb(n, only_first), 2)) / 2**n)


def test_it_is_the_mid_p_value_of_mcnemar() -> None:
    first, second = [0, 1, 2, 7, 40, 300], [0, 1, 3, 10, 55, 280]
    found = probability_not_better(np.array(first)[:, None], second)
    for (i, one), (j, other) in itertools.product(enumerate(first), enumerate(second)):
        assert found[i, j] == pytest.approx(mid_p(one, other), rel=1e-12, abs=1e-15)


def test_simulated_posterior_of_the_four_cells() -> None:
    rng = np.random.default_rng(1)
    cells = rng.dirichlet(np.array([70, 12, 6, 12]) + 1, size=200_000)
    assert np.mean(cells[:, 1] <= cells[:, 2]) == pytest.approx(
        float(probability_not_better(12, 6)), abs=0.002
    )


def test_real_answers(data_directory) -> None:
    answers = read_outcomes(data_directory / "cifar10" / "correct_cifar10_test.csv")
    tied = compare_methods(answers, random_seed=0).tied_with_best()
    names = [answers.names[j] for j in np.flatnonzero(tied)]
    assert len(names) == 5
    assert "shake_drop" in names
    assert "darc" not in names
