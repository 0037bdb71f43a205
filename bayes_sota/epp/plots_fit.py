"""What fits say beside skills: wins, mean scores, families of players, errors by rounds.

Figures 4 to 6 of Gosiewska et al. (2022), whose boards are others.
``tests/epp/test_plots_fit.py`` and ``tests/epp/test_plots_families.py`` read the artists back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from arviz_plots import PlotCollection

from bayes_sota.core.arguments import COUNT
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
from bayes_sota.core.text import counted, shown_name
from bayes_sota.core.types import FloatArray
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.further_fits import TournamentLeaderboard
from bayes_sota.epp.plots import finished, odds_axis
from bayes_sota.epp.simulate import reliability
from bayes_sota.epp.tuning import families_of

_MOST_NAMED = 20
_GAP = 0.7  # between tournaments, in rows
_REACH = 1.5  # of whiskers, in widths of the box
_COLORS = ("theta_sota", "winner_skill", "expected_sota", "dark", "prior")


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


def plot_learning_curve(
    points: Sequence[Mapping[str, Any]],
    *,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw how standard errors of skills fall with the number of rounds.

    Parameters
    ----------
    points : sequence of mapping
        ``rounds``, ``se`` (None for more rounds than there are) and ``predicted_se``: the key
        ``learning_curve`` of ``bayes_sota.epp.report_plan``.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``se``: the line ``expected`` and the dots
        ``seen``.

    Raises
    ------
    InputError
        Fewer than two points.

    Examples
    --------
    >>> points = [{"rounds": n, "se": n**-0.5, "predicted_se": n**-0.5} for n in (5, 10, 20)]
    >>> figure = plot_learning_curve(points, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    'With 20 rounds the median standard error is 0.22'
    """
    if len(points) < 2:
        raise InputError("a learning curve has at least two points")
    rounds, expected = (
        np.array([one[name] for one in points], np.float64) for name in ("rounds", "predicted_se")
    )
    seen = np.array([np.nan if one["se"] is None else one["se"] for one in points], np.float64)
    top = 1.12 * float(np.nanmax([seen, expected]))
    limits = make_bounds(0.0, 1.05 * float(rounds.max()))
    where = {"plot_collection": plot_collection, **pc_kwargs}
    panel = Panel(make_collection({"se": limits}, figsize=(6.4, 3.8), **where), "se")
    fine = np.linspace(rounds.min(), rounds.max(), 200)
    logarithms = np.interp(np.log(fine), np.log(rounds), np.log(expected))
    panel.line("expected", fine, np.exp(logarithms), COLORS["theta_sota"])
    known = np.isfinite(seen)
    panel.dots("seen", rounds[known], seen[known], "black")
    label = "rounds\n(line: expected from all rounds; dots: of random parts of them)"
    numbers = [int(n) for n in rounds]
    x = Axis(label, 0.0, float(limits[1]), numbers, [f"{n:,}" for n in numbers])
    y = Axis("standard error of a skill (logits)", 0.0, top, *make_ticks(0.0, top))
    last = int(np.flatnonzero(known)[-1])
    said = f"With {int(rounds[last])} rounds the median standard error is {seen[last]:.2f}"
    return finished(panel, x, y, said)


def plot_families(
    result: BradleyTerryFit | Sequence[TournamentLeaderboard],
    separator: str,
    *,
    most: int = 8,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw the skills of every family as a box, by tournament (Fig. 4 of the EPP paper).

    Boxes hold the middle half, white dots are medians; whiskers end at the last skill within 1.5
    widths of the box, and dots are skills beyond.

    Parameters
    ----------
    result : BradleyTerryFit or sequence of TournamentLeaderboard
    separator : str
        What stands after the family in the names of players.
    most : int
        Tournaments drawn; the title says if that leaves some out.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``epp``: ``average``, and for the k-th family
        ``whisker_k`` and ``box_k`` (bars, NaN between them), ``median_k`` and, where there are any,
        ``beyond_k``.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> names = ["svm_1", "svm_2", "svm_3", "knn_1", "knn_2", "knn_3"]
    >>> skills = [2.0, 0.0, -2.0, 0.5, 0.4, 0.3]
    >>> fit = fit_epp(simulate_tournament(skills, 40, players=names, random_seed=0))
    >>> plot_families(fit, "_", backend="none").viz["figure_title"].item()["string"]
    'Skills of svm are spread the most: there tuning matters most'
    """
    COUNT.check(most, "most")
    boards: Sequence[Any] = [result] if isinstance(result, BradleyTerryFit) else result
    drawn = [(board.tournament, _by_family(board, separator)) for board in boards[:most]]
    names = list(dict.fromkeys(name for _, families in drawn for name in families))
    rows = [(place, name) for place, (_, of) in enumerate(drawn) for name in names if name in of]
    at = {row: -(number + _GAP * row[0]) for number, row in enumerate(rows)}
    heights = list(at.values())
    x = odds_axis(
        "EPP, and the probability of beating an average player",
        np.concatenate([x for _, families in drawn for x in families.values()]),
    )
    texts: list[str] = []
    for tournament, families in drawn:
        title = f"{shown_name(tournament, 20)}   " if len(drawn) > 1 else ""
        first, *others = [shown_name(name, 24) for name in names if name in families]
        texts += [f"{title}{first}", *others]
    y = Axis("", min(heights) - 0.7, 0.7, heights, texts, boxed=False)
    size = (7.4, 1.6 + 0.27 * (0.7 - y.low))
    where = {"plot_collection": plot_collection, **pc_kwargs}
    collection = make_collection({"epp": make_bounds(x.low, x.high)}, figsize=size, **where)
    panel = Panel(collection, "epp")
    panel.vline("average", 0.0, COLORS["prior"])
    for k, name in enumerate(names):
        places = [(at[place, name], of[name]) for place, (_, of) in enumerate(drawn) if name in of]
        _draw_boxes(panel, k, np.array([height for height, _ in places]), [x for _, x in places])
    return finished(panel, x, y, _finding(drawn, names, len(boards)))


def _by_family(board: Any, separator: str) -> dict[str, FloatArray]:
    """Skills of each family."""
    of = np.array(families_of(board.players, separator))
    return {name: board.epp[of == name] for name in dict.fromkeys(of.tolist())}


def _draw_boxes(panel: Panel, k: int, heights: FloatArray, skills: Sequence[FloatArray]) -> None:
    """Boxes of one family, a row each."""
    color = COLORS[_COLORS[k % len(_COLORS)]]
    quarters = np.array([np.quantile(x, [0.25, 0.5, 0.75]) for x in skills])
    reach = _REACH * (quarters[:, 2] - quarters[:, 0])
    inside = [
        (x >= low) & (x <= high)
        for x, low, high in zip(skills, quarters[:, 0] - reach, quarters[:, 2] + reach, strict=True)
    ]
    ends = np.array([[x[i].min(), x[i].max()] for x, i in zip(skills, inside, strict=True)])
    draw_bars(panel, f"whisker_{k}", ends, heights[:, None], color, 1.0)
    draw_bars(panel, f"box_{k}", quarters[:, [0, 2]], heights[:, None], color, 6.0)
    beyond = [x[~i] for x, i in zip(skills, inside, strict=True)]
    if any(x.size for x in beyond):
        rows = np.repeat(heights, [x.size for x in beyond])
        panel.dots(f"beyond_{k}", np.concatenate(beyond), rows, color, size=5)
    panel.dots(f"median_{k}", quarters[:, 1], heights, "white", size=12)


def _finding(
    drawn: Sequence[tuple[str, dict[str, FloatArray]]], names: Sequence[str], count: int
) -> str:
    """The family whose skills are spread the most, by the mean width of its boxes."""
    widths = {
        name: np.mean(
            [np.subtract(*np.quantile(of[name], [0.75, 0.25])) for _, of in drawn if name in of]
        )
        for name in names
    }
    widest = shown_name(max(widths, key=lambda name: widths[name]), 40)
    said = f"Skills of {widest} are spread the most: there tuning matters most"
    if len(names) == 1:
        said = f"Skills of {widest}"
    left = f"\nthe first {len(drawn)} of {counted(count, 'tournament')} are drawn"
    return said + (left if len(drawn) < count else "")
