"""Boards of AUCs with few positive items: ``python tests/calibration/auc_few_positives.py``.

30 classifiers with binormal scores that correlate by .8 with a reference score, on 800 items of
which 10 to 160 are positive. Skills are normal or left-skewed on the probit scale, drawn anew for
every board. Judged are theta_sota and winner_skill from all AUCs with default priors. Four minutes
give 12 boards per cell.

``... ratios 40`` has 60 positive items, and scores of positives that are spread more or less than
those of negatives: known to the posterior, or taken for equal.
``... learners`` is which ratios there are: those in the ROC curves of scikit-learn's
classifiers.
"""

import sys

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

import bayes_sota as bs

N_TEST, N_CLASSIFIERS, RHO = 800, 30, 0.8
POSITIVES = (10, 20, 40, 80, 160)
RATIOS = (0.5, 1.0, 2.0)


def probits(shape: str, rng: np.random.Generator) -> np.ndarray:
    """Distance of the means of both classes, per classifier."""
    if shape == "normal":
        return ndtri(0.9) * np.sqrt(2) + 0.15 * rng.standard_normal(N_CLASSIFIERS)
    return ndtri(0.92) * np.sqrt(2) - 0.25 * rng.exponential(size=N_CLASSIFIERS)


def estimates(
    distance: np.ndarray, n_positive: int, rng: np.random.Generator, spread: np.ndarray | float = 1
) -> np.ndarray:
    """AUC of each classifier on one test set."""
    own = rng.standard_normal((N_CLASSIFIERS, N_TEST))
    scores = RHO * rng.standard_normal(N_TEST) + np.sqrt(1 - RHO**2) * own
    scores[:, :n_positive] *= np.reshape(spread, (-1, 1))
    scores[:, :n_positive] += distance[:, None]
    places = rankdata(scores, axis=1)[:, :n_positive].sum(axis=1)
    return (places - n_positive * (n_positive + 1) / 2) / (n_positive * (N_TEST - n_positive))


def judged(shape: str, n_positive: int, rng: np.random.Generator) -> dict[str, float]:
    """Truth, raw maximum and posterior of one board."""
    distance = probits(shape, rng)
    auc, shown = ndtr(distance / np.sqrt(2)), estimates(distance, n_positive, rng)
    board = bs.Leaderboard(shown, n_test=N_TEST, n_positive=n_positive, metric="auc")
    return {"positives": n_positive} | of_posterior(board, auc, int(rng.integers(2**31)))


def of_posterior(board: bs.Leaderboard, auc: np.ndarray, seed: int) -> dict[str, float]:
    """How the posterior and the raw maximum fare, given the truth."""
    shown = board.scores
    tree = bs.estimate_sota(board, draws=500, chains=2, random_seed=seed, groups="estimands")
    found = {}
    for name, truth in (("theta_sota", auc.max()), ("winner_skill", auc[shown.argmax()])):
        draws = tree["posterior"][name].to_numpy()
        low, high = np.quantile(draws, [0.025, 0.975])
        found[f"{name} covered"] = low <= truth <= high
        found[f"{name} error"] = draws.mean() - truth
        found[f"{name} raw error"] = shown.max() - truth
        found[f"{name} width"] = high - low
    return found


def judged_ratios(ratio: float, rng: np.random.Generator) -> list[dict]:
    """One board whose scores have that ratio, as it may be taken."""
    shape = rng.choice(["normal", "left"])
    spread = np.full(N_CLASSIFIERS, ratio)
    distance = probits(shape, rng)
    auc = ndtr(distance / np.sqrt(2))
    shown = estimates(distance / np.sqrt(2) * np.sqrt(1 + spread**2), 60, rng, spread)
    rows, seed = [], int(rng.integers(2**31))
    for name, taken in {"known": ratio, "equal": 1.0}.items():
        board = bs.Leaderboard(
            shown, n_test=N_TEST, n_positive=60, metric="auc", spread_ratio=taken
        )
        rows.append({"truth": str(ratio), "taken": name} | of_posterior(board, auc, seed))
    return rows


def ratios_of_learners() -> pd.DataFrame:
    """Slopes of ROC curves on normal axes, of six classifiers on twelve tasks."""
    from sklearn import datasets, ensemble, linear_model, model_selection, naive_bayes, neighbors
    from sklearn.metrics import roc_auc_score, roc_curve
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    learners = (
        make_pipeline(StandardScaler(), linear_model.LogisticRegression(max_iter=500)),
        naive_bayes.GaussianNB(), neighbors.KNeighborsClassifier(25),
        ensemble.RandomForestClassifier(random_state=0),
        ensemble.HistGradientBoostingClassifier(random_state=0),
        ensemble.AdaBoostClassifier(random_state=0),
    )  # fmt: skip
    digits, cancer = datasets.load_digits(), datasets.load_breast_cancer()
    tasks = [(digits.data[:, 20:30], digits.target == k) for k in range(10)]
    tasks += [(cancer.data[:, :3], cancer.target == k) for k in (0, 1)]
    rows = []
    for x, y in tasks:
        for learner in learners:
            score = model_selection.cross_val_predict(learner, x, y, method="predict_proba")[:, 1]
            false, true, _ = roc_curve(y, score)
            inside = (false > 0.02) & (false < 0.98) & (true > 0.02) & (true < 0.98)
            if np.sum(inside) >= 10:  # else nearly all are right, and no slope is seen
                slope = np.polyfit(ndtri(false[inside]), ndtri(true[inside]), 1)[0]
                rows.append({"auc": roc_auc_score(y, score), "ratio": 1 / slope})
    return pd.DataFrame(rows)


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


def study_of_ratios(boards: int) -> pd.DataFrame:
    """Coverage, error, bias and width for each ratio and what it is taken for."""
    rng = np.random.default_rng(20261126)
    rows = [row for _ in range(boards) for ratio in RATIOS for row in judged_ratios(ratio, rng)]
    groups = pd.DataFrame(rows).groupby(["truth", "taken"], sort=False)
    found = {}
    for name in ("theta_sota", "winner_skill"):
        found[f"{name} covered"] = groups[f"{name} covered"].mean()
        found[f"{name} width"] = groups[f"{name} width"].mean()
        found[f"{name} bias"] = groups[f"{name} error"].mean()
        for kind in ("", " raw"):
            errors = groups[f"{name}{kind} error"]
            found[f"{name}{kind} rmse"] = errors.agg(lambda x: np.sqrt(np.mean(x**2)))
    return pd.DataFrame(found)


if __name__ == "__main__":
    if "learners" in sys.argv:
        ratios = ratios_of_learners()
        print(ratios.describe(percentiles=[0.025, 0.1, 0.5, 0.9, 0.975]).round(3).to_string())
    elif "ratios" in sys.argv:
        print(study_of_ratios(int(sys.argv[2])).round(4).to_string())
    else:
        print(study(int(sys.argv[1]) if len(sys.argv) > 1 else 12).round(4).to_string())
