"""Importance sampling from several similar posteriors of a few standardised parameters.

One mixture of Student t proposals serves the posteriors at all values of rho. Its components start
at the modes, then follow the points, and so cover any shape (``tests/core/test_importance.py``).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, softmax

from bayes_sota.core.numerics import student_factors
from bayes_sota.core.types import FloatArray

_DEGREES = 5.0
_START, _KNOWN, _ROUNDS, _ROUND_POINTS = 300, 10, 3, 175  # of a round, for each parameter
_COMPONENTS, _NARROWER = 42, 0.7
_SEARCHES, _APART, _NEWTON_STEPS, _SMALL_GAIN, _STEP = 4, 1.0, 15, 0.05, 2e-3
_NEGLIGIBLE = 12.0  # a mode this much lower, in logarithms, carries nothing
_LARGEST = 6.0  # standard normal coordinates beyond this have no prior mass to speak of
LogDensities = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Standardised points (N, d), with log weights (N, R): target over proposal, per target."""

    points: FloatArray
    log_weights: FloatArray

    @property
    def log_evidence(self) -> FloatArray:
        return logsumexp(self.log_weights, axis=0) - np.log(len(self.points))

    @property
    def weights(self) -> FloatArray:
        return softmax(self.log_weights, axis=0)

    @property
    def effective_size(self) -> FloatArray:
        """Effective number of points of each target, (R,)."""
        return 1 / np.sum(self.weights**2, axis=0)

    def heaviest(self, count: int) -> FloatArray:
        """Points with the largest weight in any target, (count, d)."""
        return self.points[np.argsort(-self.weights.max(axis=1))[:count]]


def sample_importance(
    log_target: Callable[[FloatArray], FloatArray],
    dimension: int,
    rng: np.random.Generator,
    points: int = 700,
    start: WeightedPoints | None = None,
    sought: LogDensities | None = None,
) -> WeightedPoints:
    """Weighted points of the posteriors of standardised parameters.

    ``log_target`` maps points (N, d) to log likelihoods (N, R); the standard normal prior is added
    here. The search for modes starts at ``start``, points of similar targets; without enough
    effective ones, at random points too. It uses ``sought``, a few targets among which the others
    lie.
    """

    def log_posterior(t: FloatArray, target: LogDensities = sought or log_target) -> FloatArray:
        prior = -0.5 * np.sum(t**2 + np.log(2 * np.pi), axis=1)
        return target(t) + prior[:, None]

    known = np.empty((0, dimension)) if start is None else start.heaviest(_KNOWN)
    if start is None or start.effective_size.min() <= _covering(dimension):
        anywhere = np.clip(1.3 * rng.standard_normal((_START, dimension)), -_LARGEST, _LARGEST)
        known = np.concatenate([anywhere, known])
    proposal = _at_modes(log_posterior, known)
    for _ in range(_ROUNDS):
        t, log_proposal = _draw(proposal, min(points, _ROUND_POINTS * dimension), rng)
        proposal = _components(t, log_posterior(t) - log_proposal[:, None])
    t, log_proposal = _draw(proposal, points, rng)
    return WeightedPoints(t, log_posterior(t, log_target) - log_proposal[:, None])


type _Mixture = tuple[FloatArray, FloatArray]  # centres and factors of Student t distributions


def _at_modes(log_posterior: LogDensities, start: FloatArray) -> _Mixture:
    """Components at modes of the middle target, and of the outer targets."""
    values = log_posterior(start)
    last = values.shape[1] - 1
    middle = last // 2
    known = _apart(start, values[:, middle], _SEARCHES)
    modes, factors, heights = _find_modes(log_posterior, known, np.full(len(known), middle))
    kept = heights > heights.max() - _NEGLIGIBLE
    if last == 0:
        return modes[kept], factors[kept]
    best = modes[[np.argmax(heights)] * 2]
    outer, outer_factors, _ = _find_modes(log_posterior, best, np.array([0, last]))
    return np.concatenate([modes[kept], outer]), np.concatenate([factors[kept], outer_factors])


def _apart(points: FloatArray, values: FloatArray, most: int) -> FloatArray:
    left = points[np.argsort(-values)]
    chosen: list[FloatArray] = []
    while len(left) and len(chosen) < most:
        chosen.append(left[0])
        left = left[np.sum((left - left[0]) ** 2, axis=1) > _APART**2]
    return np.array(chosen)


def _find_modes(
    log_posterior: LogDensities, starts: FloatArray, targets: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Modes (K, d), covariance factors and log densities, by damped Newton steps in one batch."""
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
    searches, count, dimension = points.shape
    values = log_posterior(points.reshape(-1, dimension)).reshape(searches, count, -1)
    return values[np.arange(searches), :, targets]


def _differences(
    log_posterior: LogDensities, centre: FloatArray, value: FloatArray, targets: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
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
    """Components around points resampled for each target, and the prior, which bounds weights."""
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
    return 4 * dimension + 4


def _draw(mixture: _Mixture, count: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Points in equal shares of the components, and the log density of the mixture."""
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
