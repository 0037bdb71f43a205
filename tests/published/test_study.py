"""Tasks are read or refused; the study runs on small ones, goes on, and is what is stored."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from published.comparisons import reproduce
from published.reproduce import main
from published.study import FOLDS, LEARNERS, load_runs, save_runs
from published.tasks import bundled_tasks, read_tasks
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from studies import cross_validation as runner

from bayes_sota.auc.estimate import auc_std
from bayes_sota.core.errors import InputError
from bayes_sota.crossval.run import prepared, repeated_cross_validation


def frame(n: int = 40, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 2))
    return pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "y": (rows[:, 0] > 0).astype(int)})


def folder(path: Path, **tables: Any) -> Path:
    for name, table in tables.items():
        if isinstance(table, str):
            (path / f"{name}.csv").write_text(table)
        else:
            table.to_csv(path / f"{name}.csv", index=False)
    return path


def test_tasks(tmp_path: Path) -> None:
    bundled = read_tasks(None)
    assert len(bundled) == 10
    assert all(set(task.labels) == {0, 1} for task in bundled)
    tested = {task.name: len(task.test[1]) for task in bundled if task.test is not None}
    assert tested == {"digits-odd": 1198, "volatile-days": 441, "volatile-months": 555}
    found = read_tasks(folder(tmp_path, small=frame(), small_test=frame(30, 1)))
    assert [task.name for task in found][:2] == ["small", "iris-1"]
    assert found[0].test is not None
    assert found[0].test[0].shape == (30, 2)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "no tasks, tables NAME.csv with a column y"),
        ({"one": "a,b\n1,2\n3,4\n"}, "there is no column .y.;"),
        ({"one": "a,y\n1,0\ntwo,1\n"}, "one.csv: line 3, column .a.: the column has numbers"),
        ({"one": frame().assign(y=range(40))}, "task one: labels are of two classes, got 40"),
        (
            {"one": frame().head(12).assign(y=[0] * 9 + [1] * 3)},
            "one: each of at least two classes needs 10 items.*3 of 1.0",
        ),
        ({"wine-0": frame()}, "two tasks are named wine-0"),
        ({"two_test": frame(), "one": frame()}, "two_test.csv'?: a test set without its task"),
        ({"one": frame(), "one_test": frame()[["a", "y"]]}, "the attributes of its task"),
        ({"one": frame(), "one_test": frame().assign(y=1)}, "both of its classes"),
    ],
)
def test_what_is_no_task_is_refused(tmp_path: Path, tables: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        all(map(runner.checked_task, read_tasks(folder(tmp_path, **tables))))


def test_a_later_test_set_is_later(tmp_path: Path) -> None:
    """Attributes of the first item of the test set are moves after those that were trained on."""
    task = next(task for task in bundled_tasks() if task.name == "volatile-days")
    assert task.test is not None
    # Five moves before each item: the next item has four of them again.
    assert task.rows[-1, 1:5].tolist() == task.test[0][0, :4].tolist()


@pytest.mark.slow  # the growth of trees is compiled
def test_a_study_is_repeated_cross_validation(tmp_path: Path) -> None:
    """Scores and probabilities of the folds are those of the public way, learner by learner."""
    names = tuple(name for name in LEARNERS if name != "mlp")
    (task,) = (task for task in read_tasks(folder(tmp_path, one=frame())) if task.name == "one")
    study = replace(runner.checked_task(task, names), folds=2)
    learners = {n: prepared(x, []) for n, x in runner.study_learners(names).items()}
    found = repeated_cross_validation(
        learners, task.rows, task.labels, folds=2, iterations=2, rule="fixed", random_seed=0
    )
    for n in range(2):
        scores, values = runner.run_iteration(study, n)
        assert scores == pytest.approx(found.fold_scores.scores[0, :, n])
        assert values == pytest.approx(found.probabilities[:, n], abs=1e-9)


@pytest.mark.slow  # the growth of trees is compiled
def test_on_a_test_set() -> None:
    (task,) = (task for task in bundled_tasks() if task.name == "digits-odd")
    small = replace(task, rows=task.rows[:80], labels=task.labels[:80])
    found, errors = runner.on_test_set(small, 0)
    # The truth of a learner without random numbers, on another route.
    svm = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(small.rows, small.labels)
    assert task.test is not None
    rows, labels = task.test
    expected = roc_auc_score(labels, svm.decision_function(rows))
    at = LEARNERS.index("svm")
    assert found[at] == pytest.approx(expected, abs=2e-3)
    # Items of the test set are drawn, and so are the 80 that the estimate is from.
    sizes = [(int(one.sum()), int((one == 0).sum())) for one in (labels, small.labels)]
    of_test, of_estimate = (auc_std(found[at], *n) for n in sizes)
    assert errors[at] == pytest.approx(np.hypot(of_test, of_estimate))
    assert errors[at] == pytest.approx(of_test * np.sqrt(1 + 1198 / 80), rel=0.15)


@pytest.mark.slow
def test_a_study_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "CHUNK", 10)
    tasks = [replace(task, test=None) for task in bundled_tasks() if task.name == "iris-1"]
    most = {runner.QUICK: 20, runner.SLOW: 10}
    runner.run(tmp_path, tasks, most, 0, 1)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(kept) == 3 * 3
    next(tmp_path.glob("*-10-nb-kernel-*-10.npz")).unlink()
    runner.run(tmp_path, tasks, most, 0, 1)
    assert {path.name for path in tmp_path.iterdir()} == set(kept)
    runs = runner.collected(tmp_path, tasks, 20, 3, 0, 1)
    save_runs(runs, tmp_path / "study.npz")
    again = load_runs(tmp_path / "study.npz")
    for k in FOLDS:
        means = runs.scores[k].iteration_means()
        assert again.scores[k].iteration_means() == pytest.approx(means, abs=1.01e-5, nan_ok=True)
        assert (again.stops[k] == runs.stops[k]).all()
        assert np.isnan(means[0, LEARNERS.index("mlp"), 10:]).all()
    # What is stored is what these tasks give today.
    stored = load_runs()
    at = stored.tasks.index("iris-1")
    quick = [LEARNERS.index(name) for name in runner.QUICK]
    for k in FOLDS:
        now, then = (one.scores[k].iteration_means() for one in (runs, stored))
        assert now[0, quick] == pytest.approx(then[at, quick, :20], abs=1.01e-5)


@pytest.mark.slow
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    found = reproduce(["cv-test-sets"])
    assert [one.item for one in found] == ["cv-test-sets"] * 3
    assert "9 data sets" in found[0].note
    with pytest.raises(SystemExit) as stopped:
        main(["cv-test-sets", "mania"])
    assert not stopped.value.code
    assert "Of 5 published numbers 3 are reproduced and 2 differ" in capsys.readouterr().out
    with pytest.raises(InputError, match="random_seed has no effect"):
        reproduce(["mania"], random_seed=1)


@pytest.mark.slow
def test_the_shared_tasks(data_directory: Path) -> None:
    found = {task.name: task for task in read_tasks(data_directory)}
    assert len(found) == 28
    assert sum(task.test is not None for task in found.values()) == 9
    assert found["vote"].rows.shape == (435, 16)
