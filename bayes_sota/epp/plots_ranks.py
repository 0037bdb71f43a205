"""Ranks that players may have, and the probability that each beats each other.

Ranks are the posterior of each player, or the rank intervals of a fit. Each class of win
probabilities is one area of steps: with players in the order of their skills those of a fit fall
from the upper right to the lower left. ``tests/epp/test_plots.py`` reads the artists back.
"""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from arviz_plots import PlotCollection
from scipy.special import expit

from bayes_sota.core.arguments import COUNT, OPEN_SHARE
from bayes_sota.core.plots import COLORS, Panel, title_figure
from bayes_sota.core.plots_matrix import Axis, draw_area, draw_bars, draw_matrix
from bayes_sota.core.text import shown_name
from bayes_sota.core.types import BoolArray, FloatArray
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.plots import (
    best_first,
    by_standing,
    draw_dots,
    finished,
    named_rows,
)
from bayes_sota.epp.summary import draws_of_players

_TALLEST = 0.82  # of the bars of ranks, in rows


def plot_rank_distribution(
    result: BradleyTerryFit | xr.DataTree,
    *,
    ci_prob: float = 0.95,
    most: int = 40,
    backend: str | None = None,
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
        A fit, or a result with ``rank`` or ``epp`` in the group ``posterior``.
    ci_prob : float
        Probability of the intervals.
    most : int
        Best players drawn; the title says if that leaves some out.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
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
    if isinstance(result, BradleyTerryFit):
        board, shares = _ranks_of_fit(result, ci_prob)
    else:
        board, shares = _ranks_of_draws(result, ci_prob)
    of_fit = shares is None
    drawn = board.sort_values("middle", kind="stable").head(most)
    ends = drawn[["rank_lower", "rank_upper"]].to_numpy()
    x = _rank_axis(int(ends.max()), _meaning(ci_prob, of_fit=of_fit))
    where = {"backend": backend, "plot_collection": plot_collection, **pc_kwargs}
    panel, y = named_rows("rank", x, drawn, above=1.6, margin=0.6 if of_fit else 0.95, **where)
    tied = drawn["rank_lower"].to_numpy() == 1
    if shares is not None:
        _draw_shares(panel, shares[drawn.index], tied)
    low, wider = (0.0, 0.0) if of_fit else (0.12, 0.45)  # below, and as wide as steps
    for kind, here, heights, color in by_standing(tied):
        bars = ends[here] + np.array([-wider, wider])
        draw_bars(panel, f"interval_{kind}", bars, heights[:, None] - low, color, 1.6)
        if of_fit:
            draw_dots(panel, f"rank_{kind}", drawn["middle"].to_numpy()[here], heights, color)
    return finished(panel, x, y, _finding_of_ranks(board, shares, len(drawn)))


def plot_win_matrix(
    result: BradleyTerryFit | xr.DataTree,
    *,
    most: int = 40,
    backend: str | None = None,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
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
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

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
    COUNT.check(most, "most")
    players, wins, total = _best_players(result, most)
    panel = draw_matrix(
        "win_probability",
        wins,
        [f"{rank}  {shown_name(name)}" for rank, name in enumerate(players, 1)],
        players,
        lambda row, column: _whole_percent(float(wins[row, column])),
        "probability that the row beats the column",
        backend=backend,
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    title_figure(panel.collection, _finding_of_wins(players, wins, total))
    return panel.collection


def _best_players(
    result: BradleyTerryFit | xr.DataTree, most: int
) -> tuple[list[str], FloatArray, int]:
    """Names of the best players, their probabilities, and how many players there are."""
    if isinstance(result, BradleyTerryFit):
        names, epp, wins = list(result.players), result.epp, result.win_probabilities()
    elif (held := _held(result)) is not None:
        names, epp = [str(name) for name in held["player"].values], held["epp"].values
        wins = held["win_probability"].transpose("player", "player_other").values
    else:
        names, draws = draws_of_players(result, "epp")
        order = best_first(draws.mean(axis=0))[:most]
        rows = [np.mean(expit(draws[:, [i]] - draws[:, order]), axis=0) for i in order]
        return [names[i] for i in order], np.stack(rows), len(names)
    order = best_first(epp)[:most]
    return [names[i] for i in order], wins[np.ix_(order, order)], len(names)


def _held(tree: xr.DataTree) -> xr.Dataset | None:
    """Skills and win probabilities that a result holds, their means over draws."""
    for group in ("posterior", "point_estimate"):
        if group in tree.children and "win_probability" in tree[group]:
            dataset = tree[group].to_dataset()[["epp", "win_probability"]]
            return dataset.mean([dim for dim in ("chain", "draw") if dim in dataset.dims])
    return None


def _whole_percent(p: float) -> str:
    if p < 0.005:
        return "<1"
    return ">99" if p > 0.995 else f"{100 * p:.0f}"


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


def _ranks_of_fit(fit: BradleyTerryFit, ci_prob: float) -> tuple[pd.DataFrame, None]:
    """Players with their ranks and rank intervals."""
    columns = {"player": fit.players, "rank": fit.rank, "middle": fit.rank.astype(np.float64)}
    ends = dict(zip(("rank_lower", "rank_upper"), fit.rank_interval(ci_prob).T, strict=True))
    return pd.DataFrame(columns | ends), None


def _ranks_of_draws(tree: xr.DataTree, ci_prob: float) -> tuple[pd.DataFrame, FloatArray]:
    """The same, equal-tailed, and the probability of each rank from 1, shape (m, m)."""
    held = "posterior" in tree.children and "rank" in tree["posterior"]
    players, draws = draws_of_players(tree, "rank" if held else "epp")
    m = len(players)
    ranks = draws if held else np.argsort(np.argsort(-draws, axis=1), axis=1) + 1
    places = np.clip(np.rint(ranks).astype(np.intp) - 1, 0, m - 1) + m * np.arange(m)
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
        draw_area(panel, f"ranks_{row}", np.arange(first, last + 1) + 0.5, ends, color, 0.55)


def _finding_of_ranks(board: pd.DataFrame, shares: FloatArray | None, drawn: int) -> str:
    count = len(board)
    if shares is None:
        text = f"{int((board['rank_lower'] == 1).sum()):,} of {count:,} players may hold rank 1"
    else:
        best = int(np.argmax(shares[:, 0]))
        name = shown_name(board["player"][best], 30)
        text = f"{name} is the best with a probability of {shares[best, 0]:.0%}"
    return text if drawn == count else f"{text}\nthe first {drawn:,} of {count:,} are drawn"
