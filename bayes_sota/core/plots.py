"""Colours (Okabe-Ito, for colour-blind readers), panels, forests, lines; figures as files.

A figure is an ArviZ ``PlotCollection``, whose ``viz`` contains what was drawn.
"""

import base64
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

import arviz_stats  # noqa: F401  (registers the accessor)
import numpy as np
import xarray as xr
from arviz_plots import PlotCollection, visuals

from bayes_sota.core.files import whole_file
from bayes_sota.core.text import shown_name
from bayes_sota.core.types import BoolArray, FloatArray

type Ticks = tuple[list[float], list[str]]

COLORS: Mapping[str, str] = {
    "theta_sota": "#0072B2",
    "winner_skill": "#D55E00",
    "prior": "#7F7F7F",
    "observed_maximum": "#000000",
    "dark": "#4D4D4D",
}
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # of lines
_TITLE, _LABEL, _NOTE = 12, 10, 9  # sizes of text, in points
# Of scripts that DejaVu Sans lacks, on Linux, macOS and Windows.
_FONTS = ("Noto Sans CJK SC", "WenQuanYi Zen Hei", "Arial Unicode MS", "Microsoft YaHei")


def make_collection(
    panels: Iterable[str],
    *,
    figsize: tuple[float, float],
    **pc_kwargs: Any,
) -> PlotCollection:
    """Empty panels side by side, a variable of the collection each; the first is wider.

    ``pc_kwargs`` are those of ``PlotCollection.grid``; its ``backend="none"`` keeps what would be
    drawn as dictionaries.
    """
    data = xr.Dataset(dict.fromkeys(panels, xr.DataArray(0.0)))
    ratios = [7, *[4] * (len(data) - 1)]
    size = {"figsize": figsize, "layout": "constrained", "width_ratios": ratios}
    size |= pc_kwargs.pop("figure_kwargs", {})
    layout = {"cols": ["__variable__"], "rows": [], "backend": "matplotlib", "figure_kwargs": size}
    return PlotCollection.grid(data, **layout | pc_kwargs)


@dataclass(frozen=True)
class Panel:
    """One panel of a figure, with artists ``viz[label][name]``."""

    collection: PlotCollection
    name: str

    def draw(
        self, visual: Callable[..., Any], label: str, values: xr.DataArray, **options: Any
    ) -> None:
        data = values.rename(self.name).to_dataset()
        self.collection.map(visual, label, data=data, ignore_aes="all", **options)

    def vline(self, label: str, x: float, color: str) -> None:
        self.draw(visuals.vline, label, xr.DataArray(x), color=color, width=1.4)

    def dots(self, label: str, x: Any, y: Any, color: str, **look: Any) -> None:
        places = xr.DataArray(np.atleast_1d(x).astype(np.float64), dims="point")
        self.draw(visuals.scatter_x, label, places, y=y, color=color, **{"size": 36} | look)

    def line(self, label: str, x: Any, y: Any, color: str, **look: Any) -> None:
        points = xr.DataArray(np.stack([x, y]), {"plot_axis": ["x", "y"]}, ("plot_axis", "point"))
        self.draw(visuals.line_xy, label, points, **{"color": color, "width": 1.4} | look)

    def bars(self, label: str, x: Any, y: Any, color: str, width: float) -> None:
        """Bars between ends that broadcast to (k, 2), as one artist."""
        ends = np.stack(np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64)))
        across, up = np.insert(ends, 2, np.nan, axis=2).reshape(2, -1)
        self.line(label, across, up, color, width=width, solid_capstyle="butt")

    def area(self, label: str, x: Any, low: Any, high: Any, color: str, alpha: float) -> None:
        parts = np.stack(np.broadcast_arrays(x, low, high))
        coords = {"kwarg": ["x", "y_bottom", "y_top"]}
        band = xr.DataArray(parts, coords, ("kwarg", "point"))
        self.draw(visuals.fill_between_y, label, band, color=color, alpha=alpha)

    def text(
        self, label: str, x: float, y: float, text: str, color: str = "black", align: str = "left"
    ) -> None:
        look: Any = {"color": color, "size": _NOTE, "horizontal_align": align}
        shown = plain_text(text)
        self.draw(visuals.annotate_xy, label, xr.DataArray(x), x=x, y=y, text=shown, **look)

    def set_axes(
        self,
        xlabel: str,
        xlim: Sequence[float] | FloatArray,
        ylim: tuple[float, float],
        yticks: Ticks | None = None,
        xticks: Ticks | None = None,
    ) -> None:
        """Set label, limits and ticks; without ``yticks`` there is no vertical axis."""
        library = import_module(f"arviz_plots.backend.{self.collection.backend}")
        target = self.collection.viz["plot"][self.name].item()
        low, high = map(float, xlim)
        library.remove_axis(target, axis="both" if xticks == ([], []) else "y")
        library.xlabel(plain_text(xlabel), target, size=_LABEL)
        library.xlim((low, high), target)
        places, texts = xticks or make_ticks(low, min(high, 1.0) if low < 1 else high)
        library.xticks(places, [*map(plain_text, texts)], target, size=_NOTE)
        library.ylim(ylim, target)
        if yticks is not None:
            library.yticks(yticks[0], [*map(plain_text, yticks[1])], target, size=_LABEL)


def plot_forest(
    rows: Sequence[Mapping[str, Any]],
    label: str,
    *,
    variable: str = "skill",
    score: str = "",
    holds: Sequence[float] = (),
    beside: Sequence[str] = (),
    xticks: Ticks | None = None,
    **where: Any,
) -> Panel:
    """Draw estimates with their intervals, one row each from the top, without a title.

    Rows have ``name``, ``mean``, ``interval``, and optionally ``outer`` (a wider interval, thin),
    ``score`` (a black mark, whose meaning is the argument) and ``weak`` (grey and hollow). Artists
    of the panel ``variable`` have these names, those of weak rows end in ``_weak``. ``holds`` are
    other numbers within the axis; ``beside`` are panels to the right.
    """
    drawn = ("outer", "interval", "mean", "score")
    ends = np.concatenate([holds, *(np.ravel(row[k]) for row in rows for k in drawn if k in row)])
    low, high = float(ends[np.isfinite(ends)].min()), float(ends[np.isfinite(ends)].max())
    room = 0.05 * (high - low) or 0.01
    is_share = low >= 0 and high <= 1  # whose axis stays within 0 and 1
    limits = np.clip([low - room, high + room], *((0, 1) if is_share else (-np.inf, np.inf)))
    count = len(rows)
    inches = 1.6 + count * (0.3 if count <= 30 else 0.2)
    size = (7.4 + 3 * len(beside), inches)
    panel = Panel(make_collection((variable, *beside), figsize=size, **where), variable)
    heights = -np.arange(count, dtype=np.float64)
    weak = np.array([bool(row.get("weak")) for row in rows])
    means = np.array([row["mean"] for row in rows], dtype=np.float64)
    looks: Any = ("", ~weak, "theta_sota", {}), ("_weak", weak, "prior", {"facecolor": "white"})
    for suffix, here, color, look in looks:
        for kind, width in (("outer", 0.9), ("interval", 2.6)):
            bars = np.array([row.get(kind, (np.nan, np.nan)) for row in rows])[here]
            if not np.isnan(bars).all():
                at, bars = heights[here, None], np.clip(bars, *limits)
                panel.bars(kind + suffix, bars, at, COLORS[color], width)
        if here.any():
            panel.dots(f"mean{suffix}", means[here], heights[here], COLORS[color], **look)
    seen = np.array([row.get("score", np.nan) for row in rows], dtype=np.float64)
    if np.isfinite(seen).any():
        panel.dots("score", seen, heights, COLORS["observed_maximum"], marker="|")
    names = [shown_name(row["name"]) for row in rows]
    panel.set_axes(
        label + f"; line: {score}" * bool(score),
        xlim=limits,
        ylim=(0.4 - count, 0.9 if holds else 0.6),
        yticks=(heights.tolist(), names),
        xticks=xticks,
    )
    return panel


def plot_lines(
    lines: Mapping[str, tuple[Any, Any]],
    xlabel: str,
    *,
    variable: str,
    bands: Mapping[str, FloatArray] = MappingProxyType({}),
    levels: Mapping[str, float] = MappingProxyType({}),
    points: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    holds: Sequence[float] | FloatArray = (),
    **where: Any,
) -> Panel:
    """Draw lines (x, y) with their names at the right end, in their colours, without a title.

    ``bands`` are lower and upper ends around a line, (2, x); ``levels`` heights of horizontal lines
    and ``points`` (x, y) of dots, by their texts; ``holds`` other heights within the axis. Artists
    of the panel ``variable`` are ``line_0``, ``name_0``, ``band_0``, ``level_0``, ``level_name_0``,
    ``point_0``, ``point_name_0``, ...
    """
    drawn = {name: (np.asarray(x, float), np.asarray(y, float)) for name, (x, y) in lines.items()}
    across = np.concatenate([x for x, _ in drawn.values()])
    first, last = float(across.min()), float(across.max())
    marks = [*levels.values(), *(height for _, height in points.values())]
    every = np.concatenate([holds, marks, *(y for _, y in drawn.values())])
    room = 0.06 * float(np.ptp(every)) or 0.01
    low, high = float(every.min()) - room, float(every.max()) + room
    names = [shown_name(name) for name in (*drawn, *levels, *points)]
    wide = max(map(len, names))
    beside, size = (last - first) * min(0.02 * wide, 1.5), (7.6 + 0.04 * wide, 4.4)
    panel = Panel(make_collection([variable], figsize=size, **where), variable)
    dark, texts = COLORS["dark"], []
    for k, (name, (x, y)) in enumerate(drawn.items()):
        color = PALETTE[k % len(PALETTE)]
        if name in bands:
            bottom, top = np.clip(bands[name], low, high)
            panel.area(f"band_{k}", x, bottom, top, color, 0.16)
        panel.line(f"line_{k}", x, y, color)
        texts.append((f"name_{k}", float(y[-1]), color))
    for k, height in enumerate(levels.values()):
        panel.line(f"level_{k}", [first, last], [height] * 2, dark)
        texts.append((f"level_name_{k}", height, dark))
    for k, (place, height) in enumerate(points.values()):
        panel.dots(f"point_{k}", place, height, PALETTE[0])
        texts.append((f"point_name_{k}", height, PALETTE[0]))
    apart = 0.055 * (high - low)
    heights = spread_out([height for _, height, _ in texts], apart)
    for (label, _, color), name, height in zip(texts, names, heights, strict=True):
        panel.text(label, last + 0.02 * (last - first), height, name, color=color)
    low, high = min(low, min(heights) - apart / 2), max(high, max(heights) + apart / 2)
    panel.set_axes(
        xlabel,
        xlim=(first - 0.02 * (last - first), last + beside),
        ylim=(low, high),
        yticks=make_ticks(low, high),
        xticks=make_ticks(first, last, whole=bool((across == np.rint(across)).all())),
    )
    return panel


def plot_differences(
    names: Sequence[str], places: FloatArray, apart: BoolArray, label: str, **where: Any
) -> Panel:
    """Draw a critical-difference diagram (Demsar 2006, Fig. 1), without a title.

    ``places`` (m,) are on the axis; ``apart`` (m, m) marks pairs distinguished in either order.
    Standard errors of differences vary, so a dot marks each entry of a bar, one of
    ``indistinct_sets``. Artists of the panel ``place`` are ``name_0``, ``leader_0``, ... from the
    left, and ``bar_0``, ``members_0`` (its dots), ...
    """
    order, m = np.argsort(places, kind="stable"), len(names)
    sets = sorted((sorted(places[[*one]]) for one in indistinct_sets(apart)), key=min)
    reach = 0.5 * (np.ptp(places) == 0)  # an axis for equal ones
    ticks, texts = make_ticks(float(places.min() - reach), float(places.max() + reach))
    low, high = min(places.min(), *ticks), max(places.max(), *ticks)
    shown = [shown_name(names[k], 32) for k in order]
    inches = 0.4 + 0.075 * max(8, *map(len, [*shown, label]))  # beside the axis, which has 4.5
    side, top, left = (high - low) * inches / 4.5, 1 + 0.5 * len(sets), (m + 1) // 2
    size = (4.5 + 2 * inches, 0.9 + 0.25 * (top + left))
    panel = Panel(make_collection(["place"], figsize=size, **where), "place")
    before, after, dark = low - side / 9, high + side / 9, COLORS["dark"]
    panel.line("axis", [low, high], [0, 0], dark)
    panel.bars("ticks", np.array(ticks)[:, None], [[0, 0.3]], dark, 1.0)
    for k, (tick, text) in enumerate(zip(ticks, texts, strict=True)):
        panel.text(f"tick_{k}", tick, 0.6, text, align="center")
    panel.text("label", before, 0, label, align="right")
    for k, (at, name) in enumerate(zip(places[order], shown, strict=True)):
        end, align = (before, "right") if k < left else (after, "left")
        height = -top - min(k, m - 1 - k)
        panel.line(f"leader_{k}", [at, at, end], [0, height, height], dark, width=0.8)
        panel.text(f"name_{k}", end, height, f" {name} ", align=align)
    for k, members in enumerate(sets):
        heights, color = np.full(len(members), -0.5 * (k + 1)), COLORS["theta_sota"]
        panel.line(f"bar_{k}", members, heights, color, width=3.0)
        panel.dots(f"members_{k}", members, heights, color, size=24)
    panel.set_axes("", (low - side, high + side), ylim=(0.2 - top - left, 1.2), xticks=([], []))
    return panel


def indistinct_sets(apart: BoolArray) -> list[frozenset[int]]:
    """Largest sets of two or more entries of which no two are distinguished.

    Every distinguished pair splits the sets that contain both (Piepho 2004, doi
    10.1198/1061860043515).
    """
    sets = {frozenset(range(len(apart)))}
    for pair in map(frozenset, np.argwhere(apart).tolist()):
        split = {one for one in sets if pair <= one}
        sets = sets - split | {one - {entry} for one in split for entry in pair}
        sets = {one for one in sets if not any(one < other for other in sets)}
    return [one for one in sets if len(one) > 1]


def density_of(draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Kernel density of draws: places, and heights (0 if all draws are equal)."""
    if np.ptp(draws) <= 1e-9 * np.abs(draws).max():
        return np.ravel(draws)[:1], np.zeros(1)
    # ArviZ's default bandwidth shows ripples
    curve = xr.DataArray(np.ravel(draws), dims="x").azstats.kde(dim="x", bw="scott", grid_len=200)
    return curve.sel(plot_axis="x").values, curve.sel(plot_axis="y").values


def make_ticks(low: float, high: float, *, whole: bool = False) -> Ticks:
    """Round numbers in a range, with labels that do not overlap.

    >>> make_ticks(0.9017, 0.9225)
    ([0.905, 0.91, 0.915, 0.92], ['0.905', '0.910', '0.915', '0.920'])
    """
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator(7, steps=[1, 2, 5, 10], integer=whole)
    places, room = np.array(locator.tick_values(low, high)), 1e-9 * (high - low)
    step = 1.0 if whole else places[1] - places[0]
    digits = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    inside = places[(places >= low - room) & (places <= high + room)]
    ticks = [round(float(place), digits) + 0.0 for place in inside]
    return ticks, [f"{tick:.{digits}f}" for tick in ticks]


def title_figure(collection: PlotCollection, text: str) -> None:
    """Set the title of the figure."""
    collection.add_title(plain_text(text), color="black", size=_TITLE)


def plain_text(text: str) -> str:
    """Text whose dollar signs start no mathematics."""
    return text.replace("$", r"\$")


def word_of_skill(tree: xr.DataTree) -> str:
    """AUC, score or accuracy."""
    return {"auc": "AUC", "score": "score"}.get(str(tree.attrs.get("metric")), "accuracy")


def spread_out(heights: Sequence[float], apart: float) -> list[float]:
    """Move heights as little as their order allows, to at least ``apart`` from each other.

    >>> spread_out([0.5, 0.52, 0.9], 0.1)
    [0.46, 0.56, 0.9]
    """
    from scipy.optimize import isotonic_regression

    order, steps = np.argsort(heights, kind="stable"), apart * np.arange(len(heights))
    moved = np.empty(len(heights))
    moved[order] = isotonic_regression(np.asarray(heights)[order] - steps).x + steps
    places: list[float] = moved.round(12).tolist()
    return places


def save_figure(collection: PlotCollection, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write a figure whole or not at all, as png, svg or pdf by its suffix, with text as text.

    ``options`` are those of ``PlotCollection.savefig``; ``dpi`` is 300 by default.
    """
    target = Path(path)
    look = {"pdf.fonttype": 42, "svg.fonttype": "none", "savefig.dpi": 300}
    with whole_file(target) as draft, _printed(look):
        collection.savefig(draft, **options)
    return target


@contextmanager
def _printed(look: Mapping[str, Any]) -> Iterator[None]:
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager

    known = set(fontManager.get_font_names())
    fonts = ["DejaVu Sans", *(name for name in _FONTS if name in known)]
    settings: Any = {"svg.hashsalt": "bayes_sota", **look, "font.sans-serif": fonts}
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield


def svg_address(collection: PlotCollection) -> str:
    """A figure as a data address of an SVG image, in which a browser runs nothing."""
    drawn = BytesIO()
    with _printed({}):
        collection.viz["figure"].item().savefig(drawn, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(drawn.getvalue()).decode()
