"""Steady states, ranks, verdicts and biases: Demsar's example, SciPy, exact probabilities."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from data.files import refused
from scipy.stats import friedmanchisquare, norm, rankdata, shapiro, skew, wilcoxon

from bayes_sota.crossval import FoldScores, canonical_iterations, running_means, steady_state
from bayes_sota.crossval.estimates import (
    against_truth,
    average_ranks,
    fold_bias,
    learner_rows,
    seed_verdicts,
    signed_rank_tests,
)


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


# Demsar (2006), Table 6: AUC of C4.5, C4.5+m, C4.5+cf, C4.5+m+cf on 14 data sets.
DEMSAR = """
.763 .768 .771 .798 .599 .591 .590 .569 .954 .971 .968 .967 .628 .661 .654 .657 .882 .888 .886 .898
.936 .931 .916 .931 .661 .668 .609 .685 .583 .583 .563 .625 .775 .838 .866 .875 1 1 1 1
.940 .962 .965 .962 .619 .666 .614 .669 .972 .981 .9751 .975 .957 .978 .946 .970
"""


def test_demsar_s_example() -> None:
    values = np.array(DEMSAR.split(), float).reshape(14, 4)
    found = average_ranks(values)
    assert found.ranks.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    # He leaves out the correction for ties and has 9.28 and 3.69, CD 1.25 (5 %).
    assert 12 * 14 / 20 * (np.sum(found.ranks**2) - 25) == pytest.approx(9.28, abs=0.01)
    assert found.nemenyi == pytest.approx(1.25, abs=0.005)
    assert found.chi_squared == pytest.approx(friedmanchisquare(*values.T).statistic)
    assert found.p_value == pytest.approx(friedmanchisquare(*values.T).pvalue)
    assert average_ranks(values, level=0.1).bonferroni_dunn == pytest.approx(1.04, abs=0.005)


def test_alternatives_that_all_tie() -> None:
    tied = average_ranks(np.ones((4, 3)))
    assert tied.ranks.tolist() == [2, 2, 2]
    assert (tied.p_value, tied.chi_squared) == (None, None)


def test_verdicts_are_those_of_wilcoxon_s_test_seed_by_seed() -> None:
    values = np.random.default_rng(2).normal(0.9, 0.01, (9, 2, 150, 1))
    found = seed_verdicts(FoldScores(values, folds=10), 0, 1)
    d = (values[:, 0] - values[:, 1])[:, :, 0]
    for k in (0, 57):
        assert found["p_values"][k] == pytest.approx(wilcoxon(d[:, k]).pvalue)
    # Exact for 9 data sets: P(p <= .05) = 2 P(rank sum <= 5) = 20 / 512.
    assert found["a_wins"] + found["b_wins"] == pytest.approx(20 / 512, abs=0.045)
    first, second = 150 * found["a_wins"], 150 * found["b_wins"]
    verdicts = np.repeat([1, -1, 0], np.round([first, second, 150 - first - second]).astype(int))
    i, j = np.triu_indices(150, 1)
    assert found["contradiction"] == pytest.approx(np.mean(verdicts[i] * verdicts[j] < 0))


def test_too_few_data_sets_for_any_verdict() -> None:
    five = FoldScores(np.random.default_rng(0).random((5, 2, 10, 1)), folds=10)
    refused("needs 6 data sets, got 5", seed_verdicts, five, 0, 1)
    same = FoldScores(np.full((6, 2, 10, 1), 0.9), folds=10)
    assert seed_verdicts(same, 0, 1)["p_values"].tolist() == [1.0] * 10


def runs(folds: int, bias: float, seed: int, tasks: int = 20) -> FoldScores:
    rng = np.random.default_rng(seed)
    skills = np.linspace(0.7, 0.9, tasks)[:, None, None, None]
    return FoldScores(skills + bias + rng.normal(0, 0.01, (tasks, 2, 50, 1)), folds=folds)


def test_steady_states_find_a_bias_that_single_runs_hide() -> None:
    found = fold_bias([runs(2, -0.004, 0), runs(5, 0.0, 1), runs(10, 0.004, 2)])["1"]
    steady, canonical = found["steady"], found["canonical"]
    assert steady.names == ("2 folds", "5 folds", "10 folds")
    assert steady.ranks[0] > 2.7 > 1.3 > steady.ranks[2]
    assert steady.p_value < 1e-4 < canonical.p_value


def test_errors_against_the_truth() -> None:
    truth = np.linspace(0.7, 0.9, 20)[:, None] + np.array([0.02, 0.0])
    found = against_truth(runs(10, -0.01, 3), truth)
    assert found["steady"]["bias"].tolist() == pytest.approx([-0.03, -0.01], abs=0.002)
    # A canonical run of 10 folds has the partition's variance on top of the bias.
    gap = found["canonical"]["mse"] - found["steady"]["mse"]
    assert gap.mean() == pytest.approx(0.01**2, rel=0.5)
    assert 0 < found["steady"]["same_best"] < 1
    named = pd.DataFrame(truth[:, ::-1], columns=[*"21"])
    again = against_truth(runs(10, -0.01, 3), named)
    assert again["steady"]["bias"] == pytest.approx(found["steady"]["bias"])
    said = r"on every data set, \(20, 2\); got 1 dim"
    refused(said, against_truth, runs(10, 0, 0), [0.9, 0.8])


def test_signed_ranks_are_those_of_all_assignments_of_signs() -> None:
    """The exact law: each of 2^n assignments of signs to the ranks is as likely."""
    values = np.random.default_rng(7).normal([0.9, 0.89, 0.87], 0.02, (8, 3))
    for (a, b), found in zip(combinations(range(3), 2), signed_rank_tests(values), strict=True):
        d = values[:, a] - values[:, b]
        ranks = rankdata(np.abs(d))
        sums = np.array(list(product([-1, 1], repeat=8))) @ ranks
        expected = np.mean(np.abs(sums) >= abs(np.sign(d) @ ranks))
        assert found["p_value"] == pytest.approx(expected)
        assert (found["n_tasks"], found["n_ahead"], found["n_tied"]) == (8, int((d > 0).sum()), 0)
        assert found["median_difference"] == pytest.approx(np.median(d))


def test_signed_ranks_of_few_differences_have_no_p_value() -> None:
    values = np.random.default_rng(8).normal(0.9, 0.02, (9, 4))
    values[:, 1] = values[:, 0]
    values[:5, 2] = values[:5, 0]
    values[:, 3] = np.nan
    found = {(one["a"], one["b"]): one for one in signed_rank_tests(values, list("abcd"))}
    assert all(one["p_value"] is None for one in found.values())
    assert found["a", "c"]["n_tied"] == 5
    assert found["a", "d"]["n_tasks"] == 0
