"""Base class of the laws of the best score, of accuracies and of AUCs."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import checked_number


class BestLaw:
    """Law of the best of several scores.

    Attributes
    ----------
    theta_sota : float
        Skill of the best classifier.
    cdf : callable
        Probability of at most a score.
    mean, std : callable
        Expected best score ``E max_j X_j / n`` (Definition 2), and its standard deviation.
    """

    theta_sota: float
    cdf: Callable[[ArrayLike], FloatArray]
    mean: Callable[[], float]
    std: Callable[[], float]
    _quantile: Callable[[FloatArray], FloatArray]

    def sf(self, x: ArrayLike) -> FloatArray:
        """Probability of more than ``x``."""
        return 1 - self.cdf(x)

    def bias(self) -> float:
        """Expected best score minus the skill of the best classifier."""
        return self.mean() - self.theta_sota

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Smallest score whose cdf reaches ``q``; ``InputError`` outside [0, 1]."""
        q = np.asarray(q, dtype=np.float64)
        if not np.all((q >= 0) & (q <= 1)):
            raise InputError(f"a probability must lie in [0, 1], got {q}")
        return self._quantile(q)

    def interval(self, ci_prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval of the best score; its upper end is the papers' upper limit."""
        OPEN_SHARE.check(ci_prob, "ci_prob")
        low, high = self.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2])
        return float(low), float(high)


def number_of_classifiers(n_classifiers: int | None, n_skills: int | None) -> int:
    """Number of classifiers as given, or one per skill (``n_skills`` is None without an array)."""
    if n_skills is not None and n_skills > 1 and n_classifiers not in (None, n_skills):
        problem = f"{n_skills} skills are given, but {{name}} is {n_classifiers}"
        raise InputError(problem, parameter="n_classifiers")
    value = n_skills if n_classifiers is None else n_classifiers
    if value is None:
        raise InputError("{name} is needed unless each skill is given", parameter="n_classifiers")
    return int(checked_number(value, "n_classifiers"))
