"""Figures of claims: the curve over the unknown, and forests.

``tests/claims/test_claim_figures.py`` reads the artists back.
"""

from textwrap import wrap
from typing import Any

import numpy as np
from arviz_plots import PlotCollection

from bayes_sota.claims.summary import UNKNOWN, unit_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import COLORS, Panel, make_ticks, plot_forest, plot_lines, title_figure
from bayes_sota.core.tables import Report
from bayes_sota.core.text import in_points, in_prose, shown_name

_WIDE = 60
_MOST_CLAIMS, _MOST = 60, 40


def plot_claim(report: Report, **pc_kwargs: Any) -> PlotCollection:
    """Draw the probability that a claim is false over all values of the unknown.

    Parameters
    ----------
    report : Report
        From ``report_claim``.
    **pc_kwargs
        As in ``make_collection``.

    Examples
    --------
    >>> from bayes_sota.claims import Accuracies, report_claim
    >>> figure = plot_claim(report_claim(Accuracies(a=0.90, b=0.88, n=500)), backend="none")
    >>> figure.viz["figure_title"].item()["string"][:44]
    'The claim is supported at 0.05 only if both '
    """
    claim, content = report.about, report.content
    x, p = claim.curve().T
    if x[0] == x[-1]:
        raise InputError("everything is known, so there is no curve to draw")
    level, answer = content["level"], content["p_false"]
    ends = ((x[0], p[0]), (x[-1], p[-1]))
    points = {f"at {x:.3g}: {in_prose(p, level)}": (x, p) for x, p in ends}
    levels = {f"level {level:.3g}": level}
    if claim.value is None:
        levels[f"averaged: {in_prose(answer, level)}"] = answer
    else:
        points = {f"{claim.assumption}: {in_prose(answer, level)}": (claim.value, answer)} | points
    look: Any = {"variable": "p_false", "levels": levels, "points": points}
    label = f"{UNKNOWN[claim.unknown]}\n(curve: probability that the claim is false, numbers exact)"
    panel = plot_lines({"": (x, p)}, label, **look, **pc_kwargs)
    _title(panel, report.sentences[1].replace("It is", "The claim is", 1))
    return panel.collection


def plot_claims(report: Report, **pc_kwargs: Any) -> PlotCollection:
    """Draw the 60 most doubtful claims: P(false) with its range; supported ones are grey.

    Parameters
    ----------
    report : Report
        From ``claims_table``.
    **pc_kwargs
        As in ``make_collection``.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayes_sota import claims_table
    >>> review = pd.DataFrame({"accuracy_a": [0.9], "accuracy_b": [0.8], "n_test": [500]})
    >>> figure = plot_claims(claims_table(review), backend="none")
    """
    rows, level = report.content["claims"], report.content["level"]
    marks = [
        {
            "name": row["name"],
            "mean": row["p_false"],
            "interval": (row["p_false_lowest"], row["p_false_highest"]),
            "weak": row["verdict"] == "supported",
        }
        for row in sorted(rows, key=lambda row: -row["p_false"])[:_MOST_CLAIMS]
    ]
    label = "probability that the claim is false\n(bar: its range; grey: supported)"
    panel = plot_forest(marks, label, variable="p_false", holds=[0.0, level], **pc_kwargs)
    _mark(panel, level, f"level {level:.3g}")
    _title(panel, report.sentences[0], len(rows), _MOST_CLAIMS)
    return panel.collection


def plot_methods(report: Report, **pc_kwargs: Any) -> PlotCollection:
    """Draw each method's mean and interval; grey ones can be distinguished from the winner.

    Parameters
    ----------
    report : Report
        From ``report_methods``.
    **pc_kwargs
        As in ``make_collection``.

    Examples
    --------
    >>> from bayes_sota import Outcomes
    >>> from bayes_sota.claims import report_methods
    >>> answers = Outcomes(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> figure = plot_methods(report_methods(answers, random_seed=0), backend="none")
    """
    content, of = report.content, report.about.comparison
    means = dict(zip(of.methods, of.sign * of.skills.mean(axis=0), strict=True))
    kind = "p_best_uncorrected" if content["p_best"] is None else "p_best"
    rows = [
        {
            "name": f"{shown_name(row['name'])} ({row[kind]:.2f})",
            "mean": means[row["name"]],
            "interval": row["interval"],
            "weak": not row["tied_with_best"],
        }
        for row in content["methods"]
    ]
    label = f"skill: mean and {content['prob']:.0%} interval (in brackets: P(best))"
    panel = plot_forest(rows[:_MOST], label, **pc_kwargs)
    finding = f"{content['winner']} can be distinguished from every other method"
    if others := len(content["tied_with_best"]) - 1:
        finding = f"{others} of the other {len(rows) - 1} methods cannot be distinguished from "
        finding += content["winner"]
    _title(panel, finding, len(rows))
    return panel.collection


def plot_pairs(report: Report, **pc_kwargs: Any) -> PlotCollection:
    """Draw the first 40 differences with their intervals; undecided ones are grey.

    Parameters
    ----------
    report : Report
        From ``report_pairs`` or ``report_gate``.
    **pc_kwargs
        As in ``make_collection``.
    """
    content, of = report.content, report.about.comparison
    (factor, unit), margin = unit_of(of.are_shares), content.get("margin", 0.0)
    rows = [
        {
            "name": " minus ".join(shown_name(row[side], 14) for side in "ab"),
            "mean": factor * row["difference"]["mean"],
            "interval": [factor * end for end in row["difference"]["interval"]],
            "weak": row.get("told_apart") is False,
        }
        for row in content["pairs"][:_MOST]
    ]
    limit = -of.sign * factor * margin
    every = np.concatenate([[0.0, limit], *(row["interval"] for row in rows)])
    label = f"difference{f' ({unit.strip()})' * bool(unit)}, {content['prob']:.0%} interval"
    look: Any = {"holds": [0.0, limit], "xticks": make_ticks(every.min(), every.max())}
    panel = plot_forest(rows, label, variable="difference", **look, **pc_kwargs)
    _mark(panel, 0.0, "no difference")
    if margin:
        panel.vline("line_margin", limit, COLORS["winner_skill"])
        text = f" margin {in_points(margin, of.are_shares)} "
        panel.text("text_margin", limit, 0.4, text, align="right" if limit < 0 else "left")
    _title(panel, report.sentences[0], content["n_pairs"])
    return panel.collection


def _title(panel: Panel, text: str, count: int = 0, most: int = _MOST) -> None:
    lines = [*wrap(text, _WIDE), *[f"the first {most} are drawn"] * (count > most)]
    title_figure(panel.collection, "\n".join(lines))


def _mark(panel: Panel, place: float, text: str) -> None:
    panel.vline(f"line_{text.split()[0]}", place, COLORS["dark"])
    panel.text(f"text_{text.split()[0]}", place, 0.75, f" {text}")
