"""Laws of the best observed score, of accuracies and AUCs.

``tests/maximum/test_plots_law.py`` reads the artists back.
"""

from typing import Any

import numpy as np
import xarray as xr
from arviz_plots import PlotCollection

from bayes_sota.auc.laws import AucLaw, auc_law
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    rounded,
    title_figure,
)
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.law import MaximumLaw, maximum_law

_NEGLIGIBLE = 1e-4  # of the highest bar
_BARS = 500  # of an AUC, most of which lie far out


def plot_maximum_law(
    law: MaximumLaw | AucLaw,
    *,
    ci_prob: float = 0.95,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw the law of the sample maximum: why the best score flatters the best classifier.

    The probabilities of the observed maximum (orange) and of the score of one classifier of skill
    ``theta_sota`` (blue, ``Binomial(n_test, theta_sota) / n_test``), on the same test items; of
    AUCs their densities. The distance between the vertical lines, ``theta_sota`` and the expected
    maximum, is the bias of the maximum as an estimate of ``theta_sota``. The bar is the
    equal-tailed interval.

    Parameters
    ----------
    law : MaximumLaw or AucLaw
        From ``maximum_law``, or ``auc_maximum_law``.
    ci_prob : float
        Probability of the interval.
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
    one: MaximumLaw | AucLaw
    if isinstance(law, MaximumLaw):
        one = maximum_law(n_test=law.n_test, n_classifiers=1, skill=law.theta_sota)
        word = f"accuracy on {counted(law.n_test, 'test item')}"
    else:
        one = auc_law(law.theta_sota, law.n_positive, law.n_negative, law.spread_ratio)
        word = f"AUC on {law.n_positive:,} positive and {law.n_negative:,} negative test items"
    panels = {"pmf": make_bounds(0.0, 1.0)}
    collection = make_collection(
        panels, figsize=(7.4, 3.9), plot_collection=plot_collection, **pc_kwargs
    )
    panel, colors = Panel(collection, "pmf"), (COLORS["theta_sota"], COLORS["winner_skill"])
    bars = _bars(one), _bars(law)
    for label, drawn, color in zip(("one_classifier", "maximum"), bars, colors, strict=True):
        panel.histogram(label, xr.DataArray(drawn, dims=("plot_axis", "bar")), color)
    top, ends = max(x[0].max() for x in bars), np.concatenate([x[1:].ravel() for x in bars])
    panel.bar("interval", make_bounds(*law.interval(ci_prob)), -0.05 * top, colors[1])
    sd, skill, mean = law.std(), law.theta_sota, law.mean()
    room = 0.36 * np.ptp(ends)  # for the labels outside of the two lines
    limits = min(ends.min(), skill - room, mean - room), max(ends.max(), skill + room, mean + room)
    gap = (0.012 if skill <= mean else -0.012) * (limits[1] - limits[0])
    texts = (
        f"skill {rounded(skill, sd)}\nscore of one such classifier",
        f"expected maximum {rounded(mean, sd)}\nbest score of {law.n_classifiers:,}",
    )
    lines = (("theta_sota", skill, -gap), ("expected_maximum", mean, gap))
    for (label, x, away), text, color in zip(lines, texts, colors, strict=True):
        side = "left" if away > 0 else "right"
        panel.vline(label, x, color)
        panel.text(f"{label}_label", x + away, 1.2 * top, text, side=side, color=color)
    xlim, ylim = make_bounds(*limits), (-0.12 * top, 1.32 * top)
    panel.set_axes(panels["pmf"], xlabel=word, xlim=xlim, ylim=ylim)
    title_figure(collection, _finding(law, ci_prob))
    return collection


def _bars(law: MaximumLaw | AucLaw) -> FloatArray:
    """Heights, left and right ends: one bar per success count, or the density of an AUC."""
    if isinstance(law, MaximumLaw):
        heights = law.pmf(law.support)
        edges = (np.append(law.support, law.support[-1] + 1) - 0.5) / law.n_test
    else:
        edges = law.levels[:: -(-law.levels.size // _BARS)]
        heights = np.diff(law.cdf(edges)) / np.diff(edges)
    seen = np.flatnonzero(heights > _NEGLIGIBLE * heights.max())
    return np.stack([heights, edges[:-1], edges[1:]])[:, seen[0] : seen[-1] + 1]


def _finding(law: MaximumLaw | AucLaw, ci_prob: float) -> str:
    sd = law.std()
    low, high = (rounded(value, sd) for value in law.interval(ci_prob))
    who = "one classifier" if law.n_classifiers == 1 else f"{law.n_classifiers:,} classifiers"
    bias = f"{rounded(abs(law.bias()), sd)} {'above' if law.bias() >= 0 else 'below'}"
    return (
        f"The best of {who} is expected to score {bias} the best skill\n"
        f"({ci_prob:.0%} of the best scores lie between {low} and {high}: the bar)"
    )
