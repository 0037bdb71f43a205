"""False claims from reported means of cases: published numbers, SciPy's paired t test."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.claims.means import false_claim_probability_of_means as p_false
from bayes_sota.claims.means import imputed_sd


@pytest.mark.parametrize(
    ("correlation", "expected"), [(0, 0.241), (0.5, 0.160), (0.7, 0.100), (0.9, 0.014)]
)
def test_published_numbers(correlation: float, expected: float) -> None:
    found = p_false(0.81, 0.80, 100, sd=(0.1, 0.1), correlation=correlation)
    assert found == pytest.approx(expected, abs=5e-4)


def test_it_is_the_one_sided_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    cases = np.clip(
        0.8 + 0.1 * rng.standard_normal((60, 1)) + 0.05 * rng.standard_normal((60, 2)), 0, 1
    )
    a, b = cases[:, np.argsort(-cases.mean(axis=0))].T
    expected = stats.ttest_rel(b, a, alternative="greater").pvalue
    ours = stats.ttest_rel(a, b, alternative="greater").pvalue
    found = p_false(
        a.mean(), b.mean(), 60, sd=(a.std(ddof=1), b.std(ddof=1)),
        correlation=np.corrcoef(a, b)[0, 1],
    )  # fmt: skip
    assert found == pytest.approx(ours, rel=1e-9)
    assert found == pytest.approx(1 - expected, rel=1e-9)
    known = p_false(a.mean(), b.mean(), 60, sd_difference=(a - b).std(ddof=1))
    assert known == pytest.approx(found, rel=1e-9)


def test_an_unknown_correlation_is_averaged() -> None:
    def at(r: float) -> float:
        return p_false(0.81, 0.80, 50, sd=(0.1, 0.12), correlation=r)

    grid = np.linspace(0.2, 0.9, 20_001)
    expected = np.mean([at(r) for r in (grid[1:] + grid[:-1])[::20] / 2])
    found = p_false(0.81, 0.80, 50, sd=(0.1, 0.12), correlation_range=(0.2, 0.9))
    assert found == pytest.approx(expected, abs=2e-4)
    many = p_false([0.81, 0.9], 0.80, 50, sd=(0.1, 0.1))
    assert many.shape == (2,)


def test_standard_deviations_may_be_imputed() -> None:
    np.testing.assert_allclose(imputed_sd([0.8, 0.9], (0.5, -0.5, 0.0)), [0.1, 0.05])
    given = p_false(0.81, 0.8, 100, sd=(0.095, 0.1), correlation=0.5)
    by_rule = p_false(
        0.81, 0.8, 100, sd=(lambda m: 0.5 * (1 - m), (0.5, -0.5, 0.0)), correlation=0.5
    )
    assert by_rule == pytest.approx(given, rel=1e-9)


def test_where_none_are_given_they_are_imputed_by_a_rule_of_thumb() -> None:
    first, second = 2 / 3 * 0.81 * 0.19, 2 / 3 * 0.8 * 0.2
    by_rule = p_false(0.81, 0.80, 100, correlation=0.5)
    spread = np.sqrt(first**2 + second**2 - first * second)
    assert by_rule == pytest.approx(stats.t.cdf(-0.01 / spread * 10, 99), rel=1e-12)
    # a rule that vanishes where no case can vary, and never exceeds what a mean allows
    mean = np.linspace(0, 1, 101)
    assert np.all(imputed_sd(mean, (0.0, 4 / 3, -4 / 3)) <= np.sqrt(mean * (1 - mean)))


def test_equal_means_are_a_toss_up() -> None:
    assert p_false(0.8, 0.8, 100, sd=(0.1, 0.1), correlation=1) == 0.5
    assert p_false(0.9, 0.8, 100, sd=(0.1, 0.1), correlation=1) == 0
