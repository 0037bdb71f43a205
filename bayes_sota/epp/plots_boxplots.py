r"""EPP over tournaments, a box for each family of players (Fig. 4 of the EPP paper).

Boxes are quartiles with the median; whiskers reach the last value within 1.5 interquartile ranges,
dots are beyond. ``tests/epp/test_epp_figures.py`` compares with ``numpy.quantile``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.plots_canvas import COLORS, Panel, make_bounds, make_collection, title_figure
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.plots_axes import (
    Axis,
    draw_bars,
    draw_dots,
    height_of_rows,
    number_axis,
    set_axes,
    shown_name,
)

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

__all__ = ["SkillsOfPlayers", "plot_epp_boxplots"]

_MOST_FAMILIES = 8
_ALL = "all tournaments"

Boxes = dict[tuple[str, str], FloatArray]  # EPP of the players of a family in a tournament


class SkillsOfPlayers(Protocol):
    """Names and EPP of the players of one tournament, as a fit has them."""

    @property
    def players(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def epp(self) -> FloatArray: ...  # noqa: D102


def plot_epp_boxplots(
    tournaments: Mapping[str, SkillsOfPlayers],
    family: Mapping[str, str] | Callable[[str], str],
    *,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Draw the EPP of every family of players in every tournament, a panel per family.

    A long box is a family whose players differ much, so that choosing among them pays. The row
    below is of all tournaments together. Families stand in the order of their medians there,
    tournaments in the given order.

    Parameters
    ----------
    tournaments : mapping of name -> fit
        Anything with ``players`` and ``epp``.
    family : mapping or callable
        Family of each player, such as its algorithm.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches. Default: as large as tournaments and families need.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``box``, ``whiskers``, ``median`` and ``outliers``, each with a variable
        per family, ``family_0`` first.

    Raises
    ------
    InputError
        No tournament, a player without a family, or more than 8 families.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> names = ["tree_1", "tree_2", "net_1", "net_2"]
    >>> found = {
    ...     "credit": SimpleNamespace(players=names, epp=np.array([1.0, 0.6, -0.5, -1.1])),
    ...     "wine": SimpleNamespace(players=names, epp=np.array([0.2, 0.1, 0.9, -1.2])),
    ... }
    >>> figure = plot_epp_boxplots(found, lambda name: name.split("_")[0], backend="none")
    >>> figure.viz["figure_title"].item()["string"].split("\\n")[0]
    'tree: median EPP 0.40,'
    """
    boxes, families = _boxes(tournaments, family)
    rows = [*tournaments, _ALL] if len(tournaments) > 1 else list(tournaments)
    x = number_axis("EPP", np.concatenate(list(boxes.values())), most=5)
    size = figsize or (max(2.6 + 1.75 * len(families), 6.0), 1.6 + height_of_rows(len(rows)))
    names = [f"family_{place}" for place in range(len(families))]
    collection = make_collection(
        {name: make_bounds(x.low, x.high) for name in names},
        backend=backend,
        figsize=size,
        across=True,
    )
    heights = [-float(row) - 0.4 * (tournament == _ALL) for row, tournament in enumerate(rows)]
    for place, (name, kind) in enumerate(zip(names, families, strict=True)):
        panel = Panel(collection, name)
        panel.vline("average", 0.0, COLORS["prior"])
        _draw_boxes(panel, [boxes.get((row, kind), np.array([])) for row in rows], heights)
        texts = [shown_name(row, 28) for row in rows] if place == 0 else []
        ticks = heights if place == 0 else []
        set_axes(panel, x, Axis("", heights[-1] - 0.6, 0.6, ticks, texts, boxed=False))
        panel.set_titles([shown_name(kind, 18)])
    title_figure(collection, _finding(boxes, families, list(tournaments)))
    return collection


def _boxes(
    tournaments: Mapping[str, SkillsOfPlayers], family: Mapping[str, str] | Callable[[str], str]
) -> tuple[Boxes, list[str]]:
    """EPP by tournament and family, and the families, the best first."""
    if not tournaments:
        raise InputError("boxplots need at least one tournament, got none")
    boxes: Boxes = {}
    for name, fit in tournaments.items():
        kinds = np.array([_family(family, player) for player in fit.players])
        for kind in dict.fromkeys(kinds.tolist()):
            boxes[name, kind] = np.asarray(fit.epp, np.float64)[kinds == kind]
    families = list(dict.fromkeys(kind for _, kind in boxes))
    if len(families) > _MOST_FAMILIES:
        raise InputError(
            f"at most {_MOST_FAMILIES} families of players can be drawn, got {len(families)}"
        )
    for kind in families:
        every = [values for (_, other), values in boxes.items() if other == kind]
        boxes[_ALL, kind] = np.concatenate(every)
    families.sort(key=lambda kind: -float(np.median(boxes[_ALL, kind])))
    return boxes, families


def _family(family: Mapping[str, str] | Callable[[str], str], player: str) -> str:
    if callable(family):
        return str(family(player))
    if player not in family:
        raise InputError(f"player {player!r} has no family: name one for every player")
    return str(family[player])


def _draw_boxes(panel: Panel, values: Sequence[FloatArray], heights: Sequence[float]) -> None:
    """Boxes of one family, one artist for each part."""
    there = [(v, y) for v, y in zip(values, heights, strict=True) if len(v)]
    y = np.array([height for _, height in there])
    quartiles = np.array([np.quantile(v, [0.25, 0.5, 0.75]) for v, _ in there])
    reach = 1.5 * (quartiles[:, 2] - quartiles[:, 0])
    low, high = quartiles[:, 0] - reach, quartiles[:, 2] + reach
    ends = np.array(
        [[v[v >= a].min(), v[v <= b].max()] for (v, _), a, b in zip(there, low, high, strict=True)]
    )
    beyond = [v[(v < a) | (v > b)] for (v, _), a, b in zip(there, low, high, strict=True)]
    color = COLORS["theta_sota"]
    draw_bars(panel, "whiskers", ends, y[:, None], color, width=1.0)
    draw_bars(panel, "box", quartiles[:, [0, 2]], y[:, None], color, width=7.0, alpha=0.45)
    across = y[:, None] + np.array([-0.3, 0.3])
    draw_bars(panel, "median", quartiles[:, 1:2], across, "black", width=1.6)
    outliers = np.concatenate(beyond)
    rows = np.repeat(y, [len(v) for v in beyond])
    draw_dots(panel, "outliers", outliers, rows, color, diameter=2.5, hollow=True)


def _finding(boxes: Boxes, families: list[str], tournaments: list[str]) -> str:
    """What is seen of the first family."""
    first, others = families[0], families[1:]
    middle = f"{shown_name(first, 24)}: median EPP {float(np.median(boxes[_ALL, first])):.2f}"
    if not others:
        return middle
    medians = {key: float(np.median(values)) for key, values in boxes.items()}
    ahead = sum(
        (name, first) in medians
        and all(medians[name, first] > medians.get((name, kind), -np.inf) for kind in others)
        for name in tournaments
    )
    rest = "the other family" if len(others) == 1 else f"the other {len(others)} families"
    where = f"{ahead} of {len(tournaments)} tournament{'s' * (len(tournaments) > 1)}"
    return f"{middle},\nabove {rest} in {where}"
