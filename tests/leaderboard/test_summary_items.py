"""``score`` and ``board --by task``: the same numbers everywhere, words and files."""

import json

import numpy as np
import pandas as pd
import pytest
from data.files import EXAM, run, written
from scipy.stats import ttest_rel

from bayes_sota import Outcomes, read_outcomes
from bayes_sota.claims import report_tasks
from bayes_sota.leaderboard import board_by_task

RUNS = "model,task,item,seed,correct\n" + "\n".join(
    f"tree,{task},{item},{seed},{int((item * 7 + seed) % 5 > 0)}"
    for task in ("law", "art", "physics")
    for item in range(12)
    for seed in range(2)
)


def test_a_count_in_words(capsys) -> None:
    code, out, error = run(capsys, "score", "--right", "50", "--n-test", "50")
    assert (code, error) == (0, "")
    assert out.splitlines()[:2] == [
        "Expect the classifier to score 99.0 % (95.1 to 100.0) on many new items; here it has "
        "100.0 %.",
        "Based on 50 items; ranges are 95% intervals.",
    ]


def test_one_classifier_of_a_file(capsys, tmp_path) -> None:
    one = written(tmp_path, RUNS)
    code, out, _ = run(capsys, "score", one, "--json")
    found = json.loads(out)
    (tree,) = found["classifiers"]
    assert (code, found["average"], found["new"]) == (0, "tasks", "items")
    assert (tree["name"], tree["n_items"], tree["n_tasks"], tree["n_runs"]) == ("tree", 36, 3, 2)
    low, high = tree["skill"]["interval"]
    assert low < tree["score"] < high
    for new, words in (("runs", "many new runs of these items"), ("tasks", "new tasks like these")):
        assert words in run(capsys, "score", one, "--new", new)[1].splitlines()[0]
    assert "pass@2 of" in run(capsys, "score", one, "--metric", "pass@2")[1]


@pytest.mark.slow
def test_boards_are_about_runs_tasks_and_passes(capsys) -> None:
    widths = {}
    for new in ("runs", "items", "tasks"):
        found = json.loads(run(capsys, "board", EXAM, "--new", new, "--json")[1])
        widths[new] = np.ptp(found["theta_sota"]["interval"])
        assert (found["new"], found["rho"]["learnt"]) == (new, new != "runs")
        assert f"many new {new}" in found["text"]
    assert widths["runs"] < widths["items"] < widths["tasks"]
    for command in ("sota", "board"):
        assert "to have a pass@2 of" in run(capsys, command, EXAM, "--metric", "pass@2")[1]


def test_pairs_about_new_tasks_have_the_t_law_of_their_means(capsys) -> None:
    arguments = ["--new", "tasks", "--pair", "forest", "tree", "--json"]
    (pair,) = json.loads(run(capsys, "claim", "responses", EXAM, *arguments)[1])["pairs"]
    data = read_outcomes(EXAM, new="tasks")
    codes, weights = data.task_codes
    means = np.stack([data.values[codes == t].mean(axis=0) for t in range(weights.size)])
    first, second = (means[:, data.names.index(name)] for name in ("forest", "tree"))
    assert pair["p_false"] == pytest.approx(ttest_rel(first, second, alternative="greater").pvalue)


def test_tasks_have_the_draws_skills_and_the_best_of_claim_responses() -> None:
    rng, gaps = np.random.default_rng(0), (0.3, 0.1, -0.1)
    right = np.concatenate([rng.random((100, 3)) < [0.5 + gap, 0.5, 0.5] for gap in gaps])
    tasks = [f"task {t}" for t in range(3) for _ in range(100)]
    data = Outcomes(right, tasks=tasks, names=list("abc"))
    found, claim = board_by_task(data, ci_prob=0.8), report_tasks(data).content
    assert "expect a, the best over all tasks, to score" in found.sentences[0]
    assert found.tables[0].header[2] == "a"
    for row in found.content["entries"]:
        task, entry = int(row["task"][-1]), "abc".index(row["name"])
        drawn, theirs = found.about.skills_in(task)[:, entry], claim["tasks"][task]
        assert row["skill"]["mean"] == drawn.mean()
        assert row["skill"]["interval"] == pytest.approx(np.quantile(drawn, [0.1, 0.9]))
        assert row["score"] == found.about.errors.scores[task, entry]
        assert (row["task"], row["n_items"]) == (theirs["task"], theirs["n_items"])
        assert row["p_best"] == theirs["p_best"][row["name"]]
        assert (row["name"] == theirs["best"]) == (row["p_best"] == max(theirs["p_best"].values()))


def test_numbers_have_skills_in_tasks_too(capsys, tmp_path) -> None:
    rng = np.random.default_rng(0)
    dice = pd.DataFrame(rng.normal([0.8, 0.7], 0.05, (30, 2)), columns=["net", "tree"])
    path = written(tmp_path, dice.assign(task=["liver", "lung"] * 15).to_csv(index=False))
    for direction, best in (([], True), (["--lower-is-better"], False)):
        command = ["board", str(path), "--by", "task", "--metric", "mean", "--json", *direction]
        rows = json.loads(run(capsys, *command)[1])["entries"]
        assert [row["p_best"] > 0.99 for row in rows] == [best, not best] * 2
        assert all(0.6 < x < 0.9 for row in rows for x in (row["score"], row["skill"]["mean"]))
