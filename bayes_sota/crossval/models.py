r"""Learners over data sets, iterations and folds of cross-validation, as plain ``pm.Model``.

With relative scores :math:`x_{ifj}` (``relative_scores``), i an iteration on data set t, f a fold
and j a learner, and :math:`C` the removal of the mean over the learners:

.. math::
   \bar x_i \sim t_\nu\big(s_t,\; C\, diag(c_{tj}^2 v_{tj} / k)\, C\big), \qquad
   x_{if} - \bar x_i \sim N\big(0,\; C\, diag(v_{tj})\, C\big), \; \textstyle\sum_f = 0

   s_{tj} = \mu_{tj} + b_{tj}, \quad
   b_{tj} \sim N\Big(0, \frac{\rho}{1 - \rho} v_{tj} \Big(1 - \frac{1 - c_{tj}^2}{k}\Big)\Big)

   \mu_{tj} \sim t_4(\alpha_j, \omega), \quad \alpha_j \sim N(0, \sigma)

The steady state s is what endless repetition would give on this data set, and :math:`\mu` what data
sets of this size give in the mean. All fold scores of a data set share b, whose variance is
:math:`\rho / (1 - \rho)` times that of fold scores over all iterations, as in the correlated t:
with c = 1 and normal laws every two have the correlation :math:`\rho`. No number of iterations
tells b from :math:`\mu`: they shift all fold scores of a data set alike, so that rho is not
identified (Bengio & Grandvalet 2004). It is fixed at
:math:`n_{test} / (n_{train} + n_{test}) = 1 / k` (Nadeau & Bengio 2003). b is integrated out, and
:math:`\mu` drawn given s. The ratio c, which tells how much of the folds' noise the folds of one
partition share out among themselves, is learnt from two iterations on.

Sds of few numbers and the numbers themselves make a funnel, in which NUTS diverges. So the sampler
moves :math:`\log v`, :math:`\log c` and :math:`\alpha` in the coordinates of ``_Standardised``,
between a centred and a non-centred form, as far as the data tell each of them (Papaspiliopoulos,
Roberts & Sköld 2007). The laws are not touched by that.
``tests/crossval/test_models.py`` compares with SciPy's laws and with the correlated Student t.
"""

from itertools import combinations
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import ZeroSumTransform
from pymc.logprob.transforms import Transform

from bayes_sota.core.arguments import POSITIVE
from bayes_sota.core.builders import CrossValidationPriors, own_priors
from bayes_sota.core.models import add_digest
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.relative_scores import RelativeScores, relative_scores

_FLOOR = 0.02  # of the unit: learners who agree throughout would have a spike of density
_GRID = ("task", "learner")


def build_model(
    fold_scores: FoldScores,
    priors: CrossValidationPriors | None = None,
    *,
    unit: float | None = None,
) -> pm.Model:
    r"""Model of the differences of learners on one data set or many.

    Parameters
    ----------
    fold_scores : FoldScores
        Iterations that a learner did not complete are left out.
    priors : CrossValidationPriors, optional
    unit : float, optional
        Of the priors, in units of the score; default the typical sd of a learner's own part of a
        fold score, from the data.

    Returns
    -------
    pm.Model
        In units of the score: ``learner_effect`` (learner,) over all data sets, ``task_effect``
        (task, learner) on data sets of this size, ``steady_state`` (task, learner) of endless
        repetition, each relative to the mean over the learners; ``difference`` (pair,) and
        ``task_difference`` (task, pair) of the first two; ``fold_sd``, ``partition_sd`` and
        ``shared_sd`` (task, learner) of a fold, of the mean of an iteration and of what all fold
        scores share, which repetition cannot remove; ``learner_sd``, ``interaction_sd``,
        ``degrees_of_freedom``, and ``overlap_correlation``, which is data. Observed
        ``relative_score`` (iteration, fold, learner).

    Raises
    ------
    InputError
        What ``relative_scores`` refuses, another kind of priors, a unit that is not positive.

    Notes
    -----
    What a data set does to all learners cancels in every difference: it takes no part. Of two
    learners only the sum of their variances is identified; they then share one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> runs = FoldScores(rng.normal(0.8, 0.05, (2, 3, 4, 5)), learners=["a", "b", "c"])
    >>> model = build_model(runs)
    >>> model.named_vars_to_dims["task_difference"], list(model.coords["pair"])
    (('task', 'pair'), ['a - b', 'a - c', 'b - c'])
    """
    known = own_priors(CrossValidationPriors, priors)
    data = relative_scores(fold_scores)
    unit = data.unit if unit is None else POSITIVE.check(unit, "unit")
    pairs = np.array(list(combinations(range(len(data.learners)), 2)))
    names = data.learners
    coords = {
        "learner": list(names),
        "task": list(data.tasks),
        "iteration": list(data.labels),
        "fold": list(range(data.values.shape[1])),
        "pair": [f"{names[a]} - {names[b]}" for a, b in pairs],
    }
    with pm.Model(coords=coords) as model:
        add_digest(fold_scores)
        pm.Data("iteration_task", data.task, dims="iteration")
        pm.Data("score_unit", unit)
        variance = _fold_variances(data, known, unit)
        ratio = _partition_ratios(data, known)
        freedom = 2 + pm.Gamma("excess_degrees_of_freedom", *known.tails)
        pm.Deterministic("degrees_of_freedom", freedom)
        per_iteration = ratio**2 * variance / data.folds
        spread = pm.math.sqrt(per_iteration * freedom / (freedom - 2))
        pm.Deterministic("partition_sd", spread, dims=_GRID)
        odds = known.overlap / (data.folds - 1)  # of rho
        pm.Data("overlap_correlation", odds / (1 + odds))
        # With one score per iteration nothing tells the ratio, which is then taken as 1.
        over = 1 - (1 - ratio**2) / data.folds if data.values.shape[1] > 1 else 1.0
        shared = odds * variance * over  # of fold scores over all iterations
        pm.Deterministic("shared_sd", pm.math.sqrt(shared), dims=_GRID)
        steady = _steady_state(data, known, unit, shared, pairs)
        _observe(data, steady, variance, per_iteration, freedom)
    return model


def _by_cell(data: RelativeScores, offset: Any) -> Any:
    """The same for both where there are two learners, (task, learner)."""
    return pt.broadcast_to(offset, (len(data.tasks), len(data.learners)))


def _fold_variances(data: RelativeScores, priors: CrossValidationPriors, unit: float) -> Any:
    """Variances v of fold scores within an iteration, (task, learner)."""
    typical = pm.Normal("typical_log_spread", np.log(unit), 1.0)
    of_task = pm.Normal("task_log_spread", typical, priors.task_spread, dims="task")
    logs = of_task[:, None]
    if len(data.learners) > 2:
        spread = pm.HalfNormal("log_spread_sd", priors.spread_scale)
        told = _Standardised(*data.log_fold_sd)
        logs = pm.Normal("log_fold_sd", logs, spread, dims=_GRID, transform=told)
    variance = _by_cell(data, pt.exp(2 * logs) + (_FLOOR * unit) ** 2)
    pm.Deterministic("fold_sd", pt.sqrt(variance), dims=_GRID)
    return variance


def _partition_ratios(data: RelativeScores, priors: CrossValidationPriors) -> Any:
    """Ratios c, (task, learner)."""
    median, sd = priors.partition_ratio
    typical = pm.Normal("typical_log_ratio", np.log(median), sd)
    several = len(data.learners) > 2
    told = [x if several else x[:, 0] for x in data.log_partition_ratio]
    logs = pm.Normal(
        "log_partition_ratio",
        typical,
        priors.ratio_sd,
        dims=_GRID if several else ("task",),
        transform=_Standardised(*told),
    )
    return _by_cell(data, pt.exp(logs if logs.ndim == 2 else logs[:, None]))


def _steady_state(
    data: RelativeScores,
    priors: CrossValidationPriors,
    unit: float,
    shared: Any,
    pairs: IntArray,
) -> Any:
    """Steady states s (task, learner); ``shared`` is the variance of b."""
    sd = pm.HalfNormal("learner_sd", priors.learner_scale * unit)
    interaction = pm.HalfNormal("interaction_sd", priors.interaction_scale * unit)
    tails = priors.interaction_tails / 2
    precision = pm.Gamma("interaction_precision", tails, tails, dims=_GRID)
    own = interaction**2 / precision
    effect = _learner_effects(data, sd, own + shared)
    means = pt.broadcast_to(effect, (len(data.tasks), len(data.learners)))
    steady = pm.CustomDist(
        "steady_state",
        means,
        own + shared,
        logp=zero_sum_logp,
        random=_draw_zero_sum,
        signature="(l),(l)->(l)",
        transform=ZeroSumTransform([-1]),
        dims=_GRID,
        support_point=lambda _, size, means, variances: means,
    )
    true = _draw_true_effects(effect, steady, own, shared)
    true = pm.Deterministic("task_effect", true - true.mean(axis=1, keepdims=True), dims=_GRID)
    a, b = pairs.T
    pm.Deterministic("difference", effect[a] - effect[b], dims="pair")
    pm.Deterministic("task_difference", true[:, a] - true[:, b], dims=("task", "pair"))
    return steady


def _learner_effects(data: RelativeScores, sd: Any, variances: Any) -> Any:
    """Effects alpha; ``variances`` of s given them serve the coordinates alone."""
    weight = (1 / variances).mean(axis=1)
    told = (weight[:, None] * data.task_means).sum(axis=0) / weight.sum()
    return pm.CustomDist(
        "learner_effect",
        pt.zeros_like(told),
        sd**2,
        told,
        weight.sum(),
        logp=lambda values, mean, variance, *_: zero_sum_logp(values, mean, mean + variance),
        random=lambda mean, variance, *_, rng, size: _draw_zero_sum(mean, mean + variance, rng),
        signature="(l),(),(l),()->(l)",
        dims="learner",
        transform=_StandardisedZeroSum([-1]),
        support_point=lambda _, size, mean, *__: mean,
    )


def _draw_true_effects(effect: Any, steady: Any, own: Any, shared: Any) -> Any:
    r"""Effects mu given the steady states, whose common part is not known.

    :math:`u = \mu + b - \alpha` is normal with independent entries of variance
    :math:`D = \omega^2 / \lambda + \rho v / (1 - \rho)`; s gives u up to a constant, which is
    normal, and each u splits into its two parts.
    """
    total = own + shared
    weight = 1 / total
    known = steady - effect
    whole = weight.sum(axis=1, keepdims=True)
    level = pm.Normal("level_offset", dims="task")[:, None] / pt.sqrt(whole)
    level -= (weight * known).sum(axis=1, keepdims=True) / whole
    noise = pm.Normal("effect_offset", dims=_GRID)
    return effect + own * weight * (known + level) + pt.sqrt(own * shared * weight) * noise


def _observe(data: RelativeScores, steady: Any, variance: Any, mean_variance: Any, nu: Any) -> None:
    task, observed = data.task, pm.Data("given_scores", data.values)

    def logp(values: Any, *parameters: Any) -> Any:
        # PyMC gives parameters the number of dimensions of the data
        steady, variance, mean_variance, nu = (x[0] for x in parameters[:4])
        return relative_logp(values, task, steady, variance, mean_variance, nu)

    def random(*parameters: Any, rng: Any = None, size: Any = None) -> Any:
        *cells, nu, folds = parameters
        steady, variance, mean_variance = (x.reshape(x.shape[-2:])[task] for x in cells)
        return _draw_scores(
            steady, variance, mean_variance, float(np.ravel(nu)[0]), folds.shape[-1], rng
        )

    pm.CustomDist(
        "relative_score",
        steady,
        variance,
        mean_variance,
        nu,
        np.arange(data.values.shape[1]),
        logp=logp,
        random=random,
        signature="(t,l),(t,l),(t,l),(),(f)->(f,l)",
        observed=observed,
        dims=("iteration", "fold", "learner"),
    )


def relative_logp(
    values: Any, task: IntArray, steady: Any, variance: Any, mean_variance: Any, nu: Any
) -> Any:
    """Log density of the relative scores of each iteration, (iteration,).

    ``values`` (iteration, fold, learner) add up to 0 over the learners, and the density is with
    respect to orthonormal coordinates of such numbers. ``task`` is of each iteration; s, v and the
    squared scale of the mean of an iteration are (task, learner); ``nu`` are degrees of freedom.
    """
    values = pt.as_tensor(values)
    folds, free = values.shape[1], values.shape[2] - 1
    means = values.mean(axis=1)
    weight, log_volume = _weights(mean_variance * folds)
    square = folds * _square(weight[task], means - steady[task])
    of_means = pt.gammaln((nu + free) / 2) - pt.gammaln(nu / 2) - free / 2 * pt.log(np.pi * nu)
    of_means = of_means - log_volume[task] - (nu + free) / 2 * pt.log1p(square / nu)
    weight, log_volume = _weights(variance)
    within = values - means[:, None]
    products = pt.matmul(within.transpose(0, 2, 1), within)  # constant where the data are
    shared = weight[:, :, None] * (weight / weight.sum(axis=1, keepdims=True))[:, None]
    precision = pt.eye(free + 1) * weight[:, :, None] - shared
    square = (precision[task] * products).sum(axis=(1, 2))
    of_folds = -square / 2 - (folds - 1) * (free / 2 * np.log(2 * np.pi) + log_volume[task])
    return of_means + of_folds


def zero_sum_logp(values: Any, means: Any, variances: Any) -> Any:
    r"""Log density of normal numbers less their mean, in orthonormal coordinates.

    Parameters
    ----------
    values, means, variances : tensor, shape (..., learner)
        Values add up to 0; variances are those of the independent numbers.

    Returns
    -------
    tensor, shape (...)

    Examples
    --------
    >>> log_p = zero_sum_logp(np.array([0.5, -0.5]), np.zeros(2), np.ones(2))
    >>> float(log_p.eval().round(4))  # a standard normal at the square root of 1/2
    -1.1689
    """
    variances = pt.as_tensor(variances)
    weight, log_volume = _weights(variances)
    free = variances.shape[-1] - 1
    return -_square(weight, values - means) / 2 - free / 2 * np.log(2 * np.pi) - log_volume


def _standard_law(mean: Any, variance: Any, estimate: Any, precision: Any) -> tuple[Any, Any]:
    """Mean and sd of normal numbers, given an estimate of known precision."""
    share = 1 / (1 + precision * variance)
    return estimate + share * (mean - estimate), pt.sqrt(variance * share)


class _Standardised(Transform):  # type: ignore[misc]
    """Coordinates in which normal numbers are nearly standard, whatever their mean and sd are.

    They are the distance from what prior and data together tell, about, in its standard deviations.
    """

    name = "standardised"
    ndim_supp = 0

    def __init__(self, estimate: FloatArray, precision: FloatArray):
        self.told = estimate, precision

    def _law(self, inputs: Any) -> tuple[Any, Any]:
        return _standard_law(inputs[-2], inputs[-1] ** 2, *self.told)

    def forward(self, value: Any, *inputs: Any) -> Any:
        mean, sd = self._law(inputs)
        return (value - mean) / sd

    def backward(self, value: Any, *inputs: Any) -> Any:
        mean, sd = self._law(inputs)
        return mean + sd * value

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        return pt.zeros_like(value) + pt.log(self._law(inputs)[1])


class _StandardisedZeroSum(ZeroSumTransform):  # type: ignore[misc]
    """The same of numbers that add up to 0; the estimate and its precision depend on others."""

    def forward(self, value: Any, *inputs: Any) -> Any:
        mean, sd = _standard_law(*inputs[-4:])
        return super().forward((value - mean) / sd)

    def backward(self, value: Any, *inputs: Any) -> Any:
        mean, sd = _standard_law(*inputs[-4:])
        return mean + sd * super().backward(value)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        return value.shape[0] * pt.log(_standard_law(*inputs[-4:])[1])


def _weights(variances: Any) -> tuple[Any, Any]:
    """Inverse variances, and half the log volume of numbers less their mean."""
    weight = 1 / variances
    volume = pt.log(weight.sum(axis=-1)) - pt.log(weight).sum(axis=-1)
    return weight, (volume - pt.log(variances.shape[-1])) / 2


def _square(weight: Any, gap: Any) -> Any:
    """Squared distance of numbers less their mean, weighted by ``_weights``."""
    middle = (weight * gap).sum(axis=-1, keepdims=True) / weight.sum(axis=-1, keepdims=True)
    return (weight * (gap - middle) ** 2).sum(axis=-1)


def _draw_zero_sum(means: Any, variances: Any, rng: Any = None, size: Any = None) -> FloatArray:
    drawn = np.asarray(means + np.sqrt(variances) * rng.standard_normal(np.shape(variances)))
    return drawn - drawn.mean(axis=-1, keepdims=True)


def _draw_scores(
    steady: FloatArray,
    variance: FloatArray,
    mean_variance: FloatArray,
    nu: float,
    folds: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Relative scores (iteration, fold, learner) of cells (iteration, learner)."""
    heavy = np.sqrt(rng.chisquare(nu, len(steady)) / nu)[:, None]
    means = np.sqrt(mean_variance) * rng.standard_normal(steady.shape) / heavy
    within = np.sqrt(variance[:, None]) * rng.standard_normal((len(steady), folds, steady.shape[1]))
    scores = within - within.mean(axis=1, keepdims=True) + means[:, None]
    return scores - scores.mean(axis=-1, keepdims=True) + steady[:, None]
