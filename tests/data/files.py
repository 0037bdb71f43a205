"""Files for tests of readers, and commands that read them."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayes_sota.data
from bayes_sota.cli.main import main

EXAMPLES = Path(bayes_sota.data.__file__ or "").with_name("example_files")
EXAM = str(EXAMPLES / "exam.csv")


def written(folder: Path, content: Any, name: str = "board.csv") -> Path:
    """File with text, bytes or a frame, or JSON of anything else."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, pd.DataFrame):
        content = content.to_csv(index=False)
    elif not isinstance(content, str | bytes):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code of a command, and what it prints to both streams."""
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return int(stopped.value.code or 0), printed.out, printed.err


def run_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """JSON of a command that says nothing else."""
    code, out, error = run(capsys, *arguments, "--json")
    assert (code, error) == (0, ""), error or code
    return json.loads(out)
