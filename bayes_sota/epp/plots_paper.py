"""EPP over tournaments, a box for each family of players (Fig. 4 of the EPP paper).

Boxes are quartiles with the median; whiskers reach the last value within 1.5 interquartile ranges,
dots are beyond. ``tests/epp/test_epp_figures.py`` compares with ``numpy.quantile``.

EPP against the mean score: where the two put players in another order.

The mean depends on how much better a score is, the EPP only on which of two is better (Fig. 6 of
the EPP paper). ``tests/epp/test_epp_figures.py`` reads the artists back.

Predicted win probabilities against the frequencies of wins (Fig. 5 of the EPP paper).

Draws what was counted elsewhere; ``tests/epp/test_epp_figures.py`` reads the artists back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    plain_text,
    spread_out,
    title_figure,
)
from bayes_sota.core.types import FloatArray
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.plots import (
    Axis,
    draw_bars,
    draw_dots,
    height_of_rows,
    inside,
    number_axis,
    odds_axis,
    set_axes,
    shown_name,
)

if TYPE_CHECKING:
    from arviz_plots import PlotCollection


_MOST_FAMILIES = 8
_ALL = "all tournaments"
Boxes = dict[tuple[str, str], FloatArray]  # EPP of the players of a family in a tournament


class SkillsOfPlayers(Protocol):
    """Names and EPP of the players of one tournament, as a fit has them."""

    @property
    def players(self) -> Sequence[str]: ...
    @property
    def epp(self) -> FloatArray: ...


def plot_epp_boxplots(
    tournaments: Mapping[str, SkillsOfPlayers],
    family: Mapping[str, str] | Callable[[str], str],
    *,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Draw the EPP of every family of players in every tournament, a panel per family.

    A long box is a family whose players differ much, so that choosing among them pays. The row
    below is of all tournaments together. Families stand in the order of their medians there,
    tournaments in the given order.

    Parameters
    ----------
    tournaments : mapping of name -> fit
        Anything with ``players`` and ``epp``.
    family : mapping or callable
        Family of each player, such as its algorithm.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches. Default: as large as tournaments and families need.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``box``, ``whiskers``, ``median`` and ``outliers``, each with a variable
        per family, ``family_0`` first.

    Raises
    ------
    InputError
        No tournament, a player without a family, or more than 8 families.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> names = ["tree_1", "tree_2", "net_1", "net_2"]
    >>> found = {
    ...     "credit": SimpleNamespace(players=names, epp=np.array([1.0, 0.6, -0.5, -1.1])),
    ...     "wine": SimpleNamespace(players=names, epp=np.array([0.2, 0.1, 0.9, -1.2])),
    ... }
    >>> figure = plot_epp_boxplots(found, lambda name: name.split("_")[0], backend="none")
    >>> figure.viz["figure_title"].item()["string"].split("\\n")[0]
    'tree: median EPP 0.40,'
    """
    boxes, families = _boxes(tournaments, family)
    rows = [*tournaments, _ALL] if len(tournaments) > 1 else list(tournaments)
    x = number_axis("EPP", np.concatenate(list(boxes.values())), most=5)
    size = figsize or (max(2.6 + 1.75 * len(families), 6.0), 1.6 + height_of_rows(len(rows)))
    names = [f"family_{place}" for place in range(len(families))]
    collection = make_collection(
        {name: make_bounds(x.low, x.high) for name in names},
        backend=backend,
        figsize=size,
        across=True,
    )
    heights = [-float(row) - 0.4 * (tournament == _ALL) for row, tournament in enumerate(rows)]
    for place, (name, kind) in enumerate(zip(names, families, strict=True)):
        panel = Panel(collection, name)
        panel.vline("average", 0.0, COLORS["prior"])
        _draw_boxes(panel, [boxes.get((row, kind), np.array([])) for row in rows], heights)
        texts = [shown_name(row, 28) for row in rows] if place == 0 else []
        ticks = heights if place == 0 else []
        set_axes(panel, x, Axis("", heights[-1] - 0.6, 0.6, ticks, texts, boxed=False))
        panel.set_titles([shown_name(kind, 18)])
    title_figure(collection, _finding_of_boxes(boxes, families, list(tournaments)))
    return collection


def _boxes(
    tournaments: Mapping[str, SkillsOfPlayers], family: Mapping[str, str] | Callable[[str], str]
) -> tuple[Boxes, list[str]]:
    """EPP by tournament and family, and the families, the best first."""
    if not tournaments:
        raise InputError("boxplots need at least one tournament, got none")
    boxes: Boxes = {}
    for name, fit in tournaments.items():
        kinds = np.array([_family(family, player) for player in fit.players])
        for kind in dict.fromkeys(kinds.tolist()):
            boxes[name, kind] = np.asarray(fit.epp, np.float64)[kinds == kind]
    families = list(dict.fromkeys(kind for _, kind in boxes))
    if len(families) > _MOST_FAMILIES:
        raise InputError(
            f"at most {_MOST_FAMILIES} families of players can be drawn, got {len(families)}"
        )
    for kind in families:
        every = [values for (_, other), values in boxes.items() if other == kind]
        boxes[_ALL, kind] = np.concatenate(every)
    families.sort(key=lambda kind: -float(np.median(boxes[_ALL, kind])))
    return boxes, families


def _family(family: Mapping[str, str] | Callable[[str], str], player: str) -> str:
    if callable(family):
        return str(family(player))
    if player not in family:
        raise InputError(f"player {player!r} has no family: name one for every player")
    return str(family[player])


def _draw_boxes(panel: Panel, values: Sequence[FloatArray], heights: Sequence[float]) -> None:
    """Boxes of one family, one artist for each part."""
    there = [(v, y) for v, y in zip(values, heights, strict=True) if len(v)]
    y = np.array([height for _, height in there])
    quartiles = np.array([np.quantile(v, [0.25, 0.5, 0.75]) for v, _ in there])
    reach = 1.5 * (quartiles[:, 2] - quartiles[:, 0])
    low, high = quartiles[:, 0] - reach, quartiles[:, 2] + reach
    ends = np.array(
        [[v[v >= a].min(), v[v <= b].max()] for (v, _), a, b in zip(there, low, high, strict=True)]
    )
    beyond = [v[(v < a) | (v > b)] for (v, _), a, b in zip(there, low, high, strict=True)]
    color = COLORS["theta_sota"]
    draw_bars(panel, "whiskers", ends, y[:, None], color, width=1.0)
    draw_bars(panel, "box", quartiles[:, [0, 2]], y[:, None], color, width=7.0, alpha=0.45)
    across = y[:, None] + np.array([-0.3, 0.3])
    draw_bars(panel, "median", quartiles[:, 1:2], across, "black", width=1.6)
    outliers = np.concatenate(beyond)
    rows = np.repeat(y, [len(v) for v in beyond])
    draw_dots(panel, "outliers", outliers, rows, color, diameter=2.5, hollow=True)


def _finding_of_boxes(boxes: Boxes, families: list[str], tournaments: list[str]) -> str:
    """What is seen of the first family."""
    first, others = families[0], families[1:]
    middle = f"{shown_name(first, 24)}: median EPP {float(np.median(boxes[_ALL, first])):.2f}"
    if not others:
        return middle
    medians = {key: float(np.median(values)) for key, values in boxes.items()}
    ahead = sum(
        (name, first) in medians
        and all(medians[name, first] > medians.get((name, kind), -np.inf) for kind in others)
        for name in tournaments
    )
    rest = "the other family" if len(others) == 1 else f"the other {len(others)} families"
    where = f"{ahead} of {len(tournaments)} tournament{'s' * (len(tournaments) > 1)}"
    return f"{middle},\nabove {rest} in {where}"


_MOST_NAMED = 20  # players; of more, only those that the two orders put farthest apart
_NAMED_OF_MANY = 14
_CHARACTER, _APART = 0.08, 0.17  # inches, of a name of nine points


def plot_epp_against_mean(
    fit: BradleyTerryFit,
    *,
    prob: float = 0.95,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Draw EPP with its robust interval, to the right, and mean score, upwards.

    Up to 20 players are named; of more, fourteen: the best of either order and those whose ranks
    differ most. Better mean scores are above, also where lower is better. Filled blue dots may be
    the best (``fit.tied_with_best``).

    Parameters
    ----------
    fit : BradleyTerryFit
        Of a ScoreTable whose rounds all have one direction.
    prob : float
        Probability of the intervals.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``mean_score``: ``interval_tied`` and
        ``epp_tied``, ``interval_behind`` and ``epp_behind``, and ``leaders`` (lines) and
        ``name_0``, ... (texts) of the named players.

    Raises
    ------
    InputError
        Matches without scores, or rounds of opposite directions.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> fit = fit_epp([[3, 2, 1], [3, 1, 2], [2, 3, 1], [1, 3, 2], [1, 2, 9]])
    >>> figure = plot_epp_against_mean(fit, backend="none")
    >>> figure.viz["figure_title"].item()["string"].split("\\n")[0]
    'EPP and mean score order 1 of 3 pairs of players alike'
    """
    data = fit.data
    if not isinstance(data, ScoreTable):
        raise InputError("a mean score needs a table of scores; this fit is of listed matches")
    means, ends, tied = data.mean_scores(), fit.interval(prob), fit.tied_with_best(prob)
    better = -means if data.lower_is_better.all() else means
    ranks = np.stack([_ranks(fit.epp), _ranks(better)])
    named, size = _named(ranks), figsize or (7.4, 6.2)
    names = [f"{shown_name(fit.players[i], 24)} ({ranks[0, i]}, {ranks[1, i]})" for i in named]
    meaning = f"bars: {100 * prob:.3g}% interval of each; filled: may be the best"
    label = f"EPP, and the probability of beating an average player\n({meaning})"
    x = odds_axis(label, [fit.epp, *ends.T], most=6)
    y = _mean_axis(means, turned=bool(data.lower_is_better.all()))
    ends = inside(ends, x)
    collection = make_collection(
        {"mean_score": make_bounds(x.low, x.high)}, backend=backend, figsize=size
    )
    panel = Panel(collection, "mean_score")
    wide = _draw_names(panel, names, means[named], ends[named], x, y, size)
    for kind, here in (("behind", ~tied), ("tied", tied)):
        color, hollow = COLORS["theta_sota" if kind == "tied" else "dark"], kind == "behind"
        draw_bars(panel, f"interval_{kind}", ends[here], means[here, None], color, width=1.2)
        draw_dots(panel, f"epp_{kind}", fit.epp[here], means[here], color, hollow=hollow)
    set_axes(panel, wide, y)
    title_figure(collection, _finding_of_means(fit.epp, better))
    return collection


def _mean_axis(means: FloatArray, *, turned: bool) -> Axis:
    if not turned:
        return number_axis("mean score", means)
    axis = number_axis("mean score (lower is better)", means)
    return replace(axis, low=axis.high, high=axis.low)


def _named(ranks: NDArray[np.intp]) -> NDArray[np.intp]:
    """Players with names in the figure, of ranks by EPP and by mean, shape (2, m)."""
    if ranks.shape[1] <= _MOST_NAMED:
        return np.arange(ranks.shape[1])
    best = dict.fromkeys(ranks.argmin(axis=1).tolist())
    apart = np.argsort(-np.abs(ranks[0] - ranks[1]), kind="stable").tolist()
    return np.array([*best, *(i for i in apart if i not in best)])[:_NAMED_OF_MANY]


def _ranks(values: FloatArray) -> NDArray[np.intp]:
    """Ranks from 1; equal values share the better one."""
    falling = -np.round(values, 9)
    return np.searchsorted(np.sort(falling), falling) + 1


def _draw_names(
    panel: Panel,
    names: list[str],
    means: FloatArray,
    ends: FloatArray,
    x: Axis,
    y: Axis,
    size: tuple[float, float],
) -> Axis:
    """Names in a column on the right, with lines to their bars; the wider axis."""
    width, height = 0.85 * size[0], 0.76 * size[1]  # of the panel itself
    column = (_CHARACTER * max(map(len, names)) + 0.35) / width
    wide = replace(x, high=x.low + (x.high - x.low) / max(1 - column, 0.3))
    unit = (wide.high - wide.low) / width  # of an inch
    places = _column((means - y.low) / (y.high - y.low), _APART / height)
    heights = y.low + places * (y.high - y.low)
    right = np.full(len(names), float(x.high))
    points = np.stack([ends[:, 1], right, right + 0.25 * unit], axis=1)
    lines = np.stack([means, means, heights], axis=1)
    draw_bars(panel, "leaders", points, lines, COLORS["prior"], width=0.5)
    for place, (name, up) in enumerate(zip(names, heights, strict=True)):
        text = plain_text(name, panel.collection.backend)
        start = float(x.high + 0.3 * unit)
        panel.text(f"name_{place}", start, float(up), text, side="left")
    return wide


def _column(heights: FloatArray, apart: float) -> FloatArray:
    """Heights of names inside the panel and apart from each other, in the same order."""
    places = np.array(spread_out(heights.tolist(), apart))
    order = np.argsort(-places, kind="stable")
    edge = 1 - apart / 2
    for i in order:
        places[i] = edge = min(places[i], edge)
        edge -= apart
    edge = apart / 2
    for i in order[::-1]:
        places[i] = edge = max(places[i], edge)
        edge += apart
    return places


def _finding_of_means(epp: FloatArray, better: FloatArray) -> str:
    first, second = np.triu_indices(len(epp), 1)
    signs = [np.sign(np.round(v[first] - v[second], 9)) for v in (epp, better)]
    alike = int((signs[0] == signs[1]).sum())
    text = f"EPP and mean score order {alike:,} of {len(first):,} pairs of players alike"
    named = "" if len(epp) <= _MOST_NAMED else "named: those whose ranks differ most; "
    return f"{text}\n({named}in brackets: ranks by EPP, by mean)"


_MOST_PAIRS = 4_000  # drawn one by one


class Frequencies(Protocol):
    """Win probabilities and frequencies, in bins and of every pair.

    Attributes
    ----------
    predicted, observed, lower, upper : array-like, shape (bins,)
        Mean predicted probability, frequency of wins, and the interval of the frequency, NaN where
        it is not known.
    n_pairs : array-like, shape (bins,)
        Pairs of players in each bin; bins without pairs are not drawn.
    pairs_predicted, pairs_observed : array-like, shape (pairs,)
    """

    @property
    def predicted(self) -> ArrayLike: ...
    @property
    def observed(self) -> ArrayLike: ...
    @property
    def n_pairs(self) -> ArrayLike: ...
    @property
    def lower(self) -> ArrayLike: ...
    @property
    def upper(self) -> ArrayLike: ...
    @property
    def pairs_predicted(self) -> ArrayLike: ...
    @property
    def pairs_observed(self) -> ArrayLike: ...


def plot_reliability(
    reliability: Frequencies,
    *,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Draw frequencies of wins against predicted probabilities.

    On the diagonal the skills explain the wins. Small dots are pairs of players, large ones bins of
    pairs with the interval of their frequency; they are hollow where it misses the diagonal, and
    grey where the interval is not known or has no width (as where every match was won): such bins
    do not count.

    Parameters
    ----------
    reliability : object
        With the arrays of ``Frequencies``.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``win_probability``: ``diagonal``, ``pairs``,
        ``interval``, and the bins ``on`` and ``off`` the diagonal and ``unknown`` (dots).

    Raises
    ------
    InputError
        Arrays of different lengths, or no bin with pairs.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> found = SimpleNamespace(
    ...     predicted=[0.2, 0.7], observed=[0.25, 0.9], lower=[0.1, 0.8], upper=[0.4, 1.0],
    ...     n_pairs=[3, 4], pairs_predicted=[0.2, 0.7], pairs_observed=[0.3, 0.9],
    ... )
    >>> figure = plot_reliability(found, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    'Predicted and observed wins agree in 1 of 2 bins of pairs'
    """
    bins, pairs = _checked(reliability)
    predicted, observed, lower, upper, n_pairs = bins
    collection = make_collection(
        {"win_probability": make_bounds(0.0, 1.0)}, backend=backend, figsize=figsize or (5.8, 5.9)
    )
    panel = Panel(collection, "win_probability")
    step = -(-pairs.shape[1] // _MOST_PAIRS) or 1
    shown = pairs[:, ::step]
    draw_dots(panel, "pairs", shown[0], shown[1], COLORS["prior"], diameter=2.5, alpha=0.5)
    draw_bars(panel, "diagonal", [[0.0, 1.0]], [[0.0, 1.0]], "black", width=1.0)
    ends = np.column_stack([lower, upper])
    draw_bars(panel, "interval", predicted[:, None], ends, COLORS["theta_sota"], width=2.0)
    known = upper > lower
    on = known & (lower <= predicted) & (predicted <= upper)
    for kind, here in (("unknown", ~known), ("on", on), ("off", known & ~on)):
        color, hollow = COLORS["dark" if kind == "unknown" else "theta_sota"], kind == "off"
        x, y = predicted[here], observed[here]
        draw_dots(panel, kind, x, y, color, diameter=7, hollow=hollow)
    label = f"predicted probability of winning\n{_meaning(n_pairs, pairs.shape[1], step)}"
    lowest = min(bins[:2].min(), shown.min(initial=1.0), np.nanmin(lower, initial=1.0))
    start = np.floor(4 * lowest) / 4
    set_axes(panel, _part_axis(label, start), _part_axis("observed frequency of wins", start))
    title_figure(collection, _finding_of_bins(on, known))
    return collection


def _checked(found: Frequencies) -> tuple[FloatArray, FloatArray]:
    """Bins (5, k) and pairs (2, n)."""
    columns = (found.predicted, found.observed, found.lower, found.upper, found.n_pairs)
    bins = [np.asarray(column, np.float64).ravel() for column in columns]
    pairs = [
        np.asarray(column, np.float64).ravel()
        for column in (found.pairs_predicted, found.pairs_observed)
    ]
    for kind, arrays in (("bins", bins), ("pairs", pairs)):
        sizes = {len(array) for array in arrays}
        if len(sizes) > 1:
            given = ", ".join(str(len(array)) for array in arrays)
            raise InputError(f"the arrays of {kind} must have one length, got {given}")
    table = np.stack(bins)
    table = table[:, table[4] > 0]
    if not table.shape[1]:
        raise InputError("no bin has pairs of players: nothing to draw")
    return table, np.stack(pairs)


def _meaning(n_pairs: FloatArray, count: int, step: int) -> str:
    low, high = int(n_pairs.min()), int(n_pairs.max())
    size = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    every = "" if step == 1 else f" (1 of {step} drawn)"
    return f"(small: {count:,} pairs{every}; large: bins of {size} pairs)"


def _part_axis(label: str, start: float) -> Axis:
    ticks = np.arange(start, 1.01, 0.25 if start < 0.5 else 0.1)
    return Axis(label, start - 0.02, 1.02, ticks.tolist(), [f"{tick:.0%}" for tick in ticks])


def _finding_of_bins(on: NDArray[np.bool_], known: NDArray[np.bool_]) -> str:
    if not known.any():
        return f"Predicted and observed wins in {len(on):,} bins of pairs"
    count = f"{int(on.sum()):,} of {int(known.sum()):,}"
    return f"Predicted and observed wins agree in {count} bins of pairs"
