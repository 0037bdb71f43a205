r"""EPP against the mean score: where the two put players in another order.

The mean depends on how much better a score is, the EPP only on which of two is better (Fig. 6 of
the EPP paper). ``tests/epp/test_epp_figures.py`` reads the artists back.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.plots_canvas import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    plain_text,
    title_figure,
)
from bayes_sota.core.plots_labels import spread_out
from bayes_sota.core.types import FloatArray
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.plots_axes import (
    Axis,
    draw_bars,
    draw_dots,
    inside,
    number_axis,
    odds_axis,
    set_axes,
    shown_name,
)

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

__all__ = ["plot_epp_against_mean"]

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
    title_figure(collection, _finding(fit.epp, better))
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


def _finding(epp: FloatArray, better: FloatArray) -> str:
    first, second = np.triu_indices(len(epp), 1)
    signs = [np.sign(np.round(v[first] - v[second], 9)) for v in (epp, better)]
    alike = int((signs[0] == signs[1]).sum())
    text = f"EPP and mean score order {alike:,} of {len(first):,} pairs of players alike"
    named = "" if len(epp) <= _MOST_NAMED else "named: those whose ranks differ most; "
    return f"{text}\n({named}in brackets: ranks by EPP, by mean)"
