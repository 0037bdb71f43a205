"""Response matrices: what they hold, what they count, and what they refuse."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.responses import Responses
from bayes_sota.data.writing import write_items

SMALL = [[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, None, 1]]


def some_responses(items: int = 50, classifiers: int = 6, missing: float = 0.1) -> Responses:
    rng = np.random.default_rng(7)
    answers = np.where(rng.random((items, classifiers)) < 0.7, 1.0, 0.0)
    answers[rng.random(answers.shape) < missing] = np.nan
    return Responses(answers)


@pytest.mark.parametrize(
    "correct",
    [
        SMALL,
        [[True, False, True], [True, True, False], [False, False, True], [True, None, True]],
        np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, np.nan, 1]]),
        np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, -1, 1]], np.int16),
        np.ma.masked_equal([[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, 9, 1]], 9),
        pd.DataFrame(SMALL),
        pd.DataFrame(SMALL).astype("Int8"),
        [np.array([1, 0, 1]), [1, 1, 0], [0, 0, 1], [1, np.float32("nan"), 1]],
    ],
    ids=str,
)
def test_what_can_be_given(correct: Any) -> None:
    responses = Responses(correct)
    assert responses.correct.dtype == np.int8
    assert responses.correct.tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, -1, 1]]
    assert (responses.n_items, responses.n_classifiers) == (4, 3)
    assert responses.has_missing
    assert responses.counts.tolist() == [3, 1, 3]
    assert responses.totals.tolist() == [4, 3, 4]
    assert responses.scores.tolist() == [3 / 4, 1 / 3, 3 / 4]
    assert responses.items == ("1", "2", "3", "4")


def test_polars_frame() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"tree": [True, None, True], "forest": [False, True, True]})
    responses = Responses(frame)
    assert responses.names == ("tree", "forest")
    assert responses.correct.tolist() == [[1, 0], [-1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("correct", "options", "message"),
    [
        ([[1, 0], [1, 2]], {"names": ["a", "b"]}, "classifier 'b' has 2 for item '2'"),
        (np.array([[1, 0], [255, 1]], np.uint8), {}, "classifier '1' has 255"),
        ([["x" * 99, 0], [0, 1]], {}, "xxx[.][.][.]' for item"),
        ([[1, 0]], {}, "at least 2 items, got 1"),
        (np.full((2, 2, 2), 0.5), {}, "several runs are 0 or 1"),
        ([[1, 0], [1, 0, 1]], {}, "row 1 has 2, row 2 has 3"),
        ([[1, 0], [0, 1]], {"names": ["a", "a"]}, "classifier needs its own name: 'a' occurs more"),
        ([[1, 0], [0, 1]], {"names": ["a"]}, "2 classifiers, but 1 names"),
        ([[1, 0], [0, 1]], {"clusters": ["x"]}, "2 items, 1 clusters"),
    ],
)
def test_what_is_refused(correct: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Responses(correct, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_joint_counts_agree_with_counting(missing: float) -> None:
    responses = some_responses(missing=missing)
    right_right, both = responses.joint_counts()
    for j in range(responses.n_classifiers):
        for k in range(responses.n_classifiers):
            a, b = responses.correct[:, j], responses.correct[:, k]
            assert right_right[j, k] == sum((a == 1) & (b == 1))
            assert both[j, k] == sum((a >= 0) & (b >= 0))
    assert np.array_equal(np.diag(right_right), responses.counts)
    assert np.array_equal(np.diag(both), responses.totals)


def test_joint_counts_of_many_items_are_exact_and_fast() -> None:
    rng = np.random.default_rng(1)
    correct = (rng.random((50_000, 67)) < 0.8).astype(np.int8)
    responses = Responses(correct)
    start = time.process_time()
    right_right, _ = responses.joint_counts()
    assert time.process_time() - start < 1
    exact = correct.astype(float)  # in which whole numbers are, up to 2^53
    assert np.array_equal(right_right, exact.T @ exact)


def test_subset_by_number_name_and_mask() -> None:
    responses = Responses(SMALL, names=["a", "b", "c"], clusters=["x", "x", "y", "y"], name="n")
    chosen = responses.subset(["c", "a"], [3, 0])
    assert chosen.correct.tolist() == [[1, 1], [1, 1]]
    assert (chosen.names, chosen.items, chosen.clusters) == (("c", "a"), ("4", "1"), ("y", "x"))
    assert chosen.name == "n"
    assert responses.subset([-1, 0], ["4", "1"]) == chosen
    assert responses.subset(np.array([True, False, True])).names == ("a", "c")
    assert responses.subset() == responses


@pytest.mark.parametrize(
    ("classifiers", "message"),
    [
        (["a", "z"], "no classifier named 'z'"),
        ([0, 1.5], "by number or name, got 1.5"),
        ([True, False], "mask of classifiers needs 3 entries, got 2"),
    ],
)
def test_impossible_subset(classifiers: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Responses(SMALL, names=["a", "b", "c"]).subset(classifiers)


def test_leaderboard_shows_the_scores() -> None:
    responses = Responses([[1, 0], [1, 1], [0, 0]], names=["a", "b"], name="mine")
    board = responses.leaderboard()
    assert (board.n_test, board.n_classifiers, board.name) == (3, 2, "mine")
    assert board.maximum == pytest.approx(2 / 3)
    assert board.counts == (2, 2)
    assert responses.leaderboard(n_classifiers=10).n_classifiers == 10


TASKS = ["law", "law", "art", "law", "art"]
ANSWERS = [[1, 0], [1, 1], [0, 1], [0, 0], [1, 1]]


def test_an_average_over_tasks_has_their_weights() -> None:
    by_item = Responses(ANSWERS, tasks=TASKS, average="items")
    by_task = Responses(ANSWERS, tasks=TASKS)
    assert by_task == Responses(ANSWERS, tasks=TASKS, average="tasks")
    by_weight = Responses(ANSWERS, tasks=TASKS, average={"law": 3, "art": 1})
    assert by_item.scores == pytest.approx([0.6, 0.6])
    assert by_task.scores == pytest.approx([(2 / 3 + 0.5) / 2, (1 / 3 + 1) / 2])
    assert by_weight.scores == pytest.approx([(2 + 0.5) / 4, (1 + 1) / 4])
    assert by_weight.task_weights == {"law": 0.75, "art": 0.25}
    kinds = [a.averaging for a in (Responses(ANSWERS), by_item, by_task, by_weight)]
    assert kinds == ["items", "items", "tasks", "weights"]
    assert len({a.data_hash() for a in (Responses(ANSWERS), by_item, by_task, by_weight)}) == 4
    assert repr(by_task) == "<Responses 'responses': 5 items x 2 classifiers, 2 tasks>"


def test_parts_keep_tasks_and_runs() -> None:
    whole = Responses(ANSWERS, tasks=TASKS, average={"law": 3, "art": 1}, n_runs=4)
    law = whole.subset(items=[0, 1, 3])
    assert law.tasks == ("law",) * 3
    assert (law.task_weights, law.n_runs) == ({"law": 1.0}, 4)
    board = whole.leaderboard()
    assert board.metric == "score"
    assert board.standard_error == pytest.approx(float(whole.average.standard_errors[0]))


def test_who_needs_single_answers_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no place for tasks"):
        write_items(Responses(ANSWERS, tasks=TASKS), tmp_path / "answers.csv")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="shares of right answers"):
        _ = Responses(np.full((3, 2), 0.5), n_runs=4).correct
    with pytest.raises(InputError, match="averages over tasks, whose items do not count equally"):
        _ = Responses(ANSWERS, tasks=TASKS, average="tasks").correct


@pytest.mark.parametrize(
    ("correct", "options", "message"),
    [
        (ANSWERS, {"average": "tasks"}, "average is for items with tasks"),
        (ANSWERS, {"tasks": TASKS, "average": "rows"}, "items, tasks or weights by task"),
        (ANSWERS, {"tasks": TASKS, "average": {"law": 0, "art": 1}}, "positive numbers"),
        ([[0.5, 2], [0, 1]], {"n_runs": 4}, "between 0 and 1, none missing; classifier '2' has 2"),
        ([[0.5, 1], [0, 1]], {}, "an answer is right"),
        (np.ones((2, 2, 3)), {"n_runs": 3}, "here each run has its answers"),
    ],
)
def test_tasks_and_runs_that_cannot_be(correct: Any, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Responses(correct, **options)
