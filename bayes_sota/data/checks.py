"""What the parts of a leaderboard must be; each error names the entry, the value and the fix."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

import numpy as np

from bayes_sota.core.arguments import RATIO
from bayes_sota.core.errors import ImpossibleAccuracyError, InputError
from bayes_sota.core.priors import ListedTries, TriesPrior, UniformTries
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.lattice import fit_lattice
from bayes_sota.data.printed_scores import (
    PrintedScores,
    Rounding,
    is_blank,
    parse_number,
    plain_list,
)

Metric = Literal["accuracy", "auc", "score"]

LARGEST = 10**9  # test items, classifiers
CLASSIFIERS, TEST_ITEMS = "the number of classifiers", "the number of test items"
GIVEN, INFERRED = "given", "inferred from the scores"


def whole_number(value: object, name: str, meaning: str) -> int:
    """Whole number from 1 to ``LARGEST``; ``name`` and ``meaning`` are for the message."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not (number.is_integer() and number >= 1):
        raise InputError(f"{name} is {meaning}, a whole number of at least 1, got {value}")
    if number > LARGEST:
        raise InputError(f"{name} is {meaning}, at most {LARGEST:,}, got {value}")
    return int(number)


def positive_number(value: object, name: str) -> float:
    """Positive number; ``name`` is for the message."""
    number = parse_number(value)
    if number is None or number <= 0:
        raise InputError(f"{name} must be a positive number, got {value!r}")
    return float(number)


def checked_tries(value: int | tuple[int, int] | TriesPrior) -> int | TriesPrior:
    """Number of classifiers or its prior."""
    if isinstance(value, TriesPrior):
        return value
    if isinstance(value, tuple):
        low, high = (whole_number(v, "n_classifiers", CLASSIFIERS) for v in value)
        return UniformTries(low, high) if low != high else low
    return whole_number(value, "n_classifiers", CLASSIFIERS)


def typical(tries: int | TriesPrior) -> float:
    """Number of classifiers, or its prior median."""
    return float(tries if isinstance(tries, int) else tries.quantile(0.5))


def tries_of_entries(value: int | tuple[int, int] | TriesPrior | None, m: int) -> int | TriesPrior:
    """Number of classifiers of a board with m entries: at least two and at least m."""
    tries = m if value is None else checked_tries(value)
    if (tries.low if isinstance(tries, UniformTries) else typical(tries)) < m:
        raise InputError(
            f"n_classifiers is {value}, fewer than the {m:,} entries of the board; it counts them "
            "and those without a score"
        )
    if tries == 1:
        raise InputError(
            "a leaderboard needs at least two classifiers, got 1; if there were others whose "
            "scores are not known, say how many with n_classifiers"
        )
    return tries


def check_metric(
    metric: str,
    standard_error: Any,
    n_test: Any,
    lower_is_better: bool = False,
) -> None:
    """Raise ``InputError`` where options of one metric come with another."""
    if metric not in ("accuracy", "auc", "score"):
        raise InputError(f'metric must be "accuracy", "auc" or "score", got {metric!r}')
    infer = isinstance(n_test, str) and n_test == "infer"
    if metric != "accuracy" and infer:
        raise InputError(f'n_test="infer" is for accuracies, but metric is "{metric}"')
    if lower_is_better and metric != "score":
        raise InputError(
            f'lower_is_better is for metric="score" (errors and losses), but of metric '
            f'"{metric}" larger is better; write an error rate e as the accuracy 1 - e'
        )
    if standard_error is None or (np.ndim(standard_error) and metric == "accuracy"):
        return
    if metric != "score":
        what = "n_test" if metric == "accuracy" else "n_test and n_positive"
        raise InputError(
            f'standard_error is for metric="score"; that of metric "{metric}" follows from {what}'
        )
    if not np.ndim(standard_error):
        positive_number(standard_error, "standard_error")


def checked_positives(n_positive: Any, n_test: int, metric: str) -> int | None:
    """Number of positive test items, which AUCs need: at least 2 of each class."""
    if metric != "auc":
        if n_positive is not None:
            raise InputError(f'n_positive is for metric="auc", but metric is "{metric}"')
        return None
    if n_positive is None:
        raise InputError("n_positive is missing: the number of positive test items, for AUCs")
    positives = whole_number(n_positive, "n_positive", "the number of positive test items")
    if not 2 <= positives <= n_test - 2:
        raise InputError(
            f"n_positive must leave at least 2 items of each class: between 2 and {n_test - 2}, "
            f"got {positives} of {n_test} items"
        )
    return positives


def ratio_of_metric(ratio: Any, metric: str) -> float | None:
    """Ratio of AUCs, by default 1; other metrics have none."""
    if metric == "auc":
        return float(RATIO.check(1.0 if ratio is None else ratio, "spread_ratio"))
    if ratio is not None:
        raise InputError(f'spread_ratio is for metric="auc", but metric is "{metric}"')
    return None


def check_aucs(aucs: FloatArray, subject: Callable[[int], str]) -> tuple[str, ...]:
    """Raise ``InputError`` where even the best AUC is no better than chance; else remarks."""
    best = int(np.argmax(aucs))
    if aucs[best] <= 0.5:
        raise InputError(
            f"{subject(best)} is the best, an AUC of {aucs[best]:g}, no better than chance; if "
            "positives and negatives are exchanged write 1 - AUC"
        )
    below = int(np.sum(aucs < 0.5))
    return (f"entries with an AUC below 0.5: {below:,}",) if below else ()


def check_error(standard_error: float | None, largest: float, most: float = 1e6) -> None:
    """Raise ``InputError`` where scores say nothing beside their standard error."""
    if standard_error is not None and standard_error > most * largest > 0:
        raise InputError(
            f"a standard error of {standard_error:g} leaves nothing to learn from scores of at "
            f"most {largest:g}: it must be at most {most * largest:g}, and is in the unit of the "
            "scores"
        )


def check_alone(maximum: float, metric: str, standard_error: Any) -> None:
    """Raise ``InputError`` where a best score alone says nothing."""
    if metric == "score" and standard_error is None:
        raise InputError("standard_error is missing: the standard error of one score")
    if metric != "auc" and not 0 < maximum < 1:
        raise InputError(
            f"a best score alone needs a scale for the prior: it must lie in (0, 1), got "
            f"{maximum:g}; give the whole board, or divide by the largest score possible"
        )
    check_error(standard_error, largest=1.0, most=1.0)  # of scores between 0 and 1
    if metric == "auc" and maximum <= 0.5:
        raise InputError(f"the best AUC must exceed 0.5, got {maximum:g}: no better than chance")


def find_test_size(
    n_test: Any, parsed: Mapping[Rounding, PrintedScores], is_needed: bool
) -> tuple[int, str]:
    """Number of test items, and whether it was given or inferred from scores so rounded."""
    if n_test is None and not is_needed:
        return cast(int, None), GIVEN
    if n_test is None:
        raise InputError('n_test is missing: the number of test items, or "infer"')
    if n_test != "infer":
        return whole_number(n_test, "n_test", TEST_ITEMS), GIVEN
    fit = fit_lattice(parsed)
    if not fit.is_identified:
        raise InputError(f"n_test cannot be inferred: {fit.statement}; give n_test")
    return fit.n_test, INFERRED


def checked_names(names: Any) -> tuple[str, ...]:
    """Names as text."""
    listed = plain_list(names, "names")
    for index, name in enumerate(listed):
        if name is None or name != name:
            raise InputError(f"entry {index + 1} has no name; leave names out, or name every entry")
    return tuple(str(name) for name in listed)


def entry_names(names: tuple[str, ...] | None, m: int) -> tuple[str, ...]:
    """One name for each of m entries, all different."""
    if names is None:
        return tuple(f"entry {index + 1}" for index in range(m))
    if len(names) != m:
        raise InputError(f"there are {len(names):,} names for {m:,} scores")
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if seen.setdefault(name, index) != index:
            raise InputError(
                f"names must differ, but entries {seen[name] + 1} and {index + 1} are both "
                f"{name!r:.80}"
            )
    return names


type Submissions = tuple[IntArray | None, TriesPrior | None, tuple[str, ...]]


def checked_submissions(
    submissions: Any, m: int, subject: Callable[[int], str] = lambda index: "the best score"
) -> Submissions:
    """Submissions behind each of m entries, 0 where they have a prior; the prior; and remarks.

    A number is that of all, a pair (a tuple) a range, anything else one number for each entry.
    """
    if submissions is None:
        return None, None, ()
    if isinstance(submissions, TriesPrior):
        return np.zeros(m, np.int64), submissions, ()
    if isinstance(submissions, tuple) and len(submissions) == 2:
        low, high = (_submission_number(value) for value in submissions)
        if low > high:
            raise InputError(f"a range of submissions rises, got {low:,}:{high:,}")
        return checked_submissions(UniformTries(low, high) if low < high else low, m)
    number = parse_number(submissions)
    if number is not None:
        return np.full(m, _submission_number(submissions)), None, ()
    listed = plain_list(submissions, "submissions")
    if len(listed) != m:
        raise InputError(f"there are {len(listed):,} submissions for {m:,} scores")
    counts = [
        0 if is_blank(value) else _submission_number(value, f" beside {subject(index)}")
        for index, value in enumerate(listed)
    ]
    return _with_prior_of_missing(np.array(counts, np.int64))


def numbers_of(submissions: IntArray, prior: TriesPrior | None) -> FloatArray:
    """Equally likely numbers of submissions of each entry, (m, k): k is 1 without a prior."""
    known = submissions[:, None].astype(np.float64)
    return known if prior is None else np.where(known > 0, known, prior.nodes()[0])


def _submission_number(value: Any, place: str = "") -> int:
    number = parse_number(value)
    if number is None or number != number.to_integral_value() or not 1 <= number <= LARGEST:
        raise InputError(f"submissions are whole numbers of at least 1, got {value!r:.80}{place}")
    return int(number)


def _with_prior_of_missing(counts: IntArray) -> Submissions:
    """Numbers of entries that have none are as likely as those of the others."""
    known, missing = counts[counts > 0], int(np.sum(counts == 0))
    if not known.size:
        raise InputError("submissions are missing for every entry: give a number, or a range")
    if not missing:
        return counts, None, ()
    remark = (
        f"the number of submissions is missing for {missing:,} of {counts.size:,} entries: taken "
        "to be as those of the others"
    )
    return counts, ListedTries(tuple(int(count) for count in known)), (remark,)


def unattainable(
    printed: PrintedScores,
    bounds: IntArray,
    n_test: int,
    rounding: Rounding,
    subject: Callable[[int], str],
) -> ImpossibleAccuracyError:
    """Error on scores that no number of right answers prints as: at least one of these."""
    missed = bounds[:, 0] > bounds[:, 1]
    first, m = int(np.argmax(missed)), missed.size
    score = float(printed.values[first])
    full = rounding == "exact" or printed.scaled is None
    how = "exactly" if full else f"{rounding} to {printed.decimals} decimals"
    what = f"the score {score:g} ({how})"
    if m > 1:
        what = f"{int(missed.sum()):,} of {m:,} scores ({how}); {subject(first)} is {score:g}"
    below, above = np.floor(score * n_test), np.ceil(score * n_test)
    return ImpossibleAccuracyError(
        f"no number of right answers out of {n_test} gives {what}: the nearest attainable scores "
        f"are {below / n_test:.8g} and {above / n_test:.8g}"
    )
