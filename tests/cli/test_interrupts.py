"""A signal ends the command soon, with its exit code, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from bayes_sota.cli.interrupts import run_until_interrupted

RUNS = Path(__file__).with_name("interrupted_runs.py")
NUTS = ("sota", "--model", "obesity-risk-maximum", "--method", "nuts", "--draws", "100000")


def start(moment: str, *arguments: str | Path, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, RUNS, moment, *arguments], env={**os.environ, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace", start_new_session=True,
    )  # fmt: skip


def run(moment: str, *arguments: str | Path, **environment: str) -> tuple[int, str, str]:
    """Exit code and output, once no process of the run holds its output any more."""
    process = start(moment, *arguments, **environment)
    try:
        out, err = process.communicate(timeout=30)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
        process.communicate()
        raise
    return process.returncode, out, err


@pytest.mark.parametrize(
    "moment",
    [
        "importing",
        pytest.param("swallowed by a destructor", marks=pytest.mark.slow),
        pytest.param("compiling", marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_run_leaves_nothing_and_exits_with_130(moment: str, tmp_path: Path) -> None:
    code, out, err = run(moment, *NUTS, "--output", tmp_path / "x.nc")
    assert (code, out) == (130, "")
    assert err.splitlines()[-1].startswith("error: interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        "swallowed-once",
        "swallowed-then-failed",
        pytest.param("swallowed-then-finished", marks=pytest.mark.slow),
        "always-swallowed",
        pytest.param("pressed-twice", marks=pytest.mark.slow),
        "writing",
        pytest.param("hanging-exit", marks=pytest.mark.slow),
    ],
)
def test_whatever_a_command_does_with_it(command: str, tmp_path: Path) -> None:
    code, out, err = run("at once", command, tmp_path / "x.txt")
    assert (code, out) == (130, "")
    assert err.splitlines()[-1].startswith("error: interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "command"),
    [
        (signal.SIGTERM, "writing"),
        pytest.param(signal.SIGTERM, "always-swallowed", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, "pressed-twice", marks=pytest.mark.slow),
        (signal.SIGHUP, "writing"),
    ],
)
def test_other_signals_end_it_as_ctrl_c_does(number: int, command: str, tmp_path: Path) -> None:
    code, out, err = run(f"at once={int(number)}", command, tmp_path / "x.txt")
    assert (code, out) == (128 + number, "")
    assert err.splitlines()[-1].endswith("no file is left half-written")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_before_the_first_import_is_one_line() -> None:
    code, out, err = run("starting", "models")
    assert (code, out, err.count("\n")) == (130, "", 1)
    assert err.startswith("error: interrupted")


def test_nothing_heavy_is_imported_before_signals_are_handled() -> None:
    script = (
        "from bayes_sota.cli import main; import sys; print({'numpy', 'click'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "set()\n"


@pytest.mark.skipif(os.name != "posix", reason="exit codes of signals are POSIX")
def test_ctrl_c_while_python_ends_is_silent() -> None:
    assert run("at once", "pressed-at-the-end", "x") == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("coding", ["ascii", "latin-1", "utf-8"])
def test_names_that_a_terminal_cannot_show(coding: str) -> None:
    code, out, err = run("at once", "odd-output", "0", PYTHONIOENCODING=coding)
    assert (code, err) == (0, "")  # nor is there a library's warning
    assert out.startswith("Zo")
    assert "\\udc80" in out


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_output_that_nobody_reads_any_more() -> None:
    with start("at once", "odd-output", "20000") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(timeout=30) == 141


@pytest.mark.parametrize("holder", [signal.default_int_handler, signal.SIG_IGN, print])
def test_ctrl_c_is_taken_and_another_s_left_alone(holder: Any) -> None:
    before = signal.signal(signal.SIGINT, holder)
    try:
        held = run_until_interrupted(lambda: signal.getsignal(signal.SIGINT))
        after = signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    taken = holder is signal.default_int_handler
    assert (held is holder) == (not taken)
    assert after is (signal.SIG_DFL if taken else holder)


def test_outside_the_main_thread_the_command_just_runs() -> None:
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(run_until_interrupted(lambda: 7)))
    thread.start()
    thread.join()
    assert results == [7]
