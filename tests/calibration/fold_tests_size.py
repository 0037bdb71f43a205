"""How often tests over folds reject equal learners.

Two learners of one kind see two sets of attributes that are exchangeable given the class: their
expected scores are equal, whatever the size of the data, and their differences on folds depend on
the items, as those of any two learners do. scikit-learn fits both on every fold of a new data set;
the nominal level is 5 %. ``docs/measured/calibration.md`` has the results.

    python tests/calibration/fold_tests_size.py 1000 10 10
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.crossval.estimates import difference_tests

LEARNERS: dict[str, Any] = {
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
}


@dataclass(frozen=True)
class Size:
    """Share of data sets on which each test rejects, and its standard error."""

    rates: dict[str, float]
    data_sets: int

    def error(self, name: str) -> float:
        rate = self.rates[name]
        return float(np.sqrt(rate * (1 - rate) / self.data_sets))


def equal_learners(rng: np.random.Generator, items: int = 100) -> tuple[np.ndarray, ...]:
    """Two sets of three attributes with the same distribution given the class, and the class."""
    y = np.arange(items) % 2
    x = rng.standard_normal((2, items, 3)) + 0.5 * (2 * y[:, None] - 1)
    return x[0], x[1], y


def fold_scores(learner: Any, seed: int, iterations: int, folds: int) -> np.ndarray:
    """Accuracies of both learners on the folds of one data set, (2, iterations, folds)."""
    rng = np.random.default_rng(seed)
    first, second, y = equal_learners(rng)
    scores = np.empty((2, iterations, folds))
    for i in range(iterations):
        state = int(rng.integers(2**31))
        partition = StratifiedKFold(folds, shuffle=True, random_state=state).split(first, y)
        for f, (train, test) in enumerate(partition):
            for j, x in enumerate((first, second)):
                found = learner.fit(x[train], y[train]).predict(x[test])
                scores[j, i, f] = np.mean(found == y[test])
    return scores


def rejects(learner: Any, seed: int, iterations: int, folds: int, level: float) -> dict[str, bool]:
    with config_context(assume_finite=True, skip_parameter_validation=True):
        a, b = fold_scores(learner, seed, iterations, folds)
    tests = difference_tests(a, b, folds)
    return {test["name"]: test["p_value"] <= level for test in tests}


def measure_size(
    learner: Any, data_sets: int, iterations: int, folds: int, level: float = 0.05, jobs: int = 1
) -> Size:
    """Reject or not on so many data sets; the seed of a data set is its number."""
    arguments = ((learner, seed, iterations, folds, level) for seed in range(data_sets))
    found = Parallel(n_jobs=jobs)(delayed(rejects)(*one) for one in arguments)
    return Size(
        {name: float(np.mean([row[name] for row in found])) for name in found[0]}, data_sets
    )


def main() -> None:
    data_sets, iterations, folds = (int(x) for x in sys.argv[1:4])
    for name, learner in LEARNERS.items():
        size = measure_size(learner, data_sets, iterations, folds)
        rates = (f"{test} {rate:.3f} ± {size.error(test):.3f}" for test, rate in size.rates.items())
        print(
            f"{name}, {iterations} x {folds}, {data_sets} data sets: {', '.join(rates)}", flush=True
        )


if __name__ == "__main__":
    main()
