"""How the best skill moves with what is assumed, and the skills of entries.

Draws tables and computes nothing; ``tests/leaderboard/test_plots.py`` reads the intervals back.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from arviz_plots import PlotCollection

from bayes_sota.core.arguments import COUNT
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import COLORS, Panel, plot_forest, rounded, title_figure
from bayes_sota.core.tables import Report
from bayes_sota.leaderboard.summary_words import setting_of

_COLUMNS = ("assumption", "value", "mean", "lower", "upper")


def plot_sensitivity(
    rows: pd.DataFrame,
    *,
    observed_maximum: float | None = None,
    ci_prob: float = 0.95,
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
    **pc_kwargs
        ``plot_collection`` to draw into, and arguments of ``PlotCollection.grid``, such as
        ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``interval`` and ``mean`` of the result, ``interval_weak`` and
        ``mean_weak`` of the other rows, and ``baseline``; each with the variable ``skill``.

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
    >>> figure.viz["mean_weak"]["skill"].item()["x"].tolist()
    [0.911]
    """
    lacking = [name for name in _COLUMNS if name not in rows] or ["a row"] * rows.empty
    if lacking:
        raise InputError(f"the table of sensitivity lacks {', '.join(lacking)}")
    first, *others = rows.to_dict("records")
    shown = [
        row | {"name": _label(row), "interval": [row["lower"], row["upper"]]}
        for row in (first, *({**row, "weak": True} for row in others))
    ]
    more = [] if observed_maximum is None else [observed_maximum]
    label = f"skill of the best classifier: mean and {ci_prob:.0%} interval"
    panel = plot_forest(shown, label, holds=more, **pc_kwargs)
    color = COLORS["theta_sota"]
    panel.span("baseline_interval", (first["lower"], first["upper"]), color, 0.12)
    panel.vline("baseline", first["mean"], color)
    for best in more:
        side = "left" if best >= first["mean"] else "right"
        panel.vline("observed_maximum", best, COLORS["observed_maximum"])
        text = f" observed maximum {best:.5g} "
        panel.text("observed_maximum_label", best, 0.5, text, side=side)
    title_figure(panel.collection, _finding(first, others))
    return panel.collection


def _label(row: Mapping[Any, Any]) -> str:
    return f"{row['assumption'].replace('_', ' ')} {setting_of(row)}".rstrip()


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


def plot_skills(rows: Sequence[dict[str, Any]], label: str, **where: Any) -> Panel:
    """Skills of entries as JSON has them, with their intervals and scores; grey if not the best.

    Parameters
    ----------
    rows : sequence of dict
        ``name``, ``skill`` with its ``mean`` and ``interval``, ``score``, and maybe
        ``tied_with_best``.
    label : str
        Of the axis.
    **where
        As of ``bayes_sota.core.plots.plot_forest``.
    """
    shown = [row | row["skill"] | {"weak": not row.get("tied_with_best", True)} for row in rows]
    return plot_forest(shown, label, score="score", **where)


def plot_entries(
    table: Report,
    *,
    top: int = 20,
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
    **pc_kwargs
        ``plot_collection`` to draw into, and arguments of ``PlotCollection.grid``, such as
        ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz`` from the best score down: ``interval`` and ``mean``, with the ending
        ``_weak`` of entries that cannot be the best, and ``score``, each with the variable
        ``skill``; ``ranks_0``, ``tier_0``, ... with the variable ``rank``.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard([0.93, 0.90, 0.91, 0.88], n_test=500, names=list("abcd"))
    >>> figure = plot_entries(bs.board_table(board, random_seed=0), backend="none")
    >>> figure.viz["score"]["skill"].item()["x"].tolist()
    [0.93, 0.91, 0.9, 0.88]
    >>> figure.viz["tier_0"]["rank"].item()["string"]
    'tier 1'
    """
    COUNT.check(top, "top")
    entries, m = table.content["entries"][:top], table.content["n_entries"]
    last = max(row["rank_set"][1] for row in entries)
    label = f"skill: mean and {table.content['prob']:.0%} interval"
    collection = plot_skills(entries, label, beside=["rank"], **pc_kwargs).collection
    panel = Panel(collection, "rank")
    for index, row in enumerate(entries):
        low, high = row["rank_set"]
        wider = 0.012 * last * (low == high)  # a set of one rank has to be seen as well
        color = COLORS["theta_sota" if row["tied_with_best"] else "prior"]
        panel.bars(f"ranks_{index}", [(low - wider, high + wider)], -index, color, 5)
        tier = f"tier {row['tier']}"
        panel.text(f"tier_{index}", high + 0.04 * last, -index, tier, side="left")
    together = "" if table.content["ranks"] == "each" else ", all at once"
    limits = 1, 1.3 * last  # a tier's number stands behind its bar
    panel.set_axes(f"ranks by skill{together}", limits, (0.4 - len(entries), 0.6))
    cut = f"; the first {top:,} are shown" if top < m else ""
    tied = f"{table.content['n_tied_with_best']:,} of {m:,} entries may be the best"
    title_figure(collection, tied + cut)
    return collection
