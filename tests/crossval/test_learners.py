"""A table of a file becomes attributes and labels; every named learner learns from them."""

import numpy as np
import pandas as pd
import pytest

import bayes_sota as bs
from bayes_sota.crossval.run import LEARNERS, named_learners, read_task


def frame(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    size, kind = rng.normal(size=n), rng.choice(["a", "b", "c"], n)
    y = np.where(size + (kind == "a") + rng.normal(size=n) > 0.5, "yes", "no")
    kind[n // 2] = "rare"
    cells = [f"{x:.3f}" if i % 7 else "?" for i, x in enumerate(size)]
    return pd.DataFrame({"size": cells, "kind": kind, "flag": size > 0, "class": y})


def test_numbers_words_and_gaps_are_read() -> None:
    attributes, labels, categories, _ = read_task(frame(), "class")
    assert attributes.shape == (60, 3)
    assert np.isnan(attributes[::7, 0]).all()
    assert np.isnan(attributes).sum() == 9
    assert sorted(set(attributes[:, 1])) == [0, 1, 2, 3]
    assert set(attributes[:, 2]) == {0, 1}
    assert set(labels) == {"yes", "no"}
    assert categories == [1]


def test_labels_that_are_numbers_are_numbers() -> None:
    labels = read_task(pd.DataFrame({"x": [1, 2, 3], "y": ["10", "9", "9"]}), "y")[1]
    assert labels.tolist() == [10, 9, 9]


@pytest.mark.slow
def test_every_learner_learns() -> None:
    attributes, labels, categories, _ = read_task(frame(), "class")
    runs = bs.repeated_cross_validation(
        named_learners(LEARNERS, categories), attributes, labels, folds=2, iterations=1,
        random_seed=0,
    )  # fmt: skip
    assert runs.learners == tuple(LEARNERS)
    assert not np.isnan(runs.fold_scores.scores).any()
    assert (runs.fold_scores.iteration_means() > 0.5).all()
