r"""The congruence p11: the share of items that two methods both got right.

Two accuracies allow a congruence in :math:`[\max(0, p_A + p_B - 1), \min(p_A, p_B)]`, which differs
from claim to claim. The odds ratio :math:`\psi = p_{11} p_{00} / (p_{10} p_{01})` is feasible for
every pair of accuracies (Plackett 1965, doi 10.1080/01621459.1965.10480807), so that what was
measured on other pairs carries over as an odds ratio (``DOMAINS``).
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

_LARGEST_RATIO = 1e120
SLACK = 1e-9  # by which rounding errors may pass a bound

Congruence = float | Literal["min", "max", "independent"] | None


class Domain(NamedTuple):
    """Odds ratios of pairs whose accuracies differ by .02 at most: median, 5 % and 95 %."""

    odds_ratio: float
    low: float
    high: float
    measured_on: str


DOMAINS = {
    "image-classifiers": Domain(62, 27, 110, "158 pairs of networks on 10,000 items of CIFAR-10"),
    "language-models": Domain(
        5.5, 1.6, 26, "122 pairs of models on benchmarks of 479 to 2,854 items"
    ),
    "tabular": Domain(71, 17, 446, "9,594 pairs of scikit-learn's on 1,497 items of digits"),
}
"""Typical congruence by domain (docs/measured/claims.md)."""


def congruence_bounds(accuracy_a: ArrayLike, accuracy_b: ArrayLike) -> tuple[Any, Any]:
    """Least and largest share of items that both can have right, given their accuracies.

    Examples
    --------
    >>> low, high = congruence_bounds(0.90, 0.88)
    >>> round(float(low), 2), float(high)
    (0.78, 0.88)
    """
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
            problem = "{name} must be a share of items or min, max, independent, got "
            raise InputError(problem + repr(congruence), parameter="congruence")
        return known_at[congruence]
    p11 = np.asarray(congruence, np.float64)
    wrong = ~((p11 >= low - SLACK) & (p11 <= high + SLACK))
    if np.any(wrong):
        ends = (float(x[wrong][0]) for x in np.broadcast_arrays(low, high, p11))
        raise InputError(
            "the congruence must lie between {:.6g} and {:.6g}, what these accuracies allow, got "
            "{:g}".format(*ends)
        )
    return np.clip(p11, low, high)
