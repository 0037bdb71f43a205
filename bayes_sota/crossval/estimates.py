r"""Estimates on each data set, differences of two learners, and comparisons across data sets.

The *steady state* is the mean of all iterations, a *canonical* estimate the mean of the few that
papers report: 1 x 10-fold, 2 x 5-fold, 5 x 2-fold (Raeder, Hoens and Chawla 2010, Section II).
Iterations are independent given the data, so the standard error :math:`s / \sqrt{n}` of their mean
is right for the effect of partitions, and for nothing else.

The J differences of the fold scores of two learners share training data. With covariance
:math:`\sigma^2 [(1 - \rho) I + \rho\, 11^T]`, :math:`\rho` assumed, and the prior
:math:`p(\delta, \sigma^2) \propto \sigma^{-2}` (Corani & Benavoli 2015, eqs. 7 to 9)

.. math:: \delta \mid x \sim t_{J - 1}\Big(\bar x,\;
          \Big(\frac1J + \frac{\rho}{1 - \rho}\Big) s^2\Big)

Nadeau & Bengio (2003) take :math:`\rho = n_{test} / (n_{train} + n_{test}) = 1 / k`. Scores do not
identify rho (Bengio & Grandvalet 2004). Their corrected test (for repeated cross-validation
Bouckaert & Frank 2004) is the same law: its two-sided p is twice the smaller of P(better) and
P(worse). With :math:`\rho = 0` it is the naive paired t-test, whose p falls towards 0 with the
number of iterations even for equal learners. All levels are approximate.

Across data sets: ranks (Demsar 2006), verdicts that change with the seed (Raeder et al., Table II),
and bias by the number of folds (Table I) or against true test sets (Tables IV and V).
``tests/crossval/test_estimates.py`` compares with SciPy, exact probabilities and Demsar's example,
``test_correlated_t.py`` with baycomp, integration and simulation;
``tests/calibration/fold_tests_size.py`` measures how often each test rejects equal learners.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtr, stdtrit
from scipy.stats import chi2, norm, rankdata, shapiro, skew, skewtest, studentized_range, wilcoxon

from bayes_sota.core.arguments import CORRELATION, LEVEL, NOT_NEGATIVE, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels
from bayes_sota.core.types import FloatArray
from bayes_sota.crossval.fold_scores import FoldScores, place_of
from bayes_sota.data.tables import labelled_matrix

_FEWEST_ITERATIONS = 8  # of D'Agostino's test
_DRAWS = 4000  # random canonical runs of several iterations
_LEVEL = 0.05  # of skewness, over all learners and data sets


def canonical_iterations(folds: int) -> int:
    """Iterations of a canonical run, of about ten fits: 1 of 10 folds, 2 of 5, 5 of 2.

    Examples
    --------
    >>> canonical_iterations(10), canonical_iterations(5), canonical_iterations(2)
    (1, 2, 5)
    """
    return max(1, round(10 / folds))


def steady_state(scores: FoldScores) -> SimpleNamespace:
    """Describe the scores of iterations of every learner on every data set.

    Returns
    -------
    namespace
        Arrays (n_tasks, n_learners): ``n_iterations``, the complete ones; their ``mean`` (the
        steady state), ``median`` and ``sd``; ``standard_error`` of the mean, over partitions of the
        same data; ``canonical``, the mean of the first iterations, as many as a canonical run has;
        ``p_canonical_above``, the probability that such a run exceeds the steady mean;
        ``skewness``, corrected for bias (G1); ``skewed``, whether it is more than two of its
        standard errors from 0; ``p_skewness``, two-sided, of D'Agostino's test of no skewness, NaN
        for fewer than 8 iterations or equal scores; ``p_normal``, of Shapiro and Wilk's test.

    Examples
    --------
    >>> scores = FoldScores(np.random.default_rng(0).normal(0.9, 0.01, (1, 50, 10)))
    >>> state = steady_state(scores)
    >>> state.mean.round(4).tolist(), state.p_canonical_above.tolist()
    ([[0.8997]], [[0.54]])
    """
    means, size = scores.iteration_means(), canonical_iterations(scores.folds)
    rows = [_described(one[np.isfinite(one)], size) for one in means.reshape(-1, means.shape[2])]
    return SimpleNamespace(
        **{name: np.reshape([row[name] for row in rows], means.shape[:2]) for name in rows[0]}
    )


def sample_sd(values: FloatArray) -> float:
    """Standard deviation; 0 of equal values, NaN of one."""
    if len(values) < 2:
        return float("nan")
    return float(values.std(ddof=1)) if np.ptp(values) else 0.0


def _described(values: FloatArray, size: int) -> dict[str, Any]:
    n, sd = len(values), sample_sd(values)
    varies = n > 2 and float(np.ptp(values)) > 1e-12
    error = np.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3))) if n > 2 else np.inf
    skewness = skew(values, bias=False) if varies else 0.0 if n > 2 else np.nan
    above = np.nan
    if n > size:
        # With replacement: else half of all iterations exceed the mean in half of the runs.
        draws = np.random.default_rng(0).choice(values, (_DRAWS, size)) if size > 1 else values
        above = np.mean(draws.reshape(len(draws), -1).mean(axis=1) > values.mean() + 1e-12)
    known = values if n else np.array([np.nan])
    return {
        "n_iterations": n,
        "mean": known.mean(),
        "median": np.median(known),
        "sd": sd,
        "standard_error": sd / np.sqrt(max(n, 1)),
        "canonical": known[:size].mean() if n >= size else np.nan,
        "p_canonical_above": above,
        "skewness": skewness,
        "skewed": abs(skewness) > 2 * error,
        "p_skewness": skewtest(values).pvalue if varies and n >= _FEWEST_ITERATIONS else np.nan,
        "p_normal": shapiro(values).pvalue if varies else np.nan,
    }


def running_means(
    scores: FoldScores, learner: int | str, task: int | str = 0, ci_prob: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    r"""Mean score after every iteration, in their order, with the interval of other partitions.

    Parameters
    ----------
    scores : FoldScores
    learner, task : int or str
    ci_prob : float

    Returns
    -------
    mean : ndarray, shape (n_iterations,)
    interval : ndarray, shape (n_iterations, 2)
        :math:`\bar x \pm z \, s / \sqrt{n}` with the mean and the standard deviation of all
        iterations: where the mean of n new partitions lies.

    Examples
    --------
    >>> running_means(FoldScores([[[0.8, 0.9], [0.7, 0.9], [0.8, 0.7]]]), 0)[0].round(3).tolist()
    [0.85, 0.825, 0.8]
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    row = place_of(task, scores.tasks, "data set"), place_of(learner, scores.learners, "learner")
    values = scores.iteration_means()[row]
    values = values[np.isfinite(values)]
    numbers = np.arange(1, len(values) + 1)
    half = ndtri((1 + ci_prob) / 2) * sample_sd(values) / np.sqrt(numbers)
    return values.cumsum() / numbers, values.mean() + np.stack([-half, half], axis=1)


def learner_rows(scores: FoldScores, **more: ArrayLike) -> Iterator[dict[str, Any]]:
    """Estimates of every learner on every data set, the best first, and ``more`` numbers.

    "skewed" allows for the number of tests: their number times D'Agostino's p is at most .05.
    """
    state = steady_state(scores)
    arrays = vars(state) | {name: np.asarray(values) for name, values in more.items()}
    for t, task in enumerate(scores.tasks):
        ranks = [rankdata(-np.round(values[t], 12)) for values in (state.mean, state.median)]
        for j in np.argsort(ranks[0], kind="stable"):
            row = {name: values[t, j].item() for name, values in arrays.items()}
            yield {
                "task": task,
                "learner": scores.learners[j],
                "rank": float(ranks[0][j]),
                "rank_by_median": float(ranks[1][j]),
                "steady": row.pop("mean"),
                **row,
                "skewed": row["p_skewness"] * state.mean.size <= _LEVEL,
            }


@dataclass(frozen=True)
class DifferencePosterior:
    """Student t of the true difference A - B of two learners on one data set.

    ``fold_sd`` is s, ``n_scores`` J, ``correlation`` rho.
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
        """Probability that A is better than B by more than ``rope``."""
        NOT_NEGATIVE.check(rope, "rope")
        if not self.scale:
            return float(self.mean > rope) + 0.5 * float(self.mean == rope == 0)
        return float(stdtr(self.df, (self.mean - rope) / self.scale))

    def rope(self, rope: float) -> dict[str, float]:
        """Probabilities that A is better, that both are equivalent, and that B is better.

        ``rope`` is the half-width of practical equivalence, in units of the score.
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
        rho of two fold scores, which is assumed; default 1 / k. With 0 the folds are independent.

    Returns
    -------
    DifferencePosterior
        With one value per iteration, :math:`s^2` is k times the variance of the I values, J = I k,
        df = I - 1.

    Raises
    ------
    InputError
        An unknown name, fewer than two scores of both, rho outside [0, 1).

    Examples
    --------
    >>> runs = FoldScores([[[0.8, 0.9], [0.7, 0.9]], [[0.7, 0.8], [0.7, 0.7]]], learners=["a", "b"])
    >>> test = correlated_t(runs, "a", "b")
    >>> round(test.mean, 3), test.df, round(test.p_better(), 3)
    (0.1, 3, 0.823)
    >>> {k: round(p, 3) for k, p in test.rope(0.05).items()}
    {'a_better': 0.689, 'equivalent': 0.212, 'b_better': 0.099}
    """
    folds, columns = fold_scores.folds, fold_scores.scores.shape[3]
    scores = fold_scores.scores[place_of(task, fold_scores.tasks, "data set")]
    first, second = (scores[place_of(name, fold_scores.learners, "learner")] for name in (a, b))
    rho = 1 / folds if correlation is None else CORRELATION.check(correlation, "correlation")
    return _posterior(first - second, folds if columns == 1 else 1, rho)


def _posterior(differences: FloatArray, folds: int, rho: float) -> DifferencePosterior:
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
        Folds that one of the two lacks are left out.
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


_studentized = cache(studentized_range.ppf)
_FEWEST_TASKS = 6  # of Wilcoxon's test: with fewer, p is never below .05


def average_ranks(
    values: ArrayLike, names: Sequence[str] | None = None, level: float = 0.05
) -> SimpleNamespace:
    r"""Rank alternatives on every data set and average the ranks.

    Critical differences are :math:`q \sqrt{k (k + 1) / (6 N)}`, with :math:`q` for Nemenyi the
    quantile of the studentized range over :math:`\sqrt 2`, for Bonferroni and Dunn the normal
    quantile of :math:`1 - \alpha / (2 (k - 1))` (Demsar 2006).

    Parameters
    ----------
    values : array-like, shape (n_tasks, k)
    names : sequence of str, optional
    level : float

    Returns
    -------
    namespace
        ``names``; ``ranks`` (k,), averaged over ``n_tasks`` data sets: 1 is the highest value;
        ``chi_squared`` and ``p_value`` of Friedman's test, corrected for ties, None where
        everything ties; ``nemenyi`` (all pairs) and ``bonferroni_dunn`` (all against one).

    Raises
    ------
    InputError
        Fewer than 2 data sets or 2 alternatives, or missing values.

    Examples
    --------
    >>> ranked = average_ranks(np.random.default_rng(0).random((20, 3)))
    >>> round(ranked.nemenyi, 3), round(ranked.bonferroni_dunn, 4)
    (0.741, 0.7088)
    """
    LEVEL.check(level, "level")
    numbers, names = _alternatives(values, names)
    if min(numbers.shape) < 2 or not np.isfinite(numbers).all():
        need = "complete values of at least 2 data sets and 2 alternatives"
        raise InputError(f"ranks over data sets need {need}, got the shape {numbers.shape}")
    n, k = numbers.shape
    ranks = rankdata(-np.round(numbers, 12), axis=1)
    mean, unit = ranks.mean(axis=0), float(np.sqrt(k * (k + 1) / (6 * n)))
    spread = float(((ranks - (k + 1) / 2) ** 2).sum()) / (n * (k - 1))
    chi_squared = p_value = None
    if spread:
        # Equals 12 n / (k (k + 1)) times the squares where nothing ties.
        chi_squared = n * float(((mean - (k + 1) / 2) ** 2).sum()) / spread
        p_value = float(chi2.sf(chi_squared, k - 1))
    return SimpleNamespace(
        names=names,
        ranks=mean,
        n_tasks=n,
        nemenyi=float(_studentized(1 - level, k, np.inf) / np.sqrt(2)) * unit,
        bonferroni_dunn=float(norm.isf(level / (2 * (k - 1)))) * unit,
        level=level,
        chi_squared=chi_squared,
        p_value=p_value,
    )


def signed_rank_tests(
    values: ArrayLike, names: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Test every two alternatives by Wilcoxon's signed ranks, as Demsar (2006) advises.

    p-values are not corrected for the number of pairs.

    Parameters
    ----------
    values : array-like, shape (n_tasks, k)
        NaN where one is missing.
    names : sequence of str, optional

    Returns
    -------
    list of dict
        In the order of ``itertools.combinations``: ``a``, ``b``; ``n_tasks`` with values of both,
        ``n_ahead`` on which A is better, ``n_tied``, which take no part; ``median_difference``; the
        two-sided ``p_value``, None for fewer than 6 data sets, where it cannot be below .05.

    Examples
    --------
    >>> values = 0.9 + np.arange(16).reshape(8, 2) ** 2 / 1000
    >>> signed_rank_tests(values)[0]["p_value"], signed_rank_tests(values[:5])[0]["p_value"]
    (0.0078125, None)
    """
    numbers, labels = _alternatives(values, names)
    tests = list[dict[str, Any]]()
    for a, b in combinations(range(len(labels)), 2):
        gaps = numbers[:, a] - numbers[:, b]
        known = np.round(gaps[np.isfinite(gaps)], 12)
        tests.append(
            {
                "a": labels[a],
                "b": labels[b],
                "n_tasks": known.size,
                "n_ahead": int((known > 0).sum()),
                "n_tied": int((known == 0).sum()),
                "median_difference": float(np.median(known)) if known.size else None,
                "p_value": signed_ranks(known)[0],
            }
        )
    return tests


def _alternatives(values: Any, names: Sequence[str] | None) -> tuple[FloatArray, tuple[str, ...]]:
    meaning = "values are a matrix of numbers, data sets x alternatives"
    numbers, columns, _ = labelled_matrix(values, meaning)
    names = columns if names is None else names
    return numbers, checked_labels(names, numbers.shape[1], "alternative")


def seed_verdicts(scores: FoldScores, a: int | str, b: int | str) -> dict[str, Any]:
    """Test across data sets with one iteration of each, for every iteration.

    An iteration stands for a seed that all data sets share; a and b are learners.

    Returns
    -------
    dict
        ``p_values`` (n_iterations,) of Wilcoxon's signed rank test across data sets, two-sided;
        ``a_wins`` and ``b_wins``, shares of the seeds whose test at 5 % prefers A, and B;
        ``contradiction``, the share of pairs of seeds that say A and B.

    Raises
    ------
    InputError
        Fewer than 6 data sets, or fewer than two iterations that all data sets have.

    Examples
    --------
    >>> noise = np.random.default_rng(2).normal(0, 0.01, (8, 2, 200, 2))
    >>> verdicts = seed_verdicts(FoldScores(0.9 + noise), 0, 1)
    >>> verdicts["a_wins"], verdicts["b_wins"], round(verdicts["contradiction"], 5)
    (0.025, 0.005, 0.00025)
    """
    if len(scores.tasks) < _FEWEST_TASKS:
        raise InputError(f"Wilcoxon's test needs 6 data sets, got {len(scores.tasks)}")
    means = scores.iteration_means()
    first, second = (place_of(name, scores.learners, "learner") for name in (a, b))
    d = np.round(means[:, first] - means[:, second], 12)
    d = d[:, np.isfinite(d).all(axis=0)]
    n = d.shape[1]
    if n < 2:
        raise InputError("fewer than 2 iterations are complete on all data sets")
    tests = [signed_ranks(one) for one in d.T]
    p_values, signs = np.array([(1.0 if p is None else p, sign) for p, sign in tests]).T
    of_a, of_b = (int(np.sum((p_values <= 0.05) & (signs == sign))) for sign in (1, -1))
    return {
        "p_values": p_values,
        "a_wins": of_a / n,
        "b_wins": of_b / n,
        "contradiction": 2 * of_a * of_b / (n * (n - 1)),
    }


def signed_ranks(differences: FloatArray) -> tuple[float | None, int]:
    """Two-sided p of Wilcoxon's test, None for fewer than 6 nonzeros; sign of its rank sum."""
    d = differences[differences != 0]
    sign = int(np.sign(np.sign(d) @ rankdata(np.abs(d))))
    return float(wilcoxon(d).pvalue) if d.size >= _FEWEST_TASKS else None, sign


def fold_bias(runs: Sequence[FoldScores]) -> dict[str, dict[str, SimpleNamespace]]:
    """Rank numbers of folds by their estimates, for every learner; rank 1 is the highest.

    Parameters
    ----------
    runs : sequence of FoldScores
        The same learners and data sets with different numbers of folds, such as 2, 5 and 10.

    Returns
    -------
    dict
        Learner -> "canonical" or "steady" -> ranks of the numbers of folds (``average_ranks``).

    Raises
    ------
    InputError
        Other learners or data sets, the same number of folds twice, or fewer than 2 data sets.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 12, 1, 20, 1))
    >>> runs = [FoldScores(0.9 + noise[0], folds=2), FoldScores(0.92 + noise[1], folds=10)]
    >>> fold_bias(runs)["1"]["steady"].ranks.tolist()
    [2.0, 1.0]
    """
    folds = [one.folds for one in runs]
    if len(set(folds)) < 2 or len({(one.learners, one.tasks) for one in runs}) > 1:
        raise InputError("runs must differ in the number of folds, and in nothing else")
    states, names = [steady_state(one) for one in runs], [f"{k} folds" for k in folds]
    both = {"canonical": [one.canonical for one in states], "steady": [one.mean for one in states]}
    return {
        learner: {
            kind: average_ranks(np.stack(values, axis=2)[:, j], names)
            for kind, values in both.items()
        }
        for j, learner in enumerate(runs[0].learners)
    }


def against_truth(scores: FoldScores, truth: ArrayLike) -> dict[str, dict[str, Any]]:
    """Compare canonical and steady-state estimates with scores on true test sets.

    Parameters
    ----------
    scores : FoldScores
    truth : array-like, shape (n_tasks, n_learners)
        Score of each learner, trained on all items; a data frame may have them in any order.

    Returns
    -------
    dict
        "canonical" and "steady", each with ``errors`` (n_tasks, n_learners), estimates minus truth,
        with the noise of the test sets; ``bias`` and ``mse`` (n_learners,), their means and mean
        squares over data sets; and ``same_best``, the share of the data sets on which the learner
        with the highest estimate is the best.

    Examples
    --------
    >>> scores = FoldScores([[[0.8, 0.9], [0.7, 0.9]], [[0.7, 0.8], [0.7, 0.7]]])
    >>> against_truth(scores, [[0.9, 0.8]])["steady"]["bias"].round(3).tolist()
    [-0.075, -0.075]
    """
    need = f"the truth is one score of every learner on every data set, {scores.scores.shape[:2]}"
    true, columns, rows = labelled_matrix(truth, need)
    for axis, own, names in ((0, scores.tasks, rows), (1, scores.learners, columns)):
        if names and set(names) == set(own):
            true = true.take([names.index(name) for name in own], axis)
    if true.shape != scores.scores.shape[:2] or not np.isfinite(true).all():
        raise InputError(f"{need}; got the shape {true.shape}")
    compared, state = dict[str, dict[str, Any]](), steady_state(scores)
    for kind, estimates in (("canonical", state.canonical), ("steady", state.mean)):
        errors = estimates - true
        compared[kind] = {
            "errors": errors,
            "bias": errors.mean(axis=0),
            "mse": (errors**2).mean(axis=0),
            "same_best": float((estimates.argmax(axis=1) == true.argmax(axis=1)).mean()),
        }
    return compared
