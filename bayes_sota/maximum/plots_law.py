"""Laws of the best observed score, of accuracies and AUCs.

``tests/maximum/test_plots_law.py`` reads the artists back.
"""

from collections.abc import Sequence
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
    make_curve,
    rounded,
    title_figure,
)
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.law import MaximumLaw, maximum_law

_NEGLIGIBLE = 1e-4  # of the highest probability of a law


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
    anything = make_bounds(0.0, 1.0)
    collection = make_collection(
        {"pmf": anything},
        figsize=(7.4, 3.9),
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    panel = Panel(collection, "pmf")
    seen = [
        _draw_law(panel, "one_classifier", _law_of_one(law), COLORS["theta_sota"]),
        _draw_law(panel, "maximum", law, COLORS["winner_skill"]),
    ]
    top = max(height for _, _, height in seen)
    panel.bar("interval", make_bounds(*law.interval(ci_prob)), -0.05 * top, COLORS["winner_skill"])
    limits = _limits_of_law(law, [end for low, high, _ in seen for end in (low, high)])
    _draw_lines(panel, law, limits, 1.2 * top)
    panel.set_axes(
        anything, xlabel=_word_of_scores(law), xlim=limits, ylim=(-0.12 * top, 1.32 * top)
    )
    title_figure(collection, _finding_of_law(law, ci_prob))
    return collection


def _law_of_one(law: MaximumLaw | AucLaw) -> MaximumLaw | AucLaw:
    if isinstance(law, MaximumLaw):
        return maximum_law(n_test=law.n_test, n_classifiers=1, skill=law.theta_sota)
    return auc_law(law.theta_sota, law.n_positive, law.n_negative, law.spread_ratio)


def _draw_law(
    panel: Panel, label: str, law: MaximumLaw | AucLaw, color: str
) -> tuple[float, float, float]:
    """One bar per success count, or the density of an AUC; ends of what is seen, and its height."""
    if isinstance(law, MaximumLaw):
        shown = _seen(law.pmf(law.support))
        counts = law.support[shown]
        x = np.append(counts - 0.5, counts[-1] + 0.5) / law.n_test
        y = law.pmf(counts)
        bars = np.stack([y, x[:-1], x[1:]])
        panel.histogram(label, xr.DataArray(bars, dims=("plot_axis", "count")), color)
    else:
        x, y = law.density()
        shown = _seen(y)
        x, y = x[shown], y[shown]
        panel.area(label, make_curve(x, y), 0.0, 1.0, color)
    return float(x[0]), float(x[-1]), float(y.max())


def _seen(heights: FloatArray) -> slice:
    """From the first to the last that can be seen."""
    seen = np.flatnonzero(heights > _NEGLIGIBLE * heights.max())
    return slice(int(seen[0]), int(seen[-1]) + 1)


def _word_of_scores(law: MaximumLaw | AucLaw) -> str:
    if isinstance(law, MaximumLaw):
        return f"accuracy on {counted(law.n_test, 'test item')}"
    return f"AUC on {law.n_positive:,} positive and {law.n_negative:,} negative test items"


def _limits_of_law(law: MaximumLaw | AucLaw, ends: Sequence[float]) -> xr.DataArray:
    """Range of all laws, with room for the labels outside of the two lines."""
    low, high = min(ends), max(ends)
    room, lines = 0.36 * (high - low), (law.theta_sota, law.mean())
    return make_bounds(min(low, min(lines) - room), max(high, max(lines) + room))


def _draw_lines(panel: Panel, law: MaximumLaw | AucLaw, limits: xr.DataArray, y: float) -> None:
    """The best skill and the expected maximum, labelled on their outer sides."""
    sd, skill, mean = law.std(), law.theta_sota, law.mean()
    skill_text = f"skill {rounded(skill, sd)}\nscore of one such classifier"
    mean_text = f"expected maximum {rounded(mean, sd)}\nbest score of {law.n_classifiers:,}"
    gap = 0.012 * float(limits[1] - limits[0])
    lines = [
        ("theta_sota", skill, COLORS["theta_sota"], skill_text),
        ("expected_maximum", mean, COLORS["winner_skill"], mean_text),
    ]
    sides = (("right", -gap), ("left", gap))
    ordered = sorted(lines, key=lambda line: line[1])
    for (label, x, color, text), (side, away) in zip(ordered, sides, strict=True):
        panel.vline(label, x, color)
        panel.text(f"{label}_label", x + away, y, text, side=side, color=color)


def _finding_of_law(law: MaximumLaw | AucLaw, ci_prob: float) -> str:
    sd = law.std()
    low, high = (rounded(value, sd) for value in law.interval(ci_prob))
    who = "one classifier" if law.n_classifiers == 1 else f"{law.n_classifiers:,} classifiers"
    bias = f"{rounded(abs(law.bias()), sd)} {'above' if law.bias() >= 0 else 'below'}"
    return (
        f"The best of {who} is expected to score {bias} the best skill\n"
        f"({ci_prob:.0%} of the best scores lie between {low} and {high}: the bar)"
    )
