"""How a run ends, and what a process needs from its surroundings."""

import os
import subprocess
import sys
import time
from importlib.metadata import version
from types import SimpleNamespace

import pytest

from bayes_sota.cli.main import _interrupt_again

ODD = """
import sys
import click
from bayes_sota.cli.main import cli, main
@click.command()
@click.argument("times", type=int)
def odd(times):
    import warnings
    warnings.warn("nobody should see this")
    click.echo("Zo\\u00eb \\u4e2d \\udc80 " * times)
cli.add_command(odd, "odd")
main()
"""


def python(*words, **options):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_package_runs_as_a_module_and_tells_versions():
    told = python("-m", "bayes_sota", "--version").splitlines()
    assert told[0] == f"bayes_sota {version('bayes-sota')}"
    assert f"PyMC {version('pymc')}" in told
    completing = {**os.environ, "_BAYES_SOTA_COMPLETE": "bash_source"}
    assert "_bayes_sota_completion" in python("-m", "bayes_sota", env=completing)


DRAWING = ("pymc", "pytensor", "arviz", "matplotlib")


@pytest.mark.parametrize(
    ("line", "heavy"),
    [
        ("--version", ("scipy", *DRAWING)),
        ("--help", ("scipy", "pandas", "xarray", *DRAWING)),
        ("maximum --n-test 300 --classifiers 10 --theta 0.9 --correlation 0.5 --json",
         ("scipy", "pandas", "xarray", *DRAWING)),
        ("score --right 48 --n-test 50", DRAWING),
        ("claim classification --accuracy 0.9 0.88 --n-test 500", ("pandas", "xarray", *DRAWING)),
        ("board {board.csv} --n-test 500 --json", ("pandas", "xarray", *DRAWING)),
        ("epp {rounds.csv} --json", DRAWING),
    ],
)  # fmt: skip
def test_a_command_loads_what_it_needs(line, heavy, option_inputs):
    words = [str(option_inputs / word[1:-1]) if word[0] == "{" else word for word in line.split()]
    code = (
        f"import sys\nfrom bayes_sota.cli import main\ntry:\n    main({words!r})\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    assert python("-c", code).splitlines()[-1] == "[]"


@pytest.mark.parametrize(("coding", "shown"), [("ascii", "?"), ("utf-8", "\\udc80")])
def test_names_that_a_terminal_cannot_show(coding, shown):
    environment = {**os.environ, "PYTHONIOENCODING": coding}
    out = python("-c", ODD, "odd", "1", errors="replace", env=environment)
    assert (out[:2], shown in out) == ("Zo", True)


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_output_that_nobody_reads_any_more():
    command = f'"{sys.executable}" -c "$0" odd 20000 | true; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command, ODD], capture_output=True, timeout=30)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_interrupt_that_a_destructor_swallows_comes_again():
    _interrupt_again(SimpleNamespace(exc_type=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        time.sleep(5)
