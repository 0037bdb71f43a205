r"""Numbers that several classifiers got for the same test items, and the scores made of them.

What classifiers gave to positive and negative items (AUC), the Dice of every case (mean), the error
of every prediction (root mean square). Each score is nearly a mean over items,

.. math:: \hat\theta_j - \theta_j \approx \frac1n \sum_i u_{ij}

and the influence values u say how precise it is and how far two classifiers share their luck. For
AUC they are the placement values of DeLong, DeLong & Clarke-Pearson (1988, doi 10.2307/2531595),
whose covariance follows. ``tests/data/test_item_scores.py`` compares with pairs of items one by
one, with the bootstrap and with SciPy.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import digest_of, summed_by_cluster
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.averages import Averaging, weighted_means
from bayes_sota.data.frames import labelled_values
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import New, Outcomes, check_enough_tasks
from bayes_sota.data.printed_scores import check_finite, plain_matrix

ItemMetric = Literal["auc", "mean", "rmse"]
_ROUND_OFF = 1e-9
_MEANING = "item scores are a matrix of numbers, items x classifiers, without gaps"


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ItemScores(Outcomes):
    """Numbers of several classifiers for the same test items.

    Parameters
    ----------
    values : array-like, shape (n_items, n_classifiers)
        What each classifier got for each item: its score for AUC, the metric of that case for a
        mean, the error for a root mean square. A data frame brings column names.
    labels : array-like, shape (n_items,), optional
        1 for positive and 0 for negative items, for AUC.
    metric : {"auc", "mean", "rmse"}, optional
        Default: "auc" with labels, "mean" without.
    lower_is_better : bool, optional
        Default: for "rmse".
    names, items, clusters, name, notes
        As in ``Responses``.
    tasks, average : optional
        As in ``Responses``, for means.

    Attributes
    ----------
    labels : ndarray of bool, shape (n_items,), or None
    metric, lower_is_better, names, items, clusters, tasks, task_weights, name
    new, unit : str
        What scores are about, and what an item is called: ``"tasks"`` and a task or data set where
        these are the sample (``about``).

    Raises
    ------
    InputError
        Missing or infinite numbers, labels of one class, fewer than two items of a class or a task,
        tasks of what is no mean, names that repeat or do not match.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(200) < 50
    >>> scores = ItemScores(labels[:, None] + rng.standard_normal((200, 3)), labels=labels)
    >>> scores
    <ItemScores 'item scores': 200 items x 3 classifiers, metric auc>
    >>> scores.scores.round(2).tolist()
    [0.71, 0.79, 0.87]
    """

    metric: ItemMetric
    _numbers: FloatArray

    def __init__(
        self,
        values: ArrayLike | Any,
        *,
        labels: ArrayLike | None = None,
        metric: ItemMetric | None = None,
        lower_is_better: bool | None = None,
        names: Sequence[str] | None = None,
        items: Sequence[str] | None = None,
        clusters: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
        average: Averaging | None = None,
        name: str = "item scores",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything once."""
        cells, columns, _ = labelled_values(values)
        numbers = plain_matrix(cells, _MEANING)
        named = columns if names is None else names
        super().__init__(numbers.shape, named, items, clusters, name, tasks, average, notes=notes)
        if self.n_items < 2 or not self.n_classifiers:
            raise InputError(
                f"item scores need at least 2 items and a classifier, got {self.n_items} and "
                f"{self.n_classifiers}"
            )
        chosen = metric or ("mean" if labels is None else "auc")
        check_choice("metric", chosen, ItemMetric)
        if lower_is_better and chosen == "auc":
            raise InputError("of AUCs larger is better")
        if self.tasks is not None:
            if chosen != "mean":
                raise InputError(f'averages over tasks are of the metric "mean", not of "{chosen}"')
            sizes = Counter(self.tasks).most_common()
            task, size = sizes[-1]
            if sizes[0][1] < 2:
                raise InputError(
                    "every task has one item, which does not say how its numbers vary; if the "
                    "tasks are the sample they are items: call their column item"
                )
            if size < 2:
                raise InputError(
                    f"task {task!r} has one item, which does not say how its numbers vary; leave "
                    "it out, or leave tasks out if all items count the same"
                )
        if self.clusters is not None and self.n_clusters == 1:
            raise InputError(
                f"all items are in the one cluster {self.clusters[0]!r}; leave clusters out"
            )
        axes = (("item", self.items), ("classifier", self.names))
        check_finite(numbers, axes, may_miss=False)
        self._set(
            _numbers=numbers,
            labels=_checked_classes(labels, self.n_items, chosen),
            metric=chosen,
            lower_is_better=chosen == "rmse" if lower_is_better is None else bool(lower_is_better),
        )

    def of_tasks(self, unit: str) -> "ItemScores":
        """The same numbers, of which each item is a task that new ones are like."""
        return self._copy(new="tasks", unit=unit)

    def __repr__(self) -> str:
        """Size and metric."""
        size = f"{self.n_items:,} items x {self.n_classifiers:,} classifiers"
        return f"<ItemScores {self.name!r}: {size}, metric {self.metric}>"

    @property
    def values(self) -> FloatArray:
        """What each classifier got for each item, (n, m)."""
        return self._numbers

    @property
    def n_positive(self) -> int | None:
        """Number of positive items, for AUC."""
        return None if self.labels is None else int(self.labels.sum())

    @cached_property
    def scores(self) -> FloatArray:
        """Score of each classifier, larger is better (negative if lower is), (m,)."""
        return self.sign * self._estimates[0]

    @cached_property
    def influence(self) -> FloatArray:
        """Influence values of the items on each of ``scores``, mean 0, (n, m)."""
        return self.sign * self._estimates[1]

    def row_influence(self, classifiers: Sequence[int] | slice = slice(None)) -> FloatArray:
        """What each item, or cluster, adds to the errors of the scores, (C, m).

        Widened for the mean of its class or task, as in an unbiased variance.
        """
        influence = self.influence[:, classifiers] / self.n_items
        rows = summed_by_cluster(influence, self.clusters)
        kinds = np.zeros(len(rows), np.intp)
        if self.clusters is None:
            kinds = self.task_codes[0] if self.labels is None else self.labels.astype(np.intp)
        sizes = np.bincount(kinds)
        widened: FloatArray = rows * np.sqrt(sizes / (sizes - 1))[kinds, None]
        return widened

    @cached_property
    def _estimates(self) -> tuple[FloatArray, FloatArray]:
        """Scores as they are, (m,), and influence values of the items on them, (n, m)."""
        if self.labels is not None:
            return _auc_placements(self.values, self.labels)
        if self.tasks is not None:
            return weighted_means(self.values, *self.task_codes)
        numbers = self.values if self.metric == "mean" else self.values**2
        means = numbers.mean(axis=0)
        if self.metric == "mean":
            return means, numbers - means
        roots = np.sqrt(means)
        return roots, (numbers - roots**2) / (2 * np.maximum(roots, 1e-300))

    @cached_property
    def covariance(self) -> FloatArray:
        r"""Covariance of the scores, (m, m).

        For AUC DeLong's, :math:`S_{10}/n_+ + S_{01}/n_-` with unbiased covariances of the
        placement values within each class, for tasks :math:`\sum_t w_t^2 S_t / n_t`; items of one
        cluster are added up first.
        """
        influence = self.row_influence()
        return influence.T @ influence

    @property
    def standard_errors(self) -> FloatArray:
        """Standard error of each score, (m,)."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the errors: items, or clusters, but one for each task."""
        return float(max(self.n_rows - max(len(self.task_weights), 1), 1))

    def _at(self, rows: IntArray, columns: IntArray) -> "ItemScores":
        return ItemScores(
            self.values[np.ix_(rows, columns)],
            labels=None if self.labels is None else self.labels[rows],
            metric=self.metric,
            lower_is_better=self.lower_is_better if self.metric != "auc" else None,
            notes=self.notes,
            **self._labels(rows, columns),
        )._copy(new=self.new, unit=self.unit)

    def about(self, new: New) -> "ItemScores":
        """The same numbers, whose means are about new items, or about new tasks.

        Of new tasks the tasks themselves are what is drawn: the result has one item for each, with
        the mean of its numbers.

        Raises
        ------
        InputError
            New runs, fewer than three tasks, or tasks that do not count the same.

        Examples
        --------
        >>> dice = ItemScores([[0.9], [0.8], [0.7], [0.9], [0.6], [0.5]], tasks=list("aabbcc"))
        >>> dice.about("tasks").values.ravel().round(2).tolist()
        [0.85, 0.8, 0.55]
        """
        if new in ("items", self.new):
            return self
        if new == "runs":
            raise InputError("new runs are of right and wrong answers; these are numbers")
        check_enough_tasks(self.task_weights)
        if self.averaging != "tasks":
            raise InputError("new tasks of numbers count the same: leave out other weights")
        codes, weights = self.task_codes
        means = np.stack([self.values[codes == t].mean(axis=0) for t in range(weights.size)])
        return ItemScores(
            means,
            metric="mean",
            lower_is_better=self.lower_is_better,
            names=self.names,
            items=sorted(self.task_weights),
            name=self.name,
            notes=self.notes,
        ).of_tasks("task")

    def leaderboard(self) -> Leaderboard:
        """What a leaderboard shows: the scores, with the sizes or the standard error of the best.

        Examples
        --------
        >>> dice = ItemScores([[0.9, 0.8], [0.7, 0.75], [0.8, 0.7]], names=["a", "b"])
        >>> board = dice.leaderboard()
        >>> board.maximum.__round__(3), board.standard_error.__round__(4)
        (0.8, 0.0577)
        """
        self.check_several()
        shared: dict[str, Any] = {"names": self.names, "name": self.name}
        if self.metric == "auc":
            return Leaderboard(
                self.scores,
                n_test=self.n_items,
                n_positive=self.n_positive,
                metric="auc",
                percent=False,
                rounding="exact",
                **shared,
            )
        error = float(self.standard_errors[int(np.argmax(self.scores))])
        if error <= _ROUND_OFF * float(np.max(np.abs(self.values))):
            raise InputError(
                "the best classifier has the same number for every item: there is no standard error"
            )
        return Leaderboard(
            self.sign * self.scores,
            n_test=self.n_items,
            metric="score",
            standard_error=error,
            lower_is_better=self.lower_is_better,
            **shared,
        )

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed, its first 16 digits."""
        labels = () if self.labels is None else (self.labels,)
        rest: tuple[Any, ...] = (
            self.metric,
            self.lower_is_better,
            self.names,
            self.items,
            self.clusters,
            self.name,
        )
        if self.tasks is not None:
            rest = (*rest, self.tasks, self.task_weights)
        if self.new == "tasks":
            rest = (*rest, self.unit)
        return digest_of(self.values.shape, self.values, *labels, rest)


def _auc_placements(
    values: FloatArray, positive: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """AUCs, ties counted as a half, and influence values."""
    a, b = int(positive.sum()), int((~positive).sum())
    n = a + b
    aucs, influence = np.empty(values.shape[1]), np.empty(values.shape)
    for j, column in enumerate(values.T):
        high, low = column[positive], column[~positive]
        above = _share_below(high, np.sort(low))  # of negatives below each positive
        below = 1 - _share_below(low, np.sort(high))  # of positives above each negative
        aucs[j] = above.mean()
        influence[positive, j] = n / a * (above - aucs[j])
        influence[~positive, j] = n / b * (below - aucs[j])
    return aucs, influence


def _share_below(points: FloatArray, ordered: FloatArray) -> FloatArray:
    left = np.searchsorted(ordered, points, side="left")
    right = np.searchsorted(ordered, points, side="right")
    return (left + right) / (2 * ordered.size)


def _checked_classes(labels: Any, n_items: int, metric: str) -> NDArray[np.bool_] | None:
    if metric != "auc":
        if labels is not None:
            raise InputError(f'labels are for the metric "auc", not for "{metric}"')
        return None
    if labels is None:
        raise InputError("an AUC needs labels: 1 for positive and 0 for negative items")
    raw = np.asarray(labels.to_numpy() if hasattr(labels, "to_numpy") else labels)
    if raw.shape != (n_items,):
        raise InputError(f"labels must be one per item, {n_items}, got shape {raw.shape}")
    if not np.isin(raw, (0, 1)).all():
        first = raw[~np.isin(raw, (0, 1))][0]
        raise InputError(f"labels are 1 (positive) or 0 (negative), got {str(first)!r:.40}")
    positive = raw.astype(bool)
    sizes = int(positive.sum()), int((~positive).sum())
    if min(sizes) < 2:
        raise InputError(
            f"an AUC needs at least 2 items of each class, got {sizes[0]} positive and "
            f"{sizes[1]} negative"
        )
    return positive
