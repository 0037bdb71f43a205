"""Ranks, verdicts and biases: Demsar's example, SciPy, learners whose bias is known."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from data.files import refused
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from bayes_sota.crossval.across_tasks import (
    against_truth,
    average_ranks,
    fold_bias,
    seed_verdicts,
    signed_rank_tests,
)
from bayes_sota.crossval.fold_scores import FoldScores

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
