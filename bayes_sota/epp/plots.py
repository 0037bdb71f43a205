"""Skills of players, one row each, the best first, and what figures of players share.

Draws a fit or a posterior and computes nothing but intervals and shares of draws;
``tests/epp/test_plots.py`` reads the artists back and measures that texts do not collide.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from arviz_plots import PlotCollection
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import COUNT, OPEN_SHARE, check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    make_ticks,
    title_figure,
)
from bayes_sota.core.plots_matrix import Axis, draw_bars, set_axes
from bayes_sota.core.text import shown_name
from bayes_sota.core.types import BoolArray, FloatArray
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.summary import epp_table, summarize_epp

Contrast = Literal["simultaneous", "model"]
_CONTRASTS = {
    "simultaneous": "thin bar: all players at once",
    "model": "marks: if matches were independent",
}
_MARK = 0.3  # half the height of an upright mark, in rows


def plot_epp(
    result: BradleyTerryFit | xr.DataTree,
    *,
    ci_prob: float = 0.95,
    contrast: Contrast | None = "simultaneous",
    most: int = 100,
    backend: str | None = None,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
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
        Of a fit, beside the thick bars, which are the interval of each player: thin bars, which
        hold for all players at once; or upright marks, where the intervals of independent matches
        end, which are too short. None draws neither, and a posterior has neither.
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
        "behind" that occurs ``interval_tied``, ``simultaneous_tied`` or ``model_tied`` (bars and
        marks, NaN between them) and ``epp_tied`` (dots).

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
    COUNT.check(most, "most")
    if contrast is not None:
        check_choice("contrast", contrast, Contrast)
    board = _leaderboard(result, ci_prob)
    drawn = board.head(most)
    meaning = f"thick bar: {100 * ci_prob:.3g}% interval of each"
    if not isinstance(result, BradleyTerryFit):
        contrast, meaning = None, f"posterior mean; {meaning}"
    elif contrast is not None:
        low, high = result.interval(ci_prob, contrast)[best_first(result.epp)[:most]].T
        drawn, meaning = drawn.assign(low=low, high=high), f"{meaning}; {_CONTRASTS[contrast]}"
    label = f"EPP, and the probability of beating an average player\n({meaning})"
    x = odds_axis(label, drawn.filter(["epp", "lower", "upper", "low", "high"]))
    where = {"backend": backend, "plot_collection": plot_collection, **pc_kwargs}
    panel, y = named_rows("epp", x, drawn, above=1.9, **where)
    panel.vline("average", 0.0, COLORS["prior"])
    for kind, here, heights, color in by_standing(drawn["tied"].to_numpy()):
        rows, chosen = heights[:, None], drawn.iloc[here]
        if contrast is not None:
            thin = _inside(chosen[["low", "high"]], x)
            if contrast == "model":  # upright marks at both ends
                thin = thin.reshape(-1, 1)
                rows = np.repeat(rows, 2, axis=0) + np.array([-_MARK, _MARK])
            draw_bars(panel, f"{contrast}_{kind}", thin, rows, color, 0.9)
        thick = _inside(chosen[["lower", "upper"]], x)
        draw_bars(panel, f"interval_{kind}", thick, heights[:, None], color, 2.8)
        draw_dots(panel, f"epp_{kind}", chosen["epp"].to_numpy(), heights, color)
    return finished(panel, x, y, _finding_of_skills(board, len(drawn)))


def _leaderboard(result: BradleyTerryFit | xr.DataTree, ci_prob: float) -> pd.DataFrame:
    """What is drawn of the players, the best first."""
    if isinstance(result, BradleyTerryFit):
        return epp_table(result, ci_prob).frame.rename(columns={"tied_with_best": "tied"})
    frame = summarize_epp(result, ci_prob).reset_index().rename(columns={"mean": "epp"})
    return frame.assign(rank=1 + np.arange(len(frame)), tied=frame["p_best"] >= (1 - ci_prob) / 2)


def plot_learning_curve(
    points: Sequence[Mapping[str, Any]],
    *,
    backend: str | None = None,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw how standard errors of skills fall with the number of rounds.

    Parameters
    ----------
    points : sequence of mapping
        ``rounds``, ``se`` (None for more rounds than there are) and ``predicted_se``: the key
        ``learning_curve`` of ``bayes_sota.epp.report_plan``.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
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
    where = {"backend": backend, "plot_collection": plot_collection, **pc_kwargs}
    panel = Panel(make_collection({"se": limits}, figsize=(6.4, 3.8), **where), "se")
    fine = np.linspace(rounds.min(), rounds.max(), 200)
    logarithms = np.interp(np.log(fine), np.log(rounds), np.log(expected))
    panel.line("expected", fine, np.exp(logarithms), COLORS["theta_sota"])
    known = np.isfinite(seen)
    panel.dots("seen", rounds[known], seen[known], "black")
    label = "rounds\n(line: expected from all rounds; dots: of random parts of them)"
    numbers = [int(n) for n in rounds]
    set_axes(
        panel,
        Axis(label, 0.0, float(limits[1]), numbers, [f"{n:,}" for n in numbers]),
        Axis("standard error of a skill (logits)", 0.0, top, *make_ticks(0.0, top)),
    )
    last = int(np.flatnonzero(known)[-1])
    title_figure(
        panel.collection,
        f"With {int(rounds[last])} rounds the median standard error is {seen[last]:.2f}",
    )
    return panel.collection


def best_first(epp: FloatArray) -> NDArray[np.intp]:
    """Places of the players, the best first.

    Examples
    --------
    >>> best_first(np.array([-1.0, 2.0, 0.5])).tolist()
    [1, 2, 0]
    """
    return np.argsort(-epp, kind="stable")


def by_standing(tied: BoolArray) -> Iterator[tuple[str, NDArray[np.intp], FloatArray, str]]:
    """Players that may be the best, and those behind: kind, places, heights of rows, colour."""
    for kind, here, name in (("tied", tied, "theta_sota"), ("behind", ~tied, "dark")):
        places = np.flatnonzero(here)
        yield kind, places, -places.astype(np.float64), COLORS[name]


def name_axis(ranks: Iterable[int], names: Iterable[str], margin: float = 0.6) -> Axis:
    """Ranks and shortened names, one below the other from height 0."""
    texts = [f"{rank:.0f}  {shown_name(name)}" for rank, name in zip(ranks, names, strict=True)]
    heights = [-float(row) for row in range(len(texts))]
    return Axis("", heights[-1] - margin, margin, heights, texts, boxed=False)


def odds_axis(label: str, values: ArrayLike) -> Axis:
    """Range of the finite log odds, with the probability against an average player below each.

    Examples
    --------
    >>> odds_axis("EPP", [-1.0, 1.0, np.inf]).texts[-1]
    '1.0\\n73%'
    """
    skills = np.asarray(values, np.float64)
    finite = skills[np.isfinite(skills)]
    low, high = float(finite.min()), float(finite.max())
    room = 0.05 * (high - low) or 0.01 * max(abs(high), 1.0)
    low, high = low - room, high + room
    ticks, texts = make_ticks(low, high)
    chances = (_percent(1 / (1 + float(np.exp(-tick)))) for tick in ticks)
    texts = [f"{text}\n{chance}" for text, chance in zip(texts, chances, strict=True)]
    return Axis(label, low, high, ticks, texts)


def _percent(p: float) -> str:
    if 0.01 <= p <= 0.99:
        return f"{p:.0%}"
    return f"{p:.1%}" if 0.001 <= p <= 0.999 else ("<0.1%" if p < 0.5 else ">99.9%")


def named_rows(
    variable: str,
    x: Axis,
    drawn: pd.DataFrame,
    *,
    above: float,
    margin: float = 0.6,
    **figure: Any,
) -> tuple[Panel, Axis]:
    """Panel with a row per player, less high for each where there are many, and its axis."""
    size = (7.4, above + len(drawn) * (0.27 if len(drawn) <= 30 else 0.2))
    bounds = {variable: make_bounds(x.low, x.high)}
    collection = make_collection(bounds, figsize=size, **figure)
    return Panel(collection, variable), name_axis(drawn["rank"], drawn["player"], margin)


def _inside(ends: pd.DataFrame, axis: Axis) -> FloatArray:
    """Intervals, shape (m, 2); ends that are not known or infinite go to the edge."""
    return np.where(np.isfinite(ends), ends, [axis.low, axis.high])


def finished(panel: Panel, x: Axis, y: Axis, title: str) -> PlotCollection:
    """The figure, with its axes and its title."""
    set_axes(panel, x, y)
    title_figure(panel.collection, title)
    return panel.collection


def draw_dots(panel: Panel, label: str, x: FloatArray, y: FloatArray, color: str) -> None:
    """Dots, hollow for players that are behind."""
    if x.size:
        hollow = {"facecolor": "white"} if label.endswith("_behind") else {}
        panel.dots(label, xr.DataArray(x, dims="point"), y, color, **hollow)


def _finding_of_skills(board: pd.DataFrame, drawn: int) -> str:
    tied, count = int(board["tied"].sum()), len(board)
    sentence = f"{tied:,} of {count:,} players may be the best (filled dots)"
    if tied == 1:
        others = "the other" if count == 2 else f"all other {count - 1:,}"
        sentence = f"{shown_name(board['player'].iloc[0])} is better than {others}"
    return sentence if drawn == count else f"{sentence}\nthe first {drawn:,} are drawn"
