"""``bayes-sota inspect``: every kind of file, and commands that do what it says."""

import json
import shlex

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


def proposed(found):
    return [one["command"] for one in found["commands"]]


def try_all(capsys, found):
    """Run every command that is proposed."""
    for words in proposed(found):
        for letter, value in TYPED.items():
            words = f"{words} ".replace(f"{letter} ", f"{value} ")
        if not any(slow in words for slow in SLOW):
            code, _, error = run(capsys, *shlex.split(words)[1:])
            assert code in (0, 1), (words, error)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.csv")))
def test_every_example_has_its_kind(capsys, name):
    found = run_json(capsys, "inspect", EXAMPLES / name)
    assert found["kind"] == KINDS[name]
    assert found["commands"]
    assert all(set(one) == {"question", "command"} for one in found["commands"])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(KINDS.keys() - LIKE_OTHERS))
def test_what_it_proposes_works(capsys, name):
    try_all(capsys, run_json(capsys, "inspect", EXAMPLES / name))


RUNS = [(m, d, r) for m in "abc" for d in ("iris", "wine", "glass") for r in range(4)]
FILES = {
    "one": ("model,item,correct\n" + "".join(f"a,{i},{i % 2}\n" for i in range(9)),
            "answers", "bayes-sota score ", "Not from this file alone: Who may be the best?"),
    "f1": ("model,f1\na,0.81\nb,0.79\nc,0.70\n", "leaderboard", "--standard-error S", ""),
    "runs": ("classifier_name,dataset_name,iteration,accuracy\n"
             + "".join(f"{m},{d},{r},{(7 * i) % 11}\n" for i, (m, d, r) in enumerate(RUNS)),
             "folds", " epp ", ""),
    "methods": ("dataset,a,b\nx,0.91,0.90\ny,0.87,0.86\nz,0.74,0.72\n", "rounds",
                "bayes-sota claim responses ", "Not from this file alone: Who is better"),
    "known": ("name,skill,n\nbase,0.76,50000\nother,0.71,50000\n", "known skills",
              "bayes-sota sota ", "by --known FILE"),
    "late": ("team,score\nlate,\n" + "".join(f"team {i},{(900 - i) / 1000}\n" for i in range(20)),
             "leaderboard", "--n-test N", "dropped 1 row without a score"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_tables_of_people(capsys, tmp_path, name):
    text, kind, command, note = FILES[name]
    found = run_json(capsys, "inspect", written(tmp_path, text))
    assert found["kind"] == kind
    assert any(command in one for one in proposed(found))
    assert note in "\n".join(found["notes"])
    try_all(capsys, found)


def write_log(folder, task, rows):
    lines = "".join(json.dumps({"doc_id": i % 30, **row}) + "\n" for i, row in enumerate(rows))
    written(folder, lines, f"samples_{task}_2026-01-01T00-00-00.jsonl")


def test_a_folder_of_answers_has_the_questions_of_boards(capsys, tmp_path, monkeypatch):
    for k, model in enumerate(("one", "two")):
        rows = [{"doc": {}, "target": "a", "acc": float((i + k) % 3 > 0)} for i in range(30)]
        write_log(tmp_path / model, "arc", rows)
    monkeypatch.chdir(tmp_path)
    found = run_json(capsys, "inspect", ".")
    assert {"bayes-sota board .", "bayes-sota sota ."} <= set(proposed(found))
    assert run(capsys, "inspect", ".")[1].startswith(f"{tmp_path.name} holds 60 rows (answers).")


def test_of_filters_that_disagree_one_is_chosen(capsys, tmp_path):
    def rows(metric, name, value):
        return [{"filter": name, metric: value if i % 4 else 0.0} for i in range(30)]

    for model, right in (("one", 1.0), ("two", 0.0)):
        write_log(tmp_path / model, "arc", rows("acc", "none", 1.0))
        strict = rows("exact_match", "strict-match", 0.0)
        both = [*strict, *rows("exact_match", "flexible-extract", right)]
        write_log(tmp_path / model, "gsm8k", both)
    code, _, error = run(capsys, "inspect", tmp_path)
    assert (code, "say which with --metric NAME" in error) == (2, True)
    chosen = "--metric", "exact_match,strict-match"
    found = run_json(capsys, "inspect", tmp_path, *chosen)
    assert all(one.endswith(" --metric exact_match,strict-match") for one in proposed(found))
    try_all(capsys, found)
