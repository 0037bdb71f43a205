"""False claims from reported accuracies: published numbers, sums over tables, simulation."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from bayes_sota.claims.accuracies import false_claim_probability, false_claim_rope
from bayes_sota.items.comparison import probability_not_better


@pytest.mark.parametrize(
    ("congruence", "expected"),
    [("min", 0.171), ("independent", 0.157), (None, 0.093), ("max", 0.0005)],
)
def test_published_numbers(congruence, expected: float) -> None:
    found = false_claim_probability(0.90, 0.88, 500, congruence)
    assert found == pytest.approx(expected, abs=0.0005 if expected > 0.001 else 2e-5)


@pytest.mark.parametrize(("alpha", "expected"), [(0.25, 0.052), (0.5, 0.071), (2, 0.111)])
def test_published_numbers_of_other_priors(alpha: float, expected: float) -> None:
    assert false_claim_probability(0.90, 0.88, 500, alpha=alpha) == pytest.approx(
        expected, abs=5e-4
    )


def test_whole_counts_are_mcnemar_mid_p() -> None:
    for x1, x2, n in ((12, 5, 17), (30, 30, 200), (1, 0, 10), (400, 350, 5000)):
        both = n - x1 - x2
        found = false_claim_probability((both + x1) / n, (both + x2) / n, n, both / n)
        tail = stats.binom(x1 + x2, 0.5)
        assert found == pytest.approx(tail.sf(x1) + tail.pmf(x1) / 2, abs=1e-12)
        assert found == pytest.approx(float(probability_not_better(x1, x2)), abs=1e-12)
    assert false_claim_probability(12 / 17, 5 / 17, 17, 0) == pytest.approx(0.0481262, abs=1e-7)


def test_the_source_samples_what_is_computed_here() -> None:
    rng = np.random.default_rng(0)
    for p_a, p_b, n, p11 in ((0.91, 0.9, 5000, 0.85), (0.83, 0.8, 100, 0.7), (0.6, 0.58, 37, 0.4)):
        x1, x2 = n * (p_a - p11), n * (p_b - p11)
        drawn = rng.dirichlet([x1 + 1, x2 + 1, n - x1 - x2 + 2], 400_000)
        share = np.mean(drawn[:, 0] <= drawn[:, 1])
        error = (share * (1 - share) / 400_000) ** 0.5
        found = false_claim_probability(p_a, p_b, n, p11)
        assert found == pytest.approx(share, abs=4.5 * error + 1e-6)


@pytest.mark.parametrize("alpha", [1.0, 0.5, (2.0, 1.0, 0.5, 3.0)])
def test_the_average_is_that_over_all_tables(alpha) -> None:
    """Every 2 x 2 table of 14 items with the margins, weighted by its Dirichlet-multinomial."""
    n, x_a, x_b = 14, 10, 9
    cells = np.full(4, alpha) if np.isscalar(alpha) else np.array(alpha)
    total = weight = 0.0
    for table in product(range(n + 1), repeat=3):
        both, only_a, only_b = table
        neither = n - sum(table)
        if neither < 0 or both + only_a != x_a or both + only_b != x_b:
            continue
        w = stats.dirichlet_multinomial(cells, n).pmf([both, only_a, only_b, neither])
        total += w * stats.beta(only_a + cells[1], only_b + cells[2]).cdf(0.5)
        weight += w
    found = false_claim_probability(x_a / n, x_b / n, n, alpha=alpha)
    assert found == pytest.approx(total / weight, rel=1e-10)


def test_many_claims_are_each_alone() -> None:
    rng = np.random.default_rng(1)
    a = rng.uniform(0.3, 1, 300)
    b = a - rng.uniform(0, 0.2, 300)
    n = rng.integers(10, 900, 300)
    together = false_claim_probability(a, b, n)
    alone = [false_claim_probability(*row) for row in zip(a, b, n, strict=True)]
    np.testing.assert_allclose(together, alone, atol=1e-12)
    assert np.all((together >= 0) & (together <= 0.5 + 1e-12))


def test_a_region_of_equivalence_agrees_with_simulation() -> None:
    rng = np.random.default_rng(2)
    drawn = rng.dirichlet([425 + 1, 25 + 1, 15 + 1, 35 + 1], 400_000)
    gap = drawn[:, 1] - drawn[:, 2]
    found = false_claim_rope(0.90, 0.88, 500, 0.01, 0.85)
    for ours, theirs in (
        (found.a_better, np.mean(gap > 0.01)),
        (found.equivalent, np.mean(np.abs(gap) <= 0.01)),
        (found.b_better, np.mean(gap < -0.01)),
    ):
        assert ours == pytest.approx(theirs, abs=0.004)
    none = false_claim_rope(0.90, 0.88, 500, 0.0)
    assert none.b_better == pytest.approx(false_claim_probability(0.90, 0.88, 500), abs=1e-9)
    assert none.equivalent == pytest.approx(0, abs=1e-9)
