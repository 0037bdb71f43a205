r"""Checks of the parts of a leaderboard; each error names the entry, the value and the fix.

Each score may have its own number of items, or its own standard error. An accuracy x with the
standard error s is worth

.. math:: n = x (1 - x) / s^2 + 1

items, because ``s^2 = x (1 - x) / (n - 1)`` is the usual estimate. Near 0 and 1 an estimated error
says little, at 0 and 1 nothing: there the number of items counts.
``tests/data/test_leaderboard.py`` holds what is refused, ``tests/leaderboard/test_own_errors.py``
the posterior against that of answers.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from bayes_sota.core.arguments import (
    COUNT,
    NOT_NEGATIVE,
    OPEN_SHARE,
    POSITIVE,
    RATIO,
    Range,
    check_choice,
)
from bayes_sota.core.errors import MOST_LISTED, ImpossibleAccuracyError, InputError
from bayes_sota.core.priors import ListedTries, TriesPrior, UniformTries
from bayes_sota.core.text import checked_labels, shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.lattice import fit_lattice
from bayes_sota.data.printed_scores import (
    PrintedScores,
    Rounding,
    count_bounds,
    is_blank,
    parse_number,
    plain_list,
)

Metric = Literal["accuracy", "auc", "score"]
type Tries = int | tuple[int, int] | TriesPrior

PERCENT = "scores in percent were divided by 100"
GIVEN, INFERRED = "given", "inferred from the scores"
_OWN = "typical of the best, every entry has its own"
_BY_ERROR = "by the standard errors, typical of the best"
_OF_METRIC = {
    "n_positive": "auc",
    "spread_ratio": "auc",
    "standard_error": "score",
    "lower_is_better": "score",
}
_MOST_NOISE = 1e6  # times the largest score: a larger error leaves nothing to learn
_LEADERS, _PER_ROOT = 5, 2.0  # how many entries say what is typical
_LEAST_ITEMS = 1.5  # two, and errors are rounded
_CUT = {"nearest": "rounded", "floor": "cut", "exact": "exact"}


def checked_number(value: Any, name: str, allowed: Range = COUNT) -> Any:
    """Number in a range, however it is written; a whole one, such as 100 or "100.0", as an int."""
    if is_blank(value):
        raise InputError(f"{name} is missing: {allowed}")
    number = parse_number(value)
    if number is None or not allowed.holds(number) or (allowed.whole and number % 1):
        raise allowed.refusal(name, value, None if number is None else float(number))
    return int(number) if allowed.whole else float(number)


def is_listed(value: Any) -> bool:
    """Whether an argument has one value for each entry.

    Examples
    --------
    >>> is_listed([0.1, 0.2]), is_listed(0.1), is_listed("infer"), is_listed(None)
    (True, False, False, False)
    """
    return value is not None and not isinstance(value, str) and np.ndim(value) > 0


def one_each(values: Any, m: int, name: str) -> list[Any]:
    """One value for each of m scores, of one value for all or of a list of them."""
    if not is_listed(values):
        return [values] * m
    listed = plain_list(values, name)
    if len(listed) != m:
        raise InputError(f"there are {len(listed):,} values of {name} for {m:,} scores")
    return listed


def checked_names(names: Any, m: int) -> tuple[str, ...]:
    """Names of m entries, all different; "entry 1", "entry 2", ... where there are none."""
    if names is None:
        return tuple(f"entry {place}" for place in range(1, m + 1))
    listed = plain_list(names, "names")
    blank = [place for place, name in enumerate(listed, 1) if name is None or name != name]
    if blank:
        raise InputError(f"entry {blank[0]} has no name; leave names out, or name every entry")
    return checked_labels(listed, m, "entry")


def check_options(metric: str, **options: Any) -> None:
    """Raise ``InputError`` where options of one metric come with another."""
    check_choice("metric", metric, Metric)
    for name, value in options.items():
        own = metric == "accuracy" and name == "standard_error" and is_listed(value)
        if value is not None and metric != _OF_METRIC[name] and not own:
            raise InputError(f'{name} is for metric="{_OF_METRIC[name]}", but it is "{metric}"')


def number_or_prior(value: Tries, name: str) -> int | TriesPrior:
    """A number, the log-uniform prior of a range, or a prior."""
    if isinstance(value, TriesPrior):
        return value
    if isinstance(value, tuple) and len(value) == 2:
        low, high = (checked_number(end, name) for end in value)
        return UniformTries(low, high) if low != high else int(low)
    return int(checked_number(value, name))


def typical(tries: int | TriesPrior) -> float:
    """Number of classifiers, or its prior median."""
    return float(tries if isinstance(tries, int) else tries.quantile(0.5))


def checked_tries(value: Tries, least: int) -> int | TriesPrior:
    """Number of classifiers, or its prior; at least the entries of a board."""
    tries = number_or_prior(value, "n_classifiers")
    if (tries.low if isinstance(tries, UniformTries) else typical(tries)) < least:
        raise InputError(
            f"n_classifiers is {value}, but at least {least:,} are there; it counts the entries of "
            "a board, two at least, and those without a score"
        )
    return tries


type Submissions = tuple[IntArray | None, TriesPrior | None, tuple[str, ...]]


def checked_submissions(submissions: Any, names: Sequence[str]) -> Submissions:
    """Submissions behind each entry, 0 where they have a prior; the prior; and remarks.

    A number is that of all, a pair (a tuple) a range, anything else one number for each entry;
    numbers of entries that have none are as likely as those of the others.
    """
    if submissions is None:
        return None, None, ()
    is_range = isinstance(submissions, tuple) and len(submissions) == 2
    if is_range or isinstance(submissions, TriesPrior):
        submissions = number_or_prior(submissions, "submissions")
    if isinstance(submissions, TriesPrior):
        return np.zeros(len(names), np.int64), submissions, ()
    listed = one_each(submissions, len(names), "submissions")
    counts = np.array([
        0 if is_blank(value) else checked_number(value, f"submissions of {shown(name)}")
        for value, name in zip(listed, names, strict=True)
    ])  # fmt: skip
    known = counts[counts > 0]
    if not known.size:
        raise InputError("submissions are missing for every entry: give a number, or a range")
    if known.size == counts.size:
        return counts, None, ()
    remark = (
        f"the number of submissions is missing for {counts.size - known.size:,} of "
        f"{counts.size:,} entries: taken to be as those of the others"
    )
    return counts, ListedTries(tuple(known.tolist())), (remark,)


def check_aucs(
    aucs: FloatArray, n_test: int, n_positive: Any, ratio: Any
) -> tuple[int, float, tuple[str, ...]]:
    """Positive items and ratio of spreads behind AUCs, of which the best is one; and remarks."""
    best = Range(0.5, 1, open_low=True)
    checked_number(aucs.max(), "the best AUC, or 1 - AUC if turned,", best)
    of_both = Range(2, n_test - 2, whole=True)  # two of each class
    positives = checked_number(n_positive, "n_positive", of_both)
    spread = checked_number(1.0 if ratio is None else ratio, "spread_ratio", RATIO)
    below = int(np.sum(aucs < 0.5))
    return positives, spread, (f"entries with an AUC below 0.5: {below:,}",) * (below > 0)


def check_alone(maximum: float, standard_error: float | None) -> None:
    """Raise ``InputError`` where a best score that is no accuracy says nothing by itself."""
    checked_number(maximum, "the score, whose scale a best score alone has to tell,", OPEN_SHARE)
    checked_number(standard_error, "standard_error", Range(POSITIVE.low, 1))


def find_errors(
    printed: PrintedScores,
    better: FloatArray,
    names: Sequence[str],
    *,
    n_test: Any,
    standard_error: Any,
    metric: Metric,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Size, errors, rounding and counts of a ``Leaderboard``, by its fields; and remarks.

    ``better`` are the scores with the sign by which larger is better, (m,).
    """
    found: dict[str, Any] = dict.fromkeys(
        ("n_test", "standard_error", "error_ratios", "count_bounds")
    )
    found |= {"n_test_source": GIVEN, "rounding": printed.roundings[0]}
    if metric == "accuracy" and standard_error is not None:
        unit = 0.01 if printed.in_percent else 1.0
        worth = sizes_of_accuracies(printed.values, standard_error, n_test, names, unit)
        return found | of_sizes(worth, better, _BY_ERROR), ()
    if metric == "accuracy" and is_listed(n_test):
        sizes = _checked_sizes(n_test, names)
        found |= of_sizes(sizes.astype(np.float64), better, _OWN)
    elif n_test is not None or metric != "score":
        found["n_test"], found["n_test_source"] = _checked_size(n_test, printed, metric)
        sizes = np.full(better.size, found["n_test"])
    if is_listed(standard_error):
        errors = checked_errors(standard_error, names, POSITIVE)
        found["standard_error"] = float(np.median(errors[leaders(better)]))
        found["error_ratios"] = errors / found["standard_error"]
    elif standard_error is not None:
        most = _MOST_NOISE * float(np.abs(better).max()) or POSITIVE.high
        allowed = Range(POSITIVE.low, most)
        found["standard_error"] = checked_number(standard_error, "standard_error", allowed)
    if metric != "accuracy":
        return found, ()
    found["rounding"], found["count_bounds"], remarks = find_rounding(printed, sizes, names)
    return found, remarks


def _checked_size(n_test: Any, printed: PrintedScores, metric: Metric) -> tuple[int, str]:
    """Number of items behind all scores, and where it comes from."""
    if metric != "accuracy" or n_test != "infer":
        return checked_number(n_test, "n_test"), GIVEN
    fit = fit_lattice(printed)
    if not fit.is_identified:
        raise InputError(f"n_test cannot be inferred: {fit.statement}; give n_test")
    return fit.n_test, INFERRED


def of_sizes(sizes: FloatArray, scores: FloatArray, source: str) -> dict[str, Any]:
    """Fields of a board whose accuracies are worth so many items, which need not be whole, (m,)."""
    n_test = max(2, round(float(np.median(sizes[leaders(scores)]))))
    return {
        "n_test": n_test,
        "n_test_source": source,
        "error_ratios": np.sqrt(n_test / sizes),
    }


def leaders(scores: FloatArray) -> IntArray:
    """Entries that say what is typical: the best ``max(5, 2 sqrt(m))``, best first.

    Examples
    --------
    >>> leaders(np.array([0.1, 0.9, 0.5, 0.8, 0.7, 0.6])).tolist()
    [1, 3, 4, 5, 2]
    """
    count = max(_LEADERS, int(np.ceil(_PER_ROOT * np.sqrt(scores.size))))
    return np.argsort(-scores, kind="stable")[:count]


def _checked_sizes(n_test: Any, names: Sequence[str]) -> IntArray:
    """Number of items behind each score: one number for all, or one for each."""
    listed = zip(one_each(n_test, len(names), "n_test"), names, strict=True)
    return np.array([checked_number(size, f"n_test of {shown(name)}") for size, name in listed])


def checked_errors(
    values: Any, names: Sequence[str], allowed: Range, may_miss: bool = False
) -> FloatArray:
    """Standard error of each score, NaN where one may be missing."""
    listed = zip(one_each(values, len(names), "standard_error"), names, strict=True)
    return np.array([
        np.nan
        if may_miss and is_blank(value)
        else checked_number(value, f"the standard error of {shown(name)}", allowed)
        for value, name in listed
    ])  # fmt: skip


def sizes_of_accuracies(
    scores: FloatArray, standard_error: Any, n_test: Any, names: Sequence[str], unit: float = 1.0
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
    >>> sizes_of_accuracies(np.array([0.9, 1.0]), [0.03, 0.0], 101, ["a", "b"]).round(1)
    array([101., 101.])
    """
    errors = unit * checked_errors(standard_error, names, NOT_NEGATIVE, may_miss=True)
    known = (errors > 0) & (scores > 0) & (scores < 1)
    sizes = np.zeros(scores.size) if n_test is None else _checked_sizes(n_test, names)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_error = scores * (1 - scores) / errors**2 + 1
    wide = known & (by_error < _LEAST_ITEMS)
    bad = np.flatnonzero(wide if n_test is not None else wide | ~known)
    if bad.size:
        j = int(bad[0])
        error = "no standard error" if np.isnan(errors[j]) else f"the standard error {errors[j]:g}"
        why, fix = "which does not tell how sure it is", "give n_test for such entries"
        if wide[j]:
            why = "wider than that of 2 items"
            fix = "scores and errors need the same units, percent or not"
        raise InputError(f"{shown(names[j])}, {scores[j]:g}, has {error}, {why}", fix=fix)
    return np.where(known, by_error, sizes)


def find_rounding(
    printed: PrintedScores, sizes: IntArray, names: Sequence[str]
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
    ImpossibleAccuracyError
        Half of the scores or more cannot be.
    """
    every = {how: np.stack(count_bounds(printed, sizes, how), 1) for how in printed.roundings}
    missed = {how: np.flatnonzero(ends[:, 0] > ends[:, 1]) for how, ends in every.items()}
    first = printed.roundings[0]
    how = min(every, key=lambda how: missed[how].size)
    bounds, wrong = every[how], missed[how]
    if 2 * wrong.size >= sizes.size:
        raise _impossible(printed, sizes, first, missed[first], names)
    remarks = []
    if how != first:
        items = f"{sizes[0]:,} items" if np.all(sizes == sizes[0]) else "as many items"
        remarks.append(
            f"scores are {_CUT[how]} to {printed.decimals} decimals: {_CUT[first]}, not all could "
            f"come from {items}"
        )
    if wrong.size:
        some = ", ".join(shown(names[row]) for row in wrong[:MOST_LISTED])
        remarks.append(
            f"no number of right answers gives the score of {some}: the nearest one is taken"
        )
        bounds[wrong] = np.rint(printed.values * sizes)[wrong, None].astype(np.int64)
    return how, bounds, tuple(remarks)


def _impossible(
    printed: PrintedScores, sizes: IntArray, how: Rounding, wrong: IntArray, names: Sequence[str]
) -> ImpossibleAccuracyError:
    n, score = int(sizes[wrong[0]]), float(printed.values[wrong[0]])
    full = how == "exact" or printed.scaled is None
    cut = "exactly" if full else f"{how} to {printed.decimals} decimals"
    below, above = np.floor(score * n) / n, np.ceil(score * n) / n
    return ImpossibleAccuracyError(
        f"no number of right answers out of {n} gives the score {score:g} of "
        f"{shown(names[wrong[0]])} ({cut}), as of {wrong.size:,} of {sizes.size:,} scores: "
        f"the nearest attainable are {below:.8g} and {above:.8g}"
    )
