"""Barycentric interpolation, whose transpose moves weights from many points onto few nodes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray

__all__ = ["cardinal_functions"]

_SAME = 1e-14  # a point this near a node is the node


def cardinal_functions(
    points: FloatArray, nodes: FloatArray, weights: NDArray[np.floating[Any]]
) -> FloatArray:
    """Value at each point of the polynomial that is 1 at one node and 0 at the others.

    Parameters
    ----------
    points : ndarray, shape (N,)
    nodes, weights : ndarray, shape (K,)
        Nodes in [-1, 1] and their barycentric weights, up to a common factor.

    Returns
    -------
    ndarray, shape (N, K)

    Examples
    --------
    >>> cardinal_functions(np.array([0.0, 1.0]), np.array([-1.0, 1.0]), np.array([1.0, -1.0]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    difference = points[:, None] - nodes
    exact = np.abs(difference) < _SAME
    ratio = weights / np.where(exact, 1.0, difference)
    cardinal = ratio / ratio.sum(axis=1, keepdims=True)
    hit = exact.any(axis=1)
    cardinal[hit] = exact[hit]
    return np.asarray(cardinal)
