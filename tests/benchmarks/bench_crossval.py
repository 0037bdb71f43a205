"""What the loop of repeated cross-validation costs beside scikit-learn's ``cross_validate``.

Learners here learn nothing and answer at once, so that all the time is that of the two loops; the
difference per fit is shown as a share of a fit of 20 milliseconds. Ours also keeps the probability
of every item, and in the last column every iteration on disk. The fastest of some turns, by
processor time.

    uv run python tests/benchmarks/bench_crossval.py
"""

import argparse
import tempfile
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, cross_validate
from threadpoolctl import threadpool_limits
from timing import fastest, print_table

import bayes_sota as bs

FIT, FOLDS = 20.0, 10  # milliseconds


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Learns nothing: probabilities by the first attribute."""

    def fit(self, rows: Any, labels: Any) -> "FirstColumn":
        self.classes_ = np.unique(labels)
        return self

    def predict_proba(self, rows: Any) -> Any:
        p = 1 / (1 + np.exp(-rows[:, 0]))
        return np.column_stack([1 - p, p])


class WithDecisions(FirstColumn):
    """The same with a decision function, which the score of scikit-learn prefers."""

    def decision_function(self, rows: Any) -> Any:
        return rows[:, 0]


def milliseconds(learner: Any, data: Any, turns: int) -> list[float]:
    """Of one fit: by scikit-learn, by ours, by ours with a checkpoint."""
    learners, settings = {"a": learner}, {"iterations": 1, "random_seed": 0, "folds": FOLDS}
    ours = partial(bs.repeated_cross_validation, learners, *data, **settings)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=ours().partition_seeds[0])

    def kept() -> None:
        with tempfile.TemporaryDirectory() as folder:
            ours(checkpoint=folder)

    theirs = partial(cross_validate, learner, *data, scoring="roc_auc", cv=folds)
    return [1000 / FOLDS * fastest(call, turns, process_time) for call in (theirs, ours, kept)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=30)
    turns = parser.parse_args().turns
    rows = []
    with threadpool_limits(limits=1):
        for items in (200, 1000, 5000):
            data = make_classification(items, 20, random_state=0)
            for learner in (FirstColumn(), WithDecisions()):
                theirs, ours, kept = milliseconds(learner, data, turns)
                more = [f"{(found - theirs) / FIT:.1%}" for found in (ours, kept)]
                name = type(learner).__name__
                rows.append((name, items, f"{theirs:.2f}", f"{ours:.2f}", f"{kept:.2f}", *more))
    header = ("learner", "items", "scikit-learn, ms a fit", "ours", "with checkpoint")
    print_table((*header, "more, of 20 ms", "with checkpoint"), rows)


if __name__ == "__main__":
    main()
