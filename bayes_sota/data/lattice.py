"""Size of a test set from the lattice of its printed scores.

An accuracy is k / n, cut to d decimals. Below n = 10^d not every printed number can arise, so a
board with enough distinct scores gives n away: it is the smallest n for which every score is
attainable. Exact: whole-number arithmetic throughout. ``tests/data/test_lattice.py`` compares with
brute force.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_sota.data.printed_scores import PrintedScores, Rounding, lattice_ends, parse_scores
from bayes_sota.errors import InputError

__all__ = ["LARGEST_SIZE", "LatticeFit", "fit_lattice", "infer_n_test", "smallest_size"]

LARGEST_SIZE = 1_000_000
_MOST_CANDIDATES = 20
_BLOCK = 1 << 17
_BELIEVABLE = 0.05  # largest chance of luck with which a size counts as identified
_ATTAINED = 1e-9

LatticeRounding = Literal["auto", "nearest", "floor", "exact"]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class LatticeFit:
    """Smallest test set that can give all scores, and how sure that is.

    Attributes
    ----------
    n_test : int
        Smallest number of test items for which every score is attainable.
    candidates : tuple of int
        The next larger numbers that fit too, at most 20; multiples of ``n_test`` always do.
    decimals : int
        Digits of the scores.
    rounding : {"nearest", "floor", "exact"}
        How the scores are cut.
    n_scores : int
        Number of distinct scores.
    p_luck : float
        About the chance that the scores of a larger test set fit ``n_test`` or a smaller size by
        luck; see ``infer_n_test``.
    other : tuple of (str, int or None)
        With ``rounding="auto"`` the other rounding and the smallest size that fits with it.
    """

    n_test: int
    candidates: tuple[int, ...]
    decimals: int
    rounding: Rounding
    n_scores: int
    p_luck: float
    other: tuple[str, int | None] | None = None

    @property
    def is_identified(self) -> bool:
        """Whether luck is an unlikely explanation."""
        return self.p_luck <= _BELIEVABLE

    @property
    def statement(self) -> str:
        """What is certain and what is not, in a sentence."""
        how = {"exact": "", "floor": " floored", "nearest": " rounded"}[self.rounding]
        text = f"{self.n_test:,} is the smallest size that gives all {self.n_scores:,} scores{how}"
        near = [n for n in self.candidates if n < 2 * self.n_test]
        if near:
            text += f"; {near[0]:,} is the next that fits"
        else:
            text += "; no other below twice that fits, multiples do"
        if self.rounding != "exact" and self.n_test > 10**self.decimals / 2:
            text += f"; this near to 10^{self.decimals} other sizes fit easily"
        chance = "below 1e-6" if self.p_luck < 1e-6 else f"about {self.p_luck:.1g}"
        text += f"; chance of such a fit by luck {chance}"
        return text if self.is_identified else f"{text}: too few scores to identify the size"


def infer_n_test(
    scores: Any,
    rounding: LatticeRounding = "floor",
    decimals: int | None = None,
    max_n: int = LARGEST_SIZE,
    *,
    percent: bool | None = None,
) -> LatticeFit:
    """Smallest test-set size for which every distinct score is attainable.

    A score v with d decimals is attainable at n if some k has k/n cut to v: floored, ``v <= k/n <
    v + 10^-d``; rounded, ``|k/n - v| <= 10^-d / 2``. For n below 10^d a share of about n / 10^d of
    all printed numbers is. K distinct scores that come from elsewhere hence fit some size up to n
    with probability at most ``sum_{i <= n} (i / 10^d)^K``, and those of a test set of twice n fit n
    with about ``(1/2 + n / (2 10^d))^K``: ``p_luck`` is the sum of both, with the true share for n
    itself. It takes other sizes as unrelated, and the rounding as known; ``candidates`` are what
    really fits.

    Parameters
    ----------
    scores : sequence of float, str or Decimal, (m,)
        Printed accuracies; strings keep their digits.
    rounding : {"floor", "nearest", "exact", "auto"}
        How they were cut; "auto" tries floor and nearest and takes the smaller size.
    decimals : int, optional
        Digits printed. Default: the most that any score has.
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
    >>> fit.n_test, fit.candidates[:3], fit.is_identified
    (271, (542, 813, 1084), True)
    """
    if rounding not in ("auto", "nearest", "floor", "exact"):
        raise InputError(
            f'rounding must be "auto", "nearest", "floor" or "exact", got {rounding!r}'
        )
    if isinstance(max_n, bool) or not isinstance(max_n, int) or not 1 <= max_n <= 10**7:
        raise InputError(f"max_n is the largest size tried, from 1 to 10,000,000, got {max_n!r}")
    if rounding != "auto":
        printed = parse_scores(scores, rounding=rounding, decimals=decimals, percent=percent)
        return fit_lattice(printed, rounding, max_n)
    return _better_of_two(scores, decimals, max_n, percent)


def fit_lattice(
    printed: PrintedScores, rounding: Rounding, max_n: int = LARGEST_SIZE
) -> LatticeFit:
    """Smallest size for scores that are parsed already; see ``infer_n_test``."""
    scaled = _distinct(printed)
    sizes = _fitting_sizes(scaled, printed, rounding, max_n)
    share = _attainable_share(sizes[0], printed, rounding) if sizes else 0.0
    if not sizes or share == 1.0:
        raise InputError(_nothing_fits(printed, rounding, max_n, scaled.size, sizes))
    return LatticeFit(
        n_test=sizes[0],
        candidates=tuple(sizes[1:]),
        decimals=printed.decimals,
        rounding="exact" if printed.scaled is None else rounding,
        n_scores=int(scaled.size),
        p_luck=_luck(sizes[0], share, _unit(printed), int(scaled.size)),
    )


def smallest_size(printed: PrintedScores, rounding: Rounding) -> int | None:
    """Identified size, None where there is none; for hints in messages."""
    try:
        fit = fit_lattice(printed, rounding)
    except InputError:
        return None
    return fit.n_test if fit.is_identified else None


def _better_of_two(
    scores: Any, decimals: int | None, max_n: int, percent: bool | None
) -> LatticeFit:
    fits: dict[str, LatticeFit] = {}
    problem = ""
    for rounding in ("floor", "nearest"):
        printed = parse_scores(scores, rounding=rounding, decimals=decimals, percent=percent)
        try:
            fits[rounding] = fit_lattice(printed, rounding, max_n)
        except InputError as error:
            problem = problem or str(error)
    if not fits:
        raise InputError(problem)
    # Floor where both are equal.
    best = min(fits, key=lambda key: (not fits[key].is_identified, fits[key].n_test))
    other = "nearest" if best == "floor" else "floor"
    size = fits[other].n_test if other in fits else None
    return replace(fits[best], other=(other, size))


def _distinct(printed: PrintedScores) -> NDArray[Any]:
    """Distinct scores except those that fit every size."""
    values = printed.values if printed.scaled is None else printed.scaled
    top = 1.0 if printed.scaled is None else 10**printed.decimals
    distinct = np.unique(values)
    return distinct[(distinct > 0) & (distinct < top)]


def _unit(printed: PrintedScores) -> float:
    """Number of printed values in [0, 1]; with full precision what the tolerance tells apart."""
    return 0.5 / _ATTAINED if printed.scaled is None else float(10**printed.decimals)


def _fitting_sizes(
    scaled: NDArray[Any], printed: PrintedScores, rounding: Rounding, max_n: int
) -> list[int]:
    """Sizes below 10^d that fit: the smallest, and the next up to ten times it."""
    stop = min(max_n, int(_unit(printed)) - 1)
    # Scores from all over the range rule out most sizes soonest.
    order = np.random.default_rng(0).permutation(scaled.size)
    sizes: list[int] = []
    for start in range(1, stop + 1, _BLOCK):
        live = np.arange(start, min(start + _BLOCK, stop + 1))
        for score in scaled[order]:
            live = live[_is_attainable(score, live, printed, rounding)]
            if not live.size:
                break
        sizes += live[: _MOST_CANDIDATES + 1].tolist()
        if len(sizes) > _MOST_CANDIDATES or (sizes and start + _BLOCK > 10 * sizes[0]):
            break
    return sizes[: _MOST_CANDIDATES + 1]


def _is_attainable(
    score: Any, sizes: IntArray, printed: PrintedScores, rounding: Rounding
) -> NDArray[np.bool_]:
    if printed.scaled is None:
        missed = np.abs(np.rint(score * sizes) / sizes - score)
        return np.asarray(missed < _ATTAINED)
    low, high = lattice_ends(int(score), sizes, 10**printed.decimals, rounding)
    return np.asarray(low <= high, dtype=bool)


def _attainable_share(size: int, printed: PrintedScores, rounding: Rounding) -> float:
    """Share of all printed numbers that ``size`` can give.

    About size / 10^d; but rounded, 8,000 items give any number of four decimals, because their ties
    may go both ways.
    """
    if printed.scaled is None or 10**printed.decimals > 2 * LARGEST_SIZE:
        return size / _unit(printed)
    every = np.arange(1, 10**printed.decimals)
    low, high = lattice_ends(every, size, 10**printed.decimals, rounding)
    return float(np.mean(low <= high))


def _luck(size: int, share: float, unit: float, n_scores: int) -> float:
    if n_scores == 0:
        return 1.0
    smaller = float(np.sum((np.arange(1, size) / unit) ** n_scores))
    return min(1.0, smaller + share**n_scores + (0.5 + share / 2) ** n_scores)


def _nothing_fits(
    printed: PrintedScores, rounding: Rounding, max_n: int, n_scores: int, universal: list[int]
) -> str:
    what = f"gives all {n_scores:,} distinct scores (rounding {rounding!r})"
    if printed.scaled is None or (not universal and 10**printed.decimals > max_n + 1):
        return (
            f"no test set of up to {max_n:,} items {what}; try the other rounding or a larger "
            "max_n, or give n_test"
        )
    limit = universal[0] if universal else 10**printed.decimals
    return (
        f"no test set of fewer than {limit:,} items {what}, and that many would give any: with "
        f"{printed.decimals} decimals its size cannot be inferred; try the other rounding, drop "
        "entries with another metric, or give n_test"
    )
