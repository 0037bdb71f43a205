"""Tables of estimands and probabilities against NumPy on the same draws."""

import numpy as np
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.summary import estimand_summary, weighted_chance

NAMES = (
    "theta_sota", "expected_sota", "winner_skill", "multiplicity_bias", "winner_new_score",
    "best_new_score", "rho",
)  # fmt: skip


@pytest.fixture(scope="module")
def tree():
    board = bs.Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    return bs.estimate_sota(board, random_seed=3)


def test_summary_is_what_numpy_says(tree) -> None:
    draws = tree["posterior"]["theta_sota"].values.ravel()
    table = bs.summarize(tree, ci_prob=0.9)
    assert list(table.index) == list(NAMES)
    row = table.loc["theta_sota"]
    assert row["mean"] == pytest.approx(draws.mean())
    assert row["sd"] == pytest.approx(draws.std(ddof=1))
    assert (row["lower"], row["upper"]) == pytest.approx(tuple(np.quantile(draws, [0.05, 0.95])))
    assert row["mcse"] == pytest.approx(draws.std(ddof=1) / np.sqrt(draws.size))


def test_boards_get_a_row_each() -> None:
    boards = [
        bs.Leaderboard.from_maximum("0.9", n_test=500, n_classifiers=20, name="first"),
        bs.Leaderboard.from_maximum("0.8", n_test=300, n_classifiers=(10, 40), name="second"),
    ]
    table = bs.summarize(bs.estimate_sota(boards, draws=200, random_seed=0))
    assert {"theta_sota[first]", "theta_sota[second]", "rho"} <= set(table.index)
    assert "rho[first]" not in table.index
    assert 10 <= table.loc["n_classifiers[second]", "mean"] <= 40


def test_diagnostics_find_chains_that_disagree(tree) -> None:
    assert bs.diagnose(tree)["ok"] is True
    broken = tree.copy(deep=True)
    broken.attrs["draws_are_independent"] = 0
    broken["posterior"]["theta_sota"].values[0] -= 0.05
    found = bs.diagnose(broken)
    assert found["ok"] is False
    assert "r_hat" in found["reasons"][0]


def test_share_of_draws_above_a_skill(tree) -> None:
    draws = tree["posterior"]["theta_sota"].values.ravel()
    found = bs.core.probability_above(tree, 0.97)
    p = np.mean(draws > 0.97)
    assert found["probability"] == pytest.approx(p)
    assert found["mcse"] == pytest.approx(np.sqrt(p * (1 - p) / draws.size))
    assert bs.core.probability_above(tree, 1.0)["probability"] == 0.0


def test_dependent_draws_and_few_points_are_less_sure(tree) -> None:
    """Copies of one chain, and draws of weighted points, say less than independent draws."""
    theta = tree["posterior"]["theta_sota"].values
    above = np.repeat((theta > 0.97).astype(float)[:, ::10], 10, axis=1)
    facts = [{"draws_are_independent": k} for k in (1, 0)]
    independent, dependent = (weighted_chance(above, fact)["mcse"] for fact in facts)
    assert dependent == pytest.approx(10**0.5 * independent, rel=0.3)
    points = {"draws_are_independent": 1, "importance_effective_size": above.size}
    assert weighted_chance(above, points)["mcse"] == pytest.approx(2**0.5 * independent)


def test_wrong_questions_are_refused(tree) -> None:
    with pytest.raises(InputError, match="above must be a number"):
        bs.core.probability_above(tree, float("nan"))
    with pytest.raises(InputError, match="no variable"):
        estimand_summary(tree, "nonsense")
    with pytest.raises(InputError, match=r"0\.95"):
        bs.summarize(tree, ci_prob=95)


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("mine", "no theta_sota: var_names chooses of mine"),
    ],
)
def test_other_results_name_the_table_that_they_have(variable: str, message: str) -> None:
    draws = np.random.default_rng(0).normal(size=(2, 50, 2))
    content = xr.Dataset({variable: (("chain", "draw", "player"), draws)}, {"player": ["a", "b"]})
    tree = xr.DataTree.from_dict({"posterior": content})
    with pytest.raises(InputError, match=message):
        bs.summarize(tree)
    tree.attrs["draws_are_independent"] = 1
    rows = bs.summarize(tree, var_names=[variable])
    assert list(rows.index) == [f"{variable}[a]", f"{variable}[b]"]
    assert rows["mean"].tolist() == pytest.approx(draws.mean(axis=(0, 1)).tolist())


def test_skills_of_players_are_estimands() -> None:
    draws = np.random.default_rng(0).normal(size=(2, 50, 2))
    content = xr.Dataset({"epp": (("chain", "draw", "player"), draws)}, {"player": ["a", "b"]})
    content["skill_sd"] = content["epp"].std("player")
    table = bs.summarize(xr.DataTree.from_dict({"posterior": content}))
    assert list(table.index) == ["epp[a]", "epp[b]"]
    assert table["mean"].tolist() == pytest.approx(draws.mean(axis=(0, 1)).tolist())


def test_differences_of_claims_are_estimands() -> None:
    draws = np.random.default_rng(0).normal(size=(2, 50, 2))
    content = xr.Dataset({"difference": (("chain", "draw", "claim"), draws)}, {"claim": [1, 2]})
    content["congruence"] = content["difference"] ** 2
    table = bs.summarize(xr.DataTree.from_dict({"posterior": content}))
    assert list(table.index) == ["difference[1]", "difference[2]"]
    assert table["mean"].tolist() == pytest.approx(draws.mean(axis=(0, 1)).tolist())
