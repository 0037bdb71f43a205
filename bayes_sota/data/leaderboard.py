"""What a leaderboard says: all its scores, or the best one, and how many stand behind it.

A printed score is an interval of success counts, not a point: 0.9116 on 13,840 items is any count
that prints as 0.9116. Everything is checked here, at construction, and never again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import ListedTries, TriesPrior
from bayes_sota.core.text import nearest
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data import checks
from bayes_sota.data.checks import Metric
from bayes_sota.data.observed import Chosen, hash_of_json
from bayes_sota.data.own_errors import ScoreErrors, find_errors, find_rounding
from bayes_sota.data.printed_scores import (
    EXACT_DECIMALS,
    LEAST_PERCENT,
    Rounding,
    RoundingChoice,
    parse_each,
    parse_number,
    parse_scores,
    rounding_order,
    score_of_entry,
)

if TYPE_CHECKING:
    from bayes_sota.data.task_scores import TaskScores

_PERCENT = "scores in percent were divided by 100"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class BestScore(Chosen):
    """The best score of a leaderboard, and how many classifiers stand behind it.

    Parameters
    ----------
    maximum : float, str or Decimal
        Best score, in (0, 1) where it is not an accuracy; an accuracy or an AUC that has a
        percent sign or is at least 10 is in percent, which ``notes`` say. A string keeps its
        digits: "0.9110" has four decimals.
    n_test : int
        Number of test items; not needed for the metric "score".
    n_classifiers : int, (int, int) or TriesPrior
        Number of classifiers, a range (log-uniform), or a prior.
    submissions : int, (int, int) or TriesPrior, optional
        Submissions (or unpublished variants) behind every classifier, of which the board shows
        the best.
    metric, n_positive, spread_ratio, standard_error
        As for a whole board.
    rounding : {"auto", "nearest", "floor", "exact"}
        How the score was cut to ``decimals``: rounded, floored (as Kaggle does), or not at
        all. "auto" is nearest: one score does not tell.
    name : str
        Label of the board.

    Attributes
    ----------
    maximum : float
        Best observed score.
    n_test, n_positive, spread_ratio, tries, metric, standard_error, rounding, decimals, name, notes
        As of a ``Leaderboard``.
    submissions : (1,) array of int, or None
        Submissions behind any entry, 0 where ``submissions_prior`` says what is known of them.

    Raises
    ------
    InputError
        Impossible sizes, or a score that no success count prints as.

    Examples
    --------
    >>> BestScore("0.9116", n_test=13_840, n_classifiers=3_558).counts
    (12616, 12617)
    """

    maximum: float
    n_test: int
    n_test_source: str
    n_positive: int | None
    spread_ratio: float | None
    tries: int | TriesPrior
    submissions: IntArray | None
    submissions_prior: TriesPrior | None
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
        maximum: float | str | Decimal,
        *,
        n_test: int | None = None,
        n_classifiers: int | tuple[int, int] | TriesPrior,
        submissions: int | tuple[int, int] | TriesPrior | None = None,
        metric: Metric = "accuracy",
        n_positive: int | None = None,
        spread_ratio: float | None = None,
        standard_error: float | None = None,
        rounding: RoundingChoice = "auto",
        name: str = "board",
    ) -> None:
        """Check everything and find the counts behind the score."""
        tries = checks.checked_tries(n_classifiers)
        how = rounding_order(rounding)[0]
        checks.check_metric(metric, standard_error, n_test)
        typed = parse_number(maximum)  # a small number above 1 is a slip, unless it has a sign
        percent = None if typed is None or typed >= LEAST_PERCENT else False
        printed = parse_scores(
            [maximum],
            rounding=how,
            percent=percent,
            bounded=metric != "score",
            subject=_the_maximum,
        )
        n, _ = checks.find_test_size(n_test, {how: printed}, metric != "score")
        best, counts = float(printed.values[0]), None
        if metric == "accuracy":
            _, bounds, _ = find_rounding({how: printed}, np.array([n]), _the_maximum)
            counts = _pair(bounds[0])
        else:
            checks.check_alone(best, metric, standard_error)
        numbers, prior, _ = checks.checked_submissions(submissions, 1)
        self._set(
            maximum=best,
            n_test=n,
            n_test_source=checks.GIVEN,
            n_positive=checks.checked_positives(n_positive, n, metric),
            spread_ratio=checks.ratio_of_metric(spread_ratio, metric),
            tries=tries,
            submissions=numbers,
            submissions_prior=prior,
            metric=metric,
            standard_error=None if standard_error is None else float(standard_error),
            lower_is_better=False,
            rounding=how,
            decimals=printed.decimals,
            name=name,
            notes=(_PERCENT,) if printed.in_percent else (),
            _best_counts=counts,
        )

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
    def n_classifiers(self) -> int | None:
        """Number of classifiers where it is known."""
        return self.tries if isinstance(self.tries, int) else None

    @property
    def typical_tries(self) -> float:
        """Number of classifiers, or its prior median."""
        return checks.typical(self.tries)

    @property
    def is_partial(self) -> bool:
        """Whether some classifiers are not among the entries, where entries are known."""
        return False

    @property
    def n_entries(self) -> int | None:
        """Number of entries with a score, where they are known."""
        return None

    def with_tries(self, n_classifiers: int | TriesPrior) -> Self:
        """The same with another number of classifiers."""
        return self._copy(tries=checks.checked_tries(n_classifiers))

    def with_spread_ratio(self, spread_ratio: float) -> Self:
        """The same with scores of another spread ratio behind its AUCs."""
        return self._copy(spread_ratio=checks.ratio_of_metric(spread_ratio, self.metric))

    def maximum_only(self) -> "BestScore":
        """Itself: of a whole board its best score alone."""
        return self

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed."""
        return hash_of_json(self._content())

    def _content(self) -> list[Any]:
        counts = None if self._best_counts is None else list(self._best_counts)
        content: list[Any] = [self.maximum, self.n_test, repr(self.tries), counts, self.name]
        if self.metric != "accuracy":
            content += [self.n_positive, self.lower_is_better, self.printed_width]
            content += [self.metric, self.standard_error]
        if self.spread_ratio not in (None, 1.0):
            content.append(repr(self.spread_ratio))
        if self.submissions_prior is not None:
            content.append(repr(self.submissions_prior))
        if self.submissions is not None:
            content.append(self.submissions.tolist())
        return content + ["competition"] * self.is_competition

    def __repr__(self) -> str:
        """One line, however many entries there are."""
        return (
            f"{type(self).__name__}(name={self.name!r}, metric={self.metric!r}, "
            f"n_entries={self.n_entries}, maximum={self.maximum!r}, n_test={self.n_test}, "
            f"tries={self.tries})"
        )


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Leaderboard(BestScore):
    """Scores of all entries of a leaderboard.

    A ``BestScore`` of which the others are known too.

    Parameters
    ----------
    scores : (m,) sequence of float, str or Decimal, array or Series
        Observed scores. Strings keep their digits: "0.9110" has four.
    n_test : int, "infer" or (m,) sequence of int
        Number of test items; "infer" takes the one that the scores identify (``infer_n_test``).
        One for each entry where accuracies come from different items. None is allowed for the
        metric "score", and for accuracies that have standard errors.
    n_positive : int, optional
        Positive test items, for the metric "auc" only, which needs it.
    spread_ratio : float, optional
        Standard deviation of the scores of positives over that of negatives (binormal), for the
        metric "auc" only; default 1.
    names : (m,) sequence of str, optional
        Names of the entries, all different. Default: "entry 1", "entry 2", ...
    n_classifiers : int, (int, int) or TriesPrior, optional
        Number of classifiers that could have become the maximum: a number, a range (log-uniform)
        or a prior. Default: m. More than m where part of the board, or variants, are hidden.
    submissions : int, (int, int), TriesPrior or (m,) sequence of int, optional
        Submissions behind each entry, of which the board shows the best: a number for all, a range
        (a tuple; log-uniform, every entry has its own number), a prior, or one number for each
        (None where it is not known: then as those of the others). Default: one each, or none was
        chosen for its score.
    metric : {"accuracy", "auc", "score"}
        "accuracy" is a number of right answers divided by ``n_test``, "auc" an area under the ROC
        curve; "score" anything else.
    standard_error : float or (m,) sequence of float, optional
        Standard error of one score, in its units, for the metric "score"; or one for each entry,
        for accuracies too. Accuracies whose error is 0, as at 100 %, or missing need ``n_test``.
    lower_is_better : bool
        Errors and losses, for the metric "score" only.
    rounding : {"auto", "nearest", "floor", "exact"}
        How scores were cut: rounded, floored (as Kaggle does), or not at all.
        "auto" takes nearest, and floor where only so all scores are possible; a tuple is tried in
        its order.
    percent : bool, optional
        Whether scores are in percent. Default: if most exceed 1 and none exceeds 100.
    name : str
        Label of the board.
    notes : sequence of str
        What a reader dropped or merged.

    Attributes
    ----------
    scores : (m,) array of float
        Observed scores in the order given, larger is better: with the opposite sign if
        ``lower_is_better``.
    names : tuple of str
        Names of the entries.
    count_bounds : (m, 2) array of int, or None
        Smallest and largest number of right answers that prints as each score; None where scores
        are no accuracies.
    maximum : float
        Best observed score; its opposite if ``lower_is_better``.
    n_test : int
        Number of test items, of the typical leading entry where each has its own; None possible
        for the metric "score".
    error_ratios : (m,) array of float, or None
        Standard error of each score over that of the typical entry, where each has its own: the
        root of ``n_test`` over its number of items.
    task_scores : TaskScores or None
        What the scores are averages of, where that is known.
    new : {"items", "tasks"}
        What errors are about: new items, or new tasks like those of an average.
    n_positive : int or None
        Positive test items of the metric "auc".
    spread_ratio : float or None
        Of the metric "auc".
    n_test_source : str
        "given" or "inferred from the scores".
    tries : int or TriesPrior
        Number of classifiers (or tries) that could have become the maximum.
    submissions : (m,) array of int, or None
        Submissions behind each entry, 0 where ``submissions_prior`` says what is known of them;
        None for one each.
    submissions_prior : TriesPrior or None
        Of entries whose number of submissions is not known.
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
    >>> Leaderboard([0.91, 0.94], n_test=[100, 400]).error_ratios.round(2).tolist()
    [1.58, 0.79]
    """

    scores: FloatArray
    names: tuple[str, ...]
    count_bounds: IntArray | None
    error_ratios: FloatArray | None
    task_scores: "TaskScores | None"
    new: str

    def __init__(
        self,
        scores: Any,
        *,
        n_test: int | Literal["infer"] | Sequence[int] | None = None,
        n_positive: int | None = None,
        spread_ratio: float | None = None,
        names: Sequence[str] | None = None,
        n_classifiers: int | tuple[int, int] | TriesPrior | None = None,
        submissions: Any = None,
        metric: Metric = "accuracy",
        standard_error: float | Sequence[float] | None = None,
        lower_is_better: bool = False,
        rounding: RoundingChoice = "auto",
        percent: bool | None = None,
        name: str = "board",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything and find the counts behind each score."""
        checks.check_metric(metric, standard_error, n_test, lower_is_better)
        labels = None if names is None else checks.checked_names(names)
        subject = partial(score_of_entry, names=labels)
        is_score = metric == "score"
        parsed = parse_each(
            scores, rounding, percent=percent, bounded=not is_score, subject=subject
        )
        asked = (n_test, standard_error, metric, lower_is_better)
        chosen, bounds, remarks, errors = find_errors(parsed, *asked, subject)
        printed = parsed[chosen]
        m = printed.values.size
        values = -printed.values if lower_is_better else printed.values
        checks.check_error(errors.standard_error, float(np.abs(values).max()))
        best = int(np.argmax(values))
        if printed.in_percent:
            remarks += (_PERCENT,)
        if metric == "auc":
            remarks += checks.check_aucs(values, subject)
        counts, prior, told = checks.checked_submissions(submissions, m, subject)
        errors.check_alone(counts, n_classifiers, m)
        self._set(
            scores=values,
            names=checks.entry_names(labels, m),
            count_bounds=bounds,
            maximum=float(values[best]),
            n_test=errors.n_test,
            n_test_source=errors.source,
            n_positive=checks.checked_positives(n_positive, errors.n_test or 0, metric),
            spread_ratio=checks.ratio_of_metric(spread_ratio, metric),
            tries=checks.tries_of_entries(n_classifiers, m),
            submissions=counts,
            submissions_prior=prior,
            metric=metric,
            standard_error=errors.standard_error,
            error_ratios=errors.ratios,
            task_scores=None,
            new="items",
            lower_is_better=bool(lower_is_better),
            rounding=chosen,
            decimals=None if is_score else printed.decimals,
            name=str(name),
            notes=(*(str(note) for note in notes), *remarks, *told),
            _best_counts=None if bounds is None else _pair(bounds[best]),
        )

    @property
    def n_entries(self) -> int:
        """Number of entries with a score, m."""
        return self.scores.size

    @property
    def is_partial(self) -> bool:
        """Whether some classifiers are not among the entries."""
        return self.typical_tries > self.n_entries

    @property
    def order(self) -> IntArray:
        """Indices of the entries, best first, equal scores in the order given; (m,)."""
        return np.argsort(-self.scores, kind="stable")

    def with_tries(self, n_classifiers: int | TriesPrior) -> Self:
        """The same board with another number of classifiers; not fewer than its entries."""
        ScoreErrors(self.n_test, None, self.error_ratios).check_alone(
            self.submissions, n_classifiers, self.n_entries
        )
        return self._copy(tries=checks.tries_of_entries(n_classifiers, self.n_entries))

    def maximum_only(self) -> BestScore:
        """The same board of which only the best score is known.

        Examples
        --------
        >>> Leaderboard([0.91, 0.94], n_test=100).maximum_only().n_entries is None
        True
        """
        if self.lower_is_better:
            raise InputError("the best error alone has no scale for a prior; give the whole board")
        if self.has_own_errors:
            raise InputError(
                "entries have standard errors of their own, so that the best score alone says less "
                "than it seems to; give the whole board"
            )
        if self.metric == "score":
            checks.check_alone(self.maximum, self.metric, self.standard_error)
        known = {field.name: getattr(self, field.name) for field in fields(BestScore)}
        best = object.__new__(BestScore)
        best._set(**known | self._submissions_of_any(), is_competition=self.is_competition)
        return best

    @property
    def has_own_errors(self) -> bool:
        """Whether each score has its own number of items or standard error."""
        return self.error_ratios is not None

    @property
    def sizes(self) -> FloatArray:
        """Number of items that each score is worth, (m,); of accuracies and AUCs."""
        ratios = np.ones(self.n_entries) if self.error_ratios is None else self.error_ratios
        return self.n_test / ratios**2

    def worth(self, sizes: FloatArray, source: str) -> "Leaderboard":
        """The same scores as accuracies that are averages, each worth its own number of items.

        ``source`` says where these numbers, (m,), come from.
        """
        errors = ScoreErrors.of_sizes(sizes, self.scores, source)
        return self._copy(
            metric="accuracy",
            standard_error=None,
            n_test=errors.n_test,
            n_test_source=source,
            error_ratios=errors.ratios,
            rounding="exact",
        )

    def of_tasks(self, scores: "TaskScores", new: str) -> "Leaderboard":
        """The same, known to be averages over tasks; ``new`` are "items" or "tasks"."""
        return self._copy(task_scores=scores, new=new)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the errors where the tasks are the sample; infinite else."""
        if self.new != "tasks" or self.task_scores is None:
            return np.inf
        return len(self.task_scores.tasks) - 1.0

    def with_scores(self, scores: FloatArray) -> "Leaderboard":
        """The same with scores of the same entries that lie between counts, as averages do."""
        return self._copy(scores=scores, maximum=float(scores.max()))

    def without(self, entries: int | str | Sequence[int | str]) -> "Leaderboard":
        """The same board without some entries, given by index or by name.

        A known number of classifiers falls by as many; a prior on it stays.

        Examples
        --------
        >>> board = Leaderboard([0.91, 0.94, 0.9], n_test=100, names=["a", "b", "c"])
        >>> board.without("b").names, board.without([1]).n_classifiers
        (('a', 'c'), 2)
        """
        scores = self.scores
        chosen = [entries] if isinstance(entries, int | str | np.integer) else list(entries)
        kept = np.ones(scores.size, bool)
        kept[[self._index(entry) for entry in chosen]] = False
        if not kept.any():
            raise InputError("without: no entry would be left")
        tries = self.tries
        if isinstance(tries, int):
            tries -= int((~kept).sum())
        best = np.flatnonzero(kept)[np.argmax(scores[kept])]
        kept_of = ("scores", "count_bounds", "submissions", "error_ratios")
        arrays = {name: getattr(self, name) for name in kept_of}
        bounds = self.count_bounds
        tasks = self.task_scores
        return self._copy(
            **{name: a if a is None else a[kept] for name, a in arrays.items()},
            task_scores=None if tasks is None else tasks.only(np.flatnonzero(kept)),
            names=tuple(np.array(self.names, object)[kept]),
            maximum=float(scores[best]),
            tries=checks.tries_of_entries(tries, int(kept.sum())),
            _best_counts=None if bounds is None else _pair(bounds[best]),
        )

    def _content(self) -> list[Any]:
        counts = None if self.count_bounds is None else self.count_bounds.tolist()
        whole = [self.metric, self.standard_error, list(self.names), self.scores.tolist(), counts]
        own = None if self.error_ratios is None else self.error_ratios.tolist()
        return super()._content() + whole + [own] * self.has_own_errors

    def _submissions_of_any(self) -> dict[str, Any]:
        """Submissions behind an entry that may be any of the board's."""
        if self.submissions is None or self.submissions.size == 1:
            return {}
        if np.all(self.submissions == self.submissions[0]):
            return {"submissions": self.submissions[:1]}
        every = ListedTries(tuple(int(number) for number in self.submission_numbers.ravel()))
        return {"submissions": np.zeros(1, np.int64), "submissions_prior": every}

    def _index(self, entry: int | str) -> int:
        m = len(self.names)
        if isinstance(entry, str):
            if entry not in self.names:
                raise InputError(
                    f"there is no entry named {entry!r:.80}{nearest(entry, self.names)}"
                )
            return self.names.index(entry)
        if not 0 <= entry < m:
            raise InputError(f"entries are numbered from 0 to {m - 1}, got {entry}")
        return int(entry)


def _the_maximum(index: int) -> str:
    return "the maximum"


def _pair(bounds: IntArray) -> tuple[int, int]:
    return int(bounds[0]), int(bounds[1])
