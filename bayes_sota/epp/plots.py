"""Skills of players, one row each, the best first, and what figures of players share.

Draws a fit or a posterior and computes nothing but intervals and shares of draws;
``tests/epp/test_plots.py`` reads the artists back and measures that texts do not collide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    make_ticks,
    plain_text,
    title_figure,
)
from bayes_sota.core.text import plain_text as printable
from bayes_sota.core.types import BoolArray, FloatArray
from bayes_sota.epp.fit import BradleyTerryFit

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection


Contrast = Literal["simultaneous", "model"]
_LONGEST = 36  # characters of a name
_CONTRASTS = {
    "simultaneous": "thin: of all players at once",
    "model": "thin: if all matches were independent",
}


@dataclass(frozen=True)
class Axis:
    """Range, label and ticks of one axis; the texts in points and degrees, and whether a line is.

    Nothing is written where the label is empty.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    texts: Sequence[str]
    size: float = 9
    boxed: bool = True
    rotation: float = 0


def plot_epp(
    result: "BradleyTerryFit | xr.DataTree",
    *,
    ci_prob: float = 0.95,
    contrast: Contrast | None = "simultaneous",
    most: int = 100,
    backend: str | None = None,
    plot_collection: "PlotCollection | None" = None,
    **pc_kwargs: Any,
) -> "PlotCollection":
    """Draw the EPP of every player and its intervals, the best first.

    Filled blue dots are the players that may be the best, hollow grey ones those that some other
    is certainly better than: of a fit by ``tied_with_best``, of a posterior where the probability
    of being the best is below ``(1 - ci_prob) / 2``. Below the EPP stands the probability of
    beating an average player (Property 3.4 of the EPP paper).

    Parameters
    ----------
    result : BradleyTerryFit or DataTree
        A fit, or a result with ``epp`` in the group ``posterior``.
    ci_prob : float
        Probability of the intervals, and of the comparison with the best.
    contrast : {"simultaneous", "model"}, optional
        Intervals of a fit drawn thin beside the robust ones: wide enough for all players at once,
        or those of independent matches, which are too short. None draws neither, and a posterior
        has neither: the thick bar is the interval of each player in both.
    most : int
        Players drawn; the title says if that leaves some out.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``epp``: ``average``, and for each of "tied" and
        "behind" that occurs ``interval_tied``, ``contrast_tied`` (bars, NaN between them) and
        ``epp_tied`` (dots).

    Raises
    ------
    InputError
        An impossible ``ci_prob``, ``contrast`` or ``most``, or a result without skills.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament([1.5, 1.2, 0, -2], 40, random_seed=2))
    >>> figure = plot_epp(fit, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    '2 of 4 players may be the best (filled dots)'
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    if contrast not in (None, *_CONTRASTS):
        raise InputError(f"contrast is simultaneous, model or None, got {contrast!r}")
    is_fit = isinstance(result, BradleyTerryFit)
    board = _of_fit(result, ci_prob, contrast) if is_fit else _of_draws(result, ci_prob)
    order = best_first(board.epp, most)
    ends = [board.epp, board.thick.T, *([] if board.thin is None else [board.thin.T])]
    label = f"EPP, and the probability of beating an average player\n({board.meaning})"
    x = odds_axis(label, np.vstack(ends)[:, order])
    names = [(int(board.ranks[i]), board.players[i]) for i in order]
    panel, y = named_rows(
        "epp", x, names, above=1.9, backend=backend, plot_collection=plot_collection, **pc_kwargs
    )
    panel.vline("average", 0.0, COLORS["prior"])
    for kind, here in (("tied", board.tied[order]), ("behind", ~board.tied[order])):
        color, chosen = COLORS["theta_sota" if kind == "tied" else "dark"], order[here]
        heights = -np.flatnonzero(here).astype(np.float64)
        rows = heights[:, None]
        if board.thin is not None:
            thin = rows - (0.28 if contrast == "model" else 0.0)
            draw_bars(panel, f"contrast_{kind}", _inside(board.thin[chosen], x), thin, color, 0.9)
        draw_bars(panel, f"interval_{kind}", _inside(board.thick[chosen], x), rows, color, 2.8)
        draw_dots(panel, f"epp_{kind}", board.epp[chosen], heights, color)
    set_axes(panel, x, y)
    title_figure(panel.collection, _finding_of_skills(board, order))
    return panel.collection


def shown_name(name: str, longest: int = _LONGEST) -> str:
    """Name on one line, without its middle where it is long: long names differ at their ends.

    Examples
    --------
    >>> shown_name("a-model-with-many-parameters-17", 15)
    'a-model-…ers-17'
    """
    text = printable(str(name))
    if len(text) <= longest:
        return text
    tail = (longest - 1) * 3 // 7
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def best_first(epp: FloatArray, most: int) -> NDArray[np.intp]:
    """Places of the best players, the best first.

    Examples
    --------
    >>> best_first(np.array([-1.0, 2.0, 0.5]), most=2).tolist()
    [1, 2]
    """
    if most < 1:
        raise InputError(f"at least 1 player is drawn, got most={most!r}")
    return np.argsort(-epp, kind="stable")[:most]


def draws_of_players(tree: "xr.DataTree", name: str) -> tuple[tuple[str, ...], FloatArray]:
    """Names, and posterior draws of a variable of the players, shape (draws, m).

    Raises
    ------
    InputError
        If the result holds none.
    """
    groups = getattr(tree, "children", {})
    if "posterior" not in groups or name not in tree["posterior"]:
        raise InputError(f"there are no draws of the players: no {name} in the group posterior")
    values = tree["posterior"][name]
    if set(values.dims) != {"chain", "draw", "player"}:
        given = ", ".join(str(dim) for dim in values.dims)
        raise InputError(f"draws of {name} have the dimensions chain, draw, player; got {given}")
    draws = values.stack(sample=("chain", "draw")).transpose("sample", "player").values
    return tuple(str(player) for player in values["player"].values), np.asarray(draws)


def name_axis(names: Sequence[tuple[int, str]], margin: float = 0.6) -> Axis:
    """Ranks and shortened names, one below the other from height 0."""
    texts = [f"{rank}  {shown_name(name)}" for rank, name in names]
    heights = [-float(row) for row in range(len(names))]
    return Axis("", heights[-1] - margin, margin, heights, texts, boxed=False)


def odds_axis(label: str, values: ArrayLike) -> Axis:
    """Range of the finite log odds, with the probability against an average player below each.

    Examples
    --------
    >>> odds_axis("EPP", [-1.0, 1.0, np.inf]).texts[-1]
    '1.0\\n73%'
    """
    given = np.asarray(values, np.float64)
    finite = given[np.isfinite(given)]
    low, high = float(finite.min()), float(finite.max())
    room = 0.05 * (high - low) or 0.01 * max(abs(high), 1.0)
    low, high = low - room, high + room
    ticks, texts = make_ticks(low, high)
    texts = [
        f"{text}\n{_percent(1 / (1 + float(np.exp(-tick))))}"
        for tick, text in zip(ticks, texts, strict=True)
    ]
    return Axis(label, low, high, ticks, texts)


def _percent(p: float) -> str:
    if 0.01 <= p <= 0.99:
        return f"{p:.0%}"
    return f"{p:.1%}" if 0.001 <= p <= 0.999 else ("<0.1%" if p < 0.5 else ">99.9%")


def named_rows(
    variable: str,
    x: Axis,
    names: Sequence[tuple[int, str]],
    *,
    above: float,
    margin: float = 0.6,
    **figure: Any,
) -> tuple[Panel, Axis]:
    """Panel with a row per player, less high for each where there are many, and its axis."""
    size = (7.4, above + len(names) * (0.27 if len(names) <= 30 else 0.2))
    bounds = {variable: make_bounds(x.low, x.high)}
    collection = make_collection(bounds, figsize=size, **figure)
    return Panel(collection, variable), name_axis(names, margin)


def _inside(ends: FloatArray, axis: Axis) -> FloatArray:
    """Intervals, shape (m, 2); ends that are not known or infinite go to the edge."""
    low = np.nan_to_num(ends[:, 0], nan=axis.low, neginf=axis.low)
    high = np.nan_to_num(ends[:, 1], nan=axis.high, posinf=axis.high)
    return np.column_stack([low, high])


def set_axes(panel: Panel, x: Axis, y: Axis) -> None:
    """Range, labels and ticks of both axes; names from files are shown as they are."""
    from arviz_plots.plot_collection import backend_from_object

    backend = panel.collection.backend

    def style(_: Any, target: Any, **__: Any) -> None:
        library = backend_from_object(target)
        if backend == "matplotlib" and not y.boxed:
            library.remove_axis(target, axis="y")
        library.xlim((x.low, x.high), target)
        library.ylim((y.low, y.high), target)
        for axis, ticks, label in (
            (x, library.xticks, library.xlabel),
            (y, library.yticks, library.ylabel),
        ):
            shown = [plain_text(text, backend) for text in axis.texts]
            look = {"rotation": axis.rotation} if axis.rotation else {}
            ticks([float(tick) for tick in axis.ticks], shown, target, size=axis.size, **look)
            label(plain_text(axis.label, backend), target, size=10)

    panel.draw(style, "axes", 0.0, store_artist=False)


def draw_bars(
    panel: Panel, label: str, x: ArrayLike, y: ArrayLike, color: str, width: float
) -> None:
    """Bars, one artist for all of them with NaN between them.

    Parameters
    ----------
    x, y : array-like, shape (k, 2), or that broadcasts with the other
        Ends of each bar.
    """
    import xarray as xr
    from arviz_plots import visuals

    ends = np.stack(np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64)))
    if not ends.shape[1]:
        return
    breaks = np.full((2, ends.shape[1], 1), np.nan)
    points = np.concatenate([ends, breaks], axis=2).reshape(2, -1)
    lines = xr.DataArray(points, dims=("plot_axis", "point"), coords={"plot_axis": ["x", "y"]})
    look: dict[str, Any] = {"color": color, "width": width}
    if panel.collection.backend == "matplotlib":  # the others end bars at their ends
        look["solid_capstyle"] = "butt"
    panel.draw(visuals.line_xy, label, lines, **look)


def draw_area(
    panel: Panel, label: str, edges: ArrayLike, ends: FloatArray, color: str, alpha: float
) -> None:
    """Area of steps.

    Parameters
    ----------
    edges : ndarray, shape (k + 1,)
    ends : ndarray, shape (2, k)
        Bottom and top of each step.
    """
    import xarray as xr
    from arviz_plots import visuals

    x, (bottom, top) = np.repeat(edges, 2)[1:-1], np.repeat(ends, 2, axis=1)
    coords = {"kwarg": ["x", "y_bottom", "y_top"]}
    band = xr.DataArray(np.stack([x, bottom, top]), dims=("kwarg", "point"), coords=coords)
    panel.draw(visuals.fill_between_y, label, band, color=color, alpha=alpha)


def draw_dots(panel: Panel, label: str, x: FloatArray, y: FloatArray, color: str) -> None:
    """Dots, hollow for players that are behind."""
    import xarray as xr

    if x.size:
        hollow = {"facecolor": "white"} if label.endswith("_behind") else {}
        panel.dots(label, xr.DataArray(x, dims="point"), y, color, **hollow)


@dataclass(frozen=True, eq=False)
class _Board:
    """What is drawn, in the order of the players."""

    players: tuple[str, ...]
    ranks: NDArray[np.intp]
    epp: FloatArray
    thick: FloatArray  # (m, 2)
    thin: FloatArray | None
    tied: BoolArray
    meaning: str


def _of_fit(fit: BradleyTerryFit, ci_prob: float, contrast: Contrast | None) -> _Board:
    meaning = f"thick: {100 * ci_prob:.3g}% interval of each"
    return _Board(
        players=fit.players,
        ranks=fit.rank,
        epp=fit.epp,
        thick=fit.interval(ci_prob),
        thin=None if contrast is None else fit.interval(ci_prob, contrast),
        tied=fit.tied_with_best(ci_prob),
        meaning=meaning if contrast is None else f"{meaning}; {_CONTRASTS[contrast]}",
    )


def _of_draws(tree: "xr.DataTree", ci_prob: float) -> _Board:
    players, draws = draws_of_players(tree, "epp")
    winners = np.bincount(draws.argmax(axis=1), minlength=len(players)) / len(draws)
    mean = draws.mean(axis=0)
    return _Board(
        players=players,
        ranks=np.argsort(np.argsort(-mean, kind="stable")) + 1,
        epp=mean,
        thick=np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0).T,
        thin=None,
        tied=winners >= (1 - ci_prob) / 2,
        meaning=f"posterior mean; thick: {100 * ci_prob:.3g}% interval of each",
    )


def _finding_of_skills(board: _Board, order: NDArray[np.intp]) -> str:
    tied, count = int(board.tied.sum()), len(board.players)
    found = f"{tied:,} of {count:,} players may be the best (filled dots)"
    if tied == 1:
        others = "the other" if count == 2 else f"all other {count - 1:,}"
        found = f"{shown_name(board.players[int(np.argmax(board.epp))])} is better than {others}"
    return found if len(order) == count else f"{found}\nthe first {len(order):,} are drawn"
