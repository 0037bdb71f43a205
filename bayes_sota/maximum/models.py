"""Plain ``pm.Model`` of observed maxima, and the likelihood for models of your own.

Skills, the reference classifier's count and the number of tries are summed out (``likelihood``);
between Chebyshev nodes of rho the log likelihood is interpolated. Fields are logit-normal.
``tests/maximum/test_models.py`` compares the densities with the exact route.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from numpy.random import Generator

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import (
    BetaCorrelation,
    CorrelationPrior,
    LogitNormalSkill,
    MaximumPriors,
    Priors,
    maximum_priors,
)
from bayes_sota.core.skills import logit
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.maximum.likelihood import BoardLikelihood, score_bounds
from bayes_sota.maximum.posterior import Maxima, board_names, several

_OBSERVED = "observed_maximum"
_PARAMETERS = ("location", "spread", "rho")
_RHO_NODES = 7
_NODES_PER_RHO = 11  # where the prior of rho is wide
_RHO_TAIL = 2e-4  # prior probability on each side where the likelihood is constant in rho


def build_model(
    boards: BestScore | Sequence[BestScore],
    priors: Priors | MaximumPriors | None = None,
    *,
    reference_skill: float | None = None,
) -> pm.Model:
    r"""Build the model of one or several boards of which the maximum is known.

    .. math::
        \text{location} \sim N, \quad \log \text{spread} \sim N, \quad \rho \sim \text{Beta}, \quad
        L = \sum_k P(S_0 = k) \big[ H_k(1, x_{hi})^m - H_k(1, x_{lo} - 1)^m \big]

    Parameters
    ----------
    boards : BestScore or sequence of them
        Several boards share location, spread and rho.
    priors : Priors, optional
        A quantity that is known becomes a constant.
    reference_skill : float, optional
        theta0; default each board's observed maximum.

    Returns
    -------
    pm.Model
        Free variables ``level`` (location + q * spread, near the best skill), ``log_spread`` and
        ``rho``; deterministic ``location``, ``spread``. ``observed_maximum`` is a ``pm.CustomDist``
        with the dimension ``board``, whose draws are fresh boards.

    Raises
    ------
    InputError
        No board, or one whose best score was chosen among submissions.

    Examples
    --------
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> model = build_model(board)
    >>> [v.name for v in model.free_RVs]
    ['log_spread', 'level', 'rho']

    The posterior is narrow: sample it with ``target_accept=0.98``.
    """
    maxima = _maxima_of(boards, priors, reference_skill)
    known: Any = {"priors": maxima.priors, "reference_skill": reference_skill}
    with pm.Model() as model:
        observe_maximum(boards, *_field_variables(maxima), **known)
    return model


def observe_maximum(
    boards: BestScore | Sequence[BestScore],
    location: Any,
    spread: Any,
    rho: Any,
    *,
    priors: Priors | MaximumPriors | None = None,
    reference_skill: float | None = None,
) -> Any:
    """Add the observed maxima of boards to the model of the ``with`` block.

    Parameters
    ----------
    boards : BestScore or sequence of them
    location, spread, rho : scalar tensors
        Median and standard deviation of the skills (log odds), and the correlation with the
        reference classifier, with priors of your model.
    priors : Priors, optional
        Only the range of rho is taken: beyond it the likelihood is constant in rho.
    reference_skill : float, optional
        theta0; default the board's observed maximum.

    Returns
    -------
    tensor, shape (boards,)
        As in ``build_model``.

    Raises
    ------
    InputError
        As in ``build_model``, or for skills that are not logit-normal.

    Examples
    --------
    >>> import pymc as pm
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> with pm.Model() as model:
    ...     spread = pm.HalfNormal("spread", 0.3)
    ...     location = pm.Normal("location", 2, 1)
    ...     variable = observe_maximum(board, location, spread, pm.Beta("rho", 14, 5))
    >>> model.named_vars_to_dims["observed_maximum"]
    ('board',)
    """
    maxima = _maxima_of(boards, priors, reference_skill)
    if not isinstance(maxima.priors.skill, LogitNormalSkill):
        raise InputError("this model has logit-normal skills; exact and abc have others too")
    nodes, draw = _correlation_nodes(maxima.priors.correlation), fresh_maxima(maxima)
    likelihoods = maxima.likelihoods(nodes)

    def logp(value: Any, location: Any, spread: Any, rho: Any) -> Any:
        shares = _cardinal_functions(rho, nodes)
        return pt.stack([shares @ _at_nodes(one, location, spread) for one in likelihoods])

    pm.modelcontext(None).add_coord("board", board_names(maxima.boards))
    return pm.CustomDist(
        _OBSERVED,
        *(location, spread, rho),
        dims="board",
        logp=logp,
        random=lambda *values, rng=None, size=None: draw(rng, *values, size),
        signature="(),(),()->()",
        observed=np.array([board.maximum for board in maxima.boards]),
    )


def _maxima_of(
    boards: BestScore | Sequence[BestScore],
    priors: Priors | MaximumPriors | None,
    reference_skill: float | None,
) -> Maxima:
    if any(isinstance(board, Leaderboard) for board in several(boards)):
        raise InputError("with all scores take bs.leaderboard.build_model, or board.maximum_only()")
    maxima = Maxima(several(boards), maximum_priors(priors), reference_skill)
    if maxima.has_submissions:
        raise InputError('this model assumes one submission per classifier: use method="exact"')
    return maxima


def _correlation_nodes(prior: CorrelationPrior) -> FloatArray:
    if prior.is_fixed:
        return np.atleast_1d(prior.quantile(0.5))
    low, high = prior.quantile([_RHO_TAIL, 1 - _RHO_TAIL])
    count = max(_RHO_NODES, int(np.ceil(_NODES_PER_RHO * (high - low))))
    angle = (np.arange(count) + 0.5) * np.pi / count
    return (low + high) / 2 - (high - low) / 2 * np.cos(angle)


def _field_variables(maxima: Maxima) -> tuple[Any, Any, Any]:
    """Location, spread and rho of the model of the ``with`` block; constants where known."""
    skill, tries = maxima.priors.skill, max(board.typical_tries for board in maxima.boards)
    spread: Any = np.exp(skill.log_spread[0])
    if skill.log_spread[1]:
        spread = pt.exp(pm.Normal("log_spread", *skill.log_spread))
    spread = pm.Deterministic("spread", pt.as_tensor_variable(spread))
    mean, sd = skill.location
    location: Any = mean
    if sd:
        above = spread * np.sqrt(2 * np.log(tries + 1))
        location = pm.Normal("level", mean + above, sd) - above
    location = pm.Deterministic("location", pt.as_tensor_variable(location))
    return location, spread, correlation_variable(maxima.priors.correlation)


def correlation_variable(prior: CorrelationPrior) -> Any:
    """Rho of the model of the ``with`` block; a constant where known."""
    if isinstance(prior, BetaCorrelation):
        return pm.Beta("rho", prior.a, prior.b)
    return pm.Deterministic("rho", pt.as_tensor_variable(prior.quantile(0.5)))


def _cardinal_functions(rho: Any, nodes: FloatArray) -> Any:
    """Lagrange basis at the nodes in barycentric form."""
    index = np.arange(nodes.size)
    barycentric = (-1.0) ** index * np.sin((index + 0.5) * np.pi / nodes.size)
    difference = pt.clip(rho, nodes[0], nodes[-1]) - nodes
    ratio = barycentric / pt.switch(pt.abs(difference) < 1e-12, 1e-12, difference)
    return ratio / pt.sum(ratio)


def _at_nodes(likelihood: BoardLikelihood, location: Any, spread: Any) -> Any:
    tables, weights = likelihood.tables, _hat_weights(location, spread, likelihood.skills)
    ends = np.concatenate([table.smoothed[[0, -1]] for table in tables], axis=1)
    survival = pt.dot(pytensor.shared(ends), weights)  # shared: too large for a constant
    log_h = pt.log1p(-pt.clip(survival, 0.0, 1 - 1e-12))
    log_weight = np.log(np.concatenate([table.weights for table in tables]))
    log_weight = log_weight + np.log(likelihood.tries_weights)[:, None]
    m = likelihood.tries[:, None]
    # the floor keeps the gradient finite where a node of S0 carries nothing
    gap = pt.maximum(m * (log_h[1] - log_h[0]), 1e-12)
    terms = log_weight + m * log_h[1] + pt.log(-pt.expm1(-gap))
    edges = np.cumsum([0, *(table.weights.size for table in tables)])
    return pt.stack([pt.logsumexp(terms[:, i:j]) for i, j in pairwise(edges)])


def _hat_weights(location: Any, spread: Any, skills: FloatArray) -> Any:
    """``hat_weights`` of normal log odds in PyTensor."""
    nodes = logit(skills)
    z = (nodes - location) / spread
    density = pt.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    excess = spread * (density - z * 0.5 * pt.erfc(z / np.sqrt(2)))
    slopes = (excess[:-1] - excess[1:]) / np.diff(nodes)
    padded = pt.concatenate((pt.ones(1), slopes, pt.zeros(1)))
    return padded[:-1] - padded[1:]


def fresh_maxima(maxima: Maxima, names: Sequence[str] = _PARAMETERS) -> Callable[..., Any]:
    """Function that draws best scores of fresh boards, as ``pm.Simulator`` calls it."""

    def draw(rng: Generator, *parameters: Any) -> Any:
        *values, size = parameters
        shape = np.broadcast_shapes(*map(np.shape, values), tuple(size or (len(maxima.boards),)))
        columns = [np.broadcast_to(x, shape)[..., 0].ravel() for x in values]
        named = dict(zip(names, columns, strict=True))
        return maxima.draw_boards(named, rng, winner=False)[_OBSERVED].reshape(shape)

    return draw


def build_simulated_maximum(
    boards: BestScore | Sequence[BestScore],
    priors: MaximumPriors,
    *,
    epsilon: Any,
    reference_skill: float | None = None,
) -> pm.Model:
    r"""Model of one or more boards of which the maximum is known, for approximate Bayes.

    .. math:: \log L = -d(\text{simulated}, \text{observed})^2 / 2 \epsilon^2

    with the priors of ``build_model`` (Sec. 5.3.2 of Møllersen & Holsbø, arXiv 2303.07272).

    Parameters
    ----------
    boards, priors, reference_skill
        As in ``build_model``.
    epsilon : float or one per board
        Standard deviation of the kernel, on the scale of scores.

    Returns
    -------
    pm.Model
        Variables as in ``build_model``. The likelihood is random: use ``pm.sample_smc``, or
        ``estimate_sota(method="abc")``, which also chooses epsilon.

    Raises
    ------
    InputError
        As in ``build_model``, or where nothing is unknown.
    """
    maxima = _maxima_of(boards, priors, reference_skill)
    low, high = np.array([score_bounds(board) for board in maxima.boards]).T

    def log_kernel(epsilon: Any, observed: Any, simulated: Any) -> Any:
        distance = pt.maximum(pt.maximum(low - simulated, simulated - high), 0.0)
        return -0.5 * (distance / epsilon) ** 2

    with pm.Model(coords={"board": board_names(maxima.boards)}) as model:
        parameters = dict(zip(_PARAMETERS, _field_variables(maxima), strict=True))
        if not model.free_RVs:
            raise InputError('location, spread and rho are known: take method "exact"')
        # PyTensor sizes a random variable by its first parameter: one that is unknown
        skill, rho = maxima.priors.skill, maxima.priors.correlation
        known = (skill.location[1] == 0, skill.log_spread[1] == 0, rho.is_fixed)
        names = [name for _, name in sorted(zip(known, _PARAMETERS, strict=True))]
        pm.Simulator(
            "best_score",
            fresh_maxima(maxima, names),
            *(parameters[name] for name in names),
            distance=log_kernel,
            epsilon=np.broadcast_to(np.asarray(epsilon, np.float64), len(maxima.boards)),
            dims="board",
            observed=np.array([board.maximum for board in maxima.boards]),
        )
    return model
