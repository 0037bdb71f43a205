"""Figures of skills; ``tests/leaderboard/test_plots.py`` reads them back."""

from collections.abc import Sequence
from typing import Any

from arviz_plots import PlotCollection

from bayes_sota.core.arguments import COUNT, check_kind
from bayes_sota.core.plots import COLORS, Panel, plot_forest, title_figure
from bayes_sota.core.tables import Report
from bayes_sota.core.text import shown_name


def plot_skills(
    rows: Sequence[dict[str, Any]], ci_prob: float, of: str = "skill", **where: Any
) -> PlotCollection:
    """Draw skills with their intervals and scores; grey if an entry cannot be the best.

    Parameters
    ----------
    rows : sequence of dict
        As in JSON: ``name``, ``skill`` with ``mean`` and ``interval``, ``score``, and optionally
        ``tied_with_best`` and ``skill_is_known``.
    ci_prob : float
    of : str
        Quantity on the axis.
    **where
        As in ``bayes_sota.core.plots.plot_forest``.

    Examples
    --------
    >>> rows = [{"name": "a", "score": 0.9, "skill": {"mean": 0.89, "interval": [0.86, 0.92]}}]
    >>> plot_skills(rows, 0.95, backend="none").viz["mean"]["skill"].item()["x"]
    array([0.89])
    """
    shown = [row | row["skill"] | {"weak": not row.get("tied_with_best", True)} for row in rows]
    for row in (row for row in shown if row.get("skill_is_known")):
        row["name"] = f"{shown_name(row['name'], 28)} (known)"
    label = f"{of}: mean and {ci_prob:.0%} interval"
    return plot_forest(shown, label, score="score", **where).collection


def plot_entries(table: Report, *, top: int = 20, **pc_kwargs: Any) -> PlotCollection:
    """Ranking of the best entries: skill with its interval and the score, set of ranks, tier.

    Entries that may be the best are blue, others grey; the score is a black line. A bar spans the
    set of ranks, with the number of the tier.

    Parameters
    ----------
    table : Report
        As ``board_table`` gives it.
    top : int
        Entries shown.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, best score first: ``interval``, ``mean`` and ``score`` of the variable
        ``skill``; ``ranks_0``, ``tier_0``, ... of the variable ``rank``.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard([0.93, 0.90, 0.91, 0.88], n_test=500, names=list("abcd"))
    >>> figure = plot_entries(bs.board_table(board, random_seed=0), backend="none")
    >>> figure.viz["tier_0"]["rank"].item()["string"]
    'tier 1'
    """
    check_kind(table, Report, "bs.board_table(board)")
    COUNT.check(top, "top")
    entries, m = table.content["entries"][:top], table.content["n_entries"]
    last = max(row["rank_set"][1] for row in entries)
    collection = plot_skills(entries, table.content["prob"], beside=["rank"], **pc_kwargs)
    panel = Panel(collection, "rank")
    for index, row in enumerate(entries):
        low, high = row["rank_set"]
        wider = 0.012 * last * (low == high)  # a set of one rank has to be seen as well
        color = COLORS["theta_sota" if row["tied_with_best"] else "prior"]
        panel.bars(f"ranks_{index}", [(low - wider, high + wider)], -index, color, 5)
        tier = f"tier {row['tier']}"
        panel.text(f"tier_{index}", high + 0.04 * last, -index, tier)
    together = "" if table.content["ranks"] == "each" else ", all at once"
    limits = 1, 1.3 * last  # a tier's number stands behind its bar
    panel.set_axes(f"ranks by skill{together}", limits, (0.4 - len(entries), 0.6))
    cut = f"; the first {top:,} are shown" if top < m else ""
    tied = f"{table.content['n_tied_with_best']:,} of {m:,} entries may be the best"
    title_figure(collection, tied + cut)
    return collection
