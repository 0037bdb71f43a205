"""Fig. 2 to 5 of Møllersen & Holsbø, drawn from exact laws and saved with their data.

A drawing consumes a tidy table of ``figure_data`` and computes nothing. No global state of
matplotlib is touched, and a file appears complete or not at all.
"""

import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayes_sota.errors import InputError
from bayes_sota.reproduce import figure_data
from bayes_sota.reproduce.published_numbers import load_published
from bayes_sota.whole_files import whole_file

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure_names", "reproduce_figure"]

Published = dict[str, Any]

# Okabe & Ito's colours, distinct for every kind of colour vision; the default line is black.
_BLACK, _BLUE, _RED, _GREEN, _GREY = "#000000", "#0072B2", "#D55E00", "#009E73", "#9a9a9a"
_WIDTHS = (_RED, "#56B4E9", _BLACK, _BLUE, "#E69F00")  # identical classifiers are red
_BIAS, _SD = "bias (accuracy)", "standard deviation (accuracy)"


def figure_names() -> list[str]:
    """Names that ``reproduce_figure`` takes.

    Examples
    --------
    >>> figure_names()
    ['figure-2', 'figure-3', 'figure-4', 'figure-5']
    """
    return list(_FIGURES)


def reproduce_figure(name: str, directory: str | os.PathLike[str]) -> list[Path]:
    """Compute a published figure again; save the image and the data behind it.

    Parameters
    ----------
    name : str
        One of ``figure_names()``.
    directory : path
        Where ``NAME.png`` and ``NAME.csv`` are written; made if it does not exist.

    Returns
    -------
    list of Path
        The image and the table.

    Raises
    ------
    InputError
        A name that does not exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     [path.name for path in reproduce_figure("figure-2", directory)]
    ['figure-2.png', 'figure-2.csv']
    """
    if name not in _FIGURES:
        raise InputError(f"no figure is named {name!r}: {', '.join(_FIGURES)}")
    compute, draw = _FIGURES[name]
    published = load_published("sample_maximum")
    data = compute(published)
    image = BytesIO()
    draw(data, published).savefig(image, format="png", dpi=160, metadata={"Software": None})
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    table = data.to_csv(index=False, float_format="%.10g", lineterminator="\n").encode()
    paths = [folder / f"{name}.png", folder / f"{name}.csv"]
    for path, content in zip(paths, (image.getvalue(), table), strict=True):
        with whole_file(path) as draft:
            draft.write_bytes(content)
    return paths


def _new_figure(rows: int, columns: int, width: float, height: float) -> tuple["Figure", Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for one in axes.flat:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(labelsize=9)
    return figure, axes


def draw_figure_2(data: "pd.DataFrame", published: Published) -> "Figure":
    """Cdf and pmf of the sample maximum on counts, with scores on top."""
    figure, axes = _new_figure(1, 2, 9.0, 3.8)
    cdf, pmf = axes[0]
    cdf.step(data["count"], data["cdf"], where="post", color=_BLACK)
    cdf.set_ylabel("cdf  $F(x)$, Eq. 2")
    pmf.vlines(data["count"], 0, data["pmf"], color=_BLACK, linewidth=2)
    pmf.set_ylim(bottom=0)
    pmf.set_ylabel("pmf  $f(x)$, Eq. 3")
    for axis in (cdf, pmf):
        axis.set_xlabel("right answers of the best classifier, $x$")
        _add_score_axis(axis, published["defaults"]["n_test"])
    figure.suptitle(f"Sample maximum of identical, independent classifiers: {_defaults(published)}",
                    fontsize=10)  # fmt: skip
    return figure


def _defaults(published: Published) -> str:
    part = published["defaults"]
    n, m = (f"{part[name]:,}".replace(",", "{,}") for name in ("n_test", "n_classifiers"))
    return rf"$n={n}$, $\theta={part['skill']:.2f}$, $m={m}$"


def _add_score_axis(axis: "Axes", n_test: int) -> None:
    from matplotlib.ticker import MultipleLocator

    def score(count: Any) -> Any:
        return count / n_test

    def count(score: Any) -> Any:
        return score * n_test

    top = axis.secondary_xaxis("top", functions=(score, count))
    top.xaxis.set_major_locator(MultipleLocator(0.005))
    top.set_xlabel(r"best observed score, $\hat\theta_{\max}$")
    top.tick_params(labelsize=9)


def draw_figure_3(data: "pd.DataFrame", published: Published) -> "Figure":
    """Two single classifiers, and where the best of many weaker ones lands."""
    figure, axes = _new_figure(1, 1, 8.0, 4.4)
    axis = axes[0, 0]
    curves = data[data["quantity"] == "pmf"]
    marks = data[data["quantity"] != "pmf"].set_index("quantity")["value"]
    for skill, colour in zip(sorted(curves["skill"].unique()), (_BLUE, _RED), strict=True):
        curve = curves[curves["skill"] == skill]
        axis.plot(curve["score"], curve["value"], color=colour,
                  label=rf"one classifier, $\theta={skill:.4f}$")  # fmt: skip
    _shade_chances(axis, curves[curves["skill"] == curves["skill"].max()], marks)
    _mark_scores(axis, marks, float(curves["value"].max()), published)
    axis.set_ylim(bottom=-0.1 * curves["value"].max(), top=1.2 * curves["value"].max())
    axis.set_xlim(0.882, 0.928)
    axis.set_xlabel(r"observed score, $\hat\theta$ (accuracy)")
    axis.set_ylabel("probability of the score")
    axis.legend(fontsize=8.5, loc="upper left", frameon=False)
    title = "A significantly better classifier rarely beats the best of many worse ones"
    axis.set_title(f"{title}: {_defaults(published)}", fontsize=9.5)
    return figure


def _shade_chances(axis: "Axes", curve: "pd.DataFrame", marks: "pd.Series[float]") -> None:
    areas = (
        ("expected_maximum", "p_beats_expected", r"\geq \mathrm{E}\,\hat\theta_{\max}", 0.35),
        ("upper_limit", "p_exceeds_upper", r"> \theta^m_{1-\alpha/2}", 0.9),
    )
    for limit, chance, event, alpha in areas:
        part = curve[curve["score"] >= marks[limit]]
        label = rf"$P(\hat\theta_{{m+1}} {event}) = {marks[chance]:.4f}$"
        axis.fill_between(part["score"], 0, part["value"], color=_GREEN, alpha=alpha,
                          linewidth=0, label=label)  # fmt: skip


def _mark_scores(
    axis: "Axes", marks: "pd.Series[float]", height: float, published: Published
) -> None:
    ends = [marks["interval_low"], marks["interval_high"]]
    level, prob = -0.02 * height, published["defaults"]["prob"]
    axis.plot(ends, [level, level], color=_BLUE, linewidth=4, solid_capstyle="butt",
              label=rf"{prob:.0%} interval of $\hat\theta=0.90$")  # fmt: skip
    for end in ends:
        axis.annotate(f"{end:.4f}", (end, 2 * level), color=_BLUE, ha="center", va="top",
                      fontsize=8.5)  # fmt: skip
    axis.axvline(marks["interval_high"], color=_RED, linestyle=":", linewidth=1, ymax=0.86)
    texts = {
        "expected_maximum": r"$\mathrm{E}\,\hat\theta_{\max}$",
        "upper_limit": r"$\theta^m_{1-\alpha/2}$",
    }
    for name, text in texts.items():
        axis.axvline(marks[name], color=_GREY, linewidth=1, ymax=0.62)
        axis.annotate(f"{text}\n{marks[name]:.4f}", (marks[name], 0.72 * height), ha="center",
                      va="bottom", fontsize=9)  # fmt: skip


_AXES = {
    "n_classifiers": r"number of classifiers, $m$",
    "n_test": r"number of test items, $n$",
    "skill": r"skill, $\theta$ (accuracy)",
}
_SYMBOLS = {"n_classifiers": "m", "n_test": "n", "skill": r"\theta"}


def draw_figure_4(data: "pd.DataFrame", published: Published) -> "Figure":
    """Bias above, standard deviation below, against each of the three parameters."""
    figure, axes = _new_figure(2, 3, 11.0, 6.2)
    for column, (varied, block) in enumerate(data.groupby("varied", sort=False)):
        for row, value in enumerate(("bias", "sd")):
            _draw_offsets(axes[row, column], block, value, published)
            for mark in published["figure4"][varied]:
                axes[row, column].axvline(mark, color=_GREY, linewidth=0.7, zorder=0)
        axes[1, column].set_xlabel(_AXES[str(varied)])
    _share_scale(axes, data)
    axes[0, 0].set_ylabel(_BIAS)
    axes[1, 0].set_ylabel(_SD)
    note = "grey lines: rows of Table 3; black: default values"
    figure.suptitle(f"Sample maximum at {_defaults(published)} ({note})", fontsize=10)
    return figure


def _draw_offsets(axis: "Axes", block: "pd.DataFrame", value: str, published: Published) -> None:
    offset_of, varied = str(block["offset_of"].iloc[0]), str(block["varied"].iloc[0])
    default = published["defaults"][offset_of]
    colours = iter((_BLUE, _RED))
    for offset, line in block.groupby("offset"):
        text = f"{offset:.2f}" if offset_of == "skill" else f"{offset:,.0f}"
        colour = _BLACK if offset == default else next(colours)
        axis.plot(line["value"], line[value], color=colour, linewidth=1.6,
                  label=f"${_SYMBOLS[offset_of]}={text}$".replace(",", "{,}"))  # fmt: skip
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
    figure, axes = _new_figure(1, 3, 11.5, 3.9)
    width, bias, sd = axes[0]
    _draw_widths(width, data[data["panel"] == "width"], published)
    curves = data[data["panel"] == "correlation"]
    for axis, value, label in ((bias, "bias", _BIAS), (sd, "sd", _SD)):
        for (line_width, line), colour in zip(curves.groupby("width"), _WIDTHS, strict=True):
            axis.plot(line["correlation"], line[value], color=colour, label=f"$d={line_width:g}$")
            axis.plot(line["correlation"].iloc[-1], line[value].iloc[-1], ".", color=colour,
                      clip_on=False)  # fmt: skip
        _mark_rows(axis, curves, value, published)
        axis.axvline(published["table1"]["correlation"], color=_GREY, linewidth=0.8, zorder=0)
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
    axis.plot(rows["correlation"], rows[value], "o", color=_BLACK, markerfacecolor="white",
              label="Table 1, rows 3 and 4")  # fmt: skip


def _draw_widths(axis: "Axes", data: "pd.DataFrame", published: Published) -> None:
    axis.plot(data["width"], data["bias"], color=_BLACK, label="bias")
    axis.plot(data["width"], data["sd"], color=_BLACK, linestyle="--", label="standard deviation")
    for mark in published["figure5"]["widths"][1:]:
        solid = mark == published["table1"]["uniform_width"]
        axis.axvline(mark, color=_GREY, linewidth=0.8, linestyle="-" if solid else "--", zorder=0)
    row = data[data["width"] == published["table1"]["uniform_width"]].iloc[0]
    axis.plot([row["width"]] * 2, row[["bias", "sd"]], "o", color=_BLACK, markerfacecolor="white",
              label="Table 1, row 2")  # fmt: skip
    axis.set_xlabel(r"width of the field, $d=b-a$ in $\mathcal{U}(a,b)$")
    axis.set_ylabel("bias and standard deviation (accuracy)")
    axis.set_ylim(bottom=0)
    axis.legend(fontsize=8.5, edgecolor="none", framealpha=1, loc="upper right")


_FIGURES: dict[
    str,
    tuple[Callable[[Published], "pd.DataFrame"], Callable[["pd.DataFrame", Published], "Figure"]],
] = {
    "figure-2": (figure_data.figure_2_data, draw_figure_2),
    "figure-3": (figure_data.figure_3_data, draw_figure_3),
    "figure-4": (figure_data.figure_4_data, draw_figure_4),
    "figure-5": (figure_data.figure_5_data, draw_figure_5),
}
