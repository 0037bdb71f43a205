"""Forest of claims, and of several methods on the same items; matrix of every two methods.

Draws tables and results, and computes nothing but counts and intervals;
``tests/claims/test_claim_figures.py`` reads the artists back.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from arviz_plots import PlotCollection
from numpy.typing import NDArray

from bayes_sota.claims.plots_matrix import MOST_WRITTEN, draw_matrix
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    check_columns,
    make_bounds,
    make_collection,
    title_figure,
)
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.text import counted, decimals_for, plain_text, shown_name
from bayes_sota.core.types import FloatArray

_COLUMNS = ("p_false", "p_false_lowest", "p_false_highest")
_MOST_NAMED = 60  # claims; more are not labelled one by one
_HEIGHT_OF_MANY = 30.0  # of these, in rows of named ones
_LONGEST = 40  # characters of a name
_KINDS = {  # of verdicts: text and colour
    "supported": ("supported", COLORS["expected_sota"]),
    "depends": ("depends on the congruence", COLORS["theta_sota"]),
    "not_supported": ("not supported", COLORS["winner_skill"]),
}
_MOST = 40  # methods drawn, best first
_OF_PAIRS = ("a", "b", "score_a", "score_b", "observed", "sd", "p_false", "told_apart")
_KEY = (
    "probability that the row is better than the column\n(dot: told apart, adjusted for all pairs)"
)
_CHANCES = {"p_best": "P(best)", "p_best_uncorrected": "P(best), uncorrected"}


@dataclass(frozen=True, eq=False)
class _Rows:
    """Claims from the top down, with their heights and verdicts."""

    values: FloatArray  # (k, 3): averaged, lowest, highest
    kinds: NDArray[np.str_]
    is_named: bool
    heights: FloatArray
    ticks: list[tuple[float, str]]
    bottom: float

    @property
    def inches(self) -> float:
        return 0.24 * (1 - self.bottom)


def plot_claims(
    frame: pd.DataFrame,
    *,
    level: float = 0.05,
    title: str | None = None,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
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
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

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
    rows = _arranged(frame, level)
    right = 1.04 * max(float(rows.values.max()), 1.5 * level)
    limits = make_bounds(-0.015 * right, right)
    where = {"plot_collection": plot_collection, **pc_kwargs}
    collection = make_collection({"p_false": limits}, figsize=(7.4, rows.inches + 2.2), **where)
    panel = Panel(collection, "p_false")
    line = 0.18 * (1 - rows.bottom) / rows.inches  # of text, in rows
    panel.line("level", [level, level], [rows.bottom, 1.0], "black")
    panel.text("level_label", level, 1 + 0.5 * line, f"level {level:.3g}")
    _draw_claims(panel, rows)
    _draw_legend(panel, rows.kinds, right, line)
    ticks = [list(part) for part in zip(*rows.ticks, strict=True)] or [[], []]
    panel.set_axes(
        limits,
        xlabel="probability that the claim is false",
        xlim=limits,
        ylim=(rows.bottom, 1 + 5 * line),
        yticks=lambda _: (ticks[0], ticks[1]),
    )
    finding = _finding(rows, level)
    title_figure(collection, finding if title is None else f"{title}\n{finding}")
    return collection


def _arranged(frame: pd.DataFrame, level: float) -> _Rows:
    """Rows from the top down: groups in their order, then by P(false)."""
    check_columns(frame, _COLUMNS, "the table of claims")
    there = np.isfinite(frame[list(_COLUMNS)].to_numpy(np.float64)).all(axis=1)
    if not there.any():
        raise InputError("no claim can be drawn: none has a probability")
    kept, size = frame.loc[there], int(there.sum())
    names = kept["name"] if "name" in kept else [f"row {row + 1}" for row in np.flatnonzero(there)]
    grouped = "group" in kept and bool(kept["group"].notna().any())
    groups = kept["group"].fillna("(none)").tolist() if grouped else [""] * size
    order_of = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    place = np.array([order_of[group] for group in groups])
    values = kept[list(_COLUMNS)].to_numpy(np.float64)
    order = np.lexsort((values[:, 2], values[:, 0], place))
    values, place = values[order], place[order]
    is_named = size <= _MOST_NAMED
    step = 1.0 if is_named else _HEIGHT_OF_MANY / size * max(1.0, (size / 350) ** 0.25)
    gaps = 1.6 * place + 1.0 if is_named else min(1.2, 36 / len(order_of)) * place
    heights: FloatArray = -step * np.arange(size) - gaps * grouped
    ticks = []
    if is_named:
        named = (plain_text(list(names)[row], _LONGEST) for row in order)
        ticks = list(zip(heights.tolist(), named, strict=True))
    for index, group in enumerate(order_of if grouped else ()):
        here = place == index
        above = int((values[here, 0] > level).sum())
        height = float(heights[here].max() + 1.0 if is_named else heights[here].mean())
        if index == 0 or is_named or ticks[-1][0] - height >= 0.8:
            count = f"{above:,} of {int(here.sum()):,} above {level:.3g}"
            ticks.append((height, f"{plain_text(group, _LONGEST)}: {count}"))
    kinds = np.where(values[:, 1] > level, "not_supported", "depends")
    kinds = np.where(values[:, 2] <= level, "supported", kinds)
    return _Rows(values, kinds, is_named, heights, ticks, float(heights.min()) - 0.9)


def _draw_claims(panel: Panel, rows: _Rows) -> None:
    """Bars of each verdict as one artist, and dots on all of them."""
    drawn = {kind: rows.kinds == kind for kind in _KINDS if (rows.kinds == kind).any()}
    look = {"width": 2.0} if rows.is_named else {"width": 0.8, "alpha": 0.5}
    for kind, here in drawn.items():
        x = np.insert(rows.values[here, 1:], 2, np.nan, axis=1).ravel()  # NaN between the bars
        heights = np.repeat(rows.heights[here], 3)
        panel.line(f"range_{kind}", x, heights, _KINDS[kind][1], **look)
    for kind, here in drawn.items():
        x, size = rows.values[here, 0], 30 if rows.is_named else 6
        panel.dots(f"p_false_{kind}", x, rows.heights[here], _KINDS[kind][1], size=size)


def _draw_legend(panel: Panel, kinds: NDArray[np.str_], right: float, line: float) -> None:
    """What is drawn, and the counts of the verdicts in their colours, above the rows."""
    texts = [("legend", "dot: averaged; bar: all that is possible", COLORS["dark"])] + [
        (f"legend_{kind}", f"{meaning}: {int((kinds == kind).sum()):,}", color)
        for kind, (meaning, color) in _KINDS.items()
    ]
    for place, (label, text, color) in enumerate(texts):
        height = 1 + (4.5 - place) * line
        panel.text(label, right, height, text, side="right", color=color)


def _finding(rows: _Rows, level: float) -> str:
    above, size = int((rows.values[:, 0] > level).sum()), len(rows.values)
    least = int((rows.kinds == "not_supported").sum())
    most = size - int((rows.kinds == "supported").sum())
    return (
        f"{above:,} of {counted(size, 'claim')} ({above / size:.0%}) are false with a probability "
        f"above {100 * level:.3g}%\n({least:,} whatever was not reported, {most:,} at the least "
        "favourable one)"
    )


def plot_methods(
    tree: xr.DataTree,
    *,
    ci_prob: float = 0.95,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw mean and interval of every method's skill, best score first.

    Methods that cannot be told from the winner have its colour: those whose ``p_false`` is at
    least ``(1 - ci_prob) / 2``.

    Parameters
    ----------
    tree : DataTree
        Of ``comparison_tree``: ``skill``, ``p_false`` and ``p_best`` of every classifier, or
        ``p_best_uncorrected`` where the former is not there.
    ci_prob : float
        Probability of the equal-tailed intervals, and of the comparison with the winner.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``, such as ``figure_kwargs={"figsize": (8, 4)}``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``: ``interval_0``, ``mean_0``, ... from the best score on, each with the
        variable ``skill``.

    Examples
    --------
    >>> from bayes_sota import Outcomes
    >>> from bayes_sota.items.comparison import compare_methods
    >>> from bayes_sota.claims.sample_exact import comparison_tree
    >>> answers = Outcomes(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> tree = comparison_tree(compare_methods(answers, random_seed=0), answers)
    >>> figure = plot_methods(tree, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    '1 of the other 2 methods cannot be told from 1'
    """
    skill, estimate = dataset_of(tree, "posterior")["skill"], dataset_of(tree, "point_estimate")
    p_false = estimate["p_false"].values
    names = [str(name) for name in skill["classifier"].values]
    winner = names.index(tree.attrs["winner"])
    scores = dataset_of(tree, "observed_data")["score"].values
    lower_first = scores[winner] < scores.max()
    order = np.argsort(scores if lower_first else -scores, kind="stable")[:_MOST]
    draws = skill.stack(sample=("chain", "draw")).transpose("classifier", "sample").values[order]
    ends = np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=1)
    tied = p_false >= (1 - ci_prob) / 2
    chance = "p_best" if "p_best" in estimate else "p_best_uncorrected"
    labels = [f"{plain_text(names[j], _LONGEST)}  {estimate[chance][j]:.2f}" for j in order]
    others = sum(bool(tied[j]) for j in order if j != winner)
    best, rest = plain_text(names[winner], _LONGEST), len(names) - 1
    finding = f"{best} is told from " + ("the other" if rest == 1 else f"each of the other {rest}")
    if others:
        finding = f"{others} of the other {rest} methods cannot be told from {best}"
    if len(order) < len(names):
        finding += f"\nthe best {len(order)} are drawn"
    where: Any = {"plot_collection": plot_collection, **pc_kwargs}
    xlabel = (
        f"skill, as if no winner had been picked: mean and {ci_prob:.0%} interval\n"
        f"(beside the name: {_CHANCES[chance]})"
    )
    shown = pd.DataFrame({"mean": draws.mean(axis=1), "lower": ends[0], "upper": ends[1]})
    panel = _draw_forest("skill", shown.assign(label=labels, marked=tied[order]), xlabel, **where)
    title_figure(panel.collection, finding)
    return panel.collection


def _draw_forest(name: str, rows: pd.DataFrame, xlabel: str, **where: Any) -> Panel:
    """Means and intervals from the top down, those that are marked in colour.

    ``rows`` have the columns mean, lower, upper, label and marked.
    """
    low, high = rows["lower"].min(), rows["upper"].max()
    margin = 0.05 * (high - low) or 0.01
    limits = make_bounds(low - margin, high + margin)
    collection = make_collection({name: limits}, figsize=(7.4, 1.5 + 0.3 * len(rows)), **where)
    panel = Panel(collection, name)
    marks: Any = rows.itertuples(index=False)
    for index, row in enumerate(marks):
        color = COLORS["theta_sota" if row.marked else "prior"]
        panel.bar(f"interval_{index}", make_bounds(row.lower, row.upper), -float(index), color)
        panel.dots(f"mean_{index}", row.mean, -float(index), color)
    panel.set_axes(
        limits,
        xlim=limits,
        ylim=(-len(rows) + 0.4, 0.6),
        xlabel=xlabel,
        yticks=lambda _: ([-float(row) for row in range(len(rows))], rows["label"].tolist()),
    )
    return panel


def plot_pairs(
    frame: pd.DataFrame,
    *,
    points: bool = True,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
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
    >>> from bayes_sota import Outcomes
    >>> from bayes_sota.claims.summary_differences import report_pairs
    >>> answers = Outcomes(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> figure = plot_pairs(report_pairs(answers, random_seed=0).frame, backend="none")
    >>> figure.viz["cell_0_2"]["difference"].item()["string"]
    '+31.3'
    """
    check_columns(frame, _OF_PAIRS, "the table of pairs")
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
