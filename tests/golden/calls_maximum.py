"""Exact laws of a maximum, one best score, shrinking and cropping."""

from typing import Any

import numpy as np
from golden.registry import add, add_all, real
from golden.results import (
    each,
    field_estimate,
    flat,
    law,
    log_densities,
    sota,
)

import bayes_sota as bs
from bayes_sota.core.skills import Beta, LogitNormal, Uniform
from bayes_sota.data import BestScore

LISTED = [0.9, 0.89, 0.87, 0.85, 0.8]
LAWS: dict[str, dict[str, Any]] = {
    "equal": {"n_test": 3000, "skill": 0.9, "n_classifiers": 1000},
    "equal-few-items": {"n_test": 50, "skill": 0.8, "n_classifiers": 5},
    "one": {"n_test": 100, "skill": 0.7, "n_classifiers": 1},
    "dependent": {"n_test": 3000, "skill": 0.9, "n_classifiers": 1000, "correlation": 0.6},
    "listed": {"n_test": 300, "skill": LISTED},
    "listed-dependent": {"n_test": 300, "skill": LISTED, "correlation": 0.5},
    "uniform": {"n_test": 3000, "skill": Uniform(0.85, 0.9), "n_classifiers": 1000},
    "beta": {"n_test": 1000, "skill": Beta.from_location_spread(1.4, 0.3), "n_classifiers": 200},
    "normal": {"n_test": 1000, "skill": LogitNormal(1.4, 0.3), "n_classifiers": 200},
}
DEPENDENT = {"n_test": 300, "skill": 0.8, "n_classifiers": 20, "correlation": 0.5}
LAWS["reference"] = DEPENDENT | {"reference_skill": 0.85}
LAWS["reference-count"] = DEPENDENT | {"reference_skill": 0.8, "reference_count": 250}
LAWS["uniform-dependent"] = DEPENDENT | {"skill": Uniform(0.6, 0.8)}
AUCS: dict[str, dict[str, Any]] = {
    "equal": {"auc": 0.9, "n_classifiers": 20},
    "spread-ratio": {"auc": 0.9, "n_classifiers": 20, "spread_ratio": 1.5},
    "listed": {"auc": [0.9, 0.85, 0.8]},
}
SIZES = {"n_positive": 52, "n_negative": 198}


def maximum(**options: Any):
    return law(bs.maximum_law(**options), 0.82, 0.9)


def maximum_auc(**options: Any):
    return law(bs.auc.auc_maximum_law(**options, **SIZES), 0.93)


add_all("maximum/law", maximum, LAWS)
add_all("maximum/auc-law", maximum_auc, AUCS)


def best(seed: int, score: str = "0.93", n_test: int = 300, tries: Any = 20, **more: Any):
    """The best skill behind one best score."""
    of_board = ("submissions", "metric", "n_positive", "standard_error")
    board = {key: more.pop(key) for key in of_board if key in more}
    return sota(BestScore(score, n_test=n_test, n_classifiers=tries, **board), seed, **more)


RHO = bs.FixedCorrelation(0.6)
BEST: dict[str, dict[str, Any]] = {
    "small": {},
    "all-right": {"score": "1.0", "n_test": 50, "tries": 10},
    "tries-between": {"score": "0.91", "n_test": 500, "tries": (5, 50)},
    "known-rho": {"priors": bs.Priors(correlation=RHO)},
    "beta": {"priors": bs.Priors(skill=bs.core.BetaSkill(), correlation=RHO)},
    "uniform": {"priors": bs.Priors(skill=bs.core.UniformSkill())},
    "reference-skill": {"reference_skill": 0.85},
    "submissions": {"submissions": (2, 30)},
    "auc": {"score": "0.91", "tries": 30, "metric": "auc", "n_positive": 90},
    "gaussian": {"score": "0.713", "n_test": None, "metric": "score", "standard_error": 0.012},
    "image-classifiers": {"score": "0.97", "n_test": 10000, "domain": "image-classifiers"},
    "abc": {"score": "0.9", "n_test": 60, "tries": 8, "method": "abc", "draws": 200},
}
TWO = [
    BestScore(s, n_test=n, n_classifiers=m) for s, n, m in (("0.93", 300, 20), ("0.95", 400, 60))
]
add_all("best", best, BEST)
add_all("model", log_densities, {"maximum": lambda: bs.maximum.build_model(TWO)})
add("best/two-boards", lambda seed: sota(TWO, seed))
for _name in ("obesity-risk", "obesity-risk-paper", "cassava"):
    add(f"best/{_name}", lambda seed, n=_name: sota(bs.load_example(n), seed))


def sensitivity(seed: int):
    rows = bs.sota_sensitivity(TWO[0], draws=1000, random_seed=seed)
    return each(rows.reset_index().to_dict("records"), *map(str, rows.columns), top=40)


def newcomers(seed: int):
    tree = bs.estimate_sota(TWO[0], random_seed=seed)
    better = bs.leaderboard.newcomer(tree, score=0.94)
    return flat({"above": bs.core.probability_above(tree, 0.92), "better": better})


add("best/sensitivity", sensitivity)
add("best/newcomers", newcomers)


def chosen(way: str, data: Any, **options: Any):
    """What shrinking or cropping scores finds."""
    return field_estimate(getattr(bs.maximum, f"{way}_scores")(data, **options))


def aucs(**options: Any):
    scores = [0.95, 0.94, 0.93, 0.9, 0.88, 0.85, 0.8]
    return field_estimate(bs.maximum.shrink_aucs(scores, **options))


def kaggle(slug: str, part: str = "private") -> list[str]:
    """Scores of a board as printed."""
    rows = real(f"kaggle/{slug}__{part}.csv").read_text().splitlines()
    return [row.split(",")[1] for row in rows[1:]]


OBESITY, CASSAVA = "playground-series-s4e2", "cassava-leaf-disease-classification"
STEPS = {"data": lambda: [0.95, 0.949, 0.945, *(0.94 - 0.002 * np.arange(60)), 0.4]}
STEPS |= {"n_test": 800, "chance": 0.5}
for _way in ("shrink", "crop"):
    add_all(_way, chosen, {
        "expected": {"way": _way, **STEPS},
        "upper": {"way": _way, **STEPS, "criterion": "upper"},
        "independent": {"way": _way, **STEPS, "correlation": 0.0},
        OBESITY: {"way": _way, "data": lambda: np.array(kaggle(OBESITY), float), "n_test": 11072,
                  "chance": 1 / 7},
        CASSAVA: {"way": _way, "data": lambda: np.array(kaggle(CASSAVA), float), "n_test": 6618,
                  "chance": 0.2},
    })  # fmt: skip
add_all("shrink", aucs, {
    "aucs": {"n_positive": 52, "n_negative": 700},
    "aucs-upper": {"n_positive": 30, "n_negative": 60, "criterion": "upper", "spread_ratio": 1.3},
})  # fmt: skip
