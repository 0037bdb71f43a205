"""Large inputs take at most 30 s of processor time and 2 GiB, or are refused in one line.

Seconds of processor time and peak memory of the whole command, reading included, before and after
the limits and the routes for large inputs, on two processors with nothing else to do:

========================================  ================  ================
input                                     before            after
========================================  ================  ================
epp, 9,999 players                        > 56 s, 5.7 GB    refused, 2.4 s
epp, 50,000 columns                       memory error      refused, 0.4 s
sota, 5,000 classifiers x 100 answers     memory error      refused, 0.6 s
board, 2,000 classifiers x 500 answers    23 s, 6.5 GB      10 s, 0.8 GB
epp, all rounds, 20 x 50,000              > 400 s           23 s, 0.6 GB
best AUC, a million items                 377 s, 9 GB       2 s, 0.1 GB
claim responses, 100,000 x 300            42 s, 2.6 GB      21 s, 1.3 GB
paired, 20,000 teams                      61 s              29 s, 0.3 GB
sota, 2 to 10^9 classifiers               11.6 GB           14 s, 0.4 GB
========================================  ================  ================
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

SECONDS, BYTES = 30, 2 * 2**30
RUN = "from bayes_sota.cli import main; main()"


def write_scores(path: Path, players: int, rounds: int) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(0.8, 0.03, players) + rng.normal(0, 0.05, (rounds, players))
    header = ",".join(["round", *(f"p{i}" for i in range(players))])
    rows = np.column_stack([np.arange(rounds), scores])
    np.savetxt(path, rows, "%.6g", ",", header=header, comments="")


def write_answers(path: Path, items: int, classifiers: int) -> None:
    rng = np.random.default_rng(0)
    hard = rng.normal(0, 1.5, (items, 1))
    skill = rng.normal(1.8, 0.5, classifiers)
    cells = np.full((items, 2 * classifiers), ord(","), np.uint8)
    cells[:, ::2] = ord("0") + (rng.logistic(size=(items, classifiers)) < skill + hard)
    cells[:, -1] = ord("\n")
    path.write_bytes(
        ",".join(f"c{i}" for i in range(classifiers)).encode() + b"\n" + cells.tobytes()
    )


def write_pairs(path: Path, teams: int) -> None:
    rng = np.random.default_rng(0)
    skill = rng.beta(60, 12, teams)
    scores = [rng.binomial(n, skill) / n for n in (4_000, 6_000)]
    rows = np.column_stack([np.arange(teams), *scores])
    np.savetxt(path, rows, "%.6g", ",", header="team,public,private", comments="")


Case = tuple[Callable[[Path], None] | None, list[str], bool]
CASES: dict[str, Case] = {
    "players": (lambda p: write_scores(p, 9_999, 4), ["epp"], False),
    "columns": (lambda p: write_scores(p, 50_000, 4), ["epp"], False),
    "classifiers": (lambda p: write_answers(p, 100, 5_000), ["sota"], False),
    "board": (lambda p: write_answers(p, 500, 2_000), ["board"], True),
    "items": (lambda p: write_answers(p, 100_000, 300), ["claim", "responses"], True),
    "rounds": (lambda p: write_scores(p, 20, 50_000), ["epp", "--matches", "all-rounds"], True),
    "teams": (
        lambda p: write_pairs(p, 20_000),
        ["paired", "--n-test-public", "4000", "--n-test-private", "6000"],
        True,
    ),
    "field": (
        None,
        ["sota", "--maximum", "0.9", "--n-test", "1000", "--classifiers", "2:1000000000"],
        True,
    ),
    "auc": (
        None,
        ["maximum", "--metric", "auc", "--n-test", "1000000", "--n-positive", "300000",
         "--classifiers", "1000", "--theta", "0.9", "--correlation", "0.6"],
        True,
    ),
}  # fmt: skip


def run_measured(arguments: list[str]) -> tuple[int, str, float, int]:
    """Exit code, standard error, processor seconds and peak bytes of a command."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        told = process.stderr.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, told, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_large_inputs_are_answered_or_refused(name: str, tmp_path: Path) -> None:
    write, arguments, answered = CASES[name]
    if write is not None:
        path = tmp_path / "large.csv"
        write(path)
        arguments = [*arguments, str(path)]
    code, told, seconds, size = run_measured([*arguments, "--json"])
    print(f"{name}: exit {code}, {seconds:.1f} s, {size / 2**20:,.0f} MiB")
    assert code in ((0, 1) if answered else (2,)), told
    if not answered:
        assert told.startswith("error: ")
        assert told.count("\n") == 1
    assert seconds < SECONDS
    assert size < BYTES
