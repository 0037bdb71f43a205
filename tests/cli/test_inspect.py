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
    "items.csv": "data", "leaderboard.csv": "leaderboard",
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
@pytest.mark.parametrize("name", sorted(KINDS))
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


def rows_of(*rows: str) -> str:
    return "\n".join(rows) + "\n"


def test_a_board_without_a_score_is_a_board_but_a_bad_cell_is_named(
    capsys: Any, tmp_path: Path
) -> None:
    path = tmp_path / "board.csv"
    scores = [f"team {i},{(900 - i) / 1000}" for i in range(20)]
    path.write_text(rows_of("team,score", *scores[:3], "late,", *scores[3:]))
    code, found = inspected(capsys, path)
    assert (code, found["kind"], found["n_classifiers"]) == (0, "leaderboard", 20)
    assert all(one["command"].endswith(" --missing drop") for one in found["commands"])
    proposed = found["commands"][-1]["command"].replace("--n-test N", "--n-test 1000")
    assert run(capsys, *shlex.split(proposed)[1:])[0] in (0, 1)
    path.write_text(rows_of("team,score", *scores[:3], "late,none yet", *scores[3:]))
    code, found = inspected(capsys, path)
    assert (code, found["commands"]) == (1, [])
    assert (found["problems"][0]["line"], found["problems"][0]["column"]) == (5, "score")


def test_several_runs_in_every_data_set(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    runs = [(m, d, r) for m in "abc" for d in ("iris", "wine", "glass") for r in range(4)]
    lines = [f"{m},{d},{r},{(7 * i) % 11}" for i, (m, d, r) in enumerate(runs)]
    path.write_text(rows_of("classifier_name,dataset_name,iteration,accuracy", *lines))
    code, found = inspected(capsys, path)
    assert (code, found["kind"], found["n_classifiers"]) == (0, "rounds", 3)
    first = found["commands"][0]["command"]
    assert "--round-column iteration --group-column dataset_name" in first
    assert run(capsys, *shlex.split(first)[1:], "--json")[0] == 0
    assert run(capsys, "epp", str(path))[0] == 2


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
    assert run(capsys, "inspect", ".")[1].startswith(f"{tmp_path.name} has the answers of 2")


def test_logs_with_filters_that_disagree_have_commands_that_choose_one(
    capsys: Any, tmp_path: Path
) -> None:
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
    code, found = inspected(capsys, tmp_path)
    assert code == 0
    assert all(
        one["command"].endswith(" --metric exact_match,flexible-extract")
        for one in found["commands"]
    )
    assert "(tasks without it keep theirs)" in found["notes"][0]
    for one in found["commands"]:
        code, _, error = run(capsys, *shlex.split(one["command"])[1:])
        assert code == 0, error
