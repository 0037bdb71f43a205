"""Likelihood of an observed maximum against direct summation; draws against simulated fields."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom

from bayes_sota.core.priors import UniformTries
from bayes_sota.core.skills import Beta, LogitNormal, Uniform
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.likelihood import BoardLikelihood

N, M, THETA0 = 30, 8, 0.85
FIELDS = {
    "logit-normal": LogitNormal(1.8, 0.4),
    "beta": Beta(20.0, 4.0),
    "uniform": Uniform(0.7, 0.95),
}


def board(count: int, m=M, n=N) -> Leaderboard:
    return Leaderboard.from_maximum(count / n, n_test=n, n_classifiers=m, rounding="exact")


def arrays(distribution, size=1):
    """The same distribution ``size`` times."""
    names = distribution.__dataclass_fields__
    return type(distribution)(*(np.full(size, getattr(distribution, name)) for name in names))


def exact_cdf(distribution, rho, x, m, n=N, theta0=THETA0):
    """``P(max <= x)`` by summation over every k and quadrature over the skill."""
    low, high = distribution.axis_support()
    u, w = np.polynomial.legendre.leggauss(500)
    u = (low + high) / 2 + (high - low) / 2 * u
    mass = w * (high - low) / 2 * distribution.axis_density(u)
    a, b = conditional_probabilities(distribution.axis_skill(u), rho, theta0)
    total = 0.0
    for k in range(n + 1):
        first = np.arange(k + 1)[:, None]
        cdf = (binom.pmf(first, k, a) * binom.cdf(x - first, n - k, b)).sum(axis=0)
        total += binom.pmf(k, n, theta0) * (mass @ cdf) ** m
    return total


def log_likelihood(b, distribution, rho, theta0=THETA0, refinement=1.0):
    likelihood = BoardLikelihood(b, np.atleast_1d(rho), theta0, refinement)
    return likelihood.log_likelihood(likelihood.hat_weights(arrays(distribution)), 0)[0]


@pytest.mark.parametrize(("rho", "count"), [(0.0, 28), (0.6, 24), (0.9, 30)])
@pytest.mark.parametrize("family", FIELDS)
def test_likelihood_agrees_with_direct_summation(family, rho, count):
    distribution = FIELDS[family]
    exact = exact_cdf(distribution, rho, count, M) - exact_cdf(distribution, rho, count - 1, M)
    ours, finer = (log_likelihood(board(count), distribution, rho, THETA0, f) for f in (1, 4))
    assert ours == pytest.approx(np.log(exact), abs=0.02)
    assert finer == pytest.approx(np.log(exact), abs=1.5e-3)


@pytest.mark.parametrize("rho", [0.0, 0.75])
def test_likelihoods_of_all_scores_sum_to_one(rho):
    total = sum(np.exp(log_likelihood(board(x), FIELDS["logit-normal"], rho)) for x in range(N + 1))
    assert total == pytest.approx(1.0, abs=2e-3)


def test_a_coarse_score_has_the_likelihood_of_all_its_counts():
    coarse = Leaderboard.from_maximum("0.9", n_test=300, n_classifiers=M)
    assert coarse.counts == (255, 285)
    parts = [np.exp(log_likelihood(board(x, n=300), FIELDS["beta"], 0.7)) for x in range(255, 286)]
    assert log_likelihood(coarse, FIELDS["beta"], 0.7) == pytest.approx(
        np.log(sum(parts)), abs=1e-3
    )


def test_a_prior_on_tries_averages_the_likelihood():
    prior = UniformTries(4, 60)
    values, weights = prior.nodes()
    parts = [np.exp(log_likelihood(board(27, int(m)), FIELDS["uniform"], 0.7)) for m in values]
    assert log_likelihood(board(27, prior), FIELDS["uniform"], 0.7) == pytest.approx(
        np.log(weights @ parts), abs=2e-4
    )


def test_likelihood_stays_finite_where_the_field_is_far_too_good():
    """``H^m`` underflows for a million classifiers; its logarithm does not."""
    b = board(800, m=1_000_000, n=1000)
    values = [log_likelihood(b, LogitNormal(c, 0.2), 0.5, 0.8) for c in (0.5, 1.0, 1.5)]
    assert np.all(np.isfinite(values))
    assert values[0] > values[1] > values[2]
    assert values[2] < -1000


def simulate(distribution, rho, m, counts, size, n_new):
    """Fields whose maximum falls into ``counts``: best skill, winner, S0, scores on new items."""
    rng = np.random.default_rng(20261121)
    skill = distribution.skill(distribution.isf(rng.random((size, m))))
    a, b = conditional_probabilities(skill, rho, THETA0)

    def play(n):
        reference = rng.binomial(n, THETA0, size=size)[:, None]
        return reference[:, 0], rng.binomial(reference, a) + rng.binomial(n - reference, b)

    reference, x = play(N)
    winner = (x + 0.5 * rng.random(x.shape)).argmax(axis=1)  # ties are broken at random
    _, new = play(n_new)
    rows, best = np.arange(size), x.max(axis=1)
    kept = (best >= counts[0]) & (best <= counts[1])
    columns = {
        "theta_sota": skill.max(axis=1),
        "winner_skill": skill[rows, winner],
        "winner_new_score": new[rows, winner] / n_new,
        "best_new_score": new.max(axis=1) / n_new,
        "shift": (reference - N * THETA0) / np.sqrt(N * THETA0 * (1 - THETA0)),
    }
    return {name: values[kept] for name, values in columns.items()}


def board_of(counts):
    middle = (counts[0] + counts[1]) / 2 / N
    board = Leaderboard.from_maximum(middle, n_test=N, n_classifiers=M, rounding="exact")
    return board._copy(_best_counts=counts)


@pytest.mark.parametrize(
    ("family", "rho", "counts"),
    [
        ("logit-normal", 0.0, (28, 28)),
        ("logit-normal", 0.75, (25, 27)),
        ("beta", 0.75, (28, 28)),
        ("uniform", 0.75, (30, 30)),
    ],
)
def test_draws_agree_with_simulated_fields(family, rho, counts):
    true = simulate(FIELDS[family], rho, M, counts, 60_000, 77)
    b = board_of(counts)
    size = 3_000 if family == "beta" else 15_000
    draws = BoardLikelihood(b, np.array([rho]), THETA0).draw(
        np.random.default_rng(1),
        arrays(FIELDS[family], size),
        np.zeros(size, np.int64),
        np.full(size, rho),
        77,
    )
    assert np.all(draws.winner_skill <= draws.theta_sota)
    assert not draws.beyond_tables.any()
    if rho == 0:  # the counts say nothing of a reference classifier that nobody resembles
        del true["shift"]
    for name, values in true.items():
        ours = getattr(draws, name)
        error = np.hypot(ours.std() / np.sqrt(size), values.std() / np.sqrt(values.size))
        assert ours.mean() == pytest.approx(values.mean(), abs=4.5 * error), name
        assert ours.std() == pytest.approx(
            values.std(), rel=4.5 * np.sqrt(1 / values.size + 1 / size)
        ), name
        if name != "shift":  # spread evenly between the nodes of S0
            assert stats.ks_2samp(ours, values).pvalue > 1e-5, name
        assert np.corrcoef(ours, draws.winner_skill)[0, 1] == pytest.approx(
            np.corrcoef(values, true["winner_skill"])[0, 1],
            abs=4.5 * np.sqrt(1 / values.size + 1 / size),
        ), name


def test_draws_know_when_they_rest_on_the_ends_of_the_tables():
    size = 200
    b = board(950, m=50, n=1000)
    field = arrays(LogitNormal(0.2, 0.05), size)
    likelihood = BoardLikelihood(b, np.array([0.75]), None)
    draws = likelihood.draw(
        np.random.default_rng(1), field, np.zeros(size, np.int64), np.full(size, 0.75), 1000
    )
    assert draws.beyond_tables.mean() > 0.9
