"""The model of two boards and ``complete_paired``: likelihood, tree, NUTS, what is refused."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.leaderboard.models_pairs import build_paired, model_fit
from bayes_sota.leaderboard.pairs_posterior import fit_pairs
from bayes_sota.leaderboard.sample_pairs import complete_paired

QUICK = {"mode": "FAST_COMPILE"}


def boards(seed: int = 0, m: int = 60, **options) -> bs.PairedBoards:
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.8, 0.04, m)
    given = options or {"n_test": (500, 500)}
    return bs.PairedBoards(*rng.binomial(500, skill, (2, m)) / 500, **given)


def trace_of(data: bs.PairedBoards, **more: np.ndarray) -> xr.DataTree:
    """Draws near the truth, as a sampler stores them."""
    rng, at = np.random.default_rng(1), {"location": 1.38, "spread": 0.25}
    values = {k: v + 1e-3 * rng.standard_normal((2, 10)) for k, v in at.items()} | more
    score = np.stack([data.public, data.private], axis=1)[model_fit(data, None, "normal", None)
                                                          .pairs.kept]  # fmt: skip
    return xr.DataTree.from_dict({
        "posterior": xr.Dataset({k: (("chain", "draw"), v) for k, v in values.items()}),
        "observed_data": xr.Dataset({"score": (("classifier", "board"), score)}),
        "constant_data": xr.Dataset({"family": 0.0}),
    })  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("normal", {"n_test": (500, 500)}),
        ("ex-gaussian", {"standard_errors": (0.02, 0.02)}),
        ("ex-gaussian", {"submissions": [1 + i % 7 * 9 for i in range(60)]}),
    ],
)
def test_the_likelihood_is_that_of_the_exact_route(family: str, options: dict) -> None:
    data = boards(**options)
    fit, model = model_fit(data, None, family, None), build_paired(data, family=family)
    shape = {"shape": [0.3]} if family == "ex-gaussian" else {}
    logp = model.compile_fn(model.logp(model["score"]), inputs=model.value_vars, **QUICK)
    for place, width in ((0.4, -0.5), (1.0, 0.2)):
        scale, law = fit.scale, fit.law
        zero, one = law.location_at(np.array([0.0, 1.0]))
        value = {
            "location": zero + (one - zero) * scale.place(place),
            "spread_log__": np.log((one - zero) * scale.width(np, width)),
        }
        found = logp(value | shape)
        points = np.array([[place, width, *shape.get("shape", [])]])
        each = fit.log_likelihood(family, points)[0]
        assert float(found) == pytest.approx(np.logaddexp.reduce(each) - np.log(each.size), 1e-9)


@pytest.mark.slow
def test_the_tree_of_a_trace_has_the_groups_of_the_schema() -> None:
    data = boards()
    tree = complete_paired(trace_of(data), data, random_seed=0)
    assert set(tree["posterior"].data_vars) == set(tree["prior"].data_vars)
    assert {"theta_sota", "skill", "location"} <= set(tree["posterior"].data_vars)
    for name in ("observed_data", "posterior_predictive", "prior_predictive", "log_likelihood"):
        assert set(tree[name].data_vars) == {"score"}
    assert {"theta_sota", "winner_new_score"} <= set(bs.summarize(tree).index)
    report = bs.leaderboard.describe_paired(tree, data)
    assert report.content["theta_sota"]["mean"] == float(tree["posterior"]["theta_sota"].mean())


@pytest.mark.slow
def test_an_extended_model_gives_its_own_groups() -> None:
    data = boards()
    longer = trace_of(data, yours=np.zeros((2, 10)))
    with build_paired(data, family="normal"):
        pm.Normal("yours")
        pm.Normal("theirs", pm.modelcontext(None)["yours"], observed=[0.5])
        longer["observed_data"]["theirs"] = xr.DataArray([0.5], dims="theirs_dim_0")
        tree = complete_paired(longer, data, random_seed=0)
    assert set(tree["log_likelihood"].data_vars) == {"score", "theirs"}
    assert {"yours", "location"} <= set(tree["prior"].data_vars)
    assert {"yours", "skill"} <= set(tree["posterior"].data_vars)


def test_other_boards_and_other_models_are_refused() -> None:
    data, trace = boards(), trace_of(boards())
    with pytest.raises(InputError, match="of other data: its 'score'"):
        complete_paired(trace, boards(3))
    with pytest.raises(InputError, match="the model is of other boards"):
        complete_paired(trace, data, build_paired(data, family="normal"), top=0.8)
    with pm.Model() as other:
        pm.Normal("location")
    with pytest.raises(InputError, match="no data 'family'"):
        complete_paired(trace, data, other)
    with pytest.raises(InputError, match="family must be one of"):
        build_paired(data, family="square")


@pytest.mark.slow
def test_nuts_agrees_with_the_exact_route() -> None:
    data = boards(m=120)
    exact = bs.estimate_paired(data, draws=1000, random_seed=0, groups="estimands")
    fit = fit_pairs(data, None, np.random.default_rng(0))
    weights, trees = fit.shape_weights, {}
    for family in fit.families:
        with build_paired(data, family=family):
            trace = pm.sample(
                draws=500, tune=500, chains=2, random_seed=1, progressbar=False,
                nuts_sampler="nutpie",
            )  # fmt: skip
        trees[family] = complete_paired(trace, data, random_seed=2)
        assert trees[family].attrs["divergences"] <= 20
    for name in ("theta_sota", "winner_skill", "rho", "residual_sd", "score_shift"):
        values = exact["posterior"][name].values
        moments = {f: tree["posterior"][name].values for f, tree in trees.items()}
        mean = sum(weights[f] * v.mean() for f, v in moments.items())
        square = sum(weights[f] * (v**2).mean() for f, v in moments.items())
        assert abs(mean - values.mean()) < 0.12 * values.std(), name
        assert np.sqrt(square - mean**2) == pytest.approx(values.std(), rel=0.1), name
