"""Draws of skills and best scores against numerical inversion and whole simulated fields."""

from dataclasses import fields

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from bayes_sota.core.skills import Beta, LogitNormal, Uniform
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.walk import CellLaw, TestSet, best_count, draw_counts, walk_down

DRAWS = 30_000
FIELDS = {
    "logit-normal": LogitNormal(np.full(DRAWS, 2.0), np.full(DRAWS, 0.3)),
    "beta": Beta(np.full(DRAWS, 30.0), np.full(DRAWS, 5.0)),
    "uniform": Uniform(np.full(DRAWS, 0.7), np.full(DRAWS, 0.93)),
    "nearly equal": LogitNormal(np.full(DRAWS, 2.0), np.full(DRAWS, 0.001)),
    "wide": LogitNormal(np.full(DRAWS, 1.0), np.full(DRAWS, 1.5)),
}


def simulate_fields(rng, n_test, theta0, rho, distribution, m):
    """Best skill and best score of whole fields, one classifier at a time."""
    reference = rng.binomial(n_test, theta0, size=DRAWS)
    best_skill, best = np.zeros(DRAWS), np.zeros(DRAWS, np.int64)
    for _ in range(m):
        skill = distribution.skill(distribution.isf(rng.random(DRAWS)))
        a, b = conditional_probabilities(skill, rho, theta0)
        x = rng.binomial(reference, a) + rng.binomial(n_test - reference, b)
        best_skill, best = np.maximum(best_skill, skill), np.maximum(best, x)
    return best_skill, best


@pytest.mark.parametrize("family", FIELDS)
@pytest.mark.parametrize(
    ("n_test", "theta0", "rho", "m"),
    [
        (50, 0.9, 0.7, 1),
        (50, 0.9, 0.7, 2),
        (300, 0.9, 0.75, 40),
        (300, 0.99, 0.95, 40),  # not feasible for most skills: the correlation is cut
        (20, 0.6, 0.0, 15),
        (4000, 0.85, 0.5, 40),  # skills vary more than the noise
    ],
)
def test_best_count_agrees_with_whole_fields(family, n_test, theta0, rho, m):
    rng = np.random.default_rng(20261121)
    distribution = FIELDS[family]
    test_set = TestSet.draw(rng, n_test, np.full(DRAWS, rho), theta0)
    skill, best = best_count(rng, test_set, distribution, np.full(DRAWS, m))
    true_skill, true_best = simulate_fields(rng, n_test, theta0, rho, distribution, m)
    # 60 comparisons: level 1e-5 each; ties make the Kolmogorov-Smirnov test conservative
    assert stats.ks_2samp(skill, true_skill).pvalue > 1e-5
    assert stats.ks_2samp(best, true_best).pvalue > 1e-5
    error = np.hypot(best.std(), true_best.std()) / np.sqrt(DRAWS)
    assert best.mean() == pytest.approx(true_best.mean(), abs=4.5 * error)
    assert np.corrcoef(skill, best)[0, 1] == pytest.approx(
        np.corrcoef(true_skill, true_best)[0, 1], abs=0.035
    )


def test_best_count_refuses_to_forget_the_field():
    """With the walk left out the best score would be that of the best skill: visibly lower."""
    rng = np.random.default_rng(5)
    test_set = TestSet.draw(rng, 300, np.full(DRAWS, 0.75), 0.9)
    skill, best = best_count(rng, test_set, FIELDS["nearly equal"], np.full(DRAWS, 40))
    alone = draw_counts(rng, test_set, np.arange(DRAWS), skill)
    assert best.mean() > alone.mean() + 1.5 * alone.std() * np.sqrt(1 - 0.75**2)


def test_walk_down_without_others_changes_nothing():
    rng = np.random.default_rng(1)
    test_set = TestSet.draw(rng, 100, np.full(4, 0.5), 0.8)
    best = np.array([3, 50, 80, 100])
    none = np.zeros(4, np.int64)

    def inverse(rows, upper):
        return np.full(rows.size, 0.8)

    after = walk_down(rng, test_set, inverse, np.full(4, 0.5), none, best)
    np.testing.assert_array_equal(after, best)


def test_fields_of_different_sizes_and_correlations_are_drawn_together():
    rng = np.random.default_rng(8)
    size, rho = np.tile([1, 30], DRAWS // 2), np.tile([0.0, 0.8], DRAWS // 2)
    _, best = best_count(rng, TestSet.draw(rng, 200, rho, 0.88), FIELDS["logit-normal"], size)
    for i, (m, r) in enumerate(((1, 0.0), (30, 0.8))):
        _, true_best = simulate_fields(rng, 200, 0.88, r, FIELDS["logit-normal"], m)
        assert stats.ks_2samp(best[i::2], true_best).pvalue > 1e-4


def bump(skill):
    return np.exp(-0.5 * ((skill - 0.9) / 0.02) ** 2)


@pytest.mark.parametrize(
    "distribution",
    [LogitNormal(2.0, 0.3), Beta(30.0, 5.0), Uniform(0.7, 0.93)],
    ids=["logit-normal", "beta", "uniform"],
)
@pytest.mark.parametrize("factor", [bump, lambda s: 1 - bump(s), lambda s: (s > 0.88) * 1.0])
def test_cell_law_agrees_with_numerical_inversion(distribution, factor):
    nodes = np.linspace(0.6, 0.99, 1500)
    parameters = (np.full(1, getattr(distribution, f.name)) for f in fields(distribution))
    arrays = type(distribution)(*parameters)
    tail = arrays.expanded().sf(arrays.from_skill(nodes))
    law = CellLaw.build(arrays, np.atleast_2d(tail), factor(nodes)[None])
    ends = distribution.axis_support()

    def mass_above(skill):
        grid = np.linspace(float(distribution.axis_from_skill(skill)), ends[1], 20_001)
        values = factor(distribution.axis_skill(grid)) * distribution.axis_density(grid)
        return integrate.trapezoid(values, grid)

    total = mass_above(distribution.axis_skill(ends[0]))
    levels = np.array([0.001, 0.05, 0.3, 0.5, 0.9, 0.999])
    skills = law.inverse(np.zeros(levels.size, np.int64), levels)
    bracket = [float(distribution.axis_skill(end)) for end in ends]
    for level, skill in zip(levels, skills, strict=True):
        exact = optimize.brentq(lambda s, u=level: mass_above(s) / total - u, *bracket, xtol=1e-9)
        assert skill == pytest.approx(exact, abs=4e-4)


def test_cell_law_without_a_factor_is_the_distribution_itself():
    distribution = LogitNormal(np.full(1, 2.0), np.full(1, 0.3))
    nodes = np.array([0.85, 0.9])
    tail = distribution.expanded().sf(distribution.from_skill(nodes))
    law = CellLaw.build(distribution, tail, np.ones((1, 2)))
    levels = np.array([1e-6, 0.2, 0.5, 0.8, 1.0 - 1e-9])
    np.testing.assert_allclose(
        law.inverse(np.zeros(5, np.int64), levels),
        distribution.skill(distribution.isf(levels)),
        rtol=1e-9,
    )
