"""Rounds and battles: many rows against pandas and NumPy; directions, clusters and places."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayes_sota.data.tournaments import ScoreTable, read_scores


def test_many_rows_agree_with_a_pivot(tmp_path) -> None:
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
        polars = pl.DataFrame(part).drop("data")
        for source in (part[["model", "split", "auc"]], wide, wide.T, polars):
            assert np.nansum(read_scores(source).scores) == pytest.approx(np.nansum(pivot))


def test_directions_and_clusters_of_rounds() -> None:
    scores = [[0.9, 0.8, np.nan], [2.0, 1.0, 3.0], [0.5, 0.5, 0.5]]
    frame = pd.DataFrame(scores, columns=[*"vcs"], index=["acc", "loss", "auc"])
    table = ScoreTable(frame, lower_is_better=[False, True, False], groups=["q", "p", "q"])
    np.testing.assert_array_equal(table.oriented, frame.mul([1, -1, 1], axis=0))
    assert (table.players, table.rounds) == (("v", "c", "s"), ("acc", "loss", "auc"))
    assert table.clusters.tolist() == [1, 0, 1]  # in the order of their names
    assert ScoreTable(frame).clusters.tolist() == [0, 2, 1]
    assert ScoreTable(scores, lower_is_better=np.bool_(True)).lower_is_better.all()
