"""Reported Monte Carlo errors over what 24 seeds give, on boards of 5 to 3,587 entries.

``BAYES_SOTA_DATA=... python tests/calibration/monte_carlo_errors.py`` prints a table. Four boards
are simulated with normal log odds; two are private boards of Kaggle (1,244 and 3,587 teams).
"""

import os
from pathlib import Path

import numpy as np

import bayes_sota as bs
from bayes_sota.core.summary import summarize

SEEDS = 24
NAMES = ["theta_sota", "winner_skill", "expected_sota"]
KAGGLE = {"tabular-playground-series-apr-2021": 75_226, "playground-series-s4e2": 11_072}


def simulated_board(m: int) -> bs.Leaderboard:
    """Normal log odds; 2,000 items."""
    rng = np.random.default_rng(m)
    skills = 1 / (1 + np.exp(-rng.normal(2.0, 0.35, m)))
    return bs.Leaderboard(rng.binomial(2000, skills) / 2000, n_test=2000, rounding="exact")


def ratios(board: bs.Leaderboard) -> np.ndarray:
    """Mean reported error over the standard deviation, of the estimands and three P(best)."""
    means, errors = [], []
    for seed in range(SEEDS):
        found = summarize(bs.estimate_sota(board, random_seed=seed, groups="estimands"))
        first = bs.board_table(board, random_seed=seed).frame.iloc[:3]
        means.append([*found.loc[NAMES, "mean"], *first["p_best"]])
        errors.append([*found.loc[NAMES, "mcse"], *first["p_best_mcse"]])
    return np.mean(errors, axis=0) / np.std(means, axis=0, ddof=1)


def main() -> None:
    boards = [simulated_board(m) for m in (5, 12, 40, 200)]
    if "BAYES_SOTA_DATA" in os.environ:
        folder = Path(os.environ["BAYES_SOTA_DATA"]) / "kaggle"
        boards += [
            bs.data.read_leaderboard(folder / f"{name}__private.csv", n_test=n)
            for name, n in KAGGLE.items()
        ]
    print("| entries | theta_sota | winner_skill | expected_sota | P(best) of the first three |")
    print("|---|---|---|---|---|")
    for board in boards:
        *estimands, one, two, three = (f"{v:.2f}" for v in ratios(board))
        print(
            f"| {len(board.scores)} | {' | '.join(estimands)} | {one}, {two}, {three} |", flush=True
        )


if __name__ == "__main__":
    main()
