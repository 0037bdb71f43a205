"""Posterior from two boards: what it learns on simulated teams, how fast, what is a reason."""

from unittest.mock import patch

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import beta

from bayes_sota.core.inference import infer
from bayes_sota.core.priors import FixedCorrelation, PairedPriors
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.fit import Likelihood
from bayes_sota.leaderboard.pairs import Pairs
from bayes_sota.leaderboard.pairs_posterior import (
    PairFit,
    draw_psi,
    estimands_of,
    fit_pairs,
    reasons_of,
)
from bayes_sota.leaderboard.sample_estimate import estimate_paired
from bayes_sota.leaderboard.skills import draw_parameters
from bayes_sota.maximum.score_laws import expected_maximum

ERRORS = (0.012, 0.008)


def simulated(
    seed: int, rho: float = 0.75, m: int = 120, offset: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Skills (left-skewed), public and private scores of the model itself."""
    rng = np.random.default_rng(seed)
    theta = 0.85 - 0.03 * rng.exponential(size=m) + 0.005 * rng.standard_normal(m)
    scores = [
        theta + s * (rho * rng.standard_normal() + np.sqrt(1 - rho**2) * rng.standard_normal(m))
        for s in ERRORS
    ]
    return theta, scores[0] + offset, scores[1]


def with_submissions(m: int, luck: float, seed: int, trend: float = 0.0) -> PairedBoards:
    """Noise of .01 on both boards; the skill rises by ``trend`` per ``e_T``."""
    rng = np.random.default_rng(seed)
    numbers = np.round(np.exp(rng.uniform(0, np.log(200), m))).astype(int)
    best = np.array([rng.standard_normal(t).max() for t in numbers])
    psi = rng.normal(0.8, 0.02, m) + trend * (expected_maximum(numbers.astype(float)) - 1.5)
    noise = luck * best + np.sqrt(max(1 - luck**2, 0)) * rng.standard_normal(m)
    public, private = psi + 0.01 * noise, psi + 0.01 * rng.standard_normal(m)
    return PairedBoards(public, private, submissions=numbers)


def fitted(boards: PairedBoards, seed: int = 0, priors=None) -> tuple[dict, tuple[str, ...]]:
    rng = np.random.default_rng(seed)
    fit = fit_pairs(Pairs.of(boards, priors), rng)
    noise, _, psi, _ = draw_psi(fit, draw_parameters(fit, 800, rng), rng)
    draws = estimands_of(fit.evidence, noise, psi, fit.evidence.winner, rng)
    return draws, tuple(reasons_of(fit, noise))


def of_scores(x: np.ndarray, y: np.ndarray, errors=None, **options) -> dict:
    return fitted(PairedBoards(x, y, standard_errors=errors), **options)[0]


def test_weighted_points_agree_with_quadrature_over_the_field() -> None:
    """Place and width of a normal field, summed over all nodes of the noise."""
    _, x, y = simulated(2, m=60)
    empty = PairFit.of_pairs(Pairs.of(PairedBoards(x, y, standard_errors=ERRORS)), ("normal",))
    fit = infer(empty, np.random.default_rng(0), 400)
    line = np.linspace(-4, 4, 81)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    mass = softmax(logsumexp(empty.log_likelihood("normal", grid), axis=1) - (grid**2).sum(1) / 2)
    (points,) = fit.points
    weights = points.weights @ fit.node_weights
    mean, sd = mass @ grid, np.sqrt(mass @ (grid - mass @ grid) ** 2)
    assert np.all(np.abs(weights @ points.points - mean) < 0.2 * sd)
    np.testing.assert_allclose(np.sqrt(weights @ (points.points - mean) ** 2), sd, rtol=0.15)


def test_the_work_where_the_noise_is_learnt() -> None:
    """Points are sought at 7 of 25 nodes of the noise; a mixture serves many draws at once."""
    whole, parts = Likelihood.__call__, Pairs.parts
    with (
        patch.object(Likelihood, "__call__", autospec=True, side_effect=whole) as likelihood,
        patch.object(Pairs, "parts", autospec=True, side_effect=parts) as mixture,
    ):
        estimate_paired(PairedBoards(*simulated(2, m=60)[1:]), random_seed=0)
    calls = [call.args for call in likelihood.call_args_list]
    assert sum(one.nodes * len(density) for one, density, _ in calls) < 70_000
    assert mixture.call_count < 500


@pytest.mark.slow
def test_rho_keeps_its_prior_where_the_noise_is_unknown() -> None:
    _, x, y = simulated(3, 0.3, m=400)
    draws = of_scores(x, y)
    prior = beta(5.7, 2.6)
    assert draws["rho"].mean() == pytest.approx(prior.mean(), abs=prior.std() / 2)
    assert draws["rho"].std() == pytest.approx(prior.std(), rel=0.25)


@pytest.mark.slow
def test_the_ratio_of_the_errors_is_learnt_where_the_noise_is_unknown() -> None:
    """Of many teams in a narrow field; nodes of the prior's width would miss it."""
    rng, own = np.random.default_rng(8), np.array([0.02, 0.008])
    psi = 0.85 + 0.015 * rng.standard_normal(1500)
    draws = of_scores(*(psi + own[:, None] * rng.standard_normal((2, 1500))))
    assert abs(draws["noise_ratio"].mean() - 0.4) < 3 * draws["noise_ratio"].std() < 0.4
    assert draws["residual_sd"].mean() == pytest.approx(np.hypot(*own), rel=0.06)


@pytest.mark.slow
def test_an_offset_of_the_public_board_is_found_and_kept_out_of_the_skills() -> None:
    theta, x, y = simulated(5, m=400, offset=0.06)
    draws = of_scores(x, y, ERRORS)
    assert draws["score_shift"].mean() == pytest.approx((y - x).mean(), abs=0.003)
    low, high = np.quantile(draws["winner_skill"], [0.005, 0.995])
    assert low < theta[x.argmax()] < high


@pytest.mark.slow
def test_known_rho_is_not_learnt_and_noise_that_cannot_be_is_a_reason() -> None:
    _, x, y = simulated(11, m=60)
    priors = PairedPriors(FixedCorrelation(0.6))
    draws, reasons = fitted(PairedBoards(x, y, standard_errors=(0.002, 0.002)), priors=priors)
    assert draws["rho"] == pytest.approx(0.6)
    assert reasons[-1].startswith("differences of the teams have the robust standard dev")


@pytest.mark.slow
def test_coverage_on_boards_of_the_model() -> None:
    """Twenty boards: intervals of 95 % of the winner's and the best skill, and of rho."""
    inside = np.zeros(3)
    for seed in range(20):
        rho = float(np.random.default_rng([12, seed]).beta(5.7, 2.6))
        theta, x, y = simulated(100 + seed, rho)
        draws = of_scores(x, y, ERRORS, seed=seed)
        truth = {"winner_skill": theta[x.argmax()], "theta_sota": theta.max(), "rho": rho}
        for i, (name, value) in enumerate(truth.items()):
            low, high = np.quantile(draws[name], [0.025, 0.975])
            inside[i] += low <= value <= high
    assert np.all(inside >= 16)  # binomial(20, 0.95) is below 16 with probability 0.003


@pytest.mark.slow
@pytest.mark.parametrize(("luck", "trend"), [(0.2, 0.01), (0.8, 0.0)])
def test_lambda_is_learnt_even_where_able_teams_submit_more(luck: float, trend: float) -> None:
    draws, reasons = fitted(with_submissions(300, luck, 1, trend))
    low, high = np.quantile(draws["submission_luck"], [0.01, 0.99])
    assert low < luck < high
    assert high - low < 0.75  # 98 % of the prior lie between .07 and .98
    assert not any("lambda" in reason for reason in reasons)


@pytest.mark.slow
def test_teams_that_adapt_are_told() -> None:
    boards = with_submissions(300, 1.0, 3)
    assert boards.submissions is not None
    numbers = boards.submissions[:, 0]
    more = 0.01 * expected_maximum(numbers)
    adapted = PairedBoards(boards.public + more, boards.private, submissions=numbers)
    assert any("adapt to the public board" in reason for reason in fitted(adapted)[1])


def test_one_submission_changes_nothing() -> None:
    x, y = np.random.default_rng(0).normal(0.8, 0.02, (2, 40))
    found = [fitted(PairedBoards(x, y, submissions=number))[0] for number in (None, 1)]
    assert np.array_equal(found[0]["skill"], found[1]["skill"])
