r"""Probability that "A outperforms B" is false, from two reported accuracies or means.

Both laws are those of *Claims Reloaded* (after Christodoulou et al. 2025, arXiv 2505.04720).

**Accuracies.** With p1 the probability that A alone is right on an item, p2 that B alone is, and a
flat Dirichlet prior,

.. math:: P(p_1 \le p_2 \mid x_1, x_2) = I_{1/2}(x_1 + 1,\; x_2 + 1), \quad
          x_1 = n(\hat p_A - \hat p_{11}), \; x_2 = n(\hat p_B - \hat p_{11})

If the congruence ``p11`` is unknown, all numbers of items that both got right are equally probable,
so that the answer is a finite average. If A is the best of K tries of equal skill, whose answers
correlate by r as A's and B's do, and board-conditional skills :math:`\psi` have a flat prior,

.. math:: P(\psi_A \le \psi_B) \propto \int \big[F(x_A \mid \psi)^K - F(x_A - 1 \mid \psi)^K\big]\,
          P(\psi_B \ge \psi \mid x_B)\, d\psi

with binomial laws of :math:`n / (1 - r)` items. What K tries add to the log odds of this law is
added to those of the exact answer.

**Means of cases** (Dice). With the Student cdf, where the source's text says quantile, and r the
correlation of the two methods' cases,

.. math:: P(\mu_A \le \mu_B) = T_{n-1}\Big(\sqrt n\,
          \frac{\hat\mu_B - \hat\mu_A}{\sqrt{s_A^2 + s_B^2 - 2 r s_A s_B}}\Big)

If A is the best of K tries of equal skill,

.. math:: P(\mu_A \le \mu_B) = E_t\, \Phi\!\Big(\frac{t\, \sigma_A - (\hat\mu_A - \hat\mu_B)}
          {\sqrt{\sigma^2 - \sigma_A^2}}\Big), \quad
          \sigma_A^2 = \frac{(1 - r^+) s_A^2}{n}, \quad
          \sigma^2 = \frac{s_A^2 + s_B^2 - 2 r s_A s_B}{n}

with t the largest of K standard normal variables, averaged over the posterior of the SDs.

**Printed numbers** are rounded. All tables of n items are equally probable, so that printed
accuracies leave

.. math:: P(x_A, x_B \mid \text{printed}) \propto T(x_A, x_B), \quad x_A \ge x_B

with T the number of tables with these margins. An accuracy that no count gives is impossible (the
GRIM check of Brown & Heathers 2017, doi 10.1177/1948550616673876). Printed means are uniform within
half a unit of their last digit, with A's not below B's.

``tests/claims/test_accuracies.py`` compares with the source's Monte Carlo and sums over all tables,
``test_means.py`` with SciPy's paired t test, ``test_best_of.py`` with simulated tries.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, betaln, chdtri, ndtr, ndtri, poch, stdtr, stdtrit

from bayes_sota.claims.claim import (
    DOMAINS,
    SLACK,
    Claim,
    Truth,
    checked_pair,
    congruence_at,
    congruence_bounds,
    congruence_of_odds_ratio,
    gauss,
)
from bayes_sota.core.arguments import NOT_NEGATIVE, PAIRWISE, POSITIVE, SHARE
from bayes_sota.core.errors import ImpossibleAccuracyError, InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import count_bounds, parse_scores

OUTCOMES = ("both", "only_a", "only_b", "none")
_TABLES, _NODES = 64, 32  # summed one by one; nodes for others
_FEW_CONGRUENCES = 32
_ROPE_NODES = 96
_TRY_NODES, _REACH, _LEAST_DISPERSION = 160, 16.0, 1e-3  # of the best try; reach in its errors
_TRY_NODES_OF_MEANS = 64
_LEAST_SPREAD = 1e-200
_WHOLE = 64  # counts that print alike and are looked at one by one
_COUNT_NODES = 12
_GAPS = 32


def false_claim_probability(
    accuracy_a: ArrayLike,
    accuracy_b: ArrayLike,
    n_test: ArrayLike,
    congruence: ArrayLike | None = None,
) -> Any:
    """Probability that B is at least as good as A, although A has the better accuracy.

    Parameters
    ----------
    accuracy_a, accuracy_b : array_like
        Accuracies of the reported winner and of the other, in [0, 1], taken as exact.
    n_test : array_like of int
        Number of test items.
    congruence : array_like, "min", "max", "independent" or None
        Share of items that both got right: known, at a bound, the product of the accuracies, or
        averaged over all that they allow.

    Returns
    -------
    ndarray or float

    Raises
    ------
    InputError
        Accuracies outside [0, 1], A below B, fewer than two items, an impossible congruence.

    Examples
    --------
    >>> round(float(false_claim_probability(0.90, 0.88, 500)), 3)
    0.093
    """
    a, b, n = checked_pair(accuracy_a, accuracy_b, n_test, "accuracy", (0.0, 1.0))
    if congruence is None:
        p = _averaged(a * n, b * n, n)
    else:
        p11 = congruence_at(a, b, congruence)
        p = _at_most_half(n * (a - p11), n * (b - p11))
    return float(p) if np.ndim(p) == 0 else p


@dataclass(frozen=True, kw_only=True)
class Accuracies(Claim):
    """The claim that A outperforms B, from two accuracies on the same items.

    Parameters
    ----------
    a, b : float
        Accuracies of A, the reported winner, and of B, in [0, 1].
    n : int
        Number of test items.
    known : float, optional
        Congruence: share of items that both got right. Default: averaged.
    domain : {"image-classifiers", "language-models", "tabular"}, optional
        Take the typical congruence of close pairs there.

    Raises
    ------
    InputError
        As in ``false_claim_probability``.

    Examples
    --------
    >>> claim = Accuracies(a=0.90, b=0.88, n=500)
    >>> round(claim.p_false(), 3), claim.size(0.05), claim.powered_size(0.05, power=0.8)
    (0.093, 826, 1830)
    """

    domain: str | None = None

    unknown: ClassVar[str] = "congruence"
    item: ClassVar[str] = "item"
    what: ClassVar[str] = "accuracy"

    def __post_init__(self) -> None:
        false_claim_probability(self.a, self.b, self.n, self.known)  # checks
        SHARE.check(self.a, "a")  # refuses text
        SHARE.check(self.b, "b")

    @property
    def ends(self) -> tuple[float, float]:
        low, high = congruence_bounds(self.a, self.b)
        return float(low), float(high)

    @property
    def typical(self) -> tuple[float, float, float] | None:
        if self.domain is None:
            return None
        middle, low, high = congruence_of_odds_ratio(self.a, self.b, DOMAINS[self.domain][:3])
        return float(middle), float(low), float(high)

    @property
    def assumption(self) -> str:
        known = super().assumption
        return f"typical of {self.domain}" if self.domain and known == "averaged" else known

    def at(self, unknown: ArrayLike, n: float | None = None) -> FloatArray:
        n, shared = n or self.n, np.asarray(unknown, np.float64)
        return _at_most_half(n * (self.a - shared), n * (self.b - shared))

    def p_false(self, n: float | None = None) -> float:
        """Interpolated between sizes that allow whole numbers of tables."""
        if self.value is not None:
            return super().p_false(n)
        if n is None or n == self.n:
            return float(false_claim_probability(self.a, self.b, self.n))
        width = min(self.b, 1 - self.a)
        below = np.floor(n * width + SLACK)
        sizes = np.array([below, below + 1]) / width
        first, last = _averaged(self.a * sizes, self.b * sizes, sizes).tolist()
        return float(first + (n * width - below) * (last - first))

    def p_false_jeffreys(self) -> float:
        r"""With 1/2 for each cell; tables weigh :math:`\prod_c \Gamma(x_c + 1/2) / x_c!`."""
        a, b = self.n * self.a, self.n * self.b
        only_b = np.array([b - self.n * (self.value or 0.0)])
        if self.value is None:
            only_b = np.arange(_numbers(a, b, float(self.n)))
        cells = np.maximum([b - only_b, a - b + only_b, only_b, self.n - a - only_b], 0.0)
        weights = poch(cells + 1, -0.5).prod(axis=0)
        return float(weights @ betainc(cells[1] + 0.5, cells[2] + 0.5, 0.5) / weights.sum())

    def difference_at_most(self, q: float) -> float:
        r""":math:`E_s\, I_{(1 + q/s)/2}(x_1 + 1, x_2 + 1)` with :math:`s = p_1 + p_2`, a Beta."""
        x1, x2 = self.n * self.a, self.n * self.b
        if self.value is not None:
            both = self.n * self.value
            return float(at_most(q, x1 - both, x2 - both, self.n)[0])
        only_b, weights = _tables(_numbers(x1, x2, float(self.n)))
        return float(weights @ at_most(q, x1 - x2 + only_b, only_b, self.n))

    def truth(self, unknown: FloatArray) -> Truth:
        """Difference and sum of p1 and p2."""
        return np.full(unknown.shape, self.a - self.b), self.a + self.b - 2 * unknown

    def left_open(self, unknown: float, levels: FloatArray) -> Truth:
        """As p1 / (p1 + p2) and p1 + p2 are independent Beta."""
        x1, x2 = self.n * (self.a - unknown), self.n * (self.b - unknown)
        share = 2 * betaincinv(x1 + 1, x2 + 1, levels)[:, None] - 1
        total = betaincinv(x1 + x2 + 2, self.n - x1 - x2 + 2, levels)[None, :]
        return total * share, np.broadcast_to(total, (len(levels),) * 2)

    def made(self, truth: Truth, n: int, level: float) -> FloatArray:
        r""":math:`\Phi\big((\sqrt n\, d - z \sqrt s) / \sqrt{s - d^2}\big)`, difference and sum."""
        gap, total = truth
        centre = np.sqrt(n) * gap - ndtri(1 - level) * np.sqrt(total)
        variance = np.maximum(total - gap**2, np.finfo(float).tiny)  # 0 if all differ one way
        return ndtr(centre / np.sqrt(variance))

    def draw(self, size: int, rng: np.random.Generator) -> dict[str, dict[str, FloatArray]]:
        right_a, right_b = self.n * self.a, self.n * self.b
        only_b: Any = right_b - self.n * (self.value or 0.0)
        if self.value is None:
            only_b = rng.integers(_numbers(right_a, right_b, float(self.n)), size=size)
        both = np.full(size, right_b - only_b)
        counts = [both, right_a - both, right_b - both, self.n - right_a - right_b + both]
        gammas = rng.standard_gamma(np.maximum(np.column_stack(counts), 0.0) + 1)
        drawn = {
            "posterior": gammas / gammas.sum(axis=1, keepdims=True),
            "prior": rng.dirichlet(np.ones(4), size),
        }
        found = dict[str, dict[str, FloatArray]]()
        for name, p in drawn.items():
            table = rng.multinomial(self.n, p)
            fresh = table[:, [1, 2]] + table[:, [0]]
            found[f"{name}_predictive"] = {"accuracy": fresh / self.n}
            skill = p[:, [1, 2]] + p[:, [0]]
            found[name] = {"p": p, "congruence": p[:, 0], "skill": skill}
            found[name]["difference"] = p[:, 1] - p[:, 2]
        return found

    def best_of(self, tries: tuple[float, float]) -> FloatArray:
        unknown, weights = self.assumed(_FEW_CONGRUENCES)
        spread = (self.a * (1 - self.a) * self.b * (1 - self.b)) ** 0.5
        shared = (unknown - self.a * self.b) / (spread or 1.0)
        return np.asarray(weights @ [self._not_above(1 - r, tries) for r in shared])

    def _not_above(self, dispersion: float, tries: tuple[float, float]) -> list[float]:
        d, n = max(dispersion, _LEAST_DISPERSION), self.n
        error = np.sqrt((self.a * (1 - self.a) + d / n) * d / n)
        low, high = max(self.a - _REACH * error, 0.0), min(self.a + _REACH * error, 1.0)
        psi, weights = gauss(_TRY_NODES, low, high)
        below, reached = (_below(psi, n * self.a + step, n, d) for step in (0, 1))
        x = n * self.b
        rival = betainc((n - x) / d + 1, x / d + 1, 1 - psi)
        own = [weights * (reached**k - below**k) for k in tries]
        return [float(w @ rival / w.sum()) for w in own]


def _below(psi: FloatArray, count: float, n: float, dispersion: float) -> FloatArray:
    above, rest = ((x / dispersion + 0.5) for x in (count - 0.5, n - count + 0.5))
    return betainc(rest, above, 1 - psi) if rest > 0 else np.ones_like(psi)


def at_most(q: float, x1: ArrayLike, x2: ArrayLike, n: float) -> FloatArray:
    """P(p1 - p2 <= q) if A alone got ``x1`` items right, B alone ``x2``."""
    first, second = np.atleast_1d(x1) + 1.0, np.atleast_1d(x2) + 1.0
    rest = np.maximum(n + 2 - first - second, 0) + 2
    kink = betainc(first + second, rest, min(abs(q), 1.0))  # where the argument is clipped
    total = np.where(q < 0, 0.0, kink)  # below it the difference cannot reach q
    x, w = gauss(_ROPE_NODES)
    level = kink[:, None] + (1 - kink)[:, None] * x
    s = np.maximum(betaincinv((first + second)[:, None], rest[:, None], level), 1e-300)
    inside = betainc(first[:, None], second[:, None], np.clip((1 + q / s) / 2, 0.0, 1.0)) @ w
    return np.asarray(total + (1 - kink) * inside)


def _at_most_half(x1: FloatArray, x2: FloatArray) -> FloatArray:
    return np.minimum(betainc(x1 + 1, x2 + 1, 0.5), 0.5)  # rounding errors may pass the bound


def _averaged(x_a: ArrayLike, x_b: ArrayLike, n: ArrayLike) -> FloatArray:
    r"""Mean of P(p1 <= p2) over all tables with these margins, ``x_a >= x_b``.

    For m tables, with :math:`d = x_A - x_B` and :math:`h = d + m + 1`,

    .. math:: \frac1m \sum_{k=0}^{m-1} I_{1/2}(d + k + 1, k + 1) = \frac{(d^2 + d + 2m)\,
              I_{1/2}(h, m + 1) - d\, 2^{-h-m} / B(h, m + 1)}{2m}
    """
    d, m = np.subtract(x_a, x_b), _numbers(x_a, x_b, n)
    h = d + m + 1
    density = np.exp(-(h + m) * np.log(2) - betaln(h, m + 1))
    sums = (d**2 + d + 2 * m) * betainc(h, m + 1, 0.5) - d * density
    return np.asarray(np.clip(sums / (2 * m), 0.0, 0.5))


def _numbers(x_a: Any, x_b: Any, n: Any) -> Any:
    return np.floor(np.minimum(x_a, x_b) - np.maximum(0.0, x_a + x_b - n) + SLACK) + 1


def _tables(count: float) -> tuple[FloatArray, FloatArray]:
    """Numbers of items that B alone may have got right, and their weights."""
    if count <= _TABLES:
        return np.arange(count), np.full(int(count), 1 / count)
    # an integral over their root, where the integrand is smooth; first Euler-Maclaurin correction
    low, high = _TABLES**0.5, count**0.5
    root, weights = gauss(_NODES, low, high)
    ends, slopes = [_TABLES - 1, _TABLES, count - 2, count - 1], np.array([-1, 1, 1, -1]) / 24
    all_weights = [np.ones(_TABLES), 2 * root * weights * (high - low), slopes]
    return np.r_[: float(_TABLES), root**2 - 0.5, ends], np.concatenate(all_weights) / count


def imputed_sd(mean: float) -> float:
    """SD of cases by a rule of thumb for Dice."""
    return 2 / 3 * mean * (1 - mean)


@dataclass(frozen=True, kw_only=True)
class Means(Claim):
    """The claim that A outperforms B, from two means of the same cases.

    Parameters
    ----------
    a, b : float
        Means of A, the reported winner, and of B.
    n : int
        Number of cases.
    known : float, optional
        Correlation of the two methods' cases. Default: averaged over 0 to 1.
    sd : (float, float), optional
        SDs of A's and of B's cases. Default: ``2/3 mean (1 - mean)``, a rule of thumb for Dice.
    sd_difference : float, optional
        SD of the differences of cases, instead of ``known`` and ``sd``.
    bounds : (float, float), optional
        Range of a case; None for an unbounded metric.

    Raises
    ------
    InputError
        A below B, negative or impossible SDs, a correlation outside [-1, 1], fewer than two cases.

    Examples
    --------
    >>> claim = Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.1))
    >>> round(claim.p_false(), 3), claim.size(0.05)
    (0.141, 281)
    """

    sd: tuple[float, float] | None = None
    sd_difference: float | None = None
    bounds: tuple[float, float] | None = (0.0, 1.0)

    unknown: ClassVar[str] = "correlation"
    item: ClassVar[str] = "case"
    what: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        checked_pair(self.a, self.b, self.n, "mean", self.bounds)
        if self.known is not None:
            PAIRWISE.check(self.known, "pairwise_correlation")
        if self.sd_difference is not None:
            POSITIVE.check(self.sd_difference, "sd_difference")
            if not (self.sd is None and self.known is None):
                problem = "give {name} alone, or both SDs and the pairwise correlation"
                raise InputError(problem, parameter="sd_difference")
        elif self.sd is not None:
            self._check_spreads(self.sd)
            if not any(self.sd):
                raise InputError("both standard deviations are 0: give the SDs over cases")
        elif self.bounds != (0.0, 1.0):
            problem = "give the standard deviations of both methods, or {name}"
            why = "they are imputed for metrics in [0, 1] only"
            raise InputError(f"{problem}: {why}", parameter="sd_difference")

    def _check_spreads(self, sd: tuple[float, float]) -> None:
        low, high = self.bounds or (-np.inf, np.inf)
        for mean, spread in zip((self.a, self.b), sd, strict=True):
            NOT_NEGATIVE.check(spread, "sd")
            most = np.sqrt((mean - low) * (high - mean) * self.n / (self.n - 1))
            if spread > most * (1 + 1e-9):
                raise InputError(
                    f"cases between {low:g} and {high:g} with the mean {mean:g} have a standard "
                    f"deviation of at most {most:.4g}, got {spread:g}"
                )

    @property
    def spreads(self) -> tuple[float, float]:
        return self.sd or (imputed_sd(self.a), imputed_sd(self.b))

    @property
    def imputed(self) -> bool:
        return self.sd is None and self.sd_difference is None

    @property
    def ends(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.sd_difference is None else (0.0, 0.0)

    def _spread(self, unknown: ArrayLike) -> FloatArray:
        r = np.asarray(unknown, np.float64)
        if self.sd_difference is not None:
            return np.full(r.shape, self.sd_difference)
        first, second = self.spreads
        return np.sqrt(np.maximum(first**2 + second**2 - 2 * r * first * second, 0.0))

    def at(
        self, unknown: ArrayLike, n: float | None = None, gap: ArrayLike | None = None
    ) -> FloatArray:
        """P(false) of this or another ``gap``; equal means are a toss-up."""
        n, gap = n or self.n, np.asarray(self.a - self.b if gap is None else gap)
        t = np.sqrt(n) * gap / np.maximum(self._spread(unknown), _LEAST_SPREAD)
        return np.asarray(stdtr(n - 1, -t))

    def difference_at_most(self, q: float) -> float:
        unknown, weights = self.assumed()
        return float(weights @ self.at(unknown, gap=self.a - self.b - q))

    def truth(self, unknown: FloatArray) -> Truth:
        spread = self._spread(unknown)
        if not spread.all():
            raise InputError("cases that all differ by the same amount need no planning")
        return ((self.a - self.b) / spread,)

    def left_open(self, unknown: float, levels: FloatArray) -> Truth:
        scale = np.sqrt((self.n - 1) / chdtri(self.n - 1, levels))[:, None]
        of_one = self.truth(np.array([unknown]))[0][0]
        return (of_one / scale + ndtri(levels)[None, :] / np.sqrt(self.n),)

    def made(self, truth: Truth, n: int, level: float) -> FloatArray:
        """The t statistic of fresh cases is nearly normal (Johnson & Welch 1940)."""
        freedom = n - 1
        limit = -stdtrit(freedom, level)
        centre = np.sqrt(n) * truth[0] - limit * (1 - 1 / (4 * freedom))
        return ndtr(centre / np.sqrt(1 + limit**2 / 2 / freedom))

    def draw(self, size: int, rng: np.random.Generator) -> dict[str, dict[str, FloatArray]]:
        """Posterior draws, flat in d and log sigma, and differences of fresh cases."""
        r = rng.uniform(*self.ends, size) if self.is_open else np.full(size, self.known or 0.0)
        drawn = {"correlation": r} if self.sd_difference is None else {}
        sd = self._spread(r) * np.sqrt((self.n - 1) / rng.chisquare(self.n - 1, size))
        noise = sd / np.sqrt(self.n)
        difference = self.a - self.b + noise * rng.standard_normal(size)
        again = difference + noise * rng.standard_normal(size)
        return {
            "posterior": drawn | {"difference": difference, "sd_difference": sd},
            "posterior_predictive": {"mean_difference": again[:, None]},
        }

    def best_of(self, tries: tuple[float, float]) -> list[float]:
        """If only the differences are known, half of their variance is taken to be A's own."""
        unknown, weights = self.assumed()
        total = self._spread(unknown) ** 2
        own = (1 - np.maximum(unknown, 0)) * self.spreads[0] ** 2
        if self.sd_difference is not None:
            own = total / 2
        levels, w = gauss(_TRY_NODES_OF_MEANS)
        scale = np.sqrt((self.n - 1) / chdtri(self.n - 1, levels) / self.n)[:, None]
        rest = np.sqrt(np.maximum(total - own, 1e-12 * total + 1e-300))[:, None, None]
        found = []
        for k in tries:
            largest = ndtri(levels ** (1 / k))
            excess = scale * np.sqrt(own)[:, None, None] * largest - (self.a - self.b)
            found.append(float(weights @ (w @ ndtr(excess / (scale * rest)) @ w)))
        return found


@dataclass(frozen=True)
class Printed:
    """Mean of P(false) over all numbers that print alike, and its range."""

    p_false: float
    lowest: float
    highest: float


def reported_claim(
    accuracy_a: str | float, accuracy_b: str | float, n_test: int, congruence: float | None = None
) -> Printed:
    """Mean and range of P(false) over all counts that print as the two accuracies.

    Parameters
    ----------
    accuracy_a, accuracy_b : str or float
        As printed; both have the digits of the longer one.
    n_test : int
    congruence : float, optional
        Share of items that both got right, clipped to the bounds of each pair of counts.

    Raises
    ------
    ImpossibleAccuracyError
        No number of correct answers gives these accuracies.
    InputError
        A below B, fewer than two items.

    Examples
    --------
    >>> round(reported_claim("0.90", "0.88", 500).p_false, 3)
    0.1
    """
    printed = parse_scores([accuracy_a, accuracy_b], percent=False, subjects=["A", "B"])
    a, b = printed.values.tolist()
    n = Accuracies(a=a, b=b, n=n_test).n
    ends = count_bounds(printed.scaled, np.array([n]), printed.unit, "nearest")
    counts_a, counts_b = np.transpose(ends).tolist()
    for value, (fewest, most) in ((a, counts_a), (b, counts_b)):
        if fewest > most:
            near = (int(value * n) / n, min(int(value * n) + 1, n) / n)
            raise ImpossibleAccuracyError(
                f"no whole number of {n:,} items gives the accuracy {value:g} as printed: the "
                f"nearest ones are {near[0]:.8g} and {near[1]:.8g}"
            )
    least, most = max(counts_a[0], counts_b[0]), counts_a[1]
    pairs = list[FloatArray]()
    for x_b, of_b in zip(*_counts(counts_b[0], min(counts_b[1], most)), strict=True):
        x_b = min(x_b, n)
        x_a, of_a = _counts(max(least, x_b), most)
        x_a = np.clip(x_a, x_b, n)
        pairs.append(np.stack([x_a, np.full_like(x_a, x_b), of_b * of_a]))
    corners = [(x, min(y, x), 0.0) for x in (least, most) for y in counts_b]
    x_a, x_b, weights = np.concatenate([*pairs, np.array(corners).T], axis=1)
    weights = weights * (np.minimum(x_b, n - x_a) + 1)
    shared: Any = congruence
    if congruence is not None:
        shared = np.clip(congruence, np.maximum(0, x_a + x_b - n) / n, x_b / n)
    p = false_claim_probability(x_a / n, x_b / n, n, shared)
    mean, low, high = (float(x) for x in (weights @ p / weights.sum(), p.min(), p.max()))
    return Printed(mean, low, high)


def _counts(low: float, high: int) -> tuple[FloatArray, FloatArray]:
    """Counts between two ends, or nodes, and how many each stands for."""
    size = high - low + 1
    if size <= _WHOLE:
        whole = np.arange(np.ceil(low), high + 1, dtype=np.float64)
        return whole, np.ones(whole.size)
    x, weights = gauss(_COUNT_NODES, max(low - 0.5, 0.0), high + 0.5)
    return x, weights * size


def reported_means(
    claim: Means, printed: tuple[str, str], correlation: float | None = None
) -> Printed:
    """Mean and range of P(false) over all that prints as the two means.

    ``correlation`` of the cases is by default what the claim assumes.

    Examples
    --------
    >>> claim = Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.1))
    >>> round(claim.p_false(), 4), round(reported_means(claim, ("0.81", "0.80")).p_false, 4)
    (0.141, 0.1612)
    """
    half = 0.5 * 10.0 ** -parse_scores(printed, bounded=False).decimals
    low, high = claim.bounds or (-np.inf, np.inf)
    means_a, means_b = (
        (max(mean - half, low), min(mean + half, high)) for mean in (claim.a, claim.b)
    )
    unknown, weights = claim.assumed() if correlation is None else ([correlation], [1.0])
    corners = np.clip(np.sort(np.subtract.outer(means_a, means_b), axis=None), 0.0, None)
    x, of_x = gauss(_GAPS)
    # cubes put nodes where the difference is small and P(false) falls
    gaps = np.ravel(corners[:-1, None] + np.diff(corners)[:, None] * x**3)
    shared = np.minimum(means_a[1], means_b[1] + gaps) - np.maximum(means_a[0], means_b[0] + gaps)
    density = np.maximum(shared, 0.0) * np.outer(np.diff(corners), x**2 * of_x).ravel()
    density += np.finfo(float).tiny
    p = claim.at(unknown, gap=np.append(gaps, corners[[0, -1]])[:, None]) @ weights
    mean = float(density @ p[:-2] / density.sum())
    return Printed(mean, float(p[-1]), float(p[-2]))
