"""Fig. 8 and 9 of Møllersen & Holsbø: leaderboards, and fresh boards like them.

A drawing consumes a tidy table of ``board_figure_data`` and computes nothing.
"""

from typing import TYPE_CHECKING, Any

from bayes_sota.published.plots_drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    RED,
    new_figure,
    thousands,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Published = dict[str, Any]
_OBSERVED = r"observed maximum, $\hat\theta_{\max}$"


def draw_figure_8(data: "pd.DataFrame", part: Published) -> "Figure":
    """Scores and a fresh board from them; shrunk skills and a fresh board from these."""
    titles = {
        "a": "(a) scores, and the interval of the best alone",
        "b": "(b) a fresh board, were the scores the skills",
        "c": "(c) shrunk skills, and the estimate",
        "d": "(d) a fresh board from the shrunk skills",
    }
    return _draw_boards(data, part, titles, rows=2)


def draw_figure_9(data: "pd.DataFrame", part: Published) -> "Figure":
    """Scores and a fresh board from them."""
    titles = {
        "a": "(a) scores, and the interval of the best alone",
        "b": "(b) a fresh board, were the scores the skills",
    }
    return _draw_boards(data, part, titles, rows=1)


def _draw_boards(
    data: "pd.DataFrame", part: Published, titles: dict[str, str], rows: int
) -> "Figure":
    figure, axes = new_figure(rows, 2, 11.0, 1.0 + 3.4 * rows)
    counts = data["value"].where(data["low"].notna())
    top = 1.35 * float(counts.max())
    for axis, (panel, title) in zip(axes.flat, titles.items(), strict=True):
        _draw_panel(axis, panel, data[data["panel"] == panel], top)
        axis.set_title(title, fontsize=9.5, loc="left")
        axis.set_ylim(0, top)
        axis.set_xlim(part["figure"]["from_score"], part["figure"]["to_score"])
        axis.legend(fontsize=8, frameon=False, loc="upper left")
    for axis in axes[-1]:
        axis.set_xlabel("score (accuracy)")
    for axis in axes[:, 0]:
        axis.set_ylabel(f"teams per {part['figure']['items_per_bin']} items")
    figure.suptitle(
        rf"{part['name'].capitalize()}: $n={thousands(part['n_test'])}$, "
        rf"$\rho_0={part['correlation']}$, scores above {part['figure']['from_score']:g} shown",
        fontsize=10.5,
    )
    return figure


def _draw_panel(axis: "Axes", panel: str, rows: "pd.DataFrame", top: float) -> None:
    parts = {str(name): block for name, block in rows.groupby("quantity", sort=False)}
    _outline(axis, parts["observed"], "scores", color=GREY, fill=True)
    if "skills" in parts:
        _outline(axis, parts["skills"], r"shrunk skills, $\theta'$", color=BLACK)
    if "drawn" in parts:
        _outline(axis, parts["drawn"], "fresh board, one draw", color=BLACK)
        middle = (parts["expected"]["low"] + parts["expected"]["high"]) / 2
        axis.plot(middle, parts["expected"]["value"], color=BLUE, linewidth=1.2, linestyle="--",
                  label="fresh board, expected (exact)")  # fmt: skip
        value = parts["drawn_maximum"]["value"].iloc[0]
        axis.plot([value], [0.02 * top], "v", color=BLACK, markersize=4,
                  label=f"its best score, {value:.4f}")  # fmt: skip
    best = parts["observed_maximum"]["value"].iloc[0]
    axis.axvline(best, ymax=0.62, color=PURPLE, linestyle=":", linewidth=1.8,
                 label=f"{_OBSERVED} = {best:.4f}")  # fmt: skip
    if "outliers" in parts:
        values = parts["outliers"]["value"]
        label = f"{len(values)} best scores, {', '.join(f'{value:.4f}' for value in values)}"
        axis.plot(values, [0.02 * top] * len(values), "v", color=BLACK, markersize=4, label=label)
    colour = {"a": PURPLE, "b": BLUE, "c": GREEN, "d": RED}[panel]
    if "estimate" in parts:
        value = parts["estimate"]["value"].iloc[0]
        axis.axvline(value, ymax=0.62, color=colour, linewidth=1.8,
                     label=rf"estimate, $\theta_{{SOTA}}$ = {value:.4f}")  # fmt: skip
    if "expected_maximum" in parts:
        value = parts["expected_maximum"]["value"].iloc[0]
        axis.axvline(value, ymax=0.5, color=colour, linewidth=1.5,
                     label=rf"expected maximum = {value:.4f}")  # fmt: skip
    if "interval" in parts:
        low, high = parts["interval"][["low", "high"]].iloc[0]
        axis.plot([low, high], [0.06 * top] * 2, color=colour, linewidth=4, solid_capstyle="butt",
                  label=f"95% interval, {low:.4f} to {high:.4f}")  # fmt: skip


def _outline(
    axis: "Axes", bars: "pd.DataFrame", label: str, *, color: str, fill: bool = False
) -> None:
    edges = [*bars["low"], bars["high"].iloc[-1]]
    axis.stairs(bars["value"], edges, color=color, fill=fill, alpha=0.55 if fill else 1.0,
                linewidth=1.3, label=label)  # fmt: skip
