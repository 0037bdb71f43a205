"""Posterior of the best skill, and what the prior of a best score expects.

Nothing is estimated here: densities and intervals are of the draws in the result.
``tests/maximum/test_plots.py`` compares what was drawn with the result.
"""

from collections.abc import Mapping
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
from bayes_sota.core.priors import SKILL_FAMILIES
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import observed_maximum_of
from bayes_sota.core.types import FloatArray

_QUANTITIES: Mapping[str, str] = {
    "theta_sota": "best classifier",
    "winner_skill": "winner",
    "expected_sota": "best of a fresh field",
}
_ROW_HEIGHT = 0.78  # of the tallest density, in rows
_BANDWIDTH = "scott"  # of posteriors, which have one mode: ArviZ's default shows ripples of draws
_BINS, _FIELDS = 40, 40  # of the prior predictive check


def plot_sota(
    tree: xr.DataTree,
    *,
    ci_prob: float = 0.95,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Posterior of the best skill: what the observed maximum says about it.

    Above, the prior of ``theta_sota`` over its whole range, with the posterior interval as a band.
    Below, magnified, one row per quantity that the result holds, ``theta_sota`` (skill of the best
    classifier), ``winner_skill`` (skill of the classifier that won) and ``expected_sota`` (expected
    best skill of a fresh field of the same size): density, mean (dot) and interval (bar). All
    densities below have one scale, the prior's (grey) too; so where the data say little, the
    grey area is as high as the coloured one. The black line is the observed maximum. All of them
    are accuracies, of latent skills but for the observed maximum, which is an observed score.

    Parameters
    ----------
    tree : DataTree
        A result, of one or several boards (a column each).
    ci_prob : float
        Probability of the equal-tailed intervals.
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
        An impossible probability.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.BestScore("0.98", n_test=200, n_classifiers=50)
    >>> figure = plot_sota(bs.estimate_sota(board, random_seed=1), backend="none")
    >>> figure.viz["observed_maximum"]["posterior"].item()["x"]
    0.98
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    names = [name for name in _QUANTITIES if name in tree["posterior"]]
    draws = {name: get_variable(tree, "posterior", name) for name in names}
    observed, theta, word = observed_maximum_of(tree), draws["theta_sota"], word_of_skill(tree)
    # that of a board depends on its cut: no prior over the whole range
    has_prior = "prior" in tree.children and "observed_maximum" in tree["observed_data"]
    height = 0.95 * len(draws)
    collection = make_collection(
        dict.fromkeys(("prior", "posterior") if has_prior else ("posterior",), observed),
        figsize=(7.4 * max(1.0, 0.8 * observed.size), height + (3.1 if has_prior else 1.7)),
        ratios={"height_ratios": [1, height]} if has_prior else {},
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    prior = get_variable(tree, "prior", "theta_sota") if has_prior else None
    if prior is not None:
        _draw_prior(Panel(collection, "prior"), prior, theta, observed, word, ci_prob)
    _draw_rows(Panel(collection, "posterior"), tree, prior, draws, ci_prob)
    what = f"{word[0].upper()}{word[1:]} of the best classifier: posterior mean"
    if "board" not in theta.dims:
        mean, ends = _in_words(theta, ci_prob)
        title_figure(collection, f"{what} {mean}, {ci_prob:.0%} interval {ends}")
        return collection
    title_figure(collection, f"{what} and {ci_prob:.0%} interval")
    each = [(name, *_in_words(theta.sel(board=name), ci_prob)) for name in theta["board"].values]
    titles = [f"{name}: {mean} ({ends})" for name, mean, ends in each]
    Panel(collection, "posterior" if prior is None else "prior").set_titles(titles)
    return collection


def _draw_prior(
    panel: Panel,
    prior: xr.DataArray,
    theta: xr.DataArray,
    observed: xr.DataArray,
    word: str,
    ci_prob: float,
) -> None:
    """The prior over its whole range, with the posterior interval as a band."""
    interval, curve = _middle(theta, ci_prob), draw_density(prior)
    highest = curve.sel(plot_axis="y", drop=True).max("kde_dim")
    panel.area("density_prior", curve, 0.0, 1 / highest, COLORS["prior"])
    panel.span("interval", interval, COLORS["theta_sota"], 0.45)
    panel.vline("observed_maximum", observed, COLORS["observed_maximum"])
    low = float(min(prior.quantile(0.01), interval.min(), observed.min()))
    label = f"{word}: prior (grey), posterior {ci_prob:.0%} interval (band)"
    panel.set_axes(observed, xlabel=label, xlim=make_bounds(low, 1.0), ylim=(0, 1.1))


def _draw_rows(
    panel: Panel,
    tree: xr.DataTree,
    prior: xr.DataArray | None,
    draws: Mapping[str, xr.DataArray],
    ci_prob: float,
) -> None:
    """The quantities below one another, on one scale of density."""
    observed = observed_maximum_of(tree)
    intervals = {name: _middle(values, ci_prob) for name, values in draws.items()}
    curves = {name: draw_density(values, bw=_BANDWIDTH) for name, values in draws.items()}
    tops = [curve.sel(plot_axis="y", drop=True).max("kde_dim") for curve in curves.values()]
    limits, scale = _limits(intervals, observed), _ROW_HEIGHT / xr.concat(tops, "row").max("row")
    rows = np.arange(len(draws), dtype=np.float64)[::-1].tolist()
    xlabel = word_of_skill(tree)
    if prior is not None:  # behind the posterior
        curve = _within(draw_density(prior), limits)
        panel.area("density_prior", curve, rows[0], scale, COLORS["prior"])
        xlabel += ", magnified; prior in grey"
    panel.vline("observed_maximum", observed, COLORS["observed_maximum"])
    for row, (name, curve) in zip(rows, curves.items(), strict=True):
        mean = draws[name].mean(("chain", "draw")).expand_dims("point")
        panel.area(f"density_{name}", _within(curve, limits), row, scale, COLORS[name])
        panel.bar(f"interval_{name}", intervals[name], row - 0.1, COLORS[name])
        panel.dots(f"mean_{name}", mean, row - 0.1, COLORS[name])
    _label_observed(panel, observed, limits, len(draws) + 0.08, _word_of_maximum(tree))

    def labels(sel: Mapping[str, Any]) -> tuple[list[float], list[str]]:
        said = [(x, *_in_words(select_board(draws[x], sel), ci_prob)) for x in draws]
        texts = [f"{_QUANTITIES[name]}\n{mean} ({ends})" for name, mean, ends in said]
        return [row + 0.25 for row in rows], texts

    ylim = (-0.3, len(draws) + 0.25)
    panel.set_axes(observed, xlabel=xlabel, xlim=limits, ylim=ylim, yticks=labels)


def _label_observed(
    panel: Panel, observed: xr.DataArray, limits: xr.DataArray, y: float, word: str
) -> None:
    """The observed maximum beside its line, on the side with more room."""
    is_right = observed > limits.mean("bound")
    gap = 0.015 * (limits.isel(bound=1) - limits.isel(bound=0))
    panel.text(
        "observed_maximum_label",
        xr.where(is_right, observed - gap, observed + gap),
        y,
        lambda value: f"{word} {value:.5g}",
        value=observed,
        side=xr.where(is_right, "right", "left"),
    )


def _word_of_maximum(tree: xr.DataTree) -> str:
    """Of two boards the best score is the public one, skills are private."""
    observed = dataset_of(tree, "observed_data")
    if "score" in observed and "board" in observed["score"].dims:
        return "best public score"
    reversed_sign = dataset_of(tree, "constant_data").get("lower_is_better", False)
    return "best observed score" if reversed_sign else "observed maximum"


def _within(curve: xr.DataArray, limits: xr.DataArray) -> xr.DataArray:
    """The curve inside the limits; outside NaN, which no backend draws."""
    x = curve.sel(plot_axis="x", drop=True)
    return curve.where((x >= limits.isel(bound=0)) & (x <= limits.isel(bound=1)))


def _limits(intervals: Mapping[str, xr.DataArray], observed: xr.DataArray) -> xr.DataArray:
    """Intervals and observed maximum, with margins; probabilities in [0, 1].

    A very wide interval of another quantity may leave the panel; that of the first may not.
    """
    low, high = (next(iter(intervals.values())).isel(bound=end) for end in (0, 1))
    every, reach = xr.concat(list(intervals.values()), "row"), 2.5 * (high - low)
    low = every.isel(bound=0).min("row").clip(low - reach, observed)
    high = every.isel(bound=1).max("row").clip(observed, high + reach)
    margin = 0.15 * (high - low)
    limits = xr.concat([low - margin, high + margin], "bound")
    bounded = float(low.min()) >= 0 and float(high.max()) <= 1
    return limits.clip(0.0, 1.0) if bounded else limits


def _middle(values: xr.DataArray, ci_prob: float) -> xr.DataArray:
    """Ends of the equal-tailed interval, dimension ``bound``."""
    ends = values.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2], ("chain", "draw"))
    return ends.rename(quantile="bound").drop_vars("bound")


def _in_words(values: xr.DataArray, ci_prob: float) -> tuple[str, str]:
    """Mean and interval of draws."""
    sd, (low, high) = float(values.std()), _middle(values, ci_prob).values
    return rounded(float(values.mean()), sd), f"{rounded(low, sd)} to {rounded(high, sd)}"


def plot_prior_predictive(
    tree: xr.DataTree,
    *,
    ci_prob: float = 0.95,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Prior predictive check: boards that the prior expects, and fields that it believes in.

    Left, the best scores of boards simulated from the prior, with the best score really observed
    (black line): where the line lies far outside, prior and data contradict each other. Right,
    forty draws of P(theta), sorted by median: the middle ``ci_prob`` of the skills of a field
    (bar), its median (dot) and its best classifier's skill (triangle). A field that nobody would
    believe in shows a prior to change. Of several boards the first is drawn.

    Parameters
    ----------
    tree : DataTree
        A result with the groups ``prior`` and ``prior_predictive``.
    ci_prob : float
        Probability of the middle part, of the boards and of the skills of each field.
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
    if "observed_maximum" not in dataset_of(tree, "prior_predictive"):
        raise InputError(
            "this figure is of a maximum alone, sampled with its prior; for a whole board "
            'arviz.plot_ppc_dist(tree, group="prior_predictive") draws what the prior expects'
        )
    size, word = (
        int(np.ravel(get_variable(tree, "constant_data", "n_test"))[0]),
        word_of_skill(tree),
    )
    predicted = np.ravel(get_variable(tree, "prior_predictive", "observed_maximum").isel(board=0))
    observed = xr.DataArray(np.ravel(observed_maximum_of(tree))[0])
    panels = dict.fromkeys(("observed_maximum", "field"), observed)
    where: Any = {"plot_collection": plot_collection, "across": True, **pc_kwargs}
    collection = make_collection(panels, figsize=(8.8, 4.2), **where)

    panel, lowest = Panel(collection, "observed_maximum"), np.quantile(predicted, 0.005)
    low = 1 - 1.04 * (1 - min(float(lowest), float(observed)))
    # every bin holds as many success counts, so that the lattice of scores makes no pattern
    width = np.ceil(size * (1 - low) / _BINS)
    edges = (size + 0.5 - width * np.arange(_BINS, -1, -1)) / size
    counts = np.histogram(predicted, edges)[0]
    bars = np.stack([counts / max(int(counts.max()), 1), edges[:-1], edges[1:]])
    panel.histogram("histogram", xr.DataArray(bars, dims=("plot_axis", "bin")), COLORS["prior"])
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    panel.bar("interval", make_bounds(*np.quantile(predicted, tails)), -0.04, COLORS["prior"], 3)
    panel.vline("observed_maximum", observed, COLORS["observed_maximum"])
    xlim = make_bounds(low, 1 + 0.5 / size)
    _label_observed(panel, observed, xlim, 1.1, "observed")
    xlabel = f"best observed score ({word}); bar {ci_prob:.0%} of boards"
    panel.set_axes(observed, xlabel=xlabel, xlim=xlim, ylim=(-0.09, 1.2))
    share = np.mean(predicted <= float(observed))
    panel.set_titles([f"{share:.0%} of boards from the prior score no more"])

    panel, (lows, medians, highs, best) = Panel(collection, "field"), _fields_of_prior(tree, tails)
    levels = np.arange(medians.size)
    for i in levels.tolist():
        panel.bar(f"field_{i}", make_bounds(lows[i], highs[i]), i, COLORS["prior"], 1.6)
    panel.dots("field_median", medians, levels, COLORS["dark"], size=10)
    panel.dots("field_best", best, levels, COLORS["theta_sota"], size=16, marker="C2")
    xlim, ylim = make_bounds(float(lows.min()) - 0.02, 1.005), (-1.5, medians.size + 0.5)
    xlabel = f"skill ({word}); bar {ci_prob:.0%}, dot median, triangle best"
    panel.set_axes(observed, xlabel=xlabel, xlim=xlim, ylim=ylim)
    panel.set_titles([f"{medians.size} fields from the prior"])
    title_figure(collection, "Boards and fields that the prior expects, before any score is seen")
    return collection


def _fields_of_prior(tree: xr.DataTree, tails: list[float]) -> FloatArray:
    """Lower end, median and upper end of P(theta), and the best skill, sorted by median."""
    prior = dataset_of(tree, "prior")[["location", "spread", "theta_sota"]]
    draws = np.stack([np.ravel(x) for x in prior.isel(board=0, missing_dims="ignore").values()])
    kept = np.unique(np.linspace(0, draws.shape[1] - 1, _FIELDS).astype(int))
    location, spread, best = draws[:, kept]
    family = SKILL_FAMILIES[str(tree.attrs.get("skill_family", "logit-normal"))]
    skills = family().distribution(location[:, None], spread[:, None])
    ends = skills.skill(skills.isf(1 - np.array([tails[0], 0.5, tails[1]])))
    return np.vstack([ends.T, best])[:, np.argsort(ends[:, 1])]
