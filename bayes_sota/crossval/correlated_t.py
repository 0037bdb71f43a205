r"""Difference of two learners on one data set: the correlated Student t (Corani & Benavoli 2015).

The J differences of fold scores share training data. With covariance
:math:`\sigma^2 [(1 - \rho) I + \rho\, 11^T]`, :math:`\rho` assumed, and the prior
:math:`p(\delta, \sigma^2) \propto \sigma^{-2}` (their eqs. 7 to 9)

.. math:: \delta \mid x \sim t_{J - 1}\Big(\bar x,\;
          \Big(\frac1J + \frac{\rho}{1 - \rho}\Big) s^2\Big)

Nadeau & Bengio (2003) take :math:`\rho = n_{test} / (n_{train} + n_{test}) = 1 / k`. Scores do not
identify rho (Bengio & Grandvalet 2004). Repetition removes the term 1/J, of the partitions, but not
the other, of the size of the data: with :math:`\tau^2` the variance of the mean difference of one
iteration and v that of a fold's, the variance after n iterations is :math:`\tau^2 / n + B`,
:math:`B = v \rho / (1 - \rho)`.

The corrected test (Nadeau & Bengio 2003; for repeated cross-validation Bouckaert & Frank 2004) is
the same law: its two-sided p is twice the smaller of P(better) and P(worse). With
:math:`\rho = 0` it is the naive paired t-test, whose p falls towards 0 with the number of
iterations even for equal learners. All levels are approximate.
``tests/crossval/test_correlated_t.py`` compares with baycomp, SciPy, integration and simulation;
``tests/calibration/fold_tests_size.py`` measures how often each test rejects equal learners.
"""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtr, stdtrit

from bayes_sota.core.arguments import ASSURANCE, CORRELATION, NOT_NEGATIVE, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.crossval.fold_scores import FoldScores, place_of

KEPT = 0.95
"""An order that other partitions keep so often is reproducible; so sure, it is decided."""


@dataclass(frozen=True)
class DifferencePosterior:
    """Student t of the true difference A - B of two learners on one data set.

    ``fold_sd`` s is the standard deviation of the differences of folds, ``n_scores`` J, the
    ``correlation`` rho.
    """

    mean: float
    df: int
    fold_sd: float
    n_scores: int
    correlation: float

    @property
    def partition_variance(self) -> float:
        """Variance :math:`s^2 / J` from partitions; it falls with every iteration."""
        return self.fold_sd**2 / self.n_scores

    @property
    def data_variance(self) -> float:
        r"""Variance :math:`s^2 \rho / (1 - \rho)` from the size of the data; it does not fall."""
        return self.fold_sd**2 * self.correlation / (1 - self.correlation)

    @property
    def scale(self) -> float:
        return (self.partition_variance + self.data_variance) ** 0.5

    def p_better(self, rope: float = 0.0) -> float:
        """Probability that A is better than B by more than ``rope``.

        0, 1/2 or 1 where all differences are equal.
        """
        NOT_NEGATIVE.check(rope, "rope")
        if not self.scale:
            return float(self.mean > rope) + 0.5 * float(self.mean == rope == 0)
        return float(stdtr(self.df, (self.mean - rope) / self.scale))

    def rope(self, rope: float) -> dict[str, float]:
        """Probabilities that A is better, that both are equivalent, and that B is better.

        Parameters
        ----------
        rope : float
            Half-width of practical equivalence, in units of the score.

        Examples
        --------
        >>> runs = FoldScores([[[0.8, 0.9], [0.7, 0.9]], [[0.7, 0.8], [0.7, 0.7]]])
        >>> {k: round(p, 3) for k, p in correlated_t(runs).rope(0.05).items()}
        {'a_better': 0.689, 'equivalent': 0.212, 'b_better': 0.099}
        """
        a, b = self.p_better(rope), replace(self, mean=-self.mean).p_better(rope)
        return {"a_better": a, "equivalent": max(0.0, 1 - a - b), "b_better": b}

    def interval(self, ci_prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval of the difference."""
        OPEN_SHARE.check(ci_prob, "ci_prob")
        half = float(stdtrit(self.df, (1 + ci_prob) / 2)) * self.scale
        return self.mean - half, self.mean + half


def correlated_t(
    fold_scores: FoldScores,
    a: int | str = 0,
    b: int | str = 1,
    *,
    task: int | str = 0,
    correlation: float | None = None,
) -> DifferencePosterior:
    """Posterior of the difference A - B on one data set.

    Parameters
    ----------
    fold_scores : FoldScores
        Folds that one of the two lacks are left out.
    a, b, task : int or str
        Learners and data set.
    correlation : float, optional
        rho of two fold scores, which is assumed; default 1 / k. With 0 the folds are independent,
        as in the naive paired t-test.

    Returns
    -------
    DifferencePosterior
        With one value per iteration, folds of one iteration are taken to correlate like folds of
        different ones: :math:`s^2` is k times the variance of the I values, J = I k, df = I - 1.

    Raises
    ------
    InputError
        An unknown name, fewer than two scores of both, rho outside [0, 1).

    Examples
    --------
    >>> runs = FoldScores([[[0.8, 0.9], [0.7, 0.9]], [[0.7, 0.8], [0.7, 0.7]]], learners=["a", "b"])
    >>> test = correlated_t(runs, "a", "b")
    >>> round(test.mean, 3), round(test.scale, 4), test.df, round(test.p_better(), 3)
    (0.1, 0.0913, 3, 0.823)
    """
    folds, columns = fold_scores.folds, fold_scores.scores.shape[3]
    scores = fold_scores.scores[place_of(task, fold_scores.tasks, "data set")]
    first, second = (scores[place_of(name, fold_scores.learners, "learner")] for name in (a, b))
    rho = 1 / folds if correlation is None else CORRELATION.check(correlation, "correlation")
    return _posterior(first - second, folds if columns == 1 else 1, rho)


def _posterior(differences: FloatArray, folds: int, rho: float) -> DifferencePosterior:
    """Posterior from differences, each the mean of several folds."""
    d = differences[np.isfinite(differences)]
    if d.size < 2:
        raise InputError(f"at least 2 folds that both learners have are needed, got {d.size}")
    sd = float(d.std(ddof=1) * np.sqrt(folds))
    return DifferencePosterior(float(d.mean()), d.size - 1, sd, d.size * folds, rho)


def difference_tests(a: ArrayLike, b: ArrayLike, folds: int) -> list[dict[str, Any]]:
    """Paired t-tests of the scores of two learners on one data set.

    Parameters
    ----------
    a, b : array-like, shape (n_iterations, n_folds)
        Scores of the same folds; those that one of the two lacks are left out.
    folds : int

    Returns
    -------
    list of dict
        ``name`` "naive", for independent folds, and "corrected"; ``difference``, ``statistic``,
        ``df``, and the two-sided ``p_value``, None where the difference is the same in every fold.

    Examples
    --------
    >>> tests = difference_tests([[0.8, 0.9], [0.7, 0.9]], [[0.7, 0.8], [0.7, 0.7]], folds=2)
    >>> [round(test["p_value"], 3) for test in tests]
    [0.092, 0.353]
    """
    tests = list[dict[str, Any]]()
    for name, rho in (("naive", 0.0), ("corrected", 1 / folds)):
        found = _posterior(np.subtract(a, b, dtype=np.float64), 1, rho)
        t = found.mean / found.scale if found.scale > 1e-15 else None
        p = (None if found.mean else 1.0) if t is None else 2 * float(stdtr(found.df, -abs(t)))
        row = {"name": name, "difference": found.mean, "statistic": t, "df": found.df}
        tests.append(row | {"p_value": p})
    return tests


def iterations_needed(
    difference: float, partition_sd: float, data_sd: float, probability: float = 0.95
) -> int | None:
    r"""Least number of iterations until P(better) would reach a probability; None if none does.

    .. math:: n \ge \frac{\tau^2}{(d / z)^2 - B}, \quad z = \Phi^{-1}(p)

    Parameters
    ----------
    difference : float
        d, expected after endless repetition.
    partition_sd : float
        :math:`\tau`, standard deviation of the mean difference of one iteration.
    data_sd : float
        :math:`\sqrt B`, standard deviation from the size of the data.
    probability : float
        p, above 1/2.

    Examples
    --------
    >>> iterations_needed(0.03, 0.02, 0.015), iterations_needed(0.02, 0.02, 0.015)
    (4, None)
    """
    ASSURANCE.check(probability, "probability")
    room = (difference / float(ndtri(probability))) ** 2 - data_sd**2
    needed = partition_sd**2 / room if room > 0 else np.inf
    return max(1, ceil(needed - 1e-9)) if needed < np.inf else None


def outlook(
    p_better: float, difference: float, partition_variance: float, data_variance: float, n: int
) -> dict[str, Any]:
    """Whether the order of a pair is decided after n iterations, and how many would decide it.

    ``partition_share`` is the share of the variance that more iterations would remove.
    """
    whole = partition_variance / n + data_variance
    sds = partition_variance**0.5, data_variance**0.5
    return {
        "partition_share": partition_variance / n / whole if whole else 0.0,
        "decided": max(p_better, 1 - p_better) >= KEPT,
        "iterations_needed": iterations_needed(difference, *sds, KEPT),
    }


def running_posteriors(
    differences: ArrayLike, folds: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """P(better) and its variances as ``correlated_t`` gives them after each iteration.

    ``differences`` (..., n_iterations, n_folds) are complete; with n_folds = 1 of whole iterations.
    The arrays (..., n_iterations) are ``p_better`` and the variances from partitions, NaN for one
    iteration, and from the size of the data, NaN for one score.

    Examples
    --------
    >>> p_better, partitions, data = running_posteriors([[0.1, 0.1], [0.0, 0.2]], folds=2)
    >>> p_better.round(3).tolist(), data.round(4).tolist()
    ([1.0, 0.823], [0.0, 0.0067])
    """
    d = np.asarray(differences, np.float64)
    n, columns = np.arange(1, d.shape[-2] + 1), d.shape[-1]
    size, per_value = n * columns, folds if columns == 1 else 1
    middle = d.sum(axis=(-2, -1), keepdims=True) / max(1, d.shape[-2] * columns)
    total = (d - middle).sum(axis=-1)
    square = _spread(((d - middle) ** 2).sum(axis=-1), total, size) * per_value
    mean, data = total.cumsum(axis=-1) / size + middle[..., 0], square / (folds - 1)
    scale, certain = np.sqrt(square / (size * per_value) + data), 1e300 * np.sign(mean.round(12))
    t = np.divide(mean, scale, out=certain, where=scale > 0)
    p_better = np.where(np.isnan(scale), 0.5, stdtr(size - 1, t))
    return p_better, _spread((total / columns) ** 2, total / columns, n) / n, data


def _spread(squares: FloatArray, sums: FloatArray, size: IntArray) -> FloatArray:
    """Variance of the first values, from their squares and sums up to each iteration."""
    left = squares.cumsum(axis=-1) - sums.cumsum(axis=-1) ** 2 / size
    left = np.where(left < 1e-24 * size, 0.0, left)
    unknown = np.full(left.shape, np.nan)
    return np.divide(left, size - 1, out=unknown, where=size > 1)


def other_seed_probability(
    difference: float, partition_sd: float, iterations: int, canonical: int
) -> float:
    r"""Probability that a run with another seed reverses the order of two learners.

    A run of c iterations on the same data, given the mean difference d of n, is about

    .. math:: t_{n - 1}\Big(d,\; \tau^2 \Big(\frac1c + \frac1n\Big)\Big)

    for normal differences of iterations, of standard deviation :math:`\tau`.

    Parameters
    ----------
    difference, partition_sd : float
        d and :math:`\tau`.
    iterations, canonical : int
        n and c.

    Returns
    -------
    float
        1/2 where d is 0; NaN for one iteration.

    Examples
    --------
    >>> round(other_seed_probability(0.01, 0.01, 30, 1), 3)
    0.167
    """
    spread = partition_sd * np.sqrt(1 / canonical + 1 / iterations)
    if not spread:
        return 0.0 if difference else 0.5
    return float(stdtr(iterations - 1, -abs(difference) / spread))
