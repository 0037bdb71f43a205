"""Groups that a model adds to a trace, against formulas, and the traces that it refuses."""

from functools import cache

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from data.files import refused
from scipy import stats

from bayes_sota.core.sample import (
    check_trace,
    completed_groups,
    describe_nuts,
    model_of,
    sampler_stats,
)

SEEN = np.array([0.3, -1.0, 2.0])


def build():
    with pm.Model(coords={"case": list("abc")}) as model:
        centre = pm.Normal("centre", 0, 2)
        pm.Normal("seen", centre, 0.5, observed=SEEN, dims="case")
        pm.Multinomial("pair", 3, [0.4, 0.6], observed=[[1, 2]])
        pm.Potential("positive", -pm.math.sqr(centre - 1))
    return model


model = cache(build)


def trace(**more):
    draws = {"centre": np.random.default_rng(0).normal(size=(2, 50)), **more}
    posterior = xr.Dataset({name: (("chain", "draw"), values) for name, values in draws.items()})
    return xr.DataTree.from_dict({"posterior": posterior})


def groups():
    return completed_groups(trace(), model(), np.random.default_rng(1))


def test_densities_are_those_of_the_formulas_and_potentials_warn_nobody():
    """A warning would be an error."""
    found, centre = groups(), trace()["posterior"]["centre"].values
    np.testing.assert_allclose(found["log_prior"]["centre"], stats.norm(0, 2).logpdf(centre))
    likelihood, replicated = found["log_likelihood"], found["posterior_predictive"]
    expected = stats.norm.logpdf(SEEN, centre[..., None], 0.5)
    np.testing.assert_allclose(likelihood["seen"], expected)
    assert replicated["seen"].dims == ("chain", "draw", "case")
    assert (likelihood["pair"].shape, replicated["pair"].shape) == ((2, 50, 1), (2, 50, 1, 2))
    assert likelihood["seen"].dtype == np.float64
    assert found["prior"].sizes["draw"] == 100


@pytest.mark.parametrize(("limit", "kept"), [(2400, {"seen", "pair"}), (2000, {"pair"})])
def test_large_likelihoods_are_left_out(monkeypatch, limit, kept):
    """Of 300 numbers in "seen" and 100 observations in "pair"."""
    monkeypatch.setattr("bayes_sota.core.sample.LARGEST_GROUP", limit)
    assert set(groups()["log_likelihood"]) == kept


def test_the_model_is_the_given_one_that_of_the_block_or_built():
    assert set(model_of(trace(), None, build).named_vars) >= {"centre", "seen", "pair"}
    longer = trace(more=np.zeros((2, 50)))
    with build() as extended:
        pm.Normal("more")
        assert model_of(longer, None, build) is extended
    refused("has more, which the model of the data lacks", model_of, longer, None, build)
    refused("lacks more", model_of, trace(), extended, build)


def test_no_trace_and_chains_of_different_length_are_refused():
    refused("got a NoneType without groups", check_trace, None)
    draws = trace()["posterior"]["centre"].values.copy()
    draws[1, 40:] = np.nan
    refused("chains of different length", check_trace, trace(centre=draws))


def test_statistics_of_any_sampler_are_kept_but_for_texts():
    assert describe_nuts(trace())["divergences"] == 0  # a sampler that has none
    given = {"diverging": np.eye(2, 50) > 0, "message": np.full((2, 50), None, object)}
    stated = xr.Dataset({name: (("chain", "draw"), v) for name, v in given.items()})
    tree = xr.DataTree.from_dict({"posterior": trace()["posterior"], "sample_stats": stated})
    assert describe_nuts(tree)["divergences"] == 2
    assert set(sampler_stats(tree).data_vars) == {"diverging"}
