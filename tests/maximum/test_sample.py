"""Results of the routes to one best score: their groups, and NUTS against the exact route."""

import warnings
from functools import cache

import arviz as az
import numpy as np
import pytest
import xarray as xr
from schema_names import check_names

import bayes_sota as bs
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.maximum.likelihood import BoardLikelihood
from bayes_sota.maximum.posterior import Maxima
from bayes_sota.maximum.sample import sample_exact, sample_nuts

BOARD = bs.BestScore("0.98", n_test=200, n_classifiers=50)


@cache
def exact(draws: int = 25) -> xr.DataTree:
    return sample_exact((BOARD,), MaximumPriors(), draws=draws, random_seed=1)


def test_a_result_has_all_groups() -> None:
    tree = exact()
    check_names(tree)
    assert set(tree["posterior"].data_vars) == set(tree["prior"].data_vars)
    for group in ("observed_data", "posterior_predictive", "prior_predictive", "log_likelihood"):
        assert tree[group]["observed_maximum"].dims[-1] == "board"
    assert set(tree["posterior"]["theta_sota"].dims) == {"chain", "draw"}
    few = sample_exact((BOARD,), MaximumPriors(), draws=25, random_seed=1, groups="estimands")
    assert set(few.children) == {
        "posterior", "predictions", "sample_stats", "observed_data", "constant_data",
    }  # fmt: skip
    xr.testing.assert_equal(few["posterior"].to_dataset(), tree["posterior"].to_dataset())


def test_its_log_likelihood_is_that_of_its_parameters() -> None:
    """Of tables at a node near rho, nearer for draws by simulation."""
    posterior, names = exact()["posterior"], ("location", "spread", "rho")
    values = {name: posterior[name].values.ravel() for name in names}
    maxima = Maxima((BOARD,), MaximumPriors())
    near = exact()["log_likelihood"]["observed_maximum"].values.ravel()
    between = maxima.draw_fields(values, np.random.default_rng(1))["log_likelihood"].ravel()
    for draw in range(0, 100, 9):
        likelihood = BoardLikelihood(BOARD, values["rho"][[draw]])
        one = {name: value[[draw]] for name, value in values.items()}
        expected = likelihood.at_nodes(maxima.field(one)).item()
        assert near[draw] == pytest.approx(expected, abs=0.2)
        assert between[draw] == pytest.approx(expected, abs=0.03)


def test_prior_is_one_story() -> None:
    """Each draw of the prior is one board: its bias is its best score minus its best skill."""
    prior = exact(1000)["prior"]
    best = exact(1000)["prior_predictive"]["observed_maximum"].isel(board=0)
    np.testing.assert_allclose(prior["multiplicity_bias"], best - prior["theta_sota"])
    assert bool((prior["winner_skill"] <= prior["theta_sota"]).all())
    assert bool((prior["winner_skill"] < prior["theta_sota"]).any())


@pytest.mark.slow
def test_nuts_agrees_with_the_exact_route() -> None:
    tree = sample_nuts((BOARD,), MaximumPriors(), draws=2000, chains=2, cores=2, random_seed=1)
    reference = sample_exact((BOARD,), MaximumPriors(), draws=10_000, random_seed=1)
    assert set(tree.children) == set(reference.children)
    assert tree.attrs["draws_are_independent"] == 0
    assert int(tree["sample_stats"]["diverging"].sum()) == 0
    names = ["location", "spread", "rho", "theta_sota", "winner_skill"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = az.summary(tree, var_names=names, round_to="none", ci_prob=0.95)
    assert table["r_hat"].max() < 1.01
    assert table[["ess_bulk", "ess_tail"]].min().min() > 400
    for name in names:
        found, expected = tree["posterior"][name].values, reference["posterior"][name].values
        assert found.mean() == pytest.approx(expected.mean(), abs=0.1 * expected.std()), name
        assert found.std() == pytest.approx(expected.std(), rel=0.08), name
