"""Numbers of Møllersen & Holsbø (arXiv 2303.07272) on AUC: Sec. 5.2.

The leaderboard of the melanoma challenge is not available. What its numbers imply can still be
held against the exact law of AUC estimates: no field whose best AUC is A has a higher expected best
estimate than one in which every classifier has AUC A.
"""

from math import sqrt
from typing import Any

from bayes_sota.auc.laws import AucMaximumLaw, auc_maximum_law

__all__ = ["best_auc", "highest_best_auc"]


def _law(
    auc: float, test_set: dict[str, Any], n_classifiers: int, n_positive: int | None = None
) -> AucMaximumLaw:
    """Best AUC estimate on a test set, by default with the printed share of positives."""
    positives = _positives(test_set) if n_positive is None else n_positive
    return auc_maximum_law(
        auc,
        n_positive=positives,
        n_negative=test_set["n_test"] - positives,
        n_classifiers=n_classifiers,
    )


def _positives(test_set: dict[str, Any]) -> int:
    return round(float(test_set["positive_rate"]) * int(test_set["n_test"]))


def best_auc(settings: dict[str, Any]) -> dict[str, Any]:
    """Sec. 5.2.2: the best of 1,000 AUC estimates, with the printed positives and those as run."""
    part = settings["auc"]
    auc, m, size = part["auc"], part["n_classifiers"], part["repetitions"]
    law, as_run = _law(auc, part, m), _law(auc, part, m, part["positives_as_run"])
    low, high = law.interval()
    density = float(law.cdf(high + 1e-4) - law.cdf(high - 1e-4)) / 2e-4
    quantile_error = sqrt(0.025 * 0.975 / size) / density
    return {
        "expected, as run": (as_run.mean(), as_run.std() / sqrt(size)),
        "lower limit, as run": (as_run.interval()[0], quantile_error),
        "expected": law.mean(),
        "sd": (law.std(), law.std() / sqrt(2 * size)),
        "lower limit": low,
        "upper limit": (high, quantile_error),
        "positives": _positives(part),
        "best AUC of (b)": (law.mean(), law.std()),
    }


def highest_best_auc(settings: dict[str, Any], test_set: str = "melanoma") -> dict[str, Any]:
    """Fig. 11: the best estimate if all melanoma teams were as good as the best is said to be.

    It bounds the best estimate of every field with that best AUC from above.
    """
    part = settings["melanoma"]
    law = _law(float(part["estimate"]), settings[test_set], part["n_classifiers"])
    return {"highest expected best AUC": law.mean()}
