"""Boards whose entries have their own error: plain boards, new scores (``test_posterior.py``)."""

import numpy as np
import pytest
from scipy.special import expit

from bayes_sota.core.priors import board_priors
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.evidence import board_evidence
from bayes_sota.leaderboard.posterior import board_posterior

SAME = ("theta_sota", "winner_skill", "expected_sota", "winner_new_score", "best_new_score")


def scores_of(m, n, seed=0):
    rng = np.random.default_rng(seed)
    skills = expit(1.5 + 0.3 * rng.standard_normal(m))
    return [f"{x:.4f}" for x in rng.binomial(n, skills) / n]


LOSSES = np.random.default_rng(1).normal(3, 1, 15)


@pytest.mark.parametrize(
    ("scores", "known", "of_all", "about"),
    [
        (scores_of(3, 200), "n_test", 200, {}),
        pytest.param(scores_of(60, 1000), "n_test", 1000, {}, marks=pytest.mark.slow),
        (LOSSES, "standard_error", 0.3, {"metric": "score", "lower_is_better": True}),
    ],
)
def test_a_board_of_which_all_errors_are_the_same_is_a_plain_board(scores, known, of_all, about):
    each = Leaderboard(scores, **{known: [of_all] * len(scores)}, **about)
    assert each.has_own_errors
    common = Leaderboard(scores, **{known: of_all}, **about)
    plain, own = (board_posterior(board, random_seed=0).draws for board in (common, each))
    for name in SAME:
        sd = plain[name].std()
        assert own[name].mean() == pytest.approx(plain[name].mean(), abs=0.1 * sd), name
        assert own[name].std() == pytest.approx(sd, rel=0.1), name


@pytest.mark.parametrize("n_test", [400, [400, 300]])
def test_new_scores_of_a_lone_leader_have_the_binomial_error(n_test):
    board = Leaderboard([0.9, 0.5], n_test=n_test)
    draws = board_posterior(board, random_seed=0).draws
    theta = draws["theta_sota"]
    for name in ("winner_new_score", "best_new_score"):
        z = (draws[name] - theta) / np.sqrt(theta * (1 - theta) / board.n_test)
        assert z.mean() == pytest.approx(0, abs=0.06), name
        assert z.std() == pytest.approx(1, abs=0.05), name


def test_a_perfect_score_of_its_own_size():
    for size in range(40, 240):  # rounding took some above 1
        sizes = np.array([600, 731, 913, size])
        scores = np.array([580, 690, 880, size]) / sizes
        evidence = board_evidence(Leaderboard(scores, n_test=sizes), board_priors(None))
        assert np.isfinite(evidence.at(0.5).score).all()
