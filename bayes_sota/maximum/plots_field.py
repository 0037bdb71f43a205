"""The shrunk or cropped field behind a point estimate, and a board that it may have made.

``tests/maximum/test_plots_field.py`` reads the artists back.
"""

from typing import Any

import numpy as np
import xarray as xr
from arviz_plots import PlotCollection

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    title_figure,
)
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.shrinkage import FieldEstimate

_BINS = 60
_REACH = 2.2  # of the panel below the best score, in distances to the lower median


def plot_field(
    estimate: FieldEstimate,
    *,
    random_seed: int | np.random.Generator | None = DEFAULT_SEED,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw the field behind a shrunk or cropped estimate, and one board that it may have made.

    Above, the skills of the field (blue) with the best of them, which is the estimate, before the
    observed scores (grey) and the best of them (black), with the interval that it would have as
    the only score (bar). Below, the scores of one board simulated from the field (orange), its
    best score (triangle), and the expected best score of all such boards with its interval (line
    and bar): luck stretches the field until it looks like the observed scores. What is far below
    the best is left out.

    Parameters
    ----------
    estimate : FieldEstimate
        From ``shrink_scores``, ``shrink_aucs`` or ``crop_scores``.
    random_seed : int, Generator or None
        Of the simulated board.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``observed`` and ``observed_maximum`` with the variables ``field`` and
        ``board``; ``skills``, ``theta_sota`` and ``single`` with the variable ``field``;
        ``scores``, ``best_score``, ``expected_maximum`` and ``interval`` with the variable
        ``board``.

    Notes
    -----
    Fig. 8, 9 and 11 of Møllersen & Holsbø, arXiv 2303.07272v2.

    Examples
    --------
    >>> from bayes_sota.maximum.shrinkage import shrink_scores
    >>> scores = 0.8 + 0.1 * np.linspace(0, 1, 200) ** 0.3
    >>> shrunk = shrink_scores(scores, n_test=2000, chance=0.5)
    >>> figure = plot_field(shrunk, backend="none")
    >>> round(figure.viz["theta_sota"]["field"].item()["x"], 4)
    0.8903
    """
    board, anything = estimate.realise(random_seed), make_bounds(0.0, 1.0)
    collection = make_collection(
        {"field": anything, "board": anything},
        figsize=(7.4, 5.6),
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    edges, limits = _edges(estimate, board)
    parts = {
        "field": ("skills", estimate.skills, "theta_sota", _mark_field),
        "board": ("scores", board, "winner_skill", _mark_board),
    }
    for name, (label, values, color, mark) in parts.items():
        panel = Panel(collection, name)
        behind = _draw_counts(panel, "observed", estimate.scores, edges, "prior")
        top = max(behind, _draw_counts(panel, label, values, edges, color))
        mark(panel, estimate, values, top)
        panel.vline("observed_maximum", estimate.observed_maximum, COLORS["observed_maximum"])
        word = "AUC" if estimate.n_positive else "accuracy"
        panel.set_axes(anything, xlabel=word, xlim=limits, ylim=(-0.12 * top, 1.2 * top))
    title_figure(collection, _finding(estimate))
    return collection


def _mark_field(panel: Panel, estimate: FieldEstimate, _: FloatArray, top: float) -> None:
    best = estimate.observed_maximum
    panel.bar("single", make_bounds(*estimate.single), -0.06 * top, COLORS["observed_maximum"])
    panel.vline("theta_sota", estimate.estimate, COLORS["theta_sota"])
    _label_line(panel, "theta_sota", estimate.estimate, 1.12 * top, "best skill", "right")
    _label_line(panel, "observed_maximum", best, 1.12 * top, "observed maximum", "left")
    panel.set_titles([f"skills of the {_word(estimate)} field (blue); observed scores (grey)"])


def _mark_board(panel: Panel, estimate: FieldEstimate, board: FloatArray, top: float) -> None:
    color, level, expected = COLORS["winner_skill"], -0.06 * top, estimate.expected_maximum
    panel.bar("interval", make_bounds(*estimate.interval), level, color)
    panel.dots("best_score", float(board.max()), level, COLORS["dark"], size=24, marker="C2")
    panel.vline("expected_maximum", expected, color)
    _label_line(panel, "expected_maximum", expected, 1.12 * top, "expected maximum", "right")
    panel.set_titles(["one board simulated from it (orange; triangle: its best score)"])


def _label_line(panel: Panel, line: str, x: float, y: float, text: str, side: str) -> None:
    """Text beside a line; ``side`` is the end of the text that is there."""
    color = COLORS.get(line, COLORS["winner_skill"])
    said = f"{text} {x:.4f}"
    shown = f" {said}" if side == "left" else f"{said} "
    panel.text(f"{line}_label", x, y, shown, side=side, color=color)


def _draw_counts(
    panel: Panel, label: str, values: FloatArray, edges: FloatArray, color: str
) -> float:
    """Histogram of values, of which those below all edges are left out; its height."""
    counts = np.histogram(values, edges)[0].astype(np.float64)
    bars = np.stack([counts, edges[:-1], edges[1:]])
    panel.histogram(label, xr.DataArray(bars, dims=("plot_axis", "bin")), COLORS[color])
    return float(counts.max())


def _edges(estimate: FieldEstimate, board: FloatArray) -> tuple[FloatArray, xr.DataArray]:
    """Edges of bins that hold as many counts each, and ends of the axis with room for a label."""
    best = estimate.observed_maximum
    middle = min(float(np.median(estimate.scores)), float(np.median(estimate.skills)))
    low = max(0.0, best - _REACH * max(best - middle, estimate.single[1] - estimate.single[0]))
    high = max(best, float(board.max()), *estimate.single, *estimate.interval)
    width = (high - low) / _BINS
    if not estimate.n_positive:
        width = float(np.ceil(width * estimate.n_test)) / estimate.n_test
    half = 0.0 if estimate.n_positive else 0.5 / estimate.n_test
    edges = high + half - width * np.arange(int(np.ceil((high + half - low) / width)), -1.0, -1)
    return edges, make_bounds(float(edges[0]), high + 0.2 * (high - low))


def _word(estimate: FieldEstimate) -> str:
    return "shrunk" if estimate.method == "shrink" else "cropped"


def _finding(estimate: FieldEstimate) -> str:
    if not estimate.multiplicity:
        return (
            "No multiplicity to correct: classifiers as good as these scores\n"
            "are not expected to show a better maximum"
        )
    m, best = counted(estimate.law.n_classifiers, "classifier"), f"{estimate.estimate:.4f}"
    if estimate.criterion == "upper":
        return (
            f"{m} whose best skill is {best} show the observed maximum\n"
            f"as the upper end of their {estimate.ci_prob:.0%} interval"
        )
    return f"{m} whose best skill is {best}\nare expected to show the observed maximum"
