"""Numbers of the first version of Møllersen & Holsbø (arXiv 2303.07272v1) on the sample maximum.

It counts failures where the second version counts right answers. Its Fig. 6 to 8 are of AUCs
(``auc_numbers``).
"""

from typing import Any

from bayes_sota.published.comparison import Comparison, compare, differ, not_verifiable
from bayes_sota.published.maximum_numbers import (
    better_law,
    compare_fixed_reference,
    compare_moments,
    default_law,
    single_interval,
)

__all__ = [
    "compare_v1_figure_1",
    "compare_v1_figure_2",
    "compare_v1_figure_3",
    "compare_v1_figure_4",
    "compare_v1_figure_5",
    "compare_v1_table_1",
]

Published = dict[str, Any]


def compare_v1_table_1(published: Published) -> list[Comparison]:
    """Table 1 of v1: expectation and standard deviation for other sizes, numbers and skills."""
    return compare_moments("v1-table-1", published, "v1", published["table3"]["v1"]["where"])


def compare_v1_figure_1(published: Published) -> list[Comparison]:
    """Fig. 1 of v1, later Fig. 3, with more numbers."""
    part, item = published["figure3"]["v1"], "v1-figure-1"
    where, many, better = part["where"], default_law(published), better_law(published)
    low, high = single_interval(published)
    upper = round(many.interval()[1] * many.n_test)
    new = part["p_new_beats_upper"]
    strict = f"{where}: more than {upper} right answers, where the text says at least"
    return [
        compare(item, "lower end of one classifier's interval", part["interval"][0], low, where),
        compare(item, "upper end of one classifier's interval", part["interval"][1], high, where),
        compare(item, "expected maximum", part["expected"], many.mean(), where),
        compare(item, "upper 95% limit of the maximum", part["upper"], upper / many.n_test, where),
        compare(item, "P(new one beats the expected maximum)", part["p_new_beats_expected"],
                float(better.sf(int(many.mean() * many.n_test))), where),
        compare(item, "P(new one exceeds the upper limit)", new["printed"],
                float(better.sf(upper)), strict),
        differ(item, "P(new one reaches the upper limit)", new["printed"],
               float(better.sf(upper - 1)), new["pinned"],
               f"{where}: the event as written, with equality"),
    ]  # fmt: skip


def compare_v1_figure_2(published: Published) -> list[Comparison]:
    """Fig. 2 of v1: a curve without numbers."""
    note = f"{published['figure2']['v1']['where']}: a curve without printed values"
    return [not_verifiable("v1-figure-2", "cdf of the fewest failures", note)]


def compare_v1_figure_3(published: Published) -> list[Comparison]:
    """Fig. 3 of v1: its expectation and standard deviation stand in the text."""
    part, item, law = published["figure2"]["v1"], "v1-figure-3", default_law(published)
    where = part["where"]
    return [
        not_verifiable(item, "pmf of the fewest failures", f"{where}: bars without printed values"),
        compare(item, "expected maximum", part["expected"], law.mean(), where),
        compare(item, "standard deviation", part["sd"], law.std(), where),
    ]


def compare_v1_figure_4(published: Published) -> list[Comparison]:
    """Fig. 4 of v1: a simulated board."""
    note = f"{published['v1_figure4']['where']}: one draw, without printed values"
    return [not_verifiable("v1-figure-4", "failures of 1,000 classifiers", note)]


def compare_v1_figure_5(published: Published) -> list[Comparison]:
    """Fig. 5 of v1: the best of many, independent and given the reference classifier."""
    part, item, law = published["v1_figure5"], "v1-figure-5", default_law(published)
    where = part["where"]
    note = f"{where}: histograms without printed values"
    fixed = {one.quantity: one for one in compare_fixed_reference(published)}
    names = (
        "upper 95% limit, fixed reference",
        "failures at the upper limit, fixed reference",
        "failures at the upper limit, independent",
    )
    known = [fixed[name] for name in names]
    return [
        not_verifiable(item, "fewest failures in 100,000 draws", note),
        compare(item, "upper 95% limit, independent", part["upper_independent"],
                law.interval()[1], where),
        *(compare(item, one.quantity, one.published, one.computed or 0.0, where) for one in known),
    ]  # fmt: skip
