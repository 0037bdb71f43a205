"""How a run ends, and what a process needs from its surroundings."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from data.files import run

from bayes_sota.cli.main import exit_code

ODD = """
import sys
import click
from bayes_sota.cli import commands, main
@click.command()
@click.argument("times", type=int)
def odd(times):
    import warnings
    warnings.warn("nobody should see this")
    click.echo("Zo\\u00eb \\u4e2d \\udc80 " * times)
commands.cli.add_command(odd, "odd")
main()
"""


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "bayes_sota", "score", "--right", "48", "--n-test", "50"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "96.0 %" in done.stdout


DRAWING = ("pymc", "pytensor", "arviz", "matplotlib")


@pytest.mark.parametrize(
    ("line", "heavy"),
    [
        ("--version", ("scipy", *DRAWING)),
        ("--help", ("scipy", "pandas", "xarray", *DRAWING)),
        ("sota --help", ("pandas", *DRAWING)),
        ("maximum --n-test 300 --classifiers 10 --theta 0.9 --correlation 0.5 --json",
         ("scipy", "pandas", "xarray", *DRAWING)),
        ("score --right 48 --n-test 50", DRAWING),
        ("claim classification --accuracy 0.9 0.88 --n-test 500", ("pandas", "xarray", *DRAWING)),
        ("inspect {board.csv}", DRAWING),
        ("board {board.csv} --n-test 500 --json", ("xarray", *DRAWING)),
        ("epp {rounds.csv} --json", DRAWING),
    ],
)  # fmt: skip
def test_a_command_loads_what_it_needs(
    line: str, heavy: tuple[str, ...], option_inputs: Path
) -> None:
    words = [str(option_inputs / word[1:-1]) if word[0] == "{" else word for word in line.split()]
    code = (
        f"import sys\nfrom bayes_sota.cli import main\ntry:\n    main({words!r})\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_versions_are_told() -> None:
    command = [sys.executable, "-m", "bayes_sota", "--version"]
    told = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    assert told[0] == f"bayes_sota {version('bayes-sota')}"
    assert f"PyMC {version('pymc')}" in told


def test_an_interrupted_run_is_one_line_and_exit_code_130(capsys: Any, monkeypatch: Any) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    assert exit_code(lambda: pressed()) == 130
    assert capsys.readouterr().err == "error: interrupted\n"
    monkeypatch.setattr("bayes_sota.cli.options.deliver", pressed)
    assert run(capsys, "score", "--right", 48, "--n-test", 50)[::2] == (130, "error: interrupted\n")


@pytest.mark.parametrize("coding", ["ascii", "latin-1", "utf-8"])
def test_names_that_a_terminal_cannot_show(coding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ODD, "odd", "1"], capture_output=True, errors="replace",
        env={**os.environ, "PYTHONIOENCODING": coding},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Zo")
    assert {"ascii": "?"}.get(coding, "\\udc80") in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_output_that_nobody_reads_any_more() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ODD, "odd", "20000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 141
