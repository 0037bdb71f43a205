"""Draw, check and complete traces of PyMC models."""

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.models import DIGEST, Observed, digest_of_data
from bayes_sota.core.parallel import is_watched
from bayes_sota.core.sample import LARGEST_GROUP, describe_provenance, resolve_seed, with_attributes
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.specification import SamplerSettings
from bayes_sota.core.text import counted, digest_of
from bayes_sota.core.types import Seed

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

_PRIOR_DRAWS = 1000


def describe_nuts(trace: "xr.DataTree") -> dict[str, Any]:
    """Diagnostics of NUTS as attributes; other samplers have no divergences."""
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

    is_shown = is_watched() if progressbar is None else progressbar
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
    """Result that ``complete`` makes of draws by ``run_nuts``; settings default to ``sampler``."""
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

    ``InputError`` if trace or model record other ``data`` or priors, or if the trace lacks
    variables of the model or has more than a built one.
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

    ``prior_predictive`` has at most 1,000 draws. Beyond ``LARGEST_GROUP``, ``posterior_predictive``
    has every k-th draw, and ``log_likelihood`` lacks the variable. Potentials do not act on the
    prior.
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
