"""Matrix of the differences of every two methods on the same items.

Draws a table and computes nothing; ``tests/claims/test_claim_figures.py`` reads the artists back.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.plots import check_columns, title_figure
from bayes_sota.core.plots_matrix import MOST_WRITTEN, draw_matrix
from bayes_sota.core.text import counted, decimals_for, shown_name

if TYPE_CHECKING:
    import pandas as pd
    from arviz_plots import PlotCollection

_COLUMNS = ("a", "b", "score_a", "score_b", "observed", "sd", "p_false", "told_apart")
_MOST = 40  # methods drawn, best first
_KEY = (
    "probability that the row is better than the column\n(dot: told apart, adjusted for all pairs)"
)


def plot_pairs(
    frame: "pd.DataFrame",
    *,
    points: bool = True,
    backend: str | None = None,
    plot_collection: "PlotCollection | None" = None,
    **pc_kwargs: Any,
) -> "PlotCollection":
    """Draw the difference of every two methods, the row less the column, best score first.

    Colours are of how probably the row is better; a dot marks pairs that are told apart after
    adjusting for all of them. Up to 20 methods the cells hold the differences. The best 40 methods
    are drawn, and the title says if that leaves some out.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of ``report_pairs`` without a pair: columns ``a``, ``b``, ``score_a``, ``score_b``,
        ``observed``, ``sd``, ``p_false`` and ``told_apart``, the better method first.
    points : bool
        Whether scores are shares, whose differences are shown in points.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: areas ``class_0`` (surely worse), ``class_0_1``, ... to ``class_6``
        (surely better), texts ``cell_ROW_COLUMN`` and dots ``told_apart`` of the variable
        ``difference``; the same classes of ``key``.

    Raises
    ------
    InputError
        A column is missing.

    Examples
    --------
    >>> from bayes_sota import Responses
    >>> from bayes_sota.claims.summary_differences import report_pairs
    >>> answers = Responses(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> figure = plot_pairs(report_pairs(answers, random_seed=0).frame, backend="none")
    >>> figure.viz["cell_0_2"]["difference"].item()["string"]
    '+31.3'
    """
    import xarray as xr

    check_columns(frame, _COLUMNS, "the table of pairs")
    scores = dict(zip(frame["a"], frame["score_a"], strict=True))
    scores |= dict(zip(frame["b"], frame["score_b"], strict=True))
    names = list(scores)[:_MOST]
    place, count = {name: row for row, name in enumerate(names)}, len(names)
    drawn = frame[frame["b"].isin(names)]  # the first of a pair is the better one
    row, column = (drawn[key].map(place).to_numpy() for key in ("a", "b"))
    unit = 100.0 if points else 1.0
    chances, differences = np.full((count, count), 0.5), np.zeros((count, count))
    chances[row, column], chances[column, row] = 1 - drawn["p_false"], drawn["p_false"]
    differences[row, column] = unit * drawn["observed"]
    differences -= differences.T
    digits = decimals_for(unit * float(drawn["sd"].median()))
    shown = decimals_for(float(drawn["sd"].median()))
    panel = draw_matrix(
        "difference",
        chances,
        [f"{shown_name(name, 32)}  {scores[name]:.{shown}f}" for name in names],
        names,
        lambda row, column: f"{differences[row, column]:+z.{digits}f}",
        _KEY,
        backend=backend,
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    told = drawn["told_apart"].to_numpy(bool)
    x, y = np.append(column[told], row[told]), np.append(row[told], column[told])
    if told.any():
        low = 0.3 if count <= MOST_WRITTEN else 0.0  # below the text
        centres = xr.DataArray(x.astype(np.float64), dims="point")
        panel.dots("told_apart", centres, -y - low, "white", size=9)
    told_apart = f"{int(frame['told_apart'].sum()):,} of {counted(len(frame), 'pair')} of methods"
    finding = [f"{told_apart} {'is' if len(frame) == 1 else 'are'} told apart"]
    if count <= MOST_WRITTEN:
        finding += [f"(cells: row less column{', in points' * points})"]
    if count < len(scores):
        finding += [f"(the best {count} of {len(scores):,} methods are drawn)"]
    title_figure(panel.collection, "\n".join(finding))
    return panel.collection
