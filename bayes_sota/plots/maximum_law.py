"""Law of the best observed score beside the law of one classifier's score.

``tests/plots/test_maximum_law.py`` holds the drawn probabilities against the law's.
"""

from typing import TYPE_CHECKING

import numpy as np

from bayes_sota.exact.maximum import MaximumLaw, maximum_law
from bayes_sota.plots.canvas import (
    COLORS,
    TEXT_SIZE,
    draw,
    make_collection,
    rounded,
    style_panel,
    title_figure,
)
from bayes_sota.skill_distributions import FloatArray

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["plot_maximum_law"]

_PANEL = "pmf"
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
    >>> from bayes_sota.exact.maximum import maximum_law
    >>> law = maximum_law(n_test=3000, n_classifiers=1000, skill=0.9)
    >>> figure = plot_maximum_law(law, backend="none")
    >>> round(figure.viz["expected_maximum"]["pmf"].item()["x"], 4)
    0.9173
    """
    low, high = law.interval(prob)
    single = maximum_law(n_test=law.n_test, n_classifiers=1, skill=law.theta_sota)
    collection = make_collection({_PANEL: _scalar(0.0)}, backend=backend, figsize=figsize)
    top = max(_draw_pmf(collection, "one_classifier", single, COLORS["theta_sota"]),
              _draw_pmf(collection, "maximum", law, COLORS["winner_skill"]))
    _draw_lines(collection, law, single, top)
    _draw_interval(collection, (low, high), -0.05 * top)
    limits = _limits(law, single)
    style_panel(collection, _PANEL, _scalar(0.0), xlabel=f"accuracy on {law.n_test:,} test items",
                xlim=limits, ylim=(-0.12 * top, 1.32 * top))
    title_figure(collection, _finding(law, prob))
    return collection


def _scalar(value: float) -> "xr.DataArray":
    import xarray as xr

    return xr.DataArray(float(value))


def _draw_pmf(collection: "PlotCollection", label: str, law: MaximumLaw, color: str) -> float:
    """Draw the probabilities of one law and return the highest."""
    import xarray as xr
    from arviz_plots import visuals

    counts, pmf = _visible(law)
    edges = np.append(counts - 0.5, counts[-1] + 0.5) / law.n_test
    bars = xr.DataArray(np.stack([pmf, edges[:-1], edges[1:]]), dims=("plot_axis", "count"))
    bars = bars.assign_coords(plot_axis=["histogram", "left_edges", "right_edges"])
    draw(collection, visuals.hist, label, _PANEL, bars, color=color, alpha=0.5)
    return float(pmf.max())


def _visible(law: MaximumLaw) -> tuple[FloatArray, FloatArray]:
    counts = law.support
    pmf = law.pmf(counts)
    shown = np.flatnonzero(pmf > _NEGLIGIBLE * pmf.max())
    part = slice(shown[0], shown[-1] + 1)
    return counts[part].astype(np.float64), pmf[part]


def _limits(law: MaximumLaw, single: MaximumLaw) -> tuple[float, float]:
    """Range of both laws, with room for the labels outside of the two lines."""
    ends = [(_visible(one)[0][[0, -1]] + [-0.5, 0.5]) / law.n_test for one in (law, single)]
    low, high = float(np.min(ends)), float(np.max(ends))
    room = 0.36 * (high - low)
    lines = (law.theta_sota, law.mean())
    return min(low, min(lines) - room), max(high, max(lines) + room)


def _draw_lines(
    collection: "PlotCollection", law: MaximumLaw, single: MaximumLaw, top: float
) -> None:
    from arviz_plots import visuals

    sd, skill, mean = law.std(), law.theta_sota, law.mean()
    skill_text = f"theta_sota {rounded(skill, sd)}\nscore of one such classifier"
    mean_text = f"expected maximum {rounded(mean, sd)}\nbest score of {law.n_classifiers:,}"
    left = skill <= mean
    low, high = _limits(law, single)
    for label, value, color, is_left, text in (
        ("theta_sota", skill, COLORS["theta_sota"], left, skill_text),
        ("expected_maximum", mean, COLORS["winner_skill"], not left, mean_text),
    ):
        draw(collection, visuals.vline, label, _PANEL, _scalar(value), color=color, width=1.4)
        draw(collection, visuals.annotate_xy, f"{label}_label", _PANEL, _scalar(value),
             x=value + 0.012 * (high - low) * (-1 if is_left else 1), y=1.2 * top, text=text,
             color=color, size=TEXT_SIZE["note"], horizontal_align="right" if is_left else "left")


def _draw_interval(
    collection: "PlotCollection", interval: tuple[float, float], level: float
) -> None:
    import xarray as xr
    from arviz_plots import visuals

    bar = xr.DataArray(list(interval), dims="bound")
    draw(collection, visuals.line_x, "interval", _PANEL, bar, y=level,
         color=COLORS["winner_skill"], width=3)


def _finding(law: MaximumLaw, prob: float) -> str:
    sd = law.std()
    low, high = (rounded(value, sd) for value in law.interval(prob))
    who = "one classifier" if law.n_classifiers == 1 else f"{law.n_classifiers:,} classifiers"
    bias = f"{abs(law.bias()):.2g} {'above' if law.bias() >= 0 else 'below'}"
    return (
        f"The best of {who} is expected to score {bias} the best skill\n"
        f"({prob:.0%} of the best scores lie between {low} and {high}: the bar)"
    )
