"""Boxes of the skills of families of players, in one tournament or several.

Figure 4 of Gosiewska et al. (2022). ``tests/epp/test_plots_families.py`` reads the artists back.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from arviz_plots import PlotCollection

from bayes_sota.core.arguments import COUNT
from bayes_sota.core.plots import COLORS, Panel, make_bounds, make_collection
from bayes_sota.core.plots_matrix import Axis, draw_bars
from bayes_sota.core.text import counted, shown_name
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.further_fits import TournamentLeaderboard
from bayes_sota.epp.plots import finished, odds_axis
from bayes_sota.epp.tuning import families_of

_GAP = 0.7  # between tournaments, in rows
_REACH = 1.5  # of whiskers, in widths of the box
_COLORS = ("theta_sota", "winner_skill", "expected_sota", "dark", "prior")


def plot_families(
    result: BradleyTerryFit | Sequence[TournamentLeaderboard],
    separator: str,
    *,
    most: int = 8,
    backend: str | None = None,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw the skills of every family as a box, by tournament (Fig. 4 of the EPP paper).

    Boxes hold the middle half, white dots are medians; whiskers end at the last skill within 1.5
    widths of the box, and dots are skills beyond.

    Parameters
    ----------
    result : BradleyTerryFit or sequence of TournamentLeaderboard
    separator : str
        What stands after the family in the names of players.
    most : int
        Tournaments drawn; the title says if that leaves some out.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``epp``: ``average``, and for the k-th family
        ``whisker_k`` and ``box_k`` (bars, NaN between them), ``median_k`` and, where there are any,
        ``beyond_k``.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> names = ["svm_1", "svm_2", "svm_3", "knn_1", "knn_2", "knn_3"]
    >>> skills = [2.0, 0.0, -2.0, 0.5, 0.4, 0.3]
    >>> fit = fit_epp(simulate_tournament(skills, 40, players=names, random_seed=0))
    >>> plot_families(fit, "_", backend="none").viz["figure_title"].item()["string"]
    'Skills of svm are spread the most: there tuning matters most'
    """
    COUNT.check(most, "most")
    boards: Sequence[Any] = [result] if isinstance(result, BradleyTerryFit) else result
    drawn = [(board.tournament, _by_family(board, separator)) for board in boards[:most]]
    names = list(dict.fromkeys(name for _, families in drawn for name in families))
    heights, texts, at = _rows(drawn, names)
    x = odds_axis(
        "EPP, and the probability of beating an average player",
        np.concatenate([x for _, families in drawn for x in families.values()]),
    )
    y = Axis("", min(heights) - 0.7, 0.7, heights, texts, boxed=False)
    size = (7.4, 1.6 + 0.27 * (0.7 - y.low))
    where = {"backend": backend, "plot_collection": plot_collection, **pc_kwargs}
    collection = make_collection({"epp": make_bounds(x.low, x.high)}, figsize=size, **where)
    panel = Panel(collection, "epp")
    panel.vline("average", 0.0, COLORS["prior"])
    for k, name in enumerate(names):
        places = [(at[place, name], of[name]) for place, (_, of) in enumerate(drawn) if name in of]
        _draw_boxes(panel, k, np.array([height for height, _ in places]), [x for _, x in places])
    return finished(panel, x, y, _finding(drawn, names, len(boards)))


def _by_family(board: Any, separator: str) -> dict[str, FloatArray]:
    """Skills of each family."""
    of = np.array(families_of(board.players, separator))
    return {name: board.epp[of == name] for name in dict.fromkeys(of.tolist())}


def _rows(
    drawn: Sequence[tuple[str, dict[str, FloatArray]]], names: Sequence[str]
) -> tuple[list[float], list[str], dict[tuple[int, str], float]]:
    """Heights and labels of the rows, and where the row of a family in a tournament is."""
    heights: list[float] = []
    texts: list[str] = []
    at: dict[tuple[int, str], float] = {}
    height = 0.0
    for place, (tournament, families) in enumerate(drawn):
        for n, name in enumerate(name for name in names if name in families):
            title = f"{shown_name(tournament, 20)}   " if n == 0 and len(drawn) > 1 else ""
            texts.append(f"{title}{shown_name(name, 24)}")
            heights.append(height)
            at[place, name] = height
            height -= 1.0
        height -= _GAP
    return heights, texts, at


def _draw_boxes(panel: Panel, k: int, heights: FloatArray, skills: Sequence[FloatArray]) -> None:
    """Boxes of one family, a row each."""
    color = COLORS[_COLORS[k % len(_COLORS)]]
    quarters = np.array([np.quantile(x, [0.25, 0.5, 0.75]) for x in skills])
    reach = _REACH * (quarters[:, 2] - quarters[:, 0])
    inside = [
        (x >= low) & (x <= high)
        for x, low, high in zip(skills, quarters[:, 0] - reach, quarters[:, 2] + reach, strict=True)
    ]
    ends = np.array([[x[i].min(), x[i].max()] for x, i in zip(skills, inside, strict=True)])
    draw_bars(panel, f"whisker_{k}", ends, heights[:, None], color, 1.0)
    draw_bars(panel, f"box_{k}", quarters[:, [0, 2]], heights[:, None], color, 6.0)
    beyond = [x[~i] for x, i in zip(skills, inside, strict=True)]
    if any(x.size for x in beyond):
        rows = np.repeat(heights, [x.size for x in beyond])
        panel.dots(f"beyond_{k}", np.concatenate(beyond), rows, color, size=5)
    panel.dots(f"median_{k}", quarters[:, 1], heights, "white", size=12)


def _finding(
    drawn: Sequence[tuple[str, dict[str, FloatArray]]], names: Sequence[str], count: int
) -> str:
    """The family whose skills are spread the most, by the mean width of its boxes."""
    widths = {
        name: np.mean(
            [np.subtract(*np.quantile(of[name], [0.75, 0.25])) for _, of in drawn if name in of]
        )
        for name in names
    }
    widest = shown_name(max(widths, key=lambda name: widths[name]), 40)
    said = f"Skills of {widest} are spread the most: there tuning matters most"
    if len(names) == 1:
        said = f"Skills of {widest}"
    left = f"\nthe first {len(drawn)} of {counted(count, 'tournament')} are drawn"
    return said + (left if len(drawn) < count else "")
