"""Several methods on the same items: the posterior of each, and who cannot be told from the best.

Draws a result and computes nothing but intervals; ``tests/claims/test_claim_figures.py`` reads the
artists back.
"""

from typing import TYPE_CHECKING

import numpy as np

from bayes_sota.core.plots_canvas import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    title_figure,
)
from bayes_sota.core.text import plain_text

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["plot_methods"]

_MOST = 40  # methods drawn, best first
_LONGEST = 40
_CHANCES = {"p_best": "P(best)", "p_best_uncorrected": "P(best), uncorrected"}


def plot_methods(
    tree: "xr.DataTree",
    *,
    prob: float = 0.95,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Draw mean and interval of every method's skill, best score first.

    Methods that cannot be told from the winner have its colour: those whose ``p_false`` is at
    least ``(1 - prob) / 2``.

    Parameters
    ----------
    tree : DataTree
        Of ``comparison_tree``: ``skill``, ``p_false`` and ``p_best`` of every classifier, or
        ``p_best_uncorrected`` where the former is not there.
    prob : float
        Probability of the equal-tailed intervals, and of the comparison with the winner.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``interval_0``, ``mean_0``, ... from the best score on, each with the
        variable ``skill``.

    Examples
    --------
    >>> from bayes_sota import Responses
    >>> from bayes_sota.items.method_comparison import compare_methods
    >>> from bayes_sota.claims.sample_trees import comparison_tree
    >>> answers = Responses(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> tree = comparison_tree(compare_methods(answers, random_seed=0), answers)
    >>> figure = plot_methods(tree, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    '1 of the other 2 methods cannot be told from 1'
    """
    import xarray as xr

    skill, estimate = tree["posterior"]["skill"], tree["point_estimate"]
    p_false = estimate["p_false"].values
    names = [str(name) for name in skill["classifier"].values]
    winner, scores = names.index(tree.attrs["winner"]), tree["observed_data"]["score"].values
    lower_first = scores[winner] < scores.max()
    order = np.argsort(scores if lower_first else -scores, kind="stable")[:_MOST]
    draws = skill.stack(sample=("chain", "draw")).transpose("classifier", "sample").values[order]
    ends = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=1)
    limits = make_bounds(*_widened(float(ends.min()), float(ends.max())))
    size = figsize or (7.4, 1.5 + 0.3 * len(order))
    collection = make_collection({"skill": limits}, backend=backend, figsize=size)
    panel = Panel(collection, "skill")
    for row, j in enumerate(order):
        tied = p_false[j] >= (1 - prob) / 2
        color = COLORS["theta_sota" if tied else "prior"]
        panel.bar(f"interval_{row}", make_bounds(*ends[:, row]), -float(row), color)
        mean = xr.DataArray([draws[row].mean()], dims="point")
        panel.dots(f"mean_{row}", mean, -float(row), color)
    chance = "p_best" if "p_best" in estimate else "p_best_uncorrected"
    labels = [f"{plain_text(names[j], _LONGEST)}  {estimate[chance][j]:.2f}" for j in order]
    panel.set_axes(
        limits,
        xlabel=f"skill: mean and {prob:.0%} interval (beside the name: {_CHANCES[chance]})",
        xlim=limits,
        ylim=(-len(order) + 0.4, 0.6),
        yticks=lambda _: ([-float(row) for row in range(len(order))], labels),
    )
    others = [names[j] for j in order if p_false[j] >= (1 - prob) / 2 and j != winner]
    finding = _finding(names[winner], others, len(names))
    if len(order) < len(names):
        finding += f"\nthe best {len(order)} are drawn"
    title_figure(collection, finding)
    return collection


def _widened(low: float, high: float) -> tuple[float, float]:
    margin = 0.05 * (high - low) or 0.01
    return low - margin, high + margin


def _finding(winner: str, others: list[str], count: int) -> str:
    best = plain_text(winner, _LONGEST)
    if not others:
        return f"{best} is told from " + ("the other" if count == 2 else f"all other {count - 1}")
    return f"{len(others)} of the other {count - 1} methods cannot be told from {best}"
