"""The thinned simulation has exactly the law of drawing every team."""

import numpy as np
import pytest
from scipy import special, stats

from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import Beta, LogitNormal, SkillDistribution, Uniform
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.law import MaximumLaw, maximum_law
from bayes_sota.maximum.simulate import Fields, ReferenceCounts, simulate_maximum

SMALLEST_P = 1e-3  # fixed seeds: a correct simulator passes once and for all


def draw_every_team(rng, n, m, distribution, rho, theta0, size):
    """Best skill, winner's skill and best count of ``size`` boards, team by team."""
    skills = np.sort(distribution.skill(distribution.isf(rng.random((size, m)))), axis=1)
    k = rng.binomial(n, theta0, size)[:, None]
    a, b = conditional_probabilities(skills, rho, theta0)
    counts = rng.binomial(k, a) + rng.binomial(n - k, b)
    best = counts.max(axis=1)
    among_best = np.where(counts == best[:, None], rng.random(counts.shape), -1.0)
    winner = skills[np.arange(size), among_best.argmax(axis=1)]
    return skills[:, -1], winner, best


def fit_p_value(counts: np.ndarray, law: MaximumLaw) -> float:
    """Chi-square test of counts against a lattice law, in cells of at least 25 expected."""
    expected = law.pmf(law.support) * counts.size
    observed = np.bincount(counts - law.start, minlength=law.support.size)
    cell = (np.cumsum(expected) // 25).astype(int)
    pooled = np.bincount(cell, observed), np.bincount(cell, expected)
    pooled = [x[pooled[1] > 5] for x in pooled]
    return float(stats.chisquare(pooled[0], pooled[1] * pooled[0].sum() / pooled[1].sum()).pvalue)


CASES = {
    "near one": (200, 50, LogitNormal(3.3, 0.3), 0.75, 0.98),
    "nearly equal": (3000, 1000, LogitNormal(2.2, 0.0105), 0.74, 0.917),
    "wide": (11072, 3558, LogitNormal(-0.5, 1.0), 0.74, 0.91157),
    "infeasible correlation": (30, 5, Uniform(0.2, 0.9), 1.0, 0.7),
    "uniform": (2000, 1000, Uniform(0.6, 0.9), 0.6, 0.9),
    "beta": (500, 300, Beta(40, 8), 0.7, 0.93),
    "independent": (300, 100, LogitNormal(1.0, 0.5), 0.0, 0.5),
    "one": (200, 1, LogitNormal(3.3, 0.3), 0.75, 0.98),
    "two": (200, 2, LogitNormal(3.3, 0.3), 0.75, 0.98),
    "many items": (100_000, 2000, LogitNormal(2.5, 0.2), 0.74, 0.95),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_best_count_follows_the_exact_law(case):
    n, m, distribution, rho, theta0 = case
    boards = simulate_maximum(17, n, m, distribution, rho, theta0, size=40_000)
    law = maximum_law(
        n_test=n,
        skill=distribution,
        n_classifiers=m,
        correlation=rho,
        reference_skill=theta0,
        cap_correlation=True,
    )
    assert fit_p_value(boards.best_count, law) > SMALLEST_P


@pytest.mark.parametrize(
    "case", [CASES[name] for name in ("near one", "infeasible correlation", "two", "independent")]
)
def test_skills_agree_with_drawing_every_team(case):
    n, m, distribution, rho, theta0 = case
    boards = simulate_maximum(3, n, m, distribution, rho, theta0, size=30_000)
    best, winner, count = draw_every_team(
        np.random.default_rng(4), n, m, distribution, rho, theta0, 30_000
    )
    pairs = [
        (boards.theta_sota, best),
        (boards.winner_skill, winner),
        (boards.winner_skill - boards.best_count / n, winner - count / n),
        (boards.theta_sota - boards.best_count / n, best - count / n),
    ]
    for ours, theirs in pairs:
        assert stats.ks_2samp(ours, theirs).pvalue > SMALLEST_P


def test_ties_are_broken_at_random():
    """Five items: nearly every board is a tie, and the better-skilled must not be favoured."""
    distribution = Uniform(0.3, 0.95)
    boards = simulate_maximum(5, 5, 6, distribution, 0.0, 0.5, size=40_000)
    _, winner, _ = draw_every_team(np.random.default_rng(6), 5, 6, distribution, 0.0, 0.5, 40_000)
    assert stats.ks_2samp(boards.winner_skill, winner).pvalue > SMALLEST_P


def test_skipping_ties_keeps_the_law_of_the_count_but_not_of_the_winner():
    size = 40_000
    best = np.full(size, 0.95)
    fields = Fields(20, 30, Uniform(0.5, 0.96), 0.0, 0.5, 0, best)
    fast, best_skilled = fields.draw(np.random.default_rng(1), winner=False)
    full, winner = fields.draw(np.random.default_rng(2))
    table = np.array([np.bincount(x, minlength=21) for x in (fast, full)])
    assert stats.chi2_contingency(table[:, table.sum(0) > 20]).pvalue > SMALLEST_P
    assert best_skilled.mean() > winner.mean() + 0.01


def test_one_classifier_is_best_and_wins():
    boards = simulate_maximum(1, 50, 1, LogitNormal(1.0, 0.5), 0.6, 0.8, size=500)
    np.testing.assert_array_equal(boards.theta_sota, boards.winner_skill)


def test_seed_decides():
    first, again, other = (
        simulate_maximum(seed, 300, 40, Beta(8, 2), 0.5, 0.9, size=50).best_count
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_parameters_may_be_arrays():
    location = np.repeat([0.0, 2.0], 500)
    boards = simulate_maximum(1, 1000, 20, LogitNormal(location, 0.1), 0.5, 0.8, size=1000)
    assert boards.best_count[:500].max() < boards.best_count[500:].min()


def test_winner_given_the_observed_maximum():
    """Accepted simulations only: against plain rejection of fields drawn team by team."""
    n, m, distribution, theta = 40, 8, Uniform(0.4, 0.9), 0.85
    rng = np.random.default_rng(8)
    others = rng.uniform(0.4, theta, (200_000, m - 1))
    skills = np.concatenate([others, np.full((len(others), 1), theta)], axis=1)
    counts = rng.binomial(n, skills)
    won = counts.max(axis=1) == 33
    tied = np.where(counts == 33, rng.random(counts.shape), -1.0)[won]
    expected = skills[won][np.arange(won.sum()), tied.argmax(axis=1)]
    fields = Fields(n, m, distribution, 0.0, 0.5, 0, np.full(20_000, theta))
    winner, attempts = fields.draw_winner(rng, (33, 33), 1e-9, 10_000)
    assert attempts.min() >= 1
    assert np.mean(winner == theta) == pytest.approx(np.mean(expected == theta), abs=0.015)
    assert stats.ks_2samp(winner, expected).pvalue > SMALLEST_P


def test_exhausted_attempts_are_reported():
    fields = Fields(40, 8, Uniform(0.4, 0.5), 0.0, 0.5, 0, 0.45)
    winner, attempts = fields.draw_winner(np.random.default_rng(1), (40, 40), 1e-4, 20)
    assert attempts == -1
    assert 0.4 <= winner <= 0.45


def test_reference_counts_are_binomial_quantiles():
    shift = np.linspace(-5, 5, 101)
    expected = stats.binom.ppf(special.ndtr(shift), 500, 0.9)
    np.testing.assert_array_equal(ReferenceCounts(500, 0.9).at(shift), expected)


def test_normal_quantile_agrees_with_scipy():
    from bayes_sota.maximum._kernel import upper_normal_quantile

    for tail in (1e-250, 1e-40, 1e-12, 1e-4, 0.03, 0.2, 0.5, 0.8):
        expected = -special.ndtri(tail)
        ours = upper_normal_quantile(tail, 1 - tail), -upper_normal_quantile(1 - tail, tail)
        assert ours == pytest.approx((expected, expected), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize(("a", "b"), [(2.0, 3.0), (200.0, 20.0), (1e5, 2e4), (0.3, 0.4)])
def test_beta_functions_agree_with_scipy(a, b):
    from bayes_sota.maximum._kernel import beta_below, beta_tails

    for x in (0.01, 0.5, 0.83, 0.999):
        expected = special.betaincc(a, b, x), special.betainc(a, b, x)
        np.testing.assert_allclose(beta_tails(a, b, x, 1 - x), expected, rtol=2e-9, atol=1e-13)
    start, above = 35.0, 0.0  # far above, then short steps down from one quantile to the next
    for tail in (1e-6, 0.01, 0.012, 0.05, 0.5, 0.52, 0.9, 0.99999):
        log_odds = beta_below(a, b, start, tail - above, tail, 1 - tail)
        expected = (  # the end near zero: SciPy's answer near one is rounded
            -special.logit(special.betaincinv(b, a, tail))
            if tail < 0.5
            else special.logit(special.betaincinv(a, b, 1 - tail))
        )
        assert log_odds == pytest.approx(expected, rel=1e-7)
        start, above = log_odds, tail


@pytest.mark.parametrize(
    "change",
    [
        {"n_test": 0},
        {"n_classifiers": 0},
        {"size": 0},
        {"correlation": 1.5},
        {"reference_skill": 1.0},
    ],
)
def test_impossible_settings_are_refused(change):
    settings = {"n_test": 10, "n_classifiers": 3, "distribution": Uniform(0.2, 0.8)} | change
    with pytest.raises(InputError):
        simulate_maximum(1, **settings)


def test_unknown_family_is_refused():
    class Other(SkillDistribution):
        pass

    Other.__abstractmethods__ = frozenset()
    with pytest.raises(InputError, match="Other"):
        Fields(10, 3, Other(), 0.0, 0.5, 0, 0.9).draw(np.random.default_rng(1))
