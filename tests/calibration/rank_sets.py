"""Sets of ranks on boards of real classifiers whose true ranks are known.

``BAYES_SOTA_DATA=... PYTHONPATH=tests python tests/calibration/rank_sets.py`` prints, for scores
and for answers, how often all ranks lay in their sets at once, how often each did, and how large
the sets were; and how often the entry with the best score was the best, beside P(best). A board has
random classifiers of CIFAR-10, ChemBench or LiveCodeBench (one run of ten, in clusters), and 200 to
5,000 items drawn with replacement; the truth is the order by the mean over all items.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from boards import draw_entries
from tasks_and_clusters import clustered

import bayes_sota as bs
from bayes_sota.core.parallel import run_each
from bayes_sota.leaderboard.posterior import board_posterior, rank_sets
from bayes_sota.leaderboard.specification import chosen_model

SIZES = (200, 500, 1000, 2000, 5000)
DOMAINS = {"cifar10": "image-classifiers", "chembench": "language-models"}
WAYS = ("each", "joint", "confidence")


def board_of(kind: str, rng: np.random.Generator, size: int) -> tuple[bs.Outcomes, np.ndarray]:
    """Answers of random classifiers, and their true skills."""
    if kind == "livecodebench":
        return clustered(rng, rng.uniform(0.25, 1))
    folder = Path(os.environ["BAYES_SOTA_DATA"])
    file = {"cifar10": "correct_cifar10_test.csv", "chembench": "correct_chembench.csv"}[kind]
    answers = pd.read_csv(folder / kind / file).drop(columns="item").to_numpy()
    m = answers.shape[1]
    chosen = rng.choice(m, int(rng.integers(m // 2, m + 1)), replace=False)
    items = rng.integers(0, len(answers), size)
    return bs.Outcomes(answers[np.ix_(items, chosen)]), answers[:, chosen].mean(axis=0)


def judged(place: tuple[str, int]) -> list[dict]:
    kind, index = place
    rng = np.random.default_rng([("cifar10", "chembench", "livecodebench").index(kind), index])
    answers, truth = board_of(kind, rng, SIZES[index % len(SIZES)])
    order = np.argsort(-answers.scores, kind="stable")
    true = truth[order]
    first = 1 + (true[:, None] < true).sum(axis=1)
    last = true.size - (true[:, None] > true).sum(axis=1)
    found = []
    ways = {"answers": (answers, None)}
    if kind in DOMAINS:  # the scores of clustered items say nothing of the clusters
        board = answers.leaderboard()
        known = chosen_model(None, "leaderboard", domain=DOMAINS[kind]).priors
        ways |= {"scores": (board, None), "scores, prior of the domain": (board, known)}
    for source, (data, priors) in ways.items():
        posterior = board_posterior(data, priors, random_seed=index)
        entries = (
            posterior.entries if data is answers else draw_entries(posterior.skills.fit, 4000, rng)
        )
        for how in WAYS:
            sets = rank_sets(data, entries, posterior.draws["rho"], 0.95, how, rng)[1]
            held = (sets[:, 0] <= last) & (sets[:, 1] >= first)
            found.append(
                {
                    "kind": kind, "from": source, "sets": how, "at once": held.all(),
                    "each": held.mean(), "size": (sets[:, 1] - sets[:, 0] + 1).mean(),
                    "entries": true.size, "said": entries.p_best[order[0]],
                    "seen": true[0] == true.max(),
                }
            )  # fmt: skip
    return found


def main(boards: int) -> None:
    kinds = ("cifar10", "chembench", "livecodebench")
    places = [(kind, index) for kind in kinds for index in range(boards)]
    rows = pd.DataFrame([row for _, part in run_each(judged, places, cores=2) for row in part])
    numbers = ["at once", "each", "size", "entries", "said", "seen"]
    print(rows.groupby(["from", "sets"])[numbers].mean().round(3))
    print(rows.groupby(["kind", "from", "sets"])[numbers].mean().round(3).to_string())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
