"""The law of a score given board-conditional skill, and what is modelled of a board."""

from dataclasses import replace

import numpy as np
import pytest
from boards import evidence_of
from scipy import stats

from bayes_sota import FixedCorrelation, Leaderboard, Priors
from bayes_sota.core.skills import expit
from bayes_sota.items.correlation import no_correlation
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.maximum.fresh_test_sets import fresh_test_set


def board_of(counts, n: int, **options) -> Leaderboard:
    return Leaderboard(np.asarray(counts) / n, n_test=n, rounding="exact", **options)


def evidence_of_all(low: int, high: int, n: int):
    """Evidence of every count, whatever would be modelled of such a board."""
    values = np.arange(low, high + 1)
    known = evidence_of(board_of(values[-5:], n))
    number = np.arange(values.size)
    y, ones = np.linspace(0.2, 5.0, 400), np.ones(values.size)
    return replace(
        known, board=known.board.copy_with(scores=values / n), ratio=ones, entries=number,
        row=number, kind=0 * number,
        values=values.astype(float), copies=ones, kinds=0 * number, y=y,
        loadings=no_correlation(values / n, FixedCorrelation(0.7)),
    )  # fmt: skip


def log_probability(evidence, rho: float) -> np.ndarray:
    """Of every distinct score at the grid, (K, G)."""
    table = evidence.at(rho)
    return np.log(np.maximum(table.score, 1e-300)) + table.log_scale[:, None]


def test_without_correlation_it_is_the_binomial() -> None:
    evidence = evidence_of(board_of([150, 160, 170, 180], 200))
    expected = stats.binom(200, evidence.psi[None]).logpmf(evidence.values[:, None])
    np.testing.assert_allclose(log_probability(evidence, 0.0), expected, atol=0.01)


@pytest.mark.parametrize("rho", [0.0, 0.7, 0.9])
def test_log_mass_makes_probabilities(rho: float) -> None:
    """Summed over all counts it is one, whatever rho: what a learnt rho rests on."""
    evidence = evidence_of_all(500, 1000, 1000)
    mass = np.exp(log_probability(evidence, rho))
    inside = (evidence.psi > 0.7) & (evidence.psi < 0.97)
    np.testing.assert_allclose(mass.sum(axis=0)[inside], 1, atol=0.01)


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_reach_is_the_tail_of_the_law(rho: float) -> None:
    evidence = evidence_of_all(500, 1000, 1000)
    tail = evidence.reaches(850.0, np.array([1 - rho**2]), 0.0)[0]
    direct = np.exp(log_probability(evidence, rho))[evidence.values >= 850]
    inside = (evidence.psi > 0.75) & (evidence.psi < 0.93)
    np.testing.assert_allclose(direct.sum(axis=0)[inside], tail[inside], atol=0.02)
    if rho == 0:
        exact = stats.binom(1000, evidence.psi).sf(849)
        np.testing.assert_allclose(tail, exact, atol=0.02)


@pytest.mark.parametrize("printed", ["0.88", "0.880"])
def test_a_printed_score_stands_for_all_that_round_to_it(printed: str) -> None:
    """Its likelihood is the mean over them, but for its shape, which is normal."""
    n, rho = 20_000, 0.7
    evidence = evidence_of(Leaderboard([printed, "0.860", "0.840"], n_test=n))
    table = evidence.at(rho)
    found = table.score[-1] / table.score[-1].sum()
    low, high = evidence.board.count_bounds[0]
    law = stats.norm(evidence.psi, np.sqrt(evidence.psi * (1 - evidence.psi) * (1 - rho**2) / n))
    exact = law.cdf((high + 0.5) / n) - law.cdf((low - 0.5) / n)
    exact /= exact.sum()
    mean = exact @ evidence.psi
    assert found @ evidence.psi == pytest.approx(mean, abs=2e-5)
    sd = np.sqrt(exact @ (evidence.psi - mean) ** 2)
    assert np.sqrt(found @ (evidence.psi - mean) ** 2) == pytest.approx(sd, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("size", [20, 200])
def test_intervals_of_coarsely_printed_boards_cover(size: int) -> None:
    """Two decimals are three standard errors apart, on 14,000 items; on 50,000 six."""
    rng, rho, covered = np.random.default_rng(5), 0.7, []
    priors = Priors(correlation=FixedCorrelation(rho))
    for n in [14_000, 50_000] * 30:
        skill = expit(2 + 0.3 * rng.standard_normal(size))
        error = rho * rng.standard_normal() + np.sqrt(1 - rho**2) * rng.standard_normal(size)
        scores = np.clip(skill + error * np.sqrt(skill * (1 - skill) / n), 0, 1)
        board = Leaderboard([f"{score:.2f}" for score in scores], n_test=n)
        draws = board_posterior(board, priors, draws=1000, random_seed=0).draws["theta_sota"]
        low, high = np.quantile(draws, [0.025, 0.975])
        covered.append(low < skill.max() < high)
    assert stats.binom.cdf(sum(covered), len(covered), 0.95) > 0.001


def test_many_values_are_binned_and_the_best_is_kept() -> None:
    rng = np.random.default_rng(0)
    counts = rng.binomial(10**6, rng.uniform(0.899, 0.9, 5000))
    evidence = evidence_of(board_of(counts, 10**6))
    assert evidence.values.size <= 401
    kept = counts[evidence.modelled]
    assert evidence.copies.sum() == kept.size > 400
    assert evidence.values[-1] == counts.max()
    assert np.abs(evidence.values[evidence.row] - kept).max() < np.ptp(counts) / 300


def test_scores_that_are_no_accuracies_have_normal_errors() -> None:
    scores = [0.9, 0.91, 0.93]
    board = Leaderboard(scores, metric="score", standard_error=0.01)
    evidence = evidence_of(board)
    z = (evidence.psi - 0.91) / 0.01
    log_p = log_probability(evidence, 0.6)[1]
    near = np.abs(z) < 10
    np.testing.assert_allclose(
        (log_p - log_p.max())[near], (-0.5 * z**2 / (0.64 + 1 / 12))[near], atol=0.01
    )  # and rounding


def test_rounding_of_another_processor_draws_the_same_new_scores() -> None:
    """Of the largest correlation that is feasible a chance is 0, or the rounding error of 0."""
    board = Leaderboard([0.8, 0.9, 0.95], n_test=300)
    skills, rho = np.random.default_rng(0).uniform(0.7, 0.97, (500, 4)), np.full(500, 0.999)
    scores, states = [], []
    for wobble in (0.0, 2e-16, -3e-16):
        rng = np.random.default_rng(1)
        test_set, rows = fresh_test_set(board, rng, rho), np.arange(500)
        scores.append([test_set.play(rng, rows, one * (1 + wobble)) for one in skills.T])
        states.append(rng.bit_generator.state)
    assert states[0] == states[1] == states[2]
    assert np.array_equal(scores[0], scores[1])
    assert np.array_equal(scores[0], scores[2])
