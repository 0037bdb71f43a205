r"""Claims whose accuracies are printed numbers.

Printed accuracies are rounded. With the flat prior all tables of n items are equally probable, so
that the printed numbers leave

.. math:: P(x_A, x_B \mid \text{printed}) \propto T(x_A, x_B), \quad x_A \ge x_B

with T the number of tables with these margins, over the counts that print so. An accuracy that no
count gives is impossible (the GRIM check of Brown & Heathers 2017, doi 10.1177/1948550616673876).
``tests/claims/test_accuracies.py`` compares with all tables, one by one.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayes_sota.claims.accuracies import check_winner, false_claim_probability
from bayes_sota.claims.congruence import Congruence
from bayes_sota.core.arguments import Range
from bayes_sota.core.errors import ImpossibleAccuracyError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import (
    PrintedScores,
    Rounding,
    parse_scores,
)

_MOST_TABLES = 10_000_000  # one by one
_ROUNDING_NODES = 12
_LARGEST = 10_000_000  # items


@dataclass(frozen=True, eq=False)
class PrintedClaim:
    """What printed numbers leave open, and the probability that the claim is false.

    Attributes
    ----------
    p_false : float
        Averaged over the counts that print so.
    lowest, highest : float
        Over these counts, under the same assumption about the congruence.
    counts_a, counts_b : (int, int)
        Fewest and most items that each got right.
    """

    p_false: float
    lowest: float
    highest: float
    counts_a: tuple[int, int]
    counts_b: tuple[int, int]


def reported_claim(
    accuracy_a: str | float,
    accuracy_b: str | float,
    n_test: int,
    congruence: Congruence = None,
    *,
    rounding: Literal["auto"] | Rounding = "auto",
) -> PrintedClaim:
    """Probability that the claim is false, over all that prints as the two accuracies.

    Parameters
    ----------
    accuracy_a, accuracy_b : str or float
        As printed; text keeps its digits ("0.90" has two). Each is rounded on its own. A has at
        least as many right as B, also where both print alike.
    n_test : int
        Number of items.
    congruence
        As in ``false_claim_probability``. A known share of items is held within the bounds of
        each pair of counts.
    rounding : {"auto", "nearest", "floor", "exact"}
        How the accuracies were cut; "auto" is nearest.

    Returns
    -------
    PrintedClaim

    Raises
    ------
    ImpossibleAccuracyError
        No number of right answers gives these accuracies.
    InputError
        A below B, a size below 2 or above 10,000,000.

    Examples
    --------
    >>> claim = reported_claim("0.90", "0.88", 500)
    >>> claim.counts_a, claim.counts_b, round(claim.p_false, 3)
    ((448, 452), (438, 442), 0.1)
    """
    Range(2, _LARGEST, whole=True).check(n_test, "n_test")
    n = int(n_test)
    printed = [
        parse_scores([value], rounding=rounding, percent=False, subjects=[who])
        for who, value in (("A", accuracy_a), ("B", accuracy_b))
    ]
    how = printed[0].roundings[0]
    check_winner(printed[0].values, printed[1].values)
    ends = [one.count_bounds(np.array([n]), how) for one in printed]
    counts_a, counts_b = ((int(fewest[0]), int(most[0])) for fewest, most in ends)
    for given, (fewest, most) in ((accuracy_a, counts_a), (accuracy_b, counts_b)):
        if fewest > most:
            problem = f"no whole number of {n:,} items gives the accuracy {given} as printed"
            raise ImpossibleAccuracyError(f"{problem}{_attainable(float(given), n, printed, how)}")
    run_a, run_b = (max(counts_a[0], counts_b[0]), counts_a[1]), counts_b
    run_b = (run_b[0], min(run_b[1], run_a[1]))
    x_a, x_b, weights = _pairs(n, run_a, run_b)
    tables = weights * (np.minimum(x_b, n - x_a) + 1)
    p = _probability(x_a, x_b, n, congruence)
    corners = np.array([(a, min(b, a)) for a in run_a for b in run_b], np.float64)
    ends_of_p = _probability(corners[:, 0], corners[:, 1], n, congruence)
    return PrintedClaim(
        p_false=float(tables @ p / tables.sum()),
        lowest=float(min(p.min(), ends_of_p.min())),
        highest=float(max(p.max(), ends_of_p.max())),
        counts_a=counts_a,
        counts_b=counts_b,
    )


def _pairs(
    n: int, run_a: tuple[int, int], run_b: tuple[int, int]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Counts of A and of B, A not below B, and how many pairs each stands for."""
    sizes = [high - low + 1 for low, high in (run_a, run_b)]
    if sizes[0] * sizes[1] * (min(run_b[1], n - run_a[0]) + 1) <= _MOST_TABLES:
        x_b, x_a = (x.ravel() for x in np.mgrid[run_b[0] : run_b[1] + 1, run_a[0] : run_a[1] + 1])
        ahead = x_a >= x_b
        return x_a[ahead].astype(float), x_b[ahead].astype(float), np.ones(int(ahead.sum()))
    x, w = np.polynomial.legendre.leggauss(_ROUNDING_NODES)
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


def _probability(x_a: FloatArray, x_b: FloatArray, n: int, congruence: Congruence) -> FloatArray:
    shared: Any = congruence
    if isinstance(congruence, int | float):
        shared = np.clip(congruence, np.maximum(0, x_a + x_b - n) / n, x_b / n)
    return false_claim_probability(x_a / n, x_b / n, n, shared)


def _attainable(accuracy: float, n: int, printed: list[PrintedScores], rounding: Rounding) -> str:
    """What would be right in place of an accuracy, as the end of a message."""
    right = accuracy * n
    below, above = np.floor(right) / n, np.ceil(right) / n
    other: Rounding = "floor" if rounding == "nearest" else "nearest"
    counts = [one.count_bounds(np.array([n]), other) for one in printed]
    possible = all(fewest[0] <= most[0] for fewest, most in counts)
    cut = f'; with the rounding "{other}" both are attainable' if possible else ""
    return f": the nearest attainable ones are {below:.8g} and {above:.8g}{cut}"
