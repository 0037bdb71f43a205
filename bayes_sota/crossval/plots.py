"""Figures of repeated cross-validation; ``tests/crossval/test_plots.py`` reads them back."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from arviz_plots import PlotCollection

from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import plot_differences, plot_lines, title_figure
from bayes_sota.core.text import shown_name
from bayes_sota.crossval.estimates import running_means
from bayes_sota.crossval.fold_scores import FoldScores, place_of
from bayes_sota.crossval.summary import score_name


def plot_running_means(
    scores: FoldScores, task: int | str = 0, *, ci_prob: float = 0.95, **pc_kwargs: Any
) -> PlotCollection:
    """Draw the mean score of every learner after each iteration.

    The bands are where running means of other partitions lie (``running_means``): where bands
    overlap, other partitions may give another order.

    Parameters
    ----------
    scores : FoldScores
    task : int or str
    ci_prob : float
        Probability of the bands.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists ``band_0``, ``line_0``, ``name_0``, ... of the variable ``score``, by learner.

    Raises
    ------
    InputError
        One iteration.

    Examples
    --------
    >>> scores = FoldScores(np.random.default_rng(0).normal(0.9, 0.01, (2, 20, 10)))
    >>> figure = plot_running_means(scores, backend="none")
    >>> figure.viz["figure_title"].item()["string"].splitlines()[0]
    'Mean of 1 to 20 iterations of 10-fold cross-validation'
    """
    found = {x: running_means(scores, j, task, ci_prob) for j, x in enumerate(scores.learners)}
    count = max(means.size for means, _ in found.values())
    if count < 2:
        raise InputError("running means need at least 2 iterations")
    late = [band[min(2, len(band) - 1) :].ravel() for _, band in found.values()]
    panel = plot_lines(
        {name: (np.arange(1, means.size + 1), means) for name, (means, _) in found.items()},
        "iterations",
        variable="score",
        bands={name: band.T for name, (_, band) in found.items()},
        holds=np.concatenate(late),
        **pc_kwargs,
    )
    name = scores.tasks[place_of(task, scores.tasks, "data set")]
    on = f" on {name}" if len(scores.tasks) > 1 else ""
    title = f"Mean of 1 to {count} iterations of {scores.folds}-fold cross-validation{on}"
    bands = f"{score_name(scores.scorer)}; bands: where {ci_prob:.0%} of other partitions are"
    title_figure(panel.collection, f"{title}\n{bands}")
    return panel.collection


def plot_critical_differences(ranks: SimpleNamespace, **pc_kwargs: Any) -> PlotCollection:
    """Draw average ranks on an axis, and bars over those that may be equal (Nemenyi).

    The critical-difference diagram of Demsar (2006, Fig. 1).

    ``ranks`` are from ``average_ranks``, ``pc_kwargs`` as in ``plot_running_means``.

    Examples
    --------
    >>> from bayes_sota.crossval.estimates import average_ranks
    >>> ranks = average_ranks(np.random.default_rng(0).normal([0, 0.1, 9], 1, (20, 3)), list("abc"))
    >>> figure = plot_critical_differences(ranks, backend="none")
    >>> figure.viz["figure_title"].item()["string"].splitlines()[0]
    'c has the best average rank of 3 over 20 data sets'
    """
    apart = np.abs(ranks.ranks[:, None] - ranks.ranks) > ranks.nemenyi
    panel = plot_differences(ranks.names, ranks.ranks, apart, "average rank", **pc_kwargs)
    best = shown_name(ranks.names[int(np.argmin(ranks.ranks))], 24)
    title = f"{best} has the best average rank of {apart.shape[0]} over {ranks.n_tasks} data sets"
    joined = f"bars join those that cannot be distinguished (Nemenyi, {ranks.level:.0%})"
    title_figure(panel.collection, f"{title}\n{joined}")
    return panel.collection
