"""Shortcuts of a field (condensed skills, skills left out, strides) against doing without them."""

import tracemalloc

import numpy as np
import pytest

from bayes_sota.core.skills import Uniform
from bayes_sota.maximum import law as module
from bayes_sota.maximum.law import Items, listed_field, maximum_law


def cdf(part):
    """Cdf of a field on 0, ..., n_test."""
    start, values = part.tabulate()
    full = np.zeros(part.items.n_test + 1)
    full[start : start + values.size] = values
    full[start + values.size :] = 1.0
    return full


def skills_of(kind, size=150):
    rng = np.random.default_rng(1)
    if kind == "narrow":
        return rng.uniform(0.86, 0.9, size)
    return rng.beta(8, 2, size) if kind == "wide" else 1 - 10 ** rng.uniform(-5, -1, size)


@pytest.mark.parametrize("kind", ["narrow", "wide", "near one"])
@pytest.mark.parametrize(
    "rho",
    [pytest.param(0.0, marks=pytest.mark.slow), 0.6, pytest.param(0.95, marks=pytest.mark.slow)],
)
def test_condensed_skills_change_nothing(monkeypatch, kind, rho):
    skills = skills_of(kind)
    arguments = (Items(500, rho, float(skills.max()) - 1e-6), skills, skills.size)
    condensed = listed_field(*arguments)
    monkeypatch.setattr(module, "_FEWEST", 10**6)
    direct = listed_field(*arguments)
    assert direct.skills.size >= condensed.skills.size
    np.testing.assert_allclose(cdf(condensed), cdf(direct), rtol=0, atol=1e-10)


def test_memory_does_not_grow_with_classifiers_times_items():
    tracemalloc.start()
    maximum_law(n_test=1_000_000, n_classifiers=100_000, skill=Uniform(0.875, 0.9), correlation=0.6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400e6


@pytest.mark.parametrize("rho", [0.999, 1.0])
@pytest.mark.parametrize("spread", [1e-4, 3e-3])
def test_windows_of_groups_fit_where_variances_vanish(rho, spread):
    theta0 = 0.95
    field = Uniform(theta0 - spread, theta0)
    law = maximum_law(
        n_test=20_000,
        n_classifiers=50,
        skill=field,
        correlation=rho,
        reference_skill=theta0,
        cap_correlation=True,
    )
    assert law.cdf(20_000) == pytest.approx(1, abs=1e-11)
    assert theta0 - spread < law.mean() < theta0 + 0.004
