"""The law of the best observed score against routes that share no code with it.

Direct summation in extended precision (tests/benchmarks/independent_table1.py, itself held against
40-digit arithmetic), and the incomplete beta function.
"""

import numpy as np
import pytest
from benchmarks import independent_table1 as independent
from data.files import refused
from skill_nodes import skill_nodes

from bayes_sota.core.skills import Beta, LogitNormal, Uniform
from bayes_sota.maximum.dependence import feasible_skills
from bayes_sota.maximum.law import maximum_law

ACCURACY = 1e-10  # promised absolute error of the cdf, and of a million items
OF_A_MILLION = 1e-8
TOP = 0.9 + 0.025 / 1001
PAPER_FIELD = Uniform(TOP - 0.025, TOP)


IDENTICAL = [
    (0.0, 1, 0.0, 0.5), (0.0, 7, 0.5, 0.6), (1.0, 1, 0.0, 0.5), (1.0, 7, 0.5, 0.6),
    (0.5, 7, 0.0, 0.5), (1e-6, 7, 0.5, 0.6), (1 - 1e-6, 7, 0.5, 0.6), (0.9, 1000, 0.6, 0.9),
    (0.9, 1, 0.6, 0.9), (0.9, 1000, 1.0, 0.9), (0.9, 1000, 0.999, 0.9), (0.9, 100, 1 - 1e-7, 0.9),
    (0.9, 10, 0.5, 0.9999), (0.9, 10, 0.5, 1e-5), (0.97, 100_000, 0.8, 0.975),
]  # fmt: skip


def check(n, skill, rho, theta0, nodes, weights, m, **given):
    """The law against direct summation over the nodes, at every count."""
    x = np.arange(n + 1)
    if given or not np.ndim(skill):
        given["n_classifiers"] = m
    law = maximum_law(
        n_test=n, skill=skill, correlation=rho, reference_skill=theta0, cap_correlation=True,
        **given,
    )  # fmt: skip
    exact = independent.maximum_cdf(x, n, np.array(nodes), weights, m, rho, theta0)
    np.testing.assert_allclose(law.cdf(x), exact, rtol=0, atol=ACCURACY)
    return law


@pytest.mark.parametrize(("skill", "m", "rho", "theta0"), IDENTICAL)
@pytest.mark.parametrize("n", [1, 40])
def test_identical_classifiers(n, skill, m, rho, theta0):
    check(n, skill, rho, theta0, [skill], np.ones(1), m)


def drawn(a, b, size, seed):
    return np.random.default_rng(seed).beta(a, b, size)


@pytest.mark.parametrize(
    ("skills", "rho", "theta0"),
    [
        ([0.0, 0.5, 1.0], 0.0, 0.9),
        ([0.0, 0.5, 1.0], 0.5, 0.9),
        ([0.3, 0.3, 0.9, 0.9, 0.95], 0.74, 0.9),
        (drawn(1, 1, 60, 1), 1.0, 0.7),
        (drawn(8, 2, 120, 1), 0.74, 0.95),
        (drawn(8, 2, 120, 2), 0.999, 0.97),
        (drawn(30, 2, 100, 3), 0.0, 0.97),
        (np.append(np.full(50, 0.5), 0.9), 0.2, 0.9),
    ],
)
def test_different_fixed_classifiers(skills, rho, theta0):
    law = check(24, skills, rho, theta0, skills, None, len(skills))
    assert law.theta_sota == max(skills)


RANDOM = [
    (LogitNormal(2.0, 0.3), 10, 0.74, 0.9), (LogitNormal(2.0, 0.3), 1000, 0.74, 0.95),
    (LogitNormal(2.0, 1.0), 5, 0.3, 0.6), (LogitNormal(2.0, 1.0), 100_000, 0.9, 0.99),
    (LogitNormal(2.0, 1e-4), 1000, 0.6, 0.9), (LogitNormal(2.0, 1.0), 1, 0.0, 0.9),
    (Beta.from_location_spread(2.0, 0.5), 1000, 0.74, 0.95), (Uniform(0.5, 0.99), 50, 0.99, 0.9),
    (Uniform(0, 1), 1000, 0.74, 0.95), (Beta(0.5, 0.5), 3, 0.0, 0.5),  # reaches both ends
]  # fmt: skip


@pytest.mark.parametrize(("distribution", "m", "rho", "theta0"), RANDOM)
def test_random_classifiers(distribution, m, rho, theta0):
    cuts = np.array(feasible_skills(rho, theta0)) if rho else None
    nodes = skill_nodes(distribution, 40, 12, cuts)
    check(24, distribution, rho, theta0, *nodes, m)


@pytest.mark.parametrize(
    ("n", "m", "theta"),
    [
        (200, 50, 0.98),
        (50_000, 10_000, 0.5),
        (1_000_000, 100_000, 0.9),
        (1_000_000, 100_000, 0.9999),
        (1_000_000, 100_000, 1e-5),
    ],
)
def test_large_independent_fields_against_the_incomplete_beta_function(n, m, theta):
    from scipy.special import betainc

    law = maximum_law(n_test=n, n_classifiers=m, skill=theta)
    x = law.support[law.support < n]
    survival = betainc(x + 1.0, (n - x).astype(float), theta)
    exact, error = np.exp(m * np.log1p(-survival)), ACCURACY if n < 1e6 else OF_A_MILLION
    np.testing.assert_allclose(law.cdf(x), exact, rtol=0, atol=error)
    assert law.cdf(n) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("rho", [0.3, 0.9])
def test_a_large_dependent_field_near_one(rho):
    n, m, theta0 = 20_000, 100_000, 0.9995
    law = maximum_law(
        n_test=n, n_classifiers=m, skill=0.9994, correlation=rho, reference_skill=theta0
    )
    x = np.unique(np.round(law.quantile([0.02, 0.5, 0.98]) * n)).astype(np.int64)
    exact = independent.maximum_cdf(x, n, np.array([0.9994]), np.ones(1), m, rho, theta0)
    np.testing.assert_allclose(law.cdf(x), exact, rtol=0, atol=ACCURACY)


def test_a_known_reference_count_is_one_term_of_the_sum():
    n, m, x = 40, 100, np.arange(41)
    weights = independent.binomial_pmf(n, np.longdouble(0.9))
    arguments = {"n_test": n, "n_classifiers": m, "skill": 0.88, "reference_skill": 0.9}
    parts = [
        maximum_law(**arguments, correlation=0.6, reference_count=k).cdf(x) for k in range(n + 1)
    ]
    whole = maximum_law(**arguments, correlation=0.6).cdf(x)
    np.testing.assert_allclose(weights.astype(float) @ np.array(parts), whole, rtol=0, atol=1e-12)
    one = maximum_law(
        n_test=n, n_classifiers=1, skill=0.88, reference_skill=0.9, correlation=0.6,
        reference_count=30,
    )  # fmt: skip
    right, wrong = independent.reaction(np.longdouble(0.88), 0.6, 0.9)
    exact = 1 - independent.survival(x, 30, n, right, wrong)
    np.testing.assert_allclose(one.cdf(x), exact.astype(float), rtol=0, atol=1e-13)


LAWS = {
    "one item, one classifier": {"n_test": 1, "n_classifiers": 1, "skill": 0.3},
    "one item": {"n_test": 1, "n_classifiers": 9, "skill": 0.3},
    "hopeless": {"n_test": 10, "n_classifiers": 9, "skill": 0.0},
    "perfect": {"n_test": 10, "n_classifiers": 9, "skill": 1.0},
    "coin": {"n_test": 20, "n_classifiers": 1000, "skill": 0.5},
    "default": {"n_test": 3000, "n_classifiers": 1000, "skill": 0.9},
    "row 4": {"n_test": 3000, "n_classifiers": 1000, "skill": PAPER_FIELD, "correlation": 0.6},
    "clones": {"n_test": 3000, "n_classifiers": 1000, "skill": 0.9, "correlation": 1.0},
    "many": {"n_test": 100_000, "n_classifiers": 100_000, "skill": 0.999, "correlation": 0.8},
}


@pytest.mark.parametrize("arguments", LAWS.values(), ids=LAWS.keys())
def test_every_law_is_a_law(arguments):
    law, n = maximum_law(**arguments), arguments["n_test"]
    x = np.arange(-2, n + 3)
    pmf = law.pmf(x)
    assert pmf.min() >= 0
    assert (law.cdf(-1), law.cdf(n)) == (0, pytest.approx(1, abs=1e-11))
    np.testing.assert_allclose(np.cumsum(pmf), law.cdf(x), atol=1e-11)
    assert law.mean() == pytest.approx(pmf @ x / n, abs=1e-11)
    assert law.std() == pytest.approx(np.sqrt(pmf @ (x / n - law.mean()) ** 2), abs=1e-8)
    reached = np.round(law.quantile([0.025, 0.5, 0.975]) * n)
    assert np.all(law.cdf(reached) >= [0.025, 0.5, 0.975])
    assert np.all(law.cdf(reached - 1) < [0.025, 0.5, 0.975])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"skill": 91.0}, r"in percent\? then write 0.91"),
        ({"skill": [[0.9]]}, "1-dimensional"),
        ({"skill": [0.8, 0.9]}, "2 skills are given, but n_classifiers is 10"),
        ({"n_classifiers": None}, "n_classifiers is needed"),
        ({"correlation": 1.2}, "correlation must be a number from 0 to 1, got 1.2"),
        ({"correlation": 0.5, "reference_skill": 1.0}, "must be a number above 0 and below 1"),
        ({"correlation": 0.5, "reference_count": 21}, "whole number from 0 to 20, got 21"),
        (
            {"skill": [0.7, 0.9], "n_classifiers": None, "correlation": 0.6},
            r"skill 0.7 cannot have correlation 0.6 .* at most 0.5091 .* from 0.7642 to 0.9615 ",
        ),
        ({"skill": LogitNormal(2.0, 0.1), "correlation": 0.6}, "cap_correlation=True"),
    ],
)
def test_bad_input_is_named(arguments, message):
    good = {"n_test": 20, "n_classifiers": 10, "skill": 0.9}
    refused(message, maximum_law, **good | arguments)


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_skills_drawn_with_replacement(rho: float) -> None:
    """Each classifier has one of the skills at random."""
    skills, equal = [0.80, 0.84, 0.84, 0.88, 0.9], np.full(5, 0.2)
    law = check(60, skills, rho, 0.9, skills, equal, 30, resampled=True)
    assert law.theta_sota == 0.9
