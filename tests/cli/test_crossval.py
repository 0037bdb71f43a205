"""``bayes-sota cv``: the numbers of Python, files in and out, and what it refuses."""

import json
from functools import partial

import crossval_runs
import numpy as np
import pandas as pd
import pytest
from data.files import run

import bayes_sota as bs
from bayes_sota import crossval
from bayes_sota.cli import cv
from bayes_sota.core.sample import read_result, save_result
from bayes_sota.crossval.estimates import against_truth
from bayes_sota.crossval.fold_scores import FoldScores, read_fold_scores
from bayes_sota.crossval.rules import RULES, posterior, spearman
from bayes_sota.crossval.run import runs_of_tree
from bayes_sota.crossval.summary import judge_runs
from bayes_sota.crossval.summary_runs import report_comparison

BASE = ["--column", "target=grade", "--learners", "nb,tree", "--folds", "3", "--iterations", "4"]


def scores_of(tasks):
    rng = np.random.default_rng(3)
    values = rng.normal(np.array([0.9, 0.88])[:, None, None], 0.03, (tasks, 2, 24, 5))
    names = [f"task {t}" for t in range(tasks)]
    return FoldScores(values, learners=["nb", "tree"], tasks=names, scorer="roc_auc")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    crossval_runs.write_scores(scores_of(1), path)
    return path


@pytest.fixture
def judge(capsys):
    return partial(run, capsys, "cv", "judge")


def test_every_rule_is_offered():
    assert set(cv._RULES) == set(RULES)


@pytest.mark.slow
def test_a_run_has_the_numbers_of_python(tmp_path, capsys):
    rng, table = np.random.default_rng(0), tmp_path / "loans.csv"
    rows = rng.normal(size=(90, 3))
    y = np.where(rows[:, 0] + 0.5 * rows[:, 1] + rng.normal(size=90) > 0, "good", "bad")
    frame = pd.DataFrame(rows.round(3), columns=["a", "b", "c"])
    frame.assign(sort=rng.choice(["x", "z"], 90), grade=y).to_csv(table, index=False)
    saved = ("--save", tmp_path / "runs.nc", "--save", tmp_path / "table.csv")
    code, out, _ = run(capsys, "cv", "run", table, *BASE, "--seed", 1, "--json", *saved)
    found = json.loads(out)
    tree = read_result(tmp_path / "runs.nc")
    scores, probabilities = runs_of_tree(tree)
    frame = tree["observed_data"]["fold_score"].to_dataframe().reset_index()
    np.testing.assert_array_equal(read_fold_scores(frame).scores, scores.scores)
    assert (code, scores.tasks, scores.scorer) == (0, ("loans",), "roc_auc")
    steady = [row["steady"] for row in found["learners"]]
    assert sorted(steady) == pytest.approx(sorted(scores.iteration_means()[0].mean(axis=1)))
    attributes, labels, categories, _ = crossval.read_task(table, "grade")
    learners = crossval.named_learners(["nb", "tree"], categories)
    settings = {"folds": 3, "iterations": 4, "random_seed": 1, "task": "loans"}
    runs = bs.repeated_cross_validation(learners, attributes, labels, **settings)
    assert runs.fold_scores.data_hash() == scores.data_hash()
    assert np.array_equal(probabilities, runs.probabilities)
    names = pd.read_csv(tmp_path / "table.csv")["learner"].tolist()
    assert names == [row["learner"] for row in found["learners"]]


def test_a_judgement_has_the_numbers_of_python(judge, file, tmp_path):
    words = "--rule posterior --threshold 0.8 --prob 0.8 --seed 4 --json"
    code, out, _ = judge(file, *words.split(), "--save", tmp_path / "judged.nc")
    settings = {"rule": posterior(0.8), "ci_prob": 0.8, "random_seed": 4}
    expected = judge_runs(read_fold_scores(file), **settings)
    assert code == int(not expected.content["diagnostics"]["ok"])
    assert json.loads(out) == json.loads(expected.to_json())
    assert read_result(tmp_path / "judged.nc")["posterior"]["difference"].sizes["pair"] == 1
    error = judge(tmp_path / "judged.nc")[2]
    assert "this is not a result that bayes-sota cv run --save FILE.nc has written" in error
    runs = crossval_runs.run(iterations=6, folds=2)
    save_result(runs.to_datatree(), tmp_path / "runs.nc")
    words = ("--rule", "spearman", "--threshold", 0.99, "--seed", 1, "--json")
    content = json.loads(judge(tmp_path / "runs.nc", *words)[1])
    expected = judge_runs(runs.fold_scores, runs.probabilities, rule=spearman(0.99), random_seed=1)
    assert content["learners"] == json.loads(expected.to_json())["learners"]


def test_true_test_sets(judge, tmp_path):
    runs = scores_of(3)
    truth = np.array([[0.91, 0.9], [0.92, 0.9], [0.9, 0.93]])
    crossval_runs.write_scores(runs, tmp_path / "five.csv")
    rows = [f"{n},task {t},{truth[t, j]}" for t in (2, 0, 1) for j, n in enumerate(("nb", "tree"))]
    (tmp_path / "truth.csv").write_text("\n".join(["learner,task,score", *rows]))
    words = ("--rule", "fixed", "--truth", tmp_path / "truth.csv", "--json")
    code, out, error = judge(tmp_path / "five.csv", *words, "--save", tmp_path / "figure.png")
    assert code == 0, error
    content = json.loads(out)
    expected = against_truth(runs, truth)["steady"]
    found = content["against_truth"]["steady"]
    assert found["same_best"] == expected["same_best"]
    for name in ("bias", "mse"):
        assert list(found[name].values()) == pytest.approx(expected[name])
    said = f"the means of all iterations are {-expected['bias'].mean():.2g} too low"
    assert said in content["text"]
    assert (tmp_path / "figure.png").stat().st_size > 10_000


@pytest.mark.slow
def test_one_model_of_all_learners(judge, file, tmp_path, monkeypatch, not_sampled):
    few = partial(crossval.sample_comparison, draws=20, chains=2)
    monkeypatch.setattr(crossval, "sample_comparison", few)
    words = ("--bayes", "--prob", 0.8, "--seed", 1, "--json", "--save", tmp_path / "model.nc")
    code, out, _ = judge(file, *words)
    assert code in (0, 1)
    tree = read_result(tmp_path / "model.nc")
    expected = report_comparison(tree, ci_prob=0.8)
    assert json.loads(out)["pairs"] == json.loads(expected.to_json())["pairs"]


@pytest.mark.parametrize(
    ("levels", "said"),
    [((0.8, 0.7, 0.6), "no test is possible"), ((0.8, 0.8), "the corrected test has p > 0.999 (")],
)
def test_scores_that_never_vary(judge, tmp_path, levels, said):
    scores = np.broadcast_to(np.array(levels)[:, None, None], (len(levels), 6, 5))
    crossval_runs.write_scores(FoldScores(scores), tmp_path / "constant.csv")
    code, out, error = judge(tmp_path / "constant.csv", "--seed", "1")
    assert (code, error, said in out) == (0, "", True)
    assert not any(wrong in out for wrong in ("nan", "e-17", "= >"))
