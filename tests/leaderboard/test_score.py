"""``bayes-sota score``: what it says, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import run

import bayes_sota.data

EXAMPLES = Path(bayes_sota.data.__file__ or "").with_name("example_files")
ROWS = "\n".join(
    f"tree,{task},{item},{seed},{int((item * 7 + seed) % 5 > 0)}"
    for task in ("law", "art", "physics")
    for item in range(12)
    for seed in range(2)
)


@pytest.fixture
def exam(tmp_path: Path) -> str:
    path = tmp_path / "exam.csv"
    path.write_text(f"model,task,item,seed,correct\n{ROWS}\n")
    return str(path)


def test_the_answer_comes_first(capsys: Any) -> None:
    code, out, error = run(capsys, "score", "--right", "50", "--n-test", "50")
    assert (code, error) == (0, "")
    said = out.splitlines()
    assert said[0] == (
        "Expect the classifier to score 99.0 % (95.1 to 100.0) on many new items; here it has "
        "100.0 %."
    )
    assert said[1] == "The score comes from 50 items; the range is a 95% interval."


def test_one_classifier_of_a_file(capsys: Any, exam: str) -> None:
    code, out, _ = run(capsys, "score", exam, "--json")
    found = json.loads(out)
    (one,) = found["classifiers"]
    assert (code, found["average"], found["new"]) == (0, "tasks", "items")
    assert (one["name"], one["n_items"], one["n_tasks"], one["n_runs"]) == ("tree", 36, 3, 2)
    low, high = one["skill"]["interval"]
    assert low < one["score"] < high
    for new, words in (("runs", "many new runs of these items"), ("tasks", "new tasks like these")):
        code, out, _ = run(capsys, "score", exam, "--new", new)
        assert code == 0
        assert words in out.splitlines()[0]
    assert "pass@2 of" in run(capsys, "score", exam, "--metric", "pass@2")[1]


def test_several_classifiers_each_by_itself(capsys: Any, tmp_path: Path) -> None:
    table, figure = tmp_path / "x.csv", tmp_path / "x.svg"
    arguments = ["--save", str(table), "--save", str(figure)]
    code, out, _ = run(capsys, "score", str(EXAMPLES / "exam.csv"), *arguments)
    assert code == 0
    assert out.startswith("Expect forest to score")
    assert "nothing allows for the best having been picked; bayes-sota board does" in out
    rows = table.read_text().splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == ["forest", "linear", "tree", "extra tree"]
    assert "extra tree" in figure.read_text()


def test_a_log_of_one_model_is_enough(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "samples_quiz.jsonl"
    lines = [
        {"doc_id": i, "doc_hash": str(i), "target": "a", "acc": float(i % 3 > 0), "filter": "none",
         "arguments": [], "resps": [], "filtered_resps": [], "doc": {}}
        for i in range(30)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    code, out, error = run(capsys, "score", str(path))
    assert (code, error) == (0, "")
    assert "here it has 66.7 %" in out


BOARD = f"{EXAMPLES / 'leaderboard.csv'}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("score --right 5", "give FILES with answers, or --right K --n-test N"),
        ("score --right 5 --n-test 4", "correct answers are 0 to the number of items, got 5"),
        ("score {exam} --right 5", "give FILES or --right, not both"),
        ("score {exam} --metric pass@3", "pass@3, new items: 3 runs of each item are needed"),
        ("score {exam} --metric pass@0", 'no column "pass@0"'),
        (f"score {BOARD}", "is a leaderboard, which bayes-sota board reads"),
        ("sota {exam}", "bayes-sota score says how good it is"),
        ("board {exam}", "bayes-sota score says how good it is"),
        (f"board {BOARD} --n-test 1247 --metric pass@2", "is for answers in several runs"),
    ],
)
def test_what_is_refused(capsys: Any, exam: str, line: str, message: str) -> None:
    code, out, error = run(capsys, *line.format(exam=exam).split())
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert message in error


def test_clusters_widen_the_interval(capsys: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    alike = np.repeat(rng.random(20) < 0.7, 5)
    path = tmp_path / "passages.csv"
    rows = [f"{i},p{i // 5},{int(x)}" for i, x in enumerate(alike)]
    path.write_text("item,cluster,reader\n" + "\n".join(rows) + "\n")
    found = json.loads(run(capsys, "score", str(path), "--json")[1])["classifiers"][0]
    assert found["n_clusters"] == 20
    assert 14 < found["n_effective"] < 40


@pytest.mark.slow
def test_boards_are_about_runs_tasks_and_passes(capsys: Any) -> None:
    file = str(EXAMPLES / "exam.csv")
    widths = {}
    for new in ("runs", "items", "tasks"):
        code, out, _ = run(capsys, "board", file, "--new", new, "--json")
        found = json.loads(out)
        low, high = found["theta_sota"]["interval"]
        widths[new] = high - low
        assert (code, found["new"], found["rho"]["learnt"]) == (0, new, new != "runs")
        said = run(capsys, "board", file, "--new", new)[1]
        assert {"runs": "many new runs", "items": "many new items", "tasks": "many new tasks"}[
            new
        ] in said.splitlines()[0]
    assert widths["runs"] < widths["items"] < widths["tasks"]
    for command in ("sota", "board"):
        assert "to have a pass@2 of" in run(capsys, command, file, "--metric", "pass@2")[1]


def test_pairs_about_new_tasks_have_the_t_law_of_their_means(capsys: Any) -> None:
    from scipy.stats import ttest_rel

    from bayes_sota.data.answers import read_outcomes

    file = EXAMPLES / "exam.csv"
    arguments = ["--new", "tasks", "--pair", "forest", "tree", "--json"]
    (pair,) = json.loads(run(capsys, "claim", "responses", str(file), *arguments)[1])["pairs"]
    data = read_outcomes(file, new="tasks")
    codes, weights = data.task_codes
    means = np.stack([data.values[codes == t].mean(axis=0) for t in range(weights.size)])
    first, second = (means[:, data.names.index(name)] for name in ("forest", "tree"))
    assert pair["p_false"] == pytest.approx(ttest_rel(first, second, alternative="greater").pvalue)
