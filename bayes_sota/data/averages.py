r"""Averages over tasks and clusters of items: scores, errors, and how many items they are worth.

Entry i has x_ij in [0, 1] on item j of task t, and the score :math:`s_i = \sum_t w_t \bar x_{it}`.
On new items of these tasks its variance is :math:`\sum_t w_t^2 S_{it} / n_t`, times the design
effect of clusters. A small task says little of its own variance, and at a score near 1 every task
may look certain, so each variance is shrunk towards that of all items of the entry, and half a
right and half a wrong answer are added to :math:`N = 1 / \sum_t w_t^2 / n_t` items (Kish 1965):

.. math:: n_{eff} = \tilde s (1 - \tilde s) / V + 1

items, right or wrong, would give a score the same variance V. One task of single answers without
clusters gives n, but for 4 / n.

New runs on these very items: of R runs, of which the share :math:`x_j` answers item j right, the
variance between runs is :math:`R x_j (1 - x_j) / (R - 1)`, and every entry has its own luck. New
tasks like these, of which the means are :math:`\bar x_t`:

.. math:: V = \frac{\sum_t w_t (\bar x_t - s)^2}{1 - \sum_t w_t^2} \sum_t w_t^2

with T - 1 degrees of freedom (Korn and Graubard 1998), half its own and half the mean over the
entries, and at least that of new items. Few tasks hardly tell the variance of one difference: it
borrows from those of all pairs (``with_typical_pairs``).
``tests/data/test_averages.py`` has the closed forms, and coverage on simulated tasks and clusters.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import nearest, shown
from bayes_sota.core.types import BoolArray, FloatArray, IntArray

type Averaging = Literal["items", "tasks"] | Mapping[str, float]  # tasks by weights
type Passes = tuple[int, bool]  # K, and whether all of K runs must be right (pass^K)

_PASSES = re.compile(r"pass([@^])([1-9][0-9]{0,5})")
_PSEUDO = 2.0  # items of a task that its variance borrows from all
_BORROWED = 2.0  # degrees of freedom of a variance between tasks that it borrows from all
_Z = 1.959963984540054
_LEAST = 1e-3  # of a design effect: clusters that cancel exactly by chance
_LEAST_OF_TASKS = 1e-12  # variance between tasks that agree exactly


@dataclass(frozen=True, eq=False)
class Average:
    """Weighted averages of m classifiers.

    Attributes
    ----------
    scores : ndarray, shape (m,)
    effective : ndarray, shape (m,)
        Effective number of items behind each score; above n where tasks differ, below where items
        have clusters or few items weigh much.
    kish : float
        Number of items with equal weights whose mean has the same variance.
    freedom : float
        Degrees of freedom of a variance over clusters (or items) within tasks.
    influence : ndarray, shape (C, m)
        Of each cluster, item, task or run: the covariance of scores is ``influence.T @ influence``.
    """

    scores: FloatArray
    effective: FloatArray
    kish: float
    freedom: float
    influence: FloatArray

    @property
    def standard_errors(self) -> FloatArray:
        """Standard error of each score, (m,)."""
        p = (self.scores * self.effective + 0.5) / (self.effective + 1)
        return np.sqrt(p * (1 - p) / self.effective)

    @property
    def variance(self) -> FloatArray:
        """Variance of each score, as smoothed for ``effective``, (m,)."""
        return _chance(self.scores, self.kish) / (self.effective - 1)


def task_weights(
    average: Averaging | None, tasks: Sequence[str], sizes: FloatArray | None
) -> FloatArray:
    """Weights of tasks in an average, which sum to 1, as ``sizes`` (T,) or (m, T), or (T,).

    Raises
    ------
    InputError
        Weights of other tasks or that are none, items that count the same without their numbers.

    Examples
    --------
    >>> task_weights("items", ["law", "art"], np.array([30.0, 10.0])).tolist()
    [0.75, 0.25]
    """
    if isinstance(average, Mapping):
        of_task = {str(task): float(weight) for task, weight in average.items()}
        check_tasks(of_task, tasks, "average", "weight")
        weights = np.array([of_task[task] for task in tasks])
        if not (np.all((weights >= 0) & (weights < np.inf)) and weights.sum() > 0):
            raise InputError("the weights of tasks are numbers of at least 0 with a positive sum")
    elif average == "items":
        if sizes is None:
            raise InputError('average="items" needs n_test, the number of items of each task')
        weights = sizes
    elif average in (None, "tasks"):
        weights = np.ones(len(tasks))
    else:
        raise InputError(f"average must be items, tasks or weights by task, got {average!r:.80}")
    return weights / weights.sum(axis=-1, keepdims=True)


def check_tasks(names: Collection[str], tasks: Sequence[str], what: str, one: str) -> None:
    """Raise ``InputError`` unless something is given for every task and no other."""
    wrong = sorted(set(names) ^ set(tasks))
    if wrong:
        name, hint = shown(wrong[0]), nearest(wrong[0], tasks)
        unknown, lacking = (
            f"names a task {name} that is not there{hint}",
            f"has no {one} of task {name}",
        )
        raise InputError(f"{what} {unknown if wrong[0] in names else lacking}")


def averaged(
    values: FloatArray, tasks: IntArray, clusters: IntArray | None, weights: FloatArray
) -> Average:
    """Averages with their errors on new items of these tasks.

    Parameters
    ----------
    values : ndarray, shape (n, m)
        Right answers (0 or 1) or shares of them.
    tasks : ndarray of int, shape (n,)
        Task of each item, 0 to T - 1.
    clusters : ndarray of int, shape (n,), optional
        Cluster of each item; one that spans several tasks counts as one in each.
    weights : ndarray, shape (T,)
        Of the tasks; sum 1.

    Examples
    --------
    >>> one = averaged(np.array([[1.0], [1], [1], [0]]), np.zeros(4, int), None, np.ones(1))
    >>> one.scores.tolist(), one.effective.round(2).tolist(), one.kish
    ([0.75], [4.56], 4.0)
    """
    n = len(values)
    sizes = np.bincount(tasks).astype(float)
    means = group_sums(values, tasks) / sizes[:, None]
    scores = weights @ means
    away = values - means[tasks]
    places = np.arange(n) if clusters is None else _codes(tasks, clusters)
    summed = group_sums(away, places)
    of_task = np.zeros(len(summed), np.int64)
    of_task[places] = tasks
    counts = np.bincount(of_task).astype(float)
    freedom = float(counts.sum() - counts.size)
    if freedom < 1 and clusters is not None:
        raise InputError("every task is in one cluster: nothing says how clusters differ")
    correction = np.where(counts > 1, counts / np.maximum(counts - 1, 1), 1.0)
    influence = summed * (weights * np.sqrt(correction) / sizes)[of_task][:, None]
    squares = group_sums(away**2, tasks) / sizes[:, None]
    kish = float(1 / np.sum(weights**2 / sizes))
    variance = _smoothed(scores, means, squares, sizes[:, None], weights[:, None], kish)
    if clusters is None:
        return Average(scores, _chance(scores, kish) / variance + 1, kish, freedom, influence)
    effect = _design_effect(influence, squares, sizes, weights)
    if scores.size == 1:
        effect = _effect_alone(effect, values, n / counts.sum())
    effective = (_chance(scores, kish) / (variance * effect) + 1) * korn_graubard(freedom)
    return Average(scores, effective, kish, freedom, influence)


def weighted_means(
    values: FloatArray, tasks: IntArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Averages over tasks of any numbers, (m,), and the influence of each item on them, (n, m).

    The influence is in units of a mean over all items, and sums to 0 in each task.

    Examples
    --------
    >>> dice = np.array([[1.0], [3.0], [5.0], [7.0]])
    >>> means, influence = weighted_means(dice, np.array([0, 0, 0, 1]), np.array([0.5, 0.5]))
    >>> means.tolist(), influence.ravel().round(2).tolist()
    ([5.0], [-1.33, 0.0, 1.33, 0.0])
    """
    sizes = np.bincount(tasks).astype(float)
    means = group_sums(values, tasks) / sizes[:, None]
    factor = len(values) * weights / sizes
    return weights @ means, (values - means[tasks]) * factor[tasks][:, None]


def number_scores(
    values: FloatArray, metric: str, labels: BoolArray | None, tasks: IntArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Scores made of numbers, (m,), and the influence of each item on them, (n, m).

    An AUC where ``labels`` say which items are positive, else a mean, or the root of one of
    squares. Each score is nearly a mean over items,

    .. math:: \hat\theta_j - \theta_j \approx \frac1n \sum_i u_{ij}

    For AUC the influence values u are the placement values of DeLong, DeLong & Clarke-Pearson
    (1988, doi 10.2307/2531595), whose covariance follows.

    Examples
    --------
    >>> one = np.zeros(2, int), np.ones(1)
    >>> number_scores(np.array([[3.0], [4.0]]), "rmse", None, *one)[0].round(3).tolist()
    [3.536]
    """
    if labels is not None:
        return _auc_placements(values, labels)
    means, influence = weighted_means(values**2 if metric == "rmse" else values, tasks, weights)
    if metric == "mean":
        return means, influence
    roots = np.sqrt(means)
    return roots, influence / (2 * np.maximum(roots, 1e-300))


def _auc_placements(values: FloatArray, positive: BoolArray) -> tuple[FloatArray, FloatArray]:
    """AUCs, ties counted as a half, and influence values."""
    from scipy.stats import rankdata

    pooled, shares = rankdata(values, axis=0), np.empty(values.shape)
    for kind in (positive, ~positive):  # share of the others below each
        shares[kind] = (pooled[kind] - rankdata(values[kind], axis=0)) / np.sum(~kind)
    shares[~positive] = 1 - shares[~positive]  # of positives above each negative
    aucs = shares[positive].mean(axis=0)
    sizes = np.where(positive, positive.sum(), np.sum(~positive))
    return aucs, (shares - aucs) * (len(values) / sizes)[:, None]


def averaged_over_runs(
    values: FloatArray, of_items: FloatArray, tasks: IntArray, weights: FloatArray, n_runs: IntArray
) -> Average:
    """Averages with their errors on new runs of these very items, which entries do not share.

    Parameters
    ----------
    values : ndarray, shape (n, m)
    of_items : ndarray, shape (n, m)
        Variance of each value over new runs (``variance_of_runs``).
    tasks, weights
        As of ``averaged``.
    n_runs : ndarray of int, shape () or (n, m)
        Runs behind each value, two at least.

    Examples
    --------
    >>> runs = np.array([[0.5], [1.0], [0.5], [0.0]])
    >>> one, two = (np.zeros(4, int), np.ones(1)), np.array(2)
    >>> averages = averaged_over_runs(runs, variance_of_runs(runs, two), *one, two)
    >>> averages.scores.tolist(), averages.effective.round(1).tolist()
    ([0.5], [9.0])
    """
    n = len(values)
    sizes = np.bincount(tasks).astype(float)[:, None]
    doubt = 0.25 / np.mean(np.broadcast_to(n_runs, values.shape), axis=0)
    whole = (of_items.sum(axis=0) + doubt) / (n + 1)  # half an answer in doubt: never 0
    of_task = (group_sums(of_items, tasks) + _PSEUDO * whole) / (sizes + _PSEUDO)
    variance = np.sum(weights[:, None] ** 2 * of_task / sizes, axis=0)
    scores = weights @ (group_sums(values, tasks) / sizes)
    kish = float(1 / np.sum(weights**2 / sizes[:, 0]))
    effective = _chance(scores, kish) / variance + 1
    freedom = float(n * (np.mean(n_runs) - 1))
    return Average(scores, effective, kish, freedom, np.diag(np.sqrt(variance)))


def variance_of_runs(
    shares: FloatArray, n_runs: IntArray, passes: Passes | None = None
) -> FloatArray:
    """Variance over new runs of the share of right answers, or of the passes, of each item.

    That of passes is the jackknife's: what leaving out one run changes.

    Examples
    --------
    >>> variance_of_runs(np.array([0.5, 1.0]), np.array(2)).tolist()
    [0.25, 0.0]
    >>> variance_of_runs(np.array([0.5, 1.0]), np.array(4), (1, False)).round(4).tolist()  # pass@1
    [0.0833, 0.0]
    """
    if passes is None:
        return shares * (1 - shares) / (n_runs - 1)
    right, rest = np.rint(shares * n_runs), n_runs - 1
    after_right = pass_rates(np.maximum(right - 1, 0) / rest, rest, passes)
    after_wrong = pass_rates(np.minimum(right, rest) / rest, rest, passes)
    mean = shares * after_right + (1 - shares) * after_wrong
    away = shares * (after_right - mean) ** 2 + (1 - shares) * (after_wrong - mean) ** 2
    return rest * away


def pass_rates(shares: FloatArray, n_runs: IntArray, passes: Passes) -> FloatArray:
    """Unbiased share of groups of K runs of which one, or every one, is right.

    Parameters
    ----------
    shares : ndarray
        Share of right answers in the runs of each item.
    n_runs : ndarray of int, shape () or that of the shares
    passes : (int, bool)
        K, and whether all of K runs must be right (pass^K) or one of them (pass@K: Chen and others
        2021, arXiv 2107.03374, eq. 1).

    Examples
    --------
    >>> pass_rates(np.array([0.25, 0.5]), np.array(4), (2, False)).round(3).tolist()
    [0.5, 0.833]
    """
    from scipy.special import binom

    k, every = passes
    right = np.rint(shares * n_runs)
    none = binom(right if every else n_runs - right, k) / binom(n_runs, k)
    return none if every else 1 - none


def name_of_passes(passes: Passes) -> str:
    """pass@K, or pass^K.

    Examples
    --------
    >>> name_of_passes((3, True))
    'pass^3'
    """
    return f"pass{'^' if passes[1] else '@'}{passes[0]}"


def parse_passes(metric: str | None) -> Passes | None:
    """K of pass@K or pass^K, and whether all runs must be right; None for any other metric.

    Examples
    --------
    >>> parse_passes("pass@3"), parse_passes("pass^2"), parse_passes("acc")
    ((3, False), (2, True), None)
    """
    match = _PASSES.fullmatch(metric or "")
    return None if match is None else (int(match[2]), match[1] == "^")


def averaged_over_tasks(
    values: FloatArray, tasks: IntArray, clusters: IntArray | None, weights: FloatArray
) -> Average:
    """Averages with their errors on new tasks like these, of which there are two at least.

    Parameters are those of ``averaged``.

    Examples
    --------
    >>> tasks = np.repeat([0, 1, 2, 3], 5)
    >>> values = np.repeat([0.2, 0.4, 0.6, 0.8], 5)[:, None]
    >>> averages = averaged_over_tasks(values, tasks, None, np.full(4, 0.25))
    >>> averages.scores.round(2).tolist(), (averages.influence**2).sum().round(4).item()
    ([0.5], 0.0167)
    """
    within = averaged(values, tasks, clusters, weights)
    means = group_sums(values, tasks) / np.bincount(tasks)[:, None]
    influence, variance = of_new_tasks(means, weights[:, None])
    freedom = weights.size - 1.0
    between = (_chance(within.scores, within.kish) / variance + 1) * korn_graubard(freedom)
    effective = np.minimum(between, within.effective)
    return Average(within.scores, effective, within.kish, freedom, influence)


def of_new_tasks(means: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Influence of T tasks on averages of new tasks, (T, m), and variance of these, (m,).

    Means are (T, m); weights are (T, 1), or (T, m) where entries differ in them.
    """
    squares = np.sum(weights**2, axis=0)
    away = means - np.sum(weights * means, axis=0)
    influence = away * np.sqrt(weights * squares / (1 - squares))
    own = np.sum(influence**2, axis=0)
    return influence, np.maximum((own + own.mean()) / 2, _LEAST_OF_TASKS)


def with_typical_pairs(covariance: FloatArray, freedom: float) -> FloatArray:
    """Covariance of few degrees of freedom, to which two of the typical covariance are added.

    The typical one has the mean variance and the mean covariance, and so the mean variance of a
    difference; the degrees of freedom of a Student law stay as they are.

    Examples
    --------
    >>> with_typical_pairs(np.diag([1.0, 3.0]), 2.0).tolist()
    [[1.5, 0.0], [0.0, 2.5]]
    """
    m = len(covariance)
    if m == 1:
        return covariance
    variance = float(np.trace(covariance)) / m
    between = (float(covariance.sum()) - m * variance) / (m * (m - 1))
    typical = np.full((m, m), between) + np.eye(m) * (variance - between)
    return (freedom * covariance + _BORROWED * typical) / (freedom + _BORROWED)


def _chance(scores: FloatArray, kish: float | FloatArray) -> FloatArray:
    """Variance of one answer, with half an answer of each kind more."""
    middle = (kish * scores + 0.5) / (kish + 1)
    return middle * (1 - middle)


def _smoothed(
    scores: FloatArray,
    means: FloatArray,
    squares: FloatArray,
    n: FloatArray,
    w: FloatArray,
    kish: float | FloatArray,
) -> FloatArray:
    """Variance of each score, never 0: with half an answer of each kind more.

    Sizes and weights of tasks are (T, 1), or (T, m) where classifiers differ in them.
    """
    spread = (kish * squares + 0.25) / (kish + 1) + kish * (means - 0.5) ** 2 / (kish + 1) ** 2
    return _shrunk(spread, (kish * (means - scores) / (kish + 1)) ** 2, n, w)


def _shrunk(spread: FloatArray, apart: FloatArray, n: FloatArray, w: FloatArray) -> FloatArray:
    """(Co)variance of averages, of each task shrunk towards that of all items.

    Parameters
    ----------
    spread, apart : ndarray, shape (T, ...)
        (Co)variance within each task, and squares (products) of how far its means are from the
        scores.
    n, w : ndarray, shape (T, 1), (T, m) or (T, 1, 1)
        Sizes and weights of tasks.
    """
    a = _PSEUDO
    whole = np.sum(w * (spread + apart), axis=0)
    shrunk = (n * spread + a * whole) / (n + a) + n * a * apart / (n + a) ** 2
    return np.sum(w**2 * shrunk / (n * (1 - n / (n + a) ** 2)), axis=0)


def averaged_shares(
    shares: FloatArray, sizes: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Averages over tasks of which only the scores are known, and what they are worth.

    A task is so many answers, right or wrong, with this share of right ones: the variance of an
    average is :math:`\sum_t w_t^2 p_t (1 - p_t) / n_t`, smoothed and shrunk as that of answers is.

    Parameters
    ----------
    shares, sizes, weights : ndarray, shape (T, m)
        Share of right answers of each classifier in each task, answers behind it, and weights of
        the tasks, which sum to 1.

    Returns
    -------
    scores, effective : ndarray, shape (m,)
        Of a single task its number of answers, but for 4 / n.

    Examples
    --------
    >>> alike = np.full((2, 1), 0.5)
    >>> scores, effective = averaged_shares(np.array([[0.9], [0.5]]), np.full((2, 1), 50.0), alike)
    >>> scores.tolist(), effective.round(1).tolist()
    ([0.7], [119.5])
    """
    kish = 1 / np.sum(weights**2 / sizes, axis=0)
    scores = np.sum(weights * shares, axis=0)
    squares = shares * (1 - shares)
    variance = _smoothed(scores, shares, squares, sizes, weights, kish)
    return scores, _chance(scores, kish) / variance + 1


def smoothed_covariance(values: FloatArray, tasks: IntArray, weights: FloatArray) -> FloatArray:
    """Covariance of averages over tasks without clusters, (m, m), of which no difference is 0.

    Every product of two entries is treated as the square of one in ``averaged``, with a quarter of
    variance of their own for the answers that are added; the variance of a difference is then that
    of the answers' differences, smoothed in the same way.

    Examples
    --------
    >>> answers = np.array([[1.0, 1], [1, 0], [0, 1], [1, 1]])
    >>> covariance = smoothed_covariance(answers, np.array([0, 0, 1, 1]), np.array([0.5, 0.5]))
    >>> bool(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1] > 0)
    True
    """
    sizes, m = np.bincount(tasks).astype(float), values.shape[1]
    kish = float(1 / np.sum(weights**2 / sizes))
    means = group_sums(values, tasks) / sizes[:, None]
    own = [values[tasks == t] - mean for t, mean in enumerate(means)]
    within = np.stack([x.T @ x / len(x) for x in own])
    spread = (kish * within + np.eye(m) / 4) / (kish + 1)
    spread += kish * _products(means - 0.5) / (kish + 1) ** 2
    apart = _products(kish * (means - weights @ means) / (kish + 1))
    return _shrunk(spread, apart, sizes[:, None, None], weights[:, None, None])


def _products(x: FloatArray) -> FloatArray:
    """Products of every two columns, (T, m, m)."""
    return x[:, :, None] * x[:, None, :]


def _design_effect(
    influence: FloatArray, squares: FloatArray, sizes: FloatArray, weights: FloatArray
) -> FloatArray:
    """Variance over clusters relative to items, (m,): half of each entry's own, half of all."""
    own = np.sum(influence**2, axis=0)
    items = np.sum(weights[:, None] ** 2 * squares / np.maximum(sizes - 1, 1)[:, None], axis=0)
    if not items.any():
        return np.ones(own.size)
    pooled = own.sum() / items.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(items > 0, own / items, pooled)
    return np.sqrt(np.maximum(each, _LEAST) * max(pooled, _LEAST))


def _effect_alone(effect: FloatArray, values: FloatArray, size: float) -> FloatArray:
    """Design effect of one entry by itself, which few rarer answers hardly show.

    Two further ones say that items of a cluster of this size are half alike.
    """
    right = float(values.sum())
    rarer = min(right, len(values) - right)
    return np.clip((rarer * effect + 2 + (size - 1)) / (rarer + 2), 1.0, size)


def korn_graubard(freedom: float) -> float:
    """Factor of an effective number of items whose error has few degrees of freedom.

    Korn and Graubard 1998, Survey Methodology 24, 193.

    Examples
    --------
    >>> round(korn_graubard(11), 3)
    0.793
    """
    from scipy.special import stdtrit

    return float((_Z / stdtrit(freedom, 0.975)) ** 2)


def _codes(tasks: IntArray, clusters: IntArray) -> IntArray:
    """Number of each pair of a task and a cluster."""
    pairs = np.stack([tasks, clusters], axis=1)
    return np.unique(pairs, axis=0, return_inverse=True)[1].ravel()


def group_sums(values: FloatArray, groups: IntArray) -> FloatArray:
    """Sums of the rows of each group, (groups, m)."""
    total = np.zeros((int(groups.max()) + 1, values.shape[1]))
    np.add.at(total, groups, values)
    return total
