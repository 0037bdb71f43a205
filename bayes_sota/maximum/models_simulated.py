r"""Model of observed maxima that simulates boards, for approximate Bayesian computation.

Møllersen & Holsbø (arXiv 2303.07272, Sec. 5.3.2) propose it: simulate boards, keep what comes close
to the observed maximum. The best skill is a parameter, :math:`\theta_{sota} = F^{-1}(u^{1/m})` with
u uniform. The simulator draws what all scores share, the other m - 1 skills, and all scores
(``bayes_sota.maximum.fields``). Priors and coordinates are those of ``bayes_sota.maximum.models``.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BetaSkill, LogitNormalSkill, MaximumPriors, SkillPrior
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.likelihood import tries_nodes
from bayes_sota.maximum.maxima import Maxima, board_names, several
from bayes_sota.maximum.models import beta_shape, field_variables, uniform_ends
from bayes_sota.maximum.tables import score_bounds


def build_simulated_maximum(
    boards: BestScore | Sequence[BestScore],
    priors: MaximumPriors,
    *,
    epsilon: Any,
    reference_skill: float | None = None,
) -> pm.Model:
    r"""Model of one or more boards of which the maximum is known, for ``pm.sample_smc``.

    .. math::
        \text{location} &\sim N, \quad \log \text{spread} \sim N, \quad \rho \sim \text{Beta} \\
        \theta_{sota} &= F^{-1}(u^{1/m}), \quad u \sim U(0, 1) \\
        \log L &= -d(\text{simulated}, \text{observed})^2 / 2 \epsilon^2

    Parameters
    ----------
    boards : BestScore or sequence of them
        They share location, spread and rho; what belongs to a board has the dimension ``board``.
    priors : MaximumPriors
        A quantity that is known becomes a constant and is no variable of the model.
    epsilon : float or one per board
        Standard deviation of the kernel, on the scale of scores.
    reference_skill : float, optional
        theta0. Default: each board's observed maximum (half an item below 1 if it is 1).

    Returns
    -------
    pm.Model
        Free variables ``level`` (unless the location is known), ``log_spread``, ``rho``, ``u`` and
        ``tries_quantile`` (where the number of classifiers is uncertain); deterministic
        ``location``, ``spread``, ``theta_sota``, ``n_classifiers``.

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
    maxima = Maxima(several(boards), priors, reference_skill)
    if maxima.has_submissions:
        raise InputError(
            "simulated classifiers submit once: leave the number of submissions out, or take "
            'method "exact" or "nuts"'
        )
    if not np.all(np.asarray(epsilon) > 0):
        raise InputError(f"epsilon must be positive, got {epsilon}")
    with pm.Model(coords={"board": board_names(maxima.boards)}) as model:
        location, spread, rho = field_variables(maxima)
        m = pm.Deterministic("n_classifiers", _numbers_of_classifiers(maxima), dims="board")
        tail = -pt.expm1(pt.log(pm.Uniform("u", dims="board")) / m)
        skill = _quantile(priors.skill, location, spread, tail)
        best = pm.Deterministic("theta_sota", skill, dims="board")
        # theta_sota comes first because it is never a constant: PyTensor sizes a vectorised random
        # variable by its first parameter.
        pm.Simulator(
            "best_score",
            simulator_of(maxima),
            *(best, location, spread, rho, m),
            distance=_interval_distance(maxima.boards),
            epsilon=np.broadcast_to(np.asarray(epsilon, np.float64), len(maxima.boards)),
            dims="board",
            observed=np.array([board.maximum for board in maxima.boards]),
        )
    return model


def _quantile(prior: SkillPrior, location: Any, spread: Any, tail: Any) -> Any:
    """Skill exceeded with probability ``tail``; ``SkillDistribution.isf`` in PyTensor."""
    if isinstance(prior, LogitNormalSkill):
        return pm.math.sigmoid(location + spread * np.sqrt(2) * pt.erfcinv(2 * tail))
    if isinstance(prior, BetaSkill):
        a, b = beta_shape(location, spread)
        return 1 - pt.betaincinv(b, a, tail)
    low, high = uniform_ends(location, spread)
    return high - tail * (high - low)


def _numbers_of_classifiers(maxima: Maxima) -> Any:
    """As given, or one of the equally likely numbers of the exact route, per board."""
    numbers = [tries_nodes(board)[0] for board in maxima.boards]
    if all(each.size == 1 for each in numbers):
        return pt.as_tensor_variable(np.concatenate(numbers))
    q = pm.Uniform("tries_quantile", dims="board")
    chosen = [
        pt.as_tensor_variable(each)[pt.minimum(pt.cast(q[i] * each.size, "int64"), each.size - 1)]
        for i, each in enumerate(numbers)
    ]
    return pt.stack(chosen)


def _interval_distance(boards: Sequence[BestScore]) -> Callable[[Any, Any, Any], Any]:
    """Log kernel: Gaussian in the distance from the scores that print as the observed one."""
    low, high = np.array([score_bounds(board) for board in boards]).T

    def log_kernel(epsilon: Any, observed: Any, simulated: Any) -> Any:
        distance = pt.maximum(pt.maximum(low - simulated, simulated - high), 0.0)
        return -0.5 * (distance / epsilon) ** 2

    return log_kernel


def simulator_of(maxima: Maxima) -> Callable[..., Any]:
    """``fn`` of ``pm.Simulator``: best scores, of a whole population of parameters in one call.

    It takes theta_sota, location, spread, rho and m, then the size, whose last axis is the boards'.
    """

    def simulate(rng: np.random.Generator, *parameters: Any) -> Any:
        *values, size = parameters
        shape = tuple(size or np.broadcast_shapes(*(np.shape(x) for x in values)))
        values = [np.broadcast_to(x, shape).reshape(-1, shape[-1]).T for x in values]
        scores = [
            maxima.fields_of(board, rng, *of_board).draw(rng, winner=False)[0]
            for board, *of_board in zip(maxima.boards, *values, strict=True)
        ]
        return np.stack(scores, axis=-1).reshape(shape)

    return simulate
