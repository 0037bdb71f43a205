"""The figures of claims draw their tables, say what they show, and keep their labels apart."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.means import ReportedMeans, false_claim_probability_of_means
from bayes_sota.claims.plots import plot_claims, plot_methods, plot_pairs
from bayes_sota.claims.plots_curves import plot_claim_sensitivity
from bayes_sota.claims.sample_exact import comparison_tree
from bayes_sota.claims.summary_differences import report_pairs
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import COLORS, spread_out
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.comparison import compare_methods

COLUMNS = ["p_false", "p_false_lowest", "p_false_highest"]
BACKENDS = ("matplotlib", "none")


def curve_of(a: float, b: float, n: int, points: int = 201) -> np.ndarray:
    shared = np.linspace(max(0, a + b - 1), b, points)
    return np.column_stack([shared, false_claim_probability(a, b, n, shared)])


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


# Sensitivity


def test_the_curve_its_ends_and_lines_are_drawn() -> None:
    curve = curve_of(0.9, 0.88, 500)
    frame = pd.DataFrame(curve, columns=["congruence", "p_false"])
    figure = plot_claim_sensitivity(frame, p_false=0.093, backend="none")
    drawn = artist(figure, "curve", "p_false")
    np.testing.assert_array_equal(np.column_stack([drawn["x"], drawn["y"]]), curve)
    assert artist(figure, "level", "p_false")["y"] == 0.05
    assert artist(figure, "average", "p_false")["y"] == 0.093
    for label, shared in (("least", 0.78), ("largest", 0.88)):
        point = artist(figure, label, "p_false")
        exact = false_claim_probability(0.9, 0.88, 500, shared)
        assert (point["x"], point["y"]) == (pytest.approx(shared), pytest.approx(exact, abs=1e-6))
    assert "assumed" not in figure.viz


def test_the_title_says_what_the_claim_needs() -> None:
    for a, b, n, level in ((0.9, 0.88, 500, 0.01), (0.75, 0.72, 640, 0.1)):
        figure = plot_claim_sensitivity(curve_of(a, b, n), level=level, backend="none")
        needed = brentq(lambda x, a=a, b=b, n=n, level=level:
                        false_claim_probability(a, b, n, x) - level, a + b - 1, b)  # fmt: skip
        printed = f"only if both get at least {np.ceil(1000 * needed) / 10:.1f}% of the items right"
        assert title_of(figure) == f"The claim holds at {100 * level:g}% {printed}"
    holds = plot_claim_sensitivity(curve_of(0.95, 0.85, 500), title="X against Y", backend="none")
    assert title_of(holds) == "X against Y\nThe claim holds at 5% whatever the congruence"
    never = plot_claim_sensitivity(curve_of(0.8, 0.79, 100), backend="none")
    assert title_of(never) == "The claim holds at 5% at no congruence"
    # accuracy 1: a single congruence is possible
    only = plot_claim_sensitivity(curve_of(1.0, 0.9, 500), backend="none")
    assert "whatever" in title_of(only)


def test_means_and_an_assumed_value() -> None:
    r = np.linspace(0, 0.95, 191)
    p = false_claim_probability_of_means(0.81, 0.80, 100, sd=(0.1, 0.1), correlation=r)
    figure = plot_claim_sensitivity(
        pd.DataFrame({"correlation": r, "p_false": p}), assumed=0.7, unknown="correlation",
        backend="none",
    )  # fmt: skip
    # t(99) at 5% is 1.6604: 0.1 = 1.6604 * 0.1 * sqrt(2 (1 - r))
    assert title_of(figure).endswith("correlate by at least 0.819")
    assert artist(figure, "assumed", "p_false")["y"] == pytest.approx(0.0999, abs=1e-4)
    assert artist(figure, "assumed", "p_false")["x"] == [0.7]
    assert (
        artist(figure, "largest_label", "p_false")["string"] == "correlation 0.95: P(false) 0.001"
    )
    assert "average" not in figure.viz
    # at 0.95 it is not yet, and at 0.955 it is
    claim = ReportedMeans(0.81, 0.80, 100, sd=(0.2, 0.2))
    asked = {"unknown": "correlation", "backend": "none"}
    figure = plot_claim_sensitivity(claim.curve(50), needed=claim.needed(0.05), **asked)
    assert title_of(figure).endswith("only if their cases correlate by at least 0.955")
    title = title_of(plot_claim_sensitivity(claim.curve(50), **asked))
    assert title == "The claim holds at 5% at no correlation up to 0.95"


@pytest.mark.parametrize("claim", [(0.9, 0.88, 500), (0.8, 0.79, 100)], ids=str)
def test_labels_of_the_curve_do_not_overlap(claim: tuple[float, float, int]) -> None:
    average = false_claim_probability(*claim)
    figure = plot_claim_sensitivity(curve_of(*claim), p_false=average, backend="matplotlib")
    assert overlaps(figure, "p_false") == []


def test_heights_are_spread_as_little_as_needed() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 7) * 20:
        heights = np.sort(rng.uniform(0, 1, size))
        moved = np.array(spread_out(heights.tolist(), 0.1))
        assert np.all(np.diff(moved) >= 0.1 - 1e-9)
        assert moved.mean() == pytest.approx(heights.mean())
        if np.all(np.diff(heights) >= 0.1):
            np.testing.assert_allclose(moved, heights)


# Forest


def forest(size: int, groups: int = 0, name: str = "Paper {}") -> pd.DataFrame:
    rng = np.random.default_rng(size)
    n = rng.integers(50, 5000, size)
    a = rng.uniform(0.6, 0.98, size)
    b = a - rng.uniform(0, 0.08, size)
    shared = (None, "max", "min")
    columns = {k: false_claim_probability(a, b, n, c) for k, c in zip(COLUMNS, shared, strict=True)}
    columns["name"] = [name.format(i) for i in range(size)]
    if groups:
        columns["group"] = [f"field {i}" for i in rng.integers(0, groups, size)]
    return pd.DataFrame(columns)


KINDS = ("supported", "depends", "not_supported")


@pytest.mark.parametrize(("size", "groups"), [(5, 0), (350, 4)])
def test_every_claim_is_drawn_once_and_sorted(size: int, groups: int) -> None:
    frame = forest(size, groups)
    figure = plot_claims(frame, backend="none")
    drawn = {kind for kind in KINDS if f"p_false_{kind}" in figure.viz}
    dots = [artist(figure, f"p_false_{kind}", "p_false") for kind in drawn]
    x, y = (np.concatenate([dot[axis] for dot in dots]) for axis in "xy")
    np.testing.assert_allclose(np.sort(x), np.sort(frame["p_false"]))
    assert len(np.unique(y)) == size
    assert (np.diff(x[np.argsort(-y)]) < 0).sum() <= max(groups - 1, 0)  # only where a group ends
    verdicts = {"supported": frame[COLUMNS[2]] <= 0.05, "not_supported": frame[COLUMNS[1]] > 0.05}
    for kind, holds in verdicts.items():
        assert (kind in drawn) == (f"range_{kind}" in figure.viz) == holds.any()
        if holds.any():
            bars = np.reshape(artist(figure, f"range_{kind}", "p_false")["x"], (-1, 3))
            expected = np.sort(frame.loc[holds, COLUMNS[1:]].to_numpy(), axis=0)
            np.testing.assert_allclose(np.sort(bars[:, :2], axis=0), expected)
            assert np.isnan(bars[:, 2]).all()


def test_the_title_counts_and_rows_without_a_number_are_left_out() -> None:
    frame = pd.DataFrame(
        {"p_false": [0.2, 0.06, 0.01, np.nan], "p_false_lowest": [0.1, 0.01, 0.0, np.nan],
         "p_false_highest": [0.3, 0.1, 0.04, np.nan]}, index=[3, 3, 1, 0],
    )  # fmt: skip
    figure = plot_claims(frame, title="A review", backend="none")
    assert title_of(figure) == (
        "A review\n2 of 3 claims (67%) are false with a probability above 5%\n"
        "(1 whatever was not reported, 2 at the least favourable one)"
    )
    texts = [artist(figure, f"legend_{kind}", "p_false")["string"] for kind in KINDS]
    assert texts == ["supported: 1", "depends on the congruence: 1", "not supported: 1"]
    assert artist(figure, "range_depends", "p_false")["color"] == COLORS["theta_sota"]


def tick_labels(figure: Any) -> list[str]:
    axes = figure.viz["plot"]["p_false"].item()
    return [label.get_text() for label in axes.get_yticklabels()]


def test_names_of_few_claims_and_groups_of_many() -> None:
    few = tick_labels(plot_claims(forest(12, 2, "$x_{}$\n" + 60 * "y"), backend="matplotlib"))
    names = [label for label in few if label.startswith(r"\$x_")]
    assert len(names) == 12
    assert all(len(name) <= 42 and name.endswith("…") and "\n" not in name for name in names)
    assert sum(label.startswith("field") for label in few) == 2
    many = tick_labels(plot_claims(forest(350, 3), backend="matplotlib"))
    assert len(many) == 3
    assert sum(int(label.split(": ")[1].split(" of ")[1].split()[0]) for label in many) == 350
    assert tick_labels(plot_claims(forest(61), backend="matplotlib")) == []


@pytest.mark.parametrize(
    ("size", "groups", "name"),
    [(1, 0, "Paper {}"), (12, 4, 40 * "long" + " {}"), (350, 120, "Paper {}")],
)
def test_labels_of_the_forest_do_not_overlap(size: int, groups: int, name: str) -> None:
    figure = plot_claims(forest(size, groups, name), backend="matplotlib")
    assert overlaps(figure, "p_false") == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_library(backend: str) -> None:
    curve = plot_claim_sensitivity(curve_of(0.9, 0.88, 500), p_false=0.093, backend=backend)
    assert "curve" in curve.viz
    assert "range_depends" in plot_claims(forest(20, 2, "<b>{}</b>"), backend=backend).viz


EMPTY = pd.DataFrame({name: [np.nan] for name in COLUMNS})


@pytest.mark.parametrize(
    ("plot", "data", "options", "message"),
    [
        (plot_pairs, EMPTY, {}, "the table of pairs lacks the column a, b, score_a"),
        (plot_claims, EMPTY, {}, "none has a probability"),
        (plot_claims, EMPTY.drop(columns=COLUMNS[2]), {}, "lacks the column p_false_highest"),
    ],
)
def test_what_cannot_be_drawn(plot: Any, data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plot(data, **{"backend": "none", **options})


# Methods


def compared(values: Any, **options: Any) -> tuple[Any, Any]:
    outcomes = Outcomes(values, **{"metric": "mean"} | options)
    found = compare_methods(outcomes, random_seed=0)
    return found, plot_methods(comparison_tree(found, outcomes), backend="none")


def test_methods_are_drawn_best_first_in_the_colour_of_the_tied() -> None:
    rng = np.random.default_rng(0)
    found, figure = compared(rng.normal([0.80, 0.60, 0.805], 0.1, (200, 3)), names=["b", "c", "a"])
    drawn = [artist(figure, f"interval_{row}", "skill") for row in range(3)]
    order = np.argsort(-found.scores)
    for row, j in enumerate(order):
        assert drawn[row]["x"] == pytest.approx(found.interval()[j], abs=1e-9)
    tied = [COLORS["theta_sota"], COLORS["theta_sota"], COLORS["prior"]]
    assert [one["color"] for one in drawn] == tied
    best = found.methods[order[0]]
    assert title_of(figure) == f"1 of the other 2 methods cannot be told from {best}"
    errors = np.random.default_rng(1).normal(0, [1.0, 2.0], (200, 2))  # the smallest is first
    _, figure = compared(errors, metric="rmse", names=["good", "bad"])
    first, second = (float(artist(figure, f"mean_{row}", "skill")["x"].item()) for row in range(2))
    assert 0 < first < second
    assert title_of(figure) == "good is told from the other"


# Pairs


def of_pairs(values: Any, **options: Any) -> tuple[pd.DataFrame, Any]:
    frame = report_pairs(
        Outcomes(values, **{"metric": "mean"} | options), draws=2000, random_seed=0
    ).frame
    return frame, plot_pairs(frame, points=False, backend="none")


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
        assert (cell["x"], cell["y"]) == (column, -row)
        assert float(cell["string"]) == pytest.approx(t[row, column], abs=0.006)
    for kind, sign in ((6, 1), (0, -1)):  # surely better on the right, surely worse on the left
        area = artist(figure, f"class_{kind}", "difference")
        height = np.array(area["y_top"])[::2] - np.array(area["y_bottom"])[::2]
        error = np.sqrt(2 / 400)
        sure = sign * t / error > 1.645 if not lower else sign * t / error < -1.645
        np.testing.assert_allclose(height, sure.sum(axis=0))
    dots = artist(figure, "told_apart", "difference")
    told = {
        (names.index(row.a), names.index(row.b)) for row in frame[frame.told_apart].itertuples()
    }
    drawn = {
        (int(order[round(-y - 0.3)]), int(order[int(x)]))
        for x, y in zip(dots["x"], dots["y"], strict=True)
    }
    assert drawn == told | {(b, a) for a, b in told}
    assert title_of(figure).startswith(f"{len(told)} of 6 pairs of methods are told apart\n(cells:")


def test_the_matrix_of_many_methods_shows_the_best_without_numbers() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(np.linspace(1, 0, 43), 1.0, (60, 43))
    frame, figure = of_pairs(values)
    told = int(frame.told_apart.sum())
    assert title_of(figure) == (
        f"{told} of 903 pairs of methods are told apart\n(the best 40 of 43 methods are drawn)"
    )
    assert "cell_0_1" not in figure.viz
    best = set(np.argsort(-values.mean(axis=0), kind="stable")[:40] + 1)
    kept = frame.told_apart & frame.a.astype(int).isin(best) & frame.b.astype(int).isin(best)
    assert len(artist(figure, "told_apart", "difference")["x"]) == 2 * int(kept.sum())


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 12, 20, 40])
def test_names_and_numbers_of_the_matrix_of_pairs_stay_apart(count: int) -> None:
    values = np.random.default_rng(2).normal(np.linspace(0.9, 0.1, count), 0.3, (200, count))
    names = [f"a-model-with-a-long-name-{number}" for number in range(count)]
    frame = report_pairs(
        Outcomes(values, names=names, metric="mean"), draws=500, random_seed=0
    ).frame
    figure = plot_pairs(frame, backend="matplotlib")
    assert overlaps(figure, "difference") == overlaps(figure, "key") == []
