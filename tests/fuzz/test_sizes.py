"""Large inputs take at most 150 s of processor time and 2 GiB, or are refused in one line.

Seconds of processor time and peak memory of the whole command, reading included, before and after
the limits and the routes for large inputs, on two processors with nothing else to do:

========================================  ================  ================
input                                     before            after
========================================  ================  ================
epp, 9,999 players                        > 56 s, 5.7 GB    refused, 2.4 s
epp, 50,000 columns                       memory error      refused, 0.4 s
sota, 5,001 classifiers x 100 answers     memory error      refused, 5 s
board, 2,000 classifiers x 500 answers    23 s, 6.5 GB      10 s, 0.8 GB
epp, all rounds, 20 x 50,000              > 400 s           23 s, 0.6 GB
best AUC, a million items                 377 s, 9 GB       2 s, 0.1 GB
claim responses, 100,000 x 300            42 s, 2.6 GB      refused, 2 s
paired, 20,000 teams                      61 s              29 s, 0.3 GB
sota, 2 to 10^9 classifiers               11.6 GB           14 s, 0.4 GB
========================================  ================  ================

The tests have 5,000 teams, with a quarter of the time and memory; 20,000 rounds and 10,000 items,
with half of both; and 20,000 players.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fuzz.running import BYTES, SECONDS, problems, run_alone


def write_scores(path, players, rounds):
    rng = np.random.default_rng(0)
    scores = rng.normal(0.8, 0.03, players) + rng.normal(0, 0.05, (rounds, players))
    header = ",".join(["round", *(f"p{i}" for i in range(players))])
    rows = np.column_stack([np.arange(rounds), scores])
    np.savetxt(path, rows, "%.6g", ",", header=header, comments="")


def write_answers(path, items, classifiers):
    rng = np.random.default_rng(0)
    hard = rng.normal(0, 1.5, (items, 1))
    skill = rng.normal(1.8, 0.5, classifiers)
    cells = np.full((items, 2 * classifiers), ord(","), np.uint8)
    cells[:, ::2] = ord("0") + (rng.logistic(size=(items, classifiers)) < skill + hard)
    cells[:, -1] = ord("\n")
    path.write_bytes(
        ",".join(f"c{i}" for i in range(classifiers)).encode() + b"\n" + cells.tobytes()
    )


def write_pairs(path, teams):
    rng = np.random.default_rng(0)
    skill = rng.beta(60, 12, teams)
    scores = [rng.binomial(n, skill) / n for n in (4_000, 6_000)]
    rows = np.column_stack([np.arange(teams), *scores])
    np.savetxt(path, rows, "%.6g", ",", header="team,public,private", comments="")


Write = Callable[[Path], None]
ANSWERED: dict[str, tuple[str, Write | None]] = {
    "board": ("board", lambda p: write_answers(p, 500, 2_000)),
    "items": ("claim responses", lambda p: write_answers(p, 10_000, 300)),
    "rounds": ("epp --matches all-rounds", lambda p: write_scores(p, 20, 20_000)),
    "teams": ("paired --n-test-public 4000 --n-test-private 6000",
              lambda p: write_pairs(p, 5_000)),
    "field": ("sota --maximum 0.9 --n-test 1000 --classifiers 2:1000000000", None),
    "auc": ("maximum --metric auc --n-test 1000000 --n-positive 300000 --classifiers 1000 "
            "--theta 0.9 --correlation 0.6", None),
}  # fmt: skip
REFUSED: dict[str, tuple[str, Write | None]] = {
    "players": ("epp", lambda p: write_scores(p, 20_000, 4)),
    "cells": ("claim responses", lambda p: write_answers(p, 100_000, 300)),
    "classifiers": ("sota", lambda p: write_answers(p, 100, 5_001)),
}
PARTS = {"teams": 4, "rounds": 2, "items": 2}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ANSWERED, *REFUSED])
def test_large_inputs_are_answered_or_refused(name, tmp_path):
    command, write = (ANSWERED | REFUSED)[name]
    if write is not None:
        write(tmp_path / "large.csv")
    files = ["large.csv"] if write is not None else []
    answer = run_alone([*command.split(), *files, "--json"], tmp_path)
    print(f"{name}: exit {answer.code}, {answer.seconds:.1f} s, {answer.peak / 2**20:,.0f} MiB")
    assert answer.code in ((0, 1) if name in ANSWERED else (2,)), answer.err
    assert answer.seconds < SECONDS / PARTS.get(name, 1)
    assert answer.peak < BYTES / PARTS.get(name, 1)
    assert list(problems(answer)) == []
