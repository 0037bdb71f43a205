"""Iterations that a folder keeps are read back to the same bits, and by the same run only."""

from pathlib import Path
from pickle import PicklingError
from typing import Any

import pytest
from crossval_runs import LEARNERS, Countdown, Odd, X, Y, run, same
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.core.errors import InputError


def n_kept(folder: Path) -> int:
    return len(list(folder.rglob("output.pkl")))


@pytest.mark.parametrize("how", ["fail", "warn"])
def test_finished_iterations_are_not_run_again(how: str, tmp_path: Path) -> None:
    learners = {"nb": GaussianNB(), "odd": Odd(how, float(X[0, 0]))}
    assert run(learners, iterations=4, rule=Countdown(2), checkpoint=tmp_path).n_iterations == 2
    assert n_kept(tmp_path) == 2
    found = run(learners, iterations=4, checkpoint=tmp_path)
    assert found.messages
    assert same(found, run(learners, iterations=4))
    assert n_kept(tmp_path) == 4
    assert same(run(learners, iterations=3, checkpoint=tmp_path), run(learners, iterations=3))
    assert n_kept(tmp_path) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        {"random_seed": 1}, {"folds": 4}, {"scoring": "accuracy"}, {"X": X + 1.0}, {"y": 1 - Y},
        {"estimators": {**LEARNERS, "tree": DecisionTreeClassifier(max_features=2)}},
        {"estimators": {"NB": LEARNERS["nb"], "tree": LEARNERS["tree"]}},
    ],
)  # fmt: skip
def test_no_iteration_of_another_run_is_taken(other: dict[str, Any], tmp_path: Path) -> None:
    run(iterations=2, checkpoint=tmp_path)
    assert same(run(iterations=2, checkpoint=tmp_path, **other), run(iterations=2, **other))
    assert n_kept(tmp_path) == 4


def test_a_damaged_iteration_is_computed_again(tmp_path: Path) -> None:
    run(iterations=2, checkpoint=tmp_path)
    next(tmp_path.rglob("output.pkl")).write_bytes(b"\0")
    assert same(run(iterations=2, checkpoint=tmp_path), run(iterations=2))


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    class Local(GaussianNB):
        pass

    with pytest.raises(PicklingError, match="Local"):
        run({"nb": Local()}, checkpoint=tmp_path)
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match="cannot write to"):
        run(checkpoint=tmp_path / "thesis.tex")
