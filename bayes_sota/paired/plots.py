"""Public against private scores, and the places that teams kept.

Draws a result and its tables; ``tests/paired/test_boards.py`` reads the artists back.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from arviz_plots import PlotCollection

from bayes_sota.core.plots import (
    COLORS,
    Panel,
    log_ticks,
    make_bounds,
    make_collection,
    make_ticks,
    title_figure,
)
from bayes_sota.core.plots_matrix import Axis, set_axes
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray
from bayes_sota.paired.summary import regression_table, shake_up_table


def plot_boards(
    tree: xr.DataTree,
    *,
    ci_prob: float = 0.95,
    gained: Sequence[str] = (),
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw public against private scores, and how far the order was shaken up.

    Left, a dot for every team of the model. Without luck they would lie on the grey line of equal
    scores, moved by the shift of all; the blue line is the private score to expect of a public
    one, with the interval of one team (thin lines): regression to the mean. Right, the share of
    the best k of the public board that are among the best k of the private one (black), and what
    skills and luck let expect of it (blue). Private scores far outside of the intervals are left
    out, and counted in the label.

    Parameters
    ----------
    tree : DataTree
        Of ``estimate_paired``, with the group ``posterior_predictive``.
    ci_prob : float
        Probability of the intervals.
    gained : sequence of str
        Teams drawn in orange, such as those that gained on the public board beyond luck
        (``gained_beyond_luck`` of ``describe_paired``).
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``teams``, ``gained``, ``equal``, ``expected``, ``lower`` and ``upper``
        with the variable ``scores``; ``observed``, ``expected``, ``lower`` and ``upper`` with the
        variable ``places``, whose places are decimal logarithms.

    Raises
    ------
    InputError
        A result without replicates.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> rng = np.random.default_rng(1)
    >>> theta = rng.uniform(0.7, 0.8, 40)
    >>> public, private = rng.binomial(500, theta, (2, 40)) / 500
    >>> boards = bs.PairedBoards(public, private, n_test=(500, 500))
    >>> tree = bs.estimate_paired(boards, draws=50, random_seed=0)  # doctest: +SKIP
    >>> figure = plot_boards(tree, backend="none")  # doctest: +SKIP
    """
    expected, kept = regression_table(tree, ci_prob=ci_prob), shake_up_table(tree, ci_prob=ci_prob)
    anything = make_bounds(0.0, 1.0)
    collection = make_collection(
        {"scores": anything, "places": anything},
        figsize=(9.2, 4.2),
        across=True,
        ratios={"width_ratios": (1.2, 1)},
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    _draw_scores(Panel(collection, "scores"), tree, expected, gained)
    _draw_places(Panel(collection, "places"), kept)
    beyond = "; orange: gained beyond luck" if "gained" in collection.viz else ""
    title_figure(
        collection,
        f"Public and private scores of {tree['observed_data'].sizes['classifier']:,} teams{beyond}"
        f"\n(blue: what skills and luck let expect, with {ci_prob:.0%} intervals)",
    )
    return collection


def _draw_scores(
    panel: Panel, tree: xr.DataTree, expected: pd.DataFrame, gained: Sequence[str]
) -> None:
    score = tree["observed_data"]["score"].transpose("board", "classifier")
    x, y = score.values
    low, high = float(expected["lower"].min()), float(expected["upper"].max())
    seen = (y > low - (high - low)) & (y < high + (high - low))
    lucky = np.isin(score["classifier"].values.astype(str), list(gained))
    ends = [float(min(x.min(), low)), float(max(x.max(), high))]
    panel.line("equal", ends, ends, COLORS["prior"], width=0.8)
    for label, here, color in (("teams", ~lucky, "dark"), ("gained", lucky, "winner_skill")):
        if (here & seen).any():
            look = {"size": 12, "alpha": 0.4 if label == "teams" else 1.0}
            panel.dots(label, x[here & seen], y[here & seen], COLORS[color], **look)
    _draw_expected(panel, expected["public"].to_numpy(), expected)
    outside = f" ({counted(int((~seen).sum()), 'team')} far outside)" * bool((~seen).any())
    heights = np.array([*y[seen], low, high])
    set_axes(panel, _axis("public score", x), _axis(f"private score{outside}", heights))


def _draw_places(panel: Panel, kept: pd.DataFrame) -> None:
    places = np.log10(kept["places"].to_numpy(float))
    panel.line("observed", places, kept["observed"].to_numpy(), COLORS["observed_maximum"])
    _draw_expected(panel, places, kept)
    room, last = 0.04 * float(places[-1]), float(places[-1])
    set_axes(
        panel,
        Axis("best k of the public board", -room, last + room, *log_ticks(0.0, last, 6)),
        Axis("share among the best k of the private one", -0.03, 1.03, *make_ticks(0.0, 1.0)),
    )


def _draw_expected(panel: Panel, x: FloatArray, rows: pd.DataFrame) -> None:
    color = COLORS["theta_sota"]
    panel.line("expected", x, rows["expected"].to_numpy(), color)
    for end in ("lower", "upper"):
        panel.line(end, x, rows[end].to_numpy(), color, width=0.7)


def _axis(label: str, values: FloatArray) -> Axis:
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 0.01
    return Axis(label, low - room, high + room, *make_ticks(low - room, high + room))
