"""Fields of classifiers on fresh test sets: best scores and winners.

``tests/maximum/test_fields.py`` compares with whole fields, and the best count with its exact law.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.maximum.fresh_test_sets import FreshTestSet

_LARGEST_SKILL = float(np.nextafter(1.0, 0.0))


@dataclass(frozen=True, eq=False)
class Fields:
    """Fields of classifiers with everything given but who is how good below the best.

    Attributes
    ----------
    test_set : FreshTestSet
    distribution : SkillDistribution
        P(theta), parameters of shape (D,).
    n_classifiers : ndarray of int64, shape (D,)
    theta_sota : ndarray, shape (D,)
        Skill of the best classifier.
    """

    test_set: FreshTestSet
    distribution: SkillDistribution
    n_classifiers: IntArray
    theta_sota: FloatArray

    @classmethod
    def fresh(
        cls,
        rng: np.random.Generator,
        test_set: FreshTestSet,
        distribution: SkillDistribution,
        n_classifiers: IntArray,
    ) -> "Fields":
        """With the best skill from its law."""
        upper = -np.expm1(np.log(rng.random(n_classifiers.size)) / n_classifiers)
        theta = distribution.skill(distribution.isf(upper))
        return cls(test_set, distribution, n_classifiers, theta)

    def take(self, rows: IntArray) -> "Fields":
        """Some of the fields."""
        parts = (self.test_set.take(rows), self.distribution.take(rows))
        return Fields(*parts, self.n_classifiers[rows], self.theta_sota[rows])

    def draw(self, rng: np.random.Generator, *, winner: bool = True) -> tuple[Any, FloatArray]:
        """Best scores and, if ``winner``, the winners' skills; without, only scores are valid."""
        theta = np.clip(self.theta_sota, 1e-300, _LARGEST_SKILL)

        def inverse(rows: IntArray, tail: FloatArray) -> FloatArray:
            part = self.distribution.take(rows)
            return np.minimum(part.skill(part.isf(tail)), theta[rows])

        holder = theta.copy()
        best = self.test_set.play(rng, np.arange(theta.size), theta)
        upper = self.distribution.sf(self.distribution.from_skill(theta))
        others = (inverse, upper, self.n_classifiers - 1, best, holder if winner else None)
        return self.test_set.walk_down(rng, *others) / self.test_set.unit, holder
