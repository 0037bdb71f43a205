r"""Learners over data sets, iterations and folds of cross-validation, as plain ``pm.Model``.

With relative scores :math:`x_{ifj}` (``relative_scores``) of iteration i on data set t, fold f and
learner j, and :math:`C` the removal of the mean over the learners:

.. math::
   \bar x_i \sim N\big(s_t,\; C\, diag(c_{tj}^2 v_{tj} / k)\, C\big), \qquad
   x_{if} - \bar x_i \sim N\big(0,\; C\, diag(v_{tj})\, C\big), \; \textstyle\sum_f = 0

   s_{tj} = \mu_{tj} + b_{tj}, \quad
   b_{tj} \sim N\Big(0, \frac{\rho}{1 - \rho} v_{tj} \Big(1 - \frac{1 - c_{tj}^2}{k}\Big)\Big)

   \mu_{tj} \sim t_4(\alpha_j, \omega), \quad \alpha_j \sim N(0, \sigma)

The steady state s is the mean of endless repetition on this data set, :math:`\mu` the mean over
data sets of this size; the ratio c is below 1 where the folds of one partition share out the hard
items. With c = 1 every two fold scores of a data set have the correlation :math:`\rho`, fixed at
1 / k as in the correlated t. b and :math:`\alpha` are integrated out; :math:`\alpha` and
:math:`\mu` are drawn given s.
``tests/crossval/test_models.py`` compares with SciPy's laws and the correlated Student t.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import ZeroSumTransform

from bayes_sota.core.arguments import POSITIVE
from bayes_sota.core.models import add_digest
from bayes_sota.core.priors import CrossValidationPriors, own_priors
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.crossval.fold_scores import FoldScores, pair_names, relative_scores

_FLOOR = 0.02  # of the unit: learners who agree throughout would have a spike of density
_GRID = ("task", "learner")


def build_model(
    fold_scores: FoldScores,
    priors: CrossValidationPriors | None = None,
    *,
    unit: float | None = None,
) -> pm.Model:
    """Model of the differences of learners on one data set or many.

    Parameters
    ----------
    fold_scores : FoldScores
        Iterations that a learner did not complete are left out.
    priors : CrossValidationPriors, optional
    unit : float, optional
        Unit of the priors. Default: the typical sd of a learner's own part of a fold score.

    Returns
    -------
    pm.Model
        In units of the score, relative to the mean over the learners: ``learner_effect`` (learner,)
        over all data sets, ``task_effect`` (task, learner) on data sets of this size,
        ``steady_state`` (task, learner) of endless repetition; ``difference`` (pair,) and
        ``task_difference`` (task, pair) of the first two; ``fold_sd``, ``partition_sd`` and
        ``shared_sd`` (task, learner) of a fold, of the mean of an iteration and of the part that
        all fold scores share; ``learner_sd``, ``interaction_sd``. Observed ``relative_score``
        (iteration, fold, learner). Two learners share one variance.

    Raises
    ------
    InputError
        One learner, a data set without complete iterations, learners whose differences never vary,
        another kind of priors, a unit that is not positive.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> runs = FoldScores(rng.normal(0.8, 0.05, (2, 3, 4, 5)), learners=["a", "b", "c"])
    >>> model = build_model(runs)
    >>> model.named_vars_to_dims["task_difference"], list(model.coords["pair"])
    (('task', 'pair'), ['a - b', 'a - c', 'b - c'])
    """
    known = own_priors(CrossValidationPriors, priors)
    data, names, k = relative_scores(fold_scores), fold_scores.learners, fold_scores.folds
    unit = data.unit if unit is None else POSITIVE.check(unit, "unit")
    a, b = np.triu_indices(len(names), 1)
    coords = {
        "learner": names,
        "task": fold_scores.tasks,
        "iteration": data.labels,
        "fold": range(data.values.shape[1]),
        "pair": pair_names(names),
    }
    with pm.Model(coords={dim: list(labels) for dim, labels in coords.items()}) as model:
        add_digest(fold_scores)
        pm.Data("iteration_task", data.task, dims="iteration")
        pm.Data("score_unit", unit)
        pm.Data("n_iterations", data.iterations, dims="task")
        gaps = data.task_means[:, a] - data.task_means[:, b]
        pm.Data("observed_difference", gaps, dims=("task", "pair"))
        odds = known.overlap / (k - 1)  # of rho
        pm.Data("overlap_correlation", odds / (1 + odds))
        typical = pm.Normal("task_log_spread", np.log(unit), known.task_spread, dims="task")
        logs = _by_cell("log_fold_sd", typical, known.learner_spread)
        variance = pt.exp(2 * logs) + (_FLOOR * unit) ** 2
        partition, over_all = variance / k, variance
        if data.values.shape[1] > 1:  # else nothing tells the ratio
            median, sd = known.partition_ratio
            ratio = _by_cell("log_partition_ratio", pt.full_like(typical, np.log(median)), sd)
            partition *= pt.exp(2 * ratio)
            over_all = variance * (1 - 1 / k) + partition
        shared = odds * over_all
        for name, square in (("fold", variance), ("partition", partition), ("shared", shared)):
            pm.Deterministic(f"{name}_sd", pt.sqrt(square), dims=_GRID)
        sd = pm.HalfNormal("learner_sd", known.learner_scale * unit)
        interaction = pm.HalfNormal("interaction_sd", known.interaction_scale * unit)
        half = known.interaction_tails / 2
        own = interaction**2 / pm.Gamma("interaction_precision", half, half, dims=_GRID)
        steady = pm.CustomDist(
            "steady_state",
            own + shared,
            sd,
            logp=steady_logp,
            random=_draw_steady,
            signature="(t,l),()->(t,l)",
            transform=ZeroSumTransform([-1]),
            support_point=lambda _, size, variances, sd: pt.zeros_like(variances),
            dims=_GRID,
        )
        _, inverse, pull = _effect_law(steady, own + shared, sd)
        effect = sd * inverse.T @ (sd * pull + pm.Normal("learner_offset", dims="learner"))
        effect = pm.Deterministic("learner_effect", effect - effect.mean(), dims="learner")
        true = _draw_true_effects(effect, steady, own, shared)
        true = pm.Deterministic("task_effect", true - true.mean(axis=1, keepdims=True), dims=_GRID)
        pm.Deterministic("difference", effect[a] - effect[b], dims="pair")
        pm.Deterministic("task_difference", true[:, a] - true[:, b], dims=("task", "pair"))
        _observe(data, steady, variance, partition)
    return model


def steady_logp(values: Any, variances: Any, sd: Any) -> Any:
    """Log density of steady states (task, learner), effects of this ``sd`` integrated out."""
    alone, inverse, pull = _effect_law(values, variances, sd)
    shared = (sd * pull) ** 2 / 2 + pt.log(pt.diagonal(inverse))
    return alone + shared.sum() / alone.size  # the transform asks for a number for each data set


def _effect_law(values: Any, variances: Any, sd: Any) -> tuple[Any, Any, Any]:
    """Log density (task,) were all effects 0, and G and u of the effects given steady states.

    They are N(sd^2 G'u, sd^2 G'G), where G is the inverse of the Cholesky factor of I + sd^2 P, P
    the sum of the precisions of the data sets, and P 1 = 0.
    """
    precision, volume = _zero_sum_law(variances)
    pull = (precision * values[:, None, :]).sum(axis=-1)
    factor = pt.linalg.cholesky(pt.eye(values.shape[1]) + sd**2 * precision.sum(axis=0))
    inverse = pt.linalg.inv(factor)
    alone = volume - (pull * values).sum(axis=-1) / 2
    return alone, inverse, inverse @ pull.sum(axis=0)


def _draw_steady(variances: Any, sd: Any, rng: Any = None, size: Any = None) -> FloatArray:
    effect = sd * rng.standard_normal(np.shape(variances)[-1])
    return _draw_zero_sum(effect - effect.mean(), variances, rng)


def _by_cell(name: str, mean: Any, sd: float) -> Any:
    """Normal numbers (task, learner); two learners share one."""
    n_tasks, n = (len(pm.modelcontext(None).coords[dim]) for dim in _GRID)
    if n > 2:
        return pm.Normal(name, mean[:, None], sd, dims=_GRID)
    return pt.broadcast_to(pm.Normal(name, mean, sd, dims="task")[:, None], (n_tasks, n))


def _draw_true_effects(effect: Any, steady: Any, own: Any, shared: Any) -> Any:
    r"""Effects mu given the steady states, whose common part is not known.

    :math:`u = \mu + b - \alpha` has independent normal entries; s gives u up to a normal constant.
    """
    weight = 1 / (own + shared)
    known, whole = steady - effect, weight.sum(axis=1, keepdims=True)
    level = pm.Normal("level_offset", dims="task")[:, None] / pt.sqrt(whole)
    level -= (weight * known).sum(axis=1, keepdims=True) / whole
    noise = pm.Normal("effect_offset", dims=_GRID)
    return effect + own * weight * (known + level) + pt.sqrt(own * shared * weight) * noise


def _observe(data: SimpleNamespace, steady: Any, variance: Any, partition: Any) -> None:
    task, dims = data.task, ("iteration", "fold", "learner")

    def logp(values: Any, *parameters: Any) -> Any:
        # PyMC gives parameters the number of dimensions of the data
        return relative_logp(values, task, *(x[0] for x in parameters[:3]))

    def random(*parameters: Any, rng: Any = None, size: Any = None) -> Any:
        s, v, of_means = (x.reshape(x.shape[-2:])[task] for x in parameters[:3])
        noise = rng.standard_normal((len(s), parameters[3].size, s.shape[1]))
        within = np.sqrt(v[:, None]) * noise
        within -= within.mean(axis=1, keepdims=True)
        means = _draw_zero_sum(s, of_means, rng)[:, None]
        return within - within.mean(axis=-1, keepdims=True) + means

    pm.CustomDist(
        "relative_score",
        steady,
        variance,
        partition,
        np.arange(data.values.shape[1]),
        logp=logp,
        random=random,
        signature="(t,l),(t,l),(t,l),(f)->(f,l)",
        observed=pm.Data("given_scores", data.values, dims=dims),
        dims=dims,
    )


def relative_logp(values: Any, task: IntArray, steady: Any, variance: Any, partition: Any) -> Any:
    """Log density of relative scores (iteration, fold, learner), by iteration.

    s, v and the variance of an iteration's mean are (task, learner). The density is in orthonormal
    coordinates of numbers that add up to 0.
    """
    values = pt.as_tensor(values)
    folds, means = values.shape[1], values.mean(axis=1)
    within = values - means[:, None]
    precision, volume = _zero_sum_law(variance)
    products = pt.matmul(within.transpose(0, 2, 1), within)  # constant where the data are
    of_folds = (folds - 1) * volume[task] - (precision[task] * products).sum(axis=(1, 2)) / 2
    of_means = zero_sum_logp(means, steady[task], partition[task])
    return of_folds + of_means - (values.shape[2] - 1) * pt.log(folds) / 2


def zero_sum_logp(values: Any, means: Any, variances: Any) -> Any:
    """Log density, (...), of normal numbers less their mean, in orthonormal coordinates.

    ``variances`` (..., learner) are those of the independent numbers.
    """
    precision, volume = _zero_sum_law(pt.as_tensor(variances))
    gap = values - means
    return volume - (precision * gap[..., None] * gap[..., None, :]).sum(axis=(-1, -2)) / 2


def _zero_sum_law(variances: Any) -> tuple[Any, Any]:
    """Precision (..., learner, learner), and log density at 0, of numbers less their mean."""
    n, weight = variances.shape[-1], 1 / variances
    whole = weight.sum(axis=-1)
    shared = weight[..., None] * weight[..., None, :] / whole[..., None, None]
    volume = pt.log(weight).sum(axis=-1) - pt.log(whole / n) - (n - 1) * np.log(2 * np.pi)
    return pt.eye(n) * weight[..., None] - shared, volume / 2


def _draw_zero_sum(means: Any, variances: Any, rng: Any = None, size: Any = None) -> FloatArray:
    drawn = np.asarray(means + np.sqrt(variances) * rng.standard_normal(np.shape(variances)))
    return drawn - drawn.mean(axis=-1, keepdims=True)
