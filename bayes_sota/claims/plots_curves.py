"""Curves of claims: P(false) against what nobody reports, and items that a gap needs.

Draws curves and computes nothing but where they cross a level or a size;
``tests/claims/test_claim_figures.py`` reads the artists back.
"""

from typing import Any, Literal

import numpy as np
import xarray as xr
from arviz_plots import PlotCollection, visuals

from bayes_sota.claims.summary import rounded_up
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    make_ticks,
    plain_text,
    title_figure,
)
from bayes_sota.core.text import chance
from bayes_sota.core.types import FloatArray

_XLABELS = {
    "congruence": "share of items that both get right (congruence)",
    "correlation": "correlation of the two methods' cases",
}
_LINE = 0.085  # of text, as a share of the height of the data


def plot_claim_sensitivity(
    curve: Any,
    *,
    p_false: float | None = None,
    assumed: float | None = None,
    level: float = 0.05,
    needed: float | None = None,
    unknown: Literal["congruence", "correlation"] = "congruence",
    title: str | None = None,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw the probability that a claim is false over all congruences that are possible.

    The title says what the claim needs to hold at ``level``: ``needed``, or else the point where
    the curve falls below it, by interpolation, so that a curve of a hundred
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
    level : float
        Probability of a false claim that is accepted, drawn as a black line.
    needed : float, optional
        Where the curve falls to ``level``, such as ``congruence_needed`` has it.
    unknown : {"congruence", "correlation"}
    title : str, optional
        Stands above the finding, for instance what is compared.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``p_false``: ``curve``, ``level``, ``least``,
        ``largest``, and where given ``average`` and ``assumed``; labels of all but the curve stand
        above it (``least_label``, ...).

    Examples
    --------
    >>> shared = np.linspace(0.78, 0.88, 201)
    >>> from bayes_sota.claims.accuracies import false_claim_probability
    >>> p = false_claim_probability(0.90, 0.88, 500, shared)
    >>> curve = np.column_stack([shared, p])
    >>> figure = plot_claim_sensitivity(curve, p_false=0.093, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    'The claim holds at 5% only if both get at least 85.4% of the items right'
    """
    x, p = np.asarray(curve, np.float64).T
    where = {"plot_collection": plot_collection, **pc_kwargs}
    panel = _panel("p_false", _limits(x), **where)
    main, accent = COLORS["theta_sota"], COLORS["winner_skill"]
    lines = {"level": (level, f"level {level:.3g}", "black")}
    if assumed is None and p_false is not None:
        lines["average"] = (p_false, f"averaged: P(false) {chance(p_false)}", accent)
    for name, (height, _, color) in lines.items():
        panel.draw(visuals.hline, name, height, color=color, width=1.2)
    panel.line("curve", x, p, main)
    marks = _marks(x, p, p_false, assumed, unknown)
    colors = {name: accent if name == "assumed" else main for name in marks}
    for name, (place, height, _) in marks.items():
        panel.dots(name, place, height, colors[name])
    top = 1.04 * max(float(p.max()), level, p_false or 0.0)
    texts = {name: (text, color) for name, (_, text, color) in lines.items()}
    texts |= {name: (text, colors[name]) for name, (*_, text) in reversed(marks.items())}
    _finish_curve(panel, dict(reversed(texts.items())), x, top, xlabel=_XLABELS[unknown])
    crossing = _crossing_of(x, p, level) if needed is None else needed
    finding = _needed_sentence(x, crossing, level, unknown)
    title_figure(panel.collection, finding if title is None else f"{title}\n{finding}")
    return panel.collection


def _crossing_of(x: FloatArray, p: FloatArray, level: float) -> float | None:
    """Place from which a falling curve is at most ``level``, interpolated; None where nowhere."""
    if p[-1] > level:
        return None
    return float(np.interp(-level, -p, x)) if p[0] > level else float(x[0])


def _marks(
    x: FloatArray,
    p: FloatArray,
    p_false: float | None,
    assumed: float | None,
    unknown: str,
) -> dict[str, tuple[float, float, str]]:
    """Points on the curve: place, probability and text."""
    names = ("congruence as small as possible", "congruence as large as possible")
    if unknown == "correlation":  # whose ends are a choice
        names = (f"correlation {x[0]:.3g}", f"correlation {x[-1]:.3g}")
    marks = {"least": (x[0], p[0], names[0])}
    marks["largest"] = (x[-1], p[-1], names[1])
    if assumed is not None:
        height = np.interp(assumed, x, p) if p_false is None else p_false
        marks["assumed"] = assumed, height, "assumed"
    return {
        name: (float(u), float(v), f"{text}: P(false) {chance(float(v))}")
        for name, (u, v, text) in marks.items()
    }


def _label_height(panel: Panel, text: str, height: float) -> None:
    shown = plain_text(text)
    panel.draw(visuals.labelled_y, "ylabel", height, text=shown, size=10)


def _needed_sentence(x: FloatArray, needed: float | None, level: float, unknown: str) -> str:
    """What the claim needs to hold at the level."""
    start = f"The claim holds at {100 * level:.3g}%"
    if needed is None:
        drawn = f" up to {x[-1]:.3g}" if unknown == "correlation" and x[-1] < 1 else ""
        return f"{start} at no {unknown}{drawn}"
    if unknown == "correlation":
        if needed <= x[0]:
            return f"{start} at every correlation of at least {x[0]:.3g}"
        return f"{start} only if their cases correlate by at least {rounded_up(needed, 3)}"
    if needed <= x[0]:
        return f"{start} whatever the {unknown}"
    return f"{start} only if both get at least {rounded_up(100 * needed, 1)}% of the items right"


def _panel(name: str, limits: xr.DataArray, **where: Any) -> Panel:
    return Panel(make_collection({name: limits}, figsize=(7.4, 4.2), **where), name)


def _limits(x: FloatArray) -> xr.DataArray:
    """Ends of the places, with some room on both sides."""
    margin = 0.03 * float(x[-1] - x[0]) or 0.01
    return make_bounds(float(x[0]) - margin, float(x[-1]) + margin)


def _finish_curve(
    panel: Panel, texts: dict[str, tuple[str, str]], x: FloatArray, top: float, **axis: Any
) -> None:
    """Axes, and above the curve what is drawn, in its colours, the first on top."""
    _label_height(panel, "probability that the claim is false", 0.0)
    for row, (name, (text, color)) in enumerate(reversed(texts.items())):
        height = top * (1 + (row + 0.5) * _LINE)
        panel.text(f"{name}_label", float(x[-1]), height, text, side="right", color=color)
    limits = _limits(x)
    panel.set_axes(
        limits,
        xlim=limits,
        ylim=(-0.04 * top, top * (1 + len(texts) * _LINE)),
        yticks=lambda _: make_ticks(0.0, top),
        **axis,
    )
