"""Start-up: import time, what it pulls in, and the quick command through uv.

Run with ``uv run python tests/benchmarks/bench_startup.py``.
"""

import json
import shutil
import subprocess
import sys
import time

IMPORT = (
    "import time; t = time.perf_counter(); import bayes_sota; "
    "bayes_sota.maximum_law; print(time.perf_counter() - t)"
)
HEAVY = "import bayes_sota, sys; print('scipy' in sys.modules, 'pandas' in sys.modules)"
LAW = ("bayes-sota", "maximum", "--n-test", "3000", "--classifiers", "1000", "--theta", "0.9")


def fastest(*command: str, repeats: int = 7) -> float:
    """Seconds of the fastest run of a command."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def printed(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main() -> None:
    """Measure and print."""
    figures: dict[str, object] = {
        "import_seconds": min(float(printed(IMPORT)) for _ in range(7)),
        "scipy_and_pandas_imported": printed(HEAVY),
        "python_alone_seconds": fastest(sys.executable, "-c", "pass"),
    }
    uv = shutil.which("uv")
    if uv:
        figures["maximum_through_uv_seconds"] = fastest(uv, "run", *LAW)
    for name, value in figures.items():
        print(f"{name:<35} {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
