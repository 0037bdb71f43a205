"""Differences in every task: another sampler, closed forms in the limits, and refusals."""

from dataclasses import replace

import numpy as np
import pytest
from data.files import refused
from scipy.linalg import helmert

from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import compare_by_task

NAMES = [f"task {t}" for t in range(8)]


def answers(sizes, gaps, methods=2):
    """So many items of each task, of which the first method gets more right by a gap."""
    rng = np.random.default_rng(0)
    chances = [[0.5 + gap, *[0.5] * (methods - 1)] for gap in gaps]
    right = [rng.random((n, methods)) < p for n, p in zip(sizes, chances, strict=True)]
    return Outcomes(np.concatenate(right), tasks=list(np.repeat(NAMES[: len(sizes)], sizes)))


def difference(found, task):
    draws = found.draws_of(task)
    return draws[:, 0] - draws[:, 1]


@pytest.mark.parametrize("tau", [0.02, 0.1, 0.5, 1e6])
def test_luck_that_all_share_keeps_its_law_and_correlation(tau):
    """Contrasts are shrunk by linear algebra, the mean stays where it was, with its error.

    Where tasks differ without end, skills have the law of the scores.
    """
    found = compare_by_task(answers([12, 30, 60], [0.4, 0.2, 0.0], methods=4))
    centre, size, m, h = found.average.mean(axis=0), 100_000, 4, helmert(4)
    known = replace(found, spread=np.full(size, tau), average=np.tile(centre, (size, 1)))
    for task in range(3):
        drawn = known.draws_of(task)
        s, scores, g = (getattr(found.errors, name)[task]
                        for name in ("covariance", "scores", "scale"))  # fmt: skip
        kept = g**2 * tau**2 * np.linalg.inv(h @ s @ h.T + g**2 * tau**2 * np.eye(m - 1))
        towards = g * known.average[0] @ h.T
        mean = scores.mean() + (towards + (h @ scores - towards) @ kept.T) @ h
        shared = h.T @ kept @ h @ s @ np.full(m, 1 / m)
        covariance = h.T @ kept @ h @ s @ h.T @ h + shared[:, None] + shared + s.mean()
        if tau > 1e3:
            mean, covariance = scores, s
        np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.002)
        np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.02 * covariance.max())


def test_numbers_of_answers_are_answers_and_losses_are_mirrored():
    """Right answers as numbers differ by the smoothing of answers, and by what gaps scale with."""
    data = answers([300, 200, 400], [0.3, 0.1, -0.1], methods=3)
    values = data.values + np.random.default_rng(1).normal(0, 1e-3, data.values.shape)
    known = {"tasks": data.tasks, "metric": "mean"}
    found, numbers = compare_by_task(data), compare_by_task(Outcomes(values, **known))
    losses = compare_by_task(Outcomes(-values, lower_is_better=True, **known))
    assert (numbers.bounds, found.bounds) == ((-np.inf, np.inf), (0, 1))
    for task in range(3):
        drawn, other = found.draws_of(task), numbers.draws_of(task)
        np.testing.assert_allclose(drawn.mean(axis=0), other.mean(axis=0), atol=0.2 * drawn.std())
        np.testing.assert_allclose(drawn.std(axis=0), other.std(axis=0), rtol=0.08)
        np.testing.assert_allclose(losses.draws_of(task), other, atol=1e-9)
        np.testing.assert_allclose(losses.skills_in(task), -other, atol=1e-9)


def test_methods_may_change_places_and_the_best_is_counted_in_draws():
    data = answers([40, 60, 30], [0.2, 0.1, 0.0], methods=3)
    found, other = compare_by_task(data), compare_by_task(data.subset([2, 0, 1]))
    for task in range(3):
        mine, theirs = found.draws_of(task), other.draws_of(task)[:, [1, 2, 0]]
        assert mine.mean(axis=0) == pytest.approx(theirs.mean(axis=0), abs=0.005)
        assert mine.std(axis=0) == pytest.approx(theirs.std(axis=0), rel=0.05)
    best, p_best, lead = found.best_in(0)
    assert p_best.sum() == pytest.approx(1)
    assert p_best[best] == np.mean(lead > 0)


def test_tasks_without_an_error_of_their_own_are_named():
    found = compare_by_task(answers([1, 30, 40], [0.2, 0.1, 0.1]))
    said = "only one item, and an error that is taken from the other tasks: task 0"
    assert found.notes[-1].endswith(said)
    assert 0 < difference(found, 0).std() < 0.6
    data, clusters = answers([10, 30], [0.2, 0.1]), ["x"] * 10 + [str(i) for i in range(30)]
    found = compare_by_task(Outcomes(data.values, tasks=data.tasks, clusters=clusters))
    assert "1 task has only one cluster" in found.notes[-1]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (np.eye(3), {"tasks": "xyz", "new": "tasks"}, "about new items of every task"),
        (np.eye(3), {}, "--by task needs answers with several tasks"),
        ([[0.5, 0.1], [0.5, 0.2], [0.4, 0.3], [0.4, 0.1]], {"tasks": "xxyy", "metric": "mean"},
         "is constant within every task"),
        (np.eye(3), {"tasks": "xxx"}, "--by task needs answers with several tasks"),
        (np.eye(3), {"tasks": "xyz"}, "every task has one item, which"),
        (np.eye(4), {"tasks": "xxyy", "clusters": "aabb"},
         "every task has one cluster, which"),
    ],
)  # fmt: skip
def test_what_is_refused(values, options, message):
    lists = {k: list(v) for k, v in options.items() if k in ("tasks", "clusters")}
    refused(message, compare_by_task, Outcomes(values, **options | lists))


@pytest.mark.slow
def test_nuts_agrees():
    import pymc as pm

    data = answers([20, 40, 12, 60, 25, 80], [0.3, 0.1, -0.2, 0.2, 0.0, 0.15])
    found = compare_by_task(data, draws=40_000)
    g = found.errors.scale
    c = found.errors.scores @ [1, -1] / 2**0.5 / g
    v = found.errors.covariance @ [1, -1] @ [1, -1] / 2 / g**2
    typical = 1 / np.mean(1 / v)
    with pm.Model():
        share = pm.Uniform("share", 0, 1)
        tau = pm.Deterministic("tau", (typical * (1 - share) / share) ** 0.5)
        mu = pm.Flat("mu", initval=0.0)
        offset = pm.Normal("offset", size=len(g))
        effect = pm.Deterministic("effect", mu + tau * offset)
        pm.Normal("c", effect, v**0.5, observed=c)
        settings = {"chains": 4, "cores": 1, "random_seed": 1, "progressbar": False}
        trace = pm.sample(4000, target_accept=0.97, **settings)
    effects = trace["posterior"]["effect"].values.reshape(-1, len(g)) * g * 2**0.5
    for task in range(len(g)):
        mine, theirs = difference(found, task), effects[:, task]
        assert mine.mean() == pytest.approx(theirs.mean(), abs=0.05 * theirs.std())
        assert mine.std() == pytest.approx(theirs.std(), rel=0.05)
    taus = trace["posterior"]["tau"].values
    assert np.median(found.spread) == pytest.approx(np.median(taus), rel=0.05)
