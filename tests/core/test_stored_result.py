"""Results come back from files as they were; damaged files are an ``InputError``."""

from functools import partial

import numpy as np
import pytest
import xarray as xr
from data.files import refused
from schema_names import ATTRIBUTES, DIMENSIONS, GROUPS, VARIABLES

import bayes_sota as bs
from bayes_sota.core import schema


def result():
    skill = xr.Dataset({"skill": (("chain", "draw", "team"), np.ones((2, 5, 2)))})
    draws = skill.assign_coords(team=["a", "b"])
    tree = xr.DataTree.from_dict({"posterior": draws, "observed_data": xr.Dataset({"n": 3})})
    tree.attrs.update(method="exact", random_seed=1)
    return tree


@pytest.mark.parametrize("content", [None, b"", b"a,b\n1,2\n", b"\x89HDF\r\n\x1a\n" + bytes(100)])
def test_what_is_no_result_at_all(tmp_path, content):
    message = "is damaged, or no result"
    if content is None:
        message = "there is no such file"
    else:
        (tmp_path / "x.nc").write_bytes(content)
    refused(message, bs.read_result, tmp_path / "x.nc")


def test_packed_results_are_read_and_those_of_another_version_refused(tmp_path):
    tree = bs.read_result(bs.save_result(result(), tmp_path / "x.nc"))
    packed = {"/posterior": {"skill": {"zlib": True, "chunksizes": (2, 5, 2)}}}
    tree.to_netcdf(tmp_path / "y.nc", encoding=packed, engine="h5netcdf")
    xr.testing.assert_identical(bs.read_result(tmp_path / "y.nc"), tree)
    tree.attrs["schema_version"] = "1"
    old = bs.save_result(tree, tmp_path / "old.nc")
    refused(r"old\.nc: has the schema .1..* estimate it again", bs.read_result, old)


def test_names_in_results_are_public():
    """A change here is a change for every reader of saved files."""
    names = [*GROUPS, *DIMENSIONS, *VARIABLES, *ATTRIBUTES]
    assert (schema.SCHEMA_VERSION, len(names)) == ("2", len(set(names)))
    assert all(name.isidentifier() for name in names)


@pytest.mark.parametrize("part", [lambda tree: tree["posterior"], lambda tree: tree.to_dataset()])
@pytest.mark.parametrize(
    "read", [bs.summarize, bs.diagnose, bs.plot_sota, partial(bs.save_result, path="x.nc")]
)
def test_a_group_alone_is_no_result(read, part):
    refused(r"got a Data.* without groups; give the whole tree", read, part(result()))


@pytest.mark.parametrize("read", [bs.diagnose, bs.plot_sota])
def test_a_trace_is_completed_first(read):
    trace = xr.DataTree.from_dict({"posterior": xr.Dataset({"location": 0.5})})
    refused("complete a trace first", read, trace)


@pytest.mark.parametrize(
    "show", [bs.leaderboard.plot_entries, partial(bs.save_report, path="x.html")]
)
def test_what_takes_a_report_says_what_makes_one(show):
    refused(r"got DataTree; bs.board_table\(board\).* makes one", show, result())


def test_a_stored_group_is_no_result(tmp_path):
    result()["posterior"].to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
    refused(r"x\.nc: .* give the whole tree", bs.read_result, tmp_path / "x.nc")
