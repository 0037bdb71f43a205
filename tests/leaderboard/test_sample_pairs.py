"""The tree of two boards: log likelihood, prior, replicates, tables, what ArviZ makes of them."""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.priors import BOARD_FAMILIES, FixedCorrelation, PairedPriors


def some_boards() -> bs.PairedBoards:
    """Sixty teams, of which the better half counts, and six copies of the best."""
    rng = np.random.default_rng(1)
    skill = rng.normal(0.8, 0.03, 60)
    x, y = skill + rng.normal(0, 0.02, (2, 60))
    best = int(x.argmax())
    return bs.PairedBoards(
        np.r_[x, np.full(6, x[best])], np.r_[y, np.full(6, y[best])], standard_errors=(0.02, 0.02)
    )


@pytest.fixture(scope="module")
def tree():
    return bs.estimate_paired(some_boards(), draws=200, chains=2, random_seed=0)


def test_estimate_sota_passes_two_boards_on() -> None:
    given = {"priors": PairedPriors(FixedCorrelation(0.5)), "draws": 7, "chains": 3,
             "random_seed": 5, "groups": "estimands"}  # fmt: skip
    both = [estimate(some_boards(), **given) for estimate in (bs.estimate_sota, bs.estimate_paired)]
    assert both[0]["posterior"].to_dataset().equals(both[1]["posterior"].to_dataset())


def test_copies_are_one_team_with_a_note(tree) -> None:
    boards = some_boards()
    assert tree.attrs["n_copies"] == 6
    assert tree["posterior"].sizes["classifier"] + 6 <= boards.n_entries
    report = bs.leaderboard.describe_paired(tree, boards)
    assert report.notes[-1].startswith("6 teams have the same two scores as another team")
    assert sum(row["p_best"] for row in report.content["entries"]) == pytest.approx(1)
    assert report.content["public_winner"]["p_best"] == report.content["best"][0]["p_best"]


def test_replicates_scatter_around_the_skills_that_they_are_of(tree) -> None:
    """Far above the thresholds the mean is the expected score, the variance that of residuals."""
    boards = some_boards()
    best = boards.names[boards.public_winner]
    score = tree["posterior_predictive"]["score"].sel(classifier=best, board="private")
    gap = (score - tree["posterior"]["expected_private"].sel(classifier=best)).values
    usual = tree["posterior"]["residual_sd"].values / np.sqrt(2)
    assert abs(np.median(gap)) < 4 * usual.mean() / 20
    assert np.median(np.abs(gap)) == pytest.approx(0.6745 * usual.mean(), rel=0.25)


def test_the_prior_is_wider_and_has_its_own_winner(tree) -> None:
    prior, found = tree["prior"], tree["posterior"]
    assert set(prior.data_vars) == set(found.data_vars)
    for name in ("theta_sota", "winner_skill", "location", "score_shift"):
        assert prior[name].std() > 1.1 * found[name].std(), name
    best = tree["prior_predictive"]["score"].sel(board="public").max("classifier")
    np.testing.assert_allclose(prior["multiplicity_bias"], best - prior["theta_sota"])
    assert prior["rho"].mean() == pytest.approx(5.7 / 8.3, abs=0.03)
    assert np.all(prior["theta_sota"] >= prior["winner_skill"])
    assert np.bincount(prior["family"].values.ravel()).size == len(BOARD_FAMILIES)


def test_scores_far_from_all_others_on_few_items() -> None:
    public, private = np.ones((2, 60))
    public[18], private[[24, 30, 34, 44, 45]] = 0.9, 0.9
    numbers = np.random.default_rng(0).integers(1, 30, 60).tolist()
    boards = bs.PairedBoards(public, private, n_test=10, submissions=numbers)
    found = bs.estimate_paired(boards, draws=50, chains=2, random_seed=1)
    for values in found["posterior"].data_vars.values():
        assert np.isfinite(values).all()
