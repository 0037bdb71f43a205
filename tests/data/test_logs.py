"""Logs of evaluation tools against tables by hand, and what is refused of them."""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import run, written

from bayes_sota.core.errors import AmbiguousMetricError, InputError
from bayes_sota.data import opening
from bayes_sota.data.answers import read_outcomes
from bayes_sota.data.boards import read_leaderboard
from bayes_sota.data.opening import read_table
from bayes_sota.data.reading import read_tidy

TIME = "2024-06-14T01-05-07.123456"


def table_of(outcomes: Any) -> dict[str, dict[str, float]]:
    """Outcome of each item, by model."""
    return {
        name: dict(zip(outcomes.items, outcomes.values[:, j].tolist(), strict=True))
        for j, name in enumerate(outcomes.names)
    }


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


# --- lm-evaluation-harness


def sample(doc_id: Any, acc: Any, **more: Any) -> dict[str, Any]:
    """One line as the tool writes it."""
    return {
        "doc_id": doc_id, "doc": {"passage": f"p{int(doc_id) // 2}"}, "target": "1",
        "resps": [[["-1.5", "False"]]], "filtered_resps": [["-1.5", "False"]],
        "doc_hash": f"hash {int(doc_id)}", "acc": acc, **more,
    }  # fmt: skip


def samples(root: Path, model: str, task: str, *rows: Any, time: str = TIME) -> Path:
    return written(root, lines(*rows), f"{model}/samples_{task}_{time}.jsonl")


def filtered(**of_filter: list[int]) -> list[dict[str, Any]]:
    return [
        sample(i, 0, filter=name.replace("_", "-"), metrics=["exact_match"], exact_match=value)
        for name, values in of_filter.items()
        for i, value in enumerate(values)
    ]


def test_models_of_samples_are_joined_on_the_document(tmp_path: Path) -> None:
    one = samples(tmp_path, "llama", "wino_xl", *(sample(i, i % 2) for i in range(4)))
    two = samples(tmp_path, "mistral", "wino_xl", *(sample(i, 1.0) for i in range(5)))
    expected = {
        "llama": {"0": 0, "1": 1, "2": 0, "3": 1},
        "mistral": {"0": 1, "1": 1, "2": 1, "3": 1},
    }
    for found in (read_outcomes(one, two), read_outcomes(tmp_path)):
        assert table_of(found) == expected
        assert found.tasks is None
        assert 'left out 1 of 5 items that some entries lack, the first is "4"' in found.notes
    passages = read_outcomes(one, two, cluster="doc.passage")
    assert passages.clusters == ("p0", "p0", "p1", "p1")
    assert read_outcomes(one).names == ("llama",)
    # text and number are the same document; a list is the older form of the file
    older = [sample(doc_id, i > 1) for i, doc_id in enumerate(("0", " 1 ", 2, 3))]
    packed = written(tmp_path, gzip.compress(one.read_bytes()), f"phi/{one.name}.gz")
    found = read_outcomes(one, written(tmp_path, older, f"gemma/{one.name}"), packed)
    assert found.names == ("llama", "gemma", "phi")
    assert found.values.T.tolist() == [[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1]]


def test_tasks_and_times_in_names_of_files(tmp_path: Path) -> None:
    paths = [
        samples(tmp_path, model, task, *(sample(i, (i + hour) % 2) for i in range(3)),
                time=f"2024-06-14T0{hour}-05-07.1")
        for model in ("llama", "mistral") for task in ("arc", "wino") for hour in (2, 1)
    ]  # fmt: skip
    found = read_outcomes(*paths)
    assert found.names == ("llama", "mistral")
    assert (found.n_runs, found.task_weights) == (2, {"arc": 0.5, "wino": 0.5})
    assert sorted(found.items) == sorted(f"{t}/{i}" for t in ("arc", "wino") for i in "012")
    assert (found.values == 0.5).all()  # right in one of two hours
    fewer = read_outcomes(*paths[1:])
    assert (fewer.n_runs, fewer.values[fewer.items.index("arc/0")][0]) == (1, 1)
    assert any(note.startswith("items have 1 to 2 runs") for note in fewer.notes)
    copy = written(tmp_path, paths[0].read_bytes(), f"copy/llama/{paths[0].name}")
    with pytest.raises(InputError, match=r'"llama", run .* has a score already on'):
        read_outcomes(*paths, copy)
    with pytest.raises(InputError, match='no item of task "arc" has a score of every entry'):
        read_outcomes(*paths[2:])


def test_one_of_several_filters_is_chosen(tmp_path: Path) -> None:
    rows = filtered(strict_match=[1, 0, 0], flexible=[1, 1, 0])
    paths = [written(tmp_path, lines(*rows), f"{name}.jsonl") for name in "ab"]
    with pytest.raises(AmbiguousMetricError) as refused:
        read_outcomes(*paths)
    assert refused.value.metrics == ["exact_match,strict-match", "exact_match,flexible"]
    assert str(refused.value).endswith('_match,flexible"; choose one with metric="NAME"')
    for name, expected in (("exact_match,strict-match", 0), ("flexible", 1)):
        assert table_of(read_outcomes(*paths, metric=name))["b"]["1"] == expected
    with pytest.raises(InputError, match='no metric "exact_match,lenient"; there are "exact_mat'):
        read_outcomes(*paths, metric="exact_match,lenient")


def test_a_filter_of_one_task_leaves_the_others_their_metric(tmp_path: Path) -> None:
    for model, right in (("x", 1), ("y", 0)):
        samples(tmp_path, model, "arc", *(sample(i, i % 2, acc_norm=0.0) for i in range(4)))
        samples(tmp_path, model, "gsm8k", *filtered(strict_match=[0] * 4, flexible=[right] * 4))
    with pytest.raises(AmbiguousMetricError):
        read_outcomes(tmp_path)
    assert read_outcomes(tmp_path, metric="exact_match,flexible").scores.tolist() == [0.75, 0.25]
    assert read_outcomes(tmp_path, metric="exact_match,strict-match").scores.tolist() == [0.25] * 2
    with pytest.raises(InputError, match='no metric "em"; there are "acc", "acc_norm"'):
        read_outcomes(*(tmp_path / m / f"samples_arc_{TIME}.jsonl" for m in "xy"), metric="em")


def test_of_several_metrics_the_usual_one_counts(tmp_path: Path) -> None:
    rows = [sample(i, i % 2, acc_norm=1.0, f1=i / 4) for i in range(3)]
    paths = [written(tmp_path, lines(*rows), f"{name}.jsonl") for name in "ab"]
    found = read_outcomes(*paths)
    assert table_of(found)["a"] == {"0": 0, "1": 1, "2": 0}
    assert 'scores are "acc"; there are also "acc_norm", "f1"' in found.notes
    numbers = read_outcomes(*paths, metric="f1")
    assert numbers.metric == "mean"
    assert table_of(numbers)["b"] == {"0": 0.0, "1": 0.25, "2": 0.5}
    bleu = written(
        tmp_path, lines(*(sample(i, 0.5, metrics=["bleu"], bleu=1) for i in range(3))), "c.jsonl"
    )
    with pytest.raises(InputError, match='only 0 of 3 items are those of every entry; "c" has'):
        read_outcomes(paths[0], bleu)


def test_the_lower_perplexity_is_asked_for(tmp_path: Path) -> None:
    for model, shift in (("good", 0), ("bad", 1)):
        rows = [sample(i, 0, metrics=["perplexity"], perplexity=5.0 + i + shift) for i in range(9)]
        samples(tmp_path, model, "lambada", *rows)
    with pytest.raises(InputError, match='"perplexity" sounds like losses'):
        read_outcomes(tmp_path)
    found = read_outcomes(tmp_path, direction="lower")
    assert found.lower_is_better
    assert dict(zip(found.names, found.scores, strict=True)) == {"bad": -10, "good": -9}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lines(sample(0, 1)) + "{oops\n", "a.jsonl: line 2: is not JSON"),
        (lines(sample(0, 1)) + "[1]\n", 'a.jsonl: line 2: needs "doc_id"'),
        (lines(sample(0, 1), sample(0, 1)), 'line 2: item "0" repeats'),
        (lines(sample(0, 1), sample(1, "right?")), 'a number is needed, got "right\\?"'),
        (lines({"doc_id": 0, "doc": {}}, {"doc_id": 1}), 'only 0 of 2 items .* "a" has the fewest'),
        (lines(sample(0, 1, doc_hash="x"), sample(1, 1)), 'column "doc_hash": item "0" is another'),
        (lines(*(sample(i, 1, doc_hash=None) for i in range(7, 20))), "only 0 of 15 items"),
    ],
)
def test_samples_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    good = written(tmp_path, lines(sample(0, 1), sample(1, 0)), "b.jsonl")
    with pytest.raises(InputError, match=message) as caught:
        read_outcomes(written(tmp_path, text, "a.jsonl"), good)
    assert "\n" not in str(caught.value)


def test_real_samples(tmp_path: Path, data_directory: Path) -> None:
    content = (data_directory / "formats/lm_eval_samples_winogrande_stripped.jsonl").read_bytes()
    rows = [json.loads(line) for line in content.splitlines()]
    one = written(tmp_path, content, f"one/samples_winogrande_{TIME}.jsonl")
    turned = [row | {"acc": 1 - row["acc"]} for row in reversed(rows)]
    found = read_outcomes(one, samples(tmp_path, "two", "winogrande", *turned))
    assert (found.names, found.n_items) == (("one", "two"), 106)
    assert found.values.sum(axis=0).tolist() == [55, 51]
    assert (found.correct.sum(axis=1) == 1).all()


# --- results


def results(folder: Path, model: str, **more: Any) -> Path:
    mmlu = {"alias": "mmlu", "acc,none": 0.5, "acc_stderr,none": 0.01}
    law = {"alias": " - law", "acc,none": 0.6, "acc_stderr,none": 0.02, "acc_norm,none": 0.7}
    gsm = {"alias": "gsm8k", "exact_match,strict": 0.3, "exact_match_stderr,strict": 0.03}
    value = {
        "results": {"mmlu": mmlu, "mmlu_law": law, "gsm8k": gsm},
        "group_subtasks": {"mmlu": ["mmlu_law"], "gsm8k": []},
        "n-samples": {"mmlu_law": {"original": 200, "effective": 100}, "gsm8k": {"effective": 50}},
        "higher_is_better": {"mmlu_law": {"acc": True}, "gsm8k": {"exact_match": True}},
        "model_name": model,
    }
    return written(folder, value | more, f"{model}/results_{TIME}.json")


def test_results_are_a_row_per_task(tmp_path: Path) -> None:
    path = results(tmp_path, "llama")
    table = read_table(path)
    assert table.columns["task"] == ["mmlu_law", "gsm8k"]
    assert table.columns["metric"] == ["acc", "exact_match,strict"]
    results(tmp_path, "phi")
    tidy = read_tidy(tmp_path)
    grid, (models, tasks) = tidy.pivot("entry", "task")
    assert (models, tasks) == (["llama", "phi"], ["mmlu_law", "gsm8k"])
    np.testing.assert_allclose(grid, [[0.6, 0.3]] * 2)
    assert tidy.numbers["n"].tolist() == [100, 50] * 2
    assert tidy.numbers["se"].tolist() == [0.02, 0.03] * 2
    chosen = read_table(tmp_path, "acc_norm")
    assert chosen.columns["score"] == ["0.7", "0.3"] * 2
    with pytest.raises(InputError, match='no metric "f1"; there are "acc", "acc_n'):
        read_table(path, "f1")


def test_results_say_in_which_direction_they_are_better(tmp_path: Path) -> None:
    lower = {"alias": "wiki", "word_perplexity,none": 12.5, "word_perplexity_stderr,none": "N/A"}
    for model in "ab":
        results(tmp_path, model, results={"wiki": lower},
                higher_is_better={"wiki": {"word_perplexity": False}})  # fmt: skip
    assert read_tidy(tmp_path).lower_is_better
    mixed = {"wiki": lower, "gsm8k": {"alias": "gsm8k", "acc,none": 0.3}}
    path = results(tmp_path / "mixed", "c", results=mixed)
    with pytest.raises(InputError, match="lower is better in some tasks, higher in others"):
        read_leaderboard(path)
    assert not read_tidy(path, leave_out=["wiki"]).lower_is_better


def test_real_results(tmp_path: Path, data_directory: Path) -> None:
    section = json.loads((data_directory / "formats/lm_eval_results_section.json").read_text())
    members = [task for task in section if task.startswith("metabench_")]
    value = {"results": section, "group_subtasks": {"metabench": members}}
    table = read_table(written(tmp_path, value, "x.json"))
    assert table.columns["task"] == members
    assert table.columns["metric"][:2] == ["acc", "exact_match,strict-match"]
    assert {"model", "score", "stderr"} <= table.columns.keys()


# --- inspect_ai


def log_of(model: str, *scores: Any, task: str = "quiz", **more: Any) -> dict[str, Any]:
    """Log whose samples have one score each, by the scorer match."""
    about = {"model": model, "task": task, "created": "2024-10-15T12:53:13-04:00", "run_id": "r"}
    rows = [
        {"id": i, "epoch": 1, "scores": {"match": {"value": value}}, "metadata": {"ward": f"w{i}"}}
        for i, value in enumerate(scores, start=1)
    ]
    return {"version": 2, "status": "success", "eval": about, "samples": rows} | more


def archive_of(path: Path, log: dict[str, Any]) -> Path:
    """The same log as .eval; its samples need not be samples."""
    members = {f"samples/{n}_epoch_1.json": row for n, row in enumerate(log["samples"], start=1)}
    members["header.json"] = {key: value for key, value in log.items() if key != "samples"}
    return archived(path, {"_journal/start.json": {}, **members})


def archived(path: Path, members: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return path


def test_grades_of_logs_and_archives(tmp_path: Path) -> None:
    one = written(tmp_path, log_of("openai/a", "C", "I", "N", True, 0, "yes"), "one.json")
    two = archive_of(tmp_path / "two.eval", log_of("openai/b", "I", "C", "C", False, "1", "no"))
    found = read_outcomes(one, two, cluster="metadata.ward")
    assert found.names == ("openai/a", "openai/b")
    assert found.correct.T.tolist() == [[1, 0, 0, 1, 0, 1], [0, 1, 1, 0, 1, 0]]
    assert (found.items[0], found.clusters[0]) == ("1", "w1")
    partial = written(tmp_path, log_of("openai/c", "P", "C", 0.25, "I", "I", "I"), "p.json")
    assert table_of(read_outcomes(two, partial))["openai/c"]["1"] == 0.5


def test_epochs_and_later_logs_are_runs(tmp_path: Path) -> None:
    paths = []
    for model in "ab":
        log = log_of(model, "C", "I", "C")
        second = [row | {"epoch": 2, "scores": {"match": {"value": "I"}}} for row in log["samples"]]
        paths.append(written(tmp_path, log | {"samples": second + log["samples"]}, f"{model}.json"))
    assert read_outcomes(*paths).values.T.tolist() == [[0.5, 0, 0.5]] * 2
    copy = written(tmp_path, paths[0].read_bytes(), "copy.json")
    with pytest.raises(InputError, match="has a score already on"):
        read_outcomes(*paths, copy)
    later = log_of("a", "C", "C", "C")
    later["eval"]["created"] = "2025-01-01T00:00:00"
    found = read_outcomes(*paths, written(tmp_path, later, "later.json"))
    assert found.values.round(3).T.tolist() == [[0.667, 0.333, 0.667], [0.5, 0, 0.5]]
    assert found.n_runs == 2  # the fewest


def test_scorers_and_their_numbers_are_chosen(tmp_path: Path) -> None:
    values = [{"f1": 0.5, "em": 0}, {"f1": 1.0, "em": 1}]
    paths = [written(tmp_path, log_of(m, *values), f"{m}.json") for m in "ab"]
    with pytest.raises(AmbiguousMetricError, match=r'metrics "match.f1", "match.em"'):
        read_outcomes(*paths)
    for metric in ("em", "match.em"):
        assert table_of(read_outcomes(*paths, metric=metric))["a"] == {"1": 0, "2": 1}
    assert table_of(read_outcomes(*paths, metric="f1"))["a"] == {"1": 0.5, "2": 1.0}
    with pytest.raises(InputError, match=r'no metric "bleu"; there are "match.f1"'):
        read_outcomes(*paths, metric="bleu")
    log = log_of("c", "C", "I")
    for row in log["samples"]:
        row["scores"]["judge"] = {"value": "C"}
    both = written(tmp_path, log, "both.json")
    assert table_of(read_outcomes(both, metric="judge"))["c"] == {"1": 1, "2": 1}


def test_samples_without_a_score_are_left_out(tmp_path: Path) -> None:
    log = log_of("a", "C", "I", float("nan"), "C", "C", status="error")
    log["samples"][4]["scores"] = None
    one = written(tmp_path, log, "a.json")
    found = read_outcomes(one, written(tmp_path, log_of("b", *"CICCC"), "b.json"))
    assert found.items == ("1", "2", "4")
    assert 'left out 2 of 5 items that some entries lack, the first is "3"' in found.notes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": []}, "bad.* has no columns"),
        ({"samples": [{"scores": {}}]}, 'record 1: needs "id"|_1.json: needs "id"'),
        ({"samples": [{"id": 1, "scores": {"m": 1}}]}, 'needs "value"'),
        ({"samples": log_of("a", "C", "C")["samples"] * 2}, "has a score already on"),
        ({"samples": log_of("a", "C", [1])["samples"]}, "a number is needed"),
        ({"eval": {"task": "quiz"}}, 'eval: needs "model"'),
    ],
)
def test_logs_that_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    good = written(tmp_path, log_of("b", "C", "I"), "good.json")
    bad = log_of("a", "C", "I") | change
    for path in (written(tmp_path, bad, "bad.json"), archive_of(tmp_path / "bad.eval", bad)):
        with pytest.raises(InputError, match=message) as caught:
            read_outcomes(path, good)
        assert "\n" not in str(caught.value)


def test_broken_archives_and_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive_of(tmp_path / "f.eval", log_of("a", *"CC" * 50))
    content = path.read_bytes()
    cut = written(tmp_path, content[: len(content) // 2], "cut.eval")
    at = content.index(b"samples/1_epoch_1.json") + 30
    broken = content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]
    head, first = log_of("a"), "samples/1_epoch_1.json"
    for file, message in (
        (cut, "cut.eval: "),
        (written(tmp_path, broken, "broken.eval"), "broken.eval: cannot be read"),
        (archived(tmp_path / "a.eval", {"_journal/start.json": {}}), "is not finished"),
        (
            archived(tmp_path / "b.eval", {"header.json": [], first: {"id": 1}}),
            'header.json: needs "eval"',
        ),
        (archived(tmp_path / "c.eval", {"header.json": head, first: '{"id": 1, '}), "is not JSON"),
        (archived(tmp_path / "d.eval", {"header.json": head, first: b'{"\xff"}'}), "not UTF-8"),
    ):
        with pytest.raises(InputError, match=message) as caught:
            read_outcomes(file)
        assert "\n" not in str(caught.value)
    monkeypatch.setattr(opening, "MOST_BYTES", 600)
    with pytest.raises(InputError, match=r"f\.eval: holds more than 600 bytes"):
        read_outcomes(path)
    monkeypatch.setattr(opening, "MOST_BYTES", 600)
    packed = gzip.compress(lines(sample(0, 1)).encode() * 1000)
    bomb = written(tmp_path, packed, "bomb.jsonl.gz")
    with pytest.raises(InputError, match=r"bomb\.jsonl\.gz: holds more than 600 bytes"):
        read_outcomes(bomb)


def test_real_log(tmp_path: Path, data_directory: Path) -> None:
    log = json.loads((data_directory / "formats/inspect_ai_eval_log_trimmed.json").read_text())
    second = log["samples"][0] | {"id": 2, "scores": {"match": {"value": "C", "answer": "Yes"}}}
    log["samples"].append(second)  # the fragment has one sample, a comparison needs two
    one = written(tmp_path, json.dumps(log, indent=2), "one.json")
    two = written(tmp_path, log | {"eval": log["eval"] | {"model": "openai/other"}}, "two.json")
    found = read_outcomes(one, two)
    assert found.names == ("ollama/llama3.1", "openai/other")
    assert found.correct.tolist() == [[0, 0], [1, 1]]


# --- Every Eval Ever


def record(model: str, sample: str, score: Any, task: str = "quiz", **more: Any) -> dict[str, Any]:
    """One sample of a model."""
    return {
        "model_id": model, "evaluation_name": task, "sample_id": sample,
        "evaluation": {"score": score, "is_correct": score == 1}, "evaluation_id": f"{model}-1",
    } | more  # fmt: skip


def records(folder: Path, *rows: dict[str, Any]) -> Path:
    return written(folder, lines(*rows), "x_samples.jsonl")


def quiz(scores: dict[str, list[Any]], **more: Any) -> list[dict[str, Any]]:
    return [record(m, f"s{i}", x, **more) for m, of in scores.items() for i, x in enumerate(of)]


def test_models_of_one_file_are_compared(tmp_path: Path) -> None:
    path = records(tmp_path, *quiz({"a": [1.0, 0.0, 1.0], "b": [0.0, 0.0, 1.0]}))
    for source in (path, tmp_path):
        found = read_outcomes(source)
        assert (found.names, found.items) == (("a", "b"), ("s0", "s1", "s2"))
        assert found.values.tolist() == [[1, 0], [0, 0], [1, 1]]


def test_names_of_evaluations_are_tasks_and_their_ids_are_runs(tmp_path: Path) -> None:
    rows = quiz({"a": [1, 0], "b": [0, 1]}) + quiz({"a": [1, 1], "b": [1, 1]}, task="exam")
    with pytest.raises(InputError, match="has a score already"):
        read_outcomes(records(tmp_path, *rows, *rows))
    second = {"evaluation_id": "2"}
    again = quiz({"a": [0, 0], "b": [0, 1]}, **second)
    again += quiz({"a": [1, 0], "b": [1, 1]}, task="exam", **second)
    found = read_outcomes(records(tmp_path, *rows, *again))
    assert (found.n_runs, found.tasks) == (2, ("quiz", "quiz", "exam", "exam"))
    assert found.values.tolist() == [[0.5, 0], [0, 1], [1, 1], [0.5, 1]]


def test_epochs_metadata_and_text_are_read(tmp_path: Path) -> None:
    rows = [
        record("a", f"s{i}", f"{x}.0", metadata={"epoch": epoch, "passage": f"p{i // 2}"})
        for epoch, scores in ((1, [1, 0, 1, 0]), (2, [1, 1, 0, 0]))
        for i, x in enumerate(scores)
    ]
    found = read_outcomes(records(tmp_path, *rows), cluster="metadata.passage")
    assert found.values.ravel().tolist() == [1, 0.5, 0.5, 0]
    assert (found.clusters, found.n_runs) == (("p0", "p0", "p1", "p1"), 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evaluation": 1}, 'line 2: needs "score"'),
        ({"evaluation_name": None}, 'line 2: needs "evaluation_name"'),
        ({"evaluation": {"score": "good"}}, 'line 2, column "score": a number is needed'),
        ({"sample_id": ""}, 'line 2, column "item": a name is needed'),
    ],
)
def test_records_that_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    rows = quiz({"a": [1, 0], "b": [0, 1]})
    with pytest.raises(InputError, match=message):
        read_outcomes(records(tmp_path, rows[0], rows[1] | change, *rows[2:]))


# --- everything


def test_folders_of_logs_are_read_by_commands(tmp_path: Path, capsys: Any) -> None:
    """Of every tool; what else lies in a folder of samples does not matter."""
    scores = {"a": (1, 0, 1, 1), "b": (1, 1, 0, 0)}
    inspect, lm = (tmp_path / name for name in ("inspect", "lm"))
    for model, right in scores.items():
        written(inspect, log_of(model, *right), f"{model}.json")
        samples(lm, model, "quiz", *(sample(i, float(x)) for i, x in enumerate(right)))
        results(lm, model)
    for folder in (inspect, lm):
        code, out, err = run(capsys, "claim", "responses", str(folder), "--json")
        assert code in (0, 1), err  # few items
        found = json.loads(out)
        assert [round(one["score"], 2) for one in found["methods"]] == [0.75, 0.5]
    written(tmp_path, "", "empty/notes.txt")
    code, _, err = run(capsys, "claim", "responses", str(tmp_path / "empty"))
    assert (code, err.count("\n")) == (2, 1)
    assert "is a folder without logs" in err
    archive_of(lm / "x.eval", log_of("a", "C", "I"))
    with pytest.raises(InputError, match="files of one format can be joined"):
        read_outcomes(lm)
    table = written(tmp_path, "model,item,correct\nz,x,1\nz,y,0\n", "t.csv")
    with pytest.raises(InputError, match="files of one format can be joined"):
        read_outcomes(inspect / "a.json", table)
