"""Figures of claims: the curve over what is not reported, and forests.

Draws reports and results, and computes nothing but intervals;
``tests/claims/test_claim_figures.py`` reads the artists back.
"""

from textwrap import wrap
from typing import Any

import numpy as np
from arviz_plots import PlotCollection

from bayes_sota.claims.summary import chance
from bayes_sota.claims.summary_methods import unit_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_ticks,
    plot_forest,
    plot_lines,
    title_figure,
)
from bayes_sota.core.tables import Report
from bayes_sota.core.text import in_points, shown_name

_XLABELS = {
    "congruence": "share of items that both get right (congruence)",
    "correlation": "correlation of the two methods' cases",
}
_WIDE = 60  # characters of a line of a title
_MOST_CLAIMS, _MOST = 60, 40  # rows of claims; of methods or pairs


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
    ends = ((x[0], p[0]), (x[-1], p[-1]))
    points = {f"at {x:.3g}: {chance(p, level)}": (x, p) for x, p in ends}
    levels = {f"level {level:.3g}": level}
    if claim.known is None:
        levels[f"averaged: {chance(answer, level)}"] = answer
    else:
        points = {f"given: {chance(answer, level)}": (claim.known, answer)} | points
    look: Any = {"variable": "p_false", "levels": levels, "points": points}
    label = f"{_XLABELS[claim.unknown]}\n(curve: probability that the claim is false)"
    panel = plot_lines({"": (x, p)}, label, **look, **pc_kwargs)
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
            "name": f"{shown_name(row['name'])} ({row[kind]:.2f})",
            "mean": means[row["name"]],
            "interval": row["interval"],
            "weak": not row["tied_with_best"],
        }
        for row in content["methods"][:_MOST]
    ]
    label = f"skill: mean and {content['prob']:.0%} interval (in brackets: P(best))"
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
        Of ``report_gate``.
    **pc_kwargs
        As of ``make_collection``.
    """
    compared, margin = report.about.comparison, report.content["margin"]
    limit = -compared.sign * margin * unit_of(compared)[0]
    panel = _draw_differences(report, [0.0, limit], **pc_kwargs)
    if margin:
        text = f"margin {in_points(margin, compared.are_shares)}"
        _mark(panel, limit, text, "winner_skill", height=0.4)
    _title(panel, report.sentences[0])
    return panel.collection


def plot_pairs(report: Report, **pc_kwargs: Any) -> PlotCollection:
    """Draw the differences of the first 40 pairs of methods with their intervals.

    Pairs that cannot be distinguished, adjusting for all of them, are grey.

    Parameters
    ----------
    report : Report
        Of ``report_pairs``.
    **pc_kwargs
        As of ``make_collection``.
    """
    panel = _draw_differences(report, [0.0], **pc_kwargs)
    apart, count = (report.content[key] for key in ("n_told_apart", "n_pairs"))
    more = f"\nthe first {_MOST} are drawn" * (count > _MOST)
    _title(panel, f"{apart:,} of {count:,} pairs of methods can be distinguished{more}")
    return panel.collection


def _draw_differences(report: Report, holds: list[float], **pc_kwargs: Any) -> Panel:
    """Differences of pairs with their intervals and a line at 0."""
    content, (factor, unit) = report.content, unit_of(report.about.comparison)
    rows = [
        {
            "name": " minus ".join(shown_name(row[side], 14) for side in "ab"),
            "mean": factor * row["difference"]["mean"],
            "interval": [factor * end for end in row["difference"]["interval"]],
            "weak": row.get("told_apart") is False,
        }
        for row in content["pairs"][:_MOST]
    ]
    every = np.concatenate([holds, *(row["interval"] for row in rows)])
    label = f"difference{f' ({unit.strip()})' * bool(unit)}, {content['prob']:.0%} interval"
    look: Any = {"holds": holds, "xticks": make_ticks(every.min(), every.max())}
    panel = plot_forest(rows, label, variable="difference", **look, **pc_kwargs)
    _mark(panel, 0.0, "no difference")
    return panel


def _title(panel: Panel, text: str) -> None:
    lines = (part for line in text.splitlines() for part in wrap(line, _WIDE))
    title_figure(panel.collection, "\n".join(lines))


def _mark(panel: Panel, place: float, text: str, color: str = "dark", height: float = 0.75) -> None:
    """A vertical line with its text above the first row."""
    panel.vline(f"line_{text.split()[0]}", place, COLORS[color])
    panel.text(f"text_{text.split()[0]}", place, height, f" {text}")
