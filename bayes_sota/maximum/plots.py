"""Posterior of the best skill.

Nothing is estimated here: densities and intervals are of the draws in the result.
``tests/maximum/test_plots.py`` compares what was drawn with the result.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from arviz_plots import PlotCollection

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
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import observed_maximum_of
from bayes_sota.core.types import FloatArray

_QUANTITIES: Mapping[str, str] = {
    "theta_sota": "best classifier",
    "winner_skill": "winner",
    "expected_sota": "best of a fresh field",
}

_ROW_HEIGHT = 0.78  # of the tallest density, in rows
_POINTS = 300  # of a density
_BANDWIDTH = "scott"  # of posteriors, which have one mode: ArviZ's default shows ripples of draws
_LEAST_RHO = 0.05  # below it, a draw's law is a spike


def plot_sota(
    tree: xr.DataTree,
    *,
    ci_prob: float = 0.95,
    var_names: Sequence[str] | None = None,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
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
    >>> board = bs.BestScore("0.98", n_test=200, n_classifiers=50)
    >>> figure = plot_sota(bs.estimate_sota(board, random_seed=1), backend="none")
    >>> figure.viz["observed_maximum"]["posterior"].item()["x"]
    0.98
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    names = _names(tree, var_names)
    observed = observed_maximum_of(tree)
    width, height = 7.4 * max(1.0, 0.8 * observed.size), 0.95 * len(names)
    panels, first = (("prior", "posterior"), 3.1) if _has_prior(tree) else (("posterior",), 1.7)
    collection = make_collection(
        dict.fromkeys(panels, observed),
        figsize=(width, first + height),
        ratios={"height_ratios": [1, height]} if _has_prior(tree) else {},
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    draws = {name: get_variable(tree, "posterior", name) for name in names}
    if _has_prior(tree):
        _draw_prior(Panel(collection, "prior"), tree, draws[names[0]], ci_prob)
    _draw_rows(Panel(collection, "posterior"), tree, draws, ci_prob)
    _set_titles(collection, tree, ci_prob)
    return collection


def _names(tree: xr.DataTree, var_names: Sequence[str] | None) -> list[str]:
    held = [name for name in _QUANTITIES if name in tree["posterior"]]
    names = held if var_names is None else list(var_names)
    wrong = [name for name in names if name not in held]
    if wrong or not names:
        unknown = ", ".join(wrong) or "none"
        raise InputError(f"quantities to draw are one or more of {', '.join(held)}, got {unknown}")
    return names


def _has_prior(tree: xr.DataTree) -> bool:
    """Whether there is a prior over the whole range: that of a board depends on its cut."""
    shown = "prior" in tree.children and "theta_sota" in tree["prior"]
    return shown and "observed_maximum" in tree["observed_data"]


def _draw_prior(panel: Panel, tree: xr.DataTree, draws: xr.DataArray, ci_prob: float) -> None:
    """The prior over its whole range, with the posterior interval as a band."""
    prior, observed = get_variable(tree, "prior", "theta_sota"), observed_maximum_of(tree)
    interval, color = middle(draws, ci_prob), COLORS[str(draws.name)]
    lower, upper = (interval.isel(bound=end) for end in (0, 1))
    low = float(min(prior.quantile(0.01), interval.min(), observed.min()))
    curve, xlim = draw_density(prior), make_bounds(low, 1.0)
    highest = curve.sel(plot_axis="y", drop=True).max("kde_dim")
    panel.area("density_prior", curve, 0.0, 1 / highest, COLORS["prior"])
    panel.span("interval", interval, color, 0.45)
    panel.vline("observed_maximum", observed, COLORS["observed_maximum"])
    text = "prior of the best skill\n(grey below: on the same scale)"
    empty_half = xr.where(lower > (1 + low) / 2, 0.04, 0.48)
    start = low + empty_half * (1 - low)
    panel.text("prior_label", start, 0.8, text, side="left", color=COLORS["dark"])
    look = {"text": f"posterior {ci_prob:.0%}", "color": color}
    _label_beside(panel, "interval_label", (lower, upper), xlim, y=1.12, **look)
    label = f"{word_of_skill(tree)}, all that the prior allows"
    panel.set_axes(observed, xlabel=label, xlim=xlim, ylim=(0, 1.3))


def _label_beside(
    panel: Panel, label: str, ends: Sequence[xr.DataArray], limits: xr.DataArray, **look: Any
) -> None:
    """Text beside a line or a band between ``ends``, on the side with more room."""
    left_of_it = ends[0] > limits.mean("bound")
    gap = look.pop("gap", 0.012) * (limits.isel(bound=1) - limits.isel(bound=0))
    x = xr.where(left_of_it, ends[0] - gap, ends[1] + gap)
    panel.text(label, x, side=xr.where(left_of_it, "right", "left"), **look)


def label_observed(
    panel: Panel, observed: xr.DataArray, limits: xr.DataArray, y: float, word: str, **look: Any
) -> None:
    """The observed maximum beside its line."""
    label, ends = "observed_maximum_label", (observed, observed)
    look |= {"text": lambda value: f"{word} {value:.5g}", "value": observed}
    _label_beside(panel, label, ends, limits, y=y, **look)


def _draw_rows(
    panel: Panel, tree: xr.DataTree, draws: Mapping[str, xr.DataArray], ci_prob: float
) -> None:
    """The quantities below one another, on one scale of density."""
    observed = observed_maximum_of(tree)
    intervals = {name: middle(values, ci_prob) for name, values in draws.items()}
    curves = {name: draw_density(v, bw=_BANDWIDTH) for name, v in draws.items()}
    tops = [curve.sel(plot_axis="y", drop=True).max("kde_dim") for curve in curves.values()]
    limits, scale = _limits(intervals, observed), _ROW_HEIGHT / xr.concat(tops, "row").max("row")
    baselines = np.arange(len(draws), dtype=np.float64)[::-1]
    if _has_prior(tree):  # behind the posterior
        prior = _within(draw_density(get_variable(tree, "prior", "theta_sota")), limits)
        panel.area("density_prior", prior, baselines[0], scale, COLORS["prior"])
    panel.vline("observed_maximum", observed, COLORS["observed_maximum"])
    for baseline, (name, curve) in zip(baselines, curves.items(), strict=True):
        color, mean = COLORS[name], draws[name].mean(("chain", "draw")).expand_dims("point")
        panel.area(f"density_{name}", _within(curve, limits), baseline, scale, color)
        panel.bar(f"interval_{name}", intervals[name], baseline - 0.1, color)
        panel.dots(f"mean_{name}", mean, baseline - 0.1, color)
    label_observed(panel, observed, limits, len(draws) + 0.08, _word_of_maximum(tree))
    panel.set_axes(
        observed,
        xlabel=word_of_skill(tree) + (", magnified" if _has_prior(tree) else ""),
        xlim=limits,
        ylim=(-0.3, len(draws) + 0.25),
        yticks=_row_labels(draws, ci_prob, baselines),
    )


def _word_of_maximum(tree: xr.DataTree) -> str:
    """What the best score is called: of two boards it is the public one, skills are private."""
    if _is_paired(tree):
        return "best public score"
    reversed_sign = dataset_of(tree, "constant_data").get("lower_is_better", False)
    return "best observed score" if reversed_sign else "observed maximum"


def _is_paired(tree: xr.DataTree) -> bool:
    observed = tree["observed_data"].to_dataset()
    return "score" in observed and "board" in observed["score"].dims


def _within(curve: xr.DataArray, limits: xr.DataArray) -> xr.DataArray:
    """The curve inside the limits; outside NaN, which no backend draws."""
    x = curve.sel(plot_axis="x", drop=True)
    return curve.where((x >= limits.isel(bound=0)) & (x <= limits.isel(bound=1)))


def _limits(intervals: Mapping[str, xr.DataArray], observed: xr.DataArray) -> xr.DataArray:
    """Readable range: intervals and observed maximum, with margins; probabilities in [0, 1].

    A very wide interval of another quantity may leave the panel; that of the first may not.
    """
    low, high = (next(iter(intervals.values())).isel(bound=end) for end in (0, 1))
    reach = 2.5 * (high - low)
    every = xr.concat(list(intervals.values()), dim="row")
    low = xr.ufuncs.maximum(every.isel(bound=0).min("row"), low - reach)
    high = xr.ufuncs.minimum(every.isel(bound=1).max("row"), high + reach)
    low, high = xr.ufuncs.minimum(low, observed), xr.ufuncs.maximum(high, observed)
    margin = 0.15 * (high - low)
    limits = xr.concat([low - margin, high + margin], dim="bound")
    bounded = float(low.min()) >= 0 and float(high.max()) <= 1
    return limits.clip(0.0, 1.0) if bounded else limits


def _row_labels(
    draws: Mapping[str, xr.DataArray], ci_prob: float, baselines: FloatArray
) -> Callable[[Mapping[str, Any]], tuple[list[float], list[str]]]:
    def label(name: str, sel: Mapping[str, Any]) -> str:
        mean, ends = _in_words(select_board(draws[name], sel), ci_prob)
        return f"{_QUANTITIES[name]}\n{mean} ({ends})"

    return lambda sel: ([float(b) + 0.25 for b in baselines], [label(n, sel) for n in draws])


def _set_titles(collection: PlotCollection, tree: xr.DataTree, ci_prob: float) -> None:
    theta, word = get_variable(tree, "posterior", "theta_sota"), word_of_skill(tree)
    what = f"{word[0].upper()}{word[1:]} of the best classifier"
    if "board" in theta.dims:
        title_figure(collection, f"{what}, posterior mean and {ci_prob:.0%} interval")
        words = [_in_words(theta.sel(board=name), ci_prob) for name in theta["board"].values]
        titles = zip(theta["board"].values, words, strict=True)
        texts = [f"{name}: {mean} ({ends})" for name, (mean, ends) in titles]
        Panel(collection, "prior" if _has_prior(tree) else "posterior").set_titles(texts)
        return
    observed = float(observed_maximum_of(tree))
    mean, ends = _in_words(theta, ci_prob)
    gap = observed - float(theta.mean())
    where = f"{abs(gap):.1g} {'above' if gap >= 0 else 'below'} it"
    which = "public" if _is_paired(tree) else "observed"
    title_figure(
        collection,
        f"{what}: posterior mean {mean}, {ci_prob:.0%} interval {ends};\n"
        f"the best {which} score, {observed:.5g}, lies {where}",
    )


def middle(values: xr.DataArray, ci_prob: float) -> xr.DataArray:
    """Ends of the equal-tailed interval, dimension ``bound``."""
    ends = values.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2], ("chain", "draw"))
    return ends.rename(quantile="bound").drop_vars("bound")


def _in_words(values: xr.DataArray, ci_prob: float) -> tuple[str, str]:
    """Mean and interval of draws."""
    sd, (low, high) = float(values.std()), middle(values, ci_prob).values
    return rounded(float(values.mean()), sd), f"{rounded(low, sd)} to {rounded(high, sd)}"
