"""Eq. 6 to 8, the characteristic function, the nodes of S0, and tables of survival functions."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.dependence import (
    conditional_probabilities,
    correlation_of_similarity,
    feasible_correlation,
    feasible_skills,
)
from bayes_sota.maximum.likelihood import nodes_of_skill, tabulate


@pytest.mark.parametrize("theta0", [0.3, 0.9, 0.9999])
@pytest.mark.parametrize("rho", [0.01, 0.3, 0.6, 0.999])
def test_conditional_probabilities_give_back_skill_and_correlation(theta0, rho):
    low, high = feasible_skills(rho, theta0)
    theta = np.linspace(low, high, 11)
    a, b = conditional_probabilities(theta, rho, theta0)
    np.testing.assert_allclose(theta0 * a + (1 - theta0) * b, theta, rtol=1e-13)
    covariance = theta0 * a - theta0 * theta
    sd = np.sqrt(theta * (1 - theta) * theta0 * (1 - theta0))
    np.testing.assert_allclose(covariance / sd, rho, atol=1e-9)  # the covariance cancels


@pytest.mark.parametrize("rho", [0.1, 0.74, 0.999, 1.0])
@pytest.mark.parametrize("theta0", [1e-4, 0.5, 0.95, 0.9999])
def test_capped_probabilities_are_probabilities_and_increase_with_skill(rho, theta0):
    theta = np.linspace(0, 1, 2001)
    a, b = conditional_probabilities(theta, rho, theta0)
    for p in (a, b):
        assert 0 <= p.min() <= p.max() <= 1
        assert np.diff(p).min() >= -1e-12
    np.testing.assert_allclose(theta0 * a + (1 - theta0) * b, theta, atol=1e-12)
    # one that is perfect or hopeless depends on nobody
    assert feasible_correlation([0.0, 1.0], theta0).tolist() == [0, 0]
    assert (a[[0, -1]].tolist(), b[[0, -1]].tolist()) == ([0, 1], [0, 1])


def convolution(edge: int, n: int, k: int, a: float, b: float) -> float:
    """``P(Binomial(k, a) + Binomial(n - k, b) > edge)`` by summation over the first count."""
    first = np.arange(k + 1)
    return float(binom.pmf(first, k, a) @ binom.sf(edge - first, n - k, b))


def counts_of(table, n, theta0):
    """S0 at the nodes of the shift."""
    return np.rint(table.shifts * np.sqrt(n * theta0 * (1 - theta0)) + n * theta0)


def make_table(n, counts, rho, theta0):
    """Edges, skills and table of a best score that any of these counts prints as."""
    low, high = counts
    board = BestScore(high / n, n_test=n, n_classifiers=1000, rounding="exact")
    edges = np.unique(np.array([low - 1, low, high]))
    skills = nodes_of_skill(board, np.array([min(rho, 0.5), max(rho, 0.8)]))
    return edges, skills, tabulate(board, edges, skills, rho, theta0)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.77, 0.95])
@pytest.mark.parametrize(
    ("n", "counts", "theta0"),
    [
        (1, (1, 1), 0.5),
        (60, (58, 59), 0.97),  # near 1: the correlation is cut on both sides
        (60, (60, 60), 0.99),
        (40, (0, 1), 0.1),
        (500, (440, 470), 0.9),
        (3000, (2730, 2730), 0.6),  # the reference classifier is far from the maximum
    ],
)
def test_survival_functions_agree_with_convolution(n, counts, theta0, rho):
    edges, at, table = make_table(n, counts, rho, theta0)
    a, b = conditional_probabilities(at, rho, theta0)
    right = counts_of(table, n, theta0)
    rows, skills = (
        np.unique(np.linspace(0, size - 1, few).astype(int))
        for size, few in ((right.size, 5), (at.size, 12))
    )
    for (e, edge), row, i in itertools.product(enumerate(edges), rows, skills):
        exact = convolution(int(edge), n, int(right[row]), a[i], b[i])
        assert table.survival[e, row, i] == pytest.approx(exact, abs=1e-10)


def test_similarity_gives_back_the_correlation():
    """Simulated answers of two classifiers that share a reference agree as often as was said."""
    skill, similarity = 0.8, 0.83
    rho = correlation_of_similarity(similarity, skill)
    a, b = conditional_probabilities(skill, rho, skill)
    agree = skill * (a**2 + (1 - a) ** 2) + (1 - skill) * (b**2 + (1 - b) ** 2)
    assert agree == pytest.approx(similarity, abs=1e-12)
    ends = [correlation_of_similarity(s, skill) for s in (0.8**2 + 0.2**2, 1.0)]
    assert ends == pytest.approx([0.0, 1.0], abs=1e-7)
