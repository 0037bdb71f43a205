"""The rule stops for both of its reasons, and for no other."""

from types import SimpleNamespace

import numpy as np
import pytest
from crossval_runs import run
from scipy.stats import chi2

from bayes_sota.crossval.correlated_t import correlated_t, running_posteriors
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import Rule, stopping_iterations


def runs(difference: float, iterations: int, folds: int = 10, seed: int = 0) -> SimpleNamespace:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0.8, 0.05, (1, 3, 100, folds))[:, :, :iterations]
    scores = scores + difference * np.arange(3)[None, :, None, None]
    return SimpleNamespace(fold_scores=FoldScores(scores))


def test_the_threshold_counts() -> None:
    given = runs(0.02, 3)
    assert Rule("posterior", 0.6)(given)
    assert not Rule("posterior", 0.999999)(given)


@pytest.mark.parametrize("difference", [0.0, 0.005, 0.02, 0.3])
def test_it_stops_where_the_correlated_t_says_so(difference: float) -> None:
    """By the posterior of every pair after every iteration, one after the other."""
    scores = runs(difference, 40).fold_scores
    means = scores.iteration_means()[0]

    def settled(n: int, a: int, b: int) -> bool:
        found = correlated_t(FoldScores(scores.scores[:, :, :n]), a, b)
        between = np.var((means[a] - means[b])[:n], ddof=1)
        partition = between * (n - 1) / chi2.ppf(0.05, n - 1) / n  # at most, with probability .95
        p, share = found.p_better(), partition / (partition + found.data_variance)
        return max(p, 1 - p) >= 0.95 or share <= 0.2**2

    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = next(n for n in range(2, 41) if all(settled(n, *pair) for pair in pairs))
    assert stopping_iterations(Rule("posterior"), scores).tolist() == [[expected] * 3]


def test_iterations_count_that_all_learners_completed() -> None:
    scores = runs(0.0, 60).fold_scores.scores
    (usual,) = set(stopping_iterations(Rule("posterior"), FoldScores(scores)).ravel())
    late = np.concatenate([scores[:, :, :1], scores], axis=2)
    late[0, 1, 0, 3] = np.nan  # a fit of the first iteration failed
    found = stopping_iterations(Rule("posterior"), FoldScores(late))
    assert found.tolist() == [[usual + 1, usual, usual + 1]]


def test_a_run_stops_where_every_order_is_settled() -> None:
    runs = run(folds=5, iterations=12, rule="posterior")
    assert runs.decided
    assert runs.rule == "posterior 0.95"
    assert 2 <= runs.n_iterations < 12
    sooner = run(folds=5, iterations=runs.n_iterations - 1)
    assert Rule("posterior")(runs)
    assert not Rule("posterior")(sooner)


def test_looking_often_decides_more_equal_learners_than_looking_once() -> None:
    """With the correlation 1/k of all differences, for which the correlated t is right."""
    rng = np.random.default_rng(1)
    shared = np.sqrt(0.1) * rng.standard_normal((1000, 1, 1))
    d = shared + np.sqrt(0.9) * rng.standard_normal((1000, 50, 10))
    scores = FoldScores(np.stack([d, np.zeros_like(d)], axis=1))
    stops = stopping_iterations(Rule("posterior"), scores)[:, 0]
    p, *_ = running_posteriors(d, 10)
    sure = np.maximum(p, 1 - p) >= 0.95
    assert (stops > 0).all()
    assert sure[np.arange(1000), stops - 1].mean() == pytest.approx(0.19, abs=0.04)
    assert sure[:, 29].mean() == pytest.approx(0.1, abs=0.03)
