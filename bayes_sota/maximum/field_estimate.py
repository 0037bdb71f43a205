"""What shrinking and cropping find: a point estimate, and the field of skills behind it.

``tests/maximum/test_shrinkage.py`` has the paper's Tables 2 and 4.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import betaincinv

from bayes_sota.auc.laws import AucLaw
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.law import MaximumLaw

Criterion = Literal["expected", "upper"]
AnyLaw = MaximumLaw | AucLaw


@dataclass(frozen=True, eq=False, kw_only=True)
class FieldEstimate:
    """Point estimate of the state of the art, and the field of skills behind it.

    Attributes
    ----------
    criterion : str
        "expected" or "upper".
    estimate : float
        Best skill of the shrunk or cropped field.
    weight : float or None
        ``w`` of Eq. 9; None for cropping.
    threshold : float or None
        Highest score that remains; None for shrinking.
    law : MaximumLaw or AucLaw
        Law of the best score of that field.
    ci_prob : float
        Probability of the intervals.
    excess : float
        Expected best score were the scores the skills, minus the observed one.
    reason : str
        Why there is no multiplicity to correct; empty if there is.
    scores : ndarray, shape (m,)
        The scores that were used: those above chance.
    single : (float, float)
        Interval of the observed maximum were it the only classifier.
    """

    criterion: str
    estimate: float
    weight: float | None = None
    threshold: float | None = None
    law: AnyLaw
    ci_prob: float
    excess: float
    reason: str
    scores: FloatArray = field(repr=False)
    single: tuple[float, float]

    @property
    def multiplicity(self) -> bool:
        """Whether there is a multiplicity to correct."""
        return not self.reason

    @property
    def observed_maximum(self) -> float:
        """Best of the scores."""
        return float(self.scores.max())

    @property
    def n_infeasible(self) -> int:
        """Entries above chance that cannot have the correlation (Eq. 8) and were left out."""
        return self.scores.size - self.law.n_classifiers

    @property
    def expected_maximum(self) -> float:
        """Expected best score of the shrunk or cropped field."""
        return self.law.mean()

    @property
    def interval(self) -> tuple[float, float]:
        """Equal-tailed interval of its best score."""
        return self.law.interval(self.ci_prob)

    def n_above(self, decimals: int | None = None) -> int:
        """Number of entries whose score exceeds the estimate, rounded first if asked."""
        level = self.estimate if decimals is None else round(self.estimate, decimals)
        return int(np.sum(self.scores > level))

    @property
    def n_above_single(self) -> int:
        """Number of entries, the best among them, above the lower end of ``single``."""
        return int(np.sum(self.scores > self.single[0]))


def binomial_interval(right: int, n_test: int, ci_prob: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson interval of one accuracy, as the paper has it.

    Examples
    --------
    >>> [round(end, 4) for end in binomial_interval(2700, 3000)]
    [0.8887, 0.9105]
    """
    wrong, tail = n_test - right, (1 - ci_prob) / 2
    low = betaincinv(right, wrong + 1, tail) if right > 0 else 0.0
    high = betaincinv(right + 1, wrong, 1 - tail) if wrong > 0 else 1.0
    return float(low), float(high)
