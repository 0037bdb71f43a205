r"""Evidence of two boards of the same teams, which share neither items nor their shift.

In a coordinate where all errors of a board are equal (arcsine of the square root for accuracies,
else the score itself) team j has

.. math:: x_j = \psi_j - \delta + e_{1j}, \quad y_j = \psi_j + e_{2j}, \quad
          \operatorname{var} e_{ij} = v_i = s_i^2 (1 - \rho^2), \quad
          \theta_j = \psi_j - \rho s_2 z_2

with psi the skill on the items of the *private* board and delta the difference of both shifts and
of the populations. A residual is usual, or five times as wide, or says nothing (a failed run).
Where a public score is the best of several submissions its usual residual has the law of
``maximum.submissions``, and the skill may rise with the expected luck ``e_T``, since teams that
submit often are often good.

The difference ``y - x`` knows nothing of psi: it tells delta, the share of wide residuals, and the
size of the errors where they are not given. So the noise is laid out at a few nodes, around what
the differences say, and each node has a table of the probability of every team's scores at a grid
of psi, as on one board. Teams count whose *mean* of both scores reaches a cut, which hardly depends
on the difference. ``tests/leaderboard/test_pairs.py`` has the second routes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr, logsumexp, ndtr, ndtri

from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.observed import FEWEST_TEAMS, PairedBoards
from bayes_sota.leaderboard.evidence import submission_kinds
from bayes_sota.maximum.submissions import SubmissionNoise

WIDE = 5.0  # standard deviations of a wide residual
FLAT = 0.002  # probability of a score that says nothing
OUTLIERS = (-4.0, 1.5)  # mean and sd of the log odds of a wide residual, a priori
_RATIO_SD = 0.4  # of the logarithm of private over public standard deviation, a priori
_TOP, _FEWEST_PLACES, _MOST_PLACES = 0.5, 30, 1_500
_MOST_LUCK = 0.98
_LEAST_OFFSET = 0.01  # of a standard error, where rho is nearly 0
_SHARES = expit(OUTLIERS[0] + OUTLIERS[1] * np.array([-1.5, -0.5, 0.5, 1.5]))
_RHO = (np.arange(41) + 0.5) / 41  # levels of the prior of rho that the differences do not tell
_WIDTHS = np.array([[1.0, 1.0], [WIDE, 1.0], [1.0, WIDE], [WIDE, WIDE]])  # public, private
_SOUGHT = {
    "rho": np.linspace(-3.5, 3.5, 57),
    "size": np.linspace(-1.2, 0.8, 41),
    "luck": np.linspace(-2.5, 2.5, 11),
    "ratio": np.zeros(1),
}
_LEAST_SPACING = 0.03
_NEAR = 0.25  # share of the pairs that say how dense they are at the cut


@dataclass(frozen=True, eq=False)
class Noise:
    """Parameters of the errors: one value per node or draw, shape (N,).

    Attributes
    ----------
    public_sd, private_sd : ndarray
        Standard deviations ``s sqrt(1 - rho^2)`` of usual residuals.
    rho : ndarray
        NaN at nodes where it is not learnt.
    luck, slope : ndarray
        lambda, and what a skill has more per unit of ``e_T``.
    shift, outliers : ndarray
        delta, and the probability of a wide residual.
    """

    public_sd: FloatArray
    private_sd: FloatArray
    rho: FloatArray
    luck: FloatArray
    slope: FloatArray
    shift: FloatArray
    outliers: FloatArray

    def __getitem__(self, index: Any) -> "Noise":
        """That of some nodes or draws."""
        return Noise(*(getattr(self, field.name)[index] for field in fields(self)))

    @property
    def difference_sd(self) -> FloatArray:
        """Standard deviation of a usual difference."""
        return np.hypot(self.public_sd, self.private_sd)

    @property
    def chances(self) -> FloatArray:
        """Probabilities of a usual and of a wide residual, (2, ...)."""
        return (1 - FLAT) * np.stack([1 - self.outliers, self.outliers])


@dataclass(frozen=True)
class Coordinate:
    """Where the error of a score has one size: arcsine for accuracies, else the score itself.

    Examples
    --------
    >>> Coordinate((100, 400)).standard_errors(None)
    (0.05, 0.025)
    """

    n_test: tuple[int, int] | None

    def of_scores(self, scores: FloatArray, board: int) -> FloatArray:
        """Coordinate of observed scores; a quarter of a count keeps 0 and 1 finite."""
        if self.n_test is None:
            return np.asarray(scores, dtype=np.float64)
        n = self.n_test[board]
        return self.of_skill((np.asarray(scores) * n + 0.25) / (n + 0.5))

    def of_skill(self, skill: FloatArray) -> FloatArray:
        """Coordinate of true skills."""
        return skill if self.n_test is None else np.arcsin(np.sqrt(skill))

    def to_score(self, u: FloatArray) -> FloatArray:
        """Score of a coordinate."""
        return u if self.n_test is None else np.sin(np.clip(u, 0, np.pi / 2)) ** 2

    def printed(self, u: FloatArray) -> FloatArray:
        """Scores that have the coordinates ``u``, (..., 2 boards): accuracies are whole counts."""
        if self.n_test is None:
            return u
        n = np.array(self.n_test)
        return np.clip(np.round(self.to_score(u) * (n + 0.5) - 0.25), 0, n) / n

    def standard_errors(self, errors: tuple[float, float] | None) -> tuple[float, float] | None:
        """Standard errors in this coordinate; None where they are unknown."""
        if self.n_test is None:
            return errors
        return 0.5 / float(np.sqrt(self.n_test[0])), 0.5 / float(np.sqrt(self.n_test[1]))


@dataclass(frozen=True, eq=False)
class Pairs:
    """The teams near the top of either board, in the coordinate of their scores.

    Attributes
    ----------
    boards : PairedBoards
    kept : ndarray of int, shape (n,)
        Teams among the best of either board, or of both together.
    group : ndarray of int, shape (n,)
        Which distinct pair of scores each has: copies of one submission count once.
    x, y : ndarray, shape (k,)
        Public and private scores of the distinct pairs; the first ``n_counted`` reach the cut.
    middle : float
        Median difference ``y - x`` of all teams.
    cut : float, or None
        Mean of both scores (the public one moved by ``middle``) from which on teams count.
    n_counted, n_below : int
        Distinct pairs that reach the cut; teams below it, whose skill alone is asked for.
    numbers : ndarray, shape (L, t)
        Equally likely numbers of submissions of each kind of team; ``kind`` (k,) is that of a pair.
    """

    boards: PairedBoards
    kept: IntArray
    group: IntArray
    x: FloatArray
    y: FloatArray
    middle: float
    cut: float | None
    n_counted: int
    n_below: int
    numbers: FloatArray
    kind: IntArray

    @classmethod
    def of(cls, boards: PairedBoards, top: float | None = None) -> "Pairs":
        """Teams among the best ``top`` of either board, never fewer than 30 places.

        By default one half, at most 1,500 places. Teams with the same two scores count once, but
        not for accuracies: few counts make equal ones by chance.
        """
        coordinate, m = Coordinate(boards.n_test), boards.n_entries
        x, y = coordinate.of_scores(boards.public, 0), coordinate.of_scores(boards.private, 1)
        top = min(_TOP, _MOST_PLACES / m) if top is None else top
        if not 0 < top <= 1:
            raise InputError(f"top is a share of the teams in (0, 1], got {top:g}")
        places, cut = max(int(np.ceil(top * m)), min(m, _FEWEST_PLACES)), None
        middle = float(np.median(y - x))
        level, kept = (x + middle + y) / 2, np.arange(m)
        if places < m:
            lowest = (np.sort(values)[-places] for values in (x, y, level))
            reached = [v >= low for v, low in zip((x, y, level), lowest, strict=True)]
            cut, kept = float(level[reached[2]].min()), np.flatnonzero(np.any(reached, axis=0))
        pairs, group = np.stack([x[kept], y[kept]], axis=1), np.arange(kept.size)
        if boards.n_test is None:
            pairs, group = np.unique(pairs, axis=0, return_inverse=True)
        if len(pairs) < FEWEST_TEAMS:
            raise InputError(
                f"only {len(pairs)} different pairs of scores are left of {m} teams, at least "
                f"{FEWEST_TEAMS} are needed; keep more teams (top)"
            )
        below = np.zeros(m, bool) if cut is None else level < cut
        under = below[kept][np.unique(group, return_index=True)[1]]
        order = np.argsort(under, kind="stable")
        pairs, group = pairs[order], np.argsort(order)[group.ravel()]
        numbers, kind = np.ones((1, 1)), np.zeros(len(pairs), np.int64)
        if boards.has_submissions:
            each = boards.submissions[kept]
            medians = [np.median(each[group == i], axis=0) for i in range(len(pairs))]
            numbers, kind = submission_kinds(np.array(medians), 1.25)
        return cls(
            boards, kept, group, pairs[:, 0], pairs[:, 1], middle, cut, int(np.sum(~under)),
            int(np.sum(below)), numbers, kind,
        )  # fmt: skip

    @property
    def coordinate(self) -> Coordinate:
        """Of the scores."""
        return Coordinate(self.boards.n_test)

    @property
    def errors(self) -> tuple[float, float] | None:
        """Standard errors of a score on each board, where they are known."""
        return self.coordinate.standard_errors(self.boards.standard_errors)

    @property
    def scores(self) -> FloatArray:
        """Both scores of the kept teams, (n, 2)."""
        return np.stack([self.boards.public, self.boards.private], axis=1)[self.kept]

    @property
    def has_luck(self) -> bool:
        """Whether public scores were chosen among submissions."""
        return bool(self.numbers.max() > 1)

    @cached_property
    def level(self) -> FloatArray:
        """Mean of both scores, (k,)."""
        return (self.x + self.middle + self.y) / 2

    @cached_property
    def ranges(self) -> tuple[float, float]:
        """Widths of what a score that says nothing may be."""
        least = 6 * self.base_sd
        return max(float(np.ptp(self.x)), least), max(float(np.ptp(self.y)), least)

    @cached_property
    def maxima(self) -> tuple[FloatArray, FloatArray]:
        """Mean ``e_T`` and variance of the largest of T standard normals of each kind, (L,)."""
        z = np.linspace(-10, 10, 4001)
        cdf = np.exp(self.numbers[:, :, None] * log_ndtr(z)).mean(axis=1)
        mass, at = np.diff(cdf, axis=1), (z[1:] + z[:-1]) / 2
        mean = np.where(np.all(self.numbers == 1, axis=1), 0.0, mass @ at)
        return mean, mass @ at**2 - mean**2

    @cached_property
    def typical_luck(self) -> float:
        """Mean ``e_T`` of the teams."""
        return float(self.maxima[0][self.kind].mean())

    @cached_property
    def base_sd(self) -> float:
        """Rough standard deviation of a usual difference."""
        d = (self.y - self.x)[: self.n_counted]
        robust = 1.4826 * float(np.median(np.abs(d - np.median(d))))
        spread = float(d.std()) or float(self.x.std())
        return float(np.clip(robust, 0.05 * spread, spread))

    @cached_property
    def hazard(self) -> float:
        """Density of the means of both scores at the cut, over the share above it."""
        if self.cut is None:
            return 0.0
        near = float(np.quantile(self.level[: self.n_counted], _NEAR)) - self.cut
        return _NEAR / max(near, 1e-12)

    def differences(self, noise: Noise) -> tuple[FloatArray, FloatArray]:
        """Differences at one node without mean luck, and by how much luck narrows the public part.

        Of pairs that count. Errors of unequal size make the difference correlate with the mean of
        both scores, by ``(v_2 - v_1) / 2``; above a cut it is larger by this times the hazard, for
        normal errors whatever the skills.
        """
        mean, variance = (v[self.kind[: self.n_counted]] for v in self.maxima)
        narrower = noise.luck**2 * (1 - variance)
        selected = (noise.private_sd**2 - noise.public_sd**2 * (1 - narrower)) / 2 * self.hazard
        d = (self.y - self.x)[: self.n_counted] + noise.luck * noise.public_sd * mean
        return d - selected, narrower


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
        log_joint = log_p + logsumexp(prior, axis=1) - np.log(_SHARES.size)
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
    variance = _WIDTHS[:, :1] ** 2 * public + _WIDTHS[:, 1:] ** 2 * private  # (4, 1 or k)
    normal = np.exp(-0.5 * away**2 / variance[:, None]) / np.sqrt(2 * np.pi * variance[:, None])
    wide = np.stack([1 - shares, shares])
    weights = np.stack([wide[0] ** 2, wide[0] * wide[1], wide[0] * wide[1], wide[1] ** 2], axis=1)
    flat = FLAT * (1 / pairs.ranges[0] + 1 / pairs.ranges[1])
    return np.log((1 - FLAT) ** 2 * np.tensordot(weights, normal, 1) + flat).sum(axis=2)


@dataclass(frozen=True, eq=False)
class Nodes:
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
    def of(cls, pairs: Pairs, priors: PairedPriors) -> "Nodes":
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
    luck = (pairs.maxima[0][pairs.kind] - pairs.typical_luck)[: pairs.n_counted]
    level = pairs.level[: pairs.n_counted]
    cut = -np.inf if pairs.cut is None else pairs.cut
    unit, place = max(float(level.std()), 1e-12), float(level.mean())

    def minus_log_likelihood(t: FloatArray) -> float:
        middle, width = t[0] + t[1] * luck, np.exp(t[2])
        z = ((level - place) / unit - middle) / width
        reach = log_ndtr((middle - (cut - place) / unit) / width)
        return float(np.sum(0.5 * z**2 + np.log(width) + reach) + 0.5 * np.sum(t**2) / 4)

    return float(minimize(minus_log_likelihood, np.zeros(3)).x[1]) * unit


def densities(pairs: Pairs, noise: Noise, u: FloatArray) -> FloatArray:
    """Density of the scores of pairs that count at skills u (G,), at one node, (k, G)."""
    count, kind = pairs.n_counted, pairs.kind[: pairs.n_counted]
    mean = pairs.maxima[0][kind]
    more = noise.slope * (mean - pairs.typical_luck)
    often, rare = noise.chances
    first = ((pairs.x[:count] + noise.shift - more)[:, None] - u) / noise.public_sd
    second = ((pairs.y[:count] - more)[:, None] - u) / noise.private_sd
    usual = often * _normal(first)
    if pairs.has_luck:
        law = SubmissionNoise(pairs.numbers, float(noise.luck))
        usual *= np.exp(law.log_ratio(first, kind))
    lucky = noise.luck * mean[:, None]
    x = (usual + rare / WIDE * _normal(first / WIDE - lucky)) / noise.public_sd
    y = (often * _normal(second) + rare / WIDE * _normal(second / WIDE)) / noise.private_sd
    flat = FLAT / pairs.ranges[0], FLAT / pairs.ranges[1]
    return x * y + flat[0] * y + flat[1] * x + flat[0] * flat[1]


def _normal(z: FloatArray) -> FloatArray:
    return np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)


def reach_at(pairs: Pairs, noise: Noise, u: FloatArray) -> FloatArray:
    """Probability that the mean of both scores reaches the cut, at one node, (L, G)."""
    assert pairs.cut is not None
    mean, variance = (v[:, None] for v in pairs.maxima)
    lucky = noise.luck * noise.public_sd * mean / 2
    above = u + noise.slope * (mean - pairs.typical_luck) + (pairs.middle - noise.shift) / 2
    above = above + lucky - pairs.cut
    narrow = 1 - noise.luck**2 * (1 - variance)
    often, rare = noise.chances / (1 - FLAT)
    reach = np.zeros(above.shape)
    for (a, b), chance in zip(
        _WIDTHS, (often**2, rare * often, often * rare, rare**2), strict=True
    ):
        own = np.sqrt((a * noise.public_sd) ** 2 * narrow + (b * noise.private_sd) ** 2) / 2
        reach += chance * ndtr(above / own)
    return (1 - 2 * FLAT) * reach + 2 * FLAT * ndtr(above / pairs.ranges[1])


def draw_alone(
    pairs: Pairs, noise: Noise, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Psi of each pair by its own scores alone, (D, k), and the chance that they differ unusually.

    Skills are flat; unusual is that not both residuals are usual ones.
    """
    mean, variance = (v[pairs.kind] for v in pairs.maxima)
    own = Noise(*(getattr(noise, field.name)[:, None] for field in fields(noise)))
    narrow = 1 - own.luck**2 * (1 - variance)
    x, y = pairs.x + own.shift - own.luck * own.public_sd * mean, pairs.y
    often, rare = own.chances
    chances = (often**2, rare * often, often * rare, rare**2)
    parts = [(FLAT / pairs.ranges[0] * often, y, own.private_sd**2)]
    parts.append((FLAT / pairs.ranges[1] * often, x, own.public_sd**2 * narrow))
    for (a, b), share in zip(_WIDTHS, chances, strict=True):
        v1, v2 = (a * own.public_sd) ** 2 * narrow, (b * own.private_sd) ** 2
        weight = share * _normal((y - x) / np.sqrt(v1 + v2)) / np.sqrt(v1 + v2)
        parts.append((weight, (v2 * x + v1 * y) / (v1 + v2), v1 * v2 / (v1 + v2)))
    weight, centre, square = (np.stack([part[i] + 0 * x for part in parts]) for i in range(3))
    total = np.cumsum(weight, axis=0)
    kind = np.sum(total < rng.random(x.shape) * total[-1], axis=0)[None]
    centre, square = (np.take_along_axis(v, kind, axis=0)[0] for v in (centre, square))
    return centre + np.sqrt(square) * rng.standard_normal(x.shape), 1 - weight[2] / total[-1]


def draw_scores(
    pairs: Pairs, noise: Noise, psi: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Both scores of pairs of skill psi (D, k), which already holds the slope, (D, k, 2).

    Of pairs that count they are drawn until their mean reaches the cut.
    """
    scores, left = np.empty((*psi.shape, 2)), np.ones(psi.shape, bool)
    for _ in range(60):
        rows, teams = np.nonzero(left)
        some, u = noise[rows], rng.random((4, rows.size))
        numbers = pairs.numbers[pairs.kind[teams], rng.integers(pairs.numbers.shape[1])]
        best = _quantile(u[0] ** (1 / numbers))
        own = some.luck * best + np.sqrt(1 - some.luck**2) * rng.standard_normal(rows.size)
        errors = np.stack([own * some.public_sd, _quantile(u[1]) * some.private_sd])
        errors *= np.where(rng.random(errors.shape) < some.outliers, WIDE, 1.0)
        drawn = psi[rows, teams] + errors - np.stack([some.shift, 0 * some.shift])
        lowest = np.array([pairs.x.min(), pairs.y.min()])[:, None]
        anything = lowest + np.array(pairs.ranges)[:, None] * u[2:]
        drawn = np.where(rng.random(drawn.shape) < FLAT, anything, drawn)
        scores[rows, teams] = drawn.T
        if pairs.cut is None:
            break
        left[rows, teams] = (drawn.sum(axis=0) + pairs.middle) / 2 < pairs.cut
        left[:, pairs.n_counted :] = False
        if not left.any():
            break
    return scores


def _quantile(p: FloatArray) -> FloatArray:
    return ndtri(np.clip(p, 1e-16, 1 - 1e-16))
