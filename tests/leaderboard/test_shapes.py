"""Densities of board-conditional skill: mass, SciPy's formulas, PyTensor's evaluation."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.leaderboard.fit import FAMILIES, NUMPY, FieldScale
from bayes_sota.leaderboard.models import PYTENSOR

SCALE = FieldScale(1.6, 1.5, np.log(0.3), 0.9, 0.004)
Y = np.linspace(-14, 18, 40_001)


def density(name: str, t: np.ndarray, scale: FieldScale = SCALE, y: np.ndarray = Y) -> np.ndarray:
    columns = tuple(t[:, i, None] for i in range(FAMILIES[name].dimension))
    return np.exp(FAMILIES[name].log_density(NUMPY, scale, columns, y))


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


@pytest.mark.parametrize("name", FAMILIES)
def test_pytensor_evaluates_the_same_formula(name: str) -> None:
    import pytensor
    import pytensor.tensor as pt

    t = np.array([0.2, -0.3, 0.4, 0.1, -0.5])[: FAMILIES[name].dimension]
    y = np.linspace(0, 3, 61)
    columns = tuple(pt.constant(v) for v in t)
    symbolic = FAMILIES[name].log_density(PYTENSOR, SCALE, columns, pt.constant(y))
    values = pytensor.function([], symbolic, mode="FAST_COMPILE")()
    kept = values > -200
    np.testing.assert_allclose(
        np.exp(values[kept]), density(name, t[None], y=y)[0][kept], rtol=1e-8
    )
