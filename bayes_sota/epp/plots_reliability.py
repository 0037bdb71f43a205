r"""Predicted win probabilities against the frequencies of wins (Fig. 5 of the EPP paper).

Draws what was counted elsewhere; ``tests/epp/test_epp_figures.py`` reads the artists back.
"""

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.plots_canvas import COLORS, Panel, make_bounds, make_collection, title_figure
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.plots_axes import Axis, draw_bars, draw_dots, set_axes

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

__all__ = ["Frequencies", "plot_reliability"]

_MOST_PAIRS = 4_000  # drawn one by one


class Frequencies(Protocol):
    """Win probabilities and frequencies, in bins and of every pair.

    Attributes
    ----------
    predicted, observed, lower, upper : array-like, shape (bins,)
        Mean predicted probability, frequency of wins, and the interval of the frequency, NaN where
        it is not known.
    n_pairs : array-like, shape (bins,)
        Pairs of players in each bin; bins without pairs are not drawn.
    pairs_predicted, pairs_observed : array-like, shape (pairs,)
    """

    @property
    def predicted(self) -> ArrayLike: ...  # noqa: D102
    @property
    def observed(self) -> ArrayLike: ...  # noqa: D102
    @property
    def n_pairs(self) -> ArrayLike: ...  # noqa: D102
    @property
    def lower(self) -> ArrayLike: ...  # noqa: D102
    @property
    def upper(self) -> ArrayLike: ...  # noqa: D102
    @property
    def pairs_predicted(self) -> ArrayLike: ...  # noqa: D102
    @property
    def pairs_observed(self) -> ArrayLike: ...  # noqa: D102


def plot_reliability(
    reliability: Frequencies,
    *,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Draw frequencies of wins against predicted probabilities.

    On the diagonal the skills explain the wins. Small dots are pairs of players, large ones bins of
    pairs with the interval of their frequency; they are hollow where it misses the diagonal, and
    grey where the interval is not known or has no width (as where every match was won): such bins
    do not count.

    Parameters
    ----------
    reliability : object
        With the arrays of ``Frequencies``.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``win_probability``: ``diagonal``, ``pairs``,
        ``interval``, and the bins ``on`` and ``off`` the diagonal and ``unknown`` (dots).

    Raises
    ------
    InputError
        Arrays of different lengths, or no bin with pairs.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> found = SimpleNamespace(
    ...     predicted=[0.2, 0.7], observed=[0.25, 0.9], lower=[0.1, 0.8], upper=[0.4, 1.0],
    ...     n_pairs=[3, 4], pairs_predicted=[0.2, 0.7], pairs_observed=[0.3, 0.9],
    ... )
    >>> figure = plot_reliability(found, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    'Predicted and observed wins agree in 1 of 2 bins of pairs'
    """
    bins, pairs = _checked(reliability)
    predicted, observed, lower, upper, n_pairs = bins
    collection = make_collection(
        {"win_probability": make_bounds(0.0, 1.0)}, backend=backend, figsize=figsize or (5.8, 5.9)
    )
    panel = Panel(collection, "win_probability")
    step = -(-pairs.shape[1] // _MOST_PAIRS) or 1
    shown = pairs[:, ::step]
    draw_dots(panel, "pairs", shown[0], shown[1], COLORS["prior"], diameter=2.5, alpha=0.5)
    draw_bars(panel, "diagonal", [[0.0, 1.0]], [[0.0, 1.0]], "black", width=1.0)
    ends = np.column_stack([lower, upper])
    draw_bars(panel, "interval", predicted[:, None], ends, COLORS["theta_sota"], width=2.0)
    known = upper > lower
    on = known & (lower <= predicted) & (predicted <= upper)
    for kind, here in (("unknown", ~known), ("on", on), ("off", known & ~on)):
        color, hollow = COLORS["dark" if kind == "unknown" else "theta_sota"], kind == "off"
        x, y = predicted[here], observed[here]
        draw_dots(panel, kind, x, y, color, diameter=7, hollow=hollow)
    label = f"predicted probability of winning\n{_meaning(n_pairs, pairs.shape[1], step)}"
    lowest = min(bins[:2].min(), shown.min(initial=1.0), np.nanmin(lower, initial=1.0))
    start = np.floor(4 * lowest) / 4
    set_axes(panel, _part_axis(label, start), _part_axis("observed frequency of wins", start))
    title_figure(collection, _finding(on, known))
    return collection


def _checked(found: Frequencies) -> tuple[FloatArray, FloatArray]:
    """Bins (5, k) and pairs (2, n)."""
    columns = (found.predicted, found.observed, found.lower, found.upper, found.n_pairs)
    bins = [np.asarray(column, np.float64).ravel() for column in columns]
    pairs = [
        np.asarray(column, np.float64).ravel()
        for column in (found.pairs_predicted, found.pairs_observed)
    ]
    for kind, arrays in (("bins", bins), ("pairs", pairs)):
        sizes = {len(array) for array in arrays}
        if len(sizes) > 1:
            given = ", ".join(str(len(array)) for array in arrays)
            raise InputError(f"the arrays of {kind} must have one length, got {given}")
    table = np.stack(bins)
    table = table[:, table[4] > 0]
    if not table.shape[1]:
        raise InputError("no bin has pairs of players: nothing to draw")
    return table, np.stack(pairs)


def _meaning(n_pairs: FloatArray, count: int, step: int) -> str:
    low, high = int(n_pairs.min()), int(n_pairs.max())
    size = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    every = "" if step == 1 else f" (1 of {step} drawn)"
    return f"(small: {count:,} pairs{every}; large: bins of {size} pairs)"


def _part_axis(label: str, start: float) -> Axis:
    ticks = np.arange(start, 1.01, 0.25 if start < 0.5 else 0.1)
    return Axis(label, start - 0.02, 1.02, ticks.tolist(), [f"{tick:.0%}" for tick in ticks])


def _finding(on: NDArray[np.bool_], known: NDArray[np.bool_]) -> str:
    if not known.any():
        return f"Predicted and observed wins in {len(on):,} bins of pairs"
    count = f"{int(on.sum()):,} of {int(known.sum()):,}"
    return f"Predicted and observed wins agree in {count} bins of pairs"
