"""Bayesian EPP by NUTS: from a model or a trace to the complete result in the one schema.

``tests/epp/test_sample.py`` compares with quadrature, with the maximum-likelihood fit, with
simulation and with the model's own log-likelihood.
"""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED, check_kind
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import resolve_seed, result_tree, with_attributes
from bayes_sota.core.sample_trace import (
    check_trace,
    completed_groups,
    describe_completed,
    model_of,
    sample_completed,
)
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.epp import solver
from bayes_sota.epp.counts import MatchCounts, count_scores
from bayes_sota.epp.fit import checked_tables
from bayes_sota.epp.models import build_model
from bayes_sota.epp.sample_estimate import ranks_of
from bayes_sota.leaderboard.specification import Model, chosen_model

_REPLICATES = 200  # tournaments, at most
_INNER = ("round_order", "round_weight", "round_present", "counted")  # what the likelihood needs


def sample_epp(
    model: pm.Model,
    *,
    specification: Model = None,
    random_seed: Seed = DEFAULT_SEED,
    **settings: Any,
) -> xr.DataTree:
    """Posterior of the skills by NUTS (nutpie), completed as ``complete`` does.

    Parameters
    ----------
    model : pm.Model
        From ``build_model``, perhaps with variables of your own.
    specification : ModelSpecification or name, optional
        Specification of the model's priors: it gives the settings of the sampler, and its name and
        hash to the result.
    random_seed : int, SeedSequence, Generator or None
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
    tree = sample_completed(
        model,
        lambda trace, rng: complete(trace, None, model, random_seed=rng),
        random_seed,
        spec.sampler,
        **settings,
    )
    return tree if specification is None else with_attributes(tree, spec.provenance)


def complete(
    trace: xr.DataTree,
    data: Any,
    model: pm.Model | None = None,
    *,
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
    random_seed : int, SeedSequence or Generator, optional
        Seed of the draws from the prior and of the replicates.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``epp`` (chain, draw, player), mean zero over the players, ``rank`` (1 is
        best) and all parameters; ``prior`` of the same variables; ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive`` with ``round_rank`` or ``match_counts``,
        and what the model observes besides; ``log_likelihood`` of every round, or pair of players;
        ``log_prior``, ``sample_stats``, ``constant_data``; ``predictive_check`` with ``observed``,
        ``replicated`` (replicate, statistic) and ``p_value`` (statistic) of the deviance, unless
        matches depend on each other: up to 200 tournaments with
        the players, rounds and matches of the observed ones and the skills of a draw, whose
        deviance says whether the model describes the data (Gelman, Meng & Stern 1996). Attributes:
        provenance and divergences. Draws from the prior ignore potentials of an extended model.

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
    groups = completed_groups(trace, model, rng)
    groups["constant_data"] = groups["constant_data"].drop_vars(_INNER, errors="ignore")
    # Replicates are independent given the skills; a weight below 1 says that the matches are not.
    independent = bool((model["likelihood_weight"].get_value() == 1).all())
    if independent or "round_rank" in model.named_vars:
        groups["predictive_check"] = _replicate(groups, model)
    for name in ("posterior", "prior"):
        epp = groups[name]["epp"].transpose("chain", "draw", "player")
        groups[name] = groups[name].assign(rank=(epp.dims, ranks_of(epp.values)))
    return result_tree(groups, describe_completed(trace, model, groups, seed))


def _check_model(model: pm.Model) -> None:
    check_kind(model, pm.Model, "bs.epp.build_model")
    if not ("epp" in model.named_vars and {"round_rank", "match_counts"} & {*model.named_vars}):
        held = ", ".join(map(str, model.named_vars)) or "no variables"
        raise InputError(f"the model needs skills 'epp' and outcomes of build_model; it has {held}")


def _replicate(groups: dict[str, xr.Dataset], model: pm.Model) -> xr.Dataset:
    """Group ``predictive_check``: deviances of observed and replicated tournaments."""
    fresh, posterior = groups["posterior_predictive"], groups["posterior"]
    chains, draws = fresh.sizes["chain"], fresh.sizes["draw"]
    kept = np.unique(np.linspace(0, draws - 1, -(-_REPLICATES // chains)).astype(int))
    fresh = fresh.isel(draw=kept)
    own = posterior["epp_tournament" if "epp_tournament" in posterior else "epp"]
    skills = own.sel(draw=fresh["draw"]).transpose("chain", "draw", ...).values
    skills = skills.reshape(chains * kept.size, -1, skills.shape[-1])
    name = "round_rank" if "round_rank" in fresh else "match_counts"
    observed = model.rvs_to_values[model[name]].eval()
    seen, again = (_deviances(x, skills, model) for x in (observed[None], fresh[name].values))
    content = {
        "observed": (("replicate", "statistic"), seen[:, None]),
        "replicated": (("replicate", "statistic"), again[:, None]),
        "p_value": ("statistic", [np.mean((again > seen) + (again == seen) / 2)]),
    }
    return xr.Dataset(content, {"replicate": np.arange(len(seen)), "statistic": ["deviance"]})


def _deviances(values: FloatArray, skills: FloatArray, model: pm.Model) -> FloatArray:
    """Deviances of outcomes, observed or one for each draw, from skills (draws, tournament, m)."""
    values = values.reshape(-1, *values.shape[-2:])
    ranked, total = "round_rank" in model.named_vars, np.zeros(len(skills))
    tournament = model["round_tournament" if ranked else "pair_tournament"].get_value()
    for place, own in enumerate(np.moveaxis(skills, 1, 0)):
        played = tournament == place
        here = values[:, played]
        if ranked:
            counts = count_scores(np.where(here < 0, np.nan, here), "same-round")
        else:
            doubled = np.zeros((len(here), *skills.shape[-1:] * 2), int)
            first = model["pair_first"].get_value()[played]
            second = model["pair_second"].get_value()[played]
            doubled[:, first, second], doubled[:, second, first] = 2 * np.moveaxis(here, -1, 0)
            counts = MatchCounts(doubled, (doubled[0] + doubled[0].T) / 2)
        total += solver.deviance(own, counts)
    return total
