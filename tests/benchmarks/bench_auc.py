"""AUC of the best of 1,000 classifiers, shrinking, posteriors: seconds, ratios to simulation.

Run with ``BAYES_SOTA_DATA=... uv run python tests/benchmarks/bench_auc.py``. The alternative for
the AUC is what the paper does in Sec. 5.2.2: 10,000 repetitions of 1,000 classifiers on 51 + 2,949
simulated scores; a few repetitions are timed and extrapolated. The alternative for shrinking is one
expected maximum by 1,000 simulated boards at each of ten weights; a few are timed.
"""

import os
from pathlib import Path

import numpy as np
from scipy.special import ndtri
from timing import fastest, report

from bayes_sota.auc.laws import auc_maximum_law
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.read_boards import read_leaderboard
from bayes_sota.leaderboard.from_items import items_posterior
from bayes_sota.leaderboard.posterior import leaderboard_posterior
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.shrinkage import shrink_aucs, shrink_scores

FEW = 5


def simulated_auc_maximum(rng: np.random.Generator) -> float:
    """Best AUC of 1,000 classifiers on one simulated test set."""
    mu = ndtri(0.9) * np.sqrt(2)
    positive = mu + rng.standard_normal((1000, 51))
    negative = np.sort(rng.standard_normal((1000, 2949)), axis=1)
    return max(np.searchsorted(n, p).sum() for n, p in zip(negative, positive, strict=True)) / (
        51 * 2949
    )


def simulated_maximum(rng: np.random.Generator, skills: np.ndarray, n: int) -> float:
    """Best accuracy of one simulated board."""
    a, b = conditional_probabilities(skills, 0.6, float(skills.max()))
    right = rng.binomial(n, skills.max())
    return float((rng.binomial(right, a) + rng.binomial(n - right, b)).max() / n)


def posterior_seconds(aucs: np.ndarray) -> dict[str, float]:
    """Posteriors from the maximum, 3,000 AUCs, and the scores of 3,000 items by 60 classifiers."""
    best = Leaderboard.from_maximum(
        "0.9490", n_test=7687, n_positive=131, n_classifiers=3300, metric="auc"
    )
    board = Leaderboard(aucs.round(5), n_test=7687, n_positive=131, metric="auc")
    rng, labels = np.random.default_rng(1), np.arange(3000) < 51
    values = 1.8 * labels[:, None] + rng.standard_normal((3000, 1)) * 0.8
    values = values + 0.6 * rng.standard_normal((3000, 60))
    return {
        "auc_posterior_of_maximum_seconds": fastest(lambda: sota_posterior(best, random_seed=0)),
        "auc_posterior_of_board_seconds": fastest(
            lambda: leaderboard_posterior(board, random_seed=0)
        ),
        "auc_posterior_of_items_seconds": fastest(
            lambda: items_posterior(ItemScores(values, labels=labels), random_seed=0)
        ),
        "delong_seconds": fastest(lambda: ItemScores(values, labels=labels).covariance),
    }


def main() -> None:
    """Print the figures as JSON."""
    rng, figures = np.random.default_rng(0), {}
    sizes = {"n_positive": 51, "n_negative": 2949, "n_classifiers": 1000}
    figures["auc_seconds"] = fastest(lambda: auc_maximum_law(0.9, **sizes))
    figures["auc_expected"] = auc_maximum_law(0.9, **sizes).mean()
    once = fastest(lambda: simulated_auc_maximum(rng), FEW)
    figures["auc_simulation_seconds"] = 10_000 * once
    figures["auc_ratio"] = 10_000 * once / figures["auc_seconds"]
    figures["auc_correlated_seconds"] = fastest(
        lambda: auc_maximum_law(0.9, correlation=0.6, **sizes), 1
    )
    aucs = 0.6 + 0.349 * rng.beta(6, 2, 3000)
    figures["auc_shrinking_seconds"] = fastest(
        lambda: shrink_aucs(aucs, n_positive=131, n_negative=7556), 1
    )
    figures["auc_shrinking_correlated_seconds"] = fastest(
        lambda: shrink_aucs(aucs, n_positive=131, n_negative=7556, correlation=0.6), 1
    )
    some = np.sort(aucs)[-40:]
    given = {"n_positive": 131, "n_negative": 7556, "correlation": 0.6}
    for rough in (True, False):
        name = f"auc_40_different_{'rough' if rough else 'tilted'}_seconds"
        figures[name] = fastest(lambda r=rough: auc_maximum_law(some, rough=r, **given), 1)
    figures |= posterior_seconds(aucs)
    directory = os.environ.get("BAYES_SOTA_DATA")
    if directory:
        file = Path(directory) / "kaggle" / "playground-series-s4e2__private.csv"
        scores = read_leaderboard(file, metric="score", standard_error=1.0).scores
        for criterion in ("expected", "upper"):
            figures[f"shrinking_{criterion}_seconds"] = fastest(
                lambda c=criterion: shrink_scores(scores, n_test=13_840, chance=1 / 7, criterion=c)
            )
        once = fastest(lambda: simulated_maximum(rng, scores[scores > 0.8], 13_840), FEW)
        figures["shrinking_simulation_seconds"] = 10 * 1000 * once
    report(figures)


if __name__ == "__main__":
    main()
