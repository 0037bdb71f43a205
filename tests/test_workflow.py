"""The workflow of the guide to ranks, which people copy: what it says, and each command of ours."""

import json
import shlex

import pandas as pd
import pytest
import yaml
from data.files import EXAM, run, written


@pytest.fixture
def steps(repository):
    text = (repository / "docs/guide/compare.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets" not in text
    (job,) = workflow["jobs"].values()
    return job["steps"]


@pytest.mark.parametrize(
    ("baseline", "candidate", "codes"), [("tree", "forest", [0, 0]), ("forest", "tree", [0, 3])]
)
def test_its_commands_pass_and_fail(
    steps, baseline, candidate, codes, tmp_path, monkeypatch, capsys
):
    """With answers of models of the example in logs of lm-evaluation-harness."""
    monkeypatch.chdir(tmp_path)
    exam = pd.read_csv(EXAM).query("seed == 1")
    for model, log in ((baseline, "baseline"), (candidate, "candidate")):
        rows = exam[exam["model"] == model][["image", "correct"]].to_numpy().tolist()
        lines = "".join(f"{json.dumps({'doc_id': i, 'acc': float(x)})}\n" for i, x in rows)
        written(tmp_path / "runs" / log, lines, "samples_exam_2026-01-01.jsonl")
    lines = [step["run"] for step in steps if "bayes-sota " in step.get("run", "")]
    commands = [shlex.split(line) for line in lines]
    assert [command[1] for command in commands] == ["board", "claim"]
    assert [run(capsys, *command[1:])[0] for command in commands] == codes
    kept = steps[-1]
    assert kept["if"] == "always()"
    files = [tmp_path / name for name in kept["with"]["path"].split()]
    assert (len(files), all(file.stat().st_size for file in files)) == (2, True)
