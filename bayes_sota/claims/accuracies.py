r"""Probability that "A outperforms B" is false, from two reported accuracies: exact.

With p1 the probability that A alone is right on an item, p2 that B alone is, and a Dirichlet prior,

.. math:: P(p_1 \le p_2 \mid x_1, x_2) = I_{1/2}(x_1 + \alpha_1,\; x_2 + \alpha_2), \quad
          x_1 = n(\hat p_A - \hat p_{11}), \; x_2 = n(\hat p_B - \hat p_{11})

because ``p1 / (p1 + p2)`` is Beta whatever the other cells are: what *Claims Reloaded* (after
Christodoulou et al. 2025, arXiv 2505.04720) calls intractable and samples. ``p11``, the congruence,
is hardly ever reported, and the verdict can hinge on it. Given the margins alone the flat prior
makes the number of items that both got right uniform on the whole numbers that the margins allow,
so that the answer is a finite average.

``tests/claims/test_accuracies.py`` compares with the source's Monte Carlo, with sums over all
tables, and with McNemar's mid-p value.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.claims.congruence import (
    Congruence,
    CongruencePrior,
    congruence_at,
    congruence_bounds,
)
from bayes_sota.claims.congruence_average import at_most_half, averaged, possible_tables
from bayes_sota.core.arguments import ALPHA
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

__all__ = [
    "RopeProbabilities",
    "draw_cells",
    "false_claim_probability",
    "false_claim_rope",
    "sensitivity_to_congruence",
]

_NODES = 96  # of a Gauss-Legendre rule


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
    a, b, n, cells = _checked(accuracy_a, accuracy_b, n_test, alpha)
    if congruence is None:
        found = averaged(a * n, b * n, n, cells)
    elif isinstance(congruence, CongruencePrior):
        found = np.zeros(np.broadcast_shapes(a.shape, b.shape, n.shape))
        for p11, weight in congruence.nodes(a, b):
            found = found + weight * at_most_half(n * (a - p11), n * (b - p11), cells)
    else:
        p11 = congruence_at(a, b, congruence)
        found = at_most_half(n * (a - p11), n * (b - p11), cells)
    if cells[1] == cells[2]:
        found = np.minimum(found, 0.5)  # what equal accuracies have, but for rounding
    return float(found) if np.ndim(found) == 0 else found


def sensitivity_to_congruence(
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    *,
    alpha: float | tuple[float, float, float, float] = 1.0,
    points: int = 201,
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
    both, weights = _tables(a, b, n, cells, congruence)
    x1, x2 = a * n - both, b * n - both
    above = max(1 - float(weights @ _difference_at_most(rope, x1, x2, n, cells)), 0.0)
    below = max(float(weights @ _difference_at_most(-rope, x1, x2, n, cells)), 0.0)
    return RopeProbabilities(above, max(1 - above - below, 0.0), below)


def draw_cells(
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    congruence: Congruence = None,
    *,
    alpha: float | tuple[float, float, float, float] = 1.0,
    draws: int = 4000,
    rng: np.random.Generator,
) -> FloatArray:
    """Posterior draws of the four cells: both right, A alone, B alone, none; shape (draws, 4).

    Parameters are those of ``false_claim_probability``, with numbers only.

    Examples
    --------
    >>> cells = draw_cells(0.9, 0.88, 500, 0.85, draws=10_000, rng=np.random.default_rng(0))
    >>> cells.mean(axis=0).round(3).tolist()
    [0.845, 0.052, 0.032, 0.071]
    """
    a, b, n, cells = _checked(accuracy_a, accuracy_b, n_test, alpha)
    both, weights = _tables(a, b, n, cells, congruence)
    x11 = both[rng.choice(len(both), size=draws, p=weights)]
    counts = np.column_stack([x11, a * n - x11, b * n - x11, n - a * n - b * n + x11])
    gammas = rng.standard_gamma(np.maximum(counts, 0.0) + cells)
    return np.asarray(gammas / gammas.sum(axis=1, keepdims=True))


def _tables(
    a: FloatArray, b: FloatArray, n: FloatArray, cells: FloatArray, congruence: Congruence
) -> tuple[FloatArray, FloatArray]:
    """Numbers of items that both got right, and their probabilities, of one claim."""
    if congruence is None:
        return possible_tables(float(a * n), float(b * n), float(n), cells)
    if isinstance(congruence, CongruencePrior):
        shares, probabilities = zip(*congruence.nodes(a, b), strict=True)
        return n * np.array(shares), np.array(probabilities)
    return np.atleast_1d(n * congruence_at(a, b, congruence)), np.ones(1)


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
    if not np.all((n >= 2) & (n == np.floor(n)) & np.isfinite(n)):
        raise InputError(f"n_test must be a whole number of at least 2, got {n_test!r}")
    cells = np.asarray(alpha, np.float64)
    cells = np.full(4, float(cells)) if cells.ndim == 0 else cells
    if cells.shape != (4,):
        raise InputError(f"alpha must be one number or four, got {alpha}")
    for cell in cells:
        ALPHA.check(cell, "alpha")
    return a, b, n, cells
