"""The paired comparison against sums of whole numbers and against simulation."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from bayes_sota.data.answers import read_outcomes
from bayes_sota.items.comparison import compare_methods, probability_not_better


@pytest.mark.parametrize("one", [0, 1, 2, 7, 40, 300])
@pytest.mark.parametrize("other", [0, 1, 3, 10, 55, 280])
def test_it_is_the_mid_p_value_of_mcnemar(one, other):
    """P(X > x10) + P(X = x10) / 2 for X ~ Bin(x10 + x01, 1/2), in fractions."""
    n = one + other
    above = sum(comb(n, k) for k in range(one + 1, n + 1))
    expected = float((Fraction(above) + Fraction(comb(n, one), 2)) / 2**n)
    assert probability_not_better(one, other) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_real_answers(data_directory):
    answers = read_outcomes(data_directory / "cifar10" / "correct_cifar10_test.csv")
    tied = compare_methods(answers, random_seed=0).tied_with_best()
    names = [answers.names[j] for j in np.flatnonzero(tied)]
    assert (len(names), "shake_drop" in names, "darc" in names) == (5, True, False)
