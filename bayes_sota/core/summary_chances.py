"""Probabilities from draws, with their Monte Carlo errors."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import NUMBER, Range
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.summary import (
    Points,
    draws_of,
    error_of_mean,
    group_of,
    mcse_of,
    points_behind,
)
from bayes_sota.core.types import FloatArray

if TYPE_CHECKING:
    import xarray as xr


def probability_above(tree: "xr.DataTree", threshold: float, board: int = 0) -> dict[str, float]:
    r"""Probability that the best skill exceeds a threshold.

    .. math:: P(\theta_{sota} > t \mid data) \approx \frac1D \sum_d 1[\theta_{sota, d} > t]

    Where lower scores are better it is still the probability of a larger number.

    Parameters
    ----------
    tree : DataTree
        A result with draws of theta_sota.
    threshold : float
        The skill t, in the units of theta_sota.
    board : int
        Which board's theta_sota, where there are several.

    Returns
    -------
    dict
        ``threshold``, ``probability`` and its Monte Carlo standard error ``mcse``.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.BestScore("0.98", n_test=200, n_classifiers=50)
    >>> chance = probability_above(bs.estimate_sota(board, random_seed=0), 0.95)
    >>> 0.8 < chance["probability"] < 1
    True
    """
    best = draws_of(tree, "theta_sota", checked_board(tree, board))
    return share_above(best, threshold, tree.attrs, points_behind(tree))


def share_above(
    best: FloatArray,
    threshold: float,
    attributes: Mapping[Any, Any],
    points: Points | None = None,
) -> dict[str, float]:
    """Share of draws (chain, draw) above a threshold, as of ``probability_above``."""
    NUMBER.check(threshold, "above")
    above = (best > threshold).astype(np.float64)
    return {"threshold": float(threshold)} | weighted_chance(above, attributes, points=points)


def weighted_chance(
    chances: FloatArray,
    attributes: Mapping[Any, Any],
    log_weights: FloatArray | None = None,
    points: Points | None = None,
) -> dict[str, float]:
    r"""Mean of a probability over draws, with its Monte Carlo error.

    .. math:: \hat p = \sum_d w_d p_d, \quad
              \mathrm{mcse}^2 = \sum_d w_d^2 (p_d - \hat p)^2, \quad \sum_d w_d = 1

    More, by the ratio of their mcse, where the draws depend on each other or come from weighted
    points. The largest variance of a probability with this mean counts as one more draw, as a few
    draws that agree are not certain. Where all say 0, or all say 1, it is that of a share
    (``share_mcse``).

    Parameters
    ----------
    chances : ndarray, shape (chain, draw)
        The probability given each draw.
    attributes : mapping
        Of the result: whether draws are independent, and behind how many points.
    log_weights : ndarray, shape (chain, draw), optional
        Log likelihood of what was learnt after the draws were made; default equal.
    points : (ndarray, ndarray), optional
        As of ``points_behind``.

    Returns
    -------
    dict
        ``probability``, ``mcse`` and with weights ``effective_draws``, :math:`1 / \sum_d w_d^2`.
    """
    weights = np.ones(chances.shape)
    if log_weights is not None:
        weights = np.exp(log_weights - log_weights.max())
    weights = weights / weights.sum()
    mean = float(np.sum(weights * chances))
    variance = float(np.sum(weights**2 * (chances - mean) ** 2))
    spread, inflation = error_of_mean(chances, None) if np.ptp(chances) else 0.0, 1.0
    if spread:
        inflation = max(1.0, (mcse_of(chances, attributes, points) / spread) ** 2)
    p, draws = min(max(mean, 0.0), 1.0), float(1 / np.sum(weights**2))
    counted = share_mcse(p, draws / inflation)
    variance = (draws * variance + p * (1 - p) / draws) / (draws + 1)
    answer = {"probability": p, "mcse": (variance * inflation) ** 0.5 if 0 < p < 1 else counted}
    return answer if log_weights is None else answer | {"effective_draws": draws}


def checked_board(tree: "xr.DataTree", board: int) -> int:
    """Number of a board that the result has."""
    shape = group_of(tree, "theta_sota")["theta_sota"].shape
    Range(0, (shape[2] if len(shape) == 3 else 1) - 1, whole=True).check(board, "board")
    return board
