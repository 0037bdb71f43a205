"""Printed numbers: their digits, and the counts of correct answers that print so.

Scores are whole multiples of 10^-decimals, compared in whole-number arithmetic, so that no answer
depends on how a float was rounded. ``tests/data/test_leaderboard.py`` compares the counts with
brute force.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from bayes_sota.core.arguments import COUNT, SHARE, Range, check_choice
from bayes_sota.core.errors import InputError, located, quoted
from bayes_sota.core.types import FloatArray, IntArray

Rounding = Literal["nearest", "floor", "exact"]
RoundingChoice = Literal["auto", "kaggle", Rounding]
_ORDERS: dict[str, Any] = {"auto": ("nearest", "floor"), "kaggle": ("floor", "nearest")}
"""Roundings to try, the preferred one first."""
PERCENT = "scores in percent were divided by 100"

LARGEST_NUMBER = 1e50  # of a score: powers of it are still numbers
_SCORES = Range(-LARGEST_NUMBER, LARGEST_NUMBER)
LEAST_PERCENT = 10  # of a typed number without a percent sign
EXACT_DECIMALS = 12  # a score with this many digits or more is not a rounded one
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
MISSING = frozenset(("", "-", "--", "–", "—", "na", "n/a", "#n/a", "nan", "null", "none", "<na>"))
ATTAINED = 1e-9  # a full-precision score is k/n up to this much


@dataclass(frozen=True, eq=False)
class PrintedScores:
    """Scores (m,) as they were printed; accuracies lie in [0, 1].

    ``scaled`` is ``values * unit`` in whole numbers, and ``unit`` ``10**decimals``; in full
    precision (``EXACT_DECIMALS`` or more) it is None, and ``scaled`` the values. ``roundings`` are
    the ways in which they may have been cut, the preferred one first.
    """

    values: FloatArray
    scaled: Any
    unit: int | None
    decimals: int
    in_percent: bool
    roundings: tuple[Rounding, ...]


def parse_number(raw: object) -> Decimal | None:
    """Finite decimal number as it was written, None if it is something else.

    Examples
    --------
    >>> parse_number(" 0.9110 "), parse_number(0.25), parse_number("91 %")
    (Decimal('0.9110'), Decimal('0.25'), None)
    """
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)  # a float has no trailing zeros: 1.0 is the number one, not one digit of it
    text = str(raw).strip()
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def is_blank(value: object) -> bool:
    """Whether a cell is empty."""
    return str(value).strip().lower() in MISSING


def number_in(value: Any, name: str, allowed: Range) -> Decimal:
    """Number in a range, with the digits that it was written with."""
    number = parse_number(value)
    if number is None and is_blank(value):
        raise InputError(f"{{name}} is missing: it must be {allowed}", parameter=name)
    if number is None or not allowed.holds(number) or (allowed.whole and number % 1):
        raise allowed.refusal(name, value, None if number is None else float(number))
    return number


def checked_number(value: Any, name: str, allowed: Range = COUNT) -> Any:
    """Number in a range; a whole one, such as 100 or "100.0", as an int."""
    return (int if allowed.whole else float)(number_in(value, name, allowed))


def checked_numbers(values: Any, names: Sequence[str], what: str, allowed: Range = COUNT) -> Any:
    """Number of each entry, (m,), of one for all or a list."""
    if not np.ndim(values):
        return np.full(len(names), checked_number(values, what, allowed))
    if len(values) != len(names):
        problem = f"{{name}} has {len(values):,} values for {len(names):,} scores"
        raise InputError(problem, parameter=what, fix="give one, or one each (1000, not 1,000)")
    pairs = zip(values, (f"{what} of {quoted(name)}" for name in names), strict=True)
    with located("", "correct it, or leave the entry out (--leave-out NAME)"):
        return np.array([checked_number(value, of, allowed) for value, of in pairs])


def labels_of(values: Any) -> list[Any] | None:
    """Text labels of the values of a Series, if it has any; numbers do not serve as names."""
    labels: Any = getattr(values, "index", None)  # of a list a method
    are_names = getattr(labels, "is_unique", False) and labels.dtype.kind not in "iuf"
    return list(labels) if are_names else None


def check_scores(scores: FloatArray, axes: Mapping[str, Sequence[Any]], needed: int = 1) -> None:
    """Raise ``InputError`` on the first score that is infinite or too large, or where none is.

    ``axes`` are what each dimension is of, with its names. Each place of the first ``needed`` of
    them has a score.
    """
    empty = np.isnan(scores).all(axis=tuple(range(needed, scores.ndim)))
    bad = [*np.argwhere(np.abs(scores) > LARGEST_NUMBER), *np.argwhere(empty)]
    if bad:
        pairs = zip(axes.items(), bad[0], strict=False)
        of = (f"{what} {names[i]!r}" for (what, names), i in pairs)
        raise InputError(f"{', '.join(of)}: a score is needed, at most 1e50")


def parse_scores(
    scores: Any,
    *,
    rounding: RoundingChoice = "auto",
    percent: bool | None = None,
    bounded: bool = True,
    subjects: Sequence[str] | None = None,
) -> PrintedScores:
    """Scores (m,) with the digits that the longest of them has; strings keep theirs.

    Without ``percent``, they are in percent if all have percent signs, or if most exceed 1 and none
    exceeds 100; ``bounded`` ones are accuracies; ``subjects`` are what a message calls each score.

    Examples
    --------
    >>> parse_scores(["0.9110", "0.91"]).scaled, parse_scores(["91.1%", "90.25 %"]).values
    (array([9110, 9100]), array([0.911 , 0.9025]))
    """
    check_choice("rounding", rounding, RoundingChoice)
    cells = list(scores)
    if not cells:
        raise InputError("there are no scores; a leaderboard needs at least one")
    of = subjects or [f'the score of "entry {place}"' for place in range(1, len(cells) + 1)]
    if bounded and all(isinstance(cell, str) and cell.rstrip().endswith("%") for cell in cells):
        cells, percent = [cell.rstrip().removesuffix("%") for cell in cells], True
    numbers = [number_in(cell, what, _SCORES) for cell, what in zip(cells, of, strict=True)]
    values = np.array(numbers, np.float64)
    if bounded and percent is None:
        are_low = (values > 0) & (values <= 1)
        percent = bool(np.mean(values > 1) > 0.5 and values.max() <= 100 and not are_low.any())
    if bounded:
        allowed = Range(0, 100) if percent else SHARE
        fix = "correct it, leave it out (--leave-out NAME), or give metric score" * (len(cells) > 1)
        with located("", fix):
            for place in np.flatnonzero((values < 0) | (values > allowed.high)).tolist():
                number_in(numbers[place], f"{of[place]}, an accuracy,", allowed)
    in_percent = bounded and bool(percent)
    if in_percent:
        numbers = [number.scaleb(-2) for number in numbers]
    values = scaled = np.array(numbers, np.float64)
    # Without a single digit after the point, 0 and 1 are exact.
    digits = max(0, *(-int(of.as_tuple().exponent) for of in numbers)) or EXACT_DECIMALS
    roundings, unit = _ORDERS.get(rounding, (rounding,)), None
    if bounded and rounding != "exact" and digits < EXACT_DECIMALS:
        unit = 10**digits
        scaled = np.array([int(number * unit) for number in numbers], np.int64)
    return PrintedScores(values, scaled, unit, digits, in_percent, roundings)


def count_bounds(
    scores: Any, n_test: Any, unit: int | None, rounding: Rounding
) -> tuple[IntArray, IntArray]:
    """Least and largest k for which k / n_test, cut to multiples of 1 / unit, is scores / unit.

    Without a unit, scores have full precision: one count, or none. The first exceeds the second
    where no count prints so. Both ends of a tie count, because printers differ.

    Examples
    --------
    >>> count_bounds(np.array([9116, 5000]), 13_840, 10_000, "nearest")
    (array([12616,  6920]), array([12617,  6920]))
    """
    # Python's whole numbers know no overflow.
    if unit and 2 * unit * (int(np.max(n_test, initial=0)) + 1) > 2**62:
        scores = np.asarray(scores).astype(object)
    if unit is None:
        high = np.rint(np.multiply(scores, n_test))
        low = high + (np.abs(high / n_test - scores) >= ATTAINED)
    elif rounding == "floor":
        low, high = -((-scores * n_test) // unit), -((-(scores + 1) * n_test) // unit) - 1
    else:
        low = -((-(2 * scores - 1) * n_test) // (2 * unit))
        high = (2 * scores + 1) * n_test // (2 * unit)
    return np.maximum(low, 0).astype(np.int64), np.minimum(high, n_test).astype(np.int64)
