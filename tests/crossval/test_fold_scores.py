"""Scores of repeated cross-validation: what is kept, read and refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import refused

from bayes_sota import crossval as cv
from bayes_sota.crossval.fold_scores import FoldScores, read_fold_scores, read_test_scores


def some_scores() -> np.ndarray:
    return np.random.default_rng(0).uniform(0.7, 0.9, (2, 3, 4, 5))


def test_means_of_iterations_need_every_fold() -> None:
    scores = some_scores()
    alone = FoldScores(scores[0])
    assert (alone.tasks, alone.learners, alone.folds) == (("1",), ("1", "2", "3"), 5)
    np.testing.assert_array_equal(alone.iteration_means(), scores[:1].mean(axis=3))
    scores[1, 2, 3, 4] = np.nan
    means = FoldScores(scores).iteration_means()
    assert np.argwhere(np.isnan(means)).tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        (lambda s: s[0, 0], {}, "of the shape .* got"),
        (lambda s: [["a", "b"]], {}, "of the shape .* got text"),
        (lambda s: s[..., :1], {"folds": 2.5}, "folds must be a whole number"),
        (lambda s: s[..., :1], {}, "got 1 for 1 folds; give their number with folds="),
        (lambda s: s, {"folds": 4}, "got 5 for 4 folds"),
        (lambda s: np.where(s == s[1, 2, 3, 4], np.inf, s), {}, "learner '3', iteration 3, fold 4"),
        (lambda s: s * [[[1]], [[np.nan]], [[1]]], {}, "'2': a score is needed"),
    ],
)
def test_what_is_refused(change, settings, message: str) -> None:
    refused(message, FoldScores, change(some_scores()), **settings)


@pytest.mark.parametrize(
    "ask",
    [cv.judge_runs, cv.build_model, lambda _: cv.judge_runs(FoldScores(some_scores()), rule="ks")],
)
def test_an_array_is_no_fold_scores(ask) -> None:
    refused("is needed, got (ndarray|str); .* makes one", ask, some_scores())


FOLDS = np.random.default_rng(0).random((2, 3, 12, 2)).round(6)


def long_of(scores: Any = FOLDS) -> pd.DataFrame:
    """Rows in random order, iterations by seeds."""
    names = ["model", "dataset", "seed", "fold", "auc"]
    rows = [(f"m{j}", f"d{t}", 100 + i, f + 1, scores[t, j, i, f])
            for t, j, i, f in np.ndindex(scores.shape)]  # fmt: skip
    return pd.DataFrame(rows, columns=names).sample(frac=1, random_state=0)


def test_a_long_table_is_read_whatever_the_order_of_its_rows() -> None:
    frame = long_of()
    found = read_fold_scores(frame)
    learners = [found.learners.index(f"m{j}") for j in range(3)]
    tasks = [found.tasks.index(f"d{t}") for t in range(2)]
    assert np.array_equal(found.scores[np.ix_(tasks, learners)], FOLDS)
    assert (found.folds, found.scorer) == (2, "auc")
    roles = ("entry", "task", "iteration", "fold", "score")
    named = frame.rename(columns=dict(zip(frame.columns, "vwxyz", strict=True)))
    again = read_fold_scores(named, **dict(zip(roles, "vwxyz", strict=True)))
    assert np.array_equal(again.scores, found.scores)
    renamed = frame.rename(columns={"auc": "log_loss"})
    refused('"log_loss" looks like losses', read_fold_scores, renamed)
    losses = read_fold_scores(renamed, direction="lower")
    assert losses.scorer == "-log_loss"
    assert np.array_equal(losses.scores, -found.scores)


def test_wide_tables_have_the_learners_in_their_columns() -> None:
    cells = pd.DataFrame(FOLDS[0].reshape(3, -1).T, columns=["a", "b", "c"])
    plain = read_fold_scores(cells, folds=2)
    assert np.array_equal(plain.scores[0], FOLDS[0])
    by_name = cells.assign(repeat=np.repeat(range(12), 2), fold=np.tile([1, 2], 12))
    assert np.array_equal(read_fold_scores(by_name).scores, plain.scores)
    means = pd.DataFrame(FOLDS[0].mean(axis=2).T, columns=["a", "b", "c"])
    each = read_fold_scores(means.assign(run=range(12)), folds=2)
    assert np.array_equal(each.iteration_means(), plain.iteration_means())


def test_a_data_set_may_have_fewer_iterations_and_fits_may_be_missing() -> None:
    frame = long_of()
    found = read_fold_scores(frame[(frame["dataset"] == "d0") | (frame["seed"] < 105)])
    short = found.scores[found.tasks.index("d1")]
    assert (np.isnan(short[:, 5:]).all(), np.isnan(short[:, :5]).any()) == (True, False)
    gone = (frame["model"] == "m1") & (frame["dataset"] == "d1") & (frame["seed"] == 103)
    found = read_fold_scores(frame[~gone])
    place = found.tasks.index("d1"), found.learners.index("m1"), 3
    assert np.argwhere(np.isnan(found.iteration_means())).tolist() == [[*place]]


def test_scores_of_true_test_sets() -> None:
    runs = read_fold_scores(long_of())
    rows = [(m, d, i + 2 * j) for i, m in enumerate(("m2", "m0", "m1")) for j, d in
            enumerate(("d1", "d0"))]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["learner", "task", "score"])
    expected = frame.pivot(index="task", columns="learner", values="score")
    expected = expected.loc[list(runs.tasks), list(runs.learners)].to_numpy()
    np.testing.assert_array_equal(read_test_scores(frame, runs), expected)
    wide = frame.pivot(index="task", columns="learner", values="score").reset_index()
    np.testing.assert_array_equal(read_test_scores(wide, runs, direction="lower"), -expected)
    frame["score"] = frame["score"].astype(float).where(frame["score"] != 2)
    refused("data set 'd0', learner 'm2': a score is needed", read_test_scores, frame, runs)
