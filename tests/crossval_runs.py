"""Data, learners and rules for the tests of repeated cross-validation."""

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import bayes_sota as bs
from bayes_sota.core.text import marked_cell
from bayes_sota.crossval import CrossValidation, FoldScores

X, Y = (part[:240] for part in load_breast_cancer(return_X_y=True))
LEARNERS = {"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_features=3)}


def run(estimators: Any = LEARNERS, **settings: Any) -> CrossValidation:
    chosen = {"folds": 3, "iterations": 3, "random_seed": 0, **settings}
    rows, labels = chosen.pop("X", X), chosen.pop("y", Y)
    return bs.repeated_cross_validation(estimators, rows, labels, **chosen)


def same(one: CrossValidation, other: CrossValidation) -> bool:
    """Whether all numbers and messages of two runs are the same bits."""
    arrays = ("probabilities", "truth")
    return (
        all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in arrays)
        and one.fold_scores.data_hash() == other.fold_scores.data_hash()
        and (one.messages, one.partition_seeds) == (other.messages, other.partition_seeds)
    )


def write_scores(runs: FoldScores, path: Path) -> None:
    """Scores as a long table of CSV; texts that are formulas are marked, missing scores empty."""
    scores = runs.scores[..., 0] if runs.scores.shape[3] == 1 else runs.scores
    rows: list[list[Any]] = [["learner", "task", "iteration", "fold"][: scores.ndim]]
    rows[0].append(runs.scorer)
    for (t, j, *parts), score in np.ndenumerate(scores):
        rows.append([runs.learners[j], runs.tasks[t], *parts, "" if np.isnan(score) else score])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerows([marked_cell(x) if isinstance(x, str) else x for x in r] for r in rows)


class Odd(ClassifierMixin, BaseEstimator):
    """Fails, or warns, or scores oddly, where its training items begin with a certain one."""

    def __init__(self, how: str = "fail", at: float = 0.0) -> None:
        self.how, self.at = how, at

    def fit(self, rows: Any, labels: Any) -> "Odd":
        self.classes_ = np.unique(labels)
        self.odd_ = rows[0, 0] == self.at or self.at < 0
        if self.odd_ and self.how == "fail":
            raise RuntimeError("no convergence\nand more")
        if self.odd_ and self.how == "warn":
            warnings.warn("slow convergence", RuntimeWarning, stacklevel=1)
        return self

    def predict_proba(self, rows: Any) -> Any:
        p = 1 / (1 + np.exp(rows[:, 0] - 14))
        if self.odd_ and self.how == "nan":
            p[0] = np.nan
        return np.column_stack([1 - p, p])


class Countdown:
    """Rule that is met after some iterations, and keeps what it saw."""

    name = "countdown"

    def __init__(self, enough: int) -> None:
        self.enough, self.seen = enough, []

    def __call__(self, runs: CrossValidation) -> bool:
        self.seen.append((runs.n_iterations, runs.probabilities.shape, runs.fold_scores))
        return runs.n_iterations >= self.enough
