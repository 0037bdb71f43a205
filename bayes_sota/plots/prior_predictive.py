"""What the priors believe before any score is seen: the boards and the fields they would make.

``tests/plots/test_prior_predictive.py`` compares what was drawn with the result.
"""

from typing import TYPE_CHECKING

import numpy as np

from bayes_sota.errors import InputError
from bayes_sota.plots.canvas import (
    COLORS,
    TEXT_SIZE,
    curve,
    draw,
    make_collection,
    style_panel,
    title_figure,
    title_panels,
)
from bayes_sota.priors import SKILL_FAMILIES
from bayes_sota.skill_distributions import FloatArray
from bayes_sota.summaries import check_probability

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["plot_prior_predictive"]

_SCORES, _FIELDS = "observed_maximum", "field"
_BINS = 40


def plot_prior_predictive(
    tree: "xr.DataTree",
    *,
    prob: float = 0.95,
    n_fields: int = 40,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Prior predictive check: boards that the prior expects, and fields that it believes in.

    Left, the best scores of boards simulated from the prior, with the best score really observed
    (black line): where the line lies far outside, prior and data contradict each other. Right,
    ``n_fields`` draws of P(theta), sorted by median: the middle ``prob`` of the skills of a field
    (bar), its median (dot) and its best classifier's skill (triangle). A field that nobody would
    believe in shows a prior to change.

    Parameters
    ----------
    tree : DataTree
        A result with the groups ``prior`` and ``prior_predictive``.
    prob : float
        Probability of the middle part, of the boards and of the skills of each field.
    n_fields : int
        Number of fields drawn, evenly spaced among the draws.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``histogram``, ``observed_maximum`` and ``interval`` with the variable
        ``observed_maximum``; ``field_median``, ``field_best`` and ``field_0``, ``field_1``, ...
        with the variable ``field``.

    Raises
    ------
    InputError
        The result has no prior draws.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    >>> figure = plot_prior_predictive(bs.estimate_sota(board, random_seed=1), backend="none")
    >>> figure.viz["observed_maximum"]["observed_maximum"].item()["x"]
    0.98
    """
    check_probability(prob)
    if n_fields < 1:
        raise InputError(f"n_fields must be at least 1, got {n_fields}")
    if not {"prior", "prior_predictive"} <= set(tree.children):
        raise InputError("the result has no prior draws: sample it with its prior")
    observed = tree["observed_data"]["observed_maximum"]
    size = figsize or (4.4 * (observed.size + 1), 4.2)
    panels = {_SCORES: observed, _FIELDS: tree["prior"]["location"]}
    collection = make_collection(panels, backend=backend, figsize=size, across=True)
    _draw_scores(collection, tree, prob)
    _draw_fields(collection, tree, prob, n_fields)
    title_figure(collection, _finding(tree, prob))
    return collection


def _draw_scores(collection: "PlotCollection", tree: "xr.DataTree", prob: float) -> None:
    from arviz_plots import visuals

    predicted = tree["prior_predictive"]["observed_maximum"]
    observed = tree["observed_data"]["observed_maximum"]
    low = float(min(predicted.quantile(0.005), observed.min()))
    heights = _histogram(predicted, low)
    draw(collection, visuals.hist, "histogram", _SCORES, heights, color=COLORS["prior"], alpha=0.6)
    bar = predicted.quantile([(1 - prob) / 2, (1 + prob) / 2], ("chain", "draw"))
    draw(collection, visuals.line_x, "interval", _SCORES, bar, y=-0.04, color=COLORS["prior"],
         width=3)
    draw(collection, visuals.vline, "observed_maximum", _SCORES, observed,
         color=COLORS["observed_maximum"], width=1.4)
    draw(collection, visuals.annotate_xy, "observed_maximum_label", _SCORES, observed,
         x=observed - 0.02 * (1 - low), y=1.1, text=lambda value: f"observed {value:.5g}",
         size=TEXT_SIZE["note"], horizontal_align="right")
    style_panel(collection, _SCORES, observed, xlabel="best observed score (accuracy)",
                xlim=(low, 1.0), ylim=(-0.09, 1.2))
    names = [f"{name}: " for name in observed["board"].values] if observed.ndim else [""]
    title_panels(collection, _SCORES, [f"{name}boards from the prior" for name in names])


def _histogram(values: "xr.DataArray", low: float) -> "xr.DataArray":
    """Shares relative to the fullest bin, as ArviZ's histogram visual takes them."""
    import xarray as xr

    edges = np.linspace(low, 1.0, _BINS + 1)

    def heights(draws: FloatArray) -> FloatArray:
        counts = np.histogram(draws, edges)[0]
        return np.stack([counts / max(counts.max(), 1), edges[:-1], edges[1:]])

    return xr.apply_ufunc(
        heights, values.stack(sample=("chain", "draw")), input_core_dims=[["sample"]],
        output_core_dims=[["plot_axis", "bin"]], vectorize=True,
    ).assign_coords(plot_axis=["histogram", "left_edges", "right_edges"])


def _draw_fields(
    collection: "PlotCollection", tree: "xr.DataTree", prob: float, n_fields: int
) -> None:
    import xarray as xr
    from arviz_plots import visuals

    low, middle, high, best = _fields(tree, prob, n_fields)
    level = xr.DataArray(np.arange(middle.size, dtype=np.float64), dims="index")
    color = COLORS["prior"]
    for i in range(middle.size):
        bar = xr.DataArray([low[i], high[i]], dims="bound")
        draw(collection, visuals.line_x, f"field_{i}", _FIELDS, bar, y=float(i), color=color,
             width=1.6)
    for label, x, look in (
        ("field_median", middle, {"color": "#4D4D4D", "size": 10}),
        ("field_best", best, {"color": COLORS["theta_sota"], "size": 16, "marker": "C2"}),
    ):
        points = curve(xr.DataArray(x, dims="index"), level)
        draw(collection, visuals.scatter_xy, label, _FIELDS, points, **look)
    style_panel(collection, _FIELDS, level, ylim=(-1.5, middle.size + 0.5),
                xlim=(float(low.min()) - 0.02, 1.005),
                xlabel=f"skill (accuracy); bar {prob:.0%}, dot median, triangle best")
    title_panels(collection, _FIELDS, [f"{middle.size} fields from the prior"])


def _fields(tree: "xr.DataTree", prob: float, n_fields: int) -> tuple[FloatArray, ...]:
    """Ends and median of P(theta), and the best skill (of the first board), sorted by median."""
    prior = tree["prior"].to_dataset()
    best = prior["theta_sota"]
    prior["theta_sota"] = best.isel(board=0, drop=True) if "board" in best.dims else best
    names = ["location", "spread", "theta_sota"]
    every = prior[names].stack(sample=("chain", "draw"))
    chosen = np.unique(np.linspace(0, every.sizes["sample"] - 1, n_fields).astype(int))
    location, spread, best = (every[name].values[chosen] for name in names)
    family = SKILL_FAMILIES[str(tree.attrs.get("skill_family", "logit-normal"))]
    field = family().distribution(location[:, None], spread[:, None])
    low, middle, high = field.skill(field.isf([(1 + prob) / 2, 0.5, (1 - prob) / 2])).T
    order = np.argsort(middle)
    return low[order], middle[order], high[order], best[order]


def _finding(tree: "xr.DataTree", prob: float) -> str:
    predicted = tree["prior_predictive"]["observed_maximum"]
    observed = tree["observed_data"]["observed_maximum"]
    if "board" in observed.dims:
        return "Boards and fields that the prior expects, before any score is seen"
    low, high = (float(v) for v in predicted.quantile([(1 - prob) / 2, (1 + prob) / 2]))
    share = float((predicted <= observed).mean())
    return (
        f"The prior expects a best score between {low:.3g} and {high:.3g} ({prob:.0%});\n"
        f"{share:.0%} of its boards score no more than the observed {float(observed):.5g}"
    )
