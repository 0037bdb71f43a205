r"""Numbers of Møllersen & Holsbø (arXiv 2303.07272) on AUC: Sec. 5.2.

The leaderboard of the melanoma challenge is not available. What its numbers imply can still be
held against the exact law of AUC estimates: no field whose best AUC is A has a higher expected best
estimate than one in which every classifier has AUC A.
"""

from math import sqrt
from pathlib import Path
from typing import Any

from bayes_sota.auc.laws import AucLaw, AucMaximumLaw, auc_law, auc_maximum_law
from bayes_sota.published.comparison import Comparison, compare, differ, not_verifiable

Published = dict[str, Any]


def n_positive(part: Published) -> int:
    """Positives among the test items, by the printed share."""
    return round(float(part["positive_rate"]) * int(part["n_test"]))


def example_law(part: Published, positives: int | None = None) -> AucMaximumLaw:
    """Best AUC estimate of the classifiers of Sec. 5.2.2, by default with the printed share."""
    positives = n_positive(part) if positives is None else positives
    return auc_maximum_law(
        part["auc"],
        n_positive=positives,
        n_negative=part["n_test"] - positives,
        n_classifiers=part["n_classifiers"],
    )


def highest_law(melanoma: Published, test_set: Published) -> AucMaximumLaw:
    """Best AUC estimate on a test set if all melanoma teams were as good as the best is said to be.

    It bounds the best estimate of every field with that best AUC from above.
    """
    positives = n_positive(test_set)
    return auc_maximum_law(
        float(melanoma["estimate"]),
        n_positive=positives,
        n_negative=test_set["n_test"] - positives,
        n_classifiers=melanoma["v1"]["n_classifiers"],
    )


def one_law(melanoma: Published, auc: float, spread_ratio: float = 1.0) -> AucLaw:
    """One AUC estimate on the melanoma test set."""
    positives = n_positive(melanoma)
    return auc_law(auc, positives, melanoma["n_test"] - positives, spread_ratio)


def compare_auc(published: Published, data: Path | None) -> list[Comparison]:
    """Sec. 5.2.2: the best of 1,000 AUC estimates."""
    del data
    return _compare_auc("auc", published["auc"])


def _compare_auc(item: str, part: Published) -> list[Comparison]:
    law = example_law(part)
    low, high = law.interval()
    where, size = part["where"], part["repetitions"]
    density = (law.cdf(high + 1e-4) - law.cdf(high - 1e-4)) / 2e-4
    quantile_error = sqrt(0.025 * 0.975 / size) / float(density)
    simulated, code = f"{where}, simulated", part["code"]
    shifted = (
        f"{where}; {n_positive(part)} positives as printed, but the simulation had "
        f"{code['n_positive']}"
    )
    as_run = example_law(part, code["n_positive"])
    run = f"{where}, with the {code['n_positive']} positives of {code['where']}"
    error, lower = as_run.std() / sqrt(size), as_run.interval()[0]
    return [
        compare(item, "expected, as run", part["expected"], as_run.mean(), run, error),
        compare(item, "lower limit, as run", part["interval"][0], lower, run, quantile_error),
        differ(item, "expected", part["expected"], law.mean(), part["pinned_expected"], shifted),
        compare(item, "sd", part["sd"], law.std(), simulated, law.std() / sqrt(2 * size)),
        differ(item, "lower limit", part["interval"][0], low, part["pinned_lower"], shifted),
        compare(item, "upper limit", part["interval"][1], high, simulated, quantile_error),
    ]


def compare_figure_10(published: Published, data: Path | None) -> list[Comparison]:
    """Fig. 10: scores, ROC curves and the best of 1,000 AUC estimates."""
    del data
    item, part = "figure-10", published["auc"]
    figure, law = part["figure"], example_law(part)
    where, draw = figure["where"], "one draw of a simulation"
    curves = f"{where}: curves without printed values; those in (b) are draws"
    return [
        not_verifiable(item, "densities and ROC curves", curves),
        compare(item, "positives", part["n_positive"], n_positive(part), part["where"]),
        compare(item, "best AUC of (b)", figure["one_maximum"], law.mean(),
                f"{where}: {draw}, said to be close to its expected value, which is computed here",
                law.std()),
        *_compare_auc(item, part),
    ]  # fmt: skip


def compare_melanoma(published: Published, data: Path | None) -> list[Comparison]:
    """Sec. 5.2.3: melanoma, whose leaderboard is not to be had."""
    del data
    return [_without_board("melanoma", published["melanoma"])]


def _without_board(item: str, part: Published) -> Comparison:
    note = (
        f"{part['where']}: estimate {part['estimate']} and {part['above']} teams above it, from a "
        f"best AUC of {part['maximum']}; {_no_board(part)}"
    )
    return not_verifiable(item, "shrinking of AUCs towards 0.5", note)


def _no_board(part: Published) -> str:
    return f"the leaderboard of kaggle.com/competitions/{part['slug']} is not available"


def compare_figure_11(published: Published, data: Path | None) -> list[Comparison]:
    """Fig. 11: the melanoma estimate cannot have come from the melanoma test set."""
    del data
    item, part = "figure-11", published["melanoma"]
    expected, m = part["expected"], part["v1"]["n_classifiers"]
    other = highest_law(part, published["auc"]).mean()
    note = (
        f"{part['where']}: expected best AUC if the best classifier has {part['estimate']}; no "
        f"field of {m:,} independent classifiers with binormal scores of equal spread expects more "
        f"than the computed value with "
        f"{n_positive(part)} positives among {part['n_test']:,} items. With the "
        f"{published['auc']['n_test']:,} items of Sec. 5.2.2 the bound is {other:.4f}"
    )
    return [
        _without_board(item, part),
        differ(item, "highest expected best AUC", expected["printed"],
               highest_law(part, part).mean(), expected["pinned"], note),
    ]  # fmt: skip
