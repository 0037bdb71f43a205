"""Tables of estimands and probabilities against NumPy on the same draws."""

from functools import partial

import numpy as np
import pytest
import xarray as xr
from arviz_stats.base.stats_utils import get_decimal_places_from_se
from data.files import refused

import bayes_sota as bs
from bayes_sota.core.numerics import cluster_mcse, share_mcse
from bayes_sota.core.summary import error_of_mean, mcse_of, weighted_chance
from bayes_sota.core.text import chance, decimals_for

NAMES = (
    "theta_sota", "expected_sota", "winner_skill", "multiplicity_bias", "winner_new_score",
    "best_new_score", "rho",
)  # fmt: skip


def test_summary_is_what_numpy_says(tree):
    draws = tree["posterior"]["theta_sota"].values.ravel()
    table = bs.summarize(tree, ci_prob=0.9)
    assert list(table.index) == list(NAMES)
    row = table.loc["theta_sota"]
    expected = [draws.mean(), draws.std(ddof=1), *np.quantile(draws, [0.05, 0.95])]
    assert row[["mean", "sd", "lower", "upper"]].tolist() == pytest.approx(expected)
    shared = tuple(tree["sample_stats"][name].values.ravel() for name in ("point", "stratum"))
    assert row["mcse"] == pytest.approx(float(cluster_mcse(draws, *shared)))
    assert 1 < row["mcse"] / (draws.std(ddof=1) / np.sqrt(draws.size)) < 1.6


def test_diagnostics_find_chains_that_disagree(tree):
    assert bs.diagnose(tree)["ok"] is True
    broken = tree.copy(deep=True)
    broken.attrs["draws_are_independent"] = 0
    broken["posterior"]["theta_sota"].values[0] -= 0.05
    found = bs.diagnose(broken)
    assert (found["ok"], "r_hat" in found["reasons"][0]) == (False, True)
    slow = tree.copy(deep=True)
    slow.attrs["draws_are_independent"] = 0
    location = slow["posterior"]["location"]
    location.values[:] = np.linspace(0, 1, location.size).reshape(location.shape)
    found = bs.diagnose(slow)
    assert [reason.partition(" is ")[0] for reason in found["reasons"]] == [
        "r_hat of location",
        "bulk ESS of location",
    ]
    assert (found["r_hat"] > 1.5, found["ess_bulk"] < 400) == (True, True)
    lost, _ = drawn("epp", "player", ["a", "b"])
    lost["posterior"]["epp"].values[0, 0, 1] = np.nan  # of the second player alone
    assert bs.diagnose(lost)["reasons"] == ["epp has draws that are not finite"]


def test_share_of_draws_above_a_skill(tree):
    draws = tree["posterior"]["theta_sota"].values.ravel()
    found = bs.core.probability_above(tree, 0.935)
    p = np.mean(draws > 0.935)
    assert found["probability"] == pytest.approx(p)
    assert 1 < found["mcse"] / np.sqrt(p * (1 - p) / draws.size) < 1.6
    for threshold, share in ((1.0, 0.0), (0.0, 1.0)):
        found = bs.core.probability_above(tree, threshold)
        assert found["probability"] == share
        assert found["mcse"] == pytest.approx(share_mcse(0.0, draws.size))
    said = r"threshold must be .*; in percent\? then write 0.97"
    refused(said, bs.core.probability_above, tree, 97)


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_draws_that_agree_are_not_certain(p):
    assert weighted_chance(np.full((1, 1), p), error_of_mean)["mcse"] > 0.3
    error_of = partial(error_of_mean, points=(np.repeat(np.arange(100), 4), np.zeros(400)))
    error = weighted_chance(np.full((4, 100), p), error_of)["mcse"]
    assert 0 < error < (0.25 / 400) ** 0.5


def test_dependent_draws_and_few_points_are_less_sure(tree):
    """Copies of one chain, and draws of weighted points, say less than independent draws."""
    theta = tree["posterior"]["theta_sota"].values
    above = np.repeat((theta > 0.935).astype(float)[:, ::10], 10, axis=1)
    assert np.isnan(error_of_mean(np.arange(4.0), (np.zeros(4), np.zeros(4))))  # of one point
    errors = (error_of_mean, mcse_of(xr.DataTree()))
    independent, dependent = (weighted_chance(above, error)["mcse"] for error in errors)
    assert dependent == pytest.approx(10**0.5 * independent, rel=0.3)
    shared = np.repeat(np.random.default_rng(0).random(100), 4).reshape(4, 100)
    of_points = (np.repeat(np.arange(100), 4), np.zeros(400))
    errors = (error_of_mean, partial(error_of_mean, points=of_points))
    alone, together = (weighted_chance(shared, error)["mcse"] for error in errors)
    assert together == pytest.approx(2 * alone, rel=0.02)


def drawn(name, dim, labels):
    """A result of two chains with draws of one variable, and their means."""
    draws = np.random.default_rng(0).normal(size=(2, 50, 2))
    content = xr.Dataset({name: (("chain", "draw", dim), draws)}, {dim: labels})
    return xr.DataTree.from_dict({"posterior": content}), draws


def test_players_and_claims_are_estimands_and_others_by_name():
    tree, draws = drawn("epp", "player", ["a", "b"])
    table = bs.summarize(tree)
    assert list(table.index) == ["epp[a]", "epp[b]", "p_best[a]", "p_best[b]"]
    best = np.mean(draws[..., 0] > draws[..., 1])
    expected = [*draws.mean(axis=(0, 1)), best, 1 - best]
    assert table["mean"].tolist() == pytest.approx(expected)
    tree, draws = drawn("difference", "claim", [1, 2])
    tree["posterior"]["congruence"] = tree["posterior"]["difference"] ** 2
    means = bs.summarize(tree)["mean"]
    expected = dict(zip(["difference[1]", "difference[2]"], draws.mean(axis=(0, 1)), strict=True))
    assert means.to_dict() == pytest.approx(expected)
    tree, draws = drawn("mine", "player", ["a", "b"])
    refused("no theta_sota: var_names chooses of mine", bs.summarize, tree)
    means = bs.summarize(tree, var_names=["mine"])["mean"]
    expected = dict(zip(["mine[a]", "mine[b]"], draws.mean(axis=(0, 1)), strict=True))
    assert means.to_dict() == pytest.approx(expected)


def test_digits_are_those_of_arviz_and_never_more_than_two_of_the_sd():
    for mcse in np.geomspace(1.1e-7, 0.04, 300):
        assert decimals_for(1e-6, mcse) == np.clip(get_decimal_places_from_se(mcse), 1, 7)
    cases = [
        (0.0123, 0.0, 3), (0.0123, 0.0002, 3), (0.0123, 0.004, 3), (0.0123, 0.0051, 2),
        (0.0123, 0.06, 1), (0.99, 0.001, 2), (0.0, 0.0, 6), (np.nan, np.nan, 6), (30.0, 2.0, 1),
    ]  # fmt: skip
    for sd, mcse, digits in cases:
        assert decimals_for(sd, mcse) == digits, (sd, mcse)


@pytest.mark.parametrize(
    ("p", "draws", "shown"),
    [
        (0.338, np.inf, "0.338"), (0.338, 400, "0.34"), (0.338, 20_000, "0.338"),
        (0.0, 400, "< 0.01"), (0.0, 4000, "< 0.001"), (1.0, 400, "> 0.99"), (0.002, 4000, "0.002"),
        (0.0004, np.inf, "0.0004"), (0.0, np.inf, "< 0.0001"), (1.0, np.inf, "> 0.999"),
    ],
)  # fmt: skip
def test_shares_of_draws_have_the_digits_of_their_error(p, draws, shown):
    assert chance(p, share_mcse(p, draws) if np.isfinite(draws) else 0.0) == shown


def test_the_error_of_a_share_is_that_of_repeated_draws():
    shares = np.random.default_rng(0).binomial(400, 0.3, 4000) / 400
    assert np.mean([share_mcse(p, 400) for p in shares]) == pytest.approx(shares.std(), rel=0.05)
    upper = 2 * share_mcse(0.0, 400)  # the bound of no draws: the rule of three, 3 / 400
    assert upper == pytest.approx(3 / 400, rel=0.1)
