"""Standard errors of metrics that have no formula, by resampling items."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.labels import checked_clusters
from bayes_sota.core.types import FloatArray

__all__ = ["bootstrap_standard_errors"]


def bootstrap_standard_errors(
    metric: Any,
    truth: ArrayLike,
    predictions: ArrayLike,
    *,
    repetitions: int = 1000,
    clusters: Sequence[str] | None = None,
    random_seed: int | np.random.Generator | None = None,
) -> FloatArray:
    """Standard error of any metric, by resampling items: for ``Leaderboard(standard_error=...)``.

    Parameters
    ----------
    metric : callable
        ``metric(truth, prediction) -> float``, such as those of ``sklearn.metrics``.
    truth : array-like, shape (n, ...)
    predictions : array-like, shape (n, m)
        One column per classifier.
    repetitions : int
    clusters : sequence of str, optional
        What each item belongs to; clusters are drawn whole.
    random_seed : int, Generator or None

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    InputError
        Shapes that do not match, or a metric that is not finite on a resampled test set.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.standard_normal(400)
    >>> guesses = truth[:, None] + rng.standard_normal((400, 2))
    >>> def mse(y, p):
    ...     return float(np.mean((y - p) ** 2))
    >>> errors = bootstrap_standard_errors(mse, truth, guesses, repetitions=200, random_seed=1)
    >>> bool(np.all(abs(errors - 0.07) < 0.02))  # sqrt(2 / 400)
    True
    """
    given, columns = np.asarray(truth), np.asarray(predictions)
    if columns.ndim != 2 or len(given) != len(columns) or len(given) < 2:
        raise InputError(
            "predictions must be items x classifiers, with one row for each of at least 2 true "
            f"values, got shapes {given.shape} and {columns.shape}"
        )
    if repetitions < 2:
        raise InputError(f"the bootstrap needs at least 2 repetitions, got {repetitions}")
    rng = generator_of(random_seed)
    groups = checked_clusters(clusters, len(given)) or [str(i) for i in range(len(given))]
    _, index = np.unique(np.array(groups), return_inverse=True)
    members = np.split(np.argsort(index, kind="stable"), np.cumsum(np.bincount(index))[:-1])
    values = np.empty((repetitions, columns.shape[1]))
    for row in values:
        chosen = rng.integers(len(members), size=len(members))
        rows = np.concatenate([members[g] for g in chosen])
        row[:] = [metric(given[rows], columns[rows, j]) for j in range(columns.shape[1])]
    if not np.isfinite(values).all():
        raise InputError("the metric is not finite on some resampled test sets")
    return np.asarray(values.std(axis=0, ddof=1))
