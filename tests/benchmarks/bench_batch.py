"""Many boards: boards per second, what an engine costs a board, and what a second core brings.

Run: ``python tests/benchmarks/bench_batch.py [--maxima 1000] [--boards 200] [--pieces 500]``, on an
idle machine with ``OMP_NUM_THREADS=1``. To be reached: 1,000 maxima in 240 s, two cores 1.7 times
as fast as one on 200 boards of 1,000 entries, and below 10 ms a board for an engine.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import bayes_sota as bs
from bayes_sota.core.parallel import run_each


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def maxima(folder: Path, n: int) -> Path:
    rng = np.random.default_rng(1)
    sizes, tries = rng.integers(200, 20_000, n), rng.integers(20, 4000, n)
    best = rng.integers(85 * sizes // 100, 95 * sizes // 100) / sizes
    rows = zip(best, sizes, tries, strict=True)
    lines = [f"m{i},{x:.6f},{size},{m}" for i, (x, size, m) in enumerate(rows)]
    path = folder / "maxima.csv"
    path.write_text("\n".join(["identifier,maximum,n_test,classifiers", *lines]) + "\n")
    return path


def boards(folder: Path, n: int, entries: int = 1000) -> Path:
    rng, lines = np.random.default_rng(2), ["identifier,file,n_test"]
    for i in range(n):
        skills = 1 / (1 + np.exp(-rng.normal(2.0, 0.3, entries)))
        scores = rng.binomial(5000, skills) / 5000
        text = "\n".join(f"t{j},{score:.4f}" for j, score in enumerate(scores))
        (folder / f"board-{i}.csv").write_text(f"team,score\n{text}\n")
        lines.append(f"b{i},board-{i}.csv,5000")
    path = folder / "boards.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def overhead(pieces: int, cores: int) -> float:
    """Seconds per piece of no work, without the start of the processes."""
    list(run_each(abs, range(cores), cores=cores))
    return seconds(lambda: list(run_each(abs, range(pieces), cores=cores))) / pieces


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (("maxima", 1000), ("boards", 200), ("pieces", 500)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    for cores in (1, 2):
        print(f"engine, {cores} cores: {1000 * overhead(given.pieces, cores):.2f} ms a board")
    with TemporaryDirectory() as name:
        folder, two = Path(name), {"random_seed": 1, "cores": 2}
        first = maxima(folder, 2)
        bs.estimate_many(first, folder / "warm-1", random_seed=1)
        bs.estimate_many(first, folder / "warm-2", **two)
        path = maxima(folder, given.maxima)
        took = seconds(lambda: bs.estimate_many(path, folder / "maxima", **two))
        print(f"{given.maxima} maxima, 2 cores: {took:.1f} s, {took / given.maxima:.3f} s each")
        path = boards(folder, given.boards)
        one = seconds(lambda: bs.estimate_many(path, folder / "one", random_seed=1))
        both = seconds(lambda: bs.estimate_many(path, folder / "two", **two))
        print(f"{given.boards} boards: {one:.1f} s on 1 core, {both:.1f} s on 2: {one / both:.2f}")


if __name__ == "__main__":
    main()
