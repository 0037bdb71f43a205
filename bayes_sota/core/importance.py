r"""Importance sampling of a few standardised parameters, several targets at a time.

The targets are posteriors of the same parameters at several values of rho. They lie close to each
other, so one mixture of Student t proposals serves all of them. Its components start at the modes
and then follow the points themselves, so that posteriors of any shape are covered
(``tests/core/test_importance.py``).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayes_sota.core.numerics import student_factors
from bayes_sota.core.types import FloatArray

_DEGREES = 5.0
_START, _KNOWN, _ROUNDS, _ROUND_POINTS = 300, 10, 3, 175  # of a round, for each parameter
_COMPONENTS, _NARROWER = 42, 0.7
_SEARCHES, _APART, _ITERATIONS, _SMALL_GAIN, _STEP = 2, 1.0, 30, 1e-3, 2e-3
_NEGLIGIBLE = 12.0  # a mode this much lower, in logarithms, carries nothing
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
        return np.logaddexp.reduce(self.log_weights) - np.log(len(self.points))

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
    proposal = _at_modes(log_posterior, known)
    for _ in range(_ROUNDS):
        t, log_proposal = _draw(proposal, min(points, _ROUND_POINTS * dimension), rng)
        proposal = _components(t, log_posterior(t) - log_proposal[:, None])
    t, log_proposal = _draw(proposal, points, rng)
    return WeightedPoints(t, log_posterior(t) - log_proposal[:, None])


type _Mixture = tuple[FloatArray, FloatArray]  # centres and factors of Student t distributions


def _at_modes(log_posterior: LogDensities, start: FloatArray) -> _Mixture:
    """At the modes of the middle target, sought from several good points far apart."""
    values = log_posterior(start)
    middle = values.shape[1] // 2
    known = _apart(start, values[:, middle], _SEARCHES)
    found = [_find_mode(log_posterior, point, middle) for point in known]
    modes, factors, heights = map(np.array, zip(*found, strict=True))
    kept = heights > heights.max() - _NEGLIGIBLE
    return modes[kept], factors[kept]


def _apart(points: FloatArray, values: FloatArray, most: int) -> FloatArray:
    """The best points of which no two are near each other, best first, shape (K, d)."""
    left = points[np.argsort(-values)]
    chosen: list[FloatArray] = []
    while len(left) and len(chosen) < most:
        chosen.append(left[0])
        left = left[np.sum((left - left[0]) ** 2, axis=1) > _APART**2]
    return np.array(chosen)


def _find_mode(
    log_posterior: LogDensities, start: FloatArray, target: int
) -> tuple[FloatArray, FloatArray, float]:
    """Mode of one target near a point, the factor of its covariance, and the log density."""
    from scipy.optimize import minimize

    unit = _STEP * np.eye(start.size)
    around = np.concatenate([np.zeros((1, start.size)), unit, -unit])

    def loss(t: FloatArray) -> tuple[float, FloatArray]:
        value, *differences = log_posterior(t + around)[:, target]
        plus, minus = np.reshape(differences, (2, -1))
        return -value, (minus - plus) / (2 * _STEP)

    limits = [(-_LARGEST, _LARGEST)] * start.size
    options = {"maxiter": _ITERATIONS, "ftol": _SMALL_GAIN}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=limits, options=options)
    slopes = [loss(found.x + step)[1] - loss(found.x - step)[1] for step in unit]
    eigenvalues, vectors = np.linalg.eigh(np.array(slopes) / (2 * _STEP))
    factor = vectors / np.sqrt(np.maximum(np.abs(eigenvalues), 1.0))
    return found.x, factor, -float(found.fun)


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
        covariance = _NARROWER**2 * centred.T @ (centred * weights[:, None])
        factor = np.linalg.cholesky(covariance + 1e-10 * np.eye(d))
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
