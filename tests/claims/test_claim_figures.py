"""The figures of claims draw their numbers."""

import numpy as np
import pandas as pd
import pytest
from cli.test_figures import artist, title_of

from bayes_sota import Accuracies, Means, Outcomes, claims_table
from bayes_sota.claims import plots, report_claim, report_gate, report_methods, report_pairs


@pytest.mark.parametrize(
    "claim",
    [
        Accuracies(a=0.9, b=0.88, n=500),
        Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.1), known=0.7),
        Accuracies(a=0.9, b=0.88, n=500, domain="tabular"),
    ],
    ids=["unknown", "known", "typical"],
)
def test_the_curve_its_lines_and_its_title(claim) -> None:
    report = report_claim(claim)
    figure = plots.plot_claim(report, backend="none")
    drawn = artist(figure, "line_0", "p_false")
    np.testing.assert_array_equal(np.column_stack([drawn["x"], drawn["y"]]), claim.curve())
    assert artist(figure, "level_0", "p_false")["y"][0] == 0.05
    if claim.value is None:
        assert artist(figure, "level_1", "p_false")["y"][0] == report.content["p_false"]
    else:
        assert artist(figure, "point_0", "p_false")["x"] == claim.value
    assert title_of(figure) == report.sentences[1].replace("It is", "The claim is")


@pytest.mark.parametrize("size", [12, 100])
def test_the_most_doubtful_claims_are_drawn_with_their_ranges(size: int) -> None:
    rng = np.random.default_rng(size)
    n = rng.integers(50, 5000, size)
    a = rng.uniform(0.6, 0.98, size)
    columns = {"accuracy_a": a, "accuracy_b": a - rng.uniform(0, 0.08, size), "n_test": n}
    table = claims_table(pd.DataFrame(columns))
    figure, frame = plots.plot_claims(table, backend="none"), table.frame
    supported = frame["verdict"] == "supported"
    kept = frame["p_false"].rank(ascending=False) <= 60
    for suffix, shown in (("", ~supported & kept), ("_weak", supported & kept)):
        dots = artist(figure, f"mean{suffix}", "p_false")
        np.testing.assert_allclose(dots["x"], -np.sort(-frame["p_false"][shown]))
        bars = np.reshape(artist(figure, f"interval{suffix}", "p_false")["x"], (-1, 3))
        assert np.nanmax(bars) == pytest.approx(frame["p_false_highest"][shown].max())
    assert ("the first 60 are drawn" in title_of(figure)) == (size > 60)


def test_the_gate_shows_the_difference_with_0_and_the_margin() -> None:
    rng = np.random.default_rng(0)
    answers = Outcomes(rng.random((400, 2)) < [0.8, 0.79], names=["new", "old"])
    report = report_gate(answers, ("new", "old"), margin=0.02)
    figure = plots.plot_pairs(report, backend="none")
    ends = [100 * end for end in report.content["pairs"][0]["difference"]["interval"]]
    assert artist(figure, "interval", "difference")["x"][:2] == pytest.approx(ends)
    lines = [artist(figure, f"line_{of}", "difference")["x"] for of in ("no", "margin")]
    assert lines == [0, -2]
    assert title_of(figure) == report.sentences[0]


def test_methods_are_drawn_best_first_and_others_are_weak() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal([0.80, 0.60, 0.805], 0.1, (200, 3))
    for metric, of in (("mean", values), ("rmse", 1 - values)):
        outcomes = Outcomes(of, names=["b", "c", "a"], metric=metric)
        report = report_methods(outcomes, random_seed=0, selection=False)
        found, figure = report.about.comparison, plots.plot_methods(report, backend="none")
        best = [j for j in np.argsort(-found.scores) if found.tied_with_best()[j]]
        bars = np.reshape(artist(figure, "interval", "skill")["x"], (-1, 3))[:, :2]
        expected = np.sort(found.sign * found.interval()[best], axis=1)
        np.testing.assert_allclose(np.sort(bars, axis=1), expected, atol=1e-9)
        assert artist(figure, "mean_weak", "skill")["y"] == -2
        assert title_of(figure).endswith(found.methods[best[0]])


@pytest.mark.parametrize(("size", "lower"), [(4, True), (12, False)])
def test_the_first_pairs_are_drawn_with_their_intervals(size: int, lower: bool) -> None:
    values = np.random.default_rng(0).normal(np.linspace(9, 3, size), 1.0, (400, size))
    names = [f"a-model-with-a-long-name-{number}" for number in range(size)]
    outcomes = Outcomes(values, names=names, metric="mean", lower_is_better=lower)
    report = report_pairs(outcomes, draws=2000, random_seed=0)
    figure, rows = plots.plot_pairs(report, backend="none"), report.content["pairs"]
    count = 0
    for suffix in ("", "_weak"):
        dots = (
            artist(figure, f"mean{suffix}", "difference") if f"mean{suffix}" in figure.viz else {}
        )
        for x, y in zip(dots.get("x", ()), dots.get("y", ()), strict=True):
            row, count = rows[-round(y)], count + 1
            assert x == pytest.approx(row["difference"]["mean"])
            assert row["told_apart"] == (not suffix)
            assert suffix or (x < 0) == lower
    assert count == min(len(rows), 40)
    assert title_of(figure).startswith(report.sentences[0])
