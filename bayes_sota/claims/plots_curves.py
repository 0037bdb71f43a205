"""The probability that a claim is false against what nobody reports: the figure for every report.

Draws a curve and computes nothing;
``tests/claims/test_claim_figures.py`` reads the artists back.

Test items that a claim needs against the gap between the two methods.

Draws a table and computes nothing but where its lines cross the size that was used;
``tests/claims/test_claim_figures.py`` reads the artists back.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayes_sota.claims.planning import crossing_of
from bayes_sota.claims.summary_text import rounded_up
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Label,
    Panel,
    make_bounds,
    make_collection,
    make_ticks,
    place_labels,
    plain_text,
    spread_out,
    title_figure,
)
from bayes_sota.core.text import chance
from bayes_sota.core.types import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    from arviz_plots import PlotCollection


Unknown = Literal["congruence", "correlation"]
_CURVE = "p_false"

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
    x, p = _checked_curve(curve, unknown)
    limits = make_bounds(*_widened(float(x[0]), float(x[-1])))
    top = 1.22 * max(float(p.max()), level, p_false or 0.0)
    collection = make_collection({_CURVE: limits}, backend=backend, figsize=figsize)
    panel = Panel(collection, _CURVE)
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
    finding = _needed_sentence(x, crossing, level, unknown)
    title_figure(collection, finding if title is None else f"{title}\n{finding}")
    return collection


def _checked_curve(curve: Any, unknown: str) -> tuple[FloatArray, FloatArray]:
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
        name: (float(u), float(v), f"{text} {chance(float(v))}")
        for name, (u, v, text) in marks.items()
    }


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
        named["average"] = (right, average, f"averaged {chance(average)}", True)
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


def _needed_sentence(x: FloatArray, needed: float | None, level: float, unknown: str) -> str:
    """What the claim needs to hold at the level."""
    start = f"The claim holds at {100 * level:.3g}%"
    if needed is None:
        return f"{start} at no {unknown}"
    if needed <= x[0]:
        return f"{start} whatever the {unknown}"
    if unknown == "correlation":
        return f"{start} only if their cases correlate by at least {rounded_up(needed, 3)}"
    return f"{start} only if both get at least {rounded_up(100 * needed, 1)}% of the items right"


Lines = dict[str, tuple[FloatArray, FloatArray]]
_SIZES = "n_needed"
_COLUMNS = ("gap", "assumption", "n_needed")
_PALETTE = ("theta_sota", "winner_skill", "expected_sota", "prior", "dark")
_ROOM = 0.42  # for the labels of the lines, as a share of the range of gaps
_APART = 0.07  # between labels, as a share of the height


def plot_required_size(
    table: "pd.DataFrame",
    *,
    level: float = 0.05,
    n_test: int | None = None,
    gap: float | None = None,
    n_needed: int | None = None,
    title: str | None = None,
    backend: str | None = None,
    figsize: tuple[float, float] = (7.4, 4.2),
) -> "PlotCollection":
    """Draw how many test items a claim needs, by gap, one line per assumption.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``gap`` (difference of the accuracies or means, above 0), ``assumption`` (of the
        congruence or correlation) and ``n_needed``, the items from which the claim is false with
        probability ``level`` at most; rows without a number are left out.
    level : float
        What the table was computed for.
    n_test : int, optional
        Size that was used, drawn as a black line; the title says which gap it supports.
    gap : float, optional
        Gap that was observed with it, or that is planned, drawn as a dot.
    n_needed : int, optional
        What the planned gap needs, where nothing was used yet.
    title : str, optional
        Stands above the finding.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float)
        Inches.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``n_needed``: ``line_0``, ``line_1``, ... in the
        order of the assumptions, and where given ``n_test`` and ``dot``. Heights are decimal
        logarithms.

    Raises
    ------
    InputError
        A column is missing, no row has a number, gaps or sizes are not positive, more than five
        assumptions, or ``n_needed`` beside ``n_test`` or without ``gap``.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"gap": [0.01, 0.04], "assumption": "independent", "n_needed": [4000, 250]}
    ... )
    >>> figure = plot_required_size(table, n_test=1000, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    '1,000 items support a claim at 5% from a gap of 0.02'
    """
    if n_needed is not None and (n_test is not None or gap is None):
        raise InputError("n_needed is what a planned gap needs: give gap, and no n_test")
    lines = _checked_sizes(table)
    gaps = np.concatenate([x for x, _ in lines.values()])
    sizes = np.concatenate([y for _, y in lines.values()])
    marked = [np.log10(size) for size in (n_test, n_needed) if size is not None]
    low, high = float(min([*sizes, *marked])), float(max([*sizes, *marked]))
    margin = 0.08 * max(high - low, 0.5)
    ylim = (low - margin, high + margin)
    reach = float(gaps.max() - gaps.min()) or float(gaps.max())
    left = max(0.0, float(gaps.min()) - 0.06 * reach)
    limits = make_bounds(left, float(gaps.max()) + _ROOM * reach)
    collection = make_collection({_SIZES: limits}, backend=backend, figsize=figsize)
    panel = Panel(collection, _SIZES)
    _draw_lines(panel, lines)
    _draw_marks(panel, n_test, gap, n_needed)
    _draw_labels(panel, lines, n_test, ylim)
    panel.set_axes(
        limits,
        xlabel="gap between A and B",
        xlim=limits,
        ylim=ylim,
        yticks=lambda _: _size_ticks(*ylim),
    )
    finding = _size_sentence(lines, level, n_test, gap)
    if n_needed is not None:
        planned = f"a gap of {gap:.3g} needs {n_needed:,} items (the dot)"
        finding = f"A claim at {100 * level:.3g}% of {planned}"
    title_figure(collection, finding if title is None else f"{title}\n{finding}")
    return collection


def _checked_sizes(table: "pd.DataFrame") -> Lines:
    """Gaps and decimal logarithms of the sizes, by assumption."""
    missing = [name for name in _COLUMNS if name not in table]
    if missing:
        raise InputError(f"the table of sizes lacks the column {', '.join(missing)}")
    gap, needed = (np.asarray(table[name], np.float64) for name in ("gap", "n_needed"))
    names = np.asarray(table["assumption"]).astype(str)
    there = np.isfinite(needed) & np.isfinite(gap)
    if not there.any():
        raise InputError("the table of sizes has no row with a number")
    if not np.all((gap[there] > 0) & (needed[there] > 0)):
        raise InputError("gaps and numbers of items must be positive")
    lines = {}
    for name in dict.fromkeys(names[there].tolist()):
        here = np.flatnonzero(there & (names == name))
        here = here[np.argsort(gap[here], kind="stable")]
        lines[name] = gap[here], np.log10(needed[here])
    if len(lines) > len(_PALETTE):
        raise InputError(f"at most {len(_PALETTE)} assumptions can be drawn, got {len(lines)}")
    return lines


def _draw_lines(panel: Panel, lines: Lines) -> None:
    import xarray as xr
    from arviz_plots import visuals

    for index, (x, y) in enumerate(lines.values()):
        gaps, heights = xr.DataArray(x, dims="point"), xr.DataArray(y, dims="point")
        panel.line(f"line_{index}", gaps, heights, COLORS[_PALETTE[index]])
    text = plain_text("test items needed", panel.collection.backend)
    panel.draw(visuals.labelled_y, "ylabel", 0.0, text=text, size=10)


def _draw_marks(panel: Panel, n_test: int | None, gap: float | None, n_needed: int | None) -> None:
    """The size that was used, and a gap with the size that was used or that it needs."""
    import xarray as xr
    from arviz_plots import visuals

    if n_test is not None:
        panel.draw(visuals.hline, "n_test", float(np.log10(n_test)), color="black", width=1.2)
    size = n_needed if n_test is None else n_test
    if gap is not None and size is not None:
        height = float(np.log10(size))
        panel.dots("dot", xr.DataArray([gap], dims="point"), height, "black")


def _draw_labels(panel: Panel, lines: Lines, n_test: int | None, ylim: tuple[float, float]) -> None:
    """Names of the lines beside their ends, in order and apart."""
    named = [
        (f"label_{index}", name, float(y[-1]), COLORS[_PALETTE[index]])
        for index, (name, (_, y)) in enumerate(lines.items())
    ]
    if n_test is not None:
        height = ylim[1] - ylim[0]
        above = float(np.log10(n_test)) + 0.6 * _APART * height  # not on the line itself
        named.append(("n_test_label", f"{n_test:,} items were used", above, "black"))
    places = spread_out([y for _, _, y, _ in named], _APART * (ylim[1] - ylim[0]))
    gaps = np.concatenate([x for x, _ in lines.values()])
    x = float(gaps.max()) + 0.02 * float(gaps.max() - gaps.min())
    for (label, text, _, color), y in zip(named, places, strict=True):
        panel.text(label, x, y, text, side="left", color=color)


def _size_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Ticks at 1, 2 and 5 times the powers of ten, only at these where there are many."""
    decades = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    for factors in ((1, 2, 5), (1,)):
        sizes = [factor * 10**decade for decade in decades for factor in factors if decade >= 0]
        inside = [size for size in sizes if low <= np.log10(size) <= high]
        if len(inside) <= 9:
            break
    return [float(np.log10(size)) for size in inside], [f"{size:,}" for size in inside]


def _size_sentence(lines: Lines, level: float, n_test: int | None, observed: float | None) -> str:
    """The gap that the test set supports, or the sizes that a gap needs."""
    claim = f"a claim at {100 * level:.3g}%"
    if n_test is None:
        gap = max(float(x[0]) for x, _ in lines.values())
        sizes = sorted(round(10 ** float(np.interp(gap, x, y))) for x, y in lines.values())
        span = _span([f"{size:,}" for size in sizes])
        return f"A{claim[1:]} of a gap of {gap:.3g} needs {span} items"
    found = [_gap_at(x, y, float(np.log10(n_test))) for x, y in lines.values()]
    known = sorted(gap for gap in found if gap is not None)
    if known:
        first = min(float(x[0]) for x, _ in lines.values())
        texts = [f"{gap:.2g}" if gap > first else f"{gap:.2g} or less" for gap in known]
        some = "" if len(known) == len(found) else ", under some assumptions"
        text = f"{n_test:,} items support {claim} from a gap of {_span(texts)}{some}"
    else:
        largest = max(float(x[-1]) for x, _ in lines.values())
        text = (
            f"{n_test:,} items support no claim at {100 * level:.3g}% of a gap up to {largest:.3g}"
        )
    return text if observed is None else f"{text}\n(the observed gap is {observed:.3g}: the dot)"


def _gap_at(gaps: FloatArray, sizes: FloatArray, size: float) -> float | None:
    """Smallest gap that needs no more than a size, between points of a line in logarithms."""
    enough = np.flatnonzero(sizes <= size)
    if not enough.size:
        return None
    first = int(enough[0])
    if first == 0:
        return float(gaps[0])
    share = (sizes[first - 1] - size) / (sizes[first - 1] - sizes[first])
    low, high = np.log(gaps[first - 1]), np.log(gaps[first])
    return float(np.exp(low + share * (high - low)))


def _span(texts: list[str]) -> str:
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"
