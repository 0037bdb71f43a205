"""Posterior of the parameters of P and of the noise, by importance sampling over the families.

``tests/paired/test_posterior.py`` checks what is learnt on simulated boards.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayes_sota.core.numerics import WeightedPoints, one_thread, sample_importance
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.leaderboard.shapes import FAMILIES, SkillFamily
from bayes_sota.paired.likelihood import PairedLikelihood

_FIRST_POINTS = 300
_LEAST_SHARE = 0.01  # families with less posterior probability are not sampled again
_DEGREES = 8.0


@dataclass(frozen=True)
class Hyperposterior:
    """Points of the families' and the noise's parameters with their posterior weights.

    Attributes
    ----------
    likelihood : PairedLikelihood
    points : dict of family -> WeightedPoints
    weights : dict of family -> float
        Posterior probability of each family.
    log_evidence : float
    """

    likelihood: PairedLikelihood
    points: dict[str, WeightedPoints]
    weights: dict[str, float]
    log_evidence: float

    @property
    def effective_size(self) -> float:
        """Effective number of points, over the families in proportion to their weights."""
        parts = [w**2 / self.points[f].effective_size[0] for f, w in self.weights.items()]
        return float(1 / sum(parts))

    def draw(self, count: int, rng: np.random.Generator) -> list[tuple[str, FloatArray, IntArray]]:
        """Family, its points, and which draws have them; points sorted for reuse."""
        names = list(self.weights)
        share = np.array([self.weights[name] for name in names])
        chosen = rng.choice(len(names), size=count, p=share / share.sum())
        drawn = []
        for index, name in enumerate(names):
            where = np.flatnonzero(chosen == index)
            if where.size:
                points = self.points[name]
                rows = rng.choice(len(points.points), where.size, p=points.weights[:, 0])
                drawn.append((name, points.points[rows], where))
        return drawn


@one_thread()
def fit_pairs(
    likelihood: PairedLikelihood,
    rng: np.random.Generator,
    points: int = 2500,
    families: tuple[str, ...] = tuple(FAMILIES),
) -> Hyperposterior:
    """Posterior of the hyperparameters; each family has the same prior weight.

    A first sample finds the evidence of each family; ``points`` more are shared among those that
    matter, from a proposal fitted to the first.
    """
    targets = {name: _target(likelihood, FAMILIES[name]) for name in families}
    noise = len(likelihood.noise_parameters)
    found = {
        name: sample_importance(target, FAMILIES[name].dimension + noise, rng, _FIRST_POINTS)
        for name, target in targets.items()
    }
    for name, share in _evidence_weights(found)[0].items():
        if share > _LEAST_SHARE:
            count = int(points * (0.3 / len(families) + 0.7 * share))
            found[name] = _sampled_again(targets[name], found[name], count, rng)
    shares, total = _evidence_weights(found)
    return Hyperposterior(likelihood, found, shares, total)


def _target(
    likelihood: PairedLikelihood, family: SkillFamily
) -> Callable[[FloatArray], FloatArray]:
    return partial(likelihood.log_likelihood, family)


def _evidence_weights(found: dict[str, WeightedPoints]) -> tuple[dict[str, float], float]:
    """Posterior probabilities of the families, and the logarithm of their mean evidence."""
    evidence = np.array([float(p.log_evidence[0]) for p in found.values()])
    top = evidence.max()
    weights = np.exp(evidence - top)
    shares = dict(zip(found, (weights / weights.sum()).tolist(), strict=True))
    return shares, float(np.log(weights.mean()) + top)


def _sampled_again(
    target: Callable[[FloatArray], FloatArray],
    first: WeightedPoints,
    count: int,
    rng: np.random.Generator,
) -> WeightedPoints:
    """Weighted points from a Student t with the moments of a first sample."""
    from scipy.special import gammaln

    weights, d = first.weights[:, 0], first.points.shape[1]
    centre = weights @ first.points
    away = first.points - centre
    # few effective points make a covariance that is too small in some direction
    inflation = 1.1 * (1 + d / first.effective_size[0])
    covariance = inflation * (away.T @ (away * weights[:, None])) + 1e-4 * np.eye(d)
    factor = np.linalg.cholesky(covariance * (_DEGREES - 2) / _DEGREES)
    chi = rng.chisquare(_DEGREES, count) / _DEGREES
    z = rng.standard_normal((count, d)) / np.sqrt(chi)[:, None]
    t = centre + z @ factor.T
    log_proposal = -0.5 * (_DEGREES + d) * np.log1p(np.sum(z**2, axis=1) / _DEGREES)
    log_proposal += gammaln((_DEGREES + d) / 2) - gammaln(_DEGREES / 2)
    log_proposal -= 0.5 * d * np.log(_DEGREES * np.pi) + np.log(np.diag(factor)).sum()
    log_prior = -0.5 * np.sum(t**2 + np.log(2 * np.pi), axis=1)
    return WeightedPoints(t, target(t) + (log_prior - log_proposal)[:, None])
