"""Numerics that several rooms share: importance sampling, interpolation, threads of BLAS.

*Importance sampling* of a few standardised parameters, several targets at a time: posteriors of the
same parameters at several values of rho. They lie close to each other, so one mixture of Student t
proposals serves all of them. Its components start at the modes and then follow the points
themselves, so that posteriors of any shape are covered (``tests/core/test_importance.py``).

*Interpolation* is barycentric; its transpose moves weights from many points onto few nodes.

*One thread* for small linear algebra: BLAS starts as many threads as there are processors for
matrices of a few hundred rows too, which wait for each other by spinning, so that beside another
process every product waits for a thread that is not running (``tests/core/test_blas_threads.py``).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray, IntArray

_DEGREES = 5.0
_START, _KNOWN, _ROUNDS, _ROUND_POINTS = 300, 10, 3, 175  # of a round, for each parameter
_COMPONENTS, _NARROWER = 42, 0.7
_SEARCHES, _APART, _NEWTON_STEPS, _SMALL_GAIN, _STEP = 4, 1.0, 15, 0.05, 2e-3
_NEGLIGIBLE = 12.0  # a mode this much lower, in logarithms, carries nothing
CERTAIN = 45.0  # events with log probability below -45 are left out
_TINY = 1e-290
_SAME = 1e-14  # a point this near a node is the node
_LARGEST = 6.0  # standard normal coordinates beyond this have no prior mass to speak of
LogDensities = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Points that stand for several posteriors at once.

    Attributes
    ----------
    points : ndarray, shape (N, d)
        Standardised parameters.
    log_weights : ndarray, shape (N, R)
        Logarithm of target over proposal, per target.
    """

    points: FloatArray
    log_weights: FloatArray

    @property
    def log_evidence(self) -> FloatArray:
        """Logarithm of the integral of each target, shape (R,)."""
        top = self.log_weights.max(axis=0)
        return top + np.log(np.mean(np.exp(self.log_weights - top), axis=0))

    @property
    def weights(self) -> FloatArray:
        """Normalised weights, shape (N, R)."""
        weights = np.exp(self.log_weights - self.log_weights.max(axis=0))
        return weights / weights.sum(axis=0)

    @property
    def effective_size(self) -> FloatArray:
        """Effective number of points of each target, shape (R,)."""
        return 1 / np.sum(self.weights**2, axis=0)

    def heaviest(self, count: int) -> FloatArray:
        """The points of the highest weights, over all targets, shape (count, d)."""
        return self.points[np.argsort(-self.weights.max(axis=1))[:count]]


def sample_importance(
    log_target: Callable[[FloatArray], FloatArray],
    dimension: int,
    rng: np.random.Generator,
    points: int = 700,
    start: WeightedPoints | None = None,
    searches: int = _SEARCHES,
) -> WeightedPoints:
    """Weighted points for the posteriors of standardised parameters.

    Parameters
    ----------
    log_target : callable
        (N, d) points -> (N, R) log likelihoods; the prior, standard normal, is added here.
    dimension : int
    rng : Generator
    points : int
        Points of the final sample.
    start : WeightedPoints, optional
        Points of similar targets: the search for the modes starts at the heaviest, and where they
        are few everywhere else as well.
    searches : int
        Searches for the modes, from points far apart.

    Returns
    -------
    WeightedPoints
    """

    def log_posterior(t: FloatArray) -> FloatArray:
        prior = -0.5 * np.sum(t**2 + np.log(2 * np.pi), axis=1)
        return log_target(t) + prior[:, None]

    known = np.empty((0, dimension)) if start is None else start.heaviest(_KNOWN)
    if start is None or start.effective_size.min() <= _covering(dimension):
        anywhere = np.clip(1.3 * rng.standard_normal((_START, dimension)), -_LARGEST, _LARGEST)
        known = np.concatenate([anywhere, known])
    proposal = _at_modes(log_posterior, known, searches)
    for _ in range(_ROUNDS):
        t, log_proposal = _draw(proposal, min(points, _ROUND_POINTS * dimension), rng)
        proposal = _components(t, log_posterior(t) - log_proposal[:, None])
    t, log_proposal = _draw(proposal, points, rng)
    return WeightedPoints(t, log_posterior(t) - log_proposal[:, None])


type _Mixture = tuple[FloatArray, FloatArray]  # centres and factors of Student t distributions


def _at_modes(log_posterior: LogDensities, start: FloatArray, searches: int) -> _Mixture:
    """At the modes of the middle and the outer targets; their neighbours lie between them.

    The middle one is sought from several good points far apart, the others from there.
    """
    values = log_posterior(start)
    last = values.shape[1] - 1
    middle = last // 2
    known = _apart(start, values[:, middle], searches)
    modes, factors, heights = _find_modes(log_posterior, known, np.full(len(known), middle))
    kept = heights > heights.max() - _NEGLIGIBLE
    if last == 0:
        return modes[kept], factors[kept]
    best = modes[[np.argmax(heights)] * 2]
    outer, outer_factors, _ = _find_modes(log_posterior, best, np.array([0, last]))
    return np.concatenate([modes[kept], outer]), np.concatenate([factors[kept], outer_factors])


def _apart(points: FloatArray, values: FloatArray, most: int) -> FloatArray:
    """The best points of which no two are near each other, best first, shape (K, d)."""
    left = points[np.argsort(-values)]
    chosen: list[FloatArray] = []
    while len(left) and len(chosen) < most:
        chosen.append(left[0])
        left = left[np.sum((left - left[0]) ** 2, axis=1) > _APART**2]
    return np.array(chosen)


def _find_modes(
    log_posterior: LogDensities, starts: FloatArray, targets: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Modes near K points, each of its target: (K, d), factors of the covariances, log densities.

    Newton steps with differences, damped like Levenberg and Marquardt, all searches in one batch.
    """
    best, factor = starts.copy(), np.tile(np.eye(starts.shape[1]), (len(starts), 1, 1))
    value = _of_targets(log_posterior, best[:, None], targets)[:, 0]
    damping, going = np.ones(len(starts)), np.arange(len(starts))
    for _ in range(_NEWTON_STEPS):
        gradient, hessian = _differences(log_posterior, best[going], value[going], targets[going])
        eigenvalues, vectors = np.linalg.eigh(-hessian)
        curvature = np.maximum(np.abs(eigenvalues), 1.0)
        factor[going] = vectors / np.sqrt(curvature)[:, None]
        rotated = gradient[:, None] @ vectors / curvature[:, None]
        trial_damping = damping[going, None] * np.array([0.0, 0.1, 1.0, 10.0, 100.0])
        steps = rotated / (1 + trial_damping[:, :, None]) @ vectors.transpose(0, 2, 1)
        trials = np.clip(best[going, None] + steps, -_LARGEST, _LARGEST)
        values = _of_targets(log_posterior, trials, targets[going])
        pick, each = np.argmax(values, axis=1), np.arange(going.size)
        gain = values[each, pick] - value[going]
        better = gain > 0
        best[going[better]] = trials[each, pick][better]
        value[going] += np.maximum(gain, 0.0)
        factors = np.where(better, np.where(pick < 2, 0.3, 2.0), 30.0)
        damping[going] = np.maximum(1e-3, damping[going] * factors)
        going = going[~((gain >= 0) & (gain < _SMALL_GAIN)) & (damping[going] <= 1e9)]
        if going.size == 0:
            break
    return best, _cholesky(factor @ factor.transpose(0, 2, 1)), value


def _of_targets(
    log_posterior: LogDensities, points: FloatArray, targets: NDArray[np.int64]
) -> FloatArray:
    """Log densities of points (K, P, d), each row of its target, shape (K, P)."""
    searches, count, dimension = points.shape
    values = log_posterior(points.reshape(-1, dimension)).reshape(searches, count, -1)
    return values[np.arange(searches), :, targets]


def _differences(
    log_posterior: LogDensities, centre: FloatArray, value: FloatArray, targets: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Gradients (K, d) and Hessians (K, d, d) by central differences, in one batch."""
    d = centre.shape[1]
    first, second = np.triu_indices(d, 1)
    unit = np.eye(d) * _STEP
    pairs = unit[first] + unit[second]
    around = np.concatenate([unit, -unit, pairs, -pairs])
    values = _of_targets(log_posterior, centre[:, None] + around, targets)
    plus, minus = values[:, :d], values[:, d : 2 * d]
    both = values[:, 2 * d : 2 * d + first.size] + values[:, 2 * d + first.size :]
    diagonal = (plus + minus - 2 * value[:, None]) / _STEP**2
    cross = (both - 2 * value[:, None]) / _STEP**2 - diagonal[:, first] - diagonal[:, second]
    hessian = diagonal[:, :, None] * np.eye(d)
    hessian[:, first, second] = hessian[:, second, first] = cross / 2
    return (plus - minus) / (2 * _STEP), hessian


def _cholesky(covariance: FloatArray) -> FloatArray:
    return np.linalg.cholesky(covariance + 1e-10 * np.eye(covariance.shape[-1]))


def _components(t: FloatArray, log_weights: FloatArray) -> _Mixture:
    """Around points drawn by weight, for each target, so that no shape is imposed on it.

    Weights are tempered until enough points carry them to tell a covariance; the prior is a part
    of the mixture, which bounds the weights to come.
    """
    d, targets = t.shape[1], log_weights.shape[1]
    count = max(1, _COMPONENTS // targets)
    centres, factors = list[FloatArray](), list[FloatArray]()
    for column in log_weights.T:
        for power in 0.6 ** np.arange(15):
            weights = np.exp(power * (column - column.max()))
            weights /= weights.sum()
            if 1 / np.sum(weights**2) > _covering(d):
                break
        centred = t - weights @ t
        factor = _cholesky(_NARROWER**2 * centred.T @ (centred * weights[:, None]))
        levels = (np.arange(count) + 0.5) / count
        chosen = np.searchsorted(np.cumsum(weights), levels)
        centres.append(t[np.minimum(chosen, len(t) - 1)])
        factors.append(np.tile(factor, (count, 1, 1)))
    wide = max(1, targets * count // 4)
    centres.append(np.zeros((wide, d)))
    factors.append(np.tile(1.2 * np.eye(d), (wide, 1, 1)))
    return np.concatenate(centres), np.concatenate(factors)


def _covering(dimension: int) -> int:
    """Effective number of points from which a covariance can be told."""
    return 4 * dimension + 4


def _draw(mixture: _Mixture, count: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Points in equal shares of the components, and the log density of the mixture."""
    from scipy.special import gammaln, logsumexp

    centres, factors = mixture
    d, which = centres.shape[1], np.arange(count) % len(centres)
    tails = student_factors(_DEGREES, (count, 1), rng)
    z = rng.standard_normal((count, d)) * tails
    points = centres[which] + np.einsum("nij,nj->ni", factors[which], z)
    z = (points - centres[:, None]) @ np.linalg.inv(factors).transpose(0, 2, 1)
    kernel = -0.5 * (_DEGREES + d) * np.log1p(np.sum(z**2, axis=2) / _DEGREES)
    volume = np.linalg.slogdet(factors)[1]
    constant = gammaln((_DEGREES + d) / 2) - gammaln(_DEGREES / 2)
    constant -= 0.5 * d * np.log(_DEGREES * np.pi) + np.log(len(centres))
    return points, logsumexp(kernel - volume[:, None], axis=0) + constant


def stratified(weights: FloatArray, total: int, rng: np.random.Generator) -> Any:
    """How often each index is drawn, with one uniform: the least variance."""
    edges = np.cumsum(weights)
    edges = np.floor(edges / edges[-1] * total + rng.random()).astype(int)
    edges[-1] = total
    return np.diff(np.minimum(edges, total), prepend=0)


def invert_rows(
    cdf: FloatArray, level: FloatArray, y: FloatArray, row: IntArray | None = None
) -> FloatArray:
    """Where rows of cumulated masses on an equally spaced grid reach levels; linear in a cell.

    Parameters
    ----------
    cdf : ndarray, shape (R, G)
        Cumulated masses of the cells around ``y``, not necessarily up to 1; a row without any
        mass is uniform.
    level : ndarray, shape (R, k), or any with ``row``
        Probabilities, of the sum of the row's masses. Levels that increase along a row are found
        several times as fast.
    y : ndarray, shape (G,)
    row : ndarray of int, broadcasts with ``level``, optional
        Row of each level; default its own.

    Returns
    -------
    ndarray, of the shape of ``level`` and ``row``

    Examples
    --------
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
    """Chebyshev nodes for many points: ``sum_j w_j f(x_j)`` is kept for every smooth f.

    Parameters
    ----------
    points, weights : ndarray, shape (N,)
        Points increase; the last one is a node.
    size : int
        Number of nodes; no fewer points are left as they are.

    Examples
    --------
    >>> nodes, weights = condensed(np.linspace(0, 1, 1000), np.ones(1000), 9)
    >>> nodes.size, round(float(weights @ nodes**5), 6)
    (9, 167.000417)
    """
    if size >= points.size:
        return points, weights
    low, high = points[0], points[-1]
    x = -np.cos(np.arange(size) * np.pi / (size - 1))
    nodes = low + (x + 1) / 2 * (high - low)
    nodes[-1] = high
    barycentric = (-1.0) ** np.arange(size)
    barycentric[[0, -1]] /= 2
    apart = 2 * (points[:, None] - low) / (high - low) - 1 - x
    near = np.abs(apart) < _SAME
    cardinal = barycentric / np.where(near, 1.0, apart)
    cardinal /= cardinal.sum(axis=1, keepdims=True)
    cardinal[near.any(axis=1)] = near[near.any(axis=1)]
    return nodes, weights @ cardinal


def surely_drawn(values: FloatArray, counts: NDArray[Any], n_drawn: int) -> float:
    """Largest value that is reached by ``n_drawn`` draws with replacement, but for exp(-45).

    ``values`` increase, and ``counts`` are their numbers of copies.

    Examples
    --------
    >>> surely_drawn(np.arange(100.0), np.ones(100), 100)
    55.0
    """
    at_least = np.cumsum(counts[::-1])[::-1]
    sure = np.flatnonzero(at_least * n_drawn >= CERTAIN * at_least[0])
    return float(values[sure[-1] if sure.size else 0])


def share_mcse(p: Any, draws: float) -> Any:
    r"""Monte Carlo standard error of a share of independent draws.

    .. math:: \sqrt{\tilde p (1 - \tilde p) / S}, \quad \tilde p = (S p + 2) / (S + 4)

    which does not vanish where all draws agree (Agresti and Coull 1998).

    Examples
    --------
    >>> round(share_mcse(0.5, 400), 3), round(share_mcse(0.0, 400), 4)
    (0.025, 0.0035)
    """
    middle = (p * draws + 2) / (draws + 4)
    return (middle * (1 - middle) / draws) ** 0.5


def cluster_mcse(values: NDArray[Any], cluster: NDArray[Any], stratum: NDArray[Any]) -> FloatArray:
    r"""Monte Carlo standard errors of means over draws, of which those of a cluster share a point.

    .. math:: \mathrm{mcse}^2 = \frac{1}{D^2} \sum_s
              \Big[\sum_{d \in s} (x_d - \bar x_{r(d)})\Big]^2

    over the weighted points s, each of which stands behind several draws: the error of a mean over
    clusters (Cochran, Sampling Techniques, 1977, Sec. 3.12), so that other points count too.
    Deviations are from the mean of the stratum r, which has a fixed part of the draws.

    Parameters
    ----------
    values : ndarray, shape (D, ...)
    cluster : ndarray of int, shape (D,)
        Number of the point behind each draw.
    stratum : ndarray of int, shape (D,)

    Examples
    --------
    >>> values, one = np.array([1.0, 1.0, 0.0, 0.0]), np.zeros(4)
    >>> float(cluster_mcse(values, np.arange(4), one))
    0.25
    >>> float(cluster_mcse(values, np.array([0, 0, 1, 1]), one))  # half the square root of a half
    0.3535533905932738
    """
    names, place = np.unique(stratum, return_inverse=True)
    means = np.stack([values[stratum == name].mean(axis=0) for name in names])
    order = np.argsort(cluster, kind="stable")
    first = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    sums = np.add.reduceat((values - means[place])[order], first, axis=0)
    return np.sqrt(np.sum(sums**2, axis=0)) / len(values)


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread inside, as many as before afterwards; a decorator too.

    For loops over small systems, not for single large factorisations.

    Examples
    --------
    >>> @one_thread()
    ... def solve_many():
    ...     pass
    >>> solve_many()
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def student_factors(freedom: float, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    r"""Factors of normal numbers that make Student's t of them, :math:`\sqrt{\nu / \chi^2_\nu}`.

    Examples
    --------
    >>> factors = student_factors(2.0, (100_000,), np.random.default_rng(0))
    >>> round(float(np.mean(factors**-2)), 2)
    1.0
    """
    factors: FloatArray = np.sqrt(freedom / rng.chisquare(freedom, shape))
    return factors
