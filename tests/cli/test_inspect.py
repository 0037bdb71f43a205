"""``bayes-sota inspect``: every kind of file, and commands that do what it says."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from data.files import EXAMPLES, run, run_json, written

KINDS = {
    "answers.csv": "answers", "exam.csv": "answers", "auc.csv": "item scores",
    "battles.csv": "battles", "claims.csv": "claims", "cross_validation.csv": "folds",
    "items.csv": "data", "leaderboard.csv": "leaderboard",
    "averages.csv": "rounds", "datasets.csv": "rounds", "dice.csv": "item scores",
    "public_private.csv": "two boards", "rounds.csv": "item scores", "seeds.csv": "item scores",
    "submissions.csv": "leaderboard",
}  # fmt: skip
TYPED = {" N": " 1000", " M": " 1000", " S": " 0.02"}  # what people fill in
LIKE_OTHERS = {"datasets.csv", "rounds.csv", "submissions.csv"}  # the same commands
SLOW = ("--bayes", "cv run")  # minutes


def inspected(capsys: Any, path: Path) -> tuple[int, dict[str, Any]]:
    code, out, _ = run(capsys, "inspect", str(path), "--json")
    return code, json.loads(out)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.csv")))
def test_every_example_has_its_kind(capsys: Any, name: str) -> None:
    code, found = inspected(capsys, EXAMPLES / name)
    assert (code, found["kind"]) == (0, KINDS[name])
    assert found["commands"]
    assert all(set(one) == {"question", "command"} for one in found["commands"])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(KINDS.keys() - LIKE_OTHERS))
def test_what_it_proposes_works(capsys: Any, name: str) -> None:
    for one in inspected(capsys, EXAMPLES / name)[1]["commands"]:
        words = one["command"]
        if any(slow in words for slow in SLOW):
            continue
        for letter, value in TYPED.items():
            words = f"{words} ".replace(f"{letter} ", f"{value} ")
        code, _, error = run(capsys, *shlex.split(words)[1:])
        assert code in (0, 1), (words, error)


def test_one_classifier_and_other_metrics(capsys: Any, tmp_path: Path) -> None:
    path = written(tmp_path, "model,item,correct\n" + "".join(f"a,{i},{i % 2}\n" for i in range(9)))
    _, found = inspected(capsys, path)
    assert [one["command"] for one in found["commands"]] == [f"bayes-sota score {path}"]
    assert "Not from this file alone: Who may be the best?" in found["notes"][-1]
    _, found = inspected(capsys, written(tmp_path, "model,f1\na,0.81\nb,0.79\nc,0.70\n"))
    assert found["kind"] == "leaderboard"
    assert "--standard-error S" in found["commands"][0]["command"]


@pytest.mark.parametrize(("text", "message"), [
    ("item,a,b\n" + "".join(f"{i},{'x' if i == 4 else i % 2},1\n" for i in range(30)),
     'line 6, column "a": a number is needed, got "x"'),
    ("team,score\na,0.9\nb,0.8\nlate,none yet\n", 'line 4, column "score": a number is needed'),
    ("colour,shape\nred,round\nblue,flat\n", "no column holds scores"),
    ("dataset,a_rmse,b_rmse\nx,1,2\ny,2,3\n", "--lower-is-better"),
    ("item,a,b\n" + "".join(f"{i},{2 if i == 4 else i % 2},1\n" for i in range(30)),
     'line 6: "2" is no answer'),
    ("", "the file is empty"),
])  # fmt: skip
def test_what_is_wrong_has_its_place(capsys: Any, tmp_path: Path, text: str, message: str) -> None:
    code, out, error = run(capsys, "inspect", str(written(tmp_path, text)))
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert message in error


@pytest.mark.slow
def test_rows_without_a_score_are_dropped(capsys: Any, tmp_path: Path) -> None:
    rows = "".join(f"team {i},{(900 - i) / 1000}\n" for i in range(20))
    path = written(tmp_path, f"team,score\nlate,\n{rows}")
    code, found = inspected(capsys, path)
    assert (code, found["kind"]) == (0, "leaderboard")
    assert "dropped 1 row without a score" in found["notes"]
    proposed = found["commands"][-1]["command"].replace("--n-test N", "--n-test 1000")
    assert run(capsys, *shlex.split(proposed)[1:])[0] in (0, 1)


def test_several_runs_in_every_data_set(capsys: Any, tmp_path: Path) -> None:
    runs = [(m, d, r) for m in "abc" for d in ("iris", "wine", "glass") for r in range(4)]
    lines = "".join(f"{m},{d},{r},{(7 * i) % 11}\n" for i, (m, d, r) in enumerate(runs))
    path = written(tmp_path, f"classifier_name,dataset_name,iteration,accuracy\n{lines}")
    code, found = inspected(capsys, path)
    assert code == 0
    assert any(" epp " in one["command"] for one in found["commands"])


def test_a_folder_of_answers_has_the_questions_of_boards(
    capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in ("one", "two"):
        lines = [
            json.dumps({"doc_id": i, "doc": {}, "target": "a", "acc": float((i + n) % 3 > 0),
                        "filtered_resps": ["a"], "resps": [["a"]], "arguments": []})
            for n, i in enumerate(range(30))
        ]  # fmt: skip
        folder = tmp_path / model
        folder.mkdir()
        (folder / "samples_arc_2026-01-01T00-00-00.jsonl").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    _, found = inspected(capsys, Path("."))
    assert {"bayes-sota board .", "bayes-sota sota ."} <= {
        one["command"] for one in found["commands"]
    }
    assert run(capsys, "inspect", ".")[1].startswith(f"{tmp_path.name} holds 60 rows (answers).")


def test_of_filters_that_disagree_one_is_chosen(capsys: Any, tmp_path: Path) -> None:
    for model, right in (("one", 1.0), ("two", 0.0)):
        (tmp_path / model).mkdir()
        for task, metric, filters in (
            ("arc", "acc", {"none": 1.0}),
            ("gsm8k", "exact_match", {"strict-match": 0.0, "flexible-extract": right}),
        ):
            lines = [
                json.dumps({"doc_id": i, "filter": name, metric: value if i % 4 else 0.0})
                for name, value in filters.items()
                for i in range(30)
            ]
            path = tmp_path / model / f"samples_{task}_2026-01-01T00-00-00.jsonl"
            path.write_text("\n".join(lines) + "\n")
    code, _, error = run(capsys, "inspect", str(tmp_path))
    assert (code, "say which with --metric NAME" in error) == (2, True)
    chosen = "--metric", "exact_match,strict-match"
    found = run_json(capsys, "inspect", tmp_path, *chosen)
    assert all(
        one["command"].endswith(" --metric exact_match,strict-match") for one in found["commands"]
    )
    for one in found["commands"]:
        code, _, error = run(capsys, *shlex.split(one["command"])[1:])
        assert code == 0, error
