"""Tables of data sets of which new ones are what matters: do intervals hold the mean over all?

``BAYES_SOTA_DATA=... python tests/calibration/data_sets.py [BOARDS]`` draws methods and data sets,
these with replacement, so that they are exchangeable: 16 representations on 19 tasks (VTAB), and 8
networks on the time series of UCR. The truth is the mean over all data sets of the table. Boards
(``board --new tasks``) give skills, pairs, the best and the winner, comparisons
(``claim responses``) give pairs. Errors of the best are over those of the raw maximum.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from bayes_sota.data.task_scores import TaskScores
from bayes_sota.items.comparison import compare_methods
from bayes_sota.leaderboard.from_items import items_posterior

SMALLEST = 5
SEEN = (4, 8, 20)


def tables() -> dict[str, np.ndarray]:
    """Accuracies, (methods, data sets)."""
    folder = Path(os.environ["BAYES_SOTA_DATA"])
    vtab = pd.read_csv(folder / "vtab" / "vtab_scores_16x19.csv", index_col=0) / 100
    runs = pd.read_csv(folder / "ucr" / "results-ucr-128.csv")
    ucr = runs.pivot_table(index="classifier_name", columns="dataset_name", values="accuracy")
    return {"VTAB": vtab.to_numpy(), "UCR": ucr.dropna(axis=1).to_numpy()}


def judged(table: np.ndarray, seen: int, number: int) -> dict[str, float]:
    """Share of intervals that hold the truth."""
    rng = np.random.default_rng([number, seen])
    methods = rng.choice(len(table), int(rng.integers(SMALLEST, len(table) + 1)), replace=False)
    drawn = table[np.ix_(methods, rng.choice(table.shape[1], seen))]
    truth, data = table[methods].mean(axis=1), TaskScores(drawn).new_tasks()
    board = items_posterior(data, draws=2000, random_seed=number)
    compared = compare_methods(data, draws=2000, random_seed=number).draws
    first, second = np.triu_indices(len(methods), 1)
    found = {}
    for name, draws, true in (
        ("skills", board.skill, truth),
        ("pairs", board.skill[:, first] - board.skill[:, second], truth[first] - truth[second]),
        ("theta_sota", board.draws["theta_sota"], truth.max()),
        ("winner_skill", board.draws["winner_skill"], truth[np.argmax(data.scores)]),
        ("compared pairs", compared[:, first] - compared[:, second], truth[first] - truth[second]),
    ):
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        found[name] = float(np.mean((low <= true) & (true <= high)))
        if name in board.draws:
            found[f"square {name}"] = float((draws.mean() - true) ** 2)
            found[f"raw square {name}"] = float((data.scores.max() - true) ** 2)
    return found


def main() -> None:
    """Print the table, a line at a time."""
    boards = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for name, table in tables().items():
        for seen in SEEN:
            rows = pd.DataFrame([judged(table, seen, i) for i in range(boards)])
            mean = rows.mean()
            shown = {column: mean[column] for column in rows if "square" not in column}
            for best in ("theta_sota", "winner_skill"):
                shown[f"error of {best}"] = np.sqrt(
                    mean[f"square {best}"] / mean[f"raw square {best}"]
                )
            cells = " | ".join(f"{name} {value:.3f}" for name, value in shown.items())
            print(f"{name}, {seen} of {table.shape[1]} | {cells}", flush=True)


if __name__ == "__main__":
    main()
