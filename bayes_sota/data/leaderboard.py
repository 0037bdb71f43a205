"""What a leaderboard says: all its scores, or the best one, and how many stand behind it.

A printed score is an interval of success counts, not a point: 0.9116 on 13,840 items is any count
that prints as 0.9116. Everything is checked here, at construction, and never again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Self

import numpy as np

from bayes_sota.core.arguments import RATIO
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import ListedTries, TriesPrior
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data import checks
from bayes_sota.data.checks import Metric, Tries
from bayes_sota.data.observed import Chosen
from bayes_sota.data.printed_scores import (
    EXACT_DECIMALS,
    LEAST_PERCENT,
    Rounding,
    RoundingChoice,
    parse_number,
    parse_scores,
    plain_list,
)

Averaged = Literal["items", "tasks", "weights"]


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
    metric, **options
        As for a whole board: ``n_positive``, ``spread_ratio``, ``standard_error``, ``name``.
    rounding : {"auto", "nearest", "floor", "exact"}
        How the score was cut to ``decimals``: rounded, floored (as Kaggle does), or not at
        all. "auto" is nearest: one score does not tell.

    Attributes
    ----------
    As of a ``Leaderboard``; ``scores`` and ``count_bounds`` have one row, for the best entry.

    Raises
    ------
    InputError
        Impossible sizes, or a score that no success count prints as.

    Examples
    --------
    >>> BestScore("0.9116", n_test=13_840, n_classifiers=3_558).counts
    (12616, 12617)
    """

    scores: FloatArray
    names: tuple[str, ...]
    count_bounds: IntArray | None
    n_test: int
    n_test_source: str
    n_positive: int | None
    spread_ratio: float | None
    tries: int | TriesPrior
    submissions: IntArray | None
    submissions_prior: TriesPrior | None
    metric: Metric
    standard_error: float | None
    error_ratios: FloatArray | None
    lower_is_better: bool
    rounding: Rounding
    decimals: int | None
    name: str
    notes: tuple[str, ...]
    tasks: tuple[str, ...] = ()
    averaging: Averaged = "tasks"
    n_items: int | None = None
    task_influence: FloatArray | None = None
    new: Literal["items", "tasks"] = "items"

    def __init__(
        self,
        maximum: float | str | Decimal,
        *,
        n_test: int | None = None,
        n_classifiers: Tries,
        metric: Metric = "accuracy",
        rounding: RoundingChoice = "auto",
        **options: Any,
    ) -> None:
        """Check everything and find the counts behind the score, a board of one entry."""
        typed = parse_number(maximum)  # a small number above 1 is a slip, unless it has a sign
        board = Leaderboard(
            [maximum],
            n_test=n_test,
            n_classifiers=2,
            metric=metric,
            names=["the best entry"],
            rounding="nearest" if rounding == "auto" else rounding,
            percent=None if typed is None or typed >= LEAST_PERCENT else False,
            **options,
        )
        tries = checks.checked_tries(n_classifiers, least=1)
        self._set(**vars(board) | {"tries": tries, "names": ()})
        if metric == "score":
            checks.check_alone(self.maximum, self.standard_error)
            self._set(decimals=parse_scores([maximum], bounded=False).decimals)

    @property
    def maximum(self) -> float:
        """Best observed score; its opposite if ``lower_is_better``."""
        return float(self.scores.max())

    @property
    def counts(self) -> tuple[int, int]:
        """Smallest and largest number of right answers that prints as the best score."""
        if self.count_bounds is None:
            raise InputError(
                f'a board with metric "{self.metric}" has no number of right answers behind its '
                "scores"
            )
        low, high = self.count_bounds[np.argmax(self.scores)]
        return int(low), int(high)

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
        return self.n_entries is not None and self.typical_tries > self.n_entries

    def with_tries(self, n_classifiers: Tries) -> Self:
        """The same with another number of classifiers; not fewer than its entries."""
        least = 1 if self.n_entries is None else max(self.n_entries, 2)
        return self._copy(tries=checks.checked_tries(n_classifiers, least))._checked()

    def with_spread_ratio(self, spread_ratio: float) -> Self:
        """The same with scores of another spread ratio behind its AUCs."""
        return self._copy(spread_ratio=float(RATIO.check(spread_ratio, "spread_ratio")))

    def maximum_only(self) -> "BestScore":
        """Itself: of a whole board its best score alone."""
        return self

    def _checked(self) -> Self:
        """Itself, unless more is asked of scores with own errors than they can say."""
        alone = self.submissions is None and self.tries == self.n_entries
        if self.error_ratios is not None and not alone:
            raise InputError(
                "entries have errors of their own, and nothing says those of hidden classifiers or "
                "submissions: leave n_classifiers and submissions out, or give one n_test or "
                "standard_error for all"
            )
        return self

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
        In the order given, larger is better: with the opposite sign if ``lower_is_better``.
    count_bounds : (m, 2) array of int, or None
        Smallest and largest number of right answers that prints as each accuracy.
    n_test : int
        Of the typical leading entry where each has its own; None possible for the metric "score".
    n_test_source : str
        "given", "inferred from the scores", or what else it is.
    error_ratios : (m,) array of float, or None
        Standard error of each score over that of the typical entry, where each has its own: the
        root of ``n_test`` over its number of items.
    tries : int or TriesPrior
        Number of classifiers (or tries) that could have become the maximum.
    submissions : (m,) array of int, or None
        0 where ``submissions_prior`` (TriesPrior or None) says what is known of them; None for one
        each.
    tasks, averaging, n_items, task_influence, new
        Of averages (``average_tasks``): names of the tasks; what counts the same ("items", "tasks"
        or "weights"); items of all tasks, of the typical entry; what each task adds to the errors
        on new tasks, (T, m); whether errors are those of new "items" or "tasks".
    names, n_positive, spread_ratio, rounding, metric, standard_error, lower_is_better, name, notes
        As given or found; ``notes`` with those of the constructor.
    decimals : int or None
        Digits of the scores; None for the metric "score".

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

    def __init__(
        self,
        scores: Any,
        *,
        n_test: int | Literal["infer"] | Sequence[int] | None = None,
        n_positive: int | None = None,
        spread_ratio: float | None = None,
        names: Sequence[str] | None = None,
        n_classifiers: Tries | None = None,
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
        checks.check_options(
            metric,
            n_positive=n_positive,
            spread_ratio=spread_ratio,
            standard_error=standard_error,
            lower_is_better=lower_is_better or None,
        )
        listed = plain_list(scores, "scores")
        m = len(listed)
        labels = checks.checked_names(names, m)
        printed = parse_scores(
            listed,
            rounding=rounding,
            percent=percent,
            bounded=metric != "score",
            subjects=[f"the score of {shown(label)}" for label in labels],
        )
        values = -printed.values if lower_is_better else printed.values
        errors, remarks = checks.find_errors(
            printed, values, labels, n_test=n_test, standard_error=standard_error, metric=metric
        )
        counts, prior, told = checks.checked_submissions(submissions, labels)
        if printed.in_percent:
            remarks += (checks.PERCENT,)
        if metric == "auc":
            known = checks.check_aucs(values, errors["n_test"], n_positive, spread_ratio)
            n_positive, spread_ratio, told_of_aucs = known
            remarks += told_of_aucs
        self._set(
            scores=values,
            names=labels,
            n_positive=n_positive,
            spread_ratio=spread_ratio,
            tries=checks.checked_tries(m if n_classifiers is None else n_classifiers, max(m, 2)),
            submissions=counts,
            submissions_prior=prior,
            metric=metric,
            lower_is_better=bool(lower_is_better),
            decimals=None if metric == "score" else printed.decimals,
            name=str(name),
            notes=(*map(str, notes), *remarks, *told),
            **errors,
        )._checked()

    @property
    def n_entries(self) -> int:
        """Number of entries with a score, m."""
        return self.scores.size

    @property
    def order(self) -> IntArray:
        """Indices of the entries, best first, equal scores in the order given; (m,)."""
        return np.argsort(-self.scores, kind="stable")

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
            checks.check_alone(self.maximum, self.standard_error)
        first = self.order[:1]
        best: dict[str, Any] = {"scores": self.scores[first], "names": ()}
        if self.count_bounds is not None:
            best["count_bounds"] = self.count_bounds[first]
        if self.submissions is not None:
            best |= self._submissions_of_any(self.submissions)
        return object.__new__(BestScore)._set(**vars(self) | best)

    def _submissions_of_any(self, submissions: IntArray) -> dict[str, Any]:
        """Submissions behind an entry that may be any of the board's."""
        if np.all(submissions == submissions[0]):
            return {"submissions": submissions[:1]}
        every = ListedTries(tuple(int(number) for number in self.submission_numbers.ravel()))
        return {"submissions": np.zeros(1, np.int64), "submissions_prior": every}

    @property
    def has_own_errors(self) -> bool:
        """Whether each score has its own number of items or standard error."""
        return self.error_ratios is not None

    @property
    def sizes(self) -> FloatArray:
        """Number of items that each score is worth, (m,); of accuracies and AUCs."""
        ratios = np.ones(self.n_entries) if self.error_ratios is None else self.error_ratios
        return self.n_test / ratios**2

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the errors where the tasks are the sample; infinite else."""
        return len(self.tasks) - 1.0 if self.new == "tasks" else np.inf

    def with_scores(self, scores: FloatArray) -> "Leaderboard":
        """The same with scores of the same entries that lie between counts, as averages do."""
        return self._copy(scores=scores)
