"""The prior predictive figure draws the result's numbers."""

import numpy as np
import pytest
import xarray as xr

from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import expit
from bayes_sota.maximum.plots_laws import plot_prior_predictive


def test_line_and_bar(tree: xr.DataTree) -> None:
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
    figure = plot_prior_predictive(tree, n_fields=25, ci_prob=0.9, backend="none")
    medians = np.asarray(figure.viz["field_median"]["field"].item()["x"])
    assert medians.size == 25
    assert np.all(np.diff(medians) >= 0)
    location, spread = (tree["prior"][name].values.ravel() for name in ("location", "spread"))
    for i, median in enumerate(medians):
        match = np.argmin(np.abs(expit(location) - median))
        expected = expit(location[match] + np.array([-1, 1]) * 1.6448536 * spread[match])
        np.testing.assert_allclose(figure.viz[f"field_{i}"]["field"].item()["x"], expected)
    best = np.asarray(figure.viz["field_best"]["field"].item()["x"])
    assert np.isin(best, tree["prior"]["theta_sota"].values).all()


def test_a_panel_for_every_board_and_one_for_the_fields(two_boards: xr.DataTree) -> None:
    figure = plot_prior_predictive(two_boards, backend="none")
    lines = figure.viz["observed_maximum"]["observed_maximum"]
    assert [line["x"] for line in lines.values] == [0.95, 0.93]
    assert figure.viz["field_median"]["field"].ndim == 0


def test_matplotlib(tree: xr.DataTree, two_boards: xr.DataTree) -> None:
    for result, columns in ((tree, 2), (two_boards, 3)):
        collection = plot_prior_predictive(result, backend="matplotlib")
        figure = collection.viz["figure"].item()
        figure.canvas.draw()
        assert len(figure.axes) == columns


def test_a_result_without_prior_is_refused(tree: xr.DataTree) -> None:
    groups = {name: tree[name].to_dataset() for name in ("posterior", "observed_data")}
    with pytest.raises(InputError, match="no prior draws"):
        plot_prior_predictive(xr.DataTree.from_dict(groups), backend="none")
    with pytest.raises(InputError, match="n_fields must be at least 1, got 0"):
        plot_prior_predictive(tree, n_fields=0, backend="none")
