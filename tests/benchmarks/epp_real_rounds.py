r"""EPP on real answers: do intervals cover the skills that many more rounds would give?

``BAYES_SOTA_DATA=... uv run python tests/benchmarks/epp_real_rounds.py`` (two minutes). Thirty
published classifiers answered the 10,000 items of CIFAR-10's test set. A round is the accuracy on
so many items; a tournament has twenty rounds of different items. The truth is the estimate from
20,000 rounds drawn from all items: scores are real, ties are many, and no model is right.
``--bayes N`` samples N tournaments of each kind with the Bayesian model, too.
"""

import argparse
import os
from pathlib import Path

import numpy as np

from bayes_sota.data.read_outcomes import read_responses
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp
from bayes_sota.epp.simulate import leaderboard_quality

ROUNDS, MANY, SEED = 20, 20_000, 20_261_121


def rounds_of(correct: np.ndarray, items: int, count: int, rng: np.random.Generator) -> ScoreTable:
    """Accuracies of rounds; one tournament's rounds have different items."""
    if count * items <= len(correct):
        drawn = rng.permutation(len(correct))[: count * items].reshape(count, items)
    else:
        drawn = np.stack([rng.choice(len(correct), items, replace=False) for _ in range(count)])
    return ScoreTable(np.stack([correct[rows].mean(axis=0) for rows in drawn]))


def covered(fit: BradleyTerryFit, truth: np.ndarray) -> dict[str, float]:
    """Shares of true statements of one fit."""
    gaps, true_gaps = fit.epp[:, None] - fit.epp, truth[:, None] - truth
    pairs = np.triu_indices(len(truth), 1)
    half = 2.0930 * fit.standard_errors_of_pairs()[pairs]  # t of 19 degrees of freedom
    found = {"difference": float(np.mean(np.abs(gaps - true_gaps)[pairs] <= half))}
    for kind in ("robust", "model", "simultaneous"):
        low, high = fit.interval(kind=kind).T
        inside = (low <= truth) & (truth <= high)
        found[kind] = float(inside.all() if kind == "simultaneous" else inside.mean())
    found["connected"] = float(fit.connected)
    rank = 1 + np.sum(truth[:, None] < truth, axis=1)
    ends = fit.rank_interval()
    found["ranks"] = float(np.all((ends[:, 0] <= rank) & (rank <= ends[:, 1])))
    found["p < .05 of the deviance"] = float(
        leaderboard_quality(fit, repetitions=39, random_seed=0).p_value < 0.05
    )
    return found


def sampled(table: ScoreTable, truth: np.ndarray, seed: int) -> dict[str, float]:
    """The same of the posterior."""
    from bayes_sota.epp.models import build_epp
    from bayes_sota.epp.sample import sample_epp

    tree = sample_epp(
        build_epp(table), draws=500, tune=500, chains=2, random_seed=seed, log_likelihood=False
    )
    draws = tree["posterior"]["epp"].values.reshape(-1, truth.size)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    pairs = np.triu_indices(truth.size, 1)
    gaps = draws[:, pairs[0]] - draws[:, pairs[1]]
    ends = np.quantile(gaps, [0.025, 0.975], axis=0)
    true_gaps = truth[pairs[0]] - truth[pairs[1]]
    return {
        "bayes": float(np.mean((low <= truth) & (truth <= high))),
        "bayes difference": float(np.mean((ends[0] <= true_gaps) & (true_gaps <= ends[1]))),
    }


def main() -> None:
    """Print one row per field and size of a round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tournaments", type=int, default=200)
    parser.add_argument("--bayes", type=int, default=0)
    options = parser.parse_args()
    path = Path(os.environ["BAYES_SOTA_DATA"]) / "cifar10" / "correct_cifar10_test.csv"
    correct = read_responses(path).correct.astype(float)
    order = np.argsort(-correct.mean(axis=0))
    rng = np.random.default_rng(SEED)
    for name, chosen in (("all 30", order), ("best 10", order[:10]), ("every third", order[::3])):
        for items in (20, 50, 100):
            part = correct[:, chosen]
            truth = fit_epp(rounds_of(part, items, MANY, rng)).epp
            rows, posterior = [], []
            for k in range(options.tournaments):
                table = rounds_of(part, items, ROUNDS, rng)
                rows.append(covered(fit_epp(table, penalty=0.01), truth))
                if k < options.bayes:
                    posterior.append(sampled(table, truth, k))
            shown = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
            if posterior:
                shown |= {key: np.mean([row[key] for row in posterior]) for key in posterior[0]}
            numbers = ", ".join(f"{key} {value:.3f}" for key, value in shown.items())
            print(f"{name}, rounds of {items} items: {numbers}", flush=True)


if __name__ == "__main__":
    main()
