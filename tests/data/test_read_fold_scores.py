"""Tables of repeated cross-validation: what is read, what is refused, and what is written."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.data.fold_scores import FoldScores

SCORES = np.random.default_rng(0).random((2, 3, 12, 2)).round(6)


@pytest.fixture
def runs() -> FoldScores:
    return FoldScores(SCORES, learners=["nb", "tree", "=svm"], tasks=["d1", "d2"], scorer="roc_auc")


def long_of(scores: Any = SCORES) -> pd.DataFrame:
    """Rows in random order, iterations by seeds."""
    names = ["model", "dataset", "seed", "fold", "auc"]
    rows = [
        (f"m{j}", f"d{t}", 100 + i, f + 1, scores[t, j, i, f])
        for t, j, i, f in np.ndindex(scores.shape)
    ]
    return pd.DataFrame(rows, columns=names).sample(frac=1, random_state=0)


def test_a_long_table_is_read_whatever_the_order_of_its_rows() -> None:
    frame = long_of()
    found = bs.read_fold_scores(frame)
    learners = [found.learners.index(f"m{j}") for j in range(3)]
    tasks = [found.tasks.index(f"d{t}") for t in range(2)]
    assert np.array_equal(found.scores[np.ix_(tasks, learners)], SCORES)
    assert (found.folds, found.scorer) == (2, "auc")
    named = frame.rename(columns=dict(zip(frame.columns, "abcde", strict=True)))
    options = dict(zip(("learner", "task", "iteration", "fold", "score"), "abcde", strict=True))
    again = bs.read_fold_scores(named, **{f"{k}_column": v for k, v in options.items()})
    assert np.array_equal(again.scores, found.scores)


def test_what_is_written_is_read(runs: FoldScores, tmp_path: Path) -> None:
    holes = runs.scores.copy()
    holes[0, 1, 3, 1] = np.nan
    holes[1, :, 9:] = np.nan
    for scores in (runs.scores, holes, holes[:1], holes.mean(axis=3, keepdims=True)):
        folds = 2 if scores.shape[3] == 1 else None
        first = FoldScores(scores, learners=runs.learners, folds=folds, scorer="roc_auc")
        bs.data.write_fold_scores(first, tmp_path / "x.csv")
        found = bs.read_fold_scores(tmp_path / "x.csv", folds=folds)
        assert np.array_equal(found.scores, first.scores, equal_nan=True)
        assert (found.tasks, found.scorer, found.folds) == (first.tasks, "roc_auc", 2)
        assert found.learners == first.learners
    header = (tmp_path / "x.csv").read_text().splitlines()[0]
    assert header == "learner,task,iteration,roc_auc"


@pytest.mark.parametrize(
    ("scorer", "lower"),
    [("rmse", True), ("score", True), ("roc_auc", False), ("neg_log_loss", False)],
)
def test_a_direction_is_the_same_after_writing_and_reading(
    scorer: str, lower: bool, tmp_path: Path
) -> None:
    first = bs.read_fold_scores(long_of().rename(columns={"auc": scorer}), lower_is_better=lower)
    for number in range(2):
        bs.data.write_fold_scores(first, tmp_path / f"{number}.csv")
        assert bs.read_fold_scores(tmp_path / f"{number}.csv") == first
    if lower:
        with pytest.raises(InputError, match="larger is better already"):
            bs.read_fold_scores(tmp_path / "0.csv", lower_is_better=True)


def test_scores_called_like_losses_are_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    first = FoldScores(-SCORES, scorer="max_error")  # larger is better, whatever its name
    bs.data.write_fold_scores(first, tmp_path / "x.csv")
    assert bs.read_fold_scores(tmp_path / "x.csv") == first


ODD = ("-a", "=1+1", "+a", "@a", "'-a", "''=a", "'a", "-1", "＝a", "a,b;c;d;e;f;g", 'a "b"', "a\nb")


def test_names_are_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(1), tmp_path / "x.csv"
    first = FoldScores(rng.random((2, 12, 3, 2)), learners=ODD, tasks=["-x", "'=y"])
    bs.data.write_fold_scores(first, path)
    assert bs.read_fold_scores(path) == first
    numbers = bs.ItemScores(rng.random((12, 12)), names=ODD, items=ODD, name="x")
    bs.data.write_items(numbers, path)
    assert bs.read_item_scores(path) == numbers
    answers = bs.Responses(rng.integers(0, 2, (12, 12)), names=ODD, items=ODD, name="x")
    bs.data.write_items(answers, path)
    assert bs.read_responses(path) == answers


def test_wide_tables_have_the_learners_in_their_columns() -> None:
    cells = pd.DataFrame(SCORES[0].reshape(3, -1).T, columns=["a", "b", "c"])
    plain = bs.read_fold_scores(cells, folds=2)
    assert np.array_equal(plain.scores[0], SCORES[0])
    by_name = cells.assign(repeat=np.repeat(range(12), 2), fold=np.tile([1, 2], 12))
    assert np.array_equal(bs.read_fold_scores(by_name).scores, plain.scores)
    means = pd.DataFrame(SCORES[0].mean(axis=2).T, columns=["a", "b", "c"])
    each = bs.read_fold_scores(means.assign(run=range(12)), folds=2)
    assert each.scores.shape == (1, 3, 12, 1)
    assert np.array_equal(each.iteration_means(), plain.iteration_means())
    both = pd.concat([cells.assign(task="x"), cells.assign(task="y")])
    assert bs.read_fold_scores(both, folds=2).scores.shape == (2, 3, 12, 2)


def test_a_search_of_scikit_learn_is_read() -> None:
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=cv)
    found = search.fit(*load_iris(return_X_y=True)).cv_results_
    runs = bs.read_fold_scores(found, folds=3)
    assert runs.scores.shape == (1, 2, 4, 3)
    assert runs.scores[0, 1, 2, 1] == found["split7_test_score"][1]
    assert bs.read_fold_scores(found).scores.shape == (1, 2, 1, 12)
    with pytest.raises(InputError, match="12 folds are no whole number of iterations of folds=5"):
        bs.read_fold_scores(found, folds=5)


def test_losses_are_negated_where_it_is_said() -> None:
    frame = long_of().rename(columns={"auc": "log_loss"})
    with pytest.raises(InputError, match="holds errors by its name"):
        bs.read_fold_scores(frame)
    found = bs.read_fold_scores(frame, lower_is_better=True)
    assert found.scorer == "-log_loss"
    assert found.scores.max() <= 0


def changed(**cells: Any) -> pd.DataFrame:
    """The long table of one data set, in order, with a change in its fourth row."""
    frame = long_of(SCORES[:1]).sort_index().astype(object)
    for name, value in cells.items():
        frame.loc[3, name] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (changed(auc="x"), {}, "row 4, column 'auc': a score is a finite number"),
        (changed(seed=100), {}, r"row 4: .*learner 'm0', iteration '100', fold '2' already has"),
        (changed(model=None), {}, "row 4, column 'model': the learner has no name"),
        (changed(), {"folds": 1}, "folds must be a whole number from 2"),
        (changed(), {"fold_column": "seed"}, "column .seed. cannot be the folds"),
        (changed().assign(f1=1.0, acc=2.0), {}, "columns look like scores"),
        (pd.DataFrame({"a": [0.1, 0.2], "b": [0.1, 0.2]}), {}, "no column names the iterations"),
        (pd.DataFrame({"a": [0.1, 0.2, 0.3]}), {"folds": 2}, "3 folds are no whole number"),
    ],
)
def test_tables_that_cannot_be_meant_are_refused(
    frame: pd.DataFrame, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        bs.read_fold_scores(frame, **options)


def test_a_data_set_may_have_fewer_iterations_but_none_left_out() -> None:
    frame = long_of()
    fewer = frame[(frame["dataset"] == "d0") | (frame["seed"] < 105)]
    found = bs.read_fold_scores(fewer)
    short = found.scores[found.tasks.index("d1")]
    assert np.isnan(short[:, 5:]).all()
    assert not np.isnan(short[:, :5]).any()
    with pytest.raises(InputError, match="iteration '103', fold '1' has no row"):
        bs.read_fold_scores(frame[(frame["dataset"] == "d0") | (frame["seed"] != 103)])
