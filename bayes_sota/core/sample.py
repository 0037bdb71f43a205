"""Results: draws of a model, where they come from (seed, versions, hashes), and netCDF files."""

import io
import logging
import os
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota import __version__
from bayes_sota.core.arguments import generator_of
from bayes_sota.core.builders import SamplerSettings
from bayes_sota.core.errors import InputError
from bayes_sota.core.files import check_file, whole_file
from bayes_sota.core.models import DIGEST, Observed, digest_of_data
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.core.schema import SCHEMA_VERSION, dataset_of
from bayes_sota.core.text import counted, digest_of, plain_text, shown, shown_path
from bayes_sota.core.types import Seed

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

LARGEST_GROUP = 64 << 20
"""Bytes of a group of predictions; larger ones keep every k-th draw."""
CHECKING = ("prior", "prior_predictive", "posterior_predictive", "log_likelihood", "log_prior")
"""Groups that the estimands do without."""
_PACKAGES = ("numpy", "scipy", "xarray", "pymc", "arviz")
_QUICK = {"mode": "FAST_COMPILE"}  # what runs once: compiling would take longer
_version = cache(version)


def save_result(tree: "xr.DataTree", path: str | os.PathLike[str]) -> Path:
    """Write a result to netCDF; the file appears whole or not at all.

    Raises
    ------
    InputError
        The path cannot be written.
    """
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
        A file that is none, is damaged, or is of another version.
    """
    import xarray as xr

    check_file(Path(path))
    try:
        with xr.open_datatree(Path(path), engine="h5netcdf") as stored:
            tree = stored.load()
    except Exception as error:  # HDF5 and its readers raise a dozen kinds for damaged files
        reason = plain_text(f"{type(error).__name__}: {error}", 120)
        raise InputError(f"{shown_path(path)} is damaged, or no result ({reason})") from None
    _check_schema(tree, f"{shown_path(path)} is no result to be read: its schema", "estimate")
    return tree


def _check_schema(tree: "xr.DataTree", what: str, remedy: str) -> None:
    stated = str(tree.attrs.get("schema_version", SCHEMA_VERSION))
    if stated != SCHEMA_VERSION:
        raise InputError(
            f"{what} is {shown(stated)}, that of this version {SCHEMA_VERSION}; {remedy} it again"
        )


def resolve_seed(random_seed: Seed) -> tuple[np.random.Generator, str]:
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


def seed_number(seed: str) -> int | str:
    """The text of a seed as JSON has it: a number, unless it was drawn from a generator.

    Examples
    --------
    >>> seed_number("7"), seed_number("generator")
    (7, 'generator')
    """
    return int(seed) if seed.isdigit() else seed


def describe_provenance(
    data: Sequence[Observed] | str,
    priors: object,
    *,
    method: str,
    seed: str,
    model_name: str | None = None,
    model_hash: str | None = None,
) -> dict[str, str]:
    """Attributes of a result, all of them strings that netCDF can hold.

    ``data`` are what was observed, or its digest; ``priors`` a dataclass, or text in its place.
    """
    text = priors if isinstance(priors, str) else repr(priors)
    return {
        "schema_version": SCHEMA_VERSION,
        "method": method,
        "model_name": model_name or "unnamed",
        "model_hash": model_hash or digest_of(text),
        "priors": text,
        "skill_family": _family(priors),
        "data_hash": data if isinstance(data, str) else digest_of(*(x.data_hash() for x in data)),
        "random_seed": seed,
        "versions": ", ".join(f"{name} {_version(name)}" for name in _PACKAGES),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "inference_library": "bayes_sota",
        "inference_library_version": __version__,
    }


def _family(priors: object) -> str:
    if isinstance(priors, MaximumPriors):
        return priors.skill.family
    return "+".join(getattr(priors, "families", ["none"]))


def describe_model(model: "pm.Model") -> dict[str, str]:
    """Attributes that say what a model of PyMC assumes: ``priors`` and ``model_hash``."""
    import pytensor

    graph = pytensor.dprint(model.logp(), file="str")  # with every constant of the priors
    return {
        "priors": "\n".join(line.strip() for line in model.str_repr().splitlines()),
        "model_hash": digest_of(graph),
    }


def describe_nuts(trace: "xr.DataTree") -> dict[str, Any]:
    """Attributes that say how NUTS fared; draws of another sampler have no divergences."""
    divergences = int(dataset_of(trace, "sample_stats").get("diverging", np.zeros(0)).sum())
    return {
        "divergences": divergences,
        "draws_are_independent": 0,
        "diagnostics_reasons": counted(divergences, "divergence") if divergences else "",
    }


def describe_completed(
    trace: "xr.DataTree", model: "pm.Model", groups: "dict[str, xr.Dataset]", seed: str
) -> dict[str, Any]:
    """Attributes of a result of a trace: its model and data, what drew it, and how that fared."""
    data = [groups[name] for name in ("observed_data", "constant_data") if name in groups]
    numbers = [
        (name, variable.dims, repr(variable.values.tolist()))
        for group in data
        for name, variable in sorted(group.variables.items())
    ]
    of_model = describe_model(model)
    method = "nuts" if "diverging" in dataset_of(trace, "sample_stats") else "unknown"
    drawn_by = {
        name: str(trace["posterior"].attrs.get(name, "unknown"))
        for name in ("inference_library", "inference_library_version")
    }
    return {
        **describe_provenance(digest_of(*numbers), of_model["priors"], method=method, seed=seed),
        **of_model,
        **drawn_by,
        **describe_nuts(trace),
    }


def run_nuts(model: "pm.Model", rng: np.random.Generator, **settings: Any) -> "xr.DataTree":
    """Draws of a model by nutpie; ``settings`` as in ``pm.sample``. Diagnostics come later."""
    import pymc as pm

    with model, _quiet():  # nutpie compiles without the BLAS that PyTensor may miss
        return pm.sample(
            nuts_sampler="nutpie",
            random_seed=int(rng.integers(2**31)),
            compute_convergence_checks=False,
            quiet=not settings.get("progressbar"),
            **settings,
        )


def sample_completed(
    model: "pm.Model",
    complete: "Callable[[xr.DataTree, np.random.Generator], xr.DataTree]",
    random_seed: Seed,
    sampler: SamplerSettings,
    **settings: Any,
) -> "xr.DataTree":
    """Result that ``complete`` makes of the draws of a model; it states the seed of both.

    ``settings`` are those of ``run_nuts``; of ``sampler`` come those that are None.

    Raises
    ------
    InputError
        Sizes too small for diagnostics.
    """
    arguments: dict[str, Any] = {
        key: getattr(sampler, key, None) if v is None else v for key, v in settings.items()
    }
    if arguments["draws"] < 10 or arguments["chains"] < 2:
        raise InputError(
            "at least 10 draws and 2 chains are needed for diagnostics, got "
            f"{arguments['draws']} and {arguments['chains']}"
        )
    rng, seed = resolve_seed(random_seed)
    tree = complete(run_nuts(model, rng, **arguments), rng)
    return with_attributes(tree, {"random_seed": seed})


def model_of(
    trace: "xr.DataTree",
    model: "pm.Model | None",
    build: "Callable[[], pm.Model]",
    *data: Observed,
) -> "pm.Model":
    """The model that a trace is of: the given one, that of the ``with`` block, or a built one.

    ``data`` are those that the result is asked for. Trace and model must be of them, as far as
    they say so.

    Raises
    ------
    InputError
        The trace is of other data or another schema, lacks variables of the model, or has more
        of them than a built model, which only the extended model can explain.
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
    _check_data(trace, built, data)
    return built


def check_trace(trace: "xr.DataTree") -> None:
    """Refuse what is no trace, has chains of different length, or is of another schema."""
    if not dataset_of(trace, "posterior"):
        raise InputError(
            "a trace is the DataTree that pm.sample returns, with draws in its group 'posterior', "
            f"got {type(trace).__name__}"
        )
    _check_schema(trace, "the schema of the trace", "sample")
    for name, variable in trace["posterior"].data_vars.items():
        if not {"chain", "draw"} <= set(variable.dims):
            raise InputError(f"{shown(name)} of the trace has no dimensions chain and draw")
        if variable.dtype.kind == "f" and not np.isfinite(variable.values).all():
            raise InputError(
                f"{shown(name)} of the trace has draws that are not finite: are its chains of "
                "different length?"
            )


def _check_data(trace: "xr.DataTree", model: "pm.Model", data: Collection[Observed]) -> None:
    """Refuse a trace of other data than its model's, and either of others than those given."""
    stored = {
        name: variable.values
        for group in ("constant_data", "observed_data")
        for name, variable in dataset_of(trace, group).data_vars.items()
    }
    known = {v.name: v.get_value() for v in model.data_vars}
    for what, numbers in (("trace", stored), ("model", known)):
        if data and DIGEST in numbers and int(numbers[DIGEST]) != digest_of_data(data):
            raise InputError(f"the {what} is of other data than those given: sample theirs")
    known |= {v.name: model.rvs_to_values[v].eval() for v in model.observed_RVs}
    for name in known.keys() & stored.keys():
        here, there = np.asarray(known[name]), stored[name]
        if here.shape != there.shape or not np.allclose(here, there, equal_nan=True):
            raise InputError(f"the trace is of other data: its {shown(name)} differ")


def completed_groups(
    trace: "xr.DataTree", model: "pm.Model", rng: np.random.Generator, *, predictive: bool = True
) -> "dict[str, xr.Dataset]":
    """What a trace recorded and, with ``predictive``, what its model gives for it."""
    recorded = ("posterior", "observed_data", "constant_data")
    groups = {name: dataset_of(trace, name) for name in recorded}
    groups["sample_stats"] = sampler_stats(trace)
    if predictive:
        groups |= model_groups(model, trace, rng)
    return {name: group.drop_attrs() for name, group in groups.items()}


def sampler_stats(trace: "xr.DataTree") -> "xr.Dataset":
    """Statistics of the sampler, but for texts, of which NUTS writes one per divergence."""
    stats = dataset_of(trace, "sample_stats").drop_attrs()
    return stats.drop_vars([name for name, v in stats.data_vars.items() if v.dtype.kind == "O"])


def model_groups(
    model: "pm.Model",
    trace: "xr.DataTree",
    rng: np.random.Generator,
    replicated: Collection[str] = (),
) -> "dict[str, xr.Dataset]":
    """Groups that a model gives for a trace: prior, predictions, log likelihood and log prior.

    Parameters
    ----------
    model : pm.Model
    trace : DataTree
        With the variables of the model.
    rng : Generator
    replicated : collection of str
        Observed variables whose replicates the caller draws, because it can draw them at once;
        PyMC calls a function per draw. They are left out of the predictions.

    Returns
    -------
    dict of str to Dataset
        ``prior`` of the variables of the posterior, ``prior_predictive`` and
        ``posterior_predictive`` of the observed ones (every k-th draw where all would pass
        ``LARGEST_GROUP``), ``log_likelihood`` (left out of a variable where it would pass
        ``LARGEST_GROUP``), ``log_prior``. Potentials act on the draws of the trace only, not on
        those of the prior.
    """
    import pymc as pm
    from pymc.stats.log_density import compute_log_density

    posterior = trace["posterior"].to_dataset()
    draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    predicted = [v for v in model.observed_RVs if v.name not in replicated]
    observed = [v.name for v in predicted]
    size = sum(int(model.rvs_to_values[v].size.eval()) for v in predicted)
    every = max(1, -(-8 * size * draws // LARGEST_GROUP))
    named = [str(name) for name in posterior if name in model.named_vars]
    seeds = [int(seed) for seed in rng.integers(2**31, size=2)]
    few = [
        v.name for v in model.observed_RVs if 8 * draws * _observations(model, v) <= LARGEST_GROUP
    ]
    quick: Any = {"model": model, "compile_kwargs": _QUICK}
    once: Any = {**quick, "extend_inferencedata": False, "progressbar": False}
    with _quiet(), _without_starts(model):
        drawn = pm.sample_prior_predictive(
            -(-draws // every), var_names=[*named, *observed], random_seed=seeds[0], **quick
        )
        groups = {
            "prior": drawn["prior"].to_dataset()[named],
            "log_likelihood": compute_log_density(trace, var_names=few, kind="likelihood", **once),
            "log_prior": compute_log_density(trace, kind="prior", **once),
        }
        if observed:
            kept = posterior.isel(draw=slice(None, None, every))
            fresh = pm.sample_posterior_predictive(
                kept, var_names=observed, random_seed=seeds[1], progressbar=False, **quick
            )
            groups["prior_predictive"] = drawn["prior_predictive"].to_dataset()
            groups["posterior_predictive"] = fresh["posterior_predictive"].to_dataset()
    return {name: data.drop_attrs() for name, data in groups.items()}


def _observations(model: "pm.Model", variable: Any) -> int:
    """Number of observations of a variable; one may have dimensions of its own."""
    shape = model.rvs_to_values[variable].shape.eval()
    own = getattr(variable.owner.op, "ndim_supp", 0)
    return int(np.prod(shape[: shape.size - own]))


@contextmanager
def _without_starts(model: "pm.Model") -> Iterator[None]:
    """Without initial values, with which PyMC refuses to copy a model."""
    starts = dict(model.rvs_to_initial_values)
    model.rvs_to_initial_values.update(dict.fromkeys(starts))
    try:
        yield
    finally:
        model.rvs_to_initial_values.update(starts)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without PyMC's lines on what it draws, on potentials and on libraries it does without."""
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


def lay_out(
    values: Mapping[str, NDArray[Any]],
    chains: int,
    dims: "Mapping[str, tuple[str, ...]]",
    coords: Mapping[str, Any],
) -> "xr.Dataset":
    """Draws (D, ...), chain after chain, as variables of chains and draws.

    Parameters
    ----------
    values : mapping of str to ndarray, shape (D, ...)
    chains : int
    dims : mapping of str to tuple of str
        Further dimensions of a variable, where it has any.
    coords : mapping of str to sequence
        Labels of dimensions, those that no variable has among them; chains and draws are numbered.
    """
    import xarray as xr

    dataset = xr.Dataset(
        {
            name: (("chain", "draw", *dims.get(name, ())), v.reshape(chains, -1, *v.shape[1:]))
            for name, v in values.items()
        }
    )
    numbered = {dim: np.arange(dataset.sizes.get(dim, 0)) for dim in ("chain", "draw")}
    labels = {**numbered, **coords}
    return dataset.assign_coords({k: v for k, v in labels.items() if k in dataset.dims})


def result_tree(groups: "Mapping[str, xr.Dataset]", attributes: Mapping[str, Any]) -> "xr.DataTree":
    """Result of groups that are not empty; its attributes stand on the tree and its posterior."""
    import xarray as xr

    tree = xr.DataTree.from_dict({name: data for name, data in groups.items() if len(data)})
    return with_attributes(tree, attributes)


def without_checks(tree: "xr.DataTree") -> "xr.DataTree":
    """The same result without the groups that only checks of its model need."""
    return tree.filter(lambda node: node.name not in CHECKING)


def with_attributes(tree: "xr.DataTree", attributes: Mapping[str, Any]) -> "xr.DataTree":
    """The same tree; the attributes stand on it and on its posterior."""
    for place in (tree, tree["posterior"]):
        place.attrs.update(attributes)
    return tree


def share_of_draws(holds: "xr.DataArray", name: str) -> "xr.Dataset":
    """Share of the draws in which something holds, with its Monte Carlo error ``NAME_mcse``."""
    import arviz as az
    import xarray as xr

    share, over = holds.astype(float), ("chain", "draw")
    p, size = share.mean(over), share.sizes["chain"] * share.sizes["draw"]
    mcse = az.mcse(share.to_dataset(name="x"))["x"].fillna(0.0)
    least = share_mcse(p, size)  # where all draws agree, the other is 0
    return xr.Dataset({name: p, f"{name}_mcse": mcse.where(mcse > least, least)}).drop_attrs()
