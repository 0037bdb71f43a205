"""Fig. 10 and 11 of Møllersen & Holsbø: AUCs, ROC curves and scores.

A drawing consumes a tidy table of ``auc_figure_data`` and computes nothing.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.published.auc_numbers import n_positive
from bayes_sota.published.plots_drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    RED,
    SKY,
    new_figure,
    thousands,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Published = dict[str, Any]
_PALE, _DARK = "#d0d0d0", "#8a8a8a"


def draw_figure_10(data: "pd.DataFrame", published: Published) -> "Figure":
    """Scores, ROC curves, and the law of the best AUC."""
    part = published["auc"]
    figure, axes = new_figure(1, 3, 13.0, 4.3)
    scores, curves, best = axes[0]
    _draw_scores(scores, data[data["panel"] == "a"])
    scores.legend(fontsize=8, frameon=False, loc="upper left")
    scores.set_ylabel("density")
    scores.set_title("(a) scores of one classifier", fontsize=9.5, loc="left")
    _draw_quartiles(curves, data[data["panel"] == "b"])
    curves.set_title("(b) ROC curves, one draw", fontsize=9.5, loc="left")
    _draw_law(best, data[data["panel"] == "c"], BLACK, "")
    best.set_title("(c) law of the best AUC", fontsize=9.5, loc="left")
    best.legend(fontsize=8, frameon=False, loc="upper right")
    figure.suptitle(
        f"Classifiers of AUC {part['auc']:.2f}: $m={thousands(part['n_classifiers'])}$, "
        f"$n={thousands(part['n_test'])}$ with {part['n_positive']} positives",
        fontsize=10.5,
    )
    return figure


def draw_figure_11(data: "pd.DataFrame", published: Published) -> "Figure":
    """What the printed melanoma estimate implies, without the leaderboard."""
    melanoma, example = published["melanoma"], published["auc"]
    figure, axes = new_figure(1, 1, 8.5, 4.6)
    axis = axes[0, 0]
    looks = (("melanoma", melanoma, BLACK), ("example", example, SKY))
    for panel, test_set, colour in looks:
        label = f"$n={thousands(test_set['n_test'])}$, {n_positive(test_set)} positives: "
        _draw_law(axis, data[data["panel"] == panel], colour, label)
    marks = data.set_index("series")
    for series, colour, label in (
        ("estimate", GREEN, "printed estimate of the best AUC"),
        ("observed", RED, "observed maximum, which it is to explain"),
    ):
        value = float(marks.loc[series, "x"])
        axis.axvline(value, ymax=0.62, color=colour, linewidth=1.6, label=f"{label}, {value:.4f}")
    low, high = (float(marks.loc["single", end]) for end in ("x", "y"))
    level = 0.03 * axis.get_ylim()[1]
    axis.plot([low, high], [level, level], color=RED, linewidth=4, solid_capstyle="butt",
              label=f"its 95% interval alone, {low:.4f} to {high:.4f}")  # fmt: skip
    axis.set_ylim(0, 1.75 * axis.get_ylim()[1])
    axis.legend(fontsize=8, frameon=False, loc="upper left")
    axis.set_title(
        f"Melanoma, no leaderboard at hand: best AUC if all {melanoma['v1']['n_classifiers']:,} "
        f"teams had AUC {melanoma['estimate']}",
        fontsize=10,
    )
    return figure


def _draw_scores(axis: "Axes", rows: "pd.DataFrame") -> None:
    """Densities of both classes; rugs of a draw, negatives at the bottom, positives at the top."""
    top = 1.25 * float(rows["y"].max())
    for name, colour, level in (("negative", GREY, 0.0), ("positive", BLACK, 0.95)):
        curve = rows[rows["series"] == f"{name} density"]
        axis.plot(curve["x"], curve["y"], color=colour, linewidth=1.8, label=f"{name}s")
        rug = rows[rows["series"] == f"{name} draw"]
        axis.vlines(rug["x"], level * top, (level + 0.05) * top, color=colour, linewidth=0.5)
    axis.set_ylim(0, top)
    axis.set_xlabel("score (sd of negatives)")


def _draw_quartiles(axis: "Axes", rows: "pd.DataFrame") -> None:
    """All curves pale, those with AUCs between the quartiles dark, the best black."""
    aucs = rows[rows["series"] == "auc"].set_index("classifier")["x"]
    low, high = aucs.quantile([0.25, 0.75])
    inner = aucs.between(low, high)
    curves = dict(list(rows[rows["series"] == "roc"].groupby("classifier")))
    _draw_steps(axis, [curves[j] for j in aucs.index[~inner]], _PALE, 0.4, "other classifiers")
    _draw_steps(axis, [curves[j] for j in aucs.index[inner]], _DARK, 0.4, "AUC between quartiles")
    _draw_steps(axis, [curves[aucs.idxmax()]], BLACK, 1.8, f"best, AUC {aucs.max():.3f}")
    _name_rates(axis)
    axis.legend(fontsize=8, frameon=False, loc="lower right")


def _draw_steps(
    axis: "Axes",
    curves: list["pd.DataFrame"],
    colour: str,
    width: float,
    label: str | None = None,
) -> None:
    """Stepped curves from (0, 0) to (1, 1)."""
    from matplotlib.collections import LineCollection

    lines = []
    for curve in curves:
        x, y = np.repeat(curve["x"], 2), np.repeat(curve["y"], 2)
        corners = np.column_stack([[*x, 1.0], [0.0, *y]])
        lines.append(np.vstack([[0.0, 0.0], corners, [1.0, 1.0]]))
    axis.add_collection(LineCollection(lines, colors=colour, linewidths=width, label=label))
    axis.autoscale_view()


def _name_rates(axis: "Axes") -> None:
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1.02)
    axis.set_xlabel("false positive rate")
    axis.set_ylabel("true positive rate")


def _draw_law(axis: "Axes", rows: "pd.DataFrame", colour: str, label: str) -> None:
    curve = rows[rows["series"] == "density"]
    marks = rows[rows["series"] != "density"].set_index("series")
    mean = float(marks.loc["mean", "x"])
    axis.plot(curve["x"], curve["y"], color=colour, linewidth=1.8, label=f"{label}exact density")
    axis.axvline(mean, ymax=0.5, color=colour, linestyle="--", linewidth=1.2,
                 label=f"{label}expected, {mean:.4f}")  # fmt: skip
    axis.set_xlabel("best AUC estimate")
    axis.set_ylabel("density")
    axis.set_ylim(bottom=0)
    if "interval" in marks.index:
        low, high = (float(marks.loc["interval", end]) for end in ("x", "y"))
        level = 0.03 * float(curve["y"].max())
        axis.plot([low, high], [level, level], color=BLUE, linewidth=4, solid_capstyle="butt",
                  label=f"95% interval,\n{low:.4f} to {high:.4f}")  # fmt: skip
