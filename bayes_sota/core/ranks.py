r"""Simultaneous sets of ranks, and tiers.

``joint_rank_sets`` are of a posterior: with :math:`F_j` the distribution of entry j's rank, a draw
d of all ranks :math:`r_{dj}` has the depth

.. math:: \delta_d = \min_j \min\{F_j(r_{dj}),\; 1 - F_j(r_{dj} - 1)\}

and the set of an entry reaches from its least to its largest rank among the draws that are at least
as deep as the 1 - p quantile of depths: all ranks at once lie in their sets with probability p.

``stepwise_rank_sets`` are confidence sets (Mogstad, Romano, Shaikh & Wilhelm 2024, doi
10.1093/restud/rdad006): two entries are distinguished where the difference of their scores, in
standard errors, exceeds the p quantile of the largest simulated difference among all pairs that
are not yet distinguished; this is repeated with the remaining pairs. The best rank that an entry
may have counts the entries that are surely better, the worst one those that are surely worse. They
hold with probability p also where entries are exactly equal. ``tests/core/test_ranks.py`` compares
both with enumeration; docs/measured/ranks.md has their coverage on boards of real classifiers.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray, IntArray

_BLOCK = 128  # entries


def joint_rank_sets(
    rank: NDArray[np.integer], prob: float, alike: Sequence[IntArray] = ()
) -> IntArray:
    """Smallest and largest rank of each entry, (m, 2), simultaneous in a posterior.

    Parameters
    ----------
    rank : ndarray of int, shape (D, m)
        Rank of each entry in each draw, 1 is best.
    prob : float
        Posterior probability that all ranks lie in their sets, at least.
    alike : sequence of ndarray
        Groups of entries with the same posterior, whose draws are pooled; default none.

    Examples
    --------
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


def stepwise_rank_sets(
    scores: FloatArray, errors: FloatArray, deviations: FloatArray, prob: float
) -> IntArray:
    """Simultaneous confidence sets of ranks: smallest and largest of each entry, (m, 2).

    Parameters
    ----------
    scores : ndarray, shape (m,)
        Larger is better.
    errors : ndarray, shape (m, m)
        Standard error of each difference of two scores; a pair with 0 is never distinguished.
    deviations : ndarray, shape (B, m)
        Simulated errors of all scores, with their dependence.
    prob : float

    Examples
    --------
    >>> scores, noise = np.array([3.0, 0.1, 0.0]), np.random.default_rng(0).normal(size=(999, 3))
    >>> stepwise_rank_sets(scores, np.full((3, 3), 2**0.5) - 2**0.5 * np.eye(3), 0.7 * noise, 0.9)
    array([[1, 1],
           [2, 3],
           [2, 3]])
    """
    order = np.argsort(scores)
    ordered, errors, m = scores[order], errors[np.ix_(order, order)], scores.size
    weight = np.divide(1, errors, out=np.zeros((m, m)), where=errors > 0).astype(np.float32)
    statistic = (ordered - ordered[:, None]) * weight
    noise = np.ascontiguousarray(deviations[:, order].T, np.float32)
    left = np.triu(np.ones((m, m), bool), 1)  # a worse and a better entry, not yet distinguished
    never = np.zeros(noise.shape[1], np.float32)  # over the same pairs, the worse one above
    while True:
        largest, opposite = _largest_differences(noise, weight, left)
        np.maximum(never, opposite, out=never)
        separated = left & (statistic > np.quantile(np.maximum(largest, never), prob))
        if not separated.any():
            break
        left &= ~separated
    apart = np.triu(~left, 1)
    sets = np.empty((m, 2), np.int64)
    sets[order] = np.column_stack([1 + apart.sum(axis=1), m - apart.sum(axis=0)])
    return sets


def _largest_differences(
    noise: NDArray[np.float32], weight: NDArray[np.float32], pairs: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Largest weighted difference of the second less the first of all pairs, and the reverse, (B,).

    By blocks of second entries that fit a processor's cache.
    """
    largest, reverse = np.zeros((2, noise.shape[1]), np.float32)
    for start in range(0, len(noise), _BLOCK):
        block = noise[start : start + _BLOCK]
        for first, own in enumerate(noise[: start + len(block)]):
            here = np.flatnonzero(pairs[first, start : start + _BLOCK])
            if here.size:
                apart = block[here]
                apart -= own
                apart *= weight[first, start + here, None]
                np.maximum(largest, apart.max(axis=0), out=largest)
                np.maximum(reverse, -apart.min(axis=0), out=reverse)
    return largest, reverse


def stepwise_rank_sets_of_equal_errors(
    scores: FloatArray, deviations: FloatArray, prob: float
) -> IntArray:
    """``stepwise_rank_sets`` of independent errors of one size, in O(m) a draw.

    Pairs that are not distinguished are neighbours in the order of the scores: the largest
    difference over them subtracts the least error among the entries from some rank upwards.

    Parameters
    ----------
    scores : ndarray, shape (m,)
        Larger is better.
    deviations : ndarray, shape (B, m)
        Simulated errors of all scores.
    prob : float

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(999, 3))
    >>> stepwise_rank_sets_of_equal_errors(np.array([9.0, 0.1, 0.0]), noise, 0.9).tolist()
    [[1, 1], [2, 3], [2, 3]]
    """
    order = np.argsort(scores)
    ordered, m = scores[order], scores.size
    noise = np.ascontiguousarray(deviations[:, order], np.float32)
    least = np.minimum.accumulate(noise[:, ::-1], axis=1)[:, ::-1]
    first = np.zeros(m, np.int64)  # of the entries that are not distinguished from each
    while True:
        reach = np.quantile((noise - least[:, first]).max(axis=1), prob)
        below = np.searchsorted(ordered, ordered - reach, side="left")
        if np.array_equal(below, first):
            break
        first = below
    above = m - np.searchsorted(ordered, ordered + reach, side="right")
    sets = np.empty((m, 2), np.int64)
    sets[order] = np.column_stack([1 + above, m - first])
    return sets


def tiers(sets: IntArray) -> IntArray:
    """Tier of each entry, (m,), from sets of ranks (m, 2); 1 is best.

    The first tier are the entries that may be best; each further one those that may have the best
    rank that the tiers above leave.

    Examples
    --------
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
    """Number of neighbours whose sets of ranks, (m, 2) in their order, have no rank in common.

    Examples
    --------
    >>> separated_neighbours(np.array([[1, 2], [1, 3], [2, 3], [4, 4]]))
    1
    """
    return int(np.count_nonzero(sets[:-1, 1] < sets[1:, 0]))
