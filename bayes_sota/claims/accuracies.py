r"""Probability that "A outperforms B" is false, from two reported accuracies: exact.

With p1 the probability that A alone is right on an item, p2 that B alone is, and a flat Dirichlet
prior,

.. math:: P(p_1 \le p_2 \mid x_1, x_2) = I_{1/2}(x_1 + 1,\; x_2 + 1), \quad
          x_1 = n(\hat p_A - \hat p_{11}), \; x_2 = n(\hat p_B - \hat p_{11})

because ``p1 / (p1 + p2)`` is Beta whatever the other cells are: what *Claims Reloaded* (after
Christodoulou et al. 2025, arXiv 2505.04720) calls intractable and samples. ``p11``, the congruence,
is hardly ever reported, and the verdict can hinge on it. Given the margins alone the flat prior
makes the number of items that both got right uniform on the whole numbers that the margins allow,
so that the answer is a finite average. Neighbouring tables differ by one term,

.. math:: I_{1/2}(a + 1, b + 1) = I_{1/2}(a, b) + \frac{2^{-(a+b)}}{B(a, b)} \frac{a - b}{2ab}

and thousands of tables are an integral.

``tests/claims/test_accuracies.py`` compares with the source's Monte Carlo, with sums over all
tables, and with McNemar's mid-p value.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, betaln

from bayes_sota.claims.congruence import SLACK, Congruence, congruence_at, congruence_bounds
from bayes_sota.core.arguments import checked_width
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

_FEW = 64  # claims fewer than this are summed one by one, whatever their range
_LONG = 4096  # tables from which on their sum is an integral
_LONG_NODES = 128  # of a Gauss-Legendre rule for it
_ROPE_NODES = 96
_PARTS, _ROUNDS = 64, 5  # a root is looked for in so many parts, so often


def false_claim_probability(
    accuracy_a: ArrayLike,
    accuracy_b: ArrayLike,
    n_test: ArrayLike,
    congruence: Congruence | ArrayLike = None,
) -> Any:
    r"""Probability that B is at least as good as A, although A has the better accuracy.

    Parameters
    ----------
    accuracy_a, accuracy_b : array_like
        Reported accuracies of the winner and of the other, in [0, 1]; broadcast. Counts need not
        be whole: reported accuracies are rounded.
    n_test : array_like of int
        Number of test items.
    congruence : array_like, "min", "max", "independent" or None
        Share of items that both got right: known; at a bound of what the accuracies allow; the
        product; or unknown, averaged over what the accuracies allow. A known odds ratio gives it
        (``congruence_of_odds_ratio``).

    Returns
    -------
    ndarray or float

    Raises
    ------
    InputError
        Accuracies outside [0, 1], A below B, fewer than two items, a congruence that the
        accuracies do not allow.

    Notes
    -----
    A million claims at n = 500 take nine seconds, because neighbouring incomplete beta functions
    differ by one term, and a third of a second with a known congruence (docs/measured/claims.md).

    Examples
    --------
    >>> round(float(false_claim_probability(0.90, 0.88, 500, "independent")), 3)
    0.157
    >>> round(float(false_claim_probability(0.90, 0.88, 500)), 3)
    0.093
    """
    a, b, n = checked_claim(accuracy_a, accuracy_b, n_test)
    if congruence is None:
        p = averaged(a * n, b * n, n)
    else:
        p11 = congruence_at(a, b, congruence)
        p = at_most_half(n * (a - p11), n * (b - p11))
    p = np.minimum(p, 0.5)  # what equal accuracies have, but for rounding
    return float(p) if np.ndim(p) == 0 else p


@dataclass(frozen=True)
class ReportedAccuracies:
    """Two reported accuracies on the same items, and what is assumed of their congruence.

    Parameters
    ----------
    accuracy_a, accuracy_b, n_test, congruence
        As in ``false_claim_probability``, which checks them; one claim.

    Examples
    --------
    >>> claim = ReportedAccuracies(0.90, 0.88, 500)
    >>> round(claim.p_false(), 3), round(claim.p_false(congruence="independent"), 3)
    (0.093, 0.157)
    >>> claim.curve(2).round(4).tolist(), round(claim.needed(0.05), 4)
    ([[0.78, 0.1713], [0.88, 0.0005]], 0.8538)
    """

    accuracy_a: float
    accuracy_b: float
    n_test: int
    congruence: Congruence = None

    unknown: ClassVar[Literal["congruence"]] = "congruence"

    def p_false(self, **changes: Any) -> Any:
        """Probability that B is at least as good as A, also where something else is known."""
        return false_claim_probability(**{**vars(self), **changes})

    def by_size(self, n_test: ArrayLike, **changes: Any) -> Any:
        """The same on other numbers of items, the accuracies kept.

        The average over all tables is interpolated between the sizes, whole or not, that allow
        whole numbers of tables; in between it would jump.
        """
        width = min(self.accuracy_b, 1 - self.accuracy_a)  # of the range of the congruence
        if self.congruence is not None or changes or not width:
            return self.p_false(n_test=n_test, **changes)
        a, b, n = checked_claim(self.accuracy_a, self.accuracy_b, n_test)
        below = np.floor(n * width + SLACK)
        first, last = (averaged(a * m, b * m, m) for m in (below / width, (below + 1) / width))
        return first + (n * width - below) * (last - first)

    @property
    def ends(self) -> tuple[float, float]:
        """Least and largest congruence that is possible."""
        low, high = congruence_bounds(self.accuracy_a, self.accuracy_b)
        return float(low), float(high)

    def curve(self, points: int) -> FloatArray:
        """Congruences, equally spaced between their ends, and probabilities, (points, 2)."""
        shared = np.linspace(*self.ends, points)
        return np.column_stack([shared, self.p_false(congruence=shared)])

    def needed(self, level: float) -> float | None:
        """Least congruence at which the claim is false with probability ``level`` at most.

        It is the lower bound of the congruence where the claim always holds; None where it never
        does.
        """
        low, high = self.ends
        if self.p_false(congruence=low) <= level:
            return low
        if self.p_false(congruence=high) > level:
            return None
        for _ in range(_ROUNDS):
            grid = np.linspace(low, high, _PARTS + 1)
            first = int(np.argmax(self.p_false(congruence=grid) <= level))
            low, high = float(grid[first - 1]), float(grid[first])
        return high


@dataclass(frozen=True)
class RopeProbabilities:
    """Probabilities about a region of practical equivalence of half-width q.

    Attributes
    ----------
    a_better, equivalent, b_better : float
        A better by more than q; no further apart than q; B better by more than q.
    """

    a_better: float
    equivalent: float
    b_better: float


def false_claim_rope(
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    rope: float,
    congruence: Congruence = None,
) -> RopeProbabilities:
    r"""Probabilities that A is better by more than ``rope``, that both are equivalent, that B is.

    With :math:`s = p_1 + p_2`, Beta given the counts,
    :math:`P(p_1 - p_2 \le q) = E_s\, I_{(1 + q/s)/2}(x_1 + 1, x_2 + 1)`.

    Parameters are those of ``false_claim_probability``, with numbers only.

    Examples
    --------
    >>> rope = false_claim_rope(0.90, 0.88, 500, 0.01, 0.85)
    >>> round(rope.a_better + rope.equivalent + rope.b_better, 12)
    1.0
    """
    checked_width(rope, "rope", shares=True)
    a, b, n = checked_claim(accuracy_a, accuracy_b, n_test)
    both = tables_of(a, b, n, congruence)
    x1, x2 = a * n - both, b * n - both
    above = max(1 - float(_difference_at_most(rope, x1, x2, n).mean()), 0.0)
    below = max(float(_difference_at_most(-rope, x1, x2, n).mean()), 0.0)
    return RopeProbabilities(above, max(1 - above - below, 0.0), below)


def tables_of(a: FloatArray, b: FloatArray, n: FloatArray, congruence: Congruence) -> FloatArray:
    """Numbers of items that both got right, equally probable, of one claim."""
    if congruence is None:
        return possible_tables(float(a * n), float(b * n), float(n))
    return np.array([n * congruence_at(a, b, congruence)])


def _difference_at_most(q: float, x1: FloatArray, x2: FloatArray, n: FloatArray) -> FloatArray:
    """P(p1 - p2 <= q) for each pair of counts, by quadrature over p1 + p2."""
    first, second = np.maximum(x1, 0) + 1, np.maximum(x2, 0) + 1
    rest = np.maximum(n - x1 - x2, 0) + 2
    kink = betainc(first + second, rest, abs(q))  # where the argument starts to be clipped
    x, w = np.polynomial.legendre.leggauss(_ROPE_NODES)
    total = np.where(q < 0, 0.0, kink)  # below it the difference cannot reach q
    level = kink[:, None] + (1 - kink)[:, None] * (x + 1) / 2
    s = np.maximum(betaincinv((first + second)[:, None], rest[:, None], level), 1e-300)
    share = np.clip((1 + q / s) / 2, 0.0, 1.0)
    inside = betainc(first[:, None], second[:, None], share) @ (w / 2)
    return total + (1 - kink) * inside


def checked_claim(
    accuracy_a: ArrayLike, accuracy_b: ArrayLike, n_test: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Accuracies and number of items as arrays, or an error."""
    limits = "an accuracy lies in [0, 1]"
    return checked_pair(accuracy_a, accuracy_b, n_test, "accuracy", (0.0, 1.0), limits)


def check_winner(a: Any, b: Any, what: str = "accuracy") -> None:
    """Raise ``InputError`` where A does not win."""
    if np.any(a < b):
        raise InputError(
            f"A is the reported winner, but its {what} is below that of B: exchange the two"
        )


def checked_pair(
    of_a: ArrayLike,
    of_b: ArrayLike,
    n_test: ArrayLike,
    what: str,
    bounds: tuple[float, float],
    limits: str,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Numbers of the winner and of the other, and of items, as arrays; or an error."""
    a, b, n = (np.asarray(x, np.float64) for x in (of_a, of_b, n_test))
    low, high = bounds
    for value in (a, b):
        wrong = value[~((value >= low) & (value <= high) & np.isfinite(value))]
        if wrong.size:
            hint = f"; in percent? then write {wrong[0] / 100:g}" if 1 < wrong[0] <= 100 else ""
            raise InputError(f"{limits}, got {wrong[0]:g}{hint}")
    check_winner(a, b, what)
    if not np.all((n >= 2) & (n == np.floor(n)) & np.isfinite(n)):
        raise InputError(
            f"{{name}} must be a whole number of at least 2, got {n_test!r}", parameter="n_test"
        )
    return a, b, n


def at_most_half(x1: FloatArray, x2: FloatArray) -> FloatArray:
    """P(p1 <= p2) of tables with ``x1`` and ``x2`` items that one alone got right."""
    return betainc(np.maximum(x1, 0) + 1, np.maximum(x2, 0) + 1, 0.5)


def averaged(x_a: FloatArray, x_b: FloatArray, n: FloatArray) -> FloatArray:
    """Mean of P(p1 <= p2) over all tables with these margins, ``x_a >= x_b``."""
    shape = np.broadcast_shapes(x_a.shape, x_b.shape, n.shape)
    own, other, size = (np.broadcast_to(x, shape).ravel() for x in (x_a, x_b, n))
    count = _numbers(own, other, size)
    average = np.empty(count.shape)
    long = count >= _LONG
    if long.any():
        average[long] = _integrated(own[long], other[long], count[long])
    rest = np.flatnonzero(~long)
    if rest.size < _FEW:
        average[rest] = [_summed(own[i], other[i], size[i]) for i in rest]
    else:
        average[rest] = _stepped(own[rest], other[rest], count[rest])
    return average.reshape(shape)


def possible_tables(x_a: float, x_b: float, n: float) -> FloatArray:
    """Numbers of items that both may have right, the largest first, equally probable."""
    return np.asarray(min(x_a, x_b) - np.arange(int(_numbers(x_a, x_b, n))))


def _numbers(x_a: Any, x_b: Any, n: Any) -> Any:
    """How many tables have these margins."""
    return np.floor(np.minimum(x_a, x_b) - np.maximum(0.0, x_a + x_b - n) + SLACK) + 1


def _summed(x_a: float, x_b: float, n: float) -> float:
    both = possible_tables(x_a, x_b, n)
    return float(at_most_half(x_a - both, x_b - both).mean())


def _stepped(x_a: FloatArray, x_b: FloatArray, count: FloatArray) -> FloatArray:
    """Many claims: up from the largest congruence, one term per step."""
    a, b = x_a - x_b + 1, np.ones_like(x_b)
    value = betainc(a, b, 0.5)
    density = np.exp(-(a + b) * np.log(2) - betaln(a, b))
    total = value.copy()
    for step in range(1, int(count.max())):
        value = value + density * (a - b) / (2 * a * b)
        density = density * (a + b) * (a + b + 1) / (4 * a * b)
        a, b = a + 1, b + 1
        total += np.where(step < count, value, 0.0)
    return total / count


def _integrated(x_a: FloatArray, x_b: FloatArray, count: FloatArray) -> FloatArray:
    """Thousands of tables: the sum by the midpoint rule backwards, an integral.

    Over the root of the items that B alone got right, where the integrand is smooth.
    """
    x, w = np.polynomial.legendre.leggauss(_LONG_NODES)
    root = (x + 1) / 2
    total = np.zeros(count.shape)
    for node, weight in zip(root, w * root, strict=True):
        only_b = count * node**2 - 0.5
        total += weight * betainc(x_a - x_b + only_b + 1, only_b + 1, 0.5)
    return total
