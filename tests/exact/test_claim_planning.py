"""Sizes of test sets: the smallest, and assured by counting claims."""

import numpy as np
import pytest
from scipy.special import betainc

from bayes_sota.errors import InputError
from bayes_sota.exact.claim_planning import assured_test_size, claim_test_size, smallest_size
from bayes_sota.exact.false_claim import false_claim_probability


@pytest.mark.parametrize("congruence", ["independent", 0.85, "min", None])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_one_item_fewer_is_too_few(congruence, level: float) -> None:
    size = claim_test_size(0.90, 0.88, congruence, level=level)
    shared = "independent" if congruence is None else congruence
    assert false_claim_probability(0.90, 0.88, size, shared) <= level
    assert false_claim_probability(0.90, 0.88, size - 1, shared) > level


def test_an_assured_size_makes_the_claim_that_often() -> None:
    size, highest = assured_test_size(0.90, 0.87, 1500, 0.84, assurance=0.8)
    assert size is not None
    assert highest == pytest.approx(1 - false_claim_probability(0.90, 0.87, 1500, 0.84))
    rng = np.random.default_rng(5)
    truth = rng.dirichlet([90 + 1, 45 + 1, 1500 - 135 + 2], 20_000)
    counts = rng.multinomial(size, truth)
    made = np.mean(betainc(counts[:, 0] + 1.0, counts[:, 1] + 1.0, 0.5) <= 0.05)
    assert made == pytest.approx(0.8, abs=0.02)
    assert size > claim_test_size(0.90, 0.87, 0.84)


def test_where_no_size_is_enough_that_is_said() -> None:
    size, highest = assured_test_size(0.80, 0.79, 100, 0.7)
    assert size is None
    assert 0.5 < highest < 0.8


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="equal accuracies"):
        claim_test_size(0.9, 0.9)
    with pytest.raises(InputError, match="level"):
        claim_test_size(0.9, 0.8, level=0.7)
    with pytest.raises(InputError, match="assurance"):
        assured_test_size(0.9, 0.8, 100, 0.75, assurance=1.0)
    with pytest.raises(InputError, match="too close"):
        smallest_size(lambda n: 0.4, 0.05)
