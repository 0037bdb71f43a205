"""Curves of claims: P(false) against what nobody reports, and items that a gap needs.

Draws curves and computes nothing but where they cross a level or a size;
``tests/claims/test_claim_figures.py`` reads the artists back.
"""

from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from arviz_plots import PlotCollection, visuals

from bayes_sota.claims.means import crossing_of
from bayes_sota.claims.summary import rounded_up
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    check_columns,
    log_ticks,
    make_bounds,
    make_collection,
    make_ticks,
    plain_text,
    spread_out,
    title_figure,
)
from bayes_sota.core.text import chance, counted
from bayes_sota.core.types import FloatArray

Lines = dict[str, tuple[FloatArray, FloatArray]]
_XLABELS = {
    "congruence": "share of items that both get right (congruence)",
    "correlation": "correlation of the two methods' cases",
}
_LINE = 0.085  # of text, as a share of the height of the data
_PALETTE = ("theta_sota", "winner_skill", "expected_sota", "prior", "dark")
_ROOM = 0.42  # for the labels of the lines, as a share of the range of gaps
_APART = 0.07  # between labels, as a share of the height


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

    Raises
    ------
    InputError
        A column is missing, fewer than two points, or probabilities outside [0, 1].

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
    if unknown not in _XLABELS:
        raise InputError(f"unknown must be congruence or correlation, got {unknown!r}")
    x, p = _checked_curve(curve, unknown)
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
    crossing = crossing_of(np.column_stack([x, p]), level) if needed is None else needed
    finding = _needed_sentence(x, crossing, level, unknown)
    title_figure(panel.collection, finding if title is None else f"{title}\n{finding}")
    return panel.collection


def _checked_curve(curve: Any, unknown: str) -> tuple[FloatArray, FloatArray]:
    if hasattr(curve, "columns"):
        check_columns(curve, (unknown, "p_false"), "the curve")
        curve = curve[[unknown, "p_false"]]
    points = np.asarray(curve, np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
        raise InputError(f"the curve has two columns and at least two rows, got {points.shape}")
    x, p = points[np.argsort(points[:, 0], kind="stable")].T
    if not np.all((p >= 0) & (p <= 1)) or not np.all(np.isfinite(x)):
        raise InputError("the curve's probabilities must lie in [0, 1], at finite places")
    return x, p


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


def plot_required_size(
    table: pd.DataFrame,
    *,
    level: float = 0.05,
    gap: float | None = None,
    n_needed: int | None = None,
    title: str | None = None,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw how many test items a claim needs, by gap, one line per assumption.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``gap`` (difference of the accuracies or means, above 0), ``assumption`` (of the
        congruence or correlation) and ``n_needed``, the items from which the claim is false with
        probability ``level`` at most; rows without a number are left out.
    level : float
        What the table was computed for.
    gap, n_needed : float and int, optional
        Gap that is planned, and what it needs: a dot.
    title : str, optional
        Stands above the finding.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``n_needed``: ``line_0``, ``line_1``, ... in the
        order of the assumptions, and where given ``dot``. Heights are decimal logarithms.

    Raises
    ------
    InputError
        A column is missing, no row has a number, gaps or sizes are not positive, or more than five
        assumptions.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"gap": [0.01, 0.04], "assumption": "independent", "n_needed": [4000, 250]}
    ... )
    >>> figure = plot_required_size(table, gap=0.02, n_needed=1000, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    'A claim at 5% of a gap of 0.02 needs 1,000 items (the dot)'
    """
    lines = _checked_sizes(table)
    gaps, heights = (np.concatenate(parts) for parts in zip(*lines.values(), strict=True))
    marked = [] if n_needed is None else [np.log10(n_needed)]
    low, high = float(min([*heights, *marked])), float(max([*heights, *marked]))
    margin = 0.08 * max(high - low, 0.5)
    ylim = (low - margin, high + margin)
    reach = float(gaps.max() - gaps.min()) or float(gaps.max())
    left = max(0.0, float(gaps.min()) - 0.06 * reach)
    limits = make_bounds(left, float(gaps.max()) + _ROOM * reach)
    where = {"plot_collection": plot_collection, **pc_kwargs}
    panel = _panel("n_needed", limits, **where)
    for index, (x, y) in enumerate(lines.values()):
        panel.line(f"line_{index}", x, y, COLORS[_PALETTE[index]])
    if gap is not None and marked:
        panel.dots("dot", gap, marked[0], "black")
    _label_lines(panel, lines, ylim)
    _label_height(panel, "test items needed", 0.0)
    panel.set_axes(
        limits,
        xlabel="gap between A and B",
        xlim=limits,
        ylim=ylim,
        yticks=lambda _: log_ticks(*ylim),
    )
    finding = _size_sentence(lines, level)
    if gap is not None and n_needed is not None:
        planned = f"a gap of {gap:.3g} needs {counted(n_needed, 'item')} (the dot)"
        finding = f"A claim at {100 * level:.3g}% of {planned}"
    title_figure(panel.collection, finding if title is None else f"{title}\n{finding}")
    return panel.collection


def _checked_sizes(table: pd.DataFrame) -> Lines:
    """Gaps and decimal logarithms of the sizes, by assumption."""
    check_columns(table, ("gap", "assumption", "n_needed"), "the table of sizes")
    kept = table[np.isfinite(table[["gap", "n_needed"]].astype(float)).all(axis=1)]
    if not len(kept):
        raise InputError("the table of sizes has no row with a number")
    if not (kept[["gap", "n_needed"]] > 0).all(axis=None):
        raise InputError("gaps and numbers of items must be positive")
    lines = {}
    for name, part in kept.groupby(kept["assumption"].astype(str), sort=False):
        x, y = part.sort_values("gap", kind="stable")[["gap", "n_needed"]].to_numpy(float).T
        lines[str(name)] = x, np.log10(y)
    if len(lines) > len(_PALETTE):
        raise InputError(f"at most {len(_PALETTE)} assumptions can be drawn, got {len(lines)}")
    return lines


def _label_lines(panel: Panel, lines: Lines, ylim: tuple[float, float]) -> None:
    """Names of the lines beside their ends, in order and apart."""
    named = [
        (f"label_{index}", name, float(y[-1]), COLORS[_PALETTE[index]])
        for index, (name, (_, y)) in enumerate(lines.items())
    ]
    apart = _APART * (ylim[1] - ylim[0])
    gaps = np.concatenate([x for x, _ in lines.values()])
    x = float(gaps.max()) + 0.02 * float(gaps.max() - gaps.min())
    places = spread_out([y for _, _, y, _ in named], apart)
    for (label, text, _, color), y in zip(named, places, strict=True):
        panel.text(label, x, y, text, side="left", color=color)


def _size_sentence(lines: Lines, level: float) -> str:
    """The sizes that the largest gap needs."""
    gap = max(float(x[0]) for x, _ in lines.values())
    sizes = sorted(round(10 ** float(np.interp(gap, x, y))) for x, y in lines.values())
    texts = [f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1]))]
    return f"A claim at {100 * level:.3g}% of a gap of {gap:.3g} needs {' to '.join(texts)} items"


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
