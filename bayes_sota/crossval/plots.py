"""Figures of repeated cross-validation: running means, reproducibility, comparison, ranks.

Each draws a result or a summary; ``tests/crossval/test_plots.py`` reads the artists back and
measures that texts do not collide.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr
from arviz_plots import PlotCollection, visuals
from arviz_plots.plot_collection import backend_from_object
from numpy.typing import ArrayLike

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
from bayes_sota.core.types import Seed
from bayes_sota.crossval.across_tasks import AverageRanks
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.reproducibility import expected_by_chance, judge_rules
from bayes_sota.crossval.rules import FixedNumber
from bayes_sota.crossval.shape import running_means
from bayes_sota.crossval.summary_words import score_name

_PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MOST = len(_PALETTE)
_ORDERINGS = 50
_BAND = {"kwarg": ["x", "y_bottom", "y_top"]}
_HIDDEN_BY_OVERLAP = 0.055  # of the height of a panel, between two labels


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
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists ``band_0``, ``mean_0``, ``name_0``, ... of the variable ``score``, by learner.

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
    means = [running_means(scores, j, task, ci_prob) for j in range(_checked(len(scores.learners)))]
    count = max(one.mean.size for one in means)
    if count < 2:
        raise InputError("running means need at least 2 iterations")
    drawn = np.concatenate([one.mean for one in means])
    wide = np.concatenate([one.interval[min(2, one.mean.size - 1) :].ravel() for one in means])
    low, high = _with_room([*drawn, *wide])
    panel = _panel("score", (7.6, 4.4), plot_collection, pc_kwargs)
    for j, one in enumerate(means):
        x = np.arange(1, one.mean.size + 1)
        parts = [x.astype(np.float64), *np.clip(one.interval.T, low, high)]
        band = xr.DataArray(np.stack(parts), _BAND, ("kwarg", "point"))
        panel.draw(visuals.fill_between_y, f"band_{j}", band, color=_PALETTE[j], alpha=0.16)
        panel.line(f"mean_{j}", x, one.mean, _PALETTE[j])
    last = [one.mean[-1] for one in means]
    limits = _name_lines(panel, scores.learners, last, count, (low, high))
    _set_axes(panel, "iterations", (1, 1 + 1.36 * (count - 1)), limits, until=count)
    on = f" on {scores.tasks[task]}" if len(scores.tasks) > 1 else ""
    panel.set_titles(
        [f"{score_name(scores.scorer)}; bands: where {ci_prob:.0%} of other partitions are"]
    )
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
        Artists ``pair_0``, ``name_0``, ... and ``chance`` of the variable ``reproducibility``.

    Raises
    ------
    InputError
        Fewer than 4 iterations.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 40, 10))
    >>> scores = FoldScores(noise + [[[0.90]], [[0.91]]])
    >>> figure = plot_reproducibility(scores, random_seed=0, backend="none")
    >>> figure.viz["pair_0"]["reproducibility"].item()["y"].max()
    np.float64(1.0)
    """
    half = scores.scores.shape[2] // 2
    if half < 2:
        raise InputError("reproducibility against iterations needs at least 4 iterations")
    numbers = np.unique(np.geomspace(1, half, 12).round().astype(int))
    judged = judge_rules([FixedNumber(int(n)) for n in numbers], scores, random_seed=random_seed)
    shares = np.array([one.reproducibility() for one in judged]).mean(axis=1)
    pairs = list(combinations(range(len(scores.learners)), 2))
    chance = [expected_by_chance(_ORDERINGS, n / (2 * half)) for n in numbers]
    panel = _panel("reproducibility", (8.4, 4.6), plot_collection, pc_kwargs)
    panel.line("chance", numbers, chance, COLORS["prior"])
    colors = [_PALETTE[k % _MOST] for k in range(len(pairs))]
    for k, (i, j) in enumerate(pairs):
        panel.line(f"pair_{k}", numbers, shares[:, i, j], colors[k])
    short = [shown_name(name, 14) for name in scores.learners]
    names = [*(f"{short[i]}, {short[j]}" for i, j in pairs), "equal learners"]
    last = [*(shares[-1, i, j] for i, j in pairs), chance[-1]]
    limits = _name_lines(panel, names, last, half, (-0.03, 1.05), [*colors, COLORS["prior"]])
    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    _set_axes(
        panel,
        "iterations",
        (1, 1 + 1.62 * (half - 1)),
        limits,
        until=half,
        ticks=(ticks, [f"{tick:.1f}" for tick in ticks]),
    )
    over = f", mean of {len(scores.tasks)} data sets" if len(scores.tasks) > 1 else ""
    panel.set_titles([f"|2R - 1|, all pairs of {_ORDERINGS} orderings{over}"])
    title_figure(panel.collection, "How reproducible the order of two learners is")
    return panel.collection


def plot_critical_differences(
    ranks: AverageRanks,
    *,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw average ranks, the best on the left; bars join those that do not differ (Nemenyi).

    Parameters
    ----------
    ranks : AverageRanks
    plot_collection, **pc_kwargs
        As in ``plot_running_means``.

    Returns
    -------
    PlotCollection
        Artists ``leader_0``, ``name_0``, ... by alternative, ``group_0``, ..., ``axis`` and
        ``difference`` of the variable ``rank``.

    Examples
    --------
    >>> from bayes_sota.crossval.across_tasks import average_ranks
    >>> ranks = average_ranks(np.random.default_rng(0).normal([0, 0.1, 9], 1, (20, 3)), list("abc"))
    >>> plot_critical_differences(ranks, backend="none").viz["figure_title"].item()["string"]
    'c has the best average rank of 3 over 20 data sets'
    """
    k, order = len(ranks.names), np.argsort(ranks.ranks, kind="stable")
    left, groups = (k + 1) // 2, ranks.groups()
    first = -0.55 - 0.22 * len(groups)
    size = (7.6, 1.9 + 0.26 * (left + len(groups) + 1))
    panel = _panel("rank", size, plot_collection, pc_kwargs)
    edges = (1 - 0.06 * (k - 1), k + 0.06 * (k - 1))
    panel.line("axis", [1, k], [0, 0], "#000000")
    for tick in range(1, k + 1):
        panel.line(f"tick_{tick}", [tick, tick], [0, 0.09], "#000000")
        panel.text(f"number_{tick}", float(tick), 0.25, str(tick))
    for place, at in enumerate(order):
        on_left = place < left
        edge, row = edges[0 if on_left else 1], place if on_left else k - 1 - place
        height, rank = first - 0.36 * row, float(ranks.ranks[at])
        panel.line(f"leader_{at}", [rank, rank, edge], [0, height, height], COLORS["dark"])
        name, mean = shown_name(ranks.names[at], 22), f"{rank:.2f}"
        text = f" {name}  {mean} " if on_left else f" {mean}  {name} "
        panel.text(f"name_{at}", edge, height, text, side="right" if on_left else "left")
    for number, group in enumerate(groups):
        height = -0.25 - 0.22 * number
        ends = ranks.ranks[[group[0], group[-1]]] + np.array([-0.02, 0.02]) * (k - 1)
        panel.bar(f"group_{number}", make_bounds(*ends), height, COLORS["theta_sota"], 4)
    top = 0.75
    panel.bar("difference", make_bounds(1, 1 + ranks.nemenyi), top, "#000000", 2)
    text = f"critical difference {ranks.nemenyi:.2f} (Nemenyi, {ranks.level:.0%})"
    panel.text("difference_name", 1.0, top + 0.27, text, side="left")
    wide = 0.55 * (k - 1)
    panel.set_axes(
        make_bounds(0, 1),
        xlabel="",
        ylim=(first - 0.36 * (left - 1) - 0.3, top + 0.55),
        xlim=make_bounds(1 - wide, max(k + wide, 1 + ranks.nemenyi)),
    )
    panel.draw(_hide_axes, "no_axis", 0.0, store_artist=False)
    best, over = shown_name(ranks.names[order[0]]), f"{ranks.n_tasks} data sets"
    title_figure(panel.collection, f"{best} has the best average rank of {k} over {over}")
    return panel.collection


def _checked(learners: int) -> int:
    if learners > _MOST:
        raise InputError(f"a figure has colours for {_MOST} learners, got {learners}")
    return learners


def _panel(
    name: str,
    size: tuple[float, float],
    collection: PlotCollection | None,
    settings: dict[str, Any],
) -> Panel:
    where = {"plot_collection": collection, **settings}
    return Panel(make_collection({name: make_bounds(0, 1)}, figsize=size, **where), name)


def _with_room(values: ArrayLike) -> tuple[float, float]:
    numbers = np.asarray(values, np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    room = 0.06 * (high - low) or 0.01
    return low - room, high + room


def _name_lines(
    panel: Panel,
    names: Sequence[str],
    heights: Sequence[float],
    count: float,
    limits: tuple[float, float],
    colors: Sequence[str] = _PALETTE,
) -> tuple[float, float]:
    """Names at the ends of lines, moved apart where lines end close; limits that hold them all."""
    low, high = limits
    apart = _HIDDEN_BY_OVERLAP * (high - low)
    where = spread_out(heights, apart)
    for k, (name, height) in enumerate(zip(names, where, strict=True)):
        at, text = 1 + 1.02 * (count - 1), shown_name(name)
        panel.text(f"name_{k}", at, float(height), text, side="left", color=colors[k])
    return min(low, min(where) - apart / 2), max(high, max(where) + apart / 2)


def _set_axes(
    panel: Panel,
    xlabel: str,
    xlim: tuple[float, float],
    ylim: tuple[float, float],
    *,
    ticks: tuple[Sequence[float], Sequence[str]] | None = None,
    until: float | None = None,
) -> None:
    """Both axes; ticks of the horizontal one only up to where the lines end."""
    shown = make_ticks(*ylim) if ticks is None else (list(ticks[0]), list(ticks[1]))
    panel.set_axes(
        make_bounds(0, 1),
        xlabel=xlabel,
        xlim=make_bounds(*xlim),
        ylim=ylim,
        yticks=lambda _: shown,
        xticks=None if until is None else make_ticks(1, until),
    )


def _hide_axes(_: Any, target: Any, **__: Any) -> None:
    backend_from_object(target).remove_axis(target, axis="both")
