"""Files of results that are damaged, or take their data from elsewhere, are an ``InputError``."""

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core import schema
from bayes_sota.core.errors import InputError

SECRET = b"somebody else's private numbers "


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


def external_data(file: h5py.File) -> None:
    secret = Path(file.filename).with_name("secret.bin")
    secret.write_bytes(SECRET)
    file.create_dataset("x", (4,), "f8", external=[(str(secret), 0, 32)])


def virtual_data(file: h5py.File) -> None:
    layout = h5py.VirtualLayout((2,), "f8")
    layout[:] = h5py.VirtualSource("other.nc", "x", (2,))
    file.create_virtual_dataset("x", layout)


def many_groups(file: h5py.File) -> None:
    for depth in range(5):
        for number in range(10):
            if depth:
                file[f"g{depth}/n{number}"] = file[f"g{depth - 1}"]
            else:
                file.create_group(f"g0/n{number}")
    file["posterior/deep"] = file["g4"]


def repeated_text(file: h5py.File) -> None:
    """All cells of an array point to the same megabytes."""
    cells = ["y" * 2_000_000] + [""] * 1999
    start = file.create_dataset("x", data=cells, dtype=h5py.string_dtype()).id.get_offset()
    path = Path(file.filename)
    file.close()
    content = bytearray(path.read_bytes())
    content[start : start + 32_000] = content[start : start + 16] * 2000
    path.write_bytes(content)


def dataset(*given: Any, **options: Any) -> Callable[[h5py.File], object]:
    return lambda file: file.create_dataset("x", *given, **options)


def item(name: str, value: Callable[[h5py.File], Any]) -> Callable[[h5py.File], None]:
    return lambda file: file.__setitem__(name, value(file))


OTHER, CHUNKS = "posterior/other", {"chunks": (10**6,), "compression": "gzip"}
ATTACKS: dict[str, tuple[Callable[[h5py.File], object], str]] = {
    "external data": (external_data, "'x' are in another file"),
    "virtual data": (virtual_data, "'x' are in another place"),
    "external link": (item(OTHER, lambda _: h5py.ExternalLink("other.nc", "/x")), "is a link"),
    "soft link": (item(OTHER, lambda _: h5py.SoftLink("/posterior/skill")), "'other' is a link"),
    "endless": (item("posterior/again", lambda f: f["posterior"]), "nested more than 8 deep"),
    "many groups": (many_groups, "more than 2,000 variables"),
    "references": (
        lambda f: f.create_dataset("x", data=np.array([f.ref], h5py.ref_dtype)),
        "'x' holds neither",
    ),
    "compound": (item("x", lambda _: np.zeros(2, [("a", "f8"), ("b", "i4")])), "'x' holds neither"),
    "ragged": (dataset((2,), h5py.vlen_dtype(np.float64)), "'x' holds neither"),
    "opaque": (item("x", lambda _: np.zeros(2, "V9")), "'x' holds neither"),
    "named type": (item("x", lambda _: np.dtype("f8")), "'x' is neither a variable"),
    "unwritten": (dataset((10**9,), "f8"), "'x' declares 8,000,000,000 bytes"),
    "overflowing": (dataset((2**31, 2**31), "f8", chunks=(1024, 1024)), "'x' declares"),
    "bomb": (dataset((3 * 10**8,), "f8", **CHUNKS), "'x' declares 2,400,000,000 bytes"),
    "repeated text": (repeated_text, "text of 'x' is longer"),
    "large chunk": (
        dataset((10,), "f8", chunks=(4 * 10**8,), maxshape=(None,)),
        "'x' declares 3,200,000,000 bytes",
    ),
    "many texts": (lambda f: f.attrs.update(x=["y"] * 1000), "'x' has more than 64 texts"),
    "attribute": (lambda f: f.attrs.update(x=f.ref), "'x' is neither a number nor text"),
}


@pytest.mark.parametrize(("attack", "message"), ATTACKS.values(), ids=ATTACKS)
def test_what_no_result_has_is_refused(stored: Path, tmp_path: Path, attack, message) -> None:
    path = tmp_path / "x.nc"
    path.write_bytes(stored.read_bytes())
    with h5py.File(path, "a") as file:
        attack(file)
    with pytest.raises(InputError) as caught:
        bs.read_result(path)
    assert str(caught.value).startswith(f"{path} is no result to be read: ")
    assert message in str(caught.value)


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


@pytest.mark.parametrize(
    "numbers", [range(40), pytest.param(range(40, 640), marks=pytest.mark.slow)]
)
def test_damaged_results_are_read_or_refused(stored: Path, tmp_path: Path, numbers: range) -> None:
    path, refused = tmp_path / "x.nc", 0
    for number in numbers:
        rng = random.Random(number)
        content = bytearray(stored.read_bytes())
        for _ in range(rng.choice([1, 1, 2, 4, 16])):
            place, width = rng.randrange(len(content)), rng.choice([1, 1, 2, 4, 8])
            content[place : place + width] = rng.choice([rng.randbytes(width), b"\xff" * width])
        path.write_bytes(content[: rng.randrange(len(content))] if number % 10 == 9 else content)
        with suppress(InputError):
            bs.read_result(path)
            refused -= 1
        refused += 1
    assert len(numbers) / 4 < refused < len(numbers)


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
