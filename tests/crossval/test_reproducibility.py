"""Reproducibility: against Mann and Whitney's statistic, closed forms, and simulated learners."""

import numpy as np
import pytest
from data.files import refused
from scipy.stats import mannwhitneyu

from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.reproducibility import expected_by_chance, judge_rules, win_share
from bayes_sota.crossval.rules import fixed, kolmogorov_smirnov, spearman


def test_all_pairs_are_mann_and_whitney_s_statistic() -> None:
    estimates = np.round(np.random.default_rng(0).normal(size=(50, 3)), 1)  # with ties
    found = win_share(estimates)
    for i, j in ((0, 1), (2, 0)):
        u = mannwhitneyu(estimates[:, i], estimates[:, j]).statistic
        assert found[i, j] == pytest.approx(u / 2500, abs=1e-12)
    np.testing.assert_allclose(found + found.T, 1)


@pytest.mark.parametrize(("orderings", "share"), [(50, 0.0), (50, 0.1), (20, 0.4)])
def test_equal_learners_have_the_reproducibility_that_chance_gives(
    orderings: int, share: float
) -> None:
    """Normal estimates around pool means that differ by accident, as without replacement."""
    rng = np.random.default_rng(1)
    pool = np.sqrt(share) * rng.standard_normal((1500, 1, 2))
    estimates = pool + np.sqrt(1 - share) * rng.standard_normal((1500, orderings, 2))
    found = [abs(2 * win_share(one)[0, 1] - 1) for one in estimates]
    tolerance = 4 * np.std(found) / np.sqrt(1500) + 0.005
    expected = expected_by_chance(orderings, share)
    assert np.mean(found) == pytest.approx(expected, abs=tolerance)
    assert expected_by_chance(10_000, 0.25) == pytest.approx(1 / 3, abs=0.002)
    assert expected_by_chance(50, 1.0) == 1


def test_iterations_used_and_those_that_ran_out() -> None:
    rng = np.random.default_rng(3)
    probabilities = rng.random((1, 1, 50)) + np.array([0.02, 3.0])[:, None, None] * (
        rng.standard_normal((2, 30, 50))
    )
    scores = FoldScores(rng.normal(0.9, 0.01, (2, 30, 4)))
    rules = [fixed(10), spearman(), kolmogorov_smirnov(0.05)]
    ten, sure, never = judge_rules(rules, scores, probabilities, orderings=20, random_seed=0)
    assert ten.saved.tolist() == [[pytest.approx(2 / 3)] * 2]
    assert sure.stopped[:, 0, 0].all()
    assert not sure.stopped[:, 0, 1].any()
    assert (sure.iterations[:, 0, 1] == 30).all()
    assert not never.stopped.any()
    # All iterations in any order give one estimate: rounding makes no winner of it.
    assert never.win_share()[0, 0, 1] in (0, 1)


def test_one_iteration_cannot_be_judged() -> None:
    scores = np.full((1, 2, 3, 4), 0.9)
    scores[0, 1, 1:, 0] = np.nan
    given = FoldScores(scores, learners=["a", "b"], tasks=["vote"])
    said = 'all learners completed 1 iteration of "vote"; 2 needed: run more'
    refused(said, judge_rules, [fixed(1)], given)
