r"""Learners, or numbers of folds, compared across data sets.

Ranks with Friedman's test and the critical differences of Nemenyi (all pairs) and of Bonferroni and
Dunn (against one), as Demsar (2006) describes them; and the verdicts of Wilcoxon's signed rank test
that one seed after the other would give, which may contradict each other (Raeder, Hoens and Chawla
2010, Table II); and estimates that are too high or too low, against each other by the number of
folds (Table I) and against a true test set (Tables IV and V). The distributions are SciPy's;
``tests/crossval/test_across_tasks.py`` has Demsar's example, all assignments of signs, and learners
whose bias is known.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2, norm, rankdata, studentized_range, wilcoxon

from bayes_sota.core.arguments import LEVEL
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels
from bayes_sota.core.types import FloatArray
from bayes_sota.crossval.fold_scores import FoldScores, place_of
from bayes_sota.crossval.shape import steady_state
from bayes_sota.data.tables import labelled_matrix

_studentized = cache(studentized_range.ppf)
_FEWEST = 6  # data sets from which on Wilcoxon's test can be significant at 5 %


def average_ranks(
    values: ArrayLike, names: Sequence[str] | None = None, level: float = 0.05
) -> SimpleNamespace:
    r"""Rank alternatives on every data set and average the ranks.

    Critical differences are :math:`q \sqrt{k (k + 1) / (6 N)}`, where :math:`q` is for Nemenyi the
    quantile of the studentized range over :math:`\sqrt 2`, and for Bonferroni and Dunn the normal
    quantile of :math:`1 - \alpha / (2 (k - 1))`.

    Parameters
    ----------
    values : array-like, shape (n_tasks, k)
    names : sequence of str, optional
    level : float

    Returns
    -------
    namespace
        ``names``; ``ranks`` (k,), averaged over ``n_tasks`` data sets: 1 is the highest value, ties
        share the mean of their ranks; ``chi_squared`` and ``p_value`` of Friedman's test, corrected
        for ties, None where all alternatives tie on all data sets; ``nemenyi`` and
        ``bonferroni_dunn``, critical differences of two ranks: of all pairs, and of all against
        one; ``level``.

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

    With steady states (``steady_state(scores).mean``) no single partition decides the verdict. It
    is about data sets like these, and p-values are not corrected for the number of pairs.

    Parameters
    ----------
    values : array-like, shape (n_tasks, k)
        NaN where one is missing.
    names : sequence of str, optional

    Returns
    -------
    list of dict
        In the order of ``itertools.combinations``: ``a``, ``b``; ``n_tasks`` with values of both,
        ``n_ahead`` on which A is better, ``n_tied`` on which both are equal, which take no part;
        the ``median_difference``; the two-sided ``p_value``, None of fewer than 6 data sets, of
        which it cannot be below .05.

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
    """Numbers of alternatives, those of a frame by its columns, and their names."""
    meaning = "values are a matrix of numbers, data sets x alternatives"
    numbers, columns, _ = labelled_matrix(values, meaning)
    names = columns if names is None else names
    return numbers, checked_labels(names, numbers.shape[1], "alternative")


def seed_verdicts(scores: FoldScores, a: int | str, b: int | str) -> dict[str, Any]:
    """Test across data sets with one iteration of each, for every iteration.

    An iteration stands for a seed that all data sets share. A share
    ``2 n_A n_B / (n (n - 1))`` of the pairs of seeds contradict each other.

    Parameters
    ----------
    scores : FoldScores
    a, b : int or str
        Learners.

    Returns
    -------
    dict
        ``p_values`` (n_iterations,) of Wilcoxon's signed rank test across data sets, two-sided, one
        iteration each; ``a_wins`` and ``b_wins``, the shares of the seeds whose test is significant
        at 5 % for A, and for B; ``contradiction``, the probability that of two seeds one says A and
        the other B.

    Raises
    ------
    InputError
        Fewer than 6 data sets, which cannot be significant, or fewer than two iterations that all
        data sets have.

    Examples
    --------
    >>> noise = np.random.default_rng(2).normal(0, 0.01, (8, 2, 200, 2))
    >>> verdicts = seed_verdicts(FoldScores(0.9 + noise), 0, 1)
    >>> verdicts["a_wins"], verdicts["b_wins"], round(verdicts["contradiction"], 5)
    (0.025, 0.005, 0.00025)
    """
    if len(scores.tasks) < _FEWEST:
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
    """Two-sided p-value of Wilcoxon's test of differences, and the sign of its rank sum.

    Differences of 0 are ignored. With fewer than 6 others p cannot be below .05: None.
    """
    d = differences[differences != 0]
    sign = int(np.sign(np.sign(d) @ rankdata(np.abs(d))))
    return float(wilcoxon(d).pvalue) if d.size >= _FEWEST else None, sign


def fold_bias(runs: Sequence[FoldScores]) -> dict[str, dict[str, SimpleNamespace]]:
    """Rank numbers of folds by their estimates, for every learner.

    Rank 1 is the most optimistic number of folds: the highest estimate. (The source counts from
    the other end.)

    Parameters
    ----------
    runs : sequence of FoldScores
        The same learners and data sets with different numbers of folds, such as 2, 5 and 10.

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
    if len(set(folds)) < 2 or len({(one.learners, one.tasks) for one in runs}) > 1:
        raise InputError("runs that differ in the number of folds alone are needed")
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

    A true test set has noise of its own, and drift between both is in the errors too.

    Parameters
    ----------
    scores : FoldScores
    truth : array-like, shape (n_tasks, n_learners)
        Score of each learner, trained on all items, on the test set; a data frame with the names
        of the data sets and the learners in any order.

    Returns
    -------
    dict
        "canonical" and "steady", each with ``errors`` (n_tasks, n_learners), the estimates minus
        the truth; ``bias`` and ``mse`` (n_learners,), mean error and mean squared error over data
        sets; and ``same_best``, the share of the data sets on which the learner with the highest
        estimate is the best.

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
