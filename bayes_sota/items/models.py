r"""Model of answers to every item, as a plain ``pm.Model`` for NUTS, to extend.

A second route to the posterior from answers (``leaderboard.from_items``), from other assumptions.
Classifier ``i`` answers item ``j`` of task ``t`` and cluster ``c`` correctly in ``k_ij`` of ``R``
runs,

.. math:: k_{ij} \sim BetaBinomial(R, p_{ij}, \phi), \quad
          \mathrm{logit}\, p_{ij} = \sqrt{1 + .346 V}\,(\mu_t + a_i + d_{it}) + g_c + h_{ic} + b_j

with effects of tasks mu, of classifiers a, of items b, of clusters g, and interactions of a
classifier with tasks and clusters, d and h. Classifiers share errors through b and g. phi lets an
item be easy for one classifier alone. V is the variance of b, g and h. Because of the root,
``mu_t + a_i + d_it`` are the log odds of the share of all items of a task, within 0.02 of it.

``tests/items/test_models.py`` compares with SciPy and with the exact route.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_sota.core.errors import InputError
from bayes_sota.core.models import add_digest
from bayes_sota.core.priors import ItemPriors, Priors, normal_between, own_priors
from bayes_sota.core.text import codes_of
from bayes_sota.core.types import IntArray
from bayes_sota.data.outcomes import Outcomes

_NODES, _REACH = 61, 6.0  # trapezoidal rule over a normal law
_LOGISTIC = 0.346  # expit of a normal law: mean log odds over the root of 1 + this times variance
_TELLING = {"classifier": 50, "item": 10, "task": 50}  # answers, or items


def build_model(responses: Outcomes, priors: Priors | ItemPriors | None = None) -> pm.Model:
    r"""Model of classifiers, items, tasks, clusters and runs.

    The skill on new items of these tasks, whose weights are :math:`w_t`, and in new clusters is

    .. math:: \theta_i = \sum_t w_t \int \mathrm{expit}(\sqrt{1 + .346 V}\,(\mu_t + a_i + d_{it})
              + \sqrt V z)\, N(z; 0, 1)\, dz

    on new tasks (``Outcomes.about``) mu and d are integrated as well. Effects of classifiers, tasks
    and interactions sum to 0. Missing answers are left out.

    P(theta) has one shape: leave out failed classifiers (``Outcomes.subset``). Near-clones are not
    modelled.

    Parameters
    ----------
    responses : Outcomes
    priors : Priors or ItemPriors, optional
        ``Priors`` give the location and width of the field alone; ``ItemPriors`` has all scales.

    Returns
    -------
    pm.Model
        Deterministic ``skill`` (classifier,), ``theta_sota`` and ``winner_skill``, unless for new
        runs; ``skill_of_task`` (classifier, task), for new items.

        Free ``log_spread``, ``item_sd``, ``skill_deviation`` (classifier,) and ``item_level``
        (item,), or ``skill_offset`` and ``item_offset``, in units of their sd, if each has few
        answers; ``location``, or with several tasks ``task_mean``, ``location_offset``,
        ``task_sd``, ``task_deviation`` or ``task_offset`` (task,), ``interaction_sd``,
        ``interaction_offset`` (task, classifier); with clusters ``cluster_sd``,
        ``cluster_offset`` (cluster,), ``cluster_interaction_sd``, ``cluster_interaction_offset``
        (cluster, classifier); with several runs ``log_concentration``. Observed ``right`` (item,
        classifier), runs with the right answer.

    Raises
    ------
    InputError
        Other data than answers, one classifier, priors of another model, passes, shares that no
        number of runs gives.

    Examples
    --------
    >>> answers = np.random.default_rng(0).random((100, 4)) < 0.8
    >>> model = build_model(Outcomes(answers, tasks=["law"] * 60 + ["art"] * 40))
    >>> model.named_vars_to_dims["skill_of_task"]
    ('classifier', 'task')
    """
    right, runs = _counts(responses)
    known, names = own_priors(ItemPriors, priors), list(responses.names)
    tasks, task = codes_of(responses.tasks or ["all"] * len(right))
    coords = {"item": list(responses.items), "classifier": names, "task": tasks}
    with pm.Model(coords=coords) as model:
        add_digest(responses.about("items"))
        item_sd = pm.LogNormal("item_sd", *normal_between(np.log(known.item_sd)))
        of_clusters, of_pairs, variance = _clusters(known, responses)
        variance = variance + item_sd**2
        slope = pt.sqrt(1 + _LOGISTIC * variance)
        log_spread = pm.Normal("log_spread", *known.log_spread)
        entry = _deviations("skill", pt.exp(log_spread), "classifier", runs.sum(axis=0))
        location, level, extra, of_tasks = _tasks(known, len(names), np.bincount(task))
        middle = (slope * level)[task] + of_clusters
        of_item = _items(middle, item_sd, runs.sum(axis=1))
        own = slope * (entry + extra)
        _observed(right, runs, of_item[:, None] + own[task] + of_pairs, known)
        by_task = _mean_of_logistic(slope * (level[:, None] + entry + extra), variance).T
        if responses.new == "runs":
            return model
        if responses.new == "tasks":
            new = slope * (location + entry)
            skill = _mean_of_logistic(new, variance + slope**2 * of_tasks)
        else:
            pm.Deterministic("skill_of_task", by_task, dims=("classifier", "task"))
            skill = by_task @ responses.task_codes[1]
        skill = pm.Deterministic("skill", skill, dims="classifier")
        pm.Deterministic("theta_sota", pt.max(skill))
        pm.Deterministic("winner_skill", skill[int(np.argmax(responses.scores))])
    return model


def _counts(responses: Outcomes) -> tuple[IntArray, IntArray]:
    if not (isinstance(responses, Outcomes) and responses.is_answers):
        needed = "the model needs Outcomes of right and wrong answers"
        raise InputError(f"{needed}, got {responses!r:.60}")
    responses.check_several()
    if responses.passes is not None:
        counts = f"the model needs counts of right runs, not {responses.measured}"
        raise InputError(f"{counts}: give the answers without passes")
    values = responses.values
    runs = np.where(np.isnan(values), 0, responses.run_numbers)
    right = np.nan_to_num(values) * runs
    wrong = np.argwhere(~np.isclose(right, np.rint(right), rtol=0, atol=1e-3))
    if wrong.size:
        item, entry = wrong[0]
        raise InputError(
            f"the model needs counts of right runs: {responses.names[entry]!r} has the share "
            f"{values[item, entry]:.4g} for item {responses.items[item]!r}, no multiple of "
            f"1/{runs[item, entry]}; give n_runs of each item and classifier"
        )
    return np.rint(right).astype(np.int64), runs


def _deviations(name: str, sd: Any, dim: str, answers: IntArray) -> Any:
    """Effects that sum to 0: in log odds if answers are enough, else in units of the sd."""
    if np.median(answers) >= _TELLING[dim]:
        return pm.ZeroSumNormal(f"{name}_deviation", sd, dims=dim)
    offset = pm.ZeroSumNormal(f"{name}_offset", dims=dim)
    return pm.Deterministic(f"{name}_deviation", sd * offset, dims=dim)


def _tasks(known: ItemPriors, m: int, sizes: IntArray) -> tuple[Any, Any, Any, Any]:
    """Location of the field, levels of tasks, interactions with classifiers, their variance."""
    count = len(sizes)
    if count == 1:
        location = pm.Normal("location", *known.location)
        return location, location[None], np.zeros((1, m)), 0.0
    sd = pm.HalfNormal("task_sd", known.task_scale)
    extra_sd = pm.HalfNormal("interaction_sd", known.interaction_scale)
    place, width = known.location
    variance = width**2 + sd**2 / count
    mean = pm.Normal("task_mean", place, pt.sqrt(variance))
    left = sd / pt.sqrt(count * variance)
    offset = width * left * pm.Normal("location_offset")
    location = pm.Deterministic("location", place + (1 - left**2) * (mean - place) + offset)
    level = mean + _deviations("task", sd, "task", sizes)
    extra = extra_sd * pm.ZeroSumNormal("interaction_offset", dims=("task", "classifier"))
    return location, level, extra, sd**2 + extra_sd**2 * (1 - 1 / m)


def _items(middle: Any, sd: Any, answers: IntArray) -> Any:
    if np.median(answers) >= _TELLING["item"]:
        return pm.Normal("item_level", middle, sd, dims="item")
    return middle + sd * pm.Normal("item_offset", dims="item")


def _clusters(known: ItemPriors, responses: Outcomes) -> tuple[Any, Any, Any]:
    """Effects of clusters on items, interactions with classifiers, variance of both."""
    if responses.clusters is None:
        return 0.0, 0.0, 0.0
    names, cluster = codes_of(responses.clusters)
    pm.modelcontext(None).add_coord("cluster", names)
    sd = pm.HalfNormal("cluster_sd", known.cluster_scale)
    extra_sd = pm.HalfNormal("cluster_interaction_sd", known.interaction_scale)
    of_cluster = sd * pm.Normal("cluster_offset", dims="cluster")
    extra = pm.ZeroSumNormal("cluster_interaction_offset", dims=("cluster", "classifier"))
    variance = sd**2 + extra_sd**2 * (1 - 1 / responses.n_classifiers)
    return of_cluster[cluster], extra_sd * extra[cluster], variance


def _observed(right: IntArray, runs: IntArray, log_odds: Any, known: ItemPriors) -> None:
    data: dict[str, Any] = {"n": runs, "observed": right, "dims": ("item", "classifier")}
    if runs.max() == 1:
        pm.Binomial("right", logit_p=log_odds, **data)
        return
    phi = pt.exp(pm.Normal("log_concentration", *known.log_concentration))
    right_share, wrong = (pt.clip(pm.math.invlogit(x), 1e-12, 1) for x in (log_odds, -log_odds))
    pm.BetaBinomial("right", alpha=phi * right_share, beta=phi * wrong, **data)


def _mean_of_logistic(middle: Any, variance: Any) -> Any:
    """Mean of expit of a normal law: to 1e-8 at an SD of 5, to 3e-5 at 10."""
    nodes = np.linspace(-_REACH, _REACH, _NODES)
    weights = np.exp(-0.5 * nodes**2)
    log_odds = pt.shape_padright(middle) + pt.sqrt(variance) * nodes
    return pt.sum(pm.math.invlogit(log_odds) * (weights / weights.sum()), axis=-1)
