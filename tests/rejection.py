"""Approximate Bayesian computation by plain rejection, the algorithm of the paper's Sec. 5.3.2."""

import numpy as np

from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.likelihood import score_bounds
from bayes_sota.maximum.posterior import Maxima

BATCH = 50_000


def draw_accepted(
    maxima: Maxima, rng: np.random.Generator, draws: int, epsilon: float | FloatArray
) -> dict[str, FloatArray]:
    """Draws of the prior whose boards come close to the observed ones.

    A draw is kept where every simulated best score is at most epsilon from the scores that print
    as the observed one.
    """
    low, high = np.transpose([score_bounds(board) for board in maxima.boards])
    kept: list[dict[str, FloatArray]] = []
    while sum(one["rho"].size for one in kept) < draws:
        drawn = maxima.draw_prior(rng, BATCH)
        best = drawn["observed_maximum"]
        distance = np.maximum(np.maximum(low - best, best - high), 0.0)
        close = np.flatnonzero(np.all(distance <= epsilon, axis=1))
        kept.append({name: value[close] for name, value in drawn.items()})
    return {name: np.concatenate([one[name] for one in kept])[:draws] for name in kept[0]}
