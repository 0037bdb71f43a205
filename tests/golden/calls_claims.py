"""Claims from printed numbers and from answers, reviews, and the items that claims need."""

from typing import Any

import numpy as np
import pandas as pd
from golden.calls_board import BOARDS
from golden.registry import add, add_all, example
from golden.results import each, flat, pick

import bayes_sota as bs
from bayes_sota import Accuracies, Means, claims
from bayes_sota.claims.claim import congruence_at

KNOWN: dict[str, Any] = {
    "unknown": None,
    "min": "min",
    "max": "max",
    "independent": "independent",
    "congruence-0.85": 0.85,
    "odds-ratio-60": "odds ratio 60",
}
PRINTED = {"0.90-0.88-500": (0.9, 0.88, 500), "0.88-0.87-200": (0.88, 0.87, 200),
           "0.9116-0.9094-11072": (0.9116, 0.9094, 11072)}  # fmt: skip


def accuracies(a: float, b: float, n: int, known: Any):
    if known == "odds ratio 60":
        known = float(claims.congruence_of_odds_ratio(a, b, 60))
    if known is not None:
        known = float(congruence_at(np.asarray(a), np.asarray(b), known))
    claim = Accuracies(a=a, b=b, n=n, known=known)
    return flat({
        "p_false": claim.p_false(),
        "rope": claim.rope(0.01),
        "best-of-3": claim.p_false_of_best(3),
        "best-of-20": claim.p_false_of_best(20),
        "size": claim.size(),
        "size-0.01": claim.size(0.01),
    })  # fmt: skip


for _name, (_a, _b, _n) in PRINTED.items():
    add_all(f"claims/accuracies/{_name}", accuracies, {
        name: {"a": _a, "b": _b, "n": _n, "known": known} for name, known in KNOWN.items()
        if _a > 0.9 or _n == 500 or name in ("unknown", "independent", "odds-ratio-60")
        if _a < 0.91 or name != "congruence-0.85"
    })  # fmt: skip


def report():
    claim = Accuracies(a=0.91, b=0.90, n=5000)
    found = claims.report_claim(claim, printed=("0.91", "0.90"), best_of=5)
    return pick(found, "p_false", "congruence_needed", "n_test_needed", "sensitivity",
                "selection/p_false_selected")  # fmt: skip


add("claims/accuracies/report", report)


def means(**spread: Any):
    found = claims.report_claim(Means(a=0.81, b=0.80, n=100, **spread), best_of=3)
    return pick(found, "p_false", "n_test_needed", "selection/p_false_selected")


add_all("claims/means", means, {
    "imputed": {},
    "sd": {"sd": (0.1, 0.12)},
    "correlation": {"sd": (0.1, 0.12), "known": 0.8},
    "sd-difference": {"sd_difference": 0.06},
    "unbounded": {"sd": (0.5, 0.5), "bounds": None},
})  # fmt: skip


def plan(claim: Any, **options: Any):
    found = claims.report_plan(claim, **options).to_dict()
    return pick(found, "n_needed", "n_for_power") | flat(
        {key: found[key] for key in ("n_assured", "highest_assurance") if key in found}
    )


RATIO = Accuracies(a=0.9, b=0.88, n=2, known=float(claims.congruence_of_odds_ratio(0.9, 0.88, 60)))
add_all("claims/plan", plan, {
    "accuracies": {"claim": Accuracies(a=0.9, b=0.88, n=2)},
    "accuracies-odds-ratio": {"claim": RATIO},
    "accuracies-congruence": {"claim": Accuracies(a=0.9, b=0.88, n=2, known=0.85)},
    "means": {"claim": Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.12), known=0.8)},
    "strict": {"claim": RATIO, "level": 0.01, "power": 0.9},
    "assured": {"claim": RATIO, "n_test": 600},
})  # fmt: skip


def review(data: Any, **options: Any):
    found = bs.claims_table(data, **options).to_dict()
    rows = each(found["claims"], "p_false", "p_false_lowest", "p_false_highest", top=12)
    return rows | pick(found, "all/above_level")


def means_as_printed() -> pd.DataFrame:
    return pd.DataFrame({
        "name": ["x", "y"], "mean_a": [0.8, 0.81], "mean_b": [0.7, 0.8], "n_test": [50, 100],
        "sd_a": [0.1, 0.12], "sd_b": [0.15, 0.1],
    })  # fmt: skip


add_all("claims/review", review, {
    "example": lambda: example("claims.csv"),
    "level": {"data": lambda: example("claims.csv"), "level": 0.2},
    "means": means_as_printed,
})  # fmt: skip

PAIR = ("difference/observed", "difference/mean", "difference/sd", "difference/interval", "p_false")


def methods(data: Any, seed: int):
    found = claims.report_methods(data, selection=False, random_seed=seed).to_dict()
    rows = each(found["methods"], "score", "interval", "p_best_uncorrected", "p_not_below_winner")
    return rows | pick(found, "p_false", "p_beaten")


def pairs(data: Any, seed: int):
    found = claims.report_pairs(data, random_seed=seed).to_dict()
    return each(found["pairs"], *PAIR, "p_adjusted", top=6) | pick(found, "n_told_apart")


def pair(data: Any, seed: int):
    two = data.names[0], data.names[2]
    found = claims.report_gate(data, two, margin=0.02, random_seed=seed).to_dict()
    return pick(found["pairs"][0], *PAIR, "rope")


def by_task(data: Any, seed: int):
    found = claims.report_tasks(data, random_seed=seed).to_dict()
    rows = sorted(found["tasks"], key=lambda row: row["task"])
    kept = each(rows, "p_best", "difference/mean", "difference/interval")
    return kept | pick(found, "sd_between_tasks")


def pilot(data: Any):
    found = claims.plan_from_pilot(data, 0.05)
    return pick(found, "difference", "standard_error", "share_of_runs", "best/n_items")


METHODS = ("answers-example", "exam-example", "dice-example", "auc-example", "answers",
           "answers-clusters", "answers-tasks", "answers-runs-clusters", "answers-missing",
           "rmse-of-items", "livecodebench-execution", "chembench", "cifar10")  # fmt: skip
for _run, _names in {
    methods: METHODS,
    pairs: METHODS[:6] + METHODS[8:11],
    pair: ("answers-example", "exam-example", "dice-example", "answers-clusters", "cifar10"),
    by_task: ("exam-example", "answers-tasks", "livecodebench-repair"),
    pilot: ("exam-example", "answers-runs-clusters", "answers"),
}.items():
    _kind = _run.__name__.replace("_", "-")
    add_all(f"claims/{_kind}", _run, {name: BOARDS[name] for name in _names})
