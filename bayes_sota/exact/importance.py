"""Adaptive importance sampling of a few standardised parameters, several targets at a time.

The targets are posteriors of the same parameters at several values of rho. They lie close to each
other, so one mixture of Student t proposals serves all of them, and their evidences and draws come
from the same points (``tests/exact/test_importance.py``). The components start at the modes and
then follow the points themselves, so that posteriors of any shape are covered.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayes_sota.skill_distributions import FloatArray

__all__ = ["WeightedPoints", "sample_importance"]

_DEGREES = 5.0
_START, _ROUNDS, _ROUND_POINTS = 300, 3, 350
_COMPONENTS, _NARROWER = 42, 0.7
_NEWTON_STEPS, _STEP = 30, 2e-3
_LARGEST = 6.0  # standard normal coordinates beyond this have no prior mass to speak of


LogDensities = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
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
        return np.asarray(top + np.log(np.mean(np.exp(self.log_weights - top), axis=0)))

    @property
    def weights(self) -> FloatArray:
        """Normalised weights, shape (N, R)."""
        weights = np.exp(self.log_weights - self.log_weights.max(axis=0))
        return np.asarray(weights / weights.sum(axis=0))

    @property
    def effective_size(self) -> FloatArray:
        """Effective number of points of each target, shape (R,)."""
        return np.asarray(1 / np.sum(self.weights**2, axis=0))


def sample_importance(
    log_target: Callable[[FloatArray], FloatArray],
    dimension: int,
    rng: np.random.Generator,
    points: int = 700,
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

    Returns
    -------
    WeightedPoints
    """

    def log_posterior(t: FloatArray) -> FloatArray:
        prior = -0.5 * np.sum(t**2 + np.log(2 * np.pi), axis=1)
        return np.asarray(log_target(t) + prior[:, None])

    t = np.clip(1.3 * rng.standard_normal((_START, dimension)), -_LARGEST, _LARGEST)
    proposal = _Proposal.at_modes(log_posterior, t)
    for _ in range(_ROUNDS):
        t, log_proposal = proposal.draw(_ROUND_POINTS, rng)
        proposal = _Proposal.fitted(t, log_posterior(t) - log_proposal[:, None])
    t, log_proposal = proposal.draw(points, rng)
    return WeightedPoints(t, log_posterior(t) - log_proposal[:, None])


@dataclass(frozen=True)
class _Proposal:
    """Equal mixture of Student t distributions, one per target, and the prior."""

    centres: FloatArray
    factors: FloatArray

    @classmethod
    def at_modes(cls, log_posterior: LogDensities, start: FloatArray) -> "_Proposal":
        """At the modes; each search starts from the best point known, its neighbour's mode."""
        values = log_posterior(start)
        modes: list[FloatArray] = []
        factors = []
        for r in range(values.shape[1]):
            known = np.array([start[np.argmax(values[:, r])], *modes[-1:]])
            mode, factor = _find_mode(lambda t, r=r: log_posterior(t)[:, r], known)  # type: ignore[misc]
            modes.append(mode)
            factors.append(factor)
        return cls(np.array(modes), np.array(factors))

    @classmethod
    def fitted(cls, t: FloatArray, log_weights: FloatArray) -> "_Proposal":
        """Around points of each target, tempered until enough of them carry it."""
        each = max(1, _COMPONENTS // log_weights.shape[1])
        fits = [part for column in log_weights.T for part in _local_fits(t, column, each)]
        wide = (np.zeros(t.shape[1]), 1.2 * np.eye(t.shape[1]))  # the prior bounds the weights
        fits += [wide] * max(1, len(fits) // 4)
        return cls(np.array([c for c, _ in fits]), np.array([f for _, f in fits]))

    def draw(self, count: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Points in equal shares, and the log density of the mixture."""
        targets, d = self.centres.shape
        which = np.arange(count) % targets
        chi = rng.chisquare(_DEGREES, count) / _DEGREES
        z = rng.standard_normal((count, d)) / np.sqrt(chi)[:, None]
        points = self.centres[which] + np.einsum("nij,nj->ni", self.factors[which], z)
        return points, self.log_density(points)

    def log_density(self, points: FloatArray) -> FloatArray:
        """Log density of the mixture, shape (N,)."""
        d = points.shape[1]
        inverse = np.linalg.inv(self.factors)
        z = np.einsum("rij,nrj->nri", inverse, points[:, None] - self.centres)
        kernel = -0.5 * (_DEGREES + d) * np.log1p(np.sum(z**2, axis=2) / _DEGREES)
        volume = np.log(np.abs(np.diagonal(self.factors, axis1=1, axis2=2))).sum(axis=1)
        return _mixture(kernel - volume) + _student_constant(d)


def _mixture(log_values: FloatArray) -> FloatArray:
    """Logarithm of the equal mixture of the targets, shape (N,)."""
    top = log_values.max(axis=1)
    return np.asarray(top + np.log(np.mean(np.exp(log_values - top[:, None]), axis=1)))


def _find_mode(
    log_density: Callable[[FloatArray], FloatArray], start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mode from the best of some points, and the Cholesky factor of the covariance there.

    Newton steps with differences in one batch per step, damped like Levenberg and Marquardt.
    """
    values = log_density(start)
    best, value = start[np.argmax(values)], float(values.max())
    damping, factor = 1.0, np.eye(best.size)
    for _ in range(_NEWTON_STEPS):
        gradient, hessian = _differences(log_density, best, value)
        eigenvalues, vectors = np.linalg.eigh(-hessian)
        rotated = vectors.T @ gradient
        trial_damping = damping * np.array([0.0, 0.1, 1.0, 10.0, 100.0])[:, None]
        curvature = np.maximum(np.abs(eigenvalues), 1.0)
        steps = (rotated / (curvature * (1 + trial_damping))) @ vectors.T
        trials = np.clip(best + steps, -_LARGEST, _LARGEST)
        found = log_density(trials)
        pick = int(np.argmax(found))
        gain = float(found[pick]) - value
        factor = vectors / np.sqrt(curvature)
        if gain > 0:
            best, value = trials[pick], float(found[pick])
        damping = max(1e-3, damping * (0.3 if pick < 2 else 2.0)) if gain > 0 else damping * 30
        if 0 <= gain < 1e-3 or damping > 1e9:
            break
    return best, _cholesky(factor @ factor.T)


def _differences(
    log_density: Callable[[FloatArray], FloatArray], centre: FloatArray, value: float
) -> tuple[FloatArray, FloatArray]:
    """Gradient and Hessian by central differences, in one batch."""
    d = centre.size
    first, second = np.triu_indices(d, 1)
    unit = np.eye(d) * _STEP
    pairs = unit[first] + unit[second]
    values = log_density(centre + np.concatenate([unit, -unit, pairs, -pairs]))
    plus, minus = values[:d], values[d : 2 * d]
    both = values[2 * d : 2 * d + first.size] + values[2 * d + first.size :]
    diagonal = (plus + minus - 2 * value) / _STEP**2
    hessian = np.diag(diagonal)
    cross = (both - 2 * value) / _STEP**2 - diagonal[first] - diagonal[second]
    hessian[first, second] = hessian[second, first] = cross / 2
    return (plus - minus) / (2 * _STEP), hessian


def _cholesky(covariance: FloatArray) -> FloatArray:
    return np.linalg.cholesky(covariance + 1e-10 * np.eye(len(covariance)))


def _local_fits(
    t: FloatArray, log_weights: FloatArray, count: int
) -> list[tuple[FloatArray, FloatArray]]:
    """Components around points drawn by weight, so that no shape is imposed on the target."""
    relative = log_weights - log_weights.max()
    power = 1.0
    for _ in range(15):
        weights = np.exp(power * relative)
        weights /= weights.sum()
        if 1 / np.sum(weights**2) > 4 * t.shape[1] + 4:
            break
        power *= 0.6
    centre = weights @ t
    covariance = (t - centre).T @ ((t - centre) * weights[:, None])
    factor = _cholesky(_NARROWER**2 * covariance)
    levels = (np.arange(count) + 0.5) / count
    chosen = np.minimum(np.searchsorted(np.cumsum(weights), levels), len(t) - 1)
    return [(t[i], factor) for i in chosen]


def _student_constant(d: int) -> float:
    from scipy.special import gammaln

    constant = gammaln((_DEGREES + d) / 2) - gammaln(_DEGREES / 2)
    return float(constant - 0.5 * d * np.log(_DEGREES * np.pi))
