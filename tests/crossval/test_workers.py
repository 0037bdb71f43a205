"""The number of workers changes no bit, nor does an end in the middle."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from crossval_runs import Countdown, Odd, X, run, same
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
LEARNERS = {
    "nb": GaussianNB(), "tree": DecisionTreeClassifier(max_features=3),
    "logistic": LogisticRegression(max_iter=50), "odd": Odd("fail", float(X[0, 0])),
    "mlp": MLPClassifier((20, 20), max_iter=20),
}  # fmt: skip


def test_the_number_of_workers_changes_nothing() -> None:
    alone = run(LEARNERS, iterations=4)
    assert alone.messages
    assert same(run(LEARNERS, iterations=4, cores=2), alone)
    assert same(run(LEARNERS, iterations=4, cores=3), alone)
    early = run(LEARNERS, iterations=4, rule=Countdown(2))
    assert same(run(LEARNERS, iterations=4, rule=Countdown(2), cores=2), early)


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
