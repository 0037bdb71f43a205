"""Tests over folds: against SciPy, published formulas, and equal learners that are simulated."""

import numpy as np
import pytest
from scipy.stats import f, t, ttest_rel

from bayes_sota.core.errors import InputError
from bayes_sota.crossval.fold_tests import (
    corrected_t_test,
    difference_tests,
    five_by_two_f_test,
    five_by_two_t_test,
    paired_t_test,
)


def test_the_naive_test_is_the_paired_t_test() -> None:
    a, b = np.random.default_rng(0).normal(0.9, 0.02, (2, 10, 10))
    expected = ttest_rel(a.ravel(), b.ravel())
    found = paired_t_test(a, b)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.df == (99,)


def test_the_corrected_test_has_bouckaert_and_frank_s_formula() -> None:
    a, b = np.random.default_rng(1).normal(0.9, 0.02, (2, 10, 10))
    a[3, 4] = np.nan  # a fit that failed
    d = (a - b)[np.isfinite(a)]
    statistic = d.mean() / np.sqrt((1 / 99 + 0.1 / 0.9) * d.var(ddof=1))
    found = corrected_t_test(a, b, test_share=0.1)
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(2 * t.sf(abs(statistic), 98))
    naive = paired_t_test(a, b)
    assert found.statistic / naive.statistic == pytest.approx((1 / (1 + 99 / 9)) ** 0.5)


def test_the_5x2cv_tests_have_the_published_formulas() -> None:
    a, b = np.random.default_rng(2).normal(0.8, 0.03, (2, 5, 2))
    variances = [sum((x - np.mean(d)) ** 2 for x in d) for d in a - b]
    first = (a - b)[0, 0] / np.sqrt(np.mean(variances))
    assert five_by_two_t_test(a, b).statistic == pytest.approx(first)
    assert five_by_two_t_test(a, b).p_value == pytest.approx(2 * t.sf(abs(first), 5))
    both = np.sum((a - b) ** 2) / (2 * sum(variances))
    assert five_by_two_f_test(a, b).statistic == pytest.approx(both)
    assert five_by_two_f_test(a, b).p_value == pytest.approx(f.sf(both, 10, 5))


@pytest.mark.slow
def test_independent_differences_are_rejected_as_often_as_their_level_says() -> None:
    """Without overlap the naive test is exact, the 5x2cv tests are close, the other is strict."""
    d = np.random.default_rng(3).standard_normal((700, 5, 2))
    tests = [difference_tests(one, np.zeros((5, 2)), folds=2) for one in d]
    rates = np.mean([[test.p_value <= 0.05 for test in row] for row in tests], axis=0)
    naive, corrected, t_rate, f_rate = rates
    assert naive == pytest.approx(0.05, abs=0.025)
    assert corrected < 0.01
    assert 0.02 < t_rate < 0.09
    assert f_rate < 0.06


@pytest.mark.slow
def test_folds_that_share_an_error_are_what_the_correction_is_for() -> None:
    """With the correlation 1/k of all differences the corrected test is exact, the naive is not."""
    rng = np.random.default_rng(4)
    shared = np.sqrt(0.1) * rng.standard_normal((1500, 1, 1))
    d = shared + np.sqrt(0.9) * rng.standard_normal((1500, 10, 10))
    zero = np.zeros((10, 10))
    corrected = [corrected_t_test(one, zero, test_share=0.1).p_value <= 0.05 for one in d]
    naive = [paired_t_test(one, zero).p_value <= 0.05 for one in d]
    assert np.mean(corrected) == pytest.approx(0.05, abs=0.018)
    assert np.mean(naive) > 0.4


def test_learners_without_any_difference() -> None:
    same = np.full((5, 2), 0.9)
    assert [test.p_value for test in difference_tests(same, same, 2)] == [1.0] * 4
    other = [test.p_value for test in difference_tests(same, same - 0.1, 2)]
    assert np.isnan(other).all()


def test_what_a_test_cannot_use_is_refused_or_left_out() -> None:
    a = np.random.default_rng(5).random((6, 2))
    with_hole = a.copy()
    with_hole[2, 0] = np.nan
    names = [test.name for test in difference_tests(with_hole, a * 0, 2)]
    assert names == ["naive", "corrected", "5x2cv t", "5x2cv F"]
    assert len(difference_tests(with_hole[:5], a[:5] * 0, 2)) == 2
    with pytest.raises(InputError, match="at least 2 folds that both learners have, got 1"):
        paired_t_test([[0.5, np.nan]], [[0.4, 0.3]])
    with pytest.raises(InputError, match="scores of the same folds"):
        paired_t_test(a, a[:2])
    with pytest.raises(InputError, match=r"shape \(5, 2\), got \(6, 2\)"):
        five_by_two_t_test(a, a)
