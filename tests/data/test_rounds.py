"""Rounds: real shapes, the same by pandas, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from data.files import refused, written
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.crossval.fold_scores import read_fold_scores
from bayes_sota.data.tournaments import read_scores

SCORES = [[0.9, 0.8, 0.7], [0.5, np.nan, 0.6]]  # rounds x players
LONG = "model,fold,auc\na,x,0.9\nb,x,0.8\nc,x,0.7\na,y,0.5\nb,y,NA\nc,y,0.6\n"
WIDE = "fold,a,b,c\nx,0.9,0.8,0.7\ny,0.5,,0.6\n"
TURNED = "model,x,y\na,0.9,0.5\nb,0.8,-\nc,0.7,0.6\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (LONG, {}),
        (LONG.replace("model,fold,auc", "who,when,what"),
         {"entry": "who", "unit": "when", "score": "what"}),
        (WIDE, {}),
        (WIDE.replace("fold", "suite"), {"unit": "suite"}),
        (WIDE.replace("fold", ""), {"players": "columns"}),
        (TURNED, {}),
        (TURNED.replace("model", ""), {"players": "rows"}),
        (TURNED.replace("model", "suite"), {"entry": "suite"}),
    ],
)  # fmt: skip
def test_layouts_agree(tmp_path: Path, text: str, options: Any) -> None:
    found = read_scores(written(tmp_path, text), **options)
    assert (found.players, found.rounds) == (("a", "b", "c"), ("x", "y"))
    np.testing.assert_array_equal(found.scores, SCORES)
    assert (found.tournament, found.notes[0][:6]) == ("board", "Read: ")
    assert (found.scheme == "model/cv") == ("fold" in text)


def test_frames_and_files_agree(tmp_path: Path) -> None:
    long = pd.read_csv(written(tmp_path, LONG))
    wide = pd.DataFrame(SCORES, columns=list("abc"), index=["x", "y"])
    for source in (long, pl.DataFrame(long.to_dict("list")), wide, wide.rename_axis("task"),
                   wide.T.rename_axis("model")):  # fmt: skip
        np.testing.assert_array_equal(read_scores(source).scores, SCORES)


def test_tournaments_and_groups(tmp_path: Path) -> None:
    rows = [(d, m, f) for d, models in (("iris", "ba"), ("wine", "bac")) for f in "yx"
            for m in models]  # fmt: skip
    lines = "".join(f"{','.join(row)},{score}\n" for score, row in enumerate(rows))
    path = written(tmp_path, "dataset,model,fold,acc\n" + lines)
    found = read_scores(path, tournament="dataset")
    assert list(found) == ["iris", "wine"]
    assert (found["iris"].players, found["wine"].rounds) == (("b", "a"), ("y", "x"))
    np.testing.assert_array_equal(found["wine"].scores, [[4, 5, 6], [7, 8, 9]])
    together = read_scores(path)  # folds of one data set depend on each other
    assert together.rounds == ("iris/y", "iris/x", "wine/y", "wine/x")
    assert together.groups == ("iris", "iris", "wine", "wine")
    assert read_scores(path, group="dataset") == together


def test_rounds_of_the_same_name_in_different_groups_differ(tmp_path: Path) -> None:
    rows = "iris,1,.9,.8\niris,2,.8,.7\nwine,1,.5,.6\nwine,2,.6,.7\n"
    wide = read_scores(written(tmp_path, "data,fold,a,b\n" + rows), group="data")
    assert wide.rounds == ("iris/1", "iris/2", "wine/1", "wine/2")
    assert wide.groups == ("iris", "iris", "wine", "wine")
    text = "data,a,b\n" + rows.replace(",1", "").replace(",2", "")
    bare = read_scores(written(tmp_path, text), group="data")
    assert (bare.rounds, bare.groups) == (wide.rounds, wide.groups)
    assert read_scores(tmp_path / "board.csv") == bare
    long = pd.read_csv(written(tmp_path, "data,fold,a,b\n" + rows)).melt(
        ["data", "fold"], var_name="model", value_name="score"
    )
    melted = read_scores(long)
    assert (melted.rounds, melted.groups) == (wide.rounds, wide.groups)
    np.testing.assert_array_equal(melted.scores, wide.scores)
    long["fold"] += np.where(long["data"] == "wine", 2, 0)  # names that differ stay as they are
    assert read_scores(long).rounds == ("1", "2", "3", "4")
    assert read_scores(long).groups == wide.groups


def test_what_says_something_of_players_tells_no_rounds_apart() -> None:
    rows = [(m, g, t, i + j) for i, (m, g) in enumerate(("ap", "bp", "cq")) for j, t in
            enumerate("xyz")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["model", "group", "task", "score"])
    found = read_scores(frame)
    assert (found.rounds, found.groups) == (("x", "y", "z"), None)
    assert "clusters say something of players, not of rounds" in found.notes
    rows = [(m, t, f, f) for m, t in ("ax", "by") for f in range(3)]
    never_met = read_scores(pd.DataFrame(rows, columns=["model", "task", "fold", "score"]))
    assert np.isnan(never_met.scores).sum(axis=0).tolist() == [3, 3]


def test_directions(tmp_path: Path) -> None:
    path = written(tmp_path, "task,a,b\nx,1,2\nval_rmse,2,1\n")
    refused("true of all, or leave them out", read_scores, path)
    assert read_scores(path, direction="lower").lower_is_better.tolist() == [True, True]
    told = written(tmp_path, "task,higher_is_better,a,b\nx,true,1,2\nval_rmse,false,2,1\n")
    assert read_scores(told).lower_is_better.tolist() == [False, True]


def test_empty_rounds_and_players_are_dropped_with_a_note(tmp_path: Path) -> None:
    found = read_scores(written(tmp_path, "task,a,b,c\nx,1,2,\ny,2,1,\nz,,,\nw,1,1,\n"))
    assert (found.players, found.rounds) == (("a", "b"), ("x", "y", "w"))
    assert 'dropped rounds and players without any score: "z"' in found.notes


def test_many_rows_agree_with_a_pivot(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = [(d, f"m{m}", s) for d in "pqr" for m in range(60) for s in range(20)]
    frame = pd.DataFrame(rows, columns=["data", "model", "split"])
    frame = frame.assign(auc=rng.random(len(frame))).sample(frac=0.9, random_state=3)
    frame.to_csv(tmp_path / "many.csv", index=False)
    for name, table in read_scores(tmp_path / "many.csv", tournament="data").items():
        pivot = frame[frame["data"] == name].pivot(index="split", columns="model", values="auc")
        expected = pivot.loc[[int(r) for r in table.rounds], list(table.players)].to_numpy()
        np.testing.assert_array_equal(table.scores, expected)


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
    refused("12 folds are no whole", read_fold_scores, splits, folds=5)
