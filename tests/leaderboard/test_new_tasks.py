"""Few tasks that are the sample: what they tell of shared luck, and how far intervals reach."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_sota.core.priors import BetaCorrelation, FixedCorrelation, board_priors
from bayes_sota.data.boards import average_tasks
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.correlation import influence_correlation
from bayes_sota.leaderboard.evidence import OF_TASKS, learnt_priors
from bayes_sota.leaderboard.posterior import board_posterior

M = 10


def scores_of_tasks(rng: np.random.Generator, tasks: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores, (entries, tasks), of which a level that all share makes most; and true skills."""
    skills = 0.55 + 0.06 * rng.standard_normal(M)
    level, own = 0.12 * rng.standard_normal(tasks), 0.05 * rng.standard_normal((M, tasks))
    return skills[:, None] + level + own, skills


def test_tasks_have_a_prior_of_their_own_where_none_is_asked_for() -> None:
    rng = np.random.default_rng(0)
    table = average_tasks(scores_of_tasks(rng, 4)[0], metric="score", new="tasks")
    told = influence_correlation(table.task_influence * 4, table.scores)
    default, asked = board_priors(None), BetaCorrelation(2, 5)
    own = learnt_priors(told, replace(default, correlation=OF_TASKS), "tasks").correlation
    for new, prior, expected in (
        ("tasks", default.correlation, own),
        ("items", OF_TASKS, own),
        ("tasks", FixedCorrelation(0.3), FixedCorrelation(0.3)),
    ):
        learnt = learnt_priors(told, replace(default, correlation=prior), new).correlation
        levels = np.linspace(0.1, 0.9, 9)
        np.testing.assert_allclose(learnt.quantile(levels), expected.quantile(levels))
    mine = learnt_priors(told, replace(default, correlation=asked), "tasks").correlation
    assert mine.quantile(0.5) < own.quantile(0.5) - 0.05


def test_answers_and_averages_tell_the_same_correlation() -> None:
    rng = np.random.default_rng(1)
    scores, _ = scores_of_tasks(rng, 6)
    shares = np.round(np.clip(scores, 0.02, 0.98) * 200)
    right = np.arange(200)[:, None, None] < shares.T  # (items, tasks, entries)
    answers = right.transpose(1, 0, 2).reshape(-1, M)
    names = np.repeat([f"task {t}" for t in range(6)], 200)
    of_answers = board_posterior(
        Outcomes(answers, tasks=names.tolist(), new="tasks"), draws=200, random_seed=0
    )
    table = average_tasks(shares / 200, n_test=200, new="tasks")
    of_averages = board_posterior(table, draws=200, random_seed=0)
    both = of_answers.skills.fit.evidence.loadings, of_averages.skills.fit.evidence.loadings
    assert all(one.is_learnt for one in both)
    assert both[0].rho == pytest.approx(both[1].rho, abs=1e-9)
    assert of_averages.skills.fit.evidence.freedom == of_answers.skills.fit.evidence.freedom == 5


def test_passes_stay_passes() -> None:
    """New tasks are no surer than new items, of the same passes."""
    rng = np.random.default_rng(5)
    shares = np.mean(rng.random((60, 5, 4)) < 0.4, axis=2)
    names = np.repeat(list("abcd"), 15).tolist()
    data = Outcomes(shares, n_runs=4, tasks=names, new="tasks", passes=(3, False))
    evidence = board_posterior(data, draws=50).skills.fit.evidence
    of_items = data.about("items", passes=(3, False)).average.effective
    worth = evidence.board.n_test / evidence.ratio**2
    assert np.all(worth <= of_items * (1 + 1e-9))


def test_what_few_tasks_share_is_students() -> None:
    scores = scores_of_tasks(np.random.default_rng(3), 3)[0]
    table = average_tasks(scores, metric="score", new="tasks")
    shift = board_posterior(table, draws=4000, random_seed=0).draws["shift"]
    # 4 in 100 of Student's t with 2 degrees of freedom lie beyond 5, and none of a normal.
    assert np.mean(np.abs(shift) > 5) == pytest.approx(0.0377, abs=0.012)
