"""How the best skill moves with what is assumed rather than observed.

Draws a table and computes nothing; ``tests/plots/test_sensitivity.py`` reads the intervals back.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.errors import InputError
from bayes_sota.plots.canvas import (
    COLORS,
    TEXT_SIZE,
    draw,
    make_collection,
    rounded,
    style_panel,
    title_figure,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from arviz_plots import PlotCollection

__all__ = ["plot_sensitivity"]

_PANEL = "theta_sota"
_COLUMNS = ("assumption", "value", "mean", "lower", "upper")
_HEADINGS = {
    "as given": "as given",
    "n_classifiers": "number of tries",
    "reference_skill": "reference skill theta0",
    "rho": "correlation rho",
}


def plot_sensitivity(
    rows: "pd.DataFrame",
    *,
    observed_maximum: float | None = None,
    prob: float = 0.95,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Posterior mean and interval of ``theta_sota`` under other assumptions, one row each.

    The first row is the result itself; its mean and interval are the line and the band behind the
    others. A row that leaves the band shows an assumption that the answer hinges on.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns ``assumption``, ``value``, ``mean``, ``lower``, ``upper``, as of
        ``sota_sensitivity``. Of the assumption ``n_classifiers`` the value is a factor.
    observed_maximum : float, optional
        Drawn as a black line, an observed score.
    prob : float
        Probability of the intervals in the table, for the axis label.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches.

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
    size = figsize or (7.4, 1.6 + 0.32 * len(rows))
    collection = make_collection({_PANEL: _array([0.0])}, backend=backend, figsize=size)
    levels = _levels(rows)
    _draw_baseline(collection, rows.iloc[0], observed_maximum)
    for index, (_, row) in enumerate(rows.iterrows()):
        _draw_interval(collection, index, row, float(levels[index]))
    labels = [_label(row) for _, row in rows.iterrows()]
    style_panel(
        collection, _PANEL, _array([0.0]), xlim=_limits(rows, observed_maximum),
        ylim=(levels.min() - 0.6, 0.6 if observed_maximum is None else 1.4), yticks=lambda _: (list(levels), labels),
        xlabel=f"accuracy of the best classifier: mean and {prob:.0%} interval",
    )
    title_figure(collection, _finding(rows))
    return collection


def _array(values: list[float]) -> "xr.DataArray":
    import xarray as xr

    return xr.DataArray(values, dims="bound")


def _check_rows(rows: "pd.DataFrame") -> None:
    missing = [name for name in _COLUMNS if name not in rows]
    if missing:
        raise InputError(f"the table of sensitivity lacks the column {', '.join(missing)}")
    if not len(rows):
        raise InputError("the table of sensitivity has no row")


def _levels(rows: "pd.DataFrame") -> np.ndarray[Any, Any]:
    """Height of every row, with a gap where the assumption changes."""
    names = rows["assumption"].to_numpy()
    gaps = np.concatenate([[0], np.cumsum(names[1:] != names[:-1])])
    return -(np.arange(len(rows)) + 0.6 * gaps)


def _draw_baseline(
    collection: "PlotCollection", row: "pd.Series", observed_maximum: float | None
) -> None:
    from arviz_plots import visuals

    draw(collection, visuals.vspan, "baseline_interval", _PANEL, _array([row["lower"], row["upper"]]),
         color=COLORS["theta_sota"], alpha=0.12)
    draw(collection, visuals.vline, "baseline", _PANEL, _array([row["mean"]]),
         color=COLORS["theta_sota"], width=1.0)
    if observed_maximum is not None:
        draw(collection, visuals.annotate_xy, "observed_maximum_label", _PANEL,
             _array([observed_maximum]), x=observed_maximum, y=1.0, size=TEXT_SIZE["note"],
             text=f"observed maximum {observed_maximum:.5g}")
        draw(collection, visuals.vline, "observed_maximum", _PANEL, _array([observed_maximum]),
             color=COLORS["observed_maximum"], width=1.2)


def _draw_interval(
    collection: "PlotCollection", index: int, row: "pd.Series", level: float
) -> None:
    from arviz_plots import visuals

    color = COLORS["theta_sota"] if index == 0 else COLORS["winner_skill"]
    draw(collection, visuals.line_x, f"interval_{index}", _PANEL,
         _array([row["lower"], row["upper"]]), y=level, color=color, width=2.5)
    draw(collection, visuals.scatter_x, f"mean_{index}", _PANEL, _array([row["mean"]]), y=level,
         color=color, size=36)


def _label(row: "pd.Series") -> str:
    name, value = str(row["assumption"]), float(row["value"])
    heading = _HEADINGS.get(name, name)
    if np.isnan(value):
        return heading
    return f"{heading} × {value:g}" if name == "n_classifiers" else f"{heading} = {value:.3g}"


def _limits(rows: "pd.DataFrame", observed_maximum: float | None) -> tuple[float, float]:
    extra = [] if observed_maximum is None else [observed_maximum]
    low, high = min([rows["lower"].min(), *extra]), max([rows["upper"].max(), *extra])
    margin = 0.05 * (high - low)
    return float(max(0.0, low - margin)), float(min(1.0, high + margin))


def _finding(rows: "pd.DataFrame") -> str:
    first = rows.iloc[0]
    if len(rows) == 1:
        return "The best classifier's accuracy as given"
    moves = (rows["mean"] - first["mean"]).abs().iloc[1:]
    furthest = rows.iloc[1:].iloc[int(moves.to_numpy().argmax())]
    half = (first["upper"] - first["lower"]) / 2
    return (
        f"Other assumptions move the mean by at most {moves.max():.1g}, "
        f"{moves.max() / half:.0%} of the interval's half-width\n"
        f"({rounded(first['mean'], half / 2)} as given, "
        f"{rounded(furthest['mean'], half / 2)} with {_label(furthest)})"
    )
