"""What the scripts beside it share: the fastest of some runs, and a table with its JSON."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

RUN = "from bayes_sota.cli import main; main()"


def fastest(
    call: Callable[[], object], repeats: int = 3, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds of the fastest of some calls, by the clock or ``time.process_time``."""
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


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
    seconds = time.perf_counter() - start
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def printed(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def report(figures: Mapping[str, Any]) -> None:
    """Print a line per figure, the load of the machine, and everything as JSON."""
    figures = {**figures, "load_average": os.getloadavg()[0]}
    for name, value in figures.items():
        print(f"{name:<45} {value:,.5g}" if isinstance(value, float) else f"{name:<45} {value}")
    print(json.dumps(figures))
