"""Probability that each player beats each other, players ordered by skill.

Each class of probabilities is one area of steps: with players in the order of their skills the
probabilities of a fit fall from the upper right to the lower left.
``tests/epp/test_plots.py`` reads every cell back.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.plots import Panel, make_bounds, make_collection, title_figure
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.plots import (
    Axis,
    best_first,
    draw_bars,
    draws_of_players,
    name_axis,
    set_axes,
    shown_name,
)

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection


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
