r"""Distribution of the scores of iterations: steady state, canonical estimates, skewness.

The *steady state* is the mean of all iterations, a *canonical* estimate that of the few which
papers report: 1 x 10-fold, 2 x 5-fold, 5 x 2-fold (Raeder, Hoens and Chawla 2010, Section II).
Iterations are independent given the data, so the standard error of their mean,
:math:`s / \sqrt{n}`, is right for the effect of partitions, and for nothing else: the data stay the
same. Where scores are skewed to the left a single run exceeds the steady mean more often than not
(Section IV-B). ``tests/crossval/test_shape.py`` compares with SciPy and with exact probabilities.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import rankdata, shapiro, skew, skewtest

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.types import FloatArray
from bayes_sota.crossval.fold_scores import FoldScores, place_of

_FEWEST = 8  # iterations of D'Agostino's test
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

    Canonical runs of more than one iteration are drawn, always in the same way.

    Returns
    -------
    SimpleNamespace
        Arrays (n_tasks, n_learners): ``n_iterations``, the complete ones; ``mean``, ``median`` and
        ``sd`` of them, the mean is the steady state; ``standard_error`` of the mean, over
        partitions of the same data; ``canonical``, the mean of the first iterations, as many as a
        canonical run has; ``p_canonical_above``, the probability that such a run exceeds the steady
        mean; ``skewness``, corrected for bias (G1), NaN for fewer than 3 iterations, 0 for equal
        scores, and ``skewed``, whether it is more than two of its standard errors from 0;
        ``p_skewness``, the two-sided p-value of D'Agostino's test of no skewness, NaN for fewer
        than 8 iterations or equal scores; ``p_normal``, that of Shapiro and Wilk's test of a normal
        distribution.

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
    """Standard deviation; 0 of equal values, whatever their mean rounds to; NaN of fewer than two.

    Examples
    --------
    >>> sample_sd(np.full(6, 0.8)), sample_sd(np.array([0.8]))
    (0.0, nan)
    """
    if len(values) < 2:
        return float("nan")
    return float(values.std(ddof=1)) if np.ptp(values) else 0.0


def _described(values: FloatArray, size: int) -> dict[str, Any]:
    """Fields of ``SteadyState`` for one learner on one data set."""
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
        "p_skewness": skewtest(values).pvalue if varies and n >= _FEWEST else np.nan,
        "p_normal": shapiro(values).pvalue if varies else np.nan,
    }


def running_means(
    scores: FoldScores, learner: int | str, task: int | str = 0, ci_prob: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    r"""Mean score after every iteration, in the order in which they ran, with its spread.

    Parameters
    ----------
    scores : FoldScores
    learner, task : int or str
    ci_prob : float
        Probability of the interval.

    Returns
    -------
    mean : ndarray, shape (n_iterations,)
    interval : ndarray, shape (n_iterations, 2)
        :math:`\bar x \pm z \, s / \sqrt{n}` with the mean and the standard deviation of all
        iterations: where the mean of :math:`n` new partitions lies.

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
    """Estimates of every learner on every data set, the best first.

    ``more`` are other numbers (n_tasks, n_learners) by their names.
    "skewed" allows for looking at all of them: p of D'Agostino's test times their number is at
    most .05.
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
