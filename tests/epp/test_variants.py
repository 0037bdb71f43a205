"""The best of private variants, against simulated providers, closed forms and integrals."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import (
    BetaCorrelation,
    CorrelationPrior,
    FixedCorrelation,
    LogNormalTries,
    UniformTries,
    wide_luck,
)
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.simulate import simulate_tournament
from bayes_sota.epp.variants import population_sd_of, private_variants, private_variants_of

SIGMA = 0.6
Floats = NDArray[np.float64]


def simulate_best(
    rng: np.random.Generator, size: int, n: int, error: float, luck: Floats, df: float | None
) -> tuple[Floats, Floats]:
    """Published bests of providers of the prior, and skills of what they show."""
    skill = SIGMA * rng.standard_normal(size)
    scale = error * (np.ones(size) if df is None else np.sqrt(df / rng.chisquare(df, size)))
    largest = stats.norm.ppf(rng.random(size) ** (1 / n))  # of n normals
    noise = luck * largest + np.sqrt(1 - luck**2) * rng.standard_normal(size)
    return skill + scale * noise, skill


@pytest.mark.parametrize(
    ("estimate", "error", "n", "luck", "df"),
    [
        (1.5, 0.3, 8, None, None),
        (0.7, 0.5, 20, FixedCorrelation(0.9), None),
        (1.2, 0.3, 6, FixedCorrelation(0.5), 8.0),
        (1.0, 0.4, 50, BetaCorrelation(2, 2), 5.0),
    ],
)
def test_simulated_providers_with_this_best(
    estimate: float, error: float, n: int, luck: CorrelationPrior | None, df: float | None
) -> None:
    """Of providers from the prior, those whose best is near the one given."""
    rng = np.random.default_rng(1)
    lucks = (luck or wide_luck()).quantile(rng.random(300_000))
    best, skill = simulate_best(rng, lucks.size, n, error, lucks, df)
    near = np.abs(best - estimate) < 0.04
    assert near.sum() > 1000
    found = private_variants(
        estimate, error, n, population_sd=SIGMA, submission_luck=luck, df=df, random_seed=2,
        draws=20_000,
    )  # fmt: skip
    moved = estimate - best[near]  # a skill follows its estimate, at most as far
    there = skill[near] - np.polyfit(moved, skill[near], 1)[0] * moved
    ours = found.winner_skill
    z = (there.mean() - ours.mean()) / np.sqrt(there.var() / there.size + ours.var() / ours.size)
    assert abs(z) < 4
    assert there.std() == pytest.approx(ours.std(), rel=4 / np.sqrt(there.size) + 0.02)
    assert stats.ks_2samp(there, ours).pvalue > 1e-4
    error_of_luck = 4 * lucks.std() / np.sqrt(near.sum()) + 0.02
    drawn = found.draws["submission_luck"].mean()
    assert drawn == pytest.approx(lucks[near].mean(), abs=error_of_luck)
    assert ours.mean() == pytest.approx(found.mean, abs=0.03 * found.sd)
    assert ours.std() == pytest.approx(found.sd, rel=0.03)


@pytest.mark.parametrize("luck", [0.0, 0.7])
def test_one_variant_is_shrinkage(luck: float) -> None:
    found = private_variants(
        1.3, 0.4, 1, population_sd=SIGMA, population_mean=0.2,
        submission_luck=FixedCorrelation(luck), draws=10,
    )  # fmt: skip
    prior, error = SIGMA**2, 0.4**2
    assert found.mean == pytest.approx(0.2 + prior / (prior + error) * 1.1, abs=1e-9)
    assert found.sd == pytest.approx(np.sqrt(prior * error / (prior + error)), rel=1e-8)
    assert found.mean_alone == pytest.approx(found.mean)


@pytest.mark.parametrize(("estimate", "df"), [(1.2, 1.0), (1.2, 6.0), (4.0, 3.0), (-0.4, 200.0)])
def test_one_variant_with_student_errors(estimate: float, df: float) -> None:
    skill = np.linspace(-8, 8, 20_001)
    mass = stats.norm.pdf(skill, 0, SIGMA) * stats.t.pdf((estimate - skill) / 0.3, df)
    mass /= mass.sum()
    mean = mass @ skill
    found = private_variants(estimate, 0.3, 1, population_sd=SIGMA, df=df, draws=10)
    assert found.mean == pytest.approx(mean, abs=1e-6)
    assert found.sd == pytest.approx(np.sqrt(mass @ (skill - mean) ** 2), rel=1e-5)


@pytest.mark.parametrize(
    "tries", [UniformTries(1, 3), UniformTries(2, 60), LogNormalTries(8, 4.0)], ids=str
)
def test_a_range_averages_over_numbers_of_variants(tries: UniformTries | LogNormalTries) -> None:
    """Every number by its evidence, where luck is nearly all, on a grid of skill."""
    n = tries.nodes()[0]
    skill = np.linspace(-1.5, 2.8, 2001)
    x = (1.4 - skill) / 0.3
    mass = stats.norm.pdf(skill, 0, SIGMA) * stats.norm.pdf(x) * n[:, None]
    mass *= stats.norm.cdf(x) ** (n[:, None] - 1)
    mass /= mass.sum()
    mean = float(np.sum(mass @ skill))
    all_luck = FixedCorrelation(1 - 1e-9)
    found = private_variants(
        1.4, 0.3, tries, population_sd=SIGMA, submission_luck=all_luck, draws=10
    )
    assert found.mean == pytest.approx(mean, abs=0.005 * found.sd)
    assert found.sd == pytest.approx(np.sqrt(np.sum(mass @ (skill - mean) ** 2)), rel=0.005)


@pytest.mark.parametrize(
    ("estimate", "error", "n", "df"),
    [(1.5, 0.003, 8, None), (0.2, 2.0, 100_000, None), (5.0, 0.3, 4, 18.0), (-13.0, 1.0, 3, None)],
)
def test_extreme_estimates_agree_with_a_plain_sum(
    estimate: float, error: float, n: int, df: float | None
) -> None:
    """On a grid of skill and of the share that luck does not decide; no table, no ratio."""
    luck = 0.8
    found = private_variants(
        estimate, error, n, population_sd=SIGMA, submission_luck=FixedCorrelation(luck), df=df,
        draws=10,
    )  # fmt: skip
    reach = 12 * found.sd
    skill = np.linspace(found.mean - reach, found.mean + reach, 401)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    scales, of_scale = np.array([error]), np.ones(1)
    if df is not None:
        precision = (np.arange(160) + 0.5) / 40
        scales, of_scale = error / np.sqrt(precision), stats.chi2.pdf(df * precision, df)
    mass = np.zeros(skill.size)
    for scale, weight in zip(scales, of_scale, strict=True):
        e = ((estimate - skill[:, None]) / scale - np.sqrt(1 - luck**2) * nodes) / luck
        log_density = stats.norm.logpdf(e) + (n - 1) * stats.norm.logcdf(e) + np.log(n)
        mass += weight / scale * (np.exp(log_density) @ weights)
    mass *= stats.norm.pdf(skill, 0, SIGMA)
    mass /= mass.sum()
    mean = mass @ skill
    assert found.mean == pytest.approx(mean, abs=0.01 * found.sd)
    assert found.sd == pytest.approx(np.sqrt(mass @ (skill - mean) ** 2), rel=0.01)


ERROR, N, PROVIDERS = 0.25, 10, 20_000


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.abs(rng.normal(0, SIGMA / 2, (shape[0], 1))) * rng.standard_normal(shape)


SHAPES: dict[str, Any] = {
    "normal": normal,
    "equal": lambda rng, shape: np.zeros(shape),
    "heavy": lambda rng, shape: 0.2 * rng.standard_t(2.5, shape),
    "outlier": lambda rng, shape: 1.2 * np.eye(1, shape[1]),
}


def covered(shape: Any, n: int = N, correlation: float = 0.0) -> tuple[float, float]:
    """Share of shown skills in b +- 1.96 s, and in our interval."""
    rng = np.random.default_rng(8)
    mu = SIGMA * rng.standard_normal((PROVIDERS, 1))
    skill = mu + shape(rng, (PROVIDERS, n))
    shared = np.sqrt(correlation) * rng.standard_normal((PROVIDERS, 1))
    own = np.sqrt(1 - correlation) * rng.standard_normal(skill.shape)
    estimate = skill + ERROR * (shared + own)
    rows, shown = np.arange(PROVIDERS), estimate.argmax(axis=1)
    b, truth = estimate[rows, shown], skill[rows, shown]
    levels = np.linspace(b.min() - 0.1, b.max() + 0.1, 29)
    # other players show the best of as many: their skills are those of what they show
    population = {"population_sd": float(truth.std()), "population_mean": float(truth.mean())}
    at = partial(private_variants, **population, random_seed=0)
    low, high = (np.interp(b, levels, end)
                 for end in np.array([at(x, ERROR, n).interval() for x in levels]).T)  # fmt: skip
    naive = float(np.mean(np.abs(b - truth) < 1.96 * ERROR))
    return naive, float(np.mean((low < truth) & (truth < high)))


@pytest.mark.parametrize("shape", SHAPES)
def test_coverage_of_simulated_providers(shape: str) -> None:
    naive, ours = covered(SHAPES[shape])
    assert naive == pytest.approx(NAIVE[shape], abs=0.012)
    assert ours == pytest.approx(OURS[shape], abs=0.012)


NAIVE = {"normal": 0.84, "equal": 0.77, "heavy": 0.87, "outlier": 0.95}
OURS = {"normal": 0.95, "equal": 0.95, "heavy": 0.936, "outlier": 0.864}


@pytest.mark.parametrize(("n", "luck"), [(2, 0.95), (10, 0.6), (50, 0.3)])
def test_without_a_prior_the_bias_is_that_of_the_largest(n: int, luck: float) -> None:
    """With the expected largest of n normal variables, by sums over its density."""
    x = np.linspace(-6, 9, 15_001)
    mass = stats.norm.pdf(x) * stats.norm.cdf(x) ** (n - 1)
    bias = luck * 0.3 * (mass @ x / mass.sum())
    flat = private_variants(
        1.0, 0.3, n, population_sd=1e4, submission_luck=FixedCorrelation(luck), draws=10
    )
    assert flat.estimate - flat.mean == pytest.approx(bias, rel=2e-3)


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
    assert (found.bias == 1.5 - found.winner_skill).all()
    assert found.interval(0.5)[0] > found.interval(0.95)[0]
    assert 0 < found.interval(of="submission_luck")[0] < found.interval(of="submission_luck")[1] < 1
    with pytest.raises(InputError, match="submissions must be a number, a range or a prior"):
        private_variants(1.5, 0.3, None, population_sd=SIGMA)  # type: ignore[arg-type]


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
