"""Bayesian EPP: from a model or a trace to the complete result in the one schema.

``tests/epp/test_sample.py`` compares with quadrature, with the maximum-likelihood fit, with
simulation and with the model's own log-likelihood.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from arviz_base import dict_to_dataset
from pymc.backends.arviz import (
    coords_and_dims_for_inferencedata,
    find_constants,
    find_observations,
)
from pymc.pytensorf import compile

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import (
    LARGEST_GROUP,
    check_trace,
    completed_groups,
    describe_completed,
    model_of,
    resolve_seed,
    result_tree,
    sample_completed,
    with_attributes,
)
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.epp.field import Field, checked_tables, join_tournaments
from bayes_sota.epp.likelihoods import log_outcomes
from bayes_sota.epp.models import build_model, field_of, skills_or_outcomes
from bayes_sota.leaderboard.specification import Model, chosen_model

_INNER = ["round_order", "round_weight", "round_present"]  # what the likelihood needs
_QUICK = "FAST_COMPILE"  # compiling would take longer than the draws


def sample_epp(
    model: pm.Model,
    *,
    specification: Model = None,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    target_accept: float | None = None,
    cores: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    predictive: int = 200,
    progressbar: bool = False,
) -> xr.DataTree:
    """Posterior of the skills by NUTS (nutpie), completed as ``complete`` does.

    Parameters
    ----------
    model : pm.Model
        From ``build_model``, perhaps with variables of your own.
    specification : ModelSpecification, name or path, optional
        Of which the model has the priors: it gives the settings of the sampler, and its name and
        hash to the result.
    draws, tune, chains, target_accept, cores, random_seed, progressbar
        As in ``pm.sample``; default those of the specification, else 1000, 1000, 4 and 0.9.
    predictive : int
        Number of replicated tournaments in ``predictive_check``, as in ``complete``.

    Returns
    -------
    xarray.DataTree
        As ``complete`` returns it.

    Raises
    ------
    InputError
        A model without ``epp`` or data, sizes too small for diagnostics.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> from bayes_sota.data.tournaments import ScoreTable
    >>> table = ScoreTable([[3, 2, 1], [3, 1, 2], [1, 3, 2]], players=["a", "b", "c"])
    >>> model = bs.epp.build_model(table)
    >>> tree = sample_epp(model, random_seed=0)  # doctest: +SKIP
    """
    field_of(model)
    spec = chosen_model(specification, "epp")
    tree = sample_completed(
        model,
        lambda trace, rng: complete(trace, None, model, predictive=predictive, random_seed=rng),
        random_seed,
        spec.sampler,
        draws=draws,
        tune=tune,
        chains=chains,
        cores=cores,
        target_accept=target_accept,
        progressbar=progressbar,
    )
    return tree if specification is None else with_attributes(tree, spec.provenance)


def complete(
    trace: xr.DataTree,
    data: Any,
    model: pm.Model | None = None,
    *,
    predictive: int = 200,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    r"""Whole result of a trace of a model of ``build_model``, extended or not.

    Log-likelihood, predictions and checks are those of the model: what was added to it takes part.

    Parameters
    ----------
    trace : DataTree
        With the group ``posterior``, as ``pm.sample`` gives it.
    data : ScoreTable, Matches, a sequence of one of them, or None
        What the model is of; None where the model is given, which holds them.
    model : pm.Model, optional
        Default: that of the ``with`` block, else ``build_model(data)``.
    predictive : int
        Number of tournaments to replicate for posterior predictive checks (Gelman, Meng & Stern
        1996): the players, rounds and matches of the observed ones, and skills of a draw. Their
        deviance against the same skills says whether the model describes the data. At most as many
        as there are predictive draws; 0 for no checks.
    random_seed : int, SeedSequence or Generator, optional
        Of the draws from the prior and of the replicates.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``epp`` (chain, draw, player), mean zero over the players, ``rank`` (1 is
        best) and all parameters; ``prior`` of the same variables; ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive`` with ``round_rank`` or ``match_counts``,
        and what the model observes besides; ``log_likelihood`` of every round, or cluster of
        matches, or match; ``log_prior``, ``sample_stats``, ``constant_data``; ``predictive_check``
        with ``observed``, ``replicated`` (replicate, statistic) and ``p_value`` (statistic) of the
        deviance. Attributes: provenance, divergences, and ``notes`` on what was thinned or left
        out.

    Raises
    ------
    InputError
        A trace of another model, other data or another schema, without variables of the model, or
        with variables that a model is needed for.

    Notes
    -----
    Where the likelihood is weighted, so is what ``az.loo`` sums up: compare weighted models of the
    same weight only. Replicates of weighted matches are independent matches, and their deviances
    are far above those of rounds, whose matches share scores. Replicated rankings have no ties.

    Examples
    --------
    >>> import pymc as pm
    >>> import bayes_sota as bs
    >>> table = bs.ScoreTable([[3, 2, 1], [3, 1, 2], [1, 3, 2]], players=["a", "b", "c"])
    >>> model = bs.epp.build_model(table)
    >>> trace = pm.sample(model=model, random_seed=0)  # doctest: +SKIP
    >>> tree = bs.epp.complete(trace, table)  # doctest: +SKIP
    """
    current = model if model is not None else pm.Model.get_context(error_if_none=False)
    if current is None and data is None:
        raise InputError("complete needs the data or the model of the trace: both are missing")
    trace = _without_ranks(trace)
    model = model_of(trace, current, lambda: build_model(data))
    field = field_of(model)
    if current is not None and data is not None:
        same = join_tournaments(checked_tables(data), ranked=field.ranked)
        if not field.observes(same):
            raise InputError(
                "the data are not those of the model: their players, tournaments or outcomes differ"
            )
    rng, seed = resolve_seed(random_seed)
    groups = completed_groups(trace, model, rng) | _observed(model)
    if not field.ranked:
        likelihood = groups["log_likelihood"]
        others = likelihood[[name for name in likelihood if name != "match_counts"]]
        groups["log_likelihood"] = others.merge(log_likelihood_of(model, field, trace))
    if predictive > 0:
        fresh = groups["posterior_predictive"]
        groups["predictive_check"] = replicate(model, field, trace, fresh, predictive)
    for name in ("posterior", "prior"):
        groups[name] = _with_ranks(groups[name])
    described = describe_completed(trace, model, groups, seed)
    return result_tree(groups, {**described, "notes": "; ".join(_notes(model, groups))})


def _without_ranks(trace: xr.DataTree) -> xr.DataTree:
    """A trace, or a result of ``complete``, without what is not of the model."""
    check_trace(trace)
    if "rank" in trace["posterior"]:
        trace = trace.copy()
        del trace["posterior"]["rank"]
    return trace


def _observed(model: pm.Model) -> dict[str, xr.Dataset]:
    """Data and constants of the model, which a trace need not have."""
    coords, dims = coords_and_dims_for_inferencedata(model)
    constants = {k: v for k, v in find_constants(model).items() if k not in _INNER}
    groups = {}
    for name, values in (("observed_data", find_observations(model)), ("constant_data", constants)):
        dataset = dict_to_dataset(values, sample_dims=[], coords=coords, dims=dims)
        groups[name] = dataset.drop_vars(dataset.coords.keys() - coords.keys()).drop_attrs()
    return groups


def _with_ranks(draws: xr.Dataset) -> xr.Dataset:
    """With the rank of each player."""
    epp = draws["epp"].transpose("chain", "draw", "player")
    order = np.argsort(-epp.values, axis=-1)
    rank = np.argsort(order, axis=-1).astype(np.int32) + 1
    return draws.assign(rank=(epp.dims, rank))


def _log_outcomes_by_draw(
    model: pm.Model, field: Field, posterior: xr.Dataset
) -> Iterator[tuple[tuple[int, ...], FloatArray]]:
    """Log probabilities of the outcomes of each pair, (pairs, 3), of one draw after the other."""
    evaluate = compile(
        model.free_RVs, skills_or_outcomes(model), mode=_QUICK, on_unused_input="ignore"
    )
    values = [
        posterior[v.name].transpose("chain", "draw", ...).values.astype(v.dtype, copy=False)
        for v in model.free_RVs
    ]
    where, first, second = field.pairs[0].T
    for place in np.ndindex(posterior.sizes["chain"], posterior.sizes["draw"]):
        evaluated = evaluate(*(value[place] for value in values))
        if field.ranked:
            skills = evaluated.reshape(evaluated.shape[-2:])
            gap = skills[where, first] - skills[where, second]
            evaluated = np.stack(log_outcomes(gap), axis=-1)
        yield place, evaluated


def log_likelihood_of(model: pm.Model, field: Field, trace: xr.DataTree) -> xr.Dataset:
    """Log-likelihood of the matches of every round, cluster or match, as in the posterior.

    ``pm.compute_log_likelihood`` has one number per pair of players: those of one round are left
    out together. Empty where it would pass ``LARGEST_GROUP``.
    """
    posterior = trace["posterior"].to_dataset()
    shape = (posterior.sizes["chain"], posterior.sizes["draw"], field.tournament.size)
    if 8 * np.prod(shape) > LARGEST_GROUP:
        return xr.Dataset()
    log_likelihood = np.empty(shape)
    weights = model["likelihood_weight"].get_value()[field.tournament]
    for place, logs in _log_outcomes_by_draw(model, field, posterior):
        log_likelihood[place] = weights * (field.cells_of_units @ logs.ravel())
    coords = {name: posterior[name].values for name in ("chain", "draw")}
    if field.rounds is not None:
        coords["round"] = np.array(field.rounds)
    return xr.Dataset({"match_counts": (("chain", "draw", field.unit), log_likelihood)}, coords)


def replicate(
    model: pm.Model, field: Field, trace: xr.DataTree, fresh: xr.Dataset, number: int
) -> xr.Dataset:
    """Replicated tournaments against the observed ones, about as many as asked for.

    Parameters
    ----------
    fresh : Dataset
        Group ``posterior_predictive``.
    number : int

    Returns
    -------
    Dataset
        Group ``predictive_check`` (``complete``); ``p_value`` is the share of replicates above the
        data, ties by half.
    """
    chains, draws = fresh.sizes["chain"], fresh.sizes["draw"]
    kept = np.unique(np.linspace(0, draws - 1, -(-number // chains)).astype(int))
    fresh = fresh.isel(draw=kept)
    values = fresh["round_rank" if field.ranked else "match_counts"].values
    posterior = trace["posterior"].to_dataset().sel(draw=fresh["draw"])
    observed = field.counts()
    statistics = np.empty((chains * kept.size, 2))  # observed and replicated
    for at, (place, logs) in enumerate(_log_outcomes_by_draw(model, field, posterior)):
        counts = field.counts(values[place]) if field.ranked else values[place]
        statistics[at] = field.deviance(observed, logs), field.deviance(counts, logs)
    seen, again = statistics[:, :1], statistics[:, 1:]
    over = ("replicate", "statistic")
    content: dict[str, Any] = {
        "observed": (over, seen),
        "replicated": (over, again),
        "p_value": ("statistic", np.mean((again > seen) + (again == seen) / 2, axis=0)),
    }
    return xr.Dataset(content, {"replicate": np.arange(len(seen)), "statistic": ["deviance"]})


def _notes(model: pm.Model, groups: dict[str, xr.Dataset]) -> Iterator[str]:
    """What was thinned or left out."""
    limit = f"{LARGEST_GROUP >> 20} MiB"
    posterior, fresh = groups["posterior"], groups["posterior_predictive"]
    every = -(-posterior.sizes["draw"] // fresh.sizes["draw"])
    if every > 1:
        yield f"predictions keep one of {every} draws: all would pass {limit}"
    lacking = set(groups["observed_data"]) - set(groups["log_likelihood"])
    if lacking:
        yield f"no log_likelihood of {', '.join(sorted(map(str, lacking)))}: it would pass {limit}"
    if model.potentials:
        names = ", ".join(str(p.name) for p in model.potentials)
        yield f"draws from the prior do not know the potentials {names}"
