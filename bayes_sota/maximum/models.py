r"""The exact marginal likelihood of observed maxima as a plain ``pm.Model`` for NUTS.

The skills, the reference classifier's count and the number of tries are summed out
(``bayes_sota.maximum.likelihood``); location, spread and rho are left. The tables of survival
functions are constants at Chebyshev nodes of rho; between them the log likelihood is
interpolated. The result is yours to extend: add a variable, replace a prior, add a likelihood.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import (
    BetaCorrelation,
    BetaSkill,
    CorrelationPrior,
    LogitNormalSkill,
    Priors,
    SkillPrior,
    UniformSkill,
)
from bayes_sota.core.skills import logit
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.field_draws import best_count
from bayes_sota.maximum.likelihood import BoardLikelihood

__all__ = ["build_observed_maximum"]

HatWeights = Callable[[Any, Any, FloatArray], Any]

_RHO_NODES = 7
_RHO_TAIL = 2e-4  # prior probability on each side where the likelihood is held constant in rho


def build_observed_maximum(
    boards: Leaderboard | Sequence[Leaderboard],
    priors: Priors | None = None,
    *,
    reference_skill: float | None = None,
) -> pm.Model:
    r"""Model of one or several boards of which the maximum is known.

    .. math::
        \text{location} \sim N, \quad \log \text{spread} \sim N, \quad \rho \sim \text{Beta}, \quad
        L = \sum_k P(S_0 = k) \big[ H_k(1, x_{hi})^m - H_k(1, x_{lo} - 1)^m \big]

    Parameters
    ----------
    boards : Leaderboard or sequence of them
        Several boards share location, spread and rho; then ``observed_maximum`` has the
        dimension ``board``.
    priors : Priors, optional
        A quantity that is known becomes a constant.
    reference_skill : float, optional
        theta0; default each board's observed maximum.

    Returns
    -------
    pm.Model
        Free variables ``level`` (location + q * spread, near the best skill: the data inform the
        top of the field), ``log_spread`` and ``rho``; deterministic ``location``, ``spread``.
        ``observed_maximum`` is a ``pm.CustomDist`` whose draws are fresh boards.

    Examples
    --------
    >>> board = Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    >>> model = build_observed_maximum(board)
    >>> [v.name for v in model.free_RVs]
    ['log_spread', 'level', 'rho']
    """
    boards = (boards,) if isinstance(boards, Leaderboard) else tuple(boards)
    if not boards:
        raise InputError("at least one leaderboard is needed")
    priors = Priors() if priors is None else priors
    nodes = _correlation_nodes(priors.correlation)
    likelihoods = [BoardLikelihood(board, nodes, reference_skill) for board in boards]
    hat_weights, several = _hat_weights(priors.skill), len(boards) > 1
    observed = np.array([board.maximum for board in boards])
    with pm.Model(coords={"board": [b.name for b in boards]} if several else {}) as model:
        spread = _spread(priors.skill)
        location = _location(priors.skill, spread, max(x.board.typical_tries for x in likelihoods))
        rho = _correlation(priors.correlation)
        # with several boards a vector tells PyMC their number
        parameters = (location, spread, rho, *([observed] if several else []))
        pm.CustomDist(
            "observed_maximum",
            *parameters,
            logp=_log_likelihood(hat_weights, likelihoods, nodes, several),
            random=_random(priors.skill, likelihoods, several),
            signature="(),(),(),(n)->(n)" if several else "(),(),()->()",
            observed=observed if several else float(observed[0]),
            dims="board" if several else None,
        )
    return model


def _correlation_nodes(prior: CorrelationPrior) -> FloatArray:
    if prior.is_fixed:
        return np.atleast_1d(prior.quantile(0.5))
    low, high = prior.quantile([_RHO_TAIL, 1 - _RHO_TAIL])
    angle = (np.arange(_RHO_NODES) + 0.5) * np.pi / _RHO_NODES
    return np.asarray((low + high) / 2 - (high - low) / 2 * np.cos(angle))


def _spread(prior: SkillPrior) -> Any:
    if prior.spread_is_fixed:
        return pm.Deterministic("spread", pt.as_tensor_variable(np.exp(prior.log_spread_mean)))
    log_spread = pm.Normal("log_spread", prior.log_spread_mean, prior.log_spread_sd)
    return pm.Deterministic("spread", pt.exp(log_spread))


def _location(prior: SkillPrior, spread: Any, tries: float) -> Any:
    if prior.location_is_fixed:
        return pm.Deterministic("location", pt.as_tensor_variable(prior.location_mean))
    offset = np.sqrt(2 * np.log(tries + 1))
    if isinstance(prior, UniformSkill):
        offset = np.sqrt(3)
    level = pm.Normal("level", prior.location_mean + offset * spread, prior.location_sd)
    return pm.Deterministic("location", level - offset * spread)


def _correlation(prior: CorrelationPrior) -> Any:
    if isinstance(prior, BetaCorrelation):
        return pm.Beta("rho", prior.a, prior.b)
    if prior.is_fixed:
        return pm.Deterministic("rho", pt.as_tensor_variable(prior.quantile(0.5)))
    raise InputError(f"no PyMC model for the correlation prior {type(prior).__name__}")


def _log_likelihood(
    hat_weights: HatWeights, likelihoods: list[BoardLikelihood], nodes: FloatArray, several: bool
) -> Callable[..., Any]:
    """Log likelihood of the boards; their scores are part of the tables, not of the value."""

    def logp(value: Any, location: Any, spread: Any, rho: Any, *boards: Any) -> Any:
        cardinal = _cardinal_functions(rho, nodes)
        terms = []
        for likelihood in likelihoods:
            weights = hat_weights(location, spread, likelihood.skills)
            terms.append(pt.sum(cardinal * _board_terms(likelihood, weights)))
        return pt.sum(pt.stack(terms)) if several else terms[0]

    return logp


def _cardinal_functions(rho: Any, nodes: FloatArray) -> Any:
    """Lagrange basis at the nodes in barycentric form; rho is held inside their range."""
    if nodes.size == 1:
        return pt.ones(1)
    index = np.arange(nodes.size)
    barycentric = (-1.0) ** index * np.sin((index + 0.5) * np.pi / nodes.size)
    difference = pt.clip(rho, nodes[0], nodes[-1]) - nodes
    ratio = barycentric / pt.switch(pt.abs(difference) < 1e-12, 1e-12, difference)
    return ratio / pt.sum(ratio)


def _board_terms(likelihood: BoardLikelihood, weights: Any) -> Any:
    """Log likelihood at every node of rho, from one product with all tables."""
    tables = likelihood.end_tables
    ends = np.concatenate([table.smoothed for table in tables], axis=1)
    survival = pt.dot(pytensor.shared(ends), weights)  # shared: too large for a constant
    log_h = pt.log1p(-pt.clip(survival, 0.0, 1 - 1e-12))
    log_weight = np.log(np.concatenate([table.weights for table in tables]))
    terms = []
    for m, weight in zip(likelihood.tries, likelihood.tries_weights, strict=True):
        # the upper edge's probability times one minus the ratio; the floor only keeps the
        # gradient finite where a node of S0 carries nothing
        gap = pt.maximum(m * (log_h[1] - log_h[0]), 1e-12)
        terms.append(log_weight + np.log(weight) + m * log_h[1] + pt.log(-pt.expm1(-gap)))
    edges = np.cumsum([0, *(table.weights.size for table in tables)])
    stacked = pt.stack(terms)
    pairs = pairwise(edges)
    return pt.stack([pt.logsumexp(stacked[:, i:j]) for i, j in pairs])


def _hat_weights(prior: SkillPrior) -> HatWeights:
    """``SkillDistribution.hat_weights`` of the prior's family in PyTensor."""
    families: dict[type[SkillPrior], HatWeights] = {
        LogitNormalSkill: _logit_normal_weights,
        UniformSkill: _uniform_weights,
        BetaSkill: _beta_weights,
    }
    for family, weights in families.items():
        if isinstance(prior, family):
            return weights
    raise InputError(f"no PyMC model for the skill prior {type(prior).__name__}")


def _logit_normal_weights(location: Any, spread: Any, skills: FloatArray) -> Any:
    nodes = logit(skills)
    z = (nodes - location) / spread
    above = 0.5 * pt.erfc(z / np.sqrt(2))
    return _second_differences(spread * (_normal_density(z) - z * above), nodes)


def _uniform_weights(location: Any, spread: Any, skills: FloatArray) -> Any:
    reach = np.sqrt(3) * spread
    low, high = pm.math.sigmoid(location - reach), pm.math.sigmoid(location + reach)
    inside = pt.clip(high - skills, 0.0, high - low)
    excess = inside**2 / (2 * (high - low)) + pt.maximum(low - skills, 0.0)
    return _second_differences(excess, skills)


def _normal_density(z: Any) -> Any:
    return pt.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)


def _second_differences(excess: Any, nodes: FloatArray) -> Any:
    slopes = (excess[:-1] - excess[1:]) / np.diff(nodes)
    ends = (pt.ones(1), slopes, pt.zeros(1))
    padded = pt.concatenate(ends)
    return padded[:-1] - padded[1:]


def _beta_weights(location: Any, spread: Any, skills: FloatArray) -> Any:
    """Trapezoidal weights of the density of the log odds: no derivative of an incomplete beta.

    Above the last node the survival function is one, so that node takes all of that mass.
    """
    nodes = logit(skills)
    step = np.diff(nodes).mean()
    beyond = nodes[-1] + np.arange(1, int(np.ceil(25 / max(step, 0.02)))) * max(step, 0.02)
    axis = np.concatenate([nodes, beyond])
    mean = pm.math.sigmoid(location)
    a, b = 1 / ((1 - mean) * spread**2), 1 / (mean * spread**2)
    log_beta = pt.gammaln(a) + pt.gammaln(b) - pt.gammaln(a + b)
    log_skill, log_error = -np.logaddexp(0, -axis), -np.logaddexp(0, axis)
    mass = pt.exp(a * log_skill + b * log_error - log_beta) * np.gradient(axis)
    inside = mass[: nodes.size]
    return pt.inc_subtensor(inside[-1], pt.sum(mass[nodes.size :]))


def _random(
    prior: SkillPrior, likelihoods: list[BoardLikelihood], several: bool
) -> Callable[..., Any]:
    """Fresh boards for prior and posterior predictive draws."""

    def random(
        location: Any, spread: Any, rho: Any, *boards: Any, rng: Any = None, size: Any = None
    ) -> Any:
        shape = np.broadcast_shapes(np.shape(location), np.shape(spread), np.shape(rho), size or ())
        location, spread, rho = (
            np.broadcast_to(x, shape).ravel().astype(np.float64) for x in (location, spread, rho)
        )
        scores = [
            _fresh_maximum(rng, likelihood, prior, location, spread, rho)
            for likelihood in likelihoods
        ]
        if several:
            return np.stack(scores, axis=-1).reshape(*shape, len(scores))
        return scores[0].reshape(shape)

    return random


def _fresh_maximum(
    rng: np.random.Generator,
    likelihood: BoardLikelihood,
    prior: SkillPrior,
    location: FloatArray,
    spread: FloatArray,
    rho: FloatArray,
) -> FloatArray:
    test_set = likelihood.scoring.fresh(rng, rho)
    tries = rng.choice(likelihood.tries, p=likelihood.tries_weights, size=rho.size)
    distribution = prior.distribution(location, spread)
    return best_count(rng, test_set, distribution, tries.astype(np.int64))[1] / test_set.unit
