"""Sizes of test sets: the smallest, and assured by counting claims."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc

from bayes_sota.claims.accuracies import ReportedAccuracies, false_claim_probability
from bayes_sota.claims.congruence import congruence_of_odds_ratio
from bayes_sota.claims.planning import (
    GapOfAccuracies,
    GapOfMeans,
    assured_size,
    claim_test_size,
    plan_claim,
    powered_size,
)


@pytest.mark.parametrize(
    ("congruence", "level"), [("independent", 0.05), (0.85, 0.01), ("min", 0.01), (None, 0.05)]
)
def test_one_item_fewer_is_too_few(congruence, level: float) -> None:
    size = claim_test_size(0.90, 0.88, congruence, level=level)
    shared = "independent" if congruence is None else congruence
    assert false_claim_probability(0.90, 0.88, size, shared) <= level
    assert false_claim_probability(0.90, 0.88, size - 1, shared) > level


def test_an_assured_size_makes_the_claim_that_often() -> None:
    size, highest = assured_size(GapOfAccuracies(0.90, 0.87, 0.84), 1500)
    assert highest == pytest.approx(1 - false_claim_probability(0.90, 0.87, 1500, 0.84))
    rng = np.random.default_rng(5)
    truth = rng.dirichlet([90 + 1, 45 + 1, 1500 - 135 + 2], 20_000)
    counts = rng.multinomial(size, truth)
    made = np.mean(betainc(counts[:, 0] + 1.0, counts[:, 1] + 1.0, 0.5) <= 0.05)
    assert made == pytest.approx(0.8, abs=0.02)
    assert size > claim_test_size(0.90, 0.87, 0.84)


def test_assurance_has_no_noise_and_a_limit() -> None:
    gap = GapOfAccuracies(0.90, 0.88, 0.792)
    sizes = [assured_size(gap, 500, assurance=a)[0] for a in (0.7, 0.8, 0.83)]
    assert sizes == sorted(sizes)
    size, highest = assured_size(gap, 500, assurance=0.845)
    assert (size, highest) == (None, pytest.approx(0.84256, abs=1e-5))
    plan = plan_claim(GapOfAccuracies(0.80, 0.79), n_test=100)
    assert plan.n_assured is None
    assert "no size makes the claim with probability 0.8" in list(plan.notes())[-1]


def test_an_assured_number_of_cases_makes_the_claim_that_often() -> None:
    """Data of a first study drawn, truth drawn from what it leaves open, and paired t tests."""
    rng = np.random.default_rng(6)
    size, highest = assured_size(GapOfMeans(0.82, 0.80, (0.1, 0.1), 0.7), 60)
    spread = (2 * 0.01 * 0.3) ** 0.5
    assert highest == pytest.approx(stats.t(59).cdf(60**0.5 * 0.02 / spread))
    sigma = spread * np.sqrt(59 / rng.chisquare(59, 3000))
    gap = rng.normal(0.02, sigma / 60**0.5)
    cases = rng.normal(gap, sigma, (size, 3000))
    p = stats.ttest_1samp(cases, 0, alternative="greater").pvalue
    assert np.mean(p <= 0.05) == pytest.approx(0.8, abs=0.03)
    assert assured_size(GapOfMeans(0.81, 0.80, (0.1, 0.1), 0.5), 20)[0] is None


def test_the_power_at_a_true_gap() -> None:
    """Fresh items drawn with these skills, and cases with these means: claims are counted."""
    rng = np.random.default_rng(12)
    gap = GapOfAccuracies(0.90, 0.87, 0.84)
    sizes = powered_size(gap), claim_test_size(0.90, 0.87, 0.84)
    for n, expected in zip(sizes, (0.8, 0.5), strict=True):
        counts = rng.multinomial(n, [0.06, 0.03, 0.91], 20_000)
        made = np.mean(betainc(counts[:, 0] + 1.0, counts[:, 1] + 1.0, 0.5) <= 0.05)
        assert made == pytest.approx(expected, abs=0.025)
    spread = (0.1**2 + 0.12**2 - 2 * 0.6 * 0.1 * 0.12) ** 0.5
    size = powered_size(GapOfMeans(0.02, 0.0, (0.1, 0.12), 0.6))
    power = stats.nct(size - 1, size**0.5 * 0.02 / spread).sf(stats.t(size - 1).ppf(0.95))
    assert power == pytest.approx(0.8, abs=0.005)
    size = plan_claim(GapOfMeans(0.81, 0.80, (0.1, 0.12), 0.6)).n_needed
    p = [stats.t(n - 1).cdf(-(n**0.5) * 0.01 / spread) <= 0.05 for n in (size - 1, size)]
    assert p == [False, True]
    typical = GapOfAccuracies(0.90, 0.87, float(congruence_of_odds_ratio(0.90, 0.87, 60)))
    assert powered_size(typical) < powered_size(GapOfAccuracies(0.90, 0.87))


def test_the_congruence_that_a_claim_needs() -> None:
    needed = ReportedAccuracies(0.90, 0.88, 500).needed(0.05)
    assert false_claim_probability(0.90, 0.88, 500, needed) == pytest.approx(0.05, abs=1e-6)
    assert ReportedAccuracies(0.90, 0.80, 500).needed(0.05) == pytest.approx(0.7)
    assert ReportedAccuracies(0.51, 0.50, 10).needed(0.05) is None
