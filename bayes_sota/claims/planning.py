"""How many test items a claim of a given gap needs.

At the observed gap: the smallest test set on which the same accuracies, or means, would make the
probability of a false claim small. At a true gap: the smallest on which that happens with a given
power. With assurance: the smallest on which it happens with a given probability, when the truth is
what the observed test set leaves open and fresh items are drawn.
``tests/claims/test_planning.py`` counts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.congruence import (
    Congruence,
    CongruencePrior,
    OddsRatioCongruence,
    congruence_at,
)
from bayes_sota.claims.means import false_claim_probability_of_means
from bayes_sota.core.arguments import ASSURANCE, LEVEL
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

_MOST = 10**9
_LEVELS = 160  # nodes of a posterior
Truth = tuple[FloatArray, ...]


@dataclass(frozen=True)
class GapOfAccuracies:
    r"""Two accuracies on the same items, observed or true.

    With s = p1 + p2 and q = p1 / s, which are independent Beta variables given what was observed, a
    fresh test set of n items makes the claim with probability

    .. math:: \Phi\Big(\frac{\sqrt n\, s (2q - 1) - z \sqrt s}{\sqrt{s - s^2 (2q - 1)^2}}\Big)

    nearly, with z the standard normal quantile of ``1 - level``.

    Parameters
    ----------
    accuracy_a, accuracy_b : float
    congruence
        As in ``false_claim_probability``. Unknown congruence counts as that of independent
        mistakes: its average over all tables depends on the size itself. For power and assurance a
        prior counts as its mean congruence.
    """

    accuracy_a: float
    accuracy_b: float
    congruence: Congruence = None

    def __post_init__(self) -> None:
        if self.accuracy_a == self.accuracy_b:
            raise InputError("equal accuracies never make a claim, whatever the size")

    def p_false(self, n_test: int) -> float:
        """Probability that the claim is false, if this was observed on so many items."""
        shared = "independent" if self.congruence is None else self.congruence
        return float(false_claim_probability(self.accuracy_a, self.accuracy_b, n_test, shared))

    def describe(self) -> dict[str, Any]:
        """Gap, accuracies and congruence, as ``bayes-sota claim plan --json`` has them."""
        value, assumption = None, str(self.congruence or "independent")
        if isinstance(self.congruence, OddsRatioCongruence) and not self.congruence.spread:
            assumption = f"odds ratio {self.congruence.median:g}"
        elif isinstance(self.congruence, int | float):
            value, assumption = self.congruence, "given"
        return {
            "gap": self.accuracy_a - self.accuracy_b,
            "accuracy": [self.accuracy_a, self.accuracy_b],
            "congruence": {"value": value, "assumption": assumption},
        }

    def _alone(self) -> tuple[float, float]:
        """Share of items that A alone gets right, and that B alone does."""
        a, b = np.asarray(self.accuracy_a, np.float64), np.asarray(self.accuracy_b, np.float64)
        if isinstance(self.congruence, CongruencePrior):
            both = sum(float(share) * weight for share, weight in self.congruence.nodes(a, b))
        else:
            shared = "independent" if self.congruence is None else self.congruence
            both = float(congruence_at(a, b, shared))
        return self.accuracy_a - both, self.accuracy_b - both

    def truth(self) -> Truth:
        """Difference and sum of the two shares, if this gap is the truth."""
        first, second = self._alone()
        return np.asarray(first - second), np.asarray(first + second)

    def left_open(self, n_test: int, levels: FloatArray) -> tuple[float, Truth]:
        """P(A is better) given so many items, and the truth at levels of its posterior."""
        from scipy.special import betaincinv

        both = self.accuracy_a - self._alone()[0]
        x1, x2 = n_test * (self.accuracy_a - both), n_test * (self.accuracy_b - both)
        share = 2 * betaincinv(x1 + 1, x2 + 1, levels)[:, None] - 1
        total = betaincinv(x1 + x2 + 2, n_test - x1 - x2 + 2, levels)[None, :]
        known = GapOfAccuracies(self.accuracy_a, self.accuracy_b, both)
        return 1 - known.p_false(n_test), (total * share, total)

    @staticmethod
    def made(truth: Truth, n_test: int, level: float) -> FloatArray:
        """Probability that so many fresh items make the claim."""
        from scipy.special import ndtr, ndtri

        gap, total = truth
        centre = np.sqrt(n_test) * gap - ndtri(1 - level) * np.sqrt(total)
        return np.asarray(ndtr(centre / np.sqrt(total - gap**2)))


@dataclass(frozen=True)
class GapOfMeans:
    """Two means of the same cases, observed or true.

    The posterior is flat in the mean difference and in the logarithm of its standard deviation; the
    t statistic of fresh cases is nearly normal (Johnson & Welch 1940).

    Parameters
    ----------
    mean_a, mean_b : float
    sd : (float, float)
        Standard deviations of cases.
    pairwise_correlation : float, optional
        Of the two methods' cases. Default: averaged, uniform from 0 to 1; power and assurance need
        it.
    """

    mean_a: float
    mean_b: float
    sd: tuple[float, float]
    pairwise_correlation: float | None = None

    def __post_init__(self) -> None:
        if self.mean_a == self.mean_b:
            raise InputError("equal means never make a claim, whatever the size")

    def p_false(self, n_test: int) -> float:
        found = false_claim_probability_of_means(
            self.mean_a, self.mean_b, n_test, sd=self.sd, correlation=self.pairwise_correlation,
            bounds=None,
        )  # fmt: skip
        return float(found)

    def describe(self) -> dict[str, Any]:
        value = self.pairwise_correlation
        assumption = "averaged from 0 to 1" if value is None else "given"
        return {
            "gap": self.mean_a - self.mean_b,
            "correlation": {"value": value, "assumption": assumption},
        }

    def _spread(self) -> float:
        """Standard deviation of the differences of cases."""
        if self.pairwise_correlation is None:
            raise InputError("power and assurance (n_test) of means need pairwise_correlation")
        first, second, r = *self.sd, self.pairwise_correlation
        square = first**2 + second**2 - 2 * r * first * second
        if not square > 0:
            raise InputError("cases that all differ by the same amount need no planning")
        return float(np.sqrt(square))

    def truth(self) -> Truth:
        return (np.asarray((self.mean_a - self.mean_b) / self._spread()),)

    def left_open(self, n_test: int, levels: FloatArray) -> tuple[float, Truth]:
        from scipy.special import chdtri, ndtri

        sigma = self._spread() * np.sqrt((n_test - 1) / chdtri(n_test - 1, levels))[:, None]
        gap = self.mean_a - self.mean_b + sigma / np.sqrt(n_test) * ndtri(levels)[None, :]
        return 1 - self.p_false(n_test), (gap / sigma,)

    @staticmethod
    def made(truth: Truth, n_test: int, level: float) -> FloatArray:
        from scipy.special import ndtr, stdtrit

        freedom = n_test - 1
        limit = -stdtrit(freedom, level)
        centre = np.sqrt(n_test) * truth[0] - limit * (1 - 1 / (4 * freedom))
        return np.asarray(ndtr(centre / np.sqrt(1 + limit**2 / 2 / freedom)))


Gap = GapOfAccuracies | GapOfMeans


def smallest_size(probability_at: Callable[[int], float], level: float) -> int:
    """Smallest number of items from which a probability that falls with it is at most ``level``.

    Raises
    ------
    InputError
        Not even a thousand million items are enough, or a level outside (0, 1/2).
    """
    LEVEL.check(level, "level")
    low, high = 1, 2
    while not probability_at(high) <= level:
        low, high = high, 2 * high
        if high > _MOST:
            raise InputError("no test set is large enough: the two are too close")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if probability_at(middle) <= level else (middle, high)
    return high


def claim_test_size(
    accuracy_a: float, accuracy_b: float, congruence: Congruence = None, *, level: float = 0.05
) -> int:
    """Test items that make a claim of these accuracies false with probability ``level`` at most.

    Parameters are those of ``GapOfAccuracies``.

    Examples
    --------
    >>> claim_test_size(0.90, 0.88, "independent")
    1330
    """
    return smallest_size(GapOfAccuracies(accuracy_a, accuracy_b, congruence).p_false, level)


def claim_test_size_of_means(
    mean_a: float,
    mean_b: float,
    sd: tuple[float, float],
    *,
    correlation: float | None = None,
    level: float = 0.05,
) -> int:
    """Cases that make a claim of these means false with probability ``level`` at most.

    Parameters are those of ``GapOfMeans``.

    Examples
    --------
    >>> claim_test_size_of_means(0.81, 0.80, (0.1, 0.1), correlation=0.7)
    165
    """
    return smallest_size(GapOfMeans(mean_a, mean_b, sd, correlation).p_false, level)


def powered_size(gap: Gap, *, level: float = 0.05, power: float = 0.8) -> int:
    """Items on which the claim is made with probability ``power``, if this is the true gap.

    The claim of ``claim_test_size`` items is made about every second time only.

    Parameters
    ----------
    gap : GapOfAccuracies or GapOfMeans
        The truth, which fresh items then vary about.
    level : float
        A claim is made where it is false with at most this probability.
    power : float

    Examples
    --------
    >>> claim_test_size(0.90, 0.88), powered_size(GapOfAccuracies(0.90, 0.88))
    (1330, 3028)
    >>> powered_size(GapOfMeans(0.81, 0.80, (0.1, 0.1), 0.7))
    373
    """
    ASSURANCE.check(power, "power")
    truth = gap.truth()
    return smallest_size(lambda n: 1 - float(gap.made(truth, n, level)), 1 - power)


def assured_size(
    gap: Gap, n_test: int, *, level: float = 0.05, assurance: float = 0.8
) -> tuple[int | None, float]:
    """Fresh items on which the claim would be made with probability ``assurance``.

    Parameters
    ----------
    gap : GapOfAccuracies or GapOfMeans
        What was observed.
    n_test : int
        On how many items.
    level : float
        A claim is made where it is false with at most this probability.
    assurance : float
        Probability, over what the observed items leave open and over fresh items, of a claim.

    Returns
    -------
    size, highest : int or None, float
        None where no size is enough: with the probability ``highest`` that A is truly better no
        claim is sure to come.

    Examples
    --------
    >>> size, highest = assured_size(GapOfAccuracies(0.90, 0.88, 0.85), 2000)
    >>> size > claim_test_size(0.90, 0.88, 0.85), round(highest, 2)
    (True, 1.0)
    """
    ASSURANCE.check(assurance, "assurance")
    x, w = np.polynomial.legendre.leggauss(_LEVELS)
    (highest, truths), weights = gap.left_open(n_test, (x + 1) / 2), w / 2

    def missed(n: int) -> float:
        return 1 - float(weights @ gap.made(truths, n, level) @ weights)

    if highest <= assurance or missed(_MOST) > 1 - assurance:
        return None, highest
    return smallest_size(missed, 1 - assurance), highest


def required_sizes(
    accuracy: float,
    gaps: Sequence[float],
    assumptions: Mapping[str, Congruence],
    *,
    level: float = 0.05,
) -> list[tuple[float, str, int]]:
    """Test items that claims of several gaps need, under several congruences.

    Parameters
    ----------
    accuracy : float
        Of A; B is below it by each gap.
    gaps : sequence of float
    assumptions : mapping of name -> congruence
        As in ``false_claim_probability``; a number is a share that every gap must allow.
    level : float

    Returns
    -------
    list of (gap, name, items)

    Examples
    --------
    >>> required_sizes(0.90, [0.01, 0.02], {"independent": "independent"})
    [(0.01, 'independent', 5091), (0.02, 'independent', 1330)]
    """
    return [
        (float(gap), name, claim_test_size(accuracy, accuracy - gap, shared, level=level))
        for name, shared in assumptions.items()
        for gap in gaps
    ]
