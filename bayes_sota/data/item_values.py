r"""Averages over tasks and clusters of items: scores, errors, and how many items they are worth.

Entry i has x_ij in [0, 1] on item j of task t, and the score :math:`s_i = \sum_t w_t \bar x_{it}`.
On new items of these tasks its variance is :math:`\sum_t w_t^2 S_{it} / n_t`, times the design
effect of clusters. A small task says little about its own variance, and at a score near 1 every
task may look certain: each variance is shrunk towards that of all items of the entry, and half a
right and half a wrong answer are added to :math:`N = 1 / \sum_t w_t^2 / n_t` items (Kish 1965).
The score is worth

.. math:: n_{eff} = \tilde s (1 - \tilde s) / V + 1

items: n, to within 4 / n, for single answers of one task without clusters.

On new runs of these items, with the share :math:`x_j` of R runs right on item j, the variance
between runs is :math:`R x_j (1 - x_j) / (R - 1)`. On new tasks like these, with the means
:math:`\bar x_t`:

.. math:: V = \frac{\sum_t w_t (\bar x_t - s)^2}{1 - \sum_t w_t^2} \sum_t w_t^2

with T - 1 degrees of freedom (Korn and Graubard 1998), half its own and half the mean over the
entries, and at least that of new items.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.text import codes_of, counted, nearest
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.data.leaderboard import Averaged
from bayes_sota.data.tables import labelled_matrix

type Averaging = Literal["items", "tasks"] | Mapping[str, float]  # tasks by weights
type Which = Iterable[int | str] | None  # numbers, names or a mask
type Passes = tuple[int, bool]  # K, and whether all of K runs must be right (pass^K)
MOST_LOST = 0.05  # of the items, by an entry: others may be easier
RUNS_DIFFER = (
    "the scores of runs differ by more than their items explain: each run has an error common to "
    "all items, which the intervals do not include; compare the means of runs"
)
_PASSES = re.compile(r"pass([@^])([1-9][0-9]{0,5})")
FEWEST_TASKS = 3
_PSEUDO = 2.0  # items of a task that its variance borrows from all
_LEAST = 1e-3  # of a design effect: clusters that cancel exactly by chance
_LEAST_OF_TASKS = 1e-12  # variance between tasks that agree exactly


@dataclass(frozen=True, eq=False)
class Average:
    """Weighted averages of m classifiers; ``influence.T @ influence`` is the covariance of scores.

    ``effective`` (m,) are the items that each score is worth, NaN where each counts as one;
    ``kish`` the items with equal weights whose mean has the same variance; ``influence`` (C, m) has
    a row for each cluster, item, task or run.
    """

    scores: FloatArray
    effective: FloatArray
    kish: float
    freedom: float
    influence: FloatArray

    @classmethod
    def plain(cls, scores: FloatArray, influence: FloatArray, n_tasks: int) -> "Average":
        freedom = float(max(len(influence) - n_tasks, 1))
        return cls(scores, np.full(scores.size, np.nan), np.nan, freedom, influence)

    @property
    def standard_errors(self) -> FloatArray:
        """Standard error of each score, (m,)."""
        shown = np.sqrt(np.sum(self.influence**2, axis=0))
        smoothed = np.sqrt(_chance(self.scores, self.effective) / self.effective)
        return np.where(np.isnan(self.effective), shown, smoothed)

    @property
    def variance(self) -> FloatArray:
        """Variance of each score, as smoothed for ``effective``, (m,)."""
        return _chance(self.scores, self.kish) / (self.effective - 1)


def averaged(
    values: FloatArray, tasks: IntArray, clusters: IntArray | None, weights: FloatArray
) -> Average:
    """Averages of answers or shares (n, m), with their errors on new items of these tasks.

    ``tasks`` (n,) are numbers 0 to T - 1; a cluster (n,) that spans several tasks counts as one in
    each; ``weights`` (T,) sum to 1.
    """
    n, sizes, means = len(values), np.bincount(tasks).astype(float), group_means(values, tasks)
    away = values - means[tasks]
    places = np.arange(n)
    if clusters is not None:
        places = np.unique(tasks * (clusters.max() + 1) + clusters, return_inverse=True)[1]
    of_task = np.zeros(places.max() + 1, np.intp)
    of_task[places] = tasks
    counts = np.bincount(of_task)
    freedom = float(len(of_task) - counts.size)
    if freedom < 1 and clusters is not None:
        problem = "every task is in one cluster, so nothing shows how clusters differ"
        raise InputError(problem, parameter="leave_out", fix="leave their column out with {option}")
    widened = np.sqrt(counts / np.maximum(counts - 1, 1))
    influence = group_sums(away, places) * (weights * widened / sizes)[of_task][:, None]
    of = means, group_means(away**2, tasks), sizes[:, None], weights[:, None]
    scores, effective, kish = worth_of_means(*of)
    if clusters is not None:
        effect = _design_effect(influence, *of[1:])
        if scores.size == 1:  # few rarer answers hardly show it: two more say items are half alike
            right, size = float(values.sum()), n / len(of_task)
            rarer = min(right, n - right)
            effect = np.clip((rarer * effect + size + 1) / (rarer + 2), 1.0, size)
        effective = ((effective - 1) / effect + 1) * korn_graubard(freedom)
    return Average(scores, effective, float(kish[0]), freedom, influence)


def averaged_over_runs(
    values: FloatArray, of_items: FloatArray, tasks: IntArray, weights: FloatArray, n_runs: IntArray
) -> Average:
    """Averages with their errors on new runs; ``of_items`` (n, m) is the variance of each value."""
    n, sizes, weights = len(values), np.bincount(tasks).astype(float)[:, None], weights[:, None]
    doubt = 0.25 / np.mean(np.broadcast_to(n_runs, values.shape), axis=0)
    whole = (of_items.sum(axis=0) + doubt) / (n + 1)  # half an answer in doubt: never 0
    of_task = (group_sums(of_items, tasks) + _PSEUDO * whole) / (sizes + _PSEUDO)
    variance = np.sum(weights**2 * of_task / sizes, axis=0)
    scores = np.sum(weights * group_means(values, tasks), axis=0)
    kish = 1 / np.sum(weights**2 / sizes, axis=0)
    effective = _chance(scores, kish) / variance + 1
    freedom = float(n * (np.mean(n_runs) - 1))
    return Average(scores, effective, float(kish[0]), freedom, np.diag(np.sqrt(variance)))


def averaged_over_tasks(
    values: FloatArray, tasks: IntArray, clusters: IntArray | None, weights: FloatArray
) -> Average:
    """Averages as in ``averaged``, with their errors on new tasks."""
    within = averaged(values, tasks, clusters, weights)
    influence, variance = of_new_tasks(group_means(values, tasks), weights[:, None])
    freedom = weights.size - 1.0
    between = (_chance(within.scores, within.kish) / variance + 1) * korn_graubard(freedom)
    effective = np.minimum(between, within.effective)
    return replace(within, effective=effective, freedom=freedom, influence=influence)


def worth_of_means(
    means: FloatArray, within: FloatArray, sizes: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Scores (m,) from the mean of each task (T, m), their effective and Kish's numbers of items.

    ``within`` (T, m) is the variance of an answer; ``sizes`` and ``weights`` are (T, 1) or (T, m).
    """
    scores = np.sum(weights * means, axis=0)
    of_spread, of_distance, kish = shrinkage(sizes, weights)
    more = kish + 1
    spread = (kish * within + 0.25) / more + kish * (means - 0.5) ** 2 / more**2
    distance = kish * (means - scores) / more
    variance = np.sum(of_spread * spread + of_distance * distance**2, axis=0)
    return scores, _chance(scores, kish) / variance + 1, kish


def check_enough_tasks(count: int) -> None:
    """Refuse too few tasks to generalise to new ones."""
    if count < FEWEST_TASKS:
        need = f"at least {FEWEST_TASKS} tasks, to show how tasks differ, got {max(count, 1)}"
        raise InputError(f"new tasks need {need}; new items of these tasks do not")


def of_new_tasks(means: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Influence of T tasks on averages of new tasks, (T, m), and variance of these, (m,)."""
    check_enough_tasks(len(means))
    squares = np.sum(weights**2, axis=0)
    away = means - np.sum(weights * means, axis=0)
    influence = away * np.sqrt(weights * squares / (1 - squares))
    own = np.sum(influence**2, axis=0)
    return influence, np.maximum((own + own.mean()) / 2, _LEAST_OF_TASKS)


def _chance(scores: FloatArray, items: FloatArray | float) -> FloatArray:
    """Variance of one answer, with half an answer of each kind more."""
    middle = (items * scores + 0.5) / (items + 1)
    return middle * (1 - middle)


def shrinkage(sizes: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Factors of the variance of an average within tasks and between them, and Kish's number."""
    more = sizes + _PSEUDO
    own = weights**2 / (sizes * (1 - sizes / more**2))
    borrowed = weights * np.sum(own * _PSEUDO / more, axis=0)
    within, between = own * sizes / more, own * sizes * _PSEUDO / more**2
    return within + borrowed, between + borrowed, 1 / np.sum(weights**2 / sizes, axis=0)


def _design_effect(
    influence: FloatArray, within: FloatArray, sizes: FloatArray, weights: FloatArray
) -> FloatArray:
    """Variance over clusters relative to items, (m,): half of each entry's own, half of all."""
    own = np.sum(influence**2, axis=0)
    items = np.sum(weights**2 * within / np.maximum(sizes - 1, 1), axis=0)
    pooled = own.sum() / items.sum() if items.any() else 1.0
    each = np.divide(own, items, out=np.full(own.size, pooled), where=items > 0)
    return np.sqrt(np.maximum(each, _LEAST) * max(pooled, _LEAST))


def korn_graubard(freedom: float) -> float:
    """Factor of an effective number of items (Korn and Graubard 1998, Survey Methodology 24)."""
    from scipy.special import stdtrit

    return float((stdtrit(np.inf, 0.975) / stdtrit(freedom, 0.975)) ** 2)


def group_sums(values: FloatArray, groups: IntArray) -> FloatArray:
    """Sums of the rows of each group, (groups, m)."""
    total = np.zeros((int(groups.max()) + 1, values.shape[1]))
    np.add.at(total, groups, values)
    return total


def group_means(values: FloatArray, groups: IntArray) -> FloatArray:
    """Means of the rows of each group, (groups, m)."""
    return group_sums(values, groups) / np.bincount(groups)[:, None]


def summed_by_cluster(values: FloatArray, clusters: Sequence[str] | None) -> FloatArray:
    """Rows of one cluster added up, (clusters, m)."""
    return values if clusters is None else group_sums(values, codes_of(clusters)[1])


def tasks_in_words(count: int, averaging: Averaged) -> str:
    """Tasks of an average, and which units have equal weight."""
    alike = {"items": "whose items count the same", "tasks": "that count the same"}
    return f"{counted(count, 'task')} {alike.get(averaging, 'with weights of their own')}"


def task_weights(
    average: Averaging | None, tasks: Sequence[str], sizes: FloatArray | None
) -> FloatArray:
    """Weights of tasks in an average, which sum to 1, (T,) or as ``sizes`` (m, T)."""
    if isinstance(average, Mapping):
        weights = np.array(numbers_of_tasks(average, tasks, "average"), np.float64)
        if not np.all((weights > 0) & (weights < np.inf)):
            raise InputError("weights of tasks are positive numbers; leave out a task of weight 0")
    elif average == "items" and sizes is not None:
        weights = sizes
    elif average in (None, "tasks"):
        weights = np.ones(len(tasks))
    else:
        options = "tasks, items (where their numbers are known) or weights by task"
        raise InputError(f"average is one of {options}, got {average!r:.80}")
    return weights / weights.sum(axis=-1, keepdims=True)


def numbers_of_tasks(given: Mapping[Any, Any], tasks: Sequence[str], what: str) -> list[Any]:
    """Numbers of the tasks, in their order."""
    named = {str(task): value for task, value in given.items()}
    for task in sorted(named.keys() ^ set(tasks)):
        known = f"unknown{nearest(task, tasks)}" if task in named else "missing"
        problem = f"{{name}} needs a number for every task: {quoted(task)} is {known}"
        raise InputError(problem, parameter=what)
    return [named[task] for task in tasks]


def values_of_runs(cells: Any, n_runs: Any) -> tuple[FloatArray, IntArray, list[str] | None]:
    """Matrix of the values, the numbers of runs behind them, and names of the columns."""
    meaning = "outcomes are a matrix, items x classifiers; of several runs, of means with n_runs"
    values, names, _ = labelled_matrix(cells, meaning)
    n, m = values.shape
    if n < 2 or m < 1:
        raise InputError(f"at least 2 items and 1 classifier are needed, got {n} and {m}")
    runs = np.asarray(1 if n_runs is None else n_runs)
    if runs.dtype.kind not in "iu" or runs.shape not in ((), (n, m)) or runs.min() < 1:
        each = f"one for each of {n} items and {m} classifiers"
        raise InputError(f"n_runs is a whole number of at least 1, or {each}, got {runs!r:.60}")
    return values, np.broadcast_to(runs, (n, m)).astype(np.int64), names


def checked_classes(labels: Any, n_items: int) -> BoolArray:
    """Which items are positive, (n,)."""
    raw = np.asarray(labels)
    sizes = [int(np.sum(raw == kind)) for kind in (1, 0)]
    if raw.shape != (n_items,) or sum(sizes) < n_items or min(sizes) < 2:
        need = f"labels, 1 or 0, one for each of {n_items} items, at least 2 of each class"
        raise InputError(f"AUC needs {need}; got {sizes[0]} positive and {sizes[1]} negative")
    return raw == 1


def positions_of(wanted: Which, labels: Sequence[str], kind: str) -> IntArray:
    """Row or column numbers of what was asked for."""
    every: IntArray = np.arange(len(labels))
    if wanted is None:
        return every
    places: dict[Any, Any] = dict(zip(labels, every, strict=True))
    try:
        return every[[places[of] if isinstance(of, str) else of for of in wanted]]
    except (KeyError, IndexError) as error:
        hint = nearest(error.args[0], labels)
        raise InputError(f"no such {kind}: {error}{hint}") from None


def parse_passes(metric: str | None) -> Passes | None:
    """K of pass@K or pass^K, and whether all runs must be right; None for any other metric."""
    match = _PASSES.fullmatch(metric or "")
    return None if match is None else (int(match[2]), match[1] == "^")


def pass_rates(shares: FloatArray, n_runs: IntArray, passes: Passes) -> FloatArray:
    """Unbiased share of groups of K runs of which one, or every one, is right.

    pass@K is eq. 1 of Chen and others 2021 (arXiv 2107.03374), pass^K its counterpart for all.
    """
    from scipy.special import binom

    k, every = passes
    right = np.rint(shares * n_runs)
    none = binom(right if every else n_runs - right, k) / binom(n_runs, k)
    return none if every else 1 - none


def variance_of_runs(
    shares: FloatArray, n_runs: IntArray, passes: Passes | None = None
) -> FloatArray:
    """Variance over new runs of the share of correct answers, (n, m); of passes the jackknife's."""
    if passes is None:
        return shares * (1 - shares) / (n_runs - 1)
    right, rest = np.rint(shares * n_runs), n_runs - 1
    after_right = pass_rates(np.maximum(right - 1, 0) / rest, rest, passes)
    after_wrong = pass_rates(np.minimum(right, rest) / rest, rest, passes)
    return rest * shares * (1 - shares) * (after_right - after_wrong) ** 2


def weighted_means(
    values: FloatArray, tasks: IntArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Averages over tasks of any numbers, (m,), and the influence of each item on them, (n, m)."""
    means = group_means(values, tasks)
    factor = len(values) * weights / np.bincount(tasks)
    return weights @ means, (values - means[tasks]) * factor[tasks][:, None]


def number_scores(
    values: FloatArray, metric: str, labels: BoolArray | None, tasks: IntArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Scores made of numbers, (m,), and the influence of each item on them, (n, m).

    Each score is nearly a mean over items,

    .. math:: \hat\theta_j - \theta_j \approx \frac1n \sum_i u_{ij}

    For AUC, u are the placement values of DeLong, DeLong & Clarke-Pearson (1988, doi
    10.2307/2531595).
    """
    if labels is not None:
        return _auc_placements(values, labels)
    if metric != "rmse":
        return weighted_means(values, tasks, weights)
    means, influence = weighted_means(values**2, tasks, weights)
    roots = np.sqrt(means)
    return roots, influence / (2 * np.maximum(roots, 1e-300))


def _auc_placements(values: FloatArray, positive: BoolArray) -> tuple[FloatArray, FloatArray]:
    from scipy.stats import rankdata

    pooled, shares = rankdata(values, axis=0), np.empty(values.shape)
    for kind in (positive, ~positive):  # share of the others below each
        shares[kind] = (pooled[kind] - rankdata(values[kind], axis=0)) / np.sum(~kind)
    shares[~positive] = 1 - shares[~positive]  # of positives above each negative
    aucs = shares[positive].mean(axis=0)
    sizes = np.where(positive, positive.sum(), np.sum(~positive))
    return aucs, (shares - aucs) * (len(values) / sizes)[:, None]
