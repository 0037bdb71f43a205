"""A claim that A outperforms B, from two reported numbers: the base of both laws.

Papers leave out the *unknown*: the congruence of two accuracies, or the correlation of the cases of
two means. A fresh test set makes the claim if its P(false) is at most a level. The probability of
that is the power; *assurance* averages it over the posterior of the truth.
``tests/claims/test_planning.py`` counts simulated claims.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from bayes_sota.core.arguments import ASSURANCE, LEVEL, TRIES, Points, Range, check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import LEAST_PERCENT, parse_number

MOST_ITEMS = 10**9
_NODES = 64
_LEVELS = 160  # of a posterior
_FEW = (16, 40)
_CELLS = 2**48  # of the unknown

type Truth = tuple[FloatArray, ...]
_legendre = cache(np.polynomial.legendre.leggauss)
_LARGEST_RATIO = 1e120
SLACK = 1e-9  # by which rounding errors may pass a bound


class Domain(NamedTuple):
    """Odds ratios of pairs whose accuracies differ by at most 0.02: median, 5 % and 95 %."""

    odds_ratio: float
    low: float
    high: float
    measured_on: str


DOMAINS = {
    "image-classifiers": Domain(62, 27, 110, "158 pairs of networks on 10,000 items of CIFAR-10"),
    "language-models": Domain(5.5, 1.6, 26, "122 pairs on benchmarks of 479 to 2,854 items"),
    "tabular": Domain(71, 17, 446, "9,594 pairs of scikit-learn models on 1,497 items of digits"),
}  # measured in docs/measured/claims.md


def gauss(count: int, low: float = 0.0, high: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes between two ends, and weights that sum to 1."""
    x, weights = _legendre(count)
    return low + (high - low) * (x + 1) / 2, weights / 2


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """Claim that A (``a``) outperforms B (``b``) on ``n`` items: ``Accuracies`` or ``Means``."""

    a: float
    b: float
    n: int
    known: float | None = None

    unknown: ClassVar[str]
    item: ClassVar[str]
    what: ClassVar[str]

    @property
    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """Least and largest value of the unknown."""

    @property
    def typical(self) -> tuple[float, float, float] | None:
        """Typical values of the unknown, if any: median, and ends of the 90 % range."""
        return None

    @property
    def plausible(self) -> tuple[float, float]:
        return self.typical[1:] if self.typical else self.ends

    @property
    def value(self) -> float | None:
        """The unknown if it is known, typical, or without effect."""
        if self.known is not None:
            return self.known
        if self.typical:
            return self.typical[0]
        return None if self.is_open else self.ends[0]

    @property
    def is_open(self) -> bool:
        return self.known is None and self.ends[0] < self.ends[1]

    @property
    def assumption(self) -> str:
        if self.known is not None:
            return "given"
        return "averaged" if self.is_open else "not needed"

    @abstractmethod
    def at(self, unknown: ArrayLike, n: float | None = None) -> FloatArray:
        """P(false) at values of the unknown, on ``n`` items."""

    @abstractmethod
    def difference_at_most(self, q: float) -> float:
        """Posterior probability that A is better by at most ``q``."""

    @abstractmethod
    def truth(self, unknown: FloatArray) -> Truth:
        """Parameters of ``made``, if the reported numbers are the truth."""

    @abstractmethod
    def left_open(self, unknown: float, levels: FloatArray) -> Truth:
        """Parameters of ``made`` at levels of their posterior, each (levels, levels)."""

    @abstractmethod
    def made(self, truth: Truth, n: int, level: float) -> FloatArray:
        """Probability that ``n`` fresh items make the claim."""

    @abstractmethod
    def draw(self, size: int, rng: np.random.Generator) -> dict[str, dict[str, FloatArray]]:
        """Draws of the variables of each group of a result."""

    @abstractmethod
    def best_of(self, tries: tuple[float, float]) -> Sequence[float] | FloatArray:
        """P(false) of one and of several tries, by a law for their ratio."""

    def assumed(self, count: int = _NODES) -> tuple[FloatArray, FloatArray]:
        """Nodes of the unknown and their weights."""
        if self.value is not None:
            return np.array([self.value]), np.ones(1)
        return gauss(count, *self.ends)

    def p_false(self, n: float | None = None) -> float:
        """Probability that B is at least as good as A, on ``n`` items."""
        unknown, weights = self.assumed()
        return float(weights @ self.at(unknown, n))

    def p_range(self) -> tuple[float, float]:
        """Least and largest P(false) over the plausible unknown."""
        if not self.is_open:
            return (self.p_false(),) * 2
        low, high = self.at(self.plausible[::-1]).tolist()
        return low, high

    def size_range(self, level: float = 0.05) -> tuple[int | None, int | None]:
        """``size`` at the most and at the least favourable plausible value."""
        low, high = self.plausible[::-1] if self.is_open else (self.known, self.known)
        return replace(self, known=low).size(level), replace(self, known=high).size(level)

    def curve(self, points: int = 201) -> FloatArray:
        """The unknown from end to end, and P(false), (points, 2)."""
        unknown = np.linspace(*self.ends, points)
        return np.column_stack([unknown, self.at(unknown)])

    def needed(self, level: float, at: Callable[[Any], Any] | None = None) -> float | None:
        """Least value of the unknown at which P(false) is at most ``level``, or None."""
        (low, high), at = self.ends, at or self.at
        place = partial(np.interp, xp=[0, _CELLS], fp=[low, high])
        cell = bisect_left(range(_CELLS + 1), True, key=lambda k: bool(at(place(k)) <= level))
        return float(place(cell)) if cell <= _CELLS else None

    def rope(self, half_width: float) -> dict[str, float]:
        """Probabilities that A is better by more than a half-width, within it, or worse by more."""
        return rope_of(self.difference_at_most, half_width)

    def size(self, level: float = 0.05) -> int | None:
        """Items from which P(false) of the same numbers is at most ``level``, or None."""
        LEVEL.check(level, "level")
        return smallest(lambda n: self.p_false(n) <= level)

    def powered_size(self, level: float = 0.05, power: float = 0.8) -> int | None:
        """Items that make the claim with this power if these numbers are the truth, or None."""
        LEVEL.check(level, "level")
        ASSURANCE.check(power, "power")
        unknown, weights = self.assumed()
        truth = self.truth(unknown)
        return smallest(lambda n: weights @ self.made(truth, n, level) >= power)

    def assured_size(self, level: float = 0.05, assurance: float = 0.8) -> int | None:
        """Fresh items that make the claim with this probability, if below ``1 - p_false()``."""
        LEVEL.check(level, "level")
        ASSURANCE.check(assurance, "assurance")
        unknown, weights = self.assumed(_FEW[0])
        levels, of_levels = gauss(_LEVELS if len(unknown) == 1 else _FEW[1])
        open_truths = [self.left_open(float(u), levels) for u in unknown]
        truth = tuple(np.stack(parts) for parts in zip(*open_truths, strict=True))
        if 1 - self.p_false() <= assurance:
            return None
        return smallest(
            lambda n: weights @ (self.made(truth, n, level) @ of_levels @ of_levels) >= assurance
        )

    def p_false_of_best(self, tries: float, single: float | None = None) -> float:
        """P(false) if A is the best of several tries of equal skill; ``single`` is that of one."""
        TRIES.check(tries, "tries")
        single = self.p_false() if single is None else single
        one, best = self.best_of((1.0, tries))
        if not 0 < single < 1 or not 0 < one <= best < 1:
            return single
        return float(expit(logit(single) + logit(best) - logit(one)))


def rope_of(at_most: Callable[[float], float], half_width: float) -> dict[str, float]:
    """Probabilities above, within and below a region around 0, by the cdf of a difference."""
    above, below = max(1 - at_most(half_width), 0.0), max(at_most(-half_width), 0.0)
    inside = max(1 - above - below, 0.0)
    return {"half_width": half_width, "a_better": above, "equivalent": inside, "b_better": below}


def smallest(enough: Callable[[int], Any]) -> int | None:
    """Least number of items from which a condition holds, or None."""
    found = 2 + bisect_left(range(2, MOST_ITEMS), True, key=lambda n: bool(enough(n)))
    return found if found < MOST_ITEMS else None


def checked_pair(
    a: ArrayLike, b: ArrayLike, n: ArrayLike, what: str, bounds: tuple[float, float] | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Both numbers, and the numbers of items."""
    of_a, of_b, size = (np.asarray(x, np.float64) for x in (a, b, n))
    allowed = Range(*bounds or (-np.inf, np.inf), percent=what != "mean")
    for value in (of_a, of_b):
        wrong = value[~((value >= allowed.low) & (value <= allowed.high) & np.isfinite(value))]
        if wrong.size:
            error = allowed.refusal(what, f"{wrong[0]:g}", wrong[0])
            minus = "a distance needs a minus sign (-7.5) and its SDs (in Python bounds=None too)"
            error.fix = f"{minus}, percent its sign (7.5%)" * (what == "mean")
            raise error
    if np.any(of_a < of_b):
        minus = "if lower is better (a distance), write both with a minus sign and their SDs; else "
        below = f"A is the reported winner, but its {what} is below B's"
        is_positive = bool(what == "mean" and np.any(of_b > 0))
        raise InputError(f"{below}: {minus * is_positive}exchange the two")
    if not np.all((size >= 2) & (size == np.floor(size)) & (size <= MOST_ITEMS)):
        raise Range(2, MOST_ITEMS, whole=True).refusal("n_test", n, n)
    return of_a, of_b, size


def as_shares(typed: Sequence[Any]) -> tuple[tuple[str, str], list[str]]:
    """Two shares with their digits, and a note if they are read as percent.

    Examples
    --------
    >>> as_shares(["91.2%", "0.90"]), as_shares(["90.0", "90.5"])
    ((('0.912', '0.90'), []), (('0.900', '0.905'), ['90.0 and 90.5 are read as percent']))
    """
    texts = [str(text).strip() for text in typed]
    numbers = [parse_number(text.removesuffix("%")) for text in texts]
    if None in numbers:
        wrong = texts[numbers.index(None)]
        raise InputError(f"scores are numbers in [0, 1] or in percent, got {wrong!r}")
    signed = [text.endswith("%") for text in texts]
    values: Any = numbers
    bare = not any(signed) and all(LEAST_PERCENT <= value <= 100 for value in values)
    a, b = (
        str(value.scaleb(-2)) if bare or sign else text
        for value, sign, text in zip(values, signed, texts, strict=True)
    )
    return (a, b), [f"{' and '.join(texts)} are read as percent"] * bare


def sds_as_shares(sds: Sequence[float], in_percent: bool | None) -> tuple[list[float], list[str]]:
    """Standard deviations as shares, and a note if they are read as percent.

    They are if the means are or one exceeds 1; beside other means (``in_percent=None``) they stay.

    Examples
    --------
    >>> sds_as_shares([12.0, 10.0], True)
    ([0.12, 0.1], ['standard deviations are read as percent'])
    """
    bare = [sd for sd in sds if not isinstance(sd, Points)]
    largest = max(bare, default=0.0)
    if in_percent is False and largest > 1 and 0 < min(bare) < 1:
        raise InputError(
            f"the standard deviations {min(bare):g} and {largest:g} look like a share and percent: "
            "write % behind those in percent"
        )
    if in_percent and 0 < largest < 1:
        raise InputError(
            f"the means are in percent, and a standard deviation of {largest:g} may be a share or "
            f"in percent: write {100 * largest:g}% or {largest:g}%"
        )
    if not sds or in_percent is None or (not in_percent and max(sds) <= 1):
        return [*sds], []
    shares = [sd if isinstance(sd, Points) else sd / 100 for sd in sds]
    return shares, ["standard deviations are read as percent"]


def congruence_bounds(accuracy_a: ArrayLike, accuracy_b: ArrayLike) -> tuple[Any, Any]:
    """Least and largest share of items that both can get right."""
    a, b = np.asarray(accuracy_a, np.float64), np.asarray(accuracy_b, np.float64)
    high = np.minimum(a, b)  # where A has all items right both ends are the same number
    return np.minimum(np.maximum(0.0, np.round(a + b - 1, 14)), high), high


def congruence_of_odds_ratio(
    accuracy_a: ArrayLike, accuracy_b: ArrayLike, odds_ratio: ArrayLike
) -> Any:
    r"""Congruence at an odds ratio, feasible for every pair of margins (Plackett 1965).

    .. math:: \psi = \frac{p_{11}\, p_{00}}{p_{10}\, p_{01}}

    1 is independence, 0 and infinity are the bounds.

    Examples
    --------
    >>> float(congruence_of_odds_ratio(0.9, 0.8, 1.0).round(12))
    0.72
    """
    a, b = np.asarray(accuracy_a, np.float64), np.asarray(accuracy_b, np.float64)
    psi = np.clip(np.asarray(odds_ratio, np.float64), 0.0, _LARGEST_RATIO)
    s = 1 + (a + b) * (psi - 1)
    root = np.sqrt(np.maximum(s**2 - 4 * psi * (psi - 1) * a * b, 0.0))
    # the same root of the quadratic in two forms, each where nothing cancels
    positive = s > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(
            positive, 2 * psi * a * b / np.where(positive, s + root, 1), (s - root) / (2 * psi - 2)
        )


def congruence_at(accuracy_a: FloatArray, accuracy_b: FloatArray, congruence: Any) -> FloatArray:
    """Congruence of each pair: known, at a bound, or of independent mistakes."""
    low, high = congruence_bounds(accuracy_a, accuracy_b)
    if isinstance(congruence, str):
        known_at = {"min": low, "max": high, "independent": accuracy_a * accuracy_b}
        check_choice("congruence", congruence, known_at)
        return known_at[congruence]
    p11 = np.asarray(congruence, np.float64)
    wrong = ~((p11 >= low - SLACK) & (p11 <= high + SLACK))
    if np.any(wrong):
        least, most, got = (float(x[wrong][0]) for x in np.broadcast_arrays(low, high, p11))
        allowed = f"between {least:.6g} and {most:.6g}, the bounds at these accuracies"
        raise InputError(f"the congruence must lie {allowed}, got {got:g}")
    return np.clip(p11, low, high)
