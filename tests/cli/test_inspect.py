"""``bayes-sota inspect``: every kind of file, and commands that do what it says."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from data.files import EXAMPLES, run

KINDS = {
    "answers.csv": "answers", "exam.csv": "answers", "auc.csv": "item scores",
    "battles.csv": "battles", "claims.csv": "claims", "cross_validation.csv": "cross-validation",
    "items.csv": "data", "leaderboard.csv": "leaderboard", "manifest.csv": "manifest",
    "averages.csv": "rounds", "datasets.csv": "rounds", "dice.csv": "rounds", "seeds.csv": "rounds",
    "public_private.csv": "two boards", "rounds.csv": "rounds", "submissions.csv": "leaderboard",
}  # fmt: skip
TYPED = {" N": " 1000", " M": " 1000", " S": " 0.02"}  # what people fill in
SLOW = ("--bayes", "cv run")  # minutes


def inspected(capsys: Any, path: Path) -> tuple[int, dict[str, Any]]:
    code, out, _ = run(capsys, "inspect", str(path), "--json")
    return code, json.loads(out)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.csv")))
def test_every_example_has_its_kind(capsys: Any, name: str) -> None:
    code, found = inspected(capsys, EXAMPLES / name)
    assert (code, found["kind"], found["problems"]) == (0, KINDS[name], [])
    assert found["commands"]
    assert all(set(one) == {"question", "command"} for one in found["commands"])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(KINDS) - {"manifest.csv"}))
def test_what_it_proposes_works(capsys: Any, name: str) -> None:
    for one in inspected(capsys, EXAMPLES / name)[1]["commands"]:
        words = one["command"]
        if any(slow in words for slow in SLOW):
            continue
        for letter, value in TYPED.items():
            words = f"{words} ".replace(f"{letter} ", f"{value} ")
        code, _, error = run(capsys, *shlex.split(words)[1:])
        assert code in (0, 1), (words, error)


def test_numbers_of_answers(capsys: Any) -> None:
    _, found = inspected(capsys, EXAMPLES / "exam.csv")
    numbers = [found[f"n_{what}"] for what in ("classifiers", "items", "tasks", "clusters", "runs")]
    assert numbers == [4, 150, 10, None, 3]
    assert any("--new tasks" in one["command"] for one in found["commands"])
    out = run(capsys, "inspect", str(EXAMPLES / "answers.csv"))[1]
    assert out.startswith("answers.csv has the answers of 12 classifiers to 250 items.")
    assert "It takes several runs, in a column run or seed." in out


def test_one_classifier_and_other_metrics(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "one two.csv"
    path.write_text("model,item,correct\n" + "\n".join(f"a,{i},{i % 2}" for i in range(9)) + "\n")
    _, found = inspected(capsys, path)
    assert [one["command"] for one in found["commands"]] == [f"bayes-sota score '{path}'"]
    assert found["missing"][0]["what"] == "answers of another classifier to the same items"
    path.write_text("model,f1\na,0.81\nb,0.79\nc,0.70\n")
    _, found = inspected(capsys, path)
    assert (found["kind"], found["metric"]) == ("leaderboard", "score")
    assert "--standard-error S" in found["commands"][0]["command"]


def test_what_is_wrong_has_its_place(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.csv"
    rows = [f"{i},{i % 2},1" for i in range(30)]
    rows[4] = "4,x,1"
    path.write_text("item,a,b\n" + "\n".join(rows) + "\n")
    code, found = inspected(capsys, path)
    (problem,) = found["problems"]
    assert code == 1
    assert (problem["line"], problem["column"], problem["value"]) == (6, "a", "x")
    path.write_text("colour,shape\nred,round\nblue,flat\n")
    code, found = inspected(capsys, path)
    assert (code, found["kind"], found["commands"]) == (1, "unknown", [])
    path.write_text("")
    code, out, error = run(capsys, "inspect", str(path))
    assert (code, out) == (2, "")
    assert error.count("\n") == 1
