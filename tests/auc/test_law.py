"""AUC: moments, laws and the best of many, against simulated scores."""

import numpy as np
import pytest
from data.files import refused
from scipy.special import ndtri

from bayes_sota.auc.estimate import auc_covariance, auc_scores, auc_std
from bayes_sota.auc.laws import auc_law, auc_maximum_law


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


@pytest.mark.slow
def test_covariance_of_two_classifiers() -> None:
    sample = simulated(0.85, 15, 40, 12_000, rho=0.8, ratio=2.0, m=2)
    found = auc_covariance(0.85, 15, 40, 0.64, spread_ratio=2.0)
    assert float(found) == pytest.approx(np.cov(sample.T)[0, 1], rel=0.05)


@pytest.mark.parametrize(
    ("auc", "a", "b", "ratio"),
    [
        (0.7, 20, 30, 1.0),
        pytest.param(0.9, 51, 700, 1.0, marks=pytest.mark.slow),
        pytest.param(0.8, 60, 40, 2.0, marks=pytest.mark.slow),
        pytest.param(0.97, 25, 300, 0.5, marks=pytest.mark.slow),
    ],
)
def test_law_of_one_estimate_into_the_tail(auc: float, a: int, b: int, ratio: float) -> None:
    law, repeats = auc_law(auc, a, b, ratio), 8000
    sample = simulated(auc, a, b, repeats, ratio=ratio)[:, 0]
    assert law.mean() == pytest.approx(auc, abs=1e-5)
    assert law.std() == pytest.approx(float(auc_std(auc, a, b, ratio)), rel=0.01)
    assert sample.std() == pytest.approx(law.std(), rel=0.03)
    step = 0.5 / (a * b)  # estimates come in steps
    for q in (0.002, 0.02, 0.2, 0.5, 0.8, 0.98, 0.998):
        level = np.quantile(sample, q)
        below = np.mean(sample <= level)
        error = np.sqrt(q * (1 - q) / repeats)
        assert float(law.cdf(level + step)) == pytest.approx(below, abs=4 * error + 0.002)


FIELDS = {
    "independent": (np.linspace(0.75, 0.9, 4), 30, 200, 0.0, 1.0),
    "wide positives": (np.full(20, 0.85), 30, 200, 0.0, 2.0),
    "narrow positives": (np.full(20, 0.85), 30, 200, 0.7, 0.5),
    "few positives": (np.full(25, 0.88), 40, 300, 0.9, 1.0),
    "even classes": (np.full(25, 0.88), 60, 50, 0.7, 1.0),
    "near one": (np.full(50, 0.97), 20, 980, 0.3, 1.0),
    "near one, alike": (np.full(50, 0.97), 20, 980, 0.99, 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIELDS)
def test_the_best_of_many_agrees_with_simulated_scores(name: str) -> None:
    field, a, b, rho, ratio = FIELDS[name]
    rng, repeats = np.random.default_rng(3), 2000
    given = {"n_positive": a, "n_negative": b, "correlation": rho, "spread_ratio": ratio}
    law = auc_maximum_law(field, **given)
    best = np.array([estimates(rng, field, a, b, rho, ratio).max() for _ in range(repeats)])
    near = 0.05 * float(auc_std(law.theta_sota, a, b, ratio))
    assert law.mean() == pytest.approx(best.mean(), abs=4 * best.std() / repeats**0.5 + near)
    assert law.std() == pytest.approx(best.std(), rel=0.08)
    for q in (0.025, 0.5, 0.975):
        assert float(law.cdf(np.quantile(best, q))) == pytest.approx(q, abs=0.035)


def test_quantiles_and_the_cdf_agree() -> None:
    law = auc_maximum_law(0.9, n_positive=51, n_negative=2949, n_classifiers=1000)
    assert float(law.cdf(law.quantile(0.3))) == pytest.approx(0.3, abs=1e-6)


def test_the_standard_deviation_does_not_depend_on_the_levels(monkeypatch) -> None:
    given = {"n_positive": 52, "n_negative": 198, "n_classifiers": 20}
    fine = auc_maximum_law(0.9, **given).std()
    monkeypatch.setattr("bayes_sota.auc.laws._LEVELS", 500)
    assert auc_maximum_law(0.9, **given).std() == pytest.approx(fine, rel=1e-7)


def test_the_classes_may_change_places() -> None:
    one, other = auc_law(0.85, 30, 200), auc_law(0.85, 200, 30)
    np.testing.assert_allclose(one.cdf(one.levels), other.cdf(one.levels), atol=1e-9)


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
        (lambda: auc_law(0.9, 10, 10, np.nan), "spread_ratio must be a number from 0.02 to 50"),
        (lambda: auc_maximum_law(0.9, n_positive=9, n_negative=9), "n_classifiers is needed"),
        (
            lambda: auc_maximum_law([0.9, 0.8], n_positive=9, n_negative=9, correlation=1.0),
            "correlation must be a number",
        ),
        (lambda: auc_covariance(0.9, 9, 9, 1.5), "correlation must be a number from 0 to 1"),
        (lambda: auc_law(0.9, 20, 20).interval(1.0), "above 0 and below 1"),
        (lambda: auc_scores(10, 100, 0.8, 1.0), "an AUC must lie in"),
    ],
)
def test_bad_input(call, message: str) -> None:
    refused(message, call)


@pytest.mark.slow
def test_a_million_items_follow_the_normal_limit() -> None:
    given = {"n_positive": 300_000, "n_negative": 700_000}
    law = auc_maximum_law(0.9, n_classifiers=100, correlation=0.6, **given)
    sd = float(auc_std(0.9, **given))
    own = np.sqrt(1 - float(auc_covariance(0.9, *given.values(), 0.36)) / sd**2)
    assert law.mean() == pytest.approx(0.9 + 2.50759 * own * sd, abs=0.02 * sd)


def test_law_within_one_cell_has_a_standard_deviation() -> None:
    field = {"n_positive": 50, "n_negative": 50, "n_classifiers": 10**9, "correlation": 0.9}
    law = auc_maximum_law(0.99999, **field)
    assert 0 <= law.std() < 1e-3
