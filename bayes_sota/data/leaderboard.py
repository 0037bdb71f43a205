"""What the parts of a leaderboard must be; each error names the entry, the value and the fix.

What a leaderboard says: its scores or only the best one, and how many stand behind them.

A printed score is an interval of success counts, not a point: 0.9116 on 13,840 items is any count
that prints as 0.9116. Everything is checked here, at construction, and never again.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import partial
from typing import Any, Literal, Self, cast

import numpy as np

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import TriesPrior, UniformTries
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.lattice import fit_lattice
from bayes_sota.data.printed_scores import (
    EXACT_DECIMALS,
    PrintedScores,
    Rounding,
    RoundingChoice,
    count_bounds,
    parse_each,
    parse_number,
    parse_scores,
    plain_list,
    rounding_order,
    score_of_entry,
)

LARGEST = 10**9  # test items, classifiers
TEST_ITEMS = "the number of test items"
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


def checked_tries(value: int | tuple[int, int] | TriesPrior) -> int | TriesPrior:
    """Number of classifiers or its prior."""
    if isinstance(value, TriesPrior):
        return value
    if isinstance(value, tuple):
        low, high = (whole_number(v, "n_classifiers", "the number of classifiers") for v in value)
        return UniformTries(low, high) if low != high else low
    return whole_number(value, "n_classifiers", "the number of classifiers")


def tries_of_entries(value: int | tuple[int, int] | TriesPrior | None, m: int) -> int | TriesPrior:
    """Number of classifiers of a board with m entries: at least two and at least m."""
    tries = m if value is None else checked_tries(value)
    if isinstance(tries, UniformTries):
        least = float(tries.low)
    else:
        least = float(tries if isinstance(tries, int) else tries.quantile(0.5))
    if least < m:
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
    percent: bool | None,
    lower_is_better: bool = False,
    rounding: RoundingChoice = "auto",
    decimals: int | None = None,
) -> None:
    """Raise ``InputError`` where options of one metric come with another."""
    if metric not in ("accuracy", "auc", "score"):
        raise InputError(f'metric must be "accuracy", "auc" or "score", got {metric!r}')
    if metric != "accuracy" and n_test == "infer":
        raise InputError(f'n_test="infer" is for accuracies, but metric is "{metric}"')
    if metric == "score":
        cut = None if rounding == "auto" or isinstance(rounding, tuple) else rounding
        refuse_unused('metric "score"', {"rounding": cut, "decimals": decimals})
    if metric == "score" and percent:
        raise InputError('percent=True is for accuracies and AUCs, but metric is "score"')
    if lower_is_better and metric != "score":
        raise InputError(
            f'lower_is_better is for metric="score" (errors and losses), but of metric '
            f'"{metric}" larger is better; write an error rate e as the accuracy 1 - e'
        )
    if standard_error is None:
        return
    if metric != "score":
        what = "n_test" if metric == "accuracy" else "n_test and n_positive"
        raise InputError(
            f'standard_error is for metric="score"; that of metric "{metric}" follows from {what}'
        )
    number = parse_number(standard_error)
    if number is None or number <= 0:
        raise InputError(f"standard_error must be a positive number, got {standard_error!r}")


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


def check_alone(maximum: float, metric: str, standard_error: Any) -> None:
    """Raise ``InputError`` where a best score alone says nothing."""
    if metric == "score" and standard_error is None:
        raise InputError("standard_error is missing: the standard error of one score")
    if metric != "auc" and not 0 < maximum < 1:
        raise InputError(
            f"a best score alone needs a scale for the prior: it must lie in (0, 1), got "
            f"{maximum:g}; give the whole board, or divide by the largest score possible"
        )
    if metric == "auc" and maximum <= 0.5:
        raise InputError(f"the best AUC must exceed 0.5, got {maximum:g}: no better than chance")


def find_test_size(
    n_test: Any, parsed: Mapping[Rounding, PrintedScores], is_needed: bool
) -> tuple[int, str]:
    """Number of test items, and whether it was given or inferred from scores so rounded."""
    if n_test is None and not is_needed:
        return cast(int, None), GIVEN
    if n_test != "infer":
        meaning = 'the number of test items (or "infer")' if n_test is None else TEST_ITEMS
        return whole_number(n_test, "n_test", meaning), GIVEN
    fit = fit_lattice(parsed)
    if not fit.is_identified:
        raise InputError(f"n_test cannot be inferred: {fit.statement}; give n_test")
    return fit.n_test, INFERRED


def find_rounding(
    parsed: Mapping[Rounding, PrintedScores], n_test: int
) -> tuple[Rounding, IntArray, tuple[str, ...]]:
    """First rounding with which some number of right answers prints as each score.

    The first of all where there is none; with the counts behind each score, and a remark where it
    is not the first.
    """
    preferred: Rounding = next(iter(parsed))
    bounds = {}
    for how, printed in parsed.items():
        bounds[how] = count_bounds(printed, n_test, how)
        if np.all(bounds[how][:, 0] <= bounds[how][:, 1]):
            words = {"nearest": "rounded", "floor": "cut", "exact": "exact"}
            remark = (
                f"scores are {words[how]} to {printed.decimals} decimals: {words[preferred]}, not "
                f"all could come from {n_test:,} items"
            )
            return how, bounds[how], () if how == preferred else (remark,)
    return preferred, bounds[preferred], ()


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


def checked_submissions(submissions: Any, m: int, subject: Callable[[int], str]) -> IntArray | None:
    """Whole numbers of at least 1, one for each of m entries."""
    if submissions is None:
        return None
    listed = plain_list(submissions, "submissions")
    if len(listed) != m:
        raise InputError(f"there are {len(listed):,} submissions for {m:,} scores")
    counts = []
    for index, value in enumerate(listed):
        number = parse_number(value)
        if number is None or number != number.to_integral_value() or not 1 <= number <= LARGEST:
            raise InputError(
                f"submissions are whole numbers of at least 1, got {value!r:.80} beside "
                f"{subject(index)}"
            )
        counts.append(int(number))
    return np.array(counts, np.int64)


def check_attainable(
    printed: PrintedScores,
    bounds: IntArray,
    n_test: int,
    rounding: Rounding,
    subject: Callable[[int], str],
) -> None:
    """Raise ``InputError`` unless some number of right answers prints as each score."""
    missed = bounds[:, 0] > bounds[:, 1]
    if not missed.any():
        return
    first, m = int(np.argmax(missed)), missed.size
    score = float(printed.values[first])
    full = rounding == "exact" or printed.scaled is None
    how = "exactly" if full else f"{rounding} to {printed.decimals} decimals"
    below, above = np.floor(score * n_test), np.ceil(score * n_test)
    what = f"the score {score:g} ({how})"
    if m > 1:
        what = f"{int(missed.sum()):,} of {m:,} scores ({how}); {subject(first)} is {score:g}"
    raise InputError(
        f"no number of right answers out of {n_test} gives {what}: the nearest attainable scores "
        f"are {below / n_test:.8g} and {above / n_test:.8g}"
        f"{_other_reading(printed, n_test, rounding)}"
    )


def _other_reading(printed: PrintedScores, n_test: int, rounding: Rounding) -> str:
    """What would make all scores attainable, as the end of a message."""
    if printed.scaled is None:
        return ""
    other: Rounding = "floor" if rounding == "nearest" else "nearest"
    bounds = count_bounds(printed, n_test, other)
    if np.all(bounds[:, 0] <= bounds[:, 1]):
        one = printed.values.size == 1
        return f'; with rounding "{other}" ' + (
            f"it is {bounds[0, 0]} right answers" if one else "all are attainable"
        )
    try:
        fit = fit_lattice({how: printed for how in (rounding, other)})
    except InputError:
        return ""
    if not fit.is_identified:
        return ""
    return f'; with n_test={fit.n_test} and rounding "{fit.rounding}" all are attainable'


Metric = Literal["accuracy", "auc", "score"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Leaderboard:
    """Scores of a leaderboard, or only the best of them.

    Construct with all scores, or with ``from_maximum`` where only the best is known.

    Parameters
    ----------
    scores : (m,) sequence of float, str or Decimal, array, pandas or polars Series
        Observed scores. Strings keep their digits: "0.9110" has four.
    n_test : int or "infer"
        Number of test items; "infer" takes the one that the scores identify (``infer_n_test``).
        None is allowed for the metric "score" only.
    n_positive : int, optional
        Positive test items, for the metric "auc" only, which needs it.
    names : (m,) sequence of str, optional
        Names of the entries, all different. Default: "entry 1", "entry 2", ...
    n_classifiers : int, (int, int) or TriesPrior, optional
        Number of classifiers that could have become the maximum: a number, a range (log-uniform)
        or a prior. Default: m. More than m where part of the board, or variants, are hidden.
    submissions : (m,) sequence of int, optional
        Submissions behind each entry.
    metric : {"accuracy", "auc", "score"}
        "accuracy" is a number of right answers divided by ``n_test``, "auc" an area under the ROC
        curve; "score" anything else.
    standard_error : float, optional
        Standard error of one score, in its units; for the metric "score" only.
    lower_is_better : bool
        Errors and losses, for the metric "score" only.
    rounding : {"auto", "nearest", "floor", "exact"}
        How scores were cut to ``decimals``: rounded, floored (as Kaggle does), or not at all.
        "auto" takes nearest, and floor where only so all scores are possible; a tuple is tried in
        its order.
    decimals : int, optional
        Digits printed. Default: the most that any score has; 12 or more is full precision.
    percent : bool, optional
        Whether scores are in percent. Default: if most exceed 1 and none exceeds 100.
    name : str
        Label of the board.
    notes : sequence of str
        What a reader dropped or merged.

    Attributes
    ----------
    scores : (m,) array of float, or None
        Observed scores in the order given, larger is better: with the opposite sign if
        ``lower_is_better``. None if only the maximum is known.
    names : tuple of str
        Names of the entries; empty if only the maximum is known.
    count_bounds : (m, 2) array of int, or None
        Smallest and largest number of right answers that prints as each score; None for the
        metric "score" and where only the maximum is known.
    maximum : float
        Best observed score; its opposite if ``lower_is_better``.
    n_test : int
        Number of test items; None possible for the metric "score".
    n_positive : int or None
        Positive test items of the metric "auc".
    n_test_source : str
        "given" or "inferred from the scores".
    tries : int or TriesPrior
        Number of classifiers (or tries) that could have become the maximum.
    submissions : (m,) array of int, or None
        Submissions behind each entry.
    rounding : {"nearest", "floor", "exact"}
        How scores were cut, as given or found.
    metric, standard_error, lower_is_better, decimals, name, notes
        As given; ``decimals`` None for the metric "score", ``notes`` with those of the constructor.

    Raises
    ------
    InputError
        Anything that cannot be what was meant, by entry, value and fix.

    Examples
    --------
    >>> board = Leaderboard(["0.91", "0.94", "0.90"], n_test=100, names=["a", "b", "c"])
    >>> board.maximum, board.n_entries, board.counts
    (0.94, 3, (94, 94))
    >>> board.count_bounds.tolist()
    [[91, 91], [94, 94], [90, 90]]
    """

    scores: FloatArray | None
    names: tuple[str, ...]
    count_bounds: IntArray | None
    maximum: float
    n_test: int
    n_test_source: str
    n_positive: int | None
    tries: int | TriesPrior
    submissions: IntArray | None
    metric: Metric
    standard_error: float | None
    lower_is_better: bool
    rounding: Rounding
    decimals: int | None
    name: str
    notes: tuple[str, ...]
    _best_counts: tuple[int, int] | None

    def __init__(
        self,
        scores: Any,
        *,
        n_test: int | Literal["infer"] | None = None,
        n_positive: int | None = None,
        names: Sequence[str] | None = None,
        n_classifiers: int | tuple[int, int] | TriesPrior | None = None,
        submissions: Any = None,
        metric: Metric = "accuracy",
        standard_error: float | None = None,
        lower_is_better: bool = False,
        rounding: RoundingChoice = "auto",
        decimals: int | None = None,
        percent: bool | None = None,
        name: str = "board",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything and find the counts behind each score."""
        check_metric(metric, standard_error, n_test, percent, lower_is_better, rounding, decimals)
        given = None if names is None else checked_names(names)
        subject = partial(_subject, given)
        is_accuracy, is_score = metric == "accuracy", metric == "score"
        parsed = parse_each(
            scores, rounding, decimals, percent=percent, bounded=not is_score, subject=subject
        )
        size, source = find_test_size(n_test, parsed, not is_score)
        chosen, bounds, remarks = next(iter(parsed)), None, tuple[str, ...]()
        if is_accuracy:
            chosen, bounds, remarks = find_rounding(parsed, size)
            check_attainable(parsed[chosen], bounds, size, chosen, subject)
        printed = parsed[chosen]
        m = printed.values.size
        values = -printed.values if lower_is_better else printed.values
        best = int(np.argmax(values))
        if printed.in_percent:
            remarks += ("scores in percent were divided by 100",)
        if metric == "auc":
            remarks += check_aucs(values, subject)
        self._set(
            scores=_read_only(values),
            names=entry_names(given, m),
            count_bounds=_read_only(bounds),
            maximum=float(values[best]),
            n_test=size,
            n_test_source=source,
            n_positive=checked_positives(n_positive, size, metric),
            tries=tries_of_entries(n_classifiers, m),
            submissions=_read_only(checked_submissions(submissions, m, subject)),
            metric=metric,
            standard_error=None if standard_error is None else float(standard_error),
            lower_is_better=bool(lower_is_better),
            rounding=chosen,
            decimals=None if is_score else printed.decimals,
            name=str(name),
            notes=(*(str(note) for note in notes), *remarks),
            _best_counts=None if bounds is None else _pair(bounds[best]),
        )

    @classmethod
    def from_maximum(
        cls,
        maximum: float | str | Decimal,
        *,
        n_test: int | None = None,
        n_classifiers: int | tuple[int, int] | TriesPrior,
        metric: Metric = "accuracy",
        n_positive: int | None = None,
        standard_error: float | None = None,
        rounding: RoundingChoice = "auto",
        decimals: int | None = None,
        name: str = "board",
    ) -> "Leaderboard":
        """Leaderboard of which only the best score is known.

        Parameters
        ----------
        maximum : float, str or Decimal
            Best score, in (0, 1) where it is not an accuracy. A string keeps its digits: "0.9110"
            has four decimals.
        n_test : int
            Number of test items; not needed for the metric "score".
        n_classifiers : int, (int, int) or TriesPrior
            Number of classifiers, a range (log-uniform), or a prior.
        metric, n_positive, standard_error
            As for a whole board.
        rounding : {"auto", "nearest", "floor", "exact"}
            How the score was cut to ``decimals``: rounded, floored (as Kaggle does), or not at
            all. "auto" is nearest: one score does not tell.
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
        tries = checked_tries(n_classifiers)
        how = rounding_order(rounding)[0]
        check_metric(metric, standard_error, n_test, percent=None)
        printed = parse_scores(
            [maximum], rounding=how, decimals=decimals, percent=False, subject=_the_maximum
        )
        n, _ = find_test_size(n_test, {how: printed}, metric != "score")
        best, counts = float(printed.values[0]), None
        if metric == "accuracy":
            bounds = count_bounds(printed, n, how)
            check_attainable(printed, bounds, n, how, _the_maximum)
            counts = _pair(bounds[0])
        else:
            check_alone(best, metric, standard_error)
        only = dict.fromkeys(("scores", "count_bounds", "submissions"))
        return object.__new__(cls)._set(
            **only, names=(), maximum=best, n_test=n, n_test_source=GIVEN,
            n_positive=checked_positives(n_positive, n, metric), tries=tries, metric=metric,
            standard_error=None if standard_error is None else float(standard_error),
            lower_is_better=False, rounding=how, decimals=printed.decimals, name=name,
            notes=(), _best_counts=counts,
        )  # fmt: skip

    @property
    def counts(self) -> tuple[int, int]:
        """Smallest and largest number of right answers that prints as the best score."""
        if self._best_counts is None:
            raise InputError(
                f'a board with metric "{self.metric}" has no number of right answers behind its '
                "scores"
            )
        return self._best_counts

    @property
    def sign(self) -> int:
        """What scores are multiplied by to be as they were given: -1 if lower is better."""
        return -1 if self.lower_is_better else 1

    @property
    def n_negative(self) -> int | None:
        """Negative test items of the metric "auc"."""
        return None if self.n_positive is None else self.n_test - self.n_positive

    @property
    def printed_width(self) -> float:
        """Distance of two scores that print differently; 0 where they are in full precision."""
        if self.decimals is None or self.decimals >= EXACT_DECIMALS or self.rounding == "exact":
            return 0.0
        return float(10.0**-self.decimals)

    def printed_interval(self, scores: Any, least: float) -> tuple[Any, Any]:
        """Lowest and highest score that prints as each, at least ``least`` apart."""
        width = max(self.printed_width, least)
        low = scores if self.rounding == "floor" else scores - width / 2
        return low, low + width

    @property
    def n_entries(self) -> int | None:
        """Number of entries with a score, m; None if only the maximum is known."""
        return None if self.scores is None else self.scores.size

    @property
    def is_partial(self) -> bool:
        """Whether some classifiers are not among the entries."""
        return self.n_entries is not None and self.typical_tries > self.n_entries

    @property
    def order(self) -> IntArray:
        """Indices of the entries, best first, equal scores in the order given; (m,)."""
        return np.argsort(-self._all_scores(), kind="stable")

    @property
    def n_classifiers(self) -> int | None:
        """Number of classifiers where it is known."""
        return self.tries if isinstance(self.tries, int) else None

    @property
    def typical_tries(self) -> float:
        """Number of classifiers, or its prior median."""
        return float(self.tries) if isinstance(self.tries, int) else float(self.tries.quantile(0.5))

    def with_tries(self, n_classifiers: int | TriesPrior) -> "Leaderboard":
        """The same board with another number of classifiers; not fewer than its entries."""
        if self.n_entries is None:
            return self._copy(tries=checked_tries(n_classifiers))
        return self._copy(tries=tries_of_entries(n_classifiers, self.n_entries))

    def maximum_only(self) -> "Leaderboard":
        """The same board of which only the best score is known.

        Examples
        --------
        >>> Leaderboard([0.91, 0.94], n_test=100).maximum_only().n_entries is None
        True
        """
        if self.lower_is_better:
            raise InputError("the best error alone has no scale for a prior; give the whole board")
        if self.metric == "score":
            check_alone(self.maximum, self.metric, self.standard_error)
        nothing = dict.fromkeys(("scores", "count_bounds", "submissions"))
        return self._copy(**nothing, names=())

    def without(self, entries: int | str | Sequence[int | str]) -> "Leaderboard":
        """The same board without some entries, given by index or by name.

        A known number of classifiers falls by as many; a prior on it stays.

        Examples
        --------
        >>> board = Leaderboard([0.91, 0.94, 0.9], n_test=100, names=["a", "b", "c"])
        >>> board.without("b").names, board.without([1]).n_classifiers
        (('a', 'c'), 2)
        """
        scores = self._all_scores()
        chosen = [entries] if isinstance(entries, int | str | np.integer) else list(entries)
        kept = np.ones(scores.size, bool)
        kept[[self._index(entry) for entry in chosen]] = False
        if not kept.any():
            raise InputError("without: no entry would be left")
        tries = self.tries
        if isinstance(tries, int):
            tries -= int((~kept).sum())
        best = np.flatnonzero(kept)[np.argmax(scores[kept])]
        bounds = self.count_bounds
        return self._copy(
            scores=_read_only(scores[kept]),
            names=tuple(name for name, keep in zip(self.names, kept, strict=True) if keep),
            count_bounds=None if bounds is None else _read_only(bounds[kept]),
            submissions=None if self.submissions is None else _read_only(self.submissions[kept]),
            maximum=float(scores[best]),
            tries=tries_of_entries(tries, int(kept.sum())),
            _best_counts=None if bounds is None else _pair(bounds[best]),
        )

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed."""
        counts = None if self._best_counts is None else list(self._best_counts)
        content: list[Any] = [self.maximum, self.n_test, repr(self.tries), counts, self.name]
        if self.metric != "accuracy":
            content += [self.n_positive, self.lower_is_better, self.printed_width]
            content += [self.metric, self.standard_error]
        if self.scores is not None:
            content += [self.metric, self.standard_error, list(self.names)]
            for part in (self.scores, self.count_bounds, self.submissions):
                content.append(None if part is None else part.tolist())
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        """Equal in every field."""
        if not isinstance(other, Leaderboard):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(np.array_equal(a, b) if _is_array(a, b) else a == b for a, b in pairs)

    def __hash__(self) -> int:
        """Hash of what was observed."""
        return hash(self.data_hash())

    def __repr__(self) -> str:
        """One line, however many entries there are."""
        return (
            f"Leaderboard(name={self.name!r}, metric={self.metric!r}, n_entries={self.n_entries}, "
            f"maximum={self.maximum!r}, n_test={self.n_test}, tries={self.tries})"
        )

    def _set(self, **values: Any) -> Self:
        for key, value in values.items():
            object.__setattr__(self, key, value)
        return self

    def _copy(self, **changes: Any) -> "Leaderboard":
        present = {f.name: getattr(self, f.name) for f in fields(self)}
        return object.__new__(Leaderboard)._set(**{**present, **changes})

    def _all_scores(self) -> FloatArray:
        if self.scores is None:
            raise InputError("of this board only the best score is known, not its entries")
        return self.scores

    def _index(self, entry: int | str) -> int:
        m = len(self.names)
        if isinstance(entry, str):
            if entry not in self.names:
                raise InputError(f"there is no entry named {entry!r:.80}")
            return self.names.index(entry)
        if not 0 <= entry < m:
            raise InputError(f"entries are numbered from 0 to {m - 1}, got {entry}")
        return int(entry)


def _the_maximum(index: int) -> str:
    return "the maximum"


def _subject(names: tuple[str, ...] | None, index: int) -> str:
    """What a message calls the score of an entry."""
    known = names is not None and index < len(names)
    return score_of_entry(index) + (f" ({names[index]!r:.80})" if known and names else "")


def _is_array(*values: object) -> bool:
    return all(isinstance(value, np.ndarray) for value in values)


def _pair(bounds: IntArray) -> tuple[int, int]:
    return int(bounds[0]), int(bounds[1])


def _read_only(array: Any) -> Any:
    if array is not None:
        array.setflags(write=False)
    return array
