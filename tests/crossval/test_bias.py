"""Numbers of folds and a true test set: learners whose bias is known."""

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.crossval.across_tasks import against_truth, fold_bias
from bayes_sota.data.fold_scores import FoldScores


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


def test_runs_must_be_of_the_same_learners_and_other_folds() -> None:
    with pytest.raises(InputError, match=r"2 different numbers of folds, got \[2, 2\]"):
        fold_bias([runs(2, 0, 0), runs(2, 0, 1)])
    with pytest.raises(InputError, match="the same learners and data"):
        fold_bias([runs(2, 0, 0), runs(5, 0, 1, tasks=19)])


def test_errors_against_the_truth() -> None:
    truth = np.linspace(0.7, 0.9, 20)[:, None] + np.array([0.02, 0.0])
    found = against_truth(runs(10, -0.01, 3), truth)
    assert found["steady"].bias.tolist() == pytest.approx([-0.03, -0.01], abs=0.002)
    # A canonical run of 10 folds has the partition's variance on top of the bias.
    gap = found["canonical"].mse - found["steady"].mse
    assert gap.mean() == pytest.approx(0.01**2, rel=0.5)
    assert 0 < found["steady"].same_best < 1
    with pytest.raises(InputError, match=r"on every data set, \(20, 2\), got the shape \(2,\)"):
        against_truth(runs(10, 0, 0), [0.9, 0.8])
