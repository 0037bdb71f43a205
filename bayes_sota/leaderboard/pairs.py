r"""Evidence of two boards of the same teams, which share neither items nor their shift.

In a coordinate where all errors of a board are equal (arcsine of the square root for accuracies,
else the score itself) team j has

.. math:: x_j = \psi_j - \delta + e_{1j}, \quad y_j = \psi_j + e_{2j}, \quad
          \operatorname{var} e_{ij} = v_i = s_i^2 (1 - \rho^2), \quad
          \theta_j = \psi_j - \rho s_2 z_2

with psi the skill on the items of the *private* board and delta the difference of both shifts and
populations. A residual is usual, five times as wide, or says nothing (a failed run): both scores
are a mixture of six normals. The best of T submissions has the mean and variance of
``maximum.score_laws``; as able teams submit often, ``psi = u + slope (e_T - typical e_T)`` with
the expected luck ``e_T``. Teams count whose *mean* of both scores reaches a cut.
``tests/leaderboard/test_pairs.py`` has second routes.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from bayes_sota.core.arguments import SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import PairedPriors, own_priors
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.observed import FEWEST_TEAMS, PairedBoards
from bayes_sota.leaderboard.evidence import TINY, Tables, skill_grid, submission_kinds
from bayes_sota.maximum.score_laws import AccuracyLaw, NormalLaw, ScoreLaw

WIDE = 5.0  # standard deviations of a wide residual
FLAT = 0.002  # probability of a score that says nothing
_TOP, _FEWEST_PLACES, _MOST_PLACES = 0.5, 30, 1_500
_NEAR = 0.25  # share of the teams that say how dense they are at the cut


class Noise(NamedTuple):
    """Parameters of the errors: numbers, or one for each of N nodes or draws.

    Standard deviations ``s sqrt(1 - rho^2)`` of usual residuals, rho (NaN where it is not learnt),
    lambda, delta, and the probability of a wide residual.
    """

    public_sd: Any
    private_sd: Any
    rho: Any
    luck: Any
    shift: Any
    outliers: Any

    def at(self, index: Any) -> "Noise":
        return Noise(*(values[index] for values in self))

    @property
    def difference_sd(self) -> Any:
        return np.hypot(self.public_sd, self.private_sd)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The teams near the top of either board, in the coordinate of their scores.

    Attributes
    ----------
    kept, observed : ndarray, shape (k,) and (k, 2)
        Teams among the best of either board, or of both together, and their public and private
        scores.
    middle, cut : float
        Median difference ``y - x`` of all teams; mean of both scores (the public one moved by
        ``middle``) from which on teams count, -inf where all do.
    n_counted, n_below, n_copies : int
        Kept teams that reach the cut, which come first; all teams below it; teams with the same
        scores as a kept one.
    numbers, kind : ndarray, shape (L, t) and (k,)
        Equally likely numbers of submissions of each kind of team, and the kind of each.
    law, y : ScoreLaw and ndarray, shape (G,)
        Law of the mean of both scores, and grid of u; None before ``on_grid``.
    """

    boards: PairedBoards
    priors: PairedPriors
    kept: IntArray
    observed: FloatArray
    middle: float
    cut: float
    n_counted: int
    n_below: int
    n_copies: int
    numbers: FloatArray
    kind: IntArray
    law: ScoreLaw = None  # type: ignore[assignment]
    y: FloatArray = None  # type: ignore[assignment]

    @classmethod
    def of(cls, boards: PairedBoards, priors: Any = None, top: float | None = None) -> "Pairs":
        """Teams among the best ``top`` of either board, never fewer than 30 places.

        Teams with the same two scores count once, except for accuracies: few counts make equal ones
        by chance.
        """
        both, m = coordinates(boards), boards.n_entries
        top = min(_TOP, _MOST_PLACES / m) if top is None else top
        SHARE.check(top, "top")
        middle, cut, near = float(np.median(both @ [-1, 1])), -np.inf, np.arange(m)
        ranked = np.column_stack([both, (both.sum(axis=1) + middle) / 2])
        if (places := max(int(np.ceil(top * m)), _FEWEST_PLACES)) < m:
            lowest = np.sort(ranked, axis=0)[-places]
            near, cut = np.flatnonzero(np.any(ranked >= lowest, axis=1)), float(lowest[2])
        below = ranked[:, 2] < cut
        near = near[np.argsort(below[near], kind="stable")]
        same: Any = near if boards.n_test is not None else map(tuple, both[near].tolist())
        places_of: dict[Any, int] = {}
        group = np.array([places_of.setdefault(pair, len(places_of)) for pair in same])
        kept = near[np.unique(group, return_index=True)[1]]
        if kept.size < FEWEST_TEAMS:
            few = f"only {kept.size} teams have different pairs of scores"
            raise InputError(f"{few}; {FEWEST_TEAMS} are needed")
        numbers, kind = np.ones((1, 1)), np.zeros(kept.size, np.int64)
        if boards.has_submissions:
            each = boards.submissions[near]
            medians = [np.median(each[group == i], axis=0) for i in range(kept.size)]
            numbers, kind = submission_kinds(np.array(medians), 1.25)
        counts = int(np.sum(~below[kept])), int(below.sum()), near.size - kept.size
        own = own_priors(PairedPriors, priors)
        return cls(boards, own, kept, both[kept], middle, cut, *counts, numbers, kind)

    def on_grid(self, noise: Noise) -> "Pairs":
        own, counts = noise.public_sd * noise.private_sd / noise.difference_sd, self.n_counted
        typical, level = float(np.median(own)), self.to_score(self.level[:counts])
        highest = np.maximum(level, self.to_score(self.observed[:counts, 0] + self.middle))
        law: ScoreLaw = NormalLaw(float(level.max()), 0, typical).fitted_to(level)
        if self.boards.n_test is not None:
            law = AccuracyLaw(float(level.max()), max(2, round(0.25 / typical**2)))
        values, wider = np.append(level, highest) * law.unit, float(own.max()) / typical
        y = skill_grid(law, values, wider, complete=not self.is_cut)
        return replace(self, law=law, y=y)

    @property
    def step(self) -> float:
        return float(self.y[1] - self.y[0])

    @property
    def is_cut(self) -> bool:
        return bool(np.isfinite(self.cut))

    @property
    def has_luck(self) -> bool:
        return bool(self.numbers.max() > 1)

    @property
    def copies(self) -> FloatArray:
        return np.ones(self.n_counted)

    @property
    def row(self) -> IntArray:
        return np.arange(self.n_counted)

    def of_grid(self, y: FloatArray) -> FloatArray:
        skill = self.law.skill_at(y)
        return skill if self.boards.n_test is None else np.arcsin(np.sqrt(skill))

    def to_score(self, u: FloatArray) -> FloatArray:
        return u if self.boards.n_test is None else np.sin(np.clip(u, 0, np.pi / 2)) ** 2

    def printed(self, u: FloatArray) -> FloatArray:
        """Scores with the coordinates ``u``, (..., 2 boards): accuracies are whole counts."""
        if self.boards.n_test is None:
            return u
        n = np.array(self.boards.n_test)
        return np.clip(np.round(self.to_score(u) * (n + 0.5) - 0.25), 0, n) / n

    @property
    def errors(self) -> Any:
        n = self.boards.n_test
        return self.boards.standard_errors if n is None else 0.5 / np.sqrt(n)

    @property
    def scores(self) -> FloatArray:
        return both_scores(self.boards)[self.kept]

    @property
    def winner(self) -> int:
        own = both_scores(self.boards)[self.boards.public_winner]
        return int(np.argmax(np.all(self.scores == own, axis=1)))

    @cached_property
    def level(self) -> FloatArray:
        return (self.observed.sum(axis=1) + self.middle) / 2

    @cached_property
    def base_sd(self) -> float:
        d = self.observed[: self.n_counted] @ [-1, 1]
        spread = float(d.std()) or float(self.observed[: self.n_counted, 0].std())
        robust = float(np.median(np.abs(d - np.median(d))) / ndtri(0.75))
        return float(np.clip(robust, 0.05 * spread, spread))

    @cached_property
    def maxima(self) -> FloatArray:
        """Mean ``e_T``, variance, and excess over the typical ``e_T``, of each kind, (3, L)."""
        z = np.linspace(-10, 10, 4001)
        cdf = np.exp(self.numbers[:, :, None] * log_ndtr(z)).mean(axis=1)
        mass, at = np.diff(cdf, axis=1), (z[1:] + z[:-1]) / 2
        mean = np.where(np.all(self.numbers == 1, axis=1), 0.0, mass @ at)
        return np.stack([mean, mass @ at**2 - mean**2, mean - mean[self.kind].mean()])

    @cached_property
    def trend(self) -> float:
        """Slope of the mean of both scores on ``e_T``, in a normal model truncated at the cut."""
        from scipy.optimize import minimize  # slow to import

        count = self.n_counted
        level, luck = self.level[:count], self.maxima[2][self.kind[:count]]
        unit, place = max(float(level.std()), 1e-12), float(level.mean())

        def minus_log_likelihood(t: FloatArray) -> float:
            middle, width = t[0] + t[1] * luck, np.exp(t[2])
            z = ((level - place) / unit - middle) / width
            reach = log_ndtr((middle - (self.cut - place) / unit) / width)
            return float(np.sum(0.5 * z**2 + np.log(width) + reach) + 0.5 * np.sum(t**2) / 4)

        return float(minimize(minus_log_likelihood, np.zeros(3)).x[1]) * unit

    def slope(self, noise: Noise) -> Any:
        return (self.trend - noise.luck * noise.public_sd / 2) if self.has_luck else noise.luck

    def expected(self, noise: Noise, kind: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean public and private scores of teams of these kinds, minus u."""
        mean, _, excess = self.maxima[:, kind]
        more = self.slope(noise) * excess
        return more + noise.luck * noise.public_sd * mean - noise.shift, more

    def parts(self, noise: Noise, kind: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Probability of each part of the mixture, and both variances of the residuals in it.

        Usual residuals come first. At one node (6,), (6, k) and (6, k); of draws, whose noise is
        (D, 1), (6, D, 1), (6, D, k) and (6, D, k).
        """
        far = (np.maximum(np.ptp(self.observed, axis=0), 6 * self.base_sd) / 2) ** 2
        wide, known = np.asarray(noise.outliers), 1 - 2 * FLAT
        one, both, flat = known * wide * (1 - wide), known * wide**2, FLAT + 0 * wide
        weight = np.stack([known * (1 - wide) ** 2, one, one, both, flat, flat])
        own = noise.public_sd**2 * (1 - noise.luck**2 * (1 - self.maxima[1, kind]))
        public = np.multiply.outer([1, WIDE**2, 1, WIDE**2, 0, 1], own)
        usual = np.broadcast_to(noise.private_sd**2, own.shape)
        private = np.multiply.outer([1, 1, WIDE**2, WIDE**2, 1, 0], usual)
        public[4], private[5] = far
        return weight, public, private

    def differences(self, noise: Noise) -> FloatArray:
        """Differences of the counted pairs minus their expectation but for delta, (n_counted,).

        Errors of unequal size make them correlate with the means of both scores, by ``(v_2 - v_1) /
        2``; above a cut they are larger by this times the hazard of the means there.
        """
        counted = self.kind[: self.n_counted]
        public, private = self.expected(noise._replace(shift=0.0), counted)
        _, first, second = self.parts(noise, counted)
        near = float(np.quantile(self.level[: self.n_counted], _NEAR)) - self.cut
        d = self.observed[: self.n_counted] @ [-1, 1] - (private - public)
        return d - (second[0] - first[0]) / 2 * _NEAR / max(near, 1e-12)


def both_scores(boards: PairedBoards) -> FloatArray:
    """Public and private scores of all teams, (m, 2)."""
    return np.stack([boards.public, boards.private], axis=1)


def coordinates(boards: PairedBoards) -> FloatArray:
    """Both scores where their error has one size, (m, 2); a quarter of a count keeps 0 finite."""
    n, scores = np.array(boards.n_test), both_scores(boards)
    if boards.n_test is None:
        return scores
    return np.arcsin(np.sqrt((scores * n + 0.25) / (n + 0.5)))


def normal_density(away: FloatArray, variance: FloatArray) -> FloatArray:
    """Density of a normal at a distance from its mean."""
    return np.exp(-0.5 * away**2 / variance) / np.sqrt(2 * np.pi * variance)


def table_at(pairs: Pairs, noise: Noise) -> Tables:
    """Density of the counted pairs' scores at the grid, and of reaching the cut, at a node."""
    kind, u = pairs.kind[: pairs.n_counted], pairs.of_grid(pairs.y)
    means = np.stack(pairs.expected(noise, kind), axis=1)
    x, y = ((pairs.observed[: kind.size] - means).T[:, :, None] - u) ** 2
    density = np.zeros(x.shape)
    for weight, first, second in zip(*pairs.parts(noise, kind), strict=True):
        fall = x / first[:, None] + y / second[:, None]
        density += (weight / (2 * np.pi * np.sqrt(first * second)))[:, None] * np.exp(-0.5 * fall)
    density = np.maximum(density, TINY)
    top, reach = density.max(axis=1), reach_at(pairs, noise, u)
    typical = reach[pairs.kind].mean(axis=0)
    return Tables(density / top[:, None], np.log(top), reach if pairs.is_cut else None, typical)


def reach_at(pairs: Pairs, noise: Noise, u: FloatArray) -> FloatArray:
    """Probability that the mean of both scores reaches the cut, by kind, (..., L, G)."""
    kinds = np.arange(len(pairs.numbers))
    public, private = pairs.expected(noise, kinds)
    lowest = pairs.cut - (public + private + pairs.middle) / 2
    weight, first, second = pairs.parts(noise, kinds)
    away, sd = u - lowest[..., None], np.sqrt(first + second)[..., None] / 2
    return sum(w[..., None] * ndtr(away / one) for w, one in zip(weight, sd, strict=True))


def draw_alone(
    pairs: Pairs, noise: Noise, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Psi of each pair by its scores, flat a priori, and P(unusual residuals), (D, k)."""
    public, private = pairs.expected(noise, pairs.kind)
    x, y = pairs.observed[:, 0] - public, pairs.observed[:, 1] - private
    weight, first, second = pairs.parts(noise, pairs.kind)
    fall = 0.5 * (y - x) ** 2 / (first + second)  # relative: far away all densities are 0
    weight = weight * np.exp(fall.min(axis=0) - fall) / np.sqrt(first + second)
    v1, v2 = _one_part(weight, first, second, rng)
    own_sd = np.sqrt(v1 * v2 / (v1 + v2))
    u = (v2 * x + v1 * y) / (v1 + v2) + own_sd * rng.standard_normal(x.shape)
    return u + private, 1 - weight[0] / weight.sum(axis=0)


def draw_scores(
    pairs: Pairs, noise: Noise, psi: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Both scores of pairs with psi (D, k), (D, k, 2); those that count reach the cut."""
    lowest = np.where(np.arange(pairs.kind.size) < pairs.n_counted, pairs.cut, -np.inf)
    public, private = pairs.expected(noise, pairs.kind)
    mean = np.stack([psi + public - private, psi], axis=-1)
    weight, first, second = pairs.parts(noise, pairs.kind)
    low = 2 * lowest - pairs.middle - mean.sum(axis=-1)
    reach = np.maximum(ndtr(-low / np.sqrt(first + second)), TINY)
    v1, v2 = _one_part(weight * reach, first, second, rng)
    total = np.sqrt(v1 + v2)
    reach = np.maximum(ndtr(-low / total), TINY)
    both = -total * ndtri(reach * (1 - rng.random(low.shape)))  # sum of the errors
    error = (v1 * both + np.sqrt(v1 * v2) * rng.standard_normal(low.shape) * total) / total**2
    return mean + np.stack([error, both - error], axis=-1)


def _one_part(
    weight: FloatArray, first: FloatArray, second: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    part = draw_rows(weight, rng)[None]
    return np.take_along_axis(first, part, 0)[0], np.take_along_axis(second, part, 0)[0]


def draw_rows(weight: FloatArray, rng: np.random.Generator) -> IntArray:
    """A row of each column, drawn by weights (K, ...)."""
    cdf = np.cumsum(weight, axis=0)
    return np.sum(cdf < rng.random(cdf.shape[1:]) * cdf[-1], axis=0)
