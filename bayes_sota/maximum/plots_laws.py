"""Laws of the best observed score: given the skills, and what the priors believe beforehand.

``tests/maximum/test_plots_law.py`` and ``test_plots_prior.py`` compare what is drawn with the law
and with the result.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    get_variable,
    make_bounds,
    make_collection,
    rounded,
    title_figure,
    word_of_skill,
)
from bayes_sota.core.priors import SKILL_FAMILIES
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.law import MaximumLaw, maximum_law
from bayes_sota.maximum.plots import label_observed

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection


_NEGLIGIBLE = 1e-4  # of the highest probability
_BINS = 40


def plot_maximum_law(
    law: MaximumLaw,
    *,
    ci_prob: float = 0.95,
    backend: str | None = None,
    plot_collection: "PlotCollection | None" = None,
    **pc_kwargs: Any,
) -> "PlotCollection":
    """Draw the law of the sample maximum: why the best score flatters the best classifier.

    The probabilities of the observed maximum (orange) and of the score of one classifier of skill
    ``theta_sota`` (blue, ``Binomial(n_test, theta_sota) / n_test``), on the same test items. The
    distance between the vertical lines, ``theta_sota`` and the expected maximum, is the bias of
    the maximum as an estimate of ``theta_sota``. The bar is the equal-tailed interval.

    Parameters
    ----------
    law : MaximumLaw
        From ``maximum_law``.
    ci_prob : float
        Probability of the interval.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``maximum``, ``one_classifier``, ``theta_sota``, ``expected_maximum``
        and ``interval``, each with the variable ``pmf``.

    Examples
    --------
    >>> from bayes_sota.maximum.law import maximum_law
    >>> law = maximum_law(n_test=3000, n_classifiers=1000, skill=0.9)
    >>> figure = plot_maximum_law(law, backend="none")
    >>> round(figure.viz["expected_maximum"]["pmf"].item()["x"], 4)
    0.9173
    """
    alone = maximum_law(n_test=law.n_test, n_classifiers=1, skill=law.theta_sota)
    anything = make_bounds(0.0, 1.0)
    collection = make_collection(
        {"pmf": anything},
        figsize=(7.4, 3.9),
        backend=backend,
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    panel = Panel(collection, "pmf")
    _draw_pmf(panel, "one_classifier", alone, COLORS["theta_sota"])
    _draw_pmf(panel, "maximum", law, COLORS["winner_skill"])
    top = float(max(alone.pmf(alone.support).max(), law.pmf(law.support).max()))
    panel.bar("interval", make_bounds(*law.interval(ci_prob)), -0.05 * top, COLORS["winner_skill"])
    limits = _limits(law, alone)
    _draw_lines(panel, law, limits, 1.2 * top)
    panel.set_axes(
        anything,
        xlabel=f"accuracy on {law.n_test:,} test items",
        xlim=limits,
        ylim=(-0.12 * top, 1.32 * top),
    )
    title_figure(collection, _finding_of_law(law, ci_prob))
    return collection


def _draw_pmf(panel: Panel, label: str, law: MaximumLaw, color: str) -> None:
    """One bar per success count."""
    import xarray as xr

    counts = _visible(law)
    edges = np.append(counts - 0.5, counts[-1] + 0.5) / law.n_test
    bars = np.stack([law.pmf(counts), edges[:-1], edges[1:]])
    panel.histogram(label, xr.DataArray(bars, dims=("plot_axis", "count")), color)


def _visible(law: MaximumLaw) -> NDArray[np.int64]:
    """Counts whose probability can be seen."""
    pmf = law.pmf(law.support)
    shown = np.flatnonzero(pmf > _NEGLIGIBLE * pmf.max())
    return law.support[shown[0] : shown[-1] + 1]


def _limits(law: MaximumLaw, alone: MaximumLaw) -> "xr.DataArray":
    """Range of both laws, with room for the labels outside of the two lines."""
    counts = np.concatenate([_visible(one) for one in (law, alone)])
    low, high = (counts.min() - 0.5) / law.n_test, (counts.max() + 0.5) / law.n_test
    room, lines = 0.36 * (high - low), (law.theta_sota, law.mean())
    return make_bounds(min(low, min(lines) - room), max(high, max(lines) + room))


def _draw_lines(panel: Panel, law: MaximumLaw, limits: "xr.DataArray", y: float) -> None:
    """The best skill and the expected maximum, labelled on their outer sides."""
    sd, skill, mean = law.std(), law.theta_sota, law.mean()
    skill_text = f"theta_sota {rounded(skill, sd)}\nscore of one such classifier"
    mean_text = f"expected maximum {rounded(mean, sd)}\nbest score of {law.n_classifiers:,}"
    gap = 0.012 * float(limits[1] - limits[0])
    ordered = skill <= mean
    for label, x, color, is_left, text in (
        ("theta_sota", skill, COLORS["theta_sota"], ordered, skill_text),
        ("expected_maximum", mean, COLORS["winner_skill"], not ordered, mean_text),
    ):
        side = "right" if is_left else "left"
        panel.vline(label, x, color)
        panel.text(
            f"{label}_label", x - gap if is_left else x + gap, y, text, side=side, color=color
        )


def _finding_of_law(law: MaximumLaw, ci_prob: float) -> str:
    sd = law.std()
    low, high = (rounded(value, sd) for value in law.interval(ci_prob))
    who = "one classifier" if law.n_classifiers == 1 else f"{law.n_classifiers:,} classifiers"
    bias = f"{rounded(abs(law.bias()), sd)} {'above' if law.bias() >= 0 else 'below'}"
    return (
        f"The best of {who} is expected to score {bias} the best skill\n"
        f"({ci_prob:.0%} of the best scores lie between {low} and {high}: the bar)"
    )


def plot_prior_predictive(
    tree: "xr.DataTree",
    *,
    ci_prob: float = 0.95,
    n_fields: int = 40,
    backend: str | None = None,
    plot_collection: "PlotCollection | None" = None,
    **pc_kwargs: Any,
) -> "PlotCollection":
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
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
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
    >>> board = bs.Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    >>> figure = plot_prior_predictive(bs.estimate_sota(board, random_seed=1), backend="none")
    >>> figure.viz["observed_maximum"]["observed_maximum"].item()["x"]
    0.98
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    if n_fields < 1:
        raise InputError(f"n_fields must be at least 1, got {n_fields}")
    if not {"prior", "prior_predictive"} <= set(tree.children):
        raise InputError("the result has no prior draws: sample it with its prior")
    observed = get_variable(tree, "observed_data", "observed_maximum")
    panels = {"observed_maximum": observed, "field": get_variable(tree, "prior", "location")}
    size = (4.4 * (observed.size + 1), 4.2)
    collection = make_collection(
        panels,
        figsize=size,
        backend=backend,
        plot_collection=plot_collection,
        **pc_kwargs,
        across=True,
    )
    predicted = get_variable(tree, "prior_predictive", "observed_maximum")
    n_test = get_variable(tree, "constant_data", "n_test")
    word = word_of_skill(tree)
    _draw_scores(Panel(collection, "observed_maximum"), predicted, observed, n_test, word, ci_prob)
    _draw_fields(Panel(collection, "field"), tree, ci_prob, n_fields)
    title_figure(collection, _finding_of_prior(predicted, observed, ci_prob))
    return collection


def _draw_scores(
    panel: Panel,
    predicted: "xr.DataArray",
    observed: "xr.DataArray",
    n_test: "xr.DataArray",
    word: str,
    ci_prob: float,
) -> None:
    lowest = float(min(predicted.quantile(0.005), observed.min()))
    low, high = lowest - 0.04 * (1 - lowest), 1 + 0.5 / float(n_test.min())
    panel.histogram("histogram", _histogram(predicted, n_test, low), COLORS["prior"])
    panel.bar("interval", _middle(predicted, ci_prob), -0.04, COLORS["prior"], 3)
    panel.vline("observed_maximum", observed, COLORS["observed_maximum"])
    label_observed(panel, observed, make_bounds(low, 1.0), 1.1, "observed", gap=0.02)
    panel.set_axes(
        observed,
        xlabel=f"best observed score ({word})",
        xlim=make_bounds(low, high),
        ylim=(-0.09, 1.2),
    )
    names = [f"{name}: " for name in observed["board"].values] if observed.ndim else [""]
    panel.set_titles([f"{name}boards from the prior" for name in names])


def _middle(values: "xr.DataArray", ci_prob: float) -> "xr.DataArray":
    return values.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2], ("chain", "draw"))


def _histogram(values: "xr.DataArray", n_test: "xr.DataArray", low: float) -> "xr.DataArray":
    """Shares relative to the fullest bin, and left and right edges of the bins.

    Every bin holds as many success counts, so that the lattice of scores makes no pattern.
    """
    import xarray as xr

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


def _draw_fields(panel: Panel, tree: "xr.DataTree", ci_prob: float, n_fields: int) -> None:
    import xarray as xr

    low, middle, high, best = _fields(tree, ci_prob, n_fields)
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


def _fields(tree: "xr.DataTree", ci_prob: float, n_fields: int) -> tuple[FloatArray, ...]:
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


def _finding_of_prior(predicted: "xr.DataArray", observed: "xr.DataArray", ci_prob: float) -> str:
    if "board" in observed.dims:
        return "Boards and fields that the prior expects, before any score is seen"
    low, high = (float(value) for value in _middle(predicted, ci_prob))
    share = float((predicted <= observed).mean())
    return (
        f"The prior expects a best score between {low:.3g} and {high:.3g} ({ci_prob:.0%});\n"
        f"{share:.0%} of its boards score no more than the observed {float(observed):.5g}"
    )
