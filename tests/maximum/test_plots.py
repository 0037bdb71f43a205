"""The figures draw the result's numbers."""

from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core.skills import expit
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.sample_estimate import estimate_sota
from bayes_sota.maximum.plots import plot_prior_predictive, plot_sota

QUANTITIES = ("theta_sota", "winner_skill", "expected_sota")


@pytest.mark.slow
@pytest.mark.parametrize("ci_prob", [0.5, 0.95])
def test_bars_and_band_are_equal_tailed_intervals(tree: xr.DataTree, ci_prob: float) -> None:
    figure, tails = plot_sota(tree, ci_prob=ci_prob, backend="none"), (1 - ci_prob) / 2
    for name in QUANTITIES:
        draws = tree["posterior"][name].values
        drawn = (figure.viz[f"{x}_{name}"]["posterior"].item() for x in ("interval", "mean"))
        bar, mean = (artist["x"] for artist in drawn)
        np.testing.assert_allclose(bar, np.quantile(draws, [tails, 1 - tails]))
        np.testing.assert_allclose(mean, np.mean(draws))
    band = figure.viz["interval"]["prior"].item()
    expected = np.quantile(tree["posterior"]["theta_sota"].values, [tails, 1 - tails])
    np.testing.assert_allclose([band["xmin"], band["xmax"]], expected)


@pytest.mark.parametrize("name", [*QUANTITIES[1:], "prior"])
def test_areas_under_the_densities_are_on_one_scale(tree: xr.DataTree, name: str) -> None:
    figure, best = plot_sota(tree, backend="none"), tree["posterior"]["theta_sota"]
    draws = tree["prior"]["theta_sota"] if name == "prior" else tree["posterior"][name]
    ratio = share_inside(figure, draws) / share_inside(figure, best)
    rel = 0.1 if name == "prior" else 0.03
    assert area_of(figure, name) / area_of(figure, "theta_sota") == pytest.approx(ratio, rel=rel)


def drawn_density(figure: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Places and heights of a density, inside the panel."""
    band = figure.viz[f"density_{name}"]["posterior"].item()
    x, bottom, top = (np.asarray(band[key]) for key in ("x", "y_bottom", "y_top"))
    inside = np.isfinite(x)
    return x[inside], (top - bottom)[inside]


def area_of(figure: Any, name: str) -> float:
    x, height = drawn_density(figure, name)
    return float(np.trapezoid(height, x))


def share_inside(figure: Any, draws: xr.DataArray) -> float:
    """Share of the draws inside the panel: the area that their density should have there."""
    target = figure.viz["plot"]["posterior"].item()
    low, high = next(element["lims"] for element in target if element["function"] == "xlim")
    return float(((draws > low) & (draws < high)).mean())


def test_matplotlib_draws_the_same(tree: xr.DataTree) -> None:
    figure = plot_sota(tree, backend="matplotlib")
    line = figure.viz["observed_maximum"]["posterior"].item()
    assert list(line.get_xdata()) == [0.95, 0.95]
    axes = figure.viz["plot"]["posterior"].item()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    words = ["best classifier", "winner", "best of a fresh field"]
    assert [label.split("\n")[0] for label in labels] == words
    assert "accuracy" in axes.get_xlabel()


@pytest.mark.slow
def test_every_text_stays_inside_the_figure(tree: xr.DataTree, two_boards: xr.DataTree) -> None:
    for result in (tree, two_boards):
        collection = plot_sota(result, backend="matplotlib")
        figure = collection.viz["figure"].item()
        figure.canvas.draw()
        page = figure.bbox
        for axes in figure.axes:
            for text in (*axes.texts, axes.title, *axes.get_yticklabels()):
                box = text.get_window_extent()
                assert box.x0 >= page.x0 - 1
                assert box.x1 <= page.x1 + 1, text.get_text()


@pytest.mark.slow
def test_names_of_boards_are_no_markup(two_boards: xr.DataTree) -> None:
    figure = plot_sota(two_boards, backend="matplotlib")
    titles = [axes.get_title() for axes in np.ravel(figure.viz["plot"]["prior"].values)]
    assert titles[0].startswith(r"public \$board\$: ")


def test_scores_outside_of_zero_and_one_are_in_the_picture() -> None:
    errors = 1.2 + 0.1 * np.random.default_rng(0).gamma(2, 1, 30)
    board = Leaderboard(errors, metric="score", standard_error=0.02, lower_is_better=True)
    tree = estimate_sota(board, random_seed=0, draws=100)
    axes = plot_sota(tree, backend="matplotlib").viz["figure"].item().axes[-1]
    low, high = axes.get_xlim()
    assert low < errors.min() < high
    assert high - low < 1
    assert axes.get_xlabel() == "score"
    assert len([t for t in axes.get_xticks() if low < t < high]) >= 3


def test_line_and_bar_of_the_prior(tree: xr.DataTree) -> None:
    figure = plot_prior_predictive(tree, ci_prob=0.8, backend="none")
    assert figure.viz["observed_maximum"]["observed_maximum"].item()["x"] == 0.95
    predicted = tree["prior_predictive"]["observed_maximum"].values
    bar = figure.viz["interval"]["observed_maximum"].item()["x"]
    np.testing.assert_allclose(bar, np.quantile(predicted, [0.1, 0.9]))


def test_histogram_counts_the_predicted_maxima(tree: xr.DataTree) -> None:
    figure = plot_prior_predictive(tree, backend="none")
    bars = figure.viz["histogram"]["observed_maximum"].item()
    edges = np.append(np.asarray(bars["l_e"]), np.asarray(bars["r_e"])[-1])
    counts, _ = np.histogram(tree["prior_predictive"]["observed_maximum"].values, edges)
    np.testing.assert_allclose(bars["y"], counts / counts.max())
    assert counts.sum() >= 0.99 * 2000


def test_fields_are_draws_of_the_prior(tree: xr.DataTree) -> None:
    figure = plot_prior_predictive(tree, ci_prob=0.9, backend="none")
    medians = np.asarray(figure.viz["field_median"]["field"].item()["x"])
    assert medians.size == 40
    assert np.all(np.diff(medians) >= 0)
    location, spread = (tree["prior"][name].values.ravel() for name in ("location", "spread"))
    for i, median in enumerate(medians):
        match = np.argmin(np.abs(expit(location) - median))
        expected = expit(location[match] + np.array([-1, 1]) * 1.6448536 * spread[match])
        np.testing.assert_allclose(figure.viz[f"field_{i}"]["field"].item()["x"], expected)
    best = np.asarray(figure.viz["field_best"]["field"].item()["x"])
    assert np.isin(best, tree["prior"]["theta_sota"].values).all()


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "score"])
def test_the_density_of_a_whole_board_is_the_law_of_its_draws(metric: str) -> None:
    scores = np.round(expit(np.random.default_rng(1).normal(1.5, 0.2, 40)) * 400) / 400
    size = {"n_test": 400} if metric == "accuracy" else {"standard_error": 0.02, "metric": "score"}
    tree = bs.estimate_sota(bs.Leaderboard(scores, **size), draws=2_500, random_seed=2)
    figure = plot_sota(tree, backend="none")
    for name in QUANTITIES:
        x, height = drawn_density(figure, name)
        draws = np.sort(tree["posterior"][name].values.ravel())
        whole = np.mean((draws > x[0]) & (draws < x[-1]))
        steps = np.concatenate([[0], np.cumsum((height[1:] + height[:-1]) / 2 * np.diff(x))])
        below = np.mean(draws < x[0]) + whole * steps / steps[-1]
        observed = np.searchsorted(draws, x) / draws.size
        assert np.abs(below - observed).max() < 0.02  # four standard errors of an ECDF
        assert np.sum(np.diff(np.sign(np.diff(height))) != 0) < 8  # no ripples of a kernel
