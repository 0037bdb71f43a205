"""Files appear whole or not at all, whatever their name and wherever they lead."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import check_not_kept, locked_folder, remove_drafts, write_text


@pytest.mark.parametrize(
    "name", ["x.txt", "x" * 251 + ".txt", "ä" * 120 + ".csv", "a." + "x" * 200]
)
def test_names_of_any_length(tmp_path: Path, name: str) -> None:
    write_text("done", tmp_path / name)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(name, "done")]


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "no/where.txt", "."])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_text("done", f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("old", [None, "old"])
def test_a_link_is_followed_and_stays(tmp_path: Path, old: str | None) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "x.txt", tmp_path / "link.txt"
    if old is not None:
        target.write_text(old)
    link.symlink_to(target)
    write_text("done", link)
    assert link.is_symlink()
    assert target.read_text() == "done"
    assert list(target.parent.iterdir()) == [target]


_FULL = """
import resource, sys
import xarray as xr
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import save_result
tree = xr.DataTree.from_dict({"posterior": xr.Dataset({"a": ("draw", [0.0] * 10_000)})})
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    save_result(tree, sys.argv[1])
except InputError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes are POSIX")
def test_a_result_on_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "x.nc"
    path.write_text("old")
    run = subprocess.run(
        [sys.executable, "-c", _FULL, path], capture_output=True, text=True, timeout=120
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == f"cannot write {path}: File too large\n"
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("x.nc", "old")]


def test_content_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: Any) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def flushed(number: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file")
        fsync(number)

    def renamed(source: Any, target: Any) -> None:
        done.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "replace", renamed)
    write_text("done", tmp_path / "x.txt")
    assert done == ["file", "name", "folder"]


_HOLDS = """
import sys, time
from pathlib import Path
from bayes_sota.core.files import locked_folder, whole_file
with locked_folder(Path(sys.argv[1])), whole_file(Path(sys.argv[1]) / "x.txt") as draft:
    draft.write_text("half")
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_killed_run_leaves_its_folder_free(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", _HOLDS, folder], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match="another run is writing to"), locked_folder(folder):
            pass
        holder.send_signal(signal.SIGKILL)
    with locked_folder(folder):
        assert {path.name[:12] for path in folder.iterdir()} == {".lock", ".bayes-sota-"}
        remove_drafts(folder)
        assert [path.name for path in folder.iterdir()] == [".lock"]
    with locked_folder(folder):  # and one that ended
        pass


@pytest.mark.parametrize(
    ("mark", "name", "kept"),
    [
        ("batch.json", "batch.json", True),
        ("batch.json", "BATCH.JSON", True),
        ("batch.json", "summaries.csv", True),
        ("batch.json", "boards/x.nc", True),
        ("batch.json", "mine.csv", False),
        ("batch.json", "figures/x.png", False),
        ("thesis.tex", "batch.json", False),
    ],
)
def test_what_a_run_keeps_is_not_written_over(
    tmp_path: Path, mark: str, name: str, kept: bool
) -> None:
    (tmp_path / mark).touch()
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (tmp_path / name, tmp_path / "link" / name):
        if kept:
            with pytest.raises(InputError, match="is one of the results of a run, which"):
                check_not_kept(path)
        else:
            check_not_kept(path)
