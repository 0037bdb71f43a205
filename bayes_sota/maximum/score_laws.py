r"""Likelihood of a printed score given board-conditional skill, for each metric.

Given its skill ``psi`` on these items, a score has the variance ``1 - rho^2``, the dispersion,
times that of one score: what the classifiers share is part of ``psi``.

- An accuracy is Efron's double binomial (1986, doi 10.1080/01621459.1986.10478327, Eq. 2.1):

  .. math:: \log p(x \mid \psi) = \frac{x \log\psi + (n-x)\log(1-\psi) - s(x)}{1-\rho^2} + const,
            \quad s(x) = x \log\tfrac{x}{n} + (n-x)\log\left(1-\tfrac{x}{n}\right)

  It is exact for ``rho = 0``, and follows the paper's law of two binomials closely
  (``tests/leaderboard/test_evidence.py``).
- The normal score of an AUC (``AucScores``) is normal: exact for ``rho = 0``.
- A score with a standard error is normal.

A score minus ``psi`` is, in standard errors, a standard normal after one submission. Where it is
the best of T submissions whose noises share ``1 - lambda^2`` of their variance, it is

.. math:: W = \lambda M_T + \sqrt{1 - \lambda^2}\, Z, \quad M_T = \max_{t \le T} E_t

with standard normal ``E_t`` and ``Z`` (``SubmissionNoise``), whose density is that of one
submission times

.. math:: \frac{g(w)}{\varphi(w)} = T \int \varphi(u)\,
          \Phi(\lambda w + \sqrt{1 - \lambda^2}\, u)^{T - 1}\, du

If they also differ in true skill, with the standard deviation tau in standard errors, and share
``1 - kappa^2`` of their noise, ``lambda = kappa^2 / sqrt(kappa^2 + tau^2)``.
``tests/maximum/test_submissions.py`` compares with simulation and with order statistics.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import betainc, log_ndtr, ndtr, ndtri, xlogy

from bayes_sota.auc.estimate import AucScores, auc_scores, auc_std
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore, Leaderboard

Dispersion = float | FloatArray
_BELOW, _ABOVE = 16.0, 6.0  # standard errors around the best AUC that the tables cover
_STEP = 0.25  # of log odds
_NARROW = 1e-3  # standard errors that a score in full precision stands for
_PLACES = np.linspace(-16.0, 16.0, 1281)  # standard errors of the tables; beyond, they are flat
_REACH, _NODES = 9.0, 181
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class ScoreLaw(ABC):
    """Law of the scores on one test set; methods that are not abstract serve normal scores.

    ``values`` are scores times ``unit``; ``y`` is a grid of equally spaced coordinates of psi. The
    ``dispersion`` is one number, or one for each value, (U, 1); ``n_test`` is 0 if unknown.
    """

    best: float
    n_test: int

    spacing: ClassVar[float] = 0.0  # of two values
    # of the place and width of a field, in coordinates; None: that of ``BoardPriors``
    prior_scale: ClassVar[tuple[float, float, float, float] | None] = None

    @property
    def unit(self) -> float:
        return 1.0

    @abstractmethod
    def errors_at(self, psi: FloatArray) -> FloatArray:
        """Standard errors of scores of these skills."""

    @abstractmethod
    def prepared(self, values: FloatArray, y: FloatArray) -> Any:
        """Part of ``log_kernel`` that needs no dispersion, (U, G)."""

    @property
    def normal_scores(self) -> Any:
        """Object with ``normal_score``, ``estimate``, ``stabilized`` and ``from_stabilized``."""
        return self

    @property
    def rounding(self) -> float:
        """Variance that printing takes from scores, unless ``log_kernel`` has it."""
        return 0.0

    def rounding_at(self, scores: FloatArray) -> FloatArray:
        variance: FloatArray = self.errors_at(self.inside(scores)) ** 2
        return self.rounding / variance

    @property
    def standard_error(self) -> float:
        return float(self.errors_at(self.inside(np.asarray(self.best))))

    def inside(self, scores: FloatArray) -> FloatArray:
        """Scores kept where log odds and errors are finite."""
        return scores

    def depth(self, scores: FloatArray) -> FloatArray:
        return (self.best - scores) / np.hypot(self.standard_error, np.sqrt(self.rounding))

    def fitted_to(self, values: FloatArray) -> "ScoreLaw":
        """This law, with the coordinate of its grid scaled to these values."""
        return self

    def places(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coordinates of values, log odds, and their standard errors there."""
        p = self.inside(values / self.unit)
        errors = np.hypot(self.errors_at(p), np.sqrt(self.rounding))
        return np.asarray(logit(p)), errors / (p * (1 - p))

    def skill_at(self, y: FloatArray) -> FloatArray:
        return expit(y)

    def location_at(self, y: FloatArray) -> FloatArray:
        """Grid coordinates on the scale of a field's location: log odds."""
        return y

    def log_kernel(self, prepared: Any, dispersion: Dispersion) -> FloatArray:
        """Log probability of each value at the grid, (U, G), up to a constant."""
        kernel: FloatArray = prepared / dispersion
        return kernel

    def residual(
        self, prepared: Any, values: FloatArray, y: FloatArray, dispersion: Dispersion
    ) -> FloatArray:
        """Signed square root of twice the fall of log probability from its highest, (U, G)."""
        sign = np.sign(values[:, None] / self.unit - self.skill_at(y))
        fall = np.minimum(self.log_kernel(prepared, dispersion), 0.0)
        return sign * np.sqrt(-2 * fall)

    def log_mass(self, values: FloatArray, dispersion: Dispersion) -> FloatArray:
        """Log of the factor that ``log_kernel`` leaves out, (U,)."""
        return np.zeros(values.size)

    def reach(self, psi: FloatArray, cut: float, dispersion: Dispersion) -> FloatArray:
        """Probability of at least the value ``cut``, (G,)."""
        return ndtr(-self.normal_scores.normal_score(cut, psi) / np.sqrt(dispersion))

    def remove_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """Skill: the solution of ``psi = theta + shift sd(theta)``; ``shift`` is ``rho z``."""
        return psi - shift * self.errors_at(psi)

    def add_shift(self, skill: FloatArray, shift: FloatArray) -> FloatArray:
        return skill + shift * self.errors_at(skill)

    def draw_psi(self, scores: FloatArray, variance: FloatArray, rng: Generator) -> FloatArray:
        """Psi given scores (k,) alone, with their ``variance`` in units of the law's, (D, k)."""
        error = self.errors_at(scores) * np.sqrt(variance)
        return self.snapped(scores + error * rng.standard_normal(variance.shape))

    def with_error(
        self, skill: FloatArray, normal: FloatArray, size: int | None, ratio: Any = 1.0
    ) -> FloatArray:
        """Scores on a fresh test set, given normal errors; ``ratio`` multiplies standard errors."""
        return self.normal_scores.estimate(normal * ratio, skill)

    def snapped(self, scores: FloatArray) -> FloatArray:
        return scores


@dataclass(frozen=True, eq=False)
class AccuracyLaw(ScoreLaw):
    """Values are numbers of correct answers; ``alike`` of them print as the same score."""

    alike: float = 1.0

    spacing: ClassVar = 1.0

    @property
    def unit(self) -> float:
        return float(self.n_test)

    @property
    def rounding(self) -> float:
        return (self.alike**2 - 1) / 12 / self.n_test**2

    def stabilized(self, skill: ArrayLike) -> FloatArray:
        return 2 * np.sqrt(self.n_test) * np.arcsin(np.sqrt(skill))

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        return np.sin(np.asarray(t) / (2 * np.sqrt(self.n_test))) ** 2

    def errors_at(self, psi: FloatArray) -> FloatArray:
        return np.sqrt(psi * (1 - psi) / self.n_test)

    def inside(self, scores: FloatArray) -> FloatArray:
        return np.clip(scores, 0.5 / self.n_test, 1 - 0.5 / self.n_test)

    def prepared(self, values: FloatArray, y: FloatArray) -> FloatArray:
        wrong = np.maximum(self.n_test - values, 0.0)  # a perfect score may be above 1 by rounding
        log_right, log_wrong = -np.logaddexp(0, -y), -np.logaddexp(0, y)
        highest = xlogy(values, values / self.n_test) + xlogy(wrong, wrong / self.n_test)
        return values[:, None] * log_right + wrong[:, None] * log_wrong - highest[:, None]

    def log_mass(self, values: FloatArray, dispersion: Dispersion) -> FloatArray:
        error = self.errors_at(self.inside(values / self.n_test)) * self.n_test
        return np.log(self.alike) - 0.5 * np.log(2 * np.pi * dispersion * error**2)

    def reach(self, psi: FloatArray, cut: float, dispersion: Dispersion) -> FloatArray:
        """Binomial tail at the dispersion, as an incomplete beta function."""
        above = np.maximum((cut - 0.5) / dispersion + 0.5, 0.5)
        below = np.maximum((self.n_test - cut + 0.5) / dispersion + 0.5, 0.5)
        return betainc(above, below, psi)

    def remove_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """Wilson's solution: it stays in [0, 1], and is skewed near 1."""
        q = shift**2 / self.n_test
        root = np.sqrt(np.maximum(psi * (1 - psi) * q + q**2 / 4, 0))
        return (psi + q / 2 - np.sign(shift) * root) / (1 + q)

    def add_shift(self, skill: FloatArray, shift: FloatArray) -> FloatArray:
        return np.clip(super().add_shift(skill, shift), 0.0, 1.0)

    def draw_psi(self, scores: FloatArray, variance: FloatArray, rng: Generator) -> FloatArray:
        """Psi that is flat in log odds a priori."""
        n = self.n_test
        right = np.clip(scores * n, 0.5, n - 0.5)
        return rng.beta(right / variance, (n - right) / variance)

    def with_error(
        self, skill: FloatArray, normal: FloatArray, size: int | None, ratio: Any = 1.0
    ) -> FloatArray:
        """Errors on the variance-stabilised scale, with the mean corrected."""
        n = size or self.n_test
        angle = np.arcsin(np.sqrt(skill)) + normal * ratio / (2 * np.sqrt(n))
        share = np.sin(np.clip(angle, 0, np.pi / 2)) ** 2
        share = 0.5 + (share - 0.5) * np.exp(ratio**2 / (2 * n))
        return np.round(np.clip(share, 0, 1) * n) / n

    def snapped(self, scores: FloatArray) -> FloatArray:
        return np.clip(np.round(scores * self.unit) / self.unit, 0, 1)


@dataclass(frozen=True, eq=False)
class AucScoreLaw(ScoreLaw):
    """Values are areas under ROC curves.

    ``width`` is the distance of scores that print differently, 0 in full precision.
    """

    n_positive: int
    spread_ratio: float = 1.0
    width: float = 0.0
    floors: bool = False

    @cached_property
    def normal_scores(self) -> AucScores:
        positives, negatives = self.n_positive, max(2, self.n_test - self.n_positive)
        best = min(self.best, 1 - 0.5 / min(positives, negatives))
        error = float(auc_std(best, positives, negatives, self.spread_ratio))
        odds = float(logit(best)) + _ABOVE * min(error / (best * (1 - best)), 1.2)
        lowest = logit(max(best - _BELOW * error, 0.05))
        ends = expit(np.array([np.floor(lowest / _STEP), np.ceil(odds / _STEP)]) * _STEP)
        highest = min(float(ends[1]), 1 - 1e-9)
        return auc_scores(positives, negatives, float(ends[0]), highest, self.spread_ratio)

    def errors_at(self, psi: FloatArray) -> FloatArray:
        return self.normal_scores.standard_error(psi)

    def inside(self, scores: FloatArray) -> FloatArray:
        return np.minimum(scores, self.normal_scores.largest)

    def depth(self, scores: FloatArray) -> FloatArray:
        return self.normal_scores.stabilized(self.best) - self.normal_scores.stabilized(scores)

    def prepared(self, values: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        width, psi = max(self.width, 2 * self.normal_scores.lattice), self.skill_at(y)
        low = values[:, None] if self.floors else values[:, None] - width / 2
        score = self.normal_scores.normal_score
        return score(low, psi), score(low + width, psi)

    def log_kernel(
        self, prepared: tuple[FloatArray, FloatArray], dispersion: Dispersion
    ) -> FloatArray:
        low, high = (side / np.sqrt(dispersion) for side in prepared)
        flip = low > 0  # the smaller tail loses no digits
        low, high = np.where(flip, -high, low), np.where(flip, -low, high)
        upper, lower = log_ndtr(high), log_ndtr(low)
        with np.errstate(divide="ignore", invalid="ignore"):
            difference = upper + np.log(-np.expm1(lower - upper))
        return np.nan_to_num(difference, nan=-1e300, neginf=-1e300)

    def residual(
        self, prepared: Any, values: FloatArray, y: FloatArray, dispersion: Dispersion
    ) -> FloatArray:
        low, high = prepared
        return (low + high) / (2 * np.sqrt(dispersion))

    def remove_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        return self.normal_scores.without_shift(psi, shift)

    def add_shift(self, skill: FloatArray, shift: FloatArray) -> FloatArray:
        return self.normal_scores.with_shift(skill, shift)

    def snapped(self, scores: FloatArray) -> FloatArray:
        return np.clip(scores, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class NormalLaw(ScoreLaw):
    """Values are scores with a known standard error; coordinates are standardised scores.

    ``centre`` is the score at the coordinate 0, ``scale`` that per unit; ``step`` is the distance
    of scores that are written differently, 0 in full precision.
    """

    error: float
    centre: float = 0.0
    scale: float = 1.0
    step: float = 0.0

    prior_scale: ClassVar = (0.0, 1.5, float(np.log(0.5)), 0.9)

    @property
    def rounding(self) -> float:
        return self.step**2 / 12

    def normal_score(self, estimate: ArrayLike, skill: ArrayLike) -> FloatArray:
        return (np.asarray(estimate) - np.asarray(skill)) / self.error

    def estimate(self, normal: ArrayLike, skill: ArrayLike) -> FloatArray:
        return np.asarray(skill) + self.error * np.asarray(normal)

    def stabilized(self, skill: ArrayLike) -> FloatArray:
        return np.asarray(skill) / self.error

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        return np.asarray(t) * self.error

    def errors_at(self, psi: FloatArray) -> FloatArray:
        return np.full(psi.shape, self.error)

    def fitted_to(self, values: FloatArray) -> "NormalLaw":
        spread = float(np.subtract(*np.quantile(values, [0.75, 0.25])))
        scale = 2 * max(spread, 2 * self.error)
        return replace(self, centre=float(np.median(values)), scale=scale)

    def places(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        errors = np.hypot(self.errors_at(values), np.sqrt(self.rounding))
        return (values - self.centre) / self.scale, errors / self.scale

    def skill_at(self, y: FloatArray) -> FloatArray:
        return self.centre + self.scale * y

    def location_at(self, y: FloatArray) -> FloatArray:
        return self.skill_at(y)

    def prepared(self, values: FloatArray, y: FloatArray) -> FloatArray:
        return -0.5 * ((values[:, None] - self.skill_at(y)) / self.error) ** 2

    def log_mass(self, values: FloatArray, dispersion: Dispersion) -> FloatArray:
        width = max(self.step, _NARROW * self.error)  # a probability, not a density
        log_mass = np.log(width) - 0.5 * np.log(2 * np.pi * dispersion * self.error**2)
        return np.broadcast_to(log_mass, values.shape)


def score_law(board: BestScore) -> ScoreLaw:
    """Law of a board's scores, by its metric."""
    best, size = board.maximum, board.n_test or 0
    if board.metric == "accuracy":
        alike = 1.0
        if isinstance(board, Leaderboard) and board.count_bounds is not None:
            # counts are of each entry's own items, those of the law of typical ones
            more = np.diff(board.count_bounds, axis=1).ravel() * board.n_test / board.sizes
            alike += float(np.median(more))
        return AccuracyLaw(best, size, alike)
    if board.metric == "auc":
        floors = board.rounding == "floor"
        facts: Any = (board.n_positive, board.spread_ratio, board.printed_width, floors)
        return AucScoreLaw(best, size, *facts)
    if board.standard_error is None:
        raise InputError("{name} of one score is missing", parameter="standard_error")
    step = _written_step(board.scores) if isinstance(board, Leaderboard) else 0.0
    return NormalLaw(best, size, board.standard_error, step=step)


def _written_step(scores: FloatArray) -> float:
    """One unit of the last decimal that the scores of a board have.

    >>> _written_step(np.array([0.8, 0.81])), _written_step(np.array([31.0, 28.0]))
    (0.01, 1.0)
    """
    exponents = (Decimal(repr(score)).normalize().as_tuple().exponent for score in scores.tolist())
    return float(10.0 ** min(0, *map(int, exponents)))


def entry_values(board: Leaderboard) -> FloatArray:
    """Scores times the unit of the law, (m,); for counts the middle of those that print alike."""
    if not isinstance(board, Leaderboard):
        raise InputError("only the maximum of this leaderboard is known; all scores are needed")
    if board.count_bounds is None:
        return board.scores * (board.n_test if board.metric == "accuracy" else 1)
    middle = board.count_bounds.mean(axis=1)
    return middle * board.n_test / board.sizes if board.has_own_errors else middle


@dataclass(frozen=True, eq=False)
class SubmissionNoise:
    """Noise of the best of several submissions, for several kinds of entries.

    ``tables`` (2, L, places) are log density and log survival of each kind, relative to one
    submission. ``kind`` says which each row has, by default its own.
    """

    tables: FloatArray

    def log_ratio(self, w: FloatArray, kind: ArrayLike | None = None) -> FloatArray:
        """Log density at ``w``, (U, G), relative to that of one submission."""
        return self._interpolated(self.tables[0], w, kind)

    def survival(self, w: FloatArray, kind: ArrayLike | None = None) -> FloatArray:
        """P(W > w), (U, G)."""
        return ndtr(-w) * np.exp(self._interpolated(self.tables[1], w, kind))

    def raised(self, survival: FloatArray, kind: ArrayLike | None = None) -> FloatArray:
        """P(score > x), given that of one submission, ``survival``."""
        return np.minimum(self.survival(-ndtri(survival), kind), 1.0)

    def draw_above(self, low: FloatArray, kind: IntArray, rng: Generator) -> FloatArray:
        """Draws of W given that it exceeds ``low``; one per ``low`` and ``kind``."""
        drawn = np.empty(low.shape)
        level = np.log1p(-rng.random(low.shape))
        order = np.argsort(kind, axis=None, kind="stable")
        first = np.flatnonzero(np.diff(kind.ravel()[order], prepend=-1))
        for here in np.split(order, first)[1:]:
            log_survival = log_ndtr(-_PLACES) + self.tables[1][kind.flat[here[0]]]
            start = np.interp(low.flat[here], _PLACES, log_survival)
            drawn.flat[here] = np.interp(-start - level.flat[here], -log_survival, _PLACES)
        return np.maximum(drawn, low)

    def _interpolated(self, table: FloatArray, w: FloatArray, kind: ArrayLike | None) -> FloatArray:
        rows = np.arange(len(w)) if kind is None else np.asarray(kind)
        step, last = _PLACES[1] - _PLACES[0], _PLACES.size - 1
        place = np.clip((w - _PLACES[0]) / step, 0, last)
        left = np.minimum(place.astype(np.int64), last - 1)
        part = place - left
        rows = rows.reshape(-1, *(1,) * (w.ndim - 1))
        return (1 - part) * table[rows, left] + part * table[rows, left + 1]


@lru_cache(64)
def noise_of(numbers: tuple[tuple[float, ...], ...], *lucks: float) -> SubmissionNoise:
    """Noise of each kind of entry at the first luck, then at the second, ...

    ``numbers`` are equally likely numbers of submissions of each kind. A luck is a lambda, from 0
    (the choice brings no luck) to 1 (independent noises, equal skills).
    """
    tables = [log_ratios(np.array(numbers), luck) for luck in lucks]
    return SubmissionNoise(np.concatenate(tables, axis=1))


def log_ratios(numbers: FloatArray, luck: float) -> FloatArray:
    """Log ratios of density and survival to those of a normal, (2, L, places)."""
    u = np.linspace(-_REACH, _REACH, _NODES)
    weights = np.exp(-0.5 * u**2)
    below = log_ndtr(luck * _PLACES[:, None] + np.sqrt(1 - luck**2) * u)
    unique, index = np.unique(numbers, return_inverse=True)
    each = [t * (np.exp((t - 1) * below) @ weights) / weights.sum() for t in unique]
    ratio = np.maximum(np.array(each)[index.reshape(numbers.shape)].mean(axis=1), _TINY)
    ratio[np.all(numbers == 1, axis=1)] = 1.0
    normal = np.exp(-0.5 * _PLACES**2)
    survival = _sum_from(normal * ratio) / _sum_from(normal[None])
    return np.log([ratio, survival])


def _sum_from(values: FloatArray) -> FloatArray:
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1] - values / 2


def expected_maximum(numbers: FloatArray) -> FloatArray:
    """Expected largest of T standard normals, for an array of T of any shape."""
    x = np.linspace(-10.0, 10.0, 4001)
    flat, inverse = np.unique(numbers, return_inverse=True)
    cdf = np.exp(flat[:, None] * log_ndtr(x))
    expected = np.trapezoid(np.heaviside(x, 0.5) - cdf, x, axis=1)
    return np.where(flat == 1, 0.0, expected)[inverse].reshape(np.shape(numbers))
