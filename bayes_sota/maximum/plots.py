"""Prior and posterior of the best skill.

Nothing is estimated here: densities and intervals are of the draws in the result.
``tests/maximum/test_plots.py`` compares what was drawn with the result.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from arviz_plots import PlotCollection

from bayes_sota.core.arguments import COUNT, OPEN_SHARE
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
_BINS = 40
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
    interval, color = _middle(draws, ci_prob), COLORS[str(draws.name)]
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


def _label_observed(
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
    intervals = {name: _middle(values, ci_prob) for name, values in draws.items()}
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
    _label_observed(panel, observed, limits, len(draws) + 0.08, _word_of_maximum(tree))
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


def _in_words(values: xr.DataArray, ci_prob: float) -> tuple[str, str]:
    """Mean and interval of draws."""
    sd, (low, high) = float(values.std()), _middle(values, ci_prob).values
    return rounded(float(values.mean()), sd), f"{rounded(low, sd)} to {rounded(high, sd)}"


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
    panel.bar("interval", _middle(predicted, ci_prob), -0.04, COLORS["prior"], 3)
    panel.vline("observed_maximum", observed, COLORS["observed_maximum"])
    _label_observed(panel, observed, make_bounds(low, 1.0), 1.1, "observed", gap=0.02)
    panel.set_axes(
        observed,
        xlabel=f"best observed score ({word_of_skill(tree)})",
        xlim=make_bounds(low, high),
        ylim=(-0.09, 1.2),
    )
    names = [f"{name}: " for name in observed["board"].values] if observed.ndim else [""]
    panel.set_titles([f"{name}boards from the prior" for name in names])


def _middle(values: xr.DataArray, ci_prob: float) -> xr.DataArray:
    """Ends of the equal-tailed interval, dimension ``bound``."""
    ends = values.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2], ("chain", "draw"))
    return ends.rename(quantile="bound").drop_vars("bound")


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
    low, high = (float(value) for value in _middle(predicted, ci_prob))
    share = float((predicted <= observed).mean())
    return (
        f"The prior expects a best score between {low:.3g} and {high:.3g} ({ci_prob:.0%});\n"
        f"{share:.0%} of its boards score no more than the observed {float(observed):.5g}"
    )
