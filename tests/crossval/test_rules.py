"""Stopping rules and reproducibility: against SciPy, closed forms and simulated learners."""

from types import SimpleNamespace

import numpy as np
import pytest
from data.files import refused
from scipy.stats import chi2, ks_2samp, mannwhitneyu, spearmanr

from bayes_sota.crossval.estimates import correlated_t
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import (
    RULES,
    even_odd_distances,
    expected_by_chance,
    fixed,
    judge_rules,
    kolmogorov_smirnov,
    posterior,
    progress_of,
    running_posteriors,
    spearman,
    stopping_iterations,
    successive_correlations,
    win_share,
)


def runs_of(learners: int = 2, iterations: int = 40, items: int = 60, noise: float = 0.1):
    rng = np.random.default_rng(4)
    probabilities = rng.random((learners, 1, items)) + noise * rng.standard_normal(
        (learners, iterations, items)
    )
    scores = FoldScores(rng.normal(0.9, 0.02, (learners, iterations, 5)))
    return scores, probabilities


def progress(values: np.ndarray):
    """Of one learner, whose scores are of whole iterations."""
    return progress_of(FoldScores(values[None, :, None], folds=10))[0]


def test_successive_correlations_are_spearman_s_of_running_means() -> None:
    _, (probabilities, _) = runs_of()
    found = successive_correlations(probabilities)
    assert np.isnan(found[0])
    for n in (2, 3, 17, 40):
        means = [probabilities[:m].mean(axis=0) for m in (n - 1, n)]
        assert found[n - 1] == pytest.approx(spearmanr(*means).statistic, abs=1e-12)


def test_ties_and_missing_items_of_running_means() -> None:
    ties = np.round(np.random.default_rng(1).random((6, 50)), 1)
    found = successive_correlations(ties)
    means = [np.round(ties[:n].mean(axis=0), 12) for n in (2, 3)]  # sums of tenths are not exact
    assert found[2] == pytest.approx(spearmanr(*means).statistic)
    assert successive_correlations(np.full((3, 9), 0.7))[1:].tolist() == [1.0, 1.0]
    missing = ties.copy()
    missing[3, :5] = np.nan
    assert (successive_correlations(missing)[1:] == successive_correlations(ties[:, 5:])[1:]).all()
    missing = np.full((3, 9), np.nan)
    refused(r"cv run --save FILE\.nc has them; or take", successive_correlations, missing)


@pytest.mark.parametrize("ratio", [0.2, 0.6])
@pytest.mark.parametrize("threshold", [1 - 1e-3, 1 - 1e-4])
def test_spearman_s_rule_stops_where_its_expansion_says(ratio: float, threshold: float) -> None:
    rng = np.random.default_rng(0)
    items = rng.standard_normal((1, 1, 4000))
    probabilities = items + ratio * rng.standard_normal((1, 80, 4000))
    scores = FoldScores(rng.random((1, 80, 2)))
    expected = np.sqrt(np.sqrt(3) / np.pi * ratio**2 / (1 - threshold))
    found = stopping_iterations(spearman(threshold), scores, probabilities)[0, 0]
    assert found == pytest.approx(expected, rel=0.1, abs=1.5)


def test_even_and_odd_scores_have_the_distance_of_kolmogorov_and_smirnov() -> None:
    values = np.round(np.random.default_rng(3).random(41), 1)  # with ties
    for n in (2, 3, 20, 41):
        expected = ks_2samp(values[:n:2], values[1:n:2]).statistic
        assert even_odd_distances(values)[n - 1] == pytest.approx(expected, abs=1e-12)
    assert even_odd_distances([0.5]) == 1


@pytest.mark.parametrize("threshold", [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 1 / 3, 0.5, 0.9, 1.0])
def test_the_least_number_of_iterations_is_that_of_the_best_interleaving(threshold: float) -> None:
    rule = kolmogorov_smirnov(threshold)
    (held,) = rule.holds(progress(np.arange(120.0)))  # odd and even alternate: the least distance
    assert int(np.argmax(held)) + 1 == rule.least
    for seed in range(20):
        (held,) = rule.holds(progress(np.random.default_rng(seed).random(60)))
        assert not held[: rule.least - 1].any()


def test_a_distance_of_the_threshold_does_not_hold() -> None:
    """Of ten and ten scores .1 is possible and not below .1, whatever floating point says."""
    values = np.arange(20.0)
    assert even_odd_distances(values)[-1] == 0.1
    assert not kolmogorov_smirnov(0.1).holds(progress(values))[0][-1]
    # Scores that tie may stop sooner.
    assert kolmogorov_smirnov(0.1).holds(progress(np.ones(2)))[0].tolist() == [False, True]


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("spearman", 1.01, "from 0.9 to 1, got 1.01"),
        ("ks", 0.0, "from 1e-06 to 1, got 0.0"),
        ("ks", 5.0, "got 5.0$"),
        ("posterior", 0.5, "threshold must be"),
    ],
)
def test_thresholds_that_can_never_be_met_are_refused(kind, value, message) -> None:
    refused(message, RULES[kind], value)


def test_decided_looks_at_the_newest_iteration_of_every_learner() -> None:
    scores, probabilities = runs_of(noise=0.05)
    for rule in (spearman(1 - 1e-3), kolmogorov_smirnov(0.3), fixed(7)):
        held = rule.holds(progress_of(scores, probabilities)[0])
        together = int(np.argmax(np.atleast_2d(held).all(axis=0))) + 1
        assert 2 < together < 40
        for n in range(2, together + 1):
            finished = SimpleNamespace(
                fold_scores=FoldScores(scores.scores[:, :, :n]), probabilities=probabilities[:, :n]
            )
            assert rule(finished) == (n == together)


def test_failed_iterations_count_for_nothing() -> None:
    """Else successive means would be equal after each failure, and Spearman's rule would stop."""
    scores, probabilities = runs_of(noise=0.3)
    holes, missing = scores.scores.copy(), probabilities.copy()
    holes[0, 0, [2, 5], 1] = np.nan
    missing[0, [2, 5]] = np.nan
    kept = [i for i in range(40) if i not in (2, 5)]
    rule = spearman(1 - 1e-3)
    whole = FoldScores(scores.scores[:, :, kept])
    expected = stopping_iterations(rule, whole, probabilities[:, kept])[0, 0]
    assert stopping_iterations(rule, FoldScores(holes), missing)[0, 0] == expected > 4
    holes[0, 0, :, 1] = np.nan
    assert stopping_iterations(rule, FoldScores(holes), missing).tolist()[0][0] == 0


def normal_scores(difference: float, iterations: int) -> FoldScores:
    scores = np.random.default_rng(0).normal(0.8, 0.05, (1, 3, 100, 10))[:, :, :iterations]
    return FoldScores(scores + difference * np.arange(3)[None, :, None, None])


@pytest.mark.parametrize("difference", [0.0, 0.005, 0.02, 0.3])
def test_the_posterior_rule_stops_where_the_correlated_t_says_so(difference: float) -> None:
    """By the posterior of every pair after every iteration, one after the other."""
    scores = normal_scores(difference, 40)
    means = scores.iteration_means()[0]

    def settled(n: int, a: int, b: int) -> bool:
        found = correlated_t(FoldScores(scores.scores[:, :, :n]), a, b)
        between = np.var((means[a] - means[b])[:n], ddof=1)
        partition = between * (n - 1) / chi2.ppf(0.05, n - 1) / n  # at most, with probability .95
        p, share = found.p_better(), partition / (partition + found.data_variance)
        return max(p, 1 - p) >= 0.95 or share <= 0.2**2

    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = next(n for n in range(2, 41) if all(settled(n, *pair) for pair in pairs))
    assert stopping_iterations(posterior(), scores).tolist() == [[expected] * 3]


def test_looking_often_decides_more_equal_learners_than_looking_once() -> None:
    """With the correlation 1/k of all differences, for which the correlated t is right."""
    rng = np.random.default_rng(1)
    shared = np.sqrt(0.1) * rng.standard_normal((1000, 1, 1))
    d = shared + np.sqrt(0.9) * rng.standard_normal((1000, 50, 10))
    scores = FoldScores(np.stack([d, np.zeros_like(d)], axis=1))
    stops = stopping_iterations(posterior(), scores)[:, 0]
    p, *_ = running_posteriors(d, 10)
    sure = np.maximum(p, 1 - p) >= 0.95
    assert (stops > 0).all()
    assert sure[np.arange(1000), stops - 1].mean() == pytest.approx(0.19, abs=0.04)
    assert sure[:, 29].mean() == pytest.approx(0.1, abs=0.03)


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
    said = 'all learners completed only 1 iteration of "vote", and 2 are needed; run more'
    refused(said, judge_rules, [fixed(1)], given)
