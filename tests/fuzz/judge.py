"""Runs mutants in workers and says what is wrong with what came back.

Wrong is: an exit code other than 0, 1 and 2; a traceback; more than one line of error, or none; an
input changed or a file left behind; more than 60 s or 2 GiB; a file that means the same with other
numbers; a file that must be refused with a result; a JSON result with numbers that cannot be.
"""

import json
import math
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.corpus import Case
from fuzz.mutations import Mutant, mutate

__all__ = ["Judge", "Verdict", "numbers_of", "same_numbers"]

SECONDS = 60.0  # of processor time, so that other work on the machine does not count
_PATIENCE = 300.0  # until a process that does not answer counts as hung
MEMORY = 2 * 2**30
_RECYCLED = 2**30  # a worker this large is replaced, so that the next peak is seen


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant, and what is wrong with that (nothing if empty)."""

    case: Case
    mutant: Mutant
    code: int | None
    problems: tuple[str, ...]
    line: str

    def __str__(self) -> str:
        wrong = "; ".join(self.problems)
        return f"{self.case.label} [{self.mutant.what}] -> {self.code}: {wrong} | {self.line[:300]}"


class Judge:
    """One worker and one scratch directory.

    Parameters
    ----------
    scratch : Path
        Directory of its own; every mutant gets a directory in it.
    """

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.worker: subprocess.Popen[str] | None = None
        self.count = 0
        self.originals: dict[Case, Any] = {}

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self.worker.kill()
            self.worker.communicate()
            self.worker = None

    def verdict(self, case: Case, rng: np.random.Generator) -> Verdict:
        """Mutate a case, run it, judge it."""
        return self.judge(case, mutate(case, rng))

    def judge(self, case: Case, mutant: Mutant) -> Verdict:
        """Run one mutant and judge it."""
        with self._directory(case, mutant) as directory:
            before = _contents(directory)
            answer = self.ask(directory, _arguments(case, mutant))
            after = _contents(directory) if directory.exists() else {}
        problems = [*_problems(answer)]
        if before != after:
            problems.append(f"files changed: {sorted(set(before) ^ set(after)) or 'an input'}")
        code = answer.get("code")
        if mutant.expected == "refuse" and code == 0:
            problems.append("accepted what must be refused")
        if code in (0, 1) and not problems:
            problems += self._differences(case, mutant, answer["out"])
        line = (answer.get("err") or answer.get("out") or "").strip()
        return Verdict(case, mutant, code, tuple(problems), line)

    def ask(self, directory: Path, arguments: list[str]) -> dict[str, Any]:
        """Answer of the worker; ``problem`` where it died or took too long."""
        if self.worker is None:
            self.worker = _started()
        assert self.worker.stdin
        assert self.worker.stdout
        request = {"directory": str(directory), "arguments": arguments}
        try:
            self.worker.stdin.write(json.dumps(request) + "\n")
            self.worker.stdin.flush()
            ready, _, _ = select.select([self.worker.stdout], [], [], _PATIENCE)
            line = self.worker.stdout.readline() if ready else None
        except BrokenPipeError:
            line = ""
        if not line:
            died = self.worker.poll()
            self.close()
            hung = f"no answer within {_PATIENCE:g} s"
            return {"problem": hung if line is None else f"the process died ({died})"}
        answer: dict[str, Any] = json.loads(line)
        if answer["peak"] > _RECYCLED:
            self.close()
        return answer

    def original(self, case: Case) -> Any:
        """Numbers of the unspoilt case."""
        if case not in self.originals:
            whole = Mutant(case.name, case.content, "nothing")
            with self._directory(case, whole) as directory:
                answer = self.ask(directory, _arguments(case, whole))
            assert answer.get("code") in (0, 1), f"{case.label}: {answer}"
            self.originals[case] = numbers_of(json.loads(answer["out"]))
        return self.originals[case]

    def _differences(self, case: Case, mutant: Mutant, out: str) -> list[str]:
        try:
            found = json.loads(out, parse_constant=_no_constant)
        except ValueError as error:
            return [f"no JSON: {error}"]
        problems = [*_impossible(found)]
        if mutant.expected == "same" and not same_numbers(numbers_of(found), self.original(case)):
            problems.append("another result from a file that means the same")
        return problems

    @contextmanager
    def _directory(self, case: Case, mutant: Mutant) -> Iterator[Path]:
        self.count += 1
        directory = self.scratch / str(self.count)
        directory.mkdir()
        for name, content in {**case.others, mutant.name: mutant.content}.items():
            (directory / name).write_bytes(content)
        try:
            yield directory
        finally:
            for path in directory.iterdir():
                path.unlink()
            directory.rmdir()


def same_numbers(one: Any, other: Any) -> bool:
    """Whether two results are the same but for the rounding of sums in another order."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_numbers(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_numbers, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


def numbers_of(found: Any) -> Any:
    """Numbers of a JSON result, without names of files, notes, and the order of entries."""
    if isinstance(found, dict):
        left_out = {"name", "notes", "file", "files", "n_test_source", "model", "source", "row"}
        return {key: numbers_of(found[key]) for key in sorted(found) if key not in left_out}
    if isinstance(found, list):
        values = [numbers_of(value) for value in found]
        return (
            sorted(values, key=json.dumps) if any(isinstance(v, dict) for v in values) else values
        )
    return found


def _started() -> subprocess.Popen[str]:
    settings = {"OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg", "COLUMNS": "120"}
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", str(Path(__file__).with_name("worker.py"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **settings},
    )  # fmt: skip


def _arguments(case: Case, mutant: Mutant) -> list[str]:
    names = {"{file}": mutant.name, "{other}": next(iter(case.others), "")}
    return [names.get(word, word) for word in case.command]


def _contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def _problems(answer: dict[str, Any]) -> Iterator[str]:
    if "problem" in answer:
        yield answer["problem"]
        return
    code, err = answer["code"], answer["err"]
    lines = err.strip().splitlines()
    refused = len(lines) == 1 and lines[0].startswith("error:")
    for wrong, problem in (
        (code not in (0, 1, 2), f"exit code {code}"),
        ("Traceback" in err, "traceback"),
        (code == 2 and not refused, f"{len(lines)} lines of error"),
        (code != 2 and len(lines) > code, "noise on standard error"),
        (not err.rstrip("\n").isprintable(), "control characters on standard error"),
        (len(err) > 1000, f"{len(err):,} characters of error"),
        (code == 2 and answer["out"], "output beside an error"),
        (answer["seconds"] > SECONDS, f"{answer['seconds']:.0f} s"),
        (answer["peak"] > MEMORY, f"{answer['peak'] / 2**30:.1f} GiB"),
    ):
        if wrong:
            yield problem


def _impossible(found: Any, key: str = "") -> Iterator[str]:
    """Numbers that no result can hold: intervals upside down, probabilities outside [0, 1]."""
    if isinstance(found, dict):
        for name, value in found.items():
            yield from _impossible(value, name)
    elif isinstance(found, list):
        numbers = [v for v in found if isinstance(v, int | float)]
        if key.endswith("interval") and len(numbers) == 2 and numbers[0] > numbers[1]:
            yield f"{key} upside down: {found}"
        for value in found:
            yield from _impossible(value, key)
    elif isinstance(found, int | float) and key.startswith("p_") and not 0 <= found <= 1:
        yield f"{key} = {found}"


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
