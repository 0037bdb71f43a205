"""Claims about the best of several tries, against simulated tries and the claim of one."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.congruence import OddsRatioCongruence
from bayes_sota.claims.means import false_claim_probability_of_means
from bayes_sota.claims.selection import (
    best_try_probability,
    best_try_probability_of_means,
    not_below,
)
from bayes_sota.core.errors import InputError
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import ScoreKernel
from bayes_sota.maximum.dependence import conditional_probabilities

CLAIMS = ((0.9, 0.88, 500), (1.0, 0.98, 200), (0.95, 0.85, 60), (0.5, 0.5, 40), (0.9137, 0.88, 77))


@pytest.mark.parametrize(
    "congruence", [None, "min", "max", "independent", OddsRatioCongruence(20.0, 1.0)]
)
def test_one_try_is_the_claim(congruence) -> None:
    for claim in CLAIMS:
        found = best_try_probability(*claim, 1, congruence)
        assert found == pytest.approx(false_claim_probability(*claim, congruence), rel=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_the_law_behind_follows_the_closed_form(rho: float) -> None:
    """The flat prior of two skills and the Dirichlet posterior, two models of the same claim."""
    kernel = ScoreKernel.of(Leaderboard([0.90, 0.88], n_test=500))
    congruence = 0.9 * 0.88 + rho**2 * (0.9 * 0.1 * 0.88 * 0.12) ** 0.5
    closed = false_claim_probability(0.90, 0.88, 500, congruence)
    assert not_below(kernel, 1 - rho**2, 1.0) == pytest.approx(closed, abs=0.003)


@pytest.mark.parametrize(
    ("x_a", "x_b", "n", "tries"),
    [
        (500, 499, 500, 10),
        (100, 95, 100, 10),
        (10, 8, 10, 10),
        (450, 440, 500, 10),
        (85, 82, 100, 3),
    ],
)
def test_independent_tries_are_binomials(x_a: int, x_b: int, n: int, tries: int) -> None:
    """Independent mistakes, flat skills: a sum over a fine grid of both."""
    skill = (np.arange(20_000) + 0.5) / 20_000
    law = stats.binom(n, skill)
    own = law.cdf(x_a) ** tries - law.cdf(x_a - 1) ** tries
    rival = law.pmf(x_b)
    own, rival = own / own.sum(), rival / rival.sum()
    exact = rival @ (np.cumsum(own) - own / 2)
    kernel = ScoreKernel.of(Leaderboard([x_a / n, x_b / n], n_test=n, rounding="exact"))
    assert not_below(kernel, 1.0, tries) == pytest.approx(exact, rel=0.02)


def test_correlated_tries_agree_with_simulated_pickings() -> None:
    """Skills drawn flat, tries and rival share a reference classifier; kept where 85 beat 82."""
    rng, rho, tries = np.random.default_rng(8), 0.6, 8
    false = kept = 0
    for _ in range(15):
        skills = rng.uniform(0.68, 0.96, (2, 40_000))
        right = rng.binomial(100, 0.85, 40_000)
        on_right, on_wrong = conditional_probabilities(skills, rho, 0.85)

        def counts(j: int, size: int, right=right, p=on_right, q=on_wrong) -> np.ndarray:
            shape = (size, right.size)
            return rng.binomial(right, p[j], shape) + rng.binomial(100 - right, q[j], shape)

        same = (counts(1, 1)[0] == 82) & (counts(0, tries).max(axis=0) == 85)
        kept += int(same.sum())
        false += int(np.sum((skills[0] <= skills[1])[same]))
    share = false / kept
    congruence = 0.85 * 0.82 + rho**2 * (0.85 * 0.15 * 0.82 * 0.18) ** 0.5
    found = best_try_probability(0.85, 0.82, 100, tries, congruence)
    assert found == pytest.approx(share, abs=4 * (share * (1 - share) / kept) ** 0.5 + 0.01)


@pytest.mark.parametrize("known", [{"correlation": 0.7}, {"correlation": -0.4}, {}])
@pytest.mark.parametrize("sd", [(0.1, 0.1), (0.05, 0.2), (0.2, 0.05)])
def test_one_try_of_means_is_the_t_law(known, sd) -> None:
    for n in (6, 100):
        claim = (0.81, 0.80, n)
        found = best_try_probability_of_means(*claim, 1, sd=sd, **known)
        closed = false_claim_probability_of_means(*claim, sd=sd, **known)
        assert found == pytest.approx(closed, abs=2e-3)
    known_gap = best_try_probability_of_means(0.81, 0.80, 6, 1, sd_difference=0.05)
    closed = false_claim_probability_of_means(0.81, 0.80, 6, sd_difference=0.05)
    assert known_gap == pytest.approx(closed, abs=2e-3)


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
    found = best_try_probability_of_means(0.805, 0.8, n, tries, sd=(0.05, 0.2), correlation=r)
    error = (share * (1 - share) / near.sum()) ** 0.5
    assert found == pytest.approx(share, abs=4 * error + 2e-3)


def test_the_more_tries_the_less_a_lead_says() -> None:
    for claim in CLAIMS:
        found = [best_try_probability(*claim, k) for k in (1, 2, 10, 100)]
        assert all(a < b < 1 for a, b in pairwise(found))
    means = [
        best_try_probability_of_means(0.81, 0.80, 50, k, sd=(0.1, 0.1)) for k in (1, 2, 10, 100)
    ]
    assert all(a < b < 1 for a, b in pairwise(means))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match=r"at least 1, got 0\.5"):
        best_try_probability(0.9, 0.8, 100, 0.5)
    with pytest.raises(InputError, match="exchange"):
        best_try_probability(0.8, 0.9, 100, 2)
    with pytest.raises(InputError, match="at least 1, got inf"):
        best_try_probability_of_means(0.9, 0.8, 100, np.inf, sd_difference=0.1)
    with pytest.raises(InputError, match="give sd"):
        best_try_probability_of_means(0.9, 0.8, 100, 2)
