"""One classifier by itself: closed forms, enumeration, and how often intervals hold the truth."""

from itertools import combinations

import numpy as np
import pytest
from data.files import refused
from scipy.stats import beta, t

from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.score import skill_of_counts, skills_alone


def alone(values, **known):
    """Skill of one column."""
    return skills_alone(Outcomes(np.asarray(values)[:, None], names=["one"], **known))[0]


def covered(data, truth, **asked):
    ends = np.array([skill.interval() for skill in skills_alone(data, **asked)])
    return np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))


@pytest.mark.parametrize(("n", "low"), [(5, 0.621), (10, 0.783), (20, 0.883), (50, 0.951)])
def test_n_of_n_and_none_of_n(n, low):
    every, none = skill_of_counts(n, n), skill_of_counts(0, n)
    assert every.interval() == alone(np.ones(n)).interval() == (pytest.approx(low, abs=5e-4), 1.0)
    assert none.interval() == (0.0, pytest.approx(1 - low, abs=5e-4))


@pytest.mark.parametrize(("right", "n"), [(3, 10), (48, 50), (700, 1000)])
def test_single_answers_have_jeffreys_law(right, n):
    skill, law = skill_of_counts(right, n), beta(right + 0.5, n - right + 0.5)
    assert skill.interval(0.9) == pytest.approx(law.ppf([0.05, 0.95]))
    assert (skill.mean, skill.sd) == (pytest.approx(law.mean()), pytest.approx(law.std()))
    assert alone(np.arange(n) < right).interval() == skill.interval()


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, 10])
def test_coverage_over_new_runs(runs):
    rng = np.random.default_rng(5)
    chances = rng.beta(0.5, 0.5, 80)
    data = Outcomes(rng.binomial(runs, chances[:, None], (80, 800)) / runs, n_runs=runs)
    assert 0.92 <= covered(data, chances.mean(), new="runs") <= 0.975
    assert covered(data, chances.mean()) > 0.99  # about other items


@pytest.mark.slow
def test_coverage_over_new_tasks():
    rng, tasks = np.random.default_rng(6), np.repeat(np.arange(8).astype(str), 40)
    found = []
    for _ in range(400):
        answers = rng.random(8 * 40) < np.repeat(rng.beta(4, 2, 8), 40)
        one = Outcomes(answers[:, None], tasks=tasks)
        found.append([covered(one, 2 / 3, new=new) for new in ("tasks", "items")])
    of_tasks, of_items = np.mean(found, axis=0)
    assert 0.92 <= of_tasks <= 0.98
    assert of_items < 0.6


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("every", [False, True])
def test_passes_are_means_over_all_groups_of_runs(k, every):
    runs, of = np.random.default_rng(9).random((30, 1, 4)) < 0.6, np.all if every else np.any
    groups = [of(runs[:, 0, list(which)], axis=1) for which in combinations(range(4), k)]
    (skill,) = skills_alone(Outcomes(runs.mean(axis=2), n_runs=4), passes=(k, every))
    assert skill.score == pytest.approx(np.mean(groups))


def test_numbers_have_the_t_law_of_their_mean():
    column = np.random.default_rng(10).beta(8, 2, 25)
    law, first = t(24, column.mean(), column.std(ddof=1) / 5), alone(column, metric="mean")
    assert first.interval() == pytest.approx(law.ppf([0.025, 0.975]))
    assert first.sd == pytest.approx(law.std())
    assert alone([1.0] * 7 + [0.3], metric="mean").interval()[1] == 1
    assert alone([0.0] * 7 + [0.3], metric="mean", lower_is_better=True).interval()[0] == 0


@pytest.mark.parametrize(
    ("known", "asked", "message"),
    [
        ({}, {"new": "tasks"}, "need at least 3 tasks, to show how tasks differ, got 1"),
        ({"n_runs": 3}, {"passes": (4, False)}, "pass@4: every item needs 4 runs, some have 3"),
        (
            {"n_runs": 3},
            {"new": "runs", "passes": (3, True)},
            "every item needs 4 runs, some have 3",
        ),
        ({"clusters": ["a"] * 4}, {}, "one cluster"),
        ({}, {"new": "days"}, "must be one of"),
    ],
)
def test_what_cannot_be_told(known, asked, message):
    data = Outcomes(np.array([[1.0], [0], [1], [1]]), names=["one"], **known)
    refused(message, skills_alone, data, **asked)
