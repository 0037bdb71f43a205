r"""Probability that "A outperforms B" is false, from two reported accuracies: exact.

With p1 the probability that A alone is right on an item, p2 that B alone is, and a flat Dirichlet
prior,

.. math:: P(p_1 \le p_2 \mid x_1, x_2) = I_{1/2}(x_1 + 1,\; x_2 + 1), \quad
          x_1 = n(\hat p_A - \hat p_{11}), \; x_2 = n(\hat p_B - \hat p_{11})

because ``p1 / (p1 + p2)`` is Beta; *Claims Reloaded* (after Christodoulou et al. 2025, arXiv
2505.04720) samples it. Papers rarely report the congruence ``p11``. Given the margins the flat
prior makes the number of items that both got right uniform, so the answer is a finite average.

If A is the best of K tries of equal skill, whose answers correlate by r as A's and B's do, and
board-conditional skills :math:`\psi` have a flat prior,

.. math:: P(\psi_A \le \psi_B) \propto \int \big[F(x_A \mid \psi)^K - F(x_A - 1 \mid \psi)^K\big]\,
          P(\psi_B \ge \psi \mid x_B)\, d\psi

with binomial laws of :math:`n / (1 - r)` items. What K tries add to the log odds of this law is
added to those of the exact answer for one try.

``tests/claims/test_accuracies.py`` compares with the source's Monte Carlo, sums over all tables and
McNemar's mid-p value, ``tests/claims/test_best_of.py`` with simulated tries.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, betaln, ndtr, ndtri, poch

from bayes_sota.claims.claim import (
    DOMAINS,
    SLACK,
    Claim,
    Congruence,
    Truth,
    checked_pair,
    congruence_at,
    congruence_bounds,
    congruence_of_odds_ratio,
    gauss,
)
from bayes_sota.core.arguments import SHARE
from bayes_sota.core.types import FloatArray

OUTCOMES = ("both", "only_a", "only_b", "none")
_TABLES, _NODES = 64, 32  # that are summed one by one; nodes for all others
_FEW_CONGRUENCES = 32  # of the best of several tries
_ROPE_NODES = 96
_TRY_NODES, _REACH, _LEAST_DISPERSION = 160, 16.0, 1e-3  # of the best try; reach in its errors


def false_claim_probability(
    accuracy_a: ArrayLike,
    accuracy_b: ArrayLike,
    n_test: ArrayLike,
    congruence: Congruence | ArrayLike = None,
) -> Any:
    """Probability that B is at least as good as A, although A has the better accuracy.

    Parameters
    ----------
    accuracy_a, accuracy_b : array_like
        Reported accuracies of the winner and of the other, in [0, 1]; broadcast. They are taken as
        exact; ``report_claim(claim, printed=("0.90", "0.88"))`` includes their rounding.
    n_test : array_like of int
        Number of test items.
    congruence : array_like, "min", "max", "independent" or None
        Share of items that both got right: known; at a bound; the product of the accuracies; or
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
    >>> round(float(false_claim_probability(0.90, 0.88, 500, "independent")), 3)
    0.157
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
        Take the typical congruence of close pairs there, and the range of 90 % of them.

    Raises
    ------
    InputError
        As in ``false_claim_probability``.

    Examples
    --------
    >>> claim = Accuracies(a=0.90, b=0.88, n=500)
    >>> [round(p, 3) for p in (claim.p_false(), *claim.p_range(), claim.p_false_of_best(10))]
    [0.093, 0.0, 0.171, 0.353]
    >>> claim.size(0.05), claim.powered_size(0.05, power=0.8)
    (826, 1830)
    """

    domain: str | None = None

    unknown: ClassVar[str] = "congruence"
    item: ClassVar[str] = "item"
    what: ClassVar[str] = "accuracy"

    def __post_init__(self) -> None:
        false_claim_probability(self.a, self.b, self.n, self.known)  # checks
        SHARE.check(self.a, "a")  # text of a number is refused here, not by what computes with it
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
        """As ``Claim.p_false``; interpolated between sizes that allow whole numbers of tables."""
        if self.value is not None:
            return super().p_false(n)
        if n is None or n == self.n:
            return float(false_claim_probability(self.a, self.b, self.n))
        width = min(self.b, 1 - self.a)  # of the range of the congruence
        below = np.floor(n * width + SLACK)
        sizes = np.array([below, below + 1]) / width
        first, last = _averaged(self.a * sizes, self.b * sizes, sizes).tolist()
        return float(first + (n * width - below) * (last - first))

    def p_false_jeffreys(self) -> float:
        r"""P(false) with Jeffreys' prior: 1/2 for each cell of the table.

        Tables with these margins have the weights :math:`\prod_c \Gamma(x_c + 1/2) / x_c!`.
        """
        a, b = self.n * self.a, self.n * self.b
        only_b = np.array([b - self.n * (self.value or 0.0)])
        if self.value is None:
            only_b = np.arange(_numbers(a, b, float(self.n)))
        cells = np.maximum([b - only_b, a - b + only_b, only_b, self.n - a - only_b], 0.0)
        weights = poch(cells + 1, -0.5).prod(axis=0)
        return float(weights @ betainc(cells[1] + 0.5, cells[2] + 0.5, 0.5) / weights.sum())

    def difference_at_most(self, q: float) -> float:
        r"""With :math:`s = p_1 + p_2`, Beta given the counts,
        :math:`P(p_1 - p_2 \le q) = E_s\, I_{(1 + q/s)/2}(x_1 + 1, x_2 + 1)`.
        """
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
        """``truth``, where p1 / (p1 + p2) and p1 + p2 are independent Beta."""
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
        shared = (unknown - self.a * self.b) / (spread or 1.0)  # correlations of the answers
        return np.asarray(weights @ [self._not_above(1 - r, tries) for r in shared])

    def _not_above(self, dispersion: float, tries: tuple[float, float]) -> list[float]:
        """P(psi of A <= psi of B) for numbers of tries, on ``n / dispersion`` items."""
        d, n = max(dispersion, _LEAST_DISPERSION), self.n
        error = np.sqrt((self.a * (1 - self.a) + d / n) * d / n)
        low, high = max(self.a - _REACH * error, 0.0), min(self.a + _REACH * error, 1.0)
        psi, weights = gauss(_TRY_NODES, low, high)
        below, reached = (_below(psi, n * self.a + step, n, d) for step in (0, 1))
        x = n * self.b
        rival = betainc((n - x) / d + 1, x / d + 1, 1 - psi)  # P(psi of B is larger)
        own = [weights * (reached**k - below**k) for k in tries]
        return [float(w @ rival / w.sum()) for w in own]


def _below(psi: FloatArray, count: float, n: float, dispersion: float) -> FloatArray:
    above, rest = ((x / dispersion + 0.5) for x in (count - 0.5, n - count + 0.5))
    return betainc(rest, above, 1 - psi) if rest > 0 else np.ones_like(psi)


def at_most(q: float, x1: ArrayLike, x2: ArrayLike, n: float) -> FloatArray:
    """P(p1 - p2 <= q), where one alone got ``x1`` and ``x2`` items right."""
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
    """P(p1 <= p2), where one alone got ``x1 >= x2`` items right."""
    return np.minimum(betainc(x1 + 1, x2 + 1, 0.5), 0.5)  # rounding errors may pass the bound


def _averaged(x_a: ArrayLike, x_b: ArrayLike, n: ArrayLike) -> FloatArray:
    r"""Mean of P(p1 <= p2) over all tables with these margins, ``x_a >= x_b``.

    For m tables, with :math:`d = x_A - x_B` and :math:`h = d + m + 1`,

    .. math:: \frac1m \sum_{k=0}^{m-1} I_{1/2}(d + k + 1, k + 1) = \frac{(d^2 + d + 2m)\,
              I_{1/2}(h, m + 1) - d\, 2^{-h-m} / B(h, m + 1)}{2m}

    because a symmetric random walk lies above d after d + 2k + 1 steps with probability
    :math:`I_{1/2}(d + k + 1, k + 1)`, and the square of its excess grows by a multiple of it.
    """
    d, m = np.subtract(x_a, x_b), _numbers(x_a, x_b, n)
    h = d + m + 1
    density = np.exp(-(h + m) * np.log(2) - betaln(h, m + 1))
    sums = (d**2 + d + 2 * m) * betainc(h, m + 1, 0.5) - d * density
    return np.asarray(np.clip(sums / (2 * m), 0.0, 0.5))


def _numbers(x_a: Any, x_b: Any, n: Any) -> Any:
    """Numbers of tables with these margins."""
    return np.floor(np.minimum(x_a, x_b) - np.maximum(0.0, x_a + x_b - n) + SLACK) + 1


def _tables(count: float) -> tuple[FloatArray, FloatArray]:
    """Numbers of items that B alone may have got right, equally probable, and their weights.

    Above 64 an integral over their root, where the integrand is smooth (midpoint rule with the
    first Euler-Maclaurin correction).
    """
    if count <= _TABLES:
        return np.arange(count), np.full(int(count), 1 / count)
    low, high = _TABLES**0.5, count**0.5
    root, weights = gauss(_NODES, low, high)
    ends, slopes = [_TABLES - 1, _TABLES, count - 2, count - 1], np.array([-1, 1, 1, -1]) / 24
    all_weights = [np.ones(_TABLES), 2 * root * weights * (high - low), slopes]
    return np.r_[: float(_TABLES), root**2 - 0.5, ends], np.concatenate(all_weights) / count
