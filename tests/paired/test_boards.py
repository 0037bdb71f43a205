"""Private scores and places to expect, against closed forms, and their figure."""

import numpy as np
import pytest
import xarray as xr

from bayes_sota.paired.plots import plot_boards
from bayes_sota.paired.summary import regression_table, shake_up_table

TEAMS, DRAWS = 60, 2000
SPREAD, PUBLIC, PRIVATE, SHIFT = 0.03, 0.02, 0.01, -0.015


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    """Replicates of normal skills and errors, drawn anew for every draw."""
    rng = np.random.default_rng(0)
    boards = [simulate(rng) for _ in range(DRAWS + 1)]
    names = [f"t{j}" for j in range(TEAMS)]
    coords = {"classifier": names, "board": ["public", "private"]}
    drawn = np.array(boards[1:]).reshape(4, -1, TEAMS, 2)
    dims = ("classifier", "board")
    return xr.DataTree.from_dict(
        {
            "observed_data": xr.Dataset({"score": (dims, boards[0])}, coords),
            "posterior_predictive": xr.Dataset(
                {"score": (("chain", "draw", *dims), drawn)}, coords
            ),
        }
    )


def simulate(rng: np.random.Generator) -> np.ndarray:
    skill = rng.normal(0.8, SPREAD, TEAMS)
    public = skill + rng.normal(0, PUBLIC, TEAMS)
    return np.stack([public, skill + SHIFT + rng.normal(0, PRIVATE, TEAMS)], axis=1)


def test_expected_private_scores_regress_to_the_mean(tree: xr.DataTree) -> None:
    table, slope = regression_table(tree, ci_prob=0.8), SPREAD**2 / (SPREAD**2 + PUBLIC**2)
    expected = 0.8 + SHIFT + slope * (table["public"] - 0.8)
    sd = np.sqrt(SPREAD**2 * (1 - slope) + PRIVATE**2)
    scores = tree["posterior_predictive"]["score"].values[..., 0].ravel()
    width = np.ptp(tree["observed_data"]["score"].values[:, 0]) / 24
    counts = np.array([np.sum(np.abs(scores - x) < width / 2) for x in table["public"]])
    assert np.all(np.abs(table["expected"] - expected) < 4.5 * sd / np.sqrt(counts))
    for end, z in (("lower", -1.2816), ("upper", 1.2816)):
        error = 4.5 * 1.6 * sd / np.sqrt(counts)  # of a quantile; the bins are narrow beside sd
        assert np.all(np.abs(table[end] - expected - z * sd) < error + 0.1 * width)
    # without regression to the mean the best would keep their scores: excluded
    assert np.max(np.abs(table["public"] + SHIFT - expected)) > 0.01


@pytest.mark.slow
def test_places_kept_are_counted(tree: xr.DataTree) -> None:
    table = shake_up_table(tree)
    public, private = tree["observed_data"]["score"].values.T
    drawn = tree["posterior_predictive"]["score"].values.reshape(-1, TEAMS, 2)
    for row in table.itertuples():
        assert row.observed == pytest.approx(kept(public, private, row.places))
        shares = [kept(x, y, row.places) for x, y in np.moveaxis(drawn, 2, 1)]
        assert row.expected == pytest.approx(np.mean(shares))
        assert row.lower == pytest.approx(np.quantile(shares, 0.025))
        assert row.upper == pytest.approx(np.quantile(shares, 0.975))
    assert table["places"].iloc[[0, -1]].tolist() == [1, TEAMS // 2]


def kept(public: np.ndarray, private: np.ndarray, k: int) -> float:
    best = [set(np.argsort(-scores)[:k]) for scores in (public, private)]
    return len(best[0] & best[1]) / k


@pytest.mark.slow
def test_teams_with_equal_scores_divide_their_places(tree: xr.DataTree) -> None:
    tied = tree.copy(deep=True)
    score = tied["observed_data"]["score"]
    tied["observed_data"]["score"] = score.copy(data=np.round(score.values, 2))
    found = shake_up_table(tied).set_index("places")["observed"]
    rng, scores = np.random.default_rng(3), np.round(score.values, 2)
    for k in (1, 4, 30):
        shares = [kept(*(scores + rng.uniform(0, 1e-6, scores.shape)).T, k) for _ in range(4000)]
        assert found[k] == pytest.approx(np.mean(shares), abs=4.5 * np.std(shares) / 4000**0.5)


@pytest.mark.slow
def test_what_is_drawn_are_scores_and_tables(tree: xr.DataTree) -> None:
    figure = plot_boards(tree, ci_prob=0.8, gained=["t3", "t5"], backend="none")
    score = tree["observed_data"]["score"]
    orange = figure.viz["gained"]["scores"].item()
    np.testing.assert_array_equal(orange["x"], score.sel(classifier=["t3", "t5"], board="public"))
    np.testing.assert_array_equal(orange["y"], score.sel(classifier=["t3", "t5"], board="private"))
    assert np.size(figure.viz["teams"]["scores"].item()["x"]) == TEAMS - 2
    tables = {
        "scores": regression_table(tree, ci_prob=0.8),
        "places": shake_up_table(tree, ci_prob=0.8),
    }
    for panel, table in tables.items():
        for column in ("expected", "lower", "upper"):
            line = figure.viz[column][panel].item()
            np.testing.assert_array_equal(np.asarray(line["y"]), table[column])
    line = figure.viz["observed"]["places"].item()
    np.testing.assert_allclose(10 ** np.asarray(line["x"]), tables["places"]["places"])
    np.testing.assert_array_equal(np.asarray(line["y"]), tables["places"]["observed"])


@pytest.mark.slow
def test_failed_scores_are_left_out_and_counted(tree: xr.DataTree) -> None:
    failed = tree.copy(deep=True)
    score = failed["observed_data"]["score"]
    failed["observed_data"]["score"] = score.where(score["classifier"] != "t7", 0.0)
    axes = plot_boards(failed, gained=["t7"], backend="matplotlib").viz["figure"].item().axes
    assert axes[0].get_ylabel() == "private score (1 team far outside)"
    assert axes[0].get_ylim()[0] > 0.5
    shown = plot_boards(failed, gained=["t7"], backend="none")
    assert "orange" not in shown.viz["figure_title"].item()["string"]
