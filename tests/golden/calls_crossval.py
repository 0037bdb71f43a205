"""Repeated cross-validation: runs, stopping rules, tests of folds, steady states, data sets."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from golden.registry import add, add_all, example, real
from golden.results import Numbers, each, flat, log_densities, pick

import bayes_sota as bs
from bayes_sota import crossval as cv
from bayes_sota.crossval import FoldScores


@cache
def runs() -> FoldScores:
    """Two-fold cross-validation of three learners on seven data sets, 14 iterations."""
    rng = np.random.default_rng(9)
    skills = np.array([0.9, 0.895, 0.87])[:, None, None] - rng.uniform(0, 0.2, (7, 1, 1, 1))
    return FoldScores(rng.normal(skills, 0.02, (7, 3, 14, 2)), learners=list("abc"))


@cache
def probabilities() -> Any:
    rng = np.random.default_rng(10)
    return [rng.random((1, 1, 40)) + rng.normal(0, 0.05, (3, 14, 40)) for _ in range(7)]


def folds_example() -> FoldScores:
    return bs.read_fold_scores(example("cross_validation.csv"))


def judged(data: FoldScores, seed: int, **options: Any) -> Numbers:
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

RULES = {
    "fixed-4": cv.fixed(4),
    "spearman-0.99": cv.spearman(0.99),
    "spearman-0.999": cv.spearman(0.999),
    "ks-0.5": cv.kolmogorov_smirnov(0.5),
    "ks-0.3": cv.kolmogorov_smirnov(0.3),
    "posterior-0.9": cv.posterior(0.9),
}


def stop(rule: Any) -> Numbers:
    """Iterations at which a rule stops, learners each by itself."""
    return flat({"alone": cv.stopping_iterations(rule, runs(), probabilities())})


def orderings(rule: Any, seed: int) -> Numbers:
    (found,) = cv.judge_rules([rule], runs(), probabilities(), random_seed=seed)
    shares = {"all": found.reproducibility().mean()}
    return flat(shares | {"iterations": found.iterations.mean(axis=0), "saved": found.saved.mean()})


def by_chance() -> Numbers:
    return flat([cv.expected_by_chance(50, share) for share in (0.0, 0.3)])


add_all("cv/stop", stop, {name: {"rule": rule} for name, rule in RULES.items()})
add_all("cv/orderings", orderings, {name: {"rule": rule} for name, rule in RULES.items()})
add("cv/by-chance", by_chance)


def steady(data: FoldScores, seed: int) -> Numbers:
    found = cv.steady_state(data)
    return pick(found, "mean", "median", "sd", "standard_error", "canonical", "p_canonical_above",
                "skewness", "p_skewness", "p_normal")  # fmt: skip


def tests_of_folds(data: FoldScores, folds: int) -> Numbers:
    """Tests of the difference of two learners on one data set."""
    found = cv.difference_tests(data.scores[0, 0], data.scores[0, 1], folds)
    return flat({test["name"]: test for test in found})


def correlated_t(data: FoldScores, **options: Any) -> Numbers:
    found = cv.correlated_t(data, 0, 1, **options)
    return pick(found, "mean", "df", "scale", "p_better", "partition_variance", "data_variance")


def small() -> Numbers:
    """Single numbers."""
    mean, interval = cv.running_means(runs(), 0)
    return flat({
        "canonical": [cv.canonical_iterations(folds) for folds in (2, 5, 10)],
        "needed": [cv.iterations_needed(gap, 0.02, 0.015) for gap in (0.05, 0.1)],
        "other-seed": cv.other_seed_probability(0.01, 0.01, 30, 1),
        "overlap": cv.sensitivity_to_overlap(runs(), rope=0.01),
        "running": {"mean": mean, "interval": interval[1:]},
    })  # fmt: skip


add_all("cv/steady", steady, {"example": folds_example})
add_all("cv/fold-tests", tests_of_folds, {
    "2": {"data": runs, "folds": 2}, "10": {"data": folds_example, "folds": 10}
})  # fmt: skip
add_all("cv/correlated-t", correlated_t, {
    "2": runs, "10": folds_example, "known": {"data": runs, "correlation": 0.3}
})  # fmt: skip
add("cv/small", small)


def ranks(data: Any) -> Numbers:
    """Friedman's test and Bonferroni-Dunn over data sets."""
    found = cv.average_ranks(data)
    return pick(found, "ranks", "chi_squared", "p_value", "f_statistic", "f_p_value",
                "bonferroni_dunn")  # fmt: skip


def ucr() -> Any:
    rows = pd.read_csv(real("ucr/results-ucr-128.csv"))
    means = rows.groupby(["dataset_name", "classifier_name"])["accuracy"].mean().unstack()
    return means.dropna().to_numpy()


def across() -> Numbers:
    """What data sets say together."""
    other = FoldScores(runs().iteration_means()[..., None], learners=list("abc"), folds=10)
    signed = cv.signed_rank_tests(runs().scores.mean(axis=(2, 3)))
    return flat({
        "signed-ranks": each(signed, "n_ahead", "median_difference", "p_value"),
        "seed-verdicts": cv.seed_verdicts(runs(), 0, 2) | {"level": 0.05},
        "fold-bias": cv.fold_bias([runs(), other]),
        "truth": cv.against_truth(runs(), TRUTH),
    })  # fmt: skip


add_all("cv/ranks", ranks, {"simulated": lambda: runs().scores.mean(axis=(2, 3)), "ucr": ucr})
add("cv/across", across)

TASKS = ("abalone-old", "banknote", "breast-cancer", "breast-w", "credit-g", "diabetes", "ecoli-pp",
         "glass-nonwindow", "haberman", "labor", "new-thyroid", "oil-spill", "phoneme",
         "segment-window", "sonar", "vote", "wheat-seeds-1", "wine-red-good")  # fmt: skip


def run(data: Any, **options: Any) -> Numbers:
    """Scores of two learners, and their test; the partitions have one seed."""
    rows, labels, categories, _ = cv.read_task(data, "y")
    learners = cv.named_learners(["nb", "5nn"], categories)
    chosen = {"folds": 3, "iterations": 2, "random_seed": 0} | options
    found = bs.repeated_cross_validation(learners, rows, labels, **chosen)
    means, p_better = found.fold_scores.iteration_means(), correlated_t(found.fold_scores)
    return flat({"folds": means, "pooled": found.pooled_scores, "p_better": p_better})


def items() -> Any:
    return example("items.csv")


add_all("cv/run", run, {
    "items-example": {"data": items, "folds": 5, "iterations": 3},
    "two-fold": {"data": items, "folds": 2, "iterations": 5},
    "accuracy": {"data": items, "scoring": "accuracy"},
} | {name: lambda name=name: real(f"binary_tasks/{name}.csv.gz") for name in TASKS})  # fmt: skip


add("model/crossval", lambda: log_densities(cv.build_model(runs())))
