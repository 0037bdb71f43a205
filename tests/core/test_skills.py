"""Three families of skills against SciPy and numerical integration."""

import numpy as np
import pytest
from scipy import stats
from skill_nodes import composite

from bayes_sota.core.skills import Beta, LogitNormal, Uniform, hat_weights, logit

FAMILIES = {
    "logit-normal": LogitNormal(2.0, 0.3),
    "logit-normal, very narrow": LogitNormal(2.0, 1e-4),
    "logit-normal, very wide": LogitNormal(-1.0, 3.0),
    "beta": Beta.from_location_spread(2.0, 0.3),
    "beta, very narrow": Beta.from_location_spread(4.0, 1e-3),
    "beta, U-shaped": Beta.from_location_spread(0.0, 3.0),
    "beta, b below one": Beta(3.0, 0.4),
    "uniform": Uniform(0.875, 0.9),
    "uniform, very narrow": Uniform(0.9, 0.9 + 1e-9),
    "uniform, very wide": Uniform(0.0, 1.0),
}
every_family = pytest.mark.parametrize("distribution", FAMILIES.values(), ids=FAMILIES.keys())


def scipy_twin(distribution):
    if isinstance(distribution, LogitNormal):
        return stats.norm(distribution.location, distribution.spread)
    if isinstance(distribution, Beta):
        return stats.beta(distribution.a, distribution.b)
    return stats.uniform(distribution.low, distribution.high - distribution.low)


def fine_grid(distribution):
    """SciPy's quantiles that carry the mass, with composite quadrature weights."""
    points, weights = composite(np.linspace(-8, 8, 1001), 10)
    return scipy_twin(distribution).isf(stats.norm.sf(points)), weights * stats.norm.pdf(points)


def some_points(distribution):
    return np.sort(distribution.isf(np.array([0.999, 0.9, 0.5, 0.1, 1e-3, 1e-6])))


@every_family
def test_tails_and_quantiles_agree_with_scipy(distribution):
    twin, q = scipy_twin(distribution), np.array([0.99, 0.5, 0.01, 1e-4, 1e-8])
    found = distribution.isf(q)
    # where rounding of c alone changes sf, an absolute comparison on the coordinate is the fair one
    np.testing.assert_allclose(twin.isf(q), found, rtol=0, atol=1e-6 * np.ptp(found))
    c = some_points(distribution)
    c = c[distribution.skill(c) < 1]
    np.testing.assert_allclose(distribution.sf(c), twin.sf(c), rtol=1e-9, atol=1e-300)
    skill = distribution.skill(c)
    np.testing.assert_allclose(distribution.skill(distribution.from_skill(skill)), skill, 1e-12)


@every_family
def test_excess_is_the_integral_of_the_survival_function(distribution):
    c = some_points(distribution)
    points, weights = fine_grid(distribution)
    direct = np.array([weights @ np.maximum(points - value, 0) for value in c])
    # the integrand has a corner, the composite rule an error of about (cell / scale) ** 2
    above, excess = distribution.tail(c)
    np.testing.assert_allclose(excess, direct, rtol=0, atol=3e-5 * np.ptp(c))
    np.testing.assert_allclose(above, distribution.sf(c), rtol=1e-14)


@every_family
@pytest.mark.parametrize("count", [2, 3, 41])
def test_hat_weights_give_expectations_of_piecewise_linear_functions(distribution, count):
    low, high = distribution.isf(0.999), distribution.isf(1e-4)
    nodes = np.linspace(float(low), float(high), count)
    weights = hat_weights(distribution.tail(nodes)[1], nodes)
    assert (weights.shape, weights.min() >= 0) == ((count,), True)
    assert weights.sum() == pytest.approx(1, abs=1e-9)
    points, mass = fine_grid(distribution)
    values = np.cos(3 * (nodes - nodes[0]) / (nodes[-1] - nodes[0]))
    assert weights @ values == pytest.approx(mass @ np.interp(points, nodes, values), abs=1e-4)


def test_hat_weights_of_a_distribution_between_two_nodes_keep_its_mean():
    nodes = np.linspace(0.0, 4.0, 9)
    weights = hat_weights(LogitNormal(2.1, 1e-6).tail(nodes)[1], nodes)
    assert weights @ nodes == pytest.approx(2.1, abs=1e-12)
    assert np.count_nonzero(weights > 1e-12) == 2


def expected_maximum_by_integration(distribution, m):
    """Mean of the law ``m F^(m - 1) dF`` over normal scores, composite Gauss-Legendre."""
    z, weights = composite(np.linspace(-8.5, 8.5, 1001), 10)
    skill = distribution.skill(scipy_twin(distribution).isf(stats.norm.sf(z)))
    weights = weights * stats.norm.pdf(z) * m * np.exp((m - 1) * stats.norm.logcdf(z))
    return float(weights @ skill)


@pytest.mark.slow
@pytest.mark.parametrize("m", [1, 2, 10, 1000, 1e5])
@pytest.mark.parametrize("spread", [1e-6, 1e-3, 0.3, 2.0])
@pytest.mark.parametrize("location", [-1.0, 2.0, 6.0])
@pytest.mark.parametrize("family", [LogitNormal, Beta, Uniform])
def test_expected_maximum(family, location, spread, m):
    distribution = family.from_location_spread(location, spread)
    expected = expected_maximum_by_integration(distribution, m)
    assert float(distribution.expected_maximum(m)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("family", [LogitNormal, Beta, Uniform])
def test_location_and_spread_mean_the_same_in_every_family(family):
    location, spread = 1.5, 0.05
    distribution = family.from_location_spread(location, spread)
    rng = np.random.default_rng(0)
    skill = distribution.skill(distribution.isf(rng.random(200_000)))
    assert logit(skill).mean() == pytest.approx(location, abs=0.003)
    assert logit(skill).std() == pytest.approx(spread, rel=0.02)
