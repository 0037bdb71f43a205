"""Scores of a leaderboard: all of them, or the best one and how many stand behind it.

A printed score is an interval of success counts, not a point: 0.9116 on 13,840 items is any count
that prints as 0.9116.
"""

from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Any, Literal, Self

import numpy as np

from bayes_sota.core.arguments import OPEN_SHARE, RATIO, Range, check_choice, refuse_unused
from bayes_sota.core.errors import InputError, located, quoted
from bayes_sota.core.priors import ListedTries, TriesPrior
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data import printed_scores
from bayes_sota.data.observed import Chosen, Tries, entry_names, number_or_prior, submission_numbers
from bayes_sota.data.printed_scores import checked_number, checked_numbers, of_sizes, parse_scores

Metric = Literal["accuracy", "auc", "score"]
Averaged = Literal["items", "tasks", "weights"]
GIVEN, INFERRED = "given", "inferred from the scores"
_WIDE = 3.0  # standard errors of a score: counts that differ by more deserve a note
_USED = {"n_positive": "auc", "spread_ratio": "auc"}  # metrics of each option
_USED |= {"standard_error": "accuracy, score", "lower_is_better": "score"}


@dataclass(frozen=True, init=False, eq=False, repr=False)
class BestScore(Chosen):
    """The best score of a leaderboard, and how many classifiers stand behind it.

    Parameters
    ----------
    maximum : float, str or Decimal
        Best score, in (0, 1) where it is not an accuracy; a percent sign, or a number of at least
        10, means percent. The float 0.900 is 0.9, anything from 0.85 to 0.95: write "0.900", or
        ``rounding="exact"``.
    n_test : int
        Number of test items; not needed for the metric "score".
    n_classifiers : int, (int, int) or TriesPrior
        Number of classifiers, a range (log-uniform), or a prior.
    submissions : int, (int, int) or TriesPrior, optional
        Submissions behind every classifier, of which the best is shown.
    **options
        As in ``Leaderboard``: ``n_positive``, ``spread_ratio``, ``metric``, ``standard_error``,
        ``name`` and ``rounding``.

    Attributes
    ----------
    As in a ``Leaderboard``; ``scores`` and ``count_bounds`` have one row, for the best entry.

    Raises
    ------
    InputError
        Impossible sizes, or a score that no success count prints as.

    Examples
    --------
    >>> BestScore("0.9116", n_test=13_840, n_classifiers=3_558).counts
    (12616, 12617)
    """

    scores: Any
    _: KW_ONLY
    n_positive: int | None = None
    spread_ratio: float | None = None
    names: Any = None
    n_classifiers: Any = None
    metric: Metric = "accuracy"
    standard_error: Any = None
    lower_is_better: bool = False
    rounding: Any = "auto"
    percent: InitVar[bool | None] = None
    n_test_source: str = field(init=False, default=GIVEN)
    count_bounds: IntArray | None = field(init=False, default=None)
    error_ratios: FloatArray | None = field(init=False, default=None)
    decimals: int | None = field(init=False, default=None)
    tasks: tuple[str, ...] = field(init=False, default=())
    averaging: Averaged = field(init=False, default="tasks")
    n_items: int | None = field(init=False, default=None)
    task_influence: FloatArray | None = field(init=False, default=None)
    new: Literal["items", "tasks"] = field(init=False, default="items")

    def __init__(self, maximum: Any, *, n_classifiers: Tries, **options: Any) -> None:
        # a small number above 1 is a slip, unless it has a sign
        typed = printed_scores.parse_number(maximum)
        percent = None if typed is None or typed >= printed_scores.LEAST_PERCENT else False
        known: dict[str, Any] = {"names": ["the best entry"], "percent": percent}
        board = Leaderboard([maximum], n_classifiers=2, **known, **options)
        tries = number_or_prior(n_classifiers, "n_classifiers")
        self._set(**vars(board) | {"n_classifiers": tries, "names": ()})._checked()
        if self.metric == "score":
            self._set(decimals=parse_scores([maximum], bounded=False).decimals)

    @property
    def maximum(self) -> float:
        """Best observed score; its opposite if ``lower_is_better``."""
        return float(self.scores.max())

    @property
    def counts(self) -> tuple[int, int]:
        """Smallest and largest number of correct answers that prints as the best score."""
        if self.count_bounds is None:
            raise InputError(f'no number of correct answers is behind the metric "{self.metric}"')
        low, high = self.count_bounds[np.argmax(self.scores)]
        return int(low), int(high)

    @property
    def sign(self) -> int:
        """Factor that gives scores the sign with which they came: -1 if lower is better."""
        return -1 if self.lower_is_better else 1

    @property
    def n_negative(self) -> int | None:
        return None if self.n_positive is None else self.n_test - self.n_positive

    @property
    def printed_width(self) -> float:
        """Distance of two scores that print differently; 0 where they are in full precision."""
        digits = self.decimals or printed_scores.EXACT_DECIMALS
        is_exact = digits >= printed_scores.EXACT_DECIMALS or self.rounding == "exact"
        return 0.0 if is_exact else 10.0**-digits

    @property
    def typical_tries(self) -> float:
        """Number of classifiers, or its prior median."""
        known = self.n_classifiers
        return float(known.quantile(0.5) if isinstance(known, TriesPrior) else known)

    @property
    def is_partial(self) -> bool:
        """Whether some classifiers are not among the entries, where entries are known."""
        return self.n_entries is not None and self.typical_tries > self.n_entries

    def with_tries(self, n_classifiers: Tries) -> Self:
        """The same with another number of classifiers, at least its entries."""
        least = 1 if self.n_entries is None else max(self.n_entries, 2)
        known = number_or_prior(n_classifiers, "n_classifiers", least)
        return self.copy_with(n_classifiers=known)._checked()

    def _checked(self) -> Self:
        alone = self.submissions is None and self.n_classifiers == self.n_entries
        if self.has_own_errors and not alone:
            problem = "the errors of hidden entries, and of other submissions, are unknown"
            fix = "leave out the numbers of classifiers and submissions, or give one error for all"
            raise InputError(problem, fix=fix)
        if self.n_entries is None and self.metric == "score":
            what = "a single score of this metric"
            checked_number(self.maximum, what, OPEN_SHARE)
            checked_number(self.standard_error, "standard_error", OPEN_SHARE)
        return self

    @property
    def has_own_errors(self) -> bool:
        return self.error_ratios is not None


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(BestScore):
    """Scores of all entries of a leaderboard.

    Parameters
    ----------
    scores : (m,) sequence of float, str or Decimal, array or Series
        Strings keep their digits: "0.9110" has four. Text labels of a Series are the names.
    n_test : int, "infer" or (m,) sequence of int
        Number of test items; "infer" takes the one that the scores identify (``infer_n_test``).
        Not needed for the metric "score", or with standard errors.
    n_positive : int, optional
        Positive test items, which the metric "auc" needs.
    spread_ratio : float, optional
        Standard deviation of the scores of positives over that of negatives (binormal), for the
        metric "auc". Default: 1.
    names : (m,) sequence of str, optional
        All different. Default: "entry 1", "entry 2", ...
    n_classifiers : int, (int, int) or TriesPrior, optional
        Number of classifiers that could have become the maximum: a number, a range (log-uniform)
        or a prior; above m where some are hidden. Default: m.
    submissions : int, (int, int), TriesPrior or (m,) sequence of int, optional
        Submissions behind each entry, of which the board shows the best: a number for all, a range
        (log-uniform, every entry has its own number), a prior, or one number for each. Default: 1.
    metric : {"accuracy", "auc", "score"}
        "score" is anything else than shares of correct answers and areas under ROC curves.
    standard_error : float or (m,) sequence of float, optional
        Standard error of one score, in its units, for the metric "score" and accuracies; accuracies
        whose error is 0 or missing need ``n_test``.
    lower_is_better : bool
        For the metric "score" only.
    rounding : {"auto", "kaggle", "nearest", "floor", "exact"}
        How scores were cut: "auto" takes nearest, or floor where more scores are possible with it;
        "kaggle" prefers floor.
    percent : bool, optional
        Whether scores are in percent. Default: if most exceed 1 and none exceeds 100.
    name : str
    notes : sequence of str
    is_competition : bool
        Whether the scores were downloaded from a competition.

    Attributes
    ----------
    scores : (m,) array of float
        Larger is better: with the opposite sign if ``lower_is_better``.
    count_bounds : (m, 2) array of int, or None
        Smallest and largest number of correct answers that prints as each accuracy.
    n_test : int
        That of the typical leading entry if they differ; may be None for the metric "score".
    n_test_source : str
        Where it comes from.
    error_ratios : (m,) array of float, or None
        Standard error of each score over that of the typical entry, where each has its own.
    n_classifiers : int or TriesPrior
    submissions : (m, k) array of float, or None
        Equally likely numbers behind each entry. None for one each.
    tasks, averaging, n_items, task_influence, new
        For averages (``average_tasks``): names of the tasks; units of equal weight ("items",
        "tasks" or "weights"); items of all tasks, of the typical entry; contribution of each task
        to the errors on new tasks, (T, m); what errors refer to, new "items" or "tasks".
    names, n_positive, spread_ratio, rounding, metric, standard_error, lower_is_better, name, notes
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
    """

    def __post_init__(self, percent: bool | None) -> None:
        check_choice("metric", self.metric, Metric)
        unused = {of: vars(self)[of] for of, metrics in _USED.items() if self.metric not in metrics}
        refuse_unused(f'metric "{self.metric}"', unused)
        if isinstance(self.scores, str) or hasattr(self.scores, "columns"):
            fix = 'read_leaderboard reads files and frames; or give one column, frame["score"]'
            raise InputError("scores are a sequence of numbers, one of each entry", fix=fix)
        given = self.scores.to_pandas() if hasattr(self.scores, "coords") else self.scores
        listed, bounded = list(given), self.metric != "score"
        m = len(listed)
        labels = printed_scores.labels_of(given) if self.names is None else self.names
        names = entry_names(labels, m)
        subjects = [f"the score of {quoted(name)}" for name in names]
        how: Any = {"rounding": self.rounding, "percent": percent, "bounded": bounded}
        printed = parse_scores(listed, subjects=subjects, **how)
        tries = m if self.n_classifiers is None else self.n_classifiers
        if tries == m == 1:
            fix = "bayes-sota score --right K --n-test N estimates its skill"
            raise InputError("there is only one entry", fix=fix)
        self._set(
            scores=-printed.values if self.lower_is_better else printed.values,
            names=names,
            n_classifiers=number_or_prior(tries, "n_classifiers", max(m, 2)),
            submissions=submission_numbers(self.submissions, names),
            rounding=printed.roundings[0],
            decimals=printed.decimals if bounded else None,
            notes=(*map(str, self.notes), *[printed_scores.PERCENT] * printed.in_percent),
        )
        if self.metric == "accuracy":
            self._set_counts(printed)
        elif self.metric == "auc":
            self._set_classes()
        else:
            if self.n_test is not None:
                self._set(n_test=checked_number(self.n_test, "n_test"))
            self._set(**printed_scores.of_errors(self.standard_error, self.scores, names))
        self._checked()

    def _set_counts(self, printed: printed_scores.PrintedScores) -> None:
        n_test, names = self.n_test, self.names
        if self.standard_error is not None:
            errors, unit = self.standard_error, 0.01 if printed.in_percent else 1.0
            given = self.scores, errors, n_test, names, unit
            worth, remarks = printed_scores.sizes_by_errors(*given)
            source = "median of the leading entries, by the standard errors"
            self._set(standard_error=None, notes=(*self.notes, *remarks))
            self._set(**of_sizes(worth, self.scores, source))
            return
        if isinstance(n_test, str) and n_test == "infer":
            fit = printed_scores.infer_n_test(printed)
            if not fit.is_identified:
                problem = f"the number of items cannot be inferred: {fit.statement}"
                raise InputError(problem, parameter="n_test", fix="give {option}")
            n_test = fit.n_test
            self._set(n_test_source=INFERRED)
        missing = "give {option}, or infer where scores have enough digits"
        with located("", missing * (n_test is None and len(names) > 1)):
            sizes = checked_numbers(n_test, names, "n_test")
        self._set(n_test=int(sizes[0]))
        if np.ndim(n_test):
            source = "median of the leading entries, whose numbers differ"
            self._set(**of_sizes(sizes, self.scores, source if np.ptp(sizes) else GIVEN))
        rounding, bounds, remarks = printed_scores.find_rounding(printed, sizes, names)
        self._set(rounding=rounding, count_bounds=bounds)
        (low, high), n = self.counts, int(sizes[np.argmax(self.scores)])
        if high - low > _WIDE * np.sqrt(1 + n * self.maximum * (1 - self.maximum)):
            remarks += (
                f"the best score, {self.maximum:.{printed.decimals}f}, stands for {low:,} to "
                f"{high:,} of {n:,} correct answers: write all its digits, zeros too",
            )
        self._set(notes=(*self.notes, *remarks))

    def _set_classes(self) -> None:
        n_test = checked_number(self.n_test, "n_test")
        checked_number(self.maximum, "the best AUC", Range(0.5, 1, open_low=True))
        positive = checked_number(self.n_positive, "n_positive", Range(2, n_test - 2, whole=True))
        ratio = 1.0 if self.spread_ratio is None else self.spread_ratio
        ratio = checked_number(ratio, "spread_ratio", RATIO)
        self._set(n_test=n_test, n_positive=positive, spread_ratio=ratio)

    @property
    def order(self) -> IntArray:
        """Indices of the entries, best first, equal scores in the order given."""
        return np.argsort(-self.scores, kind="stable")

    def subset(self, entries: IntArray) -> Self:
        rows = ("scores", "count_bounds", "error_ratios", "submissions")
        known = {name: of[entries] for name in rows if (of := getattr(self, name)) is not None}
        known["names"] = tuple(self.names[j] for j in entries)
        if self.task_influence is not None:
            known["task_influence"] = self.task_influence[:, entries]
        if self.n_classifiers == self.n_entries:
            known["n_classifiers"] = len(entries)
        if self.anchors is not None:
            known["anchors"] = self.anchors.among(entries)
        return self.copy_with(**known)

    def maximum_only(self) -> BestScore:
        best = vars(self.subset(self.order[:1]))
        best |= {"names": (), "n_classifiers": self.n_classifiers}
        if self.submissions is not None:  # those of any entry, which may be the best
            every = ListedTries(tuple(self.submissions.ravel().tolist()))
            best["submissions"] = every.nodes()[0][None]
        return object.__new__(BestScore)._set(**best)._checked()

    @property
    def sizes(self) -> FloatArray:
        """Number of items that each score is worth, (m,); of accuracies and AUCs."""
        ratios = np.ones(self.n_entries) if self.error_ratios is None else self.error_ratios
        return self.n_test / ratios**2

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the errors where the tasks are the sample; infinite else."""
        return len(self.tasks) - 1.0 if self.new == "tasks" else np.inf
