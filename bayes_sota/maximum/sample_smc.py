"""Approximate Bayesian computation with sequential Monte Carlo: boards are simulated.

Particles are location, spread and rho. Whole populations of boards are simulated at once, and
random-walk Metropolis steps mutate the particles until the average one has moved often enough.
``tests/maximum/test_sample_smc.py`` holds the draws against the exact route and against PyMC's own
sampler on ``bayes_sota.maximum.build_simulated_maximum``.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.special import ndtr

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import stratified
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.likelihood import score_bounds
from bayes_sota.maximum.posterior import Maxima, sota_posterior
from bayes_sota.maximum.sample import Request

_LARGEST_EPSILON = 1 / 4  # in posterior standard deviations of theta_sota
_EPSILON_AIM = 1 / 6
_FEWEST_MOVES = 4.0  # of the average particle in the last stage
_MOVES, _FINAL_MOVES, _MOST_STEPS = 3.0, 8.0, 200  # of the average particle in each stage


def sample_abc(
    boards: Sequence[BestScore],
    priors: MaximumPriors,
    *,
    cores: int | None = None,
    epsilon: float | None = None,
    progressbar: bool = False,
    **settings: Any,
) -> xr.DataTree:
    r"""Posterior by approximate Bayesian computation, the route of the paper's Sec. 5.3.2.

    Its only approximation is epsilon, the standard deviation of a Gaussian kernel on the scale of
    scores, which widens the posterior by about :math:`\sqrt{1 + (\epsilon / sd)^2}`: by 1.4 % for
    the default, a sixth of the standard deviation of ``theta_sota`` by the exact route. Location,
    spread and rho come from simulation; given them, skills are drawn from their exact law, as for
    NUTS. ``settings`` as in ``Request``; several ``boards`` share the three. The same seed gives
    the same draws for any ``cores``.

    Returns
    -------
    xarray.DataTree
        Attributes: ``epsilon``, ``moves`` (accepted ones of the average particle of the last stage,
        in the chain with the fewest) and ``epsilon_ratio`` (to the posterior standard deviation
        that was found; the largest of the boards).

    Raises
    ------
    InputError
        An epsilon that is not in (0, 1), or a best score that was chosen among submissions.
    """
    request = Request(boards, priors, **settings)
    request.refuse_submissions()
    if request.draws < 10:
        raise InputError(f"at least 10 draws are needed, got {request.draws}")
    rng, theta0 = request.seeded[0], request.reference_skill
    if epsilon is None:
        exact = sota_posterior(boards, priors, random_seed=rng, reference_skill=theta0)
        width = _EPSILON_AIM * exact.draws["theta_sota"].std(axis=0)
    else:
        width = np.full(len(boards), float(OPEN_SHARE.check(epsilon, "epsilon")))
    work = partial(_run_chain, Maxima(boards, priors, theta0), width, request.draws)
    chains: list[dict[str, FloatArray]] = []
    seeds = rng.integers(2**31, size=request.chains).tolist()
    with shown_progress(request.chains, "chains", show=progressbar) as advance:
        for _, chain in run_each(work, seeds, cores=cores or 1):
            chains.append(chain)
            advance()
    moves = min(float(chain.pop("moves")) for chain in chains)
    drawn = {name: np.concatenate([chain[name] for chain in chains]) for name in chains[0]}
    values = request.draw_fields(drawn, rng)
    ratio = float(np.max(width / values["theta_sota"].std(axis=0)))
    reasons = []
    if ratio > _LARGEST_EPSILON:
        reasons.append(f"epsilon is {ratio:.2f} posterior standard deviations")
    if moves < _FEWEST_MOVES:
        reasons.append(
            f"epsilon is so small that a draw moved only {moves:.1f} times in the last stage: "
            "raise it, or leave it out"
        )
    attributes = {
        "epsilon": width.tolist() if width.size > 1 else float(width[0]),
        "epsilon_ratio": ratio,
        "moves": moves,
        "draws_are_independent": 0,
        "diagnostics_reasons": "; ".join(reasons),
    }
    return request.result(values, "abc", attributes)


def _run_chain(maxima: Maxima, width: FloatArray, draws: int, seed: int) -> dict[str, FloatArray]:
    """Parameters of particles, (D,), and ``moves``, those of the average one in the last stage.

    Random-walk Metropolis steps of all particles at once. A particle keeps the simulated likelihood
    that it was accepted with (pseudo-marginal Metropolis), so the Gaussian kernel at inverse
    temperature beta is exactly the posterior with epsilon / sqrt(beta).
    """
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((draws, 3))
    likelihood = _log_kernel(maxima, width, points, rng)
    beta, scale, moves = 0.0, 1.0, 0.0
    while beta < 1:
        last, beta = beta, _next_temperature(likelihood, beta)
        weights = np.exp((beta - last) * (likelihood - likelihood.max()))
        kept = np.repeat(np.arange(draws), stratified(weights / weights.sum(), draws, rng))
        points, likelihood = points[kept], likelihood[kept]
        root = np.linalg.cholesky(np.cov(points, rowvar=False)) * 2.38 / np.sqrt(3)
        moves, steps = 0.0, 0
        while moves < (_FINAL_MOVES if beta >= 1 else _MOVES) and steps < _MOST_STEPS:
            # particles try steps of very different length: narrow places are found by short ones
            length = scale * 3.0 ** -rng.integers(3, size=draws)
            proposal = points + length[:, None] * (rng.standard_normal(points.shape) @ root.T)
            slack = 0.5 * np.sum(points**2 - proposal**2, axis=1) - beta * likelihood
            slack += rng.standard_exponential(draws)
            # the kernel is at most one: what the prior alone rejects need not be simulated
            index = np.flatnonzero(slack > 0)
            there = _log_kernel(maxima, width, proposal[index], rng)
            accepted = slack[index] + beta * there > 0
            index = index[accepted]
            points[index], likelihood[index] = proposal[index], there[accepted]
            rate = index.size / draws
            scale *= float(np.exp(0.5 * (rate - 0.3)))
            moves, steps = moves + rate, steps + 1
    return _values_at(maxima.priors, points) | {"moves": np.array(moves)}


def _values_at(priors: MaximumPriors, points: FloatArray) -> dict[str, FloatArray]:
    """Location, spread and rho at coordinates (D, 3) that are standard normal a priori."""
    (location, sd), (log_spread, sd_log) = priors.skill.location, priors.skill.log_spread
    return {
        "location": location + sd * points[:, 0],
        "spread": np.exp(log_spread + sd_log * points[:, 1]),
        "rho": priors.correlation.quantile(ndtr(points[:, 2])),
    }


def _log_kernel(
    maxima: Maxima, width: FloatArray, points: FloatArray, rng: Generator
) -> FloatArray:
    """Log of Gaussian kernels around the observed intervals at simulated best scores, (D,)."""
    low, high = np.array([score_bounds(board) for board in maxima.boards]).T
    boards = maxima.draw_boards(_values_at(maxima.priors, points), rng, winner=False)
    simulated = boards["observed_maximum"]
    distance = np.maximum(np.maximum(low - simulated, simulated - high), 0.0)
    return -0.5 * np.sum((distance / width) ** 2, axis=1)


def _next_temperature(likelihood: FloatArray, beta: float) -> float:
    """Inverse temperature at which half of the particles are effective, at most 1."""

    def excess(new: float) -> float:
        weights = np.exp((new - beta) * (likelihood - likelihood.max()))
        return float(weights.sum() ** 2 / np.sum(weights**2) - likelihood.size / 2)

    return 1.0 if excess(1.0) >= 0 else float(brentq(excess, beta, 1.0, xtol=1e-15))
