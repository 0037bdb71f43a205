"""Tasks of two classes: small ones of libraries, and tables of a directory.

Of a task of 1,000 items or more a random third, 600 at the most, is cross-validated, and all others
are its true test set; of a task with a test set of its own 600 are cross-validated at the most, and
the others left out. Of tasks in the order of time the first 600 are, and the later ones are the
test set. ``tests/published/test_study.py`` reads them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text, shown_path
from bayes_sota.core.types import FloatArray
from bayes_sota.crossval.run import read_task

_TARGET = "y"
_LARGE, _MOST = 1_000, 600  # items: a task that is divided, and of it cross-validated at most
_DIVISION_SEED = 2010


@dataclass(frozen=True, eq=False)
class Task:
    """A data set of two classes.

    Attributes
    ----------
    name : str
    rows : ndarray, shape (n_items, n_attributes)
    labels : ndarray, shape (n_items,)
    categories : list of int
        Columns that are codes of words.
    test : (ndarray, ndarray), optional
        Rows and labels of a true test set.
    """

    name: str
    rows: FloatArray
    labels: Any
    categories: list[int]
    test: tuple[FloatArray, Any] | None = None


def bundled_tasks() -> list[Task]:
    """Tasks of two classes that scikit-learn and matplotlib bring along.

    Wines and irises give several tasks, one class against the rest (of irises the two that
    overlap), which share their items; progress of diabetes is above its median or not; digits are
    odd or even. Two tasks lie in time (``_volatile``).

    Examples
    --------
    >>> [len(task.labels) for task in bundled_tasks()]
    [569, 442, 599, 178, 178, 178, 150, 150, 600, 600]
    """
    progress, kind, species, digits = (
        load(return_X_y=True)
        for load in (
            datasets.load_diabetes, datasets.load_wine, datasets.load_iris, datasets.load_digits,
        )
    )  # fmt: skip
    whole = {
        "tumours": datasets.load_breast_cancer(return_X_y=True),
        "diabetes-progress": (progress[0], (progress[1] > np.median(progress[1])).astype(int)),
        "digits-odd": (digits[0], digits[1] % 2),
        **{f"wine-{c}": (kind[0], (kind[1] == c).astype(int)) for c in range(3)},
        **{f"iris-{c}": (species[0], (species[1] == c).astype(int)) for c in (1, 2)},
    }
    return [_divided(Task(name, *given, [])) for name, given in whole.items()] + _in_time()


def _in_time() -> list[Task]:
    """Whether a share moves much: Google's day by day, those of three companies by the month."""
    from matplotlib.cbook import get_sample_data

    prices = np.load(get_sample_data("goog.npz", asfileobj=False))["price_data"]
    ranges = np.log(prices["high"] / prices["low"])
    moves = np.abs(np.diff(np.log(prices["adj_close"]), prepend=np.nan))
    days = _volatile(ranges[:, None], moves[:, None], np.log(prices["volume"])[:, None])
    table = np.genfromtxt(
        get_sample_data("Stocks.csv", asfileobj=False), delimiter=",", skip_header=2,
        usecols=(1, 2, 4),
    )  # fmt: skip
    kept = table[np.isfinite(table).all(axis=1)]
    months = _volatile(np.abs(np.diff(np.log(kept), axis=0)))
    return [
        _cut(Task(name, *given, []), np.arange(len(given[1])), _MOST)
        for name, given in (("volatile-days", days), ("volatile-months", months))
    ]


def _volatile(moves: FloatArray, *others: FloatArray) -> tuple[FloatArray, Any]:
    """Whether the next move is above the median of the first items, by five moves before.

    Moves and further series have the shape (n_times, n_shares).
    """
    past = [
        np.stack([series[lag : len(series) - 5 + lag] for lag in range(5)], axis=-1)
        for series in (moves, *others)
    ]
    rows = np.concatenate(past, axis=-1).reshape(-1, 5 * len(past))
    following = moves[5:].ravel()
    complete = np.isfinite(rows).all(axis=1)
    rows, following = rows[complete], following[complete]
    return rows, (following > np.median(following[:_MOST])).astype(int)


def _divided(task: Task) -> Task:
    """A large task as one that is cross-validated, and its true test set."""
    n = len(task.labels)
    if n < _LARGE:
        return task
    order = np.random.default_rng(_DIVISION_SEED).permutation(n)
    return _cut(task, order, _MOST if task.test else min(n // 3, _MOST))


def _cut(task: Task, order: Any, size: int) -> Task:
    first, rest = np.split(order, [size])
    test = task.test or (task.rows[rest], task.labels[rest])
    return Task(task.name, task.rows[first], task.labels[first], task.categories, test)


def read_tasks(data: Path | None) -> list[Task]:
    """Tasks of libraries, and of a directory, the smallest first.

    Parameters
    ----------
    data : Path, optional
        Directory with one table per task (.csv, .csv.gz), or with a folder ``binary_tasks`` of
        them. Column ``y`` is the label, all others are attributes. ``NAME_test.csv`` is a true test
        set of the task ``NAME``.

    Raises
    ------
    InputError
        A directory without tasks, a test set without its task or with words for attributes.

    Examples
    --------
    >>> [task.name for task in read_tasks(None)][:3]
    ['iris-1', 'iris-2', 'wine-0']
    """
    found = bundled_tasks()
    if data is not None:
        found += _tasks_of(data)
    names = [task.name for task in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two tasks are named {plain_text(twice)}: rename a file")
    return sorted(found, key=lambda task: len(task.labels))


def _tasks_of(data: Path) -> Iterator[Task]:
    folder = data / "binary_tasks" if (data / "binary_tasks").is_dir() else data
    paths = {p.name.partition(".csv")[0]: p for p in sorted(folder.glob("*.csv*")) if p.is_file()}
    tests = {name.removesuffix("_test"): paths.pop(name) for name in [*paths] if "_test" in name}
    if not paths:
        raise InputError(f"{shown_path(folder)}: no tasks, tables NAME.csv with a column {_TARGET}")
    lonely = sorted(set(tests) - set(paths))
    if lonely:
        raise InputError(f"{shown_path(tests[lonely[0]])}: a test set without its task")
    for name, path in paths.items():
        rows, labels, categories, _ = read_task(path, _TARGET)
        test = _test_set(tests[name], rows, labels) if name in tests else None
        yield _divided(Task(plain_text(name), rows, labels, categories, test))


def _test_set(path: Path, rows: FloatArray, labels: Any) -> tuple[FloatArray, Any]:
    found, truth, words, _ = read_task(path, _TARGET)
    if words or found.shape[1] != rows.shape[1] or set(truth) != set(labels):
        raise InputError(
            f"{shown_path(path)}: a true test set has the attributes of its task, all numbers, "
            "and both of its classes"
        )
    return found, truth
