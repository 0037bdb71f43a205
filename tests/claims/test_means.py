"""False claims from reported means of cases: published numbers, SciPy's paired t test."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.claims.laws import Means, reported_means


def p_false(a: float, b: float, n: int, correlation: float | None = None, **known) -> float:
    return Means(a=a, b=b, n=n, known=correlation, **known).p_false()


def test_it_is_the_one_sided_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    cases = np.clip(
        0.8 + 0.1 * rng.standard_normal((60, 1)) + 0.05 * rng.standard_normal((60, 2)), 0, 1
    )
    a, b = cases[:, np.argsort(-cases.mean(axis=0))].T
    ours = stats.ttest_rel(a, b, alternative="greater").pvalue
    found = p_false(
        a.mean(), b.mean(), 60, sd=(a.std(ddof=1), b.std(ddof=1)),
        correlation=np.corrcoef(a, b)[0, 1],
    )  # fmt: skip
    assert found == pytest.approx(ours, rel=1e-9)
    known = p_false(a.mean(), b.mean(), 60, sd_difference=(a - b).std(ddof=1))
    assert known == pytest.approx(found, rel=1e-9)


def test_an_unknown_correlation_is_averaged() -> None:
    def at(r: float) -> float:
        return p_false(0.81, 0.80, 50, sd=(0.1, 0.12), correlation=r)

    grid = np.linspace(0, 1, 20_001)
    expected = np.mean([at(r) for r in (grid[1:] + grid[:-1])[::20] / 2])
    found = p_false(0.81, 0.80, 50, sd=(0.1, 0.12))
    assert found == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(
    ("sd", "n", "needed"),
    [((0.2, 0.2), 100, 0.955), ((0.6, 0.6), 100, 0.995), ((0.01, 0.01), 100, 0.0),
     ((0.1, 0.2), 9, None)],
)  # fmt: skip
def test_the_correlation_that_a_claim_needs_is_found_up_to_one(sd, n, needed) -> None:
    claim = Means(a=0.81, b=0.80, n=n, sd=sd, bounds=None)
    found = claim.needed(0.05)
    assert found is needed is None or found == pytest.approx(needed, abs=1e-3)
    assert not found or claim.at(found) == pytest.approx(0.05, abs=1e-9)


def test_equal_means_are_a_toss_up() -> None:
    equal = Means(a=0.8, b=0.8, n=100, sd=(0.1, 0.1), known=1)
    assert equal.p_false_of_best(5) == 0.5
    assert p_false(0.8, 0.8, 100, sd=(0.1, 0.1), correlation=1) == 0.5
    assert p_false(0.9, 0.8, 100, sd=(0.1, 0.1), correlation=1) == 0


def test_sizes_and_equivalence_are_those_of_the_t_test() -> None:
    known = Means(a=0.81, b=0.80, n=100, sd_difference=0.1)
    for n in (7, 60):
        cases = np.random.default_rng(n).normal(size=n)
        cases = 0.01 + 0.1 * (cases - cases.mean()) / cases.std(ddof=1)
        p = stats.ttest_1samp(cases, 0, alternative="greater").pvalue
        assert known.p_false(n) == pytest.approx(p, rel=1e-9)
    claim = Means(a=0.5, b=0.4, n=10, sd=(0.527, 0.516))  # the largest that ten cases have
    size = claim.size(0.05)
    assert claim.p_false(size) <= 0.05 < claim.p_false(size - 1)
    law = stats.t(99, 0.01, 0.01)
    found = known.rope(0.005)
    assert found["a_better"] == pytest.approx(law.sf(0.005))
    assert found["b_better"] == pytest.approx(law.cdf(-0.005))


@pytest.mark.parametrize(
    ("a", "b", "n", "sd", "r"),
    [("0.81", "0.80", 100, (0.1, 0.1), 0.3), ("0.9", "0.9", 7, (0.1, 0.2), 0.0),
     ("1.00", "0.992", 40, (0.0, 0.03), 0.0), ("0.870", "0.85", 100_000, (0.1, 0.2), 0.9)],
)  # fmt: skip
def test_the_rounding_of_printed_means_is_averaged(a, b, n, sd, r) -> None:
    claim = Means(a=float(a), b=float(b), n=n, sd=sd)
    half, rng = 0.5 * 10.0 ** (2 - max(len(a), len(b))), np.random.default_rng(0)
    drawn = np.array([[claim.a], [claim.b]]) + rng.uniform(-half, half, (2, 2_000_000))
    x, y = drawn[:, (drawn[0] >= drawn[1]) & (drawn[0] <= 1)]
    gap, spread = x - y, np.sqrt(np.dot(sd, sd) - 2 * r * np.prod(sd))
    p = stats.t.cdf(-gap * np.sqrt(n) / spread, n - 1)
    found = reported_means(claim, (a, b), r)
    assert found.p_false == pytest.approx(p.mean(), abs=5 * p.std() / 1000)
    assert (found.lowest, found.highest) == pytest.approx((p.min(), p.max()), abs=2e-3)
