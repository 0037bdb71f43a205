r"""Ranks that players may have: the posterior of each, or the rank intervals of a fit.

Draws a result and counts; ``tests/epp/test_epp_figures.py`` reads the artists back.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.plots_canvas import COLORS, Panel, make_bounds, make_collection, title_figure
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.plots_axes import (
    Axis,
    best_first,
    draw_bars,
    draw_dots,
    draws_of_players,
    height_of_rows,
    name_axis,
    set_axes,
    shown_name,
)

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["plot_rank_distribution"]

_TALLEST = 0.82  # of the bars, in rows


def plot_rank_distribution(
    result: "BradleyTerryFit | xr.DataTree",
    *,
    prob: float = 0.95,
    most: int = 100,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Draw which ranks each player may have, rank 1 on the left.

    Of a posterior the bars are the probabilities of the ranks, all on one scale, with the
    equal-tailed interval below; of a fit there is the interval (of all pairs of players at once)
    and the rank by EPP as a dot. Players that may be the best are blue, of a fit with filled dots.

    Parameters
    ----------
    result : BradleyTerryFit or DataTree
        A fit, or a result with ``rank`` or ``epp`` in the group ``posterior``.
    prob : float
        Probability of the intervals.
    most : int
        Best players drawn; the title says if that leaves some out.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches. Default: as high as the players need.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``rank``: ``interval_tied``,
        ``interval_behind``, and ``ranks_0``, ... (areas) of a posterior or ``rank_tied``,
        ``rank_behind`` (dots) of a fit.

    Raises
    ------
    InputError
        No draws of players, or an impossible ``prob`` or ``most``.

    Examples
    --------
    >>> import arviz as az
    >>> epp = np.random.default_rng(0).normal([1.0, 0.0, -3.0], 1.0, (2, 500, 3))
    >>> tree = az.from_dict(
    ...     {"posterior": {"epp": epp}}, coords={"player": list("abc")}, dims={"epp": ["player"]}
    ... )
    >>> figure = plot_rank_distribution(tree, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    'a is the best with a probability of 72%'
    """
    OPEN_SHARE.check(prob, "prob")
    shares: FloatArray | None = None
    if isinstance(result, BradleyTerryFit):
        players, middle = result.players, result.rank.astype(np.float64)
        ends = result.rank_interval(prob)
    else:
        players, shares = _shares(result)
        middle = shares @ np.arange(1, len(players) + 1)
        ends = _ends(shares, prob)
    order = best_first(-middle, most)
    ranks = middle if shares is None else np.argsort(np.argsort(middle, kind="stable")) + 1
    x = _rank_axis(ends[order], len(players), _meaning(prob, of_fit=shares is None))
    y = name_axis(
        [(int(ranks[i]), players[i]) for i in order],
        [-float(row) for row in range(len(order))],
        margin=0.95 if shares is not None else 0.6,
    )
    size = figsize or (7.4, 1.6 + height_of_rows(len(order)))
    collection = make_collection(
        {"rank": make_bounds(x.low, x.high)}, backend=backend, figsize=size
    )
    panel, tied = Panel(collection, "rank"), ends[:, 0] == 1
    if shares is not None:
        _draw_shares(panel, shares[order], tied[order])
    for kind, here in (("tied", tied[order]), ("behind", ~tied[order])):
        heights, chosen = -np.flatnonzero(here).astype(np.float64), order[here]
        color = COLORS["theta_sota" if kind == "tied" else "dark"]
        low, wider = (0.0, 0.0) if shares is None else (0.12, 0.45)  # below, and as wide as steps
        bars = ends[chosen] + np.array([-wider, wider])
        draw_bars(panel, f"interval_{kind}", bars, heights[:, None] - low, color, width=1.6)
        if shares is None:
            hollow = kind == "behind"
            draw_dots(panel, f"rank_{kind}", middle[chosen], heights, color, hollow=hollow)
    set_axes(panel, x, y)
    title_figure(collection, _finding(players, shares, tied, len(order)))
    return collection


def _shares(tree: "xr.DataTree") -> tuple[tuple[str, ...], FloatArray]:
    """Names, and the probability of each rank from 1, shape (m, m)."""
    held = "posterior" in tree.children and "rank" in tree["posterior"]
    players, draws = draws_of_players(tree, "rank" if held else "epp")
    m = len(players)
    ranks = draws if held else np.argsort(np.argsort(-draws, axis=1), axis=1) + 1
    places = np.clip(np.rint(ranks).astype(np.intp) - 1, 0, m - 1) + m * np.arange(m)
    return players, np.bincount(places.ravel(), minlength=m * m).reshape(m, m) / len(draws)


def _ends(shares: FloatArray, prob: float) -> NDArray[np.intp]:
    """Equal-tailed interval of ranks, shape (m, 2)."""
    below = np.cumsum(shares, axis=1)
    ends = [(below < level - 1e-12).sum(axis=1) + 1 for level in ((1 - prob) / 2, (1 + prob) / 2)]
    return np.stack(ends, axis=1)


def _meaning(prob: float, *, of_fit: bool) -> str:
    percent = f"{100 * prob:.3g}%"
    if of_fit:
        return f"rank, 1 is best\n(bars: {percent} of all players at once; filled: may be the best)"
    return f"rank, 1 is best\n(areas: probability; bars: {percent} interval; blue: may be rank 1)"


def _rank_axis(ends: NDArray[np.intp], count: int, label: str) -> Axis:
    last = min(count, int(ends.max()))
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 10**9) if last / step <= 20)
    ticks = [1, *range(step if step > 1 else 2, last + 1, step)]
    return Axis(label, 0.3, last + 0.7, ticks, [f"{tick:,}" for tick in ticks])


def _draw_shares(panel: Panel, shares: FloatArray, tied: NDArray[np.bool_]) -> None:
    """Probabilities of ranks as steps above each player's line."""
    import xarray as xr
    from arviz_plots import visuals

    scale = _TALLEST / float(shares.max())
    for row, (heights, best) in enumerate(zip(shares, tied, strict=True)):
        seen = np.flatnonzero(heights > 0)
        first, last = int(seen[0]), int(seen[-1]) + 1
        edges = np.arange(first, last + 1) + 0.5
        x, top = np.repeat(edges, 2)[1:-1], np.repeat(heights[first:last], 2)
        bottom = np.full(len(x), -float(row))
        band = xr.DataArray(
            np.stack([x, bottom, bottom + scale * top]),
            dims=("kwarg", "point"),
            coords={"kwarg": ["x", "y_bottom", "y_top"]},
        )
        color = COLORS["theta_sota" if best else "prior"]
        panel.draw(visuals.fill_between_y, f"ranks_{row}", band, color=color, alpha=0.55)


def _finding(
    players: tuple[str, ...], shares: FloatArray | None, tied: NDArray[np.bool_], drawn: int
) -> str:
    if shares is None:
        text = f"{int(tied.sum()):,} of {len(players):,} players may hold rank 1"
    else:
        best = int(np.argmax(shares[:, 0]))
        name = shown_name(players[best], 30)
        text = f"{name} is the best with a probability of {shares[best, 0]:.0%}"
    kept = f"\nthe first {drawn:,} of {len(players):,} are drawn"
    return text if drawn == len(players) else text + kept
