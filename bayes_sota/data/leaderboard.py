"""What a leaderboard says: here its best score, the number of classifiers and of test items.

A printed score is an interval of success counts, not a point: 0.9116 on 13,840 items is any count
that prints as 0.9116. Everything is checked here, at construction, and never again.
"""

import hashlib
import json
import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

import numpy as np

from bayes_sota.errors import InputError
from bayes_sota.priors import TriesPrior, UniformTries

__all__ = ["LARGEST", "Leaderboard", "Rounding"]

Rounding = Literal["nearest", "floor", "exact"]
LARGEST = 10**9  # test items, classifiers
_EXACT_DECIMALS = 12  # a score with this many digits or more is not a rounded one


@dataclass(frozen=True)
class Leaderboard:
    """The observed maximum of a leaderboard with accuracy as its metric.

    Construct with ``from_maximum``.

    Attributes
    ----------
    maximum : float
        Best observed score, an accuracy in [0, 1].
    n_test : int
        Number of test items.
    tries : int or TriesPrior
        Number of classifiers (or tries) that could have become the maximum.
    counts : (int, int)
        Smallest and largest success count that prints as ``maximum``.
    rounding, decimals
        How the score was printed.
    name : str
        Label of the board in tables and in the coordinate ``board``.
    """

    maximum: float
    n_test: int
    tries: int | TriesPrior
    counts: tuple[int, int]
    rounding: Rounding = "nearest"
    decimals: int | None = None
    name: str = "board"

    @classmethod
    def from_maximum(
        cls,
        maximum: float | str | Decimal,
        *,
        n_test: int,
        n_classifiers: int | tuple[int, int] | TriesPrior,
        rounding: Rounding = "nearest",
        decimals: int | None = None,
        name: str = "board",
    ) -> "Leaderboard":
        """Leaderboard of which only the best score is known.

        Parameters
        ----------
        maximum : float, str or Decimal
            Best score as an accuracy. A string keeps its digits: "0.9110" has four decimals.
        n_test : int
            Number of test items.
        n_classifiers : int, (int, int) or TriesPrior
            Number of classifiers, a range (log-uniform), or a prior.
        rounding : {"nearest", "floor", "exact"}
            How the score was cut to ``decimals``: rounded, floored (as Kaggle does), or not at
            all.
        decimals : int, optional
            Number of decimals printed. Default: the digits of ``maximum`` as typed.
        name : str
            Label of the board.

        Raises
        ------
        InputError
            Percentages, impossible sizes, or a score that no success count prints as.

        Examples
        --------
        >>> Leaderboard.from_maximum("0.9116", n_test=13_840, n_classifiers=3_558).counts
        (12616, 12617)
        """
        n = _whole(n_test, "n_test", "the number of test items")
        tries = _checked_tries(n_classifiers)
        score, digits = _parse_score(maximum)
        digits = digits if decimals is None else _checked_decimals(decimals, score, digits)
        if rounding not in ("nearest", "floor", "exact"):
            raise InputError(f'rounding must be "nearest", "floor" or "exact", got {rounding!r}')
        counts = _count_interval(score, n, rounding, digits)
        return cls(float(score), n, tries, counts, rounding, digits, name)

    @property
    def n_classifiers(self) -> int | None:
        """Number of classifiers where it is known."""
        return self.tries if isinstance(self.tries, int) else None

    @property
    def typical_tries(self) -> float:
        """Number of classifiers, or its prior median."""
        return float(self.tries) if isinstance(self.tries, int) else float(self.tries.quantile(0.5))

    def with_tries(self, n_classifiers: int | TriesPrior) -> "Leaderboard":
        """The same board with another number of classifiers."""
        return Leaderboard(
            self.maximum,
            self.n_test,
            _checked_tries(n_classifiers),
            self.counts,
            self.rounding,
            self.decimals,
            self.name,
        )

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed."""
        content = [self.maximum, self.n_test, repr(self.tries), list(self.counts), self.name]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def _whole(value: object, name: str, meaning: str) -> int:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not (number.is_integer() and number >= 1):
        raise InputError(f"{name} is {meaning}, a whole number of at least 1, got {value}")
    if number > LARGEST:
        raise InputError(f"{name} is {meaning}, at most {LARGEST:,}, got {value}")
    return int(number)


def _checked_tries(value: int | tuple[int, int] | TriesPrior) -> int | TriesPrior:
    if isinstance(value, TriesPrior):
        return value
    if isinstance(value, tuple):
        low, high = (_whole(v, "n_classifiers", "the number of classifiers") for v in value)
        return UniformTries(low, high) if low != high else low
    return _whole(value, "n_classifiers", "the number of classifiers")


def _checked_decimals(decimals: int, score: Decimal, typed: int) -> int:
    if not 1 <= decimals <= 17:
        raise InputError(f"decimals must lie between 1 and 17, got {decimals}")
    if decimals < typed < _EXACT_DECIMALS:
        raise InputError(f"the score {score} has {typed} decimals, but decimals is {decimals}")
    return int(decimals)


def _parse_score(maximum: float | str | Decimal) -> tuple[Decimal, int]:
    try:
        score = Decimal(str(maximum).strip())
    except InvalidOperation:
        raise InputError(f"the maximum must be a number, got {maximum!r}") from None
    if not score.is_finite() or not 0 <= score <= 1:
        percent = score.is_finite() and 1 < score <= 100
        hint = f"; in percent? then write {score / 100}" if percent else ""
        raise InputError(f"the maximum is an accuracy in [0, 1], got {maximum}{hint}")
    exponent = score.as_tuple().exponent
    digits = max(0, -exponent) if isinstance(exponent, int) else 0
    return score, digits or _EXACT_DECIMALS  # 0 and 1 without digits are exact


def _count_interval(
    score: Decimal, n_test: int, rounding: Rounding, decimals: int
) -> tuple[int, int]:
    if rounding == "exact" or decimals >= _EXACT_DECIMALS:
        count = round(float(score) * n_test)
        if abs(count / n_test - float(score)) < 1e-9:
            return count, count
        raise InputError(_impossible(float(score), n_test, "exactly"))
    low, high = _printed_counts(score, n_test, rounding, decimals)
    if low <= high:
        return low, high
    other: Rounding = "floor" if rounding == "nearest" else "nearest"
    fits = _printed_counts(score, n_test, other, decimals)
    hint = f'; with rounding "{other}" it is {fits[0]} right answers' if fits[0] <= fits[1] else ""
    raise InputError(_impossible(float(score), n_test, f"{rounding} to {decimals} decimals") + hint)


def _printed_counts(
    score: Decimal, n_test: int, rounding: Rounding, decimals: int
) -> tuple[int, int]:
    """Smallest and largest count that prints as the score; the first exceeds the second if none."""
    unit = Decimal(1).scaleb(-decimals)
    low_end = score if rounding == "floor" else score - unit / 2
    high_end = score + (unit if rounding == "floor" else unit / 2)
    low, last = math.ceil(low_end * n_test), high_end * n_test  # exact: decimal arithmetic
    high = math.ceil(last) - 1 if rounding == "floor" else math.floor(last)
    return max(0, low), min(n_test, high)


def _impossible(score: float, n_test: int, how: str) -> str:
    below, above = np.floor(score * n_test), np.ceil(score * n_test)
    return (
        f"no number of right answers out of {n_test} gives the score {score:g} ({how}): the "
        f"nearest attainable scores are {below / n_test:.8g} and {above / n_test:.8g}"
    )
