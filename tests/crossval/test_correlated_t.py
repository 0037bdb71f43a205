"""The correlated Student t against baycomp and against numerical integration."""

import baycomp
import numpy as np
import pytest
from data.files import refused
from scipy import stats

from bayes_sota.crossval.estimates import correlated_t, difference_tests
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import iterations_needed, other_seed_probability, running_posteriors


def runs(iterations: int = 3, folds: int = 5, seed: int = 0) -> FoldScores:
    rng = np.random.default_rng(seed)
    means = [[[[0.83]], [[0.80]]]]
    return FoldScores(rng.normal(means, 0.05, (2, 2, iterations, folds)), learners=["a", "b"])


@pytest.mark.parametrize("rope", [0.01, 0.05])
@pytest.mark.parametrize(("iterations", "folds"), [(1, 10), (5, 2), (10, 10)])
def test_it_is_the_test_of_baycomp(iterations: int, folds: int, rope: float) -> None:
    given = runs(iterations, folds, seed=iterations)
    for task in range(2):
        a, b = given.scores[task].reshape(2, -1)
        expected = baycomp.two_on_single(b, a, rope, runs=iterations)  # the last is A better
        found = correlated_t(given, "a", "b", task=task).rope(rope)
        kinds = ("b_better", "equivalent", "a_better")
        assert [found[kind] for kind in kinds] == pytest.approx(expected, abs=1e-9)


def test_one_value_per_iteration_has_the_mean_of_its_folds() -> None:
    given = runs(40, 5)
    means = FoldScores(given.iteration_means()[..., None], folds=5)
    whole, part = correlated_t(given), correlated_t(means)
    assert part.mean == pytest.approx(whole.mean)
    assert (part.n_scores, part.df, part.correlation) == (200, 39, 0.2)
    assert part.fold_sd == pytest.approx(whole.fold_sd, rel=0.25)


def test_learners_that_never_differ() -> None:
    same = FoldScores(np.full((1, 2, 2, 3), 0.8))
    assert correlated_t(same).rope(0.0)["a_better"] == 0.5
    assert correlated_t(same).rope(0.01) == {"a_better": 0, "equivalent": 1, "b_better": 0}
    refused("there is no learner '3'; there are 1, 2", correlated_t, same, "1", "3")
    few = FoldScores(np.ones((2, 1, 1)), folds=5)
    refused("that both learners have are needed, got 1", correlated_t, few)


def test_a_stronger_overlap_leaves_more_doubt() -> None:
    given = runs(10, 5)
    chances = [correlated_t(given, correlation=rho).p_better() for rho in (0, 0.1, 0.2, 0.3)]
    assert np.all(np.diff(chances) < 0)
    assert chances[2] == pytest.approx(correlated_t(given).p_better())
    naive = stats.ttest_1samp(np.subtract(*given.scores[0].reshape(2, -1)), 0)
    assert 1 - chances[0] == pytest.approx(naive.pvalue / 2)


def test_the_iterations_needed_are_the_least_and_may_not_exist() -> None:
    for probability in (0.9, 0.95, 0.99):
        needed = iterations_needed(0.03, 0.04, 0.01, probability)
        sds = np.sqrt(0.04**2 / np.array([needed, needed - 1]) + 0.01**2)
        reached, before = stats.norm.cdf(0.03 / sds)
        assert reached >= probability > before
    assert iterations_needed(0.01, 0.02, 0.01) is None
    assert iterations_needed(0.0, 0.02, 0.0) is None
    assert iterations_needed(0.01, 0.0, 0.0) == 1
    assert iterations_needed(0.01, np.nan, 0.0) is None  # of one iteration
    refused("probability must be", iterations_needed, 0.01, 0.02, 0.01, 0.5)


@pytest.mark.parametrize(("shape", "folds"), [((9, 5), 5), ((9, 1), 10)])
def test_running_posteriors_are_those_of_the_first_iterations(shape, folds: int) -> None:
    values = np.random.default_rng(2).normal(0.8, 0.05, (2, *shape)) + 0.02
    values[0] += 0.01
    p_better, partitions, data = running_posteriors(values[0] - values[1], folds)
    for n in range(2, 10):
        expected = correlated_t(FoldScores(values[:, :n], folds=folds))
        assert p_better[n - 1] == pytest.approx(expected.p_better(), abs=1e-12)
        assert data[n - 1] == pytest.approx(expected.data_variance, rel=1e-12)
        means = (values[0] - values[1])[:n].mean(axis=1)
        assert partitions[n - 1] == pytest.approx(means.var(ddof=1) / n, rel=1e-9)
    for equal, p in ((0.1, 1.0), (0.0, 0.5)):
        assert running_posteriors(np.full((3, 2), equal), 2)[0].tolist() == [p] * 3


@pytest.mark.parametrize(("n", "canonical"), [(12, 1), (30, 5)])
def test_another_seed_says_otherwise_as_often_as_in_simulated_runs(n: int, canonical: int) -> None:
    """Of runs whose true difference and spread are not known (flat prior of both)."""
    rng = np.random.default_rng(3)
    mean, sd = 0.004, 0.01
    spread = sd * np.sqrt((n - 1) / rng.chisquare(n - 1, 400_000))
    truth = rng.normal(mean, spread / np.sqrt(n))
    again = rng.normal(truth, spread / np.sqrt(canonical))
    found = other_seed_probability(mean, sd, n, canonical)
    assert found == pytest.approx(np.mean(again < 0), abs=0.004)
    assert other_seed_probability(-mean, sd, n, canonical) == found
    assert other_seed_probability(0.0, 0.0, n, canonical) == 0.5
    assert np.isnan(other_seed_probability(0.1, 0.1, 1, 1))


def test_each_test_has_its_published_formula() -> None:
    """Of SciPy; of Bouckaert and Frank."""
    a, b = np.random.default_rng(1).normal(0.9, 0.02, (2, 6, 2))
    a[5, 1] = np.nan  # a fit that failed
    naive, corrected = difference_tests(a, b, 2)
    d = (a - b)[np.isfinite(a)]
    paired = stats.ttest_rel(a.ravel(), b.ravel(), nan_policy="omit")
    statistic = d.mean() / np.sqrt((1 / 11 + 0.5 / 0.5) * d.var(ddof=1))
    for found, name, expected, p in (
        (naive, "naive", paired.statistic, paired.pvalue),
        (corrected, "corrected", statistic, 2 * stats.t.sf(abs(statistic), 10)),
    ):
        assert (found["name"], found["df"]) == (name, 10)
        assert (found["statistic"], found["p_value"]) == pytest.approx((expected, p))
