r"""Evidence of two boards of the same teams, which share neither items nor their shift.

In a coordinate where all errors of a board are equal (arcsine of the square root for accuracies,
else the score itself) team j has

.. math:: x_j = \psi_j - \delta + e_{1j}, \quad y_j = \psi_j + e_{2j}, \quad
          \operatorname{var} e_{ij} = v_i = s_i^2 (1 - \rho^2), \quad
          \theta_j = \psi_j - \rho s_2 z_2

with psi the skill on the items of the *private* board and delta the difference of both shifts and
of the populations. A residual is usual, or five times as wide, or says nothing (a failed run).
The best of several submissions has a usual residual by ``maximum.submissions``, and the skill may
rise with the expected luck ``e_T``, since teams that submit often are often good.

At a few nodes of the noise (``pairs_noise``) there are tables of every team's scores, as on one
board. Teams count whose *mean* of both scores reaches a cut, which hardly depends on the
difference. ``tests/leaderboard/test_pairs.py`` has the second routes.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.observed import FEWEST_TEAMS, PairedBoards
from bayes_sota.leaderboard.evidence import noise_of
from bayes_sota.leaderboard.from_scores import submission_kinds
from bayes_sota.maximum.score_laws import AccuracyLaw, NormalLaw, ScoreLaw

WIDE = 5.0  # standard deviations of a wide residual
FLAT = 0.002  # probability of a score that says nothing
_TOP, _FEWEST_PLACES, _MOST_PLACES = 0.5, 30, 1_500
WIDTHS = np.array([[1.0, 1.0], [WIDE, 1.0], [1.0, WIDE], [WIDE, WIDE]])  # public, private
_MOST_NODES = 800
_NEAR = 0.25  # share of the pairs that say how dense they are at the cut


@dataclass(frozen=True, eq=False)
class Noise:
    """Parameters of the errors: one value per node or draw, shape (N,).

    Attributes
    ----------
    public_sd, private_sd : ndarray
        Standard deviations ``s sqrt(1 - rho^2)`` of usual residuals.
    rho, luck, slope : ndarray
        NaN at nodes where it is not learnt; lambda; what a skill has more per unit of ``e_T``.
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

    @property
    def both(self) -> FloatArray:
        """Probabilities of the two widths that ``WIDTHS`` lists, (4, ...)."""
        often, rare = self.chances
        return np.stack([often**2, rare * often, often * rare, rare**2])


@dataclass(frozen=True)
class Coordinate:
    """Where the error of a score has one size: arcsine for accuracies, else the score itself."""

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
    public, private : ndarray, shape (k,)
        Public and private scores of the distinct pairs; the first ``n_counted`` reach the cut.
    middle : float
        Median difference ``y - x`` of all teams.
    cut : float, or None
        Mean of both scores (the public one moved by ``middle``) from which on teams count.
    n_counted, n_below : int
        Distinct pairs that reach the cut; teams below it, whose skill alone is asked for.
    numbers : ndarray, shape (L, t)
        Equally likely numbers of submissions of each kind of team; ``kind`` (k,) is that of a pair.
    law : ScoreLaw
        Of the mean of both scores, for the place of psi on the grid ``y`` (G,): log odds, or
        standardised scores; None before ``on_grid``.
    """

    boards: PairedBoards
    kept: IntArray
    group: IntArray
    public: FloatArray
    private: FloatArray
    middle: float
    cut: float | None
    n_counted: int
    n_below: int
    numbers: FloatArray
    kind: IntArray
    law: ScoreLaw = None  # type: ignore[assignment]
    y: FloatArray = None  # type: ignore[assignment]

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
            boards,
            kept,
            group,
            pairs[:, 0],
            pairs[:, 1],
            middle,
            cut,
            int(np.sum(~under)),
            int(np.sum(below)),
            numbers,
            kind,
        )

    def on_grid(self, noise: Noise) -> "Pairs":
        """With the law of the mean of both scores, and a grid of psi on its scale."""
        own = 1 / np.sqrt(1 / noise.public_sd**2 + 1 / noise.private_sd**2)
        typical, score = float(np.median(own)), self.coordinate.to_score
        level = score(self.level[: self.n_counted])
        highest = score((self.public + self.middle)[: self.n_counted])
        law: ScoreLaw
        if self.boards.n_test is None:
            law = NormalLaw(float(level.max()), 0, typical).fitted_to(level)
        else:
            law = AccuracyLaw(float(level.max()), max(2, round(0.25 / typical**2)))
        place, error = law.places(np.concatenate([level, np.maximum(level, highest)]) * law.unit)
        wide, step = error * own.max() / typical, float(error[np.argmax(place)]) / 4
        high = float(np.max(place + 5 * np.minimum(wide, 1.2)))
        low = float(np.min(place - 6 * np.minimum(wide, 1.0)))
        nodes = int(np.clip((high - low) / step, 80, _MOST_NODES))
        return replace(self, law=law, y=np.linspace(low, high, nodes))

    @property
    def step(self) -> float:
        """Grid step."""
        return float(self.y[1] - self.y[0])

    @property
    def is_cut(self) -> bool:
        """Whether teams below the cut exist."""
        return self.cut is not None

    @property
    def row(self) -> IntArray:
        """Row of each pair that counts in the tables."""
        return np.arange(self.n_counted)

    @cached_property
    def u(self) -> FloatArray:
        """Coordinate of psi at the grid, (G,)."""
        return self.coordinate.of_skill(self.law.skill_at(self.y))

    @cached_property
    def shares(self) -> FloatArray:
        """Shares of the kinds of teams, (L,)."""
        return np.bincount(self.kind, minlength=len(self.numbers)) / self.kind.size

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
        return (self.public + self.middle + self.private) / 2

    @cached_property
    def ranges(self) -> tuple[float, float]:
        """Widths of what a score that says nothing may be."""
        least = 6 * self.base_sd
        return max(float(np.ptp(self.public)), least), max(float(np.ptp(self.private)), least)

    @cached_property
    def maxima(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean ``e_T`` and variance of the largest of T standard normals of each kind, (L,).

        And how far ``e_T`` is above that of the typical team.
        """
        z = np.linspace(-10, 10, 4001)
        cdf = np.exp(self.numbers[:, :, None] * log_ndtr(z)).mean(axis=1)
        mass, at = np.diff(cdf, axis=1), (z[1:] + z[:-1]) / 2
        mean = np.where(np.all(self.numbers == 1, axis=1), 0.0, mass @ at)
        return mean, mass @ at**2 - mean**2, mean - mean[self.kind].mean()

    @cached_property
    def base_sd(self) -> float:
        """Rough standard deviation of a usual difference."""
        d = (self.private - self.public)[: self.n_counted]
        robust = 1.4826 * float(np.median(np.abs(d - np.median(d))))
        spread = float(d.std()) or float(self.public.std())
        return float(np.clip(robust, 0.05 * spread, spread))

    def differences(self, noise: Noise) -> tuple[FloatArray, FloatArray]:
        """Differences of pairs that count without mean luck, and how luck narrows the public part.

        Errors of unequal size make them correlate with the means of both scores, by ``(v_2 - v_1) /
        2``; above a cut they are larger by this times the hazard of the means there.
        """
        mean, variance, _ = (v[self.kind[: self.n_counted]] for v in self.maxima)
        narrower = noise.luck**2 * (1 - variance)
        d = (self.private - self.public)[: self.n_counted] + noise.luck * noise.public_sd * mean
        if self.cut is None:
            return d, narrower
        near = float(np.quantile(self.level[: self.n_counted], _NEAR)) - self.cut
        selected = (noise.private_sd**2 - noise.public_sd**2 * (1 - narrower)) / 2
        return d - selected * _NEAR / max(near, 1e-12), narrower


def densities(pairs: Pairs, noise: Noise, u: FloatArray) -> FloatArray:
    """Density of the scores of pairs that count at skills u (G,), at one node, (k, G)."""
    count, kind = pairs.n_counted, pairs.kind[: pairs.n_counted]
    mean, _, excess = (v[kind] for v in pairs.maxima)
    more, (often, rare) = noise.slope * excess, noise.chances
    first = ((pairs.public[:count] + noise.shift - more)[:, None] - u) / noise.public_sd
    second = ((pairs.private[:count] - more)[:, None] - u) / noise.private_sd
    usual = often * _normal(first)
    if pairs.has_luck:
        usual *= np.exp(noise_of(pairs.numbers, float(noise.luck)).log_ratio(first, kind))
    lucky = noise.luck * mean[:, None]
    x = (usual + rare / WIDE * _normal(first / WIDE - lucky)) / noise.public_sd
    y = (often * _normal(second) + rare / WIDE * _normal(second / WIDE)) / noise.private_sd
    flat = FLAT / pairs.ranges[0], FLAT / pairs.ranges[1]
    return x * y + flat[0] * y + flat[1] * x + flat[0] * flat[1]


def reach_at(pairs: Pairs, noise: Noise, u: FloatArray) -> FloatArray:
    """Probability that the mean of both scores reaches the cut, at one node, (L, G)."""
    assert pairs.cut is not None
    mean, variance, excess = (v[:, None] for v in pairs.maxima)
    lucky = noise.luck * noise.public_sd * mean / 2
    above = u + noise.slope * excess + (pairs.middle - noise.shift) / 2 + lucky - pairs.cut
    narrow, reach = 1 - noise.luck**2 * (1 - variance), np.zeros(above.shape)
    for (a, b), chance in zip(WIDTHS, noise.both / (1 - FLAT) ** 2, strict=True):
        own = np.sqrt((a * noise.public_sd) ** 2 * narrow + (b * noise.private_sd) ** 2) / 2
        reach += chance * ndtr(above / own)
    return (1 - 2 * FLAT) * reach + 2 * FLAT * ndtr(above / pairs.ranges[1])


def _normal(z: FloatArray) -> FloatArray:
    return np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)


def draw_alone(
    pairs: Pairs, noise: Noise, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Psi of each pair by its own scores alone, flat a priori, and the chance of unusual residuals.

    Both (D, k).
    """
    mean, variance, _ = (v[pairs.kind] for v in pairs.maxima)
    own = Noise(*(getattr(noise, field.name)[:, None] for field in fields(noise)))
    narrow = 1 - own.luck**2 * (1 - variance)
    x, y = pairs.public + own.shift - own.luck * own.public_sd * mean, pairs.private
    often = own.chances[0]
    parts = [(FLAT / pairs.ranges[0] * often, y, own.private_sd**2)]
    parts.append((FLAT / pairs.ranges[1] * often, x, own.public_sd**2 * narrow))
    for (a, b), share in zip(WIDTHS, own.both, strict=True):
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
    """Both scores of pairs of skill psi (D, k), (D, k, 2); those that count reach the cut."""
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
        lowest = np.array([pairs.public.min(), pairs.private.min()])[:, None]
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
