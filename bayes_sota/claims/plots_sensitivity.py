"""The probability that a claim is false against what nobody reports: the figure for every report.

Draws a curve and computes nothing;
``tests/claims/test_claim_figures.py`` reads the artists back.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayes_sota.claims.planning import crossing_of
from bayes_sota.claims.summary_text import rounded_up
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots_canvas import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    make_ticks,
    plain_text,
    title_figure,
)
from bayes_sota.core.plots_labels import Label, place_labels
from bayes_sota.core.types import FloatArray

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

__all__ = ["plot_claim_sensitivity"]

Unknown = Literal["congruence", "correlation"]

_NAME = "p_false"
_XLABELS = {
    "congruence": "share of items that both get right (congruence)",
    "correlation": "correlation of the two methods' cases",
}
_MARGINS = (0.9, 1.4)  # inches around the panel
_DENSE = 400
_BELOW = -0.1  # room below zero, as a share of the height


def plot_claim_sensitivity(
    curve: Any,
    *,
    p_false: float | None = None,
    assumed: float | None = None,
    independent: float | None = None,
    level: float = 0.05,
    needed: float | None = None,
    unknown: Unknown = "congruence",
    title: str | None = None,
    backend: str | None = None,
    figsize: tuple[float, float] = (7.4, 4.2),
) -> "PlotCollection":
    """Draw the probability that a claim is false over all congruences that are possible.

    The title says what the claim needs to hold at ``level``: ``needed``, or else the point where
    the curve falls below it, by interpolation (``crossing_of``), so that a curve of a hundred
    points or more is asked for.

    Parameters
    ----------
    curve : DataFrame or (k, 2) array_like
        Columns ``congruence`` (or ``correlation``, as ``unknown`` says) and ``p_false``; all that
        is possible, from the least to the largest.
    p_false : float, optional
        The answer: averaged over the unknown, drawn as a line, or with ``assumed`` at a point.
    assumed : float, optional
        Congruence or correlation that the answer is for.
    independent : float, optional
        Congruence of independent mistakes (the product of the accuracies), marked.
    level : float
        Probability of a false claim that is accepted, drawn as a black line.
    needed : float, optional
        Where the curve falls to ``level``, such as ``congruence_needed`` has it.
    unknown : {"congruence", "correlation"}
    title : str, optional
        Stands above the finding, for instance what is compared.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float)
        Inches.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``p_false``: ``curve``, ``level``, ``least``,
        ``largest``, and where given ``average``, ``assumed`` and ``independent``.

    Raises
    ------
    InputError
        A column is missing, fewer than two points, or probabilities outside [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from bayes_sota.claims.accuracies import false_claim_probability
    >>> shared = np.linspace(0.78, 0.88, 201)
    >>> p = false_claim_probability(0.90, 0.88, 500, shared)
    >>> figure = plot_claim_sensitivity(
    ...     np.column_stack([shared, p]), p_false=0.093, independent=0.792, backend="none"
    ... )
    >>> figure.viz["figure_title"].item()["string"]
    'The claim holds at 5% only if both get at least 85.4% of the items right'
    """
    if unknown not in _XLABELS:
        raise InputError(f"unknown must be congruence or correlation, got {unknown!r}")
    x, p = _checked(curve, unknown)
    limits = make_bounds(*_widened(float(x[0]), float(x[-1])))
    top = 1.22 * max(float(p.max()), level, p_false or 0.0)
    collection = make_collection({_NAME: limits}, backend=backend, figsize=figsize)
    panel = Panel(collection, _NAME)
    marks = _marks(x, p, p_false, assumed, independent, unknown)
    average = None if assumed is not None else p_false
    _draw(panel, x, p, marks, level, average)
    panel.set_axes(
        limits,
        xlabel=_XLABELS[unknown],
        xlim=limits,
        ylim=(_BELOW * top, top),
        yticks=lambda _: make_ticks(0.0, top),
    )
    _label(panel, (x, p), marks, level, average, (limits.values, top), figsize)
    crossing = crossing_of(np.column_stack([x, p]), level) if needed is None else needed
    finding = _finding(x, crossing, level, unknown)
    title_figure(collection, finding if title is None else f"{title}\n{finding}")
    return collection


def _checked(curve: Any, unknown: str) -> tuple[FloatArray, FloatArray]:
    if hasattr(curve, "columns"):
        missing = [name for name in (unknown, "p_false") if name not in curve]
        if missing:
            raise InputError(f"the curve lacks the column {', '.join(missing)}")
        points = np.column_stack([np.asarray(curve[name]) for name in (unknown, "p_false")])
    else:
        points = np.asarray(curve, np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
        raise InputError(f"the curve has two columns and at least two rows, got {points.shape}")
    x, p = points[np.argsort(points[:, 0], kind="stable")].astype(np.float64).T
    if not np.all((p >= 0) & (p <= 1)) or not np.all(np.isfinite(x)):
        raise InputError("the curve's probabilities must lie in [0, 1], at finite places")
    return x, p


def _widened(low: float, high: float) -> tuple[float, float]:
    margin = 0.03 * (high - low) if high > low else 0.01
    return low - margin, high + margin


def _marks(
    x: FloatArray,
    p: FloatArray,
    p_false: float | None,
    assumed: float | None,
    independent: float | None,
    unknown: str,
) -> dict[str, tuple[float, float, str]]:
    """Points on the curve: place, probability and text."""
    names = ("least possible", "largest possible")
    if unknown == "correlation":  # whose ends are a choice
        names = (f"correlation {x[0]:.3g}:", f"correlation {x[-1]:.3g}:")
    marks = {"least": (x[0], p[0], names[0]), "largest": (x[-1], p[-1], names[1])}
    if independent is not None and x[0] <= independent <= x[-1]:
        height = float(np.interp(independent, x, p))
        marks["independent"] = (independent, height, "independent mistakes")
    if assumed is not None:
        height = float(np.interp(assumed, x, p)) if p_false is None else p_false
        marks["assumed"] = (assumed, height, "assumed")
    return {
        name: (float(u), float(v), f"{text} {_probability(float(v))}")
        for name, (u, v, text) in marks.items()
    }


def _probability(p: float) -> str:
    """Three decimals, more where they would all be zero.

    Examples
    --------
    >>> _probability(0.1713), _probability(0.000488), _probability(1e-9)
    ('0.171', '0.0005', '< 0.0001')
    """
    if p < 0.0001:
        return "< 0.0001"
    return f"{p:.4f}" if p < 0.001 else f"{p:.3f}"


def _draw(
    panel: Panel, x: FloatArray, p: FloatArray, marks: Any, level: float, average: float | None
) -> None:
    import xarray as xr
    from arviz_plots import visuals

    curve, accent = COLORS["theta_sota"], COLORS["winner_skill"]
    panel.draw(visuals.hline, "level", level, color="black", width=1.2)
    if average is not None:
        panel.draw(visuals.hline, "average", average, color=accent, width=1.2)
    panel.line("curve", xr.DataArray(x, dims="point"), xr.DataArray(p, dims="point"), curve)
    for name, (u, v, _) in marks.items():
        color = accent if name == "assumed" else curve
        panel.dots(name, xr.DataArray([u], dims="point"), v, color)
    label = plain_text("probability that the claim is false", panel.collection.backend)
    panel.draw(visuals.labelled_y, "ylabel", level, text=label, size=10)


def _label(
    panel: Panel,
    curve: tuple[FloatArray, FloatArray],
    marks: dict[str, tuple[float, float, str]],
    level: float,
    average: float | None,
    frame: tuple[FloatArray, float],
    figsize: tuple[float, float],
) -> None:
    """Labels, in places of their own."""
    (left, right), top = frame
    low, height = _BELOW * top, (1 - _BELOW) * top
    size = figsize[0] - _MARGINS[0], figsize[1] - _MARGINS[1]
    named = {name: (u, v, text, False) for name, (u, v, text) in marks.items()}
    if "independent" in marks and marks["independent"][0] - marks["least"][0] < 0.05 * (
        right - left
    ):
        u, v, text, _ = named["least"]  # too close for two labels
        named["least"] = (u, v, f"{text}, {named.pop('independent')[2]}", False)
    named["level"] = (right, level, f"level {level:.3g}", True)
    if average is not None:
        named["average"] = (right, average, f"averaged {_probability(average)}", True)
    labels = [
        Label(text, (u - left) / (right - left), (v - low) / height, is_line)
        for u, v, text, is_line in named.values()
    ]
    dense = np.linspace(curve[0][0], curve[0][-1], _DENSE)
    points = np.column_stack(
        [(dense - left) / (right - left), (np.interp(dense, *curve) - low) / height]
    )
    lines = [label.v for label in labels if label.is_line]
    colors = {
        "level": "black",
        "average": COLORS["winner_skill"],
        "assumed": COLORS["winner_skill"],
    }
    for name, label, (u, v, side) in zip(
        named, labels, place_labels(labels, points, lines, size), strict=True
    ):
        panel.text(
            f"{name}_label",
            left + u * (right - left),
            low + v * height,
            label.text,
            side=side,
            color=colors.get(name, COLORS["theta_sota"]),
        )


def _finding(x: FloatArray, needed: float | None, level: float, unknown: str) -> str:
    """What the claim needs to hold at the level."""
    start = f"The claim holds at {100 * level:.3g}%"
    if needed is None:
        return f"{start} at no {unknown}"
    if needed <= x[0]:
        return f"{start} whatever the {unknown}"
    if unknown == "correlation":
        return f"{start} only if their cases correlate by at least {rounded_up(needed, 3)}"
    return f"{start} only if both get at least {rounded_up(100 * needed, 1)}% of the items right"
