"""Values of items: tasks and their weights, several runs, passes, and what numbers are made into.

``tests/data/test_averages.py`` compares passes and variances with simulated runs,
``tests/data/test_outcomes.py`` areas under the ROC curve with pairs of items.
"""

import re
from collections.abc import Mapping, Sequence, Sized
from typing import Any, Literal

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted, nearest, shown
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.data.averages import group_means
from bayes_sota.data.leaderboard import Averaged

type Averaging = Literal["items", "tasks"] | Mapping[str, float]  # tasks by weights
type Passes = tuple[int, bool]  # K, and whether all of K runs must be right (pass^K)
FEWEST_TASKS = 3
_PASSES = re.compile(r"pass([@^])([1-9][0-9]{0,5})")
_COUNTS: dict[Averaged, str] = {
    "items": "whose items count the same",
    "tasks": "that count the same",
    "weights": "with weights of their own",
}


def tasks_in_words(count: int, averaging: Averaged) -> str:
    """Tasks of an average, and what counts equally in it.

    Examples
    --------
    >>> tasks_in_words(2, "tasks")
    '2 tasks that count the same'
    """
    return f"{counted(count, 'task')} {_COUNTS[averaging]}"


def check_enough_tasks(tasks: Sized) -> None:
    """Raise ``InputError`` where nothing can be said of new tasks, given those that there are."""
    if len(tasks) < FEWEST_TASKS:
        need = f"{FEWEST_TASKS} tasks at least to tell how tasks differ, got {max(len(tasks), 1)}"
        raise InputError(f"new tasks need {need}; new items of these need none")


def task_weights(
    average: Averaging | None, tasks: Sequence[str], sizes: FloatArray | None
) -> FloatArray:
    """Weights of tasks in an average, which sum to 1, as ``sizes`` (T,) or (m, T), or (T,).

    Raises
    ------
    InputError
        Weights of other tasks or not above 0, items that count the same without their numbers.

    Examples
    --------
    >>> task_weights("items", ["law", "art"], np.array([30.0, 10.0])).tolist()
    [0.75, 0.25]
    """
    if isinstance(average, Mapping):
        weights = np.array(numbers_of_tasks(average, tasks, "average"), np.float64)
        if not np.all((weights > 0) & (weights < np.inf)):
            raise InputError("weights of tasks are positive numbers: leave out a task of weight 0")
    elif average == "items" and sizes is not None:
        weights = sizes
    elif average in (None, "tasks"):
        weights = np.ones(len(tasks))
    else:
        options = "tasks, items (where their numbers are known) or weights by task"
        raise InputError(f"average is one of {options}, got {average!r:.80}")
    return weights / weights.sum(axis=-1, keepdims=True)


def numbers_of_tasks(given: Mapping[Any, Any], tasks: Sequence[str], what: str) -> list[Any]:
    """What is given for each task, and for no other."""
    named = {str(task): value for task, value in given.items()}
    for task in sorted(named.keys() ^ set(tasks)):
        known = f"unknown{nearest(task, tasks)}" if task in named else "missing"
        raise InputError(f"{what} has a number for every task; {shown(task)} is {known}")
    return [named[task] for task in tasks]


def parse_passes(metric: str | None) -> Passes | None:
    """K of pass@K or pass^K, and whether all runs must be right; None for any other metric.

    Examples
    --------
    >>> parse_passes("pass@3"), parse_passes("pass^2"), parse_passes("acc")
    ((3, False), (2, True), None)
    """
    match = _PASSES.fullmatch(metric or "")
    return None if match is None else (int(match[2]), match[1] == "^")


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
    return rest * shares * (1 - shares) * (after_right - after_wrong) ** 2


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
    means = group_means(values, tasks)
    factor = len(values) * weights / np.bincount(tasks)
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
    if metric != "rmse":
        return weighted_means(values, tasks, weights)
    means, influence = weighted_means(values**2, tasks, weights)
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
