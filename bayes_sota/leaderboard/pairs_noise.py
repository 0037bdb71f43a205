r"""The noise of two boards, laid out at a few nodes around what the differences say.

``y - x`` knows nothing of psi: it tells delta, the share of wide residuals, and the size of the
errors where they are not given. The ratio of both errors keeps its prior here, and is learnt from
the scores at the nodes. ``tests/leaderboard/test_pairs.py`` compares with closed forms.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr, logsumexp, ndtr

from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.leaderboard.pairs import FLAT, WIDTHS, Noise, Pairs

OUTLIERS = (-4.0, 1.5)  # mean and sd of the log odds of a wide residual, a priori
_RATIO_SD = 0.4  # of the logarithm of private over public standard deviation, a priori
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
    """What of the noise is not known: rho, or size and ratio of both errors; and lambda."""
    names: tuple[str, ...] = ("size", "ratio") if pairs.errors is None else ("rho",)
    if priors.correlation.is_fixed and pairs.errors is not None:
        names = ()
    return (*names, "luck") if pairs.has_luck and not priors.submission_luck.is_fixed else names


def noise_at(pairs: Pairs, priors: PairedPriors, z: FloatArray) -> Noise:
    """Noise at standard normal coordinates (N, d) of ``unknowns``; no slope, shift or outliers."""
    known, zero = dict(zip(unknowns(pairs, priors), z.T, strict=True)), np.zeros(len(z))
    luck = zero
    if pairs.has_luck:
        luck = priors.submission_luck.quantile(ndtr(known.get("luck", zero)))
        luck = np.clip(luck, 0.0, _MOST_LUCK)
    if pairs.errors is None:
        total, ratio = pairs.base_sd * np.exp(known["size"]), np.exp(_RATIO_SD * known["ratio"])
        public, private = total / np.hypot(1, ratio), total * ratio / np.hypot(1, ratio)
        rho = np.full(len(z), np.nan)
    else:
        rho = priors.correlation.quantile(ndtr(known.get("rho", zero)))
        rho = np.clip(rho, 1e-4, 1 - 1e-6)
        public, private = (s * np.sqrt(1 - rho**2) for s in pairs.errors)
    return Noise(public, private, rho, luck, zero, zero, zero)


def shift_components(
    pairs: Pairs, priors: PairedPriors, noise: Noise
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What the shift may come from: rho, its sd, and the error of a difference, (N, K) each.

    Equally likely sizes of the offset, and where rho is not learnt quantiles of its prior.
    """
    offsets, rho = np.array(priors.offsets), noise.rho[:, None] * np.ones(len(priors.offsets))
    if pairs.errors is None:
        levels = priors.correlation.quantile(_RHO)
        rho = np.tile(np.repeat(levels, offsets.size), (noise.rho.size, 1))
        offsets = np.tile(offsets, levels.size)
    error = noise.difference_sd[:, None] / np.sqrt(1 - rho**2)
    offsets = np.where(rho < _LEAST_OFFSET, np.maximum(offsets, _LEAST_OFFSET), offsets)
    return rho, error * np.sqrt(rho**2 + offsets**2), error


def log_shift_prior(pairs: Pairs, priors: PairedPriors, noise: Noise) -> FloatArray:
    """Log weight times density of each component at shifts ``noise.shift``, (N, K)."""
    _, sd, _ = shift_components(pairs, priors, noise)
    z = noise.shift[:, None] / sd
    return -0.5 * z**2 - np.log(sd * np.sqrt(2 * np.pi) * sd.shape[1])


@dataclass(frozen=True, eq=False)
class Shift:
    """What the differences say at one node of delta and of the share of wide residuals.

    Attributes
    ----------
    grid : ndarray, shape (S,)
    p : ndarray, shape (E, S)
        Joint posterior; the shares are ``_SHARES``.
    log_evidence : float
        Log density of the differences; ``log_at_mean`` is that at the posterior means.
    """

    grid: FloatArray
    p: FloatArray
    log_evidence: float
    log_at_mean: float

    @classmethod
    def at(cls, pairs: Pairs, priors: PairedPriors, noise: Noise, nodes: int = 49) -> "Shift":
        """At the node that ``noise`` is of, of size 1."""
        d, narrower = pairs.differences(noise)
        spread = float(noise.difference_sd[0])
        grid = np.median(d) + np.linspace(-6, 6, nodes) * spread / np.sqrt(d.size)
        prior = log_shift_prior(
            pairs, priors, replace(noise[np.zeros(nodes, np.int64)], shift=grid)
        )
        log_p = _log_differences(pairs, noise, d - grid[:, None], narrower, _SHARES)
        log_joint = log_p + logsumexp(prior, axis=1) + _LOG_SHARES
        total = float(logsumexp(log_joint))
        p = np.exp(log_joint - total)
        share, mean = p.sum(axis=1) @ _SHARES, p.sum(axis=0) @ grid
        middle = _log_differences(pairs, noise, (d - mean)[None], narrower, np.array([share]))
        return cls(grid, p, total + float(np.log(grid[1] - grid[0])), float(middle[0, 0]))

    @property
    def mean(self) -> tuple[float, float]:
        """Posterior means of delta and of the share of wide residuals."""
        return float(self.p.sum(axis=0) @ self.grid), float(self.p.sum(axis=1) @ _SHARES)

    def draw(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draws of delta and of the share of wide residuals, (size,) each."""
        cell = rng.choice(self.p.size, size, p=self.p.ravel() / self.p.sum())
        share, at = np.divmod(cell, self.grid.size)
        step = self.grid[1] - self.grid[0]
        return self.grid[at] + step * (rng.random(size) - 0.5), _SHARES[share]


def _log_differences(
    pairs: Pairs, noise: Noise, away: FloatArray, narrower: FloatArray, shares: FloatArray
) -> FloatArray:
    """Log density of differences that lie ``away`` (S, k) from delta, (E, S)."""
    public, private = noise.public_sd**2 * (1 - narrower), noise.private_sd**2
    variance = WIDTHS[:, :1] ** 2 * public + WIDTHS[:, 1:] ** 2 * private  # (4, 1 or k)
    normal = np.exp(-0.5 * away**2 / variance[:, None]) / np.sqrt(2 * np.pi * variance[:, None])
    wide = np.stack([1 - shares, shares])
    weights = np.stack([wide[0] ** 2, wide[0] * wide[1], wide[0] * wide[1], wide[1] ** 2], axis=1)
    flat = FLAT * (1 / pairs.ranges[0] + 1 / pairs.ranges[1])
    return np.log((1 - FLAT) ** 2 * np.tensordot(weights, normal, 1) + flat).sum(axis=2)


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
    shifts : tuple of Shift
    log_prior : ndarray, shape (R,)
        Prior mass of each node's cell, and what the differences say beyond the scores at ``noise``.
    """

    z: FloatArray
    spacing: FloatArray
    noise: Noise
    shifts: tuple[Shift, ...]
    log_prior: FloatArray

    @classmethod
    def of(cls, pairs: Pairs, priors: PairedPriors) -> "NoiseNodes":
        """Five values of each unknown, three beside lambda."""
        names = unknowns(pairs, priors)
        each, middle = (3 if "luck" in names else 5), dict(_found(pairs, priors, names))
        lines = []
        for name in names:
            mean, sd = middle[name]
            count = 5 if name == "luck" else each
            ends = 2.0 if count == 5 else 1.2
            lines.append(mean + sd * np.linspace(-ends, ends, count))
        z = _lattice(lines)
        spacing = np.array([line[1] - line[0] for line in lines])
        noise = noise_at(pairs, priors, z)
        shifts = tuple(Shift.at(pairs, priors, noise[[r]]) for r in range(len(z)))
        delta, shares = np.array([shift.mean for shift in shifts]).T
        told = np.array([shift.log_evidence - shift.log_at_mean for shift in shifts])
        slope = np.zeros(len(z))
        if pairs.has_luck:
            slope = _slope(pairs) - noise.luck * noise.public_sd / 2
        noise = replace(noise, slope=slope, shift=delta, outliers=shares)
        cells = np.sum(np.log(spacing) - 0.5 * (z**2 + np.log(2 * np.pi)), axis=1)
        return cls(z, spacing, noise, shifts, cells + told + np.log(len(z)))

    def draw(
        self, pairs: Pairs, priors: PairedPriors, node: IntArray, rng: np.random.Generator
    ) -> tuple[Noise, FloatArray]:
        """Noise within the cells of nodes, and its coordinates, (D, d)."""
        z = self.z[node] + self.spacing * (rng.random((node.size, self.spacing.size)) - 0.5)
        noise, shift, outliers = noise_at(pairs, priors, z), *np.empty((2, node.size))
        for r in np.unique(node):
            here = np.flatnonzero(node == r)
            shift[here], outliers[here] = self.shifts[r].draw(here.size, rng)
        slope = self.noise.slope[node]
        return replace(noise, slope=slope, shift=shift, outliers=outliers), z


def _lattice(lines: list[FloatArray]) -> FloatArray:
    """All combinations, (R, d); one of nothing."""
    every = list(product(*lines))
    return np.array(every).reshape(len(every), len(lines))


def _found(
    pairs: Pairs, priors: PairedPriors, names: tuple[str, ...]
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Mean and sd of each unknown from the differences; they say nothing of the ratio."""
    z = _lattice([_SOUGHT[name] for name in names])
    noise = noise_at(pairs, priors, z)
    told = [Shift.at(pairs, priors, noise[[i]], 17).log_evidence for i in range(len(z))]
    log_p = np.array(told) - 0.5 * np.sum(z**2, axis=1)
    p = np.exp(log_p - log_p.max())
    for i, name in enumerate(names):
        mean = float(p @ z[:, i] / p.sum())
        sd = float(np.sqrt(p @ (z[:, i] - mean) ** 2 / p.sum()))
        yield name, (0.0, 1.0) if name == "ratio" else (mean, max(sd, _LEAST_SPACING))


def _slope(pairs: Pairs) -> float:
    """By how much the mean of both scores rises with ``e_T``: of normals above the cut."""
    luck = pairs.maxima[2][pairs.kind][: pairs.n_counted]
    level = pairs.level[: pairs.n_counted]
    cut = -np.inf if pairs.cut is None else pairs.cut
    unit, place = max(float(level.std()), 1e-12), float(level.mean())

    def minus_log_likelihood(t: FloatArray) -> float:
        middle, width = t[0] + t[1] * luck, np.exp(t[2])
        z = ((level - place) / unit - middle) / width
        reach = log_ndtr((middle - (cut - place) / unit) / width)
        return float(np.sum(0.5 * z**2 + np.log(width) + reach) + 0.5 * np.sum(t**2) / 4)

    return float(minimize(minus_log_likelihood, np.zeros(3)).x[1]) * unit
