r"""Congruence: the share of items that both methods get right, known, assumed, or under a prior.

Two accuracies allow a range of it, :math:`[\max(0, p_A + p_B - 1), \min(p_A, p_B)]`, which differs
from claim to claim. A prior is therefore on a relative scale: the odds ratio
:math:`\psi = p_{11} p_{00} / (p_{10} p_{01})`, feasible for every pair of accuracies (Plackett
1965, doi 10.1080/01621459.1965.10480807), or the place within the range. Given the margins alone
the prior :math:`Dir(\alpha)` of the cells gives the number of items that both got right the weights

.. math:: P(x_{11}) \propto \prod_c \frac{\Gamma(x_c + \alpha_c)}{x_c!}

which are equal for the flat prior. Neighbouring tables then differ by one term,

.. math:: I_{1/2}(a + 1, b + 1) = I_{1/2}(a, b) + \frac{2^{-(a+b)}}{B(a, b)} \frac{a - b}{2ab}

and thousands of tables are an integral. ``tests/claims/test_congruence.py`` compares with the
definitions and with simulation, ``tests/claims/test_accuracies.py`` with sums over all tables.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

_NODES = 48  # of a Gaussian quadrature over a prior
_SLACK = 1e-9
_LARGEST_RATIO = 1e120
_FEW = 64  # claims fewer than this are summed one by one, whatever their range
_MANY = 60_000  # claims from which on all cores share them
_LONG = 4096  # tables from which on their sum is an integral
_LONG_NODES = 128  # of a Gauss-Legendre rule for it


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
    >>> from bayes_sota.claims.accuracies import false_claim_probability
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
        points, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        ratios = np.exp(np.clip(np.log(self.median) + self.spread * points, -276, 276))
        return [
            (congruence_of_odds_ratio(accuracy_a, accuracy_b, psi), float(weight))
            for psi, weight in zip(ratios, weights / weights.sum(), strict=True)
        ]


@dataclass(frozen=True)
class RelativeCongruence:
    """Beta prior of the place of the congruence between its bounds, 0 the least and 1 the largest.

    Parameters
    ----------
    a, b : float
        Parameters of the Beta distribution; (1, 1) is uniform.

    Examples
    --------
    >>> from bayes_sota.claims.accuracies import false_claim_probability
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

        points, weights = roots_jacobi(_NODES, self.b - 1, self.a - 1)
        low, high = congruence_bounds(accuracy_a, accuracy_b)
        return [
            (low + (high - low) * (1 + x) / 2, float(weight))
            for x, weight in zip(points, weights / weights.sum(), strict=True)
        ]


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
        if congruence not in CONGRUENCES:
            known = ", ".join(CONGRUENCES)
            raise InputError(f"congruence must be a share of items or {known}, got {congruence!r}")
        known_at = {"min": low, "max": high, "independent": accuracy_a * accuracy_b}
        return np.asarray(known_at[congruence])
    p11 = np.asarray(congruence, np.float64)
    wrong = ~((p11 >= low - _SLACK) & (p11 <= high + _SLACK))
    if np.any(wrong):
        where = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        lowest, highest, given = (
            float(np.broadcast_to(x, wrong.shape)[where]) for x in (low, high, p11)
        )
        raise InputError(
            f"the congruence must lie between {lowest:.6g} and {highest:.6g}, what these "
            f"accuracies allow, got {given:g}"
        )
    return np.asarray(np.clip(p11, low, high))


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

    both = min(x_a, x_b) - np.arange(int(_numbers(*(np.asarray(x) for x in (x_a, x_b, n)))))
    table = np.maximum([both, x_a - both, x_b - both, n - x_a - x_b + both], 0.0)
    return np.asarray(both), np.asarray(
        np.sum(gammaln(table + cells[:, None]) - gammaln(table + 1), axis=0)
    )


def _numbers(x_a: FloatArray, x_b: FloatArray, n: FloatArray) -> FloatArray:
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
