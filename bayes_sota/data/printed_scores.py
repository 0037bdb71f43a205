"""Printed numbers: their digits, and the counts of right answers that print so.

Scores are held as whole multiples of 10^-decimals and compared in whole-number arithmetic, so that
no answer depends on how a float was rounded. ``tests/data/test_leaderboard.py`` compares the counts
with brute force over all counts.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray, IntArray

Rounding = Literal["nearest", "floor", "exact"]
RoundingChoice = Literal["auto"] | Rounding | tuple[Rounding, ...]

LARGEST_NUMBER = 1e50  # of a score: powers of it are still numbers
LEAST_PERCENT = 10  # of a typed number without a percent sign
EXACT_DECIMALS = 12  # a score with this many digits or more is not a rounded one
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_NOT_FINITE = ("nan", "inf", "infinity", "snan")
_NOT_ACCURACIES = '; scores that are not accuracies need metric="score"'
ATTAINED = 1e-9  # a full-precision score is k/n up to this much


@dataclass(frozen=True, eq=False)
class PrintedScores:
    """Scores as they were printed.

    Attributes
    ----------
    values : (m,) array of float
        The scores; accuracies lie in [0, 1].
    scaled : (m,) array of int, or None
        ``values * 10**decimals``, exact; None if the scores have full precision.
    decimals : int
        Digits after the point; ``EXACT_DECIMALS`` or more means full precision.
    in_percent : bool
        Whether the scores were given in percent.
    """

    values: FloatArray
    scaled: IntArray | None
    decimals: int
    in_percent: bool = False


def rounding_order(rounding: RoundingChoice) -> tuple[Rounding, ...]:
    """Roundings to try, the preferred one first.

    Examples
    --------
    >>> rounding_order("auto"), rounding_order("exact")
    (('nearest', 'floor'), ('exact',))
    """
    if rounding == "auto":
        return "nearest", "floor"
    order = rounding if isinstance(rounding, tuple) else (rounding,)
    if not order or not set(order) <= {"nearest", "floor", "exact"}:
        raise InputError(
            f'rounding must be "auto", "nearest", "floor" or "exact", got {rounding!r}'
        )
    return order


def parse_number(raw: object) -> Decimal | None:
    """Finite decimal number as it was written, None if it is something else.

    Examples
    --------
    >>> parse_number(" 0.9110 "), parse_number(0.25), parse_number("91 %")
    (Decimal('0.9110'), Decimal('0.25'), None)
    """
    if isinstance(raw, Decimal):
        return raw if raw.is_finite() else None
    if isinstance(raw, float) and math.isfinite(raw):
        # a float has no trailing zeros: 1.0 is the number one, not one digit of it
        return Decimal(int(raw)) if raw == int(raw) else Decimal(repr(float(raw)))
    if isinstance(raw, bool | np.bool_ | bytes):
        return None
    text = str(raw).strip()
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def is_blank(value: Any) -> bool:
    """Whether there is nothing where a number could be."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def digits_of(number: Decimal) -> int:
    """Digits after the point."""
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def plain_list(values: Any, what: str) -> list[Any]:
    """Elements of a sequence, a one-dimensional array or a Series."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise InputError(f"{what} must be a sequence, got {values!r:.80}")
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if getattr(values, "ndim", 1) != 1:
        raise InputError(f"{what} must be one-dimensional, got the shape {values.shape}")
    # float32 must print itself: as a Python float it would show the digits of its error.
    widens = getattr(values, "dtype", None) == np.float64
    return values.tolist() if widens else list(values)


def plain_matrix(values: Any, meaning: str) -> FloatArray:
    """Numbers of nested sequences, a two-dimensional array, or a data frame."""
    raw = values.to_numpy() if hasattr(values, "to_numpy") else values
    try:
        numbers = np.array(raw, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{meaning}; got what is no number, or rows of several lengths") from None
    if numbers.ndim != 2:
        raise InputError(f"{meaning}; got {numbers.ndim} dimensions")
    return numbers


def check_finite(
    numbers: FloatArray, axes: Sequence[tuple[str, Sequence[Any]]], may_miss: bool = True
) -> None:
    """Raise ``InputError`` on the first number that is infinite, too large, or missing.

    ``axes`` are what each dimension is of, with its names, for the message.
    """
    bad = np.argwhere(~(np.abs(numbers) <= LARGEST_NUMBER) & ~(may_miss & np.isnan(numbers)))
    if bad.size:
        named = (f"{what} {names[i]!r}" for (what, names), i in zip(axes, bad[0], strict=True))
        raise InputError(
            f"{', '.join(named)}: a score is a finite number of at most {LARGEST_NUMBER:g}, got "
            f"{numbers[tuple(bad[0])]}"
        )


def parse_scores(
    scores: Any,
    *,
    rounding: Rounding = "nearest",
    percent: bool | None = None,
    bounded: bool = True,
    subject: Callable[[int], str] | None = None,
) -> PrintedScores:
    """Scores with the digits that the longest of them has.

    Parameters
    ----------
    scores : sequence of float, str or Decimal, (m,)
        Strings keep their digits.
    rounding : {"nearest", "floor", "exact"}
        How they were cut.
    percent : bool, optional
        Whether scores are in percent. Default: if they have percent signs, or if most exceed 1 and
        none exceeds 100.
    bounded : bool
        Whether scores are accuracies, which lie in [0, 1].
    subject : callable, optional
        What a message calls the score of a given index; default "the score of entry 1".

    Raises
    ------
    InputError
        No scores, text among numbers, NaN, or an accuracy outside [0, 1].

    Examples
    --------
    >>> parse_scores(["0.9110", "0.91"]).scaled
    array([9110, 9100])
    >>> parse_scores([91.1, 90.25]).values, parse_scores(["91.1%", "90.25 %"]).values
    (array([0.911 , 0.9025]), array([0.911 , 0.9025]))
    """
    subject = subject or score_of_entry
    raw = plain_list(scores, "scores")
    if not raw:
        raise InputError("there are no scores; a leaderboard needs at least one")
    if bounded and any(map(has_percent_sign, raw)):
        raw, percent = _without_percent_signs(raw, subject), True
    unique, where = _unique(raw, subject, bounded)
    digits = max(map(digits_of, unique))
    in_percent = bounded and _in_percent(unique, where, percent, subject)
    if in_percent:
        unique, digits = [number / 100 for number in unique], digits + 2
    if bounded:
        _check_range(unique, where, subject, in_percent)
    # Without a single digit after the point, 0 and 1 are exact.
    digits = digits or EXACT_DECIMALS
    values = np.array([float(number) for number in unique])[where]
    too_large = ~(np.abs(values) <= LARGEST_NUMBER)
    if too_large.any():
        index = int(np.argmax(too_large))
        raise InputError(
            f"{subject(index)} is too large: {shown(raw[index])}, the limit is {LARGEST_NUMBER:g}"
        )
    if rounding == "exact" or digits >= EXACT_DECIMALS or not bounded:
        return PrintedScores(values, None, digits, in_percent)
    scaled = np.array([int(number.scaleb(digits)) for number in unique], np.int64)
    return PrintedScores(values, scaled[where], digits, in_percent)


def parse_each(
    scores: Any, rounding: RoundingChoice, **options: Any
) -> dict[Rounding, PrintedScores]:
    """Scores as each rounding to try reads them; ``options`` are those of ``parse_scores``."""
    order = rounding_order(rounding)
    return dict.fromkeys(order, parse_scores(scores, rounding=order[0], **options))


def score_of_entry(index: int, names: Sequence[str] | None = None, which: str = "score") -> str:
    """What a message calls the score of an entry, with its name if there are any.

    Examples
    --------
    >>> score_of_entry(0), score_of_entry(1, ["a", "b"], "public score")
    ('the score of entry 1', "the public score of entry 2 ('b')")
    """
    known = f" ({names[index]!r:.80})" if names is not None and index < len(names) else ""
    return f"the {which} of entry {index + 1}{known}"


def count_bounds(printed: PrintedScores, n_test: int | IntArray, rounding: Rounding) -> IntArray:
    """Smallest and largest number of right answers out of ``n_test`` that prints as each score.

    ``n_test`` is one number, or one for each score.

    Returns
    -------
    (m, 2) array of int
        The first exceeds the second where no number prints so.

    Examples
    --------
    >>> count_bounds(parse_scores(["0.9116", "0.5"]), 13_840, "nearest")
    array([[12616, 12617],
           [ 6920,  6920]])
    """
    if printed.scaled is None:
        return np.column_stack(exact_ends(printed.values, n_test))
    low, high = lattice_ends(printed.scaled, n_test, 10**printed.decimals, rounding)
    return np.column_stack([np.maximum(low, 0), np.minimum(high, n_test)]).astype(np.int64)


def exact_ends(values: Any, n_test: Any) -> tuple[IntArray, IntArray]:
    """Ends of the counts k for which k / n_test is a score in full precision: one, or none.

    Examples
    --------
    >>> exact_ends(np.array([0.25, 1 / 3]), 8)
    (array([2, 4]), array([2, 3]))
    """
    count = np.rint(np.multiply(values, n_test)).astype(np.int64)
    missed = np.abs(count / n_test - values) >= ATTAINED
    return count + missed, count


def lattice_ends(scaled: Any, n_test: Any, unit: int, rounding: Rounding) -> tuple[Any, Any]:
    """Ends of the counts k for which k / n_test, cut to multiples of 1 / unit, is scaled / unit.

    ``scaled`` or ``n_test`` or both are arrays. Both ends of a tie count, because printers differ.
    """
    if 2 * unit * (int(np.max(n_test)) + 1) > 2**62:  # Python's whole numbers know no overflow
        scaled = np.asarray(scaled).astype(object)
    if rounding == "floor":
        return -((-scaled * n_test) // unit), -((-(scaled + 1) * n_test) // unit) - 1
    return (
        -((-(2 * scaled - 1) * n_test) // (2 * unit)),
        ((2 * scaled + 1) * n_test) // (2 * unit),
    )


def has_percent_sign(cell: object) -> bool:
    """Whether a number is written with a percent sign.

    Examples
    --------
    >>> has_percent_sign("91.1 %"), has_percent_sign(91.1)
    (True, False)
    """
    return isinstance(cell, str) and cell.rstrip().endswith("%")


def _without_percent_signs(raw: list[Any], subject: Callable[[int], str]) -> list[Any]:
    """Numbers without their percent signs, which all or none must have."""
    for index, value in enumerate(raw):
        if not has_percent_sign(value) and parse_number(value) is not None:
            raise InputError(
                f"{subject(index)} is {shown(value)}, without the percent sign that others have; "
                "write all scores alike"
            )
    return [v.rstrip().removesuffix("%") if has_percent_sign(v) else v for v in raw]


def _unique(
    raw: list[Any], subject: Callable[[int], str], bounded: bool
) -> tuple[list[Decimal], IntArray]:
    """Distinct numbers, and for each score which one it is."""
    first: dict[str, int] = {}
    numbers: list[Decimal] = []
    where = np.empty(len(raw), np.int64)
    for index, value in enumerate(raw):
        key = str(value)
        position = first.get(key, -1)
        if position < 0:
            number = parse_number(value)
            if number is None:
                raise InputError(_not_a_number(subject(index), value, bounded))
            position = first[key] = len(numbers)
            numbers.append(number)
        where[index] = position
    return numbers, where


def _not_a_number(subject: str, value: object, bounded: bool) -> str:
    if str(value).strip().lower().lstrip("+-") in _NOT_FINITE:
        what = "an accuracy in [0, 1]" if bounded else "a finite number"
        return f"{subject} is {what}, got {value}"
    if value is None or value == "":
        return f"{subject} must be a number, but it is empty"
    return f"{subject} must be a number, got {value!r:.80}"


def _in_percent(
    unique: Sequence[Decimal], where: IntArray, percent: bool | None, subject: Callable[[int], str]
) -> bool:
    if percent is not None:
        return bool(percent)
    above = np.array([number > 1 for number in unique])[where]
    if not above.any() or max(unique) > 100:
        return False
    most = above.mean() > 0.5
    odd = np.array([0 < number <= 1 for number in unique])[where] if most else above
    if not odd.any():
        return True
    index = int(np.argmax(odd))
    score = unique[where[index]]
    raise InputError(
        f"{int(odd.sum())} of {len(where)} scores {'do not exceed' if most else 'exceed'} 1, as "
        f"others {'do' if most else 'do not'}; {subject(index)} is {score}: if all are in percent "
        "use percent=True, else write them alike"
    )


def _check_range(
    unique: Sequence[Decimal], where: IntArray, subject: Callable[[int], str], in_percent: bool
) -> None:
    bad = np.array([not 0 <= number <= 1 for number in unique])
    if not bad.any():
        return
    index = int(np.argmax(bad[where]))
    score = unique[where[index]]
    typed = f"{score * 100} %" if in_percent else f"{score}"
    hint = ""
    if not in_percent and score > 1:
        hint = f"; in percent? then write {score / 100}" if score <= 100 else _NOT_ACCURACIES
    raise InputError(f"{subject(index)} is an accuracy in [0, 1], got {typed}{hint}")
