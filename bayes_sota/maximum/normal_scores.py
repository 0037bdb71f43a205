"""Scores that have a normal score: the interface, and the Gaussian case."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.types import FloatArray

__all__ = ["GaussianScores", "NormalScores"]


class NormalScores(Protocol):
    """A score and a skill make a number that is standard normal whatever the skill is."""

    @property
    def largest(self) -> float:
        """Skill that stands for 1 where an error is needed."""

    def normal_score(self, estimate: ArrayLike, skill: ArrayLike) -> FloatArray:
        """Normal score of an observed score given the skill, increasing in it, broadcast."""

    def estimate(self, normal: ArrayLike, skill: ArrayLike) -> FloatArray:
        """Observed score with the given normal score; the inverse."""

    def stabilized(self, skill: ArrayLike) -> FloatArray:
        """Scale on which a score has a standard deviation of about one."""

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        """The inverse."""

    def standard_error(self, skill: ArrayLike) -> FloatArray:
        """Standard deviation of a score."""


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
        return np.asarray((np.asarray(estimate, np.float64) - np.asarray(skill)) / self.error)

    def estimate(self, normal: ArrayLike, skill: ArrayLike) -> FloatArray:
        """Skill plus an error."""
        return np.asarray(np.asarray(skill) + self.error * np.asarray(normal, np.float64))

    def stabilized(self, skill: ArrayLike) -> FloatArray:
        """Skill in standard errors."""
        return np.asarray(np.asarray(skill, np.float64) / self.error)

    def from_stabilized(self, t: ArrayLike) -> FloatArray:
        """Skill."""
        return np.asarray(np.asarray(t, np.float64) * self.error)

    def standard_error(self, skill: ArrayLike) -> FloatArray:
        """The same everywhere."""
        return np.full(np.shape(skill), self.error)
