"""The grid of skills decides little: finer and wider ones agree to a tenth of a deviation.

Also for narrow fields on few items; grids three times coarser move them by .3 and .4.
"""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.summary import summarize
from bayes_sota.leaderboard import evidence

NAMES = ["theta_sota", "winner_skill", "expected_sota"]
BOARDS = {
    "all right": bs.Leaderboard([1.0] * 10, n_test=50, rounding="exact"),
    "narrow, few items": bs.Leaderboard(
        np.random.default_rng(0).binomial(50, 0.9, 30) / 50, n_test=50, rounding="exact"
    ),
    "ten items": bs.Leaderboard([1.0, 0.9, 0.8, 0.8, 0.7], n_test=10, rounding="exact"),
}


@pytest.mark.parametrize("name", BOARDS)
def test_finer_and_wider_grids_agree(monkeypatch, name):
    def estimands():
        tree = bs.estimate_sota(BOARDS[name], random_seed=0, draws=4000, groups="estimands")
        return summarize(tree).loc[NAMES, ["mean", "sd"]].to_numpy().T

    mean, sd = estimands()
    grid_of = evidence.skill_grid

    def other_grid(*values, **settings):
        y = grid_of(*values, **settings)
        step, more = (y[1] - y[0]) / 3, y.size // 3
        return np.arange(y[0] - more * step, y[-1] + more * step, step)

    monkeypatch.setattr(evidence, "skill_grid", other_grid)
    other, other_sd = estimands()
    assert np.abs(mean - other) == pytest.approx(0, abs=0.1 * sd.min())
    assert sd == pytest.approx(other_sd, rel=0.1)
