"""The figures of claims draw their tables, say what they show, and keep their labels apart."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_sota.claims.accuracies import Accuracies
from bayes_sota.claims.means import Means
from bayes_sota.claims.plots import plot_claim, plot_claims, plot_gate, plot_methods, plot_pairs
from bayes_sota.claims.summary import report_claim
from bayes_sota.claims.summary_gate import report_gate
from bayes_sota.claims.summary_methods import report_methods, report_pairs
from bayes_sota.claims.summary_review import claims_table
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import COLORS
from bayes_sota.data.outcomes import Outcomes


def title_of(figure: Any) -> str:
    return figure.viz["figure_title"].item()["string"]


def artist(figure: Any, label: str, variable: str) -> dict[str, Any]:
    return figure.viz[label][variable].item()


def overlaps(figure: Any, variable: str) -> list[tuple[str, str]]:
    """Pairs of texts of a matplotlib figure that cover each other, or leave the figure."""
    axes = figure.viz["plot"][variable].item()
    canvas = axes.figure.canvas
    canvas.draw()
    texts = [*axes.texts, *axes.get_yticklabels(), *axes.get_xticklabels(), axes.xaxis.label]
    shown = [(text.get_text(), number) for number, text in enumerate(texts) if text.get_text()]
    boxes = {of: texts[of[1]].get_window_extent() for of in shown}
    found = [
        (one[0], other[0])
        for (one, box), (other, second) in combinations(boxes.items(), 2)
        if box.padded(-0.5).overlaps(second.padded(-0.5))
    ]
    width = canvas.get_width_height()[0]
    return found + [(text[0], "edge") for text, b in boxes.items() if b.x0 < -1 or b.x1 > width + 1]


# Two numbers


@pytest.mark.parametrize(
    "claim",
    [Accuracies(a=0.9, b=0.88, n=500), Accuracies(a=0.8, b=0.79, n=100, known=0.7),
     Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.1), known=0.7), Means(a=0.81, b=0.80, n=100)],
    ids=["unknown", "known", "correlation", "means"],
)  # fmt: skip
def test_the_curve_its_lines_and_its_title(claim: Any) -> None:
    report = report_claim(claim)
    figure = plot_claim(report, backend="none")
    drawn = artist(figure, "line_0", "p_false")
    np.testing.assert_array_equal(np.column_stack([drawn["x"], drawn["y"]]), claim.curve())
    assert artist(figure, "level_0", "p_false")["y"][0] == 0.05
    if claim.known is None:
        assert artist(figure, "level_1", "p_false")["y"][0] == report.content["p_false"]
    else:
        assert artist(figure, "point_0", "p_false")["x"] == claim.known
    assert title_of(figure).replace("\n", " ") == report.sentences[1].replace(
        "It is", "The claim is"
    )
    assert overlaps(plot_claim(report), "p_false") == []


def test_a_known_difference_has_no_curve() -> None:
    report = report_claim(Means(a=0.81, b=0.80, n=100, sd_difference=0.1))
    with pytest.raises(InputError, match="nothing that matters is unknown"):
        plot_claim(report)


# A review


def review(size: int, name: str = "Paper {}") -> Any:
    rng = np.random.default_rng(size)
    n = rng.integers(50, 5000, size)
    a = rng.uniform(0.6, 0.98, size)
    b = a - rng.uniform(0, 0.08, size)
    columns = {"accuracy_a": a, "accuracy_b": b, "n_test": n}
    return claims_table(pd.DataFrame(columns | {"name": [name.format(i) for i in range(size)]}))


@pytest.mark.parametrize("size", [5, 100])
def test_the_most_doubtful_claims_are_drawn_with_their_ranges(size: int) -> None:
    table = review(size)
    figure, frame = plot_claims(table, backend="none"), table.frame
    supported = frame["verdict"] == "supported"
    kept = frame["p_false"].rank(ascending=False) <= 60
    for suffix, holds in (("", ~supported & kept), ("_weak", supported & kept)):
        if holds.any():
            dots = artist(figure, f"mean{suffix}", "p_false")
            np.testing.assert_allclose(np.sort(dots["x"]), np.sort(frame["p_false"][holds]))
            assert (np.diff(dots["x"]) <= 0).all()
            bars = np.reshape(artist(figure, f"interval{suffix}", "p_false")["x"], (-1, 3))
            assert np.nanmax(bars) == pytest.approx(frame["p_false_highest"][holds].max())
    assert ("the 60 most doubtful are drawn" in title_of(figure)) == (size > 60)


@pytest.mark.parametrize(("size", "name"), [(1, "Paper {}"), (12, 40 * "long" + " {}")])
def test_labels_of_the_forest_do_not_overlap(size: int, name: str) -> None:
    assert overlaps(plot_claims(review(size, name)), "p_false") == []


# A gate


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_the_gate_shows_the_difference_with_0_and_the_margin(margin: float) -> None:
    rng = np.random.default_rng(0)
    answers = Outcomes(rng.random((400, 2)) < [0.8, 0.79], names=["new", "old"])
    report = report_gate(answers, ("new", "old"), margin=margin)
    figure = plot_gate(report, backend="none")
    ends = [100 * end for end in report.content["pairs"][0]["difference"]["interval"]]
    assert artist(figure, "interval", "difference")["x"][:2] == pytest.approx(ends)
    assert artist(figure, "line_no", "difference")["x"] == 0
    assert ("line_margin" in figure.viz) == bool(margin)
    if margin:
        assert artist(figure, "line_margin", "difference")["x"] == -2
    assert title_of(figure).replace("\n", " ") == report.sentences[0]
    assert overlaps(plot_gate(report), "difference") == []


# Methods


def compared(values: Any, **options: Any) -> tuple[Any, Any]:
    outcomes = Outcomes(values, **{"metric": "mean"} | options)
    report = report_methods(outcomes, random_seed=0, selection=False)
    return report.about.comparison, plot_methods(report, backend="none")


def test_methods_are_drawn_best_first_and_the_tied_in_colour() -> None:
    rng = np.random.default_rng(0)
    found, figure = compared(rng.normal([0.80, 0.60, 0.805], 0.1, (200, 3)), names=["b", "c", "a"])
    order = np.argsort(-found.scores)
    bars = np.reshape(artist(figure, "interval", "skill")["x"], (-1, 3))[:, :2]
    np.testing.assert_allclose(bars, found.interval()[order[:2]], atol=1e-9)
    assert artist(figure, "interval", "skill")["color"] == COLORS["theta_sota"]
    assert artist(figure, "mean_weak", "skill")["y"] == -2
    best = found.methods[order[0]]
    assert title_of(figure) == f"1 of the other 2 methods cannot be distinguished from {best}"
    errors = np.random.default_rng(1).normal(0, [1.0, 2.0], (200, 2))  # the smallest is first
    _, figure = compared(errors, metric="rmse", names=["good", "bad"])
    first, second = (float(artist(figure, f"mean{of}", "skill")["x"][0]) for of in ("", "_weak"))
    assert 0 < first < second
    assert title_of(figure) == "good can be distinguished from every other method"


# Pairs


@pytest.mark.parametrize(("size", "lower"), [(4, False), (4, True), (12, False)])
def test_the_first_pairs_are_drawn_with_their_intervals(size: int, lower: bool) -> None:
    values = np.random.default_rng(0).normal(np.linspace(9, 3, size), 1.0, (400, size))
    names = [f"a-model-with-a-long-name-{number}" for number in range(size)]
    outcomes = Outcomes(values, names=names, metric="mean", lower_is_better=lower)
    report = report_pairs(outcomes, draws=2000, random_seed=0)
    figure, rows = plot_pairs(report), report.content["pairs"]
    dots = {suffix: artist(figure, f"mean{suffix}", "difference").get_offsets().data
            for suffix in ("", "_weak") if f"mean{suffix}" in figure.viz}  # fmt: skip
    drawn = {-round(y): (x, not suffix) for suffix, at in dots.items() for x, y in at}
    assert len(drawn) == min(len(rows), 40)
    for place, (x, is_apart) in drawn.items():
        assert x == pytest.approx(rows[place]["difference"]["mean"])
        assert is_apart == rows[place]["told_apart"]
        assert (x < 0) == lower or not is_apart
    title = str(figure.viz["figure_title"].item().get_text())
    told = report.content["n_told_apart"]
    assert title.startswith(f"{told} of {len(rows)} pairs of methods are told apart")
    assert ("the first 40 are drawn" in title) == (len(rows) > 40)
    assert overlaps(figure, "difference") == []
