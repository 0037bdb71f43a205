"""Repeated cross-validation: runs and their report."""

from functools import cache

import numpy as np
from golden.registry import add, add_all, example, real
from golden.results import each, flat, log_densities, pick

import bayes_sota as bs
from bayes_sota import crossval as cv
from bayes_sota.crossval import FoldScores


@cache
def runs() -> FoldScores:
    """Two-fold cross-validation of three learners on seven data sets, 14 iterations."""
    rng = np.random.default_rng(9)
    skills = np.array([0.9, 0.895, 0.87])[:, None, None] - rng.uniform(0, 0.2, (7, 1, 1, 1))
    return FoldScores(rng.normal(skills, 0.02, (7, 3, 14, 2)), learners=list("abc"))


def folds_example() -> FoldScores:
    return bs.read_fold_scores(example("cross_validation.csv"))


def judged(data: FoldScores, seed: int, **options):
    """Steady states, pairs and ranks; not the table of rules, some of which go."""
    rule = cv.fixed(5)
    report = cv.judge_runs(data, rule=rule, random_seed=seed, **options).to_dict()
    pair = ("difference", "difference_se", "order_kept", "reproducibility", "by_chance", "tests",
            "posterior")  # fmt: skip
    learners = each(report["learners"], "steady", "median", "canonical", top=4)
    pairs = each(report["pairs"], *pair, top=3)
    rules = each(report["rules"], "iterations", "saved", "reproducibility", top=1)
    kept = flat({"learners": learners, "pairs": pairs, "rule": rules})
    return kept | pick(report, "ranks", "against_truth")


TRUTH = np.full((7, 3), 0.8)
add_all("cv/judge", judged, {
    "example": folds_example, "data-sets": runs, "truth": {"data": runs, "truth": TRUTH}
})  # fmt: skip

TASKS = ("abalone-old", "banknote", "breast-cancer", "breast-w", "credit-g", "diabetes", "ecoli-pp",
         "glass-nonwindow", "haberman", "labor", "new-thyroid", "oil-spill", "phoneme",
         "segment-window", "sonar", "vote", "wheat-seeds-1", "wine-red-good")  # fmt: skip


def run(data, **options):
    """Scores of two learners, and their test; the partitions have one seed."""
    rows, labels, categories, _ = cv.read_task(data, "y")
    learners = cv.named_learners(["nb", "5nn"], categories)
    chosen = {"folds": 3, "iterations": 2, "random_seed": 0} | options
    found = bs.repeated_cross_validation(learners, rows, labels, **chosen)
    scores = found.fold_scores
    test = cv.correlated_t(scores, 0, 1)
    paths = "mean", "df", "scale", "p_better", "partition_variance", "data_variance"
    numbers = {"folds": scores.iteration_means(), "p_better": pick(test, *paths)}
    return flat(numbers)


def items():
    return example("items.csv")


add_all("cv/run", run, {
    "items-example": {"data": items, "folds": 5, "iterations": 3},
    "two-fold": {"data": items, "folds": 2, "iterations": 5},
    "accuracy": {"data": items, "scoring": "accuracy"},
} | {name: lambda name=name: real(f"binary_tasks/{name}.csv.gz") for name in TASKS})  # fmt: skip


add("model/crossval", lambda: log_densities(cv.build_model(runs())))
