"""Printed numbers: their digits, the counts of correct answers that print so, and test-set sizes.

Scores are whole multiples of 10^-decimals, compared in whole-number arithmetic. Below n =
10^decimals not every printed k / n can arise, so a board with enough distinct scores gives n away.

An accuracy x with the standard error s is worth

.. math:: n = x (1 - x) / s^2 + 1

items, because ``s^2 = x (1 - x) / (n - 1)`` is the usual estimate.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import numpy as np

from bayes_sota.core import arguments
from bayes_sota.core.arguments import COUNT, NOT_NEGATIVE, POSITIVE, SHARE, Points, Range
from bayes_sota.core.errors import ImpossibleAccuracyError, InputError, listed, located, quoted
from bayes_sota.core.types import FloatArray, IntArray

Rounding = Literal["nearest", "floor", "exact"]
RoundingChoice = Literal["auto", "kaggle", Rounding]
_ORDERS: dict[str, Any] = {"auto": ("nearest", "floor"), "kaggle": ("floor", "nearest")}
PERCENT = "scores in percent were divided by 100"

LARGEST_NUMBER = 1e50  # of a score: powers of it are still numbers
_SCORES = Range(-LARGEST_NUMBER, LARGEST_NUMBER)
LEAST_PERCENT = 10  # of a typed number without a percent sign
EXACT_DECIMALS = 12  # a score with this many digits or more is not a rounded one
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
MISSING = frozenset(("", "-", "--", "–", "—", "na", "n/a", "#n/a", "nan", "null", "none", "<na>"))
ATTAINED = 1e-9  # a full-precision score is k/n up to this much

_LARGEST_SIZE = 1_000_000  # that is tried
_MOST_CANDIDATES = 20
_MOST_NAMED = 8  # candidates in a sentence
_BELIEVABLE = 0.05  # largest probability of another size with which a size counts as identified
_LARGEST_TEST = 1e9  # items: the end of the prior
_LEADERS, _PER_ROOT = 5, 2.0  # how many entries say what is typical
_LEAST_ITEMS = 1.5  # two, and errors are rounded


@dataclass(frozen=True, eq=False)
class PrintedScores:
    """Scores (m,) as they were printed; accuracies lie in [0, 1].

    ``scaled`` is ``values * unit`` in whole numbers, and ``unit`` ``10**decimals``; in full
    precision it is None, and ``scaled`` the values. The preferred one of ``roundings`` is first.
    """

    values: FloatArray
    scaled: Any
    unit: int | None
    decimals: int
    in_percent: bool
    roundings: tuple[Rounding, ...]


def parse_number(raw: object) -> Decimal | None:
    """Finite decimal number as it was written, None if it is something else."""
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
    """Number in a range; a whole one as an int."""
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
    """Text labels of the values of a Series, if it has any."""
    labels: Any = getattr(values, "index", None)  # of a list a method
    are_names = getattr(labels, "is_unique", False) and labels.dtype.kind not in "iuf"
    return list(labels) if are_names else None


def check_scores(scores: FloatArray, axes: Mapping[str, Sequence[Any]], needed: int = 1) -> None:
    """Refuse scores that are infinite, and places of the first ``needed`` axes without any."""
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
    """Scores (m,) with the digits that the longest of them has; ``bounded`` ones are accuracies.

    Without ``percent``, they are in percent if all have percent signs, or if most exceed 1 and none
    exceeds 100.
    """
    arguments.check_choice("rounding", rounding, RoundingChoice)
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

    The first exceeds the second where no count prints so. Both ends of a tie count, because
    printers differ.
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


class LatticeFit(NamedTuple):
    """Test-set sizes that can give all scores, the most plausible first.

    Attributes
    ----------
    n_test : int
    candidates : tuple of int
        The next plausible, at most 20; multiples of ``n_test`` always fit.
    rounding : {"nearest", "floor", "exact"}
        How the scores are cut if there are ``n_test`` items.
    p_other : float
        Probability of another size.
    statement : str
    """

    n_test: int
    candidates: tuple[int, ...]
    rounding: Rounding
    p_other: float
    statement: str

    @property
    def is_identified(self) -> bool:
        """Whether another size is improbable."""
        return self.p_other <= _BELIEVABLE


def infer_n_test(scores: Any, rounding: RoundingChoice = "auto") -> LatticeFit:
    """Test-set sizes for which every distinct score is attainable, the most plausible first.

    A score v with d decimals is attainable at n if some k has k/n cut to v: floored, ``v <= k/n <
    v + 10^-d``; rounded, ``|k/n - v| <= 10^-d / 2``. K distinct scores compare sizes below 10^d by
    their likelihood,

        p(scores | n) = prod_v c_v(n) / n

    with ``c_v`` the counts that print as v, and the prior 1/n. Rounded ties go up, to even or at
    random, with equal probability beforehand. Sizes from 10^d on give every score a probability of
    10^-d. A size is identified if all others together have a probability of at most 0.05.

    Parameters
    ----------
    scores : sequence of float, str or Decimal, (m,)
        Printed accuracies; strings keep their digits.
    rounding : {"auto", "nearest", "floor", "exact"}
        How they were cut; "auto" tries nearest and floor.

    Raises
    ------
    InputError
        Scores that are not accuracies, or no size below 10^d and up to 1,000,000 that fits.

    Examples
    --------
    >>> scores = [int(k / 271 * 10**4) / 10**4 for k in range(200, 260)]
    >>> fit = infer_n_test(scores)
    >>> fit.n_test, fit.rounding, fit.candidates[:3], fit.is_identified
    (271, 'floor', (542, 813, 1084), True)
    """
    if not isinstance(scores, PrintedScores):
        scores = parse_scores(scores, rounding=rounding)
    unit: int | None = scores.unit
    roundings: tuple[Rounding, ...] = scores.roundings if unit else ("exact",)
    printed = np.unique(scores.scaled)
    printed = printed[(printed > 0) & (printed < (unit or 1))]  # 0 and 1 fit every size
    told_apart = unit or 0.5 / ATTAINED  # scores in [0, 1]
    largest = min(_LARGEST_SIZE, int(told_apart) - 1)
    logs = np.array([_log_counts(printed, unit, how, largest) for how in roundings])
    fits = logs > -np.inf
    sizes = np.flatnonzero(fits.any(axis=0))
    if not sizes.size:
        problem = f"no test set of up to {largest:,} items gives all {printed.size:,} scores"
        cut = f"with {scores.decimals} decimals ({' or '.join(roundings)})"
        fix = "its size cannot be inferred: give {option}, or leave out entries of another metric"
        raise InputError(f"{problem} {cut}", parameter="n_test", fix=fix)
    weights = np.logaddexp.reduce(logs[:, sizes]) - (printed.size + 1) * np.log(sizes)
    prior_beyond = len(roundings) * max(np.log(_LARGEST_TEST / told_apart), 1.0)
    beyond = np.log(prior_beyond) - printed.size * np.log(told_apart)
    total = np.logaddexp(np.logaddexp.reduce(weights), beyond)
    order = np.argsort(-weights, kind="stable")
    best = int(sizes[order[0]])
    candidates = tuple(sizes[order[1 : _MOST_CANDIDATES + 1]].tolist())
    how = roundings[np.argmax(fits[:, best])]
    p_other = abs(float(np.expm1(weights[order[0]] - total)))
    named = ", ".join(f"{n:,}" for n in sorted((best, *candidates)[:_MOST_NAMED]))
    statement = f"{sizes.size:,} sizes give all {printed.size:,} scores, such as {named}"
    statement += f"; {best:,} is wrong with probability {p_other:.1g}"
    return LatticeFit(best, candidates, how, p_other, statement)


def _log_counts(scores: Any, unit: int | None, rounding: Rounding, largest: int) -> FloatArray:
    """Log product of the counts that print as each score, averaged over ties, (largest + 1,)."""
    live, logs = np.arange(1, largest + 1), np.zeros((1, largest))
    # Scores from all over the range rule out most sizes soonest.
    for score in np.random.default_rng(0).permutation(scores):
        counts = _counts(score, live, unit, rounding)
        keep = np.any(counts > 0, axis=0)
        with np.errstate(divide="ignore"):  # of a way that does not give this score
            logs = logs[:, keep] + np.log(counts[:, keep])
        live = live[keep]
    found = np.full(largest + 1, -np.inf)
    found[live] = np.logaddexp.reduce(logs) - np.log(len(logs))
    return found


def _counts(score: Any, sizes: IntArray, unit: int | None, rounding: Rounding) -> FloatArray:
    """Counts of correct answers that print as a score, (ways in which ties may go, sizes)."""
    low, high = count_bounds(score, sizes, unit, rounding)
    counts = np.maximum(high - low + 1, 0).astype(np.float64)
    if unit is None or rounding == "floor":
        return counts[None]
    lower, upper = ((2 * score + side) * sizes % (2 * unit) == 0 for side in (-1, 1))
    lost = lower.astype(float) + upper
    return np.stack([counts - upper, counts - (score % 2) * lost, counts - lost / 2])


def of_sizes(sizes: FloatArray, scores: FloatArray, source: str) -> dict[str, Any]:
    """Fields of a board whose accuracies are worth ``sizes`` items, (m,)."""
    n_test = max(2, round(float(np.median(sizes[leaders(scores)]))))
    return {"n_test": n_test, "n_test_source": source, "error_ratios": np.sqrt(n_test / sizes)}


def of_errors(errors: Any, scores: FloatArray, names: Sequence[str]) -> dict[str, Any]:
    """Fields of a board whose scores have one standard error, one for each, or none known."""
    if errors is None:
        return {}
    if isinstance(errors, Points) and np.abs(scores).max() > 1:
        arguments.checked_width(errors, "standard_error", shares=False)
    each = checked_numbers(errors, names, "standard_error", POSITIVE)
    typical = float(np.median(each[leaders(scores)]))
    ratios = {"error_ratios": each / typical} if np.ndim(errors) else {}
    return {"standard_error": typical} | ratios


def leaders(scores: FloatArray) -> IntArray:
    """Entries that count as typical: the best ``max(5, 2 sqrt(m))``, best first."""
    count = max(_LEADERS, int(np.ceil(_PER_ROOT * np.sqrt(scores.size))))
    return np.argsort(-scores, kind="stable")[:count]


def sizes_by_errors(
    scores: FloatArray, standard_error: Any, n_test: Any, names: Sequence[str], unit: float = 1.0
) -> tuple[FloatArray, tuple[str, ...]]:
    """Items that accuracies are worth by their standard errors, (m,), and a note on missing ones.

    Entries whose error is 0 or missing, or whose score is 0 or 1, have ``n_test`` items.
    """
    given = standard_error if np.ndim(standard_error) else [standard_error] * len(names)
    missing = [name for name, of in zip(names, given, strict=False) if is_blank(of)]
    errors = [0 if is_blank(error) else error for error in given]
    errors = unit * checked_numbers(errors, names, "standard_error", NOT_NEGATIVE)
    known = (errors > 0) & (scores > 0) & (scores < 1)
    sizes = np.zeros(len(names)) if n_test is None else checked_numbers(n_test, names, "n_test")
    sizes = np.where(known, scores * (1 - scores) / np.where(known, errors, 1) ** 2 + 1, sizes)
    too_few = sizes < np.where(known, _LEAST_ITEMS, 1)
    if too_few.any():
        row = int(too_few.argmax())
        problem = f"{quoted(names[row])}, {scores[row]:g}, has the standard error {errors[row]:g}"
        problem += ", which gives no number of items"
        fix = "use the same units as the scores, and give {option} for errors of 0"
        if names[row] in missing:
            problem = f"the standard error of {listed(missing)} is missing"
            fix = "give {option} for a binomial error, or leave the entry out (--leave-out NAME)"
        raise InputError(problem, parameter="n_test", fix=fix)
    note = f"the number of items gives the standard error of {listed(missing)}, which is missing"
    return sizes, (note,) * bool(missing)


def find_rounding(
    printed: PrintedScores, sizes: IntArray, names: Sequence[str]
) -> tuple[Rounding, IntArray, tuple[str, ...]]:
    """Rounding with which most scores are possible, counts behind the scores, (m, 2), and remarks.

    A score that no count gives may have lost its zeros. Else the nearest count is taken, unless
    half of the scores or more are impossible.
    """
    of = printed.scaled, sizes, printed.unit
    every = {how: np.stack(count_bounds(*of, how), 1) for how in printed.roundings}
    missed = {how: np.flatnonzero(ends[:, 0] > ends[:, 1]) for how, ends in every.items()}
    how = min(every, key=lambda how: missed[how].size)
    bounds, wrong, right = every[how], missed[how], printed.values * sizes
    for row in wrong.tolist() if printed.unit else ():
        scaled, unit = int(printed.scaled[row]), int(printed.unit or 1)
        while scaled % 10 == 0 and unit > 10:
            scaled, unit = scaled // 10, unit // 10
        bounds[row] = np.ravel(count_bounds(np.array([scaled]), sizes[row], unit, how))
    wrong = np.flatnonzero(bounds[:, 0] > bounds[:, 1])
    if not wrong.size:
        return how, bounds, ()
    some = listed(names[row] for row in wrong.tolist())
    problem = f"no number of correct answers gives the score of {some}"
    if 2 * wrong.size >= sizes.size:
        of, n = right[wrong[0]], sizes[wrong[0]]
        ends = f"{np.floor(of):.0f}/{n} and {np.ceil(of):.0f}/{n}"
        problem += f": {of / n:g} lies between {ends}"
        fix = "give the right {option}, or infer where scores have enough digits"
        raise ImpossibleAccuracyError(problem, parameter="n_test", fix=fix)
    bounds[wrong] = np.rint(right)[wrong, None].astype(np.int64)
    return how, bounds, (f"{problem}: the nearest is taken",)
