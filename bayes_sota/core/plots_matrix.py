"""Axes with names, bars and areas of steps, and matrices of probabilities.

A matrix has a cell for every two of some names, in the colour of the class of a probability, with a
key below. A class is one area of steps: with names in a telling order its cells are together.
``tests/epp/test_plots.py`` and ``tests/claims/test_claim_figures.py`` read the artists back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from arviz_plots import visuals
from arviz_plots.plot_collection import backend_from_object
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.plots import Panel, make_bounds, make_collection, plain_text
from bayes_sota.core.text import shown_name
from bayes_sota.core.types import BoolArray, FloatArray

_EDGES = (0.0, 0.05, 0.25, 0.45, 0.55, 0.75, 0.95, 1.0)
_COLORS = ("#8F3B00", "#D9742B", "#F5C9A3", "#F7F7F7", "#B3D3EA", "#5FA2D0", "#0B4F80")
_DARK = (0, 6)  # classes with white text
_MOST_NAMED = 50  # columns
MOST_WRITTEN = 20  # rows whose cells hold a text


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


def set_axes(panel: Panel, x: Axis, y: Axis) -> None:
    """Range, labels and ticks of both axes; names from files are shown as they are."""

    def style(_: Any, target: Any, **__: Any) -> None:
        library = backend_from_object(target)
        if not y.boxed:
            library.remove_axis(target, axis="y")
        for side, axis in (("x", x), ("y", y)):
            ticks = [float(tick) for tick in axis.ticks]
            texts = [plain_text(text) for text in axis.texts]
            look = {"rotation": axis.rotation} if axis.rotation else {}
            getattr(library, f"{side}lim")((axis.low, axis.high), target)
            getattr(library, f"{side}ticks")(ticks, texts, target, size=axis.size, **look)
            getattr(library, f"{side}label")(plain_text(axis.label), target, size=10)

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
    ends = np.stack(np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64)))
    if not ends.shape[1]:
        return
    points = np.insert(ends, 2, np.nan, axis=2).reshape(2, -1)
    across, up = (xr.DataArray(part, dims="point") for part in points)
    panel.line(label, across, up, color, width=width, solid_capstyle="butt")


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
    x, (bottom, top) = np.repeat(edges, 2)[1:-1], np.repeat(ends, 2, axis=1)
    coords = {"kwarg": ["x", "y_bottom", "y_top"]}
    band = xr.DataArray(np.stack([x, bottom, top]), dims=("kwarg", "point"), coords=coords)
    panel.draw(visuals.fill_between_y, label, band, color=color, alpha=alpha)


def draw_matrix(
    variable: str,
    chances: FloatArray,
    rows: Sequence[str],
    names: Sequence[str],
    write: Callable[[int, int], str],
    key: str,
    **where: Any,
) -> Panel:
    """Matrix of the probabilities that each row beats each column, with its key.

    Columns have their names for up to 50 of them. Up to 20 the cells hold a text.

    Parameters
    ----------
    variable : str
        Of the artists: areas ``class_0``, ``class_0_1``, ... to ``class_6`` and texts
        ``cell_ROW_COLUMN``; the same classes of ``key``.
    chances : ndarray, shape (m, m)
    rows, names : sequence of str
        What stands at each row, and at each column.
    write : callable
        Text of a row and a column.
    key : str
        What the probabilities are.
    **where
        As of ``make_collection``.
    """
    count = len(names)
    written, named = count <= MOST_WRITTEN, count <= _MOST_NAMED
    off = np.argwhere(~np.eye(count, dtype=bool)).tolist() if written else []
    cells = {(row, column): write(row, column) for row, column in off}
    cell = max(0.36, 0.09 * max(map(len, cells.values()), default=0)) if written else 0.22
    texts = [shown_name(name, 24) for name in names]
    longest = max(map(len, texts)) if named else 0
    size = (max(2.9 + cell * count, 6.4), 2.1 + cell * count + 0.07 * longest)
    anything, ratios = make_bounds(0.0, 1.0), {"height_ratios": [cell * count, 0.2]}
    panels = {variable: anything, "key": anything}
    collection = make_collection(panels, figsize=size, ratios=ratios, **where)
    panel, classes = Panel(collection, variable), _classes(chances)
    _draw_classes(panel, classes)
    _draw_grid(panel, count)
    for (row, column), text in cells.items():
        color = "white" if classes[row, column] in _DARK else "black"
        panel.text(f"cell_{row}_{column}", float(column), -float(row), text, color=color)
    if not named:
        texts = [str(rank) if rank % 5 == 0 else "" for rank in range(1, count + 1)]
    heights = [-float(row) for row in range(count)]
    columns = Axis("", -0.5, count - 0.5, range(count), texts, 8, rotation=90 if named else 0)
    set_axes(panel, columns, Axis("", heights[-1] - 0.5, 0.5, heights, rows, boxed=False))
    _draw_key(Panel(collection, "key"), key)
    return panel


def _classes(chances: FloatArray) -> NDArray[np.intp]:
    """Class of each probability, 0 to 6."""
    return np.clip(np.digitize(chances, _EDGES) - 1, 0, len(_COLORS) - 1)


def _draw_classes(panel: Panel, classes: NDArray[np.intp]) -> None:
    """One area per class; a second one where its cells of a column are not together."""
    count = len(classes)
    for kind, color in enumerate(_COLORS):
        runs = [_runs(column == kind) for column in classes.T]
        for layer in range(max(map(len, runs))):
            ends = [run[layer] if layer < len(run) else (0, 0) for run in runs]
            label = f"class_{kind}" + (f"_{layer}" if layer else "")
            steps = 0.5 - np.array(ends, np.float64).T[::-1]
            draw_area(panel, label, np.arange(count + 1) - 0.5, steps, color, 1.0)


def _runs(here: BoolArray) -> list[tuple[int, int]]:
    """First and one past the last of every run of cells."""
    steps = np.flatnonzero(np.diff(np.concatenate([[0], here.astype(np.int8), [0]])))
    return list(zip(steps[::2].tolist(), steps[1::2].tolist(), strict=True))


def _draw_grid(panel: Panel, count: int) -> None:
    """White lines between the cells."""
    lines, ends = np.arange(1, count)[:, None] - 0.5, np.array([-0.5, count - 0.5])
    width = 1.0 if count <= MOST_WRITTEN else 0.4
    draw_bars(panel, "columns", lines, -ends, "white", width)
    draw_bars(panel, "rows", ends, -lines, "white", width)


def _draw_key(panel: Panel, label: str) -> None:
    edges = np.arange(len(_EDGES)) - 0.5
    for kind, color in enumerate(_COLORS):
        ends = np.stack([np.zeros(len(_COLORS)), np.arange(len(_COLORS)) == kind])
        draw_area(panel, f"class_{kind}", edges, ends, color, 1.0)
    texts = [f"{edge:.0%}" for edge in _EDGES]
    x = Axis(label, edges[0], edges[-1], edges.tolist(), texts)
    set_axes(panel, x, Axis("", 0.0, 1.0, [], [], boxed=False))
