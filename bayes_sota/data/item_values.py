"""Values of items: tasks and their weights, several runs, passes, and what numbers are made into.

``tests/data/test_averages.py`` and ``test_outcomes.py`` compare with simulated runs, and AUCs with
pairs of items.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.text import counted, nearest
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.data.averages import group_means
from bayes_sota.data.leaderboard import Averaged
from bayes_sota.data.tables import labelled_matrix

type Averaging = Literal["items", "tasks"] | Mapping[str, float]  # tasks by weights
type Which = Iterable[int | str] | None  # numbers, names or a mask
type Passes = tuple[int, bool]  # K, and whether all of K runs must be right (pass^K)
RUNS_DIFFER = (
    "the scores of runs differ by more than their items explain: each run has an error common to "
    "all items, which the intervals do not include; compare the means of runs"
)
_PASSES = re.compile(r"pass([@^])([1-9][0-9]{0,5})")


def tasks_in_words(count: int, averaging: Averaged) -> str:
    """Tasks of an average, and which units have equal weight."""
    alike = {"items": "whose items count the same", "tasks": "that count the same"}
    return f"{counted(count, 'task')} {alike.get(averaging, 'with weights of their own')}"


def task_weights(
    average: Averaging | None, tasks: Sequence[str], sizes: FloatArray | None
) -> FloatArray:
    """Weights of tasks in an average, which sum to 1, as ``sizes`` (T,) or (m, T), or (T,)."""
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
    """Numbers of the tasks in their order; each task has one, and no other name occurs."""
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
    """Row or column numbers of what was asked for, by number, name or mask."""
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
    """K of pass@K or pass^K, and whether all runs must be right; None for any other metric.

    Examples
    --------
    >>> parse_passes("pass@3"), parse_passes("pass^2")
    ((3, False), (2, True))
    """
    match = _PASSES.fullmatch(metric or "")
    return None if match is None else (int(match[2]), match[1] == "^")


def pass_rates(shares: FloatArray, n_runs: IntArray, passes: Passes) -> FloatArray:
    """Unbiased share of groups of K runs of which one, or every one, is right.

    From the share of right ones in ``n_runs``: pass@K is eq. 1 of Chen and others 2021 (arXiv
    2107.03374), pass^K its counterpart for all of K runs.

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
    """Variance over new runs of the share of correct answers, (n, m); of passes the jackknife's.

    Examples
    --------
    >>> variance_of_runs(np.array([0.5, 1.0]), np.array(2)).tolist()
    [0.25, 0.0]
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
    """AUCs, ties counted as a half, and influence values."""
    from scipy.stats import rankdata

    pooled, shares = rankdata(values, axis=0), np.empty(values.shape)
    for kind in (positive, ~positive):  # share of the others below each
        shares[kind] = (pooled[kind] - rankdata(values[kind], axis=0)) / np.sum(~kind)
    shares[~positive] = 1 - shares[~positive]  # of positives above each negative
    aucs = shares[positive].mean(axis=0)
    sizes = np.where(positive, positive.sum(), np.sum(~positive))
    return aucs, (shares - aucs) * (len(values) / sizes)[:, None]
