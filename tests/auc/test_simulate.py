"""Simulated AUC estimates: against counted pairs, exact laws and closed forms."""

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

from bayes_sota.auc.law import auc_law, auc_maximum_law
from bayes_sota.auc.moments import auc_std
from bayes_sota.auc.score_distributions import (
    SCORE_FAMILIES,
    named_scores,
    shifted_to_auc,
    true_auc,
)
from bayes_sota.auc.simulate import SimulatedAucMaximum, _TestSet, simulate_auc_maximum
from bayes_sota.core.errors import InputError

ERRORS = 4.5  # Monte Carlo standard errors; the seeds are fixed


@dataclass(frozen=True)
class Rounded:
    """Normal scores rounded to steps."""

    mean: float = 0.0
    step: float = 0.25

    def ppf(self, q):
        return np.round((self.mean + ndtri(q)) / self.step) * self.step

    def cdf(self, x):
        return ndtr((np.floor(np.asarray(x) / self.step) + 0.5) * self.step - self.mean)


PAIRS = {
    "normal": (stats.norm(1.2, 2), stats.norm()),
    "gamma": (stats.gamma(2, scale=3), stats.gamma(2)),
    "calibrated": named_scores("beta", 0.9),
    "no overlap above": (stats.uniform(0.5), stats.uniform()),
    "counts": (stats.poisson(4), stats.poisson(2)),
    "rounded": (Rounded(1.0), Rounded()),
    "counts against normal": (stats.poisson(4), stats.norm(3)),
    "normal against counts": (stats.norm(3), stats.poisson(2)),
    "yes or no": (stats.bernoulli(0.8), stats.bernoulli(0.3)),
}


@pytest.mark.parametrize("correlation", [0.0, 0.6])
@pytest.mark.parametrize("sizes", [(7, 40), (40, 7)])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_estimates_count_pairs_of_scores(pair, sizes, correlation) -> None:
    """The scores of every item, and every pair of a positive and a negative."""
    positive, negative = pair
    test_set = _TestSet(positive, negative, *sizes, correlation)
    rng = np.random.default_rng(5)
    draw = rng.standard_normal if correlation else rng.random
    drawn = [draw((3, 20, n)) for n in sizes]
    uniforms = [ndtr(x) if correlation else x for x in drawn]
    u, w = positive.ppf(uniforms[0])[..., :, None], negative.ppf(uniforms[1])[..., None, :]
    counted = ((u > w) + 0.5 * (u == w)).mean(axis=(-2, -1))
    found = test_set.estimates(*(x.copy() for x in drawn))
    assert found == pytest.approx(counted, abs=1e-12)


def test_items_are_drawn_with_the_correlation_of_the_reference() -> None:
    test_set = _TestSet(stats.norm(), stats.norm(), 400, 500, 0.8)
    rng = np.random.default_rng(2)
    reference = rng.standard_normal((300, 1, 400))
    scores = test_set._drawn(rng, 0.8 * reference, (300, 2, 400))
    found = np.corrcoef([*scores.swapaxes(0, 1).reshape(2, -1), reference.ravel()])
    assert found[0, 1] == pytest.approx(0.64, abs=ERRORS * 0.6 / 120_000**0.5)
    assert found[0, 2] == pytest.approx(0.8, abs=ERRORS * 0.4 / 120_000**0.5)
    assert scores.std() == pytest.approx(1, abs=ERRORS / 240_000**0.5)


@pytest.mark.parametrize(("a", "b", "ratio"), [(20, 400, 1.0), (400, 20, 2.0)])
def test_one_classifier_with_normal_scores(a: int, b: int, ratio: float) -> None:
    positive = stats.norm(ndtri(0.8) * (1 + ratio**2) ** 0.5, ratio)
    one = simulate_auc_maximum(
        positive, stats.norm(), n_positive=a, n_negative=b, repetitions=10_000, random_seed=1
    )
    law = auc_law(0.8, a, b, ratio)
    sd = float(auc_std(0.8, a, b, ratio))
    assert one.auc_sota == pytest.approx(0.8, abs=1e-12)
    assert one.mean() == pytest.approx(0.8, abs=ERRORS * one.mcse())
    assert one.std() == pytest.approx(sd, abs=ERRORS * one.std_mcse())
    levels = (np.floor(law.quantile([0.01, 0.1, 0.5, 0.9, 0.99]) * a * b) + 0.5) / (a * b)
    assert np.all(np.abs(one.cdf(levels) - law.cdf(levels)) < ERRORS * one.cdf_mcse(levels))


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_best_of_many_with_normal_scores(correlation: float) -> None:
    sizes = {"n_positive": 20, "n_negative": 60, "n_classifiers": 50, "correlation": correlation}
    law = auc_maximum_law(0.85, **sizes)
    best = simulate_auc_maximum(
        *named_scores("normal", 0.85), **sizes, repetitions=800, random_seed=1
    )
    assert best.mean() == pytest.approx(law.mean(), abs=ERRORS * best.mcse())
    assert best.bias() == pytest.approx(law.bias(), abs=ERRORS * best.mcse())
    assert best.std() == pytest.approx(law.std(), abs=ERRORS * best.std_mcse())
    limits = zip(best.interval(0.8), law.interval(0.8), best.interval_mcse(0.8), strict=True)
    for found, expected, error in limits:
        assert found == pytest.approx(expected, abs=ERRORS * error)


@pytest.mark.parametrize(("a", "b"), [(10, 40), (40, 10)])
def test_variance_of_exponential_scores(a: int, b: int) -> None:
    """Hanley & McNeil 1982: exact for exponential scores, and not for others."""
    auc = 0.85
    both, two = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (a - 1) * (both - auc**2) + (b - 1) * (two - auc**2)
    expected = (variance / (a * b)) ** 0.5

    def simulated(name: str) -> SimulatedAucMaximum:
        pair = named_scores(name, auc)
        return simulate_auc_maximum(
            *pair, n_positive=a, n_negative=b, repetitions=20_000, random_seed=3
        )

    right, other = simulated("exponential"), simulated("uniform")
    assert right.std() == pytest.approx(expected, abs=ERRORS * right.std_mcse())
    assert abs(other.std() - expected) > 2 * ERRORS * other.std_mcse()


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_monotone_transformations_change_nothing(correlation: float) -> None:
    sizes = {"n_positive": 15, "n_negative": 100, "n_classifiers": 20, "correlation": correlation}

    def estimates(positive, negative) -> np.ndarray:
        best = simulate_auc_maximum(positive, negative, **sizes, repetitions=50, random_seed=8)
        assert best.auc_sota == pytest.approx(ndtr(1.5 / 2**0.5), abs=1e-12)
        return best.estimates

    normal = estimates(stats.norm(1.5), stats.norm())
    lognormal = estimates(stats.lognorm(1, scale=np.exp(1.5)), stats.lognorm(1))
    assert np.array_equal(normal, lognormal)
    assert np.array_equal(normal, estimates(stats.norm(13, 2), stats.norm(10, 2)))


def test_ties_count_half() -> None:
    """Yes-or-no scores: A = sensitivity (1 - false) + half of the ties, and its variance."""
    yes, false, a, b = 0.8, 0.3, 12, 30
    one = simulate_auc_maximum(
        stats.bernoulli(yes), stats.bernoulli(false), n_positive=a, n_negative=b,
        repetitions=20_000, random_seed=1,
    )  # fmt: skip
    # The estimate is (1 + share of positives - share of negatives) / 2.
    assert one.auc_sota == pytest.approx((1 + yes - false) / 2, abs=1e-10)
    assert one.mean() == pytest.approx(one.auc_sota, abs=ERRORS * one.mcse())
    sd = (yes * (1 - yes) / a + false * (1 - false) / b) ** 0.5 / 2
    assert one.std() == pytest.approx(sd, abs=ERRORS * one.std_mcse())


def test_true_auc_has_closed_forms() -> None:
    k = np.arange(100)
    counts, others = stats.poisson(5), stats.poisson(3)
    ties = float(counts.pmf(k) @ (others.cdf(k) - others.pmf(k) / 2))
    d = 1.7
    logistic = np.exp(d) * (np.exp(d) - 1 - d) / np.expm1(d) ** 2
    assert true_auc(counts, others) == pytest.approx(ties, abs=1e-9)
    assert true_auc(others, counts) == pytest.approx(1 - ties, abs=1e-9)
    assert true_auc(stats.logistic(d), stats.logistic()) == pytest.approx(logistic, abs=1e-10)
    assert true_auc(stats.norm(2, 3), stats.norm()) == pytest.approx(ndtr(2 / 10**0.5), abs=1e-10)
    assert true_auc(stats.cauchy(2), stats.cauchy()) == pytest.approx(0.75, abs=1e-10)
    assert true_auc(stats.uniform(5), stats.uniform()) == pytest.approx(1, abs=1e-12)
    assert true_auc(stats.uniform(), stats.uniform(5)) == pytest.approx(0, abs=1e-12)
    mixed = float(counts.pmf(k) @ ndtr(k - 4.5))
    assert true_auc(counts, stats.norm(4.5)) == pytest.approx(mixed, abs=1e-9)


def test_positives_are_shifted_to_an_auc() -> None:
    for positive, negative, auc in (
        (stats.expon(), stats.gamma(0.5), 0.9),
        (stats.randint(0, 5), stats.norm(), 0.7),
        (stats.cauchy(), stats.cauchy(scale=10), 0.5),
        (stats.cauchy(), stats.cauchy(scale=10), 0.99),
    ):
        found = shifted_to_auc(positive, negative, auc)
        assert true_auc(found, negative) == pytest.approx(auc, abs=1e-8)
        moved = found.ppf([0.1, 0.7]) - positive.ppf([0.1, 0.7])
        assert moved[0] == pytest.approx(moved[1])
    best = simulate_auc_maximum(
        stats.expon(), stats.expon(), auc=0.7, n_positive=5, n_negative=5, repetitions=2
    )
    assert best.auc_sota == pytest.approx(0.7, abs=1e-8)
    with pytest.raises(InputError, match=r"no shift of the positives gives the AUC 0\.7"):
        shifted_to_auc(stats.bernoulli(0.5), stats.bernoulli(0.5), 0.7)


@pytest.mark.parametrize("name", SCORE_FAMILIES)
def test_families_have_the_auc(name: str) -> None:
    for auc in (0.5, 0.52, 0.9, 0.99):
        assert true_auc(*named_scores(name, auc)) == pytest.approx(auc, abs=1e-8)


def test_beta_scores_are_calibrated_probabilities() -> None:
    """Of even classes, the share of positives among items of odds x is x / (1 + x)."""
    positive, negative = named_scores("beta", 0.8)
    edges = np.array([1e-9, 0.1, 0.5, 1.0, 3.0, 20.0])
    assert positive.ppf(positive.cdf(edges)) == pytest.approx(edges)
    step = 1 + 1e-5
    rises = [d.cdf(edges * step) - d.cdf(edges / step) for d in (positive, negative)]
    assert rises[0] / sum(rises) == pytest.approx(edges / (1 + edges), rel=1e-4)


def test_scores_matter() -> None:
    """Far from the binormal law where the scores are skewed, equal to it where they are normal."""
    sizes = {"n_positive": 20, "n_negative": 400, "n_classifiers": 100}
    law = auc_maximum_law(0.9, **sizes)
    normal, gamma, uniform = (
        simulate_auc_maximum(*named_scores(name, 0.9), **sizes, repetitions=100, random_seed=1)
        for name in ("normal", "gamma", "uniform")
    )
    assert abs(normal.mean() - law.mean()) < ERRORS * normal.mcse()
    assert gamma.mean() - law.mean() > 2 * ERRORS * gamma.mcse()
    assert abs(uniform.mean() - law.mean()) < abs(gamma.mean() - law.mean())


def test_same_seed_same_result() -> None:
    def best(seed: int | None) -> SimulatedAucMaximum:
        pair = named_scores("gamma", 0.8)
        return simulate_auc_maximum(
            *pair, n_positive=5, n_negative=9, n_classifiers=4, repetitions=30, random_seed=seed
        )

    first, second, drawn = best(1), best(2), best(None)
    assert np.array_equal(first.estimates, best(1).estimates)
    assert not np.array_equal(first.estimates, second.estimates)
    assert np.array_equal(drawn.estimates, best(drawn.random_seed).estimates)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_memory_is_bounded_and_progress_reported(correlation: float) -> None:
    done: list[int] = []
    tracemalloc.start()
    simulate_auc_maximum(
        *named_scores("normal", 0.8), n_positive=20, n_negative=1980, n_classifiers=1500,
        correlation=correlation, repetitions=2, random_seed=0, on_progress=done.append,
    )  # fmt: skip
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6  # the items of one repetition would take 24 MB
    assert done == [1, 2]


def test_summary_and_its_monte_carlo_errors() -> None:
    size = 40_000
    draws = np.random.default_rng(0).normal(0.9, 0.01, size)
    best = SimulatedAucMaximum(
        estimates=draws, auc_sota=0.85, n_positive=20, n_negative=30, n_classifiers=9,
        correlation=0.0, random_seed=0,
    )  # fmt: skip
    root = size**0.5
    assert best.mcse() == pytest.approx(0.01 / root, rel=0.02)
    assert best.std_mcse() == pytest.approx(0.01 / (2**0.5 * root), rel=0.03)
    at = stats.norm.isf(0.025)
    error = (0.025 * 0.975) ** 0.5 / stats.norm.pdf(at) * 0.01 / root
    assert best.interval_mcse() == pytest.approx((error, error), rel=0.3)
    assert best.interval() == pytest.approx((0.9 - 0.01 * at, 0.9 + 0.01 * at), abs=ERRORS * error)
    assert float(best.cdf(0.9)) == pytest.approx(0.5, abs=ERRORS * float(best.cdf_mcse(0.9)))
    assert float(best.cdf_mcse(0.9)) == pytest.approx(0.5 / root, rel=1e-3)
    found = best.to_dict(0.8)
    assert found["bias"] == best.mean() - 0.85
    assert (found["prob"], found["repetitions"], found["seed"]) == (0.8, size, 0)
    assert found["interval"] == list(best.interval(0.8))
    assert found["sd_mcse"] == best.std_mcse()
    with pytest.raises(InputError, match="above 0 and below 1, got 1"):
        best.interval(1)


def test_without_spread_there_is_no_error() -> None:
    apart = simulate_auc_maximum(
        stats.uniform(5), stats.uniform(), n_positive=3, n_negative=4, repetitions=10
    )
    assert set(apart.estimates) == {1.0}
    assert (apart.std(), apart.mcse(), apart.std_mcse()) == (0, 0, 0)
    assert apart.bias() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"positive": 0.9}, "positive scores need a distribution with ppf and cdf.*float"),
        ({"negative": np.arange(9.0)}, "negative scores need a distribution.*ndarray"),
        ({"negative": stats.gamma}, "negative scores need a distribution.*gamma_gen"),
        ({"positive": stats.norm([0, 1])}, "need one distribution, got an array"),
        ({"positive": stats.norm(0, -1)}, "impossible parameters"),
        ({"negative": stats.norm(np.inf)}, "impossible parameters"),
        ({"n_positive": 1}, "n_positive must be a whole number from 2"),
        ({"n_negative": 2.5}, "n_negative must be a whole number from 2"),
        ({"n_classifiers": 0}, "n_classifiers must be a whole number of at least 1, got 0"),
        ({"n_classifiers": 1.5}, "n_classifiers must be a whole number"),
        ({"repetitions": 1}, "repetitions must be a whole number of at least 2"),
        ({"correlation": 1.0}, r"correlation must lie in \[0, 1\)"),
        ({"correlation": float("nan")}, r"correlation must lie in \[0, 1\)"),
        ({"random_seed": -1}, "random_seed must be a whole number of at least 0"),
        ({"auc": 0.4}, r"auc must lie in \[0.5, 1\), got 0.4"),
        ({"auc": 1.0}, r"auc must lie in \[0.5, 1\), got 1"),
        ({"auc": "high"}, "auc must be a number"),
    ],
)
def test_bad_input(changes: dict, message: str) -> None:
    given = {"positive": stats.norm(1), "negative": stats.norm(), "n_positive": 5, "n_negative": 9}
    arguments = {**given, **changes}
    with pytest.raises(InputError, match=message):
        simulate_auc_maximum(arguments.pop("positive"), arguments.pop("negative"), **arguments)


@pytest.mark.parametrize(
    ("name", "auc", "message"),
    [
        ("cauchy", 0.9, "one of normal, logistic, .*, got 'cauchy'"),
        ("gamma", 0.49, r"\[0.5, 1\)"),
        ("gamma", 1, r"\[0.5, 1\)"),
        ("gamma", float("nan"), r"\[0.5, 1\)"),
        ("beta", 0.9999, r"beta scores reach an AUC of 0\.9987 at most"),
    ],
)
def test_named_scores_refuse(name: str, auc: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        named_scores(name, auc)
