"""The paired comparison against sums of whole numbers and against simulation."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.readers.outcomes import read_responses
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import compare_with_leader, probability_not_better


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


@pytest.fixture
def answers() -> Responses:
    rng = np.random.default_rng(2)
    correct = (rng.random((300, 9)) < np.linspace(0.6, 0.9, 9)).astype(np.int8)
    return Responses(correct)


def test_counts_agree_with_the_joint_counts(answers: Responses) -> None:
    comparison = compare_with_leader(answers)
    right_right, both = answers.joint_counts()
    leader = comparison.leader
    assert answers.counts[leader] == answers.counts.max()
    assert np.array_equal(comparison.only_leader, answers.counts[leader] - right_right[leader])
    assert np.array_equal(comparison.only_other, answers.counts - right_right[leader])
    assert np.array_equal(comparison.n_compared, both[leader])
    assert comparison.p_not_below[leader] == 0.5
    tied = comparison.tied_with_leader()
    assert tied[leader]
    assert not tied.all()
    assert comparison.tied_with_leader(0.9999).sum() > tied.sum()


def test_missing_answers_leave_their_pairs_out(answers: Responses) -> None:
    correct = answers.correct.copy()
    rng = np.random.default_rng(4)
    correct[rng.random(correct.shape) < 0.2] = -1
    comparison = compare_with_leader(Responses(correct), leader=8)
    for j in range(9):
        both = (correct[:, 8] >= 0) & (correct[:, j] >= 0)
        a, b = correct[both, 8], correct[both, j]
        assert comparison.n_compared[j] == both.sum()
        assert comparison.only_leader[j] == np.sum((a == 1) & (b == 0))
        assert comparison.only_other[j] == np.sum((a == 0) & (b == 1))


def test_wrong_numbers_are_refused(answers: Responses) -> None:
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="at least 0"):
            probability_not_better([1, wrong], 2)
    with pytest.raises(InputError, match="numbered from 0 to 8, got 9"):
        compare_with_leader(answers, leader=9)


def test_real_answers(data_directory) -> None:
    answers = read_responses(data_directory / "cifar10" / "correct_cifar10_test.csv")
    comparison = compare_with_leader(answers)
    names = [answers.names[j] for j in np.flatnonzero(comparison.tied_with_leader())]
    assert len(names) == 5
    assert "shake_drop" in names
    assert "darc" not in names
