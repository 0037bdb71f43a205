r"""Claims whose accuracies are printed numbers, and whose number of items may be uncertain.

Printed accuracies are rounded. With the flat prior all tables of n items are equally probable, so
that the printed numbers leave

.. math:: P(n, x_A, x_B \mid \text{printed}) \propto P(n)\, \frac{T(n, x_A, x_B)}{\binom{n+3}{3}},
          \quad x_A \ge x_B

with T the number of tables with these margins, over the counts that print so. An accuracy that no
count gives at any n is impossible (the GRIM check of Brown & Heathers 2017, doi
10.1177/1948550616673876). ``tests/claims/test_accuracies.py`` compares with all tables, one by one.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from bayes_sota.claims.accuracies import (
    Alpha,
    check_winner,
    false_claim_probability,
    table_weights,
)
from bayes_sota.claims.congruence import Congruence
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

_MOST_SIZES = 64  # the middles of equally long runs of sizes stand for more
_MANY_SIZES = 16
_MOST_TABLES = {False: 10_000_000, True: 100_000}  # one by one; fewer of each of many sizes
_ROUNDING_NODES = {False: 12, True: 5}
_LARGEST = 10_000_000  # items
_MOST_RANGE = 1_000_000


@dataclass(frozen=True, eq=False)
class PrintedClaim:
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
) -> PrintedClaim:
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
    PrintedClaim

    Raises
    ------
    ImpossibleAccuracyError
        No number of items gives these accuracies.
    InputError
        A below B, a size below 2 or above 10,000,000, a range of more than a million sizes.

    Examples
    --------
    >>> at_sizes = reported_claim("0.90", "0.88", 500)
    >>> at_sizes.counts_a, at_sizes.counts_b, round(at_sizes.p_false, 3)
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
    check_winner(printed[0].values, printed[1].values)
    every = np.arange(low, high + 1)
    ends = [counts_printed_so(one, every, how) for one in printed]
    possible = (ends[0][0] <= ends[0][1]) & (ends[1][0] <= ends[1][1])
    if not possible.any():
        problem = _impossible(accuracy_a, accuracy_b, ends, low, high)
        raise ImpossibleAccuracyError(f"{problem}{_attainable(printed, ends, low, high, how)}")
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
    at_sizes = [_at_size(n, a, b, congruence, cells, many) for n, (a, b) in runs.items()]
    units, evidence, p, least, most = map(np.array, zip(*at_sizes, strict=True))
    weights = evidence * np.exp(units - units.max())
    weights /= weights.sum()
    counts_a, counts_b = runs[int(sizes[int(np.argmax(weights))])]
    return PrintedClaim(
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


def counts_printed_so(
    printed: PrintedScores, sizes: NDArray[np.int64], rounding: Rounding
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Fewest and most right answers that print so: one score at every size, or each at its own."""
    if printed.scaled is None:
        return exact_ends(printed.values, sizes)
    low, high = lattice_ends(printed.scaled, sizes, 10**printed.decimals, rounding)
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
    pairs = zip(x_a.tolist(), x_b.tolist(), strict=True)
    evidence = np.array([logsumexp(table_weights(a, b, float(n), cells)[1]) for a, b in pairs])
    unit = float(evidence.max())
    return unit + float(gammaln(n + 1) - gammaln(n + cells.sum())), np.exp(evidence - unit)


def _probability(
    x_a: FloatArray, x_b: FloatArray, n: int, congruence: Congruence, cells: FloatArray
) -> FloatArray:
    shared: Any = congruence
    if isinstance(congruence, int | float):
        shared = np.clip(congruence, np.maximum(0, x_a + x_b - n) / n, x_b / n)
    prior: Any = tuple(cells.tolist())
    return false_claim_probability(x_a / n, x_b / n, n, shared, alpha=prior)


def _impossible(a: Any, b: Any, ends: Any, low: int, high: int) -> str:
    where = f"{low:,} items" if low == high else f"{low:,} to {high:,} items"
    wrong = [v for v, (least, most) in zip((a, b), ends, strict=True) if np.all(least > most)]
    if not wrong:
        return f"no one number of items in {where} gives both {a} and {b} as printed"
    return f"no whole number of {where} gives the accuracy {wrong[0]} as printed"


def _attainable(
    printed: list[PrintedScores], ends: Any, low: int, high: int, rounding: Rounding
) -> str:
    """What would be right in place of an accuracy at one size, as the end of a message."""
    if low < high:
        return ""
    pairs = zip(printed, ends, strict=True)
    wrong = next(one for one, (least, most) in pairs if np.all(least > most))
    right = float(wrong.values[0]) * low
    below, above = np.floor(right) / low, np.ceil(right) / low
    other: Rounding = "floor" if rounding == "nearest" else "nearest"
    counts = [counts_printed_so(one, np.array([low]), other) for one in printed]
    possible = all(fewest[0] <= most[0] for fewest, most in counts)
    cut = f'; with rounding="{other}" both are attainable' if possible else ""
    return f": the nearest attainable ones are {below:.8g} and {above:.8g}{cut}"
