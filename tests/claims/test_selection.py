"""Claims about the best of several tries, against simulated pickings."""

from itertools import pairwise

import numpy as np
import pytest
from boards import evidence_of
from scipy import stats

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.means import ReportedMeans
from bayes_sota.claims.selection import (
    best_try_probability,
    best_try_probability_of_means,
    not_below,
)
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.dependence import conditional_probabilities

CLAIMS = ((0.9, 0.88, 500), (1.0, 0.98, 200), (0.95, 0.85, 60), (0.5, 0.5, 40), (0.9137, 0.88, 77))


@pytest.mark.parametrize("congruence", [None, "independent", "min"])
def test_one_try_is_the_claim_and_more_say_less(congruence) -> None:
    for claim in CLAIMS:
        found = [best_try_probability(*claim, k, congruence) for k in (1, 3, 30)]
        assert found[0] == pytest.approx(false_claim_probability(*claim, congruence), rel=1e-9)
        assert all(a <= b < 1 for a, b in pairwise(found))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_the_law_behind_follows_the_closed_form(rho: float) -> None:
    """The flat prior of two skills and the Dirichlet posterior, two models of the same claim."""
    evidence = evidence_of(Leaderboard([0.90, 0.88], n_test=500))
    congruence = 0.9 * 0.88 + rho**2 * (0.9 * 0.1 * 0.88 * 0.12) ** 0.5
    closed = false_claim_probability(0.90, 0.88, 500, congruence)
    assert not_below(evidence, 1 - rho**2, 1.0) == pytest.approx(closed, abs=0.003)


@pytest.mark.parametrize(
    ("x_a", "x_b", "n", "tries"),
    [(500, 499, 500, 10), (100, 95, 100, 10), (10, 8, 10, 10), (85, 82, 100, 3)],
)
def test_independent_tries_are_binomials(x_a: int, x_b: int, n: int, tries: int) -> None:
    """Independent mistakes, flat skills: a sum over a fine grid of both."""
    skill = (np.arange(20_000) + 0.5) / 20_000
    law = stats.binom(n, skill)
    own = law.cdf(x_a) ** tries - law.cdf(x_a - 1) ** tries
    rival = law.pmf(x_b)
    own, rival = own / own.sum(), rival / rival.sum()
    exact = rival @ (np.cumsum(own) - own / 2)
    evidence = evidence_of(Leaderboard([x_a / n, x_b / n], n_test=n, rounding="exact"))
    assert not_below(evidence, 1.0, tries) == pytest.approx(exact, rel=0.02)


def test_correlated_tries_agree_with_simulated_pickings() -> None:
    """Skills drawn flat, tries and rival share a reference classifier; kept where 85 beat 82."""
    rng, rho, tries = np.random.default_rng(8), 0.6, 8
    false = kept = 0
    for _ in range(15):
        skills = rng.uniform(0.68, 0.96, (2, 40_000))
        right = rng.binomial(100, 0.85, 40_000)
        p, q = conditional_probabilities(skills, rho, 0.85)
        rival = rng.binomial(right, p[1]) + rng.binomial(100 - right, q[1])
        near = rival == 82  # tries are drawn for these alone
        shape = (tries, int(near.sum()))
        own = rng.binomial(right[near], p[0, near], shape)
        own += rng.binomial(100 - right[near], q[0, near], shape)
        same = own.max(axis=0) == 85
        kept += int(same.sum())
        false += int(np.sum((skills[0] <= skills[1])[near][same]))
    share = false / kept
    congruence = 0.85 * 0.82 + rho**2 * (0.85 * 0.15 * 0.82 * 0.18) ** 0.5
    found = best_try_probability(0.85, 0.82, 100, tries, congruence)
    assert found == pytest.approx(share, abs=4 * (share * (1 - share) / kept) ** 0.5 + 0.01)


@pytest.mark.parametrize(
    "known",
    [{"sd": (0.1, 0.1), "correlation": 0.7}, {"sd": (0.05, 0.2), "correlation": -0.4},
     {"sd": (0.05, 0.2)}, {"sd_difference": 0.05}],
)  # fmt: skip
def test_one_try_of_means_is_the_t_law_and_more_say_less(known) -> None:
    for n, tries in ((6, (1, 2, 10, 100)), (100, (1, 10))):
        claim = ReportedMeans(0.81, 0.80, n, **known)
        found = [best_try_probability_of_means(claim, k) for k in tries]
        assert found[0] == pytest.approx(claim.p_false(), abs=2e-3)
        assert all(a < b < 1 for a, b in pairwise(found))


def test_tries_of_means_agree_with_simulated_pickings() -> None:
    """Flat means, shared luck of the items, unequal spreads; kept where the gap is as observed."""
    rng, n, tries, r = np.random.default_rng(9), 400, 6, 0.5
    first, second = 0.05 / n**0.5, 0.2 / n**0.5
    size = 2_000_000
    truth = rng.uniform(-0.06, 0.06, size)  # of A minus B
    luck = rng.standard_normal(size) * r**0.5
    own = (1 - r) ** 0.5 * stats.norm.ppf(rng.random(size) ** (1 / tries))
    rival = (1 - r) ** 0.5 * rng.standard_normal(size)
    gap = truth + first * (luck + own) - second * (luck + rival)
    near = np.abs(gap - 0.005) < 0.0005
    share = float(np.mean(truth[near] <= 0))
    claim = ReportedMeans(0.805, 0.8, n, sd=(0.05, 0.2), correlation=r)
    found = best_try_probability_of_means(claim, tries)
    error = (share * (1 - share) / near.sum()) ** 0.5
    assert found == pytest.approx(share, abs=4 * error + 2e-3)
