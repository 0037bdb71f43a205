"""Sets of ranks: a board of answers from its file or an array, and a board of scores.

Run with ``uv run python tests/benchmarks/bench_ranks.py [answers] [scores] [most]``. Answers to
10,000 items are those of a one-factor model, loading .75, with skills of Beta(20, 8); they are
written as a table with a column per classifier, and ``board`` reads and ranks them in a process of
its own, BLAS on one thread; 5,000 classifiers, as many as are compared, are more cells than a file
may have, and come as an array. Scores are those of ``bench_leaderboard``. Processor seconds count:
other work on the machine does not.
"""

import resource
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.special import ndtri
from timing import fastest, report_parts, run

import bayes_sota as bs

ITEMS, LOADING, BLOCK = 10_000, 0.75, 1000
SIZES, MOST = (300, 3_000), 5_000


def blocks_of_answers(rng: np.random.Generator, entries: int) -> Iterator[np.ndarray]:
    """Right and wrong answers, so many items at a time, (items, entries)."""
    threshold = ndtri(rng.beta(20, 8, entries))
    for _ in range(0, ITEMS, BLOCK):
        own = np.sqrt(1 - LOADING**2) * rng.standard_normal((BLOCK, entries))
        yield LOADING * rng.standard_normal((BLOCK, 1)) + own < threshold


def write(path: Path, entries: int) -> None:
    """A table with a row per item and a column per classifier."""
    with path.open("wb") as file:
        file.write((",".join(f"model {j}" for j in range(entries)) + "\n").encode())
        for answers in blocks_of_answers(np.random.default_rng(0), entries):
            text = np.full((BLOCK, 2 * entries), ord(","), np.uint8)
            text[:, ::2] = ord("0") + answers
            text[:, -1] = ord("\n")
            file.write(text.tobytes())


def answers() -> dict[str, float]:
    """Wall and processor seconds and megabytes of ``board`` on files."""
    figures = {}
    with TemporaryDirectory() as folder:
        for entries in SIZES:
            path = Path(folder) / f"{entries}.csv"
            write(path, entries)
            found = run("board", str(path), "--quiet", OMP_NUM_THREADS="1")
            names = ("wall_seconds", "processor_seconds", "megabytes")
            figures |= {f"answers_{entries}_{k}": x for k, x in zip(names, found, strict=True)}
    return figures


def most() -> dict[str, float]:
    """Processor seconds of a table of an array, and peak megabytes of this process."""
    array = np.concatenate(list(blocks_of_answers(np.random.default_rng(0), MOST)))
    start = time.process_time()
    bs.board_table(bs.Outcomes(array), random_seed=0)
    spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {f"answers_{MOST}_processor_seconds": spent, f"answers_{MOST}_megabytes": peak}


def scores() -> dict[str, float]:
    """Processor seconds of a table from scores alone, joint and confidence sets."""
    rng, figures = np.random.default_rng(3), {}
    for entries, ranks in ((100, "joint"), (300, "confidence"), (3_000, "confidence")):
        skill = 1 / (1 + np.exp(-(2.3 - rng.exponential(0.25, entries))))
        board = bs.Leaderboard(rng.binomial(ITEMS, skill) / ITEMS, n_test=ITEMS, rounding="exact")
        call = lambda board=board: bs.board_table(board, random_seed=0)  # noqa: E731
        figures[f"scores_{entries}_{ranks}_processor_seconds"] = fastest(call, 3, time.process_time)
    return figures


if __name__ == "__main__":
    report_parts(answers, scores, most)
