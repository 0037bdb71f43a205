"""The convenience composes; routes agree; results carry their provenance."""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.errors import InputError

BOARD = bs.Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50, rounding="exact")


def test_default_route_is_exact_and_reproducible() -> None:
    first, second = (bs.estimate_sota(BOARD, random_seed=7) for _ in range(2))
    assert first.attrs["method"] == "exact"
    for name in first["posterior"].data_vars:
        np.testing.assert_array_equal(first["posterior"][name], second["posterior"][name])


def test_result_has_the_groups_and_attributes_of_the_schema() -> None:
    from bayes_sota.core.schema import ATTRIBUTES, GROUPS, VARIABLES

    tree = bs.estimate_sota(BOARD, random_seed=0, model="observed-maximum")
    assert set(tree.children) == set(GROUPS) - {"point_estimate"}
    assert set(ATTRIBUTES) <= set(tree.attrs)
    assert set(tree["posterior"].data_vars) <= set(VARIABLES)
    assert tree.attrs["model_name"] == "observed-maximum"
    assert tree.attrs["model_hash"] == bs.load_model("observed-maximum").specification_hash


def test_a_result_survives_netcdf(tmp_path) -> None:
    tree = bs.estimate_sota(BOARD, draws=50, random_seed=0)
    again = bs.read_result(bs.save_result(tree, tmp_path / "result.nc"))
    assert set(again.children) == set(tree.children)
    for group in tree.children:
        assert again[group].to_dataset().identical(tree[group].to_dataset())
    assert dict(again.attrs) == dict(tree.attrs)


def test_a_result_that_cannot_be_written_leaves_nothing(tmp_path) -> None:
    tree = bs.estimate_sota(BOARD, draws=10, random_seed=0)
    with pytest.raises(InputError, match="directory"):
        bs.save_result(tree, tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        bs.save_result(tree, tmp_path / "none" / "x.nc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_simulation_agrees_with_the_exact_route() -> None:
    exact = bs.estimate_sota(BOARD, random_seed=1)
    simulated = bs.estimate_sota(BOARD, method="abc", draws=600, chains=2, random_seed=1, cores=1)
    assert simulated.attrs["method"] == "abc"
    assert simulated.attrs["epsilon"] > 0
    for name in ("theta_sota", "winner_skill", "expected_sota"):
        a, b = (tree["posterior"][name].values for tree in (exact, simulated))
        assert abs(a.mean() - b.mean()) < 0.2 * a.std(), name
        assert 0.85 < b.std() / a.std() < 1.2, name
    assert set(simulated["posterior"].data_vars) == set(exact["posterior"].data_vars)


def test_sensitivity_starts_with_the_result_and_orders_the_tries() -> None:
    rows = bs.sota_sensitivity(BOARD, draws=4000)
    assert rows["assumption"][0] == "as given"
    tries = rows[rows["assumption"] == "n_classifiers"]
    assert list(tries["value"]) == [0.5, 2.0, 10.0]
    assert np.all(np.diff(tries["mean"]) < 0)
    rho = rows[rows["assumption"] == "rho"]
    assert np.all(np.diff(rho["value"]) > 0)
    assert rho["mean"].iloc[-1] > rho["mean"].iloc[0]


def test_reference_skill_reaches_the_posterior() -> None:
    tree = bs.estimate_sota(BOARD, random_seed=0, reference_skill=0.9, draws=50)
    assert float(tree["constant_data"]["reference_skill"]) == 0.9


def test_contradictions_are_refused() -> None:
    with pytest.raises(InputError, match="not both"):
        bs.estimate_sota(BOARD, priors=bs.Priors(), model="observed-maximum")
    with pytest.raises(InputError, match="method"):
        bs.estimate_sota(BOARD, method="magic")
    with pytest.raises(InputError, match="at least one"):
        bs.estimate_sota([])
