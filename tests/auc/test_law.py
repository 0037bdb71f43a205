"""AUC: moments, laws and the best of many, against simulated scores."""

from functools import partial

import numpy as np
import pytest
from scipy.special import ndtri

from bayes_sota.auc.estimate import AucScores, auc_covariance, auc_std
from bayes_sota.auc.laws import auc_law, auc_maximum_law
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import Uniform


def estimates(
    rng: np.random.Generator, auc: np.ndarray, a: int, b: int, rho: float, ratio: float
) -> np.ndarray:
    """AUC estimates of classifiers on one test set, from simulated scores."""
    m, own = auc.size, np.sqrt(1 - rho**2)
    mu = ndtri(auc) * np.sqrt(1 + ratio**2)
    positive = ratio * (rho * rng.standard_normal(a) + own * rng.standard_normal((m, a)))
    negative = rho * rng.standard_normal(b) + own * rng.standard_normal((m, b))
    positive += mu[:, None]
    negative.sort(axis=1)
    right = [np.searchsorted(n, p).sum() for n, p in zip(negative, positive, strict=True)]
    return np.array(right) / (a * b)


def simulated(
    auc: float, a: int, b: int, repeats: int, *, rho: float = 0.0, ratio: float = 1.0, m: int = 1
) -> np.ndarray:
    rng = np.random.default_rng(0)
    fields = np.full(m, auc)
    return np.array([estimates(rng, fields, a, b, rho, ratio) for _ in range(repeats)])


def test_published_maximum() -> None:
    law = auc_maximum_law(0.9, n_positive=51, n_negative=2949, n_classifiers=1000)
    assert law.mean() == pytest.approx(0.9566, abs=1e-4)  # printed: .9562
    assert law.std() == pytest.approx(0.004459, abs=1e-4)
    assert law.interval() == pytest.approx((0.9486, 0.9662), abs=1e-3)
    assert law.bias() == pytest.approx(law.mean() - 0.9)
    assert float(law.cdf(law.quantile(0.3))) == pytest.approx(0.3, abs=1e-6)


@pytest.mark.slow
def test_standard_deviation() -> None:
    assert float(auc_std(0.9, 51, 2949)) == pytest.approx(0.02115, abs=5e-6)
    for auc, a, b, ratio in ((0.8, 12, 30, 1.0), (0.8, 12, 30, 2.0), (0.7, 40, 9, 0.5)):
        sample = simulated(auc, a, b, 8000, ratio=ratio)[:, 0]
        assert float(auc_std(auc, a, b, ratio)) == pytest.approx(sample.std(), rel=0.025)
        assert sample.mean() == pytest.approx(auc, abs=4 * sample.std() / 89)


@pytest.mark.slow
def test_covariance_of_two_classifiers() -> None:
    sample = simulated(0.85, 15, 40, 12_000, rho=0.8, ratio=2.0, m=2)
    found = auc_covariance(0.85, 15, 40, 0.64, spread_ratio=2.0)
    assert float(found) == pytest.approx(np.cov(sample.T)[0, 1], rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.7])
@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_the_best_of_other_roc_shapes_agrees_with_simulated_scores(ratio, rho) -> None:
    sizes, m, repeats = (30, 200), 20, 1500
    best = simulated(0.85, *sizes, repeats, rho=rho, ratio=ratio, m=m).max(axis=1)
    law = auc_maximum_law(
        0.85, n_positive=30, n_negative=200, n_classifiers=m, correlation=rho, spread_ratio=ratio
    )
    error = float(auc_std(0.85, *sizes, ratio))
    noise = np.std(best) / np.sqrt(repeats)
    assert law.mean() == pytest.approx(np.mean(best), abs=4 * noise + 0.05 * error)
    assert law.std() == pytest.approx(np.std(best), rel=0.08)
    equal = auc_maximum_law(0.85, n_positive=30, n_negative=200, n_classifiers=m, correlation=rho)
    assert abs(equal.mean() - np.mean(best)) > 10 * noise  # another ratio is far outside


@pytest.mark.parametrize(
    ("auc", "a", "b", "ratio"),
    [
        (0.7, 20, 30, 1.0),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                (0.9, 51, 700, 1.0),
                (0.8, 60, 40, 2.0),
                (0.97, 25, 300, 0.5),
            )
        ),
    ],
)
def test_law_of_one_estimate_into_the_tail(auc: float, a: int, b: int, ratio: float) -> None:
    law, repeats = auc_law(auc, a, b, ratio), 8000
    sample = simulated(auc, a, b, repeats, ratio=ratio)[:, 0]
    assert law.mean() == pytest.approx(auc, abs=1e-5)
    assert law.std() == pytest.approx(float(auc_std(auc, a, b, ratio)), rel=0.01)
    step = 0.5 / (a * b)  # estimates come in steps
    for q in (0.002, 0.02, 0.2, 0.5, 0.8, 0.98, 0.998):
        level = np.quantile(sample, q)
        below = np.mean(sample <= level)
        error = np.sqrt(q * (1 - q) / repeats)
        assert float(law.cdf(level + step)) == pytest.approx(below, abs=4 * error + 0.002)


def test_the_classes_may_change_places() -> None:
    one, other = auc_law(0.85, 30, 200), auc_law(0.85, 200, 30)
    np.testing.assert_allclose(one.cdf(one.levels), other.cdf(one.levels), atol=1e-9)


@pytest.mark.slow
def test_best_of_independent_classifiers() -> None:
    aucs, repeats = np.linspace(0.75, 0.9, 4), 2500
    rng = np.random.default_rng(2)
    sample = np.array([estimates(rng, aucs, 30, 200, 0.0, 1.0).max() for _ in range(repeats)])
    law = auc_maximum_law(aucs, n_positive=30, n_negative=200)
    error = sample.std() / np.sqrt(repeats)
    assert law.mean() == pytest.approx(sample.mean(), abs=4 * error + 2e-4)
    assert law.std() == pytest.approx(sample.std(), rel=0.05)
    assert law.theta_sota == 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b", "rho"), [(40, 300, 0.9), (60, 50, 0.7)])
def test_best_of_correlated_classifiers(a: int, b: int, rho: float) -> None:
    m, repeats = 25, 4000
    rng = np.random.default_rng(3)
    fields = np.full(m, 0.88)
    sample = np.array([estimates(rng, fields, a, b, rho, 1.0).max() for _ in range(repeats)])
    law = auc_maximum_law(0.88, n_positive=a, n_negative=b, n_classifiers=m, correlation=rho)
    error = sample.std() / np.sqrt(repeats)
    near = 0.03 * float(auc_std(0.88, a, b))
    assert law.mean() == pytest.approx(sample.mean(), abs=4 * error + near)
    assert law.std() == pytest.approx(sample.std(), rel=0.06)
    for q in (0.025, 0.5, 0.975):
        assert float(law.cdf(np.quantile(sample, q))) == pytest.approx(q, abs=0.03)


@pytest.mark.parametrize("rho", [pytest.param(0.0, marks=pytest.mark.slow), 0.5])
def test_many_different_aucs_are_condensed(monkeypatch, rho: float) -> None:
    given = {"n_positive": 30, "n_negative": 100, "correlation": rho}
    law = auc_maximum_law(np.linspace(0.7, 0.9, 120), **given)
    monkeypatch.setattr(
        "bayes_sota.auc.laws.condensed", lambda points, weights, _: (points, weights)
    )
    direct = auc_maximum_law(np.linspace(0.7, 0.9, 120), **given)
    np.testing.assert_allclose(law.below, direct.below, atol=5e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auc_law(1.0, 10, 10), "must lie in"),
        (lambda: auc_law(0.9, 1, 10), "n_positive must be a whole number from 2"),
        (lambda: auc_law(0.9, 10, 2.5), "n_negative must be a whole number from 2"),
        *[
            (partial(auc_law, 0.9, 10, 10, ratio), "spread_ratio must be a number from 0.02 to 50")
            for ratio in (0.0, -1.0, np.inf, np.nan)
        ],
        (lambda: auc_law(0.9, 10, 10, (2.0, 0.5)), "a number from 0.02 to 50"),
        (lambda: auc_maximum_law(0.9, n_positive=9, n_negative=9), "n_classifiers is needed"),
        (
            lambda: auc_maximum_law([0.8, 0.9], n_positive=9, n_negative=9, n_classifiers=3),
            "2 skills are given",
        ),
        (
            lambda: auc_maximum_law([0.9, 0.8], n_positive=9, n_negative=9, correlation=1.0),
            "correlation must be a number",
        ),
        (lambda: auc_covariance(0.9, 9, 9, 1.5), "correlation must be a number from 0 to 1"),
        (lambda: auc_law(0.9, 20, 20).interval(1.0), "above 0 and below 1"),
        (lambda: AucScores.of(1, 100, 0.8, 0.9), "n_positive must be a whole number from 2"),
        (lambda: AucScores.of(10, 100, 0.8, 1.0), "an AUC must lie in"),
    ],
)
def test_bad_input(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.slow
def test_aucs_drawn_from_a_distribution() -> None:
    """Against fields drawn by hand, with simulated scores of every item."""
    rng, field = np.random.default_rng(8), Uniform(0.6, 0.9)
    law = auc_maximum_law(field, n_positive=40, n_negative=400, n_classifiers=60, correlation=0.6)
    best, r, own = [], 0.6, 0.8
    for _ in range(400):
        mu = ndtri(rng.uniform(0.6, 0.9, 60)) * np.sqrt(2)
        u = r * rng.standard_normal(40) + own * rng.standard_normal((60, 40)) + mu[:, None]
        w = np.sort(r * rng.standard_normal(400) + own * rng.standard_normal((60, 400)), axis=1)
        best.append(max(np.searchsorted(w[j], u[j]).mean() / 400 for j in range(60)))
    assert law.mean() == pytest.approx(np.mean(best), abs=4 * np.std(best) / 20)
    assert law.std() == pytest.approx(np.std(best), rel=0.15)
    assert law.theta_sota == pytest.approx(0.9 - 0.3 / 61, abs=1e-6)
    with pytest.raises(InputError, match="n_classifiers is needed"):
        auc_maximum_law(field, n_positive=40, n_negative=400)


@pytest.mark.slow
def test_from_independent_to_equal_classifiers() -> None:
    """Falls all the way, never below the skill, and agrees with simulated scores."""
    auc, a, b, m = 0.97, 20, 980, 50
    given = {"n_positive": a, "n_negative": b, "n_classifiers": m}
    rhos = (0.0, 1e-3, 0.3, 0.6, 0.9, 0.99, 0.9999)
    laws = {rho: auc_maximum_law(auc, correlation=rho, **given) for rho in rhos}
    means = np.array([law.mean() for law in laws.values()])
    sd = float(auc_std(auc, a, b))
    assert np.all(np.diff(means) < 0.01 * sd)
    assert auc - 0.01 * sd < means[-1] < auc + 0.1 * sd
    for rho in (0.3, 0.9, 0.99):
        sample = simulated(auc, a, b, 3000, rho=rho, m=m).max(axis=1)
        error = sample.std() / np.sqrt(sample.size)
        assert laws[rho].mean() == pytest.approx(sample.mean(), abs=3.5 * error + 0.05 * sd)
        assert laws[rho].std() == pytest.approx(sample.std(), rel=0.08)


@pytest.mark.slow
def test_a_million_items_follow_the_normal_limit() -> None:
    given = {"n_positive": 300_000, "n_negative": 700_000}
    law = auc_maximum_law(0.9, n_classifiers=100, correlation=0.6, **given)
    sd = float(auc_std(0.9, **given))
    own = np.sqrt(1 - float(auc_covariance(0.9, *given.values(), 0.36)) / sd**2)
    assert law.mean() == pytest.approx(0.9 + 2.50759 * own * sd, abs=0.02 * sd)
