"""Any trace of a model of claims becomes the complete result; traces of others are refused."""

from typing import Any

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from scipy import stats

import bayes_sota as bs
from bayes_sota.claims.models import build_case_differences
from bayes_sota.claims.sample import complete
from bayes_sota.core.errors import InputError

RNG = np.random.default_rng(0)
CASES = RNG.normal(0.02, 0.1, 40)


def trace_of(model: pm.Model, **changes: Any) -> xr.DataTree:
    """Draws of the prior in the place of a posterior: nothing to be sampled by NUTS."""
    drawn = pm.sample_prior_predictive(
        60, model, random_seed=1, compile_kwargs={"mode": "FAST_COMPILE"}
    )
    posterior = drawn["prior"].to_dataset().assign(changes)
    return xr.DataTree.from_dict(
        {"posterior": posterior, "observed_data": drawn["observed_data"].to_dataset()}
    )


@pytest.fixture(scope="module")
def model() -> pm.Model:
    return build_case_differences(CASES)


@pytest.fixture(scope="module")
def trace(model: pm.Model) -> xr.DataTree:
    return trace_of(model)


@pytest.mark.slow
def test_the_groups_are_those_of_the_model(model: pm.Model, trace: xr.DataTree) -> None:
    with model:
        tree = complete(trace, random_seed=0)
    posterior = tree["posterior"]
    mean, log_scale = (posterior[name].values[..., None] for name in ("difference", "log_scale"))
    law = stats.norm.logpdf(CASES, mean, CASES.std(ddof=1) * np.exp(log_scale))
    assert tree["log_likelihood"]["case_difference"].dims == ("chain", "draw", "case")
    assert tree["log_likelihood"]["case_difference"].values == pytest.approx(law)
    prior = stats.norm.logpdf(posterior["standardized_difference"].values, 0, 10)
    assert tree["log_prior"]["standardized_difference"].values == pytest.approx(prior)
    assert set(tree["prior"].data_vars) == set(posterior.data_vars)
    assert tree["posterior_predictive"]["case_difference"].dims == ("chain", "draw", "case")
    share = float((posterior["difference"] <= 0).mean())
    assert float(tree["point_estimate"]["p_false"]) == share
    assert list(bs.summarize(tree).index) == ["difference", "p_false"]


@pytest.mark.slow
def test_an_extended_model_gives_its_own_groups(trace: xr.DataTree) -> None:
    with build_case_differences(CASES) as extended:
        more = pm.Normal("more", extended["difference"], 1, initval=0.3)
        pm.Normal("further", more, 1, observed=[0.5, 0.2])
    own = trace_of(extended)
    tree = complete(own, extended, random_seed=0)
    assert {"case_difference", "further"} == set(tree["posterior_predictive"].data_vars)
    assert {"case_difference", "further"} == set(tree["log_likelihood"].data_vars)
    expected = stats.norm.logpdf([0.5, 0.2], own["posterior"]["more"].values[..., None])
    assert tree["log_likelihood"]["further"].values == pytest.approx(expected)
    assert "more" in tree["log_prior"]
    with pytest.raises(InputError, match="lacks more, which the model has"):
        complete(trace, extended)


def test_what_is_no_trace_of_the_model(model: pm.Model, trace: xr.DataTree) -> None:
    with pytest.raises(InputError, match=r"which model .* give model="):
        complete(trace)
    other = build_case_differences(-CASES)
    with pytest.raises(InputError, match=r"of other data: its .case_difference. differ"):
        complete(trace, other)
    broken = trace.copy(deep=True)
    broken["posterior"]["difference"].values[0, -1] = np.nan
    with pytest.raises(InputError, match="chains of different length"):
        complete(broken, model)
    free = trace.copy(deep=True)
    free["posterior"] = xr.DataTree(free["posterior"].to_dataset().drop_vars("difference"))
    with pytest.raises(InputError, match="lacks the deterministic 'difference'"):
        complete(free, model)
    old = trace.copy()
    old.attrs["schema_version"] = "1"
    with pytest.raises(InputError, match=r"schema of the trace is .1"):
        complete(old, model)


def test_predictions_can_be_left_out(model: pm.Model, trace: xr.DataTree) -> None:
    tree = complete(trace, model, random_seed=0, predictive=False)
    assert set(tree.children) == {"posterior", "observed_data", "point_estimate"}
    assert tree.attrs["model_name"] == "unnamed"
