"""The best of private variants, against simulated providers, closed forms and integrals."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from bayes_sota.core.priors import LogNormalTries, UniformTries
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.simulate import simulate_tournament
from bayes_sota.epp.variants import population_sd_of, private_variants, private_variants_of

SIGMA = 0.6
Floats = NDArray[np.float64]


def simulate_best(
    rng: np.random.Generator,
    size: int,
    n: int,
    error: float,
    *,
    variant_sd: float | None = None,
    error_correlation: float = 0.0,
    df: float | None = None,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Providers from the prior: published bests, skills of the shown and the best, mu."""
    mu = SIGMA * rng.standard_normal(size)
    tau = (
        np.abs(rng.normal(0, SIGMA / 2, size)) if variant_sd is None else np.full(size, variant_sd)
    )
    scale = error * (np.ones(size) if df is None else np.sqrt(df / rng.chisquare(df, size)))
    skill = mu[:, None] + tau[:, None] * rng.standard_normal((size, n))
    estimate = skill + noise(rng, skill.shape, scale[:, None], error_correlation)
    shown = estimate.argmax(axis=1)
    rows = np.arange(size)
    return estimate[rows, shown], skill[rows, shown], skill.max(axis=1), mu


def noise(
    rng: np.random.Generator, shape: tuple[int, int], scale: Any, correlation: float
) -> Floats:
    shared = np.sqrt(correlation) * rng.standard_normal((shape[0], 1))
    return scale * (shared + np.sqrt(1 - correlation) * rng.standard_normal(shape))


@pytest.mark.parametrize(
    ("estimate", "error", "n", "options"),
    [
        (1.5, 0.3, 8, {}),
        (0.7, 0.5, 20, {"error_correlation": 0.5}),
        (1.2, 0.3, 6, {"df": 8.0}),
        (1.0, 0.4, 5, {"df": 5.0, "error_correlation": 0.3, "variant_sd": 0.2}),
        (0.9, 0.4, 10, {"variant_sd": 0.0}),
    ],
)
def test_simulated_providers_with_this_best(
    estimate: float, error: float, n: int, options: dict[str, float]
) -> None:
    """Of providers from the prior, those whose best is near the one given."""
    rng = np.random.default_rng(1)
    best, shown, top, mu = simulate_best(rng, 200_000, n, error, **options)
    near = np.abs(best - estimate) < 0.04
    assert near.sum() > 1000
    found = private_variants(
        estimate, error, n, population_sd=SIGMA, random_seed=2, draws=20_000, **options
    )
    moved = estimate - best[near]  # a skill follows its estimate, at most as far
    for simulated, ours in (
        (shown[near], found.winner_skill),
        (top[near], found.theta_sota),
        (mu[near], found.draws["location"]),
    ):
        slope = np.polyfit(moved, simulated, 1)[0]
        there = simulated - slope * moved
        z = (there.mean() - ours.mean()) / np.sqrt(
            there.var() / there.size + ours.var() / ours.size
        )
        assert abs(z) < 4
        assert there.std() == pytest.approx(ours.std(), rel=4 / np.sqrt(there.size) + 0.02)
        assert stats.ks_2samp(there, ours).pvalue > 1e-4
    is_best = np.mean(shown[near] == top[near])
    if options.get("variant_sd") != 0.0:
        assert found.p_best == pytest.approx(is_best, abs=4 * np.sqrt(0.25 / near.sum()))
    assert found.winner_skill.mean() == pytest.approx(found.mean, abs=0.03 * found.sd)
    assert found.winner_skill.std() == pytest.approx(found.sd, rel=0.03)


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_plain_sums_over_everything_unknown(correlation: float) -> None:
    """c, tau and the precision of s on midpoints, without any change of variables."""
    b, error, n, df = 1.1, 0.4, 6, 4.0
    common, spread = np.linspace(-3, 3, 121), (np.arange(60) + 0.5) * 0.03
    precision = ((np.arange(150) + 0.5) * 0.03)[:, None, None]
    variance = error**2 / precision
    width = np.sqrt(spread[:, None] ** 2 + (1 - correlation) * variance)
    total = SIGMA**2 + correlation * variance
    x = (b - common) / width
    mass = stats.chi2.pdf(df * precision, df) * np.exp(-0.5 * (spread[:, None] / 0.3) ** 2)
    mass = mass * np.exp(-0.5 * (common**2 / total + x**2)) / (width * np.sqrt(total))
    mass *= special.ndtr(x) ** (n - 1)
    mass /= mass.sum()
    h = spread[:, None] ** 2 / width**2
    skill = SIGMA**2 / total * common + h * (b - common)
    rest = SIGMA**2 / total * correlation * variance + h * (1 - correlation) * variance
    found = private_variants(
        b, error, n, population_sd=SIGMA, error_correlation=correlation, df=df, draws=10
    )
    mean = np.sum(mass * skill)
    assert found.mean == pytest.approx(mean, abs=0.001 * found.sd)
    deviation = np.sqrt(np.sum(mass * ((skill - mean) ** 2 + rest)))
    assert found.sd == pytest.approx(deviation, rel=0.001)


def test_a_provider_far_below_the_population() -> None:
    """All variants lie at nine standard deviations: which is the best is nearly a toss-up."""
    found = private_variants(
        -13.0, 1.0, 3, population_sd=0.01, variant_sd=1.0, random_seed=1, draws=2000
    )
    assert found.p_best == pytest.approx(0.36, abs=0.05)


@pytest.mark.parametrize("correlation", [0.0, 0.7])
@pytest.mark.parametrize("spread", [0.0, 0.25])
def test_one_variant_is_shrinkage(correlation: float, spread: float) -> None:
    found = private_variants(
        1.3, 0.4, 1, population_sd=SIGMA, population_mean=0.2, variant_sd=spread,
        error_correlation=correlation, draws=10,
    )  # fmt: skip
    prior, error = SIGMA**2 + spread**2, 0.4**2
    assert found.mean == pytest.approx(0.2 + prior / (prior + error) * 1.1, abs=1e-9)
    assert found.sd == pytest.approx(np.sqrt(prior * error / (prior + error)), rel=1e-8)
    assert found.mean_alone == pytest.approx(found.mean)


@pytest.mark.parametrize(("estimate", "df"), [(1.2, 1.0), (1.2, 6.0), (4.0, 3.0), (-0.4, 200.0)])
def test_one_variant_with_student_errors(estimate: float, df: float) -> None:
    skill = np.linspace(-8, 8, 20_001)
    mass = stats.norm.pdf(skill, 0, SIGMA) * stats.t.pdf((estimate - skill) / 0.3, df)
    mass /= mass.sum()
    mean = mass @ skill
    found = private_variants(estimate, 0.3, 1, population_sd=SIGMA, variant_sd=0.0, df=df, draws=10)
    assert found.mean == pytest.approx(mean, abs=1e-6)
    assert found.sd == pytest.approx(np.sqrt(mass @ (skill - mean) ** 2), rel=1e-5)


def test_selection_changes_nothing_where_the_field_is_known() -> None:
    """mu and tau known and independent errors: the shown variant's own estimate is all."""
    known = partial(
        private_variants, 1.0, 0.4, population_mean=0.3, variant_sd=0.3, draws=10,
    )  # fmt: skip
    h = 0.3**2 / (0.3**2 + 0.4**2)
    for n in (1, 10, 1000):
        found = known(n, population_sd=1e-6)
        assert found.mean == pytest.approx(0.3 + h * 0.7, abs=1e-5)
        assert found.sd == pytest.approx(np.sqrt(1 - h) * 0.3, rel=1e-5)
    few, many = (known(n, population_sd=SIGMA).mean for n in (1, 10))
    assert few - many > 0.1  # mu is not known: the field is lower than its best says
    few, many = (known(n, population_sd=1e-6, error_correlation=0.6).mean for n in (1, 10))
    assert abs(few - many) > 0.02  # what the errors share is not known


@pytest.mark.parametrize(
    "tries", [UniformTries(1, 3), UniformTries(2, 60), LogNormalTries(8, 4.0)], ids=str
)
def test_a_range_averages_over_numbers_of_variants(tries: UniformTries | LogNormalTries) -> None:
    """Every whole number by its evidence, for equal variants on a grid of mu."""
    likely = np.maximum(np.round(tries.quantile((np.arange(200_000) + 0.5) / 200_000)), 1)
    n, counts = np.unique(likely, return_counts=True)
    mu = np.linspace(-1.5, 2.8, 201)
    x = (1.4 - mu) / 0.3
    mass = stats.norm.pdf(mu, 0, SIGMA) * stats.norm.pdf(x) * n[:, None]
    mass *= counts[:, None] * stats.norm.cdf(x) ** (n[:, None] - 1)
    mass /= mass.sum()
    mean, of_n = float(np.sum(mass @ mu)), mass.sum(axis=1)
    found = private_variants(
        1.4, 0.3, tries, population_sd=SIGMA, variant_sd=0.0, draws=8000, random_seed=5
    )
    assert found.mean == pytest.approx(mean, abs=0.005 * found.sd)
    assert found.sd == pytest.approx(np.sqrt(np.sum(mass @ (mu - mean) ** 2)), rel=0.005)
    logarithm = np.log(n)
    centre = of_n @ logarithm
    error = np.sqrt(of_n @ (logarithm - centre) ** 2 / 8000)
    assert np.log(found.n_variants).mean() == pytest.approx(centre, abs=4 * error + 0.01)
    if n.size < 4:
        assert np.mean(found.n_variants == 1) == pytest.approx(of_n[0], abs=0.025)


@pytest.mark.parametrize(
    ("estimate", "error", "variants", "options"),
    [
        (1.5, 0.003, 8, {}),
        (0.2, 2.0, 100_000, {"error_correlation": 0.95}),
        (5.0, 0.3, 4, {"df": 18.0, "error_correlation": 0.5}),
        (1.5, 0.3, (1, 100), {}),
        (0.5, 0.6, LogNormalTries(10, 5.0), {"variant_sd": 0.1}),
    ],
)
def test_denser_grids_change_nothing(
    estimate: float, error: float, variants: Any, options: dict[str, float]
) -> None:
    at = partial(
        private_variants, estimate, error, variants, population_sd=SIGMA, draws=10, **options
    )
    default, dense = at(), at(refinement=2.0)
    assert abs(default.mean - dense.mean) < 0.01 * dense.sd
    assert default.sd == pytest.approx(dense.sd, rel=0.01)


ERROR, N, PROVIDERS = 0.25, 10, 20_000


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.abs(rng.normal(0, SIGMA / 2, (shape[0], 1))) * rng.standard_normal(shape)


@pytest.mark.parametrize(
    ("shape", "naive", "ours"),
    [
        (normal, 0.84, 0.95),
        (lambda rng, shape: np.zeros(shape), 0.77, 0.965),  # all equal
        (lambda rng, shape: 0.2 * rng.standard_t(2.5, shape), 0.87, 0.92),  # heavy tails
        # one outlier, which would win whatever the luck: the correction is too strong
        (lambda rng, shape: 1.2 * np.eye(1, shape[1]), 0.95, 0.75),
    ],
)
def test_coverage_of_simulated_providers(shape: Any, naive: float, ours: float) -> None:
    """Share of shown skills in b +- 1.96 s, and in our interval."""
    levels = np.linspace(-2.5, 4.5, 29)
    at = partial(private_variants, population_sd=SIGMA, random_seed=0)
    ends = np.array([at(b, ERROR, N).interval() for b in levels])
    rng = np.random.default_rng(8)
    mu = SIGMA * rng.standard_normal((PROVIDERS, 1))
    skill = mu + shape(rng, (PROVIDERS, N))
    estimate = skill + noise(rng, skill.shape, ERROR, 0.0)
    rows, shown = np.arange(PROVIDERS), estimate.argmax(axis=1)
    b, truth = estimate[rows, shown], skill[rows, shown]
    low, high = (np.interp(b, levels, end) for end in ends.T)
    assert np.mean(np.abs(b - truth) < 1.96 * ERROR) == pytest.approx(naive, abs=0.012)
    assert np.mean((low < truth) & (truth < high)) == pytest.approx(ours, abs=0.012)


@pytest.mark.parametrize(("n", "spread", "rho"), [(2, 0, 0), (10, 0, 0.6), (50, 0.4, 0.3)])
def test_without_a_prior_the_bias_is_that_of_the_largest(n: int, spread: float, rho: float) -> None:
    """With the expected largest of n normal variables, by sums over its density."""
    x = np.linspace(-6, 9, 15_001)
    mass = stats.norm.pdf(x) * stats.norm.cdf(x) ** (n - 1)
    own = (1 - rho) * 0.3**2
    bias = own / np.sqrt(spread**2 + own) * (mass @ x / mass.sum())
    flat = private_variants(
        1.0, 0.3, n, population_sd=1e4, variant_sd=spread, error_correlation=rho, draws=10
    )
    assert flat.estimate - flat.mean == pytest.approx(bias, rel=1e-5)


def test_spread_of_a_population_without_errors() -> None:
    """sigma^2 is the sum of squares over a chi-square variable of m - 2 degrees of freedom."""
    b = np.array([0.9, 0.4, 0.1, -0.3, -0.4, -0.7])
    exact = np.sqrt(np.sum((b - b.mean()) ** 2) / stats.chi2.ppf(0.5, b.size - 2))
    assert population_sd_of(b, np.full(6, 1e-4)) == pytest.approx(exact, rel=1e-4)


def test_spread_of_a_population_with_errors() -> None:
    """Many players: the truth, and the moment estimator of DerSimonian & Laird beside it."""
    rng = np.random.default_rng(4)
    s = rng.uniform(0.2, 0.8, 800)
    b = SIGMA * rng.standard_normal(s.size) + s * rng.standard_normal(s.size)
    w = 1 / s**2
    q = np.sum(w * (b - w @ b / w.sum()) ** 2)
    moments = np.sqrt((q - s.size + 1) / (w.sum() - w @ w / w.sum()))
    assert population_sd_of(b, s) == pytest.approx(SIGMA, abs=0.05)
    assert population_sd_of(b, s) == pytest.approx(moments, abs=0.03)
    equal = population_sd_of(0.3 * rng.standard_normal(20), np.full(20, 0.3))
    assert 0 < equal < 0.3


def test_draws_intervals_and_seeds() -> None:
    found = private_variants(1.5, 0.3, (3, 9), population_sd=SIGMA, random_seed=7, draws=500)
    again = private_variants(1.5, 0.3, (3, 9), population_sd=SIGMA, random_seed=7, draws=500)
    for name, values in found.draws.items():
        assert values.shape == (500,)
        assert (values == again.draws[name]).all()
    assert (found.theta_sota >= found.winner_skill).all()
    assert (found.bias == 1.5 - found.winner_skill).all()
    assert (found.n_variants >= 3).all()
    assert (found.n_variants <= 9).all()
    assert found.interval(0.5)[0] > found.interval(0.95)[0]
    assert found.interval(of="theta_sota")[1] > found.interval()[1]


def test_it_is_the_posterior_of_the_players_own_numbers() -> None:
    fit = fit_epp(simulate_tournament(np.linspace(1, -1, 8), 20, random_seed=0))
    found = private_variants_of(fit, "3", 10, random_seed=0)
    others = np.arange(8) != 2
    alone = private_variants(
        float(fit.epp[2]), float(fit.se[2]), 10,
        population_sd=population_sd_of(fit.epp[others], fit.se[others]),
        population_mean=float(fit.epp[others].mean()), df=19, random_seed=0,
    )  # fmt: skip
    assert found.mean == alone.mean
    assert np.array_equal(found.winner_skill, alone.winner_skill)


@pytest.mark.slow
def test_nearer_to_the_truth_than_the_estimate() -> None:
    # Twelve providers of one model each, and one that shows the best of 15 nearly equal variants.
    rng = np.random.default_rng(8)
    raw, corrected, covered, simulations = [], [], 0, 25
    for _ in range(simulations):
        others = rng.normal(0, 0.6, 12)
        own = rng.normal(0, 0.6) + rng.normal(0, 0.1, 15)
        table = simulate_tournament(np.append(others, own), 20, random_seed=rng)
        public = fit_epp(table, penalty=0.01)
        shown = 12 + int(np.argmax(public.epp[12:]))
        names = [table.players[k] for k in (*range(12), shown)]
        fit = fit_epp(table.subset(names), penalty=0.01)
        truth = own[shown - 12] - np.append(others, own[shown - 12]).mean()
        found = private_variants_of(fit, names[-1], 15, draws=500, random_seed=rng)
        raw.append(fit.epp[-1] - truth)
        corrected.append(found.mean - truth)
        low, high = found.interval()
        covered += low < truth < high
    assert np.mean(raw) > 0.25  # the winner's curse
    assert abs(np.mean(corrected)) < np.mean(raw) / 2
    assert np.mean(np.square(corrected)) < np.mean(np.square(raw))
    assert covered / simulations > 0.85
