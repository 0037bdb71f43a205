"""The figure of the law of the maximum draws the law's numbers."""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.skills import Uniform
from bayes_sota.maximum.plots_laws import plot_maximum_law

LAW = bs.maximum_law(n_test=3000, n_classifiers=1000, skill=0.9, correlation=0.6)


def artist(law: bs.maximum.MaximumLaw, label: str, ci_prob: float = 0.95) -> dict:
    return plot_maximum_law(law, ci_prob=ci_prob, backend="none").viz[label]["pmf"].item()


def test_lines_stand_at_the_best_skill_and_the_expected_maximum() -> None:
    assert artist(LAW, "theta_sota")["x"] == 0.9
    assert artist(LAW, "expected_maximum")["x"] == LAW.mean()


@pytest.mark.parametrize("ci_prob", [0.5, 0.95])
def test_bar_is_the_interval(ci_prob: float) -> None:
    np.testing.assert_array_equal(artist(LAW, "interval", ci_prob)["x"], LAW.interval(ci_prob))


def test_every_count_has_its_bar() -> None:
    bars = artist(LAW, "maximum")
    counts = np.round((np.asarray(bars["l_e"]) + np.asarray(bars["r_e"])) / 2 * 3000)
    np.testing.assert_allclose(bars["y"], LAW.pmf(counts))
    assert np.sum(bars["y"]) == pytest.approx(1, abs=1e-3)


def test_one_classifier_is_binomial() -> None:
    from scipy.stats import binom

    bars = artist(LAW, "one_classifier")
    counts = np.round((np.asarray(bars["l_e"]) + np.asarray(bars["r_e"])) / 2 * 3000)
    np.testing.assert_allclose(bars["y"], binom.pmf(counts, 3000, 0.9), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    "law",
    [
        bs.maximum_law(n_test=20, n_classifiers=5, skill=0.9),
        bs.maximum_law(n_test=100, n_classifiers=1, skill=0.5),
        bs.maximum_law(n_test=3000, n_classifiers=1000, skill=Uniform(0.875, 0.9)),
        bs.maximum_law(n_test=50, skill=[0.6, 0.7, 0.8], correlation=0.3),
    ],
    ids=["small", "single", "random", "fixed"],
)
def test_labels_stay_apart_and_inside(law: bs.maximum.MaximumLaw) -> None:
    collection = plot_maximum_law(law, backend="matplotlib")
    figure = collection.viz["figure"].item()
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 2
    assert not boxes[0].overlaps(boxes[1])
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_title_states_the_bias() -> None:
    title = plot_maximum_law(LAW, backend="none").viz["figure_title"].item()["string"]
    assert title.startswith("The best of 1,000 classifiers is expected to score 0.0140 above")
