"""How the best skill moves with what is assumed, and the skills of entries.

Draws tables and computes nothing; ``tests/leaderboard/test_plots.py`` reads the intervals back.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from arviz_plots import PlotCollection

from bayes_sota.core.arguments import COUNT
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    check_columns,
    make_bounds,
    make_collection,
    rounded,
    title_figure,
)
from bayes_sota.core.tables import Report
from bayes_sota.core.text import shown_name

_COLUMNS = ("assumption", "value", "mean", "lower", "upper")
_HEADINGS = {
    "as given": "as given",
    "n_classifiers": "number of classifiers",
    "reference_skill": "skill of the reference",
    "rho": "correlation",
    "rho learnt from the scores": "correlation learnt (mean)",
    "family": "shape of skills:",
    "submission_luck": "luck of submissions",
    "spread": "spread of skills",
    "spread_ratio": "spread ratio of scores",
}


def plot_sensitivity(
    rows: pd.DataFrame,
    *,
    observed_maximum: float | None = None,
    ci_prob: float = 0.95,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Posterior mean and interval of ``theta_sota`` under other assumptions, one row each.

    The first row is the result itself; its mean and interval are the line and the band behind the
    others. A row that leaves the band shows an assumption that the answer hinges on.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns ``assumption``, ``value``, ``mean``, ``lower``, ``upper``, as of
        ``sota_sensitivity``. Of the assumption ``n_classifiers`` the value is a factor, of
        ``family`` a name.
    observed_maximum : float, optional
        Drawn as a black line, an observed score.
    ci_prob : float
        Probability of the intervals in the table, for the axis label.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``interval_0``, ``mean_0``, ``interval_1``, ... for the rows of the
        table, and ``baseline``; each with the variable ``theta_sota``.

    Raises
    ------
    InputError
        A column is missing, or there is no row.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame(
    ...     {"assumption": ["as given", "rho"], "value": [float("nan"), 0.9],
    ...      "mean": [0.9112, 0.9110], "lower": [0.906, 0.905], "upper": [0.916, 0.917]}
    ... )
    >>> figure = plot_sensitivity(rows, backend="none")
    >>> figure.viz["interval_1"]["theta_sota"].item()["x"].tolist()
    [0.905, 0.917]
    """
    check_columns(rows, _COLUMNS, "the table of sensitivity")
    if not len(rows):
        raise InputError("the table of sensitivity has no row")
    table: list[Any] = list(rows.itertuples(index=False))
    size, limits = (7.4, 1.6 + 0.32 * len(table)), _limits(table, observed_maximum)
    where: Any = {"plot_collection": plot_collection, **pc_kwargs}
    collection = make_collection({"theta_sota": limits}, figsize=size, **where)
    panel, levels = Panel(collection, "theta_sota"), _levels(table)
    _draw_baseline(panel, table[0], observed_maximum)
    for index, row in enumerate(table):
        color = COLORS["winner_skill" if index else "theta_sota"]
        panel.bar(f"interval_{index}", make_bounds(row.lower, row.upper), levels[index], color)
        panel.dots(f"mean_{index}", row.mean, levels[index], color)
    panel.set_axes(
        limits,
        xlabel=f"skill of the best classifier: mean and {ci_prob:.0%} interval",
        xlim=limits,
        ylim=(levels[-1] - 0.6, 0.6 if observed_maximum is None else 1.4),
        yticks=lambda _: (levels, [_label(row) for row in table]),
    )
    title_figure(collection, _finding(table))
    return collection


def _levels(table: list[Any]) -> list[float]:
    """Height of every row, with a gap where the assumption changes."""
    names = np.array([row.assumption for row in table])
    gaps = np.concatenate([[0], np.cumsum(names[1:] != names[:-1])])
    return [-float(row + 0.6 * gap) for row, gap in enumerate(gaps)]


def _draw_baseline(panel: Panel, value: Any, observed_maximum: float | None) -> None:
    color = COLORS["theta_sota"]
    panel.span("baseline_interval", make_bounds(value.lower, value.upper), color, 0.12)
    panel.vline("baseline", value.mean, color)
    if observed_maximum is not None:
        text = f" observed maximum {observed_maximum:.5g} "
        side = "left" if observed_maximum >= value.mean else "right"
        panel.vline("observed_maximum", observed_maximum, COLORS["observed_maximum"])
        panel.text("observed_maximum_label", observed_maximum, 1.0, text, side=side)


def _label(row: Any) -> str:
    heading: str = _HEADINGS.get(row.assumption, row.assumption)
    if isinstance(row.value, str):
        return f"{heading} {row.value}"
    if np.isnan(row.value):
        return heading
    times = row.assumption == "n_classifiers"
    return f"{heading} × {row.value:g}" if times else f"{heading} = {row.value:.3g}"


def _limits(table: list[Any], observed_maximum: float | None) -> xr.DataArray:
    extra = [] if observed_maximum is None else [observed_maximum]
    low = min([*(row.lower for row in table), *extra])
    high = max([*(row.upper for row in table), *extra])
    return _padded(low, high)


def _padded(low: float, high: float) -> xr.DataArray:
    """Ends of an axis a little further apart; those of shares stay within 0 and 1."""
    margin = 0.05 * (high - low)
    if low >= 0 and high <= 1:
        return make_bounds(max(0.0, low - margin), min(1.0, high + margin))
    return make_bounds(low - margin, high + margin)


def _finding(table: list[Any]) -> str:
    """How far the furthest mean is, in interval half-widths."""
    best = table[0]
    if len(table) == 1:
        return "The best classifier's skill as given"
    moves = np.abs(np.array([row.mean for row in table]) - best.mean)
    last = table[int(moves.argmax())]
    half = (best.upper - best.lower) / 2
    return (
        f"Other assumptions move the mean by at most {moves.max():.1g}, "
        f"{moves.max() / half:.0%} of the interval's half-width\n"
        f"({rounded(best.mean, half / 2)} as given, {rounded(last.mean, half / 2)} with "
        f"{_label(last)})"
    )


def plot_entries(
    table: Report,
    *,
    top: int = 20,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Ranking of the best entries: skill with its interval and the score, set of ranks, tier.

    Entries that may be the best are blue, others grey; the score is a black line. Beside it a bar
    reaches from the least to the largest rank of each entry, with the number of its tier.

    Parameters
    ----------
    table : Report
        As ``board_table`` gives it.
    top : int
        Entries shown.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``interval_0``, ``skill_0``, ``score_0``, ``interval_1``, ... from the
        best score down, each with the variable ``skill``; ``ranks_0``, ``tier_0``, ... with the
        variable ``rank``.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard([0.93, 0.90, 0.91, 0.88], n_test=500, names=list("abcd"))
    >>> figure = plot_entries(bs.board_table(board, random_seed=0), backend="none")
    >>> figure.viz["score_0"]["skill"].item()["x"].tolist()
    [0.93]
    >>> figure.viz["tier_0"]["rank"].item()["string"]
    'tier 1'
    """
    COUNT.check(top, "top")
    entries = table.content["entries"][:top]
    last = max(row["rank_set"][1] for row in entries)
    limits = make_bounds(1, 1.3 * last)  # a tier's number stands behind its bar
    where: Any = {"plot_collection": plot_collection, **pc_kwargs}
    collection = draw_intervals(
        entries,
        f"skill: mean and {table.content['prob']:.0%} interval",
        beside={"rank": limits},
        **where,
    )
    panel = Panel(collection, "rank")
    for index, row in enumerate(entries):
        low, high = row["rank_set"]
        wider = 0.012 * last * (low == high)  # a set of one rank has to be seen as well
        ends = make_bounds(low - wider, high + wider)
        panel.bar(f"ranks_{index}", ends, -index, _color(row), 5)
        place, tier = high + 0.04 * last, f"tier {row['tier']}"
        panel.text(f"tier_{index}", place, -index, tier, side="left")
    together = "" if table.content["ranks"] == "each" else ", all at once"
    panel.set_axes(
        limits,
        xlabel=f"ranks by skill{together}",
        xlim=limits,
        ylim=(0.6 - len(entries), 0.6),
    )
    tied, m = (table.content[key] for key in ("n_tied_with_best", "n_entries"))
    cut = f"; the first {top:,} are shown" if top < m else ""
    title_figure(collection, f"{tied:,} of {m:,} entries may be the best{cut}")
    return collection


def _color(entry: Mapping[str, Any]) -> str:
    """Blue of what may be the best, or of anything that is not said to be no such."""
    return COLORS["theta_sota" if entry.get("tied_with_best", True) else "prior"]


def draw_intervals(
    rows: Sequence[Mapping[str, Any]],
    label: str,
    *,
    beside: Mapping[str, xr.DataArray] = MappingProxyType({}),
    **where: Any,
) -> PlotCollection:
    """Skills with their intervals, one row each, and a black line at each score.

    Parameters
    ----------
    rows : sequence of mapping
        From the top: ``name``, ``score``, and ``skill`` with ``mean`` and ``interval``, as in JSON;
        those that are not ``tied_with_best`` are grey.
    label : str
        What dots and bars are.
    beside : mapping of name -> DataArray
        Other panels, to the right.
    **where
        ``plot_collection`` and what ``PlotCollection.grid`` takes.
    """
    ends = [x for row in rows for x in (*row["skill"]["interval"], row["score"])]
    limits = _padded(min(ends), max(ends))
    collection = make_collection(
        {"skill": limits, **beside},
        figsize=(7.4 + 3 * len(beside), 1.6 + 0.3 * len(rows)),
        across=True,
        ratios={"width_ratios": (7, *[4] * len(beside))},
        **where,
    )
    panel = Panel(collection, "skill")
    for index, row in enumerate(rows):
        skill, color = row["skill"], _color(row)
        panel.bar(f"interval_{index}", make_bounds(*skill["interval"]), -index, color)
        panel.dots(f"skill_{index}", skill["mean"], -index, color)
        panel.dots(f"score_{index}", row["score"], -index, COLORS["observed_maximum"], marker="|")
    names = [shown_name(row["name"]) for row in rows]
    panel.set_axes(
        limits,
        xlabel=f"{label}; line: score",
        xlim=limits,
        ylim=(0.6 - len(rows), 0.6),
        yticks=lambda _: ([-float(i) for i in range(len(rows))], names),
    )
    return collection
