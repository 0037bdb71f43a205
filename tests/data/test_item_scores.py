"""Item scores: AUCs and their covariance against pairs of items, the bootstrap and SciPy."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.core.errors import InputError
from bayes_sota.data.item_scores import ItemScores

LABELS = np.arange(90) < 30


def some_scores(seed: int = 0, ties: bool = False) -> ItemScores:
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((90, 1))
    values = LABELS[:, None] * [1.0, 1.5, 0.5] + shared + rng.standard_normal((90, 3))
    return ItemScores(values.round() if ties else values, labels=LABELS, names=["a", "b", "c"])


@pytest.mark.parametrize("ties", [False, True])
def test_an_auc_is_the_share_of_pairs_in_order(ties: bool) -> None:
    scores = some_scores(ties=ties)
    for j, auc in enumerate(scores.scores):
        high, low = scores.values[LABELS, j], scores.values[~LABELS, j]
        pairs = (high[:, None] > low) + 0.5 * (high[:, None] == low)
        assert auc == pytest.approx(pairs.mean(), abs=1e-12)
        u = stats.mannwhitneyu(high, low).statistic
        assert auc == pytest.approx(u / (high.size * low.size), abs=1e-12)
    np.testing.assert_allclose(scores.influence.mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_the_covariance_is_that_of_delong(ties: bool) -> None:
    """Structural components, pair by pair (DeLong et al. 1988, Eq. 4 to 6)."""
    scores = some_scores(ties=ties)
    v10, v01 = [], []
    for j in range(3):
        high, low = scores.values[LABELS, j], scores.values[~LABELS, j]
        pairs = (high[:, None] > low) + 0.5 * (high[:, None] == low)
        v10.append(pairs.mean(axis=1))
        v01.append(pairs.mean(axis=0))
    expected = np.cov(v10) / 30 + np.cov(v01) / 60
    np.testing.assert_allclose(scores.covariance, expected, rtol=1e-10)
    np.testing.assert_allclose(scores.standard_errors, np.sqrt(np.diag(expected)), rtol=1e-10)


def bootstrapped(scores: ItemScores, repetitions: int, seed: int) -> np.ndarray:
    """Covariance of the scores over resampled items of each class, or over whole clusters."""
    rng = np.random.default_rng(seed)
    labels = np.zeros(scores.n_items) if scores.labels is None else scores.labels
    groups = [[row] for row in range(scores.n_items)]
    if scores.clusters is not None:
        names = np.array(scores.clusters)
        groups = [np.flatnonzero(names == name) for name in dict.fromkeys(scores.clusters)]
        labels = np.zeros(len(groups))
    strata = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    replicates = []
    for _ in range(repetitions):
        drawn = np.concatenate([rng.choice(part, part.size) for part in strata])
        rows = np.concatenate([groups[row] for row in drawn])
        of = None if scores.labels is None else scores.labels[rows]
        replicates.append(ItemScores(scores.values[rows], labels=of, metric=scores.metric).scores)
    return np.cov(replicates, rowvar=False)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["auc", "mean", "rmse"])
def test_the_bootstrap_agrees(metric: str) -> None:
    rng = np.random.default_rng(1)
    shared = rng.standard_normal((800, 1))
    values = 0.5 + shared + rng.standard_normal((800, 3))
    labels = rng.random(800) < 0.3 if metric == "auc" else None
    scores = ItemScores(values, labels=labels, metric=metric)
    found = bootstrapped(scores, 2000, 2)
    sd = np.sqrt(np.diag(found))
    np.testing.assert_allclose(sd, scores.standard_errors, rtol=0.07)
    ours = scores.covariance / np.outer(scores.standard_errors, scores.standard_errors)
    np.testing.assert_allclose(found / np.outer(sd, sd), ours, atol=0.06)


def test_means_and_root_mean_squares() -> None:
    values = np.random.default_rng(3).normal(0.2, 1, (50, 4))
    mean = ItemScores(values)
    np.testing.assert_allclose(mean.scores, values.mean(axis=0))
    np.testing.assert_allclose(mean.covariance, np.cov(values.T) / 50, rtol=1e-10)
    rmse = ItemScores(values, metric="rmse")
    assert rmse.lower_is_better
    np.testing.assert_allclose(-rmse.scores, np.sqrt((values**2).mean(axis=0)))
    board = rmse.leaderboard()
    assert board.lower_is_better
    assert board.maximum == pytest.approx(rmse.scores.max())
    assert board.standard_error == pytest.approx(rmse.standard_errors[np.argmax(rmse.scores)])


@pytest.mark.parametrize("metric", ["auc", "mean"])
def test_clusters_make_standard_errors_larger(metric: str) -> None:
    """Every item five times: the standard error is that of the items there are."""
    rng = np.random.default_rng(4)
    values, labels = rng.standard_normal((100, 2)), rng.random(100) < 0.4
    given = labels if metric == "auc" else None
    once = ItemScores(values, labels=given, metric=metric)
    repeated = None if given is None else np.repeat(given, 5)
    five = ItemScores(
        np.repeat(values, 5, axis=0), labels=repeated, metric=metric,
        clusters=[str(i) for i in np.repeat(np.arange(100), 5)],
    )  # fmt: skip
    np.testing.assert_allclose(five.standard_errors, once.standard_errors, rtol=0.02)
    bootstrap = np.sqrt(np.diag(bootstrapped(five, 1500, 0)))
    np.testing.assert_allclose(five.standard_errors, bootstrap, rtol=0.1)


def test_equal_numbers_have_no_standard_error() -> None:
    with pytest.raises(InputError, match="same number for every item"):
        ItemScores([[0.5, 0.5], [0.5, 0.5]]).leaderboard()


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([[1, 2], [3, float("nan")]], {}, "item '2', classifier '2': .* finite .* got nan"),
        ([[1, 2], [3, 4]], {"metric": "f1"}, "metric must be one of auc, mean, rmse"),
        ([[1, 2], [3, 4]], {"labels": [0, 1]}, "2 items of each class, got 1 positive"),
        ([[1, 2], [3, 4]], {"labels": [0, 1, 1]}, "one per item"),
        ([[1, 2], [3, 4]], {"clusters": ["a", "a"]}, "all items are in the one cluster"),
    ],
)
def test_what_is_wrong_is_named(values, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ItemScores(values, **options)


def test_variances_of_small_tasks_are_unbiased() -> None:
    """Those of the means of each task, added up; and the mean over many tables."""
    rng, tasks = np.random.default_rng(5), np.repeat(["a", "b", "c"], [2, 3, 5])
    weights, n = {"a": 0.5, "b": 0.2, "c": 0.3}, {"a": 2, "b": 3, "c": 5}
    found = []
    for _ in range(2000):
        values = rng.standard_normal((10, 2)) + rng.standard_normal((10, 1))
        data = ItemScores(values, tasks=tasks.tolist(), average=weights)
        found.append(data.covariance)
    expected = sum(
        weights[t] ** 2 * np.cov(values[tasks == t], rowvar=False) / n[t] for t in weights
    )
    np.testing.assert_allclose(found[-1], expected)
    true = sum(weights[t] ** 2 / n[t] for t in weights) * np.array([[2, 1], [1, 2]])
    np.testing.assert_allclose(np.mean(found, axis=0), true, rtol=0.1)
