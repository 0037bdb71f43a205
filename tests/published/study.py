"""Runs of the study of repeated cross-validation, and the small file that keeps them.

The study is run by ``tests/studies/cross_validation.py``; scores are kept in multiples of
1 / 50,000, as whole numbers. ``tests/published/test_study.py`` writes and reads a small one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import Rule, kolmogorov_smirnov, spearman

LEARNERS = (
    "nb-kernel", "mlp", "5nn", "c45", "hellinger", "svm", "c45-laplace", "hellinger-pruned",
)  # fmt: skip
FOLDS = (2, 5, 10)
ADAPTIVE_RULES: dict[str, Rule] = {
    "Spearman 1e-3": spearman(1 - 1e-3),
    "Spearman 1e-4": spearman(1 - 1e-4),
    "Spearman 1e-5": spearman(1 - 1e-5),
    "KS .2": kolmogorov_smirnov(0.2),
    "KS .1": kolmogorov_smirnov(0.1),
}
KEPT = Path(__file__).with_name("study.npz")
_UNIT, _NONE = 50_000, 65_535


@dataclass(frozen=True, eq=False)
class StudyRuns:
    """What the study measured.

    Attributes
    ----------
    scores : dict of int to FoldScores
        Means over folds by the number of folds; the same tasks and learners in each; NaN where a
        learner has fewer iterations.
    first : FoldScores
        Scores of the folds in the first iterations of 10 folds.
    orders : ndarray of int, shape (n_orderings, n_iterations)
        Orders in which rules went through the iterations, to and fro.
    stops : dict of int to ndarray
        By the number of folds where each of ``ADAPTIVE_RULES`` stopped: (n_rules, n_orderings, 2,
        n_tasks, n_learners), 0 for never.
    truth, truth_error : dict of str to ndarray, shape (n_learners,)
        By tasks with a true test set, the AUROC there of a fit to all items, and the standard error
        of its difference from an estimate, if other items had been drawn for both.
    """

    scores: dict[int, FoldScores]
    first: FoldScores
    orders: IntArray
    stops: dict[int, IntArray]
    truth: dict[str, FloatArray]
    truth_error: dict[str, FloatArray]

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the data sets."""
        return self.scores[FOLDS[0]].tasks

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the learners."""
        return self.scores[FOLDS[0]].learners

    @property
    def n_iterations(self) -> int:
        """Iterations of each number of folds, of most learners."""
        return int(self.scores[FOLDS[0]].scores.shape[2])

    def of(self, learners: Sequence[str]) -> "StudyRuns":
        """The same of some learners."""
        at = [self.learners.index(name) for name in learners]
        return StudyRuns(
            {k: _only(one, at) for k, one in self.scores.items()},
            _only(self.first, at), self.orders,
            {k: stops[..., at] for k, stops in self.stops.items()},
            *({t: v[at] for t, v in given.items()} for given in (self.truth, self.truth_error)),
        )  # fmt: skip


def _only(scores: FoldScores, at: list[int]) -> FoldScores:
    return FoldScores(
        scores.scores[:, at], learners=[scores.learners[j] for j in at], tasks=scores.tasks,
        folds=scores.folds,
    )  # fmt: skip


def _whole(values: Any) -> IntArray:
    numbers = np.asarray(values)
    known = np.isfinite(numbers)
    return np.where(known, np.rint(np.where(known, numbers, 0) * _UNIT), _NONE).astype(np.uint16)


def _shares(numbers: IntArray) -> FloatArray:
    return np.where(numbers == _NONE, np.nan, numbers / _UNIT)


def save_runs(runs: StudyRuns, path: Path = KEPT) -> None:
    """Write runs to a compressed file that holds numbers and names only."""
    np.savez_compressed(
        path,
        tasks=np.array(runs.tasks),
        learners=np.array(runs.learners),
        scores=_whole([runs.scores[k].iteration_means() for k in FOLDS]),
        first=_whole(runs.first.scores),
        orders=runs.orders.astype(np.uint16),
        stops=np.array([runs.stops[k] for k in FOLDS], np.uint16),
        tested=np.array(list(runs.truth)),
        truth=_whole(list(runs.truth.values())),
        truth_error=_whole(list(runs.truth_error.values())),
    )


def load_runs(path: Path = KEPT) -> StudyRuns:
    """Read what ``save_runs`` wrote.

    Examples
    --------
    >>> load_runs().n_iterations
    500
    """
    with np.load(path) as file:
        kept = {name: file[name] for name in file.files}
    names = {"tasks": kept["tasks"].tolist(), "learners": kept["learners"].tolist()}
    scores = dict(zip(FOLDS, _shares(kept["scores"])[..., None], strict=True))
    tested = kept["tested"].tolist()
    return StudyRuns(
        {k: FoldScores(values, folds=k, **names) for k, values in scores.items()},
        FoldScores(_shares(kept["first"]), folds=10, **names),
        kept["orders"].astype(np.int64),
        dict(zip(FOLDS, kept["stops"].astype(np.int64), strict=True)),
        *(dict(zip(tested, _shares(kept[n]), strict=True)) for n in ("truth", "truth_error")),
    )  # fmt: skip
