"""Bayesian EPP by NUTS: the complete result in the one schema.

``tests/epp/test_sample.py`` compares with quadrature, with the maximum-likelihood fit and
with the model's own log-likelihood.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import (
    describe_nuts,
    describe_sampled,
    resolve_seed,
    result_tree,
    run_nuts,
)
from bayes_sota.core.types import Seed
from bayes_sota.epp.models import is_extended
from bayes_sota.epp.sample_predictive import SampledTournaments

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


_INNER = [
    "round_order",
    "round_weight",
    "round_present",
]  # the data in the order that the likelihood needs
_LARGEST = 50_000_000  # numbers of a log-likelihood that is kept


def sample_epp(
    model: "pm.Model",
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.9,
    cores: int | None = None,
    random_seed: Seed = None,
    log_likelihood: bool = True,
    predictive: int = 0,
    model_name: str | None = None,
    progressbar: bool = False,
) -> "xr.DataTree":
    """Posterior of the skills by NUTS (nutpie).

    Parameters
    ----------
    model : pm.Model
        From ``build_epp``, perhaps with variables of your own: the log-likelihood is then the
        model's own, of all that it observes.
    draws, tune, chains, target_accept, cores, random_seed, progressbar
        As in ``pm.sample``.
    log_likelihood : bool
        Whether to keep the log-likelihood of every round (or cluster of matches, or match), which
        ``az.loo`` needs; not above 50 million numbers.
    predictive : int
        Number of tournaments to replicate for posterior predictive checks.
    model_name : str, optional
        Recorded as an attribute.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``epp`` (chain, draw, player), mean zero over the players, ``rank`` (1 is
        best) and the hyperparameters; ``sample_stats``, ``observed_data``, ``constant_data``,
        ``log_likelihood``; with ``predictive`` also ``posterior_predictive``: wins of every pair,
        deviance and number of ties of replicated tournaments, and as its attributes Bayesian
        p-values. Attributes: provenance, ``ties`` and divergences.

    Raises
    ------
    InputError
        A model without ``epp`` or data, sizes too small for diagnostics, ``predictive`` for a model
        with variables of your own.

    Notes
    -----
    Where the likelihood of matches is weighted, so is what ``az.loo`` sums up: compare weighted
    models of the same weight only. Their replicated tournaments have independent matches, and
    deviances far above those of rounds, whose matches share scores.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> from bayes_sota.data.score_table import ScoreTable
    >>> table = ScoreTable([[3, 2, 1], [3, 1, 2], [1, 3, 2]], players=["a", "b", "c"])
    >>> model = bs.epp.build_epp(table)
    >>> tree = sample_epp(model, random_seed=0)  # doctest: +SKIP
    """

    _check_request(model, draws, chains, predictive)
    rng, seed = resolve_seed(random_seed)
    settings = {"draws": draws, "tune": tune, "chains": chains, "cores": cores}
    trace = run_nuts(model, rng, target_accept=target_accept, progressbar=progressbar, **settings)
    groups = {
        "posterior": _with_ranks(trace["posterior"].to_dataset()),
        "sample_stats": trace["sample_stats"].to_dataset()[["diverging"]].astype(float),
        "observed_data": trace["observed_data"].to_dataset(),
        "constant_data": trace["constant_data"].to_dataset(),
    }
    groups["constant_data"] = _named(groups["constant_data"].drop_vars(_INNER, errors="ignore"))
    groups = {name: data.drop_attrs() for name, data in groups.items()}
    sampled = SampledTournaments(
        groups["posterior"], groups["observed_data"], groups["constant_data"]
    )
    if log_likelihood:
        groups |= _log_likelihood(model, trace, sampled)
    if predictive:
        groups["posterior_predictive"] = sampled.replicate(predictive, rng)
    attributes: dict[str, Any] = {
        **describe_sampled(model, groups, seed, model_name),
        "ties": sampled.ties,
        **describe_nuts(trace),
    }
    return result_tree(groups, attributes)


def _check_request(model: "pm.Model", draws: int, chains: int, predictive: int) -> None:
    if "epp" not in model.named_vars or not model.observed_RVs:
        raise InputError(
            "the model needs skills 'epp' and observed data, as build_epp makes them; it has "
            f"{', '.join(model.named_vars) or 'no variables'}"
        )
    if draws < 10 or chains < 2:
        raise InputError(
            f"at least 10 draws and 2 chains are needed for diagnostics, got {draws} and {chains}"
        )
    if predictive and is_extended(model):
        raise InputError(
            "predictive replicates the tournaments of build_epp; this model has variables of your "
            "own: leave it out and use pm.sample_posterior_predictive"
        )
    if predictive < 0:
        raise InputError(f"predictive is a number of tournaments, at least 0, got {predictive}")


def _log_likelihood(
    model: "pm.Model", trace: "xr.DataTree", sampled: SampledTournaments
) -> dict[str, "xr.Dataset"]:
    """The group, unless it is too large: of rounds or matches, or what the model itself gives."""
    import pymc as pm

    draws = sampled.posterior.sizes["chain"] * sampled.posterior.sizes["draw"]
    if not is_extended(model):
        units = len(sampled.tournament)
        return {"log_likelihood": sampled.log_likelihood()} if draws * units <= _LARGEST else {}
    if draws * sum(int(v.size.eval()) for v in model.observed_RVs) > _LARGEST:
        return {}
    found = pm.compute_log_likelihood(
        trace, model=model, extend_inferencedata=False, progressbar=False
    )
    return {"log_likelihood": found.to_dataset() if hasattr(found, "to_dataset") else found}


def _with_ranks(posterior: "xr.Dataset") -> "xr.Dataset":
    """Without the variables that only the sampler needs, with the rank of each player."""
    kept = [n for n in posterior if n != "own_skill" and not str(n).endswith("_offset")]
    posterior = posterior[kept]
    order = np.argsort(-posterior["epp"].values, axis=-1)
    rank = np.argsort(order, axis=-1).astype(np.int32) + 1
    return posterior.assign(rank=(("chain", "draw", "player"), rank))


def _named(data: "xr.Dataset") -> "xr.Dataset":
    """Without dimensions that no variable has any more."""
    used = {str(dim) for variable in data.data_vars.values() for dim in variable.dims}
    return data.drop_dims([dim for dim in data.dims if dim not in used])
