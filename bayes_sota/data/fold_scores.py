r"""Scores of learners over repeated cross-validation of one or more data sets.

A *task* is a data set; a *learner* is trained and tested on it in every *fold* of every
*iteration*; one iteration is one random partition, the same for all learners.
``tests/data/test_fold_scores.py`` checks what is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels, digest_of
from bayes_sota.core.types import FloatArray
from bayes_sota.data.observed import Observed
from bayes_sota.data.printed_scores import check_finite


@dataclass(frozen=True, eq=False, init=False, repr=False)
class FoldScores(Observed):
    """Scores of learners over repeated cross-validation, larger is better.

    Parameters
    ----------
    scores : array-like, shape (n_tasks, n_learners, n_iterations, n_folds)
        NaN where a fit failed, and after the last iteration of a task that has fewer than others.
        A matrix of shape (n_learners, n_iterations, n_folds) is one task. One value per iteration
        (n_folds = 1) is a score of the whole iteration, pooled or already averaged over its folds.
    learners, tasks : sequence of str, optional
    folds : int, optional
        Folds of the partitions, where ``scores`` holds one value per iteration.
    scorer : str
        Name of the score.
    notes : sequence of str
        How the scores were read.

    Attributes
    ----------
    scores : ndarray, shape (n_tasks, n_learners, n_iterations, n_folds)
    learners, tasks : tuple of str
    folds : int
        k of the k-fold partitions.
    scorer : str
    notes : tuple of str

    Raises
    ------
    InputError
        Another shape, fewer than 2 folds, infinite numbers, a learner without any score on a task,
        names that repeat or do not match.

    Examples
    --------
    >>> runs = FoldScores([[[0.8, 0.9], [0.7, 0.9]], [[0.7, 0.8], [0.7, 0.7]]], learners=["a", "b"])
    >>> runs
    <FoldScores: 2 learners x 1 data set, 2 iterations of 2 folds>
    >>> runs.iteration_means()[0].round(2).tolist()
    [[0.85, 0.8], [0.75, 0.7]]
    """

    scores: FloatArray
    learners: tuple[str, ...]
    tasks: tuple[str, ...]
    folds: int
    scorer: str
    notes: tuple[str, ...]

    def __init__(
        self,
        scores: ArrayLike | Any,
        *,
        learners: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
        folds: int | None = None,
        scorer: str = "score",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything once."""
        numbers = np.array(scores, dtype=float)
        numbers = numbers[None] if numbers.ndim == 3 else numbers
        if numbers.ndim != 4 or 0 in numbers.shape:
            raise InputError(
                "scores of repeated cross-validation have the shape (data sets, learners, "
                f"iterations, folds), got {np.shape(scores)}"
            )
        names = checked_labels(learners, numbers.shape[1], "learner")
        labels = checked_labels(tasks, numbers.shape[0], "data set")
        _check_numbers(numbers, labels, names)
        self._set(
            scores=numbers,
            learners=names,
            tasks=labels,
            folds=_checked_folds(folds, numbers.shape[3]),
            scorer=str(scorer),
            notes=tuple(notes),
        )

    def __repr__(self) -> str:
        """Size."""
        n_tasks, n_learners, n_iterations, _ = self.scores.shape
        sets = f"{n_tasks} data set{'s' if n_tasks > 1 else ''}"
        return (
            f"<FoldScores: {n_learners} learners x {sets}, {n_iterations} iterations of "
            f"{self.folds} folds>"
        )

    @property
    def test_share(self) -> float:
        """Share of the items that is in one test fold, 1 / k."""
        return 1 / self.folds

    @property
    def score_name(self) -> str:
        """Name of the score in text: AUROC for ``roc_auc``."""
        return score_name(self.scorer)

    def iteration_means(self) -> FloatArray:
        """Mean over folds, (n_tasks, n_learners, n_iterations), NaN where a fold is missing."""
        return self.scores.mean(axis=3)

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed, its first 16 digits."""
        rest = (self.learners, self.tasks, self.folds, self.scorer)
        return digest_of(self.scores.shape, self.scores, rest)


def score_name(scorer: str) -> str:
    """Name of a score in text, one for all that mean the same.

    Examples
    --------
    >>> score_name("roc_auc"), score_name("accuracy")
    ('AUROC', 'accuracy')
    """
    return "AUROC" if scorer.lower() in ("roc_auc", "auc", "auroc") else scorer


def _checked_folds(folds: int | None, columns: int) -> int:
    n_folds = columns if folds is None else folds
    if n_folds < 2 or columns not in (1, n_folds):
        raise InputError(
            f"folds is the number of parts of a partition, at least 2 and the {columns} of the "
            f"scores where they are given fold by fold, got {n_folds}"
        )
    return int(n_folds)


def _check_numbers(numbers: FloatArray, tasks: Sequence[str], learners: Sequence[str]) -> None:
    iterations, folds = map(range, numbers.shape[2:])
    check_finite(
        numbers,
        (("data set", tasks), ("learner", learners), ("iteration", iterations), ("fold", folds)),
    )
    empty = np.argwhere(np.isnan(numbers).all(axis=(2, 3)))
    if empty.size:
        t, j = empty[0]
        raise InputError(f"learner {learners[j]!r} has no score at all on data set {tasks[t]!r}")
