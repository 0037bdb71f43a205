"""Likelihood of an observed maximum against direct summation.

``test_posterior.py`` holds its draws against simulated fields.
"""

import numpy as np
import pytest
from benchmarks import independent_table1 as independent
from skill_nodes import skill_nodes

from bayes_sota.core.priors import UniformTries
from bayes_sota.core.skills import Beta, LogitNormal, Uniform
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum import likelihood as module
from bayes_sota.maximum.dependence import feasible_skills
from bayes_sota.maximum.likelihood import BoardLikelihood

N, M, THETA0 = 30, 8, 0.85
FIELDS = {
    "logit-normal": LogitNormal(np.array([1.8]), 0.4),
    "beta": Beta(np.array([20.0]), 4.0),
    "uniform": Uniform(np.array([0.7]), 0.95),
}


def board(count: int, m=M, n=N):
    return BestScore(count / n, n_test=n, n_classifiers=m, rounding="exact")


def log_likelihood(b, distribution, rho, theta0=THETA0):
    likelihood = BoardLikelihood(b, np.atleast_1d(rho), theta0)
    return likelihood.at_nodes(distribution)[0, 0]


@pytest.mark.parametrize(
    ("rho", "count"), [(0.0, 28), pytest.param(0.6, 24, marks=pytest.mark.slow), (0.9, 30)]
)
@pytest.mark.parametrize("family", FIELDS)
def test_likelihood_agrees_with_direct_summation(family, rho, count, monkeypatch):
    distribution = FIELDS[family]
    cuts = np.array(feasible_skills(rho, THETA0)) if rho else None
    nodes = skill_nodes(distribution, 50, cuts=cuts)
    exact = np.diff(independent.maximum_cdf([count - 1, count], N, *nodes, M, rho, THETA0)).item()
    assert log_likelihood(board(count), distribution, rho) == pytest.approx(np.log(exact), abs=0.02)
    monkeypatch.setattr(module, "DENSITY", 4.0)
    found = log_likelihood(board(count), distribution, rho)
    assert found == pytest.approx(np.log(exact), abs=1.5e-3)


def test_a_coarse_score_has_the_likelihood_of_all_its_counts():
    coarse = BestScore("0.9", n_test=300, n_classifiers=M)
    assert coarse.counts == (255, 285)
    parts = [np.exp(log_likelihood(board(x, n=300), FIELDS["beta"], 0.7)) for x in range(255, 286)]
    found = log_likelihood(coarse, FIELDS["beta"], 0.7)
    assert found == pytest.approx(np.log(sum(parts)), abs=1e-3)


def test_a_prior_on_tries_averages_the_likelihood():
    prior = UniformTries(4, 60)
    values, weights = prior.nodes()
    parts = [np.exp(log_likelihood(board(27, int(m)), FIELDS["uniform"], 0.7)) for m in values]
    found = log_likelihood(board(27, prior), FIELDS["uniform"], 0.7)
    assert found == pytest.approx(np.log(weights @ parts), abs=2e-4)


def test_likelihood_stays_finite_where_the_field_is_far_too_good():
    """``H^m`` underflows for a million classifiers; its logarithm does not."""
    b = board(800, m=1_000_000, n=1000)
    values = [log_likelihood(b, LogitNormal(np.array([c]), 0.2), 0.5, 0.8) for c in (0.5, 1, 1.5)]
    assert np.all(np.isfinite(values))
    assert values[0] > values[1] > values[2]
    assert values[2] < -1000
