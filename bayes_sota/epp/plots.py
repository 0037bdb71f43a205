"""Figures of the skills of players, from their summaries.

``tests/epp/test_plots.py`` reads the artists back.
"""

from typing import Any

import numpy as np
import xarray as xr
from arviz_plots import PlotCollection
from scipy.special import expit

from bayes_sota.core.arguments import COUNT
from bayes_sota.core.plots import make_ticks, plot_differences, plot_forest, title_figure
from bayes_sota.core.text import shown_name
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.summary import epp_table

type Result = BradleyTerryFit | xr.DataTree


def plot_epp(
    result: Result, *, ci_prob: float = 0.95, most: int = 100, **pc_kwargs: Any
) -> PlotCollection:
    """Draw the EPP of every player and its intervals, the best first.

    Filled dots may be the best, by ranks that hold for all at once. Thick bars hold for one player,
    thin bars (fits only) for all at once.

    Parameters
    ----------
    result : BradleyTerryFit or DataTree
        A fit, or a result with ``epp`` in the group ``posterior``.
    ci_prob : float
        Probability of the intervals, and of the comparison with the best.
    most : int
        Players drawn at most.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        With the artists of ``core.plots.plot_forest``, of the variable ``epp``.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> fit = bs.fit_epp([1.5, 1.2, 0, -2] + np.random.default_rng(2).gumbel(size=(40, 4)))
    >>> plot_epp(fit, backend="none").viz["figure_title"].item()["string"]
    '2 of 4 players may be the best (filled dots)'
    """
    COUNT.check(most, "most")
    players = epp_table(result, ci_prob).content["players"]
    tied = [row["player"] for row in players if row["rank_interval"][0] == 1]
    rows = [
        {"name": f"{row['rank']}  {shown_name(row['player'], 32)}", "mean": row["epp"]}
        | {"interval": row["interval"], "weak": row["rank_interval"][0] != 1}
        for row in players[:most]
    ]
    bars = f"{100 * ci_prob:.3g}% interval of each"
    if isinstance(result, BradleyTerryFit):
        outer = result.interval(ci_prob, "simultaneous")[np.argsort(-result.epp, kind="stable")]
        rows = [row | {"outer": ends} for row, ends in zip(rows, outer, strict=False)]
        bars += "; thin: all players at once"
    ends = np.array([[row["mean"], *row["interval"], *row.get("outer", ())] for row in rows])
    finite = ends[np.isfinite(ends)]
    places, texts = make_ticks(float(finite.min()), float(finite.max()))
    chances = [
        f"{x}\n{expit(at):.{int(abs(at) > 4.6)}%}" for at, x in zip(places, texts, strict=True)
    ]
    label = f"EPP, and the probability of beating an average player\n(thick bar: {bars})"
    panel = plot_forest(rows, label, variable="epp", xticks=(places, chances), **pc_kwargs)
    title = f"{len(tied):,} of {len(players):,} players may be the best (filled dots)"
    if len(tied) == 1:
        title = f"{shown_name(tied[0])} is the best of {len(players):,} players"
    title += f"\nthe first {most:,} are drawn" * (len(players) > most)
    title_figure(panel.collection, title)
    return panel.collection


def plot_critical_differences(
    fit: BradleyTerryFit, *, ci_prob: float = 0.95, most: int = 20, **pc_kwargs: Any
) -> PlotCollection:
    """Draw the EPP of the best players on an axis, and bars over those that may be equal.

    A critical-difference diagram (Demsar 2006): players on one bar are not distinguished by tests
    of all pairs at once (``BradleyTerryFit.certainly_better``).

    ``ci_prob`` is the confidence of all pairs together; ``most`` and ``pc_kwargs`` as in
    ``plot_epp``.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> fit = bs.fit_epp([1.5, 1.2, 0, -2] + np.random.default_rng(2).gumbel(size=(40, 4)))
    >>> figure = plot_critical_differences(fit, backend="none")
    >>> figure.viz["figure_title"].item()["string"].splitlines()[0]
    '5 of 6 pairs of players can be distinguished'
    """
    COUNT.check(most, "most")
    better, m = fit.certainly_better(ci_prob), len(fit.players)
    drawn = np.argsort(-fit.epp, kind="stable")[:most]
    names, apart = [fit.players[k] for k in drawn], better[np.ix_(drawn, drawn)]
    panel = plot_differences(names, fit.epp[drawn], apart, "EPP", **pc_kwargs)
    title = f"{better.sum():,} of {m * (m - 1) // 2:,} pairs of players can be distinguished"
    joined = f"players on one bar cannot be distinguished ({100 * ci_prob:.3g}%, all pairs at once)"
    cut = f"\nthe first {most:,} are drawn" * (m > most)
    title_figure(panel.collection, f"{title}\n{joined}{cut}")
    return panel.collection
