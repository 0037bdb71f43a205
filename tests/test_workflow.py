"""The workflow of the guide to ranks, which people copy: what it says, and each command of ours."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from data.files import run, written

import bayes_sota.data

EXAMPLES = Path(bayes_sota.data.__file__).parent / "example_files"


@pytest.fixture
def steps(repository: Path) -> list[dict[str, Any]]:
    text = (repository / "docs/guide/compare.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets" not in text
    (job,) = workflow["jobs"].values()
    return list(job["steps"])


def write_log(model: str, log: str) -> None:
    """Answers of a model of the example in a log of lm-evaluation-harness."""
    exam = pd.read_csv(EXAMPLES / "exam.csv")
    answers = exam[(exam["model"] == model) & (exam["seed"] == 1)]
    lines = [
        json.dumps({"doc_id": image, "acc": float(right)})
        for image, right in zip(answers["image"].tolist(), answers["correct"], strict=True)
    ]
    written(Path("runs", log), "\n".join(lines) + "\n", "samples_exam_2026-01-01.jsonl")


def test_actions_are_pinned_by_their_major_version(steps: list[dict[str, Any]]) -> None:
    used = [step["uses"] for step in steps if "uses" in step]
    assert len(used) == 3
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", action) for action in used)


@pytest.mark.parametrize(
    ("baseline", "candidate", "codes"), [("tree", "forest", [0, 0]), ("forest", "tree", [0, 3])]
)
def test_its_commands_pass_and_fail(
    steps: list[dict[str, Any]], baseline: str, candidate: str, codes: list[int],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    write_log(baseline, "baseline")
    write_log(candidate, "candidate")
    lines = [step["run"] for step in steps if "bayes-sota " in step.get("run", "")]
    commands = [shlex.split(line) for line in lines]
    assert [command[1] for command in commands] == ["board", "claim"]
    assert [run(capsys, *command[1:])[0] for command in commands] == codes
    kept = steps[-1]
    assert kept["if"] == "always()"
    files = [tmp_path / name for name in kept["with"]["path"].split()]
    assert len(files) == 2
    assert all(file.stat().st_size for file in files)
