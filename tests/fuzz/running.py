"""Runs cases in a process of their own with bounded time and memory, and judges them.

Wrong is: an exit code other than 0, 1 and 2; a traceback; more than one line of error, or none; an
input changed or a file left behind; more than 60 s or 2 GiB; a file that must be refused with a
result; a JSON result with numbers that cannot be.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SECONDS, BYTES = 150, 2 * 2**30  # of processor time: half as fast beside a busy process


@dataclass(frozen=True)
class Answer:
    """Result of a command: exit code, output, errors, processor seconds and peak bytes."""

    code: int
    out: str
    err: str
    seconds: float
    peak: int


# A process begins with the peak of the one that starts it, so a small one stands between.
_RUN = """
import os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
_, status, used = os.wait4(subprocess.Popen(sys.argv[2:]).pid, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, file=open(sys.argv[1], "w"))
sys.exit(os.waitstatus_to_exitcode(status) % 256)
"""


def run_alone(arguments, directory):
    """Answer of a command in a process of its own."""
    limits = _RUN.format(seconds=SECONDS, memory=4 * BYTES)
    with tempfile.NamedTemporaryFile("r") as used:
        command = [sys.executable, "-c", limits, used.name, sys.executable, "-m", "bayes_sota"]
        done = subprocess.run([*command, *arguments], cwd=directory, capture_output=True)
        seconds, peak = map(float, used.read().split())
    texts = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return Answer(done.returncode, *texts, seconds, int(peak))


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
