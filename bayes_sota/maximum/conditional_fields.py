"""What stands behind the observed maxima, given hyperparameters that another route drew."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.priors import Priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.likelihood import BoardLikelihood, FieldDraws

__all__ = ["draw_fields"]

_RHO_NODES = 16


def draw_fields(
    boards: Sequence[Leaderboard],
    priors: Priors,
    location: FloatArray,
    spread: FloatArray,
    rho: FloatArray,
    rng: np.random.Generator,
    *,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
) -> list[FieldDraws]:
    """Exact draws per board given location, spread and rho of shape (D,).

    rho enters through nodes at equally spaced quantiles of the draws; a draw takes one of the two
    nodes around it, with the probabilities of linear interpolation.
    """
    nodes = np.unique(np.quantile(rho, np.linspace(0, 1, _RHO_NODES)))
    nearest = _interpolating_index(rng, rho, nodes)
    distribution = priors.skill.distribution(location, spread)
    return [
        BoardLikelihood(board, nodes, reference_skill).draw(
            rng, distribution, nearest, rho, new_n_test
        )
        for board in boards
    ]


def _interpolating_index(
    rng: np.random.Generator, rho: FloatArray, nodes: FloatArray
) -> NDArray[np.int64]:
    position = np.interp(rho, nodes, np.arange(nodes.size))
    below = np.floor(position)
    return np.asarray(below + (rng.random(rho.size) < position - below), dtype=np.int64)
