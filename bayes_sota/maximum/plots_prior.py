"""What the prior of a best score expects: boards and fields.

``tests/maximum/test_plots.py`` compares what was drawn with the result.
"""

from typing import Any

import numpy as np
import xarray as xr
from arviz_plots import PlotCollection

from bayes_sota.core.arguments import COUNT, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    get_variable,
    make_bounds,
    make_collection,
    title_figure,
    word_of_skill,
)
from bayes_sota.core.priors import SKILL_FAMILIES
from bayes_sota.core.summary import observed_maximum_of
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.plots import label_observed, middle

_BINS = 40


def plot_prior_predictive(
    tree: xr.DataTree,
    *,
    ci_prob: float = 0.95,
    n_fields: int = 40,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Prior predictive check: boards that the prior expects, and fields that it believes in.

    Left, the best scores of boards simulated from the prior, with the best score really observed
    (black line): where the line lies far outside, prior and data contradict each other. Right,
    ``n_fields`` draws of P(theta), sorted by median: the middle ``ci_prob`` of the skills of a
    field (bar), its median (dot) and its best classifier's skill (triangle). A field that nobody
    would believe in shows a prior to change.

    Parameters
    ----------
    tree : DataTree
        A result with the groups ``prior`` and ``prior_predictive``.
    ci_prob : float
        Probability of the middle part, of the boards and of the skills of each field.
    n_fields : int
        Number of fields drawn, evenly spaced among the draws.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

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
    >>> board = bs.BestScore("0.98", n_test=200, n_classifiers=50)
    >>> figure = plot_prior_predictive(bs.estimate_sota(board, random_seed=1), backend="none")
    >>> figure.viz["observed_maximum"]["observed_maximum"].item()["x"]
    0.98
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    COUNT.check(n_fields, "n_fields")
    if not {"prior", "prior_predictive"} <= set(tree.children):
        raise InputError("the result has no prior draws: sample it with its prior")
    if "observed_maximum" not in tree["prior_predictive"]:
        raise InputError(
            "this figure is of a maximum alone; for a whole board "
            'arviz.plot_ppc_dist(tree, group="prior_predictive") draws what the prior expects'
        )
    observed = observed_maximum_of(tree)
    panels = {"observed_maximum": observed, "field": get_variable(tree, "prior", "location")}
    size = (4.4 * (observed.size + 1), 4.2)
    collection = make_collection(
        panels,
        figsize=size,
        plot_collection=plot_collection,
        across=True,
        **pc_kwargs,
    )
    predicted = get_variable(tree, "prior_predictive", "observed_maximum")
    predicted = predicted if "board" in observed.dims else predicted.isel(board=0, drop=True)
    _draw_scores(Panel(collection, "observed_maximum"), tree, predicted, ci_prob)
    _draw_fields(Panel(collection, "field"), tree, ci_prob, n_fields)
    title_figure(collection, _finding_of_prior(predicted, observed, ci_prob))
    return collection


def _draw_scores(panel: Panel, tree: xr.DataTree, predicted: xr.DataArray, ci_prob: float) -> None:
    """Best scores that the prior expects, and the observed one."""
    observed, n_test = observed_maximum_of(tree), get_variable(tree, "constant_data", "n_test")
    lowest = float(min(predicted.quantile(0.005), observed.min()))
    low, high = lowest - 0.04 * (1 - lowest), 1 + 0.5 / float(n_test.min())
    panel.histogram("histogram", _histogram(predicted, n_test, low), COLORS["prior"])
    panel.bar("interval", middle(predicted, ci_prob), -0.04, COLORS["prior"], 3)
    panel.vline("observed_maximum", observed, COLORS["observed_maximum"])
    label_observed(panel, observed, make_bounds(low, 1.0), 1.1, "observed", gap=0.02)
    panel.set_axes(
        observed,
        xlabel=f"best observed score ({word_of_skill(tree)})",
        xlim=make_bounds(low, high),
        ylim=(-0.09, 1.2),
    )
    names = [f"{name}: " for name in observed["board"].values] if observed.ndim else [""]
    panel.set_titles([f"{name}boards from the prior" for name in names])


def _histogram(values: xr.DataArray, n_test: xr.DataArray, low: float) -> xr.DataArray:
    """Shares relative to the fullest bin, and left and right edges of the bins.

    Every bin holds as many success counts, so that the lattice of scores makes no pattern.
    """

    def heights(draws: FloatArray, n: int) -> FloatArray:
        width = np.ceil(n * (1 - low) / _BINS)
        edges = (n + 0.5 - width * np.arange(_BINS, -1, -1)) / n
        counts = np.histogram(draws, edges)[0]
        return np.stack([counts / max(int(counts.max()), 1), edges[:-1], edges[1:]])

    bars: xr.DataArray = xr.apply_ufunc(
        heights,
        values.stack(sample=("chain", "draw")),
        n_test,
        input_core_dims=[["sample"], []],
        output_core_dims=[["plot_axis", "bin"]],
        vectorize=True,
    )
    return bars


def _draw_fields(panel: Panel, tree: xr.DataTree, ci_prob: float, n_fields: int) -> None:
    low, middle, high, best = _fields_of_prior(tree, ci_prob, n_fields)
    level = np.arange(middle.size, dtype=np.float64)
    for i in range(middle.size):
        panel.bar(f"field_{i}", make_bounds(low[i], high[i]), i, COLORS["prior"], 1.6)
    medians, bests = (xr.DataArray(x, dims="index") for x in (middle, best))
    panel.dots("field_median", medians, level, COLORS["dark"], size=10)
    panel.dots("field_best", bests, level, COLORS["theta_sota"], size=16, marker="C2")
    panel.set_axes(
        medians,
        xlabel=f"skill ({word_of_skill(tree)}); bar {ci_prob:.0%}, dot median, triangle best",
        xlim=make_bounds(float(low.min()) - 0.02, 1.005),
        ylim=(-1.5, middle.size + 0.5),
    )
    panel.set_titles([f"{middle.size} fields from the prior"])


def _fields_of_prior(tree: xr.DataTree, ci_prob: float, n_fields: int) -> tuple[FloatArray, ...]:
    """Ends and median of P(theta), and the best skill (of the first board), sorted by median."""
    names = ("location", "spread", "theta_sota")
    draws = [get_variable(tree, "prior", name) for name in names]
    draws[-1] = draws[-1].isel(board=0) if "board" in draws[-1].dims else draws[-1]
    flat = [np.ravel(values.transpose("chain", "draw")) for values in draws]
    chosen = np.unique(np.linspace(0, flat[0].size - 1, n_fields).astype(int))
    location, spread, best = (values[chosen] for values in flat)
    family = SKILL_FAMILIES[str(tree.attrs.get("skill_family", "logit-normal"))]
    field = family().distribution(location[:, None], spread[:, None])
    low, middle, high = field.skill(field.isf([(1 + ci_prob) / 2, 0.5, (1 - ci_prob) / 2])).T
    order = np.argsort(middle)
    return low[order], middle[order], high[order], best[order]


def _finding_of_prior(predicted: xr.DataArray, observed: xr.DataArray, ci_prob: float) -> str:
    if "board" in observed.dims:
        return "Boards and fields that the prior expects, before any score is seen"
    low, high = (float(value) for value in middle(predicted, ci_prob))
    share = float((predicted <= observed).mean())
    return (
        f"The prior expects a best score between {low:.3g} and {high:.3g} ({ci_prob:.0%});\n"
        f"{share:.0%} of its boards score no more than the observed {float(observed):.5g}"
    )
