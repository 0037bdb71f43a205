"""Figures of claims: the curve over what is not reported, forests, and the matrix of all pairs.

Draws reports and results, and computes nothing but intervals;
``tests/claims/test_claim_figures.py`` reads the artists back.
"""

from textwrap import wrap
from typing import Any

import numpy as np
from arviz_plots import PlotCollection

from bayes_sota.claims.summary_methods import unit_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_collection,
    make_ticks,
    plot_forest,
    plot_lines,
    title_figure,
)
from bayes_sota.core.tables import Report
from bayes_sota.core.text import chance, decimals_for, in_points, shown_name

_XLABELS = {
    "congruence": "share of items that both get right (congruence)",
    "correlation": "correlation of the two methods' cases",
}
_WIDE = 60  # characters of a line of a title
_MOST_CLAIMS, _MOST, _MOST_WRITTEN = 60, 40, 20  # claims; methods; methods with numbers in cells
_EDGES = (0.0, 0.05, 0.25, 0.45, 0.55, 0.75, 0.95, 1.0)
_CLASSES = ("#8F3B00", "#D9742B", "#F5C9A3", "#F7F7F7", "#B3D3EA", "#5FA2D0", "#0B4F80")


def plot_claim(report: Report, **pc_kwargs: Any) -> PlotCollection:
    """Draw the probability that a claim is false over all that is possible.

    Parameters
    ----------
    report : Report
        Of ``report_claim``.
    **pc_kwargs
        As of ``make_collection``.

    Examples
    --------
    >>> from bayes_sota.claims import Accuracies, report_claim
    >>> figure = plot_claim(report_claim(Accuracies(a=0.90, b=0.88, n=500)), backend="none")
    >>> print(figure.viz["figure_title"].item()["string"])
    The claim is supported at 0.05 only if both got at least
    85.4 % of the items right.
    """
    claim, content = report.about, report.content
    x, p = claim.curve().T
    if x[0] == x[-1]:
        raise InputError("nothing that matters is unknown: there is no curve to draw")
    level, answer = content["level"], content["p_false"]
    points, levels = {}, {f"level {level:.3g}": level}
    if claim.known is None:
        levels[f"averaged: {chance(answer)}"] = answer
    else:
        points[f"given: {chance(answer)}"] = (claim.known, answer)
    for place, height in ((x[0], p[0]), (x[-1], p[-1])):
        points[f"at {place:.3g}: {chance(height)}"] = (place, height)
    panel = plot_lines(
        {"P(false)": (x, p)},
        _XLABELS[claim.unknown],
        variable="p_false",
        levels=levels,
        points=points,
        **pc_kwargs,
    )
    _title(panel, report.sentences[1].replace("It is", "The claim is", 1))
    return panel.collection


def plot_claims(report: Report, **pc_kwargs: Any) -> PlotCollection:
    """Draw the claims of a review, the most doubtful first: P(false) as a dot, its range as a bar.

    Parameters
    ----------
    report : Report
        Of ``claims_table``. The 60 most doubtful claims are drawn; supported ones are grey.
    **pc_kwargs
        As of ``make_collection``.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayes_sota import claims_table
    >>> review = pd.DataFrame({"accuracy_a": [0.9], "accuracy_b": [0.8], "n_test": [500]})
    >>> figure = plot_claims(claims_table(review), backend="none")
    >>> figure.viz["mean_weak"]["p_false"].item()["x"].round(3)
    array([0.])
    """
    rows, level = report.content["claims"], report.content["level"]
    drawn = sorted(rows, key=lambda row: -row["p_false"])[:_MOST_CLAIMS]
    marks = [
        {
            "name": row["name"] + f" ({row['group']})" * bool(row["group"]),
            "mean": row["p_false"],
            "interval": (row["p_false_lowest"], row["p_false_highest"]),
            "weak": row["verdict"] == "supported",
        }
        for row in drawn
    ]
    label = "probability that the claim is false\n(bar: its range; grey: supported)"
    panel = plot_forest(marks, label, variable="p_false", holds=[0.0, level], **pc_kwargs)
    _mark(panel, level, f"level {level:.3g}")
    more = f"\nthe {len(drawn)} most doubtful are drawn" * (len(drawn) < len(rows))
    _title(panel, report.sentences[0].partition(";")[0] + more)
    return panel.collection


def plot_methods(report: Report, **pc_kwargs: Any) -> PlotCollection:
    """Draw mean and interval of every method's skill, best score first.

    Methods that can be distinguished from the winner are grey.

    Parameters
    ----------
    report : Report
        Of ``report_methods``.
    **pc_kwargs
        As of ``make_collection``.

    Examples
    --------
    >>> from bayes_sota import Outcomes
    >>> from bayes_sota.claims.summary_methods import report_methods
    >>> answers = Outcomes(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> figure = plot_methods(report_methods(answers, random_seed=0), backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    '1 of the other 2 methods cannot be distinguished from 1'
    """
    content, of = report.content, report.about.comparison
    means = dict(zip(of.methods, of.sign * of.draws.mean(axis=0), strict=True))
    kind = "p_best_uncorrected" if content["p_best"] is None else "p_best"
    rows = [
        {
            "name": f"{shown_name(row['name'])}  {row[kind]:.2f}",
            "mean": means[row["name"]],
            "interval": row["interval"],
            "weak": not row["tied_with_best"],
        }
        for row in content["methods"][:_MOST]
    ]
    label = f"skill: mean and {content['prob']:.0%} interval (beside the name: P(best))"
    panel = plot_forest(rows, label, **pc_kwargs)
    winner, others = content["winner"], len(content["tied_with_best"]) - 1
    finding = f"{winner} can be distinguished from every other method"
    if others:
        finding = f"{others} of the other {len(means) - 1} methods cannot be distinguished from "
        finding += winner
    _title(panel, finding + f"\nthe best {len(rows)} are drawn" * (len(rows) < len(means)))
    return panel.collection


def plot_gate(report: Report, **pc_kwargs: Any) -> PlotCollection:
    """Draw the difference of a pair with its interval, 0 and the margin.

    Parameters
    ----------
    report : Report
        Of ``report_pairs`` with a pair.
    **pc_kwargs
        As of ``make_collection``.
    """
    content, row = report.content, report.content["pairs"][0]
    compared = report.about.comparison
    factor, unit = unit_of(compared)
    of, margin = row["difference"], content["margin"]
    worse = -compared.sign * margin
    shown: Any = {"name": f"{row['a']} minus {row['b']}", "mean": factor * of["mean"]}
    shown["interval"] = [factor * end for end in of["interval"]]
    label = f"difference{f' ({unit.strip()})' * bool(unit)}, {content['prob']:.0%} interval"
    holds = [0.0, factor * worse]
    every = [*holds, *shown["interval"]]
    look: Any = {"holds": holds, "xticks": make_ticks(min(every), max(every))}
    panel = plot_forest([shown], label, variable="difference", **look, **pc_kwargs)
    _mark(panel, 0.0, "no difference")
    if margin:
        text = f"margin {in_points(margin, compared.are_shares)}"
        _mark(panel, factor * worse, text, "winner_skill", height=0.4)
    _title(panel, report.sentences[0])
    return panel.collection


def _title(panel: Panel, text: str) -> None:
    lines = (part for line in text.splitlines() for part in wrap(line, _WIDE))
    title_figure(panel.collection, "\n".join(lines))


def _mark(panel: Panel, place: float, text: str, color: str = "dark", height: float = 0.75) -> None:
    """A vertical line with its text above the first row."""
    panel.vline(f"line_{text.split()[0]}", place, COLORS[color])
    panel.text(f"text_{text.split()[0]}", place, height, f" {text}", side="left")


def plot_pairs(report: Report, **pc_kwargs: Any) -> PlotCollection:
    """Draw the difference of every two methods, the row less the column, best score first.

    Colours are of how probably the row is better; a dot marks pairs that are told apart after
    adjusting for all of them. Up to 20 methods the cells hold the differences; the best 40 are
    drawn.

    Parameters
    ----------
    report : Report
        Of ``report_pairs`` without a pair.
    **pc_kwargs
        As of ``make_collection``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``difference``: the mesh ``cells``, texts
        ``cell_ROW_COLUMN`` and dots ``told_apart``.
    """
    frame, compared = report.frame, report.about.comparison
    scores = dict(zip(frame["a"], frame["score_a"], strict=True))
    scores |= dict(zip(frame["b"], frame["score_b"], strict=True))
    names = list(scores)[:_MOST]
    place, count = {name: row for row, name in enumerate(names)}, len(names)
    unit, words = unit_of(compared)
    drawn = frame[frame["b"].isin(names)]  # the first of a pair is the better one
    row, column = (drawn[side].map(place).to_numpy() for side in ("a", "b"))
    chances, differences = np.full((count, count), 0.5), np.zeros((count, count))
    chances[row, column], chances[column, row] = 1 - drawn["p_false"], drawn["p_false"]
    differences[row, column] = unit * drawn["observed"]
    differences -= differences.T
    digits = decimals_for(unit * float(drawn["sd"].median()))
    written = count <= _MOST_WRITTEN
    cell = 0.1 * (digits + 5) if written else 0.22
    size = (max(4.4 + cell * count, 7.4), 2.4 + cell * count)
    panel = Panel(make_collection(["difference"], figsize=size, **pc_kwargs), "difference")
    panel.draw(_mesh, "cells", 0.0, chances=chances)
    for i, j in np.argwhere(~np.eye(count, dtype=bool)).tolist() if written else []:
        color = "white" if abs(chances[i, j] - 0.5) >= 0.45 else "black"
        text = f"{differences[i, j]:+z.{digits}f}"
        panel.text(f"cell_{i}_{j}", float(j), -float(i), text, color=color)
    told = drawn["told_apart"].to_numpy(bool)
    if told.any():
        x, y = np.append(column[told], row[told]), np.append(row[told], column[told])
        low = 0.3 if written else 0.0  # below the text
        panel.dots("told_apart", x.astype(float), -y - low, "white", size=9)
    shown = decimals_for(float(drawn["sd"].median()))
    rows = [f"{shown_name(name, 32)}  {scores[name]:.{shown}f}" for name in names]
    heights = (-np.arange(count, dtype=float)).tolist()
    panel.set_axes(
        xlabel="colour: probability that the row is better; dot: told apart, adjusted",
        xlim=(-0.5, count - 0.5),
        ylim=(0.5 - count, 0.5),
        xticks=([-height for height in heights], [shown_name(name, 24) for name in names]),
        yticks=(heights, rows),
        turned=True,
    )
    finding = (
        f"{report.content['n_told_apart']:,} of {len(frame):,} pairs of methods are told apart"
    )
    cells = f"\n(cells: row less column{f', in{words}' * bool(words)})" * written
    more = f"\n(the best {count} of {len(scores)} methods are drawn)" * (count < len(scores))
    _title(panel, finding + cells + more)
    return panel.collection


def _mesh(_: Any, target: Any, *, chances: Any, **__: Any) -> Any:
    """Cells in the colours of the classes of their probabilities, with a key."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    norm = BoundaryNorm(_EDGES, len(_CLASSES))
    edges = np.arange(len(chances) + 1) - 0.5
    look = {"cmap": ListedColormap(_CLASSES), "norm": norm, "edgecolors": "white", "linewidth": 0.6}
    mesh = target.pcolormesh(edges, -edges, chances, **look)
    target.figure.colorbar(mesh, ax=target, shrink=0.6, ticks=_EDGES)
    return mesh
