"""What a model gives for a trace, against formulas; what is too large, and draws of any sampler."""

from functools import cache

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from scipy import stats

from bayes_sota.core.sample import describe_nuts, model_groups

SEEN = np.array([0.3, -1.0, 2.0])


@cache
def model() -> pm.Model:
    with pm.Model(coords={"case": list("abc")}) as found:
        centre = pm.Normal("centre")
        pm.Normal("seen", centre, 0.5, observed=SEEN, dims="case")
        pm.Multinomial("pair", 3, [0.4, 0.6], observed=[[1, 2]])
        pm.Potential("positive", -pm.math.sqr(centre - 1))
    return found


def trace() -> xr.DataTree:
    draws = np.random.default_rng(0).normal(size=(2, 50))
    return xr.DataTree.from_dict({"posterior": xr.Dataset({"centre": (("chain", "draw"), draws)})})


def test_densities_are_those_of_the_formulas_and_potentials_warn_nobody() -> None:
    """A warning would be an error."""
    found = model_groups(model(), trace(), np.random.default_rng(1))
    centre = trace()["posterior"]["centre"].values
    np.testing.assert_allclose(found["log_prior"]["centre"], stats.norm.logpdf(centre))
    likelihood = found["log_likelihood"]
    expected = stats.norm.logpdf(SEEN, centre[..., None], 0.5)
    np.testing.assert_allclose(likelihood["seen"], expected)
    assert likelihood["pair"].shape == (2, 50, 1)
    assert likelihood["seen"].dtype == np.float64
    assert found["posterior_predictive"]["pair"].shape == (2, 50, 1, 2)
    assert found["prior"].sizes["draw"] == 100


@pytest.mark.parametrize(("limit", "kept"), [(2400, {"seen", "pair"}), (2000, {"pair"})])
def test_large_likelihoods_are_left_out(
    monkeypatch: pytest.MonkeyPatch, limit: int, kept: set[str]
) -> None:
    """Of 300 numbers in "seen" and 100 observations in "pair"."""
    monkeypatch.setattr("bayes_sota.core.sample.LARGEST_GROUP", limit)
    found = model_groups(model(), trace(), np.random.default_rng(1))["log_likelihood"]
    assert set(found) == kept


def test_draws_of_another_sampler_have_no_divergences() -> None:
    assert describe_nuts(trace())["divergences"] == 0
    stated = xr.Dataset({"diverging": (("chain", "draw"), np.eye(2, 50) > 0)})
    with_stats = xr.DataTree.from_dict({"posterior": trace()["posterior"], "sample_stats": stated})
    assert describe_nuts(with_stats)["divergences"] == 2
