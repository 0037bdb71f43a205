"""Entries below the modelled part: they count as far as they can, and nothing jumps at its edge."""

import numpy as np
import pytest
from boards import draw_entries
from scipy.integrate import quad
from scipy.special import betaln

from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import log_count_probability
from bayes_sota.leaderboard.posterior import board_posterior

CLOSE = np.round(np.arange(0.900, 0.877, -0.002), 3)


@pytest.mark.parametrize(("n", "k"), [(12, 0), (12, 1), (3, 40), (200.5, 7)])
@pytest.mark.parametrize("reach", [0.999, 0.4, 0.05])
def test_counts_have_the_probability_of_an_unknown_share_of_the_field(n, k, reach):
    def of_share(s):
        return np.exp(n * np.log(s * reach) + k * np.log1p(-s * reach) - betaln(n + 1, k + 1))

    value, _ = quad(of_share, 0, 1, epsabs=1e-300, epsrel=1e-10, limit=200)
    found = log_count_probability(np.log(np.array([reach])), n, k)
    assert found[0] == pytest.approx(np.log(value), abs=1e-7)


def test_a_shape_that_hardly_reaches_the_part_keeps_its_slope():
    far = np.array([-600.0, -601.0])
    found = log_count_probability(far, 30, 4)
    assert found[0] - found[1] == pytest.approx(30, abs=1e-9)
    near = np.log(1e-250) / 31 + np.array([1e-6, -1e-6])  # both sides of where the series begins
    assert np.diff(log_count_probability(near, 30, 4))[0] == pytest.approx(-30 * 2e-6, abs=1e-8)


def results(scores, n_test=500):
    posterior = board_posterior(Leaderboard(scores, n_test=n_test), random_seed=0)
    entries = draw_entries(posterior.skills.fit, 8000, np.random.default_rng(0))
    return entries.p_best, posterior.draws["theta_sota"], posterior.draws["winner_skill"]


@pytest.mark.slow
@pytest.mark.parametrize("hopeless", [[0.5], [0.7], [0.0]])
@pytest.mark.parametrize(
    ("scores", "n_test"), [(CLOSE, 500), (np.round(np.linspace(0.76, 0.80, 25), 3), 1000)]
)
def test_one_hopeless_entry_moves_no_leader(scores, n_test, hopeless):
    p_best, theta, winner = results(scores, n_test)
    others, theta_with, winner_with = results(np.append(scores, hopeless), n_test)
    assert np.abs(others[: scores.size] - p_best).max() < 0.02
    assert abs(theta_with.mean() - theta.mean()) < 0.1 * theta.std()
    assert abs(winner_with.mean() - winner.mean()) < 0.1 * winner.std()
