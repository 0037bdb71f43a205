"""Fig. 2, 3 and 6 of Møllersen & Holsbø: laws of the sample maximum.

A drawing consumes a tidy table of ``figure_data`` and computes nothing.
"""

from typing import TYPE_CHECKING, Any

from bayes_sota.published.plots_drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    RED,
    defaults_text,
    new_figure,
    thousands,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Published = dict[str, Any]
_PLATE = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8}


def draw_figure_2(data: "pd.DataFrame", published: Published) -> "Figure":
    """Cdf and pmf of the sample maximum on counts, with scores on top."""
    title = f"Sample maximum of identical, independent classifiers: {defaults_text(published)}"
    return _draw_law(data, published, ("Eq. 2", "Eq. 3"), title)


def draw_figure_6(data: "pd.DataFrame", published: Published) -> "Figure":
    """Cdf and pmf of the sample maximum of classifiers with uniform skills."""
    part, defaults = published["table1"], published["defaults"]
    n, m = thousands(defaults["n_test"]), thousands(defaults["n_classifiers"])
    title = (
        "Sample maximum of non-identical, independent classifiers: "
        rf"$n={n}$, $m={m}$, $\theta\sim\mathcal{{U}}(a,b)$ with $b-a={part['uniform_width']}$"
        rf" and $\theta_{{SOTA}}={part['theta_sota']:.2f}$"
    )
    return _draw_law(data, published, ("Eq. 4", "Eq. 5"), title)


def _draw_law(
    data: "pd.DataFrame", published: Published, equations: tuple[str, str], title: str
) -> "Figure":
    figure, axes = new_figure(1, 2, 9.0, 3.8)
    cdf, pmf = axes[0]
    cdf.step(data["count"], data["cdf"], where="post", color=BLACK)
    cdf.set_ylabel(f"cdf  $F(x)$, {equations[0]}")
    pmf.vlines(data["count"], 0, data["pmf"], color=BLACK, linewidth=2)
    pmf.set_ylim(bottom=0)
    pmf.set_ylabel(f"pmf  $f(x)$, {equations[1]}")
    for axis in (cdf, pmf):
        axis.set_xlabel("right answers of the best classifier, $x$")
        _add_score_axis(axis, published["defaults"]["n_test"])
    figure.suptitle(title, fontsize=10)
    return figure


def _add_score_axis(axis: "Axes", n_test: int) -> None:
    from matplotlib.ticker import MultipleLocator

    scales: Any = (lambda count: count / n_test, lambda score: score * n_test)
    top = axis.secondary_xaxis("top", functions=scales)
    top.xaxis.set_major_locator(MultipleLocator(0.005))
    top.set_xlabel(r"best observed score, $\hat\theta_{\max}$ (accuracy)")
    top.tick_params(labelsize=9)


def draw_figure_3(data: "pd.DataFrame", published: Published) -> "Figure":
    """Two single classifiers, and where the best of many weaker ones lands."""
    figure, axes = new_figure(1, 1, 8.0, 4.4)
    axis = axes[0, 0]
    curves = data[data["quantity"] == "pmf"]
    marks = data[data["quantity"] != "pmf"].set_index("quantity")["value"]
    for skill, colour in zip(sorted(curves["skill"].unique()), (BLUE, RED), strict=True):
        curve = curves[curves["skill"] == skill]
        axis.plot(curve["score"], curve["value"], color=colour,
                  label=rf"one classifier, $\theta={skill:.4f}$")  # fmt: skip
    _mark_scores(axis, marks, float(curves["value"].max()), published)
    axis.set_ylim(bottom=-0.1 * curves["value"].max(), top=1.2 * curves["value"].max())
    axis.set_xlim(0.882, 0.928)
    axis.set_xlabel(r"observed score, $\hat\theta$ (accuracy)")
    axis.set_ylabel("probability of the score")
    title = "A significantly better classifier rarely beats the best of many worse ones"
    axis.set_title(f"{title}: {defaults_text(published)}", fontsize=9.5)
    _shade_chances(axis, curves, marks)
    axis.legend(fontsize=8.5, loc="upper left", frameon=False)
    return figure


def _shade_chances(axis: "Axes", curves: "pd.DataFrame", marks: "pd.Series[float]") -> None:
    curve = curves[curves["skill"] == curves["skill"].max()]
    areas = (
        ("expected_maximum", "p_beats_expected", r"\geq \mathrm{E}\,\hat\theta_{\max}", 0.35),
        ("upper_limit", "p_exceeds_upper", r"> \theta^m_{1-\alpha/2}", 0.9),
    )
    for limit, chance, event, alpha in areas:
        part = curve[curve["score"] >= marks[limit]]
        label = rf"$P(\hat\theta_{{m+1}} {event}) = {marks[chance]:.4f}$"
        axis.fill_between(part["score"], 0, part["value"], color=GREEN, alpha=alpha,
                          linewidth=0, label=label)  # fmt: skip


def _mark_scores(
    axis: "Axes",
    marks: "pd.Series[float]",
    height: float,
    published: Published,
) -> None:
    ends = [marks["interval_low"], marks["interval_high"]]
    level, prob = -0.02 * height, published["defaults"]["prob"]
    axis.plot(ends, [level, level], color=BLUE, linewidth=4, solid_capstyle="butt",
              label=rf"{prob:.0%} interval of $\hat\theta=0.90$")  # fmt: skip
    for end in ends:
        axis.annotate(f"{end:.4f}", (end, 2 * level), color=BLACK, ha="center", va="top",
                      fontsize=8.5, bbox=_PLATE)  # fmt: skip
    axis.axvline(marks["interval_high"], color=RED, linestyle=":", linewidth=1, ymax=0.86,
                 zorder=0)  # fmt: skip
    texts = {
        "expected_maximum": r"$\mathrm{E}\,\hat\theta_{\max}$",
        "upper_limit": r"$\theta^m_{1-\alpha/2}$",
    }
    for name, text in texts.items():
        axis.axvline(marks[name], color=GREY, linewidth=1, ymax=0.62)
        axis.annotate(f"{text}\n{marks[name]:.4f}", (marks[name], 0.72 * height), ha="center",
                      va="bottom", fontsize=9)  # fmt: skip
