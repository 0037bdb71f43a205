"""What the figures of players share: names, axes, bars and dots in the size of their library.

``tests/epp/test_epp_figures.py`` measures that names and ticks do not cover each other.

Leaderboard of skills: every player's EPP with its interval, and who may be the best.

Draws a fit or a posterior and computes nothing but intervals of draws;
``tests/epp/test_epp_figures.py`` reads the artists back.

Ranks that players may have: the posterior of each, or the rank intervals of a fit.

Draws a result and counts; ``tests/epp/test_epp_figures.py`` reads the artists back.

Probability that each player beats each other, players ordered by skill.

Each class of probabilities is one area of steps: with players in the order of their skills the
probabilities of a fit fall from the upper right to the lower left.
``tests/epp/test_epp_figures.py`` reads every cell back.
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
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.fit import BradleyTerryFit

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection


_LONGEST = 36  # characters of a name


@dataclass(frozen=True)
class Axis:
    """Range, label and ticks of one axis; ``high`` below ``low`` turns it round.

    Attributes
    ----------
    label : str
        Nothing is written if it is empty.
    low, high : float
    ticks : sequence of float
    texts : sequence of str
    size : float
        Of the texts, in points.
    boxed : bool
        Whether a line is drawn along the axis.
    rotation : float
        Of the texts, in degrees.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[float]
    texts: Sequence[str]
    size: float = 9
    boxed: bool = True
    rotation: float = 0


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


def height_of_rows(count: int) -> float:
    """Inches of so many named rows: less for each where there are many."""
    return count * (0.27 if count <= 30 else 0.2)


def name_axis(
    names: Sequence[tuple[int, str]], heights: Sequence[float], margin: float = 0.6
) -> Axis:
    """Ranks and names at heights, the names shortened."""
    texts = [f"{rank}  {shown_name(name)}" for rank, name in names]
    low, high = min(heights) - margin, max(heights) + margin
    return Axis("", low, high, heights, texts, boxed=False)


def number_axis(label: str, values: ArrayLike, margin: float = 0.05, most: int = 7) -> Axis:
    """Range of the finite values, with round ticks.

    Examples
    --------
    >>> number_axis("score", [0.0, 1.0, np.inf], margin=0.0).texts
    ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0']
    """
    given = np.asarray(values, np.float64)
    finite = given[np.isfinite(given)]
    low, high = float(finite.min()), float(finite.max())
    room = margin * (high - low) or 0.01 * max(abs(high), 1.0) * bool(margin)
    low, high = low - room, high + room
    return Axis(label, low, high, *make_ticks(low, high, most))


def odds_axis(label: str, values: ArrayLike, most: int = 7) -> Axis:
    """Log odds, with the probability against an average player below each.

    Examples
    --------
    >>> odds_axis("EPP", [-1.0, 1.0]).texts[-1]
    '1.0\\n73%'
    """
    axis = number_axis(label, values, most=most)
    texts = [
        f"{text}\n{_percent(1 / (1 + float(np.exp(-tick))))}"
        for tick, text in zip(axis.ticks, axis.texts, strict=True)
    ]
    return Axis(label, axis.low, axis.high, axis.ticks, texts)


def inside(ends: FloatArray, axis: Axis) -> FloatArray:
    """Intervals, shape (m, 2); ends that are not known or infinite go to the edge.

    Examples
    --------
    >>> inside(np.array([[-np.inf, 1.0]]), Axis("", -2.0, 2.0, [], [])).tolist()
    [[-2.0, 1.0]]
    """
    low = np.nan_to_num(ends[:, 0], nan=axis.low, neginf=axis.low)
    high = np.nan_to_num(ends[:, 1], nan=axis.high, posinf=axis.high)
    return np.column_stack([low, high])


def _percent(p: float) -> str:
    if 0.01 <= p <= 0.99:
        return f"{p:.0%}"
    return f"{p:.1%}" if 0.001 <= p <= 0.999 else ("<0.1%" if p < 0.5 else ">99.9%")


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
    panel: Panel, label: str, x: ArrayLike, y: ArrayLike, color: str, **look: Any
) -> None:
    """Bars, one artist for all of them with NaN between them.

    Parameters
    ----------
    x, y : array-like, shape (k, points), or that broadcasts with the other
        Ends of each bar, and its bends.
    """
    import xarray as xr
    from arviz_plots import visuals

    ends = np.stack(np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64)))
    if not ends.shape[1]:
        return
    breaks = np.full((2, ends.shape[1], 1), np.nan)
    points = np.concatenate([ends, breaks], axis=2).reshape(2, -1)
    lines = xr.DataArray(points, dims=("plot_axis", "point"), coords={"plot_axis": ["x", "y"]})
    if panel.collection.backend == "matplotlib":  # the others end bars at their ends
        look["solid_capstyle"] = "butt"
    panel.draw(visuals.line_xy, label, lines, color=color, **{"width": 2.5, **look})


def draw_dots(
    panel: Panel,
    label: str,
    x: ArrayLike,
    y: ArrayLike,
    color: str,
    *,
    diameter: float = 6.0,
    hollow: bool = False,
    **look: Any,
) -> None:
    """Dots of a diameter in points, filled or hollow."""
    import xarray as xr

    values = np.asarray(x, np.float64)
    if not values.size:
        return
    look |= {"facecolor": "white", "size": diameter**2} if hollow else {"size": diameter**2}
    panel.dots(label, xr.DataArray(values, dims="point"), np.asarray(y), color, **look)


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
    of being the best is below ``(1 - prob) / 2``. Below the EPP stands the probability of
    beating an average player (Property 3.4 of the EPP paper).

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
    title_figure(collection, _finding_of_skills(board, order))
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


def _finding_of_skills(board: _Board, order: NDArray[np.intp]) -> str:
    tied, count = int(board.tied.sum()), len(board.players)
    if tied == 1:
        best = shown_name(board.players[int(np.argmax(board.epp))])
        found = f"{best} is better than " + (
            "the other" if count == 2 else f"all other {count - 1:,}"
        )
    else:
        found = f"{tied:,} of {count:,} players may be the best (filled dots)"
    return found if len(order) == count else f"{found}\nthe first {len(order):,} are drawn"


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
    title_figure(collection, _finding_of_ranks(players, shares, tied, len(order)))
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


def _finding_of_ranks(
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


_EDGES = (0.0, 0.05, 0.25, 0.45, 0.55, 0.75, 0.95, 1.0)
_COLORS = ("#8F3B00", "#D9742B", "#F5C9A3", "#F7F7F7", "#B3D3EA", "#5FA2D0", "#0B4F80")
_DARK = (0, 6)  # classes with white text
_MOST_NAMED = 50  # columns
_MOST_WRITTEN = 20  # players whose probabilities are written into the cells


def plot_win_matrix(
    result: "BradleyTerryFit | xr.DataTree",
    *,
    most: int = 40,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Draw how probably each row beats each column, players ordered by skill (Property 3.1).

    Columns are in the order of the rows, with their names for up to 50 players. Up to 20 players
    the cells hold the probabilities in percent; colours are of classes, with the key below.

    Parameters
    ----------
    result : BradleyTerryFit or DataTree
        A fit; a result with ``win_probability`` and ``epp`` in the group ``posterior`` or
        ``point_estimate``; or one with ``epp`` in ``posterior`` alone, whose logistic win
        probabilities are averaged over the draws.
    most : int
        Best players drawn; the title says if that leaves some out.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches. Default: as large as the players need.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: areas ``class_0``, ``class_0_1``, ... to ``class_6`` and texts
        ``cell_ROW_COLUMN`` of the variable ``win_probability``; the same classes of ``key``.

    Raises
    ------
    InputError
        A result without probabilities and skills, or an impossible ``most``.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament([1, 0, -1], 40, players=["a", "b", "c"], random_seed=0))
    >>> figure = plot_win_matrix(fit, backend="none")
    >>> figure.viz["cell_0_2"]["win_probability"].item()["string"]
    '88'
    """
    players, wins, total = _best_players(result, most)
    count = len(players)
    cell = 0.36 if count <= _MOST_WRITTEN else 0.22
    named = count <= _MOST_NAMED
    longest = max(map(len, map(_column_name, players))) if named else 0
    size = figsize or (max(2.9 + cell * count, 6.4), 2.1 + cell * count + 0.07 * longest)
    anything = make_bounds(0.0, 1.0)
    collection = make_collection(
        {"win_probability": anything, "key": anything},
        backend=backend,
        figsize=size,
        height_ratios=[cell * count, 0.2],
    )
    panel = Panel(collection, "win_probability")
    _draw_classes(panel, wins)
    _draw_grid(panel, count)
    if count <= _MOST_WRITTEN:
        _write_cells(panel, wins)
    ranks = list(enumerate(players, start=1))
    rows = name_axis(ranks, [-float(row) for row in range(count)], margin=0.5)
    texts = (
        [_column_name(name) for name in players]
        if named
        else [str(rank) if rank % 5 == 0 else "" for rank, _ in ranks]
    )
    columns = Axis("", -0.5, count - 0.5, range(count), texts, 8, rotation=90 if named else 0)
    set_axes(panel, columns, rows)
    _draw_key(Panel(collection, "key"))
    title_figure(collection, _finding_of_wins(players, wins, total))
    return collection


def _column_name(name: str) -> str:
    return shown_name(name, 24)


def _best_players(
    result: "BradleyTerryFit | xr.DataTree", most: int
) -> tuple[list[str], FloatArray, int]:
    """Names of the best players, their probabilities, and how many players there are."""
    if isinstance(result, BradleyTerryFit):
        players, epp, wins = result.players, result.epp, result.win_probabilities()
        order = best_first(epp, most)
        return [players[i] for i in order], wins[np.ix_(order, order)], len(players)
    for group in ("posterior", "point_estimate"):
        if group in result.children and "win_probability" in result[group]:
            found = result[group].to_dataset()[["epp", "win_probability"]]
            means = found.mean([dim for dim in ("chain", "draw") if dim in found.dims])
            names = [str(name) for name in means["player"].values]
            order = best_first(means["epp"].values, most)
            wins = means["win_probability"].transpose("player", "player_other").values
            return [names[i] for i in order], wins[np.ix_(order, order)], len(names)
    players, draws = draws_of_players(result, "epp")
    order = best_first(draws.mean(axis=0), most)
    shown = draws[:, order]
    rows = [np.mean(1 / (1 + np.exp(shown - own[:, None])), axis=0) for own in shown.T]
    return [players[i] for i in order], np.stack(rows), len(players)


def _classes(wins: FloatArray) -> NDArray[np.intp]:
    """Class of each probability, 0 to 6."""
    return np.clip(np.digitize(wins, _EDGES) - 1, 0, len(_COLORS) - 1)


def _draw_classes(panel: Panel, wins: FloatArray) -> None:
    """One area per class; a second one where its cells of a column are not together."""
    classes, count = _classes(wins), len(wins)
    for kind in range(len(_COLORS)):
        runs = [_runs(classes[:, column] == kind) for column in range(count)]
        for layer in range(max(map(len, runs))):
            ends = np.zeros((count, 2))
            for column, found in enumerate(runs):
                ends[column] = found[layer] if layer < len(found) else (0.0, 0.0)
            label = f"class_{kind}" + (f"_{layer}" if layer else "")
            _draw_steps(panel, label, 0.5 - ends, kind)


def _runs(here: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and one past the last of every run of cells."""
    steps = np.flatnonzero(np.diff(np.concatenate([[0], here.astype(np.int8), [0]])))
    return list(zip(steps[::2].tolist(), steps[1::2].tolist(), strict=True))


def _draw_steps(panel: Panel, label: str, ends: FloatArray, kind: int) -> None:
    """Area between the ends of every column, shape (columns, 2)."""
    import xarray as xr
    from arviz_plots import visuals

    left = np.arange(len(ends)) - 0.5
    x = np.column_stack([left, left + 1]).ravel()
    bottom, top = (np.repeat(ends[:, side], 2) for side in (1, 0))
    band = xr.DataArray(
        np.stack([x, bottom, top]),
        dims=("kwarg", "point"),
        coords={"kwarg": ["x", "y_bottom", "y_top"]},
    )
    panel.draw(visuals.fill_between_y, label, band, color=_COLORS[kind], alpha=1.0)


def _draw_grid(panel: Panel, count: int) -> None:
    """White lines between the cells."""
    lines, ends = np.arange(1, count)[:, None] - 0.5, np.array([-0.5, count - 0.5])
    width = 1.0 if count <= _MOST_WRITTEN else 0.4
    draw_bars(panel, "columns", lines, -ends, "white", width=width)
    draw_bars(panel, "rows", ends, -lines, "white", width=width)


def _write_cells(panel: Panel, wins: FloatArray) -> None:
    classes = _classes(wins)
    for row, column in np.argwhere(~np.eye(len(wins), dtype=bool)):
        color = "white" if classes[row, column] in _DARK else "black"
        text = _whole_percent(float(wins[row, column]))
        panel.text(f"cell_{row}_{column}", float(column), -float(row), text, color=color)


def _whole_percent(p: float) -> str:
    if p < 0.005:
        return "<1"
    return ">99" if p > 0.995 else f"{100 * p:.0f}"


def _draw_key(panel: Panel) -> None:
    for kind in range(len(_COLORS)):
        ends = np.zeros((len(_COLORS), 2))
        ends[kind] = (1.0, 0.0)
        _draw_steps(panel, f"class_{kind}", ends, kind)
    last = len(_COLORS) - 0.5
    texts = [f"{edge:.0%}" for edge in _EDGES]
    ticks = [place - 0.5 for place in range(len(_EDGES))]
    x = Axis("probability that the row beats the column", -0.5, last, ticks, texts)
    set_axes(panel, x, Axis("", 0.0, 1.0, [], [], boxed=False))


def _finding_of_wins(players: list[str], wins: FloatArray, count: int) -> str:
    names = [shown_name(name, 18) for name in players]
    if len(names) == 1:
        return f"{names[0]}, the best of {count:,}"
    text = f"{names[0]} beats {names[1]} with probability {_share(wins[0, 1])}"
    if len(names) > 2:
        text += f",\n{names[-1]} with {_share(wins[0, -1])}"
    return text if len(names) == count else f"{text} (the best {len(names)} of {count:,} are drawn)"


def _share(p: float) -> str:
    return _whole_percent(p).replace(">", "more than ").replace("<", "less than ") + "%"
