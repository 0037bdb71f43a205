"""Write the golden answers: ``uv run python tests/golden/make.py [NAMES or their beginnings]``.

Without names every call is run; with names only those, and the others stay as they are.
``BAYES_SOTA_DATA`` must name the folder of real data.
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

SEEDS, SLOW = 4, 0.15


def rounded(value: float) -> float:
    """Ten significant digits."""
    return float(f"{value:.10g}")


def measured(call: Call) -> dict[str, Any]:
    """Numbers of one call, with their Monte Carlo error where it takes a seed."""
    runs, times = [], []
    for seed in range(1, 1 + (SEEDS if call.seeded else 2)):  # the first also fills caches
        start = time.process_time()
        runs.append(call.numbers(seed))
        times.append(time.process_time() - start)
    numbers: dict[str, Any] = {key: rounded(value) for key, value in runs[0].items()}
    if call.seeded:
        wider = np.sqrt((SEEDS - 1) / chi2.ppf(0.05, SEEDS - 1))
        values = {key: [run[key] for run in runs] for key in set(runs[0]).intersection(*runs)}
        numbers = {
            key: {"same_seed": rounded(of[0]), "mean": float(f"{np.mean(of):.7g}"),
                  "mc": float(f"{np.std(of, ddof=1) * wider:.2g}")}
            for key, of in values.items()
        }  # fmt: skip
        for key, number in numbers.items():  # an sd or an end is no surer than its mean
            of_mean = numbers.get(re.sub(r"/(sd|lower|upper|interval/[01])$", "/mean", key), number)
            number["mc"] = max(number["mc"], of_mean["mc"])
    return {"slow": min(times) > SLOW, "numbers": numbers}


def written(content: dict[str, Any]) -> str:
    """JSON with a number of a call on each line."""
    calls = []
    for name, entry in sorted(content.items()):
        numbers = (f"{json.dumps(key)}: {json.dumps(entry['numbers'][key], sort_keys=True)}"
                   for key in sorted(entry["numbers"]))  # fmt: skip
        head = f'"numbers": {{\n{",\n".join(numbers)}\n}},\n"slow": {json.dumps(entry["slow"])}'
        calls.append(f"{json.dumps(name)}: {{\n{head}\n}}")
    return "{\n" + ",\n".join(calls) + "\n}\n"


def make(*beginnings: str) -> None:
    """Run the calls that are named, and write each into the file of its room."""
    for name, call in CALLS.items():
        if name.startswith(beginnings or ""):
            path = Path(__file__).with_name(f"{name.partition('/')[0]}.json")
            content = json.loads(path.read_text()) if path.exists() else {}
            kept = {known: entry for known, entry in content.items() if known in CALLS}
            path.write_text(written(kept | {name: measured(call)}))
            print(name, flush=True)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="pytensor")
    make(*sys.argv[1:])
