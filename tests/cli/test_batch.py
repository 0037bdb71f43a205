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

pytestmark = pytest.mark.slow
BOARD = "name,score\na,0.9{0}\nb,0.8{0}\nc,0.7\n"


def changed(folder):
    return {path.stem: path.stat().st_mtime_ns for path in sorted(folder.glob("b*.nc"))}


def best_skills(folder):
    trees = {path.stem: bs.read_result(path) for path in sorted(folder.glob("b*.nc"))}
    return {name: float(tree["posterior"]["theta_sota"].mean()) for name, tree in trees.items()}


def test_each_file_has_its_own_result_and_a_bad_one_does_not_stop_the_others(tmp_path, capsys):
    bad, out, other = written(tmp_path, "x,z\nq,1\n", "bad.csv"), tmp_path / "o", tmp_path / "p"
    boards = [written(tmp_path, BOARD.format(i), f"b{i}.csv") for i in (1, 2)]
    given = ("batch", bad, *boards, "--n-test", 100, "--output-dir", out, "--json")
    code, printed, error = run(capsys, *given, "--save", tmp_path / "table.csv")
    found = json.loads(printed)
    assert (code, found["n_boards"], found["n_failed"]) == (1, 3, 1)
    assert ("bad: rows may be entries or units" in error, "trusted" in error) == (True, False)
    assert best_skills(out) == {row["board"]: row["theta_sota"] for row in found["boards"][1:]}
    table = pd.read_csv(tmp_path / "table.csv")
    assert table["board"].tolist() == ["bad", "b1", "b2"]
    assert table["observed_maximum"].tolist()[1:] == [0.91, 0.92]
    before = changed(out)
    (out / "b2.nc").write_text("damaged")
    again = json.loads(run(capsys, *given)[1])
    assert again["boards"] == found["boards"]
    assert changed(out)["b1"] == before["b1"]
    more = [written(tmp_path, BOARD.format(3), "b3.csv"), *boards[::-1]]
    rest = ("--n-test", 100, "--output-dir", other, "--cores", 2)
    rows = run_json(capsys, "batch", *more, *rest)["boards"]
    assert best_skills(other).items() > best_skills(out).items()
    assert len({row["seed"] for row in rows}) == 3
    seed = found["boards"][1]["seed"]
    alone = run_json(capsys, "sota", boards[0], "--n-test", 100, "--seed", seed)
    assert alone["theta_sota"]["mean"] == best_skills(other)["b1"]
    written(tmp_path, BOARD.format(5), "b1.csv")
    before = changed(other)
    edited = run_json(capsys, "batch", *more, *rest)
    after = changed(other)
    assert [name for name in before if after[name] == before[name]] == ["b2", "b3"]
    assert edited["boards"][2]["observed_maximum"] == 0.95
    run_json(capsys, "batch", *more, *rest, "--domain", "tabular")
    assert not changed(other).items() & after.items()
    code, _, error = run(capsys, "batch", bad, bad, "--n-test", 9, "--output-dir", tmp_path / "q")
    assert (code, "'bad' occurs more than once" in error) == (2, True)
    assert not (tmp_path / "q").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, "error: interrupted"), (signal.SIGKILL, -signal.SIGKILL, "")],
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
    assert (process.returncode, error.strip()) == (code, said)
    assert 2 <= len(best_skills(out)) < 20  # each can be read


def test_many_boards_in_python_are_those_of_one_by_one_and_of_a_dask_cluster():
    from distributed import Client, LocalCluster

    boards = [bs.Leaderboard([0.9, 0.8, 0.7], n_test=n) for n in range(100, 500, 100)]
    here = bs.estimate_many(boards, random_seed=3, draws=50)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        there = bs.estimate_many(boards, random_seed=3, draws=50)
    seeds = [int(tree.attrs["random_seed"]) for tree in here]
    assert len(set(seeds)) == 4
    for board, one, other, seed in zip(boards, here, there, seeds, strict=True):
        alone = bs.estimate_sota(board, random_seed=seed, draws=50)
        assert alone["posterior"].equals(one["posterior"])
        assert one["posterior"].equals(other["posterior"])
