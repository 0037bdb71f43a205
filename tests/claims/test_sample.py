"""Sampled and exact claims agree with closed forms, and come in the one schema."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pymc as pm
import pytest
from schema_names import ATTRIBUTES, DIMENSIONS, GROUPS
from scipy import stats

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.means import Means
from bayes_sota.claims.models import build_case_differences, build_model
from bayes_sota.claims.sample import sample_claim
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import read_result, save_result
from bayes_sota.core.summary import diagnose

REVIEW = {
    "accuracy_a": [0.90, 0.85, 0.80, 0.95, 0.90, 0.75],
    "accuracy_b": [0.88, 0.80, 0.78, 0.94, 0.88, 0.73],
    "n_test": [500, 200, 300, 200, 300, 400],
    "congruence": [0.85, 0.75, 0.72, np.nan, np.nan, np.nan],
}


@pytest.mark.slow
def test_cases_have_student_s_t_and_the_result_is_whole(tmp_path: Path) -> None:
    """One model, sampled once."""
    cases = 0.05 * np.random.default_rng(5).standard_normal(100)
    cases = cases - cases.mean() + 0.006
    seed = np.random.default_rng(2)
    tree = sample_claim(build_case_differences(cases), draws=1000, tune=700, random_seed=seed)
    assert diagnose(tree)["ok"]
    sd = cases.std(ddof=1)
    known = {"sd_difference": sd, "bounds": None}
    expected = Means(a=cases.mean(), b=0.0, n=cases.size, **known).p_false()
    found = tree["point_estimate"]
    assert 0.02 < expected < 0.3
    error = 4 * float(found["p_false_mcse"]) + 2e-3
    assert float(found["p_false"]) == pytest.approx(expected, abs=error)
    drawn = tree["posterior"]["difference"].values.ravel()[::10]
    law = stats.t(99, cases.mean(), sd / 10)
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-3
    assert set(tree.children) <= set(GROUPS)
    assert set(ATTRIBUTES) <= set(tree.attrs)
    told = {name: tree.attrs[name] for name in ("method", "random_seed", "model_name")}
    assert told == {"method": "nuts", "random_seed": "generator", "model_name": "unnamed"}
    assert tree.attrs["divergences"] == 0
    assert tree["prior"]["difference"].size == 1000
    assert tree["posterior_predictive"]["case_difference"].shape == (4, 1000, 100)
    share = np.mean(tree["posterior"]["difference"].values <= 0)
    assert float(tree["point_estimate"]["p_false"]) == share
    again = read_result(save_result(tree, tmp_path / "claim.nc"))
    assert again["point_estimate"].to_dataset().equals(found.to_dataset())
    assert again.attrs["data_hash"] == tree.attrs["data_hash"]


def test_models_without_a_claim() -> None:
    with pm.Model() as model:
        pm.Normal("x", observed=1.0)
    with pytest.raises(InputError, match="deterministic 'difference'"):
        sample_claim(model)


@pytest.mark.slow
def test_flat_claims_are_the_closed_form() -> None:
    model = build_model(**REVIEW)
    few = {"draws": 1000, "tune": 500, "chains": 2}
    found = sample_claim(model, random_seed=0, predictive=False, **few)["point_estimate"]
    for i, (a, b, n, share) in enumerate(zip(*REVIEW.values(), strict=True)):
        expected = false_claim_probability(a, b, n, share if np.isfinite(share) else None)
        error = float(found["p_false_mcse"][i])
        assert abs(float(found["p_false"][i]) - expected) < 4 * error + 1e-3


# Names of the schema

RNG = np.random.default_rng(0)
MODELS: dict[str, Callable[[], pm.Model]] = {
    "review": lambda: build_model([0.9, 0.8], [0.88, 0.7], 50, [0.85, np.nan]),
    "cases": lambda: build_case_differences(RNG.normal(0.01, 0.05, 30)),
}
# data that a model was given and its indices, which the schema does not name
GIVEN = {"given_difference", "n_test"}


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    model = MODELS[name]()
    kept = [*model.free_RVs, *model.deterministics, *model.observed_RVs]
    assert {v.name for v in model.data_vars} <= GIVEN
    dims = {dim for of in model.named_vars_to_dims.values() for dim in of}
    assert dims <= set(DIMENSIONS)
    for variable in kept:
        named = len(model.named_vars_to_dims.get(variable.name, ()))
        assert named == variable.ndim, f"{variable.name} has dimensions without names"
