r"""Fold scores of learners relative to the mean of all learners on the same fold.

What all learners share on a fold, a hard data set, hard test items, an unlucky partition, cancels
in every difference of two of them. Relative scores are what is left: they add up to 0 over the
learners, :math:`x_{ifj} = y_{ifj} - \bar y_{if}`.
``tests/crossval/test_models.py`` checks them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
    labels : tuple of str
        Of the iterations: the number within its data set, after the data set where there are more.
    learners, tasks : tuple of str
    folds : int
        k of the partitions.
    unit : float
        Typical standard deviation of a learner's own part of a fold score.
    dropped : int
        Iterations that were left out, because a learner lacks a fold.
    """

    values: FloatArray
    task: IntArray
    labels: tuple[str, ...]
    learners: Sequence[str]
    tasks: Sequence[str]
    folds: int
    unit: float
    dropped: int

    @property
    def iterations(self) -> IntArray:
        """Number of iterations of each data set, (n_tasks,)."""
        return np.bincount(self.task, minlength=len(self.tasks)).astype(np.int64)

    @property
    def task_means(self) -> FloatArray:
        """Mean relative score of each learner on each data set, (n_tasks, n_learners)."""
        sums = np.zeros((len(self.tasks), len(self.learners)))
        np.add.at(sums, self.task, self.values.mean(axis=1))
        return sums / self.iterations[:, None]

    @property
    def log_fold_sd(self) -> tuple[FloatArray, FloatArray]:
        """Estimates of the logarithm of a learner's own sd in an iteration, and their precisions.

        Both (n_tasks, n_learners), from moments; of two learners it is the same.
        """
        within = self.values - self.values.mean(axis=1, keepdims=True)
        return self._log_sd((within**2).sum(axis=1), self.iterations * (self.values.shape[1] - 1))

    @property
    def log_partition_ratio(self) -> tuple[FloatArray, FloatArray]:
        """The same of the ratio of the sd of an iteration's mean to that of independent folds."""
        gaps = self.values.mean(axis=1) - self.task_means[self.task]
        log_sd, precision = self._log_sd(self.folds * gaps**2, self.iterations - 1)
        return log_sd - self.log_fold_sd[0], precision

    def _log_sd(self, squares: FloatArray, freedom: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of squared deviations (n_iterations, n_learners), which removing the mean has mixed."""
        j = len(self.learners)
        sums = np.zeros((len(self.tasks), j))
        np.add.at(sums, self.task, squares)
        mixed = sums / np.maximum(freedom, 1)[:, None]
        typical = mixed.mean(axis=1, keepdims=True) * j / (j - 1)
        own = (
            (mixed - typical / j) * j / (j - 2) if j > 2 else np.broadcast_to(typical, mixed.shape)
        )
        own = np.maximum(own, 0.1 * typical + 1e-4 * self.unit**2)
        own[freedom == 0] = self.unit**2
        precision = 2 * freedom[:, None] * (1 - 2 / j if j > 2 else 1)
        return np.log(own) / 2, np.broadcast_to(precision, own.shape)


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
    ([[0.05, -0.05], [0.05, -0.05]], ('0', '1'))
    """
    if len(fold_scores.learners) < 2:
        raise InputError("a comparison needs at least 2 learners, got 1")
    scores = np.moveaxis(fold_scores.scores, 1, -1)  # (task, iteration, fold, learner)
    complete = np.isfinite(scores).all(axis=(2, 3))
    started = np.isfinite(scores).any(axis=(2, 3))
    for name, present in zip(fold_scores.tasks, complete.any(axis=1), strict=True):
        if not present:
            raise InputError(f"no iteration on data set {name!r} was completed by all learners")
    task, number = np.nonzero(complete)
    kept = scores[task, number]
    values = kept - kept.mean(axis=-1, keepdims=True)
    several = len(fold_scores.tasks) > 1
    return RelativeScores(
        values=values,
        task=task.astype(np.int64),
        labels=tuple(
            f"{fold_scores.tasks[t]}: {i}" if several else str(i)
            for t, i in zip(task, number, strict=True)
        ),
        learners=fold_scores.learners,
        tasks=fold_scores.tasks,
        folds=fold_scores.folds,
        unit=_unit(values, task, fold_scores.folds),
        dropped=int((started & ~complete).sum()),
    )


def _unit(values: FloatArray, task: IntArray, folds: int) -> float:
    """Root mean square of a learner's own deviations within iterations, or between them."""
    learners = values.shape[2]
    if values.shape[1] > 1:
        within = values - values.mean(axis=1, keepdims=True)
        square = float((within**2).mean()) * folds / (folds - 1)
    else:
        means = np.stack([values[task == t].mean(axis=0) for t in range(task.max() + 1)])
        square = float(((values - means[task]) ** 2).mean()) * folds
    if square < 1e-24:
        raise InputError("the differences of the learners never vary: nothing can be estimated")
    return float(np.sqrt(square * learners / (learners - 1)))
