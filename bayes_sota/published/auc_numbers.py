r"""Numbers of Møllersen & Holsbø (arXiv 2303.07272) on AUC: Sec. 5.2, and Sec. 5 of v1.

The leaderboard of the melanoma challenge is not available. What its numbers imply can still be
held against the exact law of AUC estimates: no field whose best AUC is A has a higher expected best
estimate than one in which every classifier has AUC A.
"""

from math import sqrt
from pathlib import Path
from typing import Any

from bayes_sota.auc.law import AucLaw, AucMaximumLaw, auc_law, auc_maximum_law
from bayes_sota.published.comparison import Comparison, compare, differ, not_verifiable

__all__ = [
    "compare_auc",
    "compare_figure_10",
    "compare_figure_11",
    "compare_melanoma",
    "compare_v1_figure_6",
    "compare_v1_figure_7",
    "compare_v1_figure_8",
    "example_law",
    "highest_law",
    "n_positive",
]

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


def compare_v1_figure_6(published: Published, data: Path | None) -> list[Comparison]:
    """Fig. 6 of v1: public and private AUCs of the melanoma teams."""
    del data
    melanoma = published["melanoma"]
    part = melanoma["v1"]
    note = (
        f"{part['where']}, Fig. 6: a scatter without printed values; rank {part['rank']} of "
        f"{part['n_classifiers']} and {part['above']} teams above {part['auc']} are counts of the "
        f"same board: {_no_board(melanoma)}, and nothing is drawn"
    )
    return [not_verifiable("v1-figure-6", "public against private scores", note)]


def compare_v1_figure_7(published: Published, data: Path | None) -> list[Comparison]:
    """Fig. 7 of v1: ROC curves of one AUC and different variances."""
    del data
    item, part = "v1-figure-7", published["melanoma"]
    v1 = part["v1"]
    curves, upper = v1["curves"], v1["upper"]
    auc, ratios = float(curves["auc"]), curves["spread_ratios"]
    sds = ", ".join(f"{one_law(part, auc, ratio).std():.4f}" for ratio in ratios)
    shapes = (
        f"{curves['where']}: their shapes are not printed; binormal ones, with positives "
        f"{', '.join(f'{ratio:g}' for ratio in ratios)} times as spread as negatives, are drawn "
        f"in their stead, and one estimate has sd {sds}"
    )
    limit = one_law(part, v1["auc"]).interval()[1]
    note = (
        f"{v1['where']}: from the AUC {v1['auc']}, of curves whose shape is not printed; computed "
        f"with equal spreads. It comes out with positives {_spread_for(part):.2f} times as spread "
        "as negatives"
    )
    return [
        not_verifiable(item, "shapes of the curves", shapes),
        differ(item, "upper 95% limit of one classifier", upper["printed"], limit,
               upper["pinned"], note),
    ]  # fmt: skip


def _spread_for(part: Published) -> float:
    """Spread ratio with which the upper limit of one estimate is the printed one."""
    from scipy.optimize import brentq

    v1 = part["v1"]
    target = float(v1["upper"]["printed"])

    def excess(ratio: float) -> float:
        return one_law(part, v1["auc"], ratio).interval()[1] - target

    return float(brentq(excess, 0.3, 1.0, xtol=1e-3))


def compare_v1_figure_8(published: Published, data: Path | None) -> list[Comparison]:
    """Fig. 8 of v1: the scores behind the curves of its Fig. 7."""
    del data
    where = published["melanoma"]["v1"]["curves"]["where"]
    note = f"{where}: densities without printed values, and their parameters are not printed"
    return [not_verifiable("v1-figure-8", "densities of scores", note)]
