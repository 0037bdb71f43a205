"""The rows of the comparison are those of the functions."""

import numpy as np
import pytest
import xarray as xr

from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.shrinkage import binomial_interval, crop_scores, shrink_scores
from bayes_sota.maximum.summary import compare_estimates

SCORES = np.round(0.8 + 0.1 * np.linspace(0, 1, 60) ** 0.3, 3)
BOARD = Leaderboard(SCORES, n_test=1000)


def result(values) -> xr.DataTree:
    theta = xr.DataArray(np.reshape(values, (2, -1)), dims=("chain", "draw"))
    return xr.DataTree.from_dict({"posterior": xr.Dataset({"theta_sota": theta})})


THETA = np.random.default_rng(0).normal(0.89, 0.004, 2000)


def test_rows_are_those_of_the_functions() -> None:
    frame = compare_estimates(BOARD, result(THETA), n_classes=4, ci_prob=0.9)
    rows = frame.set_index("method")
    for name, solve in (("shrink", shrink_scores), ("crop", crop_scores)):
        for criterion in ("expected", "upper"):
            found = solve(SCORES, n_test=1000, chance=0.25, criterion=criterion, ci_prob=0.9)
            row = rows.loc[f"{name}, {criterion}"]
            assert row.estimate == found.estimate
            assert (row.lower, row.upper) == found.interval
            assert row.n_above == found.n_above()
    alone = rows.loc["best score alone"]
    assert (alone.lower, alone.upper) == binomial_interval(900, 1000, 0.9)
    assert alone.n_inside == int(np.sum(alone.lower <= SCORES))
    posterior = rows.loc["posterior"]
    assert posterior.estimate == pytest.approx(THETA.mean())
    assert [posterior.lower, posterior.upper] == np.quantile(THETA, [0.05, 0.95]).tolist()


def test_a_lone_leader_has_a_note() -> None:
    board = Leaderboard([0.6, 0.61, 0.62, 0.9], n_test=2000)
    frame = compare_estimates(board, result(THETA), n_classes=10).set_index("method")
    assert frame.loc["shrink, expected", "note"] == "no multiplicity to correct"
    assert frame.loc["shrink, expected", "estimate"] == 0.9
