"""Logs of Every Eval Ever against tables by hand, and what is refused of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from data.files import written

from bayes_sota.core.errors import InputError
from bayes_sota.data.readers.logs import files_in, looks_like_logs
from bayes_sota.data.readers.outcomes import read_evaluations


def record(model: str, sample: str, score: Any, task: str = "quiz", **more: Any) -> dict[str, Any]:
    """One sample of a model."""
    return {
        "model_id": model, "evaluation_name": task, "sample_id": sample,
        "evaluation": {"score": score, "is_correct": score == 1}, "evaluation_id": f"{model}-1",
    } | more  # fmt: skip


def file_of(folder: Path, *records: dict[str, Any], name: str = "x_samples.jsonl") -> Path:
    return written(folder, "".join(json.dumps(one) + "\n" for one in records), name)


def quiz(scores: dict[str, list[Any]], **more: Any) -> list[dict[str, Any]]:
    return [record(m, f"s{i}", x, **more) for m, of in scores.items() for i, x in enumerate(of)]


def test_models_of_one_file_are_compared(tmp_path: Path) -> None:
    path = file_of(tmp_path, *quiz({"a": [1.0, 0.0, 1.0], "b": [0.0, 0.0, 1.0]}))
    found = read_evaluations(path).outcomes
    assert (found.names, found.items) == (("a", "b"), ("s0", "s1", "s2"))
    assert found.values.tolist() == [[1, 0], [0, 0], [1, 1]]
    assert looks_like_logs(path)
    assert files_in(tmp_path) == [path]
    assert read_evaluations(tmp_path).outcomes.values.tolist() == found.values.tolist()


def test_evaluations_are_tasks_and_repeats_are_runs(tmp_path: Path) -> None:
    rows = quiz({"a": [1, 0], "b": [0, 1]}) + quiz({"a": [1, 1], "b": [1, 1]}, task="exam")
    again = quiz({"a": [0, 0], "b": [0, 1]}) + quiz({"a": [1, 0], "b": [1, 1]}, task="exam")
    found = read_evaluations(file_of(tmp_path, *rows, *again)).outcomes
    assert found.n_runs == 2
    assert found.tasks == ("quiz", "quiz", "exam", "exam")
    assert found.values.tolist() == [[0.5, 0], [0, 1], [1, 1], [0.5, 1]]


def test_epochs_metadata_and_text_are_read(tmp_path: Path) -> None:
    rows = [
        record("a", f"s{i}", f"{x}.0", metadata={"epoch": epoch, "passage": f"p{i // 2}"})
        for epoch, scores in ((1, [1, 0, 1, 0]), (2, [1, 1, 0, 0]))
        for i, x in enumerate(scores)
    ]
    found = read_evaluations(file_of(tmp_path, *rows), cluster_column="passage")
    assert found.outcomes.values.ravel().tolist() == [1, 0.5, 0.5, 0]
    assert found.outcomes.clusters == ("p0", "p0", "p1", "p1")
    assert found.outcomes.n_runs == 2


def test_graded_scores_are_numbers_unless_right_or_wrong_is_asked(tmp_path: Path) -> None:
    path = file_of(tmp_path, *quiz({"a": [0.5, 1, 0.2], "b": [1, 0.1, 0.3]}))
    graded = read_evaluations(path)
    assert graded.outcomes.values.tolist() == [[0.5, 1], [1, 0.1], [0.2, 0.3]]
    assert any("is_correct (metric) says right or wrong" in note for note in graded.notes)
    right = read_evaluations(path, metric="is_correct").outcomes
    assert right.values.tolist() == [[0, 1], [1, 0], [0, 0]]


def test_of_several_metrics_one_is_taken(tmp_path: Path) -> None:
    scores = {"exact_match": {"a": [1, 0], "b": [0, 0]}, "f1": {"a": [1, 0.5], "b": [0.5, 0.5]}}
    rows = [one for name, of in scores.items() for one in quiz(of, evaluation_result_id=name)]
    path = file_of(tmp_path, *rows)
    assert read_evaluations(path).outcomes.values.tolist() == [[1, 0], [0, 0]]
    assert read_evaluations(path, metric="f1").outcomes.values.tolist() == [[1, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evaluation": 1}, "evaluation is an object, got"),
        ({"evaluation": {"grade": 1}}, "evaluation has no score; it has 'grade'"),
        ({"evaluation": {"score": "good"}}, "line 2"),
        ({"sample_id": ""}, "sample_id"),
    ],
)
def test_what_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    rows = quiz({"a": [1, 0], "b": [0, 1]})
    with pytest.raises(InputError, match=message) as caught:
        read_evaluations(file_of(tmp_path, rows[0], rows[1] | change, *rows[2:]))
    assert "\n" not in str(caught.value)


def test_a_sample_without_its_model_is_named(tmp_path: Path) -> None:
    rows = quiz({"a": [1, 0], "b": [0, 1]})
    del rows[2]["model_id"]
    with pytest.raises(InputError, match=r"line 3.*model_id is missing"):
        read_evaluations(file_of(tmp_path, *rows))
