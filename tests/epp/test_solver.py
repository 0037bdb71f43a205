"""Newton's maximum, information and likelihoods against SciPy, finite differences and sums.

The kernel of many players against solving directly.
"""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, xlogy
from simulated_tournaments import simulate_tournament

from bayes_sota.epp import solver
from bayes_sota.epp.counts import MatchCounts, count_matches

Array = np.ndarray
SHAPES = [("same-round", 0.0), ("all-rounds", 0.0), ("same-round", 0.5), ("all-rounds", 0.5)]


def simulated(kind: str, missing: float, players: int = 7, seed: int = 1) -> MatchCounts:
    skills = np.linspace(-1, 1, players)
    table = simulate_tournament(skills, 12, step=0.5, missing=missing, random_seed=seed)
    return count_matches(table, kind)


def loss(skills: Array, wins: Array) -> float:
    """Minus the log-likelihood, pair by pair."""
    return float(np.sum(wins * np.logaddexp(0, skills - skills[:, None])))


def fitted_by_scipy(counts: MatchCounts) -> Array:
    wins = counts.doubled_wins / 2
    found = minimize(loss, np.zeros(7), (wins,), method="BFGS", options={"gtol": 1e-6}).x
    return found - found.mean()


@pytest.mark.parametrize(("kind", "missing"), SHAPES)
def test_the_maximum_is_that_of_scipy(kind: str, missing: float) -> None:
    counts = simulated(kind, missing)
    found = solver.solve(counts.totals, counts.n_matches)
    np.testing.assert_allclose(found, fitted_by_scipy(counts), atol=1e-6)
    probabilities = expit(found[:, None] - found)
    expected = (counts.n_matches * probabilities).sum(axis=1)
    np.testing.assert_allclose(expected, counts.totals, rtol=0, atol=1e-9)


def test_outlying_players_need_no_start() -> None:
    """Half a win of 400 matches in each pair, for one and for half of the players."""
    m, n = 500, 400
    for last in (1, m // 2):
        totals = np.full(m, (m - last - 1) * n / 2 + last * (n - 0.5 / last))
        totals[-last:] = (last - 1) * n / 2 + (m - last) * 0.5 / last
        found = solver.solve(totals, n * (1 - np.eye(m)))
        gap = np.log((n - 0.5 / last) / (0.5 / last))
        np.testing.assert_allclose(found[0] - found[-last:], gap, rtol=1e-8)


@pytest.mark.parametrize(("kind", "missing"), SHAPES)
def test_covariance_is_the_inverse_of_second_differences(kind: str, missing: float) -> None:
    counts = simulated(kind, missing)
    skills = solver.solve(counts.totals, counts.n_matches)
    wins, steps = counts.doubled_wins / 2, 1e-3 * np.eye(7)

    def mixed(i: Array, j: Array) -> float:
        signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
        return sum(a * b * loss(skills + a * i + b * j, wins) for a, b in signs)

    hessian = np.array([[mixed(i, j) for j in steps] for i in steps]) / 4e-6
    found = solver.model_covariance(skills, counts.n_matches)
    expected = np.linalg.pinv(hessian, rcond=1e-4)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * found.max())


@pytest.mark.parametrize(("kind", "missing"), SHAPES)
def test_likelihoods_are_sums_over_pairs(kind: str, missing: float) -> None:
    counts = simulated(kind, missing)
    skills = solver.solve(counts.totals, counts.n_matches)
    wins = counts.doubled_wins / 2
    shares = wins / np.maximum(counts.n_matches, 1)
    expected = 2 * (float(np.sum(xlogy(wins, shares))) + loss(skills, wins))
    assert float(solver.deviance(skills, counts)) == pytest.approx(expected, rel=1e-11)
    probabilities = expit(skills[:, None] - skills)
    np.testing.assert_allclose(solver.win_probabilities(skills), probabilities, rtol=1e-13)


@pytest.mark.parametrize("spread", [0.0, 1.0, 4.0])
def test_the_kernel_of_many_players_solves_what_is_solved_directly(
    spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    n_matches = 40 * (1 - np.eye(320))
    expected = n_matches * solver.win_probabilities(spread * rng.standard_normal(320))
    totals = 0.98 * expected.sum(axis=1) + 0.02 * 40 * 319 / 2
    found = solver.solve(totals, n_matches)
    both = solver.solve(np.stack([totals, totals]), n_matches)
    covariance = solver.model_covariance(found, n_matches)
    monkeypatch.setattr(solver, "_FEW_PLAYERS", 400)
    np.testing.assert_allclose(found, solver.solve(totals, n_matches), rtol=0, atol=1e-9)
    np.testing.assert_allclose(both, [found, found], rtol=0, atol=1e-12)
    direct = solver.model_covariance(found, n_matches)
    np.testing.assert_allclose(covariance, direct, rtol=0, atol=1e-9 * direct.max())
