"""The noise of the best of several submissions: simulation, order statistics, limits."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.maximum.submissions import SubmissionNoise, expected_maximum, log_ratios

W = np.linspace(-9.0, 11.0, 4001)


def density_of(number: float, luck: float) -> np.ndarray:
    noise = SubmissionNoise(np.array([[number]]), luck)
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
    noise = SubmissionNoise(np.array([[float(number)]]), luck)
    places = np.linspace(-5, 7, 1201)
    cdf = 1 - noise.survival(places[None])[0]
    assert stats.kstest(found, lambda w: np.interp(w, places, cdf)).pvalue > 1e-3
    drawn = noise.draw_above(np.full(20_000, 0.5), np.zeros(20_000, np.int64),
                             np.random.default_rng(1))  # fmt: skip
    assert drawn.min() >= 0.5
    assert stats.ks_2samp(drawn, found[found > 0.5]).pvalue > 1e-3


def test_independent_noises_are_order_statistics():
    w = np.array([-1.0, 0.5, 2.0, 4.0])
    noise = SubmissionNoise(np.array([[7.0]]), 1.0)
    survival = -np.expm1(7 * stats.norm.logcdf(w))
    assert noise.survival(w[None])[0] == pytest.approx(survival, rel=2e-3)
    density = 7 * stats.norm.cdf(w) ** 6
    assert np.exp(noise.log_ratio(w[None]))[0] == pytest.approx(density, rel=2e-3)


def test_one_submission_and_no_luck_change_nothing_at_all():
    """Exactly 0, so that results are the same to the last bit."""
    for numbers, luck in ((np.ones((1, 1)), 0.7), (np.ones((2, 8)), 0.2)):
        for table in log_ratios(numbers, luck):
            assert np.all(table == 0)
    density, survival = log_ratios(np.array([[50.0]]), 0.0)
    assert np.abs(density).max() < 1e-12
    assert np.abs(survival).max() < 1e-12


def test_a_prior_of_the_number_mixes_the_laws():
    mixed = SubmissionNoise(np.array([[2.0, 30.0]]), 0.6).survival(W[None])[0]
    each = [SubmissionNoise(np.array([[t]]), 0.6).survival(W[None])[0] for t in (2.0, 30.0)]
    assert mixed == pytest.approx(np.mean(each, axis=0), rel=1e-3)


def test_more_submissions_are_never_less_lucky():
    """The likelihood ratio increases in the score, so posteriors of skill fall as T grows."""
    numbers = np.array([[1.0], [2.0], [5.0], [20.0], [1000.0]])
    for luck in (0.1, 0.6, 1.0):
        density, _ = log_ratios(numbers, luck)
        rising = np.diff(np.diff(density, axis=0), axis=1)
        shown = density[1:, :-1] > -600  # below, ratios are held at 1e-300
        assert np.all(rising[shown] >= -1e-9)
        assert shown.sum() > 2000
