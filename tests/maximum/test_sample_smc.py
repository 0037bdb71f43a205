"""Simulation finds what quadrature finds, reproducibly and in a form that can be saved."""

import arviz as az
import numpy as np
import pytest
import xarray as xr

from bayes_sota import BestScore, FixedCorrelation, LogitNormalSkill, Priors, estimate_sota
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.sample import sample_abc, sample_exact

BOARD = BestScore("0.98", n_test=200, n_classifiers=50)
BEST_OF_MANY = BestScore("0.91157", n_test=11_072, n_classifiers=3_558, rounding="floor")
QUICK = {"draws": 60, "chains": 2, "random_seed": 3}


@pytest.mark.slow
@pytest.mark.parametrize("known", ["location", "location, rho", "location, spread", "spread, rho"])
def test_what_is_known_stays_as_it_is(known):
    skill = LogitNormalSkill(
        0.93 if "location" in known else (0.85, 0.97), 0.3 if "spread" in known else (0.1, 0.6)
    )
    priors = Priors(skill, FixedCorrelation(0.6) if "rho" in known else None)
    exact, simulated = (
        estimate_sota(BOARD, priors=priors, method=method, draws=500, random_seed=0)["posterior"]
        for method in ("exact", "abc")
    )
    for name in ("theta_sota", "location", "spread", "rho"):
        one, two = exact[name].values, simulated[name].values
        assert two.mean() == pytest.approx(one.mean(), abs=0.2 * one.std() + 1e-12), name
        assert two.std() == pytest.approx(one.std(), rel=0.15, abs=1e-12), name


@pytest.mark.slow
def test_the_result_agrees_with_the_exact_route_and_is_complete():
    tree = sample_abc((BOARD,), MaximumPriors(), draws=320, chains=2, cores=1, random_seed=1)
    exact = sota_posterior(BOARD, MaximumPriors(), draws=40_000, random_seed=1).draws
    for name in ("theta_sota", "winner_skill", "location", "spread", "rho", "shift"):
        values, reference = tree["posterior"][name].values.ravel(), exact[name].ravel()
        assert values.mean() == pytest.approx(reference.mean(), abs=0.15 * reference.std())
        assert values.std() == pytest.approx(reference.std(), rel=0.12)
    summary = az.summary(tree, var_names=["theta_sota", "spread"], ci_prob=0.95, round_to=6)
    assert (summary["ess_bulk"].min() > 320, summary["r_hat"].max() < 1.02) == (True, True)
    assert tree.attrs["epsilon"] <= exact["theta_sota"].std() / 4
    groups = set(sample_exact((BOARD,), MaximumPriors(), draws=25, random_seed=1).children)
    assert set(tree.children) == groups - {"sample_stats"}
    assert set(tree["log_prior"].data_vars) == {"location", "log_spread", "rho"}


@pytest.mark.slow
def test_too_few_moves_are_noted(monkeypatch):
    monkeypatch.setattr("bayes_sota.maximum.sample._EPSILON", 1e-5)
    tree = sample_abc((BEST_OF_MANY,), MaximumPriors(), cores=1, draws=40, chains=2, random_seed=1)
    assert tree.attrs["moves"] < 4
    assert "times in the last stage" in tree.attrs["diagnostics_reasons"]


@pytest.mark.slow
def test_same_seed_same_draws_on_any_number_of_cores():
    one, two = (sample_abc((BOARD,), MaximumPriors(), cores=cores, **QUICK) for cores in (1, 2))
    xr.testing.assert_equal(one["posterior"].to_dataset(), two["posterior"].to_dataset())
    first, second = one["posterior"]["theta_sota"].values
    assert not np.any(first == second)
