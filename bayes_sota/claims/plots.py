"""Forest of claims: how probable each is false, and how far that hinges on the congruence.

Draws a table and counts; ``tests/claims/test_claim_figures.py`` reads the artists back.

Several methods on the same items: the posterior of each, and who cannot be told from the best.

Draws a result and computes nothing but intervals; ``tests/claims/test_claim_figures.py`` reads the
artists back.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    title_figure,
)
from bayes_sota.core.text import plain_text
from bayes_sota.core.types import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from arviz_plots import PlotCollection


_NAME = "p_false"
_COLUMNS = ("p_false", "p_false_lowest", "p_false_highest")
_MOST_NAMED = 60  # claims; more are not labelled one by one
_HEIGHT_OF_MANY = 30.0  # of these, in rows of named ones
_LONGEST = 40  # characters of a name
_COLORS = {"supported": "expected_sota", "depends": "theta_sota", "not_supported": "winner_skill"}

_KINDS = {
    "supported": "supported",
    "depends": "depends on the congruence",
    "not_supported": "not supported",
}


@dataclass(frozen=True, eq=False)
class _Rows:
    """Claims from the top down, with their heights."""

    values: FloatArray  # (k, 3): averaged, lowest, highest
    is_named: bool
    heights: FloatArray
    ticks: list[tuple[float, str]]
    bottom: float
    inches: float


def plot_claims(
    frame: "pd.DataFrame",
    *,
    level: float = 0.05,
    title: str | None = None,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> "PlotCollection":
    """Draw every claim of a review: P(false) as a dot, its range as a bar, one row each.

    Rows are sorted by P(false), within groups where there are any. Up to 60 claims are named; of
    more only the groups are.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``p_false``, ``p_false_lowest`` and ``p_false_highest``, as of ``ClaimsTable``;
        optionally ``name`` and ``group``. Rows without a number are left out.
    level : float
        Probability from which a claim counts as doubtful, drawn as a black line.
    title : str, optional
        Stands above the finding.
    backend : {"matplotlib", "plotly", "bokeh", "none"}, optional
        Default: ArviZ's ``rcParams["plot.backend"]``.
    figsize : (float, float), optional
        Inches.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``p_false``: ``level``, and for each of
        "supported", "depends" and "not_supported" that occurs ``range_supported`` (bars, with NaN
        between them) and ``p_false_supported`` (dots).

    Raises
    ------
    InputError
        A column is missing, or no row has a number.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {"p_false": [0.09, 0.01], "p_false_lowest": [0.01, 0.0], "p_false_highest": [0.2, 0.02]}
    ... )
    >>> figure = plot_claims(frame, backend="none")
    >>> figure.viz["p_false_supported"]["p_false"].item()["x"].tolist()
    [0.01]
    """
    values, names, groups = _checked(frame)
    rows = _arranged(values, names, groups, level)
    right = 1.04 * max(float(values.max()), 1.5 * level)
    limits = make_bounds(-0.015 * right, right)
    size = figsize or (7.4, rows.inches + 2.2)
    collection = make_collection({_NAME: limits}, backend=backend, figsize=size)
    panel = Panel(collection, _NAME)
    kinds = _kinds(rows.values, level)
    line = 0.18 * (1 - rows.bottom) / rows.inches  # of text, in rows
    _draw_level(panel, rows, level, line)
    for kind in _KINDS:
        _draw_ranges(panel, rows, kinds == kind, kind)
    for kind in _KINDS:
        _draw_dots(panel, rows, kinds == kind, kind)
    _draw_legend(panel, kinds, right, line)
    ticks, labels = zip(*rows.ticks, strict=True) if rows.ticks else ((), ())
    panel.set_axes(
        limits,
        xlabel="probability that the claim is false",
        xlim=limits,
        ylim=(rows.bottom, 1 + 5 * line),
        yticks=lambda _: (list(ticks), list(labels)),
    )
    finding = _finding(rows.values, kinds, level)
    title_figure(collection, finding if title is None else f"{title}\n{finding}")
    return collection


def _checked(frame: "pd.DataFrame") -> tuple[FloatArray, list[str], list[str] | None]:
    missing = [name for name in _COLUMNS if name not in frame]
    if missing:
        raise InputError(f"the table of claims lacks the column {', '.join(missing)}")
    values = frame[list(_COLUMNS)].to_numpy(np.float64)
    there = np.isfinite(values).all(axis=1)
    if not there.any():
        raise InputError("no claim can be drawn: none has a probability")
    kept = frame.loc[there]
    names = kept["name"] if "name" in kept else [f"row {row + 1}" for row in np.flatnonzero(there)]
    groups = None
    if "group" in kept and kept["group"].notna().any():
        texts = kept["group"].where(kept["group"].notna(), "(none)")
        groups = [plain_text(text, _LONGEST) for text in texts]
    return values[there], [plain_text(name, _LONGEST) for name in names], groups


def _arranged(
    values: FloatArray, names: list[str], groups: list[str] | None, level: float
) -> _Rows:
    """Rows from the top down: groups in their order, then by P(false)."""
    order_of = {group: place for place, group in enumerate(dict.fromkeys(groups or [""]))}
    place = np.array([order_of[group] for group in groups or [""] * len(names)])
    order = np.lexsort((values[:, 2], values[:, 0], place))
    values, place = values[order], place[order]
    ordered = [names[row] for row in order]
    is_named = len(names) <= _MOST_NAMED
    step = 1.0 if is_named else _HEIGHT_OF_MANY / len(names) * max(1.0, (len(names) / 350) ** 0.25)
    gaps = 1.6 * place + 1.0 if is_named else min(1.2, 36 / len(order_of)) * place
    heights: FloatArray = -step * np.arange(len(names)) - gaps * (groups is not None)
    ticks = [] if not is_named else list(zip(heights.tolist(), ordered, strict=True))
    if groups is not None:
        ticks += _group_ticks(values, place, list(order_of), heights, level, is_named)
    bottom = float(heights.min()) - 0.9
    return _Rows(values, is_named, heights, ticks, bottom, 0.24 * (1 - bottom))


def _group_ticks(
    values: FloatArray,
    place: NDArray[np.int64],
    groups: list[str],
    heights: FloatArray,
    level: float,
    is_named: bool,
) -> list[tuple[float, str]]:
    """Names of the groups: above their rows, or beside their middle."""
    ticks: list[tuple[float, str]] = []
    for index, group in enumerate(groups):
        here = place == index
        above = int((values[here, 0] > level).sum())
        text = f"{group}: {above:,} of {int(here.sum()):,} above {level:.3g}"
        height = heights[here].max() + 1.0 if is_named else heights[here].mean()
        if not ticks or ticks[-1][0] - height >= 0.8:
            ticks.append((float(height), text))
    return ticks


def _kinds(values: FloatArray, level: float) -> NDArray[np.str_]:
    kinds = np.where(values[:, 1] > level, "not_supported", "depends")
    return np.where(values[:, 2] <= level, "supported", kinds)


def _draw_level(panel: Panel, rows: _Rows, level: float, line: float) -> None:
    import xarray as xr

    x, y = np.full(2, level), np.array([rows.bottom, 1.0])
    panel.line("level", xr.DataArray(x, dims="point"), xr.DataArray(y, dims="point"), "black")
    panel.text("level_label", level, 1 + 0.5 * line, f"level {level:.3g}")


def _draw_ranges(panel: Panel, rows: _Rows, here: NDArray[np.bool_], kind: str) -> None:
    """Bars of one verdict, one artist for all."""
    import xarray as xr
    from arviz_plots import visuals

    if not here.any():
        return
    values, heights = rows.values[here], rows.heights[here]
    breaks = np.full(len(values), np.nan)
    x = np.column_stack([values[:, 1], values[:, 2], breaks]).ravel()
    y = np.column_stack([heights, heights, breaks]).ravel()
    points = xr.DataArray([x, y], dims=("plot_axis", "point"), coords={"plot_axis": ["x", "y"]})
    look = {"width": 2.0} if rows.is_named else {"width": 0.8, "alpha": 0.5}
    panel.draw(visuals.line_xy, f"range_{kind}", points, color=COLORS[_COLORS[kind]], **look)


def _draw_dots(panel: Panel, rows: _Rows, here: NDArray[np.bool_], kind: str) -> None:
    import xarray as xr

    if here.any():
        centres = xr.DataArray(rows.values[here, 0], dims="point")
        size = 30 if rows.is_named else 6
        color = COLORS[_COLORS[kind]]
        panel.dots(f"p_false_{kind}", centres, rows.heights[here], color, size=size)


def _draw_legend(panel: Panel, kinds: NDArray[np.str_], right: float, line: float) -> None:
    """What is drawn, and the counts of the verdicts in their colours, above the rows."""
    texts = [("legend", "dot: averaged; bar: all that is possible", COLORS["dark"])]
    for kind, meaning in _KINDS.items():
        count = int((kinds == kind).sum())
        texts.append((f"legend_{kind}", f"{meaning}: {count:,}", COLORS[_COLORS[kind]]))
    for place, (label, text, color) in enumerate(texts):
        height = 1 + (4.5 - place) * line
        panel.text(label, right, height, text, side="right", color=color)


def _finding(values: FloatArray, kinds: NDArray[np.str_], level: float) -> str:
    above, size = int((values[:, 0] > level).sum()), len(values)
    least = int((kinds == "not_supported").sum())
    most = size - int((kinds == "supported").sum())
    return (
        f"{above:,} of {size:,} claims ({above / size:.0%}) are false with a probability above "
        f"{100 * level:.3g}%\n({least:,} whatever was not reported, {most:,} at the least "
        "favourable one)"
    )


_MOST = 40  # methods drawn, best first
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
    >>> from bayes_sota.items.comparison import compare_methods
    >>> from bayes_sota.claims.sample import comparison_tree
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
    finding = _finding_of_methods(names[winner], others, len(names))
    if len(order) < len(names):
        finding += f"\nthe best {len(order)} are drawn"
    title_figure(collection, finding)
    return collection


def _widened(low: float, high: float) -> tuple[float, float]:
    margin = 0.05 * (high - low) or 0.01
    return low - margin, high + margin


def _finding_of_methods(winner: str, others: list[str], count: int) -> str:
    best = plain_text(winner, _LONGEST)
    if not others:
        return f"{best} is told from " + ("the other" if count == 2 else f"all other {count - 1}")
    return f"{len(others)} of the other {count - 1} methods cannot be told from {best}"
