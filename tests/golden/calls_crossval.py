"""Repeated cross-validation: runs, stopping rules, tests of folds, steady states, data sets."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from golden.registry import add, example, real
from golden.results import Numbers, each, flat, interval_numbers, pick

import bayes_sota as bs
from bayes_sota import crossval as cv
from bayes_sota.data import FoldScores


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


def judged(scores: FoldScores, seed: int, **options: Any) -> Numbers:
    """Steady states, pairs and ranks; not the table of rules, some of which go."""
    report = cv.judge_runs(
        scores, rule=cv.FixedNumber(5), orderings=50, random_seed=seed, **options
    ).to_dict()
    learners = each(report["learners"], "steady", "standard_error", "median", "sd", "canonical",
                    "skewness", "p_skewness", "p_normal", top=4)  # fmt: skip
    pairs = each(report["pairs"], "difference", "difference_se", "order_kept", "reproducibility",
                 "by_chance", "iterations_needed", "tests", "posterior/p_better",
                 "posterior/interval", "posterior/p_other_seed", "posterior/partition_share")  # fmt: skip
    rule = each(report["rules"], "iterations", "saved", "reproducibility", "pairs_kept", top=1)
    return (
        flat({"learners": learners, "pairs": pairs, "rule": rule})
        | pick(report, "ranks")
        | pick(report, "against_truth")
    )


add("cv/judge/example", lambda seed: judged(folds_example(), seed))
add("cv/judge/data-sets", lambda seed: judged(runs(), seed))
add("cv/judge/truth", lambda seed: judged(runs(), seed, truth=np.full((7, 3), 0.8)))

RULES = {
    "fixed-1": cv.FixedNumber(1),
    "fixed-4": cv.FixedNumber(4),
    "spearman-0.99": cv.SpearmanRule(0.99),
    "spearman-0.999": cv.SpearmanRule(0.999),
    "ks-0.5": cv.KolmogorovSmirnovRule(0.5),
    "ks-0.3": cv.KolmogorovSmirnovRule(0.3),
    "posterior-0.9": cv.PosteriorRule(0.9),
}
for _name, _rule in RULES.items():
    add(f"cv/stop/{_name}", lambda rule=_rule: flat(
        cv.stopping_iterations(rule, runs(), probabilities())))  # fmt: skip
    add(f"cv/stop-together/{_name}", lambda rule=_rule: flat(
        cv.stopping_iterations(rule, runs(), probabilities(), together=True)))  # fmt: skip


def reproducibility(rule: Any, seed: int, **options: Any) -> Numbers:
    (one,) = cv.judge_rules([rule], runs(), probabilities(), random_seed=seed, **options)
    return flat({
        "iterations": one.iterations.mean(axis=0),
        "reproducibility": one.reproducibility("all").mean(),
        "paired": one.reproducibility("paired").mean(),
        "saved": one.saved.mean(),
    })  # fmt: skip


for _name in ("fixed-4", "spearman-0.999", "ks-0.5", "posterior-0.9"):
    add(f"cv/orderings/{_name}", lambda seed, rule=RULES[_name]: reproducibility(rule, seed))
add("cv/orderings/by-chance", lambda: flat({
    f"{pairing}-{share}": cv.expected_by_chance(50, share, pairing)
    for pairing in ("all", "paired") for share in (0.0, 0.3)
}))  # fmt: skip

STEADY = ("mean", "median", "sd", "standard_error", "canonical", "p_canonical_above", "skewness",
          "p_skewness", "p_normal")  # fmt: skip
add("cv/steady/example", lambda seed: pick(cv.steady_state(folds_example(), seed), *STEADY))
add("cv/steady/running", lambda: flat({
    "mean": cv.running_means(runs(), 0, 2).mean, "interval": cv.running_means(runs(), 0).interval[1:]
}))  # fmt: skip
add("cv/canonical", lambda: flat({str(k): cv.canonical_iterations(k) for k in (2, 5, 10)}))

FOLDS = {"2": (runs, 2), "10": (folds_example, 10)}
for _name, (_scores, _folds) in FOLDS.items():
    add(f"cv/fold-tests/{_name}", lambda scores=_scores, folds=_folds: flat({
        test.name: pick(test, "difference", "statistic", "p_value")
        for test in cv.difference_tests(scores().scores[0, 0], scores().scores[0, 1], folds)
        if "5x2" not in test.name
    }))  # fmt: skip
    for _overlap in (None, 0.3):
        add(f"cv/correlated-t/{_name}/{_overlap}", lambda scores=_scores, rho=_overlap: pick(
            cv.correlated_t(scores(), 0, 1, correlation=rho), "mean", "df", "scale", "p_better",
            "partition_variance", "data_variance"))  # fmt: skip
add("cv/correlated-t/overlap", lambda: flat(cv.sensitivity_to_overlap(runs(), rope=0.01)))
add("cv/iterations-needed", lambda: flat({
    str(gap): cv.iterations_needed(gap, 0.02, 0.015) or 0 for gap in (0.03, 0.05, 0.1)
}))  # fmt: skip
add("cv/other-seed", lambda: flat([cv.other_seed_probability(0.01, 0.01, 30, 1),
                                   cv.other_seed_probability(0.02, 0.02, 3, 5)]))  # fmt: skip
add("cv/seed-verdicts", lambda: flat(cv.seed_verdicts(runs(), 0, 2)))
add("cv/across/ranks", lambda: pick(
    cv.average_ranks(runs().scores.mean(axis=(2, 3))), "ranks", "chi_squared", "p_value",
    "f_statistic", "f_p_value", "nemenyi", "bonferroni_dunn"))  # fmt: skip
add("cv/across/signed-ranks", lambda: each(
    cv.signed_rank_tests(runs().scores.mean(axis=(2, 3))), "n_ahead", "median_difference",
    "p_value"))  # fmt: skip
add("cv/across/fold-bias", lambda: flat(
    cv.fold_bias([runs(), FoldScores(runs().iteration_means()[..., None], learners=list("abc"),
                                     folds=10)])))  # fmt: skip
add("cv/across/truth", lambda: flat(cv.against_truth(runs(), np.full((7, 3), 0.8))))


def ucr() -> Numbers:
    """Friedman's test and its relatives on 128 data sets."""
    rows = pd.read_csv(real("ucr/results-ucr-128.csv"))
    means = rows.groupby(["dataset_name", "classifier_name"])["accuracy"].mean().unstack().dropna()
    found = cv.average_ranks(means.to_numpy())
    return pick(found, "ranks", "chi_squared", "p_value", "f_statistic", "bonferroni_dunn")


add("cv/across/ucr", ucr)


def task(path: Any, target: str, **options: Any) -> Numbers:
    """Scores of two learners in three iterations, and their test; the partitions have one seed."""
    rows, labels, categories = cv.read_task(path, target)
    learners = cv.named_learners(["nb", "5nn"], categories)
    found = bs.repeated_cross_validation(
        learners, rows, labels, **({"folds": 5, "iterations": 3, "random_seed": 0} | options)
    )
    scores = found.fold_scores
    return flat({
        "folds": scores.scores.mean(axis=-1),
        "pooled": found.pooled_scores,
        "p_better": cv.correlated_t(scores).p_better(),
    })  # fmt: skip


add("cv/run/items-example", lambda: task(example("items.csv"), "y"))
add("cv/run/two-fold", lambda: task(example("items.csv"), "y", folds=2, iterations=5))
add("cv/run/accuracy", lambda: task(example("items.csv"), "y", scoring="accuracy"))
for _name in (
    "abalone-old", "banknote", "breast-cancer", "breast-w", "credit-g", "diabetes", "ecoli-pp",
    "glass-nonwindow", "haberman", "labor", "new-thyroid", "oil-spill", "phoneme", "segment-window",
    "sonar", "vote", "wheat-seeds-1", "wine-red-good",
):  # fmt: skip
    add(f"cv/run/{_name}", lambda name=_name: task(
        real(f"binary_tasks/{name}.csv.gz"), "y", iterations=2, folds=3))  # fmt: skip


def hierarchical(seed: int) -> Numbers:
    """NUTS over data sets."""
    tree = cv.sample_comparison(runs(), draws=200, tune=300, chains=2, cores=1, random_seed=seed)
    kept = ("difference", "learner_mean", "p_better", "learner_skill")
    return interval_numbers(tree, kept) | pick(
        cv.report_comparison(tree).to_dict(), "pairs"
    )


add("cv/hierarchical", hierarchical)
