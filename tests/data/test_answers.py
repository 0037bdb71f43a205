"""Answers and numbers of items: shapes by hand, pivots by pandas, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import refused, run_json, written

from bayes_sota.data.answers import outcomes_of, read_outcomes, read_weights
from bayes_sota.data.reading import read_tidy

NAN = float("nan")


def read(folder: Path, content: Any, **options: Any) -> Any:
    return read_outcomes(written(folder, content, "f.csv"), **options)


def same(found: Any, names: str, items: str, values: list[list[float]]) -> bool:
    labels = (found.names, found.items) == (tuple(names.split()), tuple(items.split()))
    return labels and np.array_equal(found.values, values, equal_nan=True)


@pytest.mark.parametrize(
    "text",
    [
        "doc_id,tree,forest\nx,True,False\ny,FALSE,true\nz,NaN, 1 \n",
        "case_id,tree,forest\nx,1,0\ny,0,1\nz,-1,1\n",
        "seconds,model,prompt,response,passed\n9,tree,x,b,1\n9,forest,x,b,0\n9,tree,y,b,0\n"
        "9,forest,y,b,1\n9,forest,z,b,yes\n",
        "id,ground_truth,tree,forest\nx,cat,cat,dog\ny,dog,cat ,dog\nz,cat,NA,cat\n",
        "id,tree,forest,y_true\nx,3,2,3\ny,1,2.0,2\nz,,1,1\n",
        "item,label,tree,forest\nx,1,1,0\ny,0,1,0\nz,0,,0\n",
    ],
)
def test_answers_in_every_dress(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.is_answers
    assert same(found, "tree forest", "x y z", [[1, 0], [0, 1], [NAN, 1]])
    assert found.notes[0].startswith("Read: ")
    assert found.name == "f"


def test_frames_and_tables_read_already_are_sources_too() -> None:
    frame = pd.DataFrame({"item": ["x", "y"], "tree": [True, False], "forest": [0.0, 1.0]})
    found = read_outcomes(frame)
    assert same(found, "tree forest", "x y", [[1, 0], [0, 1]])
    assert outcomes_of(read_tidy(frame)) == found
    assert read_outcomes(frame, use=["tree"]).names == ("tree",)


def test_one_model_is_enough_and_items_without_names_are_numbered(tmp_path: Path) -> None:
    assert same(read(tmp_path, "item,tree\nx,1\ny,0\n"), "tree", "x y", [[1], [0]])
    assert same(read(tmp_path, "item,correct\nx,1\ny,0\n"), "f", "x y", [[1], [0]])
    found = read(tmp_path, "unet,vnet\n.91,.5\n.7,1\n.1,0\n")
    assert same(found, "unet vnet", "1 2 3", [[0.91, 0.5], [0.7, 1], [0.1, 0]])
    assert found.metric == "mean"


SUBJECTS = {"law": 6, "art": 3, "physics": 11}


def exams(runs: int = 1) -> pd.DataFrame:
    """Answers to questions that each subject numbers anew, in passages of up to three."""
    rng = np.random.default_rng(3)
    rows = [
        (model, subject, item, f"{subject}{item // 3}", run, int(rng.integers(2)))
        for model in ("gpt-4", "llama", "mistral")
        for subject, size in SUBJECTS.items()
        for item in range(size)
        for run in range(runs)
    ]
    names = ["model", "subject", "item", "passage", "seed", "correct"]
    return pd.DataFrame(rows, columns=names).sample(frac=1, random_state=1)


def test_tasks_clusters_and_runs_are_those_of_a_pivot() -> None:
    table = exams(runs=4)
    found = read_outcomes(table)
    shares = table.pivot_table(index=["subject", "item"], columns="model", values="correct")
    places = [
        (task, int(item.split("/")[1]))
        for task, item in zip(found.tasks or (), found.items, strict=True)
    ]
    np.testing.assert_allclose(found.values, shares.loc[places, list(found.names)])
    assert found.n_runs == 4
    assert found.clusters == tuple(f"{task}{item // 3}" for task, item in places)
    of_task = table.groupby(["model", "subject"])["correct"].mean().groupby("model").mean()
    np.testing.assert_allclose(found.scores, of_task[list(found.names)])
    again = read_outcomes(table, average="items")
    of_item = table.groupby("model")["correct"].mean()
    np.testing.assert_allclose(again.scores, of_item[list(found.names)])
    assert read_outcomes(table, metric="pass@2", new="tasks").passes == (2, False)


def test_runs_may_differ_in_number_and_be_counted(tmp_path: Path) -> None:
    rows = "a,x,1,1\na,x,2,0\na,x,3,1\na,y,1,0\nb,x,1,1\nb,y,1,1\nb,y,2,0\nb,x,2,1\n"
    found = read(tmp_path, f"model,item,seed,correct\n{rows}")
    assert found.run_numbers.tolist() == [[3, 2], [1, 2]]
    assert found.values.tolist() == [[2 / 3, 1], [0, 0.5]]
    counted = read(tmp_path, "model,item,runs,correct\na,x,3,2\na,y,1,0\nb,x,2,2\nb,y,2,1\n")
    assert counted.run_numbers.tolist() == found.run_numbers.tolist()
    np.testing.assert_allclose(counted.values, found.values)
    blank = read(
        tmp_path, "model,item,runs,correct\na,x,3,2\na,y,1,\nb,x,2,2\nb,y,2,1\nb,z,2,1\na,z,1,1\n"
    )
    assert blank.items == ("x", "z")
    assert any("1 of 3 items that some entries lack" in note for note in blank.notes)


def test_numbers_of_tasks_are_averages_and_those_of_runs_are_means() -> None:
    table = exams(runs=2).drop(columns="passage")
    table["correct"] = np.random.default_rng(1).random(len(table))
    exam = read_outcomes(table)
    by_task = table.groupby(["model", "subject"])["correct"].mean().unstack().mean(axis=1)
    np.testing.assert_allclose(exam.scores, by_task[list(exam.names)])
    law = table[table["subject"] == "law"]
    means = law.groupby("model")["correct"].mean()
    found = read_outcomes(law)
    assert found.tasks is None
    np.testing.assert_allclose(found.scores, means[list(found.names)])


def test_data_sets_are_the_sample_where_each_row_has_its_own(tmp_path: Path) -> None:
    wide = "dataset,tree,net\niris,.9,.8\nwine,.6,.7\ndigits,.7,.6\nAverage,.73,.7\n"
    board = "model,iris,wine,digits\ntree,.9,.6,.7\nnet,.8,.7,.6\n"
    for text in (wide, board):
        found = read(tmp_path, text)
        assert same(found, "tree net", "iris wine digits", [[0.9, 0.8], [0.6, 0.7], [0.7, 0.6]])
        assert (found.new, found.unit) == ("tasks", "data set")


def test_probabilities_beside_labels_are_an_auc(tmp_path: Path) -> None:
    text = "id,label,a,b\n1,1,.9,.8\n2,1,.7,.1\n3,0,.2,.5\n4,0,.8,.3\n"
    found = read(tmp_path, text)
    assert (found.metric, found.scores.tolist()) == ("auc", [0.75, 0.5])
    assert read(tmp_path, text, metric="auc") == found
    assert read(tmp_path, text.replace("label", "positive"), label="positive") == found
    long = "model,case,truth,probability\n" + "".join(
        f"{model},{i},{label},{p}\n"
        for model, of in (("a", (0.9, 0.7, 0.2, 0.8)), ("b", (0.8, 0.1, 0.5, 0.3)))
        for i, (label, p) in enumerate(zip("1100", of, strict=True), 1)
    )
    assert read(tmp_path, long).scores.tolist() == [0.75, 0.5]


def test_a_metric_makes_numbers_or_names_them(tmp_path: Path) -> None:
    text = "item,a,b\n1,1,0\n2,0,-1\n3,1,1\n"
    assert read(tmp_path, text, metric="mean").scores.tolist() == [2 / 3, 0]
    rmse = read(tmp_path, text, metric="rmse")
    assert (rmse.lower_is_better, rmse.metric) == (True, "rmse")
    long = "model,item,em,f1\na,x,1,.9\na,y,0,.5\nb,x,0,.4\nb,y,1,1\n"
    assert read(tmp_path, long, metric="f1").values.tolist() == [[0.9, 0.4], [0.5, 1]]
    assert read(tmp_path, long, metric="em").values.tolist() == [[1, 0], [0, 1]]
    tidy = "model,item,metric,score\na,x,em,1\na,x,f1,.9\na,y,em,0\na,y,f1,.5\n"
    assert read(tmp_path, tidy, metric="f1").values.ravel().tolist() == [0.9, 0.5]
    refused("several metrics", read, tmp_path, tidy)
    losses = read(tmp_path, "item,a,b\nx,2.5,3.5\ny,1.5,1\n", direction="lower")
    assert (losses.lower_is_better, losses.scores.tolist()) == (True, [-2, -2.25])


def test_files_are_joined_on_the_item(tmp_path: Path) -> None:
    one = written(tmp_path, "item,tree\nx,1\ny,0\nz,1\nonly,1\n", "one.csv")
    two = written(tmp_path, "item,forest,net\nz,0,1\ny,1,1\nx,1,0\n", "two.csv")
    found = read_outcomes(one, two)
    assert same(found, "tree forest net", "x y z", [[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    assert (
        found.notes[-1] == 'left out 1 of 4 items that some entries lack; "forest" has the fewest'
    )
    plain = [written(tmp_path, "item,correct\nx,1\ny,0\n", f"{name}/a.csv") for name in "pq"]
    assert read_outcomes(*plain).names == ("p", "q")
    other = written(tmp_path, "item,net\nq,1\nr,1\nz,0\n", "three.csv")
    refused("5 of 6 items that some entries lack.*leave_out", read_outcomes, one, other)
    refused('"tree" has a score already on .*one.csv, line 2', read_outcomes, one, one)
    assert read_outcomes(one, two, leave_out=["tree"]).names == ("forest", "net")


def test_missing_answers_stay_where_that_is_possible() -> None:
    frame = pd.DataFrame({"item": list("vwxyz"), "a": [1, 0, 1, 1, None], "b": [0, 1, 1, 0, 1]})
    assert read_outcomes(frame).has_missing
    found = read_outcomes(frame.assign(task=list("ppqqq")))
    assert (found.n_items, found.has_missing) == (4, False)
    numbers = read_outcomes(frame.assign(b=[0.5, 0.1, 0.2, 0.3, 0.4]))
    assert (numbers.metric, numbers.items) == ("mean", ("v", "w", "x", "y"))
    refused(
        'left out 1 of 5 items that some entries lack; "a" has',
        read_outcomes,
        frame.assign(task=list("ppppq")),
    )


def test_weights_of_tasks_are_a_table(tmp_path: Path, capsys: Any) -> None:
    weights = written(tmp_path, "subject,weight\nlaw,2\nart,1\nphysics,1\n", "weights.csv")
    assert read_weights(weights) == {"law": 2, "art": 1, "physics": 1}
    run_json(capsys, "score", written(tmp_path, exams(), "exams.csv"), "--average", weights)
