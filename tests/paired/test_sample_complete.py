"""``complete``: the tree of a trace, NUTS against the exact route, and what is refused."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.paired import posterior
from bayes_sota.paired.likelihood import PairedLikelihood
from bayes_sota.paired.models import build_model
from bayes_sota.paired.posterior import PairedFit
from bayes_sota.paired.sample import complete


def some_boards(seed: int = 0) -> bs.PairedBoards:
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.8, 0.04, 120)
    return bs.PairedBoards(*rng.binomial(500, skill, (2, 120)) / 500, n_test=(500, 500))


def trace_of(boards: bs.PairedBoards, draws: int = 10, **more: np.ndarray) -> xr.DataTree:
    """Draws near the truth, as a sampler stores them."""
    rng = np.random.default_rng(1)
    model = build_model(boards, family="normal")
    at = {"location": 1.107, "spread": 0.05, "rho": 0.7, "outliers": 0.02, "board_shift": 0.0}
    values = {k: v + 1e-3 * rng.standard_normal((2, draws)) for k, v in at.items()} | more
    data = {k: (("chain", "draw"), v) for k, v in values.items()}
    score = model.rvs_to_values[model["score"]].data
    return xr.DataTree.from_dict({
        "posterior": xr.Dataset(data),
        "observed_data": xr.Dataset({"score": (("classifier", "board"), score)}),
        "constant_data": xr.Dataset({"family": float(list(FAMILIES).index("normal"))}),
    })  # fmt: skip


@pytest.fixture(scope="module")
def trace() -> xr.DataTree:
    return trace_of(some_boards())


@pytest.mark.slow
def test_the_tree_of_a_trace_has_the_groups_of_the_schema(trace: xr.DataTree) -> None:
    tree = complete(trace, some_boards(), random_seed=0)
    assert set(tree["posterior"].data_vars) == set(tree["prior"].data_vars)
    assert {"theta_sota", "skill", "location"} <= set(tree["posterior"].data_vars)
    free = {"location", "spread", "rho", "outliers", "board_shift"}
    assert set(tree["log_prior"].data_vars) == free
    for name in ("observed_data", "posterior_predictive", "prior_predictive", "log_likelihood"):
        assert set(tree[name].data_vars) == {"score"}
    assert {"theta_sota", "winner_new_score"} <= set(bs.summarize(tree).index)
    report = bs.paired.describe_paired(tree, some_boards())
    assert report.content["theta_sota"]["mean"] == float(tree["posterior"]["theta_sota"].mean())


@pytest.mark.slow
def test_an_extended_model_gives_its_own_groups(trace: xr.DataTree) -> None:
    boards = some_boards()
    plain = complete(trace, boards, random_seed=0)
    longer = trace_of(boards, yours=np.zeros((2, 10)))
    with build_model(boards, family="normal"):
        pm.Normal("yours")
        pm.Normal("theirs", pm.modelcontext(None)["yours"], observed=[0.5])
        longer["observed_data"]["theirs"] = xr.DataArray([0.5], dims="theirs_dim_0")
        tree = complete(longer, boards, random_seed=0)
    assert set(tree["log_likelihood"].data_vars) == {"score", "theirs"}
    np.testing.assert_allclose(
        tree["log_likelihood"]["score"], plain["log_likelihood"]["score"], atol=0.03
    )
    assert {"yours", "skill"} <= set(tree["prior"].data_vars)


def test_other_boards_and_other_models_are_refused(trace: xr.DataTree) -> None:
    with pytest.raises(InputError, match="of other data: its 'score'"):
        complete(trace, some_boards(3))
    model = build_model(some_boards(), family="normal")
    with pytest.raises(InputError, match="the model is of other boards"):
        complete(trace, some_boards(), model, top=0.8)
    with pm.Model() as other:
        pm.Normal("location")
    with pytest.raises(InputError, match="no data 'family'"):
        complete(trace, some_boards(), other)


@pytest.mark.slow
def test_nuts_agrees_with_the_exact_route(monkeypatch: pytest.MonkeyPatch) -> None:
    """One family; chains start at the exact mean, because far from it a shape explains no team.

    There lies a mode with some hundredths of the mass. Importance points hit it now and then with
    a large weight, so that the sd of the location is ill determined, and hardly any chain comes.
    The middle of the location, where both have thousands of effective draws, is compared instead.
    """
    boards, family = some_boards(), "normal"

    fit = posterior.fit_pairs

    def finely(likelihood: PairedLikelihood, rng: np.random.Generator, _: int) -> PairedFit:
        return fit(likelihood, rng, 20_000, families=(family,))

    monkeypatch.setattr(posterior, "fit_pairs", finely)
    few = {"groups": "estimands", "public_alone": False}
    exact = bs.estimate_paired(boards, draws=4000, random_seed=0, **few)
    model = build_model(boards, family=family)
    start = {v.name: exact["posterior"][v.name].mean().item() for v in model.free_RVs}
    with model:
        trace = pm.sample(
            draws=1000, tune=700, chains=2, initvals=start, nuts_sampler="nutpie",
            compile_kwargs={"jitter_rvs": set()}, random_seed=1, progressbar=False,
        )  # fmt: skip
    tree = complete(trace, boards, random_seed=2)
    assert tree.attrs["divergences"] <= 4
    for name in ("theta_sota", "winner_skill", "rho", "residual_sd", "score_shift"):
        ours, theirs = (found["posterior"][name].values for found in (tree, exact))
        assert abs(ours.mean() - theirs.mean()) < 0.1 * theirs.std(), name
        assert ours.std() == pytest.approx(theirs.std(), rel=0.08), name
    ours, theirs = (
        np.quantile(found["posterior"]["location"], [0.25, 0.5, 0.75]) for found in (tree, exact)
    )
    width = np.ptp(theirs)
    assert abs(ours[1] - theirs[1]) < 0.1 * width / 1.35  # that of a normal law in its sd
    assert np.ptp(ours) == pytest.approx(width, rel=0.08)
