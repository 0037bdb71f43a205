"""Matrix of probabilities: a cell for every two of some names, with a key below.

A cell has the colour of the class of its probability. A class is one area of steps: with names in a
telling order its cells are together. ``tests/claims/test_claim_figures.py`` reads the artists back.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.plots import Panel, make_bounds, make_collection
from bayes_sota.core.text import shown_name
from bayes_sota.core.types import BoolArray, FloatArray

_EDGES = (0.0, 0.05, 0.25, 0.45, 0.55, 0.75, 0.95, 1.0)
_COLORS = ("#8F3B00", "#D9742B", "#F5C9A3", "#F7F7F7", "#B3D3EA", "#5FA2D0", "#0B4F80")
_DARK = (0, 6)  # classes with white text
_MOST_NAMED = 50  # columns
MOST_WRITTEN = 20  # rows whose cells hold a text


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
    panel.set_axes(
        anything,
        xlabel="",
        xlim=make_bounds(-0.5, count - 0.5),
        ylim=(heights[-1] - 0.5, 0.5),
        xticks=([float(column) for column in range(count)], texts),
        yticks=lambda _: (heights, [*rows]),
        turned=named,
    )
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
            panel.steps(label, np.arange(count + 1) - 0.5, steps, color, 1.0)


def _runs(here: BoolArray) -> list[tuple[int, int]]:
    """First and one past the last of every run of cells."""
    steps = np.flatnonzero(np.diff(np.concatenate([[0], here.astype(np.int8), [0]])))
    return list(zip(steps[::2].tolist(), steps[1::2].tolist(), strict=True))


def _draw_grid(panel: Panel, count: int) -> None:
    """White lines between the cells."""
    lines, ends = np.arange(1, count)[:, None] - 0.5, np.array([-0.5, count - 0.5])
    width = 1.0 if count <= MOST_WRITTEN else 0.4
    panel.bars("columns", lines, -ends, "white", width)
    panel.bars("rows", ends, -lines, "white", width)


def _draw_key(panel: Panel, label: str) -> None:
    edges = np.arange(len(_EDGES)) - 0.5
    for kind, color in enumerate(_COLORS):
        ends = np.stack([np.zeros(len(_COLORS)), np.arange(len(_COLORS)) == kind])
        panel.steps(f"class_{kind}", edges, ends, color, 1.0)
    texts = [f"{edge:.0%}" for edge in _EDGES]
    limits = make_bounds(edges[0], edges[-1])
    panel.set_axes(limits, xlabel=label, xlim=limits, ylim=(0, 1), xticks=(edges.tolist(), texts))
