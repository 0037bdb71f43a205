"""Skills of players, and ranks that they may have.

A fit or a posterior is drawn, the best first, and nothing computed but intervals and shares of
draws. ``tests/epp/test_plots.py`` reads the artists back and measures that texts do not collide.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from arviz_plots import PlotCollection
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import COUNT, OPEN_SHARE
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    make_ticks,
    title_figure,
)
from bayes_sota.core.text import shown_name
from bayes_sota.core.types import BoolArray, FloatArray
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.summary import draws_of_players, epp_table, summarize_epp

_TALLEST = 0.82  # of the bars of ranks, in rows


class Axis(NamedTuple):
    """Range, label and ticks of an axis."""

    label: str
    low: float
    high: float
    ticks: list[float]
    texts: list[str]


def plot_epp(
    result: BradleyTerryFit | xr.DataTree,
    *,
    ci_prob: float = 0.95,
    most: int = 100,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw the EPP of every player and its intervals, the best first.

    Filled blue dots are the players that may be the best, hollow grey ones those that some other
    is certainly better than: of a fit by ``tied_with_best``, of a posterior where the probability
    of being the best is below ``(1 - ci_prob) / 2``. Thick bars are the interval of each player;
    thin bars, which only a fit has, hold for all players at once. Below the EPP stands the
    probability of beating an average player (Property 3.4 of the EPP paper).

    Parameters
    ----------
    result : BradleyTerryFit or DataTree
        A fit, or a result with ``epp`` in the group ``posterior``.
    ci_prob : float
        Probability of the intervals, and of the comparison with the best.
    most : int
        Players drawn; the title says if that leaves some out.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``epp``: ``average``, and for each of "tied" and
        "behind" that occurs ``interval_tied``, ``simultaneous_tied`` (bars, NaN between them) and
        ``epp_tied`` (dots).

    Raises
    ------
    InputError
        An impossible ``ci_prob`` or ``most``, or a result without skills.

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
    board = _leaderboard(result, ci_prob)
    drawn = board.head(most)
    meaning = f"thick bar: {100 * ci_prob:.3g}% interval of each"
    if isinstance(result, BradleyTerryFit):
        low, high = result.interval(ci_prob, "simultaneous")[best_first(result.epp)[:most]].T
        drawn, meaning = (
            drawn.assign(low=low, high=high),
            f"{meaning}; thin bar: all players at once",
        )
    else:
        meaning = f"posterior mean; {meaning}"
    label = f"EPP, and the probability of beating an average player\n({meaning})"
    x = odds_axis(label, drawn.filter(["epp", "lower", "upper", "low", "high"]))
    where = {"plot_collection": plot_collection, **pc_kwargs}
    panel, y = named_rows("epp", x, drawn, above=1.9, **where)
    panel.vline("average", 0.0, COLORS["prior"])
    for kind, here, heights, color in by_standing(drawn["tied"].to_numpy()):
        chosen = drawn.iloc[here]
        if "low" in chosen:
            thin = _inside(chosen[["low", "high"]], x)
            panel.bars(f"simultaneous_{kind}", thin, heights[:, None], color, 0.9)
        thick = _inside(chosen[["lower", "upper"]], x)
        panel.bars(f"interval_{kind}", thick, heights[:, None], color, 2.8)
        draw_dots(panel, f"epp_{kind}", chosen["epp"].to_numpy(), heights, color)
    return _finished(panel, x, y, _finding_of_skills(board, len(drawn)))


def plot_rank_distribution(
    result: BradleyTerryFit | xr.DataTree,
    *,
    ci_prob: float = 0.95,
    most: int = 40,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw which ranks each player may have, rank 1 on the left.

    Of a posterior the bars are the probabilities of the ranks, all on one scale, with the
    equal-tailed interval below; of a fit there is the interval (of all pairs of players at once)
    and the rank by EPP as a dot. Players that may be the best are blue, of a fit with filled dots.

    Parameters
    ----------
    result : BradleyTerryFit or DataTree
        A fit, or a result with ``epp`` in the group ``posterior``.
    ci_prob : float
        Probability of the intervals.
    most : int
        Best players drawn; the title says if that leaves some out.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``rank``: ``interval_tied``,
        ``interval_behind``, and ``ranks_0``, ... (areas) of a posterior or ``rank_tied``,
        ``rank_behind`` (dots) of a fit.

    Raises
    ------
    InputError
        No draws of players, or an impossible ``ci_prob`` or ``most``.

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
    OPEN_SHARE.check(ci_prob, "ci_prob")
    COUNT.check(most, "most")
    shares: FloatArray | None = None
    if isinstance(result, BradleyTerryFit):
        board = _leaderboard(result, ci_prob).assign(middle=lambda frame: frame["rank"] * 1.0)
    else:
        board, shares = _ranks_of_draws(result, ci_prob)
    of_fit = shares is None
    drawn = board.sort_values("middle", kind="stable").head(most)
    ends = drawn[["rank_lower", "rank_upper"]].to_numpy()
    x = _rank_axis(int(ends.max()), _meaning(ci_prob, of_fit=of_fit))
    where = {"plot_collection": plot_collection, **pc_kwargs}
    panel, y = named_rows("rank", x, drawn, above=1.6, margin=0.6 if of_fit else 0.95, **where)
    tied = drawn["rank_lower"].to_numpy() == 1
    if shares is not None:
        _draw_shares(panel, shares[drawn.index], tied)
    low, wider = (0.0, 0.0) if of_fit else (0.12, 0.45)  # below, and as wide as steps
    for kind, here, heights, color in by_standing(tied):
        bars = ends[here] + np.array([-wider, wider])
        panel.bars(f"interval_{kind}", bars, heights[:, None] - low, color, 1.6)
        if of_fit:
            draw_dots(panel, f"rank_{kind}", drawn["middle"].to_numpy()[here], heights, color)
    return _finished(panel, x, y, _finding_of_ranks(board, shares, len(drawn)))


def _leaderboard(result: BradleyTerryFit | xr.DataTree, ci_prob: float) -> pd.DataFrame:
    """What is drawn of the players, the best first."""
    if isinstance(result, BradleyTerryFit):
        return epp_table(result, ci_prob).frame.rename(columns={"tied_with_best": "tied"})
    frame = summarize_epp(result, ci_prob).reset_index().rename(columns={"mean": "epp"})
    return frame.assign(rank=1 + np.arange(len(frame)), tied=frame["p_best"] >= (1 - ci_prob) / 2)


def _ranks_of_draws(tree: xr.DataTree, ci_prob: float) -> tuple[pd.DataFrame, FloatArray]:
    """Players with equal-tailed intervals of their ranks; probabilities of all ranks, (m, m)."""
    players, draws = draws_of_players(tree)
    m = len(players)
    places = np.argsort(np.argsort(-draws, axis=1), axis=1) + m * np.arange(m)
    shares = np.bincount(places.ravel(), minlength=m * m).reshape(m, m) / len(draws)
    middle = shares @ np.arange(1, m + 1)
    below, tails = np.cumsum(shares, axis=1), ((1 - ci_prob) / 2, (1 + ci_prob) / 2)
    lower, upper = ((below < level - 1e-12).sum(axis=1) + 1 for level in tails)
    columns = {"player": players, "rank": np.argsort(np.argsort(middle, kind="stable")) + 1}
    columns |= {"middle": middle, "rank_lower": lower, "rank_upper": upper}
    return pd.DataFrame(columns), shares


def _meaning(ci_prob: float, *, of_fit: bool) -> str:
    percent = f"{100 * ci_prob:.3g}%"
    if of_fit:
        return f"rank, 1 is best\n(bars: {percent} of all players at once; filled: may be the best)"
    return f"rank, 1 is best\n(areas: probability; bars: {percent} interval; blue: may be rank 1)"


def _rank_axis(last: int, label: str) -> Axis:
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 10**9) if last / step <= 20)
    ticks = [1, *range(step if step > 1 else 2, last + 1, step)]
    return Axis(label, 0.3, last + 0.7, ticks, [f"{tick:,}" for tick in ticks])


def _draw_shares(panel: Panel, shares: FloatArray, tied: BoolArray) -> None:
    """Probabilities of ranks as steps above each player's line."""
    scale = _TALLEST / float(shares.max())
    for row, (heights, best) in enumerate(zip(shares, tied, strict=True)):
        seen = np.flatnonzero(heights > 0)
        first, last = int(seen[0]), int(seen[-1]) + 1
        bottom = np.full(last - first, -float(row))
        ends = np.stack([bottom, bottom + scale * heights[first:last]])
        color = COLORS["theta_sota" if best else "prior"]
        panel.steps(f"ranks_{row}", np.arange(first, last + 1) + 0.5, ends, color, 0.55)


def _finding_of_ranks(board: pd.DataFrame, shares: FloatArray | None, drawn: int) -> str:
    count = len(board)
    if shares is None:
        text = f"{int((board['rank_lower'] == 1).sum()):,} of {count:,} players may hold rank 1"
    else:
        best = int(np.argmax(shares[:, 0]))
        name = shown_name(board["player"][best], 30)
        text = f"{name} is the best with a probability of {shares[best, 0]:.0%}"
    return text if drawn == count else f"{text}\nthe first {drawn:,} of {count:,} are drawn"


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
    """Panel with a row per player, less high for each where there are many.

    Its axis has ranks and shortened names, one below the other from height 0.
    """
    size = (7.4, above + len(drawn) * (0.27 if len(drawn) <= 30 else 0.2))
    bounds = {variable: make_bounds(x.low, x.high)}
    collection = make_collection(bounds, figsize=size, **figure)
    named = zip(drawn["rank"], drawn["player"], strict=True)
    texts = [f"{rank:.0f}  {shown_name(name, 32)}" for rank, name in named]
    heights = [-float(row) for row in range(len(texts))]
    y = Axis("", heights[-1] - margin, margin, heights, texts)
    return Panel(collection, variable), y


def _inside(ends: pd.DataFrame, axis: Axis) -> FloatArray:
    """Intervals, shape (m, 2); ends that are not known or infinite go to the edge."""
    return np.where(np.isfinite(ends), ends, [axis.low, axis.high])


def _finished(panel: Panel, x: Axis, y: Axis, title: str) -> PlotCollection:
    """The figure, with its axes and its title."""
    limits = make_bounds(x.low, x.high)
    panel.set_axes(
        limits,
        xlabel=x.label,
        xlim=limits,
        ylim=(y.low, y.high),
        xticks=(x.ticks, x.texts),
        yticks=lambda _: (y.ticks, y.texts),
    )
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
