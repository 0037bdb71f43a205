"""Whole leaderboards through the convenience: groups, provenance, sensitivity, refusals."""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, FixedCorrelation
from bayes_sota.core.schema import ATTRIBUTES, GROUPS, VARIABLES

SCORES = np.random.default_rng(1).binomial(500, 0.85 + 0.05 * np.random.default_rng(2).random(40))
BOARD = bs.Leaderboard(SCORES / 500, n_test=500, rounding="exact")


def test_a_board_with_scores_is_read_whole() -> None:
    tree = bs.estimate_sota(BOARD, random_seed=3)
    assert tree.attrs["method"] == "exact"
    assert set(tree.children) <= set(GROUPS)
    assert set(ATTRIBUTES) <= set(tree.attrs)
    assert set(tree["posterior"].data_vars) <= set(VARIABLES)
    assert tree["observed_data"]["score"].sizes == {"classifier": 40}
    weights = tree["sample_stats/families"]["probability"]
    assert float(weights.sum()) == pytest.approx(1)
    assert bs.diagnose(tree)["ok"]
    assert bs.summarize(tree).loc["theta_sota", "mean"] < BOARD.maximum


def test_the_same_seed_gives_the_same_result() -> None:
    a, b = (bs.estimate_sota(BOARD, random_seed=5, draws=50) for _ in range(2))
    for name in a["posterior"].data_vars:
        np.testing.assert_array_equal(a["posterior"][name], b["posterior"][name])


def test_it_survives_netcdf(tmp_path) -> None:
    tree = bs.estimate_sota(BOARD, draws=50, random_seed=0)
    again = bs.read_result(bs.save_result(tree, tmp_path / "board.nc"))
    for group in ("posterior", "sample_stats/families", "posterior_predictive/board"):
        assert again[group].to_dataset().identical(tree[group].to_dataset())
    assert dict(again.attrs) == dict(tree.attrs)


def test_the_maximum_alone_is_another_model() -> None:
    alone = bs.estimate_sota(BOARD.maximum_only(), random_seed=0)
    assert "location" in alone["posterior"]
    with pytest.raises(InputError, match="maximum_only"):
        bs.estimate_sota(BOARD, method="abc")
    with pytest.raises(InputError, match="maximum_only"):
        bs.estimate_sota([BOARD, BOARD])


def test_priors_and_models_must_fit_the_board() -> None:
    with pytest.raises(InputError, match="takes BoardPriors, got Priors"):
        bs.estimate_sota(BOARD, priors=bs.Priors())
    with pytest.raises(InputError, match="takes Priors, got BoardPriors"):
        bs.estimate_sota(BOARD.maximum_only(), priors=BoardPriors())
    with pytest.raises(InputError, match="'observed-maximum' is for observed maxima"):
        bs.estimate_sota(BOARD, model="observed-maximum")
    with pytest.raises(InputError, match="'leaderboard' is for boards with all scores"):
        bs.estimate_sota(BOARD.maximum_only(), model="leaderboard")
    tree = bs.estimate_sota(BOARD, model="leaderboard", draws=20, random_seed=0)
    assert tree.attrs["model_hash"] == bs.load_model("leaderboard").specification_hash


def test_sensitivity_of_a_board() -> None:
    rows = bs.sota_sensitivity(BOARD, draws=4000)
    rho = rows[rows["assumption"] == "rho"]
    assert len(rho) == 7
    assert np.all(np.diff(rho["value"].astype(float)) > 0)
    assert rho["mean"].iloc[-1] > rho["mean"].iloc[0]  # the more is shared, the less is luck
    assert set(rows[rows["assumption"] == "family"]["value"]) == set(BoardPriors().families)
    assert (rows["assumption"] == "rho learnt from the scores").sum() == 1
    assert "n_classifiers" in set(rows["assumption"])


def test_a_known_rho_leaves_its_rows_out() -> None:
    priors = BoardPriors(correlation=FixedCorrelation(0.7), families=("normal",))
    rows = bs.sota_sensitivity(BOARD, priors=priors, draws=200)
    assert set(rows["assumption"]) == {"as given", "n_classifiers"}
