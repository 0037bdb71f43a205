"""How the best skill moves with what is assumed, and the skills of entries.

Draws tables and computes nothing; ``tests/leaderboard/test_plots.py`` reads the intervals back.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

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
    "n_classifiers": "number of classifiers ×",
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
        Artists in ``viz``: ``interval_0``, ``skill_0``, ``interval_1``, ... for the rows of the
        table, and ``baseline``; each with the variable ``skill``.

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
    >>> figure.viz["interval_1"]["skill"].item()["x"].tolist()
    [0.905, 0.917]
    """
    check_columns(rows, _COLUMNS, "the table of sensitivity")
    if not len(rows):
        raise InputError("the table of sensitivity has no row")
    first, *others = rows.to_dict("records")
    shown = [
        {
            "name": _label(row),
            "skill": {"mean": row["mean"], "interval": [row["lower"], row["upper"]]},
            "tied_with_best": row is first,
        }
        for row in (first, *others)
    ]
    more = [] if observed_maximum is None else [observed_maximum]
    label = f"skill of the best classifier: mean and {ci_prob:.0%} interval"
    collection = draw_intervals(
        shown, label, more=more, plot_collection=plot_collection, **pc_kwargs
    )
    panel, color = Panel(collection, "skill"), COLORS["theta_sota"]
    panel.span("baseline_interval", make_bounds(first["lower"], first["upper"]), color, 0.12)
    panel.vline("baseline", first["mean"], color)
    for best in more:
        side = "left" if best >= first["mean"] else "right"
        panel.vline("observed_maximum", best, COLORS["observed_maximum"])
        text = f" observed maximum {best:.5g} "
        panel.text("observed_maximum_label", best, 0.5, text, side=side)
    title_figure(collection, _finding(first, others))
    return collection


def _label(row: Mapping[Any, Any]) -> str:
    heading, value = _HEADINGS.get(row["assumption"], row["assumption"]), row["value"]
    if isinstance(value, str):
        return f"{heading} {value}"
    return heading if pd.isna(value) else f"{heading} {value:.3g}"


def _finding(first: Mapping[Any, Any], others: Sequence[Mapping[Any, Any]]) -> str:
    """How far the furthest mean is, in interval half-widths."""
    if not others:
        return "The best classifier's skill as given"
    last = max(others, key=lambda row: abs(row["mean"] - first["mean"]))
    move, half = abs(last["mean"] - first["mean"]), (first["upper"] - first["lower"]) / 2
    return (
        f"Other assumptions move the mean by at most {move:.1g}, {move / half:.0%} of the "
        f"interval's half-width\n({rounded(first['mean'], half / 2)} as given, "
        f"{rounded(last['mean'], half / 2)} with {_label(last)})"
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
    entries, m = table.content["entries"][:top], table.content["n_entries"]
    last = max(row["rank_set"][1] for row in entries)
    limits = make_bounds(1, 1.3 * last)  # a tier's number stands behind its bar
    collection = draw_intervals(
        entries,
        f"skill: mean and {table.content['prob']:.0%} interval",
        beside={"rank": limits},
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    panel = Panel(collection, "rank")
    for index, row in enumerate(entries):
        low, high = row["rank_set"]
        wider = 0.012 * last * (low == high)  # a set of one rank has to be seen as well
        ends = make_bounds(low - wider, high + wider)
        panel.bar(f"ranks_{index}", ends, -index, _color(row), 5)
        tier = f"tier {row['tier']}"
        panel.text(f"tier_{index}", high + 0.04 * last, -index, tier, side="left")
    together = "" if table.content["ranks"] == "each" else ", all at once"
    height = (0.6 - len(entries), 0.6)
    panel.set_axes(limits, xlabel=f"ranks by skill{together}", xlim=limits, ylim=height)
    cut = f"; the first {top:,} are shown" if top < m else ""
    tied = f"{table.content['n_tied_with_best']:,} of {m:,} entries may be the best"
    title_figure(collection, tied + cut)
    return collection


def _color(entry: Mapping[str, Any]) -> str:
    """Blue of what may be the best, or of anything that is not said to be no such."""
    return COLORS["theta_sota" if entry.get("tied_with_best", True) else "prior"]


def draw_intervals(
    rows: Sequence[Mapping[str, Any]],
    label: str,
    *,
    more: Sequence[float] = (),
    beside: Mapping[str, xr.DataArray] = MappingProxyType({}),
    **where: Any,
) -> PlotCollection:
    """Skills with their intervals, one row each, and a black line at each score.

    Parameters
    ----------
    rows : sequence of mapping
        From the top: ``name``, ``skill`` with ``mean`` and ``interval``, as in JSON, and maybe
        ``score``; those that are not ``tied_with_best`` are grey.
    label : str
        What dots and bars are.
    more : sequence of float
        Other numbers that the axis holds.
    beside : mapping of name -> DataArray
        Other panels, to the right.
    **where
        ``plot_collection`` and what ``PlotCollection.grid`` takes.
    """
    scored = [row for row in rows if "score" in row]
    ends = [*more, *(row["score"] for row in scored)]
    ends += [end for row in rows for end in row["skill"]["interval"]]
    low, high = min(ends), max(ends)
    margin = 0.05 * (high - low)
    shares = low >= 0 and high <= 1  # whose axis stays within 0 and 1
    limits = make_bounds(
        max(0.0, low - margin) if shares else low - margin,
        min(1.0, high + margin) if shares else high + margin,
    )
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
        if "score" in row:
            best = COLORS["observed_maximum"]
            panel.dots(f"score_{index}", row["score"], -index, best, marker="|")
    names = [shown_name(row["name"]) for row in rows]
    panel.set_axes(
        limits,
        xlabel=label + "; line: score" * bool(scored),
        xlim=limits,
        ylim=(0.6 - len(rows), 0.9 if more else 0.6),
        yticks=lambda _: ([-float(i) for i in range(len(rows))], names),
    )
    return collection
