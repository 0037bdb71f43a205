"""Fig. 2, 3 and 6 of Møllersen & Holsbø and Fig. 1 to 5 of v1: laws of the sample maximum.

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

__all__ = [
    "draw_figure_2",
    "draw_figure_3",
    "draw_figure_6",
    "draw_v1_figure_1",
    "draw_v1_figure_2",
    "draw_v1_figure_3",
    "draw_v1_figure_4",
    "draw_v1_figure_5",
]

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


def draw_v1_figure_2(data: "pd.DataFrame", published: Published) -> "Figure":
    """Cdf of the fewest failures, with accuracies."""
    title = "At least one classifier has at most $z$ failures, Fig. 2 of v1"
    figure, axis = _failures_axis(published, title)
    axis.step(data["failures"], data["cdf"], where="post", color=BLACK)
    axis.set_ylabel("cdf  $F(z)$, Eq. 1 of v1")
    return figure


def draw_v1_figure_3(data: "pd.DataFrame", published: Published) -> "Figure":
    """Pmf of the fewest failures, with accuracies."""
    figure, axis = _failures_axis(published, "Failures of the best classifier, Fig. 3 of v1")
    axis.vlines(data["failures"], 0, data["pmf"], color=BLACK, linewidth=2)
    axis.set_ylim(bottom=0)
    axis.set_ylabel("pmf  $f(z)$, Eq. 2 of v1")
    return figure


def _v1_defaults(published: Published) -> str:
    """The first version calls the skill p."""
    return defaults_text(published).replace(r"\theta", "p")


def _failures_axis(published: Published, title: str) -> tuple["Figure", "Axes"]:
    figure, axes = new_figure(1, 1, 6.0, 4.2)
    axis = axes[0, 0]
    axis.set_title(f"{title}\n{_v1_defaults(published)}", fontsize=10)
    axis.set_xlabel("failures of the best classifier, $z$")
    _add_score_axis(axis, published["defaults"]["n_test"], failures=True)
    return figure, axis


def _add_score_axis(axis: "Axes", n_test: int, *, failures: bool = False) -> None:
    from matplotlib.ticker import MultipleLocator

    def score(count: Any) -> Any:
        return 1 - count / n_test if failures else count / n_test

    def count(score: Any) -> Any:
        return (1 - score) * n_test if failures else score * n_test

    top = axis.secondary_xaxis("top", functions=(score, count))
    top.xaxis.set_major_locator(MultipleLocator(0.005))
    top.set_xlabel(r"best observed score, $\hat\theta_{\max}$ (accuracy)")
    top.tick_params(labelsize=9)


def draw_figure_3(data: "pd.DataFrame", published: Published) -> "Figure":
    """Two single classifiers, and where the best of many weaker ones lands."""
    title = "A significantly better classifier rarely beats the best of many worse ones"
    figure, axis, curves, marks = _draw_better(data, published, (BLUE, RED), title)
    _shade_chances(axis, curves, marks, (GREEN, GREEN))
    axis.legend(fontsize=8.5, loc="upper left", frameon=False)
    return figure


def draw_v1_figure_1(data: "pd.DataFrame", published: Published) -> "Figure":
    """The same in the colours of v1: the worse classifiers are a grey histogram."""
    title = "A better classifier against the best of many worse ones, Fig. 1 of v1"
    figure, axis, curves, marks = _draw_better(data, published, (GREY, RED), title)
    worse = curves[curves["skill"] == curves["skill"].min()]
    axis.fill_between(worse["score"], 0, worse["value"], step="mid", color=GREY, alpha=0.5)
    _shade_chances(axis, curves, marks, (BLUE, RED))
    axis.legend(fontsize=8.5, loc="upper left", frameon=False)
    return figure


def _draw_better(
    data: "pd.DataFrame", published: Published, colours: tuple[str, str], title: str
) -> tuple["Figure", "Axes", "pd.DataFrame", "pd.Series[float]"]:
    figure, axes = new_figure(1, 1, 8.0, 4.4)
    axis = axes[0, 0]
    curves = data[data["quantity"] == "pmf"]
    marks = data[data["quantity"] != "pmf"].set_index("quantity")["value"]
    for skill, colour in zip(sorted(curves["skill"].unique()), colours, strict=True):
        curve = curves[curves["skill"] == skill]
        axis.plot(curve["score"], curve["value"], color=colour,
                  label=rf"one classifier, $\theta={skill:.4f}$")  # fmt: skip
    _mark_scores(axis, marks, float(curves["value"].max()), published, colours)
    axis.set_ylim(bottom=-0.1 * curves["value"].max(), top=1.2 * curves["value"].max())
    axis.set_xlim(0.882, 0.928)
    axis.set_xlabel(r"observed score, $\hat\theta$ (accuracy)")
    axis.set_ylabel("probability of the score")
    axis.set_title(f"{title}: {defaults_text(published)}", fontsize=9.5)
    return figure, axis, curves, marks


def _shade_chances(
    axis: "Axes", curves: "pd.DataFrame", marks: "pd.Series[float]", colours: tuple[str, str]
) -> None:
    curve = curves[curves["skill"] == curves["skill"].max()]
    areas = (
        ("expected_maximum", "p_beats_expected", r"\geq \mathrm{E}\,\hat\theta_{\max}", 0.35),
        ("upper_limit", "p_exceeds_upper", r"> \theta^m_{1-\alpha/2}", 0.9),
    )
    for (limit, chance, event, alpha), colour in zip(areas, colours, strict=True):
        part = curve[curve["score"] >= marks[limit]]
        label = rf"$P(\hat\theta_{{m+1}} {event}) = {marks[chance]:.4f}$"
        axis.fill_between(part["score"], 0, part["value"], color=colour, alpha=alpha,
                          linewidth=0, label=label)  # fmt: skip


def _mark_scores(
    axis: "Axes",
    marks: "pd.Series[float]",
    height: float,
    published: Published,
    colours: tuple[str, str],
) -> None:
    ends = [marks["interval_low"], marks["interval_high"]]
    level, prob = -0.02 * height, published["defaults"]["prob"]
    axis.plot(ends, [level, level], color=colours[0], linewidth=4, solid_capstyle="butt",
              label=rf"{prob:.0%} interval of $\hat\theta=0.90$")  # fmt: skip
    for end in ends:
        axis.annotate(f"{end:.4f}", (end, 2 * level), color=BLACK, ha="center", va="top",
                      fontsize=8.5, bbox=_PLATE)  # fmt: skip
    axis.axvline(marks["interval_high"], color=colours[1], linestyle=":", linewidth=1, ymax=0.86,
                 zorder=0)  # fmt: skip
    texts = {
        "expected_maximum": r"$\mathrm{E}\,\hat\theta_{\max}$",
        "upper_limit": r"$\theta^m_{1-\alpha/2}$",
    }
    for name, text in texts.items():
        axis.axvline(marks[name], color=GREY, linewidth=1, ymax=0.62)
        axis.annotate(f"{text}\n{marks[name]:.4f}", (marks[name], 0.72 * height), ha="center",
                      va="bottom", fontsize=9)  # fmt: skip


def draw_v1_figure_4(data: "pd.DataFrame", published: Published) -> "Figure":
    """Failures of 1,000 classifiers, independent and given the reference classifier."""
    figure, axes = new_figure(2, 1, 7.0, 5.4)
    for axis, (name, block) in zip(axes[:, 0], data.groupby("classifiers", sort=False),
                                   strict=True):  # fmt: skip
        axis.bar(block["failures"], block["drawn"], width=1.0, color=GREY, label="one draw")
        axis.plot(block["failures"], block["expected"], color=BLACK, label="expected, exact")
        _name_panel(axis, str(name), published)
        axis.set_ylabel("number of classifiers")
    _same_scale(axes, "failures, $x$")
    axes[0, 0].legend(fontsize=8.5, frameon=False, loc="upper left")
    title = f"Failures of each classifier, Fig. 4 of v1: {_v1_defaults(published)}"
    figure.suptitle(title, fontsize=10)
    return figure


def draw_v1_figure_5(data: "pd.DataFrame", published: Published) -> "Figure":
    """Fewest failures among 1,000 classifiers, independent and given the reference classifier."""
    figure, axes = new_figure(2, 1, 7.0, 5.4)
    for axis, (name, block) in zip(axes[:, 0], data.groupby("classifiers", sort=False),
                                   strict=True):  # fmt: skip
        axis.bar(block["failures"], block["expected"], width=0.8, color=BLACK)
        limit = block["failures"][block["is_limit"]].iloc[0]
        axis.axvline(limit, color=RED, linewidth=1.2,
                     label=rf"upper 95% limit, {limit} failures")  # fmt: skip
        axis.legend(fontsize=8.5, frameon=False, loc="upper left")
        _name_panel(axis, str(name), published)
        axis.set_ylabel("expected count")
    _same_scale(axes, "fewest failures, $z$")
    size = f"{published['simulation']['repetitions']:,}"
    title = f"Failures of the best classifier in {size} boards, Fig. 5 of v1"
    figure.suptitle(f"{title}: {_v1_defaults(published)}", fontsize=10)
    return figure


def _name_panel(axis: "Axes", name: str, published: Published) -> None:
    rho, count = published["table1"]["correlation"], published["fixed_reference"]["reference_count"]
    texts = {
        "independent": "(a) independent classifiers",
        "dependent": rf"(b) dependent, $\rho={rho}$, reference right on {count:,} items",
    }
    axis.set_title(texts[name], fontsize=9.5, loc="left")


def _same_scale(axes: Any, label: str) -> None:
    """Both panels to the same scale, so that their spreads can be compared."""
    top = max(axis.get_ylim()[1] for axis in axes[:, 0])
    ends = [axis.get_xlim() for axis in axes[:, 0]]
    for axis in axes[:, 0]:
        axis.set_ylim(0, top)
        axis.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))
    axes[-1, 0].set_xlabel(label)
