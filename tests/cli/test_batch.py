"""Many boards: the same table whatever runs them, and however often the run is killed."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from data.files import run

import bayes_sota as bs
from bayes_sota.cli.batch import _Board, _flat, _read_run
from bayes_sota.cli.manifest import read_manifest
from bayes_sota.core.errors import InputError
from bayes_sota.core.files import locked_folder
from bayes_sota.core.sample import CHECKING

HEADER = "identifier,file,n_test,maximum,classifiers,draws,chains,method,n_classes,prob,percent"
ROWS = (
    "alone,,200,0.98,50,50,2,,,,",
    "percent,percent.csv,200,,,50,2,,,,true",
    "whole,board.csv,infer,,,50,2,,,0.5,no",
    "shrunk,board.csv,200,,,,,shrink,2,,",
    "missing,nowhere.csv,200,,,50,2,,,,",
    "unused,,200,0.98,50,50,2,exact,4,,",
    "wrong-choice,,200,0.98,50,50,2,magic,,,",
)
SCORES = (180, 176, 170, 168, 163, 161, 160, 155, 150, 149)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    rows = "".join(f"t{i},{score / 200}\n" for i, score in enumerate(SCORES))
    (tmp_path / "board.csv").write_text("name,score\n" + rows)
    rows = "".join(f"t{i},{score / 2}\n" for i, score in enumerate(SCORES))
    (tmp_path / "percent.csv").write_text("name,score\n" + rows)
    return written(tmp_path, *ROWS)


def written(folder: Path, *rows: str, header: str = HEADER) -> Path:
    path = folder / "manifest.csv"
    path.write_text("\n".join((header, *rows)) + "\n")
    return path


def maxima(folder: Path, n: int) -> Path:
    rows = (f"board-{i},,200,{0.9 + i % 20 / 200},{40 + i},50,2,,,," for i in range(n))
    return written(folder, *rows)


def tables(folder: Path) -> list[bytes]:
    return [(folder / f"summaries.{ending}").read_bytes() for ending in ("csv", "parquet")]


@pytest.mark.slow
def test_rows_say_what_the_command_says(manifest: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    code, printed, error = run(
        capsys, "batch", manifest, "--output-dir", out, "--seed", 1, "--json"
    )
    found = json.loads(printed)
    assert (code, found["n_boards"], found["n_failed"]) == (1, 7, 3)
    assert "3 of 7 boards failed: missing: " in error
    by_name = {row["identifier"]: row for row in found["boards"]}
    assert list(by_name) == [row.split(",")[0] for row in ROWS]
    assert "there is no such file" in by_name["missing"]["problem"]
    assert "--n-classes has no effect" in by_name["unused"]["problem"]
    assert "'magic' is not one of" in by_name["wrong-choice"]["problem"]
    same = ("theta_sota_mean", "winner_skill_mean", "n_test", "observed_maximum")
    whole, percent = by_name["whole"], by_name["percent"]
    assert whole["observed_maximum"] == percent["observed_maximum"]
    assert whole["theta_sota_mean"] != percent["theta_sota_mean"]  # the seeds differ
    frame = pd.read_csv(out / "summaries.csv")
    assert frame["identifier"].tolist() == list(by_name)
    for name in ("alone", "percent", "whole"):
        tree = bs.read_result(out / "boards" / f"{name}.nc")
        mean = float(tree["posterior"]["theta_sota"].mean())
        assert by_name[name]["theta_sota_mean"] == pytest.approx(mean, rel=1e-12)
        row = frame.set_index("identifier").loc[name]
        assert all(row[key] == by_name[name][key] for key in same)
    shrunk = bs.read_result(out / "boards" / "shrunk.nc")["point_estimate"]
    assert by_name["shrunk"]["theta_sota_estimate"] == float(shrunk["theta_sota"])


@pytest.mark.slow
def test_averages_over_tasks_are_rows(tmp_path: Path) -> None:
    (tmp_path / "exam.csv").write_text("model,law,art\na,0.9,0.5\nb,0.8,0.6\n")
    rows = pd.DataFrame({"identifier": ["exam", "none"], "file": str(tmp_path / "exam.csv"),
                         "task_columns": ["law,art", "law,arts"], "n_test": 100})  # fmt: skip
    found = bs.estimate_many(rows, tmp_path / "out").frame.set_index("identifier")
    assert found.loc["exam", ["observed_maximum", "n_classifiers"]].tolist() == [0.7, 2]
    assert "there is no column 'arts' (--task-columns)" in found.loc["none", "problem"]


@pytest.mark.slow
def test_the_written_seed_repeats_a_row_where_another_row_failed(
    manifest: Path, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "out"
    found = json.loads(
        run(capsys, "batch", manifest, "--output-dir", out, "--seed", 1, "--json")[1]
    )
    wanted = {row["identifier"]: row.get("seed") for row in found["boards"]}
    text = pd.read_csv(out / "summaries.csv", dtype=str, keep_default_na=False)
    whole = pd.read_parquet(out / "summaries.parquet").astype({"seed": "string"})
    for frame in (text, whole):
        seeds = dict(zip(frame["identifier"], frame["seed"].fillna(""), strict=True))
        known = {name: int(seed) for name, seed in seeds.items() if seed}
        assert known == {name: seed for name, seed in wanted.items() if seed is not None}
        assert len(known) == 3 < len(seeds)
        assert max(known.values()) > 2**53
    cells = text.set_index("identifier").loc["whole"]
    again = f"sota {tmp_path / 'board.csv'} --n-test infer --draws 50 --chains 2 --prob 0.5"
    words = (*again.split(), "--seed", cells["seed"], "--no-sensitivity", "--json")
    repeated = dict(_flat(json.loads(run(capsys, *words)[1])))
    same = [name for name, value in repeated.items() if isinstance(value, float)]
    assert len(same) > 20
    assert [float(cells[name]) for name in same] == [repeated[name] for name in same]


@pytest.mark.slow
def test_what_a_person_reads_begins_with_the_answer(tmp_path: Path, capsys: Any) -> None:
    path, out = maxima(tmp_path, 2), tmp_path / "out"
    code, printed, _ = run(capsys, "batch", path, "--output-dir", out, "--seed", 1, "--top", 1)
    assert code == 0
    assert printed.startswith("Of 2 boards 0 failed. In ")
    assert "1 more with --top" in printed
    frame = pd.read_csv(out / "summaries.csv")
    over = int((frame["observed_maximum"] > frame["theta_sota_mean"]).sum())
    assert f"In {over} of the 2 with a result" in printed


@pytest.mark.slow
def test_order_and_other_rows_change_nothing(tmp_path: Path) -> None:
    path = maxima(tmp_path, 3)
    first = bs.estimate_many(path, tmp_path / "first", random_seed=3)
    header, *rows = path.read_text().split()
    other = written(tmp_path, *rows[:0:-1], header=header)
    second = bs.estimate_many(other, tmp_path / "second", random_seed=3)
    kept = first.frame.set_index("identifier").loc[second.frame["identifier"]].reset_index()
    pd.testing.assert_frame_equal(kept, second.frame)
    third = bs.estimate_many(other, tmp_path / "third", random_seed=4)
    assert not (third.frame["theta_sota_mean"] == second.frame["theta_sota_mean"]).any()


@pytest.mark.slow
def test_a_run_that_ended_goes_on(manifest: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    bs.estimate_many(manifest, out, random_seed=1)
    before, board = tables(out), out / "boards"
    times = {path.name: path.stat().st_mtime_ns for path in board.iterdir()}
    (board / "alone.json").write_text('{"run": "another"}')
    (board / "percent.nc").unlink()
    bs.estimate_many(manifest, out, resume=True)
    assert tables(out) == before
    after = {path.name: path.stat().st_mtime_ns for path in board.iterdir()}
    changed = {name for name in times if times[name] != after[name]}
    assert changed == {"alone.json", "alone.nc", "percent.json", "percent.nc"}
    (tmp_path / "board.csv").write_text("name,score\na,0.9\nb,0.8\nc,0.85\n")
    found = bs.estimate_many(manifest, out, resume=True).frame.set_index("identifier")
    assert found.loc["shrunk", "observed_maximum"] == 0.9
    assert tables(out) != before


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        ((), HEADER, "no rows"),
        (("a,1",), "identifier,colour", "the column 'colour' is unknown"),
        (("a,x.nc",), "identifier,output", "the column 'output' is unknown"),
        (("a,x.png",), "identifier,figure", "the column 'figure' is unknown"),
        (("a,x.html",), "identifier,report", "the column 'report' is unknown"),
        (("a,x",), "file,n_test", "the column identifier is missing"),
        (("a,1", "A,2"), "identifier,n_test", "line 3: the identifier 'A' is that of line 2"),
        ((",1",), "identifier,n_test", "the identifier '' is no name for a file"),
        (("../x,1",), "identifier,n_test", "no name for a file"),
        (("a/b,1",), "identifier,n_test", "no name for a file"),
        (("nul.x,1",), "identifier,n_test", "no name for a file"),
        (("x.,1",), "identifier,n_test", "no name for a file"),
        ((f"{'x' * 10_000},1",), "identifier,n_test", "xxx...' is no name for a file"),
    ],
)
def test_manifests_that_are_refused(
    rows: tuple[str, ...], header: str, message: str, tmp_path: Path
) -> None:
    path, out = written(tmp_path, *rows, header=header), tmp_path / "out"
    with pytest.raises(InputError, match=message) as caught:
        bs.estimate_many(path, out)
    assert len(str(caught.value)) < 500
    assert not out.exists()


def test_folders_that_are_refused(tmp_path: Path, capsys: Any) -> None:
    path, out = maxima(tmp_path, 1), tmp_path / "out"
    bs.estimate_many(path, out, random_seed=1)
    code, _, error = run(capsys, "batch", path, "--output-dir", out)
    assert code == 2
    assert "has results already: --resume goes on with them" in error
    with pytest.raises(InputError, match=r"of another run: its seed \(1 there\) is not the same"):
        bs.estimate_many(path, out, resume=True, random_seed=2)
    with pytest.raises(InputError, match="of another run: its manifest is not the same"):
        bs.estimate_many(maxima(tmp_path, 2), out, resume=True)
    (out / "batch.json").write_text("{")
    with pytest.raises(InputError, match=r"batch\.json is damaged"):
        bs.estimate_many(path, out, resume=True)
    with pytest.raises(InputError, match="has other files: name a new folder"):
        bs.estimate_many(path, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"manifest.csv", "out"}
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "batch.json").write_text('{"entries": []}')
    with pytest.raises(InputError, match=r"batch\.json is damaged"):
        bs.estimate_many(path, mine)
    assert (mine / "batch.json").read_text() == '{"entries": []}'
    code, _, error = run(capsys, "batch", path, "--output-dir", path)
    assert (code, "is not a directory" in error) == (2, True)


@pytest.mark.slow
def test_a_full_disk_ends_the_run_in_one_line(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def full(source: Any, target: Any) -> None:
        if str(target).endswith(".nc"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    path, out = maxima(tmp_path, 2), tmp_path / "out"
    code, printed, error = run(capsys, "batch", path, "--output-dir", out)
    assert (code, printed, error.count("\n")) == (2, "", 1)
    assert "board-0.nc: No space left on device" in error
    assert list((out / "boards").iterdir()) == []
    monkeypatch.undo()
    assert run(capsys, "batch", path, "--output-dir", out, "--quiet")[0] == 0


@pytest.mark.slow
def test_a_cluster_that_does_not_answer_is_said_soon(tmp_path: Path, capsys: Any) -> None:
    path, start = maxima(tmp_path, 1), time.monotonic()
    given = (path, "--output-dir", tmp_path / "out", "--dask", "tcp://127.0.0.1:9")
    code, _, error = run(capsys, "batch", *given)
    assert (code, "no Dask scheduler answers" in error) == (2, True)
    assert time.monotonic() - start < 10


@pytest.mark.slow
def test_results_have_the_groups_of_checks_where_these_are_wanted(tmp_path: Path) -> None:
    path = maxima(tmp_path, 1)
    some, every = (
        bs.estimate_many(path, tmp_path / groups, groups=groups, random_seed=5)
        for groups in ("estimands", "all")
    )
    assert some.to_csv() == every.to_csv()
    found = [
        set(bs.read_result(tmp_path / groups / "boards" / "board-0.nc").children)
        for groups in ("estimands", "all")
    ]
    assert found[1] - found[0] == set(CHECKING)
    with pytest.raises(InputError, match="groups must be one of"):
        bs.estimate_many(path, tmp_path / "none", groups="some")  # type: ignore[arg-type]


def test_frames_are_manifests(tmp_path: Path) -> None:
    frame = pd.DataFrame({
        "identifier": ["a", "b"], "maximum": ["0.980", 98.0], "n_test": [200, None],
        "percent": [None, True],
    })  # fmt: skip
    first, second = read_manifest(frame)
    assert first.arguments == ("--maximum=0.980", "--n-test=200")
    assert second.arguments == ("--maximum=98.0", "--percent")
    unset = read_manifest(pd.DataFrame({"identifier": ["a"], "percent": ["perhaps"]}))[0]
    assert unset.problem == "percent is true or false, got 'perhaps'"


def test_a_seed_in_a_column_with_gaps_is_that_seed_or_is_refused(tmp_path: Path) -> None:
    seeds, rows = [6449118028543719035, None], {"identifier": ["a", "b"]}
    whole = pd.DataFrame({**rows, "seed": pd.array(seeds)})
    whole.to_parquet(tmp_path / "manifest.parquet")
    for source in (whole, tmp_path / "manifest.parquet", pl.DataFrame({**rows, "seed": seeds})):
        first, second = read_manifest(source)
        assert first.arguments == ("--seed=6449118028543719035",)
        assert second.arguments == ()
    with pytest.raises(InputError, match=r"row 1: seed is 6\.44912e\+18, a float, which holds"):
        read_manifest(pd.DataFrame({**rows, "seed": seeds}))  # pandas has made a float of it


def test_a_folder_belongs_to_one_run_at_a_time(tmp_path: Path, capsys: Any) -> None:
    path, out = maxima(tmp_path, 1), tmp_path / "out"
    with locked_folder(out):
        code, printed, error = run(capsys, "batch", path, "--output-dir", out)
    assert (code, printed, error.count("\n")) == (2, "", 1)
    assert error.startswith(f"error: another run is writing to {out}: wait until it has ended")
    assert [path.name for path in out.iterdir()] == [".lock"]
    assert run(capsys, "batch", path, "--output-dir", out, "--quiet")[0] == 0


@pytest.mark.slow
def test_a_run_that_kept_nothing_yet_goes_on_with_its_seed(tmp_path: Path) -> None:
    path, out = maxima(tmp_path, 1), tmp_path / "out"
    first = bs.estimate_many(path, out, random_seed=5)
    for board in (out / "boards").iterdir():
        board.unlink()
    assert bs.estimate_many(path, out, resume=True).frame.equals(first.frame)
    for board in (out / "boards").iterdir():
        board.unlink()
    assert not bs.estimate_many(path, out).frame.equals(first.frame)  # begun anew


def rewrite(path: Path, change: Any) -> None:
    path.write_bytes(change(path.read_bytes()))


DAMAGE = {
    "nothing": lambda boards: rewrite(boards / "board-0.nc", lambda _: b""),
    "cut": lambda boards: rewrite(boards / "board-0.nc", lambda x: x[:-100]),
    "flipped": lambda boards: rewrite(boards / "board-0.nc", lambda x: x[:-9] + b"?" + x[-8:]),
    "swapped": lambda boards: rewrite(
        boards / "board-0.nc", lambda _: (boards / "board-1.nc").read_bytes()
    ),
    "gone": lambda boards: (boards / "board-0.nc").unlink(),
    "no words": lambda boards: rewrite(boards / "board-0.json", lambda _: b""),
    "a list": lambda boards: rewrite(boards / "board-0.json", lambda _: b"[]"),
    "a number": lambda boards: rewrite(
        boards / "board-0.json", lambda x: x.replace(b'"n_test": 200', b'"n_test": 201')
    ),
    "of another board": lambda boards: [
        rewrite(boards / f"board-0{e}", lambda _, e=e: (boards / f"board-1{e}").read_bytes())
        for e in (".nc", ".json")
    ],
}


@pytest.fixture(scope="module")
def two_boards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    bs.estimate_many(maxima(folder, 2), folder / "out", random_seed=1)
    return folder


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_result_that_is_none_is_computed_again(
    damage: str, two_boards: Path, tmp_path: Path, capsys: Any
) -> None:
    out = shutil.copytree(two_boards / "out", tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (out / "boards").iterdir()}
    DAMAGE[damage](out / "boards")
    code, printed, _ = run(
        capsys, "batch", two_boards / "manifest.csv", "--output-dir", out, "--resume", "--json"
    )
    assert code == 0
    assert {path.name: path.read_bytes() for path in (out / "boards").iterdir()} == before
    assert tables(out) == tables(two_boards / "out")
    (note,) = json.loads(printed)["notes"]
    why = "input, or the groups" if damage == "of another board" else "files were damaged"
    assert note.startswith(f"1 board that had a result was computed again (board-0: its {why}")


def test_a_worker_that_outlives_its_run_writes_nothing(two_boards: Path, tmp_path: Path) -> None:
    out = shutil.copytree(two_boards / "out", tmp_path / "out")
    (row, _), other = read_manifest(two_boards / "manifest.csv"), _read_run(out / "batch.json")
    before = (out / "boards" / "board-0.json").read_bytes()
    work = _Board(row, replace(other, random_seed=2), out, "estimands")
    with pytest.raises(InputError, match="is of another run now"):
        work.finish()
    assert (out / "boards" / "board-0.json").read_bytes() == before


@pytest.mark.parametrize("written", ["--table", "--figure"])
def test_a_file_that_a_row_names_is_not_written_over(
    written: str, tmp_path: Path, capsys: Any
) -> None:
    source = tmp_path / ("b.csv" if written == "--table" else "b.png")
    source.write_text("name,score\na,0.9\nb,0.8\n")
    manifest = tmp_path / "manifest.csv"
    manifest.write_text(f"identifier,file,n_test\nx,{source.name},100\n")
    code, _, error = run(
        capsys, "batch", manifest, "--output-dir", tmp_path / "out", written, source
    )
    assert (code, f"{written} would overwrite the input" in error) == (2, True)
    assert source.read_text().startswith("name,score")
    assert not (tmp_path / "out").exists()


def kill_and_resume(folder: Path, path: Path, kills: int, seed: int) -> None:
    """Start the run in another process, kill it at a random moment, so often; then let it end."""
    code = "from bayes_sota.cli import main; main()"
    options = ["--resume", "--seed", "5", "--cores", "2", "--quiet"]
    command = [sys.executable, "-c", code, "batch", path, "--output-dir", folder, *options]
    drawn = random.Random(seed)
    for _ in range(kills):
        started = len(list(folder.glob("boards/*.json")))
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        wanted = started + drawn.randint(1, 3)
        while len(list(folder.glob("boards/*.json"))) < wanted and process.poll() is None:
            time.sleep(0.01)
        time.sleep(drawn.uniform(0, 0.1))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.slow
def test_a_run_killed_ten_times_gives_the_same_table(tmp_path: Path) -> None:
    path = maxima(tmp_path, 20)
    bs.estimate_many(path, tmp_path / "whole", random_seed=5)  # in this process alone
    kill_and_resume(tmp_path / "killed", path, 10, 1)
    assert tables(tmp_path / "killed") == tables(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the study forks")
def test_killed_and_concurrent_runs_lose_and_mix_nothing(repository: Path) -> None:
    script = repository / "tests" / "studies" / "killed_batches.py"
    done = subprocess.run(
        [sys.executable, script, "--runs", "10"], capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout)
    assert (found["problems"], done.returncode) == ([], 0)
    assert found["runs"] == 10


@pytest.mark.slow
def test_a_cluster_gives_the_same_table(tmp_path: Path) -> None:
    from distributed import LocalCluster

    path = maxima(tmp_path, 8)
    bs.estimate_many(path, tmp_path / "here", random_seed=5)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        bs.estimate_many(path, tmp_path / "there", dask=cluster.scheduler_address, random_seed=5)
    assert tables(tmp_path / "there") == tables(tmp_path / "here")


def test_names_of_winners_are_no_formulas(tmp_path: Path) -> None:
    (tmp_path / "board.csv").write_text("name,score\n=1+1,0.93\nb,0.9\nc,0.88\n")
    manifest = written(tmp_path, "x,board.csv,500", header="identifier,file,n_test")
    report = bs.estimate_many(manifest, tmp_path / "out", random_seed=1)
    assert report.frame["winner"].tolist() == ["=1+1"]
    assert "'=1+1" in (tmp_path / "out" / "summaries.csv").read_text()


@pytest.mark.slow
def test_the_figure_has_every_board_with_a_result(
    manifest: Path, monkeypatch: Any, capsys: Any
) -> None:
    kept: list[Any] = []
    monkeypatch.setattr("bayes_sota.core.plots.save_figure", lambda drawn, _: kept.append(drawn))
    folder = manifest.parent / "out"
    figure = ("--figure", manifest.parent / "figure.svg")
    given = (manifest, "--output-dir", folder, "--seed", "1", "--quiet", *figure)
    assert run(capsys, "batch", *given)[0] == 1
    axes = kept[0].viz["plot"]["skill"].item()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["alone", "percent", "whole"]
    assert axes.get_xlabel().endswith("mean and interval; line: score")  # one row has its own prob
    found = pd.read_csv(folder / "summaries.csv").set_index("identifier")
    for row, name in enumerate(("alone", "percent", "whole")):
        line = kept[0].viz[f"interval_{row}"]["skill"].item()
        ends = [f"theta_sota_interval_{end}" for end in ("lower", "upper")]
        assert list(line.get_xdata()) == pytest.approx(found.loc[name, ends].tolist())
