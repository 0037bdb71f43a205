r"""Bayesian EPP: by NUTS, or quickly from the clustered estimate, to a result in the one schema.

The quick posterior takes the estimate as the datum:

.. math:: \hat\beta \mid \beta \sim N(\beta,\, c\, C), \qquad \beta \sim N(0, \sigma^2 I), \qquad
   \sum_i \beta_i = 0, \qquad \sigma \sim N^+(0, s^2)

with C the inverse information of independent matches and c ``BradleyTerryFit.inflation``. C depends
on the estimate, whose single eigenvectors therefore do not inform about :math:`\sigma`: it is
learnt on a grid from

.. math:: \sum_i \hat\beta_i^2 \sim (\sigma^2 + \bar e)\, \chi^2_{m - 1}, \qquad
   \bar e = \frac{c \operatorname{tr} C}{m - 1}.

``tests/epp/test_sample.py`` compares both with quadrature, ``tests/calibration/epp_bayes.py``
measures their coverage.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.stats import halfnorm

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, check_kind
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import EppPriors, own_priors
from bayes_sota.core.sample import (
    check_trace,
    completed_groups,
    describe_completed,
    describe_provenance,
    lay_out,
    model_of,
    resolve_seed,
    result_tree,
    sample_completed,
    with_attributes,
)
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.epp.fit import BradleyTerryFit, checked_tables
from bayes_sota.leaderboard.specification import Model, chosen_model

if TYPE_CHECKING:
    import pymc as pm

_INNER = ("round_order", "round_weight", "round_present", "counted")  # what the likelihood needs


def sample_epp(
    model: "pm.Model",
    *,
    specification: Model = None,
    random_seed: Seed = DEFAULT_SEED,
    **settings: Any,
) -> xr.DataTree:
    """Posterior of the skills by NUTS (nutpie), completed by ``complete``.

    Parameters
    ----------
    model : pm.Model
        From ``build_model``, perhaps with variables of your own.
    specification : ModelSpecification or name, optional
        Specification of the model's priors, for the sampler's settings and the result's provenance.
    random_seed : int, SeedSequence, Generator or None
    **settings
        ``draws``, ``tune``, ``chains``, ``target_accept``, ``cores``, ``progressbar`` of
        ``pm.sample``; default those of the specification, else 1000, 1000, 4 and 0.9.

    Raises
    ------
    InputError
        A model without ``epp`` or data, sizes too small for diagnostics.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> model = bs.epp.build_model(bs.ScoreTable([[3, 2, 1], [3, 1, 2], [1, 3, 2]]))
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
    model: "pm.Model | None" = None,
    *,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Whole result of a trace of a model of ``build_model``, extended or not.

    Parameters
    ----------
    trace : DataTree
        As ``pm.sample`` gives it.
    data : ScoreTable, Matches, a sequence of one of them, or None
        None where the model is given.
    model : pm.Model, optional
        Default: that of the ``with`` block, else ``build_model(data)``.
    random_seed : int, SeedSequence or Generator, optional

    Returns
    -------
    xarray.DataTree
        ``posterior`` and ``prior`` with ``epp`` (chain, draw, player), mean zero over the players,
        ``rank`` (1 is best) and all parameters, the prior without potentials; ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive`` with ``round_rank`` (no ties in
        replications) or ``match_counts``; ``log_likelihood`` of every round, or pair of players;
        ``log_prior``, ``sample_stats``, ``constant_data``. ``az.loo`` compares only models of the
        same likelihood weight.

    Raises
    ------
    InputError
        A trace of another model, other data or another schema, or without variables of the model.

    Examples
    --------
    >>> import pymc as pm
    >>> import bayes_sota as bs
    >>> table = bs.ScoreTable([[3, 2, 1], [3, 1, 2], [1, 3, 2]])
    >>> with bs.epp.build_model(table):
    ...     trace = pm.sample()  # doctest: +SKIP
    ...     tree = bs.epp.complete(trace, table)  # doctest: +SKIP
    """
    from bayes_sota.epp.models import build_model

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


def _check_model(model: "pm.Model") -> None:
    import pymc as pm

    check_kind(model, pm.Model, "bs.epp.build_model")
    if not ("epp" in model.named_vars and {"round_rank", "match_counts"} & {*model.named_vars}):
        held = ", ".join(map(str, model.named_vars)) or "no variables"
        raise InputError(f"the model needs skills 'epp' and outcomes of build_model; it has {held}")


_SCALES = np.geomspace(0.002, 5.0, 800)  # of sigma, in units of s
_CHAINS = 4


def infer_skills(
    fit: BradleyTerryFit,
    priors: EppPriors | None = None,
    *,
    draws: int = 1000,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Posterior of the skills of one tournament, from its clustered estimate.

    Parameters
    ----------
    fit : BradleyTerryFit
    priors : EppPriors, optional
        ``skill_scale`` is s.
    draws : int
        Draws of each of four chains.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        ``posterior`` and ``prior`` of ``epp``, ``rank`` and ``skill_sd``; ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive`` of ``epp_estimate``, the estimate from as
        many rounds.

    Raises
    ------
    InputError
        Estimates that are finite by a penalty only.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> scores = [1.0, 0.0, -1.0] + np.random.default_rng(0).gumbel(size=(30, 3))
    >>> tree = infer_skills(bs.fit_epp(scores))
    >>> tree["posterior"]["epp"].mean(("chain", "draw")).values.round(1).tolist()
    [0.9, -0.1, -0.8]
    """
    if not fit.connected:
        raise InputError(
            "some skills have no finite estimate without a penalty: sample the model of "
            "epp.build_model instead"
        )
    DRAWS.check(draws, "draws")
    known = own_priors(EppPriors, priors)
    rng, seed = resolve_seed(random_seed)
    values, vectors = np.linalg.eigh(fit.inflation * fit.covariance_model)
    errors, basis = values[1:], vectors[:, 1:].T  # without the direction of equal skills
    size = (_CHAINS * draws, errors.size)

    def laid_out(**values: FloatArray) -> xr.Dataset:
        dims = dict.fromkeys(("epp", "rank", "epp_estimate"), ("player",))
        return lay_out(values, _CHAINS, dims, {"player": list(fit.players)})

    def drawn(group: str, skills: FloatArray, sd: FloatArray) -> dict[str, xr.Dataset]:
        epp = skills @ basis
        fresh = laid_out(epp_estimate=epp + np.sqrt(errors) * rng.standard_normal(size) @ basis)
        known = laid_out(epp=epp, rank=ranks_of(epp), skill_sd=sd)
        return {group: known, f"{group}_predictive": fresh}

    sd = _draw_spread(fit.epp, errors.mean(), known.skill_scale, rng, size[0])
    share = sd[:, None] ** 2 / (sd[:, None] ** 2 + errors)
    skills = share * (basis @ fit.epp) + np.sqrt(share * errors) * rng.standard_normal(size)
    prior_sd = known.skill_scale * np.abs(rng.standard_normal(size[0]))
    groups = drawn("posterior", skills, sd)
    groups |= drawn("prior", prior_sd[:, None] * rng.standard_normal(size), prior_sd)
    observed = {"epp_estimate": ("player", fit.epp)}
    groups["observed_data"] = xr.Dataset(observed, {"player": list(fit.players)})
    about = {"method": "normal approximation", "seed": seed, "model_name": "epp"}
    facts = describe_provenance([fit.data], known, **about)
    return result_tree(groups, {**facts, "draws_are_independent": 1, "matches": fit.kind})


def _draw_spread(
    epp: FloatArray, error: float, scale: float, rng: np.random.Generator, number: int
) -> FloatArray:
    grid = scale * _SCALES
    total = grid**2 + error
    log_p = -0.5 * ((epp.size - 1) * np.log(total) + epp @ epp / total)  # the chi-square law
    log_p += halfnorm.logpdf(grid, scale=scale) + np.log(grid)  # equal steps of the logarithm
    weights = np.exp(log_p - log_p.max())
    return rng.choice(grid, number, p=weights / weights.sum())


def ranks_of(epp: FloatArray) -> Any:
    """Ranks in each draw, 1 is best, (..., m)."""
    return np.argsort(np.argsort(-epp, axis=-1), axis=-1).astype(np.int32) + 1
