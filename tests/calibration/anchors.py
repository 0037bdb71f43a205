"""Boards with entries whose skill is known: ``python tests/calibration/anchors.py --boards 60``.

Needs ``BAYES_SOTA_DATA``. Five matrices of answers: networks on CIFAR-10, language models on
ChemBench and on two tasks of LiveCodeBench (the majority of ten runs is the answer), and the
package's classifiers of digits. Random classifiers and random items, with replacement, are a board;
the accuracy over all items is the skill. Anchors are drawn from the classifiers that are not on the
board, among the 30 % that are nearest to its best by log odds. ``--off`` moves the known skill of
one anchor by so many standard errors of a score on the board; ``--any`` draws anchors of any
strength.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from calibration.judged_boards import judge_board, summarize_judgements
from joblib import Parallel, delayed

from bayes_sota.core.priors import board_priors
from bayes_sota.core.skills import logit
from bayes_sota.data.answers import read_outcomes
from bayes_sota.data.examples import load_responses_example
from bayes_sota.data.known import with_known
from bayes_sota.data.outcomes import Outcomes

SIZES, NEAREST, NUMBERS = (150, 300, 600), 0.3, (0, 1, 3)
LEAST, MOST, LEFT = 6, 22, 6


def matrices() -> Iterator[Outcomes]:
    """The five of them."""
    data = Path(os.environ["BAYES_SOTA_DATA"])
    for path in ("cifar10/correct_cifar10_test.csv", "chembench/correct_chembench.csv"):
        yield read_outcomes(data / path)
    yield load_responses_example("digits").held_out
    for path in ("execution_runs.csv.gz", "repair_runs.csv.gz"):
        runs = pd.read_csv(data / "livecodebench" / path)
        right = runs.pivot_table(index="item", columns="model", values="right").dropna(axis=1)
        yield Outcomes(right.to_numpy() >= 5, names=list(right.columns), name=path.split("_")[0])


def judge(matrix: Outcomes, index: int, asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Scores and answers of one board with no anchors and with some, and its truth."""
    rng = np.random.default_rng([20261129, *matrix.name.encode(), index])
    total = matrix.n_classifiers
    m = int(rng.integers(LEAST, min(MOST, total - LEFT) + 1))
    order, items = rng.permutation(total), rng.integers(0, matrix.n_items, SIZES[index % 3])
    chosen, others = order[:m], order[m:]
    skills = np.clip(matrix.scores, 1e-3, 1 - 1e-3)
    far = np.abs(logit(skills[others]) - logit(skills[chosen].max()))
    most = others.size if asked.any else max(max(NUMBERS), round(NEAREST * others.size))
    near = others[np.argsort(far, kind="stable")[:most]]
    rows = []
    for count in NUMBERS:
        anchors = rng.choice(near, count, replace=False)
        every = [*chosen, *anchors]
        drawn = Outcomes(
            matrix.correct[np.ix_(items, every)], names=[matrix.names[j] for j in every]
        )
        error = np.sqrt(skills[anchors] * (1 - skills[anchors]) / items.size)
        moved = matrix.scores[anchors] + asked.off * error * (np.arange(count) == 0)
        known = dict(zip(drawn.names[m:], np.clip(moved, 0, 1).tolist(), strict=True))
        facts = {"matrix": matrix.name, "n_test": items.size, "anchors": count}
        for route, data in (("answers", drawn), ("scores", drawn.leaderboard())):
            board = with_known(data, known, only=list(known))
            found = judge_board(board, matrix.scores[chosen], board_priors(None), 1000, rng)
            rows += [row | facts | {"route": route} for row in found]
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=60, help="of each matrix")
    parser.add_argument("--off", type=float, default=0.0)
    parser.add_argument("--any", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    work = [(matrix, i) for matrix in matrices() for i in range(asked.boards)]
    found = Parallel(asked.jobs)(delayed(judge)(matrix, i, asked) for matrix, i in work)
    rows = [row for board in found for row in board]
    for cells in (["route", "anchors"], ["route", "matrix", "anchors"]):
        print(summarize_judgements(rows, cells).round(3).to_string())
