r"""Simultaneous sets of ranks, and tiers.

``joint_rank_sets`` are of a posterior: with :math:`F_j` the distribution of entry j's rank, a draw
d of all ranks :math:`r_{dj}` has the depth

.. math:: \delta_d = \min_j \min\{F_j(r_{dj}),\; 1 - F_j(r_{dj} - 1)\}

and a set spans the ranks of an entry in draws at least as deep as the 1 - p quantile of depths.

``confidence_rank_sets`` are of Mogstad, Romano, Shaikh & Wilhelm 2024 (doi 10.1093/restud/rdad006)
in one step: two entries are distinguished if their difference, in standard errors, exceeds the p
quantile of the largest simulated one of all pairs. ``tests/core/test_ranks.py`` compares both with
enumeration; docs/measured/ranks.md has their coverage.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray, IntArray

_BLOCK = 128  # entries that fit a processor's cache


def joint_rank_sets(
    rank: NDArray[np.integer], prob: float, alike: Sequence[IntArray] = ()
) -> IntArray:
    """Smallest and largest rank of each entry, (m, 2), simultaneous in a posterior.

    ``rank`` (D, m) is 1 for the best entry of a draw. Draws of entries ``alike``, which have the
    same posterior, are pooled.

    >>> rank = np.array([[1, 2, 3]] * 90 + [[2, 1, 3]] * 9 + [[3, 2, 1]])
    >>> joint_rank_sets(rank, 0.95).tolist()
    [[1, 2], [1, 2], [3, 3]]
    """
    draws, m = rank.shape
    groups = alike or np.arange(m)[:, None]
    depth = np.full(draws, np.inf)
    for group in groups:
        ranks = rank[:, group]
        cdf = np.cumsum(np.bincount(ranks.ravel(), minlength=m + 1)) / ranks.size
        least = np.minimum(cdf[ranks], 1 - cdf[ranks - 1])
        np.minimum(depth, least.min(axis=1), out=depth)
    kept = rank[depth >= np.quantile(depth, 1 - prob, method="lower")]
    sets = np.empty((m, 2), np.int64)
    for group in groups:
        sets[group] = kept[:, group].min(), kept[:, group].max()
    return sets


def confidence_rank_sets(
    scores: FloatArray, errors: FloatArray, deviations: FloatArray, prob: float
) -> IntArray:
    """Simultaneous confidence sets of ranks: smallest and largest of each entry, (m, 2).

    ``errors`` (m, m) are standard errors of differences, 0 for pairs that are never distinguished;
    ``deviations`` (B, m) simulated errors of all scores.

    >>> scores, noise = np.array([3.0, 0.1, 0.0]), np.random.default_rng(0).normal(size=(999, 3))
    >>> confidence_rank_sets(scores, np.full((3, 3), 2**0.5) - 2**0.5 * np.eye(3), 0.7 * noise, 0.9)
    array([[1, 1],
           [2, 3],
           [2, 3]])
    """
    weight = np.divide(1, errors, out=np.zeros(errors.shape), where=errors > 0).astype(np.float32)
    noise = np.ascontiguousarray(deviations.T, np.float32)
    largest = np.zeros(noise.shape[1], np.float32)
    for start in range(0, scores.size, _BLOCK):
        block, of_block = noise[start : start + _BLOCK], weight[start : start + _BLOCK]
        for other, own in enumerate(noise[: start + len(block)]):
            apart = np.abs(block - own) * of_block[:, other, None]
            np.maximum(largest, apart.max(axis=0), out=largest)
    better = (scores[:, None] - scores) * weight > np.quantile(largest, prob)
    return np.column_stack([1 + better.sum(axis=0), scores.size - better.sum(axis=1)])


def confidence_rank_sets_of_equal_errors(
    scores: FloatArray, deviations: FloatArray, prob: float
) -> IntArray:
    """``confidence_rank_sets`` of independent errors of one size, in O(m) per draw."""
    reach, ordered = np.quantile(np.ptp(deviations, axis=1), prob), np.sort(scores)
    better = scores.size - np.searchsorted(ordered, scores + reach, side="right")
    worse = np.searchsorted(ordered, scores - reach, side="left")
    return np.column_stack([1 + better, scores.size - worse])


def tiers(sets: IntArray) -> IntArray:
    """Tier of each entry, (m,), from sets of ranks (m, 2); 1 is best.

    The first tier may be best; each further one may have the best rank that is left.

    >>> tiers(np.array([[1, 2], [1, 3], [2, 3], [4, 4]])).tolist()
    [1, 1, 2, 3]
    """
    tier = np.zeros(len(sets), np.int64)
    number = 0
    while not tier.all():
        number += 1
        left = tier == 0
        best = max(len(sets) - np.count_nonzero(left) + 1, sets[left, 0].min())
        tier[left & (sets[:, 0] <= best)] = number
    return tier


def separated_neighbours(sets: IntArray) -> int:
    """Number of neighbours whose sets of ranks, (m, 2), have no rank in common."""
    return int(np.count_nonzero(sets[:-1, 1] < sets[1:, 0]))
