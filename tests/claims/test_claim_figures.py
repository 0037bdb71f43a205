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


def of_pairs(values: Any, **options: Any) -> tuple[pd.DataFrame, Any]:
    outcomes = Outcomes(values, **{"metric": "mean"} | options)
    report = report_pairs(outcomes, draws=2000, random_seed=0)
    return report.frame, plot_pairs(report)


@pytest.mark.parametrize("lower", [False, True])
def test_every_cell_of_the_matrix_of_pairs_is_the_row_less_the_column(lower: bool) -> None:
    """Methods, numbers, colours and dots from the data, whichever way is better."""
    rng = np.random.default_rng(0)
    means = np.array([0.3, 0.9, 0.35, 0.6]) * 10
    values, names = rng.normal(means, 1.0, (400, 4)), list("bdca")
    frame, figure = of_pairs(values, names=names, lower_is_better=lower)
    scores = values.mean(axis=0)
    order = np.argsort(scores if lower else -scores)
    t = scores[order][:, None] - scores[order]
    for row, column in np.argwhere(~np.eye(4, dtype=bool)).tolist():
        cell = artist(figure, f"cell_{row}_{column}", "difference")
        assert cell.get_position() == (column, -row)
        assert float(cell.get_text()) == pytest.approx(t[row, column], abs=0.006)
    chances = artist(figure, "cells", "difference").get_array()
    sign = -1 if lower else 1
    np.testing.assert_array_equal(chances > 0.5, sign * t > 0)
    dots = artist(figure, "told_apart", "difference").get_offsets()
    told = {
        (names.index(row.a), names.index(row.b)) for row in frame[frame.told_apart].itertuples()
    }
    drawn = {(int(order[round(-y - 0.3)]), int(order[int(x)])) for x, y in dots}
    assert drawn == told | {(b, a) for a, b in told}
    assert title_of_axes(figure).startswith(f"{len(told)} of 6 pairs of methods are told apart")


def title_of_axes(figure: Any) -> str:
    return str(figure.viz["figure_title"].item().get_text())


def test_the_matrix_of_many_methods_shows_the_best_without_numbers() -> None:
    rng = np.random.default_rng(1)
    frame, figure = of_pairs(rng.normal(np.linspace(1, 0, 43), 1.0, (60, 43)))
    assert title_of_axes(figure) == (
        f"{int(frame.told_apart.sum())} of 903 pairs of methods are told apart\n"
        "(the best 40 of 43 methods are drawn)"
    )
    assert "cell_0_1" not in figure.viz


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 12, 20, 40])
def test_names_and_numbers_of_the_matrix_of_pairs_stay_apart(count: int) -> None:
    values = np.random.default_rng(2).normal(np.linspace(0.9, 0.1, count), 0.3, (200, count))
    names = [f"a-model-with-a-long-name-{number}" for number in range(count)]
    figure = of_pairs(values, names=names)[1]
    assert overlaps(figure, "difference") == []
