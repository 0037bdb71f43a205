"""The study runs on small tasks, goes on where it was ended, and refuses what is no task."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from published import study
from published.comparisons import reproduce
from published.reproduce import main
from published.study import FOLDS, LEARNERS, read_tasks, run_study
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayes_sota.auc.estimate import auc_std
from bayes_sota.core.errors import InputError


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
    assert len(bundled) == 7
    assert all(set(task.labels) == {0, 1} and task.test is None for task in bundled)
    found = read_tasks(folder(tmp_path, small=frame(), small_test=frame(30, 1)))
    assert [task.name for task in found][:2] == ["small", "iris-1"]
    assert found[0].test is not None
    assert found[0].test[0].shape == (30, 2)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "no tasks, tables NAME.csv with a column y"),
        ({"one": "a,b\n1,2\n3,4\n"}, "there is no column 'y'"),
        ({"one": "a,y\n1,0\ntwo,1\n"}, "one.csv: line 3, column 'a': the column has numbers"),
        ({"one": frame().assign(y=range(40))}, "task one: labels are of two classes, got 40"),
        ({"one": frame().head(12).assign(y=[0] * 9 + [1] * 3)}, "one: class 1 has 3 members"),
        ({"wine-0": frame()}, "two tasks are named wine-0"),
        ({"two_test": frame(), "one": frame()}, "two_test.csv'?: a test set without its task"),
        ({"one": frame(), "one_test": frame()[["a", "y"]]}, "the attributes of its task"),
        ({"one": frame(), "one_test": frame().assign(y=1)}, "both of its classes"),
    ],
)
def test_what_is_no_task_is_refused(tmp_path: Path, tables: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_tasks(folder(tmp_path, **tables))


@pytest.mark.slow
def test_a_study_goes_on(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    given = folder(tmp_path / "data", one=frame(), one_test=frame(30, 1))
    (task,) = (task for task in read_tasks(given) if task.name == "one")
    whole = run_study([task], iterations=2)
    run_study([task], iterations=1, checkpoint=tmp_path / "kept")
    resumed = run_study([task], iterations=2, checkpoint=tmp_path / "kept")
    assert sorted(p.name for p in (tmp_path / "kept").iterdir()) == ["one-10", "one-2", "one-5"]
    for k in FOLDS:
        assert resumed.scores[k].data_hash() == whole.scores[k].data_hash()
        assert resumed.probabilities[k][0].tobytes() == whole.probabilities[k][0].tobytes()
    # The truth of a learner without random numbers, on another route.
    svm = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(task.rows, task.labels)
    rows, labels = task.test or (None, None)
    found = whole.truth["one"][LEARNERS.index("svm")]
    assert found == pytest.approx(roc_auc_score(labels, svm.decision_function(rows)))
    # Items of the test set are drawn, and so are the 40 that the estimate is from.
    sizes = [(one.sum(), (one == 0).sum()) for one in (labels, task.labels)]
    of_test, of_estimate = (auc_std(np.clip(found, 1e-9, 1 - 0.5 / 216), *n) for n in sizes)
    error = whole.truth_error["one"][LEARNERS.index("svm")]
    assert error == pytest.approx(np.hypot(of_test, of_estimate), rel=0.01)
    assert error == pytest.approx(of_test * np.sqrt(1 + 30 / 40), rel=0.1)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Verdicts of made-up runs, as the command tells them."""
    from published.made_up_study import made_up

    asked: dict[str, Any] = {}

    def run(tasks: Any, **settings: Any) -> Any:
        asked.update(settings, tasks=[task.name for task in tasks])
        return made_up(20, 7, bias={2: -0.02, 5: 0.0, 10: 0.02})

    monkeypatch.setattr(study, "run_study", run)
    found = reproduce(["cv-folds"], iterations=7, checkpoint=tmp_path)
    assert asked["iterations"] == 7
    assert asked["checkpoint"] == tmp_path
    assert "tumours" in asked["tasks"]
    first = found[0]
    assert (first.state, first.computed) == ("holds", 6)
    assert "significantly lower for 6 of 6 learners" in first.note
    with pytest.raises(SystemExit) as stopped:
        main(["cv-folds", "mania", "--full-size", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert stopped.value.code == 0
    assert asked["iterations"] == 500
    assert told["n_by_state"]["holds"] == 4
    assert told["seed"] == 0
    assert "seed 0" in told["text"]
    assert "Of 5 published numbers 3 are reproduced and 2 differ" in told["text"]
    assert "Of 7 findings 4 hold and 3 do not hold." in told["text"]


@pytest.mark.parametrize(
    ("items", "settings", "message"),
    [
        (["mania"], {"iterations": 10}, "iterations has no effect on items other than cv-"),
        (["mania"], {"cores": 2}, "cores has no effect"),
        (["cv-folds"], {"iterations": 5}, "at least 6 iterations"),
        (["cv-folds"], {"data": "nowhere"}, "nowhere: no such directory"),
    ],
)
def test_arguments(items: list[str], settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        reproduce(items, **settings)


def test_full_size_is_a_number_of_iterations(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["cv-folds", "--full-size", "--iterations", "20"])
    assert stopped.value.code == 2
    assert "--full-size is --iterations 500: give one of them" in capsys.readouterr().err


@pytest.mark.slow
def test_the_shared_tasks(data_directory: Path) -> None:
    found = {task.name: task for task in read_tasks(data_directory)}
    assert len(found) == 25
    assert found["segment-window"].test is not None
    assert found["vote"].rows.shape == (435, 16)
