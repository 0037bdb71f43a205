"""Rounds and battles of many rows, against pandas and NumPy."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.crossval.fold_scores import read_fold_scores
from bayes_sota.data.tournaments import read_scores


def test_many_rows_agree_with_a_pivot(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = [(d, f"m{m}", s) for d in "pqr" for m in range(60) for s in range(20)]
    frame = pd.DataFrame(rows, columns=["data", "model", "split"])
    frame = frame.assign(auc=rng.random(len(frame))).sample(frac=0.9, random_state=3)
    frame.to_csv(tmp_path / "many.csv", index=False)
    for name, table in read_scores(tmp_path / "many.csv", tournament="data").items():
        part = frame[frame["data"] == name]
        pivot = part.pivot(index="split", columns="model", values="auc")
        pivot = pivot.loc[[int(r) for r in table.rounds], list(table.players)]
        np.testing.assert_array_equal(table.scores, pivot)
        wide = pivot.rename_axis("fold")
        for source in (
            part[["model", "split", "auc"]],
            wide,
            wide.T,
            pl.DataFrame(part).drop("data"),
        ):
            assert np.nansum(read_scores(source).scores) == pytest.approx(np.nansum(pivot))


def test_splits_of_a_search_by_pandas(tmp_path: Path) -> None:
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    tree, grid = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, None]}
    search = GridSearchCV(tree, grid, cv=cv, scoring=["accuracy", "f1_macro"], refit=False)
    results = pd.DataFrame(search.fit(*load_iris(return_X_y=True)).cv_results_)
    splits = results.set_index("params").filter(regex="^split.*_accuracy").T.rename_axis("fold")
    splits.to_csv(tmp_path / "splits.csv")
    for source in (splits, tmp_path / "splits.csv"):
        table = read_scores(source)
        assert (table.players[2], table.n_rounds) == ("{'max_depth': None}", 12)
        means = table.scores.mean(axis=0)
        np.testing.assert_allclose(means, results["mean_test_accuracy"], atol=1e-9)
        runs = read_fold_scores(source, folds=3)
        assert runs.scores.shape == (1, 3, 4, 3)
        assert runs.scores[0, 1, 2, 1] == pytest.approx(results["split7_test_accuracy"][1])


def test_a_matrix_of_many_counts_agrees_with_numpy() -> None:
    counts = np.random.default_rng(0).integers(0, 9, (12, 12))
    np.fill_diagonal(counts, 0)
    names = [f"m{i}" for i in range(12)]
    found = read_scores(pd.DataFrame(counts, index=pd.Index(names, name="model"), columns=names))
    wins = np.zeros((12, 12), int)
    order = [names.index(name) for name in found.players]
    first, second = (np.array(order)[places] for places in (found.first, found.second))
    np.add.at(wins, (first, second), found.outcomes.astype(int))
    np.testing.assert_array_equal(wins, counts)
