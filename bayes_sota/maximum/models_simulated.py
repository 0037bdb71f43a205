r"""Model of observed maxima that simulates boards, for approximate Bayesian computation.

Møllersen & Holsbø (arXiv 2303.07272, Sec. 5.3.2) propose it: simulate boards, keep what comes close
to the observed maximum. The best skill is a parameter, :math:`\theta_{sota} = F^{-1}(u^{1/m})` with
u uniform, and so is the common shift, the standardised number of items that the reference
classifier got right. The simulator draws the other m - 1 skills and all scores
(``bayes_sota.maximum.fields``). Priors and coordinates are those of ``bayes_sota.maximum.models``.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from scipy.special import ndtr

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import (
    BetaSkill,
    LogitNormalSkill,
    MaximumPriors,
    SkillPrior,
    UniformSkill,
)
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.dependence import reference_nodes
from bayes_sota.maximum.fields import Fields
from bayes_sota.maximum.fresh_test_sets import FreshTestSet, NormalTestSet, TestSet
from bayes_sota.maximum.likelihood import tries_nodes
from bayes_sota.maximum.maxima import Maxima, board_names
from bayes_sota.maximum.models import (
    beta_shape,
    correlation_variable,
    location_variable,
    spread_variable,
    uniform_ends,
)
from bayes_sota.maximum.score_laws import score_law
from bayes_sota.maximum.tables import score_bounds


def build_simulated_maximum(
    boards: Sequence[BestScore],
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
    boards : sequence of BestScore
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
        No board, one whose best score was chosen among submissions, a nonpositive epsilon, a
        reference skill outside (0, 1), or a prior without a simulator.

    Notes
    -----
    ``pm.sample`` is no use here: the likelihood is random. Use ``pm.sample_smc``, or
    ``sample_abc`` of ``bayes_sota.maximum.sample_smc``, which also chooses epsilon.
    """
    boards = tuple(boards)
    if not boards:
        raise InputError("at least one board is needed, got none")
    if any(board.has_submissions for board in boards):
        raise InputError(
            "simulated classifiers submit once: leave the number of submissions out, or take "
            'method "exact" or "nuts"'
        )
    if len(boards) > 1 and any(board.metric != "accuracy" for board in boards):
        raise InputError("several boards are simulated together for accuracies only")
    if not np.all(np.asarray(epsilon) > 0):
        raise InputError(f"epsilon must be positive, got {epsilon}")
    simulator = ScoreSimulator(Maxima(boards, priors, reference_skill))
    several = len(boards) > 1
    dims = "board" if several else None
    coords = {"board": board_names(boards)} if several else {}
    with pm.Model(coords=coords) as model:
        width = pm.Data("epsilon", _per_board(epsilon, len(boards)), dims=dims)
        spread = spread_variable(priors.skill)
        u = pm.Uniform("u", dims=dims)
        m = _number_of_classifiers(boards, dims)
        tail = -pt.expm1(pt.log(u) / m)
        location = location_variable(
            priors.skill, spread * _standard_quantile(priors.skill, tail, several)
        )
        quantile = _quantile(priors.skill, location, spread, tail)
        best = pm.Deterministic("theta_sota", quantile, dims=dims)
        rho = correlation_variable(priors.correlation)
        independent = priors.correlation.is_fixed and priors.correlation.quantile(0.5) == 0
        shift = 0.0 if independent else pm.Normal("shift", dims=dims)
        parameters = (best, location, spread, rho, shift, m)
        # theta_sota comes first because it is never a constant: PyTensor sizes a vectorised random
        # variable by its first parameter.
        pm.Simulator(
            "best_score",
            simulator,
            *parameters,
            distance=_interval_distance(boards),
            epsilon=width,
            dims=dims,
            observed=_per_board([board.maximum for board in boards], len(boards)),
        )
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
        low, high = uniform_ends(location, spread)
        return high - tail * (high - low)
    if isinstance(prior, BetaSkill):
        a, b = beta_shape(location, spread)
        return 1 - pt.betaincinv(b, a, tail)
    raise InputError(f"no simulator for the skill prior {type(prior).__name__}")


def _number_of_classifiers(boards: tuple[BestScore, ...], dims: str | None) -> Any:
    """As given, or one of the equally likely numbers of the exact route, per board."""
    numbers = [tries_nodes(board)[0] for board in boards]
    if all(each.size == 1 for each in numbers):
        return pt.as_tensor_variable(_per_board([each[0] for each in numbers], len(boards)))
    q = pm.Uniform("tries_quantile", dims=dims)

    def chosen_of(each: FloatArray, level: Any) -> Any:
        index = pt.minimum(pt.cast(level * each.size, "int64"), each.size - 1)
        return pt.as_tensor_variable(each)[index]

    chosen = [chosen_of(each, q[i] if dims else q) for i, each in enumerate(numbers)]
    return pm.Deterministic("n_classifiers", pt.stack(chosen) if dims else chosen[0], dims=dims)


def _interval_distance(boards: tuple[BestScore, ...]) -> Callable[[Any, Any, Any], Any]:
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
    maxima : Maxima
        Of its priors the family of the skills is the one that is simulated.
    """

    def __init__(self, maxima: Maxima) -> None:
        """Tabulate the law of each board's S0."""
        self.maxima, self.references = maxima, maxima.references
        self.nodes = [
            reference_nodes(board.n_test, float(theta0), step=0.0, half_width=9.0)
            for board, theta0 in zip(maxima.boards, self.references, strict=True)
            if board.metric == "accuracy"
        ]

    def fields(self, i: int, parameters: Sequence[Any], shape: tuple[int, ...]) -> Fields:
        """The fields of the i-th board that theta_sota, location, ..., m of this shape describe."""
        flat = (np.broadcast_to(x, shape).astype(np.float64).ravel() for x in parameters)
        best, location, spread, rho, shift, m = flat
        board = self.maxima.boards[i]
        test_set: FreshTestSet
        if board.metric == "accuracy":
            nodes, weights = self.nodes[i]
            place = np.searchsorted(np.cumsum(weights), ndtr(shift))
            counts = nodes[np.minimum(place, nodes.size - 1)]
            test_set = TestSet(board.n_test, counts, rho, float(self.references[i]))
        else:
            test_set = NormalTestSet(score_law(board).normal_scores, shift, rho)
        distribution = self.maxima.priors.skill.distribution(location, spread)
        return Fields(test_set, distribution, np.rint(m).astype(np.int64), best)

    def __call__(self, rng: np.random.Generator, *parameters: Any) -> Any:
        """Scores given theta_sota, location, spread, rho, shift and m, then the size."""
        *shaped, size = parameters
        shape = np.broadcast_shapes(*(np.shape(value) for value in shaped))
        shape = shape if size is None else tuple(int(length) for length in size)
        if len(self.maxima.boards) == 1:
            return self.fields(0, shaped, shape).draw(rng, winner=False)[0].reshape(shape)
        shaped = [np.broadcast_to(value, shape) for value in shaped]
        scores = [
            self.fields(i, [x[..., i] for x in shaped], shape[:-1]).draw(rng, winner=False)[0]
            for i in range(len(self.maxima.boards))
        ]
        return np.stack([x.reshape(shape[:-1]) for x in scores], axis=-1)
