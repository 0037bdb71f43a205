"""The figures draw the numbers of results and laws."""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.auc import auc_law, auc_maximum_law
from bayes_sota.maximum.plots import plot_maximum_law, plot_sota

QUANTITIES = ("theta_sota", "winner_skill", "expected_sota")
LAW = bs.maximum_law(n_test=3000, n_classifiers=1000, skill=0.9, correlation=0.6)


@pytest.mark.parametrize("ci_prob", [0.5, 0.95])
def test_bars_are_equal_tailed_intervals(tree, ci_prob: float) -> None:
    figure, tails = plot_sota(tree, ci_prob=ci_prob, backend="none"), (1 - ci_prob) / 2
    drawn = {x: figure.viz[x]["skill"].item()["x"] for x in ("interval", "mean", "score")}
    assert drawn["score"].tolist() == [0.95] * 3
    for row, name in enumerate(QUANTITIES):
        draws = tree["posterior"][name].values
        bar = np.asarray(drawn["interval"])[3 * row : 3 * row + 2]
        np.testing.assert_allclose(bar, np.quantile(draws, [tails, 1 - tails]))
        np.testing.assert_allclose(drawn["mean"][row], np.mean(draws))


def artist(law, label: str, ci_prob: float = 0.95) -> dict:
    return plot_maximum_law(law, ci_prob=ci_prob, backend="none").viz[label]["density"].item()


@pytest.mark.parametrize("ci_prob", [0.5, 0.95])
def test_lines_and_the_bar_of_a_law(ci_prob: float) -> None:
    assert artist(LAW, "theta_sota")["x"] == 0.9
    assert artist(LAW, "expected_maximum")["x"] == LAW.mean()
    np.testing.assert_array_equal(artist(LAW, "interval", ci_prob)["x"][:2], LAW.interval(ci_prob))


AUC = auc_maximum_law(0.9, n_positive=51, n_negative=2949, n_classifiers=1000)


@pytest.mark.parametrize(
    ("law", "label", "drawn"),
    [
        (LAW, "line_1", LAW),
        (LAW, "line_0", bs.maximum_law(n_test=3000, n_classifiers=1, skill=0.9)),
        (AUC, "line_1", AUC),
        (AUC, "line_0", auc_law(0.9, 51, 2949)),
    ],
)
def test_lines_are_densities(law, label: str, drawn) -> None:
    x, y = (np.asarray(artist(law, label)[axis]) for axis in "xy")
    below, places = np.cumsum((y[1:] + y[:-1]) / 2 * np.diff(x)), x[1:]
    if law is LAW:  # of counts, half of which lie below the middle of their cell
        places = np.round(3000 * places)
    np.testing.assert_allclose(below, drawn.cdf(places), atol=0.022)
    assert below[-1] == pytest.approx(1, abs=2e-3)
