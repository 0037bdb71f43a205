"""Answers to every item by NUTS: from a trace of their model to the result in the one schema.

``tests/items/test_sample.py`` compares with SciPy.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.builders import ItemPriors
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import Priors
from bayes_sota.core.sample import resolve_seed, result_tree, share_of_draws
from bayes_sota.core.sample_trace import completed_groups, describe_completed, model_of
from bayes_sota.core.types import Seed
from bayes_sota.data.averages import group_means
from bayes_sota.data.outcomes import Outcomes

if TYPE_CHECKING:
    import pymc as pm


def complete(
    trace: xr.DataTree,
    responses: Outcomes,
    model: "pm.Model | None" = None,
    *,
    priors: Priors | ItemPriors | None = None,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    r"""Whole result of a trace of a model of ``build_model``, extended or not.

    Of answers about new runs of these items the skills are drawn here, given each draw of the
    trace: the chance of classifier i at item j has the law

    .. math:: Beta(\phi p_{ij} + k_{ij},\ \phi (1 - p_{ij}) + R - k_{ij})

    given k of R right runs, and the skill of a task is its mean over the items.

    Parameters
    ----------
    trace : DataTree
        With the group ``posterior``, as ``pm.sample`` gives it.
    responses : Outcomes
        What the model is of.
    model : pm.Model, optional
        Default: that of the ``with`` block, else ``build_model(responses, priors)``.
    priors : Priors or ItemPriors, optional
        Of ``build_model``, where no model is given.
    random_seed : int, SeedSequence, Generator or None
        Of draws from the prior, of fresh answers, and of the chances of items.

    Returns
    -------
    xarray.DataTree
        ``posterior`` and ``prior`` of the variables of ``build_model``, with ``skill``
        (classifier,), ``theta_sota`` and ``winner_skill``; ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive`` with ``right``; ``log_likelihood``,
        ``log_prior``, ``sample_stats``; ``point_estimate`` with ``p_best`` (classifier,);
        ``constant_data`` with the observed scores. Attributes: provenance, divergences, and
        ``new``, what skills are about.

    Raises
    ------
    InputError
        A trace of another model, other data or another schema, without variables of the model, or
        with variables that a model is needed for; priors beside a model.

    Examples
    --------
    >>> import pymc as pm
    >>> import bayes_sota as bs
    >>> exam = bs.Outcomes([[1, 0], [1, 1], [0, 1], [1, 0]], tasks=["law", "law", "art", "art"])
    >>> with bs.items.build_model(exam):
    ...     trace = pm.sample()  # doctest: +SKIP
    ...     tree = bs.items.complete(trace, exam)  # doctest: +SKIP
    """
    from bayes_sota.items.models import build_model

    if model is not None and priors is not None:
        raise InputError("priors have no effect beside a built model: leave them out")
    data = responses.about("items")  # a trace is of answers, whatever skills are about
    chosen = model_of(trace, model, lambda: build_model(responses, priors), data)
    rng, seed = resolve_seed(random_seed)
    groups = completed_groups(trace, chosen, rng)
    if responses.new == "runs":
        for name, seen in (("posterior", True), ("prior", False)):
            groups[name] = _with_skills(groups[name], chosen, responses, rng, seen)
    posterior = groups["posterior"]
    if "skill" not in posterior:
        raise InputError("the trace lacks the deterministic 'skill': keep it in var_names")
    best = posterior["skill"] == posterior["skill"].max("classifier")
    groups["point_estimate"] = share_of_draws(best, "p_best")
    groups["constant_data"] = _scores(responses)
    described = describe_completed(trace, chosen, groups, seed)
    return result_tree(groups, {**described, "new": responses.new})


def _scores(responses: Outcomes) -> xr.Dataset:
    """Observed scores."""
    values = {
        "all_score": ("classifier", responses.scores),
        "observed_maximum": ((), float(responses.scores.max())),
    }
    return xr.Dataset(values, {"classifier": list(responses.names)})


def _with_skills(
    draws: xr.Dataset, model: "pm.Model", responses: Outcomes, rng: np.random.Generator, seen: bool
) -> xr.Dataset:
    """Draws with skills on new runs of these items, given the counts or before they are seen."""
    import pytensor

    law = model["right"].owner
    runs, *before = law.op.dist_params(law)
    right = model.rvs_to_values[model["right"]]
    known: Any = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}
    evaluate = pytensor.function(model.free_RVs, before, **known)
    right, wrong = (x.eval() * seen for x in (right, runs - right))
    values = [draws[v.name].transpose("chain", "draw", ...).values for v in model.free_RVs]
    codes, weights = responses.task_codes
    size = (draws.sizes["chain"], draws.sizes["draw"])
    by_task = np.empty((*size, responses.n_classifiers, weights.size))
    for place in np.ndindex(*size):
        a, b = evaluate(*(value[place] for value in values))
        chance = rng.beta(a + right, b + wrong)
        by_task[place] = group_means(np.where(np.isnan(chance), a / (a + b), chance), codes).T
    skill = xr.DataArray(by_task @ weights, dims=("chain", "draw", "classifier"))
    return draws.assign(
        skill_of_task=(("chain", "draw", "classifier", "task"), by_task),
        skill=skill,
        theta_sota=skill.max("classifier"),
        winner_skill=skill[..., int(np.argmax(responses.scores))],
    ).assign_coords(classifier=list(responses.names), task=sorted(set(responses.tasks or ["all"])))
