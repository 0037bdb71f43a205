"""Figures of repeated cross-validation: running means, reproducibility, ranks.

Each draws a result or a summary; ``tests/crossval/test_plots.py`` reads the artists back and
measures that texts do not collide.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr
from arviz_plots import PlotCollection, visuals

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    make_ticks,
    spread_out,
    title_figure,
)
from bayes_sota.core.text import shown_name
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.crossval.across_tasks import AverageRanks
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.reproducibility import expected_by_chance, judge_rules
from bayes_sota.crossval.rules import Rule
from bayes_sota.crossval.shape import running_means
from bayes_sota.crossval.summary_words import score_name

_PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_ORDERINGS = 50
_APART = 0.055  # of the height of a panel, between two labels


def plot_running_means(
    scores: FoldScores,
    task: int = 0,
    *,
    ci_prob: float = 0.95,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw the mean score of every learner after each iteration.

    The bands are where the running means of other partitions lie (``running_means``): orders that
    change where bands overlap are orders of single partitions.

    Parameters
    ----------
    scores : FoldScores
    task : int
        Place of the data set.
    ci_prob : float
        Probability of the bands.
    plot_collection : PlotCollection, optional
        One with the panel of this figure, to draw into.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists ``band_0``, ``line_0``, ``name_0``, ... of the variable ``score``, by learner.

    Raises
    ------
    InputError
        More than 7 learners, which no colours keep apart, or one iteration.

    Examples
    --------
    >>> scores = FoldScores(np.random.default_rng(0).normal(0.9, 0.01, (2, 20, 10)))
    >>> figure = plot_running_means(scores, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    'Mean of 1 to 20 iterations of 10-fold cross-validation'
    """
    if len(scores.learners) > len(_PALETTE):
        got = len(scores.learners)
        raise InputError(f"a figure has colours for {len(_PALETTE)} learners, got {got}")
    means, bands = zip(
        *(running_means(scores, j, task, ci_prob) for j in range(len(scores.learners))),
        strict=True,
    )
    count = max(one.size for one in means)
    if count < 2:
        raise InputError("running means need at least 2 iterations")
    wide = np.concatenate([*means, *(band[min(2, len(band) - 1) :].ravel() for band in bands)])
    low, high = float(wide.min()), float(wide.max())
    room = 0.06 * (high - low) or 0.01
    limits = low - room, high + room
    panel = _panel("score", (7.6, 4.4), plot_collection, pc_kwargs)
    for j, band in enumerate(bands):
        parts = np.stack([np.arange(1.0, len(band) + 1), *np.clip(band.T, *limits)])
        shade = xr.DataArray(parts, {"kwarg": ["x", "y_bottom", "y_top"]}, ("kwarg", "point"))
        panel.draw(visuals.fill_between_y, f"band_{j}", shade, color=_PALETTE[j], alpha=0.16)
    _draw_lines(
        panel, means, [np.arange(1, one.size + 1) for one in means], scores.learners, limits
    )
    panel.set_titles(
        [f"{score_name(scores.scorer)}; bands: where {ci_prob:.0%} of other partitions are"]
    )
    on = f" on {scores.tasks[task]}" if len(scores.tasks) > 1 else ""
    title = f"Mean of 1 to {count} iterations of {scores.folds}-fold cross-validation{on}"
    title_figure(panel.collection, title)
    return panel.collection


def plot_reproducibility(
    scores: FoldScores,
    *,
    random_seed: Seed = DEFAULT_SEED,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw how reproducible the order of every pair is after so many iterations.

    A grey line is what equal learners have by chance; it rises because orderings share one pool of
    iterations (``expected_by_chance``), which is why no more than half of the pool is drawn. Of
    several data sets it is the mean.

    Parameters
    ----------
    scores : FoldScores
    random_seed : int, SeedSequence, Generator or None
    plot_collection, **pc_kwargs
        As in ``plot_running_means``.

    Returns
    -------
    PlotCollection
        Artists ``line_0``, ``name_0``, ... of the variable ``reproducibility``, by pair, the last
        of equal learners.

    Raises
    ------
    InputError
        Fewer than 4 iterations.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 40, 10))
    >>> scores = FoldScores(noise + [[[0.90]], [[0.91]]])
    >>> figure = plot_reproducibility(scores, random_seed=0, backend="none")
    >>> figure.viz["line_0"]["reproducibility"].item()["y"].max()
    np.float64(1.0)
    """
    half = scores.scores.shape[2] // 2
    if half < 2:
        raise InputError("reproducibility against iterations needs at least 4 iterations")
    numbers = np.unique(np.geomspace(1, half, 12).round().astype(int))
    judged = judge_rules([Rule("fixed", n) for n in numbers], scores, random_seed=random_seed)
    shares = np.array([one.reproducibility() for one in judged]).mean(axis=1)
    chance = np.array([expected_by_chance(_ORDERINGS, n / (2 * half)) for n in numbers])
    pairs = list(combinations(range(len(scores.learners)), 2))
    short = [shown_name(name, 14) for name in scores.learners]
    names = [*(f"{short[i]}, {short[j]}" for i, j in pairs), "equal learners"]
    lines = [*(shares[:, i, j] for i, j in pairs), chance]
    colors = [*(_PALETTE[k % len(_PALETTE)] for k in range(len(pairs))), COLORS["prior"]]
    panel = _panel("reproducibility", (8.4, 4.6), plot_collection, pc_kwargs)
    _draw_lines(panel, lines, [numbers] * len(lines), names, (-0.03, 1.05), colors)
    over = f", mean of {len(scores.tasks)} data sets" if len(scores.tasks) > 1 else ""
    panel.set_titles([f"|2R - 1|, all pairs of {_ORDERINGS} orderings{over}"])
    title_figure(panel.collection, "How reproducible the order of two learners is")
    return panel.collection


def plot_critical_differences(
    ranks: AverageRanks, *, plot_collection: PlotCollection | None = None, **pc_kwargs: Any
) -> PlotCollection:
    """Draw average ranks, the best on top; two that differ (Nemenyi) have bars that do not overlap.

    Parameters
    ----------
    ranks : AverageRanks
    plot_collection, **pc_kwargs
        As in ``plot_running_means``.

    Returns
    -------
    PlotCollection
        Artists ``bar_0``, ``rank_0``, ... of the variable ``rank``, the best first.

    Examples
    --------
    >>> from bayes_sota.crossval.across_tasks import average_ranks
    >>> ranks = average_ranks(np.random.default_rng(0).normal([0, 0.1, 9], 1, (20, 3)), list("abc"))
    >>> plot_critical_differences(ranks, backend="none").viz["figure_title"].item()["string"]
    'c has the best average rank of 3 over 20 data sets'
    """
    order, half = np.argsort(ranks.ranks, kind="stable"), ranks.nemenyi / 2
    panel = _panel("rank", (7.4, 1.5 + 0.3 * order.size), plot_collection, pc_kwargs)
    for row, at in enumerate(order):
        rank, color = ranks.ranks[at], COLORS["prior" if row else "theta_sota"]
        panel.bar(f"bar_{row}", make_bounds(rank - half, rank + half), -float(row), color)
        panel.dots(f"rank_{row}", rank, -float(row), color)
    names = [shown_name(ranks.names[at]) for at in order]
    limits = make_bounds(ranks.ranks.min() - 1.1 * half, ranks.ranks.max() + 1.1 * half)
    panel.set_axes(
        limits,
        xlabel=f"average rank; bars that do not overlap differ (Nemenyi, {ranks.level:.0%})",
        xlim=limits,
        ylim=(0.4 - order.size, 0.6),
        yticks=lambda _: ([-float(row) for row in range(order.size)], names),
    )
    over = f"{order.size} over {ranks.n_tasks} data sets"
    title_figure(
        panel.collection, f"{shown_name(names[0], 24)} has the best average rank of {over}"
    )
    return panel.collection


def _panel(
    name: str, size: tuple[float, float], into: PlotCollection | None, settings: dict[str, Any]
) -> Panel:
    panels = {name: make_bounds(0, 1)}
    return Panel(make_collection(panels, figsize=size, plot_collection=into, **settings), name)


def _draw_lines(
    panel: Panel,
    lines: Sequence[FloatArray],
    places: Sequence[Any],
    names: Sequence[str],
    limits: tuple[float, float],
    colors: Sequence[str] = _PALETTE,
) -> None:
    """Lines against iterations, with their names at the ends, moved apart where they are close."""
    apart, last = _APART * (limits[1] - limits[0]), max(int(x[-1]) for x in places)
    heights = spread_out([float(line[-1]) for line in lines], apart)
    for k, (x, line, name) in enumerate(zip(places, lines, names, strict=True)):
        panel.line(f"line_{k}", x, line, colors[k])
        at = 1 + 1.02 * (last - 1)
        panel.text(f"name_{k}", at, heights[k], shown_name(name), side="left", color=colors[k])
    low, high = min(limits[0], min(heights) - apart / 2), max(limits[1], max(heights) + apart / 2)
    panel.set_axes(
        make_bounds(0, 1),
        xlabel="iterations",
        xlim=make_bounds(1, 1 + 1.5 * (last - 1)),
        ylim=(low, high),
        yticks=lambda _: make_ticks(low, high),
        xticks=make_ticks(1, last),
    )
