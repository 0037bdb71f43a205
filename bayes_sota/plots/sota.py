"""Prior and posterior of the best skill, beside the observed maximum.

Nothing is estimated here: densities and intervals are of the draws in the result.
``tests/plots/test_sota.py`` compares what was drawn with the result.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.errors import InputError
from bayes_sota.plots.canvas import (
    COLORS,
    TEXT_SIZE,
    board_label,
    curve,
    density,
    draw,
    make_collection,
    rounded,
    style_panel,
    title_figure,
    title_panels,
)
from bayes_sota.summaries import check_probability

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["plot_sota"]

_SAMPLE = ("chain", "draw")
_QUANTITIES: Mapping[str, str] = {
    "theta_sota": "best classifier",
    "winner_skill": "winner",
    "expected_sota": "best of a fresh field",
}
_ROW_HEIGHT = 0.78  # of the tallest density, in rows


def plot_sota(
    tree: "xr.DataTree",
    *,
    prob: float = 0.95,
    backend: str | None = None,
    var_names: Sequence[str] | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Posterior of the best skill: what the observed maximum says about it.

    Above, the prior of ``theta_sota`` over its whole range, with the posterior interval as a band.
    Below, magnified, one row per quantity: density, median (dot) and equal-tailed interval (bar).
    All densities below have one scale, the prior's (grey) too; so where the data say little, the
    grey curve is as high as the coloured one. The black line is the observed maximum. All of them
    are accuracies, of latent skills but for the observed maximum, which is an observed score.

    Parameters
    ----------
    tree : DataTree
        A result, of one or several boards (a column each).
    prob : float
        Probability of the equal-tailed intervals.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    var_names : sequence of str, optional
        Rows, from the top. Default: those of ``theta_sota`` (skill of the best classifier),
        ``winner_skill`` (skill of the classifier that won) and ``expected_sota`` (expected best
        skill of a fresh field of the same size) that the result holds.
    figsize : (float, float), optional
        Inches.

    Returns
    -------
    PlotCollection
        Artists in ``viz`` by name: ``observed_maximum``, and ``density_NAME``, ``interval_NAME``,
        ``median_NAME`` of every row, each with a variable per panel, ``prior`` and ``posterior``.

    Raises
    ------
    InputError
        A quantity that the result does not hold, or an impossible probability.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    >>> figure = plot_sota(bs.estimate_sota(board, random_seed=1), backend="none")
    >>> figure.viz["observed_maximum"]["posterior"].item()["x"]
    0.98
    """
    check_probability(prob)
    names = _names(tree, var_names)
    draws = {name: tree["posterior"][name] for name in names}
    observed = tree["observed_data"]["observed_maximum"]
    panels = {"prior": observed} if _has_prior(tree) else {}
    panels["posterior"] = observed
    rows = len(names)
    size = (7.4 * max(1.0, 0.8 * observed.size), 1.7 + 0.95 * rows + 1.4 * _has_prior(tree))
    ratios = {"height_ratios": [1, 0.95 * rows]} if _has_prior(tree) else {}
    collection = make_collection(panels, backend=backend, figsize=figsize or size, **ratios)
    intervals = {name: _interval(values, prob) for name, values in draws.items()}
    if _has_prior(tree):
        _draw_prior(collection, tree, intervals[names[0]], names[0], prob)
    _draw_rows(collection, tree, draws, intervals)
    if "board" in observed.dims:
        title_figure(collection, f"Accuracy of the best classifier, median and {prob:.0%} interval")
        title_panels(collection, next(iter(panels)), _board_findings(tree, prob))
    else:
        title_figure(collection, _finding(tree, prob))
    return collection


def _names(tree: "xr.DataTree", var_names: Sequence[str] | None) -> list[str]:
    names = [n for n in _QUANTITIES if n in tree["posterior"]] if var_names is None else var_names
    for name in names:
        if name not in tree["posterior"] or name not in _QUANTITIES:
            raise InputError(
                f"cannot draw {name!r}: choose among {', '.join(_QUANTITIES)} of this result"
            )
    if not names:
        raise InputError("there is nothing to draw: var_names is empty")
    return list(names)


def _has_prior(tree: "xr.DataTree") -> bool:
    return "prior" in tree.children and "theta_sota" in tree["prior"]


def _interval(values: "xr.DataArray", prob: float) -> "xr.DataArray":
    """Ends and median, dimension ``bound``."""
    ends = [(1 - prob) / 2, (1 + prob) / 2, 0.5]
    return values.quantile(ends, _SAMPLE).rename(quantile="bound").drop_vars("bound")


def _draw_prior(
    collection: "PlotCollection",
    tree: "xr.DataTree",
    interval: "xr.DataArray",
    name: str,
    prob: float,
) -> None:
    import xarray as xr
    from arviz_plots import visuals

    prior = tree["prior"]["theta_sota"]
    observed = tree["observed_data"]["observed_maximum"]
    curves = density(prior)
    top = curves.sel(plot_axis="y", drop=True).max("kde_dim")
    area = _band(curves, 0.0, 1 / top)
    draw(collection, visuals.fill_between_y, "density_prior", "prior", area,
         color=COLORS["prior"], alpha=0.35)
    draw(collection, visuals.vspan, "interval", "prior", interval.isel(bound=[0, 1]),
         color=COLORS[name], alpha=0.45)
    draw(collection, visuals.vline, "observed_maximum", "prior", observed,
         color=COLORS["observed_maximum"], width=1.2)
    low = float(min(prior.quantile(0.01), interval.min(), observed.min()))
    middle = low + 0.04 * (1 - low)
    _write(collection, "prior_label", "prior", observed * 0 + middle, 0.8,
           "prior of the best skill\n(grey below: on the same scale)", color="#555555",
           horizontal_align="left")
    right = interval.isel(bound=0) > (1 + low) / 2
    edge = xr.where(right, interval.isel(bound=0), interval.isel(bound=1))
    _write(collection, "interval_label", "prior", edge + xr.where(right, -0.012, 0.012) * (1 - low),
           1.12, f"posterior {prob:.0%}", color=COLORS[name],
           horizontal_align=xr.where(right, "right", "left"))
    style_panel(collection, "prior", observed, xlabel="accuracy, all that the prior allows",
                xlim=(low, 1.0), ylim=(0.0, 1.3))


def _draw_rows(
    collection: "PlotCollection",
    tree: "xr.DataTree",
    draws: Mapping[str, "xr.DataArray"],
    intervals: Mapping[str, "xr.DataArray"],
) -> None:
    from arviz_plots import visuals

    observed = tree["observed_data"]["observed_maximum"]
    curves = {name: density(values, bound_correction=False) for name, values in draws.items()}
    tops = [c.sel(plot_axis="y", drop=True).max("kde_dim") for c in curves.values()]
    scale = _ROW_HEIGHT / _largest(tops)
    limits = _limits(intervals, observed)
    draw(collection, visuals.vline, "observed_maximum", "posterior", observed,
         color=COLORS["observed_maximum"], width=1.2)
    baselines = np.arange(len(draws))[::-1].astype(np.float64)
    for baseline, (name, values) in zip(baselines, curves.items(), strict=True):
        _draw_row(collection, name, _clipped(values, limits), scale, intervals[name], baseline)
    if _has_prior(tree):
        _draw_prior_density(collection, density(tree["prior"]["theta_sota"]), limits, scale, baselines[0])
    _draw_observed_label(collection, observed, limits, len(draws))
    style_panel(
        collection, "posterior", observed, xlabel="accuracy, magnified", xlim=limits,
        ylim=(-0.3, len(draws) + 0.25), yticks=_row_labels(draws, intervals, baselines),
    )


def _draw_row(
    collection: "PlotCollection",
    name: str,
    values: "xr.DataArray",
    scale: "xr.DataArray",
    interval: "xr.DataArray",
    baseline: float,
) -> None:
    from arviz_plots import visuals

    color = COLORS[name]
    area = _band(values, baseline, scale)
    draw(collection, visuals.fill_between_y, f"density_{name}", "posterior", area,
         color=color, alpha=0.4)
    level = baseline - 0.1
    bar = interval.isel(bound=[0, 1])
    draw(collection, visuals.line_x, f"interval_{name}", "posterior", bar, y=level, color=color,
         width=2.5)
    draw(collection, visuals.scatter_x, f"median_{name}", "posterior", interval.isel(bound=[2]),
         y=level, color=color, size=36)


def _draw_prior_density(
    collection: "PlotCollection",
    values: "xr.DataArray",
    limits: "xr.DataArray",
    scale: "xr.DataArray",
    baseline: float,
) -> None:
    """The prior where the posterior lies, on the posterior's scale."""
    from arviz_plots import visuals

    line = _magnified(values, limits)
    line.loc[{"plot_axis": "y"}] = baseline + scale * line.sel(plot_axis="y", drop=True)
    draw(collection, visuals.line_xy, "prior_density", "posterior", line, color=COLORS["prior"],
         width=1.4)


def _draw_observed_label(
    collection: "PlotCollection",
    observed: "xr.DataArray",
    limits: "xr.DataArray",
    height: float,
) -> None:
    import xarray as xr

    width = limits.isel(bound=1) - limits.isel(bound=0)
    right = observed > limits.mean("bound")
    side = xr.where(right, "right", "left")

    def text(value: float) -> str:
        return f"observed maximum {value:.5g}"

    _write(collection, "observed_maximum_label", "posterior",
           observed + xr.where(right, -0.012, 0.012) * width, height + 0.08, text, of=observed,
           horizontal_align=side)


def _write(
    collection: "PlotCollection",
    label: str,
    panel: str,
    x: "xr.DataArray",
    y: float,
    text: Any,
    *,
    of: "xr.DataArray | None" = None,
    **options: Any,
) -> None:
    from arviz_plots import visuals

    draw(collection, visuals.annotate_xy, label, panel, x if of is None else of, x=x, y=y, text=text,
         size=TEXT_SIZE["note"], **options)


def _band(values: "xr.DataArray", baseline: float, scale: "xr.DataArray") -> "xr.DataArray":
    """Area under a density as ArviZ's fill visual takes it."""
    import xarray as xr

    x, y = (values.sel(plot_axis=axis, drop=True) for axis in ("x", "y"))
    bottom = xr.full_like(y, baseline)
    parts = [x, bottom, bottom + scale * y]
    return xr.concat(parts, dim="kwarg").assign_coords(kwarg=["x", "y_bottom", "y_top"])


def _largest(values: Sequence["xr.DataArray"]) -> "xr.DataArray":
    import xarray as xr

    return xr.concat(values, dim="row", coords="minimal", compat="override").max("row")


def _clipped(values: "xr.DataArray", limits: "xr.DataArray") -> "xr.DataArray":
    """The part of a curve inside the limits; outside NaN, which no backend draws."""
    x = values.sel(plot_axis="x", drop=True)
    inside = (x >= limits.isel(bound=0)) & (x <= limits.isel(bound=1))
    return values.where(inside)


def _magnified(values: "xr.DataArray", limits: "xr.DataArray", points: int = 200) -> "xr.DataArray":
    """A curve between the limits only, on a grid of its own; zero where it was not evaluated."""
    import xarray as xr

    x, y = (values.sel(plot_axis=axis, drop=True) for axis in ("x", "y"))
    share = xr.DataArray(np.linspace(0, 1, points), dims="point")
    grid = limits.isel(bound=0) + share * (limits.isel(bound=1) - limits.isel(bound=0))
    height = xr.apply_ufunc(
        lambda g, a, b: np.interp(g, a, b, left=0.0, right=0.0), grid, x, y,
        input_core_dims=[["point"], ["kde_dim"], ["kde_dim"]], output_core_dims=[["point"]],
        vectorize=True,
    )
    return curve(grid.transpose(..., "point"), height)


def _limits(intervals: Mapping[str, "xr.DataArray"], observed: "xr.DataArray") -> "xr.DataArray":
    """Readable range: the intervals and the observed maximum, with margins; never above 1.

    A very wide interval of another quantity may leave the panel; ``theta_sota`` may not.
    """
    import xarray as xr

    first = next(iter(intervals.values()))
    low, high = first.isel(bound=0), first.isel(bound=1)
    reach = 2.5 * (high - low)
    ends = [xr.concat([i.isel(bound=b) for i in intervals.values()], dim="row") for b in (0, 1)]
    low = np.minimum(np.maximum(ends[0].min("row"), low - reach), observed)
    high = np.maximum(np.minimum(ends[1].max("row"), high + reach), observed)
    margin = 0.15 * (high - low)
    limits = xr.concat([low - margin, np.minimum(high + margin, 1.0)], dim="bound")
    return limits.clip(0.0, 1.0)


def _row_labels(
    draws: Mapping[str, "xr.DataArray"],
    intervals: Mapping[str, "xr.DataArray"],
    baselines: np.ndarray[Any, Any],
) -> Any:
    def labels(sel: Mapping[str, Any]) -> tuple[list[float], list[str]]:
        texts = []
        for name, values in draws.items():
            sd = float(board_label(values, sel).std())
            ends = (rounded(float(v), sd) for v in board_label(intervals[name], sel))
            low, high, middle = ends
            texts.append(f"{_QUANTITIES[name]}\n{name}\n{middle} ({low} to {high})")
        return [float(b) + 0.25 for b in baselines], texts

    return labels


def _finding(tree: "xr.DataTree", prob: float) -> str:
    """What the posterior of a single board says."""
    observed = float(tree["observed_data"]["observed_maximum"])
    theta = tree["posterior"]["theta_sota"]
    low, high, middle = _rounded_interval(theta, prob)
    gap = observed - float(theta.mean())
    where = f"{abs(gap):.1g} {'above' if gap >= 0 else 'below'} its posterior mean"
    return (
        f"The best classifier's accuracy is {middle} ({prob:.0%} interval {low} to {high});\n"
        f"the best observed score, {observed:.5g}, lies {where}"
    )


def _board_findings(tree: "xr.DataTree", prob: float) -> list[str]:
    theta = tree["posterior"]["theta_sota"]
    texts = []
    for name in theta["board"].values:
        low, high, middle = _rounded_interval(theta.sel(board=name), prob)
        texts.append(f"{name}: {middle} ({low} to {high})")
    return texts


def _rounded_interval(values: "xr.DataArray", prob: float) -> tuple[str, ...]:
    sd = float(values.std())
    return tuple(rounded(float(v), sd) for v in _interval(values, prob))
