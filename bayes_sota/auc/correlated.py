"""Best AUC of classifiers that share a reference score per item (the paper's Sec. 5.3.1).

Given the reference scores classifiers are independent; the scores act through what they make of the
mean estimate. At each of its values the reference scores of the rarer class stand at the quantiles
of their exponential tilt, and every classifier's law is convolved anew. ``tests/auc/test_law.py``
compares with simulated scores.
"""

from dataclasses import dataclass

import numpy as np

from bayes_sota.auc.moments import auc_covariance, auc_std, bivariate_normal
from bayes_sota.auc.placements import (
    CELLS,
    NEARLY_ONE,
    add_noise,
    conditional_variance,
    mean_placement,
    placement_scale,
    placements,
    placements_of_kinds,
    tilts_to_span,
)
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.types import FloatArray

__all__ = ["bridge_to_limit", "correlated_maximum"]

_LEVELS, _OFFSETS, _ROWS = 3000, 600, 21
_MEANS = 400  # of the mean estimate that reference scores make
_REPRESENTATIVES = 200  # reference scores that stand for more
_LOW, _HIGH = 0.05, 0.999
_Z = np.linspace(-8.0, 8.0, 1601)


def bridge_to_limit(auc: float, a: int, b: int, ratio: float, rho: float) -> tuple[float, float]:
    """The nearest correlation that ``correlated_maximum`` resolves, and how much its law counts.

    Nearer to 0, or to 1, the lattice is too coarse for what is shared, or for what is not. There
    the law is a mixture with that of independent estimates, or of a single one, in which the
    expected maximum falls as it does at the limit: with the shared variance, or with the standard
    deviation of what is not shared.
    """
    edge = min(max(rho, _LOW), _HIGH)
    shared, most = (_shared(auc, a, b, ratio, r) for r in (rho, edge))
    if rho < edge:
        return edge, shared / most
    return edge, float(np.sqrt(max(1 - shared, 0.0) / (1 - most)))


def _shared(auc: float, a: int, b: int, ratio: float, rho: float) -> float:
    """Share of an estimate's variance that is the reference scores'."""
    of_both = auc_covariance(auc, auc, a, b, rho**2, spread_ratio=ratio)
    return float(of_both / auc_std(auc, a, b, ratio) ** 2)


def correlated_maximum(
    skills: FloatArray, counts: FloatArray, a: int, b: int, ratio: float, rho: float
) -> tuple[FloatArray, FloatArray]:
    """Levels and distribution function of the best of classifiers that share reference scores."""
    few, many = min(a, b), max(a, b)
    sd = float(auc_std(skills[-1], a, b, ratio))
    fields = [_Given(*placement_scale(float(s), a, b, ratio), few, many, rho) for s in skills]
    best = fields[-1]
    means, probability = best.mean_law(
        float(auc_covariance(skills[-1], skills[-1], a, b, rho**2, spread_ratio=ratio))
    )
    tilts, centres = best.tilts(means, probability)
    own = sd * np.sqrt(max(1 - _shared(float(skills[-1]), a, b, ratio, rho), 0.0))
    offsets = _offsets(centres, 10 * own + 2 / CELLS, 0.5 / (a * b))
    rows = np.zeros((tilts.size, offsets.size))
    for row, tilt, centre in zip(rows, tilts, centres, strict=True):
        z = best.reference_scores(tilt)
        for given, count in zip(fields, counts, strict=True):
            row += count * given.log_cdf(z, expit(logit(centre) + offsets))
    levels = np.linspace(max(0.0, means[0] - 12 * sd), 1.0, _LEVELS)
    places, middles = logit(np.clip(levels, 1e-300, NEARLY_ONE)), logit(means)
    below = np.zeros(levels.size)
    for mean, middle, weight in zip(means, middles, probability, strict=True):
        k = int(np.clip(np.searchsorted(centres, mean) - 1, 0, centres.size - 2))
        share = np.clip((mean - centres[k]) / (centres[k + 1] - centres[k]), 0, 1)
        log_cdf = (1 - share) * rows[k] + share * rows[k + 1]
        below += weight * np.exp(np.interp(places - middle, offsets, log_cdf, left=-800, right=0))
    below[-1] = 1.0
    return levels, below


def _offsets(centres: FloatArray, reach: float, lattice: float) -> FloatArray:
    """Log odds of an estimate less those of its mean: laws end at 1 wherever their mean is."""
    ends = np.clip(centres + reach * np.array([[-1.0], [1.0]]), lattice, 1 - lattice)
    low, high = logit(ends) - logit(centres)
    return np.linspace(low.min(), high.max(), _OFFSETS)


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

    @property
    def expected(self) -> tuple[float, float]:
        """Mean and spread of the normal score of an item's expected placement."""
        total = float(np.sqrt(1 + self.spread**2 * self.own**2))
        return self.centre / total, self.rho * self.spread / total

    def placement(self, z: FloatArray) -> FloatArray:
        """Expected placement of an item of the rarer class with this reference score."""
        from scipy.special import ndtr

        centre, spread = self.expected
        return np.asarray(ndtr(centre + spread * z))

    def mean_law(self, variance: float) -> tuple[FloatArray, FloatArray]:
        """Law of the mean estimate given all reference scores, which has this variance."""
        low, high = self.placement(_Z[[0, -1]])
        edges, lattice = placements(*self.expected, low, high)
        unit, probability = mean_placement(np.linspace(0.0, 1.0, edges.size), lattice, self.few)
        values = low + (high - low) * unit
        mean = float(values @ probability)
        rest = variance - float((values - mean) ** 2 @ probability)
        reach = 9 * np.sqrt(variance)
        levels = np.linspace(max(0.0, mean - reach), min(1.0, mean + reach), _MEANS + 1)
        noise = np.full(values.size, np.sqrt(max(rest, 1e-6 * variance)))
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
        centres = self.centre + self.rho * self.spread * z
        edges, lattice = placements_of_kinds(centres, self.spread * self.own)
        means, probability = mean_placement(edges, lattice, self.few)
        variance = conditional_variance(edges, lattice.mean(axis=0), self.few, means, probability)
        scale = self._unexplained(z) / float(probability @ variance)
        noise = np.sqrt(variance * scale / self.many)
        _, above = add_noise(levels, means, probability, noise, points=150)
        return np.asarray(np.log1p(-np.minimum(above, NEARLY_ONE)))

    def _unexplained(self, z: FloatArray) -> float:
        r"""Variance of G(w) given what the reference score of w says of it, on average.

        Two w of one reference score correlate by rho squared: :math:`E\,G(w)^2 - E\,G(w) G(w')`,
        pair by pair of items of the rarer class.
        """
        from scipy.special import ndtr

        variance = (self.spread * self.own) ** 2
        h = (self.centre + self.rho * self.spread * z) / np.sqrt(1 + variance)
        same, other = (
            bivariate_normal(h[:, None], h, r / (1 + variance)) for r in (1.0, self.rho**2)
        )
        itself = ndtr(h) - bivariate_normal(h, h, (variance + self.rho**2) / (1 + variance))
        excess = same - other
        twice = self.few / z.size  # items that a representative stands for
        pairs = twice**2 * excess.sum() + twice * float(np.sum(itself - np.diag(excess)))
        return max(float(pairs) / self.few**2, 1e-12)
