"""Averages over tasks and clusters: closed forms, and coverage of what their sizes say."""

import numpy as np
import pytest
from scipy.stats import beta

from bayes_sota.data import item_values
from bayes_sota.data.item_values import averaged, averaged_over_runs, averaged_over_tasks
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.comparison import smoothed_covariance, with_typical_pairs

variance_of_runs = item_values.variance_of_runs


def interval(scores, effective):
    """Jeffreys interval with an effective number of items, its ends 0 and 1 at such scores."""
    right, wrong = scores * effective + 0.5, (1 - scores) * effective + 0.5
    low, high = beta.ppf([[0.025], [0.975]], right, wrong)
    return np.where(scores > 0, low, 0.0), np.where(scores < 1, high, 1.0)


def covered(truth, found):
    low, high = interval(found.scores, found.effective)
    return np.mean((low <= truth) & (truth <= high))


@pytest.mark.parametrize("right", [0, 30, 50])
def test_single_answers_of_one_task_are_worth_their_number(right):
    values = (np.arange(50) < right).astype(float)[:, None]
    found = averaged(values, np.zeros(50, int), None, np.ones(1))
    assert found.effective[0] == pytest.approx(51 - (50 / 52) ** 2)  # n, but for 4 / n
    assert found.kish == pytest.approx(50)


def test_covariance_is_that_of_stratified_means():
    rng = np.random.default_rng(0)
    sizes, weights = np.array([30, 5, 80]), np.array([0.2, 0.5, 0.3])
    task, values = np.repeat(np.arange(3), sizes), rng.random((115, 4))
    found = averaged(values, task, None, weights)
    parts = [values[task == t] for t in range(3)]
    expected = sum(
        w**2 * np.cov(part, rowvar=False) / n
        for w, part, n in zip(weights, parts, sizes, strict=True)
    )
    np.testing.assert_allclose(found.influence.T @ found.influence, expected)
    means = [part.mean(axis=0) for part in parts]
    np.testing.assert_allclose(found.scores, weights @ means)
    assert found.kish == pytest.approx(1 / np.sum(weights**2 / sizes))


@pytest.mark.parametrize("p", [0.5, 0.9, 0.99])
def test_intervals_cover_where_small_tasks_weigh_much(p):
    """Nine tasks of which three are tiny; binomial intervals of all items cover .67 or so."""
    sizes = np.array([3, 4, 5, 20, 20, 40, 60, 100, 200])
    task, rng = np.repeat(np.arange(9), sizes), np.random.default_rng(2)
    skill = np.clip(p + rng.uniform(-0.3, 0.3, 9) * (1 - p), 0, 1)
    values = (rng.random((task.size, 2000)) < skill[task][:, None]).astype(float)
    found = averaged(values, task, None, np.full(9, 1 / 9))
    assert 0.93 < covered(skill.mean(), found) <= 1
    naive = covered(skill.mean(), averaged(values, 0 * task, None, np.ones(1)))
    assert naive < covered(skill.mean(), found)


@pytest.mark.parametrize("clusters", [12, 60])
def test_intervals_cover_where_items_share_a_passage(clusters):
    rng, each = np.random.default_rng(3), 6
    shared = rng.beta(4, 1, (clusters, 2000))
    place = np.repeat(np.arange(clusters), each)
    values = (rng.random((place.size, 2000)) < shared[place]).astype(float)
    # every column is an entry of its own, so that design effects are pooled over alike entries
    found = averaged(values, 0 * place, place, np.ones(1))
    assert 0.92 < covered(0.8, found) < 0.98
    assert covered(0.8, averaged(values, 0 * place, None, np.ones(1))) < 0.9


def test_the_covariance_has_the_variances_of_each_entry():
    rng = np.random.default_rng(4)
    sizes, weights = np.array([2, 9, 30]), np.array([0.5, 0.3, 0.2])
    task, values = np.repeat(np.arange(3), sizes), (rng.random((41, 5)) < 0.8).astype(float)
    found = averaged(values, task, None, weights)
    middle = (found.scores * found.kish + 0.5) / (found.kish + 1)
    variance = middle * (1 - middle) / (found.effective - 1)
    covariance = smoothed_covariance(values, task, weights, 1.0)
    np.testing.assert_allclose(np.diagonal(covariance), variance)
    assert np.linalg.eigvalsh(covariance).min() > 0
    alike = smoothed_covariance(values[:, [0, 0]], task, weights, 1.0)
    assert 0.8 < alike[0, 1] / alike[0, 0] < 1


def test_variance_of_runs_is_that_of_runs_made_again():
    rng = np.random.default_rng(4)
    p, task = rng.beta(1, 1, (300, 1)), np.repeat([0, 1, 2], 100)
    weights, runs = np.array([0.5, 0.3, 0.2]), np.array(5)
    again = rng.binomial(runs, p[None], (4000, 300, 1)) / runs
    scores = np.stack([w * again[:, task == t].mean(axis=1) for t, w in enumerate(weights)]).sum(0)
    said = [
        averaged_over_runs(x, variance_of_runs(x, runs), task, weights, runs).variance[0]
        for x in again[:400]
    ]
    # two standard errors of a variance of 4,000 draws, and what is added so that none is 0
    assert np.mean(said) == pytest.approx(scores.var(), rel=0.05)


@pytest.mark.parametrize("every", [False, True])
def test_passes_are_unbiased_and_their_variance_is_that_of_runs_made_again(every):
    rng, k, runs = np.random.default_rng(5), 3, np.array(20)
    p = rng.random(400)
    again = rng.binomial(runs, p, (3000, 400)) / runs
    rates = item_values.pass_rates(again, runs, (k, every))
    truth = p**k if every else 1 - (1 - p) ** k
    error = np.sqrt(rates.var(axis=0).sum() / 3000) / 400
    assert rates.mean() == pytest.approx(truth.mean(), abs=4 * error)
    said = variance_of_runs(again, runs, (k, every)).mean(axis=0).sum()
    # the jackknife is never too small on average (Efron and Stein 1981, doi 10.1214/aos/1176345462)
    assert 1 - 0.03 < said / rates.var(axis=0).sum() < 1.15


def test_new_tasks_have_the_variance_of_the_means_of_tasks():
    rng = np.random.default_rng(6)
    values, task = (rng.random((600, 2)) < 0.7).astype(float), np.repeat(np.arange(6), 100)
    means = np.stack([values[task == t].mean(axis=0) for t in range(6)])
    found = averaged_over_tasks(values, task, None, np.full(6, 1 / 6))
    np.testing.assert_allclose(found.influence.T @ found.influence, np.cov(means, rowvar=False) / 6)
    weights = np.array([0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    squares = np.sum(weights**2)
    unequal = averaged_over_tasks(values, task, None, weights)
    away = means - weights @ means
    expected = squares * np.einsum("t,tj,tk->jk", weights, away, away) / (1 - squares)
    np.testing.assert_allclose(unequal.influence.T @ unequal.influence, expected)


def test_the_variance_of_every_difference_moves_towards_their_mean():
    rng = np.random.default_rng(9)
    covariance = np.cov(rng.normal(size=(5, 6)) * np.arange(1, 7), rowvar=False)
    i, j = np.triu_indices(6, 1)

    def of_pairs(x):
        return x[i, i] + x[j, j] - 2 * x[i, j]

    own, found = of_pairs(covariance), of_pairs(with_typical_pairs(covariance, 4.0))
    np.testing.assert_allclose(found, (4 * own + 2 * own.mean()) / 6)
    np.testing.assert_allclose(with_typical_pairs(covariance[:2, :2], 4.0)[0, 1], covariance[0, 1])


def test_runs_may_differ_in_number():
    rng = np.random.default_rng(8)
    answers = (rng.random((60, 2, 5)) < 0.7).astype(float)
    answers[rng.random((60, 2)) < 0.5, 3:] = np.nan
    shares = np.nanmean(answers, axis=2)
    data = Outcomes(shares, n_runs=np.sum(~np.isnan(answers), axis=2))
    np.testing.assert_allclose(data.values, shares)
    noise = np.nanvar(answers, axis=2) / (data.run_numbers - 1)  # p (1 - p) / (R - 1)
    variance = data.about("runs").average.variance
    np.testing.assert_allclose(variance, noise.sum(axis=0) / 60**2, rtol=0.02)
    wrong, runs = np.nansum(1 - answers, axis=2), data.run_numbers
    passed = 1 - wrong * (wrong - 1) / (runs * (runs - 1))
    np.testing.assert_allclose(data.about("items", passes=(2, False)).values, passed)
