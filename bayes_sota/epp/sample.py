"""Bayesian EPP by NUTS: from a model or a trace to the complete result in the one schema.

``tests/epp/test_sample.py`` compares with quadrature, with the maximum-likelihood fit, with
simulation and with the model's own log-likelihood.
"""

from typing import Any

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
from bayes_sota.core.types import Seed
from bayes_sota.epp.fit import checked_tables
from bayes_sota.epp.models import build_model
from bayes_sota.epp.sample_estimate import ranks_of
from bayes_sota.leaderboard.specification import Model, chosen_model

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

    Log-likelihood and predictions are those of the model: what was added to it takes part.

    Parameters
    ----------
    trace : DataTree
        With the group ``posterior``, as ``pm.sample`` gives it.
    data : ScoreTable, Matches, a sequence of one of them, or None
        What the model is of; None where the model is given, which holds them.
    model : pm.Model, optional
        Default: that of the ``with`` block, else ``build_model(data)``.
    random_seed : int, SeedSequence or Generator, optional
        Seed of the draws from the prior and of predictions.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``epp`` (chain, draw, player), mean zero over the players, ``rank`` (1 is
        best) and all parameters; ``prior`` of the same variables; ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive`` with ``round_rank`` or ``match_counts``,
        and what the model observes besides; ``log_likelihood`` of every round, or pair of players;
        ``log_prior``, ``sample_stats``, ``constant_data``. Attributes: provenance and divergences.
        Draws from the prior ignore potentials of an extended model.

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
    constants = groups["constant_data"].drop_vars(_INNER, errors="ignore")
    indices = [name for name in constants.coords if str(name).startswith(_INNER)]  # ..._dim_0
    groups["constant_data"] = constants.drop_vars(indices)
    for name in ("posterior", "prior"):
        epp = groups[name]["epp"].transpose("chain", "draw", "player")
        groups[name] = groups[name].assign(rank=(epp.dims, ranks_of(epp.values)))
    return result_tree(groups, describe_completed(trace, model, groups, seed))


def _check_model(model: pm.Model) -> None:
    check_kind(model, pm.Model, "bs.epp.build_model")
    if not ("epp" in model.named_vars and {"round_rank", "match_counts"} & {*model.named_vars}):
        held = ", ".join(map(str, model.named_vars)) or "no variables"
        raise InputError(f"the model needs skills 'epp' and outcomes of build_model; it has {held}")
