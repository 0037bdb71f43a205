r"""Tests of the difference of two learners on one data set, from the scores of the same folds.

With :math:`J = r k` differences :math:`d` of :math:`r` iterations of :math:`k` folds, their mean
:math:`\bar d` and variance :math:`s^2`:

- *naive*: :math:`t = \bar d / \sqrt{s^2 / J}`, the paired t-test, as if folds were independent;
- *corrected*: :math:`t = \bar d / \sqrt{(1/J + n_{test} / n_{train}) s^2}` (Nadeau and Bengio 2003;
  for repeated cross-validation Bouckaert and Frank 2004), both with :math:`J - 1` degrees of
  freedom;
- *5x2cv t*: the first difference over the root of the mean variance of five iterations, 5 degrees
  of freedom (Dietterich 1998), and *5x2cv F*: all squared differences over twice the sum of the
  variances, 10 and 5 degrees of freedom (Alpaydin 1999).

No variance of k-fold cross-validation is unbiased (Bengio and Grandvalet 2004), so the level of
each is approximate. Naive p-values fall towards 0 with the number of iterations even for equal
learners; the corrected variance cannot fall below :math:`s^2 n_{test} / n_{train}`.
``tests/crossval/test_fold_tests.py`` compares with SciPy and with published formulas,
``tests/calibration/fold_tests_size.py`` measures how often each rejects equal learners.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray


@dataclass(frozen=True)
class DifferenceTest:
    """Test of the difference of two learners.

    Attributes
    ----------
    name : str
        naive, corrected, 5x2cv t or 5x2cv F.
    difference : float
        Mean of A minus mean of B over all folds that the test uses.
    statistic : float
    df : tuple of int
        Degrees of freedom, one of t and two of F.
    p_value : float
        Two-sided; NaN where all differences are equal and not 0, 1 where all are 0.
    """

    name: str
    difference: float
    statistic: float
    df: tuple[int, ...]
    p_value: float


def paired_t_test(a: ArrayLike, b: ArrayLike) -> DifferenceTest:
    """Naive paired t-test over folds, which repeated cross-validation makes far too sure.

    Parameters
    ----------
    a, b : array-like, shape (n_iterations, n_folds)
        Scores of the same folds; folds that are NaN for either are left out.

    Examples
    --------
    >>> round(paired_t_test([[0.8, 0.9, 0.7]], [[0.7, 0.85, 0.69]]).p_value, 3)
    0.177
    """
    return _t_test("naive", _differences(a, b), 0.0)


def corrected_t_test(a: ArrayLike, b: ArrayLike, test_share: float) -> DifferenceTest:
    """Corrected resampled t-test, whose variance allows for training sets that overlap.

    Parameters
    ----------
    a, b : array-like, shape (n_iterations, n_folds)
        As in ``paired_t_test``.
    test_share : float
        Share of the items in one test fold, 1 / k (``FoldScores.test_share``).

    Examples
    --------
    >>> round(corrected_t_test([[0.8, 0.9, 0.7]], [[0.7, 0.85, 0.69]], 1 / 3).p_value, 3)
    0.324
    """
    return _t_test("corrected", _differences(a, b), test_share / (1 - test_share))


def five_by_two_t_test(a: ArrayLike, b: ArrayLike) -> DifferenceTest:
    """Dietterich's 5x2cv t-test; its numerator is the first fold's difference alone.

    Parameters
    ----------
    a, b : array-like, shape (5, 2)

    Examples
    --------
    >>> five_by_two_t_test([[0.8, 0.9]] * 5, [[0.7, 0.7]] * 5).statistic.__round__(3)
    1.414
    """
    from scipy.stats import t

    d, variances = _five_by_two(a, b)
    statistic = _ratio(d[0, 0], np.sqrt(variances.mean()))
    p_value = float(2 * t.sf(abs(statistic), 5))
    return DifferenceTest("5x2cv t", float(d.mean()), statistic, (5,), _certain(d, p_value))


def five_by_two_f_test(a: ArrayLike, b: ArrayLike) -> DifferenceTest:
    """Alpaydin's 5x2cv F-test, which uses all ten differences.

    Parameters
    ----------
    a, b : array-like, shape (5, 2)

    Examples
    --------
    >>> five_by_two_f_test([[0.8, 0.9]] * 5, [[0.7, 0.7]] * 5).statistic.__round__(3)
    5.0
    """
    from scipy.stats import f

    d, variances = _five_by_two(a, b)
    statistic = _ratio((d**2).sum(), 2 * variances.sum())
    p_value = float(f.sf(statistic, 10, 5))
    return DifferenceTest("5x2cv F", float(d.mean()), statistic, (10, 5), _certain(d, p_value))


def difference_tests(a: ArrayLike, b: ArrayLike, folds: int) -> list[DifferenceTest]:
    """All tests that the scores of two learners on one data set allow.

    Parameters
    ----------
    a, b : array-like, shape (n_iterations, n_folds)
        Scores fold by fold.
    folds : int
        k of the k-fold partitions.

    Returns
    -------
    list of DifferenceTest
        Naive and corrected over all iterations; of 2 folds also both 5x2cv tests, of the first
        five iterations that are complete.

    Examples
    --------
    >>> scores = np.random.default_rng(0).normal(0.9, 0.01, (2, 6, 2))
    >>> [test.name for test in difference_tests(*scores, folds=2)]
    ['naive', 'corrected', '5x2cv t', '5x2cv F']
    """
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    found = [paired_t_test(first, second), corrected_t_test(first, second, 1 / folds)]
    five = np.flatnonzero(np.isfinite(first - second).all(axis=1))[:5]
    if folds == 2 and len(five) == 5:
        found.append(five_by_two_t_test(first[five], second[five]))
        found.append(five_by_two_f_test(first[five], second[five]))
    return found


def _differences(a: ArrayLike, b: ArrayLike) -> FloatArray:
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.shape != second.shape:
        raise InputError(f"scores of the same folds are needed, got {first.shape}, {second.shape}")
    d = (first - second).ravel()
    d = d[np.isfinite(d)]
    if d.size < 2:
        raise InputError(f"a t-test needs at least 2 folds that both learners have, got {d.size}")
    return d


def _t_test(name: str, d: FloatArray, overlap: float) -> DifferenceTest:
    from scipy.stats import t

    error = d.std(ddof=1) * np.sqrt(1 / d.size + overlap)
    statistic = _ratio(d.mean(), error)
    p_value = float(2 * t.sf(abs(statistic), d.size - 1))
    return DifferenceTest(name, float(d.mean()), statistic, (d.size - 1,), _certain(d, p_value))


def _five_by_two(a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray]:
    d = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    if d.shape != (5, 2) or not np.isfinite(d).all():
        raise InputError(f"5x2cv tests need complete scores of shape (5, 2), got {d.shape}")
    return d, d.var(axis=1, ddof=1)


def _ratio(value: float, error: float) -> float:
    """Statistic; NaN where there is no error to compare with."""
    return float(value / error) if error > 1e-15 else float("nan")


def _certain(d: FloatArray, p_value: float) -> float:
    return 1.0 if not np.any(d) else float(p_value)
