"""Densities of board-conditional skill: mass, SciPy's formulas, PyTensor's evaluation."""

import numpy as np
import pytest
from scipy import interpolate, stats

from bayes_sota.core.priors import KNOWN_FAMILIES
from bayes_sota.leaderboard.fit import numpy_operations
from bayes_sota.leaderboard.models import pytensor_operations
from bayes_sota.leaderboard.shapes import FAMILIES, FieldScale

SCALE = FieldScale(1.6, 1.5, np.log(0.3), 0.9, 0.004)
Y = np.linspace(-14, 18, 40_001)


def density(name: str, t: np.ndarray, scale: FieldScale = SCALE, y: np.ndarray = Y) -> np.ndarray:
    columns = tuple(t[:, i, None] for i in range(FAMILIES[name].dimension))
    return np.exp(FAMILIES[name].log_density(numpy_operations(), scale, columns, y))


def test_the_families_are_those_of_the_prior() -> None:
    assert tuple(FAMILIES) == KNOWN_FAMILIES


@pytest.mark.parametrize("name", FAMILIES)
def test_densities_have_unit_mass(name: str) -> None:
    t = np.random.default_rng(1).standard_normal((40, FAMILIES[name].dimension))
    mass = density(name, t).sum(axis=1) * (Y[1] - Y[0])
    np.testing.assert_allclose(mass, 1, atol=2e-3)


def test_normal_is_scipys() -> None:
    t = np.array([[0.3, -0.2]])
    width = np.hypot(np.exp(np.log(0.3) - 0.18), 0.004)
    expected = stats.norm(1.6 + 0.45, width).pdf(Y)
    np.testing.assert_allclose(density("normal", t)[0], expected, atol=1e-12)


def test_ex_gaussian_is_scipys_reversed() -> None:
    t = np.array([[0.1, 0.4, 0.6]])
    tail = 0.3 * np.exp(0.36)
    soft = np.hypot(tail * np.exp(-0.6), 0.004)
    edge = 1.6 + 0.15 + 0.75
    expected = stats.exponnorm(tail / soft, loc=0, scale=soft).pdf(edge - Y)
    np.testing.assert_allclose(density("ex-gaussian", t)[0], expected, atol=1e-9)


def test_normal_laplace_is_a_sum_of_its_parts() -> None:
    t = np.array([[-0.2, 0.1, 0.5, 0.3]])
    rng = np.random.default_rng(3)
    left = 0.3 * np.exp(0.09)
    right, soft = left * np.exp(-1 + 0.4), left * np.exp(-1.5 + 0.21)
    size = 400_000
    draws = 1.3 + soft * rng.standard_normal(size)
    draws += right * rng.exponential(size=size) - left * rng.exponential(size=size)
    cdf = np.cumsum(density("normal-laplace", t)[0]) * (Y[1] - Y[0])
    at = np.quantile(draws, [0.05, 0.3, 0.5, 0.9, 0.99])
    np.testing.assert_allclose(np.interp(at, Y, cdf), [0.05, 0.3, 0.5, 0.9, 0.99], atol=3e-3)


def test_plateau_is_flat_between_its_edges() -> None:
    p = density("plateau", np.zeros((1, 2)))[0]
    edge, width = 1.6 + 0.75, 0.3 * np.sqrt(12)
    inside = (edge - 0.8 * width < Y) & (edge - 0.2 * width > Y)
    np.testing.assert_allclose(p[inside], 1 / width, rtol=1e-4)
    assert np.interp(edge, Y, p) == pytest.approx(0.5 / width, rel=1e-3)


def test_two_groups_hold_their_shares() -> None:
    t = np.array([[0.0, -1.0, 2.0, 0.0, -1.0]])
    p = density("two-groups", t)[0] * (Y[1] - Y[0])
    middle = 1.6 - 0.3 * np.exp(-0.9 - 0.5) * np.exp(0.7 + 1.2) / 2
    leaders = 1 / (1 + np.exp(1.5))
    assert p[middle < Y].sum() == pytest.approx(leaders, abs=2e-3)


def test_equals_are_a_peak_and_a_tail() -> None:
    t = np.array([[0.1, 0.4, 0.6]])
    edge, tail, share = 1.6 + 0.15 + 0.75, 0.3 * np.exp(0.36), 1 / (1 + np.exp(-0.9))
    y = edge + np.linspace(-2, 0.1, 40_001)
    soft = np.hypot(0.02 * tail, 0.004)
    rest = stats.exponnorm(tail / soft, loc=0, scale=soft).pdf(edge - y)
    knots = 0.004 * np.array([-1.5, -0.5, 0.5, 1.5])
    peak = interpolate.BSpline.basis_element(knots, extrapolate=False)(y - edge) / 0.004
    expected = share * np.nan_to_num(peak) + (1 - share) * rest
    np.testing.assert_allclose(density("equals", t, y=y)[0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("place", [0.0, 0.0003, 0.001, 0.0013])
def test_equals_have_their_share_wherever_they_lie_on_the_grid(place: float) -> None:
    grid = np.arange(1.5, 3, SCALE.step)
    t = np.array([[place, -9.0, 6.0]])
    mass = density("equals", t, y=grid).sum() * SCALE.step
    assert mass == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_pytensor_evaluates_the_same_formula(name: str) -> None:
    import pytensor
    import pytensor.tensor as pt

    ops = pytensor_operations()
    t = np.array([0.2, -0.3, 0.4, 0.1, -0.5])[: FAMILIES[name].dimension]
    y = np.linspace(0, 3, 61)
    columns = tuple(pt.constant(v) for v in t)
    symbolic = FAMILIES[name].log_density(ops, SCALE, columns, pt.constant(y))
    values = pytensor.function([], symbolic, mode="FAST_COMPILE")()
    kept = values > -200
    np.testing.assert_allclose(
        np.exp(values[kept]), density(name, t[None], y=y)[0][kept], rtol=1e-8
    )
