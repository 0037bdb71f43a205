"""Interface of the law of a score, for every metric (``score_laws`` has the laws)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from bayes_sota.core.skills import expit, logit
from bayes_sota.core.types import FloatArray

Dispersion = float | FloatArray


@dataclass(frozen=True, eq=False)
class ScoreLaw(ABC):
    """Law of the scores on one test set; methods that are not abstract serve normal scores.

    ``values`` are scores times ``unit``; ``y`` is a grid of equally spaced coordinates of psi. The
    ``dispersion`` is the variance that a score does not share, in units of the law's: a number, or
    one for each value, (U, 1).

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

    @abstractmethod
    def errors_at(self, psi: FloatArray) -> FloatArray:
        """Standard errors of scores of these skills."""

    @abstractmethod
    def prepared(self, values: FloatArray, y: FloatArray) -> Any:
        """Precompute the part of ``log_kernel`` that needs no dispersion, (U, G)."""

    @property
    def normal_scores(self) -> Any:
        """Object that turns a score and a skill into a standard normal number: here the law itself.

        Its methods are ``normal_score``, ``estimate`` and, of a scale on which scores have a
        standard deviation of one, ``stabilized`` and ``from_stabilized``; ``AucScores`` has them.
        """
        return self

    @property
    def rounding(self) -> float:
        """Variance of what printing takes from scores, unless ``log_kernel`` knows of it."""
        return 0.0

    def rounding_at(self, scores: FloatArray) -> FloatArray:
        """The same in units of the variance of these scores."""
        variance: FloatArray = self.errors_at(self.inside(scores)) ** 2
        return self.rounding / variance

    @property
    def standard_error(self) -> float:
        """Standard error of the best score."""
        return float(self.errors_at(self.inside(np.asarray(self.best))))

    def inside(self, scores: FloatArray) -> FloatArray:
        """Scores kept where log odds and errors are finite."""
        return scores

    def depth(self, scores: FloatArray) -> FloatArray:
        """How many standard errors scores lie below the best one."""
        return (self.best - scores) / np.hypot(self.standard_error, np.sqrt(self.rounding))

    def fitted_to(self, values: FloatArray) -> "ScoreLaw":
        """The same law with a grid coordinate that suits these values."""
        return self

    def places(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coordinates of values, log odds, and their standard errors there."""
        p = self.inside(values / self.unit)
        errors = np.hypot(self.errors_at(p), np.sqrt(self.rounding))
        return np.asarray(logit(p)), errors / (p * (1 - p))

    def skill_at(self, y: FloatArray) -> FloatArray:
        """Psi at grid coordinates."""
        return expit(y)

    def location_at(self, y: FloatArray) -> FloatArray:
        """Where grid coordinates lie on the scale of a field's location: log odds."""
        return y

    def log_kernel(self, prepared: Any, dispersion: Dispersion) -> FloatArray:
        """Log probability of each value at the grid, shape (U, G); constants left out.

        The dispersion divides the log likelihood of a normal score, and of a double binomial count.
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

    def log_mass(self, values: FloatArray, dispersion: Dispersion) -> FloatArray:
        """Log of the factor that ``log_kernel`` leaves out of each probability (density), (U,)."""
        return np.zeros(values.size)

    def reach(self, psi: FloatArray, cut: float, dispersion: Dispersion) -> FloatArray:
        """Probability of at least the value ``cut``, shape (G,)."""
        return ndtr(-self.normal_scores.normal_score(cut, psi) / np.sqrt(dispersion))

    def remove_shift(self, psi: FloatArray, shift: FloatArray) -> FloatArray:
        """Skill: the solution of ``psi = theta + shift sd(theta)``; ``shift`` is ``rho z``."""
        return psi - shift * self.errors_at(psi)

    def add_shift(self, skill: FloatArray, shift: FloatArray) -> FloatArray:
        """Board-conditional skill ``psi = theta + shift sd(theta)``, the way back."""
        return skill + shift * self.errors_at(skill)

    def draw_psi(self, scores: FloatArray, variance: FloatArray, rng: Generator) -> FloatArray:
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
        return self.normal_scores.estimate(normal * ratio, skill)

    def snapped(self, scores: FloatArray) -> FloatArray:
        """Scores as they can be."""
        return scores
