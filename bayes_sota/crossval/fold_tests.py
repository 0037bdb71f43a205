r"""Tests of the difference of two learners on one data set, from the scores of the same folds.

With :math:`J = r k` differences :math:`d` of :math:`r` iterations of :math:`k` folds, their mean
:math:`\bar d` and variance :math:`s^2`:

- *naive*: :math:`t = \bar d / \sqrt{s^2 / J}`, the paired t-test, as if folds were independent;
- *corrected*: :math:`t = \bar d / \sqrt{(1/J + n_{test} / n_{train}) s^2}` (Nadeau and Bengio 2003;
  for repeated cross-validation Bouckaert and Frank 2004), both with :math:`J - 1` degrees of
  freedom.

No variance of k-fold cross-validation is unbiased (Bengio and Grandvalet 2004), so the level of
each is approximate. Naive p-values fall towards 0 with the number of iterations even for equal
learners; the corrected variance cannot fall below :math:`s^2 n_{test} / n_{train}`.
``tests/crossval/test_fold_tests.py`` compares with SciPy and with published formulas,
``tests/calibration/fold_tests_size.py`` measures how often each rejects equal learners.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from bayes_sota.core.errors import InputError

_CONSTANT = "the difference is the same in every fold, and shows no variation to compare it with"


@dataclass(frozen=True)
class DifferenceTest:
    """Test of the difference of two learners.

    Attributes
    ----------
    name : str
        naive or corrected.
    difference : float
        Mean of A minus mean of B over all folds that the test uses.
    statistic : float or None
    df : int
        Degrees of freedom.
    p_value : float or None
        Two-sided; 1 where all differences are 0, None where all are equal and not 0.
    reason : str
        Why there is none, else empty.
    """

    name: str
    difference: float
    statistic: float | None
    df: int
    p_value: float | None
    reason: str = ""


def difference_tests(a: ArrayLike, b: ArrayLike, folds: int) -> list[DifferenceTest]:
    """Both tests of the scores of two learners on one data set.

    Parameters
    ----------
    a, b : array-like, shape (n_iterations, n_folds)
        Scores fold by fold.
    folds : int
        k of the k-fold partitions.

    Returns
    -------
    list of DifferenceTest
        Naive and corrected, over all folds that are not NaN for either.

    Raises
    ------
    InputError
        Scores of different shapes, or fewer than 2 folds that both have.

    Examples
    --------
    >>> scores = np.random.default_rng(0).normal(0.9, 0.01, (2, 6, 2))
    >>> [test.name for test in difference_tests(*scores, folds=2)]
    ['naive', 'corrected']
    """
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.shape != second.shape:
        raise InputError(f"scores of the same folds are needed, got {first.shape}, {second.shape}")
    d = (first - second)[np.isfinite(first - second)]
    if d.size < 2:
        raise InputError(f"a t-test needs at least 2 folds that both learners have, got {d.size}")
    difference, df = float(d.mean()), d.size - 1
    tests = []
    for name, overlap in (("naive", 0.0), ("corrected", 1 / (folds - 1))):
        error = d.std(ddof=1) * np.sqrt(1 / d.size + overlap)
        if error <= 1e-15:
            p, why = (None, _CONSTANT) if np.any(d) else (1.0, "")  # equal throughout is certain
            tests.append(DifferenceTest(name, difference, None, df, p, why))
            continue
        statistic = float(difference / error)
        p = 2 * float(t.sf(abs(statistic), df))
        tests.append(DifferenceTest(name, difference, statistic, df, p))
    return tests
