"""Differences in every task: another sampler, closed forms in the limits, and refusals."""

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.responses import Responses
from bayes_sota.items.by_task import TaskComparison, compare_by_task

NAMES = [f"task {t}" for t in range(8)]


def answers(sizes: list[int], gaps: list[float], seed: int = 0, methods: int = 2) -> Responses:
    """So many items of each task, of which the first method gets more right by a gap."""
    rng = np.random.default_rng(seed)
    chances = [[0.5 + gap, *[0.5] * (methods - 1)] for gap in gaps]
    right = [rng.random((n, methods)) < p for n, p in zip(sizes, chances, strict=True)]
    tasks = np.repeat(NAMES[: len(sizes)], sizes)
    return Responses(np.concatenate(right), tasks=list(tasks))


def difference(found: TaskComparison, task: int) -> np.ndarray:
    draws = found.draws_of(task)
    return draws[:, 0] - draws[:, 1]


def test_a_task_with_many_items_keeps_its_own_difference() -> None:
    data = answers([4000, 4000], [0.3, -0.3])
    found = compare_by_task(data)
    for task in (0, 1):
        d = data.values[4000 * task :][:4000] @ [1, -1]
        drawn = difference(found, task)
        assert drawn.mean() == pytest.approx(d.mean(), abs=0.003)
        assert drawn.std() == pytest.approx(d.std() / 4000**0.5, rel=0.05)


def test_tasks_that_do_not_differ_share_what_they_say() -> None:
    """Thirty-two tasks' worth of one difference: near the mean of all, with nearly its error."""
    rng = np.random.default_rng(1)
    right = rng.random((4000, 2)) < [0.65, 0.5]
    found = compare_by_task(Responses(right, tasks=[f"{i % 40:02d}" for i in range(4000)]))
    raw, d = found.errors.scores @ [1, -1], right.astype(float) @ [1, -1]
    means = np.array([difference(found, t).mean() for t in range(40)])
    assert np.std(means) < np.std(raw) / 2
    assert np.mean(means) == pytest.approx(d.mean(), abs=0.01)
    assert difference(found, 0).std() < d.std() / 10 / 2


def test_draws_repeat_and_methods_may_change_places() -> None:
    data = answers([40, 60, 30], [0.2, 0.1, 0.0], methods=3)
    found, other = compare_by_task(data), compare_by_task(data.subset([2, 0, 1]))
    assert np.array_equal(found.draws_of(1), found.draws_of(1))
    assert np.allclose(found.draws_of(1).sum(axis=1), 0)
    for task in range(3):
        mine, theirs = found.draws_of(task), other.draws_of(task)[:, [1, 2, 0]]
        assert mine.mean(axis=0) == pytest.approx(theirs.mean(axis=0), abs=0.005)
        assert mine.std(axis=0) == pytest.approx(theirs.std(axis=0), rel=0.05)


def test_two_methods_are_the_same_alone_and_as_runs_of_themselves() -> None:
    data = answers([40, 60], [0.2, 0.1])
    twice = Responses(np.repeat(data.values, 2, axis=1), tasks=data.tasks)
    alone = compare_by_task(data)
    runs = compare_by_task(twice, ["a", "a", "b", "b"])
    assert difference(runs, 0).mean() == pytest.approx(difference(alone, 0).mean(), abs=0.005)


def test_tasks_without_an_error_of_their_own_are_named() -> None:
    found = compare_by_task(answers([1, 30, 40], [0.2, 0.1, 0.1]))
    assert found.notes[-1].endswith("one item only, and an error that is taken from the other "
                                    "tasks: task 0")  # fmt: skip
    assert 0 < difference(found, 0).std() < 0.6
    data = answers([10, 30], [0.2, 0.1])
    clusters = ["x"] * 10 + [str(i) for i in range(30)]
    found = compare_by_task(Responses(data.values, tasks=data.tasks, clusters=clusters))
    assert "1 task has one cluster only" in found.notes[-1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Responses(np.eye(3), tasks=list("xyz"), new="tasks"), "about new items of every task"),
        (Responses(np.eye(3)), "--by task needs answers with tasks"),
        (Responses(np.eye(3), tasks=["x"] * 3), "all items belong to one task, 'x'"),
        (Responses(np.eye(3), tasks=list("xyz")), "every task has one item: nothing says"),
        (
            Responses(np.eye(4), tasks=list("xxyy"), clusters=list("aabb")),
            "every task is one cluster: nothing says",
        ),
    ],
)
def test_what_is_refused(data: Responses, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare_by_task(data)


@pytest.mark.slow
def test_nuts_agrees() -> None:
    import pymc as pm

    found = compare_by_task(
        answers([20, 40, 12, 60, 25, 80], [0.3, 0.1, -0.2, 0.2, 0.0, 0.15]), draws=40_000
    )
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
        trace = pm.sample(
            4000, chains=4, cores=1, random_seed=1, target_accept=0.97, progressbar=False
        )
    effects = trace["posterior"]["effect"].values.reshape(-1, len(g)) * g * 2**0.5
    for task in range(len(g)):
        mine, theirs = difference(found, task), effects[:, task]
        assert mine.mean() == pytest.approx(theirs.mean(), abs=0.05 * theirs.std())
        assert mine.std() == pytest.approx(theirs.std(), rel=0.05)
    taus = trace["posterior"]["tau"].values
    assert np.median(found.spread) == pytest.approx(np.median(taus), rel=0.05)
