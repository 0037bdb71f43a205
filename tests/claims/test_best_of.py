"""Claims about the best of several tries, against sums and simulated pickings."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit, ndtr, ndtri

from bayes_sota import Accuracies, Means

CLAIMS = ((0.9, 0.88, 500), (1.0, 0.98, 200), (0.95, 0.85, 60), (0.5, 0.5, 40), (0.9137, 0.88, 77))


MEANS = (
    {"sd": (0.1, 0.1), "known": 0.7}, {"sd": (0.05, 0.2), "known": -0.4},
    {"sd": (0.05, 0.2)}, {"sd_difference": 0.05},
)  # fmt: skip


@pytest.mark.parametrize(
    "claim",
    [
        *(Accuracies(a=a, b=b, n=n, known=x) for a, b, n in CLAIMS for x in (None, a * b, b)),
        *(Means(a=0.81, b=0.80, n=n, **known) for n in (6, 100) for known in MEANS),
    ],
)
def test_one_try_is_the_claim_and_more_say_less(claim: Accuracies | Means) -> None:
    found = [claim.p_false_of_best(k) for k in (1, 3, 30)]
    assert found[0] == pytest.approx(claim.p_false(), abs=2e-3)
    assert all(x <= y < 1 for x, y in pairwise(found))


def count_law(chances: np.ndarray) -> np.ndarray:
    """Law of the number of right answers, (g, n + 1), given the chances of the items, (g, n)."""
    law = np.zeros((len(chances), chances.shape[1] + 1))
    law[:, 0] = 1
    for i, p in enumerate(chances.T[..., None]):
        law[:, 1 : i + 2] = law[:, 1 : i + 2] * (1 - p) + law[:, : i + 1] * p
        law[:, 0] *= 1 - p[:, 0]
    return law


@pytest.mark.parametrize(("x_a", "x_b", "n"), [(54, 51, 60), (57, 51, 60), (176, 174, 200)])
def test_tries_that_share_hard_items_are_followed(x_a: int, x_b: int, n: int) -> None:
    """Difficulties of items drawn, everything else summed: tries and rival correlate by .4."""
    a, b, k, rng = x_a / n, x_b / n, 10, np.random.default_rng(0)
    latent, congruence = 0.0, a * b + 0.4 * (a * (1 - a) * b * (1 - b)) ** 0.5
    z = ndtri((np.arange(2000) + 0.5) / 2000)
    while latent < 0.99:  # the correlation of latent abilities that gives this congruence
        latent += 0.01
        own = [ndtr((ndtri(x) - latent**0.5 * z) / (1 - latent) ** 0.5) for x in (a, b)]
        if np.mean(own[0] * own[1]) > congruence:
            break
    spread = (max(a * (1 - a), 0.25 / n) / n) ** 0.5
    skill = np.linspace(max(b - 11 * spread, 1e-4), min(a + 5.5 * spread, 1 - 1e-4), 50)
    joint = np.zeros((2, 50, 50))
    for _ in range(120):
        items = latent**0.5 * rng.standard_normal(n)
        law = count_law(ndtr((ndtri(skill)[:, None] - items) / (1 - latent) ** 0.5))
        below = np.cumsum(law, axis=1)
        for place, tries in enumerate((1, k)):
            own_best = below[:, x_a] ** tries - below[:, x_a - 1] ** tries
            joint[place] += np.outer(own_best, law[:, x_b])
    ahead = np.triu(np.ones((50, 50)), 1) + np.eye(50) / 2  # the rival is better
    one, best = (float(np.sum(table * ahead) / table.sum()) for table in joint)
    claim = Accuracies(a=a, b=b, n=n, known=congruence)
    expected = expit(logit(claim.p_false()) + logit(best) - logit(one))
    assert claim.p_false_of_best(k) == pytest.approx(expected, abs=0.012)


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
    found = Means(a=0.805, b=0.8, n=n, sd=(0.05, 0.2), known=r).p_false_of_best(tries)
    error = (share * (1 - share) / near.sum()) ** 0.5
    assert found == pytest.approx(share, abs=4 * error + 2e-3)
