r"""Plain ``pm.Model`` s of observed maxima: one with the exact likelihood, one that simulates.

``build_observed_maximum`` is for NUTS: skills, the reference classifier's count and the number of
tries are summed out (``bayes_sota.maximum.likelihood``); the tables of survival functions are
constants at Chebyshev nodes of rho, between which the log likelihood is interpolated.

``build_simulated_maximum`` is for approximate Bayesian computation, as Møllersen & Holsbø (arXiv
2303.07272, Sec. 5.3.2) propose: simulate boards, keep what comes close to the observed maximum. The
best skill is a parameter, :math:`\theta_{sota} = F^{-1}(u^{1/m})` with u uniform, and so is the
common shift, the standardised number of items that the reference classifier got right. The
simulator draws the other m - 1 skills and all scores (``bayes_sota.maximum.walk``).

Both have one set of priors. The location is sampled through a level near the best skill: the data
pin down the top of the field, and location and spread vary along a curve below it.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import (
    NORMAL_975,
    BetaCorrelation,
    BetaSkill,
    CorrelationPrior,
    LogitNormalSkill,
    LogNormalTries,
    MaximumPriors,
    Priors,
    SkillPrior,
    TriesPrior,
    UniformSkill,
    UniformTries,
    maximum_priors,
)
from bayes_sota.core.skills import logit
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.dependence import reference_nodes
from bayes_sota.maximum.likelihood import BoardLikelihood, default_reference_skill, score_bounds
from bayes_sota.maximum.score_laws import normal_scores_of
from bayes_sota.maximum.walk import Fields, FreshTestSet, NormalTestSet, TestSet, best_count

HatWeights = Callable[[Any, Any, FloatArray], Any]
_RHO_NODES = 7
_RHO_TAIL = 2e-4  # prior probability on each side where the likelihood is held constant in rho


def build_observed_maximum(
    boards: Leaderboard | Sequence[Leaderboard],
    priors: Priors | MaximumPriors | None = None,
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
    priors = maximum_priors(priors)
    nodes = _correlation_nodes(priors.correlation)
    likelihoods = [BoardLikelihood(board, nodes, reference_skill) for board in boards]
    hat_weights, several = _hat_weights(priors.skill), len(boards) > 1
    observed = np.array([board.maximum for board in boards])
    with pm.Model(coords={"board": [b.name for b in boards]} if several else {}) as model:
        spread = _spread(priors.skill)
        tries = max(x.board.typical_tries for x in likelihoods)
        bounded = isinstance(priors.skill, UniformSkill)
        offset = np.sqrt(3) if bounded else np.sqrt(2 * np.log(tries + 1))
        location = _location(priors.skill, offset * spread)
        rho = _correlation(priors.correlation)
        # with several boards a vector tells PyMC their number
        parameters = (location, spread, rho, *([observed] if several else []))
        pm.CustomDist(
            "observed_maximum", *parameters, dims="board" if several else None,
            logp=_log_likelihood(hat_weights, likelihoods, nodes, several),
            random=_random(priors.skill, likelihoods, several),
            signature="(),(),(),(n)->(n)" if several else "(),(),()->()",
            observed=observed if several else float(observed[0]),
        )  # fmt: skip
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


def _location(prior: SkillPrior, above: Any) -> Any:
    """Location, sampled as the level that lies ``above`` it; its prior is the same."""
    if prior.location_is_fixed:
        return pm.Deterministic("location", pt.as_tensor_variable(prior.location_mean))
    level = pm.Normal("level", prior.location_mean + above, prior.location_sd)
    return pm.Deterministic("location", level - above)


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
    edges, stacked = np.cumsum([0, *(table.weights.size for table in tables)]), pt.stack(terms)
    return pt.stack([pt.logsumexp(stacked[:, i:j]) for i, j in pairwise(edges)])


def _hat_weights(prior: SkillPrior) -> HatWeights:
    """``SkillDistribution.hat_weights`` of the prior's family in PyTensor."""
    for family, weights in (
        (LogitNormalSkill, _logit_normal_weights),
        (UniformSkill, _uniform_weights),
        (BetaSkill, _beta_weights),
    ):
        if isinstance(prior, family):
            return weights
    raise InputError(f"no PyMC model for the skill prior {type(prior).__name__}")


def _uniform_ends(location: Any, spread: Any) -> tuple[Any, Any]:
    reach = np.sqrt(3) * spread
    return pm.math.sigmoid(location - reach), pm.math.sigmoid(location + reach)


def _beta_shape(location: Any, spread: Any) -> tuple[Any, Any]:
    mean = pm.math.sigmoid(location)
    return 1 / ((1 - mean) * spread**2), 1 / (mean * spread**2)


def _logit_normal_weights(location: Any, spread: Any, skills: FloatArray) -> Any:
    nodes = logit(skills)
    z = (nodes - location) / spread
    above = 0.5 * pt.erfc(z / np.sqrt(2))
    density = pt.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return _second_differences(spread * (density - z * above), nodes)


def _uniform_weights(location: Any, spread: Any, skills: FloatArray) -> Any:
    low, high = _uniform_ends(location, spread)
    inside = pt.clip(high - skills, 0.0, high - low)
    excess = inside**2 / (2 * (high - low)) + pt.maximum(low - skills, 0.0)
    return _second_differences(excess, skills)


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
    a, b = _beta_shape(location, spread)
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
        distribution, scores = prior.distribution(location, spread), []
        for likelihood in likelihoods:
            test_set = likelihood.scoring.fresh(rng, rho)
            tries = rng.choice(likelihood.tries, p=likelihood.tries_weights, size=rho.size)
            _, best = best_count(rng, test_set, distribution, tries.astype(np.int64))
            scores.append(np.asarray(best / test_set.unit))
        boards_last = np.stack(scores, axis=-1)
        return boards_last.reshape(*shape, len(scores)) if several else scores[0].reshape(shape)

    return random


def reference_skills(boards: Sequence[Leaderboard], given: float | None = None) -> FloatArray:
    """theta0 of each board: the given one, or the observed maximum half an item inside (0, 1)."""
    if given is not None and not 0 < given < 1:
        raise InputError(f"reference skill must lie in (0, 1), got {given:g}")
    return np.array([default_reference_skill(board, given) for board in boards], np.float64)


def build_simulated_maximum(
    boards: Sequence[Leaderboard],
    priors: MaximumPriors,
    *,
    epsilon: float | Sequence[float] | NDArray[np.float64],
    reference_skill: float | None = None,
) -> pm.Model:
    r"""Model of one or more boards of which the maximum is known, for ``pm.sample_smc``.

    .. math::
        \text{location} &\sim N, \quad \log \text{spread} \sim N, \quad \rho \sim \text{Beta} \\
        \theta_{sota} &= F^{-1}(u^{1/m}), \quad u \sim U(0, 1), \quad \text{shift} \sim N(0, 1) \\
        \log L &= -d(\text{simulated}, \text{observed})^2 / 2 \epsilon^2

    Parameters
    ----------
    boards : sequence of Leaderboard
        They share location, spread and rho; with more than one, what belongs to a board has the
        dimension ``board``.
    priors : MaximumPriors
        A quantity that is known becomes a constant and is no variable of the model.
    epsilon : float or one per board
        Standard deviation of the kernel, on the scale of scores; ``pm.Data``, so that
        ``pm.set_data({"epsilon": ...})`` changes it.
    reference_skill : float, optional
        theta0. Default: each board's observed maximum (half an item below 1 if it is 1).

    Returns
    -------
    pm.Model
        Free variables ``level`` (unless the location is known), ``log_spread``, ``rho``, ``u``,
        ``shift`` (unless rho is zero) and ``tries_quantile`` (where the number of classifiers is
        uncertain); deterministic ``location``, ``spread``, ``theta_sota``, ``n_classifiers``.

    Raises
    ------
    InputError
        No board, a nonpositive epsilon, a reference skill outside (0, 1), or a prior without a
        simulator.

    Notes
    -----
    ``pm.sample`` is no use here: the likelihood is random. Use ``pm.sample_smc``, or
    ``sample_abc`` of ``bayes_sota.maximum.sample``, which also chooses epsilon.
    """
    boards = tuple(boards)
    if not boards:
        raise InputError("at least one board is needed, got none")
    if len(boards) > 1 and any(board.metric != "accuracy" for board in boards):
        raise InputError("several boards are simulated together for accuracies only")
    if not np.all(np.asarray(epsilon) > 0):
        raise InputError(f"epsilon must be positive, got {epsilon}")
    references = reference_skills(boards, reference_skill)
    several = len(boards) > 1
    dims = "board" if several else None
    coords = {"board": [board.name for board in boards]} if several else {}
    with pm.Model(coords=coords) as model:
        width = pm.Data("epsilon", _per_board(epsilon, len(boards)), dims=dims)
        spread = _spread(priors.skill)
        u = pm.Uniform("u", dims=dims)
        m = _number_of_classifiers(boards, dims)
        tail = -pt.expm1(pt.log(u) / m)
        location = _location(priors.skill, spread * _standard_quantile(priors.skill, tail, several))
        quantile = _quantile(priors.skill, location, spread, tail)
        best = pm.Deterministic("theta_sota", quantile, dims=dims)
        rho = _correlation(priors.correlation)
        independent = priors.correlation.is_fixed and priors.correlation.quantile(0.5) == 0
        shift = 0.0 if independent else pm.Normal("shift", dims=dims)
        # theta_sota comes first because it is never a constant: PyTensor sizes a vectorised random
        # variable by its first parameter.
        pm.Simulator(
            "best_score", ScoreSimulator(boards, references, priors.skill),
            *(best, location, spread, rho, shift, m), distance=_interval_distance(boards),
            epsilon=width, dims=dims,
            observed=_per_board([board.maximum for board in boards], len(boards)),
        )  # fmt: skip
    return model


def _per_board(value: Any, count: int) -> Any:
    """A scalar for one board, a vector for several: PyMC's shapes then follow by themselves."""
    values = np.asarray(value, dtype=np.float64)
    return np.broadcast_to(values, (count,)).copy() if count > 1 else np.array(values.reshape(()))


def _standard_quantile(prior: SkillPrior, tail: Any, several: bool) -> Any:
    """How many spreads the (first board's) best skill lies above the location, roughly."""
    tail = tail[0] if several else tail
    return np.sqrt(3) * (1 - 2 * tail) if isinstance(prior, UniformSkill) else _normal_upper(tail)


def _normal_upper(tail: Any) -> Any:
    return np.sqrt(2) * pt.erfcinv(2 * tail)


def _quantile(prior: SkillPrior, location: Any, spread: Any, tail: Any) -> Any:
    """Skill exceeded with probability ``tail``; ``SkillDistribution.isf`` in PyTensor."""
    if isinstance(prior, LogitNormalSkill):
        return pm.math.sigmoid(location + spread * _normal_upper(tail))
    if isinstance(prior, UniformSkill):
        low, high = _uniform_ends(location, spread)
        return high - tail * (high - low)
    if isinstance(prior, BetaSkill):
        a, b = _beta_shape(location, spread)
        return 1 - pt.betaincinv(b, a, tail)
    raise InputError(f"no simulator for the skill prior {type(prior).__name__}")


def _number_of_classifiers(boards: tuple[Leaderboard, ...], dims: str | None) -> Any:
    """Whole numbers, from one uniform latent per board where a board's number is uncertain."""
    if all(isinstance(board.tries, int) for board in boards):
        return pt.as_tensor_variable(_per_board([b.tries for b in boards], len(boards)))
    q = pm.Uniform("tries_quantile", dims=dims)
    parts = [_tries_quantile(board.tries, q[i] if dims else q) for i, board in enumerate(boards)]
    real: Any = pt.stack(parts) if dims else parts[0]
    round_to_even: Any = pt.round
    m = pt.maximum(round_to_even(real), 1.0)
    return pm.Deterministic("n_classifiers", m, dims=dims)


def _tries_quantile(tries: int | TriesPrior, q: Any) -> Any:
    """``TriesPrior.quantile`` in PyTensor."""
    if isinstance(tries, int):
        return pt.as_tensor_variable(float(tries))
    if isinstance(tries, UniformTries):
        return pt.exp((1 - q) * np.log(tries.low) + q * np.log(tries.high))
    if isinstance(tries, LogNormalTries):
        return tries.median * pt.exp(_normal_upper(1 - q) * np.log(tries.factor) / NORMAL_975)
    raise InputError(f"no simulator for the tries prior {type(tries).__name__}")


def _interval_distance(boards: tuple[Leaderboard, ...]) -> Callable[[Any, Any, Any], Any]:
    """Log kernel: Gaussian in the distance from the scores that print as the observed one."""
    ends = np.array([score_bounds(board) for board in boards])
    low, high = (_per_board(ends[:, end], len(boards)) for end in (0, 1))

    def log_kernel(epsilon: Any, observed: Any, simulated: Any) -> Any:
        distance = pt.maximum(pt.maximum(low - simulated, simulated - high), 0.0)
        return -0.5 * (distance / epsilon) ** 2

    return log_kernel


class ScoreSimulator:
    """``fn`` of ``pm.Simulator``: best scores, of a whole population of parameters in one call.

    Parameters
    ----------
    boards : tuple of Leaderboard
    references : ndarray, shape (boards,)
        theta0 of each board.
    prior : SkillPrior
        Its family is the one that is simulated.
    """

    def __init__(
        self, boards: tuple[Leaderboard, ...], references: FloatArray, prior: SkillPrior
    ) -> None:
        """Tabulate the law of each board's S0."""
        self.boards, self.prior = boards, prior
        self.references = references
        self.nodes = [
            reference_nodes(board.n_test, float(theta0), step=0.0, half_width=9.0)
            for board, theta0 in zip(boards, references, strict=True)
            if board.metric == "accuracy"
        ]

    def fields(self, i: int, given: Sequence[Any], shape: tuple[int, ...]) -> Fields:
        """The fields of the i-th board that theta_sota, location, ..., m of this shape describe."""
        from scipy.special import ndtr

        flat = (np.broadcast_to(x, shape).astype(np.float64).ravel() for x in given)
        best, location, spread, rho, shift, m = flat
        board = self.boards[i]
        test_set: FreshTestSet
        if board.metric == "accuracy":
            nodes = self.nodes[i]
            place = np.searchsorted(np.cumsum(nodes.weights), ndtr(shift))
            counts = nodes.counts[np.minimum(place, nodes.counts.size - 1)]
            test_set = TestSet(board.n_test, counts, rho, float(self.references[i]))
        else:
            test_set = NormalTestSet(normal_scores_of(board), shift, rho)
        distribution = self.prior.distribution(location, spread)
        return Fields(test_set, distribution, np.rint(m).astype(np.int64), best)

    def __call__(self, rng: np.random.Generator, *parameters: Any) -> Any:
        """Scores given theta_sota, location, spread, rho, shift and m, then the size."""
        *given, size = parameters
        shape = np.broadcast_shapes(*(np.shape(value) for value in given))
        shape = shape if size is None else tuple(int(length) for length in size)
        if len(self.boards) == 1:
            return self.fields(0, given, shape).draw(rng, winner=False)[0].reshape(shape)
        given = [np.broadcast_to(value, shape) for value in given]
        scores = [
            self.fields(i, [x[..., i] for x in given], shape[:-1]).draw(rng, winner=False)[0]
            for i in range(len(self.boards))
        ]
        return np.stack([x.reshape(shape[:-1]) for x in scores], axis=-1)
