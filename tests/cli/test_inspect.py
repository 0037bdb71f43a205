"""``bayes-sota inspect``: every kind of file, and commands that do what it says."""

import json
import shlex

import pytest
from data.files import EXAMPLES, run, run_json, written

from bayes_sota.cli.boards import read_board

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
    counts = {role: len(names) for role, names in found["names"].items()}
    assert name != "exam.csv" or counts == {"entry": 4, "task": 10, "run": 3}


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
              "bayes-sota sota ", "--known FILE, beside scores"),
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
    gate = "bayes-sota claim responses . --pair one two --margin 0.02"
    assert {"bayes-sota board .", "bayes-sota sota .", gate} <= set(proposed(found))
    assert found["names"]["task"] == ["arc"]
    assert run(capsys, "inspect", ".")[1].startswith(f"{tmp_path.name} holds 60 rows (answers).")


def test_commands_repeat_the_options_of_reading(capsys, tmp_path):
    rows = "".join(f"{i},{i % 3 > 0:d},{i % 4 > 0:d}\n" for i in range(40))
    path = written(tmp_path, f'item,"a,x",b\n{rows}')
    typed = "--column", "unit=item", "--use", '"a,x",b', "--higher-is-better"
    found = proposed(run_json(capsys, "inspect", path, *typed))
    assert found[0] == f"bayes-sota board {path} {shlex.join(typed)}"
    assert run(capsys, *shlex.split(found[0])[1:])[0] == 0


def test_models_with_few_items_in_common(capsys, tmp_path):
    rows = [{"doc_id": i, "doc": {}, "acc": float(i % 3 > 0)} for i in range(30)]
    write_log(tmp_path / "one", "arc", rows)
    write_log(tmp_path / "two", "arc", rows[25:])
    found = run_json(capsys, "inspect", tmp_path)
    assert found["kind"] == "answers"
    assert not proposed(found)
    assert "25 of 30 items" in found["notes"][-1]


def test_results_have_the_questions_of_their_answers(capsys, tmp_path):
    n, right = {"arc": 30, "law": 50}, {"arc": 21, "law": 30}
    part = {task: {"acc,none": right[task] / n[task], "acc_stderr,none": 0.1} for task in n}
    log = {"results": part, "n-samples": {task: {"effective": n[task]} for task in n}}
    results = written(tmp_path, json.dumps({"model_name": "one", **log}), "results_1.json")
    for task in n:
        rows = [{"doc_id": i, "doc": {}, "acc": float(i < right[task])} for i in range(n[task])]
        write_log(tmp_path / "one", task, rows)
    assert f"bayes-sota score {results}" in proposed(run_json(capsys, "inspect", results))
    found, expected = (run_json(capsys, "score", of) for of in (results, tmp_path / "one"))
    for key in ("new", "average", "metric"):
        assert found[key] == expected[key]
    (one,), (other,) = found["classifiers"], expected["classifiers"]
    assert one["skill"]["interval"] == pytest.approx(other["skill"]["interval"])
    assert one["n_items"] == other["n_items"] == 80


def test_what_is_left_out_is_not_hidden(capsys, tmp_path):
    for model, task, size in (("a", "arc", 30), ("b", "arc", 29), ("a", "wino", 30)):
        rows = [{"doc": {}, "acc": float(i % 3 > 0)} for i in range(size)]
        write_log(tmp_path / model, task, rows)
    gate = "claim", "responses", tmp_path, "--pair", "a", "b", "--margin", "0.1", "--quiet"
    assert 'no item is left of task "wino"' in run(capsys, *gate)[2]
    out = run(capsys, *gate, "--leave-out", "wino")[1]
    assert 'Note: left out 1 of 30 items without a score of each entry; "b" has scores' in out
    assert out.count("Note: ") == 1 + out.count("are these different models?") == 2


def test_a_run_with_a_limit_beside_a_stale_one_is_refused(capsys, tmp_path):
    rows = [{"doc": {}, "acc": float(i % 3 > 0)} for i in range(30)]
    for model, folder in (("base", "seed1"), ("new", "seed1"), ("new", "seed2")):
        write_log(tmp_path / model / folder, "arc", rows[: 5 if folder == "seed2" else 30])
    gate = "claim", "responses", tmp_path, "--pair", "new", "base", "--margin", "0.1"
    assert 'runs of "new" are on different items' in run(capsys, *gate)[2]


def test_metrics_of_two_tasks_are_proposed_once(capsys, tmp_path):
    for task, metrics in (("gsm", ("em", "f1")), ("ifeval", ("strict", "loose"))):
        rows = [{"doc": {}} | {name: float(i % 3 > 0) for name in metrics} for i in range(30)]
        write_log(tmp_path / "a", task, rows)
    asked = [one.split(" --metric ")[1] for one in proposed(run_json(capsys, "inspect", tmp_path))]
    assert asked == ["em+strict", "f1+strict", "em+loose"]


def test_runs_by_one_of_two_filters(capsys, tmp_path):
    for model in ("a", "b"):
        for run_of in ("seed1", "seed2"):
            rows = [{"filter": name, "em": float(i % 3 > 0)} for name in "st" for i in range(30)]
            write_log(tmp_path / model / run_of, "gsm", rows)
    command = "claim", "responses", tmp_path, "--pair", "a", "b", "--metric", "pass@2"
    assert "beside pass@K choose with --column score=NAME" in run(capsys, *command)[2]
    code, out, _ = run(capsys, *command, "--column", "score=em,s", "--margin", "0.1")
    assert (code, "scores are pass@2 in 2 runs" in out) == (0, True)


METRICS = ["acc", "acc_norm", "exact_match,strict-match", "exact_match,flexible-extract"]


def test_metrics_and_filters_of_each_task_are_listed_and_chosen(capsys, tmp_path):
    def rows(metric, name, value, **more):
        return [{"filter": name, metric: value if i % 4 else 0.0, **more} for i in range(30)]

    for model, right in (("one", 1.0), ("two", 0.0)):
        write_log(tmp_path / model, "arc", rows("acc", "none", 1.0, acc_norm=right))
        strict = rows("exact_match", "strict-match", 0.0)
        both = [*strict, *rows("exact_match", "flexible-extract", right)]
        write_log(tmp_path / model, "gsm8k", both)
    code, _, error = run(capsys, "board", tmp_path)
    assert code == 2
    assert "(NAME+NAME for several tasks); beside pass@K choose with --column score=NAME" in error
    found = run_json(capsys, "inspect", tmp_path)
    assert found["names"] == {"model": ["one", "two"], "task": ["arc", "gsm8k"], "metric": METRICS}
    assert 'metrics: "acc", "acc_norm", "exact_match,s' in run(capsys, "inspect", tmp_path)[1]
    assert [one.split(" --metric ")[1] for one in proposed(found)] == METRICS[2:]
    found = run_json(capsys, "inspect", tmp_path, "--metric", "acc_norm")
    asked = f"acc_norm+{METRICS[3]}"
    assert [one.split(" --metric ")[1] for one in proposed(found)][1] == asked
    found = run_json(capsys, "inspect", tmp_path, "--metric", asked)
    assert all(one.endswith(f" --metric {asked}") for one in proposed(found))
    by_column, by_metric = (read_board(tmp_path, {"score": asked}),
                            read_board(tmp_path, {}, metric=asked))  # fmt: skip
    assert by_column == by_metric
    try_all(capsys, found)


def test_a_file_that_no_command_can_use(capsys, tmp_path):
    code, out, error = run(capsys, "inspect", written(tmp_path, "model,acc\na,0.9\n"))
    assert (code, error) == (0, "")
    assert "No command can use this file as it is." in out
    assert "Note: Not from this file alone: Who may be the best?" in out
