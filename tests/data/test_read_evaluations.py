"""Files of per-item outcomes: formats, joins by hand, and what is refused with its place."""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from data.files import run, written

from bayes_sota.core.errors import InputError
from bayes_sota.data.files import tables
from bayes_sota.data.formats import item_logs
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.readers.outcomes import (
    Evaluations,
    read_evaluations,
    read_item_scores,
    read_responses,
)
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import compare_methods

MATRIX = "case_id,tree,forest\nx,1,0\ny,0,1\nz,,1\n"


def table_of(found: Evaluations) -> dict[str, dict[str, float]]:
    """Outcome of each item, by column."""
    outcomes = found.outcomes
    values = outcomes.correct if isinstance(outcomes, Responses) else outcomes.values
    return {
        name: dict(zip(outcomes.items, values[:, j].tolist(), strict=True))
        for j, name in enumerate(outcomes.names)
    }


def refused(*paths: Path, **options: Any) -> str:
    """Message of what cannot be read: one printable line."""
    with pytest.raises(InputError) as caught:
        read_evaluations(*paths, **options)
    message = str(caught.value)
    assert message.isprintable()
    return message


# --- tables


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.csv", MATRIX),
        ("f.csv", "picture,tree,forest\nx,1,0\ny,0,1\nz,NA,1\n"),
    ],
)  # fmt: skip
def test_a_matrix_is_what_read_responses_reads(tmp_path: Path, name: str, content: Any) -> None:
    path = written(tmp_path, content, name)
    found = read_evaluations(path)
    assert found.outcomes == read_responses(path)
    assert found.outcomes.name == "f"
    assert (found.outcomes.names, found.source, found.notes) == (("tree", "forest"), "1 table", ())
    assert table_of(found)["tree"] == {"x": 1, "y": 0, "z": -1}


def test_numbers_are_what_read_item_scores_reads(tmp_path: Path) -> None:
    text = "case_id,unet,vnet\na,0.91,0.5\nb,.7,1\nc,1e-1,0\n"
    path = written(tmp_path, text, "dice.csv")
    found = read_evaluations(path).outcomes
    assert isinstance(found, ItemScores)
    assert found.data_hash() == read_item_scores(path, metric="mean").data_hash()
    assert found.metric == "mean"
    # without a column of items, no method may become their names
    bare = read_evaluations(written(tmp_path, "unet,vnet\n.91,.5\n.7,1\n.1,0\n", "bare.csv"))
    assert bare.outcomes.names == ("unet", "vnet")
    assert bare.outcomes.items == ("1", "2", "3")
    lost = written(tmp_path, text.replace("0.91", ""), "lost.csv")
    assert "'unet' has no number for item 'a'" in refused(lost)


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    columns = {"case_id": [1, 2, 3], "tree": [True, False, None], "forest": [0.0, 1.0, 1.0]}
    path = tmp_path / "f.parquet"
    parquet.write_table(arrow.table(columns), path)
    assert read_evaluations(path).outcomes.correct.tolist() == [[1, 0], [0, 1], [-1, 1]]


def test_clusters(tmp_path: Path) -> None:
    text = "case_id,patient,resnet@1,vit,resnet@2\na,p,1,0,1\nb,p,0,0,1\nc,q,1,1,0\n"
    path = written(tmp_path, text, "runs.csv")
    found = read_evaluations(path, cluster_column="patient")
    assert found.outcomes.names == ("resnet@1", "vit", "resnet@2")
    assert found.outcomes.clusters == ("p", "p", "q")
    assert found.outcomes.correct.T.tolist() == [[1, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert "column 'patient' is no method" in refused(path)
    assert "no column 'ward' (cluster_column)" in refused(path, cluster_column="ward")
    named = read_evaluations(written(tmp_path, text.replace("patient", "Group"), "c.csv"))
    assert named.outcomes.clusters == ("p", "p", "q")
    assert named.notes[0].endswith("clusters are taken from column 'Group'")
    message = refused(path, item_column="patient", cluster_column="patient")
    assert "column 'patient' cannot be items and clusters both" in message
    missing = written(tmp_path, text.replace("b,p", "b,"), "missing.csv")
    assert "line 3, column 'patient': the cluster is missing" in refused(
        missing, cluster_column="patient"
    )
    one_per_patient = written(tmp_path, "patient,a,b\np1,1,0\np2,0,1\n", "p.csv")
    assert read_evaluations(one_per_patient).outcomes.items == ("p1", "p2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("case_id,ground_truth,a,b\nx,cat,cat , dog\ny,dog,Dog,dog\n", [[1, 0], [0, 1]]),
        ("case_id,a,b,Ground Truth\nx,1.0,2,1\ny,1,2,2.0\n", [[1, 0], [0, 1]]),
        ("label,a,b\n3,3,1\n1,,1\n", [[1, 0], [-1, 1]]),
        ("id,label,a,b\nx,1,1,0\ny,0,1,0\n", [[1, 0], [0, 1]]),  # noted: right (1) or classes?
        ("a,b,truth\ncat,dog,cat\ncat,cat,cat\n", [[1, 0], [1, 1]]),
        ("y_true,a,b\nnone,none,some\nsome,na,some\n", [[1, 0], [-1, 1]]),
    ],
)
def test_label_files(tmp_path: Path, text: str, expected: list[list[int]]) -> None:
    found = read_evaluations(written(tmp_path, text, "labels.csv"))
    assert found.outcomes.correct.tolist() == expected
    assert found.outcomes.names == ("a", "b")
    assert found.source.startswith("1 table, truth in column")
    assert ["is taken as the truth" in note for note in found.notes] == [True] * ("id," in text[:3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\nworld\n", "none of the formats that are read: a CSV, TSV, Excel or Parquet table"),
        ("id,a,b\nx,1,0\ny,1,1e999\n", "line 3, column 'b': '1e999' is no outcome"),
        ("id,label,target,a,b\nx,1,1,0,1\ny,1,1,0,1\n", "several columns could be the truth"),
        ("id,label,a,b\nx,cat,1,0\ny,dog,0,1\n", "column 'a' never names a class of 'label'"),
        ("id,a\x1b[31m,b\nx,1,0\ny,1,oops\n", "'oops' is no outcome"),
    ],
)
def test_tables_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert message in refused(written(tmp_path, text, "f.csv"))


# --- lm-evaluation-harness


def sample(doc_id: Any, acc: Any, **more: Any) -> dict[str, Any]:
    """One line as the tool writes it."""
    fingerprint = f"hash {int(doc_id)}"
    return {
        "doc_id": doc_id, "doc": {}, "target": "1", "resps": [[["-1.5", "False"]]],
        "filtered_resps": [["-1.5", "False"]], "doc_hash": fingerprint, "acc": acc, **more,
    }  # fmt: skip


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def samples(root: Path, model: str, task: str, hour: int, *rows: Any) -> Path:
    name = f"{model}/samples_{task}_2024-06-14T{hour:02d}-05-07.123456.jsonl"
    return written(root, lines(*rows), name)


def test_samples_of_two_models(tmp_path: Path) -> None:
    one = samples(tmp_path, "llama", "wino_xl", 1, *(sample(i, i % 2) for i in range(4)))
    two = samples(tmp_path, "mistral", "wino_xl", 2, *(sample(i, 1.0) for i in range(5)))
    found = read_evaluations(one, two)
    assert table_of(found) == {
        "llama": {"0": 0, "1": 1, "2": 0, "3": 1},
        "mistral": {"0": 1, "1": 1, "2": 1, "3": 1},
    }
    assert found.source == "2 lm-evaluation-harness sample files"
    assert len(found.notes) == 1
    assert "1 of 5 items left out (not in every file), the first is '4'" in found.notes[0]
    # text and number are the same document; a list is the older form of the file
    ids = ("0", " 1 ", 2.0, 3)
    older = written(tmp_path, [sample(ids[i], i > 1) for i in range(4)], "gemma.json")
    packed = written(tmp_path, gzip.compress(one.read_bytes()), "phi.jsonl.gz")
    found = read_evaluations(one, older, packed)
    assert found.outcomes.names == ("llama", "gemma", "phi")
    assert found.outcomes.correct.T.tolist() == [[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1]]


def test_tasks_and_repeated_runs(tmp_path: Path) -> None:
    rows = {hour: [sample(i, (i + hour) % 2) for i in range(3)] for hour in (1, 2)}
    paths = [
        samples(tmp_path, model, task, hour, *rows[hour])
        for model in ("llama", "mistral")
        for task in ("arc", "wino")
        for hour in (2, 1)
    ]
    found = read_evaluations(*paths)
    assert found.outcomes.names == ("llama", "mistral")
    assert (found.outcomes.n_runs, found.outcomes.task_weights) == (2, {"arc": 0.5, "wino": 0.5})
    assert sorted(found.outcomes.items) == sorted(
        f"{t}/{i}" for t in ("arc", "wino") for i in "012"
    )
    assert (found.outcomes.values == 0.5).all()  # right in one of two hours
    assert found.notes == (
        "tasks are taken from the names of the files",
        "runs are taken from the times in the names of the files",
    )
    fewer = read_evaluations(*paths[1:])
    assert (
        fewer.outcomes.n_runs,
        fewer.outcomes.values[fewer.outcomes.items.index("arc/0")][0],
    ) == (1, 1)
    assert fewer.notes[2] == "items have 1 to 2 runs; a score is the mean of their means"
    copy = written(tmp_path, paths[0].read_bytes(), f"copy/llama/{paths[0].name}")
    assert "of 'llama' for task 'arc' are given twice" in refused(*paths, copy)
    with pytest.raises(InputError, match="got only runs of 'llama'; bayes-sota score says"):
        compare_methods(read_evaluations(*paths[:4]))
    assert "is named twice" in refused(paths[0], paths[0])


def test_filters(tmp_path: Path) -> None:
    def rows(strict: list[int], flexible: list[int]) -> str:
        return lines(
            *(
                sample(i, 0, filter=name, metrics=["exact_match"], exact_match=value)
                for name, values in (("strict-match", strict), ("flexible-extract", flexible))
                for i, value in enumerate(values)
            )
        )

    same = written(tmp_path, rows([1, 0, 1], [1, 0, 1]), "same.jsonl")
    other = written(tmp_path, rows([1, 0, 0], [1, 1, 0]), "other.jsonl")
    assert table_of(read_evaluations(same, written(tmp_path, same.read_bytes(), "b.jsonl"))) == {
        "same": {"0": 1, "1": 0, "2": 1}, "b": {"0": 1, "1": 0, "2": 1},
    }  # fmt: skip
    message = refused(same, other)
    assert "filters 'flexible-extract', 'strict-match' disagree, first at doc_id '1'" in message
    for name, expected in (("strict-match", 0), ("flexible-extract", 1)):
        found = read_evaluations(same, other, metric=f"exact_match,{name}")
        assert table_of(found)["other"]["1"] == expected
    assert "disagree" in refused(same, other, metric="exact_match,none")
    assert (
        "there is no metric 'exact_match,lenient'; it holds 'exact_match,flexible-extract', "
        "'exact_match,strict-match'"
    ) in refused(same, metric="exact_match,lenient")


def test_a_filter_of_one_task_leaves_the_others_their_metric(tmp_path: Path) -> None:
    """As people evaluate: most tasks have ``acc``, one has two filters that disagree."""
    for model, right in (("x", 1), ("y", 0)):
        written(tmp_path, lines(*(sample(i, i % 2, acc_norm=0.0) for i in range(4))),
                f"{model}/samples_arc_2025-01-01T00-00-00.0.jsonl")  # fmt: skip
        rows = [
            sample(i, 0, filter=name, metrics=["exact_match"], exact_match=value)
            for name, value in (("strict-match", 0), ("flexible-extract", right))
            for i in range(4)
        ]
        written(tmp_path, lines(*rows), f"{model}/samples_gsm8k_2025-01-01T00-00-00.0.jsonl")
    assert "choose one: metric='exact_match,flexible-extract' (tasks without it keep" in refused(
        tmp_path
    )
    answers = read_evaluations(tmp_path, metric="exact_match,flexible-extract")
    assert answers.outcomes.scores.tolist() == [0.75, 0.25]
    assert "'acc' in 'arc', 'exact_match,flexible-extract' in 'gsm8k'" in answers.notes[-1]
    strict = read_evaluations(tmp_path, metric="exact_match,strict-match")
    assert strict.outcomes.scores.tolist() == [0.25, 0.25]
    arc = [tmp_path / model / "samples_arc_2025-01-01T00-00-00.0.jsonl" for model in "xy"]
    assert "there is no metric 'em'; it holds 'acc', 'acc_norm'" in refused(*arc, metric="em")


def test_metrics_of_samples(tmp_path: Path) -> None:
    rows = [sample(i, i % 2, acc_norm=1.0, f1=i / 4) for i in range(3)]
    paths = [written(tmp_path, lines(*rows), f"{name}.jsonl") for name in "ab"]
    found = read_evaluations(*paths)
    assert table_of(found)["a"] == {"0": 0, "1": 1, "2": 0}
    assert found.notes == ("the outcome is 'acc'; the files also hold 'acc_norm', 'f1' (metric)",)
    found = read_evaluations(*paths, metric="f1")
    assert isinstance(found.outcomes, ItemScores)
    assert table_of(found)["b"] == {"0": 0.0, "1": 0.25, "2": 0.5}
    assert found.notes == ()
    assert "there is no metric 'em'; it holds 'acc', 'acc_norm', 'f1'" in refused(
        *paths, metric="em"
    )
    bleu = written(tmp_path, lines(*({"doc_id": i, "bleu": 0.5} for i in range(3))), "c.jsonl")
    assert "gives 'acc' and" in refused(paths[0], bleu)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lines(sample(0, 1)) + "{oops\n" + lines(sample(1, 1)), "is not JSON (line 2, column 2"),
        (lines(sample(0, 1)) + "[1]\n", "line 2: must be an object, got [1]"),
        (lines(sample(0, 1), sample(1, float("nan"))), "line 2: acc must be a number, "),
        (lines({"doc_id": 0}, {"doc_id": 1}), "there is no metric in it"),
        (lines(sample(0, 1) | {"doc_id": None}), "line 1, doc_id: an item's name is a text"),
        (lines(sample(0, 1)) + '{"doc_id": 1, "acc": 1' + "0" * 400 + "}\n", "must be a number"),
        (lines({"a": 1}, {"a": 2}), "in a format that is read"),
    ],
)  # fmt: skip
def test_samples_refused(tmp_path: Path, text: str, message: str) -> None:
    good = written(tmp_path, lines(sample(0, 1), sample(1, 0)), "b.jsonl")
    assert message in refused(written(tmp_path, text, "a.jsonl"), good)


def test_items_that_do_not_match(tmp_path: Path) -> None:
    one = written(tmp_path, lines(*(sample(i, i % 2) for i in range(10))), "a.jsonl")
    far = written(tmp_path, lines(*(sample(i, 1) for i in range(6, 16))), "b.jsonl")
    message = refused(one, far)
    assert message.startswith("the items do not match: ")
    assert message.endswith("; the first without a match is '0'")
    half = written(tmp_path, lines(*(sample(i, 1) for i in range(5, 15))), "c.jsonl")
    assert read_evaluations(one, half).outcomes.n_items == 5
    single = written(tmp_path, lines(sample(0, 1), sample(11, 1)), "d.jsonl")
    assert "the items do not match: 1 of them in all of" in refused(one, single)
    other = [sample(i, 1, doc_hash="another" if i > 7 else f"hash {i}") for i in range(10)]
    message = refused(one, written(tmp_path, lines(*other), "e.jsonl"))
    assert "different documents under the same number, by their hashes" in message
    assert "the first is '8'" in message


def test_real_samples(tmp_path: Path, data_directory: Path) -> None:
    content = (data_directory / "formats/lm_eval_samples_winogrande_stripped.jsonl").read_bytes()
    rows = [json.loads(line) for line in content.splitlines()]
    one = written(tmp_path, content, "one/samples_winogrande_2024-06-14T01-02-03.4.jsonl")
    turned = [row | {"acc": 1 - row["acc"]} for row in reversed(rows)]
    two = samples(tmp_path, "two", "winogrande", 5, *turned)
    found = read_evaluations(one, two)
    assert found.outcomes.names == ("one", "two")
    assert found.outcomes.n_items == 106
    assert found.outcomes.counts.tolist() == [55, 51]
    assert (found.outcomes.correct.sum(axis=1) == 1).all()


# --- inspect_ai


def log_of(model: str, *scores: Any, task: str = "quiz", **more: Any) -> dict[str, Any]:
    """Log whose samples have one score each, by the scorer match."""
    about = {"model": model, "task": task, "created": "2024-10-15T12:53:13-04:00", "run_id": "r"}
    rows = [
        {"id": i, "epoch": 1, "target": "x", "scores": {"match": {"value": value}}}
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


def test_logs(tmp_path: Path) -> None:
    one = written(tmp_path, log_of("openai/a", "C", "I", "N", True, 0, "yes"), "one.json")
    two = archive_of(tmp_path / "two.eval", log_of("openai/b", "I", "C", "C", False, "1", "no"))
    found = read_evaluations(one, two)
    assert isinstance(found.outcomes, Responses)
    assert found.outcomes.names == ("openai/a", "openai/b")
    assert found.outcomes.correct.T.tolist() == [[1, 0, 0, 1, 0, 1], [0, 1, 1, 0, 1, 0]]
    assert found.outcomes.items == ("1", "2", "3", "4", "5", "6")
    assert found.source == "2 inspect_ai logs"
    partial = written(tmp_path, log_of("openai/c", "P", "C", 0.25, "I", "I", "I"), "p.json")
    assert table_of(read_evaluations(two, partial))["openai/c"]["1"] == 0.5


def test_epochs_and_logs_are_runs(tmp_path: Path) -> None:
    logs = {}
    for model in "ab":
        log = log_of(model, "C", "I", "C")
        second = [row | {"epoch": 2, "scores": {"match": {"value": "I"}}} for row in log["samples"]]
        logs[model] = log | {"samples": second + log["samples"]}
    paths = [written(tmp_path, log, f"{model}.json") for model, log in logs.items()]
    found = read_evaluations(*paths)
    assert found.outcomes.values.T.tolist() == [[0.5, 0, 0.5]] * 2
    assert found.notes == ("runs are taken from epochs, and logs of the same task",)
    copy = written(tmp_path, logs["a"], "copy.json")
    assert "of 'a' for task 'quiz' are given twice" in refused(*paths, copy)
    later = log_of("a", "C", "C", "C")
    later["eval"]["created"] = "2025-01-01T00:00:00"
    found = read_evaluations(*paths, written(tmp_path, later, "later.json"))
    assert found.outcomes.values.round(3).T.tolist() == [[0.667, 0.333, 0.667], [0.5, 0, 0.5]]
    assert found.outcomes.n_runs == 2  # the fewest


def test_scorers_and_values_of_several_numbers(tmp_path: Path) -> None:
    values = [{"f1": 0.5, "em": 0}, {"f1": 1.0, "em": 1}]
    paths = [written(tmp_path, log_of(m, *values), f"{m}.json") for m in "ab"]
    assert "choose one metric of 'em', 'f1': metric=" in refused(*paths)
    assert table_of(read_evaluations(*paths, metric="em"))["a"] == {"1": 0, "2": 1}
    assert table_of(read_evaluations(*paths, metric="f1"))["a"] == {"1": 0.5, "2": 1.0}
    short = written(tmp_path, log_of("c", {"f1": float("nan")}, {"em": 1}), "short.json")
    assert "sample 2: the score has no 'f1'" in refused(paths[0], short, metric="f1")
    unscored = written(tmp_path, log_of("d", {"f1": float("nan")}, *values), "d.json")
    longer = written(tmp_path, log_of("e", *values, values[0]), "e.json")
    found = read_evaluations(unscored, longer, metric="f1")
    assert table_of(found)["d"] == {"2": 0.5, "3": 1.0}
    log = log_of("c", "C", "I")
    for row in log["samples"]:
        row["scores"]["judge"] = {"value": "C"}
    both = [written(tmp_path, log | {"eval": log["eval"] | {"model": k}}, f"both{k}.json")
            for k in "cd"]  # fmt: skip
    assert "choose one metric of 'judge', 'match': metric=" in refused(*both)
    assert table_of(read_evaluations(*both, metric="judge"))["c"] == {"1": 1, "2": 1}
    assert "gives one number, there is no metric 'f1'" in refused(*both, metric="match.f1")


def test_samples_without_a_score(tmp_path: Path) -> None:
    log = log_of("a", "C", "I", float("nan"), "C", "C", status="error")
    log["samples"][4]["scores"] = None
    one = written(tmp_path, log, "a.json")
    two = written(tmp_path, log_of("b", *"CICCC"), "b.json")
    found = read_evaluations(one, two)
    assert found.outcomes.items == ("1", "2", "4")
    assert [note.partition("json: ")[2] for note in found.notes] == [
        "the evaluation ended with status 'error'",
        "2 of 5 items left out (without a score by 'match'), the first is '3'",
        "2 of 5 items left out (not in every file), the first is '3'",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": []}, "the log has no samples"),
        ({"samples": [{"id": 1, "epoch": "x"}]}, "sample 1: epoch is a number, got 'x'"),
        ({"samples": [{"id": 1, "scores": {"m": 1}}]}, "the score of 'm' has no value"),
        (
            {"samples": log_of("a", "C", "C")["samples"] * 2},
            "of epoch 1, sample '1' occurs more",
        ),
        ({"samples": log_of("a", "C", [1])["samples"]}, "sample 2: a score must be a number"),
    ],
)
def test_logs_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    good = written(tmp_path, log_of("b", "C", "I"), "good.json")
    bad = log_of("a", "C", "I") | change
    assert message in refused(written(tmp_path, bad, "bad.json"), good)
    if bad["samples"]:
        place = message.replace("sample 1:", "").replace("sample 2:", "")
        assert place in refused(archive_of(tmp_path / "bad.eval", bad), good)


def test_broken_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = written(tmp_path, log_of("b", *"CI" * 50), "good.json")
    path = archive_of(tmp_path / "f.eval", log_of("a", *"CC" * 50))
    content = path.read_bytes()
    assert "f.eval: cannot be read or unpacked" in refused(
        written(tmp_path, content[: len(content) // 2], "f.eval"), good
    )
    at = content.index(b"samples/1_epoch_1.json") + 30
    broken = content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]
    assert "f.eval: cannot be unpacked" in refused(written(tmp_path, broken, "f.eval"), good)
    head, sample = log_of("a"), "samples/1_epoch_1.json"
    for members, message in (
        ({"_journal/start.json": {}}, "the evaluation is not finished"),
        ({"header.json": [], sample: {"id": 1}}, "header.json: must hold version and eval"),
        ({"header.json": head, "samples/1\x1b_epoch_1.json": '{"id": 1, '},
         "samples/1\\x1b_epoch_1.json: is not JSON (line 1, "),
        ({"header.json": head}, "f.eval: the log has no samples"),
        ({"header.json": head, sample: b'{"id": "\xff"}'},
         "samples/1_epoch_1.json: not UTF-8 text (line 1, byte 0xff)"),
    ):  # fmt: skip
        assert message in refused(archived(path, members), good)
    archive_of(path, log_of("a", *"CC" * 50))
    monkeypatch.setattr(tables, "MAX_BYTES", 60)
    assert "more than 60 bytes unpacked" in refused(path)
    monkeypatch.undo()
    monkeypatch.setattr(item_logs, "_LARGEST_ARCHIVE", 600)
    assert "f.eval: more than 600 bytes unpacked" in refused(path)


def test_real_log(tmp_path: Path, data_directory: Path) -> None:
    log = json.loads((data_directory / "formats/inspect_ai_eval_log_trimmed.json").read_text())
    second = log["samples"][0] | {"id": 2, "scores": {"match": {"value": "C", "answer": "Yes"}}}
    log["samples"].append(second)  # the fragment has one sample, a comparison needs two
    one = written(tmp_path, json.dumps(log, indent=2), "one.json")
    two = written(tmp_path, log | {"eval": log["eval"] | {"model": "openai/other"}}, "two.json")
    found = read_evaluations(one, two)
    assert found.outcomes.names == ("ollama/llama3.1", "openai/other")
    assert found.outcomes.correct.tolist() == [[0, 0], [1, 1]]


# --- everything


def test_paths_and_options(tmp_path: Path) -> None:
    table = written(tmp_path, MATRIX, "f.csv")
    log = written(tmp_path, log_of("a", "C", "I"), "f.json")
    assert "name at least one file: a CSV, TSV, Excel or Parquet table" in refused()
    message = refused(table, log)
    assert "f.csv (table) and " in message
    assert "f.json (inspect_ai log)" in message
    assert "metric is not for this format (table)" in refused(table, metric="acc")
    assert "give one table, got 2" in refused(table, written(tmp_path, MATRIX, "g.csv"))
    assert "no column 'x' (item_column)" in refused(table, item_column="x")


def test_folders_of_logs_are_read_by_commands(tmp_path: Path, capsys: Any) -> None:
    """Of every tool; what else lies in a folder of samples does not matter."""
    scores = {"a": (1, 0, 1, 1), "b": (1, 1, 0, 0)}
    inspect, lm = (tmp_path / name for name in ("inspect", "lm"))
    for model, right in scores.items():
        written(inspect, log_of(model, *right), f"{model}.json")
        samples(lm, model, "quiz", 1, *(sample(i, float(x)) for i, x in enumerate(right)))
        found = {"results": {"quiz": {"acc,none": 0.5}}, "versions": {}}
        written(lm, found, f"{model}/results.json")
    for folder in (inspect, lm):
        code, out, err = run(capsys, "board", str(folder), "--json", "--draws", "100")
        assert code in (0, 1), err
        entries = {one["name"]: one["score"] for one in json.loads(out)["entries"]}
        assert entries == {"a": 0.75, "b": 0.5}
        code, out, err = run(capsys, "inspect", str(folder), "--json")
        seen = json.loads(out)
        assert (code, seen["kind"], seen["n_items"]) == (0, "answers", 4), err
    (tmp_path / "empty").mkdir()
    code, _, err = run(capsys, "board", str(tmp_path / "empty"))
    assert code == 2
    assert "is a directory without logs" in err


def test_averages_below_a_table_of_data_sets_are_no_data_sets(tmp_path: Path) -> None:
    rows = [("iris", 0.9, 0.8), ("mean", 0.7, 0.6), ("wine", 0.6, 0.7)]
    below = [("Average", 0.75, 0.75), ("Average rank", 1.5, 1.5)]

    def read(rows: list[tuple[str, float, float]]) -> Evaluations:
        text = "".join(f"{name},{a},{b}\n" for name, a, b in rows)
        return read_evaluations(written(tmp_path, f"dataset,tree,net\n{text}", "table.csv"))

    outcomes, notes = read(rows).outcomes, read(rows + below).notes
    assert read(rows + below).outcomes == outcomes
    assert outcomes.n_items == 3  # one is called mean, but is none
    assert "left out the last rows, which are no items: 'Average', 'Average rank'" in notes
