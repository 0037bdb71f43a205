"""Results: provenance, layout of draws, netCDF files."""

import io
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota import __version__
from bayes_sota.core.arguments import generator_of
from bayes_sota.core.errors import InputError, located, quoted
from bayes_sota.core.files import check_file, whole_file
from bayes_sota.core.models import Observed
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.core.schema import SCHEMA_VERSION, dataset_of
from bayes_sota.core.text import digest_of, plain_text, shown_path
from bayes_sota.core.types import Seed

if TYPE_CHECKING:
    import xarray as xr

LARGEST_GROUP = 64 << 20  # bytes of predictions; larger groups keep every k-th draw
_PACKAGES = ("numpy", "scipy", "xarray", "pymc", "arviz")
DRAWN = ("chain", "draw")


def save_result(tree: "xr.DataTree", path: str | os.PathLike[str]) -> Path:
    """Write a result to netCDF, whole or not at all.

    Raises
    ------
    InputError
        Not a result, or a path that cannot be written.
    """
    dataset_of(tree, "posterior")
    content = io.BytesIO()  # HDF5 crashes on a full disk
    tree.to_netcdf(content, engine="h5netcdf")
    with whole_file(Path(path)) as draft:
        draft.write_bytes(content.getvalue())
    return Path(path)


def read_result(path: str | os.PathLike[str]) -> "xr.DataTree":
    """Read a result that ``save_result`` wrote.

    Raises
    ------
    InputError
        No such file, a damaged one, or one of another schema version.
    """
    import xarray as xr

    check_file(Path(path))
    try:
        with xr.open_datatree(Path(path), engine="h5netcdf") as stored:
            tree = stored.load()
    except Exception as error:  # HDF5 and its readers raise a dozen kinds for damaged files
        reason = plain_text(f"{type(error).__name__}: {error}", 120)
        raise InputError(f"{shown_path(path)} is damaged, or no result ({reason})") from None
    with located(shown_path(path)):
        dataset_of(tree, "posterior")
    stated = str(tree.attrs.get("schema_version", SCHEMA_VERSION))
    if stated != SCHEMA_VERSION:
        problem = f"has the schema {quoted(stated)}, and this version reads {SCHEMA_VERSION}"
        raise InputError(problem, where=shown_path(path), fix="estimate it again")
    return tree


def resolve_seed(random_seed: Seed) -> tuple[np.random.Generator, str]:
    """Generator and the text of its seed; without a seed one is drawn, to be reported."""
    if isinstance(random_seed, np.random.Generator | np.random.SeedSequence):
        return generator_of(random_seed), "generator"
    if random_seed is None:
        random_seed = int(np.random.SeedSequence().generate_state(1)[0])
    return generator_of(random_seed), str(random_seed)


def seed_number(seed: str) -> int | str:
    """Seed as JSON has it: a number, or "generator"."""
    return int(seed) if seed.isdigit() else seed


def describe_provenance(
    data: Sequence[Observed] | str, priors: object, *, method: str, seed: str, **model: str | None
) -> dict[str, str]:
    """Attributes of a result, as strings that netCDF can store.

    ``data`` may be their digest, ``priors`` a dataclass or text, ``model`` are ``model_name`` and
    ``model_hash``.
    """
    text = str(priors)
    return {
        "schema_version": SCHEMA_VERSION,
        "method": method,
        "model_name": "unnamed",
        "model_hash": digest_of(text),
        **{name: known for name, known in model.items() if known},
        "priors": text,
        "skill_family": priors.skill.family if isinstance(priors, MaximumPriors) else "none",
        "data_hash": data if isinstance(data, str) else digest_of(*(x.data_hash() for x in data)),
        "random_seed": seed,
        "versions": ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "inference_library": "bayes_sota",
        "inference_library_version": __version__,
    }


def lay_out(
    values: Mapping[str, NDArray[Any]],
    chains: int,
    dims: "Mapping[str, tuple[str, ...]]",
    coords: Mapping[str, Any],
) -> "xr.Dataset":
    """Draws (D, ...), chain after chain, as variables of chains and draws.

    ``dims`` are further dimensions of variables; ``coords`` may label more than these.
    """
    import xarray as xr

    dataset = xr.Dataset(
        {
            name: (("chain", "draw", *dims.get(name, ())), v.reshape(chains, -1, *v.shape[1:]))
            for name, v in values.items()
        }
    )
    labels = {dim: np.arange(size) for dim, size in dataset.sizes.items() if dim in DRAWN}
    labels |= {dim: names for dim, names in coords.items() if dim in dataset.dims}
    return dataset.assign_coords(labels)


def result_tree(groups: "Mapping[str, xr.Dataset]", attributes: Mapping[str, Any]) -> "xr.DataTree":
    """Result of the groups that are not empty, with attributes as in ``with_attributes``."""
    import xarray as xr

    tree = xr.DataTree.from_dict({name: data for name, data in groups.items() if len(data)})
    return with_attributes(tree, attributes)


def with_attributes(tree: "xr.DataTree", attributes: Mapping[str, Any]) -> "xr.DataTree":
    """The same tree, with attributes on it and on its posterior."""
    for place in (tree, tree["posterior"]):
        place.attrs.update(attributes)
    return tree


def share_of_draws(holds: "xr.DataArray", name: str) -> "xr.Dataset":
    """Share of draws in which something holds, and its Monte Carlo error ``NAME_mcse``."""
    import arviz as az
    import xarray as xr

    share = holds.astype(float)
    p, size = share.mean(DRAWN), share.sizes["chain"] * share.sizes["draw"]
    mcse = np.maximum(az.mcse(share).fillna(0.0), share_mcse(p, size))  # the first may be 0
    return xr.Dataset({name: p, f"{name}_mcse": mcse}).drop_attrs()
