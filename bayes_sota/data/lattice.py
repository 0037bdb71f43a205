"""Size of a test set from the lattice of its printed scores.

An accuracy is k / n, cut to d decimals. Below n = 10^d not every printed number can arise, so a
board with enough distinct scores gives n away. Exact: whole-number arithmetic throughout.
``tests/data/test_lattice.py`` compares with brute force, and over a grid of simulated boards.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.printed_scores import (
    ATTAINED,
    PrintedScores,
    Rounding,
    RoundingChoice,
    exact_ends,
    lattice_ends,
    parse_scores,
)

LARGEST_SIZE = 1_000_000
_MOST_CANDIDATES = 20
_MOST_NAMED = 8  # candidates in a sentence
_BLOCK = 1 << 17
_BELIEVABLE = 0.05  # largest probability of another size with which a size counts as identified
_LARGEST_TEST = 1e9  # items: the end of the prior
_TRIED = Range(1, 10**7, whole=True)


@dataclass(frozen=True)
class LatticeFit:
    """Test-set sizes that can give all scores, and how sure the first of them is.

    Attributes
    ----------
    n_test : int
        Most plausible number of test items for which every score is attainable: with one rounding
        the smallest.
    candidates : tuple of int
        The next plausible that fit too, at most 20; multiples of ``n_test`` always do.
    decimals : int
        Digits of the scores.
    rounding : {"nearest", "floor", "exact"}
        How the scores are cut if there are ``n_test`` items.
    n_scores : int
        Number of distinct scores.
    p_other : float
        Probability of another size; see ``infer_n_test``.
    n_fitting : int
        Number of sizes below 10^d (and up to ``max_n``) that fit; from 10^d on all do.
    """

    n_test: int
    candidates: tuple[int, ...]
    decimals: int
    rounding: Rounding
    n_scores: int
    p_other: float
    n_fitting: int

    @property
    def is_identified(self) -> bool:
        """Whether another size is improbable."""
        return self.p_other <= _BELIEVABLE

    @property
    def statement(self) -> str:
        """Which sizes fit, and how sure the first is, in a sentence."""
        named = sorted((self.n_test, *self.candidates)[:_MOST_NAMED])
        rest = self.n_fitting - len(named)
        text = ", ".join(f"{n:,}" for n in named) + (f" and {rest:,} more" if rest else "")
        beyond = "" if self.rounding == "exact" else f", and any from {10**self.decimals:,} on"
        return (
            f"sizes that give all {self.n_scores:,} scores are {text}{beyond}; the most plausible, "
            f"{self.n_test:,}, is wrong with probability {self.p_other:.1g}"
        )


def infer_n_test(
    scores: Any,
    rounding: RoundingChoice = "auto",
    max_n: int = LARGEST_SIZE,
    *,
    percent: bool | None = None,
) -> LatticeFit:
    """Test-set sizes for which every distinct score is attainable, the most plausible first.

    A score v with d decimals is attainable at n if some k has k/n cut to v: floored, ``v <= k/n <
    v + 10^-d``; rounded, ``|k/n - v| <= 10^-d / 2``. For n below 10^d a share of about n / 10^d of
    all printed numbers is, and K distinct scores tell sizes apart by their likelihood,

        p(scores | n) = prod_v c_v(n) / n

    with ``c_v`` the counts that print as v. Rounded ties go up, to even or at random, with equal
    probability beforehand. The prior is 1/n, and even for the roundings. Sizes from 10^d on give
    every score a probability of 10^-d; they stand for scores that come from elsewhere, too. Likely
    are hence the smallest sizes that fit: twice the size is less likely by 2^-K. A size is
    identified if all others
    together have a probability of at most 0.05.

    Parameters
    ----------
    scores : sequence of float, str or Decimal, (m,)
        Printed accuracies; strings keep their digits.
    rounding : {"auto", "nearest", "floor", "exact"}
        How they were cut; "auto" tries nearest and floor.
    max_n : int
        Largest size tried.
    percent : bool, optional
        Whether scores are in percent; default as in ``Leaderboard``.

    Raises
    ------
    InputError
        Scores that are not accuracies, or no size below 10^d and up to ``max_n`` that fits: then
        nothing can be told from the scores.

    Examples
    --------
    >>> scores = [int(k / 271 * 10**4) / 10**4 for k in range(200, 260)]
    >>> fit = infer_n_test(scores)
    >>> fit.n_test, fit.rounding, fit.candidates[:3], fit.is_identified
    (271, 'floor', (542, 813, 1084), True)
    """
    return fit_lattice(
        parse_scores(scores, rounding=rounding, percent=percent), _TRIED.check(max_n, "max_n")
    )


def fit_lattice(printed: PrintedScores, max_n: int = LARGEST_SIZE) -> LatticeFit:
    """Sizes of test sets that give printed scores: ``infer_n_test``."""
    roundings: tuple[Rounding, ...] = ("exact",) if printed.scaled is None else printed.roundings
    fitting = {how: _fitting_sizes(printed, how, max_n) for how in roundings}
    sizes = np.unique(np.concatenate([found for found, _ in fitting.values()]))
    n_scores = _distinct(printed).size
    if not sizes.size:
        largest = min(max_n, int(_unit(printed)) - 1)
        raise InputError(
            f"no test set of up to {largest:,} items gives all {n_scores:,} distinct scores "
            f"with {printed.decimals} decimals ({' or '.join(roundings)}), so that its size cannot "
            "be inferred",
            fix="drop entries with another metric, try another rounding, or give n_test",
        )
    weights = np.full(sizes.size, -np.inf)
    for found, log_counts in fitting.values():
        at = np.searchsorted(sizes, found)
        prior = -(n_scores + 1) * np.log(found)
        weights[at] = np.logaddexp(weights[at], log_counts + prior)
    unit = _unit(printed)
    beyond = np.log(len(roundings) * max(np.log(_LARGEST_TEST / unit), 1.0)) - n_scores * np.log(
        unit
    )
    total = float(np.logaddexp(np.logaddexp.reduce(weights), beyond))
    order = np.argsort(-weights, kind="stable")
    best = int(sizes[order[0]])
    return LatticeFit(
        n_test=best,
        candidates=tuple(sizes[order[1 : _MOST_CANDIDATES + 1]].tolist()),
        decimals=printed.decimals,
        rounding=next(how for how, (found, _) in fitting.items() if best in found),
        n_scores=int(n_scores),
        p_other=abs(float(np.expm1(weights[order[0]] - total))),
        n_fitting=int(sizes.size),
    )


def _distinct(printed: PrintedScores) -> NDArray[Any]:
    """Distinct scores except those that fit every size."""
    values = printed.values if printed.scaled is None else printed.scaled
    top = 1.0 if printed.scaled is None else 10**printed.decimals
    distinct = np.unique(values)
    return distinct[(distinct > 0) & (distinct < top)]


def _unit(printed: PrintedScores) -> float:
    """Number of printed values in [0, 1]; with full precision what the tolerance tells apart."""
    return 0.5 / ATTAINED if printed.scaled is None else float(10**printed.decimals)


def _fitting_sizes(
    printed: PrintedScores, rounding: Rounding, max_n: int
) -> tuple[IntArray, FloatArray]:
    """Sizes below 10^d that fit, and the logarithm of the product of their counts.

    The mean of the products over the ways in which ties may go.
    """
    distinct = _distinct(printed)
    stop = min(max_n, int(_unit(printed)) - 1)
    # Scores from all over the range rule out most sizes soonest.
    order = np.random.default_rng(0).permutation(distinct.size)
    sizes, logs = [np.empty(0, np.int64)], [np.empty(0)]
    for start in range(1, stop + 1, _BLOCK):
        live = np.arange(start, min(start + _BLOCK, stop + 1))
        counted = np.zeros((1, live.size))
        for score in distinct[order]:
            counts = _counts(score, live, printed, rounding)
            keep = np.any(counts > 0, axis=0)
            with np.errstate(divide="ignore"):  # of a way that does not give this score
                counted = counted[:, keep] + np.log(counts[:, keep])
            live = live[keep]
            if not live.size:
                break
        sizes.append(live)
        logs.append(np.logaddexp.reduce(counted, axis=0) - np.log(len(counted)))
    return np.concatenate(sizes), np.concatenate(logs)


def _counts(score: Any, sizes: IntArray, printed: PrintedScores, rounding: Rounding) -> FloatArray:
    """Counts of right answers that print as a score, (ways in which ties may go, sizes)."""
    if printed.scaled is None:
        low, high = exact_ends(score, sizes)
        return np.asarray([high - low + 1], np.float64)
    unit, whole = 10**printed.decimals, int(score)
    low, high = lattice_ends(whole, sizes, unit, rounding)
    counts = np.asarray(np.maximum(high - low + 1, 0), np.float64)
    if rounding == "floor":
        return counts[None]
    lower, upper = ((2 * whole + side) * sizes % (2 * unit) == 0 for side in (-1, 1))
    lost = lower.astype(float) + upper
    return np.stack([counts - upper, counts - (whole % 2) * lost, counts - lost / 2])
