"""Posterior of theta_sota against rejection sampling of whole fields, and against itself."""

import numpy as np
import pytest
from data.files import refused
from scipy import stats

from bayes_sota.core.priors import (
    BetaCorrelation,
    BetaSkill,
    FixedCorrelation,
    LogitNormalSkill,
    MaximumPriors,
    UniformSkill,
)
from bayes_sota.core.skills import expit
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.fresh_test_sets import default_reference_skill
from bayes_sota.maximum.posterior import log_priors, sota_posterior


def best(score, n_test, n_classifiers, **options):
    return BestScore(score, n_test=n_test, n_classifiers=n_classifiers, **options)


BOARD = best("0.98", 200, 50)


@pytest.mark.parametrize(("n", "k"), [(60, 54), (300, 255)])
def test_the_winner_of_independent_classifiers_has_the_posterior_of_its_own_score(n, k):
    y = np.linspace(-4, 6, 4001)
    law = stats.norm(np.log(0.7 / 0.3), 0.3).pdf(y) * stats.binom.pmf(k, n, expit(y))
    priors = MaximumPriors(LogitNormalSkill(0.7, 0.3), FixedCorrelation(0.0))
    board = best(k / n, n, 50, rounding="exact")
    drawn = sota_posterior(board, priors, draws=20_000, random_seed=0).draws["winner_skill"]
    mean, sd = drawn.mean(), drawn.std()
    exact = law @ expit(y) / law.sum()
    assert abs(mean - exact) < 0.035 * sd


def simulate_skills(rng, family, location, spread, m):
    """Skills of whole fields from NumPy's own generators."""
    shape = (location.size, m)
    location, spread = location[:, None], spread[:, None]
    if family == "logit-normal":
        return expit(location + spread * rng.standard_normal(shape))
    if family == "uniform":
        low, high = (expit(location + sign * np.sqrt(3) * spread) for sign in (-1, 1))
        return low + (high - low) * rng.random(shape)
    mean = expit(location)
    return rng.beta(1 / ((1 - mean) * spread**2), 1 / (mean * spread**2), size=shape)


def play(rng, n, theta0, skill, rho):
    reference = rng.binomial(n, theta0, size=rho.size)[:, None]
    a, b = conditional_probabilities(skill, rho[:, None], theta0)
    return reference[:, 0], rng.binomial(reference, a) + rng.binomial(n - reference, b)


def reject(boards, priors, size, seed):
    """Prior draws of one field and its boards; kept where every maximum is the observed one."""
    rng = np.random.default_rng(seed)
    location, spread = priors.skill.draw(rng, size)
    rho = priors.correlation.quantile(rng.random(size))
    kept = np.ones(size, bool)
    columns = {"location": location, "spread": spread, "rho": rho}
    rows = np.arange(size)
    for i, board in enumerate(boards):
        m, n, theta0 = board.n_classifiers, board.n_test, default_reference_skill(board)
        skill = simulate_skills(rng, priors.skill.family, location, spread, m)
        reference, x = play(rng, n, theta0, skill, rho)
        winner = (x + 0.5 * rng.random(x.shape)).argmax(axis=1)
        kept &= (x.max(axis=1) >= board.counts[0]) & (x.max(axis=1) <= board.counts[1])
        new = np.zeros(x.shape)  # of the fields that are out already, nobody asks
        new[kept] = play(rng, n, theta0, skill[kept], rho[kept])[1]
        columns |= {
            f"theta_sota{i}": skill.max(axis=1),
            f"winner_skill{i}": skill[rows, winner],
            f"winner_new_score{i}": new[rows, winner] / n,
            f"best_new_score{i}": new.max(axis=1) / n,
            f"shift{i}": (reference - n * theta0) / np.sqrt(n * theta0 * (1 - theta0)),
        }
    return {name: values[kept] for name, values in columns.items()}, kept.mean()


def flat(posterior):
    """Draws under the names of ``reject``."""
    draws = posterior.draws
    shared = {name: values for name, values in draws.items() if values.ndim == 1}
    own = {name: values for name, values in draws.items() if values.ndim == 2}
    return shared | {f"{name}{i}": x for name, of in own.items() for i, x in enumerate(of.T)}


CASES = {
    "logit-normal": ((BOARD,), MaximumPriors()),
    "beta": ((BOARD,), MaximumPriors(BetaSkill(typical=(0.5, 0.97)))),
    "uniform": ((BOARD,), MaximumPriors(UniformSkill(typical=(0.5, 0.97)))),
    "near one, logit-normal": (
        (best("0.98", 60, 30),),
        MaximumPriors(LogitNormalSkill((0.8, 0.95), (0.01, 0.1)), FixedCorrelation(0.6)),
    ),
    "perfect score": ((best("1.0", 50, 20),), MaximumPriors()),
    "independent": (
        (best("0.92", 100, 20),),
        MaximumPriors(LogitNormalSkill((0.7, 0.95), 0.2), FixedCorrelation(0.0)),
    ),
    "coarse score": (
        (best("0.9", 300, 15),),
        MaximumPriors(LogitNormalSkill((0.7, 0.95), (0.05, 0.6)), BetaCorrelation(8, 4)),
    ),
    "two boards": (
        (best("0.9", 40, 10, name="a"), best("0.92", 60, 20, name="b")),
        MaximumPriors(LogitNormalSkill((0.7, 0.95), (0.05, 0.6))),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_posterior_agrees_with_rejection_sampling(case):
    boards, priors = CASES[case]
    true, accepted = reject(boards, priors, 40_000, 20261121)
    size = 1_500 if priors.skill.family == "beta" else 10_000
    posterior = sota_posterior(boards, priors, draws=size, random_seed=1)
    ours, count = flat(posterior), true["rho"].size
    assert count > 800
    assert posterior.reasons == ()
    evidence, error = posterior.fit.log_evidence_of_all, 1 / np.sqrt(count)
    assert evidence == pytest.approx(np.log(accepted), abs=4.5 * error)
    for name, values in true.items():
        draws = ours[name]
        if np.ptp(values) < 1e-12:  # known in advance
            np.testing.assert_allclose(draws, values[0])
            continue
        if name.startswith("shift") and priors.correlation.quantile(0.5) == 0:
            continue  # S0 of a reference that nobody resembles
        error = np.hypot(draws.std() / np.sqrt(size), values.std() / np.sqrt(count))
        # quadrature may add a hundredth of a standard deviation
        assert draws.mean() == pytest.approx(values.mean(), abs=4.5 * error + 0.01 * values.std())
        kurtosis = max(3.0, stats.kurtosis(values, fisher=False))
        allowed = 4.5 * np.sqrt((kurtosis - 1) / 4 * (1 / count + 1 / size)) + 0.015
        assert draws.std() == pytest.approx(values.std(), rel=allowed), name
        correlation = np.corrcoef(values, true["theta_sota0"])[0, 1]
        found = np.corrcoef(draws, ours["theta_sota0"])[0, 1]
        allowed = 4.5 * np.sqrt(1 / count + 1 / size) + 0.01
        assert found == pytest.approx(correlation, abs=allowed), name
        if not name.startswith("shift"):
            assert stats.ks_2samp(draws, values).pvalue > 1e-5, name


def test_an_impossible_maximum_is_an_error():
    priors = MaximumPriors(LogitNormalSkill(0.55, 0.05))
    refused("impossible under the priors", sota_posterior, best("0.95", 20_000, 50), priors)


@pytest.mark.parametrize(
    ("n_test", "typical"), [(200, (0.5, 0.6)), (20_000, (0.5, 0.6)), (200, (0.6, 0.75))]
)
def test_a_maximum_that_contradicts_the_priors_is_not_trusted(n_test, typical):
    """Where nothing in the tables reaches so far, and where it is only far less probable."""
    priors = MaximumPriors(LogitNormalSkill(typical, 0.05))
    posterior = sota_posterior(best("0.95", n_test, 50), priors, draws=1_000, random_seed=1)
    assert "contradict the prior" in " ".join(posterior.reasons)


def test_log_likelihood_and_log_prior_belong_to_the_draws():
    posterior = sota_posterior(BOARD, draws=500, random_seed=1)
    log_prior = log_priors(MaximumPriors(), posterior.draws)
    prior, rho = MaximumPriors().skill, MaximumPriors().correlation
    location, spread, r = (posterior.draws[name] for name in ("location", "spread", "rho"))
    for name, expected in (
        ("location", stats.norm.logpdf(location, *prior.location)),
        ("log_spread", stats.norm.logpdf(np.log(spread), *prior.log_spread)),
        ("rho", stats.beta.logpdf(r, rho.a, rho.b)),
    ):
        np.testing.assert_allclose(log_prior[name], expected)
    assert posterior.draws["log_likelihood"].shape == (500, 1)
    assert np.all(posterior.draws["log_likelihood"] < 0)
