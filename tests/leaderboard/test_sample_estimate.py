"""The convenience composes; routes agree; results carry their provenance."""

import numpy as np
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, FixedCorrelation, MaximumPriors
from bayes_sota.core.schema import ATTRIBUTES, GROUPS, VARIABLES

MAXIMUM = bs.Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50, rounding="exact")
COUNTS = np.random.default_rng(1).binomial(500, 0.85 + 0.05 * np.random.default_rng(2).random(40))
BOARD = bs.Leaderboard(COUNTS / 500, n_test=500, rounding="exact")
ONE = BoardPriors(correlation=FixedCorrelation(0.7), families=("normal",))


@pytest.fixture(scope="module", params=["maximum", "board"])
def tree(request: pytest.FixtureRequest) -> xr.DataTree:
    board = MAXIMUM if request.param == "maximum" else BOARD
    return bs.estimate_sota(board, draws=50, random_seed=7)


def test_results_have_the_groups_and_attributes_of_the_schema(tree: xr.DataTree) -> None:
    assert tree.attrs["method"] == "exact"
    assert set(tree.children) <= set(GROUPS)
    assert set(ATTRIBUTES) <= set(tree.attrs)
    assert set(tree["posterior"].data_vars) <= set(VARIABLES)
    assert bs.diagnose(tree)["ok"]
    maximum = float(tree["observed_data"]["observed_maximum"].values.ravel()[0])
    assert bs.summarize(tree).loc["theta_sota", "mean"] < maximum
    if "/sample_stats/families" in tree.groups:
        assert float(tree["sample_stats/families"]["probability"].sum()) == pytest.approx(1)
        assert tree["observed_data"]["score"].sizes == {"classifier": 40}


def test_the_same_seed_gives_the_same_result(tree: xr.DataTree) -> None:
    board = MAXIMUM if "location" in tree["posterior"] else BOARD
    again = bs.estimate_sota(board, random_seed=7, draws=50)
    for name in tree["posterior"].data_vars:
        np.testing.assert_array_equal(tree["posterior"][name], again["posterior"][name])


def test_a_result_survives_netcdf(tree: xr.DataTree, tmp_path) -> None:
    again = bs.read_result(bs.save_result(tree, tmp_path / "result.nc"))
    assert set(again.groups) == set(tree.groups)
    for group in tree.groups:
        assert again[group].to_dataset().identical(tree[group].to_dataset())
    assert dict(again.attrs) == dict(tree.attrs)


def test_a_result_that_cannot_be_written_leaves_nothing(tree: xr.DataTree, tmp_path) -> None:
    with pytest.raises(InputError, match="directory"):
        bs.save_result(tree, tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        bs.save_result(tree, tmp_path / "none" / "x.nc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_simulation_agrees_with_the_exact_route() -> None:
    exact = bs.estimate_sota(MAXIMUM, random_seed=1)
    simulated = bs.estimate_sota(MAXIMUM, method="abc", draws=600, chains=2, random_seed=1, cores=1)
    assert simulated.attrs["method"] == "abc"
    assert simulated.attrs["epsilon"] > 0
    for name in ("theta_sota", "winner_skill", "expected_sota"):
        a, b = (tree["posterior"][name].values for tree in (exact, simulated))
        assert abs(a.mean() - b.mean()) < 0.2 * a.std(), name
        assert 0.85 < b.std() / a.std() < 1.2, name
    assert set(simulated["posterior"].data_vars) == set(exact["posterior"].data_vars)


def test_sensitivity_of_a_maximum() -> None:
    rows = bs.sota_sensitivity(MAXIMUM, draws=4000)
    assert rows["assumption"][0] == "as given"
    tries = rows[rows["assumption"] == "n_classifiers"]
    assert list(tries["value"]) == [0.5, 2.0, 10.0]
    assert np.all(np.diff(tries["mean"]) < 0)
    rho = rows[rows["assumption"] == "rho"]
    assert np.all(np.diff(rho["value"]) > 0)
    assert rho["mean"].iloc[-1] > rho["mean"].iloc[0]


def test_sensitivity_of_a_board() -> None:
    rows = bs.sota_sensitivity(
        BOARD, priors=BoardPriors(families=("normal", "plateau")), draws=4000
    )
    rho = rows[rows["assumption"] == "rho"]
    assert len(rho) == 7
    assert np.all(np.diff(rho["value"].astype(float)) > 0)
    assert rho["mean"].iloc[-1] > rho["mean"].iloc[0]  # the more is shared, the less is luck
    assert set(rows[rows["assumption"] == "family"]["value"]) == {"normal", "plateau"}
    assert (rows["assumption"] == "rho learnt from the scores").sum() == 1
    known = bs.sota_sensitivity(BOARD, priors=ONE, draws=200)
    assert set(known["assumption"]) == {"as given", "n_classifiers"}


def test_models_and_reference_skills_reach_the_result() -> None:
    tree = bs.estimate_sota(MAXIMUM, random_seed=0, reference_skill=0.9, draws=50)
    assert float(tree["constant_data"]["reference_skill"]) == 0.9
    for board, name in ((MAXIMUM, "observed-maximum"), (BOARD, "leaderboard")):
        tree = bs.estimate_sota(board, model=name, draws=20, random_seed=0)
        assert tree.attrs["model_name"] == name
        assert tree.attrs["model_hash"] == bs.load_model(name).specification_hash


@pytest.mark.parametrize(
    ("board", "options", "message"),
    [
        (MAXIMUM, {"priors": bs.Priors(), "model": "observed-maximum"}, "not both"),
        (MAXIMUM, {"method": "magic"}, "method"),
        ([], {}, "at least one"),
        (BOARD, {"method": "abc"}, "maximum_only"),
        ([BOARD, BOARD], {}, "maximum_only"),
        (BOARD, {"priors": MaximumPriors()}, "must be Priors, got MaximumPriors"),
        (MAXIMUM, {"priors": BoardPriors()}, "must be Priors, got BoardPriors"),
        (BOARD, {"model": "observed-maximum"}, "'observed-maximum' is for observed maxima"),
        (MAXIMUM, {"model": "leaderboard"}, "'leaderboard' is for boards with all scores"),
        (BOARD, {"method": "nuts", "learn_rho": True}, 'learn_rho has no effect on method "nuts"'),
    ],
)
def test_contradictions_are_refused(board, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bs.estimate_sota(board, **options)
