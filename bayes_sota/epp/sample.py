"""Bayesian EPP by NUTS: from a model or a trace to the complete result in the one schema.

``tests/epp/test_sample.py`` compares with quadrature, with the maximum-likelihood fit, with
simulation and with the model's own log-likelihood.
"""

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

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import (
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
from bayes_sota.epp import solver
from bayes_sota.epp.counts import MatchCounts, count_scores
from bayes_sota.epp.models import build_model, checked_tables
from bayes_sota.epp.sample_estimate import ranks_of
from bayes_sota.leaderboard.specification import Model, chosen_model

_INNER = ("round_order", "round_weight", "round_present", "counted")  # what the likelihood needs


def sample_epp(
    model: pm.Model,
    *,
    specification: Model = None,
    random_seed: Seed = DEFAULT_SEED,
    predictive: int = 200,
    **settings: Any,
) -> xr.DataTree:
    """Posterior of the skills by NUTS (nutpie), completed as ``complete`` does.

    Parameters
    ----------
    model : pm.Model
        From ``build_model``, perhaps with variables of your own.
    specification : ModelSpecification, name or path, optional
        Of which the model has the priors: it gives the settings of the sampler, and its name and
        hash to the result.
    random_seed : int, SeedSequence, Generator or None
    predictive : int
        Number of replicated tournaments in ``predictive_check``, as in ``complete``.
    **settings
        ``draws``, ``tune``, ``chains``, ``target_accept``, ``cores``, ``progressbar`` of
        ``pm.sample``; default those of the specification, else 1000, 1000, 4 and 0.9.

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
    _check_model(model)
    spec = chosen_model(specification, "epp")
    known = dict.fromkeys(("draws", "tune", "chains", "target_accept", "cores"))
    tree = sample_completed(
        model,
        lambda trace, rng: complete(trace, None, model, predictive=predictive, random_seed=rng),
        random_seed,
        spec.sampler,
        **known | settings,
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
        and what the model observes besides; ``log_likelihood`` of every round, or pair of players;
        ``log_prior``, ``sample_stats``, ``constant_data``; ``predictive_check`` with ``observed``,
        ``replicated`` (replicate, statistic) and ``p_value`` (statistic) of the deviance, unless
        rounds have skills of their own or matches depend on each other. Attributes: provenance,
        divergences, and ``notes`` on what was thinned or left out.

    Raises
    ------
    InputError
        A trace of another model, other data or another schema, without variables of the model, or
        with variables that a model is needed for.

    Notes
    -----
    Where the likelihood is weighted, so is what ``az.loo`` sums up: compare weighted models of the
    same weight only. Replicated rankings have no ties.

    Examples
    --------
    >>> import pymc as pm
    >>> import bayes_sota as bs
    >>> table = bs.ScoreTable([[3, 2, 1], [3, 1, 2], [1, 3, 2]], players=["a", "b", "c"])
    >>> model = bs.epp.build_model(table)
    >>> trace = pm.sample(model=model, random_seed=0)  # doctest: +SKIP
    >>> tree = bs.epp.complete(trace, table)  # doctest: +SKIP
    """
    check_trace(trace)
    if "rank" in trace["posterior"]:  # a result of this function
        trace = trace.copy()
        del trace["posterior"]["rank"]
    tables = [] if data is None else checked_tables(data)
    model = model_of(trace, model, lambda: build_model(tables), *tables)
    _check_model(model)
    rng, seed = resolve_seed(random_seed)
    groups = completed_groups(trace, model, rng) | _observed(model)
    if predictive > 0 and _is_checked(model):
        groups["predictive_check"] = _replicate(groups, predictive)
    for name in ("posterior", "prior"):
        epp = groups[name]["epp"].transpose("chain", "draw", "player")
        groups[name] = groups[name].assign(rank=(epp.dims, ranks_of(epp.values)))
    described = describe_completed(trace, model, groups, seed)
    return result_tree(groups, {**described, "notes": "; ".join(_notes(model, groups))})


def _check_model(model: pm.Model) -> None:
    names = set(model.named_vars)
    if not ("epp" in names and names & {"round_rank", "match_counts"}):
        raise InputError(
            "the model needs skills 'epp' and observed data, as build_model makes them; it has "
            f"{', '.join(map(str, model.named_vars)) or 'no variables'}"
        )


def _observed(model: pm.Model) -> dict[str, xr.Dataset]:
    """Data and constants of the model, which a trace need not have."""
    coords, dims = coords_and_dims_for_inferencedata(model)
    constants = {k: v for k, v in find_constants(model).items() if k not in _INNER}
    groups = {"observed_data": find_observations(model), "constant_data": constants}
    for name, values in groups.items():
        dataset = dict_to_dataset(values, sample_dims=[], coords=coords, dims=dims)
        groups[name] = dataset.drop_vars(dataset.coords.keys() - coords.keys()).drop_attrs()
    return groups


def _is_checked(model: pm.Model) -> bool:
    """Whether replicates are tournaments like the observed one, with the skills of a draw."""
    dependent = (
        "match_counts" in model.named_vars and (model["likelihood_weight"].get_value() < 1).any()
    )
    return not dependent and "round_slope" not in model.named_vars


def _replicate(groups: dict[str, xr.Dataset], number: int) -> xr.Dataset:
    """Group ``predictive_check``: deviances of observed and replicated tournaments."""
    fresh = groups["posterior_predictive"]
    chains, draws = fresh.sizes["chain"], fresh.sizes["draw"]
    kept = np.unique(np.linspace(0, draws - 1, -(-number // chains)).astype(int))
    fresh = fresh.isel(draw=kept)
    posterior = groups["posterior"].sel(draw=fresh["draw"])
    name = "epp_tournament" if "epp_tournament" in posterior else "epp"
    skills = posterior[name].transpose("chain", "draw", ...).values
    skills = skills.reshape(chains * kept.size, -1, skills.shape[-1])
    constants = groups["constant_data"]
    seen, again = (_deviances(data, skills, constants) for data in (groups["observed_data"], fresh))
    content = {
        "observed": (("replicate", "statistic"), seen[:, None]),
        "replicated": (("replicate", "statistic"), again[:, None]),
        "p_value": ("statistic", [np.mean((again > seen) + (again == seen) / 2)]),
    }
    return xr.Dataset(content, {"replicate": np.arange(len(seen)), "statistic": ["deviance"]})


def _deviances(data: xr.Dataset, skills: FloatArray, constants: xr.Dataset) -> FloatArray:
    """Deviances of outcomes, observed or one for each draw, from skills (draws, tournament, m)."""
    ranked = "round_rank" in data
    values = data["round_rank" if ranked else "match_counts"].values
    values = values.reshape(-1, *values.shape[-2:])
    tournament = constants["round_tournament" if ranked else "pair_tournament"].values
    total = np.zeros(len(skills))
    for place in range(skills.shape[1]):
        here = values[:, tournament == place]
        if ranked:
            counts = count_scores(np.where(here < 0, np.nan, here), "same-round")
        else:
            first, second = (
                constants[f"pair_{x}"].values[tournament == place] for x in ("first", "second")
            )
            counts = _counts_of_pairs(here, first, second, skills.shape[-1])
        total += solver.deviance(skills[:, place], counts)
    return total


def _counts_of_pairs(matches: FloatArray, first: Any, second: Any, m: int) -> MatchCounts:
    """Counts of pairs, (B, pairs, 2), as matrices."""
    doubled = np.zeros((len(matches), m, m), int)
    doubled[:, first, second], doubled[:, second, first] = np.rint(2 * np.moveaxis(matches, -1, 0))
    return MatchCounts(doubled, (doubled[0] + doubled[0].T) / 2, 0)


def _notes(model: pm.Model, groups: dict[str, xr.Dataset]) -> list[str]:
    """What was thinned or left out."""
    every = -(-groups["posterior"].sizes["draw"] // groups["posterior_predictive"].sizes["draw"])
    lacking = sorted(map(str, set(groups["observed_data"]) - set(groups["log_likelihood"])))
    potentials = ", ".join(str(potential.name) for potential in model.potentials)
    return [
        *[f"predictions keep one of {every} draws"] * (every > 1),
        *[f"no log_likelihood of {', '.join(lacking)}, which would be large"] * bool(lacking),
        *[f"draws from the prior do not know the potentials {potentials}"] * bool(potentials),
    ]
