"""Files for tests of readers, commands that read them, and errors of what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayes_sota.data
from bayes_sota.cli.main import main
from bayes_sota.core.errors import InputError

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


def refused(message: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> InputError:
    """The error of a call: one line that a terminal can show, matching a pattern."""
    with pytest.raises(InputError, match=message) as caught:
        call(*arguments, **options)
    for line in (str(caught.value), caught.value.render(())):
        assert line.isprintable()
        assert len(line) < 500
        assert "{option}" not in line
    return caught.value


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
