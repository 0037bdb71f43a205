r"""Probability that "A outperforms B" is false, from two reported accuracies: exact.

With p1 the probability that A alone is right on an item, p2 that B alone is, and a Dirichlet prior,

.. math:: P(p_1 \le p_2 \mid x_1, x_2) = I_{1/2}(x_1 + \alpha_1,\; x_2 + \alpha_2), \quad
          x_1 = n(\hat p_A - \hat p_{11}), \; x_2 = n(\hat p_B - \hat p_{11})

because ``p1 / (p1 + p2)`` is Beta whatever the other cells are: what *Claims Reloaded* (after
Christodoulou et al. 2025, arXiv 2505.04720) calls intractable and samples. ``p11``, the congruence,
is hardly ever reported, and the verdict can hinge on it. Given the margins alone the flat prior
makes the number of items that both got right uniform on the whole numbers that the margins allow,
so that the answer is a finite average.

Two accuracies allow a congruence in :math:`[\max(0, p_A + p_B - 1), \min(p_A, p_B)]`, which differs
from claim to claim. A prior is therefore on a relative scale: the odds ratio
:math:`\psi = p_{11} p_{00} / (p_{10} p_{01})`, feasible for every pair of accuracies (Plackett
1965, doi 10.1080/01621459.1965.10480807), or the place within the range. Given the margins alone
the prior :math:`Dir(\alpha)` of the cells gives the number of items that both got right the weights

.. math:: P(x_{11}) \propto \prod_c \frac{\Gamma(x_c + \alpha_c)}{x_c!}

which are equal for the flat prior. Neighbouring tables then differ by one term,

.. math:: I_{1/2}(a + 1, b + 1) = I_{1/2}(a, b) + \frac{2^{-(a+b)}}{B(a, b)} \frac{a - b}{2ab}

and thousands of tables are an integral.

``tests/claims/test_accuracies.py`` compares with the source's Monte Carlo, with sums over all
tables, and with McNemar's mid-p value.

Printed accuracies are rounded, and the number of items may be uncertain: with the flat prior all
tables of n items are equally probable, so that the printed numbers leave

.. math:: P(n, x_A, x_B \mid \text{printed}) \propto P(n)\, \frac{T(n, x_A, x_B)}{\binom{n+3}{3}},
          \quad x_A \ge x_B

with T the number of tables with these margins, over the counts that print so. An accuracy that no
count gives at any n is impossible (the GRIM check of Brown & Heathers 2017, doi
10.1177/1948550616673876). The same tests compare with all tables, one by one.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import ALPHA
from bayes_sota.core.errors import ImpossibleAccuracyError, InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import (
    PrintedScores,
    Rounding,
    exact_ends,
    lattice_ends,
    parse_scores,
    rounding_order,
)

_PRIOR_NODES = 48  # of a Gaussian quadrature over a prior of the congruence
_SLACK = 1e-9
_LARGEST_RATIO = 1e120
_FEW = 64  # claims fewer than this are summed one by one, whatever their range
_MANY = 60_000  # claims from which on all cores share them
_LONG = 4096  # tables from which on their sum is an integral
_LONG_NODES = 128  # of a Gauss-Legendre rule for it
_ROPE_NODES = 96
_MOST_SIZES = 64  # the middles of equally long runs of sizes stand for more
_MANY_SIZES = 16
_MOST_TABLES = {False: 10_000_000, True: 100_000}  # one by one; fewer of each of many sizes
_ROUNDING_NODES = {False: 12, True: 5}
_LARGEST = 10_000_000  # items
_MOST_RANGE = 1_000_000
Alpha = float | tuple[float, float, float, float]


@dataclass(frozen=True)
class OddsRatioCongruence:
    r"""Log-normal prior of the odds ratio of the two methods' right answers.

    Parameters
    ----------
    median : float
        Of the odds ratio; 1 is independence, above 1 both tend to be right on the same items.
    spread : float
        Standard deviation of its logarithm; 0 is a known odds ratio.

    Examples
    --------
    >>> prior = OddsRatioCongruence(median=20, spread=1)
    >>> round(false_claim_probability(0.90, 0.88, 500, prior), 3)
    0.082
    """

    median: float
    spread: float

    def __post_init__(self) -> None:
        if not 0 < self.median < np.inf:
            raise InputError(f"the median of an odds ratio is positive, got {self.median!r}")
        if not 0 <= self.spread < np.inf:
            raise InputError(f"the spread of log odds ratios is at least 0, got {self.spread!r}")

    def __str__(self) -> str:
        return f"odds ratio about {self.median:g}, sd of its logarithm {self.spread:g}"

    def nodes(self, accuracy_a: FloatArray, accuracy_b: FloatArray) -> list[tuple[Any, float]]:
        """Congruences, each shaped like the accuracies, and their probabilities."""
        if not self.spread:
            return [(congruence_of_odds_ratio(accuracy_a, accuracy_b, self.median), 1.0)]
        points, weights = np.polynomial.hermite_e.hermegauss(_PRIOR_NODES)
        ratios = np.exp(np.clip(np.log(self.median) + self.spread * points, -276, 276))
        shares = (congruence_of_odds_ratio(accuracy_a, accuracy_b, psi) for psi in ratios)
        return list(zip(shares, (weights / weights.sum()).tolist(), strict=True))


@dataclass(frozen=True)
class RelativeCongruence:
    """Beta prior of the place of the congruence between its bounds, 0 the least and 1 the largest.

    Parameters
    ----------
    a, b : float
        Parameters of the Beta distribution; (1, 1) is uniform.

    Examples
    --------
    >>> round(false_claim_probability(0.90, 0.88, 500, RelativeCongruence(1, 1)), 3)
    0.093
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        for value in (self.a, self.b):
            if not 0 < value < np.inf:
                raise InputError(f"parameters of a Beta distribution are positive, got {value!r}")

    def __str__(self) -> str:
        return f"place between its bounds Beta({self.a:g}, {self.b:g})"

    def nodes(self, accuracy_a: FloatArray, accuracy_b: FloatArray) -> list[tuple[Any, float]]:
        from scipy.special import roots_jacobi

        points, weights = roots_jacobi(_PRIOR_NODES, self.b - 1, self.a - 1)
        low, high = congruence_bounds(accuracy_a, accuracy_b)
        shares = (low + (high - low) * (1 + x) / 2 for x in points)
        return list(zip(shares, (weights / weights.sum()).tolist(), strict=True))


CongruencePrior = OddsRatioCongruence | RelativeCongruence
Congruence = float | Literal["min", "max", "independent"] | CongruencePrior | None
CONGRUENCES = ("min", "max", "independent")


def congruence_bounds(accuracy_a: ArrayLike, accuracy_b: ArrayLike) -> tuple[Any, Any]:
    """Least and largest share of items that both can have right, given their accuracies.

    Examples
    --------
    >>> low, high = congruence_bounds(0.90, 0.88)
    >>> round(float(low), 2), float(high)
    (0.78, 0.88)
    """
    a, b = np.asarray(accuracy_a, np.float64), np.asarray(accuracy_b, np.float64)
    return np.maximum(0.0, a + b - 1), np.minimum(a, b)


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
    psi = np.clip(np.asarray(odds_ratio, np.float64), 0.0, _LARGEST_RATIO)  # its square is finite
    s = 1 + (a + b) * (psi - 1)
    root = np.sqrt(np.maximum(s**2 - 4 * psi * (psi - 1) * a * b, 0.0))
    # the same root of the quadratic in two forms, each where nothing cancels
    positive = s > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(
            positive, 2 * psi * a * b / np.where(positive, s + root, 1), (s - root) / (2 * psi - 2)
        )


def congruence_at(accuracy_a: FloatArray, accuracy_b: FloatArray, congruence: Any) -> FloatArray:
    """Congruence that is known, at a bound or of independent mistakes, for each pair."""
    low, high = congruence_bounds(accuracy_a, accuracy_b)
    if isinstance(congruence, str):
        known_at = {"min": low, "max": high, "independent": accuracy_a * accuracy_b}
        if congruence not in known_at:
            known = ", ".join(CONGRUENCES)
            raise InputError(f"congruence must be a share of items or {known}, got {congruence!r}")
        return np.asarray(known_at[congruence])
    p11 = np.asarray(congruence, np.float64)
    wrong = ~((p11 >= low - _SLACK) & (p11 <= high + _SLACK))
    if np.any(wrong):
        lowest, highest, given = (float(x[wrong][0]) for x in np.broadcast_arrays(low, high, p11))
        raise InputError(
            f"the congruence must lie between {lowest:.6g} and {highest:.6g}, what these "
            f"accuracies allow, got {given:g}"
        )
    return np.asarray(np.clip(p11, low, high))


def congruence_nodes(
    accuracy_a: FloatArray, accuracy_b: FloatArray, congruence: Any
) -> list[tuple[Any, float]]:
    """Congruences that are assumed, each shaped like the accuracies, and their probabilities."""
    if isinstance(congruence, CongruencePrior):
        return congruence.nodes(accuracy_a, accuracy_b)
    return [(congruence_at(accuracy_a, accuracy_b, congruence), 1.0)]


def false_claim_probability(
    accuracy_a: ArrayLike,
    accuracy_b: ArrayLike,
    n_test: ArrayLike,
    congruence: Congruence | ArrayLike = None,
    *,
    alpha: Alpha = 1.0,
) -> Any:
    r"""Probability that B is at least as good as A, although A has the better accuracy.

    Parameters
    ----------
    accuracy_a, accuracy_b : array_like
        Reported accuracies of the winner and of the other, in [0, 1]; broadcast. Counts need not
        be whole: reported accuracies are rounded.
    n_test : array_like of int
        Number of test items.
    congruence : array_like, "min", "max", "independent", prior or None
        Share of items that both got right: known; at a bound of what the accuracies allow; the
        product; under a prior on a relative scale (``OddsRatioCongruence``,
        ``RelativeCongruence``); or unknown, averaged over what the accuracies allow.
    alpha : float or (float, float, float, float)
        Parameters of the Dirichlet prior of the cells (both right, A alone, B alone, none);
        one number for all. 1 is flat.

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
    Unknown congruence: :math:`x_{11}` has weights :math:`\propto \prod_c \Gamma(c + \alpha_c)/c!`
    over the four cells c, which are equal for the flat prior. A million claims at n = 500 take
    nine seconds, because neighbouring incomplete beta functions differ by one term, and half a
    second with a known congruence (docs/claims.md).

    Examples
    --------
    >>> round(float(false_claim_probability(0.90, 0.88, 500, "independent")), 3)
    0.157
    >>> round(float(false_claim_probability(0.90, 0.88, 500)), 3)
    0.093
    """
    a, b, n, cells = checked_claim(accuracy_a, accuracy_b, n_test, alpha)
    if congruence is None:
        found = averaged(a * n, b * n, n, cells)
    else:
        nodes = congruence_nodes(a, b, congruence)
        each = (w * at_most_half(n * (a - p11), n * (b - p11), cells) for p11, w in nodes)
        found = np.asarray(sum(each))
    if cells[1] == cells[2]:
        found = np.minimum(found, 0.5)  # what equal accuracies have, but for rounding
    return float(found) if np.ndim(found) == 0 else found


def sensitivity_to_congruence(
    accuracy_a: float, accuracy_b: float, n_test: int, *, alpha: Alpha = 1.0, points: int = 201
) -> FloatArray:
    """Probability of a false claim over all congruences that are possible: for a figure or table.

    Parameters
    ----------
    accuracy_a, accuracy_b, n_test, alpha
        As in ``false_claim_probability``, one claim.
    points : int

    Returns
    -------
    ndarray, shape (points, 2)
        Congruences, equally spaced from the least to the largest, and probabilities.

    Examples
    --------
    >>> sensitivity_to_congruence(0.90, 0.88, 500, points=2).round(4).tolist()
    [[0.78, 0.1713], [0.88, 0.0005]]
    """
    low, high = (float(x) for x in congruence_bounds(accuracy_a, accuracy_b))
    shared = np.linspace(low, high, points)
    p = false_claim_probability(accuracy_a, accuracy_b, n_test, shared, alpha=alpha)
    return np.column_stack([shared, p])


def congruence_needed(
    accuracy_a: float, accuracy_b: float, n_test: int, *, level: float = 0.05, alpha: Alpha = 1.0
) -> float | None:
    """Least congruence at which the claim is false with probability ``level`` at most.

    It is the lower bound of the congruence where the claim always holds; None where it never does.

    Examples
    --------
    >>> round(congruence_needed(0.90, 0.88, 500), 4)
    0.8538
    """
    from scipy.optimize import brentq

    def above(p11: float) -> float:
        p = false_claim_probability(accuracy_a, accuracy_b, n_test, p11, alpha=alpha)
        return float(p) - level

    low, high = (float(x) for x in congruence_bounds(accuracy_a, accuracy_b))
    if above(low) <= 0:
        return low
    return float(brentq(above, low, high, xtol=1e-9)) if above(high) <= 0 else None


def crossing_of(curve: FloatArray, level: float) -> float | None:
    """Place from which a falling curve (places, probabilities) is at most ``level``, interpolated.

    It is the first place where the curve is never above; None where its end is.
    """
    x, p = curve.T
    above = np.flatnonzero(p > level)
    if not above.size:
        return float(x[0])
    last = int(above[-1])
    if last == len(p) - 1:
        return None
    share = (p[last] - level) / (p[last] - p[last + 1])
    return float(x[last] + share * (x[last + 1] - x[last]))


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
    *,
    alpha: Alpha = 1.0,
) -> RopeProbabilities:
    r"""Probabilities that A is better by more than ``rope``, that both are equivalent, that B is.

    With :math:`s = p_1 + p_2`, Beta given the counts,
    :math:`P(p_1 - p_2 \le q) = E_s\, I_{(1 + q/s)/2}(x_1 + \alpha_1, x_2 + \alpha_2)`.

    Parameters are those of ``false_claim_probability``, with numbers only.

    Examples
    --------
    >>> found = false_claim_rope(0.90, 0.88, 500, 0.01, 0.85)
    >>> round(found.a_better + found.equivalent + found.b_better, 12)
    1.0
    """
    if not 0 <= rope < 1:
        raise InputError(f"rope is a difference of accuracies in [0, 1), got {rope:g}")
    a, b, n, cells = checked_claim(accuracy_a, accuracy_b, n_test, alpha)
    both, weights = tables_of(a, b, n, cells, congruence)
    x1, x2 = a * n - both, b * n - both
    above = max(1 - float(weights @ _difference_at_most(rope, x1, x2, n, cells)), 0.0)
    below = max(float(weights @ _difference_at_most(-rope, x1, x2, n, cells)), 0.0)
    return RopeProbabilities(above, max(1 - above - below, 0.0), below)


def tables_of(
    a: FloatArray, b: FloatArray, n: FloatArray, cells: FloatArray, congruence: Congruence
) -> tuple[FloatArray, FloatArray]:
    """Numbers of items that both got right, and their probabilities, of one claim."""
    if congruence is None:
        return possible_tables(float(a * n), float(b * n), float(n), cells)
    shares, probabilities = zip(*congruence_nodes(a, b, congruence), strict=True)
    return n * np.array(shares), np.array(probabilities)


def _difference_at_most(
    q: float, x1: FloatArray, x2: FloatArray, n: FloatArray, cells: FloatArray
) -> FloatArray:
    """P(p1 - p2 <= q) for each pair of counts, by quadrature over p1 + p2."""
    from scipy.special import betainc, betaincinv

    first, second = np.maximum(x1, 0) + cells[1], np.maximum(x2, 0) + cells[2]
    rest = np.maximum(n - x1 - x2, 0) + cells[0] + cells[3]
    kink = betainc(first + second, rest, abs(q))  # where the argument starts to be clipped
    x, w = np.polynomial.legendre.leggauss(_ROPE_NODES)
    total = np.where(q < 0, 0.0, kink)  # below it the difference cannot reach q
    level = kink[:, None] + (1 - kink)[:, None] * (x + 1) / 2
    s = np.maximum(betaincinv((first + second)[:, None], rest[:, None], level), 1e-300)
    share = np.clip((1 + q / s) / 2, 0.0, 1.0)
    inside = betainc(first[:, None], second[:, None], share) @ (w / 2)
    return np.asarray(total + (1 - kink) * inside)


def checked_claim(
    accuracy_a: ArrayLike, accuracy_b: ArrayLike, n_test: ArrayLike, alpha: Any
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Accuracies, number of items and Dirichlet parameters as arrays, or an error."""
    a, b, n = (np.asarray(x, np.float64) for x in (accuracy_a, accuracy_b, n_test))
    for value in (a, b):
        wrong = value[~((value >= 0) & (value <= 1))]
        if wrong.size:
            hint = f"; in percent? then write {wrong[0] / 100:g}" if 1 < wrong[0] <= 100 else ""
            raise InputError(f"an accuracy lies in [0, 1], got {wrong[0]:g}{hint}")
    if np.any(a < b):
        raise InputError(
            "A is the reported winner, but its accuracy is below that of B: exchange the two"
        )
    if not np.all((n >= 2) & (n == np.floor(n)) & np.isfinite(n)):
        raise InputError(f"n_test must be a whole number of at least 2, got {n_test!r}")
    cells = np.asarray(alpha, np.float64)
    cells = np.full(4, float(cells)) if cells.ndim == 0 else cells
    if cells.shape != (4,):
        raise InputError(f"alpha must be one number or four, got {alpha}")
    for cell in cells:
        ALPHA.check(cell, "alpha")
    return a, b, n, cells


def at_most_half(x1: FloatArray, x2: FloatArray, cells: FloatArray) -> FloatArray:
    """P(p1 <= p2) of tables with ``x1`` and ``x2`` items that one alone got right."""
    from concurrent.futures import ThreadPoolExecutor
    from itertools import repeat

    from scipy.special import betainc

    first, second = np.broadcast_arrays(np.maximum(x1, 0) + cells[1], np.maximum(x2, 0) + cells[2])
    if first.size < _MANY:
        return np.asarray(betainc(first, second, 0.5))
    cuts = range(_MANY // 2, first.size, _MANY // 2)
    parts = np.split(first.ravel(), cuts), np.split(second.ravel(), cuts)
    with ThreadPoolExecutor() as threads:  # betainc runs without the interpreter's lock
        found = list(threads.map(betainc, *parts, repeat(0.5)))
    return np.concatenate(found).reshape(first.shape)


def averaged(x_a: FloatArray, x_b: FloatArray, n: FloatArray, cells: FloatArray) -> FloatArray:
    """Mean of P(p1 <= p2) over all tables with these margins, ``x_a >= x_b``."""
    shape = np.broadcast_shapes(x_a.shape, x_b.shape, n.shape)
    own, other, size = (np.broadcast_to(x, shape).ravel() for x in (x_a, x_b, n))
    if not np.all(cells == 1):
        rows = zip(own.tolist(), other.tolist(), size.tolist(), strict=True)
        return np.array([_summed(a, b, n, cells) for a, b, n in rows]).reshape(shape)
    count = _numbers(own, other, size)
    found = np.empty(count.shape)
    long = count >= _LONG
    if long.any():
        found[long] = _integrated(own[long], other[long], count[long])
    rest = np.flatnonzero(~long)
    if rest.size < _FEW:
        found[rest] = [_summed(own[i], other[i], size[i], cells) for i in rest]
    else:
        found[rest] = _stepped(own[rest], other[rest], count[rest])
    return found.reshape(shape)


def possible_tables(
    x_a: float, x_b: float, n: float, cells: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Numbers of items that both may have right, and their probabilities."""
    both, log_weight = table_weights(x_a, x_b, n, cells)
    weights = np.exp(log_weight - log_weight.max())
    return both, np.asarray(weights / weights.sum())


def table_weights(
    x_a: float, x_b: float, n: float, cells: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Numbers of items that both may have right, and the logarithms of their weights."""
    from scipy.special import gammaln

    both = min(x_a, x_b) - np.arange(int(_numbers(x_a, x_b, n)))
    table = np.maximum([both, x_a - both, x_b - both, n - x_a - x_b + both], 0.0)
    weights = np.sum(gammaln(table + cells[:, None]) - gammaln(table + 1), axis=0)
    return np.asarray(both), np.asarray(weights)


def _numbers(x_a: Any, x_b: Any, n: Any) -> Any:
    """How many tables have these margins."""
    return np.floor(np.minimum(x_a, x_b) - np.maximum(0.0, x_a + x_b - n) + _SLACK) + 1


def _summed(x_a: float, x_b: float, n: float, cells: FloatArray) -> float:
    both, weights = possible_tables(x_a, x_b, n, cells)
    return float(weights @ at_most_half(x_a - both, x_b - both, cells))


def _stepped(x_a: FloatArray, x_b: FloatArray, count: FloatArray) -> FloatArray:
    """Flat prior, many claims: up from the largest congruence, one term per step."""
    from scipy.special import betainc, betaln

    a, b = x_a - x_b + 1, np.ones_like(x_b)
    value = betainc(a, b, 0.5)
    density = np.exp(-(a + b) * np.log(2) - betaln(a, b))
    total = value.copy()
    for step in range(1, int(count.max())):
        value = value + density * (a - b) / (2 * a * b)
        density = density * (a + b) * (a + b + 1) / (4 * a * b)
        a, b = a + 1, b + 1
        total += np.where(step < count, value, 0.0)
    return np.asarray(total / count)


def _integrated(x_a: FloatArray, x_b: FloatArray, count: FloatArray) -> FloatArray:
    """Flat prior, thousands of tables: the sum by the midpoint rule backwards, an integral.

    Over the root of the items that B alone got right, where the integrand is smooth.
    """
    x, w = np.polynomial.legendre.leggauss(_LONG_NODES)
    root = (x + 1) / 2
    total, none = np.zeros(count.shape), np.zeros(4)
    for node, weight in zip(root, w * root, strict=True):
        only_b = count * node**2 - 0.5
        # only_b may lie below 0: the prior's items are added here, and none there
        total += weight * at_most_half(x_a - x_b + only_b + 1, only_b + 1, none)
    return total


@dataclass(frozen=True, eq=False)
class ReportedClaim:
    """What printed numbers leave open, and the probability that the claim is false.

    Attributes
    ----------
    p_false : float
        Averaged over the counts and test sizes that print so.
    lowest, highest : float
        Over these counts and sizes, under the same assumption about the congruence.
    n_test : ndarray of int, shape (k,)
        Sizes that both accuracies are possible at (64 of them where there are more).
    probability : ndarray, shape (k,)
        Posterior probability of each.
    counts_a, counts_b : (int, int)
        Fewest and most items that each got right, at the most probable size.
    n_impossible : int
        Sizes in the range at which an accuracy is impossible.
    """

    p_false: float
    lowest: float
    highest: float
    n_test: NDArray[np.int64]
    probability: FloatArray
    counts_a: tuple[int, int]
    counts_b: tuple[int, int]
    n_impossible: int


def reported_claim(
    accuracy_a: str | float,
    accuracy_b: str | float,
    n_test: int | tuple[int, int],
    congruence: Congruence = None,
    *,
    alpha: Alpha = 1.0,
    rounding: Literal["auto"] | Rounding = "auto",
) -> ReportedClaim:
    """Probability that the claim is false, over all that prints as the two accuracies.

    Parameters
    ----------
    accuracy_a, accuracy_b : str or float
        As printed; text keeps its digits ("0.90" has two). Each is rounded on its own. A has at
        least as many right as B, also where both print alike.
    n_test : int or (int, int)
        Number of items, or a range of it, all sizes equally probable beforehand.
    congruence
        As in ``false_claim_probability``. A known share of items is held within the bounds of
        each pair of counts.
    alpha : float or (float, float, float, float)
        Dirichlet prior of the cells, as in ``false_claim_probability``.
    rounding : {"auto", "nearest", "floor", "exact"}
        How the accuracies were cut; "auto" is nearest.

    Returns
    -------
    ReportedClaim

    Raises
    ------
    ImpossibleAccuracyError
        No number of items gives these accuracies.
    InputError
        A below B, a size below 2 or above 10,000,000, a range of more than a million sizes.

    Examples
    --------
    >>> found = reported_claim("0.90", "0.88", 500)
    >>> found.counts_a, found.counts_b, round(found.p_false, 3)
    ((448, 452), (438, 442), 0.1)
    >>> about = reported_claim("0.913", "0.88", (90, 110))
    >>> about.n_test.tolist(), about.n_impossible
    ([92, 103, 104], 18)
    """
    low, high = _size_range(n_test)
    how = rounding_order(rounding)[0]
    printed = [
        parse_scores([value], rounding=how, percent=False, subject=who)
        for who, value in ((lambda _: "A", accuracy_a), (lambda _: "B", accuracy_b))
    ]
    if printed[0].values[0] < printed[1].values[0]:
        raise InputError(
            "A is the reported winner, but its accuracy is below that of B: exchange the two"
        )
    every = np.arange(low, high + 1)
    ends = [_counts(one, every, how) for one in printed]
    possible = (ends[0][0] <= ends[0][1]) & (ends[1][0] <= ends[1][1])
    if not possible.any():
        raise ImpossibleAccuracyError(_impossible(accuracy_a, accuracy_b, ends, low, high))
    sizes = every[possible]
    if sizes.size > _MOST_SIZES:
        where = (np.arange(_MOST_SIZES) + 0.5) * sizes.size / _MOST_SIZES
        sizes = sizes[where.astype(np.int64)]
    cells = np.broadcast_to(np.asarray(alpha, np.float64), (4,))
    runs = {
        n: [(int(fewest[n - low]), int(most[n - low])) for fewest, most in ends]
        for n in sizes.tolist()
    }
    many = sizes.size > _MANY_SIZES
    found = [_at_size(n, a, b, congruence, cells, many) for n, (a, b) in runs.items()]
    units, evidence, p, least, most = map(np.array, zip(*found, strict=True))
    weights = evidence * np.exp(units - units.max())
    weights /= weights.sum()
    counts_a, counts_b = runs[int(sizes[int(np.argmax(weights))])]
    return ReportedClaim(
        p_false=float(weights @ p),
        lowest=float(least.min()),
        highest=float(most.max()),
        n_test=sizes,
        probability=weights,
        counts_a=counts_a,
        counts_b=counts_b,
        n_impossible=int((~possible).sum()),
    )


def _size_range(n_test: Any) -> tuple[int, int]:
    ends = n_test if isinstance(n_test, tuple) else (n_test, n_test)
    whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in ends)
    if len(ends) != 2 or not whole or not 2 <= ends[0] <= ends[1] <= _LARGEST:
        raise InputError(
            "n_test must be a whole number of at least 2, or a range of two of them in order, at "
            f"most {_LARGEST:,}, got {n_test!r}"
        )
    if ends[1] - ends[0] > _MOST_RANGE:
        raise InputError(f"a range of n_test has at most {_MOST_RANGE:,} sizes, got {n_test!r}")
    return int(ends[0]), int(ends[1])


def _counts(
    printed: PrintedScores, sizes: NDArray[np.int64], rounding: Rounding
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Fewest and most right answers that print so, at every size."""
    if printed.scaled is None:
        return exact_ends(printed.values[0], sizes)
    low, high = lattice_ends(int(printed.scaled[0]), sizes, 10**printed.decimals, rounding)
    return np.maximum(low, 0).astype(np.int64), np.minimum(high, sizes).astype(np.int64)


def _at_size(
    n: int,
    run_a: tuple[int, int],
    run_b: tuple[int, int],
    congruence: Congruence,
    cells: FloatArray,
    many: bool,
) -> tuple[float, float, float, float, float]:
    """Log unit and evidence of one size, and mean, least and largest P(false) at it."""
    if run_a[1] < run_b[0]:
        return -np.inf, 0.0, 0.0, 1.0, 0.0
    run_a, run_b = (max(run_a[0], run_b[0]), run_a[1]), (run_b[0], min(run_b[1], run_a[1]))
    x_a, x_b, weights = _pairs(n, run_a, run_b, many)
    unit, evidence = _evidence(x_a, x_b, n, cells)
    tables = weights * evidence
    p = _probability(x_a, x_b, n, congruence, cells)
    corners = np.array([(a, min(b, a)) for a in run_a for b in run_b], np.float64)
    ends = _probability(corners[:, 0], corners[:, 1], n, congruence, cells)
    least, most = min(p.min(), ends.min()), max(p.max(), ends.max())
    mean = float(tables @ p / tables.sum())
    return unit, float(tables.sum()), mean, float(least), float(most)


def _pairs(
    n: int, run_a: tuple[int, int], run_b: tuple[int, int], many: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Counts of A and of B, A not below B, and how many pairs each stands for."""
    sizes = [high - low + 1 for low, high in (run_a, run_b)]
    if sizes[0] * sizes[1] * (min(run_b[1], n - run_a[0]) + 1) <= _MOST_TABLES[many]:
        x_b, x_a = (x.ravel() for x in np.mgrid[run_b[0] : run_b[1] + 1, run_a[0] : run_a[1] + 1])
        ahead = x_a >= x_b
        return x_a[ahead].astype(float), x_b[ahead].astype(float), np.ones(int(ahead.sum()))
    x, w = np.polynomial.legendre.leggauss(_ROUNDING_NODES[many])
    x_b, of_b = _placed(x, w, run_b[0] - 0.5, min(run_b[1] + 0.5, n))
    top = min(run_a[1] + 0.5, n)
    rows = [_placed(x, w, max(run_a[0], min(b, top)) - 0.5, top) for b in x_b]
    x_a = np.concatenate([np.maximum(p, b) for (p, _), b in zip(rows, x_b, strict=True)])
    weights = np.concatenate([weight * own for (_, own), weight in zip(rows, of_b, strict=True)])
    return x_a, np.repeat(x_b, x.size), weights


def _placed(x: FloatArray, w: FloatArray, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre between two counts, at least 0."""
    low = max(low, 0.0)
    return low + (high - low) * (x + 1) / 2, w * (high - low) / 2


def _evidence(
    x_a: FloatArray, x_b: FloatArray, n: int, cells: FloatArray
) -> tuple[float, FloatArray]:
    """Log of a unit, and in it the probability of pairs of counts beforehand."""
    if np.all(cells == 1):
        return 0.0, (np.minimum(x_b, n - x_a) + 1) / ((n + 1.0) * (n + 2) * (n + 3))
    from scipy.special import gammaln, logsumexp

    pairs = zip(x_a.tolist(), x_b.tolist(), strict=True)
    found = np.array([logsumexp(table_weights(a, b, float(n), cells)[1]) for a, b in pairs])
    unit = float(found.max())
    return unit + float(gammaln(n + 1) - gammaln(n + cells.sum())), np.exp(found - unit)


def _probability(
    x_a: FloatArray, x_b: FloatArray, n: int, congruence: Congruence, cells: FloatArray
) -> FloatArray:
    shared: Any = congruence
    if isinstance(congruence, int | float):
        shared = np.clip(congruence, np.maximum(0, x_a + x_b - n) / n, x_b / n)
    prior: Any = tuple(cells.tolist())
    return np.asarray(false_claim_probability(x_a / n, x_b / n, n, shared, alpha=prior))


def _impossible(a: Any, b: Any, ends: Any, low: int, high: int) -> str:
    where = f"{low:,} items" if low == high else f"{low:,} to {high:,} items"
    wrong = [v for v, (least, most) in zip((a, b), ends, strict=True) if np.all(least > most)]
    if not wrong:
        return f"no one number of items in {where} gives both {a} and {b} as printed"
    return f"no whole number of {where} gives the accuracy {wrong[0]} as printed"
