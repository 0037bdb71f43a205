r"""What a printed score says about board-conditional skill, for each metric.

Given its skill ``psi`` on these items, a score has the variance ``1 - rho^2``, the dispersion,
times that of one score: what the classifiers share is part of ``psi``.

- An accuracy is Efron's double binomial (1986, doi 10.1080/01621459.1986.10478327, Eq. 2.1), an
  exponential family whose log likelihood is the binomial's divided by the dispersion
  ``1 - rho^2``:

  .. math:: \log p(x \mid \psi) = \frac{x \log\psi + (n-x)\log(1-\psi) - s(x)}{1-\rho^2} + const,
            \quad s(x) = x \log\tfrac{x}{n} + (n-x)\log\left(1-\tfrac{x}{n}\right)

  It is exact for ``rho = 0``, skewed near 0 and 1 as counts are, needs no cap on rho for weak
  entries, and follows the two-binomial law of the paper closely
  (``tests/leaderboard/test_evidence.py``).
- The normal score of an AUC (``auc.scores``) is normal with variance ``1 - rho^2``: exact for
  ``rho = 0``, for any class sizes.
- A score with a standard error is normal.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, log_ndtr, ndtr, ndtri

from bayes_sota.auc.estimate import auc_std
from bayes_sota.auc.scores import AucScores
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.maximum.dependence import conditional_probabilities, feasible_correlation

Dispersion = float | FloatArray
_TINY = 1e-300
_BELOW, _ABOVE = 16.0, 6.0  # standard errors around the best AUC that the tables cover
_STEP = 0.25  # of log odds
_NARROW = 1e-3  # standard errors that a score in full precision stands for


@dataclass(frozen=True)
class GaussianScores:
    """Normal scores with one standard error, whatever the skill.

    Examples
    --------
    >>> float(GaussianScores(0.01).normal_score(0.92, 0.9).round(9))
    2.0
    """

    error: float

    @property
    def largest(self) -> float:
        """The error is the same everywhere."""
        return 1.0

    def normal_score(self, estimate: ArrayLike, skill: ArrayLike) -> FloatArray:
        """Distance in standard errors."""
        return (np.asarray(estimate, np.float64) - np.asarray(skill)) / self.error

    def estimate(self, normal: ArrayLike, skill: ArrayLike) -> FloatArray:
        """Skill plus an error."""
        return np.asarray(skill) + self.error * np.asarray(normal, np.float64)

    def stabilized(self, skill: ArrayLike) -> FloatArray:
        """Skill in standard errors."""
        return np.asarray(skill, np.float64) / self.error

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        """Skill."""
        return np.asarray(t, np.float64) * self.error

    def standard_error(self, skill: ArrayLike) -> FloatArray:
        """The same everywhere."""
        return np.full(np.shape(skill), self.error)


NormalScores = GaussianScores | AucScores
"""A score and a skill make a number that is standard normal whatever the skill is."""


@dataclass(frozen=True, eq=False)
class ScoreLaw(ABC):
    """Law of the scores on one test set.

    ``values`` are scores times ``unit``; ``y`` is a grid of equally spaced coordinates of psi.

    Attributes
    ----------
    best : float
        Best observed score, around which the law is needed.
    n_test : int
        Items of the test set; 0 where they are not known.
    """

    best: float
    n_test: int

    spacing: ClassVar[float] = 0.0  # of two values
    # of the place and width of a field, in coordinates; None: that of ``BoardPriors``
    prior_scale: ClassVar[tuple[float, float, float, float] | None] = None

    @property
    def unit(self) -> float:
        """Values per unit of score."""
        return 1.0

    @property
    @abstractmethod
    def standard_error(self) -> float:
        """Standard error of the best score."""

    def depth(self, scores: FloatArray) -> FloatArray:
        """How many standard errors scores lie below the best one."""
        return (self.best - scores) / self.standard_error

    @abstractmethod
    def on(self, size: int | None) -> Self:
        """Law of scores on so many other items; None for as many as here."""

    @property
    def normal_scores(self) -> NormalScores:
        """What makes a score and a skill a standard normal number: by default one error for all."""
        return GaussianScores(self.standard_error)

    def fitted_to(self, values: FloatArray) -> "ScoreLaw":
        """The same law with a grid coordinate that suits these values."""
        return self

    @abstractmethod
    def places(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coordinates of values, and their standard errors there."""

    def skill_at(self, y: FloatArray) -> FloatArray:
        """Psi at grid coordinates."""
        return expit(y)

    def location_at(self, y: FloatArray) -> FloatArray:
        """Where grid coordinates lie on the scale of a field's location: log odds."""
        return y

    @abstractmethod
    def prepared(self, values: FloatArray, y: FloatArray) -> Any:
        """What ``log_kernel`` needs at every dispersion, (U, G)."""

    def log_kernel(self, prepared: Any, dispersion: Dispersion) -> FloatArray:
        """Log probability of each value at the grid, shape (U, G); constants left out.

        The dispersion is a number, or one for each value, (U, 1). It divides the log likelihood of
        a normal score, and that of a double binomial count.
        """
        kernel: FloatArray = prepared / dispersion
        return kernel

    def residual(
        self, prepared: Any, values: FloatArray, y: FloatArray, dispersion: Dispersion
    ) -> FloatArray:
        """Standardised residual of each value at the grid, (U, G): a standard normal.

        The signed square root of twice what the log probability falls by from its highest.
        """
        sign = np.sign(values[:, None] / self.unit - self.skill_at(y))
        fall = np.minimum(self.log_kernel(prepared, dispersion), 0.0)
        return sign * np.sqrt(-2 * fall)

    @abstractmethod
    def log_mass(self, values: FloatArray, dispersion: Dispersion) -> FloatArray:
        """Logarithm of what ``log_kernel`` leaves out of a value's probability (density), (U,)."""

    def reach(self, psi: FloatArray, cut: float, dispersion: Dispersion) -> FloatArray:
        """Probability of at least the value ``cut``, shape (G,)."""
        return ndtr(self.reach_quantile(psi, cut, dispersion))

    @abstractmethod
    def reach_quantile(self, psi: FloatArray, cut: float, dispersion: Dispersion) -> FloatArray:
        """Standard normal quantile of ``reach``, (G,)."""

    @abstractmethod
    def remove_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """Skill: the solution of ``psi = theta + shift sd(theta)``; ``shift`` is ``rho z``."""

    def add_shift(self, skill: FloatArray, shift: FloatArray) -> FloatArray:
        """Board-conditional skill ``psi = theta + shift sd(theta)``, the way back."""
        return skill + shift * self.errors_at(skill)

    def draw_psi(
        self, scores: FloatArray, variance: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Psi of classifiers of which nothing but the score is known, (D, k).

        ``scores`` are (k,), ``variance`` their own in units of the law's, (D, k).
        """
        error = self.errors_at(scores) * np.sqrt(variance)
        return self.snapped(scores + error * rng.standard_normal(variance.shape))

    def with_error(
        self, skill: FloatArray, normal: FloatArray, size: int | None, ratio: Any = 1.0
    ) -> FloatArray:
        """Scores on a fresh test set, given skills and standard normal errors, broadcast.

        ``ratio`` is that of standard errors over the law's.
        """
        return self.on(size).normal_scores.estimate(normal * ratio, skill)

    @abstractmethod
    def errors_at(self, psi: FloatArray) -> FloatArray:
        """Standard errors of scores."""

    def snapped(self, scores: FloatArray) -> FloatArray:
        """Scores as they can be."""
        return scores

    def new_score(
        self, skill: FloatArray, size: int | None, rng: np.random.Generator
    ) -> FloatArray:
        """Score of one classifier per draw on a fresh test set, (D,)."""
        return self.on(size).normal_scores.estimate(rng.standard_normal(skill.size), skill)

    def best_new_score(
        self, skills: FloatArray, rho: FloatArray, size: int | None, rng: np.random.Generator
    ) -> FloatArray:
        """Best score of classifiers (D, k), best last, on a fresh test set that they share.

        Normal scores share one factor: they correlate by ``rho ** 2`` within a row.
        """
        shared = (rho * rng.standard_normal(len(skills)))[:, None]
        normal = shared + np.sqrt(1 - rho**2)[:, None] * rng.standard_normal(skills.shape)
        return self.on(size).normal_scores.estimate(normal, skills).max(axis=1)


@dataclass(frozen=True, eq=False)
class AccuracyLaw(ScoreLaw):
    """Values are numbers of right answers.

    Attributes
    ----------
    alike : float
        How many numbers print as the same score.
    """

    alike: float = 1.0

    spacing: ClassVar = 1.0

    def on(self, size: int | None) -> "AccuracyLaw":
        """Of more or fewer items."""
        return replace(self, n_test=size or self.n_test)

    @property
    def unit(self) -> float:
        """Items."""
        return float(self.n_test)

    @property
    def standard_error(self) -> float:
        """Binomial standard error of the best score."""
        p = np.clip(self.best, 0.5 / self.n_test, 1 - 0.5 / self.n_test)
        return float(np.sqrt(p * (1 - p) / self.n_test))

    def places(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log odds, and their standard errors."""
        return _log_odds_places(values / self.n_test, self.n_test)

    def prepared(self, values: FloatArray, y: FloatArray) -> FloatArray:
        """Binomial log likelihood relative to that of the observed proportion."""
        n, p = self.n_test, values / self.n_test
        log_right, log_wrong = -np.logaddexp(0, -y), -np.logaddexp(0, y)
        fit = values[:, None] * log_right + (n - values[:, None]) * log_wrong
        with np.errstate(divide="ignore", invalid="ignore"):
            right = np.where(p > 0, values * np.log(p), 0.0)
            wrong = np.where(p < 1, (n - values) * np.log1p(-p), 0.0)
        return fit - (right + wrong)[:, None]

    def log_mass(self, values: FloatArray, dispersion: Dispersion) -> FloatArray:
        """Log normalisation of the double binomial, times what prints alike."""
        n = self.n_test
        p = np.clip(values / n, 0.5 / n, 1 - 0.5 / n)
        variance = dispersion * n * p * (1 - p)
        return np.log(self.alike) - 0.5 * np.log(2 * np.pi * variance)

    def reach(self, psi: FloatArray, cut: float, dispersion: Dispersion) -> FloatArray:
        """Binomial tail at the dispersion, as an incomplete beta function."""
        return betainc(*self._beta(cut, dispersion), psi)

    def reach_quantile(self, psi: FloatArray, cut: float, dispersion: Dispersion) -> FloatArray:
        """Exact in both tails."""
        shape = self._beta(cut, dispersion)
        reach, missed = betainc(*shape, psi), betaincc(*shape, psi)
        upper = -ndtri(np.clip(missed, _TINY, 0.5))
        return np.where(reach > 0.5, upper, ndtri(np.clip(reach, _TINY, 0.5)))

    def _beta(self, cut: float, dispersion: Dispersion) -> tuple[Any, Any]:
        n = self.n_test
        above, below = (count / dispersion + 0.5 for count in (cut - 0.5, n - cut + 0.5))
        return np.maximum(above, 0.5), np.maximum(below, 0.5)

    def remove_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """Wilson's solution: it stays in [0, 1], and is skewed near 1."""
        return wilson(psi, shift, self.n_test)

    def draw_psi(
        self, scores: FloatArray, variance: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Flat in log odds."""
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

    def errors_at(self, psi: FloatArray) -> FloatArray:
        """Binomial."""
        return np.sqrt(psi * (1 - psi) / self.n_test)

    def snapped(self, scores: FloatArray) -> FloatArray:
        """Multiples of one item, between 0 and 1."""
        return np.clip(np.round(scores * self.unit) / self.unit, 0, 1)

    def new_score(
        self, skill: FloatArray, size: int | None, rng: np.random.Generator
    ) -> FloatArray:
        """Binomial."""
        items = size or self.n_test
        return rng.binomial(items, skill) / items

    def best_new_score(
        self, skills: FloatArray, rho: FloatArray, size: int | None, rng: np.random.Generator
    ) -> FloatArray:
        """Two binomials each, given what the reference classifier gets right."""
        size = size or self.n_test
        reference = float(np.clip(np.median(skills[:, -1]), 1e-6, 1 - 1e-6))
        skills = np.clip(skills, 1e-9, 1 - 1e-9)
        feasible = np.minimum(rho[:, None], feasible_correlation(skills, reference))
        # rounded: of a chance of 0 nothing is drawn, of 1e-17, its rounding error elsewhere, it is
        a, b = conditional_probabilities(skills, feasible, reference)
        right = rng.binomial(size, reference, size=len(skills))[:, None]
        counts = rng.binomial(right, a) + rng.binomial(size - right, b)
        return counts.max(axis=1) / size


@dataclass(frozen=True, eq=False)
class AucScoreLaw(ScoreLaw):
    """Values are areas under ROC curves.

    Attributes
    ----------
    n_positive : int
        Positive items.
    spread_ratio : float
        Of the scores behind the AUCs.
    width : float
        Distance of two scores that print differently; 0 for scores in full precision.
    floors : bool
        Whether scores are cut, not rounded, to that width.
    """

    n_positive: int
    spread_ratio: float = 1.0
    width: float = 0.0
    floors: bool = False

    def on(self, size: int | None) -> "AucScoreLaw":
        """With the same share of positive items."""
        if size is None:
            return self
        positives = int(np.clip(round(self.n_positive / self.n_test * size), 2, max(size - 2, 2)))
        return replace(self, n_test=size, n_positive=positives)

    @property
    def normal_scores(self) -> NormalScores:
        """From tables of the law of one AUC."""
        return self.table

    @cached_property
    def table(self) -> AucScores:
        """Normal scores on this test set."""
        positives, negatives = self.n_positive, max(2, self.n_test - self.n_positive)
        best = min(self.best, 1 - 0.5 / min(positives, negatives))
        error = float(auc_std(best, positives, negatives, self.spread_ratio))
        odds = float(logit(best)) + _ABOVE * min(error / (best * (1 - best)), 1.2)
        lowest = logit(max(best - _BELOW * error, 0.05))
        # whole steps, so that similar boards share their tables
        ends = expit(np.array([np.floor(lowest / _STEP), np.ceil(odds / _STEP)]) * _STEP)
        highest = min(float(ends[1]), 1 - 1e-9)
        return AucScores.of(positives, negatives, float(ends[0]), highest, self.spread_ratio)

    def printed_interval(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest score that prints as each."""
        width = max(self.width, 2 * self.table.lattice)
        low = scores if self.floors else scores - width / 2
        return low, low + width

    @property
    def standard_error(self) -> float:
        """Standard error of the best estimate, were it the skill; of 1 as of ``largest``."""
        return float(self.table.standard_error(min(self.best, self.table.largest)))

    def depth(self, scores: FloatArray) -> FloatArray:
        """On the scale on which every estimate has a standard deviation of one."""
        return self.table.stabilized(self.best) - self.table.stabilized(scores)

    def places(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log odds, and their standard errors."""
        p = np.minimum(values, self.table.largest)
        return _log_odds_places(p, self.table.effective_size(p))

    def prepared(self, values: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Normal scores at both ends of what prints as each value."""
        ends = self.printed_interval(values[:, None])
        low, high = (self.table.normal_score(end, self.skill_at(y)) for end in ends)
        return low, high

    def log_kernel(
        self, prepared: tuple[FloatArray, FloatArray], dispersion: Dispersion
    ) -> FloatArray:
        """Log probability of what prints as each value."""
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
        """Normal score in the middle of what prints as each value."""
        low, high = prepared
        return (low + high) / (2 * np.sqrt(dispersion))

    def log_mass(self, values: FloatArray, dispersion: Dispersion) -> FloatArray:
        """Nothing is left out."""
        return np.zeros(values.size)

    def reach_quantile(self, psi: FloatArray, cut: float, dispersion: Dispersion) -> FloatArray:
        """From the normal score of the cut."""
        score = np.asarray(self.table.normal_score(np.asarray(cut), psi))
        return np.clip(-score / np.sqrt(dispersion), -38.0, 38.0)

    def remove_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """The skill whose median estimate on these items is that of psi."""
        return self.table.without_shift(psi, shift)

    def add_shift(self, skill: FloatArray, shift: FloatArray) -> FloatArray:
        """The AUC on these items, by its median estimate."""
        return self.table.with_shift(skill, shift)

    def errors_at(self, psi: FloatArray) -> FloatArray:
        """Standard errors of estimates."""
        return self.table.standard_error(psi)

    def snapped(self, scores: FloatArray) -> FloatArray:
        """Between 0 and 1."""
        return np.clip(scores, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class NormalLaw(ScoreLaw):
    """Values are scores with a known standard error; coordinates are standardised scores.

    Attributes
    ----------
    error : float
        Standard error of one score.
    centre, scale : float
        Score at the coordinate 0, and per unit of it.
    step : float
        Distance of scores that are written differently; 0 where they are in full precision.
    """

    error: float
    centre: float = 0.0
    scale: float = 1.0
    step: float = 0.0

    prior_scale: ClassVar = (0.0, 1.5, float(np.log(0.5)), 0.9)

    @property
    def standard_error(self) -> float:
        """The given one."""
        return self.error

    def on(self, size: int | None) -> "NormalLaw":
        """With an error that falls as the root of the number of items."""
        if size is None:
            return self
        if not self.n_test:
            raise InputError(
                "{name} needs the number of items behind the standard error", parameter="new_n_test"
            )
        return replace(self, n_test=size, error=self.error * float(np.sqrt(self.n_test / size)))

    def fitted_to(self, values: FloatArray) -> "NormalLaw":
        """Standardised by the spread of these values."""
        spread = float(np.subtract(*np.quantile(values, [0.75, 0.25])))
        scale = 2 * max(spread, 2 * self.standard_error)
        return replace(self, centre=float(np.median(values)), scale=scale)

    def places(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Standardised scores."""
        errors = np.full(values.size, self.standard_error / self.scale)
        return (values - self.centre) / self.scale, errors

    def skill_at(self, y: FloatArray) -> FloatArray:
        """Back on the scale of the scores."""
        return self.centre + self.scale * y

    def location_at(self, y: FloatArray) -> FloatArray:
        """The units of the scores."""
        return self.skill_at(y)

    def prepared(self, values: FloatArray, y: FloatArray) -> FloatArray:
        """Half the squared distance in standard errors."""
        z = (values[:, None] - self.skill_at(y)) / self.standard_error
        return -0.5 * z**2

    def log_mass(self, values: FloatArray, dispersion: Dispersion) -> FloatArray:
        """Log normalisation of the normal density."""
        variance = dispersion * self.standard_error**2
        width = max(self.step, _NARROW * self.standard_error)  # a probability, not a density
        return np.full(values.size, np.log(width) - 0.5 * np.log(2 * np.pi * variance))

    def reach_quantile(self, psi: FloatArray, cut: float, dispersion: Dispersion) -> FloatArray:
        """Distance from the cut."""
        return (psi - cut) / (self.standard_error * np.sqrt(dispersion))

    def remove_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """The same standard error everywhere."""
        return psi - shift * self.standard_error

    def errors_at(self, psi: FloatArray) -> FloatArray:
        """The same everywhere."""
        return np.full(psi.shape, self.standard_error)


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
        assert board.n_positive is not None
        assert board.spread_ratio is not None
        floors, ratio = board.rounding == "floor", board.spread_ratio
        return AucScoreLaw(best, size, board.n_positive, ratio, board.printed_width, floors)
    if board.standard_error is None:
        raise InputError(
            "scores that are not accuracies need {name}, that of one score",
            parameter="standard_error",
        )
    step = _written_step(board.scores) if isinstance(board, Leaderboard) else 0.0
    return NormalLaw(best, size, board.standard_error, step=step)


def _written_step(scores: FloatArray) -> float:
    """One unit of the last decimal that the scores of a board have.

    Examples
    --------
    >>> _written_step(np.array([0.8, 0.81])), _written_step(np.array([31.0, 28.0]))
    (0.01, 1.0)
    """
    exponents = (Decimal(repr(score)).normalize().as_tuple().exponent for score in scores.tolist())
    return float(10.0 ** min(0, *map(int, exponents)))


def entry_values(board: Leaderboard) -> FloatArray:
    """Scores times the unit of the law, (m,): of counts the middle of those that print alike.

    Of counts of own items as many of the law's as are the same share.
    """
    if not isinstance(board, Leaderboard):
        raise InputError("only the maximum of this leaderboard is known; all scores are needed")
    if board.count_bounds is None:
        return board.scores * (board.n_test if board.metric == "accuracy" else 1)
    middle = board.count_bounds.mean(axis=1)
    return middle * board.n_test / board.sizes if board.has_own_errors else middle


def wilson(psi: FloatArray, shift: FloatArray, size: Any) -> FloatArray:
    """Solution of ``psi = theta + shift sqrt(theta (1 - theta) / size)``."""
    q = shift**2 / size
    root = np.sqrt(np.maximum(psi * (1 - psi) * q + q**2 / 4, 0))
    return (psi + q / 2 - np.sign(shift) * root) / (1 + q)


def _log_odds_places(p: FloatArray, size: Any) -> tuple[FloatArray, FloatArray]:
    """Log odds, and their standard errors on so many items."""
    p = np.clip(p, 0.5 / size, 1 - 0.5 / size)
    return np.asarray(logit(p)), np.asarray(1 / np.sqrt(size * p * (1 - p)))
