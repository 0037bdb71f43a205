"""Answers and numbers of items, against pivots by pandas."""

import numpy as np
import pandas as pd

from bayes_sota.data.answers import outcomes_of, read_outcomes
from bayes_sota.data.reading import read_tidy

SUBJECTS = {"law": 6, "art": 3, "physics": 11}


def exams(runs: int) -> pd.DataFrame:
    """Answers to questions that each subject numbers anew, in passages of up to three."""
    rng = np.random.default_rng(3)
    rows = [
        (model, subject, item, f"{subject}{item // 3}", run, int(rng.integers(2)))
        for model in ("gpt-4", "llama", "mistral")
        for subject, size in SUBJECTS.items()
        for item in range(size)
        for run in range(runs)
    ]
    names = ["model", "subject", "item", "passage", "seed", "correct"]
    return pd.DataFrame(rows, columns=names).sample(frac=1, random_state=1)


def test_tasks_clusters_and_runs_are_those_of_a_pivot() -> None:
    table = exams(runs=4)
    found = read_outcomes(table)
    assert outcomes_of(read_tidy(table)) == found
    shares = table.pivot_table(index=["subject", "item"], columns="model", values="correct")
    numbers = [int(item.split("/")[1]) for item in found.items]
    places = list(zip(found.tasks or (), numbers, strict=True))
    np.testing.assert_allclose(found.values, shares.loc[places, list(found.names)])
    assert found.n_runs == 4
    assert found.clusters == tuple(f"{task}{item // 3}" for task, item in places)
    of_task = table.groupby(["model", "subject"])["correct"].mean().groupby("model").mean()
    np.testing.assert_allclose(found.scores, of_task[list(found.names)])
    again = read_outcomes(table, average="items")
    of_item = table.groupby("model")["correct"].mean()
    np.testing.assert_allclose(again.scores, of_item[list(found.names)])
    assert read_outcomes(table, metric="pass@2", new="tasks").passes == (2, False)


def test_missing_answers_stay_where_that_is_possible() -> None:
    frame = pd.DataFrame({"item": range(20), "a": [0, 1] * 9 + [1, None], "b": [0, 1] * 10})
    assert read_outcomes(frame).has_missing
    found = read_outcomes(frame.assign(task=list("pq" * 10)))
    assert (found.n_items, found.has_missing) == (19, False)


def test_runs_that_share_an_error_are_noted() -> None:
    rng = np.random.default_rng(0)
    for shift, noted in ((0.0, 0), (0.15, 1)):
        chance = rng.beta(4, 2, (2, 1, 300)) + shift * rng.normal(size=(2, 4, 1))
        right = rng.random((2, 4, 300)) < chance
        places = np.indices(right.shape).reshape(3, -1)
        frame = pd.DataFrame(dict(zip(("model", "seed", "item"), places.astype(str), strict=True)))
        found = read_outcomes(frame.assign(correct=right.ravel().astype(int)))
        assert sum("an error common to all items" in note for note in found.notes) == noted


def test_a_case_of_several_questions_is_a_cluster() -> None:
    table = {"case": ["a", "a", "b"], "question": ["x", "y", "z"], "m": [1, 0, 1], "n": [0, 1, 1]}
    assert read_outcomes(pd.DataFrame(table)).clusters == ("a", "a", "b")
