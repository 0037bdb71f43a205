"""Tidy data behind Fig. 2 to 6 of Møllersen & Holsbø.

One row per point of a curve.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.maximum.dependence import feasible_correlation
from bayes_sota.maximum.law import MaximumLaw
from bayes_sota.published.maximum_numbers import (
    better_law,
    default_law,
    single_interval,
    table_1_laws,
    uniform_field,
)

if TYPE_CHECKING:
    import pandas as pd


Published = dict[str, Any]
_OFFSETS = {"n_classifiers": "n_test", "n_test": "skill", "skill": "n_classifiers"}
_CORRELATIONS = 41
_WIDTHS = 49


def figure_2_data(published: Published) -> "pd.DataFrame":
    """Cdf and pmf of the sample maximum: ``count``, ``score``, ``cdf``, ``pmf``."""
    return _law_data(default_law(published), published["figure2"])


def figure_6_data(published: Published) -> "pd.DataFrame":
    """The same for classifiers with uniform skills, row 2 of Table 1."""
    return _law_data(table_1_laws(published)[1], published["figure6"])


def _law_data(law: MaximumLaw, part: Published) -> "pd.DataFrame":
    import pandas as pd

    count = np.arange(part["from_count"], part["to_count"] + 1)
    return pd.DataFrame(
        {"count": count, "score": count / law.n_test, "cdf": law.cdf(count), "pmf": law.pmf(count)}
    )


def figure_3_data(published: Published) -> "pd.DataFrame":
    """Pmfs of two single classifiers, and marks on the axis.

    Columns ``quantity``, ``skill``, ``count``, ``score``, ``value``. The marks are the interval of
    the first classifier, the expected sample maximum, its upper limit (scores in ``value``), and
    the probabilities that the second classifier reaches the one and exceeds the other.
    """
    import pandas as pd

    defaults = published["defaults"]
    n, many, better = defaults["n_test"], default_law(published), better_law(published)
    low, high = single_interval(published)
    worse = default_law(published, n_classifiers=1)
    count = np.arange(round(0.875 * n), round(0.93 * n) + 1)
    curves = [
        pd.DataFrame(
            {"quantity": "pmf", "skill": law.theta_sota, "count": count, "score": count / n,
             "value": law.pmf(count)}
        )
        for law in (worse, better)
    ]  # fmt: skip
    marks = _figure_3_marks(many, better, low, high)
    rows = pd.DataFrame({"quantity": list(marks), "value": list(marks.values())})
    return pd.concat([*curves, rows.astype({"value": float})], ignore_index=True)


def _figure_3_marks(
    many: MaximumLaw, better: MaximumLaw, low: float, high: float
) -> dict[str, float]:
    n, upper = many.n_test, many.interval()[1]
    return {
        "interval_low": low,
        "interval_high": high,
        "expected_maximum": many.mean(),
        "upper_limit": upper,
        "p_beats_expected": float(better.sf(int(many.mean() * n))),
        "p_exceeds_upper": float(better.sf(round(upper * n))),
    }


def figure_4_data(published: Published) -> "pd.DataFrame":
    """Bias and sd against each parameter.

    Columns ``varied``, ``value``, ``offset_of``, ``offset``, ``bias``, ``sd``.
    """
    import pandas as pd

    rows = [
        _figure_4_row(published, varied, value, offset_of, offset)
        for varied, offset_of in _OFFSETS.items()
        for offset in published["figure4"][offset_of]
        for value in _figure_4_grid(varied, published)
    ]
    return pd.DataFrame(rows)


def _figure_4_grid(varied: str, published: Published) -> NDArray[np.float64]:
    grid = {
        "n_classifiers": np.round(np.geomspace(1, 100_000, 46)),
        "n_test": np.round(np.geomspace(300, 100_000, 46)),
        "skill": np.linspace(0.5, 0.995, 46),
    }[varied]
    return np.unique(np.append(grid, published["figure4"][varied]))


def _figure_4_row(
    published: Published, varied: str, value: float, offset_of: str, offset: float
) -> dict[str, Any]:
    changed = {varied: float(value) if varied == "skill" else int(value), offset_of: offset}
    law = default_law(published, **changed)
    return {
        "varied": varied, "value": float(value), "offset_of": offset_of, "offset": float(offset),
        "bias": law.bias(), "sd": law.std(),
    }  # fmt: skip


def figure_5_data(published: Published) -> "pd.DataFrame":
    """Bias and sd against width and correlation.

    Columns ``panel``, ``width``, ``correlation``, ``bias``, ``sd``. Panel "width" has independent
    classifiers; panel "correlation" has one curve per width, cut on the right where some skill of
    the field makes the correlation infeasible (Eq. 8).
    """
    import pandas as pd

    part = published["figure5"]
    grid = part["largest_width"] * np.linspace(0, 1, _WIDTHS) ** 2  # steep at the start
    widths = np.append(grid, part["widths"])
    rows = [_figure_5_row(published, "width", width, 0.0) for width in np.unique(widths)]
    rows += [
        _figure_5_row(published, "correlation", width, correlation)
        for width in part["widths"]
        for correlation in _feasible_grid(published, width)
    ]
    return pd.DataFrame(rows)


def _field(published: Published, width: float) -> Any:
    table, m = published["table1"], published["defaults"]["n_classifiers"]
    return uniform_field(width, table["theta_sota"], m) if width > 0 else table["theta_sota"]


def _feasible_grid(published: Published, width: float) -> NDArray[np.float64]:
    table, field = published["table1"], _field(published, width)
    ends = [field, field] if width == 0 else [float(field.low), float(field.high)]
    largest = round(float(feasible_correlation(ends, table["reference_skill"]).min()), 12)
    grid = largest * np.sin(np.linspace(0, np.pi / 2, _CORRELATIONS))  # steep at the end
    return np.unique(np.append(grid, [c for c in (table["correlation"],) if c <= largest]))


def _figure_5_row(
    published: Published, panel: str, width: float, correlation: float
) -> dict[str, Any]:
    law = default_law(
        published,
        skill=_field(published, width),
        correlation=float(correlation),
        reference_skill=published["table1"]["reference_skill"],
    )
    return {
        "panel": panel, "width": float(width), "correlation": float(correlation),
        "bias": law.bias(), "sd": law.std(),
    }  # fmt: skip
