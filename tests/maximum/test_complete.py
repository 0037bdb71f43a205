"""Any trace of the model, extended or not, becomes a whole result; others are refused."""

import warnings
from functools import cache
from typing import Any

import arviz as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr
from schema_names import DIMENSIONS, GROUPS
from scipy import stats
from tensors import maximum_logp

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import (
    BetaCorrelation,
    LogitNormalSkill,
    MaximumPriors,
)
from bayes_sota.maximum import build_model, complete, observe_maximum
from bayes_sota.maximum.likelihood import BoardLikelihood
from bayes_sota.maximum.sample import sample_exact, sample_nuts

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:DeprecationWarning")
    for message in (
        "RandomVariable Ops will stop hiding the rng output",
        "Calling a RandomVariable without an explicit rng",
    )
]

BOARD = bs.BestScore("0.98", n_test=200, n_classifiers=50)
SECOND = bs.BestScore("0.97", n_test=400, n_classifiers=40, name="second")
QUICK = {"mode": "FAST_COMPILE"}


@cache
def exact(draws: int = 25) -> xr.DataTree:
    return sample_exact((BOARD,), MaximumPriors(), draws=draws, random_seed=1)


def traced(model: pm.Model, **more: Any) -> xr.DataTree:
    """Draws of the exact posterior as a trace of the model with the level."""
    posterior = exact()["posterior"].to_dataset()[["location", "spread", "rho"]].drop_attrs()
    at_zero = float(model["level"].owner.inputs[2].eval({model["log_spread"]: -50.0}))
    above = float(model["level"].owner.inputs[2].eval({model["log_spread"]: 0.0})) - at_zero
    posterior["level"] = posterior["location"] + above * posterior["spread"]
    posterior["log_spread"] = np.log(posterior["spread"])
    observed = xr.Dataset({"observed_maximum": ("board", [BOARD.maximum])})
    return xr.DataTree.from_dict({"posterior": posterior.assign(more), "observed_data": observed})


@pytest.fixture(scope="module")
def model() -> pm.Model:
    return build_model(BOARD)


@pytest.fixture(scope="module")
def trace(model: pm.Model) -> xr.DataTree:
    return traced(model)


@pytest.fixture(scope="module")
def completed(trace: xr.DataTree) -> xr.DataTree:
    return complete(trace, BOARD, random_seed=2)


@pytest.mark.slow
def test_a_completed_trace_has_all_groups(completed: xr.DataTree) -> None:
    assert set(completed.children) == set(exact().children) - {"sample_stats"} <= set(GROUPS)
    for node in completed.children.values():
        assert set(map(str, node.dims)) <= set(DIMENSIONS)
    posterior, prior = completed["posterior"], completed["prior"]
    assert set(posterior.data_vars) == set(prior.data_vars)
    assert set(exact()["posterior"].data_vars) < set(posterior.data_vars)
    for group in ("observed_data", "posterior_predictive", "prior_predictive", "log_likelihood"):
        assert completed[group]["observed_maximum"].dims[-1] == "board"
        assert exact()[group]["observed_maximum"].dims[-1] == "board"
    assert set(posterior["theta_sota"].dims) == {"chain", "draw"}
    assert completed.attrs["draws_are_independent"] == 0


@pytest.mark.slow
def test_its_log_densities_are_those_of_the_exact_route(completed: xr.DataTree) -> None:
    """Of tables at other nodes of rho, and of PyMC's own densities."""
    for name, density in exact()["log_prior"].data_vars.items():
        np.testing.assert_allclose(completed["log_prior"][name], density, atol=1e-5)
    posterior = exact()["posterior"]
    for chain, draw in ((0, 0), (1, 10), (3, 24)):
        location, spread, rho = (
            posterior[name].values[[chain], draw] for name in ("location", "spread", "rho")
        )
        likelihood = BoardLikelihood(BOARD, rho)
        weights = likelihood.hat_weights(LogitNormalSkill().distribution(location, spread))
        truth = likelihood.log_likelihood(weights, 0)[0]
        for tree, tolerance in ((completed, 0.02), (exact(), 0.1)):
            found = float(tree["log_likelihood"]["observed_maximum"].values[chain, draw, 0])
            assert found == pytest.approx(truth, abs=tolerance)


@pytest.mark.slow
def test_replicates_are_draws_of_pymc(model: pm.Model, trace: xr.DataTree) -> None:
    """Of the same parameters, drawn at once here and one by one by PyMC."""
    one = trace["posterior"].to_dataset().isel(chain=[0], draw=[0])
    many = one.isel(draw=np.zeros(300, int)).assign_coords(draw=np.arange(300))
    fresh = pm.sample_posterior_predictive(
        many, model, var_names=["observed_maximum"], random_seed=1, progressbar=False,
        compile_kwargs=QUICK,
    )["posterior_predictive"]["observed_maximum"]  # fmt: skip
    assert fresh.dims == ("chain", "draw", "board")
    tree = complete(xr.DataTree.from_dict({"posterior": many}), BOARD, random_seed=3)
    ours = tree["posterior_predictive"]["observed_maximum"]
    assert ours.shape == fresh.shape
    assert stats.ks_2samp(ours.values.ravel(), fresh.values.ravel()).pvalue > 1e-4
    best = tree["predictions"]["best_new_score"]  # of the same field: knows of its luck
    assert best.dims == ("chain", "draw")


@pytest.mark.slow
def test_prior_is_one_story(completed: xr.DataTree) -> None:
    """Each draw of the prior is one board: its bias is its best score minus its best skill."""
    for tree in (completed, exact()):
        prior = tree["prior"]
        best = tree["prior_predictive"]["observed_maximum"].isel(board=0)
        np.testing.assert_allclose(prior["multiplicity_bias"], best - prior["theta_sota"])
        assert bool((prior["winner_skill"] <= prior["theta_sota"]).all())
        assert bool((prior["winner_skill"] < prior["theta_sota"]).any())
    for name in completed["prior"].data_vars:
        if name in exact(1000)["prior"]:
            pair = (
                completed["prior"][name].values.ravel(),
                exact(1000)["prior"][name].values.ravel(),
            )
            assert stats.ks_2samp(*pair).pvalue > 1e-4, name


def own_spread() -> pm.Model:
    """Another prior of the spread, and a correlation that is known."""
    with pm.Model() as model:
        spread = pm.HalfNormal("spread", 0.1)
        location = pm.Normal("location", 2, 1)
        rho = pm.Deterministic("rho", pm.math.constant(0.7))
        observe_maximum(BOARD, location, spread, rho)
    return model


def second_board() -> pm.Model:
    """A second board with its own field, which shares rho."""
    with build_model(BOARD) as model:
        spread = pm.HalfNormal("second_spread", 0.5)
        location = pm.Normal("second_location", 2, 1)
        observe_maximum(
            SECOND, location, spread, model["rho"], name="second_maximum", dim="second_board"
        )
    return model


@pytest.mark.slow
def test_own_prior_of_the_spread_is_the_one_of_the_result() -> None:
    """Log densities at exact draws, which another prior would weigh by them, and its own draws."""
    posterior = exact()["posterior"].to_dataset()[["location", "spread"]].drop_attrs()
    posterior["rho"] = 0 * posterior["location"] + 0.7
    with own_spread():
        tree = complete(xr.DataTree.from_dict({"posterior": posterior}), BOARD, random_seed=1)
    assert set(tree["log_prior"].data_vars) == {"location", "spread"}
    laws = {"location": stats.norm(2, 1), "spread": stats.halfnorm(scale=0.1)}
    for name, law in laws.items():
        np.testing.assert_allclose(tree["log_prior"][name], law.logpdf(posterior[name]), atol=1e-6)
        assert stats.kstest(tree["prior"][name].values.ravel(), law.cdf).pvalue > 1e-4
    for chain, draw in ((0, 0), (1, 10), (3, 24)):
        given = [float(posterior[name][chain, draw]) for name in ("location", "spread", "rho")]
        expected = float(maximum_logp(BOARD, *given).eval(mode="FAST_COMPILE"))
        found = float(tree["log_likelihood"]["observed_maximum"][chain, draw, 0])
        assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
def test_a_second_board_brings_its_own_groups() -> None:
    model = second_board()
    rng = np.random.default_rng(1)
    second = {
        "second_spread": (("chain", "draw"), rng.uniform(0.1, 0.5, (4, 25))),
        "second_location": (("chain", "draw"), rng.normal(2.5, 0.2, (4, 25))),
    }
    trace = traced(model, **second)
    trace = xr.DataTree.from_dict({"posterior": trace["posterior"].to_dataset()})
    with pytest.raises(InputError, match="second_location, second_spread, which the model of the"):
        complete(trace, BOARD)
    tree = complete(trace, BOARD, model=model, random_seed=1)
    for group in ("posterior_predictive", "prior_predictive", "log_likelihood"):
        assert set(tree[group].data_vars) == {"observed_maximum", "second_maximum"}
        assert tree[group]["second_maximum"].dims == ("chain", "draw", "second_board")
    assert set(second) <= set(tree["prior"].data_vars)
    assert set(second) <= set(tree["log_prior"].data_vars)
    draw = trace["posterior"].isel(chain=2, draw=5)
    given = [float(draw[name]) for name in ("second_location", "second_spread", "rho")]
    expected = float(maximum_logp(SECOND, *given).eval(mode="FAST_COMPILE"))
    found = float(tree["log_likelihood"]["second_maximum"][2, 5, 0])
    assert found == pytest.approx(expected, abs=1e-8)
    assert "second_spread" in tree.attrs["priors"]


def test_a_model_of_another_board_is_refused(model: pm.Model, trace: xr.DataTree) -> None:
    with pytest.raises(InputError, match="the model is of other data than those given"):
        complete(trace, SECOND, model=model)
    with build_model(BOARD), pytest.raises(InputError, match="of other data than those given"):
        complete(trace, SECOND)
    with pm.Model() as bare:
        pm.Normal("location"), pm.HalfNormal("spread"), pm.Beta("rho", 14, 5)
    with pytest.raises(InputError, match="observes no observed_maximum"):
        complete(trace, BOARD, model=bare)


@pytest.mark.slow
def test_nuts_agrees_with_the_exact_route() -> None:
    priors = MaximumPriors(correlation=BetaCorrelation())
    tree = sample_nuts((BOARD,), priors, draws=2000, chains=2, cores=2, random_seed=1)
    reference = sample_exact((BOARD,), priors, draws=10_000, random_seed=1)
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
