"""Files of results that are damaged are an ``InputError``."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core import schema
from bayes_sota.core.errors import InputError


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small result."""
    path = tmp_path_factory.mktemp("stored") / "result.nc"
    draws = xr.Dataset({"skill": (("chain", "draw", "team"), np.ones((2, 5, 2)))})
    draws = draws.assign_coords(team=["a", "b"])
    tree = xr.DataTree.from_dict({"posterior": draws, "observed_data": xr.Dataset({"n": 3})})
    tree.attrs.update(method="exact", random_seed=1)
    bs.save_result(tree, path)
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        (b"", "is damaged, or no result"),
        (b"a,b\n1,2\n", "is damaged, or no result"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "is damaged, or no result"),
    ],
)
def test_what_is_no_result_at_all(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "x.nc"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        bs.read_result(path)


def test_packed_results_are_read(stored: Path, tmp_path: Path) -> None:
    tree = bs.read_result(stored)
    packed = {"skill": {"zlib": True, "chunksizes": (2, 5, 2)}}
    tree.to_netcdf(tmp_path / "x.nc", encoding={"/posterior": packed}, engine="h5netcdf")
    xr.testing.assert_identical(bs.read_result(tmp_path / "x.nc"), tree)


def test_a_result_of_another_version_is_refused_in_one_line(stored: Path, tmp_path: Path) -> None:
    tree = bs.read_result(stored)
    tree.attrs["schema_version"] = "1"
    old = bs.save_result(tree, tmp_path / "old.nc")
    with pytest.raises(InputError, match=r"old\.nc is no result .* schema is '1'.* estimate it"):
        bs.read_result(old)


def test_names_in_results_are_public() -> None:
    """A change here is a change for every reader of saved files."""
    names = [*schema.GROUPS, *schema.DIMENSIONS, *schema.VARIABLES, *schema.ATTRIBUTES]
    assert schema.SCHEMA_VERSION == "2"
    assert len(names) == len(set(names))
    assert all(name.isidentifier() for name in names)
