"""Commands alone and beside a busy process: ``python tests/benchmarks/bench_company.py``.

Each line has the least wall time of a command alone, beside one process that computes all the time,
and alone with one BLAS thread by its environment; the ratios; and the processor time alone, which
shows threads that wait by spinning. On two processors no command should take more than twice as
long in company, and none longer alone than with one thread. Needs a machine with nothing else on
it, and no variable ``*_NUM_THREADS``. Arguments choose commands by name.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from timing import run

REPEATS = 3
BUSY = "while True: pass"


def write_inputs(folder: Path) -> dict[str, list[str]]:
    """Commands by name, with their files."""
    rng = np.random.default_rng(0)
    scores, answers = folder / "scores.csv", folder / "answers.csv"
    board, paired = folder / "board.csv", folder / "paired.csv"
    many = folder / "many.csv"

    def write(path: Path, rows: np.ndarray, header: str, text: str = "%.4f") -> str:
        np.savetxt(path, rows, text, ",", header=header, comments="")
        return str(path)

    def players(count: int) -> str:
        return ",".join(["round", *(f"p{i}" for i in range(count))])

    def tournament(rounds: int, count: int) -> np.ndarray:
        return rng.normal(0.8, 0.03, count) + rng.normal(0, 0.05, (rounds, count))

    rows = np.column_stack([np.arange(100), tournament(100, 20)])
    epp = write(scores, rows, players(20))
    wide = write(many, np.column_stack([np.arange(10), tournament(10, 2000)]), players(2000))
    right = rng.normal(1.5, 0.4, 67) + rng.normal(0, 1.5, (1000, 1)) > rng.logistic(size=(1000, 67))
    known = write(answers, right, ",".join(f"c{i}" for i in range(67)), "%d")
    skill = rng.normal(0.8, 0.02, 400)
    single = np.column_stack([np.arange(400), rng.binomial(2000, skill) / 2000])
    alone = write(board, single, "team,score")
    both = np.column_stack([single, rng.binomial(4000, skill) / 4000])
    pair = write(paired, both, "TeamId,public,private")
    sizes = ["--n-test-public", "2000", "--n-test-private", "4000"]
    return {
        "epp": ["epp", epp],
        "epp 2,000 players": ["epp", wide],
        "board": ["board", alone, "--n-test", "2000"],
        "board answers": ["board", known],
        "sota maximum": ["sota", "--maximum", "0.9116", "--n-test", "13840", "--classifiers",
                         "3558"],
        "sota answers": ["sota", known],
        "sota abc": ["sota", "--maximum", "0.9116", "--n-test", "13840", "--classifiers", "3558",
                     "--method", "abc"],
        "paired": ["paired", pair, *sizes],
        "claim responses": ["claim", "responses", known],
        "claim selection": ["claim", "selection", alone, "--n-test", "2000"],
        "maximum": ["maximum", "--n-test", "3000", "--classifiers", "1000", "--theta", "0.9",
                    "--correlation", "0.6"],
        "best AUC": ["maximum", "--metric", "auc", "--n-test", "3000", "--n-positive", "51",
                     "--classifiers", "1000", "--theta", "0.9", "--correlation", "0.6"],
    }  # fmt: skip


def least_times(arguments: list[str], **environment: str) -> tuple[float, float]:
    """Least wall and processor seconds of a command."""
    runs = [run(*arguments, **environment) for _ in range(REPEATS)]
    return min(wall for wall, _, _ in runs), min(used for _, used, _ in runs)


def main() -> None:
    """Measure the commands named, or all."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        commands = write_inputs(Path(folder))
        for name in sys.argv[1:] or commands:
            arguments = commands[name]
            alone, used = least_times(arguments)
            single, _ = least_times(arguments, OPENBLAS_NUM_THREADS="1")
            busy = subprocess.Popen([sys.executable, "-c", BUSY])
            try:
                company, _ = least_times(arguments)
            finally:
                busy.kill()
                busy.wait()
            found[name] = {
                "alone": round(alone, 2), "processor": round(used, 2),
                "company": round(company, 2), "one_thread": round(single, 2),
                "company_over_alone": round(company / alone, 2),
                "alone_over_one_thread": round(alone / single, 2),
            }  # fmt: skip
            print(f"{name:<18}", found[name], flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
