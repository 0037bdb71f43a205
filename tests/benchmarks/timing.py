"""What the scripts beside it share: parts with their figures, seconds, tables and the JSON."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

RUN = "from bayes_sota.cli import main; main()"
Call = Callable[[], object]


def fastest(call: Call, repeats: int = 3, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the fastest of some calls, by the clock or ``time.process_time``."""
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def seconds(repeats: int = 3, **calls: Call) -> dict[str, float]:
    """Seconds of the fastest run of each call, by its name."""
    return {f"{name}_seconds": fastest(call, repeats) for name, call in calls.items()}


def run(*arguments: str, **environment: str) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak megabytes of a command in a process of its own."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments, "--json"],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"failed: {' '.join(arguments)}")
    wall = time.perf_counter() - start
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def printed(*arguments: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, *arguments]
    given = {**os.environ, **environment}
    return subprocess.check_output(command, env=given, text=True).strip()


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A Markdown table, row by row as they come."""
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


def report(figures: Mapping[str, Any]) -> None:
    """Print a line per figure, the load of the machine, and everything as JSON."""
    figures = {**figures, "load_average": os.getloadavg()[0]}
    for name, value in figures.items():
        print(f"{name:<45} {value:,.5g}" if isinstance(value, float) else f"{name:<45} {value}")
    print(json.dumps(figures))


def report_parts(*parts: Callable[[], Mapping[str, Any]]) -> None:
    """Report the parts that the command line names, or all."""
    named = {part.__name__: part for part in parts}
    for name in sys.argv[1:] or named:
        report(named[name]())
