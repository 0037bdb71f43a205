"""Best AUC of classifiers that share a reference score per item (the paper's Sec. 5.3.1).

Given the reference scores classifiers are independent; the scores act through what they make of the
mean estimate. At each of its values the reference scores of the rarer class stand at the quantiles
of their exponential tilt, and every classifier's law is convolved anew. ``tests/exact/test_auc.py``
compares with simulated scores.
"""

from dataclasses import dataclass

import numpy as np

from bayes_sota.exact.auc_moments import auc_covariance, auc_std
from bayes_sota.exact.auc_nodes import condensed
from bayes_sota.exact.auc_placements import (
    CELLS,
    NEARLY_ONE,
    add_noise,
    conditional_variance,
    mean_placement,
    placement_scale,
    tilts_to_span,
)
from bayes_sota.skill_distributions import FloatArray

__all__ = ["correlated_maximum"]

_LEVELS, _OFFSETS, _ROWS = 3000, 600, 21
_MEANS = 400  # of the mean estimate that reference scores make
_REPRESENTATIVES = 200  # reference scores that stand for more
_Z = np.linspace(-8.0, 8.0, 1601)


def correlated_maximum(
    skills: FloatArray, counts: FloatArray, a: int, b: int, ratio: float, rho: float
) -> tuple[FloatArray, FloatArray]:
    """Levels and distribution function of the best of classifiers that share reference scores."""
    few, many = min(a, b), max(a, b)
    sd = float(auc_std(skills[-1], a, b, ratio))
    skills, counts = condensed(skills, counts, sd)
    fields = [_Given(*placement_scale(float(s), a, b, ratio), few, many, rho) for s in skills]
    best = fields[-1]
    means, probability = best.mean_law(
        float(auc_covariance(skills[-1], skills[-1], a, b, rho**2, spread_ratio=ratio))
    )
    tilts, centres = best.tilts(means, probability)
    offsets = np.linspace(-10 * sd, 10 * sd, _OFFSETS)
    rows = np.zeros((tilts.size, offsets.size))
    for row, tilt, centre in zip(rows, tilts, centres, strict=True):
        z = best.reference_scores(tilt)
        for given, count in zip(fields, counts, strict=True):
            row += count * given.log_cdf(z, centre + offsets)
    levels = np.linspace(max(0.0, means[0] - 12 * sd), 1.0, _LEVELS)
    below = np.zeros(levels.size)
    for mean, weight in zip(means, probability, strict=True):
        k = int(np.clip(np.searchsorted(centres, mean) - 1, 0, centres.size - 2))
        share = np.clip((mean - centres[k]) / (centres[k + 1] - centres[k]), 0, 1)
        log_cdf = (1 - share) * rows[k] + share * rows[k + 1]
        below += weight * np.exp(np.interp(levels - mean, offsets, log_cdf, left=-800.0, right=0.0))
    return levels, below


@dataclass(frozen=True, eq=False)
class _Given:
    """One classifier given the reference scores of the rarer class."""

    centre: float
    spread: float
    few: int
    many: int
    rho: float

    @property
    def own(self) -> float:
        """What of a score's spread the reference does not explain."""
        return float(np.sqrt(1 - self.rho**2))

    def placement(self, z: FloatArray) -> FloatArray:
        """Expected placement of an item of the rarer class with this reference score."""
        from scipy.special import ndtr

        total = np.sqrt(1 + self.spread**2 * self.own**2)
        return np.asarray(ndtr((self.centre + self.rho * self.spread * z) / total))

    def mean_law(self, variance: float) -> tuple[FloatArray, FloatArray]:
        """Law of the mean estimate given all reference scores, which has this variance."""
        from scipy.special import ndtr

        edges = np.linspace(0.0, 1.0, CELLS + 1)
        mass = np.diff(ndtr(np.interp(edges, self.placement(_Z), _Z, left=-38.0, right=38.0)))
        lattice = np.append(mass, 0.0) / 2 + np.append(0.0, mass) / 2
        values, probability = mean_placement(edges, lattice, self.few)
        mean = float(values @ probability)
        rest = max(variance - float((values - mean) ** 2 @ probability), 1e-12)
        reach = 9 * np.sqrt(variance)
        levels = np.linspace(max(0.0, mean - reach), min(1.0, mean + reach), _MEANS + 1)
        noise = np.full(values.size, np.sqrt(rest))
        below, _ = add_noise(levels, values, probability, noise)
        return (levels[1:] + levels[:-1]) / 2, np.diff(below)

    def tilts(self, means: FloatArray, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Tilts of the reference scores, and the mean estimates that they make."""
        known = means[probability > 1e-9]
        log_mass = -0.5 * _Z**2
        tilts = tilts_to_span(
            self.placement(_Z), log_mass, float(known[0]), float(known[-1]), _ROWS
        )
        centres = np.array([self.placement(self.reference_scores(t)).mean() for t in tilts])
        return tilts, centres

    def reference_scores(self, tilt: float) -> FloatArray:
        """Reference scores of the rarer class at the quantiles of their tilted law."""
        logs = -0.5 * _Z**2 + tilt * self.placement(_Z)
        cdf = np.cumsum(np.exp(logs - logs.max()))
        size = min(self.few, _REPRESENTATIVES)
        return np.interp((np.arange(size) + 0.5) / size, cdf / cdf[-1], _Z)

    def log_cdf(self, z: FloatArray, levels: FloatArray) -> FloatArray:
        """Log distribution function of the estimate given reference scores."""
        from scipy.special import ndtr, ndtri

        edges = np.linspace(0.0, 1.0, CELLS // 2 + 1)
        score = (ndtri(edges) - self.centre - self.rho * self.spread * z[:, None]) / (
            self.spread * self.own
        )
        mass = np.diff(ndtr(score), axis=1)
        lattice = np.pad(mass, ((0, 0), (0, 1))) / 2 + np.pad(mass, ((0, 0), (1, 0))) / 2
        means, probability = mean_placement(edges, lattice, self.few)
        variance = conditional_variance(edges, lattice.mean(axis=0), self.few, means, probability)
        typical = float(np.interp(means @ probability, means, variance))
        explained = self._explained(z)
        noise = np.sqrt(variance * max(1 - explained / typical, 0.01) / self.many)
        _, above = add_noise(levels, means, probability, noise, points=150)
        return np.asarray(np.log1p(-np.minimum(above, NEARLY_ONE)))

    def _explained(self, z: FloatArray) -> float:
        """Variance over the larger class of what its reference scores say of its placement."""
        from scipy.special import ndtr

        node, weight = np.polynomial.hermite_e.hermegauss(61)
        total = self.own * np.sqrt(1 + self.spread**2)
        shift = self.centre + self.rho * self.spread * z - self.rho * node[:, None]
        share = ndtr(shift / total).mean(axis=1)
        weight = weight / weight.sum()
        return float(weight @ share**2 - (weight @ share) ** 2)
