"""Write the golden answers: ``uv run python tests/golden/make.py [NAMES or their beginnings]``.

Without names every call is run; with names only those, with ``--missing`` only what is not stored
yet, and the others stay as they are. ``BAYES_SOTA_DATA`` must name the folder of real data.
"""

import json
import os
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from golden.calls import CALLS, Call
from scipy.stats import chi2

FOLDER = Path(__file__).parent
SEEDS, FEW_SEEDS, SLOW = 6, 4, 0.15


def rounded(value: float) -> float:
    """Ten significant digits."""
    return float(f"{value:.10g}")


def measured(call: Call) -> dict[str, Any]:
    """Numbers of one call, with their Monte Carlo error where it takes a seed."""
    runs, times = [], []
    for seed in range(1, 1 + (SEEDS if call.seeded else 2)):
        start = time.process_time()
        runs.append(call.numbers(seed))
        times.append(time.process_time() - start)
        if len(runs) >= (FEW_SEEDS if call.seeded else 1) and min(times) > SLOW:
            break  # the first run also compiles, and fills caches
    entry: dict[str, Any] = {"slow": min(times) > SLOW}
    if not call.seeded:
        return entry | {"numbers": {key: rounded(value) for key, value in runs[0].items()}}
    wider = np.sqrt((len(runs) - 1) / chi2.ppf(0.05, len(runs) - 1))
    numbers: dict[str, Any] = {}
    for key in set(runs[0]).intersection(*runs):
        values = np.array([run[key] for run in runs])
        error, same = float(values.std(ddof=1) * wider), rounded(values[0])
        mean = float(f"{values.mean():.7g}")
        number = {"same_seed": same, "mean": mean, "mc": float(f"{error:.2g}")}
        numbers[key] = number if error > 1e-9 * abs(same) else same
    return entry | {"numbers": floored(numbers)}


def floored(numbers: dict[str, Any]) -> dict[str, Any]:
    """An sd or an end is never more certain than its mean, which few seeds may not show."""
    for key, number in numbers.items():
        of_mean = re.sub(r"/(sd|lower|upper|interval/[01])$", "/mean", key)
        mean = numbers.get(of_mean)
        if of_mean != key and isinstance(mean, dict):
            alone = {"same_seed": number, "mean": number, "mc": 0.0}
            full = number if isinstance(number, dict) else alone
            numbers[key] = full | {"mc": max(full["mc"], mean["mc"])}
    return numbers


def written(content: dict[str, Any]) -> str:
    """JSON with a number of a call on each line."""
    calls = []
    for name, entry in sorted(content.items()):
        numbers = (f"{json.dumps(key)}: {json.dumps(entry['numbers'][key], sort_keys=True)}"
                   for key in sorted(entry["numbers"]))  # fmt: skip
        head = f'"numbers": {{\n{",\n".join(numbers)}\n}},\n"slow": {json.dumps(entry["slow"])}'
        calls.append(f"{json.dumps(name)}: {{\n{head}\n}}")
    return "{\n" + ",\n".join(calls) + "\n}\n"


def stored(room: str) -> dict[str, Any]:
    """Stored answers of a room, without calls that are gone."""
    path = FOLDER / f"{room}.json"
    content = json.loads(path.read_text()) if path.exists() else {}
    return {name: entry for name, entry in content.items() if name in CALLS}


def make(names: list[str]) -> None:
    """Run the calls that are named, and write each into the file of its room."""
    for name, call in CALLS.items():
        room = name.partition("/")[0]
        if "--missing" in names and name in stored(room):
            continue
        if not name.startswith(tuple(n for n in names if n != "--missing") or ""):
            continue
        start = time.process_time()
        try:
            entry = measured(call)
        except Exception as error:
            print(f"FAILED  {name}: {type(error).__name__}: {error}"[:300], flush=True)
            continue
        print(f"{time.process_time() - start:7.1f} s  {name}", flush=True)
        partial = FOLDER / f"{room}.json.part"
        partial.write_text(written(stored(room) | {name: entry}))
        partial.replace(FOLDER / f"{room}.json")


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="pytensor")
    make(sys.argv[1:])
