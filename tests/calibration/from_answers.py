"""Scores against answers on small sets: ``python tests/calibration/from_answers.py [FILE ...]``.

6 to 22 random classifiers and 100, 200 or 300 random items of each response matrix; the truth is
the accuracy over all items. Both routes see the same boards. The last column is the error of
somebody who knows everything but the shift that the five truly best share: their mean error, times
the share of its standard deviation that is common; like the others relative to the raw maximum's.
"""

import argparse

import numpy as np
import pandas as pd
from calibration.judged_boards import judge_board, summarize_judgements

from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.answers import read_outcomes
from bayes_sota.data.examples import load_responses_example
from bayes_sota.data.outcomes import Outcomes

SIZES, FIELDS, SHARING = (100, 200, 300), ("all", "strong", "weak"), 5


def draw_board(matrix: Outcomes, index: int) -> tuple[Outcomes, np.ndarray, np.ndarray]:
    """Answers, their columns in the matrix, and a seed for the posterior."""
    rng = np.random.default_rng([20261124, *matrix.name.encode(), index])
    order = np.argsort(-matrix.scores, kind="stable")
    total = order.size
    pools = {"all": order, "strong": order[: max(6, total // 2)], "weak": order[total // 3 :]}
    pool = pools[FIELDS[index // len(SIZES) % len(FIELDS)]]
    chosen = rng.choice(pool, int(rng.integers(6, min(22, pool.size) + 1)), replace=False)
    items = rng.integers(0, matrix.n_items, SIZES[index % len(SIZES)])
    return Outcomes(matrix.correct[np.ix_(items, chosen)]), chosen, rng.integers(2**31, size=2)


def shift_only_error(matrix: Outcomes, drawn: Outcomes, chosen: np.ndarray) -> float:
    """Error of the truly best five that they share."""
    best = np.argsort(-matrix.scores[chosen], kind="stable")[:SHARING]
    covariance = np.cov(matrix.correct[:, chosen[best]].T)
    off = ~np.eye(SHARING, dtype=bool)
    error = float(np.mean(drawn.scores[best] - matrix.scores[chosen[best]]))
    return error * float(np.sqrt(max(covariance[off].mean(), 0.0) / covariance.mean()))


def judge(matrix: Outcomes, index: int, draws: int = 1000) -> list[dict]:
    """What both routes say of one board, and its truth."""
    drawn, chosen, seeds = draw_board(matrix, index)
    shared = shift_only_error(matrix, drawn, chosen)
    facts = {"matrix": matrix.name, "n_test": drawn.n_items, "shift": shared**2}
    rows = []
    for route, data, seed in zip(
        ("answers", "scores"), (drawn, drawn.leaderboard()), seeds, strict=True
    ):
        rng = np.random.default_rng(int(seed))
        found = judge_board(data, matrix.scores[chosen], BoardPriors(), draws, rng)
        rows += [row | facts | {"route": route} for row in found]
    return rows


def table(rows: list[dict], by: list[str]) -> pd.DataFrame:
    """Coverage and error of each cell, with the shift-only error."""
    frame = summarize_judgements(rows, (*by, "route"))
    squares = pd.DataFrame(rows).assign(raw_square=lambda r: (r["raw"] - r["truth"]) ** 2)
    means = squares.groupby([*by, "route", "estimand"])[["shift", "raw_square"]].mean()
    return frame.assign(shift_only=np.sqrt(means["shift"] / means["raw_square"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="response matrices; digits is always one")
    parser.add_argument("--boards", type=int, default=120)
    parser.add_argument("--save", help="CSV file of all judgements")
    asked = parser.parse_args()
    matrices = [read_outcomes(path) for path in asked.files]
    matrices.append(load_responses_example("digits").held_out)
    found = [row for m in matrices for i in range(asked.boards) for row in judge(m, i)]
    if asked.save:
        pd.DataFrame(found).to_csv(asked.save, index=False)
    for cells in (["matrix"], ["matrix", "n_test"]):
        print(table(found, cells).round(4).to_string())
