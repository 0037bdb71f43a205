"""Newton's maximum, information and likelihoods against SciPy, finite differences and sums."""

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, xlogy

from bayes_sota.epp import solver
from bayes_sota.epp.counts import MatchCounts, count_matches
from bayes_sota.epp.simulate import simulate_tournament
from bayes_sota.epp.solver import LogisticKernel

Array = np.ndarray
SHAPES = [("same-round", 0.0), ("all-rounds", 0.0), ("same-round", 0.5), ("all-rounds", 0.5)]


def simulated(kind: str, missing: float, players: int = 7, seed: int = 1) -> MatchCounts:
    skills = np.linspace(-1, 1, players)
    table = simulate_tournament(skills, 12, step=0.5, missing=missing, random_seed=seed)
    return count_matches(table, kind)


def every_pair(counts: MatchCounts) -> Array:
    """Matches of each pair as a matrix, zero on the diagonal."""
    found = np.array(np.broadcast_to(counts.n_matches, counts.doubled_wins.shape), float)
    np.fill_diagonal(found, 0)
    return found


def loss(skills: Array, wins: Array) -> float:
    """Minus the log-likelihood, pair by pair."""
    return float(np.sum(wins * np.logaddexp(0, skills - skills[:, None])))


def fitted_by_scipy(counts: MatchCounts) -> Array:
    wins = counts.doubled_wins / 2
    found = minimize(loss, np.zeros(7), (wins,), method="BFGS", options={"gtol": 1e-6}).x
    return found - found.mean()


def given(counts: MatchCounts) -> float | Array:
    return float(counts.n_matches) if counts.complete else counts.n_matches


@pytest.mark.parametrize(("kind", "missing"), SHAPES)
def test_the_maximum_is_that_of_scipy(kind: str, missing: float) -> None:
    counts = simulated(kind, missing)
    found = solver.solve(counts.totals, given(counts)).epp
    np.testing.assert_allclose(found, fitted_by_scipy(counts), atol=1e-6)
    probabilities = expit(found[:, None] - found)
    expected = (every_pair(counts) * probabilities).sum(axis=1)
    np.testing.assert_allclose(expected, counts.totals, rtol=0, atol=1e-9)
    assert abs(found.mean()) < 1e-14


@pytest.mark.parametrize(("kind", "missing"), SHAPES)
def test_ways_for_many_players_find_the_same(kind, missing, monkeypatch) -> None:
    """Chebyshev's nodes (complete) and conjugate gradients (not) against direct solution."""
    counts = simulated(kind, missing, players=40)
    direct = solver.solve(counts.totals, given(counts))
    covariance = solver.model_covariance(direct, given(counts))
    monkeypatch.setattr(solver, "_DIRECT", 10)
    other = solver.solve(counts.totals, given(counts))
    np.testing.assert_allclose(other.epp, direct.epp, rtol=0, atol=1e-9)
    found = solver.model_covariance(direct, given(counts))
    np.testing.assert_allclose(found, covariance, rtol=0, atol=1e-12 * covariance.max())
    assert np.array_equal(found, covariance) == bool(missing)  # complete: another way was taken
    assert not np.array_equal(other.epp, direct.epp)


def test_a_long_chain_of_players_is_solved(monkeypatch) -> None:
    """Conjugate gradients where the graph hardly holds together: every skill is known."""
    m = 80
    monkeypatch.setattr(solver, "_DIRECT", 10)
    n_matches = np.zeros((m, m))
    near = np.arange(m - 1)
    n_matches[near, near + 1] = n_matches[near + 1, near] = 4
    totals = np.full(m, 4.0)
    totals[[0, -1]] = 2.5, 1.5
    found = solver.solve(totals, n_matches).epp
    np.testing.assert_allclose(np.diff(found), -np.log(2.5 / 1.5), rtol=0, atol=1e-9)


def test_two_players_in_closed_form() -> None:
    for won, of in ((0.5, 400), (3.0, 4), (399.5, 400), (1e-3, 1)):
        found = solver.solve(np.array([won, of - won]), of).epp
        np.testing.assert_allclose(found, [np.log(won / (of - won)) / 2] * np.array([1, -1]))


def test_outlying_players_need_no_start() -> None:
    """Half a win of 400 matches in each pair, for one and for half of the players."""
    m, n = 500, 400
    for last in (1, m // 2):
        totals = np.full(m, (m - last - 1) * n / 2 + last * (n - 0.5 / last))
        totals[-last:] = (last - 1) * n / 2 + (m - last) * 0.5 / last
        found = solver.solve(totals, n).epp
        gap = np.log((n - 0.5 / last) / (0.5 / last))
        np.testing.assert_allclose(found[0] - found[-last:], gap, rtol=1e-8)


@pytest.mark.parametrize(("kind", "missing"), SHAPES)
def test_covariance_is_the_inverse_of_second_differences(kind: str, missing: float) -> None:
    counts = simulated(kind, missing)
    skills = solver.solve(counts.totals, given(counts))
    wins, steps = counts.doubled_wins / 2, 1e-3 * np.eye(7)

    def mixed(i: Array, j: Array) -> float:
        signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
        return sum(a * b * loss(skills.epp + a * i + b * j, wins) for a, b in signs)

    hessian = np.array([[mixed(i, j) for j in steps] for i in steps]) / 4e-6
    found = solver.model_covariance(skills, given(counts))
    expected = np.linalg.pinv(hessian, rcond=1e-4)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * found.max())
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-14)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize(("kind", "missing"), SHAPES)
def test_likelihoods_are_sums_over_pairs(kind: str, missing: float) -> None:
    counts = simulated(kind, missing)
    skills = solver.solve(counts.totals, given(counts))
    wins = counts.doubled_wins / 2
    found = solver.log_likelihood(skills, counts)
    assert found == pytest.approx(-loss(skills.epp, wins), rel=1e-13)
    shares = wins / np.maximum(every_pair(counts), 1)
    saturated = float(np.sum(xlogy(wins, shares)))
    assert solver.saturated_log_likelihood(counts) == pytest.approx(saturated, rel=1e-13)
    np.testing.assert_allclose(
        skills.win_probabilities(), expit(skills.epp[:, None] - skills.epp), rtol=1e-13
    )


@pytest.mark.parametrize("spread", [0.0, 1e-4, 0.3, 2.0, 8.0, 25.0])
def test_sums_over_pairs_without_the_pairs(spread: float) -> None:
    """Against all pairs and Cholesky's factor of the whole information."""
    rng = np.random.default_rng(0)
    skills = spread * rng.uniform(-0.5, 0.5, 90)
    skills -= skills.mean()
    probabilities = expit(skills[:, None] - skills)
    weights = probabilities * probabilities.T
    np.fill_diagonal(weights, 0)
    information = np.diag(weights.sum(axis=1)) - weights
    lift = np.trace(information) / 90**2
    inverse = cho_solve(cho_factor(information + lift), np.eye(90)) - 1 / (90**2 * lift)
    kernel = LogisticKernel(skills)
    wins = probabilities.sum(axis=1) - 0.5
    np.testing.assert_allclose(kernel.expected_wins, wins, rtol=0, atol=1e-10)
    found = kernel.covariance()
    np.testing.assert_allclose(found, inverse, rtol=0, atol=1e-10 * inverse.max())
    gradient = rng.standard_normal(90)
    gradient -= gradient.mean()
    expected = inverse @ gradient
    scale = np.abs(expected).max()
    np.testing.assert_allclose(kernel.solve(gradient), expected, rtol=0, atol=1e-10 * scale)
