"""Tables of survival functions against sums of two binomials, term by term."""

import numpy as np
import pytest
from scipy.stats import binom

from bayes_sota.core.skills import Beta, LogitNormal, Uniform
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.survival_table import NOISE, skill_nodes, survival_table


def convolution(edge: int, n: int, k: int, a: float, b: float) -> float:
    """``P(Binomial(k, a) + Binomial(n - k, b) > edge)`` by summation over the first count."""
    first = np.arange(k + 1)
    return float(binom.pmf(first, k, a) @ binom.sf(edge - first, n - k, b))


def counts_of(table, n, theta0):
    """S0 at the nodes of the shift."""
    return np.rint(table.shifts * np.sqrt(n * theta0 * (1 - theta0)) + n * theta0)


def make_table(n, counts, rho, theta0, refinement=1.0):
    edges = np.unique(np.array([counts[0] - 1, *counts]))
    skills = skill_nodes(counts, n, np.array([min(rho, 0.5), max(rho, 0.8)]), refinement)
    return edges, survival_table(edges, n, skills, rho, theta0, 1000.0, refinement)


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
    edges, table = make_table(n, counts, rho, theta0)
    a, b = conditional_probabilities(table.skills, rho, theta0)
    counts = counts_of(table, n, theta0)
    some_counts = np.unique(np.linspace(0, counts.size - 1, 5).astype(int))
    some_skills = np.unique(np.linspace(0, table.skills.size - 1, 12).astype(int))
    for e, edge in enumerate(edges):
        for row in some_counts:
            for i in some_skills:
                exact = convolution(int(edge), n, int(counts[row]), a[i], b[i])
                assert table.survival[e, row, i] == pytest.approx(exact, abs=1e-10)


def test_nothing_overflows_between_distant_skills():
    """A coarse score on a large test set: windows and frequencies differ a lot."""
    n, counts, theta0 = 20_000, (18_000, 19_999), 0.9
    edges, table = make_table(n, counts, 0.8, theta0)
    assert table.skills.size > 256  # more than one block
    assert np.all(np.isfinite(table.survival))
    a, b = conditional_probabilities(table.skills, 0.8, theta0)
    counts = counts_of(table, n, theta0)
    for row in (0, counts.size - 1):
        for i in np.linspace(0, table.skills.size - 1, 6).astype(int):
            exact = convolution(int(edges[1]), n, int(counts[row]), a[i], b[i])
            assert table.survival[1, row, i] == pytest.approx(exact, abs=1e-10)


def test_survival_is_monotone_and_goes_from_zero_to_one():
    _, table = make_table(500, (440, 470), 0.77, 0.92)
    assert np.all(np.diff(table.survival, axis=0) <= 1e-12)
    assert np.all(np.diff(table.survival, axis=2) >= -1e-12)
    assert table.survival[..., 0].max() < 1e-9
    assert table.survival[..., -1].min() > 1 - 1e-9
    assert table.survival[table.survival > 0].min() >= NOISE


@pytest.mark.parametrize(
    ("distribution", "tolerance"),
    [
        (LogitNormal(2.2, 0.15), 2e-3),
        (LogitNormal(2.45, 0.005), 2e-2),  # narrower than the nodes are apart
        (Beta(90.0, 10.0), 2e-3),
        (Uniform(0.85, 0.93), 2e-3),  # the sharp edge lies between two nodes
    ],
)
def test_field_survival_agrees_with_integration(distribution, tolerance):
    """``1 - H_k`` from hat weights against Gauss-Legendre quadrature of the convolution."""
    n, x, theta0, rho = 500, 465, 0.93, 0.7
    _, table = make_table(n, (x, x), rho, theta0)
    weights = distribution.hat_weights(distribution.from_skill(table.skills))
    ours = table.field_survival(weights[None])[1, :, 0]
    low, high = distribution.axis_support()
    u, w = np.polynomial.legendre.leggauss(200)
    u, w = (low + high) / 2 + (high - low) / 2 * u, (high - low) / 2 * w
    a, b = conditional_probabilities(distribution.axis_skill(u), rho, theta0)
    mass = w * distribution.axis_density(u)
    for row in (35, 40, 50, 60):
        k = int(counts_of(table, n, theta0)[row])
        exact = sum(mass[i] * convolution(x, n, k, a[i], b[i]) for i in range(u.size))
        assert 1e-3 < exact < 0.999
        assert ours[row] == pytest.approx(exact, rel=tolerance)
