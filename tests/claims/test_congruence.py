"""Congruence of two methods: its bounds, odds ratios, and priors on a relative scale."""

import numpy as np
import pytest

from bayes_sota.claims.accuracies import false_claim_probability, false_claim_rope
from bayes_sota.claims.congruence import (
    OddsRatioCongruence,
    RelativeCongruence,
    congruence_bounds,
    congruence_of_odds_ratio,
)


def test_an_odds_ratio_is_feasible_for_every_pair_of_margins() -> None:
    for a, b in ((0.9, 0.88), (0.5, 0.1), (0.99, 0.98)):
        low, high = congruence_bounds(a, b)
        assert congruence_of_odds_ratio(a, b, 1.0) == pytest.approx(a * b)
        assert congruence_of_odds_ratio(a, b, 0.0) == pytest.approx(low, abs=1e-12)
        assert congruence_of_odds_ratio(a, b, 1e12) == pytest.approx(high, abs=1e-6)
        for psi in (0.2, 3.0, 40.0):
            p = float(congruence_of_odds_ratio(a, b, psi))
            table = np.array([p, a - p, b - p, 1 - a - b + p])
            assert np.all(table >= 0)
            assert table[0] * table[3] / (table[1] * table[2]) == pytest.approx(psi, rel=1e-9)


def test_a_prior_of_the_odds_ratio_averages_over_its_draws() -> None:
    rng = np.random.default_rng(3)
    for a, b, n, median, spread in ((0.9, 0.88, 500, 20.0, 1.0), (0.6, 0.55, 60, 2.0, 0.5)):
        psi = median * np.exp(spread * rng.standard_normal(100_000))
        each = false_claim_probability(a, b, n, congruence_of_odds_ratio(a, b, psi))
        found = false_claim_probability(a, b, n, OddsRatioCongruence(median, spread))
        assert found == pytest.approx(each.mean(), abs=5 * each.std() / 100_000**0.5)
    sure = false_claim_probability(0.9, 0.88, 500, OddsRatioCongruence(1.0, 0.0))
    assert sure == pytest.approx(false_claim_probability(0.9, 0.88, 500, "independent"))


def test_a_prior_within_the_bounds_averages_over_its_draws() -> None:
    rng = np.random.default_rng(4)
    low, high = congruence_bounds(0.9, 0.88)
    for a, b in ((1.0, 1.0), (5.0, 2.0), (0.5, 0.5)):
        shares = low + (high - low) * rng.beta(a, b, 100_000)
        each = false_claim_probability(0.9, 0.88, 500, shares)
        found = false_claim_probability(0.9, 0.88, 500, RelativeCongruence(a, b))
        assert found == pytest.approx(each.mean(), abs=5 * each.std() / 100_000**0.5)


def test_priors_take_many_claims_and_regions_of_equivalence() -> None:
    prior = OddsRatioCongruence(10.0, 1.0)
    a, b = np.array([0.9, 0.8]), np.array([0.88, 0.7])
    together = false_claim_probability(a, b, 500, prior)
    alone = [false_claim_probability(x, y, 500, prior) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(together, alone, rtol=1e-12)
    rope = false_claim_rope(0.9, 0.88, 500, 0.0, prior)
    assert rope.b_better == pytest.approx(alone[0], abs=1e-9)
