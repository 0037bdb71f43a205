"""Many boards: the same result whatever runs them, and whole files whenever the run ends."""

import json
import os
import signal
import subprocess
import sys
import time

import joblib
import pandas as pd
import pytest
from data.files import run, run_json, written

import bayes_sota as bs

BOARD = "name,score\na,0.9{0}\nb,0.8{0}\nc,0.7\n"


@pytest.fixture
def boards(tmp_path):
    return [written(tmp_path, BOARD.format(i), f"b{i}.csv") for i in (1, 2)]


def best_skills(folder):
    trees = {path.stem: bs.read_result(path) for path in sorted(folder.glob("b*.nc"))}
    return {name: float(tree["posterior"]["theta_sota"].mean()) for name, tree in trees.items()}


@pytest.mark.slow
def test_each_file_has_a_result_and_a_bad_one_does_not_stop_the_others(boards, tmp_path, capsys):
    bad, out = written(tmp_path, "x,y\nq,r\n", "bad.csv"), tmp_path / "out"
    given = ("batch", bad, *boards, "--n-test", 100, "--output-dir", out, "--json")
    code, printed, error = run(capsys, *given, "--save", tmp_path / "table.csv")
    found = json.loads(printed)
    assert (code, found["n_boards"], found["n_failed"]) == (1, 3, 1)
    assert "bad: rows may be entries or units" in error
    assert best_skills(out) == {row["board"]: row["theta_sota"] for row in found["boards"][1:]}
    table = pd.read_csv(tmp_path / "table.csv")
    assert table["board"].tolist() == ["bad", "b1", "b2"]
    assert table["observed_maximum"].tolist()[1:] == [0.91, 0.92]
    before = (out / "b1.nc").stat().st_mtime_ns
    (out / "b2.nc").write_bytes((out / "b2.nc").read_bytes()[:-100])
    again = json.loads(run(capsys, *given)[1])
    assert again["notes"] == ["left alone, as there was a result: b1"]
    best = [[row["theta_sota"] for row in rows["boards"]] for rows in (found, again)]
    assert best[0] == best[1]
    assert (out / "b1.nc").stat().st_mtime_ns == before


@pytest.mark.slow
def test_neither_order_nor_other_files_nor_processes_change_a_result(boards, tmp_path, capsys):
    more = [written(tmp_path, BOARD.format(3), "b3.csv"), *boards[::-1]]
    first, second = tmp_path / "first", tmp_path / "second"
    base = ("batch", "--n-test", 100, "--output-dir")
    found = run_json(capsys, *base, first, *boards)
    rows = run_json(capsys, *base, second, *more, "--cores", 2)["boards"]
    assert best_skills(second).items() > best_skills(first).items()
    assert len({row["seed"] for row in rows}) == 3
    seed = found["boards"][0]["seed"]
    alone = run_json(capsys, "sota", boards[0], "--n-test", 100, "--seed", seed)
    assert alone["theta_sota"]["mean"] == best_skills(second)["b1"]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("x/a.csv", "two FILES are called a, and so would be their results"),
        ("none.csv", "none.csv: there is no such file"),
    ],
)
def test_files_that_are_refused(other, message, tmp_path, capsys):
    for name in ("a.csv", "x/a.csv"):
        written(tmp_path, BOARD, name)
    given = (tmp_path / "a.csv", tmp_path / other, "--n-test", 100, "--output-dir", tmp_path / "o")
    code, _, error = run(capsys, "batch", *given)
    assert (code, message in error, (tmp_path / "o").exists()) == (2, True, False)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, "error: interrupted\n"), (signal.SIGKILL, -signal.SIGKILL, "")],
)
def test_a_run_that_is_ended_leaves_only_whole_files(number, code, said, tmp_path):
    paths = [written(tmp_path, BOARD.format(i % 10), f"b{i}.csv") for i in range(20)]
    command = [sys.executable, "-m", "bayes_sota", "batch", *paths, "--n-test", "100"]
    out = tmp_path / "out"
    process = subprocess.Popen(
        [*command, "--output-dir", out], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while len(list(out.glob("b*.nc"))) < 2 and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, number)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (code, said)
    assert 2 <= len(best_skills(out)) < 20  # each can be read


@pytest.mark.slow
def test_many_boards_in_python_are_those_of_one_by_one_and_of_a_dask_cluster():
    from distributed import Client, LocalCluster

    boards = [bs.Leaderboard([0.9, 0.8, 0.7], n_test=n) for n in range(100, 500, 100)]
    here = bs.estimate_many(boards, random_seed=3, draws=50)
    assert len({tree.attrs["random_seed"] for tree in here}) == 4
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        there = bs.estimate_many(boards, random_seed=3, draws=50)
    for board, one, other in zip(boards, here, there, strict=True):
        seed = int(one.attrs["random_seed"])
        alone = bs.estimate_sota(board, random_seed=seed, draws=50)
        assert alone["posterior"].sizes["draw"] == 50
        assert alone["posterior"].equals(one["posterior"])
        assert one["posterior"].equals(other["posterior"])
