"""How the best skill moves with what is assumed rather than observed.

Draws a table and computes nothing; ``tests/leaderboard/test_plots.py`` reads the intervals back.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import COLORS, Panel, make_bounds, make_collection, rounded, title_figure

if TYPE_CHECKING:
    from arviz_plots import PlotCollection


_COLUMNS = ("assumption", "value", "mean", "lower", "upper")
_HEADINGS = {
    "as given": "as given",
    "n_classifiers": "number of tries",
    "reference_skill": "reference skill theta0",
    "rho": "correlation rho",
    "rho learnt from the scores": "rho learnt (mean)",
    "family": "P(theta):",
}


def plot_sensitivity(
    rows: pd.DataFrame,
    *,
    observed_maximum: float | None = None,
    ci_prob: float = 0.95,
    backend: str | None = None,
    plot_collection: "PlotCollection | None" = None,
    **pc_kwargs: Any,
) -> "PlotCollection":
    """Posterior mean and interval of ``theta_sota`` under other assumptions, one row each.

    The first row is the result itself; its mean and interval are the line and the band behind the
    others. A row that leaves the band shows an assumption that the answer hinges on.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns ``assumption``, ``value``, ``mean``, ``lower``, ``upper``, as of
        ``sota_sensitivity``. Of the assumption ``n_classifiers`` the value is a factor, of
        ``family`` a name.
    observed_maximum : float, optional
        Drawn as a black line, an observed score.
    ci_prob : float
        Probability of the intervals in the table, for the axis label.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``interval_0``, ``mean_0``, ``interval_1``, ... for the rows of the
        table, and ``baseline``; each with the variable ``theta_sota``.

    Raises
    ------
    InputError
        A column is missing, or there is no row.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame(
    ...     {"assumption": ["as given", "rho"], "value": [float("nan"), 0.9],
    ...      "mean": [0.9112, 0.9110], "lower": [0.906, 0.905], "upper": [0.916, 0.917]}
    ... )
    >>> figure = plot_sensitivity(rows, backend="none")
    >>> figure.viz["interval_1"]["theta_sota"].item()["x"].tolist()
    [0.905, 0.917]
    """
    _check_rows(rows)
    size, limits = (7.4, 1.6 + 0.32 * len(rows)), _limits(rows, observed_maximum)
    collection = make_collection(
        {"theta_sota": limits},
        figsize=size,
        backend=backend,
        plot_collection=plot_collection,
        **pc_kwargs,
    )
    panel, levels = Panel(collection, "theta_sota"), _levels(rows)
    _draw_baseline(panel, rows, observed_maximum)
    for index, level in enumerate(levels):
        _draw_row(panel, rows, index, level)
    labels = [_label(rows, index) for index in range(len(rows))]
    panel.set_axes(
        limits,
        xlabel=f"skill of the best classifier: mean and {ci_prob:.0%} interval",
        xlim=limits,
        ylim=(levels[-1] - 0.6, 0.6 if observed_maximum is None else 1.4),
        yticks=lambda _: (levels, labels),
    )
    title_figure(collection, _finding(rows))
    return collection


def _check_rows(rows: pd.DataFrame) -> None:
    missing = [name for name in _COLUMNS if name not in rows]
    if missing:
        raise InputError(f"the table of sensitivity lacks the column {', '.join(missing)}")
    if not len(rows):
        raise InputError("the table of sensitivity has no row")


def _levels(rows: pd.DataFrame) -> list[float]:
    """Height of every row, with a gap where the assumption changes."""
    names = rows["assumption"].to_numpy()
    gaps = np.concatenate([[0], np.cumsum(names[1:] != names[:-1])])
    return [-float(row + 0.6 * gap) for row, gap in enumerate(gaps)]


def _number(rows: pd.DataFrame, index: int, column: str) -> float:
    return float(rows[column].to_numpy()[index])


def _draw_baseline(panel: Panel, rows: pd.DataFrame, observed_maximum: float | None) -> None:
    color, mean = COLORS["theta_sota"], _number(rows, 0, "mean")
    band = make_bounds(_number(rows, 0, "lower"), _number(rows, 0, "upper"))
    panel.span("baseline_interval", band, color, 0.12)
    panel.vline("baseline", mean, color)
    if observed_maximum is not None:
        text = f" observed maximum {observed_maximum:.5g} "
        side = "left" if observed_maximum >= mean else "right"
        panel.vline("observed_maximum", observed_maximum, COLORS["observed_maximum"])
        panel.text("observed_maximum_label", observed_maximum, 1.0, text, side=side)


def _draw_row(panel: Panel, rows: pd.DataFrame, index: int, level: float) -> None:
    color = COLORS["winner_skill" if index else "theta_sota"]
    ends = make_bounds(_number(rows, index, "lower"), _number(rows, index, "upper"))
    mean = xr.DataArray([_number(rows, index, "mean")], dims="point")
    panel.bar(f"interval_{index}", ends, level, color)
    panel.dots(f"mean_{index}", mean, level, color)


def _label(rows: pd.DataFrame, index: int) -> str:
    name, value = str(rows["assumption"].to_numpy()[index]), rows["value"].to_numpy()[index]
    heading = _HEADINGS.get(name, name)
    if isinstance(value, str):
        return f"{heading} {value}"
    if np.isnan(value):
        return heading
    return f"{heading} × {value:g}" if name == "n_classifiers" else f"{heading} = {value:.3g}"


def _limits(rows: pd.DataFrame, observed_maximum: float | None) -> xr.DataArray:
    extra = [] if observed_maximum is None else [observed_maximum]
    low, high = min([*rows["lower"], *extra]), max([*rows["upper"], *extra])
    margin = 0.05 * (high - low)
    bounded = low >= 0 and high <= 1
    ends = (max(0.0, low - margin), min(1.0, high + margin))
    return make_bounds(*ends) if bounded else make_bounds(low - margin, high + margin)


def _finding(rows: pd.DataFrame) -> str:
    """How far the furthest mean is, in interval half-widths."""
    if len(rows) == 1:
        return "The best classifier's skill as given"
    moves = np.abs(rows["mean"].to_numpy() - _number(rows, 0, "mean"))
    furthest = int(moves.argmax())
    half = (_number(rows, 0, "upper") - _number(rows, 0, "lower")) / 2
    first, last = (rounded(_number(rows, i, "mean"), half / 2) for i in (0, furthest))
    return (
        f"Other assumptions move the mean by at most {moves.max():.1g}, "
        f"{moves.max() / half:.0%} of the interval's half-width\n"
        f"({first} as given, {last} with {_label(rows, furthest)})"
    )
