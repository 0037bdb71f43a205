"""Claims that a model describes, sampled by NUTS: the complete result in the one schema.

Any model with a deterministic ``difference`` (A minus B, of any shape) will do, the builders of
``bayes_sota.claims`` and your own. P(difference <= 0) is the share of draws; its error and
the diagnostics are those of draws that depend on each other.
``tests/claims/test_sample.py`` compares with closed forms.
"""

from typing import TYPE_CHECKING, Any

import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.builders import SamplerSettings
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import resolve_seed, result_tree, share_of_draws
from bayes_sota.core.sample_trace import (
    completed_groups,
    describe_completed,
    model_of,
    sample_completed,
)
from bayes_sota.core.types import Seed

if TYPE_CHECKING:
    import pymc as pm

_SETTINGS = ("draws", "tune", "chains", "cores", "target_accept")


def sample_claim(
    model: "pm.Model", *, random_seed: Seed = DEFAULT_SEED, predictive: bool = True, **settings: Any
) -> xr.DataTree:
    r"""Posterior of a claim by NUTS (nutpie), with the probability that it is false.

    Parameters
    ----------
    model : pm.Model
        With a deterministic ``difference``: of a claim, or of several along a dimension.
    random_seed : int, SeedSequence, Generator or None
    predictive : bool
        Whether to add the groups of prior, predictions, likelihood and prior density.
    **settings
        draws, tune, chains, target_accept, cores and progressbar of ``pm.sample``; default 1000,
        1000, 4 and 0.98.

    Returns
    -------
    xarray.DataTree
        That of ``complete``; ``diagnose`` says whether it can be trusted.

    Raises
    ------
    InputError
        A model without ``difference`` or data, sizes too small for diagnostics.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> model = bs.claims.build_case_differences([0.1, 0.05, -0.02, 0.03])
    >>> tree = sample_claim(model, random_seed=0)  # doctest: +SKIP
    >>> bs.summarize(tree)  # doctest: +SKIP
    """
    _check_model(model)
    return sample_completed(
        model,
        lambda trace, rng: complete(trace, model, random_seed=rng, predictive=predictive),
        random_seed,
        SamplerSettings(target_accept=0.98),
        **{"progressbar": False, **dict.fromkeys(_SETTINGS), **settings},
    )


def complete(
    trace: xr.DataTree,
    model: "pm.Model | None" = None,
    *,
    random_seed: Seed = DEFAULT_SEED,
    predictive: bool = True,
) -> xr.DataTree:
    r"""Complete result from any trace of a model of claims, extended or not.

    Parameters
    ----------
    trace : DataTree
        Of ``pm.sample``, any sampler.
    model : pm.Model, optional
        Of the trace, with a ``difference``. Default: that of the ``with`` block.
    random_seed : int, SeedSequence, Generator or None
        For draws of the prior and of fresh data.
    predictive : bool
        As in ``sample_claim``.

    Returns
    -------
    xarray.DataTree
        ``posterior``, ``sample_stats``, ``observed_data``, ``constant_data`` of the trace; with
        ``predictive`` also ``prior``, ``prior_predictive``, ``posterior_predictive``,
        ``log_likelihood`` and ``log_prior``, which come from the model. ``point_estimate`` holds
        ``p_false`` :math:`= P(d \le 0)` and its standard error ``p_false_mcse``.
        Attributes: provenance and divergences.

    Raises
    ------
    InputError
        No model; a trace of another model, other data or another schema; chains of different
        length; no ``difference``.

    Examples
    --------
    >>> import pymc as pm
    >>> import bayes_sota as bs
    >>> with bs.claims.build_case_differences([0.1, 0.05, -0.02, 0.03]):
    ...     trace = pm.sample()  # doctest: +SKIP
    ...     tree = bs.claims.complete(trace)  # doctest: +SKIP
    """
    chosen = model_of(trace, model, _no_model)
    _check_model(chosen)
    rng, seed = resolve_seed(random_seed)
    if "difference" not in trace["posterior"]:
        raise InputError("the trace lacks the deterministic 'difference': keep it in var_names")
    groups = completed_groups(trace, chosen, rng, predictive=predictive)
    not_better = groups["posterior"]["difference"] <= 0
    groups["point_estimate"] = share_of_draws(not_better, "p_false")
    return result_tree(groups, describe_completed(trace, chosen, groups, seed))


def _no_model() -> "pm.Model":
    raise InputError(
        "which model is the trace of? give model=, such as bs.claims.build_model(...), or call "
        "this in its with block"
    )


def _check_model(model: "pm.Model") -> None:
    if "difference" not in model.named_vars or not model.observed_RVs:
        raise InputError(
            "the model needs observed data and a deterministic 'difference' (A minus B); it has "
            f"{', '.join(model.named_vars) or 'no variables'}"
        )
