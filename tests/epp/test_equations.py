"""The kernel of many players against solving directly; what each round adds, match by match.

Critical values against all flips and SciPy; how often simultaneous statements are all true.
``test_fit.py`` has the same maximum by SciPy's optimiser, and the covariance by refits.
"""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import norm, t
from simulated_tournaments import simulate_tournament

from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp import equations
from bayes_sota.epp.equations import bonferroni_critical, critical_values
from bayes_sota.epp.fit import fit_epp


def test_the_bound_is_that_of_scipy() -> None:
    for ci_prob, contrasts, df in ((0.95, 1, 18), (0.9, 120, 19), (0.99, 3, 1)):
        expected = t.ppf(1 - (1 - ci_prob) / 2 / contrasts, df)
        assert bonferroni_critical(ci_prob, contrasts, df) == pytest.approx(expected, rel=1e-9)
    expected = norm.ppf(1 - 0.05 / 20)
    assert bonferroni_critical(0.95, 10, np.inf) == pytest.approx(expected, rel=1e-12)
    assert bonferroni_critical(0.95, 10, 0) == np.inf


def critical_value(influence: np.ndarray, ci_prob: float) -> float:
    """The one value that all contrasts share."""
    (found,) = set(critical_values(influence, ci_prob, full(influence)).tolist())
    return found


def critical_of_pairs(influence: np.ndarray, ci_prob: float) -> float:
    matrix = critical_values(influence, ci_prob, full(influence), pairs=True)
    (found,) = set(matrix[np.triu_indices(len(matrix), 1)].tolist())
    assert (np.diagonal(matrix) == np.inf).all()
    return found


def full(influence: np.ndarray) -> np.ndarray:
    return np.full(influence.shape[1], len(influence) - 1.0)


def largest_of_all_flips(influence: np.ndarray) -> np.ndarray:
    """Largest |t| for each of the 2^G ways to flip signs, t with its own standard error."""
    signs = np.array(list(product([-1.0, 1.0], repeat=len(influence))))
    flipped = signs[:, :, None] * influence
    clusters = len(influence)
    error = np.sqrt(clusters * flipped.var(axis=1, ddof=1))
    return np.abs(flipped.sum(axis=1) / error).max(axis=1)


@pytest.mark.parametrize("ci_prob", [0.8, 0.95])
def test_flips_drawn_at_random_are_of_all_flips(ci_prob: float) -> None:
    influence = np.random.default_rng(0).normal(size=(12, 6))
    # the same contrasts many times over: the bound is far away, the largest is the same
    critical = critical_value(np.repeat(influence, 200, axis=1), ci_prob)
    share = np.mean(largest_of_all_flips(influence) <= critical)
    assert share == pytest.approx(ci_prob, abs=4 * np.sqrt(ci_prob * (1 - ci_prob) / 2000))


def test_pairs_are_contrasts_of_their_differences() -> None:
    influence = np.random.default_rng(1).normal(size=(20, 9)) * np.arange(1, 10)
    i, j = np.triu_indices(9, 1)
    pairs = critical_of_pairs(influence, 0.95)
    assert pairs == pytest.approx(critical_value(influence[:, i] - influence[:, j], 0.95))
    assert pairs < bonferroni_critical(0.95, 36, 19) - 0.1


def test_the_bound_is_taken_where_it_is_smaller_or_pairs_are_too_many() -> None:
    few = np.ones((4, 3)) * [1, 2, 4]  # one in eight flips of four clusters gives no variance
    assert critical_value(few, 0.95) == bonferroni_critical(0.95, 3, 3)
    assert critical_of_pairs(few, 0.95) == bonferroni_critical(0.95, 3, 3)
    many = np.random.default_rng(3).normal(size=(8, 400))
    assert critical_of_pairs(many, 0.95) == bonferroni_critical(0.95, 400 * 399 // 2, 7)


def test_contrasts_of_fewer_clusters_have_their_own_bound() -> None:
    influence = np.random.default_rng(2).normal(size=(20, 4))
    df = np.array([19.0, 19.0, 3.0, 0.0])
    found = critical_values(influence, 0.95, df)
    assert found[0] == found[1]
    assert found[2] == bonferroni_critical(0.95, 4, 3)
    assert found[3] == np.inf
    # half of the errors that are allowed are left to the two others
    assert found[0] == critical_value(influence[:, :2], 0.975)
    pairs = critical_values(influence, 0.95, df, pairs=True)
    assert pairs[0, 2] == pairs[2, 1] == bonferroni_critical(0.95, 6, 3)
    assert pairs[0, 1] == pytest.approx(critical_of_pairs(influence[:, :2], 1 - 0.05 / 6))


SKILLS = np.array([0.8, 0.2, 0.2, -0.4, -0.8])
REPLICATES = 150


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["same-round", "all-rounds"])
def test_simultaneous_statements_are_all_true_as_often_as_said(kind: str) -> None:
    better = (SKILLS[:, None] > SKILLS).sum(axis=0)
    worse = (SKILLS[:, None] < SKILLS).sum(axis=0)
    found = []
    for seed in range(REPLICATES):
        fit = fit_epp(simulate_tournament(SKILLS, 20, random_seed=seed), kind)
        ends = [fit.interval(kind=how).T for how in ("simultaneous", "robust")]
        right = [np.all((low < SKILLS) & (high > SKILLS)) for low, high in ends]
        first, last = fit.rank_interval().T
        found.append([*right, np.all((first <= 1 + better) & (last >= 5 - worse))])
    together, single, ranks = np.mean(found, axis=0)
    error = np.sqrt(0.95 * 0.05 / REPLICATES)
    assert together > 0.95 - 3 * error
    assert together < 0.995  # and not by saying nothing
    assert single < 0.95 - 3 * error  # intervals of one player at a time are too few
    assert ranks > 0.95 - 3 * error


def test_matches_of_a_table_listed_one_by_one_are_the_same_tournament() -> None:
    """Same-round matches of a table, lower is better, and the list of them by clusters."""
    rng, groups = np.random.default_rng(4), list("xyxzyxz")
    scores = np.round(rng.normal(size=(7, 5)) * 3) - np.arange(5) / 5 // 0.5
    scores[rng.random(scores.shape) < 0.35] = np.nan
    fit = fit_epp(ScoreTable(scores, lower_is_better=True, groups=groups))
    rows = [
        (i, j, (1 + np.sign(row[j] - row[i])) / 2, group)
        for row, group in zip(scores, groups, strict=True)
        for i, j in combinations(range(5), 2)
        if not np.isnan(row[[i, j]]).any()
    ]
    *matches, clusters = zip(*rows, strict=True)
    listed = fit_epp(Matches(*matches, players=fit.players, groups=clusters))
    np.testing.assert_allclose(listed.epp, fit.epp, rtol=0, atol=1e-10)
    np.testing.assert_allclose(listed.covariance, fit.covariance, rtol=0, atol=1e-10)
    np.testing.assert_allclose(listed.covariance_model, fit.covariance_model, rtol=0, atol=1e-10)
    assert listed.deviance == pytest.approx(fit.deviance)
    assert listed.deviance_df == fit.deviance_df


def test_outlying_players_need_no_start() -> None:
    """Half a win of 400 matches in each pair, for one and for half of the players."""
    m, n = 500, 400
    for last in (1, m // 2):
        totals = np.full(m, (m - last - 1) * n / 2 + last * (n - 0.5 / last))
        totals[-last:] = (last - 1) * n / 2 + (m - last) * 0.5 / last
        found = equations.solve(totals, n * (1 - np.eye(m)))
        gap = np.log((n - 0.5 / last) / (0.5 / last))
        np.testing.assert_allclose(found[0] - found[-last:], gap, rtol=1e-8)


@pytest.mark.parametrize("spread", [0.0, 1.0, 4.0])
def test_the_kernel_of_many_players_solves_what_is_solved_directly(
    spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    n_matches = 40 * (1 - np.eye(320))
    expected = n_matches * equations.win_probabilities(spread * rng.standard_normal(320))
    totals = 0.98 * expected.sum(axis=1) + 0.02 * 40 * 319 / 2
    found = equations.solve(totals, n_matches)
    both = equations.solve(np.stack([totals, totals]), n_matches)
    covariance = equations.model_covariance(found, n_matches)
    monkeypatch.setattr(equations, "_FEW_PLAYERS", 400)
    np.testing.assert_allclose(found, equations.solve(totals, n_matches), rtol=0, atol=1e-9)
    np.testing.assert_allclose(both, [found, found], rtol=0, atol=1e-12)
    direct = equations.model_covariance(found, n_matches)
    np.testing.assert_allclose(covariance, direct, rtol=0, atol=1e-9 * direct.max())
