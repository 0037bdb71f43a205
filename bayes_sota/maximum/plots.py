"""Prior and posterior of the best skill, beside the observed maximum.

Nothing is estimated here: densities and intervals are of the draws in the result.
``tests/maximum/test_plots.py`` compares what was drawn with the result.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    draw_density,
    get_variable,
    make_bounds,
    make_collection,
    rounded,
    select_board,
    title_figure,
    word_of_skill,
)
from bayes_sota.core.types import FloatArray

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection


_QUANTITIES: Mapping[str, str] = {
    "theta_sota": "best classifier",
    "winner_skill": "winner",
    "expected_sota": "best of a fresh field",
}

_ROW_HEIGHT = 0.78  # of the tallest density, in rows


def plot_sota(
    tree: "xr.DataTree",
    *,
    ci_prob: float = 0.95,
    backend: str | None = None,
    var_names: Sequence[str] | None = None,
    plot_collection: "PlotCollection | None" = None,
    **pc_kwargs: Any,
) -> "PlotCollection":
    """Posterior of the best skill: what the observed maximum says about it.

    Above, the prior of ``theta_sota`` over its whole range, with the posterior interval as a band.
    Below, magnified, one row per quantity: density, mean (dot) and equal-tailed interval (bar).
    All densities below have one scale, the prior's (grey) too; so where the data say little, the
    grey area is as high as the coloured one. The black line is the observed maximum. All of them
    are accuracies, of latent skills but for the observed maximum, which is an observed score.

    Parameters
    ----------
    tree : DataTree
        A result, of one or several boards (a column each).
    ci_prob : float
        Probability of the equal-tailed intervals.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    var_names : sequence of str, optional
        Rows, from the top. Default: those of ``theta_sota`` (skill of the best classifier),
        ``winner_skill`` (skill of the classifier that won) and ``expected_sota`` (expected best
        skill of a fresh field of the same size) that the result holds.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz`` by name: ``observed_maximum``, and ``density_NAME``, ``interval_NAME``,
        ``mean_NAME`` of every row, each with a variable per panel, ``prior`` and ``posterior``.

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
    OPEN_SHARE.check(ci_prob, "ci_prob")
    names = _names(tree, var_names)
    observed = get_variable(tree, "observed_data", "observed_maximum")
    collection = _empty_figure(
        tree, observed, len(names), backend=backend, plot_collection=plot_collection, **pc_kwargs
    )
    intervals = {name: _interval(get_variable(tree, "posterior", name), ci_prob) for name in names}
    if _has_prior(tree):
        _draw_prior(Panel(collection, "prior"), tree, intervals[names[0]], names[0], ci_prob)
    _draw_rows(Panel(collection, "posterior"), tree, intervals)
    _set_titles(collection, tree, ci_prob)
    return collection


def _empty_figure(
    tree: "xr.DataTree",
    observed: "xr.DataArray",
    rows: int,
    **figure: Any,
) -> "PlotCollection":
    width, prior = 7.4 * max(1.0, 0.8 * observed.size), _has_prior(tree)
    panels = ("prior", "posterior") if prior else ("posterior",)
    size = (width, (3.1 if prior else 1.7) + 0.95 * rows)
    ratios: dict[str, Any] = {"height_ratios": [1, 0.95 * rows]} if prior else {}
    given = dict.fromkeys(panels, observed)
    return make_collection(given, figsize=size, ratios=ratios, **figure)


def _names(tree: "xr.DataTree", var_names: Sequence[str] | None) -> list[str]:
    held = [name for name in _QUANTITIES if name in tree["posterior"]]
    names = held if var_names is None else list(var_names)
    wrong = [name for name in names if name not in held]
    if wrong or not names:
        given = ", ".join(wrong) or "none"
        raise InputError(f"quantities to draw are one or more of {', '.join(held)}, got {given}")
    return names


def _has_prior(tree: "xr.DataTree") -> bool:
    return "prior" in tree.children and "theta_sota" in tree["prior"]


def _interval(values: "xr.DataArray", ci_prob: float) -> "xr.DataArray":
    """Ends and mean, dimension ``bound``."""
    import xarray as xr

    draws, tails = ("chain", "draw"), [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    ends = values.quantile(tails, draws).rename(quantile="bound").drop_vars("bound")
    return xr.concat([ends, values.mean(draws)], dim="bound")


def _draw_prior(
    panel: Panel, tree: "xr.DataTree", interval: "xr.DataArray", name: str, ci_prob: float
) -> None:
    """The prior over its whole range, with the posterior interval as a band."""
    import xarray as xr

    prior = get_variable(tree, "prior", "theta_sota")
    observed = get_variable(tree, "observed_data", "observed_maximum")
    low = float(min(prior.quantile(0.01), interval.min(), observed.min()))
    curve = draw_density(prior)
    highest = curve.sel(plot_axis="y", drop=True).max("kde_dim")
    panel.area("density_prior", curve, 0.0, 1 / highest, COLORS["prior"])
    panel.span("interval", interval.isel(bound=[0, 1]), COLORS[name], 0.45)
    panel.vline("observed_maximum", observed, COLORS["observed_maximum"])
    text = "prior of the best skill\n(grey below: on the same scale)"
    empty_half = xr.where(interval.isel(bound=0) > (1 + low) / 2, 0.04, 0.48)
    start = low + empty_half * (1 - low)
    panel.text("prior_label", start, 0.8, text, side="left", color=COLORS["dark"])
    xlim, ends = make_bounds(low, 1.0), (interval.isel(bound=0), interval.isel(bound=1))
    text = f"posterior {ci_prob:.0%}"
    label_beside(panel, "interval_label", ends, xlim, 1.12, text, color=COLORS[name])
    panel.set_axes(
        observed,
        xlabel=f"{word_of_skill(tree)}, all that the prior allows",
        xlim=xlim,
        ylim=(0, 1.3),
    )


def label_beside(
    panel: Panel,
    label: str,
    ends: "tuple[xr.DataArray, xr.DataArray]",
    limits: "xr.DataArray",
    y: float,
    text: Any,
    *,
    gap: float = 0.012,
    **look: Any,
) -> None:
    """Text beside a line or a band between ``ends``, on the side with more room."""
    import xarray as xr

    left_of_it = ends[0] > limits.mean("bound")
    width = limits.isel(bound=1) - limits.isel(bound=0)
    x = xr.where(left_of_it, ends[0] - gap * width, ends[1] + gap * width)
    panel.text(label, x, y, text, side=xr.where(left_of_it, "right", "left"), **look)


def label_observed(
    panel: Panel, observed: "xr.DataArray", limits: "xr.DataArray", y: float, word: str, **look: Any
) -> None:
    """The observed maximum beside its line."""
    ends = (observed, observed)
    label_beside(
        panel, "observed_maximum_label", ends, limits, y, lambda value: f"{word} {value:.5g}",
        value=observed, **look,
    )  # fmt: skip


def _draw_rows(panel: Panel, tree: "xr.DataTree", intervals: Mapping[str, "xr.DataArray"]) -> None:
    """The quantities below one another, on one scale of density."""
    import xarray as xr

    draws = {name: get_variable(tree, "posterior", name) for name in intervals}
    observed = get_variable(tree, "observed_data", "observed_maximum")
    curves = {name: draw_density(v) for name, v in draws.items()}
    tops = [curve.sel(plot_axis="y", drop=True).max("kde_dim") for curve in curves.values()]
    limits, scale = _limits(intervals, observed), _ROW_HEIGHT / xr.concat(tops, "row").max("row")
    baselines = np.arange(len(draws), dtype=np.float64)[::-1]
    if _has_prior(tree):  # behind the posterior
        _draw_prior_on_scale(panel, tree, limits, scale, baselines[0])
    panel.vline("observed_maximum", observed, COLORS["observed_maximum"])
    for baseline, (name, curve) in zip(baselines, curves.items(), strict=True):
        color = COLORS[name]
        panel.area(f"density_{name}", _clipped(curve, limits), baseline, scale, color)
        interval = intervals[name]
        panel.bar(f"interval_{name}", interval.isel(bound=[0, 1]), baseline - 0.1, color)
        panel.dots(f"mean_{name}", interval.isel(bound=[2]), baseline - 0.1, color)
    word = "best observed score" if _is_lower_better(tree) else "observed maximum"
    label_observed(panel, observed, limits, len(draws) + 0.08, word)
    panel.set_axes(
        observed,
        xlabel=f"{word_of_skill(tree)}, magnified",
        xlim=limits,
        ylim=(-0.3, len(draws) + 0.25),
        yticks=_row_labels(draws, intervals, baselines),
    )


def _draw_prior_on_scale(
    panel: Panel,
    tree: "xr.DataTree",
    limits: "xr.DataArray",
    scale: "xr.DataArray",
    baseline: float,
) -> None:
    """The prior where the posterior lies, on the posterior's scale."""
    import xarray as xr

    curve = draw_density(get_variable(tree, "prior", "theta_sota"))
    share = xr.DataArray(np.linspace(0, 1, 200), dims="point")
    x = limits.isel(bound=0) + share * (limits.isel(bound=1) - limits.isel(bound=0))
    height = xr.apply_ufunc(
        lambda new, old, y: np.interp(new, old, y, left=0.0, right=0.0),
        x,
        *(curve.sel(plot_axis=axis, drop=True) for axis in ("x", "y")),
        input_core_dims=[["point"], ["kde_dim"], ["kde_dim"]],
        output_core_dims=[["point"]],
        vectorize=True,
    )
    inside = xr.concat([x, height], dim="plot_axis").assign_coords(plot_axis=["x", "y"])
    panel.area("density_prior", inside, baseline, scale, COLORS["prior"])


def _is_lower_better(tree: "xr.DataTree") -> bool:
    facts = tree.get("constant_data", {})
    return bool(facts.get("lower_is_better", False))


def _clipped(curve: "xr.DataArray", limits: "xr.DataArray") -> "xr.DataArray":
    """The part of a curve inside the limits; outside NaN, which no backend draws."""
    x = curve.sel(plot_axis="x", drop=True)
    return curve.where((x >= limits.isel(bound=0)) & (x <= limits.isel(bound=1)))


def _limits(intervals: Mapping[str, "xr.DataArray"], observed: "xr.DataArray") -> "xr.DataArray":
    """Readable range: intervals and observed maximum, with margins; probabilities in [0, 1].

    A very wide interval of another quantity may leave the panel; that of the first may not.
    """
    import xarray as xr

    low, high = (next(iter(intervals.values())).isel(bound=end) for end in (0, 1))
    reach = 2.5 * (high - low)
    every = xr.concat(list(intervals.values()), dim="row")
    low = np.maximum(every.isel(bound=0).min("row"), low - reach)
    high = np.minimum(every.isel(bound=1).max("row"), high + reach)
    low, high = np.minimum(low, observed), np.maximum(high, observed)
    margin = 0.15 * (high - low)
    limits = xr.concat([low - margin, high + margin], dim="bound")
    bounded = float(low.min()) >= 0 and float(high.max()) <= 1
    return limits.clip(0.0, 1.0) if bounded else limits


def _row_labels(
    draws: Mapping[str, "xr.DataArray"],
    intervals: Mapping[str, "xr.DataArray"],
    baselines: FloatArray,
) -> Callable[[Mapping[str, Any]], tuple[list[float], list[str]]]:
    def label(name: str, sel: Mapping[str, Any]) -> str:
        sd = float(select_board(draws[name], sel).std())
        ends = (rounded(float(v), sd) for v in select_board(intervals[name], sel))
        low, high, middle = ends
        return f"{_QUANTITIES[name]}\n{name}\n{middle} ({low} to {high})"

    return lambda sel: ([float(b) + 0.25 for b in baselines], [label(n, sel) for n in draws])


def _set_titles(collection: "PlotCollection", tree: "xr.DataTree", ci_prob: float) -> None:
    theta, word = get_variable(tree, "posterior", "theta_sota"), word_of_skill(tree)
    what = f"{word[0].upper()}{word[1:]} of the best classifier"
    if "board" in theta.dims:
        title_figure(collection, f"{what}, posterior mean and {ci_prob:.0%} interval")
        texts = []
        for name in theta["board"].values:
            low, high, middle = _rounded_interval(theta.sel(board=name), ci_prob)
            texts.append(f"{name}: {middle} ({low} to {high})")
        Panel(collection, "prior" if _has_prior(tree) else "posterior").set_titles(texts)
        return
    observed = float(get_variable(tree, "observed_data", "observed_maximum"))
    low, high, middle = _rounded_interval(theta, ci_prob)
    gap = observed - float(theta.mean())
    where = f"{abs(gap):.1g} {'above' if gap >= 0 else 'below'} it"
    title_figure(
        collection,
        f"{what}: posterior mean {middle}, {ci_prob:.0%} interval {low} to {high};\n"
        f"the best observed score, {observed:.5g}, lies {where}",
    )


def _rounded_interval(values: "xr.DataArray", ci_prob: float) -> tuple[str, ...]:
    sd = float(values.std())
    return tuple(rounded(float(v), sd) for v in _interval(values, ci_prob))
