"""Answers of 40 models to 40,000 items of 60 tasks in ten runs, read and answered; and ``score``.

Run with ``uv run python tests/benchmarks/bench_evaluations.py`` (about a minute). The answers are
written as a table with a row per model and item and its number of right runs (1,600,000 rows; a row
per run would be more than the 2,000,000 that a file may have), as a table with a column per model
of which each answer is that of most runs, and as an array in Python.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from timing import run

import bayes_sota as bs

MODELS, ITEMS, RUNS, TASKS = 40, 40_000, 10, 60


def chances(rng: np.random.Generator) -> np.ndarray:
    """Chance that a model answers an item right, (items, models)."""
    log_odds = rng.normal(1, 2, (ITEMS, 1)) + np.linspace(0, 1, MODELS)
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def write(folder: Path) -> dict[str, list[str]]:
    """The files, and the command that reads each."""
    rng = np.random.default_rng(0)
    right = rng.binomial(RUNS, chances(rng)).astype(np.int8)
    tasks = np.array([f"task {t:02}" for t in rng.integers(TASKS, size=ITEMS)])
    items, models = np.arange(ITEMS), np.array([f"model {m}" for m in range(MODELS)])
    row = np.repeat(np.arange(ITEMS), MODELS)
    counted = pd.DataFrame(
        {"model": np.tile(models, ITEMS), "task": tasks[row], "item": items[row], "runs": RUNS,
         "right": right.ravel()}
    )  # fmt: skip
    counted.to_csv(folder / "counts.csv", index=False)
    single = pd.DataFrame((right > RUNS / 2).astype(np.int8), columns=models)
    single.insert(0, "task", tasks)
    single.to_csv(folder / "wide.csv", index_label="item")
    files = {name: str(folder / name) for name in ("counts.csv", "wide.csv")}
    return {name: ["board", path, "--quiet"] for name, path in files.items()}


def main() -> None:
    """Print the table."""
    found = {}
    with TemporaryDirectory() as folder:
        for name, command in write(Path(folder)).items():
            found[name] = dict(
                zip(("seconds", "processor", "megabytes"), run(*command), strict=True)
            )
            print(name, found[name], flush=True)
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    answers = rng.random((ITEMS, MODELS, RUNS)) < chances(rng)[:, :, None]
    tasks = [f"task {t:02}" for t in rng.integers(TASKS, size=ITEMS)]
    middle = time.perf_counter()
    exam = bs.Outcomes(answers.mean(axis=2), n_runs=RUNS, tasks=tasks)
    bs.board_table(exam, random_seed=0)
    found["in Python"] = {"made": middle - start, "seconds": time.perf_counter() - middle}
    print("in Python", found["in Python"], flush=True)
    claim = ["claim", "classification", "--accuracy", "0.96", "0.94", "--n-test", "500"]
    score = ["score", "--right", "480", "--n-test", "500"]
    times = {name: min(run(*of)[0] for _ in range(5)) for name, of in
             {"claim": claim, "score": score}.items()}  # fmt: skip
    found["score beside claim"] = times | {"ratio": times["score"] / times["claim"]}
    print(found["score beside claim"])


if __name__ == "__main__":
    main()
