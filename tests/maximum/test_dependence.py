"""Eq. 6 to 8, the characteristic function and the nodes of S0."""

import mpmath
import numpy as np
import pytest

from bayes_sota.core.errors import InfeasibleCorrelationError, InputError
from bayes_sota.maximum.dependence import (
    conditional_probabilities,
    feasible_correlation,
    feasible_skills,
    log_characteristic_function,
    reference_nodes,
    require_feasible,
    tail_half_width,
)


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
    assert a.min() >= 0
    assert a.max() <= 1
    assert b.min() >= 0
    assert b.max() <= 1
    assert np.diff(a).min() >= -1e-12
    assert np.diff(b).min() >= -1e-12
    np.testing.assert_allclose(theta0 * a + (1 - theta0) * b, theta, atol=1e-12)


@pytest.mark.parametrize("skill", [0.0, 1.0])
def test_a_perfect_or_hopeless_classifier_depends_on_nobody(skill):
    assert float(feasible_correlation(skill, 0.9)) == 0
    a, b = conditional_probabilities(skill, 0.6, 0.9)
    assert float(a) == float(b) == skill


def test_feasible_skills_is_equation_8():
    odds = 0.36 * 0.9 / 0.1
    low, high = feasible_skills(0.6, 0.9)
    assert low == pytest.approx(odds / (1 + odds), abs=1e-15)
    assert high == pytest.approx(1 / (1 + 0.36 * 0.1 / 0.9), abs=1e-15)


def test_infeasible_correlation_names_skill_and_both_ranges():
    with pytest.raises(InfeasibleCorrelationError) as caught:
        require_feasible([0.7, 0.95], 0.6, 0.9)
    message = str(caught.value)
    for part in ("0.6", "skill 0.7", "[0, 0.5092]", "[0.764151, 0.961538]"):
        assert part in message
    require_feasible([0.7642, 0.9615], 0.6, 0.9)


@pytest.mark.parametrize("p", [0.0, 1e-6, 0.0001, 0.1, 0.3, 0.5, 0.7, 0.96, 0.9999, 1.0])
def test_characteristic_function_times_a_million_items(p):
    """What is lost is multiplied by n; it must not matter where the characteristic function lives.

    Frequencies at which ``|phi| ** n`` is above exp(-38) count.
    """
    n = 1_000_000
    mpmath.mp.dps = 40
    t = np.concatenate([np.geomspace(1e-6, 0.2499, 15), np.linspace(0.25, np.pi, 15)])
    alive = 2 * n * p * (1 - p) * np.sin(t / 2) ** 2 <= 38
    values = n * log_characteristic_function(p, t[alive])
    for frequency, value in zip(t[alive], values, strict=True):
        q, u = mpmath.mpf(p), mpmath.mpf(float(frequency))
        exact = n * (mpmath.log(1 - q + q * mpmath.expj(u)) - 1j * q * u)
        turns = mpmath.nint(mpmath.im(exact - complex(value)) / (2 * mpmath.pi * n))
        exact -= 2j * mpmath.pi * n * turns
        assert abs(exact - complex(value)) < 2e-12


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (10, 0.97), (200, 0.999), (3000, 0.9), (500, 1e-4)])
def test_nodes_are_the_binomial_where_every_one_is_used(n, p):
    mpmath.mp.dps = 40
    nodes = reference_nodes(n, p, step=0.0)
    assert nodes.stride == 1
    x = mpmath.mpf(p)
    for count, weight in zip(nodes.counts, nodes.weights, strict=True):
        exact = mpmath.binomial(n, int(count)) * x ** int(count) * (1 - x) ** int(n - count)
        assert abs(float(exact) - weight) < 1e-12
    assert nodes.weights.sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(("n", "p"), [(3000, 0.9), (1_000_000, 0.99), (1_000_000, 0.999999)])
def test_strided_nodes_keep_the_moments(n, p):
    sd = np.sqrt(n * p * (1 - p))
    nodes = reference_nodes(n, p, step=0.4)
    assert nodes.stride == max(1, int(0.4 * sd))
    mean = nodes.weights @ nodes.counts
    variance = nodes.weights @ (nodes.counts - n * p) ** 2
    assert abs(mean - n * p) < 1e-9 * sd
    assert variance == pytest.approx(sd**2, rel=1e-9)


@pytest.mark.parametrize("theta0", [0.0, 1.0, -0.1, float("nan")])
def test_a_certain_reference_classifier_is_refused(theta0):
    with pytest.raises(InputError, match=r"reference skill must lie in \(0, 1\)"):
        reference_nodes(100, theta0, 0.4)


@pytest.mark.parametrize(("n", "p"), [(200, 0.99), (200, 0.5), (3000, 0.9), (10**6, 0.9999)])
def test_mass_beyond_the_half_width_is_negligible(n, p):
    from scipy.special import betainc

    reach = float(tail_half_width(n * p * (1 - p)))
    above, below = np.ceil(n * p + reach), np.floor(n * p - reach)
    upper = betainc(above, n - above + 1, p) if above <= n else 0.0
    lower = betainc(n - below, below + 1, 1 - p) if below >= 0 else 0.0
    assert upper + lower < 1e-18
