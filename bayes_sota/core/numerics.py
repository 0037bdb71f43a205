"""Interpolation, resampling, Monte Carlo errors, threads of BLAS."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray, IntArray

CERTAIN = 45.0  # events with log probability below -45 are left out
_TINY = 1e-290
_PER_STRATUM = 10  # draws, of which a mean is not too close to each
_MOST_TIMES = 1e4  # as many items as there are, beyond which nothing is promised


def stratified(weights: FloatArray, total: int, rng: np.random.Generator) -> Any:
    """Number of draws of each index by systematic resampling."""
    edges = np.cumsum(weights)
    edges = np.floor(edges / edges[-1] * total + rng.random()).astype(int)
    edges[-1] = total
    return np.diff(np.minimum(edges, total), prepend=0)


def invert_rows(
    cdf: FloatArray, level: FloatArray, y: FloatArray, row: IntArray | None = None
) -> FloatArray:
    """Find where rows of cumulative mass on an equally spaced grid reach levels.

    ``cdf`` (R, G) is the cumulative mass of cells around ``y`` (G,), up to any total; a row without
    mass is uniform. ``level`` are shares of the total, (R, k), or of any shape with the index
    ``row`` of each.

    >>> invert_rows(np.array([[1.0, 2.0]]), np.array([[0.25, 0.5, 1.0]]), np.array([0.0, 1.0]))
    array([[0. , 0.5, 1.5]])
    """
    rows = np.arange(len(cdf))[:, None]
    whole = np.zeros((len(cdf), y.size + 1))
    np.add(cdf, _TINY * np.arange(1, y.size + 1), out=whole[:, 1:])  # no mass: evenly
    whole /= whole[:, -1:]
    whole += 2.0 * rows
    half = (y[1] - y[0]) / 2
    edges = np.append(y - half, y[-1] + half)
    where = level + 2.0 * (rows if row is None else row)
    return np.interp(where, whole.ravel(), np.tile(edges, len(cdf)))


def condensed(
    points: FloatArray, weights: NDArray[Any], size: int
) -> tuple[FloatArray, NDArray[Any]]:
    """Replace points by Chebyshev nodes: ``sum_j w_j f(x_j)`` is kept for every smooth f.

    ``points`` (N,) increase; the last is a node. No more than ``size`` points stay as they are.
    """
    if size >= points.size:
        return points, weights
    low, high = points[0], points[-1]
    x = -np.cos(np.arange(size) * np.pi / (size - 1))
    moments = weights @ chebvander(2 * (points - low) / (high - low) - 1, size - 1)
    nodes = low + (x + 1) / 2 * (high - low)
    nodes[-1] = high
    return nodes, np.linalg.solve(chebvander(x, size - 1).T, moments)


def surely_drawn(values: FloatArray, counts: NDArray[Any], n_drawn: int) -> float:
    """Largest value that ``n_drawn`` draws with replacement reach, but for probability exp(-45).

    ``values`` increase; ``counts`` are their numbers of copies.

    >>> surely_drawn(np.arange(100.0), np.ones(100), 100)
    55.0
    """
    at_least = np.cumsum(counts[::-1])[::-1]
    sure = np.flatnonzero(at_least * n_drawn >= CERTAIN * at_least[0])
    return float(values[sure[-1] if sure.size else 0])


def share_mcse(p: Any, draws: float) -> Any:
    r"""Monte Carlo standard error of a share of independent draws (Agresti and Coull 1998).

    .. math:: \sqrt{\tilde p (1 - \tilde p) / S}, \quad \tilde p = (S p + 2) / (S + 4)

    It does not vanish where all draws agree.
    """
    middle = (p * draws + 2) / (draws + 4)
    return (middle * (1 - middle) / draws) ** 0.5


def cluster_mcse(values: NDArray[Any], cluster: NDArray[Any], stratum: NDArray[Any]) -> FloatArray:
    r"""Monte Carlo standard errors of means over draws (D, ...), several of which share a point.

    .. math:: \mathrm{mcse}^2 = \frac{1}{D^2} \sum_s
              \Big[\sum_{d \in s} (x_d - \bar x_{r(d)})\Big]^2

    over the points s, which are clusters of draws (Cochran, Sampling Techniques, 1977, Sec. 3.12).
    Deviations are from the mean of the stratum r, whose share of the draws is fixed; with fewer
    than ten draws per stratum, from the overall mean, which is conservative.
    """
    names, place = np.unique(stratum, return_inverse=True)
    means = np.stack([values[stratum == name].mean(axis=0) for name in names])
    if len(values) < _PER_STRATUM * names.size:
        means[:] = values.mean(axis=0)
    order = np.argsort(cluster, kind="stable")
    first = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    sums = np.add.reduceat((values - means[place])[order], first, axis=0)
    return np.sqrt(np.sum(sums**2, axis=0)) / len(values)


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread inside; several would wait for each other."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def student_factors(freedom: float, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    r"""Factors :math:`\sqrt{\nu / \chi^2_\nu}` that turn normal numbers into Student's t."""
    if np.isinf(freedom):
        return np.ones(shape)
    factors: FloatArray = np.sqrt(freedom / rng.chisquare(freedom, shape))
    return factors


def more_items(lead: float, reach: float, n_items: float) -> float | None:
    """Further items until an interval excludes a limit, if the difference stays the same.

    ``lead`` is the distance from the limit to the difference, ``reach`` from the difference to the
    interval's end. None if the limit is excluded already, or would take 10,000 times the items.
    """
    if not 0 < lead <= reach:
        return None
    times = (reach / lead) ** 2
    return n_items * (times - 1) if times < _MOST_TIMES else None
