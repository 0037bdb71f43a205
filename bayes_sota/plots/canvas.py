"""What every figure shares: colours, a grid of named panels, and drawing into one of them.

A figure is an ArviZ ``PlotCollection``, so that what was drawn can be read back from ``.viz`` and
``backend`` chooses the library. Colours are of the Okabe-Ito set, which readers who do not see all
colours can tell apart.
"""

import html
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.errors import InputError

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = [
    "COLORS",
    "board_label",
    "curve",
    "density",
    "draw",
    "make_collection",
    "nice_ticks",
    "plain_text",
    "rounded",
    "style_panel",
    "title_figure",
    "title_panels",
]

BACKENDS = ("matplotlib", "plotly", "bokeh", "none")
COLORS: Mapping[str, str] = {
    "theta_sota": "#0072B2",
    "winner_skill": "#D55E00",
    "expected_sota": "#009E73",
    "prior": "#7F7F7F",
    "observed_maximum": "#000000",
    "other": "#CC79A7",
}
_DOTS_PER_INCH = 100
TEXT_SIZE = {"title": 12, "label": 10, "note": 9}


def make_collection(
    panels: Mapping[str, "xr.DataArray"],
    *,
    backend: str | None,
    figsize: tuple[float, float],
    across: bool = False,
    **ratios: Sequence[float],
) -> "PlotCollection":
    """Empty grid of panels, one variable of the collection each.

    Parameters
    ----------
    panels : mapping of name -> DataArray
        Only the dimension ``board`` matters: a panel that has it is repeated for every board.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float)
        Inches.
    across : bool
        Panels side by side instead of one below the other.
    **ratios
        ``height_ratios`` or ``width_ratios`` of the panels.
    """
    import xarray as xr
    from arviz_base import rcParams
    from arviz_plots import PlotCollection

    chosen = rcParams["plot.backend"] if backend is None else backend
    if chosen not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}, got {chosen!r}")
    data = xr.Dataset({name: _facets(values) for name, values in panels.items()})
    boards = ["board"] if "board" in data.dims else []
    cols, rows = (["__variable__", *boards], []) if across else (boards, ["__variable__"])
    options = _size(chosen, figsize) | dict(ratios)
    return PlotCollection.grid(
        data, cols=cols, rows=rows, backend=chosen, figure_kwargs=options
    )


def _facets(values: "xr.DataArray") -> "xr.DataArray":
    others = [dim for dim in values.dims if dim != "board"]
    return values.isel(dict.fromkeys(others, 0), drop=True).astype(np.float64)


def _size(backend: str, figsize: tuple[float, float]) -> dict[str, Any]:
    if backend == "matplotlib":
        return {"figsize": figsize, "layout": "constrained"}
    dots = tuple(side * _DOTS_PER_INCH for side in figsize)
    return {"figsize": dots, "figsize_units": "dots"}


def draw(
    collection: "PlotCollection",
    visual: Callable[..., Any],
    label: str,
    panel: str,
    values: "xr.DataArray",
    **options: Any,
) -> None:
    """Draw ``values`` into a panel, once per board; the artist is kept as ``viz[label][panel]``."""
    data = values.rename(panel).to_dataset()
    collection.map(visual, label, data=data, ignore_aes="all", **options)


def curve(x: "xr.DataArray", y: "xr.DataArray") -> "xr.DataArray":
    """Pair x and y as ArviZ's line visuals take them."""
    import xarray as xr

    return xr.concat([x, y], dim="plot_axis").assign_coords(plot_axis=["x", "y"])


def density(draws: "xr.DataArray", **options: Any) -> "xr.DataArray":
    """Kernel density of draws over ``chain`` and ``draw``; ``plot_axis`` holds x and y.

    Draws that do not vary have no density: the result is one spike then.
    """
    import arviz_stats  # noqa: F401  (registers the accessor)

    if float(draws.std(("chain", "draw")).min()) == 0:
        raise InputError(f"{draws.name} does not vary over the draws: it has no density to draw")
    curves = draws.azstats.kde(dim=["chain", "draw"], **options)
    kept = ("plot_axis", "board")
    return curves.drop_vars([c for c in curves.coords if c not in kept])  # type: ignore[no-any-return]


def style_panel(
    collection: "PlotCollection",
    panel: str,
    values: "xr.DataArray",
    *,
    xlabel: str,
    xlim: "xr.DataArray | tuple[float, float] | None" = None,
    ylim: tuple[float, float] | None = None,
    yticks: Callable[[Mapping[str, Any]], tuple[Sequence[float], Sequence[str]]] | None = None,
) -> None:
    """Axis label, limits and tick labels of a panel; no box around it.

    ``xlim`` may differ by board (dimension ``bound``); ``yticks`` is called with the selected
    board. Without ``yticks`` the vertical axis is taken away: a density has no unit to read.
    """
    backend = import_module(f"arviz_plots.backend.{collection.backend}")

    def style(_: Any, target: Any, *, sel: Mapping[str, Any], **__: Any) -> None:
        backend.remove_axis(target, axis="y")
        backend.xlabel(plain_text(xlabel, collection.backend), target, size=TEXT_SIZE["label"])
        if xlim is not None:
            low, high = _limits(xlim, sel)
            ticks, labels = nice_ticks(low, min(high, 1.0))
            backend.xlim((low, high), target)
            backend.xticks(ticks, labels, target, size=TEXT_SIZE["note"])
        if ylim is not None:
            backend.ylim(ylim, target)
        if yticks is not None:
            ticks, labels = yticks(sel)
            shown = [plain_text(label, collection.backend) for label in labels]
            backend.yticks(list(ticks), shown, target, size=TEXT_SIZE["label"])

    draw(
        collection, style, "style", panel, _facets(values), subset_info=True, store_artist=False
    )


def _limits(
    xlim: "xr.DataArray | tuple[float, float]", sel: Mapping[str, Any]
) -> tuple[float, float]:
    if isinstance(xlim, tuple):
        return xlim
    chosen = xlim.sel({dim: value for dim, value in sel.items() if dim in xlim.dims})
    return float(chosen[0]), float(chosen[1])


def nice_ticks(low: float, high: float, most: int = 6) -> tuple[list[float], list[str]]:
    """Round numbers in a range and their labels, few enough not to touch.

    Examples
    --------
    >>> nice_ticks(0.9017, 0.9225)
    ([0.905, 0.91, 0.915, 0.92], ['0.905', '0.910', '0.915', '0.920'])
    """
    decade = int(np.floor(np.log10(max(high - low, 1e-12))))
    for digits, factor in ((1 - decade, 1), (1 - decade, 2), (1 - decade, 5), (-decade, 1), (-decade, 2)):
        step = factor * 10.0**-digits
        first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
        if last - first < most:
            break
    ticks = [round(float(k * step), digits + 1) for k in np.arange(first, last + 1)]
    return ticks, [f"{tick:.{max(digits, 0)}f}" for tick in ticks]


def title_figure(collection: "PlotCollection", text: str) -> None:
    """Title of the figure: what it shows, in one or two lines."""
    shown = plain_text(text, collection.backend)
    collection.add_title(shown, color="black", size=TEXT_SIZE["title"])


def title_panels(collection: "PlotCollection", panel: str, texts: Sequence[str]) -> None:
    """Title of every board's copy of a panel."""
    backend = import_module(f"arviz_plots.backend.{collection.backend}")
    targets = np.ravel(collection.viz["plot"][panel].values)
    for target, text in zip(targets, texts, strict=True):
        shown = plain_text(text, collection.backend)
        backend.title(shown, target, size=TEXT_SIZE["label"], color="black")


def plain_text(text: str, backend: str) -> str:
    """Text as it is: names from files are no markup of the drawing library."""
    if backend == "matplotlib":
        return text.replace("$", r"\$")
    if backend == "none":
        return text
    return html.escape(text, quote=False).replace("\n", "<br>")


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


def board_label(values: "xr.DataArray", sel: Mapping[str, Any]) -> "xr.DataArray":
    """Values of the selected board."""
    return values.sel({"board": sel["board"]}) if "board" in values.dims else values
