"""Runs cases: here, or in a process of their own with bounded time and memory, and judges them.

Wrong is: an exit code other than 0, 1 and 2; a traceback; more than one line of error, or none; an
input changed or a file left behind; more than 60 s or 2 GiB; a file that must be refused with a
result; a JSON result with numbers that cannot be.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from bayes_sota.cli import main

SECONDS, BYTES = 150, 2 * 2**30  # of processor time: half as fast beside a busy process


@dataclass(frozen=True)
class Answer:
    """Result of a command: exit code, output, errors, processor seconds and its own peak bytes."""

    code: int
    out: str
    err: str
    seconds: float
    peak: int


def run_alone(arguments, directory=None):
    """Answer of a command in a process of its own, whose output is caught at its descriptors."""
    return _starter().submit(_fork, arguments, directory or Path.cwd()).result()


@cache
def _starter():
    """A process that only forks: a copy of pytest's own, with its threads, may wait for ever."""
    return ProcessPoolExecutor(1, get_context("spawn"))


def _fork(arguments, directory):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # idle threads of BLAS
            inherited = _pages(1)
            child = os.fork()
        if child == 0:
            _run_and_exit(arguments, directory, out, err)
        _, status, used = os.wait4(child, 0)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    # What the imports have left in memory is not the command's.
    seconds, peak = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 - inherited
    return Answer(os.waitstatus_to_exitcode(status), texts[0], texts[1], seconds, peak)


def _pages(column):
    """Bytes of this process: reserved (0) or in memory (1)."""
    return int(Path("/proc/self/statm").read_text().split()[column]) * resource.getpagesize()


def _run_and_exit(arguments, directory, out, err):
    """Become the command: 70 with a traceback where an exception escapes."""
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
    os.chdir(directory)
    size = _pages(0)
    resource.setrlimit(resource.RLIMIT_AS, (size + 2 * BYTES, size + 2 * BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(20 * SECONDS)  # what waits, and does not work
    warnings.resetwarnings()
    warnings.simplefilter("ignore", DeprecationWarning)  # as outside of tests
    code = 0
    try:
        main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:
        code = 70
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def problems(answer):
    """Faults in the behaviour of a command, whatever its arguments."""
    code, err = answer.code, answer.err
    lines = err.strip().splitlines()
    refused = len(lines) == 1 and lines[0].startswith("error:")
    for wrong, problem in (
        (code not in (0, 1, 2), f"exit code {code}"),
        ("Traceback" in err, "traceback"),
        (code == 2 and not refused, f"{len(lines)} lines of error"),
        (code != 2 and len(lines) > code, "noise on standard error"),
        (not err.rstrip("\n").isprintable(), "control characters on standard error"),
        (len(err) > 1000, f"{len(err):,} characters of error"),
        (code == 2 and answer.out, "output beside an error"),
        (answer.seconds > SECONDS, f"{answer.seconds:.0f} s"),
        (answer.peak > BYTES, f"{answer.peak / 2**30:.1f} GiB"),
    ):
        if wrong:
            yield problem


def verdict(case, mutant):
    """Faults in the answer to a mutant; empty where there are none."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        before = {**case.others, mutant.name: mutant.content}
        for file, content in before.items():
            (directory / file).write_bytes(content)
        answer = run_alone(_arguments(case, mutant.name), directory)
        after = {path.name: path.read_bytes() for path in directory.iterdir()}
    found = [*problems(answer)]
    if before != after:
        found.append(f"files changed: {sorted(set(before) ^ set(after)) or 'an input'}")
    if mutant.expected == "refuse" and answer.code == 0:
        found.append("accepted what must be refused")
    if answer.code in (0, 1) and not found:
        found += _differences(answer.out)
    line, command = (answer.err or answer.out).strip()[:300], " ".join(case.command)
    said = f"{case.name}: {command} [{mutant.what}] -> {answer.code}: {'; '.join(found)} | {line}"
    return said if found else ""


def _differences(out):
    try:
        found = json.loads(out, parse_constant=_refuse_constant)
    except ValueError as error:
        yield f"no JSON: {error}"
        return
    yield from _impossible(found)


def _refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def _impossible(found, key=""):
    """Numbers that no result can hold: intervals upside down, probabilities outside [0, 1]."""
    if isinstance(found, dict):
        for name, value in found.items():
            yield from _impossible(value, name)
    elif isinstance(found, list):
        ends = [v for v in found if isinstance(v, int | float)]
        if key.endswith("interval") and len(ends) == 2 and ends[0] > ends[1]:
            yield f"{key} upside down: {found}"
        for value in found:
            yield from _impossible(value, key)
    elif isinstance(found, int | float) and key.startswith("p_") and not 0 <= found <= 1:
        yield f"{key} = {found}"


def _arguments(case, name):
    names = {"{file}": name, "{other}": next(iter(case.others), "")}
    return [names.get(word, word) for word in case.command]
