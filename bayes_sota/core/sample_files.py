"""Results as netCDF files: written whole, read strictly."""

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import check_file, whole_file
from bayes_sota.core.stored_result import check_stored
from bayes_sota.core.text import plain_text, shown_path

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["read_result", "save_result"]


def save_result(tree: "xr.DataTree", path: str | os.PathLike[str]) -> Path:
    """Write a result to netCDF; the file appears whole or not at all.

    Raises
    ------
    InputError
        The path cannot be written.
    """
    target = Path(path)
    content = io.BytesIO()  # HDF5 crashes on a full disk
    tree.to_netcdf(content, engine="h5netcdf")
    with whole_file(target) as draft:
        draft.write_bytes(content.getvalue())
    return target


def read_result(path: str | os.PathLike[str]) -> "xr.DataTree":
    """Read a result that ``save_result`` wrote.

    Raises
    ------
    InputError
        A file that is none, is damaged, or takes its data from elsewhere.
    """
    import h5py
    import xarray as xr

    target = Path(path)
    check_file(target)
    try:
        with h5py.File(target, "r") as file:
            check_stored(file, target.stat().st_size)
        with xr.open_datatree(target, engine="h5netcdf") as tree:
            return tree.load()
    except InputError as error:
        raise InputError(f"{shown_path(target)} is no result to be read: {error}") from None
    except Exception as error:  # HDF5 and its readers raise a dozen kinds for damaged files
        reason = plain_text(f"{type(error).__name__}: {error}", 120)
        raise InputError(f"{shown_path(target)} is damaged, or no result ({reason})") from None
