"""Learners by name, and a table of a file as what they learn from.

A learner here takes any table that ``read_task`` gives: categories become columns of 0 and 1,
missing numbers the median, numbers are standardised where distances count; all of it is learnt
anew from the training items of each fold. ``tests/crossval/test_learners.py`` tries them.
"""

import math
import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.opening import read_table
from bayes_sota.data.tables import MISSING, Table
from bayes_sota.data.words import place_in

LEARNERS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "nb": ("naive_bayes.GaussianNB", {}),
    "5nn": ("neighbors.KNeighborsClassifier", {"n_neighbors": 5}),
    "tree": ("tree.DecisionTreeClassifier", {"criterion": "entropy", "min_samples_leaf": 2}),
    "svm": ("svm.SVC", {"kernel": "linear"}),
    "mlp": (
        "neural_network.MLPClassifier",
        {"hidden_layer_sizes": (30, 30, 30), "max_iter": 500},
    ),
    "logistic": ("linear_model.LogisticRegression", {"max_iter": 1000}),
    "forest": ("ensemble.RandomForestClassifier", {}),
}
"""Names of learners: class and settings in scikit-learn."""
_MISSING = (*MISSING, "?")


def named_learners(names: Iterable[str], categories: Iterable[int] = ()) -> dict[str, Any]:
    """Learners by their names, ready for a table with columns of categories.

    Parameters
    ----------
    names : iterable of str
        Of ``LEARNERS``.
    categories : iterable of int
        Columns whose numbers are codes of categories.

    Raises
    ------
    InputError
        An unknown name.

    Examples
    --------
    >>> list(named_learners(["nb", "tree"]))
    ['nb', 'tree']
    """
    made, coded = dict[str, Any](), list(categories)
    for name in names:
        if name not in LEARNERS:
            raise InputError(f"learners are some of {', '.join(LEARNERS)}, got {shown(name)}")
        place, settings = LEARNERS[name]
        module, _, kind = place.partition(".")
        learner = getattr(import_module(f"sklearn.{module}"), kind)(**settings)
        made[name] = prepared(learner, coded)
    return made


def prepared(learner: Any, categories: list[int]) -> Any:
    """A learner behind what makes numbers of a table, with these columns of categories."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    numbers = SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    if not categories:  # a ColumnTransformer takes longer than many fits, and gives the same bits
        return make_pipeline(FunctionTransformer(np.asfortranarray), *numbers, learner)
    coded = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    prepare = ColumnTransformer(
        [("categories", coded, categories)], remainder=make_pipeline(*numbers)
    )
    return make_pipeline(prepare, learner)


def find_classes(
    table: Table, target: str | None, use: Sequence[str], leave_out: Sequence[str]
) -> tuple[str, list[str]]:
    """Columns of the classes and of the attributes.

    Raises
    ------
    InputError
        No column, or several, whose names are those of classes, or a name that is not there.
    """
    if target is None:
        named = [name for name in table.columns if place_in("label", name) is not None]
        if len(named) != 1:
            problem = f"{listed(named) if named else 'no column'} may hold the classes"
            raise table.error(problem, "target", "say which with {option}")
        target = named[0]
    target = table.find(target, "target")
    left = {table.find(name, "leave_out") for name in leave_out} | {target}
    chosen = [table.find(name, "use") for name in use or table.columns]
    chosen = [name for name in chosen if name not in left]
    if not chosen:
        raise table.error(f"there are no attributes, only {quoted(target)}")
    return target, chosen


def read_task(
    source: str | os.PathLike[str] | Any,
    target: str | None = None,
    use: Sequence[str] = (),
    leave_out: Sequence[str] = (),
) -> tuple[FloatArray, Any, list[int]]:
    """Attributes and labels of a table of items, for ``repeated_cross_validation``.

    Parameters
    ----------
    source : path or data frame
        One row per item.
    target : str, optional
        Column of the labels; default the one that is called so: label, target, y, ...
    use, leave_out : sequence of str
        Columns that are attributes (default all others), and columns that are none.

    Returns
    -------
    attributes : ndarray, shape (n_items, n_attributes)
        Numbers, NaN where one is missing; of a column of words the codes of its words.
    labels : ndarray, shape (n_items,)
    categories : list of int
        Columns that are codes of words.

    Raises
    ------
    InputError
        No such column, no attributes, a missing label, a word among numbers; by its place.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1, 2], "kind": ["a", "b"], "y": [0, 1]})
    >>> read_task(frame, "y")[0].tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    table = read_table(source)
    target, chosen = find_classes(table, target, use, leave_out)
    columns, categories = [], []
    for place, name in enumerate(chosen):
        numbers = [_number(cell) for cell in table.columns[name]]
        words = [row for row, number in enumerate(numbers) if number is None]
        if not words:
            columns.append(np.array(numbers, float))
        elif any(number is not None and number == number for number in numbers):
            raise table.bad_cells(name, words, "the column has numbers, so that this must be one")
        else:  # codes in alphabetical order; a missing word is one of its own
            cells = [str(cell).strip() for cell in table.columns[name]]
            columns.append(np.unique(cells, return_inverse=True)[1].astype(float))
            categories.append(place)
    names = table.names(target)
    labels = [_number(name) for name in names]
    known = np.array(names.tolist() if None in labels else labels)  # 10 is larger than 9
    return np.column_stack(columns), known, categories


def _number(cell: Any) -> float | None:
    """Number in a cell, NaN where it is empty, None where it is a word."""
    text = "" if cell is None else str(cell).strip()
    if text.lower() in _MISSING:
        return math.nan
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:
        return None
