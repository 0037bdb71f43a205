"""How many test items a claim of a given gap needs.

At the observed gap: the smallest test set on which the same accuracies, or means, would make the
probability of a false claim small. At a true gap: the smallest on which that happens with a given
power. With assurance: the smallest on which it happens with a given probability, when the truth is
what the observed test set leaves open and fresh items are drawn.
``summary_plans`` makes a report of a ``ClaimPlan``;
``tests/claims/test_planning.py`` counts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, chdtri, ndtr, ndtri, stdtrit

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.congruence import Congruence, congruence_at, congruence_of_odds_ratio
from bayes_sota.claims.means import ReportedMeans, spread_of_differences
from bayes_sota.core.arguments import ASSURANCE, LEVEL
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import chance
from bayes_sota.core.types import FloatArray

_MOST = 10**9
_LEVELS = 160  # nodes of a posterior
_ODDS_RATIO = 60.0  # median of real pairs of close classifiers (docs/measured/claims.md)
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
        mistakes: its average over all tables depends on the size itself.
    """

    accuracy_a: float
    accuracy_b: float
    congruence: Congruence = None

    def __post_init__(self) -> None:
        if self.accuracy_a == self.accuracy_b:
            raise InputError("equal accuracies never make a claim, whatever the size")

    @property
    def _shared(self) -> Congruence:
        return "independent" if self.congruence is None else self.congruence

    def p_false(self, n_test: int) -> float:
        """Probability that the claim is false, if this was observed on so many items."""
        a, b = self.accuracy_a, self.accuracy_b
        return float(false_claim_probability(a, b, n_test, self._shared))

    def describe(self) -> dict[str, Any]:
        """Gap, accuracies and congruence, as ``bayes-sota claim plan --json`` has them."""
        value, assumption = None, str(self._shared)
        if isinstance(self.congruence, int | float):
            value, assumption = self.congruence, "given"
        return {
            "gap": self.accuracy_a - self.accuracy_b,
            "accuracy": [self.accuracy_a, self.accuracy_b],
            "congruence": {"value": value, "assumption": assumption},
        }

    def _alone(self) -> tuple[float, float]:
        """Share of items that A alone gets right, and that B alone does."""
        a, b = np.asarray(self.accuracy_a, np.float64), np.asarray(self.accuracy_b, np.float64)
        both = float(congruence_at(a, b, self._shared))
        return self.accuracy_a - both, self.accuracy_b - both

    def truth(self) -> Truth:
        """Difference and sum of the two shares, if this gap is the truth."""
        first, second = self._alone()
        return np.asarray(first - second), np.asarray(first + second)

    def left_open(self, n_test: int, levels: FloatArray) -> tuple[float, Truth]:
        """P(A is better) given so many items, and the truth at levels of its posterior."""
        both = self.accuracy_a - self._alone()[0]
        x1, x2 = n_test * (self.accuracy_a - both), n_test * (self.accuracy_b - both)
        share = 2 * betaincinv(x1 + 1, x2 + 1, levels)[:, None] - 1
        total = betaincinv(x1 + x2 + 2, n_test - x1 - x2 + 2, levels)[None, :]
        known = GapOfAccuracies(self.accuracy_a, self.accuracy_b, both)
        return 1 - known.p_false(n_test), (total * share, total)

    @staticmethod
    def made(truth: Truth, n_test: int, level: float) -> FloatArray:
        """Probability that so many fresh items make the claim."""
        gap, total = truth
        centre = np.sqrt(n_test) * gap - ndtri(1 - level) * np.sqrt(total)
        variance = np.maximum(total - gap**2, np.finfo(float).tiny)  # 0 if all differ one way
        return ndtr(centre / np.sqrt(variance))


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
        known: Any = {"sd": self.sd, "correlation": self.pairwise_correlation, "bounds": None}
        return float(ReportedMeans(self.mean_a, self.mean_b, n_test, **known).p_false())

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
            raise InputError(
                "power and assurance of means need {name}", parameter="pairwise_correlation"
            )
        known = map(np.asarray, (*self.sd, self.pairwise_correlation))
        spread = float(spread_of_differences(*known))
        if not spread > 0:
            raise InputError("cases that all differ by the same amount need no planning")
        return spread

    def truth(self) -> Truth:
        return (np.asarray((self.mean_a - self.mean_b) / self._spread()),)

    def left_open(self, n_test: int, levels: FloatArray) -> tuple[float, Truth]:
        sigma = self._spread() * np.sqrt((n_test - 1) / chdtri(n_test - 1, levels))[:, None]
        gap = self.mean_a - self.mean_b + sigma / np.sqrt(n_test) * ndtri(levels)[None, :]
        return 1 - self.p_false(n_test), (gap / sigma,)

    @staticmethod
    def made(truth: Truth, n_test: int, level: float) -> FloatArray:
        freedom = n_test - 1
        limit = -stdtrit(freedom, level)
        centre = np.sqrt(n_test) * truth[0] - limit * (1 - 1 / (4 * freedom))
        return ndtr(centre / np.sqrt(1 + limit**2 / 2 / freedom))


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


@dataclass(frozen=True)
class ClaimPlan:
    """Test items that a claim of one gap needs.

    Attributes
    ----------
    gap : GapOfAccuracies or GapOfMeans
    level : float
        A claim is made where it is false with at most this probability.
    n_needed : int
        Items, if exactly this gap is observed.
    power, n_for_power : float, int or None
        Items for a claim with this probability if this is the true gap; None where the correlation
        is not known.
    n_test : int or None
        Items observed so far.
    assurance, n_assured, highest_assurance : float or None, int or None, float or None
        Fresh items for a claim with this probability after the observed ones; None where no size
        has more than the highest.
    """

    gap: Gap
    level: float
    n_needed: int
    power: float
    n_for_power: int | None
    n_test: int | None = None
    assurance: float | None = None
    n_assured: int | None = None
    highest_assurance: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python objects."""
        names = ["level", "n_needed", "power", "n_for_power", "n_test"]
        names += ["assurance", "n_assured", "highest_assurance"] * (self.n_test is not None)
        content = {name: getattr(self, name) for name in names}
        return {**content, **self.gap.describe(), "notes": list(self.notes())}

    def notes(self) -> Iterator[str]:
        """What is missing and why, and what is assumed."""
        if self.n_for_power is None:
            yield "items for a given power need --pairwise-correlation"
        if isinstance(self.gap, GapOfAccuracies) and self.gap.congruence is None:
            shared = congruence_of_odds_ratio(self.gap.accuracy_a, self.gap.accuracy_b, _ODDS_RATIO)
            yield (
                f"real classifiers share more of their mistakes: an odds ratio of {_ODDS_RATIO:g}, "
                f"--congruence {float(shared):.3g} here, is typical of close ones "
                "(docs/measured/claims.md) and asks for fewer items"
            )
        if self.highest_assurance is not None and self.n_assured is None:
            yield (
                f"no size makes the claim with probability {self.assurance:g}: after "
                f"{self.n_test:,} items A is the better one with probability "
                f"{chance(self.highest_assurance)}"
            )


def plan_claim(
    gap: Gap,
    *,
    level: float = 0.05,
    power: float = 0.8,
    n_test: int | None = None,
    assurance: float = 0.8,
) -> ClaimPlan:
    """Test items that a claim needs at a gap: observed, true, or left open by what was observed.

    Parameters
    ----------
    gap : GapOfAccuracies or GapOfMeans
    level : float
        A claim is made where it is false with at most this probability.
    power : float
        Probability of a claim if this is the true gap.
    n_test : int, optional
        Items observed so far; adds the fresh items that make the claim with ``assurance``.
    assurance : float

    Examples
    --------
    >>> plan = plan_claim(GapOfAccuracies(0.90, 0.88))
    >>> plan.n_needed, plan.n_for_power
    (1330, 3028)
    """
    needed, for_power = smallest_size(gap.p_false, level), None
    if not isinstance(gap, GapOfMeans) or gap.pairwise_correlation is not None:
        for_power = powered_size(gap, level=level, power=power)
    if n_test is None:
        return ClaimPlan(gap, level, needed, power, for_power)
    assured = assured_size(gap, n_test, level=level, assurance=assurance)
    return ClaimPlan(gap, level, needed, power, for_power, n_test, assurance, *assured)
