"""What fits say beside skills: predicted and observed wins, mean scores.

Figures 5 and 6 of Gosiewska et al. (2022), whose boards are others.
``tests/epp/test_plots_fit.py`` reads the artists back.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from arviz_plots import PlotCollection

from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    make_ticks,
    spread_out,
)
from bayes_sota.core.plots_matrix import Axis, draw_bars
from bayes_sota.core.text import shown_name
from bayes_sota.core.types import FloatArray
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.plots import finished, odds_axis
from bayes_sota.epp.simulate import reliability

_MOST_NAMED = 20


def plot_reliability(
    fit: BradleyTerryFit,
    *,
    n_bins: int = 10,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw the observed share of wins against the predicted one (Fig. 5 of the EPP paper).

    Parameters
    ----------
    fit : BradleyTerryFit
    n_bins : int
        Of as many pairs each.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``wins``: the line ``equal``, the dots ``pairs``
        of single pairs and ``bins`` of their means, and the bars ``interval`` (95 %, NaN between
        them).

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament(np.linspace(2, -2, 20), 50, random_seed=0))
    >>> figure = plot_reliability(fit, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    'Predicted and observed shares of wins differ by 0.03 on average'
    """
    bins = reliability(fit, n_bins)
    where = {"plot_collection": plot_collection, **pc_kwargs}
    limits = make_bounds(0.0, 1.0)
    panel = Panel(make_collection({"wins": limits}, figsize=(5.6, 5.2), **where), "wins")
    panel.line("equal", [0.5, 1.0], [0.5, 1.0], COLORS["prior"])
    panel.dots("pairs", bins.pairs_predicted, bins.pairs_observed, COLORS["prior"], size=4)
    ends = np.column_stack([bins.lower, bins.upper])
    here = np.repeat(bins.predicted[:, None], 2, axis=1)
    draw_bars(panel, "interval", here, ends, COLORS["theta_sota"], 1.8)
    panel.dots("bins", bins.predicted, bins.observed, COLORS["theta_sota"], size=30)
    x = Axis("predicted probability that the better player wins", 0.48, 1.02, *make_ticks(0.5, 1))
    low = min(float(np.nanmin([bins.pairs_observed.min(), np.nanmin(ends)])), 0.45)
    y = Axis("observed share of wins", low - 0.03, 1.03, *make_ticks(low, 1.0))
    said = f"Predicted and observed shares of wins differ by {bins.mean_error:.2f} on average"
    return finished(panel, x, y, said)


def plot_mean_scores(
    fit: BradleyTerryFit,
    *,
    ci_prob: float = 0.95,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw the mean score of every player against its EPP (Fig. 6 of the EPP paper).

    Parameters
    ----------
    fit : BradleyTerryFit
        Of scores; players are named where they are no more than twenty.
    ci_prob : float
        Probability of the intervals of EPP.
    plot_collection, **pc_kwargs
        As of ``plot_reliability``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``score``: the dots ``player``, the bars
        ``interval`` (NaN between them), and texts ``name_0``, ``name_1``, ...
        with lines ``to_0``, ...

    Raises
    ------
    InputError
        A fit of listed matches, which have no scores.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament([2, 1, 0, -1, -2], 50, random_seed=0))
    >>> figure = plot_mean_scores(fit, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    'Mean scores order 10 of 10 pairs of players as EPP does'
    """
    if not isinstance(fit.data, ScoreTable):
        raise InputError("mean scores are of a table of scores: listed matches have none")
    means = np.nanmean(fit.data.oriented, axis=0)
    where = {"plot_collection": plot_collection, **pc_kwargs}
    intervals = fit.interval(ci_prob)
    label = "and the probability of beating an average player"
    x = odds_axis(f"EPP with its {100 * ci_prob:.3g}% interval, {label}", intervals)
    room = 0.06 * float(np.ptp(means)) or 0.01
    low, high = float(means.min()) - room, float(means.max()) + room
    turned = " (errors with the sign turned)" if fit.data.lower_is_better.any() else ""
    y = Axis(f"mean score{turned}", low, high, *make_ticks(low, high))
    collection = make_collection({"score": make_bounds(x.low, x.high)}, figsize=(7.4, 4.6), **where)
    panel = Panel(collection, "score")
    heights = np.repeat(means[:, None], 2, axis=1)
    draw_bars(panel, "interval", intervals, heights, COLORS["prior"], 1.0)
    panel.dots("player", fit.epp, means, COLORS["theta_sota"], size=26)
    if len(fit.players) <= _MOST_NAMED:
        x = _name_players(panel, fit.players, np.column_stack([intervals[:, 1], means]), x, room)
    above, of = _same_order(fit, means)
    return finished(panel, x, y, f"Mean scores order {above} of {of} pairs of players as EPP does")


def _name_players(
    panel: Panel, players: Sequence[str], ends: FloatArray, x: Axis, room: float
) -> Axis:
    """Names on the right, a thin line from the end of each interval; the axis with their room."""
    order = np.argsort(ends[:, 1], kind="stable")
    spread = spread_out(ends[order, 1].tolist(), 0.8 * room)
    at = x.high + 0.03 * (x.high - x.low)
    for k, height in zip(order, spread, strict=True):
        panel.line(f"to_{k}", [ends[k, 0], at], [ends[k, 1], height], COLORS["prior"], width=0.4)
        panel.text(f"name_{k}", at, height, shown_name(players[k]), side="left")
    return replace(x, high=at + 0.55 * (x.high - x.low))


def _same_order(fit: BradleyTerryFit, means: Any) -> tuple[int, int]:
    """Pairs of players in the same order, and all of them."""
    first, second = np.triu_indices(len(means), 1)
    one = np.sign((fit.epp[first] - fit.epp[second]).round(9))
    other = np.sign(np.round(means[first] - means[second], 12))
    return int(np.sum(one == other)), first.size
