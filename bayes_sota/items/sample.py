"""Result of NUTS on the model of answers, in the one schema.

``tests/items/test_sample.py`` compares with SciPy.
"""

from typing import TYPE_CHECKING

import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import ItemPriors, Priors
from bayes_sota.core.sample import (
    completed_groups,
    describe_completed,
    model_of,
    resolve_seed,
    result_tree,
    share_of_draws,
)
from bayes_sota.core.types import Seed
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
    """Complete the trace of a model of ``build_model``, extended or not, to a result.

    Parameters
    ----------
    trace : DataTree
        From ``pm.sample``.
    responses : Outcomes
    model : pm.Model, optional
        Default: that of the ``with`` block, else ``build_model(responses, priors)``.
    priors : Priors or ItemPriors, optional
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        ``posterior`` and ``prior`` of the variables of ``build_model``, with ``skill``
        (classifier,), ``theta_sota`` and ``winner_skill``; ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive`` with ``right``; ``log_likelihood``,
        ``log_prior``, ``sample_stats``; ``point_estimate`` with ``p_best`` (classifier,);
        ``constant_data`` with the observed scores.

    Raises
    ------
    InputError
        A trace of another model or other data; priors beside a model; answers about new runs.

    Examples
    --------
    >>> import pymc as pm
    >>> import bayes_sota as bs
    >>> exam = bs.Outcomes([[1, 0], [1, 1], [0, 1], [1, 0]])
    >>> with bs.items.build_model(exam):
    ...     trace = pm.sample()  # doctest: +SKIP
    ...     tree = bs.items.complete(trace, exam)  # doctest: +SKIP
    """
    from bayes_sota.items.models import build_model

    if model is not None and priors is not None:
        raise InputError("priors have no effect beside a built model: leave them out")
    if responses.new == "runs":
        other = 'give answers.about("items"), or use bs.estimate_sota'
        raise InputError(f"skills of the model are those on new items, not on new runs: {other}")
    data = responses.about("items")  # a trace is of answers, whatever skills are about
    chosen = model_of(trace, model, lambda: build_model(responses, priors), data)
    rng, seed = resolve_seed(random_seed)
    groups = completed_groups(trace, chosen, rng)
    posterior = groups["posterior"]
    if "skill" not in posterior:
        raise InputError("the trace lacks the deterministic 'skill': keep it in var_names")
    best = posterior["skill"] == posterior["skill"].max("classifier")
    groups["point_estimate"] = share_of_draws(best, "p_best")
    scores = xr.DataArray(responses.scores, {"classifier": list(responses.names)})
    groups["constant_data"] = xr.Dataset({"all_score": scores, "observed_maximum": scores.max()})
    described = describe_completed(trace, chosen, groups, seed)
    return result_tree(groups, {**described, "new": responses.new})
