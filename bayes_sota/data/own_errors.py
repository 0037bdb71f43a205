r"""Scores of which each has its own number of items, or its own standard error.

An accuracy x with the standard error s is worth

.. math:: n = x (1 - x) / s^2 + 1

items, because ``s^2 = x (1 - x) / (n - 1)`` is the usual estimate. Near 0 and 1 an estimated error
says little, at 0 and 1 nothing: there the number of items counts.
``tests/data/test_own_errors.py`` holds what is refused, ``tests/leaderboard/test_own_errors.py``
the posterior against that of answers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayes_sota.core.errors import MOST_LISTED, InputError
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data import checks
from bayes_sota.data.printed_scores import (
    PrintedScores,
    Rounding,
    count_bounds,
    is_blank,
    parse_number,
    plain_list,
)

_LEADERS, _PER_ROOT = 5, 2.0  # how many entries say what is typical
_LEAST_ITEMS = 1.5  # two, and errors are rounded
OWN = "typical of the best, every entry has its own"
_BY_ERROR = "by the standard errors, typical of the best"

type Subject = Callable[[int], str]


@dataclass(frozen=True, eq=False)
class ScoreErrors:
    """What is behind the scores of a board: a typical size or error, and how entries differ.

    Attributes
    ----------
    n_test : int or None
        Items behind a typical score.
    standard_error : float or None
        Of a typical score that is no accuracy.
    ratios : ndarray, shape (m,), or None
        Standard error of each score over the typical one's, at the same score; None where all have
        the same.
    source : str
        Where the number of items comes from.
    """

    n_test: int | None
    standard_error: float | None
    ratios: FloatArray | None = None
    source: str = checks.GIVEN

    @classmethod
    def of_sizes(cls, sizes: FloatArray, scores: FloatArray, source: str = OWN) -> "ScoreErrors":
        """Of numbers of items, which need not be whole, (m,)."""
        typical = max(2, round(float(np.median(sizes[leaders(scores)]))))
        return cls(typical, None, np.sqrt(typical / sizes), source)

    @classmethod
    def of_errors(cls, errors: FloatArray, scores: FloatArray, n_test: int | None) -> "ScoreErrors":
        """Of standard errors of scores that are no accuracies, (m,); larger scores are better."""
        typical = float(np.median(errors[leaders(scores)]))
        return cls(n_test, typical, errors / typical)

    def check_alone(self, submissions: object, n_classifiers: Any, m: int) -> None:
        """Raise ``InputError`` where more is asked of scores with own errors than they can say."""
        if self.ratios is None:
            return
        if submissions is not None:
            raise InputError(
                "submissions behind entries need one n_test or standard_error for all: the luck of "
                "choosing depends on it"
            )
        if n_classifiers is not None and n_classifiers != m:
            raise InputError(
                f"entries have errors of their own, and of classifiers beyond the {m:,} entries "
                "nothing says theirs: leave n_classifiers out"
            )


def find_errors(
    parsed: Mapping[Rounding, PrintedScores],
    n_test: Any,
    standard_error: Any,
    metric: checks.Metric,
    lower_is_better: bool,
    subject: Subject,
) -> tuple[Rounding, IntArray | None, tuple[str, ...], ScoreErrors]:
    """Rounding of the scores, right answers behind each accuracy, remarks, and errors.

    Parameters are those of ``Leaderboard``, with the scores as each rounding reads them.
    """
    chosen, printed = next(iter(parsed.items()))
    scores = printed.values
    if metric == "accuracy" and standard_error is not None:
        unit = 0.01 if printed.in_percent else 1.0
        sizes = sizes_of_accuracies(scores, standard_error, n_test, subject, unit)
        return chosen, None, (), ScoreErrors.of_sizes(sizes, scores, _BY_ERROR)
    if is_listed(n_test):
        if metric != "accuracy":
            fix = "give standard_error for each" if metric == "score" else "give one for all"
            raise InputError(
                f'n_test of each entry is for accuracies, but metric is "{metric}"; {fix}'
            )
        whole = checked_sizes(n_test, scores.size, subject)
        own = ScoreErrors.of_sizes(whole.astype(np.float64), scores)
        return *find_rounding(parsed, whole, subject), own
    size, source = checks.find_test_size(n_test, parsed, metric != "score")
    if is_listed(standard_error):
        errors = errors_of_scores(standard_error, scores.size, subject)
        better = -scores if lower_is_better else scores
        return chosen, None, (), ScoreErrors.of_errors(errors, better, size)
    error = None if standard_error is None else float(standard_error)
    same = ScoreErrors(size, error, source=source)
    if metric != "accuracy":
        return chosen, None, (), same
    return *find_rounding(parsed, np.full(scores.size, size), subject), same


def leaders(scores: FloatArray) -> IntArray:
    """Entries that say what is typical: the best ``max(5, 2 sqrt(m))``, best first.

    Examples
    --------
    >>> leaders(np.array([0.1, 0.9, 0.5, 0.8, 0.7, 0.6])).tolist()
    [1, 3, 4, 5, 2]
    """
    count = max(_LEADERS, int(np.ceil(_PER_ROOT * np.sqrt(scores.size))))
    return np.argsort(-scores, kind="stable")[:count]


def is_listed(value: object) -> bool:
    """Whether an argument has one number for each entry.

    Examples
    --------
    >>> is_listed([0.1, 0.2]), is_listed(0.1), is_listed("infer"), is_listed(None)
    (True, False, False, False)
    """
    return value is not None and not isinstance(value, str) and np.ndim(value) > 0  # type: ignore[arg-type]


def checked_sizes(n_test: Any, m: int, subject: Subject) -> IntArray:
    """Number of items behind each of m scores: one number for all, or one for each."""
    if not is_listed(n_test):
        return np.full(m, checks.whole_number(n_test, "n_test", checks.TEST_ITEMS))
    return np.array(
        [
            checks.whole_number(value, "n_test", f"the number of test items behind {subject(j)}")
            for j, value in enumerate(_one_each(n_test, m, "n_test"))
        ]
    )


def sizes_of_accuracies(
    scores: FloatArray, standard_error: Any, n_test: Any, subject: Subject, unit: float = 1.0
) -> FloatArray:
    """Items that accuracies are worth by their standard errors, (m,).

    Entries whose error is 0 or missing, or whose score is 0 or 1, have ``n_test`` items; ``unit``
    is that of the errors, such as a hundredth.

    Raises
    ------
    InputError
        Such entries without ``n_test``, or an error that no number of items gives.

    Examples
    --------
    >>> sizes_of_accuracies(np.array([0.9, 1.0]), [0.03, 0.0], 101, "entry {}".format).round(1)
    array([101., 101.])
    """
    errors = unit * _checked_errors(standard_error, scores.size, subject)
    known = (errors > 0) & (scores > 0) & (scores < 1)
    if not known.all() and n_test is None:
        j = int(np.argmin(known))
        what = "no standard error" if np.isnan(errors[j]) else f"the standard error {errors[j]:g}"
        raise InputError(
            f"{subject(j)}, {scores[j]:g}, has {what}, which does not tell how sure it is: give "
            "n_test, the number of test items, for such entries"
        )
    sizes = np.zeros(scores.size) if n_test is None else checked_sizes(n_test, scores.size, subject)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_error = scores * (1 - scores) / errors**2 + 1
    wide = np.flatnonzero(known & (by_error < _LEAST_ITEMS))
    if wide.size:
        j = int(wide[0])
        raise InputError(
            f"{subject(j)}, {scores[j]:g}, has the standard error {errors[j]:g}, wider than "
            "that of 2 items: scores and errors need the same units, percent or not"
        )
    return np.asarray(np.where(known, by_error, sizes), np.float64)


def errors_of_scores(standard_error: Any, m: int, subject: Subject) -> FloatArray:
    """Standard errors of scores that are no accuracies, (m,), all positive."""
    errors = _checked_errors(standard_error, m, subject)
    bad = np.flatnonzero(~(errors > 0))
    if bad.size:
        j = int(bad[0])
        what = "is missing" if np.isnan(errors[j]) else "is 0"
        raise InputError(
            f"the standard error beside {subject(j)} {what}: write the error that it has, or "
            'leave the entry out; accuracies (metric="accuracy") can have n_test instead'
        )
    return errors


def _checked_errors(values: Any, m: int, subject: Subject) -> FloatArray:
    """Standard errors as numbers, NaN where one is missing."""
    errors = np.empty(m)
    for j, value in enumerate(_one_each(values, m, "standard_error")):
        number = parse_number(value)
        if is_blank(value):
            errors[j] = np.nan
        elif number is None or number < 0:
            raise InputError(
                f"the standard error beside {subject(j)} must be a number of at least 0, in the "
                f"units of the scores, got {value!r:.80}"
            )
        else:
            errors[j] = float(number)
    return errors


def _one_each(values: Any, m: int, what: str) -> list[Any]:
    if not is_listed(values):
        return [values] * m
    listed = plain_list(values, what)
    if len(listed) != m:
        raise InputError(f"there are {len(listed):,} values of {what} for {m:,} scores")
    return listed


def find_rounding(
    parsed: Mapping[Rounding, PrintedScores], sizes: IntArray, subject: Subject
) -> tuple[Rounding, IntArray, tuple[str, ...]]:
    """Rounding with which the most scores can be, and what it makes of them.

    A score that no number of right answers gives, among others that can be, is taken as the nearest
    one: a slip of the pen, or items that were left out.

    Returns
    -------
    rounding : {"nearest", "floor", "exact"}
    bounds : ndarray of int, shape (m, 2)
        Right answers, out of its own items, that print as each score.
    remarks : tuple of str
        That it is not the first of those to try; scores that cannot be.

    Raises
    ------
    InputError
        Half of the scores or more cannot be; with the first rounding.
    """
    every = {how: count_bounds(printed, sizes, how) for how, printed in parsed.items()}
    missed = {how: bounds[:, 0] > bounds[:, 1] for how, bounds in every.items()}
    how = min(every, key=lambda how: missed[how].sum())
    first = next(iter(parsed))
    printed, bounds, wrong = parsed[how], every[how], np.flatnonzero(missed[how])
    remarks = []
    if how != first:
        words = {"nearest": "rounded", "floor": "cut", "exact": "exact"}
        items = f"{sizes[0]:,} items" if np.all(sizes == sizes[0]) else "as many items"
        remarks.append(
            f"scores are {words[how]} to {printed.decimals} decimals: {words[first]}, not all "
            f"could come from {items}"
        )
    if 2 * wrong.size >= len(sizes):
        _refuse_impossible(parsed[first], every[first], sizes, first, subject)
    if wrong.size:
        names = ", ".join(subject(int(row)) for row in wrong[:MOST_LISTED])
        remarks.append(f"no number of right answers gives {names}: the nearest one is taken")
        bounds[wrong] = np.rint(printed.values * sizes)[wrong, None].astype(np.int64)
    return how, bounds, tuple(remarks)


def _refuse_impossible(
    printed: PrintedScores, bounds: IntArray, sizes: IntArray, how: Rounding, subject: Subject
) -> None:
    """Raise ``ImpossibleAccuracyError`` on the scores out of the fewest items."""
    n = int(sizes[bounds[:, 0] > bounds[:, 1]].min())
    rows = np.flatnonzero(sizes == n)
    scaled = None if printed.scaled is None else printed.scaled[rows]
    printed = replace(printed, values=printed.values[rows], scaled=scaled)
    names = [subject(int(row)) for row in rows]
    raise checks.unattainable(printed, bounds[rows], n, how, names.__getitem__)
