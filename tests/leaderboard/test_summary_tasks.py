"""``board --by task``: the same numbers everywhere, words, files and refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import run, written

import bayes_sota.data
from bayes_sota.claims.summary_gate import report_tasks
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.summary_items import board_by_task

EXAMPLES = Path(bayes_sota.data.__file__ or "").with_name("example_files")
EXAM = str(EXAMPLES / "exam.csv")


def exam(gaps: list[float], n: int = 100, names: str = "abc") -> Outcomes:
    rng = np.random.default_rng(0)
    chances = [[0.5 + gap, *[0.5] * (len(names) - 1)] for gap in gaps]
    right = np.concatenate([rng.random((n, len(names))) < chance for chance in chances])
    tasks = [f"task {t}" for t in range(len(gaps)) for _ in range(n)]
    return Outcomes(right, tasks=tasks, names=list(names))


def test_who_is_the_best_is_what_claim_responses_says() -> None:
    data = exam([0.3, 0.1, -0.1])
    entries, claim = board_by_task(data).content["entries"], report_tasks(data).content
    for theirs in claim["tasks"]:
        mine = {row["name"]: row for row in entries if row["task"] == theirs["task"]}
        assert {name: row["p_best"] for name, row in mine.items()} == theirs["p_best"]
        assert {row["n_items"] for row in mine.values()} == {theirs["n_items"]}
        assert max(mine, key=lambda name: mine[name]["p_best"]) == theirs["best"]


def test_skills_are_those_of_the_draws() -> None:
    found = board_by_task(exam([0.3, 0.1, -0.1]), ci_prob=0.8)
    for row in found.content["entries"]:
        task, entry = int(row["task"][-1]), "abc".index(row["name"])
        drawn = found.about.skills_in(task)[:, entry]
        assert row["skill"]["mean"] == drawn.mean()
        assert row["skill"]["interval"] == pytest.approx(np.quantile(drawn, [0.1, 0.9]))
        assert row["score"] == found.about.errors.scores[task, entry]


def test_from_the_shell(capsys: Any, tmp_path: Path) -> None:
    table, figure = tmp_path / "t.csv", tmp_path / "f.png"
    command = ("board", EXAM, "--by", "task")
    code, out, _ = run(capsys, *command, "--save", str(table), "--save", str(figure))
    assert code == 0
    assert "On many new items expect forest, the best over all tasks, to score from" in out
    found = json.loads(run(capsys, *command, "--json")[1])
    frame = pd.read_csv(table)
    assert len(frame) == len(found["entries"]) == 40
    for row, entry in zip(frame.itertuples(), found["entries"], strict=True):
        assert (row.task, row.name) == (entry["task"], entry["name"])
        ends = [row.skill_lower, row.skill_upper]
        assert ends == pytest.approx(entry["skill"]["interval"])
    assert frame.groupby("task")["p_best"].sum().to_numpy() == pytest.approx(1)
    assert figure.stat().st_size > 1000


def test_numbers_have_skills_in_tasks_too(capsys: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    dice = pd.DataFrame(rng.normal([0.8, 0.7], 0.05, (30, 2)), columns=["net", "tree"])
    path = written(tmp_path, dice.assign(task=["liver", "lung"] * 15).to_csv(index=False))
    command = ("board", str(path), "--by", "task", "--metric", "mean", "--json")
    code, out, _ = run(capsys, *command)
    found = json.loads(out)
    assert (code, [row["p_best"] > 0.99 for row in found["entries"]]) == (0, [True, False] * 2)
    assert all(0.6 < row["skill"]["mean"] < 0.9 for row in found["entries"])
    code, out, _ = run(capsys, *command, "--lower-is-better")
    assert [row["p_best"] > 0.99 for row in json.loads(out)["entries"]] == [False, True] * 2


HEADER = "model,task,item,correct\n"


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (EXAMPLES / "answers.csv", "", "needs answers with tasks"),
        (EXAMPLES / "leaderboard.csv", "--n-test 250", "not scores"),
        (EXAM, "--new tasks", "about new items of every task"),
        (EXAM, "--column task=x", 'there is no column "x"'),
        (EXAM, "--leave-out digit", 'nothing is called "digit"'),
        (f"{HEADER}a,x,1,1\nb,x,1,1\na,x,2,0\nb,y,3,1\na,z,4,0\n", "", "b"),
        (f"{HEADER}a,x,1,1\nb,x,1,0\na,y,2,0\nb,y,2,1\n", "", "every task has one item"),
        (f"{HEADER}a,x,1,1\nb,x,1,0\na,x,2,0\nb,x,2,1\n", "", "needs answers with tasks"),
    ],
)
def test_what_is_refused(
    capsys: Any, tmp_path: Path, content: Any, options: str, message: str
) -> None:
    path = written(tmp_path, content) if str(content).startswith(HEADER) else content
    code, out, error = run(capsys, "board", path, *options.split(), "--by", "task")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert message in error
