"""Results: provenance, layout of draws, netCDF files; traces of PyMC models drawn and completed."""

import io
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
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
from bayes_sota.core.models import DIGEST, Observed, digest_of_data
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.parallel import WATCHED
from bayes_sota.core.priors import MaximumPriors, SamplerSettings
from bayes_sota.core.schema import SCHEMA_VERSION, dataset_of
from bayes_sota.core.text import counted, digest_of, plain_text, shown_path
from bayes_sota.core.types import Seed

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

LARGEST_GROUP = 64 << 20  # bytes of predictions; larger groups keep every k-th draw
_PACKAGES = ("numpy", "scipy", "xarray", "pymc", "arviz")
_PRIOR_DRAWS = 1000
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
    """Generator and the text of its seed; without a seed one is drawn."""
    if isinstance(random_seed, np.random.Generator | np.random.SeedSequence):
        return generator_of(random_seed), "generator"
    if random_seed is None:
        random_seed = int(np.random.SeedSequence().generate_state(1)[0])
    return generator_of(random_seed), str(random_seed)


def seed_number(seed: str) -> int | str:
    """Seed as JSON has it."""
    return int(seed) if seed.isdigit() else seed


def describe_provenance(
    data: Sequence[Observed] | str, priors: object, *, method: str, seed: str, **model: str | None
) -> dict[str, str]:
    """Attributes of a result, as strings that netCDF can store; ``data`` may be their digest."""
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
    """Draws (D, ...), chain after chain, as variables of chains, draws and further ``dims``."""
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
    """Result of the groups that are not empty."""
    import xarray as xr

    tree = xr.DataTree.from_dict({name: data for name, data in groups.items() if len(data)})
    return with_attributes(tree, attributes)


def with_attributes(tree: "xr.DataTree", attributes: Mapping[str, Any]) -> "xr.DataTree":
    """Set attributes of a tree and of its posterior."""
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


def describe_nuts(trace: "xr.DataTree") -> dict[str, Any]:
    """Diagnostics of NUTS as attributes."""
    divergences = int(dataset_of(trace, "sample_stats").get("diverging", np.zeros(0)).sum())
    return {
        "divergences": divergences,
        "draws_are_independent": 0,
        "diagnostics_reasons": counted(divergences, "divergence") if divergences else "",
    }


def describe_completed(
    trace: "xr.DataTree", model: "pm.Model", groups: "dict[str, xr.Dataset]", seed: str
) -> dict[str, Any]:
    """Attributes of a completed trace."""
    import pytensor

    data = digest_of(*(groups[name].to_dict() for name in ("observed_data", "constant_data")))
    method = "nuts" if "diverging" in dataset_of(trace, "sample_stats") else "unknown"
    priors = "\n".join(line.strip() for line in model.str_repr().splitlines())
    graph = pytensor.dprint(model.logp(), file="str")  # with every constant of the priors
    about, library = trace["posterior"].attrs, ("inference_library", "inference_library_version")
    return {
        **describe_provenance(data, priors, method=method, seed=seed, model_hash=digest_of(graph)),
        **{name: str(about.get(name, "unknown")) for name in library},
        **describe_nuts(trace),
    }


def run_nuts(
    model: "pm.Model",
    rng: np.random.Generator,
    *,
    progressbar: bool | None = None,
    **settings: Any,
) -> "xr.DataTree":
    """Draw from a model by nutpie; ``settings`` as in ``pm.sample``."""
    import pymc as pm

    is_shown = WATCHED.get() if progressbar is None else progressbar
    with model, _quiet():  # nutpie compiles without the BLAS that PyTensor may miss
        return pm.sample(
            nuts_sampler="nutpie",
            random_seed=int(rng.integers(2**31)),
            compute_convergence_checks=False,
            progressbar=is_shown,
            quiet=not is_shown,
            **settings,
        )


def sample_completed(
    model: "pm.Model",
    complete: "Callable[[xr.DataTree, np.random.Generator], xr.DataTree]",
    random_seed: Seed,
    sampler: SamplerSettings,
    **settings: Any,
) -> "xr.DataTree":
    """Result that ``complete`` makes of draws by ``run_nuts``."""
    arguments = asdict(sampler) | {key: v for key, v in settings.items() if v is not None}
    if arguments["draws"] < 10 or arguments["chains"] < 2:
        raise InputError("diagnostics need at least 10 draws and 2 chains")
    rng, seed = resolve_seed(random_seed)
    tree = complete(run_nuts(model, rng, **arguments), rng)
    return with_attributes(tree, {"random_seed": seed})


def model_of(
    trace: "xr.DataTree", model: "pm.Model | None", build: "Callable[[], pm.Model]", *data: Observed
) -> "pm.Model":
    """Model of a trace: the given one, that of the ``with`` block, or a built one.

    ``InputError`` if trace and model differ in variables, data or priors.
    """
    import pymc as pm

    check_trace(trace)
    current = model if model is not None else pm.Model.get_context(error_if_none=False)
    built = build() if current is None else current
    names = set(trace["posterior"].data_vars)
    missing = [v.name for v in built.free_RVs if v.name not in names]
    if missing:
        raise InputError(
            f"the trace lacks {', '.join(missing)}, which the model has: is it of another model?"
        )
    more = sorted(names - set(built.named_vars))
    if more and current is None:
        raise InputError(
            f"the trace has {', '.join(more)}, which the model of the data lacks: give the "
            "extended model as model=, or call this in its with block"
        )
    digests = [
        dataset_of(trace, "constant_data").get(DIGEST),
        {variable.name: variable.get_value() for variable in built.data_vars}.get(DIGEST),
        digest_of_data(data) if data else None,
    ]
    if len({int(digest) for digest in digests if digest is not None}) > 1:
        problem = "the trace or the model is of other data than those given, or has other priors"
        raise InputError(problem, fix="give those that were sampled")
    return built


def check_trace(trace: "xr.DataTree") -> None:
    """Raise ``InputError`` unless this is a trace with complete chains."""
    if not dataset_of(trace, "posterior"):
        raise InputError("a trace has draws in its group 'posterior', as pm.sample returns it")
    if "schema_version" in trace.attrs:
        raise InputError("this is a result already, not a trace", fix="give what pm.sample returns")
    for name, variable in trace["posterior"].data_vars.items():
        if not {"chain", "draw"} <= set(variable.dims):
            raise InputError(f"{quoted(name)} of the trace has no dimensions chain and draw")
        if variable.dtype.kind == "f" and not np.isfinite(variable.values).all():
            problem = f"{quoted(name)} of the trace has draws that are not finite"
            raise InputError(problem, fix="are its chains of different length?")


def sampler_stats(trace: "xr.DataTree") -> "xr.Dataset":
    """Statistics of the sampler without texts: NUTS writes one per divergence."""
    stats = dataset_of(trace, "sample_stats").drop_attrs()
    return stats.drop_vars([name for name, v in stats.data_vars.items() if v.dtype.kind == "O"])


def completed_groups(
    trace: "xr.DataTree", model: "pm.Model", rng: np.random.Generator
) -> "dict[str, xr.Dataset]":
    """Groups that a trace recorded, and those that its model adds.

    Beyond ``LARGEST_GROUP``, ``posterior_predictive`` has every k-th draw, and ``log_likelihood``
    lacks the variable.
    """
    import pymc as pm
    from pymc.stats.log_density import compute_log_density

    recorded = ("posterior", "observed_data", "constant_data")
    groups = {name: dataset_of(trace, name) for name in recorded}
    groups["sample_stats"] = sampler_stats(trace)
    posterior = groups["posterior"]
    draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    size, few = 0, []
    for variable in model.observed_RVs:
        shape = model.rvs_to_values[variable].shape.eval()
        size += int(np.prod(shape))
        own = getattr(variable.owner.op, "ndim_supp", 0)  # dimensions of one observation
        if 8 * draws * np.prod(shape[: shape.size - own]) <= LARGEST_GROUP:
            few.append(variable.name)
    every = max(1, -(-8 * draws * size // LARGEST_GROUP))
    named = [str(name) for name in posterior if name in model.named_vars]
    observed = [variable.name for variable in model.observed_RVs]
    seeds = [int(seed) for seed in rng.integers(2**31, size=2)]
    quick: Any = {"model": model, "compile_kwargs": {"mode": "FAST_COMPILE"}}  # each runs once
    once: Any = {**quick, "extend_inferencedata": False, "progressbar": False}
    with _quiet(), _without_starts(model):
        count = min(-(-draws // every), _PRIOR_DRAWS)
        drawn = pm.sample_prior_predictive(
            count, var_names=[*named, *observed], random_seed=seeds[0], **quick
        )
        fresh = pm.sample_posterior_predictive(
            posterior.isel(draw=slice(None, None, every)),
            var_names=observed,
            random_seed=seeds[1],
            progressbar=False,
            **quick,
        )
        groups |= {
            "prior": drawn["prior"].to_dataset()[named],
            "prior_predictive": drawn["prior_predictive"].to_dataset(),
            "posterior_predictive": fresh["posterior_predictive"].to_dataset(),
            "log_likelihood": compute_log_density(trace, var_names=few, kind="likelihood", **once),
            "log_prior": compute_log_density(trace, kind="prior", **once),
        }
    return {name: group.drop_attrs() for name, group in groups.items()}


@contextmanager
def _without_starts(model: "pm.Model") -> Iterator[None]:
    """Hide initial values, with which PyMC refuses to copy a model."""
    starts = dict(model.rvs_to_initial_values)
    model.rvs_to_initial_values.update(dict.fromkeys(starts))
    try:
        yield
    finally:
        model.rvs_to_initial_values.update(starts)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence PyMC's messages on variables, potentials and missing libraries."""
    logger = logging.getLogger("pymc.sampling.forward")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The effect of Potentials")
            warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS")
            yield
    finally:
        logger.setLevel(level)
