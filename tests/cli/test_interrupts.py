"""Ctrl-C ends the command soon, with exit code 130, and leaves nothing behind."""

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


def run(moment: str, *arguments: str | Path) -> tuple[int, str, str]:
    """Exit code and output, once no process of the run holds its output any more."""
    process = subprocess.Popen(
        [sys.executable, RUNS, moment, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
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
        "swallowed by a destructor",
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
        "swallowed-then-finished",
        "always-swallowed",
        "pressed-twice",
        "writing",
        "hanging-exit",
    ],
)
def test_whatever_a_command_does_with_it(command: str, tmp_path: Path) -> None:
    code, out, err = run("at once", command, tmp_path / "x.txt")
    assert (code, out) == (130, "")
    assert err.splitlines()[-1].startswith("error: interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("holder", [signal.default_int_handler, signal.SIG_IGN, print])
def test_ctrl_c_is_given_back_and_another_s_left_alone(holder: Any) -> None:
    before = signal.signal(signal.SIGINT, holder)
    try:
        held = run_until_interrupted(lambda: signal.getsignal(signal.SIGINT))
        after = signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (held is holder) == (holder is not signal.default_int_handler)
    assert after is holder


def test_outside_the_main_thread_the_command_just_runs() -> None:
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(run_until_interrupted(lambda: 7)))
    thread.start()
    thread.join()
    assert results == [7]
