"""The noise of the best of several submissions: simulation, order statistics, limits."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.core.priors import FixedCorrelation, LogitNormalSkill, MaximumPriors
from bayes_sota.core.skills import expit
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.score_laws import expected_maximum, log_ratios, noise_of

W = np.linspace(-9.0, 11.0, 4001)


def density_of(number: float, luck: float) -> np.ndarray:
    noise = noise_of(((number,),), luck)
    return stats.norm.pdf(W) * np.exp(noise.log_ratio(W[None]))[0]


def moments(density: np.ndarray) -> tuple[float, float, float]:
    total, mean = np.trapezoid(density, W), np.trapezoid(W * density, W)
    return total, mean, np.trapezoid((W - mean) ** 2 * density, W)


@pytest.mark.parametrize(("number", "e", "v"), [(2, 0.564, 0.682), (10, 1.539, 0.344),
                                                (100, 2.508, 0.184)])  # fmt: skip
@pytest.mark.parametrize("luck", [0.3, 0.6, 0.9, 1.0])
def test_mean_and_variance_are_those_of_the_model(number, e, v, luck):
    """Mean lambda e_T and variance 1 - lambda^2 (1 - v_T), with known order statistics."""
    total, mean, variance = moments(density_of(number, luck))
    assert total == pytest.approx(1, abs=4e-4)
    assert mean == pytest.approx(luck * e, abs=2e-3)
    assert variance == pytest.approx(1 - luck**2 * (1 - v), abs=2e-3)
    assert float(expected_maximum(np.array([float(number)]))[0]) == pytest.approx(e, abs=5e-4)


def chosen(rng, number, luck, size):
    """Noise of the submission that maximises skill and noise, tau and kappa giving lambda.

    With kappa^2 = .8 of the noise its own, ``tau^2 = kappa^4 / lambda^2 - kappa^2``.
    """
    kappa2 = 0.8
    tau = np.sqrt(kappa2**2 / luck**2 - kappa2)
    shared = np.sqrt(1 - kappa2) * rng.standard_normal(size)
    own = np.sqrt(kappa2) * rng.standard_normal((size, number))
    best = np.argmax(tau * rng.standard_normal((size, number)) + own, axis=1)
    return shared + own[np.arange(size), best]


@pytest.mark.parametrize("number", [2, 10, 60])
@pytest.mark.parametrize("luck", [0.3, 0.6, 0.85])
def test_the_chosen_submission_of_simulated_teams_has_this_noise(number, luck):
    """Submissions of different skill and partly shared noise, the best of which is shown."""
    found = chosen(np.random.default_rng(number), number, luck, 20_000)
    noise = noise_of(((float(number),),), luck)
    places = np.linspace(-5, 7, 1201)
    cdf = 1 - noise.survival(places[None])[0]
    assert stats.kstest(found, lambda w: np.interp(w, places, cdf)).pvalue > 1e-3
    drawn = noise.draw_above(np.full(20_000, 0.5), np.zeros(20_000, np.int64),
                             np.random.default_rng(1))  # fmt: skip
    assert drawn.min() >= 0.5
    assert stats.ks_2samp(drawn, found[found > 0.5]).pvalue > 1e-3


def test_one_submission_and_no_luck_change_nothing_at_all():
    """Exactly 0, so that results are the same to the last bit."""
    for numbers, luck in ((np.ones((1, 1)), 0.7), (np.ones((2, 8)), 0.2)):
        for table in log_ratios(numbers, luck):
            assert np.all(table == 0)
    density, survival = log_ratios(np.array([[50.0]]), 0.0)
    assert np.abs(density).max() < 1e-12
    assert np.abs(survival).max() < 1e-12


SKILL = LogitNormalSkill(typical=(0.75, 0.9), spread=(0.1, 0.6))


def best_of_fields(rng, luck, rho, tries, m, size):
    """Best score, best skill and winner's skill of simulated fields of m classifiers."""
    location, spread = SKILL.draw(rng, size)
    skill = expit(location[:, None] + spread[:, None] * rng.standard_normal((size, m)))
    largest = stats.norm.ppf(rng.random((size, m)) ** (1 / tries))  # of T normals
    noise = luck * largest + np.sqrt(1 - luck**2) * rng.standard_normal((size, m))
    shared = rho * rng.standard_normal((size, 1))
    score = skill + 0.02 * (shared + np.sqrt(1 - rho**2) * noise)
    first = np.argmax(score, axis=1)
    rows = np.arange(size)
    return score[rows, first], skill.max(axis=1), skill[rows, first]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tries", "luck"), [(8, 0.9), pytest.param(50, 0.5, marks=pytest.mark.slow)]
)
def test_the_posterior_of_a_best_score_is_that_of_simulated_fields(tries, luck):
    priors = MaximumPriors(SKILL, FixedCorrelation(0.7), FixedCorrelation(luck))
    board = BestScore(
        0.93, n_classifiers=10, submissions=tries, metric="score", standard_error=0.02
    )
    draws = sota_posterior(board, priors, draws=20_000, random_seed=1).draws
    rng, kept = np.random.default_rng(2), []
    for _ in range(10):
        best, theta, winner = best_of_fields(rng, luck, 0.7, tries, 10, 40_000)
        near = np.abs(best - 0.93) < 0.0015
        kept.append(np.stack([theta, winner])[:, near])
    for name, values in zip(("theta_sota", "winner_skill"), np.hstack(kept), strict=True):
        error = values.std() / np.sqrt(values.size) + 0.02 * values.std()
        assert values.size > 3000
        assert draws[name].mean() == pytest.approx(values.mean(), abs=4 * error)
        assert draws[name].std() == pytest.approx(values.std(), rel=0.06)
