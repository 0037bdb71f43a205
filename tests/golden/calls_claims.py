"""Claims from printed numbers and from answers, reviews, and the items that claims need."""

from typing import Any

import numpy as np
import pandas as pd
from golden.calls_board import BOARDS, answers
from golden.registry import add, example
from golden.results import Numbers, each, flat, interval_numbers, pick

import bayes_sota as bs
from bayes_sota.claims import (
    GapOfAccuracies,
    GapOfMeans,
    OddsRatioCongruence,
    RelativeCongruence,
    ReportedMeans,
)

KNOWN: dict[str, Any] = {
    "unknown": None,
    "min": "min",
    "max": "max",
    "independent": "independent",
    "0.85": 0.85,
    "odds-ratio-60": OddsRatioCongruence(60, 0.0),
    "odds-ratio-prior": OddsRatioCongruence(20, 1.0),
    "relative-prior": RelativeCongruence(5.0, 3.0),
}
PRINTED = ((0.90, 0.88, 500), (0.95, 0.94, 200), (0.9116, 0.9094, 11072))
for _a, _b, _n in PRINTED:
    for _name, _known in KNOWN.items():
        if _name == "0.85" and _a != 0.90:
            continue
        add(f"claims/accuracies/{_a:.2f}-{_b:.2f}-{_n}/{_name}", lambda a=_a, b=_b, n=_n,
            known=_known: flat({"p_false": bs.false_claim_probability(a, b, n, known)}))  # fmt: skip
for _name in ("unknown", "0.85", "independent", "odds-ratio-prior"):
    add(f"claims/accuracies/rope/{_name}", lambda known=KNOWN[_name]: flat(
        bs.claims.false_claim_rope(0.90, 0.88, 500, 0.01, known)))  # fmt: skip
    add(f"claims/accuracies/best-of/{_name}", lambda known=KNOWN[_name]: flat({
        str(k): bs.claims.best_try_probability(0.90, 0.88, 500, k, known) for k in (1, 3, 20)
    }))  # fmt: skip
    add(f"claims/accuracies/size/{_name}", lambda known=KNOWN[_name]: flat({
        str(level): bs.claims.claim_test_size(0.90, 0.88, known, level=level)
        for level in (0.05, 0.01)
    }))  # fmt: skip
add("claims/accuracies/arrays", lambda: flat(bs.false_claim_probability(
    np.array([0.9, 0.8, 0.7]), np.array([0.89, 0.8, 0.6]), np.array([100, 1000, 50]))))  # fmt: skip
for _name, _printed in {
    "0.91-0.90-5000": ("0.91", "0.90", 5000),
    "0.913-0.901-333": ("0.913", "0.901", 333),
    "0.88-0.85-uncertain-n": ("0.88", "0.85", (300, 310)),
}.items():
    add(f"claims/printed/{_name}", lambda p=_printed: pick(
        bs.claims.reported_claim(*p), "p_false", "lowest", "highest"))  # fmt: skip
add("claims/report/accuracies", lambda: pick(
    bs.claims.report_accuracies("0.91", "0.90", 5000, best_of=5), "p_false", "congruence_needed",
    "n_test_needed", "by_n_test", "sensitivity", "selection/p_false_selected"))  # fmt: skip


def drawn(seed: int) -> Numbers:
    return interval_numbers(
        bs.claims.claim_tree(0.9, 0.85, 200, draws=2000, random_seed=seed), ("difference",)
    )


add("claims/accuracies/draws", drawn)

SPREADS: dict[str, dict[str, Any]] = {
    "imputed": {},
    "sd": {"sd": (0.1, 0.12)},
    "correlation": {"sd": (0.1, 0.12), "correlation": 0.8},
    "correlation-range": {"sd": (0.1, 0.1), "correlation_range": (0.3, 0.9)},
    "sd-difference": {"sd_difference": 0.06},
    "unbounded": {"sd": (0.5, 0.5), "bounds": None},
}
for _name, _spread in SPREADS.items():
    add(f"claims/means/0.81-0.80-100/{_name}", lambda spread=_spread: flat({
        "p_false": bs.false_claim_probability_of_means(0.81, 0.80, 100, **spread),
        "best-of-3": bs.claims.best_try_probability_of_means(
            ReportedMeans(0.81, 0.80, 100, **spread), 3),
    }))  # fmt: skip
add("claims/means/few-cases", lambda: flat({
    str(n): bs.false_claim_probability_of_means(0.7, 0.6, n, sd=(0.2, 0.2)) for n in (2, 3, 8)
}))  # fmt: skip
add("claims/means/size", lambda: flat({
    str(known): bs.claims.claim_test_size_of_means(0.81, 0.80, (0.1, 0.12), correlation=known)
    for known in (None, 0.0, 0.8)
}))  # fmt: skip
add("claims/report/means", lambda: pick(
    bs.claims.report_means(ReportedMeans(0.81, 0.80, 100, sd=(0.1, 0.1)), best_of=3), "p_false",
    "sensitivity", "correlation_needed", "by_n_test", "n_test_needed"))  # fmt: skip

GAPS: dict[str, Any] = {
    "accuracies": GapOfAccuracies(0.9, 0.88),
    "accuracies-odds-ratio": GapOfAccuracies(0.9, 0.88, OddsRatioCongruence(60, 0.0)),
    "accuracies-congruence": GapOfAccuracies(0.9, 0.88, 0.85),
    "means": GapOfMeans(0.81, 0.80, (0.1, 0.12), 0.8),
}
for _name, _gap in GAPS.items():
    add(f"claims/plan/{_name}", lambda gap=_gap: pick(
        bs.claims.plan_claim(gap).to_dict(), "n_needed", "n_for_power"))  # fmt: skip
add("claims/plan/strict", lambda: pick(bs.claims.plan_claim(
    GAPS["accuracies-odds-ratio"], level=0.01, power=0.9).to_dict(), "n_needed", "n_for_power"))  # fmt: skip
add("claims/plan/assured", lambda: pick(bs.claims.plan_claim(
    GAPS["accuracies-odds-ratio"], n_test=600).to_dict(), "n_assured", "highest_assurance"))  # fmt: skip

REVIEW = ("p_false", "p_false_lowest", "p_false_highest")


def review(**options: Any) -> Numbers:
    report = bs.claims_table(example("claims.csv"), **options).to_dict()
    return each(report["claims"], *REVIEW, top=12) | pick(report, "all/above_level")


add("claims/review/example", review)
add("claims/review/level", lambda: review(level=0.2))
add("claims/review/groups", lambda: flat(
    bs.claims_table(example("claims.csv"), group_by="group").to_dict()["groups"]))  # fmt: skip


def means_review() -> Numbers:
    rows = pd.DataFrame({
        "name": ["x", "y"], "mean_a": [0.8, 0.81], "mean_b": [0.7, 0.8], "n_test": [50, 100],
        "sd_a": [0.1, 0.12], "sd_b": [0.15, 0.1],
    })  # fmt: skip
    return each(bs.claims_table(rows).to_dict()["claims"], *REVIEW)


add("claims/review/means", means_review)

KINDS = {
    "answers-example": BOARDS["answers-example"],
    "exam-example": BOARDS["exam-example"],
    "dice-example": BOARDS["dice-example"],
    "auc-example": BOARDS["auc-example"],
    "answers": answers,
    "clusters": BOARDS["answers-clusters"],
    "tasks": BOARDS["answers-tasks"],
    "runs-clusters": BOARDS["answers-runs-clusters"],
    "missing": BOARDS["answers-missing"],
    "rmse": BOARDS["rmse-of-items"],
    "livecodebench-execution": BOARDS["livecodebench-execution"],
    "chembench": BOARDS["chembench"],
    "cifar10": BOARDS["cifar10"],
}
PAIR = ("difference/observed", "difference/mean", "difference/sd", "difference/interval", "p_false")


def methods(data: Any, seed: int) -> Numbers:
    report = bs.claims.report_methods(data, selection=False, random_seed=seed).to_dict()
    rows = each(report["methods"], "score", "interval", "p_best_uncorrected", "p_not_below_winner")
    return rows | pick(report, "p_false", "p_beaten")


def pairs(data: Any, seed: int) -> Numbers:
    report = bs.claims.report_pairs(data, random_seed=seed).to_dict()
    return each(report["pairs"], *PAIR, "p_adjusted", top=6) | pick(report, "n_told_apart")


def one_pair(data: Any, seed: int) -> Numbers:
    report = bs.claims.report_pairs(
        data, pair=(data.names[0], data.names[2]), rope=0.02, random_seed=seed
    )
    return pick(report, *(f"pairs/0/{path}" for path in PAIR), "pairs/0/rope")


for _name, _data in KINDS.items():
    add(f"claims/methods/{_name}", lambda seed, data=_data: methods(data(), seed))
    if _name not in ("tasks", "runs-clusters", "chembench"):
        add(f"claims/pairs/{_name}", lambda seed, data=_data: pairs(data(), seed))
for _name in ("answers-example", "exam-example", "dice-example", "clusters", "cifar10"):
    add(f"claims/pair/{_name}", lambda seed, data=KINDS[_name]: one_pair(data(), seed))
TASKS = {
    "exam-example": KINDS["exam-example"],
    "tasks": KINDS["tasks"],
    "livecodebench-repair": BOARDS["livecodebench-repair"],
}
for _name, _data in TASKS.items():
    add(f"claims/by-task/{_name}", lambda seed, data=_data: (
        lambda report: pick(report, "sd_between_tasks")
        | each(report["tasks"], "p_best", "difference/mean", "difference/interval")
    )(bs.claims.report_tasks(data(), random_seed=seed).to_dict()))  # fmt: skip
for _name in ("exam-example", "runs-clusters", "answers"):
    add(f"claims/pilot/{_name}", lambda data=KINDS[_name]: pick(bs.claims.plan_from_pilot(
        data(), 0.05), "difference", "standard_error", "share_of_runs", "best/n_items",
        "best/n_runs"))  # fmt: skip
