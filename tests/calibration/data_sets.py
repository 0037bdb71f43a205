"""Tables of data sets of which new ones are what matters: do intervals hold the mean over all?

``BAYES_SOTA_DATA=... python tests/calibration/data_sets.py [BOARDS]`` draws methods and data sets,
these with replacement, so that they are exchangeable: 16 representations on 19 tasks (VTAB), 8
networks on the time series of UCR, and 128 embeddings on 16 subsets of MTEB. The truth is the mean
over all data sets of the table. Boards (the data sets as the sample, and averages over them,
``board --task-columns --new tasks``) give skills, pairs, the best and the winner, comparisons
(``claim responses``) give pairs. Errors of the best are over those of the raw maximum.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from bayes_sota.data.boards import average_tasks
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.comparison import compare_methods
from bayes_sota.leaderboard.posterior import board_posterior

SMALLEST, LARGEST = 5, 24
SEEN = (4, 8, 20)


def tables() -> dict[str, np.ndarray]:
    """Accuracies, (methods, data sets)."""
    folder = Path(os.environ["BAYES_SOTA_DATA"])
    vtab = pd.read_csv(folder / "vtab" / "vtab_scores_16x19.csv", index_col=0) / 100
    runs = pd.read_csv(folder / "ucr" / "results-ucr-128.csv")
    ucr = runs.pivot_table(index="classifier_name", columns="dataset_name", values="accuracy")
    rows = pd.read_csv(folder / "mteb_splits" / "validation_and_test.csv.gz")
    mteb = rows.pivot_table(index="model", columns=["task", "subset"], values="test").dropna()
    return {
        "VTAB": vtab.to_numpy(),
        "UCR": ucr.dropna(axis=1).to_numpy(),
        "MTEB": mteb.to_numpy(),
    }


def _sample_of(scores: np.ndarray) -> Outcomes:
    """The tasks as the sample: a row for each, a column for each entry."""
    return Outcomes(scores.T, metric="mean", new="tasks", unit="data set")


def judged(table: np.ndarray, seen: int, number: int) -> dict[str, dict[str, float]]:
    """Share of intervals that hold the truth, and squares of errors, by what was asked."""
    rng = np.random.default_rng([number, seen])
    most = min(len(table), LARGEST)
    methods = rng.choice(len(table), int(rng.integers(SMALLEST, most + 1)), replace=False)
    scores = table[np.ix_(methods, rng.choice(table.shape[1], seen))]
    averages = average_tasks(scores, metric="score", new="tasks")
    truth, sample = table[methods].mean(axis=1), _sample_of(scores)
    raw, chosen = sample.scores.max(), truth[np.argmax(sample.scores)]
    settings = {"draws": 2000, "random_seed": number}
    compared = compare_methods(sample, **settings)
    found = {"compared": {"pairs": held(compared.draws, truth)[1], "P(false)": compared.p_false}}
    found["compared"]["runner-up not worse"] = float(truth[compared.runner_up] >= chosen)
    for name, data in (("sample", sample), ("averages", averages)):
        posterior = board_posterior(data, **settings)
        row = dict(zip(("skills", "pairs"), held(posterior.entries.skill, truth), strict=True))
        for best, true in (("theta_sota", truth.max()), ("winner_skill", chosen)):
            draws = posterior.draws[best]
            low, high = np.quantile(draws, [0.025, 0.975])
            row[best] = float(low <= true <= high)
            row[f"square {best}"] = float((draws.mean() - true) ** 2)
            row[f"raw square {best}"] = float((raw - true) ** 2)
        row["1 - P(best)"] = float(1 - posterior.entries.p_best[compared.winner])
        row["not the best"] = float(chosen < truth.max())
        found[name] = row
    return found


def held(skill: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Share of skills, and of differences of pairs, that 95 % intervals hold."""
    first, second = np.triu_indices(truth.size, 1)
    pairs, differences = skill[:, first] - skill[:, second], truth[first] - truth[second]
    ends = (np.quantile(draws, [0.025, 0.975], axis=0) for draws in (skill, pairs))
    shares = [
        float(np.mean((low <= true) & (true <= high)))
        for (low, high), true in zip(ends, (truth, differences), strict=True)
    ]
    return shares[0], shares[1]


def main() -> None:
    """Print the table, a line at a time."""
    boards = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for name, table in tables().items():
        for seen in SEEN:
            boards_of = [judged(table, seen, i) for i in range(boards)]
            for way in boards_of[0]:
                mean = pd.DataFrame([rows[way] for rows in boards_of]).mean()
                shown = {column: mean[column] for column in mean.index if "square" not in column}
                for best in ("theta_sota", "winner_skill"):
                    if best in shown:
                        ratio = mean[f"square {best}"] / mean[f"raw square {best}"]
                        shown[f"error of {best}"] = np.sqrt(ratio)
                cells = " | ".join(f"{name} {value:.3f}" for name, value in shown.items())
                print(f"{name}, {seen} of {table.shape[1]}, {way} | {cells}", flush=True)


if __name__ == "__main__":
    main()
