r"""Probability that "A outperforms B" is false, from two reported accuracies: exact.

With p1 the probability that A alone is right on an item, p2 that B alone is, and a Dirichlet prior,

.. math:: P(p_1 \le p_2 \mid x_1, x_2) = I_{1/2}(x_1 + \alpha_1,\; x_2 + \alpha_2), \quad
          x_1 = n(\hat p_A - \hat p_{11}), \; x_2 = n(\hat p_B - \hat p_{11})

because ``p1 / (p1 + p2)`` is Beta whatever the other cells are: what *Claims Reloaded* (after
Christodoulou et al. 2025, arXiv 2505.04720) calls intractable and samples. ``p11``, the congruence,
is hardly ever reported, and the verdict can hinge on it. Given the margins alone the flat prior
makes the number of items that both got right uniform on the whole numbers that the margins allow,
so that the answer is a finite average.

``tests/exact/test_false_claim.py`` compares with the source's Monte Carlo, with sums over all
tables, and with McNemar's mid-p value.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.errors import InputError
from bayes_sota.skill_distributions import FloatArray

__all__ = [
    "CONGRUENCES",
    "Congruence",
    "RopeProbabilities",
    "congruence_bounds",
    "congruence_of_odds_ratio",
    "false_claim_probability",
    "false_claim_rope",
]

Congruence = float | Literal["min", "max", "independent"] | None
CONGRUENCES = ("min", "max", "independent")
_FEW = 64  # claims fewer than this are summed one by one, whatever their range
_SLACK = 1e-9
_NODES = 96  # of a Gauss-Legendre rule


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
    psi = np.asarray(odds_ratio, np.float64)
    s = 1 + (a + b) * (psi - 1)
    root = np.sqrt(np.maximum(s**2 - 4 * psi * (psi - 1) * a * b, 0.0))
    # the same root of the quadratic in two forms, each where nothing cancels
    positive = s > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(
            positive, 2 * psi * a * b / np.where(positive, s + root, 1), (s - root) / (2 * psi - 2)
        )


def false_claim_probability(
    accuracy_a: ArrayLike,
    accuracy_b: ArrayLike,
    n_test: ArrayLike,
    congruence: Congruence | ArrayLike = None,
    *,
    alpha: float | tuple[float, float, float, float] = 1.0,
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
        product; or unknown, averaged over what they allow.
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
    about a second, because neighbouring incomplete beta functions differ by one term.

    Examples
    --------
    >>> round(float(false_claim_probability(0.90, 0.88, 500, "independent")), 3)
    0.157
    >>> round(float(false_claim_probability(0.90, 0.88, 500)), 3)
    0.093
    """
    a, b, n, cells = _checked(accuracy_a, accuracy_b, n_test, alpha)
    if congruence is None:
        found = _averaged(a * n, b * n, n, cells)
    else:
        p11 = _congruence(a, b, congruence)
        found = _at_most_half(n * (a - p11), n * (b - p11), cells)
    return float(found) if np.ndim(found) == 0 else found


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
    alpha: float | tuple[float, float, float, float] = 1.0,
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
    a, b, n, cells = _checked(accuracy_a, accuracy_b, n_test, alpha)
    if congruence is None:
        both, weights = _possible(float(a * n), float(b * n), float(n), cells)
    else:
        both, weights = np.atleast_1d(n * _congruence(a, b, congruence)), np.ones(1)
    x1, x2 = a * n - both, b * n - both
    above = 1 - weights @ _difference_at_most(rope, x1, x2, n, cells)
    below = weights @ _difference_at_most(-rope, x1, x2, n, cells)
    return RopeProbabilities(float(above), float(1 - above - below), float(below))


def _at_most_half(x1: FloatArray, x2: FloatArray, cells: FloatArray) -> FloatArray:
    from scipy.special import betainc

    return np.asarray(betainc(np.maximum(x1, 0) + cells[1], np.maximum(x2, 0) + cells[2], 0.5))


def _averaged(x_a: FloatArray, x_b: FloatArray, n: FloatArray, cells: FloatArray) -> FloatArray:
    """Mean over all tables with these margins, by one term per step."""
    shape = np.broadcast_shapes(x_a.shape, x_b.shape, n.shape)
    flat = [np.broadcast_to(x, shape).ravel() for x in (x_a, x_b, n)]
    if flat[0].size < _FEW or not np.all(cells == 1):
        values = []
        for own, other, size in zip(*flat, strict=True):
            both, weights = _possible(float(own), float(other), float(size), cells)
            values.append(weights @ _at_most_half(own - both, other - both, cells))
        return np.array(values).reshape(shape)
    return _averaged_together(*flat).reshape(shape)


def _averaged_together(x_a: FloatArray, x_b: FloatArray, n: FloatArray) -> FloatArray:
    r"""Flat prior, many claims: up from the largest congruence.

    .. math:: I_{1/2}(a + 1, b + 1) = I_{1/2}(a, b) + \frac{2^{-(a+b)}}{B(a, b)} \frac{a - b}{2ab}
    """
    from scipy.special import betainc, betaln

    most = np.minimum(x_a, x_b)
    count = np.floor(most - np.maximum(0.0, x_a + x_b - n) + _SLACK).astype(np.int64) + 1
    a, b = x_a - most + 1, x_b - most + 1
    value = betainc(a, b, 0.5)
    density = np.exp(-(a + b) * np.log(2) - betaln(a, b))
    total, steps = value.copy(), int(count.max())
    for step in range(1, steps):
        value = value + density * (a - b) / (2 * a * b)
        density = density * (a + b) * (a + b + 1) / (4 * a * b)
        a, b = a + 1, b + 1
        total += np.where(step < count, value, 0.0)
    return np.asarray(total / count)


def _possible(x_a: float, x_b: float, n: float, cells: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Numbers of items that both may have right, and their probabilities."""
    from scipy.special import gammaln

    most, least = min(x_a, x_b), max(0.0, x_a + x_b - n)
    both = most - np.arange(int(np.floor(most - least + _SLACK)) + 1)
    table = np.maximum([both, x_a - both, x_b - both, n - x_a - x_b + both], 0.0)
    log_weight = np.sum(gammaln(table + cells[:, None]) - gammaln(table + 1), axis=0)
    weights = np.exp(log_weight - log_weight.max())
    return np.asarray(both), np.asarray(weights / weights.sum())


def _difference_at_most(
    q: float, x1: FloatArray, x2: FloatArray, n: FloatArray, cells: FloatArray
) -> FloatArray:
    """P(p1 - p2 <= q) for each pair of counts, by quadrature over p1 + p2."""
    from scipy.special import betainc, betaincinv

    first, second = np.maximum(x1, 0) + cells[1], np.maximum(x2, 0) + cells[2]
    rest = np.maximum(n - x1 - x2, 0) + cells[0] + cells[3]
    kink = betainc(first + second, rest, abs(q))  # where the argument starts to be clipped
    x, w = np.polynomial.legendre.leggauss(_NODES)
    total = np.where(q < 0, 0.0, kink)  # below it the difference cannot reach q
    level = kink[:, None] + (1 - kink)[:, None] * (x + 1) / 2
    s = np.maximum(betaincinv((first + second)[:, None], rest[:, None], level), 1e-300)
    share = np.clip((1 + q / s) / 2, 0.0, 1.0)
    inside = betainc(first[:, None], second[:, None], share) @ (w / 2)
    return np.asarray(total + (1 - kink) * inside)


def _congruence(a: FloatArray, b: FloatArray, congruence: Any) -> FloatArray:
    low, high = congruence_bounds(a, b)
    if isinstance(congruence, str):
        if congruence not in CONGRUENCES:
            known = ", ".join(CONGRUENCES)
            raise InputError(f"congruence must be a share of items or {known}, got {congruence!r}")
        return np.asarray({"min": low, "max": high, "independent": a * b}[congruence])
    p11 = np.asarray(congruence, np.float64)
    wrong = ~((p11 >= low - _SLACK) & (p11 <= high + _SLACK))
    if np.any(wrong):
        where = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        bounds = (float(np.broadcast_to(x, wrong.shape)[where]) for x in (low, high))
        lowest, highest = bounds
        raise InputError(
            f"the congruence must lie between {lowest:.6g} and {highest:.6g}, what these "
            f"accuracies allow, got {float(np.broadcast_to(p11, wrong.shape)[where]):g}"
        )
    return np.asarray(np.clip(p11, low, high))


def _checked(
    accuracy_a: ArrayLike, accuracy_b: ArrayLike, n_test: ArrayLike, alpha: Any
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    a, b, n = (np.asarray(x, np.float64) for x in (accuracy_a, accuracy_b, n_test))
    for value in (a, b):
        if not np.all((value >= 0) & (value <= 1)):
            first = float(value[~((value >= 0) & (value <= 1))].ravel()[0])
            hint = f"; in percent? then write {first / 100:g}" if 1 < first <= 100 else ""
            raise InputError(f"an accuracy lies in [0, 1], got {first:g}{hint}")
    if np.any(a < b):
        raise InputError(
            "A is the reported winner, but its accuracy is below that of B: exchange the two"
        )
    if not np.all((n >= 2) & (n == np.floor(n))):
        raise InputError(f"n_test must be a whole number of at least 2, got {n_test!r}")
    cells = np.asarray(alpha, np.float64)
    cells = np.full(4, float(cells)) if cells.ndim == 0 else cells
    if cells.shape != (4,) or not np.all(cells > 0):
        raise InputError(f"alpha must be one positive number or four, got {alpha}")
    return a, b, n, cells
