"""Figures of the best skill, and of laws of the best observed score."""

from typing import Any

import numpy as np
import xarray as xr
from arviz_plots import PlotCollection

from bayes_sota.auc.laws import AucLaw, auc_law
from bayes_sota.core import plots
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import draws_of, group_of, observed_maximum_of, summarize_draws
from bayes_sota.core.text import counted, decimals_for, span
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.law import MaximumLaw, maximum_law

_QUANTITIES = {
    "theta_sota": "best classifier",
    "winner_skill": "winner",
    "expected_sota": "best of a new field",
}
_OF_TEAMS = {"theta_sota": "best team", "winner_skill": "public winner"}
_HIGH = 0.56  # of the highest density, in rows
_NEGLIGIBLE, _LOW = 1e-4, 0.02  # of the highest density, of a law and of draws
_PLACES = 500  # of an AUC, most of which lie far out


def plot_sota(tree: xr.DataTree, *, ci_prob: float = 0.95, **pc_kwargs: Any) -> PlotCollection:
    """Posterior of the best skill, of the winner's skill and of the best of a fresh field.

    One row per quantity: density, mean (dot), interval (bar) and the best observed score (black
    mark).

    Parameters
    ----------
    tree : DataTree
        A result, of one or several boards.
    ci_prob : float
        Probability of the equal-tailed intervals.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``interval``, ``mean``, ``score`` and ``density_0``, ... from the top,
        each with the variable ``skill``.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.BestScore("0.98", n_test=200, n_classifiers=50)
    >>> figure = plot_sota(bs.estimate_sota(board, random_seed=1), backend="none")
    >>> figure.viz["score"]["skill"].item()["x"].tolist()
    [0.98, 0.98, 0.98]
    """
    group_of(tree, "theta_sota")
    observed, word, rows = observed_maximum_of(tree), plots.word_of_skill(tree), []
    several, densities, seen = "board" in observed.dims, [], []
    data = dataset_of(tree, "observed_data")
    teams = "score" in data and "board" in data["score"].dims  # whose skills are private
    for board in range(observed.size):
        best = float(np.ravel(observed)[board])
        for name in (name for name in _QUANTITIES if name in tree["posterior"]):
            draws = draws_of(tree, name, board)
            label = _OF_TEAMS[name] if teams else _QUANTITIES[name]
            label = f"{observed['board'].values[board]}: {label}" if several else label
            rows.append(summarize_draws(draws, ci_prob) | {"name": label, "score": best})
            x, y = plots.density_of(draws)
            densities.append((x, y))
            seen += [*x[y >= _LOW * y.max()][[0, -1]]]
    mark = f"best {'public' if teams else 'observed'} score"
    panel = plots.plot_forest(rows, word, score=mark, holds=seen, **pc_kwargs)
    top = max(float(y.max()) for _, y in densities) or 1.0
    for row, (x, y) in enumerate(densities):
        panel.area(f"density_{row}", x, -row, _HIGH * y / top - row, plots.COLORS["prior"], 0.4)
    first, digits = rows[0], decimals_for(rows[0]["sd"])
    interval = f"{ci_prob:.0%} interval {span(first['interval'], digits)}"
    said = f"posterior mean {first['mean']:.{digits}f}, {interval}"
    of = f"Private {word} of the best team"
    if not teams:
        of = f"{word[0].upper()}{word[1:]} of the best classifier"
    between = ":\n" if teams else ": "  # the name of private scores is long
    plots.title_figure(panel.collection, of if several else f"{of}{between}{said}")
    return panel.collection


def plot_maximum_law(
    law: MaximumLaw | AucLaw, *, ci_prob: float = 0.95, **pc_kwargs: Any
) -> PlotCollection:
    """Densities of one classifier's score and of the best score, on the same test items.

    The distance between the vertical lines, ``theta_sota`` and the expected maximum, is the bias of
    the maximum. The bar is the equal-tailed interval.

    Parameters
    ----------
    law : MaximumLaw or AucLaw
    ci_prob : float
        Probability of the interval.
    **pc_kwargs
        As in ``plot_sota``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``line_0`` and ``line_1`` (one classifier, the maximum),
        ``theta_sota``, ``expected_maximum`` and ``interval``, each with the variable ``density``.

    Examples
    --------
    >>> law = maximum_law(n_test=3000, n_classifiers=1000, skill=0.9)
    >>> figure = plot_maximum_law(law, backend="none")
    >>> round(figure.viz["expected_maximum"]["density"].item()["x"], 4)
    0.9173
    """
    one: MaximumLaw | AucLaw
    if isinstance(law, MaximumLaw):
        one = maximum_law(n_test=law.n_test, n_classifiers=1, skill=law.theta_sota)
        word = f"accuracy on {counted(law.n_test, 'test item')}"
    else:
        one = auc_law(law.theta_sota, law.n_positive, law.n_negative, law.spread_ratio)
        word = f"AUC on {law.n_positive:,} positive and {law.n_negative:,} negative test items"
    who = f"best of {counted(law.n_classifiers, 'classifier')}"
    lines = {"one of the best skill": _density(one), who: _density(law)}
    panel = plots.plot_lines(lines, word, variable="density", **pc_kwargs)
    skill, mean, ends = law.theta_sota, law.mean(), law.interval(ci_prob)
    panel.vline("theta_sota", skill, plots.PALETTE[0])
    panel.vline("expected_maximum", mean, plots.PALETTE[1])
    panel.bars("interval", [ends], 0.0, plots.PALETTE[1], 2.5)
    digits = decimals_for(law.std())
    expected, known, bias = (f"{x:.{digits}f}" for x in (mean, skill, law.bias()))
    plots.title_figure(
        panel.collection,
        f"The {who} is expected to score {expected}: skill {known} plus {bias}\n"
        f"(bar: {ci_prob:.0%} of the best scores, {span(ends, digits)})",
    )
    return panel.collection


def _density(law: MaximumLaw | AucLaw) -> tuple[FloatArray, FloatArray]:
    if isinstance(law, MaximumLaw):
        x, density = law.support / law.n_test, law.pmf(law.support) * law.n_test
    else:
        edges = law.levels[:: -(-law.levels.size // _PLACES)]
        x, density = (edges[1:] + edges[:-1]) / 2, np.diff(law.cdf(edges)) / np.diff(edges)
    seen = np.flatnonzero(density > _NEGLIGIBLE * density.max())
    return x[seen[0] : seen[-1] + 1], density[seen[0] : seen[-1] + 1]
