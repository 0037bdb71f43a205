"""What every figure shares: colours, a grid of named panels, drawing into one of them, its file.

A figure is an ArviZ ``PlotCollection`` of matplotlib, so that what was drawn can be read back from
``.viz``. Colours are of the Okabe-Ito set, which readers who do not see all
colours can tell apart.
"""

import base64
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import arviz_stats  # noqa: F401  (registers the accessor)
import numpy as np
import xarray as xr
from arviz_plots import PlotCollection, visuals

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import whole_file
from bayes_sota.core.types import FloatArray

type Value = xr.DataArray | float


COLORS: Mapping[str, str] = {
    "theta_sota": "#0072B2",
    "winner_skill": "#D55E00",
    "expected_sota": "#009E73",
    "prior": "#7F7F7F",
    "observed_maximum": "#000000",
    "dark": "#4D4D4D",
}

_TITLE, _LABEL, _NOTE = 12, 10, 9  # sizes of text, in points
_FONTS = (  # of scripts that DejaVu Sans lacks, as Linux, macOS and Windows have them
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "WenQuanYi Zen Hei",
    "Hiragino Sans",
    "PingFang SC",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "Arial Unicode MS",
)


def make_collection(
    panels: Mapping[str, xr.DataArray],
    *,
    figsize: tuple[float, float],
    backend: Literal["matplotlib", "none"] = "matplotlib",
    plot_collection: PlotCollection | None = None,
    across: bool = False,
    ratios: Mapping[str, Sequence[float]] | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Empty grid of panels, one variable of the collection each.

    Parameters
    ----------
    panels : mapping of name -> DataArray
        Only the dimension ``board`` matters: a panel that has it is repeated for every board.
    figsize : (float, float)
        Inches, unless ``figure_kwargs`` has its own.
    backend : {"matplotlib", "none"}
        ArviZ's "none" keeps what would be drawn as dictionaries.
    plot_collection : PlotCollection, optional
        One with these panels, to draw into; the others are then of no effect.
    across : bool
        Panels side by side instead of one below the other.
    ratios : mapping, optional
        ``height_ratios`` or ``width_ratios`` of the panels.
    **pc_kwargs
        Passed to ``PlotCollection.grid``.
    """
    if plot_collection is not None:
        missing = [name for name in panels if name not in plot_collection.viz["plot"].data_vars]
        if missing:
            raise InputError(f"plot_collection has no panel {', '.join(missing)}")
        return plot_collection
    data = xr.Dataset({name: _facets(values) for name, values in panels.items()})
    boards = ["board"] if "board" in data.dims else []
    cols, rows = (["__variable__", *boards], []) if across else (boards, ["__variable__"])
    size = {"figsize": figsize, "layout": "constrained", **(ratios or {})}
    size |= pc_kwargs.pop("figure_kwargs", {})
    arguments = {"cols": cols, "rows": rows, "figure_kwargs": size} | pc_kwargs
    return PlotCollection.grid(data, backend=backend, **arguments)


def check_columns(table: Any, names: Sequence[str], what: str) -> None:
    """Raise ``InputError`` where a table lacks some columns."""
    missing = [name for name in names if name not in table]
    if missing:
        raise InputError(f"{what} lacks the column {', '.join(missing)}")


def _library(backend: str) -> Any:
    return import_module(f"arviz_plots.backend.{backend}")


def _facets(values: xr.DataArray) -> xr.DataArray:
    others = {dim: 0 for dim in values.dims if dim != "board"}
    return values.isel(others, drop=True).astype(np.float64)


@dataclass(frozen=True)
class Panel:
    """One panel of a figure, or one per board; artists are kept as ``viz[label][name]``.

    Values are DataArrays, with the dimension ``board`` where they differ by board.
    """

    collection: PlotCollection
    name: str

    def draw(self, visual: Callable[..., Any], label: str, values: Value, **options: Any) -> None:
        """Call one of ArviZ's visuals for every board."""
        data = xr.DataArray(values).rename(self.name).to_dataset()
        self.collection.map(visual, label, data=data, ignore_aes="all", **options)

    def vline(self, label: str, x: Value, color: str) -> None:
        """Vertical line."""
        self.draw(visuals.vline, label, x, color=color, width=1.4)

    def span(self, label: str, ends: xr.DataArray, color: str, alpha: float) -> None:
        """Vertical band between two ends."""
        self.draw(visuals.vspan, label, ends, color=color, alpha=alpha)

    def bar(self, label: str, ends: xr.DataArray, y: float, color: str, width: float = 2.5) -> None:
        """Horizontal bar between two ends."""
        self.draw(visuals.line_x, label, ends, y=y, color=color, width=width)

    def dots(self, label: str, x: Any, y: Any, color: str, **look: Any) -> None:
        """Points at ``x`` and ``y``, one dimension besides ``board``; ``size`` in square points."""
        self.draw(visuals.scatter_x, label, _points(x), y=y, color=color, **{"size": 36} | look)

    def line(self, label: str, x: Any, y: Any, color: str, **look: Any) -> None:
        """Line through points, broken where one is NaN."""
        points = xr.concat([_points(x), _points(y)], dim="plot_axis").assign_coords(
            plot_axis=["x", "y"]
        )
        self.draw(visuals.line_xy, label, points, **{"color": color, "width": 1.4} | look)

    def bars(self, label: str, x: Any, y: Any, color: str, width: float) -> None:
        """Bars, one artist for all with NaN between them; ``x`` and ``y`` broadcast to (k, 2)."""
        ends = np.stack(np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64)))
        if ends.shape[1]:
            across, up = np.insert(ends, 2, np.nan, axis=2).reshape(2, -1)
            self.line(label, across, up, color, width=width, solid_capstyle="butt")

    def steps(self, label: str, edges: Any, ends: FloatArray, color: str, alpha: float) -> None:
        """Area of steps between ``edges`` (k + 1,); ``ends`` are their bottoms and tops (2, k)."""
        points = np.stack([np.repeat(edges, 2)[1:-1], *np.repeat(ends, 2, axis=1)])
        coords = {"kwarg": ["x", "y_bottom", "y_top"]}
        band = xr.DataArray(points, dims=("kwarg", "point"), coords=coords)
        self.draw(visuals.fill_between_y, label, band, color=color, alpha=alpha)

    def area(
        self, label: str, curve: xr.DataArray, bottom: float, scale: Value, color: str
    ) -> None:
        """Filled area under a density of ``draw_density``, from ``bottom`` up."""
        x, y = (curve.sel(plot_axis=axis, drop=True) for axis in ("x", "y"))
        parts = [x, xr.full_like(y, bottom), bottom + scale * y]
        band = xr.concat(parts, dim="kwarg").assign_coords(kwarg=["x", "y_bottom", "y_top"])
        self.draw(visuals.fill_between_y, label, band, color=color, alpha=0.4)

    def histogram(self, label: str, bars: xr.DataArray, color: str) -> None:
        """Bars; ``plot_axis`` holds their heights, left and right edges."""
        bars = bars.assign_coords(plot_axis=["histogram", "left_edges", "right_edges"])
        self.draw(visuals.hist, label, bars, color=color, alpha=0.5)

    def text(
        self,
        label: str,
        x: Value,
        y: float,
        text: str | Callable[[float], str],
        *,
        value: Value | None = None,
        side: Any = "center",
        color: str = "black",
    ) -> None:
        """Text at a point; a callable ``text`` gets ``value``."""
        self.draw(
            visuals.annotate_xy,
            label,
            x if value is None else value,
            x=x,
            y=y,
            text=text,
            color=color,
            size=_NOTE,
            horizontal_align=side,
        )

    def set_axes(
        self,
        values: xr.DataArray,
        *,
        xlabel: str,
        xlim: xr.DataArray,
        ylim: tuple[float, float],
        yticks: Callable[[Mapping[str, Any]], tuple[list[float], list[str]]] | None = None,
        xticks: tuple[list[float], list[str]] | None = None,
        turned: bool = False,
    ) -> None:
        """Label and range of the axes; no box.

        ``xlim`` has the dimension ``bound``; ``yticks`` gets the selected board. Without
        ``yticks`` the vertical axis is taken away: the height of a density is not read. ``xticks``
        default to round numbers; ``turned`` writes them upwards.
        """
        library = _library(self.collection.backend)

        def style(_: Any, target: Any, *, sel: Mapping[str, Any], **__: Any) -> None:
            library.remove_axis(target, axis="y")
            library.xlabel(plain_text(xlabel), target, size=_LABEL)
            low, high = (float(end) for end in select_board(xlim, sel))
            library.xlim((low, high), target)
            places, texts = xticks or make_ticks(low, min(high, 1.0) if low < 1 else high)
            look = {"rotation": 90} if turned else {}
            library.xticks(places, [*map(plain_text, texts)], target, size=_NOTE, **look)
            library.ylim(ylim, target)
            if yticks is not None:
                ticks, labels = yticks(sel)
                library.yticks(ticks, [*map(plain_text, labels)], target, size=_LABEL)

        self.draw(style, "axes", _facets(values), subset_info=True, store_artist=False)

    def set_titles(self, texts: Sequence[str]) -> None:
        """Title of the panel, one text for every board."""
        library = _library(self.collection.backend)
        targets = np.ravel(self.collection.viz["plot"][self.name].values)
        for target, text in zip(targets, texts, strict=True):
            library.title(plain_text(text), target, size=_LABEL, color="black")


def _points(values: Any) -> xr.DataArray:
    """Numbers with their dimensions, or along the dimension ``point``."""
    if isinstance(values, xr.DataArray):
        return values
    return xr.DataArray(np.atleast_1d(values), dims="point")


def select_board(values: xr.DataArray, sel: Mapping[str, Any]) -> xr.DataArray:
    """Values of the selected board."""
    return values.sel(board=sel["board"]) if "board" in values.dims else values


def get_variable(tree: xr.DataTree, group: str, name: str) -> xr.DataArray:
    """One variable of a result."""
    return tree[group].to_dataset()[name]


def make_bounds(low: float, high: float) -> xr.DataArray:
    """Two ends, dimension ``bound``."""
    return xr.DataArray([low, high], dims="bound")


def draw_density(draws: xr.DataArray, **options: Any) -> xr.DataArray:
    """Kernel density of draws over ``chain`` and ``draw``; ``plot_axis`` holds x and y."""
    if float(draws.std(("chain", "draw")).min()) == 0:
        raise InputError(f"{draws.name} does not vary over the draws: it has no density to draw")
    curve: xr.DataArray = draws.azstats.kde(dim=["chain", "draw"], **({"grid_len": 200} | options))
    return curve.drop_vars([c for c in curve.coords if c not in ("plot_axis", "board")])


def make_ticks(low: float, high: float, most: int = 7) -> tuple[list[float], list[str]]:
    """Round numbers in a range and their labels, few enough not to touch.

    Examples
    --------
    >>> make_ticks(0.9017, 0.9225)
    ([0.905, 0.91, 0.915, 0.92], ['0.905', '0.910', '0.915', '0.920'])
    """
    decade = int(np.floor(np.log10(max(high - low, 1e-12))))
    steps = [(digits, factor) for digits in (1 - decade, -decade) for factor in (1, 2, 5)]
    for digits, factor in steps:
        step = factor * 10.0**-digits
        first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
        if last - first < most:
            break
    ticks = [round(float(k * step), digits + 1) + 0.0 for k in np.arange(first, last + 1)]
    return ticks, [f"{tick:.{max(digits, 0)}f}" for tick in ticks]


def title_figure(collection: PlotCollection, text: str) -> None:
    """Title of the figure: what it shows, in one or two lines."""
    collection.add_title(plain_text(text), color="black", size=_TITLE)


def plain_text(text: str) -> str:
    """Text as it is: nothing in names from files is mathematics.

    Examples
    --------
    >>> plain_text("$x$")
    '\\\\$x\\\\$'
    """
    return text.replace("$", r"\$")


def word_of_skill(tree: xr.DataTree) -> str:
    """What a skill is, by the metric of the board."""
    return {"auc": "AUC", "score": "score"}.get(str(tree.attrs.get("metric")), "accuracy")


def rounded(value: float, sd: float) -> str:
    """Digits that a standard deviation supports: two significant ones of it.

    Examples
    --------
    >>> rounded(0.911186, 0.0027)
    '0.9112'
    """
    if not (np.isfinite(sd) and sd > 0):
        return f"{value:.4g}"
    return f"{value:.{max(0, 1 - int(np.floor(np.log10(sd))))}f}"


def save_figure(collection: PlotCollection, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write a figure; an interrupted or failed run leaves no part of it.

    Parameters
    ----------
    collection : PlotCollection
        A figure of this package or of ArviZ.
    path : path
        The suffix chooses the format: png, svg or pdf.
    **options
        Passed to ``PlotCollection.savefig``, for instance ``dpi``, which is 300 by
        default, as journals ask; text in a PDF or an SVG stays text.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        The path cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import bayes_sota as bs
    >>> law = bs.maximum_law(n_test=100, n_classifiers=10, skill=0.9)
    >>> figure = bs.maximum.plot_maximum_law(law)
    >>> with TemporaryDirectory() as folder:
    ...     save_figure(figure, f"{folder}/law.png").name
    'law.png'
    """
    target = Path(path)
    look = {"pdf.fonttype": 42, "svg.fonttype": "none", "savefig.dpi": 300}
    with whole_file(target) as draft, _printed(look):
        collection.savefig(draft, **options)
    return target


@contextmanager
def _printed(look: Mapping[str, Any]) -> Iterator[None]:
    """Settings of matplotlib, with fonts for names in any script; none is said to be missing."""
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager

    known = set(fontManager.get_font_names())
    fonts = ["DejaVu Sans", *(name for name in _FONTS if name in known)]
    settings: Any = {"svg.hashsalt": "bayes_sota", **look, "font.sans-serif": fonts}
    with (
        mpl.rc_context(settings),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield


def svg_address(collection: PlotCollection) -> str:
    """A figure of matplotlib as the address of an image, in which a browser runs nothing."""
    drawn = BytesIO()
    with _printed({}):
        collection.viz["figure"].item().savefig(drawn, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(drawn.getvalue()).decode()


def spread_out(heights: Sequence[float], apart: float) -> list[float]:
    """Heights moved as little as their order allows, at least ``apart`` from each other.

    Examples
    --------
    >>> spread_out([0.5, 0.52, 0.9], 0.1)
    [0.46, 0.56, 0.9]
    """
    from scipy.optimize import isotonic_regression

    order, steps = np.argsort(heights, kind="stable"), apart * np.arange(len(heights))
    moved = np.empty(len(heights))
    moved[order] = isotonic_regression(np.asarray(heights)[order] - steps).x + steps
    places: list[float] = moved.round(12).tolist()
    return places
