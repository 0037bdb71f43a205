"""Tests over folds: against SciPy, published formulas, and equal learners that are simulated."""

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

from bayes_sota.crossval.correlated_t import difference_tests


def test_each_test_has_its_published_formula() -> None:
    """Of SciPy; of Bouckaert and Frank."""
    a, b = np.random.default_rng(1).normal(0.9, 0.02, (2, 6, 2))
    a[5, 1] = np.nan  # a fit that failed
    naive, corrected = difference_tests(a, b, 2)
    d = (a - b)[np.isfinite(a)]
    paired = ttest_rel(a.ravel(), b.ravel(), nan_policy="omit")
    statistic = d.mean() / np.sqrt((1 / 11 + 0.5 / 0.5) * d.var(ddof=1))
    for found, name, expected, p in (
        (naive, "naive", paired.statistic, paired.pvalue),
        (corrected, "corrected", statistic, 2 * t.sf(abs(statistic), 10)),
    ):
        assert (found["name"], found["df"]) == (name, 10)
        assert (found["statistic"], found["p_value"]) == pytest.approx((expected, p))


@pytest.mark.slow
def test_folds_that_share_an_error_are_what_the_correction_is_for() -> None:
    """With the correlation 1/k of all differences the corrected test is exact, the naive is not."""
    rng = np.random.default_rng(4)
    shared = np.sqrt(0.1) * rng.standard_normal((1500, 1, 1))
    d = shared + np.sqrt(0.9) * rng.standard_normal((1500, 10, 10))
    zero = np.zeros((10, 10))
    tests = [difference_tests(one, zero, 10) for one in d]
    naive, corrected = np.mean([[test["p_value"] <= 0.05 for test in row] for row in tests], axis=0)
    assert corrected == pytest.approx(0.05, abs=0.018)
    assert naive > 0.4


def test_learners_without_any_difference() -> None:
    same = np.full((5, 2), 0.9)
    assert [test["p_value"] for test in difference_tests(same, same, 2)] == [1.0] * 2
    for test in difference_tests(same, same - 0.1, 2):
        assert (test["p_value"], test["statistic"]) == (None, None)
