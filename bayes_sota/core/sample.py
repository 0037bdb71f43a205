"""Results: draws of a model, where they come from (seed, versions, hashes), and netCDF files.

Files are written whole and read strictly.
"""

import hashlib
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from bayes_sota import __version__
from bayes_sota.core.arguments import generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.files import check_file, whole_file
from bayes_sota.core.priors import BoardPriors, MaximumPriors
from bayes_sota.core.result import check_stored
from bayes_sota.core.schema import SCHEMA_VERSION
from bayes_sota.core.text import plain_text, shown, shown_path
from bayes_sota.core.types import Seed

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


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
        A file that is none, is damaged, takes its data from elsewhere, or is of another version.
    """
    import h5py
    import xarray as xr

    target = Path(path)
    check_file(target)
    try:
        with h5py.File(target, "r") as file:
            check_stored(file, target.stat().st_size)
        with xr.open_datatree(target, engine="h5netcdf") as stored:
            tree = stored.load()
        found = str(tree.attrs.get("schema_version", SCHEMA_VERSION))
        if found != SCHEMA_VERSION:
            raise InputError(
                f"its schema is {shown(found)}, that of this version {SCHEMA_VERSION}; estimate it "
                "again (results of version 0.1 have schema 1)"
            )
        return tree
    except InputError as error:
        raise InputError(f"{shown_path(target)} is no result to be read: {error}") from None
    except Exception as error:  # HDF5 and its readers raise a dozen kinds for damaged files
        reason = plain_text(f"{type(error).__name__}: {error}", 120)
        raise InputError(f"{shown_path(target)} is damaged, or no result ({reason})") from None


class Observed(Protocol):
    """Anything with a fingerprint: a leaderboard, a response matrix."""

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed."""


@dataclass(frozen=True)
class Numbers:
    """Plain numbers as something with a fingerprint.

    Parameters
    ----------
    values : tuple
        Of numbers, text and tuples, which ``repr`` shows in full.
    """

    values: tuple[object, ...]

    def data_hash(self) -> str:
        """SHA-256 of the numbers."""
        return hashlib.sha256(repr(self.values).encode()).hexdigest()


_PACKAGES = ("numpy", "scipy", "xarray", "pymc", "arviz")


def resolve_seed(
    random_seed: Seed,
) -> tuple[np.random.Generator, str]:
    """Generator and its description; without a seed, one is drawn so that it can be reported.

    Examples
    --------
    >>> resolve_seed(3)[1]
    '3'
    """
    if isinstance(random_seed, np.random.Generator):
        return random_seed, "generator"
    if isinstance(random_seed, np.random.SeedSequence):
        return generator_of(random_seed), f"seed sequence {random_seed.entropy}"
    if random_seed is None:
        random_seed = int(np.random.SeedSequence().generate_state(1)[0])
    return generator_of(random_seed), str(random_seed)


def describe_provenance(
    boards: Sequence[Observed],
    priors: MaximumPriors | BoardPriors | str,
    *,
    method: str,
    seed: str,
    model_name: str | None = None,
    model_hash: str | None = None,
) -> dict[str, str]:
    """Attributes of a result, all of them strings that netCDF can hold.

    ``priors`` are of the skills of a field, or the text of a model that has no such field.
    """
    text = priors if isinstance(priors, str) else repr(priors)
    data = hashlib.sha256("".join(board.data_hash() for board in boards).encode()).hexdigest()
    return {
        "schema_version": SCHEMA_VERSION,
        "method": method,
        "model_name": model_name or "unnamed",
        "model_hash": model_hash or hashlib.sha256(text.encode()).hexdigest()[:16],
        "priors": text,
        "skill_family": _family(priors),
        "data_hash": data[:16],
        "random_seed": seed,
        "versions": ", ".join(f"{name} {_installed(name)}" for name in _PACKAGES),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "inference_library": "bayes_sota",
        "inference_library_version": __version__,
    }


def describe_sampled(
    model: "pm.Model", groups: "dict[str, xr.Dataset]", seed: str, model_name: str | None
) -> dict[str, str]:
    """Attributes of a result that NUTS drew from a model of PyMC, with its data and its graph."""
    import pytensor

    data = [groups[name] for name in ("observed_data", "constant_data") if name in groups]
    numbers = Numbers(
        tuple(
            (name, variable.dims, repr(variable.values.tolist()))
            for group in data
            for name, variable in sorted(group.variables.items())
        )
    )
    graph = pytensor.dprint(model.logp(), file="str")  # with every constant of the priors
    return {
        **describe_provenance(
            (numbers,),
            "\n".join(line.strip() for line in model.str_repr().splitlines()),
            method="nuts",
            seed=seed,
            model_name=model_name,
            model_hash=hashlib.sha256(graph.encode()).hexdigest()[:16],
        ),
        "inference_library": "nutpie",
        "inference_library_version": version("nutpie"),
    }


def run_nuts(model: "pm.Model", rng: np.random.Generator, **settings: Any) -> "xr.DataTree":
    """Draws of a model by nutpie; ``settings`` as in ``pm.sample``. Diagnostics come later."""
    import pymc as pm

    with model:
        return pm.sample(
            nuts_sampler="nutpie",
            random_seed=int(rng.integers(2**31)),
            compute_convergence_checks=False,
            quiet=not settings.get("progressbar"),
            **settings,
        )


def describe_nuts(trace: "xr.DataTree") -> dict[str, Any]:
    """Attributes that say how NUTS fared."""
    divergences = int(trace["sample_stats"]["diverging"].sum())
    return {
        "divergences": divergences,
        "draws_are_independent": 0,
        "diagnostics_reasons": f"{divergences} divergences" if divergences else "",
    }


def result_tree(groups: "Mapping[str, xr.Dataset]", attributes: Mapping[str, Any]) -> "xr.DataTree":
    """Result of groups that are not empty; its attributes stand on the tree and its posterior."""
    import xarray as xr

    tree = xr.DataTree.from_dict({name: data for name, data in groups.items() if len(data)})
    for place in (tree, tree["posterior"]):
        place.attrs.update(attributes)
    return tree


def _family(priors: MaximumPriors | BoardPriors | str) -> str:
    if isinstance(priors, str):
        return "none"
    return "+".join(priors.families) if isinstance(priors, BoardPriors) else priors.skill.family


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
