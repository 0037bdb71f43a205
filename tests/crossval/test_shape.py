"""Steady states, skewness and canonical runs: against SciPy and exact probabilities."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm, shapiro, skew

from bayes_sota.crossval import FoldScores, canonical_iterations, running_means, steady_state
from bayes_sota.crossval.shape import learner_rows


def iterations(values: np.ndarray, folds: int = 10) -> FoldScores:
    return FoldScores(np.asarray(values)[..., None], folds=folds)


def test_a_steady_state_is_the_mean_of_complete_iterations() -> None:
    values = np.random.default_rng(0).beta(8, 2, (1, 2, 30))
    values[0, 1, [0, 7]] = np.nan
    found = steady_state(iterations(values))
    kept = values[0, 1][np.isfinite(values[0, 1])]
    assert found.n_iterations.tolist() == [[30, 28]]
    assert found.mean[0, 1] == pytest.approx(kept.mean())
    assert found.median[0, 1] == np.median(kept)
    assert found.standard_error[0, 1] == pytest.approx(kept.std(ddof=1) / np.sqrt(28))
    assert found.canonical[0].tolist() == [values[0, 0, 0], kept[0]]
    assert found.skewness[0, 1] == pytest.approx(skew(kept, bias=False))
    assert found.p_normal[0, 1] == pytest.approx(shapiro(kept).pvalue)


def test_a_left_skew_makes_a_single_run_optimistic() -> None:
    """Of 1 - exponential, P(above the mean) is 1 - 1/e."""
    values = 1 - np.random.default_rng(1).exponential(0.1, (1, 1, 4000))
    found = steady_state(iterations(values))
    assert found.p_canonical_above[0, 0] == pytest.approx(1 - np.exp(-1), abs=0.025)
    assert found.skewness[0, 0] < -1.5
    assert found.skewed[0, 0]
    assert found.p_normal[0, 0] < 1e-6


@pytest.mark.parametrize("folds", [5, 2])
def test_canonical_runs_of_several_iterations_agree_with_all_subsets(folds: int) -> None:
    values = 1 - np.random.default_rng(2).exponential(0.1, 18)
    size = canonical_iterations(folds)
    above = [np.mean(run) > values.mean() for run in combinations(values, size)]
    found = steady_state(iterations(values[None, None], folds))
    assert found.p_canonical_above[0, 0] == pytest.approx(np.mean(above), abs=0.03)
    assert found.canonical[0, 0] == pytest.approx(values[:size].mean())


@pytest.mark.slow
def test_a_report_on_many_normal_learners_rarely_calls_one_skewed() -> None:
    """Of 120 learners two standard errors would call six."""
    called = []
    for seed in range(30):
        values = np.random.default_rng(seed).standard_normal((6, 20, 40))
        called.append(sum(row["skewed"] for row in learner_rows(iterations(values))))
        assert steady_state(iterations(values)).skewed.sum() >= 1
    assert np.mean(np.array(called) > 0) < 0.2


def test_equal_scores_and_few_iterations() -> None:
    values = np.array([[[1.0, 1.0, 1.0], [0.5, np.nan, np.nan]]])
    found = steady_state(iterations(values))
    assert found.skewness[0, 0] == 0
    assert found.p_canonical_above[0, 0] == 0
    assert not found.skewed.any()
    assert np.isnan([found.sd[0, 1], found.skewness[0, 1], found.p_canonical_above[0, 1]]).all()


def test_running_means_of_other_partitions_lie_in_the_interval() -> None:
    rng = np.random.default_rng(4)
    pool = rng.normal(0.9, 0.02, (1, 1, 1000))
    found = running_means(iterations(pool), 0)
    mean, interval = found
    assert mean[-1] == pytest.approx(pool.mean())
    assert mean[9] == pytest.approx(pool[0, 0, :10].mean())
    others = rng.normal(pool.mean(), pool.std(ddof=1), (4000, 10)).mean(axis=1)
    inside = (others > interval[9, 0]) & (others < interval[9, 1])
    assert inside.mean() == pytest.approx(0.95, abs=0.015)
    half = running_means(iterations(pool), 0, ci_prob=0.5)[1][0]
    assert half[1] - half[0] == pytest.approx(2 * norm.ppf(0.75) * pool.std(ddof=1))
