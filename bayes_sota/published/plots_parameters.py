"""Fig. 4 and 5 of Møllersen & Holsbø: bias and standard deviation against each parameter.

A drawing consumes a tidy table of ``figure_data`` and computes nothing.
"""

from typing import TYPE_CHECKING, Any

from bayes_sota.published.plots_drawing import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    RED,
    SKY,
    defaults_text,
    new_figure,
    thousands,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Published = dict[str, Any]

_WIDTHS = (RED, SKY, BLACK, BLUE, ORANGE)  # identical classifiers are red
_BIAS, _SD = "bias (accuracy)", "standard deviation (accuracy)"

_AXES = {
    "n_classifiers": r"number of classifiers, $m$",
    "n_test": r"number of test items, $n$",
    "skill": r"skill, $\theta$ (accuracy)",
}
_SYMBOLS = {"n_classifiers": "m", "n_test": "n", "skill": r"\theta"}


def draw_figure_4(data: "pd.DataFrame", published: Published) -> "Figure":
    """Bias above, standard deviation below, against each of the three parameters."""
    figure, axes = new_figure(2, 3, 11.0, 6.2)
    for column, (varied, block) in enumerate(data.groupby("varied", sort=False)):
        for row, value in enumerate(("bias", "sd")):
            _draw_offsets(axes[row, column], block, value, published)
            for mark in published["figure4"][varied]:
                axes[row, column].axvline(mark, color=GREY, linewidth=0.7, zorder=0)
        axes[1, column].set_xlabel(_AXES[str(varied)])
    _share_scale(axes, data)
    axes[0, 0].set_ylabel(_BIAS)
    axes[1, 0].set_ylabel(_SD)
    note = "grey lines: rows of Table 3; black: default values"
    figure.suptitle(f"Sample maximum at {defaults_text(published)} ({note})", fontsize=10)
    return figure


def _draw_offsets(axis: "Axes", block: "pd.DataFrame", value: str, published: Published) -> None:
    offset_of, varied = str(block["offset_of"].iloc[0]), str(block["varied"].iloc[0])
    default = published["defaults"][offset_of]
    colours = iter((BLUE, RED))
    for offset, line in block.groupby("offset"):
        text = f"{offset:.2f}" if offset_of == "skill" else thousands(float(offset))
        colour = BLACK if offset == default else next(colours)
        axis.plot(line["value"], line[value], color=colour, linewidth=1.6,
                  label=f"${_SYMBOLS[offset_of]}={text}$")  # fmt: skip
    axis.legend(fontsize=8.5, frameon=False)
    if varied != "skill":
        axis.set_xscale("log")


def _share_scale(axes: Any, data: "pd.DataFrame") -> None:
    """The same vertical scale for a row, as in the paper."""
    for row, value in zip(axes, ("bias", "sd"), strict=True):
        for axis in row:
            axis.set_ylim(0, 1.05 * data[value].max())


def draw_figure_5(data: "pd.DataFrame", published: Published) -> "Figure":
    """Bias and sd against the width of the field, and against the correlation."""
    figure, axes = new_figure(1, 3, 11.5, 3.9)
    width, bias, sd = axes[0]
    _draw_widths(width, data[data["panel"] == "width"], published)
    curves = data[data["panel"] == "correlation"]
    for axis, value, label in ((bias, "bias", _BIAS), (sd, "sd", _SD)):
        for (line_width, line), colour in zip(curves.groupby("width"), _WIDTHS, strict=True):
            axis.plot(line["correlation"], line[value], color=colour, label=f"$d={line_width:g}$")
            axis.plot(line["correlation"].iloc[-1], line[value].iloc[-1], ".", color=colour,
                      clip_on=False)  # fmt: skip
        _mark_rows(axis, curves, value, published)
        axis.axvline(published["table1"]["correlation"], color=GREY, linewidth=0.8, zorder=0)
        axis.set_xlabel(r"correlation with the reference, $\rho_0$")
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0)
    bias.legend(fontsize=8.5, frameon=False)
    note = "curves end where Eq. 8 or its upper counterpart forbids the correlation"
    figure.suptitle(rf"Non-identical and dependent classifiers, $\theta_{{SOTA}}=0.90$ ({note})",
                    fontsize=10)  # fmt: skip
    return figure


def _mark_rows(axis: "Axes", curves: "pd.DataFrame", value: str, published: Published) -> None:
    table = published["table1"]
    here = curves["correlation"] == table["correlation"]
    rows = curves[here & curves["width"].isin([0.0, table["uniform_width"]])]
    axis.plot(rows["correlation"], rows[value], "o", color=BLACK, markerfacecolor="white",
              label="Table 1, rows 3 and 4")  # fmt: skip


def _draw_widths(axis: "Axes", data: "pd.DataFrame", published: Published) -> None:
    axis.plot(data["width"], data["bias"], color=BLACK, label="bias")
    axis.plot(data["width"], data["sd"], color=BLACK, linestyle="--", label="standard deviation")
    for mark in published["figure5"]["widths"][1:]:
        solid = mark == published["table1"]["uniform_width"]
        axis.axvline(mark, color=GREY, linewidth=0.8, linestyle="-" if solid else "--", zorder=0)
    row = data[data["width"] == published["table1"]["uniform_width"]].iloc[0]
    axis.plot([row["width"]] * 2, row[["bias", "sd"]], "o", color=BLACK, markerfacecolor="white",
              label="Table 1, row 2")  # fmt: skip
    axis.set_xlabel(r"width of the field, $d=b-a$ in $\mathcal{U}(a,b)$")
    axis.set_ylabel("bias and standard deviation (accuracy)")
    axis.set_ylim(bottom=0)
    axis.legend(fontsize=8.5, edgecolor="none", framealpha=1, loc="upper right")
