"""Averages over tasks of which only the scores are known: answers, closed forms, simulation."""

import numpy as np
import pandas as pd
import pytest

from bayes_sota import Outcomes, read_outcomes
from bayes_sota.data import average_tasks
from bayes_sota.data.item_values import korn_graubard

TASKS = ("law", "art", "chess")
SIZES = np.array([30, 200, 75])
WEIGHTS = {"law": 5.0, "art": 1.0, "chess": 2.0}


def answers(seed=0, sizes=SIZES, m=5):
    """Answers of each entry, (items, m), and the task of every item."""
    rng = np.random.default_rng(seed)
    tasks = np.repeat(TASKS, sizes)
    easy = np.repeat([0.6, 0.9, 0.75], sizes)[:, None]
    return (rng.random((tasks.size, m)) < easy - 0.03 * np.arange(m)).astype(int), tasks


def shares(correct, tasks):
    """Share of right answers, (m, T)."""
    return np.array([correct[tasks == task].mean(axis=0) for task in TASKS]).T


@pytest.mark.parametrize("average", ["tasks", "items", WEIGHTS])
def test_scores_of_tasks_are_worth_the_answers_that_they_were_made_from(average):
    correct, tasks = answers()
    board = average_tasks(shares(correct, tasks), n_test=SIZES, tasks=TASKS, average=average)
    of_answers = Outcomes(correct, tasks=tasks, average=average).average
    np.testing.assert_allclose(board.scores, of_answers.scores)
    np.testing.assert_allclose(board.sizes, of_answers.effective)
    assert board.metric == "accuracy"


def test_new_tasks_are_worth_what_they_are_of_answers():
    """But for their few degrees of freedom, which there shorten the number itself."""
    correct, tasks = answers()
    of_answers = Outcomes(correct, tasks=tasks, new="tasks").average
    board = average_tasks(shares(correct, tasks), n_test=SIZES, tasks=TASKS, new="tasks")
    np.testing.assert_allclose(board.sizes, of_answers.effective / korn_graubard(2), atol=0.1)
    part = board.subset(np.array([3, 1]))
    np.testing.assert_array_equal(part.task_influence, board.task_influence[:, [3, 1]])


def test_error_on_new_tasks_is_that_of_a_mean():
    """Tasks that count the same: the sample variance over T, half of all entries."""
    scores = np.random.default_rng(2).normal(10, 2, (4, 6))
    board = average_tasks(scores, metric="score", new="tasks")
    own = scores.var(axis=1, ddof=1) / 6
    errors = board.standard_error * board.error_ratios
    np.testing.assert_allclose(errors**2, (own + own.mean()) / 2)


def test_new_tasks_are_no_surer_than_new_items():
    """Tasks on which scores agree by chance."""
    scores = [[0.8, 0.8, 0.8], [0.7, 0.7, 0.7]]
    items, tasks = (average_tasks(scores, n_test=10, new=new).sizes for new in ("items", "tasks"))
    np.testing.assert_allclose(tasks, items)
    known = {"metric": "score", "standard_errors": np.full((2, 3), 0.1)}
    board = average_tasks([[1.0, 1, 1], [2, 2, 2]], new="tasks", **known)
    np.testing.assert_allclose(board.standard_error * board.error_ratios, 0.1 / np.sqrt(3))


def test_errors_of_scores_add_up():
    errors = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2]])
    scores = [[1.0, 2, 3], [2, 3, 4]]
    board = average_tasks(
        scores, tasks=TASKS, standard_errors=errors, metric="score", average=WEIGHTS,
        lower_is_better=True,
    )  # fmt: skip
    weights = np.array([5, 1, 2]) / 8
    np.testing.assert_allclose(
        (board.standard_error * board.error_ratios) ** 2, errors**2 @ weights**2
    )
    np.testing.assert_allclose(board.sign * board.scores, scores @ weights)


def test_ways_to_say_the_items_agree():
    scores = pd.DataFrame([[0.9, 0.5, 0.7], [0.8, 0.6, 0.6]], columns=TASKS, index=["x", "y"])
    listed = average_tasks(scores, n_test=SIZES)
    named = average_tasks(scores, n_test={"chess": 75, "law": 30, "art": 200})
    assert listed == named == average_tasks(scores, n_test=np.tile(SIZES, (2, 1)))
    assert (listed.tasks, listed.names, listed.n_items) == (TASKS, ("x", "y"), 305)


def test_a_case_in_several_tasks_may_be_one_cluster():
    """Two organs of each case: the case is its cluster if a user says so, and else a note asks."""
    rows = [
        (f"c{i}", o, m, (i + len(o)) % 7 / 7) for i in range(9) for o in ("a", "bc") for m in "xy"
    ]
    frame = pd.DataFrame(rows, columns=["case", "organ", "method", "dice"])
    known = read_outcomes(frame, task="organ", cluster="case")
    assert (known.n_items, known.n_clusters) == (18, 9)
    plain = read_outcomes(frame, task="organ")
    assert plain.clusters is None
    assert any(note.endswith("or case, use --column cluster=case") for note in plain.notes)
