"""Commands alone and beside a busy process: ``python tests/benchmarks/bench_company.py``.

Each line has the least wall time of a command alone, beside one process that computes all the time,
and alone with one BLAS thread by its environment; the ratios; and the processor time alone, which
shows threads that wait by spinning. On two processors no command should take more than twice as
long in company, and none longer alone than with one thread. Needs a machine with nothing else on
it, and no variable ``*_NUM_THREADS``. Arguments choose commands by name.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from timing import print_table, run

BEST = "--maximum 0.9116 --n-test 13840 --classifiers 3558"
LAW = "--n-test 3000 --classifiers 1000 --theta 0.9 --correlation 0.6"
COMMANDS = {
    "epp": "epp rounds.csv",
    "epp 2,000 players": "epp many.csv",
    "board": "board board.csv --n-test 2000",
    "board answers": "board answers.csv",
    "sota maximum": f"sota {BEST}",
    "sota answers": "sota answers.csv",
    "sota abc": f"sota {BEST} --method abc",
    "paired": "paired paired.csv --n-test-public 2000 --n-test-private 4000",
    "claim responses": "claim responses answers.csv",
    "maximum": f"maximum {LAW}",
    "best AUC": f"maximum --metric auc --n-positive 51 {LAW}",
}


def write_inputs(folder: Path) -> None:
    """The files of the commands."""
    rng = np.random.default_rng(0)

    def write(name: str, rows: np.ndarray, header: list[str], text: str = "%.4f") -> None:
        np.savetxt(folder / name, rows, text, ",", header=",".join(header), comments="")

    for name, rounds, count in (("rounds.csv", 100, 20), ("many.csv", 10, 2000)):
        found = rng.normal(0.8, 0.03, count) + rng.normal(0, 0.05, (rounds, count))
        header = ["round", *(f"p{i}" for i in range(count))]
        write(name, np.column_stack([np.arange(rounds), found]), header)
    right = rng.normal(1.5, 0.4, 67) + rng.normal(0, 1.5, (1000, 1)) > rng.logistic(size=(1000, 67))
    write("answers.csv", right, [f"c{i}" for i in range(67)], "%d")
    skill = rng.normal(0.8, 0.02, 400)
    single = np.column_stack([np.arange(400), rng.binomial(2000, skill) / 2000])
    write("board.csv", single, ["team", "score"])
    both = np.column_stack([single, rng.binomial(4000, skill) / 4000])
    write("paired.csv", both, ["TeamId", "public", "private"])


def least_times(arguments: list[str], **environment: str) -> tuple[float, float]:
    """Least wall and processor seconds of a command in three runs."""
    runs = [run(*arguments, **environment) for _ in range(3)]
    return min(wall for wall, _, _ in runs), min(used for _, used, _ in runs)


def rows(folder: Path) -> Iterator[list[str]]:
    """The commands named, or all."""
    for name in sys.argv[1:] or COMMANDS:
        words = COMMANDS[name].split()
        arguments = [str(folder / word) if word.endswith(".csv") else word for word in words]
        alone, used = least_times(arguments)
        single, _ = least_times(arguments, OPENBLAS_NUM_THREADS="1")
        busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            company, _ = least_times(arguments)
        finally:
            busy.kill()
            busy.wait()
        figures = (alone, used, company, single, company / alone, alone / single)
        yield [name, *(f"{value:.2f}" for value in figures)]


if __name__ == "__main__":
    header = ["command", "alone", "processor", "in company", "one thread", "company / alone",
              "alone / one thread"]  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        write_inputs(Path(name))
        print_table(header, rows(Path(name)))
