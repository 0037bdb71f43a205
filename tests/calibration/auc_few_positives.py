"""Boards of AUCs with few positive items: ``python tests/calibration/auc_few_positives.py``.

30 classifiers with binormal scores that correlate by .8 with a reference score, on 800 items of
which 10 to 160 are positive. Skills are normal or left-skewed on the probit scale, drawn anew for
every board. Judged are theta_sota and winner_skill from all AUCs with default priors. Four minutes
give 12 boards per cell.
"""

import sys

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

import bayes_sota as bs

N_TEST, N_CLASSIFIERS, RHO = 800, 30, 0.8
POSITIVES = (10, 20, 40, 80, 160)


def probits(shape: str, rng: np.random.Generator) -> np.ndarray:
    """Distance of the means of both classes, per classifier."""
    if shape == "normal":
        return ndtri(0.9) * np.sqrt(2) + 0.15 * rng.standard_normal(N_CLASSIFIERS)
    return ndtri(0.92) * np.sqrt(2) - 0.25 * rng.exponential(size=N_CLASSIFIERS)


def estimates(distance: np.ndarray, n_positive: int, rng: np.random.Generator) -> np.ndarray:
    """AUC of each classifier on one test set."""
    own = rng.standard_normal((N_CLASSIFIERS, N_TEST))
    scores = RHO * rng.standard_normal(N_TEST) + np.sqrt(1 - RHO**2) * own
    scores[:, :n_positive] += distance[:, None]
    places = rankdata(scores, axis=1)[:, :n_positive].sum(axis=1)
    return (places - n_positive * (n_positive + 1) / 2) / (n_positive * (N_TEST - n_positive))


def judged(shape: str, n_positive: int, rng: np.random.Generator) -> dict[str, float]:
    """Truth, raw maximum and posterior of one board."""
    distance = probits(shape, rng)
    auc, shown = ndtr(distance / np.sqrt(2)), estimates(distance, n_positive, rng)
    board = bs.Leaderboard(shown, n_test=N_TEST, n_positive=n_positive, metric="auc")
    tree = bs.estimate_sota(
        board, draws=500, chains=2, random_seed=rng.integers(2**31), groups="estimands"
    )
    found: dict[str, float] = {"positives": n_positive}
    for name, truth in (("theta_sota", auc.max()), ("winner_skill", auc[shown.argmax()])):
        draws = tree["posterior"][name].to_numpy()
        low, high = np.quantile(draws, [0.025, 0.975])
        found[f"{name} covered"] = low <= truth <= high
        found[f"{name} error"] = draws.mean() - truth
        found[f"{name} raw error"] = shown.max() - truth
    return found


def study(boards: int) -> pd.DataFrame:
    """Coverage, root mean squared error relative to raw, and bias, per number of positives."""
    rng = np.random.default_rng(20261123)
    cells = [(shape, p) for shape in ("normal", "left") for p in POSITIVES]
    rows = pd.DataFrame([judged(*cell, rng) for _ in range(boards) for cell in cells])
    groups = rows.astype(float).groupby("positives")
    found = {}
    for name in ("theta_sota", "winner_skill"):
        squares = groups[[f"{name} error", f"{name} raw error"]].agg(lambda x: np.mean(x**2))
        ratio = np.sqrt(squares.iloc[:, 0] / squares.iloc[:, 1])
        found |= {f"{name} covered": groups[f"{name} covered"].mean(), f"{name} error": ratio}
        found |= {f"{name} bias": groups[f"{name} error"].mean()}
        found |= {f"{name} raw bias": groups[f"{name} raw error"].mean()}
    return pd.DataFrame(found)


if __name__ == "__main__":
    print(study(int(sys.argv[1]) if len(sys.argv) > 1 else 12).round(4).to_string())
