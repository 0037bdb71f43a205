"""Many boards: the same result whatever runs them, and whole files whenever the run ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import pytest
from data.files import run, run_json, written

import bayes_sota as bs

BOARD = "name,score\na,0.9{0}\nb,0.8{0}\nc,0.7\n"


@pytest.fixture
def boards(tmp_path: Path) -> list[Path]:
    return [written(tmp_path, BOARD.format(i), f"b{i}.csv") for i in (1, 2)]


def best_skills(folder: Path) -> dict[str, float]:
    trees = {path.stem: bs.read_result(path) for path in sorted(folder.glob("b*.nc"))}
    return {name: float(tree["posterior"]["theta_sota"].mean()) for name, tree in trees.items()}


@pytest.mark.slow
def test_each_file_has_a_result_and_a_bad_one_does_not_stop_the_others(
    boards: list[Path], tmp_path: Path, capsys: Any
) -> None:
    bad, out = written(tmp_path, "x,y\nq,r\n", "bad.csv"), tmp_path / "out"
    given = ("batch", bad, *boards, "--n-test", 100, "--output-dir", out)
    code, printed, error = run(capsys, *given, "--json", "--save", tmp_path / "table.csv")
    found = json.loads(printed)
    assert (code, found["n_boards"], found["n_failed"]) == (1, 3, 1)
    assert "bad: rows may be entries or units" in error
    assert best_skills(out) == {row["board"]: row["theta_sota"] for row in found["boards"][1:]}
    table = pd.read_csv(tmp_path / "table.csv")
    assert table["board"].tolist() == ["bad", "b1", "b2"]
    assert table["observed_maximum"].tolist()[1:] == [0.91, 0.92]
    times = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    (out / "b2.nc").write_bytes((out / "b2.nc").read_bytes()[:-100])
    code, printed, _ = run(capsys, *given, "--json")
    again = json.loads(printed)
    assert again["notes"] == ["1 result in the folder was left alone: b1"]
    assert [row["theta_sota"] for row in again["boards"]] == [
        row["theta_sota"] for row in found["boards"]
    ]
    assert (out / "b1.nc").stat().st_mtime_ns == times[out / "b1.nc"]


@pytest.mark.slow
def test_neither_order_nor_other_files_nor_processes_change_a_result(
    boards: list[Path], tmp_path: Path, capsys: Any
) -> None:
    first = run_json(capsys, "batch", *boards, "--n-test", 100, "--output-dir", tmp_path / "first")
    second = run_json(
        capsys, "batch", *boards[::-1], written(tmp_path, BOARD.format(3), "b3.csv"),
        "--n-test", 100, "--output-dir", tmp_path / "second", "--cores", 2,
    )  # fmt: skip
    skills = best_skills(tmp_path / "second")
    assert skills.items() > best_skills(tmp_path / "first").items()
    assert len({row["seed"] for row in second["boards"]}) == 3
    seed = first["boards"][0]["seed"]
    alone = run_json(capsys, "sota", boards[0], "--n-test", 100, "--seed", seed)
    assert alone["theta_sota"]["mean"] == skills["b1"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a.csv", "x/a.csv"), "two FILES are called a, and so would be their results"),
        (("a.csv", "none.csv"), "none.csv: there is no such file"),
    ],
)
def test_files_that_are_refused(names, message, tmp_path: Path, capsys: Any) -> None:
    for name in ("a.csv", "x/a.csv"):
        written(tmp_path, BOARD, name)
    paths = [tmp_path / name for name in names]
    code, _, error = run(capsys, "batch", *paths, "--n-test", 100, "--output-dir", tmp_path / "o")
    assert (code, message in error) == (2, True)
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_only_whole_files(number: int, tmp_path: Path) -> None:
    paths = [written(tmp_path, BOARD.format(i % 10), f"b{i}.csv") for i in range(20)]
    out = tmp_path / "out"
    command = [sys.executable, "-m", "bayes_sota", "batch", *paths, "--n-test", "100"]
    process = subprocess.Popen(
        [*command, "--output-dir", out], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while len(list(out.glob("b*.nc"))) < 2 and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert error == ("error: interrupted\n" if number == signal.SIGINT else "")
    assert 2 <= len(best_skills(out)) < 20  # each can be read


@pytest.mark.slow
def test_many_boards_in_python_are_those_of_one_by_one() -> None:
    boards = [bs.Leaderboard([0.9, 0.8, 0.7], n_test=n) for n in (100, 300)]
    trees = bs.estimate_many(boards, random_seed=3, draws=50)
    assert [tree["posterior"].sizes["draw"] for tree in trees] == [50, 50]
    for board, tree in zip(boards, trees, strict=True):
        seed = int(tree.attrs["random_seed"])
        alone = bs.estimate_sota(board, random_seed=seed, draws=50)
        assert alone["posterior"].equals(tree["posterior"])
    assert trees[0].attrs["random_seed"] != trees[1].attrs["random_seed"]


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same() -> None:
    from distributed import Client, LocalCluster

    boards = [bs.Leaderboard([0.9, 0.8, 0.7], n_test=n) for n in range(100, 500, 100)]
    here = bs.estimate_many(boards, draws=50)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        there = bs.estimate_many(boards, draws=50)
    for one, other in zip(here, there, strict=True):
        assert one["posterior"].equals(other["posterior"])
