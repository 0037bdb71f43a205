"""Chebyshev nodes for fields of many different AUCs."""

import numpy as np

from bayes_sota.core.interpolation import cardinal_functions
from bayes_sota.core.types import FloatArray

__all__ = ["chebyshev_nodes", "condensed", "node_weights", "nodes_for"]

_FAR = 10.0  # standard errors below the best from where nobody becomes the maximum


def condensed(skills: FloatArray, counts: FloatArray, sd: float) -> tuple[FloatArray, FloatArray]:
    """Chebyshev nodes for many distinct AUCs: ``sum_j f(A_j)`` is kept for every smooth f.

    AUCs too low to become the maximum are left out; the best one is a node.
    """
    near = skills >= skills[-1] - _FAR * sd
    skills, counts = skills[near], counts[near]
    size = nodes_for((skills[-1] - skills[0]) / sd)
    if size >= skills.size:
        return skills, counts
    nodes, _ = chebyshev_nodes(skills[0], skills[-1], size)
    return nodes, counts @ node_weights(skills, skills[0], skills[-1], size)


def nodes_for(width: float) -> int:
    """Number of nodes for a range of AUCs, in standard errors."""
    return 9 + int(np.ceil(3 * width))


def chebyshev_nodes(low: float, high: float, size: int) -> tuple[FloatArray, FloatArray]:
    """Nodes of a range, both ends among them, and the same on [-1, 1]."""
    x = -np.cos(np.arange(size) * np.pi / (size - 1))
    nodes = low + (x + 1) / 2 * (high - low)
    nodes[-1] = high
    return nodes, x


def node_weights(points: FloatArray, low: float, high: float, size: int) -> FloatArray:
    """Interpolation from the nodes to points of the range, (points, size)."""
    _, x = chebyshev_nodes(low, high, size)
    barycentric = (-1.0) ** np.arange(size)
    barycentric[[0, -1]] /= 2
    return cardinal_functions(2 * (points - low) / (high - low) - 1, x, barycentric)
