r"""Leaderboard of skills: every player's EPP with its interval, and who may be the best.

Draws a fit or a posterior and computes nothing but intervals of draws;
``tests/epp/test_epp_figures.py`` reads the artists back.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots_canvas import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    title_figure,
)
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.plots_axes import (
    Axis,
    best_first,
    draw_bars,
    draw_dots,
    draws_of_players,
    height_of_rows,
    inside,
    name_axis,
    odds_axis,
    set_axes,
    shown_name,
)

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["plot_epp"]

Contrast = Literal["simultaneous", "model"]
_CONTRASTS = {
    "simultaneous": "thin: of all players at once",
    "model": "thin: if all matches were independent",
}


@dataclass(frozen=True, eq=False)
class _Board:
    """What is drawn, in the order of the players."""

    players: tuple[str, ...]
    ranks: NDArray[np.intp]
    epp: FloatArray
    thick: FloatArray  # (m, 2)
    thin: FloatArray | None
    thin_below: bool
    tied: NDArray[np.bool_]
    meaning: str


def plot_epp(
    result: "BradleyTerryFit | xr.DataTree",
    *,
    prob: float = 0.95,
    contrast: Contrast | None = "simultaneous",
    most: int = 100,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Draw the EPP of every player and its intervals, the best first.

    Filled blue dots are the players that may be the best, hollow grey ones those that some other
    is certainly better than: of a fit by ``tied_with_best``, of a posterior where the probability
    of being the best is below ``(1 - prob) / 2``. Below the EPP stands the probability of beating
    an average player (Property 3.4 of the EPP paper).

    Parameters
    ----------
    result : BradleyTerryFit or DataTree
        A fit, or a result with ``epp`` in the group ``posterior``.
    prob : float
        Probability of the intervals, and of the comparison with the best.
    contrast : {"simultaneous", "model"}, optional
        Intervals of a fit drawn thin beside the robust ones: wide enough for all players at once,
        or those of independent matches, which are too short. None draws neither, and a posterior
        has neither: the thick bar is the interval of each player in both.
    most : int
        Players drawn; the title says if that leaves some out.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches. Default: as high as the players need.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``epp``: ``average``, and for each of "tied" and
        "behind" that occurs ``interval_tied``, ``contrast_tied`` (bars, NaN between them) and
        ``epp_tied`` (dots).

    Raises
    ------
    InputError
        An impossible ``prob``, ``contrast`` or ``most``, or a result without skills.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament([1.5, 1.2, 0, -2], 40, random_seed=2))
    >>> figure = plot_epp(fit, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    '2 of 4 players may be the best (filled dots)'
    """
    OPEN_SHARE.check(prob, "prob")
    if contrast not in (None, *_CONTRASTS):
        raise InputError(f"contrast is simultaneous, model or None, got {contrast!r}")
    is_fit = isinstance(result, BradleyTerryFit)
    board = _of_fit(result, prob, contrast) if is_fit else _of_draws(result, prob)
    order = best_first(board.epp, most)
    x = _odds(board, order)
    names = [(int(board.ranks[i]), board.players[i]) for i in order]
    y = name_axis(names, [-float(row) for row in range(len(order))])
    size = figsize or (7.4, 1.9 + height_of_rows(len(order)))
    collection = make_collection({"epp": make_bounds(x.low, x.high)}, backend=backend, figsize=size)
    panel = Panel(collection, "epp")
    panel.vline("average", 0.0, COLORS["prior"])
    for kind, here in (("tied", board.tied[order]), ("behind", ~board.tied[order])):
        _draw(panel, kind, board, order[here], -np.flatnonzero(here).astype(np.float64), x)
    set_axes(panel, x, y)
    title_figure(collection, _finding(board, order))
    return collection


def _of_fit(fit: BradleyTerryFit, prob: float, contrast: Contrast | None) -> _Board:
    meaning = f"thick: {100 * prob:.3g}% interval of each"
    return _Board(
        players=fit.players,
        ranks=fit.rank,
        epp=fit.epp,
        thick=fit.interval(prob),
        thin=None if contrast is None else fit.interval(prob, contrast),
        thin_below=contrast == "model",
        tied=fit.tied_with_best(prob),
        meaning=meaning if contrast is None else f"{meaning}; {_CONTRASTS[contrast]}",
    )


def _of_draws(tree: "xr.DataTree", prob: float) -> _Board:
    players, draws = draws_of_players(tree, "epp")
    winners = np.bincount(draws.argmax(axis=1), minlength=len(players)) / len(draws)
    mean = draws.mean(axis=0)
    return _Board(
        players=players,
        ranks=np.argsort(np.argsort(-mean, kind="stable")) + 1,
        epp=mean,
        thick=np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0).T,
        thin=None,
        thin_below=False,
        tied=winners >= (1 - prob) / 2,
        meaning=f"posterior mean; thick: {100 * prob:.3g}% interval of each",
    )


def _odds(board: _Board, order: NDArray[np.intp]) -> Axis:
    label = f"EPP, and the probability of beating an average player\n({board.meaning})"
    ends = [board.epp, board.thick.T, *([] if board.thin is None else [board.thin.T])]
    return odds_axis(label, np.vstack(ends)[:, order])


def _draw(
    panel: Panel, kind: str, board: _Board, here: NDArray[np.intp], heights: FloatArray, x: Axis
) -> None:
    """Bars and dots of some players."""
    color, rows = COLORS["theta_sota" if kind == "tied" else "dark"], heights[:, None]
    if board.thin is not None:
        below = 0.28 if board.thin_below else 0.0
        ends = inside(board.thin[here], x)
        draw_bars(panel, f"contrast_{kind}", ends, rows - below, color, width=0.9)
    draw_bars(panel, f"interval_{kind}", inside(board.thick[here], x), rows, color, width=2.8)
    draw_dots(panel, f"epp_{kind}", board.epp[here], heights, color, hollow=kind == "behind")


def _finding(board: _Board, order: NDArray[np.intp]) -> str:
    tied, count = int(board.tied.sum()), len(board.players)
    if tied == 1:
        best = shown_name(board.players[int(np.argmax(board.epp))])
        found = f"{best} is better than " + (
            "the other" if count == 2 else f"all other {count - 1:,}"
        )
    else:
        found = f"{tied:,} of {count:,} players may be the best (filled dots)"
    return found if len(order) == count else f"{found}\nthe first {len(order):,} are drawn"
