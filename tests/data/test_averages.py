"""Averages over tasks and clusters: closed forms, and coverage of what their sizes say."""

import numpy as np
import pytest
from scipy.stats import beta

from bayes_sota.core.errors import InputError
from bayes_sota.data.averages import averaged, smoothed_covariance
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import compare_methods


def interval(scores, effective):
    """Jeffreys interval with an effective number of items, its ends 0 and 1 at such scores."""
    right, wrong = scores * effective + 0.5, (1 - scores) * effective + 0.5
    low, high = beta.ppf([[0.025], [0.975]], right, wrong)
    return np.where(scores > 0, low, 0.0), np.where(scores < 1, high, 1.0)


def covered(truth, found):
    low, high = interval(found.scores, found.effective)
    return np.mean((low <= truth) & (truth <= high))


@pytest.mark.parametrize("right", [0, 1, 30, 49, 50])
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


def test_copies_of_items_add_nothing():
    rng = np.random.default_rng(1)
    once = (rng.random((120, 3)) < 0.8).astype(float)
    one = averaged(once, np.zeros(120, int), None, np.ones(1))
    cluster = np.repeat(np.arange(120), 5)
    copies = averaged(np.repeat(once, 5, axis=0), np.zeros(600, int), cluster, np.ones(1))
    np.testing.assert_allclose(copies.effective, one.effective, rtol=0.05)


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


def test_runs_of_an_item_are_no_further_items():
    rng = np.random.default_rng(4)
    skill = rng.beta(2, 1, (300, 1, 1))
    runs = (rng.random((300, 5, 10)) < skill).astype(int)
    answers = Responses(runs)
    assert answers.n_runs == 10
    np.testing.assert_allclose(answers.scores, runs.mean(axis=(0, 2)))
    assert np.all(answers.average.effective < 1500)  # beta(2, 1): 4.7 of 10 runs at most
    assert np.all(answers.average.effective > 300)


def test_every_task_one_cluster_says_nothing_of_clusters():
    with pytest.raises(InputError, match="every task is one cluster"):
        averaged(np.eye(4), np.arange(4), np.arange(4), np.full(4, 0.25))


def test_the_covariance_has_the_variances_of_each_entry():
    rng = np.random.default_rng(4)
    sizes, weights = np.array([2, 9, 30]), np.array([0.5, 0.3, 0.2])
    task, values = np.repeat(np.arange(3), sizes), (rng.random((41, 5)) < 0.8).astype(float)
    found = averaged(values, task, None, weights)
    middle = (found.scores * found.kish + 0.5) / (found.kish + 1)
    variance = middle * (1 - middle) / (found.effective - 1)
    covariance = smoothed_covariance(values, task, weights)
    np.testing.assert_allclose(np.diagonal(covariance), variance)
    assert np.linalg.eigvalsh(covariance).min() > 0


def test_intervals_of_pairs_cover_where_small_tasks_weigh_much():
    """As averages in each other's presence; without borrowing they covered .89."""
    rng = np.random.default_rng(11)
    sizes, hits = np.array([2, 3, 4, 60, 60, 60]), []
    tasks = np.repeat([f"t{k}" for k in range(6)], sizes)
    for _ in range(250):
        chances = rng.beta(6, 2, (6, 2))
        answers = rng.random((sizes.sum(), 2)) < np.repeat(chances, sizes, axis=0)
        draws = compare_methods(Responses(answers, tasks=tasks), draws=1000).draws
        low, high = np.quantile(draws[:, 0] - draws[:, 1], [0.025, 0.975])
        hits.append(low <= np.mean(chances[:, 0] - chances[:, 1]) <= high)
    assert np.mean(hits) >= 0.92
