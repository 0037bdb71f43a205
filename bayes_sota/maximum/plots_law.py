"""Law of the best observed score beside the law of one classifier's score.

``tests/maximum/test_plots_law.py`` holds the drawn probabilities against the law's.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.plots_canvas import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    rounded,
    title_figure,
)
from bayes_sota.maximum.law import MaximumLaw, maximum_law

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["plot_maximum_law"]

_NEGLIGIBLE = 1e-4  # of the highest probability


def plot_maximum_law(
    law: MaximumLaw,
    *,
    prob: float = 0.95,
    backend: str | None = None,
    figsize: tuple[float, float] = (7.4, 3.9),
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
    prob : float
        Probability of the interval.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float)
        Inches.

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
    collection = make_collection({"pmf": anything}, backend=backend, figsize=figsize)
    panel = Panel(collection, "pmf")
    _draw_pmf(panel, "one_classifier", alone, COLORS["theta_sota"])
    _draw_pmf(panel, "maximum", law, COLORS["winner_skill"])
    top = float(max(alone.pmf(alone.support).max(), law.pmf(law.support).max()))
    panel.bar("interval", make_bounds(*law.interval(prob)), -0.05 * top, COLORS["winner_skill"])
    limits = _limits(law, alone)
    _draw_lines(panel, law, limits, 1.2 * top)
    panel.set_axes(
        anything,
        xlabel=f"accuracy on {law.n_test:,} test items",
        xlim=limits,
        ylim=(-0.12 * top, 1.32 * top),
    )
    title_figure(collection, _finding(law, prob))
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


def _finding(law: MaximumLaw, prob: float) -> str:
    sd = law.std()
    low, high = (rounded(value, sd) for value in law.interval(prob))
    who = "one classifier" if law.n_classifiers == 1 else f"{law.n_classifiers:,} classifiers"
    bias = f"{rounded(abs(law.bias()), sd)} {'above' if law.bias() >= 0 else 'below'}"
    return (
        f"The best of {who} is expected to score {bias} the best skill\n"
        f"({prob:.0%} of the best scores lie between {low} and {high}: the bar)"
    )
