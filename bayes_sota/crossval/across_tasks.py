r"""Learners, or numbers of folds, compared across data sets.

Ranks with Friedman's test and the critical differences of Nemenyi (all pairs) and of Bonferroni and
Dunn (against one), as Demsar (2006) describes them; and the verdicts of Wilcoxon's signed rank test
that one seed after the other would give, which may contradict each other (Raeder, Hoens and Chawla
2010, Table II); and estimates that are too high or too low, against each other by the number of
folds (Table I) and against a true test set (Tables IV and V). The distributions are SciPy's;
``tests/crossval/test_across_tasks.py`` has Demsar's example, his table of critical values, a
simulation, and learners whose bias is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2, f, norm, rankdata, studentized_range, wilcoxon

from bayes_sota.core.arguments import LEVEL
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels, counted
from bayes_sota.core.types import FloatArray
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.shape import steady_state

_VERDICT = ("a_wins", "b_wins", "contradiction")
_TASKS_OF_VERDICTS = 6  # below, Wilcoxon's test cannot be significant at 5 %


@dataclass(frozen=True, eq=False)
class AverageRanks:
    """Ranks averaged over data sets, with what they must differ by.

    Attributes
    ----------
    names : tuple of str
    ranks : ndarray, shape (k,)
        1 is the highest value; ties share the mean of their ranks.
    n_tasks : int
    chi_squared, p_value : float or None
        Friedman's test, corrected for ties.
    f_statistic, f_p_value : float or None
        Iman and Davenport's, which is less conservative.
    nemenyi, bonferroni_dunn : float
        Critical differences of two ranks: of all pairs, and of all against one.
    level : float
    reason : str
        Why there is no test, else empty: all alternatives tie on all data sets.
    """

    names: tuple[str, ...]
    ranks: FloatArray
    n_tasks: int
    chi_squared: float | None
    p_value: float | None
    f_statistic: float | None
    f_p_value: float | None
    nemenyi: float
    bonferroni_dunn: float
    level: float
    reason: str = ""

    def groups(self) -> list[tuple[int, ...]]:
        """Largest groups whose ranks differ by less than Nemenyi's difference, as places."""
        order = np.argsort(self.ranks, kind="stable")
        tied: list[tuple[int, ...]] = []
        for first, place in enumerate(order):
            near = self.ranks[order[first:]] - self.ranks[place] < self.nemenyi
            last = first + int(near.sum())
            if last - first > 1 and (not tied or int(order[last - 1]) not in tied[-1]):
                tied.append(tuple(int(k) for k in order[first:last]))
        return tied


def average_ranks(
    values: ArrayLike, names: Sequence[str] | None = None, level: float = 0.05
) -> AverageRanks:
    r"""Rank alternatives on every data set and average the ranks.

    Critical differences are :math:`q \sqrt{k (k + 1) / (6 N)}`, where :math:`q` is for Nemenyi the
    quantile of the studentized range over :math:`\sqrt 2`, and for Bonferroni and Dunn the normal
    quantile of :math:`1 - \alpha / (2 (k - 1))`.

    Parameters
    ----------
    values : array-like, shape (n_tasks, k)
    names : sequence of str, optional
    level : float

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
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 2 or min(numbers.shape) < 2 or not np.isfinite(numbers).all():
        raise InputError(
            "ranks over data sets need complete values of at least 2 data sets and 2 alternatives, "
            f"got the shape {numbers.shape}"
        )
    n, k = numbers.shape
    ranks = rankdata(-np.round(numbers, 12), axis=1)
    mean, centred = ranks.mean(axis=0), ranks - (k + 1) / 2
    spread = float((centred**2).sum()) / (n * (k - 1))
    unit = float(np.sqrt(k * (k + 1) / (6 * n)))
    return AverageRanks(
        checked_labels(names, k, "alternative"),
        mean,
        n,
        *_friedman(mean, spread, n),
        _studentized(level, k) * unit,
        float(norm.isf(level / (2 * (k - 1)))) * unit,
        level,
        "" if spread else "all alternatives tie on all data sets",
    )


def _friedman(
    ranks: FloatArray, spread: float, n: int
) -> tuple[float | None, float | None, float | None, float | None]:
    """Friedman's statistic and p, and Iman and Davenport's, of mean ranks on n data sets."""
    if not spread:
        return None, None, None, None
    k = ranks.size
    # Equals 12 n / (k (k + 1)) times the squares where nothing ties.
    chi_squared = n * float(((ranks - (k + 1) / 2) ** 2).sum()) / spread
    rest = n * (k - 1) - chi_squared
    f_statistic = np.inf if rest <= 1e-12 else (n - 1) * chi_squared / rest
    f_p_value = float(f.sf(f_statistic, k - 1, (k - 1) * (n - 1)))
    return chi_squared, float(chi2.sf(chi_squared, k - 1)), f_statistic, f_p_value


@cache
def _studentized(level: float, k: int) -> float:
    return float(studentized_range.ppf(1 - level, k, np.inf) / np.sqrt(2))


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's signed rank test of two alternatives over data sets.

    Attributes
    ----------
    a, b : str
    n_tasks : int
        Data sets with values of both.
    n_ahead, n_tied : int
        Data sets on which A is better, and on which both are equal, which take no part.
    median_difference : float or None
        Of A less B; None where no data set has both.
    p_value : float or None
        Two-sided.
    reason : str
        Why there is none, else empty.
    """

    a: str
    b: str
    n_tasks: int
    n_ahead: int
    n_tied: int
    median_difference: float | None
    p_value: float | None
    reason: str = ""


def signed_rank_tests(
    values: ArrayLike, names: Sequence[str] | None = None, level: float = 0.05
) -> list[SignedRanks]:
    """Test every two alternatives by Wilcoxon's signed ranks, as Demsar (2006) advises.

    Of steady states (``steady_state(scores).mean``) no single partition decides the verdict. It is
    about data sets like these, and p-values are not corrected for the number of pairs.

    Parameters
    ----------
    values : array-like, shape (n_tasks, k)
        NaN where one is missing.
    names : sequence of str, optional
    level : float
        A test that cannot reach it, whatever the values, is not made.

    Returns
    -------
    list of SignedRanks
        In the order of ``itertools.combinations``.

    Examples
    --------
    >>> values = 0.9 + np.arange(16).reshape(8, 2) ** 2 / 1000
    >>> signed_rank_tests(values)[0].p_value, signed_rank_tests(values[:5])[0].p_value
    (0.0078125, None)
    >>> signed_rank_tests(values[:1])[0].reason
    '1 data set on which they differ is too few: at least 6 can be significant at 0.05'
    """
    LEVEL.check(level, "level")
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 2 or numbers.shape[1] < 2:
        raise InputError(
            "signed ranks need values (data set, alternative) of at least 2 alternatives, got the "
            f"shape {numbers.shape}"
        )
    labels = checked_labels(names, numbers.shape[1], "alternative")
    return [
        _signed_ranks(labels[a], labels[b], np.round(numbers[:, a] - numbers[:, b], 12), level)
        for a, b in combinations(range(len(labels)), 2)
    ]


def _signed_ranks(a: str, b: str, differences: FloatArray, level: float) -> SignedRanks:
    known = differences[np.isfinite(differences)]
    d = known[known != 0]
    least = _least_tasks(level)
    p, why = None, ""
    if not known.size:
        why = "no data set has values of both"
    elif not d.size:
        why = f"they are equal on {counted(known.size, 'data set')}"
    elif d.size < least:
        many = counted(d.size, "data set")
        why = f"{many} on which they differ {'is' if d.size == 1 else 'are'} too few: at least "
        why += f"{least} can be significant at {level:g}"
    else:
        p = float(wilcoxon(d).pvalue)
    median = float(np.median(known)) if known.size else None
    ahead = int((d > 0).sum())
    return SignedRanks(a, b, known.size, ahead, known.size - d.size, median, p, why)


def _least_tasks(level: float) -> int:
    """Data sets from which on Wilcoxon's test can be significant."""
    return int(np.ceil(1 - np.log2(level)))


@dataclass(frozen=True, eq=False)
class SeedVerdicts:
    """What one seed after the other would publish about two learners.

    Attributes
    ----------
    p_values : ndarray, shape (n_iterations,)
        Wilcoxon's signed rank test across data sets, two-sided, one iteration each.
    a_wins, b_wins : float
        Shares of the seeds whose test is significant for A, and for B.
    contradiction : float
        Probability that of two seeds one says A and the other B.
    level : float
    """

    p_values: FloatArray
    a_wins: float
    b_wins: float
    contradiction: float
    level: float


def seed_verdicts(scores: FoldScores, a: int, b: int, level: float = 0.05) -> SeedVerdicts:
    """Test across data sets with one iteration of each, for every iteration.

    An iteration stands for a seed that all data sets share. Of pairs of seeds,
    ``2 n_A n_B / (n (n - 1))`` contradict each other.

    Parameters
    ----------
    scores : FoldScores
    a, b : int
        Places of the learners.
    level : float

    Raises
    ------
    InputError
        Too few data sets for the test to reach the level, or fewer than two iterations that all
        data sets have.

    Examples
    --------
    >>> noise = np.random.default_rng(2).normal(0, 0.01, (8, 2, 200, 2))
    >>> verdicts = seed_verdicts(FoldScores(0.9 + noise), 0, 1)
    >>> verdicts.a_wins, verdicts.b_wins, round(verdicts.contradiction, 5)
    (0.025, 0.005, 0.00025)
    """
    LEVEL.check(level, "level")
    n_tasks = len(scores.tasks)
    if 2.0 ** (1 - n_tasks) > level:
        raise InputError(
            f"Wilcoxon's test across {n_tasks} data sets cannot be significant at {level:g}: "
            f"at least {_least_tasks(level)} are needed"
        )
    means = scores.iteration_means()
    d = np.round(means[:, a] - means[:, b], 12)
    d = d[:, np.isfinite(d).all(axis=0)]
    if d.shape[1] < 2:
        raise InputError("fewer than 2 iterations are complete on all data sets")
    p_values = np.array([wilcoxon(one).pvalue if np.any(one) else 1.0 for one in d.T])
    # The sign of the rank sum, which the test is about, not of the mean.
    ahead = np.array([signed_rank_sum(one) for one in d.T])
    n = d.shape[1]
    first, second = (int(np.sum((p_values <= level) & (ahead * sign > 0))) for sign in (1, -1))
    contradiction = 2 * first * second / (n * (n - 1))
    return SeedVerdicts(p_values, first / n, second / n, contradiction, level)


def signed_rank_sum(d: FloatArray) -> float:
    """Sum of the ranks of positive differences less that of negative ones, ties in the middle."""
    kept = d[d != 0]
    return float(np.sum(np.sign(kept) * rankdata(np.abs(kept))))


def canonical_and_steady(scores: FoldScores) -> dict[str, FloatArray]:
    """Canonical and steady-state estimates, each (n_tasks, n_learners)."""
    steady = steady_state(scores, random_seed=0)
    return {"canonical": steady.canonical, "steady": steady.mean}


def fold_bias(
    runs: Sequence[FoldScores], level: float = 0.05
) -> dict[str, dict[str, AverageRanks]]:
    """Rank numbers of folds by their estimates, for every learner.

    Rank 1 is the most optimistic number of folds: the highest estimate. (The source counts from
    the other end.)

    Parameters
    ----------
    runs : sequence of FoldScores
        The same learners and data sets with different numbers of folds, such as 2, 5 and 10.
    level : float

    Returns
    -------
    dict
        Learner -> "canonical" or "steady" -> ranks of the numbers of folds.

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
    if len(set(folds)) < max(len(folds), 2):
        raise InputError(f"runs have at least 2 different numbers of folds, got {folds}")
    if len({(one.learners, one.tasks) for one in runs}) > 1:
        raise InputError("runs with different numbers of folds need the same learners and data")
    scored = [canonical_and_steady(one) for one in runs]
    names = [f"{k} folds" for k in folds]
    return {
        learner: {
            kind: average_ranks(np.stack([one[kind][:, j] for one in scored], 1), names, level)
            for kind in ("canonical", "steady")
        }
        for j, learner in enumerate(runs[0].learners)
    }


@dataclass(frozen=True, eq=False)
class AgainstTruth:
    """Estimates minus the score on a true test set.

    Attributes
    ----------
    errors : ndarray, shape (n_tasks, n_learners)
    bias, mse : ndarray, shape (n_learners,)
        Mean error and mean squared error over data sets.
    same_best : float
        Share of the data sets on which the learner with the highest estimate is the best.
    """

    errors: FloatArray
    bias: FloatArray
    mse: FloatArray
    same_best: float


def against_truth(scores: FoldScores, truth: ArrayLike) -> dict[str, AgainstTruth]:
    """Compare canonical and steady-state estimates with scores on true test sets.

    A true test set has noise of its own, and drift between both is in the errors too.

    Parameters
    ----------
    scores : FoldScores
    truth : array-like, shape (n_tasks, n_learners)
        Score of each learner, trained on all items, on the test set.

    Returns
    -------
    dict
        "canonical" and "steady".

    Examples
    --------
    >>> scores = FoldScores([[[0.8, 0.9], [0.7, 0.9]], [[0.7, 0.8], [0.7, 0.7]]])
    >>> against_truth(scores, [[0.9, 0.8]])["steady"].bias.round(3).tolist()
    [-0.075, -0.075]
    """
    true = np.asarray(truth, np.float64)
    if true.shape != scores.scores.shape[:2] or not np.isfinite(true).all():
        raise InputError(
            "the truth is one score of every learner on every data set, "
            f"{scores.scores.shape[:2]}, got the shape {true.shape}"
        )
    compared = {}
    for kind, estimates in canonical_and_steady(scores).items():
        errors = estimates - true
        same = float((estimates.argmax(axis=1) == true.argmax(axis=1)).mean())
        compared[kind] = AgainstTruth(errors, errors.mean(axis=0), (errors**2).mean(axis=0), same)
    return compared


def rows_across_tasks(
    scores: FoldScores,
    truth: ArrayLike | None,
    level: float,
) -> dict[str, Any]:
    """What the report of ``judge_runs`` says across data sets; None where nothing tells it.

    Parameters
    ----------
    scores : FoldScores
    others : sequence of FoldScores
        With other numbers of folds.
    truth : array-like, shape (n_tasks, n_learners), optional
        Scores on true test sets.
    level : float

    Returns
    -------
    dict
        ``verdicts`` of one seed after the other on each pair, ``fold_bias`` of every learner and
        both estimates, and ``against_truth``, the errors of both estimates.
    """
    names = scores.learners
    rows: dict[str, Any] = dict.fromkeys(("verdicts", "against_truth"))
    if truth is not None:
        rows["against_truth"] = {
            kind: {
                "bias": dict(zip(names, one.bias.tolist(), strict=True)),
                "mse": dict(zip(names, one.mse.tolist(), strict=True)),
                "same_best": one.same_best,
            }
            for kind, one in against_truth(scores, truth).items()
        }
    if len(scores.tasks) >= max(_TASKS_OF_VERDICTS, 1 - np.log2(level)):
        rows["verdicts"] = [
            {"a": names[a], "b": names[b]} | {key: getattr(one, key) for key in _VERDICT}
            for a, b in combinations(range(len(names)), 2)
            for one in [seed_verdicts(scores, a, b, level)]
        ]
    return rows


def rank_row(ranks: AverageRanks) -> dict[str, Any]:
    """Mean ranks with their tests and critical differences."""
    of_names = dict(zip(ranks.names, ranks.ranks.tolist(), strict=True))
    told = {k: v for k, v in vars(ranks).items() if k not in ("names", "ranks", "n_tasks")}
    return {"learners": of_names, **told}
