"""False claims from reported means of cases: published numbers, SciPy's paired t test."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.claims.means import ReportedMeans, imputed_sd
from bayes_sota.claims.means import false_claim_probability_of_means as p_false
from bayes_sota.core.errors import InputError


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
    np.testing.assert_allclose(imputed_sd([0.7, 0.9]), [0.14, 0.06])
    given = p_false(0.9, 0.7, 100, sd=(0.06, 0.14), correlation=0.5)
    assert p_false(0.9, 0.7, 100, correlation=0.5) == pytest.approx(given, rel=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_number_of_claims_does_not_change_what_their_spreads_are(size: int) -> None:
    a, b = [0.81, 0.85, 0.90, 0.7][:size], [0.80, 0.84, 0.88, 0.65][:size]
    known = {"sd": ([0.1] * size, [0.12] * size), "correlation": 0.7}
    found = p_false(a, b, 100, **known)
    pairs = zip(a, b, strict=True)
    alone = [p_false(*pair, 100, sd=(0.1, 0.12), correlation=0.7) for pair in pairs]
    np.testing.assert_allclose(found, alone, rtol=1e-12)
    as_array = p_false(a, b, 100, sd=np.array(known["sd"]), correlation=0.7)
    np.testing.assert_array_equal(as_array, found)
    mixed = p_false(a, b, 100, sd=(0.1, [0.12] * size), correlation=0.7)
    np.testing.assert_array_equal(mixed, found)


@pytest.mark.parametrize(
    "known",
    [{"sd": 0.1}, {"sd": (0.1, 0.1, 0.1)}, {"sd": (0.1,)}],
)
def test_spreads_are_a_pair_and_coefficients_three(known: dict) -> None:
    with pytest.raises(InputError, match=r"sd is a pair|are three numbers|give sd, or the sd_co"):
        p_false([0.81, 0.9, 0.7], 0.6, 100, **known)
    with pytest.raises(InputError):
        ReportedMeans(0.81, 0.6, 100, **known).spreads  # noqa: B018


@pytest.mark.parametrize(
    ("sd", "n", "needed"),
    [((0.2, 0.2), 100, 0.955), ((0.1, 0.1), 100, 0.819), ((0.6, 0.6), 100, 0.995), ((0.1, 0.2), 9,
      None), ((0.01, 0.01), 100, 0.0), ((0.2, 0.0), 100, None), ((0.3, 0.31), 10_000, 0.8)],
)  # fmt: skip
def test_the_correlation_that_a_claim_needs_is_found_up_to_one(sd, n, needed) -> None:
    claim = ReportedMeans(0.81, 0.80, n, sd=sd, bounds=None)
    found = claim.needed(0.05)
    at_one = claim.p_false(correlation=1.0)
    assert (found is None) == (at_one > 0.05)
    if found:
        assert claim.p_false(correlation=found) == pytest.approx(0.05, abs=1e-9)
        assert claim.p_false(correlation=found - 1e-4) > 0.05
    if needed is None:
        assert found is None
    elif needed != 0.8:
        assert found == pytest.approx(needed, abs=1e-3)
    assert ReportedMeans(0.8, 0.8, n, sd=sd, bounds=None).needed(0.05) is None


def test_where_none_are_given_they_are_imputed_by_a_rule_of_thumb() -> None:
    first, second = 2 / 3 * 0.81 * 0.19, 2 / 3 * 0.8 * 0.2
    by_rule = p_false(0.81, 0.80, 100, correlation=0.5)
    spread = np.sqrt(first**2 + second**2 - first * second)
    assert by_rule == pytest.approx(stats.t.cdf(-0.01 / spread * 10, 99), rel=1e-12)


def test_equal_means_are_a_toss_up() -> None:
    assert p_false(0.8, 0.8, 100, sd=(0.1, 0.1), correlation=1) == 0.5
    assert p_false(0.9, 0.8, 100, sd=(0.1, 0.1), correlation=1) == 0
