"""Files appear whole or not at all, whatever their name and wherever they lead."""

import errno
import os
import subprocess
import sys

import pytest
import xarray as xr
from data.files import refused

import bayes_sota as bs
from bayes_sota.core.files import write_text
from bayes_sota.core.plots import save_figure


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "no/where.txt", "."])
def test_names_that_no_file_can_have(tmp_path, name):
    refused("cannot write", write_text, "done", f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("old", [None, "old"])
def test_a_link_is_followed_and_stays(tmp_path, old):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "x.txt", tmp_path / "link.txt"
    if old is not None:
        target.write_text(old)
    link.symlink_to(target)
    write_text("done", link)
    assert link.is_symlink()
    assert [(p.name, p.read_text()) for p in target.parent.iterdir()] == [("x.txt", "done")]


def figure():
    return bs.maximum.plot_maximum_law(bs.maximum_law(n_test=100, n_classifiers=10, skill=0.9))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("x.txt", lambda path: write_text("new", path)),
        ("x.nc", lambda path: bs.save_result(xr.DataTree.from_dict({"a": xr.Dataset()}), path)),
        ("x.png", lambda path: save_figure(figure(), path)),
    ],
)
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, name, write):
    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    target = tmp_path / name
    target.write_text("old")
    refused(rf"cannot write .*{name}: No space left on device", write, target)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(name, "old")]


_FULL = """
import resource, sys
import xarray as xr
from bayes_sota.core.sample import save_result
tree = xr.DataTree.from_dict({"posterior": xr.Dataset({"a": ("draw", [0.0] * 10_000)})})
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
save_result(tree, sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes are POSIX")
def test_hdf5_does_not_crash_on_a_full_disk(tmp_path):
    path = tmp_path / "x.nc"
    run = subprocess.run([sys.executable, "-c", _FULL, path], capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.endswith(f"cannot write {path}: File too large\n")
    assert list(tmp_path.iterdir()) == []


def test_content_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda number: (done.append("content"), fsync(number)))
    monkeypatch.setattr(os, "replace", lambda *names: (done.append("name"), replace(*names)))
    write_text("done", tmp_path / "x.txt")
    assert done == ["content", "name"]
