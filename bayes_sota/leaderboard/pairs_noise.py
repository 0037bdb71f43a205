r"""The noise of two boards, laid out at a few nodes around what the differences say.

``y - x`` knows nothing of psi: it tells delta, the share of wide residuals, and the size of the
errors where they are not given. The ratio of both errors keeps its prior here, and is learnt from
the scores at the nodes. ``tests/leaderboard/test_pairs.py`` compares with closed forms.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import expit, logsumexp, ndtr

from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.leaderboard.pairs import Noise, Pairs, normal_density

OUTLIERS = (-4.0, 1.5)  # mean and sd of the log odds of a wide residual, a priori
_RATIO_SD = 0.6  # of the logarithm of private over public standard deviation, a priori
_MOST_LUCK = 0.98
_LEAST_OFFSET = 0.01  # of a standard error, where rho is nearly 0
_ODDS = np.linspace(-2.5, 2.5, 11)  # of a wide residual, in sd of its log odds from their mean
_SHARES = expit(OUTLIERS[0] + OUTLIERS[1] * _ODDS)
_LOG_SHARES = (-0.5 * _ODDS**2 - logsumexp(-0.5 * _ODDS**2))[:, None]  # prior, (E, 1)
_RHO = (np.arange(41) + 0.5) / 41  # levels of the prior of rho that the differences do not tell
_SOUGHT = {
    "rho": np.linspace(-3.5, 3.5, 57),
    "size": np.linspace(-1.2, 0.8, 41),
    "luck": np.linspace(-2.5, 2.5, 11),
    "ratio": np.zeros(1),
}
_LEAST_SPACING = 0.03


def unknowns(pairs: Pairs, priors: PairedPriors) -> tuple[str, ...]:
    """Unknown parts of the noise: rho, or size and ratio of both errors; and lambda."""
    names: tuple[str, ...] = ("rho",) * (not priors.correlation.is_fixed)
    if pairs.errors is None:
        names = ("size", "ratio")
    return (*names, "luck") if pairs.has_luck and not priors.submission_luck.is_fixed else names


def noise_at(pairs: Pairs, priors: PairedPriors, z: FloatArray) -> Noise:
    """Noise at standard normal coordinates (N, d) of ``unknowns``, without shift and outliers."""
    known, zero = dict(zip(unknowns(pairs, priors), z.T, strict=True)), np.zeros(len(z))
    luck = priors.submission_luck.quantile(ndtr(known.get("luck", zero)))
    luck = np.clip(luck, 0.0, _MOST_LUCK) * pairs.has_luck
    if pairs.errors is None:
        total, ratio = pairs.base_sd * np.exp(known["size"]), np.exp(_RATIO_SD * known["ratio"])
        public, private = total / np.hypot(1, ratio), total * ratio / np.hypot(1, ratio)
        rho = np.full(len(z), np.nan)
    else:
        rho = np.clip(priors.correlation.quantile(ndtr(known.get("rho", zero))), 1e-4, 1 - 1e-6)
        public, private = (s * np.sqrt(1 - rho**2) for s in pairs.errors)
    return Noise(public, private, rho, luck, zero, zero)


def shift_components(
    pairs: Pairs, priors: PairedPriors, noise: Noise
) -> tuple[FloatArray, FloatArray]:
    """Rho and the sd of delta by each of its equally likely sources, (N, K) both.

    Sources are the sizes of the offset and, where rho is not learnt, quantiles of its prior.
    """
    rho = noise.rho[:, None]
    if pairs.errors is None:
        rho = np.tile(priors.correlation.quantile(_RHO), (len(rho), 1))
    offsets = np.maximum(np.tile(priors.offsets, rho.shape[1]), _LEAST_OFFSET)
    rho = np.repeat(rho, len(priors.offsets), axis=1)
    error = noise.difference_sd[:, None] / np.sqrt(1 - rho**2)
    return rho, error * np.hypot(rho, offsets)


def log_shift_prior(sd: FloatArray, shift: FloatArray) -> FloatArray:
    """Log prior weight times density of delta by each source, of sds (N, K), (N, K)."""
    return -0.5 * (shift[:, None] / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi) * sd.shape[1])


def shift_posterior(
    pairs: Pairs, priors: PairedPriors, noise: Noise, nodes: int = 49
) -> tuple[FloatArray, FloatArray]:
    """Values of delta (S,), and the log joint density of the differences with them, (E, S).

    At one node, for each share of wide residuals and per unit of delta.
    """
    d = pairs.differences(noise)
    wide = noise.difference_sd / np.sqrt(d.size)
    grid = np.median(d) + np.linspace(-6, 6, nodes) * wide
    prior = log_shift_prior(shift_components(pairs, priors, noise.at(None))[1], grid)
    log_p = _log_differences(pairs, noise, d - grid[:, None], _SHARES)
    return grid, log_p + logsumexp(prior, axis=1) + _LOG_SHARES


def _log_differences(
    pairs: Pairs, noise: Noise, away: FloatArray, shares: FloatArray
) -> FloatArray:
    """Log density of differences that lie ``away`` (S, k) from delta, (E, S)."""
    counted = pairs.kind[: pairs.n_counted]
    weight, first, second = pairs.parts(replace(noise, outliers=shares), counted)
    density = np.tensordot(weight.T, normal_density(away, (first + second)[:, None]), 1)
    return np.log(density).sum(axis=2)


@dataclass(frozen=True, eq=False)
class NoiseNodes:
    """Where the noise is tabulated: a lattice around what the differences say.

    Attributes
    ----------
    z : ndarray, shape (R, d)
        Standard normal coordinates of ``unknowns``.
    spacing : ndarray, shape (d,)
    noise : Noise
        With the means of delta and of the share of wide residuals.
    grid, p : ndarray, shape (R, S) and (R, E, S)
        Values of delta, and the joint posterior of the share of wide residuals and delta.
    log_prior : ndarray, shape (R,)
        Prior mass of each node's cell, and what the differences say beyond the scores at ``noise``.
    """

    z: FloatArray
    spacing: FloatArray
    noise: Noise
    grid: FloatArray
    p: FloatArray
    log_prior: FloatArray

    @classmethod
    def of(
        cls, pairs: Pairs, priors: PairedPriors, middle: FloatArray, lines: list[FloatArray]
    ) -> "NoiseNodes":
        """At all combinations of lines around a middle (d,), equally spaced or of one value."""
        z = middle + _lattice(lines)
        spacing = np.array([line[1] - line[0] if line.size > 1 else 1.0 for line in lines])
        noise = noise_at(pairs, priors, z)
        told = [shift_posterior(pairs, priors, noise.at(r)) for r in range(len(z))]
        grid, log_joint = (np.stack(values) for values in zip(*told, strict=True))
        log_evidence = logsumexp(log_joint, axis=(1, 2))
        p = np.exp(log_joint - log_evidence[:, None, None])
        delta = np.einsum("res,rs->r", p, grid)
        noise = replace(noise, outliers=np.einsum("res,e->r", p, _SHARES))
        log_prior = log_evidence + np.log(grid[:, 1] - grid[:, 0]) + np.log(len(z))
        log_prior += np.sum(np.log(spacing) - 0.5 * (z**2 + np.log(2 * np.pi)), axis=1)
        for r in range(len(z)):
            away = pairs.differences(noise.at(r)) - delta[r]
            share = noise.outliers[[r]]
            log_prior[r] -= _log_differences(pairs, noise.at(r), away[None], share)[0, 0]
        return cls(z, spacing, replace(noise, shift=delta), grid, p, log_prior)

    def draw(
        self, pairs: Pairs, priors: PairedPriors, node: IntArray, rng: np.random.Generator
    ) -> tuple[Noise, FloatArray]:
        """Noise within the cells of nodes, and its coordinates, (D, d)."""
        z = self.z[node] + self.spacing * (rng.random((node.size, self.spacing.size)) - 0.5)
        cdf = np.cumsum(self.p.reshape(len(self.p), -1), axis=1)[node]
        cell = np.sum(cdf < rng.random((node.size, 1)) * cdf[:, -1:], axis=1)
        share, at = np.divmod(cell, self.grid.shape[1])
        step = self.grid[node, 1] - self.grid[node, 0]
        shift = self.grid[node, at] + step * (rng.random(node.size) - 0.5)
        return replace(noise_at(pairs, priors, z), shift=shift, outliers=_SHARES[share]), z


def _lattice(lines: list[FloatArray]) -> FloatArray:
    """All combinations, (R, d); one of nothing."""
    every = list(product(*lines))
    return np.array(every).reshape(len(every), len(lines))


def find_noise(pairs: Pairs, priors: PairedPriors) -> tuple[FloatArray, FloatArray]:
    """Means and sds of the unknowns from the differences, which say nothing of the ratio, (d,)."""
    names = unknowns(pairs, priors)
    z = _lattice([_SOUGHT[name] for name in names])
    noise, log_p = noise_at(pairs, priors, z), -0.5 * np.sum(z**2, axis=1)
    for r in range(len(z)):
        grid, log_joint = shift_posterior(pairs, priors, noise.at(r), 17)
        log_p[r] += logsumexp(log_joint) + np.log(grid[1] - grid[0])
    p = np.exp(log_p - logsumexp(log_p))
    mean = p @ z
    sd = np.maximum(np.sqrt(p @ (z - mean) ** 2), _LEAST_SPACING)
    return mean, np.where(np.array(names) == "ratio", 1.0, sd)
