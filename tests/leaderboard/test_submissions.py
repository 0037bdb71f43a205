"""Boards whose scores are the best of several submissions: bit-identical at one, simulation, order.

The luck of a choice is taken off every score that was chosen; real boards, where they are at hand.
"""

import numpy as np
import pytest
from boards import draw_entries, evidence_of

import bayes_sota as bs
from bayes_sota.core.priors import BoardPriors, FixedCorrelation
from bayes_sota.core.skills import expit
from bayes_sota.leaderboard.fit import fit_field
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.maximum.score_laws import expected_maximum, score_law

NORMAL = BoardPriors(families=("normal",))


def counts_of(seed: int = 3, m: int = 120, n: int = 2000) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.binomial(n, expit(1.4 + 0.1 * rng.standard_normal(m))) / n


def board(scores=None, **options) -> bs.Leaderboard:
    scores = counts_of() if scores is None else scores
    return bs.Leaderboard(scores, n_test=2000, rounding="exact", **options)


def gaussian(scores, **options) -> bs.Leaderboard:
    return bs.Leaderboard(scores, metric="score", standard_error=0.01, **options)


def aucs() -> np.ndarray:
    return np.round(0.8 + 0.02 * np.random.default_rng(5).standard_normal(40), 4)


BOARDS = {
    "accuracy": board,
    "score": lambda **options: gaussian(counts_of(), **options),
    "auc": lambda **options: bs.Leaderboard(
        aucs(), n_test=900, n_positive=300, metric="auc", **options
    ),
    "partial": lambda **options: board(n_classifiers=500, **options),
}


@pytest.mark.parametrize("kind", BOARDS)
def test_the_law_of_a_score_sums_to_one(kind):
    """Over all scores, for every skill near the middle: mass and reach are of one law."""
    wide = evidence_of(BOARDS[kind](submissions=30))
    middle = int(np.argmax(wide.at(0.6, 0.7).score[-1]))
    law, psi = wide.law, wide.psi[middle]
    error = float(law.errors_at(np.array([psi]))[0]) * 0.8
    w = np.linspace(-4, 6, 801)
    chance = wide.noise(0.7).log_ratio(w[None], [0])[0] - 0.5 * w**2 - 0.5 * np.log(2 * np.pi)
    above = np.trapezoid(np.where(w > 1.5, np.exp(chance), 0.0), w)
    cut = (psi + 1.5 * error) * law.unit
    reach = wide.reaches(cut, np.array([1 - 0.6**2]), 0.7)[0, middle]
    assert reach == pytest.approx(above, abs=0.03)


def simulated(luck: float, rho: float, size: int, seed: int):
    """Three Gaussian scores with T = 40, 1 and 5 submissions; draws weighted by the likelihood.

    Likelihood weighting with the law written as an integral over what the submissions share: a
    route that has no table and no ratio.
    """
    from scipy import stats

    given, tries = np.array([0.90, 0.885, 0.87]), np.array([40, 1, 5])
    law = score_law(gaussian(given)).fitted_to(np.sort(given))
    rng = np.random.default_rng(seed)
    place, log_spread = rng.standard_normal((2, size)) * [[1.5], [0.9]] + [[0.0], [np.log(0.5)]]
    y = place + np.exp(log_spread) * rng.standard_normal((3, size))
    stranger = rng.random((3, size)) < 0.5 / 3
    y = np.where(stranger, 1.5 * rng.standard_normal((3, size)), y)
    psi = law.skill_at(y)
    own = 0.01 * np.sqrt(1 - rho**2)
    z = (given[:, None] - psi) / own
    nodes, weights = np.polynomial.hermite_e.hermegauss(25)
    shared = np.sqrt(1 - luck**2)
    log_p = np.zeros(size)
    for j, number in enumerate(tries):
        at = (z[j] - shared * nodes[:, None]) / luck
        pdf = number * stats.norm.pdf(at) * stats.norm.cdf(at) ** (number - 1)
        log_p += np.log(np.maximum(weights @ pdf, 1e-300))
    mass = np.exp(log_p - log_p.max())
    mass /= mass.sum()
    theta = psi - rho * 0.01 * rng.standard_normal(size)
    return gaussian(given, submissions=tries), mass, theta


@pytest.mark.slow
@pytest.mark.parametrize("luck", [pytest.param(0.5, marks=pytest.mark.slow), 0.9])
def test_agrees_with_likelihood_weighting(luck):
    priors = BoardPriors(
        correlation=FixedCorrelation(0.7), families=("normal",),
        submission_luck=FixedCorrelation(luck),
    )  # fmt: skip
    entries, mass, theta = simulated(luck, 0.7, 100_000, 4)
    draws = board_posterior(entries, priors, draws=10_000, random_seed=1).draws
    effective = 1 / np.sum(mass**2)
    assert effective > 300
    for name, values in (("theta_sota", theta.max(axis=0)), ("winner_skill", theta[0])):
        mean = mass @ values
        sd = np.sqrt(mass @ (values - mean) ** 2)
        error = sd * np.hypot(1 / np.sqrt(effective), 0.02)
        assert draws[name].mean() == pytest.approx(mean, abs=4 * error)
        assert draws[name].std() == pytest.approx(sd, rel=0.1)
    fit = fit_field(evidence_of(entries), priors, np.random.default_rng(0))
    skill = draw_entries(fit, 8000, np.random.default_rng(1)).skill
    for j in range(3):
        mean = mass @ theta[j]
        sd = np.sqrt(mass @ (theta[j] - mean) ** 2)
        assert skill[:, j].mean() == pytest.approx(mean, abs=0.1 * sd)


def test_replicated_scores_have_the_luck_of_their_submissions():
    evidence = evidence_of(gaussian(np.linspace(0.87, 0.9, 10), submissions=[1, 50] * 5))
    drawn = evidence.draw_scores(np.full((4000, 10), 0.8), 0.6, 0.7, np.random.default_rng(0))
    z = (drawn - 0.8) / (0.01 * 0.8)
    luck = 0.7 * expected_maximum(np.array([1.0, 50.0]))
    np.testing.assert_allclose(z.mean(axis=0), np.tile(luck, 5), atol=0.08)


def test_entries_below_the_modelled_part_lose_the_luck_of_their_submissions():
    entries = board(np.append(counts_of(), [0.6, 0.6]), submissions=[*[1] * 121, 200])
    found = board_posterior(entries, NORMAL, draws=400, random_seed=1)
    assert not found.skills.fit.evidence.modelled[-2:].any()
    once, chosen = found.entries.mean()[-2:]
    assert once == pytest.approx(0.6, abs=0.003)
    assert 0.57 < chosen < 0.595
