r"""Decision trees of two classes and numbers, compiled: grown by C4.5's rules, and pruned by them.

Quinlan (1993) with the changes of release 8 (1996), as far as numbers without gaps need them:

- a threshold leaves at least 2 items on either side; of nodes with more than 40 items a twentieth
  of them (a tenth over the number of classes), but never asks for more than 25;
- the best threshold of an attribute has the largest gain, less :math:`\log_2(t) / n` for the
  choice among :math:`t`; of the attributes whose gain is at least average (less .001) the one
  with the largest gain over the information of the split itself is taken;
- the threshold is the largest value of the training set that does not exceed the middle between
  two neighbours;
- pruning by estimated errors, from the leaves to the root: a node becomes a leaf, or its larger
  branch takes its place (subtree raising), where that is estimated to be wrong at most .1 items
  more often than the subtree.

The Hellinger tree differs in the choice of threshold and attribute alone. Values differ where their
floating-point numbers do, not from .00001 on. ``tests/published/test_trees.py`` grows and prunes
the same trees by plain loops over lists.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from bayes_sota.core.types import BoolArray, FloatArray, IntArray

_ALIKE = 1e-9  # numbers that differ by less are rounding
_EPSILON = 1e-3  # Quinlan's
_LEAST = 2  # items on either side of a split
_Z = 0.6744897501960817  # normal quantile of 1 - .25, C4.5's confidence
_CONFIDENCE = 0.25


class Nodes(NamedTuple):
    """A tree as columns, a node before those below it; a leaf has no attribute (-1).

    ``items`` of the training set lie so that those of a node follow each other, from ``start`` on;
    ``hits`` of its ``size`` items are positive.
    """

    attribute: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    start: IntArray
    size: IntArray
    hits: IntArray
    items: IntArray


@njit(cache=True)
def _entropy(n: int, hits: int) -> float:
    """Bits that the classes of n items need, all together."""
    rest, bits = n - hits, 0.0
    if hits:
        bits -= hits * math.log2(hits / n)
    if rest:
        bits -= rest * math.log2(rest / n)
    return bits


@njit(cache=True)
def split_merit(n: int, hits: int, size: int, low: int, by_gain: bool) -> float:
    """What a split is worth that has ``low`` of the ``hits`` among ``size`` items on the left."""
    if by_gain:
        parts = _entropy(size, low) + _entropy(n - size, hits - low)
        return (_entropy(n, hits) - parts) / n
    p, q = low / hits, (size - low) / (n - hits)
    return 2 - 2 * math.sqrt(p * q) - 2 * math.sqrt((1 - p) * (1 - q))


@njit(cache=True)
def _best_threshold(
    column: FloatArray, items: IntArray, positive: BoolArray, hits: int, by_gain: bool
) -> Any:
    """Merit and place of the best threshold among sorted items; 0 where none is worth a split."""
    n = items.size
    least, best, place = min(max(n / 20, _LEAST), 25), _ALIKE, -1
    low = tries = 0
    for k in range(n - 1):
        low += positive[items[k]]
        if k + 1 < least or n - k - 1 < least or column[items[k + 1]] <= column[items[k]]:
            continue
        tries += 1
        worth = split_merit(n, hits, k + 1, low, by_gain)
        if worth > best + _ALIKE:
            best, place = worth, k
    if place >= 0 and by_gain:
        best -= math.log2(tries) / n
    return (best, place) if place >= 0 and best > _ALIKE else (0.0, -1)


@njit(cache=True)
def _best_attribute(merits: FloatArray, places: IntArray, n: int, by_gain: bool) -> int:
    """The attribute to split by, -1 for none."""
    found, best, useful = -1, _ALIKE, np.flatnonzero(places >= 0)
    if not useful.size:
        return -1
    least = merits[useful].mean() - _EPSILON if by_gain else 0.0
    for a in useful:
        worth = merits[a]
        if by_gain:
            worth = worth / (_entropy(n, places[a] + 1) / n) if worth >= least else 0.0
        if worth > best + _ALIKE:
            found, best = a, worth
    return found


@njit(cache=True)
def _divided(items: IntArray, goes_left: BoolArray) -> int:
    """Put the items that go left before the others, each in their order; how many they are."""
    kept, rest, size = 0, np.empty_like(items), 0
    for item in items:
        if goes_left[item]:
            items[kept] = item
            kept += 1
        else:
            rest[size] = item
            size += 1
    items[kept:] = rest[:size]
    return kept


@njit(cache=True)
def grown(columns: FloatArray, order: IntArray, positive: BoolArray, by_gain: bool) -> Any:
    """Grow a tree until nothing is worth a split.

    Parameters
    ----------
    columns : ndarray, shape (n_attributes, n_items)
    order : ndarray of int, same shape
        Items by the values of each attribute; it is overwritten.
    positive : ndarray of bool, shape (n_items,)
    by_gain : bool
        By gain and gain ratio, or by Hellinger's distance.

    Returns
    -------
    Nodes
    """
    n_attributes, n_items = columns.shape
    most = 2 * n_items
    attribute, threshold = np.full(most, -1), np.full(most, np.nan)
    left, right, start = np.full(most, -1), np.full(most, -1), np.zeros(most, np.int64)
    size, hits = np.zeros(most, np.int64), np.zeros(most, np.int64)
    sorted_columns = np.empty_like(columns)
    for a in range(n_attributes):
        sorted_columns[a] = columns[a][order[a]]
    merits, places = np.zeros(n_attributes), np.zeros(n_attributes, np.int64)
    goes_left = np.zeros(n_items, np.bool_)
    size[0], hits[0] = n_items, positive.sum()
    waiting, count = [0], 1
    while waiting:
        node = waiting.pop()
        n, first, of_class = size[node], start[node], hits[node]
        last = first + n
        if of_class in (0, n) or n < 2 * _LEAST:
            continue
        for a in range(n_attributes):
            merits[a], places[a] = _best_threshold(
                columns[a], order[a, first:last], positive, of_class, by_gain
            )
        best = _best_attribute(merits, places, n, by_gain)
        if best < 0:
            continue
        at = first + places[best]
        low, high = columns[best, order[best, at]], columns[best, order[best, at + 1]]
        near = np.searchsorted(sorted_columns[best], low + (high - low) / 2, side="right") - 1
        attribute[node] = best
        threshold[node] = min(sorted_columns[best, near], np.nextafter(high, low))
        for item in order[best, first:last]:
            goes_left[item] = columns[best, item] <= threshold[node]
        for a in range(n_attributes):
            _divided(order[a, first:last], goes_left)
        left[node], right[node] = count, count + 1
        start[count], size[count] = first, places[best] + 1
        start[count + 1], size[count + 1] = at + 1, n - places[best] - 1
        hits[count] = positive[order[0, first : at + 1]].sum()
        hits[count + 1] = of_class - hits[count]
        waiting.append(count + 1)
        waiting.append(count)
        count += 2
    return Nodes(
        attribute[:count], threshold[:count], left[:count], right[:count],
        start[:count], size[:count], hits[:count], order[0].copy(),
    )  # fmt: skip


@njit(cache=True)
def estimated_errors(n: float, wrong: float) -> float:
    r"""Errors that are to be expected of n new items where ``wrong`` of n were errors.

    n times the upper limit at confidence .25 of the share: for no errors
    :math:`1 - .25^{1/n}`, else the normal approximation of release 8 with the correction for
    continuity.
    """
    if n == 0:
        return 0.0
    if wrong == 0:
        return n * (1 - _CONFIDENCE ** (1 / n))
    if wrong + 0.5 >= n:
        return n
    share, square = (wrong + 0.5) / n, _Z**2 / n
    root = math.sqrt(square * (share - share**2 + square / 4))
    return n * (share + square / 2 + root) / (1 + square)


@njit(cache=True)
def _leaf_errors(size: int, hits: int, estimated: bool) -> float:
    wrong = min(hits, size - hits)
    return estimated_errors(size, wrong) if estimated else wrong


@njit(cache=True)
def _tree_errors(nodes: Nodes, node: int, estimated: bool) -> float:
    """Errors of the leaves below a node."""
    if nodes.attribute[node] < 0:
        return _leaf_errors(nodes.size[node], nodes.hits[node], estimated)
    one = _tree_errors(nodes, nodes.left[node], estimated)
    return one + _tree_errors(nodes, nodes.right[node], estimated)


@njit(cache=True)
def leaf_of(nodes: Nodes, node: int, columns: FloatArray, item: int) -> int:
    """The leaf below a node to which an item goes."""
    while nodes.attribute[node] >= 0:
        goes_left = columns[nodes.attribute[node], item] <= nodes.threshold[node]
        node = nodes.left[node] if goes_left else nodes.right[node]
    return node


@njit(cache=True)
def _raised_errors(
    nodes: Nodes, node: int, branch: int, columns: FloatArray, positive: BoolArray
) -> float:
    """Estimated errors of a branch, if all items of the node above went there."""
    size, hits = np.zeros_like(nodes.size), np.zeros_like(nodes.size)
    first = nodes.start[node]
    for item in nodes.items[first : first + nodes.size[node]]:
        leaf = leaf_of(nodes, branch, columns, item)
        size[leaf] += 1
        hits[leaf] += positive[item]
    found = 0.0
    for leaf in np.flatnonzero(size):
        found += _leaf_errors(size[leaf], hits[leaf], True)
    return found


@njit(cache=True)
def _handed_down(nodes: Nodes, node: int, columns: FloatArray, positive: BoolArray) -> None:
    """Count the items of a node anew in all nodes below it."""
    if nodes.attribute[node] < 0:
        return
    first, goes_left = nodes.start[node], np.zeros(positive.size, np.bool_)
    items = nodes.items[first : first + nodes.size[node]]
    for item in items:
        goes_left[item] = columns[nodes.attribute[node], item] <= nodes.threshold[node]
    middle, low, high = _divided(items, goes_left), nodes.left[node], nodes.right[node]
    nodes.start[low], nodes.size[low] = first, middle
    nodes.start[high], nodes.size[high] = first + middle, items.size - middle
    nodes.hits[low] = positive[items[:middle]].sum()
    nodes.hits[high] = nodes.hits[node] - nodes.hits[low]
    _handed_down(nodes, low, columns, positive)
    _handed_down(nodes, high, columns, positive)


@njit(cache=True)
def collapse(nodes: Nodes) -> None:
    """Make leaves of nodes whose subtrees are not right more often in training."""
    for node in range(nodes.size.size - 1, -1, -1):
        alone = _leaf_errors(nodes.size[node], nodes.hits[node], False)
        if _tree_errors(nodes, node, False) >= alone - _EPSILON:
            nodes.attribute[node] = -1


@njit(cache=True)
def prune(nodes: Nodes, node: int, columns: FloatArray, positive: BoolArray) -> None:
    """Prune below a node, and then the node, by estimated errors."""
    if nodes.attribute[node] < 0:
        return
    low, high = nodes.left[node], nodes.right[node]
    prune(nodes, low, columns, positive)
    prune(nodes, high, columns, positive)
    branch = low if nodes.size[low] >= nodes.size[high] else high
    raised = _raised_errors(nodes, node, branch, columns, positive)
    alone = _leaf_errors(nodes.size[node], nodes.hits[node], True)
    whole = _tree_errors(nodes, node, True)
    if alone <= min(whole, raised) + 0.1 + _ALIKE:
        nodes.attribute[node] = -1
    elif raised <= whole + 0.1 + _ALIKE:
        nodes.attribute[node], nodes.threshold[node] = (
            nodes.attribute[branch], nodes.threshold[branch],
        )  # fmt: skip
        nodes.left[node], nodes.right[node] = nodes.left[branch], nodes.right[branch]
        _handed_down(nodes, node, columns, positive)
        prune(nodes, node, columns, positive)


@njit(cache=True)
def leaves_of(nodes: Nodes, columns: FloatArray) -> IntArray:
    """The leaves to which new items go, by their attributes (n_attributes, n_items)."""
    found = np.empty(columns.shape[1], np.int64)
    for item in range(found.size):
        found[item] = leaf_of(nodes, 0, columns, item)
    return found


def leaf_probabilities(nodes: Nodes, laplace: bool) -> FloatArray:
    """Probability of the positive class in each node; without any item that of the node above."""
    if laplace:
        return np.asarray((nodes.hits + 1) / (nodes.size + 2))
    found = nodes.hits / np.maximum(nodes.size, 1)
    for node in np.flatnonzero(nodes.attribute >= 0):
        for below in (nodes.left[node], nodes.right[node]):
            if nodes.size[below] == 0:
                found[below] = found[node]
    return np.asarray(found)
