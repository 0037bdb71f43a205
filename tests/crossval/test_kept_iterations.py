"""Iterations that a folder keeps are read back to the same bits, and by the same run only."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from pickle import PicklingError

import pytest
from crossval_runs import LEARNERS, Countdown, Odd, X, Y, run, same
from data.files import refused
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier


@pytest.mark.parametrize("how", ["fail", "warn"])
def test_finished_iterations_are_not_run_again(how: str, tmp_path: Path) -> None:
    learners = {"nb": GaussianNB(), "odd": Odd(how, float(X[0, 0]))}
    assert run(learners, iterations=4, rule=Countdown(2), checkpoint=tmp_path).n_iterations == 2
    assert len(finished(tmp_path)) == 2
    found = run(learners, iterations=4, checkpoint=tmp_path)
    assert found.messages
    assert same(found, run(learners, iterations=4))
    assert len(finished(tmp_path)) == 4
    assert same(run(learners, iterations=3, checkpoint=tmp_path), run(learners, iterations=3))
    assert len(finished(tmp_path)) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        {"random_seed": 1}, {"folds": 4}, {"scoring": "accuracy"}, {"X": X + 1.0}, {"y": 1 - Y},
        {"estimators": {**LEARNERS, "tree": DecisionTreeClassifier(max_features=2)}},
        {"estimators": {"NB": LEARNERS["nb"], "tree": LEARNERS["tree"]}},
    ],
)  # fmt: skip
def test_no_iteration_of_another_run_is_taken(other, tmp_path: Path) -> None:
    run(iterations=2, checkpoint=tmp_path)
    assert same(run(iterations=2, checkpoint=tmp_path, **other), run(iterations=2, **other))
    assert len(finished(tmp_path)) == 4


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
    refused("cannot write to", run, checkpoint=tmp_path / "thesis.tex")


FIVE = {
    "nb": GaussianNB(), "tree": DecisionTreeClassifier(max_features=3),
    "logistic": LogisticRegression(max_iter=50), "odd": Odd("fail", float(X[0, 0])),
    "mlp": MLPClassifier((20, 20), max_iter=20),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_number_of_workers_changes_nothing() -> None:
    alone = run(FIVE, iterations=4)
    assert alone.messages
    assert same(run(FIVE, iterations=4, cores=2), alone)
    assert same(run(FIVE, iterations=4, cores=3), alone)
    early = run(FIVE, iterations=4, rule=Countdown(2))
    assert same(run(FIVE, iterations=4, rule=Countdown(2), cores=2), early)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    script = f"""
from crossval_runs import run
run(iterations=400, cores=2, checkpoint={str(tmp_path)!r})
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(finished(tmp_path)) < 3 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert 3 <= len(before := finished(tmp_path)) < 400
    assert same(run(iterations=5, checkpoint=tmp_path), run(iterations=5))
    assert before.items() <= finished(tmp_path).items()


def finished(folder: Path) -> dict[Path, int]:
    """Files of iterations, and when they were written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("output.pkl")}
