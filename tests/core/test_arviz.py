"""ArviZ's own functions take a result as it is; a warning fails the test."""

import arviz as az
import numpy as np
import pytest
import xarray as xr

NAMES = ["theta_sota", "expected_sota", "winner_skill"]


def test_summary(tree: xr.DataTree, two_boards: xr.DataTree) -> None:
    assert len(az.summary(two_boards, var_names=["theta_sota"], ci_prob=0.95)) == 2
    table = az.summary(tree, var_names=NAMES, ci_prob=0.95, ci_kind="eti", round_to="none")
    expected = np.quantile(tree["posterior"]["theta_sota"].values, [0.025, 0.975])
    np.testing.assert_allclose(table.loc["theta_sota", ["eti95_lb", "eti95_ub"]], expected)
    assert table["r_hat"].max() < 1.02


@pytest.mark.parametrize("backend", ["none", "matplotlib"])
def test_plot_prior_posterior(tree: xr.DataTree, backend: str) -> None:
    figure = az.plot_prior_posterior(tree, var_names=["theta_sota", "rho"], backend=backend)
    assert {"theta_sota", "rho"} <= set(figure.viz["plot"].data_vars)


@pytest.mark.parametrize("backend", ["none", "matplotlib"])
def test_plot_dist(tree: xr.DataTree, two_boards: xr.DataTree, backend: str) -> None:
    figure = az.plot_dist(tree, var_names=NAMES, ci_prob=0.95, backend=backend)
    assert set(NAMES) <= set(figure.viz["plot"].data_vars)
    figure = az.plot_dist(two_boards, var_names=["theta_sota"], backend=backend)
    assert figure.viz["plot"]["theta_sota"].sizes == {"board": 2}


def test_plots_of_predictions_and_lines(tree: xr.DataTree) -> None:
    figure = az.plot_dist(tree, var_names=["theta_sota"], backend="none")
    assert "ref_line" in az.add_lines(figure, values={"theta_sota": 0.95}).viz
    names = {"prior_predictive": "observed_maximum", "posterior_predictive": "best_new_score"}
    for group, name in names.items():
        figure = az.plot_dist(tree, group=group, var_names=[name], backend="none")
        assert name in figure.viz["plot"].data_vars


def test_psense_summary(tree: xr.DataTree, two_boards: xr.DataTree) -> None:
    for result in (tree, two_boards):
        table = az.psense_summary(result, var_names=["theta_sota"])
        assert np.isfinite(table[["prior", "likelihood"]].to_numpy(float)).all()
