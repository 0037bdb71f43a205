"""Names of classifiers and items, and the clusters that items belong to."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

__all__ = ["checked_clusters", "checked_labels", "summed_by_cluster"]


def checked_labels(labels: Iterable[Any] | None, size: int, kind: str) -> tuple[str, ...]:
    """Names as strings, as many as needed and each once."""
    if labels is None:
        return tuple(str(number) for number in range(1, size + 1))
    if isinstance(labels, str):
        raise InputError(f"names of {kind}s must be a sequence of names, got {labels!r}")
    found = tuple(str(label) for label in labels)
    if len(found) != size:
        raise InputError(f"there are {size} {kind}s, but {len(found)} names of {kind}s")
    if len(set(found)) < size:
        twice = Counter(found).most_common(1)[0][0]
        raise InputError(f"every {kind} needs its own name: {twice!r} occurs more than once")
    return found


def checked_clusters(clusters: Iterable[Any] | None, n_items: int) -> tuple[str, ...] | None:
    """Cluster of each item as a string."""
    if clusters is None:
        return None
    found = tuple(str(cluster) for cluster in clusters)
    if len(found) != n_items:
        raise InputError(f"every item has one cluster: {n_items} items, {len(found)} clusters")
    return found


def summed_by_cluster(values: FloatArray, clusters: Sequence[str] | None) -> FloatArray:
    """Rows of one cluster added up, (clusters, m); the rows themselves where there are none."""
    if clusters is None:
        return values
    _, index = np.unique(np.array(clusters), return_inverse=True)
    summed = np.zeros((int(index.max()) + 1, values.shape[1]))
    np.add.at(summed, index, values)
    return summed
