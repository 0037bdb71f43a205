r"""Fold scores of learners relative to the mean of all learners on the same fold.

What all learners share on a fold, a hard data set, hard test items, an unlucky partition, cancels
in every difference of two of them. Relative scores are what is left: they add up to 0 over the
learners, :math:`x_{ifj} = y_{ifj} - \bar y_{if}`.
``tests/crossval/test_models.py`` checks them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.crossval.fold_scores import FoldScores


@dataclass(frozen=True, eq=False)
class RelativeScores:
    r"""Iterations of all data sets, one after the other, that every learner completed.

    Attributes
    ----------
    values : ndarray, shape (n_iterations, n_folds, n_learners)
        Relative scores; one fold where scores are of whole iterations.
    task : ndarray of int, shape (n_iterations,)
        Data set of each iteration.
    labels : list of str
        Data set and number of each iteration.
    iterations : ndarray of int, shape (n_tasks,)
        Number of iterations of each data set.
    task_means : ndarray, shape (n_tasks, n_learners)
        Mean relative scores.
    unit : float
        Typical standard deviation of a learner's own part of a fold score.
    dropped : int
        Iterations that were left out, because a learner lacks a fold.
    """

    values: FloatArray
    task: IntArray
    labels: list[str]
    iterations: IntArray
    task_means: FloatArray
    unit: float
    dropped: int


def pair_names(learners: Sequence[str]) -> list[str]:
    """Names of the pairs A - B, in the order of ``np.triu_indices``."""
    return [f"{a} - {b}" for a, b in combinations(learners, 2)]


def relative_scores(fold_scores: FoldScores) -> RelativeScores:
    r"""Relative scores of the iterations that all learners completed.

    Raises
    ------
    InputError
        One learner alone, a data set without any iteration that all learners completed, learners
        whose scores never differ from fold to fold.

    Examples
    --------
    >>> runs = FoldScores([[[0.8, 0.9], [0.7, 0.9]], [[0.7, 0.8], [0.7, 0.7]]], learners=["a", "b"])
    >>> present = relative_scores(runs)
    >>> present.values[0].round(2).tolist(), present.labels
    ([[0.05, -0.05], [0.05, -0.05]], ['1: 0', '1: 1'])
    """
    n_learners = len(fold_scores.learners)
    if n_learners < 2:
        raise InputError("a comparison needs at least 2 learners, got 1")
    scores = np.moveaxis(fold_scores.scores, 1, -1)  # (task, iteration, fold, learner)
    complete = np.isfinite(scores).all(axis=(2, 3))
    for name, present in zip(fold_scores.tasks, complete.any(axis=1), strict=True):
        if not present:
            raise InputError(f"no iteration on data set {name!r} was completed by all learners")
    task, number = np.nonzero(complete)
    values = scores[task, number]
    values = values - values.mean(axis=-1, keepdims=True)
    iterations, means = complete.sum(axis=1), values.mean(axis=1)
    task_means = np.stack([means[task == t].mean(axis=0) for t in range(len(iterations))])
    folds = values.shape[1]
    if folds > 1:  # of fold scores within iterations, else of the iterations
        square = ((values - means[:, None]) ** 2).mean() * folds / (folds - 1)
    else:
        square = ((means - task_means[task]) ** 2).mean() * fold_scores.folds
    if square < 1e-24:
        raise InputError("the differences of the learners never vary: nothing can be estimated")
    return RelativeScores(
        values,
        task,
        [f"{fold_scores.tasks[t]}: {i}" for t, i in zip(task, number, strict=True)],
        iterations,
        task_means,
        unit=float(np.sqrt(square * n_learners / (n_learners - 1))),
        dropped=int((np.isfinite(scores).any(axis=(2, 3)) & ~complete).sum()),
    )
