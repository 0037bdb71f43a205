"""One AUC: the scores and ROC curves that may lie behind it, and the law of its estimate by each.

Draws laws of ``auc_law``; ``tests/auc/test_plots.py`` reads the artists back.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from arviz_plots import PlotCollection

from bayes_sota.auc.laws import AucLaw
from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    make_curve,
    make_ticks,
    rounded,
    title_figure,
)
from bayes_sota.core.plots_matrix import Axis, set_axes

_PALETTE = ("theta_sota", "prior", "winner_skill", "expected_sota", "dark")
_FALSE_ALARMS = np.linspace(0.0, 1.0, 401) ** 2  # dense where curves are steep
_NEGLIGIBLE = 1e-3  # of the highest density
_FAR = 3.0  # standard deviations of scores


def plot_auc_laws(
    laws: Sequence[AucLaw],
    *,
    ci_prob: float = 0.95,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw what an AUC leaves open: ROC curves of one area, and how precise each estimate is.

    Left, the normal scores of negatives (black) and of the positives of each law. In the middle
    its ROC curve, the share of true alarms at every share of false ones. Right, the density of its
    estimate on this test set, with mean (dot) and equal-tailed interval (bar): curves of the same
    area can differ in precision.

    Parameters
    ----------
    laws : sequence of AucLaw
        From ``auc_law``, at most five, such as those of several spread ratios.
    ci_prob : float
        Probability of the intervals.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``positives_0``, ``positives_1``, ... in the order of the laws, and
        ``negatives``, with the variable ``scores``; ``roc_0``, ... with the variable ``roc``;
        ``density_0``, ``interval_0``, ``mean_0``, ... with the variable ``law``.

    Raises
    ------
    InputError
        No law, or more than five.

    Examples
    --------
    >>> from bayes_sota.auc.laws import auc_law
    >>> laws = [auc_law(0.9, 51, 2949, ratio) for ratio in (0.5, 1, 2)]
    >>> figure = plot_auc_laws(laws, backend="none")
    >>> figure.viz["mean_1"]["law"].item()["x"].round(4).tolist()
    [0.9]
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    if not 1 <= len(laws) <= len(_PALETTE):
        raise InputError(f"between one and {len(_PALETTE)} laws can be drawn, got {len(laws)}")
    unit = make_bounds(0.0, 1.0)
    collection = make_collection(
        {"scores": unit, "roc": unit, "law": unit},
        figsize=(11.2, 3.8),
        across=True,
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    _draw_scores(Panel(collection, "scores"), laws)
    _draw_curves(Panel(collection, "roc"), laws)
    _draw_densities(Panel(collection, "law"), laws, ci_prob)
    title_figure(collection, _finding(laws))
    return collection


def _draw_scores(panel: Panel, laws: Sequence[AucLaw]) -> None:
    """Densities of the scores of both classes."""
    groups = [("negatives", 0.0, 1.0, COLORS["observed_maximum"])]
    groups += [
        (f"positives_{index}", law.positive_mean, law.middle_ratio, COLORS[_PALETTE[index]])
        for index, law in enumerate(laws)
    ]
    low = min(mean - _FAR * sd for _, mean, sd, _ in groups)
    high = max(mean + _FAR * sd for _, mean, sd, _ in groups)
    x, top = np.linspace(low, high, 301), 0.0
    for label, mean, sd, color in groups:
        y = np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
        panel.line(label, x, y, color)
        top = max(top, float(y.max()))
    set_axes(
        panel,
        Axis("score of an item (black: negatives)", low, high, *make_ticks(low, high)),
        Axis("", 0.0, 1.05 * top, [], [], boxed=False),
    )


def _draw_curves(panel: Panel, laws: Sequence[AucLaw]) -> None:
    panel.line("chance", [0.0, 1.0], [0.0, 1.0], COLORS["prior"], width=0.8, alpha=0.6)
    for index, law in enumerate(laws):
        color, height = COLORS[_PALETTE[index]], 0.08 * (len(laws) - index)
        panel.line(f"roc_{index}", _FALSE_ALARMS, law.true_alarms(_FALSE_ALARMS), color)
        text = f"positives {law.spread_ratio:.3g} times as spread out"
        panel.text(f"label_{index}", 0.99, height - 0.04, text, side="right", color=color)
    ticks = make_ticks(0.0, 1.0)
    set_axes(
        panel,
        Axis("share of negatives above the threshold", -0.02, 1.02, *ticks),
        Axis("share of positives above it", -0.02, 1.02, *ticks),
    )


def _draw_densities(panel: Panel, laws: Sequence[AucLaw], ci_prob: float) -> None:
    """Densities on one scale; intervals below, one under the other."""
    top = max(float(law.density()[1].max()) for law in laws)
    ends = []
    for index, law in enumerate(laws):
        color, level = COLORS[_PALETTE[index]], -0.08 * (index + 1)
        x, y = law.density()
        seen = y > _NEGLIGIBLE * y.max()
        panel.area(f"density_{index}", make_curve(x[seen], y[seen]), 0.0, 1 / top, color)
        panel.bar(f"interval_{index}", make_bounds(*law.interval(ci_prob)), level, color)
        panel.dots(f"mean_{index}", law.mean(), level, color, size=24)
        ends += [float(x[seen][0]), float(x[seen][-1])]
    one = laws[0]
    panel.set_axes(
        make_bounds(0.0, 1.0),
        xlabel=f"AUC on {one.n_positive:,} positive and {one.n_negative:,} negative test items",
        xlim=make_bounds(min(ends), max(ends)),
        ylim=(-0.08 * len(laws) - 0.08, 1.05),
    )


def _finding(laws: Sequence[AucLaw]) -> str:
    errors = sorted(law.std() for law in laws)
    low, high = rounded(errors[0], errors[0]), rounded(errors[-1], errors[-1])
    spread = low if low == high else f"{low} to {high}"
    areas = sorted({f"{law.auc:.4g}" for law in laws})
    return (
        f"An AUC of {' or '.join(areas)} is estimated with a standard error of {spread},\n"
        "by the shape of its curve"
    )
