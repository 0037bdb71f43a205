"""What a model gives for a trace, and which traces it refuses."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from scipy import stats

from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import check_trace, model_groups, model_of, sampler_stats

DATA = np.array([0.3, -0.2, 1.1])


def build() -> pm.Model:
    with pm.Model(coords={"case": [0, 1, 2]}) as model:
        mean = pm.Normal("mean", 0, 2)
        pm.Normal("score", mean, 1, observed=DATA, dims="case")
        pm.Poisson("count", 3, observed=2)
    return model


def trace(**more: np.ndarray) -> xr.DataTree:
    draws = {"mean": np.random.default_rng(0).normal(0.4, 0.5, (2, 50)), **more}
    posterior = xr.Dataset({name: (("chain", "draw"), values) for name, values in draws.items()})
    return xr.DataTree.from_dict({"posterior": posterior})


def test_groups_are_those_of_the_model() -> None:
    found = model_groups(build(), trace(), np.random.default_rng(1))
    names = {"prior", "prior_predictive", "posterior_predictive", "log_likelihood", "log_prior"}
    assert set(found) == names
    mean = trace()["posterior"]["mean"]
    expected = stats.norm.logpdf(DATA, mean.values[..., None], 1)
    np.testing.assert_allclose(found["log_likelihood"]["score"], expected)
    np.testing.assert_allclose(found["log_prior"]["mean"], stats.norm(0, 2).logpdf(mean))
    assert found["posterior_predictive"]["score"].dims == ("chain", "draw", "case")
    assert found["prior"]["mean"].size == 100


@pytest.mark.slow
def test_replicates_that_the_caller_draws_are_left_out() -> None:
    rng = np.random.default_rng(1)
    found = model_groups(build(), trace(), rng, replicated=("score",))
    for group in ("prior_predictive", "posterior_predictive"):
        assert set(found[group].data_vars) == {"count"}
    assert set(found["log_likelihood"].data_vars) == {"score", "count"}
    found = model_groups(build(), trace(), rng, replicated=("score", "count"))
    assert set(found) == {"prior", "log_likelihood", "log_prior"}


def test_the_model_is_the_given_one_that_of_the_block_or_built() -> None:
    assert set(model_of(trace(), None, build).named_vars) == {"mean", "score", "count"}
    with build() as model:
        pm.Normal("more")
        assert model_of(trace(more=np.zeros((2, 50))), None, build) is model
    with pytest.raises(InputError, match="has more, which the model of the data lacks"):
        model_of(trace(more=np.zeros((2, 50))), None, build)
    with pytest.raises(InputError, match="lacks more"):
        model_of(trace(), model, build)


def test_chains_of_different_length_are_refused() -> None:
    draws = trace()["posterior"]["mean"].values.copy()
    draws[1, 40:] = np.nan
    with pytest.raises(InputError, match="chains of different length"):
        check_trace(trace(mean=draws))


def test_statistics_of_the_sampler_are_kept_but_for_texts() -> None:
    stats_of = {
        "diverging": (("chain", "draw"), np.zeros((2, 3), bool)),
        "message": (("chain", "draw"), np.full((2, 3), None, object)),
    }
    tree = xr.DataTree.from_dict({"sample_stats": xr.Dataset(stats_of, attrs={"by": "x"})})
    found = sampler_stats(tree)
    assert set(found.data_vars) == {"diverging"}
    assert found.attrs == {}
