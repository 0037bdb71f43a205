"""Simulated tournaments follow their models; deviances, predicted and observed shares.

Multiscale bootstrap: closed forms of regions, refits, and how often true nulls are rejected.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ncx2, norm
from simulated_tournaments import simulate_tournament

from bayes_sota import ScoreTable, fit_epp, read_scores
from bayes_sota.core.errors import InfiniteEstimateError
from bayes_sota.data import Matches
from bayes_sota.epp import compare_leaderboards, leaderboard_quality, reliability, simulate
from bayes_sota.epp.simulate import SCALES, multiscale_test, unbiased_p_values

CYCLE = np.array([[2, 1, 0], [0, 2, 1], [1, 0, 2]] * 6)


def test_published_deviance_and_its_replicates(data_directory) -> None:
    # Gosiewska et al. 2022: D doubled 129.385 with 224 df; replicates without ties have mean 59.6
    # and P = .29 (reference value of a Plackett-Luce bootstrap).
    fit = fit_epp(read_scores(data_directory / "vtab" / "vtab_scores_16x19.csv", entry=""))
    ranks = fit.data.scores.argsort(axis=1).argsort(axis=1)
    without = replace(fit, data=replace(fit.data, scores=ranks))
    untied = leaderboard_quality(without, repetitions=400, random_seed=1)
    error = untied.replicates.std() / np.sqrt(400)
    assert untied.expected == pytest.approx(59.6, abs=4 * error)
    assert untied.p_value == pytest.approx(0.29, abs=4 * np.sqrt(0.29 * 0.71 / 400))
    assert fit.paper["standardized_deviance"] == pytest.approx(-4.47, abs=0.005)
    # Ties make deviances smaller, in the tournament and in replicates that keep them.
    tied = leaderboard_quality(fit, repetitions=200, random_seed=1)
    assert tied.expected < untied.expected - 5
    assert tied.p_value < untied.p_value


def test_two_groups_that_beat_each_other_in_turn_are_not_one_order() -> None:
    # Rock, paper, scissors: no skills explain it.
    cycle = Matches(
        ["rock", "paper", "scissors"] * 12, ["scissors", "rock", "paper"] * 12, [1.0] * 36
    )
    found = leaderboard_quality(fit_epp(cycle), repetitions=99)
    assert found.p_value == 0.01


def test_leaderboards_are_ordered_by_their_own_replicates() -> None:
    good = simulate_tournament(np.linspace(2, -2, 8), 30, tournament="good", random_seed=0)
    bad = ScoreTable(CYCLE, tournament="bad")
    # Three rounds in turn, every pair won by two of three: E(D) is 1/3, D is 6.1.
    found = compare_leaderboards([fit_epp(bad), fit_epp(good)], repetitions=99)
    assert [quality.tournament for quality in found] == ["good", "bad"]
    assert found[0].deviance > found[1].deviance  # sizes differ: deviances themselves mislead
    assert found[0].p_value > 0.05 > found[1].p_value == 0.01


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["same-round", "all-rounds"])
def test_reliability_by_hand(kind: str, missing: float) -> None:
    table = simulate_tournament(np.linspace(2, -2, 6), 30, missing=missing, random_seed=2)
    fit = fit_epp(table, kind)
    found = reliability(fit, 3)
    p, n = fit.win_probabilities(), fit.counts.n_matches
    share = fit.counts.doubled_wins / (2 * np.maximum(n, 1))
    pairs = sorted(
        (p[i, j], share[i, j], n[i, j]) for i in range(6) for j in range(6) if p[i, j] > 0.5
    )
    assert found.n_pairs.tolist() == [5, 5, 5]
    middle = np.array(pairs[5:10])
    assert found.observed[1] == pytest.approx(np.average(middle[:, 1], weights=middle[:, 2]))
    assert found.predicted[1] == pytest.approx(np.average(middle[:, 0], weights=middle[:, 2]))
    assert found.pairs_predicted.tolist() == pytest.approx([pair[0] for pair in pairs])


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_each_replicate_is_the_deviance_of_a_fit(missing: float) -> None:
    table = simulate_tournament([1.0, 0.4, -0.4, -1.0], 12, missing=missing, random_seed=5)
    fit = fit_epp(ScoreTable(table.scores, players=list("dbca")))
    rng, compared = np.random.default_rng(1), 0
    columns = np.argsort(fit.players)
    places = np.ix_(np.lexsort(fit.data.scores[:, columns].T), columns)
    for deviance in leaderboard_quality(fit, repetitions=30, random_seed=1).replicates:
        noise = np.empty(fit.data.scores.shape)
        noise[places] = rng.gumbel(size=noise.shape)
        scores = np.where(fit.data.present, fit.epp + noise, np.nan)
        try:
            expected = fit_epp(scores).deviance
        except InfiniteEstimateError:
            continue
        assert deviance == pytest.approx(expected, abs=1e-4)
        compared += 1
    assert compared > 20


def test_battles_are_replicated_by_pairs() -> None:
    """Means of the wins of every pair, half of the ties kept."""
    rng = np.random.default_rng(4)
    first = rng.integers(6, size=200)
    second = (first + 1 + rng.integers(5, size=200)) % 6
    outcomes = rng.choice([0.0, 0.5, 1.0], size=200)
    fit = fit_epp(Matches(first, second, outcomes, players=list("fedcba")))
    wins = simulate._of_matches(fit, 4000, np.random.default_rng(0)) / 2
    n_matches = fit.counts.n_matches
    np.testing.assert_array_equal(
        wins + wins.swapaxes(1, 2), np.broadcast_to(n_matches, wins.shape)
    )
    ties = np.zeros((6, 6))
    tied = fit.data.outcomes == 0.5
    np.add.at(ties, (fit.data.first[tied], fit.data.second[tied]), 1)
    ties += ties.T
    expected = (n_matches - ties) * fit.win_probabilities() + ties / 2
    np.testing.assert_allclose(wins.mean(axis=0), expected, atol=4 * np.sqrt(n_matches.max()) / 126)


def test_half_spaces_and_spheres() -> None:
    """Exact p-values: of a half-space the normal one, of a sphere that of the distance."""
    scale = np.array(SCALES)
    half_space = norm.cdf(-1.5 * np.sqrt(scale))[:, None]
    assert unbiased_p_values(half_space, scale, 10_000) == pytest.approx([norm.sf(1.5)], abs=1e-3)
    # A point at distance 8 from the centre of a ball of radius 6 in three dimensions.
    share = ncx2.cdf(36 * scale, 3, 64 * scale)[:, None]
    exact = ncx2.sf(64, 3, 36)  # how often a mean on its surface lies as far out
    found = unbiased_p_values(share, scale, 10_000)[0]
    plain = ncx2.cdf(36, 3, 64)
    assert found == pytest.approx(exact, rel=0.05)
    assert abs(plain - exact) > 0.3 * exact


def test_shares_are_those_of_refits() -> None:
    fit = fit_epp(simulate_tournament([0.6, 0.4, 0.0, -1.0], 40, random_seed=1))
    found = multiscale_test(fit, [("1", "2")], repetitions=2_000, random_seed=0)
    drawn = np.random.default_rng(0).integers(40, size=(400, 40))
    refits = [fit_epp(fit.data.scores[rows], penalty=1e-3).epp for rows in drawn]
    below = np.mean([skills[0] < skills[1] for skills in refits])
    assert found.pair_share[0] == pytest.approx(below, abs=0.08)


@pytest.mark.slow
def test_true_nulls_are_rejected_at_the_level() -> None:
    found = []
    for seed in range(300):
        fit = fit_epp(simulate_tournament([0.0] * 5, 100, random_seed=seed), penalty=0.5)
        test = multiscale_test(fit, [("1", "2")], repetitions=250, random_seed=seed)
        found.append(test.pair_p_value[0])
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=4 * 0.0126)
